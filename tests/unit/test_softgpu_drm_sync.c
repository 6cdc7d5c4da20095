/* SPDX-License-Identifier: MIT */
/* Fences as programs see them on softgpu: timelines, eventfds, sync_files, user fences, dependencies and depth.
 */
#include "softgpu_drm.h"

/* ---- timelines ---- */

static void
timeline_points(void **state)
{
	struct gpu g;

	(void)state;
	gpu_open(&g);
	uint32_t t = syncobj(g.fd, 0);
	assert_int_equal(query(g.fd, t, 0), 0);
	timeline_signal(g.fd, t, 3);
	assert_int_equal(query(g.fd, t, 0), 3);
	assert_int_equal(timeline_wait(g.fd, t, 2, 0, 0), 0);
	assert_int_equal(timeline_wait(g.fd, t, 4, 0, 0), -EINVAL);
	assert_int_equal(timeline_wait(g.fd, t, 4, 0, 2), -ETIME);
	/* A job's point behind it: submitted, not signaled. */
	struct drm_amdgpu_cs_chunk_syncobj out = { t, 0, 7 };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &out, sizeof(out), NULL), 0);
	assert_int_equal(query(g.fd, t, 0), 3);
	assert_int_equal(query(g.fd, t, 1), 7);
	assert_int_equal(timeline_wait(g.fd, t, 3, 0, 0), 0);
	assert_int_equal(timeline_wait(g.fd, t, 5, 0, 0), -ETIME);
	assert_int_equal(timeline_wait(g.fd, t, 5, 0, 4), 0); /* AVAILABLE */
	/* Signaled by the CPU, but not before the job in front. */
	timeline_signal(g.fd, t, 9);
	assert_int_equal(timeline_wait(g.fd, t, 9, 0, 0), -ETIME);
	assert_int_equal(query(g.fd, t, 0), 3);
	g.mem[0] = 1;
	assert_int_equal(timeline_wait(g.fd, t, 9, FOREVER, 0), 0);
	assert_int_equal(query(g.fd, t, 0), 9);
	/* To binary and back. */
	uint32_t b = syncobj(g.fd, 0);
	struct drm_syncobj_transfer x = { t, b, 7, 0, 0, 0 }, y = { b, t, 0, 18, 0, 0 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &x), 0);
	assert_int_equal(syncobj_wait(g.fd, b, 0, 0), 0);
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &y), 0);
	assert_int_equal(query(g.fd, t, 0), 18);
	gpu_close(&g);
}

struct waiter {
	struct gpu *g;
	uint32_t handle;
	int result;
};

static void *
wait_for_submit(void *arg)
{
	struct waiter *w = arg;
	struct drm_amdgpu_cs_chunk_syncobj in = { w->handle, 2, 5 };

	w->result = submit(w->g, IB_NOP, 1, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, &in, sizeof(in), NULL);
	return NULL;
}

