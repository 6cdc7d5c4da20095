/* SPDX-License-Identifier: MIT */
/* decode_valu.c: VOP1, VOP2, VOPC, VOP3, VOP3P, VOPD, SDWA, DPP, and the lane moves that share these encodings. */
#include "decode_impl.h"

static unsigned
vgprs_of(unsigned type)
{
	static const uint8_t n[] = { [SG_T_B16] = 1, [SG_T_F16] = 1, [SG_T_B32] = 1, [SG_T_F32] = 1,   [SG_T_B64] = 2,
				     [SG_T_F64] = 2, [SG_T_PK16] = 1, [SG_T_B96] = 3, [SG_T_B128] = 4, [SG_T_B256] = 8 };
	return type < sizeof n ? n[type] : 0;
}

unsigned
sg_type_dwords(unsigned type)
{
	return vgprs_of(type);
}

/* Which of v_cndmask, v_mov: typeless, but float modifiers apply to them. */
bool
sg_takes_float_modifiers(const struct sg_op *op, unsigned type)
{
	if (type == SG_T_F16 || type == SG_T_F32 || type == SG_T_F64 || type == SG_T_PK16)
		return true;
	return strstr(op->insn->name, "cndmask") || strstr(op->insn->name, "v_mov_b");
}

static void
mark_overlap(struct sg_op *op, const struct sg_valu_op *v)
{
	unsigned n = vgprs_of(v->dst);
	if (sg_is_16bit(v->dst))
		op->flags |= SG_OP_PARTIAL;
	for (unsigned i = 0; i < 3; i++) {
		const struct sg_operand *s = &op->src[i];
		unsigned m = vgprs_of(s->type);
		if (s->kind != SG_K_VGPR || op->dst >= s->reg + m || s->reg >= op->dst + n)
			continue;
		if (op->dst != s->reg || n != m)
			op->flags |= SG_OP_OVERLAP;
	}
	if ((op->omod && (v->flags & SG_V_FLOAT_OUT)) || ((op->flags & SG_OP_CLAMP) && (v->flags & SG_V_FLOAT_OUT)))
		op->flags |= SG_OP_PARTIAL;
}

/* The DPP dword behind source code 233, 234 or 250; returns the real source. */
static unsigned
decode_dpp(struct dec *d, struct sg_op *op, unsigned code, bool own_modifiers)
{
	uint32_t w = sg_next_word(d);
	if (code == 250) {
		op->dpp = SG_DPP_16;
		op->ctrl = BITS(w, 16, 8);
		op->flags |= (BITS(w, 18, 18) ? SG_OP_FI : 0) | (BITS(w, 19, 19) ? SG_OP_BC : 0);
		op->bank_mask = BITS(w, 27, 24);
		op->row_mask = BITS(w, 31, 28);
		if (own_modifiers) {
			op->neg = BITS(w, 20, 20) | BITS(w, 22, 22) << 1;
			op->abs = BITS(w, 21, 21) | BITS(w, 23, 23) << 1;
		}
		bool known = op->ctrl < 0x100 || (op->ctrl > 0x100 && op->ctrl < 0x130 && (op->ctrl & 15)) ||
			     op->ctrl == 0x140 || op->ctrl == 0x141 || (op->ctrl >= 0x150 && op->ctrl < 0x170);
		if (!known)
			d->error = "has a DPP control that RDNA does not have";
	} else {
		op->dpp = SG_DPP_8;
		op->ctrl = w >> 8;
		op->flags |= code == 234 ? SG_OP_FI : 0;
		op->bank_mask = op->row_mask = 15;
	}
	return 256 + BITS(w, 7, 0);
}

static bool
is_dpp(unsigned code)
{
	return code == 250 || code == 233 || code == 234;
}

/* Modifiers of VOP1/2/C/3: neg, abs and op_sel bits to per-operand flags. */
static void
set_modifiers(struct sg_op *op, const struct sg_valu_op *v)
{
	if (v->flags & SG_V_RAW_MODIFIERS)
		return;
	for (unsigned i = 0; i < 3; i++) {
		struct sg_operand *s = &op->src[i];
		if (s->kind == SG_K_NONE)
			continue;
		if (sg_takes_float_modifiers(op, s->type)) {
			if (op->neg >> i & 1)
				s->mods |= s->type == SG_T_PK16 ? SG_MOD_NEG | SG_MOD_NEG_HI : SG_MOD_NEG;
			if (op->abs >> i & 1)
				s->mods |= SG_MOD_ABS;
		}
		/* constants are 16 bits wide already; a literal of 32 bits can be selected from */
		if (sg_is_16bit(s->type) && (op->op_sel >> i & 1))
			s->mods |= SG_MOD_HIGH;
	}
	if (sg_is_16bit(v->dst) && (op->op_sel & 8))
		op->flags |= SG_OP_DST_HIGH;
}

