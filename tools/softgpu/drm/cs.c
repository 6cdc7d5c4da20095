/* SPDX-License-Identifier: MIT */
/* cs.c: command submission: checks, in the kernel's order, then one or more jobs (Linux 6.12 amdgpu_cs.c).
 *
 * The lock is held throughout except while a WAIT_FOR_SUBMIT chunk or a full entity makes the caller sleep; what is
 * used after such a sleep is referenced.
 */
#define _GNU_SOURCE
#include "ioctls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_CP_GFX_SHADOW 0x0a
#define SHADOW_INIT 1u
#define IB_MAX_DWORDS 0xfffffu
#define CHUNKS_INLINE 16
#define POSTS_INLINE 8
/* The kernel's limit is what it can allocate. */
#define CHUNKS_MAX 65536

/* DRM_AMDGPU_CS chunk 10 (Linux 6.3) */
struct chunk_cp_gfx_shadow {
	uint64_t shadow_va, csa_va, gds_va, flags;
};

/* A syncobj to signal; point 0: replace its fence. */
struct post {
	struct sg_syncobj *syncobj; /* reference */
	uint64_t point;
};

struct cs {
	struct sg_file *file;
	struct sg_ctx *ctx; /* reference */
	const union drm_amdgpu_cs *args;
	unsigned n_chunks;
	struct drm_amdgpu_cs_chunk *chunks, chunks_inline[CHUNKS_INLINE];

	unsigned gang_size, leader;
	struct sg_entity *entities[SG_GANG_SIZE];
	struct sg_task *tasks[SG_GANG_SIZE];
	unsigned n_ibs[SG_GANG_SIZE]; /* counted by pass 1 */
	unsigned ce_preempt, de_preempt;

	struct sg_bo_list *list; /* reference */
	struct sg_gem *user_fence; /* reference */
	uint32_t user_fence_offset;

	bool has_posts;
	unsigned n_posts;
	struct post *posts, posts_inline[POSTS_INLINE];
};

/* ---- chunks ---- */

static uint32_t
chunk_bytes(const struct drm_amdgpu_cs_chunk *chunk)
{
	return chunk->length_dw * 4u;
}

static int
chunks_read(struct cs *cs)
{
	uint64_t at;

	cs->n_chunks = cs->args->in.num_chunks;
	cs->chunks = cs->chunks_inline;
	if (cs->n_chunks > CHUNKS_INLINE)
		cs->chunks = cs->n_chunks <= CHUNKS_MAX ? malloc(cs->n_chunks * sizeof(*cs->chunks)) : NULL;
	if (!cs->chunks)
		return -ENOMEM;
	for (unsigned i = 0; i < cs->n_chunks; i++) {
		int r = sg_copy_from(&at, cs->args->in.chunks + i * sizeof(at), sizeof(at));
		if (r == 0)
			r = sg_copy_from(&cs->chunks[i], at, sizeof(cs->chunks[i]));
		if (r)
			return r;
	}
	return 0;
}

/* ---- pass 1: which jobs ---- */

static unsigned
max_ibs(uint32_t ip)
{
	switch (ip) {
	case AMDGPU_HW_IP_GFX: return 192;
	case AMDGPU_HW_IP_COMPUTE: return 125;
	default: return 49;
	}
}

static int
pass1_ib(struct cs *cs, const struct drm_amdgpu_cs_chunk_ib *ib)
{
	struct sg_entity *entity;
	unsigned i = 0;

	int r = sg_ctx_entity(cs->ctx, ib->ip_type, ib->ip_instance, ib->ring, &entity);
	if (r)
		return r;
	while (i < cs->gang_size && cs->entities[i] != entity)
		i++;
	if (i >= SG_GANG_SIZE)
		return -EINVAL;
	if (i == cs->gang_size)
		cs->entities[cs->gang_size++] = entity;
	if (cs->n_ibs[i] >= max_ibs(ib->ip_type))
		return -EINVAL;
	cs->n_ibs[i]++;
	cs->leader = i; /* the last IB's entity leads */
	return 0;
}

