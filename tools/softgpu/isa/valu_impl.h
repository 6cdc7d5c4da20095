/* SPDX-License-Identifier: MIT */
/* valu_impl.h: what the valu_*.c files share. Not for use outside them.
 *
 * No function here depends on -ffast-math or MXCSR flags: denormals are flushed by masks and the host rounding mode
 * is changed only around whole lane loops (struct sg_round), never left changed.
 */
#ifndef SOFTGPU_VALU_IMPL_H
#define SOFTGPU_VALU_IMPL_H

#include "valu.h"

#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define SG_MODE_IEEE (1u << 9)
#define SG_MODE_FP16_OVFL (1u << 23)

/* MODE round fields. */
enum { SG_RND_NEAREST, SG_RND_UP, SG_RND_DOWN, SG_RND_ZERO };

#define SG_SIGN32 0x80000000u
#define SG_SIGN64 0x8000000000000000ull
#define SG_QNAN16 0x7e00u
#define SG_QNAN32 0x7fc00000u
#define SG_QNAN64 0x7ff8000000000000ull

/* d equal to a source is no dependence between lanes; without the hint compilers fall back to scalar code then. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* loops with libm calls can't become vectors: expected */
#define SG_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SG_IVDEP _Pragma("GCC ivdep")
#endif
#define SG_EACH_LANE SG_IVDEP for (unsigned i = 0; i < SG_LANES; i++)
#define SG_INLINE static inline __attribute__((always_inline))
#define SG_FN(name)                                                                                                    \
	void sg_##name(uint32_t *d __attribute__((unused)), const uint32_t *s0 __attribute__((unused)),                \
		       const uint32_t *s1 __attribute__((unused)), const uint32_t *s2 __attribute__((unused)),         \
		       struct sg_valu_env *env __attribute__((unused)))

/* Prototypes of all operations. */
#define SG_OP(name, fn, dst, a, b, c, flags) sg_valu_fn sg_##fn;
#include "valu_list.h"
#undef SG_OP

/* Bits and numbers */

