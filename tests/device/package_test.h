/* SPDX-License-Identifier: MIT */
/* package_test.h: the speech model for device tests, from the files built beside them. */
#ifndef PACKAGE_TEST_H
#define PACKAGE_TEST_H

#include "device/device_test.h"

struct pt_model {
	struct gpuplan_context *context;
	struct gpuplan_package *package;
	struct gpuplan_definition *definition;
	void *code[16];		/* freed at the end */
	unsigned n_code;
};

DT_UNUSED int
pt_find_code(void *arg, const char *target, const char *stem, const void **elf, size_t *bytes)
{
	struct pt_model *m = arg;

	assert_true(m->n_code < 16);
	*elf = m->code[m->n_code++] = dt_shader(target, stem, bytes);
	return 0;
}

DT_UNUSED void
pt_share(const char *name, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	assert_true(n > 0);
	path[n] = 0;
	for (int i = 0; i < 3; i++)
		if ((slash = strrchr(path, '/')))
			*slash = 0;
	snprintf(path + strlen(path), size - strlen(path), "/share/gpuplan/%s", name);
}

/* The model on a context of the caller's. */
DT_UNUSED void
pt_define(struct pt_model *m, struct gpuplan_context *context)
{
	struct gpuplan_context_info info;
	struct gpuplan_session *session;
	struct gpuplan_error error;
	char path[4096];

	memset(m, 0, sizeof(*m));
	m->context = context;
	gpuplan_context_get_info(m->context, &info);
	pt_share("models/silero-vad", path, sizeof(path));
	dt_ok(gpuplan_package_open(path, &m->package, &error), &error);
	session = dt_session(m->context);
	dt_ok(gpuplan_package_load(m->package, session, info.target, pt_find_code, m, &error), &error);
	m->definition = dt_freeze(session);
}

DT_UNUSED void
pt_open(struct pt_model *m)
{
	pt_define(m, dt_context());
}

DT_UNUSED void
pt_drop(struct pt_model *m)
{
	gpuplan_definition_destroy(m->definition);
	gpuplan_package_close(m->package);
	for (unsigned i = 0; i < m->n_code; i++)
		free(m->code[i]);
}

DT_UNUSED void
pt_close(struct pt_model *m)
{
	pt_drop(m);
	dt_check_ledger_zero(m->context);
	gpuplan_context_destroy(m->context);
}

DT_UNUSED struct gpuplan_plan *
pt_plan(struct pt_model *m, const char *name, uint32_t capacity, uint32_t omit_barrier)
{
	struct gpuplan_plan_params params = dt_plan_params(capacity, NULL, 0);
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	params.omit_barrier = omit_barrier;
	dt_ok(gpuplan_package_plan(m->package, m->definition, name, &params, &plan, &error), &error);
	return plan;
}

DT_UNUSED struct gpuplan_queue *
dt_queue(struct gpuplan_context *context)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;

	dt_ok(gpuplan_queue_create(context, &params, &queue, &error), &error);
	return queue;
}

/* Sound that differs from frame to frame: a chord with a slow envelope. */
DT_UNUSED void
pt_sound(float *samples, unsigned n, unsigned frame)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned t = frame * 512 + i;
		float saw1 = (float)(t % 97) / 97.0f - 0.5f, saw2 = (float)(t % 41) / 41.0f - 0.5f;

		samples[i] = (saw1 + 0.5f * saw2) * (0.2f + 0.8f * (float)(t % 2999) / 2999.0f);
	}
}

/* Submits and waits; the test fails unless it is done. */
DT_UNUSED void
dt_run_slot(struct gpuplan_slot *slot, struct gpuplan_queue *queue)
{
	struct gpuplan_completion c;

	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_ptr_equal(c.slot, slot);
}

#endif
