/* SPDX-License-Identifier: MIT */
/* completion_test.h: what the completion tests share: rings in every mode, short and long jobs. */
#ifndef COMPLETION_TEST_H
#define COMPLETION_TEST_H

#include <liburing.h>
#include <pthread.h>
#include <time.h>

#include "device/device_test.h"

#define CT_BYTES 4096u
#define CT_VALUE 0x600dcafeu
#define CT_US 1000ull
#define CT_MS 1000000ull
/* Jobs that are to end well take several times as long under ThreadSanitizer. */
#ifdef __SANITIZE_THREAD__
#define CT_HANG_TIMEOUT "SOFTGPU_LOCKUP_TIMEOUT_MS=10000"
#else
#define CT_HANG_TIMEOUT "SOFTGPU_LOCKUP_TIMEOUT_MS=300"
#endif

/* ---- rings ---- */

static const struct ct_mode {
	const char *name;
	unsigned flags;
} ct_modes[] = {
	{ "default", 0 },
	{ "COOP_TASKRUN", IORING_SETUP_COOP_TASKRUN },
	{ "SINGLE_ISSUER|DEFER_TASKRUN", IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN },
	{ "SQPOLL", IORING_SETUP_SQPOLL },
};
#define CT_MODES (sizeof(ct_modes) / sizeof(ct_modes[0]))

/* False: this kernel has no such mode. */
DT_UNUSED bool
ct_ring(struct io_uring *ring, unsigned entries, const struct ct_mode *mode)
{
	struct io_uring_params params = { .flags = mode->flags, .sq_thread_idle = 100 };
	int r = io_uring_queue_init_params(entries, ring, &params);

	if (r)
		print_message("no %s ring: %s\n", mode->name, strerror(-r));
	return !r;
}

struct ct_cqe {
	uint64_t user_data;
	int res;
};

/* One CQE within a minute, or the test fails. */
DT_UNUSED struct ct_cqe
ct_cqe(struct io_uring *ring)
{
	struct __kernel_timespec ts = { .tv_sec = 60 };
	struct io_uring_cqe *cqe;
	struct ct_cqe copy;
	int r = io_uring_wait_cqe_timeout(ring, &cqe, &ts);

	if (r)
		print_error("no CQE: %s\n", strerror(-r));
	assert_int_equal(r, 0);
	copy = (struct ct_cqe){ cqe->user_data, cqe->res };
	io_uring_cqe_seen(ring, cqe);
	return copy;
}

/* No CQE within ms. */
DT_UNUSED void
ct_no_cqe(struct io_uring *ring, unsigned ms)
{
	struct __kernel_timespec ts = { .tv_nsec = (long long)(ms * CT_MS) };
	struct io_uring_cqe *cqe = NULL;
	int r = io_uring_wait_cqe_timeout(ring, &cqe, &ts);

	if (!r)
		print_error("unexpected CQE: user_data %llu, res %d\n", (unsigned long long)cqe->user_data, cqe->res);
	assert_int_equal(r, -ETIME);
}

/* ---- a device with jobs for it ---- */

struct ct_world {
	struct gpuplan_context *context;
	struct gpuplan_context_info info;
	struct gpuplan_definition *definition;
	struct gpuplan_queue *queue;
	struct gpuplan_region out, state, a, b; /* out, state: host; a, b: device */
	struct gpuplan_region input;
	struct gpuplan_kernel linear;
	unsigned long_copies;	/* commands of a long job */
};

DT_UNUSED struct gpuplan_queue *
ct_queue(struct gpuplan_context *context, uint32_t depth, uint32_t verify)
{
	struct gpuplan_queue_params params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct gpuplan_queue *queue;
	struct gpuplan_error error;

	params.depth = depth;
	params.verify = verify;
	dt_ok(gpuplan_queue_create(context, &params, &queue, &error), &error);
	return queue;
}

/* A plan of n copies between device buffers, then a fill of the output. */
DT_UNUSED struct gpuplan_plan *
ct_plan(struct ct_world *w, uint32_t capacity, unsigned n_copies)
{
	struct gpuplan_command *commands = calloc(n_copies + 1, sizeof(*commands));
	struct gpuplan_plan_params params = dt_plan_params(capacity, commands, n_copies + 1);
	struct gpuplan_io io = { .region = w->out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { CT_BYTES / 4 } };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	for (unsigned i = 0; i < n_copies; i++)
		commands[i] = i % 2 ? dt_copy(w->a, w->b) : dt_copy(w->b, w->a);
	commands[n_copies] = dt_fill(w->out, CT_VALUE);
	params.outputs = &io;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(w->definition, &params, &plan, &error), &error);
	free(commands);
	return plan;
}

DT_UNUSED struct gpuplan_plan *
ct_short(struct ct_world *w, uint32_t capacity)
{
	return ct_plan(w, capacity, 0);
}

DT_UNUSED struct gpuplan_slot *
ct_acquire(struct gpuplan_plan *plan)
{
	struct gpuplan_slot *slot;
	uint64_t limit = DT_SOON;
	int r;

	/* A slot that drains is busy until the GPU is done. */
	while ((r = gpuplan_plan_acquire(plan, &slot)) == -EBUSY && gpuplan_now() < limit)
		usleep(100);
	assert_int_equal(r, 0);
	return slot;
}

/* Clears the output first, so that a run that never happened shows. Waits while the GPU is busy with runs that were
 * given up. */
