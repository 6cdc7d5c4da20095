/* SPDX-License-Identifier: MIT */
/* cases_types.c: arithmetic of every width, one invocation per pair of operands, each operation against the host's. */
#include <math.h>

#include "vksuite.h"

#define N 1024u

/* ---- 32-bit integers ---- */

static int32_t
msb(uint32_t v)
{
	return v ? 31 - __builtin_clz(v) : -1;
}

static uint32_t
reverse(uint32_t v)
{
	uint32_t r = 0;

	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}

static void
want_bits(uint32_t a, uint32_t b, uint32_t *w)
{
	uint32_t s = b & 31, width = b >> 5 & 31, mask;
	int32_t sa = (int32_t)a;

	width = width < 32 - s ? width : 32 - s;
	mask = (uint32_t)((1ull << width) - 1);
	w[4] = a << s;
	w[5] = a >> s;
	w[6] = (uint32_t)(sa >> s);
	w[7] = a >> s & mask;
	w[8] = width ? (uint32_t)((int32_t)(a << (32 - width - s)) >> (32 - width)) : 0;
	w[9] = (a & ~(mask << s)) | (b & mask) << s;
	w[10] = (uint32_t)__builtin_popcount(a);
	w[11] = (uint32_t)(__builtin_ffs((int)(a >> s << s)) - 1);
	w[12] = (uint32_t)msb(a >> s);
	w[13] = (uint32_t)msb((uint32_t)(sa >> s < 0 ? ~(sa >> s) : sa >> s));
	w[14] = reverse(a);
	w[26] = (a & b) | (~a & s);
	w[27] = a ^ b ^ s;
	w[32] = a >> s | a << ((32 - s) & 31);
}

static int32_t
sign32(int32_t v)
{
	return (v > 0) - (v < 0);
}

static void
want_int32(uint32_t a, uint32_t b, uint32_t *w)
{
	int32_t sa = (int32_t)a, sb = (int32_t)b;
	uint32_t s = b & 31, low = (uint32_t)sb & 0xffff;

	want_bits(a, b, w);
	w[0] = a * b;
	w[1] = a / (b | 1);
	w[2] = a % (b | 1);
	w[3] = (sb | 1) == -1 ? 0u - a : (uint32_t)(sa / (sb | 1));
	w[15] = a + b;
	w[16] = a + b < a;
	w[17] = a - b;
	w[18] = a < b;
	w[19] = (uint32_t)((uint64_t)a * b >> 32);
	w[20] = (uint32_t)((uint64_t)((int64_t)sa * sb) >> 32);
	w[21] = a < b ? a : b;
	w[22] = sa > sb ? a : b;
	w[23] = sa < -1000 ? (uint32_t)-1000 : sa > (int32_t)low ? low : a;
	w[24] = sa < 0 ? 0u - a : a;
	w[25] = (uint32_t)sign32(sb);
	w[28] = (a << 3) + b;
	w[29] = (a + b) << 5;
	w[30] = (a & 0xffffff) * (b & 0xffffff) + s;
	w[31] = (a < b) + (sa < sb) * 2u + (a == b) * 4u + (sa >= (int32_t)s) * 8u;
	w[33] = w[21] > s ? w[21] : s;
	w[34] = a / 7 + a % 1000;
	w[35] = (uint32_t)(sa / 10 + sb % 3 * sign32(sb));
}

/* GLSL leaves % of negative operands open: those positions repeat the device's own answer. */
static uint64_t
int32(struct vk *vk)
{
	struct buf *in = buf_host(vk, N * 8), *out = buf_host(vk, N * 160);
	uint32_t *data = in->map, *got = out->map, want[40] = { 0 };
	struct rng rng = { 20 };

	for (uint32_t i = 0; i < N * 2; i++)
		data[i] = i < 8 ? (uint32_t[]){ 0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0, 0x80000000, 0xffffffff }[i]
				: rng_u32(&rng) >> (rng_u32(&rng) & 15);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "int32" }), in, out), NULL, N / 64, 1, 1);
	for (uint32_t i = 0; i < N; i++) {
		want_int32(data[i * 2], data[i * 2 + 1], want);
		if ((int32_t)data[i * 2 + 1] < 0)
			want[35] = got[i * 40 + 35] = 0;
		expect_u32("operation", got + i * 40, want, 40);
	}
	return hash_bytes(HASH_INIT, got, out->size);
}

/* ---- 64-bit integers ---- */

