/* SPDX-License-Identifier: MIT */
/* exec.c: the interpreter loop and everything around the vector arithmetic of valu.h: operand fetch, modifiers, DPP,
 * exec masks, write-back. Wave64 is two passes of 32 lanes. */
#include "core.h"

#include <stdio.h>

/* Shared VGPRs exist once, but each half has its own copy here: after an instruction that may have written one, both
 * become what the hardware would have, whose second pass is that of the upper half. */
static void
merge_shared(struct sg_wave *w, const struct sg_op *op, uint32_t high)
{
	unsigned end = w->shared_first + w->shared_count, last = op->dst + 8u;

	if (op->dpp == SG_DPP_16)
		high &= sg_dpp_write_mask(op, 1);
	for (unsigned r = op->dst < w->shared_first ? w->shared_first : op->dst; r < last && r < end && r < 256; r++) {
		sg_blend(w->v[0][r], w->v[1][r], high);
		memcpy(w->v[1][r], w->v[0][r], sizeof(sg_lanes));
	}
}

static const struct sg_op *
run_shared(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t high = sg_exec(w, 1);
	const struct sg_op *next = op->run(w, op);
	unsigned family = op->insn ? op->insn->family : SG_FAM_DROP;

	if (family >= SG_FAM_VALU && op->dst < w->shared_first + w->shared_count && op->dst + 8u > w->shared_first)
		merge_shared(w, op, high);
	return next;
}

/* Only this core's thread counts; a report may read meanwhile. */
static void
count_opcode(uint64_t *counter)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/* The loop for waves that need something with each instruction. */
static uint64_t
run_slowly(struct sg_wave *w, const struct sg_op *op)
{
	struct sg_core *core = w->core;
	uint64_t *counters = core->counters[core->isa->arch], count = 0;

	while (op) {
		count += op->words != 0;
		if (core->counting)
			count_opcode(&counters[op->insn ? op->insn->index : 0]);
		op = w->shared_count ? run_shared(w, op) : op->run(w, op);
	}
	return count;
}

void
sg_wave_run(struct sg_wave *w)
{
	struct sg_core *core = w->core;
	const struct sg_op *op = sg_enter(w);
	uint64_t count = 0;

	if (core->counting || w->shared_count)
		count = run_slowly(w, op);
	else
		while (op) {
			count += op->words != 0;
			op = op->run(w, op);
		}
	core->stats.instructions += count;
}

void
sg_wave_mode(struct sg_wave *w, uint32_t mode)
{
	w->mode = mode;
	w->f32_plain = (mode & 3) == 0 && (mode >> 4 & 3) == 3;
}

const struct sg_op *
sg_run_illegal(struct sg_wave *w, const struct sg_op *op)
{
	if (!op->insn)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "instruction word %s", (const char *)op->sem);
	return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s %s", op->insn->name, (const char *)op->sem);
}

const struct sg_op *
sg_run_unimplemented(struct sg_wave *w, const struct sg_op *op)
{
	return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "%s is not implemented", op->insn->name);
}

/* Fetch */

static void
splat(uint32_t *d, uint32_t value)
{
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = value;
}

static void
apply_f64(uint32_t *d, const uint32_t *s, unsigned mods)
{
	uint32_t keep = mods & SG_MOD_ABS ? 0x7fffffff : UINT32_MAX, flip = mods & SG_MOD_NEG ? 0x80000000 : 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		d[i] = s[i];
		d[SG_LANES + i] = (s[SG_LANES + i] & keep) ^ flip;
	}
}

static void
apply_f32(uint32_t *d, const uint32_t *s, unsigned mods)
{
	uint32_t keep = mods & SG_MOD_ABS ? 0x7fffffff : UINT32_MAX, flip = mods & SG_MOD_NEG ? 0x80000000 : 0;
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = (s[i] & keep) ^ flip;
}

static void
apply_16(uint32_t *d, const uint32_t *s, unsigned mods)
{
	uint32_t keep = mods & SG_MOD_ABS ? 0x7fff : 0xffff, flip = mods & SG_MOD_NEG ? 0x8000 : 0;
	unsigned shift = mods & SG_MOD_HIGH ? 16 : 0;
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = (s[i] >> shift & keep) ^ flip;
}

