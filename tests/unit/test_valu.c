/* SPDX-License-Identifier: MIT */
/* test_valu.c: what all operations of softgpu's vector ALU have in common, and comparisons. */
#include "valu_test.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_sound),
		cmocka_unit_test(lanes_are_independent),
		cmocka_unit_test(comparisons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
