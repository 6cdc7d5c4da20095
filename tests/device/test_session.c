/* SPDX-License-Identifier: MIT */
/* Sessions: uploads arrive byte for byte, runs happen in order, freeze keeps what it should.
 * What they refuse is in test_session_refusals.c. */
#include "device_test.h"

#define PAGE 4096u
#define MIB (1u << 20)

static uint64_t
rounded(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static struct gpuplan_memory
ledger(struct gpuplan_context *context)
{
	struct gpuplan_memory m;

	gpuplan_context_get_memory(context, &m);
	return m;
}

/* A byte sequence that shows every shift: period 251 is prime to all powers of two. */
static void
pattern(uint8_t *bytes, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)((i + seed) % 251 + 1);
}

static struct gpuplan_context *context;

static int
open_context(void **state)
{
	(void)state;
	context = dt_context();
	return 0;
}

/* Every test leaves the ledger at zero. */
static int
close_context(void **state)
{
	(void)state;
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
	return 0;
}

/* ---- uploads and downloads ---- */

static void
round_trip(struct gpuplan_session *session, struct gpuplan_region all, uint64_t offset, uint64_t bytes)
{
	uint8_t *sent = malloc(all.bytes), *data = malloc(bytes), *got = malloc(all.bytes);
	struct gpuplan_error error;

	memset(sent, 0xee, all.bytes);
	dt_ok(gpuplan_session_upload(session, all, sent, &error), &error);
	pattern(data, bytes, (unsigned)offset);
	memcpy(sent + offset, data, bytes);
	dt_ok(gpuplan_session_upload(session, gpuplan_slice(all, offset, bytes), data, &error), &error);
	memset(data, 0, bytes); /* may be reused on return */
	dt_ok(gpuplan_session_download(session, all, got, DT_SOON, &error), &error);
	assert_memory_equal(got, sent, all.bytes);
	memset(got, 0, bytes);
	dt_ok(gpuplan_session_download(session, gpuplan_slice(all, offset, bytes), got, DT_SOON, &error), &error);
	assert_memory_equal(got, sent + offset, bytes);
	free(sent);
	free(data);
	free(got);
}

static void
odd_sizes_arrive_byte_for_byte(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 5, 7, 63, 64, 65, 255, 4095, 4096, 4097, 32735, 32737, 65537 };
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 70001, "w");

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (uint64_t offset = 0; offset < 6; offset++)
			round_trip(session, weight, offset * offset, sizes[i]);
	gpuplan_session_destroy(session);
}

static void
large_uploads_arrive_in_chunks(void **state)
{
	static const uint64_t sizes[] = { MIB - 1, MIB, MIB + 1, 3 * MIB + 5 };
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4 * MIB, "w");

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		round_trip(session, weight, 3 + i, sizes[i]);
	gpuplan_session_destroy(session);
}

static void
later_upload_wins(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 1000, "w");
	uint8_t data[1000], got[1000];
	struct gpuplan_error error;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		pattern(data, sizeof(data), i);
		dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	}
	dt_ok(gpuplan_session_sync(session, DT_SOON, &error), &error);
	dt_ok(gpuplan_session_download(session, weight, got, DT_SOON, &error), &error);
	assert_memory_equal(got, data, sizeof(data));
	gpuplan_session_destroy(session);
}

static void
many_weights_keep_apart(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region regions[40];
	uint8_t data[2000], got[2000];
	struct gpuplan_error error;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		regions[i] = dt_weight(session, 37 * (i + 1), NULL);
		pattern(data, sizeof(data), i * 7);
		dt_ok(gpuplan_session_upload(session, regions[i], data, &error), &error);
	}
	for (unsigned i = 0; i < 40; i++) {
		pattern(data, sizeof(data), i * 7);
		dt_ok(gpuplan_session_download(session, regions[i], got, DT_SOON, &error), &error);
		assert_memory_equal(got, data, regions[i].bytes);
	}
	gpuplan_session_destroy(session);
}

/* ---- runs ---- */

static void
expect_dwords(struct gpuplan_session *session, struct gpuplan_region region, uint32_t first, uint32_t step)
{
	uint32_t *got = malloc(region.bytes);
	struct gpuplan_error error;

	dt_ok(gpuplan_session_download(session, region, got, DT_SOON, &error), &error);
	for (uint32_t i = 0; i < region.bytes / 4; i++)
		if (got[i] != first + i * step)
			fail_msg("dword %u is 0x%x, 0x%x is right", i, got[i], first + i * step);
	free(got);
}

