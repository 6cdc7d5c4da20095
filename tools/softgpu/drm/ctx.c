/* SPDX-License-Identifier: MIT */
/* ctx.c: amdgpu contexts and their entities (Linux 6.12 amdgpu_ctx.c). */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

#define MAX_CTX 4095

#define PSTATE_MASK 0xfu
#define PSTATE_LAST AMDGPU_CTX_STABLE_PSTATE_PEAK

/* amdgpu_ctx_num_entities, indexed by AMDGPU_HW_IP_* */
unsigned
sg_ip_entities(uint32_t ip)
{
	switch (ip) {
	case AMDGPU_HW_IP_COMPUTE: return 4;
	case AMDGPU_HW_IP_DMA: return 2;
	default: return ip < SG_HW_IP_NUM ? 1 : 0;
	}
}

uint32_t
sg_ip_ring_mask(uint32_t ip)
{
	const struct sg_profile *p = sg_config()->profile;

	switch (ip) {
	case AMDGPU_HW_IP_GFX: return p->gfx_rings;
	case AMDGPU_HW_IP_COMPUTE: return p->compute_rings;
	case AMDGPU_HW_IP_DMA: return p->sdma_rings;
	default: return 0;
	}
}

struct sg_ctx *
sg_ctx_find(struct sg_file *file, uint32_t id)
{
	return sg_handle_find(&file->ctxs, id);
}

struct sg_ctx *
sg_ctx_ref(struct sg_ctx *ctx)
{
	ctx->refs++;
	return ctx;
}

void
sg_ctx_unref(struct sg_ctx *ctx)
{
	if (!ctx || --ctx->refs > 0)
		return;
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		for (unsigned ring = 0; ring < SG_MAX_RINGS; ring++)
			sg_entity_free(ctx->entities[ip][ring]);
	sg_dev.ctx_objects--;
	free(ctx);
}

static struct sg_entity *
entity_create(struct sg_ctx *ctx, uint32_t ip, uint32_t index)
{
	struct sg_entity *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->ctx = ctx;
	e->ip = ip;
	/* With fewer rings than entities a ring below stands in. */
	for (e->ring = index; !(sg_ip_ring_mask(ip) >> e->ring & 1) && e->ring > 0;)
		e->ring--;
	e->sequence = 1;
	e->context = sg_fence_context();
	e->tail = &e->head;
	ctx->entities[ip][index] = e;
	return e;
}

int
sg_ctx_entity(struct sg_ctx *ctx, uint32_t ip, uint32_t instance, uint32_t ring, struct sg_entity **out)
{
	if (ip >= SG_HW_IP_NUM || instance != 0 || ring >= sg_ip_entities(ip))
		return -EINVAL;
	if (sg_ip_ring_mask(ip) == 0)
		return -EINVAL; /* no such engine on this chip */
	struct sg_entity *e = ctx->entities[ip][ring];
	if (!e)
		e = entity_create(ctx, ip, ring);
	if (!e)
		return -ENOMEM;
	*out = e;
	return sg_entity_error(e);
}

int
sg_entity_fence(struct sg_entity *e, uint64_t seq, struct sg_fence **out)
{
	*out = NULL;
	if (seq == UINT64_MAX)
		seq = e->sequence - 1;
	if (seq >= e->sequence)
		return -EINVAL;
	if (seq + SG_ENTITY_DEPTH < e->sequence)
		return 0;
	*out = sg_fence_ref(e->fences[seq % SG_ENTITY_DEPTH]);
	return 0;
}

/* ---- ioctls ---- */

/* Unknown values silently become normal, as in amdgpu_ctx_priority_is_valid's caller. */
static int32_t
priority_known(int32_t priority)
{
	switch (priority) {
	case AMDGPU_CTX_PRIORITY_VERY_LOW:
	case AMDGPU_CTX_PRIORITY_LOW:
	case AMDGPU_CTX_PRIORITY_NORMAL:
	case AMDGPU_CTX_PRIORITY_HIGH:
	case AMDGPU_CTX_PRIORITY_VERY_HIGH:
	case AMDGPU_CTX_PRIORITY_UNSET:
		return priority;
	default:
		return AMDGPU_CTX_PRIORITY_NORMAL;
	}
}

static enum sg_priority
priority_level(int32_t priority)
{
	if (priority == AMDGPU_CTX_PRIORITY_UNSET)
		return SG_PRIORITY_NORMAL;
	if (priority > AMDGPU_CTX_PRIORITY_NORMAL)
		return SG_PRIORITY_HIGH;
	return priority < AMDGPU_CTX_PRIORITY_NORMAL ? SG_PRIORITY_LOW : SG_PRIORITY_NORMAL;
}

static bool
may_raise_priority(const struct sg_file *file)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { 0 };

	if (file->primary) /* DRM master */
		return true;
	syscall(SYS_capget, &head, caps);
	return caps[0].effective >> CAP_SYS_NICE & 1;
}

static int
ctx_alloc(struct sg_file *file, union drm_amdgpu_ctx *args)
{
	int32_t priority = priority_known(args->in.priority);

	if (priority > AMDGPU_CTX_PRIORITY_NORMAL && !may_raise_priority(file))
		return -EACCES;
	struct sg_ctx *ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->refs = 1;
	ctx->file = file;
	ctx->priority = priority;
	ctx->level = priority_level(priority);
	ctx->reset_counter = ctx->reset_counter_query = sg_dev.reset_counter;
	ctx->vram_lost_counter = sg_dev.vram_lost_counter;
	ctx->generation = sg_file_generation(file);
	ctx->id = sg_handle_add(&file->ctxs, ctx, MAX_CTX);
	if (!ctx->id) {
		free(ctx);
		return -ENOSPC;
	}
	sg_dev.ctx_objects++;
	args->out.alloc.ctx_id = ctx->id;
	args->out.alloc._pad = 0;
	return 0;
}

