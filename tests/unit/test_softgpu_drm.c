/* SPDX-License-Identifier: MIT */
/* The kernel's side of softgpu: each row and case is a promise of Linux 6.12's amdgpu that user space can see.
 *
 * Runs itself under softgpu. Cases that need another configuration (what a hang leads to, failing calls) run this
 * program again as a child with other SOFTGPU_* variables: test_softgpu_drm --child NAME.
 */
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

#define PAGE 4096u
#define FOREVER INT64_MAX
#define VA 0x100000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char node[64], primary[64];
static char self[PATH_MAX - 32]; /* this program */

/* ---- calls: 0 or -errno, once, without libdrm's loops ---- */

static int
drm(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int
gem_create(int fd, uint64_t bytes, uint64_t domains, uint64_t flags, uint32_t *handle)
{
	union drm_amdgpu_gem_create c = { .in = { bytes, PAGE, domains, flags } };
	int r = drm(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &c);

	*handle = c.out.handle;
	return r;
}

static int
gem_close(int fd, uint32_t handle)
{
	return drm(fd, DRM_IOCTL_GEM_CLOSE, &(struct drm_gem_close){ .handle = handle });
}

static int
va_op(int fd, uint32_t op, uint32_t handle, uint64_t va, uint64_t offset, uint64_t bytes)
{
	struct drm_amdgpu_gem_va v = { handle, 0, op, 0xe, va, offset, bytes };

	return drm(fd, DRM_IOCTL_AMDGPU_GEM_VA, &v);
}

static void *
gem_map(int fd, uint32_t handle, size_t bytes)
{
	union drm_amdgpu_gem_mmap m = { .in = { handle, 0 } };

	assert_int_equal(drm(fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &m), 0);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m.out.addr_ptr);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static uint32_t
syncobj(int fd, uint32_t flags)
{
	struct drm_syncobj_create c = { .flags = flags };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_CREATE, &c), 0);
	return c.handle;
}

static int
syncobj_wait(int fd, uint32_t handle, int64_t deadline, uint32_t flags)
{
	struct drm_syncobj_wait w = { (uintptr_t)&handle, deadline, 1, flags, 0, 0 };

	return drm(fd, DRM_IOCTL_SYNCOBJ_WAIT, &w);
}

static int
timeline_wait(int fd, uint32_t handle, uint64_t point, int64_t deadline, uint32_t flags)
{
	struct drm_syncobj_timeline_wait w = { (uintptr_t)&handle, (uintptr_t)&point, deadline, 1, flags, 0, 0 };

	return drm(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
}

static void
timeline_signal(int fd, uint32_t handle, uint64_t point)
{
	struct drm_syncobj_timeline_array a = { (uintptr_t)&handle, (uintptr_t)&point, 1, 0 };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &a), 0);
}

static uint64_t
query(int fd, uint32_t handle, uint32_t flags)
{
	uint64_t point = ~0ull;
	struct drm_syncobj_timeline_array a = { (uintptr_t)&handle, (uintptr_t)&point, 1, flags };

	assert_int_equal(drm(fd, DRM_IOCTL_SYNCOBJ_QUERY, &a), 0);
	return point;
}

static int
reset(int fd, uint32_t handle)
{
	return drm(fd, DRM_IOCTL_SYNCOBJ_RESET, &(struct drm_syncobj_array){ (uintptr_t)&handle, 1, 0 });
}

static int
eventfd_register(int fd, uint32_t handle, uint64_t point, int event, uint32_t flags)
{
	struct gpuplan_drm_syncobj_eventfd e = { handle, flags, point, event, 0 };

	return drm(fd, GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, &e);
}

