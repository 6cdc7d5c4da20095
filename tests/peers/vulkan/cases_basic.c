/* SPDX-License-Identifier: MIT */
/* cases_basic.c: vectors, push constants, matrices, reduction, scan, histogram. */
#include <math.h>

#include "vksuite.h"

static void
fill_random(struct buf *buf, uint64_t seed)
{
	struct rng rng = { seed };
	uint32_t *p = buf->map;

	for (size_t i = 0; i < buf->size / 4; i++)
		p[i] = rng_u32(&rng);
}

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

static uint64_t
vecadd(struct vk *vk)
{
	enum { N = 10007 };
	struct buf *a = buf_host(vk, N * 4), *b = buf_host(vk, N * 4), *c = buf_host(vk, (N + 57) * 4);
	struct rng rng = { 1 };
	float want[N + 57] = { 0 };
	uint32_t n = N;

	for (unsigned i = 0; i < N; i++) {
		((float *)a->map)[i] = rng_float(&rng, -1000, 1000);
		((float *)b->map)[i] = rng_float(&rng, -1, 1);
		want[i] = ((float *)a->map)[i] + ((float *)b->map)[i];
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "vecadd", .push = 4 }), a, b, c), &n, (N + 63) / 64, 1, 1);
	expect_u32("c", c->map, (uint32_t *)want, N + 57);
	return hash_buf(c);
}

struct push {
	uint32_t first, scale;
	int32_t offset[2];
	uint32_t table[6][4], last, pad, tail[2];
};

#define PUSH_GROUPS 7u
#define PUSH_OUT (PUSH_GROUPS * 32u)

static void
push_want(const struct push *p, uint32_t *want)
{
	for (uint32_t i = 0; i < PUSH_OUT; i++) {
		uint32_t g = i / 32, v = p->table[g % 6][g & 3] * p->scale + (uint32_t)(p->offset[0] - p->offset[1]);

		want[p->first + i] = (v ^ p->last ^ p->tail[g & 1]) + i;
	}
}

static uint64_t
push_constants(struct vk *vk)
{
	struct buf *out = buf_host(vk, 8 * PUSH_OUT * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "push", .push = sizeof(struct push) }), out);
	VkCommandBuffer cb = cb_begin(vk);
	struct rng rng = { 2 };
	uint32_t want[8 * PUSH_OUT];

	for (uint32_t d = 0; d < 8; d++) {
		struct push p;

		for (size_t i = 0; i < sizeof(p) / 4; i++)
			((uint32_t *)&p)[i] = rng_u32(&rng) >> 2;
		p.first = d * PUSH_OUT;
		cb_dispatch(cb, prog, &p, PUSH_GROUPS, 1, 1);
		push_want(&p, want);
	}
	cb_run(vk, cb);
	expect_u32("out", out->map, want, 8 * PUSH_OUT);
	return hash_buf(out);
}

/* Half of the words change between dispatches: RADV then sends only what it must. */
static uint64_t
push_partial(struct vk *vk)
{
	struct buf *out = buf_host(vk, 4 * PUSH_OUT * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "push", .push = sizeof(struct push) }), out);
	VkCommandBuffer cb = cb_begin(vk);
	struct push p = { .scale = 3, .offset = { 5, 9 }, .table = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }, .tail = { 10, 11 } };
	uint32_t want[4 * PUSH_OUT];

	cb_bind(cb, prog, &p);
	for (uint32_t d = 0; d < 4; d++) {
		p.first = d * PUSH_OUT;
		p.last = d << 20;
		vkCmdPushConstants(cb, prog->layout, VK_SHADER_STAGE_COMPUTE_BIT, offsetof(struct push, first), 4, &p.first);
		vkCmdPushConstants(cb, prog->layout, VK_SHADER_STAGE_COMPUTE_BIT, offsetof(struct push, last), 4, &p.last);
		vkCmdDispatch(cb, PUSH_GROUPS, 1, 1);
		push_want(&p, want);
	}
	cb_run(vk, cb);
	expect_u32("out", out->map, want, 4 * PUSH_OUT);
	return hash_buf(out);
}

/* ---- matrices ---- */

struct mnk {
	uint32_t m, n, k;
};

static double
dot(const float *a, const float *b, const struct mnk *s, uint32_t row, uint32_t col, double *size)
{
	double sum = 0;

	*size = 0;
	for (uint32_t i = 0; i < s->k; i++) {
		double p = (double)a[row * s->k + i] * b[i * s->n + col];

		sum += p;
		*size += fabs(p);
	}
	return sum;
}

