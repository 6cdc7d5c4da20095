/* SPDX-License-Identifier: MIT */
/* Promise: a command list that was checked once can be recorded into larger plans, the output of one being the input
 * of the next with nothing copied; the result is the plan one would have written by hand, to the byte; a refused
 * recording appends nothing. */
#include "device/device_test.h"

#define WORDS 1024u
#define BYTES (WORDS * 4)
#define FILLER 7u

struct fixture {
	struct gpuplan_context *context;
	struct gpuplan_session *foreign_session;
	struct gpuplan_definition *definition, *other;
	struct gpuplan_region x, y, t1, t2, big, inner, weight, foreign;
	struct gpuplan_kernel copy;
	struct gpuplan_fragment *shift;	  /* y[i] = x[i + 1], the last FILLER */
	struct gpuplan_recording *recording;
};

static struct fixture f;

/* The commands of `shift`, between any two regions of BYTES. */
struct shift {
	struct gpuplan_binding bindings[2];
	struct gpuplan_arg args[3];
	struct gpuplan_command commands[2];
};

static void
shift_commands(struct shift *s, struct gpuplan_region from, struct gpuplan_region to, const char *label)
{
	*s = (struct shift){
		.bindings = {
			{ .region = gpuplan_slice(from, 4, BYTES - 4), .access = GPUPLAN_READ },
			{ .region = gpuplan_slice(to, 0, BYTES - 4), .access = GPUPLAN_WRITE },
		},
		.args = { gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_u32(WORDS - 1) },
		.commands = {
			{ .kind = GPUPLAN_DISPATCH, .label = label },
			dt_fill(gpuplan_slice(to, BYTES - 4, 4), FILLER),
		},
	};
	s->commands[0].u.dispatch = (struct gpuplan_dispatch){
		.kernel = f.copy,
		.groups = { 1, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 2,
		.bindings = s->bindings,
		.n_args = 3,
		.args = s->args,
	};
	s->commands[1].label = label;
}

static struct gpuplan_io
io_of(struct gpuplan_region region, const char *name)
{
	return (struct gpuplan_io){ .region = region, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS }, .name = name };
}

static struct gpuplan_fragment *
make_fragment(const struct gpuplan_command *commands, uint32_t n, struct gpuplan_region in, struct gpuplan_region out)
{
	struct gpuplan_io ios[2] = { io_of(in, "x"), io_of(out, "y") };
	struct gpuplan_fragment_params params = {
		.size = sizeof(params),
		.commands = commands,
		.n_commands = n,
		.inputs = &ios[0],
		.n_inputs = 1,
		.outputs = &ios[1],
		.n_outputs = 1,
		.name = "shift",
	};
	struct gpuplan_fragment *fragment;
	struct gpuplan_error error;

	dt_ok(gpuplan_fragment_create(f.definition, &params, &fragment, &error), &error);
	return fragment;
}

static struct gpuplan_fragment *
make_shift(void)
{
	char label[] = "shift";
	struct gpuplan_fragment *fragment;
	struct shift s;

	shift_commands(&s, f.x, f.y, label);
	fragment = make_fragment(s.commands, 2, f.x, f.y);
	/* The fragment keeps nothing of the caller's. */
	memset(&s, 0x5a, sizeof(s));
	memset(label, 0x5a, sizeof(label) - 1);
	return fragment;
}

static int
setup(void **state)
{
	struct gpuplan_session *session;
	struct gpuplan_error error;

	(void)state;
	f.context = dt_context();
	session = dt_session(f.context);
	f.x = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, BYTES, "x");
	f.y = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, BYTES, "y");
	f.t1 = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "t1");
	f.t2 = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "t2");
	f.big = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4 * BYTES, "big");
	f.inner = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "inner");
	f.weight = dt_weight(session, BYTES, "weight");
	f.copy = dt_kernel(f.context, session, "copy", "copy");
	f.definition = dt_freeze(session);
	session = dt_session(f.context);
	dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "other's");
	f.other = dt_freeze(session);
	f.foreign_session = dt_session(f.context);
	f.foreign = dt_alloc(f.foreign_session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "foreign");
	f.shift = make_shift();
	dt_ok(gpuplan_recording_create(f.definition, &f.recording, &error), &error);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	gpuplan_recording_destroy(f.recording);
	gpuplan_fragment_destroy(f.shift);
	gpuplan_definition_destroy(f.definition);
	gpuplan_definition_destroy(f.other);
	gpuplan_session_destroy(f.foreign_session);
	dt_check_ledger_zero(f.context);
	gpuplan_context_destroy(f.context);
	return 0;
}