static void
run_fills_and_copies(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 8192, "w");
	struct gpuplan_region device = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 8192, "d");
	struct gpuplan_region host = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 8192, "h");
	struct gpuplan_command commands[] = { dt_fill(device, 0xabcd0001), dt_copy(host, device), dt_copy(weight, host) };
	struct gpuplan_error error;

	(void)state;
	dt_ok(gpuplan_session_run(session, commands, 3, &error), &error);
	expect_dwords(session, device, 0xabcd0001, 0);
	expect_dwords(session, host, 0xabcd0001, 0);
	expect_dwords(session, weight, 0xabcd0001, 0);
	dt_check_ledger(context);
	gpuplan_session_destroy(session);
}

struct dispatch {
	struct gpuplan_binding bindings[2];
	struct gpuplan_arg args[3];
	struct gpuplan_command command;
};

/* dst[i] = src[i] by a shader. */
static void
shader_copy(struct dispatch *d, struct gpuplan_kernel kernel, struct gpuplan_region dst, struct gpuplan_region src)
{
	uint32_t words = (uint32_t)(dst.bytes / 4);

	*d = (struct dispatch){
		.bindings = { { .region = src, .access = GPUPLAN_READ }, { .region = dst, .access = GPUPLAN_WRITE } },
		.args = { gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_u32(words) },
		.command = { .kind = GPUPLAN_DISPATCH },
	};
	d->command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = kernel,
		.groups = { (words + 1023) / 1024, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 2,
		.bindings = d->bindings,
		.n_args = 3,
		.args = d->args,
	};
}

/* A chain of dispatches, each in a run of its own: nothing but the session's order keeps them apart. */
static void
runs_happen_in_order(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_kernel kernel = dt_kernel(context, session, "copy", "copy");
	struct gpuplan_region weight = dt_weight(session, 65536, "w"), regions[25];
	uint32_t *data = malloc(65536);
	struct gpuplan_error error;

	(void)state;
	for (uint32_t i = 0; i < 65536 / 4; i++)
		data[i] = 7 + i * 3;
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	for (unsigned i = 0; i < 25; i++) {
		struct dispatch d;

		regions[i] = dt_alloc(session, GPUPLAN_SCRATCH, i % 2 ? GPUPLAN_HOST : GPUPLAN_DEVICE, 65536, NULL);
		shader_copy(&d, kernel, regions[i], i ? regions[i - 1] : weight);
		dt_ok(gpuplan_session_run(session, &d.command, 1, &error), &error);
	}
	expect_dwords(session, regions[24], 7, 3);
	expect_dwords(session, regions[0], 7, 3);
	free(data);
	gpuplan_session_destroy(session);
}

/* An upload behind a run must not overtake its reads, nor may a run see less than the upload before it. */
static void
uploads_and_runs_keep_order(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_kernel kernel = dt_kernel(context, session, "copy", "copy");
	struct gpuplan_region in = dt_weight(session, 16384, "in"), out = dt_weight(session, 10 * 16384, "out");
	uint32_t *data = malloc(16384);
	struct gpuplan_error error;

	(void)state;
	for (uint32_t k = 0; k < 10; k++) {
		struct dispatch d;

		for (uint32_t i = 0; i < 16384 / 4; i++)
			data[i] = k * 4096 + i;
		dt_ok(gpuplan_session_upload(session, in, data, &error), &error);
		shader_copy(&d, kernel, gpuplan_slice(out, k * 16384, 16384), in);
		dt_ok(gpuplan_session_run(session, &d.command, 1, &error), &error);
	}
	expect_dwords(session, out, 0, 1);
	free(data);
	gpuplan_session_destroy(session);
}

/* One plan of one dispatch, run once; its output starts with `first`. */
static void
run_frozen(struct gpuplan_definition *definition, struct dispatch *d, struct gpuplan_region out, uint32_t first)
{
	struct gpuplan_io io = { .region = out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { out.bytes / 4 } };
	struct gpuplan_plan_params params = dt_plan_params(1, &d->command, 1);
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_completion completion;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;

	params.outputs = &io;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	dt_ok(gpuplan_queue_create(context, &queue_params, &queue, &error), &error);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &completion), 0);
	assert_int_equal(completion.status, GPUPLAN_DONE);
	assert_int_equal(*(const uint32_t *)gpuplan_slot_output(slot, 0, NULL), first);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
}

