/* SPDX-License-Identifier: MIT */
/* cases_subgroup.c: group operations, replayed on the host from the lane numbers that the device gives. Each case runs with
 * every subgroup size the device can be asked for, and hashes only what does not depend on the size. */
#include "vksuite.h"

#define LANES 128u
#define MAX_SIZE 128u

static VkSubgroupFeatureFlags
need_ops(struct vk *vk, VkSubgroupFeatureFlags ops)
{
	require((vk->props11.subgroupSupportedOperations & ops) == ops, "a subgroup operation");
	return ops;
}

/* The next size to ask for after last, 0 = the driver's own choice comes first, UINT32_MAX = no more. */
static uint32_t
next_size(const struct vk *vk, uint32_t last)
{
	if (!vk->have_sizes.subgroupSizeControl || !(vk->sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT))
		return UINT32_MAX;
	last = last ? last * 2 : vk->sizes.minSubgroupSize;
	return last <= vk->sizes.maxSubgroupSize ? last : UINT32_MAX;
}

static struct buf *
random_input(struct vk *vk, unsigned words, uint64_t seed)
{
	struct buf *buf = buf_host(vk, words * 4);
	struct rng rng = { seed };

	for (unsigned i = 0; i < words; i++)
		((uint32_t *)buf->map)[i] = rng_u32(&rng);
	return buf;
}

/* ---- arithmetic ---- */

enum op { ADD, MUL, MIN, MAX, AND, OR, XOR, IMIN, IMAX, FADD, FMIN, FMAX, OPS };

static const uint32_t identity[OPS] = { [MUL] = 1, [MIN] = UINT32_MAX, [AND] = UINT32_MAX, [IMIN] = INT32_MAX,
	[IMAX] = 0x80000000, [FMIN] = 0x7f800000, [FMAX] = 0xff800000 };

static float
as_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

static uint32_t
as_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

static uint32_t
combine(enum op op, uint32_t a, uint32_t b)
{
	switch (op) {
	case ADD: return a + b;
	case MUL: return a * b;
	case MIN: return a < b ? a : b;
	case MAX: return a > b ? a : b;
	case AND: return a & b;
	case OR: return a | b;
	case XOR: return a ^ b;
	case IMIN: return (int32_t)a < (int32_t)b ? a : b;
	case IMAX: return (int32_t)a > (int32_t)b ? a : b;
	case FADD: return as_bits(as_float(a) + as_float(b));
	case FMIN: return as_float(a) < as_float(b) ? a : b;
	default: return as_float(a) > as_float(b) ? a : b;
	}
}

static uint32_t
operand(enum op op, uint32_t v)
{
	if (op == AND)
		return v | 0x0ff0f00f;
	if (op == OR)
		return v & 0x0ff0f00f;
	return op >= FADD ? as_bits((float)((int)(v & 63) - 32)) : v;
}

/* Lanes of local id's subgroup in lane order; who[lane] = local id or UINT32_MAX. Checks that lane numbers are sane. */
static void
members(const uint32_t *result, unsigned stride, uint32_t id, uint32_t who[MAX_SIZE])
{
	uint32_t size = result[id * stride];

	if (!size || size > MAX_SIZE)
		case_fail("gl_SubgroupSize is %u", size);
	memset(who, 0xff, MAX_SIZE * 4);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t *r = result + i * stride;

		if (r[1] != result[id * stride + 1])
			continue;
		if (r[0] != size || r[2] >= size || who[r[2]] != UINT32_MAX)
			case_fail("local id %u is lane %u of subgroup %u, size %u", i, r[2], r[1], r[0]);
		who[r[2]] = i;
	}
}

static void
check_op(const uint32_t *result, const uint32_t *data, uint32_t skip, uint32_t id, enum op op)
{
	uint32_t who[MAX_SIZE], all = identity[op], want[3], own = result[id * 40 + 2];
	const uint32_t *got = result + id * 40 + 3 + op * 3;

	members(result, 40, id, who);
	for (uint32_t lane = 0; lane < MAX_SIZE; lane++) {
		if (who[lane] == UINT32_MAX || who[lane] % 5 == skip)
			continue;
		if (lane == own)
			want[2] = all;
		all = combine(op, all, operand(op, data[who[lane]]));
		if (lane == own)
			want[1] = all;
	}
	want[0] = all;
	for (unsigned i = 0; i < 3; i++)
		if (got[i] != want[i] && !(op == FADD && as_float(got[i]) == as_float(want[i])))
			case_fail("size %u op %u kind %u local id %u: %08x, should be %08x", result[id * 40], op, i, id, got[i], want[i]);
}

