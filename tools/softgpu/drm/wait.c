/* SPDX-License-Identifier: MIT */
/* wait.c: the device lock, what is deferred to its release, and sleeping for fences. */
#define _GNU_SOURCE
#include "device.h"
#include "../shim/raw.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

struct sg_device sg_dev = { .gems_tail = &sg_dev.gems };

/* A futex and not a pthread mutex: locked and released by each call, which costs 4 instructions this way and 60 that. */
static uint32_t device_lock; /* 0 free, 1 held, 2 held and somebody sleeps */
#define LOCK_SPINS 100
/* A thread may take the lock again: closing a descriptor inside a call, or a job that is done inside its submission. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/* Done after the release: system calls that make another thread run, which would want the lock at once. */
#define DEFER_MAX 16
static struct {
	unsigned n_eventfds, n_wakes;
	int eventfds[DEFER_MAX];
	uint32_t *wakes[DEFER_MAX]; /* addresses only; the waiter may be gone, a wake for nobody does no harm */
} deferred;

static void
futex_wake(uint32_t *word)
{
	raw_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static bool
lock_try(void)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&device_lock, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Sections are short: the holder is done soon if it has a processor. */
static __attribute__((noinline)) void
lock_slowly(void)
{
	for (int i = 0; i < LOCK_SPINS; i++) {
		if (__atomic_load_n(&device_lock, __ATOMIC_RELAXED) == 0 && lock_try())
			return;
		__builtin_ia32_pause();
	}
	while (__atomic_exchange_n(&device_lock, 2, __ATOMIC_ACQUIRE) != 0)
		raw_call(SYS_futex, (long)&device_lock, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

void
sg_lock(void)
{
	if (depth++ == 0 && !lock_try())
		lock_slowly();
}

static void
lock_release(void)
{
	if (__atomic_exchange_n(&device_lock, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&device_lock);
}

/* The kernel's signal saturates and never blocks; a write at 2^64 - 2 would. */
void
sg_eventfd_add(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint64_t one = 1;

	if (raw_call(SYS_poll, (long)&p, 1, 0, 0, 0, 0) == 1 && (p.revents & POLLOUT))
		raw_write(fd, &one, sizeof(one));
}

static void
eventfd_fire(int fd)
{
	sg_eventfd_add(fd);
	raw_close(fd);
}

void
sg_unlock(void)
{
	if (depth > 1) {
		depth--;
		return;
	}
	if (sg_dev.sched_pending)
		sg_sched_run();
	depth = 0;
	if (!deferred.n_eventfds && !deferred.n_wakes) {
		lock_release();
		return;
	}
	unsigned n_eventfds = deferred.n_eventfds, n_wakes = deferred.n_wakes;
	int eventfds[DEFER_MAX];
	uint32_t *wakes[DEFER_MAX];

	for (unsigned i = 0; i < n_eventfds; i++)
		eventfds[i] = deferred.eventfds[i];
	for (unsigned i = 0; i < n_wakes; i++)
		wakes[i] = deferred.wakes[i];
	deferred.n_eventfds = deferred.n_wakes = 0;
	lock_release();
	for (unsigned i = 0; i < n_eventfds; i++)
		eventfd_fire(eventfds[i]);
	for (unsigned i = 0; i < n_wakes; i++)
		futex_wake(wakes[i]);
}

void
sg_defer_eventfd(int fd, unsigned generation)
{
	if (generation != sg_dev.generation)
		raw_close(fd);
	else if (deferred.n_eventfds < DEFER_MAX)
		deferred.eventfds[deferred.n_eventfds++] = fd;
	else
		eventfd_fire(fd);
}

int64_t
sg_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
sg_deadline(uint64_t timeout)
{
	return timeout > INT64_MAX ? INT64_MAX : (int64_t)timeout;
}

/* ---- waiters ---- */

void
sg_waiter_wake(struct sg_waiter *waiter)
{
	if (__atomic_exchange_n(&waiter->word, 1, __ATOMIC_ACQ_REL))
		return;
	if (deferred.n_wakes < DEFER_MAX)
		deferred.wakes[deferred.n_wakes++] = &waiter->word;
	else
		futex_wake(&waiter->word);
}

/* FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time; a signal ends it with EINTR. */
static long
futex_wait(uint32_t *word, int64_t deadline)
{
	struct timespec t = { .tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000 };

	return raw_call(SYS_futex, (long)word, FUTEX_WAIT_BITSET_PRIVATE, 0, deadline == INT64_MAX ? 0 : (long)&t, 0,
			FUTEX_BITSET_MATCH_ANY);
}

int
sg_waiter_sleep(struct sg_waiter *waiter, int64_t deadline)
{
	int r = 0;

	if (deadline <= 0 || (deadline != INT64_MAX && deadline <= sg_now_ns()))
		return -ETIME;
	unsigned held = depth;
	depth = 1;
	sg_unlock();
	/* No spinning: measured on two busy cores it costs twice what it saves. */
	while (!__atomic_load_n(&waiter->word, __ATOMIC_ACQUIRE)) {
		long got = futex_wait(&waiter->word, deadline);
		if (got == -ETIMEDOUT)
			r = -ETIME;
		else if (got == -EINTR)
			r = -EINTR;
		else
			continue;
		break;
	}
	sg_lock();
	depth = held;
	/* What came in the last moment counts. */
	if (__atomic_exchange_n(&waiter->word, 0, __ATOMIC_ACQ_REL))
		return 0;
	return r;
}

struct wait_cb {
	struct sg_fence_cb cb;
	struct sg_waiter *waiter;
};

static void
wait_cb_fired(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	(void)fence;
	sg_waiter_wake(((struct wait_cb *)cb)->waiter);
}

/* Counts what is signaled; *first: the lowest index. */
static unsigned
count_signaled(struct sg_fence *const *fences, unsigned n, unsigned *first)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!sg_fence_is_signaled(fences[i]))
			continue;
		if (count++ == 0)
			*first = i;
	}
	return count;
}

int
sg_fences_wait(struct sg_fence *const *fences, unsigned n, bool all, int64_t deadline, unsigned *first)
{
	struct sg_waiter waiter = { 0 };
	struct wait_cb small[8];
	struct wait_cb *cbs = n <= 8 ? small : malloc(n * sizeof(*cbs));
	int r = 0;

	if (!cbs)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		cbs[i].waiter = &waiter;
		sg_fence_add_cb(fences[i], &cbs[i].cb, wait_cb_fired);
	}
	for (;;) {
		unsigned count = count_signaled(fences, n, first);
		if (count == n || (count > 0 && !all))
			break;
		r = sg_waiter_sleep(&waiter, deadline);
		if (r)
			break;
	}
	for (unsigned i = 0; i < n; i++)
		sg_fence_remove_cb(&cbs[i].cb);
	if (cbs != small)
		free(cbs);
	return r;
}

int
sg_fence_wait(struct sg_fence *fence, int64_t deadline, bool interruptible)
{
	unsigned first = 0;
	int r;

	if (sg_fence_is_signaled(fence))
		return 0;
	sg_fence_ref(fence);
	do
		r = sg_fences_wait(&fence, 1, true, deadline, &first);
	while (r == -EINTR && !interruptible);
	sg_fence_unref(fence);
	return r;
}
