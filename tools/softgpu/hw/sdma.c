/* SPDX-License-Identifier: MIT */
/* sdma.c: SDMA packets. Their reads and writes are coherent with L2 (gfx10, gfx11), so nothing here is ever stale. */
#include "sdma.h"

#include "sdma_packets.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>

/* A handler gets the whole packet; `left` dwords of the IB follow from its header on, at least the table's minimum.
 * It returns the packet's length, or 0 after a failure. */
typedef uint32_t sdma_fn(struct sg_sdma *s, const uint32_t *dw, uint32_t left);

static uint32_t
truncated(struct sg_sdma *s, uint64_t needs, uint32_t left)
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

static uint32_t
unknown_sub_op(struct sg_sdma *s, const uint32_t *dw)
{
	sg_run_fail(&s->run, SG_JOB_ILLEGAL, "sub-operation %u is not implemented", sub_op(dw));
	return 0;
}

static uint32_t
do_nop(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t n = 1 + PM4_GET(SDMA_NOP_COUNT, dw[0]);

	return n <= left ? n : truncated(s, n, left);
}

static uint32_t
do_copy(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	bool broadcast = PM4_GET(SDMA_COPY_BROADCAST, dw[0]);
	uint32_t n = broadcast ? 9 : 7;

	if (sub_op(dw) != 0)
		return unknown_sub_op(s, dw);
	if (left < n)
		return truncated(s, n, left);
	uint64_t bytes = PM4_GET(SDMA_COPY_COUNT, dw[1]) + 1ull, src = sg_u64(dw[3], dw[4]);
	if (!sg_run_copy(&s->run, sg_u64(dw[5], dw[6]), src, bytes))
		return 0;
	if (broadcast && !sg_run_copy(&s->run, sg_u64(dw[7], dw[8]), src, bytes))
		return 0;
	return n;
}

static uint32_t
do_write(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t n = PM4_GET(SDMA_WRITE_COUNT, dw[3]) + 1;

	if (sub_op(dw) != 0)
		return unknown_sub_op(s, dw);
	if (left - 4 < n)
		return truncated(s, 4ull + n, left);
	return sg_run_write(&s->run, sg_u64(dw[1] & ~3u, dw[2]), &dw[4], n * 4ull) ? 4 + n : 0;
}

static uint32_t
do_const_fill(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t value = dw[3];
	uint64_t bytes = PM4_GET(SDMA_COPY_COUNT, dw[4]) + 1ull;

	(void)left;
	switch (PM4_GET(SDMA_FILL_SIZE, dw[0])) {
	case 0:
		value = (value & 0xff) * 0x01010101u;
		break;
	case 1:
		value = (value & 0xffff) * 0x00010001u;
		break;
	default: /* the count is bytes - 1 or bytes - 4, both are in use */
		bytes = (bytes + 3) & ~3ull;
		break;
	}
	return sg_run_fill(&s->run, sg_u64(dw[1], dw[2]), value, bytes) ? 5 : 0;
}

static uint32_t
do_fence(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	(void)left;
	if (sub_op(dw) != 0)
		return unknown_sub_op(s, dw);
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
	if (sub_op(dw) == 0) {
		sg_run_fail(&s->run, SG_JOB_ILLEGAL, "setting the clock is privileged");
		return 0;
	}
	return sg_run_write(&s->run, sg_u64(dw[1] & ~7u, dw[2]), &now, 8) ? 3 : 0;
}

/* Retry counts other than for ever are taken as for ever: the watchdog is the shorter one. */
static uint32_t
do_poll_regmem(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t value;

	(void)left;
	if (sub_op(dw) != 0)
		return unknown_sub_op(s, dw);
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

static const struct {
	const char *name;
	uint32_t min;	/* dwords with the header */
	sdma_fn *handler;
} ops[] = {
	[SDMA_OP_NOP] = { "NOP", 1, do_nop },
	[SDMA_OP_COPY] = { "COPY", 7, do_copy },
	[SDMA_OP_WRITE] = { "WRITE", 5, do_write },
	[SDMA_OP_INDIRECT] = { "INDIRECT", 6, refuse },
	[SDMA_OP_FENCE] = { "FENCE", 4, do_fence },
	[SDMA_OP_TRAP] = { "TRAP", 2, do_trap },
	[SDMA_OP_POLL_REGMEM] = { "POLL_REGMEM", 6, do_poll_regmem },
	[SDMA_OP_COND_EXE] = { "COND_EXE", 5, do_cond_exe },
	[SDMA_OP_ATOMIC] = { "ATOMIC", 8, do_atomic },
	[SDMA_OP_CONST_FILL] = { "CONST_FILL", 5, do_const_fill },
	[SDMA_OP_PTEPDE] = { "PTEPDE", 1, refuse },
	[SDMA_OP_TIMESTAMP] = { "TIMESTAMP", 3, do_timestamp },
	[SDMA_OP_SRBM_WRITE] = { "SRBM_WRITE", 3, refuse },
	[SDMA_OP_PRE_EXE] = { "PRE_EXE", 2, do_trap },
	[SDMA_OP_GPUVM_INV] = { "GPUVM_INV", 1, refuse },
	[SDMA_OP_GCR_REQ] = { "GCR_REQ", 5, do_gcr_req },
	[SDMA_OP_DUMMY_TRAP] = { "DUMMY_TRAP", 2, do_trap },
};

const char *
sg_sdma_name(unsigned op)
{
	return op < sizeof(ops) / sizeof(ops[0]) ? ops[op].name : NULL;
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
	const char *name = sg_sdma_name(op);

	s->run.packet_va = s->run.ib_va + s->at * 4ull;
	s->run.packet = name ? name : "packet";
	sg_count(&s->run.counters->packets, 1);
	sg_count(&s->run.counters->opcodes[op], 1);
	if (!name) {
		sg_run_fail(&s->run, SG_JOB_ILLEGAL, "unknown operation %u (header 0x%08x)", op, dw[0]);
		return;
	}
	if (left < ops[op].min) {
		truncated(s, ops[op].min, left);
		return;
	}
	s->at += ops[op].handler(s, dw, left);
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
