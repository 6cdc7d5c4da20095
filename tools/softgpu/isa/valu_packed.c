/* SPDX-License-Identifier: MIT */
/* valu_packed.c: two 16-bit operations a lane (VOP3P), and the mixed-precision fma. */
#include "valu_impl.h"

#define LO(x) ((x)&0xffff)
#define HI(x) ((x) >> 16)

enum { A = 1, AB = 3, ABC = 7, AB_O = 11 };

/* Floats: as F16_OP of valu_f16.c, expr being a float function of its arguments. */
#define PK_HALF(half, fn, TO_HALF)                                                                                     \
	sg_flush16(TO_HALF(fn(sg_half(sg_flush16(half(a), in)), sg_half(sg_flush16(half(b), in)),                      \
			      sg_half(sg_flush16(half(c), in)))),                                                      \
		   out)
#define PK_LOOP(fn, TO_HALF)                                                                                           \
	SG_EACH_LANE                                                                                                   \
	{                                                                                                              \
		uint32_t a = s0[i], b = s1[i], c = HAS_C ? s2[i] : HAS_O ? d[i] : 0;                                   \
		d[i] = PK_HALF(LO, fn, TO_HALF) | PK_HALF(HI, fn, TO_HALF) << 16;                                      \
	}
#define PK_NEAREST(x) sg_to_half_nearest(sg_b32(x))
#define PK_BY_MODE(x) sg_to_half(sg_b32(x), rnd, ovfl)
#define PK_F16_OP(name, sources, fn)                                                                                   \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_C = (sources)&4, HAS_O = (sources)&8 };                                                     \
		const uint32_t in = SG_IN16(env), out = SG_OUT16(env), rnd = SG_RND16(env);                            \
		const bool ovfl = env->mode & SG_MODE_FP16_OVFL;                                                       \
		if (rnd == SG_RND_NEAREST && !ovfl)                                                                    \
			PK_LOOP(fn, PK_NEAREST)                                                                        \
		else                                                                                                   \
			PK_LOOP(fn, PK_BY_MODE)                                                                        \
	}

SG_INLINE float
add2(float a, float b, float unused __attribute__((unused)))
{
	return sg_first32(sg_add_odd(a, b), a, b, 0);
}

SG_INLINE float
mul2(float a, float b, float unused __attribute__((unused)))
{
	return sg_first32(a * b, a, b, 0);
}

SG_INLINE float
fma3(float a, float b, float c)
{
	return sg_first32(sg_add_odd(a * b, c), a, b, c);
}

PK_F16_OP(pk_add_f16, AB, add2)
PK_F16_OP(pk_mul_f16, AB, mul2)
PK_F16_OP(pk_fma_f16, ABC, fma3)
PK_F16_OP(pk_fmac_f16, AB_O, fma3)

/* Bits and integers: fn of two or three 16-bit halves, result cut to 16 bits. */
#define PK_OP(name, sources, prepare, fn)                                                                              \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_C = (sources)&4 };                                                                          \
		prepare;                                                                                               \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a = s0[i], b = s1[i], c __attribute__((unused)) = HAS_C ? s2[i] : 0;                  \
			d[i] = LO((uint32_t)fn(LO(a), LO(b), LO(c))) | (uint32_t)fn(HI(a), HI(b), HI(c)) << 16;        \
		}                                                                                                      \
	}
#define F16_PREPARE const uint32_t keep = SG_IN16(env) & SG_OUT16(env), ieee = SG_IEEE(env)
#define MIN_F16(a, b, c) sg_minmax16(sg_flush16(a, keep), sg_flush16(b, keep), false, ieee)
#define MAX_F16(a, b, c) sg_minmax16(sg_flush16(a, keep), sg_flush16(b, keep), true, ieee)

PK_OP(pk_min_f16, AB, F16_PREPARE, MIN_F16)
PK_OP(pk_max_f16, AB, F16_PREPARE, MAX_F16)

#define CLAMP_PREPARE const bool clamp = env->clamp
#define SAT_U(x) (clamp ? clamp_u16(x) : (x))
#define SAT_S(x) (clamp ? clamp_i16(x) : (x))

SG_INLINE int64_t
clamp_u16(int64_t x)
{
	return sg_clamp64(x, 0, UINT16_MAX);
}

SG_INLINE int64_t
clamp_i16(int64_t x)
{
	return sg_clamp64(x, INT16_MIN, INT16_MAX);
}