/* gfx11 VOP1/2/C name the upper half of v0..v127 by bit 7 of the register number. */
static void
true16(const struct dec *d, struct sg_operand *s)
{
	if (d->isa->arch == SG_ARCH_RDNA3 && s->kind == SG_K_VGPR && sg_is_16bit(s->type) && s->reg >= 128) {
		s->reg -= 128;
		s->mods |= SG_MOD_HIGH;
	}
}

static void
finish_valu(struct sg_op *op, const struct sg_valu_op *v)
{
	if (!strcmp(op->insn->name, "v_fma_mixhi_f16") && sg_is_16bit(v->dst))
		op->flags |= SG_OP_DST_HIGH;
	mark_overlap(op, v);
}

/* v_fmamk d = s0 * K + s1 and v_fmaak d = s0 * s1 + K are bound to v_fma. */
enum { FORM_PLAIN, FORM_FMAMK, FORM_FMAAK, FORM_CMPX };

static uint8_t
sdwa_part(struct dec *d, unsigned part, unsigned sign)
{
	if (part == 7)
		d->error = "selects an SDWA part that does not exist";
	return part == 6 ? 0 : (uint8_t)(1 + part + 8 * sign);
}

/* The SDWA dword behind source code 249. Fills both source codes. */
static void
decode_sdwa(struct dec *d, struct sg_op *op, enum sg_format format, unsigned code[2])
{
	uint32_t w = sg_next_word(d);
	bool sdst = format == SG_FMT_VOPC;

	code[0] = BITS(w, 7, 0) + (BITS(w, 23, 23) ? 0 : 256);
	code[1] += BITS(w, 31, 31) ? 0 : 256;
	if (code[0] == 255 || code[1] == 255)
		d->error = "has a literal behind SDWA";
	op->src[0].sel = sdwa_part(d, BITS(w, 18, 16), BITS(w, 19, 19));
	op->neg = BITS(w, 20, 20);
	op->abs = BITS(w, 21, 21);
	if (format != SG_FMT_VOP1) {
		op->src[1].sel = sdwa_part(d, BITS(w, 26, 24), BITS(w, 27, 27));
		op->neg |= BITS(w, 28, 28) << 1;
		op->abs |= BITS(w, 29, 29) << 1;
	}
	if (sdst) {
		op->sdwa = 1;
		if (BITS(w, 15, 15))
			op->sdst = sg_decode_sdst(d, BITS(w, 14, 8), 1);
		return;
	}
	op->sdwa = (uint8_t)(1 | BITS(w, 10, 8) << 1 | BITS(w, 12, 11) << 4);
	op->flags |= SG_OP_PARTIAL | (BITS(w, 13, 13) ? SG_OP_CLAMP : 0);
	op->omod = BITS(w, 15, 14);
	if (BITS(w, 10, 8) == 7 || BITS(w, 12, 11) == 3)
		d->error = "has an SDWA destination that does not exist";
}

/* SDWA and DPP move 32 bits. */
static bool
has_wide_operand(const struct sg_valu_op *v)
{
	return sg_is_64bit(v->dst) || sg_is_64bit(v->src[0]) || sg_is_64bit(v->src[1]);
}

static bool
is_sdwa(const struct dec *d, unsigned code)
{
	return code == 249 && d->isa->arch == SG_ARCH_RDNA2;
}

