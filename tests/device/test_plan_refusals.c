/* SPDX-License-Identifier: MIT */
/* Promise: everything that can be refused is refused before it runs, each with its own sentence that names both sides,
 * and a refused call changes nothing and leaks nothing. One test per refusal of gpuplan_plan_create. */
#include "device/device_test.h"

struct fixture {
	struct gpuplan_context *context;
	struct gpuplan_session *foreign_session;
	struct gpuplan_definition *definition;
	struct gpuplan_region weight, a, b, host, foreign;
	struct gpuplan_kernel copy, foreign_kernel;
	struct gpuplan_memory before;
	/* a good dispatch, spoilt by each test */
	struct gpuplan_binding bindings[2];
	struct gpuplan_arg args[3];
	struct gpuplan_command command;
	struct gpuplan_io io;
};

static struct fixture f;

static struct gpuplan_command
good_dispatch(void)
{
	struct gpuplan_command c = { .kind = GPUPLAN_DISPATCH, .label = "the copy" };

	f.bindings[0] = (struct gpuplan_binding){ .region = f.a, .access = GPUPLAN_READ };
	f.bindings[1] = (struct gpuplan_binding){ .region = f.b, .access = GPUPLAN_WRITE };
	f.args[0] = gpuplan_arg_binding(0);
	f.args[1] = gpuplan_arg_binding(1);
	f.args[2] = gpuplan_arg_u32(1024);
	c.u.dispatch = (struct gpuplan_dispatch){
		.kernel = f.copy,
		.groups = { 1, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 2,
		.bindings = f.bindings,
		.n_args = 3,
		.args = f.args,
	};
	return c;
}

static int
setup(void **state)
{
	(void)state;
	f.context = dt_context();
	f.foreign_session = dt_session(f.context);
	f.foreign = dt_alloc(f.foreign_session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "foreign");
	f.foreign_kernel = dt_kernel(f.context, f.foreign_session, "copy", "copy");

	struct gpuplan_session *session = dt_session(f.context);

	f.weight = dt_weight(session, 4096, "weight");
	f.a = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "a");
	f.b = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "b");
	f.host = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4096, "host");
	f.copy = dt_kernel(f.context, session, "copy", "copy");
	f.definition = dt_freeze(session);
	f.command = good_dispatch();
	f.io = (struct gpuplan_io){
		.region = f.host, .dtype = GPUPLAN_F32, .rank = 2, .shape = { 4, 8 }, .name = "x"
	};
	gpuplan_context_get_memory(f.context, &f.before);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	gpuplan_session_destroy(f.foreign_session);
	gpuplan_definition_destroy(f.definition);
	dt_check_ledger_zero(f.context);
	gpuplan_context_destroy(f.context);
	return 0;
}

static int
create(struct gpuplan_plan_params *params, struct gpuplan_error *error)
{
	struct gpuplan_plan *plan = (void *)1;
	struct gpuplan_memory after;
	int r = gpuplan_plan_create(f.definition, params, &plan, error);

	if (!r) {
		gpuplan_plan_destroy(plan);
		return 0;
	}
	assert_ptr_equal(plan, (void *)1);
	gpuplan_context_get_memory(f.context, &after);
	assert_int_equal(after.total, f.before.total);
	assert_int_equal(after.buffers, f.before.buffers);
	dt_check_ledger(f.context);
	return r;
}

static int
create_command(struct gpuplan_error *error)
{
	struct gpuplan_plan_params params = dt_plan_params(1, &f.command, 1);

	return create(&params, error);
}

static int
create_input(struct gpuplan_error *error)
{
	struct gpuplan_plan_params params = dt_plan_params(1, &f.command, 1);

	params.inputs = &f.io;
	params.n_inputs = 1;
	return create(&params, error);
}

#define REFUSAL(name) static void name(void **state)
#define BEGIN                                                                                                         \
	struct gpuplan_error error;                                                                                   \
	(void)state

REFUSAL(the_good_ones_are_taken)
{
	BEGIN;
	dt_ok(create_command(&error), &error);
	dt_ok(create_input(&error), &error);
}

REFUSAL(region_of_another_definition)
{
	BEGIN;
	f.bindings[0].region = f.foreign;
	dt_refused(create_command(&error), EINVAL, &error, "the copy", "binding 0", "session");
}

