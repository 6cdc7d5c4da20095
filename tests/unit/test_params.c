/* SPDX-License-Identifier: MIT */
/* Promises of parameters that need no device: the image holds the initial values and names every place; setting writes
 * exactly those places of exactly that slot; a refused set writes nothing; acquire starts from the initial values. */
#include "device/device_test.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "image.h"
#include "plan.h"

#define TEST(name) static void name(void **state)

enum { COUNT, WORD, SCALE, ROWS, N_PARAMETERS };

static const struct gpuplan_parameter parameters[N_PARAMETERS] = {
	[COUNT] = { .name = "count", .bytes = 4, .initial = 1000, .min = 1, .max = 4096 },
	[WORD] = { .name = "word", .bytes = 4, .initial = 0xabcd, .max = UINT32_MAX },
	[SCALE] = { .name = "scale", .bytes = 4, .initial = 0x3f800000, .max = UINT32_MAX },
	[ROWS] = { .name = "rows", .bytes = 2, .initial = 3, .max = 65535 },
};

struct model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_region a, b, c;
	struct gpuplan_kernel plain, hidden, packet, raw;
};

static struct gpuplan_kernel
object_kernel(struct gpuplan_session *session, const char *object, const char *symbol)
{
	struct gpuplan_kernel kernel;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf = dt_test_object(object, &bytes);

	dt_ok(gpuplan_session_load(session, elf, bytes, object, &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, symbol, &kernel, &error), &error);
	free(elf);
	return kernel;
}

static void
open_model(struct model *m)
{
	struct gpuplan_session *session;

	m->context = dt_offline("gfx1100");
	session = dt_session(m->context);
	m->a = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 16384, "a");
	m->b = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 16384, "b");
	m->c = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1ull << 28, "c");
	m->plain = object_kernel(session, "args.v5.co", "plain");
	m->hidden = object_kernel(session, "args.v5.co", "hidden");
	m->packet = object_kernel(session, "args.v4.co", "hidden");
	m->raw = object_kernel(session, "hand.v5.co", "raw");
	m->definition = dt_freeze(session);
}

static void
close_model(struct model *m)
{
	gpuplan_definition_destroy(m->definition);
	dt_check_ledger_zero(m->context);
	gpuplan_context_destroy(m->context);
}

enum { FILL, PLAIN, HIDDEN, PACKET, N_COMMANDS };

static struct gpuplan_plan *
make_plan(const struct model *m, uint32_t capacity)
{
	static const uint32_t packed[9];
	struct gpuplan_packed_param at[] = { { 16, COUNT }, { 20, SCALE }, { 28, WORD } };
	struct gpuplan_binding plain[] = { { m->a, GPUPLAN_WRITE, 0 }, { m->b, GPUPLAN_READ, 8 } };
	struct gpuplan_binding one = { m->a, GPUPLAN_WRITE, 0 };
	struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_param(COUNT) };
	struct gpuplan_command commands[N_COMMANDS] = {
		[FILL] = { .kind = GPUPLAN_FILL, .label = "fill" },
		[PLAIN] = { .kind = GPUPLAN_DISPATCH, .label = "plain" },
		[HIDDEN] = { .kind = GPUPLAN_DISPATCH, .label = "hidden" },
		[PACKET] = { .kind = GPUPLAN_DISPATCH, .label = "packet" },
	};
	struct gpuplan_plan_params params = dt_plan_params(capacity, commands, N_COMMANDS);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	commands[FILL].u.fill.dst = m->c; /* more than one packet moves */
	commands[FILL].u.fill.value_param = WORD + 1;
	commands[PLAIN].u.dispatch = (struct gpuplan_dispatch){
		.kernel = m->plain,
		.groups = { 4, 1, 1 },
		.block = { 64, 1, 1 },
		.n_bindings = 2,
		.bindings = plain,
		.packed = packed,
		.packed_bytes = sizeof(packed),
		.n_packed_params = 3,
		.packed_params = at,
	};
	commands[HIDDEN].u.dispatch = (struct gpuplan_dispatch){
		.kernel = m->hidden,
		.groups = { 0, 0, 1 },
		.block = { 64, 2, 1 },
		.n_bindings = 1,
		.bindings = &one,
		.n_args = 2,
		.args = args,
		.groups_param = { COUNT + 1, ROWS + 1 },
	};
	commands[PACKET].u.dispatch = commands[HIDDEN].u.dispatch;
	commands[PACKET].u.dispatch.kernel = m->packet;
	params.parameters = parameters;
	params.n_parameters = N_PARAMETERS;
	dt_ok(gpuplan_plan_create(m->definition, &params, &plan, &error), &error);
	return plan;
}

