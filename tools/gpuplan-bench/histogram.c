/* SPDX-License-Identifier: MIT */
#include "bench.h"

/* Values below HISTOGRAM_SUB have a bucket each; above, each power of two has HISTOGRAM_SUB buckets. */
static unsigned
bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < HISTOGRAM_SUB)
		return (unsigned)v;
	shift = 63u - (unsigned)__builtin_clzll(v) - 6;
	return (shift + 1) * HISTOGRAM_SUB + (unsigned)(v >> shift & (HISTOGRAM_SUB - 1));
}

static uint64_t
upper_edge(unsigned bucket)
{
	unsigned shift = bucket / HISTOGRAM_SUB;
	uint64_t sub = bucket % HISTOGRAM_SUB;

	if (!shift)
		return sub;
	return ((HISTOGRAM_SUB + sub + 1) << (shift - 1)) - 1;
}

void
histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned b = bucket_of(ns), last = sizeof(h->buckets) / sizeof(h->buckets[0]) - 1;

	h->buckets[b < last ? b : last]++;
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
}

uint64_t
histogram_quantile(const struct histogram *h, double p)
{
	uint64_t rank = (uint64_t)(p * (double)h->count + 0.999999), seen = 0;

	if (!rank)
		rank = 1;
	for (unsigned i = 0; i < sizeof(h->buckets) / sizeof(h->buckets[0]); i++) {
		seen += h->buckets[i];
		if (seen >= rank)
			return upper_edge(i) < h->max ? upper_edge(i) : h->max;
	}
	return h->max;
}
