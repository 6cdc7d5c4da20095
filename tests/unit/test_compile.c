/* SPDX-License-Identifier: MIT */
/* Promises of the plan compiler that need no device: equal input gives equal bytes; memory follows what is referenced;
 * offline contexts compile, count and refuse like real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan.h"
#include "plan_image.h"

#define TEST(name) static void name(void **state)

struct model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_region weight, big, small, host, kept, unused;
};

static struct gpuplan_region
alloc(struct gpuplan_session *session, enum gpuplan_use use, enum gpuplan_placement placement, uint64_t bytes,
      const char *name)
{
	struct gpuplan_alloc_params params = { sizeof(params), use, placement, 0, bytes, name };
	struct gpuplan_region region;

	assert_int_equal(gpuplan_session_alloc(session, &params, &region, NULL), 0);
	return region;
}

static void
open_model(struct model *m)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_session *session;

	params.offline_target = "gfx1100";
	assert_int_equal(gpuplan_context_create(&params, &m->context, NULL), 0);
	assert_int_equal(gpuplan_session_create(m->context, &session, NULL), 0);
	m->weight = alloc(session, GPUPLAN_WEIGHT, GPUPLAN_DEVICE, 5000, "weight");
	m->big = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1 << 30, "big");
	m->small = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 300, "small");
	m->host = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4096, "host");
	m->kept = alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, 100, "kept");
	m->unused = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1ull << 40, "unused");
	assert_int_equal(gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000, &m->definition, NULL), 0);
}

static void
close_model(struct model *m)
{
	struct gpuplan_memory memory;

	gpuplan_definition_destroy(m->definition);
	gpuplan_context_get_memory(m->context, &memory);
	assert_int_equal(memory.total, 0);
	assert_int_equal(memory.buffers, 0);
	gpuplan_context_destroy(m->context);
}

static struct gpuplan_plan *
make_plan(const struct model *m, uint32_t capacity)
{
	struct gpuplan_command commands[4] = {
		{ .kind = GPUPLAN_FILL, .label = "fill" },
		{ .kind = GPUPLAN_COPY, .label = "copy" },
		{ .kind = GPUPLAN_COPY, .label = "from weight" },
		{ .kind = GPUPLAN_COPY, .label = "keep" },
	};
	struct gpuplan_io in = { .region = m->small, .dtype = GPUPLAN_F32, .rank = 1, .shape = { 10 }, .name = "in" };
	struct gpuplan_io out = { .region = m->host, .dtype = GPUPLAN_U8, .rank = 2, .shape = { 5, 20 }, .name = "out" };
	struct gpuplan_plan_params params = {
		.size = sizeof(params),
		.capacity = capacity,
		.commands = commands,
		.n_commands = 4,
		.inputs = &in,
		.n_inputs = 1,
		.outputs = &out,
		.n_outputs = 1,
		.name = "test",
	};
	struct gpuplan_plan *plan;
	struct gpuplan_error error = { 0 };

	commands[0].u.fill.dst = gpuplan_slice(m->big, 1024, 1000);
	commands[1].u.copy.dst = gpuplan_slice(m->host, 0, 40);
	commands[1].u.copy.src = gpuplan_slice(m->small, 0, 40);
	commands[2].u.copy.dst = gpuplan_slice(m->host, 40, 60);
	commands[2].u.copy.src = gpuplan_slice(m->weight, 4940, 60);
	commands[3].u.copy.dst = gpuplan_slice(m->kept, 0, 48);
	commands[3].u.copy.src = gpuplan_slice(m->big, 1024, 48);
	if (gpuplan_plan_create(m->definition, &params, &plan, &error))
		print_error("%s\n", error.message);
	assert_int_equal(error.code, 0);
	return plan;
}

TEST(equal_input_gives_equal_bytes)
{
	struct gpuplan_plan *plans[2];
	const void *image[2];
	struct model m[2];
	size_t bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_model(&m[i]);
		plans[i] = make_plan(&m[i], 1 + (uint32_t)i);
		image[i] = gpuplan_plan_image(plans[i], &bytes[i]);
	}
	assert_int_equal(bytes[0], bytes[1]);
	assert_memory_equal(image[0], image[1], bytes[0]);
	for (int i = 0; i < 2; i++) {
		gpuplan_plan_destroy(plans[i]);
		close_model(&m[i]);
	}
}

TEST(only_referenced_extents_cost_memory)
{
	struct gpuplan_plan_info info;
	struct gpuplan_memory memory;
	struct gpuplan_plan *plan;
	struct model m;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 3);
	gpuplan_plan_get_info(plan, &info);
	/* big up to 2024, small 40, host 100: the 1 GiB and the 1 TiB cost nothing */
	assert_int_equal(info.scratch_bytes, 2024 + 40 + 100);
	assert_int_equal(info.state_bytes, 48);
	assert_int_equal(info.staging_bytes, 40);
	assert_int_equal(info.slot_bytes, 4096 + 4096);
	assert_int_equal(info.n_commands, 5);
	gpuplan_context_get_memory(m.context, &memory);
	assert_int_equal(memory.weights, 8192);
	assert_int_equal(gpuplan_definition_weight_bytes(m.definition), 8192);
	assert_int_equal(memory.slots, 3 * info.slot_bytes);
	assert_int_equal(memory.total, memory.weights + memory.slots);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

