/* SPDX-License-Identifier: MIT */
/* decode.c: encodings, operands and scalar instructions. Field positions are those of the RDNA2 and RDNA3 ISA
 * documents, checked with LLVM 19. */
#include "decode_impl.h"
#include "salu.h"

uint32_t
sg_literal(struct dec *d)
{
	if (!d->literal_taken) {
		d->literal = sg_next_word(d);
		d->literal_taken = true;
	}
	return d->literal;
}

/* Encodings of 32 bits whose first bit is 0, and scalar ones. */
static enum sg_format
classify_short(uint32_t w, unsigned *number)
{
	if (w >> 31 == 0) {
		if (w >> 25 == 0x3f)
			return *number = BITS(w, 16, 9), SG_FMT_VOP1;
		if (w >> 25 == 0x3e)
			return *number = BITS(w, 24, 17), SG_FMT_VOPC;
		return *number = BITS(w, 30, 25), SG_FMT_VOP2;
	}
	if (w >> 23 == 0x17d)
		return *number = BITS(w, 15, 8), SG_FMT_SOP1;
	if (w >> 23 == 0x17e)
		return *number = BITS(w, 22, 16), SG_FMT_SOPC;
	if (w >> 23 == 0x17f)
		return *number = BITS(w, 22, 16), SG_FMT_SOPP;
	if (w >> 28 == 0xb)
		return *number = BITS(w, 27, 23), SG_FMT_SOPK;
	return *number = BITS(w, 29, 23), SG_FMT_SOP2;
}

static const enum sg_format flat_segments[4] = { SG_FMT_FLAT, SG_FMT_SCRATCH, SG_FMT_GLOBAL, SG_FMT_NONE };

static enum sg_format
classify_gfx10(uint32_t w, uint32_t hi, unsigned *number)
{
	switch (w >> 26) {
	case 0x32: return *number = BITS(w, 17, 16), SG_FMT_VINTRP;
	case 0x37: return *number = BITS(w, 24, 18), flat_segments[BITS(w, 15, 14)];
	case 0x38: return *number = BITS(w, 24, 18) | BITS(w, 25, 25) << 7, SG_FMT_MUBUF;
	case 0x3a: return *number = BITS(w, 18, 16) | BITS(hi, 21, 21) << 3, SG_FMT_MTBUF;
	case 0x3c: return *number = BITS(w, 24, 18) | BITS(w, 0, 0) << 7, SG_FMT_MIMG;
	}
	return *number = 0, SG_FMT_NONE;
}

static enum sg_format
classify_gfx11(uint32_t w, unsigned *number)
{
	switch (w >> 26) {
	case 0x32: return *number = BITS(w, 25, 22), SG_FMT_VOPDX;
	case 0x33:
		if (w >> 24 == 0xcd)
			return *number = BITS(w, 22, 16), SG_FMT_VINTERP;
		if (w >> 24 == 0xce)
			return *number = BITS(w, 21, 20), SG_FMT_LDSDIR;
		break;
	case 0x37: return *number = BITS(w, 24, 18), flat_segments[BITS(w, 17, 16)];
	case 0x38: return *number = BITS(w, 25, 18), SG_FMT_MUBUF;
	case 0x3a: return *number = BITS(w, 18, 15), SG_FMT_MTBUF;
	case 0x3c: return *number = BITS(w, 25, 18), SG_FMT_MIMG;
	}
	return *number = 0, SG_FMT_NONE;
}

enum sg_format
sg_classify(const struct sg_isa *isa, const uint32_t *words, unsigned count, unsigned *number)
{
	uint32_t w = words[0];
	if (w >> 30 != 3)
		return classify_short(w, number);
	switch (w >> 26) {
	case 0x33:
		if (w >> 23 == 0x198)
			return *number = BITS(w, 22, 16), SG_FMT_VOP3P;
		break;
	case 0x35: return *number = BITS(w, 25, 16), SG_FMT_VOP3;
	case 0x36: return *number = BITS(w, 25, 18), SG_FMT_DS;
	case 0x3d: return *number = BITS(w, 25, 18), SG_FMT_SMEM;
	case 0x3e: return *number = 0, SG_FMT_EXP;
	}
	if (isa->arch == SG_ARCH_RDNA2)
		return classify_gfx10(w, count > 1 ? words[1] : 0, number);
	return classify_gfx11(w, number);
}

