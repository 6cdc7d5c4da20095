/* SPDX-License-Identifier: MIT */
/* host.h: the few things of the host's that threads of hw/ are made of. Include first: needs _GNU_SOURCE. */
#ifndef SOFTGPU_HOST_H
#define SOFTGPU_HOST_H

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t
sg_host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* timeout_ns 0: for ever */
static inline void
sg_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec t = { .tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000) };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns ? &t : NULL, NULL, 0);
}

static inline void
sg_futex_wake(uint32_t *word, int threads)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static inline void
sg_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Threads of ours must not run the program's signal handlers. */
static inline int
sg_start_thread(pthread_t *thread, void *(*main_function)(void *), void *arg)
{
	sigset_t all_signals, old;

	sigfillset(&all_signals);
	pthread_sigmask(SIG_SETMASK, &all_signals, &old);
	int r = pthread_create(thread, NULL, main_function, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

#endif
