/* SPDX-License-Identifier: MIT */
/* cases_algorithms.c: what people write compute shaders for, whole: sorting, scans that wait for each other, transforms. */
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

/* ---- radix sort ---- */

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* lavapipe 22.3 says it has the memory model, but lets a flag's release store overtake the value that it announces: now and
 * then a block then sees a prefix of 0. */
static void
need_memory_model(struct vk *vk)
{
	require(vk->have12.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope");
	if (vk->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
		case_skip("release stores are not kept in order here");
}

/* Eight passes of count, scan and scatter in one command buffer; the scan is the look-back one. */
static uint64_t
radix_sort(struct vk *vk)
{
	enum { BLOCKS = 64, N = BLOCKS * 256, COUNTS = BLOCKS * 16 };
	struct buf *keys = random_input(vk, N, 80), *other = buf_device(vk, N * 4), *counts = buf_device(vk, COUNTS * 4);
	struct buf *places = buf_device(vk, COUNTS * 4), *state = buf_device(vk, 8 + COUNTS / 256 * 8), *sums = buf_device(vk, COUNTS / 256 * 8);
	struct buf *from[2] = { keys, other };
	struct prog *count[2], *scatter[2], *scan;
	uint32_t *want = malloc(N * 4);
	VkCommandBuffer cb;

	require(vk->props11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup ballots");
	need_memory_model(vk);
	for (unsigned i = 0; i < 2; i++) {
		count[i] = PROG(vk, (&(struct prog_desc){ .shader = "radix_count", .push = 8 }), from[i], counts);
		scatter[i] = PROG(vk, (&(struct prog_desc){ .shader = "radix_scatter", .push = 8 }), from[i], places, from[1 - i]);
	}
	scan = PROG(vk, (&(struct prog_desc){ .shader = "lookback" }), counts, places, state, sums);
	memcpy(want, keys->map, N * 4);
	qsort(want, N, 4, compare);
	cb = cb_begin(vk);
	for (uint32_t pass = 0; pass < 8; pass++) {
		const uint32_t push[2] = { pass * 4, BLOCKS };

		vkCmdFillBuffer(cb, state->buffer, 0, VK_WHOLE_SIZE, 0);
		cb_dispatch(cb, count[pass & 1], push, BLOCKS, 1, 1);
		cb_barrier(cb);
		cb_dispatch(cb, scan, NULL, COUNTS / 256, 1, 1);
		cb_barrier(cb);
		cb_dispatch(cb, scatter[pass & 1], push, BLOCKS, 1, 1);
		cb_barrier(cb);
	}
	cb_run(vk, cb);
	expect_u32("sorted", keys->map, want, N);
	free(want);
	return hash_buf(keys);
}

static uint64_t
lookback(struct vk *vk)
{
	enum { BLOCKS = 200, N = BLOCKS * 256 };
	struct buf *in = random_input(vk, N, 81), *out = buf_host(vk, N * 4), *state = buf_host(vk, 8 + BLOCKS * 8);
	struct buf *sums = buf_host(vk, BLOCKS * 8);
	uint32_t *want = malloc(N * 4), sum = 0;

	need_memory_model(vk);
	for (unsigned i = 0; i < N; i++) {
		want[i] = sum;
		sum += ((uint32_t *)in->map)[i];
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "lookback" }), in, out, state, sums), NULL, BLOCKS, 1, 1);
	expect_u32("scan", out->map, want, N);
	free(want);
	return hash_buf(out);
}

/* ---- numbers ---- */

static void
want_fft(const float *in, unsigned k, double out[2])
{
	out[0] = out[1] = 0;
	for (unsigned i = 0; i < 1024; i++) {
		double angle = -2 * M_PI * (double)(i * k % 1024) / 1024;

		out[0] += in[2 * i] * cos(angle) - in[2 * i + 1] * sin(angle);
		out[1] += in[2 * i] * sin(angle) + in[2 * i + 1] * cos(angle);
	}
}

