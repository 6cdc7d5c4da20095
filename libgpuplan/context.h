/* SPDX-License-Identifier: MIT */
/* context.h: one opened GPU, its memory ledger and its buffers. */
#ifndef GP_CONTEXT_H
#define GP_CONTEXT_H

#include <amdgpu.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "gpuplan.h"
#include "target.h"

/* What a buffer is for: one column of the ledger each. */
enum gp_purpose { GP_FOR_WEIGHTS, GP_FOR_CODE, GP_FOR_SESSION, GP_FOR_PLANS, GP_FOR_SLOTS, GP_PURPOSES };

enum gp_heap {
	GP_HEAP_DEVICE,	 /* VRAM, no CPU access */
	GP_HEAP_HOST,	 /* GTT, cached and snooped, mapped for the life of the buffer */
	GP_HEAP_UPLOAD,	 /* GTT write-combined, mapped: the CPU only writes, in order */
};

struct gpuplan_context {
	const struct gp_target *target;
	bool offline;		/* no device: buffers are addresses and, if mapped, plain memory */
	amdgpu_device_handle device; /* libdrm shares one per node and process */
	int fd;			/* libdrm's, borrowed */
	pid_t pid;		/* creator: a forked child is refused */
	bool marked;		/* the kernel wipes process_mark in a child; else that is 0 and pid decides */
	const volatile uint32_t *process_mark; /* 1 here, 0 in a child */
	bool has_eventfd;	/* SYNCOBJ_EVENTFD works, found out on a throw-away syncobj */
	bool steady_ticks;	/* for gp_ticks */
	uint64_t doubt_ns;	/* half the smallest lockup timeout: older jobs are checked with the kernel */
	struct gpuplan_context_info info;

	pthread_mutex_t lock;	/* protects what follows */
	uint64_t budget;	/* 0: none */
	uint64_t bytes[GP_PURPOSES];
	uint64_t total, peak, buffers;
	uint64_t next_va;	/* offline: next address handed out */
};

struct gp_buffer {
	struct gpuplan_context *context; /* whose ledger counts it */
	amdgpu_bo_handle bo;
	amdgpu_va_handle va_handle;
	uint64_t va;		/* GPU address, at least 4 KiB aligned, 2 MiB for buffers that large */
	uint64_t bytes;		/* page-rounded: what GEM_CREATE got */
	void *cpu;		/* mapping of HOST and UPLOAD buffers, else NULL */
	enum gp_heap heap;
	enum gp_purpose purpose;
};

/* Allocates, maps into the GPU's address space (always valid, explicit sync; readable, writable, executable as
 * amdgpu_bo_va_op grants) and, for HOST and UPLOAD, into the CPU's. what names it in the error. HOST buffers start
 * zeroed. Errors: -ENOMEM device or budget. */
int gp_buffer_create(struct gpuplan_context *context, uint64_t bytes, enum gp_heap heap, enum gp_purpose purpose,
		     const char *what, struct gp_buffer **buffer, struct gpuplan_error *error);
void gp_buffer_destroy(struct gp_buffer *buffer); /* NULL is fine; the GPU must be done with it */
/* Moves the ledger entries of n buffers (NULLs are skipped) to another context on the same device, all or none: -ENOMEM
 * when its budget has no room. */
int gp_buffers_move(struct gp_buffer *const *buffers, uint32_t n, struct gpuplan_context *context, const char *what,
		    struct gpuplan_error *error);

/* -ECHILD in a forked child, else 0. */
static inline int
gp_context_check_process(const struct gpuplan_context *context)
{
	if (__builtin_expect(*context->process_mark, 1))
		return 0;
	return !context->marked && getpid() == context->pid ? 0 : -ECHILD;
}

/* Both contexts drive the same device file and address space. */
bool gp_context_same_device(const struct gpuplan_context *a, const struct gpuplan_context *b);

#endif