static void
decode_vop12c(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	const struct sg_valu_op *v = op->sem;
	unsigned code[2] = { BITS(w, 8, 0), BITS(w, 16, 9) }, form = op->insn->form;
	bool has_literal = form == FORM_FMAMK || form == FORM_FMAAK;

	if (format != SG_FMT_VOPC)
		op->dst = BITS(w, 24, 17);
	op->sdst = op->carry = SG_REG_VCC;
	bool extended = is_sdwa(d, code[0]) || is_dpp(code[0]);
	if (is_sdwa(d, code[0]))
		decode_sdwa(d, op, format, code);
	else {
		code[1] += 256;
		if (extended)
			code[0] = decode_dpp(d, op, code[0], true);
	}
	/* gfx10 compares have SDWA only, accumulating operations DPP only */
	bool gfx10 = d->isa->arch == SG_ARCH_RDNA2;
	bool missing = op->sdwa ? v->flags & SG_V_READS_DST : gfx10 && format == SG_FMT_VOPC;
	if (extended && (has_literal || has_wide_operand(v) || missing))
		d->error = "has no SDWA or DPP form";
	sg_decode_vector(d, &op->src[0], code[0], v->src[0], op->insn);
	true16(d, &op->src[0]);
	if (format != SG_FMT_VOP1) {
		unsigned slot = form == FORM_FMAMK ? 2 : 1;
		if (v->src[1] != SG_T_NONE && v->src[1] != SG_T_MASK) {
			sg_decode_vector(d, &op->src[slot], code[1], v->src[slot], op->insn);
			true16(d, &op->src[slot]);
		}
		if (has_literal)
			sg_decode_vector(d, &op->src[3 - slot], 255, v->src[3 - slot], op->insn);
	}
	set_modifiers(op, v);
	if (d->isa->arch == SG_ARCH_RDNA3 && sg_is_16bit(v->dst) && op->dst >= 128) {
		op->dst -= 128;
		op->flags |= SG_OP_DST_HIGH;
	}
	if (form == FORM_CMPX)
		op->flags |= SG_OP_CMPX;
	finish_valu(op, v);
}

/* gfx11 has DPP behind the 64-bit encodings, gfx10 does not. */
static void
dpp_of_vop3(struct dec *d, struct sg_op *op, unsigned *code)
{
	if (!is_dpp(*code))
		return;
	if (d->isa->arch != SG_ARCH_RDNA3 || has_wide_operand(op->sem))
		d->error = "has no DPP form";
	*code = decode_dpp(d, op, *code, false);
}

static bool
has_vector_src2(const struct sg_valu_op *v)
{
	return v->src[2] != SG_T_NONE && v->src[2] != SG_T_MASK;
}

/* gfx10 chooses halves only in operations that exist in this encoding alone. */
static bool
has_halves(const struct dec *d, uint32_t w)
{
	unsigned number = BITS(w, 25, 16);
	return d->isa->arch != SG_ARCH_RDNA2 || number >= 0x200 || (number >= 0x140 && number < 0x180);
}

/* Three-operand form. VOP3B (a mask destination beside the vector one) has sdst where abs and op_sel are. */
static void
decode_vop3(struct dec *d, struct sg_op *op, uint32_t w)
{
	const struct sg_valu_op *v = op->sem;
	uint32_t hi = sg_next_word(d);
	unsigned code[3] = { BITS(hi, 8, 0), BITS(hi, 17, 9), BITS(hi, 26, 18) };
	bool two_results = (v->flags & SG_V_WRITES_MASK) && !(v->flags & SG_V_COMPARE);

	op->flags |= BITS(w, 15, 15) ? SG_OP_CLAMP : 0;
	op->omod = BITS(hi, 28, 27);
	op->neg = BITS(hi, 31, 29);
	op->carry = SG_REG_VCC;
	if (two_results)
		op->sdst = sg_decode_sdst(d, BITS(w, 14, 8), 1);
	else {
		op->abs = BITS(w, 10, 8);
		op->op_sel = has_halves(d, w) ? BITS(w, 14, 11) : 0;
	}
	if (v->flags & SG_V_COMPARE) {
		op->sdst = sg_decode_sdst(d, BITS(w, 7, 0), 1);
		if (op->insn->form == FORM_CMPX)
			op->flags |= SG_OP_CMPX;
	} else
		op->dst = BITS(w, 7, 0);
	dpp_of_vop3(d, op, &code[0]);
	for (unsigned i = 0; i < 3; i++)
		if (v->src[i] != SG_T_NONE && v->src[i] != SG_T_MASK)
			sg_decode_vector(d, &op->src[i], code[i], v->src[i], op->insn);
	if ((v->flags & SG_V_READS_MASK) && !has_vector_src2(v)) {
		struct sg_operand mask = { 0 };
		sg_decode_scalar(d, &mask, code[2], SG_T_B32, false); /* wave32: one register, any */
		op->carry = mask.kind == SG_K_SGPR ? mask.reg : SG_REG_NULL;
		if (mask.kind != SG_K_SGPR && !(mask.kind == SG_K_CONST && mask.value == 0))
			d->error = "has a carry-in that is no scalar register";
	}
	op->op_sel_hi = 7;
	set_modifiers(op, v);
	finish_valu(op, v);
}

