/* SPDX-License-Identifier: MIT */
/* ticks.h: a counter to tell old submissions by, twice per inference: too often for a clock.
 *
 * On x86 the time-stamp counter, where it runs at one rate whatever the CPU does (CPUID says so); it counts 0.8 to
 * 6 per nanosecond. Elsewhere the coarse clock, in nanoseconds. So an age in ticks is the age in nanoseconds or more,
 * to a fifth; one that seems too old costs an ioctl, and the limits it is held against have a factor of two to spare.
 * Counters of two CPUs that disagree make an age negative, which is very old.
 */
#ifndef GP_TICKS_H
#define GP_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* gp_ticks may use the counter. */
bool gp_ticks_steady(void);
uint64_t gp_ticks_coarse(void);

static inline uint64_t
gp_ticks(bool steady)
{
#if defined(__x86_64__) || defined(__i386__)
	if (steady)
		return __builtin_ia32_rdtsc();
#endif
	(void)steady;
	return gp_ticks_coarse();
}

#endif
