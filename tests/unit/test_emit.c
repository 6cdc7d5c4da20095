/* SPDX-License-Identifier: MIT */
/* Promise: the stream is what the hardware's drivers would emit, dword by dword, and counting equals emitting.
 * The literals are the kernel's and RADV's own for gfx11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "amdgpu_code_object.h"
#include "emit.h"
#include "pm4.h"
#include "pm4_regs.h"
#include "target.h"

#define VA 0x123456789a00u
#define TEST(name) static void name(void **state)

static const struct gp_target *target;
static uint32_t dw[4096];
static const struct gp_emit_private no_scratch;

static void
start(struct gp_emit *e)
{
	target = gp_target_find("gfx1100");
	assert_non_null(target);
	gp_emit_init(e, target, PLAN_IN_STREAM);
	e->dw = dw;
}

static void
expect(const struct gp_emit *e, uint32_t from, const uint32_t *wanted, uint32_t n)
{
	assert_int_equal(e->n - from, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(dw[from + i], wanted[i]);
}

#define EXPECT(e, from, ...)                                                                                          \
	do {                                                                                                          \
		static const uint32_t wanted[] = { __VA_ARGS__ };                                                     \
		expect(e, from, wanted, sizeof(wanted) / 4);                                                          \
	} while (0)

static struct gp_emit_dispatch
some_dispatch(void)
{
	return (struct gp_emit_dispatch){
		.code = gp_ref_absolute(VA),
		.kernarg = gp_ref_absolute(0x800000001000u),
		.rsrc1 = 0x600c0041,
		.rsrc2 = 0x9e,
		.properties = AMDGPU_KCP_KERNARG_SEGMENT_PTR | AMDGPU_KCP_WAVE32,
		.groups = { { .value = 7 }, { .value = 2 }, { .value = 1 } },
		.block = { 64, 1, 1 },
	};
}

TEST(a_read_after_write_barrier_is_ten_dwords)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->barrier(&e, PLAN_BARRIER_WAIT | PLAN_BARRIER_INVALIDATE);
	EXPECT(&e, 0, 0xc0004600, 0x00000407, 0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0x380);
}

TEST(a_wait_alone_is_two_dwords)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->barrier(&e, PLAN_BARRIER_WAIT);
	EXPECT(&e, 0, 0xc0004600, 0x00000407);
}

TEST(the_signal_is_the_kernels_own_fence)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->signal(&e, gp_ref_absolute(VA), 1);
	EXPECT(&e, 0, 0xc0064900, 0x06603514, 0x40000000, 0x56789a00, 0x1234, 1, 0, 0);
}

TEST(an_ib_begins_with_every_cache_invalidated)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	EXPECT(&e, 0, 0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0xc3b1);
}

/* The kernel's own EMIT_MEM_SYNC and RADV's preamble without the instruction cache. */
TEST(a_run_leaves_the_instruction_cache_alone)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	EXPECT(&e, 0, 0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0xc3b0);
}

TEST(l2_is_written_back_or_dropped_only_when_asked)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->barrier(&e, PLAN_BARRIER_L2_WRITE_BACK);
	EXPECT(&e, 0, 0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0x8000);
	start(&e);
	target->emit->barrier(&e, PLAN_BARRIER_INVALIDATE | PLAN_BARRIER_L2_INVALIDATE);
	EXPECT(&e, 0, 0xc0065800, 0, 0xffffffff, 0x00ffffff, 0, 0, 0xa, 0xc380);
}

static void
expect_chain(unsigned before)
{
	struct plan_image_relocation relocations[2];
	unsigned end = (before + 4 + 7) / 8 * 8;
	struct gp_emit e;

	start(&e);
	e.relocations = relocations;
	for (unsigned i = 0; i < before; i++)
		gp_emit_dword(&e, 0);
	target->emit->chain(&e, (struct gp_ref){ PLAN_MEMORY_HOST, 0, 0x4000 }, 0x12340);
	assert_int_equal(e.n, end);
	for (unsigned i = before; i < end - 4; i++)
		assert_int_equal(dw[i], 0xffff1000);
	assert_true(e.n - before <= GP_CHAIN_MAX_DWORDS);
	EXPECT(&e, end - 4, 0xc0023f00, 0, 0, 0x00900000 | 0x12340);
	assert_int_equal(e.n_relocations, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(relocations[i].place, end - 3 + i);
		assert_int_equal(relocations[i].kind, i ? PLAN_RELOC_HI32 : PLAN_RELOC_LO32);
		assert_int_equal(relocations[i].memory, PLAN_MEMORY_HOST);
		assert_int_equal(relocations[i].addend, 0x4000);
	}
}

