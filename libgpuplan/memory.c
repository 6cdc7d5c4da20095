/* SPDX-License-Identifier: MIT */
/* memory.c: buffer objects, their addresses, and the ledger that counts them to the byte. */
#include <amdgpu_drm.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "error.h"

/* GEM_CREATE rounds sizes to it (Linux amdgpu_gem.c: AMDGPU_GPU_PAGE_SIZE). */
#define GPU_PAGE 4096ull
/* pte_fragment_size: a buffer that large gets page-directory entries and large TLB fragments when aligned to it. */
#define GPU_FRAGMENT 0x200000ull
/* Half of the 48-bit address space is the general range: no buffer is larger. */
#define GPU_SPACE (1ull << 47)

#define VM_ACCESS (AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE | AMDGPU_VM_PAGE_EXECUTABLE)

/* ---- ledger ---- */

/* A sum of buffers, counted in or out of a context in one step. */
struct ledger {
	uint64_t bytes[GP_PURPOSES];
	uint64_t buffers;
};

static uint64_t
ledger_total(const struct ledger *sum)
{
	uint64_t total = 0;

	for (int i = 0; i < GP_PURPOSES; i++)
		total += sum->bytes[i];
	return total;
}

/* -ENOMEM, and nothing changes, when the budget has no room. */
static int
ledger_add(struct gpuplan_context *context, const struct ledger *sum, const char *what,
	   struct gpuplan_error *error)
{
	uint64_t wanted = ledger_total(sum), used;
	bool fits;

	pthread_mutex_lock(&context->lock);
	used = context->total;
	fits = !context->budget || (wanted <= context->budget && used <= context->budget - wanted);
	if (fits) {
		for (int i = 0; i < GP_PURPOSES; i++)
			context->bytes[i] += sum->bytes[i];
		context->total += wanted;
		context->buffers += sum->buffers;
	}
	pthread_mutex_unlock(&context->lock);
	if (fits)
		return 0;
	return gp_error(error, -ENOMEM,
			"%s wants %" PRIu64 " bytes, %" PRIu64 " of the budget of %" PRIu64 " bytes are used", what, wanted,
			used, context->budget);
}

static void
ledger_remove(struct gpuplan_context *context, const struct ledger *sum)
{
	pthread_mutex_lock(&context->lock);
	for (int i = 0; i < GP_PURPOSES; i++)
		context->bytes[i] -= sum->bytes[i];
	context->total -= ledger_total(sum);
	context->buffers -= sum->buffers;
	pthread_mutex_unlock(&context->lock);
}

/* Only memory that was really there raises the peak. */
static void
ledger_note_peak(struct gpuplan_context *context)
{
	pthread_mutex_lock(&context->lock);
	if (context->total > context->peak)
		context->peak = context->total;
	pthread_mutex_unlock(&context->lock);
}

static void
ledger_count(struct ledger *sum, const struct gp_buffer *buffer)
{
	sum->bytes[buffer->purpose] += buffer->bytes;
	sum->buffers++;
}

void
gpuplan_context_get_memory(const struct gpuplan_context *const_context, struct gpuplan_memory *memory)
{
	/* The lock is the one member a reader changes. */
	struct gpuplan_context *context = (struct gpuplan_context *)const_context;

	pthread_mutex_lock(&context->lock);
	*memory = (struct gpuplan_memory){
		.weights = context->bytes[GP_FOR_WEIGHTS],
		.code = context->bytes[GP_FOR_CODE],
		.session = context->bytes[GP_FOR_SESSION],
		.plans = context->bytes[GP_FOR_PLANS],
		.slots = context->bytes[GP_FOR_SLOTS],
		.total = context->total,
		.peak = context->peak,
		.buffers = context->buffers,
	};
	pthread_mutex_unlock(&context->lock);
}

/* ---- buffers ---- */

