/* SPDX-License-Identifier: MIT */
/* valu_cmp.c: comparisons; only env->mask_out is written. */
#include "valu_impl.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

const uint32_t sg_lane_bit[SG_LANES] = {
	1u << 0,  1u << 1,  1u << 2,  1u << 3,	1u << 4,  1u << 5,  1u << 6,  1u << 7,
	1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
	1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
	1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

SG_INLINE uint32_t
movemask(const uint32_t *words)
{
	uint32_t mask = 0;
#if defined(__AVX2__)
	for (unsigned i = 0; i < SG_LANES; i += 8)
		mask |= (uint32_t)_mm256_movemask_ps(
				_mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(words + i))))
			<< i;
#elif defined(__SSE2__)
	for (unsigned i = 0; i < SG_LANES; i += 4)
		mask |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(words + i)))) << i;
#else
	for (unsigned i = 0; i < SG_LANES; i++)
		mask |= (words[i] >> 31) << i;
#endif
	return mask;
}

uint32_t
sg_movemask(const uint32_t *words)
{
	return movemask(words);
}

#define CMP_LANES(prepare, expr)                                                                                       \
	{                                                                                                              \
		uint32_t r[SG_LANES];                                                                                  \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			prepare;                                                                                       \
			r[i] = (expr) ? ~0u : 0;                                                                       \
		}                                                                                                      \
		env->mask_out = movemask(r);                                                                           \
	}

#define CMP_INT_OP(name, type, load, op)                                                                               \
	SG_FN(cmp_##name)                                                                                              \
	CMP_LANES(type a = (type)load(s0); type b = (type)load(s1), a op b)

#define W32(s) s[i]
#define W16(s) (s[i] & 0xffff)
#define W16S(s) sg_sext16(s[i])
#define W64(s) sg_ld64(s, i)

#define CMP_INT(suffix, type, load)                                                                                    \
	CMP_INT_OP(lt_##suffix, type, load, <)                                                                         \
	CMP_INT_OP(eq_##suffix, type, load, ==)                                                                        \
	CMP_INT_OP(le_##suffix, type, load, <=)                                                                        \
	CMP_INT_OP(gt_##suffix, type, load, >)                                                                         \
	CMP_INT_OP(ne_##suffix, type, load, !=)                                                                        \
	CMP_INT_OP(ge_##suffix, type, load, >=)

CMP_INT(i16, int32_t, W16S)
CMP_INT(u16, uint32_t, W16)
CMP_INT(i32, int32_t, W32)
CMP_INT(u32, uint32_t, W32)
CMP_INT(i64, int64_t, W64)
CMP_INT(u64, uint64_t, W64)

SG_FN(cmp_f)
{
	env->mask_out = 0;
}

SG_FN(cmp_t)
{
	env->mask_out = ~0u;
}

/* Floats: input denormals are flushed as MODE says, comparisons are quiet. */
#define F32_LOAD(s) sg_f32(sg_flush32(s[i], in))
#define F16_LOAD(s) sg_half(sg_flush16(s[i], in))
#define F64_LOAD(s) sg_f64(sg_flush64(sg_ld64(s, i), in))
#define CMP_FLOAT_OP(name, keep, type, load, expr)                                                                     \
	SG_FN(cmp_##name)                                                                                              \
	{                                                                                                              \
		const __typeof__(keep(env)) in = keep(env);                                                            \
		CMP_LANES(type a = load(s0); type b = load(s1), expr)                                                  \
	}

#define CMP_FLOAT(suffix, keep, type, load)                                                                            \
	CMP_FLOAT_OP(lt_##suffix, keep, type, load, a < b)                                                             \
	CMP_FLOAT_OP(eq_##suffix, keep, type, load, a == b)                                                            \
	CMP_FLOAT_OP(le_##suffix, keep, type, load, a <= b)                                                            \
	CMP_FLOAT_OP(gt_##suffix, keep, type, load, a > b)                                                             \
	CMP_FLOAT_OP(lg_##suffix, keep, type, load, (a < b) | (a > b))                                                 \
	CMP_FLOAT_OP(ge_##suffix, keep, type, load, a >= b)                                                            \
	CMP_FLOAT_OP(o_##suffix, keep, type, load, (a == a) & (b == b))                                                \
	CMP_FLOAT_OP(u_##suffix, keep, type, load, (a != a) | (b != b))                                                \
	CMP_FLOAT_OP(nge_##suffix, keep, type, load, !(a >= b))                                                        \
	CMP_FLOAT_OP(nlg_##suffix, keep, type, load, !((a < b) | (a > b)))                                             \
	CMP_FLOAT_OP(ngt_##suffix, keep, type, load, !(a > b))                                                         \
	CMP_FLOAT_OP(nle_##suffix, keep, type, load, !(a <= b))                                                        \
	CMP_FLOAT_OP(neq_##suffix, keep, type, load, a != b)                                                           \
	CMP_FLOAT_OP(nlt_##suffix, keep, type, load, !(a < b))

CMP_FLOAT(f32, SG_IN32, float, F32_LOAD)
CMP_FLOAT(f16, SG_IN16, float, F16_LOAD)
CMP_FLOAT(f64, SG_IN64, double, F64_LOAD)

/* v_cmp_class: bits of s1 name the classes. */
enum {
	CLASS_SNAN = 1 << 0,
	CLASS_QNAN = 1 << 1,
	CLASS_NEG_INF = 1 << 2,
	CLASS_NEG_NORMAL = 1 << 3,
	CLASS_NEG_DENORMAL = 1 << 4,
	CLASS_NEG_ZERO = 1 << 5,
	CLASS_POS_ZERO = 1 << 6,
	CLASS_POS_DENORMAL = 1 << 7,
	CLASS_POS_NORMAL = 1 << 8,
	CLASS_POS_INF = 1 << 9,
};

/* magnitude against the format's first normal, infinity and first quiet NaN */
SG_INLINE uint32_t
class_of(bool neg, uint64_t mag, uint64_t normal, uint64_t inf, uint64_t quiet)
{
	if (mag > inf)
		return mag >= quiet ? CLASS_QNAN : CLASS_SNAN;
	if (mag == inf)
		return neg ? CLASS_NEG_INF : CLASS_POS_INF;
	if (mag >= normal)
		return neg ? CLASS_NEG_NORMAL : CLASS_POS_NORMAL;
	if (mag)
		return neg ? CLASS_NEG_DENORMAL : CLASS_POS_DENORMAL;
	return neg ? CLASS_NEG_ZERO : CLASS_POS_ZERO;
}

SG_INLINE uint32_t
class16(uint32_t x)
{
	return class_of(x >> 15 & 1, x & 0x7fff, 0x0400, 0x7c00, SG_QNAN16);
}

SG_INLINE uint32_t
class32(uint32_t x)
{
	return class_of(x >> 31, x & ~SG_SIGN32, 0x00800000, 0x7f800000, SG_QNAN32);
}

SG_INLINE uint32_t
class64(uint64_t x)
{
	return class_of(x >> 63, x & ~SG_SIGN64, 0x0010000000000000ull, 0x7ff0000000000000ull, SG_QNAN64);
}

/* The class is that of the bits: denormals are told apart whatever MODE says. */
SG_FN(cmp_class_f16)
CMP_LANES((void)0, class16(s0[i]) & s1[i])

SG_FN(cmp_class_f32)
CMP_LANES((void)0, class32(s0[i]) & s1[i])

SG_FN(cmp_class_f64)
CMP_LANES((void)0, class64(sg_ld64(s0, i)) & s1[i])
