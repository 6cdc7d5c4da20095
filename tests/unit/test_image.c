/* SPDX-License-Identifier: MIT */
/* Plan images are parsed as hostile: whatever is cut off, flipped or out of bounds is refused with a sentence. */
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

static uint8_t *image;	/* a good one */
static size_t size;
static struct gpuplan_error error;

static struct gpuplan_region
alloc(struct gpuplan_session *session, enum gpuplan_use use, uint64_t bytes, const char *name)
{
	struct gpuplan_alloc_params params = { sizeof(params), use, GPUPLAN_DEVICE, 0, bytes, name };
	struct gpuplan_region region;

	assert_int_equal(gpuplan_session_alloc(session, &params, &region, NULL), 0);
	return region;
}

static int
setup(void **state)
{
	struct gpuplan_context_params context_params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_command commands[2] = { { .kind = GPUPLAN_FILL }, { .kind = GPUPLAN_COPY, .label = "copy" } };
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1, .commands = commands, .n_commands = 2 };
	struct gpuplan_definition *definition;
	struct gpuplan_context *context;
	struct gpuplan_session *session;
	struct gpuplan_region a, b;
	struct gpuplan_plan *plan;
	struct gpuplan_io out;
	const void *bytes;

	(void)state;
	context_params.offline_target = "gfx1100";
	assert_int_equal(gpuplan_context_create(&context_params, &context, NULL), 0);
	assert_int_equal(gpuplan_session_create(context, &session, NULL), 0);
	a = alloc(session, GPUPLAN_STATE, 1024, "a");
	b = alloc(session, GPUPLAN_SCRATCH, 1024, "b");
	assert_int_equal(gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000, &definition, NULL), 0);
	commands[0].u.fill.dst = a;
	commands[1].u.copy.dst = b;
	commands[1].u.copy.src = a;
	out = (struct gpuplan_io){ .region = b, .dtype = GPUPLAN_U8, .rank = 1, .shape = { 1024 }, .name = "out" };
	params.outputs = &out;
	params.n_outputs = 1;
	assert_int_equal(gpuplan_plan_create(definition, &params, &plan, NULL), 0);
	bytes = gpuplan_plan_image(plan, &size);
	image = malloc(size);
	assert_non_null(image);
	memcpy(image, bytes, size);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(image);
	return 0;
}

/* A copy that ends where its memory ends; the caller frees. */
static struct plan_image_header *
copy_of(size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	assert_non_null(copy);
	memcpy(copy, image, bytes);
	return copy;
}

static void
expect(const struct plan_image_header *copy, size_t bytes, int result, const char *words)
{
	memset(&error, 0, sizeof(error));
	assert_int_equal(gpuplan_image_check(copy, bytes, &error), result);
	assert_int_equal(error.code, result);
	if (result && !strstr(error.message, words))
		fail_msg("no word of \"%s\": %s", words, error.message);
}

TEST(a_good_one_is_taken)
{
	(void)state;
	assert_int_equal(gpuplan_image_check(image, size, &error), 0);
	assert_int_equal(gpuplan_image_check(image, size, NULL), 0);
}

TEST(every_truncation_is_refused)
{
	(void)state;
	for (size_t bytes = 0; bytes < size; bytes++) {
		struct plan_image_header *copy = copy_of(bytes);

		expect(copy, bytes, -EINVAL, "bytes");
		free(copy);
	}
}

