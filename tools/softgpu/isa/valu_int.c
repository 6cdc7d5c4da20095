/* SPDX-License-Identifier: MIT */
/* valu_int.c: integer arithmetic, shifts, bit fields and logic. */
#include "valu_impl.h"

/* Defines sg_<name>: expr of the sources a, b, c as uint32_t. */
#define INT_OP(name, sources, expr)                                                                                    \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		enum { HAS_B = (sources)&2, HAS_C = (sources)&4 };                                                     \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a __attribute__((unused)) = s0[i];                                                    \
			uint32_t b __attribute__((unused)) = HAS_B ? s1[i] : 0;                                        \
			uint32_t c __attribute__((unused)) = HAS_C ? s2[i] : 0;                                        \
			d[i] = (uint32_t)(expr);                                                                       \
		}                                                                                                      \
	}
/* The same with another expression when the instruction has its clamp bit: saturation instead of wrapping. */
#define INT_CLAMP_OP(name, sources, expr, saturated)                                                                   \
	static INT_OP(name##_wrap, sources, expr)                                                                      \
	static INT_OP(name##_clamp, sources, saturated)                                                                \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		if (env->clamp)                                                                                        \
			sg_##name##_clamp(d, s0, s1, s2, env);                                                         \
		else                                                                                                   \
			sg_##name##_wrap(d, s0, s1, s2, env);                                                          \
	}

enum { A = 1, AB = 3, ABC = 7 };

SG_INLINE uint32_t
sat_i32(int64_t x)
{
	return (uint32_t)sg_clamp64(x, INT32_MIN, INT32_MAX);
}

SG_INLINE uint32_t
sat_u32(uint64_t x)
{
	return x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

SG_INLINE uint32_t
sat_i16(int64_t x)
{
	return (uint32_t)sg_clamp64(x, INT16_MIN, INT16_MAX) & 0xffff;
}

SG_INLINE uint32_t
sat_u16(int64_t x)
{
	return (uint32_t)sg_clamp64(x, 0, UINT16_MAX);
}

#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(int32_t)(x))
#define U64(x) ((uint64_t)(x))
#define U16(x) ((x)&0xffff)
#define S16(x) sg_sext16(x)
#define U24(x) ((x)&0xffffff)
#define S24(x) ((int32_t)(U24(x) ^ 0x800000) - 0x800000)

/* Moves and logic */
INT_OP(mov_b32, A, a)
INT_OP(not_b32, A, ~a)
INT_OP(and_b32, AB, a &b)
INT_OP(or_b32, AB, a | b)
INT_OP(xor_b32, AB, a ^ b)
INT_OP(xnor_b32, AB, ~(a ^ b))
INT_OP(or3_b32, ABC, a | b | c)
INT_OP(xor3_b32, ABC, a ^ b ^ c)
INT_OP(and_or_b32, ABC, (a & b) | c)
INT_OP(mov_b16, A, U16(a))
INT_OP(not_b16, A, U16(~a))
INT_OP(and_b16, AB, U16(a &b))
INT_OP(or_b16, AB, U16(a | b))
INT_OP(xor_b16, AB, U16(a ^ b))

SG_FN(cndmask_b32)
{
	const uint32_t mask = env->carry_in;
	SG_EACH_LANE d[i] = mask & sg_lane_bit[i] ? s1[i] : s0[i];
}

SG_FN(cndmask_b16)
{
	const uint32_t mask = env->carry_in;
	SG_EACH_LANE d[i] = (mask & sg_lane_bit[i] ? s1[i] : s0[i]) & 0xffff;
}

/* Addition and multiplication, 32 bits */
INT_CLAMP_OP(add_nc_u32, AB, a + b, sat_u32(U64(a) + b))
INT_CLAMP_OP(sub_nc_u32, AB, a - b, a < b ? 0 : a - b)
INT_CLAMP_OP(subrev_nc_u32, AB, b - a, b < a ? 0 : b - a)
INT_CLAMP_OP(add_nc_i32, AB, a + b, sat_i32(S64(a) + S64(b)))
INT_CLAMP_OP(sub_nc_i32, AB, a - b, sat_i32(S64(a) - S64(b)))
INT_OP(add3_u32, ABC, a + b + c)
INT_OP(lshl_add_u32, ABC, (a << (b & 31)) + c)
INT_OP(add_lshl_u32, ABC, (a + b) << (c & 31))
INT_OP(lshl_or_b32, ABC, (a << (b & 31)) | c)
INT_OP(xad_u32, ABC, (a ^ b) + c)
INT_OP(mul_lo_u32, AB, a *b)
INT_OP(mul_hi_u32, AB, U64(a) * b >> 32)
INT_OP(mul_hi_i32, AB, U64(S64(a) * S64(b)) >> 32)
INT_OP(mul_u32_u24, AB, U24(a) * U24(b))
INT_OP(mul_i32_i24, AB, (uint32_t)S24(a) * (uint32_t)S24(b))
INT_OP(mul_hi_u32_u24, AB, U64(U24(a)) * U24(b) >> 32)
INT_OP(mul_hi_i32_i24, AB, U64((int64_t)S24(a) * S24(b)) >> 32)
INT_CLAMP_OP(mad_u32_u24, ABC, U24(a) * U24(b) + c, sat_u32(U64(U24(a)) * U24(b) + c))
INT_CLAMP_OP(mad_i32_i24, ABC, (uint32_t)S24(a) * (uint32_t)S24(b) + c, sat_i32((int64_t)S24(a) * S24(b) + S64(c)))
INT_CLAMP_OP(mad_u32_u16, ABC, U16(a) * U16(b) + c, sat_u32(U64(U16(a)) * U16(b) + c))
INT_CLAMP_OP(mad_i32_i16, ABC, (uint32_t)(S16(a) * S16(b)) + c, sat_i32(S64(S16(a) * S16(b)) + S64(c)))

/* 16 bits */
INT_CLAMP_OP(add_nc_u16, AB, U16(a + b), sat_u16((int64_t)U16(a) + U16(b)))
INT_CLAMP_OP(sub_nc_u16, AB, U16(a - b), sat_u16((int64_t)U16(a) - U16(b)))
INT_CLAMP_OP(add_nc_i16, AB, U16(a + b), sat_i16(S16(a) + S16(b)))
INT_CLAMP_OP(sub_nc_i16, AB, U16(a - b), sat_i16(S16(a) - S16(b)))
INT_OP(mul_lo_u16, AB, U16(U16(a) * U16(b)))
INT_CLAMP_OP(mad_u16, ABC, U16(U16(a) * U16(b) + c), sat_u16((int64_t)U16(a) * U16(b) + U16(c)))
INT_CLAMP_OP(mad_i16, ABC, U16(U16(a) * U16(b) + c), sat_i16((int64_t)S16(a) * S16(b) + S16(c)))
INT_OP(min_u16, AB, U16(a) < U16(b) ? U16(a) : U16(b))
INT_OP(max_u16, AB, U16(a) > U16(b) ? U16(a) : U16(b))
INT_OP(min_i16, AB, S16(a) < S16(b) ? U16(a) : U16(b))
INT_OP(max_i16, AB, S16(a) > S16(b) ? U16(a) : U16(b))
INT_OP(lshlrev_b16, AB, U16(U16(b) << (a & 15)))
INT_OP(lshrrev_b16, AB, U16(b) >> (a & 15))
INT_OP(ashrrev_i16, AB, U16(S16(b) >> (a & 15)))

/* Shifts */
INT_OP(lshlrev_b32, AB, b << (a & 31))
INT_OP(lshrrev_b32, AB, b >> (a & 31))
INT_OP(ashrrev_i32, AB, S32(b) >> (a & 31))

/* Minimum, maximum, middle */
#define LEAST(t, a, b) ((t)(a) < (t)(b) ? (a) : (b))
#define MOST(t, a, b) ((t)(a) > (t)(b) ? (a) : (b))
#define MIDDLE(t, a, b, c) MOST(t, LEAST(t, a, b), LEAST(t, MOST(t, a, b), c))
#define MINMAX3(suffix, t, load)                                                                                       \
	INT_OP(min3_##suffix, ABC, LEAST(t, LEAST(t, load(a), load(b)), load(c)))                                       \
	INT_OP(max3_##suffix, ABC, MOST(t, MOST(t, load(a), load(b)), load(c)))                                         \
	INT_OP(med3_##suffix, ABC, MIDDLE(t, load(a), load(b), load(c)))
#define SAME(x) (x)

INT_OP(min_u32, AB, LEAST(uint32_t, a, b))
INT_OP(max_u32, AB, MOST(uint32_t, a, b))
INT_OP(min_i32, AB, LEAST(int32_t, a, b))
INT_OP(max_i32, AB, MOST(int32_t, a, b))
MINMAX3(u32, uint32_t, SAME)
MINMAX3(i32, int32_t, SAME)
MINMAX3(u16, uint32_t, U16)
INT_OP(min3_i16, ABC, U16(LEAST(int32_t, LEAST(int32_t, S16(a), S16(b)), S16(c))))
INT_OP(max3_i16, ABC, U16(MOST(int32_t, MOST(int32_t, S16(a), S16(b)), S16(c))))
INT_OP(med3_i16, ABC, U16(MIDDLE(int32_t, S16(a), S16(b), S16(c))))
INT_OP(maxmin_u32, ABC, LEAST(uint32_t, MOST(uint32_t, a, b), c))
INT_OP(minmax_u32, ABC, MOST(uint32_t, LEAST(uint32_t, a, b), c))
INT_OP(maxmin_i32, ABC, LEAST(int32_t, MOST(int32_t, a, b), c))
INT_OP(minmax_i32, ABC, MOST(int32_t, LEAST(int32_t, a, b), c))

/* Bit fields */
SG_INLINE uint32_t
low_bits(uint32_t width)
{
	return (1u << (width & 31)) - 1;
}

SG_INLINE uint32_t
bfe_i32(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t width = c & 31, sign = width ? 1u << (width - 1) : 0;
	/* fields that reach past bit 31 take their sign from the shifted-in copies of bit 31 */
	uint32_t field = (uint32_t)(S32(a) >> (b & 31)) & low_bits(width);
	return (field ^ sign) - sign;
}

SG_INLINE uint32_t
bit_reverse(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
	return x >> 16 | x << 16;
}

/* Counts from the top; -1 when there is nothing to find. */
SG_INLINE uint32_t
leading_zeros(uint32_t x)
{
	return x ? (uint32_t)__builtin_clz(x) : ~0u;
}

SG_INLINE uint32_t
trailing_zeros(uint32_t x)
{
	return x ? (uint32_t)__builtin_ctz(x) : ~0u;
}

INT_OP(bfe_u32, ABC, a >> (b & 31) & low_bits(c))
INT_OP(bfe_i32, ABC, bfe_i32(a, b, c))
INT_OP(bfi_b32, ABC, (a & b) | (~a & c))
INT_OP(bfm_b32, AB, low_bits(a) << (b & 31))
INT_OP(bfrev_b32, A, bit_reverse(a))
INT_OP(bcnt_u32_b32, AB, (uint32_t)__builtin_popcount(a) + b)
INT_OP(clz_i32_u32, A, leading_zeros(a))
INT_OP(ctz_i32_b32, A, trailing_zeros(a))
INT_OP(cls_i32, A, leading_zeros(S32(a) < 0 ? ~a : a))

/* Bytes */
SG_INLINE uint32_t
perm(uint32_t hi, uint32_t lo, uint32_t selectors)
{
	uint64_t bytes = U64(hi) << 32 | lo;
	uint32_t r = 0;
	for (unsigned k = 0; k < 32; k += 8) {
		uint32_t sel = selectors >> k & 0xff, byte;
		if (sel >= 13)
			byte = 0xff;
		else if (sel == 12)
			byte = 0;
		else if (sel >= 8)
			byte = bytes >> ((sel - 8) * 16 + 15) & 1 ? 0xff : 0;
		else
			byte = (uint32_t)(bytes >> sel * 8) & 0xff;
		r |= byte << k;
	}
	return r;
}

SG_INLINE uint32_t
lerp(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = 0;
	for (unsigned k = 0; k < 32; k += 8)
		r |= ((a >> k & 0xff) + (b >> k & 0xff) + (c >> k & 1)) >> 1 << k;
	return r;
}

SG_INLINE uint32_t
distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

SG_INLINE uint32_t
sad_u8(uint32_t a, uint32_t b)
{
	uint32_t r = 0;
	for (unsigned k = 0; k < 32; k += 8)
		r += distance(a >> k & 0xff, b >> k & 0xff);
	return r;
}

/* Masked: bytes of the reference b that are 0 don't count. */
SG_INLINE uint32_t
msad_u8(uint32_t a, uint32_t b)
{
	uint32_t r = 0;
	for (unsigned k = 0; k < 32; k += 8)
		r += b >> k & 0xff ? distance(a >> k & 0xff, b >> k & 0xff) : 0;
	return r;
}

SG_INLINE uint32_t
sad_u16(uint32_t a, uint32_t b)
{
	return distance(U16(a), U16(b)) + distance(a >> 16, b >> 16);
}

INT_OP(alignbit_b32, ABC, (U64(a) << 32 | b) >> (c & 31))
INT_OP(alignbyte_b32, ABC, (U64(a) << 32 | b) >> ((c & 3) * 8))
INT_OP(perm_b32, ABC, perm(a, b, c))
INT_OP(lerp_u8, ABC, lerp(a, b, c))
INT_CLAMP_OP(sad_u8, ABC, sad_u8(a, b) + c, sat_u32(U64(sad_u8(a, b)) + c))
INT_CLAMP_OP(sad_hi_u8, ABC, (sad_u8(a, b) << 16) + c, sat_u32((U64(sad_u8(a, b)) << 16) + c))
INT_CLAMP_OP(sad_u16, ABC, sad_u16(a, b) + c, sat_u32(U64(sad_u16(a, b)) + c))
INT_CLAMP_OP(sad_u32, ABC, distance(a, b) + c, sat_u32(U64(distance(a, b)) + c))
INT_CLAMP_OP(msad_u8, ABC, msad_u8(a, b) + c, sat_u32(U64(msad_u8(a, b)) + c))
INT_OP(pack_b32_f16, AB, U16(a) | b << 16)

/* Four sums of the 32-bit reference s1 against the 64-bit s0, one byte further each time, added to 16-bit sums. */
SG_INLINE uint64_t
qsad_u16(uint64_t a, uint32_t b, uint64_t c, bool masked, bool clamp)
{
	uint64_t r = 0;
	for (unsigned k = 0; k < 4; k++) {
		uint32_t window = (uint32_t)(a >> k * 8);
		uint32_t sum = (masked ? msad_u8(window, b) : sad_u8(window, b)) + U16((uint32_t)(c >> k * 16));
		r |= U64(clamp ? sat_u16(sum) : U16(sum)) << k * 16;
	}
	return r;
}

static void
qsad_lanes(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2, bool masked, bool clamp)
{
	uint64_t r[SG_LANES];
	for (unsigned i = 0; i < SG_LANES; i++)
		r[i] = qsad_u16(sg_ld64(s0, i), s1[i], sg_ld64(s2, i), masked, clamp);
	sg_st64(d, r);
}

SG_FN(qsad_pk_u16_u8)
{
	qsad_lanes(d, s0, s1, s2, false, env->clamp);
}

SG_FN(mqsad_pk_u16_u8)
{
	qsad_lanes(d, s0, s1, s2, true, env->clamp);
}

SG_FN(mqsad_u32_u8)
{
	uint32_t r[4 * SG_LANES];
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint64_t a = sg_ld64(s0, i);
		for (unsigned k = 0; k < 4; k++) {
			uint64_t sum = U64(msad_u8((uint32_t)(a >> k * 8), s1[i])) + s2[i + k * SG_LANES];
			r[i + k * SG_LANES] = env->clamp ? sat_u32(sum) : (uint32_t)sum;
		}
	}
	memcpy(d, r, sizeof r);
}

/* 64 bits */
#define INT64_OP(name, expr)                                                                                           \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		uint64_t r[SG_LANES];                                                                                  \
		for (unsigned i = 0; i < SG_LANES; i++) {                                                              \
			uint32_t a = s0[i];                                                                            \
			uint64_t b = sg_ld64(s1, i);                                                                   \
			r[i] = (uint64_t)(expr);                                                                       \
		}                                                                                                      \
		sg_st64(d, r);                                                                                         \
	}

INT64_OP(lshlrev_b64, b << (a & 63))
INT64_OP(lshrrev_b64, b >> (a & 63))
INT64_OP(ashrrev_i64, (int64_t)b >> (a & 63))

SG_FN(mad_u64_u32)
{
	uint64_t r[SG_LANES];
	uint32_t mask = 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		bool carry = __builtin_add_overflow(U64(s0[i]) * s1[i], sg_ld64(s2, i), &r[i]);
		mask |= (uint32_t)carry << i;
		if (carry && env->clamp)
			r[i] = UINT64_MAX;
	}
	sg_st64(d, r);
	env->mask_out = mask;
}

/* The mask is bit 64 of the 65-bit sum, which is its true sign. */
SG_FN(mad_i64_i32)
{
	uint64_t r[SG_LANES];
	uint32_t mask = 0;
	for (unsigned i = 0; i < SG_LANES; i++) {
		int64_t sum, product = S64(s0[i]) * S64(s1[i]), c = (int64_t)sg_ld64(s2, i);
		bool overflow = __builtin_add_overflow(product, c, &sum);
		mask |= (uint32_t)((sum < 0) != overflow) << i;
		r[i] = (uint64_t)sum;
		if (overflow && env->clamp)
			r[i] = product < 0 ? U64(INT64_MIN) : U64(INT64_MAX);
	}
	sg_st64(d, r);
	env->mask_out = mask;
}

/* Carry chains: the carry out of bit 31 as a function of the sign bits of operands and result. */
#define CARRY_OP(name, x, y, carry_in, result, carry_out, limit)                                                       \
	SG_FN(name)                                                                                                    \
	{                                                                                                              \
		const uint32_t mask = carry_in, clamp = env->clamp ? ~0u : 0;                                          \
		uint32_t carry[SG_LANES];                                                                              \
		SG_EACH_LANE                                                                                           \
		{                                                                                                      \
			uint32_t a = x, b = y, c = mask & sg_lane_bit[i] ? 1 : 0;                                      \
			uint32_t r = result, over = carry_out;                                                         \
			carry[i] = over;                                                                               \
			d[i] = sg_sel(clamp & (uint32_t)((int32_t)over >> 31), limit, r);                              \
		}                                                                                                      \
		env->mask_out = sg_movemask(carry);                                                                    \
	}
#define ADD_OP(name, carry_in) CARRY_OP(name, s0[i], s1[i], carry_in, a + b + c, (a & b) | ((a | b) & ~r), ~0u)
#define SUB_OP(name, x, y, carry_in) CARRY_OP(name, x, y, carry_in, a - b - c, (~a & b) | ((~a | b) & r), 0)

ADD_OP(add_co_u32, 0)
ADD_OP(add_co_ci_u32, env->carry_in)
SUB_OP(sub_co_u32, s0[i], s1[i], 0)
SUB_OP(sub_co_ci_u32, s0[i], s1[i], env->carry_in)
SUB_OP(subrev_co_u32, s1[i], s0[i], 0)
SUB_OP(subrev_co_ci_u32, s1[i], s0[i], env->carry_in)
