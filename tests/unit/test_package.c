/* SPDX-License-Identifier: MIT */
/*
 * Model packages: what is refused, with which sentence, and what reaches the session and the plan.
 *
 * The session and plan calls are stand-ins defined here, which record what they are given. A definition in the
 * program comes before the one in libgpuplan.a, so link with the archive and not with the shared object.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "gpuplan.h"

/* ---- a small package in a folder of its own ---- */

static char folder[64];

static const char base_json[] =
	"{\"format\": 1, \"name\": \"small\", \"description\": \"for tests\", \"weights\": [\"w.safetensors\"],"
	" \"allocations\": ["
	"  {\"name\": \"w\", \"kind\": \"weight\", \"dtype\": \"f32\", \"shape\": [2, 2], \"tensor\": \"t\"},"
	"  {\"name\": \"x\", \"kind\": \"scratch\", \"placement\": \"host\", \"bytes\": 64},"
	"  {\"name\": \"s\", \"kind\": \"state\", \"placement\": \"device\", \"dtype\": \"f32\", \"shape\": [8], \"bytes\": 32}],"
	" \"kernels\": [{\"name\": \"k\", \"object\": \"obj\", \"symbol\": \"sym\"}, {\"name\": \"k2\", \"object\": \"obj\"}],"
	" \"plans\": [{\"name\": \"p\","
	"  \"inputs\": [{\"name\": \"in\", \"region\": {\"allocation\": \"x\", \"offset\": 0, \"bytes\": 16},"
	"   \"dtype\": \"f32\", \"shape\": [1, 4]}],"
	"  \"outputs\": [{\"name\": \"out\", \"region\": {\"allocation\": \"x\", \"offset\": 48, \"bytes\": 16},"
	"   \"dtype\": \"u16\", \"shape\": [8]}],"
	"  \"commands\": ["
	"   {\"fill\": {\"dst\": {\"allocation\": \"s\", \"offset\": 0, \"bytes\": 4}, \"value\": 7}},"
	"   {\"copy\": {\"dst\": {\"allocation\": \"x\", \"offset\": 16, \"bytes\": 8},"
	"     \"src\": {\"allocation\": \"s\", \"offset\": 8, \"bytes\": 8}}, \"label\": \"move\"},"
	"   {\"dispatch\": {\"kernel\": \"k2\", \"grid\": [1, 2, 3], \"block\": [64, 1, 1], \"dynamic_lds\": 256,"
	"     \"bindings\": [{\"region\": {\"allocation\": \"w\", \"offset\": 4, \"bytes\": 12}, \"access\": \"r\"},"
	"      {\"region\": {\"allocation\": \"s\", \"offset\": 16, \"bytes\": 16}, \"access\": \"rw\"}],"
	"     \"args\": [{\"binding\": 1}, {\"binding\": 0}, {\"i32\": -5}, {\"f32\": 1.5}, {\"lds\": 128}, {\"u64\": 5000000000}]}},"
	"   {\"dispatch\": {\"kernel\": \"k\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1],"
	"     \"bindings\": [{\"region\": {\"allocation\": \"x\", \"offset\": 0, \"bytes\": 4}, \"access\": \"w\"}],"
	"     \"args\": [{\"binding\": 0}]}}]}]}";

static const char base_header[] = "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";

static void
write_bytes(const char *name, const void *data, size_t bytes)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
}

/* length: what the first 8 bytes say. */
static void
write_safetensors(const char *header, uint64_t length)
{
	char file[1024];
	size_t n = strlen(header);

	for (int i = 0; i < 8; i++)
		file[i] = (char)(length >> (8 * i));
	memcpy(file + 8, header, n);
	memcpy(file + 8 + n, "0123456789abcdef", 16);
	write_bytes("w.safetensors", file, 8 + n + 16);
}

/* text with its only `find` replaced. The caller frees it. */
static char *
edit(const char *text, const char *find, const char *replace)
{
	const char *at = strstr(text, find);
	size_t bytes = strlen(text) + strlen(replace) + 1;
	char *out = malloc(bytes);

	assert_non_null(at);
	assert_null(strstr(at + 1, find));
	snprintf(out, bytes, "%.*s%s%s", (int)(at - text), text, replace, at + strlen(find));
	return out;
}

static int
open_folder(struct gpuplan_package **package, struct gpuplan_error *error)
{
	memset(error, 0, sizeof(*error));
	*package = NULL;
	return gpuplan_package_open(folder, package, error);
}

static int
setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/gpuplan-package-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	write_bytes("package.json", base_json, strlen(base_json));
	write_safetensors(base_header, strlen(base_header));
	return 0;
}

static int
teardown(void **state)
{
	const char *names[] = { "package.json", "w.safetensors" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
		rmdir(path);
	}
	return rmdir(folder);
}

/* ---- stand-ins ---- */

static struct {
	int allocs, uploads, loads, kernels, finds, plans;
	int fail_at; /* this call of any kind fails; 0: none */
	int calls;
	struct gpuplan_alloc_params alloc[8];
	char alloc_name[8][32], symbol[8][32], stem[8][32];
	char uploaded[16];
	struct gpuplan_region upload_region;
	struct gpuplan_plan_params plan;
	struct gpuplan_command command[8];
	struct gpuplan_io input, output;
	struct gpuplan_binding binding[3];
	struct gpuplan_arg arg[7];
	struct gpuplan_region grid;
	struct gpuplan_parameter parameter[2];
	char parameter_name[2][32];
} seen;

static int
step(struct gpuplan_error *error)
{
	if (++seen.calls != seen.fail_at)
		return 0;
	if (error) {
		error->code = -EIO;
		strcpy(error->message, "stand-in refused");
	}
	return -EIO;
}

