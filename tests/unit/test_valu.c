/* SPDX-License-Identifier: MIT */
/* test_valu.c: the vector ALU of softgpu computes what the RDNA2 and RDNA3 ISA documents define. Values are worked
 * out from those definitions or by plain references here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/valu.h"

#define MODE_KEEP 0x2f0u  /* IEEE, all denormals kept, to nearest */
#define MODE_FLUSH 0x2c0u /* IEEE, f32 denormals flushed */
#define MODE_NO_IEEE 0x0f0u
#define MODE_UP 5u
#define MODE_DOWN 10u
#define MODE_ZERO 15u

#define NAN32 0x7fc00000u
#define INF32 0x7f800000u
#define WORDS (8 * SG_LANES)

typedef uint32_t regs[WORDS] __attribute__((aligned(128)));

static uint64_t seed = 1;

static uint32_t
rnd32(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static uint32_t
bits(float f)
{
	uint32_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static float
flt(uint32_t b)
{
	float f;
	memcpy(&f, &b, sizeof f);
	return f;
}

static uint64_t
bits64(double f)
{
	uint64_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static double
dbl(uint64_t b)
{
	double f;
	memcpy(&f, &b, sizeof f);
	return f;
}

static void
fill(uint32_t *r, uint64_t value)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		r[i] = (uint32_t)value;
		r[i + SG_LANES] = (uint32_t)(value >> 32);
	}
}

static const struct sg_valu_op *
find(const char *name)
{
	const struct sg_valu_op *op = sg_valu_find(name);
	if (!op)
		fail_msg("no operation %s", name);
	return op;
}

/* One operation on the same values in all lanes; the result of the last lane, 64 bits of it. */
static uint64_t
run_env(const char *name, struct sg_valu_env *env, uint64_t a, uint64_t b, uint64_t c, uint64_t old)
{
	static regs s0, s1, s2, d;
	const struct sg_valu_op *op = find(name);
	fill(s0, a);
	fill(s1, b);
	fill(s2, c);
	fill(d, old);
	op->fn(d, s0, s1, s2, env);
	bool wide = op->dst == SG_T_B64 || op->dst == SG_T_F64;
	return d[31] | (wide ? (uint64_t)d[63] << 32 : 0);
}

static uint64_t
run(const char *name, uint32_t mode, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = mode, .exec = ~0u, .op_sel_hi = 7 };
	return run_env(name, &env, a, b, c, 0);
}

static uint64_t
run_clamp(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = MODE_KEEP, .exec = ~0u, .op_sel_hi = 7, .clamp = true };
	return run_env(name, &env, a, b, c, 0);
}

static uint32_t
run_mask(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = MODE_KEEP, .exec = ~0u };
	run_env(name, &env, a, b, c, 0);
	assert_true(env.mask_out == 0 || env.mask_out == ~0u);
	return env.mask_out & 1;
}

#define CHECK(expr, value) assert_int_equal((uint64_t)(expr), (uint64_t)(value))
#define KEEP(name, a, b, c) run(name, MODE_KEEP, a, b, c)

static void
is_nan(uint64_t x)
{
	assert_true((x & 0x7fffffff) > INF32);
}

/* The table */

static void
table_is_sound(void **state)
{
	(void)state;
	for (const struct sg_valu_op *op = sg_valu_ops; op->name; op++) {
		assert_ptr_equal(sg_valu_find(op->name), op); /* no name twice */
		assert_non_null(op->fn);
		assert_int_equal(op->dst == SG_T_MASK, !!(op->flags & SG_V_COMPARE));
		assert_true(op->src[0] != SG_T_NONE);
	}
	assert_null(sg_valu_find("v_nonsense"));
}

static bool
is_matrix(const struct sg_valu_op *op)
{
	return strncmp(op->name, "v_wmma", 6) == 0;
}

static void
garbage(uint32_t *r)
{
	static const uint32_t edges[] = { 0,	      SG_LANES,	  1,	      ~0u,	  0x80000000, 0x7fffffff, INF32,
					  0xff800000, 0x7f800001, NAN32,      0x00000001, 0x807fffff, 0x7f7fffff, 0x7c007c00,
					  0xfbff03ff, 0x7c017e00, 0x7ff00000, 0xfff80000, 0x000fffff, 0x3f800000 };
	for (unsigned i = 0; i < WORDS; i++)
		r[i] = rnd32() & 1 ? rnd32() : edges[rnd32() % (sizeof edges / sizeof *edges)];
}

