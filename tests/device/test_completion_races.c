/* SPDX-License-Identifier: MIT */
/* One test per row of the race table in docs/completion.md that can be provoked from outside, named after it. Each
 * runs in every ring mode, on both completion paths: path 2 by starting this program again with SOFTGPU_EVENTFD=0. */
#include "device/completion_test.h"

#include <sys/resource.h>

static struct ct_world w;
static struct gpuplan_plan *shorts, *longs;

#define FAR dt_after_ms(60000)

static int
setup(void **state)
{
	(void)state;
	ct_open(&w);
	shorts = ct_short(&w, 16);
	longs = ct_long(&w, 2);
	return 0;
}

/* Without finding out how long jobs take: for children with a device that is slow or fails on purpose. */
static int
setup_child(void **state)
{
	(void)state;
	ct_open(&w);
	w.long_copies = 64;
	shorts = ct_short(&w, 16);
	longs = ct_plan(&w, 2, w.long_copies);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	gpuplan_plan_destroy(shorts);
	gpuplan_plan_destroy(longs);
	ct_close(&w);
	return 0;
}

/* For each ring mode: a fresh ring, the test, and a check that nothing is left over. */
static void
in_every_mode(void (*test)(struct io_uring *ring, const struct ct_mode *mode))
{
	for (unsigned i = 0; i < CT_MODES; i++) {
		struct io_uring ring;

		if (!ct_ring(&ring, 64, &ct_modes[i]))
			continue;
		test(&ring, &ct_modes[i]);
		ct_no_cqe(&ring, 2);
		io_uring_queue_exit(&ring);
	}
}

/* Exactly this slot's CQE, judged. The job has ended when it comes, unless it was forced or late. */
static struct gpuplan_completion
take(struct io_uring *ring, struct gpuplan_slot *slot, uint64_t user_data)
{
	struct gpuplan_completion c;
	struct ct_cqe cqe = ct_cqe(ring);

	assert_int_equal(cqe.user_data, user_data);
	assert_int_equal(gpuplan_slot_finish(slot, cqe.res, &c), 0);
	assert_ptr_equal(c.slot, slot);
	return c;
}

static void
take_done(struct io_uring *ring, struct gpuplan_slot *slot, uint64_t user_data)
{
	struct gpuplan_completion c = take(ring, slot, user_data);

	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_true(gpuplan_slot_poll(slot));
	ct_check_output(slot);
}

static void
arm(struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data)
{
	assert_int_equal(gpuplan_slot_arm(slot, ring, user_data, FAR), 0);
}

static void
arm_submit(struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data)
{
	arm(slot, ring, user_data);
	assert_true(io_uring_submit(ring) >= 1);
}

/* A whole run of a slot, and no event of an earlier one may end it early. */
static void
run_armed(struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data)
{
	ct_submit(slot, w.queue);
	arm_submit(slot, ring, user_data);
	take_done(ring, slot, user_data);
}

static void
spin_us(unsigned us)
{
	uint64_t end = gpuplan_now() + us * CT_US;

	while (gpuplan_now() < end)
		;
}

/* ---- 1 to 6: between submit, look, registration and request ---- */

static void
ends_around_eventfd(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(shorts);

	(void)mode;
	for (unsigned i = 0; i < 300; i++) {
		ct_submit(slot, w.queue);
		spin_us(i % 60);
		arm_submit(slot, ring, i);
		take_done(ring, slot, i);
	}
	gpuplan_slot_release(slot);
}

static void
race_01_job_ends_between_cs_and_eventfd(void **state)
{
	(void)state;
	in_every_mode(ends_around_eventfd);
}

static void
ends_before_read(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);

	(void)mode;
	ct_submit(slot, w.queue);
	arm(slot, ring, 2);
	while (!gpuplan_slot_poll(slot))
		usleep(100);
	usleep(2000);
	assert_true(io_uring_submit(ring) >= 1);
	take_done(ring, slot, 2);
	gpuplan_slot_release(slot);
}

static void
race_02_job_ends_between_eventfd_and_read(void **state)
{
	(void)state;
	in_every_mode(ends_before_read);
}