static void
apply_packed(uint32_t *d, const uint32_t *s, unsigned mods)
{
	unsigned low = mods & SG_MOD_HIGH ? 16 : 0, high = mods & SG_MOD_HI_LOW ? 0 : 16;
	uint32_t keep = mods & SG_MOD_ABS ? 0x7fff7fff : UINT32_MAX;
	uint32_t flip = (mods & SG_MOD_NEG ? 0x8000 : 0) | (mods & SG_MOD_NEG_HI ? 0x80000000 : 0);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = (((s[i] >> low & 0xffff) | (s[i] >> high) << 16) & keep) ^ flip;
}

static void
apply_modifiers(uint32_t *d, const uint32_t *s, const struct sg_operand *o)
{
	switch (o->type) {
	case SG_T_F64:
	case SG_T_B64: apply_f64(d, s, o->mods); break;
	case SG_T_F16:
	case SG_T_B16: apply_16(d, s, o->mods); break;
	case SG_T_PK16: apply_packed(d, s, o->mods); break;
	default: apply_f32(d, s, o->mods); break;
	}
}

/* SDWA: a byte or word of each lane, widened. */
static void
select_part(uint32_t *d, const uint32_t *s, unsigned sel)
{
	unsigned part = (sel & 7) - 1, bits = part < 4 ? 8 : 16, shift = part < 4 ? 8 * part : 16 * (part & 1);
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint32_t v = s[i] >> shift << (32 - bits);
		d[i] = sel & 8 ? (uint32_t)((int32_t)v >> (32 - bits)) : v >> (32 - bits);
	}
}

/* Lanes of an operand before modifiers. */
static const uint32_t *
fetch_raw(const struct sg_wave *w, const struct sg_operand *s, unsigned half, uint32_t *tmp)
{
	if (s->kind == SG_K_VGPR)
		return w->v[half][s->reg];
	if (s->kind == SG_K_CONST)
		return s->splat;
	uint64_t value = sg_scalar(w, s);
	splat(tmp, (uint32_t)value);
	if (s->type == SG_T_B64 || s->type == SG_T_F64)
		splat(tmp + SG_LANES, (uint32_t)(value >> 32));
	return tmp;
}

const uint32_t *
sg_fetch(const struct sg_wave *w, const struct sg_operand *s, unsigned half, uint32_t *tmp)
{
	const uint32_t *raw = fetch_raw(w, s, half, tmp);
	if (s->sel) {
		select_part(tmp, raw, s->sel);
		raw = tmp;
	}
	if (!s->mods)
		return raw;
	apply_modifiers(tmp, raw, s);
	return tmp;
}

/* Write-back */

typedef uint32_t v4u __attribute__((vector_size(16)));

static const v4u nibble_mask[16] __attribute__((aligned(16))) = {
	{ 0, 0, 0, 0 },	  { ~0u, 0, 0, 0 },   { 0, ~0u, 0, 0 },	  { ~0u, ~0u, 0, 0 },
	{ 0, 0, ~0u, 0 },   { ~0u, 0, ~0u, 0 },   { 0, ~0u, ~0u, 0 },	  { ~0u, ~0u, ~0u, 0 },
	{ 0, 0, 0, ~0u },   { ~0u, 0, 0, ~0u },   { 0, ~0u, 0, ~0u },	  { ~0u, ~0u, 0, ~0u },
	{ 0, 0, ~0u, ~0u }, { ~0u, 0, ~0u, ~0u }, { 0, ~0u, ~0u, ~0u }, { ~0u, ~0u, ~0u, ~0u },
};

void
sg_blend(uint32_t *d, const uint32_t *s, uint32_t mask)
{
	v4u *to = (v4u *)d;
	const v4u *from = (const v4u *)s;
	for (unsigned i = 0; i < SG_LANES / 4; i++) {
		v4u m = nibble_mask[mask >> 4 * i & 15];
		to[i] = (from[i] & m) | (to[i] & ~m);
	}
}

/* Output modifiers. omod only where the hardware honours it: IEEE off and denormal results flushed. */

