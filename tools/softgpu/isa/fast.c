/* SPDX-License-Identifier: MIT */
/* fast.c: the hottest vector operations written for AVX2 and FMA, chosen at decode time when the host has both.
 *
 * They run operations without modifiers or DPP. Float ones do so only while MODE agrees with the host (round to
 * nearest even, denormals kept); otherwise they hand over to the general handler of exec.c.
 */
#include "core.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX __attribute__((target("avx2,fma")))
#define INLINE AVX static inline __attribute__((always_inline))
#define BLOCKS (SG_LANES / 8)

INLINE __m256i
load(const uint32_t *p, unsigned block)
{
	return _mm256_load_si256((const __m256i *)p + block);
}

INLINE void
store(uint32_t *p, unsigned block, __m256i v)
{
	_mm256_store_si256((__m256i *)p + block, v);
}

INLINE __m256
loadf(const uint32_t *p, unsigned block)
{
	return _mm256_load_ps((const float *)p + 8 * block);
}

/* All ones in the lanes of a block that the mask names. */
INLINE __m256i
lanes(uint32_t mask, unsigned block)
{
	const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	__m256i m = _mm256_and_si256(_mm256_set1_epi32((int)(mask >> 8 * block)), bits);
	return _mm256_cmpeq_epi32(m, bits);
}

INLINE uint32_t
bits_of(__m256i v)
{
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v));
}

INLINE const uint32_t *
operand(const struct sg_wave *w, const struct sg_operand *s, unsigned half, uint32_t *tmp)
{
	if (s->kind == SG_K_VGPR)
		return w->v[half][s->reg];
	if (s->kind == SG_K_CONST)
		return s->splat;
	__m256i v = _mm256_set1_epi32((int)w->sgpr[s->reg]);
	for (unsigned i = 0; i < BLOCKS; i++)
		store(tmp, i, v);
	return tmp;
}

INLINE void
put(uint32_t *d, unsigned i, __m256i r, uint32_t exec)
{
	store(d, i, exec == UINT32_MAX ? r : _mm256_blendv_epi8(load(d, i), r, lanes(exec, i)));
}

/* A handler over EXPRESSION, an __m256i of the blocks a, b, c, of the same as floats fa, fb, fc, and of the old
 * destination. Sources are read block by block before the destination's block is written; both are whole registers. */
#define VECTOR(name, count, is_float, expression)                                                                      \
	AVX static const struct sg_op *name(struct sg_wave *w, const struct sg_op *op)                                 \
	{                                                                                                              \
		uint32_t tmp[3][SG_LANES] __attribute__((aligned(128)));                                               \
		if (is_float && !w->f32_plain)                                                                         \
			return op->insn->run(w, op);                                                                   \
		for (unsigned half = 0; half < w->halves; half++) {                                                    \
			uint32_t exec = sg_exec(w, half);                                                              \
			if (!exec)                                                                                     \
				continue;                                                                              \
			const uint32_t *pa = operand(w, &op->src[0], half, tmp[0]);                                    \
			const uint32_t *pb = count > 1 ? operand(w, &op->src[1], half, tmp[1]) : pa;                   \
			const uint32_t *pc = count > 2 ? operand(w, &op->src[2], half, tmp[2]) : pa;                   \
			uint32_t *d = w->v[half][op->dst];                                                             \
			uint32_t carry = w->sgpr[op->carry + half];                                                    \
			if (exec == UINT32_MAX)                                                                        \
				for (unsigned i = 0; i < BLOCKS; i++)                                                  \
					store(d, i, expression);                                                       \
			else                                                                                           \
				for (unsigned i = 0; i < BLOCKS; i++)                                                  \
					put(d, i, expression, exec);                                                   \
			(void)pb, (void)pc, (void)carry;                                                               \
		}                                                                                                      \
		return op + 1;                                                                                         \
	}

#define A load(pa, i)
#define B load(pb, i)
#define C load(pc, i)
#define FA loadf(pa, i)
#define FB loadf(pb, i)
#define FC loadf(pc, i)
#define FD loadf(d, i)
#define BITS(x) _mm256_castps_si256(x)
#define COUNT(x, bits) _mm256_and_si256(x, _mm256_set1_epi32(bits))

