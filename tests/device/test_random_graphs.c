/* SPDX-License-Identifier: MIT */
/* Promise: declared accesses are enough to order commands. Random command lists over overlapping slices of device,
 * mapped, state and weight memory give what a serial run on the CPU gives: in order, reordered, with shared scratch and
 * as chains of small IBs. On softgpu --hostile, where nothing is ordered or seen that need not be.
 *
 * GPUPLAN_SEEDS=n runs n graphs instead of 400, GPUPLAN_FIRST_SEED=n starts elsewhere. */
#include "device/region_graph.h"

static struct rg_model model;
static struct rg_graph graph;
static struct gpuplan_queue *queue;

static uint32_t
number_from(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text ? (uint32_t)strtoul(text, NULL, 0) : otherwise;
}

static void
run_slot(struct gpuplan_slot *slot)
{
	struct gpuplan_completion c;

	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
}

/* First word that differs in one of two runs, RG_WORDS: none. */
static uint32_t
compare_runs(struct gpuplan_plan *plan, uint32_t seed)
{
	uint32_t memory[RG_ALLOCS][RG_WORDS] = { { 0 } }, different = RG_WORDS;
	struct gpuplan_slot *slot;

	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	for (uint32_t run = 0; run < 2; run++) {
		const uint32_t *out = gpuplan_slot_output(slot, 0, NULL);

		for (uint32_t i = 0; i < RG_WORDS; i++)
			memory[RG_IN][i] = (run + 1) * 40503u + i * seed;
		memcpy(gpuplan_slot_input(slot, 0, NULL), memory[RG_IN], sizeof(memory[RG_IN]));
		rg_run(&model, &graph, memory);
		run_slot(slot);
		for (uint32_t i = 0; different == RG_WORDS && i < RG_WORDS; i++)
			if (out[i] != memory[RG_OUT][i])
				different = i;
	}
	gpuplan_slot_release(slot);
	return different;
}

struct totals {
	uint64_t commands, barriers, chained, scratch, planned;
	uint64_t slots;		/* page-rounded bytes in the ledger */
};

static void
run_graph(uint32_t seed, uint32_t flags, uint32_t ib_dwords, struct totals *totals)
{
	struct gpuplan_plan_params params;
	struct gpuplan_memory memory;
	struct gpuplan_plan_info info;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	uint32_t word;

	rg_make(&model, &graph, seed, 10 + seed * 37 % 101);
	params = rg_params(&graph, flags, ib_dwords);
	dt_ok(gpuplan_plan_create(model.definition, &params, &plan, &error), &error);
	gpuplan_plan_get_info(plan, &info);
	dt_check_ledger(model.context);
	gpuplan_context_get_memory(model.context, &memory);
	totals->slots += memory.slots;
	totals->commands += info.n_commands;
	totals->barriers += info.n_barriers;
	totals->scratch += info.scratch_bytes;
	totals->planned += info.scratch_planned_bytes;
	totals->chained += ib_dwords && info.stream_dwords > ib_dwords;
	word = compare_runs(plan, seed);
	if (word != RG_WORDS)
		print_error("seed %u, flags %u, IBs of %u dwords: word %u is not what a serial run makes\n", seed, flags,
			    ib_dwords, word);
	assert_int_equal(word, RG_WORDS);
	gpuplan_plan_destroy(plan);
}

static struct totals
run_graphs(const char *what, uint32_t flags, uint32_t ib_dwords)
{
	uint32_t first = number_from("GPUPLAN_FIRST_SEED", 1), n = (number_from("GPUPLAN_SEEDS", 400) + 3) / 4;
	struct totals t = { 0 };

	for (uint32_t seed = first; seed < first + n; seed++)
		run_graph(seed, flags, ib_dwords, &t);
	print_message("%s: %u graphs, %llu commands, %llu barriers, %llu chained, scratch %llu of %llu bytes\n", what, n,
		      (unsigned long long)t.commands, (unsigned long long)t.barriers, (unsigned long long)t.chained,
		      (unsigned long long)t.planned, (unsigned long long)t.scratch);
	if (flags & GPUPLAN_PLAN_REUSE_SCRATCH)
		assert_true(t.planned < t.scratch);
	else
		assert_int_equal(t.planned, t.scratch);
	if (ib_dwords)
		assert_true(t.chained > 0);
	return t;
}

static void
chained(void **state)
{
	(void)state;
	run_graphs("chained", 0, 512);
}

static void
as_given_and_with_shared_scratch(void **state)
{
	struct totals own, shared;

	(void)state;
	own = run_graphs("own scratch", 0, 0);
	shared = run_graphs("shared scratch", GPUPLAN_PLAN_REUSE_SCRATCH, 0);
	print_message("slots of %llu bytes instead of %llu\n", (unsigned long long)shared.slots,
		      (unsigned long long)own.slots);
	assert_true(shared.slots < own.slots);
	assert_int_equal(shared.barriers, own.barriers);
}

static void
reordered_with_shared_scratch(void **state)
{
	(void)state;
	run_graphs("reordered", GPUPLAN_PLAN_REORDER | GPUPLAN_PLAN_REUSE_SCRATCH, 600);
}

/* The comparison has teeth: leaving out barriers shows. Not every one: a word may be overwritten before anybody looks. */
static void
missing_barriers_show(void **state)
{
	const char *hostile = getenv("SOFTGPU_HOSTILE");
	uint32_t tried = 0, noticed = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= 10; seed++) {
		struct gpuplan_plan_params params;
		struct gpuplan_plan_info info = { .n_barriers = 1 };

		rg_make(&model, &graph, seed, 40);
		params = rg_params(&graph, 0, 0);
		for (params.omit_barrier = 1; params.omit_barrier <= info.n_barriers; params.omit_barrier++) {
			struct gpuplan_plan *plan;
			struct gpuplan_error error;

			dt_ok(gpuplan_plan_create(model.definition, &params, &plan, &error), &error);
			gpuplan_plan_get_info(plan, &info);
			tried++;
			noticed += compare_runs(plan, seed) != RG_WORDS;
			gpuplan_plan_destroy(plan);
		}
	}
	print_message("%u barriers left out one at a time, %u noticed\n", tried, noticed);
	if (hostile && !strcmp(hostile, "1"))
		assert_true(noticed > tried / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chained),
		cmocka_unit_test(as_given_and_with_shared_scratch),
		cmocka_unit_test(reordered_with_shared_scratch),
		cmocka_unit_test(missing_barriers_show),
	};
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_error error;
	int r;

	if (!rg_open(&model, dt_context())) {
		printf("skipped: no kernels for this GPU\n");
		return DT_SKIP;
	}
	dt_ok(gpuplan_queue_create(model.context, &params, &queue, &error), &error);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	gpuplan_queue_destroy(queue);
	rg_close(&model);
	return r;
}
