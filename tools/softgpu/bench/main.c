/* SPDX-License-Identifier: MIT */
/* softgpu-bench: how fast softgpu runs kernels, beside PoCL. `make bench-softgpu`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "common/tool.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif
#ifndef CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_START_INSTRUMENTATION (void)0
#define CALLGRIND_STOP_INSTRUMENTATION (void)0
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

struct options {
	unsigned rounds;
	const char *only;	/* kernel, or NULL */
	bool counts, pocl;
};

static void
usage(FILE *out)
{
	fputs("usage: softgpu softgpu-bench [options]\n"
	      "Times OpenCL C kernels on softgpu and, compiled from the same text, on PoCL.\n"
	      "  --rounds N       repetitions, softgpu and PoCL by turns; the best one counts (default 5)\n"
	      "  --only KERNEL    this kernel alone\n"
	      "  --no-pocl        softgpu alone\n"
	      "  --counts         softgpu alone, small sizes, once: prints how many instructions it executed, for\n"
	      "                   callgrind (make bench-softgpu-counts)\n"
	      "Exit status: 0 equal results, 1 different results, 2 could not run.\n",
	      out);
}

static void
parse(struct options *o, char **argv)
{
	for (int i = 1; argv[i]; i++) {
		if (!strcmp(argv[i], "--help")) {
			usage(stdout);
			exit(0);
		} else if (!strcmp(argv[i], "--rounds")) {
			o->rounds = (unsigned)tool_option_number(argv, &i, 1, 1000);
		} else if (!strcmp(argv[i], "--only")) {
			o->only = tool_option_value(argv, &i);
		} else if (!strcmp(argv[i], "--no-pocl")) {
			o->pocl = false;
		} else if (!strcmp(argv[i], "--counts")) {
			o->counts = true;
		} else {
			usage(stderr);
			tool_die("unknown option %s", argv[i]);
		}
	}
}

static bool
wanted(const struct options *o, unsigned i)
{
	return !o->only || !strcmp(bench_cases[i].kernel, o->only);
}

/* Under callgrind, one dump per case holds what ran between submission and completion; the run before has decoded the
 * code and is not in it. */
static void
count(const struct options *o, struct bench_device *device, struct bench_result *results)
{
	struct bench_time time;

	for (unsigned i = 0; i < bench_case_count; i++) {
		if (!wanted(o, i) || !bench_cases[i].unit)
			continue;
		bench_device_run(device, i, &time, &results[i].counts);
		CALLGRIND_START_INSTRUMENTATION;
		bench_device_run(device, i, &time, &results[i].counts);
		CALLGRIND_DUMP_STATS_AT(bench_cases[i].kernel);
		CALLGRIND_STOP_INSTRUMENTATION;
	}
	bench_report_counts(results);
}

static bool
open_peers(struct bench_peer **peers)
{
	char text[256];

	for (unsigned k = BENCH_POCL_ONE; k < BENCH_RUNNERS; k++)
		if (!bench_peer_open(peers[k], text, sizeof(text))) {
			printf("PoCL: skipped, %s\n", text);
			return false;
		}
	printf("PoCL:    %s; POCL_MAX_PTHREAD_COUNT=1 and unset\n", text);
	return true;
}

/* One run everywhere. The first of a case compiles its code and is not timed. */
static void
run_case(struct bench_device *device, struct bench_peer **peers, unsigned i, bool timed, struct bench_result *r)
{
	uint64_t outputs = bench_outputs(&bench_cases[i], &bench_cases[i].full);
	struct bench_time time;
	const float *out = bench_device_run(device, i, &time, &r->counts);

	if (timed)
		bench_result_add(r, BENCH_SOFTGPU, time);
	for (unsigned k = BENCH_POCL_ONE; peers && k < BENCH_RUNNERS; k++) {
		const float *theirs = bench_peer_run(peers[k], i, &time);

		if (timed)
			bench_result_add(r, k, time);
		bench_result_compare(r, out, theirs, outputs);
	}
}

static bool
measure(const struct options *o, struct bench_device *device, struct bench_peer **peers, struct bench_result *results)
{
	bool with_pocl = o->pocl && open_peers(peers), right = true, with_bare = false;
	struct bench_bare bare = { 0 };
	double load[1];

	for (unsigned round = 0; round <= o->rounds; round++) {
		for (unsigned i = 0; i < bench_case_count; i++)
			if (wanted(o, i))
				run_case(device, with_pocl ? peers : NULL, i, round > 0, &results[i]);
		with_bare = !o->only && bench_bare_run(&bare);
	}
	if (getloadavg(load, 1) == 1)
		printf("load:    %.1f running on %ld processors at the end\n", load[0], sysconf(_SC_NPROCESSORS_ONLN));
	printf("best of %u, by turns\n\n", o->rounds);
	bench_report(results, with_pocl);
	if (with_bare)
		bench_report_bare(&bare, results);
	for (unsigned i = 0; i < bench_case_count; i++)
		right = right && !results[i].wrong;
	return right;
}

static const char *
build_of(const char *preload)
{
	if (preload && strstr(preload, "x86-64-v4"))
		return "built for x86-64-v4 (AVX-512)";
	if (preload && strstr(preload, "x86-64-v3"))
		return "built for x86-64-v3 (AVX2, FMA)";
	return "built for any x86-64";
}

static void
describe(const struct bench_device *device)
{
	printf("softgpu: %s, %s\n", bench_device_target(device),
	       build_of(getenv("LD_PRELOAD")));
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");
	struct options o = { .rounds = 5, .pocl = true };
	struct bench_peer *peers[BENCH_RUNNERS] = { NULL };
	struct gpuplan_context *context;
	struct bench_device *device;
	struct bench_result *results;
	bool right = true;

	(void)argc;
	tool_name = "softgpu-bench";
	parse(&o, argv);
	o.pocl = o.pocl && !o.counts;
	/* Without softgpu this program starts itself again below; processes made before that would be lost. */
	for (unsigned k = BENCH_POCL_ONE; o.pocl && preload && strstr(preload, "libsoftgpu") && k < BENCH_RUNNERS; k++)
		peers[k] = bench_peer_start(k == BENCH_POCL_ONE ? "1" : NULL);
	context = tool_open_context(NULL, argv);
	if (o.pocl && !peers[BENCH_POCL])
		tool_die("the first GPU here is real; run this as: softgpu softgpu-bench");
	device = bench_device_create(context, o.counts);
	results = calloc(bench_case_count, sizeof(*results));
	if (!results)
		tool_die("out of memory");
	describe(device);
	if (o.counts)
		count(&o, device, results);
	else
		right = measure(&o, device, peers, results);
	for (unsigned k = 0; k < BENCH_RUNNERS; k++)
		if (peers[k])
			bench_peer_stop(peers[k]);
	bench_device_destroy(device);
	gpuplan_context_destroy(context);
	free(results);
	return right ? 0 : 1;
}