static int
append_bound(const struct gpuplan_fragment *fragment, const struct gpuplan_bind *binds, uint32_t n,
	     struct gpuplan_error *error)
{
	struct gpuplan_append_params params = { .size = sizeof(params), .binds = binds, .n_binds = n, .prefix = "a." };

	return gpuplan_recording_append(f.recording, fragment, &params, error);
}

static int
append_shift(struct gpuplan_region from, struct gpuplan_region to, struct gpuplan_error *error)
{
	struct gpuplan_bind binds[2] = { { .output = 0, .region = from }, { .output = 1, .region = to } };

	return append_bound(f.shift, binds, 2, error);
}

static struct gpuplan_plan *
make_plan(const struct gpuplan_command *commands, uint32_t n)
{
	struct gpuplan_io ios[2] = { io_of(f.x, "x"), io_of(f.y, "y") };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, n);
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	params.inputs = &ios[0];
	params.n_inputs = 1;
	params.outputs = &ios[1];
	params.n_outputs = 1;
	params.name = "chain";
	dt_ok(gpuplan_plan_create(f.definition, &params, &plan, &error), &error);
	return plan;
}

static void
check_shifted(struct gpuplan_plan *plan, uint32_t by)
{
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_completion completion;
	struct gpuplan_queue *queue;
	struct gpuplan_slot *slot;
	struct gpuplan_error error;
	const uint32_t *out;
	uint32_t *in;

	dt_ok(gpuplan_queue_create(f.context, &queue_params, &queue, &error), &error);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	in = gpuplan_slot_input(slot, 0, NULL);
	out = gpuplan_slot_output(slot, 0, NULL);
	for (uint32_t i = 0; i < WORDS; i++)
		in[i] = 1000 + i;
	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &completion), 0);
	assert_int_equal(completion.status, GPUPLAN_DONE);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(out[i], i + by < WORDS ? 1000 + i + by : FILLER);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
}

static void
chain(void)
{
	struct gpuplan_error error;

	dt_ok(append_shift(f.x, f.t1, &error), &error);
	dt_ok(append_shift(f.t1, f.t2, &error), &error);
	dt_ok(append_shift(f.t2, f.y, &error), &error);
}

#define TEST(name) static void name(void **state)

TEST(outputs_become_inputs_without_a_copy)
{
	const struct gpuplan_command *commands;
	struct gpuplan_plan_info info;
	struct gpuplan_plan *plan;
	uint32_t n;

	(void)state;
	chain();
	commands = gpuplan_recording_commands(f.recording, &n);
	assert_int_equal(n, 6);
	plan = make_plan(commands, n);
	gpuplan_plan_get_info(plan, &info);
	assert_int_equal(info.n_commands, 6); /* x and y are mapped: no staging copies either */
	assert_int_equal(info.n_dispatches, 3);
	assert_int_equal(info.n_barriers, 2);
	check_shifted(plan, 3);
	gpuplan_plan_destroy(plan);
}