TEST(every_flipped_bit_is_refused)
{
	struct plan_image_header *copy = copy_of(size);
	uint8_t *b = (uint8_t *)copy;

	(void)state;
	for (size_t i = 0; i < size * 8; i++) {
		int r;

		b[i / 8] ^= (uint8_t)(1 << i % 8);
		r = gpuplan_image_check(copy, size, &error);
		if (r != -EINVAL && r != -ENOTSUP)
			fail_msg("bit %zu may be flipped", i);
		b[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	free(copy);
}

TEST(another_version_is_named)
{
	struct plan_image_header *copy = copy_of(size);

	(void)state;
	copy->version = PLAN_IMAGE_VERSION + 7;
	expect(copy, size, -ENOTSUP, "version 8, this library reads 1");
	free(copy);
}

TEST(crooked_memory_is_refused)
{
	uint8_t *room = malloc(size + 1);

	(void)state;
	memcpy(room + 1, image, size);
	assert_int_equal(gpuplan_image_check(room + 1, size, &error), -EINVAL);
	assert_non_null(strstr(error.message, "multiple of 8"));
	free(room);
}

/* With the checksum made good again, the checks behind it have to see it. */
#define SPOILT(name, words, ...)                                                                                      \
	TEST(name)                                                                                                    \
	{                                                                                                             \
		struct plan_image_header *h = copy_of(size);                                                          \
		uint8_t *bytes = (uint8_t *)h;                                                                        \
		(void)state;                                                                                          \
		__VA_ARGS__;                                                                                          \
		h->checksum = plan_image_checksum(h, size);                                                           \
		expect(h, size, -EINVAL, words);                                                                      \
		free(h);                                                                                              \
		(void)bytes;                                                                                          \
	}
#define RECORD(type, section, i) ((struct type *)(void *)(bytes + h->sections[section].offset))[i]

SPOILT(section_behind_the_end, "commands", h->sections[PLAN_SECTION_COMMANDS].count = 1u << 24)
SPOILT(section_offset_overflows, "stream", h->sections[PLAN_SECTION_STREAM].offset = 0xfffffff8)
SPOILT(section_crooked, "accesses", h->sections[PLAN_SECTION_ACCESSES].offset += 4)
SPOILT(strings_without_end, "strings", bytes[h->sections[PLAN_SECTION_STRINGS].offset +
					     h->sections[PLAN_SECTION_STRINGS].count - 1] = 'x')
SPOILT(name_out_of_bounds, "strings", h->name = 4000)
SPOILT(target_without_end, "bytes", memset(h->target, 'x', sizeof(h->target)))
SPOILT(command_of_unknown_kind, "kind 77", RECORD(plan_image_command, PLAN_SECTION_COMMANDS, 0).kind = 77)
SPOILT(command_without_kernel, "kernels", RECORD(plan_image_command, PLAN_SECTION_COMMANDS, 0).kind = PLAN_COMMAND_DISPATCH)
SPOILT(command_with_foreign_accesses, "accesses", RECORD(plan_image_command, PLAN_SECTION_COMMANDS, 1).first_access = 99)
SPOILT(command_stream_overflows, "stream", RECORD(plan_image_command, PLAN_SECTION_COMMANDS, 1).stream_dwords = UINT32_MAX)
SPOILT(copy_with_one_access, "too few", RECORD(plan_image_command, PLAN_SECTION_COMMANDS, 1).n_accesses = 1)
SPOILT(access_of_unknown_allocation, "allocations", RECORD(plan_image_access, PLAN_SECTION_ACCESSES, 0).allocation = 9)
SPOILT(access_of_unknown_staging, "inputs and outputs",
       RECORD(plan_image_access, PLAN_SECTION_ACCESSES, 0).allocation = PLAN_STAGING | 5)
SPOILT(relocation_behind_the_stream, "stream", RECORD(plan_image_relocation, PLAN_SECTION_RELOCATIONS, 0).place = 1u << 20)
SPOILT(relocation_of_unknown_kind, "unknown kind", RECORD(plan_image_relocation, PLAN_SECTION_RELOCATIONS, 0).kind = 99)
SPOILT(io_with_rank_9, "rank 9", RECORD(plan_image_io, PLAN_SECTION_IO, 0).rank = 9)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one_is_taken),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_flipped_bit_is_refused),
		cmocka_unit_test(another_version_is_named),
		cmocka_unit_test(crooked_memory_is_refused),
		cmocka_unit_test(section_behind_the_end),
		cmocka_unit_test(section_offset_overflows),
		cmocka_unit_test(section_crooked),
		cmocka_unit_test(strings_without_end),
		cmocka_unit_test(name_out_of_bounds),
		cmocka_unit_test(target_without_end),
		cmocka_unit_test(command_of_unknown_kind),
		cmocka_unit_test(command_without_kernel),
		cmocka_unit_test(command_with_foreign_accesses),
		cmocka_unit_test(command_stream_overflows),
		cmocka_unit_test(copy_with_one_access),
		cmocka_unit_test(access_of_unknown_allocation),
		cmocka_unit_test(access_of_unknown_staging),
		cmocka_unit_test(relocation_behind_the_stream),
		cmocka_unit_test(relocation_of_unknown_kind),
		cmocka_unit_test(io_with_rank_9),
	};

	return cmocka_run_group_tests_name("image", tests, setup, teardown);
}
