/* SPDX-License-Identifier: MIT */
/* va.c: GEM_VA and VM: the GPU address space of an open file (Linux 6.12 amdgpu_gem.c, amdgpu_vm.c). */
#define _GNU_SOURCE
#include "ioctls.h"

#include <errno.h>

#define VA_RESERVED_BOTTOM 0x10000ull
#define VA_HOLE_START 0x800000000000ull
#define VA_HOLE_END 0xffff800000000000ull
#define VA_HOLE_MASK 0x0000ffffffffffffull
/* Context save area 2 MiB, seq64 2 MiB, trap handler 64 KiB. */
#define VA_TOP ((1ull << 48) - 0x410000ull)

#define PAGE_NOALLOC (1u << 9)
#define MAP_FLAGS \
	(AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE | AMDGPU_VM_PAGE_EXECUTABLE | \
	 AMDGPU_VM_MTYPE_MASK | PAGE_NOALLOC)
#define PRT_FLAGS (AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_PRT)

static int
check_range(const struct drm_amdgpu_gem_va *args)
{
	if (args->va_address < VA_RESERVED_BOTTOM)
		return -EINVAL;
	if (args->va_address >= VA_HOLE_START && args->va_address < VA_HOLE_END)
		return -EINVAL;
	/* The sum may wrap as it does in the kernel; the size check of MAP catches that. */
	if ((args->va_address & VA_HOLE_MASK) + args->map_size > VA_TOP)
		return -EINVAL;
	if ((args->flags & ~(uint32_t)MAP_FLAGS) && (args->flags & ~(uint32_t)PRT_FLAGS))
		return -EINVAL;
	if (args->operation < AMDGPU_VA_OP_MAP || args->operation > AMDGPU_VA_OP_REPLACE)
		return -EINVAL;
	return 0;
}

static int
check_mapping(const struct drm_amdgpu_gem_va *args, uint64_t bo_bytes)
{
	if ((args->va_address | args->offset_in_bo | args->map_size) & (SG_PAGE - 1))
		return -EINVAL;
	if (args->map_size == 0 || args->va_address + args->map_size <= args->va_address)
		return -EINVAL;
	if (args->offset_in_bo + args->map_size < args->offset_in_bo)
		return -EINVAL;
	if (bo_bytes && args->offset_in_bo + args->map_size > bo_bytes)
		return -EINVAL;
	return 0;
}

static uint32_t
access_of(uint32_t flags)
{
	return (flags & AMDGPU_VM_PAGE_READABLE ? SG_VM_READ : 0) |
	       (flags & AMDGPU_VM_PAGE_WRITEABLE ? SG_VM_WRITE : 0) |
	       (flags & AMDGPU_VM_PAGE_EXECUTABLE ? SG_VM_EXEC : 0) | (flags & AMDGPU_VM_PAGE_PRT ? SG_VM_PRT : 0);
}

static int
map(struct sg_file *file, const struct drm_amdgpu_gem_va *args, struct sg_gem *gem)
{
	struct sg_bo *bo = gem ? gem->bo : NULL;

	int r = check_mapping(args, gem ? gem->bytes : 0);
	if (r)
		return r;
	if (args->operation == AMDGPU_VA_OP_REPLACE) {
		r = sg_vm_clear(file->vm, args->va_address, args->map_size);
		if (r)
			return r;
	}
	return sg_vm_map(file->vm, args->va_address, args->map_size, bo, bo ? args->offset_in_bo : 0,
			 access_of(args->flags));
}

int
sg_ioctl_gem_va(struct sg_file *file, void *data)
{
	struct drm_amdgpu_gem_va *args = data;
	struct sg_gem *gem = NULL;

	int r = check_range(args);
	if (r)
		return r;
	if (args->operation != AMDGPU_VA_OP_CLEAR && !(args->flags & AMDGPU_VM_PAGE_PRT)) {
		gem = sg_gem_find(file, args->handle);
		if (!gem)
			return -ENOENT;
	}
	switch (args->operation) {
	case AMDGPU_VA_OP_UNMAP:
		return sg_vm_unmap(file->vm, args->va_address, gem ? gem->bo : NULL);
	case AMDGPU_VA_OP_CLEAR:
		return args->map_size ? sg_vm_clear(file->vm, args->va_address, args->map_size) : 0;
	default:
		return map(file, args, gem);
	}
}

int
sg_ioctl_vm(struct sg_file *file, void *data)
{
	union drm_amdgpu_vm *args = data;

	if (args->in.flags)
		return -EINVAL;
	switch (args->in.op) {
	case AMDGPU_VM_OP_RESERVE_VMID:
		file->reserved_vmid = true;
		return 0;
	case AMDGPU_VM_OP_UNRESERVE_VMID:
		file->reserved_vmid = false;
		return 0;
	default:
		return -EINVAL;
	}
}
