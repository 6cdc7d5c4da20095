/* SPDX-License-Identifier: MIT */
/* bench-prepare: what gpuplan_plan_create costs, on an offline context: time, memory and image bytes by dispatches and
 * slots, and command-stream dwords and barriers per dispatch of simple chains. tests/bench_prepare.mk
 *
 *   bench-prepare [--target NAME]      the tables
 *   bench-prepare --chains             "NAME dwords barriers" per dispatch, one line each
 *   bench-prepare --one CASE N SLOTS   one plan, for profilers
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/shaders.h"
#include "common/tool.h"
#include "heap.h"

#define MAX_DISPATCHES 20000u
#define WORDS 1024u		/* of a slice; one workgroup of `copy` */
#define BYTES (WORDS * 4u)

struct model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_region two[2];	/* whole buffers */
	struct gpuplan_region large;	/* MAX_DISPATCHES + 1 slices */
	struct gpuplan_region *many;	/* allocations of one slice each */
	struct gpuplan_region input;
	struct gpuplan_kernel copy, fill;
};

/* A list of `copy` and `fill` dispatches. */
struct list {
	struct gpuplan_command *commands;
	struct gpuplan_binding (*bindings)[2];
	struct gpuplan_arg (*args)[3];
	uint32_t n;
};

enum shape {
	REPEAT,		/* one kernel, other regions each time, nothing depends */
	SWITCH,		/* two kernels in turns, nothing depends */
	CHAIN,		/* two buffers, each dispatch reads what the one before wrote */
	WHOLE,		/* every dispatch reads one whole buffer and writes the other's same half */
	SLICES,		/* a chain through small slices of one allocation */
	ALLOCATIONS,	/* a chain through one allocation each */
	SHAPES
};

static const char *const shape_names[SHAPES] = { "repeat", "switch", "chain", "whole", "slices", "allocations" };

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static void *
room(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p)
		tool_die("out of memory");
	return p;
}

/* ---- the model ---- */

static struct gpuplan_region
declare(struct gpuplan_session *session, uint64_t bytes)
{
	struct gpuplan_alloc_params params = { .size = sizeof(params), .use = GPUPLAN_SCRATCH, .bytes = bytes };
	struct gpuplan_region region;
	struct gpuplan_error error;

	check(gpuplan_session_alloc(session, &params, &region, &error), &error);
	return region;
}

static struct gpuplan_kernel
kernel(struct gpuplan_session *session, const char *target, const char *name)
{
	struct gpuplan_kernel kernel;
	struct gpuplan_error error;
	const void *elf;
	uint32_t code;
	size_t bytes;

	if (tool_find_code(NULL, target, name, &elf, &bytes))
		tool_die("no code object %s for %s", name, target);
	check(gpuplan_session_load(session, elf, bytes, name, &code, &error), &error);
	check(gpuplan_session_kernel(session, code, name, &kernel, &error), &error);
	return kernel;
}

static void
open_model(struct model *m, const char *target, uint32_t n_many)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_session *session;
	struct gpuplan_error error;

	params.offline_target = target;
	check(gpuplan_context_create(&params, &m->context, &error), &error);
	check(gpuplan_session_create(m->context, &session, &error), &error);
	m->two[0] = declare(session, 2 * BYTES);
	m->two[1] = declare(session, 2 * BYTES);
	m->input = declare(session, BYTES);
	m->large = declare(session, (uint64_t)(MAX_DISPATCHES + 1) * BYTES);
	m->many = room(n_many + 1, sizeof(*m->many));
	for (uint32_t i = 0; i < n_many; i++)
		m->many[i] = declare(session, BYTES);
	m->copy = kernel(session, target, "copy");
	m->fill = kernel(session, target, "fill");
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000u, &m->definition, &error), &error);
}

static void
close_model(struct model *m)
{
	gpuplan_definition_destroy(m->definition);
	gpuplan_context_destroy(m->context);
	free(m->many);
}

/* ---- lists ---- */

static struct gpuplan_region
slice(const struct model *m, uint32_t i)
{
	return gpuplan_slice(m->large, (uint64_t)i * BYTES, BYTES);
}