/* Operands */

/* Codes 240..248: +-0.5, +-1, +-2, +-4, 1/(2 pi) in the width of the operand; 16-bit integers see the f32 pattern. */
static uint64_t
float_constant(unsigned code, unsigned type)
{
	static const uint16_t f16[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118 };
	static const uint32_t f32[] = { 0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
					0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983 };
	static const uint64_t f64[] = { 0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000,
					0x4000000000000000, 0xc000000000000000, 0x4010000000000000, 0xc010000000000000,
					0x3fc45f306dc9c882 };
	if (type == SG_T_F16 || type == SG_T_PK16)
		return f16[code - 240];
	return sg_is_64bit(type) ? f64[code - 240] : f32[code - 240];
}

static void
set_constant(struct sg_operand *s, uint64_t value)
{
	s->kind = SG_K_CONST;
	s->value = value;
}

/* Scalar codes 0..255 except those that name a literal or DPP. */
static bool
scalar_code(struct dec *d, struct sg_operand *s, unsigned code)
{
	s->code = (uint8_t)code;
	if (code == d->isa->null_code)
		set_constant(s, 0);
	else if (code < 128) {
		s->kind = SG_K_SGPR;
		s->reg = code == d->isa->m0_code ? SG_REG_M0 : code;
		if (sg_is_64bit(s->type) && s->reg == SG_REG_M0)
			d->error = "has m0 as a register pair";
		else if (sg_is_64bit(s->type)) /* pairs are even-aligned; the low bit does not count */
			s->reg &= (uint16_t)~1u;
	} else if (code <= 192)
		set_constant(s, code - 128);
	else if (code <= 208)
		set_constant(s, (uint64_t)(int64_t)(192 - (int)code));
	else if (code >= 240 && code <= 248)
		set_constant(s, float_constant(code, s->type));
	else if (code >= 235 && code <= 238)
		set_constant(s, ((uint64_t)(code < 237 ? 0x20000000 : 0x10000000) << 32) | (code & 1 ? 0 : 0xffffffff));
	else if (code == 239) /* POPS_EXITING_WAVE_ID: pixel shaders only */
		set_constant(s, 0);
	else if (code == 251)
		s->kind = SG_K_VCCZ;
	else if (code == 252)
		s->kind = SG_K_EXECZ;
	else if (code == 253)
		s->kind = SG_K_SCC;
	else
		return false;
	return true;
}

/* A 32-bit literal seen by an operand: 64-bit floats take it as the high half. */
static uint64_t
widen_literal(uint32_t value, unsigned type, bool sign)
{
	if (type == SG_T_F64)
		return (uint64_t)value << 32;
	if (type == SG_T_B64 && sign)
		return (uint64_t)(int64_t)(int32_t)value;
	return value;
}

void
sg_decode_scalar(struct dec *d, struct sg_operand *s, unsigned code, unsigned type, bool sign)
{
	s->type = type;
	if (code == 255) {
		s->code = 255;
		set_constant(s, widen_literal(sg_literal(d), type, sign));
	} else if (!scalar_code(d, s, code))
		d->error = "has an operand code without meaning";
}

uint16_t
sg_decode_sdst(struct dec *d, unsigned code, unsigned dwords)
{
	if (code == d->isa->null_code)
		return SG_REG_SINK;
	if (code == d->isa->m0_code)
		code = SG_REG_M0;
	if (code > 127 || (code == SG_REG_M0 && dwords > 1)) {
		d->error = "writes past the scalar registers";
		return SG_REG_SINK;
	}
	/* pairs are even-aligned, longer runs by four; the low bits do not count */
	if (dwords > 1 && code != SG_REG_M0)
		code &= ~(dwords > 2 ? 3u : 1u);
	unsigned end = code + dwords;
	if ((code <= 105 && end > 108) || (code <= 123 && end > 124) || end > 128) {
		d->error = "writes past the scalar registers";
		return SG_REG_SINK;
	}
	return (uint16_t)code;
}