TEST(a_recording_is_the_list_one_would_write)
{
	const struct gpuplan_command *recorded;
	struct gpuplan_command commands[6];
	struct gpuplan_plan *plans[2];
	struct shift by_hand[3];
	const void *images[2];
	size_t bytes[2];
	uint32_t n;

	(void)state;
	shift_commands(&by_hand[0], f.x, f.t1, "a.shift");
	shift_commands(&by_hand[1], f.t1, f.t2, "a.shift");
	shift_commands(&by_hand[2], f.t2, f.y, "a.shift");
	for (uint32_t i = 0; i < 6; i++)
		commands[i] = by_hand[i / 2].commands[i % 2];
	chain();
	recorded = gpuplan_recording_commands(f.recording, &n);
	plans[0] = make_plan(commands, 6);
	plans[1] = make_plan(recorded, n);
	for (int i = 0; i < 2; i++)
		images[i] = gpuplan_plan_image(plans[i], &bytes[i]);
	assert_int_equal(bytes[0], bytes[1]);
	assert_memory_equal(images[0], images[1], bytes[0]);
	for (int i = 0; i < 2; i++)
		gpuplan_plan_destroy(plans[i]);
}

TEST(a_recording_can_become_a_fragment)
{
	struct gpuplan_recording *inner = f.recording;
	const struct gpuplan_command *commands;
	struct gpuplan_fragment *three;
	struct gpuplan_bind binds[2];
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	uint32_t n;

	(void)state;
	chain();
	commands = gpuplan_recording_commands(inner, &n);
	three = make_fragment(commands, n, f.x, f.y);
	gpuplan_recording_destroy(inner);
	dt_ok(gpuplan_recording_create(f.definition, &f.recording, &error), &error);
	binds[0] = (struct gpuplan_bind){ .output = 1, .region = gpuplan_slice(f.big, BYTES, BYTES) };
	dt_ok(append_bound(three, &binds[0], 1, &error), &error);
	binds[0] = (struct gpuplan_bind){ .output = 0, .region = gpuplan_slice(f.big, BYTES, BYTES) };
	dt_ok(append_bound(three, &binds[0], 1, &error), &error);
	gpuplan_fragment_destroy(three);
	commands = gpuplan_recording_commands(f.recording, &n);
	assert_int_equal(n, 12);
	plan = make_plan(commands, n);
	check_shifted(plan, 6);
	gpuplan_plan_destroy(plan);
}

TEST(commands_between_fragments)
{
	const struct gpuplan_command *commands;
	struct gpuplan_command copy;
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	uint32_t n;

	(void)state;
	copy = dt_copy(f.t2, f.t1);
	dt_ok(append_shift(f.x, f.t1, &error), &error);
	dt_ok(gpuplan_recording_add(f.recording, &copy, 1, &error), &error);
	dt_ok(append_shift(f.t2, f.y, &error), &error);
	commands = gpuplan_recording_commands(f.recording, &n);
	plan = make_plan(commands, n);
	check_shifted(plan, 2);
	gpuplan_plan_destroy(plan);
}

/* ---- refusals: each leaves the recording as it was ---- */

static void
expect_nothing_appended(void)
{
	uint32_t n;

	gpuplan_recording_commands(f.recording, &n);
	assert_int_equal(n, 2);
	dt_check_ledger(f.context);
}

#define REFUSAL(name, errno_, call, ...)                                                                              \
	TEST(name)                                                                                                    \
	{                                                                                                             \
		struct gpuplan_error error;                                                                           \
		(void)state;                                                                                          \
		dt_ok(append_shift(f.x, f.t1, &error), &error);                                                       \
		dt_refused(call, errno_, &error, __VA_ARGS__);                                                        \
		expect_nothing_appended();                                                                            \
	}

REFUSAL(undersized_binding, EINVAL, append_shift(gpuplan_slice(f.t1, 0, BYTES - 4), f.t2, &error), "input 0 \"x\"", "4096",
	"4092")
REFUSAL(foreign_region, EINVAL, append_shift(f.foreign, f.t2, &error), "input 0", "session")
REFUSAL(region_past_its_allocation, EINVAL, append_shift(f.t1, gpuplan_slice(f.t2, 4, BYTES), &error), "output 0", "t2",
	"4096")
REFUSAL(output_bound_to_a_weight, EPERM, append_shift(f.t1, f.weight, &error), "weight", "immutable")
REFUSAL(input_and_output_made_one, EINVAL, append_shift(f.t1, f.t1, &error), "command 0 (", "share bytes", "t1",
	"did not before")