/* Nothing traps whatever lanes and modes hold; lanes don't influence each other; d may be a source. */
static void
lanes_are_independent(void **state)
{
	(void)state;
	static regs s[3], d, alias, moved[3], moved_d, old;
	for (const struct sg_valu_op *op = sg_valu_ops; op->name; op++)
		for (unsigned round = 0; round < 64; round++) {
			struct sg_valu_env env = { .mode = rnd32() & 0x8003ff, .carry_in = rnd32(), .clamp = round & 1,
						   .neg = rnd32() & 7, .abs = rnd32() & 7, .op_sel = rnd32() & 7,
						   .op_sel_hi = rnd32() & 7, .exec = ~0u };
			struct sg_valu_env env2 = env, env3 = env;
			for (unsigned k = 0; k < 3; k++)
				garbage(s[k]);
			garbage(old);
			memcpy(d, old, sizeof d);
			op->fn(d, s[0], s[1], s[2], &env);

			unsigned source = round % 3;
			if (!(op->flags & SG_V_READS_DST) && op->src[source] != SG_T_NONE) {
				memcpy(alias, s[source], sizeof alias);
				op->fn(alias, source == 0 ? alias : s[0], source == 1 ? alias : s[1],
				       source == 2 ? alias : s[2], &env2);
				unsigned words = op->dst == SG_T_MASK				   ? 0
						 : op->dst == SG_T_B256				   ? 8
						 : op->dst == SG_T_B128				   ? 4
						 : op->dst == SG_T_B64 || op->dst == SG_T_F64 ? 2
											   : 1;
				assert_memory_equal(alias, d, words * SG_LANES * 4);
			}
			if (is_matrix(op))
				continue;
			for (unsigned i = 0; i < WORDS; i++) {
				unsigned to = (i & ~31u) | ((i + 5) & 31);
				for (unsigned k = 0; k < 3; k++)
					moved[k][to] = s[k][i];
				moved_d[to] = old[i];
			}
			env3.carry_in = env.carry_in << 5 | env.carry_in >> 27;
			op->fn(moved_d, moved[0], moved[1], moved[2], &env3);
			for (unsigned i = 0; i < WORDS; i++)
				if (moved_d[(i & ~31u) | ((i + 5) & 31)] != d[i])
					fail_msg("%s lane %u", op->name, i);
			if (op->flags & SG_V_WRITES_MASK)
				assert_int_equal(env3.mask_out, env.mask_out << 5 | env.mask_out >> 27);
		}
}

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

/* Half precision */

/* Value of a finite half in units of 2^-48. */
static __int128
half_value(uint32_t h)
{
	unsigned e = h >> 10 & 31;
	__int128 m = (h & 0x3ff) | (e ? 0x400 : 0);
	m <<= 24 + (e ? e - 1 : 0);
	return h & 0x8000 ? -m : m;
}

/* Rounds units of 2^-48 to half by searching: mode 0 nearest even, 1 up, 2 down, 3 towards zero. */
static uint32_t
round_half(__int128 x, unsigned mode)
{
	uint32_t sign = x < 0 ? 0x8000 : 0, lo = 0, hi = 0x7c00;
	__int128 mag = x < 0 ? -x : x;
	while (hi - lo > 1) {
		uint32_t mid = (lo + hi) / 2;
		if (half_value(mid) <= mag)
			lo = mid;
		else
			hi = mid;
	}
	/* for rounding, infinity stands where 65536 would */
	__int128 above = hi == 0x7c00 ? (__int128)1 << 64 : half_value(hi), below = half_value(lo);
	if (mag == below)
		return sign | lo;
	bool up = mode == 0 ? 2 * mag > below + above || (2 * mag == below + above && (lo & 1)) :
		  mode == 1 ? !sign :
		  mode == 2 ? sign != 0 :
			      false;
	return sign | (up ? hi : lo);
}

static uint32_t
rnd_half(void)
{
	uint32_t h;
	do
		h = rnd32() & 0xffff;
	while ((h & 0x7c00) == 0x7c00);
	return h;
}

