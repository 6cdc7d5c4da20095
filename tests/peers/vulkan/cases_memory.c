/* SPDX-License-Identifier: MIT */
/* cases_memory.c: private arrays in scratch, shared memory, atomics, pointers, typed buffers, bounds, control flow. */
#include <math.h>

#include "vksuite.h"

static struct buf *
random_input(struct vk *vk, unsigned words, uint64_t seed)
{
	struct buf *buf = buf_host(vk, words * 4);
	struct rng rng = { seed };

	for (unsigned i = 0; i < words; i++)
		((uint32_t *)buf->map)[i] = rng_u32(&rng);
	return buf;
}

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

/* ---- scratch ---- */

static uint32_t
want_spill_array(uint32_t key)
{
	uint32_t s[256], j = 0, sum = 0;

	for (uint32_t i = 0; i < 256; i++)
		s[i] = i;
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t t = s[i];

		j = (j + t + (key >> ((i & 3) * 8))) & 255;
		s[i] = s[j];
		s[j] = t;
	}
	for (uint32_t i = 0; i < 64; i++)
		sum = sum * 31 + s[(s[i] + i) & 255];
	return sum;
}

static uint64_t
spill_array(struct vk *vk)
{
	enum { N = 640 };
	struct buf *in = random_input(vk, N, 30), *out = buf_host(vk, N * 4);
	uint32_t want[N];

	for (unsigned i = 0; i < N; i++)
		want[i] = want_spill_array(((uint32_t *)in->map)[i]);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "spill_array" }), in, out), NULL, N / 64, 1, 1);
	expect_u32("r", out->map, want, N);
	return hash_buf(out);
}

struct private {
	uint8_t b[160];
	uint16_t h[96];
	uint32_t v[40][4];
	uint64_t q[48];
};

static void
fill_private(struct private *p, uint32_t key)
{
	for (uint32_t i = 0; i < 160; i++) {
		p->b[i] = (uint8_t)(key * (i + 1) >> 11);
		if (i < 96)
			p->h[i] = (uint16_t)(key * (i + 3) >> 7);
		if (i < 40)
			memcpy(p->v[i], (uint32_t[]){ key + i, key * i, key ^ i, i }, 16);
		if (i < 48)
			p->q[i] = (uint64_t)key * (uint32_t)(key + i);
	}
}

static void
want_spill_types(uint32_t key, uint32_t sum[4])
{
	struct private p;

	fill_private(&p, key);
	memset(sum, 0, 16);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t k = key + i * 7;

		sum[0] = sum[0] * 31 + p.b[k % 160];
		sum[1] = sum[1] * 31 + p.h[k % 96];
		sum[2] = sum[2] * 31 + p.v[k % 40][1] + p.v[k % 40][k & 3];
		sum[3] = sum[3] * 31 + (uint32_t)(p.q[k % 48] >> (k & 31));
		p.v[k % 40][2] = sum[0];
	}
	for (unsigned c = 0; c < 4; c++)
		sum[c] += p.v[key % 40][c];
}

static uint64_t
spill_types(struct vk *vk)
{
	enum { N = 256 };
	struct buf *in = random_input(vk, N, 31), *out = buf_host(vk, N * 16);
	uint32_t want[N][4];

	require(vk->have.features.shaderInt64 && vk->have.features.shaderInt16 && vk->have12.shaderInt8, "8, 16 and 64 bit integers");
	for (unsigned i = 0; i < N; i++)
		want_spill_types(((uint32_t *)in->map)[i], want[i]);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "spill_types" }), in, out), NULL, N / 32, 1, 1);
	expect_u32("r", out->map, want[0], N * 4);
	return hash_buf(out);
}

static uint32_t
want_spill_registers(const uint32_t *data, uint32_t l)
{
	enum { COUNT = 192 };
	uint32_t v[COUNT], sum = 0;

	for (uint32_t i = 0; i < COUNT; i++)
		v[i] = data[(l * 7 + i * 13) & 4095];
	for (uint32_t round = 0; round < data[0] % 3 + 2; round++)
		for (uint32_t i = 0; i < COUNT; i++)
			v[i] = v[i] * 5 + (v[(i * 5 + 1) % COUNT] ^ round);
	for (uint32_t i = 0; i < COUNT; i++)
		sum = (sum * 33) ^ v[i];
	return sum;
}

