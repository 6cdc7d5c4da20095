/* SPDX-License-Identifier: MIT */
/* test_valu_int.c: the vector ALU's integer arithmetic. */
#include "valu_test.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integer_arithmetic),
		cmocka_unit_test(bytes),
		cmocka_unit_test(carries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