static int
pass1_fence(struct cs *cs, const struct drm_amdgpu_cs_chunk_fence *fence)
{
	struct sg_gem *gem = sg_gem_find(cs->file, fence->handle);

	if (cs->user_fence || !gem)
		return -EINVAL;
	if (gem->bytes != SG_PAGE || fence->offset > SG_PAGE - 8 || gem->user_address)
		return -EINVAL;
	cs->user_fence = sg_gem_ref(gem);
	cs->user_fence_offset = fence->offset;
	return 0;
}

static int
pass1_chunk(struct cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	union {
		struct drm_amdgpu_cs_chunk_ib ib;
		struct drm_amdgpu_cs_chunk_fence fence;
		struct drm_amdgpu_bo_list_in list;
	} data;
	uint32_t bytes = chunk_bytes(chunk);
	int r;

	switch (chunk->chunk_id) {
	case AMDGPU_CHUNK_ID_IB:
		if (bytes < sizeof(data.ib))
			return -EINVAL;
		r = sg_copy_from(&data.ib, chunk->chunk_data, sizeof(data.ib));
		return r ? r : pass1_ib(cs, &data.ib);
	case AMDGPU_CHUNK_ID_FENCE:
		if (bytes < sizeof(data.fence))
			return -EINVAL;
		r = sg_copy_from(&data.fence, chunk->chunk_data, sizeof(data.fence));
		return r ? r : pass1_fence(cs, &data.fence);
	case AMDGPU_CHUNK_ID_BO_HANDLES:
		if (bytes < sizeof(data.list) || cs->list)
			return -EINVAL;
		r = sg_copy_from(&data.list, chunk->chunk_data, sizeof(data.list));
		return r ? r : sg_bo_list_create(cs->file, &data.list, &cs->list);
	case AMDGPU_CHUNK_ID_DEPENDENCIES:
	case AMDGPU_CHUNK_ID_SYNCOBJ_IN:
	case AMDGPU_CHUNK_ID_SYNCOBJ_OUT:
	case AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES:
	case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT:
	case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL:
	case CHUNK_CP_GFX_SHADOW:
		return 0;
	default:
		return -EINVAL;
	}
}

static int
tasks_create(struct cs *cs)
{
	for (unsigned i = 0; i < cs->gang_size; i++) {
		struct sg_task *t = cs->tasks[i] = sg_task_create();
		if (!t)
			return -ENOMEM;
		struct sg_entity *e = t->entity = cs->entities[i];
		t->ctx = sg_ctx_ref(cs->ctx);
		t->generation = sg_file_generation(cs->file);
		t->job.vm = sg_vm_ref(cs->file->vm);
		t->job.ip = e->ip;
		t->job.ring = e->ring;
		t->job.owner = t;
		t->finished = sg_fence_create(e->context, e->sequence);
		if (!t->finished)
			return -ENOMEM;
		t->finished->owner = cs->file;
	}
	return 0;
}

static int
pass1(struct cs *cs)
{
	int r = chunks_read(cs);

	for (unsigned i = 0; i < cs->n_chunks && r == 0; i++)
		r = pass1_chunk(cs, &cs->chunks[i]);
	if (r)
		return r;
	if (cs->gang_size == 0)
		return -EINVAL;
	r = tasks_create(cs);
	if (r)
		return r;
	return cs->ctx->generation != sg_file_generation(cs->file) ? -ECANCELED : 0;
}

/* ---- pass 2: what they run and wait for ---- */

static int
pass2_ib(struct cs *cs, const struct drm_amdgpu_cs_chunk_ib *ib)
{
	unsigned i = 0;

	/* Read a second time from memory that another thread may have changed. */
	if (ib->ip_type >= SG_IP_COUNT || ib->ring >= SG_MAX_RINGS)
		return -EINVAL;
	while (i < cs->gang_size && cs->entities[i] != cs->ctx->entities[ib->ip_type][ib->ring])
		i++;
	if (i == cs->gang_size || cs->tasks[i]->job.n_ibs == cs->n_ibs[i])
		return -EINVAL;
	if (ib->ip_type == AMDGPU_HW_IP_GFX && (ib->flags & AMDGPU_IB_FLAG_PREEMPT)) {
		unsigned *count = ib->flags & AMDGPU_IB_FLAG_CE ? &cs->ce_preempt : &cs->de_preempt;
		if (++*count > 1)
			return -EINVAL;
	}
	if (ib->ib_bytes / 4 > IB_MAX_DWORDS)
		return -EINVAL;
	struct sg_job *job = &cs->tasks[i]->job;
	job->ibs[job->n_ibs++] = (struct sg_ib){ .va = ib->va_start, .dwords = ib->ib_bytes / 4, .flags = ib->flags };
	return 0;
}

