/* SPDX-License-Identifier: MIT */
/* Promise: every target's streams set all that others may have changed, invalidate and write back what that generation
 * needs, cost the fewest dwords, and counting equals emitting. The literals are the Linux kernel's and Mesa's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "amdgpu_code_object.h"
#include "emit.h"
#include "pm4_regs.h"
#include "target.h"

#define VA 0x123456789a00u
#define FIRST R_COMPUTE_DISPATCH_INITIATOR
#define TEST(name) static void name(void **state)

/* What this file expects of a generation. */
struct generation {
	const char *targets;	/* separated by spaces */
	uint32_t begin_upload, begin_run; /* ACQUIRE_MEM's cache dword */
	uint32_t coher_delay;	/* UINT32_MAX: not written */
	uint32_t raw;		/* cache dword of a read-after-write barrier */
	uint32_t l2_write_back, l2_invalidate; /* of a barrier of that alone */
	uint32_t signal;	/* RELEASE_MEM's first dword */
	uint32_t acquire_dwords;
	uint32_t kernel_change;	/* dwords when everything changes */
	uint32_t dma_max;
	bool wave32, architected_scratch;
	uint32_t rsrc3;		/* register, 0: none */
	uint32_t word3[2];	/* of the scratch descriptor: wave64, wave32 */
	uint32_t wavesize_unit;
	bool waves_per_engine;
	struct {
		uint32_t first, last, value;
	} more[8];		/* registers at IB start beside those that all have */
};

static const struct generation generations[] = {
	{
		.targets = "gfx900 gfx906",
		.begin_upload = 0x28c40000, .begin_run = 0x08c40000, .coher_delay = 0, .raw = 0x08400000,
		.l2_write_back = 0x00040008, .l2_invalidate = 0x00840000, .signal = 0x00238514, .acquire_dwords = 7,
		.kernel_change = 22, .dma_max = 0x3ffffe0, .word3 = { 0x00e00000 }, .wavesize_unit = 1024,
	},
	{
		.targets = "gfx90a",
		.begin_upload = 0x28c40000, .begin_run = 0x08c40000, .coher_delay = 0, .raw = 0x08400000,
		.l2_write_back = 0x00040008, .l2_invalidate = 0x00840000, .signal = 0x00238514, .acquire_dwords = 7,
		.kernel_change = 25, .dma_max = 0x3ffffe0, .rsrc3 = 0x22d, .word3 = { 0x00e00000 }, .wavesize_unit = 1024,
		.more = { { 0x225, 0x228, 0xffffffff } },
	},
	{
		/* the next job may run on another XCC: the instruction cache is always invalidated */
		.targets = "gfx942",
		.begin_upload = 0x28c40000, .begin_run = 0x28c40000, .coher_delay = 0, .raw = 0x08400000,
		.l2_write_back = 0x00040008, .l2_invalidate = 0x00840000, .signal = 0x00238514, .acquire_dwords = 7,
		.kernel_change = 25, .dma_max = 0x3ffffe0, .architected_scratch = true, .rsrc3 = 0x22d,
		.wavesize_unit = 1024, .more = { { 0x227, 0x227, 0 } },
	},
	{
		.targets = "gfx1010 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036",
		.begin_upload = 0xc3b1, .begin_run = 0xc3b0, .coher_delay = 0x20, .raw = 0x380, .l2_write_back = 0x8000,
		.l2_invalidate = 0xc000, .signal = 0x06603514, .acquire_dwords = 8, .kernel_change = 25,
		.dma_max = 0x3ffffe0, .wave32 = true, .rsrc3 = 0x228, .word3 = { 0x31e16000, 0x31c16000 },
		.wavesize_unit = 1024, .more = { { 0x222, 0x222, 0 }, { 0x224, 0x227, 0 }, { 0x27d, 0x27d, 0 } },
	},
	{
		.targets = "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151",
		.begin_upload = 0xc3b1, .begin_run = 0xc3b0, .coher_delay = UINT32_MAX, .raw = 0x380,
		.l2_write_back = 0x8000, .l2_invalidate = 0xc000, .signal = 0x06603514, .acquire_dwords = 8,
		.kernel_change = 25, .dma_max = 0x7fe0, .wave32 = true, .architected_scratch = true, .rsrc3 = 0x228,
		.wavesize_unit = 256, .waves_per_engine = true,
		.more = { { 0x222, 0x222, 0 }, { 0x224, 0x227, 0 }, { 0x22b, 0x22e, 0xffffffff }, { 0x22f, 0x22f, 64 },
			  { 0x27d, 0x27d, 0 } },
	},
	{
		.targets = "gfx1200 gfx1201",
		.begin_upload = 0xc181, .begin_run = 0xc180, .coher_delay = UINT32_MAX, .raw = 0x180,
		.l2_write_back = 0x8000, .l2_invalidate = 0xc000, .signal = 0x06600514, .acquire_dwords = 8,
		.kernel_change = 25, .dma_max = 0x7fe0, .wave32 = true, .architected_scratch = true, .rsrc3 = 0x228,
		.wavesize_unit = 256, .waves_per_engine = true,
		.more = { { 0x20e, 0x20f, 0 }, { 0x222, 0x222, 0 }, { 0x223, 0x223, 0xffffffff }, { 0x224, 0x227, 0 },
			  { 0x22b, 0x22e, 0xffffffff }, { 0x22f, 0x22f, 64 }, { 0x27d, 0x27d, 0 } },
	},
};