static void
f16_rounds_once_in_every_mode(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t a = rnd_half(), b = rnd_half(), c = rnd_half(), m = i & 3, mode = MODE_KEEP | m << 2;
		if (i & 4) /* products near c make cancellation and ties likely */
			b = 0x3c00 | (b & 0x83ff);
		__int128 product = (half_value(a) >> 24) * (half_value(b) >> 24);
		__int128 sum = half_value(a) + half_value(b), fused = product + half_value(c);
		if (product)
			CHECK(run("v_mul_f16", mode, a, b, 0), round_half(product, m));
		if (sum)
			CHECK(run("v_add_f16", mode, a, b, 0), round_half(sum, m));
		if (fused) {
			CHECK(run("v_fma_f16", mode, a, b, c), round_half(fused, m));
			CHECK(run("v_pk_fma_f16", mode, a << 16 | 0x3c00, b << 16 | 0x4000, c << 16 | 0x4200),
			      round_half(fused, m) << 16 | 0x4500);
		}
	}
	CHECK(run("v_add_f16", 0x200, 0x0001, 0x0001, 0), 0); /* f16 denormals flushed */
	CHECK(run("v_add_f16", MODE_KEEP | 1u << 23, 0x7bff, 0x7bff, 0), 0x7bff); /* FP16_OVFL */
	CHECK(KEEP("v_add_f16", 0x7bff, 0x7bff, 0), 0x7c00);
	CHECK(KEEP("v_mul_f16", 0xdead7c00, 0xdead0000, 0) & 0x7e00, 0x7e00);
	CHECK(KEEP("v_pack_b32_f16", 0x11112222, 0x33334444, 0), 0x44442222);
}

static void
f16_conversions(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 0x10000; h++) {
		uint32_t f = (uint32_t)KEEP("v_cvt_f32_f16", h | 0xabcd0000, 0, 0);
		if ((h & 0x7fff) > 0x7c00) {
			is_nan(f);
			continue;
		}
		CHECK(KEEP("v_cvt_f16_f32", f, 0, 0), h);
		if ((h & 0x7fff) < 0x7c00)
			assert_true((double)flt(f) == (double)half_value(h) * 0x1p-48);
	}
	for (unsigned i = 0; i < 20000; i++) {
		float x = ldexpf((float)(int32_t)rnd32(), -(int)(rnd32() % 48) - 8);
		__int128 units = (__int128)((double)x * 0x1p48);
		if ((double)units * 0x1p-48 != (double)x || units == 0)
			continue;
		for (unsigned m = 0; m < 4; m++)
			CHECK(run("v_cvt_f16_f32", MODE_KEEP | m << 2, bits(x), 0, 0), round_half(units, m));
		CHECK(KEEP("v_cvt_pk_rtz_f16_f32", bits(x), bits(1), 0), round_half(units, 3) | 0x3c000000);
	}
	CHECK(KEEP("v_cvt_f16_f32", bits(65519.996f), 0, 0), 0x7bff);
	CHECK(KEEP("v_cvt_f16_f32", bits(65520.0f), 0, 0), 0x7c00);
	CHECK(KEEP("v_cvt_f16_f32", bits(-1e30f), 0, 0), 0xfc00);
	CHECK(run("v_cvt_f16_f32", MODE_KEEP | 1u << 23, bits(1e30f), 0, 0), 0x7bff);
	CHECK(run("v_cvt_f16_f32", MODE_KEEP | 1u << 23, INF32, 0, 0), 0x7c00);
	CHECK(KEEP("v_cvt_f16_u16", 0xffff, 0, 0), 0x7c00);
	CHECK(KEEP("v_cvt_f16_i16", 0xffff, 0, 0), 0xbc00);
	CHECK(KEEP("v_cvt_i16_f16", 0xfc00, 0, 0), 0x8000);
	CHECK(KEEP("v_cvt_u16_f16", 0x7e00, 0, 0), 0);
}