static bool
readable(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

static int
sync_file(int fd, uint32_t handle)
{
	struct drm_syncobj_handle h = { handle, 1, -1, 0 };
	int r = drm(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h);

	return r ? r : h.fd;
}

static int
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

static uint32_t
ctx_create(int fd)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_ALLOC_CTX } };

	assert_int_equal(drm(fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.alloc.ctx_id;
}

static void
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

static void
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

static void
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

static void
add_chunk(struct chunks *c, uint32_t id, const void *data, size_t bytes)
{
	c->list[c->n] = (struct drm_amdgpu_cs_chunk){ id, (uint32_t)(bytes / 4), (uintptr_t)data };
	c->at[c->n] = (uintptr_t)&c->list[c->n];
	c->n++;
}

static int
submit_chunks(struct gpu *g, struct chunks *c, uint64_t *seq)
{
	union drm_amdgpu_cs cs = { .in = { .ctx_id = g->ctx, .num_chunks = c->n, .chunks = (uintptr_t)c->at } };
	int r = drm(g->fd, DRM_IOCTL_AMDGPU_CS, &cs);

	if (seq)
		*seq = cs.out.handle;
	return r;
}

static struct drm_amdgpu_cs_chunk_ib
ib_at(unsigned dword, uint32_t ring)
{
	return (struct drm_amdgpu_cs_chunk_ib){
		.va_start = VA + dword * 4u, .ib_bytes = 256, .ip_type = AMDGPU_HW_IP_COMPUTE, .ring = ring,
	};
}

/* One IB and one more chunk (id 0: none). */
static int
submit(struct gpu *g, unsigned dword, uint32_t ring, uint32_t id, const void *data, size_t bytes, uint64_t *seq)
{
	struct drm_amdgpu_cs_chunk_ib ib = ib_at(dword, ring);
	struct chunks c = { .n = 0 };

	add_chunk(&c, AMDGPU_CHUNK_ID_IB, &ib, sizeof(ib));
	if (id)
		add_chunk(&c, id, data, bytes);
	return submit_chunks(g, &c, seq);
}

static int
submit_out(struct gpu *g, unsigned dword, uint32_t ring, uint32_t out)
{
	return submit(g, dword, ring, AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &out, 4, NULL);
}

static int
wait_cs(struct gpu *g, uint32_t ring, uint64_t seq, uint64_t timeout, uint64_t *status)
{
	union drm_amdgpu_wait_cs w = { .in = { .handle = seq, .timeout = timeout, .ip_type = AMDGPU_HW_IP_COMPUTE,
					       .ring = ring, .ctx_id = g->ctx } };
	int r = drm(g->fd, DRM_IOCTL_AMDGPU_WAIT_CS, &w);

	*status = w.out.status;
	return r;
}

/* One counter from the device's own statistics. */
static long long
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

static void
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

static void
errno_dispatch(void **state)
{
	struct gpu g;
	char any[64] = { 0 };

	(void)state;
	gpu_open(&g);
	CHECK(g.fd, { "type is not 'd'", _IOWR('x', 0x45, struct drm_amdgpu_info), any, ENOTTY },
	      { "empty slot of the core table", _IOWR('d', 0x3e, uint64_t), any, EINVAL },
	      { "after the driver's last, USERQ of 6.16", _IOWR('d', 0x56, uint64_t), any, EINVAL },
	      { "GET_CLIENT on a render node", DRM_IOCTL_GET_CLIENT, any, EACCES },
	      { "GET_MAGIC on a render node", DRM_IOCTL_GET_MAGIC, any, EACCES },
	      { "GEM_FLINK on a render node", DRM_IOCTL_GEM_FLINK, any, EACCES },
	      { "SET_CLIENT_CAP on a render node", DRM_IOCTL_SET_CLIENT_CAP, any, EACCES },
	      { "SCHED on a render node", DRM_IOCTL_AMDGPU_SCHED, any, EACCES },
	      { "bad pointer", DRM_IOCTL_AMDGPU_CTX, (void *)8, EFAULT },
	      { "GET_CAP unknown", DRM_IOCTL_GET_CAP, (&(struct drm_get_cap){ .capability = 0x999 }), EINVAL },
	      { "GET_CAP syncobj", DRM_IOCTL_GET_CAP, (&(struct drm_get_cap){ .capability = DRM_CAP_SYNCOBJ }), 0 });
	gpu_close(&g);
}

/* Arguments of one call. */
#define METADATA(...) (&(struct drm_amdgpu_gem_metadata){ __VA_ARGS__ })
#define USERPTR(...) (&(struct drm_amdgpu_gem_userptr){ __VA_ARGS__ })
#define PRIME(...) (&(struct drm_prime_handle){ __VA_ARGS__ })
#define LIST(...) (&(union drm_amdgpu_bo_list){ __VA_ARGS__ })
#define TIMELINE(...) (&(struct drm_syncobj_timeline_array){ __VA_ARGS__ })
#define ARRAY(...) (&(struct drm_syncobj_array){ __VA_ARGS__ })
#define GEM_OP(...) (&(struct drm_amdgpu_gem_op){ __VA_ARGS__ })
#define CLOSE(...) (&(struct drm_gem_close){ __VA_ARGS__ })
#define CREATE(size, domains, flags) (&(union drm_amdgpu_gem_create){ .in = { size, 0, domains, flags } })
#define GEM_ROW(what, size, domains, flags, want)                                                                    \
	{ what, DRM_IOCTL_AMDGPU_GEM_CREATE, CREATE(size, domains, flags), want }

static void
errno_gem(void **state)
{
	struct gpu g;
	uint32_t hidden;

	(void)state;
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &hidden), 0);
	CHECK(g.fd, GEM_ROW("flag VRAM_CONTIGUOUS", PAGE, 4, 0x20, EINVAL), GEM_ROW("flag ENCRYPTED", PAGE, 4, 0x400, EINVAL),
	      GEM_ROW("flag COHERENT", PAGE, 4, 0x2000, EINVAL), GEM_ROW("flag DISCARDABLE", PAGE, 4, 0x1000, 0),
	      GEM_ROW("domain bit 7", PAGE, 0x80, 0, EINVAL), GEM_ROW("DOORBELL", PAGE, 0x40, 0, EINVAL),
	      GEM_ROW("GDS with VRAM", 16, 8 | 4, 0, EINVAL), GEM_ROW("GWS with OA", 16, 0x30, 0, EINVAL),
	      GEM_ROW("GDS always valid", 16, 8, 0x40, EINVAL), GEM_ROW("GDS of 1024", 1024, 8, 0, 0),
	      GEM_ROW("no domain", PAGE, 0, 0, 0), GEM_ROW("10^12 bytes", 1000000000000ull, 4, 0, ENOMEM),
	      GEM_ROW("8 bytes", 8, 4, 9, 0),
	      { "MMAP of no handle", DRM_IOCTL_AMDGPU_GEM_MMAP, (&(union drm_amdgpu_gem_mmap){ .in = { 999, 0 } }), ENOENT },
	      { "MMAP without CPU access", DRM_IOCTL_AMDGPU_GEM_MMAP, (&(union drm_amdgpu_gem_mmap){ .in = { hidden, 0 } }), EPERM },
	      { "GEM_CLOSE of no handle", DRM_IOCTL_GEM_CLOSE, CLOSE(999, 0), EINVAL },
	      { "GEM_OP of no handle", DRM_IOCTL_AMDGPU_GEM_OP, GEM_OP(999, 0, 0), ENOENT },
	      { "GEM_OP unknown", DRM_IOCTL_AMDGPU_GEM_OP, GEM_OP(g.bo, 7, 0), EINVAL },
	      { "METADATA of no handle", DRM_IOCTL_AMDGPU_GEM_METADATA, METADATA(.handle = 999), ENOENT },
	      { "METADATA unknown op", DRM_IOCTL_AMDGPU_GEM_METADATA, METADATA(.handle = g.bo, .op = 9), 0 },
	      { "METADATA too long", DRM_IOCTL_AMDGPU_GEM_METADATA,
		METADATA(.handle = g.bo, .op = 1, .data = { .data_size_bytes = 257 }), EINVAL },
	      { "WAIT_IDLE of no handle", DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, (&(union drm_amdgpu_gem_wait_idle){ .in = { 999, 0, 0 } }), ENOENT },
	      { "USERPTR unaligned", DRM_IOCTL_AMDGPU_GEM_USERPTR, USERPTR(0x1001, PAGE, 15, 0), EINVAL },
	      { "USERPTR unknown flag", DRM_IOCTL_AMDGPU_GEM_USERPTR, USERPTR(PAGE, PAGE, 16, 0), EINVAL },
	      { "USERPTR writable, not registered", DRM_IOCTL_AMDGPU_GEM_USERPTR, USERPTR(PAGE, PAGE, 6, 0), EACCES },
	      { "USERPTR of nothing", DRM_IOCTL_AMDGPU_GEM_USERPTR,
		USERPTR(0xffffffffffff0000, 0x80000000, 7, 0), EFAULT },
	      { "PRIME of no handle", DRM_IOCTL_PRIME_HANDLE_TO_FD, PRIME(999, 0, 0), ENOENT },
	      { "PRIME of an always valid buffer", DRM_IOCTL_PRIME_HANDLE_TO_FD, PRIME(g.bo, 0, 0), EPERM },
	      { "PRIME unknown flag", DRM_IOCTL_PRIME_HANDLE_TO_FD, PRIME(g.bo, 1, 0), EINVAL },
	      { "PRIME import of no fd", DRM_IOCTL_PRIME_FD_TO_HANDLE, PRIME(0, 0, 9999), EBADF },
	      { "PRIME import of a file", DRM_IOCTL_PRIME_FD_TO_HANDLE, PRIME(0, 0, 1), EINVAL });
	gpu_close(&g);
}