/* The window between the look at the word and the ioctl is too small to aim at: many small jobs, no pause. */
static void
ends_after_look(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slots[16];

	(void)mode;
	for (unsigned i = 0; i < 16; i++)
		slots[i] = ct_acquire(shorts);
	for (unsigned round = 0; round < 30; round++) {
		bool seen[16] = { false };

		for (unsigned i = 0; i < 16; i++)
			ct_submit(slots[i], w.queue);
		for (unsigned i = 0; i < 16; i++)
			arm_submit(slots[i], ring, i);
		for (unsigned i = 0; i < 16; i++) {
			struct ct_cqe cqe = ct_cqe(ring);
			struct gpuplan_completion c;

			assert_in_range(cqe.user_data, 0, 15);
			assert_false(seen[cqe.user_data]);
			seen[cqe.user_data] = true;
			assert_int_equal(gpuplan_slot_finish(slots[cqe.user_data], cqe.res, &c), 0);
			assert_int_equal(c.status, GPUPLAN_DONE);
			ct_check_output(slots[cqe.user_data]);
		}
	}
	for (unsigned i = 0; i < 16; i++)
		gpuplan_slot_release(slots[i]);
}

static void
race_03_job_ends_between_look_and_eventfd(void **state)
{
	(void)state;
	in_every_mode(ends_after_look);
}

static void
stale_fence(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);

	(void)mode;
	ct_run(slot, w.queue);
	run_armed(slot, ring, 4);
	gpuplan_slot_release(slot);
}

static void
race_04_fence_of_the_last_run_is_still_there(void **state)
{
	(void)state;
	in_every_mode(stale_fence);
}

/* In a child one of whose submits fails. */
static void
race_05_cs_refused(void **state)
{
	struct gpuplan_completion c;
	struct gpuplan_slot *slot;
	struct io_uring ring;
	unsigned refused = 0;

	(void)state;
	assert_true(ct_ring(&ring, 8, &ct_modes[0]));
	slot = ct_acquire(shorts);
	for (unsigned i = 0; i < 40; i++) {
		int r = gpuplan_slot_submit(slot, w.queue);

		if (r) {
			assert_int_equal(r, -ENOMEM);
			refused++;
			/* Acquired, not submitted, nothing armed or registered. */
			assert_int_equal(gpuplan_slot_arm(slot, &ring, 5, FAR), -EINVAL);
			assert_int_equal(gpuplan_slot_finish(slot, 8, &c), -EALREADY);
			assert_int_equal(gpuplan_slot_cancel(slot), -EALREADY);
			assert_int_equal(io_uring_sq_ready(&ring), 0);
			ct_no_cqe(&ring, 2);
			continue;
		}
		arm_submit(slot, &ring, i);
		take_done(&ring, slot, i);
	}
	assert_int_equal(refused, 1);
	ct_no_cqe(&ring, 2);
	gpuplan_slot_release(slot);
	io_uring_queue_exit(&ring);
}

/* In a child one of whose registrations or exports fails. */
static void
race_06_registration_fails(void **state)
{
	int wanted = w.info.has_eventfd ? -ENOMEM : -EMFILE;
	struct gpuplan_slot *slot = ct_acquire(longs);
	struct io_uring ring;
	unsigned failed = 0;

	(void)state;
	assert_true(ct_ring(&ring, 8, &ct_modes[0]));
	for (unsigned i = 0; i < 200 && !failed; i++) {
		int r;

		ct_submit(slot, w.queue);
		r = gpuplan_slot_arm(slot, &ring, i, FAR);
		if (r) {
			assert_int_equal(r, wanted);
			assert_int_equal(io_uring_sq_ready(&ring), 0);
			arm(slot, &ring, i);
			failed++;
		}
		assert_true(io_uring_submit(&ring) >= 1);
		take_done(&ring, slot, i);
	}
	assert_int_equal(failed, 1);
	run_armed(slot, &ring, 1000);
	ct_no_cqe(&ring, 2);
	gpuplan_slot_release(slot);
	io_uring_queue_exit(&ring);
}

