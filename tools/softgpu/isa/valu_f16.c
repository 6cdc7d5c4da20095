/* SPDX-License-Identifier: MIT */
/* valu_f16.c: half precision, one value a lane.
 *
 * Sums and fused sums are formed in f32 rounded to odd (products of halves are exact there), so that the one
 * conversion to half rounds right in every mode.
 */
#include "valu_impl.h"

#define F16_LOOP(expr, TO_HALF)                                                                                        \
	SG_EACH_LANE                                                                                                   \
	{                                                                                                              \
		float a __attribute__((unused)) = sg_half(sg_flush16(s0[i], in));                                      \
		float b __attribute__((unused)) = HAS_B ? sg_half(sg_flush16(s1[i], in)) : 0;                          \
		float c __attribute__((unused)) = HAS_C ? sg_half(sg_flush16(s2[i], in)) : 0;                          \
		float o __attribute__((unused)) = HAS_O ? sg_half(sg_flush16(d[i], in)) : 0;                           \
		d[i] = sg_flush16(TO_HALF(expr), out);                                                                 \
	}
#define F16_NEAREST(x) sg_to_half_nearest(sg_b32(x))
#define F16_BY_MODE(x) sg_to_half(sg_b32(x), rnd, ovfl)
#define F16_OP(name, sources, expr)                                                                                    \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4, HAS_O = (sources)&8 };                                \
		const uint32_t in = SG_IN16(env), out = SG_OUT16(env), rnd = SG_RND16(env);                            \
		const bool ovfl = env->mode & SG_MODE_FP16_OVFL;                                                       \
		if (rnd == SG_RND_NEAREST && !ovfl)                                                                    \
			F16_LOOP(expr, F16_NEAREST)                                                                    \
		else                                                                                                   \
			F16_LOOP(expr, F16_BY_MODE)                                                                    \
	}

enum { A = 1, AB = 3, ABC = 7, AB_O = 11 };

F16_OP(add_f16, AB, sg_first32(sg_add_odd(a, b), a, b, 0))
F16_OP(sub_f16, AB, sg_first32(sg_add_odd(a, -b), a, -b, 0))
F16_OP(subrev_f16, AB, sg_first32(sg_add_odd(b, -a), b, -a, 0))
F16_OP(mul_f16, AB, sg_first32(a * b, a, b, 0))
F16_OP(fma_f16, ABC, sg_first32(sg_add_odd(a * b, c), a, b, c))
F16_OP(fmac_f16, AB_O, sg_first32(sg_add_odd(a * b, o), a, b, o))

/* Exact results */
SG_INLINE float
fract(float x)
{
	float f = x - floorf(x);
	return f > 0x1.ffcp-1f ? 0x1.ffcp-1f : f;
}

SG_INLINE float
mantissa(float x)
{
	int e;
	return isnan(x) || isinf(x) ? x : frexpf(x, &e);
}

F16_OP(trunc_f16, A, truncf(a))
F16_OP(floor_f16, A, floorf(a))
F16_OP(ceil_f16, A, ceilf(a))
F16_OP(rndne_f16, A, rintf(a))
F16_OP(fract_f16, A, fract(a))
F16_OP(frexp_mant_f16, A, mantissa(a))

SG_FN(frexp_exp_i16_f16)
{
	const uint32_t in = SG_IN16(env);
	for (unsigned i = 0; i < SG_LANES; i++) {
		float x = sg_half(sg_flush16(s0[i], in));
		int e = 0;
		if (!isnan(x) && !isinf(x))
			frexpf(x, &e);
		d[i] = (uint32_t)e & 0xffff;
	}
}

