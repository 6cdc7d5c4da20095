/* SPDX-License-Identifier: MIT */
/* syncobj.c: binary and timeline sync objects (Linux 6.12 drivers/gpu/drm/drm_syncobj.c). */
#define _GNU_SOURCE
#include "ioctls.h"

#include <errno.h>
#include <stdlib.h>

#define WAIT_FOR_SUBMIT DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT
/* drm_syncobj_find_fence gives up after this; the GPU must not wait for user space for ever. */
#define SUBMIT_TIMEOUT_NS 5000000000ll
/* The kernel's kmalloc of the handles ends at 4 MiB. */
#define ARRAY_MAX (1u << 20)

static struct sg_syncobj *recycled; /* linked through fence */

struct sg_syncobj *
sg_syncobj_create(struct sg_fence *fence)
{
	struct sg_syncobj *s = recycled;

	if (s)
		recycled = (struct sg_syncobj *)(void *)s->fence;
	else
		s = malloc(sizeof(*s));
	if (!s) {
		sg_fence_unref(fence);
		return NULL;
	}
	*s = (struct sg_syncobj){ .refs = 1, .fence = fence };
	sg_list_init(&s->cbs);
	sg_dev.syncobj_objects++;
	return s;
}

struct sg_syncobj *
sg_syncobj_ref(struct sg_syncobj *s)
{
	s->refs++;
	return s;
}

/* An eventfd entry still waiting for a fence goes silently; the callback is told by a NULL object. */
static void
syncobj_drop_cbs(struct sg_syncobj *s)
{
	while (!sg_list_empty(&s->cbs)) {
		struct sg_syncobj_cb *cb = (struct sg_syncobj_cb *)s->cbs.next;
		sg_list_remove(&cb->node);
		cb->func(cb, NULL);
	}
}

void
sg_syncobj_unref(struct sg_syncobj *s)
{
	if (!s || --s->refs > 0)
		return;
	syncobj_drop_cbs(s);
	sg_fence_unref(s->fence);
	s->fence = (struct sg_fence *)(void *)recycled;
	recycled = s;
	sg_dev.syncobj_objects--;
}

struct sg_syncobj *
sg_syncobj_find(struct sg_file *file, uint32_t handle)
{
	return sg_handle_find(&file->syncobjs, handle);
}

void
sg_syncobj_add_cb(struct sg_syncobj *s, struct sg_syncobj_cb *cb,
		  void (*func)(struct sg_syncobj_cb *, struct sg_syncobj *))
{
	cb->func = func;
	sg_list_append(&s->cbs, &cb->node);
}

static void
syncobj_notify(struct sg_syncobj *s)
{
	struct sg_list *next;

	sg_syncobj_ref(s);
	for (struct sg_list *n = s->cbs.next; n != &s->cbs; n = next) {
		struct sg_syncobj_cb *cb = (struct sg_syncobj_cb *)n;
		next = n->next;
		cb->func(cb, s);
	}
	sg_syncobj_unref(s);
}

void
sg_syncobj_replace(struct sg_syncobj *s, struct sg_fence *fence)
{
	struct sg_fence *old = s->fence;

	s->fence = sg_fence_ref(fence);
	if (fence != old && !sg_list_empty(&s->cbs))
		syncobj_notify(s);
	sg_fence_unref(old);
}

int
sg_syncobj_add_point(struct sg_syncobj *s, struct sg_fence *fence, uint64_t point)
{
	struct sg_fence *prev = sg_fence_ref(s->fence);
	struct sg_fence *chain = sg_fence_chain(sg_fence_ref(prev), sg_fence_ref(fence), point);

	if (!chain) {
		/* Both references that the node would have taken. */
		sg_fence_unref(prev);
		sg_fence_unref(prev);
		sg_fence_unref(fence);
		return -ENOMEM;
	}
	sg_fence_unref(s->fence);
	s->fence = chain;
	if (!sg_list_empty(&s->cbs))
		syncobj_notify(s);
	/* One walk forgets what is signaled. */
	for (struct sg_fence *f = prev; f;)
		f = sg_fence_walk(f);
	return 0;
}

/* ---- drm_syncobj_find_fence ---- */

