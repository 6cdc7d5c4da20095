/* SPDX-License-Identifier: MIT */
/* test_valu_float.c: the vector ALU's f32 and f64 arithmetic, minimum and maximum, division and functions. */
#include "valu_test.h"

/* Single precision */

static void
f32_arithmetic(void **state)
{
	(void)state;
	CHECK(KEEP("v_add_f32", bits(1.5f), bits(2.25f), 0), bits(3.75f));
	CHECK(KEEP("v_sub_f32", bits(1), bits(3), 0), bits(-2));
	CHECK(KEEP("v_subrev_f32", bits(1), bits(3), 0), bits(2));
	CHECK(KEEP("v_add_f32", 0x80000000, 0x80000000, 0), 0x80000000);
	CHECK(KEEP("v_add_f32", bits(1), bits(-1), 0), 0);
	CHECK(run("v_add_f32", MODE_KEEP | MODE_DOWN, bits(1), bits(-1), 0), 0x80000000);
	is_nan(KEEP("v_add_f32", INF32, 0xff800000, 0));
	CHECK(KEEP("v_add_f32", 0x7f800001, bits(1), 0), 0x7fc00001); /* quieted */
	/* one rounding against two */
	float e = 0x1p-12f;
	CHECK(KEEP("v_fma_f32", bits(1 + e), bits(1 + e), bits(-1 - 2 * e)), bits(e * e));
	CHECK(KEEP("v_mul_f32", bits(1 + e), bits(1 + e), 0), bits(1 + 2 * e));
	CHECK(KEEP("v_mad_f32", bits(1 + e), bits(1 + e), bits(-1 - 2 * e)), 0);
	CHECK(KEEP("v_fmamk_f32", bits(2), bits(3), bits(4)), bits(10));
	CHECK(KEEP("v_fmaak_f32", bits(2), bits(3), bits(4)), bits(10));
	struct sg_valu_env env = { .mode = MODE_KEEP };
	CHECK(run_env("v_fmac_f32", &env, bits(2), bits(3), 0, bits(5)), bits(11));
	/* 0 * infinity */
	CHECK(KEEP("v_mul_dx9_zero_f32", 0x80000000, INF32, 0), 0);
	CHECK(KEEP("v_fma_dx9_zero_f32", 0, NAN32, bits(2)), bits(2));
	is_nan(KEEP("v_mul_f32", 0, INF32, 0));
}

static void
f32_modes(void **state)
{
	(void)state;
	const uint32_t tiny = 0x00000001, big_denormal = 0x007fffff;
	CHECK(KEEP("v_add_f32", tiny, tiny, 0), 2);
	CHECK(run("v_add_f32", MODE_FLUSH, tiny, tiny, 0), 0);
	CHECK(run("v_mul_f32", MODE_FLUSH, 0x80800000, bits(0.5f), 0), 0x80000000);
	CHECK(run("v_mul_f32", MODE_FLUSH | 0x10, big_denormal, bits(2), 0), 0x00fffffe); /* sources kept */
	CHECK(run("v_mul_f32", MODE_FLUSH | 0x20, 0x00800000, bits(0.5f), 0), 0x00400000); /* results kept */
	CHECK(run("v_max_f32", MODE_FLUSH, tiny, 0x80000000, 0), 0);
	const float x = 1.0f, y = 0x1p-30f;
	CHECK(KEEP("v_add_f32", bits(x), bits(y), 0), bits(1));
	CHECK(run("v_add_f32", MODE_KEEP | MODE_UP, bits(x), bits(y), 0), bits(0x1.000002p0f));
	CHECK(run("v_add_f32", MODE_KEEP | MODE_DOWN, bits(-x), bits(-y), 0), bits(-0x1.000002p0f));
	CHECK(run("v_add_f32", MODE_KEEP | MODE_ZERO, bits(-x), bits(-y), 0), bits(-1));
	CHECK(run("v_fma_f32", MODE_KEEP | MODE_UP, bits(1), bits(1), bits(y)), bits(0x1.000002p0f));
	CHECK(run("v_cvt_f32_u32", MODE_KEEP | MODE_ZERO, 0xffffffff, 0, 0), bits(0x1.fffffep31f));
	CHECK(KEEP("v_cvt_f32_u32", 0xffffffff, 0, 0), bits(0x1p32f));
	CHECK(KEEP("v_add_f32", bits(x), bits(y), 0), bits(1)); /* the host's mode was put back */
}

