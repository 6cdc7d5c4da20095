/* SPDX-License-Identifier: MIT */
/* valu_cvt.c: conversions. Those to integers saturate and turn NaN into 0. */
#include "valu_impl.h"

/* Rounding in software, for what the host's rounding mode can't do */

float
sg_double_to_float(double x, unsigned rnd)
{
	float f = (float)x;
	switch (rnd) {
	case SG_RND_UP: return (double)f < x ? nextafterf(f, INFINITY) : f;
	case SG_RND_DOWN: return (double)f > x ? nextafterf(f, -INFINITY) : f;
	case SG_RND_ZERO: return fabs((double)f) > fabs(x) ? nextafterf(f, 0.0f) : f;
	default: return f;
	}
}

uint32_t
sg_double_to_half(double x, unsigned rnd, bool ovfl)
{
	uint64_t bits = sg_b64(x);
	uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
	int e = (int)(bits >> 52 & 0x7ff) - 1023;

	if (sg_nan64(bits))
		return sign | SG_QNAN16 | ((uint32_t)(bits >> 42) & 0x3ff);
	if (isinf(x))
		return sign | 0x7c00;
	if (e > 16)
		e = 16;
	if (e < -14)
		e = -14;
	/* in units of the last place; scaling by a power of two is exact here */
	double units = ldexp(fabs(x), 10 - e);
	if (units > 4096.0)
		units = 4096.0;
	uint32_t n = (uint32_t)units;
	double rest = units - n;
	if (rnd == SG_RND_NEAREST)
		n += rest > 0.5 || (rest == 0.5 && (n & 1));
	else if (rnd == (sign ? SG_RND_DOWN : SG_RND_UP))
		n += rest > 0.0;
	/* the implicit bit of normal numbers adds one to the exponent field, as does a carry */
	uint32_t h = ((uint32_t)(e + 14) << 10) + n;
	if (h < 0x7c00)
		return sign | h;
	bool to_max = ovfl || rnd == SG_RND_ZERO || rnd == (sign ? SG_RND_UP : SG_RND_DOWN);
	return sign | (to_max ? 0x7bff : 0x7c00);
}

uint32_t
sg_to_half(uint32_t f32_bits, unsigned rnd, bool ovfl)
{
	return sg_double_to_half((double)sg_f32(f32_bits), rnd, ovfl);
}

/* To integers: the range is cut first, as C leaves conversions out of range undefined. */

SG_INLINE uint32_t
float_to_i32(float x)
{
	uint32_t big = x >= 0x1p31f ? ~0u : 0, in_range = ((x >= -0x1p31f) & (x < 0x1p31f)) ? ~0u : 0;
	uint32_t small = x < -0x1p31f ? ~0u : 0;
	uint32_t r = (uint32_t)(int32_t)sg_f32(sg_b32(x) & in_range);
	return (r & in_range) | (big & 0x7fffffff) | (small & 0x80000000);
}

SG_INLINE uint32_t
float_to_u32(float x)
{
	if (!(x > 0.0f))
		return 0;
	return x >= 0x1p32f ? UINT32_MAX : (uint32_t)x;
}

SG_INLINE uint32_t
double_to_i32(double x)
{
	if (isnan(x))
		return 0;
	return x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)x;
}

SG_INLINE uint32_t
double_to_u32(double x)
{
	if (!(x > 0.0))
		return 0;
	return x >= 0x1p32 ? UINT32_MAX : (uint32_t)x;
}

/* To a small integer type, truncating. */
SG_INLINE int32_t
float_to_range(float x, int32_t lo, int32_t hi)
{
	if (x != x)
		return 0;
	return x <= (float)lo ? lo : x >= (float)hi ? hi : (int32_t)x;
}

/* Ties to even; |x| < 2^22. */
SG_INLINE float
round_even(float x)
{
	return copysignf((fabsf(x) + 0x1p23f) - 0x1p23f, x);
}

SG_INLINE uint32_t
snorm16(float x)
{
	float y = x != x ? 0.0f : x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
	return (uint32_t)(int32_t)round_even(y * 32767.0f) & 0xffff;
}

