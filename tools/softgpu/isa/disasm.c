/* SPDX-License-Identifier: MIT */
/* disasm.c: instructions as text for reports, in LLVM's syntax for wave32 without the _e32, _e64, _dpp and _sdwa
 * suffixes; tests/peers/decode compares the two. Immediates of waits, messages and hardware registers stay numbers. */
#include "disasm_impl.h"
#include "salu.h"

#include <stdarg.h>
#include <stdio.h>

void
sg_put(struct sg_text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(t->at, t->room, format, args);
	va_end(args);
	size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room ? t->room - 1 : 0;
	t->at += used;
	t->room -= used;
}

void
sg_put_comma(struct sg_text *t)
{
	sg_put(t, t->operands ? ", " : " ");
	t->operands = true;
}

static void
vgpr_name(struct sg_text *t, unsigned reg, unsigned dwords)
{
	reg = reg == SG_VGPR_HIDDEN ? t->hidden : reg;
	if (dwords > 1)
		sg_put(t, "v[%u:%u]", reg, reg + dwords - 1);
	else
		sg_put(t, "v%u", reg);
}

void
sg_put_vgpr(struct sg_text *t, unsigned reg, unsigned dwords)
{
	sg_put_comma(t);
	vgpr_name(t, reg, dwords);
}

static void
sgpr_name(struct sg_text *t, unsigned reg, unsigned dwords)
{
	static const char *const special[] = { "vcc_lo", "vcc_hi", "null", "m0", "exec_lo", "exec_hi", "null" };
	if (reg == SG_REG_VCC && dwords == 2)
		sg_put(t, "vcc");
	else if (reg == SG_REG_EXEC && dwords == 2)
		sg_put(t, "exec");
	else if (reg == SG_REG_VCC || reg == SG_REG_VCC + 1)
		sg_put(t, "%s", special[reg - SG_REG_VCC]);
	else if (reg >= SG_REG_NULL && reg <= SG_REG_SINK)
		sg_put(t, "%s", special[reg - SG_REG_NULL + 2]);
	else if (dwords > 1)
		sg_put(t, "%s[%u:%u]", reg < SG_REG_TTMP ? "s" : "ttmp", reg < SG_REG_TTMP ? reg : reg - SG_REG_TTMP,
		       (reg < SG_REG_TTMP ? reg : reg - SG_REG_TTMP) + dwords - 1);
	else
		sg_put(t, "%s%u", reg < SG_REG_TTMP ? "s" : "ttmp", reg < SG_REG_TTMP ? reg : reg - SG_REG_TTMP);
}

void
sg_put_sgpr(struct sg_text *t, unsigned reg, unsigned dwords)
{
	sg_put_comma(t);
	sgpr_name(t, reg, dwords);
}

/* Constants as they are encoded. */
static void
constant_name(struct sg_text *t, const struct sg_operand *s)
{
	static const char *const floats[] = { "0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0" };
	static const char *const special[] = { "src_shared_base", "src_shared_limit", "src_private_base",
					       "src_private_limit", "src_pops_exiting_wave_id" };
	bool wide = s->type == SG_T_B64 || s->type == SG_T_F64;

	bool half = (s->type == SG_T_B16 || s->type == SG_T_F16) && !t->wide_literal;
	if (s->code == 255)
		sg_put(t, "0x%x", (unsigned)(s->type == SG_T_F64 ? s->value >> 32 : s->value) & (half ? 0xffff : ~0u));
	else if (s->code == 124 || s->code == 125)
		sg_put(t, "null");
	else if (s->code >= 235 && s->code <= 239)
		sg_put(t, "%s", special[s->code - 235]);
	else if (s->code == 248)
		sg_put(t, "%s", wide ? "0.15915494309189532" : "0.15915494");
	else if (s->code >= 240 && s->code < 248)
		sg_put(t, "%s", floats[s->code - 240]);
	else
		sg_put(t, "%d", (int)s->value);
}

