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

/* ---- parameters ---- */

static struct gpuplan_parameter parameters[2];

/* The good dispatch with its number of words from a parameter "n", of four bytes. */
static struct gpuplan_plan_params
with_parameters(uint32_t n)
{
	struct gpuplan_plan_params params = dt_plan_params(1, &f.command, 1);

	parameters[0] = (struct gpuplan_parameter){ .name = "n", .bytes = 4, .initial = 10, .min = 0, .max = 1024 };
	parameters[1] = (struct gpuplan_parameter){ .name = "m", .bytes = 4, .initial = 1, .min = 1, .max = 2 };
	f.args[2] = gpuplan_arg_param(0);
	params.parameters = parameters;
	params.n_parameters = n;
	return params;
}

REFUSAL(parameters_that_fit_are_taken)
{
	struct gpuplan_plan_params params = with_parameters(2);

	BEGIN;
	f.command.u.dispatch.groups[0] = 0;
	f.command.u.dispatch.groups_param[0] = 2;
	dt_ok(create(&params, &error), &error);
}

REFUSAL(parameters_without_an_array)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	params.parameters = NULL;
	dt_refused(create(&params, &error), EINVAL, &error, "1 parameters", "no array");
}

REFUSAL(parameter_without_a_name)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].name = NULL;
	dt_refused(create(&params, &error), EINVAL, &error, "parameter 0", "no name");
	parameters[0].name = "";
	dt_refused(create(&params, &error), EINVAL, &error, "parameter 0", "no name");
}

REFUSAL(parameters_of_one_name)
{
	struct gpuplan_plan_params params = with_parameters(2);

	BEGIN;
	parameters[1].name = "n";
	dt_refused(create(&params, &error), EINVAL, &error, "parameters 0 and 1", "\"n\"");
}

REFUSAL(parameter_of_no_bytes)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].bytes = 0;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "0 bytes", "1 to 8");
}

REFUSAL(parameter_of_too_many_bytes)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].bytes = 9;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "9 bytes", "1 to 8");
}

REFUSAL(parameter_with_reserved_member)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].reserved = 3;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "reserved member 3");
}

REFUSAL(parameter_with_min_above_max)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].min = 1025;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "1025", "1024");
}

REFUSAL(parameter_with_more_than_its_bytes_hold)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].max = 1ull << 32;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "4294967296", "4294967295");
}

REFUSAL(parameter_that_starts_out_of_range)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].initial = 1025;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "1025", "0 to 1024");
	parameters[0].min = parameters[0].initial = 2;
	parameters[0].initial = 1;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\"", "is 1 at first", "2 to 1024");
}

REFUSAL(parameter_that_nothing_uses)
{
	struct gpuplan_plan_params params = with_parameters(2);

	BEGIN;
	dt_refused(create(&params, &error), EINVAL, &error, "parameter 1 \"m\"", "none of the 1 commands");
}

REFUSAL(argument_names_no_parameter)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.args[2] = gpuplan_arg_param(1);
	dt_refused(create(&params, &error), EINVAL, &error, "argument 2", "parameter 1", "has 1");
	params.n_parameters = 0;
	dt_refused(create(&params, &error), EINVAL, &error, "argument 2", "parameter 1", "has 0");
}

REFUSAL(argument_and_parameter_of_different_sizes)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].bytes = 8;
	dt_refused(create(&params, &error), EINVAL, &error, "argument 2 \"n\"", "8 bytes", "is 4");
}

REFUSAL(argument_of_a_parameter_with_bytes_of_its_own)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.args[2].bytes = 4;
	dt_refused(create(&params, &error), EINVAL, &error, "argument 2", "\"n\"", "4 bytes");
}

REFUSAL(parameter_for_a_buffer)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.args[1] = gpuplan_arg_param(0);
	dt_refused(create(&params, &error), EINVAL, &error, "argument 1", "a value", "a buffer");
}

REFUSAL(fill_value_names_no_parameter)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.command = dt_fill(f.a, 0);
	f.command.u.fill.value_param = 2;
	dt_refused(create(&params, &error), EINVAL, &error, "fill value", "parameter 1", "has 1");
}

REFUSAL(fill_value_twice)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.command = dt_fill(f.a, 9);
	f.command.u.fill.value_param = 1;
	dt_refused(create(&params, &error), EINVAL, &error, "both 9", "\"n\"");
}

