/* SPDX-License-Identifier: MIT */
/* Promise: reordering keeps every pair of commands that conflict in order, and is done only where it saves barriers. */
#include "plan_view.h"

#define TEST(name) static void name(void **state)

static struct rg_model model;
static struct rg_graph graph;

/* Commands of the reordered plan are the caller's, each once. */
static void
check_permutation(const struct plan_view *v, uint32_t n)
{
	bool seen[RG_MAX] = { false };
	uint32_t found = 0;

	for (uint32_t i = 0; i < pv_count(v, PLAN_SECTION_COMMANDS); i++) {
		uint32_t source = v->commands[i].source;

		if (source == PLAN_NO_SOURCE)
			continue;
		assert_true(source < n && !seen[source]);
		seen[source] = true;
		found++;
	}
	assert_int_equal(found, n);
}

/* Place of each command in the caller's order; staging in stands before, staging out behind. */
static int64_t
rank(const struct plan_image_command *c)
{
	if (c->source != PLAN_NO_SOURCE)
		return c->source;
	return c->kind == PLAN_COMMAND_STAGE_IN ? -1 : RG_MAX;
}

static void
check_conflicts(const struct plan_view *v)
{
	uint32_t n = pv_count(v, PLAN_SECTION_COMMANDS);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (rank(&v->commands[i]) > rank(&v->commands[k]))
				assert_false(pv_conflict(v, &v->commands[i], &v->commands[k]));
}

TEST(random_graphs_keep_conflicts_in_order)
{
	uint64_t before = 0, after = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct gpuplan_plan_params params;
		struct plan_view given, ordered;

		rg_make(&model, &graph, seed, 5 + seed % 60);
		params = rg_params(&graph, 0, 0);
		pv_open(&given, model.definition, &params);
		params.flags = GPUPLAN_PLAN_REORDER;
		pv_open(&ordered, model.definition, &params);
		check_permutation(&ordered, graph.n);
		check_conflicts(&ordered);
		assert_true(pv_count(&ordered, PLAN_SECTION_BARRIERS) <= pv_count(&given, PLAN_SECTION_BARRIERS));
		/* Without a gain the order stays. */
		if (pv_count(&ordered, PLAN_SECTION_BARRIERS) == pv_count(&given, PLAN_SECTION_BARRIERS))
			for (uint32_t i = 0; i < pv_count(&given, PLAN_SECTION_COMMANDS); i++)
				assert_int_equal(ordered.commands[i].source, given.commands[i].source);
		before += pv_count(&given, PLAN_SECTION_BARRIERS);
		after += pv_count(&ordered, PLAN_SECTION_BARRIERS);
		pv_close(&given);
		pv_close(&ordered);
	}
	print_message("1000 graphs: %llu barriers as given, %llu reordered\n", (unsigned long long)before,
		      (unsigned long long)after);
	assert_true(after < before);
}

/* Chains written one after the other share a barrier per step when they are interleaved. */
TEST(independent_chains_are_interleaved)
{
	enum { CHAINS = 4, STEPS = 8 };
	struct gpuplan_plan_params params;
	struct plan_view v;

	(void)state;
	memset(&graph, 0, sizeof(graph));
	for (uint32_t c = 0; c < CHAINS; c++)
		for (uint32_t s = 0; s < STEPS; s++) {
			struct rg_op op = { .kind = RG_MIX, .d = { 2 * c + s % 2, 0, 64 }, .b = { RG_WEIGHT, 0, 64 } };

			op.a = s ? (struct rg_slice){ 2 * c + (s + 1) % 2, 0, 64 } : op.b;
			rg_add(&graph, &op);
		}
	rg_make_commands(&model, &graph);
	params = dt_plan_params(1, graph.commands, graph.n);
	pv_open(&v, model.definition, &params);
	assert_int_equal(pv_count(&v, PLAN_SECTION_BARRIERS), CHAINS * (STEPS - 1));
	pv_close(&v);
	params.flags = GPUPLAN_PLAN_REORDER;
	pv_open(&v, model.definition, &params);
	assert_int_equal(pv_count(&v, PLAN_SECTION_BARRIERS), STEPS - 1);
	/* Within a level the caller's order. */
	for (uint32_t i = 0; i < graph.n; i++)
		assert_int_equal(v.commands[i].source, i % CHAINS * STEPS + i / CHAINS);
	pv_close(&v);
}

TEST(unknown_flags_are_refused)
{
	struct gpuplan_plan_params params;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	rg_make(&model, &graph, 1, 5);
	params = rg_params(&graph, 4 | GPUPLAN_PLAN_REORDER, 0);
	dt_refused(gpuplan_plan_create(model.definition, &params, &plan, &error), EINVAL, &error, "0x4", "0x3");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_keep_conflicts_in_order),
		cmocka_unit_test(independent_chains_are_interleaved),
		cmocka_unit_test(unknown_flags_are_refused),
	};
	int r;

	if (!rg_open(&model, dt_offline("gfx1100")))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rg_close(&model);
	return r;
}
