/* SPDX-License-Identifier: MIT */
/* sdma.c: SDMA packets. Their reads and writes are coherent with L2 (gfx10, gfx11), so nothing here is ever stale.
 * Copies and fills stand in sdma_copy.c. */
#include "sdma.h"

#include "sdma_packets.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t
sg_sdma_truncated(struct sg_sdma *s, uint64_t needs, uint32_t left)
{
	sg_run_fail(&s->run, SG_JOB_ILLEGAL, "truncated: %llu dwords, %u left in the IB", (unsigned long long)needs,
		    left);
	return 0;
}

static uint32_t
sub_op(const uint32_t *dw)
{
	return PM4_GET(SDMA_HEADER_SUB_OP, dw[0]);
}

uint32_t
sg_sdma_refuse_sub_op(struct sg_sdma *s, const uint32_t *dw, const char *name)
{
	sg_run_fail(&s->run, SG_JOB_ILLEGAL, "sub-operation %u (%s) is not implemented", sub_op(dw), name);
	return 0;
}

static uint32_t
do_nop(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t n = 1 + PM4_GET(SDMA_NOP_COUNT, dw[0]);

	return n <= left ? n : sg_sdma_truncated(s, n, left);
}

static uint32_t
do_fence(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	enum { FENCE_PROTECTED = 3 };

	(void)left;
	if (sub_op(dw) != 0)
		return sg_sdma_refuse_sub_op(s, dw, sub_op(dw) == FENCE_PROTECTED ? "of user queues" : "conditional");
	return sg_run_write(&s->run, sg_u64(dw[1] & ~3u, dw[2]), &dw[3], 4) ? 4 : 0;
}

static uint32_t
do_trap(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	(void)s;
	(void)dw;
	(void)left;
	return 2;
}

static uint32_t
do_timestamp(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint64_t now = sg_gpu_clock();

	(void)left;
	if (sub_op(dw) == SDMA_TIMESTAMP_SET) {
		sg_run_fail(&s->run, SG_JOB_ILLEGAL, "setting the clock is privileged");
		return 0;
	}
	if (sub_op(dw) > SDMA_TIMESTAMP_GET_GLOBAL)
		return sg_sdma_refuse_sub_op(s, dw, "unknown");
	return sg_run_write(&s->run, sg_u64(dw[1] & ~7u, dw[2]), &now, 8) ? 3 : 0;
}

/* Retry counts other than for ever are taken as for ever: the watchdog is the shorter one. */
static uint32_t
do_poll_regmem(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t value;

	(void)left;
	if (sub_op(dw) != 0)
		return sg_sdma_refuse_sub_op(s, dw, "registers or dirty bits to memory");
	if (!PM4_GET(SDMA_POLL_MEMORY, dw[0]))
		return 6; /* a handshake register */
	for (unsigned turn = 0; sg_run_read(&s->run, sg_u64(dw[1] & ~3u, dw[2]), &value, 4); turn++) {
		if (sg_run_compare(PM4_GET(SDMA_POLL_FUNCTION, dw[0]), value & dw[4], dw[3]))
			return 6;
		if (sg_run_timed_out(&s->run))
			return 0;
		sg_run_pause(turn);
	}
	return 0;
}

/* Goes on with the next dwords only if memory equals the reference. */
static uint32_t
do_cond_exe(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t value, skip = PM4_GET(SDMA_COND_EXE_COUNT, dw[4]);

	if (!sg_run_read(&s->run, sg_u64(dw[1] & ~3u, dw[2]), &value, 4))
		return 0;
	if (value == dw[3])
		return 5;
	return skip < left - 5 ? 5 + skip : left;
}

/* The next dwords are for the selected devices; here there is one, the first. */
static uint32_t
do_pre_exe(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t skip = PM4_GET(SDMA_PRE_EXE_COUNT, dw[1]);

	(void)s;
	if (PM4_GET(SDMA_PRE_EXE_SELECT, dw[0]) & 1)
		return 2;
	return skip < left - 2 ? 2 + skip : left;
}

static uint32_t
do_semaphore(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint64_t va = sg_u64(dw[1] & ~7u, dw[2]);
	bool taken;

	(void)left;
	if (PM4_GET(SDMA_SEMAPHORE_SIGNAL, dw[0]))
		return sg_run_semaphore_signal(&s->run, va, PM4_GET(SDMA_SEMAPHORE_WRITE_ONE, dw[0])) ? 3 : 0;
	for (unsigned turn = 0; sg_run_semaphore_take(&s->run, va, &taken); turn++) {
		if (taken)
			return 3;
		if (sg_run_timed_out(&s->run))
			return 0;
		sg_run_pause(turn);
	}
	return 0;
}

static uint32_t
do_atomic(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t op = PM4_GET(SDMA_ATOMIC_OP, dw[0]);
	uint64_t cmp = sg_u64(dw[5], dw[6]), old;

	(void)left;
	for (unsigned turn = 0; sg_run_atomic(&s->run, op, sg_u64(dw[1], dw[2]), sg_u64(dw[3], dw[4]), cmp, &old);
	     turn++) {
		if (!PM4_GET(SDMA_ATOMIC_LOOP, dw[0]) || old == (op & 32 ? cmp : (uint32_t)cmp))
			return 8;
		if (sg_run_timed_out(&s->run))
			return 0;
		sg_run_pause(turn);
	}
	return 0;
}

/* Caches between SDMA and memory are coherent here (see cache.c). */
static uint32_t
do_gcr_req(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	(void)s;
	(void)dw;
	(void)left;
	return 5;
}

