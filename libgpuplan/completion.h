/* SPDX-License-Identifier: MIT */
/* completion.h: one submission from the ioctl to its verdict.
 *
 * The protocol is the one of docs/completion.md: a binary syncobj, an eventfd and a completion word per slot.
 */
#ifndef GP_COMPLETION_H
#define GP_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cs.h"
#include "gpuplan.h"

struct gpuplan_context;
struct gpuplan_queue;
struct gpuplan_error;

/* Phase of a run, in the low bits of gp_run.ctl; the run number is above them. */
enum gp_phase { GP_OPEN = 0, GP_FORCING = 1, GP_FORCED = 2, GP_FINISHED = 3 };

/* linux/time_types.h's struct, which liburing wants for link timeouts; lives here while the request runs. */
struct gp_timespec {
	int64_t tv_sec;
	long long tv_nsec;
};

/* A run belongs to one thread at a time, its owner, but for the members marked otherwise. */
struct gp_run {
	struct gpuplan_context *context;
	struct gp_cs cs;	/* made once; where the streams are is set by whoever writes them */
	volatile uint64_t *word; /* completion word in cached GTT: 0 before the CS, 1 written by the slot's own stream */
	uint32_t syncobj;	/* binary, handle of the context's DRM file; 0: offline context */
	int eventfd;		/* path 1 only, else -1; not renewed while somebody is in GP_FORCING */
	_Atomic uint64_t ctl;	/* run << 2 | enum gp_phase; any thread */
	bool submitted;		/* a CS was accepted and no verdict given yet */
	_Atomic bool armed;	/* a CQE is on its way; read by reap and cancel */
	bool registered;	/* the eventfd is registered on this run's fence and its event was not taken yet */
	bool dirty;		/* an event may still come: new eventfd before the next run */
	bool draining;		/* the job of an abandoned run may still be there */
	uint64_t submitted_at;	/* gp_ticks before the ioctl */
	uint64_t deadline;	/* given to arm; 0: none */
	uint32_t spin_ns;	/* how long spinning on the word has paid lately */
	struct gpuplan_queue *queue; /* referenced until the GPU is known to be done; NULL: none */
	struct gpuplan_slot *slot; /* NULL: a session's own */
	uint64_t user_data;	/* for reap */
	struct gp_timespec timeout; /* of the armed link timeout, absolute */

	/* in the queue's in-flight FIFO; protected by its lock */
	struct gp_run *next;
	bool linked;
	bool orphan;		/* nobody waits for it; it still takes one of the kernel's places */
};

/* Syncobj and eventfd of a slot; word is set by the caller. Errors: -ENOMEM, -EMFILE. */
int gp_run_init(struct gp_run *run, struct gpuplan_context *context, struct gpuplan_slot *slot,
		volatile uint64_t *word, struct gpuplan_error *error);
/* Waits until the GPU is done with the run (the kernel's own timeout bounds it), then frees syncobj and eventfd. */
void gp_run_finish(struct gp_run *run);
/* Before a new use: -EBUSY while an abandoned job is still there or somebody is inside cancel; renews a dirty
 * eventfd. A run without verdict counts as abandoned. */
int gp_run_prepare(struct gp_run *run);
/* May the slot's memory be written? -EBUSY while its submission may still read it. Asks the kernel, and may return its
 * error, only when the last verdict came before the GPU was done (cancelled, past its deadline). */
int gp_run_idle(struct gp_run *run);
/* The owner gives up: whatever happens later belongs to nobody. */
void gp_run_abandon(struct gp_run *run);
/* Blocks until the GPU is done with the last submission or deadline; 0 or -ETIME. No verdict. */
int gp_run_drain(struct gp_run *run, uint64_t deadline);
/* Verdict, if there is one: -EAGAIN while the GPU is busy and deadline (0: none) has not passed; other errors are of
 * asking the kernel: nothing has changed, ask again. */
int gp_run_judge(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *completion);
/* gpuplan_slot_wait, for runs without a slot too. */
int gp_run_wait(struct gp_run *run, uint64_t deadline, struct gpuplan_completion *completion);
/* Spins on the word as long as it has paid lately, never past deadline. True: the word is set. *limit_ns adapts. */
bool gp_run_spin(const struct gp_run *run, uint32_t *limit_ns, uint64_t deadline);

static inline enum gp_phase
gp_run_phase(const struct gp_run *run)
{
	return (enum gp_phase)(atomic_load_explicit(&run->ctl, memory_order_acquire) & 3);
}

/* Acquire: outputs are read after it. The stream wrote its caches back before the word. */
static inline bool
gp_run_word_set(const struct gp_run *run)
{
	return __atomic_load_n(run->word, __ATOMIC_ACQUIRE) == 1;
}

/* One CS ioctl with the run's streams (gp_cs_submit), signalling its syncobj; queue.c. */
int gp_queue_submit(struct gpuplan_queue *queue, struct gp_run *run);

#endif
