/* SPDX-License-Identifier: MIT */
/* model.c: one plan of a package, its slots and its queue. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/shaders.h"
#include "common/tool.h"
#include "serve.h"

#define FREEZE_NS 60000000000u

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static void
open_queue(struct model *m)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_error error;

	check(gpuplan_queue_create(m->context, &params, &m->queue, &error), &error);
}

static void
count_io(struct model *m)
{
	struct gpuplan_plan_info info;
	struct gpuplan_io io;

	gpuplan_plan_get_info(m->plan, &info);
	m->n_inputs = info.n_inputs;
	m->n_outputs = info.n_outputs;
	m->n_parameters = info.n_parameters;
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		gpuplan_plan_get_io(m->plan, false, i, &io);
		m->input_bytes += tensor_elements(&io) * gpuplan_dtype_bytes(io.dtype);
	}
}

void
model_open(struct model *m, const char *path, const char *plan, const char *name, unsigned slots, uint64_t deadline_ns,
	   const char *device, char **argv)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = slots };
	struct gpuplan_context_info info;
	struct gpuplan_package *package;
	struct gpuplan_session *session;
	struct gpuplan_error error;

	*m = (struct model){ .name = name, .deadline_ns = deadline_ns };
	m->context = tool_open_context(device, argv);
	gpuplan_context_get_info(m->context, &info);
	check(gpuplan_package_open(path, &package, &error), &error);
	check(gpuplan_session_create(m->context, &session, &error), &error);
	check(gpuplan_package_load(package, session, info.target, tool_find_code, NULL, &error), &error);
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + FREEZE_NS, &m->definition, &error), &error);
	if (!plan)
		plan = gpuplan_package_plan_name(package, 0);
	if (!plan)
		tool_die("%s has no plan", path);
	check(gpuplan_package_plan(package, m->definition, plan, &params, &m->plan, &error), &error);
	gpuplan_package_close(package);
	open_queue(m);
	count_io(m);
}

void
model_close(struct model *m)
{
	gpuplan_queue_destroy(m->queue);
	gpuplan_plan_destroy(m->plan);
	gpuplan_definition_destroy(m->definition);
	gpuplan_context_destroy(m->context);
}

/* The ring may have no room for a completion's entries until what waits in it has been handed to the kernel. */
static int
arm(struct model *m, struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data)
{
	uint64_t deadline = gpuplan_now() + m->deadline_ns;
	int r = gpuplan_slot_arm(slot, ring, user_data, deadline);

	if (r != -EAGAIN)
		return r;
	io_uring_submit(ring);
	return gpuplan_slot_arm(slot, ring, user_data, deadline);
}

int
model_submit(struct model *m, struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data)
{
	int r;

	if (m->dead)
		return -EAGAIN;
	gpuplan_slot_reset_state(slot); /* requests know nothing of each other */
	r = gpuplan_slot_submit(slot, m->queue);
	if (r == -ECANCELED) {
		m->dead = true;
		return -EAGAIN;
	}
	if (r)
		return r;
	r = arm(m, slot, ring, user_data);
	if (!r)
		m->in_flight++;
	return r;
}

int
model_recover(struct model *m)
{
	struct gpuplan_error error;
	int r;

	if (!m->dead)
		return 0;
	if (m->in_flight)
		return -EBUSY;
	r = gpuplan_queue_recover(m->queue, &error);
	if (r == -EBUSY)
		return r;
	if (r) {
		fprintf(stderr, "gpuplan-serve: %s\n", error.message);
		return r;
	}
	m->dead = false;
	m->recoveries++;
	return 0;
}