static uint64_t
arith(struct vk *vk)
{
	struct buf *in = random_input(vk, LANES, 10), *out = buf_host(vk, LANES * 160);
	uint64_t hash = HASH_INIT;

	need_ops(vk, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
	for (uint32_t size = 0; size != UINT32_MAX; size = next_size(vk, size)) {
		struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "subgroup_arith", .push = 4, .subgroup = size }), in, out);

		for (uint32_t skip = 0; skip < 6; skip += 2) {
			run_one(vk, prog, &skip, 1, 1, 1);
			for (uint32_t id = 0; id < LANES; id++)
				for (enum op op = 0; id % 5 != skip && op < OPS; op++)
					check_op(out->map, in->map, skip, id, op);
		}
	}
	return hash_bytes(hash, in->map, in->size);
}

/* ---- 16 and 64 bit ---- */

static double
small_double(uint64_t v)
{
	return (double)((int)(v & 63) - 32);
}

static uint64_t
double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, 8);
	return bits;
}

static void
wide_want(const uint64_t *data, const uint32_t *who, uint32_t own, uint64_t want[11])
{
	uint64_t sum = 0, min = UINT64_MAX, all_xor = 0;
	int64_t imin = INT64_MAX, imax = INT64_MIN;
	double dsum = 0, dmax = -1e300;
	uint16_t ssum = 0, smax = 0;

	for (uint32_t lane = 0; lane < MAX_SIZE && who[lane] != UINT32_MAX; lane++) {
		uint64_t v = data[who[lane]];

		sum += v;
		min = v < min ? v : min;
		imin = (int64_t)v < imin ? (int64_t)v : imin;
		imax = (int64_t)v > imax ? (int64_t)v : imax;
		all_xor ^= v;
		ssum = (uint16_t)(ssum + v);
		smax = (uint16_t)v > smax ? (uint16_t)v : smax;
		dsum += small_double(v);
		dmax = small_double(v) > dmax ? small_double(v) : dmax;
		if (lane == own) {
			want[1] = sum;
			want[4] = (uint64_t)imax;
			want[7] = smax;
			want[9] = double_bits(dsum);
		}
	}
	want[0] = sum;
	want[2] = min;
	want[3] = (uint64_t)imin;
	want[5] = all_xor;
	want[6] = ssum;
	want[8] = double_bits(dsum);
	want[10] = double_bits(dmax);
}

static void
check_wide(const uint64_t *result, const uint64_t *data, uint32_t id)
{
	uint32_t who[MAX_SIZE], lanes[LANES * 3];
	uint64_t want[11];

	for (uint32_t i = 0; i < LANES * 3; i++)
		lanes[i] = (uint32_t)result[i / 3 * 16 + i % 3];
	members(lanes, 3, id, who);
	wide_want(data, who, lanes[id * 3 + 2], want);
	for (unsigned i = 0; i < 11; i++)
		if (result[id * 16 + 3 + i] != want[i])
			case_fail("size %u result %u local id %u: %016llx, should be %016llx", lanes[id * 3], i, id,
				(unsigned long long)result[id * 16 + 3 + i], (unsigned long long)want[i]);
}

static uint64_t
wide(struct vk *vk)
{
	struct buf *in = random_input(vk, LANES * 2, 11), *out = buf_host(vk, LANES * 128);

	need_ops(vk, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
	require(vk->have12.shaderSubgroupExtendedTypes && vk->have.features.shaderInt64 && vk->have.features.shaderInt16 &&
			vk->have.features.shaderFloat64, "shaderSubgroupExtendedTypes with 16 and 64 bit types");
	for (uint32_t size = 0; size != UINT32_MAX; size = next_size(vk, size)) {
		run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "subgroup_wide", .subgroup = size }), in, out), NULL, 1, 1, 1);
		for (uint32_t id = 0; id < LANES; id++)
			check_wide(out->map, in->map, id);
	}
	return hash_bytes(HASH_INIT, in->map, in->size);
}

/* ---- vote, ballot, shuffle, quad ---- */

struct group {
	uint32_t size, own, v[MAX_SIZE];
	uint64_t odd;
};

static uint64_t
below(uint32_t lane)
{
	return lane >= 64 ? UINT64_MAX : (1ull << lane) - 1;
}

static uint32_t
equal_count(const struct group *g, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->size; i++)
		n += g->v[i] == v;
	return n;
}

static void
shuffle_want(const struct group *g, const uint32_t *data, uint32_t want[29])
{
	uint32_t l = g->own, v = g->v[l], quad = l & ~3u;
	uint64_t active = below(g->size);
	const uint32_t list[29] = {
		g->v[(v >> 8) & (g->size - 1)], g->v[l ^ 1], g->v[l ^ 5], l >= 3 ? g->v[l - 3] : 0,
		l + 2 < g->size ? g->v[l + 2] : 0, g->v[5], g->v[0], (uint32_t)g->odd, (uint32_t)(g->odd >> 32),
		(uint32_t)__builtin_popcountll(g->odd), (uint32_t)__builtin_popcountll(g->odd & below(l + 1)),
		(uint32_t)__builtin_popcountll(g->odd & below(l)), (uint32_t)__builtin_ctzll(g->odd),
		63u - (uint32_t)__builtin_clzll(g->odd), (uint32_t)(g->odd >> ((v >> 16) & (g->size - 1))) & 1, v & 1, l == 0,
		equal_count(g, data[77]) > 0, equal_count(g, data[77]) == 0, equal_count(g, v) == g->size, 1, g->v[quad + 2],
		g->v[l ^ 1], g->v[l ^ 2], g->v[l ^ 3], (uint32_t)below(l), (uint32_t)(~below(l) & active),
		l >= 32 ? 1u << (l - 32) : 0, LANES / g->size };

	memcpy(want, list, sizeof(list));
}