static uint64_t
spill_registers(struct vk *vk)
{
	enum { N = 2048 };
	struct buf *in = random_input(vk, 4096, 32), *out = buf_host(vk, N * 4);
	uint32_t want[N];

	require(vk->props.limits.maxComputeWorkGroupInvocations >= 1024, "a group of 1024");
	for (unsigned i = 0; i < N; i++)
		want[i] = want_spill_registers(in->map, i % 1024);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "spill_registers" }), in, out), NULL, N / 1024, 1, 1);
	expect_u32("r", out->map, want, N);
	return hash_buf(out);
}

/* ---- atomics ---- */

struct group_atomics {
	uint32_t sum, max, min, or, and, xor;
	int32_t imin, imax;
};

static void
add_value(struct group_atomics *g, uint32_t v)
{
	uint32_t bit = ~(1u << (v >> 27));

	g->sum += v;
	g->max = v > g->max ? v : g->max;
	g->min = v < g->min ? v : g->min;
	g->or |= v & 0x0f0f0f0f & bit;
	g->and &= v | bit;
	g->xor ^= v;
	g->imin = (int32_t)v < g->imin ? (int32_t)v : g->imin;
	g->imax = (int32_t)v > g->imax ? (int32_t)v : g->imax;
}

static void
want_atomics(const uint32_t *data, uint32_t n, uint32_t *w)
{
	struct group_atomics all = { .min = UINT32_MAX, .and = UINT32_MAX };

	for (uint32_t i = 0; i < n; i += 64) {
		struct group_atomics g = { .min = UINT32_MAX, .and = UINT32_MAX };

		for (uint32_t k = i; k < i + 64; k++) {
			add_value(&all, data[k]);
			add_value(&g, data[k]);
		}
		w[8] ^= g.sum;
		w[9] = g.max > w[9] ? g.max : w[9];
		w[10] += g.min;
		w[11] ^= g.or;
		w[12] ^= g.and;
		w[13] ^= g.xor;
		w[18] += (uint32_t)g.imin;
		w[19] += (uint32_t)g.imax;
		w[14] += 64 + 64 * 63 / 2 + 1;
		w[15] += 1077;
	}
	memcpy(w, &all, 24);
	w[6] = n;
	w[7] = 3 * n;
	w[16] = (uint32_t)all.imin;
	w[17] = (uint32_t)all.imax;
}

static void
check_tickets(uint32_t *ticket, uint32_t n)
{
	uint8_t *seen = calloc(n, 1);

	for (uint32_t i = 0; i < n; i++)
		if (ticket[i] >= n || seen[ticket[i]]++)
			case_fail("ticket %u was given twice or never existed", ticket[i]);
	free(seen);
}

static uint64_t
atomics(struct vk *vk)
{
	enum { N = 64 * 50 };
	struct buf *in = random_input(vk, N, 33), *out = buf_host(vk, 80), *ticket = buf_host(vk, N * 4);
	uint32_t want[20] = { 0 };

	((uint32_t *)out->map)[2] = ((uint32_t *)out->map)[4] = UINT32_MAX;
	want_atomics(in->map, N, want);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "atomics" }), in, out, ticket), NULL, N / 64, 1, 1);
	expect_u32("r", out->map, want, 20);
	check_tickets(ticket->map, N);
	return hash_buf(out);
}

static void
want_atomics64(const uint64_t *data, uint32_t n, uint64_t *w)
{
	w[2] = w[4] = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = data[i];

		w[0] += v;
		w[1] = v > w[1] ? v : w[1];
		w[2] = v < w[2] ? v : w[2];
		w[3] |= v & 0xf0f0f0f0f0f0;
		w[4] &= v | 0xfff0ffff0000ffff;
		w[5] ^= v;
	}
	w[6] = w[0];
	w[7] = w[1];
	w[8] = w[5];
	w[9] = n / 64;
	w[10] = n * 0x100000003ull;
}

static uint64_t
atomics64(struct vk *vk)
{
	enum { N = 64 * 20 };
	struct buf *in = random_input(vk, N * 2, 34), *out = buf_host(vk, 128);
	uint64_t want[16] = { 0 };

	require(vk->have12.shaderBufferInt64Atomics && vk->have12.shaderSharedInt64Atomics, "64-bit atomics");
	((uint64_t *)out->map)[2] = ((uint64_t *)out->map)[4] = UINT64_MAX;
	want_atomics64(in->map, N, want);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "atomics64" }), in, out), NULL, N / 64, 1, 1);
	expect_u64("r", out->map, want, 16);
	return hash_buf(out);
}

