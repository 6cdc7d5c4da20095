/* SPDX-License-Identifier: MIT */
/* lock.h: a mutex whose uncontended case is two instructions each way in the caller, on the submit path, where
 * pthread_mutex costs some forty in a pair. Sleeps in the kernel when contended. Not recursive. */
#ifndef GP_LOCK_H
#define GP_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is an open lock; nothing to destroy. */
struct gp_lock {
	_Atomic uint32_t state; /* 0 open, 1 held, 2 held and somebody may sleep for it */
};

void gp_lock_sleep(struct gp_lock *lock);
void gp_lock_wake(struct gp_lock *lock);

static inline bool
gp_trylock(struct gp_lock *lock)
{
	uint32_t open = 0;

	return atomic_compare_exchange_strong_explicit(&lock->state, &open, 1, memory_order_acquire, memory_order_relaxed);
}

static inline void
gp_lock(struct gp_lock *lock)
{
	if (!gp_trylock(lock))
		gp_lock_sleep(lock);
}

/* Opens the lock. True: the caller owes gp_lock_wake. */
static inline bool
gp_unlock_wanted(struct gp_lock *lock)
{
	return __builtin_expect(atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2, 0);
}

static inline void
gp_unlock(struct gp_lock *lock)
{
	if (gp_unlock_wanted(lock))
		gp_lock_wake(lock);
}

#endif
