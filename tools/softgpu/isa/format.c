/* SPDX-License-Identifier: MIT */
/* format.c: the formats of typed buffer accesses, and conversion between them and registers.
 *
 * Numbers are those of the RDNA2 (7 bits) and RDNA3 (6 bits) documents' buffer format tables, checked with the names
 * LLVM 19 prints. Each row is a run of numeric types of one layout; the layout is named from the top bits down, so that
 * component x is the last. */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	U = SG_N_UNORM, S = SG_N_SNORM, US = SG_N_USCALED, SS = SG_N_SSCALED, UI = SG_N_UINT, SI = SG_N_SINT,
	F = SG_N_FLOAT, SRGB = SG_N_SRGB,
};

struct run {
	const char *layout;
	uint8_t bits[4];	/* x first */
	uint8_t count;
	uint8_t numeric[7];
};

#define INTS UI, SI, F
#define SIX U, S, US, SS, UI, SI

static const struct run runs[] = {
	{ "8", { 8 }, 6, { SIX } }, { "16", { 16 }, 7, { SIX, F } }, { "8_8", { 8, 8 }, 6, { SIX } },
	{ "32", { 32 }, 3, { INTS } }, { "16_16", { 16, 16 }, 7, { SIX, F } },
};

static const struct run packed_gfx10[] = {
	{ "10_11_11", { 11, 11, 10 }, 7, { SIX, F } }, { "11_11_10", { 10, 11, 11 }, 7, { SIX, F } },
	{ "10_10_10_2", { 2, 10, 10, 10 }, 6, { SIX } }, { "2_10_10_10", { 10, 10, 10, 2 }, 6, { SIX } },
};

static const struct run packed_gfx11[] = {
	{ "10_11_11", { 11, 11, 10 }, 1, { F } }, { "11_11_10", { 10, 11, 11 }, 1, { F } },
	{ "10_10_10_2", { 2, 10, 10, 10 }, 4, { U, S, UI, SI } }, { "2_10_10_10", { 10, 10, 10, 2 }, 6, { SIX } },
};

static const struct run wide[] = {
	{ "8_8_8_8", { 8, 8, 8, 8 }, 6, { SIX } }, { "32_32", { 32, 32 }, 3, { INTS } },
	{ "16_16_16_16", { 16, 16, 16, 16 }, 7, { SIX, F } }, { "32_32_32", { 32, 32, 32 }, 3, { INTS } },
	{ "32_32_32_32", { 32, 32, 32, 32 }, 3, { INTS } },
};

/* Formats of images alone, from 128 (RDNA2) or 64 (RDNA3) on; those left empty are no plain fields. */
static const struct run image_gfx10[] = {
	{ "8", { 8 }, 1, { SRGB } }, { "8_8", { 8, 8 }, 1, { SRGB } }, { "8_8_8_8", { 8, 8, 8, 8 }, 1, { SRGB } },
	{ "6e4 and 5_9_9_9", { 0 }, 2, { F, F } }, { "5_6_5", { 5, 6, 5 }, 1, { U } },
	{ "1_5_5_5", { 5, 5, 5, 1 }, 1, { U } }, { "5_5_5_1", { 1, 5, 5, 5 }, 1, { U } },
	{ "4_4_4_4", { 4, 4, 4, 4 }, 1, { U } }, { "4_4", { 4, 4 }, 1, { U } },
};

static const struct run image_gfx11[] = {
	{ "8", { 8 }, 1, { SRGB } }, { "8_8", { 8, 8 }, 1, { SRGB } }, { "8_8_8_8", { 8, 8, 8, 8 }, 1, { SRGB } },
	{ "5_9_9_9", { 0 }, 1, { F } }, { "5_6_5", { 5, 6, 5 }, 1, { U } },
	{ "1_5_5_5", { 5, 5, 5, 1 }, 1, { U } }, { "5_5_5_1", { 1, 5, 5, 5 }, 1, { U } },
	{ "4_4_4_4", { 4, 4, 4, 4 }, 1, { U } }, { "4_4", { 4, 4 }, 1, { U } },
};

/* Looks for a format that lies *left numbers further on. */
static const struct run *
find(const struct run *r, unsigned rows, unsigned *left)
{
	for (unsigned i = 0; i < rows; i++) {
		if (*left < r[i].count)
			return &r[i];
		*left -= r[i].count;
	}
	return NULL;
}

#define ROWS(a) (sizeof(a) / sizeof *(a))

