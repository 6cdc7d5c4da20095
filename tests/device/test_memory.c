/* SPDX-License-Identifier: MIT */
/* Promise 3: the memory ledger is exact, bounded by the budget, and returns to zero, whatever fails on the way. */
#include "device_test.h"

#include <pthread.h>

#define PAGE 4096u
#define MIB (1u << 20)

static struct gpuplan_memory
ledger(struct gpuplan_context *context)
{
	struct gpuplan_memory m;

	gpuplan_context_get_memory(context, &m);
	return m;
}

static uint64_t
rounded(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* ---- the ledger ---- */

static void
ledger_counts_pages(void **state)
{
	static const uint64_t sizes[] = { 1, 4095, 4096, 4097, 12345, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB };
	struct gpuplan_context *context = dt_context();
	struct gpuplan_session *session = dt_session(context);
	uint64_t expected = 0;

	(void)state;
	dt_check_ledger_zero(context);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		dt_weight(session, sizes[i], NULL);
		expected += rounded(sizes[i]);
		assert_int_equal(ledger(context).weights, expected);
		assert_int_equal(ledger(context).total, expected);
		assert_int_equal(ledger(context).buffers, i + 1);
		dt_check_ledger(context);
	}
	gpuplan_session_destroy(session);
	dt_check_ledger_zero(context);
	assert_int_equal(ledger(context).peak, expected);
	gpuplan_context_destroy(context);
}

static void
declarations_cost_nothing(void **state)
{
	struct gpuplan_context *context = dt_context();
	struct gpuplan_session *session = dt_session(context);

	(void)state;
	dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64 * MIB, "scratch");
	dt_alloc(session, GPUPLAN_STATE, GPUPLAN_HOST, 64 * MIB, "state");
	dt_check_ledger_zero(context);
	gpuplan_session_destroy(session);
	gpuplan_context_destroy(context);
}

/* Every stage of a model's life, each compared with the device's own count. */
static void
ledger_matches_device_at_every_stage(void **state)
{
	struct gpuplan_context *context = dt_context();
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 70000, "w");
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 5000, "s");
	struct gpuplan_command copy = dt_copy(gpuplan_slice(scratch, 0, 4096), gpuplan_slice(weight, 0, 4096));
	struct gpuplan_plan_params params = dt_plan_params(3, &copy, 1);
	struct gpuplan_plan_info info;
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	void *data = calloc(1, 70000);

	(void)state;
	dt_ok(gpuplan_session_upload(session, weight, data, &error), &error);
	free(data);
	assert_true(ledger(context).session > 0);
	dt_check_ledger(context);
	dt_kernel(context, session, "copy", "copy");
	assert_true(ledger(context).code > 0);
	dt_check_ledger(context);
	dt_ok(gpuplan_session_run(session, &copy, 1, &error), &error);
	dt_check_ledger(context);
	definition = dt_freeze(session);
	assert_int_equal(ledger(context).session, 0);
	assert_int_equal(ledger(context).weights, rounded(70000));
	dt_check_ledger(context);
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	gpuplan_plan_get_info(plan, &info);
	assert_int_equal(ledger(context).slots, 3 * info.slot_bytes);
	assert_int_equal(ledger(context).plans, info.plan_bytes);
	dt_check_ledger(context);
	gpuplan_plan_destroy(plan);
	assert_int_equal(ledger(context).slots, 0);
	dt_check_ledger(context);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
}

static void
contexts_count_for_themselves(void **state)
{
	struct gpuplan_context *a = dt_context(), *b = dt_context();
	struct gpuplan_session *session = dt_session(a);
	struct gpuplan_definition *definition;
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 3 * PAGE, "w");
	assert_int_equal(ledger(a).total, 3 * PAGE);
	assert_int_equal(ledger(b).total, 0);
	/* Frozen to another context of the same device, the weights change ledgers. */
	dt_ok(gpuplan_session_freeze(session, b, DT_SOON, &definition, &error), &error);
	assert_int_equal(ledger(a).total, 0);
	assert_int_equal(ledger(a).buffers, 0);
	assert_int_equal(ledger(b).weights, 3 * PAGE);
	assert_int_equal(ledger(b).buffers, 1);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(b);
	gpuplan_context_destroy(a);
	gpuplan_context_destroy(b);
}