static void
set_dispatch(const struct model *m, struct list *l, uint32_t i, struct gpuplan_region dst, struct gpuplan_region src)
{
	struct gpuplan_dispatch *d = &l->commands[i].u.dispatch;
	struct gpuplan_binding *b = l->bindings[i];
	struct gpuplan_arg *a = l->args[i];

	l->commands[i].kind = GPUPLAN_DISPATCH;
	l->commands[i].label = "step";
	*d = (struct gpuplan_dispatch){
		.kernel = m->copy,
		.groups = { (uint32_t)(dst.bytes / BYTES), 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 2,
		.bindings = b,
		.n_args = 3,
		.args = a,
	};
	b[0] = (struct gpuplan_binding){ src, GPUPLAN_READ, 0 };
	b[1] = (struct gpuplan_binding){ dst, GPUPLAN_WRITE, 0 };
	a[0] = gpuplan_arg_binding(0);
	a[1] = gpuplan_arg_binding(1);
	a[2] = gpuplan_arg_u32((uint32_t)(dst.bytes / 4));
}

static void
set_fill(const struct model *m, struct list *l, uint32_t i, struct gpuplan_region dst)
{
	set_dispatch(m, l, i, dst, dst);
	l->commands[i].u.dispatch.kernel = m->fill;
	l->commands[i].u.dispatch.n_bindings = 1;
	l->bindings[i][0] = (struct gpuplan_binding){ dst, GPUPLAN_WRITE, 0 };
	l->args[i][0] = gpuplan_arg_binding(0);
	l->args[i][1] = gpuplan_arg_u32(i);
}

static void
set_step(const struct model *m, struct list *l, uint32_t i, enum shape shape)
{
	switch (shape) {
	case SWITCH:
		if (i % 2) {
			set_fill(m, l, i, slice(m, i));
			return;
		}
		/* fall through */
	case REPEAT:
		set_dispatch(m, l, i, slice(m, i), m->input);
		return;
	case WHOLE:
	case CHAIN:
		set_dispatch(m, l, i, m->two[i % 2], m->two[(i + 1) % 2]);
		return;
	case SLICES:
		set_dispatch(m, l, i, slice(m, i + 1), slice(m, i));
		return;
	default:
		set_dispatch(m, l, i, m->many[i + 1], m->many[i]);
		return;
	}
}

static void
list_make(const struct model *m, struct list *l, enum shape shape, uint32_t n)
{
	l->n = n;
	l->commands = room(n, sizeof(*l->commands));
	l->bindings = room(n, sizeof(*l->bindings));
	l->args = room(n, sizeof(*l->args));
	for (uint32_t i = 0; i < n; i++)
		set_step(m, l, i, shape);
}

static void
list_free(struct list *l)
{
	free(l->commands);
	free(l->bindings);
	free(l->args);
}

/* ---- measuring ---- */

struct result {
	double ms;
	size_t peak, kept;	/* bytes of heap: while it was made, while it lives */
	size_t image;
	struct gpuplan_plan_info info;
};

static struct gpuplan_plan *
prepare(const struct model *m, const struct list *l, uint32_t slots, uint32_t flags)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = slots, .commands = l->commands,
					      .n_commands = l->n, .flags = flags };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	check(gpuplan_plan_create(m->definition, &params, &plan, &error), &error);
	return plan;
}

/* Of this process, so that a busy machine shows less. */
static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The best of several. */
static struct result
measure(const struct model *m, enum shape shape, uint32_t n, uint32_t slots, uint32_t flags)
{
	struct result best = { .ms = 1e9 };
	struct list l;

	list_make(m, &l, shape, n);
	for (int round = 0; round < (n < 10000 ? 5 : 3); round++) {
		size_t before = heap_now();
		struct gpuplan_plan *plan;
		uint64_t start;
		double ms;

		heap_restart();
		start = cpu_ns();
		plan = prepare(m, &l, slots, flags);
		ms = (double)(cpu_ns() - start) / 1e6;
		if (ms < best.ms)
			best.ms = ms;
		best.peak = heap_peak() - before;
		best.kept = heap_now() - before;
		gpuplan_plan_get_info(plan, &best.info);
		gpuplan_plan_image(plan, &best.image);
		gpuplan_plan_destroy(plan);
	}
	list_free(&l);
	return best;
}

/* ---- tables ---- */

static const uint32_t sizes[] = { 10, 100, 1000, 10000, 20000 };
static const uint32_t slots[] = { 1, 4, 16, 64 };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
table_sizes(const struct model *m)
{
	struct result r[COUNT(sizes)][COUNT(slots)];
	const size_t last = COUNT(sizes) - 1, full = COUNT(slots) - 1;
	double per, between = sizes[last] - sizes[last - 1];

	printf("A chain of dispatches, each reading what the one before wrote; CPU time\n\n");
	printf("dispatches  slots   prepare ms   heap at most KiB   heap kept KiB   image KiB   GPU KiB per slot\n");
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < COUNT(slots); k++) {
			r[i][k] = measure(m, CHAIN, sizes[i], slots[k], 0);
			printf("%10" PRIu32 " %6" PRIu32 " %12.3f %18.1f %15.1f %11.1f %18.1f\n", sizes[i], slots[k], r[i][k].ms,
			       (double)r[i][k].peak / 1024, (double)r[i][k].kept / 1024, (double)r[i][k].image / 1024,
			       (double)r[i][k].info.slot_bytes / 1024);
		}
	per = (r[last][0].ms - r[last - 1][0].ms) / between;
	printf("\nper dispatch, from %" PRIu32 " to %" PRIu32 ": %.3f us, %.0f bytes of heap at most, %.0f bytes of image, %.0f bytes "
	       "of GPU memory per slot\n",
	       sizes[last - 1], sizes[last], per * 1e3, (double)(r[last][0].peak - r[last - 1][0].peak) / between,
	       (double)(r[last][0].image - r[last - 1][0].image) / between,
	       (double)(r[last][0].info.slot_bytes - r[last - 1][0].info.slot_bytes) / between);
	per = (double)(slots[full] - slots[0]);
	printf("per slot of %" PRIu32 " dispatches: %.3f ms, %.1f KiB of heap (offline: its mapped memory is heap)\n", sizes[last],
	       (r[last][full].ms - r[last][0].ms) / per, (double)(r[last][full].kept - r[last][0].kept) / per / 1024);
}