/* ---- what the image says ---- */

static uint64_t
read_place(const struct gp_image *image, const uint8_t *stream, const uint8_t *kernarg, const struct plan_image_patch *p)
{
	uint64_t value = 0;

	(void)image;
	memcpy(&value, p->where == PLAN_IN_STREAM ? stream + p->place * 4 : kernarg + p->place, p->bytes);
	return value;
}

static uint64_t
low_bytes(uint64_t value, uint32_t bytes)
{
	return bytes == 8 ? value : value & ((1ull << 8 * bytes) - 1);
}

TEST(the_image_holds_initial_values_and_names_every_place)
{
	static const uint32_t places[N_PARAMETERS] = {
		/* packed argument, argument twice, grid in the stream twice, block count, packet's grid */
		[COUNT] = 1 + 2 + 2 + 1 + 1,
		[WORD] = 0, /* packets of the fill, then one argument: below */
		[SCALE] = 1,
		[ROWS] = 2 + 1 + 1,
	};
	struct gpuplan_plan *plan;
	const struct gp_image *image;
	uint32_t total = 0, fill_packets;
	struct model m;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 1);
	image = plan->image;
	assert_int_equal(gp_image_count(image, PLAN_SECTION_PARAMETERS), N_PARAMETERS);
	fill_packets = image->commands[FILL].stream_dwords / 7; /* DMA_DATA */
	assert_true(fill_packets > 1);
	for (uint32_t i = 0; i < N_PARAMETERS; i++) {
		const struct plan_image_parameter *p = &image->parameters[i];

		assert_string_equal(image->strings + p->name, parameters[i].name);
		assert_int_equal(p->first_patch, total);
		assert_int_equal(p->n_patches, i == WORD ? fill_packets + 1 : places[i]);
		for (uint32_t k = 0; k < p->n_patches; k++) {
			const struct plan_image_patch *x = &image->patches[p->first_patch + k];

			assert_int_equal(x->parameter, i);
			assert_int_equal(read_place(image, (const uint8_t *)image->stream, image->kernarg, x),
					 low_bytes(p->initial * x->multiplier, x->bytes));
		}
		total += p->n_patches;
	}
	assert_int_equal(gp_image_count(image, PLAN_SECTION_PATCHES), total);
	gpuplan_plan_destroy(plan);
	close_model(&m);
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

TEST(parameters_are_found_by_name)
{
	struct gpuplan_parameter info;
	struct gpuplan_plan_info plan_info;
	struct gpuplan_plan *plan;
	struct model m;
	uint32_t i;

	(void)state;
	open_model(&m);
	plan = make_plan(&m, 1);
	gpuplan_plan_get_info(plan, &plan_info);
	assert_int_equal(plan_info.n_parameters, N_PARAMETERS);
	assert_int_equal(gpuplan_plan_parameter(plan, "scale", &i), 0);
	assert_int_equal(i, SCALE);
	assert_int_equal(gpuplan_plan_get_parameter(plan, COUNT, &info), 0);
	assert_string_equal(info.name, "count");
	assert_int_equal(info.bytes, 4);
	assert_int_equal(info.initial, 1000);
	assert_int_equal(info.min, 1);
	assert_int_equal(info.max, 4096);
	assert_int_equal(gpuplan_plan_parameter(plan, "Scale", &i), -ENOENT);
	assert_int_equal(gpuplan_plan_parameter(plan, NULL, &i), -EINVAL);
	assert_int_equal(gpuplan_plan_get_parameter(plan, N_PARAMETERS, &info), -EINVAL);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

/* ---- what setting writes ---- */

struct host {
	uint8_t *bytes;
	size_t n;
};

static struct host
snapshot(const struct gpuplan_slot *slot)
{
	struct host h = { malloc(slot->host->bytes), slot->host->bytes };

	assert_non_null(h.bytes);
	memcpy(h.bytes, slot->host->cpu, h.n);
	return h;
}

static void
assert_host(const struct gpuplan_slot *slot, const struct host *wanted)
{
	assert_memory_equal(slot->host->cpu, wanted->bytes, wanted->n);
}

/* The same places in a copy, as the image has them. */
static void
patch_copy(struct host *h, const struct gp_image *image, uint32_t parameter, uint64_t value)
{
	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_PATCHES); i++) {
		const struct plan_image_patch *p = &image->patches[i];
		uint64_t product = value * p->multiplier;

		if (p->parameter == parameter)
			memcpy(h->bytes + (p->where == PLAN_IN_STREAM ? image->header->stream_offset + p->place * 4
								      : image->header->kernarg_offset + p->place),
			       &product, p->bytes);
	}
}