#define VA_ROW(what, op, flags, handle, va, offset, bytes, want)                                                     \
	{ what, DRM_IOCTL_AMDGPU_GEM_VA, (&(struct drm_amdgpu_gem_va){ handle, 0, op, flags, va, offset, bytes }), want }

static void
errno_va(void **state)
{
	struct gpu g;
	const uint64_t top = 0xffffffffffbf0000;

	(void)state;
	gpu_open(&g);
	CHECK(g.fd, VA_ROW("below 64 KiB", 1, 0xe, g.bo, 0xf000, 0, PAGE, EINVAL),
	      VA_ROW("at virtual_address_offset", 1, 0xe, g.bo, 0x10000, 0, PAGE, 0),
	      VA_ROW("last page of the low half", 1, 0xe, g.bo, 0x7ffffffff000, 0, PAGE, 0),
	      VA_ROW("in the hole", 1, 0xe, g.bo, 0x800000000000, 0, PAGE, EINVAL),
	      VA_ROW("first of the high half", 1, 0xe, g.bo, 0xffff800000000000, 0, PAGE, 0),
	      VA_ROW("last of the high half", 1, 0xe, g.bo, top - PAGE, 0, PAGE, 0),
	      VA_ROW("reserved top", 1, 0xe, g.bo, top, 0, PAGE, EINVAL),
	      VA_ROW("flags of both kinds", 1, 0x1e, g.bo, VA + 0x100000, 0, PAGE, EINVAL),
	      VA_ROW("op 0", 0, 0xe, g.bo, VA + 0x100000, 0, PAGE, EINVAL),
	      VA_ROW("op 5", 5, 0xe, g.bo, VA + 0x100000, 0, PAGE, EINVAL),
	      VA_ROW("no handle", 1, 0xe, 999, VA + 0x100000, 0, PAGE, ENOENT),
	      VA_ROW("PRT needs no handle", 1, 0x10, 0, VA + 0x100000, 0, PAGE, 0),
	      VA_ROW("va unaligned", 1, 0xe, g.bo, VA + 0x200800, 0, PAGE, EINVAL),
	      VA_ROW("offset unaligned", 1, 0xe, g.bo, VA + 0x200000, 8, PAGE, EINVAL),
	      VA_ROW("size unaligned", 1, 0xe, g.bo, VA + 0x200000, 0, 100, EINVAL),
	      VA_ROW("size 0", 1, 0xe, g.bo, VA + 0x200000, 0, 0, EINVAL),
	      VA_ROW("past the buffer", 1, 0xe, g.bo, VA + 0x200000, 4 * PAGE, PAGE, EINVAL),
	      VA_ROW("overlap", 1, 0xe, g.bo, VA + PAGE, 0, PAGE, EINVAL),
	      VA_ROW("unmap in the middle", 2, 0xe, g.bo, VA + PAGE, 0, PAGE, ENOENT),
	      VA_ROW("replace over the middle", 4, 0xe, g.bo, VA + 2 * PAGE, 0, PAGE, 0),
	      VA_ROW("clear without handle", 3, 0, 0, VA + 2 * PAGE, 0, PAGE, 0),
	      VA_ROW("map in the gap", 1, 0xe, g.bo, VA + 2 * PAGE, 0, PAGE, 0),
	      VA_ROW("unmap, size ignored", 2, 0xe, g.bo, VA + 2 * PAGE, 0, 0, 0));
	gpu_close(&g);
}