static const struct generation *g;
static const struct gp_target *target;
static uint32_t dw[1 << 16];
static const struct gp_emit_private no_scratch;

static void
start(struct gp_emit *e)
{
	gp_emit_init(e, target, PLAN_IN_STREAM);
	e->dw = dw;
}

static void
for_each_target(void (*check)(void))
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		char list[128], *save = NULL;

		g = &generations[i];
		strcpy(list, g->targets);
		for (char *name = strtok_r(list, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
			target = gp_target_find(name);
			assert_non_null(target);
			check();
		}
	}
}

#define FOR_EACH_TARGET(name, check)                                                                                  \
	TEST(name)                                                                                                    \
	{                                                                                                             \
		(void)state;                                                                                          \
		for_each_target(check);                                                                               \
	}

static struct gp_emit_dispatch
some_dispatch(void)
{
	return (struct gp_emit_dispatch){
		.code = gp_ref_absolute(VA),
		.kernarg = gp_ref_absolute(0x800000001000u),
		.rsrc1 = 0x600c0041,
		.rsrc2 = 0x9e,
		.rsrc3 = 0x3,
		.properties = AMDGPU_KCP_KERNARG_SEGMENT_PTR | (g->wave32 ? AMDGPU_KCP_WAVE32 : 0),
		.groups = { { .value = 7 }, { .value = 2 }, { .value = 1 } },
		.block = { 64, 2, 3 },
	};
}

/* ---- what stands in a stream ---- */

struct writes {
	bool seen[128];
	uint32_t value[128];
	uint32_t coher_delay;
};

static void
note_sh(struct writes *w, const uint32_t *p, uint32_t body)
{
	for (uint32_t i = 1; i < body; i++) {
		uint32_t reg = p[1] + i - 1 - FIRST;

		assert_true(reg < 128);
		assert_false(w->seen[reg]);
		w->seen[reg] = true;
		w->value[reg] = p[1 + i];
	}
}

/* Registers written before the first dispatch. */
static void
read_writes(const struct gp_emit *e, struct writes *w)
{
	*w = (struct writes){ .coher_delay = UINT32_MAX };
	for (uint32_t at = 0; at < e->n;) {
		uint32_t body = PM4_GET(PM4_HEADER_COUNT, dw[at]) + 1, op = PM4_GET(PM4_HEADER_OPCODE, dw[at]);

		if (op == PM4_OP_DISPATCH_DIRECT || op == PM4_OP_DISPATCH_INDIRECT)
			return;
		if (op == PM4_OP_SET_UCONFIG_REG) {
			assert_int_equal(dw[at + 1], R_CP_COHER_START_DELAY);
			w->coher_delay = dw[at + 2];
		}
		if (op == PM4_OP_SET_SH_REG)
			note_sh(w, &dw[at], body);
		at += 1 + body;
	}
	fail();
}

static void
expect_reg(const struct writes *w, uint32_t reg, uint32_t value)
{
	if (!w->seen[reg - FIRST] || w->value[reg - FIRST] != value)
		fail_msg("%s: register 0x%x: %s 0x%x, wanted 0x%x", target->name, reg,
			 w->seen[reg - FIRST] ? "written" : "not written", w->value[reg - FIRST], value);
}

