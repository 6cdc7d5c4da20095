/* SPDX-License-Identifier: MIT */
/* bench-submit-floor: the least that a program on libdrm can do: one amdgpu_cs_submit_raw2 of chunks made beforehand,
 * then the user fence's word is polled, or a timeline point waited for. No errors told apart, one job at a time, no
 * deadline but the kernel's: what a library adds to this is the price of its promises.
 *
 *   bench-submit-floor [N...]   streams of N dispatches; under SOFTGPU_EXECUTE=0 only, the kernel's address is a dummy
 */
#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>

#include "mark.h"
#include "pm4.h"

#define PAGE 4096u
#define STREAM_BYTES (64u << 10)
#define DISPATCH_DWORDS 9u	/* SET_SH_REG of a kernarg pointer, DISPATCH_DIRECT */

struct floor {
	int fd;
	amdgpu_device_handle device;
	amdgpu_context_handle context;
	amdgpu_bo_handle stream, fence;
	uint32_t *dwords;
	volatile uint64_t *word;
	uint32_t timeline;
	uint64_t point;		/* of the timeline, as signalled last */
	struct drm_amdgpu_cs_chunk_ib ib;
	struct drm_amdgpu_cs_chunk_data user_fence;
	struct drm_amdgpu_cs_chunk_syncobj signal;
	struct drm_amdgpu_cs_chunk polled[2], waited[2];
};

static void
die_if(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "bench-submit-floor: %s: %s\n", what, strerror(r < 0 ? -r : r));
	exit(2);
}

static amdgpu_bo_handle
make_buffer(struct floor *f, uint64_t bytes, uint64_t flags, void **cpu)
{
	struct amdgpu_bo_alloc_request request = { .alloc_size = bytes, .phys_alignment = PAGE,
						   .preferred_heap = AMDGPU_GEM_DOMAIN_GTT, .flags = flags };
	amdgpu_bo_handle bo;

	die_if(amdgpu_bo_alloc(f->device, &request, &bo), "buffer");
	die_if(amdgpu_bo_cpu_map(bo, cpu), "mapping");
	return bo;
}

static void
open_device(struct floor *f)
{
	uint32_t major, minor;

	f->fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	die_if(f->fd < 0, "no render node");
	die_if(amdgpu_device_initialize(f->fd, &major, &minor, &f->device), "device");
	die_if(amdgpu_cs_ctx_create(f->device, &f->context), "context");
	f->fd = amdgpu_device_get_fd(f->device);
	die_if(drmSyncobjCreate(f->fd, 0, &f->timeline), "syncobj");
}

static void
make_stream(struct floor *f)
{
	amdgpu_va_handle range;
	void *cpu;
	uint64_t va;

	f->stream = make_buffer(f, STREAM_BYTES, AMDGPU_GEM_CREATE_VM_ALWAYS_VALID, &cpu);
	f->dwords = cpu;
	die_if(amdgpu_va_range_alloc(f->device, amdgpu_gpu_va_range_general, STREAM_BYTES, PAGE, 0, &va, &range, 0), "address");
	die_if(amdgpu_bo_va_op(f->stream, 0, STREAM_BYTES, va, 0, AMDGPU_VA_OP_MAP), "mapping into the GPU");
	f->ib.va_start = va;
	f->ib.ip_type = AMDGPU_HW_IP_COMPUTE;
}

/* n dispatches of a kernel that was set already, no barriers. */
static void
fill_stream(struct floor *f, uint32_t n)
{
	uint32_t *to = f->dwords;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t one[DISPATCH_DWORDS] = { pm4_header(PM4_OP_SET_SH_REG, 3), 0x240, i, 0,
							pm4_header(PM4_OP_DISPATCH_DIRECT, 4), 1, 1, 1, 1 };

		memcpy(to, one, sizeof(one));
		to += DISPATCH_DWORDS;
	}
	f->ib.ib_bytes = (uint32_t)((to - f->dwords) * 4);
}

static struct drm_amdgpu_cs_chunk
chunk(uint32_t id, const void *data, size_t bytes)
{
	return (struct drm_amdgpu_cs_chunk){ id, (uint32_t)(bytes / 4), (uintptr_t)data };
}

static void
make_chunks(struct floor *f)
{
	struct amdgpu_cs_fence_info info;
	void *cpu;

	f->fence = make_buffer(f, PAGE, 0, &cpu);
	f->word = cpu;
	info = (struct amdgpu_cs_fence_info){ f->fence, 0 };
	amdgpu_cs_chunk_fence_info_to_data(&info, &f->user_fence);
	f->signal.handle = f->timeline;
	f->polled[0] = f->waited[0] = chunk(AMDGPU_CHUNK_ID_IB, &f->ib, sizeof(f->ib));
	f->polled[1] = chunk(AMDGPU_CHUNK_ID_FENCE, &f->user_fence, sizeof(struct drm_amdgpu_cs_chunk_fence));
	f->waited[1] = chunk(AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &f->signal, sizeof(f->signal));
}

static void
run_poll(void *arg, unsigned n)
{
	struct floor *f = arg;
	uint64_t seq;

	while (n--) {
		die_if(amdgpu_cs_submit_raw2(f->device, f->context, 0, 2, f->polled, &seq), "submit");
		while (__atomic_load_n(f->word, __ATOMIC_ACQUIRE) < seq)
			;
	}
}

static void
run_wait(void *arg, unsigned n)
{
	struct floor *f = arg;
	uint64_t seq;

	while (n--) {
		f->signal.point = ++f->point;
		die_if(amdgpu_cs_submit_raw2(f->device, f->context, 0, 2, f->waited, &seq), "submit");
		die_if(drmSyncobjTimelineWait(f->fd, &f->timeline, &f->point, 1, INT64_MAX, 0, NULL), "wait");
	}
}

int
main(int argc, char **argv)
{
	static struct floor f;

	open_device(&f);
	make_stream(&f);
	make_chunks(&f);
	for (int i = 1; i < argc; i++) {
		uint32_t n = (uint32_t)atoi(argv[i]);

		if (!n || n > STREAM_BYTES / 4 / DISPATCH_DWORDS) {
			fprintf(stderr, "bench-submit-floor: %s dispatches, 1 to %u are possible\n", argv[i],
				STREAM_BYTES / 4 / DISPATCH_DWORDS);
			return 2;
		}
		fill_stream(&f, n);
		printf("plan %s %" PRIu32 " %" PRIu32 " 0\n", argv[i], n, f.ib.ib_bytes / 4);
		mark_case("poll", argv[i], run_poll, &f);
		mark_case("wait", argv[i], run_wait, &f);
	}
	return 0;
}
