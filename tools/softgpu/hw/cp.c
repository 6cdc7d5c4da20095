/* SPDX-License-Identifier: MIT */
/* cp.c: fetches IBs, cuts them into packets and calls the handler of each (cp_packets.c has the list). */
#include "cp.h"

#include "icache.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* mode and function, compare address, mask, reference, then the IB if it holds and the one if not. It jumps, as
 * INDIRECT_BUFFER with CHAIN does: PAL closes each of its blocks with one, on compute rings too, which call nothing. */
static void
cond_indirect_buffer(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { IF_THEN = 1, IF_THEN_ELSE = 2 };
	const uint32_t *b = p->body;
	uint32_t mode = PM4_GET(COND_INDIRECT_BUFFER_MODE, b[0]);
	uint64_t value;

	if (p->dwords < 13) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords, COND_INDIRECT_BUFFER has 13", p->dwords);
		return;
	}
	if (mode != IF_THEN && mode != IF_THEN_ELSE) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "COND_INDIRECT_BUFFER mode %u does not exist", mode);
		return;
	}
	if (!sg_run_poll(&cp->run, sg_u64(b[1] & ~3u, b[2]), &value, 8))
		return;
	if (sg_run_compare(PM4_GET(COND_INDIRECT_BUFFER_FUNCTION, b[0]), value & sg_u64(b[3], b[4]),
			   sg_u64(b[5], b[6])))
		sg_cp_load_ib(cp, cp->depth, sg_u64(b[7] & ~3u, b[8]), PM4_GET(INDIRECT_BUFFER_SIZE, b[9]));
	else if (mode == IF_THEN_ELSE)
		sg_cp_load_ib(cp, cp->depth, sg_u64(b[10] & ~3u, b[11]), PM4_GET(INDIRECT_BUFFER_SIZE, b[12]));
}

void
sg_pk_indirect_buffer(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t ctl = p->body[2], size = PM4_GET(INDIRECT_BUFFER_SIZE, ctl);
	uint64_t va = sg_u64(p->body[0] & ~3u, p->body[1] & 0xffff);

	if (p->dwords > 3) /* the same opcode */
		cond_indirect_buffer(cp, p);
	else if (PM4_GET(INDIRECT_BUFFER_CHAIN, ctl))
		sg_cp_load_ib(cp, cp->depth, va, size);
	else if (cp->ip != SG_IP_GFX)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "without CHAIN: compute rings cannot call an IB2");
	else if (cp->depth > 0)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "call from an IB2: there are only two levels");
	else
		sg_cp_load_ib(cp, 1, va, size);
}

/* ---- packets ---- */

static bool
legal_here(const struct sg_cp *cp, const struct sg_packet_info *info)
{
	const struct sg_packet_span *span = cp->ip == SG_IP_GFX ? &info->gfx : &info->compute;
	unsigned gen = cp->run.generation->gen;

	return span->since != 0 && gen >= span->since && (span->until == 0 || gen <= span->until);
}

static void
run_type3(struct sg_cp *cp, struct sg_cp_ib *ib, uint32_t header)
{
	uint32_t opcode = PM4_GET(PM4_HEADER_OPCODE, header), body = PM4_GET(PM4_HEADER_COUNT, header) + 1;
	const struct sg_packet_info *info = sg_packet_info(opcode);
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
	if (opcode != PM4_OP_NOP)
		sg_count(&cp->run.counters->dwords, 1 + body);
	if (cp->ip == SG_IP_GFX && cp->predicate_skips && PM4_GET(PM4_HEADER_PREDICATE, header))
		return;
	cp->run.l2 = SG_L2_CACHED;
	info->handler(cp, &p);
}

/* Registers from a dword number on; the gfx ring has it still, though no driver uses it. */
static void
run_type0(struct sg_cp *cp, struct sg_cp_ib *ib, uint32_t header)
{
	uint32_t reg = header & 0xffff, n = PM4_GET(PM4_HEADER_COUNT, header) + 1;

	sg_count(&cp->run.counters->packets, 1);
	for (uint32_t i = 0; i < n && ib->at < ib->count; i++)
		if (!sg_cp_set_user_reg(cp, reg + i, ib->dwords[ib->at++]))
			return;
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
	if (PM4_GET(PM4_HEADER_TYPE, header) == PM4_TYPE0 && cp->ip == SG_IP_GFX) {
		run_type0(cp, ib, header);
		return;
	}
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
	const struct sg_generation *before = cp->run.generation;
	sg_run_begin(&cp->run, job, number);
	if (cp->run.generation != before) /* tests change the profile */
		sg_cp_reset_regs(cp, false);
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