#define CTX_ROW(what, op_, flags_, id, prio, want)                                                                   \
	{ what, DRM_IOCTL_AMDGPU_CTX, (&(union drm_amdgpu_ctx){ .in = { op_, flags_, id, prio } }), want }

static void
errno_ctx(void **state)
{
	struct gpu g;

	(void)state;
	gpu_open(&g);
	uint32_t other = ctx_create(g.fd);
	CHECK(g.fd, CTX_ROW("op 0", 0, 0, 0, 0, EINVAL), CTX_ROW("flags", 1, 1, 0, 0, EINVAL),
	      CTX_ROW("unknown priority is normal", 1, 0, 0, 77, 0), CTX_ROW("free of no context", 2, 0, 999, 0, EINVAL),
	      CTX_ROW("query of no context", 3, 0, 999, 0, EINVAL), CTX_ROW("query2 of no context", 4, 0, 999, 0, EINVAL),
	      CTX_ROW("pstate 5", 6, 5, g.ctx, 0, EINVAL), CTX_ROW("pstate peak", 6, 4, g.ctx, 0, 0),
	      CTX_ROW("pstate held by another", 6, 1, other, 0, EBUSY), CTX_ROW("pstate none", 6, 0, g.ctx, 0, 0),
	      CTX_ROW("pstate free now", 6, 1, other, 0, 0), CTX_ROW("free gives it back", 2, 0, other, 0, 0),
	      CTX_ROW("pstate again", 6, 1, g.ctx, 0, 0),
	      { "VM flags", DRM_IOCTL_AMDGPU_VM, (&(union drm_amdgpu_vm){ .in = { 1, 1 } }), EINVAL },
	      { "VM op 9", DRM_IOCTL_AMDGPU_VM, (&(union drm_amdgpu_vm){ .in = { 9, 0 } }), EINVAL },
	      { "VM reserve", DRM_IOCTL_AMDGPU_VM, (&(union drm_amdgpu_vm){ .in = { 1, 0 } }), 0 },
	      { "BO_LIST destroy of no list", DRM_IOCTL_AMDGPU_BO_LIST, LIST(.in = { .operation = 1, .list_handle = 99 }), 0 },
	      { "BO_LIST update of no list", DRM_IOCTL_AMDGPU_BO_LIST, LIST(.in = { .operation = 2, .list_handle = 99 }), ENOENT },
	      { "BO_LIST op 3", DRM_IOCTL_AMDGPU_BO_LIST, LIST(.in = { .operation = 3 }), EINVAL },
	      { "BO_LIST too long", DRM_IOCTL_AMDGPU_BO_LIST, LIST(.in = { .bo_number = 131073 }), EINVAL },
	      { "BO_LIST bad pointer", DRM_IOCTL_AMDGPU_BO_LIST,
		LIST(.in = { .operation = 1, .bo_number = 1, .bo_info_size = 8 }), EFAULT });
	gpu_close(&g);
}

#define WAIT(handles_, count, flags_) (&(struct drm_syncobj_wait){ .handles = (uintptr_t)(handles_), .count_handles = count, .flags = flags_ })
#define FD_OP(handle_, flags_, fd_, pad_) (&(struct drm_syncobj_handle){ handle_, flags_, fd_, pad_ })
#define TRANSFER(src, dst, flags_, pad_) (&(struct drm_syncobj_transfer){ src, dst, 0, 0, flags_, pad_ })
#define EVENT(handle_, flags_, fd_, pad_) (&(struct gpuplan_drm_syncobj_eventfd){ handle_, flags_, 0, fd_, pad_ })