int
gpuplan_session_alloc(struct gpuplan_session *session, const struct gpuplan_alloc_params *params,
		      struct gpuplan_region *region, struct gpuplan_error *error)
{
	assert_non_null(session);
	seen.alloc[seen.allocs] = *params;
	snprintf(seen.alloc_name[seen.allocs], sizeof(seen.alloc_name[0]), "%s", params->name);
	*region = (struct gpuplan_region){ 77, 100 + (uint32_t)seen.allocs++, 0, 0, params->bytes };
	return step(error);
}

int
gpuplan_session_upload(struct gpuplan_session *session, struct gpuplan_region region, const void *data,
		       struct gpuplan_error *error)
{
	assert_non_null(session);
	assert_int_equal(region.bytes, sizeof(seen.uploaded));
	memcpy(seen.uploaded, data, sizeof(seen.uploaded));
	seen.upload_region = region;
	seen.uploads++;
	return step(error);
}

int
gpuplan_session_load(struct gpuplan_session *session, const void *elf, size_t bytes, const char *name, uint32_t *code,
		     struct gpuplan_error *error)
{
	assert_non_null(session);
	assert_string_equal(elf, "elf");
	assert_int_equal(bytes, 3);
	snprintf(seen.stem[seen.loads++], sizeof(seen.stem[0]), "%s", name);
	*code = 40;
	return step(error);
}

int
gpuplan_session_kernel(struct gpuplan_session *session, uint32_t code, const char *symbol, struct gpuplan_kernel *kernel,
		       struct gpuplan_error *error)
{
	assert_non_null(session);
	assert_int_equal(code, 40);
	snprintf(seen.symbol[seen.kernels], sizeof(seen.symbol[0]), "%s", symbol);
	*kernel = (struct gpuplan_kernel){ 77, 60 + (uint32_t)seen.kernels++, 0 };
	return step(error);
}

int
gpuplan_plan_create(struct gpuplan_definition *definition, const struct gpuplan_plan_params *params,
		    struct gpuplan_plan **plan, struct gpuplan_error *error)
{
	assert_non_null(definition);
	seen.plans++;
	seen.plan = *params;
	memcpy(seen.command, params->commands, params->n_commands * sizeof(seen.command[0]));
	seen.input = params->inputs[0];
	seen.output = params->outputs[0];
	memcpy(seen.binding, params->commands[2].u.dispatch.bindings, 2 * sizeof(seen.binding[0]));
	seen.binding[2] = params->commands[3].u.dispatch.bindings[0];
	memcpy(seen.arg, params->commands[2].u.dispatch.args, 6 * sizeof(seen.arg[0]));
	seen.arg[6] = params->commands[3].u.dispatch.args[0];
	if (params->commands[2].u.dispatch.groups_from)
		seen.grid = *params->commands[2].u.dispatch.groups_from;
	for (uint32_t i = 0; i < params->n_parameters; i++) {
		seen.parameter[i] = params->parameters[i];
		snprintf(seen.parameter_name[i], sizeof(seen.parameter_name[0]), "%s", params->parameters[i].name);
	}
	*plan = (struct gpuplan_plan *)&seen;
	return step(error);
}

static int
find_code(void *arg, const char *target, const char *stem, const void **elf, size_t *bytes)
{
	assert_ptr_equal(arg, &seen);
	assert_string_equal(target, "gfx1100");
	assert_string_equal(stem, "obj");
	seen.finds++;
	*elf = "elf";
	*bytes = 3;
	return ++seen.calls == seen.fail_at ? -ENOENT : 0;
}

static struct gpuplan_session *const a_session = (struct gpuplan_session *)&seen;
static struct gpuplan_definition *const a_definition = (struct gpuplan_definition *)&seen;

static int
load(struct gpuplan_package *package, int fail_at, struct gpuplan_error *error)
{
	memset(&seen, 0, sizeof(seen));
	memset(error, 0, sizeof(*error));
	seen.fail_at = fail_at;
	return gpuplan_package_load(package, a_session, "gfx1100", find_code, &seen, error);
}

/* ---- what a good package becomes ---- */

static void
open_by_folder_and_by_file(void **state)
{
	struct gpuplan_package *package;
	struct gpuplan_error error;
	char path[128];

	(void)state;
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(gpuplan_package_plans(package), 1);
	assert_string_equal(gpuplan_package_plan_name(package, 0), "p");
	assert_null(gpuplan_package_plan_name(package, 1));
	gpuplan_package_close(package);
	snprintf(path, sizeof(path), "%s/package.json", folder);
	assert_int_equal(gpuplan_package_open(path, &package, NULL), 0);
	gpuplan_package_close(package);
	gpuplan_package_close(NULL);
}

static void
open_in_current_folder(void **state)
{
	struct gpuplan_package *package;
	char before[512];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(gpuplan_package_open("package.json", &package, NULL), 0);
	gpuplan_package_close(package);
	assert_int_equal(gpuplan_package_open(".", &package, NULL), 0);
	gpuplan_package_close(package);
	assert_int_equal(chdir(before), 0);
}

static void
load_declares_uploads_and_loads_each_object_once(void **state)
{
	struct gpuplan_package *package;
	struct gpuplan_error error;

	(void)state;
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(seen.allocs, 3);
	assert_string_equal(seen.alloc_name[0], "w");
	assert_int_equal(seen.alloc[0].use, GPUPLAN_WEIGHT);
	assert_int_equal(seen.alloc[0].placement, GPUPLAN_DEVICE);
	assert_int_equal(seen.alloc[0].bytes, 16);
	assert_int_equal(seen.alloc[1].use, GPUPLAN_SCRATCH);
	assert_int_equal(seen.alloc[1].placement, GPUPLAN_HOST);
	assert_int_equal(seen.alloc[1].bytes, 64);
	assert_int_equal(seen.alloc[2].use, GPUPLAN_STATE);
	assert_int_equal(seen.alloc[2].bytes, 32);
	assert_int_equal(seen.uploads, 1);
	assert_int_equal(seen.upload_region.allocation, 100);
	assert_memory_equal(seen.uploaded, "0123456789abcdef", 16);
	assert_int_equal(seen.finds, 1);
	assert_int_equal(seen.loads, 1);
	assert_string_equal(seen.stem[0], "obj");
	assert_int_equal(seen.kernels, 2);
	assert_string_equal(seen.symbol[0], "sym");
	assert_string_equal(seen.symbol[1], "k2"); /* the name, when no symbol is given */
	gpuplan_package_close(package);
}