TEST(a_chain_ends_its_segment_at_a_multiple_of_eight)
{
	(void)state;
	for (unsigned before = 0; before < 17; before++)
		expect_chain(before);
}

TEST(registers_survive_a_chain)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	target->emit->dispatch(&e, &d);
	target->emit->chain(&e, gp_ref_absolute(VA), 16);
	n = e.n;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 5);
}

/* What RADV emits on compute rings: START is not forced, so the registers must be zero. */
TEST(an_indirect_dispatch_reads_its_grid)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	d.has_indirect = true;
	d.indirect = gp_ref_absolute(0x123456789abcu);
	target->emit->dispatch(&e, &d);
	EXPECT(&e, e.n - 4, 0xc0021602, 0x56789abc, 0x1234, 0x8041);
	n = e.n;
	d.properties &= ~AMDGPU_KCP_WAVE32;
	target->emit->dispatch(&e, &d);
	EXPECT(&e, n, 0xc0021602, 0x56789abc, 0x1234, 0x41);
}

TEST(fills_are_cut_below_32_kib)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->fill(&e, gp_ref_absolute(0x10000), 0x7fe0 + 4, (struct gp_emit_word){ .value = 0xabcd });
	EXPECT(&e, 0, 0xc0055000, 0xc0300000, 0xabcd, 0, 0x10000, 0, 0x7fe0, 0xc0055000, 0xc0300000, 0xabcd, 0,
	       0x17fe0, 0, 4);
}

TEST(copies_go_through_l2)
{
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->copy(&e, gp_ref_absolute(0x10000), gp_ref_absolute(0xffff800000001000u), 12);
	EXPECT(&e, 0, 0xc0055000, 0xe0300000, 0x1000, 0xffff8000, 0x10000, 0, 12);
}

/* Collects what SET_SH_REG wrote before the first dispatch. */
static void
written(const struct gp_emit *e, bool seen[128], uint32_t value[128])
{
	memset(seen, 0, 128);
	for (uint32_t at = 0; at < e->n;) {
		uint32_t body = PM4_GET(PM4_HEADER_COUNT, dw[at]) + 1;

		if (PM4_GET(PM4_HEADER_OPCODE, dw[at]) == PM4_OP_DISPATCH_DIRECT)
			return;
		if (PM4_GET(PM4_HEADER_OPCODE, dw[at]) == PM4_OP_SET_SH_REG)
			for (uint32_t i = 1; i < body; i++) {
				uint32_t reg = dw[at + 1] + i - 1 - R_COMPUTE_DISPATCH_INITIATOR;

				assert_true(reg < 128);
				assert_false(seen[reg]);
				seen[reg] = true;
				value[reg] = dw[at + 1 + i];
			}
		at += 1 + body;
	}
	fail();
}

TEST(the_first_dispatch_sets_all_that_others_may_have_changed)
{
	static const uint32_t must[] = {
		R_COMPUTE_START_X, R_COMPUTE_START_Y, R_COMPUTE_START_Z, R_COMPUTE_NUM_THREAD_X, R_COMPUTE_NUM_THREAD_Y,
		R_COMPUTE_NUM_THREAD_Z, R_COMPUTE_PERFCOUNT_ENABLE, R_COMPUTE_PGM_LO, R_COMPUTE_PGM_HI,
		R_COMPUTE_PGM_RSRC1, R_COMPUTE_PGM_RSRC2, R_COMPUTE_RESOURCE_LIMITS, R_COMPUTE_STATIC_THREAD_MGMT_SE0,
		R_COMPUTE_STATIC_THREAD_MGMT_SE1, R_COMPUTE_TMPRING_SIZE, R_COMPUTE_STATIC_THREAD_MGMT_SE2,
		R_COMPUTE_STATIC_THREAD_MGMT_SE3, R_COMPUTE_RESTART_X, R_COMPUTE_RESTART_Y, R_COMPUTE_RESTART_Z,
		R_COMPUTE_THREAD_TRACE_ENABLE, R_GFX11_COMPUTE_REQ_CTRL, R_GFX11_COMPUTE_USER_ACCUM_0,
		R_GFX11_COMPUTE_USER_ACCUM_1, R_GFX11_COMPUTE_USER_ACCUM_2, R_GFX11_COMPUTE_USER_ACCUM_3,
		R_GFX11_COMPUTE_PGM_RSRC3, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE4,
		R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE5, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE6,
		R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE7, R_GFX11_COMPUTE_DISPATCH_INTERLEAVE,
		R_GFX11_COMPUTE_DISPATCH_TUNNEL, R_COMPUTE_USER_DATA_0, R_COMPUTE_USER_DATA_1,
	};
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t value[128];
	bool seen[128];
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	written(&e, seen, value);
	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		assert_true(seen[must[i] - R_COMPUTE_DISPATCH_INITIATOR]);
#define VALUE(r) value[(r)-R_COMPUTE_DISPATCH_INITIATOR]
	assert_int_equal(VALUE(R_COMPUTE_PGM_LO), 0x3456789a);
	assert_int_equal(VALUE(R_COMPUTE_PGM_HI), 0x12);
	assert_int_equal(VALUE(R_COMPUTE_PGM_RSRC2), 0x9e);
	assert_int_equal(VALUE(R_COMPUTE_STATIC_THREAD_MGMT_SE0), 0xffffffff);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_0), 0x1000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_1), 0x8000);
	assert_int_equal(VALUE(R_GFX11_COMPUTE_DISPATCH_INTERLEAVE), 64);
	assert_int_equal(dw[e.n - 5], 0xc0031502);
	assert_int_equal(dw[e.n - 4], 7);
	assert_int_equal(dw[e.n - 1], 0x8045);
}

