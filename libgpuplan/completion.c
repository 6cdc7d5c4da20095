/* SPDX-License-Identifier: MIT */
/* completion.c: from an accepted CS to exactly one verdict. docs/completion.md explains the protocol; "race n" here
 * means number n of its table. */
#define _GNU_SOURCE /* ppoll */
#include <amdgpu_drm.h>
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "context.h"
#include "error.h"
#include "fence.h"
#include "plan.h"
#include "queue.h"

#define NS_PER_S 1000000000ull
/* A lost interrupt is noticed by the kernel's fallback timer within this time; so sleepers look at memory as often
 * (race 21). */
#define NAP_NS (NS_PER_S / 2)
/* The word is there before the fence signals: microseconds, or NAP_NS after a lost interrupt (race 18). */
#define FENCE_LAG_MS 1000
/* Twice the kernel's longest default timeout (compute, 60 s): a job older than that never ends, which happens with
 * gpu_recovery=0 only. The kernel keeps buffers of running jobs alive by itself. */
#define PATIENCE_NS (120 * NS_PER_S)

/* Sleeping and waking costs about 5 us; spinning longer than SPIN_MAX_NS never pays. */
#define SPIN_MIN_NS 1000u
#define SPIN_MAX_NS 20000u

/* All READs of eventfds land here and nobody reads it: a CQE that comes after the slot is gone has written to no
 * freed memory (race 13). */
static uint64_t sink;

/* ---- words and phases ---- */

static uint64_t
ctl_of(uint64_t ctl, enum gp_phase phase)
{
	return (ctl & ~3ull) | phase;
}

/* Ends an open run as forced and wakes whoever sleeps on its eventfd. expected tells the run: a forcer that was
 * preempted here cannot hit a later one (race 9). The phase in between keeps the eventfd from being renewed before
 * the write. */