static uint64_t
buffer_alignment(const struct gp_buffer *buffer)
{
	return buffer->bytes >= GPU_FRAGMENT ? GPU_FRAGMENT : GPU_PAGE;
}

/* Always valid: in the VM of every submission without being listed. Explicit sync: no implicit fences. */
static int
buffer_alloc(struct gp_buffer *buffer)
{
	struct amdgpu_bo_alloc_request request = {
		.alloc_size = buffer->bytes,
		.phys_alignment = buffer_alignment(buffer),
		.preferred_heap = AMDGPU_GEM_DOMAIN_GTT,
		.flags = AMDGPU_GEM_CREATE_VM_ALWAYS_VALID | AMDGPU_GEM_CREATE_EXPLICIT_SYNC,
	};

	switch (buffer->heap) {
	case GP_HEAP_DEVICE:
		request.preferred_heap = AMDGPU_GEM_DOMAIN_VRAM;
		request.flags |= AMDGPU_GEM_CREATE_NO_CPU_ACCESS;
		break;
	case GP_HEAP_UPLOAD:
		request.flags |= AMDGPU_GEM_CREATE_CPU_GTT_USWC;
		break;
	case GP_HEAP_HOST:
		break;
	}
	return amdgpu_bo_alloc(buffer->context->device, &request, &buffer->bo);
}

static int
buffer_reserve_va(struct gp_buffer *buffer)
{
	return amdgpu_va_range_alloc(buffer->context->device, amdgpu_gpu_va_range_general, buffer->bytes,
				     buffer_alignment(buffer), 0, &buffer->va, &buffer->va_handle, 0);
}

static int
buffer_map_gpu(struct gp_buffer *buffer)
{
	return amdgpu_bo_va_op_raw(buffer->context->device, buffer->bo, 0, buffer->bytes, buffer->va, VM_ACCESS,
				   AMDGPU_VA_OP_MAP);
}

static int
buffer_map_cpu(struct gp_buffer *buffer)
{
	int r;

	if (buffer->heap == GP_HEAP_DEVICE)
		return 0;
	r = amdgpu_bo_cpu_map(buffer->bo, &buffer->cpu);
	if (r) {
		buffer->cpu = NULL;
		return r;
	}
	if (buffer->heap == GP_HEAP_HOST)
		memset(buffer->cpu, 0, buffer->bytes);
	return 0;
}

static void
buffer_unmap_gpu(struct gp_buffer *buffer)
{
	amdgpu_bo_va_op_raw(buffer->context->device, buffer->bo, 0, buffer->bytes, buffer->va, 0, AMDGPU_VA_OP_UNMAP);
}

/* The steps in order; step says which one failed. What was done is undone. */
static int
buffer_open(struct gp_buffer *buffer, const char **step)
{
	int r;

	*step = "create the buffer";
	r = buffer_alloc(buffer);
	if (r)
		return r;
	*step = "find a GPU address";
	r = buffer_reserve_va(buffer);
	if (r)
		goto fail_va;
	*step = "map it for the GPU";
	r = buffer_map_gpu(buffer);
	if (r)
		goto fail_map;
	*step = "map it for the CPU";
	r = buffer_map_cpu(buffer);
	if (!r)
		return 0;

	buffer_unmap_gpu(buffer);
fail_map:
	amdgpu_va_range_free(buffer->va_handle);
fail_va:
	amdgpu_bo_free(buffer->bo);
	return r;
}

static void
buffer_close(struct gp_buffer *buffer)
{
	if (buffer->cpu)
		amdgpu_bo_cpu_unmap(buffer->bo);
	/* amdgpu_va_range_free is book-keeping only. */
	buffer_unmap_gpu(buffer);
	amdgpu_va_range_free(buffer->va_handle);
	amdgpu_bo_free(buffer->bo);
}