static uint64_t
matmul(struct vk *vk, const struct mnk *s, float (*input)(struct rng *), double tol)
{
	struct buf *a = buf_host(vk, s->m * s->k * 4), *b = buf_host(vk, s->k * s->n * 4), *c = buf_host(vk, s->m * s->n * 4);
	struct rng rng = { 3 };
	uint64_t hash = HASH_INIT;
	double size;

	for (uint32_t i = 0; i < s->m * s->k; i++)
		((float *)a->map)[i] = input(&rng);
	for (uint32_t i = 0; i < s->k * s->n; i++)
		((float *)b->map)[i] = input(&rng);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "matmul", .push = sizeof(*s) }), a, b, c), s, (s->n + 15) / 16,
		(s->m + 15) / 16, 1);
	for (uint32_t i = 0; i < s->m * s->n; i++) {
		double want = dot(a->map, b->map, s, i / s->n, i % s->n, &size);

		hash = hash_near(hash, "c", ((float *)c->map)[i], want, tol * size + 1e-30);
	}
	return hash;
}

static float
small_integer(struct rng *rng)
{
	return (float)(rng_u32(rng) % 17) - 8;
}

static float
small_float(struct rng *rng)
{
	return rng_float(rng, -1, 1);
}

static uint64_t
matmul_exact(struct vk *vk)
{
	return matmul(vk, &(struct mnk){ 80, 112, 96 }, small_integer, 0);
}

static uint64_t
matmul_float(struct vk *vk)
{
	return matmul(vk, &(struct mnk){ 67, 45, 150 }, small_float, 1e-5);
}

static void
f16_matrices(_Float16 *a, _Float16 *b, uint32_t count)
{
	struct rng rng = { 4 };

	for (uint32_t i = 0; i < count; i++) {
		a[i] = (_Float16)small_integer(&rng);
		b[i] = (_Float16)small_integer(&rng);
	}
}

/* Integers this small are exact in f16 and f32 in any order. */
static uint64_t
matmul_f16(struct vk *vk)
{
	enum { N = 48, K = 64 };
	struct buf *a = buf_host(vk, N * K * 2), *b = buf_host(vk, N * K * 2), *c = buf_host(vk, N * N * 4);
	uint32_t push[2] = { N, K / 4 };
	static float want[N * N];

	require(vk->have12.shaderFloat16 && vk->have11.storageBuffer16BitAccess, "shaderFloat16");
	f16_matrices(a->map, b->map, N * K);
	for (uint32_t i = 0; i < N * N; i++)
		for (uint32_t k = 0; k < K; k++)
			want[i] += (float)((_Float16 *)a->map)[i / N * K + k] * (float)((_Float16 *)b->map)[i % N * K + k];
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "matmul_f16", .push = 8 }), a, b, c), push, N / 16, N / 16, 1);
	expect_u32("c", c->map, (uint32_t *)want, N * N);
	return hash_buf(c);
}

/* ---- reduce, scan, histogram ---- */

static uint64_t
reduce(struct vk *vk)
{
	enum { GROUPS = 37 };
	struct buf *in = buf_host(vk, GROUPS * 256 * 4), *out = buf_host(vk, GROUPS * 16);
	uint32_t want[GROUPS][4];

	fill_random(in, 5);
	for (unsigned g = 0; g < GROUPS; g++) {
		const uint32_t *p = (uint32_t *)in->map + g * 256;

		want[g][0] = want[g][2] = want[g][3] = 0;
		want[g][1] = UINT32_MAX;
		for (unsigned i = 0; i < 256; i++) {
			want[g][0] += p[i];
			want[g][1] = p[i] < want[g][1] ? p[i] : want[g][1];
			want[g][2] = p[i] > want[g][2] ? p[i] : want[g][2];
			want[g][3] ^= p[i];
		}
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "reduce" }), in, out), NULL, GROUPS, 1, 1);
	expect_u32("result", out->map, want[0], GROUPS * 4);
	return hash_buf(out);
}