/* Small integers: exact in any order. */
static uint64_t
atomics_float(struct vk *vk)
{
	enum { N = 64 * 20 };
	struct buf *in = random_input(vk, N, 35), *out = buf_host(vk, 16);
	float want[4] = { 0, 0, 2.5f, 0 };

	require(vk->have_atomic_float.shaderBufferFloat32AtomicAdd, "shaderBufferFloat32AtomicAdd");
	for (unsigned i = 0; i < N; i++)
		want[0] += (float)(((uint32_t *)in->map)[i] & 15) - 7;
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "atomics_float" }), in, out), NULL, N / 64, 1, 1);
	expect_u32("r", out->map, (uint32_t *)want, 4);
	return hash_buf(out);
}

static uint64_t
atomics_float_shared(struct vk *vk)
{
	enum { GROUPS = 20, N = 64 * GROUPS };
	struct buf *in = random_input(vk, N, 35), *out = buf_host(vk, GROUPS * 4);
	float want[GROUPS] = { 0 };

	require(vk->have_atomic_float.shaderSharedFloat32AtomicAdd, "shaderSharedFloat32AtomicAdd");
	for (unsigned i = 0; i < N; i++)
		want[i / 64] += (float)(((uint32_t *)in->map)[i] & 15) - 7 + (float)(i % 64);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "atomics_float_shared" }), in, out), NULL, GROUPS, 1, 1);
	expect_u32("r", out->map, (uint32_t *)want, GROUPS);
	return hash_buf(out);
}

/* ---- shared memory ---- */

struct lds {
	uint32_t v[1024][4], d[1024][2], tri[256][3];
	uint64_t q[256];
	uint16_t h[512];
	uint8_t b[1024];
};

static void
fill_lds(struct lds *s, const uint32_t (*in)[4])
{
	for (uint32_t l = 0; l < 256; l++) {
		const uint32_t *x = in[l];

		for (uint32_t i = 0; i < 4; i++) {
			memcpy(s->v[l * 4 + i], (uint32_t[]){ x[0] + i, x[1] + i, x[2] + i, x[3] + i }, 16);
			memcpy(s->d[l + i * 256], (uint32_t[]){ x[2] ^ i, x[3] ^ i }, 8);
			s->b[l * 4 + (i ^ 1)] = (uint8_t)(x[0] >> i * 8);
		}
		s->q[l] = x[1] | (uint64_t)x[2] << 32;
		memcpy(s->tri[255 - l], (uint32_t[]){ x[3], x[1], x[0] }, 12);
		s->h[l * 2] = (uint16_t)x[1];
		s->h[l * 2 + 1] = (uint16_t)(x[1] >> 16);
	}
}

static void
want_lds(const struct lds *s, uint32_t l, uint32_t key, uint32_t *r)
{
	uint32_t k = key & 255, x[4], y[2];
	const uint32_t *z = s->tri[k ^ 85];

	for (unsigned c = 0; c < 4; c++)
		x[c] = s->v[k * 4 + (l & 3)][c] + s->v[(l * 37) & 1023][c];
	for (unsigned c = 0; c < 2; c++)
		y[c] = s->d[(k * 5 + l) & 1023][c] + s->d[k][c] * 3;
	r[0] = x[0] ^ (y[0] + z[0]);
	r[1] = x[1] + (uint32_t)(s->q[k] >> 9) + z[1];
	r[2] = x[2] + (uint32_t)s->h[k * 2] * s->h[k + 1];
	r[3] = x[3] + y[1] * s->b[k * 3] - s->b[l + k] - z[2];
}

static uint64_t
lds(struct vk *vk)
{
	enum { GROUPS = 5, N = GROUPS * 256 };
	struct buf *in = random_input(vk, N * 4, 36), *out = buf_host(vk, N * 16);
	static uint32_t want[N][4];
	static struct lds s;

	require(vk->have.features.shaderInt64 && vk->have.features.shaderInt16 && vk->have12.shaderInt8, "8, 16 and 64 bit integers");
	require(vk->props.limits.maxComputeSharedMemorySize >= 32768, "32 KiB of shared memory");
	for (unsigned g = 0; g < GROUPS; g++) {
		const uint32_t (*data)[4] = (const uint32_t (*)[4])in->map + g * 256;

		fill_lds(&s, data);
		for (uint32_t l = 0; l < 256; l++)
			want_lds(&s, l, data[l][0], want[g * 256 + l]);
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "lds" }), in, out), NULL, GROUPS, 1, 1);
	expect_u32("r", out->map, want[0], N * 4);
	return hash_buf(out);
}

/* ---- control flow ---- */

static uint32_t
collatz(uint32_t n)
{
	uint32_t steps = 0;

	for (; n != 1 && steps < 300; steps++)
		n = n & 1 ? 3 * n + 1 : n >> 1;
	return steps;
}