static float
omod_f32(float v, unsigned omod)
{
	return omod == 1 ? v * 2 : omod == 2 ? v * 4 : v * 0.5f;
}

static void
post_f32(uint32_t *d, unsigned omod, bool clamp, bool dx10)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		float v;
		memcpy(&v, &d[i], 4);
		if (omod)
			v = omod_f32(v, omod);
		if (clamp && v != v)
			v = dx10 ? 0 : v;
		else if (clamp)
			v = v > 1 ? 1 : v < 0 ? 0 : v; /* -0 stays */
		memcpy(&d[i], &v, 4);
	}
}

static void
post_f64(uint32_t *d, unsigned omod, bool clamp, bool dx10)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint64_t bits = d[i] | (uint64_t)d[SG_LANES + i] << 32;
		double v;
		memcpy(&v, &bits, 8);
		if (omod)
			v = omod == 1 ? v * 2 : omod == 2 ? v * 4 : v * 0.5;
		if (clamp && v != v)
			v = dx10 ? 0 : v;
		else if (clamp)
			v = v > 1 ? 1 : v < 0 ? 0 : v;
		memcpy(&bits, &v, 8);
		d[i] = (uint32_t)bits;
		d[SG_LANES + i] = (uint32_t)(bits >> 32);
	}
}

static uint32_t
clamp_f16(uint32_t h, bool dx10)
{
	if ((h & 0x7fff) > 0x7c00)
		return dx10 ? 0 : h;
	return h > 0x8000 ? 0 : h == 0x8000 ? h : h > 0x3c00 ? 0x3c00 : h;
}

/* Doubling and halving of a normal half is an exponent change; f16 denormals are flushed when omod applies. */
static uint32_t
omod_f16(uint32_t h, unsigned omod)
{
	int exponent = h >> 10 & 31, change = omod == 1 ? 1 : omod == 2 ? 2 : -1;
	if (exponent == 31)
		return h;
	if (exponent == 0 || exponent + change <= 0)
		return h & 0x8000;
	if (exponent + change >= 31)
		return (h & 0x8000) | 0x7c00;
	return h + ((uint32_t)change << 10);
}

static void
post_f16(uint32_t *d, unsigned omod, bool clamp, bool dx10)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint32_t h = d[i] & 0xffff;
		h = omod ? omod_f16(h, omod) : h;
		d[i] = clamp ? clamp_f16(h, dx10) : h;
	}
}

static void
post_packed(uint32_t *d, bool dx10)
{
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = clamp_f16(d[i] & 0xffff, dx10) | clamp_f16(d[i] >> 16, dx10) << 16;
}

static void
post(const struct sg_wave *w, const struct sg_op *op, const struct sg_valu_op *v, uint32_t *d)
{
	bool clamp = op->flags & SG_OP_CLAMP, dx10 = w->mode & SG_MODE_DX10_CLAMP;
	bool wide = v->dst == SG_T_F64 || v->dst == SG_T_F16;
	bool flushes = (w->mode >> (wide ? 6 : 4) & 1) == 0;
	unsigned omod = flushes && !(w->mode & SG_MODE_IEEE_BIT) ? op->omod : 0;

	if (!(v->flags & SG_V_FLOAT_OUT) || (!omod && !clamp))
		return;
	switch (v->dst) {
	case SG_T_F32: post_f32(d, omod, clamp, dx10); break;
	case SG_T_F64: post_f64(d, omod, clamp, dx10); break;
	case SG_T_F16: post_f16(d, omod, clamp, dx10); break;
	case SG_T_PK16:
		if (clamp)
			post_packed(d, dx10);
		break;
	}
}

/* 16-bit results replace one half of the register. */
static void
merge_half(uint32_t *out, const uint32_t *old, bool high)
{
	for (unsigned i = 0; i < SG_LANES; i++)
		out[i] = high ? (old[i] & 0xffff) | out[i] << 16 : (old[i] & 0xffff0000) | (out[i] & 0xffff);
}