static void
offline_is_counted_too(void **state)
{
	struct gpuplan_context *context = dt_offline("gfx1100");
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_memory m;

	(void)state;
	dt_weight(session, PAGE + 1, "w");
	gpuplan_context_get_memory(context, &m);
	assert_int_equal(m.weights, 2 * PAGE);
	assert_int_equal(m.total, 2 * PAGE);
	gpuplan_session_destroy(session);
	gpuplan_context_get_memory(context, &m);
	assert_int_equal(m.total, 0);
	gpuplan_context_destroy(context);
}

#define THREADS 4
#define ROUNDS 50

static void *
allocate_and_drop(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct gpuplan_session *session;

		if (gpuplan_session_create(arg, &session, NULL))
			return "session";
		for (uint64_t bytes = 1; bytes < 100000; bytes *= 7) {
			struct gpuplan_alloc_params params = {
				.size = sizeof(params), .use = GPUPLAN_WEIGHT, .bytes = bytes
			};
			struct gpuplan_region region;

			if (gpuplan_session_alloc(session, &params, &region, NULL))
				return "alloc";
		}
		gpuplan_session_destroy(session);
	}
	return NULL;
}

static void
threads_share_one_ledger(void **state)
{
	struct gpuplan_context *context = dt_context();
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_drop, context), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		if (failed)
			fail_msg("%s failed in a thread", (const char *)failed);
	}
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
}

/* ---- the budget ---- */

static int
alloc_weight(struct gpuplan_session *session, uint64_t bytes, const char *name, struct gpuplan_error *error)
{
	struct gpuplan_alloc_params params = {
		.size = sizeof(params), .use = GPUPLAN_WEIGHT, .bytes = bytes, .name = name
	};
	struct gpuplan_region region;

	return gpuplan_session_alloc(session, &params, &region, error);
}

static void
budget_refuses_and_names_the_numbers(void **state)
{
	struct gpuplan_context *context = dt_context_with(10 * PAGE);
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 6 * PAGE, "first");
	dt_refused(alloc_weight(session, 4 * PAGE + 1, "second", &error), ENOMEM, &error, "weight \"second\"",
		   "wants 20480 bytes", "24576", "budget of 40960");
	assert_int_equal(ledger(context).total, 6 * PAGE);
	assert_int_equal(ledger(context).peak, 6 * PAGE);
	assert_int_equal(ledger(context).buffers, 1);
	/* What fits to the byte is given. */
	dt_ok(alloc_weight(session, 4 * PAGE, "third", &error), &error);
	dt_refused(alloc_weight(session, 1, "fourth", &error), ENOMEM, &error, "wants 4096 bytes", "40960");
	dt_check_ledger(context);
	gpuplan_session_destroy(session);
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
}

static void
budget_counts_staging(void **state)
{
	struct gpuplan_context *context = dt_context_with(2 * PAGE);
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, PAGE, "w");
	struct gpuplan_error error;
	char data[PAGE] = { 0 };

	(void)state;
	dt_refused(gpuplan_session_upload(session, weight, data, &error), ENOMEM, &error, "staging", "budget of 8192");
	assert_int_equal(ledger(context).total, PAGE);
	dt_check_ledger(context);
	gpuplan_session_destroy(session);
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
}

