/* SPDX-License-Identifier: MIT */
/* prime.c: buffers as dma-buf file descriptors.
 *
 * The descriptor is an eventfd whose counter is 1 while no job that uses the buffer is unfinished, so it polls as a
 * dma-buf does for reading (POLLOUT is always ready, which a dma-buf's is not). lseek and mmap on it are answered by
 * the interposed functions.
 */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"
#include "../shim/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>

/* One per unfinished job on an exported buffer. */
struct busy {
	struct sg_fence_cb cb;
	struct sg_gem *gem; /* reference */
	const struct sg_desc *desc; /* compared only */
};

static void
dmabuf_set_ready(struct sg_gem *gem, bool ready)
{
	uint64_t value = 1;

	if (!gem->dmabuf || gem->dmabuf_generation != sg_dev.generation)
		return;
	if (ready)
		raw_write(gem->dmabuf->keep_fd, &value, sizeof(value));
	else
		raw_read(gem->dmabuf->keep_fd, &value, sizeof(value));
}

static void
busy_over(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	struct busy *b = (struct busy *)cb;

	(void)fence;
	if (b->gem->dmabuf == b->desc && --b->gem->dmabuf_busy == 0)
		dmabuf_set_ready(b->gem, true);
	sg_gem_unref(b->gem);
	free(b);
}

void
sg_dmabuf_busy(struct sg_gem *gem, struct sg_fence *fence)
{
	if (!gem->dmabuf)
		return;
	struct busy *b = calloc(1, sizeof(*b));
	if (!b)
		return;
	if (!sg_fence_add_cb(fence, &b->cb, busy_over)) {
		free(b);
		return;
	}
	b->gem = sg_gem_ref(gem);
	b->desc = gem->dmabuf;
	if (gem->dmabuf_busy++ == 0)
		dmabuf_set_ready(gem, false);
}

/* Makes the description; later exports duplicate its descriptor, so all of them are one file as in the kernel. */
static int
dmabuf_create(struct sg_gem *gem)
{
	int kept = (int)raw_call(SYS_eventfd2, 1, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);

	if (kept < 0)
		return kept;
	int high = sg_fd_keep(kept);
	raw_close(kept);
	if (high < 0)
		return high;
	struct sg_desc *desc = sg_desc_create(SG_DESC_DMABUF, sg_gem_ref(gem));
	if (!desc) {
		sg_gem_unref(gem);
		raw_close(high);
		return -ENOMEM;
	}
	desc->keep_fd = high;
	desc->identity = sg_eventfd_identity(high);
	gem->dmabuf = desc;
	gem->dmabuf_busy = 0;
	gem->dmabuf_generation = sg_dev.generation;
	/* Jobs queued before the export count too. */
	struct sg_resv *resv = sg_gem_resv(gem);
	for (unsigned i = 0; i < resv->count; i++)
		sg_dmabuf_busy(gem, resv->fences[i]);
	return 0;
}

void
sg_dmabuf_release(struct sg_desc *desc)
{
	struct sg_gem *gem = desc->object;

	/* Somebody may have exported it anew in between. */
	if (gem->dmabuf == desc)
		gem->dmabuf = NULL;
	sg_gem_unref(gem);
}

int
sg_ioctl_prime_to_fd(struct sg_file *file, void *data)
{
	struct drm_prime_handle *args = data;

	if (args->flags & ~(unsigned)(DRM_CLOEXEC | DRM_RDWR))
		return -EINVAL;
	struct sg_gem *gem = sg_gem_find(file, args->handle);
	if (!gem)
		return -ENOENT;
	if (gem->user_address || gem->root)
		return -EPERM;
	if (!gem->dmabuf || !sg_desc_try_ref(gem->dmabuf)) {
		/* The first reference becomes the new descriptor's. */
		int r = dmabuf_create(gem);
		if (r)
			return r;
	}
	struct sg_desc *desc = gem->dmabuf;
	long fd = raw_fcntl(desc->keep_fd, args->flags & DRM_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	if (fd < 0) {
		sg_desc_unref(desc);
		return (int)fd;
	}
	if (!sg_fd_install((int)fd, desc)) {
		raw_close((int)fd);
		return -ENOMEM;
	}
	args->fd = (int)fd;
	return 0;
}

int
sg_ioctl_prime_from_fd(struct sg_file *file, void *data)
{
	struct drm_prime_handle *args = data;
	struct sg_desc *desc = sg_fd_get_verified(args->fd, SG_DESC_DMABUF);

	if (!desc)
		return raw_fcntl(args->fd, F_GETFD, 0) < 0 ? -EBADF : -EINVAL;
	struct sg_gem *gem = desc->object;
	args->handle = sg_gem_handle(file, gem);
	sg_desc_unref(desc);
	return args->handle ? 0 : -ENOMEM;
}

uint64_t
sg_dmabuf_bytes(void *object)
{
	return ((struct sg_gem *)object)->bytes;
}

int
sg_dmabuf_mmap(void *object, uint64_t offset, uint64_t bytes, uint64_t *file_offset)
{
	struct sg_gem *gem = object;

	if (gem->flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS)
		return -EPERM;
	uint64_t rounded = (bytes + SG_PAGE - 1) & ~(SG_PAGE - 1);
	if (offset > gem->bytes || rounded > gem->bytes - offset)
		return -EINVAL;
	*file_offset = gem->bo->file_offset + offset;
	return 0;
}