static void
source_name(struct sg_text *t, const struct sg_operand *s)
{
	unsigned dwords = sg_type_dwords(s->type);
	switch (s->kind) {
	case SG_K_VGPR: vgpr_name(t, s->reg, dwords); break;
	case SG_K_SGPR: sgpr_name(t, s->reg, dwords == 2 ? 2 : 1); break;
	case SG_K_CONST: constant_name(t, s); break;
	case SG_K_SCC: sg_put(t, "src_scc"); break;
	case SG_K_VCCZ: sg_put(t, "src_vccz"); break;
	case SG_K_EXECZ: sg_put(t, "src_execz"); break;
	case SG_K_LDS_DIRECT: sg_put(t, "src_lds_direct"); break;
	}
}

void
sg_put_source(struct sg_text *t, const struct sg_operand *s)
{
	if (s->kind == SG_K_NONE)
		return;
	sg_put_comma(t);
	source_name(t, s);
}

/* Vector ALU */

static bool
is_packed(const struct sg_op *op)
{
	return op->format == SG_FMT_VOP3P;
}

/* True 16-bit operands of gfx11's short encodings name a half of their register. */
static const char *
half_name(const struct sg_op *op, bool high)
{
	bool brief = op->format == SG_FMT_VOP1 || op->format == SG_FMT_VOP2 || op->format == SG_FMT_VOPC;
	return high && brief && !op->sdwa ? ".h" : "";
}

/* neg and abs of the scalar-float kind; packed operations list theirs behind. */
static void
put_modified(struct sg_text *t, const struct sg_op *op, unsigned i)
{
	const struct sg_operand *s = &op->src[i];
	bool mix = !strncmp(op->insn->key, "v_fma_mix", 9);
	bool has = is_packed(op) ? mix : sg_takes_float_modifiers(op, s->type);
	bool neg = has && (op->neg >> i & 1), abs = has && (op->abs >> i & 1), sext = s->sel & 8;
	bool number = s->kind == SG_K_CONST && s->code >= 128 && (s->code < 235 || s->code > 239);
	bool call = neg && !abs && number;

	if (s->kind == SG_K_NONE)
		return;
	t->wide_literal = !strncmp(op->insn->key, i == 1 ? "v_fmamk" : i == 2 ? "v_fmaak" : "-", 7);
	sg_put_comma(t);
	sg_put(t, "%s%s%s", neg ? (call ? "neg(" : "-") : "", abs ? "|" : "", sext ? "sext(" : "");
	source_name(t, s);
	sg_put(t, "%s", half_name(op, s->kind == SG_K_VGPR && (s->mods & SG_MOD_HIGH)));
	sg_put(t, "%s%s%s", sext ? ")" : "", abs ? "|" : "", call ? ")" : "");
}

static unsigned
source_count(const struct sg_op *op)
{
	unsigned n = 0;
	while (n < 3 && op->src[n].kind != SG_K_NONE)
		n++;
	return n;
}

static void
put_bits(struct sg_text *t, const char *name, unsigned bits, unsigned count)
{
	sg_put(t, " %s:[", name);
	for (unsigned i = 0; i < count; i++)
		sg_put(t, "%s%u", i ? "," : "", bits >> i & 1);
	sg_put(t, "]");
}

static void
put_packed_modifiers(struct sg_text *t, const struct sg_op *op)
{
	unsigned n = source_count(op), all = (1u << n) - 1;
	bool mix = !strncmp(op->insn->key, "v_fma_mix", 9);
	unsigned usual = mix ? 0 : all;
	bool matrix = strstr(op->insn->key, "wmma");

	if (op->op_sel & all)
		put_bits(t, "op_sel", op->op_sel, n);
	if ((op->op_sel_hi & all) != usual && !matrix)
		put_bits(t, "op_sel_hi", op->op_sel_hi, n);
	if (!mix && (op->neg & all))
		put_bits(t, "neg_lo", op->neg, n);
	if (!mix && (op->abs & all))
		put_bits(t, "neg_hi", op->abs, n);
}

static bool
is_half(unsigned type)
{
	return type == SG_T_B16 || type == SG_T_F16;
}

/* VOP3: a bit for each source and one for the result, which has bit 3 whatever their number. Only 16-bit operands have
 * halves to choose from. */
static void
put_op_sel(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_valu_op *v = op->sem;
	unsigned n = source_count(op), bits = 0;
	bool result = !(v->flags & SG_V_COMPARE);

	bool halves = is_half(v->dst);
	for (unsigned i = 0; i < n; i++) {
		halves |= is_half(v->src[i]);
		bits |= is_half(v->src[i]) ? op->op_sel & 1u << i : 0;
	}
	n += (v->flags & SG_V_READS_DST) != 0; /* the old result counts as a source */
	if (halves && result)
		bits |= (op->op_sel >> 3 & 1u) << n;
	if (bits)
		put_bits(t, "op_sel", bits, n + result);
}

