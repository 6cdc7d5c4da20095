/* SPDX-License-Identifier: MIT */
/* gem_ops.c: what can be asked of a buffer: mapping, metadata, placement, idleness, names. */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <errno.h>
#include <string.h>

/* Set by the kernel; GET_GEM_CREATE_INFO shows them. */
#define CREATE_WIPE_ON_RELEASE (1u << 9)

int
sg_ioctl_gem_mmap(struct sg_file *file, void *data)
{
	union drm_amdgpu_gem_mmap *args = data;
	struct sg_gem *gem = sg_gem_find(file, args->in.handle);

	memset(args, 0, sizeof(*args)); /* what a refusal copies out too */
	if (!gem)
		return -ENOENT;
	if (gem->user_address || (gem->flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS))
		return -EPERM;
	args->out.addr_ptr = gem->bo->file_offset;
	return 0;
}

int
sg_file_mmap_check(struct sg_file *file, uint64_t offset, uint64_t bytes)
{
	struct sg_gem *gem;
	int r = -EINVAL;

	sg_lock();
	for (gem = sg_dev.gems; gem; gem = gem->next)
		if (!gem->user_address && gem->bo->file_offset == offset)
			break;
	/* A length between pages is rounded up by mmap itself. */
	if (gem && bytes != 0 && ((bytes + SG_PAGE - 1) & ~(SG_PAGE - 1)) <= gem->bytes) {
		r = -EACCES;
		for (uint32_t handle = 1; handle <= file->gems.room && r; handle++)
			if (sg_gem_find(file, handle) == gem)
				r = gem->flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS ? -EPERM : 0;
	}
	sg_unlock();
	return r;
}

int
sg_ioctl_gem_metadata(struct sg_file *file, void *data)
{
	struct drm_amdgpu_gem_metadata *args = data;
	struct sg_gem *gem = sg_gem_find(file, args->handle);

	if (!gem)
		return -ENOENT;
	if (args->op == AMDGPU_GEM_METADATA_OP_GET_METADATA) {
		args->data.tiling_info = gem->tiling_info;
		args->data.flags = gem->metadata_flags;
		args->data.data_size_bytes = gem->metadata_bytes;
		memcpy(args->data.data, gem->metadata, gem->metadata_bytes);
	} else if (args->op == AMDGPU_GEM_METADATA_OP_SET_METADATA) {
		if (args->data.data_size_bytes > sizeof(args->data.data))
			return -EINVAL;
		gem->tiling_info = args->data.tiling_info;
		gem->metadata_flags = args->data.flags;
		gem->metadata_bytes = args->data.data_size_bytes;
		memcpy(gem->metadata, args->data.data, gem->metadata_bytes);
	}
	return 0;
}

static int
create_info(const struct sg_gem *gem, uint64_t to)
{
	struct drm_amdgpu_gem_create_in info = {
		.bo_size = gem->bytes,
		.alignment = gem->alignment ? gem->alignment : SG_PAGE,
		.domains = gem->preferred,
		.domain_flags = gem->flags,
	};

	if (gem->preferred & AMDGPU_GEM_DOMAIN_VRAM)
		info.domain_flags |= CREATE_WIPE_ON_RELEASE;
	return sg_copy_to(to, &info, sizeof(info));
}

int
sg_ioctl_gem_op(struct sg_file *file, void *data)
{
	struct drm_amdgpu_gem_op *args = data;
	struct sg_gem *gem = sg_gem_find(file, args->handle);

	if (!gem)
		return -ENOENT;
	switch (args->op) {
	case AMDGPU_GEM_OP_GET_GEM_CREATE_INFO:
		return create_info(gem, args->value);
	case AMDGPU_GEM_OP_SET_PLACEMENT:
		/* A dma-buf of this device is no import for the kernel, and others cannot come here. */
		if (gem->user_address)
			return -EPERM;
		gem->preferred = args->value & (AMDGPU_GEM_DOMAIN_VRAM | AMDGPU_GEM_DOMAIN_GTT | AMDGPU_GEM_DOMAIN_CPU);
		return 0;
	default:
		return -EINVAL;
	}
}

int
sg_ioctl_gem_wait_idle(struct sg_file *file, void *data)
{
	union drm_amdgpu_gem_wait_idle *args = data;
	struct sg_gem *gem = sg_gem_find(file, args->in.handle);

	if (!gem)
		return -ENOENT;
	sg_gem_ref(gem);
	int r = sg_resv_wait(sg_gem_resv(gem), sg_deadline(args->in.timeout), true);
	sg_gem_unref(gem);
	if (r && r != -ETIME)
		return r;
	memset(args, 0, sizeof(*args));
	args->out.status = r == -ETIME;
	return 0;
}

/* ---- global names: the primary node only ---- */

/* The name of a buffer is its place in the device memory: unique, never reused, known without a table. */
static uint32_t
flink_name(const struct sg_gem *gem)
{
	return (uint32_t)(gem->bo->file_offset / SG_PAGE);
}

int
sg_ioctl_gem_flink(struct sg_file *file, void *data)
{
	struct drm_gem_flink *args = data;
	struct sg_gem *gem = sg_gem_find(file, args->handle);

	if (!gem)
		return -ENOENT;
	args->name = flink_name(gem);
	return 0;
}

int
sg_ioctl_gem_open(struct sg_file *file, void *data)
{
	struct drm_gem_open *args = data;
	struct sg_gem *gem = sg_dev.gems;

	while (gem && (gem->user_address || flink_name(gem) != args->name))
		gem = gem->next;
	if (!gem)
		return -ENOENT;
	if (gem->root && gem->root != file)
		return -EPERM;
	args->handle = sg_gem_handle(file, gem);
	args->size = gem->bytes;
	return args->handle ? 0 : -ENOMEM;
}