static const struct run *
lookup(enum sg_arch arch, unsigned number, unsigned *numeric)
{
	unsigned left = number - 1; /* 0 is no format */
	const struct run *r = number ? find(runs, ROWS(runs), &left) : NULL;
	if (number && !r)
		r = arch == SG_ARCH_RDNA2 ? find(packed_gfx10, ROWS(packed_gfx10), &left) :
					    find(packed_gfx11, ROWS(packed_gfx11), &left);
	if (number && !r)
		r = find(wide, ROWS(wide), &left);
	if (r)
		*numeric = r->numeric[left];
	return r;
}

static bool
describe(const struct run *r, unsigned numeric, struct sg_buffer_format *out)
{
	unsigned bits = 0;

	memset(out, 0, sizeof *out);
	if (!r)
		return false;
	memcpy(out->bits, r->bits, sizeof out->bits);
	out->numeric = (uint8_t)numeric;
	for (unsigned i = 0; i < 4; i++)
		bits += r->bits[i];
	out->bytes = (uint8_t)(bits / 8);
	return true;
}

bool
sg_format_find(enum sg_arch arch, unsigned number, struct sg_buffer_format *out)
{
	unsigned numeric = 0;
	const struct run *r = lookup(arch, number, &numeric);
	return describe(r, numeric, out);
}

bool
sg_format_find_image(enum sg_arch arch, unsigned number, struct sg_buffer_format *out)
{
	unsigned first = arch == SG_ARCH_RDNA2 ? 128 : 64, left = number - first;
	const struct run *r = number < first ? NULL : arch == SG_ARCH_RDNA2 ? find(image_gfx10, ROWS(image_gfx10), &left) :
									       find(image_gfx11, ROWS(image_gfx11), &left);
	if (number < first)
		return sg_format_find(arch, number, out);
	return describe(r && r->bits[0] ? r : NULL, r ? r->numeric[left] : 0, out);
}

void
sg_format_name(enum sg_arch arch, unsigned number, char *text, size_t bytes)
{
	static const char *const names[] = {
		[U] = "UNORM", [S] = "SNORM", [US] = "USCALED", [SS] = "SSCALED", [UI] = "UINT", [SI] = "SINT", [F] = "FLOAT",
	};
	unsigned numeric = 0;
	const struct run *r = lookup(arch, number, &numeric);
	if (r)
		snprintf(text, bytes, "[BUF_FMT_%s_%s]", r->layout, names[numeric]);
	else if (number == 0)
		snprintf(text, bytes, "[BUF_FMT_INVALID]");
	else
		snprintf(text, bytes, "%u", number);
}

/* Conversion */

static uint32_t
f32_bits(double v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, 4);
	return bits;
}