REFUSAL(input_and_output_made_to_overlap, EINVAL,
	append_shift(gpuplan_slice(f.big, 0, BYTES), gpuplan_slice(f.big, BYTES - 8, BYTES), &error), "share bytes", "big")
/* One port bound onto another that stays. */
REFUSAL(output_bound_onto_the_unbound_input, EINVAL,
	append_bound(f.shift, &(struct gpuplan_bind){ .output = 1, .region = f.x }, 1, &error), "share bytes", "\"x\"")
REFUSAL(no_such_input, ENOENT, append_bound(f.shift, &(struct gpuplan_bind){ .port = 1, .region = f.t1 }, 1, &error),
	"1 inputs", "number 1")
REFUSAL(bound_twice, EINVAL,
	append_bound(f.shift, (struct gpuplan_bind[]){ { .region = f.t1 }, { .region = f.t2 } }, 2, &error), "input 0",
	"twice")
REFUSAL(neither_input_nor_output, EINVAL,
	append_bound(f.shift, &(struct gpuplan_bind){ .output = 2, .region = f.t1 }, 1, &error), "output 2")
REFUSAL(binds_missing, EINVAL, append_bound(f.shift, NULL, 3, &error), "3 binds")

TEST(adjacent_is_not_aliasing)
{
	struct gpuplan_error error;

	(void)state;
	dt_ok(append_shift(gpuplan_slice(f.big, 0, BYTES), gpuplan_slice(f.big, BYTES, BYTES), &error), &error);
	/* The input's first word is never read: an output that ends on it shares nothing with a command. */
	dt_ok(append_shift(gpuplan_slice(f.big, BYTES - 4, BYTES), gpuplan_slice(f.big, 2 * BYTES - 4, BYTES), &error), &error);
}

TEST(a_weight_may_be_an_input)
{
	struct gpuplan_error error;

	(void)state;
	dt_ok(append_shift(f.weight, f.t1, &error), &error);
}

TEST(fragment_of_another_definition)
{
	struct gpuplan_recording *recording;
	struct gpuplan_error error;
	uint32_t n;

	(void)state;
	dt_ok(gpuplan_recording_create(f.other, &recording, &error), &error);
	dt_refused(gpuplan_recording_append(recording, f.shift, NULL, &error), EXDEV, &error, "\"shift\"", "session");
	gpuplan_recording_commands(recording, &n);
	assert_int_equal(n, 0);
	gpuplan_recording_destroy(recording);
}

TEST(binding_onto_private_memory)
{
	struct gpuplan_command commands[2] = { dt_copy(f.inner, f.x), dt_copy(f.y, f.inner) };
	struct gpuplan_fragment *through = make_fragment(commands, 2, f.x, f.y);
	struct gpuplan_error error;

	(void)state;
	/* x read, inner written: now the same bytes */
	dt_refused(append_bound(through, &(struct gpuplan_bind){ .region = f.inner }, 1, &error), EINVAL, &error,
		   "share bytes", "inner");
	dt_refused(append_bound(through, &(struct gpuplan_bind){ .output = 1, .region = f.inner }, 1, &error), EINVAL,
		   &error, "share bytes", "inner");
	gpuplan_fragment_destroy(through);
}

TEST(port_with_a_command_over_its_edge)
{
	struct gpuplan_region half = gpuplan_slice(f.big, 0, BYTES);
	struct gpuplan_command commands[2] = { dt_fill(gpuplan_slice(f.big, 0, 2 * BYTES), 1), dt_copy(f.y, half) };
	struct gpuplan_fragment *torn = make_fragment(commands, 2, half, f.y);
	struct gpuplan_error error;

	(void)state;
	dt_refused(append_bound(torn, &(struct gpuplan_bind){ .region = f.t1 }, 1, &error), EINVAL, &error, "input 0",
		   "command 0", "edge", "8192");
	/* Left where it is, it records. */
	dt_ok(append_bound(torn, &(struct gpuplan_bind){ .output = 1, .region = f.t1 }, 1, &error), &error);
	gpuplan_fragment_destroy(torn);
}