static void
assert_region(struct gpuplan_region region, uint32_t allocation, uint64_t offset, uint64_t bytes)
{
	assert_int_equal(region.session, 77);
	assert_int_equal(region.allocation, allocation);
	assert_int_equal(region.offset, offset);
	assert_int_equal(region.bytes, bytes);
}

static void
plan_carries_regions_kernels_and_arguments(void **state)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 4, .omit_barrier = 2, .n_inputs = 99 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan = NULL;
	struct gpuplan_error error;

	(void)state;
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), 0);
	assert_ptr_equal(plan, &seen);
	assert_int_equal(seen.plan.capacity, 4);
	assert_int_equal(seen.plan.omit_barrier, 2);
	assert_int_equal(seen.plan.size, sizeof(params));
	assert_int_equal(seen.plan.n_inputs, 1);
	assert_int_equal(seen.plan.n_outputs, 1);
	assert_int_equal(seen.plan.n_commands, 4);
	assert_string_equal(seen.plan.name, "p");
	assert_region(seen.input.region, 101, 0, 16);
	assert_string_equal(seen.input.name, "in");
	assert_int_equal(seen.input.dtype, GPUPLAN_F32);
	assert_int_equal(seen.input.rank, 2);
	assert_int_equal(seen.input.shape[1], 4);
	assert_region(seen.output.region, 101, 48, 16);
	assert_int_equal(seen.output.dtype, GPUPLAN_U16);
	assert_int_equal(seen.command[0].kind, GPUPLAN_FILL);
	assert_region(seen.command[0].u.fill.dst, 102, 0, 4);
	assert_int_equal(seen.command[0].u.fill.value, 7);
	assert_int_equal(seen.command[1].kind, GPUPLAN_COPY);
	assert_string_equal(seen.command[1].label, "move");
	assert_region(seen.command[1].u.copy.dst, 101, 16, 8);
	assert_region(seen.command[1].u.copy.src, 102, 8, 8);
	assert_int_equal(seen.command[2].kind, GPUPLAN_DISPATCH);
	assert_int_equal(seen.command[2].u.dispatch.kernel.session, 77);
	assert_int_equal(seen.command[2].u.dispatch.kernel.index, 61);
	assert_int_equal(seen.command[2].u.dispatch.groups[2], 3);
	assert_int_equal(seen.command[2].u.dispatch.block[0], 64);
	assert_int_equal(seen.command[2].u.dispatch.dynamic_lds, 256);
	assert_int_equal(seen.command[2].u.dispatch.n_bindings, 2);
	assert_int_equal(seen.command[2].u.dispatch.n_args, 6);
	assert_region(seen.binding[0].region, 100, 4, 12);
	assert_int_equal(seen.binding[0].access, GPUPLAN_READ);
	assert_region(seen.binding[1].region, 102, 16, 16);
	assert_int_equal(seen.binding[1].access, GPUPLAN_READ_WRITE);
	assert_region(seen.binding[2].region, 101, 0, 4);
	assert_int_equal(seen.binding[2].access, GPUPLAN_WRITE);
	assert_int_equal(seen.arg[0].kind, GPUPLAN_ARG_BINDING);
	assert_int_equal(seen.arg[0].binding, 1);
	assert_int_equal(seen.arg[1].binding, 0);
	assert_int_equal(seen.arg[2].kind, GPUPLAN_ARG_SCALAR);
	assert_int_equal(seen.arg[2].bytes, 4);
	assert_int_equal(seen.arg[2].value.i32, -5);
	assert_true(seen.arg[3].value.f32 == 1.5f);
	assert_int_equal(seen.arg[4].kind, GPUPLAN_ARG_LDS);
	assert_int_equal(seen.arg[4].bytes, 128);
	assert_int_equal(seen.arg[5].bytes, 8);
	assert_int_equal(seen.arg[5].value.u64, 5000000000);
	assert_int_equal(seen.arg[6].kind, GPUPLAN_ARG_BINDING);
	assert_int_equal(seen.command[3].u.dispatch.kernel.index, 60);
	gpuplan_package_close(package);
}

static void
scalars_of_every_size(void **state)
{
	char *json = edit(base_json, "{\"i32\": -5}, {\"f32\": 1.5}, {\"lds\": 128}, {\"u64\": 5000000000}",
			  "{\"u8\": 255}, {\"i8\": -128}, {\"i16\": -32768}, {\"f64\": 3}");
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	write_bytes("package.json", json, strlen(json));
	free(json);
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), 0);
	assert_int_equal(seen.arg[2].bytes, 1);
	assert_int_equal(seen.arg[2].value.u32 & 0xff, 255);
	assert_int_equal(seen.arg[3].bytes, 1);
	assert_int_equal(seen.arg[3].value.i32, -128);
	assert_int_equal(seen.arg[4].bytes, 2);
	assert_int_equal(seen.arg[4].value.i32, -32768);
	assert_int_equal(seen.arg[5].bytes, 8);
	assert_true(seen.arg[5].value.f64 == 3.0);
	gpuplan_package_close(package);
}

