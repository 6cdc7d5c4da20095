/* SPDX-License-Identifier: MIT */
/* Promise: acquire, submit and release behave as gpuplan.h says, from any state and any thread, and refuse at once. */
#include "device/completion_test.h"

#define FAR dt_after_ms(60000)

static struct ct_world w;

static int
setup(void **state)
{
	(void)state;
	ct_open(&w);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	ct_close(&w);
	return 0;
}

/* ---- acquire and release ---- */

static void
acquire_is_busy_when_all_are_taken(void **state)
{
	struct gpuplan_plan *plan = ct_short(&w, 3);
	struct gpuplan_slot *slots[3], *slot;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(gpuplan_plan_acquire(plan, &slots[i]), 0);
		assert_int_equal(gpuplan_slot_index(slots[i]), i);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(gpuplan_plan_acquire(plan, &slot), -EBUSY);
		gpuplan_slot_release(slots[i]);
		assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
		assert_ptr_equal(slot, slots[i]);
	}
	for (unsigned i = 0; i < 3; i++)
		gpuplan_slot_release(slots[i]);
	gpuplan_slot_release(NULL);
	gpuplan_plan_destroy(plan);
}

static void
slots_outlive_their_plan_and_definition(void **state)
{
	struct gpuplan_plan *plan = ct_short(&w, 2);
	struct gpuplan_slot *slot = ct_acquire(plan);
	struct gpuplan_memory before, after;

	(void)state;
	gpuplan_context_get_memory(w.context, &before);
	gpuplan_plan_destroy(plan);
	gpuplan_context_get_memory(w.context, &after);
	assert_int_equal(before.slots, after.slots);
	for (unsigned i = 0; i < 10; i++)
		ct_run(slot, w.queue);
	gpuplan_slot_release(slot);
	gpuplan_context_get_memory(w.context, &after);
	assert_int_equal(after.slots, 0);
}

