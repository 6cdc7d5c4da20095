/* SPDX-License-Identifier: MIT */
/* bo_list.c: lists of buffers that a submission makes resident (Linux 6.12 amdgpu_bo_list.c). */
#define _GNU_SOURCE
#include "ioctls.h"
#include "../shim/raw.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ENTRIES (128 * 1024)

void
sg_bo_list_unref(struct sg_bo_list *list)
{
	if (!list || --list->refs > 0)
		return;
	for (unsigned i = 0; i < list->n; i++)
		sg_gem_unref(list->gems[i]);
	free(list);
}

/* Entries may be longer or shorter than ours: they are read with the caller's stride. */
static int
read_entry(const struct drm_amdgpu_bo_list_in *in, uint32_t i, struct drm_amdgpu_bo_list_entry *entry)
{
	size_t bytes = in->bo_info_size < sizeof(*entry) ? in->bo_info_size : sizeof(*entry);

	*entry = (struct drm_amdgpu_bo_list_entry){ 0 };
	return sg_copy_from(entry, in->bo_info_ptr + (uint64_t)i * in->bo_info_size, bytes);
}

int
sg_bo_list_create(struct sg_file *file, const struct drm_amdgpu_bo_list_in *in, struct sg_bo_list **out)
{
	struct drm_amdgpu_bo_list_entry entry;
	int r = 0;

	if (in->bo_number > MAX_ENTRIES)
		return -EINVAL;
	struct sg_bo_list *list = malloc(sizeof(*list) + in->bo_number * sizeof(list->gems[0]));
	if (!list)
		return -ENOMEM;
	list->refs = 1;
	list->n = 0;
	list->has_user_memory = false;
	for (uint32_t i = 0; i < in->bo_number; i++) {
		r = read_entry(in, i, &entry);
		if (r)
			break;
		struct sg_gem *gem = sg_gem_find(file, entry.bo_handle);
		if (!gem)
			r = -ENOENT;
		else if (gem->user_address && gem->user_pid != getpid())
			r = -EPERM; /* another process's memory, after a fork */
		if (r)
			break;
		list->gems[list->n++] = sg_gem_ref(gem);
		list->has_user_memory |= gem->user_address != 0;
	}
	if (r) {
		sg_bo_list_unref(list);
		return r;
	}
	*out = list;
	return 0;
}

int
sg_bo_list_validate(const struct sg_bo_list *list)
{
	for (unsigned i = 0; list->has_user_memory && i < list->n; i++) {
		const struct sg_gem *gem = list->gems[i];
		if (!gem->user_address)
			continue;
		if (gem->user_pid != getpid())
			return -EPERM;
		/* Does nothing but look whether all of it is mapped. */
		if (raw_call(SYS_msync, (long)gem->user_address, (long)gem->bytes, MS_ASYNC, 0, 0, 0) == -ENOMEM)
			return -EFAULT;
	}
	return 0;
}

/* The array is copied before the operation is looked at. */
static int
probe_array(const struct drm_amdgpu_bo_list_in *in)
{
	struct drm_amdgpu_bo_list_entry entry;

	if (in->bo_number > MAX_ENTRIES)
		return -EINVAL;
	return in->bo_number ? read_entry(in, in->bo_number - 1, &entry) : 0;
}

static int
list_create(struct sg_file *file, union drm_amdgpu_bo_list *args)
{
	struct sg_bo_list *list;

	int r = sg_bo_list_create(file, &args->in, &list);
	if (r)
		return r;
	uint32_t handle = sg_handle_add(&file->bo_lists, list, UINT32_MAX);
	if (!handle) {
		sg_bo_list_unref(list);
		return -ENOMEM;
	}
	sg_dev.bo_lists++;
	args->out.list_handle = handle;
	args->out._pad = 0;
	return 0;
}

static int
list_update(struct sg_file *file, union drm_amdgpu_bo_list *args)
{
	uint32_t handle = args->in.list_handle;
	struct sg_bo_list *list;

	int r = sg_bo_list_create(file, &args->in, &list);
	if (r)
		return r;
	struct sg_bo_list *old = sg_handle_find(&file->bo_lists, handle);
	if (!old) {
		sg_bo_list_unref(list);
		return -ENOENT;
	}
	file->bo_lists.slots[handle - 1] = list;
	sg_bo_list_unref(old);
	args->out.list_handle = handle;
	args->out._pad = 0;
	return 0;
}

int
sg_ioctl_bo_list(struct sg_file *file, void *data)
{
	union drm_amdgpu_bo_list *args = data;

	int r = probe_array(&args->in);
	if (r)
		return r;
	switch (args->in.operation) {
	case AMDGPU_BO_LIST_OP_CREATE:
		return list_create(file, args);
	case AMDGPU_BO_LIST_OP_UPDATE:
		return list_update(file, args);
	case AMDGPU_BO_LIST_OP_DESTROY: {
		/* A handle that is not there is not an error, in the kernel either. */
		struct sg_bo_list *list = sg_handle_remove(&file->bo_lists, args->in.list_handle);
		if (list)
			sg_dev.bo_lists--;
		sg_bo_list_unref(list);
		args->out.list_handle = 0;
		args->out._pad = 0;
		return 0;
	}
	default:
		return -EINVAL;
	}
}