/* base_json with several edits. */
static void
write_edited(const char *const edits[][2], size_t n)
{
	char *json = edit(base_json, edits[0][0], edits[0][1]);

	for (size_t i = 1; i < n; i++) {
		char *next = edit(json, edits[i][0], edits[i][1]);

		free(json);
		json = next;
	}
	write_bytes("package.json", json, strlen(json));
	free(json);
}

static void
parameters_reach_the_plan(void **state)
{
	static const char *const edits[][2] = {
		{ "{\"name\": \"p\",", "{\"name\": \"p\", \"parameters\": [{\"name\": \"n\", \"bytes\": 2, \"initial\": 5,"
		  " \"min\": 1, \"max\": 9}, {\"name\": \"scale\", \"bytes\": 4, \"initial\": {\"f32\": -1.5}}]," },
		{ "\"value\": 7", "\"value\": {\"param\": \"scale\"}" },
		{ "[1, 2, 3]", "[1, {\"param\": \"n\"}, 3]" },
		{ "{\"i32\": -5}", "{\"param\": \"scale\"}" },
	};
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	write_edited(edits, 4);
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), 0);
	assert_int_equal(seen.plan.n_parameters, 2);
	assert_string_equal(seen.parameter_name[0], "n");
	assert_int_equal(seen.parameter[0].bytes, 2);
	assert_int_equal(seen.parameter[0].initial, 5);
	assert_int_equal(seen.parameter[0].min, 1);
	assert_int_equal(seen.parameter[0].max, 9);
	assert_string_equal(seen.parameter_name[1], "scale");
	assert_int_equal(seen.parameter[1].bytes, 4);
	assert_int_equal(seen.parameter[1].initial, 0xbfc00000);
	assert_int_equal(seen.parameter[1].min, 0);
	assert_int_equal(seen.parameter[1].max, UINT32_MAX);
	assert_int_equal(seen.command[0].u.fill.value, 0);
	assert_int_equal(seen.command[0].u.fill.value_param, 2);
	assert_int_equal(seen.command[2].u.dispatch.groups[0], 1);
	assert_int_equal(seen.command[2].u.dispatch.groups[1], 0);
	assert_int_equal(seen.command[2].u.dispatch.groups_param[0], 0);
	assert_int_equal(seen.command[2].u.dispatch.groups_param[1], 1);
	assert_int_equal(seen.arg[2].kind, GPUPLAN_ARG_PARAM);
	assert_int_equal(seen.arg[2].binding, 1);
	assert_int_equal(seen.arg[2].bytes, 0);
	assert_null(seen.command[2].u.dispatch.groups_from);
	gpuplan_package_close(package);
}

static void
indirect_grids_reach_the_plan(void **state)
{
	static const char *const edits[][2] = {
		{ "[1, 2, 3]", "[1, 2, 3], \"grid_from\": {\"allocation\": \"s\", \"offset\": 4, \"bytes\": 12}" },
	};
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	write_edited(edits, 1);
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), 0);
	assert_region(seen.grid, 102, 4, 12);
	assert_int_equal(seen.command[2].u.dispatch.groups[2], 3);
	assert_null(seen.command[3].u.dispatch.groups_from);
	gpuplan_package_close(package);
}

/* ---- failures after opening ---- */

static void
load_passes_on_every_refusal_and_keeps_the_load_before(void **state)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	assert_int_equal(open_folder(&package, &error), 0);
	/* 3 allocs, 1 upload, 1 find, 1 load, 2 kernels: 8 calls */
	for (int fail_at = 1; fail_at <= 8; fail_at++) {
		assert_int_equal(load(package, fail_at, &error), fail_at == 5 ? -ENOENT : -EIO);
		if (fail_at == 5)
			assert_string_equal(error.message,
					    "code object \"obj\" for target gfx1100: No such file or directory");
	}
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), -EINVAL);
	assert_non_null(strstr(error.message, "plan \"p\" needs gpuplan_package_load first"));
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(load(package, 8, &error), -EIO);
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), 0);
	seen.fail_at = 2;
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), -EIO);
	gpuplan_package_close(package);
}

static void
plan_refuses_unknown_names_and_missing_params(void **state)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_package *package;
	struct gpuplan_plan *plan = NULL;
	struct gpuplan_error error;

	(void)state;
	assert_int_equal(open_folder(&package, &error), 0);
	assert_int_equal(load(package, 0, &error), 0);
	assert_int_equal(gpuplan_package_plan(package, a_definition, "q", &params, &plan, &error), -ENOENT);
	assert_non_null(strstr(error.message, "has no plan \"q\", it has p"));
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", NULL, &plan, &error), -EINVAL);
	params.size = 8;
	assert_int_equal(gpuplan_package_plan(package, a_definition, "p", &params, &plan, &error), -EINVAL);
	assert_int_equal(gpuplan_package_plan(package, NULL, "p", &params, &plan, NULL), -EINVAL);
	assert_int_equal(gpuplan_package_load(package, NULL, "gfx1100", find_code, &seen, NULL), -EINVAL);
	assert_int_equal(gpuplan_package_open(NULL, &package, NULL), -EINVAL);
	assert_null(plan);
	assert_int_equal(seen.plans, 0);
	gpuplan_package_close(package);
}

static int allocations_left;

static void *
short_malloc(size_t bytes)
{
	return allocations_left-- > 0 ? malloc(bytes) : NULL;
}

static void
open_survives_every_failing_json_allocation(void **state)
{
	struct gpuplan_package *package;
	struct gpuplan_error error;
	int r = -1;

	(void)state;
	json_set_alloc_funcs(short_malloc, free);
	for (int n = 0; r != 0 && n < 10000; n++) {
		allocations_left = n;
		r = open_folder(&package, &error);
		if (r)
			assert_null(package);
	}
	json_set_alloc_funcs(malloc, free);
	assert_int_equal(r, 0);
	gpuplan_package_close(package);
}