/* Two kernels take turns at (very likely) one address: runs do not invalidate the instruction cache, uploads of code
 * have to. */
static void
new_code_at_an_old_address(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 4; round++) {
		struct gpuplan_session *session = dt_session(context);
		struct gpuplan_region weight = dt_weight(session, 4096, "w");
		struct gpuplan_region out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4096, "out");
		struct gpuplan_kernel kernel = dt_kernel(context, session, round % 2 ? "fill" : "copy", round % 2 ? "fill" : "copy");
		struct gpuplan_definition *definition;
		struct gpuplan_error error;
		uint32_t data[1024];
		struct dispatch d;

		for (uint32_t i = 0; i < 1024; i++)
			data[i] = 100 + round;
		dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
		shader_copy(&d, kernel, out, weight);
		if (round % 2) {
			d.bindings[0] = d.bindings[1];
			d.command.u.dispatch.n_bindings = 1;
			d.args[1] = gpuplan_arg_u32(200 + round);
		}
		definition = dt_freeze(session);
		run_frozen(definition, &d, out, (round % 2 ? 200 : 100) + round);
		gpuplan_definition_destroy(definition);
	}
}

static void
state_of_a_run_starts_at_zero(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region device = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, 3 * MIB, "device");
	struct gpuplan_region host = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_HOST, 5000, "host");
	struct gpuplan_command commands[] = {
		dt_fill(gpuplan_slice(device, 0, 4), 0), dt_fill(gpuplan_slice(host, 0, 4), 0)
	};
	struct gpuplan_error error;

	(void)state;
	dt_ok(gpuplan_session_run(session, commands, 2, &error), &error);
	expect_dwords(session, device, 0, 0);
	expect_dwords(session, gpuplan_slice(host, 0, 4996), 0, 0);
	/* Kept from run to run. */
	commands[0] = dt_fill(gpuplan_slice(device, 0, 4096), 9);
	dt_ok(gpuplan_session_run(session, commands, 1, &error), &error);
	commands[0] = dt_fill(gpuplan_slice(device, 8192, 4), 0);
	dt_ok(gpuplan_session_run(session, commands, 1, &error), &error);
	expect_dwords(session, gpuplan_slice(device, 0, 4096), 9, 0);
	gpuplan_session_destroy(session);
}

static void
refused_run_changes_nothing(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64, "s");
	struct gpuplan_region state_region = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, 64, "t");
	struct gpuplan_command commands[] = {
		dt_fill(scratch, 1), dt_fill(state_region, 1), dt_fill(gpuplan_slice(scratch, 0, 68), 1)
	};
	struct gpuplan_error error;

	(void)state;
	dt_refused(gpuplan_session_run(session, commands, 3, &error), EINVAL, &error, "\"s\"", "68 bytes", "64 bytes");
	assert_int_equal(ledger(context).total, 0);
	dt_refused(gpuplan_session_run(session, NULL, 3, &error), EINVAL, &error, "3 commands");
	dt_ok(gpuplan_session_run(session, commands, 0, &error), &error);
	dt_ok(gpuplan_session_run(session, commands, 2, &error), &error);
	gpuplan_session_destroy(session);
}

/* ---- freeze ---- */

static void
freeze_keeps_weights_and_code_only(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 10000, "w");
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 10000, "s");
	struct gpuplan_command commands[] = { dt_fill(scratch, 1), dt_copy(weight, scratch) };
	struct gpuplan_definition *definition;
	struct gpuplan_error error;
	uint64_t code;

	(void)state;
	dt_kernel(context, session, "copy", "copy");
	dt_ok(gpuplan_session_run(session, commands, 2, &error), &error);
	code = ledger(context).code;
	definition = dt_freeze(session);
	assert_int_equal(ledger(context).session, 0);
	assert_int_equal(ledger(context).weights, rounded(10000));
	assert_int_equal(ledger(context).code, code);
	assert_int_equal(ledger(context).total, rounded(10000) + code);
	assert_int_equal(ledger(context).buffers, 2);
	dt_check_ledger(context);
	gpuplan_definition_destroy(definition);
}