static float
bits_f32(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static int64_t
sign_extend(uint32_t v, unsigned bits)
{
	return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

static double
ones(unsigned bits)
{
	return (double)(((uint64_t)1 << bits) - 1);
}

/* Floats of 10 and 11 bits have no sign, 5 bits of exponent and what is left of mantissa; halves are like them. */
static double
small_float(uint32_t v, unsigned mantissa)
{
	unsigned exponent = v >> mantissa & 31, m = v & ((1u << mantissa) - 1);
	double fraction = ldexp(m, -(int)mantissa);
	if (exponent == 31)
		return m ? NAN : INFINITY;
	return exponent ? ldexp(1 + fraction, (int)exponent - 15) : ldexp(fraction, -14);
}

static double
load_float(uint32_t v, unsigned bits)
{
	if (bits == 32)
		return (double)bits_f32(v);
	if (bits == 16)
		return v & 0x8000 ? -small_float(v & 0x7fff, 10) : small_float(v, 10);
	return small_float(v, bits - 5);
}

static double
srgb_to_linear(double v)
{
	return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double
linear_to_srgb(double v)
{
	return v < 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

uint32_t
sg_format_load(const struct sg_buffer_format *f, unsigned component, uint32_t v)
{
	unsigned bits = f->bits[component];
	double s = (double)sign_extend(v, bits);

	switch (f->numeric) {
	case SG_N_UNORM: return f32_bits(v / ones(bits));
	case SG_N_SNORM: return f32_bits(fmax(s / ones(bits - 1), -1));
	case SG_N_USCALED: return f32_bits(v);
	case SG_N_SSCALED: return f32_bits(s);
	case SG_N_SINT: return (uint32_t)sign_extend(v, bits);
	case SG_N_FLOAT: return bits == 32 ? v : f32_bits(load_float(v, bits));
	case SG_N_SRGB: return f32_bits(component < 3 ? srgb_to_linear(v / ones(bits)) : v / ones(bits));
	default: return v;
	}
}

static double
limit(double v, double low, double high)
{
	return v != v ? 0 : v < low ? low : v > high ? high : v;
}

/* Rounds towards zero, except that halves round to nearest; negative numbers become 0 where there is no sign. */
static uint32_t
store_small_float(double v, unsigned mantissa, bool is_signed)
{
	uint32_t sign = signbit(v) ? 1u << (mantissa + 5) : 0, top = 31u << mantissa;
	int exponent;

	if (v != v)
		return top | 1u << (mantissa - 1);
	if (sign && !is_signed)
		return 0;
	v = fabs(v);
	if (!is_signed && v > small_float(top - 1, mantissa) && v <= 3.4028234663852886e38)
		return top - 1;
	frexp(v, &exponent);
	exponent = v == 0 || exponent < -13 ? -13 : exponent;
	double scaled = ldexp(v, (int)mantissa + 1 - exponent);
	scaled = is_signed ? rint(scaled) : floor(scaled);
	/* the leading one adds itself to the exponent field */
	double field = scaled + ldexp(exponent + 13, (int)mantissa);
	return sign | (field >= top ? top : (uint32_t)field);
}

uint32_t
sg_format_store(const struct sg_buffer_format *f, unsigned component, uint32_t v)
{
	unsigned bits = f->bits[component];
	uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
	double x = (double)bits_f32(v);

	switch (f->numeric) {
	case SG_N_SRGB:
		if (component < 3)
			x = linear_to_srgb(limit(x, 0, 1));
		return (uint32_t)rint(limit(x, 0, 1) * ones(bits));
	case SG_N_UNORM: return (uint32_t)rint(limit(x, 0, 1) * ones(bits));
	case SG_N_SNORM: return (uint32_t)(int64_t)rint(limit(x, -1, 1) * ones(bits - 1)) & mask;
	case SG_N_USCALED: return (uint32_t)limit(x, 0, ones(bits));
	case SG_N_SSCALED: return (uint32_t)(int64_t)limit(x, -ones(bits - 1) - 1, ones(bits - 1)) & mask;
	case SG_N_FLOAT:
		if (bits == 32)
			return v;
		return bits == 16 ? store_small_float(x, 10, true) : store_small_float(x, bits - 5, false);
	default: return v & mask;
	}
}

uint32_t
sg_format_to_half(uint32_t f32)
{
	return store_small_float((double)bits_f32(f32), 10, true);
}

uint32_t
sg_format_from_half(uint32_t half)
{
	return f32_bits(load_float(half & 0xffff, 16));
}

/* Elements */

/* Component of an element of up to 128 bits in memory order. */
static uint32_t
extract(const struct sg_buffer_format *f, const uint8_t *element, unsigned component)
{
	unsigned at = 0, bits = f->bits[component];
	uint64_t v = 0;
	for (unsigned i = 0; i < component; i++)
		at += f->bits[i];
	memcpy(&v, element + at / 32 * 4, 8);
	v >>= at % 32;
	return bits == 32 ? (uint32_t)v : (uint32_t)v & ((1u << bits) - 1);
}

void
sg_format_insert(const struct sg_buffer_format *f, uint8_t *element, unsigned component, uint32_t value)
{
	unsigned at = 0;
	uint64_t v;
	for (unsigned i = 0; i < component; i++)
		at += f->bits[i];
	memcpy(&v, element + at / 32 * 4, 8);
	v |= (uint64_t)value << at % 32;
	memcpy(element + at / 32 * 4, &v, 8);
}

/* Absent components read 0, 0, 0, 1. */
static uint32_t
component_of(const struct sg_buffer_format *f, const uint8_t *element, unsigned component)
{
	if (f->bits[component])
		return sg_format_load(f, component, extract(f, element, component));
	if (component < 3 || !f->bytes)
		return 0;
	return sg_format_is_integer(f) ? 1 : 0x3f800000;
}

uint32_t
sg_format_select(const struct sg_buffer_format *f, const uint8_t *element, unsigned select)
{
	if (select >= 4)
		return component_of(f, element, select - 4);
	return select != 1 ? 0 : sg_format_is_integer(f) ? 1 : 0x3f800000;
}

int
sg_format_source(unsigned select, unsigned component)
{
	for (unsigned i = 0; i < 4; i++)
		if ((select >> 3 * i & 7) == 4 + component)
			return (int)i;
	return -1;
}
