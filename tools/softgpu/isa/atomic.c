/* SPDX-License-Identifier: MIT */
/* atomic.c: what each atomic leaves in memory. */
#include "core.h"

static float
as_f32(uint64_t bits)
{
	uint32_t b = (uint32_t)bits;
	float f;
	memcpy(&f, &b, 4);
	return f;
}

static double
as_f64(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, 8);
	return f;
}

static uint64_t
add_f32(uint64_t a, uint64_t b)
{
	float sum = as_f32(a) + as_f32(b);
	uint32_t bits;
	/* the first NaN, quieted; compilers exchange operands */
	if (sum != sum && (as_f32(a) != as_f32(a) || as_f32(b) != as_f32(b)))
		return (as_f32(a) != as_f32(a) ? a : b) | 0x00400000;
	memcpy(&bits, &sum, 4);
	return bits;
}

static bool
is_nan(unsigned bytes, uint64_t v)
{
	return bytes == 4 ? (v & 0x7fffffff) > 0x7f800000 : (v & INT64_MAX) > 0x7ff0000000000000;
}

static bool
less(unsigned bytes, uint64_t a, uint64_t b)
{
	if (bytes == 4 && !((a | b) & 0x7fffffff))
		return a > b; /* -0 < +0 */
	if (bytes == 8 && !((a | b) & INT64_MAX))
		return a > b;
	return bytes == 4 ? as_f32(a) < as_f32(b) : as_f64(a) < as_f64(b);
}

/* A NaN loses against a number (minNum, maxNum). */
static uint64_t
minmax_float(unsigned bytes, uint64_t old, uint64_t data, bool max)
{
	if (is_nan(bytes, old))
		return is_nan(bytes, data) ? old : data;
	if (is_nan(bytes, data))
		return old;
	return less(bytes, old, data) != max ? old : data;
}

static bool
equal_float(unsigned bytes, uint64_t a, uint64_t b)
{
	return bytes == 4 ? as_f32(a) == as_f32(b) : as_f64(a) == as_f64(b);
}

static int64_t
sign(unsigned bytes, uint64_t v)
{
	return bytes == 4 ? (int64_t)(int32_t)v : (int64_t)v;
}

/* Each dword of data whose top bit is set replaces its dword, without that bit. */
static uint64_t
conditional_exchange(uint64_t old, uint64_t data)
{
	uint64_t r = old;
	if (data & 0x80000000u)
		r = (r & ~(uint64_t)UINT32_MAX) | (data & 0x7fffffff);
	if (data >> 63)
		r = (r & UINT32_MAX) | (data & 0x7fffffff00000000);
	return r;
}

static uint64_t
apply(enum sg_atomic op, unsigned bytes, uint64_t old, uint64_t data, uint64_t compare)
{
	switch (op) {
	case SG_A_SWAP: return data;
	case SG_A_CMPSWAP: return old == compare ? data : old;
	case SG_A_ADD: return old + data;
	case SG_A_SUB: return old - data;
	case SG_A_CSUB: return old >= data ? old - data : 0;
	case SG_A_RSUB: return data - old;
	case SG_A_SMIN: return sign(bytes, old) < sign(bytes, data) ? old : data;
	case SG_A_UMIN: return old < data ? old : data;
	case SG_A_SMAX: return sign(bytes, old) > sign(bytes, data) ? old : data;
	case SG_A_UMAX: return old > data ? old : data;
	case SG_A_AND: return old & data;
	case SG_A_OR: return old | data;
	case SG_A_XOR: return old ^ data;
	case SG_A_INC: return old >= data ? 0 : old + 1;
	case SG_A_DEC: return old == 0 || old > data ? data : old - 1;
	case SG_A_WRAP: return old >= data ? old - data : old + compare;
	case SG_A_MSKOR: return (old & ~data) | compare;
	case SG_A_FCMPSWAP: return equal_float(bytes, old, compare) ? data : old;
	case SG_A_FMIN: return minmax_float(bytes, old, data, false);
	case SG_A_FMAX: return minmax_float(bytes, old, data, true);
	case SG_A_FADD: return add_f32(old, data);
	case SG_A_CONDXCHG: return conditional_exchange(old, data);
	default: return old;
	}
}

static uint64_t
flush(unsigned bytes, uint64_t v)
{
	if (bytes == 4)
		return (v & 0x7f800000) ? v : v & 0x80000000;
	return (v & 0x7ff0000000000000) ? v : v & (uint64_t)INT64_MIN;
}

uint64_t
sg_atomic_apply(enum sg_atomic op, unsigned bytes, uint64_t old, uint64_t data, uint64_t compare, uint32_t mode)
{
	if (bytes == 4) {
		old = (uint32_t)old;
		data = (uint32_t)data;
		compare = (uint32_t)compare;
	}
	uint64_t r;
	/* the adder of the memory path follows MODE's f32 denormal bits */
	if (op == SG_A_FADD && (mode >> 4 & 3) != 3)
		r = flush(bytes, apply(op, bytes, flush(bytes, old), flush(bytes, data), compare));
	else
		r = apply(op, bytes, old, data, compare);
	return bytes == 4 ? (uint32_t)r : r;
}