/* ---- refusals of package.json: one change to the good package each ---- */

struct refusal {
	const char *name, *find, *replace;
	int code;
	const char *sentence; /* the end of the message */
};

/* The good plan with a parameter list. */
#define WITH(list) "{\"name\": \"p\",", "{\"name\": \"p\", \"parameters\": [" list "],"
#define PARAMETER(text) "{\"name\": \"n\", \"bytes\": 2, " text "}"

static const struct refusal refusals[] = {
	{ "parameters_not_array", "{\"name\": \"p\",", "{\"name\": \"p\", \"parameters\": {},", -EINVAL,
	  "plans[0].parameters: is an object, expected an array" },
	{ "parameter_without_name", WITH("{\"bytes\": 2, \"initial\": 0}"), -EINVAL,
	  "plans[0].parameters[0]: has no member \"name\"" },
	{ "parameter_twice", WITH(PARAMETER("\"initial\": 1") ", " PARAMETER("\"initial\": 1")), -EINVAL,
	  "plans[0].parameters[1]: name \"n\" is taken by element 0" },
	{ "parameter_of_9_bytes", WITH("{\"name\": \"n\", \"bytes\": 9, \"initial\": 0}"), -EINVAL,
	  "plans[0].parameters[0]: \"n\" has 9 bytes, 1 to 8 are possible" },
	{ "parameter_of_0_bytes", WITH("{\"name\": \"n\", \"bytes\": 0, \"initial\": 0}"), -EINVAL,
	  "plans[0].parameters[0]: \"n\" has 0 bytes, 1 to 8 are possible" },
	{ "parameter_without_initial", WITH(PARAMETER("\"min\": 1")), -EINVAL,
	  "plans[0].parameters[0]: has no member \"initial\"" },
	{ "parameter_unknown_member", WITH(PARAMETER("\"initail\": 1")), -EINVAL,
	  "plans[0].parameters[0]: unknown member \"initail\", known are name, bytes, initial, min, max" },
	{ "parameter_max_range", WITH(PARAMETER("\"initial\": 1, \"max\": 65536")), -EINVAL,
	  "plans[0].parameters[0].max: is 65536, expected 0 to 65535" },
	{ "parameter_starts_above", WITH(PARAMETER("\"initial\": 10, \"max\": 9")), -EINVAL,
	  "plans[0].parameters[0]: \"n\" is 10 at first, min and max are 0 and 9" },
	{ "parameter_min_above_max", WITH(PARAMETER("\"initial\": 5, \"min\": 7, \"max\": 6")), -EINVAL,
	  "plans[0].parameters[0]: \"n\" is 5 at first, min and max are 7 and 6" },
	{ "parameter_initial_of_another_size", WITH(PARAMETER("\"initial\": {\"f32\": 1}")), -EINVAL,
	  "plans[0].parameters[0].initial: has 4 bytes, expected 2" },
	{ "parameter_initial_is_no_number", WITH(PARAMETER("\"initial\": {\"lds\": 1}")), -EINVAL,
	  "plans[0].parameters[0].initial: is no number, expected one of 2 bytes" },
	{ "argument_unknown_parameter", "{\"i32\": -5}", "{\"param\": \"n\"}", -ENOENT,
	  "dispatch.args[2]: names parameter \"n\", the plan has 0 and none of that name" },
	{ "fill_unknown_parameter", "\"value\": 7", "\"value\": {\"param\": \"n\"}", -ENOENT,
	  "fill.value: names parameter \"n\", the plan has 0 and none of that name" },
	{ "grid_unknown_parameter", "[1, 2, 3]", "[1, {\"param\": \"n\"}, 3]", -ENOENT,
	  "dispatch.grid[1]: names parameter \"n\", the plan has 0 and none of that name" },
	{ "grid_unknown_member", "[1, 2, 3]", "[1, {\"parm\": \"n\"}, 3]", -EINVAL,
	  "dispatch.grid[1]: unknown member \"parm\", known are param" },
	{ "block_of_a_parameter", "[64, 1, 1]", "[{\"param\": \"n\"}, 1, 1]", -EINVAL,
	  "dispatch.block[0]: is an object, expected an integer" },
	{ "grid_from_past_end", "[1, 2, 3]",
	  "[1, 2, 3], \"grid_from\": {\"allocation\": \"s\", \"offset\": 24, \"bytes\": 12}", -EINVAL,
	  "dispatch.grid_from: offset 24 + 12 bytes ends past allocation \"s\" of 32 bytes" },
	{ "not_json", "{\"format\": 1,", "{\"format\" 1,", -EINVAL, "':' expected near '1'" },
	{ "root_is_array", base_json, "[]", -EINVAL, "package.json: is an array, expected an object" },
	{ "empty_file", base_json, "", -EINVAL, "'[' or '{' expected near end of file" },
	{ "text_after_end", "{\"binding\": 0}]}}]}]}", "{\"binding\": 0}]}}]}]} x", -EINVAL,
	  "end of file expected near 'x'" },
	{ "duplicate_member", "\"format\": 1,", "\"format\": 1, \"format\": 1,", -EINVAL,
	  "duplicate object key near '\"format\"'" },
	{ "nul_in_name", "\"name\": \"small\"", "\"name\": \"sm\\u0000all\"", -EINVAL,
	  "\\u0000 is not allowed without JSON_ALLOW_NUL near '\"sm\\u0000all\"'" },
	{ "too_big_integer", "\"bytes\": 64", "\"bytes\": 18446744073709551616", -EINVAL,
	  "too big integer near '18446744073709551616'" },
	{ "no_format", "\"format\": 1, ", "", -EINVAL, "package.json: has no member \"format\"" },
	{ "later_format", "\"format\": 1", "\"format\": 2, \"new\": 0", -ENOTSUP,
	  "is of package format 2, this library reads format 1" },
	{ "unknown_member", "\"bytes\": 64", "\"bytse\": 64", -EINVAL,
	  "allocations[1]: unknown member \"bytse\", known are name, kind, placement, bytes, dtype, shape, tensor" },
	{ "weights_not_array", "[\"w.safetensors\"]", "\"w.safetensors\"", -EINVAL,
	  "weights: is a string, expected an array" },
	{ "weights_path", "\"w.safetensors\"", "\"../w.safetensors\"", -EINVAL,
	  "weights[0]: \"../w.safetensors\" is a path, expected a plain file name" },
	{ "weights_parent", "\"w.safetensors\"", "\"..\"", -EINVAL,
	  "weights[0]: \"..\" is a path, expected a plain file name" },
	{ "weights_missing_file", "\"w.safetensors\"", "\"v.safetensors\"", -ENOENT,
	  "v.safetensors: No such file or directory" },
	{ "no_weights_files", "[\"w.safetensors\"]", "[]", -ENOENT,
	  "weight \"w\" is tensor \"t\", none of the 0 weight files has it" },
	{ "unknown_tensor", "\"tensor\": \"t\"", "\"tensor\": \"u\"", -ENOENT,
	  "weight \"w\" is tensor \"u\", none of the 1 weight files has it" },
	{ "tensor_named_metadata", "\"tensor\": \"t\"", "\"tensor\": \"__metadata__\"", -ENOENT,
	  "weight \"w\" is tensor \"__metadata__\", none of the 1 weight files has it" },
	{ "tensor_bytes", "\"dtype\": \"f32\", \"shape\": [2, 2]", "\"bytes\": 20", -EINVAL, "w.safetensors has 16" },
	{ "tensor_type", "\"f32\", \"shape\": [2, 2]", "\"u32\", \"shape\": [2, 2]", -EINVAL, "w.safetensors has F32" },
	{ "tensor_shape", "[2, 2]", "[4, 1]", -EINVAL, "w.safetensors has [2, 2]" },
	{ "weight_without_tensor", ", \"tensor\": \"t\"", "", -EINVAL, "allocations[0]: has no member \"tensor\"" },
	{ "scratch_with_tensor", "\"bytes\": 64", "\"bytes\": 64, \"tensor\": \"t\"", -EINVAL,
	  "allocations[1]: \"x\" names a tensor, only weights have one" },
	{ "weight_on_host", "\"kind\": \"weight\"", "\"kind\": \"weight\", \"placement\": \"host\"", -EINVAL,
	  "allocations[0]: weight \"w\" is placed on the host, weights are on the device" },
	{ "unknown_kind", "\"kind\": \"weight\"", "\"kind\": \"weigth\"", -EINVAL,
	  "allocations[0].kind: is \"weigth\", expected one of weight, scratch, state" },
	{ "unknown_placement", "\"placement\": \"host\"", "\"placement\": \"vram\"", -EINVAL,
	  "allocations[1].placement: is \"vram\", expected one of device, host" },
	{ "unknown_dtype", "\"f32\", \"shape\": [2, 2]", "\"f31\", \"shape\": [2, 2]", -EINVAL,
	  "allocations[0].dtype: is \"f31\", expected one of u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64" },
	{ "no_size", ", \"bytes\": 64", "", -EINVAL, "allocations[1]: has no size: give bytes, or dtype and shape" },
	{ "dtype_without_shape", ", \"shape\": [2, 2]", "", -EINVAL, "allocations[0]: has no member \"shape\"" },
	{ "zero_bytes", "\"bytes\": 64", "\"bytes\": 0", -EINVAL, "allocations[1]: \"x\" has 0 bytes, at least 1 is needed" },
	{ "negative_bytes", "\"bytes\": 64", "\"bytes\": -64", -EINVAL,
	  "allocations[1].bytes: is -64, expected 0 to 9223372036854775807" },
	{ "fractional_bytes", "\"bytes\": 64", "\"bytes\": 64.0", -EINVAL,
	  "allocations[1].bytes: is a fraction, expected an integer" },
	{ "bytes_and_shape_differ", "[8], \"bytes\": 32", "[8], \"bytes\": 36", -EINVAL,
	  "allocations[2]: bytes is 36, dtype and shape make 32" },
	{ "shape_overflow", "[8], \"bytes\": 32", "[4294967296, 4294967296]", -EINVAL,
	  "allocations[2]: dtype and shape make more bytes than 63 bits hold" },
	{ "rank_9", "[8], \"bytes\": 32", "[1, 1, 1, 1, 1, 1, 1, 1, 8]", -EINVAL,
	  "allocations[2].shape: has 9 dimensions, at most 8 are possible" },
	{ "negative_dimension", "[8], \"bytes\": 32", "[-8]", -EINVAL,
	  "allocations[2].shape[0]: is -8, expected 0 to 9223372036854775807" },
	{ "allocation_twice", "\"name\": \"s\"", "\"name\": \"w\"", -EINVAL,
	  "allocations[2]: name \"w\" is taken by element 0" },
	{ "empty_name", "\"name\": \"s\"", "\"name\": \"\"", -EINVAL, "allocations[2].name: is an empty string" },
	{ "allocation_not_object", "\"allocations\": [", "\"allocations\": [3, ", -EINVAL,
	  "allocations[0]: is an integer, expected an object" },
	{ "kernel_twice", "\"name\": \"k2\"", "\"name\": \"k\"", -EINVAL, "kernels[1]: name \"k\" is taken by element 0" },
	{ "kernel_object_path", "\"object\": \"obj\", ", "\"object\": \"a/b\", ", -EINVAL,
	  "kernels[0]: \"a/b\" is a path, expected a plain file name" },
	{ "plan_twice", "\"plans\": [",
	  "\"plans\": [{\"name\": \"p\", \"inputs\": [], \"outputs\": [], \"commands\": []}, ", -EINVAL,
	  "plans[1]: name \"p\" is taken by element 0" },
	{ "unknown_allocation", "\"src\": {\"allocation\": \"s\"", "\"src\": {\"allocation\": \"z\"", -ENOENT,
	  "plans[0].commands[1].copy.src: names allocation \"z\", the package has 3 allocations and none of that name" },
	{ "unknown_kernel", "\"kernel\": \"k2\"", "\"kernel\": \"k3\"", -ENOENT,
	  "plans[0].commands[2].dispatch: names kernel \"k3\", the package has 2 kernels and none of that name" },
	{ "region_past_end", "\"offset\": 48, \"bytes\": 16", "\"offset\": 48, \"bytes\": 17", -EINVAL,
	  "plans[0].outputs[0].region: offset 48 + 17 bytes ends past allocation \"x\" of 64 bytes" },
	{ "region_overflow", "\"offset\": 48, \"bytes\": 16",
	  "\"offset\": 9223372036854775807, \"bytes\": 9223372036854775807", -EINVAL,
	  "offset 9223372036854775807 + 9223372036854775807 bytes ends past allocation \"x\" of 64 bytes" },
	{ "region_without_offset", "\"offset\": 48, ", "", -EINVAL,
	  "plans[0].outputs[0].region: has no member \"offset\"" },
	{ "no_command", "{\"fill\": {\"dst\": {\"allocation\": \"s\", \"offset\": 0, \"bytes\": 4}, \"value\": 7}}",
	  "{\"label\": \"nothing\"}", -EINVAL,
	  "plans[0].commands[0]: has 0 of fill, copy and dispatch, expected exactly one" },
	{ "two_commands", "\"label\": \"move\"", "\"fill\": {}", -EINVAL,
	  "plans[0].commands[1]: has 2 of fill, copy and dispatch, expected exactly one" },
	{ "command_is_null", "{\"fill\": {\"dst\": {\"allocation\": \"s\", \"offset\": 0, \"bytes\": 4}, \"value\": 7}}",
	  "null", -EINVAL, "plans[0].commands[0]: is null, expected an object" },
	{ "fill_value_range", "\"value\": 7", "\"value\": 4294967296", -EINVAL,
	  "plans[0].commands[0].fill.value: is 4294967296, expected 0 to 4294967295" },
	{ "grid_two_axes", "[1, 2, 3]", "[1, 2]", -EINVAL,
	  "plans[0].commands[2].dispatch.grid: has 2 elements, expected x, y and z" },
	{ "grid_range", "[1, 2, 3]", "[1, 2, 4294967296]", -EINVAL,
	  "plans[0].commands[2].dispatch.grid[2]: is 4294967296, expected 0 to 4294967295" },
	{ "unknown_access", "\"access\": \"rw\"", "\"access\": \"x\"", -EINVAL,
	  "dispatch.bindings[1].access: is \"x\", expected one of r, w, rw" },
	{ "binding_number", "{\"binding\": 1}", "{\"binding\": 2}", -EINVAL,
	  "dispatch.args[0].binding: is 2, the dispatch has 2 bindings" },
	{ "argument_of_no_kind", "{\"i32\": -5}", "{\"int\": -5}", -EINVAL,
	  "dispatch.args[2]: has 1 members, expected exactly one of binding, lds, param, u8, i8, u16, i16, u32, i32, "
	  "u64, i64, f32, f64" },
	{ "argument_of_two_kinds", "{\"i32\": -5}", "{\"i32\": -5, \"u32\": 5}", -EINVAL,
	  "dispatch.args[2]: has 2 members, expected exactly one of binding, lds, param, u8, i8, u16, i16, u32, i32, "
	  "u64, i64, f32, f64" },
	{ "argument_negative_u32", "{\"i32\": -5}", "{\"u32\": -5}", -EINVAL,
	  "dispatch.args[2].u32: is -5, expected 0 to 4294967295" },
	{ "argument_i8_range", "{\"i32\": -5}", "{\"i8\": -129}", -EINVAL,
	  "dispatch.args[2].i8: is -129, expected -128 to 127" },
	{ "argument_f32_range", "{\"f32\": 1.5}", "{\"f32\": 1e39}", -EINVAL,
	  "dispatch.args[3].f32: is 1e+39, more than an f32 holds" },
	{ "argument_string", "{\"f32\": 1.5}", "{\"f32\": \"1.5\"}", -EINVAL,
	  "dispatch.args[3].f32: is a string, expected an integer" },
	{ "io_without_name", "\"name\": \"in\", ", "", -EINVAL, "plans[0].inputs[0]: has no member \"name\"" },
};