static void
budget_counts_slots(void **state)
{
	struct gpuplan_context *context = dt_context_with(8 * MIB);
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, MIB, "s");
	struct gpuplan_command fill = dt_fill(scratch, 1);
	struct gpuplan_definition *definition = dt_freeze(session);
	struct gpuplan_plan_params params = dt_plan_params(4, &fill, 1);
	struct gpuplan_plan *plan, *another;
	struct gpuplan_error error;

	(void)state;
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	dt_check_ledger(context);
	params.capacity = 8;
	dt_refused(gpuplan_plan_create(definition, &params, &another, &error), ENOMEM, &error, "budget of 8388608");
	assert_int_equal(ledger(context).slots, ledger(context).total);
	dt_check_ledger(context);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(context);
	gpuplan_context_destroy(context);
}

static void
budget_of_the_context_frozen_to(void **state)
{
	struct gpuplan_context *a = dt_context(), *b = dt_context_with(PAGE);
	struct gpuplan_session *session = dt_session(a);
	struct gpuplan_definition *definition;
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 2 * PAGE, "w");
	dt_refused(gpuplan_session_freeze(session, b, DT_SOON, &definition, &error), ENOMEM, &error, "wants 8192",
		   "budget of 4096");
	assert_int_equal(ledger(a).total, 2 * PAGE);
	assert_int_equal(ledger(b).total, 0);
	definition = dt_freeze(session);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(a);
	gpuplan_context_destroy(a);
	gpuplan_context_destroy(b);
}

static void
impossible_sizes_are_refused(void **state)
{
	struct gpuplan_context *context = dt_context();
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_refused(alloc_weight(session, UINT64_MAX, "w", &error), ENOMEM, &error, "18446744073709551615");
	dt_refused(alloc_weight(session, UINT64_MAX - 4094, "w", &error), ENOMEM, &error, "\"w\"");
	dt_refused(alloc_weight(session, 1ull << 46, "w", &error), ENOMEM, &error, "70368744177664", "\"w\"");
	dt_check_ledger_zero(context);
	gpuplan_session_destroy(session);
	gpuplan_context_destroy(context);
}

/* ---- the context itself ---- */

static void
context_refusals(void **state)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_error error;

	(void)state;
	params.flags = 1;
	dt_refused(gpuplan_context_create(&params, &context, &error), EINVAL, &error, "flags 0x1");
	params.flags = 0;
	params.size = 4;
	dt_refused(gpuplan_context_create(&params, &context, &error), EINVAL, &error, "size 4");
	params.size = sizeof(params);
	params.reserved[3] = 1;
	dt_refused(gpuplan_context_create(&params, &context, &error), EINVAL, &error, "reserved[3]");
	params.reserved[3] = 0;
	params.offline_target = "gfx803";
	dt_refused(gpuplan_context_create(&params, &context, &error), ENOTSUP, &error, "gfx803", "gfx1100");
	params.device = "/dev/dri/renderD128";
	dt_refused(gpuplan_context_create(&params, &context, &error), EINVAL, &error, "renderD128", "gfx803");
	params.offline_target = NULL;
	params.device = "/dev/null";
	dt_refused(gpuplan_context_create(&params, &context, &error), ENODEV, &error, "/dev/null", "amdgpu");
	params.device = "/nonexistent";
	dt_refused(gpuplan_context_create(&params, &context, &error), ENODEV, &error, "/nonexistent");
	/* No error struct is fine as well. */
	assert_int_equal(gpuplan_context_create(&params, &context, NULL), -ENODEV);
	gpuplan_context_destroy(NULL);
}

static void
context_takes_newer_params(void **state)
{
	struct {
		struct gpuplan_context_params known;
		uint64_t newer;
	} params = { .known = GPUPLAN_CONTEXT_PARAMS_INIT };
	struct gpuplan_context *context;
	struct gpuplan_error error;

	(void)state;
	params.known.size = sizeof(params);
	params.known.offline_target = "gfx1100";
	dt_ok(gpuplan_context_create(&params.known, &context, &error), &error);
	gpuplan_context_destroy(context);
	params.newer = 1;
	dt_refused(gpuplan_context_create(&params.known, &context, &error), EINVAL, &error, "this library knows");
}

