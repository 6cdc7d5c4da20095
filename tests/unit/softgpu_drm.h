/* SPDX-License-Identifier: MIT */
/* softgpu_drm.h: what the tests of softgpu's kernel side share: calls without libdrm's loops, a device with a page of
 * commands, and the start of a program that runs itself under softgpu.
 *
 * Cases that need another configuration run the program again as a child with other SOFTGPU_* variables:
 * test_softgpu_drm_X --child NAME.
 */
#ifndef SOFTGPU_DRM_TEST_H
#define SOFTGPU_DRM_TEST_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <linux/sync_file.h>

#include <cmocka.h>

#include <amdgpu_drm.h>
#include <drm.h>

#include "amdgpu_newer.h"

#define HELPER static __attribute__((unused))
#define PAGE 4096u
#define FOREVER INT64_MAX
#define VA 0x100000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

HELPER char node[64], primary[64];
HELPER char self[PATH_MAX - 32]; /* this program */

/* ---- calls: 0 or -errno, once, without libdrm's loops ---- */

HELPER int
drm(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

HELPER int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

HELPER int
gem_create(int fd, uint64_t bytes, uint64_t domains, uint64_t flags, uint32_t *handle)
{
	union drm_amdgpu_gem_create c = { .in = { bytes, PAGE, domains, flags } };
	int r = drm(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &c);

	*handle = c.out.handle;
	return r;
}

HELPER int
gem_close(int fd, uint32_t handle)
{
	return drm(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = handle });
}

HELPER int
va_op(int fd, uint32_t op, uint32_t handle, uint64_t va, uint64_t offset, uint64_t bytes)
{
	struct drm_amdgpu_gem_va v = { handle, 0, op, 0xe, va, offset, bytes };

	return drm(fd, DRM_IOCTL_AMDGPU_GEM_VA, &v);
}

HELPER void *
gem_map(int fd, uint32_t handle, size_t bytes)
{
	union drm_amdgpu_gem_mmap m = { .in = { handle, 0 } };

	assert_int_equal(drm(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &m), 0);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m.out.addr_ptr);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

HELPER uint32_t
syncobj(int fd, uint32_t flags)
{
	struct drm_syncobj_create c = { .flags = flags };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_CREATE, &c), 0);
	return c.handle;
}

HELPER int
syncobj_wait(int fd, uint32_t handle, int64_t deadline, uint32_t flags)
{
	struct drm_syncobj_wait w = { (uintptr_t)&handle, deadline, 1, flags, 0, 0 };

	return drm(fd, DRM_IOCTL_SYNCOBJ_WAIT, &w);
}

HELPER int
timeline_wait(int fd, uint32_t handle, uint64_t point, int64_t deadline, uint32_t flags)
{
	struct drm_syncobj_timeline_wait w = { (uintptr_t)&handle, (uintptr_t)&point, deadline, 1, flags, 0, 0 };

	return drm(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
}

HELPER void
timeline_signal(int fd, uint32_t handle, uint64_t point)
{
	struct drm_syncobj_timeline_array a = { (uintptr_t)&handle, (uintptr_t)&point, 1, 0 };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &a), 0);
}

HELPER uint64_t
query(int fd, uint32_t handle, uint32_t flags)
{
	uint64_t point = ~0ull;
	struct drm_syncobj_timeline_array a = { (uintptr_t)&handle, (uintptr_t)&point, 1, flags };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_QUERY, &a), 0);
	return point;
}

HELPER int
reset(int fd, uint32_t handle)
{
	return drm(fd, DRM_IOCTL_SYNCOBJ_RESET, &(struct drm_syncobj_array){ (uintptr_t)&handle, 1, 0 });
}

HELPER int
eventfd_register(int fd, uint32_t handle, uint64_t point, int event, uint32_t flags)
{
	struct gpuplan_drm_syncobj_eventfd e = { handle, flags, point, event, 0 };

	return drm(fd, GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, &e);
}

