/* SPDX-License-Identifier: MIT */
/* cp.c: fetches IBs, cuts them into packets and calls the handler of each.
 *
 * Which packet is legal on which ring since which generation: PAL's *_pm4_packets.h.
 */
#include "cp.h"

#include "icache.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accepted and of no effect here: state of the graphics pipe, hints, and waits of one engine for another. */
static void
accept_only(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)cp;
	(void)p;
}

static void
refuse_draw(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "draws are not implemented, this device is for compute");
}

static void
refuse_privileged(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "only the kernel may use this packet");
}

static void
refuse_missing(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "legal on this ring, but softgpu does not implement it");
}

/* The constant engine went with gfx11. Its IBs stand before the others of a job and run first here, so its counters
 * are always far enough. */
static void
constant_engine(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	if (cp->run.profile->gfx_major >= 11)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "gfx11 and later have no constant engine");
}

struct packet_info {
	const char *name;
	uint8_t gfx, compute;	/* generation from which it is legal on that ring; 0 = never */
	uint8_t min_body;	/* dwords */
	sg_packet_fn *handler;
};

static const struct packet_info packets[256] = {
	[0x10] = { "NOP", 9, 9, 0, accept_only },
	[0x11] = { "SET_BASE", 9, 12, 3, sg_pk_set_base },
	[0x12] = { "CLEAR_STATE", 9, 0, 1, accept_only },
	[0x13] = { "INDEX_BUFFER_SIZE", 9, 0, 1, accept_only },
	[0x15] = { "DISPATCH_DIRECT", 9, 9, 4, sg_pk_dispatch_direct },
	[0x16] = { "DISPATCH_INDIRECT", 9, 9, 2, sg_pk_dispatch_indirect },
	[0x1d] = { "ATOMIC_GDS", 9, 9, 1, refuse_missing },
	[0x1e] = { "ATOMIC_MEM", 9, 9, 8, sg_pk_atomic_mem },
	[0x20] = { "SET_PREDICATION", 9, 0, 3, sg_pk_set_predication },
	[0x21] = { "REG_RMW", 9, 0, 3, sg_pk_reg_rmw },
	[0x22] = { "COND_EXEC", 9, 9, 4, sg_pk_cond_exec },
	[0x24] = { "DRAW_INDIRECT", 9, 0, 1, refuse_draw },
	[0x25] = { "DRAW_INDEX_INDIRECT", 9, 0, 1, refuse_draw },
	[0x26] = { "INDEX_BASE", 9, 0, 2, accept_only },
	[0x27] = { "DRAW_INDEX_2", 9, 0, 1, refuse_draw },
	[0x28] = { "CONTEXT_CONTROL", 9, 0, 2, accept_only },
	[0x2a] = { "INDEX_TYPE", 9, 0, 1, accept_only },
	[0x2c] = { "DRAW_INDIRECT_MULTI", 9, 0, 1, refuse_draw },
	[0x2d] = { "DRAW_INDEX_AUTO", 9, 0, 1, refuse_draw },
	[0x2f] = { "NUM_INSTANCES", 9, 0, 1, accept_only },
	[0x35] = { "DRAW_INDEX_OFFSET_2", 9, 0, 1, refuse_draw },
	[0x37] = { "WRITE_DATA", 9, 9, 4, sg_pk_write_data },
	[0x38] = { "DRAW_INDEX_INDIRECT_MULTI", 9, 0, 1, refuse_draw },
	[0x39] = { "MEM_SEMAPHORE", 9, 9, 1, refuse_missing },
	[0x3c] = { "WAIT_REG_MEM", 9, 9, 6, sg_pk_wait_reg_mem },
	[0x3d] = { "PERF_COUNTER_WINDOW", 11, 11, 1, accept_only },
	[0x3f] = { "INDIRECT_BUFFER", 9, 9, 3, sg_pk_indirect_buffer },
	[0x40] = { "COPY_DATA", 9, 9, 5, sg_pk_copy_data },
	[0x42] = { "PFP_SYNC_ME", 9, 0, 1, accept_only },
	[0x45] = { "COND_WRITE", 9, 9, 8, sg_pk_cond_write },
	[0x46] = { "EVENT_WRITE", 9, 9, 1, sg_pk_event_write },
	[0x49] = { "RELEASE_MEM", 9, 9, 7, sg_pk_release_mem },
	[0x4a] = { "PREAMBLE_CNTL", 9, 0, 1, accept_only },
	[0x50] = { "DMA_DATA", 9, 9, 6, sg_pk_dma_data },
	[0x51] = { "CONTEXT_REG_RMW", 9, 0, 3, sg_pk_context_reg_rmw },
	[0x54] = { "PERFMON_CONTROL", 9, 9, 1, accept_only },
	[0x58] = { "ACQUIRE_MEM", 9, 9, 6, sg_pk_acquire_mem },
	[0x59] = { "REWIND", 9, 9, 1, sg_pk_rewind },
	[0x5d] = { "PRIME_UTCL2", 9, 9, 4, sg_pk_prime_utcl2 },
	[0x5e] = { "LOAD_UCONFIG_REG", 9, 0, 4, sg_pk_load_uconfig_reg },
	[0x5f] = { "LOAD_SH_REG", 9, 0, 4, sg_pk_load_sh_reg },
	[0x61] = { "LOAD_CONTEXT_REG", 9, 0, 4, sg_pk_load_context_reg },
	[0x63] = { "LOAD_SH_REG_INDEX", 9, 10, 4, sg_pk_load_sh_reg_index },
	[0x68] = { "SET_CONFIG_REG", 9, 9, 2, sg_pk_set_config_reg },
	[0x69] = { "SET_CONTEXT_REG", 9, 0, 2, sg_pk_set_context_reg },
	[0x76] = { "SET_SH_REG", 9, 9, 2, sg_pk_set_sh_reg },
	[0x77] = { "SET_SH_REG_OFFSET", 9, 0, 1, refuse_missing },
	[0x78] = { "SET_QUEUE_REG", 0, 9, 1, refuse_privileged },
	[0x79] = { "SET_UCONFIG_REG", 9, 9, 2, sg_pk_set_uconfig_reg },
	[0x7a] = { "SET_UCONFIG_REG_INDEX", 9, 0, 2, sg_pk_set_uconfig_reg },
	[0x84] = { "INCREMENT_CE_COUNTER", 9, 0, 1, constant_engine },
	[0x85] = { "INCREMENT_DE_COUNTER", 9, 0, 1, constant_engine },
	[0x86] = { "WAIT_ON_CE_COUNTER", 9, 0, 1, constant_engine },
	[0x88] = { "WAIT_ON_DE_COUNTER_DIFF", 9, 0, 1, constant_engine },
	[0x89] = { "SET_CE_DE_COUNTERS", 9, 0, 1, constant_engine },
	[0x90] = { "FRAME_CONTROL", 9, 0, 1, accept_only },
	[0x92] = { "WAIT_FOR_WRITE_CONFIRM", 9, 0, 1, accept_only },
	[0x93] = { "WAIT_REG_MEM64", 9, 9, 8, sg_pk_wait_reg_mem64 },
	[0x95] = { "HDP_FLUSH", 9, 9, 1, accept_only },
	[0x98] = { "INVALIDATE_TLBS", 9, 9, 1, refuse_privileged },
	[0x9a] = { "DMA_DATA_FILL_MULTI", 9, 9, 6, sg_pk_dma_data_fill_multi },
	[0x9b] = { "SET_SH_REG_INDEX", 9, 9, 2, sg_pk_set_sh_reg_index },
	[0xa0] = { "SET_RESOURCES", 0, 9, 1, refuse_privileged },
	[0xa2] = { "MAP_QUEUES", 0, 9, 1, refuse_privileged },
	[0xa3] = { "UNMAP_QUEUES", 0, 9, 1, refuse_privileged },
	[0xa9] = { "DISPATCH_TASK_STATE_INIT", 10, 10, 1, refuse_missing },
	[0xaa] = { "DISPATCH_TASKMESH_DIRECT_ACE", 0, 10, 1, refuse_missing },
	[0xad] = { "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE", 0, 10, 1, refuse_missing },
	[0xae] = { "EXECUTE_INDIRECT", 9, 0, 1, refuse_missing },
	[0xb1] = { "EVENT_WRITE_ZPASS", 9, 0, 3, accept_only },
	[0xb2] = { "TIMESTAMP", 11, 11, 5, sg_pk_timestamp },
	[0xb8] = { "SET_CONTEXT_REG_PAIRS", 11, 0, 2, sg_pk_set_context_pairs },
	[0xb9] = { "SET_CONTEXT_REG_PAIRS_PACKED", 11, 0, 4, sg_pk_set_context_packed },
	[0xba] = { "SET_SH_REG_PAIRS", 11, 12, 2, sg_pk_set_sh_pairs },
	[0xbb] = { "SET_SH_REG_PAIRS_PACKED", 11, 11, 4, sg_pk_set_sh_packed },
	[0xbd] = { "SET_SH_REG_PAIRS_PACKED_N", 11, 11, 4, sg_pk_set_sh_packed },
	[0xbe] = { "SET_UCONFIG_REG_PAIRS", 12, 12, 2, sg_pk_set_uconfig_pairs },
	[0xd0] = { "PROTECTED_FENCE_SIGNAL", 0, 0, 1, refuse_privileged }, /* user queues only */
	[0xd2] = { "RUN_CLEANER_SHADER", 9, 9, 1, refuse_privileged },
};

