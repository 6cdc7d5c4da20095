/* SPDX-License-Identifier: MIT */
/* session_run.c: a session's GPU work: running commands once, verdicts, and the end of it all, freeze. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "plan.h"
#include "session.h"

/* Runs in flight: each holds its stream and arguments. Far below the queue's depth. */
#define MAX_RUNS 8

/* ---- failure ---- */

int
gp_session_check(const struct gpuplan_session *session, struct gpuplan_error *error)
{
	int r = gp_context_check_process(session->context);

	if (r)
		return gp_error(error, r, "session %" PRIu64 " belongs to process %d, this is a child of it",
				session->declarations.session, (int)session->context->pid);
	if (session->failure.code)
		return gp_error(error, session->failure.code, "%s", session->failure.message);
	return 0;
}

/* Notes the first failure of a submission: nobody can trust the contents then. */
__attribute__((format(printf, 3, 4))) static int
session_fail(struct gpuplan_session *session, struct gpuplan_error *error, const char *format, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof(reason), format, ap);
	va_end(ap);
	if (!session->failure.code)
		gp_error(&session->failure, -EIO, "session %" PRIu64 ": %s; it can only be destroyed now",
			 session->declarations.session, reason);
	return gp_error(error, -EIO, "%s", session->failure.message);
}

/* ---- verdicts ---- */

/* 0, -ETIME and -EIO as gp_session_judge_oldest has them; *over says whether there was a verdict, good or bad. */
static int
judge(struct gpuplan_session *session, struct gp_run *run, uint64_t deadline, const char *what, bool *over,
      struct gpuplan_error *error)
{
	static const char *const status_names[] = { "is done", "failed", "was lost", "was cancelled", "is late" };
	struct gpuplan_completion c;
	int r = gp_run_drain(run, deadline);

	*over = false;
	if (!r)
		r = gp_run_judge(run, 0, &c);
	if (r == -ETIME || r == -EAGAIN)
		return -ETIME;
	if (r)
		return gp_error(error, -EIO, "session %" PRIu64 ": no verdict on %s: %s", session->declarations.session,
				what, strerror(-r));
	*over = true;
	if (c.status == GPUPLAN_DONE)
		return 0;
	return session_fail(session, error, "%s %s%s%s", what, status_names[c.status], c.reason ? ": " : "",
			    c.reason ? strerror(-c.reason) : "");
}

static void
run_free(struct gp_session_run *run)
{
	if (run->slot)
		gpuplan_slot_release(run->slot);
	gpuplan_plan_destroy(run->plan);
	free(run);
}

static void
run_remove_first(struct gpuplan_session *session)
{
	struct gp_session_run *run = session->runs;

	session->runs = run->next;
	if (!session->runs)
		session->runs_end = &session->runs;
	session->n_runs--;
	run_free(run);
}

static struct gp_upload_lane *
oldest_lane(struct gpuplan_session *session)
{
	struct gp_upload_lane *oldest = NULL;

	for (uint32_t i = 0; i < GP_UPLOAD_LANES; i++) {
		struct gp_upload_lane *lane = &session->upload.lanes[i];

		if (lane->number && (!oldest || lane->number < oldest->number))
			oldest = lane;
	}
	return oldest;
}

int
gp_session_judge_oldest(struct gpuplan_session *session, uint64_t deadline, struct gpuplan_error *error)
{
	struct gp_upload_lane *lane = oldest_lane(session);
	bool patient = !deadline;
	bool over;
	char what[96];
	int r;

	if (!lane && !session->runs)
		return 0;
	if (patient)
		deadline = gpuplan_now() + GP_PATIENCE_NS;
	if (lane && (!session->runs || lane->number < session->runs->number)) {
		snprintf(what, sizeof(what), "%s", lane->what);
		r = judge(session, &lane->run, deadline, what, &over, error);
		if (over)
			lane->number = 0;
	} else {
		snprintf(what, sizeof(what), "run %" PRIu64, session->runs->ordinal);
		r = judge(session, &session->runs->slot->run, deadline, what, &over, error);
		if (over)
			run_remove_first(session);
	}
	if (r != -ETIME)
		return r;
	if (patient)
		return session_fail(session, error, "%s has not ended for %llu s", what, GP_PATIENCE_NS / 1000000000u);
	return gp_error(error, r, "session %" PRIu64 ": %s was still running at the deadline",
			session->declarations.session, what);
}

static bool
work_in_flight(struct gpuplan_session *session)
{
	return session->runs || oldest_lane(session);
}

int
gp_session_refused(struct gpuplan_session *session, int r, const char *what, struct gpuplan_error *error)
{
	if (r != -ECANCELED)
		return gp_error(error, r == -ENOMEM ? r : -EIO, "session %" PRIu64 ": the kernel refused %s: %s",
				session->declarations.session, what, strerror(-r));
	/* The queue is dead: an earlier submission has failed, whose verdict says more. */
	while (!session->failure.code && work_in_flight(session))
		if (gp_session_judge_oldest(session, 0, NULL))
			break;
	return session_fail(session, error, "%s was refused, the queue is dead", what);
}