static void
table_shapes(const struct model *few, const struct model *many)
{
	static const struct {
		const char *text;
		enum shape shape;
		uint32_t flags;
	} cases[] = {
		{ "whole buffers", WHOLE, 0 },
		{ "slices of one allocation", SLICES, 0 },
		{ "an allocation each", ALLOCATIONS, 0 },
		{ "an allocation each, scratch shared", ALLOCATIONS, GPUPLAN_PLAN_REUSE_SCRATCH },
		{ "nothing depends", REPEAT, 0 },
		{ "slices, reordered and shared", SLICES, GPUPLAN_PLAN_REUSE_SCRATCH | GPUPLAN_PLAN_REORDER },
		{ "whole buffers, reordered", WHOLE, GPUPLAN_PLAN_REORDER },
	};

	printf("\n%u dispatches, 1 slot\n\n", MAX_DISPATCHES);
	printf("accesses                              prepare ms   heap at most KiB   barriers   scratch KiB\n");
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct model *m = cases[i].shape == ALLOCATIONS ? many : few;
		struct result r = measure(m, cases[i].shape, MAX_DISPATCHES, 1, cases[i].flags);

		printf("%-36s %11.1f %18.1f %10" PRIu32 " %13.1f\n", cases[i].text, r.ms, (double)r.peak / 1024,
		       r.info.n_barriers, (double)r.info.scratch_planned_bytes / 1024);
	}
}

/* Growth from n to 2n, so that what every stream has once does not count. */
static void
print_chains(const struct model *m)
{
	const uint32_t n = 1000;

	for (enum shape s = REPEAT; s <= CHAIN; s++) {
		struct result one = measure(m, s, n, 1, 0), two = measure(m, s, 2 * n, 1, 0);

		printf("%s %.2f %.2f\n", shape_names[s], (double)(two.info.stream_dwords - one.info.stream_dwords) / n,
		       (double)(two.info.n_barriers - one.info.n_barriers) / n);
	}
}

static void
one(const struct model *m, char **argv)
{
	for (enum shape s = REPEAT; s < SHAPES; s++)
		if (!strcmp(argv[0], shape_names[s])) {
			uint32_t n = (uint32_t)atoi(argv[1]);
			struct list l;

			if (!n || n > MAX_DISPATCHES)
				tool_die("%" PRIu32 " dispatches, 1 to %u are possible", n, MAX_DISPATCHES);

			list_make(m, &l, s, n);
			gpuplan_plan_destroy(prepare(m, &l, (uint32_t)atoi(argv[2]), argv[3] ? (uint32_t)atoi(argv[3]) : 0));
			list_free(&l);
			return;
		}
	tool_die("no case \"%s\"", argv[0]);
}

int
main(int argc, char **argv)
{
	const char *target = "gfx1100";
	struct model few, many;
	int i = 1;

	tool_name = "bench-prepare";
	if (argc > 2 && !strcmp(argv[1], "--target")) {
		target = argv[2];
		i = 3;
	}
	if (i < argc && !strcmp(argv[i], "--chains")) {
		open_model(&few, target, 0);
		print_chains(&few);
	} else if (i + 3 < argc && !strcmp(argv[i], "--one")) {
		open_model(&few, target, MAX_DISPATCHES + 1);
		one(&few, &argv[i + 1]);
	} else if (i < argc) {
		tool_die("usage: bench-prepare [--target NAME] [--chains | --one CASE DISPATCHES SLOTS [FLAGS]]");
	} else {
		open_model(&few, target, 0);
		table_sizes(&few);
		open_model(&many, target, MAX_DISPATCHES + 1);
		table_shapes(&few, &many);
		close_model(&many);
	}
	close_model(&few);
	return 0;
}