static void
expect_acquire(uint32_t from, uint32_t caches)
{
	uint32_t at = from;

	assert_int_equal(dw[at++], g->acquire_dwords == 8 ? 0xc0065800 : 0xc0055800);
	assert_int_equal(dw[at++], g->acquire_dwords == 8 ? 0 : caches);
	assert_int_equal(dw[at++], 0xffffffff);
	assert_int_equal(dw[at++], 0x00ffffff);
	assert_int_equal(dw[at++], 0);
	assert_int_equal(dw[at++], 0);
	assert_int_equal(dw[at++], 0xa);
	if (g->acquire_dwords == 8)
		assert_int_equal(dw[at++], caches);
}

/* ---- begin ---- */

static const struct {
	uint32_t first, last, value;
} everywhere[] = {
	{ 0x204, 0x206, 0 }, { 0x20a, 0x20b, 0 }, { 0x215, 0x215, 0 }, { 0x216, 0x217, 0xffffffff }, { 0x218, 0x218, 0 },
	{ 0x219, 0x21a, 0xffffffff }, { 0x21b, 0x21d, 0 }, { 0x21e, 0x21e, 0 },
};

static void
check_registers(void)
{
	static const uint32_t dispatch[] = { 0x207, 0x208, 0x209, 0x20c, 0x20d, 0x212, 0x213, 0x240, 0x241 };
	static const uint32_t values[] = { 64, 2, 3, 0x3456789a, 0x12, 0x600c0041, 0x9e, 0x1000, 0x8000 };
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t n = 0, expected = sizeof(dispatch) / 4;
	struct writes w;
	struct gp_emit e;

	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	target->emit->dispatch(&e, &d);
	read_writes(&e, &w);
	assert_int_equal(w.coher_delay, g->coher_delay);
	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
		for (uint32_t r = everywhere[i].first; r <= everywhere[i].last; r++, expected++)
			expect_reg(&w, r, everywhere[i].value);
	for (size_t i = 0; i < 8 && g->more[i].first; i++)
		for (uint32_t r = g->more[i].first; r <= g->more[i].last; r++, expected++)
			expect_reg(&w, r, g->more[i].value);
	for (size_t i = 0; i < sizeof(dispatch) / 4; i++)
		expect_reg(&w, dispatch[i], values[i]);
	if (g->rsrc3) {
		expect_reg(&w, g->rsrc3, 3);
		expected++;
	}
	/* and nothing else: a number that means another register on this generation would show here */
	for (uint32_t i = 0; i < 128; i++)
		n += w.seen[i];
	assert_int_equal(n, expected);
	assert_int_equal(dw[e.n - 1], g->wave32 ? 0x8045 : 0x45);
}

static void
check_begin_caches(void)
{
	uint32_t at = g->coher_delay == UINT32_MAX ? 0 : 3;
	struct gp_emit e;

	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	expect_acquire(at, g->begin_upload);
	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	expect_acquire(at, g->begin_run);
	if (at) {
		assert_int_equal(dw[0], 0xc0017900);
		assert_int_equal(dw[1], 0x7b);
		assert_int_equal(dw[2], g->coher_delay);
	}
}

static void
check_scratch(void)
{
	struct gp_emit_private scratch = { gp_ref_absolute(VA), 3072, 32 };
	struct gp_emit_dispatch d = some_dispatch();
	uint32_t waves = 32 * (g->waves_per_engine ? 1 : target->shader_engines);
	struct writes w;
	struct gp_emit e;

	d.rsrc2 |= 1;
	if (!g->architected_scratch)
		d.properties |= AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER;
	start(&e);
	target->emit->begin(&e, &scratch, GP_BEGIN_RUN);
	target->emit->dispatch(&e, &d);
	read_writes(&e, &w);
	expect_reg(&w, 0x218, waves | 3072 / g->wavesize_unit << 12);
	assert_int_equal(target->private_granule, g->wavesize_unit);
	assert_int_equal(w.seen[0x210 - FIRST], g->architected_scratch);
	assert_int_equal(w.seen[0x211 - FIRST], g->architected_scratch);
	if (g->architected_scratch) {
		expect_reg(&w, 0x210, 0x3456789a);
		expect_reg(&w, 0x211, 0x12);
		expect_reg(&w, 0x240, 0x1000);
	} else {
		expect_reg(&w, 0x240, 0x56789a00);
		expect_reg(&w, 0x241, 0x80001234);
		expect_reg(&w, 0x242, 0xffffffff);
		expect_reg(&w, 0x243, g->word3[g->wave32]);
		expect_reg(&w, 0x244, 0x1000);
	}
	d.properties &= ~AMDGPU_KCP_WAVE32;
	start(&e);
	target->emit->begin(&e, &scratch, GP_BEGIN_RUN);
	target->emit->dispatch(&e, &d);
	read_writes(&e, &w);
	if (!g->architected_scratch)
		expect_reg(&w, 0x243, g->word3[0]);
	assert_int_equal(dw[e.n - 1], 0x45);
}

