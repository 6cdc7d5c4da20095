/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <xf86drm.h>

#include "cs.h"

static struct drm_amdgpu_cs_chunk
chunk(uint32_t id, const void *data, size_t bytes)
{
	return (struct drm_amdgpu_cs_chunk){ id, (uint32_t)(bytes / 4), (uintptr_t)data };
}

void
gp_cs_init(struct gp_cs *cs, uint32_t syncobj)
{
	memset(cs, 0, sizeof(*cs));
	cs->out.handle = syncobj;
	for (int i = 0; i < GP_CS_IBS; i++) {
		cs->ibs[i].ip_type = AMDGPU_HW_IP_COMPUTE;
		cs->chunks[i] = chunk(AMDGPU_CHUNK_ID_IB, &cs->ibs[i], sizeof(cs->ibs[i]));
	}
	cs->chunks[GP_CS_IBS] = chunk(AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &cs->out, sizeof(cs->out));
	for (int i = 0; i <= GP_CS_IBS; i++)
		cs->pointers[i] = (uintptr_t)&cs->chunks[i];
	gp_cs_set_count(cs, 1);
}

void
gp_cs_set_ib(struct gp_cs *cs, bool first, uint64_t va, uint32_t bytes)
{
	cs->ibs[!first].va_start = va;
	cs->ibs[!first].ib_bytes = bytes;
}

int
gp_cs_again(const struct gp_cs *cs, int fd, uint32_t context)
{
	while (errno == EINTR || errno == EAGAIN)
		if (!gp_cs_submit(cs, fd, context))
			return 0;
	return -errno;
}

/* ---- amdgpu contexts ---- */

static int
context_call(int fd, uint32_t op, uint32_t context, union drm_amdgpu_ctx *args)
{
	*args = (union drm_amdgpu_ctx){ .in = { .op = op, .ctx_id = context, .priority = AMDGPU_CTX_PRIORITY_NORMAL } };
	return drmCommandWriteRead(fd, DRM_AMDGPU_CTX, args, sizeof(*args));
}

int
gp_cs_context_create(int fd, uint32_t *context)
{
	union drm_amdgpu_ctx args;
	int r = context_call(fd, AMDGPU_CTX_OP_ALLOC_CTX, 0, &args);

	if (!r)
		*context = args.out.alloc.ctx_id;
	return r;
}

void
gp_cs_context_destroy(int fd, uint32_t context)
{
	union drm_amdgpu_ctx args;

	context_call(fd, AMDGPU_CTX_OP_FREE_CTX, context, &args);
}

int
gp_cs_context_query(int fd, uint32_t context, uint64_t *flags)
{
	union drm_amdgpu_ctx args;
	int r = context_call(fd, AMDGPU_CTX_OP_QUERY_STATE2, context, &args);

	if (!r)
		*flags = args.out.state.flags;
	return r;
}