static void
errno_syncobj(void **state)
{
	struct gpu g;

	(void)state;
	gpu_open(&g);
	uint32_t empty = syncobj(g.fd, 0), done = syncobj(g.fd, 1), none = 999;
	CHECK(g.fd, { "CREATE flags", DRM_IOCTL_SYNCOBJ_CREATE, (&(struct drm_syncobj_create){ .flags = 2 }), EINVAL },
	      { "DESTROY pad", DRM_IOCTL_SYNCOBJ_DESTROY, (&(struct drm_syncobj_destroy){ empty, 1 }), EINVAL },
	      { "DESTROY of none", DRM_IOCTL_SYNCOBJ_DESTROY, (&(struct drm_syncobj_destroy){ none, 0 }), EINVAL },
	      { "export of none", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, FD_OP(none, 0, -1, 0), EINVAL },
	      { "export pad", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, FD_OP(done, 0, -1, 1), EINVAL },
	      { "export flags", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, FD_OP(done, 2, -1, 0), EINVAL },
	      { "sync_file of none", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, FD_OP(none, 1, -1, 0), ENOENT },
	      { "sync_file without fence", DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, FD_OP(empty, 1, -1, 0), EINVAL },
	      { "import of another fd", DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, FD_OP(0, 0, 1, 0), EINVAL },
	      { "sync_file import of another fd", DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, FD_OP(done, 1, 1, 0), EINVAL },
	      { "WAIT flags", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(&done, 1, 4), EINVAL },
	      { "WAIT for none at all", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(0, 0, 0), 0 },
	      { "WAIT of none", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(&none, 1, 0), ENOENT },
	      { "WAIT without fence", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(&empty, 1, 0), EINVAL },
	      { "WAIT for submit, poll", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(&empty, 1, 2), ETIME },
	      { "WAIT done", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(&done, 1, 0), 0 },
	      { "WAIT handles unreadable", DRM_IOCTL_SYNCOBJ_WAIT, WAIT(8, 1, 0), EFAULT },
	      { "RESET of nothing", DRM_IOCTL_SYNCOBJ_RESET, ARRAY(0, 0, 0), EINVAL },
	      { "SIGNAL of none", DRM_IOCTL_SYNCOBJ_SIGNAL, ARRAY((uintptr_t)&none, 1, 0), ENOENT },
	      { "QUERY flags", DRM_IOCTL_SYNCOBJ_QUERY, TIMELINE((uintptr_t)&done, 0, 1, 2), EINVAL },
	      { "QUERY points unwritable", DRM_IOCTL_SYNCOBJ_QUERY, TIMELINE((uintptr_t)&done, 8, 1, 0), EFAULT },
	      { "TIMELINE_SIGNAL flags", DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, TIMELINE((uintptr_t)&done, 0, 1, 1), EINVAL },
	      { "TRANSFER pad", DRM_IOCTL_SYNCOBJ_TRANSFER, TRANSFER(done, empty, 0, 1), EINVAL },
	      { "TRANSFER flags", DRM_IOCTL_SYNCOBJ_TRANSFER, TRANSFER(done, empty, 1, 0), EINVAL },
	      { "TRANSFER to none", DRM_IOCTL_SYNCOBJ_TRANSFER, TRANSFER(done, none, 0, 0), ENOENT },
	      { "TRANSFER from none", DRM_IOCTL_SYNCOBJ_TRANSFER, TRANSFER(none, empty, 0, 0), ENOENT },
	      { "TRANSFER without fence", DRM_IOCTL_SYNCOBJ_TRANSFER, TRANSFER(empty, done, 0, 0), EINVAL },
	      { "EVENTFD flags", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, EVENT(done, 1, 1, 0), EINVAL },
	      { "EVENTFD pad", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, EVENT(done, 0, 1, 1), EINVAL },
	      { "EVENTFD of none", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, EVENT(none, 0, 1, 0), ENOENT },
	      { "EVENTFD of no fd", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, EVENT(done, 0, 9999, 0), EBADF },
	      { "EVENTFD of another fd", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, EVENT(done, 0, 1, 0), EINVAL });
	gpu_close(&g);
}

#define INFO(query_, size) (&(struct drm_amdgpu_info){ .return_pointer = (uintptr_t)out, .return_size = size, .query = query_ })
#define INFO_ROW(what, want, ...)                                                                                    \
	{ what, DRM_IOCTL_AMDGPU_INFO, (&(struct drm_amdgpu_info){ .return_pointer = (uintptr_t)out, .return_size = 512, __VA_ARGS__ }), want }

static void
errno_info(void **state)
{
	struct gpu g;
	char out[512];

	(void)state;
	gpu_open(&g);
	CHECK(g.fd, { "size 0", DRM_IOCTL_AMDGPU_INFO, INFO(0, 0), EINVAL },
	      { "no pointer", DRM_IOCTL_AMDGPU_INFO, (&(struct drm_amdgpu_info){ .return_size = 4 }), EINVAL },
	      INFO_ROW("unknown id", EINVAL, .query = 0x999), INFO_ROW("CRTC", EINVAL, .query = 1),
	      INFO_ROW("HW_IP type 10", EINVAL, .query = 2, .query_hw_ip = { 10, 0 }),
	      INFO_ROW("HW_IP instance 1", EINVAL, .query = 2, .query_hw_ip = { 1, 1 }),
	      INFO_ROW("HW_IP of an absent engine", 0, .query = 2, .query_hw_ip = { 3, 0 }),
	      INFO_ROW("HW_IP_COUNT of an absent engine", EINVAL, .query = 3, .query_hw_ip = { 3, 0 }),
	      INFO_ROW("FW instance 1", EINVAL, .query = 0xe, .query_fw = { 4, 1, 0, 0 }),
	      INFO_ROW("FW MEC index 2", EINVAL, .query = 0xe, .query_fw = { 8, 0, 2, 0 }),
	      INFO_ROW("FW VCE", 0, .query = 0xe, .query_fw = { 1, 0, 0, 0 }),
	      INFO_ROW("129 registers", EINVAL, .query = 0x15, .read_mmr_reg = { 0x263e, 129, ~0u, 0 }),
	      INFO_ROW("register not allowed", EFAULT, .query = 0x15, .read_mmr_reg = { 0x1, 1, ~0u, 0 }),
	      INFO_ROW("SE 99", EINVAL, .query = 0x15, .read_mmr_reg = { 0x263e, 1, 0xff63, 0 }),
	      INFO_ROW("NUM_HANDLES", ENODATA, .query = 0x1c), INFO_ROW("VIDEO_CAPS", EINVAL, .query = 0x21),
	      INFO_ROW("MAX_IBS", 0, .query = 0x22), INFO_ROW("GPUVM_FAULT", 0, .query = 0x23));
	gpu_close(&g);
}