/* Nothing was copied at freeze: the same address holds the same bytes, as a plan on the definition shows. */
static void
frozen_weights_keep_their_contents(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4096, "w");
	struct gpuplan_region out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4096, "out");
	struct gpuplan_command copy = dt_copy(out, weight);
	struct gpuplan_io output = { .region = out, .dtype = GPUPLAN_U8, .rank = 1, .shape = { 4096 } };
	struct gpuplan_plan_params params = dt_plan_params(1, &copy, 1);
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_completion completion;
	struct gpuplan_definition *definition;
	struct gpuplan_queue *queue;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	struct gpuplan_error error;
	uint8_t data[4096];

	(void)state;
	pattern(data, sizeof(data), 99);
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	definition = dt_freeze(session); /* drains the upload */
	params.outputs = &output;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	dt_ok(gpuplan_queue_create(context, &queue_params, &queue, &error), &error);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	assert_int_equal(gpuplan_slot_submit(slot, queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &completion), 0);
	assert_int_equal(completion.status, GPUPLAN_DONE);
	assert_memory_equal(gpuplan_slot_output(slot, 0, NULL), data, sizeof(data));
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	gpuplan_queue_destroy(queue);
	gpuplan_definition_destroy(definition);
}

static void
freeze_to_another_device_is_refused(void **state)
{
	struct gpuplan_context *foreign = dt_offline("gfx1100");
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 64, "w");
	struct gpuplan_definition *definition = NULL;
	struct gpuplan_context_info info;
	struct gpuplan_error error;
	uint8_t data[64], got[64];

	(void)state;
	pattern(data, sizeof(data), 5);
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	gpuplan_context_get_info(context, &info);
	dt_refused(gpuplan_session_freeze(session, foreign, DT_SOON, &definition, &error), EXDEV, &error, info.device,
		   "offline");
	assert_null(definition);
	/* Nothing has changed: the session goes on. */
	dt_ok(gpuplan_session_download(session, weight, got, DT_SOON, &error), &error);
	assert_memory_equal(got, data, sizeof(data));
	definition = dt_freeze(session);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(foreign);
}

static void
freeze_to_another_context_of_the_device(void **state)
{
	struct gpuplan_context *other = dt_context();
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64, "s");
	struct gpuplan_command fill = dt_fill(scratch, 1);
	struct gpuplan_plan_params params = dt_plan_params(1, &fill, 1);
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 5000, "w");
	dt_ok(gpuplan_session_freeze(session, other, DT_SOON, &definition, &error), &error);
	assert_int_equal(ledger(context).total, 0);
	assert_int_equal(ledger(other).weights, 8192);
	/* The definition lives there now. */
	params.context = context;
	dt_refused(gpuplan_plan_create(definition, &params, &plan, &error), EXDEV, &error, "context");
	params.context = other;
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(other);
	gpuplan_context_destroy(other);
}

static void
weight_bytes_are_counted_once(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch, weight = dt_weight(session, 5000, "a");
	struct gpuplan_command copy;
	struct gpuplan_plan_params params = dt_plan_params(4, &copy, 1);
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plans[3];
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 1, "b");
	scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 5000, "s");
	copy = dt_copy(scratch, weight);
	definition = dt_freeze(session);
	assert_int_equal(gpuplan_definition_weight_bytes(definition), 8192 + 4096);
	for (int i = 0; i < 3; i++) {
		dt_ok(gpuplan_plan_create(definition, &params, &plans[i], &error), &error);
		assert_int_equal(gpuplan_definition_weight_bytes(definition), 8192 + 4096);
		assert_int_equal(ledger(context).weights, 8192 + 4096);
	}
	for (int i = 0; i < 3; i++)
		gpuplan_plan_destroy(plans[i]);
	gpuplan_definition_destroy(definition);
}

/* ---- lifetimes ---- */

/* A definition, two plans of it, a slot of the first; each destroyed in the given order. */
static void
destroy_in_order(const char *order)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch, weight = dt_weight(session, 64, "w");
	struct gpuplan_command copy;
	struct gpuplan_plan_params params = dt_plan_params(2, &copy, 1);
	struct gpuplan_definition *definition;
	struct gpuplan_plan *a, *b;
	struct gpuplan_slot *slot;
	struct gpuplan_error error;

	scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64, "s");
	copy = dt_copy(scratch, weight);
	definition = dt_freeze(session);
	dt_ok(gpuplan_plan_create(definition, &params, &a, &error), &error);
	dt_ok(gpuplan_plan_create(definition, &params, &b, &error), &error);
	assert_int_equal(gpuplan_plan_acquire(a, &slot), 0);
	for (; *order; order++) {
		/* Shared weights live as long as their last user. */
		assert_int_equal(ledger(context).weights, PAGE);
		switch (*order) {
		case 'd':
			gpuplan_definition_destroy(definition);
			break;
		case 'a':
			gpuplan_plan_destroy(a);
			break;
		case 'b':
			gpuplan_plan_destroy(b);
			break;
		case 's':
			gpuplan_slot_release(slot);
			break;
		}
	}
	dt_check_ledger_zero(context);
}

