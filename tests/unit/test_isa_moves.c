/* SPDX-License-Identifier: MIT */
/* test_isa_moves.c: values that reach registers by side doors: LDS direct, status of buffer loads. Encodings are
 * llvm-mc's. */
#include "isa_run.h"

static void
set_lds(struct run *r, unsigned address, uint32_t value)
{
	memcpy(r->core->lds + address, &value, 4);
}

/* v_add_f32 v0, src_lds_direct, v1 (RDNA2); lds_direct_load v0 (RDNA3) */
static void
lds_direct(void **state)
{
	struct run *r = *state;
	static const struct {
		uint32_t m0, want;
	} cases[] = {
		{ 0x20000 | 64, 0x89abcdef }, { 0x00000 | 64, 0xef }, { 0x10000 | 66, 0x89ab }, { 0x40000 | 67, 0xffffff89 },
		{ 0x50000 | 64, 0xffffcdef }, { 0x20000 | 0xfffe, 0 /* reaches past the end */ },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		RUN_BEGIN(r, SG_ARCH_RDNA2, 32, 0x4a0002fe); /* v_add_nc_u32 v0, src_lds_direct, v1 */
		set_lds(r, 64, 0x89abcdef);
		r->w->sgpr[SG_REG_M0] = cases[i].m0;
		*run_lane(r, 1, 7) = 5;
		run_go(r);
		assert_int_equal(*run_lane(r, 0, 7), cases[i].want + 5);
		assert_int_equal(*run_lane(r, 0, 31), cases[i].want);

		RUN_BEGIN(r, SG_ARCH_RDNA3, 64, 0xce130000);
		set_lds(r, 64, 0x89abcdef);
		r->w->sgpr[SG_REG_M0] = cases[i].m0;
		r->w->sgpr[SG_REG_EXEC] = ~1u;
		*run_lane(r, 0, 0) = 77;
		run_go(r);
		assert_int_equal(*run_lane(r, 0, 0), 77);
		assert_int_equal(*run_lane(r, 0, 1), cases[i].want);
		assert_int_equal(*run_lane(r, 0, 63), cases[i].want);
	}
}

/* buffer_load_dword v[4:5], v0, s[8:11], 0 offen tfe */
static void
buffer_status(void **state)
{
	static const uint32_t code[2][2] = { { 0xe0301000, 0x80820400 }, { 0xe0500000, 0x80620400 } };
	struct run *r = *state;

	for (unsigned a = 0; a < 2; a++) {
		for (unsigned hole = 0; hole < 2; hole++) {
			run_begin(r, a ? SG_ARCH_RDNA3 : SG_ARCH_RDNA2, 32, code[a], 2);
			const uint32_t v[4] = { hole ? RUN_HOLE : RUN_DATA, 0, 4096, 3u << 28 };
			memcpy(&r->w->sgpr[8], v, sizeof v);
			for (unsigned i = 0; i < 32; i++) {
				*run_lane(r, 0, i) = i * 4;
				memcpy(r->data + 4 * i, &(uint32_t){ 100 + i }, 4);
				*run_lane(r, 5, i) = 99;
			}
			run_go(r);
			assert_int_equal(*run_lane(r, 4, 9), hole ? 0 : 109);
			assert_int_equal(*run_lane(r, 5, 9), hole);
		}
	}
}

static int
open_run(void **state)
{
	static struct run r;
	run_open(&r);
	*state = &r;
	return 0;
}

static int
close_run(void **state)
{
	run_close(*state);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lds_direct, open_run, close_run),
		cmocka_unit_test_setup_teardown(buffer_status, open_run, close_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
