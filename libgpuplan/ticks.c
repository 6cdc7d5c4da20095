/* SPDX-License-Identifier: MIT */
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "ticks.h"

#define CPUID_POWER 0x80000007u
#define CPUID_POWER_EDX_INVARIANT_TSC (1u << 8)

bool
gp_ticks_steady(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && (d & CPUID_POWER_EDX_INVARIANT_TSC);
#else
	return false;
#endif
}

uint64_t
gp_ticks_coarse(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
