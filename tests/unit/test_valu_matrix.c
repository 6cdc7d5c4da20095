/* SPDX-License-Identifier: MIT */
/* test_valu_matrix.c: packed and mixed arithmetic, dot products, matrices. */
#include "valu_test.h"

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

/* A denormal bfloat16 is a denormal f32, kept or flushed with those. */
static void
dot_products_of_denormals(void **state)
{
	(void)state;
	const uint32_t tiny = 0x0001, huge = 0x7f00; /* 2^-133 and 2^127 */
	CHECK(run("v_dot2_f32_bf16", MODE_KEEP, tiny, huge, bits(1)), bits(1 + 0x1p-6f));
	CHECK(run("v_dot2_f32_bf16", MODE_FLUSH, tiny, huge, bits(1)), bits(1));
	CHECK(run("v_dot2_bf16_bf16", MODE_KEEP, tiny << 16, huge << 16, 0x3f80) & 0xffff, 0x3f82);
	CHECK(run("v_dot2_bf16_bf16", MODE_FLUSH, tiny << 16, huge << 16, 0x3f80) & 0xffff, 0x3f80);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed),
		cmocka_unit_test(dot_products),
		cmocka_unit_test(dot_products_of_denormals),
		cmocka_unit_test(wmma_floats),
		cmocka_unit_test(wmma_integers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