static void
f32_min_max(void **state)
{
	(void)state;
	const uint32_t snan = 0x7f800001;
	CHECK(KEEP("v_min_f32", 0, 0x80000000, 0), 0x80000000);
	CHECK(KEEP("v_max_f32", 0x80000000, 0, 0), 0);
	CHECK(KEEP("v_min_f32", NAN32, bits(3), 0), bits(3));
	CHECK(KEEP("v_max_f32", bits(3), NAN32, 0), bits(3));
	CHECK(KEEP("v_max_f32", bits(3), snan, 0), 0x7fc00001);
	CHECK(run("v_max_f32", MODE_NO_IEEE, bits(3), snan, 0), bits(3));
	CHECK(KEEP("v_min_f32", 0xff800000, bits(-3), 0), 0xff800000);
	CHECK(KEEP("v_min3_f32", bits(3), bits(1), bits(2)), bits(1));
	CHECK(KEEP("v_max3_f32", bits(3), bits(1), bits(2)), bits(3));
	CHECK(KEEP("v_med3_f32", bits(3), bits(1), bits(2)), bits(2));
	CHECK(KEEP("v_med3_f32", bits(3), NAN32, bits(2)), bits(2)); /* least of the rest */
	CHECK(KEEP("v_med3_f32", NAN32, bits(3), bits(9)), bits(3));
	CHECK(KEEP("v_maxmin_f32", bits(5), bits(1), bits(3)), bits(3));
	CHECK(KEEP("v_minmax_f32", bits(5), bits(1), bits(3)), bits(3));
	CHECK(KEEP("v_med3_f16", 0x4200, 0x3c00, 0x4000), 0x4000);
	CHECK(KEEP("v_min_f16", 0, 0x8000, 0), 0x8000);
	CHECK(KEEP("v_max_f16", 0x7c01, 0x3c00, 0), 0x7e01);
	CHECK(KEEP("v_max_f64", bits64(-0.0), bits64(0.0), 0), 0);
	CHECK(KEEP("v_min_f64", bits64(NAN), bits64(-7), 0), bits64(-7));
	CHECK(KEEP("v_med3_i32", 5, (uint32_t)-3, 1), 1);
	CHECK(KEEP("v_med3_u32", 5, (uint32_t)-3, 1), 5);
	CHECK(KEEP("v_min3_i16", 5, 0xfffe, 1), 0xfffe);
	CHECK(KEEP("v_max3_u16", 5, 0xfffe, 1), 0xfffe);
}

static void
rounding_to_integers(void **state)
{
	(void)state;
	const float values[] = { 0.0f, -0.0f, 0.3f, -0.3f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0x1.fffffep-2f, 8388607.5f, 0x1p23f,
				 -0x1p30f, INFINITY, -INFINITY, 0x1p-149f, -0x1p-149f };
	for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
		float x = values[i];
		CHECK(KEEP("v_floor_f32", bits(x), 0, 0), bits(floorf(x)));
		CHECK(KEEP("v_ceil_f32", bits(x), 0, 0), bits(ceilf(x)));
		CHECK(KEEP("v_trunc_f32", bits(x), 0, 0), bits(truncf(x)));
		CHECK(KEEP("v_rndne_f32", bits(x), 0, 0), bits(nearbyintf(x)));
		CHECK(KEEP("v_floor_f64", bits64(x), 0, 0), bits64(floor(x)));
		CHECK(run("v_rndne_f64", MODE_KEEP | MODE_UP, bits64(x), 0, 0), bits64(nearbyint(x)));
	}
	is_nan(KEEP("v_floor_f32", 0x7f800001, 0, 0));
	CHECK(KEEP("v_fract_f32", bits(-0x1p-30f), 0, 0), 0x3f7fffff); /* below 1 */
	CHECK(KEEP("v_fract_f32", bits(-1.25f), 0, 0), bits(0.75f));
	CHECK(KEEP("v_fract_f16", 0x8001, 0, 0), 0x3bff);
	CHECK(KEEP("v_rndne_f16", 0x3800, 0, 0), 0);
	CHECK(KEEP("v_rndne_f16", 0x3e00, 0, 0), 0x4000);
	CHECK(KEEP("v_frexp_mant_f32", bits(-12), 0, 0), bits(-0.75f));
	CHECK(KEEP("v_frexp_exp_i32_f32", bits(-12), 0, 0), 4);
	CHECK(KEEP("v_frexp_exp_i32_f32", 0x00000001, 0, 0), (uint32_t)-148);
	CHECK(run("v_frexp_exp_i32_f32", MODE_FLUSH, 0x00000001, 0, 0), 0);
	CHECK(KEEP("v_frexp_exp_i32_f32", INF32, 0, 0), 0);
	CHECK(KEEP("v_frexp_exp_i16_f16", 0x3c00, 0, 0), 1);
	CHECK(KEEP("v_ldexp_f32", bits(1), 0x7fffffff, 0), INF32);
	CHECK(KEEP("v_ldexp_f32", bits(-1), 0x80000000, 0), 0x80000000);
	CHECK(KEEP("v_ldexp_f32", bits(1.5f), (uint32_t)-149, 0), 2);
	CHECK(KEEP("v_ldexp_f64", bits64(1), (uint32_t)-1074, 0), 1);
	CHECK(KEEP("v_ldexp_f16", 0x3c00, 0xfff1, 0), 0x0200);
}