struct two {
	struct model m;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot, *other;
};

static void
open_two(struct two *t)
{
	open_model(&t->m);
	t->plan = make_plan(&t->m, 2);
	assert_int_equal(gpuplan_plan_acquire(t->plan, &t->slot), 0);
	assert_int_equal(gpuplan_plan_acquire(t->plan, &t->other), 0);
}

static void
close_two(struct two *t)
{
	gpuplan_slot_release(t->slot);
	gpuplan_slot_release(t->other);
	gpuplan_plan_destroy(t->plan);
	close_model(&t->m);
}

TEST(setting_writes_those_places_of_that_slot_and_nothing_else)
{
	const struct gpuplan_value values[] = {
		gpuplan_value_u32(COUNT, 77),
		gpuplan_value_f32(SCALE, 2.5f),
		{ ROWS, 2, 65535 },
		gpuplan_value_u32(COUNT, 78), /* the later one counts */
	};
	struct gpuplan_error error;
	struct host wanted, other;
	struct two t;

	(void)state;
	open_two(&t);
	wanted = snapshot(t.slot);
	other = snapshot(t.other);
	dt_ok(gpuplan_slot_set(t.slot, values, 4, &error), &error);
	patch_copy(&wanted, t.plan->image, COUNT, 78);
	patch_copy(&wanted, t.plan->image, SCALE, 0x40200000);
	patch_copy(&wanted, t.plan->image, ROWS, 65535);
	assert_host(t.slot, &wanted);
	assert_host(t.other, &other);
	dt_ok(gpuplan_slot_set(t.slot, NULL, 0, &error), &error);
	assert_host(t.slot, &wanted);
	free(wanted.bytes);
	free(other.bytes);
	close_two(&t);
}

/* The grid of a dispatch packet and the counts behind the arguments follow the parameter. */
TEST(hidden_counts_and_the_packets_grid_follow)
{
	const struct gpuplan_value values[] = { gpuplan_value_u32(COUNT, 7), { ROWS, 2, 9 } };
	const struct plan_image_command *hidden, *packet;
	const uint8_t *kernarg;
	struct gpuplan_error error;
	uint32_t counts[3], grid[3];
	uint16_t dims;
	struct two t;

	(void)state;
	open_two(&t);
	dt_ok(gpuplan_slot_set(t.slot, values, 2, &error), &error);
	hidden = &t.plan->image->commands[HIDDEN];
	packet = &t.plan->image->commands[PACKET];
	kernarg = (const uint8_t *)t.slot->host->cpu + t.plan->image->header->kernarg_offset;
	memcpy(counts, kernarg + hidden->kernarg + 16, sizeof(counts)); /* behind an address and a number, 8-byte aligned */
	assert_int_equal(counts[0], 7);
	assert_int_equal(counts[1], 9);
	assert_int_equal(counts[2], 1);
	memcpy(&dims, kernarg + hidden->kernarg + 16 + 64, sizeof(dims));
	assert_int_equal(dims, 2);
	/* the packet is 64-byte aligned behind the segment; its grid is in work-items */
	memcpy(grid, kernarg + packet->kernarg + (packet->kernarg_bytes + 63) / 64 * 64 + 12, sizeof(grid));
	assert_int_equal(grid[0], 7 * 64);
	assert_int_equal(grid[1], 9 * 2);
	assert_int_equal(grid[2], 1);
	close_two(&t);
}

