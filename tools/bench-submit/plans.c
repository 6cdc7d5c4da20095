/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/shaders.h"
#include "common/tool.h"
#include "plans.h"

#define WORDS 1024u		/* one workgroup of `copy` */
#define BYTES (WORDS * 4u)
#define LOAD_NS 600000000000ull /* valgrind is slow */

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static const char *
target_of(const struct gpuplan_context *context)
{
	static struct gpuplan_context_info info;

	gpuplan_context_get_info(context, &info);
	return info.target;
}

static struct gpuplan_kernel
load_copy(struct gpuplan_session *session, const char *target)
{
	struct gpuplan_kernel kernel;
	struct gpuplan_error error;
	const void *elf;
	uint32_t code;
	size_t bytes;

	if (tool_find_code(NULL, target, "copy", &elf, &bytes))
		tool_die("no code object copy for %s", target);
	check(gpuplan_session_load(session, elf, bytes, "copy", &code, &error), &error);
	check(gpuplan_session_kernel(session, code, "copy", &kernel, &error), &error);
	return kernel;
}

static struct gpuplan_definition *
freeze(struct gpuplan_session *session)
{
	struct gpuplan_definition *definition;
	struct gpuplan_error error;

	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + LOAD_NS, &definition, &error), &error);
	return definition;
}

struct gpuplan_plan *
plans_chain(struct gpuplan_context *context, uint32_t n)
{
	struct gpuplan_alloc_params alloc = { .size = sizeof(alloc), .use = GPUPLAN_SCRATCH, .bytes = BYTES };
	struct gpuplan_command *commands = calloc(n, sizeof(*commands));
	const struct gpuplan_arg args[3] = { gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_u32(WORDS) };
	struct gpuplan_binding bindings[2][2];
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1, .commands = commands, .n_commands = n };
	struct gpuplan_definition *definition;
	struct gpuplan_session *session;
	struct gpuplan_region two[2];
	struct gpuplan_kernel copy;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	if (!commands)
		tool_die("out of memory");
	check(gpuplan_session_create(context, &session, &error), &error);
	for (int i = 0; i < 2; i++)
		check(gpuplan_session_alloc(session, &alloc, &two[i], &error), &error);
	copy = load_copy(session, target_of(context));
	for (int i = 0; i < 2; i++) {
		bindings[i][0] = (struct gpuplan_binding){ two[i], GPUPLAN_READ, 0 };
		bindings[i][1] = (struct gpuplan_binding){ two[!i], GPUPLAN_WRITE, 0 };
	}
	for (uint32_t i = 0; i < n; i++) {
		commands[i].kind = GPUPLAN_DISPATCH;
		commands[i].u.dispatch = (struct gpuplan_dispatch){
			.kernel = copy,
			.groups = { 1, 1, 1 },
			.block = { 256, 1, 1 },
			.n_bindings = 2,
			.bindings = bindings[i % 2],
			.n_args = 3,
			.args = args,
		};
	}
	definition = freeze(session);
	check(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	gpuplan_definition_destroy(definition);
	free(commands);
	return plan;
}

struct gpuplan_plan *
plans_speech(struct gpuplan_context *context)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_definition *definition;
	struct gpuplan_package *package;
	struct gpuplan_session *session;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	char path[4096];

	tool_share_path("models/silero-vad", path, sizeof(path));
	check(gpuplan_package_open(path, &package, &error), &error);
	check(gpuplan_session_create(context, &session, &error), &error);
	check(gpuplan_package_load(package, session, target_of(context), tool_find_code, NULL, &error), &error);
	definition = freeze(session);
	check(gpuplan_package_plan(package, definition, gpuplan_package_plan_name(package, 0), &params, &plan, &error),
	      &error);
	gpuplan_definition_destroy(definition);
	gpuplan_package_close(package);
	return plan;
}