static void
destroy_in_any_order(void **state)
{
	static const char *const orders[] = { "dabs", "dasb", "dbas", "dbsa", "dsab", "dsba", "adbs", "adsb",
					      "abds", "absd", "asdb", "asbd", "bdas", "bdsa", "bads", "basd",
					      "bsda", "bsad", "sdab", "sdba", "sadb", "sabd", "sbda", "sbad" };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		destroy_in_order(orders[i]);
}

static void
destroy_with_work_in_flight(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4 * MIB, "w");
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4 * MIB, "s");
	struct gpuplan_command commands[] = { dt_fill(scratch, 1), dt_copy(weight, scratch) };
	void *data = calloc(4, MIB);
	struct gpuplan_error error;

	(void)state;
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	for (int i = 0; i < 5; i++)
		dt_ok(gpuplan_session_run(session, commands, 2, &error), &error);
	free(data);
	gpuplan_session_destroy(session);
}

static void
nothing_is_destroyed_well(void **state)
{
	(void)state;
	gpuplan_session_destroy(NULL);
	gpuplan_definition_destroy(NULL);
	gpuplan_session_destroy(dt_session(context));
	gpuplan_definition_destroy(dt_freeze(dt_session(context)));
}

static void
session_ids_are_never_reused(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct gpuplan_session *session = dt_session(context);
		uint64_t id = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4, NULL).session;

		assert_true(id > last);
		last = id;
		gpuplan_session_destroy(session);
	}
}

/* ---- when things go wrong ---- */

/* Runs in a child with slow jobs: a deadline passes, nothing is lost, the next sync succeeds. */
static void
child_syncs_late(void)
{
	struct gpuplan_session *session;
	struct gpuplan_definition *definition;
	struct gpuplan_region weight;
	struct gpuplan_error error;
	uint8_t data[100], got[100];

	session = dt_session(context);
	weight = dt_weight(session, 100, "w");
	pattern(data, sizeof(data), 1);
	/* A job is slow to end on softgpu, not to write: the one behind it is late for certain. */
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	dt_refused(gpuplan_session_sync(session, dt_after_ms(1), &error), ETIME, &error, "upload of weight \"w\"");
	dt_refused(gpuplan_session_sync(session, 0, &error), ETIME, &error, "deadline");
	dt_refused(gpuplan_session_freeze(session, NULL, dt_after_ms(1), &definition, &error), ETIME, &error, "deadline");
	dt_refused(gpuplan_session_download(session, weight, got, dt_after_ms(1), &error), ETIME, &error, "deadline");
	dt_ok(gpuplan_session_sync(session, DT_SOON, &error), &error);
	dt_ok(gpuplan_session_download(session, weight, got, DT_SOON, &error), &error);
	assert_memory_equal(got, data, sizeof(data));
	gpuplan_session_destroy(session);
}

static void
sync_past_its_deadline_can_be_repeated(void **state)
{
	struct dt_stats stats;

	(void)state;
	if (!dt_device_stats(context, &stats))
		skip();
	assert_int_equal(dt_run_self("sync-late", "SOFTGPU_JOB_DELAY_US", "200000"), 0);
}

/* A shader told of more words than there are: ends the queue on softgpu --strict. */
static void
failed_run_ends_the_session(void **state)
{
	struct gpuplan_session *session = dt_session(context), *another;
	struct gpuplan_kernel kernel = dt_kernel(context, session, "copy", "copy");
	struct gpuplan_region weight = dt_weight(session, 4096, "w"), source = dt_weight(session, 4096, "s");
	struct gpuplan_definition *definition;
	struct gpuplan_error error;
	struct dt_stats stats;
	struct dispatch d;
	uint8_t data[4096] = { 0 };

	(void)state;
	if (!dt_device_stats(context, &stats) || !getenv("SOFTGPU_STRICT")) {
		gpuplan_session_destroy(session);
		skip();
	}
	shader_copy(&d, kernel, weight, source);
	d.args[2] = gpuplan_arg_u32(1u << 26);
	d.command.u.dispatch.groups[0] = 1u << 16;
	dt_ok(gpuplan_session_run(session, &d.command, 1, &error), &error);
	dt_refused(gpuplan_session_sync(session, DT_SOON, &error), EIO, &error, "run 1");
	/* It stays so, with the same sentence. */
	dt_refused(gpuplan_session_upload(session, weight, data, &error), EIO, &error, "run 1");
	dt_refused(gpuplan_session_run(session, &d.command, 1, &error), EIO, &error, "run 1");
	dt_refused(gpuplan_session_freeze(session, NULL, DT_SOON, &definition, &error), EIO, &error, "run 1");
	gpuplan_session_destroy(session);
	/* The next session is not touched by it. */
	another = dt_session(context);
	round_trip(another, dt_weight(another, 5000, "w"), 3, 4000);
	gpuplan_session_destroy(another);
}