TEST(in_place_ports_move_together)
{
	struct gpuplan_command commands[1] = { dt_fill(gpuplan_slice(f.t1, 0, 4), 1) };
	struct gpuplan_fragment *in_place = make_fragment(commands, 1, f.t1, f.t1);
	struct gpuplan_bind both[2] = { { .output = 0, .region = f.t2 }, { .output = 1, .region = f.t2 } };
	const struct gpuplan_command *recorded;
	struct gpuplan_error error;
	uint32_t n;

	(void)state;
	dt_refused(append_bound(in_place, both, 1, &error), EINVAL, &error, "input 0", "output 0", "shares bytes", "t2",
		   "t1");
	both[1].region = f.y;
	dt_refused(append_bound(in_place, both, 2, &error), EINVAL, &error, "input 0", "output 0", "\"y\"");
	both[1].region = f.t2;
	dt_ok(append_bound(in_place, both, 2, &error), &error);
	recorded = gpuplan_recording_commands(f.recording, &n);
	assert_int_equal(n, 1);
	assert_int_equal(recorded[0].u.fill.dst.allocation, f.t2.allocation);
	gpuplan_fragment_destroy(in_place);
}

/* ---- parameters ---- */

static struct gpuplan_fragment *
make_filler(const struct gpuplan_parameter *parameter)
{
	struct gpuplan_command command = dt_fill(f.y, 0);
	struct gpuplan_io out = io_of(f.y, "y");
	struct gpuplan_fragment_params params = {
		.size = sizeof(params),
		.commands = &command,
		.n_commands = 1,
		.outputs = &out,
		.n_outputs = 1,
		.parameters = parameter,
		.n_parameters = 1,
		.name = "filler",
	};
	struct gpuplan_fragment *fragment;
	struct gpuplan_error error;

	command.u.fill.value_param = 1;
	dt_ok(gpuplan_fragment_create(f.definition, &params, &fragment, &error), &error);
	return fragment;
}

static void
append_filler(const struct gpuplan_fragment *filler, struct gpuplan_region to, const char *prefix)
{
	struct gpuplan_bind bind = { .output = 1, .region = to };
	struct gpuplan_append_params params = { .size = sizeof(params), .binds = &bind, .n_binds = 1, .prefix = prefix };
	struct gpuplan_error error;

	if (prefix)
		params.flags = GPUPLAN_APPEND_OWN_PARAMETERS;
	dt_ok(gpuplan_recording_append(f.recording, filler, &params, &error), &error);
}

/* Fillers in x and y, and what a run with the given values of parameters 0 and 1 leaves there. */
static void
check_filled(const uint32_t values[2], uint32_t n)
{
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_io outs[2] = { io_of(f.x, "x"), io_of(f.y, "y") };
	struct gpuplan_plan_params params = dt_plan_params(1, NULL, 0);
	struct gpuplan_value set[2] = { gpuplan_value_u32(0, values[0]), gpuplan_value_u32(1, values[1]) };
	struct gpuplan_completion completion;
	struct gpuplan_queue *queue;
	struct gpuplan_slot *slot;
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	params.commands = gpuplan_recording_commands(f.recording, &params.n_commands);
	params.parameters = gpuplan_recording_parameters(f.recording, &params.n_parameters);
	assert_int_equal(params.n_parameters, n);
	params.outputs = outs;
	params.n_outputs = 2;
	dt_ok(gpuplan_plan_create(f.definition, &params, &plan, &error), &error);
	dt_ok(gpuplan_queue_create(f.context, &queue_params, &queue, &error), &error);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	dt_ok(gpuplan_slot_set(slot, set, n, &error), &error);
	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &completion), 0);
	assert_int_equal(completion.status, GPUPLAN_DONE);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(*(const uint32_t *)gpuplan_slot_output(slot, i, NULL), values[i % n]);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
}

static const struct gpuplan_parameter fill_value = { "value", 4, 0, 5, 0, UINT32_MAX };

TEST(parameters_of_one_name_are_one)
{
	struct gpuplan_fragment *filler = make_filler(&fill_value);

	(void)state;
	append_filler(filler, f.x, NULL);
	append_filler(filler, f.y, NULL);
	check_filled((uint32_t[]){ 77, 0 }, 1);
	gpuplan_fragment_destroy(filler);
}