const char *
sg_pm4_name(unsigned opcode)
{
	return packets[opcode & 0xff].name;
}

struct sg_cp *
sg_cp_create(enum sg_ip ip, unsigned ring, struct sg_counters *counters)
{
	struct sg_cp *cp = calloc(1, sizeof(*cp));
	char engine[32];

	if (!cp)
		return NULL;
	cp->regs = calloc(SG_CP_REGS, sizeof(cp->regs[0]));
	if (!cp->regs) {
		free(cp);
		return NULL;
	}
	cp->ip = ip;
	snprintf(engine, sizeof(engine), "%s ring %u", ip == SG_IP_GFX ? "gfx" : "compute", ring);
	sg_run_init(&cp->run, counters, engine, ip == SG_IP_GFX ? SG_CLIENT_CPG : SG_CLIENT_CPC);
	sg_cp_reset_regs(cp, false);
	return cp;
}

/* ---- IBs ---- */

bool
sg_cp_load_ib(struct sg_cp *cp, unsigned depth, uint64_t va, uint32_t dwords)
{
	struct sg_cp_ib *ib = &cp->ib[depth];

	if (ib->room < dwords) {
		free(ib->dwords);
		ib->dwords = malloc(dwords * sizeof(ib->dwords[0]));
		ib->room = ib->dwords ? dwords : 0;
		ib->count = ib->at = 0;
		if (!ib->dwords) {
			sg_run_fail(&cp->run, SG_JOB_HANG, "out of host memory for an IB of %u dwords", dwords);
			return false;
		}
	}
	ib->va = sg_canonical(va & ~3ull);
	ib->count = dwords;
	ib->at = 0;
	cp->depth = depth;
	sg_count(&cp->run.counters->ibs, 1);
	uint64_t faults = cp->run.counters->faults;
	bool ok = sg_run_fetch(&cp->run, ib->va, ib->dwords, dwords * 4ull);
	/* Without strict mode other reads give zeros; a CP that fetches zeros goes nowhere. */
	if (ok && faults != cp->run.counters->faults)
		sg_run_fail(&cp->run, SG_JOB_HANG, "IB of %u dwords at 0x%llx is not all mapped", dwords,
			    (unsigned long long)ib->va);
	return !cp->run.failed;
}