SG_INLINE float
sg_f32(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

SG_INLINE uint32_t
sg_b32(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

SG_INLINE double
sg_f64(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

SG_INLINE uint64_t
sg_b64(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

SG_INLINE int32_t
sg_sext16(uint32_t x)
{
	return (int32_t)((x & 0xffff) ^ 0x8000) - 0x8000;
}

SG_INLINE int32_t
sg_sext4(uint32_t x)
{
	return (int32_t)((x & 15) ^ 8) - 8;
}

SG_INLINE uint32_t
sg_sel(uint32_t mask, uint32_t a, uint32_t b)
{
	return (a & mask) | (b & ~mask);
}

SG_INLINE int64_t
sg_clamp64(int64_t x, int64_t lo, int64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

SG_INLINE uint64_t
sg_ld64(const uint32_t *s, unsigned i)
{
	return s[i] | (uint64_t)s[i + SG_LANES] << 32;
}

/* Register pairs may overlap by one register (v[1:2] = op v[0:1]), hence the detour of whole results. */
SG_INLINE void
sg_st64(uint32_t *d, const uint64_t *r)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		d[i] = (uint32_t)r[i];
		d[i + SG_LANES] = (uint32_t)(r[i] >> 32);
	}
}

/* All ones where a < b, both below 2^31. Arithmetic, because gcc makes branches of conditional masks and then no
 * vectors. */
SG_INLINE uint32_t
sg_below(uint32_t a, uint32_t b)
{
	return (uint32_t)((int32_t)(a - b) >> 31);
}

extern const uint32_t sg_lane_bit[SG_LANES];

/* Bit 31 of each word becomes the bit of its lane. */
uint32_t sg_movemask(const uint32_t *words);

/* Modes */

SG_INLINE uint32_t
sg_keep(uint32_t mode, unsigned bit, uint32_t sign)
{
	return mode >> bit & 1 ? ~0u : sign;
}

/* Masks to AND denormals with: all ones keeps them, the sign bit alone flushes. */
#define SG_IN32(env) sg_keep((env)->mode, 4, SG_SIGN32)
#define SG_OUT32(env) sg_keep((env)->mode, 5, SG_SIGN32)
#define SG_IN16(env) sg_keep((env)->mode, 6, 0x8000)
#define SG_OUT16(env) sg_keep((env)->mode, 7, 0x8000)
#define SG_IN64(env) ((env)->mode >> 6 & 1 ? ~0ull : SG_SIGN64)
#define SG_OUT64(env) ((env)->mode >> 7 & 1 ? ~0ull : SG_SIGN64)
#define SG_RND32(env) ((env)->mode & 3)
#define SG_RND16(env) ((env)->mode >> 2 & 3)

SG_INLINE uint32_t
sg_flush32(uint32_t x, uint32_t keep)
{
	uint32_t normal = (x & 0x7f800000) ? ~0u : 0;
	return x & (normal | keep);
}

SG_INLINE uint32_t
sg_flush16(uint32_t x, uint32_t keep)
{
	uint32_t normal = (x & 0x7c00) ? 0xffffu : 0;
	return x & (normal | keep) & 0xffff;
}

SG_INLINE uint64_t
sg_flush64(uint64_t x, uint64_t keep)
{
	uint64_t normal = (x & 0x7ff0000000000000ull) ? ~0ull : 0;
	return x & (normal | keep);
}

/* Host rounding mode for a loop over memory; the calls are opaque, so no arithmetic moves across them. */
SG_INLINE void
sg_round_set(unsigned rnd)
{
	static const int host[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	if (rnd != SG_RND_NEAREST)
		fesetround(host[rnd]);
}

SG_INLINE void
sg_round_reset(unsigned rnd)
{
	if (rnd != SG_RND_NEAREST)
		fesetround(FE_TONEAREST);
}

/* Classes */

SG_INLINE bool
sg_nan32(uint32_t x)
{
	return (x & 0x7fffffff) > 0x7f800000;
}

SG_INLINE bool
sg_nan16(uint32_t x)
{
	return (x & 0x7fff) > 0x7c00;
}

SG_INLINE bool
sg_nan64(uint64_t x)
{
	return (x & ~SG_SIGN64) > 0x7ff0000000000000ull;
}

SG_INLINE bool
sg_snan64(uint64_t x)
{
	return sg_nan64(x) && !(x & 0x0008000000000000ull);
}

SG_INLINE bool
sg_inf32(uint32_t x)
{
	return (x & 0x7fffffff) == 0x7f800000;
}

/* What of a result r is a NaN's: that of the first operand that is one, quieted. Compilers exchange the operands of
 * additions and products, so without this the payload depends on how a loop was compiled. */
SG_INLINE float
sg_first32(float r, float a, float b, float c)
{
	const uint32_t inf = 0x7f800000, quiet = 0x00400000, mag = ~SG_SIGN32;
	uint32_t x = sg_b32(a), y = sg_b32(b), z = sg_b32(c), bits = sg_b32(r);

	bits = sg_sel(sg_below(inf, z & mag), z | quiet, bits);
	bits = sg_sel(sg_below(inf, y & mag), y | quiet, bits);
	return sg_f32(sg_sel(sg_below(inf, x & mag), x | quiet, bits));
}

SG_INLINE double
sg_first64(double r, double a, double b, double c)
{
	const uint64_t quiet = 0x0008000000000000ull;

	if (a != a)
		return sg_f64(sg_b64(a) | quiet);
	if (b != b)
		return sg_f64(sg_b64(b) | quiet);
	return c != c ? sg_f64(sg_b64(c) | quiet) : r;
}

/* For sums of many: one NaN for all. */
SG_INLINE float
sg_any32(float r)
{
	uint32_t bits = sg_b32(r);
	return sg_f32(sg_sel(sg_below(0x7f800000, bits & ~SG_SIGN32), SG_QNAN32, bits));
}

/* Half precision */

/* Exact. Scaling by 2^112 makes halves' denormals normal. */
SG_INLINE float
sg_half(uint32_t h)
{
	uint32_t mag = (h & 0x7fff) << 13;
	uint32_t bits = sg_b32(sg_f32(mag) * 0x1p112f);
	bits = sg_sel(sg_below(mag, 0x0f800000), bits, mag | 0x7f800000);
	return sg_f32(bits | (h & 0x8000) << 16);
}

/* To nearest even; the host must round to nearest too. */
SG_INLINE uint32_t
sg_to_half_nearest(uint32_t x)
{
	uint32_t mag = x & 0x7fffffff;
	uint32_t normal = (mag - 0x38000000 + 0xfff + (mag >> 13 & 1)) >> 13;
	uint32_t tiny = sg_b32(sg_f32(mag) + 0.5f) - 0x3f000000; /* ulp of 0.5f is the least half denormal */
	uint32_t nan = 0x7e00 | (mag >> 13 & 0x3ff);
	uint32_t r = sg_sel(sg_below(mag, 0x38800000), tiny, normal);
	r = sg_sel(sg_below(mag, 0x477ff000), r, 0x7c00);
	r = sg_sel(sg_below(0x7f800000, mag), nan, r);
	return r | (x >> 16 & 0x8000);
}

/* Any MODE rounding and FP16_OVFL (finite values overflow to 65504 at most). */
uint32_t sg_to_half(uint32_t f32_bits, unsigned rnd, bool ovfl);
uint32_t sg_double_to_half(double x, unsigned rnd, bool ovfl);
float sg_double_to_float(double x, unsigned rnd);

/* Sine and cosine of x revolutions. */
double sg_sin_turns(double x);
double sg_cos_turns(double x);

/* a + c rounded to odd in f32: rounding that to half in any mode gives what rounding the exact sum once would. The
 * error term is exact (two-sum); in bits, so that compilers make vectors of it. */
SG_INLINE float
sg_add_odd(float a, float c)
{
	float s = a + c, t = s - a;
	uint32_t err = sg_b32((a - (s - t)) + (c - t)), bits = sg_b32(s);
	uint32_t inexact = sg_below(0, err & 0x7fffffff);
	uint32_t finite = sg_below(bits & 0x7f800000, 0x7f800000);
	uint32_t outwards = 1 - ((err ^ bits) >> 31) * 2;
	return sg_f32(bits + (inexact & finite & ~bits & 1) * outwards);
}

/* bfloat16 is the upper half of f32. */
SG_INLINE float
sg_bf16(uint32_t h)
{
	return sg_f32(h << 16);
}

SG_INLINE uint32_t
sg_to_bf16(float f)
{
	uint32_t x = sg_b32(f);
	if (sg_nan32(x))
		return (x >> 16 | 0x40) & 0xffff;
	return (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

/* Minimum and maximum: order by a key that puts -0 below +0; a NaN yields to the other operand, except that with
 * MODE.IEEE a signalling NaN wins and is quieted. ieee: all ones or 0. */
SG_INLINE uint32_t
sg_key32(uint32_t x)
{
	return x ^ (uint32_t)((int32_t)x >> 31) >> 1;
}

SG_INLINE uint32_t
sg_minmax32(uint32_t a, uint32_t b, bool max, uint32_t ieee)
{
	const uint32_t inf = 0x7f800000, quiet = 0x00400000;
	uint32_t nan_a = sg_below(inf, a & 0x7fffffff), nan_b = sg_below(inf, b & 0x7fffffff);
	uint32_t sig_a = nan_a & ieee & sg_below(a & quiet, quiet), sig_b = nan_b & ieee & sg_below(b & quiet, quiet);
	uint32_t less = (int32_t)sg_key32(a) < (int32_t)sg_key32(b) ? ~0u : 0;
	uint32_t pick_a = max ? ~less : less;
	pick_a = (pick_a & ~nan_a) | nan_b;
	uint32_t r = sg_sel(pick_a, a, b);
	r = sg_sel(nan_a & nan_b, a | quiet, r);
	r = sg_sel(sig_b, b | quiet, r);
	return sg_sel(sig_a, a | quiet, r);
}

SG_INLINE uint32_t
sg_minmax16(uint32_t a, uint32_t b, bool max, uint32_t ieee)
{
	const uint32_t inf = 0x7c00, quiet = 0x0200;
	uint32_t nan_a = sg_below(inf, a & 0x7fff), nan_b = sg_below(inf, b & 0x7fff);
	uint32_t sig_a = nan_a & ieee & sg_below(a & quiet, quiet), sig_b = nan_b & ieee & sg_below(b & quiet, quiet);
	/* positive: 0x8000 up; negative: complemented, 0x7fff down */
	uint32_t key_a = a ^ (sg_below(0x7fff, a) | 0x8000), key_b = b ^ (sg_below(0x7fff, b) | 0x8000);
	uint32_t less = sg_below(key_a & 0xffff, key_b & 0xffff);
	uint32_t pick_a = ((max ? ~less : less) & ~nan_a) | nan_b;
	uint32_t r = sg_sel(pick_a, a, b);
	r = sg_sel(nan_a & nan_b, a | quiet, r);
	r = sg_sel(sig_b, b | quiet, r);
	return sg_sel(sig_a, a | quiet, r);
}

#define SG_IEEE(env) ((env)->mode & SG_MODE_IEEE ? ~0u : 0)

#endif
