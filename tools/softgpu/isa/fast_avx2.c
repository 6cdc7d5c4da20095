/* SPDX-License-Identifier: MIT */
/* fast_avx2.c: 32 lanes as four vectors of eight; lane masks are vectors of all ones and zeros. */
#include "fast.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#define INLINE static inline __attribute__((always_inline))
#define FAST_TABLE sg_fast_avx2

enum { WIDTH = 8, BLOCKS = SG_LANES / WIDTH };

typedef __m256i vi;
typedef __m256 vf;
typedef __m256i vm;

INLINE vi load(const uint32_t *p, unsigned block) { return _mm256_loadu_si256((const __m256i *)(const void *)p + block); }
INLINE void store(uint32_t *p, unsigned block, vi v) { _mm256_storeu_si256((__m256i *)(void *)p + block, v); }
INLINE vi splat(uint32_t x) { return _mm256_set1_epi32((int)x); }
INLINE vf as_float(vi v) { return _mm256_castsi256_ps(v); }
INLINE vi as_int(vf v) { return _mm256_castps_si256(v); }

INLINE vi add(vi a, vi b) { return _mm256_add_epi32(a, b); }
INLINE vi sub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
INLINE vi mullo(vi a, vi b) { return _mm256_mullo_epi32(a, b); }
INLINE vi and(vi a, vi b) { return _mm256_and_si256(a, b); }
INLINE vi or(vi a, vi b) { return _mm256_or_si256(a, b); }
INLINE vi xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
INLINE vi shl(vi a, vi n) { return _mm256_sllv_epi32(a, n); }
INLINE vi shr(vi a, vi n) { return _mm256_srlv_epi32(a, n); }
INLINE vi sar(vi a, vi n) { return _mm256_srav_epi32(a, n); }
INLINE vi min_i(vi a, vi b) { return _mm256_min_epi32(a, b); }
INLINE vi max_i(vi a, vi b) { return _mm256_max_epi32(a, b); }
INLINE vi min_u(vi a, vi b) { return _mm256_min_epu32(a, b); }
INLINE vi max_u(vi a, vi b) { return _mm256_max_epu32(a, b); }
/* In assembly, because compilers exchange operands: of several NaNs the first operand's is the result. */
#define ARITHMETIC(name, instruction)                                                                                  \
	INLINE vf name(vf a, vf b)                                                                                     \
	{                                                                                                              \
		vf r;                                                                                                  \
		__asm__(instruction " %2, %1, %0" : "=x"(r) : "x"(a), "xm"(b));                                     \
		return r;                                                                                              \
	}
ARITHMETIC(fadd, "vaddps")
ARITHMETIC(fsub, "vsubps")
ARITHMETIC(fmul, "vmulps")
INLINE vf
fused(vf a, vf b, vf c)
{
	/* 213: operand 2 is the first factor, the destination the second */
	__asm__("vfmadd213ps %2, %1, %0" : "+x"(b) : "x"(a), "xm"(c));
	return b;
}

/* Pairs of dwords as quadwords: those of even lanes, and those of odd lanes */
INLINE vi mul_even(vi a, vi b) { return _mm256_mul_epu32(a, b); }
INLINE vi add64(vi a, vi b) { return _mm256_add_epi64(a, b); }
INLINE vi up32(vi a) { return _mm256_slli_epi64(a, 32); }
INLINE vi down32(vi a) { return _mm256_srli_epi64(a, 32); }
INLINE vi odd_of(vi even, vi odd) { return _mm256_blend_epi32(even, odd, 0xaa); }

/* Masks */
INLINE vm
lanes(uint32_t mask, unsigned block)
{
	const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	return _mm256_cmpeq_epi32(_mm256_and_si256(splat(mask >> WIDTH * block), bits), bits);
}
INLINE vm none(void) { return _mm256_setzero_si256(); }
INLINE uint32_t bits_of(vm m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }
INLINE bool is_all(vm m) { return _mm256_movemask_epi8(m) == -1; }
INLINE vi blend(vm m, vi off, vi on) { return _mm256_blendv_epi8(off, on, m); }
INLINE vm m_or(vm a, vm b) { return _mm256_or_si256(a, b); }
INLINE vm m_and(vm a, vm b) { return _mm256_and_si256(a, b); }
INLINE vm m_not(vm a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
INLINE vm eq(vi a, vi b) { return _mm256_cmpeq_epi32(a, b); }
INLINE vm gt_i(vi a, vi b) { return _mm256_cmpgt_epi32(a, b); }
INLINE vm
gt_u(vi a, vi b)
{
	const __m256i sign = _mm256_set1_epi32(INT32_MIN); /* orders unsigned numbers as signed ones */
	return _mm256_cmpgt_epi32(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
}
/* Of quadwords; the mask holds for both dwords. */
INLINE vm
less64(vi a, vi b)
{
	const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
	return _mm256_cmpgt_epi64(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign));
}
INLINE vm odd_mask(vm even, vm odd) { return _mm256_blend_epi32(even, odd, 0xaa); }
#define fcmp(a, b, predicate) _mm256_castps_si256(_mm256_cmp_ps(a, b, predicate))
INLINE void put(uint32_t *p, unsigned block, vi v, uint32_t exec) { store(p, block, blend(lanes(exec, block), load(p, block), v)); }

INLINE vi
gather(const uint8_t *base, vi at)
{
	return _mm256_i32gather_epi32((const int *)(const void *)base, at, 1);
}
INLINE vi
gather_some(vi old, const uint8_t *base, vi at, vm mask)
{
	return _mm256_mask_i32gather_epi32(old, (const int *)(const void *)base, at, mask, 1);
}

INLINE uint32_t
least_of(vi v)
{
	__m128i m = _mm_min_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
	m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
	return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1)));
}
INLINE uint32_t
most_of(vi v)
{
	return ~least_of(_mm256_xor_si256(v, _mm256_set1_epi32(-1)));
}

#include "fast_valu.h"
#include "fast_mem.h"
#include "fast_table.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
