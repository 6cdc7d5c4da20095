/* SPDX-License-Identifier: MIT */
/* Promise: a barrier stands where declared accesses conflict, and nowhere else. Held against a slow second opinion on
 * random command lists, plus the rules one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan.h"
#include "hazard.h"

#define D GP_ENGINE_SHADER
#define C GP_ENGINE_DMA
#define R GPUPLAN_READ
#define W GPUPLAN_WRITE
#define RW GPUPLAN_READ_WRITE
#define WAIT PLAN_BARRIER_WAIT
#define INV PLAN_BARRIER_INVALIDATE
#define L2 PLAN_BARRIER_L2_INVALIDATE
#define WB PLAN_BARRIER_L2_WRITE_BACK

struct step {
	enum gp_engine engine;
	struct plan_image_access a[3];
	unsigned n;
	uint32_t ops;	/* expected */
};

#define MAX_STEPS 24
#define MAX_ACCESSES 3

/* Each allocation in a space of its own. */
static struct gp_hazard_access
placed(const struct plan_image_access *a, enum gp_engine engine)
{
	return (struct gp_hazard_access){
		.range = { a->allocation, a->offset, a->offset + a->bytes },
		.access = a->access,
		.engine = engine,
		.allocation = a->allocation,
		.offset = a->offset,
	};
}

static void
play_on(const struct step *steps, unsigned n, bool dma_bypasses_l2)
{
	struct gp_hazard_access accesses[MAX_STEPS * MAX_ACCESSES];
	struct plan_image_barrier b;
	struct gp_hazards *h;
	uint32_t n_accesses = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < steps[i].n; k++)
			accesses[n_accesses++] = placed(&steps[i].a[k], steps[i].engine);
	h = gp_hazards_create(accesses, n_accesses, n, dma_bypasses_l2);
	assert_non_null(h);
	for (unsigned i = 0; i < n; i++) {
		bool r = gp_hazards_next(h, steps[i].n, &b);

		assert_int_equal(r, steps[i].ops != 0);
		assert_int_equal(b.ops, steps[i].ops);
		if (r) {
			assert_int_equal(b.before, i);
			assert_int_equal(b.consumer, i);
			assert_true(b.producer < i);
			assert_true(b.bytes > 0);
			assert_int_equal(b.producer_allocation, b.allocation);
			assert_int_equal(b.producer_offset, b.offset);
		}
	}
	gp_hazards_destroy(h);
}

static void
play(const struct step *steps, unsigned n)
{
	play_on(steps, n, false);
}

#define PLAY(...)                                                                                                     \
	do {                                                                                                          \
		static const struct step steps[] = { __VA_ARGS__ };                                                   \
		play(steps, sizeof(steps) / sizeof(steps[0]));                                                        \
	} while (0)

#define TEST(name) static void name(void **state)

TEST(independent_dispatches_need_nothing)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, W, 64, 64 } }, 1, 0 }, { D, { { 1, RW, 0, 64 } }, 1, 0 });
}

TEST(two_readers_need_nothing)
{
	(void)state;
	PLAY({ D, { { 0, R, 0, 64 } }, 1, 0 }, { D, { { 0, R, 0, 64 } }, 1, 0 });
}

TEST(read_after_write_waits_and_invalidates)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, R, 60, 4 } }, 1, WAIT | INV });
}

TEST(touching_ranges_do_not_conflict)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, R, 64, 64 } }, 1, 0 });
}

TEST(write_after_read_only_waits)
{
	(void)state;
	PLAY({ D, { { 0, R, 0, 64 } }, 1, 0 }, { D, { { 0, W, 0, 64 } }, 1, WAIT });
}

TEST(write_after_write_only_waits)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, W, 0, 64 } }, 1, WAIT });
}

TEST(what_a_wait_ordered_still_has_to_be_invalidated)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 }, { 1, R, 0, 4 } }, 2, 0 }, { D, { { 1, W, 0, 4 } }, 1, WAIT },
	     { D, { { 0, R, 0, 64 } }, 1, INV });
}

TEST(one_barrier_serves_a_level)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 1, W, 0, 64 } }, 1, 0 }, { D, { { 0, R, 0, 64 } }, 1, WAIT | INV },
	     { D, { { 1, R, 0, 64 } }, 1, 0 });
}

TEST(dma_after_a_dispatch_waits)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { 1, W, 0, 64 }, { 0, R, 0, 64 } }, 2, WAIT });
}

TEST(a_dispatch_after_dma_only_invalidates)
{
	(void)state;
	PLAY({ C, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, R, 0, 64 } }, 1, INV }, { D, { { 0, R, 0, 64 } }, 1, 0 });
}

