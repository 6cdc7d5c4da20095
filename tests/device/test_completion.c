/* SPDX-License-Identifier: MIT */
/* Promise: exactly one completion per submission, whatever happens, however it is learned. On both completion paths:
 * path 2 by starting this program again with SOFTGPU_EVENTFD=0. The races stand in test_completion_races.c. */
#include "device/completion_test.h"

static struct ct_world w;
static struct gpuplan_plan *shorts, *longs, *very_longs;

#define FAR dt_after_ms(60000)
#define SOAK_RUNS 20000u /* per path, spread over the ring modes */
#define SOAK_SLOTS 8u

static int
setup(void **state)
{
	(void)state;
	ct_open(&w);
	shorts = ct_short(&w, 32);
	longs = ct_long(&w, 4);
	very_longs = ct_very_long(&w, 2);
	return 0;
}

/* Without finding out how long jobs take: for children whose device fails or has little patience. */
static int
setup_child(void **state)
{
	(void)state;
	ct_open(&w);
	w.long_copies = 64;
	shorts = ct_short(&w, 32);
	longs = ct_plan(&w, 4, w.long_copies);
	very_longs = ct_very_long(&w, 1);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	gpuplan_plan_destroy(shorts);
	gpuplan_plan_destroy(longs);
	gpuplan_plan_destroy(very_longs);
	ct_close(&w);
	return 0;
}

static struct gpuplan_completion
finish(struct gpuplan_slot *slot, int res)
{
	struct gpuplan_completion c;

	assert_int_equal(gpuplan_slot_finish(slot, res, &c), 0);
	assert_ptr_equal(c.slot, slot);
	return c;
}

static void
wait_until_polled(struct gpuplan_slot *slot)
{
	while (!gpuplan_slot_poll(slot))
		usleep(50);
}

/* ---- one way after the other ---- */

static void
polled(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(shorts);

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct gpuplan_completion c;

		ct_submit(slot, w.queue);
		while (!gpuplan_slot_poll(slot))
			;
		c = finish(slot, 8);
		assert_int_equal(c.status, GPUPLAN_DONE);
		assert_int_equal(c.reason, 0);
		ct_check_output(slot);
		assert_int_equal(gpuplan_slot_finish(slot, 8, &c), -EALREADY);
	}
	gpuplan_slot_release(slot);
}

static void
finish_before_the_end_says_again(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct gpuplan_completion c;

	(void)state;
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_finish(slot, 0, &c), -EAGAIN);
	assert_int_equal(c.reason, 0);
	wait_until_polled(slot);
	assert_int_equal(finish(slot, 0).status, GPUPLAN_DONE);
	gpuplan_slot_release(slot);
}

static void
waited(void **state)
{
	struct gpuplan_slot *quick = ct_acquire(shorts), *slow = ct_acquire(longs);
	struct gpuplan_completion c;

	(void)state;
	assert_int_equal(gpuplan_slot_wait(quick, FAR, &c), -EALREADY);
	for (unsigned i = 0; i < 200; i++)
		ct_run(quick, w.queue);
	for (unsigned i = 0; i < 2; i++)
		ct_run(slow, w.queue);
	gpuplan_slot_release(quick);
	gpuplan_slot_release(slow);
}

static void
wait_ends_at_its_deadline(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct gpuplan_completion c;

	(void)state;
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_wait(slot, dt_after_ms(2), &c), 0);
	assert_int_equal(c.status, GPUPLAN_DEADLINE);
	assert_int_equal(c.reason, 0);
	assert_false(gpuplan_slot_poll(slot));
	/* Finished, but not over. */
	assert_int_equal(gpuplan_slot_cancel(slot), -EALREADY);
	wait_until_polled(slot);
	ct_run(slot, w.queue);
	gpuplan_slot_release(slot);
}

