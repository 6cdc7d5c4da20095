/* SPDX-License-Identifier: MIT */
/* flow.c: scalar instructions that touch the wave itself: jumps, exec, mode, messages, the end. */
#include "core.h"
#include "salu.h"

#define RUN(name) static const struct sg_op *name(struct sg_wave *w, const struct sg_op *op)

static uint64_t
next_pc(const struct sg_op *op)
{
	return op->pc + 4 * (uint64_t)op->words;
}

static uint64_t
branch_pc(const struct sg_op *op)
{
	return next_pc(op) + 4 * (uint64_t)op->imm;
}

static const struct sg_op *
branch_if(struct sg_wave *w, const struct sg_op *op, bool condition)
{
	return condition ? sg_jump(w, op, branch_pc(op)) : op + 1;
}

static bool
is_zero(const struct sg_wave *w, unsigned reg)
{
	return !(w->sgpr[reg] | (w->halves == 2 ? w->sgpr[reg + 1] : 0));
}

static void
write64(struct sg_wave *w, unsigned reg, uint64_t value)
{
	w->sgpr[reg] = (uint32_t)value;
	w->sgpr[reg + 1] = (uint32_t)(value >> 32);
}

RUN(run_branch) { return sg_jump(w, op, branch_pc(op)); }
RUN(run_scc0) { return branch_if(w, op, !w->scc); }
RUN(run_scc1) { return branch_if(w, op, w->scc); }
RUN(run_vccz) { return branch_if(w, op, is_zero(w, SG_REG_VCC)); }
RUN(run_vccnz) { return branch_if(w, op, !is_zero(w, SG_REG_VCC)); }
RUN(run_execz) { return branch_if(w, op, is_zero(w, SG_REG_EXEC)); }
RUN(run_execnz) { return branch_if(w, op, !is_zero(w, SG_REG_EXEC)); }

RUN(run_getpc)
{
	write64(w, op->dst, next_pc(op));
	return op + 1;
}

/* Targets out of registers: found by address each time. */
static const struct sg_op *
jump_to(struct sg_wave *w, uint64_t pc)
{
	return sg_jump(w, NULL, pc & ~(uint64_t)3);
}

RUN(run_setpc) { return jump_to(w, sg_scalar(w, &op->src[0])); }

RUN(run_swappc)
{
	uint64_t target = sg_scalar(w, &op->src[0]);
	write64(w, op->dst, next_pc(op));
	return jump_to(w, target);
}

RUN(run_call)
{
	write64(w, op->dst, next_pc(op));
	return sg_jump(w, op, branch_pc(op));
}

RUN(run_endpgm)
{
	(void)op;
	w->state = SG_WAVE_END;
	return NULL;
}

RUN(run_barrier)
{
	w->state = SG_WAVE_BARRIER;
	w->pc = next_pc(op);
	return NULL;
}

RUN(run_trap)
{
	return sg_stop_at(w, SG_STOP_TRAP, op->pc, "s_trap %u: no trap handler is installed", (unsigned)op->imm & 0xff);
}

RUN(run_sethalt)
{
	if (!(op->imm & 1))
		return op + 1;
	return sg_stop_at(w, SG_STOP_TRAP, op->pc, "s_sethalt %u: the wave halts itself", (unsigned)op->imm & 0xffff);
}

/* Interrupts reach nobody, and registers freed early stay ours. */
RUN(run_sendmsg)
{
	unsigned message = op->imm & 0xff;
	if (message == 1 || message == 3)
		return op + 1;
	return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "s_sendmsg %u: a compute wave has no use for this message",
			  message);
}

RUN(run_sendmsghalt)
{
	return sg_stop_at(w, SG_STOP_TRAP, op->pc, "s_sendmsghalt %u: the wave halts itself", (unsigned)op->imm & 0xffff);
}

static uint64_t
clock_now(const struct sg_wave *w)
{
	return w->core->d->clock ? w->core->d->clock() : 0;
}

/* Message numbers 128..133 look like the constants 0..5. */
static const struct sg_op *
sendmsg_rtn(struct sg_wave *w, const struct sg_op *op, bool wide)
{
	unsigned message = op->src[0].kind == SG_K_CONST ? (unsigned)op->src[0].value : 255;
	uint64_t value;

	if (message == 3)
		value = clock_now(w);
	else if (message == 0 || message == 1 || message == 2 || message == 5)
		value = 0; /* doorbell id, dispatch draw id, trap memory and base addresses: none */
	else
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s has an unknown message", op->insn->name);
	w->sgpr[op->dst] = (uint32_t)value;
	if (wide)
		w->sgpr[op->dst + 1] = (uint32_t)(value >> 32);
	return op + 1;
}

