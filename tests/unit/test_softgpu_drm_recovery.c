/* SPDX-License-Identifier: MIT */
/* What a bad job leads to on softgpu, each in a process with its own SOFTGPU_* variables.
 */
#include "softgpu_drm.h"

/* ---- recovery, each in a process of its own ---- */

static uint64_t
query2(struct gpu *g)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = g->ctx } };

	assert_int_equal(drm(g->fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.state.flags;
}

/* The status of one job and what the context says afterwards. */
static int
run_bad(struct gpu *g, unsigned dword)
{
	uint32_t b = syncobj(g->fd, 0);

	assert_int_equal(submit_out(g, dword, 0, b), 0);
	int f = sync_file(g->fd, b);
	assert_int_equal(syncobj_wait(g->fd, b, FOREVER, 0), 0); /* no error there */
	int status = sync_status(f, 1);
	close(f);
	return status;
}

static void
child_full(void)
{
	struct gpu g;
	uint64_t status;

	gpu_open(&g);
	assert_int_equal(run_bad(&g, IB_ILLEGAL), -ECANCELED);
	assert_int_equal(query2(&g), AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_GUILTY);
	assert_int_equal(submit(&g, IB_NOP, 1, 0, NULL, 0, NULL), -ECANCELED); /* every ring of a guilty context */
	assert_int_equal(wait_cs(&g, 0, 1, 0, &status), -ECANCELED);
	g.ctx = ctx_create(g.fd); /* one call mends it */
	assert_int_equal(query2(&g), 0);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(run_bad(&g, IB_GATE), -ECANCELED); /* a hang ends by the timeout */
	gpu_close(&g);
}

static void
child_soft(void)
{
	struct gpu g;
	uint64_t status;

	gpu_open(&g);
	assert_int_equal(run_bad(&g, IB_ILLEGAL), -ENODATA);
	assert_int_equal(query2(&g), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ENODATA); /* that entity is over */
	assert_int_equal(wait_cs(&g, 0, 1, 0, &status), -ENODATA);
	assert_int_equal(submit(&g, IB_NOP, 1, 0, NULL, 0, NULL), 0);
	gpu_close(&g);
}

static void
child_ring(void)
{
	struct gpu g, other;

	gpu_open(&g);
	gpu_open(&other);
	uint32_t victim = syncobj(other.fd, 0);
	assert_int_equal(submit_out(&other, IB_GATE, 0, victim), 0); /* another file's job on the same ring, and it hangs */
	int f = sync_file(other.fd, victim);
	assert_int_equal(run_bad(&g, IB_NOP), -ECANCELED);
	assert_int_equal(sync_status(f, 1), -ECANCELED);
	assert_int_equal(query2(&g), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	assert_int_equal(query2(&other), AMDGPU_CTX_QUERY2_FLAGS_RESET); /* nobody is guilty */
	close(f);
	gpu_close(&g);
	gpu_close(&other);
}

/* Text of a file of the device, by a path with its minor and the file's name. */
static void
read_text(struct gpu *g, const char *format, const char *name, char *text, size_t bytes)
{
	struct stat st;
	char path[128];

	assert_int_equal(fstat(g->fd, &st), 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), format, minor(st.st_rdev), name);
#pragma GCC diagnostic pop
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	ssize_t n = read(fd, text, bytes - 1);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
}

/* Reading debugfs's file resets: jobs end, nobody is guilty, and a new context works. */
static void
child_by_hand(void)
{
	struct gpu g;
	char text[32];

	gpu_open(&g);
	uint32_t b = syncobj(g.fd, 0);
	assert_int_equal(submit_out(&g, IB_GATE, 0, b), 0);
	int f = sync_file(g.fd, b);
	read_text(&g, "/sys/kernel/debug/dri/%u/%s", "amdgpu_gpu_recover", text, sizeof(text));
	assert_string_equal(text, "0\n");
	assert_int_equal(syncobj_wait(g.fd, b, FOREVER, 0), 0);
	assert_int_equal(sync_status(f, 1), -ECANCELED);
	assert_int_equal(query2(&g), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	g.ctx = ctx_create(g.fd);
	assert_int_equal(query2(&g), 0);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	close(f);
	gpu_close(&g);
}

/* A node's link to its device ends in the PCI address; beside it stands which resets there are. */
static void
device_link(void **state)
{
	struct gpu g;
	struct stat st;
	char path[64], link[128];
	unsigned d[4];

	(void)state;
	gpu_open(&g);
	assert_int_equal(fstat(g.fd, &st), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/226:%u/device", minor(st.st_rdev));
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	assert_true(n > 0);
	link[n] = '\0';
	assert_int_equal(sscanf(strrchr(link, '/'), "/%4x:%2x:%2x.%1x", &d[0], &d[1], &d[2], &d[3]), 4);
	read_text(&g, "/sys/dev/char/226:%u/device/%s", "gfx_reset_mask", path, sizeof(path));
	assert_string_equal(path, "full\n"); /* the default, SOFTGPU_RECOVERY=full */
	gpu_close(&g);
}

static void
child_lost(void)
{
	struct gpu g;
	uint32_t bo, lost = 0;

	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo), 0);
	uint32_t *m = gem_map(g.fd, bo, PAGE);
	m[0] = 99;
	uint32_t innocent = ctx_create(g.fd);
	assert_int_equal(run_bad(&g, IB_ILLEGAL), -ECANCELED);
	assert_int_not_equal(m[0], 99);
	assert_int_equal(query2(&g), 7);
	g.ctx = innocent; /* made before: over too */
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ECANCELED);
	assert_int_equal(query2(&g), AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST);
	struct drm_amdgpu_info info = { .return_pointer = (uintptr_t)&lost, .return_size = 4, .query = 0x1f };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_INFO, &info), 0);
	assert_int_equal(lost, 1);
	g.ctx = ctx_create(g.fd);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	gpu_close(&g);
}