REFUSAL(unknown_allocation)
{
	BEGIN;
	f.bindings[1].region.allocation = 77;
	dt_refused(create_command(&error), ENOENT, &error, "binding 1", "77");
}

REFUSAL(region_past_its_allocation)
{
	BEGIN;
	f.bindings[1].region.offset = 4;
	dt_refused(create_command(&error), EINVAL, &error, "binding 1", "4096", "\"b\"");
}

REFUSAL(region_offset_plus_bytes_overflows)
{
	BEGIN;
	f.bindings[1].region.offset = UINT64_MAX - 3;
	f.bindings[1].region.bytes = 8;
	dt_refused(create_command(&error), EINVAL, &error, "binding 1", "18446744073709551612");
}

REFUSAL(region_empty)
{
	BEGIN;
	f.bindings[0].region.bytes = 0;
	dt_refused(create_command(&error), EINVAL, &error, "binding 0");
}

REFUSAL(io_empty)
{
	BEGIN;
	f.io.shape[1] = 0;
	dt_refused(create_input(&error), EINVAL, &error, "input 0 \"x\"", "empty");
}

REFUSAL(io_larger_than_its_region)
{
	BEGIN;
	f.io.shape[0] = 129;
	dt_refused(create_input(&error), EINVAL, &error, "input 0 \"x\"", "4128", "4096");
}

REFUSAL(io_shape_overflows)
{
	BEGIN;
	f.io.shape[0] = f.io.shape[1] = 1ull << 33;
	dt_refused(create_input(&error), EINVAL, &error, "input 0", "2^64");
}

REFUSAL(io_unknown_type)
{
	BEGIN;
	f.io.dtype = (enum gpuplan_dtype)99;
	dt_refused(create_input(&error), EINVAL, &error, "input 0", "99");
}

REFUSAL(io_rank_too_high)
{
	BEGIN;
	f.io.rank = 9;
	dt_refused(create_input(&error), EINVAL, &error, "rank 9", "8");
}

REFUSAL(io_aliases_a_weight)
{
	BEGIN;
	f.io.region = f.weight;
	dt_refused(create_input(&error), EINVAL, &error, "input 0", "aliases weight \"weight\"");
}

REFUSAL(io_of_another_definition)
{
	BEGIN;
	f.io.region = f.foreign;
	dt_refused(create_input(&error), EINVAL, &error, "input 0", "session");
}

REFUSAL(fill_into_a_weight)
{
	BEGIN;
	f.command = dt_fill(f.weight, 0);
	dt_refused(create_command(&error), EPERM, &error, "fill destination", "weight \"weight\"");
}

REFUSAL(copy_into_a_weight)
{
	BEGIN;
	f.command = dt_copy(f.weight, f.a);
	dt_refused(create_command(&error), EPERM, &error, "copy destination", "weight \"weight\"");
}

REFUSAL(writable_binding_of_a_weight)
{
	BEGIN;
	f.bindings[1].region = f.weight;
	f.bindings[1].access = GPUPLAN_READ_WRITE;
	dt_refused(create_command(&error), EPERM, &error, "binding 1", "weight \"weight\"");
}

REFUSAL(kernel_of_another_definition)
{
	BEGIN;
	f.command.u.dispatch.kernel = f.foreign_kernel;
	dt_refused(create_command(&error), EINVAL, &error, "kernel belongs to session");
}

REFUSAL(unknown_kernel)
{
	BEGIN;
	f.command.u.dispatch.kernel.index = 5;
	dt_refused(create_command(&error), ENOENT, &error, "unknown kernel 5", "looked up 1");
}

REFUSAL(too_few_bindings)
{
	BEGIN;
	f.command.u.dispatch.n_bindings = 1;
	dt_refused(create_command(&error), EINVAL, &error, "1 bindings", "takes 2 buffers");
}

REFUSAL(too_many_bindings)
{
	struct gpuplan_binding three[3];

	BEGIN;
	memcpy(three, f.bindings, sizeof(f.bindings));
	three[2] = three[0];
	f.command.u.dispatch.bindings = three;
	f.command.u.dispatch.n_bindings = 3;
	dt_refused(create_command(&error), EINVAL, &error, "3 bindings", "takes 2 buffers");
}

REFUSAL(binding_without_access)
{
	BEGIN;
	f.bindings[0].access = (enum gpuplan_access)0;
	dt_refused(create_command(&error), EINVAL, &error, "binding 0", "access 0");
}