static void
assert_ends(const char *message, const char *end)
{
	size_t n = strlen(message), m = strlen(end);

	if (n < m || strcmp(message + n - m, end) != 0)
		fail_msg("message is \"%s\", expected the end \"%s\"", message, end);
}

static void
refuse_json(void **state)
{
	const struct refusal *refusal = *state;
	char *json = edit(base_json, refusal->find, refusal->replace);
	struct gpuplan_package *package;
	struct gpuplan_error error;

	write_bytes("package.json", json, strlen(json));
	free(json);
	assert_int_equal(open_folder(&package, &error), refusal->code);
	assert_int_equal(error.code, refusal->code);
	assert_null(package);
	assert_non_null(strstr(error.message, folder)); /* which file */
	assert_ends(error.message, refusal->sentence);
	assert_int_equal(gpuplan_package_open(folder, &package, NULL), refusal->code);
}

/* ---- refusals of the safetensors file: its header, and the length its first 8 bytes say (0: the true one) ---- */

struct bad_header {
	const char *name, *header;
	uint64_t length;
	const char *sentence;
};

static const struct bad_header bad_headers[] = {
	{ "length_past_end", base_header, 1000000, "header length is 1000000 bytes, " },
	{ "length_overflow", base_header, UINT64_MAX, "header length is 18446744073709551615 bytes, " },
	{ "length_overflow_8", base_header, UINT64_MAX - 7, "header length is 18446744073709551608 bytes, " },
	{ "not_json", "{\"t\":", 0, "line 1, column 5: " },
	{ "not_object", "[]", 0, "its header is not a JSON object" },
	{ "tensor_not_object", "{\"t\":5}", 0, "t: is an integer, expected an object" },
	{ "no_dtype", "{\"t\":{\"shape\":[2,2],\"data_offsets\":[0,16]}}", 0, "t: has no member \"dtype\"" },
	{ "unknown_dtype", "{\"t\":{\"dtype\":\"F31\",\"shape\":[2,2],\"data_offsets\":[0,16]}}", 0,
	  "t.dtype: is \"F31\", expected one of F32, F16, " },
	{ "negative_shape", "{\"t\":{\"dtype\":\"F32\",\"shape\":[-2,-2],\"data_offsets\":[0,16]}}", 0,
	  "t.shape[0]: is -2, expected 0 to " },
	{ "shape_overflow", "{\"t\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,16]}}", 0,
	  "t.shape: its bytes are more than 64 bits hold" },
	{ "rank_9", "{\"t\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,16]}}", 0,
	  "t.shape: has 9 dimensions, at most 8 are read" },
	{ "offsets_past_end", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[4,20]}}", 0,
	  "t.data_offsets: is 4 to 20, the file has 16 bytes of data" },
	{ "offsets_reversed", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[16,0]}}", 0,
	  "t.data_offsets: is 16 to 0, the file has 16 bytes of data" },
	{ "offsets_negative", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[-16,0]}}", 0,
	  "t.data_offsets[0]: is -16, expected 0 to " },
	{ "offsets_three", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16,16]}}", 0,
	  "t.data_offsets: has 3 elements, expected begin and end" },
	{ "bytes_differ", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,12]}}", 0,
	  "t: dtype and shape make 16 bytes, data_offsets span 12" },
	{ "unknown_member", "{\"t\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16],\"x\":1}}", 0,
	  "t: unknown member \"x\", known are dtype, shape, data_offsets" },
};

