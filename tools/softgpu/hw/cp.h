/* SPDX-License-Identifier: MIT */
/* cp.h: the PM4 processor of one GFX or COMPUTE ring. Used by that ring's thread only. */
#ifndef SOFTGPU_CP_H
#define SOFTGPU_CP_H

#include "pm4.h"
#include "pm4_regs.h"
#include "run.h"
#include "workers.h"

enum { SG_CP_REGS = 0x10000, SG_SH_REGS = PM4_SH_END - PM4_SH_BASE };

#define PM4_POLICY_BYPASS 3 /* cache policy of packets that write memory */

/* A packet whose body lies wholly inside its IB. */
struct sg_packet {
	uint32_t header;
	const uint32_t *body;
	uint32_t dwords;	/* of the body; at least the table's minimum */
};

/* An IB being run: its own copy of the dwords, so that nothing changes between check and use. */
struct sg_cp_ib {
	uint32_t *dwords;
	uint32_t room, count, at;
	uint64_t va;
};

/* What waits for a drain in hostile mode: a dispatch, the RELEASE_MEM behind some, or the end of a job. */
enum sg_pending_kind { SG_PENDING_DISPATCH, SG_PENDING_RELEASE, SG_PENDING_END };

struct sg_pending {
	enum sg_pending_kind kind;
	unsigned slot;		/* of its job */
	bool done;		/* dispatch: all groups have run, or were dropped with their job */
	uint32_t body[7];	/* RELEASE_MEM */
	struct sg_dispatch d;
	uint64_t groups, next;	/* all workgroups, first that has not run */
	uint32_t writer;
	const char *packet;	/* for sentences */
	uint64_t packet_va, ib_va;
};

/* A job whose IBs are being run, or have been and whose dispatches are pending. */
struct sg_cp_job {
	struct sg_job *job;	/* NULL: free */
	struct sg_snapshot *pages; /* referenced */
	/* Its failure while run has another job's. */
	bool failed;
	enum sg_outcome outcome;
	char why[sizeof(((struct sg_run *)0)->why)];
};

/* What the ring does when a job is over; called on its thread, in the order the jobs came. */
struct sg_cp_owner {
	/* After its fence: the job is gone when this returns. */
	void (*job_end)(void *arg, struct sg_job *job, enum sg_outcome outcome, const char *why);
	/* The watchdog's time starts again, for work of another job than the one it stopped. */
	void (*rearm)(void *arg);
	void *arg;
};

/* Two as on hardware, whose rings hold two jobs (amdgpu's sched_hw_submission). */
enum { SG_CP_JOBS = 2 };

struct sg_cp {
	struct sg_run run;	/* first: see run.h */
	struct sg_cp_owner owner;
	struct sg_cp_job jobs[SG_CP_JOBS];
	unsigned slot;		/* job whose failure run has */
	enum sg_ip ip;
	uint32_t *regs;		/* SG_CP_REGS, by dword number */
	uint32_t sh_written[SG_SH_REGS / 32]; /* in this job */
	uint64_t bases[16];	/* SET_BASE, by index */
	bool predicate_skips;	/* SET_PREDICATION (gfx ring): packets with bit 0 are skipped */
	bool predicate_holds;	/* what it found, for one that continues it */
	uint64_t atomic_return, gds_return; /* COPY_DATA can read them */
	struct sg_cp_ib ib[2];	/* IB and IB2 */
	unsigned depth;
	struct sg_pending *pending;
	unsigned n_pending, pending_room;
	struct sg_workers workers;
	bool statistics_off;	/* PIPELINESTAT_STOP; starts as the kernel leaves it, counting */
	uint64_t invocations;	/* threads dispatched while they counted, for SAMPLE_PIPELINESTAT */
};

struct sg_cp *sg_cp_create(enum sg_ip ip, unsigned ring, struct sg_counters *counters);
/* Runs the IBs of a job to their end or its first failure, then ends it. In hostile mode its last dispatches and its
 * end may be left pending: the next job can join, if sg_cp_joins allows it, else sg_cp_settle has to come first. */