static void
conversions_saturate(void **state)
{
	(void)state;
	const struct {
		float x;
		uint32_t i32, u32;
	} t[] = { { NAN, 0, 0 }, { INFINITY, 0x7fffffff, ~0u }, { -INFINITY, 0x80000000, 0 },
		  { 2147483648.0f, 0x7fffffff, 0x80000000 }, { -2147483648.0f, 0x80000000, 0 }, { -0.9f, 0, 0 },
		  { 3000000000.0f, 0x7fffffff, 3000000000u }, { 4294967296.0f, 0x7fffffff, ~0u }, { -1.9f, ~0u, 0 } };
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		CHECK(KEEP("v_cvt_i32_f32", bits(t[i].x), 0, 0), t[i].i32);
		CHECK(KEEP("v_cvt_u32_f32", bits(t[i].x), 0, 0), t[i].u32);
		CHECK(KEEP("v_cvt_i32_f64", bits64(t[i].x), 0, 0), t[i].i32);
		CHECK(KEEP("v_cvt_u32_f64", bits64(t[i].x), 0, 0), t[i].u32);
	}
	CHECK(KEEP("v_cvt_floor_i32_f32", bits(-1.5f), 0, 0), (uint32_t)-2);
	CHECK(KEEP("v_cvt_nearest_i32_f32", bits(-1.5f), 0, 0), (uint32_t)-1);
	CHECK(KEEP("v_cvt_nearest_i32_f32", bits(0x1.fffffep-2f), 0, 0), 0);
	CHECK(KEEP("v_cvt_off_f32_i4", 8, 0, 0), bits(-0.5f));
	CHECK(KEEP("v_cvt_off_f32_i4", 7, 0, 0), bits(0.4375f));
	CHECK(KEEP("v_cvt_f32_ubyte2", 0x12c83456, 0, 0), bits(200));
	CHECK(KEEP("v_cvt_f32_i32", 0x80000000, 0, 0), bits(-0x1p31f));
	CHECK(KEEP("v_cvt_f64_u32", ~0u, 0, 0), bits64(4294967295.0));
	CHECK(KEEP("v_cvt_f32_f64", bits64(1e300), 0, 0), INF32);
	CHECK(run("v_cvt_f32_f64", MODE_KEEP | MODE_ZERO, bits64(1e300), 0, 0), 0x7f7fffff);
	CHECK(KEEP("v_cvt_pk_i16_f32", bits(-1e9f), bits(1e9f), 0), 0x7fff8000);
	CHECK(KEEP("v_cvt_pk_u16_u32", 0x10000, 7, 0), 0x0007ffff);
	CHECK(KEEP("v_cvt_pk_i16_i32", 0x80000000, 0x7fffffff, 0), 0x7fff8000);
	CHECK(KEEP("v_cvt_pk_norm_i16_f32", bits(-1), bits(2), 0), 0x7fff8001);
	CHECK(KEEP("v_cvt_pk_norm_u16_f32", bits(0.5f), bits(-1), 0), 0x8000);
	CHECK(KEEP("v_cvt_pk_u8_f32", bits(300), 2, 0x11223344), 0x11ff3344);
	CHECK(KEEP("v_sat_pk_u8_i16", 0x012cffff, 0, 0), 0xff00);
}

/* Integers */

static void
integer_arithmetic(void **state)
{
	(void)state;
	CHECK(KEEP("v_add_nc_u32", ~0u, 2, 0), 1);
	CHECK(run_clamp("v_add_nc_u32", ~0u, 2, 0), ~0u);
	CHECK(run_clamp("v_sub_nc_u32", 1, 2, 0), 0);
	CHECK(run_clamp("v_add_nc_i32", 0x7fffffff, 1, 0), 0x7fffffff);
	CHECK(run_clamp("v_sub_nc_i32", 0x80000000, 1, 0), 0x80000000);
	CHECK(run_clamp("v_add_nc_i16", 0x8000, 0xffff, 0), 0x8000);
	CHECK(KEEP("v_sub_nc_u16", 0, 1, 0), 0xffff);
	CHECK(KEEP("v_mul_hi_i32", 0x80000000, 0x80000000, 0), 0x40000000);
	CHECK(KEEP("v_mul_hi_u32", ~0u, ~0u, 0), 0xfffffffe);
	CHECK(KEEP("v_mul_i32_i24", 0xff800000, 0x12000002, 0), 0xff000000);
	CHECK(KEEP("v_mul_hi_i32_i24", 0x00800000, 2, 0), 0xffffffff);
	CHECK(KEEP("v_mul_hi_u32_u24", 0x00ffffff, 0xffffffff, 0), 0xffff);
	CHECK(KEEP("v_mad_u32_u24", 0xff000003, 5, 7), 22);
	CHECK(run_clamp("v_mad_i32_i24", 0x7fffff, 0x7fffff, 0), 0x7fffffff);
	CHECK(KEEP("v_mad_i32_i16", 0x8000, 0x8000, (uint32_t)-1), 0x3fffffff);
	CHECK(KEEP("v_mad_u16", 0xffff, 0xffff, 3), 4);
	CHECK(KEEP("v_lshlrev_b32", 33, 1, 0), 2); /* amounts wrap */
	CHECK(KEEP("v_lshrrev_b32", 32, 0xf0, 0), 0xf0);
	CHECK(KEEP("v_ashrrev_i32", 63, 0x80000000, 0), ~0u);
	CHECK(KEEP("v_lshlrev_b16", 17, 0x8001, 0), 2);
	CHECK(KEEP("v_ashrrev_i16", 15, 0x8000, 0), 0xffff);
	CHECK(KEEP("v_lshlrev_b64", 65, 1ull << 62, 0), 1ull << 63);
	CHECK(KEEP("v_ashrrev_i64", 63, 1ull << 63, 0), ~0ull);
	CHECK(KEEP("v_lshl_add_u32", 1, 36, 5), 21);
	CHECK(KEEP("v_add_lshl_u32", 1, 2, 4), 48);
	CHECK(KEEP("v_xad_u32", 5, 6, 7), 10);
	CHECK(KEEP("v_bfe_u32", 0x12345678, 8, 8), 0x56);
	CHECK(KEEP("v_bfe_u32", ~0u, 4, 32), 0);
	CHECK(KEEP("v_bfe_i32", 0x0000f000, 12, 4), ~0u);
	CHECK(KEEP("v_bfe_i32", 0x70000000, 28, 8), 7);
	CHECK(KEEP("v_bfi_b32", 0xffff0000, 0x12345678, 0x9abcdef0), 0x1234def0);
	CHECK(KEEP("v_bfm_b32", 8, 4, 0), 0xff0);
	CHECK(KEEP("v_bfrev_b32", 0x80000003, 0, 0), 0xc0000001);
	CHECK(KEEP("v_bcnt_u32_b32", 0xff, 2, 0), 10);
	CHECK(KEEP("v_clz_i32_u32", 0, 0, 0), ~0u);
	CHECK(KEEP("v_clz_i32_u32", 1, 0, 0), 31);
	CHECK(KEEP("v_ctz_i32_b32", 0x80000000, 0, 0), 31);
	CHECK(KEEP("v_cls_i32", 0xf0000000, 0, 0), 4);
	CHECK(KEEP("v_cls_i32", ~0u, 0, 0), ~0u);
}