REFUSAL(fill_value_of_another_size)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	parameters[0].bytes = 2;
	f.command = dt_fill(f.a, 0);
	f.command.u.fill.value_param = 1;
	dt_refused(create(&params, &error), EINVAL, &error, "\"n\" has 2 bytes", "has 4");
}

/* The grid in x or y from "m", of which `most` are allowed. */
static int
create_grid(uint32_t axis, uint64_t most, struct gpuplan_error *error)
{
	struct gpuplan_plan_params params = with_parameters(2);

	parameters[1].bytes = 8;
	parameters[1].max = most;
	f.command.u.dispatch.groups[axis] = 0;
	f.command.u.dispatch.groups_param[axis] = 2;
	return create(&params, error);
}

REFUSAL(grid_of_a_parameter_at_the_limit_is_taken)
{
	BEGIN;
	dt_ok(create_grid(1, 65535, &error), &error);
	f.command.u.dispatch.groups[1] = 1;
	f.command.u.dispatch.groups_param[1] = 0;
	dt_ok(create_grid(0, (1u << 24) - 1, &error), &error);
}

REFUSAL(grid_of_a_parameter_over_limit)
{
	BEGIN;
	dt_refused(create_grid(1, 65536, &error), E2BIG, &error, "\"m\"", "65536", "65535");
}

REFUSAL(grid_of_a_parameter_over_32_bits_of_work_items)
{
	BEGIN;
	dt_refused(create_grid(0, 1u << 24, &error), E2BIG, &error, "\"m\"", "16777216", "2^32");
}

REFUSAL(grid_of_a_parameter_over_64_bits_of_work_items)
{
	BEGIN;
	dt_refused(create_grid(0, UINT64_MAX, &error), E2BIG, &error, "\"m\"", "18446744073709551615");
}

REFUSAL(grid_twice)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.command.u.dispatch.groups_param[0] = 1;
	dt_refused(create(&params, &error), EINVAL, &error, "grid in x", "both 1", "\"n\"");
}

REFUSAL(grid_names_no_parameter)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	f.command.u.dispatch.groups[2] = 0;
	f.command.u.dispatch.groups_param[2] = 7;
	dt_refused(create(&params, &error), EINVAL, &error, "grid in z", "parameter 6", "has 1");
}

REFUSAL(block_zero_beside_a_grid_of_a_parameter)
{
	struct gpuplan_plan_params params = with_parameters(2);

	BEGIN;
	f.command.u.dispatch.groups[0] = 0;
	f.command.u.dispatch.groups_param[0] = 2;
	f.command.u.dispatch.block[0] = 0;
	dt_refused(create(&params, &error), EINVAL, &error, "zero in x");
}

static struct gpuplan_packed_param packed_param[2];

static int
create_packed(uint32_t offset, uint32_t n, struct gpuplan_error *error)
{
	static const uint32_t packed[5];
	struct gpuplan_plan_params params = with_parameters(1);

	use_packed(packed, 20);
	packed_param[0] = packed_param[1] = (struct gpuplan_packed_param){ offset, 0 };
	f.command.u.dispatch.packed_params = packed_param;
	f.command.u.dispatch.n_packed_params = n;
	return create(&params, error);
}

REFUSAL(packed_parameter_that_fits_is_taken)
{
	BEGIN;
	dt_ok(create_packed(16, 1, &error), &error);
}

REFUSAL(packed_parameters_without_an_array)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 20);
	f.command.u.dispatch.n_packed_params = 1;
	dt_refused(create_command(&error), EINVAL, &error, "1 packed parameters", "no array");
}

REFUSAL(packed_parameter_that_does_not_exist)
{
	static const uint32_t packed[5];

	BEGIN;
	use_packed(packed, 20);
	packed_param[0] = (struct gpuplan_packed_param){ 16, 3 };
	f.command.u.dispatch.packed_params = packed_param;
	f.command.u.dispatch.n_packed_params = 1;
	dt_refused(create_command(&error), EINVAL, &error, "packed parameter 0", "parameter 3", "has 0");
}

REFUSAL(packed_parameter_outside)
{
	BEGIN;
	dt_refused(create_packed(17, 1, &error), EINVAL, &error, "packed parameter 0", "4 bytes", "17", "20");
	dt_refused(create_packed(UINT32_MAX, 1, &error), EINVAL, &error, "packed parameter 0", "4294967295", "20");
}