/* A submission whose chunks are the given ones, in order. */
static int
cs_with(struct gpu *g, const struct drm_amdgpu_cs_chunk *list, uint32_t n)
{
	uint64_t at[MAX_CHUNKS];
	union drm_amdgpu_cs cs = { .in = { .ctx_id = g->ctx, .num_chunks = n, .chunks = (uintptr_t)at } };

	for (uint32_t i = 0; i < n; i++)
		at[i] = (uintptr_t)&list[i];
	return drm(g->fd, DRM_IOCTL_AMDGPU_CS, &cs);
}
#define CHUNK(id, data) { id, sizeof(data) / 4, (uintptr_t)&(data) }
#define CS(want, ...)                                                                                                \
	do {                                                                                                          \
		struct drm_amdgpu_cs_chunk list_[] = { __VA_ARGS__ };                                                 \
		assert_int_equal(cs_with(&g, list_, COUNT(list_)), -(want));                                          \
	} while (0)

static void
errno_cs(void **state)
{
	struct gpu g;
	uint32_t big, none = 999, no_entry[2] = { 999, 0 };

	(void)state;
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, 2 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &big), 0);
	uint32_t empty = syncobj(g.fd, 0);
	struct drm_amdgpu_cs_chunk_ib ib = ib_at(IB_NOP, 0), bad_ip = ib, bad_instance = ib, bad_ring = ib, no_vcn = ib, huge = ib;
	bad_ip.ip_type = 10;
	bad_instance.ip_instance = 1;
	bad_ring.ring = 4;
	no_vcn.ip_type = AMDGPU_HW_IP_VCN_DEC;
	huge.ib_bytes = 0x100000 * 4;
	struct drm_amdgpu_cs_chunk_fence fence_none = { 999, 0 }, fence_big = { big, 0 };
	struct drm_amdgpu_cs_chunk_dep no_ctx = { 1, 0, 0, 999, 1 }, future = { 1, 0, 0, g.ctx, 1000 };
	struct drm_amdgpu_bo_list_in list = { 0, 0, 1, 8, (uintptr_t)no_entry };
	struct drm_amdgpu_cs_chunk_syncobj bad_flags = { empty, 4, 1 };

	assert_int_equal(cs_with(&g, NULL, 0), -EINVAL);
	CS(EINVAL, CHUNK(99, ib));
	CS(EINVAL, { AMDGPU_CHUNK_ID_IB, 4, (uintptr_t)&ib });
	CS(EFAULT, { AMDGPU_CHUNK_ID_IB, 8, 8 });
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_IN, none)); /* no IB */
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, bad_ip));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, bad_instance));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, bad_ring));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, no_vcn));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, huge));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_FENCE, fence_none));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_FENCE, fence_big));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_DEPENDENCIES, no_ctx));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_DEPENDENCIES, future));
	CS(ENOENT, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_IN, none));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_IN, empty));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_OUT, none));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_OUT, empty), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_OUT, empty));
	CS(EINVAL, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT, bad_flags));
	CS(ENOENT, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_BO_HANDLES, list));
	CS(0, CHUNK(AMDGPU_CHUNK_ID_IB, ib), CHUNK(AMDGPU_CHUNK_ID_SYNCOBJ_OUT, empty));
	/* Nothing refused has used up a sequence number. */
	uint64_t status;
	assert_int_equal(wait_cs(&g, 0, 1, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(status, 0);
	assert_int_equal(wait_cs(&g, 0, 2, 0, &status), -EINVAL);
	g.ctx = 999;
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -EINVAL);
	gpu_close(&g);
}

/* ---- structures of other lengths ---- */