TEST(a_repeated_kernel_costs_nine_dwords)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	n = e.n;
	d.kernarg.addend += 1ull << 33 | 64;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 9);
	n = e.n;
	d.groups[0].value = 9;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 5);
}

TEST(a_kernel_change_costs_twenty_five_dwords)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	(void)state;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	n = e.n;
	d.code.addend = VA + (1ull << 40) + 256;
	d.kernarg.addend += 1ull << 33 | 64;
	d.rsrc1++, d.rsrc2 += 2, d.rsrc3++;
	d.block[0] = 32, d.block[1] = 2, d.block[2] = 3;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 25);
}

TEST(scratch_goes_to_the_architected_registers)
{
	struct gp_emit_private scratch = { gp_ref_absolute(VA), 1024, 32 };
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t value[128];
	bool seen[128];
	struct gp_emit e;

	(void)state;
	start(&e);
	target->emit->begin(&e, &scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	written(&e, seen, value);
	assert_int_equal(VALUE(R_COMPUTE_DISPATCH_SCRATCH_BASE_LO), 0x3456789a);
	assert_int_equal(VALUE(R_COMPUTE_DISPATCH_SCRATCH_BASE_HI), 0x12);
	assert_int_equal(VALUE(R_COMPUTE_TMPRING_SIZE), 32 | 4 << 12);
}

TEST(a_wave64_kernel_has_no_w32_bit)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;

	(void)state;
	d.properties &= ~AMDGPU_KCP_WAVE32;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	assert_int_equal(dw[e.n - 1], 0x45);
}

TEST(user_sgprs_stand_in_the_order_of_the_abi)
{
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t value[128];
	bool seen[128];
	struct gp_emit e;

	(void)state;
	d.properties = AMDGPU_KCP_DISPATCH_PTR | AMDGPU_KCP_QUEUE_PTR | AMDGPU_KCP_KERNARG_SEGMENT_PTR |
		       AMDGPU_KCP_DISPATCH_ID | AMDGPU_KCP_PRIVATE_SEGMENT_SIZE;
	d.dispatch_packet = gp_ref_absolute(0x1111000000u);
	d.queue = gp_ref_absolute(0x2222000000u);
	d.private_bytes = 96;
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	written(&e, seen, value);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_0), 0x11000000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_1), 0x11);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_2), 0x22000000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_4), 0x1000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_5), 0x8000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_8), 96);
}

TEST(relocations_name_the_places_left_open)
{
	struct plan_image_relocation relocations[64];
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e, count;

	(void)state;
	d.code = (struct gp_ref){ PLAN_MEMORY_CODE, 3, 0x1100 };
	d.kernarg = (struct gp_ref){ PLAN_MEMORY_HOST, 0, 0x40 };
	start(&e);
	gp_emit_init(&count, target, PLAN_IN_STREAM);
	e.relocations = relocations;
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	target->emit->begin(&count, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&count, &d);
	assert_int_equal(count.n, e.n);
	assert_int_equal(count.n_relocations, e.n_relocations);
	assert_int_equal(e.n_relocations, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(dw[relocations[i].place], 0);
	assert_int_equal(relocations[0].kind, PLAN_RELOC_LO32_SHR8);
	assert_int_equal(relocations[0].index, 3);
	assert_int_equal(relocations[0].addend, 0x1100);
	assert_int_equal(relocations[3].kind, PLAN_RELOC_HI32);
	assert_int_equal(relocations[3].memory, PLAN_MEMORY_HOST);
}

/* ---- gfx10 ---- */

static void
start_gfx1030(struct gp_emit *e)
{
	target = gp_target_find("gfx1030");
	assert_non_null(target);
	gp_emit_init(e, target, PLAN_IN_STREAM);
	e->dw = dw;
}

TEST(gfx10_kernels_find_their_arguments_behind_the_scratch_descriptor)
{
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t value[128];
	bool seen[128];
	struct gp_emit e;

	(void)state;
	d.properties |= AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER;
	d.rsrc2 &= ~1u;
	start_gfx1030(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	written(&e, seen, value);
	assert_false(seen[R_COMPUTE_USER_DATA_0 - R_COMPUTE_DISPATCH_INITIATOR]);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_4), 0x1000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_5), 0x8000);
	assert_false(seen[R_GFX11_COMPUTE_DISPATCH_INTERLEAVE - R_COMPUTE_DISPATCH_INITIATOR]);
	assert_false(seen[R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE7 - R_COMPUTE_DISPATCH_INITIATOR]);
	assert_true(seen[R_GFX10_COMPUTE_REQ_CTRL - R_COMPUTE_DISPATCH_INITIATOR]);
	assert_true(seen[R_GFX10_COMPUTE_PGM_RSRC3 - R_COMPUTE_DISPATCH_INITIATOR]);
	assert_true(seen[R_GFX10_COMPUTE_DISPATCH_TUNNEL - R_COMPUTE_DISPATCH_INITIATOR]);
}