/* amdgpu.gpu_recovery=0 */
static void
child_none(void)
{
	struct gpu g, other;
	uint64_t status;
	char text[8] = { 0 };

	FILE *f = fopen("/sys/module/amdgpu/parameters/gpu_recovery", "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	assert_string_equal(text, "0\n");
	fclose(f);
	gpu_open(&g);
	gpu_open(&other);
	uint32_t hung = syncobj(g.fd, 0), behind = syncobj(other.fd, 0);
	assert_int_equal(submit_out(&g, IB_GATE, 0, hung), 0);
	assert_int_equal(submit_out(&other, IB_NOP, 0, behind), 0);
	/* Marked after the timeout, and never signaled. */
	for (int i = 0; i < 500 && wait_cs(&g, 0, 1, 0, &status) != -ETIME; i++)
		usleep(10000);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ETIME);
	assert_int_equal(wait_cs(&g, 0, 1, 0, &status), -ETIME);
	int file = sync_file(g.fd, hung);
	assert_int_equal(sync_status(file, 1), 0);
	assert_int_equal(syncobj_wait(g.fd, hung, now() + 50000000, 0), -ETIME);
	assert_int_equal(query2(&g), 0); /* no reset */
	/* Nothing behind it on the ring runs; other rings do. */
	assert_int_equal(syncobj_wait(other.fd, behind, now() + 50000000, 0), -ETIME);
	assert_int_equal(submit(&other, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(submit(&g, IB_NOP, 1, 0, NULL, 0, NULL), 0);
	assert_int_equal(wait_cs(&g, 1, 1, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(status, 0);
	/* A close waits for it a second and no longer. */
	int64_t before = now();
	close(dup(g.fd));
	assert_true(now() - before > 900000000 && now() - before < 10000000000);
	close(file);
	_exit(0); /* other's third job is in the queue for ever, and close would be too */
}

static void
child_strict(void)
{
	struct gpu g;
	struct gpuplan_amdgpu_info_gpuvm_fault fault;

	gpu_open(&g);
	assert_int_equal(run_bad(&g, IB_FAULT), -ECANCELED);
	struct drm_amdgpu_info info = { .return_pointer = (uintptr_t)&fault, .return_size = sizeof(fault), .query = 0x23 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_INFO, &info), 0);
	assert_true(fault.addr == 0x7000dead0000);
	gpu_close(&g);
}

static void
child_kind(void)
{
	struct gpu g;

	gpu_open(&g);
	assert_int_equal(run_bad(&g, IB_FAULT), 1); /* as on hardware: recorded, and the job succeeds */
	gpu_close(&g);
}

static void
child_fail(void)
{
	struct gpu g;

	gpu_open(&g);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ENOMEM);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	uint32_t b = syncobj(g.fd, 0);
	assert_int_equal(submit_out(&g, IB_NOP, 0, b), 0);
	assert_int_equal(sync_file(g.fd, b), -EMFILE);
	assert_int_equal(eventfd_register(g.fd, b, 0, 1, 0), -EINVAL); /* SOFTGPU_EVENTFD=0 */
	gpu_close(&g);
}

/* User memory that is unmapped under a running job: recorded as a VM fault, and the next submission is refused. */
static void
child_unmapped(void)
{
	struct gpu g;
	struct gpuplan_amdgpu_info_gpuvm_fault fault;
	const uint64_t va = VA + 0x200000;

	gpu_open(&g);
	void *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_amdgpu_gem_userptr user = { (uintptr_t)memory, 2 * PAGE, 14, 0 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_USERPTR, &user), 0);
	assert_int_equal(va_op(g.fd, AMDGPU_VA_OP_MAP, user.handle, va, 0, 2 * PAGE), 0);
	/* After the gate: WRITE_DATA to the second page. */
	const uint64_t to = va + PAGE;
	const uint32_t write[] = { 0xc0033700, 0x00100500, (uint32_t)to, (uint32_t)(to >> 32), 7 };
	for (unsigned i = 0; i < COUNT(write); i++)
		g.mem[IB_GATE + 16 + i] = write[i];
	uint32_t entry[2] = { user.handle, 0 };
	struct drm_amdgpu_bo_list_in list = { 0, 0, 1, 8, (uintptr_t)entry };
	uint64_t seq, status;
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_BO_HANDLES, &list, sizeof(list), &seq), 0);
	usleep(20000);
	assert_int_equal(munmap(memory, 2 * PAGE), 0);
	g.mem[0] = 1;
	assert_int_equal(wait_cs(&g, 0, seq, (uint64_t)FOREVER, &status), 0);
	struct drm_amdgpu_info info = { .return_pointer = (uintptr_t)&fault, .return_size = sizeof(fault), .query = 0x23 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_INFO, &info), 0);
	assert_true(fault.addr == to);
	assert_int_equal(submit(&g, IB_NOP, 0, AMDGPU_CHUNK_ID_BO_HANDLES, &list, sizeof(list), &seq), -EFAULT);
	gpu_close(&g);
}