/* ---- barriers and signal ---- */

static uint32_t
emit_barrier(uint32_t ops)
{
	struct gp_emit e;

	start(&e);
	target->emit->barrier(&e, ops);
	return e.n;
}

static void
check_barriers(void)
{
	assert_int_equal(emit_barrier(PLAN_BARRIER_WAIT), 2);
	assert_int_equal(dw[0], 0xc0004600);
	assert_int_equal(dw[1], 0x407);
	assert_int_equal(emit_barrier(PLAN_BARRIER_INVALIDATE), g->acquire_dwords);
	expect_acquire(0, g->raw);
	assert_int_equal(emit_barrier(PLAN_BARRIER_WAIT | PLAN_BARRIER_INVALIDATE), 2 + g->acquire_dwords);
	assert_int_equal(dw[1], 0x407);
	expect_acquire(2, g->raw);
	assert_int_equal(emit_barrier(PLAN_BARRIER_L2_WRITE_BACK), g->acquire_dwords);
	expect_acquire(0, g->l2_write_back);
	assert_int_equal(emit_barrier(PLAN_BARRIER_L2_INVALIDATE), g->acquire_dwords);
	expect_acquire(0, g->l2_invalidate);
	assert_int_equal(emit_barrier(PLAN_BARRIER_INVALIDATE | PLAN_BARRIER_L2_INVALIDATE), g->acquire_dwords);
	expect_acquire(0, g->raw | g->l2_invalidate);
	assert_int_equal(emit_barrier(0), 0);
}

static void
check_signal(void)
{
	struct gp_emit e;

	start(&e);
	target->emit->signal(&e, gp_ref_absolute(VA), 0x500000001u);
	assert_int_equal(e.n, 8);
	assert_int_equal(dw[0], 0xc0064900);
	assert_int_equal(dw[1], g->signal);
	assert_int_equal(dw[2], 0x40000000);
	assert_int_equal(dw[3], 0x56789a00);
	assert_int_equal(dw[4], 0x1234);
	assert_int_equal(dw[5], 1);
	assert_int_equal(dw[6], 5);
	assert_int_equal(dw[7], 0);
}

static void
check_dma(void)
{
	struct gp_emit e;

	start(&e);
	target->emit->fill(&e, gp_ref_absolute(0x10000), g->dma_max, (struct gp_emit_word){ .value = 5 });
	assert_int_equal(e.n, 7);
	assert_int_equal(dw[1], 0xc0300000);
	assert_int_equal(dw[6], g->dma_max);
	target->emit->copy(&e, gp_ref_absolute(0x10000), gp_ref_absolute(0x20000), g->dma_max + 8ull);
	assert_int_equal(e.n, 21);
	assert_int_equal(dw[8], 0xe0300000);
	assert_int_equal(dw[16], 0x20000 + g->dma_max);
	assert_int_equal(dw[20], 8);
}

/* ---- sizes ---- */

static void
check_sizes(void)
{
	struct gp_emit_dispatch d = some_dispatch();
	struct gp_emit e;
	uint32_t n;

	start(&e);
	target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
	target->emit->dispatch(&e, &d);
	n = e.n;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 5);
	n = e.n;
	d.kernarg.addend += 1ull << 33 | 64;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 9);
	n = e.n;
	target->emit->barrier(&e, PLAN_BARRIER_WAIT | PLAN_BARRIER_INVALIDATE);
	d.kernarg.addend += 1ull << 33 | 64;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, 11 + g->acquire_dwords); /* 19 from gfx10 on */
	n = e.n;
	d.code.addend = VA + (1ull << 40) + 256;
	d.kernarg.addend += 1ull << 33 | 64;
	d.rsrc1++, d.rsrc2 += 2, d.rsrc3++;
	d.block[0] = 32, d.block[1] = 3, d.block[2] = 4;
	target->emit->dispatch(&e, &d);
	assert_int_equal(e.n - n, g->kernel_change);
}