VECTOR(f_mul, 2, true, BITS(_mm256_mul_ps(FA, FB)))
VECTOR(f_add, 2, true, BITS(_mm256_add_ps(FA, FB)))
VECTOR(f_sub, 2, true, BITS(_mm256_sub_ps(FA, FB)))
VECTOR(f_subrev, 2, true, BITS(_mm256_sub_ps(FB, FA)))
VECTOR(f_fmac, 2, true, BITS(_mm256_fmadd_ps(FA, FB, FD)))
VECTOR(f_fma, 3, true, BITS(_mm256_fmadd_ps(FA, FB, FC)))
VECTOR(f_mov, 1, false, A)
VECTOR(f_not, 1, false, _mm256_xor_si256(A, _mm256_set1_epi32(-1)))
VECTOR(f_add_u32, 2, false, _mm256_add_epi32(A, B))
VECTOR(f_sub_u32, 2, false, _mm256_sub_epi32(A, B))
VECTOR(f_subrev_u32, 2, false, _mm256_sub_epi32(B, A))
VECTOR(f_and, 2, false, _mm256_and_si256(A, B))
VECTOR(f_or, 2, false, _mm256_or_si256(A, B))
VECTOR(f_xor, 2, false, _mm256_xor_si256(A, B))
VECTOR(f_lshlrev, 2, false, _mm256_sllv_epi32(B, COUNT(A, 31)))
VECTOR(f_lshrrev, 2, false, _mm256_srlv_epi32(B, COUNT(A, 31)))
VECTOR(f_ashrrev, 2, false, _mm256_srav_epi32(B, COUNT(A, 31)))
VECTOR(f_min_i32, 2, false, _mm256_min_epi32(A, B))
VECTOR(f_max_i32, 2, false, _mm256_max_epi32(A, B))
VECTOR(f_min_u32, 2, false, _mm256_min_epu32(A, B))
VECTOR(f_max_u32, 2, false, _mm256_max_epu32(A, B))
VECTOR(f_mul_lo, 2, false, _mm256_mullo_epi32(A, B))
VECTOR(f_cndmask, 2, false, _mm256_blendv_epi8(A, B, lanes(carry, i)))
VECTOR(f_add3, 3, false, _mm256_add_epi32(_mm256_add_epi32(A, B), C))
VECTOR(f_lshl_add, 3, false, _mm256_add_epi32(_mm256_sllv_epi32(A, COUNT(B, 31)), C))
VECTOR(f_add_lshl, 3, false, _mm256_sllv_epi32(_mm256_add_epi32(A, B), COUNT(C, 31)))
VECTOR(f_lshl_or, 3, false, _mm256_or_si256(_mm256_sllv_epi32(A, COUNT(B, 31)), C))
VECTOR(f_and_or, 3, false, _mm256_or_si256(_mm256_and_si256(A, B), C))
VECTOR(f_or3, 3, false, _mm256_or_si256(_mm256_or_si256(A, B), C))
VECTOR(f_xad, 3, false, _mm256_add_epi32(_mm256_xor_si256(A, B), C))

/* Compares and carries: masks are written after both halves have read. */
#define MASK(name, is_float, writes, expression)                                                                       \
	AVX static const struct sg_op *name(struct sg_wave *w, const struct sg_op *op)                                 \
	{                                                                                                              \
		uint32_t tmp[2][SG_LANES] __attribute__((aligned(128))), mask[2];                                      \
		if (is_float && !w->f32_plain)                                                                         \
			return op->insn->run(w, op);                                                                   \
		for (unsigned half = 0; half < w->halves; half++) {                                                    \
			uint32_t exec = sg_exec(w, half), carry = w->sgpr[op->carry + half], m = 0;                    \
			const uint32_t *pa = operand(w, &op->src[0], half, tmp[0]);                                    \
			const uint32_t *pb = operand(w, &op->src[1], half, tmp[1]);                                    \
			uint32_t *d = w->v[half][op->dst];                                                             \
			for (unsigned i = 0; exec && i < BLOCKS; i++) {                                                \
				__m256i r = _mm256_setzero_si256();                                                    \
				m |= bits_of(expression) << 8 * i;                                                     \
				if (writes)                                                                            \
					put(d, i, r, exec);                                                            \
			}                                                                                              \
			mask[half] = m & exec;                                                                         \
			(void)carry, (void)d;                                                                          \
		}                                                                                                      \
		unsigned dst = op->flags & SG_OP_CMPX ? SG_REG_EXEC : op->sdst;                                        \
		for (unsigned half = 0; half < w->halves; half++)                                                      \
			w->sgpr[dst + half] = mask[half];                                                              \
		return op + 1;                                                                                         \
	}