void sg_cp_run(struct sg_cp *cp, struct sg_job *job, uint64_t number);
bool sg_cp_joins(const struct sg_cp *cp, const struct sg_job *next);
bool sg_cp_pending(const struct sg_cp *cp);
void sg_cp_settle(struct sg_cp *cp); /* all jobs have ended */

/* Jumps (INDIRECT_BUFFER, cp.c) */
bool sg_cp_load_ib(struct sg_cp *cp, unsigned depth, uint64_t va, uint32_t dwords);
void sg_cp_skip(struct sg_cp *cp, uint32_t dwords);

/* Registers (cp_regs.c); reg is a dword number. */
void sg_cp_reset_regs(struct sg_cp *cp, bool garbage);
void sg_cp_set_reg(struct sg_cp *cp, uint32_t reg, uint32_t value);
bool sg_cp_set_user_reg(struct sg_cp *cp, uint32_t reg, uint32_t value); /* false, failed: not for user streams */
static inline uint32_t
sg_cp_sh(const struct sg_cp *cp, uint32_t offset)
{
	return cp->regs[PM4_SH_BASE + offset];
}

/* Jobs (cp.c) */
void sg_cp_enter(struct sg_cp *cp, unsigned slot); /* run's failure is this job's from now on */
void sg_cp_end(struct sg_cp *cp, unsigned slot);   /* the job is over */

/* Dispatches (cp_dispatch.c), pending work (cp_pending.c) */
void sg_cp_launch(struct sg_cp *cp, const struct sg_dispatch *d);
void sg_cp_drain(struct sg_cp *cp); /* everything pending has run, or its job failed */
void sg_cp_release(struct sg_cp *cp, const uint32_t body[7]); /* cp_sync.c: the effect of a RELEASE_MEM */
bool sg_cp_defer_release(struct sg_cp *cp, const uint32_t body[7]); /* false: nothing pending, do it now */
bool sg_cp_defer_end(struct sg_cp *cp); /* likewise, for the end of the job at work */

/* ---- packets ---- */

typedef void sg_packet_fn(struct sg_cp *cp, const struct sg_packet *p);

struct sg_packet_span { uint8_t since, until; }; /* enum sg_gen; since 0 = never, until 0 = for ever */
struct sg_packet_info {
	const char *name;	/* NULL: no such opcode */
	struct sg_packet_span gfx, compute;
	uint8_t min_body;	/* dwords */
	sg_packet_fn *handler;
};
const struct sg_packet_info *sg_packet_info(unsigned opcode); /* cp_packets.c */

sg_packet_fn sg_pk_indirect_buffer;
/* cp_regs.c */
sg_packet_fn sg_pk_set_config_reg, sg_pk_set_context_reg, sg_pk_set_sh_reg, sg_pk_set_sh_reg_index,
	sg_pk_set_uconfig_reg, sg_pk_set_context_pairs, sg_pk_set_sh_pairs, sg_pk_set_uconfig_pairs,
	sg_pk_set_context_packed, sg_pk_set_sh_packed, sg_pk_set_sh_packed_n, sg_pk_load_uconfig_reg,
	sg_pk_load_sh_reg, sg_pk_load_context_reg, sg_pk_load_sh_reg_index, sg_pk_load_uconfig_reg_index,
	sg_pk_load_context_reg_index, sg_pk_context_reg_rmw, sg_pk_reg_rmw, sg_pk_set_base, sg_pk_clear_state;
/* cp_dispatch.c */
sg_packet_fn sg_pk_dispatch_direct, sg_pk_dispatch_indirect;
/* cp_sync.c */
sg_packet_fn sg_pk_acquire_mem, sg_pk_release_mem, sg_pk_wait_reg_mem, sg_pk_wait_reg_mem64, sg_pk_rewind,
	sg_pk_timestamp, sg_pk_mem_semaphore;
/* cp_cond.c */
sg_packet_fn sg_pk_cond_exec, sg_pk_pred_exec, sg_pk_cond_write, sg_pk_set_predication;
/* cp_event.c */
sg_packet_fn sg_pk_event_write, sg_pk_event_write_zpass, sg_pk_occlusion_query;
/* cp_mem.c */
sg_packet_fn sg_pk_write_data, sg_pk_copy_data, sg_pk_dma_data, sg_pk_dma_data_fill_multi, sg_pk_atomic_mem;

#endif