static void
bytes(void **state)
{
	(void)state;
	CHECK(KEEP("v_alignbit_b32", 0x11223344, 0xaabbccdd, 40), 0x44aabbcc);
	CHECK(KEEP("v_alignbyte_b32", 0x11223344, 0xaabbccdd, 7), 0x223344aa);
	CHECK(KEEP("v_perm_b32", 0x77665544, 0x33221100, 0x07040300), 0x77443300);
	CHECK(KEEP("v_perm_b32", 0x80000000, 0x00008000, 0x0b0a0908), 0xff0000ff);
	CHECK(KEEP("v_perm_b32", 0, ~0u, 0x0c0dff02), 0x00ffffff);
	CHECK(KEEP("v_lerp_u8", 0xff01ff00, 0xff02fe01, 0x00010001), 0xff02fe01);
	CHECK(KEEP("v_sad_u8", 0x01ff0010, 0x02000810, 100), 364);
	CHECK(KEEP("v_msad_u8", 0x01ff0010, 0x02000810, 100), 109);
	CHECK(KEEP("v_sad_hi_u8", 0x10, 0, 1), 0x100001);
	CHECK(KEEP("v_sad_u16", 0x00010005, 0x00040001, 0), 7);
	CHECK(run_clamp("v_sad_u32", 0, ~0u, 5), ~0u);
	CHECK(KEEP("v_qsad_pk_u16_u8", 0x0807060504030201ull, 0x04030201, 0x0001000000000000ull), 0x000d000800040000ull);
	CHECK(run_clamp("v_mqsad_pk_u16_u8", 0xff, 1, 0xffff), 0x000100010001ffffull);
}

