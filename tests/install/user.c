/* SPDX-License-Identifier: MIT */
/*
 * A user's program, C11 and C++17, on what `make install` puts down and pkg-config tells: fills 16 words on the device and
 * reads them back. With an argument, a target's name: only compiles the plan, without a device.
 */
#include <gpuplan.h>
#include <plan_image.h>
#include <stdio.h>
#include <string.h>

#define CALL(x)                                                                    \
	do {                                                                       \
		int r_ = (x);                                                      \
		if (r_) {                                                          \
			fprintf(stderr, "%s: %d %s\n", #x, r_, error.message);     \
			return 1;                                                  \
		}                                                                  \
	} while (0)

static struct gpuplan_error error;

static int
run(struct gpuplan_context *context, struct gpuplan_plan *plan)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue;
	struct gpuplan_slot *slot;
	struct gpuplan_completion done;

	CALL(gpuplan_queue_create(context, &params, &queue, &error));
	CALL(gpuplan_plan_acquire(plan, &slot));
	CALL(gpuplan_slot_submit(slot, queue));
	CALL(gpuplan_slot_wait(slot, gpuplan_now() + UINT64_C(60000000000), &done));
	if (done.status != GPUPLAN_DONE)
		return 1;
	printf("%u\n", ((const uint32_t *)gpuplan_slot_output(slot, 0, NULL))[15]);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
	return 0;
}

int
main(int argc, char **argv)
{
	struct gpuplan_context_params context_params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_alloc_params alloc;
	struct gpuplan_command fill;
	struct gpuplan_io output;
	struct gpuplan_plan_params params;
	struct gpuplan_context *context;
	struct gpuplan_session *session;
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plan;
	const void *image;
	size_t bytes;
	int r = 0;

	memset(&alloc, 0, sizeof(alloc));
	memset(&fill, 0, sizeof(fill));
	memset(&output, 0, sizeof(output));
	memset(&params, 0, sizeof(params));
	context_params.offline_target = argc > 1 ? argv[1] : NULL;
	CALL(gpuplan_context_create(&context_params, &context, &error));
	CALL(gpuplan_session_create(context, &session, &error));
	alloc.size = sizeof(alloc);
	alloc.use = GPUPLAN_SCRATCH;
	alloc.placement = GPUPLAN_HOST;
	alloc.bytes = 64;
	CALL(gpuplan_session_alloc(session, &alloc, &output.region, &error));
	CALL(gpuplan_session_freeze(session, NULL, gpuplan_now() + UINT64_C(10000000000), &definition, &error));
	fill.kind = GPUPLAN_FILL;
	fill.u.fill.dst = output.region;
	fill.u.fill.value = 42;
	output.dtype = GPUPLAN_U32;
	output.rank = 1;
	output.shape[0] = 16;
	params.size = sizeof(params);
	params.capacity = 1;
	params.commands = &fill;
	params.n_commands = 1;
	params.outputs = &output;
	params.n_outputs = 1;
	CALL(gpuplan_plan_create(definition, &params, &plan, &error));
	image = gpuplan_plan_image(plan, &bytes);
	if (plan_image_checksum(image, bytes) != ((const struct plan_image_header *)image)->checksum)
		return 1;
	if (argc > 1)
		printf("%zu bytes for %s\n", bytes, ((const struct plan_image_header *)image)->target);
	else
		r = run(context, plan);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	return r;
}
