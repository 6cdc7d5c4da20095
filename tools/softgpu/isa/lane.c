/* SPDX-License-Identifier: MIT */
/* lane.c: data that moves between lanes, between register files, or through M0-relative register numbers. */
#include "core.h"
#include "format.h"

#include <math.h>

#define RUN(name) static const struct sg_op *name(struct sg_wave *w, const struct sg_op *op)

/* DPP */

/* Source lane of lane i for a DPP16 control; -1 when it lies outside the row. */
static int
dpp16_source(unsigned ctrl, unsigned i)
{
	unsigned row = i & ~15u, in_row = i & 15, n = ctrl & 15;

	if (ctrl < 0x100)
		return (int)((i & ~3u) | (ctrl >> 2 * (i & 3) & 3));
	switch (ctrl >> 4) {
	case 0x10: return in_row + n < 16 ? (int)(i + n) : -1;			   /* row_shl */
	case 0x11: return in_row >= n ? (int)(i - n) : -1;			   /* row_shr */
	case 0x12: return (int)(row | ((in_row - n) & 15));			   /* row_ror */
	case 0x14: return (int)(row | (n == 0 ? 15 - in_row : (in_row & 8) | (7 - (in_row & 7)))); /* mirrors */
	case 0x15: return (int)(row | n);					   /* row_share */
	default: return (int)(row | (in_row ^ n));				   /* row_xmask */
	}
}

uint32_t
sg_dpp_move(const struct sg_op *op, uint32_t exec, const uint32_t *s, uint32_t *d)
{
	uint32_t valid = 0, usable = op->flags & SG_OP_FI ? UINT32_MAX : exec;

	for (unsigned i = 0; i < SG_LANES; i++) {
		int from = op->dpp == SG_DPP_16 ? dpp16_source(op->ctrl, i) :
						  (int)((i & ~7u) | (op->ctrl >> 3 * (i & 7) & 7));
		bool ok = from >= 0 && (usable >> from & 1);
		d[i] = ok ? s[from] : 0;
		/* DPP8 has no bound_ctrl: lanes that must not be read give 0 */
		valid |= (uint32_t)(ok || op->dpp == SG_DPP_8) << i;
	}
	return valid;
}

uint32_t
sg_dpp_write_mask(const struct sg_op *op, unsigned half)
{
	uint32_t mask = 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		unsigned lane = half * SG_LANES + i;
		mask |= (uint32_t)(op->row_mask >> (lane / 16) & op->bank_mask >> (lane % 16 / 4) & 1) << i;
	}
	return mask;
}

/* One lane to a scalar register and back */

static uint32_t
lane_value(const struct sg_wave *w, const struct sg_operand *s, unsigned lane)
{
	if (s->kind == SG_K_VGPR)
		return w->v[lane / SG_LANES][s->reg][lane % SG_LANES];
	return (uint32_t)sg_scalar(w, s);
}

RUN(run_readfirstlane)
{
	unsigned lane = 0;
	if (sg_exec(w, 0))
		lane = (unsigned)__builtin_ctz(sg_exec(w, 0));
	else if (w->halves == 2 && sg_exec(w, 1))
		lane = SG_LANES + (unsigned)__builtin_ctz(sg_exec(w, 1));
	w->sgpr[op->dst] = lane_value(w, &op->src[0], lane);
	return op + 1;
}

RUN(run_readlane)
{
	unsigned lane = (unsigned)sg_scalar(w, &op->src[1]) & (sg_wave_lanes(w) - 1);
	w->sgpr[op->dst] = lane_value(w, &op->src[0], lane);
	return op + 1;
}

RUN(run_writelane)
{
	unsigned lane = (unsigned)sg_scalar(w, &op->src[1]) & (sg_wave_lanes(w) - 1);
	w->v[lane / SG_LANES][op->dst][lane % SG_LANES] = (uint32_t)sg_scalar(w, &op->src[0]);
	return op + 1;
}

/* LDS direct: one value for all lanes */