/* Minimum and maximum */
#define F16_BITS_OP(name, sources, expr)                                                                               \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4 };                                                     \
		const uint32_t keep = SG_IN16(env) & SG_OUT16(env), ieee __attribute__((unused)) = SG_IEEE(env);       \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a = sg_flush16(s0[i], keep);                                                          \
			uint32_t b = HAS_B ? sg_flush16(s1[i], keep) : 0;                                              \
			uint32_t c __attribute__((unused)) = HAS_C ? sg_flush16(s2[i], keep) : 0;                      \
			d[i] = expr;                                                                                   \
		}                                                                                                      \
	}
#define MIN(a, b) sg_minmax16(a, b, false, ieee)
#define MAX(a, b) sg_minmax16(a, b, true, ieee)

SG_INLINE uint32_t
med3(uint32_t a, uint32_t b, uint32_t c, uint32_t ieee)
{
	const uint32_t inf = 0x7c00, mag = 0x7fff;
	uint32_t nan = sg_below(inf, a & mag) | sg_below(inf, b & mag) | sg_below(inf, c & mag);
	uint32_t least = MIN(a, b);
	return sg_sel(nan, MIN(least, c), MAX(least, MIN(MAX(a, b), c)));
}

F16_BITS_OP(min_f16, AB, MIN(a, b))
F16_BITS_OP(max_f16, AB, MAX(a, b))
F16_BITS_OP(min3_f16, ABC, MIN(MIN(a, b), c))
F16_BITS_OP(max3_f16, ABC, MAX(MAX(a, b), c))
F16_BITS_OP(minmax_f16, ABC, MAX(MIN(a, b), c))
F16_BITS_OP(maxmin_f16, ABC, MIN(MAX(a, b), c))
F16_BITS_OP(med3_f16, ABC, med3(a, b, c, ieee))

/* Transcendental functions in double, rounded once; unlike the f32 ones they keep denormals. */
#define F16_TRANS_OP(name, expr)                                                                                       \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		const uint32_t in = SG_IN16(env), out = SG_OUT16(env), rnd = SG_RND16(env);                            \
		const bool ovfl = env->mode & SG_MODE_FP16_OVFL;                                                       \
		for (unsigned i = 0; i < SG_LANES; i++) {                                                              \
			double x = (double)sg_half(sg_flush16(s0[i], in));                                             \
			d[i] = sg_flush16(sg_double_to_half(expr, rnd, ovfl), out);                                    \
		}                                                                                                      \
	}

F16_TRANS_OP(rcp_f16, 1.0 / x)
F16_TRANS_OP(rsq_f16, 1.0 / sqrt(x))
F16_TRANS_OP(sqrt_f16, sqrt(x))
F16_TRANS_OP(exp_f16, exp2(x))
F16_TRANS_OP(log_f16, x < 0 ? (double)NAN : log2(x))
F16_TRANS_OP(sin_f16, sg_sin_turns(x))
F16_TRANS_OP(cos_f16, sg_cos_turns(x))
/* s1 is a 16-bit integer; 2^+-100 is beyond every half. */
F16_TRANS_OP(ldexp_f16, ldexp(x, (int)sg_clamp64(sg_sext16(s1[i]), -100, 100)))

static uint32_t
div_fixup(uint32_t quot, uint32_t den, uint32_t num)
{
	uint32_t sign = (den ^ num) & 0x8000, den_mag = den & 0x7fff, num_mag = num & 0x7fff;

	if (sg_nan16(num))
		return num | 0x200;
	if (sg_nan16(den))
		return den | 0x200;
	if ((den_mag | num_mag) == 0 || (den_mag == 0x7c00 && num_mag == 0x7c00))
		return SG_QNAN16; /* as f32's, which was seen on hardware */
	if (den_mag == 0 || num_mag == 0x7c00)
		return sign | 0x7c00;
	if (num_mag == 0 || den_mag == 0x7c00)
		return sign;
	if (sg_nan16(quot))
		return sign | 0x7c00;
	return (quot & 0x7fff) | sign;
}

F16_BITS_OP(div_fixup_f16, ABC, div_fixup(a, b, c))
