/* SPDX-License-Identifier: MIT */
/* valu_trans.c: transcendental functions and the helpers of division, single precision.
 *
 * The ISA documents promise 1 ulp (sin, cos: an absolute error); computing in double and rounding once satisfies any
 * of that. They flush denormals whatever MODE says.
 */
#include "valu_impl.h"

static float
rcp(float x)
{
	return 1.0f / x;
}

static float
rsq(float x)
{
	return (float)(1.0 / sqrt((double)x));
}

static float
exp_2(float x)
{
	return (float)exp2((double)x);
}

static float
log_2(float x)
{
	return x < 0 ? (float)NAN : (float)log2((double)x); /* hardware's NaN is positive here, unlike sqrt's and rsq's */
}

/* Sources are revolutions. The fraction of one is exact, so big arguments lose nothing. */
double
sg_sin_turns(double x)
{
	double t = x - rint(x);
	if (isinf(x))
		return NAN; /* positive, as hardware's */
	if (t == 0.0 || fabs(t) == 0.5)
		return copysign(0.0, x);
	return sin(t * 6.283185307179586);
}

double
sg_cos_turns(double x)
{
	double t = fabs(x - rint(x));
	if (isinf(x))
		return NAN;
	return t == 0.25 ? 0.0 : cos(t * 6.283185307179586);
}

static float
sin_turns(float x)
{
	return (float)sg_sin_turns((double)x);
}

static float
cos_turns(float x)
{
	return (float)sg_cos_turns((double)x);
}

#define TRANS_OP(name, fn)                                                                                             \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		SG_EACH_LANE                                                                                           \
			d[i] = sg_flush32(sg_b32(fn(sg_f32(sg_flush32(s0[i], SG_SIGN32)))), SG_SIGN32);                \
	}

TRANS_OP(rcp_f32, rcp)
TRANS_OP(rsq_f32, rsq)
TRANS_OP(sqrt_f32, sqrtf)
TRANS_OP(exp_f32, exp_2)
TRANS_OP(log_f32, log_2)
TRANS_OP(sin_f32, sin_turns)
TRANS_OP(cos_f32, cos_turns)

/* Division. With s1 the denominator and s2 the numerator, div_scale moves whichever of them s0 is away from the
 * ranges in which 1/s1 or s2/s1 is denormal or overflows; the mask tells div_fmas to undo it. The factors are those
 * the hardware uses, 2^64 (f64: 2^128), not those of the published pseudo-code. */

static int
exponent(uint32_t x)
{
	return (int)(x >> 23 & 0xff);
}

static uint32_t
scale(uint32_t x, int e)
{
	return sg_b32(ldexpf(sg_f32(x), e));
}

/* Whether a quotient or reciprocal may be denormal is judged by exponents alone; the cases and the mask are those seen
 * on hardware: a zero (or flushed) operand gives NaN with the bit set. */
static uint32_t
div_scale(uint32_t a, uint32_t den, uint32_t num, bool *mask)
{
	int e_den = exponent(den), e_num = exponent(num);
	bool rcp_tiny = e_den == 253 || e_den == 254, quot_tiny = e_num - e_den <= -126;

	*mask = true;
	if ((den & ~SG_SIGN32) == 0 || (num & ~SG_SIGN32) == 0)
		return SG_QNAN32;
	if (e_num - e_den >= 96)
		return a == den ? scale(a, 64) : a;
	if (e_den == 0) {
		*mask = false;
		return scale(a, 64);
	}
	if (quot_tiny && rcp_tiny)
		return a == den ? scale(a, -64) : a;
	if (quot_tiny)
		return a == num ? scale(a, 64) : a;
	*mask = false;
	if (rcp_tiny)
		return scale(a, -64);
	return e_num <= 23 ? scale(a, 64) : a;
}

SG_FN(div_scale_f32)
{
	const uint32_t in = SG_IN32(env);
	uint32_t mask = 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		bool scaled;
		d[i] = div_scale(sg_flush32(s0[i], in), sg_flush32(s1[i], in), sg_flush32(s2[i], in), &scaled);
		mask |= scaled ? 1u << i : 0;
	}
	env->mask_out = mask;
}

/* a * b + c times the factor, rounded once, so that denormal quotients come out right: the product of floats is exact
 * in double, the sum is rounded to odd there (see sg_add_odd). */
static float
fma_scaled(float a, float b, float c, unsigned rnd)
{
	double p = (double)a * (double)b, s = p + (double)c, t = s - p;
	double err = (p - (s - t)) + ((double)c - t);
	uint64_t sum = sg_b64(s);

	if (isfinite(s) && err != 0.0 && !(sum & 1))
		sum += (err > 0.0) == (s > 0.0) ? 1 : UINT64_MAX;
	return sg_double_to_float(sg_f64(sum) * (exponent(sg_b32(c)) > 127 ? 0x1p64 : 0x1p-64), rnd);
}

SG_FN(div_fmas_f32)
{
	const uint32_t in = SG_IN32(env), out = SG_OUT32(env), rnd = SG_RND32(env);
	uint32_t scaled[SG_LANES];

	for (unsigned i = 0; i < SG_LANES; i++) {
		float a = sg_f32(sg_flush32(s0[i], in)), b = sg_f32(sg_flush32(s1[i], in));
		scaled[i] = sg_b32(fma_scaled(a, b, sg_f32(sg_flush32(s2[i], in)), rnd));
	}
	sg_fma_f32(d, s0, s1, s2, env);
	/* overflow comes before the scaling, as in the documents' definition */
	for (unsigned i = 0; i < SG_LANES; i++)
		if ((env->carry_in >> i & 1) && !sg_inf32(d[i]))
			d[i] = sg_flush32(scaled[i], out);
}

static uint32_t
div_fixup(uint32_t quot, uint32_t den, uint32_t num)
{
	uint32_t sign = (den ^ num) & SG_SIGN32, den_mag = den & ~SG_SIGN32, num_mag = num & ~SG_SIGN32;

	if (sg_nan32(num))
		return num | 0x00400000;
	if (sg_nan32(den))
		return den | 0x00400000;
	if ((den_mag | num_mag) == 0 || (sg_inf32(den) && sg_inf32(num)))
		return SG_QNAN32; /* seen on hardware; the documents have the sign bit set */
	if (den_mag == 0 || sg_inf32(num))
		return sign | 0x7f800000;
	if (num_mag == 0 || sg_inf32(den))
		return sign;
	if (sg_nan32(quot))
		return sign | 0x7f800000;
	return (quot & ~SG_SIGN32) | sign;
}

SG_FN(div_fixup_f32)
{
	const uint32_t in = SG_IN32(env), out = SG_OUT32(env);
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = sg_flush32(div_fixup(sg_flush32(s0[i], in), sg_flush32(s1[i], in), sg_flush32(s2[i], in)), out);
}
