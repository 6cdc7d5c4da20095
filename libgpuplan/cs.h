/* SPDX-License-Identifier: MIT */
/* cs.h: amdgpu contexts and command submission, straight on libdrm's descriptor.
 *
 * libdrm's calls for them copy the chunk list and keep the context's number to themselves; a slot's chunks never change,
 * so they are made once and a submission is the ioctl alone.
 */
#ifndef GP_CS_H
#define GP_CS_H

#include <amdgpu_drm.h>
#include <stdbool.h>
#include <stdint.h>

/* The stream, and one that zeroes a slot's state before it. */
#define GP_CS_IBS 2

/* Points into itself: never moves. */
struct gp_cs {
	struct drm_amdgpu_cs_chunk_ib ibs[GP_CS_IBS]; /* [0] reset stream, [1] stream */
	struct drm_amdgpu_cs_chunk_sem out;
	struct drm_amdgpu_cs_chunk chunks[GP_CS_IBS + 1];
	uint64_t pointers[GP_CS_IBS + 1]; /* as the ioctl wants them */
};

/* Chunks for IBs of the compute ring and a binary syncobj to signal. */
void gp_cs_init(struct gp_cs *cs, uint32_t syncobj);
/* Where the stream is; first: it is the one that goes before. */
void gp_cs_set_ib(struct gp_cs *cs, bool first, uint64_t va, uint32_t bytes);
/* One CS ioctl without buffer list: all buffers are always valid. n_ibs 2: both streams, 1: the second. Repeated on
 * EINTR and EAGAIN. Errors: the kernel's. */
int gp_cs_submit(const struct gp_cs *cs, int fd, uint32_t context, uint32_t n_ibs);

/* An amdgpu context of normal priority; numbers are never 0. Errors: the kernel's. */
int gp_cs_context_create(int fd, uint32_t *context);
/* Jobs on it go on. */
void gp_cs_context_destroy(int fd, uint32_t context);
/* AMDGPU_CTX_QUERY2_FLAGS_*. Errors: the kernel's. */
int gp_cs_context_query(int fd, uint32_t context, uint64_t *flags);

#endif
