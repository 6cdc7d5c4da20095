/* SPDX-License-Identifier: MIT */
/* syncobj_wait.c: SYNCOBJ_WAIT, TIMELINE_WAIT and EVENTFD. */
#define _GNU_SOURCE
#include "ioctls.h"
#include "../shim/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "../shim/raw.h"

#define WAIT_ALL DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL
#define WAIT_FOR_SUBMIT DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT
#define WAIT_AVAILABLE DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE
#define WAIT_DEADLINE (1u << 3) /* Linux 6.6's hint, without effect here */

/* One object waited for. */
struct entry {
	struct sg_syncobj_cb submit; /* on the object while there is no fence */
	struct sg_fence_cb cb;
	struct sg_syncobj *syncobj; /* reference */
	struct sg_fence *fence;	/* reference; NULL: point not submitted */
	uint64_t point;
	struct sg_waiter *waiter;
};
#define ENTRIES_INLINE 4
#define ENTRIES_MAX (1u << 20) /* as drm_syncobj_array_find's kmalloc */

struct wait {
	uint32_t count, flags, first;
	int64_t deadline;
	struct entry *entries, small[ENTRIES_INLINE];
	struct sg_waiter waiter;
};

static void
entry_signaled(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	(void)fence;
	sg_waiter_wake(((struct entry *)((char *)cb - offsetof(struct entry, cb)))->waiter);
}

static void
entry_submitted(struct sg_syncobj_cb *cb, struct sg_syncobj *s)
{
	(void)s;
	sg_waiter_wake(((struct entry *)((char *)cb - offsetof(struct entry, submit)))->waiter);
}

/* Looks whether the point exists now. */
static bool
entry_resolve(struct entry *e)
{
	struct sg_fence *fence = sg_fence_ref(e->syncobj->fence);

	if (!fence)
		return false;
	if (!sg_fence_find_point(&fence, e->point)) {
		sg_fence_unref(fence);
		return false;
	}
	e->fence = fence ? fence : sg_fence_stub();
	return true;
}

static bool
entry_done(const struct wait *w, struct entry *e)
{
	return e->fence && ((w->flags & WAIT_AVAILABLE) || sg_fence_is_signaled(e->fence));
}

/* Copies handles and points; takes references. Undone by entries_put, whatever it returns. */
static int
entries_get(struct sg_file *file, struct wait *w, uint64_t handles, uint64_t points)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct entry *e = &w->entries[i];
		uint32_t handle;
		int r = sg_copy_from(&handle, handles + i * sizeof(handle), sizeof(handle));
		if (r == 0 && points)
			r = sg_copy_from(&e->point, points + i * sizeof(e->point), sizeof(e->point));
		if (r)
			return r;
		struct sg_syncobj *s = sg_syncobj_find(file, handle);
		if (!s)
			return -ENOENT;
		e->syncobj = sg_syncobj_ref(s);
		e->waiter = &w->waiter;
	}
	return 0;
}

static void
entries_put(struct wait *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct entry *e = &w->entries[i];
		if (!e->syncobj)
			continue;
		sg_fence_remove_cb(&e->cb);
		sg_list_remove(&e->submit.node);
		sg_fence_unref(e->fence);
		sg_syncobj_unref(e->syncobj);
	}
}

/* First look, before anybody sleeps. 1: satisfied, 0: wait, -EINVAL: no fence and not told to wait for one. */
static int
first_look(struct wait *w)
{
	uint32_t signaled = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		struct entry *e = &w->entries[i];
		if (!entry_resolve(e)) {
			if (w->flags & (WAIT_FOR_SUBMIT | WAIT_AVAILABLE))
				continue;
			return -EINVAL;
		}
		if (!entry_done(w, e))
			continue;
		if (signaled++ == 0)
			w->first = i;
	}
	return signaled == w->count || (signaled > 0 && !(w->flags & WAIT_ALL));
}

/* Once round; true: satisfied. Registers where something is still missing. */
static bool
look_again(struct wait *w)
{
	uint32_t signaled = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		struct entry *e = &w->entries[i];
		if (!e->fence && !entry_resolve(e)) {
			if (!e->submit.node.next)
				sg_syncobj_add_cb(e->syncobj, &e->submit, entry_submitted);
			continue;
		}
		if (!entry_done(w, e)) {
			if (e->cb.node.next || sg_fence_add_cb(e->fence, &e->cb, entry_signaled))
				continue;
		}
		signaled++;
		if (w->flags & WAIT_ALL)
			continue;
		w->first = i;
		return true;
	}
	return signaled == w->count;
}

static int
wait_loop(struct wait *w)
{
	int r = first_look(w);

	if (r)
		return r < 0 ? r : 0;
	while (!look_again(w)) {
		r = sg_waiter_sleep(&w->waiter, w->deadline);
		if (r)
			return r;
	}
	return 0;
}

static int
wait_array(struct sg_file *file, struct wait *w, uint64_t handles, uint64_t points)
{
	w->first = ~0u;
	w->entries = w->small;
	if (w->count > ENTRIES_INLINE)
		w->entries = w->count <= ENTRIES_MAX ? calloc(w->count, sizeof(*w->entries)) : NULL;
	if (!w->entries)
		return -ENOMEM;
	int r = entries_get(file, w, handles, points);
	if (r == 0)
		r = wait_loop(w);
	entries_put(w);
	if (w->entries != w->small)
		free(w->entries);
	return r;
}

