/* SPDX-License-Identifier: MIT */
/* load.c: keeps slots in flight and measures them.
 *
 * Closed loop: a slot is submitted again as soon as it is done. Open loop: submissions have a schedule, and latency
 * counts from the scheduled time, so that a stall is charged to everything it delays.
 */
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "common/tool.h"

#define DEADLINE_NS 60000000000u /* no submission takes a minute */
#define PROGRESS_NS 2000000000u
#define MAX_SLOTS 64

struct loop {
	const struct bench_options *o;
	struct gpuplan_queue *queue;
	struct gpuplan_slot **slots;
	struct workload *w;
	struct load_result *r;
	struct io_uring ring;
	uint64_t begin[MAX_SLOTS]; /* when latency starts to count; 0: idle */
	unsigned busy;
	uint64_t started, submitted, next_progress;
	bool stopped;
};

static void
fail(struct loop *l, const char *what, int code)
{
	if (!l->r->failed++)
		snprintf(l->r->failure, sizeof(l->r->failure), "%s: %s", what, strerror(-code));
	l->stopped = true;
}

static uint64_t
scheduled(const struct loop *l)
{
	return l->started + (uint64_t)((double)l->submitted * 1e9 / l->o->rate);
}

static bool
more_wanted(const struct loop *l, uint64_t now)
{
	if (l->stopped)
		return false;
	if (l->o->count)
		return l->submitted < l->o->count;
	return (double)(now - l->started) < l->o->duration * 1e9;
}

static int
arm(struct loop *l, unsigned i)
{
	return gpuplan_slot_arm(l->slots[i], &l->ring, i, gpuplan_now() + DEADLINE_NS);
}

static bool
submit(struct loop *l, unsigned i, uint64_t begin)
{
	int r;

	workload_feed(l->w, l->slots[i]);
	r = gpuplan_slot_submit(l->slots[i], l->queue);
	if (r) {
		fail(l, "submit", r);
		return false;
	}
	l->begin[i] = begin;
	l->busy++;
	l->submitted++;
	if (l->o->completion == COMPLETE_RING && (r = arm(l, i))) {
		fail(l, "arm", r);
		return false;
	}
	return true;
}

static void
complete(struct loop *l, unsigned i, const struct gpuplan_completion *c)
{
	uint64_t now = gpuplan_now();

	if (c->status != GPUPLAN_DONE) {
		static const char *const text[] = { "done", "failed", "lost", "cancelled", "past its deadline" };
		char what[64];

		snprintf(what, sizeof(what), "submission %s", text[c->status]);
		fail(l, what, c->reason);
	} else {
		workload_check(l->w, l->slots[i]);
	}
	histogram_add(&l->r->latency, now > l->begin[i] ? now - l->begin[i] : 0);
	l->r->submissions++;
	l->begin[i] = 0;
	l->busy--;
}

static void
collect_ring(struct loop *l, uint64_t until)
{
	struct __kernel_timespec ts = { 0 };
	struct io_uring_cqe *cqe;
	uint64_t now = gpuplan_now(), left = until > now ? until - now : 0;
	unsigned head, n = 0, again[MAX_SLOTS], n_again = 0;

	ts.tv_sec = (long long)(left / 1000000000u);
	ts.tv_nsec = (long long)(left % 1000000000u);
	l->r->enters++;
	io_uring_submit_and_wait_timeout(&l->ring, &cqe, 1, &ts, NULL);
	io_uring_for_each_cqe(&l->ring, head, cqe) {
		unsigned i = (unsigned)cqe->user_data;
		struct gpuplan_completion c;
		int r = gpuplan_slot_finish(l->slots[i], cqe->res, &c);

		if (r == -EAGAIN)
			again[n_again++] = i;
		else if (r)
			fail(l, "finish", r);
		else
			complete(l, i, &c);
		n++;
	}
	io_uring_cq_advance(&l->ring, n);
	for (unsigned k = 0; k < n_again; k++) {
		int r = arm(l, again[k]);

		if (r)
			fail(l, "arm", r);
	}
}

static void
collect_poll(struct loop *l, uint64_t until)
{
	bool any = false;

	while (!any) {
		for (unsigned i = 0; i < l->o->slots; i++) {
			struct gpuplan_completion c;
			int r;

			if (!l->begin[i] || !gpuplan_slot_poll(l->slots[i]))
				continue;
			r = gpuplan_slot_finish(l->slots[i], 8, &c);
			if (r == -EAGAIN)
				continue;
			if (r)
				fail(l, "finish", r);
			else
				complete(l, i, &c);
			any = true;
		}
		if (gpuplan_now() >= until)
			return;
	}
}