HELPER bool
readable(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

HELPER int
sync_file(int fd, uint32_t handle)
{
	struct drm_syncobj_handle h = { handle, 1, -1, 0 };
	int r = drm(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h);

	return r ? r : h.fd;
}

HELPER int
sync_status(int file, uint32_t n)
{
	struct sync_fence_info fences[8];
	struct sync_file_info info = { .num_fences = n, .sync_fence_info = (uintptr_t)fences };

	assert_int_equal(drm(file, SYNC_IOC_FILE_INFO, &info), 0);
	return info.status;
}

/* ---- a device with one page of commands ---- */

struct gpu {
	int fd;
	uint32_t ctx, bo;
	volatile uint32_t *mem; /* 4 pages at VA; dword 0 is the gate */
};
enum { IB_NOP = 256, IB_GATE = 512, IB_ILLEGAL = 768, IB_FAULT = 896, WORD = 1024 }; /* dword offsets */

HELPER uint32_t
ctx_create(int fd)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_ALLOC_CTX } };

	assert_int_equal(drm(fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.alloc.ctx_id;
}

HELPER void
write_ibs(volatile uint32_t *m)
{
	/* WAIT_REG_MEM: memory, equal, until the gate is 1 */
	static const uint32_t gate[] = { 0xc0053c00, 0x13, (uint32_t)VA, (uint32_t)(VA >> 32), 1, 0xffffffff, 4 };
	/* WRITE_DATA of 1 to an address without mapping, confirmed */
	static const uint32_t fault[] = { 0xc0033700, 0x00100500, 0xdead0000, 0x7000, 1 };

	for (int i = 0; i < 64; i++)
		m[IB_NOP + i] = m[IB_GATE + i] = m[IB_ILLEGAL + i] = m[IB_FAULT + i] = 0xffff1000;
	for (unsigned i = 0; i < COUNT(gate); i++)
		m[IB_GATE + i] = gate[i];
	for (unsigned i = 0; i < COUNT(fault); i++)
		m[IB_FAULT + i] = fault[i];
	m[IB_ILLEGAL] = 0xc0000300; /* no such opcode */
}

HELPER void
gpu_open(struct gpu *g)
{
	g->fd = open(node, O_RDWR | O_CLOEXEC);
	assert_true(g->fd >= 0);
	g->ctx = ctx_create(g->fd);
	assert_int_equal(gem_create(g->fd, 4 * PAGE, AMDGPU_GEM_DOMAIN_GTT, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &g->bo), 0);
	assert_int_equal(va_op(g->fd, AMDGPU_VA_OP_MAP, g->bo, VA, 0, 4 * PAGE), 0);
	g->mem = gem_map(g->fd, g->bo, 4 * PAGE);
	for (int i = 0; i < 1280; i++)
		g->mem[i] = 0;
	write_ibs(g->mem);
}

HELPER void
gpu_close(struct gpu *g)
{
	g->mem[0] = 1;
	munmap((void *)(uintptr_t)g->mem, 4 * PAGE);
	close(g->fd);
}

#define MAX_CHUNKS 8
struct chunks {
	struct drm_amdgpu_cs_chunk list[MAX_CHUNKS];
	uint64_t at[MAX_CHUNKS];
	uint32_t n;
};

HELPER void
add_chunk(struct chunks *c, uint32_t id, const void *data, size_t bytes)
{
	c->list[c->n] = (struct drm_amdgpu_cs_chunk){ id, (uint32_t)(bytes / 4), (uintptr_t)data };
	c->at[c->n] = (uintptr_t)&c->list[c->n];
	c->n++;
}

HELPER int
submit_chunks(struct gpu *g, struct chunks *c, uint64_t *seq)
{
	union drm_amdgpu_cs cs = { .in = { .ctx_id = g->ctx, .num_chunks = c->n, .chunks = (uintptr_t)c->at } };
	int r = drm(g->fd, DRM_IOCTL_AMDGPU_CS, &cs);

	if (seq)
		*seq = cs.out.handle;
	return r;
}

HELPER struct drm_amdgpu_cs_chunk_ib
ib_at(unsigned dword, uint32_t ring)
{
	return (struct drm_amdgpu_cs_chunk_ib){
		.va_start = VA + dword * 4u, .ib_bytes = 256, .ip_type = AMDGPU_HW_IP_COMPUTE, .ring = ring,
	};
}

/* One IB and one more chunk (id 0: none). */
HELPER int
submit(struct gpu *g, unsigned dword, uint32_t ring, uint32_t id, const void *data, size_t bytes, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = ib_at(dword, ring);
	struct chunks c = { .n = 0 };

	add_chunk(&c, AMDGPU_CHUNK_ID_IB, &ib, sizeof(ib));
	if (id)
		add_chunk(&c, id, data, bytes);
	return submit_chunks(g, &c, seq);
}

HELPER int
submit_out(struct gpu *g, unsigned dword, uint32_t ring, uint32_t out)
{
	return submit(g, dword, ring, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &out, 4, NULL);
}

HELPER int
wait_cs(struct gpu *g, uint32_t ring, uint64_t seq, uint64_t timeout, uint64_t *status)
{
	union drm_amdgpu_wait_cs w = { .in = { .handle = seq, .timeout = timeout, .ip_type = AMDGPU_HW_IP_COMPUTE,
					       .ring = ring, .ctx_id = g->ctx } };
	int r = drm(g->fd, DRM_IOCTL_AMDGPU_WAIT_CS, &w);

	*status = w.out.status;
	return r;
}

/* One counter from the device's own statistics. */
HELPER long long
counter(const char *name)
{
	char path[160], text[8192], want[64];

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device/softgpu_stats", strrchr(node, '/') + 1);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	snprintf(want, sizeof(want), "\"%s\": ", name);
	const char *at = strstr(text, want);
	return at ? atoll(at + strlen(want)) : 0;
}

