/* SPDX-License-Identifier: MIT */
/* device.c: the cases as plans of one dispatch each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/shaders.h"
#include "common/tool.h"

#define LOAD_TIMEOUT_NS 60000000000u
#define RUN_TIMEOUT_NS 60000000000u

struct bench_device {
	struct gpuplan_context_info info;
	char stats[128];		/* softgpu's live counters (tools/softgpu/drm/report.c) */
	bool small;
	struct gpuplan_definition *definition;
	struct gpuplan_queue *queue;
	struct gpuplan_region a, b, out;
	struct gpuplan_kernel *kernels;
	struct gpuplan_plan **plans;
	struct gpuplan_slot **slots;
};

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static void *
allocate(size_t count, size_t bytes)
{
	void *p = calloc(count, bytes);

	if (!p)
		tool_die("out of memory");
	return p;
}

static struct gpuplan_region
declare(struct gpuplan_session *session, enum gpuplan_use use, uint64_t floats, const char *name)
{
	struct gpuplan_alloc_params params = { .size = sizeof(params), .use = use, .bytes = floats * sizeof(float),
					       .name = name };
	struct gpuplan_region region;
	struct gpuplan_error error;

	/* Outputs in host memory: the host's processor is also what softgpu computes with, so nothing is copied. */
	params.placement = use == GPUPLAN_WEIGHT ? GPUPLAN_DEVICE : GPUPLAN_HOST;
	check(gpuplan_session_alloc(session, &params, &region, &error), &error);
	return region;
}

static void
load_kernels(struct bench_device *d, struct gpuplan_session *session)
{
	struct gpuplan_error error;
	const void *elf;
	uint32_t code;
	size_t bytes;

	if (tool_find_code(NULL, d->info.target, "kernels", &elf, &bytes))
		tool_die("no kernels for %s in this program; it has them for gfx1030 and gfx1100", d->info.target);
	check(gpuplan_session_load(session, elf, bytes, "kernels", &code, &error), &error);
	for (unsigned i = 0; i < bench_case_count; i++)
		check(gpuplan_session_kernel(session, code, bench_cases[i].kernel, &d->kernels[i], &error), &error);
}

static void
load(struct bench_device *d, struct gpuplan_context *context)
{
	float *a = allocate(BENCH_INPUT, sizeof(*a)), *b = allocate(BENCH_INPUT, sizeof(*b));
	struct gpuplan_session *session;
	struct gpuplan_error error;

	bench_inputs(a, b);
	check(gpuplan_session_create(context, &session, &error), &error);
	d->a = declare(session, GPUPLAN_WEIGHT, BENCH_INPUT, "a");
	d->b = declare(session, GPUPLAN_WEIGHT, BENCH_INPUT, "b");
	d->out = declare(session, GPUPLAN_SCRATCH, bench_most_outputs(), "out");
	load_kernels(d, session);
	check(gpuplan_session_upload(session, d->a, a, &error), &error);
	check(gpuplan_session_upload(session, d->b, b, &error), &error);
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + LOAD_TIMEOUT_NS, &d->definition, &error), &error);
	free(a);
	free(b);
}

static const struct bench_size *
size_of(const struct bench_device *d, unsigned i)
{
	return d->small ? &bench_cases[i].small : &bench_cases[i].full;
}