struct submit_wait {
	struct sg_syncobj_cb cb;
	struct sg_waiter waiter;
};

static void
submit_wait_fired(struct sg_syncobj_cb *cb, struct sg_syncobj *s)
{
	(void)s;
	sg_waiter_wake(&((struct submit_wait *)cb)->waiter);
}

/* The fence of a point that exists; signaled ones are a stub. False: not there yet. */
static bool
point_fence(struct sg_syncobj *s, uint64_t point, struct sg_fence **out)
{
	struct sg_fence *fence = sg_fence_ref(s->fence);

	if (!fence)
		return false;
	if (!sg_fence_find_point(&fence, point)) {
		sg_fence_unref(fence);
		return false;
	}
	*out = fence ? fence : sg_fence_stub();
	return true;
}

static int
wait_for_submit(struct sg_syncobj *s, uint64_t point, struct sg_fence **out)
{
	struct submit_wait w = { 0 };
	int64_t deadline = sg_now_ns() + SUBMIT_TIMEOUT_NS;
	int r = 0;

	sg_syncobj_ref(s);
	sg_syncobj_add_cb(s, &w.cb, submit_wait_fired);
	while (r == 0 && !point_fence(s, point, out))
		r = sg_waiter_sleep(&w.waiter, deadline);
	sg_list_remove(&w.cb.node);
	sg_syncobj_unref(s);
	return r;
}

int
sg_syncobj_fence(struct sg_file *file, uint32_t handle, uint64_t point, uint64_t flags, struct sg_fence **out)
{
	if (flags & ~(uint64_t)WAIT_FOR_SUBMIT)
		return -EINVAL;
	struct sg_syncobj *s = sg_syncobj_find(file, handle);
	if (!s)
		return -ENOENT;
	if (point_fence(s, point, out))
		return 0;
	return flags & WAIT_FOR_SUBMIT ? wait_for_submit(s, point, out) : -EINVAL;
}

/* ---- ioctls on one object or arrays of them ---- */