static void
struct_sizes(void **state)
{
	struct gpu g;
	unsigned char out[512];

	(void)state;
	gpu_open(&g);
	struct { /* Linux 6.12's, with a deadline at the end */
		struct drm_syncobj_wait wait;
		uint64_t deadline;
	} longer = { .deadline = 77 };
	uint32_t done = syncobj(g.fd, 1);
	longer.wait = *WAIT(&done, 1, 8);
	assert_int_equal(drm(g.fd, 0xc02864c3, &longer), 0);
	assert_int_equal(longer.deadline, 77);
	/* GEM_VA as _IOWR, as libdrm sends it */
	struct drm_amdgpu_gem_va va = { g.bo, 0, 1, 0xe, VA + 0x100000, 0, PAGE };
	assert_int_equal(drm(g.fd, 0xc0286448, &va), 0);
	struct drm_amdgpu_info info = { .return_pointer = (uintptr_t)out, .return_size = 512, .query = 0x16 };
	memset(out, 0xee, sizeof(out));
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_INFO, &info), 0);
	assert_int_equal(out[439], 0);
	assert_int_equal(out[440], 0xee);
	info.return_size = 368;
	memset(out, 0xee, sizeof(out));
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_INFO, &info), 0);
	assert_int_equal(out[368], 0xee);
	gpu_close(&g);
}

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

/* ---- buffers between files and as descriptors ---- */

static void
prime_semantics(void **state)
{
	struct gpu g, h;
	uint32_t bo;

	(void)state;
	gpu_open(&g);
	gpu_open(&h);
	assert_int_equal(gem_create(g.fd, 2 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	struct drm_prime_handle out = { bo, DRM_CLOEXEC | DRM_RDWR, -1 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out), 0);
	assert_int_equal(lseek(out.fd, 0, SEEK_END), 2 * PAGE);
	struct drm_prime_handle in = { 0, 0, out.fd };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	assert_int_equal(in.handle, bo); /* the handle it has */
	assert_int_equal(drm(h.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	uint32_t theirs = in.handle;
	assert_int_equal(drm(h.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	assert_int_equal(in.handle, theirs);
	uint32_t *a = gem_map(g.fd, bo, 2 * PAGE), *b = gem_map(h.fd, theirs, 2 * PAGE);
	uint32_t *c = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, PAGE);
	a[1024] = 42;
	assert_int_equal(b[1024], 42);
	assert_int_equal(c[0], 42);
	/* Polls unready while a job that uses it is not done. */
	assert_true(readable(out.fd, 0));
	uint32_t entry[2] = { bo, 0 };
	struct drm_amdgpu_bo_list_in list = { 0, 0, 1, 8, (uintptr_t)entry };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_BO_HANDLES, &list, sizeof(list), NULL), 0);
	assert_false(readable(out.fd, 20));
	union drm_amdgpu_gem_wait_idle idle = { .in = { bo, 0, 0 } };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &idle), 0);
	assert_int_equal(idle.out.status, 1);
	g.mem[0] = 1;
	assert_true(readable(out.fd, 5000));
	/* The memory outlives every handle and descriptor while it is mapped. */
	assert_int_equal(gem_close(g.fd, bo), 0);
	assert_int_equal(gem_close(h.fd, theirs), 0);
	close(out.fd);
	munmap(a, 2 * PAGE);
	munmap(b, 2 * PAGE);
	munmap(c, PAGE);
	gpu_close(&g);
	gpu_close(&h);
}

static void
mmap_checks(void **state)
{
	struct gpu g, h;

	(void)state;
	gpu_open(&g);
	gpu_open(&h);
	union drm_amdgpu_gem_mmap m = { .in = { g.bo, 0 } };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &m), 0);
	off_t at = (off_t)m.out.addr_ptr;
	assert_ptr_equal(mmap(NULL, 5 * PAGE, PROT_READ, MAP_SHARED, g.fd, at), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, g.fd, at + PAGE), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, h.fd, at), MAP_FAILED);
	assert_int_equal(errno, EACCES);
	gpu_close(&g);
	gpu_close(&h);
}

