/* SPDX-License-Identifier: MIT */
/* salu.c: scalar arithmetic. SCC rules differ by operation: logic and shifts set it to "result is not 0", unsigned
 * additions to the carry, signed ones to overflow, the rest leaves it alone (RDNA3 ISA, chapter 16). */
#include "salu.h"
#include "core.h"

#define OP(name) static uint64_t name(struct sg_salu_env *e)

static uint64_t
nonzero(struct sg_salu_env *e, uint64_t result)
{
	e->scc = result != 0;
	return result;
}

#define LOGIC(name, expression)                                                                                        \
	OP(name##32) { uint32_t a = e->a, b = e->b; (void)b; return nonzero(e, (uint32_t)(expression)); }              \
	OP(name##64) { uint64_t a = e->a, b = e->b; (void)b; return nonzero(e, (expression)); }
#define PLAIN(name, expression)                                                                                        \
	OP(name) { uint32_t a = e->a, b = e->b; (void)a; (void)b; return (expression); }
#define COMPARE(name, type, operator)                                                                                  \
	OP(name) { e->scc = (type)e->a operator (type)e->b; return 0; }

LOGIC(and_, a & b)
LOGIC(or_, a | b)
LOGIC(xor_, a ^ b)
LOGIC(nand_, ~(a & b))
LOGIC(nor_, ~(a | b))
LOGIC(xnor_, ~(a ^ b))
LOGIC(and_not1_, a & ~b)
LOGIC(or_not1_, a | ~b)
LOGIC(not_, ~a)

OP(lshl32) { return nonzero(e, (uint32_t)e->a << (e->b & 31)); }
OP(lshl64) { return nonzero(e, e->a << (e->b & 63)); }
OP(lshr32) { return nonzero(e, (uint32_t)e->a >> (e->b & 31)); }
OP(lshr64) { return nonzero(e, e->a >> (e->b & 63)); }
OP(ashr32) { return nonzero(e, (uint32_t)((int32_t)e->a >> (e->b & 31))); }
OP(ashr64) { return nonzero(e, (uint64_t)((int64_t)e->a >> (e->b & 63))); }

OP(add_u32)
{
	uint64_t sum = (uint64_t)(uint32_t)e->a + (uint32_t)e->b;
	e->scc = sum >> 32;
	return (uint32_t)sum;
}

OP(addc_u32)
{
	uint64_t sum = (uint64_t)(uint32_t)e->a + (uint32_t)e->b + e->scc;
	e->scc = sum >> 32;
	return (uint32_t)sum;
}

OP(sub_u32)
{
	e->scc = (uint32_t)e->b > (uint32_t)e->a;
	return (uint32_t)(e->a - e->b);
}

OP(subb_u32)
{
	uint64_t subtrahend = (uint64_t)(uint32_t)e->b + e->scc;
	uint32_t result = (uint32_t)(e->a - subtrahend);
	e->scc = subtrahend > (uint32_t)e->a;
	return result;
}

OP(add_i32)
{
	int32_t r;
	e->scc = __builtin_add_overflow((int32_t)e->a, (int32_t)e->b, &r);
	return (uint32_t)r;
}

OP(sub_i32)
{
	int32_t r;
	e->scc = __builtin_sub_overflow((int32_t)e->a, (int32_t)e->b, &r);
	return (uint32_t)r;
}

OP(absdiff_i32)
{
	uint32_t r = (uint32_t)e->a - (uint32_t)e->b;
	return nonzero(e, (int32_t)r < 0 ? 0u - r : r);
}

static uint64_t
shift_add(struct sg_salu_env *e, unsigned shift)
{
	uint64_t sum = ((uint64_t)(uint32_t)e->a << shift) + (uint32_t)e->b;
	e->scc = sum >> 32 != 0;
	return (uint32_t)sum;
}

OP(lshl1_add) { return shift_add(e, 1); }
OP(lshl2_add) { return shift_add(e, 2); }
OP(lshl3_add) { return shift_add(e, 3); }
OP(lshl4_add) { return shift_add(e, 4); }

/* SCC says whether the first operand was chosen; of equal operands min takes the second, max the first. */
#define MINMAX(name, type, operator)                                                                                   \
	OP(name) { e->scc = (type)e->a operator (type)e->b; return (uint32_t)(e->scc ? e->a : e->b); }
MINMAX(min_i32, int32_t, <)
MINMAX(min_u32, uint32_t, <)
MINMAX(max_i32, int32_t, >=)
MINMAX(max_u32, uint32_t, >=)

static uint64_t
field(uint64_t value, unsigned offset, unsigned width, bool sign, unsigned bits)
{
	if (width == 0)
		return 0;
	uint64_t r = value >> offset;
	if (width < 64) {
		uint64_t mask = ((uint64_t)1 << width) - 1;
		bool negative = sign && (r >> (width - 1) & 1);
		r = negative ? r | ~mask : r & mask;
	}
	return bits == 32 ? (uint32_t)r : r;
}

OP(bfe_u32) { return nonzero(e, field((uint32_t)e->a, e->b & 31, e->b >> 16 & 127, false, 32)); }
OP(bfe_i32) { return nonzero(e, field((uint64_t)(int64_t)(int32_t)e->a, e->b & 31, e->b >> 16 & 127, true, 32)); }
OP(bfe_u64) { return nonzero(e, field(e->a, e->b & 63, e->b >> 16 & 127, false, 64)); }

OP(bfe_i64)
{
	unsigned offset = e->b & 63, width = e->b >> 16 & 127;
	return nonzero(e, field((uint64_t)((int64_t)e->a >> offset), 0, width, true, 64));
}

PLAIN(bfm32, ((1u << (a & 31)) - 1) << (b & 31))
OP(bfm64) { return (((uint64_t)1 << (e->a & 63)) - 1) << (e->b & 63); }
PLAIN(mul_i32, a * b)
PLAIN(mul_hi_u32, (uint32_t)((uint64_t)a * b >> 32))
PLAIN(mul_hi_i32, (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32))
PLAIN(pack_ll, (a & 0xffff) | b << 16)
PLAIN(pack_lh, (a & 0xffff) | (b & 0xffff0000))
PLAIN(pack_hh, a >> 16 | (b & 0xffff0000))
PLAIN(pack_hl, a >> 16 | b << 16)
OP(cselect) { return e->scc ? e->a : e->b; }

OP(mov) { return e->a; }
OP(cmov) { return e->scc ? e->a : e->d; }
OP(cmovk) { return e->scc ? (uint32_t)e->b : e->d; }
OP(movk) { return (uint32_t)e->b; }

static uint64_t
reverse(uint64_t v, unsigned bits)
{
	uint64_t r = 0;
	for (unsigned i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

OP(brev32) { return reverse(e->a, 32); }
OP(brev64) { return reverse(e->a, 64); }
PLAIN(ctz32, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
PLAIN(ff0_32, ~a ? (uint32_t)__builtin_ctz(~a) : UINT32_MAX)
OP(ff0_64) { return ~e->a ? (uint32_t)__builtin_ctzll(~e->a) : UINT32_MAX; }
OP(ctz64) { return e->a ? (uint32_t)__builtin_ctzll(e->a) : UINT32_MAX; }
PLAIN(clz32, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
OP(clz64) { return e->a ? (uint32_t)__builtin_clzll(e->a) : UINT32_MAX; }

OP(cls32)
{
	uint32_t x = (uint32_t)e->a ^ (uint32_t)((int32_t)e->a >> 31);
	return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

OP(cls64)
{
	uint64_t x = e->a ^ (uint64_t)((int64_t)e->a >> 63);
	return x ? (uint32_t)__builtin_clzll(x) : UINT32_MAX;
}

PLAIN(sext8, (uint32_t)(int8_t)a)
PLAIN(sext16, (uint32_t)(int16_t)a)
OP(bitset0_32) { return (uint32_t)e->d & ~(1u << (e->a & 31)); }
OP(bitset0_64) { return e->d & ~((uint64_t)1 << (e->a & 63)); }
OP(bitset1_32) { return (uint32_t)e->d | 1u << (e->a & 31); }
OP(bitset1_64) { return e->d | (uint64_t)1 << (e->a & 63); }

OP(bitreplicate)
{
	uint64_t r = 0;
	for (unsigned i = 0; i < 32; i++)
		r |= (e->a >> i & 1) * ((uint64_t)3 << 2 * i);
	return r;
}

OP(abs_i32) { return nonzero(e, (int32_t)e->a < 0 ? 0u - (uint32_t)e->a : (uint32_t)e->a); }
OP(bcnt0_32) { return nonzero(e, 32 - (unsigned)__builtin_popcount((uint32_t)e->a)); }
OP(bcnt0_64) { return nonzero(e, 64 - (unsigned)__builtin_popcountll(e->a)); }
OP(bcnt1_32) { return nonzero(e, (unsigned)__builtin_popcount((uint32_t)e->a)); }
OP(bcnt1_64) { return nonzero(e, (unsigned)__builtin_popcountll(e->a)); }

static uint64_t
quads(uint64_t v, bool whole)
{
	uint64_t r = 0;
	for (unsigned i = 0; i < 16; i++)
		if (v >> 4 * i & 15)
			r |= whole ? (uint64_t)15 << 4 * i : (uint64_t)1 << i;
	return r;
}

OP(quadmask) { return nonzero(e, quads(e->a, false)); }
OP(wqm) { return nonzero(e, quads(e->a, true)); }

COMPARE(eq_32, uint32_t, ==)
COMPARE(lg_32, uint32_t, !=)
COMPARE(gt_i32, int32_t, >)
COMPARE(ge_i32, int32_t, >=)
COMPARE(lt_i32, int32_t, <)
COMPARE(le_i32, int32_t, <=)
COMPARE(gt_u32, uint32_t, >)
COMPARE(ge_u32, uint32_t, >=)
COMPARE(lt_u32, uint32_t, <)
COMPARE(le_u32, uint32_t, <=)
COMPARE(eq_64, uint64_t, ==)
COMPARE(lg_64, uint64_t, !=)
OP(bitcmp0_32) { e->scc = !(e->a >> (e->b & 31) & 1); return 0; }
OP(bitcmp1_32) { e->scc = e->a >> (e->b & 31) & 1; return 0; }
OP(bitcmp0_64) { e->scc = !(e->a >> (e->b & 63) & 1); return 0; }
OP(bitcmp1_64) { e->scc = e->a >> (e->b & 63) & 1; return 0; }

#define TWO(n, f) { .name = n, .fn = f, .dst = 1, .a = 1, .b = 1 }
#define TWO64(n, f) { .name = n, .fn = f, .dst = 2, .a = 2, .b = 2 }
#define SHIFT64(n, f, s) { .name = n, .fn = f, .dst = 2, .a = 2, .b = 1, .sign = s }
#define ONE(n, f, d, s) { .name = n, .fn = f, .dst = d, .a = s }
#define CMP(n, f) { .name = n, .fn = f, .a = 1, .b = 1 }
#define CMPK(n, f, z) { .name = n, .fn = f, .a = 1, .b = 1, .zero_extends = z }

static const struct sg_salu_op ops[] = {
	TWO("s_add_u32", add_u32), TWO("s_sub_u32", sub_u32), TWO("s_add_i32", add_i32), TWO("s_sub_i32", sub_i32),
	TWO("s_addc_u32", addc_u32), TWO("s_subb_u32", subb_u32), TWO("s_absdiff_i32", absdiff_i32),
	TWO("s_lshl_b32", lshl32), SHIFT64("s_lshl_b64", lshl64, false), TWO("s_lshr_b32", lshr32),
	SHIFT64("s_lshr_b64", lshr64, false), TWO("s_ashr_i32", ashr32), SHIFT64("s_ashr_i64", ashr64, true),
	TWO("s_lshl1_add_u32", lshl1_add), TWO("s_lshl2_add_u32", lshl2_add), TWO("s_lshl3_add_u32", lshl3_add),
	TWO("s_lshl4_add_u32", lshl4_add), TWO("s_min_i32", min_i32), TWO("s_min_u32", min_u32),
	TWO("s_max_i32", max_i32), TWO("s_max_u32", max_u32),
	TWO("s_and_b32", and_32), TWO64("s_and_b64", and_64), TWO("s_or_b32", or_32), TWO64("s_or_b64", or_64),
	TWO("s_xor_b32", xor_32), TWO64("s_xor_b64", xor_64), TWO("s_nand_b32", nand_32),
	TWO64("s_nand_b64", nand_64), TWO("s_nor_b32", nor_32), TWO64("s_nor_b64", nor_64),
	TWO("s_xnor_b32", xnor_32), TWO64("s_xnor_b64", xnor_64), TWO("s_and_not1_b32", and_not1_32),
	TWO64("s_and_not1_b64", and_not1_64), TWO("s_or_not1_b32", or_not1_32), TWO64("s_or_not1_b64", or_not1_64),
	TWO("s_bfe_u32", bfe_u32), TWO("s_bfe_i32", bfe_i32), SHIFT64("s_bfe_u64", bfe_u64, false),
	SHIFT64("s_bfe_i64", bfe_i64, true), TWO("s_bfm_b32", bfm32),
	{ .name = "s_bfm_b64", .fn = bfm64, .dst = 2, .a = 1, .b = 1 }, TWO("s_mul_i32", mul_i32),
	TWO("s_mul_hi_u32", mul_hi_u32), TWO("s_mul_hi_i32", mul_hi_i32), TWO("s_cselect_b32", cselect),
	TWO64("s_cselect_b64", cselect), TWO("s_pack_ll_b32_b16", pack_ll), TWO("s_pack_lh_b32_b16", pack_lh),
	TWO("s_pack_hh_b32_b16", pack_hh), TWO("s_pack_hl_b32_b16", pack_hl),

	ONE("s_mov_b32", mov, 1, 1), ONE("s_mov_b64", mov, 2, 2), ONE("s_cmov_b32", cmov, 1, 1),
	ONE("s_cmov_b64", cmov, 2, 2), ONE("s_brev_b32", brev32, 1, 1), ONE("s_brev_b64", brev64, 2, 2),
	ONE("s_ctz_i32_b32", ctz32, 1, 1), ONE("s_ff0_i32_b32", ff0_32, 1, 1),
	ONE("s_ff0_i32_b64", ff0_64, 1, 2), ONE("s_ctz_i32_b64", ctz64, 1, 2), ONE("s_clz_i32_u32", clz32, 1, 1),
	ONE("s_clz_i32_u64", clz64, 1, 2), ONE("s_cls_i32", cls32, 1, 1), ONE("s_cls_i32_i64", cls64, 1, 2),
	ONE("s_sext_i32_i8", sext8, 1, 1), ONE("s_sext_i32_i16", sext16, 1, 1),
	ONE("s_bitset0_b32", bitset0_32, 1, 1), ONE("s_bitset0_b64", bitset0_64, 2, 1),
	ONE("s_bitset1_b32", bitset1_32, 1, 1), ONE("s_bitset1_b64", bitset1_64, 2, 1),
	ONE("s_bitreplicate_b64_b32", bitreplicate, 2, 1), ONE("s_abs_i32", abs_i32, 1, 1),
	ONE("s_bcnt0_i32_b32", bcnt0_32, 1, 1), ONE("s_bcnt0_i32_b64", bcnt0_64, 1, 2),
	ONE("s_bcnt1_i32_b32", bcnt1_32, 1, 1), ONE("s_bcnt1_i32_b64", bcnt1_64, 1, 2),
	ONE("s_quadmask_b32", quadmask, 1, 1), ONE("s_quadmask_b64", quadmask, 2, 2), ONE("s_wqm_b32", wqm, 1, 1),
	ONE("s_wqm_b64", wqm, 2, 2), ONE("s_not_b32", not_32, 1, 1), ONE("s_not_b64", not_64, 2, 2),

	CMP("s_cmp_eq_i32", eq_32), CMP("s_cmp_lg_i32", lg_32), CMP("s_cmp_gt_i32", gt_i32),
	CMP("s_cmp_ge_i32", ge_i32), CMP("s_cmp_lt_i32", lt_i32), CMP("s_cmp_le_i32", le_i32),
	CMP("s_cmp_eq_u32", eq_32), CMP("s_cmp_lg_u32", lg_32), CMP("s_cmp_gt_u32", gt_u32),
	CMP("s_cmp_ge_u32", ge_u32), CMP("s_cmp_lt_u32", lt_u32), CMP("s_cmp_le_u32", le_u32),
	CMP("s_bitcmp0_b32", bitcmp0_32), CMP("s_bitcmp1_b32", bitcmp1_32),
	{ .name = "s_bitcmp0_b64", .fn = bitcmp0_64, .a = 2, .b = 1 },
	{ .name = "s_bitcmp1_b64", .fn = bitcmp1_64, .a = 2, .b = 1 },
	{ .name = "s_cmp_eq_u64", .fn = eq_64, .a = 2, .b = 2 },
	{ .name = "s_cmp_lg_u64", .fn = lg_64, .a = 2, .b = 2 },

	{ .name = "s_movk_i32", .fn = movk, .dst = 1, .b = 1 },
	{ .name = "s_cmovk_i32", .fn = cmovk, .dst = 1, .b = 1 }, TWO("s_addk_i32", add_i32),
	TWO("s_mulk_i32", mul_i32),
	CMPK("s_cmpk_eq_i32", eq_32, false), CMPK("s_cmpk_lg_i32", lg_32, false), CMPK("s_cmpk_gt_i32", gt_i32, false),
	CMPK("s_cmpk_ge_i32", ge_i32, false), CMPK("s_cmpk_lt_i32", lt_i32, false),
	CMPK("s_cmpk_le_i32", le_i32, false), CMPK("s_cmpk_eq_u32", eq_32, true), CMPK("s_cmpk_lg_u32", lg_32, true),
	CMPK("s_cmpk_gt_u32", gt_u32, true), CMPK("s_cmpk_ge_u32", ge_u32, true), CMPK("s_cmpk_lt_u32", lt_u32, true),
	CMPK("s_cmpk_le_u32", le_u32, true),
};

uint64_t
sg_scalar(const struct sg_wave *w, const struct sg_operand *s)
{
	switch (s->kind) {
	case SG_K_SGPR:
		if (s->type == SG_T_B64 || s->type == SG_T_F64)
			return w->sgpr[s->reg] | (uint64_t)w->sgpr[s->reg + 1] << 32;
		return w->sgpr[s->reg];
	case SG_K_CONST:
		return s->type == SG_T_B64 || s->type == SG_T_F64 ? s->value : (uint32_t)s->value;
	case SG_K_SCC:
		return w->scc;
	case SG_K_VCCZ:
		return !(w->sgpr[SG_REG_VCC] | (w->halves == 2 ? w->sgpr[SG_REG_VCC + 1] : 0));
	case SG_K_EXECZ:
		return !(w->sgpr[SG_REG_EXEC] | (w->halves == 2 ? w->sgpr[SG_REG_EXEC + 1] : 0));
	case SG_K_LDS_DIRECT:
		return sg_lds_direct(w);
	default:
		return 0;
	}
}

static const struct sg_op *
run_salu(struct sg_wave *w, const struct sg_op *op)
{
	const struct sg_salu_op *s = op->sem;
	struct sg_salu_env e = { .a = sg_scalar(w, &op->src[0]), .b = sg_scalar(w, &op->src[1]), .scc = w->scc };

	e.d = w->sgpr[op->dst] | (uint64_t)w->sgpr[op->dst + 1] << 32;
	uint64_t r = s->fn(&e);
	w->scc = e.scc;
	if (s->dst)
		w->sgpr[op->dst] = (uint32_t)r;
	if (s->dst == 2)
		w->sgpr[op->dst + 1] = (uint32_t)(r >> 32);
	return op + 1;
}

/* The commonest operations again, each with its arithmetic inlined; operands are SGPRs and constants. */

static inline __attribute__((always_inline)) uint64_t
quick_operand(const struct sg_wave *w, const struct sg_operand *s, unsigned dwords)
{
	const void *p = s->kind == SG_K_CONST ? (const void *)&s->value : &w->sgpr[s->reg];
	uint64_t value = 0;

	if (dwords)
		memcpy(&value, p, 4 * dwords);
	return value;
}

static inline __attribute__((always_inline)) const struct sg_op *
quick(struct sg_wave *w, const struct sg_op *op, sg_salu_fn *fn, unsigned dst, unsigned a, unsigned b)
{
	struct sg_salu_env e = { .a = quick_operand(w, &op->src[0], a), .b = quick_operand(w, &op->src[1], b),
				 .scc = w->scc };
	uint64_t r = fn(&e);

	w->scc = e.scc;
	if (dst)
		memcpy(&w->sgpr[op->dst], &r, 4 * dst);
	return op + 1;
}

/* function, dwords of destination and operands */
#define QUICK(X)                                                                                                       \
	X(add_u32, 1, 1, 1) X(addc_u32, 1, 1, 1) X(sub_u32, 1, 1, 1) X(subb_u32, 1, 1, 1) X(add_i32, 1, 1, 1)          \
	X(sub_i32, 1, 1, 1) X(mul_i32, 1, 1, 1) X(and_32, 1, 1, 1) X(and_64, 2, 2, 2) X(or_32, 1, 1, 1)                \
	X(or_64, 2, 2, 2) X(xor_32, 1, 1, 1) X(and_not1_32, 1, 1, 1) X(lshl32, 1, 1, 1) X(lshl64, 2, 2, 1)             \
	X(lshr32, 1, 1, 1) X(ashr32, 1, 1, 1) X(mov, 1, 1, 0) X(mov, 2, 2, 0) X(cselect, 1, 1, 1) X(eq_32, 0, 1, 1)    \
	X(lg_32, 0, 1, 1) X(gt_i32, 0, 1, 1) X(ge_i32, 0, 1, 1) X(lt_i32, 0, 1, 1) X(le_i32, 0, 1, 1)                  \
	X(gt_u32, 0, 1, 1) X(ge_u32, 0, 1, 1) X(lt_u32, 0, 1, 1) X(le_u32, 0, 1, 1)

#define QUICK_HANDLER(f, d, a, b)                                                                                      \
	static const struct sg_op *quick_##f##_##d(struct sg_wave *w, const struct sg_op *op)                          \
	{                                                                                                              \
		return quick(w, op, f, d, a, b);                                                                       \
	}
QUICK(QUICK_HANDLER)

#define QUICK_ROW(f, d, a, b) { f, d, a, b, quick_##f##_##d },
static const struct {
	sg_salu_fn *fn;
	uint8_t dst, a, b;
	sg_handler *run;
} quick_rows[] = { QUICK(QUICK_ROW) };

sg_handler *
sg_salu_quick(const struct sg_op *op)
{
	const struct sg_salu_op *s = op->sem;

	for (unsigned i = 0; i < 2; i++)
		if (op->src[i].kind == SG_K_VGPR || op->src[i].kind > SG_K_CONST)
			return NULL;
	for (unsigned i = 0; i < sizeof quick_rows / sizeof *quick_rows; i++)
		if (quick_rows[i].fn == s->fn && quick_rows[i].dst == s->dst && quick_rows[i].a == s->a &&
		    quick_rows[i].b == s->b)
			return quick_rows[i].run;
	return NULL;
}

bool
sg_bind_salu(struct sg_insn *insn, enum sg_format format)
{
	if (format < SG_FMT_SOP1 || format > SG_FMT_SOPP)
		return false;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (!strcmp(insn->key, ops[i].name)) {
			insn->family = SG_FAM_SALU;
			insn->run = run_salu;
			insn->sem = &ops[i];
			return true;
		}
	}
	return false;
}
