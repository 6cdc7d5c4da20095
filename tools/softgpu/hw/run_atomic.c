/* SPDX-License-Identifier: MIT */
/* run_atomic.c: atomics of packets (ATOMIC_MEM, RELEASE_MEM's addition, SDMA's) and semaphores. */
#include "run.h"

#include <math.h>
#include <string.h>

/* TC atomic codes without their variants: +32 is 64 bits wide, +64 returns nothing. Sources: Linux's TC_OP in the
 * register enums (soc15_enum.h), PAL. */
enum tc_atomic {
	TC_FCMPSWAP = 1, TC_FMIN = 2, TC_FMAX = 3, TC_SWAP = 7, TC_CMPSWAP = 8, TC_FCMPSWAP_FLUSH = 9,
	TC_FMIN_FLUSH = 10, TC_FMAX_FLUSH = 11, TC_ADD = 15, TC_SUB = 16, TC_SMIN = 17, TC_UMIN = 18, TC_SMAX = 19,
	TC_UMAX = 20, TC_AND = 21, TC_OR = 22, TC_XOR = 23, TC_INC = 24, TC_DEC = 25,
};
enum { TC_WIDE = 32 };

static int64_t
as_signed(uint64_t v, bool wide)
{
	return wide ? (int64_t)v : (int32_t)v;
}

/* Any float is exact as a double. */
static double
as_float(uint64_t v, bool wide, bool flush)
{
	uint32_t low = (uint32_t)v;
	double d;
	float f;

	memcpy(&d, &v, 8);
	memcpy(&f, &low, 4);
	bool denormal = wide ? fpclassify(d) == FP_SUBNORMAL : fpclassify(f) == FP_SUBNORMAL;
	return denormal && flush ? 0.0 : wide ? d : (double)f;
}

static uint64_t
float_value(uint32_t code, bool wide, uint64_t old, uint64_t src, uint64_t cmp)
{
	bool flush = code >= TC_FCMPSWAP_FLUSH;
	double o = as_float(old, wide, flush), s = as_float(src, wide, flush), c = as_float(cmp, wide, flush);

	switch (code) {
	case TC_FMIN:
	case TC_FMIN_FLUSH: return s < o ? src : old;
	case TC_FMAX:
	case TC_FMAX_FLUSH: return s > o ? src : old;
	default: return o == c ? src : old;
	}
}

/* False: no such code. */
static bool
atomic_value(uint32_t code, bool wide, uint64_t old, uint64_t src, uint64_t cmp, uint64_t *out)
{
	bool less = as_signed(old, wide) < as_signed(src, wide);

	switch (code) {
	case TC_FCMPSWAP:
	case TC_FMIN:
	case TC_FMAX:
	case TC_FCMPSWAP_FLUSH:
	case TC_FMIN_FLUSH:
	case TC_FMAX_FLUSH: *out = float_value(code, wide, old, src, cmp); break;
	case TC_SWAP: *out = src; break;
	case TC_CMPSWAP: *out = old == cmp ? src : old; break;
	case TC_ADD: *out = old + src; break;
	case TC_SUB: *out = old - src; break;
	case TC_SMIN: *out = less ? old : src; break;
	case TC_UMIN: *out = old < src ? old : src; break;
	case TC_SMAX: *out = less ? src : old; break;
	case TC_UMAX: *out = old < src ? src : old; break;
	case TC_AND: *out = old & src; break;
	case TC_OR: *out = old | src; break;
	case TC_XOR: *out = old ^ src; break;
	case TC_INC: *out = old >= src ? 0 : old + 1; break;
	case TC_DEC: *out = old == 0 || old > src ? src : old - 1; break;
	default: return false;
	}
	return true;
}

static bool
atomic_32(uint32_t *at, uint32_t code, uint64_t src, uint64_t cmp, uint64_t *old)
{
	uint32_t seen = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	uint64_t value;

	do {
		if (!atomic_value(code, false, seen, (uint32_t)src, (uint32_t)cmp, &value))
			return false;
	} while (!__atomic_compare_exchange_n(at, &seen, (uint32_t)value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	*old = seen;
	return true;
}

static bool
atomic_64(uint64_t *at, uint32_t code, uint64_t src, uint64_t cmp, uint64_t *old)
{
	uint64_t seen = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	uint64_t value;

	do {
		if (!atomic_value(code, true, seen, src, cmp, &value))
			return false;
	} while (!__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	*old = seen;
	return true;
}

struct hostile_atomic {
	uint32_t code;
	bool wide;
	uint64_t src, cmp, old;
};

static bool
hostile_update(void *arg, uint64_t old, uint64_t *value)
{
	struct hostile_atomic *a = arg;

	a->old = old;
	return atomic_value(a->code, a->wide, old, a->src, a->cmp, value);
}

/* In hostile mode the word is wherever L2 has it. */
static bool
atomic_hostile(struct sg_run *run, uint8_t *host, uint32_t code, bool wide, uint64_t src, uint64_t cmp, uint64_t *old)
{
	struct hostile_atomic a = { .code = code, .wide = wide, .src = wide ? src : (uint32_t)src,
				    .cmp = wide ? cmp : (uint32_t)cmp };
	bool known = sg_l2_update(host, wide ? 8 : 4, run->l2, hostile_update, &a);

	*old = a.old;
	return known;
}

bool
sg_run_atomic(struct sg_run *run, uint32_t op, uint64_t va, uint64_t src, uint64_t cmp, uint64_t *old)
{
	bool wide = op & TC_WIDE, known;
	uint64_t dummy = 0; /* what an unmapped address is */
	uint8_t *host;

	va = sg_canonical(va & ~(wide ? 7ull : 3ull));
	if (!sg_run_word(run, va, wide ? 8 : 4, &host))
		return false;
	/* Only user memory could be aligned otherwise than its address, and the kernel demands whole pages there. */
	void *at = host && (uintptr_t)host % (wide ? 8 : 4) == 0 ? (void *)host : &dummy;
	if (at != &dummy && run->mem.hostile)
		known = atomic_hostile(run, at, op & 31, wide, src, cmp, old);
	else
		known = wide ? atomic_64(at, op & 31, src, cmp, old) : atomic_32(at, op & 31, src, cmp, old);
	if (!known)
		sg_run_fail(run, SG_JOB_ILLEGAL, "unknown atomic operation %u", op);
	return known;
}

/* ---- semaphores ---- */

bool
sg_run_semaphore_signal(struct sg_run *run, uint64_t va, bool write_one)
{
	uint64_t old;

	return sg_run_atomic(run, TC_WIDE + (write_one ? TC_SWAP : TC_ADD), va, 1, 0, &old);
}

/* Another taker may come between the look and the swap; then there was none for this one, who asks again. */
bool
sg_run_semaphore_take(struct sg_run *run, uint64_t va, bool *taken)
{
	uint64_t seen = 0, old = 0;

	*taken = false;
	if (!sg_run_poll(run, va & ~7ull, &seen, 8))
		return false;
	if (seen == 0)
		return true;
	if (!sg_run_atomic(run, TC_WIDE + TC_CMPSWAP, va, seen - 1, seen, &old))
		return false;
	*taken = old == seen;
	return true;
}
