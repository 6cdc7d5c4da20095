/* SPDX-License-Identifier: MIT */
/* gather.c: LDS loads and stores of dwords at 32 addresses at once. */
#include "core.h"

/* Do all active lanes stay inside? a + offset wraps like the hardware's adder. */
static bool
in_range(const uint32_t *a, uint32_t offset, uint32_t last, uint32_t exec)
{
	uint32_t outside = 0;
	for (unsigned i = 0; i < SG_LANES; i++)
		outside |= (uint32_t)(a[i] + offset > last) << i;
	return !(outside & exec);
}

static void
gather_portable(uint32_t *d, const uint8_t *base, const uint32_t *a, uint32_t exec)
{
	if (exec == UINT32_MAX) {
		for (unsigned i = 0; i < SG_LANES; i++)
			memcpy(&d[i], base + a[i], 4);
		return;
	}
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		memcpy(&d[i], base + a[i], 4);
	}
}

static void
scatter(uint8_t *base, const uint32_t *a, const uint32_t *s, uint32_t exec)
{
	if (exec == UINT32_MAX) {
		for (unsigned i = 0; i < SG_LANES; i++)
			memcpy(base + a[i], &s[i], 4);
		return;
	}
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		memcpy(base + a[i], &s[i], 4);
	}
}

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX __attribute__((target("avx2")))

AVX static bool
in_range_avx2(const uint32_t *a, uint32_t offset, uint32_t last, uint32_t exec)
{
	const __m256i limit = _mm256_set1_epi32((int)last), add = _mm256_set1_epi32((int)offset);
	uint32_t inside = 0;
	for (unsigned b = 0; b < SG_LANES / 8; b++) {
		__m256i at = _mm256_add_epi32(_mm256_load_si256((const __m256i *)a + b), add);
		__m256i ok = _mm256_cmpeq_epi32(_mm256_min_epu32(at, limit), at);
		inside |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(ok)) << 8 * b;
	}
	return !(exec & ~inside);
}

AVX static void
gather_avx2(uint32_t *d, const uint8_t *base, const uint32_t *a, uint32_t exec)
{
	const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	for (unsigned b = 0; b < SG_LANES / 8; b++) {
		__m256i mask = _mm256_and_si256(_mm256_set1_epi32((int)(exec >> 8 * b)), bits);
		__m256i at = _mm256_load_si256((const __m256i *)a + b);
		__m256i old = _mm256_load_si256((const __m256i *)d + b);
		mask = _mm256_cmpeq_epi32(mask, bits);
		_mm256_store_si256((__m256i *)d + b,
				   _mm256_mask_i32gather_epi32(old, (const int *)base, at, mask, 1));
	}
}

static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

static bool has_avx2(void) { return false; }
#define in_range_avx2 in_range
#define gather_avx2 gather_portable

#endif

bool
sg_lds_gather(const struct sg_wave *w, uint32_t *d, const uint32_t *a, uint32_t offset, unsigned dwords, uint32_t exec)
{
	bool avx2 = has_avx2();
	if (w->lds_bytes < 4 * dwords)
		return false;
	uint32_t last = w->lds_bytes - 4 * dwords;
	if (!(avx2 ? in_range_avx2 : in_range)(a, offset, last, exec))
		return false;
	for (unsigned r = 0; r < dwords; r++)
		(avx2 ? gather_avx2 : gather_portable)(d + SG_LANES * r, w->lds + offset + 4 * r, a, exec);
	return true;
}

bool
sg_lds_scatter(const struct sg_wave *w, const uint32_t *s, const uint32_t *a, uint32_t offset, unsigned dwords,
	       uint32_t exec)
{
	if (w->lds_bytes < 4 * dwords || !(has_avx2() ? in_range_avx2 : in_range)(a, offset, w->lds_bytes - 4 * dwords, exec))
		return false;
	if (dwords == 1) {
		scatter(w->lds + offset, a, s, exec);
		return true;
	}
	/* lane by lane: lanes may overlap, and the last one wins with all its dwords */
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		for (unsigned r = 0; r < dwords; r++)
			memcpy(w->lds + offset + a[i] + 4 * r, &s[SG_LANES * r + i], 4);
	}
	return true;
}
