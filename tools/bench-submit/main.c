/* SPDX-License-Identifier: MIT */
/* bench-submit: submits one slot over and over in each of libgpuplan's ways to complete, in marked stretches that
 * run.sh counts instructions, allocations and system calls of.
 *
 *   bench-submit [--only PLAN]   all plans (speech, 1, 16, 256, 1024) or one; prints a line of what each consists of
 */
#include <inttypes.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "mark.h"
#include "plans.h"

#define WAIT_NS 60000000000ull

struct run {
	struct gpuplan_queue *queue;
	struct gpuplan_slot *slot;
	struct io_uring ring;	/* the caller's */
};

static void
submit(struct run *r)
{
	int e = gpuplan_slot_submit(r->slot, r->queue);

	if (e)
		tool_die("submit: %s", strerror(-e));
}

static void
check_done(int r, const struct gpuplan_completion *c)
{
	if (r)
		tool_die("completion: %s", strerror(-r));
	if (c->status != GPUPLAN_DONE)
		tool_die("a run ended with status %d (%s)", c->status, strerror(-c->reason));
}

static void
run_poll(void *arg, unsigned n)
{
	struct gpuplan_completion c;
	struct run *r = arg;

	while (n--) {
		submit(r);
		while (!gpuplan_slot_poll(r->slot))
			;
		check_done(gpuplan_slot_finish(r->slot, 8, &c), &c);
	}
}

static void
run_wait(void *arg, unsigned n)
{
	struct gpuplan_completion c;
	struct run *r = arg;

	while (n--) {
		submit(r);
		check_done(gpuplan_slot_wait(r->slot, gpuplan_now() + WAIT_NS, &c), &c);
	}
}

static void
run_reap(void *arg, unsigned n)
{
	struct gpuplan_completion c;
	struct run *r = arg;

	while (n--) {
		submit(r);
		if (gpuplan_queue_reap(r->queue, &c, 1, gpuplan_now() + WAIT_NS) != 1)
			tool_die("reap took nothing");
		check_done(0, &c);
	}
}

static void
run_ring(void *arg, unsigned n)
{
	struct gpuplan_completion c;
	struct io_uring_cqe *cqe;
	struct run *r = arg;
	int res;

	while (n--) {
		submit(r);
		if (gpuplan_slot_arm(r->slot, &r->ring, 1, 0))
			tool_die("arm failed");
		if (io_uring_submit_and_wait(&r->ring, 1) < 0 || io_uring_peek_cqe(&r->ring, &cqe))
			tool_die("the ring gave nothing");
		res = cqe->res;
		io_uring_cqe_seen(&r->ring, cqe);
		check_done(gpuplan_slot_finish(r->slot, res, &c), &c);
	}
}

static const struct way {
	const char *name;
	void (*run)(void *arg, unsigned n);
} ways[] = { { "poll", run_poll }, { "wait", run_wait }, { "reap", run_reap }, { "ring", run_ring } };

static void
open_run(struct run *r, struct gpuplan_context *context, struct gpuplan_plan *plan)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_error error;

	if (gpuplan_queue_create(context, &params, &r->queue, &error))
		tool_die("%s", error.message);
	if (gpuplan_plan_acquire(plan, &r->slot))
		tool_die("no slot");
	if (io_uring_queue_init(8, &r->ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) &&
	    io_uring_queue_init(8, &r->ring, 0))
		tool_die("no io_uring");
}

static void
bench_plan(struct gpuplan_context *context, const char *name)
{
	struct gpuplan_plan *plan = strcmp(name, "speech") ? plans_chain(context, (uint32_t)atoi(name)) : plans_speech(context);
	struct gpuplan_plan_info info;
	struct run r;

	gpuplan_plan_get_info(plan, &info);
	printf("plan %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", name, info.n_dispatches, info.stream_dwords,
	       info.n_barriers);
	fflush(stdout);
	open_run(&r, context, plan);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		mark_case(ways[i].name, name, ways[i].run, &r);
	io_uring_queue_exit(&r.ring);
	gpuplan_slot_release(r.slot);
	gpuplan_queue_destroy(r.queue);
	gpuplan_plan_destroy(plan);
}

int
main(int argc, char **argv)
{
	static const char *const plans[] = { "speech", "1", "16", "256", "1024" };
	const char *only = argc == 3 && !strcmp(argv[1], "--only") ? argv[2] : NULL;
	struct gpuplan_context *context;

	tool_name = "bench-submit";
	if (argc != 1 && (!only || (strcmp(only, "speech") && atoi(only) < 1)))
		tool_die("usage: bench-submit [--only speech|DISPATCHES]");
	context = tool_open_context(NULL, argv);
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		if (!only)
			bench_plan(context, plans[i]);
	if (only)
		bench_plan(context, only);
	gpuplan_context_destroy(context);
	return 0;
}