static void
carries(void **state)
{
	(void)state;
	static const uint32_t values[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	for (unsigned i = 0; i < 7; i++)
		for (unsigned k = 0; k < 7; k++)
			for (unsigned in = 0; in < 2; in++) {
				uint32_t a = values[i], b = values[k];
				uint64_t sum = (uint64_t)a + b, diff = (uint64_t)a - b;
				struct sg_valu_env env = { .carry_in = in ? ~0u : 0 };
				CHECK(run_env("v_add_co_u32", &env, a, b, 0, 0), (uint32_t)sum);
				CHECK(env.mask_out, sum >> 32 ? ~0u : 0);
				CHECK(run_env("v_add_co_ci_u32", &env, a, b, 0, 0), (uint32_t)(sum + in));
				CHECK(env.mask_out, (sum + in) >> 32 ? ~0u : 0);
				CHECK(run_env("v_sub_co_ci_u32", &env, a, b, 0, 0), (uint32_t)(diff - in));
				CHECK(env.mask_out, (diff - in) >> 32 ? ~0u : 0);
				CHECK(run_env("v_subrev_co_u32", &env, b, a, 0, 0), (uint32_t)diff);
				CHECK(env.mask_out, diff >> 32 ? ~0u : 0);
			}
	CHECK(KEEP("v_mad_u64_u32", ~0u, ~0u, 5), 0xfffffffe00000006ull);
	CHECK(run_mask("v_mad_u64_u32", ~0u, ~0u, ~0ull), 1);
	CHECK(KEEP("v_mad_i64_i32", (uint32_t)-3, 5, 1), (uint64_t)-14);
	CHECK(run_mask("v_mad_i64_i32", (uint32_t)-3, 5, 1), 1);
	CHECK(run_mask("v_mad_i64_i32", 3, 5, 1), 0);
	struct sg_valu_env env = { .carry_in = ~0u };
	CHECK(run_env("v_cndmask_b32", &env, 1, 2, 0, 0), 2);
	env.carry_in = 0x7fffffff;
	CHECK(run_env("v_cndmask_b32", &env, 1, 2, 0, 0), 1);
}

static void
comparisons(void **state)
{
	(void)state;
	static const char *const names[] = { "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq",
					     "nlt", "f", "t" };
	static const double values[] = { -INFINITY, -2, -0.0, 0.0, 1, INFINITY, NAN };
	for (unsigned n = 0; n < 16; n++)
		for (unsigned i = 0; i < 7; i++)
			for (unsigned k = 0; k < 7; k++) {
				double a = values[i], b = values[k];
				bool want[16] = { a < b, a == b, a <= b, a > b, a < b || a > b, a >= b, a == a && b == b,
						  a != a || b != b, !(a >= b), !(a < b || a > b), !(a > b), !(a <= b), a != b,
						  !(a < b), false, true };
				char name[32];
				snprintf(name, sizeof name, "v_cmp_%s_f32", names[n]);
				CHECK(run_mask(name, bits((float)a), bits((float)b), 0), want[n]);
				snprintf(name, sizeof name, "v_cmp_%s_f64", names[n]);
				CHECK(run_mask(name, bits64(a), bits64(b), 0), want[n]);
				snprintf(name, sizeof name, "v_cmp_%s_f16", names[n]);
				uint32_t ha = (uint32_t)KEEP("v_cvt_f16_f32", bits((float)a), 0, 0);
				uint32_t hb = (uint32_t)KEEP("v_cvt_f16_f32", bits((float)b), 0, 0);
				CHECK(run_mask(name, ha, hb, 0), want[n]);
			}
	CHECK(run_mask("v_cmp_lt_i32", ~0u, 0, 0), 1);
	CHECK(run_mask("v_cmp_lt_u32", ~0u, 0, 0), 0);
	CHECK(run_mask("v_cmp_gt_i16", 0x1ffff, 0x20001, 0), 0);
	CHECK(run_mask("v_cmp_gt_u16", 0x1ffff, 0x20001, 0), 1);
	CHECK(run_mask("v_cmp_lt_i64", ~0ull, 0, 0), 1);
	CHECK(run_mask("v_cmp_ge_u64", 1ull << 32, ~0u, 0), 1);
	CHECK(run_mask("v_cmp_ne_u64", 1ull << 32, 0, 0), 1);
	struct sg_valu_env env = { .mode = MODE_FLUSH };
	run_env("v_cmp_eq_f32", &env, 1, 0, 0, 0);
	CHECK(env.mask_out, ~0u);

	static const uint32_t classes[] = { 0x7f800001, NAN32, 0xff800000, 0xbf800000, 0x80000001,
					    0x80000000, 0,     0x00000001, 0x3f800000, INF32 };
	static const uint16_t classes16[] = { 0x7c01, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 0x0001, 0x3c00, 0x7c00 };
	for (unsigned i = 0; i < 10; i++)
		for (unsigned k = 0; k < 10; k++) {
			CHECK(run_mask("v_cmp_class_f32", classes[i], 1u << k, 0), i == k);
			CHECK(run_mask("v_cmp_class_f16", classes16[i], 1u << k, 0), i == k);
		}
	CHECK(run_mask("v_cmp_class_f64", 1, 1 << 7, 0), 1);
}

/* Packed, mixed, dot products, matrices */

static void
packed(void **state)
{
	(void)state;
	static const char *const ops[] = { "add_f16", "mul_f16", "fma_f16", "min_f16", "max_f16", "mad_u16", "mad_i16",
					   "mul_lo_u16", "min_i16", "max_u16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16" };
	for (unsigned n = 0; n < sizeof ops / sizeof *ops; n++)
		for (unsigned i = 0; i < 200; i++) {
			uint32_t a = rnd32(), b = rnd32(), c = rnd32();
			char pk[32], one[32];
			snprintf(pk, sizeof pk, "v_pk_%s", ops[n]);
			snprintf(one, sizeof one, "v_%s", ops[n]);
			uint32_t lo = (uint32_t)KEEP(one, a & 0xffff, b & 0xffff, c & 0xffff);
			uint32_t hi = (uint32_t)KEEP(one, a >> 16, b >> 16, c >> 16), both = (uint32_t)KEEP(pk, a, b, c);
			if (n < 5) { /* which of several NaNs wins is open */
				assert_true((both & 0xffff) == lo || ((both & lo & 0x7e00) == 0x7e00));
				assert_true(both >> 16 == hi || ((both >> 16 & hi & 0x7e00) == 0x7e00));
			} else {
				CHECK(both, hi << 16 | lo);
			}
		}
	CHECK(run_clamp("v_pk_add_u16", 0xffff0001, 0x00010001, 0), 0xffff0002);
	CHECK(run_clamp("v_pk_sub_i16", 0x80007fff, 0x0001ffff, 0), 0x80007fff);

	/* op_sel_hi: source is a half, op_sel: its high one */
	struct sg_valu_env env = { .mode = MODE_KEEP, .op_sel_hi = 3, .op_sel = 2, .neg = 4, .abs = 1 };
	CHECK(run_env("v_fma_mix_f32", &env, 0xc000, 0x42000000, bits(1), 0), bits(5)); /* |-2| * 3 - 1 */
	CHECK(run_env("v_fma_mixlo_f16", &env, 0xc000, 0x42000000, bits(1), 0), 0x4500);
}

static void
dot_products(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		uint32_t a = rnd32(), b = rnd32(), c = rnd32(), u8 = c, i8 = c, u4 = c, iu8 = c;
		for (unsigned k = 0; k < 4; k++) {
			uint32_t x = a >> 8 * k & 255, y = b >> 8 * k & 255;
			u8 += x * y;
			i8 += (uint32_t)((int8_t)x * (int8_t)y);
			iu8 += (uint32_t)((int8_t)x * (int32_t)y);
		}
		for (unsigned k = 0; k < 8; k++)
			u4 += (a >> 4 * k & 15) * (b >> 4 * k & 15);
		CHECK(KEEP("v_dot4_u32_u8", a, b, c), u8);
		CHECK(KEEP("v_dot4_i32_i8", a, b, c), i8);
		CHECK(KEEP("v_dot8_u32_u4", a, b, c), u4);
		struct sg_valu_env env = { .neg = 1 };
		CHECK(run_env("v_dot4_i32_iu8", &env, a, b, c, 0), iu8);
		env.neg = 3;
		CHECK(run_env("v_dot4_i32_iu8", &env, a, b, c, 0), i8);
		CHECK(run_env("v_dot4c_i32_i8", &env, a, b, 0, c), i8);
	}
	CHECK(run_clamp("v_dot4_u32_u8", ~0u, ~0u, ~0u), ~0u);
	CHECK(run_clamp("v_dot4_i32_i8", 0x80808080, 0x7f7f7f7f, 0x80000000), 0x80000000);
	CHECK(KEEP("v_dot2_f32_f16", 0x40003c00, 0x42004400, bits(0.5f)), bits(10.5f));
	CHECK(KEEP("v_dot2_f32_bf16", 0x40003f80, 0x40404080, bits(0.5f)), bits(10.5f));
	CHECK(KEEP("v_dot2_f16_f16", 0x40003c00, 0x42004400, 0x3800), 0x4940);
	CHECK(KEEP("v_dot2_bf16_bf16", 0x40003f80, 0x40404080, 0x3f00), 0x4128);
	CHECK(KEEP("v_dot2_i32_i16", 0xffff0002, 0x00030004, 1), 6);
	CHECK(KEEP("v_dot2_u32_u16", 0xffff0002, 0x00030004, 1), 0x30006);
}

