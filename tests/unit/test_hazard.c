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

struct step {
	enum gp_engine engine;
	struct plan_image_access a[3];
	unsigned n;
	uint32_t ops;	/* expected */
};

static void
play(const struct step *steps, unsigned n)
{
	struct gp_hazards *h = gp_hazards_create(4, 2);
	struct plan_image_barrier b;

	assert_non_null(h);
	for (unsigned i = 0; i < n; i++) {
		int r = gp_hazards_next(h, i, steps[i].engine, steps[i].a, steps[i].n, &b);

		assert_int_equal(r, steps[i].ops != 0);
		assert_int_equal(b.ops, steps[i].ops);
		if (r) {
			assert_int_equal(b.before, i);
			assert_int_equal(b.consumer, i);
			assert_true(b.producer < i);
			assert_true(b.bytes > 0);
		}
	}
	gp_hazards_destroy(h);
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

/* ---- random lists against a byte-by-byte second opinion ---- */

#define BYTES 48
#define ALLOCS 3

struct byte_state {
	uint8_t reading, writing; /* by dispatches in flight */
	uint8_t unseen;		  /* 1 by a dispatch, 2 by DMA */
};

static uint32_t
opinion(struct byte_state s[ALLOCS][BYTES], enum gp_engine engine, const struct plan_image_access *a, unsigned n)
{
	uint32_t ops = 0;

	for (unsigned i = 0; i < n; i++)
		for (uint64_t b = a[i].offset; b < a[i].offset + a[i].bytes; b++) {
			struct byte_state *x = &s[a[i].allocation][b];

			if (x->writing || (x->reading && (a[i].access & W)))
				ops |= WAIT;
			if (engine == D && (a[i].access & R) && x->unseen)
				ops |= INV;
		}
	for (unsigned k = 0; k < ALLOCS; k++)
		for (unsigned b = 0; b < BYTES; b++) {
			struct byte_state *x = &s[k][b];

			if ((ops & INV) && ((ops & WAIT) || !x->writing))
				x->unseen = 0;
			if (ops & WAIT)
				x->reading = x->writing = 0;
		}
	for (unsigned i = 0; i < n; i++)
		for (uint64_t b = a[i].offset; b < a[i].offset + a[i].bytes; b++) {
			struct byte_state *x = &s[a[i].allocation][b];

			if (engine == D && (a[i].access & R))
				x->reading = 1;
			if (engine == D && (a[i].access & W))
				x->writing = 1;
			if (a[i].access & W)
				x->unseen = 1;
		}
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

TEST(random_lists_agree_with_a_second_opinion)
{
	(void)state;
	for (unsigned list = 0; list < 10000; list++) {
		struct byte_state bytes[ALLOCS][BYTES] = { 0 };
		struct gp_hazards *h = gp_hazards_create(ALLOCS, 0);

		for (unsigned i = 0; i < 24; i++) {
			struct plan_image_access a[3];
			enum gp_engine engine = pick(4) ? D : C;
			unsigned n = 1 + pick(3);
			struct plan_image_barrier b;
			uint32_t wanted;

			for (unsigned k = 0; k < n; k++) {
				a[k].allocation = pick(ALLOCS);
				a[k].access = 1 + pick(3);
				a[k].offset = pick(BYTES - 1);
				a[k].bytes = 1 + pick((uint32_t)(BYTES - a[k].offset));
			}
			wanted = opinion(bytes, engine, a, n);
			gp_hazards_next(h, i, engine, a, n, &b);
			if (b.ops != wanted)
				print_error("list %u command %u\n", list, i);
			assert_int_equal(b.ops, wanted);
		}
		gp_hazards_destroy(h);
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
		cmocka_unit_test(random_lists_agree_with_a_second_opinion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