TEST(a_refused_set_writes_nothing)
{
	struct gpuplan_error error;
	struct host before;
	struct two t;

	(void)state;
	open_two(&t);
	before = snapshot(t.slot);

	struct gpuplan_value unknown[] = { gpuplan_value_u32(COUNT, 5), gpuplan_value_u32(N_PARAMETERS, 5) };
	struct gpuplan_value size[] = { gpuplan_value_u32(COUNT, 5), { SCALE, 8, 5 } };
	struct gpuplan_value low[] = { gpuplan_value_u32(SCALE, 5), gpuplan_value_u32(COUNT, 0) };
	struct gpuplan_value high[] = { gpuplan_value_u32(SCALE, 5), gpuplan_value_u32(COUNT, 4097) };
	struct gpuplan_value wide[] = { gpuplan_value_u32(SCALE, 5), { ROWS, 2, 65536 } };

	dt_refused(gpuplan_slot_set(t.slot, unknown, 2, &error), EINVAL, &error, "value 1", "parameter 4", "has 4");
	dt_refused(gpuplan_slot_set(t.slot, size, 2, &error), EINVAL, &error, "value 1", "8 bytes", "\"scale\"", "has 4");
	dt_refused(gpuplan_slot_set(t.slot, low, 2, &error), EINVAL, &error, "is 0", "\"count\"", "1 to 4096");
	dt_refused(gpuplan_slot_set(t.slot, high, 2, &error), EINVAL, &error, "is 4097", "\"count\"", "1 to 4096");
	dt_refused(gpuplan_slot_set(t.slot, wide, 2, &error), EINVAL, &error, "is 65536", "\"rows\"", "0 to 65535");
	dt_refused(gpuplan_slot_set(t.slot, NULL, 2, &error), EINVAL, &error, "2 values");
	assert_int_equal(gpuplan_slot_set(t.slot, high, 2, NULL), -EINVAL);
	assert_host(t.slot, &before);
	free(before.bytes);
	close_two(&t);
}

TEST(acquire_starts_from_the_initial_values)
{
	const struct gpuplan_value values[] = { gpuplan_value_u32(COUNT, 77), gpuplan_value_u32(WORD, 1) };
	struct gpuplan_error error;
	struct gpuplan_slot *again;
	struct host before;
	struct two t;

	(void)state;
	open_two(&t);
	before = snapshot(t.slot);
	dt_ok(gpuplan_slot_set(t.slot, values, 2, &error), &error);
	gpuplan_slot_release(t.slot);
	assert_int_equal(gpuplan_plan_acquire(t.plan, &again), 0);
	assert_ptr_equal(again, t.slot);
	assert_host(t.slot, &before);
	free(before.bytes);
	close_two(&t);
}

/* ---- grids from memory ---- */

static const struct plan_image_barrier *
barriers(const struct gpuplan_plan *plan, uint32_t *n)
{
	*n = gp_image_count(plan->image, PLAN_SECTION_BARRIERS);
	return plan->image->barriers;
}

/* The command processor reads the counts itself: it waits for a kernel that writes them, for a fill not even that, and
 * no shader cache has to forget anything. */
TEST(an_indirect_grid_waits_for_its_counts_and_no_more)
{
	struct gpuplan_region counts;
	struct gpuplan_command commands[2] = { 0 };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, 2);
	struct gpuplan_binding plain[] = { { .access = GPUPLAN_WRITE }, { .access = GPUPLAN_READ } };
	struct gpuplan_binding other[2];
	static const uint32_t packed[9];
	const struct plan_image_command *c;
	const struct plan_image_access *a;
	const struct plan_image_barrier *b;
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct model m;
	uint32_t n;

	(void)state;
	open_model(&m);
	counts = gpuplan_slice(m.a, 8, 12);
	plain[0].region = m.a;
	plain[1].region = m.b;
	plain[1].packed_offset = 8;
	memcpy(other, plain, sizeof(other));
	other[0].region = gpuplan_slice(m.c, 0, 1024);
	for (int i = 0; i < 2; i++) {
		commands[i].kind = GPUPLAN_DISPATCH;
		commands[i].u.dispatch = (struct gpuplan_dispatch){
			.kernel = m.plain,
			.groups = { 4, 1, 1 },
			.block = { 64, 1, 1 },
			.n_bindings = 2,
			.bindings = i ? other : plain,
			.packed = packed,
			.packed_bytes = sizeof(packed),
		};
	}
	commands[1].u.dispatch.groups_from = &counts;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	c = &plan->image->commands[1];
	assert_int_equal(c->n_accesses, 3);
	assert_int_equal(c->grid_access, 3);
	a = &plan->image->accesses[c->first_access + 2];
	assert_int_equal(a->access, GPUPLAN_READ | PLAN_ACCESS_CP);
	assert_int_equal(a->offset, 8);
	assert_int_equal(a->bytes, 12);
	b = barriers(plan, &n);
	assert_int_equal(n, 1);
	assert_int_equal(b->before, 1);
	assert_int_equal(b->ops, PLAN_BARRIER_WAIT);
	assert_int_equal(b->hazard, PLAN_RAW);
	assert_int_equal(b->offset, 8);
	assert_int_equal(b->bytes, 12);
	gpuplan_plan_destroy(plan);

	commands[0] = dt_fill(m.a, 1);
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	barriers(plan, &n);
	assert_int_equal(n, 0);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