RUN(run_sendmsg_rtn32) { return sendmsg_rtn(w, op, false); }
RUN(run_sendmsg_rtn64) { return sendmsg_rtn(w, op, true); }

RUN(run_memtime)
{
	write64(w, op->dst, clock_now(w));
	return op + 1;
}

/* Hardware registers */

enum {
	HW_MODE = 1, HW_STATUS = 2, HW_TRAPSTS = 3, HW_HW_ID = 4, HW_GPR_ALLOC = 5, HW_LDS_ALLOC = 6, HW_IB_STS = 7,
	HW_SH_MEM_BASES = 15, HW_TBA_LO = 16, HW_FLAT_SCR_LO = 20, HW_FLAT_SCR_HI = 21, HW_HW_ID1 = 23, HW_HW_ID2 = 24,
	HW_POPS_PACKER = 25, HW_IB_STS2 = 28, HW_SHADER_CYCLES = 29,
};

static bool
hwreg_read(const struct sg_wave *w, unsigned id, uint32_t *value)
{
	switch (id) {
	case HW_MODE: *value = w->mode; return true;
	case HW_STATUS:
		*value = w->scc | (uint32_t)is_zero(w, SG_REG_EXEC) << 9 | (uint32_t)is_zero(w, SG_REG_VCC) << 10;
		return true;
	case HW_SH_MEM_BASES: *value = (SG_SHARED_APERTURE & 0xffff0000) | SG_PRIVATE_APERTURE >> 16; return true;
	case HW_LDS_ALLOC: *value = w->lds_bytes / 256 << 12; return true;
	case HW_FLAT_SCR_LO: *value = (uint32_t)w->scratch; return true;
	case HW_FLAT_SCR_HI: *value = (uint32_t)(w->scratch >> 32); return true;
	case HW_HW_ID1: *value = w->index & 31; return true;
	case HW_SHADER_CYCLES: *value = (uint32_t)clock_now(w) & 0xfffff; return true;
	case HW_TRAPSTS: case HW_HW_ID: case HW_GPR_ALLOC: case HW_IB_STS: case HW_HW_ID2: case HW_POPS_PACKER:
	case HW_IB_STS2:
		*value = 0;
		return true;
	default:
		return false;
	}
}

static uint32_t
hwreg_mask(const struct sg_op *op)
{
	unsigned size = ((op->imm >> 11) & 31) + 1;
	return size == 32 ? UINT32_MAX : (1u << size) - 1;
}

RUN(run_getreg)
{
	uint32_t value;
	if (!hwreg_read(w, op->imm & 63, &value))
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "s_getreg_b32 of unknown hardware register %u",
				  (unsigned)op->imm & 63);
	w->sgpr[op->dst] = value >> (op->imm >> 6 & 31) & hwreg_mask(op);
	return op + 1;
}

static const struct sg_op *
setreg(struct sg_wave *w, const struct sg_op *op, uint32_t value)
{
	unsigned id = op->imm & 63, offset = op->imm >> 6 & 31;
	uint32_t mask = hwreg_mask(op) << offset, known;

	if (!hwreg_read(w, id, &known))
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "s_setreg of unknown hardware register %u", id);
	value = (known & ~mask) | (value << offset & mask);
	if (id == HW_MODE)
		sg_wave_mode(w, value);
	else if (id == HW_FLAT_SCR_LO && w->core->d->arch == SG_ARCH_RDNA2)
		w->scratch = (w->scratch & ~(uint64_t)UINT32_MAX) | value;
	else if (id == HW_FLAT_SCR_HI && w->core->d->arch == SG_ARCH_RDNA2)
		w->scratch = (uint64_t)(int64_t)(int16_t)value << 32 | (uint32_t)w->scratch;
	return op + 1;
}

RUN(run_setreg) { return setreg(w, op, (uint32_t)sg_scalar(w, &op->src[0])); }
RUN(run_setreg_imm) { return setreg(w, op, (uint32_t)op->src[2].value); }

RUN(run_round_mode)
{
	sg_wave_mode(w, (w->mode & ~0xfu) | (op->imm & 0xf));
	return op + 1;
}

RUN(run_denorm_mode)
{
	sg_wave_mode(w, (w->mode & ~0xf0u) | (op->imm & 0xf) << 4);
	return op + 1;
}

/* Scalar registers addressed through M0. Beyond the file the hardware clamps; here such a wave stops. */