REFUSAL(packed_parameter_where_no_value_is)
{
	BEGIN;
	dt_refused(create_packed(8, 1, &error), EINVAL, &error, "packed parameter 0", "byte 8", "takes no value");
}

REFUSAL(packed_parameters_on_top_of_each_other)
{
	BEGIN;
	dt_refused(create_packed(16, 2, &error), EINVAL, &error, "packed parameters 0 at byte 16 and 1 at byte 16");
}

REFUSAL(packed_parameters_beside_arguments)
{
	struct gpuplan_plan_params params = with_parameters(1);

	BEGIN;
	packed_param[0] = (struct gpuplan_packed_param){ 16, 0 };
	f.command.u.dispatch.packed_params = packed_param;
	f.command.u.dispatch.n_packed_params = 1;
	dt_refused(create(&params, &error), EINVAL, &error, "3 arguments", "1 packed parameters");
}

REFUSAL(packed_parameters_without_packed_bytes)
{
	BEGIN;
	use_packed(NULL, 0);
	packed_param[0] = (struct gpuplan_packed_param){ 16, 0 };
	f.command.u.dispatch.packed_params = packed_param;
	f.command.u.dispatch.n_packed_params = 1;
	dt_refused(create_command(&error), EINVAL, &error, "0 packed", "takes 20");
}

/* ---- indirect grids ---- */

static struct gpuplan_region counts;

static int
create_indirect(struct gpuplan_region from, struct gpuplan_error *error)
{
	counts = from;
	f.command.u.dispatch.groups_from = &counts;
	return create_command(error);
}

REFUSAL(indirect_grids_that_fit_are_taken)
{
	BEGIN;
	dt_ok(create_indirect(gpuplan_slice(f.a, 4092 - 8, 12), &error), &error);
	dt_ok(create_indirect(gpuplan_slice(f.host, 0, 12), &error), &error);
	dt_ok(create_indirect(gpuplan_slice(f.weight, 8, 12), &error), &error);
}

REFUSAL(indirect_grid_of_another_size)
{
	BEGIN;
	dt_refused(create_indirect(gpuplan_slice(f.a, 0, 16), &error), EINVAL, &error, "indirect grid", "16 bytes", "12");
	dt_refused(create_indirect(gpuplan_slice(f.a, 0, 8), &error), EINVAL, &error, "indirect grid", "8 bytes", "12");
}

REFUSAL(indirect_grid_not_aligned)
{
	BEGIN;
	dt_refused(create_indirect(gpuplan_slice(f.a, 2, 12), &error), EINVAL, &error, "indirect grid", "offset 2", "of 4");
}

REFUSAL(indirect_grid_of_another_definition)
{
	BEGIN;
	dt_refused(create_indirect(gpuplan_slice(f.foreign, 0, 12), &error), EINVAL, &error, "indirect grid", "session");
}

REFUSAL(indirect_grid_past_its_allocation)
{
	BEGIN;
	dt_refused(create_indirect(gpuplan_slice(f.a, 4088, 12), &error), EINVAL, &error, "indirect grid", "4088", "4096");
}

REFUSAL(indirect_grid_without_a_bound)
{
	BEGIN;
	f.command.u.dispatch.groups[0] = 0;
	dt_refused(create_indirect(gpuplan_slice(f.a, 0, 12), &error), EINVAL, &error, "grid is zero in x");
}

REFUSAL(indirect_grid_with_a_bound_over_limit)
{
	BEGIN;
	f.command.u.dispatch.groups[2] = 65536;
	dt_refused(create_indirect(gpuplan_slice(f.a, 0, 12), &error), E2BIG, &error, "65536", "65535");
}

REFUSAL(indirect_grid_beside_a_parameter)
{
	struct gpuplan_plan_params params = with_parameters(2);

	BEGIN;
	f.command.u.dispatch.groups[1] = 0;
	f.command.u.dispatch.groups_param[1] = 2;
	counts = gpuplan_slice(f.a, 0, 12);
	f.command.u.dispatch.groups_from = &counts;
	dt_refused(create(&params, &error), EINVAL, &error, "indirect grid", "\"a\"", "\"m\"", "in y");
}

