/* SPDX-License-Identifier: MIT */
/* Promise: in the steady state a run costs one ioctl, one more when somebody sleeps for it, and no allocation; the
 * same for 1 command and for 1,000; and nothing grows with the number of runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <liburing.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "device/package_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define EXPORT __attribute__((visibility("default")))
#define WARM_UP 10
#define RUNS 2000
#define SPEECH_RUNS 60 /* a run takes milliseconds */

/* ---- counting ----
 *
 * A program's own definitions come before those of all libraries, so their calls pass through here. The return address
 * tells whose call it is: softgpu's own allocations, libc's for it and this test's do not count.
 */

static _Atomic uint64_t n_ioctls, n_allocations;

static struct {
	uintptr_t begin, end;
} objects[16];
static unsigned n_objects;

static int
note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	static const char *const names[] = { "libgpuplan", "libdrm", "liburing", "libelf", "libmsgpack", "libjansson" };

	(void)bytes;
	(void)arg;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strstr(info->dlpi_name, names[i]))
			continue;
		for (unsigned p = 0; p < info->dlpi_phnum && n_objects < 16; p++) {
			const ElfW(Phdr) *ph = &info->dlpi_phdr[p];

			if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
				continue;
			objects[n_objects].begin = info->dlpi_addr + ph->p_vaddr;
			objects[n_objects].end = objects[n_objects].begin + ph->p_memsz;
			n_objects++;
		}
	}
	return 0;
}

EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	va_list ap;
	void *arg;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	n_ioctls++;
	return next(fd, request, arg);
}

#if !SANITIZED

