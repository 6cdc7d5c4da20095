/* SPDX-License-Identifier: MIT */
/* device_test.h: what the device tests share. They use the public API only, plus what softgpu tells from outside, and
 * run on softgpu (`softgpu --strict --hostile -- TEST`) or on a real GPU.
 *
 * Exit status: 0 passed, 77 no device, else failed.
 */
#ifndef DEVICE_TEST_H
#define DEVICE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuplan.h"

#define DT_SKIP 77
#define DT_UNUSED __attribute__((unused)) static

/* ---- expectations ---- */

/* r is 0, or the test fails with the library's sentence. */
#define dt_ok(r, error) dt_ok_at((r), (error), #r, __FILE__, __LINE__)
/* r is that negative errno and the sentence contains each of the texts. */
#define dt_refused(r, errno_, error, ...) \
	dt_refused_at((r), -(errno_), (error), #r, __FILE__, __LINE__, (const char *const[]){ __VA_ARGS__, NULL })

DT_UNUSED void
dt_ok_at(int r, const struct gpuplan_error *error, const char *call, const char *file, int line)
{
	if (!r)
		return;
	print_error("%s\n  returned %d: %s\n", call, r, error->message);
	_fail(file, line);
}

DT_UNUSED void
dt_refused_at(int r, int wanted, const struct gpuplan_error *error, const char *call, const char *file, int line,
	      const char *const *texts)
{
	bool good = r == wanted && error->code == wanted;

	for (; good && *texts; texts++)
		good = strstr(error->message, *texts) != NULL;
	if (good)
		return;
	print_error("%s\n  returned %d (%d wanted): %s\n", call, r, wanted, r ? error->message : "-");
	if (*texts)
		print_error("  the sentence should contain: %s\n", *texts);
	_fail(file, line);
}

/* ---- context ---- */

DT_UNUSED uint64_t
dt_after_ms(uint64_t ms)
{
	return gpuplan_now() + ms * 1000000u;
}

/* Long enough for any job that ends at all. */
#define DT_SOON dt_after_ms(60000)

/* Opens the device with a budget (0: none), or leaves with 77. */
DT_UNUSED struct gpuplan_context *
dt_context_with(uint64_t budget)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_error error;
	int r;

	params.memory_budget = budget;
	r = gpuplan_context_create(&params, &context, &error);
	if (r == -ENODEV) {
		printf("skipped: %s\n", error.message);
		exit(DT_SKIP);
	}
	dt_ok(r, &error);
	return context;
}

DT_UNUSED struct gpuplan_context *
dt_context(void)
{
	return dt_context_with(0);
}

DT_UNUSED struct gpuplan_context *
dt_offline(const char *target)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_error error;

	params.offline_target = target;
	dt_ok(gpuplan_context_create(&params, &context, &error), &error);
	return context;
}

/* ---- sessions ---- */

DT_UNUSED struct gpuplan_session *
dt_session(struct gpuplan_context *context)
{
	struct gpuplan_session *session;
	struct gpuplan_error error;

	dt_ok(gpuplan_session_create(context, &session, &error), &error);
	return session;
}

DT_UNUSED struct gpuplan_region
dt_alloc(struct gpuplan_session *session, enum gpuplan_use use, enum gpuplan_placement placement, uint64_t bytes,
	 const char *name)
{
	struct gpuplan_alloc_params params = {
		.size = sizeof(params), .use = use, .placement = placement, .bytes = bytes, .name = name
	};
	struct gpuplan_region region;
	struct gpuplan_error error;

	dt_ok(gpuplan_session_alloc(session, &params, &region, &error), &error);
	return region;
}

DT_UNUSED struct gpuplan_region
dt_weight(struct gpuplan_session *session, uint64_t bytes, const char *name)
{
	return dt_alloc(session, GPUPLAN_WEIGHT, GPUPLAN_DEVICE, bytes, name);
}

DT_UNUSED struct gpuplan_definition *
dt_freeze(struct gpuplan_session *session)
{
	struct gpuplan_definition *definition;
	struct gpuplan_error error;

	dt_ok(gpuplan_session_freeze(session, NULL, DT_SOON, &definition, &error), &error);
	return definition;
}

DT_UNUSED struct gpuplan_plan_params
dt_plan_params(uint32_t capacity, const struct gpuplan_command *commands, uint32_t n_commands)
{
	return (struct gpuplan_plan_params){
		.size = sizeof(struct gpuplan_plan_params),
		.capacity = capacity,
		.commands = commands,
		.n_commands = n_commands,
	};
}

DT_UNUSED struct gpuplan_command
dt_fill(struct gpuplan_region dst, uint32_t value)
{
	struct gpuplan_command command = { .kind = GPUPLAN_FILL };

	command.u.fill.dst = dst;
	command.u.fill.value = value;
	return command;
}