uint32_t
sg_lds_direct(const struct sg_wave *w)
{
	enum { U8, U16, B32, I8 = 4, I16 };
	static const uint8_t sizes[8] = { [U8] = 1, [U16] = 2, [B32] = 4, [I8] = 1, [I16] = 2 };
	uint32_t m0 = w->sgpr[SG_REG_M0], address = m0 & 0xffff, type = m0 >> 16 & 7, v = 0;

	if (address > w->lds_bytes || w->lds_bytes - address < sizes[type])
		return 0;
	memcpy(&v, w->lds + address, sizes[type]);
	return type == I8 ? (uint32_t)(int8_t)v : type == I16 ? (uint32_t)(int16_t)v : v;
}

RUN(run_lds_direct)
{
	uint32_t v[SG_LANES] __attribute__((aligned(128)));
	for (unsigned i = 0; i < SG_LANES; i++)
		v[i] = sg_lds_direct(w);
	for (unsigned half = 0; half < w->halves; half++)
		sg_blend(w->v[half][op->dst], v, sg_exec(w, half));
	return op + 1;
}

/* Permutes */

static const struct sg_op *
permlane16(struct sg_wave *w, const struct sg_op *op, unsigned other_row)
{
	uint64_t select = (uint32_t)sg_scalar(w, &op->src[1]) | sg_scalar(w, &op->src[2]) << 32;
	uint32_t tmp[SG_LANES] __attribute__((aligned(128))), result[SG_LANES] __attribute__((aligned(128)));

	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half), write = exec, usable = op->op_sel & 1 ? UINT32_MAX : exec;
		const uint32_t *s = sg_fetch(w, &op->src[0], half, tmp);
		for (unsigned i = 0; i < SG_LANES; i++) {
			unsigned from = ((i & 16) ^ other_row) | (select >> 4 * (i & 15) & 15);
			bool ok = usable >> from & 1;
			result[i] = ok ? s[from] : 0;
			if (!ok && !(op->op_sel & 2))
				write &= ~(1u << i);
		}
		sg_blend(w->v[half][op->dst], result, write);
	}
	return op + 1;
}

RUN(run_permlane16) { return permlane16(w, op, 0); }
RUN(run_permlanex16) { return permlane16(w, op, 16); }

RUN(run_permlane64)
{
	uint32_t low[SG_LANES] __attribute__((aligned(128))), tmp[SG_LANES] __attribute__((aligned(128)));
	if (w->halves != 2)
		return op + 1;
	memcpy(low, sg_fetch(w, &op->src[0], 0, tmp), sizeof low);
	sg_blend(w->v[0][op->dst], sg_fetch(w, &op->src[0], 1, tmp), sg_exec(w, 0));
	sg_blend(w->v[1][op->dst], low, sg_exec(w, 1));
	return op + 1;
}

/* Swaps */

static void
swap(struct sg_wave *w, unsigned a, unsigned b)
{
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t old[SG_LANES] __attribute__((aligned(128)));
		memcpy(old, w->v[half][a], sizeof old);
		sg_blend(w->v[half][a], w->v[half][b], sg_exec(w, half));
		sg_blend(w->v[half][b], old, sg_exec(w, half));
	}
}

RUN(run_swap)
{
	if (op->src[0].kind != SG_K_VGPR)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s with a scalar operand", op->insn->name);
	swap(w, op->dst, op->src[0].reg);
	return op + 1;
}

RUN(run_swap16)
{
	if (op->src[0].kind != SG_K_VGPR)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s with a scalar operand", op->insn->name);
	unsigned a_shift = op->flags & SG_OP_DST_HIGH ? 16 : 0, b_shift = op->src[0].mods & SG_MOD_HIGH ? 16 : 0;
	for (unsigned lane = 0; lane < sg_wave_lanes(w); lane++) {
		if (!(sg_exec(w, lane / SG_LANES) >> lane % SG_LANES & 1))
			continue;
		uint32_t *a = &w->v[lane / SG_LANES][op->dst][lane % SG_LANES];
		uint32_t *b = &w->v[lane / SG_LANES][op->src[0].reg][lane % SG_LANES];
		uint32_t x = *a >> a_shift & 0xffff, y = *b >> b_shift & 0xffff;
		*a = (*a & ~(0xffffu << a_shift)) | y << a_shift;
		*b = (*b & ~(0xffffu << b_shift)) | x << b_shift;
	}
	return op + 1;
}

