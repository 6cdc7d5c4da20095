/* SPDX-License-Identifier: MIT */
/* valu_f32.c: single precision arithmetic, min/max and rounding to integral values. */
#include "valu_impl.h"

/* Defines sg_<name>: expr of the flushed sources a, b, c and the old destination o, in MODE's rounding. Keeping
 * denormals to nearest is the common case and gets a loop of its own without the masks. */
#define F32_LOOP(expr, IN, OUT)                                                                                        \
	SG_EACH_LANE                                                                                                   \
	{                                                                                                              \
		float a __attribute__((unused)) = sg_f32(IN(s0[i]));                                                   \
		float b __attribute__((unused)) = HAS_B ? sg_f32(IN(s1[i])) : 0;                                       \
		float c __attribute__((unused)) = HAS_C ? sg_f32(IN(s2[i])) : 0;                                       \
		float o __attribute__((unused)) = HAS_O ? sg_f32(IN(d[i])) : 0;                                        \
		d[i] = OUT(sg_b32(expr));                                                                              \
	}
#define F32_SAME(x) (x)
#define F32_IN(x) sg_flush32(x, in)
#define F32_OUT(x) sg_flush32(x, out)
#define F32_OP(name, sources, expr)                                                                                    \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4, HAS_O = (sources)&8 };                                \
		uint32_t in = SG_IN32(env), out = SG_OUT32(env), rnd = SG_RND32(env);                                  \
		if ((in & out) == ~0u && rnd == SG_RND_NEAREST) {                                                      \
			F32_LOOP(expr, F32_SAME, F32_SAME)                                                             \
			return;                                                                                        \
		}                                                                                                      \
		sg_round_set(rnd);                                                                                     \
		F32_LOOP(expr, F32_IN, F32_OUT)                                                                        \
		sg_round_reset(rnd);                                                                                   \
	}

enum { A = 1, AB = 3, ABC = 7, AB_O = 11 };

F32_OP(add_f32, AB, sg_first32(a + b, a, b, 0))
F32_OP(sub_f32, AB, sg_first32(a - b, a, b, 0))
F32_OP(subrev_f32, AB, sg_first32(b - a, b, a, 0))
F32_OP(mul_f32, AB, sg_first32(a * b, a, b, 0))
F32_OP(fma_f32, ABC, sg_first32(fmaf(a, b, c), a, b, c))
F32_OP(fmac_f32, AB_O, sg_first32(fmaf(a, b, o), a, b, o))

/* dx9_zero, on RDNA2 "legacy": 0 times anything is +0. */
SG_INLINE float
mul_legacy(float a, float b)
{
	uint32_t zero = ((a == 0.0f) | (b == 0.0f)) ? 0 : ~0u;
	return sg_f32(sg_b32(sg_first32(a * b, a, b, 0)) & zero);
}

SG_INLINE float
fma_legacy(float a, float b, float c)
{
	return a == 0.0f || b == 0.0f ? c : sg_first32(fmaf(a, b, c), a, b, c);
}

F32_OP(mul_dx9_zero_f32, AB, mul_legacy(a, b))
F32_OP(fma_dx9_zero_f32, ABC, fma_legacy(a, b, c))
F32_OP(fmac_dx9_zero_f32, AB_O, fma_legacy(a, b, o))

/* v_mad, v_mac (RDNA1): two roundings, denormals always flushed. */
SG_INLINE float
mad_flush(float a, float b, float c, bool legacy)
{
	a = sg_f32(sg_flush32(sg_b32(a), SG_SIGN32));
	b = sg_f32(sg_flush32(sg_b32(b), SG_SIGN32));
	c = sg_f32(sg_flush32(sg_b32(c), SG_SIGN32));
	float p = sg_f32(sg_flush32(sg_b32(legacy ? mul_legacy(a, b) : sg_first32(a * b, a, b, 0)), SG_SIGN32));
	return sg_f32(sg_flush32(sg_b32(sg_first32(p + c, p, c, 0)), SG_SIGN32));
}

F32_OP(mad_f32, ABC, mad_flush(a, b, c, false))
F32_OP(mac_f32, AB_O, mad_flush(a, b, o, false))
F32_OP(mad_legacy_f32, ABC, mad_flush(a, b, c, true))
F32_OP(mac_legacy_f32, AB_O, mad_flush(a, b, o, true))

/* Lighting: s2 (shininess) decides whether the specular term is used at all. */
SG_INLINE float
mullit(float a, float b, float c)
{
	bool off = b == -0x1.fffffep127f || b == -INFINITY || b != b || c <= 0.0f || c != c;
	return off ? -0x1.fffffep127f : a * b;
}

F32_OP(mullit_f32, ABC, mullit(a, b, c))

/* Minimum and maximum work on bits, without host floating point. */
#define F32_BITS_OP(name, sources, expr)                                                                               \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4 };                                                     \
		const uint32_t in = SG_IN32(env), out = SG_OUT32(env), keep = in & out, ieee = SG_IEEE(env);            \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a = sg_flush32(s0[i], keep);                                                          \
			uint32_t b __attribute__((unused)) = HAS_B ? sg_flush32(s1[i], keep) : 0;                      \
			uint32_t c __attribute__((unused)) = HAS_C ? sg_flush32(s2[i], keep) : 0;                      \
			d[i] = expr;                                                                                   \
		}                                                                                                      \
	}
#define MIN(a, b) sg_minmax32(a, b, false, ieee)
#define MAX(a, b) sg_minmax32(a, b, true, ieee)

