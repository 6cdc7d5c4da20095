/* SPDX-License-Identifier: MIT */
/* valu_dot.c: dot products of packed halves, bytes and nibbles with an accumulator. */
#include "valu_impl.h"

#define LO(x) ((x)&0xffff)
#define HI(x) ((x) >> 16)

/* Floats. Products of halves are exact in f32, of bfloat16s in f32 but for overflow. */

SG_INLINE float
dot2_f16(uint32_t a, uint32_t b, float c, uint32_t in)
{
	float lo = sg_half(sg_flush16(LO(a), in)) * sg_half(sg_flush16(LO(b), in));
	float hi = sg_half(sg_flush16(HI(a), in)) * sg_half(sg_flush16(HI(b), in));
	return sg_any32(hi + (lo + c));
}

/* A denormal bfloat16 is a denormal f32. */
SG_INLINE float
bf16(uint32_t h, uint32_t in32)
{
	return sg_f32(sg_flush32(h << 16, in32));
}

SG_INLINE float
dot2_bf16(uint32_t a, uint32_t b, float c, uint32_t in32)
{
	return sg_any32(fmaf(bf16(HI(a), in32), bf16(HI(b), in32), fmaf(bf16(LO(a), in32), bf16(LO(b), in32), c)));
}

#define DOT_F32_OP(name, accumulator, expr)                                                                            \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		const uint32_t in = SG_IN16(env), in32 = SG_IN32(env), out = SG_OUT32(env), rnd = SG_RND32(env);       \
		(void)in;                                                                                              \
		sg_round_set(rnd);                                                                                     \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			float c = sg_f32(sg_flush32(accumulator[i], in32));                                            \
			d[i] = sg_flush32(sg_b32(expr), out);                                                          \
		}                                                                                                      \
		sg_round_reset(rnd);                                                                                   \
	}

DOT_F32_OP(dot2_f32_f16, s2, dot2_f16(s0[i], s1[i], c, in))
DOT_F32_OP(dot2acc_f32_f16, d, dot2_f16(s0[i], s1[i], c, in))
DOT_F32_OP(dot2_f32_bf16, s2, dot2_bf16(s0[i], s1[i], c, in32))
DOT_F32_OP(dot2acc_f32_bf16, d, dot2_bf16(s0[i], s1[i], c, in32))

/* Sums in half precision: one rounding at the end. */
SG_FN(dot2_f16_f16)
{
	const uint32_t in = SG_IN16(env), out = SG_OUT16(env), rnd = SG_RND16(env);
	const bool ovfl = env->mode & SG_MODE_FP16_OVFL;
	for (unsigned i = 0; i < SG_LANES; i++) {
		float c = sg_half(sg_flush16(s2[i], in));
		d[i] = sg_flush16(sg_to_half(sg_b32(dot2_f16(s0[i], s1[i], c, in)), rnd, ovfl), out);
	}
}

SG_FN(dot2_bf16_bf16)
{
	const uint32_t in32 = SG_IN32(env);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_to_bf16(dot2_bf16(s0[i], s1[i], bf16(LO(s2[i]), in32), in32));
}

/* Integers: exact sum, cut or (clamp) saturated to 32 bits. */

SG_INLINE int32_t
field(uint32_t x, unsigned k, unsigned bits, bool sign)
{
	uint32_t f = x >> k * bits & ((1u << bits) - 1), top = sign ? 1u << (bits - 1) : 0;
	return (int32_t)((f ^ top) - top);
}

SG_INLINE void
dot_wrap(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *acc, unsigned bits, bool sign0, bool sign1)
{
	SG_EACH_LANE
	{
		uint32_t sum = acc[i];
		for (unsigned k = 0; k < 32 / bits; k++)
			sum += (uint32_t)field(s0[i], k, bits, sign0) * (uint32_t)field(s1[i], k, bits, sign1);
		d[i] = sum;
	}
}

SG_INLINE void
dot_clamp(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *acc, unsigned bits, bool sign0,
	  bool sign1, bool sign_out)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		int64_t sum = sign_out ? (int64_t)(int32_t)acc[i] : (int64_t)acc[i];
		for (unsigned k = 0; k < 32 / bits; k++)
			sum += (int64_t)field(s0[i], k, bits, sign0) * field(s1[i], k, bits, sign1);
		sum = sign_out ? sg_clamp64(sum, INT32_MIN, INT32_MAX) : sg_clamp64(sum, 0, UINT32_MAX);
		d[i] = (uint32_t)sum;
	}
}

#define DOT_INT_OP(name, acc, bits, sign)                                                                              \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		if (env->clamp)                                                                                        \
			dot_clamp(d, s0, s1, acc, bits, sign, sign, sign);                                             \
		else                                                                                                   \
			dot_wrap(d, s0, s1, acc, bits, sign, sign);                                                    \
	}
/* neg_lo says per source that it is signed. */
#define DOT_IU_OP(name, bits)                                                                                          \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		const bool sign0 = env->neg & 1, sign1 = env->neg & 2;                                                 \
		if (env->clamp)                                                                                        \
			dot_clamp(d, s0, s1, s2, bits, sign0, sign1, true);                                            \
		else                                                                                                   \
			dot_wrap(d, s0, s1, s2, bits, sign0, sign1);                                                   \
	}

DOT_INT_OP(dot4_u32_u8, s2, 8, false)
DOT_INT_OP(dot8_u32_u4, s2, 4, false)
DOT_INT_OP(dot2_u32_u16, s2, 16, false)
DOT_INT_OP(dot4_i32_i8, s2, 8, true)
DOT_INT_OP(dot8_i32_i4, s2, 4, true)
DOT_INT_OP(dot2_i32_i16, s2, 16, true)
DOT_INT_OP(dot4c_i32_i8, d, 8, true)
DOT_INT_OP(dot8c_i32_i4, d, 4, true)
DOT_INT_OP(dot2c_i32_i16, d, 16, true)
DOT_IU_OP(dot4_i32_iu8, 8)
DOT_IU_OP(dot8_i32_iu4, 4)