static void
want_int64(uint64_t a, uint64_t b, uint64_t *w)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	unsigned s = b & 63;
	uint64_t div = b >> (s >> 1) | 1;
	int64_t sdiv = sb >> (s >> 1) | 1;

	w[0] = a + b;
	w[1] = a - b;
	w[2] = a * b;
	w[3] = a / div;
	w[4] = a % div;
	w[5] = sdiv == -1 ? 0 - a : (uint64_t)(sa / sdiv);
	w[6] = a << s;
	w[7] = a >> s;
	w[8] = (uint64_t)(sa >> s);
	w[9] = a < b ? a : b;
	w[10] = sa > sb ? a : b;
	w[11] = sa < 0 ? 0 - a : a;
	w[12] = (a < b) + (sa < sb) * 2ull + (a == b) * 4ull;
	w[13] = (a & UINT32_MAX) * (b & UINT32_MAX);
	w[14] = (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
	w[15] = (a & ~b) | (a ^ b) >> 7;
	w[16] = (a >> 40) + (b << 32 | b >> 32);
	w[17] = (uint64_t)(int64_t)(int32_t)sb;
}

static uint64_t
int64(struct vk *vk)
{
	struct buf *in = buf_host(vk, N * 16), *out = buf_host(vk, N * 160);
	uint64_t *data = in->map, want[20] = { 0 };
	struct rng rng = { 21 };

	require(vk->have.features.shaderInt64, "shaderInt64");
	for (uint32_t i = 0; i < N * 2; i++)
		data[i] = i < 6 ? (uint64_t[]){ 0, 1, UINT64_MAX, 1ull << 63, 1ull << 63, UINT64_MAX }[i]
				: rng_u64(&rng) >> (rng_u32(&rng) & 31);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "int64" }), in, out), NULL, N / 64, 1, 1);
	for (uint32_t i = 0; i < N; i++) {
		want_int64(data[i * 2], data[i * 2 + 1], want);
		expect_u64("operation", (uint64_t *)out->map + i * 20, want, 20);
	}
	return hash_bytes(HASH_INIT, out->map, out->size);
}

/* ---- 8 and 16 bit ---- */

static void
want_16(uint16_t a, uint16_t b, uint8_t x, uint16_t *w)
{
	int16_t sa = (int16_t)a, sb = (int16_t)b;
	unsigned s = b & 15;

	w[0] = (uint16_t)(a + b);
	w[1] = (uint16_t)(a - b);
	w[2] = (uint16_t)((uint32_t)a * b);
	w[3] = (uint16_t)(a / (b | 1));
	w[4] = (uint16_t)(sa / (int16_t)(sb | 1));
	w[5] = (uint16_t)((uint32_t)a << s);
	w[6] = (uint16_t)(a >> s);
	w[7] = (uint16_t)(sa >> s);
	w[8] = a < b ? a : b;
	w[9] = (uint16_t)(sa > sb ? sa : sb);
	w[10] = (uint16_t)(sa * sb >> 13);
	w[11] = (uint16_t)((uint32_t)a * b + x);
}

static void
want_8(uint16_t a, uint16_t b, uint8_t x, uint8_t y, uint8_t *w)
{
	w[0] = (uint8_t)(x + y);
	w[1] = (uint8_t)(x * y);
	w[2] = (uint8_t)((int8_t)x >> (b & 7));
	w[3] = x < y ? x : y;
	w[4] = (uint8_t)((int8_t)x > (int8_t)y ? x : y);
	w[5] = (uint8_t)(a >> 8) ^ y;
}

/* v = two packed pairs, a.xy then b.xy. */
static void
want_packed(const uint16_t *v, uint16_t *w)
{
	for (unsigned c = 0; c < 2; c++) {
		uint16_t a = v[c], b = v[2 + c], other = v[3 - c];

		w[c] = (uint16_t)(a + b);
		w[2 + c] = (uint16_t)(a - b);
		w[4 + c] = (uint16_t)((uint32_t)a * b);
		w[6 + c] = a < b ? a : b;
		w[8 + c] = (uint16_t)((int16_t)a > (int16_t)b ? a : b);
		w[10 + c] = (uint16_t)(a >> (b & 15));
		w[12 + c] = (uint16_t)((uint32_t)a * other + v[1]);
	}
}

static void
expect_small(const char *what, const void *got, const void *want, size_t bytes)
{
	const uint8_t *g = got, *w = want;

	for (size_t i = 0; i < bytes; i++)
		if (g[i] != w[i])
			case_fail("%s byte %zu of %zu is %02x, should be %02x", what, i, bytes, g[i], w[i]);
}

