/* SPDX-License-Identifier: MIT */
/* What a session refuses, each with its own sentence that names both sides, and nothing changed afterwards. */
#include "device_test.h"

static struct gpuplan_memory
ledger(struct gpuplan_context *context)
{
	struct gpuplan_memory m;

	gpuplan_context_get_memory(context, &m);
	return m;
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

/* ---- allocations and regions ---- */

static int
try_alloc(struct gpuplan_session *session, enum gpuplan_use use, int placement, uint64_t bytes,
	  struct gpuplan_error *error)
{
	struct gpuplan_alloc_params params = {
		.size = sizeof(params), .use = use, .placement = (enum gpuplan_placement)placement, .bytes = bytes,
		.name = "it"
	};
	struct gpuplan_region region;

	return gpuplan_session_alloc(session, &params, &region, error);
}

static void
alloc_of_zero_bytes(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_refused(try_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 0, &error), EINVAL, &error, "\"it\"", "0 bytes");
	gpuplan_session_destroy(session);
}

static void
alloc_of_unknown_use(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_refused(try_alloc(session, 0, 0, 4, &error), EINVAL, &error, "\"it\"", "use 0");
	dt_refused(try_alloc(session, (enum gpuplan_use)4, 0, 4, &error), EINVAL, &error, "\"it\"", "use 4");
	gpuplan_session_destroy(session);
}

static void
alloc_of_unknown_placement(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_refused(try_alloc(session, GPUPLAN_STATE, 2, 4, &error), EINVAL, &error, "\"it\"", "placement 2");
	gpuplan_session_destroy(session);
}

static void
alloc_of_a_host_weight(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;

	(void)state;
	dt_refused(try_alloc(session, GPUPLAN_WEIGHT, GPUPLAN_HOST, 4, &error), EINVAL, &error, "\"it\"", "host");
	gpuplan_session_destroy(session);
}

static void
unnamed_allocation_is_called_by_its_number(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region region;
	struct gpuplan_error error;

	(void)state;
	dt_weight(session, 8, "first");
	region = dt_weight(session, 8, NULL);
	region.bytes = 9;
	dt_refused(gpuplan_session_upload(session, region, "123456789", &error), EINVAL, &error, "\"#1\"");
	gpuplan_session_destroy(session);
}

/* One weight of 4100 bytes; a region that is wrong in one way. */
static void
refuse_region(struct gpuplan_session *session, struct gpuplan_region region, int errno_, const char *text,
	      const char *other_text)
{
	uint64_t before = ledger(context).total;
	struct gpuplan_error error;
	char data[64] = { 0 };

	dt_refused(gpuplan_session_upload(session, region, data, &error), errno_, &error, "upload", text, other_text);
	dt_refused(gpuplan_session_download(session, region, data, DT_SOON, &error), errno_, &error, "download", text,
		   other_text);
	assert_int_equal(ledger(context).total, before);
}

static void
region_past_its_allocation(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4100, "conv1.weight");

	(void)state;
	refuse_region(session, gpuplan_slice(weight, 4096, 64), EINVAL, "\"conv1.weight\" offset 4096 + 64 bytes",
		      "ends past its allocation of 4100 bytes");
	refuse_region(session, gpuplan_slice(weight, 4100, 1), EINVAL, "offset 4100 + 1 bytes", "4100 bytes");
	gpuplan_session_destroy(session);
}

static void
region_whose_end_overflows(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4100, "conv1.weight");

	(void)state;
	refuse_region(session, gpuplan_slice(weight, UINT64_MAX - 3, 8), EINVAL, "offset 18446744073709551612 + 8 bytes",
		      "64 bits");
	refuse_region(session, gpuplan_slice(weight, 8, UINT64_MAX), EINVAL, "offset 8 + 18446744073709551615 bytes",
		      "4100 bytes");
	gpuplan_session_destroy(session);
}

static void
region_of_zero_bytes(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 4100, "conv1.weight");

	(void)state;
	refuse_region(session, gpuplan_slice(weight, 16, 0), EINVAL, "\"conv1.weight\"", "0 bytes");
	gpuplan_session_destroy(session);
}

static void
region_of_another_session(void **state)
{
	struct gpuplan_session *session = dt_session(context), *other = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 64, "w"), foreign = dt_weight(other, 64, "f");
	char theirs[64], ours[64];

	(void)state;
	snprintf(theirs, sizeof(theirs), "belongs to session %llu", (unsigned long long)foreign.session);
	snprintf(ours, sizeof(ours), "this is session %llu", (unsigned long long)weight.session);
	refuse_region(session, foreign, EINVAL, theirs, ours);
	gpuplan_session_destroy(other);
	gpuplan_session_destroy(session);
}

