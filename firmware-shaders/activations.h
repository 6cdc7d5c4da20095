/* SPDX-License-Identifier: MIT */
/*
 * ReLU, exp, sigmoid and tanh in f32. Measured on the CPU with an exact exp2f: exp_clamped 1.0 ulp,
 * sigmoid1 3.2 ulp, tanh1 1.4 ulp. Finite for every finite argument; NaN stays NaN, hence comparisons
 * instead of fmin and fmax, which would turn a poisoned value into a plausible one.
 */
#ifndef GPUPLAN_ACTIVATIONS_H
#define GPUPLAN_ACTIVATIONS_H

static inline float
relu1(float x)
{
	return x < 0.0f ? 0.0f : x;
}

static inline float
at_most(float x, float limit)
{
	return x > limit ? limit : x;
}

/*
 * e^x for |x| <= 87 (e^87 < FLT_MAX, e^-87 > FLT_MIN; callers clamp).
 * x * log2(e) is kept as the rounded product t and its error, because at |t| = 100 half an ulp of t
 * alone would be a relative error of 2.6e-6: 2^(t + d) = 2^t * (1 + d ln 2).
 */
static inline float
exp_clamped(float x)
{
	const float log2e_hi = 0x1.715476p+0f;
	const float log2e_lo = 0x1.4ae0c0p-26f; /* log2(e) - log2e_hi */
	const float ln2 = 0x1.62e430p-1f;
	float t = x * log2e_hi;
	float d = fma1(x, log2e_lo, fma1(x, log2e_hi, -t));
	float e = exp2_raw(t);

	return fma1(e, d * ln2, e);
}

/* 1 / (1 + e^-x). Beyond +-87 the clamp changes the result by less than FLT_MIN * 2. */
static inline float
sigmoid1(float x)
{
	return 1.0f / (1.0f + exp_clamped(at_most(-at_most(x, 87.0f), 87.0f)));
}

/*
 * tanh. From 0.625 up 1 - 2 / (e^2|x| + 1) loses nothing; below it cancels, so the odd polynomial
 * of Cephes tanhf (S. Moshier, error < 1 ulp on the interval) takes over. From |x| = 9.02 up the
 * result rounds to 1, so 2|x| needs a clamp only against overflow.
 */
static inline float
tanh1(float x)
{
	float a = abs1(x);
	float z = x * x;
	float p = -5.70498872745e-3f;
	float e = exp_clamped(at_most(2.0f * a, 87.0f));

	p = fma1(p, z, 2.06390887954e-2f);
	p = fma1(p, z, -5.37397155531e-2f);
	p = fma1(p, z, 1.33314422036e-1f);
	p = fma1(p, z, -3.33332819422e-1f);
	return a < 0.625f ? fma1(p * z, x, x) : sign_of(1.0f - 2.0f / (e + 1.0f), x);
}

#endif
