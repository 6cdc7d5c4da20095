/* SPDX-License-Identifier: MIT */
/* check.c: inputs, comparisons and hashes. */
#include <math.h>

#include "vksuite.h"

uint64_t
hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ull;
	return hash;
}

void
expect_u32(const char *what, const uint32_t *got, const uint32_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != want[i])
			case_fail("%s[%zu] is %08x, should be %08x", what, i, got[i], want[i]);
}

void
expect_u64(const char *what, const uint64_t *got, const uint64_t *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != want[i])
			case_fail("%s[%zu] is %016llx, should be %016llx", what, i, (unsigned long long)got[i],
				(unsigned long long)want[i]);
}

/* Once within tol the reference's grid point stands for both: a value at a rounding boundary may lie on either side. */
uint64_t
hash_near(uint64_t hash, const char *what, double got, double want, double tol)
{
	double point = floor(want / (8 * tol) + 0.5);

	if (isnan(want) ? !isnan(got) : isinf(want) ? got != want : !(fabs(got - want) <= tol))
		case_fail("%s is %.9g, should be %.9g within %g", what, got, want, tol);
	return isfinite(want) ? hash_bytes(hash, &point, sizeof(point)) : hash_bytes(hash, "x", 1);
}

uint64_t
rng_u64(struct rng *rng)
{
	rng->state ^= rng->state >> 12;
	rng->state ^= rng->state << 25;
	rng->state ^= rng->state >> 27;
	return rng->state * 0x2545f4914f6cdd1dull;
}

uint32_t
rng_u32(struct rng *rng)
{
	return (uint32_t)(rng_u64(rng) >> 32);
}

float
rng_float(struct rng *rng, float low, float high)
{
	return low + (high - low) * (float)(rng_u32(rng) >> 8) / 16777216.0f;
}

void
require(bool have, const char *feature)
{
	if (!have)
		case_skip("%s is not reported", feature);
}