/* No descriptor to be had. */
static void
eventfd_fails(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);
	struct rlimit old, none;
	int fd = dup(0), r;

	(void)mode;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = (rlim_t)fd;
	ct_submit(slot, w.queue);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = gpuplan_slot_arm(slot, ring, 6, FAR);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	/* A kernel's registration needs no descriptor; an export does. */
	if (r) {
		assert_true(r == -EMFILE || r == -ENOMEM);
		assert_int_equal(io_uring_sq_ready(ring), 0);
		arm(slot, ring, 6);
	} else {
		assert_true(w.info.has_eventfd || gpuplan_slot_poll(slot));
	}
	assert_true(io_uring_submit(ring) >= 1);
	take_done(ring, slot, 6);
	gpuplan_slot_release(slot);
}

static void
race_06_eventfd_or_export_fails(void **state)
{
	(void)state;
	in_every_mode(eventfd_fails);
}

/* ---- 7: deadline against completion ---- */

static void
deadline_race(struct io_uring *ring, const struct ct_mode *mode)
{
	unsigned done = 0, late = 0;

	(void)mode;
	for (unsigned i = 0; i < 200; i++) {
		struct gpuplan_slot *slot = ct_acquire(shorts);
		struct gpuplan_completion c;

		ct_submit(slot, w.queue);
		assert_int_equal(gpuplan_slot_arm(slot, ring, i, gpuplan_now() + (i % 50) * 2 * CT_US + 1), 0);
		assert_true(io_uring_submit(ring) >= 1);
		c = take(ring, slot, i);
		assert_true(c.status == GPUPLAN_DONE || c.status == GPUPLAN_DEADLINE);
		if (c.status == GPUPLAN_DONE) {
			ct_check_output(slot);
			done++;
		} else {
			late++;
		}
		gpuplan_slot_release(slot);
	}
	assert_int_equal(done + late, 200);
}

static void
race_07_deadline_against_completion(void **state)
{
	(void)state;
	in_every_mode(deadline_race);
}

/* ---- 8, 14: abandoned and forced runs ---- */

/* Whichever way a run ended early, its event must not end the next one. */
static void
next_run_is_whole(struct io_uring *ring, struct gpuplan_slot *slot)
{
	gpuplan_slot_release(slot);
	slot = ct_acquire(longs);
	run_armed(slot, ring, 88);
	gpuplan_slot_release(slot);
}

static unsigned n_late;

static void
late_event(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);
	struct gpuplan_completion c;
	struct ct_cqe cqe;

	(void)mode;
	/* Past its deadline. */
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_arm(slot, ring, 8, dt_after_ms(1)), 0);
	assert_true(io_uring_submit(ring) >= 1);
	c = take(ring, slot, 8);
	/* On a busy machine the job may have ended by now. */
	assert_true(c.status == GPUPLAN_DEADLINE || c.status == GPUPLAN_DONE);
	n_late += c.status == GPUPLAN_DEADLINE;
	next_run_is_whole(ring, slot);

	/* Abandoned while armed: the CQE comes, nobody may finish it. */
	slot = ct_acquire(longs);
	ct_submit(slot, w.queue);
	arm_submit(slot, ring, 9);
	gpuplan_slot_release(slot);
	cqe = ct_cqe(ring);
	assert_int_equal(cqe.user_data, 9);

	slot = ct_acquire(longs);
	run_armed(slot, ring, 10);

	/* Cancelled. */
	ct_submit(slot, w.queue);
	if (w.info.has_eventfd)
		arm_submit(slot, ring, 11);
	assert_int_equal(gpuplan_slot_cancel(slot), 0);
	if (!w.info.has_eventfd)
		arm_submit(slot, ring, 11);
	c = take(ring, slot, 11);
	assert_int_equal(c.status, GPUPLAN_CANCELLED);
	next_run_is_whole(ring, slot);
}

static void
race_08_late_event_of_an_abandoned_run(void **state)
{
	(void)state;
	in_every_mode(late_event);
	assert_true(n_late > 0);
}

/* ---- 9, 10: cancel against everything ---- */