REFUSAL(wrong_number_of_arguments)
{
	BEGIN;
	f.command.u.dispatch.n_args = 2;
	dt_refused(create_command(&error), EINVAL, &error, "2 arguments", "takes 3");
}

REFUSAL(argument_of_another_size)
{
	BEGIN;
	f.args[2].bytes = 8;
	dt_refused(create_command(&error), EINVAL, &error, "argument 2", "8 bytes", "is 4");
}

REFUSAL(argument_of_another_kind)
{
	BEGIN;
	f.args[0] = gpuplan_arg_u32(1);
	dt_refused(create_command(&error), EINVAL, &error, "argument 0", "a value", "a buffer");
}

REFUSAL(argument_names_no_binding)
{
	BEGIN;
	f.args[0].binding = 9;
	dt_refused(create_command(&error), EINVAL, &error, "binding 9 of 2");
}

REFUSAL(binding_that_no_argument_names)
{
	BEGIN;
	f.args[1].binding = 0;
	dt_refused(create_command(&error), EINVAL, &error, "names binding 1");
}

static void
use_packed(const void *packed, uint32_t bytes)
{
	f.command.u.dispatch.n_args = 0;
	f.command.u.dispatch.args = NULL;
	f.command.u.dispatch.packed = packed;
	f.command.u.dispatch.packed_bytes = bytes;
	f.bindings[0].packed_offset = 0;
	f.bindings[1].packed_offset = 8;
}

REFUSAL(packed_bytes_that_fit_are_taken)
{
	static const uint32_t packed[5] = { 0, 0, 0, 0, 1024 };

	BEGIN;
	use_packed(packed, 20);
	dt_ok(create_command(&error), &error);
}

REFUSAL(packed_bytes_too_few)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 16);
	dt_refused(create_command(&error), EINVAL, &error, "16 packed", "takes 20");
}

REFUSAL(packed_bytes_too_many)
{
	static const uint32_t packed[8];

	BEGIN;
	use_packed(packed, 24);
	dt_refused(create_command(&error), EINVAL, &error, "24 packed", "takes 20");
}

REFUSAL(packed_address_outside)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 20);
	f.bindings[1].packed_offset = 16;
	dt_refused(create_command(&error), EINVAL, &error, "binding 1", "16", "20");
}

REFUSAL(packed_address_where_no_buffer_is)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 20);
	f.bindings[1].packed_offset = 4;
	dt_refused(create_command(&error), EINVAL, &error, "binding 1", "4");
}

REFUSAL(packed_addresses_on_top_of_each_other)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 20);
	f.bindings[1].packed_offset = 0;
	dt_refused(create_command(&error), EINVAL, &error, "bindings 0 and 1");
}

REFUSAL(grid_zero)
{
	BEGIN;
	f.command.u.dispatch.groups[1] = 0;
	dt_refused(create_command(&error), EINVAL, &error, "grid is zero in y");
}

REFUSAL(grid_over_limit)
{
	BEGIN;
	f.command.u.dispatch.groups[1] = 65536;
	dt_refused(create_command(&error), E2BIG, &error, "65536", "65535");
}

REFUSAL(grid_over_32_bits_of_work_items)
{
	BEGIN;
	f.command.u.dispatch.groups[0] = 1u << 24;
	dt_refused(create_command(&error), E2BIG, &error, "16777216", "2^32");
}

REFUSAL(workgroup_over_the_kernels_maximum)
{
	BEGIN;
	f.command.u.dispatch.block[0] = 512;
	dt_refused(create_command(&error), E2BIG, &error, "512 work-items", "takes 256");
}

REFUSAL(workgroup_other_than_required)
{
	BEGIN;
	f.command.u.dispatch.block[0] = 128;
	dt_refused(create_command(&error), EINVAL, &error, "128x1x1", "256x1x1");
}

REFUSAL(lds_over_limit)
{
	BEGIN;
	f.command.u.dispatch.dynamic_lds = 65540;
	dt_refused(create_command(&error), E2BIG, &error, "65540", "65536");
}

REFUSAL(fill_of_odd_bytes)
{
	BEGIN;
	f.command = dt_fill(gpuplan_slice(f.a, 2, 8), 0);
	dt_refused(create_command(&error), EINVAL, &error, "multiples of 4");
}