static void
late_but_done_counts_as_done(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(shorts);
	struct gpuplan_completion c;

	(void)state;
	ct_submit(slot, w.queue);
	wait_until_polled(slot);
	assert_int_equal(gpuplan_slot_wait(slot, 0, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	gpuplan_slot_release(slot);
}

/* Armed before and after the end, with and without deadline, in every ring mode. */
static void
by_cqe_in(struct io_uring *ring)
{
	struct gpuplan_slot *slot = ct_acquire(shorts);

	for (unsigned i = 0; i < 100; i++) {
		uint64_t deadline = i % 2 || !w.info.has_eventfd ? FAR : 0;
		struct ct_cqe cqe;

		ct_submit(slot, w.queue);
		if (i % 4 < 2)
			wait_until_polled(slot);
		assert_int_equal(gpuplan_slot_arm(slot, ring, i + 7, deadline), 0);
		assert_true(io_uring_submit(ring) >= 1);
		cqe = ct_cqe(ring);
		assert_int_equal(cqe.user_data, i + 7);
		assert_int_equal(finish(slot, cqe.res).status, GPUPLAN_DONE);
		ct_check_output(slot);
	}
	gpuplan_slot_release(slot);
}

static void
by_cqe_in_every_ring_mode(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CT_MODES; i++) {
		struct io_uring ring;

		if (!ct_ring(&ring, 8, &ct_modes[i]))
			continue;
		by_cqe_in(&ring);
		ct_no_cqe(&ring, 2);
		io_uring_queue_exit(&ring);
	}
}

static void
arm_ends_at_its_deadline(void **state)
{
	struct gpuplan_slot *front = ct_acquire(very_longs);
	struct gpuplan_completion c;

	/* All of them stand behind it. */
	(void)state;
	ct_submit(front, w.queue);
	for (unsigned i = 0; i < CT_MODES; i++) {
		struct gpuplan_slot *slot;
		struct io_uring ring;
		struct ct_cqe cqe;

		if (!ct_ring(&ring, 8, &ct_modes[i]))
			continue;
		slot = ct_acquire(shorts);
		ct_submit(slot, w.queue);
		assert_int_equal(gpuplan_slot_arm(slot, &ring, i, dt_after_ms(2)), 0);
		assert_true(io_uring_submit(&ring) >= 1);
		cqe = ct_cqe(&ring);
		assert_int_equal(cqe.user_data, i);
		assert_int_equal(finish(slot, cqe.res).status, GPUPLAN_DEADLINE);
		ct_no_cqe(&ring, 2);
		gpuplan_slot_release(slot);
		io_uring_queue_exit(&ring);
	}
	assert_int_equal(gpuplan_slot_wait(front, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	gpuplan_slot_release(front);
}

static void
arm_takes_no_sqe_when_too_few_are_free(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct io_uring ring;
	struct ct_cqe cqe;
	unsigned needed = w.info.has_eventfd ? 2 : 3;

	(void)state;
	assert_true(ct_ring(&ring, 4, &ct_modes[0]));
	ct_submit(slot, w.queue);
	for (unsigned used = 4; used > 4 - needed; used--) {
		while (io_uring_sq_ready(&ring) < used)
			io_uring_prep_nop(io_uring_get_sqe(&ring));
		assert_int_equal(gpuplan_slot_arm(slot, &ring, 1, FAR), -EAGAIN);
		assert_int_equal(io_uring_sq_ready(&ring), used);
		assert_int_equal(io_uring_submit(&ring), used);
		for (unsigned i = 0; i < used; i++)
			ct_cqe(&ring);
	}
	assert_int_equal(gpuplan_slot_arm(slot, &ring, 1, FAR), 0);
	assert_int_equal(io_uring_sq_ready(&ring), needed);
	assert_true(io_uring_submit(&ring) >= 1);
	cqe = ct_cqe(&ring);
	assert_int_equal(finish(slot, cqe.res).status, GPUPLAN_DONE);
	gpuplan_slot_release(slot);
	io_uring_queue_exit(&ring);
}

static void
arm_without_deadline_needs_eventfd(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct gpuplan_completion c;
	struct io_uring ring;
	struct ct_cqe cqe;

	(void)state;
	assert_true(ct_ring(&ring, 4, &ct_modes[0]));
	assert_int_equal(gpuplan_slot_arm(slot, &ring, 1, FAR), -EINVAL); /* nothing submitted */
	ct_submit(slot, w.queue);
	if (w.info.has_eventfd) {
		assert_int_equal(gpuplan_slot_arm(slot, &ring, 1, 0), 0);
		assert_int_equal(io_uring_sq_ready(&ring), 1);
		assert_int_equal(io_uring_submit(&ring), 1);
		cqe = ct_cqe(&ring);
		assert_int_equal(finish(slot, cqe.res).status, GPUPLAN_DONE);
	} else {
		assert_int_equal(gpuplan_slot_arm(slot, &ring, 1, 0), -EINVAL);
		assert_int_equal(io_uring_sq_ready(&ring), 0);
		assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
	}
	gpuplan_slot_release(slot);
	io_uring_queue_exit(&ring);
}

/* ---- cancel ---- */

static void *
cancel_soon(void *slot)
{
	usleep(3000);
	assert_int_equal(gpuplan_slot_cancel(slot), 0);
	return NULL;
}

static void
cancel_wakes_a_waiter(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct gpuplan_completion c;
	pthread_t thread;

	(void)state;
	assert_int_equal(gpuplan_slot_cancel(slot), -EALREADY); /* nothing submitted */
	ct_submit(slot, w.queue);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, slot), 0);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_CANCELLED);
	/* Without an eventfd it is seen when the job ends. */
	if (w.info.has_eventfd)
		assert_false(gpuplan_slot_poll(slot));
	pthread_join(thread, NULL);
	assert_int_equal(gpuplan_slot_cancel(slot), -EALREADY);
	gpuplan_slot_release(slot);
}