struct canceller {
	struct gpuplan_slot *slot;
	_Atomic bool quit;
	unsigned cancelled;
};

static void *
cancel_all(void *arg)
{
	struct canceller *c = arg;
	unsigned n = 0;

	while (!c->quit) {
		if (gpuplan_slot_cancel(c->slot) == 0)
			c->cancelled++;
		spin_us(n++ % 40);
	}
	return NULL;
}

/* A run is CANCELLED exactly as often as cancel says it has done so. */
static void
cancel_against(struct io_uring *ring, bool armed)
{
	struct gpuplan_slot *slot = ct_acquire(shorts);
	struct canceller canceller = { .slot = slot };
	unsigned cancelled = 0, done = 0, runs = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, cancel_all, &canceller), 0);
	while (runs < 300) {
		struct gpuplan_completion c;
		int r = gpuplan_slot_submit(slot, w.queue);

		if (r == -EBUSY) /* the canceller is inside, or the GPU still busy with a cancelled run */
			continue;
		assert_int_equal(r, 0);
		if (armed) {
			arm_submit(slot, ring, runs);
			c = take(ring, slot, runs);
		} else {
			while ((r = gpuplan_slot_finish(slot, 0, &c)) == -EAGAIN)
				;
			assert_int_equal(r, 0);
		}
		assert_true(c.status == GPUPLAN_DONE || c.status == GPUPLAN_CANCELLED);
		if (c.status == GPUPLAN_DONE) {
			assert_true(gpuplan_slot_poll(slot));
			done++;
		} else {
			cancelled++;
		}
		runs++;
	}
	canceller.quit = true;
	pthread_join(thread, NULL);
	assert_int_equal(done + cancelled, runs);
	assert_int_equal(cancelled, canceller.cancelled);
	gpuplan_slot_release(slot);
}

static void
cancel_armed(struct io_uring *ring, const struct ct_mode *mode)
{
	(void)mode;
	cancel_against(ring, true);
}

static void
race_09_cancel_hits_the_next_run(void **state)
{
	(void)state;
	in_every_mode(cancel_armed);
}

static void
race_10_cancel_against_finish(void **state)
{
	(void)state;
	cancel_against(NULL, false);
}

static void
forced_before(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);
	struct gpuplan_completion c;

	(void)mode;
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_cancel(slot), 0);
	assert_int_equal(gpuplan_slot_cancel(slot), -EALREADY);
	arm_submit(slot, ring, 11);
	c = take(ring, slot, 11);
	assert_int_equal(c.status, GPUPLAN_CANCELLED);
	next_run_is_whole(ring, slot);

	/* Between arm and the ring's submit: the READ finds the counter. */
	slot = ct_acquire(longs);
	ct_submit(slot, w.queue);
	arm(slot, ring, 12);
	if (w.info.has_eventfd) {
		assert_int_equal(gpuplan_slot_cancel(slot), 0);
		assert_true(io_uring_submit(ring) >= 1);
		c = take(ring, slot, 12);
		assert_int_equal(c.status, GPUPLAN_CANCELLED);
	} else {
		assert_int_equal(gpuplan_slot_cancel(slot), -ENOTSUP);
		assert_true(io_uring_submit(ring) >= 1);
		take_done(ring, slot, 12);
	}
	next_run_is_whole(ring, slot);
}

static void
race_11_forced_before_arm(void **state)
{
	(void)state;
	in_every_mode(forced_before);
}

/* ---- 12, 15, 17: the request goes away under us ---- */

static void
cancel_request(struct io_uring *ring, uint64_t user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_cancel64(sqe, user_data, 0);
	sqe->user_data = 1000;
	assert_true(io_uring_submit(ring) >= 1);
}

