/* SPDX-License-Identifier: MIT */
/* gpuplan-bench: runs a model package and measures it. docs/man/gpuplan-bench.1 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "common/shaders.h"
#include "common/tool.h"

#define LOAD_TIMEOUT_NS 300000000000u
#define NOISE_COUNT 1000

static void
usage(FILE *out)
{
	fputs("usage: gpuplan-bench [options] [PACKAGE]\n"
	      "Runs a model package (default: the speech model) and prints latencies.\n"
	      "  --plan NAME          which of the package's plans (default: the first); --list shows them\n"
	      "  --slots N            submissions in flight, 1 to 30 (default 4)\n"
	      "  --rate R             open loop: R submissions per second, latency from the scheduled time\n"
	      "  --duration S         seconds to run\n"
	      "  --count N            submissions to run (default: the recording once per slot)\n"
	      "  --completion HOW     ring (io_uring, default), poll, reap or wait\n"
	      "  --verify             fail unless every answer is within the reference's tolerance\n"
	      "  --set NAME=VALUE     a parameter of the plan, in all slots; may be repeated\n"
	      "  --device PATH        render node (default: the first amdgpu; without one, softgpu)\n"
	      "  --shaders FOLDER     code objects from FOLDER/<target>/ instead of the built-in ones\n"
	      "  --omit-barrier N     leave out barrier N (from 1): for tests, answers will be wrong\n"
	      "  --json               machine-readable result\n"
	      "Exit status: 0 right, 1 wrong answers or failed submissions, 2 could not run.\n",
	      out);
}

static enum bench_completion
completion_by_name(const char *name)
{
	static const char *const names[] = { "ring", "poll", "reap", "wait" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return (enum bench_completion)i;
	tool_die("--completion %s: ring, poll, reap or wait", name);
}

static void
parse(struct bench_options *o, char **argv, bool *list)
{
	for (int i = 1; argv[i]; i++) {
		const char *a = argv[i];

		if (!strcmp(a, "--help")) {
			usage(stdout);
			exit(0);
		} else if (!strcmp(a, "--plan")) {
			o->plan = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--list")) {
			*list = true;
		} else if (!strcmp(a, "--slots")) {
			o->slots = (unsigned)tool_option_number(argv, &i, 1, 30);
		} else if (!strcmp(a, "--rate")) {
			o->rate = tool_option_number(argv, &i, 1e-3, 1e7);
		} else if (!strcmp(a, "--duration")) {
			o->duration = tool_option_number(argv, &i, 1e-3, 1e7);
		} else if (!strcmp(a, "--count")) {
			o->count = (uint64_t)tool_option_number(argv, &i, 1, 1e15);
		} else if (!strcmp(a, "--completion")) {
			o->completion = completion_by_name(tool_option_value(argv, &i));
		} else if (!strcmp(a, "--verify")) {
			o->verify = true;
		} else if (!strcmp(a, "--json")) {
			o->json = true;
		} else if (!strcmp(a, "--set")) {
			if (o->n_settings == BENCH_SETTINGS)
				tool_die("--set: more than %d of them", BENCH_SETTINGS);
			o->settings[o->n_settings++] = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--device")) {
			o->device = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--shaders")) {
			o->shaders = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--omit-barrier")) {
			o->omit_barrier = (unsigned)tool_option_number(argv, &i, 1, 1e6);
		} else if (a[0] == '-') {
			usage(stderr);
			tool_die("unknown option %s", a);
		} else if (o->package) {
			tool_die("one package at a time: %s and %s", o->package, a);
		} else {
			o->package = a;
		}
	}
}

static void
package_folder(const char *path, char *folder, size_t bytes)
{
	struct stat st;
	char *slash;

	snprintf(folder, bytes, "%s", path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return;
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	else
		snprintf(folder, bytes, ".");
}

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static void
list_plans(struct gpuplan_package *package)
{
	for (uint32_t i = 0; i < gpuplan_package_plans(package); i++)
		puts(gpuplan_package_plan_name(package, i));
}

static struct gpuplan_definition *
load_model(struct gpuplan_context *context, struct gpuplan_package *package, const struct bench_options *o)
{
	struct gpuplan_context_info info;
	struct gpuplan_definition *definition;
	struct gpuplan_session *session;
	struct gpuplan_error error;

	gpuplan_context_get_info(context, &info);
	check(gpuplan_session_create(context, &session, &error), &error);
	check(gpuplan_package_load(package, session, info.target, tool_find_code, (void *)o->shaders, &error), &error);
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + LOAD_TIMEOUT_NS, &definition, &error), &error);
	return definition;
}

static bool
run(const struct bench_options *o, struct gpuplan_context *context, struct gpuplan_definition *definition,
    struct gpuplan_plan *plan, const char *folder)
{
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_slot *slots[30];
	struct workload_result answers;
	struct bench_options options = *o;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;
	static struct load_result load;
	struct workload *w;

	w = workload_create(folder, plan, o->slots);
	if (o->verify && !workload_can_verify(w))
		tool_die("--verify: %s has no reference.json to compare with", folder);
	workload_result(w, &answers);
	if (!options.count && !(options.duration > 0))
		options.count = answers.frames ? (uint64_t)answers.frames * o->slots : NOISE_COUNT;
	check(gpuplan_queue_create(context, &queue_params, &queue, &error), &error);
	for (unsigned i = 0; i < o->slots; i++) {
		if (gpuplan_plan_acquire(plan, &slots[i]))
			tool_die("slot %u of %u is not free", i, o->slots);
		settings_apply(o, plan, slots[i]);
	}
	load_run(&options, queue, slots, w, &load);
	workload_result(w, &answers);
	report_print(&options, context, plan, &load, &answers, gpuplan_definition_weight_bytes(definition));
	for (unsigned i = 0; i < o->slots; i++)
		gpuplan_slot_release(slots[i]);
	gpuplan_queue_destroy(queue);
	workload_destroy(w);
	return !load.failed && !answers.wrong && (!o->verify || answers.checked);
}

int
main(int argc, char **argv)
{
	struct bench_options o = { .slots = 4 };
	struct gpuplan_plan_params params = { .size = sizeof(params) };
	struct gpuplan_definition *definition;
	struct gpuplan_context *context;
	struct gpuplan_package *package;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	char path[4096], folder[4096];
	bool list = false, right;

	(void)argc;
	tool_name = "gpuplan-bench";
	parse(&o, argv, &list);
	tool_share_path("models/silero-vad", path, sizeof(path));
	package_folder(o.package ? o.package : path, folder, sizeof(folder));
	check(gpuplan_package_open(o.package ? o.package : path, &package, &error), &error);
	if (list) {
		list_plans(package);
		gpuplan_package_close(package);
		return 0;
	}
	if (!o.plan)
		o.plan = gpuplan_package_plan_name(package, 0);
	context = tool_open_context(o.device, argv);
	definition = load_model(context, package, &o);
	params.capacity = o.slots;
	params.omit_barrier = o.omit_barrier;
	check(gpuplan_package_plan(package, definition, o.plan, &params, &plan, &error), &error);
	right = run(&o, context, definition, plan, folder);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	gpuplan_package_close(package);
	return right ? 0 : 1;
}