static bool
run_force(struct gp_run *run, uint64_t expected)
{
	static const uint64_t one = 1;

	if (!atomic_compare_exchange_strong(&run->ctl, &expected, ctl_of(expected, GP_FORCING)))
		return false;
	if (run->eventfd >= 0)
		while (write(run->eventfd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	atomic_store(&run->ctl, ctl_of(expected, GP_FORCED));
	return true;
}

static inline void
cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

bool
gp_run_spin(const struct gp_run *run, uint32_t *limit_ns, uint64_t deadline)
{
	uint64_t start, now;

	if (gp_run_word_set(run))
		return true;
	start = gpuplan_now();
	do {
		for (int i = 0; i < 32; i++) {
			if (gp_run_word_set(run)) {
				*limit_ns = *limit_ns > SPIN_MAX_NS / 2 ? SPIN_MAX_NS : *limit_ns * 2;
				return true;
			}
			cpu_relax();
		}
		now = gpuplan_now();
	} while (now - start < *limit_ns && now < deadline);
	*limit_ns = *limit_ns < SPIN_MIN_NS * 2 ? SPIN_MIN_NS : *limit_ns / 2;
	return false;
}

/* Sleeps until fd is readable or until. A signal wakes too: callers look again anyway. */
static void
sleep_on(int fd, uint64_t until)
{
	uint64_t now = gpuplan_now(), ns = until > now ? until - now : 0;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct timespec ts = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

	ppoll(&pfd, 1, &ts, NULL);
}

static uint64_t
next_nap(uint64_t deadline)
{
	uint64_t nap = gpuplan_now() + NAP_NS;

	return nap < deadline ? nap : deadline;
}

/* ---- life of a run ---- */

static int
make_eventfd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int
gp_run_init(struct gp_run *run, struct gpuplan_context *context, struct gpuplan_slot *slot, volatile uint64_t *word,
	    struct gpuplan_error *error)
{
	int r;

	memset(run, 0, sizeof(*run));
	run->word = word;
	run->slot = slot;
	run->eventfd = -1;
	run->spin_ns = SPIN_MAX_NS;
	atomic_init(&run->ctl, GP_FINISHED);
	if (!context->offline) {
		r = gp_fence_create(context, &run->syncobj);
		if (r)
			return gp_error(error, r, "no syncobj for a slot: %s", strerror(-r));
	}
	if (!context->offline && context->has_eventfd) {
		run->eventfd = make_eventfd();
		if (run->eventfd < 0) {
			gp_fence_destroy(context, run->syncobj);
			return gp_error(error, run->eventfd, "no eventfd for a slot: %s", strerror(-run->eventfd));
		}
	}
	gp_cs_init(&run->cs, run->syncobj);
	run->context = context;
	return 0;
}

/* The submission has its verdict, or nobody wants one. over: the GPU is done with it. */
static void
run_end(struct gp_run *run, bool over)
{
	run->submitted = false;
	atomic_store_explicit(&run->armed, false, memory_order_relaxed);
	/* An event that still comes must not wake the next run (race 8), nor somebody inside cancel end it (race 9). */
	if (run->registered || gp_run_phase(run) != GP_FINISHED)
		run->dirty = true;
	if (over) {
		gp_queue_detach(run);
	} else {
		run->draining = true;
		gp_queue_orphan(run);
	}
}

void
gp_run_abandon(struct gp_run *run)
{
	uint64_t ctl = atomic_load(&run->ctl);

	if (!run->submitted)
		return;
	/* A CQE that was promised comes now, not when the GPU is done. */
	if (atomic_load_explicit(&run->armed, memory_order_relaxed))
		run_force(run, ctl_of(ctl, GP_OPEN));
	ctl = ctl_of(ctl, GP_OPEN);
	atomic_compare_exchange_strong(&run->ctl, &ctl, ctl_of(ctl, GP_FINISHED));
	run_end(run, gp_run_word_set(run));
}

/* -EBUSY while the GPU may still write to the slot: neither a CQE nor a forced end says so (races 14, 19). */
static int
run_check_drained(struct gp_run *run)
{
	int status, r;

	if (!gp_run_word_set(run)) {
		r = gp_fence_status(run->context, run->syncobj, 0, &status);
		if (r)
			return r;
		if (!status)
			return -EBUSY;
	}
	run->draining = false;
	gp_queue_detach(run);
	return 0;
}

int
gp_run_idle(struct gp_run *run)
{
	if (run->submitted)
		return -EBUSY;
	return run->draining ? run_check_drained(run) : 0;
}

int
gp_run_prepare(struct gp_run *run)
{
	int fd, r;

	gp_run_abandon(run);
	if (gp_run_phase(run) == GP_FORCING)
		return -EBUSY;
	if (run->draining && (r = run_check_drained(run)))
		return r;
	if (!run->dirty)
		return 0;
	/* The old one lives on in the kernel until its last event and wakes nobody (race 8). */
	if (run->eventfd >= 0) {
		fd = make_eventfd();
		if (fd < 0)
			return fd;
		close(run->eventfd);
		run->eventfd = fd;
	}
	run->registered = run->dirty = false;
	return 0;
}

int
gp_run_drain(struct gp_run *run, uint64_t deadline)
{
	if (!run->submitted && !run->draining)
		return 0;
	while (!gp_run_spin(run, &run->spin_ns, deadline)) {
		int fd = gp_fence_export(run->context, run->syncobj), status = 0;

		if (fd >= 0 && !gp_fence_file_status(fd, &status) && status) {
			close(fd);
			return 0;
		}
		if (gpuplan_now() >= deadline) {
			if (fd >= 0)
				close(fd);
			return -ETIME;
		}
		/* Without a descriptor to sleep on, look every millisecond. */
		sleep_on(fd, fd >= 0 ? next_nap(deadline) : gpuplan_now() + NS_PER_S / 1000);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

void
gp_run_finish(struct gp_run *run)
{
	if (run->context->offline)
		return;
	gp_run_abandon(run);
	while (gp_run_phase(run) == GP_FORCING)
		sched_yield();
	gp_run_drain(run, gpuplan_now() + PATIENCE_NS);
	gp_queue_detach(run);
	gp_fence_destroy(run->context, run->syncobj);
	if (run->eventfd >= 0)
		close(run->eventfd);
	run->context = NULL;
}

/* ---- verdicts ---- */

static void
error_verdict(struct gp_run *run, int status, struct gpuplan_completion *c)
{
	uint64_t flags;

	gp_queue_kill(run->queue);
	c->reason = status;
	c->status = GPUPLAN_LOST;
	/* Soft recovery killed the waves of this very job; after a reset only the kernel's mark tells who was it. */
	if (status == -ENODATA ||
	    (!gp_queue_query(run->queue, &flags) && (flags & AMDGPU_CTX_QUERY2_FLAGS_GUILTY)))
		c->status = GPUPLAN_FAILED;
}

static void
failed(struct gp_run *run, int reason, struct gpuplan_completion *c)
{
	gp_queue_kill(run->queue);
	c->status = GPUPLAN_FAILED;
	c->reason = reason;
}

/* The word is set but may lie: a soft recovery kills the waves and lets the stream go on to write it. No reset since
 * the amdgpu context was made proves it right. */
static int
judge_doubtful(struct gp_run *run, struct gpuplan_completion *c)
{
	uint64_t flags;
	int status, r;

	if (!gp_queue_query(run->queue, &flags) && !(flags & AMDGPU_CTX_QUERY2_FLAGS_RESET))
		return 0;
	atomic_store(&run->queue->doubt, true);
	r = gp_fence_status(run->context, run->syncobj, FENCE_LAG_MS, &status);
	if (r)
		return r;
	if (status < 0)
		error_verdict(run, status, c);
	else if (!status)
		failed(run, -ETIME, c);
	return 0;
}

/* What memory and kernel say. c->status is DONE when called. */
static int
run_look(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *c)
{
	int status, r;

	if (gp_run_word_set(run))
		return run->queue->verify || gp_queue_suspects(run->queue, run, run->context->steady_ticks) ? judge_doubtful(run, c) : 0;
	r = gp_fence_status(run->context, run->syncobj, 0, &status);
	if (r)
		return r;
	if (status < 0) {
		error_verdict(run, status, c);
	} else if (status > 0) {
		/* The job may have ended between the two looks. */
		if (!gp_run_word_set(run))
			failed(run, -EIO, c);
	} else {
		if (!deadline || gpuplan_now() < deadline)
			return -EAGAIN;
		c->status = GPUPLAN_DEADLINE;
	}
	return 0;
}

/* The verdict that is not simply done. */
static __attribute__((noinline)) int
judge_closely(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *completion)
{
	struct gpuplan_completion c = { .slot = run->slot, .status = GPUPLAN_DONE, .user_data = run->user_data };
	uint64_t open = ctl_of(atomic_load(&run->ctl), GP_OPEN);
	bool over;
	int r = run_look(run, deadline, &c);

	if (r && r != -EAGAIN)
		return r;
	/* Untouched, so that a later cancel still works. */
	if (r && gp_run_phase(run) == GP_OPEN)
		return r;
	/* Against cancel one of the two wins (race 10). */
	if (r || !atomic_compare_exchange_strong(&run->ctl, &open, ctl_of(open, GP_FINISHED))) {
		c.status = GPUPLAN_CANCELLED;
		c.reason = 0;
	}
	over = c.status == GPUPLAN_CANCELLED || c.status == GPUPLAN_DEADLINE ? gp_run_word_set(run) : true;
	run_end(run, over);
	*completion = c;
	return 0;
}

/* Done, and nothing speaks against it: what nearly every inference comes to. True: but for gp_queue_leave all is as
 * judge_closely leaves it; false: nothing has changed. */
static inline __attribute__((always_inline)) bool
judge_done(struct gp_run *run, struct gpuplan_completion *completion)
{
	struct gpuplan_queue *queue = run->queue;
	uint64_t ctl;

	if (!gp_run_word_set(run) || queue->closely || gp_queue_suspects(queue, run, true))
		return false;
	ctl = atomic_load(&run->ctl);
	if ((ctl & 3) != GP_OPEN || !atomic_compare_exchange_strong(&run->ctl, &ctl, ctl_of(ctl, GP_FINISHED)))
		return false;
	run->submitted = false;
	atomic_store_explicit(&run->armed, false, memory_order_relaxed);
	/* As in run_end. */
	if (run->registered)
		run->dirty = true;
	completion->slot = run->slot;
	completion->status = GPUPLAN_DONE;
	completion->reason = 0;
	completion->user_data = run->user_data;
	return true;
}

int
gp_run_judge(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *completion)
{
	if (!judge_done(run, completion))
		return judge_closely(run, deadline, completion);
	return gp_queue_leave(run->queue, run);
}

/* ---- waiting without a ring ---- */

/* Until an event of this run, or until; a wake says nothing by itself. */
static int
run_sleep(struct gp_run *run, uint64_t until)
{
	uint64_t count;
	int fd, r;

	if (run->eventfd >= 0) {
		r = run->registered ? 0 : gp_fence_register(run->context, run->syncobj, run->eventfd);
		if (r)
			return r;
		run->registered = true;
		sleep_on(run->eventfd, until);
		if (read(run->eventfd, &count, sizeof(count)) == sizeof(count))
			run->registered = false;
		return 0;
	}
	fd = gp_fence_export(run->context, run->syncobj);
	if (fd < 0)
		return fd;
	/* Cancel cannot wake a sync_file's sleeper, only be seen before or after. */
	if (gp_run_phase(run) == GP_OPEN)
		sleep_on(fd, until);
	close(fd);
	return 0;
}

int
gp_run_wait(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *completion)
{
	bool slept = false;
	int r = gp_context_check_process(run->context);

	if (r)
		return r;
	if (!run->submitted)
		return -EALREADY;
	/* Here 0 has passed, it does not mean none. */
	if (!deadline)
		deadline = 1;
	for (;;) {
		/* The kernel is asked after a sleep, not before the first one. */
		if (gp_run_spin(run, &run->spin_ns, deadline) || slept || gp_run_phase(run) != GP_OPEN ||
		    gpuplan_now() >= deadline) {
			r = gp_run_judge(run, deadline, completion);
			if (r != -EAGAIN)
				return r;
		}
		r = run_sleep(run, next_nap(deadline));
		if (r)
			return r;
		slept = true;
	}
}

int
gpuplan_slot_wait(struct gpuplan_slot *slot, uint64_t deadline, struct gpuplan_completion *completion)
{
	return gp_run_wait(&slot->run, deadline, completion);
}

bool
gpuplan_slot_poll(const struct gpuplan_slot *slot)
{
	return gp_run_word_set(&slot->run);
}

/* ---- the caller's ring ---- */

/* Deadline of the request in front of it. Its own CQE never shows: skipped when it fires, and by the kernel when the
 * request is faster. Absolute, so that time between arm and submit does not count. */
static void
link_deadline(struct gp_run *run, struct io_uring *ring, uint64_t deadline, unsigned flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	run->timeout.tv_sec = (int64_t)(deadline / NS_PER_S);
	run->timeout.tv_nsec = (long long)(deadline % NS_PER_S);
	_Static_assert(sizeof(run->timeout) == sizeof(struct __kernel_timespec), "layout of linux/time_types.h");
	io_uring_prep_link_timeout(sqe, (struct __kernel_timespec *)(void *)&run->timeout, IORING_TIMEOUT_ABS);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS | flags;
	sqe->user_data = LIBURING_UDATA_TIMEOUT;
}

static void
arm_nop(struct io_uring *ring, uint64_t user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_nop(sqe);
	sqe->user_data = user_data;
}

/* Path 1. A READ is one-shot and takes the counter with it. It may find the job ended already: before the
 * registration, which then fires in the ioctl (races 1, 3), or after it (race 2). */
static int
arm_read(struct gp_run *run, struct io_uring *ring, uint64_t user_data, uint64_t deadline)
{
	struct io_uring_sqe *sqe;

	/* Armed, cancelled, armed again: the first registration still stands (race 12). */
	if (!run->registered) {
		int r = gp_fence_register(run->context, run->syncobj, run->eventfd);

		if (r)
			return r;
		run->registered = true;
	}
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, run->eventfd, &sink, sizeof(sink), 0);
	sqe->user_data = user_data;
	if (deadline) {
		sqe->flags |= IOSQE_IO_LINK;
		link_deadline(run, ring, deadline, 0);
	}
	return 0;
}

/* Path 2. The sync_file is closed by the ring itself, in time, late or cancelled: hard links run on after an error.
 * Linked and not loose, for the caller may have linked something in front of us: the close must not overtake. */
static int
arm_poll(struct gp_run *run, struct io_uring *ring, uint64_t user_data, uint64_t deadline)
{
	struct io_uring_sqe *sqe;
	int fd = gp_fence_export(run->context, run->syncobj);

	if (fd < 0)
		return fd;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = user_data;
	sqe->flags |= IOSQE_IO_HARDLINK;
	link_deadline(run, ring, deadline, IOSQE_IO_HARDLINK);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_close(sqe, fd);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	sqe->user_data = LIBURING_UDATA_TIMEOUT;
	return 0;
}

int
gpuplan_slot_arm(struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data, uint64_t deadline)
{
	struct gp_run *run = &slot->run;
	unsigned needed = 1;
	bool done;
	int r = gp_context_check_process(run->context);

	/* A child's SQEs would run and answer into the parent's ring (race 20). */
	if (r)
		return r;
	if (!run->submitted || (!deadline && run->eventfd < 0))
		return -EINVAL;
	/* Ended or cancelled already (race 11): no ioctl, the CQE comes with the caller's next enter. */
	done = gp_run_word_set(run) || gp_run_phase(run) != GP_OPEN;
	if (!done)
		needed = run->eventfd < 0 ? 3 : deadline ? 2 : 1;
	if (io_uring_sq_space_left(ring) < needed)
		return -EAGAIN;
	if (done)
		arm_nop(ring, user_data);
	else
		r = run->eventfd < 0 ? arm_poll(run, ring, user_data, deadline)
				     : arm_read(run, ring, user_data, deadline);
	/* The job goes on: armed again, polled or reaped later (race 6). */
	if (r)
		return r;
	run->deadline = deadline;
	atomic_store_explicit(&run->armed, true, memory_order_relaxed);
	return 0;
}

static __attribute__((noinline)) int
finish_closely(struct gpuplan_slot *slot, int cqe_res, struct gpuplan_completion *completion)
{
	struct gp_run *run = &slot->run;
	int r;

	atomic_store_explicit(&run->armed, false, memory_order_relaxed);
	r = judge_closely(run, run->deadline, completion);
	if (r == -EAGAIN)
		*completion = (struct gpuplan_completion){
			.slot = slot,
			.reason = cqe_res < 0 ? cqe_res : 0,
			.user_data = run->user_data,
		};
	return r;
}

int
gpuplan_slot_finish(struct gpuplan_slot *slot, int cqe_res, struct gpuplan_completion *completion)
{
	struct gp_run *run = &slot->run;

	if (!run->submitted)
		return -EALREADY;
	/* The READ took the event with it. Unarmed, res is whatever the caller says after poll. */
	if (atomic_load_explicit(&run->armed, memory_order_relaxed) && cqe_res == (int)sizeof(sink))
		run->registered = false;
	if (!judge_done(run, completion))
		return finish_closely(slot, cqe_res, completion);
	return gp_queue_leave(run->queue, run);
}

int
gpuplan_slot_cancel(struct gpuplan_slot *slot)
{
	struct gp_run *run = &slot->run;
	uint64_t ctl = atomic_load(&run->ctl);
	int r = gp_context_check_process(run->context);

	if (r)
		return r;
	if ((ctl & 3) != GP_OPEN)
		return -EALREADY;
	/* Nothing wakes a poll of a sync_file but the kernel. */
	if (!run->context->has_eventfd && atomic_load_explicit(&run->armed, memory_order_relaxed))
		return -ENOTSUP;
	return run_force(run, ctl) ? 0 : -EALREADY;
}