/* ---- reap ---- */

static void
reap_takes_all_in_order(void **state)
{
	struct gpuplan_completion c[32];
	struct gpuplan_slot *slots[30];
	unsigned n = 0;

	(void)state;
	assert_int_equal(gpuplan_queue_reap(w.queue, c, 32, FAR), 0); /* nothing in flight */
	for (unsigned i = 0; i < 30; i++) {
		slots[i] = ct_acquire(shorts);
		gpuplan_slot_set_user_data(slots[i], 100 + i);
		ct_submit(slots[i], w.queue);
	}
	while (n < 30) {
		int r = gpuplan_queue_reap(w.queue, c + n, 7, FAR);

		assert_in_range(r, 1, 7);
		for (int i = 0; i < r; i++, n++) {
			assert_ptr_equal(c[n].slot, slots[n]);
			assert_int_equal(c[n].user_data, 100 + n);
			assert_int_equal(c[n].status, GPUPLAN_DONE);
			ct_check_output(slots[n]);
		}
	}
	assert_int_equal(gpuplan_queue_reap(w.queue, c, 32, FAR), 0);
	for (unsigned i = 0; i < 30; i++)
		gpuplan_slot_release(slots[i]);
}

static void
reap_sleeps_until_done_or_deadline(void **state)
{
	struct gpuplan_slot *slots[3];
	struct gpuplan_completion c;
	uint64_t start;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		slots[i] = ct_acquire(i ? longs : very_longs);
		ct_submit(slots[i], w.queue);
	}
	start = gpuplan_now();
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, 0), 0);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, dt_after_ms(2)), 0);
	assert_true(gpuplan_now() - start >= 2 * CT_MS);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
		assert_ptr_equal(c.slot, slots[i]);
		assert_int_equal(c.status, GPUPLAN_DONE);
	}
	for (unsigned i = 0; i < 3; i++)
		gpuplan_slot_release(slots[i]);
}