static uint32_t
early(uint32_t v)
{
	for (uint32_t i = 0; i < 40; i++) {
		if ((v >> (i & 31) & 3) == 3 && i > 7)
			return i * 100;
		if (!(v & 1u << (i & 31)))
			continue;
		for (uint32_t j = 0; j < (v & 7); j++) {
			if (j * j == i)
				break;
			v = v * 17 + j;
		}
	}
	return v;
}

static uint32_t
several_collatz(uint32_t v, uint32_t x)
{
	for (uint32_t i = 0; i < v >> 28; i++)
		x += collatz((v >> i & 255) + 2);
	return x;
}

static uint32_t
branch(uint32_t id, uint32_t v)
{
	switch (v % 9) {
	case 0: return collatz((v & 1023) | 1);
	case 1: return early(v) + 7;
	case 2: return 7;
	case 3: return several_collatz(v, 0);
	case 4: return v / (id + 1);
	case 7: return v & 512 ? early(v >> 3) : 5 ^ v;
	default: return v;
	}
}

static uint64_t
divergence(struct vk *vk)
{
	enum { N = 96 * 21 };
	struct buf *in = random_input(vk, N, 37), *out = buf_host(vk, N * 4);
	uint32_t want[N];

	for (uint32_t i = 0; i < N; i++) {
		uint32_t v = ((uint32_t *)in->map)[i], x = branch(i, v);

		do
			x = x * 1664525 + 1013904223;
		while (x >> 29 > (v & 7));
		want[i] = x;
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "divergence" }), in, out), NULL, N / 96, 1, 1);
	expect_u32("r", out->map, want, N);
	return hash_buf(out);
}

/* ---- pointers ---- */

struct node {
	uint64_t next;
	uint32_t value, visits;
};

static uint64_t
pointers(struct vk *vk)
{
	enum { N = 256, NODES = 1000 };
	struct buf *nodes = buf_host(vk, NODES * 16), *heads = buf_host(vk, N * 8), *out = buf_host(vk, N * 4);
	struct node *list = nodes->map;
	uint32_t want[N], visits[NODES] = { 0 };
	struct rng rng = { 38 };
	uint64_t address;

	require(vk->have12.bufferDeviceAddress && vk->have.features.shaderInt64, "bufferDeviceAddress");
	address = buf_address(vk, nodes);
	for (uint32_t i = 0; i < NODES; i++) /* 37 is prime to 1000, so i -> i + 37 strides; every 25th ends its list */
		list[i] = (struct node){ i % 25 ? address + (i + 37) % NODES * 16 : 0, rng_u32(&rng), 0 };
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = rng_u32(&rng) % NODES, sum = 0;

		((uint64_t *)heads->map)[i] = address + at * 16;
		for (;; at = (at + 37) % NODES) {
			sum = sum * 3 + list[at].value;
			visits[at]++;
			if (!list[at].next)
				break;
		}
		want[i] = sum;
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "pointers" }), heads, out), NULL, N / 32, 1, 1);
	expect_u32("r", out->map, want, N);
	for (uint32_t i = 0; i < NODES; i++)
		expect_u32("visits", &list[i].visits, &visits[i], 1);
	return hash_buf(out);
}

/* ---- uniform and typed buffers, bounds ---- */

static uint64_t
uniform(struct vk *vk)
{
	enum { N = 256 };
	struct buf *u = buf_host(vk, 16 + 64 + 16 * 16), *v = buf_host(vk, 64 * 16), *out = buf_host(vk, N * 16);
	struct prog_desc desc = { .shader = "uniform", .types = { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER } };
	uint32_t *key = u->map, want[N][4];
	float *m = (float *)u->map + 4;
	struct rng rng = { 39 };

	for (unsigned i = 0; i < u->size / 4; i++)
		key[i] = rng_u32(&rng);
	for (unsigned i = 0; i < 16; i++)
		m[i] = (float)(rng_u32(&rng) % 9) - 4;
	for (unsigned i = 0; i < 256; i++)
		((float *)v->map)[i] = (float)(rng_u32(&rng) % 9) - 4;
	for (uint32_t i = 0; i < N; i++)
		for (unsigned row = 0; row < 4; row++) {
			float p = 0;

			for (unsigned col = 0; col < 4; col++)
				p += m[col * 4 + row] * ((float *)v->map)[(i & 63) * 4 + col];
			want[i][row] = (uint32_t)(int32_t)p * key[row] + key[20 + i % 16 * 4];
		}
	run_one(vk, PROG(vk, &desc, u, v, out), NULL, N / 64, 1, 1);
	expect_u32("r", out->map, want[0], N * 4);
	return hash_buf(out);
}