static void
refuse_safetensors(void **state)
{
	const struct bad_header *bad = *state;
	struct gpuplan_package *package;
	struct gpuplan_error error;

	write_safetensors(bad->header, bad->length ? bad->length : strlen(bad->header));
	assert_int_equal(open_folder(&package, &error), -EINVAL);
	assert_null(package);
	if (!strstr(error.message, bad->sentence) || !strstr(error.message, "w.safetensors: "))
		fail_msg("message is \"%s\", expected \"%s\"", error.message, bad->sentence);
}

static void
refuse_safetensors_shorter_than_its_length(void **state)
{
	struct gpuplan_package *package;
	struct gpuplan_error error;

	(void)state;
	for (size_t n = 0; n < 8; n++) {
		write_bytes("w.safetensors", "1234567", n);
		assert_int_equal(open_folder(&package, &error), -EINVAL);
		assert_ends(error.message, "bytes, a safetensors file starts with 8 bytes of length");
	}
}

static void
refuse_what_is_not_a_file(void **state)
{
	struct gpuplan_package *package;
	struct gpuplan_error error;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/w.safetensors", folder);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(open_folder(&package, &error), -EINVAL);
	assert_ends(error.message, "is not a regular file, a safetensors file is");
	snprintf(path, sizeof(path), "%s/package.json", folder);
	unlink(path);
	assert_int_equal(open_folder(&package, &error), -ENOENT);
	assert_ends(error.message, "package.json: No such file or directory");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(open_folder(&package, &error), -EINVAL);
	assert_ends(error.message, "is not a regular file, package.json is");
}