static void
transcendental(void **state)
{
	(void)state;
	CHECK(KEEP("v_rcp_f32", bits(4), 0, 0), bits(0.25f));
	CHECK(KEEP("v_rcp_f32", 0x80000000, 0, 0), 0xff800000);
	CHECK(KEEP("v_rcp_f32", 0x00000001, 0, 0), INF32); /* flushed whatever MODE says */
	CHECK(KEEP("v_rsq_f32", bits(16), 0, 0), bits(0.25f));
	is_nan(KEEP("v_sqrt_f32", bits(-1), 0, 0));
	CHECK(KEEP("v_sqrt_f32", bits(2), 0, 0), bits(sqrtf(2)));
	CHECK(KEEP("v_exp_f32", bits(10), 0, 0), bits(1024));
	CHECK(KEEP("v_exp_f32", bits(-130), 0, 0), 0);
	CHECK(KEEP("v_log_f32", bits(0.125f), 0, 0), bits(-3));
	CHECK(KEEP("v_log_f32", 0, 0, 0), 0xff800000);
	CHECK(KEEP("v_log_f32", bits(-1), 0, 0), 0x7fc00000); /* recorded on hardware; sqrt's is negative */
	CHECK(KEEP("v_sqrt_f32", bits(-1), 0, 0), 0xffc00000);
	CHECK(KEEP("v_sin_f32", INF32, 0, 0), 0x7fc00000);
	CHECK(KEEP("v_sin_f32", bits(0.25f), 0, 0), bits(1));
	CHECK(KEEP("v_sin_f32", bits(0.5f), 0, 0), 0);
	CHECK(KEEP("v_sin_f32", bits(200.75f), 0, 0), bits(-1));
	CHECK(KEEP("v_cos_f32", bits(0.25f), 0, 0), 0);
	CHECK(KEEP("v_cos_f32", bits(-7), 0, 0), bits(1));
	is_nan(KEEP("v_cos_f32", INF32, 0, 0));
	CHECK(KEEP("v_rcp_f16", 0x4000, 0, 0), 0x3800);
	CHECK(KEEP("v_exp_f16", 0xcd00, 0, 0), 0x0010); /* 2^-20, a denormal */
	CHECK(KEEP("v_rsq_f64", bits64(4), 0, 0), bits64(0.5));
	for (unsigned i = 0; i < 1000; i++) {
		float x = ldexpf(1.0f + (float)(rnd32() >> 8) * 0x1p-24f, (int)(rnd32() % 120) - 60);
		float got = flt((uint32_t)KEEP("v_log_f32", bits(x), 0, 0));
		assert_true(fabs((double)got - log2((double)x)) <= fabs((double)got) * 0x1p-24);
	}
}

/* The division sequences compilers emit, built from single operations. */