SG_INLINE uint32_t
unorm16(float x)
{
	float y = !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
	return (uint32_t)(int32_t)round_even(y * 65535.0f);
}

#define CVT_OP(name, load, expr)                                                                                       \
	SG_FN(cvt_##name)                                                                                              \
	{                                                                                                              \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			load;                                                                                          \
			d[i] = (uint32_t)(expr);                                                                       \
		}                                                                                                      \
	}
#define LOAD_F32 float x = sg_f32(sg_flush32(s0[i], SG_IN32(env)))
#define LOAD_F16 float x = sg_half(sg_flush16(s0[i], SG_IN16(env)))
#define LOAD_F64 double x = sg_f64(sg_flush64(sg_ld64(s0, i), SG_IN64(env)))
#define LOAD_U32 uint32_t x = s0[i]
#define LOAD_2_F32                                                                                                     \
	float x = sg_f32(sg_flush32(s0[i], SG_IN32(env))), y = sg_f32(sg_flush32(s1[i], SG_IN32(env)))
#define LOAD_2_F16                                                                                                     \
	float x = sg_half(sg_flush16(s0[i], SG_IN16(env))), y = sg_half(sg_flush16(s1[i], SG_IN16(env)))
#define LOAD_2_U32 uint32_t x = s0[i], y = s1[i]

CVT_OP(i32_f32, LOAD_F32, float_to_i32(x))
CVT_OP(u32_f32, LOAD_F32, float_to_u32(x))
CVT_OP(i32_f64, LOAD_F64, double_to_i32(x))
CVT_OP(u32_f64, LOAD_F64, double_to_u32(x))
CVT_OP(nearest_i32_f32, LOAD_F32, double_to_i32(floor((double)x + 0.5)))
CVT_OP(floor_i32_f32, LOAD_F32, double_to_i32(floor((double)x)))
CVT_OP(i16_f16, LOAD_F16, float_to_range(x, INT16_MIN, INT16_MAX) & 0xffff)
CVT_OP(u16_f16, LOAD_F16, float_to_range(x, 0, UINT16_MAX))
CVT_OP(norm_i16_f16, LOAD_F16, snorm16(x))
CVT_OP(norm_u16_f16, LOAD_F16, unorm16(x))
CVT_OP(i32_i16, LOAD_U32, sg_sext16(x))
CVT_OP(u32_u16, LOAD_U32, x & 0xffff)
CVT_OP(pk_i16_f32, LOAD_2_F32,
       (float_to_range(x, INT16_MIN, INT16_MAX) & 0xffff) | (uint32_t)float_to_range(y, INT16_MIN, INT16_MAX) << 16)
CVT_OP(pk_u16_f32, LOAD_2_F32,
       (uint32_t)float_to_range(x, 0, UINT16_MAX) | (uint32_t)float_to_range(y, 0, UINT16_MAX) << 16)
CVT_OP(pk_norm_i16_f32, LOAD_2_F32, snorm16(x) | snorm16(y) << 16)
CVT_OP(pk_norm_u16_f32, LOAD_2_F32, unorm16(x) | unorm16(y) << 16)
CVT_OP(pk_norm_i16_f16, LOAD_2_F16, snorm16(x) | snorm16(y) << 16)
CVT_OP(pk_norm_u16_f16, LOAD_2_F16, unorm16(x) | unorm16(y) << 16)
CVT_OP(pk_u16_u32, LOAD_2_U32, (x > 0xffff ? 0xffff : x) | (y > 0xffff ? 0xffff : y) << 16)
CVT_OP(pk_i16_i32, LOAD_2_U32,
       (sg_clamp64((int32_t)x, INT16_MIN, INT16_MAX) & 0xffff) |
	       (uint32_t)sg_clamp64((int32_t)y, INT16_MIN, INT16_MAX) << 16)

/* One byte of s2 replaced, the one s1[1:0] names. */
SG_FN(cvt_pk_u8_f32)
{
	SG_EACH_LANE
	{
		LOAD_F32;
		uint32_t shift = (s1[i] & 3) * 8;
		d[i] = (s2[i] & ~(0xffu << shift)) | (uint32_t)float_to_range(x, 0, 255) << shift;
	}
}