static void
emit_random(struct gp_emit *e, unsigned seed)
{
	struct gp_emit_private scratch = { { PLAN_MEMORY_DEVICE, 0, 0x1000 }, seed % 3 ? 2048 : 0, 32 };
	const struct gp_emit_ops *ops = target->emit;

	ops->begin(e, &scratch, seed & 1 ? GP_BEGIN_RUN : GP_BEGIN_AFTER_UPLOAD);
	for (unsigned i = 0; i < 40; i++) {
		struct gp_emit_dispatch d = some_dispatch();
		struct gp_ref a = { PLAN_MEMORY_DEVICE, 0, rand_r(&seed) & ~3u }, b = { PLAN_MEMORY_HOST, 0, 64 };

		d.code.addend += rand_r(&seed) % 3 * 256;
		d.kernarg = (struct gp_ref){ PLAN_MEMORY_HOST, 0, rand_r(&seed) % 4 * 64 };
		d.rsrc3 = rand_r(&seed) % 2;
		d.has_indirect = rand_r(&seed) % 2;
		d.indirect = a;
		d.groups[0].param = rand_r(&seed) % 2;
		switch (rand_r(&seed) % 5) {
		case 0:
			ops->barrier(e, rand_r(&seed) % 16);
			break;
		case 1:
			ops->fill(e, a, rand_r(&seed) % 0x20000 & ~3u, (struct gp_emit_word){ .param = 1 });
			break;
		case 2:
			ops->copy(e, a, b, rand_r(&seed) % 0x20000);
			break;
		case 3:
			ops->chain(e, b, 8);
			break;
		default:
			ops->dispatch(e, &d);
		}
	}
	ops->signal(e, (struct gp_ref){ PLAN_MEMORY_HOST, 0, 0 }, 1);
	ops->finish(e);
}

static void
check_counts(void)
{
	static struct plan_image_relocation relocations[4096];
	static struct plan_image_patch patches[512];

	for (unsigned seed = 0; seed < 50; seed++) {
		struct gp_emit count, e;

		gp_emit_init(&count, target, PLAN_IN_STREAM);
		emit_random(&count, seed);
		assert_in_range(count.n, 1, sizeof(dw) / 4 - 16);
		memset(&dw[count.n], 0xa5, 64);
		start(&e);
		e.relocations = relocations;
		e.patches = patches;
		emit_random(&e, seed);
		assert_int_equal(e.n, count.n);
		assert_int_equal(e.n % 8, 0);
		assert_int_equal(e.n_relocations, count.n_relocations);
		assert_int_equal(e.n_patches, count.n_patches);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(dw[e.n + i], 0xa5a5a5a5);
		for (uint32_t i = 0; i < e.n_relocations; i++)
			assert_in_range(relocations[i].place, 0, e.n - 1);
	}
}

FOR_EACH_TARGET(a_first_dispatch_sets_all_that_others_may_have_changed_and_no_more, check_registers)
FOR_EACH_TARGET(an_ib_begins_with_stale_caches_invalidated, check_begin_caches)
FOR_EACH_TARGET(scratch_stands_where_the_generation_looks_for_it, check_scratch)
FOR_EACH_TARGET(barriers_are_the_smallest_that_hold, check_barriers)
FOR_EACH_TARGET(the_signal_is_the_kernels_own_fence, check_signal)
FOR_EACH_TARGET(dma_goes_through_l2_in_pieces_the_generation_takes, check_dma)
FOR_EACH_TARGET(dispatches_cost_the_fewest_dwords, check_sizes)
FOR_EACH_TARGET(counting_equals_emitting, check_counts)

/* ---- libdrm's amdgpu_test 2.4.114 (shader_test_util.c) ---- */

/* What its dispatches set before they start, in SET_SH_REG offsets. Not ours: SHADER_CHKSUM (0x22a) serves thread
 * traces only; 0x223 is a hole inside a longer packet on gfx10; its buffer descriptors in USER_DATA are its own. It
 * sends CU masks with SET_SH_REG_INDEX, ANDed with the administrator's; RADV and we do not. */