static uint32_t
refuse(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	(void)dw;
	(void)left;
	sg_run_fail(&s->run, SG_JOB_ILLEGAL, "only the kernel may use this packet");
	return 0;
}

/* Versions (major * 10 + minor) from which and until which an operation has this meaning; until 0 = still. */
static const struct sdma_op_info {
	uint8_t op, since, until;
	uint8_t min;	/* dwords with the header */
	const char *name;
	sg_sdma_fn *handler;
} ops[] = {
	{ SDMA_OP_NOP, 40, 0, 1, "NOP", do_nop },
	{ SDMA_OP_COPY, 40, 0, 5, "COPY", sg_sdma_copy },
	{ SDMA_OP_WRITE, 40, 0, 5, "WRITE", sg_sdma_write },
	{ SDMA_OP_INDIRECT, 40, 0, 6, "INDIRECT", refuse },
	{ SDMA_OP_FENCE, 40, 0, 4, "FENCE", do_fence },
	{ SDMA_OP_TRAP, 40, 0, 2, "TRAP", do_trap },
	{ SDMA_OP_SEMAPHORE, 40, 0, 3, "SEMAPHORE", do_semaphore },
	{ SDMA_OP_POLL_REGMEM, 40, 0, 6, "POLL_REGMEM", do_poll_regmem },
	{ SDMA_OP_COND_EXE, 40, 0, 5, "COND_EXE", do_cond_exe },
	{ SDMA_OP_ATOMIC, 40, 0, 8, "ATOMIC", do_atomic },
	{ SDMA_OP_CONST_FILL, 40, 0, 5, "CONST_FILL", sg_sdma_fill },
	{ SDMA_OP_PTEPDE, 40, 0, 1, "PTEPDE", refuse },
	{ SDMA_OP_TIMESTAMP, 40, 0, 3, "TIMESTAMP", do_timestamp },
	{ SDMA_OP_SRBM_WRITE, 40, 0, 3, "SRBM_WRITE", refuse },
	{ SDMA_OP_PRE_EXE, 40, 0, 2, "PRE_EXE", do_pre_exe },
	{ SDMA_OP_DUMMY_TRAP_V4, 40, 49, 2, "DUMMY_TRAP", do_trap },
	{ SDMA_OP_GPUVM_INV, 50, 0, 1, "GPUVM_INV", refuse },
	{ SDMA_OP_GCR_REQ, 50, 0, 5, "GCR_REQ", do_gcr_req },
	{ SDMA_OP_DUMMY_TRAP, 50, 0, 2, "DUMMY_TRAP", do_trap },
};

unsigned
sg_sdma_version(const struct sg_sdma *s)
{
	return s->run.profile->sdma_major * 10 + s->run.profile->sdma_minor;
}

static const struct sdma_op_info *
find_op(unsigned op, unsigned version)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].op == op && version >= ops[i].since && (ops[i].until == 0 || version <= ops[i].until))
			return &ops[i];
	return NULL;
}

const char *
sg_sdma_name(unsigned op)
{
	const struct sg_profile *p = sg_config()->profile;
	const struct sdma_op_info *info = find_op(op, p->sdma_major * 10 + p->sdma_minor);

	return info ? info->name : NULL;
}

struct sg_sdma *
sg_sdma_create(unsigned ring, struct sg_counters *counters)
{
	struct sg_sdma *s = calloc(1, sizeof(*s));
	char engine[32];

	if (!s)
		return NULL;
	snprintf(engine, sizeof(engine), "sdma ring %u", ring);
	sg_run_init(&s->run, counters, engine, SG_CLIENT_SDMA0);
	return s;
}

static void
run_packet(struct sg_sdma *s)
{
	const uint32_t *dw = &s->dwords[s->at];
	uint32_t left = s->count - s->at, op = PM4_GET(SDMA_HEADER_OP, dw[0]);
	const struct sdma_op_info *info = find_op(op, sg_sdma_version(s));

	s->run.packet_va = s->run.ib_va + s->at * 4ull;
	s->run.packet = info ? info->name : "packet";
	sg_count(&s->run.counters->packets, 1);
	sg_count(&s->run.counters->opcodes[op], 1);
	if (!info)
		sg_run_fail(&s->run, SG_JOB_ILLEGAL, "unknown operation %u (header 0x%08x)", op, dw[0]);
	else if (left < info->min)
		sg_sdma_truncated(s, info->min, left);
	else
		s->at += info->handler(s, dw, left);
}

static bool
load_ib(struct sg_sdma *s, const struct sg_ib *ib)
{
	s->run.packet = "IB fetch";
	s->run.packet_va = s->run.ib_va = sg_canonical(ib->va & ~3ull);
	if (s->room < ib->dwords) {
		free(s->dwords);
		s->dwords = malloc(ib->dwords * sizeof(s->dwords[0]));
		s->room = s->dwords ? ib->dwords : 0;
		if (!s->dwords) {
			sg_run_fail(&s->run, SG_JOB_HANG, "out of host memory for an IB of %u dwords", ib->dwords);
			return false;
		}
	}
	s->count = ib->dwords;
	s->at = 0;
	sg_count(&s->run.counters->ibs, 1);
	return sg_run_fetch(&s->run, s->run.ib_va, s->dwords, ib->dwords * 4ull);
}

void
sg_sdma_run(struct sg_sdma *s, const struct sg_job *job, uint64_t number)
{
	sg_run_begin(&s->run, job, number);
	for (unsigned i = 0; i < job->n_ibs && !s->run.failed; i++) {
		if (!load_ib(s, &job->ibs[i]))
			break;
		while (s->at < s->count && !s->run.failed && !sg_run_timed_out(&s->run))
			run_packet(s);
	}
	sg_run_end(&s->run);
}