#define S16(x) sg_sext16(x)
#define S(x) ((int64_t)sg_sext16(x))
#define U(x) ((int64_t)(x))
#define ADD_U16(a, b, c) SAT_U(U(a) + U(b))
#define SUB_U16(a, b, c) SAT_U(U(a) - U(b))
#define MAD_U16(a, b, c) SAT_U(U(a) * U(b) + U(c))
#define ADD_I16(a, b, c) SAT_S(S(a) + S(b))
#define SUB_I16(a, b, c) SAT_S(S(a) - S(b))
#define MAD_I16(a, b, c) SAT_S(S(a) * S(b) + S(c))
#define MUL_LO_U16(a, b, c) ((a) * (b))
#define MIN_U16(a, b, c) ((a) < (b) ? (a) : (b))
#define MAX_U16(a, b, c) ((a) > (b) ? (a) : (b))
#define MIN_I16(a, b, c) (S16(a) < S16(b) ? (a) : (b))
#define MAX_I16(a, b, c) (S16(a) > S16(b) ? (a) : (b))
#define LSHLREV(a, b, c) ((b) << ((a)&15))
#define LSHRREV(a, b, c) ((b) >> ((a)&15))
#define ASHRREV(a, b, c) (S16(b) >> ((a)&15))

PK_OP(pk_add_u16, AB, CLAMP_PREPARE, ADD_U16)
PK_OP(pk_sub_u16, AB, CLAMP_PREPARE, SUB_U16)
PK_OP(pk_mad_u16, ABC, CLAMP_PREPARE, MAD_U16)
PK_OP(pk_add_i16, AB, CLAMP_PREPARE, ADD_I16)
PK_OP(pk_sub_i16, AB, CLAMP_PREPARE, SUB_I16)
PK_OP(pk_mad_i16, ABC, CLAMP_PREPARE, MAD_I16)
PK_OP(pk_mul_lo_u16, AB, (void)0, MUL_LO_U16)
PK_OP(pk_min_u16, AB, (void)0, MIN_U16)
PK_OP(pk_max_u16, AB, (void)0, MAX_U16)
PK_OP(pk_min_i16, AB, (void)0, MIN_I16)
PK_OP(pk_max_i16, AB, (void)0, MAX_I16)
PK_OP(pk_lshlrev_b16, AB, (void)0, LSHLREV)
PK_OP(pk_lshrrev_b16, AB, (void)0, LSHRREV)
PK_OP(pk_ashrrev_i16, AB, (void)0, ASHRREV)

/* Mixed precision: op_sel_hi says per source that it is a half, op_sel which one; abs is neg_hi. */
static void
mix_source(float *r, const uint32_t *s, unsigned k, const struct sg_valu_env *env)
{
	const uint32_t in32 = SG_IN32(env), in16 = SG_IN16(env);
	const uint32_t abs = env->abs >> k & 1 ? ~SG_SIGN32 : ~0u, neg = env->neg >> k & 1 ? SG_SIGN32 : 0;

	if (env->op_sel_hi >> k & 1) {
		const unsigned shift = env->op_sel >> k & 1 ? 16 : 0;
		SG_EACH_LANE r[i] = sg_f32((sg_b32(sg_half(sg_flush16(s[i] >> shift, in16))) & abs) ^ neg);
	} else {
		SG_EACH_LANE r[i] = sg_f32((sg_flush32(s[i], in32) & abs) ^ neg);
	}
}

static void
mix_lanes(uint32_t *r, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, const struct sg_valu_env *env)
{
	const uint32_t rnd = SG_RND32(env);
	float a[SG_LANES], b[SG_LANES], c[SG_LANES];

	mix_source(a, s0, 0, env);
	mix_source(b, s1, 1, env);
	mix_source(c, s2, 2, env);
	sg_round_set(rnd);
	SG_EACH_LANE r[i] = sg_b32(sg_first32(fmaf(a[i], b[i], c[i]), a[i], b[i], c[i]));
	sg_round_reset(rnd);
}

SG_FN(fma_mix_f32)
{
	const uint32_t out = SG_OUT32(env);
	mix_lanes(d, s0, s1, s2, env);
	SG_EACH_LANE d[i] = sg_flush32(d[i], out);
}

/* Both return the half in the low 16 bits; the caller places it. */
SG_FN(fma_mixlo_f16)
{
	const uint32_t out = SG_OUT16(env), rnd = SG_RND16(env);
	const bool ovfl = env->mode & SG_MODE_FP16_OVFL;
	mix_lanes(d, s0, s1, s2, env);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_flush16(sg_to_half(d[i], rnd, ovfl), out);
}