TEST(dma_after_dma_needs_nothing)
{
	(void)state;
	PLAY({ C, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { 0, W, 0, 64 }, { 1, R, 0, 4 } }, 2, 0 });
}

TEST(overwriting_what_dma_wrote_needs_nothing)
{
	(void)state;
	PLAY({ C, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, W, 0, 64 } }, 1, 0 });
}

TEST(an_invalidation_without_wait_does_not_cover_running_dispatches)
{
	(void)state;
	PLAY({ D, { { 1, W, 0, 64 } }, 1, 0 }, { C, { { 0, W, 0, 64 } }, 1, 0 }, { D, { { 0, R, 0, 64 } }, 1, INV },
	     { D, { { 1, R, 0, 64 } }, 1, WAIT | INV });
}

TEST(staging_buffers_count_too)
{
	(void)state;
	PLAY({ D, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { PLAN_STAGING | 1, W, 0, 64 }, { 0, R, 0, 64 } }, 2, WAIT });
}

#define PLAY_GFX12(...)                                                                                               \
	do {                                                                                                          \
		static const struct step steps[] = { __VA_ARGS__ };                                                   \
		play_on(steps, sizeof(steps) / sizeof(steps[0]), true);                                               \
	} while (0)

TEST(dma_behind_l2_needs_it_written_back_once)
{
	(void)state;
	PLAY_GFX12({ D, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { 1, W, 0, 64 }, { 0, R, 0, 64 } }, 2, WAIT | WB },
		   { C, { { 2, W, 0, 64 }, { 0, R, 0, 64 } }, 2, 0 });
}

TEST(dma_behind_l2_overwrites_only_what_is_written_back)
{
	(void)state;
	PLAY_GFX12({ D, { { 0, W, 0, 64 }, { 1, R, 0, 4 } }, 2, 0 }, { D, { { 1, W, 0, 4 } }, 1, WAIT },
		   { C, { { 0, W, 0, 64 } }, 1, WB });
}

TEST(what_dma_wrote_behind_l2_needs_l2_to_forget)
{
	(void)state;
	PLAY_GFX12({ D, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { 1, W, 0, 64 } }, 1, 0 },
		   { D, { { 0, R, 0, 64 } }, 1, WAIT | INV }, { D, { { 1, R, 0, 64 } }, 1, INV | L2 },
		   { D, { { 1, R, 0, 64 } }, 1, 0 });
}

TEST(dma_behind_l2_among_itself_needs_nothing)
{
	(void)state;
	PLAY_GFX12({ C, { { 0, W, 0, 64 } }, 1, 0 }, { C, { { 1, W, 0, 64 }, { 0, R, 0, 64 } }, 2, 0 },
		   { D, { { 1, W, 0, 64 } }, 1, 0 });
}

/* Allocation 1 takes over bytes of allocation 0 at command 2. */
TEST(shared_scratch_is_ordered_but_its_garbage_needs_no_invalidation)
{
	struct gp_hazard_access a[] = {
		{ .range = { 7, 0, 64 }, .access = W, .allocation = 0 },
		{ .range = { 7, 0, 64 }, .access = W, .allocation = 1, .since = 1, .offset = 0 },
		{ .range = { 7, 32, 64 }, .access = R, .allocation = 1, .since = 1, .offset = 32 },
	};
	struct gp_hazard_access unordered[] = {
		{ .range = { 7, 0, 64 }, .access = W, .allocation = 0 },
		{ .range = { 8, 0, 64 }, .access = W, .allocation = 2 },
		{ .range = { 8, 0, 64 }, .access = W, .allocation = 2 },
		{ .range = { 7, 0, 64 }, .access = RW, .allocation = 1, .since = 3 },
	};
	struct plan_image_barrier b;
	struct gp_hazards *h = gp_hazards_create(a, 3, 3, false);

	(void)state;
	assert_false(gp_hazards_next(h, 1, &b));
	assert_true(gp_hazards_next(h, 1, &b));
	assert_int_equal(b.ops, WAIT);
	assert_int_equal(b.allocation, 1);
	assert_int_equal(b.producer_allocation, 0);
	assert_true(gp_hazards_next(h, 1, &b));
	assert_int_equal(b.ops, WAIT | INV);
	assert_int_equal(b.producer_allocation, 1);
	assert_int_equal(b.offset, 32);
	assert_int_equal(b.bytes, 32);
	gp_hazards_destroy(h);

	/* A wait stood for another reason: what is left of allocation 0 is garbage to its new owner. */
	h = gp_hazards_create(unordered, 4, 4, false);
	assert_false(gp_hazards_next(h, 1, &b));
	assert_false(gp_hazards_next(h, 1, &b));
	assert_true(gp_hazards_next(h, 1, &b));
	assert_int_equal(b.ops, WAIT);
	assert_false(gp_hazards_next(h, 1, &b));
	gp_hazards_destroy(h);
}