static void
count(const void *where)
{
	for (unsigned i = 0; i < n_objects; i++)
		if ((uintptr_t)where >= objects[i].begin && (uintptr_t)where < objects[i].end)
			n_allocations++;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

#define CALLER __builtin_return_address(0)

EXPORT void *
malloc(size_t bytes)
{
	count(CALLER);
	return __libc_malloc(bytes);
}

EXPORT void *
calloc(size_t n, size_t bytes)
{
	count(CALLER);
	return __libc_calloc(n, bytes);
}

EXPORT void *
realloc(void *memory, size_t bytes)
{
	count(CALLER);
	return __libc_realloc(memory, bytes);
}

EXPORT int
posix_memalign(void **memory, size_t align, size_t bytes)
{
	count(CALLER);
	*memory = __libc_memalign(align, bytes);
	return *memory ? 0 : ENOMEM;
}

EXPORT void *
aligned_alloc(size_t align, size_t bytes)
{
	count(CALLER);
	return __libc_memalign(align, bytes);
}

EXPORT char *
strdup(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy;

	count(CALLER);
	copy = __libc_malloc(bytes);
	return copy ? memcpy(copy, text, bytes) : NULL;
}

#endif

/* ---- what a run costs ---- */

static struct pt_model m;
static struct gpuplan_definition *small;
static struct gpuplan_region out;

struct runner {
	struct gpuplan_queue *queue;
	struct gpuplan_slot *slot;
	struct io_uring ring;
	uint64_t submit_ns; /* the fastest submit so far */
	uint64_t enters;
};

static void
submit(struct runner *r)
{
	uint64_t start = gpuplan_now(), took;

	assert_int_equal(gpuplan_slot_submit(r->slot, r->queue), 0);
	took = gpuplan_now() - start;
	if (took < r->submit_ns)
		r->submit_ns = took;
}

static void
finish(struct runner *r, int res)
{
	struct gpuplan_completion c;

	assert_int_equal(gpuplan_slot_finish(r->slot, res, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
}

static void
run_polled(struct runner *r)
{
	uint64_t limit = DT_SOON;

	submit(r);
	while (!gpuplan_slot_poll(r->slot))
		assert_true(gpuplan_now() < limit);
	finish(r, 8);
}

static void
run_armed(struct runner *r)
{
	struct io_uring_cqe *cqe;
	int res;

	submit(r);
	assert_int_equal(gpuplan_slot_arm(r->slot, &r->ring, 5, DT_SOON), 0);
	assert_true(io_uring_submit_and_wait(&r->ring, 1) > 0);
	r->enters++;
	assert_int_equal(io_uring_peek_cqe(&r->ring, &cqe), 0);
	assert_int_equal(cqe->user_data, 5);
	res = cqe->res;
	io_uring_cqe_seen(&r->ring, cqe);
	finish(r, res);
}

static void
run_waited(struct runner *r)
{
	struct gpuplan_completion c;

	submit(r);
	assert_int_equal(gpuplan_slot_wait(r->slot, DT_SOON, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
}

static void
run_reaped(struct runner *r)
{
	struct gpuplan_completion c;

	submit(r);
	assert_int_equal(gpuplan_queue_reap(r->queue, &c, 1, DT_SOON), 1);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_ptr_equal(c.slot, r->slot);
}

/* softgpu's threads, and the kernel, let go of an eventfd a moment after its last event. */
static unsigned
count_descriptors(void)
{
	unsigned n = 0;

	usleep(20000);
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

struct cost {
	uint64_t ioctls, allocations;
	uint64_t submit_ns;
};

/* What must not change from the first run to the last. */
struct footprint {
	struct gpuplan_memory memory;
	struct dt_stats device;
	unsigned descriptors;
};

static struct footprint
footprint(void)
{
	struct footprint f;

	memset(&f, 0, sizeof(f));
	gpuplan_context_get_memory(m.context, &f.memory);
	dt_device_stats(m.context, &f.device);
	f.descriptors = count_descriptors();
	return f;
}

static void
check_footprint(const struct footprint *before)
{
	struct footprint now = footprint();

	for (int i = 0; i < 100 && now.descriptors != before->descriptors; i++)
		now = footprint();

	assert_memory_equal(&before->memory, &now.memory, sizeof(now.memory));
	assert_memory_equal(&before->device, &now.device, sizeof(now.device));
	assert_int_equal(before->descriptors, now.descriptors);
}

typedef void run_fn(struct runner *r);

static void
runner_open(struct runner *r, struct gpuplan_plan *plan)
{
	memset(r, 0, sizeof(*r));
	r->submit_ns = UINT64_MAX;
	r->queue = dt_queue(m.context);
	assert_int_equal(gpuplan_plan_acquire(plan, &r->slot), 0);
	assert_int_equal(io_uring_queue_init(8, &r->ring, 0), 0);
}

static void
runner_close(struct runner *r)
{
	io_uring_queue_exit(&r->ring);
	gpuplan_slot_release(r->slot);
	gpuplan_queue_destroy(r->queue);
}

/* runs of one slot, after some that warm up. */
static struct cost
measure(struct gpuplan_plan *plan, run_fn *run, unsigned runs)
{
	struct footprint before;
	struct runner r;
	struct cost cost;

	runner_open(&r, plan);
	for (unsigned i = 0; i < WARM_UP; i++)
		run(&r);
	before = footprint();
	cost.ioctls = n_ioctls;
	cost.allocations = n_allocations;
	r.submit_ns = UINT64_MAX;
	for (unsigned i = 0; i < runs; i++)
		run(&r);
	cost.ioctls = n_ioctls - cost.ioctls;
	cost.allocations = n_allocations - cost.allocations;
	cost.submit_ns = r.submit_ns;
	check_footprint(&before);
	runner_close(&r);
	return cost;
}

static void
print_cost(const char *what, unsigned runs, const struct cost *c)
{
	print_message("    %-28s %5u runs: %.3f ioctls, %.3f allocations each; fastest submit %.1f us\n", what, runs,
		      (double)c->ioctls / runs, (double)c->allocations / runs, (double)c->submit_ns / 1e3);
}

/* least and most: ioctls per run. */
static void
check_cost(const char *what, struct gpuplan_plan *plan, run_fn *run, unsigned runs, unsigned least, unsigned most)
{
	struct cost c = measure(plan, run, runs);

	print_cost(what, runs, &c);
	assert_int_equal(c.allocations, 0);
	assert_in_range(c.ioctls, (uint64_t)least * runs, (uint64_t)most * runs);
}

/* n fills of different words, then of the output; no two of them conflict. */
static struct gpuplan_plan *
fills(uint32_t n)
{
	struct gpuplan_command *commands = calloc(n, sizeof(*commands));
	struct gpuplan_plan_params params = dt_plan_params(1, commands, n);
	struct gpuplan_io io = { .region = out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 1024 } };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	for (uint32_t i = 0; i < n; i++)
		commands[i] = dt_fill(gpuplan_slice(out, 4 * (i % 1024), 4), i);
	params.outputs = &io;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(small, &params, &plan, &error), &error);
	free(commands);
	return plan;
}

/* n fills of the output, each with a parameter of its own. */
static struct gpuplan_plan *
parameter_fills(uint32_t n)
{
	struct gpuplan_command *commands = calloc(n, sizeof(*commands));
	struct gpuplan_parameter *parameters = calloc(n, sizeof(*parameters));
	struct gpuplan_plan_params params = dt_plan_params(1, commands, n);
	struct gpuplan_io io = { .region = out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 1024 } };
	char (*names)[8] = calloc(n, sizeof(*names));
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[0]), "%u", i);
		parameters[i] = (struct gpuplan_parameter){ .name = names[i], .bytes = 4, .max = 1u << 31 };
		commands[i] = dt_fill(gpuplan_slice(out, 4 * i, 4), 0);
		commands[i].u.fill.value_param = i + 1;
	}
	params.outputs = &io;
	params.n_outputs = 1;
	params.parameters = parameters;
	params.n_parameters = n;
	dt_ok(gpuplan_plan_create(small, &params, &plan, &error), &error);
	free(names);
	free(parameters);
	free(commands);
	return plan;
}

#define SET 100