static uint64_t
int16_8(struct vk *vk)
{
	struct buf *h = buf_host(vk, N * 4), *c = buf_host(vk, N * 2), *r = buf_host(vk, N * 32), *q = buf_host(vk, N * 8);
	struct buf *v = buf_host(vk, N * 8), *p = buf_host(vk, N * 32);
	struct rng rng = { 22 };
	uint64_t hash;

	require(vk->have.features.shaderInt16 && vk->have12.shaderInt8 && vk->have11.storageBuffer16BitAccess &&
			vk->have12.storageBuffer8BitAccess, "8 and 16 bit integers");
	for (uint32_t i = 0; i < N; i++) {
		((uint32_t *)h->map)[i] = rng_u32(&rng);
		((uint16_t *)c->map)[i] = (uint16_t)rng_u32(&rng);
		((uint64_t *)v->map)[i] = rng_u64(&rng);
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "int16_8" }), h, c, r, q, v, p), NULL, N / 64, 1, 1);
	for (uint32_t i = 0; i < N; i++) {
		const uint16_t *a = (uint16_t *)h->map + i * 2;
		const uint8_t *x = (uint8_t *)c->map + i * 2;
		uint16_t want[16] = { 0 }, packed[16] = { 0 };
		uint8_t bytes[8] = { 0 };

		want_16(a[0], a[1], x[0], want);
		want_8(a[0], a[1], x[0], x[1], bytes);
		want_packed((uint16_t *)v->map + i * 4, packed);
		expect_small("16-bit", (uint16_t *)r->map + i * 16, want, 32);
		expect_small("8-bit", (uint8_t *)q->map + i * 8, bytes, 8);
		expect_small("packed 16-bit", (uint16_t *)p->map + i * 16, packed, 32);
	}
	hash = hash_bytes(HASH_INIT, r->map, r->size);
	return hash_bytes(hash_bytes(hash, q->map, q->size), p->map, p->size);
}

/* ---- f16 ---- */

typedef _Float16 half;

static void
want_f16(const half *d, half *w)
{
	half a = d[0], b = d[1], c = d[2];

	w[0] = a + b;
	w[1] = a * b;
	w[2] = a - c;
	w[3] = a < b ? a : b;
	w[4] = b > c ? b : c;
	w[5] = (half)floorf((float)a);
	w[6] = (half)(truncf((float)b) + 0.0f);
	w[7] = (half)(fabsf((float)a)) - (half)1;
	w[8] = -a;
	w[9] = (half)(int16_t)b;
	w[10] = a < b ? c : a;
	w[11] = a < (half)-1.5f ? (half)-1.5f : a > (half)2 ? (half)2 : a;
	w[12] = (half)((float)a + 0.5f);
}

static void
want_f16_packed(const half *d, half *w)
{
	for (unsigned c = 0; c < 2; c++) {
		w[c] = d[c] * d[2 + c];
		w[2 + c] = d[c] + d[2 + c];
		w[4 + c] = d[1 - c] > -d[2 + c] ? d[1 - c] : -d[2 + c];
		w[6 + c] = (half)fabsf((float)d[c]) < d[2 + c] ? (half)fabsf((float)d[c]) : d[2 + c];
	}
}

/* a += 0 makes -0 into 0: min and max of zeros may have either sign. */
static void
drop_zero_signs(uint16_t *h, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (h[i] == 0x8000)
			h[i] = 0;
}

static uint64_t
check_f16_near(uint64_t hash, const half *d, const float *f)
{
	float a = (float)d[0], b = (float)d[1], c = (float)d[2];
	const double u = 1.0 / 1024;

	hash = hash_near(hash, "f32 product", f[0], a * 3.0, 1e-4);
	hash = hash_near(hash, "sqrt", f[1], sqrt(fabs(c)), 2 * u * sqrt(fabs(c)) + 1e-4);
	hash = hash_near(hash, "division", f[2], a / (fabs(b) + 1), 4 * u * fabs(a / (fabs(b) + 1)) + 1e-4);
	hash = hash_near(hash, "fma", f[3], (double)a * b + c, u * (fabs((double)a * b) + fabs(c)) + 1e-4);
	hash = hash_near(hash, "exp2", f[4], exp2(fmax(fmin(a, 3), -3)), 0.05);
	return hash_near(hash, "inversesqrt", f[5], 1 / sqrt(fabs(c) + 1), 3 * u);
}

