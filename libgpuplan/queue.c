/* SPDX-License-Identifier: MIT */
/* queue.c: submitting, what is in flight, and taking it back in order. */
#include <amdgpu_drm.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "context.h"
#include "error.h"
#include "fence.h"
#include "params.h"
#include "plan.h"
#include "queue.h"

#define NS_PER_S 1000000000ull
/* As in completion.c: memory is looked at this often, whatever the kernel says (race 21 of docs/completion.md). */
#define NAP_NS (NS_PER_S / 2)
#define SPIN_FIRST_NS 20000u

/* All READs of the library's rings land here and nobody reads it. */
static uint64_t sink;

/* ---- in-flight FIFO ---- */

int
gp_queue_free(struct gpuplan_queue *queue)
{
	free(queue);
	return 0;
}

static void
queue_unref(struct gpuplan_queue *queue)
{
	if (atomic_fetch_sub_explicit(&queue->refs, 1, memory_order_acq_rel) == 1)
		gp_queue_free(queue);
}

static inline void
fifo_append(struct gpuplan_queue *queue, struct gp_run *run)
{
	atomic_fetch_add_explicit(&queue->refs, 1, memory_order_relaxed);
	run->queue = queue;
	gp_lock(&queue->lock);
	run->next = NULL;
	run->linked = true;
	run->orphan = false;
	if (queue->last)
		queue->last->next = run;
	else
		queue->first = run;
	queue->last = run;
	gp_queue_count(queue, 1);
	gp_unlock(&queue->lock);
}

/* With the lock held. Mostly the run is the first. */
static inline void
fifo_remove(struct gpuplan_queue *queue, struct gp_run *run)
{
	struct gp_run *before = NULL, **link = &queue->first;

	while (*link != run) {
		before = *link;
		link = &before->next;
	}
	*link = run->next;
	if (!run->next)
		queue->last = before;
	run->linked = false;
	gp_queue_count(queue, -1);
}

int
gp_queue_leave_slowly(struct gp_run *run, bool locked)
{
	struct gpuplan_queue *queue = run->queue;

	if (!locked)
		gp_lock(&queue->lock);
	if (run->linked)
		fifo_remove(queue, run);
	gp_unlock(&queue->lock);
	run->queue = NULL;
	queue_unref(queue);
	return 0;
}

int
gp_queue_leave_waking(struct gpuplan_queue *queue)
{
	gp_lock_wake(&queue->lock);
	queue_unref(queue);
	return 0;
}

void
gp_queue_detach(struct gp_run *run)
{
	if (run->queue)
		gp_queue_leave_slowly(run, false);
}

void
gp_queue_orphan(struct gp_run *run)
{
	gp_lock(&run->queue->lock);
	run->orphan = true;
	gp_unlock(&run->queue->lock);
}

/* Orphans give up their place when the GPU is done with them; their owners let go of the queue later. Jobs end in
 * order, so the first busy one ends the search. Returns how many runs remain. */
static uint32_t
fifo_prune(struct gpuplan_queue *queue)
{
	struct gp_run *run, *next;
	uint32_t count;

	gp_lock(&queue->lock);
	for (run = queue->first; run; run = next) {
		int status = 0;

		next = run->next;
		if (!run->orphan)
			continue;
		if (!gp_run_word_set(run) &&
		    (gp_fence_status(queue->context, run->syncobj, 0, &status) || !status))
			break;
		fifo_remove(queue, run);
	}
	count = queue->count;
	gp_unlock(&queue->lock);
	return count;
}

static bool
fifo_full(struct gpuplan_queue *queue)
{
	/* Only this thread adds. */
	return atomic_load_explicit(&queue->count, memory_order_relaxed) >= queue->depth &&
	       fifo_prune(queue) >= queue->depth;
}

/* ---- state of the amdgpu context ---- */

void
gp_queue_kill(struct gpuplan_queue *queue)
{
	atomic_store(&queue->doubt, true);
	atomic_store(&queue->dead, true);
}

int
gp_queue_query(struct gpuplan_queue *queue, uint64_t *flags)
{
	int r = -ENODEV;

	/* The lock keeps the amdgpu context from going away meanwhile. */
	gp_lock(&queue->lock);
	if (queue->hw)
		r = gp_cs_context_query(queue->context->fd, queue->hw, flags);
	gp_unlock(&queue->lock);
	return r;
}

/* ---- submit ---- */

