/* SPDX-License-Identifier: MIT */
/* ioctls.h: the handlers of the ioctl table (ioctl.c).
 *
 * Each is called with the device lock held and `data` pointing to the caller's structure, copied in and followed by
 * zeros when the caller's is shorter; it is copied back also after an error. Returns 0 or -errno.
 */
#ifndef SOFTGPU_IOCTLS_H
#define SOFTGPU_IOCTLS_H

#include "device.h"

/* Linux 6.12's names that libdrm 2.4.114's headers lack */
#include "amdgpu_newer.h"
#include <amdgpu_drm.h>
#include <drm.h>

typedef int sg_handler(struct sg_file *file, void *data);

/* core.c */
sg_handler sg_ioctl_version, sg_ioctl_get_cap, sg_ioctl_set_client_cap, sg_ioctl_get_client, sg_ioctl_get_unique,
	sg_ioctl_set_version, sg_ioctl_get_magic, sg_ioctl_auth_magic, sg_ioctl_set_master, sg_ioctl_drop_master;
/* gem.c, gem_ops.c, prime.c */
sg_handler sg_ioctl_gem_close, sg_ioctl_gem_create, sg_ioctl_gem_mmap, sg_ioctl_gem_metadata, sg_ioctl_gem_op,
	sg_ioctl_gem_userptr, sg_ioctl_gem_wait_idle, sg_ioctl_gem_flink, sg_ioctl_gem_open, sg_ioctl_prime_to_fd,
	sg_ioctl_prime_from_fd;
/* va.c */
sg_handler sg_ioctl_gem_va, sg_ioctl_vm;
/* bo_list.c, ctx.c, cs.c, cs_wait.c, info.c */
sg_handler sg_ioctl_bo_list, sg_ioctl_ctx, sg_ioctl_cs, sg_ioctl_info, sg_ioctl_wait_cs, sg_ioctl_wait_fences,
	sg_ioctl_fence_to_handle, sg_ioctl_sched;
/* syncobj.c, syncobj_wait.c, syncobj_fd.c */
sg_handler sg_ioctl_syncobj_create, sg_ioctl_syncobj_destroy, sg_ioctl_syncobj_to_fd, sg_ioctl_syncobj_from_fd,
	sg_ioctl_syncobj_wait, sg_ioctl_syncobj_timeline_wait, sg_ioctl_syncobj_reset, sg_ioctl_syncobj_signal,
	sg_ioctl_syncobj_timeline_signal, sg_ioctl_syncobj_query, sg_ioctl_syncobj_transfer, sg_ioctl_syncobj_eventfd;

/* Counts the call. Its -errno if it is to fail by SOFTGPU_FAIL, else 0. Lock held. `nr` indexes the table; SG_NR_* for sync files. */
enum { SG_NR_SYNC_MERGE = 256, SG_NR_SYNC_FILE_INFO, SG_NR_COUNT };
int sg_ioctl_account(unsigned nr);
const char *sg_ioctl_name(unsigned nr); /* NULL: no such call */
uint64_t sg_ioctl_calls(unsigned nr);

#endif