DT_UNUSED void
ct_submit(struct gpuplan_slot *slot, struct gpuplan_queue *queue)
{
	uint64_t limit = DT_SOON;
	int r;

	memset((void *)(uintptr_t)gpuplan_slot_output(slot, 0, NULL), 0, CT_BYTES);
	while ((r = gpuplan_slot_submit(slot, queue)) == -EBUSY && gpuplan_now() < limit)
		usleep(100);
	assert_int_equal(r, 0);
}

DT_UNUSED void
ct_check_output(struct gpuplan_slot *slot)
{
	const uint32_t *out = gpuplan_slot_output(slot, 0, NULL);

	for (unsigned i = 0; i < CT_BYTES / 4; i++)
		assert_int_equal(out[i], CT_VALUE);
}

DT_UNUSED void
ct_run(struct gpuplan_slot *slot, struct gpuplan_queue *queue)
{
	struct gpuplan_completion c;

	ct_submit(slot, queue);
	assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &c), 0);
	assert_int_equal(c.status, GPUPLAN_DONE);
	assert_ptr_equal(c.slot, slot);
	ct_check_output(slot);
}

#define CT_LONG_NS (20 * CT_MS)
#define CT_MAX_COPIES 30000u /* an IB has 0xfffff dwords at most */

/* A job of about 20 ms: as many copies as that takes here. */
DT_UNUSED struct gpuplan_plan *
ct_long(struct ct_world *w, uint32_t capacity)
{
	if (!w->long_copies)
		w->long_copies = 16;
	for (;;) {
		struct gpuplan_plan *plan = ct_plan(w, capacity, w->long_copies);
		struct gpuplan_slot *slot = ct_acquire(plan);
		uint64_t took = UINT64_MAX;

		/* The fastest of a few: the first run of fresh memory is slower, and others may use the machine now and
		 * be gone when it counts. */
		for (unsigned i = 0; i < 5; i++) {
			uint64_t start = gpuplan_now(), ns;

			ct_run(slot, w->queue);
			ns = gpuplan_now() - start;
			took = ns < took ? ns : took;
		}
		gpuplan_slot_release(slot);
		if (took >= CT_LONG_NS * 3 / 4 || w->long_copies == CT_MAX_COPIES / 2)
			return plan;
		gpuplan_plan_destroy(plan);
		/* Small counts measure more than the copies: at most eightfold at once. */
		w->long_copies = (unsigned)(took * 8 < CT_LONG_NS ? w->long_copies * 8
								  : w->long_copies * CT_LONG_NS / took + 1);
		if (w->long_copies > CT_MAX_COPIES / 2)
			w->long_copies = CT_MAX_COPIES / 2;
	}
}

/* Still running when the test comes to it, however busy the machine: sixteen times as long, or what fits into one
 * stream. After ct_long. */
DT_UNUSED struct gpuplan_plan *
ct_very_long(struct ct_world *w, uint32_t capacity)
{
	unsigned n = w->long_copies * 16;

	return ct_plan(w, capacity, n < CT_MAX_COPIES ? n : CT_MAX_COPIES);
}

DT_UNUSED void
ct_open(struct ct_world *w)
{
	struct gpuplan_session *session;

	memset(w, 0, sizeof(*w));
	w->context = dt_context();
	gpuplan_context_get_info(w->context, &w->info);
	session = dt_session(w->context);
	w->out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, CT_BYTES, "out");
	w->state = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_HOST, CT_BYTES, "state");
	w->input = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, CT_BYTES, "input");
	w->a = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1 << 16, "a");
	w->b = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1 << 16, "b");
	w->linear = dt_kernel(w->context, session, "linear", "linear");
	w->definition = dt_freeze(session);
	w->queue = ct_queue(w->context, 0, GPUPLAN_VERIFY_DOUBT);
}

DT_UNUSED void
ct_close(struct ct_world *w)
{
	gpuplan_queue_destroy(w->queue);
	gpuplan_definition_destroy(w->definition);
	dt_check_ledger_zero(w->context);
	gpuplan_context_destroy(w->context);
}

/* A dispatch that reads far beyond its regions: a VM fault that ends the context in softgpu's strict mode, an endless
 * loop for its watchdog otherwise. */
DT_UNUSED struct gpuplan_plan *
ct_bad(struct ct_world *w, uint32_t capacity)
{
	struct gpuplan_binding bindings[] = {
		{ .region = w->input, .access = GPUPLAN_READ },
		{ .region = w->a, .access = GPUPLAN_READ },
		{ .region = w->b, .access = GPUPLAN_READ },
		{ .region = w->out, .access = GPUPLAN_WRITE },
	};
	struct gpuplan_arg args[] = {
		gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_binding(2),
		gpuplan_arg_binding(3), gpuplan_arg_i32(1),	gpuplan_arg_i32(0x7fffff00),
	};
	struct gpuplan_command command = { .kind = GPUPLAN_DISPATCH };
	struct gpuplan_plan_params params = dt_plan_params(capacity, &command, 1);
	struct gpuplan_io io = { .region = w->out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { CT_BYTES / 4 } };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = w->linear,
		.groups = { 1, 1, 1 },
		.block = { 128, 1, 1 },
		.n_bindings = 4,
		.bindings = bindings,
		.n_args = 6,
		.args = args,
	};
	params.outputs = &io;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(w->definition, &params, &plan, &error), &error);
	return plan;
}

/* ---- this program again ---- */

/* Runs `/proc/self/exe argument` with "NAME=value" settings, NULL at the end. Returns its exit status. */
DT_UNUSED int
ct_run_self(const char *argument, const char *const *settings)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (; *settings; settings++)
			putenv((char *)(uintptr_t)*settings);
		execl("/proc/self/exe", "child", argument, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#define ct_self(argument, ...) ct_run_self((argument), (const char *const[]){ __VA_ARGS__, NULL })

#endif
