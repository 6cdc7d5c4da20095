/* SPDX-License-Identifier: MIT */
/* test_valu_half.c: half precision, and conversions of all kinds. */
#include "valu_test.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(f16_rounds_once_in_every_mode),
		cmocka_unit_test(f16_conversions),
		cmocka_unit_test(conversions_saturate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
