/* SPDX-License-Identifier: MIT */
/* syncobj_fd.c: sync objects and fences as file descriptors.
 *
 * A sync_file is an eventfd that is written once, when its fence signals: poll, epoll and io_uring wait for the real
 * thing. It differs from the kernel's in that read and write on it work.
 */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"
#include "../shim/raw.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

struct sync_file {
	struct sg_fence_cb cb;
	struct sg_fence *fence; /* reference */
	int fd;			/* our duplicate, written when the fence signals; -1 afterwards */
	unsigned generation;	/* sg_dev.generation */
	char name[32];
};

static int
eventfd_create(unsigned value)
{
	return (int)raw_call(SYS_eventfd2, value, EFD_CLOEXEC, 0, 0, 0, 0);
}

/* Puts a fresh eventfd with its object into the table; the object is released when that fails. */
static int
export_fd(int fd, enum sg_desc_kind kind, void *object)
{
	struct sg_desc *desc = sg_desc_create(kind, object);

	if (!desc) {
		raw_close(fd);
		if (kind == SG_DESC_SYNC_FILE)
			sg_sync_file_release(object);
		else
			sg_syncobj_unref(object);
		return -ENOMEM;
	}
	desc->identity = sg_eventfd_identity(fd);
	if (sg_fd_install(fd, desc))
		return fd;
	raw_close(fd);
	return -ENOMEM;
}

int
sg_syncobj_export(struct sg_syncobj *syncobj)
{
	int fd = eventfd_create(0);

	if (fd < 0) {
		sg_syncobj_unref(syncobj);
		return fd;
	}
	return export_fd(fd, SG_DESC_SYNCOBJ, syncobj);
}

/* ---- sync_file ---- */

static void
sync_file_signaled(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	struct sync_file *file = (struct sync_file *)cb;

	(void)fence;
	if (file->fd >= 0)
		sg_defer_eventfd(file->fd, file->generation);
	file->fd = -1;
}

void
sg_sync_file_release(void *object)
{
	struct sync_file *file = object;

	sg_fence_remove_cb(&file->cb);
	if (file->fd >= 0)
		raw_close(file->fd);
	sg_fence_unref(file->fence);
	free(file);
}

int
sg_sync_file_create(struct sg_fence *fence)
{
	bool signaled = sg_fence_is_signaled(fence);
	int fd = eventfd_create(signaled ? 1 : 0);

	if (fd < 0) {
		sg_fence_unref(fence);
		return fd;
	}
	struct sync_file *file = calloc(1, sizeof(*file));
	int kept = file && !signaled ? sg_fd_keep(fd) : -1;
	if (!file || (!signaled && kept < 0)) {
		free(file);
		raw_close(fd);
		sg_fence_unref(fence);
		return kept < 0 && kept != -1 ? kept : -ENOMEM;
	}
	file->fence = fence;
	file->fd = kept;
	file->generation = sg_dev.generation;
	if (!signaled)
		sg_fence_add_cb(fence, &file->cb, sync_file_signaled);
	return export_fd(fd, SG_DESC_SYNC_FILE, file);
}

static void
fence_info(struct sync_fence_info *info, struct sg_fence *fence)
{
	*info = (struct sync_fence_info){ .status = sg_fence_status(fence) };
	snprintf(info->obj_name, sizeof(info->obj_name), "%s", fence->timeline ? fence->timeline : "unbound");
	snprintf(info->driver_name, sizeof(info->driver_name), "%s", fence->timeline ? "drm_sched" : "stub");
	if (info->status != 0)
		info->timestamp_ns = fence->timestamp_ns;
}

static void
sync_file_name(const struct sync_file *file, char *to, size_t bytes)
{
	const struct sg_fence *fence = file->fence;

	if (file->name[0])
		snprintf(to, bytes, "%s", file->name);
	else
		snprintf(to, bytes, "%s-%s%llu-%lld", fence->timeline ? "drm_sched" : "stub",
			 fence->timeline ? fence->timeline : "unbound", (unsigned long long)fence->context,
			 (long long)fence->seqno);
}

/* Status and details of the fences inside. */
static int
fences_info(struct sync_file *file, struct sync_file_info *info, unsigned n)
{
	struct sg_fence **fences = calloc(n, sizeof(*fences));
	int r = 0;

	if (!fences)
		return -ENOMEM;
	n = sg_fence_unwrap(file->fence, fences, n);
	info->status = 1;
	for (unsigned i = 0; i < n && r == 0; i++) {
		struct sync_fence_info one;
		fence_info(&one, fences[i]);
		if (info->status > 0)
			info->status = one.status;
		r = sg_copy_to(info->sync_fence_info + i * sizeof(one), &one, sizeof(one));
	}
	free(fences);
	return r;
}