REFUSAL(copy_of_different_sizes)
{
	BEGIN;
	f.command = dt_copy(gpuplan_slice(f.a, 0, 8), gpuplan_slice(f.b, 0, 16));
	dt_refused(create_command(&error), EINVAL, &error, "8 bytes", "16");
}

REFUSAL(copy_onto_itself)
{
	BEGIN;
	f.command = dt_copy(gpuplan_slice(f.a, 0, 16), gpuplan_slice(f.a, 8, 16));
	dt_refused(create_command(&error), EINVAL, &error, "overlap");
}

REFUSAL(unknown_command)
{
	BEGIN;
	f.command.kind = (enum gpuplan_command_kind)9;
	dt_refused(create_command(&error), EINVAL, &error, "kind 9");
}

REFUSAL(capacity_zero)
{
	struct gpuplan_plan_params params = dt_plan_params(0, &f.command, 1);

	BEGIN;
	dt_refused(create(&params, &error), EINVAL, &error, "capacity is 0");
}

REFUSAL(foreign_context)
{
	struct gpuplan_plan_params params = dt_plan_params(1, &f.command, 1);
	struct gpuplan_context *other = dt_context();

	BEGIN;
	params.context = other;
	dt_refused(create(&params, &error), EXDEV, &error, "context");
	gpuplan_context_destroy(other);
}

REFUSAL(unknown_flags)
{
	struct gpuplan_plan_params params = dt_plan_params(1, &f.command, 1);

	BEGIN;
	params.flags = 0x10;
	dt_refused(create(&params, &error), EINVAL, &error, "0x10");
}

REFUSAL(capacity_beyond_the_budget)
{
	struct gpuplan_plan_params params = dt_plan_params(1u << 20, &f.command, 1);
	struct gpuplan_context *small = dt_context_with(1 << 20);
	struct gpuplan_session *session = dt_session(small);
	struct gpuplan_region region = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "a");
	struct gpuplan_command fill = dt_fill(region, 1);
	struct gpuplan_definition *definition = dt_freeze(session);
	struct gpuplan_memory memory;
	struct gpuplan_plan *plan;

	BEGIN;
	params.commands = &fill;
	dt_refused(gpuplan_plan_create(definition, &params, &plan, &error), ENOMEM, &error, "slot", "1048576");
	gpuplan_definition_destroy(definition);
	gpuplan_context_get_memory(small, &memory); /* the device counts both contexts: here the ledger alone */
	assert_int_equal(memory.total, 0);
	gpuplan_context_destroy(small);
	dt_check_ledger(f.context);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_good_ones_are_taken),
		CASE(region_of_another_definition),
		CASE(unknown_allocation),
		CASE(region_past_its_allocation),
		CASE(region_offset_plus_bytes_overflows),
		CASE(region_empty),
		CASE(io_empty),
		CASE(io_larger_than_its_region),
		CASE(io_shape_overflows),
		CASE(io_unknown_type),
		CASE(io_rank_too_high),
		CASE(io_aliases_a_weight),
		CASE(io_of_another_definition),
		CASE(fill_into_a_weight),
		CASE(copy_into_a_weight),
		CASE(writable_binding_of_a_weight),
		CASE(kernel_of_another_definition),
		CASE(unknown_kernel),
		CASE(too_few_bindings),
		CASE(too_many_bindings),
		CASE(binding_without_access),
		CASE(wrong_number_of_arguments),
		CASE(argument_of_another_size),
		CASE(argument_of_another_kind),
		CASE(argument_names_no_binding),
		CASE(binding_that_no_argument_names),
		CASE(packed_bytes_that_fit_are_taken),
		CASE(packed_bytes_too_few),
		CASE(packed_bytes_too_many),
		CASE(packed_address_outside),
		CASE(packed_address_where_no_buffer_is),
		CASE(packed_addresses_on_top_of_each_other),
		CASE(grid_zero),
		CASE(grid_over_limit),
		CASE(grid_over_32_bits_of_work_items),
		CASE(workgroup_over_the_kernels_maximum),
		CASE(workgroup_other_than_required),
		CASE(lds_over_limit),
		CASE(fill_of_odd_bytes),
		CASE(copy_of_different_sizes),
		CASE(copy_onto_itself),
		CASE(unknown_command),
		CASE(capacity_zero),
		CASE(foreign_context),
		CASE(unknown_flags),
		CASE(capacity_beyond_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
