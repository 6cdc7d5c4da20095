/* SPDX-License-Identifier: MIT */
/* bare.c: FMA and GEMM as bare loops in AVX2, on one core: bounds for what translating GPU code to the host's could
 * gain. One FMA here is softgpu's, 32 lanes wide. A simple translator would leave the GPU's registers in memory, as the
 * first loop does; one that allocates the host's registers could come near the second. */
#include <stdlib.h>

#include "bench.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define UNROLL _Pragma("GCC unroll 10")

enum { LANES = 32, VECTORS = LANES / 8, CHAINS = 8, N = 256, FMAS = 400000, BLOCK = 64 };

struct loops {
	float v[16][LANES] __attribute__((aligned(64))); /* chains, then the two other operands */
	float a[N][N] __attribute__((aligned(64))), b[N][N] __attribute__((aligned(64))), c[N][N] __attribute__((aligned(64)));
};

AVX2 static void
fma_memory(float (*v)[LANES])
{
	for (unsigned n = 0; n < FMAS; n++) {
		float *x = v[n % CHAINS];

		UNROLL
		for (unsigned i = 0; i < VECTORS; i++)
			_mm256_store_ps(x + 8 * i, _mm256_fmadd_ps(_mm256_load_ps(x + 8 * i), _mm256_load_ps(v[8] + 8 * i),
								   _mm256_load_ps(v[9] + 8 * i)));
		__asm__ volatile("" ::: "memory"); /* the next one loads again */
	}
}

/* Ten vectors of eight lanes are chained at a time, so that latency is hidden and all stays in sixteen registers. */
AVX2 static void
fma_registers(float (*v)[LANES])
{
	__m256 s = _mm256_load_ps(v[8]), t = _mm256_load_ps(v[9]), x[10];

	UNROLL
	for (unsigned k = 0; k < 10; k++)
		x[k] = _mm256_load_ps(v[k % CHAINS] + 8 * (k % VECTORS));
	for (unsigned n = 0; n < FMAS * VECTORS; n += 10) {
		UNROLL
		for (unsigned k = 0; k < 10; k++)
			x[k] = _mm256_fmadd_ps(x[k], s, t);
		__asm__ volatile("" : "+x"(x[0]), "+x"(x[1]), "+x"(x[2]), "+x"(x[3]), "+x"(x[4]));
	}
	UNROLL
	for (unsigned k = 0; k < 10; k++)
		_mm256_store_ps(v[k % CHAINS] + 8 * (k % VECTORS), x[k]);
}

AVX2 static void
gemm_block(struct loops *l, unsigned row, unsigned column)
{
	__m256 sum[BLOCK / 8];

	UNROLL
	for (unsigned i = 0; i < BLOCK / 8; i++)
		sum[i] = _mm256_setzero_ps();
	for (unsigned k = 0; k < N; k++) {
		__m256 a = _mm256_broadcast_ss(&l->a[row][k]);
		UNROLL
		for (unsigned i = 0; i < BLOCK / 8; i++)
			sum[i] = _mm256_fmadd_ps(a, _mm256_load_ps(&l->b[k][column + 8 * i]), sum[i]);
	}
	UNROLL
	for (unsigned i = 0; i < BLOCK / 8; i++)
		_mm256_store_ps(&l->c[row][column + 8 * i], sum[i]);
}

static void
gemm(struct loops *l)
{
	for (unsigned column = 0; column < N; column += BLOCK)
		for (unsigned row = 0; row < N; row++)
			gemm_block(l, row, column);
}

static void
keep_best(double *best, double flop, struct bench_time time)
{
	double rate = flop / time.cpu / 1e9;

	*best = rate > *best ? rate : *best;
}

bool
bench_bare_run(struct bench_bare *bare)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return false;
	struct loops *l = aligned_alloc(64, sizeof(*l));
	if (!l)
		return false;
	for (unsigned i = 0; i < sizeof(*l) / sizeof(float); i++)
		((float *)l)[i] = 0.25f + (float)(i % 64) / 128.0f;
	struct bench_time start = bench_clock();
	fma_memory(l->v);
	keep_best(&bare->fma_memory, 2.0 * LANES * FMAS, bench_since(start));
	start = bench_clock();
	fma_registers(l->v);
	keep_best(&bare->fma_registers, 2.0 * LANES * FMAS, bench_since(start));
	start = bench_clock();
	gemm(l);
	keep_best(&bare->gemm, 2.0 * N * N * N, bench_since(start));
	free(l);
	return true;
}

#else

bool
bench_bare_run(struct bench_bare *bare)
{
	(void)bare;
	return false;
}

#endif