/* A CS blocks inside the call until another thread's CS brings the point: no lock may be held. */
static void
submit_waits_for_submit(void **state)
{
	struct gpu g;
	pthread_t thread;

	(void)state;
	gpu_open(&g);
	struct waiter w = { &g, syncobj(g.fd, 0), 1 };
	pthread_create(&thread, NULL, wait_for_submit, &w);
	usleep(20000);
	struct drm_amdgpu_cs_chunk_syncobj out = { w.handle, 0, 10 };
	assert_int_equal(submit(&g, IB_NOP, 0, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &out, sizeof(out), NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(w.result, 0);
	uint64_t status;
	assert_int_equal(wait_cs(&g, 1, ~0ull, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(status, 0);
	gpu_close(&g);
}

/* ---- eventfd ---- */

static void
eventfd_semantics(void **state)
{
	struct gpu g;
	uint64_t value;

	(void)state;
	gpu_open(&g);
	int e = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint32_t b = syncobj(g.fd, 1);
	/* Signaled already: fires inside the call, once per registration. */
	assert_int_equal(eventfd_register(g.fd, b, 0, e, 0), 0);
	assert_int_equal(eventfd_register(g.fd, b, 0, e, 0), 0);
	assert_int_equal(read(e, &value, 8), 8);
	assert_int_equal(value, 2);
	/* Wait before submit, kept over RESET; our copy of the eventfd may go. */
	assert_int_equal(reset(g.fd, b), 0);
	int copy = dup(e);
	assert_int_equal(eventfd_register(g.fd, b, 0, copy, 0), 0);
	close(copy);
	assert_int_equal(reset(g.fd, b), 0);
	assert_false(readable(e, 0));
	assert_int_equal(submit_out(&g, IB_GATE, 0, b), 0);
	assert_false(readable(e, 20));
	g.mem[0] = 1;
	assert_true(readable(e, 5000));
	assert_int_equal(read(e, &value, 8), 8);
	assert_int_equal(value, 1);
	/* A timeline point ahead; AVAILABLE fires when it is submitted. */
	uint32_t t = syncobj(g.fd, 0);
	g.mem[0] = 0;
	assert_int_equal(eventfd_register(g.fd, t, 2, e, 4), 0);
	struct drm_amdgpu_cs_chunk_syncobj out = { t, 0, 2 };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &out, sizeof(out), NULL), 0);
	assert_true(readable(e, 0));
	assert_int_equal(read(e, &value, 8), 8);
	g.mem[0] = 1;
	assert_int_equal(timeline_wait(g.fd, t, 2, FOREVER, 0), 0);
	/* Destroyed before anything was submitted: silence. */
	uint32_t gone = syncobj(g.fd, 0);
	assert_int_equal(eventfd_register(g.fd, gone, 0, e, 0), 0);
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_DESTROY, &(struct drm_syncobj_destroy){ gone, 0 }), 0);
	assert_false(readable(e, 20));
	/* A full counter does not block the device. */
	value = UINT64_MAX - 1;
	assert_int_equal(write(e, &value, 8), 8);
	assert_int_equal(eventfd_register(g.fd, b, 0, e, 0), 0);
	close(e);
	gpu_close(&g);
}

/* ---- sync_file ---- */

static void
sync_file_semantics(void **state)
{
	struct gpu g;

	(void)state;
	gpu_open(&g);
	uint32_t b = syncobj(g.fd, 0), t = syncobj(g.fd, 0);
	assert_int_equal(submit_out(&g, IB_GATE, 0, b), 0);
	int f = sync_file(g.fd, b);
	assert_true(f >= 0);
	assert_int_equal(fcntl(f, F_GETFD), FD_CLOEXEC);
	assert_false(readable(f, 0));
	assert_int_equal(sync_status(f, 0), 0);
	assert_int_equal(sync_status(f, 1), 0);
	/* Of a timeline: everything submitted so far; too little room is refused. */
	timeline_signal(g.fd, t, 1);
	struct drm_amdgpu_cs_chunk_syncobj out = { t, 0, 2 };
	assert_int_equal(submit(&g, IB_GATE, 1, AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &out, sizeof(out), NULL), 0);
	int ft = sync_file(g.fd, t);
	struct sync_merge_data merge = { .name = "both", .fd2 = ft };
	assert_int_equal(drm(f, SYNC_IOC_MERGE, &merge), 0);
	struct sync_file_info info = { .num_fences = 1 };
	assert_int_equal(drm(merge.fence, SYNC_IOC_FILE_INFO, &info), -EINVAL);
	assert_int_equal(sync_status(merge.fence, 2), 0);
	merge.fd2 = 1;
	assert_int_equal(drm(f, SYNC_IOC_MERGE, &merge), -ENOENT);
	/* Imported into another object. */
	uint32_t i = syncobj(g.fd, 0);
	assert_int_equal(drm(g.fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, FD_OP(i, 1, f, 0)), 0);
	assert_int_equal(syncobj_wait(g.fd, i, 0, 0), -ETIME);
	g.mem[0] = 1;
	assert_true(readable(f, 5000) && readable(ft, 5000) && readable(merge.fence, 5000));
	assert_int_equal(sync_status(f, 0), 1);
	assert_int_equal(sync_status(merge.fence, 2), 1);
	assert_int_equal(syncobj_wait(g.fd, i, 0, 0), 0);
	/* Closed where no wrapper sees it, as io_uring does; the number is an ordinary file then. */
	int again = sync_file(g.fd, b);
	syscall(SYS_close, again);
	assert_int_equal(dup2(1, again), again);
	assert_int_equal(drm(again, SYNC_IOC_FILE_INFO, &info), -ENOTTY);
	close(again);
	close(f);
	close(ft);
	close(merge.fence);
	gpu_close(&g);
}