void
sg_cp_skip(struct sg_cp *cp, uint32_t dwords)
{
	struct sg_cp_ib *ib = &cp->ib[cp->depth];

	ib->at += dwords < ib->count - ib->at ? dwords : ib->count - ib->at;
}

void
sg_pk_indirect_buffer(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t ctl = p->body[2], size = PM4_GET(INDIRECT_BUFFER_SIZE, ctl);
	uint64_t va = sg_u64(p->body[0] & ~3u, p->body[1] & 0xffff);

	if (p->dwords >= 13) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "COND_INDIRECT_BUFFER is not implemented");
	} else if (PM4_GET(INDIRECT_BUFFER_CHAIN, ctl)) {
		sg_cp_load_ib(cp, cp->depth, va, size);
	} else if (cp->ip != SG_IP_GFX) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "without CHAIN: compute rings cannot call an IB2");
	} else if (cp->depth > 0) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "call from an IB2: there are only two levels");
	} else {
		sg_cp_load_ib(cp, 1, va, size);
	}
}

/* ---- packets ---- */

static bool
legal_here(const struct sg_cp *cp, const struct packet_info *info)
{
	unsigned since = cp->ip == SG_IP_GFX ? info->gfx : info->compute;

	return since != 0 && cp->run.profile->gfx_major >= since;
}

