/* SPDX-License-Identifier: MIT */
/* Promise: a real model's answers are the reference's, in every plan of the package: one stream or several a slot,
 * several slots in flight, state kept in the slot or passed in and out, inputs in place or staged. */
#include <jansson.h>
#include <math.h>

#include "device/package_test.h"

#define CONTEXT 64
#define FRAME 512
#define FRAMES 40
#define TOLERANCE 1e-4

static struct pt_model m;
static float *samples;
static unsigned n_frames, n_streams, shift[16];
static double *probability; /* [stream][n_frames] */

static void
load_reference(void)
{
	char path[4096], wav[4200];
	json_t *root, *streams;
	int16_t *pcm;
	FILE *f;

	pt_share("models/silero-vad/reference.json", path, sizeof(path));
	root = json_load_file(path, 0, NULL);
	assert_non_null(root);
	n_frames = (unsigned)json_integer_value(json_object_get(root, "frames"));
	streams = json_object_get(root, "streams");
	n_streams = (unsigned)json_array_size(streams);
	assert_true(n_streams >= 8 && n_streams <= 16 && n_frames > FRAMES);
	probability = calloc((size_t)n_streams * n_frames, sizeof(*probability));
	for (unsigned s = 0; s < n_streams; s++) {
		json_t *stream = json_array_get(streams, s), *p = json_object_get(stream, "probability");

		shift[s] = (unsigned)json_integer_value(json_object_get(stream, "shift"));
		for (unsigned i = 0; i < n_frames; i++)
			probability[s * n_frames + i] = json_number_value(json_array_get(p, i));
	}
	json_decref(root);

	pt_share("models/silero-vad/speech.wav", wav, sizeof(wav));
	f = fopen(wav, "rb");
	pcm = malloc((size_t)n_frames * FRAME * 2);
	samples = malloc((size_t)n_frames * FRAME * sizeof(*samples));
	assert_true(f && pcm && samples && !fseek(f, 44, SEEK_SET));
	assert_int_equal(fread(pcm, 2, (size_t)n_frames * FRAME, f), (size_t)n_frames * FRAME);
	for (size_t i = 0; i < (size_t)n_frames * FRAME; i++)
		samples[i] = (float)pcm[i] / 32768.0f;
	fclose(f);
	free(pcm);
}

static const float *
frame_of(unsigned stream, unsigned i)
{
	return samples + (size_t)((i + shift[stream]) % n_frames) * FRAME;
}

static void
feed(float *in, unsigned stream, unsigned i)
{
	memset(in, 0, CONTEXT * sizeof(*in));
	if (i)
		memcpy(in, frame_of(stream, i - 1) + FRAME - CONTEXT, CONTEXT * sizeof(*in));
	memcpy(in + CONTEXT, frame_of(stream, i), FRAME * sizeof(*in));
}

static void
check(const float *out, unsigned stream, unsigned i)
{
	double wanted = probability[stream * n_frames + i];

	if (!(fabs((double)*out - wanted) <= TOLERANCE)) {
		print_error("stream %u frame %u: %.9g, the reference says %.9g\n", stream, i, (double)*out, wanted);
		fail();
	}
}

/* All slots in flight at once; slot s, lane b is stream s * batch + b. */
static void
run_plan(const char *name, unsigned batch, unsigned slots, bool explicit_state)
{
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct gpuplan_plan *plan = pt_plan(&m, name, slots, 0);
	struct gpuplan_slot *slot[4], *none;
	struct gpuplan_completion c;
	size_t bytes;

	assert_true(slots <= 4);
	for (unsigned s = 0; s < slots; s++)
		assert_int_equal(gpuplan_plan_acquire(plan, &slot[s]), 0);
	assert_int_equal(gpuplan_plan_acquire(plan, &none), -EBUSY);
	for (unsigned i = 0; i < FRAMES; i++) {
		for (unsigned s = 0; s < slots; s++) {
			float *in = gpuplan_slot_input(slot[s], 0, &bytes);

			assert_int_equal(bytes, batch * (CONTEXT + FRAME) * sizeof(*in));
			for (unsigned b = 0; b < batch; b++)
				feed(in + b * (CONTEXT + FRAME), (s * batch + b) % n_streams, i);
			if (explicit_state) {
				void *state = gpuplan_slot_input(slot[s], 1, &bytes);

				if (i)
					memcpy(state, gpuplan_slot_output(slot[s], 1, NULL), bytes);
				else
					memset(state, 0, bytes);
			}
			assert_int_equal(gpuplan_slot_submit(slot[s], queue), 0);
		}
		for (unsigned s = 0; s < slots; s++) {
			assert_int_equal(gpuplan_slot_wait(slot[s], DT_SOON, &c), 0);
			assert_int_equal(c.status, GPUPLAN_DONE);
			for (unsigned b = 0; b < batch; b++)
				check((const float *)gpuplan_slot_output(slot[s], 0, NULL) + b,
				      (s * batch + b) % n_streams, i);
		}
	}
	for (unsigned s = 0; s < slots; s++)
		gpuplan_slot_release(slot[s]);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
}

