/* SPDX-License-Identifier: MIT */
/* cp_cond.c: packets that do something, or let others be skipped, only if memory says so. */
#include "cp.h"

/* COND_EXEC: address, 0, count of dwords that are skipped when it holds 0 */
void
sg_pk_cond_exec(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t value;

	if (sg_run_read(&cp->run, sg_u64(p->body[0] & ~3u, p->body[1]), &value, 4) && value == 0)
		sg_cp_skip(cp, PM4_GET(COND_EXEC_COUNT, p->body[3]));
}

/* The next dwords are for the selected devices; here there is one, the first. */
void
sg_pk_pred_exec(struct sg_cp *cp, const struct sg_packet *p)
{
	if (!(PM4_GET(PRED_EXEC_SELECT, p->body[0]) & 1))
		sg_cp_skip(cp, PM4_GET(PRED_EXEC_COUNT, p->body[0]));
}

/* COND_WRITE: ctl, poll address, reference, mask, write address, data */
void
sg_pk_cond_write(struct sg_cp *cp, const struct sg_packet *p)
{
	bool poll_memory = PM4_GET_(4, 4, p->body[0]);
	uint32_t write_space = PM4_GET_(9, 8, p->body[0]), value = 0, reg = p->body[1] & 0x3ffff;

	if (write_space > 1) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "write space %u does not exist", write_space);
		return;
	}
	if (!poll_memory)
		value = reg < SG_CP_REGS ? cp->regs[reg] : 0;
	else if (!sg_run_read(&cp->run, sg_u64(p->body[1] & ~3u, p->body[2]), &value, 4))
		return;
	if (!sg_run_compare(p->body[0] & 7, value & p->body[4], p->body[3]))
		return;
	if (write_space == 1)
		sg_run_write(&cp->run, sg_u64(p->body[5] & ~3u, p->body[6]), &p->body[7], 4);
	else
		sg_cp_set_user_reg(cp, p->body[5] & 0x3ffff, p->body[7]);
}

/* ---- SET_PREDICATION (gfx ring): ctl, address ---- */

enum predicate { PREDICATE_CLEAR = 0, PREDICATE_ZPASS = 1, PREDICATE_PRIMCOUNT = 2, PREDICATE_BOOL64 = 3,
		 PREDICATE_BOOL32 = 4 };

/* Did any sample pass? A pair of counters, begin and end, by each render back end. */
static bool
zpass_holds(struct sg_cp *cp, uint64_t va, bool *holds)
{
	uint64_t pair[2];

	for (uint32_t rb = 0; rb < 32; rb++) {
		if (!(cp->run.profile->rb_mask >> rb & 1))
			continue;
		if (!sg_run_read(&cp->run, va + rb * 16ull, pair, sizeof(pair)))
			return false;
		*holds = *holds || pair[0] != pair[1];
	}
	return true;
}

/* Were all primitives written? Written and needed at the begin, then at the end. */
static bool
primcount_holds(struct sg_cp *cp, uint64_t va, bool *holds)
{
	uint64_t c[4];

	if (!sg_run_read(&cp->run, va, c, sizeof(c)))
		return false;
	*holds = c[2] - c[0] == c[3] - c[1];
	return true;
}

static bool
bool_holds(struct sg_cp *cp, uint64_t va, unsigned bytes, bool *holds)
{
	uint64_t value = 0;

	if (!sg_run_read(&cp->run, va, &value, bytes))
		return false;
	*holds = value != 0;
	return true;
}

/* False: the job has failed. */
static bool
predicate_look(struct sg_cp *cp, uint32_t op, uint64_t va, bool *holds)
{
	switch (op) {
	case PREDICATE_ZPASS: return zpass_holds(cp, va & ~0xfull, holds);
	case PREDICATE_PRIMCOUNT: return primcount_holds(cp, va & ~0xfull, holds);
	case PREDICATE_BOOL64: return bool_holds(cp, va, 8, holds);
	case PREDICATE_BOOL32: return bool_holds(cp, va, 4, holds);
	default:
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "predicate %u does not exist", op);
		return false;
	}
}

/* A query's hint, not to wait for counters, makes no difference: here they are there. */
void
sg_pk_set_predication(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t op = PM4_GET(SET_PREDICATION_OP, p->body[0]);
	bool run_if_holds = PM4_GET(SET_PREDICATION_BOOL, p->body[0]), holds = false;

	cp->predicate_skips = false;
	if (op == PREDICATE_CLEAR) {
		cp->predicate_holds = false;
		return;
	}
	sg_cp_drain(cp); /* PFP_SYNC_ME precedes it in all users */
	if (!predicate_look(cp, op, sg_u64(p->body[1] & ~3u, p->body[2]), &holds))
		return;
	if (PM4_GET(SET_PREDICATION_CONTINUE, p->body[0]))
		holds = holds || cp->predicate_holds; /* a query in several pieces */
	cp->predicate_holds = holds;
	cp->predicate_skips = holds != run_if_holds;
}