/* SET parameters, then a refused update, then a run that is polled for. */
static void
run_set(struct runner *r)
{
	static uint32_t next;
	struct gpuplan_value values[SET];
	struct gpuplan_error error;
	const uint32_t *words = gpuplan_slot_output(r->slot, 0, NULL);

	for (uint32_t i = 0; i < SET; i++)
		values[i] = gpuplan_value_u32(i, next + i);
	assert_int_equal(gpuplan_slot_set(r->slot, values, SET, &error), 0);
	values[0].value++;
	values[SET - 1].value = UINT32_MAX;
	assert_int_equal(gpuplan_slot_set(r->slot, values, SET, &error), -EINVAL);
	run_polled(r);
	for (uint32_t i = 0; i < SET; i++)
		assert_int_equal(words[i], next + i);
	next += SET;
}

/* ---- tests ---- */

static void
a_small_plan(void **state)
{
	struct gpuplan_plan *plan = fills(4);

	(void)state;
	check_cost("4 fills, polled", plan, run_polled, RUNS, 1, 1);
	check_cost("4 fills, armed", plan, run_armed, RUNS, 1, 2);
	check_cost("4 fills, waited for", plan, run_waited, RUNS, 1, 2);
	check_cost("4 fills, reaped", plan, run_reaped, RUNS, 1, 2);
	gpuplan_plan_destroy(plan);
}

/* Jobs last long enough here that every arm registers. */
static void
the_speech_plan(void **state)
{
	struct gpuplan_plan *plan = pt_plan(&m, "b1", 1, 0);

	(void)state;
	check_cost("speech, polled", plan, run_polled, SPEECH_RUNS, 1, 1);
	check_cost("speech, armed", plan, run_armed, SPEECH_RUNS, 2, 2);
	check_cost("speech, waited for", plan, run_waited, SPEECH_RUNS, 2, 2);
	check_cost("speech, reaped", plan, run_reaped, SPEECH_RUNS, 2, 2);
	gpuplan_plan_destroy(plan);
}

/* The fastest of 500: what the scheduler does to one of them says nothing. The device's part is in it as well. */
static void
submit_costs_the_same_for_1_and_1000_commands(void **state)
{
	struct gpuplan_plan *one = fills(1), *thousand = fills(1000);
	struct cost a, b;

	(void)state;
	a = measure(one, run_polled, 500);
	b = measure(thousand, run_polled, 500);
	print_cost("1 command", 500, &a);
	print_cost("1000 commands", 500, &b);
	assert_int_equal(a.ioctls, 500);
	assert_int_equal(b.ioctls, 500);
	assert_int_equal(a.allocations, 0);
	assert_int_equal(b.allocations, 0);
	assert_true(b.submit_ns <= 3 * a.submit_ns + 1000);
	gpuplan_plan_destroy(one);
	gpuplan_plan_destroy(thousand);
}

static void
updates_are_free(void **state)
{
	struct gpuplan_plan *plan = parameter_fills(SET);

	(void)state;
	check_cost("100 parameters set, polled", plan, run_set, RUNS, 1, 1);
	gpuplan_plan_destroy(plan);
}

/* Acquire, state from zero, run, release; n times. */
static void
borrow(struct gpuplan_plan *plan, struct gpuplan_queue *queue, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct runner r = { .queue = queue };

		assert_int_equal(gpuplan_plan_acquire(plan, &r.slot), 0);
		gpuplan_slot_reset_state(r.slot);
		run_polled(&r);
		gpuplan_slot_release(r.slot);
	}
}

/* They belong to the loop of many users; state is reset in the run's own ioctl. */
static void
acquire_reset_and_release_are_free(void **state)
{
	struct gpuplan_plan *plan = pt_plan(&m, "b1", 1, 0);
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct footprint before;
	uint64_t ioctls, allocations;

	(void)state;
	borrow(plan, queue, 10);
	before = footprint();
	ioctls = n_ioctls;
	allocations = n_allocations;
	borrow(plan, queue, 100);
	assert_int_equal(n_ioctls - ioctls, 100);
	assert_int_equal(n_allocations - allocations, 0);
	check_footprint(&before);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
}

/* The counters see what they are there for. */
static void
counters_count(void **state)
{
	uint64_t ioctls = n_ioctls, allocations = n_allocations;
	struct gpuplan_plan *plan = fills(3);

	(void)state;
	assert_true(n_ioctls > ioctls);
	assert_true(SANITIZED || n_allocations > allocations);
	gpuplan_plan_destroy(plan);
}

static void
declare_small(void)
{
	struct gpuplan_session *session = dt_session(m.context);

	out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4096, "out");
	small = dt_freeze(session);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_count),
		cmocka_unit_test(a_small_plan),
		cmocka_unit_test(the_speech_plan),
		cmocka_unit_test(submit_costs_the_same_for_1_and_1000_commands),
		cmocka_unit_test(updates_are_free),
		cmocka_unit_test(acquire_reset_and_release_are_free),
	};
	int r;

	dl_iterate_phdr(note_object, NULL);
	pt_open(&m);
	declare_small();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	gpuplan_definition_destroy(small);
	pt_close(&m);
	return r;
}