/* Small integers, so every sum is exact in any order. kind: halves as f16 or bf16. */
static uint32_t
small_half(int value, bool bf16)
{
	if (bf16)
		return bits((float)value) >> 16;
	return (uint32_t)KEEP("v_cvt_f16_f32", bits((float)value), 0, 0);
}

static void
wmma_floats(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool bf16, wide;
	} kinds[] = { { "v_wmma_f32_16x16x16_f16", false, true }, { "v_wmma_f32_16x16x16_bf16", true, true },
		      { "v_wmma_f16_16x16x16_f16", false, false }, { "v_wmma_bf16_16x16x16_bf16", true, false } };
	for (unsigned n = 0; n < 4; n++) {
		static regs a, b, c, d;
		int ma[16][16], mb[16][16], mc[16][16];
		struct sg_valu_env env = { .mode = MODE_KEEP, .op_sel = 4, .op_sel_hi = 7, .neg = 2 };
		const bool bf16 = kinds[n].bf16, wide = kinds[n].wide;
		for (unsigned i = 0; i < 16; i++)
			for (unsigned k = 0; k < 16; k++) {
				ma[i][k] = (int)(rnd32() % 5) - 2;
				mb[i][k] = (int)(rnd32() % 5) - 2;
				mc[i][k] = (int)(rnd32() % 9) - 4;
			}
		for (unsigned i = 0; i < 8; i++)
			for (unsigned lane = 0; lane < 32; lane++) {
				unsigned l = lane & 15, at = i * 32 + lane;
				a[at] = small_half(ma[l][2 * i], bf16) | small_half(ma[l][2 * i + 1], bf16) << 16;
				b[at] = small_half(mb[2 * i][l], bf16) | small_half(mb[2 * i + 1][l], bf16) << 16;
				int v = mc[2 * i + lane / 16][l];
				c[at] = wide ? bits((float)v) : small_half(v, bf16) << 16 | 0x1234;
				d[at] = 0xabcdabcd;
			}
		if (n & 1) { /* lanes 16-31 of A and B are copies by contract and must not matter */
			a[16] = ~0u;
			b[31] = ~0u;
		}
		find(kinds[n].name)->fn(d, a, b, c, &env);
		for (unsigned row = 0; row < 16; row++)
			for (unsigned col = 0; col < 16; col++) {
				int want = mc[row][col];
				/* neg_lo of B: even k negated */
				for (unsigned k = 0; k < 16; k++)
					want += ma[row][k] * (k & 1 ? mb[k][col] : -mb[k][col]);
				uint32_t got = d[row / 2 * 32 + row % 2 * 16 + col];
				if (wide)
					assert_true(flt(got) == (float)want);
				else
					CHECK(got, small_half(want, bf16) << 16 | 0xabcd);
			}
	}
}