TEST(instances_may_have_parameters_of_their_own)
{
	struct gpuplan_fragment *filler = make_filler(&fill_value);
	const struct gpuplan_parameter *parameters;
	uint32_t n;

	(void)state;
	append_filler(filler, f.x, "first.");
	append_filler(filler, f.y, "second.");
	gpuplan_fragment_destroy(filler);
	parameters = gpuplan_recording_parameters(f.recording, &n);
	assert_int_equal(n, 2);
	assert_string_equal(parameters[0].name, "first.value");
	assert_string_equal(parameters[1].name, "second.value");
	check_filled((uint32_t[]){ 77, 78 }, 2);
}

TEST(parameters_of_one_name_must_agree)
{
	struct gpuplan_parameter narrow = fill_value;
	struct gpuplan_fragment *filler = make_filler(&fill_value), *other;
	struct gpuplan_append_params no_prefix = { .size = sizeof(no_prefix), .flags = GPUPLAN_APPEND_OWN_PARAMETERS };
	struct gpuplan_error error;
	uint32_t n;

	(void)state;
	narrow.max = 100;
	other = make_filler(&narrow);
	append_filler(filler, f.x, NULL);
	dt_refused(gpuplan_recording_append(f.recording, other, NULL, &error), EINVAL, &error, "\"value\"", "4294967295",
		   "100");
	dt_refused(gpuplan_recording_append(f.recording, other, &no_prefix, &error), EINVAL, &error, "prefix");
	gpuplan_recording_commands(f.recording, &n);
	assert_int_equal(n, 1);
	gpuplan_recording_parameters(f.recording, &n);
	assert_int_equal(n, 1);
	gpuplan_fragment_destroy(filler);
	gpuplan_fragment_destroy(other);
}

TEST(bad_lists_make_no_fragment)
{
	struct gpuplan_command command = dt_fill(gpuplan_slice(f.t1, 0, 6), 1);
	struct gpuplan_fragment_params params = { .size = sizeof(params), .commands = &command, .n_commands = 1 };
	struct gpuplan_fragment *fragment = (void *)1;
	struct gpuplan_error error;

	(void)state;
	dt_refused(gpuplan_fragment_create(f.definition, &params, &fragment, &error), EINVAL, &error, "command 0",
		   "multiples of 4");
	params.flags = 1;
	dt_refused(gpuplan_fragment_create(f.definition, &params, &fragment, &error), EINVAL, &error, "flags");
	dt_refused(gpuplan_fragment_create(f.definition, NULL, &fragment, &error), EINVAL, &error, "missing");
	assert_ptr_equal(fragment, (void *)1);
	dt_refused(gpuplan_recording_add(f.recording, &command, 1, &error), EINVAL, &error, "multiples of 4");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(outputs_become_inputs_without_a_copy),
		CASE(a_recording_is_the_list_one_would_write),
		CASE(a_recording_can_become_a_fragment),
		CASE(commands_between_fragments),
		CASE(undersized_binding),
		CASE(foreign_region),
		CASE(region_past_its_allocation),
		CASE(output_bound_to_a_weight),
		CASE(input_and_output_made_one),
		CASE(input_and_output_made_to_overlap),
		CASE(output_bound_onto_the_unbound_input),
		CASE(no_such_input),
		CASE(bound_twice),
		CASE(neither_input_nor_output),
		CASE(binds_missing),
		CASE(adjacent_is_not_aliasing),
		CASE(a_weight_may_be_an_input),
		CASE(fragment_of_another_definition),
		CASE(binding_onto_private_memory),
		CASE(port_with_a_command_over_its_edge),
		CASE(in_place_ports_move_together),
		CASE(parameters_of_one_name_are_one),
		CASE(instances_may_have_parameters_of_their_own),
		CASE(parameters_of_one_name_must_agree),
		CASE(bad_lists_make_no_fragment),
	};

	return cmocka_run_group_tests_name("fragments", tests, NULL, NULL);
}
