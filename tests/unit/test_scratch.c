/* SPDX-License-Identifier: MIT */
/* Promise: shared scratch never lies in bytes that are in use at the same time, costs no barrier, and is never what a
 * caller sees: inputs, outputs, state and weights keep places of their own. */
#include "plan_view.h"

#define TEST(name) static void name(void **state)

static struct rg_model model;
static struct rg_graph graph;

struct life {
	uint32_t first, last, last_shader;
	bool used, by_shader;
};

static struct life
life_of(const struct plan_view *v, uint32_t allocation)
{
	struct life l = { 0 };

	for (uint32_t i = 0; i < pv_count(v, PLAN_SECTION_COMMANDS); i++)
		for (uint32_t a = 0; a < v->commands[i].n_accesses; a++) {
			if (v->accesses[v->commands[i].first_access + a].allocation != allocation)
				continue;
			if (!l.used)
				l.first = i;
			l.used = true;
			l.last = i;
			if (v->commands[i].kind == PLAN_COMMAND_DISPATCH) {
				l.last_shader = i;
				l.by_shader = true;
			}
		}
	return l;
}

static bool
share_bytes(const struct plan_image_allocation *a, const struct plan_image_allocation *b)
{
	return a->memory == b->memory && a->place < b->place + b->extent && b->place < a->place + a->extent;
}

static bool
in_slot(const struct plan_image_allocation *a)
{
	return a->memory == PLAN_MEMORY_DEVICE || a->memory == PLAN_MEMORY_HOST;
}

/* Returns how many pairs share bytes. */
static uint32_t
check_sharing(const struct plan_view *v)
{
	uint32_t n = pv_count(v, PLAN_SECTION_ALLOCATIONS), pairs = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			const struct plan_image_allocation *a = &v->allocations[i], *b = &v->allocations[k];
			struct life x, y;

			if (i == k || !in_slot(a) || !in_slot(b) || !share_bytes(a, b))
				continue;
			x = life_of(v, i);
			y = life_of(v, k);
			assert_int_equal(a->use, GPUPLAN_SCRATCH);
			assert_int_equal(b->use, GPUPLAN_SCRATCH);
			assert_true(i != RG_IN && i != RG_OUT && k != RG_IN && k != RG_OUT);
			assert_true(x.last < y.first || y.last < x.first);
			if (x.last < y.first) {
				pairs++;
				if (x.by_shader)
					assert_true(pv_barrier_between(v, PLAN_BARRIER_WAIT, x.last_shader, y.first));
			}
		}
	return pairs;
}

static void
check_random(const char *target, uint32_t plans)
{
	uint64_t without = 0, with = 0, pairs = 0;

	if (!rg_open(&model, dt_offline(target)))
		fail();
	for (uint32_t seed = 1; seed <= plans; seed++) {
		struct gpuplan_plan_params params;
		struct plan_view own, shared;
		struct gpuplan_plan_info info;

		rg_make(&model, &graph, seed, 10 + seed % 90);
		params = rg_params(&graph, seed % 2 ? GPUPLAN_PLAN_REORDER : 0, 0);
		pv_open(&own, model.definition, &params);
		params.flags |= GPUPLAN_PLAN_REUSE_SCRATCH;
		pv_open(&shared, model.definition, &params);
		assert_int_equal(check_sharing(&own), 0);
		pairs += check_sharing(&shared);
		assert_int_equal(pv_count(&own, PLAN_SECTION_BARRIERS), pv_count(&shared, PLAN_SECTION_BARRIERS));
		for (uint32_t b = 0; b < pv_count(&own, PLAN_SECTION_BARRIERS); b++) {
			assert_int_equal(own.barriers[b].before, shared.barriers[b].before);
			assert_int_equal(own.barriers[b].ops, shared.barriers[b].ops);
		}
		assert_int_equal(own.h->scratch_planned_bytes, own.h->scratch_bytes);
		assert_int_equal(shared.h->scratch_bytes, own.h->scratch_bytes);
		assert_true(shared.h->scratch_planned_bytes <= own.h->scratch_bytes);
		gpuplan_plan_get_info(shared.plan, &info);
		assert_int_equal(info.scratch_bytes, shared.h->scratch_bytes);
		assert_int_equal(info.scratch_planned_bytes, shared.h->scratch_planned_bytes);
		without += own.h->device_bytes + own.h->host_bytes;
		with += shared.h->device_bytes + shared.h->host_bytes;
		pv_close(&own);
		pv_close(&shared);
	}
	print_message("%s: %u plans, %llu pairs share, slots of %llu bytes instead of %llu\n", target, plans,
		      (unsigned long long)pairs, (unsigned long long)with, (unsigned long long)without);
	assert_true(pairs > 0 && with < without);
	rg_close(&model);
}

TEST(random_plans_share_only_what_is_free)
{
	(void)state;
	check_random("gfx1100", 600);
}

/* There DMA passes L2 by, and dirty lines of an old owner would come over a new owner's bytes. */
TEST(random_plans_share_only_what_is_free_behind_l2)
{
	(void)state;
	check_random("gfx1201", 600);
}

/* A chain through six allocations, each read by the next dispatch only, lies in two. */
TEST(a_chain_takes_two_places)
{
	struct gpuplan_plan_params params;
	struct plan_view v;

	(void)state;
	assert_true(rg_open(&model, dt_offline("gfx1100")));
	memset(&graph, 0, sizeof(graph));
	for (uint32_t i = 0; i < 6; i++) {
		/* 4 and 9 are mapped */
		uint32_t to = i < 4 ? i : i + 1, from = i < 5 ? i - 1 : i;
		struct rg_op op = { .kind = RG_MIX, .d = { to, 0, RG_WORDS }, .b = { RG_WEIGHT, 0, 64 } };

		op.a = i ? (struct rg_slice){ from, 0, RG_WORDS } : op.b;
		rg_add(&graph, &op);
	}
	rg_make_commands(&model, &graph);
	params = dt_plan_params(1, graph.commands, graph.n);
	params.flags = GPUPLAN_PLAN_REUSE_SCRATCH;
	pv_open(&v, model.definition, &params);
	assert_int_equal(pv_count(&v, PLAN_SECTION_BARRIERS), 5);
	assert_int_equal(v.h->scratch_bytes, 6 * RG_WORDS * 4);
	/* A wait stands between each two dispatches, so what the one before the last wrote is free. */
	assert_int_equal(v.h->scratch_planned_bytes, 2 * RG_WORDS * 4);
	check_sharing(&v);
	pv_close(&v);
	rg_close(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_plans_share_only_what_is_free),
		cmocka_unit_test(random_plans_share_only_what_is_free_behind_l2),
		cmocka_unit_test(a_chain_takes_two_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