static void
run_type3(struct sg_cp *cp, struct sg_cp_ib *ib, uint32_t header)
{
	uint32_t opcode = PM4_GET(PM4_HEADER_OPCODE, header), body = PM4_GET(PM4_HEADER_COUNT, header) + 1;
	const struct packet_info *info = &packets[opcode];
	struct sg_packet p = { .header = header, .body = &ib->dwords[ib->at], .dwords = body };

	sg_count(&cp->run.counters->packets, 1);
	sg_count(&cp->run.counters->opcodes[opcode], 1);
	cp->run.packet = info->name ? info->name : "packet";
	if (!info->name) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "unknown opcode 0x%02x (header 0x%08x)", opcode, header);
		return;
	}
	if (!legal_here(cp, info)) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "opcode 0x%02x is not legal on this ring of %s", opcode,
			    cp->run.profile->name);
		return;
	}
	if (body > ib->count - ib->at) {
		if (opcode == PM4_OP_NOP) { /* IGT pads with NOPs whose last one points past the end */
			ib->at = ib->count;
			return;
		}
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "truncated: body of %u dwords, %u left in the IB", body,
			    ib->count - ib->at);
		return;
	}
	if (body < info->min_body) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords, needs %u", body, info->min_body);
		return;
	}
	ib->at += body;
	if (cp->ip == SG_IP_GFX && cp->predicate_skips && PM4_GET(PM4_HEADER_PREDICATE, header))
		return;
	cp->run.l2 = SG_L2_CACHED;
	info->handler(cp, &p);
}

/* The padding most streams consist of. */
static void
skip_padding(struct sg_cp *cp, struct sg_cp_ib *ib)
{
	uint32_t first = ib->at;

	while (ib->at < ib->count && ib->dwords[ib->at] == PM4_NOP_ONE_DWORD)
		ib->at++;
	sg_count(&cp->run.counters->packets, ib->at - first);
	sg_count(&cp->run.counters->opcodes[PM4_OP_NOP], ib->at - first);
}

static void
run_packet(struct sg_cp *cp, struct sg_cp_ib *ib)
{
	uint32_t header = ib->dwords[ib->at];

	if (header == PM4_NOP_ONE_DWORD) {
		skip_padding(cp, ib);
		return;
	}
	cp->run.ib_va = ib->va;
	cp->run.packet_va = ib->va + ib->at * 4ull;
	ib->at++;
	if (header == PM4_NOP_TYPE2)
		return;
	if (PM4_GET(PM4_HEADER_TYPE, header) == PM4_TYPE3) {
		run_type3(cp, ib, header);
		return;
	}
	cp->run.packet = "packet";
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "header 0x%08x is of type %u", header, header >> 30);
}

static void
run_ib(struct sg_cp *cp, const struct sg_ib *user)
{
	cp->run.packet = "IB fetch";
	cp->run.packet_va = cp->run.ib_va = sg_canonical(user->va & ~3ull);
	if (!sg_cp_load_ib(cp, 0, user->va, user->dwords))
		return;
	while (!cp->run.failed && !sg_run_timed_out(&cp->run)) {
		struct sg_cp_ib *ib = &cp->ib[cp->depth];
		if (ib->at < ib->count)
			run_packet(cp, ib);
		else if (cp->depth > 0)
			cp->depth--;
		else
			break;
	}
}

/* ---- jobs ---- */

void
sg_cp_enter(struct sg_cp *cp, unsigned slot)
{
	struct sg_cp_job *from = &cp->jobs[cp->slot], *to = &cp->jobs[slot];

	if (cp->slot == slot)
		return;
	from->failed = cp->run.failed;
	from->outcome = cp->run.outcome;
	memcpy(from->why, cp->run.why, sizeof(from->why));
	cp->slot = slot;
	cp->run.failed = to->failed;
	cp->run.outcome = to->outcome;
	memcpy(cp->run.why, to->why, sizeof(to->why));
	/* What stopped the one was not meant for the other. */
	if (from->failed && !to->failed && __atomic_load_n(&cp->run.stop, __ATOMIC_RELAXED))
		cp->owner.rearm(cp->owner.arg);
}