static int
ioctl_file_info(struct sync_file *file, struct sync_file_info *info)
{
	if (info->flags || info->pad)
		return -EINVAL;
	unsigned n = sg_fence_unwrap(file->fence, NULL, 0);
	/* With no room for details the kernel looks at the outer fence only, and a chain has no error of its own. */
	if (info->num_fences == 0) {
		info->status = sg_fence_status(file->fence);
	} else if (info->num_fences < n) {
		return -EINVAL;
	} else {
		int r = fences_info(file, info, n);
		if (r)
			return r;
	}
	sync_file_name(file, info->name, sizeof(info->name));
	info->num_fences = n;
	return 0;
}

static int
ioctl_merge(struct sync_file *file, struct sync_merge_data *data)
{
	if (data->flags || data->pad)
		return -EINVAL;
	struct sg_desc *other = sg_fd_get_verified(data->fd2, SG_DESC_SYNC_FILE);
	if (!other)
		return -ENOENT;
	struct sg_fence *both = sg_fence_merge(file->fence, ((struct sync_file *)other->object)->fence);
	sg_desc_unref(other);
	if (!both)
		return -ENOMEM;
	int fd = sg_sync_file_create(both);
	if (fd < 0)
		return fd;
	data->fence = fd;
	struct sg_desc *made = sg_fd_get(fd);
	if (made)
		snprintf(((struct sync_file *)made->object)->name, sizeof(data->name), "%.*s",
			 (int)sizeof(data->name) - 1, data->name);
	sg_desc_unref(made);
	return 0;
}

int
sg_sync_file_ioctl(void *object, uint32_t cmd, void *arg)
{
	union {
		struct sync_file_info info;
		struct sync_merge_data merge;
	} data;
	bool is_info = cmd == SYNC_IOC_FILE_INFO;
	size_t bytes = is_info ? sizeof(data.info) : sizeof(data.merge);

	if (!is_info && cmd != SYNC_IOC_MERGE)
		return -ENOTTY;
	sg_lock();
	int r = sg_ioctl_account(is_info ? SG_NR_SYNC_FILE_INFO : SG_NR_SYNC_MERGE);
	if (r == 0)
		r = sg_copy_from(&data, (uintptr_t)arg, bytes);
	if (r == 0)
		r = is_info ? ioctl_file_info(object, &data.info) : ioctl_merge(object, &data.merge);
	sg_unlock();
	return r ? r : sg_copy_to((uintptr_t)arg, &data, bytes);
}

/* ---- the DRM calls ---- */

int
sg_ioctl_syncobj_to_fd(struct sg_file *file, void *data)
{
	struct drm_syncobj_handle *args = data;
	struct sg_fence *fence;
	int fd;

	if (args->pad || (args->flags & ~DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE))
		return -EINVAL;
	if (args->flags) {
		int r = sg_syncobj_fence(file, args->handle, 0, 0, &fence);
		if (r)
			return r;
		fd = sg_sync_file_create(fence);
	} else {
		struct sg_syncobj *s = sg_syncobj_find(file, args->handle);
		if (!s)
			return -EINVAL;
		fd = sg_syncobj_export(sg_syncobj_ref(s));
	}
	if (fd < 0)
		return fd;
	args->fd = fd;
	return 0;
}

static int
import_sync_file(struct sg_file *file, const struct drm_syncobj_handle *args)
{
	struct sg_desc *desc = sg_fd_get_verified(args->fd, SG_DESC_SYNC_FILE);

	if (!desc)
		return -EINVAL;
	struct sg_syncobj *s = sg_syncobj_find(file, args->handle);
	if (s)
		sg_syncobj_replace(s, ((struct sync_file *)desc->object)->fence);
	sg_desc_unref(desc);
	return s ? 0 : -ENOENT;
}

int
sg_ioctl_syncobj_from_fd(struct sg_file *file, void *data)
{
	struct drm_syncobj_handle *args = data;

	if (args->pad || (args->flags & ~DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE))
		return -EINVAL;
	if (args->flags)
		return import_sync_file(file, args);
	struct sg_desc *desc = sg_fd_get_verified(args->fd, SG_DESC_SYNCOBJ);
	if (!desc)
		return -EINVAL;
	struct sg_syncobj *s = sg_syncobj_ref(desc->object);
	sg_desc_unref(desc);
	uint32_t handle = sg_handle_add(&file->syncobjs, s, UINT32_MAX);
	if (!handle) {
		sg_syncobj_unref(s);
		return -ENOMEM;
	}
	args->handle = handle;
	return 0;
}
