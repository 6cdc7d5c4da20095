/* SPDX-License-Identifier: MIT */
/* What softgpu's ioctls refuse: each row and case is an errno of Linux 6.12's amdgpu, and structures of other lengths.
 */
#include "softgpu_drm.h"

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
	      INFO_ROW("FW VPE", 0, .query = 0xe, .query_fw = { 0x1c, 0, 0, 0 }),
	      INFO_ROW("FW after the last", EINVAL, .query = 0xe, .query_fw = { 0x1d, 0, 0, 0 }),
	      INFO_ROW("SE 4", EINVAL, .query = 0x15, .read_mmr_reg = { 0x263e, 1, 0xff04, 0 }),
	      INFO_ROW("peak clock", 0, .query = 0x1d, .sensor_info = { 0xa }),
	      INFO_ROW("sensor of no chip", EINVAL, .query = 0x1d, .sensor_info = { 0x40 }),
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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errno_dispatch), cmocka_unit_test(errno_gem), cmocka_unit_test(errno_va),
		cmocka_unit_test(errno_ctx), cmocka_unit_test(errno_syncobj), cmocka_unit_test(errno_info),
		cmocka_unit_test(errno_cs), cmocka_unit_test(struct_sizes), cmocka_unit_test(nothing_left),
	};
	int status = begin(argc, argv, NULL, 0);

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
