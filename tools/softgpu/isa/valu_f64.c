/* SPDX-License-Identifier: MIT */
/* valu_f64.c: double precision. */
#include "valu_impl.h"

/* As F32_OP of valu_f32.c, over register pairs. */
#define F64_OP(name, sources, expr)                                                                                    \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4, HAS_O = (sources)&8 };                                \
		const uint64_t in = SG_IN64(env), out = SG_OUT64(env);                                                 \
		const uint32_t rnd = SG_RND16(env);                                                                    \
		uint64_t r[SG_LANES];                                                                                  \
		sg_round_set(rnd);                                                                                     \
		for (unsigned i = 0; i < SG_LANES; i++) {                                                              \
			double a __attribute__((unused)) = sg_f64(sg_flush64(sg_ld64(s0, i), in));                     \
			double b __attribute__((unused)) = HAS_B ? sg_f64(sg_flush64(sg_ld64(s1, i), in)) : 0;         \
			double c __attribute__((unused)) = HAS_C ? sg_f64(sg_flush64(sg_ld64(s2, i), in)) : 0;         \
			double o __attribute__((unused)) = HAS_O ? sg_f64(sg_flush64(sg_ld64(d, i), in)) : 0;          \
			r[i] = sg_flush64(sg_b64(expr), out);                                                          \
		}                                                                                                      \
		sg_st64(d, r);                                                                                         \
		sg_round_reset(rnd);                                                                                   \
	}

enum { A = 1, AB = 3, ABC = 7, AB_O = 11 };

F64_OP(add_f64, AB, sg_first64(a + b, a, b, 0))
F64_OP(mul_f64, AB, sg_first64(a * b, a, b, 0))
F64_OP(fma_f64, ABC, sg_first64(fma(a, b, c), a, b, c))
F64_OP(fmac_f64, AB_O, sg_first64(fma(a, b, o), a, b, o))

/* Hardware gives about 2^-23 here and code refines it; exact satisfies that. */
F64_OP(rcp_f64, A, 1.0 / a)
F64_OP(rsq_f64, A, 1.0 / sqrt(a))
F64_OP(sqrt_f64, A, sqrt(a))

SG_INLINE uint64_t
minmax64(uint64_t a, uint64_t b, bool max, bool ieee)
{
	const uint64_t quiet = 0x0008000000000000ull;
	if (ieee && sg_snan64(a))
		return a | quiet;
	if (ieee && sg_snan64(b))
		return b | quiet;
	if (sg_nan64(a))
		return sg_nan64(b) ? a | quiet : b;
	if (sg_nan64(b))
		return a;
	int64_t ka = (int64_t)(a ^ (a >> 63 ? ~SG_SIGN64 : 0)), kb = (int64_t)(b ^ (b >> 63 ? ~SG_SIGN64 : 0));
	return (ka < kb) != max ? a : b;
}

#define F64_BITS(a) sg_b64(a)
F64_OP(min_f64, AB, sg_f64(minmax64(F64_BITS(a), F64_BITS(b), false, SG_IEEE(env))))
F64_OP(max_f64, AB, sg_f64(minmax64(F64_BITS(a), F64_BITS(b), true, SG_IEEE(env))))

/* On bits: what compilers make of trunc and floor for hosts without an instruction for them works to nearest only, and
 * here MODE's rounding is set. */
static double
cut(double x)
{
	uint64_t bits = sg_b64(x);
	unsigned e = bits >> 52 & 0x7ff;

	if (e < 1023)
		return sg_f64(bits & SG_SIGN64);
	return e >= 1023 + 52 ? x : sg_f64(bits & ~(UINT64_MAX >> 12 >> (e - 1023)));
}

static double
floor64(double x)
{
	double t = cut(x);

	return t > x ? t - 1 : t; /* exact */
}

static double
ceil64(double x)
{
	return -floor64(-x);
}

static double
fract(double x)
{
	double f = x - floor64(x);
	return f > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : f;
}

static double
frexp_mant(double x)
{
	int e;
	return isnan(x) || isinf(x) ? x + 0.0 : frexp(x, &e);
}

F64_OP(trunc_f64, A, sg_first64(cut(a), a, 0, 0))
F64_OP(floor_f64, A, sg_first64(floor64(a), a, 0, 0))
F64_OP(ceil_f64, A, sg_first64(ceil64(a), a, 0, 0))

/* Ties to even whatever MODE says, so outside F64_OP's rounding. */
SG_FN(rndne_f64)
{
	const uint64_t in = SG_IN64(env);
	uint64_t r[SG_LANES];
	for (unsigned i = 0; i < SG_LANES; i++) {
		double a = sg_f64(sg_flush64(sg_ld64(s0, i), in));
		r[i] = sg_b64(sg_first64(rint(a), a, 0, 0));
	}
	sg_st64(d, r);
}

F64_OP(fract_f64, A, sg_first64(fract(a), a, 0, 0))
F64_OP(frexp_mant_f64, A, frexp_mant(a))

SG_FN(frexp_exp_i32_f64)
{
	const uint64_t in = SG_IN64(env);
	for (unsigned i = 0; i < SG_LANES; i++) {
		double x = sg_f64(sg_flush64(sg_ld64(s0, i), in));
		int e = 0;
		if (!isnan(x) && !isinf(x))
			frexp(x, &e);
		d[i] = (uint32_t)e;
	}
}

