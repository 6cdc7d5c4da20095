/* SPDX-License-Identifier: MIT */
/* run.h: one job being executed, as the packet processors (PM4 and SDMA) and the shader cores share it.
 *
 * Belongs to the ring's thread; nothing here is locked.
 */
#ifndef SOFTGPU_RUN_H
#define SOFTGPU_RUN_H

#include "../isa/isa.h"
#include "cache.h"
#include "generation.h"
#include "vm.h"

struct sg_counters;

struct sg_run {
	struct sg_mem mem;		/* first: what isa/ gets is cast back */
	const struct sg_config *config;
	const struct sg_profile *profile;
	const struct sg_generation *generation; /* the profile's */
	struct sg_counters *counters;	/* the ring's */
	struct sg_vm *vm;
	struct sg_snapshot *pages;	/* the job's page table */
	struct sg_stale *stale;		/* hostile mode: the ring's shader caches; NULL on SDMA rings */
	struct sg_icache *icache;	/* hostile mode: its instruction cache; likewise */
	enum sg_l2_use l2;		/* hostile mode: how packets reach memory now */
	uint32_t writer;		/* hostile mode: number of the dispatch that runs now */
	uint64_t random;		/* state of sg_run_random, seeded per job */
	volatile bool stop;		/* set by the watchdog, and by a reset */
	bool reset;			/* atomic: by a reset */

	/* The first failure ends the job. */
	enum sg_outcome outcome;
	bool failed;
	char why[320];

	/* For sentences. */
	char engine[32];		/* "compute ring 0" */
	const char *packet;		/* packet at work, NULL before the first */
	uint64_t packet_va;		/* its header's address */
	uint64_t ib_va;			/* of the IB it stands in */
	enum sg_client client;
};

void sg_run_init(struct sg_run *run, struct sg_counters *counters, const char *engine, enum sg_client client);
/* Takes the job's page table; end gives it back. */
void sg_run_begin(struct sg_run *run, const struct sg_job *job, uint64_t number);
void sg_run_end(struct sg_run *run);

/* Records why the job fails, with packet, ring and place in the IB in front. The first one counts. */
void sg_run_fail(struct sg_run *run, enum sg_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* True when the watchdog ended the job; then the failure is recorded. */
bool sg_run_timed_out(struct sg_run *run);
/* Waits a moment inside a polling loop; `turn` counts its rounds. */
void sg_run_pause(unsigned turn);

uint64_t sg_run_random(struct sg_run *run);

/* Memory as a packet processor sees it (in hostile mode through L2 or past it, as run->l2 says). An address without
 * mapping is recorded as a VM fault and reads 0 or drops the write; in strict mode it fails the job. False: the job
 * has failed. Aligned accesses of 4 and 8 bytes are single accesses, as the host polls some of them. */
bool sg_run_read(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes);
bool sg_run_poll(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes);  /* past clean lines of L2 */
bool sg_run_fetch(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes); /* of IBs: from memory alone */
bool sg_run_write(struct sg_run *run, uint64_t va, const void *src, uint64_t bytes);
bool sg_run_fill(struct sg_run *run, uint64_t va, uint32_t value, uint64_t bytes);
bool sg_run_copy(struct sg_run *run, uint64_t dst, uint64_t src, uint64_t bytes);
/* Only looks whether it could be read, as a prefetch does. */
bool sg_run_touch(struct sg_run *run, uint64_t va, uint64_t bytes);
/* Host address of an aligned word that is read and written, NULL when the address has no memory. False: failed. */
bool sg_run_word(struct sg_run *run, uint64_t va, uint64_t bytes, uint8_t **host);
/* A TC atomic (codes of ATOMIC_MEM); *old gets the value before. False also when the code is unknown (failed). */
bool sg_run_atomic(struct sg_run *run, uint32_t op, uint64_t va, uint64_t src, uint64_t cmp, uint64_t *old);
/* A semaphore is 64 bits. Signaling adds one, or writes it; taking one asks whether there was one. False: failed. */
bool sg_run_semaphore_signal(struct sg_run *run, uint64_t va, bool write_one);
bool sg_run_semaphore_take(struct sg_run *run, uint64_t va, bool *taken);

/* WAIT_REG_MEM's comparison: 0 always 1 < 2 <= 3 == 4 != 5 >= 6 >. */
bool sg_run_compare(uint32_t function, uint64_t value, uint64_t reference);

static inline uint64_t
sg_u64(uint32_t lo, uint32_t hi)
{
	return lo | (uint64_t)hi << 32;
}

#endif