static void
reap_skips_what_others_finish(void **state)
{
	struct gpuplan_slot *slots[4];
	struct gpuplan_completion c;
	struct io_uring ring;
	struct ct_cqe cqe;

	(void)state;
	assert_true(ct_ring(&ring, 8, &ct_modes[0]));
	for (unsigned i = 0; i < 4; i++) {
		slots[i] = ct_acquire(i ? longs : very_longs);
		ct_submit(slots[i], w.queue);
	}
	/* 0 by CQE, 1 by wait, 2 by cancel and reap, 3 by reap. */
	assert_int_equal(gpuplan_slot_arm(slots[0], &ring, 5, FAR), 0);
	assert_true(io_uring_submit(&ring) >= 1);
	assert_int_equal(gpuplan_slot_cancel(slots[2]), 0);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
	assert_ptr_equal(c.slot, slots[2]);
	assert_int_equal(c.status, GPUPLAN_CANCELLED);
	assert_int_equal(gpuplan_slot_wait(slots[1], FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
	assert_ptr_equal(c.slot, slots[3]);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 0);
	cqe = ct_cqe(&ring);
	assert_int_equal(cqe.user_data, 5);
	assert_int_equal(finish(slots[0], cqe.res).status, GPUPLAN_DONE);
	for (unsigned i = 0; i < 4; i++)
		gpuplan_slot_release(slots[i]);
	io_uring_queue_exit(&ring);
}

static void *
reap_one(void *arg)
{
	struct gpuplan_completion *c = arg;

	assert_int_equal(gpuplan_queue_reap(w.queue, c, 1, FAR), 1);
	return NULL;
}

/* The library's ring belongs to one thread; the queue may change hands. */
static void
reap_from_one_thread_after_another(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct gpuplan_completion c;
		pthread_t thread;

		ct_submit(slot, w.queue);
		if (i % 2) {
			assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, dt_after_ms(1)), 0);
			assert_int_equal(pthread_create(&thread, NULL, reap_one, &c), 0);
			pthread_join(thread, NULL);
		} else {
			reap_one(&c);
		}
		assert_ptr_equal(c.slot, slot);
		assert_int_equal(c.status, GPUPLAN_DONE);
	}
	gpuplan_slot_release(slot);
}

/* ---- queue ---- */