SG_FN(sat_pk_u8_i16)
{
	SG_EACH_LANE
	d[i] = (uint32_t)(sg_clamp64(sg_sext16(s0[i]), 0, 255) | sg_clamp64(sg_sext16(s0[i] >> 16), 0, 255) << 8);
}

/* To f32: integers of more than 24 bits round as MODE says. */
#define TO_F32_OP(name, expr)                                                                                          \
	SG_FN(cvt_f32_##name)                                                                                          \
	{                                                                                                              \
		const uint32_t rnd = SG_RND32(env);                                                                    \
		sg_round_set(rnd);                                                                                     \
		SG_EACH_LANE d[i] = sg_b32((float)(expr));                                                             \
		sg_round_reset(rnd);                                                                                   \
	}

TO_F32_OP(i32, (int32_t)s0[i])
TO_F32_OP(u32, s0[i])
TO_F32_OP(ubyte0, (int32_t)(s0[i] & 0xff))
TO_F32_OP(ubyte1, (int32_t)(s0[i] >> 8 & 0xff))
TO_F32_OP(ubyte2, (int32_t)(s0[i] >> 16 & 0xff))
TO_F32_OP(ubyte3, (int32_t)(s0[i] >> 24))

SG_FN(cvt_off_f32_i4)
{
	SG_EACH_LANE d[i] = sg_b32((float)sg_sext4(s0[i]) * 0x1p-4f);
}

SG_FN(cvt_f32_f16)
{
	const uint32_t in = SG_IN16(env);
	SG_EACH_LANE
	{
		uint32_t r = sg_b32(sg_half(sg_flush16(s0[i], in)));
		d[i] = sg_nan32(r) ? r | 0x00400000 : r;
	}
}

SG_FN(cvt_f32_f64)
{
	const uint64_t in = SG_IN64(env);
	const uint32_t out = SG_OUT32(env), rnd = SG_RND32(env);
	sg_round_set(rnd);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_flush32(sg_b32((float)sg_f64(sg_flush64(sg_ld64(s0, i), in))), out);
	sg_round_reset(rnd);
}

/* To f16 */
SG_FN(cvt_f16_f32)
{
	const uint32_t in = SG_IN32(env), out = SG_OUT16(env), rnd = SG_RND16(env);
	const bool ovfl = env->mode & SG_MODE_FP16_OVFL;
	if (rnd == SG_RND_NEAREST && !ovfl) {
		SG_EACH_LANE d[i] = sg_flush16(sg_to_half_nearest(sg_flush32(s0[i], in)), out);
		return;
	}
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_flush16(sg_to_half(sg_flush32(s0[i], in), rnd, ovfl), out);
}

SG_FN(cvt_pk_rtz_f16_f32)
{
	const uint32_t in = SG_IN32(env), out = SG_OUT16(env);
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint32_t lo = sg_to_half(sg_flush32(s0[i], in), SG_RND_ZERO, false);
		uint32_t hi = sg_to_half(sg_flush32(s1[i], in), SG_RND_ZERO, false);
		d[i] = sg_flush16(lo, out) | sg_flush16(hi, out) << 16;
	}
}

SG_FN(cvt_f16_i16)
{
	const uint32_t rnd = SG_RND16(env);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_to_half(sg_b32((float)sg_sext16(s0[i])), rnd, false);
}

SG_FN(cvt_f16_u16)
{
	const uint32_t rnd = SG_RND16(env);
	const bool ovfl = env->mode & SG_MODE_FP16_OVFL;
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_to_half(sg_b32((float)(s0[i] & 0xffff)), rnd, ovfl);
}

/* To f64: exact. */
#define TO_F64_OP(name, expr)                                                                                          \
	SG_FN(cvt_f64_##name)                                                                                          \
	{                                                                                                              \
		uint64_t r[SG_LANES];                                                                                  \
		for (unsigned i = 0; i < SG_LANES; i++)                                                                \
			r[i] = sg_b64((double)(expr));                                                                 \
		sg_st64(d, r);                                                                                         \
	}

TO_F64_OP(f32, sg_f32(sg_flush32(s0[i], SG_IN32(env))))
TO_F64_OP(i32, (int32_t)s0[i])
TO_F64_OP(u32, s0[i])