int
gpuplan_session_sync(struct gpuplan_session *session, uint64_t deadline, struct gpuplan_error *error)
{
	int r = gp_session_check(session, error);

	/* A deadline of 0 has passed, it does not mean patience here. */
	if (!deadline)
		deadline = 1;
	while (!r && work_in_flight(session))
		r = gp_session_judge_oldest(session, deadline, error);
	return r;
}

int
gp_session_queue(struct gpuplan_session *session, struct gpuplan_error *error)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;

	if (session->queue)
		return 0;
	return gpuplan_queue_create(session->context, &params, &session->queue, error);
}

/* ---- running once ---- */

/* Scratch and state that a run is the first to use, to be taken back when it is refused. */
struct backing {
	struct gpuplan_session *session;
	uint32_t *fresh;	/* allocation numbers, room for all of the session's */
	uint32_t n;
};

/* What is wrong with a region is the plan compiler's to say. */
static int
back_region(struct backing *b, const struct gpuplan_region *region, struct gpuplan_error *error)
{
	struct gp_declarations *d = &b->session->declarations;
	int r;

	if (region->session != d->session || region->allocation >= d->n_allocations ||
	    d->allocations[region->allocation].buffer)
		return 0;
	r = gp_session_back(b->session, &d->allocations[region->allocation], error);
	if (!r)
		b->fresh[b->n++] = region->allocation;
	return r;
}

static int
back_command(struct backing *b, const struct gpuplan_command *command, struct gpuplan_error *error)
{
	const struct gpuplan_dispatch *dispatch = &command->u.dispatch;
	int r = 0;

	switch (command->kind) {
	case GPUPLAN_FILL:
		return back_region(b, &command->u.fill.dst, error);
	case GPUPLAN_COPY:
		r = back_region(b, &command->u.copy.dst, error);
		return r ? r : back_region(b, &command->u.copy.src, error);
	case GPUPLAN_DISPATCH:
		for (uint32_t i = 0; !r && dispatch->bindings && i < dispatch->n_bindings; i++)
			r = back_region(b, &dispatch->bindings[i].region, error);
		return r || !dispatch->groups_from ? r : back_region(b, dispatch->groups_from, error);
	}
	return 0;
}

/* State is zero at first. Host buffers are created so. */
static int
zero_fresh_state(struct backing *b, struct gpuplan_error *error)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < b->n; i++) {
		const struct gp_allocation *a = &b->session->declarations.allocations[b->fresh[i]];
		char what[96];

		if (a->use != GPUPLAN_STATE || a->placement != GPUPLAN_DEVICE)
			continue;
		snprintf(what, sizeof(what), "zeroing of state \"%.64s\"", a->name);
		r = gp_upload_zero(b->session, a->buffer->va, a->buffer->bytes, what, error);
	}
	return r;
}

static void
take_back(struct backing *b)
{
	if (b->n)
		gp_upload_drain(&b->session->upload);
	for (uint32_t i = 0; i < b->n; i++) {
		struct gp_allocation *a = &b->session->declarations.allocations[b->fresh[i]];

		gp_buffer_destroy(a->buffer);
		a->buffer = NULL;
	}
}

static int
run_submit(struct gpuplan_session *session, struct gp_session_run *run, struct gpuplan_error *error)
{
	int r = gp_session_queue(session, error);

	if (!r && session->run_unfenced)
		r = gp_upload_fence(session, error);
	while (!r && session->n_runs >= MAX_RUNS)
		r = gp_session_judge_oldest(session, 0, error);
	if (r)
		return r;
	r = gpuplan_plan_acquire(run->plan, &run->slot);
	if (!r)
		r = gpuplan_slot_submit(run->slot, session->queue);
	return r ? gp_session_refused(session, r, "a run", error) : 0;
}

/* The plan, its scratch and state; then on its way. */
static int
run_start(struct backing *b, const struct gpuplan_plan_params *params, struct gp_session_run *run,
	  struct gpuplan_error *error)
{
	struct gpuplan_session *session = b->session;
	struct gp_plan_binding binding = {
		.context = session->context,
		.declarations = &session->declarations,
		.session_run = true,
		.purpose = GP_FOR_SESSION,
	};
	int r = 0;

	for (uint32_t i = 0; !r && params->commands && i < params->n_commands; i++)
		r = back_command(b, &params->commands[i], error);
	if (!r)
		r = gp_plan_create(&binding, params, &run->plan, error);
	if (!r)
		r = zero_fresh_state(b, error);
	if (!r)
		r = run_submit(session, run, error);
	return r;
}

static void
run_append(struct gpuplan_session *session, struct gp_session_run *run)
{
	run->number = ++session->submissions;
	run->ordinal = ++session->n_started;
	session->run_unfenced = true;
	*session->runs_end = run;
	session->runs_end = &run->next;
	session->n_runs++;
}