SG_FN(ldexp_f64)
{
	const uint64_t in = SG_IN64(env), out = SG_OUT64(env);
	const uint32_t rnd = SG_RND16(env);
	uint64_t r[SG_LANES];
	sg_round_set(rnd);
	for (unsigned i = 0; i < SG_LANES; i++) {
		int e = (int)sg_clamp64((int32_t)s1[i], -4000, 4000);
		r[i] = sg_flush64(sg_b64(ldexp(sg_f64(sg_flush64(sg_ld64(s0, i), in)), e)), out);
	}
	sg_st64(d, r);
	sg_round_reset(rnd);
}

/* Division: as in valu_trans.c, with factors of 2^128. */

static int
exponent(uint64_t x)
{
	return (int)(x >> 52 & 0x7ff);
}

static uint64_t
scale(uint64_t x, int e)
{
	return sg_b64(ldexp(sg_f64(x), e));
}

static uint64_t
div_scale(uint64_t a, uint64_t den, uint64_t num, bool *mask)
{
	int e_den = exponent(den), e_num = exponent(num);
	bool rcp_tiny = e_den == 2045 || e_den == 2046, quot_tiny = e_num - e_den <= -1022;

	*mask = true;
	if ((den & ~SG_SIGN64) == 0 || (num & ~SG_SIGN64) == 0)
		return SG_QNAN64;
	if (e_num - e_den >= 768)
		return a == den ? scale(a, 128) : a;
	if (e_den == 0) {
		*mask = false;
		return scale(a, 128);
	}
	if (quot_tiny && rcp_tiny)
		return a == den ? scale(a, -128) : a;
	if (quot_tiny)
		return a == num ? scale(a, 128) : a;
	*mask = false;
	if (rcp_tiny)
		return scale(a, -128);
	return e_num <= 53 ? scale(a, 128) : a;
}

SG_FN(div_scale_f64)
{
	const uint64_t in = SG_IN64(env);
	uint64_t r[SG_LANES];
	uint32_t mask = 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		bool scaled;
		r[i] = div_scale(sg_flush64(sg_ld64(s0, i), in), sg_flush64(sg_ld64(s1, i), in),
				 sg_flush64(sg_ld64(s2, i), in), &scaled);
		mask |= scaled ? 1u << i : 0;
	}
	sg_st64(d, r);
	env->mask_out = mask;
}

/* The product with the factor may be denormal and round a second time. That goes wrong only when it lands on a tie
 * which the first rounding made; the sign of that rounding's error (Boldo and Muller, ErrFmaNearest) then decides. */
static double
scale_down(double r, double a, double b, double c)
{
	double s = r * 0x1p-128, lost = r - s * 0x1p128;
	if (fabs(lost) != 0x1p-947) /* half of the least denormal, scaled up */
		return s;
	double u1 = a * b, u2 = fma(a, b, -u1);
	double a1 = c + u2, z = (c - (a1 - (a1 - c))) + (u2 - (a1 - c));
	double b1 = u1 + a1, b2 = (u1 - (b1 - (b1 - u1))) + (a1 - (b1 - u1));
	double err = ((b1 - r) + b2) + z;
	if (err != 0.0 && (err > 0.0) == (lost > 0.0))
		return nextafter(s, lost > 0.0 ? INFINITY : -INFINITY);
	return s;
}

SG_INLINE double
div_fmas(double a, double b, double c, bool scaled)
{
	double r = sg_first64(fma(a, b, c), a, b, c);
	if (!scaled || r != r)
		return r;
	return exponent(sg_b64(c)) > 1023 ? r * 0x1p128 : scale_down(r, a, b, c);
}

F64_OP(div_fmas_f64, ABC, div_fmas(a, b, c, env->carry_in >> i & 1))

static uint64_t
div_fixup(uint64_t quot, uint64_t den, uint64_t num)
{
	const uint64_t inf = 0x7ff0000000000000ull, quiet = 0x0008000000000000ull;
	uint64_t sign = (den ^ num) & SG_SIGN64, den_mag = den & ~SG_SIGN64, num_mag = num & ~SG_SIGN64;

	if (sg_nan64(num))
		return num | quiet;
	if (sg_nan64(den))
		return den | quiet;
	if ((den_mag | num_mag) == 0 || (den_mag == inf && num_mag == inf))
		return SG_QNAN64; /* as f32's, which was seen on hardware */
	if (den_mag == 0 || num_mag == inf)
		return sign | inf;
	if (num_mag == 0 || den_mag == inf)
		return sign;
	if (sg_nan64(quot))
		return sign | inf;
	return (quot & ~SG_SIGN64) | sign;
}

F64_OP(div_fixup_f64, ABC, sg_f64(div_fixup(sg_b64(a), sg_b64(b), sg_b64(c))))

/* The 1201 bits of 2/pi after the binary point, most significant first, and zeros. */
static const uint64_t two_over_pi[19] = {
	0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
	0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
	0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
	0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
	0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b0000ull,
};

static uint64_t
two_over_pi_bits(unsigned first)
{
	unsigned word = first / 64, shift = first % 64;
	uint64_t hi = word < 19 ? two_over_pi[word] : 0, lo = word + 1 < 19 ? two_over_pi[word + 1] : 0;
	return shift ? hi << shift | lo >> (64 - shift) : hi;
}

/* 53 bits of 2/pi that matter for s0's exponent, segment s1[4:0], scaled to their place. */
SG_FN(trig_preop_f64)
{
	uint64_t r[SG_LANES];
	for (unsigned i = 0; i < SG_LANES; i++) {
		int e = exponent(sg_ld64(s0, i));
		unsigned shift = (s1[i] & 31) * 53 + (e > 1077 ? (unsigned)e - 1077 : 0);
		double bits = (double)(two_over_pi_bits(shift) >> 11);
		r[i] = sg_b64(ldexp(bits, -53 - (int)shift + (e >= 1968 ? 128 : 0)));
	}
	sg_st64(d, r);
}