/* Register numbers offset by M0. Out of range a source is v0 and a destination is not written. */

static void
move_relative(struct sg_wave *w, const struct sg_op *op, unsigned src_offset, unsigned dst_offset)
{
	struct sg_operand s = op->src[0];
	unsigned dst = op->dst + dst_offset;
	uint32_t tmp[SG_LANES] __attribute__((aligned(128)));

	if (s.kind == SG_K_VGPR && s.reg + src_offset < 256)
		s.reg = (uint16_t)(s.reg + src_offset);
	else if (s.kind == SG_K_VGPR)
		s.reg = 0;
	for (unsigned half = 0; half < w->halves && dst < 256; half++)
		sg_blend(w->v[half][dst], sg_fetch(w, &s, half, tmp), sg_exec(w, half));
}

static unsigned
m0_offset(const struct sg_wave *w)
{
	return w->sgpr[SG_REG_M0] < 256 ? w->sgpr[SG_REG_M0] : 256;
}

RUN(run_movreld) { return move_relative(w, op, 0, m0_offset(w)), op + 1; }
RUN(run_movrels) { return move_relative(w, op, m0_offset(w), 0), op + 1; }
RUN(run_movrelsd) { return move_relative(w, op, m0_offset(w), m0_offset(w)), op + 1; }

RUN(run_movrelsd_2)
{
	uint32_t m0 = w->sgpr[SG_REG_M0];
	move_relative(w, op, m0 & 0x3ff, m0 >> 16 & 0x3ff);
	return op + 1;
}

RUN(run_swaprel)
{
	uint32_t m0 = w->sgpr[SG_REG_M0];
	unsigned a = op->dst + (m0 >> 16 & 0x3ff), b = op->src[0].reg + (m0 & 0x3ff);
	if (op->src[0].kind != SG_K_VGPR || a > 255 || b > 255)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s indexes past v255", op->insn->name);
	swap(w, a, b);
	return op + 1;
}

/* Bits of the mask below this lane, in its low or high dword. */
static const struct sg_op *
mbcnt(struct sg_wave *w, const struct sg_op *op, unsigned dword)
{
	uint32_t tmp[2][SG_LANES] __attribute__((aligned(128))), result[SG_LANES] __attribute__((aligned(128)));

	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *mask = sg_fetch(w, &op->src[0], half, tmp[0]);
		const uint32_t *base = sg_fetch(w, &op->src[1], half, tmp[1]);
		for (unsigned i = 0; i < SG_LANES; i++) {
			uint32_t below = half == dword ? (1u << i) - 1 : half > dword ? UINT32_MAX : 0;
			result[i] = base[i] + (uint32_t)__builtin_popcount(mask[i] & below);
		}
		sg_blend(w->v[half][op->dst], result, sg_exec(w, half));
	}
	return op + 1;
}

RUN(run_mbcnt_lo) { return mbcnt(w, op, 0); }
RUN(run_mbcnt_hi) { return mbcnt(w, op, 1); }

/* Pixel shaders' interpolation: coefficients in lanes of each quad, in f32; p10 = s0[1] * s1 + s2[0], p2 adds
 * s0[2] * s1 to a running sum. */
static const struct sg_op *
interpolate(struct sg_wave *w, const struct sg_op *op, unsigned lane0, bool base_from_quad)
{
	uint32_t tmp[3][SG_LANES] __attribute__((aligned(128))), result[SG_LANES] __attribute__((aligned(128)));
	const uint32_t *s[3];

	for (unsigned half = 0; half < w->halves; half++) {
		for (unsigned i = 0; i < 3; i++)
			s[i] = sg_fetch(w, &op->src[i], half, tmp[i]);
		for (unsigned i = 0; i < SG_LANES; i++) {
			float a, b, c, r;
			memcpy(&a, &s[0][(i & ~3u) + lane0], 4);
			memcpy(&b, &s[1][i], 4);
			memcpy(&c, &s[2][base_from_quad ? i & ~3u : i], 4);
			r = fmaf(a, b, c);
			memcpy(&result[i], &r, 4);
		}
		sg_blend(w->v[half][op->dst], result, sg_exec(w, half));
	}
	return op + 1;
}