int
sg_ioctl_syncobj_wait(struct sg_file *file, void *data)
{
	struct drm_syncobj_wait *args = data;
	struct wait w = { .count = args->count_handles, .flags = args->flags, .deadline = args->timeout_nsec };

	if (args->flags & ~(WAIT_ALL | WAIT_FOR_SUBMIT | WAIT_DEADLINE))
		return -EINVAL;
	if (args->count_handles == 0)
		return 0;
	int r = wait_array(file, &w, args->handles, 0);
	if (r == 0)
		args->first_signaled = w.first;
	return r;
}

int
sg_ioctl_syncobj_timeline_wait(struct sg_file *file, void *data)
{
	struct drm_syncobj_timeline_wait *args = data;
	struct wait w = { .count = args->count_handles, .flags = args->flags, .deadline = args->timeout_nsec };

	if (args->flags & ~(WAIT_ALL | WAIT_FOR_SUBMIT | WAIT_AVAILABLE | WAIT_DEADLINE))
		return -EINVAL;
	if (args->count_handles == 0)
		return 0;
	int r = wait_array(file, &w, args->handles, args->points);
	if (r == 0)
		args->first_signaled = w.first;
	return r;
}

/* ---- EVENTFD ---- */

/* A registration: hangs on the syncobj until the point exists, then on its fence; fires once. */
struct event {
	struct sg_syncobj_cb submit;
	struct sg_fence_cb cb;
	uint64_t point;
	uint32_t flags;
	int fd; /* our duplicate: the program may close its own */
	unsigned generation; /* sg_dev.generation */
	struct event *next; /* recycled */
};

static struct event *recycled;

static void
event_free(struct event *e)
{
	e->next = recycled;
	recycled = e;
}

static void
event_fire(struct event *e)
{
	sg_defer_eventfd(e->fd, e->generation);
	event_free(e);
}

static void
event_signaled(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	(void)fence;
	event_fire((struct event *)((char *)cb - offsetof(struct event, cb)));
}

/* Also the callback for new fences; s NULL: the object is gone before anything was submitted, which is silent. */
static void
event_look(struct sg_syncobj_cb *cb, struct sg_syncobj *s)
{
	struct event *e = (struct event *)((char *)cb - offsetof(struct event, submit));

	if (!s) {
		raw_close(e->fd);
		event_free(e);
		return;
	}
	struct sg_fence *fence = sg_fence_ref(s->fence);
	if (!fence)
		return;
	if (!sg_fence_find_point(&fence, e->point)) {
		sg_fence_unref(fence);
		return;
	}
	sg_list_remove(&e->submit.node);
	if (!fence || (e->flags & WAIT_AVAILABLE) || !sg_fence_add_cb(fence, &e->cb, event_signaled))
		event_fire(e);
	/* A fence with a callback lives until it signals: its job holds it, or the chain while armed. */
	sg_fence_unref(fence);
}

/* Whether it is one: -EBADF, -EINVAL. */
static int
eventfd_check(int fd)
{
	char target[32], path[32] = "/proc/self/fd/", digits[12];
	char *to = path + 14;
	int n = 0, k = fd;

	if (fd < 0)
		return -EBADF;
	do
		digits[n++] = (char)('0' + k % 10);
	while ((k /= 10) > 0);
	while (n > 0)
		*to++ = digits[--n];
	*to = '\0';
	long got = raw_readlinkat(AT_FDCWD, path, target, sizeof(target) - 1);
	if (got < 0)
		return -EBADF;
	target[got] = '\0';
	return strcmp(target, "anon_inode:[eventfd]") == 0 ? 0 : -EINVAL;
}

/* The point is there and signaled, or only has to be there: no registration, the event comes within the call. */
static bool
event_is_due(struct sg_syncobj *s, uint64_t point, uint32_t flags)
{
	struct sg_fence *fence = sg_fence_ref(s->fence);

	if (!fence)
		return false;
	bool there = sg_fence_find_point(&fence, point);
	bool due = there && (!fence || (flags & WAIT_AVAILABLE) || sg_fence_is_signaled(fence));
	sg_fence_unref(fence);
	return due;
}

int
sg_ioctl_syncobj_eventfd(struct sg_file *file, void *data)
{
	struct gpuplan_drm_syncobj_eventfd *args = data;

	if (!sg_config()->eventfd)
		return -EINVAL; /* an empty slot of the table, as before Linux 6.6 */
	if ((args->flags & ~WAIT_AVAILABLE) || args->pad)
		return -EINVAL;
	struct sg_syncobj *s = sg_syncobj_find(file, args->handle);
	if (!s)
		return -ENOENT;
	int r = eventfd_check(args->fd);
	if (r)
		return r;
	if (event_is_due(s, args->point, args->flags)) {
		sg_eventfd_add(args->fd);
		return 0;
	}
	int fd = sg_fd_keep(args->fd);
	if (fd < 0)
		return fd;
	struct event *e = recycled;
	if (e)
		recycled = e->next;
	else
		e = malloc(sizeof(*e));
	if (!e) {
		raw_close(fd);
		return -ENOMEM;
	}
	*e = (struct event){ .point = args->point, .flags = args->flags, .fd = fd, .generation = sg_dev.generation };
	sg_syncobj_add_cb(s, &e->submit, event_look);
	event_look(&e->submit, s);
	return 0;
}