static const struct sg_op *
move_relative(struct sg_wave *w, const struct sg_op *op, unsigned source, unsigned dst, unsigned dwords)
{
	if (op->src[0].kind != SG_K_SGPR || source + dwords > 106 || dst + dwords > 106)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s indexes past s105", op->insn->name);
	uint32_t v[2] = { w->sgpr[source], w->sgpr[source + 1] };
	memcpy(&w->sgpr[dst], v, 4 * dwords);
	return op + 1;
}

RUN(run_movrels32) { return move_relative(w, op, op->src[0].reg + (w->sgpr[SG_REG_M0] & 0xffff), op->dst, 1); }
RUN(run_movrels64) { return move_relative(w, op, op->src[0].reg + (w->sgpr[SG_REG_M0] & 0xffff), op->dst, 2); }

static const struct sg_op *
move_to_relative(struct sg_wave *w, const struct sg_op *op, unsigned dwords)
{
	unsigned dst = op->dst + (w->sgpr[SG_REG_M0] & 0xffff);
	uint64_t value = sg_scalar(w, &op->src[0]);
	if (dst + dwords > 106)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s indexes past s105", op->insn->name);
	memcpy(&w->sgpr[dst], &value, 4 * dwords);
	return op + 1;
}

RUN(run_movreld32) { return move_to_relative(w, op, 1); }
RUN(run_movreld64) { return move_to_relative(w, op, 2); }

RUN(run_movrelsd_2)
{
	uint32_t m0 = w->sgpr[SG_REG_M0];
	return move_relative(w, op, op->src[0].reg + (m0 & 0x3ff), op->dst + (m0 >> 16 & 0x3ff), 1);
}

/* Wave64 as two passes over 32 lanes: the half that waits is kept in the scalar operand (RDNA2 ISA, 12.3). */

RUN(run_subvector_begin)
{
	uint32_t *exec = &w->sgpr[SG_REG_EXEC], *other = &w->sgpr[op->dst];
	if (!exec[0] && !exec[1])
		return sg_jump(w, op, branch_pc(op));
	if (!exec[0])
		*other = 0;
	else {
		*other = exec[1];
		exec[1] = 0;
	}
	return op + 1;
}

RUN(run_subvector_end)
{
	uint32_t *exec = &w->sgpr[SG_REG_EXEC], *other = &w->sgpr[op->dst];
	if (exec[1])
		exec[0] = *other;
	else if (*other) {
		exec[1] = *other;
		*other = exec[0];
		exec[0] = 0;
		return sg_jump(w, op, branch_pc(op));
	}
	return op + 1;
}

/* exec = f(source, exec); destination = old exec, or the new one for wrexec. */

enum { X_AND, X_OR, X_XOR, X_NAND, X_NOR, X_XNOR, X_AND_NOT0, X_OR_NOT0, X_AND_NOT1, X_OR_NOT1 };

static uint64_t
exec_logic(unsigned kind, uint64_t s, uint64_t x)
{
	switch (kind) {
	case X_AND: return s & x;
	case X_OR: return s | x;
	case X_XOR: return s ^ x;
	case X_NAND: return ~(s & x);
	case X_NOR: return ~(s | x);
	case X_XNOR: return ~(s ^ x);
	case X_AND_NOT0: return ~s & x;
	case X_OR_NOT0: return ~s | x;
	case X_AND_NOT1: return s & ~x;
	default: return s | ~x;
	}
}

static const struct sg_op *
exec_op(struct sg_wave *w, const struct sg_op *op, unsigned kind, bool wide, bool write_new)
{
	uint64_t x = w->sgpr[SG_REG_EXEC] | (wide ? (uint64_t)w->sgpr[SG_REG_EXEC + 1] << 32 : 0);
	uint64_t r = exec_logic(kind, sg_scalar(w, &op->src[0]), x);
	if (!wide)
		r = (uint32_t)r;
	uint64_t d = write_new ? r : x;
	w->sgpr[op->dst] = (uint32_t)d;
	w->sgpr[SG_REG_EXEC] = (uint32_t)r;
	if (wide) {
		w->sgpr[op->dst + 1] = (uint32_t)(d >> 32);
		w->sgpr[SG_REG_EXEC + 1] = (uint32_t)(r >> 32);
	}
	w->scc = r != 0;
	return op + 1;
}