/* Every target's stream has the parameter in its packets, or the place of the counts. */
TEST(every_target_notes_its_places)
{
	static const char *const targets[] = { "gfx900",  "gfx906",  "gfx90a",	"gfx942",
					       "gfx1030", "gfx1100", "gfx1200", "gfx1201" };

	(void)state;
	for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
		struct gpuplan_context *context = dt_offline(targets[t]);
		struct gpuplan_session *session = dt_session(context);
		struct gpuplan_region a = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "a");
		struct gpuplan_kernel fill = dt_kernel(context, session, "fill", "fill");
		struct gpuplan_definition *definition = dt_freeze(session);
		struct gpuplan_parameter p = { .name = "p", .bytes = 4, .initial = 1, .max = 7 };
		struct gpuplan_binding binding = { .region = a, .access = GPUPLAN_WRITE };
		struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_param(0), gpuplan_arg_u32(1024) };
		struct gpuplan_command commands[] = { dt_fill(a, 0), { .kind = GPUPLAN_DISPATCH } };
		struct gpuplan_plan_params params = dt_plan_params(1, commands, 2);
		struct gpuplan_value v = gpuplan_value_u32(0, 6);
		struct gpuplan_error error;
		struct gpuplan_plan *plan;
		struct gpuplan_slot *slot;
		struct host before;
		uint32_t differ = 0;

		commands[0].u.fill.value_param = 1;
		commands[1].u.dispatch = (struct gpuplan_dispatch){
			.kernel = fill,
			.groups_param = { 1, 1, 1 },
			.block = { 256, 1, 1 },
			.n_bindings = 1,
			.bindings = &binding,
			.n_args = 3,
			.args = args,
		};
		params.parameters = &p;
		params.n_parameters = 1;
		dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
		assert_int_equal(gp_image_count(plan->image, PLAN_SECTION_PATCHES), 5);
		assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
		before = snapshot(slot);
		dt_ok(gpuplan_slot_set(slot, &v, 1, &error), &error);
		for (size_t i = 0; i < before.n; i += 4) {
			uint32_t was, is;

			memcpy(&was, before.bytes + i, 4);
			memcpy(&is, (uint8_t *)slot->host->cpu + i, 4);
			differ += was == 1 && is == 6;
		}
		assert_int_equal(differ, 5);
		free(before.bytes);
		gpuplan_slot_release(slot);
		gpuplan_plan_destroy(plan);
		gpuplan_definition_destroy(definition);
		gpuplan_context_destroy(context);
	}
}

/* ---- what setting costs ---- */

/* In a child that may do nothing but compute and exit: any other system call ends it with SIGKILL. */
static int
run_without_system_calls(struct gpuplan_slot *slot, bool set)
{
	const struct gpuplan_value good[] = { gpuplan_value_u32(COUNT, 77), { ROWS, 2, 9 } };
	const struct gpuplan_value bad[] = { gpuplan_value_u32(COUNT, 78), { ROWS, 2, 65536 } };
	struct gpuplan_error error;
	int status, r = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			_exit(DT_SKIP);
		for (int i = 0; i < 1000 && set; i++)
			r |= gpuplan_slot_set(slot, good, 2, &error) != 0 ||
			     gpuplan_slot_set(slot, bad, 2, &error) != -EINVAL;
		if (!set)
			syscall(SYS_getppid);
		syscall(SYS_exit, r);
	}
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

TEST(setting_makes_no_system_call)
{
	struct two t;
	int status;

	(void)state;
	open_two(&t);
	status = run_without_system_calls(t.slot, false);
	if (WIFEXITED(status) && WEXITSTATUS(status) == DT_SKIP) {
		close_two(&t);
		skip();
	}
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* the guard works */
	status = run_without_system_calls(t.slot, true);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close_two(&t);
}