/* SDWA results go to a byte or word of the register; the rest becomes 0, copies of the sign, or stays. */
static void
merge_sdwa(uint32_t *out, const uint32_t *old, unsigned sdwa, bool is_16bit)
{
	unsigned part = sdwa >> 1 & 7, rest = sdwa >> 4;
	unsigned bits = part == 6 ? 32 : part < 4 ? 8 : 16, shift = part == 6 ? 0 : part < 4 ? 8 * part : 16 * (part & 1);
	uint32_t field = (bits == 32 ? UINT32_MAX : (1u << bits) - 1) << shift;

	for (unsigned i = 0; i < SG_LANES; i++) {
		uint32_t v = (is_16bit ? out[i] & 0xffff : out[i]) << shift & field;
		if (rest == SG_SDWA_PRESERVE)
			v |= old[i] & ~field;
		else if (rest == SG_SDWA_SEXT && bits < 32)
			v = (uint32_t)((int32_t)(v << (32 - bits - shift)) >> (32 - bits - shift));
		out[i] = v;
	}
}

static bool
is_16bit(unsigned type)
{
	return type == SG_T_B16 || type == SG_T_F16;
}

/* DPP moves only the first source; lanes without a valid source are not written, or read 0 with bound_ctrl. */
static const uint32_t *
fetch_dpp(const struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t *tmp, uint32_t *valid)
{
	const struct sg_operand *s = &op->src[0];
	uint32_t moved[2 * SG_LANES] __attribute__((aligned(128)));
	const uint32_t *raw = fetch_raw(w, s, half, tmp);
	unsigned dwords = sg_type_dwords(s->type);
	uint32_t ok = 0;

	for (unsigned i = 0; i < dwords && i < 2; i++)
		ok = sg_dpp_move(op, sg_exec(w, half), raw + SG_LANES * i, moved + SG_LANES * i);
	if (!(op->flags & SG_OP_BC))
		*valid &= ok;
	*valid &= sg_dpp_write_mask(op, half);
	if (s->mods)
		apply_modifiers(tmp, moved, s);
	else
		memcpy(tmp, moved, 4 * SG_LANES * (dwords < 2 ? 1 : 2));
	return tmp;
}

struct temps {
	uint32_t s[3][8 * SG_LANES] __attribute__((aligned(128)));
	uint32_t d[8 * SG_LANES] __attribute__((aligned(128)));
};

/* Returns the lane mask of operations that make one. */
static uint32_t
run_half(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec)
{
	const struct sg_valu_op *v = op->sem;
	struct temps t;
	const uint32_t *s[3];
	uint32_t write = exec;
	unsigned dwords = sg_type_dwords(v->dst);
	uint32_t *d = w->v[half][op->dst];
	struct sg_valu_env env = {
		.mode = w->mode, .exec = exec, .carry_in = w->sgpr[op->carry + half], .clamp = op->flags & SG_OP_CLAMP,
		.neg = op->neg, .abs = op->abs, .op_sel = op->op_sel, .op_sel_hi = op->op_sel_hi,
	};

	for (unsigned i = 0; i < 3; i++)
		s[i] = op->src[i].kind == SG_K_NONE ? t.d : i == 0 && op->dpp ? fetch_dpp(w, op, half, t.s[0], &write) :
			sg_fetch(w, &op->src[i], half, t.s[i]);
	bool direct = write == UINT32_MAX && !(op->flags & (SG_OP_PARTIAL | SG_OP_OVERLAP));
	uint32_t *out = direct ? d : t.d;
	if (!direct && (v->flags & SG_V_READS_DST)) {
		memcpy(out, d, 4 * SG_LANES * dwords);
		if (is_16bit(v->dst) && (op->flags & SG_OP_DST_HIGH))
			for (unsigned i = 0; i < SG_LANES; i++)
				out[i] >>= 16;
	}
	env.exec = write;
	v->fn(out, s[0], s[1], s[2], &env);
	if (!direct) {
		post(w, op, v, out);
		if (op->sdwa && dwords)
			merge_sdwa(out, d, op->sdwa, is_16bit(v->dst));
		else if (is_16bit(v->dst))
			merge_half(out, d, op->flags & SG_OP_DST_HIGH);
		for (unsigned i = 0; i < dwords; i++)
			sg_blend(d + SG_LANES * i, out + SG_LANES * i, write);
	}
	return v->flags & SG_V_WRITES_MASK ? env.mask_out & write : 0;
}