DT_UNUSED struct gpuplan_command
dt_copy(struct gpuplan_region dst, struct gpuplan_region src)
{
	struct gpuplan_command command = { .kind = GPUPLAN_COPY };

	command.u.copy.dst = dst;
	command.u.copy.src = src;
	return command;
}

/* ---- kernels: the shaders built beside the test ---- */

/* A file of the build tree that build/tests/.../TEST belongs to; the caller frees. */
DT_UNUSED void *
dt_built_file(const char *name, size_t *bytes)
{
	char path[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 256);
	void *data;
	FILE *file;

	assert_true(n > 0);
	path[n] = 0;
	for (int i = 0; i < 3; i++)
		if ((slash = strrchr(path, '/')))
			*slash = 0;
	snprintf(path + strlen(path), 256, "/%s", name);
	file = fopen(path, "rb");
	if (!file) {
		print_error("%s: %s\n", path, strerror(errno));
		fail();
	}
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	data = malloc(*bytes);
	assert_int_equal(fread(data, 1, *bytes, file), *bytes);
	fclose(file);
	return data;
}

/* share/gpuplan/shaders/TARGET/STEM.co; the caller frees. */
DT_UNUSED void *
dt_shader(const char *target, const char *stem, size_t *bytes)
{
	char name[128];

	snprintf(name, sizeof(name), "share/gpuplan/shaders/%s/%s.co", target, stem);
	return dt_built_file(name, bytes);
}

/* A code object made for tests (tests/code_object.mk); the caller frees. */
DT_UNUSED void *
dt_test_object(const char *object, size_t *bytes)
{
	char name[128];

	snprintf(name, sizeof(name), "tests/objects/%s", object);
	return dt_built_file(name, bytes);
}

DT_UNUSED struct gpuplan_kernel
dt_kernel(struct gpuplan_context *context, struct gpuplan_session *session, const char *stem, const char *symbol)
{
	struct gpuplan_context_info info;
	struct gpuplan_kernel kernel;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf;

	gpuplan_context_get_info(context, &info);
	elf = dt_shader(info.target, stem, &bytes);
	dt_ok(gpuplan_session_load(session, elf, bytes, stem, &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, symbol, &kernel, &error), &error);
	free(elf);
	return kernel;
}

/* ---- softgpu's own accounting ---- */

struct dt_stats {
	uint64_t vram, gtt, objects;
};

DT_UNUSED bool
dt_json_number(const char *text, const char *member, uint64_t *value)
{
	char quoted[64];
	const char *place;

	snprintf(quoted, sizeof(quoted), "\"%s\"", member);
	place = strstr(text, quoted);
	if (!place)
		return false;
	place += strlen(quoted);
	while (*place == ' ' || *place == ':')
		place++;
	*value = strtoull(place, NULL, 0);
	return true;
}

/* False on a device that does not tell (a real GPU). */
DT_UNUSED bool
dt_device_stats(struct gpuplan_context *context, struct dt_stats *stats)
{
	struct gpuplan_context_info info;
	char path[128], text[8192];
	const char *node;
	ssize_t n;
	int fd;

	gpuplan_context_get_info(context, &info);
	node = strrchr(info.device, '/');
	if (!node)
		return false;
	snprintf(path, sizeof(path), "/sys/class/drm/%.63s/device/softgpu_stats", node + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	return dt_json_number(text, "gem_bytes_vram", &stats->vram) &&
	       dt_json_number(text, "gem_bytes_gtt", &stats->gtt) &&
	       dt_json_number(text, "gem_objects", &stats->objects);
}

/* The ledger adds up, and equals what the device counts when it does. */
DT_UNUSED void
dt_check_ledger(struct gpuplan_context *context)
{
	struct gpuplan_memory m;
	struct dt_stats stats;

	gpuplan_context_get_memory(context, &m);
	assert_int_equal(m.total, m.weights + m.code + m.session + m.plans + m.slots);
	assert_true(m.peak >= m.total);
	if (!dt_device_stats(context, &stats))
		return;
	assert_int_equal(stats.vram + stats.gtt, m.total);
	assert_int_equal(stats.objects, m.buffers);
}

DT_UNUSED void
dt_check_ledger_zero(struct gpuplan_context *context)
{
	struct gpuplan_memory m;

	gpuplan_context_get_memory(context, &m);
	assert_int_equal(m.total, 0);
	assert_int_equal(m.buffers, 0);
	dt_check_ledger(context);
}

/* ---- this program again, with another environment ---- */

/* Runs this program with one argument and name=value set. Returns its exit status, -1 when a signal ended it. */
DT_UNUSED int
dt_run_self(const char *argument, const char *name, const char *value)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int status;
	pid_t pid;

	assert_true(n > 0);
	path[n] = 0;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv(name, value, 1);
		execl(path, path, argument, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
