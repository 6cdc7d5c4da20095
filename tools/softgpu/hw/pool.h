/* SPDX-License-Identifier: MIT */
/* pool.h: host threads that help a ring's thread.
 *
 * One pool for the process, used by one ring at a time; a ring that finds it taken works alone. Helpers wait for work
 * awake for a moment (SOFTGPU_RING_SPIN_US), then asleep on a futex. They are started when they are first needed.
 */
#ifndef SOFTGPU_POOL_H
#define SOFTGPU_POOL_H

#include <stdbool.h>

enum { SG_HELPERS_MAX = 63 };

/* Called once by each helper that comes in time, with its number, 0 to helpers - 1. */
typedef void sg_pool_fn(void *arg, unsigned helper);

/* Lets up to `helpers` threads call fn from now on. False: the pool is taken, or there are no threads to be had. */
bool sg_pool_begin(unsigned helpers, sg_pool_fn *fn, void *arg);
/* No helper begins any more, and those that had have returned. Call by the thread that began. */
void sg_pool_end(void);

/* Ends the threads. Not between begin and end; a later begin starts them again. */
void sg_pool_stop(void);
/* In a forked child, which has none of the threads. True: it was in use at the moment of the fork. */
bool sg_pool_after_fork(void);

#endif