static void
region_of_no_session(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region nothing = { .bytes = 4 };

	(void)state;
	dt_weight(session, 64, "w");
	refuse_region(session, nothing, EINVAL, "no session", "this is session");
	gpuplan_session_destroy(session);
}

static void
region_of_an_unknown_allocation(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 64, "w");

	(void)state;
	weight.allocation = 1;
	refuse_region(session, weight, ENOENT, "allocation 1", "has 1");
	weight.allocation = UINT32_MAX;
	refuse_region(session, weight, ENOENT, "allocation 4294967295", "has 1");
	gpuplan_session_destroy(session);
}

static void
region_with_a_reserved_member(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region weight = dt_weight(session, 64, "w");

	(void)state;
	weight.reserved = 5;
	refuse_region(session, weight, EINVAL, "\"w\"", "reserved member 5");
	gpuplan_session_destroy(session);
}

static void
upload_to_scratch(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64, "tmp");
	struct gpuplan_error error;
	char data[64] = { 0 };

	(void)state;
	dt_refused(gpuplan_session_upload(session, scratch, data, &error), EINVAL, &error, "\"tmp\" is scratch");
	dt_refused(gpuplan_session_upload(session, dt_weight(session, 4, "w"), NULL, &error), EINVAL, &error, "NULL");
	gpuplan_session_destroy(session);
}

static void
download_of_scratch_nobody_used(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_region scratch = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 64, "tmp");
	struct gpuplan_error error;
	char data[64];

	(void)state;
	dt_refused(gpuplan_session_download(session, scratch, data, DT_SOON, &error), EINVAL, &error, "scratch \"tmp\"",
		   "no memory");
	gpuplan_session_destroy(session);
}

/* ---- code ---- */

static void
kernel_that_is_not_there(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_kernel kernel, again, found = dt_kernel(context, session, "fill", "fill");
	struct gpuplan_error error;

	(void)state;
	dt_refused(gpuplan_session_kernel(session, 0, "nonsense", &kernel, &error), ENOENT, &error, "\"nonsense\"",
		   "it has fill");
	dt_refused(gpuplan_session_kernel(session, 1, "fill", &kernel, &error), ENOENT, &error, "code object 1", "has 1");
	dt_refused(gpuplan_session_kernel(session, 0, NULL, &kernel, &error), EINVAL, &error, "no name");
	/* Looked up twice it is the same. */
	dt_ok(gpuplan_session_kernel(session, 0, "fill", &again, &error), &error);
	assert_int_equal(again.index, found.index);
	assert_int_equal(again.session, found.session);
	gpuplan_session_destroy(session);
}

static void
code_that_is_none(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_error error;
	uint32_t code;

	(void)state;
	dt_refused(gpuplan_session_load(session, "nonsense", 8, "rubbish", &code, &error), ENOEXEC, &error, "rubbish");
	assert_int_equal(ledger(context).total, 0);
	gpuplan_session_destroy(session);
}

static void
code_for_another_target(void **state)
{
	struct gpuplan_session *session = dt_session(context);
	struct gpuplan_context_info info;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf;

	(void)state;
	gpuplan_context_get_info(context, &info);
	elf = dt_shader("gfx906", "fill", &bytes);
	dt_refused(gpuplan_session_load(session, elf, bytes, "fill", &code, &error), ENOTSUP, &error, "gfx906", info.target);
	free(elf);
	assert_int_equal(ledger(context).total, 0);
	gpuplan_session_destroy(session);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(alloc_of_zero_bytes),
		TEST(alloc_of_unknown_use),
		TEST(alloc_of_unknown_placement),
		TEST(alloc_of_a_host_weight),
		TEST(unnamed_allocation_is_called_by_its_number),
		TEST(region_past_its_allocation),
		TEST(region_whose_end_overflows),
		TEST(region_of_zero_bytes),
		TEST(region_of_another_session),
		TEST(region_of_no_session),
		TEST(region_of_an_unknown_allocation),
		TEST(region_with_a_reserved_member),
		TEST(upload_to_scratch),
		TEST(download_of_scratch_nobody_used),
		TEST(kernel_that_is_not_there),
		TEST(code_that_is_none),
		TEST(code_for_another_target),
	};

	gpuplan_context_destroy(dt_context());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