static uint32_t
divide32(float num, float den)
{
	struct sg_valu_env env = { .mode = MODE_KEEP };
	uint32_t n = bits(num), q = bits(den);
	uint32_t d = (uint32_t)run_env("v_div_scale_f32", &env, q, q, n, 0);
	uint32_t s = (uint32_t)run_env("v_div_scale_f32", &env, n, q, n, 0);
	env.carry_in = env.mask_out;
	uint32_t r = (uint32_t)run_env("v_rcp_f32", &env, d, 0, 0, 0), minus = d ^ 0x80000000;
	uint32_t e = (uint32_t)run_env("v_fma_f32", &env, minus, r, bits(1), 0);
	r = (uint32_t)run_env("v_fma_f32", &env, e, r, r, 0);
	uint32_t x = (uint32_t)run_env("v_mul_f32", &env, s, r, 0, 0);
	e = (uint32_t)run_env("v_fma_f32", &env, minus, x, s, 0);
	x = (uint32_t)run_env("v_fma_f32", &env, e, r, x, 0);
	e = (uint32_t)run_env("v_fma_f32", &env, minus, x, s, 0);
	x = (uint32_t)run_env("v_div_fmas_f32", &env, e, r, x, 0);
	return (uint32_t)run_env("v_div_fixup_f32", &env, x, q, n, 0);
}

static uint64_t
divide64(double num, double den)
{
	struct sg_valu_env env = { .mode = MODE_KEEP };
	uint64_t n = bits64(num), q = bits64(den), one = bits64(1);
	uint64_t d = run_env("v_div_scale_f64", &env, q, q, n, 0), minus = d ^ 1ull << 63;
	uint64_t s = run_env("v_div_scale_f64", &env, n, q, n, 0);
	env.carry_in = env.mask_out;
	uint64_t r = run_env("v_rcp_f64", &env, d, 0, 0, 0);
	uint64_t e = run_env("v_fma_f64", &env, minus, r, one, 0);
	r = run_env("v_fma_f64", &env, r, e, r, 0);
	e = run_env("v_fma_f64", &env, minus, r, one, 0);
	r = run_env("v_fma_f64", &env, r, e, r, 0);
	uint64_t x = run_env("v_mul_f64", &env, s, r, 0, 0);
	e = run_env("v_fma_f64", &env, minus, x, s, 0);
	x = run_env("v_div_fmas_f64", &env, e, r, x, 0);
	return run_env("v_div_fixup_f64", &env, x, q, n, 0);
}

static void
division_is_correctly_rounded(void **state)
{
	(void)state;
	const float special[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 0x1p-126f, -0x1.fffffep127f };
	for (unsigned i = 0; i < 9; i++)
		for (unsigned k = 0; k < 9; k++) {
			float n = special[i], q = special[k], want = n / q;
			if (want != want) {
				is_nan(divide32(n, q));
				continue;
			}
			CHECK(divide32(n, q), bits(want));
			CHECK(divide64(n, q), bits64((double)n / (double)q));
		}
	for (unsigned i = 0; i < 40000; i++) {
		uint32_t a = rnd32(), b = rnd32();
		if (i & 1) { /* denormal quotients */
			unsigned e = rnd32() % 120;
			a = (a & 0x807fffff) | e << 23;
			b = (b & 0x807fffff) | (e + 126 + rnd32() % 4) << 23;
		} else if (i & 2) {
			a &= 0x80ffffff;
			b &= 0x80ffffff;
		}
		float want = flt(a) / flt(b);
		if (want != want)
			is_nan(divide32(flt(a), flt(b)));
		else
			CHECK(divide32(flt(a), flt(b)), bits(want));
	}
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t a = (uint64_t)rnd32() << 32 | rnd32(), b = (uint64_t)rnd32() << 32 | rnd32();
		if (i & 1) {
			uint64_t e = rnd32() % 1000, mantissa = 0x800fffffffffffffull;
			a = (a & mantissa) | e << 52;
			b = (b & mantissa) | (e + 1022 + rnd32() % 4) << 52;
		}
		double want = dbl(a) / dbl(b);
		if (want == want)
			CHECK(divide64(dbl(a), dbl(b)), bits64(want));
	}
	/* 2^+64 or 2^-64 by the size of the addend (seen on hardware) */
	struct sg_valu_env env = { .mode = MODE_KEEP, .carry_in = ~0u };
	CHECK(run_env("v_div_fmas_f32", &env, bits(1), bits(1), bits(2), 0), bits(3 * 0x1p64f));
	CHECK(run_env("v_div_fmas_f32", &env, bits(2), bits(3), bits(1), 0), bits(7 * 0x1p-64f));
	is_nan(KEEP("v_div_scale_f32", bits(1), 0, bits(1)));
}