static void
packed_modifiers(struct sg_op *op, unsigned i, unsigned neg_hi)
{
	struct sg_operand *s = &op->src[i];
	if (s->type == SG_T_PK16) {
		s->mods |= (op->op_sel >> i & 1) ? SG_MOD_HIGH : 0;
		s->mods |= (op->op_sel_hi >> i & 1) ? 0 : SG_MOD_HI_LOW;
		s->mods |= (op->neg >> i & 1) ? SG_MOD_NEG : 0;
		s->mods |= (neg_hi >> i & 1) ? SG_MOD_NEG_HI : 0;
	} else if (sg_takes_float_modifiers(op, s->type) && (op->neg >> i & 1))
		s->mods |= SG_MOD_NEG;
}

/* fma_mix reads a constant in the width that op_sel_hi gives the operand. */
static unsigned
mix_type(const struct sg_op *op, unsigned i, unsigned type)
{
	if (!strncmp(op->insn->name, "v_fma_mix", 9))
		return op->op_sel_hi >> i & 1 ? SG_T_PK16 : SG_T_F32;
	return type;
}

static void
decode_vop3p(struct dec *d, struct sg_op *op, uint32_t w)
{
	const struct sg_valu_op *v = op->sem;
	uint32_t hi = sg_next_word(d);
	unsigned code[3] = { BITS(hi, 8, 0), BITS(hi, 17, 9), BITS(hi, 26, 18) };

	op->dst = BITS(w, 7, 0);
	op->flags |= BITS(w, 15, 15) ? SG_OP_CLAMP : 0;
	op->abs = BITS(w, 10, 8);	/* neg_hi */
	op->op_sel = BITS(w, 13, 11);
	op->op_sel_hi = BITS(hi, 28, 27) | BITS(w, 14, 14) << 2;
	op->neg = BITS(hi, 31, 29);
	dpp_of_vop3(d, op, &code[0]);
	for (unsigned i = 0; i < 3; i++) {
		if (v->src[i] == SG_T_NONE)
			continue;
		sg_decode_vector(d, &op->src[i], code[i], mix_type(op, i, v->src[i]), op->insn);
		op->src[i].type = v->src[i];
		if (!(v->flags & SG_V_RAW_MODIFIERS))
			packed_modifiers(op, i, op->abs);
	}
	if (!strcmp(op->insn->name, "v_fma_mixlo_f16"))
		op->op_sel &= 7;
	finish_valu(op, v);
}

/* VOPD: two VOP2-like halves that read everything before either writes. They run one after the other unless that
 * would be seen: then the other way round, and when each reads what the other writes, through a hidden register. */

static void
decode_dual(struct dec *d, struct sg_op *op, unsigned src0, unsigned vsrc1, unsigned dst)
{
	const struct sg_valu_op *v = op->sem;
	unsigned form = op->insn->form;
	unsigned slot = form == FORM_FMAMK ? 2 : 1;

	op->dst = dst;
	op->carry = SG_REG_VCC;
	sg_decode_vector(d, &op->src[0], src0, v->src[0], op->insn);
	if (v->src[1] != SG_T_NONE)
		sg_decode_vector(d, &op->src[slot], 256 + vsrc1, v->src[slot], op->insn);
	if (form == FORM_FMAMK || form == FORM_FMAAK)
		sg_decode_vector(d, &op->src[3 - slot], 255, v->src[3 - slot], op->insn);
	finish_valu(op, v);
}

static bool
reads_vgpr(const struct sg_op *op, unsigned reg)
{
	const struct sg_valu_op *v = op->sem;
	for (unsigned i = 0; i < 3; i++)
		if (op->src[i].kind == SG_K_VGPR && op->src[i].reg == reg)
			return true;
	return (v->flags & SG_V_READS_DST) && op->dst == reg;
}