TEST(all_that_libdrms_dispatch_sets_is_set)
{
	static const struct {
		const char *target;
		struct {
			uint32_t first, last;
		} regs[8];
	} libdrm[] = {
		{ "gfx900", { { 0x204, 0x209 }, { 0x20c, 0x20d }, { 0x212, 0x213 }, { 0x215, 0x21a } } },
		{ "gfx1010", { { 0x204, 0x209 }, { 0x20c, 0x20d }, { 0x212, 0x213 }, { 0x215, 0x21a }, { 0x222, 0x222 },
			       { 0x224, 0x228 } } },
		{ "gfx1100", { { 0x204, 0x209 }, { 0x20c, 0x20d }, { 0x212, 0x213 }, { 0x215, 0x21a }, { 0x222, 0x222 },
			       { 0x224, 0x228 } } },
	};

	(void)state;
	g = &generations[0]; /* wave64, as libdrm's shaders are */
	for (size_t i = 0; i < sizeof(libdrm) / sizeof(libdrm[0]); i++) {
		struct gp_emit_dispatch d = some_dispatch();
		struct writes w;
		struct gp_emit e;

		target = gp_target_find(libdrm[i].target);
		start(&e);
		target->emit->begin(&e, &no_scratch, GP_BEGIN_RUN);
		target->emit->dispatch(&e, &d);
		read_writes(&e, &w);
		for (size_t k = 0; libdrm[i].regs[k].first; k++)
			for (uint32_t r = libdrm[i].regs[k].first; r <= libdrm[i].regs[k].last; r++)
				if (!w.seen[r - FIRST])
					fail_msg("%s: libdrm writes 0x%x, we do not", target->name, r);
	}
}

/* ---- the table ---- */

TEST(every_target_is_checked_here)
{
	char known[512];
	char *save = NULL;

	(void)state;
	gp_target_list(known, sizeof(known));
	for (char *name = strtok_r(known, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
		bool found = false;

		for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
			found |= strstr(generations[i].targets, name) != NULL;
		if (!found)
			fail_msg("%s is not tested", name);
	}
}

TEST(only_gfx12_has_dma_beside_l2)
{
	(void)state;
	assert_true(gp_target_find("gfx1200")->dma_bypasses_l2);
	assert_true(gp_target_find("gfx1201")->dma_bypasses_l2);
	assert_false(gp_target_find("gfx1151")->dma_bypasses_l2);
	assert_false(gp_target_find("gfx942")->dma_bypasses_l2);
}

TEST(chips_are_found_by_discovery_or_by_revision)
{
	static const struct {
		uint32_t discovery, family, revision;
		const char *name;
		bool known;
	} chips[] = {
		{ 0x090001, 0, 0, "gfx900", true },   { 0x090402, 0, 0, "gfx90a", true },
		{ 0x090404, 0, 0, "gfx942", true },   { 0x0a0306, 0, 0, "gfx1036", true },
		{ 0x0a0307, 0, 0, "gfx1036", true },  { 0x0b0004, 0, 0, "gfx1103", true },
		{ 0x0b0501, 0, 0, "gfx1151", true },  { 0x0c0001, 0, 0, "gfx1201", true },
		{ 0, 141, 0x01, "gfx900", true },     { 0, 141, 0x3c, "gfx90a", true },
		{ 0, 143, 0x09, "gfx1010", true },    { 0, 143, 0x33, "gfx1031", true },
		{ 0, 144, 0x01, "gfx1033", true },    { 0, 145, 0x2f, "gfx1101", true },
		{ 0x090401, 0, 0, "gfx908", false },  { 0, 143, 0x0a, "gfx1011", false },
		{ 0x0d0102, 0, 0, "GC 13.1.2", false }, { 0, 0, 0, "family 0 revision 0x0", false },
		{ 0, 141, 0xff, "family 141 revision 0xff", false },
	};
	char name[32];

	(void)state;
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		const struct gp_target *t =
			gp_target_detect(chips[i].discovery, chips[i].family, chips[i].revision, name);

		assert_string_equal(name, chips[i].name);
		assert_ptr_equal(t, chips[i].known ? gp_target_find(chips[i].name) : NULL);
		assert_int_equal(t != NULL, chips[i].known);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_dispatch_sets_all_that_others_may_have_changed_and_no_more),
		cmocka_unit_test(an_ib_begins_with_stale_caches_invalidated),
		cmocka_unit_test(scratch_stands_where_the_generation_looks_for_it),
		cmocka_unit_test(barriers_are_the_smallest_that_hold),
		cmocka_unit_test(the_signal_is_the_kernels_own_fence),
		cmocka_unit_test(dma_goes_through_l2_in_pieces_the_generation_takes),
		cmocka_unit_test(dispatches_cost_the_fewest_dwords),
		cmocka_unit_test(counting_equals_emitting),
		cmocka_unit_test(all_that_libdrms_dispatch_sets_is_set),
		cmocka_unit_test(every_target_is_checked_here),
		cmocka_unit_test(only_gfx12_has_dma_beside_l2),
		cmocka_unit_test(chips_are_found_by_discovery_or_by_revision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