/* Vector operand: 9-bit code. Constants become lane arrays now. */
void
sg_decode_vector(struct dec *d, struct sg_operand *s, unsigned code, unsigned type, const struct sg_insn *insn)
{
	s->type = type;
	if (code >= 256) {
		s->kind = SG_K_VGPR;
		s->reg = code - 256;
		return;
	}
	if (code == 254 && d->isa->arch == SG_ARCH_RDNA2 && !sg_is_64bit(type)) {
		s->kind = SG_K_LDS_DIRECT;
		return;
	}
	const char *end = insn->name + strlen(insn->name) - 4;
	if (code == 255) {
		s->code = 255;
		set_constant(s, widen_literal(sg_literal(d), type, end > insn->name && !strcmp(end, "_i64")));
	} else if (!scalar_code(d, s, code)) {
		d->error = "has an operand code without meaning";
		return;
	}
	if (s->kind != SG_K_CONST) {
		if (type >= SG_T_B96 && type <= SG_T_B256)
			d->error = "has a scalar register as matrix operand";
		return;
	}
	if (type == SG_T_PK16 && code >= 240 && code <= 248 && !strstr(insn->name, "f16"))
		s->value = float_constant(code, SG_T_B32);
	if (type == SG_T_B256 && code >= 240 && code <= 248 && strstr(insn->name, "wmma_f16"))
		s->value = float_constant(code, SG_T_F16);
	unsigned dwords = type == SG_T_B256 ? 8 : type == SG_T_B128 ? 4 : type == SG_T_B96 ? 3 : sg_is_64bit(type) ? 2 : 1;
	s->splat = sg_pool_splat(d->pool, s->value, dwords, dwords > 2);
}

/* SALU */

static void
decode_salu(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	const struct sg_salu_op *s = op->sem;
	unsigned dst = BITS(w, 22, 16);

	op->imm = (int16_t)w;
	if (format == SG_FMT_SOPP)
		return;
	unsigned a_type = s->a == 2 ? SG_T_B64 : SG_T_B32, b_type = s->b == 2 ? SG_T_B64 : SG_T_B32;
	if (format == SG_FMT_SOPK) {
		sg_decode_scalar(d, &op->src[0], dst, a_type, false);
		set_constant(&op->src[1], s->zero_extends ? (uint16_t)w : (uint64_t)(int64_t)(int16_t)w);
		if (s->wants_literal)
			set_constant(&op->src[2], sg_literal(d));
	} else {
		if (s->a)
			sg_decode_scalar(d, &op->src[0], BITS(w, 7, 0), a_type, s->sign);
		if (s->b)
			sg_decode_scalar(d, &op->src[1], BITS(w, 15, 8), b_type, s->sign);
	}
	if (s->dst)
		op->dst = sg_decode_sdst(d, dst, s->dst);
}

/* SMEM */

static void
decode_smem(struct dec *d, struct sg_op *op, uint32_t w)
{
	bool gfx10 = d->isa->arch == SG_ARCH_RDNA2;
	uint32_t hi = sg_next_word(d);

	if (op->insn->family == SG_FAM_FLOW) { /* s_memtime, s_memrealtime */
		op->dst = sg_decode_sdst(d, BITS(w, 12, 6), 2);
		return;
	}
	op->size = op->insn->form & 31;
	op->addr = BITS(w, 5, 0) * 2;
	if (!strncmp(op->insn->key, "s_buffer", 8))
		op->addr &= (uint16_t)~3u; /* V# is aligned by four */
	if (op->addr > 122 || (op->addr == 104 && !strncmp(op->insn->key, "s_buffer", 8)))
		d->error = "has its address outside the scalar registers";
	op->flags |= BITS(w, gfx10 ? 16 : 14, gfx10 ? 16 : 14) ? SG_OP_GLC : 0;
	op->flags |= BITS(w, gfx10 ? 14 : 13, gfx10 ? 14 : 13) ? SG_OP_DLC : 0;
	op->imm = (int32_t)(hi << 11) >> 11;
	sg_decode_scalar(d, &op->src[0], BITS(hi, 31, 25), SG_T_B32, false);
	op->dst = sg_decode_sdst(d, BITS(w, 12, 6), op->size);
}