static void
put_dpp_control(struct sg_text *t, unsigned ctrl)
{
	static const char *const shifts[] = { "row_shl", "row_shr", "row_ror" };
	if (ctrl < 0x100)
		sg_put(t, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3);
	else if (ctrl < 0x130)
		sg_put(t, " %s:%u", shifts[(ctrl >> 4) & 3], ctrl & 15);
	else if (ctrl < 0x150)
		sg_put(t, ctrl & 1 ? " row_half_mirror" : " row_mirror");
	else
		sg_put(t, " %s:%u", ctrl < 0x160 ? "row_share" : "row_xmask", ctrl & 15);
}

static void
put_dpp(struct sg_text *t, const struct sg_op *op)
{
	if (op->dpp == SG_DPP_16) {
		put_dpp_control(t, op->ctrl);
		sg_put(t, " row_mask:0x%x bank_mask:0x%x", op->row_mask, op->bank_mask);
		if (op->flags & SG_OP_BC)
			sg_put(t, " bound_ctrl:1");
	} else if (op->dpp == SG_DPP_8) {
		sg_put(t, " dpp8:[");
		for (unsigned i = 0; i < 8; i++)
			sg_put(t, "%s%u", i ? "," : "", op->ctrl >> 3 * i & 7);
		sg_put(t, "]");
	}
	if (op->dpp && (op->flags & SG_OP_FI))
		sg_put(t, " fi:1");
}

static void
put_sdwa(struct sg_text *t, const struct sg_op *op)
{
	static const char *const part[] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "" };
	static const char *const unused[] = { "UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "" };
	if (op->format != SG_FMT_VOPC)
		sg_put(t, " dst_sel:%s dst_unused:%s", part[op->sdwa >> 1 & 7], unused[op->sdwa >> 4 & 3]);
	for (unsigned i = 0; i < 2 && op->src[i].kind != SG_K_NONE; i++)
		sg_put(t, " src%u_sel:%s", i, part[op->src[i].sel ? (op->src[i].sel & 7) - 1 : 6]);
}

static void
put_valu_modifiers(struct sg_text *t, const struct sg_op *op)
{
	static const char *const omod[] = { "", " mul:2", " mul:4", " div:2" };
	if (is_packed(op))
		put_packed_modifiers(t, op);
	else if (op->format == SG_FMT_VOP3)
		put_op_sel(t, op);
	if (op->flags & SG_OP_CLAMP)
		sg_put(t, " clamp");
	sg_put(t, "%s", omod[op->omod & 3]);
	put_dpp(t, op);
	if (op->sdwa)
		put_sdwa(t, op);
}

static void
put_valu(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_valu_op *v = op->sem;
	bool compare = v->flags & SG_V_COMPARE;

	if (compare && !(op->flags & SG_OP_CMPX))
		sg_put_sgpr(t, op->sdst, 1);
	else if (!compare) {
		sg_put_vgpr(t, op->dst, sg_type_dwords(v->dst));
		sg_put(t, "%s", half_name(op, op->flags & SG_OP_DST_HIGH));
	}
	if ((v->flags & SG_V_WRITES_MASK) && !compare)
		sg_put_sgpr(t, op->sdst, 1);
	for (unsigned i = 0; i < 3; i++)
		put_modified(t, op, i);
	/* v_div_fmas and the halves of a pair read vcc without naming it */
	bool pair = op->format == SG_FMT_VOPDX;
	if ((v->flags & SG_V_READS_MASK) && op->src[2].kind == SG_K_NONE && !pair)
		sg_put_sgpr(t, op->carry, 1);
	put_valu_modifiers(t, op);
}

/* Lane moves */