/* ---- errno: one row, one check ---- */

struct row {
	const char *what;
	unsigned long cmd;
	void *arg;
	int want; /* errno, positive; 0: success */
};

HELPER void
check_rows(int fd, const struct row *rows, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++) {
		int r = drm(fd, rows[i].cmd, rows[i].arg);
		if (r == -rows[i].want)
			continue;
		print_error("%s: got %d (%s), want %d\n", rows[i].what, -r, strerror(-r), rows[i].want);
		bad++;
	}
	assert_int_equal(bad, 0);
}
#define CHECK(fd, ...)                                                                                                \
	do {                                                                                                          \
		struct row rows_[] = { __VA_ARGS__ };                                                                 \
		check_rows(fd, rows_, COUNT(rows_));                                                                  \
	} while (0)

#define FD_OP(handle_, flags_, fd_, pad_) (&(struct drm_syncobj_handle){ handle_, flags_, fd_, pad_ })

HELPER void
on_alarm(int signal)
{
	(void)signal;
}

/* ---- counters that go back to nothing: last case of every program ---- */

HELPER void
nothing_left(void **state)
{
	(void)state;
	assert_int_equal(counter("gem_objects") + counter("gem_bytes_vram") + counter("gem_bytes_gtt"), 0);
	assert_int_equal(counter("syncobj_objects") + counter("ctx_objects") + counter("bo_lists"), 0);
}

/* ---- children: the same program with other SOFTGPU_* variables ---- */

struct child {
	const char *name;
	void (*run)(void);
	const char *set[4]; /* NAME=value; NAME alone is removed */
};

HELPER void
run_child(void **state)
{
	const struct child *c = *state;
	int status;

	pid_t pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < COUNT(c->set) && c->set[i]; i++)
			putenv((char *)(uintptr_t)c->set[i]);
		execl(self, self, "--child", c->name, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
#define CHILD(name, i) { name, run_child, NULL, NULL, (void *)(uintptr_t)&children[i] }

/* ---- start ---- */

/* Under softgpu, which stands two folders up in the build tree. */
HELPER int
become_softgpu(char **argv)
{
	char folder[PATH_MAX - 32], softgpu[PATH_MAX];

	strcpy(folder, self);
	for (int up = 0; up < 3 && strrchr(folder, '/'); up++)
		*strrchr(folder, '/') = '\0';
	snprintf(softgpu, sizeof(softgpu), "%s/bin/softgpu", folder);
	execl(softgpu, "softgpu", "--", self, argv[1], argv[1] ? argv[2] : NULL, NULL);
	printf("needs %s\n", softgpu);
	return 77;
}

HELPER bool
find_nodes(void)
{
	char path[PATH_MAX];
	unsigned card, render;

	snprintf(path, sizeof(path), "%s/softgpu", getenv("SOFTGPU_TREE"));
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%u %u", &card, &render) != 2)
		return false;
	fclose(f);
	snprintf(node, sizeof(node), "/dev/dri/renderD%u", render);
	snprintf(primary, sizeof(primary), "/dev/dri/card%u", card);
	return true;
}

/* -1: go on with the tests, otherwise the exit status. A failed assertion outside of a cmocka test ends the process. */
HELPER int
begin(int argc, char **argv, const struct child *children, size_t n)
{
	/* Read and not just used in exec: a program under valgrind is another file. */
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length > 0 ? length : 0] = '\0';
	if (!getenv("SOFTGPU_TREE"))
		return become_softgpu(argv);
	if (!find_nodes())
		return 77;
	if (argc != 3 || strcmp(argv[1], "--child") != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(children[i].name, argv[2]) != 0)
			continue;
		children[i].run();
		return 0;
	}
	return 2;
}

#endif
