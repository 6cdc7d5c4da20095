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
#include <sys/ioctl.h>

/* The stream, and one that zeroes a slot's state before it. */
#define GP_CS_IBS 2

/* Points into itself: never moves. */
struct gp_cs {
	struct drm_amdgpu_cs_chunk_ib ibs[GP_CS_IBS]; /* [0] reset stream, [1] stream */
	struct drm_amdgpu_cs_chunk_sem out;
	struct drm_amdgpu_cs_chunk chunks[GP_CS_IBS + 1];
	uint64_t pointers[GP_CS_IBS + 1]; /* as the ioctl wants them */
	struct drm_amdgpu_cs_in next; /* all but ctx_id */
};

/* Chunks for IBs of the compute ring and a binary syncobj to signal. */
void gp_cs_init(struct gp_cs *cs, uint32_t syncobj);
/* Where the stream is; first: it is the one that goes before. */
void gp_cs_set_ib(struct gp_cs *cs, bool first, uint64_t va, uint32_t bytes);
/* How many streams the next submissions have: both, or (at first) the second alone. Without buffer list: all buffers
 * are always valid. */
static inline void
gp_cs_set_count(struct gp_cs *cs, uint32_t n)
{
	cs->next.num_chunks = n + 1;
	cs->next.chunks = (uintptr_t)&cs->pointers[GP_CS_IBS - n];
}

static inline bool
gp_cs_has_first(const struct gp_cs *cs)
{
	return cs->next.num_chunks == GP_CS_IBS + 1;
}

/* One CS ioctl. -1 and errno: once more with gp_cs_again, which knows what that errno means. */
static inline int
gp_cs_submit(const struct gp_cs *cs, int fd, uint32_t context)
{
	/* The answer overwrites it. */
	union drm_amdgpu_cs request = { .in = cs->next };

	request.in.ctx_id = context;
	return ioctl(fd, DRM_IOCTL_AMDGPU_CS, &request);
}

/* After a gp_cs_submit that failed: repeats it on EINTR and EAGAIN. Errors: the kernel's. */
int gp_cs_again(const struct gp_cs *cs, int fd, uint32_t context);

/* An amdgpu context of normal priority; numbers are never 0. Errors: the kernel's. */
int gp_cs_context_create(int fd, uint32_t *context);
/* Jobs on it go on. */
void gp_cs_context_destroy(int fd, uint32_t context);
/* AMDGPU_CTX_QUERY2_FLAGS_*. Errors: the kernel's. */
int gp_cs_context_query(int fd, uint32_t context, uint64_t *flags);

#endif
