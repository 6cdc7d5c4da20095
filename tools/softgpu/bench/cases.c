/* SPDX-License-Identifier: MIT */
/* cases.c: in full size softgpu needs some 100 ms of processor time a run and PoCL some 30: a launch, 0.1 to 0.3 ms, is
 * less than 1 % of either. */
#include <time.h>

#include "bench.h"

const struct bench_case bench_cases[] = {
	{ .kernel = "fma_chain", .title = "launch alone", .outputs = 1,
	  .full = { { 1, 1 }, 0 }, .small = { { 1, 1 }, 0 } },
	{ .kernel = "fma_chain", .title = "f32 FMA", .unit = "GFLOP/s", .work = 128, .outputs = 1,
	  .full = { { 64, 1 }, 512 }, .small = { { 4, 1 }, 128 } },
	{ .kernel = "fma_dual", .title = "f32 FMA, dual issue", .unit = "GFLOP/s", .work = 128, .outputs = 1,
	  .full = { { 64, 1 }, 512 }, .small = { { 4, 1 }, 128 } },
	{ .kernel = "integer", .title = "integer", .unit = "Gop/s", .work = 256, .outputs = 1,
	  .full = { { 64, 1 }, 96 }, .small = { { 4, 1 }, 64 } },
	{ .kernel = "local_memory", .title = "LDS", .unit = "Gread/s", .work = 32, .outputs = 1,
	  .full = { { 64, 1 }, 256 }, .small = { { 4, 1 }, 64 } },
	{ .kernel = "global_memory", .title = "global memory", .unit = "GB/s", .work = 36, .outputs = 1, .per_turn = true,
	  .full = { { 64, 1 }, 128 }, .small = { { 64, 1 }, 4 } },
	{ .kernel = "gemm_tiled", .title = "GEMM 256^3, tiled", .unit = "GFLOP/s", .work = 2 * 256 * 16, .outputs = 16,
	  .full = { { 16, 8 }, 1 }, .small = { { 16, 1 }, 1 } },
	{ .kernel = "gemm_naive", .title = "GEMM 256^3, naive", .unit = "GFLOP/s", .work = 2 * 256, .outputs = 1,
	  .full = { { 256, 4 }, 1 }, .small = { { 256, 1 }, 1 } },
};
const unsigned bench_case_count = sizeof(bench_cases) / sizeof(bench_cases[0]);

uint64_t
bench_items(const struct bench_size *size)
{
	return (uint64_t)size->groups[0] * size->groups[1] * BENCH_ITEMS;
}

uint64_t
bench_outputs(const struct bench_case *c, const struct bench_size *size)
{
	return bench_items(size) * c->outputs * (c->per_turn ? size->turns : 1);
}

uint64_t
bench_most_outputs(void)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < bench_case_count; i++) {
		uint64_t n = bench_outputs(&bench_cases[i], &bench_cases[i].full);

		most = n > most ? n : most;
	}
	return most;
}

/* a in [-1, 1); b in [0.25, 0.75): factors that neither overflow a long chain nor bring it down to denormals. */
void
bench_inputs(float *a, float *b)
{
	uint32_t x = 1;

	for (uint32_t i = 0; i < BENCH_INPUT; i++) {
		x = x * 1664525u + 1013904223u; /* Numerical Recipes' generator */
		a[i] = (float)(int32_t)x / 2147483648.0f;
		x = x * 1664525u + 1013904223u;
		b[i] = 0.25f + (float)(x >> 8) / 33554432.0f;
	}
}

static double
seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct bench_time
bench_clock(void)
{
	return (struct bench_time){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

struct bench_time
bench_since(struct bench_time start)
{
	struct bench_time now = bench_clock();

	return (struct bench_time){ now.wall - start.wall, now.cpu - start.cpu };
}