int
sg_ioctl_syncobj_create(struct sg_file *file, void *data)
{
	struct drm_syncobj_create *args = data;

	if (args->flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
		return -EINVAL;
	struct sg_syncobj *s = sg_syncobj_create(args->flags ? sg_fence_stub() : NULL);
	if (!s)
		return -ENOMEM;
	args->handle = sg_handle_add(&file->syncobjs, s, UINT32_MAX);
	if (args->handle)
		return 0;
	sg_syncobj_unref(s);
	return -ENOMEM;
}

int
sg_ioctl_syncobj_destroy(struct sg_file *file, void *data)
{
	struct drm_syncobj_destroy *args = data;

	if (args->pad)
		return -EINVAL;
	struct sg_syncobj *s = sg_handle_remove(&file->syncobjs, args->handle);
	if (!s)
		return -EINVAL;
	sg_syncobj_unref(s);
	return 0;
}

/* drm_syncobj_array_find: all of them with references, in *out (malloc'ed). */
static int
array_find(struct sg_file *file, uint64_t handles, uint32_t count, struct sg_syncobj ***out)
{
	struct sg_syncobj **all = count <= ARRAY_MAX ? calloc(count, sizeof(*all)) : NULL;
	uint32_t handle;

	if (!all)
		return -ENOMEM;
	int r = 0;
	uint32_t n = 0;
	for (; n < count; n++) {
		r = sg_copy_from(&handle, handles + n * sizeof(handle), sizeof(handle));
		if (r)
			break;
		struct sg_syncobj *s = sg_syncobj_find(file, handle);
		if (!s) {
			r = -ENOENT;
			break;
		}
		all[n] = sg_syncobj_ref(s);
	}
	if (r == 0) {
		*out = all;
		return 0;
	}
	while (n > 0)
		sg_syncobj_unref(all[--n]);
	free(all);
	return r;
}

static void
array_free(struct sg_syncobj **all, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sg_syncobj_unref(all[i]);
	free(all);
}

static int
replace_all(struct sg_file *file, struct drm_syncobj_array *args, struct sg_fence *fence)
{
	struct sg_syncobj **all;

	if (args->pad || args->count_handles == 0)
		return -EINVAL;
	int r = array_find(file, args->handles, args->count_handles, &all);
	if (r)
		return r;
	for (uint32_t i = 0; i < args->count_handles; i++)
		sg_syncobj_replace(all[i], fence);
	array_free(all, args->count_handles);
	return 0;
}

int
sg_ioctl_syncobj_reset(struct sg_file *file, void *data)
{
	return replace_all(file, data, NULL);
}

int
sg_ioctl_syncobj_signal(struct sg_file *file, void *data)
{
	struct sg_fence *stub = sg_fence_stub();
	int r = replace_all(file, data, stub);

	sg_fence_unref(stub);
	return r;
}

static int
signal_point(struct sg_syncobj *s, uint64_t points, uint32_t i)
{
	struct sg_fence *stub = sg_fence_stub();
	uint64_t point = 0;
	int r = points ? sg_copy_from(&point, points + i * sizeof(point), sizeof(point)) : 0;

	if (r == 0)
		r = sg_syncobj_add_point(s, stub, point);
	sg_fence_unref(stub);
	return r;
}

int
sg_ioctl_syncobj_timeline_signal(struct sg_file *file, void *data)
{
	struct drm_syncobj_timeline_array *args = data;
	struct sg_syncobj **all;

	if (args->flags || args->count_handles == 0)
		return -EINVAL;
	int r = array_find(file, args->handles, args->count_handles, &all);
	if (r)
		return r;
	for (uint32_t i = 0; i < args->count_handles && r == 0; i++)
		r = signal_point(all[i], args->points, i);
	array_free(all, args->count_handles);
	return r;
}

/* Last signaled point of a timeline, or last submitted. */
static uint64_t
query_point(struct sg_syncobj *s, bool last_submitted)
{
	struct sg_fence *fence = s->fence;

	if (!fence || fence->kind != SG_FENCE_CHAIN)
		return 0;
	if (last_submitted)
		return fence->seqno;
	struct sg_fence *last = sg_fence_ref(fence);
	struct sg_fence *f = sg_fence_ref(fence);
	while (f) {
		if (f->context != fence->context) {
			/* A point out of order: what is behind it does not count. */
			sg_fence_unref(f);
			break;
		}
		sg_fence_unref(last);
		last = sg_fence_ref(f);
		f = sg_fence_walk(f);
	}
	uint64_t point = sg_fence_is_signaled(last) ? last->seqno : last->prev_seqno;
	sg_fence_unref(last);
	return point;
}

int
sg_ioctl_syncobj_query(struct sg_file *file, void *data)
{
	struct drm_syncobj_timeline_array *args = data;
	struct sg_syncobj **all;

	if (args->flags & ~DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED)
		return -EINVAL;
	if (args->count_handles == 0)
		return -EINVAL;
	int r = array_find(file, args->handles, args->count_handles, &all);
	if (r)
		return r;
	for (uint32_t i = 0; i < args->count_handles && r == 0; i++) {
		uint64_t point = query_point(all[i], args->flags & DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED);
		r = sg_copy_to(args->points + i * sizeof(point), &point, sizeof(point));
	}
	array_free(all, args->count_handles);
	return r;
}

static int
transfer_fence(struct sg_syncobj *dst, struct sg_fence *fence, uint64_t point)
{
	if (point == 0) {
		sg_syncobj_replace(dst, fence);
		return 0;
	}
	struct sg_fence *flat = sg_fence_merge(fence, NULL);
	if (!flat)
		return -ENOMEM;
	int r = sg_syncobj_add_point(dst, flat, point);
	sg_fence_unref(flat);
	return r;
}

int
sg_ioctl_syncobj_transfer(struct sg_file *file, void *data)
{
	struct drm_syncobj_transfer *args = data;
	struct sg_fence *fence;

	if (args->pad)
		return -EINVAL;
	struct sg_syncobj *dst = sg_syncobj_find(file, args->dst_handle);
	if (!dst)
		return -ENOENT;
	sg_syncobj_ref(dst);
	int r = sg_syncobj_fence(file, args->src_handle, args->src_point, args->flags, &fence);
	if (r == 0) {
		r = transfer_fence(dst, fence, args->dst_point);
		sg_fence_unref(fence);
	}
	sg_syncobj_unref(dst);
	return r;
}