/* 0 keeps its sign: unlike the legacy multiplications it is no special case. */
static void
lighting(void **state)
{
	(void)state;
	CHECK(KEEP("v_mullit_f32", bits(0.5f), 0x80000000, bits(2)), 0x80000000);
	CHECK(KEEP("v_mullit_f32", bits(-3), bits(2), bits(1)), bits(-6));
	CHECK(KEEP("v_mullit_f32", bits(3), bits(2), 0), 0xff7fffff);
	CHECK(KEEP("v_mullit_f32", bits(3), 0xff800000, bits(1)), 0xff7fffff);
	CHECK(KEEP("v_mullit_f32", bits(3), NAN32, bits(1)), 0xff7fffff);
	CHECK(KEEP("v_mullit_f32", bits(3), bits(2), NAN32), 0xff7fffff);
}

static void
cube_maps(void **state)
{
	(void)state;
	/* major axis, ties to z then y */
	CHECK(KEEP("v_cubeid_f32", bits(3), bits(-3), bits(3)), bits(4));
	CHECK(KEEP("v_cubeid_f32", bits(3), bits(-3), bits(1)), bits(3));
	CHECK(KEEP("v_cubeid_f32", bits(-3), bits(2), bits(1)), bits(1));
	CHECK(KEEP("v_cubema_f32", bits(-3), bits(2), bits(1)), bits(-6));
	CHECK(KEEP("v_cubesc_f32", bits(-3), bits(2), bits(1)), bits(1));
	CHECK(KEEP("v_cubetc_f32", bits(-3), bits(2), bits(1)), bits(-2));
	CHECK(KEEP("v_cubetc_f32", bits(1), bits(-3), bits(2)), bits(-2));
}

static void
f64_arithmetic(void **state)
{
	(void)state;
	CHECK(KEEP("v_add_f64", bits64(1), bits64(0x1p-60), 0), bits64(1));
	CHECK(run("v_add_f64", MODE_KEEP | MODE_UP, bits64(1), bits64(0x1p-60), 0), bits64(0x1.0000000000001p0));
	CHECK(run("v_add_f64", MODE_KEEP | 1, bits64(1), bits64(0x1p-60), 0), bits64(1)); /* not the f32 field */
	CHECK(KEEP("v_fma_f64", bits64(1 + 0x1p-30), bits64(1 + 0x1p-30), bits64(-1 - 0x1p-29)), bits64(0x1p-60));
	CHECK(run("v_mul_f64", 0x200, bits64(0x1p-1022), bits64(0.5), 0), 0);
	CHECK(KEEP("v_mul_f64", bits64(0x1p-1022), bits64(0.5), 0), 1ull << 51);
	CHECK(KEEP("v_fract_f64", bits64(-1.25), 0, 0), bits64(0.75));
	CHECK(KEEP("v_frexp_mant_f64", bits64(-12), 0, 0), bits64(-0.75));
	CHECK(KEEP("v_frexp_exp_i32_f64", bits64(-12), 0, 0), 4);
	/* 2/pi in segments of 53 bits */
	double hi = dbl(KEEP("v_trig_preop_f64", bits64(1), 0, 0)), lo = dbl(KEEP("v_trig_preop_f64", bits64(1), 1, 0));
	assert_true(hi < 0.63661977236758134308 && lo > 0 && lo < 0x1p-53 && hi + lo == 0.63661977236758134308);
	/* registers that overlap by one */
	static regs r;
	for (unsigned i = 0; i < SG_LANES; i++) {
		r[i] = 0;
		r[i + 32] = 0x3ff00000u + (i << 20);
	}
	struct sg_valu_env env = { .mode = MODE_KEEP };
	find("v_add_f64")->fn(r + 32, r, r, NULL, &env);
	for (unsigned i = 0; i < SG_LANES; i++)
		CHECK((uint64_t)r[i + 64] << 32 | r[i + 32], (uint64_t)(0x40000000u + (i << 20)) << 32);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f32_arithmetic),
		cmocka_unit_test(f32_modes),
		cmocka_unit_test(f32_min_max),
		cmocka_unit_test(rounding_to_integers),
		cmocka_unit_test(transcendental),
		cmocka_unit_test(division_is_correctly_rounded),
		cmocka_unit_test(lighting),
		cmocka_unit_test(cube_maps),
		cmocka_unit_test(f64_arithmetic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
