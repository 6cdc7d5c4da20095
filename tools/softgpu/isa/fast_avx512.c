/* SPDX-License-Identifier: MIT */
/* fast_avx512.c: 32 lanes as two vectors of sixteen, with mask registers. */
#include "fast.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif

#define INLINE static inline __attribute__((always_inline))
#define FAST_TABLE sg_fast_avx512

enum { WIDTH = 16, BLOCKS = SG_LANES / WIDTH };

typedef __m512i vi;
typedef __m512 vf;
typedef __mmask16 vm;

INLINE vi load(const uint32_t *p, unsigned block) { return _mm512_loadu_si512(p + WIDTH * block); }
INLINE void store(uint32_t *p, unsigned block, vi v) { _mm512_storeu_si512(p + WIDTH * block, v); }
INLINE vi splat(uint32_t x) { return _mm512_set1_epi32((int)x); }
INLINE vf as_float(vi v) { return _mm512_castsi512_ps(v); }
INLINE vi as_int(vf v) { return _mm512_castps_si512(v); }

INLINE vi add(vi a, vi b) { return _mm512_add_epi32(a, b); }
INLINE vi sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
INLINE vi mullo(vi a, vi b) { return _mm512_mullo_epi32(a, b); }
INLINE vi and(vi a, vi b) { return _mm512_and_si512(a, b); }
INLINE vi or(vi a, vi b) { return _mm512_or_si512(a, b); }
INLINE vi xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
INLINE vi shl(vi a, vi n) { return _mm512_sllv_epi32(a, n); }
INLINE vi shr(vi a, vi n) { return _mm512_srlv_epi32(a, n); }
INLINE vi sar(vi a, vi n) { return _mm512_srav_epi32(a, n); }
INLINE vi min_i(vi a, vi b) { return _mm512_min_epi32(a, b); }
INLINE vi max_i(vi a, vi b) { return _mm512_max_epi32(a, b); }
INLINE vi min_u(vi a, vi b) { return _mm512_min_epu32(a, b); }
INLINE vi max_u(vi a, vi b) { return _mm512_max_epu32(a, b); }
/* In assembly, because compilers exchange operands: of several NaNs the first operand's is the result. */
#define ARITHMETIC(name, instruction)                                                                                  \
	INLINE vf name(vf a, vf b)                                                                                     \
	{                                                                                                              \
		vf r;                                                                                                  \
		__asm__(instruction " %2, %1, %0" : "=v"(r) : "v"(a), "vm"(b));                                     \
		return r;                                                                                              \
	}
ARITHMETIC(fadd, "vaddps")
ARITHMETIC(fsub, "vsubps")
ARITHMETIC(fmul, "vmulps")
INLINE vf
fused(vf a, vf b, vf c)
{
	/* 213: operand 2 is the first factor, the destination the second */
	__asm__("vfmadd213ps %2, %1, %0" : "+v"(b) : "v"(a), "vm"(c));
	return b;
}

/* Pairs of dwords as quadwords: those of even lanes, and those of odd lanes */
INLINE vi mul_even(vi a, vi b) { return _mm512_mul_epu32(a, b); }
INLINE vi add64(vi a, vi b) { return _mm512_add_epi64(a, b); }
INLINE vi up32(vi a) { return _mm512_slli_epi64(a, 32); }
INLINE vi down32(vi a) { return _mm512_srli_epi64(a, 32); }
INLINE vi odd_of(vi even, vi odd) { return _mm512_mask_blend_epi32(0xaaaa, even, odd); }

/* Masks */
INLINE vm lanes(uint32_t mask, unsigned block) { return (vm)(mask >> WIDTH * block); }
INLINE vm none(void) { return 0; }
INLINE uint32_t bits_of(vm m) { return m; }
INLINE bool is_all(vm m) { return m == 0xffff; }
INLINE vi blend(vm m, vi off, vi on) { return _mm512_mask_blend_epi32(m, off, on); }
INLINE vm m_or(vm a, vm b) { return (vm)(a | b); }
INLINE vm m_and(vm a, vm b) { return (vm)(a & b); }
INLINE vm m_not(vm a) { return (vm)~a; }
INLINE vm eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
INLINE vm gt_i(vi a, vi b) { return _mm512_cmpgt_epi32_mask(a, b); }
INLINE vm gt_u(vi a, vi b) { return _mm512_cmpgt_epu32_mask(a, b); }
/* Of quadwords; the mask holds for both dwords. */
INLINE vm
less64(vi a, vi b)
{
	return (vm)_mm512_movepi32_mask(_mm512_movm_epi64(_mm512_cmplt_epu64_mask(a, b)));
}
INLINE vm odd_mask(vm even, vm odd) { return (vm)((even & 0x5555) | (odd & 0xaaaa)); }
#define fcmp(a, b, predicate) _mm512_cmp_ps_mask(a, b, predicate)
INLINE void
put(uint32_t *p, unsigned block, vi v, uint32_t exec)
{
	_mm512_mask_storeu_epi32(p + WIDTH * block, lanes(exec, block), v);
}

INLINE vi gather(const uint8_t *base, vi at) { return _mm512_i32gather_epi32(at, base, 1); }
INLINE vi
gather_some(vi old, const uint8_t *base, vi at, vm mask)
{
	return _mm512_mask_i32gather_epi32(old, mask, at, base, 1);
}
INLINE uint32_t least_of(vi v) { return _mm512_reduce_min_epu32(v); }
INLINE uint32_t most_of(vi v) { return _mm512_reduce_max_epu32(v); }

#include "fast_valu.h"
#include "fast_mem.h"
#include "fast_table.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