static uint64_t
float16(struct vk *vk)
{
	struct buf *in = buf_host(vk, N * 8), *r = buf_host(vk, N * 32), *f = buf_host(vk, N * 32), *p = buf_host(vk, N * 16);
	struct rng rng = { 23 };
	uint64_t hash = HASH_INIT;

	require(vk->have12.shaderFloat16 && vk->have11.storageBuffer16BitAccess && vk->have.features.shaderInt16, "shaderFloat16");
	for (uint32_t i = 0; i < N * 4; i++)
		((half *)in->map)[i] = (half)rng_float(&rng, -16, 16);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "float16" }), in, r, f, p), NULL, N / 64, 1, 1);
	drop_zero_signs(r->map, N * 16);
	drop_zero_signs(p->map, N * 8);
	for (uint32_t i = 0; i < N; i++) {
		const half *d = (half *)in->map + i * 4;
		half want[16] = { 0 }, packed[8];

		want_f16(d, want);
		want_f16_packed(d, packed);
		drop_zero_signs((uint16_t *)want, 16);
		drop_zero_signs((uint16_t *)packed, 8);
		expect_small("f16", (half *)r->map + i * 16, want, 32);
		expect_small("packed f16", (half *)p->map + i * 8, packed, 16);
		hash = check_f16_near(hash, d, (float *)f->map + i * 8);
	}
	hash = hash_bytes(hash, r->map, r->size);
	return hash_bytes(hash, p->map, p->size);
}

/* ---- f64 ---- */

static void
want_f64(double a, double b, uint32_t id, double *w)
{
	w[0] = a + b;
	w[1] = a * b;
	w[2] = a - b;
	w[3] = a < b ? a : b;
	w[4] = a > b ? a : b;
	w[5] = floor(a);
	w[6] = ceil(b);
	w[7] = trunc(a);
	w[8] = fabs(b);
	w[9] = (double)(int32_t)a;
	w[10] = (double)(uint32_t)fabs(b);
	w[11] = (double)(float)a;
	w[12] = a < b ? 1 : a == b ? 2 : 3;
	w[13] = (double)(int64_t)(a * 65536);
	w[14] = ldexp(a, (int)(id & 31) - 16);
	w[15] = rint(b * 2);
}

#define F64_EXACT 16

static uint64_t
check_f64(uint64_t hash, const double *got, double a, double b, uint32_t id)
{
	double want[F64_EXACT];
	const double u = 1e-13;

	want_f64(a, b, id, want);
	for (unsigned i = 0; i < F64_EXACT; i++)
		if (got[i] != want[i])
			case_fail("operation %u of %.17g and %.17g is %.17g, should be %.17g", i, a, b, got[i], want[i]);
	hash = hash_bytes(hash, want, sizeof(want));
	hash = hash_near(hash, "division", got[16], a / b, u * fabs(a / b));
	hash = hash_near(hash, "sqrt", got[17], sqrt(fabs(a)), u * sqrt(fabs(a)));
	hash = hash_near(hash, "fma", got[18], a * b + 1, u * (fabs(a * b) + 1));
	hash = hash_near(hash, "inversesqrt", got[19], 1 / sqrt(fabs(b) + 1), 1e-7);
	hash = hash_near(hash, "fract", got[20], a - floor(a), 1e-9);
	return hash_near(hash, "mod", got[21], a - 3 * floor(a / 3), 1e-9);
}

static uint64_t
float64(struct vk *vk)
{
	struct buf *in = buf_host(vk, N * 16), *out = buf_host(vk, N * 192);
	double *data = in->map;
	struct rng rng = { 24 };
	uint64_t hash = HASH_INIT;

	require(vk->have.features.shaderFloat64 && vk->have.features.shaderInt64, "shaderFloat64");
	for (uint32_t i = 0; i < N * 2; i++)
		data[i] = ((double)(int64_t)rng_u64(&rng) / 9.3e18 + 1e-9) * (i & 4 ? 1e6 : 10);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "float64" }), in, out), NULL, N / 64, 1, 1);
	for (uint32_t i = 0; i < N; i++)
		hash = check_f64(hash, (double *)out->map + i * 24, data[i * 2], data[i * 2 + 1], i);
	return hash;
}

/* ---- f32 ---- */

#define F32_EXACT 22

static uint32_t
bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

static float
half_to_float(uint16_t h)
{
	half v;

	memcpy(&v, &h, 2);
	return (float)v;
}

static uint16_t
float_to_half(float f)
{
	half v = (half)f;
	uint16_t h;

	memcpy(&h, &v, 2);
	return h;
}