/* What the kernel's entity says once a job of it has failed means the same for the caller: the queue is dead. */
static int
submit_refused(struct gpuplan_queue *queue, int r)
{
	atomic_store(&queue->doubt, true);
	switch (r) {
	case -ECANCELED:
	case -ENODATA:
	case -ETIME:
	case -ESRCH:
		gp_queue_kill(queue);
		return -ECANCELED;
	case -ENODEV:
	case -EHWPOISON:
		gp_queue_kill(queue);
		return r;
	default:
		return r;
	}
}

/* Why a submission cannot even be tried. 0: the run only has to be prepared; it may be submitted again without going
 * through acquire. */
static __attribute__((noinline)) int
submit_obstacle(const struct gpuplan_queue *queue, struct gp_run *run)
{
	int r = gp_context_check_process(queue->context);

	if (r)
		return r;
	if (run->context != queue->context)
		return -EXDEV;
	if (queue->context->offline)
		return -ENODEV;
	if (run->submitted)
		return -EBUSY;
	if (atomic_load_explicit(&queue->dead, memory_order_relaxed))
		return -ECANCELED;
	return gp_run_prepare(run);
}

/* All that submit_obstacle looks at, at once. */
static inline bool
submit_clear(const struct gpuplan_queue *queue, const struct gp_run *run)
{
	const struct gpuplan_context *context = queue->context;

	/* An offline queue is dead. */
	return run->context == context && !gp_context_check_process(context) &&
	       !atomic_load_explicit(&queue->dead, memory_order_relaxed) &&
	       !(run->submitted | run->dirty | run->draining);
}

static inline __attribute__((always_inline)) int
submit(struct gpuplan_queue *queue, struct gp_run *run)
{
	int r;

	if (!submit_clear(queue, run) && (r = submit_obstacle(queue, run)))
		return r;
	if (fifo_full(queue))
		return -EBUSY;
	__atomic_store_n(run->word, 0, __ATOMIC_RELEASE);
	run->submitted_at = gp_ticks(queue->context->steady_ticks);
	if (__builtin_expect(gp_cs_submit(&run->cs, queue->context->fd, queue->hw), 0)) {
		r = gp_cs_again(&run->cs, queue->context->fd, queue->hw);
		/* Nothing was registered or armed yet (race 5). */
		if (r)
			return submit_refused(queue, r);
	}
	/* A refused submit has reset nothing. */
	if (gp_cs_has_first(&run->cs))
		gp_cs_set_count(&run->cs, 1);
	run->submitted = true;
	run->deadline = 0;
	fifo_append(queue, run);
	/* The next run, GP_OPEN: only from here on can cancel find it. */
	atomic_store(&run->ctl, (atomic_load_explicit(&run->ctl, memory_order_relaxed) | 3) + 1);
	return 0;
}

int
gp_queue_submit(struct gpuplan_queue *queue, struct gp_run *run)
{
	return submit(queue, run);
}

int
gpuplan_slot_submit(struct gpuplan_slot *slot, struct gpuplan_queue *queue)
{
	return submit(queue, &slot->run);
}

/* ---- the library's own ring ---- */

static void
ring_close(struct gpuplan_queue *queue)
{
	if (queue->ring_ready)
		io_uring_queue_exit(&queue->ring);
	queue->ring_ready = queue->request_armed = false;
	if (queue->sync_file >= 0)
		close(queue->sync_file);
	queue->sync_file = -1;
}

/* One request at a time. Completions are wanted only when this thread asks for them: that is cheapest where the kernel
 * can do it (Linux 6.1). */
static int
ring_open(struct gpuplan_queue *queue)
{
	int r;

	if (queue->ring_ready)
		return 0;
	r = io_uring_queue_init(2, &queue->ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
	if (r == -EINVAL)
		r = io_uring_queue_init(2, &queue->ring, 0);
	if (r)
		return r;
	io_uring_ring_dontfork(&queue->ring);
	queue->ring_ready = true;
	return 0;
}

static bool
ring_watches(const struct gpuplan_queue *queue, const struct gp_run *run)
{
	return queue->watched == run && queue->watched_ctl >> 2 == atomic_load(&run->ctl) >> 2;
}

/* Path 1: the run's fence adds to the queue's eventfd, a READ of which is in the ring. Events of runs that were taken
 * from memory meanwhile come too; they wake us for nothing. */
static int
ring_watch_event(struct gpuplan_queue *queue, const struct gp_run *run)
{
	int r;

	if (queue->eventfd < 0)
		queue->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->eventfd < 0)
		return -errno;
	if (!ring_watches(queue, run)) {
		r = gp_fence_register(queue->context, run->syncobj, queue->eventfd);
		if (r)
			return r;
		queue->watched = run;
		queue->watched_ctl = atomic_load(&run->ctl);
	}
	if (!queue->request_armed)
		io_uring_prep_read(io_uring_get_sqe(&queue->ring), queue->eventfd, &sink, sizeof(sink), 0);
	queue->request_armed = true;
	return 0;
}