static unsigned
decode_vopd(struct dec *d, struct sg_op *ops, const struct sg_insn *x, uint32_t w)
{
	uint32_t hi = sg_next_word(d);
	const struct sg_insn *y = sg_isa_find(d->isa, SG_FMT_VOPDY, BITS(w, 21, 17));
	const struct sg_insn *move = sg_isa_find(d->isa, SG_FMT_VOPDX, 8);
	struct sg_op a = ops[0], b = ops[0];

	if (!x || !y || x->family != SG_FAM_VALU || y->family != SG_FAM_VALU) {
		d->error = "is a VOPD pair with an unknown half";
		return 1;
	}
	b.insn = y;
	b.sem = y->sem;
	b.run = y->run;
	unsigned dst = BITS(hi, 31, 24);
	decode_dual(d, &a, BITS(w, 8, 0), BITS(w, 16, 9), dst);
	decode_dual(d, &b, BITS(hi, 8, 0), BITS(hi, 16, 9), BITS(hi, 23, 17) << 1 | (~dst & 1));
	bool b_first = reads_vgpr(&b, a.dst);
	if (!b_first || !reads_vgpr(&a, b.dst)) {
		ops[0] = b_first ? b : a;
		ops[1] = b_first ? a : b;
		return 2;
	}
	struct sg_op save = ops[0];
	save.insn = move;
	save.sem = move->sem;
	save.run = move->run;
	save.dst = SG_VGPR_HIDDEN;
	save.src[0] = (struct sg_operand){ .kind = SG_K_VGPR, .type = SG_T_B32, .reg = a.dst };
	for (unsigned i = 0; i < 3; i++)
		if (b.src[i].kind == SG_K_VGPR && b.src[i].reg == a.dst)
			b.src[i].reg = SG_VGPR_HIDDEN;
	ops[0] = save;
	ops[1] = a;
	ops[2] = b;
	return 3;
}

/* Lane moves: the fields of VOP1 and VOP3 without arithmetic types. */

static void
decode_lane_vop1(struct dec *d, struct sg_op *op, uint32_t w)
{
	unsigned code = BITS(w, 8, 0);
	bool half = strstr(op->insn->name, "_b16");

	op->dst = BITS(w, 24, 17);
	if (is_sdwa(d, code) || is_dpp(code))
		d->error = "has no SDWA or DPP form";
	sg_decode_vector(d, &op->src[0], code, half ? SG_T_B16 : SG_T_B32, op->insn);
	if (half) {
		true16(d, &op->src[0]);
		op->flags |= op->dst >= 128 ? SG_OP_DST_HIGH : 0;
		op->dst &= 127;
	}
}

static void
decode_lane_vop3(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	uint32_t hi = sg_next_word(d);
	unsigned code[3] = { BITS(hi, 8, 0), BITS(hi, 17, 9), BITS(hi, 26, 18) };
	unsigned operands = op->insn->form & 3;

	op->dst = BITS(w, 7, 0);
	op->op_sel = BITS(w, 14, 11);
	if (is_dpp(code[0]))
		d->error = "has no DPP form";
	for (unsigned i = 0; i < operands; i++) {
		sg_decode_vector(d, &op->src[i], code[i], SG_T_B32, op->insn);
		if (format == SG_FMT_VINTERP && (BITS(hi, 31, 29) >> i & 1))
			op->src[i].mods = SG_MOD_NEG;
	}
	/* lane numbers and the value that v_writelane writes are uniform */
	bool uniform = !strncmp(op->insn->key, "v_readlane", 10) || !strncmp(op->insn->key, "v_permlane", 10);
	bool first = !strncmp(op->insn->key, "v_writelane", 11);
	for (unsigned i = first ? 0 : 1; i < operands; i++)
		if ((uniform || first) && op->src[i].kind == SG_K_VGPR)
			d->error = "has a vector register where a scalar one belongs";
	if (format == SG_FMT_VINTERP)
		op->imm = BITS(w, 10, 8); /* wait_exp, for the disassembler */
	if (format == SG_FMT_VINTERP && BITS(w, 15, 15))
		d->error = "with clamp is not implemented";
}

void
sg_decode_lane(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	if (format == SG_FMT_VOP1)
		decode_lane_vop1(d, op, w);
	else if (format == SG_FMT_LDSDIR) {
		op->dst = BITS(w, 7, 0);
		op->imm = BITS(w, 19, 16); /* wait_vdst, for the disassembler */
	} else
		decode_lane_vop3(d, op, format, w);
	if (op->insn->form & 4) /* scalar destination */
		op->dst = sg_decode_sdst(d, op->dst, 1);
}

unsigned
sg_decode_valu(struct dec *d, struct sg_op *ops, enum sg_format format, uint32_t w)
{
	if (format == SG_FMT_VOPDX)
		return decode_vopd(d, ops, ops->insn, w);
	if (format == SG_FMT_VOP3)
		decode_vop3(d, ops, w);
	else if (format == SG_FMT_VOP3P)
		decode_vop3p(d, ops, w);
	else
		decode_vop12c(d, ops, format, w);
	return 1;
}