static void
collect_reap(struct loop *l, uint64_t until)
{
	struct gpuplan_completion c[MAX_SLOTS];
	int n = gpuplan_queue_reap(l->queue, c, MAX_SLOTS, until);

	if (n < 0)
		fail(l, "reap", n);
	for (int k = 0; k < n; k++)
		complete(l, gpuplan_slot_index(c[k].slot), &c[k]);
}

/* The oldest first: jobs of one queue end in order. */
static void
collect_wait(struct loop *l)
{
	struct gpuplan_completion c;
	unsigned oldest = 0;
	int r;

	for (unsigned i = 0; i < l->o->slots; i++)
		if (l->begin[i] && (!l->begin[oldest] || l->begin[i] < l->begin[oldest]))
			oldest = i;
	r = gpuplan_slot_wait(l->slots[oldest], gpuplan_now() + DEADLINE_NS, &c);
	if (r)
		fail(l, "wait", r);
	else
		complete(l, oldest, &c);
}

static void
collect(struct loop *l, uint64_t until)
{
	switch (l->o->completion) {
	case COMPLETE_RING:
		collect_ring(l, until);
		break;
	case COMPLETE_POLL:
		collect_poll(l, until);
		break;
	case COMPLETE_REAP:
		collect_reap(l, until);
		break;
	case COMPLETE_WAIT:
		collect_wait(l);
		break;
	}
}

static void
progress(struct loop *l, uint64_t now)
{
	if (l->o->json || now < l->next_progress)
		return;
	l->next_progress = now + PROGRESS_NS;
	fprintf(stderr, "\r  %llu inferences, %.0f s, p50 %.2f ms   ", (unsigned long long)l->r->submissions,
		(double)(now - l->started) / 1e9, (double)histogram_quantile(&l->r->latency, 0.5) / 1e6);
}

static void
fill_slots(struct loop *l)
{
	for (unsigned i = 0; i < l->o->slots; i++) {
		uint64_t now = gpuplan_now();

		if (l->begin[i] || !more_wanted(l, now))
			continue;
		if (l->o->rate > 0 && scheduled(l) > now)
			return;
		if (!submit(l, i, l->o->rate > 0 ? scheduled(l) : now))
			return;
	}
}

/* When the next submission is due, at the latest a deadline from now. */
static uint64_t
next_event(const struct loop *l)
{
	uint64_t until = gpuplan_now() + DEADLINE_NS;

	if (l->o->rate > 0 && l->busy < l->o->slots && !l->stopped)
		until = scheduled(l);
	return until;
}

static void
sleep_until(uint64_t until)
{
	uint64_t now = gpuplan_now();

	if (until > now)
		usleep((useconds_t)((until - now) / 1000 + 1));
}

static void
make_ring(struct loop *l)
{
	struct io_uring_params params = { .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN };
	int r = io_uring_queue_init_params(4 * MAX_SLOTS, &l->ring, &params);

	if (r == -EINVAL)
		r = io_uring_queue_init(4 * MAX_SLOTS, &l->ring, 0);
	if (r)
		tool_die("io_uring: %s", strerror(-r));
}

void
load_run(const struct bench_options *o, struct gpuplan_queue *queue, struct gpuplan_slot **slots, struct workload *w,
	 struct load_result *result)
{
	struct loop l = { .o = o, .queue = queue, .slots = slots, .w = w, .r = result };
	uint64_t ioctls, now;

	if (o->completion == COMPLETE_RING)
		make_ring(&l);
	result->enters_known = o->completion == COMPLETE_RING || o->completion == COMPLETE_POLL;
	ioctls = syscount_ioctls();
	l.started = gpuplan_now();
	l.next_progress = l.started + PROGRESS_NS;
	for (;;) {
		now = gpuplan_now();
		fill_slots(&l);
		if (l.busy)
			collect(&l, next_event(&l));
		else if (!more_wanted(&l, now))
			break;
		else
			sleep_until(scheduled(&l));
		if (l.stopped && result->failed && o->completion == COMPLETE_RING && l.busy)
			break; /* a slot whose arm failed would never answer */
		progress(&l, now);
	}
	result->elapsed_ns = gpuplan_now() - l.started;
	result->ioctls = syscount_ioctls() - ioctls;
	if (!o->json && l.next_progress > l.started + PROGRESS_NS)
		fputc('\n', stderr);
	if (o->completion == COMPLETE_RING)
		io_uring_queue_exit(&l.ring);
}
