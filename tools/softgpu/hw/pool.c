/* SPDX-License-Identifier: MIT */
/* pool.c: helpers enter and leave by a counter whose top bit says that the work is open to them. */
#define _GNU_SOURCE
#include "pool.h"

#include "host.h"
#include "guard.h"
#include "hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN 0x80000000u

static struct {
	uint32_t taken;		/* atomic: between begin and end */
	uint32_t turn;		/* futex: grows with each begin, and at the end */
	uint32_t state;		/* futex of the beginner: OPEN and the number of helpers at work */
	uint32_t sleepers;	/* atomic: helpers asleep on turn */
	uint32_t end_sleeps;	/* atomic: the beginner sleeps on state, or is about to */
	uint32_t quit;		/* atomic */

	/* the beginner's; helpers read them while the work is open */
	unsigned helpers;
	sg_pool_fn *fn;
	void *arg;

	unsigned started;
	pthread_t threads[SG_HELPERS_MAX];
} pool;

/* ---- helpers ---- */

static void
wait_turn(uint32_t seen)
{
	uint64_t until = sg_host_ns() + sg_config()->spin_us * 1000ull;

	do {
		for (unsigned i = 0; i < 64; i++) {
			if (__atomic_load_n(&pool.turn, __ATOMIC_SEQ_CST) != seen)
				return;
			sg_cpu_relax();
		}
	} while (sg_host_ns() < until);
	__atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&pool.turn, __ATOMIC_SEQ_CST) == seen)
		sg_futex_wait(&pool.turn, seen, 0);
	__atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
}

static bool
enter(void)
{
	uint32_t state = __atomic_load_n(&pool.state, __ATOMIC_RELAXED);

	do {
		if (!(state & OPEN))
			return false;
	} while (!__atomic_compare_exchange_n(&pool.state, &state, state + 1, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return true;
}

static void
leave(void)
{
	if (__atomic_sub_fetch(&pool.state, 1, __ATOMIC_SEQ_CST) == 0 &&
	    __atomic_load_n(&pool.end_sleeps, __ATOMIC_SEQ_CST))
		sg_futex_wake(&pool.state, 1);
}

static void *
helper_main(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;
	uint32_t seen = __atomic_load_n(&pool.turn, __ATOMIC_SEQ_CST);
	char name[16];

	sg_guard_thread();
	snprintf(name, sizeof(name), "softgpu-cu%u", number % 1000);
	pthread_setname_np(pthread_self(), name);
	while (!__atomic_load_n(&pool.quit, __ATOMIC_ACQUIRE)) {
		/* First what is open already: this thread may be new. */
		if (enter()) {
			if (number < pool.helpers)
				pool.fn(pool.arg, number);
			leave();
		}
		wait_turn(seen);
		seen = __atomic_load_n(&pool.turn, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void
next_turn(void)
{
	__atomic_fetch_add(&pool.turn, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST))
		sg_futex_wake(&pool.turn, SG_HELPERS_MAX);
}

/* ---- the ring's thread ---- */

bool
sg_pool_begin(unsigned helpers, sg_pool_fn *fn, void *arg)
{
	if (__atomic_exchange_n(&pool.taken, 1, __ATOMIC_ACQUIRE))
		return false;
	if (helpers > SG_HELPERS_MAX)
		helpers = SG_HELPERS_MAX;
	while (pool.started < helpers &&
	       sg_start_thread(&pool.threads[pool.started], helper_main, (void *)(uintptr_t)pool.started) == 0)
		pool.started++;
	if (pool.started == 0 || helpers == 0) {
		__atomic_store_n(&pool.taken, 0, __ATOMIC_RELEASE);
		return false;
	}
	pool.helpers = helpers;
	pool.fn = fn;
	pool.arg = arg;
	__atomic_store_n(&pool.state, OPEN, __ATOMIC_RELEASE);
	next_turn();
	return true;
}

void
sg_pool_end(void)
{
	uint32_t state = __atomic_and_fetch(&pool.state, ~OPEN, __ATOMIC_SEQ_CST);

	for (unsigned i = 0; state != 0 && i < 2000; i++) {
		sg_cpu_relax();
		state = __atomic_load_n(&pool.state, __ATOMIC_SEQ_CST);
	}
	if (state != 0) {
		__atomic_store_n(&pool.end_sleeps, 1, __ATOMIC_SEQ_CST);
		while ((state = __atomic_load_n(&pool.state, __ATOMIC_SEQ_CST)) != 0)
			sg_futex_wait(&pool.state, state, 0);
		__atomic_store_n(&pool.end_sleeps, 0, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&pool.taken, 0, __ATOMIC_RELEASE);
}

void
sg_pool_stop(void)
{
	__atomic_store_n(&pool.quit, 1, __ATOMIC_SEQ_CST);
	next_turn();
	for (unsigned i = 0; i < pool.started; i++)
		pthread_join(pool.threads[i], NULL);
	pool.started = 0;
	__atomic_store_n(&pool.quit, 0, __ATOMIC_SEQ_CST);
}

bool
sg_pool_after_fork(void)
{
	bool taken = pool.taken;

	memset(&pool, 0, sizeof(pool));
	return taken;
}