static void
one_stream_a_slot(void **state)
{
	(void)state;
	run_plan("b1", 1, 4, false);
}

static void
four_streams_a_slot(void **state)
{
	(void)state;
	run_plan("b4", 4, 2, false);
}

static void
eight_streams_a_slot(void **state)
{
	(void)state;
	run_plan("b8", 8, 1, false);
}

static void
state_as_input_and_output(void **state)
{
	(void)state;
	run_plan("b1-explicit", 1, 2, true);
}

static void
staged_inputs_and_outputs(void **state)
{
	(void)state;
	run_plan("b1-staged", 1, 2, false);
}

/* A reset puts the state back to zero in the submission's own ioctl: the first frame's answer comes again. */
static void
reset_state_starts_over(void **state)
{
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct gpuplan_plan *plan = pt_plan(&m, "b1", 1, 0);
	struct gpuplan_slot *slot;

	(void)state;
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 5; i++) {
			if (i == 0 && round)
				gpuplan_slot_reset_state(slot);
			feed(gpuplan_slot_input(slot, 0, NULL), 0, i);
			dt_run_slot(slot, queue);
			check(gpuplan_slot_output(slot, 0, NULL), 0, i);
		}
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
}

/* State survives release and acquire; weights are counted once whatever exists; any order of destruction. */
static void
plans_share_weights_and_may_go_in_any_order(void **state)
{
	struct gpuplan_plan *a = pt_plan(&m, "b1", 2, 0), *b = pt_plan(&m, "b8", 1, 0);
	uint64_t weights = gpuplan_definition_weight_bytes(m.definition);
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct gpuplan_plan_info info_a, info_b;
	struct gpuplan_memory memory;
	struct gpuplan_slot *slot;

	(void)state;
	gpuplan_plan_get_info(a, &info_a);
	gpuplan_plan_get_info(b, &info_b);
	gpuplan_context_get_memory(m.context, &memory);
	assert_int_equal(memory.weights, weights);
	assert_int_equal(memory.slots, 2 * info_a.slot_bytes + info_b.slot_bytes);
	assert_int_equal(memory.plans, info_a.plan_bytes + info_b.plan_bytes);
	dt_check_ledger(m.context);

	assert_int_equal(gpuplan_plan_acquire(a, &slot), 0);
	gpuplan_plan_destroy(a);
	feed(gpuplan_slot_input(slot, 0, NULL), 0, 0);
	dt_run_slot(slot, queue);
	check(gpuplan_slot_output(slot, 0, NULL), 0, 0);
	gpuplan_slot_release(slot);
	gpuplan_context_get_memory(m.context, &memory);
	assert_int_equal(memory.slots, info_b.slot_bytes);
	gpuplan_plan_destroy(b);
	gpuplan_queue_destroy(queue);
	gpuplan_context_get_memory(m.context, &memory);
	assert_int_equal(memory.slots, 0);
	assert_int_equal(memory.weights, weights);
	dt_check_ledger(m.context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream_a_slot),
		cmocka_unit_test(four_streams_a_slot),
		cmocka_unit_test(eight_streams_a_slot),
		cmocka_unit_test(state_as_input_and_output),
		cmocka_unit_test(staged_inputs_and_outputs),
		cmocka_unit_test(reset_state_starts_over),
		cmocka_unit_test(plans_share_weights_and_may_go_in_any_order),
	};
	int r;

	pt_open(&m);
	load_reference();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	pt_close(&m);
	free(samples);
	free(probability);
	return r;
}