TEST(gfx10_scratch_is_a_swizzled_descriptor)
{
	struct gp_emit_private scratch = { gp_ref_absolute(VA), 2048, 32 };
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t value[128];
	bool seen[128];
	struct gp_emit e;

	(void)state;
	d.properties |= AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER | AMDGPU_KCP_FLAT_SCRATCH_INIT;
	d.rsrc2 |= 1;
	start_gfx1030(&e);
	target->emit->begin(&e, &scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	written(&e, seen, value);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_0), 0x56789a00);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_1), 0x80001234);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_2), 0xffffffff);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_3), 0x31c16000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_4), 0x1000);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_6), 0x56789a00);
	assert_int_equal(VALUE(R_COMPUTE_USER_DATA_7), 0x1234);
	/* waves in all, a multiple of the four engines; 1024-byte units */
	assert_int_equal(VALUE(R_COMPUTE_TMPRING_SIZE), 128 | 2 << 12);
}

TEST(gfx10_first_dispatch_and_repeats)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	(void)state;
	start_gfx1030(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	n = e.n;
	d.kernarg.addend += 1ull << 33 | 64;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 9);
	n = e.n;
	target->emit->fill(&e, gp_ref_absolute(0x10000), 0x3ffffe0 + 4, (struct gp_emit_word){ .value = 1 });
	assert_int_equal(e.n - n, 14);
}

TEST(ibs_are_padded_to_eight_dwords)
{
	struct gp_emit e;

	(void)state;
	for (unsigned n = 0; n < 9; n++) {
		start(&e);
		for (unsigned i = 0; i < n; i++)
			gp_emit_dword(&e, 0);
		target->emit->finish(&e);
		assert_int_equal(e.n, (n + 7) / 8 * 8);
		for (unsigned i = n; i < e.n; i++)
			assert_int_equal(dw[i], 0xffff1000);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_after_write_barrier_is_ten_dwords),
		cmocka_unit_test(a_wait_alone_is_two_dwords),
		cmocka_unit_test(the_signal_is_the_kernels_own_fence),
		cmocka_unit_test(an_ib_begins_with_every_cache_invalidated),
		cmocka_unit_test(a_run_leaves_the_instruction_cache_alone),
		cmocka_unit_test(l2_is_written_back_or_dropped_only_when_asked),
		cmocka_unit_test(a_chain_ends_its_segment_at_a_multiple_of_eight),
		cmocka_unit_test(registers_survive_a_chain),
		cmocka_unit_test(an_indirect_dispatch_reads_its_grid),
		cmocka_unit_test(fills_are_cut_below_32_kib),
		cmocka_unit_test(copies_go_through_l2),
		cmocka_unit_test(the_first_dispatch_sets_all_that_others_may_have_changed),
		cmocka_unit_test(a_repeated_kernel_costs_nine_dwords),
		cmocka_unit_test(a_kernel_change_costs_twenty_five_dwords),
		cmocka_unit_test(scratch_goes_to_the_architected_registers),
		cmocka_unit_test(a_wave64_kernel_has_no_w32_bit),
		cmocka_unit_test(user_sgprs_stand_in_the_order_of_the_abi),
		cmocka_unit_test(relocations_name_the_places_left_open),
		cmocka_unit_test(gfx10_kernels_find_their_arguments_behind_the_scratch_descriptor),
		cmocka_unit_test(gfx10_scratch_is_a_swizzled_descriptor),
		cmocka_unit_test(gfx10_first_dispatch_and_repeats),
		cmocka_unit_test(ibs_are_padded_to_eight_dwords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