/* Every job of the gang waits; takes the reference over. */
static int
depend(struct cs *cs, struct sg_fence *fence)
{
	int r = 0;

	for (unsigned i = 0; i < cs->gang_size && r == 0; i++)
		/* The entity is a FIFO already. */
		if (fence->context != cs->entities[i]->context)
			r = sg_task_depend(cs->tasks[i], sg_fence_ref(fence));
	sg_fence_unref(fence);
	return r;
}

static int
pass2_dependencies(struct cs *cs, const struct drm_amdgpu_cs_chunk *chunk, bool scheduled)
{
	struct drm_amdgpu_cs_chunk_dep dep;

	for (uint32_t i = 0; i < chunk_bytes(chunk) / sizeof(dep); i++) {
		struct sg_entity *entity;
		struct sg_fence *fence;
		int r = sg_copy_from(&dep, chunk->chunk_data + i * sizeof(dep), sizeof(dep));
		if (r)
			return r;
		struct sg_ctx *ctx = sg_ctx_find(cs->file, dep.ctx_id);
		if (!ctx)
			return -EINVAL;
		r = sg_ctx_entity(ctx, dep.ip_type, dep.ip_instance, dep.ring, &entity);
		if (r == 0)
			r = sg_entity_fence(entity, dep.handle, &fence);
		if (r)
			return r;
		if (!fence)
			continue;
		if (scheduled) {
			struct sg_fence *started = sg_fence_scheduled(fence);
			sg_fence_unref(fence);
			fence = started;
		}
		r = depend(cs, fence);
		if (r)
			return r;
	}
	return 0;
}

static int
wait_point(struct cs *cs, const struct drm_amdgpu_cs_chunk_syncobj *wait)
{
	struct sg_fence *fence;

	int r = sg_syncobj_fence(cs->file, wait->handle, wait->point, wait->flags, &fence);
	return r ? r : depend(cs, fence);
}

/* SYNCOBJ_IN (handles only) and SYNCOBJ_TIMELINE_WAIT. */
static int
pass2_wait(struct cs *cs, const struct drm_amdgpu_cs_chunk *chunk, bool timeline)
{
	size_t each = timeline ? sizeof(struct drm_amdgpu_cs_chunk_syncobj) : sizeof(struct drm_amdgpu_cs_chunk_sem);

	for (uint32_t i = 0; i < chunk_bytes(chunk) / each; i++) {
		struct drm_amdgpu_cs_chunk_syncobj one = { 0 };
		int r = sg_copy_from(&one, chunk->chunk_data + i * each, each);
		if (r == 0)
			r = wait_point(cs, &one);
		if (r)
			return r;
	}
	return 0;
}

static int
pass2_signal(struct cs *cs, const struct drm_amdgpu_cs_chunk *chunk, bool timeline)
{
	size_t each = timeline ? sizeof(struct drm_amdgpu_cs_chunk_syncobj) : sizeof(struct drm_amdgpu_cs_chunk_sem);
	uint32_t n = (uint32_t)(chunk_bytes(chunk) / each);

	if (cs->has_posts)
		return -EINVAL;
	cs->has_posts = true;
	cs->posts = n <= POSTS_INLINE ? cs->posts_inline : malloc(n * sizeof(*cs->posts));
	if (!cs->posts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct drm_amdgpu_cs_chunk_syncobj one = { 0 };
		int r = sg_copy_from(&one, chunk->chunk_data + i * each, each);
		if (r)
			return r;
		struct sg_syncobj *s = sg_syncobj_find(cs->file, one.handle);
		if (!s)
			return -EINVAL;
		cs->posts[cs->n_posts++] = (struct post){ .syncobj = sg_syncobj_ref(s), .point = one.point };
	}
	return 0;
}

