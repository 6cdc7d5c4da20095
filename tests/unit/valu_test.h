/* SPDX-License-Identifier: MIT */
/* valu_test.h: running single operations of the vector ALU, for the test_valu*.c. Values there are worked out from the
 * RDNA2 and RDNA3 ISA documents' definitions or by plain references. */
#ifndef TESTS_VALU_TEST_H
#define TESTS_VALU_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/valu.h"

#define MODE_KEEP 0x2f0u  /* IEEE, all denormals kept, to nearest */
#define MODE_FLUSH 0x2c0u /* IEEE, f32 denormals flushed */
#define MODE_NO_IEEE 0x0f0u
#define MODE_UP 5u
#define MODE_DOWN 10u
#define MODE_ZERO 15u

#define NAN32 0x7fc00000u
#define INF32 0x7f800000u
#define WORDS (8 * SG_LANES)

typedef uint32_t regs[WORDS] __attribute__((aligned(128)));

static uint64_t seed = 1;

static inline uint32_t
rnd32(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static inline uint32_t
bits(float f)
{
	uint32_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static inline float
flt(uint32_t b)
{
	float f;
	memcpy(&f, &b, sizeof f);
	return f;
}

static inline uint64_t
bits64(double f)
{
	uint64_t b;
	memcpy(&b, &f, sizeof b);
	return b;
}

static inline double
dbl(uint64_t b)
{
	double f;
	memcpy(&f, &b, sizeof f);
	return f;
}

static inline void
fill(uint32_t *r, uint64_t value)
{
	for (unsigned i = 0; i < SG_LANES; i++) {
		r[i] = (uint32_t)value;
		r[i + SG_LANES] = (uint32_t)(value >> 32);
	}
}

static inline const struct sg_valu_op *
find(const char *name)
{
	const struct sg_valu_op *op = sg_valu_find(name);
	if (!op)
		fail_msg("no operation %s", name);
	return op;
}

/* One operation on the same values in all lanes; the result of the last lane, 64 bits of it. */
static inline uint64_t
run_env(const char *name, struct sg_valu_env *env, uint64_t a, uint64_t b, uint64_t c, uint64_t old)
{
	static regs s0, s1, s2, d;
	const struct sg_valu_op *op = find(name);
	fill(s0, a);
	fill(s1, b);
	fill(s2, c);
	fill(d, old);
	op->fn(d, s0, s1, s2, env);
	bool wide = op->dst == SG_T_B64 || op->dst == SG_T_F64;
	return d[31] | (wide ? (uint64_t)d[63] << 32 : 0);
}

static inline uint64_t
run(const char *name, uint32_t mode, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = mode, .exec = ~0u, .op_sel_hi = 7 };
	return run_env(name, &env, a, b, c, 0);
}

static inline uint64_t
run_clamp(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = MODE_KEEP, .exec = ~0u, .op_sel_hi = 7, .clamp = true };
	return run_env(name, &env, a, b, c, 0);
}

static inline uint32_t
run_mask(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	struct sg_valu_env env = { .mode = MODE_KEEP, .exec = ~0u };
	run_env(name, &env, a, b, c, 0);
	assert_true(env.mask_out == 0 || env.mask_out == ~0u);
	return env.mask_out & 1;
}

#define CHECK(expr, value) assert_int_equal((uint64_t)(expr), (uint64_t)(value))
#define KEEP(name, a, b, c) run(name, MODE_KEEP, a, b, c)

static inline void
is_nan(uint64_t x)
{
	assert_true((x & 0x7fffffff) > INF32);
}

static inline void
garbage(uint32_t *r)
{
	static const uint32_t edges[] = { 0,	      SG_LANES,	  1,	      ~0u,	  0x80000000, 0x7fffffff, INF32,
					  0xff800000, 0x7f800001, NAN32,      0x00000001, 0x807fffff, 0x7f7fffff, 0x7c007c00,
					  0xfbff03ff, 0x7c017e00, 0x7ff00000, 0xfff80000, 0x000fffff, 0x3f800000 };
	for (unsigned i = 0; i < WORDS; i++)
		r[i] = rnd32() & 1 ? rnd32() : edges[rnd32() % (sizeof edges / sizeof *edges)];
}

#endif