/* ---- packed arguments that no metadata describes: 24 bytes, an address in the first 8 ---- */

struct raw {
	struct gpuplan_binding binding;
	struct gpuplan_packed_param at[2];
	struct gpuplan_command command;
	struct gpuplan_plan_params params;
};

static void
raw_plan(struct raw *raw, const struct model *m, const struct gpuplan_parameter *p)
{
	static const uint8_t packed[24] = { [8] = 0x55, [9] = 0x55, [23] = 0x55 };

	*raw = (struct raw){ .binding = { m->a, GPUPLAN_WRITE, 0 }, .command = { .kind = GPUPLAN_DISPATCH } };
	raw->command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = m->raw,
		.groups = { 1, 1, 1 },
		.block = { 64, 1, 1 },
		.n_bindings = 1,
		.bindings = &raw->binding,
		.packed = packed,
		.packed_bytes = sizeof(packed),
		.packed_params = raw->at,
		.n_packed_params = 1,
	};
	raw->params = dt_plan_params(1, &raw->command, 1);
	raw->params.parameters = p;
	raw->params.n_parameters = 1;
}

TEST(every_size_from_1_to_8_bytes_at_any_place)
{
	struct model m;

	(void)state;
	open_model(&m);
	for (uint32_t bytes = 1; bytes <= 8; bytes++) {
		uint64_t max = UINT64_MAX >> (64 - 8 * bytes);
		struct gpuplan_parameter p = { .name = "p", .bytes = bytes, .initial = 1, .max = max };
		struct gpuplan_value v = { 0, bytes, max };
		struct gpuplan_error error;
		struct gpuplan_plan *plan;
		struct gpuplan_slot *slot;
		struct host wanted;
		struct raw raw;

		raw_plan(&raw, &m, &p);
		raw.at[0].offset = 24 - bytes;
		dt_ok(gpuplan_plan_create(m.definition, &raw.params, &plan, &error), &error);
		assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
		wanted = snapshot(slot);
		memset(wanted.bytes + plan->image->header->kernarg_offset + 24 - bytes, 0xff, bytes);
		dt_ok(gpuplan_slot_set(slot, &v, 1, &error), &error);
		assert_host(slot, &wanted);
		free(wanted.bytes);
		gpuplan_slot_release(slot);
		gpuplan_plan_destroy(plan);
	}
	close_model(&m);
}

TEST(packed_parameters_may_not_overlap)
{
	const struct gpuplan_parameter p = { .name = "p", .bytes = 4, .max = 9 };
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct model m;
	struct raw raw;

	(void)state;
	open_model(&m);
	raw_plan(&raw, &m, &p);
	raw.at[0].offset = 7;
	dt_refused(gpuplan_plan_create(m.definition, &raw.params, &plan, &error), EINVAL, &error,
		   "packed parameter 0 at byte 7", "binding 0 at byte 0");
	raw.at[0].offset = 8;
	raw.at[1].offset = 11;
	raw.command.u.dispatch.n_packed_params = 2;
	dt_refused(gpuplan_plan_create(m.definition, &raw.params, &plan, &error), EINVAL, &error,
		   "packed parameters 0 at byte 8 and 1 at byte 11");
	raw.at[1].offset = 12;
	dt_ok(gpuplan_plan_create(m.definition, &raw.params, &plan, &error), &error);
	gpuplan_plan_destroy(plan);
	close_model(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_image_holds_initial_values_and_names_every_place),
		cmocka_unit_test(equal_input_gives_equal_bytes),
		cmocka_unit_test(parameters_are_found_by_name),
		cmocka_unit_test(setting_writes_those_places_of_that_slot_and_nothing_else),
		cmocka_unit_test(hidden_counts_and_the_packets_grid_follow),
		cmocka_unit_test(a_refused_set_writes_nothing),
		cmocka_unit_test(acquire_starts_from_the_initial_values),
		cmocka_unit_test(an_indirect_grid_waits_for_its_counts_and_no_more),
		cmocka_unit_test(every_target_notes_its_places),
		cmocka_unit_test(setting_makes_no_system_call),
		cmocka_unit_test(every_size_from_1_to_8_bytes_at_any_place),
		cmocka_unit_test(packed_parameters_may_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