/* Path 2: a poll of the run's sync_file. One of an older run that was taken from memory answers at once. */
static int
ring_watch_file(struct gpuplan_queue *queue, const struct gp_run *run)
{
	if (queue->request_armed)
		return 0;
	queue->sync_file = gp_fence_export(queue->context, run->syncobj);
	if (queue->sync_file < 0) {
		int r = queue->sync_file;

		queue->sync_file = -1;
		return r;
	}
	io_uring_prep_poll_add(io_uring_get_sqe(&queue->ring), queue->sync_file, POLLIN);
	queue->request_armed = true;
	return 0;
}

/* The request has ended: an event, or a cancellation because the thread that armed it is gone. */
static void
ring_seen(struct gpuplan_queue *queue)
{
	struct io_uring_cqe *cqe;

	while (!io_uring_peek_cqe(&queue->ring, &cqe)) {
		if (cqe->res > 0)
			queue->watched = NULL;
		io_uring_cqe_seen(&queue->ring, cqe);
		queue->request_armed = false;
		if (queue->sync_file >= 0)
			close(queue->sync_file);
		queue->sync_file = -1;
	}
}

static int
ring_sleep(struct gpuplan_queue *queue, const struct gp_run *run, uint64_t deadline)
{
	struct __kernel_timespec ts = { 0 };
	struct io_uring_cqe *cqe;
	uint64_t now, ns;
	int r = ring_open(queue);

	if (!r)
		r = queue->context->has_eventfd ? ring_watch_event(queue, run) : ring_watch_file(queue, run);
	if (r)
		return r;
	now = gpuplan_now();
	ns = deadline > now ? deadline - now : 0;
	if (ns > NAP_NS)
		ns = NAP_NS;
	ts.tv_nsec = (long long)ns;
	r = io_uring_submit_and_wait_timeout(&queue->ring, &cqe, 1, &ts, NULL);
	if (r == -EEXIST) {
		/* Another thread uses the queue now and the ring knows only its maker. */
		ring_close(queue);
		return 0;
	}
	if (r < 0 && r != -ETIME && r != -EINTR && r != -EAGAIN)
		return r;
	ring_seen(queue);
	return 0;
}

/* ---- reap ---- */

/* A run that memory calls finished, or NULL. *oldest: the first one reap has to wait for, NULL: none. Armed runs get
 * their verdict by CQE. */
static struct gp_run *
fifo_finished(struct gpuplan_queue *queue, struct gp_run **oldest)
{
	struct gp_run *run;

	*oldest = NULL;
	gp_lock(&queue->lock);
	for (run = queue->first; run; run = run->next) {
		if (run->orphan || !run->slot || atomic_load_explicit(&run->armed, memory_order_relaxed))
			continue;
		/* Jobs end in order, cancellations do not. */
		if ((!*oldest && gp_run_word_set(run)) || gp_run_phase(run) != GP_OPEN)
			break;
		if (!*oldest)
			*oldest = run;
	}
	gp_unlock(&queue->lock);
	return run;
}

static int
reap_finished(struct gpuplan_queue *queue, struct gpuplan_completion *completions, uint32_t max,
	      struct gp_run **oldest)
{
	struct gp_run *run;
	uint32_t n = 0;

	while (n < max && (run = fifo_finished(queue, oldest))) {
		int r = gp_run_judge(run, 0, &completions[n]);

		if (r)
			return n ? (int)n : r;
		n++;
	}
	return (int)n;
}

int
gpuplan_queue_reap(struct gpuplan_queue *queue, struct gpuplan_completion *completions, uint32_t max,
		   uint64_t deadline)
{
	bool slept = false;
	struct gp_run *run;
	int r = gp_context_check_process(queue->context);

	if (r || !max)
		return r;
	for (;;) {
		r = reap_finished(queue, completions, max, &run);
		if (r || !run)
			return r;
		/* The job may have failed: then no word comes. */
		if (slept || gp_queue_suspects(queue, run, queue->context->steady_ticks)) {
			r = gp_run_judge(run, 0, completions);
			if (r != -EAGAIN)
				return r ? r : 1;
		}
		if (gpuplan_now() >= deadline)
			return 0;
		if (gp_run_spin(run, &queue->spin_ns, deadline))
			continue;
		r = ring_sleep(queue, run, deadline);
		if (r)
			return r;
		slept = true;
	}
}