static void
context_tells_what_it_is(void **state)
{
	struct gpuplan_context *context = dt_context();
	struct gpuplan_context_info info;

	(void)state;
	gpuplan_context_get_info(context, &info);
	assert_int_equal(strncmp(info.target, "gfx", 3), 0);
	assert_int_equal(strncmp(info.device, "/dev/dri/renderD", 16), 0);
	assert_true(strlen(info.name) > 0);
	assert_true(info.vram_bytes >= info.visible_vram_bytes);
	assert_true(info.gtt_bytes > 0);
	assert_true(info.drm_minor > 0);
	assert_true(info.max_block >= 256);
	assert_true(info.max_groups[0] >= 65535 && info.max_groups[2] >= 65535);
	gpuplan_context_destroy(context);
}

/* ---- every kernel call fails once ---- */

#define CHILD_UNTOUCHED 10 /* nothing failed */
#define CHILD_CLEAN 11	/* failed, left nothing behind, worked the second time */
#define CHILD_SILENT 12 /* failed without a sentence */
#define CHILD_LEAKED 13
#define CHILD_BROKEN 14 /* the second time failed as well */

static int
use_session(struct gpuplan_context *context, struct gpuplan_session *session, struct gpuplan_region *region,
	    struct gpuplan_error *error)
{
	struct gpuplan_alloc_params params = { .size = sizeof(params), .use = GPUPLAN_WEIGHT, .bytes = 100000 };
	struct gpuplan_context_info info;
	struct gpuplan_command commands[2];
	struct gpuplan_region scratch;
	char data[100000] = { 0 };
	uint32_t code;
	size_t bytes;
	void *elf;
	int r;

	gpuplan_context_get_info(context, &info);
	r = gpuplan_session_alloc(session, &params, region, error);
	params.use = GPUPLAN_STATE;
	if (r || (r = gpuplan_session_alloc(session, &params, &scratch, error)) ||
	    (r = gpuplan_session_upload(session, *region, data, error)))
		return r;
	elf = dt_shader(info.target, "copy", &bytes);
	r = gpuplan_session_load(session, elf, bytes, "copy", &code, error);
	free(elf);
	if (r)
		return r;
	commands[0] = dt_fill(scratch, 3);
	commands[1] = dt_copy(*region, scratch);
	r = gpuplan_session_run(session, commands, 2, error);
	if (!r)
		r = gpuplan_session_download(session, *region, data, DT_SOON, error);
	*region = scratch;
	return r;
}

static int
use_definition(struct gpuplan_definition *definition, struct gpuplan_region scratch, struct gpuplan_error *error)
{
	struct gpuplan_command fill = dt_fill(scratch, 5);
	struct gpuplan_plan_params params = dt_plan_params(2, &fill, 1);
	struct gpuplan_plan *plan;
	int r = gpuplan_plan_create(definition, &params, &plan, error);

	if (!r)
		gpuplan_plan_destroy(plan);
	return r;
}

static bool
left_nothing(struct gpuplan_context *context)
{
	struct gpuplan_memory m = ledger(context);
	struct dt_stats stats = { 0 };

	dt_device_stats(context, &stats);
	return !m.total && !m.buffers && !stats.vram && !stats.gtt && !stats.objects;
}

static int
use_everything(struct gpuplan_error *error, bool *leaked)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_definition *definition;
	struct gpuplan_session *session;
	struct gpuplan_context *context;
	struct gpuplan_region region;
	int r = gpuplan_context_create(&params, &context, error);

	if (r)
		return r;
	r = gpuplan_session_create(context, &session, error);
	if (!r) {
		r = use_session(context, session, &region, error);
		if (!r)
			r = gpuplan_session_freeze(session, NULL, DT_SOON, &definition, error);
		if (r)
			gpuplan_session_destroy(session);
	}
	if (!r) {
		r = use_definition(definition, region, error);
		gpuplan_definition_destroy(definition);
	}
	*leaked = !left_nothing(context);
	gpuplan_context_destroy(context);
	return r;
}

