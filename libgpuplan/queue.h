/* SPDX-License-Identifier: MIT */
/* queue.h: an amdgpu context and what is in flight on it.
 *
 * A queue is used by one thread at a time, but its runs may be judged by others. So the in-flight FIFO has a lock,
 * held for a few loads and stores, and the queue lives until the last run lets go of it.
 */
#ifndef GP_QUEUE_H
#define GP_QUEUE_H

#include <liburing.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "completion.h"
#include "context.h"
#include "lock.h"
#include "ticks.h"

/* The kernel blocks a CS beyond 32 unsignalled fences, page-table root locked (amdgpu sched_jobs). Words are visible
 * a little earlier than fences signal: two places of distance. */
#define GP_QUEUE_DEPTH 30

struct gpuplan_queue {
	struct gpuplan_context *context;
	_Atomic int refs;	/* the handle and every run that may still be on the GPU */
	uint32_t depth;
	bool verify;		/* every completion is checked with the kernel */
	bool closely;		/* ... or ages take a clock: no verdict is quick */
	_Atomic bool dead;	/* a submission failed: the kernel's entity refuses from now on; any thread */
	_Atomic bool doubt;	/* something went wrong on this amdgpu context: words alone prove nothing; any thread */

	struct gp_lock lock;	/* protects what follows */
	uint32_t hw;		/* amdgpu context; 0: offline, or the queue was destroyed */
	struct gp_run *first, *last;
	_Atomic uint32_t count;	/* runs in the FIFO */

	/* reap, owner's thread only */
	uint32_t spin_ns;
	struct io_uring ring;
	bool ring_ready;	/* made when reap first sleeps */
	bool request_armed;	/* one READ or POLL is in the ring */
	int eventfd;		/* path 1; -1: not made yet */
	int sync_file;		/* path 2, of the request; -1: none */
	const struct gp_run *watched; /* path 1: the run an event is coming from; only compared, never followed */
	uint64_t watched_ctl;	/* tells that run from later ones at the same place */
};

/* The GPU is done with the run, or nobody will ever ask. Drops the run's hold on its queue. */
void gp_queue_detach(struct gp_run *run);
/* With the lock held. Atomic for the submitter, who looks without it. */
static inline void
gp_queue_count(struct gpuplan_queue *queue, int n)
{
	uint32_t count = atomic_load_explicit(&queue->count, memory_order_relaxed) + (uint32_t)n;

	atomic_store_explicit(&queue->count, count, memory_order_relaxed);
}

/* The rare ends of gp_queue_leave, all 0. */
int gp_queue_leave_slowly(struct gp_run *run, bool locked);
int gp_queue_leave_waking(struct gpuplan_queue *queue);
int gp_queue_free(struct gpuplan_queue *queue);

/* gp_queue_detach for the hot path, 0: the run is in the FIFO, nearly always as its first, and nobody is at the lock.
 * Calls only as its last act, so that its caller saves no registers. */
static inline __attribute__((always_inline)) int
gp_queue_leave(struct gpuplan_queue *queue, struct gp_run *run)
{
	if (!gp_trylock(&queue->lock))
		return gp_queue_leave_slowly(run, false);
	if (queue->first != run)
		return gp_queue_leave_slowly(run, true);
	queue->first = run->next;
	if (!run->next)
		queue->last = NULL;
	run->linked = false;
	run->queue = NULL;
	gp_queue_count(queue, -1);
	if (gp_unlock_wanted(&queue->lock))
		return gp_queue_leave_waking(queue);
	return atomic_fetch_sub_explicit(&queue->refs, 1, memory_order_acq_rel) == 1 ? gp_queue_free(queue) : 0;
}

/* The run has its verdict but the GPU may be busy with it. */
void gp_queue_orphan(struct gp_run *run);
/* Something is wrong with the queue: it refuses submissions until it is recovered. */
void gp_queue_kill(struct gpuplan_queue *queue);
/* A set word alone does not prove the run good: it took long, or something went wrong on this amdgpu context. steady:
 * the context's steady_ticks. */
static inline bool
gp_queue_suspects(const struct gpuplan_queue *queue, const struct gp_run *run, bool steady)
{
	return atomic_load_explicit(&queue->doubt, memory_order_relaxed) ||
	       gp_ticks(steady) - run->submitted_at >= queue->context->doubt_ns;
}

/* AMDGPU_CTX_QUERY2_FLAGS_*. Errors: -ENODEV the queue was destroyed, others of the kernel. */
int gp_queue_query(struct gpuplan_queue *queue, uint64_t *flags);

#endif