/* ---- jobs ---- */

static void
user_fence_and_order(void **state)
{
	struct gpu g;
	uint32_t page;
	uint64_t seq, status;

	(void)state;
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &page), 0);
	volatile uint64_t *word = gem_map(g.fd, page, PAGE);
	struct drm_amdgpu_cs_chunk_fence fence = { page, 64 };
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(submit(&g, i == 1 ? IB_GATE : IB_NOP, 2, AMDGPU_CHUNK_ID_FENCE, &fence, sizeof(fence), &seq), 0);
		assert_int_equal(seq, i);
	}
	assert_int_equal(wait_cs(&g, 2, 1, 0, &status), 0);
	assert_int_equal(status, 1); /* a timeout is success with status busy */
	assert_int_equal(word[8], 0);
	g.mem[0] = 1;
	assert_int_equal(wait_cs(&g, 2, 3, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(word[8], 3);
	munmap((void *)(uintptr_t)word, PAGE);
	gpu_close(&g);
}

/* A job on ring 1 waits for one on ring 0 by sequence number; a third ring is not held up. */
static void
dependencies(void **state)
{
	struct gpu g;
	uint64_t first, second, third, status;

	(void)state;
	gpu_open(&g);
	assert_int_equal(submit(&g, IB_GATE, 0, 0, NULL, 0, &first), 0);
	struct drm_amdgpu_cs_chunk_dep dep = { AMDGPU_HW_IP_COMPUTE, 0, 0, g.ctx, first };
	assert_int_equal(submit(&g, IB_NOP, 1, AMDGPU_CHUNK_ID_DEPENDENCIES, &dep, sizeof(dep), &second), 0);
	assert_int_equal(submit(&g, IB_NOP, 2, AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES, &dep, sizeof(dep), &third), 0);
	assert_int_equal(wait_cs(&g, 2, third, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(wait_cs(&g, 1, second, (uint64_t)now() + 20000000, &status), 0);
	assert_int_equal(status, 1);
	g.mem[0] = 1;
	assert_int_equal(wait_cs(&g, 1, second, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(status, 0);
	struct drm_amdgpu_fence fences[2] = { { g.ctx, 1, 0, 0, first }, { g.ctx, 1, 0, 1, second } };
	union drm_amdgpu_wait_fences w = { .in = { (uintptr_t)fences, 2, 1, (uint64_t)FOREVER } };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_WAIT_FENCES, &w), 0);
	assert_int_equal(w.out.status, 1);
	gpu_close(&g);
}

/* The 33rd outstanding job of an entity waits inside CS, and a signal ends that. */
static void
depth_32(void **state)
{
	struct gpu g;
	struct sigaction sa = { .sa_handler = on_alarm };
	uint64_t status;

	(void)state;
	gpu_open(&g);
	for (int i = 0; i < 32; i++)
		assert_int_equal(submit(&g, i ? IB_NOP : IB_GATE, 0, 0, NULL, 0, NULL), 0);
	sigaction(SIGALRM, &sa, NULL);
	ualarm(20000, 0);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -EINTR);
	ualarm(20000, 0);
	assert_int_equal(wait_cs(&g, 0, 1, (uint64_t)FOREVER, &status), -EINTR);
	g.mem[0] = 1;
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(wait_cs(&g, 0, 33, (uint64_t)FOREVER, &status), 0);
	gpu_close(&g);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timeline_points), cmocka_unit_test(submit_waits_for_submit),
		cmocka_unit_test(eventfd_semantics), cmocka_unit_test(sync_file_semantics),
		cmocka_unit_test(user_fence_and_order), cmocka_unit_test(dependencies),
		cmocka_unit_test(depth_32), cmocka_unit_test(nothing_left),
	};
	int status = begin(argc, argv, NULL, 0);

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