static int
child_fails_once(void)
{
	struct gpuplan_error error = { 0 };
	bool leaked = false, again = false;
	int r = use_everything(&error, &leaked);

	if (leaked)
		return CHILD_LEAKED;
	if (!r)
		return CHILD_UNTOUCHED;
	printf("    %s\n", error.message);
	if (error.code != r || !error.message[0])
		return CHILD_SILENT;
	if (use_everything(&error, &again))
		printf("    second time: %s\n", error.message);
	else
		return again ? CHILD_LEAKED : CHILD_CLEAN;
	return CHILD_BROKEN;
}

/* Stops some calls after the last one that happened. */
static void
each_call_fails(const char *ioctl, const char *error_name)
{
	int clean = 0, untouched = 0;

	for (int n = 1; untouched < 8; n++) {
		char value[64];
		int status;

		snprintf(value, sizeof(value), "%s:%d:%s", ioctl, n, error_name);
		status = dt_run_self("fail-once", "SOFTGPU_FAIL", value);
		if (status == CHILD_CLEAN) {
			clean++;
			untouched = 0;
		} else if (status == CHILD_UNTOUCHED) {
			untouched++;
		} else {
			fail_msg("SOFTGPU_FAIL=%s: child ended with %d", value, status);
		}
	}
	print_message("    %s: %d calls failed and left nothing\n", ioctl, clean);
	assert_true(clean > 0);
}

static void
skip_unless_softgpu(void)
{
	struct gpuplan_context *context = dt_context();
	struct dt_stats stats;
	bool told = dt_device_stats(context, &stats);

	gpuplan_context_destroy(context);
	if (!told)
		skip();
}

#define FAILS(name, ioctl, error_name)            \
	static void name(void **state)            \
	{                                         \
		(void)state;                      \
		skip_unless_softgpu();            \
		each_call_fails(ioctl, error_name); \
	}

FAILS(gem_create_fails, "GEM_CREATE", "ENOMEM")
FAILS(gem_va_fails, "GEM_VA", "ENOMEM")
FAILS(gem_mmap_fails, "GEM_MMAP", "ENOMEM")
FAILS(ctx_fails, "CTX", "ENOMEM")
FAILS(cs_fails, "CS", "ENOMEM")
FAILS(info_fails, "INFO", "EINVAL")
FAILS(syncobj_create_fails, "SYNCOBJ_CREATE", "ENOMEM")

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger_counts_pages),
		cmocka_unit_test(declarations_cost_nothing),
		cmocka_unit_test(ledger_matches_device_at_every_stage),
		cmocka_unit_test(contexts_count_for_themselves),
		cmocka_unit_test(offline_is_counted_too),
		cmocka_unit_test(threads_share_one_ledger),
		cmocka_unit_test(budget_refuses_and_names_the_numbers),
		cmocka_unit_test(budget_counts_staging),
		cmocka_unit_test(budget_counts_slots),
		cmocka_unit_test(budget_of_the_context_frozen_to),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(context_refusals),
		cmocka_unit_test(context_takes_newer_params),
		cmocka_unit_test(context_tells_what_it_is),
		cmocka_unit_test(gem_create_fails),
		cmocka_unit_test(gem_va_fails),
		cmocka_unit_test(gem_mmap_fails),
		cmocka_unit_test(ctx_fails),
		cmocka_unit_test(cs_fails),
		cmocka_unit_test(info_fails),
		cmocka_unit_test(syncobj_create_fails),
	};

	if (argc == 2 && !strcmp(argv[1], "fail-once"))
		return child_fails_once();
	gpuplan_context_destroy(dt_context());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