static uint64_t
fft(struct vk *vk)
{
	enum { GROUPS = 4 };
	struct buf *data = buf_host(vk, GROUPS * 8192);
	float in[GROUPS * 2048], *got = data->map;
	struct rng rng = { 82 };
	uint64_t hash = HASH_INIT;
	double want[2];

	for (unsigned i = 0; i < GROUPS * 2048; i++)
		in[i] = got[i] = rng_float(&rng, -1, 1);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "fft" }), data), NULL, GROUPS, 1, 1);
	for (unsigned g = 0; g < GROUPS; g++)
		for (unsigned k = 0; k < 1024; k += 7) {
			want_fft(in + g * 2048, k, want);
			hash = hash_near(hash, "re", got[g * 2048 + 2 * k], want[0], 1e-3);
			hash = hash_near(hash, "im", got[g * 2048 + 2 * k + 1], want[1], 1e-3);
		}
	return hash;
}

static uint32_t
want_mandelbrot(unsigned px, unsigned py)
{
	double cx = px / 64.0 - 1.5, cy = py / 64.0 - 1.0, x = 0, y = 0;
	uint32_t n = 0;

	for (; n < 200; n++) {
		double xx = x * x, yy = y * y, xy = x * y;

		if (xx + yy > 4)
			break;
		x = xx - yy + cx;
		y = xy + xy + cy;
	}
	return n;
}

static uint64_t
mandelbrot(struct vk *vk)
{
	struct buf *out = buf_host(vk, 128 * 128 * 4);
	uint32_t *want = malloc(out->size);

	require(vk->have.features.shaderFloat64, "shaderFloat64");
	for (unsigned i = 0; i < 128 * 128; i++)
		want[i] = want_mandelbrot(i % 128, i / 128);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "mandelbrot" }), out), NULL, 16, 16, 1);
	expect_u32("count", out->map, want, 128 * 128);
	free(want);
	return hash_buf(out);
}

static uint64_t
matmul_i8(struct vk *vk)
{
	struct buf *a = random_input(vk, 1024, 83), *b = random_input(vk, 1024, 84), *c = buf_host(vk, 64 * 64 * 4);
	uint32_t want[64 * 64] = { 0 };

	require(vk->have12.shaderInt8 && vk->have12.storageBuffer8BitAccess, "8-bit integers in buffers");
	for (unsigned i = 0; i < 64 * 64; i++)
		for (unsigned k = 0; k < 64; k++)
			want[i] += (uint32_t)(((int8_t *)a->map)[i / 64 * 64 + k] * ((int8_t *)b->map)[i % 64 * 64 + k]);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "matmul_i8" }), a, b, c), NULL, 4, 4, 1);
	expect_u32("c", c->map, want, 64 * 64);
	return hash_buf(c);
}

/* ---- exchanges of all types, within eight lanes ---- */

/* Small integers in f16: exact. */
static uint16_t
half_bits(int v)
{
	_Float16 h = (_Float16)v;
	uint16_t bits;

	memcpy(&bits, &h, 2);
	return bits;
}

