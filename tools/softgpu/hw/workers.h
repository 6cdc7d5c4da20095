/* SPDX-License-Identifier: MIT */
/* workers.h: the shader cores behind a ring.
 *
 * A dispatch's workgroups are independent, so the ring's thread shares them with the helpers of pool.h when that pays:
 * SOFTGPU_THREADS of them in all, taking chunks from an atomic counter, each on a shader core of its own. Short
 * dispatches stay on the ring's thread; how long a group of a program takes is remembered from the last time. Hostile
 * mode has one thread, so that its order is the same each time. A dispatch is over when all its groups are: dispatches
 * never overlap here.
 *
 * What is shared and how: memory through host loads, stores and atomics (isa/); scratch slots under isa/'s lock;
 * struct sg_run is only read, except `stop` and what sg_run_fail writes, which the ring's thread does after the helpers
 * have left; counters by atomic additions once per chunk. The first core that stops sets `stop`, which the others look
 * at on each backward branch and between groups; its report is the job's, theirs are dropped.
 */
#ifndef SOFTGPU_WORKERS_H
#define SOFTGPU_WORKERS_H

#include "run.h"

enum { SG_PROGRAMS_KNOWN = 64 };

/* Used by the ring's thread only. */
struct sg_workers {
	struct sg_core *core;	/* created with the first dispatch */
	struct sg_program_time {
		uint64_t pc;
		uint64_t group_ns;
	} times[SG_PROGRAMS_KNOWN]; /* by a hash of pc */
};

/* Runs a range of a dispatch's workgroups; false: the job failed, with the reason recorded in run. */
bool sg_workers_run(struct sg_workers *w, struct sg_run *run, const struct sg_dispatch *d, uint64_t first,
		    uint64_t count);
/* Adds the opcode counts of this ring's own core, and those of the helpers; from any thread. */
void sg_workers_opcodes(struct sg_workers *w, void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg);
void sg_workers_helper_opcodes(void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg);
void sg_workers_after_fork(void); /* in the child */

#endif