static uint64_t
scan(struct vk *vk)
{
	enum { GROUPS = 200 };
	struct buf *data = buf_host(vk, GROUPS * 256 * 4), *totals = buf_host(vk, 256 * 4), *total = buf_host(vk, 4);
	struct prog *blocks = PROG(vk, (&(struct prog_desc){ .shader = "scan" }), data, totals);
	struct prog *sums = PROG(vk, (&(struct prog_desc){ .shader = "scan" }), totals, total);
	struct prog *add = PROG(vk, (&(struct prog_desc){ .shader = "scan_add" }), data, totals);
	static uint32_t want[GROUPS * 256];
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t sum = 0;

	fill_random(data, 6);
	for (unsigned i = 0; i < GROUPS * 256; i++) {
		want[i] = sum;
		sum += ((uint32_t *)data->map)[i];
	}
	cb_dispatch(cb, blocks, NULL, GROUPS, 1, 1);
	cb_barrier(cb);
	cb_dispatch(cb, sums, NULL, 1, 1, 1);
	cb_barrier(cb);
	cb_dispatch(cb, add, NULL, GROUPS, 1, 1);
	cb_run(vk, cb);
	expect_u32("data", data->map, want, GROUPS * 256);
	expect_u32("total", total->map, &sum, 1);
	return hash_buf(data);
}

static uint64_t
histogram(struct vk *vk)
{
	enum { N = 50000 };
	struct buf *in = buf_host(vk, N * 4), *out = buf_host(vk, 256 * 4);
	uint32_t want[256] = { 0 }, n = N;

	fill_random(in, 7);
	for (unsigned i = 0; i < N; i++)
		((uint32_t *)in->map)[i] &= i % 3 ? 0xff00ffff : 0x3f7f0f1f;
	for (unsigned i = 0; i < N * 4; i++)
		want[((uint8_t *)in->map)[i]]++;
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "histogram", .push = 4 }), in, out), &n, 20, 1, 1);
	expect_u32("bins", out->map, want, 256);
	return hash_buf(out);
}

/* ---- sha256 ---- */

static const uint32_t sha_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void
sha_block(uint32_t h[8], const uint32_t *block)
{
	uint32_t w[64], s[8];

	memcpy(s, h, 32);
	memcpy(w, block, 64);
	for (unsigned i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
			(rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
	for (unsigned i = 0; i < 64; i++) {
		uint32_t t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
		uint32_t t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 28);
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] += s[i];
}

/* 100 bytes of message, padded to two blocks. Message 0 is FIPS 180's 56-byte one, to hold the reference itself. */
static void
sha_message(uint32_t *m, struct rng *rng, bool first)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	unsigned words = first ? 14 : 25;

	memset(m, 0, 128);
	for (unsigned i = 0; i < words; i++)
		m[i] = first ? (uint32_t)text[i * 4] << 24 | (uint32_t)text[i * 4 + 1] << 16 | (uint32_t)text[i * 4 + 2] << 8 |
				(uint32_t)text[i * 4 + 3]
			     : rng_u32(rng);
	m[words] = 0x80000000;
	m[31] = words * 32;
}

static uint64_t
sha256(struct vk *vk)
{
	enum { N = 640 };
	static const uint32_t fips[8] = { 0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039, 0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1 };
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	struct buf *in = buf_host(vk, N * 128), *out = buf_host(vk, N * 32), *k = buf_host(vk, sizeof(sha_k));
	struct rng rng = { 8 };
	static uint32_t want[N][8];

	memcpy(k->map, sha_k, sizeof(sha_k));
	for (unsigned i = 0; i < N; i++) {
		uint32_t *m = (uint32_t *)in->map + i * 32;

		sha_message(m, &rng, !i);
		memcpy(want[i], start, 32);
		sha_block(want[i], m);
		sha_block(want[i], m + 16);
	}
	expect_u32("reference", want[0], fips, 8);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "sha256" }), in, out, k), NULL, N / 64, 1, 1);
	expect_u32("digest", out->map, want[0], N * 8);
	return hash_buf(out);
}

const struct vkcase cases_basic[] = {
	{ "vecadd", vecadd, 0 },
	{ "push-constants", push_constants, 0 },
	{ "push-partial", push_partial, 0 },
	{ "matmul-exact", matmul_exact, 0 },
	{ "matmul-float", matmul_float, 0 },
	{ "matmul-f16", matmul_f16, 0 },
	{ "reduce", reduce, 0 },
	{ "scan", scan, 0 },
	{ "histogram", histogram, 0 },
	{ "sha256", sha256, 0 },
	{ 0 },
};