static uint64_t
float_bits(int v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static uint64_t
double_bits(int v)
{
	double d = v;
	uint64_t bits;

	memcpy(&bits, &d, 8);
	return bits;
}

static int as_half(uint64_t q) { return (int)(q & 63) - 32; }
static int as_float(uint64_t q) { return (int)(q & 1023) - 512; }
static int as_double(uint64_t q) { return (int)(q & 65535) - 32768; }

#define CLUSTER(type, init, size, expr)                                                                                \
	({                                                                                                             \
		type acc = (init);                                                                                     \
		for (unsigned k_ = l & ~((size) - 1u); k_ < (l & ~((size) - 1u)) + (size); k_++) {                     \
			uint64_t q = in[k_];                                                                           \
			(void)q;                                                                                       \
			acc = (type)(expr);                                                                            \
		}                                                                                                      \
		acc;                                                                                                   \
	})
#define LEAST(v) ((v) < acc ? (v) : acc)
#define MOST(v) ((v) > acc ? (v) : acc)

static void
want_types(const uint64_t *in, unsigned l, uint64_t *w)
{
	w[0] = CLUSTER(uint8_t, 0, 4, acc + (uint8_t)(q >> 3));
	w[1] = CLUSTER(uint8_t, 0, 8, MOST((uint8_t)(q >> 3)));
	w[2] = (uint64_t)(int64_t)CLUSTER(int16_t, 0, 8, acc + (int16_t)(q >> 7));
	w[3] = (uint64_t)(int64_t)CLUSTER(int16_t, INT16_MAX, 2, LEAST((int16_t)(q >> 7)));
	w[4] = CLUSTER(uint64_t, 0, 8, acc + q);
	w[5] = (uint64_t)CLUSTER(int64_t, INT64_MIN, 4, MOST((int64_t)q));
	w[6] = CLUSTER(uint64_t, 0, 8, acc ^ q);
	w[7] = CLUSTER(uint64_t, UINT64_MAX, 2, acc & (q | 0xfff));
	w[8] = half_bits(CLUSTER(int, 0, 8, acc + as_half(q)));
	w[9] = half_bits(CLUSTER(int, INT32_MAX, 4, LEAST(as_half(q))));
	w[10] = float_bits(CLUSTER(int, 0, 8, acc + as_float(q)));
	w[11] = float_bits(CLUSTER(int, INT32_MIN, 2, MOST(as_float(q))));
	w[12] = double_bits(CLUSTER(int, 0, 8, acc + as_double(q)));
	w[13] = double_bits(CLUSTER(int, INT32_MAX, 4, LEAST(as_double(q))));
	w[14] = in[l ^ 3];
	w[15] = (uint8_t)(in[l ^ 6] >> 3);
	w[16] = half_bits(as_half(in[l ^ 5]));
	w[17] = double_bits(as_double(in[(l & ~7u) | (in[l] & 7)]));
	w[18] = in[l ^ 3];
	w[19] = (uint64_t)(int16_t)(in[(l & ~3u) + 1] >> 7);
	w[20] = double_bits(as_double(in[l ^ 1]));
	w[21] = 3;
}

static uint64_t
subgroup_types(struct vk *vk)
{
	struct buf *in = random_input(vk, 256, 85), *out = buf_host(vk, 128 * 24 * 8);
	const VkSubgroupFeatureFlags need = VK_SUBGROUP_FEATURE_CLUSTERED_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
		VK_SUBGROUP_FEATURE_QUAD_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT;
	uint64_t want[128][24] = { 0 }, *q = in->map;

	require((vk->props11.subgroupSupportedOperations & need) == need && vk->props11.subgroupSize >= 8 &&
			vk->have12.shaderSubgroupExtendedTypes && vk->have12.shaderFloat16 && vk->have12.shaderInt8 &&
			vk->have.features.shaderFloat64 && vk->have.features.shaderInt64 && vk->have.features.shaderInt16,
		"clusters, exchanges and votes of all types");
	q[64] = q[65]; /* one pair of equal values a subgroup, whatever its size */
	for (unsigned l = 0; l < 128; l += 8)
		q[l] = q[l + 1];
	for (unsigned l = 0; l < 128; l++)
		want_types(q, l, want[l]);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "subgroup_types" }), in, out), NULL, 1, 1, 1);
	expect_u64("r", out->map, want[0], 128 * 24);
	return hash_buf(out);
}

const struct vkcase cases_algorithms[] = {
	{ "radix-sort", radix_sort, 0 },
	{ "scan-lookback", lookback, 0 },
	{ "fft", fft, 0 },
	{ "mandelbrot-f64", mandelbrot, 0 },
	{ "matmul-int8", matmul_i8, 0 },
	{ "subgroup-clusters", subgroup_types, 0 },
	{ 0 },
};
