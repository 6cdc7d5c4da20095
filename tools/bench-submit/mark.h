/* SPDX-License-Identifier: MIT */
/* mark.h: says to callgrind and to strace which stretch of a program is which, so that both count only loops.
 *
 * A case is measured twice, SHORT and LONG runs long; run.sh takes one from the other, and what begins and ends a
 * stretch cancels out.
 */
#ifndef BENCH_SUBMIT_MARK_H
#define BENCH_SUBMIT_MARK_H

#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif
#ifndef CALLGRIND_START_INSTRUMENTATION
/* Without Debian's package valgrind there is no callgrind to tell. */
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION ((void)0)
#define CALLGRIND_ZERO_STATS ((void)0)
#define CALLGRIND_DUMP_STATS_AT(name) ((void)(name))
#endif

#define MARK_WARM_UP 40u
#define MARK_SHORT 50u
#define MARK_LONG 250u

/* A system call that does nothing and has a text. */
static inline void
mark_strace(const char *text)
{
	syscall(SYS_faccessat, -1, text, 0);
}

/* Runs one case in both lengths. run(arg, n) makes n inferences. The stretch is called "WAY PLAN N". */
static inline void
mark_case(const char *way, const char *plan, void (*run)(void *arg, unsigned n), void *arg)
{
	static const unsigned lengths[] = { MARK_SHORT, MARK_LONG };
	char name[96];

	run(arg, MARK_WARM_UP);
	CALLGRIND_START_INSTRUMENTATION;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "bench-submit %s %s %u", way, plan, lengths[i]);
		mark_strace(name);
		CALLGRIND_ZERO_STATS;
		run(arg, lengths[i]);
		CALLGRIND_DUMP_STATS_AT(name);
		mark_strace("bench-submit end");
	}
	CALLGRIND_STOP_INSTRUMENTATION;
}

#endif