/* A kernel of the test objects; skips where there is none for the device. */
static struct gpuplan_definition *
open_test_kernel(const char *gfx1100, const char *gfx1030, struct gpuplan_region *region, struct gpuplan_kernel *kernel)
{
	struct gpuplan_session *session = dt_session(f.context);
	struct gpuplan_context_info info;
	struct gpuplan_error error;
	const char *object;
	uint32_t code;
	size_t bytes;
	void *elf;

	gpuplan_context_get_info(f.context, &info);
	object = !strcmp(info.target, "gfx1100") ? gfx1100 : !strcmp(info.target, "gfx1030") ? gfx1030 : NULL;
	if (!object) {
		gpuplan_session_destroy(session);
		skip();
	}
	elf = dt_test_object(object, &bytes);
	dt_ok(gpuplan_session_load(session, elf, bytes, object, &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, "hidden", kernel, &error), &error);
	free(elf);
	*region = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "a");
	return dt_freeze(session);
}

static void
refuse_counts(const char *gfx1100, const char *gfx1030, const char *wants)
{
	struct gpuplan_region a, from;
	struct gpuplan_kernel kernel;
	struct gpuplan_definition *definition = open_test_kernel(gfx1100, gfx1030, &a, &kernel);
	struct gpuplan_binding binding = { .region = a, .access = GPUPLAN_WRITE };
	struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_u32(1024) };
	struct gpuplan_command command = { .kind = GPUPLAN_DISPATCH };
	struct gpuplan_plan_params params = dt_plan_params(1, &command, 1);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	from = gpuplan_slice(a, 0, 12);
	command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = kernel,
		.groups = { 1, 1, 1 },
		.block = { 64, 1, 1 },
		.n_bindings = 1,
		.bindings = &binding,
		.n_args = 2,
		.args = args,
	};
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	gpuplan_plan_destroy(plan);
	command.u.dispatch.groups_from = &from;
	dt_refused(gpuplan_plan_create(definition, &params, &plan, &error), ENOTSUP, &error, "indirect grid", "\"hidden\"",
		   wants);
	gpuplan_definition_destroy(definition);
}

REFUSAL(indirect_grid_for_a_kernel_that_reads_block_counts)
{
	(void)state;
	refuse_counts("args.v5.co", "args.gfx1030.co", "block counts");
}

REFUSAL(indirect_grid_for_a_kernel_that_reads_its_packet)
{
	(void)state;
	refuse_counts("args.v4.co", NULL, "dispatch packet");
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
		CASE(parameters_that_fit_are_taken),
		CASE(parameters_without_an_array),
		CASE(parameter_without_a_name),
		CASE(parameters_of_one_name),
		CASE(parameter_of_no_bytes),
		CASE(parameter_of_too_many_bytes),
		CASE(parameter_with_reserved_member),
		CASE(parameter_with_min_above_max),
		CASE(parameter_with_more_than_its_bytes_hold),
		CASE(parameter_that_starts_out_of_range),
		CASE(parameter_that_nothing_uses),
		CASE(argument_names_no_parameter),
		CASE(argument_and_parameter_of_different_sizes),
		CASE(argument_of_a_parameter_with_bytes_of_its_own),
		CASE(parameter_for_a_buffer),
		CASE(fill_value_names_no_parameter),
		CASE(fill_value_twice),
		CASE(fill_value_of_another_size),
		CASE(grid_of_a_parameter_at_the_limit_is_taken),
		CASE(grid_of_a_parameter_over_limit),
		CASE(grid_of_a_parameter_over_32_bits_of_work_items),
		CASE(grid_of_a_parameter_over_64_bits_of_work_items),
		CASE(grid_twice),
		CASE(grid_names_no_parameter),
		CASE(block_zero_beside_a_grid_of_a_parameter),
		CASE(packed_parameter_that_fits_is_taken),
		CASE(packed_parameters_without_an_array),
		CASE(packed_parameter_that_does_not_exist),
		CASE(packed_parameter_outside),
		CASE(packed_parameter_where_no_value_is),
		CASE(packed_parameters_on_top_of_each_other),
		CASE(packed_parameters_beside_arguments),
		CASE(packed_parameters_without_packed_bytes),
		CASE(indirect_grids_that_fit_are_taken),
		CASE(indirect_grid_of_another_size),
		CASE(indirect_grid_not_aligned),
		CASE(indirect_grid_of_another_definition),
		CASE(indirect_grid_past_its_allocation),
		CASE(indirect_grid_without_a_bound),
		CASE(indirect_grid_with_a_bound_over_limit),
		CASE(indirect_grid_beside_a_parameter),
		CASE(indirect_grid_for_a_kernel_that_reads_block_counts),
		CASE(indirect_grid_for_a_kernel_that_reads_its_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