/* True: finish said again. False: on a busy machine the job ended before the cancel. */
static bool
request_cancelled_once(struct io_uring *ring, struct gpuplan_slot *slot)
{
	bool again = false;

	ct_submit(slot, w.queue);
	arm_submit(slot, ring, 12);
	cancel_request(ring, 12);
	/* The answer to the cancel and the CQE of the request, in any order. */
	for (unsigned i = 0; i < 2; i++) {
		struct ct_cqe cqe = ct_cqe(ring);
		struct gpuplan_completion c;
		int r;

		if (cqe.user_data == 1000)
			continue;
		assert_int_equal(cqe.user_data, 12);
		r = gpuplan_slot_finish(slot, cqe.res, &c);
		again = r == -EAGAIN && c.reason < 0;
		assert_true(again || (!r && c.status == GPUPLAN_DONE));
	}
	if (again) {
		arm_submit(slot, ring, 13);
		take_done(ring, slot, 13);
	}
	return again;
}

static void
request_cancelled(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);
	unsigned tries = 0;

	(void)mode;
	while (!request_cancelled_once(ring, slot))
		assert_true(++tries < 20);
	run_armed(slot, ring, 14);
	gpuplan_slot_release(slot);
}

static void
race_12_armed_twice(void **state)
{
	(void)state;
	in_every_mode(request_cancelled);
}

struct armer {
	struct gpuplan_slot *slot;
	struct io_uring *ring;
};

static void *
arm_and_exit(void *arg)
{
	struct armer *a = arg;

	arm_submit(a->slot, a->ring, 15);
	return NULL;
}

/* On path 2 the close behind the poll may fail with its thread (docs/completion.md). */
static void
drop_failed_close(struct io_uring *ring)
{
	struct __kernel_timespec ts = { .tv_nsec = 100000000 };
	struct io_uring_cqe *cqe;

	if (w.info.has_eventfd || io_uring_wait_cqe_timeout(ring, &cqe, &ts))
		return;
	assert_int_equal(cqe->user_data, UINT64_MAX);
	io_uring_cqe_seen(ring, cqe);
}

static void
thread_exits(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_slot *slot = ct_acquire(longs);
	struct armer armer = { slot, ring };
	struct gpuplan_completion c;
	struct ct_cqe cqe;
	pthread_t thread;
	int r;

	/* Another thread cannot use such a ring at all. */
	if (mode->flags & IORING_SETUP_SINGLE_ISSUER) {
		gpuplan_slot_release(slot);
		return;
	}
	ct_submit(slot, w.queue);
	assert_int_equal(pthread_create(&thread, NULL, arm_and_exit, &armer), 0);
	pthread_join(thread, NULL);
	cqe = ct_cqe(ring);
	assert_int_equal(cqe.user_data, 15);
	r = gpuplan_slot_finish(slot, cqe.res, &c);
	/* The kernel may keep the request until the event: then its CQE is cancelled and the job done. Or the job was
	 * faster than the thread. */
	if (r) {
		assert_int_equal(r, -EAGAIN);
		assert_int_equal(c.reason, -ECANCELED);
		drop_failed_close(ring);
		arm_submit(slot, ring, 16);
		take_done(ring, slot, 16);
	} else {
		drop_failed_close(ring);
		assert_int_equal(c.status, GPUPLAN_DONE);
		ct_check_output(slot);
	}
	run_armed(slot, ring, 17);
	gpuplan_slot_release(slot);
}

static void
race_15_thread_that_armed_it_exits(void **state)
{
	(void)state;
	in_every_mode(thread_exits);
}

static void
race_17_ring_closed_while_armed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CT_MODES; i++) {
		struct gpuplan_slot *slot = ct_acquire(longs);
		struct gpuplan_completion c;
		struct io_uring ring;

		/* By wait. */
		if (!ct_ring(&ring, 8, &ct_modes[i]))
			continue;
		ct_submit(slot, w.queue);
		arm_submit(slot, &ring, 17);
		io_uring_queue_exit(&ring);
		assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		ct_check_output(slot);

		/* By another ring. */
		ct_submit(slot, w.queue);
		assert_true(ct_ring(&ring, 8, &ct_modes[i]));
		arm_submit(slot, &ring, 18);
		io_uring_queue_exit(&ring);
		assert_true(ct_ring(&ring, 8, &ct_modes[i]));
		arm_submit(slot, &ring, 19);
		take_done(&ring, slot, 19);
		run_armed(slot, &ring, 20);
		ct_no_cqe(&ring, 2);
		io_uring_queue_exit(&ring);
		gpuplan_slot_release(slot);
	}
}