static const struct sg_op *
run_valu(struct sg_wave *w, const struct sg_op *op)
{
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half);
		if (exec)
			run_half(w, op, half, exec);
	}
	return op + 1;
}

/* Masks are written after both halves have read their operands: a source may be the destination. */
static const struct sg_op *
run_valu_mask(struct sg_wave *w, const struct sg_op *op)
{
	unsigned dst = op->flags & SG_OP_CMPX ? SG_REG_EXEC : op->sdst;
	uint32_t mask[2];

	for (unsigned half = 0; half < w->halves; half++)
		mask[half] = run_half(w, op, half, sg_exec(w, half));
	for (unsigned half = 0; half < w->halves; half++)
		w->sgpr[dst + half] = mask[half];
	return op + 1;
}

/* In wave64 C and D are four registers: register i holds row 4 i + lane / 16. The functions of valu_wmma.c know the
 * wave32 layout, row 2 i + lane / 16 in eight registers. */
static void
wmma_rows(struct sg_wave *w, unsigned reg, uint32_t *wave32, bool store)
{
	for (unsigned row = 0; row < 16; row++) {
		uint32_t *there = &w->v[row >> 1 & 1][reg + row / 4][(row & 1) * 16];
		uint32_t *here = &wave32[SG_LANES * (row / 2) + (row & 1) * 16];
		memcpy(store ? there : here, store ? here : there, 16 * 4);
	}
}

static void
wmma_wave64(struct sg_wave *w, const struct sg_op *op)
{
	const struct sg_valu_op *v = op->sem;
	struct temps t;
	struct sg_valu_env env = { .mode = w->mode, .exec = UINT32_MAX, .clamp = op->flags & SG_OP_CLAMP,
				   .neg = op->neg, .abs = op->abs, .op_sel = op->op_sel, .op_sel_hi = op->op_sel_hi };
	const uint32_t *a = sg_fetch(w, &op->src[0], 0, t.s[0]), *b = sg_fetch(w, &op->src[1], 0, t.s[1]);
	const uint32_t *c = op->src[2].splat;

	if (op->src[2].kind == SG_K_VGPR) {
		wmma_rows(w, op->src[2].reg, t.s[2], false);
		c = t.s[2];
	}
	wmma_rows(w, op->dst, t.d, false);
	v->fn(t.d, a, b, c, &env);
	wmma_rows(w, op->dst, t.d, true);
}

/* Matrix operations ignore exec. */
static const struct sg_op *
run_wmma(struct sg_wave *w, const struct sg_op *op)
{
	if (w->halves == 2)
		wmma_wave64(w, op);
	else
		run_half(w, op, 0, UINT32_MAX);
	return op + 1;
}

bool
sg_bind_valu(struct sg_insn *insn, enum sg_format format)
{
	enum { FORM_PLAIN, FORM_FMAMK, FORM_FMAAK, FORM_CMPX };
	char name[64];
	const char *n = insn->key;

	if (format < SG_FMT_VOP1 || format > SG_FMT_VOPDY)
		return false;
	if (!strncmp(n, "v_dual_", 7))
		snprintf(name, sizeof name, "v_%s", n + 7);
	else if (!strncmp(n, "v_cmpx_", 7)) {
		snprintf(name, sizeof name, "v_cmp_%s", n + 7);
		insn->form = FORM_CMPX;
	} else
		snprintf(name, sizeof name, "%s", n);
	if (!strncmp(name, "v_fmamk_", 8) || !strncmp(name, "v_fmaak_", 8)) {
		insn->form = name[5] == 'm' ? FORM_FMAMK : FORM_FMAAK;
		memmove(name + 5, name + 7, strlen(name + 7) + 1);
	}
	insn->sem = sg_valu_find(name);
	if (!insn->sem)
		return false;
	insn->family = SG_FAM_VALU;
	const struct sg_valu_op *v = insn->sem;
	insn->run = strstr(name, "wmma") ? run_wmma : v->flags & SG_V_WRITES_MASK ? run_valu_mask : run_valu;
	return true;
}
