/* SPDX-License-Identifier: MIT */
/* Promise: a plan image is pure data. Saved and loaded it gives the same plan, the same image and the same answers; for
 * another target, other code or other declarations, or changed in any way, it is refused with a sentence. */
#include "device/package_test.h"
#include "plan_image.h"

#define WORDS 256u
#define BYTES (WORDS * 4)

struct model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_region weight, in, out, tmp, more, state, counts;
	struct gpuplan_kernel fill, copy;
};

static struct model m;
static struct plan_image_header *image; /* of the plan below; ours */
static size_t size;

static struct model
open_model(struct gpuplan_context *context, uint64_t tmp_bytes)
{
	struct gpuplan_session *session = dt_session(context);
	struct model x = { .context = context };

	x.weight = dt_weight(session, BYTES, "weight");
	x.in = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "in");
	x.out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, BYTES, "out");
	x.tmp = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, tmp_bytes, "tmp");
	x.more = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "more");
	x.state = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, BYTES, "state");
	x.counts = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 12, "counts");
	x.fill = dt_kernel(context, session, "fill", "fill");
	x.copy = dt_kernel(context, session, "copy", "copy");
	x.definition = dt_freeze(session);
	return x;
}

/* Everything an image can say: staging, state, fills, copies, dispatches, parameters, an indirect grid, reordering. */
static int
create(const struct model *x, uint32_t flags, struct gpuplan_plan **plan, struct gpuplan_error *error)
{
	static const struct gpuplan_parameter parameters[] = {
		{ "value", 4, 0, 9, 0, UINT32_MAX },
		{ "words", 4, 0, WORDS, 1, WORDS },
		{ "groups", 4, 0, 1, 0, 1 },
	};
	struct gpuplan_binding filled = { .region = x->tmp, .access = GPUPLAN_WRITE };
	struct gpuplan_binding copied[2] = {
		{ .region = x->in, .access = GPUPLAN_READ }, { .region = x->out, .access = GPUPLAN_WRITE }
	};
	struct gpuplan_arg fill_args[] = { gpuplan_arg_binding(0), gpuplan_arg_param(0), gpuplan_arg_param(1) };
	struct gpuplan_arg copy_args[] = { gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_u32(WORDS) };
	struct gpuplan_command commands[] = {
		dt_fill(x->counts, 1),
		dt_copy(gpuplan_slice(x->more, 0, 64), gpuplan_slice(x->weight, 0, 64)),
		{ .kind = GPUPLAN_DISPATCH, .label = "fill" },
		{ .kind = GPUPLAN_DISPATCH, .label = "copy" },
		dt_copy(gpuplan_slice(x->out, 0, 64), gpuplan_slice(x->tmp, 0, 64)),
		dt_copy(gpuplan_slice(x->state, 0, 64), gpuplan_slice(x->out, 0, 64)),
		dt_copy(gpuplan_slice(x->out, 64, 64), gpuplan_slice(x->more, 0, 64)),
	};
	struct gpuplan_io in = { .region = x->in, .dtype = GPUPLAN_F32, .rank = 1, .shape = { WORDS }, .name = "in" };
	struct gpuplan_io out = { .region = x->out, .dtype = GPUPLAN_U32, .rank = 2, .shape = { 2, WORDS / 2 } };
	struct gpuplan_plan_params params = dt_plan_params(2, commands, sizeof(commands) / sizeof(commands[0]));

	commands[2].u.dispatch = (struct gpuplan_dispatch){
		.kernel = x->fill,
		.groups = { 0, 1, 1 },
		.groups_param = { 3, 0, 0 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &filled,
		.n_args = 3,
		.args = fill_args,
	};
	commands[3].u.dispatch = (struct gpuplan_dispatch){
		.kernel = x->copy,
		.groups = { 1, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 2,
		.bindings = copied,
		.n_args = 3,
		.args = copy_args,
		.groups_from = &x->counts,
	};
	params.inputs = &in;
	params.outputs = &out;
	params.n_inputs = params.n_outputs = 1;
	params.parameters = parameters;
	params.n_parameters = 3;
	params.flags = flags;
	params.ib_dwords = 512;
	params.name = "everything";
	return gpuplan_plan_create(x->definition, &params, plan, error);
}

static int
load(const struct model *x, const void *bytes, size_t n, struct gpuplan_plan **plan, struct gpuplan_error *error)
{
	struct gpuplan_plan_params params = dt_plan_params(2, NULL, 0);

	return gpuplan_plan_load(x->definition, bytes, n, &params, plan, error);
}

static void
keep_image(const struct gpuplan_plan *plan)
{
	const void *bytes = gpuplan_plan_image(plan, &size);

	free(image);
	image = malloc(size);
	assert_non_null(image);
	memcpy(image, bytes, size);
}

static int
setup(void **state)
{
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	(void)state;
	m = open_model(dt_context(), BYTES);
	dt_ok(create(&m, 0, &plan, &error), &error);
	keep_image(plan);
	gpuplan_plan_destroy(plan);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(image);
	image = NULL;
	gpuplan_definition_destroy(m.definition);
	dt_check_ledger_zero(m.context);
	gpuplan_context_destroy(m.context);
	return 0;
}

#define TEST(name) static void name(void **state)

/* ---- answers ---- */

static void
check_answers(struct gpuplan_plan *plan)
{
	struct gpuplan_queue *queue = dt_queue(m.context);
	struct gpuplan_slot *slot;
	struct gpuplan_error error;
	struct gpuplan_value value = { 0, 4, 0x1234 };
	const uint32_t *out;
	uint32_t *in;

	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	in = gpuplan_slot_input(slot, 0, NULL);
	out = gpuplan_slot_output(slot, 0, NULL);
	for (uint32_t i = 0; i < WORDS; i++)
		in[i] = 5000 + i;
	dt_ok(gpuplan_slot_set(slot, &value, 1, &error), &error);
	dt_run_slot(slot, queue);
	for (uint32_t i = 0; i < WORDS; i++)
		if (i < 16)
			assert_int_equal(out[i], 0x1234);
		else if (i >= 32)
			assert_int_equal(out[i], 5000 + i);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
}

TEST(saved_and_loaded_gives_the_same_plan)
{
	static const uint32_t flags[] = { 0, GPUPLAN_PLAN_REORDER, GPUPLAN_PLAN_REUSE_SCRATCH,
					  GPUPLAN_PLAN_REORDER | GPUPLAN_PLAN_REUSE_SCRATCH };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct gpuplan_plan *plan, *loaded;
		struct gpuplan_plan_info info[2];
		struct gpuplan_error error;
		const void *again;
		size_t bytes;

		dt_ok(create(&m, flags[i], &plan, &error), &error);
		keep_image(plan);
		check_answers(plan);
		gpuplan_plan_get_info(plan, &info[0]);
		gpuplan_plan_destroy(plan);
		dt_ok(load(&m, image, size, &loaded, &error), &error);
		gpuplan_plan_get_info(loaded, &info[1]);
		assert_memory_equal(&info[0], &info[1], sizeof(info[0]));
		again = gpuplan_plan_image(loaded, &bytes);
		assert_int_equal(bytes, size);
		assert_memory_equal(again, image, size);
		check_answers(loaded);
		gpuplan_plan_destroy(loaded);
	}
}

TEST(another_definition_of_the_same_model_takes_it)
{
	struct model other = open_model(m.context, BYTES);
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	dt_ok(load(&other, image, size, &plan, &error), &error);
	check_answers(plan);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(other.definition);
}

/* The speech model: every plan of the package, loaded into a definition of its own. */
TEST(the_speech_model_answers_alike)
{
	struct pt_model speech[2];
	float answers[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		pt_define(&speech[i], m.context);
	for (uint32_t p = 0; p < gpuplan_package_plans(speech[0].package); p++) {
		struct gpuplan_plan *plans[2];
		struct gpuplan_plan_params params = dt_plan_params(1, NULL, 0);
		struct gpuplan_error error;
		const void *bytes;
		size_t n;

		plans[0] = pt_plan(&speech[0], gpuplan_package_plan_name(speech[0].package, p), 1, 0);
		bytes = gpuplan_plan_image(plans[0], &n);
		dt_ok(gpuplan_plan_load(speech[1].definition, bytes, n, &params, &plans[1], &error), &error);
		for (int i = 0; i < 2; i++) {
			struct gpuplan_queue *queue = dt_queue(m.context);
			struct gpuplan_slot *slot;
			size_t in_bytes;
			float *in;

			assert_int_equal(gpuplan_plan_acquire(plans[i], &slot), 0);
			in = gpuplan_slot_input(slot, 0, &in_bytes);
			pt_sound(in, (unsigned)(in_bytes / sizeof(*in)), 3);
			dt_run_slot(slot, queue);
			answers[i] = *(const float *)gpuplan_slot_output(slot, 0, NULL);
			gpuplan_slot_release(slot);
			gpuplan_queue_destroy(queue);
		}
		assert_memory_equal(&answers[0], &answers[1], sizeof(float));
		gpuplan_plan_destroy(plans[0]);
		gpuplan_plan_destroy(plans[1]);
	}
	pt_drop(&speech[0]);
	pt_drop(&speech[1]);
}

/* ---- refusals ---- */

static void
refused(const struct model *x, int errno_, const char *one, const char *two)
{
	struct gpuplan_plan *plan = (void *)1;
	struct gpuplan_memory before, after;
	struct gpuplan_error error = { 0 };

	image->checksum = plan_image_checksum(image, size);
	gpuplan_context_get_memory(x->context, &before);
	dt_refused(load(x, image, size, &plan, &error), errno_, &error, one, two);
	assert_ptr_equal(plan, (void *)1);
	gpuplan_context_get_memory(x->context, &after);
	assert_int_equal(before.total, after.total);
}

TEST(another_target)
{
	struct gpuplan_context_info info;

	(void)state;
	gpuplan_context_get_info(m.context, &info);
	strcpy(image->target, strcmp(info.target, "gfx1030") ? "gfx1030" : "gfx1100");
	refused(&m, ENOTSUP, image->target, info.target);
}

TEST(another_version)
{
	(void)state;
	image->version++;
	refused(&m, ENOTSUP, "version 2", "reads 1");
}

TEST(other_code)
{
	(void)state;
	image->code_hash ^= 1;
	refused(&m, ESTALE, "code", "hash");
}

TEST(other_declarations)
{
	struct model other = open_model(m.context, BYTES + 4);
	struct pt_model speech;

	(void)state;
	refused(&other, ESTALE, "1024", "1028");
	gpuplan_definition_destroy(other.definition);
	pt_define(&speech, m.context);
	other.definition = speech.definition;
	refused(&other, ESTALE, "7 allocations", "definition has");
	pt_drop(&speech);
}

TEST(a_truncated_one)
{
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	(void)state;
	for (size_t n = 0; n < size; n += 61)
		dt_refused(load(&m, image, n, &plan, &error), EINVAL, &error, "bytes");
}

TEST(params_of_its_own)
{
	struct gpuplan_plan_params params = dt_plan_params(1, NULL, 0);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	(void)state;
	params.flags = GPUPLAN_PLAN_REORDER;
	dt_refused(gpuplan_plan_load(m.definition, image, size, &params, &plan, &error), EINVAL, &error, "flags 0x2");
	params.flags = 0;
	params.capacity = 0;
	dt_refused(gpuplan_plan_load(m.definition, image, size, &params, &plan, &error), EINVAL, &error, "capacity");
}

#define RECORD(type, section, i)                                                                                      \
	((struct type *)(void *)((uint8_t *)image + image->sections[section].offset))[i]
#define COUNT(section) (image->sections[section].count)

/* Whatever the file says and its commands do not: with a good checksum it is refused all the same. */
#define FORGED(name, errno_, one, two, ...)                                                                           \
	TEST(name)                                                                                                    \
	{                                                                                                             \
		(void)state;                                                                                          \
		__VA_ARGS__;                                                                                          \
		refused(&m, errno_, one, two);                                                                        \
	}

static struct plan_image_command *
command_of_kind(uint32_t kind)
{
	for (uint32_t i = 0; i < COUNT(PLAN_SECTION_COMMANDS); i++)
		if (RECORD(plan_image_command, PLAN_SECTION_COMMANDS, i).kind == kind)
			return &RECORD(plan_image_command, PLAN_SECTION_COMMANDS, i);
	fail();
	return NULL;
}

static struct plan_image_relocation *
argument_relocation(void)
{
	for (uint32_t i = 0; i < COUNT(PLAN_SECTION_RELOCATIONS); i++)
		if (RECORD(plan_image_relocation, PLAN_SECTION_RELOCATIONS, i).where == PLAN_IN_KERNARG)
			return &RECORD(plan_image_relocation, PLAN_SECTION_RELOCATIONS, i);
	fail();
	return NULL;
}

#define ACCESS(kind, i) RECORD(plan_image_access, PLAN_SECTION_ACCESSES, command_of_kind(kind)->first_access + (i))

FORGED(forged_packet, EINVAL, "compile to", "first difference", ((uint32_t *)(void *)((uint8_t *)image +
	image->sections[PLAN_SECTION_STREAM].offset))[20] ^= 0x100)
FORGED(forged_barrier, EINVAL, "compile to", "", RECORD(plan_image_barrier, PLAN_SECTION_BARRIERS, 0).ops ^= 1)
FORGED(forged_place, EINVAL, "compile to", "", image->word_offset += 8)
FORGED(forged_memory, EINVAL, "compile to", "", image->device_bytes = 1ull << 50)
FORGED(region_behind_its_allocation, EINVAL, "copy destination", "past its allocation",
       ACCESS(PLAN_COMMAND_COPY, 0).offset = ACCESS(PLAN_COMMAND_COPY, 1).offset = BYTES - 4)
FORGED(a_weight_written, EPERM, "weight", "immutable", ACCESS(PLAN_COMMAND_FILL, 0).allocation = m.weight.allocation;
       ACCESS(PLAN_COMMAND_FILL, 0).offset = 0)
FORGED(grid_too_large, E2BIG, "workgroups", "takes", command_of_kind(PLAN_COMMAND_DISPATCH)->groups[1] = 1u << 20)
FORGED(workgroup_too_large, E2BIG, "workgroup of", "takes", command_of_kind(PLAN_COMMAND_DISPATCH)->block[0] = 2048)
FORGED(local_memory_too_large, E2BIG, "LDS", "has", command_of_kind(PLAN_COMMAND_DISPATCH)->lds_bytes = 1u << 20)
FORGED(arguments_crooked, EINVAL, "argument block", "64", command_of_kind(PLAN_COMMAND_DISPATCH)->kernarg += 4)
FORGED(another_kernel, ENOENT, "\"cop\"", "none of the 2 kernels",
       strcpy((char *)image + image->sections[PLAN_SECTION_STRINGS].offset +
	      RECORD(plan_image_kernel, PLAN_SECTION_KERNELS, 1).name, "cop"))
FORGED(address_outside_of_the_slot, EINVAL, "outside of the plan", "offset", argument_relocation()->addend = 1ull << 40)
FORGED(address_in_code_that_is_not_there, EINVAL, "outside of the plan", "number 77",
       argument_relocation()->memory = PLAN_MEMORY_CODE; argument_relocation()->index = 77)
FORGED(address_of_scratch_as_a_weight, EINVAL, "outside of the plan", "", argument_relocation()->memory = PLAN_MEMORY_WEIGHT;
       argument_relocation()->index = m.tmp.allocation)
FORGED(address_that_is_not_declared, EINVAL, "does not declare", "argument byte", argument_relocation()->addend += 4)
FORGED(address_in_no_block, EINVAL, "does not declare", "", argument_relocation()->place += 4)
FORGED(commands_twice, EINVAL, "was number", "of 7", command_of_kind(PLAN_COMMAND_COPY)->source = 0)
FORGED(staging_forged, EINVAL, "was number", "", command_of_kind(PLAN_COMMAND_COPY)->kind = PLAN_COMMAND_STAGE_OUT)
FORGED(parameter_bounds, E2BIG, "groups", "workgroups", RECORD(plan_image_parameter, PLAN_SECTION_PARAMETERS, 2).max = UINT32_MAX)
FORGED(output_larger_than_it_is, EINVAL, "needs", "bytes", RECORD(plan_image_io, PLAN_SECTION_IO, 1).shape[0] = 4)
FORGED(unknown_flags, EINVAL, "flags", "", image->flags = 0x80)
FORGED(queue_block_behind_the_arguments, EINVAL, "queue block", "argument bytes", image->queue_block = 1u << 20)

/* Values a plan could have been made with as well: names, declared accesses, element types, values and bounds of
 * parameters and fills, which parameter or declared region goes into which argument, test hooks. Everything else follows from them. */
static bool
may_differ(size_t byte)
{
	static const enum plan_section sections[] = {
		PLAN_SECTION_STRINGS, PLAN_SECTION_ACCESSES, PLAN_SECTION_IO, PLAN_SECTION_KERNARG, PLAN_SECTION_PARAMETERS,
		PLAN_SECTION_PATCHES, PLAN_SECTION_RELOCATIONS,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct plan_image_section *s = &image->sections[sections[i]], *behind = s + 1;

		if (byte >= s->offset && (sections[i] + 1 == PLAN_SECTION_COUNT || byte < behind->offset))
			return true;
	}
	return byte == offsetof(struct plan_image_header, ib_dwords) ||
	       byte == offsetof(struct plan_image_header, omit_barrier);
}

TEST(every_dword_forged)
{
	static const uint32_t changes[] = { 1, 0x80000000, 0xffffffff };
	uint32_t *dw = (uint32_t *)(void *)image, refusals = 0, taken = 0;

	(void)state;
	for (size_t i = 0; i < size / 4 * 3; i++) {
		struct gpuplan_plan *plan;
		struct gpuplan_error error;
		size_t place = i / 3;
		uint32_t was = dw[place];
		const void *again;
		size_t bytes;
		int r;

		if (place / 2 == offsetof(struct plan_image_header, checksum) / 8)
			continue;
		dw[place] ^= changes[i % 3];
		image->checksum = plan_image_checksum(image, size);
		r = load(&m, image, size, &plan, &error);
		if (r) {
			assert_true(error.code == r && strlen(error.message) > 10);
			refusals++;
		} else {
			again = gpuplan_plan_image(plan, &bytes);
			assert_int_equal(bytes, size);
			assert_memory_equal(again, image, size);
			gpuplan_plan_destroy(plan);
			taken++;
			if (!may_differ(place * 4))
				fail_msg("dword %zu may be %08x instead of %08x", place, dw[place], was);
		}
		dw[place] = was;
	}
	print_message("%u forgeries refused, %u are other plans\n", refusals, taken);
	dt_check_ledger(m.context);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(saved_and_loaded_gives_the_same_plan),
		CASE(another_definition_of_the_same_model_takes_it),
		CASE(the_speech_model_answers_alike),
		CASE(another_target),
		CASE(another_version),
		CASE(other_code),
		CASE(other_declarations),
		CASE(a_truncated_one),
		CASE(params_of_its_own),
		CASE(forged_packet),
		CASE(forged_barrier),
		CASE(forged_place),
		CASE(forged_memory),
		CASE(region_behind_its_allocation),
		CASE(a_weight_written),
		CASE(grid_too_large),
		CASE(workgroup_too_large),
		CASE(local_memory_too_large),
		CASE(arguments_crooked),
		CASE(another_kernel),
		CASE(address_outside_of_the_slot),
		CASE(address_in_code_that_is_not_there),
		CASE(address_of_scratch_as_a_weight),
		CASE(address_that_is_not_declared),
		CASE(address_in_no_block),
		CASE(commands_twice),
		CASE(staging_forged),
		CASE(parameter_bounds),
		CASE(output_larger_than_it_is),
		CASE(unknown_flags),
		CASE(queue_block_behind_the_arguments),
		CASE(every_dword_forged),
	};

	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