/* ---- 13, 14: memory ---- */

static void
freed_while_armed(struct io_uring *ring, const struct ct_mode *mode)
{
	struct gpuplan_plan *plan = ct_plan(&w, 1, w.long_copies);
	struct gpuplan_slot *slot = ct_acquire(plan);
	struct ct_cqe cqe;

	(void)mode;
	ct_submit(slot, w.queue);
	arm_submit(slot, ring, 13);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	cqe = ct_cqe(ring);
	assert_int_equal(cqe.user_data, 13);
}

static void
race_13_slot_freed_while_armed(void **state)
{
	(void)state;
	in_every_mode(freed_while_armed);
}

static void
race_14_slot_reused_while_the_gpu_runs(void **state)
{
	struct gpuplan_plan *plan = ct_very_long(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(plan), *again;
	struct gpuplan_completion c;
	unsigned busy = 0;
	int r;

	(void)state;
	/* Given back while running. */
	ct_submit(slot, w.queue);
	gpuplan_slot_release(slot);
	while ((r = gpuplan_plan_acquire(plan, &again)) == -EBUSY) {
		busy++;
		usleep(500);
	}
	assert_int_equal(r, 0);
	assert_true(busy > 0);
	assert_ptr_equal(again, slot);
	ct_check_output(slot);

	/* Past its deadline, kept, submitted again. */
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_wait(slot, dt_after_ms(1), &c), 0);
	assert_int_equal(c.status, GPUPLAN_DEADLINE);
	assert_int_equal(gpuplan_slot_submit(slot, w.queue), -EBUSY);
	while ((r = gpuplan_slot_submit(slot, w.queue)) == -EBUSY)
		usleep(500);
	assert_int_equal(r, 0);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	ct_check_output(slot);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* ---- 16: the caller's CQ is too small ---- */

static void
race_16_cq_overflows(void **state)
{
	(void)state;
	for (unsigned m = 0; m < CT_MODES; m++) {
		struct io_uring_params params = { .flags = ct_modes[m].flags | IORING_SETUP_CQSIZE, .cq_entries = 4 };
		struct gpuplan_slot *slots[12];
		bool seen[12] = { false };
		struct io_uring ring;

		if (io_uring_queue_init_params(4, &ring, &params))
			continue;
		for (unsigned i = 0; i < 12; i++) {
			slots[i] = ct_acquire(shorts);
			ct_submit(slots[i], w.queue);
			while (gpuplan_slot_arm(slots[i], &ring, i, FAR) == -EAGAIN)
				io_uring_submit(&ring);
			io_uring_submit(&ring);
		}
		usleep(20000);
		for (unsigned i = 0; i < 12; i++) {
			struct ct_cqe cqe = ct_cqe(&ring);
			struct gpuplan_completion c;

			assert_in_range(cqe.user_data, 0, 11);
			assert_false(seen[cqe.user_data]);
			seen[cqe.user_data] = true;
			assert_int_equal(gpuplan_slot_finish(slots[cqe.user_data], cqe.res, &c), 0);
			assert_int_equal(c.status, GPUPLAN_DONE);
		}
		ct_no_cqe(&ring, 2);
		for (unsigned i = 0; i < 12; i++)
			gpuplan_slot_release(slots[i]);
		io_uring_queue_exit(&ring);
	}
}

/* ---- 18: the word is visible before the fence ---- */

static void
race_18_word_before_fence(void **state)
{
	struct gpuplan_queue *queue = ct_queue(w.context, 0, GPUPLAN_VERIFY_ALWAYS);
	struct gpuplan_slot *slot = ct_acquire(shorts);

	(void)state;
	/* Each is asked about at the moment its word appears. */
	for (unsigned i = 0; i < 300; i++) {
		struct gpuplan_completion c;

		ct_submit(slot, queue);
		while (!gpuplan_slot_poll(slot))
			;
		assert_int_equal(gpuplan_slot_finish(slot, 8, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
	}
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
}

/* In a child whose fences lag 20 ms behind the words: another queue's failure is a reset since our context was made, so
 * the fence is asked, and waited for. */
static void
race_18_word_long_before_fence(void **state)
{
	struct gpuplan_queue *queue = ct_queue(w.context, 0, GPUPLAN_VERIFY_ALWAYS);
	struct gpuplan_plan *bad = ct_bad(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(bad);
	struct gpuplan_completion c;
	uint64_t start;

	(void)state;
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_true(c.status == GPUPLAN_FAILED || c.status == GPUPLAN_LOST);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(bad);

	slot = ct_acquire(shorts);
	ct_submit(slot, queue);
	while (!gpuplan_slot_poll(slot))
		;
	start = gpuplan_now();
	assert_int_equal(gpuplan_slot_finish(slot, 8, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_true(gpuplan_now() - start > 5 * CT_MS);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
}

/* ---- 21: lost interrupt ---- */

/* In a child whose fences lag 900 ms behind the words, as if the interrupt were lost: sleepers look at memory. */
static void
race_21_lost_interrupt(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the runs take longer than the fences lag */
#endif
	struct gpuplan_slot *waited = ct_acquire(longs), *reaped = ct_acquire(longs), *first = ct_acquire(shorts);
	struct gpuplan_completion c;
	uint64_t start;

	/* Until nothing of the setup is on the ring. */
	ct_run(first, w.queue);
	gpuplan_slot_release(first);
	usleep(950000);
	start = gpuplan_now();
	ct_submit(waited, w.queue);
	assert_int_equal(gpuplan_slot_wait(waited, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_true(gpuplan_now() - start < 800 * CT_MS);
	ct_check_output(waited);

	/* Starts when the first one's fence has signalled. */
	ct_submit(reaped, w.queue);
	assert_int_equal(gpuplan_queue_reap(w.queue, &c, 1, FAR), 1);
	assert_ptr_equal(c.slot, reaped);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_true(gpuplan_now() - start < 1700 * CT_MS);
	ct_check_output(reaped);
	gpuplan_slot_release(waited);
	gpuplan_slot_release(reaped);
}

/* ---- 20: fork ---- */

static void
race_20_fork(void **state)
{
	struct gpuplan_slot *slot = ct_acquire(longs), *other;
	struct gpuplan_completion c;
	struct io_uring ring;
	int status;
	pid_t pid;

	(void)state;
	assert_true(ct_ring(&ring, 8, &ct_modes[0]));
	ct_submit(slot, w.queue);
	arm(slot, &ring, 20);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int bad = 0;

		bad |= gpuplan_slot_submit(slot, w.queue) != -ECHILD;
		bad |= (gpuplan_slot_arm(slot, &ring, 21, FAR) != -ECHILD) << 1;
		bad |= (gpuplan_slot_wait(slot, FAR, &c) != -ECHILD) << 2;
		bad |= (gpuplan_slot_cancel(slot) != -ECHILD) << 3;
		bad |= (gpuplan_plan_acquire(shorts, &other) != -ECHILD) << 4;
		bad |= (gpuplan_queue_reap(w.queue, &c, 1, 0) != -ECHILD) << 5;
		bad |= (gpuplan_queue_recover(w.queue, NULL) != -ECHILD) << 6;
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(io_uring_submit(&ring) >= 1);
	take_done(&ring, slot, 20);
	ct_no_cqe(&ring, 2);
	gpuplan_slot_release(slot);
	io_uring_queue_exit(&ring);
}

/* ---- 22: a ring that cannot ---- */

static void
race_22_iopoll_ring(void **state)
{
	struct io_uring_params params = { .flags = IORING_SETUP_IOPOLL };
	struct gpuplan_plan *plan = ct_very_long(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(plan);
	struct gpuplan_completion c;
	struct ct_cqe cqe;
	struct io_uring ring;

	(void)state;
	if (io_uring_queue_init_params(8, &ring, &params)) {
		gpuplan_slot_release(slot);
		gpuplan_plan_destroy(plan);
		skip();
	}
	ct_submit(slot, w.queue);
	arm_submit(slot, &ring, 22);
	do
		cqe = ct_cqe(&ring);
	while (cqe.user_data != 22);
	assert_int_equal(gpuplan_slot_finish(slot, cqe.res, &c), -EAGAIN);
	assert_true(c.reason < 0);
	io_uring_queue_exit(&ring);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* ---- all of it again without SYNCOBJ_EVENTFD, and with a CS that fails ---- */

static void
path_2(void **state)
{
	(void)state;
	assert_int_equal(ct_self("path2", "SOFTGPU_EVENTFD=0"), 0);
}

static void
refused_calls(void **state)
{
	(void)state;
	assert_int_equal(ct_self("refused", "SOFTGPU_FAIL=CS:30:ENOMEM,SYNCOBJ_EVENTFD:60:ENOMEM"), 0);
	assert_int_equal(ct_self("refused", "SOFTGPU_EVENTFD=0",
				 "SOFTGPU_FAIL=CS:30:ENOMEM,SYNCOBJ_HANDLE_TO_FD:60:EMFILE"),
			 0);
}

static void
late_fences(void **state)
{
	(void)state;
	assert_int_equal(ct_self("late", "SOFTGPU_STRICT=1", "SOFTGPU_FENCE_DELAY_US=20000"), 0);
	assert_int_equal(ct_self("lost", "SOFTGPU_FENCE_DELAY_US=900000"), 0);
	assert_int_equal(ct_self("lost", "SOFTGPU_FENCE_DELAY_US=900000", "SOFTGPU_EVENTFD=0"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest races[] = {
		cmocka_unit_test(race_01_job_ends_between_cs_and_eventfd),
		cmocka_unit_test(race_02_job_ends_between_eventfd_and_read),
		cmocka_unit_test(race_03_job_ends_between_look_and_eventfd),
		cmocka_unit_test(race_04_fence_of_the_last_run_is_still_there),
		cmocka_unit_test(race_06_eventfd_or_export_fails),
		cmocka_unit_test(race_07_deadline_against_completion),
		cmocka_unit_test(race_08_late_event_of_an_abandoned_run),
		cmocka_unit_test(race_09_cancel_hits_the_next_run),
		cmocka_unit_test(race_10_cancel_against_finish),
		cmocka_unit_test(race_11_forced_before_arm),
		cmocka_unit_test(race_12_armed_twice),
		cmocka_unit_test(race_13_slot_freed_while_armed),
		cmocka_unit_test(race_14_slot_reused_while_the_gpu_runs),
		cmocka_unit_test(race_15_thread_that_armed_it_exits),
		cmocka_unit_test(race_16_cq_overflows),
		cmocka_unit_test(race_17_ring_closed_while_armed),
		cmocka_unit_test(race_18_word_before_fence),
		cmocka_unit_test(race_20_fork),
		cmocka_unit_test(race_22_iopoll_ring),
	};
	const struct CMUnitTest refused[] = {
		cmocka_unit_test(race_05_cs_refused),
		cmocka_unit_test(race_06_registration_fails),
	};
	const struct CMUnitTest late[] = { cmocka_unit_test(race_18_word_long_before_fence) };
	const struct CMUnitTest lost[] = { cmocka_unit_test(race_21_lost_interrupt) };
	const struct CMUnitTest children[] = {
		cmocka_unit_test(path_2),
		cmocka_unit_test(refused_calls),
		cmocka_unit_test(late_fences),
	};
	const char *group = argc > 1 ? argv[1] : "";
	int failed;

	if (!strcmp(group, "refused"))
		return cmocka_run_group_tests(refused, setup_child, teardown);
	if (!strcmp(group, "late"))
		return cmocka_run_group_tests(late, setup_child, teardown);
	if (!strcmp(group, "lost"))
		return cmocka_run_group_tests(lost, setup_child, teardown);
	if (!strcmp(group, "path2"))
		return cmocka_run_group_tests_name("path2", races, setup, teardown);
	failed = cmocka_run_group_tests_name("path1", races, setup, teardown);
	/* A real GPU's kernel cannot be told to be another one. */
	if (getenv("LD_PRELOAD"))
		failed += cmocka_run_group_tests(children, NULL, NULL);
	return failed;
}