static void
want_f32(float a, float b, uint32_t id, uint32_t *w)
{
	int ex = 0;
	float unit = fminf(fmaxf(rintf(a), 0), 1);
	const uint32_t list[F32_EXACT] = { bits(a * b), bits(a - b), bits(floorf(a)), bits(ceilf(b)), bits(truncf(a)), bits(rintf(b)),
		bits(a < b ? a : b), bits(a > b ? a : b), bits(fabsf(a)), bits((float)((b > 0) - (b < 0))), (uint32_t)(int32_t)a,
		(uint32_t)fabsf(b), bits((float)(int32_t)bits(a)), bits((float)bits(b)), bits(a < -2 ? -2 : a > 3 ? 3 : a),
		float_to_half(rintf(a)) | (uint32_t)float_to_half(rintf(b)) << 16, bits(half_to_float(bits(a) & 0x7bff)),
		(unit != 0 ? 255u : 0) | 0xff00ff00u, (a < b) * 4u + (a != b) * 8u + (a >= b) * 16u,
		bits(ldexpf(a, (int)(id & 15) - 8)), bits(frexpf(a, &ex)), 0 };

	memcpy(w, list, sizeof(list));
	w[21] = (uint32_t)ex;
}

static uint64_t
check_f32_near(uint64_t hash, const float *r, double a, double b)
{
	const struct {
		const char *what;
		double want, tol;
	} list[] = {
		{ "division", a / (fabs(b) + 0.5), 1e-5 }, { "sqrt", sqrt(fabs(a)), 1e-5 },
		{ "inversesqrt", 1 / sqrt(fabs(b) + 0.5), 1e-5 }, { "exp2", exp2(a * 0.1), 1e-5 }, { "log2", log2(fabs(b) + 0.5), 1e-5 },
		{ "sin", sin(a), 1e-3 }, { "cos", cos(b), 1e-3 }, { "pow", pow(fabs(a) * 0.1 + 0.5, b * 0.1), 1e-4 },
		{ "exp", exp(a * 0.1), 1e-4 }, { "log", log(fabs(a) + 0.5), 1e-5 }, { "atan", atan2(a, b), 1e-3 },
		{ "tanh", tanh(a * 0.2), 1e-3 }, { "fma", a * b + 1, 1e-4 }, { "mix", a + (b - a) * 0.25, 1e-5 },
		{ "fract", a - floor(a), 1e-5 }, { "mod", a - 3 * floor(a / 3), 1e-5 }, { "smoothstep", 0, 1e-5 },
		{ "length", sqrt(a * a + b * b + 1), 1e-4 }, { "dot", 2 * a * b + 11, 1e-4 },
		{ "asin", asin(fmin(fmax(a * 0.1, -0.9), 0.9)), 2e-3 },
	};

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		double t = (a + 10) / 20, want = list[i].want;

		t = fmin(fmax(t, 0), 1);
		if (i == 16)
			want = t * t * (3 - 2 * t);
		hash = hash_near(hash, list[i].what, r[i], want, list[i].tol * fmax(1, fabs(want)));
	}
	return hash;
}

static uint64_t
float32(struct vk *vk)
{
	struct buf *in = buf_host(vk, N * 8), *exact = buf_host(vk, N * 128), *near = buf_host(vk, N * 128);
	float *data = in->map;
	struct rng rng = { 25 };
	uint64_t hash = HASH_INIT;

	for (uint32_t i = 0; i < N * 2; i++)
		data[i] = rng_float(&rng, -12, 12);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "float32" }), in, exact, near), NULL, N / 64, 1, 1);
	for (uint32_t i = 0; i < N; i++) {
		float a = data[i * 2], b = data[i * 2 + 1];
		uint32_t want[F32_EXACT], *got = (uint32_t *)exact->map + i * 32;

		want_f32(a, b, i, want);
		for (unsigned k = 2; k < 6; k++) /* the sign of a rounded zero is nobody's promise */
			if (!(got[k] << 1) && !(want[k] << 1))
				want[k] = got[k] = 0;
		expect_u32("operation", got, want, F32_EXACT);
		hash = check_f32_near(hash, (float *)near->map + i * 32, a, b);
	}
	return hash_bytes(hash, exact->map, exact->size);
}

const struct vkcase cases_types[] = {
	{ "int32", int32, 0 },
	{ "int64", int64, 0 },
	{ "int16-int8", int16_8, 0 },
	{ "float16", float16, 0 },
	{ "float32", float32, 0 },
	{ "float64", float64, 0 },
	{ 0 },
};