static void
released_while_running_is_drained_first(void **state)
{
	struct gpuplan_plan *calibration = ct_long(&w, 1), *plan = ct_very_long(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(plan), *again;

	(void)state;
	gpuplan_plan_destroy(calibration);
	ct_submit(slot, w.queue);
	gpuplan_slot_release(slot);
	assert_int_equal(gpuplan_plan_acquire(plan, &again), -EBUSY);
	again = ct_acquire(plan);
	/* The abandoned run has written all of its output by now. */
	ct_check_output(again);
	ct_run(again, w.queue);
	/* And destroying waits for the last one. */
	ct_submit(again, w.queue);
	gpuplan_slot_release(again);
	gpuplan_plan_destroy(plan);
}

struct taker {
	struct gpuplan_plan *plan;
	struct gpuplan_queue *queue;
	_Atomic unsigned *holders;
	unsigned runs;
};

static void *
take_and_run(void *arg)
{
	struct taker *t = arg;

	while (t->runs < 300) {
		struct gpuplan_completion c;
		struct gpuplan_slot *slot;
		int r = gpuplan_plan_acquire(t->plan, &slot);

		if (r == -EBUSY) {
			sched_yield();
			continue;
		}
		assert_int_equal(r, 0);
		assert_in_range(++t->holders[gpuplan_slot_index(slot)], 1, 1);
		ct_submit(slot, t->queue);
		assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		ct_check_output(slot);
		t->holders[gpuplan_slot_index(slot)]--;
		gpuplan_slot_release(slot);
		t->runs++;
	}
	return NULL;
}

/* Four threads with a queue each on two slots: never two owners. */
static void
acquire_from_many_threads(void **state)
{
	struct gpuplan_plan *plan = ct_short(&w, 2);
	_Atomic unsigned holders[2] = { 0, 0 };
	struct taker takers[4];
	pthread_t threads[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		takers[i] = (struct taker){ plan, ct_queue(w.context, 0, GPUPLAN_VERIFY_DOUBT), holders, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_run, &takers[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(takers[i].runs, 300);
		gpuplan_queue_destroy(takers[i].queue);
	}
	gpuplan_plan_destroy(plan);
}

/* One thread submits, another waits and releases: the queue's and the slots' owners differ. */
struct handover {
	struct gpuplan_slot *slots[64];
	_Atomic unsigned head, tail;
};

#define HANDOVERS 1000u

static void *
wait_and_release(void *arg)
{
	struct handover *h = arg;

	while (h->tail < HANDOVERS) {
		struct gpuplan_completion c;
		struct gpuplan_slot *slot;

		if (h->tail == h->head) {
			sched_yield();
			continue;
		}
		slot = h->slots[h->tail % 64];
		assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		ct_check_output(slot);
		gpuplan_slot_release(slot);
		h->tail++;
	}
	return NULL;
}

static void
submit_here_finish_there(void **state)
{
	struct gpuplan_plan *plan = ct_short(&w, 8);
	struct handover h = { .head = 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_and_release, &h), 0);
	while (h.head < HANDOVERS) {
		struct gpuplan_slot *slot;

		if (gpuplan_plan_acquire(plan, &slot)) {
			sched_yield();
			continue;
		}
		ct_submit(slot, w.queue);
		h.slots[h.head % 64] = slot;
		h.head++;
	}
	pthread_join(thread, NULL);
	gpuplan_plan_destroy(plan);
}

/* ---- submit ---- */

static void
submit_refuses(void **state)
{
	struct gpuplan_plan *plan = ct_long(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(plan);
	struct gpuplan_context *other = dt_context();
	struct gpuplan_queue *foreign = ct_queue(other, 0, GPUPLAN_VERIFY_DOUBT);
	struct gpuplan_completion c;

	(void)state;
	assert_int_equal(gpuplan_slot_submit(slot, foreign), -EXDEV);
	ct_submit(slot, w.queue);
	assert_int_equal(gpuplan_slot_submit(slot, w.queue), -EBUSY);
	assert_int_equal(gpuplan_slot_submit(slot, foreign), -EXDEV);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	gpuplan_queue_destroy(foreign);
	gpuplan_context_destroy(other);
}

static void
submit_offline_has_no_device(void **state)
{
	struct ct_world offline = { .context = dt_offline("gfx1100") };
	struct gpuplan_session *session = dt_session(offline.context);
	struct gpuplan_queue *queue = ct_queue(offline.context, 0, GPUPLAN_VERIFY_DOUBT);
	struct gpuplan_completion c;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;

	(void)state;
	offline.out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, CT_BYTES, "out");
	offline.definition = dt_freeze(session);
	plan = ct_short(&offline, 2);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	assert_int_equal(gpuplan_slot_submit(slot, queue), -ENODEV);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), -EALREADY);
	assert_int_equal(gpuplan_queue_reap(queue, &c, 1, 0), 0);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	gpuplan_queue_destroy(queue);
	gpuplan_definition_destroy(offline.definition);
	dt_check_ledger_zero(offline.context);
	gpuplan_context_destroy(offline.context);
}

/* ---- state ---- */

/* Adds nothing: copies state to the output, so that the CPU sees it, then fills state. */
static struct gpuplan_plan *
state_plan(uint32_t value)
{
	struct gpuplan_command commands[] = { dt_copy(w.out, w.state), dt_fill(w.state, value) };
	struct gpuplan_plan_params params = dt_plan_params(2, commands, 2);
	struct gpuplan_io io = { .region = w.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { CT_BYTES / 4 } };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	params.outputs = &io;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(w.definition, &params, &plan, &error), &error);
	return plan;
}