/* Offline a buffer is an address nobody else gets and, where the CPU writes, plain memory. */
static int
buffer_open_offline(struct gp_buffer *buffer, const char **step)
{
	struct gpuplan_context *context = buffer->context;
	uint64_t align = buffer_alignment(buffer);

	*step = "find plain memory for it";
	if (buffer->heap != GP_HEAP_DEVICE) {
		buffer->cpu = aligned_alloc(GPU_PAGE, buffer->bytes);
		if (!buffer->cpu)
			return -ENOMEM;
		memset(buffer->cpu, 0, buffer->bytes);
	}
	pthread_mutex_lock(&context->lock);
	buffer->va = (context->next_va + align - 1) & ~(align - 1);
	context->next_va = buffer->va + buffer->bytes;
	pthread_mutex_unlock(&context->lock);
	return 0;
}

/* The kernel's own word is kept where the API documents it; anything else means there is no memory to be had. */
static int
open_failed(const struct gp_buffer *buffer, int r, const char *what, const char *step, struct gpuplan_error *error)
{
	return gp_error(error, r == -ECHILD ? r : -ENOMEM, "%s wants %" PRIu64 " bytes on %s, which cannot %s: %s", what,
			buffer->bytes, buffer->context->info.device, step, strerror(-r));
}

static int
check_size(uint64_t bytes, const char *what, struct gpuplan_error *error)
{
	if (!bytes)
		return gp_error(error, -EINVAL, "%s wants 0 bytes, at least 1 is needed", what);
	if (bytes > GPU_SPACE)
		return gp_error(error, -ENOMEM, "%s wants %" PRIu64 " bytes, GPU addresses span %" PRIu64, what, bytes,
				(uint64_t)GPU_SPACE);
	return 0;
}

int
gp_buffer_create(struct gpuplan_context *context, uint64_t bytes, enum gp_heap heap, enum gp_purpose purpose,
		 const char *what, struct gp_buffer **out, struct gpuplan_error *error)
{
	struct gp_buffer *buffer;
	struct ledger sum = { 0 };
	const char *step;
	int r = check_size(bytes, what, error);

	if (r)
		return r;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return gp_error(error, -ENOMEM, "no memory to describe %s", what);
	buffer->context = context;
	buffer->bytes = (bytes + GPU_PAGE - 1) & ~(GPU_PAGE - 1);
	buffer->heap = heap;
	buffer->purpose = purpose;
	ledger_count(&sum, buffer);
	r = ledger_add(context, &sum, what, error);
	if (r) {
		free(buffer);
		return r;
	}
	r = context->offline ? buffer_open_offline(buffer, &step) : buffer_open(buffer, &step);
	if (r) {
		r = open_failed(buffer, r, what, step, error);
		ledger_remove(context, &sum);
		free(buffer);
		return r;
	}
	ledger_note_peak(context);
	*out = buffer;
	return 0;
}

void
gp_buffer_destroy(struct gp_buffer *buffer)
{
	struct ledger sum = { 0 };

	if (!buffer)
		return;
	if (buffer->context->offline)
		free(buffer->cpu);
	else
		buffer_close(buffer);
	ledger_count(&sum, buffer);
	ledger_remove(buffer->context, &sum);
	free(buffer);
}

int
gp_buffers_move(struct gp_buffer *const *buffers, uint32_t n, struct gpuplan_context *context, const char *what,
		struct gpuplan_error *error)
{
	struct gpuplan_context *from = NULL;
	struct ledger sum = { 0 };
	int r;

	for (uint32_t i = 0; i < n; i++)
		if (buffers[i]) {
			from = buffers[i]->context;
			ledger_count(&sum, buffers[i]);
		}
	if (!from || from == context)
		return 0;
	r = ledger_add(context, &sum, what, error);
	if (r)
		return r;
	ledger_note_peak(context);
	for (uint32_t i = 0; i < n; i++)
		if (buffers[i])
			buffers[i]->context = context;
	ledger_remove(from, &sum);
	return 0;
}