static void
wmma_integers(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 16; n++) {
		static regs a, b, c, d;
		const unsigned width = n & 1 ? 4 : 8, mask = (1u << width) - 1, per = 32 / width;
		struct sg_valu_env env = { .neg = n >> 1 & 3, .clamp = n >> 3 };
		garbage(a);
		garbage(b);
		garbage(c);
		find(n & 1 ? "v_wmma_i32_16x16x16_iu4" : "v_wmma_i32_16x16x16_iu8")->fn(d, a, b, c, &env);
		for (unsigned row = 0; row < 16; row++)
			for (unsigned col = 0; col < 16; col++) {
				unsigned at = row / 2 * 32 + row % 2 * 16 + col;
				int64_t want = (int32_t)c[at];
				for (unsigned k = 0; k < 16; k++) {
					int64_t x = a[k / per * 32 + row] >> k % per * width & mask;
					int64_t y = b[k / per * 32 + col] >> k % per * width & mask;
					x -= (env.neg & 1) && x > mask / 2 ? mask + 1 : 0;
					y -= (env.neg & 2) && y > mask / 2 ? mask + 1 : 0;
					want += x * y;
				}
				if (env.clamp)
					want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
				CHECK(d[at], (uint32_t)want);
			}
	}
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
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(lanes_are_independent),
		cmocka_unit_test(f32_arithmetic),
		cmocka_unit_test(f32_modes),
		cmocka_unit_test(f32_min_max),
		cmocka_unit_test(rounding_to_integers),
		cmocka_unit_test(transcendental),
		cmocka_unit_test(division_is_correctly_rounded),
		cmocka_unit_test(f16_rounds_once_in_every_mode),
		cmocka_unit_test(f16_conversions),
		cmocka_unit_test(conversions_saturate),
		cmocka_unit_test(integer_arithmetic),
		cmocka_unit_test(bytes),
		cmocka_unit_test(carries),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(packed),
		cmocka_unit_test(dot_products),
		cmocka_unit_test(wmma_floats),
		cmocka_unit_test(wmma_integers),
		cmocka_unit_test(cube_maps),
		cmocka_unit_test(f64_arithmetic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