/* ---- create, recover, destroy ---- */

static int
queue_check_params(const struct gpuplan_queue_params *params, struct gpuplan_error *error)
{
	if (params->flags)
		return gp_error(error, -EINVAL, "queue params have flags 0x%" PRIx32 ", they must be 0", params->flags);
	if (params->depth > GP_QUEUE_DEPTH)
		return gp_error(error, -EINVAL, "queue depth %" PRIu32 " is over the limit of %u", params->depth,
				GP_QUEUE_DEPTH);
	if (params->verify > GPUPLAN_VERIFY_ALWAYS)
		return gp_error(error, -EINVAL, "queue params have unknown verify %" PRIu32 ", %d is the last known",
				params->verify, GPUPLAN_VERIFY_ALWAYS);
	for (size_t i = 0; i < sizeof(params->reserved) / sizeof(params->reserved[0]); i++)
		if (params->reserved[i])
			return gp_error(error, -EINVAL, "queue params have reserved[%zu] set, it must be 0", i);
	return 0;
}

static int
hw_create(const struct gpuplan_context *context, uint32_t *hw, struct gpuplan_error *error)
{
	int r = gp_cs_context_create(context->fd, hw);

	return r ? gp_error(error, r, "%s makes no amdgpu context: %s", context->info.device, strerror(-r)) : 0;
}

int
gpuplan_queue_create(struct gpuplan_context *context, const struct gpuplan_queue_params *caller_params,
		     struct gpuplan_queue **out, struct gpuplan_error *error)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue;
	int r = gp_context_check_process(context);

	if (r)
		return gp_error(error, r, "context belongs to process %d, this is a child of it", (int)context->pid);
	if (caller_params)
		r = gp_params_copy(&params, sizeof(params), caller_params, "queue", error);
	if (!r)
		r = queue_check_params(&params, error);
	if (r)
		return r;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return gp_error(error, -ENOMEM, "no memory for a queue");
	r = context->offline ? 0 : hw_create(context, &queue->hw, error);
	if (r) {
		free(queue);
		return r;
	}
	atomic_init(&queue->refs, 1);
	atomic_init(&queue->dead, context->offline);
	queue->context = context;
	queue->depth = params.depth ? params.depth : GP_QUEUE_DEPTH;
	queue->verify = params.verify == GPUPLAN_VERIFY_ALWAYS;
	queue->closely = queue->verify || !context->steady_ticks;
	queue->spin_ns = SPIN_FIRST_NS;
	queue->eventfd = queue->sync_file = -1;
	*out = queue;
	return 0;
}

/* The amdgpu context is used under the lock by threads that judge runs. 0: none from now on. */
static void
hw_replace(struct gpuplan_queue *queue, uint32_t hw)
{
	uint32_t old;

	gp_lock(&queue->lock);
	old = queue->hw;
	queue->hw = hw;
	gp_unlock(&queue->lock);
	if (old)
		gp_cs_context_destroy(queue->context->fd, old);
}

int
gpuplan_queue_recover(struct gpuplan_queue *queue, struct gpuplan_error *error)
{
	const struct gpuplan_context *context = queue->context;
	uint32_t hw;
	uint32_t count;
	int r = gp_context_check_process(context);

	if (r)
		return gp_error(error, r, "queue belongs to process %d, this is a child of it", (int)context->pid);
	/* Nothing is wrong with it, or it never worked. */
	if (context->offline || !atomic_load(&queue->doubt))
		return 0;
	count = fifo_prune(queue);
	if (count)
		return gp_error(error, -EBUSY, "%" PRIu32 " submissions are in flight, recovery needs 0", count);
	r = hw_create(context, &hw, error);
	if (r)
		return r;
	hw_replace(queue, hw);
	atomic_store(&queue->dead, false);
	atomic_store(&queue->doubt, false);
	return 0;
}

void
gpuplan_queue_destroy(struct gpuplan_queue *queue)
{
	if (!queue)
		return;
	ring_close(queue);
	if (queue->eventfd >= 0)
		close(queue->eventfd);
	hw_replace(queue, 0);
	/* Runs still in flight hold it until the GPU is done with them. */
	queue_unref(queue);
}