#define TEST(function) { #function, function, setup, teardown, NULL }

int
main(void)
{
	enum { N_JSON = sizeof(refusals) / sizeof(refusals[0]), N_HEADER = sizeof(bad_headers) / sizeof(bad_headers[0]) };
	const struct CMUnitTest plain[] = {
		TEST(open_by_folder_and_by_file),
		TEST(open_in_current_folder),
		TEST(load_declares_uploads_and_loads_each_object_once),
		TEST(plan_carries_regions_kernels_and_arguments),
		TEST(scalars_of_every_size),
		TEST(parameters_reach_the_plan),
		TEST(indirect_grids_reach_the_plan),
		TEST(load_passes_on_every_refusal_and_keeps_the_load_before),
		TEST(plan_refuses_unknown_names_and_missing_params),
		TEST(open_survives_every_failing_json_allocation),
		TEST(refuse_safetensors_shorter_than_its_length),
		TEST(refuse_what_is_not_a_file),
	};
	struct CMUnitTest json[N_JSON], header[N_HEADER];

	for (size_t i = 0; i < N_JSON; i++)
		json[i] = (struct CMUnitTest){ refusals[i].name, refuse_json, setup, teardown,
					       (void *)(uintptr_t)&refusals[i] };
	for (size_t i = 0; i < N_HEADER; i++)
		header[i] = (struct CMUnitTest){ bad_headers[i].name, refuse_safetensors, setup, teardown,
						 (void *)(uintptr_t)&bad_headers[i] };
	return cmocka_run_group_tests_name("package", plain, NULL, NULL) +
	       cmocka_run_group_tests_name("package.json refused", json, NULL, NULL) +
	       cmocka_run_group_tests_name("safetensors refused", header, NULL, NULL);
}
