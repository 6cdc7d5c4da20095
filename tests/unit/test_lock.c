/* SPDX-License-Identifier: MIT */
/* lock.h lets one thread in at a time and wakes every sleeper; ticks.h never makes a submission look young. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "lock.h"
#include "ticks.h"

#define THREADS 4
#define ROUNDS 20000u
#define NS_PER_MS 1000000u

static struct gp_lock lock;
static unsigned long counter; /* not atomic on purpose */

static void *
count(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		gp_lock(&lock);
		counter++;
		gp_unlock(&lock);
	}
	return NULL;
}

static void
excludes_and_loses_nobody(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	counter = 0;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(counter, THREADS * ROUNDS);
	assert_int_equal(lock.state, 0);
}

static void
sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * NS_PER_MS }, NULL);
}

static void *
take_once(void *arg)
{
	gp_lock(&lock);
	(*(unsigned *)arg)++;
	gp_unlock(&lock);
	return NULL;
}

/* Sleepers are in the kernel by the time the lock opens: without a wake they stay there. */
static void
wakes_sleepers(void **state)
{
	pthread_t threads[THREADS];
	unsigned entered = 0;

	(void)state;
	gp_lock(&lock);
	assert_false(gp_trylock(&lock));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_once, &entered), 0);
	sleep_ms(50);
	assert_int_equal(entered, 0);
	gp_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(entered, THREADS);
	assert_true(gp_trylock(&lock));
	gp_unlock(&lock);
}

/* doubt_ns is half of a timeout: an age in ticks that is half of the nanoseconds would still be in time. The coarse
 * clock lags by a timer interrupt, 10 ms at most. */
static void
ages_are_not_too_small(void **state)
{
	(void)state;
	for (int steady = 0; steady <= gp_ticks_steady(); steady++) {
		uint64_t start = gp_ticks(steady), age;

		sleep_ms(60);
		age = gp_ticks(steady) - start;
		assert_true(age >= (steady ? 30 : 50) * NS_PER_MS);
		assert_true(age < (uint64_t)3600 * 1000 * NS_PER_MS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(excludes_and_loses_nobody),
		cmocka_unit_test(wakes_sleepers),
		cmocka_unit_test(ages_are_not_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