/* An indirect dispatch: the command processor reads the grid, its shaders the rest. */
TEST(one_command_may_use_both_engines)
{
	struct gp_hazard_access a[] = {
		{ .range = { 0, 0, 12 }, .access = W },
		{ .range = { 0, 0, 12 }, .access = R, .engine = C },
		{ .range = { 1, 0, 64 }, .access = W },
		{ .range = { 0, 0, 12 }, .access = R },
	};
	struct plan_image_barrier b;
	struct gp_hazards *h = gp_hazards_create(a, 4, 3, false);

	(void)state;
	assert_false(gp_hazards_next(h, 1, &b));
	assert_true(gp_hazards_next(h, 2, &b));
	assert_int_equal(b.ops, WAIT);
	assert_true(gp_hazards_next(h, 1, &b));
	assert_int_equal(b.ops, INV);
	gp_hazards_destroy(h);
}

/* ---- random lists against a byte-by-byte second opinion ---- */

#define BYTES 48
#define ALLOCS 3

struct byte_state {
	bool reading, writing;	/* by dispatches in flight */
	bool unseen, dma_unseen; /* writes that shaders may not see */
	bool in_l2;		/* written by a shader, and memory does not have it */
};

static uint32_t
needs(const struct byte_state *x, enum gp_engine engine, uint32_t access, bool gfx12)
{
	uint32_t ops = 0;

	if (x->writing || (x->reading && (access & W)))
		ops |= WAIT;
	if (engine == D && (access & R) && x->unseen)
		ops |= INV;
	if (engine == D && (access & R) && x->dma_unseen)
		ops |= INV | (gfx12 ? L2 : 0);
	if (engine == C && gfx12 && x->in_l2)
		ops |= WB;
	return ops;
}

static void
barrier_passes(struct byte_state *x, uint32_t ops, bool gfx12)
{
	if (ops & WAIT)
		x->reading = x->writing = false;
	if ((ops & INV) && !x->writing)
		x->unseen = false;
	if ((ops & INV) && (!gfx12 || (ops & L2)))
		x->dma_unseen = false;
	if ((ops & WB) && !x->writing)
		x->in_l2 = false;
}

static void
touch(struct byte_state *x, enum gp_engine engine, uint32_t access)
{
	if (engine == D) {
		x->reading |= (access & R) != 0;
		x->writing |= (access & W) != 0;
		x->unseen |= (access & W) != 0;
		x->in_l2 |= (access & W) != 0;
	} else {
		x->dma_unseen |= (access & W) != 0;
	}
}

static uint32_t
opinion(struct byte_state s[ALLOCS][BYTES], enum gp_engine engine, const struct plan_image_access *a, unsigned n,
	bool gfx12)
{
	uint32_t ops = 0;

	for (unsigned i = 0; i < n; i++)
		for (uint64_t b = a[i].offset; b < a[i].offset + a[i].bytes; b++)
			ops |= needs(&s[a[i].allocation][b], engine, a[i].access, gfx12);
	for (unsigned k = 0; k < ALLOCS; k++)
		for (unsigned b = 0; b < BYTES; b++)
			barrier_passes(&s[k][b], ops, gfx12);
	for (unsigned i = 0; i < n; i++)
		for (uint64_t b = a[i].offset; b < a[i].offset + a[i].bytes; b++)
			touch(&s[a[i].allocation][b], engine, a[i].access);
	return ops;
}

static uint32_t seed = 1;

static uint32_t
pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % n;
}

static void
random_step(struct step *s)
{
	s->engine = pick(4) ? D : C;
	s->n = 1 + pick(MAX_ACCESSES);
	for (unsigned k = 0; k < s->n; k++) {
		s->a[k].allocation = pick(ALLOCS);
		s->a[k].access = 1 + pick(3);
		s->a[k].offset = pick(BYTES - 1);
		s->a[k].bytes = 1 + pick((uint32_t)(BYTES - s->a[k].offset));
	}
}

