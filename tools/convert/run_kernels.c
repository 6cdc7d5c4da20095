/* SPDX-License-Identifier: MIT */
/*
 * Runs the kernels of firmware-shaders/ on the CPU, from the same source, for check_package.py.
 *
 *   for k in ../../firmware-shaders/[a-z]*.cl; do
 *     clang-19 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -O2 -mfma -fPIC \
 *       -include host_prelude.h -c $k -o $(basename $k .cl).o
 *   done
 *   clang-19 -O2 -fPIC -shared run_kernels.c *.o -lm -o run_kernels.so
 *
 * A work-group is a set of coroutines, one per work-item; a barrier passes control to the next one.
 * Work-items of a group run one after the other between barriers, in an order that changes from
 * barrier to barrier, and groups run from the last to the first: a missing barrier or a dependence
 * between groups gives a wrong answer.
 *
 * x86-64 only: arguments are passed as 64-bit words, which the ABI allows for pointers and integers.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define MAX_ITEMS 256
#define MAX_ARGS 16
#define STACK_BYTES 32768

typedef void kernel_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
		       uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

kernel_fn conv1d, conv1d_reflect, linear, magnitude, lstm_cell, relu_dot_sigmoid, fill, copy;

static const struct {
	const char *name;
	kernel_fn *fn;
	uint32_t items, args;
} kernels[] = {
	{"conv1d", conv1d, 128, 13},
	{"conv1d_reflect", conv1d_reflect, 128, 11},
	{"linear", linear, 128, 6},
	{"magnitude", magnitude, 64, 3},
	{"lstm_cell", lstm_cell, 128, 9},
	{"relu_dot_sigmoid", relu_dot_sigmoid, 64, 5},
	{"fill", fill, 256, 3},
	{"copy", copy, 256, 3},
};

static struct {
	ucontext_t scheduler, item[MAX_ITEMS];
	uint32_t current, finished, group[3];
	kernel_fn *fn;
	uint64_t args[MAX_ARGS];
	char stack[MAX_ITEMS][STACK_BYTES] __attribute__((aligned(64)));
} run;

uint32_t
run_local_id(uint32_t d)
{
	return d == 0 ? run.current : 0;
}

uint32_t
run_group_id(uint32_t d)
{
	return run.group[d];
}

void
run_barrier(void)
{
	swapcontext(&run.item[run.current], &run.scheduler);
}

static void
item_main(void)
{
	const uint64_t *a = run.args;

	run.fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
	run.finished++;
}

/* Every item reaches the same barriers, so rounds of all items end together. */
static int
run_group(uint32_t items)
{
	run.finished = 0;
	for (uint32_t i = 0; i < items; i++) {
		getcontext(&run.item[i]);
		run.item[i].uc_stack.ss_sp = run.stack[i];
		run.item[i].uc_stack.ss_size = STACK_BYTES;
		run.item[i].uc_link = &run.scheduler;
		makecontext(&run.item[i], item_main, 0);
	}
	for (uint32_t round = 0; run.finished == 0; round++)
		for (uint32_t i = 0; i < items; i++) {
			run.current = (i * 37 + round * 11) % items; /* 37 is prime to every group size */
			swapcontext(&run.scheduler, &run.item[run.current]);
		}
	return run.finished == items ? 0 : -EDEADLK;
}

int
run_kernel(const char *name, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args, uint32_t n_args)
{
	uint32_t k = 0;

	while (k < sizeof(kernels) / sizeof(kernels[0]) && strcmp(name, kernels[k].name) != 0)
		k++;
	if (k == sizeof(kernels) / sizeof(kernels[0]))
		return -ENOENT;
	if (block[0] != kernels[k].items || block[1] != 1 || block[2] != 1 || n_args != kernels[k].args)
		return -EINVAL;
	run.fn = kernels[k].fn;
	memcpy(run.args, args, n_args * sizeof(*args));
	for (uint64_t g = (uint64_t)grid[0] * grid[1] * grid[2]; g-- > 0;) {
		run.group[0] = g % grid[0];
		run.group[1] = g / grid[0] % grid[1];
		run.group[2] = g / grid[0] / grid[1];
		if (run_group(block[0]) != 0)
			return -EDEADLK;
	}
	return 0;
}