/* A BO of its own per file description; two opens are two, dup is the same. */
static void
descriptors(void **state)
{
	struct gpu g;
	struct stat st, st2;
	pid_t me = getpid();

	(void)state;
	gpu_open(&g);
	assert_int_equal(fstat(g.fd, &st), 0);
	assert_int_equal(stat(node, &st2), 0);
	assert_true(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226 && st.st_rdev == st2.st_rdev && st.st_ino == st2.st_ino);
	int copy = fcntl(g.fd, F_DUPFD_CLOEXEC, 0), other = open(node, O_RDWR | O_CLOEXEC);
	assert_int_equal(syscall(SYS_kcmp, me, me, 0, g.fd, copy), 0);
	assert_int_not_equal(syscall(SYS_kcmp, me, me, 0, g.fd, other), 0);
	assert_int_equal(va_op(copy, AMDGPU_VA_OP_UNMAP, g.bo, VA, 0, 0), 0);
	assert_int_equal(va_op(other, AMDGPU_VA_OP_MAP, g.bo, VA, 0, PAGE), -ENOENT);
	assert_int_equal(dup2(copy, other), other); /* ends the second file */
	assert_int_equal(va_op(other, AMDGPU_VA_OP_MAP, g.bo, VA, 0, PAGE), 0);
	close(copy);
	close(other);
	assert_int_equal(ioctl(other, DRM_IOCTL_AMDGPU_VM, &st), -1);
	assert_int_equal(errno, EBADF);
	int card = open(primary, O_RDWR | O_CLOEXEC);
	assert_int_equal(drm(card, DRM_IOCTL_GET_CLIENT, &(struct drm_client){ .idx = 0 }), 0);
	close(card);
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

static void
on_alarm(int signal)
{
	(void)signal;
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

/* ---- fork ---- */

static void
fork_child_submits(void **state)
{
	struct gpu g;
	int status;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it refuses threads in a forked child */
#endif
	gpu_open(&g);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t seq = 0, busy = 1;
		int bad = submit(&g, IB_NOP, 0, 0, NULL, 0, &seq) || seq != 2 || wait_cs(&g, 0, seq, (uint64_t)FOREVER, &busy) || busy;
		g.mem[WORD] = 0x1234; /* the parent sees it */
		_exit(bad ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(g.mem[WORD], 0x1234);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	gpu_close(&g);
}

/* ---- accounting ---- */

static void
accounting(void **state)
{
	struct gpu g;
	uint32_t bo[3];

	(void)state;
	assert_int_equal(counter("gem_objects"), 0); /* what every case before has left */
	assert_int_equal(counter("syncobj_objects") + counter("ctx_objects") + counter("bo_lists"), 0);
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, 5000, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[0]), 0);
	assert_int_equal(gem_create(g.fd, 1 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[1]), 0);
	assert_int_equal(counter("gem_bytes_vram"), 8192 + (1 << 20));
	assert_int_equal(counter("gem_bytes_gtt"), 4 * PAGE);
	assert_int_equal(counter("gem_objects"), 3);
	assert_true(counter("GEM_CREATE") >= 3);
	/* Over-commit: 18 + 7 GiB on a card of 24; the oldest move to GTT (8 GiB), nothing is refused. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(gem_create(g.fd, 6ull << 30, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &bo[i]), 0);
	long long before = counter("evictions");
	assert_int_equal(gem_create(g.fd, 7ull << 30, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &bo[0]), 0);
	assert_true(counter("evictions") > before);
	assert_int_equal(gem_create(g.fd, 7ull << 30, AMDGPU_GEM_DOMAIN_GTT, 0, &bo[1]), -ENOMEM);
	gpu_close(&g);
	assert_int_equal(counter("gem_objects") + counter("gem_bytes_vram") + counter("gem_bytes_gtt"), 0);
}

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

static const struct child {
	const char *name;
	void (*run)(void);
	const char *set[4]; /* NAME=value */
} children[] = {
	{ "full", child_full, { "SOFTGPU_RECOVERY=full", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "soft", child_soft, { "SOFTGPU_RECOVERY=soft" } },
	{ "ring", child_ring, { "SOFTGPU_RECOVERY=ring", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "lost", child_lost, { "SOFTGPU_VRAM_LOST=1" } },
	{ "strict", child_strict, { "SOFTGPU_STRICT=1" } },
	{ "kind", child_kind, { "SOFTGPU_STRICT=0" } },
	{ "fail", child_fail, { "SOFTGPU_FAIL=CS:2:ENOMEM,SYNCOBJ_HANDLE_TO_FD:1:24", "SOFTGPU_EVENTFD=0" } },
};

/* A failed assertion outside of a cmocka test ends the process. */
static int
child_main(const char *name)
{
	for (size_t i = 0; i < COUNT(children); i++) {
		if (strcmp(children[i].name, name) != 0)
			continue;
		children[i].run();
		return 0;
	}
	return 2;
}

static void
recovery(void **state)
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
#define RECOVERY(i, name) { "recovery_" name, recovery, NULL, NULL, (void *)(uintptr_t)&children[i] }

/* ---- start ---- */

/* Under softgpu, which stands two folders up in the build tree. */
static int
become_softgpu(void)
{
	char folder[PATH_MAX - 32], softgpu[PATH_MAX];

	strcpy(folder, self);
	for (int up = 0; up < 3 && strrchr(folder, '/'); up++)
		*strrchr(folder, '/') = '\0';
	snprintf(softgpu, sizeof(softgpu), "%s/bin/softgpu", folder);
	execl(softgpu, "softgpu", "--", self, NULL);
	printf("needs %s\n", softgpu);
	return 77;
}

static bool
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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_dispatch), cmocka_unit_test(errno_gem), cmocka_unit_test(errno_va),
		cmocka_unit_test(errno_ctx), cmocka_unit_test(errno_syncobj), cmocka_unit_test(errno_info),
		cmocka_unit_test(errno_cs), cmocka_unit_test(struct_sizes), cmocka_unit_test(timeline_points),
		cmocka_unit_test(submit_waits_for_submit), cmocka_unit_test(eventfd_semantics),
		cmocka_unit_test(sync_file_semantics), cmocka_unit_test(prime_semantics), cmocka_unit_test(mmap_checks),
		cmocka_unit_test(descriptors), cmocka_unit_test(user_fence_and_order), cmocka_unit_test(dependencies),
		cmocka_unit_test(depth_32), cmocka_unit_test(fork_child_submits), cmocka_unit_test(accounting),
		RECOVERY(0, "full"), RECOVERY(1, "soft"), RECOVERY(2, "ring"), RECOVERY(3, "vram_lost"),
		RECOVERY(4, "strict_fault"), RECOVERY(5, "kind_fault"), RECOVERY(6, "failing_calls"),
	};

	/* Read and not just used in exec: a program under valgrind is another file. */
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	if (!getenv("SOFTGPU_TREE"))
		return become_softgpu();
	if (!find_nodes())
		return 77;
	if (argc == 3 && strcmp(argv[1], "--child") == 0)
		return child_main(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