#define EXEC_OP(name, kind, write_new)                                                                                 \
	RUN(run_##name##32) { return exec_op(w, op, kind, false, write_new); }                                         \
	RUN(run_##name##64) { return exec_op(w, op, kind, true, write_new); }
EXEC_OP(and_save, X_AND, false)
EXEC_OP(or_save, X_OR, false)
EXEC_OP(xor_save, X_XOR, false)
EXEC_OP(nand_save, X_NAND, false)
EXEC_OP(nor_save, X_NOR, false)
EXEC_OP(xnor_save, X_XNOR, false)
EXEC_OP(and_not0_save, X_AND_NOT0, false)
EXEC_OP(or_not0_save, X_OR_NOT0, false)
EXEC_OP(and_not1_save, X_AND_NOT1, false)
EXEC_OP(or_not1_save, X_OR_NOT1, false)
EXEC_OP(and_not0_wr, X_AND_NOT0, true)
EXEC_OP(and_not1_wr, X_AND_NOT1, true)

struct flow {
	struct sg_salu_op shape;
	sg_handler *run;
};

#define FLOW(n, handler, d, s) { { .name = n, .dst = d, .a = s }, handler }
#define BOTH(n, suffix, handler) FLOW(n "_" suffix "_b32", handler##32, 1, 1), FLOW(n "_" suffix "_b64", handler##64, 2, 2)

static const struct flow flows[] = {
	FLOW("s_branch", run_branch, 0, 0), FLOW("s_cbranch_scc0", run_scc0, 0, 0),
	FLOW("s_cbranch_scc1", run_scc1, 0, 0), FLOW("s_cbranch_vccz", run_vccz, 0, 0),
	FLOW("s_cbranch_vccnz", run_vccnz, 0, 0), FLOW("s_cbranch_execz", run_execz, 0, 0),
	FLOW("s_cbranch_execnz", run_execnz, 0, 0), FLOW("s_getpc_b64", run_getpc, 2, 0),
	FLOW("s_setpc_b64", run_setpc, 0, 2), FLOW("s_swappc_b64", run_swappc, 2, 2),
	FLOW("s_call_b64", run_call, 2, 0), FLOW("s_endpgm", run_endpgm, 0, 0),
	FLOW("s_endpgm_saved", run_endpgm, 0, 0), FLOW("s_barrier", run_barrier, 0, 0), FLOW("s_trap", run_trap, 0, 0),
	FLOW("s_sethalt", run_sethalt, 0, 0), FLOW("s_sendmsg", run_sendmsg, 0, 0),
	FLOW("s_sendmsghalt", run_sendmsghalt, 0, 0), FLOW("s_sendmsg_rtn_b32", run_sendmsg_rtn32, 1, 1),
	FLOW("s_sendmsg_rtn_b64", run_sendmsg_rtn64, 2, 1), FLOW("s_memtime", run_memtime, 2, 0),
	FLOW("s_memrealtime", run_memtime, 2, 0), FLOW("s_getreg_b32", run_getreg, 1, 0),
	FLOW("s_setreg_b32", run_setreg, 0, 1),
	{ { .name = "s_setreg_imm32_b32", .wants_literal = true }, run_setreg_imm },
	FLOW("s_round_mode", run_round_mode, 0, 0), FLOW("s_denorm_mode", run_denorm_mode, 0, 0),
	FLOW("s_movrels_b32", run_movrels32, 1, 1), FLOW("s_movrels_b64", run_movrels64, 2, 2),
	FLOW("s_movreld_b32", run_movreld32, 1, 1), FLOW("s_movreld_b64", run_movreld64, 2, 2),
	FLOW("s_movrelsd_2_b32", run_movrelsd_2, 1, 1), FLOW("s_subvector_loop_begin", run_subvector_begin, 1, 0),
	FLOW("s_subvector_loop_end", run_subvector_end, 1, 0),
	BOTH("s_and", "saveexec", run_and_save), BOTH("s_or", "saveexec", run_or_save),
	BOTH("s_xor", "saveexec", run_xor_save), BOTH("s_nand", "saveexec", run_nand_save),
	BOTH("s_nor", "saveexec", run_nor_save), BOTH("s_xnor", "saveexec", run_xnor_save),
	BOTH("s_and_not0", "saveexec", run_and_not0_save), BOTH("s_or_not0", "saveexec", run_or_not0_save),
	BOTH("s_and_not1", "saveexec", run_and_not1_save), BOTH("s_or_not1", "saveexec", run_or_not1_save),
	BOTH("s_and_not0", "wrexec", run_and_not0_wr), BOTH("s_and_not1", "wrexec", run_and_not1_wr),
};

bool
sg_bind_flow(struct sg_insn *insn, enum sg_format format)
{
	if ((format < SG_FMT_SOP1 || format > SG_FMT_SOPP) && format != SG_FMT_SMEM) /* s_memtime */
		return false;
	for (unsigned i = 0; i < sizeof flows / sizeof *flows; i++) {
		if (!strcmp(insn->key, flows[i].shape.name)) {
			insn->family = SG_FAM_FLOW;
			insn->run = flows[i].run;
			insn->sem = &flows[i].shape;
			return true;
		}
	}
	return false;
}
