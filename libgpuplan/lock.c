/* SPDX-License-Identifier: MIT */
/* lock.c: the contended half. */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

/* Whoever slept takes the lock as 2: others may sleep still. */
void
gp_lock_sleep(struct gp_lock *lock)
{
	int saved = errno;

	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire))
		syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	errno = saved;
}

void
gp_lock_wake(struct gp_lock *lock)
{
	int saved = errno;

	syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}