static void
forked_child_is_refused(void **state)
{
	struct gpuplan_session *session = dt_session(context), *theirs;
	struct gpuplan_region weight = dt_weight(session, 64, "w");
	struct gpuplan_definition *definition;
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char data[64] = { 0 };
		struct gpuplan_command fill = dt_fill(weight, 0);
		bool good = gpuplan_session_upload(session, weight, data, NULL) == -ECHILD &&
			    gpuplan_session_run(session, &fill, 1, NULL) == -ECHILD &&
			    gpuplan_session_sync(session, DT_SOON, NULL) == -ECHILD &&
			    gpuplan_session_create(context, &theirs, NULL) == -ECHILD &&
			    gpuplan_session_freeze(session, NULL, DT_SOON, &definition, NULL) == -ECHILD;

		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	/* The parent goes on. */
	round_trip(session, weight, 1, 62);
	gpuplan_session_destroy(session);
}

/* ---- offline ---- */

static void
offline_session_checks_and_does_nothing(void **state)
{
	struct gpuplan_context *offline = dt_offline("gfx1100");
	struct gpuplan_session *session = dt_session(offline);
	struct gpuplan_kernel kernel = dt_kernel(offline, session, "copy", "copy");
	struct gpuplan_region weight = dt_weight(session, 4096, "w");
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 4096, "s");
	struct gpuplan_definition *definition;
	struct gpuplan_error error;
	struct dispatch d;
	uint8_t data[4096] = { 0 };

	(void)state;
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	dt_refused(gpuplan_session_upload(session, gpuplan_slice(weight, 1, 4096), data, &error), EINVAL, &error, "\"w\"");
	shader_copy(&d, kernel, scratch, weight);
	dt_ok(gpuplan_session_run(session, &d.command, 1, &error), &error);
	d.bindings[1].region.bytes = 5000;
	dt_refused(gpuplan_session_run(session, &d.command, 1, &error), EINVAL, &error, "\"s\"", "5000");
	dt_ok(gpuplan_session_sync(session, 0, &error), &error);
	dt_refused(gpuplan_session_download(session, weight, data, DT_SOON, &error), ENODEV, &error, "offline");
	definition = dt_freeze(session);
	assert_int_equal(gpuplan_definition_weight_bytes(definition), 4096);
	gpuplan_definition_destroy(definition);
	assert_int_equal(ledger(offline).total, 0);
	gpuplan_context_destroy(offline);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(odd_sizes_arrive_byte_for_byte),
		TEST(large_uploads_arrive_in_chunks),
		TEST(later_upload_wins),
		TEST(many_weights_keep_apart),
		TEST(run_fills_and_copies),
		TEST(runs_happen_in_order),
		TEST(uploads_and_runs_keep_order),
		TEST(new_code_at_an_old_address),
		TEST(state_of_a_run_starts_at_zero),
		TEST(refused_run_changes_nothing),
		TEST(freeze_keeps_weights_and_code_only),
		TEST(frozen_weights_keep_their_contents),
		TEST(freeze_to_another_device_is_refused),
		TEST(freeze_to_another_context_of_the_device),
		TEST(weight_bytes_are_counted_once),
		TEST(destroy_in_any_order),
		TEST(destroy_with_work_in_flight),
		TEST(nothing_is_destroyed_well),
		TEST(session_ids_are_never_reused),
		TEST(sync_past_its_deadline_can_be_repeated),
		TEST(failed_run_ends_the_session),
		TEST(forked_child_is_refused),
		TEST(offline_session_checks_and_does_nothing),
	};

	if (argc == 2 && !strcmp(argv[1], "sync-late")) {
		/* Outside of a test a failed expectation ends the program. */
		open_context(NULL);
		child_syncs_late();
		return close_context(NULL);
	}
	gpuplan_context_destroy(dt_context());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