bool
sg_cp_pending(const struct sg_cp *cp)
{
	for (unsigned i = 0; i < SG_CP_JOBS; i++)
		if (cp->jobs[i].job)
			return true;
	return false;
}

static bool
job_failed(const struct sg_cp *cp, unsigned slot)
{
	return cp->slot == slot ? cp->run.failed : cp->jobs[slot].failed;
}

bool
sg_cp_joins(const struct sg_cp *cp, const struct sg_job *next)
{
	struct sg_snapshot *pages = sg_vm_snapshot(next->vm);
	unsigned jobs = 0;
	bool same = true;

	for (unsigned i = 0; i < SG_CP_JOBS; i++) {
		if (!cp->jobs[i].job)
			continue;
		jobs++;
		same = same && cp->jobs[i].pages == pages && !job_failed(cp, i);
	}
	sg_snapshot_unref(pages);
	/* A job that is delayed as a whole delays nobody else. */
	return jobs == 0 || (jobs < SG_CP_JOBS && same && cp->run.config->job_delay_us == 0);
}

/* A reset may have cancelled the jobs behind a failed one; it stops those that have begun. */
static void
jobs_stop_cancelled(struct sg_cp *cp)
{
	for (unsigned i = 0; i < SG_CP_JOBS; i++) {
		struct sg_job *job = cp->jobs[i].job;
		if (!job || !job->cancelled || !job->cancelled(job))
			continue;
		sg_cp_enter(cp, i);
		cp->run.packet = NULL;
		sg_run_fail(&cp->run, SG_JOB_SKIPPED, "stopped by the reset for the job before");
	}
}

void
sg_cp_end(struct sg_cp *cp, unsigned slot)
{
	struct sg_job *job = cp->jobs[slot].job;

	sg_cp_enter(cp, slot);
	bool failed = cp->run.failed;
	if (cp->run.config->hostile)
		sg_l2_write_back();
	if (cp->run.config->hostile && failed)
		sg_l2_discard();
	sg_snapshot_unref(cp->jobs[slot].pages);
	cp->jobs[slot].pages = NULL;
	cp->jobs[slot].job = NULL;
	if (!sg_cp_pending(cp)) {
		cp->run.pages = NULL;
		cp->run.vm = NULL;
	}
	cp->owner.job_end(cp->owner.arg, job, cp->run.outcome, cp->run.why);
	if (failed)
		jobs_stop_cancelled(cp);
}

static void
job_begin(struct sg_cp *cp, struct sg_job *job, uint64_t number)
{
	unsigned slot = 0;

	while (slot + 1 < SG_CP_JOBS && cp->jobs[slot].job)
		slot++;
	sg_cp_enter(cp, slot);
	sg_run_begin(&cp->run, job, number);
	cp->jobs[slot].job = job;
	cp->jobs[slot].pages = cp->run.pages;
	cp->predicate_skips = false;
	memset(cp->sh_written, 0, sizeof(cp->sh_written));
}

/* The caches come to life with the first hostile job. */
static void
hostile_begin(struct sg_cp *cp)
{
	sg_cp_reset_regs(cp, true);
	if (!cp->run.stale)
		cp->run.stale = sg_stale_create();
	if (!cp->run.icache)
		cp->run.icache = sg_icache_create();
}

void
sg_cp_run(struct sg_cp *cp, struct sg_job *job, uint64_t number)
{
	job_begin(cp, job, number);
	if (cp->run.config->hostile)
		hostile_begin(cp);
	for (unsigned i = 0; i < job->n_ibs && !cp->run.failed; i++)
		run_ib(cp, &job->ibs[i]);
	cp->run.packet = NULL;
	if (!sg_cp_defer_end(cp))
		sg_cp_end(cp, cp->slot);
}

void
sg_cp_settle(struct sg_cp *cp)
{
	cp->run.packet = NULL;
	sg_cp_drain(cp);
}