static void
queue_depth_is_a_limit(void **state)
{
	struct gpuplan_queue *queue = ct_queue(w.context, 2, GPUPLAN_VERIFY_DOUBT);
	struct gpuplan_slot *slots[3];
	struct gpuplan_completion c;
	int r;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		slots[i] = ct_acquire(i ? longs : very_longs);
	ct_submit(slots[0], queue);
	ct_submit(slots[1], queue);
	assert_int_equal(gpuplan_slot_submit(slots[2], queue), -EBUSY);
	/* A run that was given up still takes its place on the GPU ... */
	assert_int_equal(gpuplan_slot_cancel(slots[0]), 0);
	assert_int_equal(gpuplan_slot_wait(slots[0], FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_CANCELLED);
	assert_int_equal(gpuplan_slot_submit(slots[2], queue), -EBUSY);
	/* ... until the GPU is done with it. */
	while ((r = gpuplan_slot_submit(slots[2], queue)) == -EBUSY)
		usleep(500);
	assert_int_equal(r, 0);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(gpuplan_slot_wait(slots[i], FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		gpuplan_slot_release(slots[i]);
	}
	gpuplan_slot_release(slots[0]);
	gpuplan_queue_destroy(queue);
}

static void
queue_params_are_checked(void **state)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;

	(void)state;
	params.depth = 31;
	dt_refused(gpuplan_queue_create(w.context, &params, &queue, &error), EINVAL, &error, "31", "30");
	params.depth = 0;
	params.verify = 2;
	dt_refused(gpuplan_queue_create(w.context, &params, &queue, &error), EINVAL, &error, "2");
	params.verify = 0;
	params.flags = 1;
	dt_refused(gpuplan_queue_create(w.context, &params, &queue, &error), EINVAL, &error, "0x1");
}

static void
queue_destroyed_while_its_slots_run(void **state)
{
	struct gpuplan_queue *queue = ct_queue(w.context, 0, GPUPLAN_VERIFY_ALWAYS);
	struct gpuplan_slot *waited = ct_acquire(longs), *left = ct_acquire(longs);
	struct gpuplan_completion c;

	(void)state;
	ct_submit(waited, queue);
	ct_submit(left, queue);
	gpuplan_queue_destroy(queue);
	assert_int_equal(gpuplan_slot_wait(waited, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	ct_run(waited, w.queue);
	gpuplan_slot_release(waited);
	gpuplan_slot_release(left);
}

/* ---- soak ---- */

struct soak {
	struct gpuplan_slot *slots[SOAK_SLOTS];
	uint64_t wanted[SOAK_SLOTS]; /* user_data of the CQE to come, 0: none */
	uint64_t submissions, completions;
	uint64_t n[5];		/* by status */
	uint32_t random;
};

static uint32_t
soak_random(struct soak *s)
{
	s->random = s->random * 1664525u + 1013904223u;
	return s->random >> 16;
}

static void
soak_count(struct soak *s, const struct gpuplan_completion *c, unsigned i)
{
	assert_ptr_equal(c->slot, s->slots[i]);
	assert_in_range(c->status, 0, 4);
	if (c->status == GPUPLAN_DONE)
		ct_check_output(s->slots[i]);
	s->n[c->status]++;
	s->completions++;
}

static void
soak_release(struct soak *s, unsigned i)
{
	gpuplan_slot_release(s->slots[i]);
	s->slots[i] = NULL;
}

/* One more run of slot i, its end to be learned by CQE. False: the GPU is not done with it yet. */
static bool
soak_start(struct soak *s, struct io_uring *ring, unsigned i)
{
	uint32_t how = soak_random(s) % 16;
	uint64_t deadline = FAR;
	int r = s->slots[i] ? 0 : gpuplan_plan_acquire(shorts, &s->slots[i]);

	if (!r)
		r = gpuplan_slot_submit(s->slots[i], w.queue);
	if (r) {
		assert_int_equal(r, -EBUSY);
		return false;
	}
	s->wanted[i] = ++s->submissions << 8 | i;
	if (how == 0)
		deadline = gpuplan_now() + soak_random(s) % 60 * CT_US + 1;
	else if (how == 1 && w.info.has_eventfd)
		deadline = 0;
	else if (how == 2)
		wait_until_polled(s->slots[i]);
	while ((r = gpuplan_slot_arm(s->slots[i], ring, s->wanted[i], deadline)) == -EAGAIN)
		io_uring_submit(ring);
	assert_int_equal(r, 0);
	assert_true(io_uring_submit(ring) >= 0);
	/* Refused on path 2 once armed. */
	if (how == 3)
		gpuplan_slot_cancel(s->slots[i]);
	return true;
}

static void
soak_take(struct soak *s, struct io_uring *ring)
{
	struct ct_cqe cqe = ct_cqe(ring);
	struct gpuplan_completion c;
	unsigned i = cqe.user_data & 0xff;

	assert_in_range(i, 0, SOAK_SLOTS - 1);
	assert_int_equal(cqe.user_data, s->wanted[i]);
	s->wanted[i] = 0;
	assert_int_equal(gpuplan_slot_finish(s->slots[i], cqe.res, &c), 0);
	soak_count(s, &c, i);
	if (soak_random(s) % 4 == 0)
		soak_release(s, i);
}

static bool
soak_waits(const struct soak *s)
{
	for (unsigned i = 0; i < SOAK_SLOTS; i++)
		if (s->wanted[i])
			return true;
	return false;
}

static void
soak_mode(struct soak *s, const struct ct_mode *mode, uint64_t runs)
{
	uint64_t end = s->submissions + runs;
	struct io_uring ring;

	if (!ct_ring(&ring, 32, mode))
		return;
	while (s->submissions < end || soak_waits(s)) {
		for (unsigned i = 0; i < SOAK_SLOTS; i++)
			if (!s->wanted[i] && s->submissions < end)
				soak_start(s, &ring, i);
		if (soak_waits(s))
			soak_take(s, &ring);
	}
	ct_no_cqe(&ring, 2);
	io_uring_queue_exit(&ring);
}

static void
soak_one_cqe_per_submission(void **state)
{
	struct soak s = { .random = 1 };

	(void)state;
	for (unsigned i = 0; i < CT_MODES; i++)
		soak_mode(&s, &ct_modes[i], SOAK_RUNS / CT_MODES);
	for (unsigned i = 0; i < SOAK_SLOTS; i++)
		gpuplan_slot_release(s.slots[i]);
	assert_int_equal(s.completions, s.submissions);
	assert_int_equal(s.n[GPUPLAN_DONE] + s.n[GPUPLAN_DEADLINE] + s.n[GPUPLAN_CANCELLED], s.completions);
	print_message("%llu submissions: %llu done, %llu late, %llu cancelled\n", (unsigned long long)s.submissions,
		      (unsigned long long)s.n[GPUPLAN_DONE], (unsigned long long)s.n[GPUPLAN_DEADLINE],
		      (unsigned long long)s.n[GPUPLAN_CANCELLED]);
}

/* ---- jobs that go wrong; each in a child, for it takes the device along ---- */

static bool
went_wrong(const struct gpuplan_completion *c)
{
	return (c->status == GPUPLAN_FAILED || c->status == GPUPLAN_LOST) && c->reason < 0;
}

/* A good job in front, long enough for all to be submitted, is not blamed; the bad one comes by CQE, one behind it by
 * wait, one by reap; then the queue is dead, recovers and works. */
static void
bad_job_ends_its_queue(void **state)
{
	struct gpuplan_plan *bad = ct_bad(&w, 1);
	struct gpuplan_slot *front = ct_acquire(longs);
	struct gpuplan_slot *slots[3] = { ct_acquire(bad), ct_acquire(shorts), ct_acquire(shorts) };
	struct gpuplan_completion c;
	struct gpuplan_error error;
	struct io_uring ring;
	struct ct_cqe cqe;

	(void)state;
	assert_true(ct_ring(&ring, 8, &ct_modes[0]));
	ct_submit(front, w.queue);
	for (unsigned i = 0; i < 3; i++)
		ct_submit(slots[i], w.queue);
	assert_int_equal(gpuplan_slot_arm(slots[0], &ring, 1, FAR), 0);
	assert_true(io_uring_submit(&ring) >= 1);
	cqe = ct_cqe(&ring);
	assert_int_equal(gpuplan_slot_finish(slots[0], cqe.res, &c), 0);
	print_message("bad job: status %d, %s\n", c.status, strerror(-c.reason));
	assert_true(went_wrong(&c));
	dt_refused(gpuplan_queue_recover(w.queue, &error), EBUSY, &error, "3", "0");

	/* In doubt now, and asked about. */
	assert_int_equal(gpuplan_slot_wait(front, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	ct_check_output(front);
	/* What was behind it on the ring ends too, well or not; exactly once. */
	assert_int_equal(gpuplan_slot_wait(slots[1], FAR, &c), 0);
	assert_true(c.status == GPUPLAN_DONE || went_wrong(&c));
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
	assert_ptr_equal(c.slot, slots[2]);
	assert_true(c.status == GPUPLAN_DONE || went_wrong(&c));

	assert_int_equal(gpuplan_slot_submit(slots[1], w.queue), -ECANCELED);
	assert_int_equal(gpuplan_slot_submit(slots[1], w.queue), -ECANCELED);
	dt_ok(gpuplan_queue_recover(w.queue, &error), &error);
	for (unsigned i = 0; i < 3; i++)
		ct_run(slots[1], w.queue);
	gpuplan_slot_release(front);
	for (unsigned i = 0; i < 3; i++)
		gpuplan_slot_release(slots[i]);
	gpuplan_plan_destroy(bad);
	io_uring_queue_exit(&ring);
}

/* Learned by wait and by reap as well. */
static void
bad_job_by_wait_and_reap(void **state)
{
	struct gpuplan_plan *bad = ct_bad(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(bad);
	struct gpuplan_completion c;
	struct gpuplan_error error;

	(void)state;
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_true(went_wrong(&c));
	dt_ok(gpuplan_queue_recover(w.queue, &error), &error);
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
	assert_ptr_equal(c.slot, slot);
	assert_true(went_wrong(&c));
	dt_ok(gpuplan_queue_recover(w.queue, &error), &error);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(bad);
}

/* Nobody asked about it: the dead entity tells at the next submit. */
static void
abandoned_bad_job_is_found_by_submit(void **state)
{
	struct gpuplan_plan *bad = ct_bad(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(bad), *good = ct_acquire(shorts);
	struct gpuplan_error error;
	uint64_t limit = FAR;
	int r;

	(void)state;
	ct_submit(slot, w.queue);
	gpuplan_slot_release(slot);
	slot = ct_acquire(bad);
	gpuplan_slot_release(slot);
	assert_int_equal(gpuplan_slot_submit(good, w.queue), -ECANCELED);
	while ((r = gpuplan_queue_recover(w.queue, &error)) == -EBUSY && gpuplan_now() < limit)
		usleep(1000);
	dt_ok(r, &error);
	ct_run(good, w.queue);
	gpuplan_slot_release(good);
	gpuplan_plan_destroy(bad);
}

/* ---- in a child where one look at a fence fails ---- */

static void
finish_tells_errors_of_asking(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(very_longs);
	struct gpuplan_completion c;
	unsigned failed = 0;
	int r;

	(void)state;
	ct_submit(slot, w.queue);
	/* Whatever came of it, the next call is as good as the first. */
	for (unsigned i = 0; i < 40; i++) {
		r = gpuplan_slot_finish(slot, 0, &c);
		if (r == -ENOMEM)
			failed++;
		else
			assert_int_equal(r, -EAGAIN);
	}
	assert_int_equal(failed, 1);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	ct_check_output(slot);
	gpuplan_slot_release(slot);
}

/* ---- children ---- */

static void
on_path_2(void **state)
{
	(void)state;
	assert_int_equal(ct_self("all", "SOFTGPU_EVENTFD=0"), 0);
}

static void
when_asking_fails(void **state)
{
	(void)state;
	assert_int_equal(ct_self("asking", "SOFTGPU_FAIL=SYNC_FILE_INFO:20:ENOMEM"), 0);
}

static void
after_a_vm_fault(void **state)
{
	(void)state;
	assert_int_equal(ct_self("bad", "SOFTGPU_STRICT=1"), 0);
	assert_int_equal(ct_self("bad", "SOFTGPU_STRICT=1", "SOFTGPU_EVENTFD=0"), 0);
}

static void
after_a_hang(void **state)
{
	static const char *const recoveries[] = { "SOFTGPU_RECOVERY=full", "SOFTGPU_RECOVERY=soft",
						  "SOFTGPU_RECOVERY=ring" };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ct_self("bad", "SOFTGPU_STRICT=0", CT_HANG_TIMEOUT, recoveries[i]), 0);
	assert_int_equal(ct_self("bad", "SOFTGPU_STRICT=0", CT_HANG_TIMEOUT, "SOFTGPU_EVENTFD=0"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(polled),
		cmocka_unit_test(finish_before_the_end_says_again),
		cmocka_unit_test(waited),
		cmocka_unit_test(wait_ends_at_its_deadline),
		cmocka_unit_test(late_but_done_counts_as_done),
		cmocka_unit_test(by_cqe_in_every_ring_mode),
		cmocka_unit_test(arm_ends_at_its_deadline),
		cmocka_unit_test(arm_takes_no_sqe_when_too_few_are_free),
		cmocka_unit_test(arm_without_deadline_needs_eventfd),
		cmocka_unit_test(cancel_wakes_a_waiter),
		cmocka_unit_test(reap_takes_all_in_order),
		cmocka_unit_test(reap_sleeps_until_done_or_deadline),
		cmocka_unit_test(reap_skips_what_others_finish),
		cmocka_unit_test(reap_from_one_thread_after_another),
		cmocka_unit_test(queue_depth_is_a_limit),
		cmocka_unit_test(queue_params_are_checked),
		cmocka_unit_test(queue_destroyed_while_its_slots_run),
		cmocka_unit_test(soak_one_cqe_per_submission),
	};
	const struct CMUnitTest bad[] = {
		cmocka_unit_test(bad_job_ends_its_queue),
		cmocka_unit_test(bad_job_by_wait_and_reap),
		cmocka_unit_test(abandoned_bad_job_is_found_by_submit),
	};
	const struct CMUnitTest children[] = {
		cmocka_unit_test(on_path_2),
		cmocka_unit_test(when_asking_fails),
		cmocka_unit_test(after_a_vm_fault),
		cmocka_unit_test(after_a_hang),
	};
	const struct CMUnitTest asking[] = { cmocka_unit_test(finish_tells_errors_of_asking) };
	const char *group = argc > 1 ? argv[1] : "";
	int failed;

	if (!strcmp(group, "bad"))
		return cmocka_run_group_tests(bad, setup_child, teardown);
	if (!strcmp(group, "asking"))
		return cmocka_run_group_tests(asking, setup_child, teardown);
	if (!strcmp(group, "all"))
		return cmocka_run_group_tests_name("path2", all, setup, teardown);
	failed = cmocka_run_group_tests_name("path1", all, setup, teardown);
	/* A real GPU's kernel cannot be told to be another one. */
	if (getenv("LD_PRELOAD"))
		failed += cmocka_run_group_tests(children, NULL, NULL);
	return failed;
}