static void
random_list(unsigned list, bool gfx12)
{
	struct byte_state bytes[ALLOCS][BYTES] = { 0 };
	struct gp_hazard_access accesses[MAX_STEPS * MAX_ACCESSES];
	struct step steps[MAX_STEPS];
	uint32_t n_accesses = 0;
	struct gp_hazards *h;

	for (unsigned i = 0; i < MAX_STEPS; i++) {
		random_step(&steps[i]);
		for (unsigned k = 0; k < steps[i].n; k++)
			accesses[n_accesses++] = placed(&steps[i].a[k], steps[i].engine);
	}
	h = gp_hazards_create(accesses, n_accesses, MAX_STEPS, gfx12);
	assert_non_null(h);
	for (unsigned i = 0; i < MAX_STEPS; i++) {
		uint32_t wanted = opinion(bytes, steps[i].engine, steps[i].a, steps[i].n, gfx12);
		struct plan_image_barrier b;

		gp_hazards_next(h, steps[i].n, &b);
		if (b.ops != wanted)
			print_error("list %u command %u\n", list, i);
		assert_int_equal(b.ops, wanted);
	}
	gp_hazards_destroy(h);
}

TEST(random_lists_agree_with_a_second_opinion)
{
	(void)state;
	for (unsigned list = 0; list < 10000; list++)
		random_list(list, false);
}

TEST(random_lists_agree_with_a_second_opinion_behind_l2)
{
	(void)state;
	for (unsigned list = 0; list < 10000; list++)
		random_list(list, true);
}

/* ---- the range tree by itself ---- */

#define TREE_BYTES 200

TEST(range_trees_agree_with_an_array)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		static uint32_t array[3][TREE_BYTES][GP_RANGE_LAYERS];
		struct gp_range ranges[40];
		unsigned n = 1 + pick(40);
		struct gp_range_tree t;

		memset(array, 0, sizeof(array));
		for (unsigned i = 0; i < n; i++) {
			ranges[i].space = pick(3);
			ranges[i].begin = pick(TREE_BYTES);
			ranges[i].end = ranges[i].begin + pick((uint32_t)(TREE_BYTES - ranges[i].begin + 1));
		}
		assert_int_equal(gp_range_tree_init(&t, ranges, n, sizeof(ranges[0])), 0);
		for (unsigned i = 0; i < n; i++) {
			uint32_t max[GP_RANGE_LAYERS], wanted[GP_RANGE_LAYERS] = { 0 };
			uint32_t layer = pick(GP_RANGE_LAYERS), value = pick(1000);

			for (uint64_t b = ranges[i].begin; b < ranges[i].end; b++)
				for (unsigned k = 0; k < GP_RANGE_LAYERS; k++)
					if (array[ranges[i].space][b][k] > wanted[k])
						wanted[k] = array[ranges[i].space][b][k];
			gp_range_tree_max(&t, i, max);
			assert_memory_equal(max, wanted, sizeof(max));
			gp_range_tree_raise(&t, i, layer, value);
			for (uint64_t b = ranges[i].begin; b < ranges[i].end; b++)
				if (array[ranges[i].space][b][layer] < value)
					array[ranges[i].space][b][layer] = value;
		}
		gp_range_tree_finish(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_dispatches_need_nothing),
		cmocka_unit_test(two_readers_need_nothing),
		cmocka_unit_test(read_after_write_waits_and_invalidates),
		cmocka_unit_test(touching_ranges_do_not_conflict),
		cmocka_unit_test(write_after_read_only_waits),
		cmocka_unit_test(write_after_write_only_waits),
		cmocka_unit_test(what_a_wait_ordered_still_has_to_be_invalidated),
		cmocka_unit_test(one_barrier_serves_a_level),
		cmocka_unit_test(dma_after_a_dispatch_waits),
		cmocka_unit_test(a_dispatch_after_dma_only_invalidates),
		cmocka_unit_test(dma_after_dma_needs_nothing),
		cmocka_unit_test(overwriting_what_dma_wrote_needs_nothing),
		cmocka_unit_test(an_invalidation_without_wait_does_not_cover_running_dispatches),
		cmocka_unit_test(staging_buffers_count_too),
		cmocka_unit_test(dma_behind_l2_needs_it_written_back_once),
		cmocka_unit_test(dma_behind_l2_overwrites_only_what_is_written_back),
		cmocka_unit_test(what_dma_wrote_behind_l2_needs_l2_to_forget),
		cmocka_unit_test(dma_behind_l2_among_itself_needs_nothing),
		cmocka_unit_test(shared_scratch_is_ordered_but_its_garbage_needs_no_invalidation),
		cmocka_unit_test(one_command_may_use_both_engines),
		cmocka_unit_test(random_lists_agree_with_a_second_opinion),
		cmocka_unit_test(random_lists_agree_with_a_second_opinion_behind_l2),
		cmocka_unit_test(range_trees_agree_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