static int
pass2_shadow(const struct drm_amdgpu_cs_chunk *chunk)
{
	struct chunk_cp_gfx_shadow shadow;

	if (chunk_bytes(chunk) < sizeof(shadow))
		return -EINVAL;
	int r = sg_copy_from(&shadow, chunk->chunk_data, sizeof(shadow));
	if (r)
		return r;
	return shadow.flags & ~(uint64_t)SHADOW_INIT ? -EINVAL : 0;
}

static int
pass2_chunk(struct cs *cs, const struct drm_amdgpu_cs_chunk *chunk)
{
	struct drm_amdgpu_cs_chunk_ib ib;

	switch (chunk->chunk_id) {
	case AMDGPU_CHUNK_ID_IB:
		sg_copy_from(&ib, chunk->chunk_data, sizeof(ib));
		return pass2_ib(cs, &ib);
	case AMDGPU_CHUNK_ID_DEPENDENCIES: return pass2_dependencies(cs, chunk, false);
	case AMDGPU_CHUNK_ID_SCHEDULED_DEPENDENCIES: return pass2_dependencies(cs, chunk, true);
	case AMDGPU_CHUNK_ID_SYNCOBJ_IN: return pass2_wait(cs, chunk, false);
	case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_WAIT: return pass2_wait(cs, chunk, true);
	case AMDGPU_CHUNK_ID_SYNCOBJ_OUT: return pass2_signal(cs, chunk, false);
	case AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL: return pass2_signal(cs, chunk, true);
	case CHUNK_CP_GFX_SHADOW: return pass2_shadow(chunk);
	default: return 0;
	}
}

/* ---- buffers ---- */

static int
list_find(struct cs *cs)
{
	if (!cs->args->in.bo_list_handle)
		return cs->list ? sg_bo_list_validate(cs->list) : 0;
	if (cs->list)
		return -EINVAL;
	struct sg_bo_list *list = sg_handle_find(&cs->file->bo_lists, cs->args->in.bo_list_handle);
	if (!list)
		return -ENOENT;
	list->refs++;
	cs->list = list;
	return sg_bo_list_validate(list);
}

/* A buffer shared without EXPLICIT_SYNC waits for the jobs of every other open file that used it. */
static int
implicit_sync(struct cs *cs)
{
	int r = 0;

	for (unsigned i = 0; cs->list && i < cs->list->n && r == 0; i++) {
		struct sg_gem *gem = cs->list->gems[i];
		struct sg_resv *resv = sg_gem_resv(gem);
		if (gem->flags & AMDGPU_GEM_CREATE_EXPLICIT_SYNC)
			continue;
		for (unsigned k = 0; k < resv->count && r == 0; k++)
			if (resv->fences[k]->owner != cs->file)
				r = depend(cs, sg_fence_ref(resv->fences[k]));
	}
	return r;
}

/* ---- submission ---- */

/* Sleeps while the leader's entity has 32 jobs outstanding. */
static int
slot_wait(struct cs *cs)
{
	struct sg_entity *e = cs->entities[cs->leader];

	for (;;) {
		struct sg_fence *oldest = e->fences[e->sequence % SG_ENTITY_DEPTH];
		if (!oldest || sg_fence_is_signaled(oldest))
			return 0;
		int r = sg_fence_wait(oldest, INT64_MAX, true);
		if (r)
			return r;
	}
}

static void
reserve_buffers(struct cs *cs, struct sg_fence *fence)
{
	sg_resv_add(&cs->file->root, fence);
	for (unsigned i = 0; cs->list && i < cs->list->n; i++) {
		struct sg_gem *gem = cs->list->gems[i];
		if (gem->root != cs->file)
			sg_resv_add(sg_gem_resv(gem), fence);
		sg_dmabuf_busy(gem, fence);
	}
	if (cs->user_fence) {
		if (cs->user_fence->root != cs->file)
			sg_resv_add(sg_gem_resv(cs->user_fence), fence);
		sg_dmabuf_busy(cs->user_fence, fence);
	}
}