static const struct child children[] = {
	{ "full", child_full, { "SOFTGPU_RECOVERY=full", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "soft", child_soft, { "SOFTGPU_RECOVERY=soft" } },
	{ "ring", child_ring, { "SOFTGPU_RECOVERY=ring", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "lost", child_lost, { "SOFTGPU_VRAM_LOST=1" } },
	{ "strict", child_strict, { "SOFTGPU_STRICT=1" } },
	{ "kind", child_kind, { "SOFTGPU_STRICT=0" } },
	/* Names alone are taken out: a launcher of its own, since the module's parameter is in its tree. */
	{ "none", child_none, { "SOFTGPU_TREE", "LD_PRELOAD", "SOFTGPU_GPU_RECOVERY=0", "SOFTGPU_LOCKUP_TIMEOUT_MS=100" } },
	{ "by_hand", child_by_hand, { "SOFTGPU_RECOVERY=ring", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "unmapped", child_unmapped, { NULL } },
	{ "fail", child_fail, { "SOFTGPU_FAIL=CS:2:ENOMEM,SYNCOBJ_HANDLE_TO_FD:1:24", "SOFTGPU_EVENTFD=0" } },
};

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD("recovery_full", 0), CHILD("recovery_soft", 1), CHILD("recovery_ring", 2),
		CHILD("recovery_vram_lost", 3), CHILD("recovery_strict_fault", 4),
		CHILD("recovery_kind_fault", 5), CHILD("recovery_none", 6), CHILD("recovery_by_hand", 7),
		CHILD("unmapped_user_memory", 8), CHILD("recovery_failing_calls", 9), cmocka_unit_test(device_link),
	};
	int status = begin(argc, argv, children, COUNT(children));

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
