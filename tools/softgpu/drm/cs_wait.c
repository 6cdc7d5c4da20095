/* SPDX-License-Identifier: MIT */
/* cs_wait.c: WAIT_CS, WAIT_FENCES, FENCE_TO_HANDLE: jobs by (context, ring, sequence number). */
#define _GNU_SOURCE
#include "ioctls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FENCES_INLINE 8
#define FENCES_MAX (1u << 20)

/* amdgpu_cs_get_fence: a reference, NULL for "done long ago". The entity's own error comes first. */
static int
find_fence(struct sg_file *file, const struct drm_amdgpu_fence *user, struct sg_fence **out)
{
	struct sg_ctx *ctx = sg_ctx_find(file, user->ctx_id);
	struct sg_entity *entity;

	*out = NULL;
	if (!ctx)
		return -EINVAL;
	int r = sg_ctx_entity(ctx, user->ip_type, user->ip_instance, user->ring, &entity);
	return r ? r : sg_entity_fence(entity, user->seq_no, out);
}

int
sg_ioctl_wait_cs(struct sg_file *file, void *data)
{
	union drm_amdgpu_wait_cs *args = data;
	struct drm_amdgpu_fence user = {
		.ctx_id = args->in.ctx_id,
		.ip_type = args->in.ip_type,
		.ip_instance = args->in.ip_instance,
		.ring = args->in.ring,
		.seq_no = args->in.handle,
	};
	struct sg_fence *fence;

	int r = find_fence(file, &user, &fence);
	if (r)
		return r;
	if (fence) {
		r = sg_fence_wait(fence, sg_deadline(args->in.timeout), true);
		if (r == 0)
			r = fence->error;
		sg_fence_unref(fence);
	}
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	/* ETIME is never a job's own error here: with gpu_recovery=0, the one case, the fence does not signal. */
	args->out.status = r == -ETIME;
	return 0;
}

/* ---- WAIT_FENCES ---- */

struct many {
	struct sg_fence **fences; /* references; the stub for jobs done long ago */
	struct sg_fence *small[FENCES_INLINE];
	uint32_t count;
};

static int
many_get(struct sg_file *file, struct many *m, uint64_t from, uint32_t count)
{
	struct drm_amdgpu_fence user;

	m->count = 0;
	m->fences = m->small;
	if (count > FENCES_INLINE)
		m->fences = count <= FENCES_MAX ? calloc(count, sizeof(*m->fences)) : NULL;
	if (!m->fences)
		return -ENOMEM;
	for (; m->count < count; m->count++) {
		struct sg_fence *fence;
		int r = sg_copy_from(&user, from + m->count * sizeof(user), sizeof(user));
		if (r == 0)
			r = find_fence(file, &user, &fence);
		if (r)
			return r;
		m->fences[m->count] = fence ? fence : sg_fence_stub();
	}
	return 0;
}

static void
many_put(struct many *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		sg_fence_unref(m->fences[i]);
	if (m->fences != m->small)
		free(m->fences);
}

/* One after the other, and no further than the first that failed. */
static int
wait_all(struct many *m, int64_t deadline, union drm_amdgpu_wait_fences *args)
{
	int r = 0;

	for (uint32_t i = 0; i < m->count && r == 0; i++) {
		r = sg_fence_wait(m->fences[i], deadline, true);
		if (r == 0)
			r = m->fences[i]->error;
	}
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = r == 0;
	return 0;
}

static int
wait_any(struct many *m, int64_t deadline, union drm_amdgpu_wait_fences *args)
{
	unsigned first = ~0u;

	int r = sg_fences_wait(m->fences, m->count, false, deadline, &first);
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = r == 0;
	args->out.first_signaled = first;
	return first != ~0u ? m->fences[first]->error : 0;
}

int
sg_ioctl_wait_fences(struct sg_file *file, void *data)
{
	union drm_amdgpu_wait_fences *args = data;
	int64_t deadline = sg_deadline(args->in.timeout_ns);
	bool all = args->in.wait_all;
	struct many m;

	if (!all && args->in.fence_count == 0)
		return -EINVAL;
	int r = many_get(file, &m, args->in.fences, args->in.fence_count);
	if (r == 0)
		r = all ? wait_all(&m, deadline, args) : wait_any(&m, deadline, args);
	many_put(&m);
	return r;
}

/* ---- FENCE_TO_HANDLE ---- */

int
sg_ioctl_fence_to_handle(struct sg_file *file, void *data)
{
	union drm_amdgpu_fence_to_handle *args = data;
	struct sg_fence *fence;
	int fd;

	int r = find_fence(file, &args->in.fence, &fence);
	if (r)
		return r;
	if (!fence)
		fence = sg_fence_stub();
	if (args->in.what > AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD) {
		sg_fence_unref(fence);
		return -EINVAL;
	}
	if (args->in.what == AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD) {
		fd = sg_sync_file_create(fence);
	} else {
		struct sg_syncobj *s = sg_syncobj_create(fence);
		if (!s)
			return -ENOMEM;
		if (args->in.what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD) {
			fd = sg_syncobj_export(s);
		} else {
			uint32_t handle = sg_handle_add(&file->syncobjs, s, UINT32_MAX);
			if (!handle)
				sg_syncobj_unref(s);
			fd = handle ? (int)handle : -ENOMEM;
		}
	}
	if (fd < 0)
		return fd;
	args->out.handle = (uint32_t)fd;
	return 0;
}