static uint32_t
run_and_read(struct gpuplan_slot *slot)
{
	struct gpuplan_completion c;
	const uint32_t *out = gpuplan_slot_output(slot, 0, NULL);

	memset((void *)(uintptr_t)out, 0xaa, CT_BYTES);
	assert_int_equal(gpuplan_slot_submit(slot, w.queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	for (unsigned i = 1; i < CT_BYTES / 4; i++)
		assert_int_equal(out[i], out[0]);
	return out[0];
}

static void
state_is_zero_then_kept_until_reset(void **state)
{
	struct gpuplan_plan *plan = state_plan(77);
	struct gpuplan_slot *a = ct_acquire(plan), *b = ct_acquire(plan);

	(void)state;
	assert_int_equal(run_and_read(a), 0);
	assert_int_equal(run_and_read(a), 77);
	/* Private to each slot. */
	assert_int_equal(run_and_read(b), 0);
	gpuplan_slot_reset_state(a);
	assert_int_equal(run_and_read(a), 0);
	assert_int_equal(run_and_read(a), 77);
	/* Kept over release. */
	gpuplan_slot_release(a);
	a = ct_acquire(plan);
	assert_int_equal(run_and_read(a), 77);
	gpuplan_slot_release(a);
	gpuplan_slot_release(b);
	gpuplan_plan_destroy(plan);
}

/* In a child whose 25th CS fails: whichever run that hits, a reset that was asked for still happens. */
static void
refused_submit_keeps_slot_and_reset(void **state)
{
	struct gpuplan_plan *plan = state_plan(78);
	struct gpuplan_slot *slot = ct_acquire(plan), *second = ct_acquire(plan), *third;
	unsigned refused = 0;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		struct gpuplan_completion c;
		int r;

		gpuplan_slot_reset_state(slot);
		r = gpuplan_slot_submit(slot, w.queue);
		if (r) {
			assert_int_equal(r, -ENOMEM);
			assert_int_equal(gpuplan_plan_acquire(plan, &third), -EBUSY);
			assert_int_equal(gpuplan_slot_submit(slot, w.queue), 0);
			refused++;
		}
		assert_int_equal(gpuplan_slot_wait(slot, FAR, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		assert_int_equal(*(const uint32_t *)gpuplan_slot_output(slot, 0, NULL), 0);
	}
	assert_int_equal(refused, 1);
	gpuplan_slot_release(slot);
	gpuplan_slot_release(second);
	gpuplan_plan_destroy(plan);
}

static void
refused_in_a_child(void **state)
{
	(void)state;
	assert_int_equal(ct_self("refused", "SOFTGPU_FAIL=CS:25:ENOMEM"), 0);
}

/* libdrm repeats what a signal interrupts; nobody sees it. */
static void
interrupted_submit_is_repeated(void **state)
{
	struct gpuplan_plan *plan = ct_short(&w, 1);
	struct gpuplan_slot *slot = ct_acquire(plan);

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		ct_run(slot, w.queue);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

static void
interrupted_in_a_child(void **state)
{
	(void)state;
	assert_int_equal(ct_self("interrupted", "SOFTGPU_FAIL=CS:3:EINTR,CS:7:EAGAIN,CS:8:EINTR,CS:20:EAGAIN"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(acquire_is_busy_when_all_are_taken),
		cmocka_unit_test(slots_outlive_their_plan_and_definition),
		cmocka_unit_test(released_while_running_is_drained_first),
		cmocka_unit_test(acquire_from_many_threads),
		cmocka_unit_test(submit_here_finish_there),
		cmocka_unit_test(submit_refuses),
		cmocka_unit_test(submit_offline_has_no_device),
		cmocka_unit_test(state_is_zero_then_kept_until_reset),
	};
	const struct CMUnitTest refused[] = { cmocka_unit_test(refused_submit_keeps_slot_and_reset) };
	const struct CMUnitTest interrupted[] = { cmocka_unit_test(interrupted_submit_is_repeated) };
	const struct CMUnitTest children[] = {
		cmocka_unit_test(refused_in_a_child),
		cmocka_unit_test(interrupted_in_a_child),
	};
	int failed;

	if (argc > 1 && !strcmp(argv[1], "refused"))
		return cmocka_run_group_tests(refused, setup, teardown);
	if (argc > 1 && !strcmp(argv[1], "interrupted"))
		return cmocka_run_group_tests(interrupted, setup, teardown);
	failed = cmocka_run_group_tests(all, setup, teardown);
	/* A real GPU's kernel does not fail on demand. */
	if (getenv("LD_PRELOAD"))
		failed += cmocka_run_group_tests(children, NULL, NULL);
	return failed;
}