static void
put_lane(struct sg_text *t, const struct sg_op *op)
{
	if (op->insn->form & 4)
		sg_put_sgpr(t, op->dst, 1);
	else
		sg_put_vgpr(t, op->dst, 1);
	sg_put(t, "%s", half_name(op, op->flags & SG_OP_DST_HIGH));
	for (unsigned i = 0; i < 3 && op->src[i].kind != SG_K_NONE; i++) {
		sg_put_comma(t);
		sg_put(t, "%s", op->src[i].mods & SG_MOD_NEG ? "-" : "");
		source_name(t, &op->src[i]);
		sg_put(t, "%s", half_name(op, op->src[i].mods & SG_MOD_HIGH));
	}
	if (op->format == SG_FMT_VOP3 && strstr(op->insn->key, "permlane") && (op->op_sel & 3))
		put_bits(t, "op_sel", op->op_sel & 3, 2);
	if (op->format == SG_FMT_VINTERP)
		sg_put(t, " wait_exp:%u", (unsigned)op->imm);
	if (op->format == SG_FMT_LDSDIR)
		sg_put(t, " wait_vdst:%u", (unsigned)op->imm);
}

/* Scalar ALU and control */

static void
put_salu(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_salu_op *s = op->sem;
	bool immediate = op->format == SG_FMT_SOPK || op->format == SG_FMT_SOPP;

	if (s->dst)
		sg_put_sgpr(t, op->dst, s->dst);
	if (s->a && !(op->format == SG_FMT_SOPK && s->dst))
		sg_put_source(t, &op->src[0]);
	if (s->b && op->format != SG_FMT_SOPK)
		sg_put_source(t, &op->src[1]);
	bool optional = !strncmp(op->insn->key, "s_endpgm", 8) || !strcmp(op->insn->key, "s_barrier");
	if (immediate && (op->imm || !optional)) {
		sg_put_comma(t);
		sg_put(t, "0x%x", (unsigned)op->imm & 0xffff);
	}
	if (s->wants_literal) {
		sg_put_comma(t);
		sg_put(t, "0x%x", (unsigned)op->src[2].value);
	}
}

static void
put_op(struct sg_text *t, const struct sg_op *op)
{
	t->operands = false;
	sg_put(t, "%s", op->insn ? op->insn->name : "illegal");
	if (!op->insn || op->run == sg_run_illegal || op->run == sg_run_unimplemented)
		return;
	switch (op->insn->family) {
	case SG_FAM_SALU:
	case SG_FAM_FLOW: put_salu(t, op); break;
	case SG_FAM_VALU: put_valu(t, op); break;
	case SG_FAM_LANE: put_lane(t, op); break;
	case SG_FAM_SMEM: sg_put_smem(t, op); break;
	case SG_FAM_LDS: sg_put_lds(t, op); break;
	case SG_FAM_VMEM: sg_put_vmem(t, op); break;
	case SG_FAM_IMAGE: sg_put_image(t, op); break;
	}
}

/* The halves of a VOPD pair may run in either order; X is written first. */
static void
put_pair(struct sg_text *t, const struct sg_isa *isa, const struct sg_op *ops, unsigned count)
{
	const struct sg_insn *x = sg_isa_find(isa, SG_FMT_VOPDX, ops[0].pair);
	unsigned first = count == 3; /* behind the copy to the hidden register */

	if (first)
		t->hidden = ops[0].src[0].reg;
	unsigned at = ops[first].insn == x ? first : first + 1;
	put_op(t, &ops[at]);
	sg_put(t, " :: ");
	put_op(t, &ops[at == first ? first + 1 : first]);
}

unsigned
sg_disassemble(enum sg_arch arch, const uint32_t *words, unsigned dwords, char *text, size_t text_bytes)
{
	const struct sg_isa *isa = sg_isa_get(arch);
	struct sg_op ops[SG_DECODE_MAX_OPS];
	struct sg_pool pool = { 0 };
	struct sg_text t = { .at = text, .room = text_bytes };
	unsigned count, number;

	if (text_bytes)
		*text = 0;
	if (!isa || !dwords)
		return 0;
	unsigned size = sg_decode(isa, &pool, 0, words, dwords, ops, &count);
	enum sg_format format = sg_classify(isa, words, dwords, &number);
	const struct sg_insn *insn = sg_isa_find(isa, format, number);
	if (size && count == 0 && insn)
		sg_put(&t, "%s", insn->name);
	else if (size && count > 1)
		put_pair(&t, isa, ops, count);
	else if (size && count)
		put_op(&t, &ops[0]);
	sg_pool_free(&pool);
	return insn ? size : 0;
}