RUN(run_interp_p10) { return interpolate(w, op, 1, true); }
RUN(run_interp_p2) { return interpolate(w, op, 2, false); }

/* The half of a register that op_sel bit k chooses, as f32. */
static float
half_operand(const struct sg_op *op, unsigned k, uint32_t v)
{
	uint32_t bits = sg_format_from_half(op->op_sel >> k & 1 ? v >> 16 : v);
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

/* The same with coefficients in f16; p10 gives f32, p2 a half. */
static const struct sg_op *
interpolate_f16(struct sg_wave *w, const struct sg_op *op, bool p10)
{
	uint32_t tmp[3][SG_LANES] __attribute__((aligned(128))), result[SG_LANES] __attribute__((aligned(128)));
	const uint32_t *s[3];

	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *d = w->v[half][op->dst];
		for (unsigned i = 0; i < 3; i++)
			s[i] = sg_fetch(w, &op->src[i], half, tmp[i]);
		for (unsigned i = 0; i < SG_LANES; i++) {
			float a = half_operand(op, 0, s[0][(i & ~3u) + (p10 ? 1 : 2)]), b, c, r;
			memcpy(&b, &s[1][i], 4);
			if (p10)
				c = half_operand(op, 2, s[2][i & ~3u]);
			else
				memcpy(&c, &s[2][i], 4);
			r = fmaf(a, b, c);
			memcpy(&result[i], &r, 4);
			if (p10)
				continue;
			uint32_t h = sg_format_to_half(result[i]);
			result[i] = op->op_sel & 8 ? (d[i] & 0xffff) | h << 16 : (d[i] & 0xffff0000) | h;
		}
		sg_blend(w->v[half][op->dst], result, sg_exec(w, half));
	}
	return op + 1;
}

RUN(run_interp_p10_f16) { return interpolate_f16(w, op, true); }
RUN(run_interp_p2_f16) { return interpolate_f16(w, op, false); }

enum { SCALAR_DST = 4 }; /* form: number of sources, and this (decode_lane) */

static const struct {
	const char *name;
	sg_handler *run;
	unsigned form;
} ops[] = {
	{ "v_readfirstlane_b32", run_readfirstlane, 1 | SCALAR_DST },
	{ "v_readlane_b32", run_readlane, 2 | SCALAR_DST },
	{ "v_writelane_b32", run_writelane, 2 },
	{ "v_permlane16_b32", run_permlane16, 3 },
	{ "v_permlanex16_b32", run_permlanex16, 3 },
	{ "v_permlane64_b32", run_permlane64, 1 },
	{ "v_swap_b32", run_swap, 1 },
	{ "v_swap_b16", run_swap16, 1 },
	{ "v_swaprel_b32", run_swaprel, 1 },
	{ "v_movreld_b32", run_movreld, 1 },
	{ "v_movrels_b32", run_movrels, 1 },
	{ "v_movrelsd_b32", run_movrelsd, 1 },
	{ "v_movrelsd_2_b32", run_movrelsd_2, 1 },
	{ "v_interp_p10_f32", run_interp_p10, 3 },
	{ "v_interp_p2_f32", run_interp_p2, 3 },
	{ "v_interp_p10_f16_f32", run_interp_p10_f16, 3 },
	{ "v_interp_p2_f16_f32", run_interp_p2_f16, 3 },
	{ "lds_direct_load", run_lds_direct, 0 },
	{ "v_mbcnt_lo_u32_b32", run_mbcnt_lo, 2 },
	{ "v_mbcnt_hi_u32_b32", run_mbcnt_hi, 2 },
};

bool
sg_bind_lane(struct sg_insn *insn, enum sg_format format)
{
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		bool interp = !strncmp(ops[i].name, "v_interp", 8); /* gfx10 has others of that name */
		if (!strcmp(insn->key, ops[i].name) && interp == (format == SG_FMT_VINTERP)) {
			insn->family = SG_FAM_LANE;
			insn->run = ops[i].run;
			insn->form = (uint8_t)ops[i].form;
			return true;
		}
	}
	return false;
}