static void
signal_posts(struct cs *cs, struct sg_fence *fence)
{
	for (unsigned i = 0; i < cs->n_posts; i++) {
		struct post *post = &cs->posts[i];
		if (post->point)
			sg_syncobj_add_point(post->syncobj, fence, post->point);
		else
			sg_syncobj_replace(post->syncobj, fence);
	}
}

/* No return from here. */
static uint64_t
submit(struct cs *cs)
{
	struct sg_entity *e = cs->entities[cs->leader];
	struct sg_task *t = cs->tasks[cs->leader];
	struct sg_fence *fence = t->finished;
	uint64_t seq = e->sequence++;

	fence->seqno = seq;
	sg_fence_unref(e->fences[seq % SG_ENTITY_DEPTH]);
	e->fences[seq % SG_ENTITY_DEPTH] = sg_fence_ref(fence);
	if (cs->user_fence) {
		t->job.user_fence = (volatile uint64_t *)(void *)(cs->user_fence->bo->host + cs->user_fence_offset);
		t->job.user_fence_value = seq;
		t->user_fence_bo = sg_gem_ref(cs->user_fence);
	}
	sg_fence_ref(fence);
	if (cs->gang_size == 1 && sg_task_pretend(t)) {
		cs->tasks[0] = NULL;
		signal_posts(cs, fence);
		sg_fence_unref(fence);
		return seq;
	}
	reserve_buffers(cs, fence);
	signal_posts(cs, fence);
	for (unsigned i = 0; i < cs->gang_size; i++) {
		struct sg_task *member = cs->tasks[i];
		cs->tasks[i] = NULL;
		if (i == cs->leader)
			continue;
		/* The leader starts when all members are on their rings. */
		sg_task_depend(t, sg_fence_scheduled(member->finished));
		sg_resv_add(&cs->file->root, member->finished);
		sg_task_push(member);
	}
	sg_task_push(t);
	sg_fence_unref(fence);
	return seq;
}

static int
cs_run(struct cs *cs, uint64_t *seq)
{
	int r = pass1(cs);

	for (unsigned i = 0; i < cs->n_chunks && r == 0; i++)
		r = pass2_chunk(cs, &cs->chunks[i]);
	if (r == 0)
		r = list_find(cs);
	if (r == 0)
		r = implicit_sync(cs);
	if (r == 0)
		r = slot_wait(cs);
	if (r == 0)
		*seq = submit(cs);
	return r;
}

static void
cs_end(struct cs *cs)
{
	for (unsigned i = 0; i < cs->gang_size; i++)
		sg_task_free(cs->tasks[i]);
	for (unsigned i = 0; i < cs->n_posts; i++)
		sg_syncobj_unref(cs->posts[i].syncobj);
	if (cs->posts != cs->posts_inline)
		free(cs->posts);
	if (cs->chunks != cs->chunks_inline)
		free(cs->chunks);
	sg_bo_list_unref(cs->list);
	sg_gem_unref(cs->user_fence);
	sg_ctx_unref(cs->ctx);
}

/* Not memset as a whole: the inline arrays are most of it and written before they are read. */
static void
cs_init(struct cs *cs, struct sg_file *file, const union drm_amdgpu_cs *args)
{
	cs->file = file;
	cs->args = args;
	cs->n_chunks = 0;
	cs->chunks = NULL;
	memset(&cs->gang_size, 0, offsetof(struct cs, posts_inline) - offsetof(struct cs, gang_size));
}

int
sg_ioctl_cs(struct sg_file *file, void *data)
{
	union drm_amdgpu_cs *args = data;
	uint64_t seq = 0;
	struct cs cs;

	if (args->in.num_chunks == 0)
		return -EINVAL;
	struct sg_ctx *ctx = sg_ctx_find(file, args->in.ctx_id);
	if (!ctx)
		return -EINVAL;
	if (ctx->guilty)
		return -ECANCELED;
	cs_init(&cs, file, args);
	cs.ctx = sg_ctx_ref(ctx);
	int r = cs_run(&cs, &seq);
	cs_end(&cs);
	if (r == 0)
		args->out.handle = seq;
	return r;
}