TEST(host_io_is_in_place_and_device_io_is_staged)
{
	const struct plan_image_header *h;
	const struct plan_image_io *io;
	const struct plan_image_command *c;
	struct gpuplan_plan *plan;
	const uint8_t *image;
	struct model m;
	size_t bytes;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 1);
	image = gpuplan_plan_image(plan, &bytes);
	h = (const void *)image;
	io = (const void *)(image + h->sections[PLAN_SECTION_IO].offset);
	c = (const void *)(image + h->sections[PLAN_SECTION_COMMANDS].offset);
	assert_int_equal(h->bytes, bytes);
	assert_string_equal(h->target, "gfx1100");
	assert_int_equal(io[0].staged, 1);
	assert_int_equal(io[0].bytes, 40);
	assert_int_equal(io[1].staged, 0);
	assert_int_equal(io[1].bytes, 100);
	assert_int_equal(c[0].kind, PLAN_COMMAND_STAGE_IN);
	assert_int_equal(c[1].kind, PLAN_COMMAND_FILL);
	assert_int_equal(c[4].kind, PLAN_COMMAND_COPY);
	/* copies and fills need no barrier among themselves */
	assert_int_equal(h->sections[PLAN_SECTION_BARRIERS].count, 0);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

TEST(relocations_stay_inside_what_they_point_at)
{
	const struct plan_image_relocation *r;
	const struct plan_image_header *h;
	struct gpuplan_plan *plan;
	const uint8_t *image;
	struct model m;
	size_t bytes;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 1);
	image = gpuplan_plan_image(plan, &bytes);
	h = (const void *)image;
	r = (const void *)(image + h->sections[PLAN_SECTION_RELOCATIONS].offset);
	for (uint32_t i = 0; i < h->sections[PLAN_SECTION_RELOCATIONS].count; i++) {
		if (r[i].memory == PLAN_MEMORY_DEVICE)
			assert_true(r[i].addend < h->device_bytes);
		else if (r[i].memory == PLAN_MEMORY_HOST)
			assert_true(r[i].addend < h->host_bytes);
		else if (r[i].memory == PLAN_MEMORY_WEIGHT)
			assert_true(r[i].addend < 5000);
		else
			fail();
	}
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

TEST(offline_plans_cannot_run)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue = NULL;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	struct model m;
	int r;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 1);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	assert_non_null(gpuplan_slot_input(slot, 0, NULL));
	assert_null(gpuplan_slot_input(slot, 1, NULL));
	assert_null(gpuplan_slot_output(slot, 1, NULL));
	r = gpuplan_queue_create(m.context, &params, &queue, NULL);
	if (!r)
		r = gpuplan_slot_submit(slot, queue);
	assert_int_equal(r, -ENODEV);
	gpuplan_queue_destroy(queue);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

TEST(unknown_targets_are_refused_by_name)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_error error;

	(void)state;
	params.offline_target = "gfx803";
	assert_int_equal(gpuplan_context_create(&params, &context, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "gfx803"));
	assert_non_null(strstr(error.message, "gfx1100"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_input_gives_equal_bytes),
		cmocka_unit_test(only_referenced_extents_cost_memory),
		cmocka_unit_test(host_io_is_in_place_and_device_io_is_staged),
		cmocka_unit_test(relocations_stay_inside_what_they_point_at),
		cmocka_unit_test(offline_plans_cannot_run),
		cmocka_unit_test(unknown_targets_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