/* All */

static unsigned
format_words(const struct sg_isa *isa, enum sg_format format, uint32_t w)
{
	switch (format) {
	case SG_FMT_VOP3: case SG_FMT_VOP3P: case SG_FMT_VOPDX: case SG_FMT_VINTERP: case SG_FMT_SMEM: case SG_FMT_DS:
	case SG_FMT_FLAT: case SG_FMT_GLOBAL: case SG_FMT_SCRATCH: case SG_FMT_MUBUF: case SG_FMT_MTBUF:
	case SG_FMT_EXP:
		return 2;
	case SG_FMT_MIMG: /* non-sequential addresses follow */
		return 2 + (isa->arch == SG_ARCH_RDNA2 ? BITS(w, 2, 1) : BITS(w, 0, 0));
	default:
		return 1;
	}
}

/* Instructions that do nothing or cannot run: only their size matters. VOP1 v_nop may name a literal or carry DPP. */
static void
skip_body(struct dec *d, enum sg_format format, uint32_t w)
{
	unsigned code = BITS(w, 8, 0);
	bool more = format == SG_FMT_VOP1 && (code == 255 || code == 250 || code == 233 || code == 234 || code == 249);
	d->used = format_words(d->isa, format, w) + more;
}

/* Returns how many operations the instruction became. */
static unsigned
decode_body(struct dec *d, struct sg_op *ops, enum sg_format format, uint32_t w)
{
	struct sg_op *op = &ops[0];
	switch (op->insn->family) {
	case SG_FAM_SALU:
	case SG_FAM_FLOW:
		if (format == SG_FMT_SMEM)
			decode_smem(d, op, w);
		else
			decode_salu(d, op, format, w);
		return 1;
	case SG_FAM_SMEM: decode_smem(d, op, w); return 1;
	case SG_FAM_LANE: sg_decode_lane(d, op, format, w); return 1;
	case SG_FAM_LDS: sg_decode_lds(d, op, w); return 1;
	case SG_FAM_VMEM: sg_decode_vmem(d, op, format, w); return 1;
	case SG_FAM_IMAGE: sg_decode_image(d, op, w); return 1;
	case SG_FAM_VALU: return sg_decode_valu(d, ops, format, w);
	case SG_FAM_DROP: skip_body(d, format, w); return 0;
	default: skip_body(d, format, w); return 1;
	}
}

static void
make_illegal(struct sg_op *op, const struct sg_insn *insn, const char *why)
{
	op->insn = insn;
	op->run = sg_run_illegal;
	op->sem = why;
}

unsigned
sg_decode(const struct sg_isa *isa, struct sg_pool *pool, uint64_t pc, const uint32_t *words, unsigned count,
	  struct sg_op *ops, unsigned *ops_out)
{
	struct dec d = { .isa = isa, .pool = pool, .words = words, .count = count };
	unsigned number;
	uint32_t w = sg_next_word(&d);
	if (d.short_of_words)
		return 0;
	enum sg_format format = sg_classify(isa, words, count, &number);
	const struct sg_insn *insn = sg_isa_find(isa, format, number);

	memset(ops, 0, sizeof *ops * SG_DECODE_MAX_OPS);
	ops[0].pc = pc;
	ops[0].insn = insn;
	if (!insn) {
		make_illegal(&ops[0], NULL, "is not an instruction of this architecture");
		*ops_out = 1;
		return 1;
	}
	ops[0].format = (uint8_t)format;
	ops[0].pair = (uint8_t)number;
	ops[0].run = insn->run;
	ops[0].sem = insn->sem;
	*ops_out = decode_body(&d, ops, format, w);
	if (d.short_of_words || d.used > count)
		return 0;
	if (d.error) {
		make_illegal(&ops[0], insn, d.error);
		*ops_out = 1;
	}
	for (unsigned i = 0; i < *ops_out; i++) {
		ops[i].pc = pc;
		ops[i].words = i + 1 == *ops_out ? d.used : 0;
	}
	return d.used;
}
