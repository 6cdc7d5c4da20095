/* SPDX-License-Identifier: MIT */
/* valu_wmma.c: 16x16x16 matrix multiply-accumulate of RDNA3, wave32.
 *
 * Lane l & 15 holds row (A) or column (B) of its matrix, k in order from the low end of its registers; lanes 16-31
 * repeat lanes 0-15 and are not read. Register i of C and D holds in lane l row 2 * i + (l >> 4), column l & 15.
 * In wave64 C and D have four registers: register i of wave half h stands where 2 * i + h does here, A and B come from
 * the first half. Exec is ignored by the hardware.
 *
 * neg is neg_lo, abs is neg_hi of the instruction. For A and B they negate even and odd k (neg of integers: they are
 * signed), for C they negate and take absolute values.
 */
#include "valu_impl.h"

enum { WMMA_N = 16 };

#define C_WORD(row, col) ((row) / 2 * SG_LANES + (row) % 2 * 16 + (col))

typedef float load_fn(uint32_t half);

static float
load_f16(uint32_t half)
{
	return sg_half(half & 0xffff);
}

static float
load_bf16(uint32_t half)
{
	return sg_bf16(half & 0xffff);
}

/* m[k][lane]: lane is a row of A or a column of B. */
SG_INLINE void
load_matrix(float m[WMMA_N][WMMA_N], const uint32_t *s, unsigned source, const struct sg_valu_env *env, load_fn *load)
{
	float even = env->neg >> source & 1 ? -1.0f : 1.0f, odd = env->abs >> source & 1 ? -1.0f : 1.0f;
	for (unsigned k = 0; k < WMMA_N; k++)
		for (unsigned lane = 0; lane < WMMA_N; lane++)
			m[k][lane] = load(s[k / 2 * SG_LANES + lane] >> (k & 1) * 16) * (k & 1 ? odd : even);
}

SG_INLINE float
modify_c(float c, const struct sg_valu_env *env)
{
	if (env->abs & 4)
		c = fabsf(c);
	return env->neg & 4 ? -c : c;
}

/* c[row][column] += A * B. Products of halves are exact in f32, so an fma (a libm call on old hosts) gains nothing. */
SG_INLINE void
multiply(float c[WMMA_N][WMMA_N], float a[WMMA_N][WMMA_N], float b[WMMA_N][WMMA_N])
{
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned k = 0; k < WMMA_N; k++)
			for (unsigned col = 0; col < WMMA_N; col++)
				c[row][col] += a[k][row] * b[k][col];
}

SG_INLINE void
wmma_f32(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, const struct sg_valu_env *env,
	 load_fn *load)
{
	float a[WMMA_N][WMMA_N], b[WMMA_N][WMMA_N], c[WMMA_N][WMMA_N];

	load_matrix(a, s0, 0, env, load);
	load_matrix(b, s1, 1, env, load);
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned col = 0; col < WMMA_N; col++)
			c[row][col] = modify_c(sg_f32(s2[C_WORD(row, col)]), env);
	multiply(c, a, b);
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned col = 0; col < WMMA_N; col++)
			d[C_WORD(row, col)] = sg_b32(sg_any32(c[row][col]));
}

SG_FN(wmma_f32_16x16x16_f16)
{
	wmma_f32(d, s0, s1, s2, env, load_f16);
}

SG_FN(wmma_f32_16x16x16_bf16)
{
	wmma_f32(d, s0, s1, s2, env, load_bf16);
}

/* 16-bit C and D: op_sel[2] picks the half, the other half of D keeps its old contents (d holds them). */
SG_INLINE void
wmma_16(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, const struct sg_valu_env *env,
	load_fn *load, bool bf16)
{
	float a[WMMA_N][WMMA_N], b[WMMA_N][WMMA_N], c[WMMA_N][WMMA_N];
	const unsigned shift = env->op_sel & 4 ? 16 : 0;

	load_matrix(a, s0, 0, env, load);
	load_matrix(b, s1, 1, env, load);
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned col = 0; col < WMMA_N; col++)
			c[row][col] = modify_c(load(s2[C_WORD(row, col)] >> shift), env);
	multiply(c, a, b);
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned col = 0; col < WMMA_N; col++) {
			uint32_t *out = &d[C_WORD(row, col)];
			float r = sg_any32(c[row][col]);
			uint32_t half = bf16 ? sg_to_bf16(r) : sg_to_half_nearest(sg_b32(r));
			*out = (*out & ~(0xffffu << shift)) | half << shift;
		}
}

SG_FN(wmma_f16_16x16x16_f16)
{
	wmma_16(d, s0, s1, s2, env, load_f16, false);
}

SG_FN(wmma_bf16_16x16x16_bf16)
{
	wmma_16(d, s0, s1, s2, env, load_bf16, true);
}

SG_INLINE int32_t
integer(const uint32_t *s, unsigned lane, unsigned k, unsigned bits, bool sign)
{
	uint32_t field = s[k * bits / 32 * SG_LANES + lane] >> k * bits % 32 & ((1u << bits) - 1);
	uint32_t top = sign ? 1u << (bits - 1) : 0;
	return (int32_t)((field ^ top) - top);
}

SG_INLINE void
wmma_i32(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, const struct sg_valu_env *env,
	 unsigned bits)
{
	int32_t a[WMMA_N][WMMA_N], b[WMMA_N][WMMA_N], sum[WMMA_N][WMMA_N] = { { 0 } };

	for (unsigned k = 0; k < WMMA_N; k++)
		for (unsigned lane = 0; lane < WMMA_N; lane++) {
			a[k][lane] = integer(s0, lane, k, bits, env->neg & 1);
			b[k][lane] = integer(s1, lane, k, bits, env->neg & 2);
		}
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned k = 0; k < WMMA_N; k++)
			for (unsigned col = 0; col < WMMA_N; col++)
				sum[row][col] += a[k][row] * b[k][col];
	for (unsigned row = 0; row < WMMA_N; row++)
		for (unsigned col = 0; col < WMMA_N; col++) {
			int64_t total = (int64_t)(int32_t)s2[C_WORD(row, col)] + sum[row][col];
			if (env->clamp)
				total = sg_clamp64(total, INT32_MIN, INT32_MAX);
			d[C_WORD(row, col)] = (uint32_t)total;
		}
}

SG_FN(wmma_i32_16x16x16_iu8)
{
	wmma_i32(d, s0, s1, s2, env, 8);
}

SG_FN(wmma_i32_16x16x16_iu4)
{
	wmma_i32(d, s0, s1, s2, env, 4);
}