#define NOT(x) _mm256_xor_si256(x, _mm256_set1_epi32(-1))
#define SIGNED(x) _mm256_xor_si256(x, _mm256_set1_epi32(INT32_MIN)) /* order of unsigned numbers as signed ones */
#define GT_U(x, y) _mm256_cmpgt_epi32(SIGNED(x), SIGNED(y))
#define COMPARE(name, expression) MASK(name, false, false, expression)
#define COMPAREF(name, predicate) MASK(name, true, false, BITS(_mm256_cmp_ps(FA, FB, predicate)))

COMPARE(f_eq, _mm256_cmpeq_epi32(A, B))
COMPARE(f_ne, NOT(_mm256_cmpeq_epi32(A, B)))
COMPARE(f_gt_i32, _mm256_cmpgt_epi32(A, B))
COMPARE(f_lt_i32, _mm256_cmpgt_epi32(B, A))
COMPARE(f_ge_i32, NOT(_mm256_cmpgt_epi32(B, A)))
COMPARE(f_le_i32, NOT(_mm256_cmpgt_epi32(A, B)))
COMPARE(f_gt_u32, GT_U(A, B))
COMPARE(f_lt_u32, GT_U(B, A))
COMPARE(f_ge_u32, NOT(GT_U(B, A)))
COMPARE(f_le_u32, NOT(GT_U(A, B)))
COMPAREF(f_lt_f32, _CMP_LT_OQ)
COMPAREF(f_gt_f32, _CMP_GT_OQ)
COMPAREF(f_le_f32, _CMP_LE_OQ)
COMPAREF(f_ge_f32, _CMP_GE_OQ)
COMPAREF(f_eq_f32, _CMP_EQ_OQ)
COMPAREF(f_neq_f32, _CMP_NEQ_UQ)
COMPAREF(f_nlt_f32, _CMP_NLT_UQ)
COMPAREF(f_ngt_f32, _CMP_NGT_UQ)
COMPAREF(f_nle_f32, _CMP_NLE_UQ)
COMPAREF(f_nge_f32, _CMP_NGE_UQ)

INLINE __m256i
add_carry(__m256i *r, __m256i a, __m256i b, __m256i carry)
{
	__m256i sum = _mm256_add_epi32(a, b);
	*r = _mm256_sub_epi32(sum, carry); /* carry is -1 where set */
	__m256i first = GT_U(a, sum);
	__m256i second = _mm256_and_si256(carry, _mm256_cmpeq_epi32(sum, _mm256_set1_epi32(-1)));
	return _mm256_or_si256(first, second);
}

MASK(f_add_co, false, true, add_carry(&r, A, B, _mm256_setzero_si256()))
MASK(f_add_co_ci, false, true, add_carry(&r, A, B, lanes(carry, i)))

/* d[63:0] = s1 << s0, the address arithmetic of every kernel */
AVX static const struct sg_op *
f_lshlrev_b64(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t tmp[3][SG_LANES] __attribute__((aligned(128)));
	if (op->src[1].kind == SG_K_SGPR)
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half);
		const uint32_t *n = operand(w, &op->src[0], half, tmp[0]);
		const uint32_t *s = operand(w, &op->src[1], half, tmp[1]);
		uint32_t *d = w->v[half][op->dst];
		for (unsigned i = 0; exec && i < BLOCKS; i++) {
			/* counts of 32 and more give 0 in sllv and srlv */
			__m256i count = COUNT(load(n, i), 63), lo = load(s, i), hi = load(s + SG_LANES, i);
			__m256i over = _mm256_sub_epi32(count, _mm256_set1_epi32(32));
			__m256i carried = _mm256_or_si256(_mm256_srlv_epi32(lo, _mm256_sub_epi32(_mm256_set1_epi32(32), count)),
							  _mm256_sllv_epi32(lo, over));
			__m256i high = _mm256_or_si256(_mm256_sllv_epi32(hi, count), carried);
			put(d, i, _mm256_sllv_epi32(lo, count), exec);
			put(d + SG_LANES, i, high, exec);
		}
	}
	return op + 1;
}

