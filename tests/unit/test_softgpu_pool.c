/* SPDX-License-Identifier: MIT */
/* test_softgpu_pool.c: helpers of softgpu's worker pool come when there is work, all work ends before its end is
 * reported, and idle helpers cost next to nothing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/softgpu/hw/pool.h"

enum { HELPERS = 3, UNITS = 5000 };

static uint32_t next_unit, done, inside;

static void
take_units(void *arg, unsigned helper)
{
	(void)arg, (void)helper;
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	while (__atomic_fetch_add(&next_unit, 1, __ATOMIC_RELAXED) < UNITS)
		__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
}

static double
seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
all_work_is_over_at_the_end(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		next_unit = done = 0;
		assert_true(sg_pool_begin(HELPERS, take_units, NULL));
		take_units(NULL, 0);
		sg_pool_end();
		assert_int_equal(inside, 0);
		assert_int_equal(done, UNITS);
	}
}

static void
one_at_a_time(void **state)
{
	(void)state;
	next_unit = UNITS;
	assert_true(sg_pool_begin(1, take_units, NULL));
	assert_false(sg_pool_begin(1, take_units, NULL));
	sg_pool_end();
	assert_true(sg_pool_begin(1, take_units, NULL));
	sg_pool_end();
}

static void
arrived(void *arg, unsigned helper)
{
	__atomic_fetch_or((uint32_t *)arg, 1u << helper, __ATOMIC_SEQ_CST);
}

static void
every_helper_comes(void **state)
{
	uint32_t who = 0;
	double deadline = seconds(CLOCK_MONOTONIC) + 20;

	(void)state;
	assert_true(sg_pool_begin(HELPERS, arrived, &who));
	while (__atomic_load_n(&who, __ATOMIC_SEQ_CST) != (1u << HELPERS) - 1 && seconds(CLOCK_MONOTONIC) < deadline)
		usleep(100);
	sg_pool_end();
	assert_int_equal(who, (1u << HELPERS) - 1);
}

/* They look for work some 50 us (SOFTGPU_RING_SPIN_US), then sleep. */
static void
idle_helpers_sleep(void **state)
{
	(void)state;
	usleep(50000);
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	usleep(300000);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	assert_true(cpu < 0.01);
}

static int
stop(void **state)
{
	(void)state;
	sg_pool_stop();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_work_is_over_at_the_end),
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(every_helper_comes),
		cmocka_unit_test(idle_helpers_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, stop);
}