static int
run_commands(struct gpuplan_session *session, const struct gpuplan_plan_params *params, struct gpuplan_error *error)
{
	struct backing b = { .session = session };
	struct gp_session_run *run = calloc(1, sizeof(*run));
	int r;

	b.fresh = calloc(session->declarations.n_allocations + 1u, sizeof(*b.fresh));
	if (run && b.fresh) {
		r = run_start(&b, params, run, error);
	} else {
		r = gp_error(error, -ENOMEM, "no memory for a run");
	}
	if (r) {
		if (run)
			run_free(run);
		take_back(&b);
	} else {
		run_append(session, run);
	}
	free(b.fresh);
	return r;
}

/* Offline everything is checked, nothing runs. */
static int
run_check(struct gpuplan_session *session, const struct gpuplan_plan_params *params, struct gpuplan_error *error)
{
	struct gp_compile_options options = { .session_run = true };
	struct gp_image *image;
	int r = gp_plan_compile(&session->declarations, params, &options, &image, error);

	if (!r)
		gp_image_destroy(image);
	return r;
}

int
gpuplan_session_run(struct gpuplan_session *session, const struct gpuplan_command *commands, uint32_t n_commands,
		    struct gpuplan_error *error)
{
	struct gpuplan_plan_params params = {
		.size = sizeof(params),
		.capacity = 1,
		.commands = commands,
		.n_commands = n_commands,
		.name = "session run",
	};
	int r = gp_session_check(session, error);

	if (r || !n_commands)
		return r;
	return session->context->offline ? run_check(session, &params, error) : run_commands(session, &params, error);
}

/* ---- end ---- */

void
gp_session_drop_work(struct gpuplan_session *session)
{
	while (session->runs) {
		struct gp_session_run *run = session->runs;

		session->runs = run->next;
		run_free(run);
	}
	session->runs_end = &session->runs;
	session->n_runs = 0;
	gp_upload_finish(&session->upload);
	gpuplan_queue_destroy(session->queue);
	session->queue = NULL;
}

/* Weights and code: what a definition keeps. */
static bool
is_kept(const struct gp_allocation *a)
{
	return a->use == GPUPLAN_WEIGHT;
}

static int
move_ledger(const struct gp_declarations *d, struct gpuplan_context *context, struct gpuplan_error *error)
{
	struct gp_buffer **buffers = calloc((size_t)d->n_allocations + d->n_codes + 1, sizeof(*buffers));
	uint32_t n = 0;
	int r;

	if (!buffers)
		return gp_error(error, -ENOMEM, "no memory to freeze session %" PRIu64, d->session);
	for (uint32_t i = 0; i < d->n_allocations; i++)
		if (is_kept(&d->allocations[i]))
			buffers[n++] = d->allocations[i].buffer;
	for (uint32_t i = 0; i < d->n_codes; i++)
		buffers[n++] = d->codes[i].buffer;
	r = gp_buffers_move(buffers, n, context, "freeze", error);
	free(buffers);
	return r;
}

static void
drop_scratch(struct gp_declarations *d)
{
	for (uint32_t i = 0; i < d->n_allocations; i++)
		if (!is_kept(&d->allocations[i])) {
			gp_buffer_destroy(d->allocations[i].buffer);
			d->allocations[i].buffer = NULL;
		}
}

static uint64_t
sum_weights(const struct gp_declarations *d)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < d->n_allocations; i++)
		if (is_kept(&d->allocations[i]))
			bytes += d->allocations[i].buffer->bytes;
	return bytes;
}

static int
check_freeze(const struct gpuplan_session *session, const struct gpuplan_context *context, struct gpuplan_error *error)
{
	const struct gpuplan_context_info *here = &session->context->info, *there = &context->info;
	int r = gp_session_check(session, error);

	if (r)
		return r;
	if (!gp_context_same_device(session->context, context))
		return gp_error(error, -EXDEV, "session %" PRIu64 " lives on %s (%s), it cannot be frozen to %s (%s)",
				session->declarations.session, here->device, here->target, there->device,
				there->target);
	return 0;
}

/* The session is done with; what it declared becomes the model's. */
static void
hand_over(struct gpuplan_session *session, struct gpuplan_context *context, struct gp_model *model)
{
	gp_session_drop_work(session);
	drop_scratch(&session->declarations);
	*model = (struct gp_model){
		.refs = 1,
		.context = context,
		.declarations = session->declarations,
		.weight_bytes = sum_weights(&session->declarations),
	};
	free(session);
}

int
gpuplan_session_freeze(struct gpuplan_session *session, struct gpuplan_context *context, uint64_t deadline,
		       struct gpuplan_definition **out, struct gpuplan_error *error)
{
	struct gpuplan_definition *definition;
	int r;

	if (!context)
		context = session->context;
	r = check_freeze(session, context, error);
	if (r)
		return r;
	definition = calloc(1, sizeof(*definition));
	if (definition)
		definition->model = calloc(1, sizeof(*definition->model));
	if (!definition || !definition->model)
		r = gp_error(error, -ENOMEM, "no memory for a definition");
	if (!r)
		r = gpuplan_session_sync(session, deadline, error);
	if (!r)
		r = move_ledger(&session->declarations, context, error);
	if (r) {
		if (definition)
			free(definition->model);
		free(definition);
		return r;
	}
	hand_over(session, context, definition->model);
	*out = definition;
	return 0;
}
