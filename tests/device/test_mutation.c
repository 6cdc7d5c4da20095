/* SPDX-License-Identifier: MIT */
/* Promise: a barrier is emitted only where declared accesses conflict. Each one of the speech model's plans is needed:
 * leave it out and the answers change. Needs a device that makes every freedom of the hardware visible (softgpu
 * --hostile); on a GPU a missing barrier may go unnoticed, so there the test only reports. */
#include "device/package_test.h"

#define FRAMES 6
#define MAX_OUT 8

static struct pt_model m;

static void
run_frames(struct gpuplan_plan *plan, struct gpuplan_queue *queue, float out[FRAMES][MAX_OUT])
{
	struct gpuplan_slot *slot;
	size_t in_bytes, out_bytes;

	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	memset(out, 0, FRAMES * sizeof(out[0]));
	for (unsigned i = 0; i < FRAMES; i++) {
		float *in = gpuplan_slot_input(slot, 0, &in_bytes);
		const float *p = gpuplan_slot_output(slot, 0, &out_bytes);

		for (unsigned b = 0; b < in_bytes / (576 * sizeof(float)); b++)
			pt_sound(in + b * 576, 576, 7 * i + 3 * b);
		dt_run_slot(slot, queue);
		assert_true(out_bytes <= sizeof(out[0]));
		memcpy(out[i], p, out_bytes);
	}
	gpuplan_slot_release(slot);
}

static void
mutate(const char *name)
{
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct gpuplan_plan *plan = pt_plan(&m, name, 1, 0);
	float right[FRAMES][MAX_OUT], again[FRAMES][MAX_OUT], out[FRAMES][MAX_OUT];
	const char *preload = getenv("SOFTGPU_HOSTILE");
	bool hostile = preload && !strcmp(preload, "1");
	struct gpuplan_plan_info info;
	unsigned unnoticed = 0;

	gpuplan_plan_get_info(plan, &info);
	assert_true(info.n_barriers > 0);
	run_frames(plan, queue, right);
	gpuplan_plan_destroy(plan);
	plan = pt_plan(&m, name, 1, 0);
	run_frames(plan, queue, again);
	gpuplan_plan_destroy(plan);
	assert_memory_equal(right, again, sizeof(right));
	for (unsigned i = 0; i < FRAMES; i++)
		for (unsigned k = 0; k < MAX_OUT; k++)
			assert_true(right[i][k] >= 0 && right[i][k] <= 1);

	for (uint32_t b = 1; b <= info.n_barriers; b++) {
		plan = pt_plan(&m, name, 1, b);
		run_frames(plan, queue, out);
		gpuplan_plan_destroy(plan);
		if (memcmp(out, right, sizeof(right)))
			continue;
		print_message("%s: barrier %u of %u left out, and nothing changed\n", name, b, info.n_barriers);
		unnoticed++;
	}
	print_message("%s: %u barriers, %u of them noticed when missing\n", name, info.n_barriers,
		      info.n_barriers - unnoticed);
	if (hostile)
		assert_int_equal(unnoticed, 0);
	gpuplan_queue_destroy(queue);
}

static void
every_barrier_of_the_speech_plan_is_needed(void **state)
{
	(void)state;
	mutate("b1");
}

static void
every_barrier_of_the_batched_plan_is_needed(void **state)
{
	(void)state;
	mutate("b4");
}

static void
every_barrier_of_the_staged_plan_is_needed(void **state)
{
	(void)state;
	mutate("b1-staged");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_barrier_of_the_speech_plan_is_needed),
		cmocka_unit_test(every_barrier_of_the_batched_plan_is_needed),
		cmocka_unit_test(every_barrier_of_the_staged_plan_is_needed),
	};
	int r;

	pt_open(&m);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	pt_close(&m);
	return r;
}