static const struct {
	const char *name;	/* as the general operation is called in valu_list.h */
	sg_handler *run;
} handlers[] = {
	{ "v_mul_f32", f_mul }, { "v_add_f32", f_add }, { "v_sub_f32", f_sub }, { "v_subrev_f32", f_subrev },
	{ "v_fmac_f32", f_fmac }, { "v_fma_f32", f_fma }, { "v_mov_b32", f_mov }, { "v_not_b32", f_not },
	{ "v_add_nc_u32", f_add_u32 }, { "v_sub_nc_u32", f_sub_u32 }, { "v_subrev_nc_u32", f_subrev_u32 },
	{ "v_and_b32", f_and }, { "v_or_b32", f_or }, { "v_xor_b32", f_xor }, { "v_lshlrev_b32", f_lshlrev },
	{ "v_lshrrev_b32", f_lshrrev }, { "v_ashrrev_i32", f_ashrrev }, { "v_min_i32", f_min_i32 },
	{ "v_max_i32", f_max_i32 }, { "v_min_u32", f_min_u32 }, { "v_max_u32", f_max_u32 },
	{ "v_mul_lo_u32", f_mul_lo }, { "v_cndmask_b32", f_cndmask }, { "v_add3_u32", f_add3 },
	{ "v_lshl_add_u32", f_lshl_add }, { "v_add_lshl_u32", f_add_lshl }, { "v_lshl_or_b32", f_lshl_or },
	{ "v_and_or_b32", f_and_or }, { "v_or3_b32", f_or3 }, { "v_xad_u32", f_xad },
	{ "v_cmp_eq_i32", f_eq }, { "v_cmp_eq_u32", f_eq }, { "v_cmp_ne_i32", f_ne }, { "v_cmp_ne_u32", f_ne },
	{ "v_cmp_gt_i32", f_gt_i32 }, { "v_cmp_lt_i32", f_lt_i32 }, { "v_cmp_ge_i32", f_ge_i32 },
	{ "v_cmp_le_i32", f_le_i32 }, { "v_cmp_gt_u32", f_gt_u32 }, { "v_cmp_lt_u32", f_lt_u32 },
	{ "v_cmp_ge_u32", f_ge_u32 }, { "v_cmp_le_u32", f_le_u32 }, { "v_cmp_lt_f32", f_lt_f32 },
	{ "v_cmp_gt_f32", f_gt_f32 }, { "v_cmp_le_f32", f_le_f32 }, { "v_cmp_ge_f32", f_ge_f32 },
	{ "v_cmp_eq_f32", f_eq_f32 }, { "v_cmp_neq_f32", f_neq_f32 }, { "v_cmp_nlt_f32", f_nlt_f32 },
	{ "v_cmp_ngt_f32", f_ngt_f32 }, { "v_cmp_nle_f32", f_nle_f32 }, { "v_cmp_nge_f32", f_nge_f32 },
	{ "v_add_co_u32", f_add_co }, { "v_add_co_ci_u32", f_add_co_ci }, { "v_lshlrev_b64", f_lshlrev_b64 },
};

/* Operands in plain lanes: no modifiers, no DPP, sources in registers or constants. */
static bool
is_plain(const struct sg_op *op)
{
	if (op->dpp || (op->flags & (SG_OP_PARTIAL | SG_OP_OVERLAP | SG_OP_CLAMP)))
		return false;
	for (unsigned i = 0; i < 3; i++)
		if (op->src[i].mods || op->src[i].sel || op->src[i].kind > SG_K_CONST)
			return false;
	return true;
}

sg_handler *
sg_fast_handler(const struct sg_op *op)
{
	if (!op->insn || op->insn->family != SG_FAM_VALU || op->run != op->insn->run || !is_plain(op))
		return NULL;
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return NULL;
	const struct sg_valu_op *v = op->sem;
	for (unsigned i = 0; i < sizeof handlers / sizeof *handlers; i++)
		if (!strcmp(v->name, handlers[i].name))
			return handlers[i].run;
	return NULL;
}

#else

sg_handler *
sg_fast_handler(const struct sg_op *op)
{
	(void)op;
	return NULL;
}

#endif