static VkBufferView
view(struct vk *vk, const struct buf *buf, VkFormat format)
{
	VkBufferViewCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, .buffer = buf->buffer, .format = format,
		.range = VK_WHOLE_SIZE };
	VkFormatProperties props;
	VkBufferView view;

	vkGetPhysicalDeviceFormatProperties(vk->gpu, format, &props);
	require(props.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT, "a storage texel buffer format");
	VK(vkCreateBufferView(vk->device, &info, NULL, &view));
	return view;
}

struct texels {
	uint8_t bytes[256][4];
	uint32_t words[256];
	uint16_t halves[256][4];
	uint32_t wide[256][4];
};

static void
want_texels(struct texels *t)
{
	for (unsigned i = 0; i < 256; i++) {
		uint8_t *b = t->bytes[i], red = b[0];
		uint16_t *h = t->halves[i], x = h[0], y = h[1];
		uint32_t *w = t->wide[i], w0 = w[0];

		t->words[i] = b[0] + b[3] * 256u + 256 + w[2];
		h[0] = h[3] + 0x400; /* one more in the exponent doubles */
		h[1] = h[2] + 0x400;
		h[2] = y + 0x400;
		h[3] = x + 0x400;
		w[0] = w[1];
		w[1] = w0;
		w[2]++;
		w[3]++;
		b[0] = b[2];
		b[2] = red;
	}
}

static uint64_t
texel(struct vk *vk)
{
	struct buf *bytes = buf_host(vk, 1024), *words = buf_host(vk, 1024), *halves = buf_host(vk, 2048), *wide = buf_host(vk, 4096);
	VkBufferView views[4] = { view(vk, bytes, VK_FORMAT_R8G8B8A8_UNORM), view(vk, words, VK_FORMAT_R32_UINT),
		view(vk, halves, VK_FORMAT_R16G16B16A16_SFLOAT), view(vk, wide, VK_FORMAT_R32G32B32A32_SINT) };
	struct prog_desc desc = { .shader = "texel", .views = views };
	static struct texels t;
	struct rng rng = { 40 };

	for (unsigned i = 0; i < sizeof(t) / 4; i++)
		((uint32_t *)&t)[i] = rng_u32(&rng);
	for (unsigned i = 0; i < 1024; i++) /* normal halves of moderate size */
		t.halves[i / 4][i % 4] = (uint16_t)((t.halves[i / 4][i % 4] & 0x83ff) | 0x3000);
	memcpy(bytes->map, t.bytes, sizeof(t.bytes));
	memcpy(halves->map, t.halves, sizeof(t.halves));
	memcpy(wide->map, t.wide, sizeof(t.wide));
	for (unsigned i = 0; i < 4; i++)
		desc.types[i] = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
	run_one(vk, PROG(vk, &desc, bytes, words, halves, wide), NULL, 4, 1, 1);
	want_texels(&t);
	expect_u32("words", words->map, t.words, 256);
	expect_u32("bytes", bytes->map, (uint32_t *)t.bytes, 256);
	expect_u32("halves", halves->map, (uint32_t *)t.halves, 512);
	expect_u32("wide", wide->map, t.wide[0], 1024);
	for (unsigned i = 0; i < 4; i++)
		vkDestroyBufferView(vk->device, views[i], NULL);
	return hash_buf(words);
}

static uint64_t
robust(struct vk *vk)
{
	struct buf *in = random_input(vk, 300, 41), *out = buf_host(vk, 320 * 4);
	uint32_t far = 0x10000000, want[320];

	require(vk->have_robust2.robustBufferAccess2, "robustBufferAccess2");
	for (uint32_t i = 0; i < 320; i++)
		want[i] = i >= 256 ? 0 : (i * 2 < 300 ? ((uint32_t *)in->map)[i * 2] : 0) + 1;
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "robust", .push = 4 }), in, out), &far, 5, 1, 1);
	expect_u32("r", out->map, want, 320);
	return hash_buf(out);
}

const struct vkcase cases_memory[] = {
	{ "spill-array", spill_array, 0 },
	{ "spill-types", spill_types, 0 },
	{ "spill-registers", spill_registers, 0 },
	{ "atomics", atomics, 0 },
	{ "atomics-64", atomics64, 0 },
	{ "atomics-float", atomics_float, 0 },
	{ "atomics-float-shared", atomics_float_shared, 0 },
	{ "shared-memory", lds, 0 },
	{ "divergence", divergence, 0 },
	{ "pointers", pointers, 0 },
	{ "uniform-buffers", uniform, 0 },
	{ "texel-buffers", texel, 0 },
	{ "robust-bounds", robust, VK_WANT_ROBUST },
	{ 0 },
};