F32_BITS_OP(min_f32, AB, MIN(a, b))
F32_BITS_OP(max_f32, AB, MAX(a, b))
F32_BITS_OP(min3_f32, ABC, MIN(MIN(a, b), c))
F32_BITS_OP(max3_f32, ABC, MAX(MAX(a, b), c))
F32_BITS_OP(minmax_f32, ABC, MAX(MIN(a, b), c))
F32_BITS_OP(maxmin_f32, ABC, MIN(MAX(a, b), c))

/* The middle by keys; with a NaN the least of the rest. */
SG_INLINE uint32_t
med3(uint32_t a, uint32_t b, uint32_t c, uint32_t ieee)
{
	const uint32_t inf = 0x7f800000, mag = 0x7fffffff;
	uint32_t nan = sg_below(inf, a & mag) | sg_below(inf, b & mag) | sg_below(inf, c & mag);
	uint32_t least = MIN(a, b);
	return sg_sel(nan, MIN(least, c), MAX(least, MIN(MAX(a, b), c)));
}

F32_BITS_OP(med3_f32, ABC, med3(a, b, c, ieee))

/* Rounding to integral values is exact, so only flushing depends on MODE. The host rounds to nearest here; rintf
 * becomes vectors where floorf does not. */
SG_INLINE uint32_t
floor_bits(uint32_t x)
{
	float r = rintf(sg_f32(x));
	uint32_t rounded_up = (uint32_t)((int32_t)sg_b32(sg_f32(x) - r) >> 31);
	return sg_b32(r - sg_f32(rounded_up & 0x3f800000));
}

SG_INLINE float
fract(float x)
{
	float f = x - floorf(x);
	return f > 0x1.fffffep-1f ? 0x1.fffffep-1f : f;
}

#define F32_UNARY_BITS(name, expr)                                                                                     \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		const uint32_t in = SG_IN32(env), out = SG_OUT32(env);                                                 \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a = sg_flush32(s0[i], in);                                                            \
			d[i] = sg_flush32(expr, out);                                                                  \
		}                                                                                                      \
	}

F32_UNARY_BITS(trunc_f32, (a & SG_SIGN32) | floor_bits(a & ~SG_SIGN32))
F32_UNARY_BITS(floor_f32, floor_bits(a))
F32_UNARY_BITS(ceil_f32, floor_bits(a ^ SG_SIGN32) ^ SG_SIGN32)
F32_UNARY_BITS(rndne_f32, sg_b32(sg_first32(rintf(sg_f32(a)), sg_f32(a), 0, 0)))
F32_UNARY_BITS(fract_f32, sg_b32(fract(sg_f32(a))))

/* Exponents and mantissas */

SG_INLINE uint32_t
frexp_mant(uint32_t x)
{
	int e;
	if ((x & 0x7f800000) == 0x7f800000)
		return sg_nan32(x) ? x | 0x00400000 : x;
	return sg_b32(frexpf(sg_f32(x), &e));
}

SG_INLINE uint32_t
frexp_exp(uint32_t x)
{
	int e = 0;
	if ((x & 0x7f800000) != 0x7f800000)
		frexpf(sg_f32(x), &e);
	return (uint32_t)e;
}

F32_UNARY_BITS(frexp_mant_f32, frexp_mant(a))

SG_FN(frexp_exp_i32_f32)
{
	const uint32_t in = SG_IN32(env);
	SG_EACH_LANE d[i] = frexp_exp(sg_flush32(s0[i], in));
}

/* s1 is an int; the product by a power of two is rounded once. Beyond +-400 every finite number is 0 or infinite. */
SG_FN(ldexp_f32)
{
	const uint32_t in = SG_IN32(env), out = SG_OUT32(env), rnd = SG_RND32(env);
	for (unsigned i = 0; i < SG_LANES; i++) {
		double x = (double)sg_f32(sg_flush32(s0[i], in));
		int32_t e = (int32_t)sg_clamp64((int32_t)s1[i], -400, 400);
		d[i] = sg_flush32(sg_b32(sg_double_to_float(x * sg_f64((uint64_t)(1023 + e) << 52), rnd)), out);
	}
}

/* Cube maps: face by the largest magnitude, z before y before x. */

SG_INLINE unsigned
cube_axis(float x, float y, float z)
{
	float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
	if (az >= ax && az >= ay)
		return 2;
	return ay >= ax ? 1 : 0;
}

SG_INLINE float
cube_id(float x, float y, float z)
{
	unsigned axis = cube_axis(x, y, z);
	float major = axis == 2 ? z : axis == 1 ? y : x;
	return (float)(axis * 2) + (major < 0.0f ? 1.0f : 0.0f);
}

SG_INLINE float
cube_s(float x, float y, float z)
{
	switch (cube_axis(x, y, z)) {
	case 2: return z < 0.0f ? -x : x;
	case 1: return x;
	default: return x < 0.0f ? z : -z;
	}
}

SG_INLINE float
cube_t(float x, float y, float z)
{
	if (cube_axis(x, y, z) == 1)
		return y < 0.0f ? -z : z;
	return -y;
}

SG_INLINE float
cube_ma(float x, float y, float z)
{
	unsigned axis = cube_axis(x, y, z);
	return 2.0f * (axis == 2 ? z : axis == 1 ? y : x);
}

F32_OP(cubeid_f32, ABC, cube_id(a, b, c))
F32_OP(cubesc_f32, ABC, cube_s(a, b, c))
F32_OP(cubetc_f32, ABC, cube_t(a, b, c))
F32_OP(cubema_f32, ABC, cube_ma(a, b, c))
