/* SPDX-License-Identifier: MIT */
/* stats.h: counters of one ring; written by its thread and its workers, read by any. */
#ifndef SOFTGPU_STATS_H
#define SOFTGPU_STATS_H

#include "hw.h"

struct sg_counters {
	uint64_t jobs, ibs, packets, dwords, dispatches, barriers, acquires, waves, instructions, faults;
	uint64_t opcodes[256];		/* PM4 packets, or SDMA packets by op */
	uint64_t failures;
	char last_failure[320];		/* protected by the report lock (report.c) */
};

/* For counters only the ring's thread writes: no locked instruction is needed. */
static inline void
sg_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* For those that the workers of a dispatch count too. */
static inline void
sg_count_shared(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Name of a PM4 opcode or NULL (cp.c); of an SDMA op or NULL (sdma.c). */
const char *sg_pm4_name(unsigned opcode);
const char *sg_sdma_name(unsigned op);

void sg_count_failure(struct sg_counters *c, const char *why);

#endif