static int
ctx_free(struct sg_file *file, uint32_t id)
{
	struct sg_ctx *ctx = sg_handle_remove(&file->ctxs, id);

	if (!ctx)
		return -EINVAL;
	if (sg_dev.pstate_owner == ctx)
		sg_dev.pstate_owner = NULL;
	sg_ctx_unref(ctx);
	return 0;
}

static int
query_state(struct sg_file *file, union drm_amdgpu_ctx *args)
{
	struct sg_ctx *ctx = sg_ctx_find(file, args->in.ctx_id);

	if (!ctx)
		return -EINVAL;
	args->out.state.flags = 0;
	args->out.state.hangs = 0;
	args->out.state.reset_status = ctx->reset_counter_query == sg_dev.reset_counter ? AMDGPU_CTX_NO_RESET
										       : AMDGPU_CTX_UNKNOWN_RESET;
	ctx->reset_counter_query = sg_dev.reset_counter;
	return 0;
}

static int
query_state2(struct sg_file *file, union drm_amdgpu_ctx *args)
{
	struct sg_ctx *ctx = sg_ctx_find(file, args->in.ctx_id);

	if (!ctx)
		return -EINVAL;
	args->out.state.flags = 0;
	args->out.state.hangs = 0;
	args->out.state.reset_status = 0;
	if (ctx->reset_counter != sg_dev.reset_counter)
		args->out.state.flags |= AMDGPU_CTX_QUERY2_FLAGS_RESET;
	if (ctx->generation != sg_file_generation(file))
		args->out.state.flags |= AMDGPU_CTX_QUERY2_FLAGS_VRAMLOST;
	if (ctx->guilty)
		args->out.state.flags |= AMDGPU_CTX_QUERY2_FLAGS_GUILTY;
	return 0;
}

static int
get_pstate(struct sg_file *file, union drm_amdgpu_ctx *args)
{
	struct sg_ctx *ctx = sg_ctx_find(file, args->in.ctx_id);

	if (args->in.flags || !ctx)
		return -EINVAL;
	args->out.pstate.flags = ctx->stable_pstate;
	args->out.pstate._pad = 0;
	return 0;
}

static int
set_pstate(struct sg_file *file, union drm_amdgpu_ctx *args)
{
	struct sg_ctx *ctx = sg_ctx_find(file, args->in.ctx_id);
	uint32_t wanted = args->in.flags;

	if ((wanted & ~PSTATE_MASK) || wanted > PSTATE_LAST || !ctx)
		return -EINVAL;
	if (sg_dev.pstate_owner && sg_dev.pstate_owner != ctx)
		return -EBUSY;
	ctx->stable_pstate = wanted;
	sg_dev.pstate_owner = wanted == AMDGPU_CTX_STABLE_PSTATE_NONE ? NULL : ctx;
	return 0;
}

int
sg_ioctl_ctx(struct sg_file *file, void *data)
{
	union drm_amdgpu_ctx *args = data;

	if (args->in.op == AMDGPU_CTX_OP_SET_STABLE_PSTATE)
		return set_pstate(file, args);
	if (args->in.flags)
		return -EINVAL;
	switch (args->in.op) {
	case AMDGPU_CTX_OP_ALLOC_CTX: return ctx_alloc(file, args);
	case AMDGPU_CTX_OP_FREE_CTX: return ctx_free(file, args->in.ctx_id);
	case AMDGPU_CTX_OP_QUERY_STATE: return query_state(file, args);
	case AMDGPU_CTX_OP_QUERY_STATE2: return query_state2(file, args);
	case AMDGPU_CTX_OP_GET_STABLE_PSTATE: return get_pstate(file, args);
	default: return -EINVAL;
	}
}

/* Priorities of other files' contexts; only the DRM master (checked by the table) gets here. */
int
sg_ioctl_sched(struct sg_file *file, void *data)
{
	union drm_amdgpu_sched *args = data;
	int32_t priority = args->in.priority;

	(void)file;
	if (args->in.op != AMDGPU_SCHED_OP_PROCESS_PRIORITY_OVERRIDE &&
	    args->in.op != AMDGPU_SCHED_OP_CONTEXT_PRIORITY_OVERRIDE)
		return -EINVAL;
	if (priority != priority_known(priority))
		return -EINVAL;
	struct sg_desc *desc = sg_fd_get((int)args->in.fd);
	if (!desc || desc->kind != SG_DESC_NODE) {
		sg_desc_unref(desc);
		return -EINVAL;
	}
	struct sg_file *target = desc->object;
	int r = 0;
	for (uint32_t id = 1; id <= target->ctxs.room; id++) {
		struct sg_ctx *ctx = sg_ctx_find(target, id);
		if (ctx && (args->in.op == AMDGPU_SCHED_OP_PROCESS_PRIORITY_OVERRIDE || args->in.ctx_id == id))
			ctx->level = priority_level(priority);
	}
	if (args->in.op == AMDGPU_SCHED_OP_CONTEXT_PRIORITY_OVERRIDE && !sg_ctx_find(target, args->in.ctx_id))
		r = -EINVAL;
	sg_desc_unref(desc);
	return r;
}
