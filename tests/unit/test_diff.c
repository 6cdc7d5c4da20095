/* SPDX-License-Identifier: MIT */
/* Promise: images diff. Two plans that differ by one command differ by just that in gpuplan-dump --diff, and plans of
 * the same input not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuplan.h"

#define TEST(name) static void name(void **state)
#define N 40u

static struct gpuplan_context *context;
static struct gpuplan_definition *definition;
static struct gpuplan_region a, b, c;
static char dump[4096];
static char folder[] = "/tmp/test_diff.XXXXXX";

static struct gpuplan_region
alloc(struct gpuplan_session *session, const char *name)
{
	struct gpuplan_alloc_params params = { sizeof(params), GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 0, 4096, name };
	struct gpuplan_region region;

	assert_int_equal(gpuplan_session_alloc(session, &params, &region, NULL), 0);
	return region;
}

static int
setup(void **state)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_session *session;
	ssize_t n = readlink("/proc/self/exe", dump, sizeof(dump) - 64);

	(void)state;
	assert_true(n > 0);
	dump[n] = 0;
	for (int i = 0; i < 3; i++)
		*strrchr(dump, '/') = 0;
	strcat(dump, "/bin/gpuplan-dump");
	assert_non_null(mkdtemp(folder));
	params.offline_target = "gfx1100";
	assert_int_equal(gpuplan_context_create(&params, &context, NULL), 0);
	assert_int_equal(gpuplan_session_create(context, &session, NULL), 0);
	a = alloc(session, "a");
	b = alloc(session, "b");
	c = alloc(session, "c");
	return gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000, &definition, NULL);
}

static int
teardown(void **state)
{
	char path[64];

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		unlink(path);
	}
	rmdir(folder);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	return 0;
}

/* N commands, each with a label of its own: fills of a, copies of it to b. */
static void
commands_of(struct gpuplan_command *commands, char labels[][16])
{
	for (uint32_t i = 0; i < N; i++) {
		snprintf(labels[i], 16, "step %u", i);
		commands[i] = (struct gpuplan_command){ .kind = i % 2 ? GPUPLAN_COPY : GPUPLAN_FILL, .label = labels[i] };
		if (i % 2) {
			commands[i].u.copy.dst = gpuplan_slice(b, 4 * i, 4);
			commands[i].u.copy.src = gpuplan_slice(a, 4 * i - 4, 4);
		} else {
			commands[i].u.fill.dst = gpuplan_slice(a, 4 * i, 4);
			commands[i].u.fill.value = i;
		}
	}
}

static void
save(int number, const struct gpuplan_command *commands, uint32_t n)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1, .commands = commands, .n_commands = n };
	struct gpuplan_plan *plan;
	const void *image;
	char path[64];
	size_t bytes;
	FILE *f;

	assert_int_equal(gpuplan_plan_create(definition, &params, &plan, NULL), 0);
	image = gpuplan_plan_image(plan, &bytes);
	snprintf(path, sizeof(path), "%s/%d", folder, number);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(image, 1, bytes, f), bytes);
	fclose(f);
	gpuplan_plan_destroy(plan);
}

/* Padding hides some changes of the stream's length and not others. */
static void
drop_stream_lengths(char *text)
{
	char *at;

	while ((at = strstr(text, " stream dwords\n"))) {
		char *end = strchr(at, '\n') + 1;

		while (at > text && at[-1] != '\n')
			at--;
		memmove(at, end, strlen(end) + 1);
	}
}

static void
expect(int status, const char *wanted)
{
	char command[sizeof(dump) + 256], text[4096];
	size_t n;
	FILE *f;
	int r;

	snprintf(command, sizeof(command), "'%s' --diff %s/0 %s/1", dump, folder, folder);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	r = pclose(f);
	drop_stream_lengths(text);
	assert_string_equal(text, wanted);
	assert_true(WIFEXITED(r));
	assert_int_equal(WEXITSTATUS(r), status);
}

TEST(equal_plans_do_not_differ)
{
	struct gpuplan_command commands[N];
	char labels[N][16];

	(void)state;
	commands_of(commands, labels);
	save(0, commands, N);
	save(1, commands, N);
	expect(0, "");
}

TEST(one_command_more)
{
	struct gpuplan_command commands[N], more[N + 1];
	char labels[N][16];

	(void)state;
	commands_of(commands, labels);
	save(0, commands, N);
	memcpy(more, commands, sizeof(more[0]) * 10);
	more[10] = (struct gpuplan_command){ .kind = GPUPLAN_FILL, .label = "new" };
	more[10].u.fill.dst = gpuplan_slice(b, 4000, 16);
	more[10].u.fill.value = 0xabc;
	memcpy(more + 11, commands + 10, sizeof(more[0]) * (N - 10));
	save(1, more, N + 1);
	expect(1, "allocations\n"
		  "  - scratch \"b\" of 4096 bytes, 160 referenced\n"
		  "  + scratch \"b\" of 4096 bytes, 4016 referenced\n"
		  "commands\n"
		  "  + fill \"new\" with 0x00000abc, writes b[4000..4016)\n"
		  "sums\n"
		  "  - 40 commands\n"
		  "  + 41 commands\n"
		  "  - 416 bytes of device memory per slot\n"
		  "  + 4272 bytes of device memory per slot\n");
}

TEST(one_command_less)
{
	struct gpuplan_command commands[N];
	char labels[N][16];

	(void)state;
	commands_of(commands, labels);
	commands[38].u.fill.dst = gpuplan_slice(a, 0, 4);
	save(0, commands, N);
	memmove(commands + 38, commands + 39, sizeof(commands[0]));
	save(1, commands, N - 1);
	expect(1, "commands\n"
		  "  - fill \"step 38\" with 0x00000026, writes a[0..4)\n"
		  "sums\n"
		  "  - 40 commands\n"
		  "  + 39 commands\n");
}

TEST(one_value)
{
	struct gpuplan_command commands[N];
	char labels[N][16];

	(void)state;
	commands_of(commands, labels);
	save(0, commands, N);
	commands[4].u.fill.value = 5;
	save(1, commands, N);
	expect(1, "commands\n"
		  "  - fill \"step 4\" with 0x00000004, writes a[16..20)\n"
		  "  + fill \"step 4\" with 0x00000005, writes a[16..20)\n");
}

TEST(nothing_in_common)
{
	struct gpuplan_command *fills = calloc(3000, sizeof(*fills)), none = { .kind = GPUPLAN_FILL };
	char command[sizeof(dump) + 256];
	int r;

	(void)state;
	assert_non_null(fills);
	for (uint32_t i = 0; i < 3000; i++) {
		fills[i] = none;
		fills[i].u.fill.dst = gpuplan_slice(c, 0, 4);
		fills[i].u.fill.value = i;
	}
	save(0, fills, 3000);
	for (uint32_t i = 0; i < 3000; i++)
		fills[i].u.fill.value = ~i;
	save(1, fills, 3000);
	free(fills);
	snprintf(command, sizeof(command), "test $('%s' --diff %s/0 %s/1 | grep -c '^  [-+] fill') = 6000", dump, folder,
		 folder);
	r = system(command);
	assert_int_equal(r, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_plans_do_not_differ),
		cmocka_unit_test(one_command_more),
		cmocka_unit_test(one_command_less),
		cmocka_unit_test(one_value),
		cmocka_unit_test(nothing_in_common),
	};

	return cmocka_run_group_tests_name("diff", tests, setup, teardown);
}