static void
check_shuffle(const uint32_t *result, const uint32_t *data, uint32_t id)
{
	struct group g = { .size = result[id * 40], .own = result[id * 40 + 2] };
	uint32_t who[MAX_SIZE], want[29];

	members(result, 40, id, who);
	for (uint32_t i = 0; i < g.size; i++) {
		if (who[i] == UINT32_MAX)
			case_fail("subgroup %u has no lane %u", result[id * 40 + 1], i);
		g.v[i] = data[who[i]];
		g.odd |= (uint64_t)(g.v[i] & 1) << i;
	}
	shuffle_want(&g, data, want);
	for (unsigned i = 0; i < 29; i++)
		if (result[id * 40 + 3 + i] != want[i])
			case_fail("size %u result %u lane %u: %08x, should be %08x", g.size, i + 3, g.own, result[id * 40 + 3 + i], want[i]);
}

static uint64_t
shuffle(struct vk *vk)
{
	struct buf *in = random_input(vk, LANES, 12), *out = buf_host(vk, LANES * 160);

	need_ops(vk, VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT |
			VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT | VK_SUBGROUP_FEATURE_QUAD_BIT);
	for (uint32_t i = 0; i < LANES; i += 8) /* a ballot that is never empty */
		((uint32_t *)in->map)[i] |= 1;
	for (uint32_t size = 0; size != UINT32_MAX; size = next_size(vk, size)) {
		run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "subgroup_shuffle", .subgroup = size }), in, out), NULL, 1, 1, 1);
		for (uint32_t id = 0; id < LANES; id++)
			check_shuffle(out->map, in->map, id);
	}
	return hash_bytes(HASH_INIT, in->map, in->size);
}

/* ---- the size must not matter ---- */

static uint64_t
scan(struct vk *vk)
{
	enum { GROUPS = 9, N = GROUPS * 512 };
	struct buf *in = random_input(vk, N, 13), *out = buf_host(vk, N * 4), *totals = buf_host(vk, GROUPS * 4);
	uint32_t want[N], sum = 0;

	need_ops(vk, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
	for (uint32_t i = 0; i < N; i++)
		want[i] = sum = (i % 512 ? sum : 0) + ((uint32_t *)in->map)[i];
	for (uint32_t size = 0; size != UINT32_MAX; size = next_size(vk, size)) {
		memset(out->map, 0, N * 4);
		run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "subgroup_scan", .subgroup = size }), in, out, totals), NULL,
			GROUPS, 1, 1);
		expect_u32("scan", out->map, want, N);
		for (uint32_t g = 0; g < GROUPS; g++)
			expect_u32("total", (uint32_t *)totals->map + g, want + g * 512 + 511, 1);
	}
	return hash_bytes(HASH_INIT, out->map, out->size);
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t
compact(struct vk *vk)
{
	enum { N = 6400 };
	struct buf *in = random_input(vk, N, 14), *out = buf_host(vk, (N + 1) * 4);
	uint32_t want[N + 1] = { 0 };
	uint32_t *got = out->map;

	need_ops(vk, VK_SUBGROUP_FEATURE_BALLOT_BIT);
	for (uint32_t i = 0; i < N; i++)
		if (((uint32_t *)in->map)[i] % 7 < 3)
			want[++want[0]] = ((uint32_t *)in->map)[i];
	qsort(want + 1, want[0], 4, compare);
	for (uint32_t size = 0; size != UINT32_MAX; size = next_size(vk, size)) {
		memset(got, 0, out->size);
		run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "subgroup_compact", .subgroup = size }), in, out), NULL, N / 64, 1, 1);
		expect_u32("count", got, want, 1);
		qsort(got + 1, got[0], 4, compare);
		expect_u32("kept", got, want, N + 1);
	}
	return hash_bytes(HASH_INIT, got, out->size);
}

const struct vkcase cases_subgroup[] = {
	{ "subgroup-arithmetic", arith, 0 },
	{ "subgroup-wide-types", wide, 0 },
	{ "subgroup-shuffle-vote", shuffle, 0 },
	{ "subgroup-scan", scan, 0 },
	{ "subgroup-compact", compact, 0 },
	{ 0 },
};