static void
make_plan(struct bench_device *d, unsigned i)
{
	const struct bench_size *size = size_of(d, i);
	uint64_t outputs = bench_outputs(&bench_cases[i], size);
	struct gpuplan_region out = gpuplan_slice(d->out, 0, outputs * sizeof(float));
	struct gpuplan_binding bindings[3] = {
		{ .region = out, .access = GPUPLAN_WRITE },
		{ .region = d->a, .access = GPUPLAN_READ },
		{ .region = d->b, .access = GPUPLAN_READ },
	};
	struct gpuplan_arg args[4] = {
		gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_binding(2), gpuplan_arg_u32(size->turns),
	};
	struct gpuplan_command command = { .kind = GPUPLAN_DISPATCH, .label = bench_cases[i].kernel, .u.dispatch = {
		.kernel = d->kernels[i], .groups = { size->groups[0], size->groups[1], 1 }, .block = { BENCH_ITEMS, 1, 1 },
		.n_bindings = 3, .bindings = bindings, .n_args = 4, .args = args } };
	struct gpuplan_io io = { .region = out, .dtype = GPUPLAN_F32, .rank = 1, .shape = { outputs }, .name = "out" };
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1, .commands = &command, .n_commands = 1,
					      .outputs = &io, .n_outputs = 1, .name = bench_cases[i].kernel };
	struct gpuplan_error error;

	check(gpuplan_plan_create(d->definition, &params, &d->plans[i], &error), &error);
	if (gpuplan_plan_acquire(d->plans[i], &d->slots[i]))
		tool_die("no slot for %s", bench_cases[i].kernel);
}

struct bench_device *
bench_device_create(struct gpuplan_context *context, bool small)
{
	struct bench_device *d = allocate(1, sizeof(*d));
	struct gpuplan_queue_params queue = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_error error;
	const char *node;

	d->small = small;
	gpuplan_context_get_info(context, &d->info);
	node = strrchr(d->info.device, '/');
	snprintf(d->stats, sizeof(d->stats), "/sys/class/drm/%s/device/softgpu_stats",
		 node ? node + 1 : d->info.device);
	d->kernels = allocate(bench_case_count, sizeof(*d->kernels));
	d->plans = allocate(bench_case_count, sizeof(struct gpuplan_plan *));
	d->slots = allocate(bench_case_count, sizeof(struct gpuplan_slot *));
	load(d, context);
	for (unsigned i = 0; i < bench_case_count; i++)
		make_plan(d, i);
	check(gpuplan_queue_create(context, &queue, &d->queue, &error), &error);
	return d;
}

void
bench_device_destroy(struct bench_device *d)
{
	for (unsigned i = 0; i < bench_case_count; i++) {
		gpuplan_slot_release(d->slots[i]);
		gpuplan_plan_destroy(d->plans[i]);
	}
	gpuplan_queue_destroy(d->queue);
	gpuplan_definition_destroy(d->definition);
	free(d->kernels);
	free(d->plans);
	free(d->slots);
	free(d);
}

const char *
bench_device_target(const struct bench_device *d)
{
	return d->info.target;
}

/* A counter of the report's "hw" object. */
static uint64_t
counter(const char *report, const char *name)
{
	const char *hw = strstr(report, "\"hw\""), *at;
	char key[32];

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = hw ? strstr(hw, key) : NULL;
	if (!at)
		tool_die("softgpu's counters have no member %s", name);
	return strtoull(at + strlen(key), NULL, 10);
}

static struct bench_counts
read_counts(const struct bench_device *d)
{
	char text[16384];
	FILE *f = fopen(d->stats, "re");
	size_t n;

	if (!f)
		tool_die("%s cannot be read: is this softgpu?", d->stats);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return (struct bench_counts){ counter(text, "waves"), counter(text, "instructions") };
}

const float *
bench_device_run(struct bench_device *d, unsigned i, struct bench_time *time, struct bench_counts *counts)
{
	struct bench_counts before = read_counts(d), after;
	struct bench_time start = bench_clock();
	struct gpuplan_completion done;
	int r = gpuplan_slot_submit(d->slots[i], d->queue);

	if (!r)
		r = gpuplan_slot_wait(d->slots[i], gpuplan_now() + RUN_TIMEOUT_NS, &done);
	*time = bench_since(start);
	if (r)
		tool_die("%s: %s", bench_cases[i].kernel, strerror(-r));
	if (done.status != GPUPLAN_DONE)
		tool_die("%s did not end well: status %d, %s", bench_cases[i].kernel, (int)done.status,
			 strerror(-done.reason));
	after = read_counts(d);
	*counts = (struct bench_counts){ after.waves - before.waves, after.instructions - before.instructions };
	return gpuplan_slot_output(d->slots[i], 0, NULL);
}
