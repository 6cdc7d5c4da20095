/* SPDX-License-Identifier: MIT */
/* fence.c: the kernel's side of a completion. */
#include <errno.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <unistd.h>
#include <xf86drm.h>

#include "amdgpu_newer.h"
#include "context.h"
#include "fence.h"

int
gp_fence_create(const struct gpuplan_context *context, uint32_t *syncobj)
{
	return drmSyncobjCreate(context->fd, 0, syncobj) ? -errno : 0;
}

void
gp_fence_destroy(const struct gpuplan_context *context, uint32_t syncobj)
{
	drmSyncobjDestroy(context->fd, syncobj);
}

int
gp_fence_register(const struct gpuplan_context *context, uint32_t syncobj, int eventfd)
{
	/* Point 0 is "the fence that is there now": registered after the CS, it is the fence of this run. */
	struct gpuplan_drm_syncobj_eventfd request = { .handle = syncobj, .fd = eventfd };

	return drmIoctl(context->fd, GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, &request) ? -errno : 0;
}

int
gp_fence_export(const struct gpuplan_context *context, uint32_t syncobj)
{
	int fd = -1;

	return drmSyncobjExportSyncFile(context->fd, syncobj, &fd) ? -errno : fd;
}

int
gp_fence_file_status(int sync_file, int *status)
{
	/* With room for no fence the kernel looks at the outer one only, which may not carry the error
	 * (Linux sync_file.c). */
	struct sync_fence_info fence = { .status = 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence };

	if (drmIoctl(sync_file, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	*status = info.status;
	return 0;
}

int
gp_fence_status(const struct gpuplan_context *context, uint32_t syncobj, int wait_ms, int *status)
{
	int fd = gp_fence_export(context, syncobj);
	int r;

	if (fd < 0)
		return fd;
	r = gp_fence_file_status(fd, status);
	if (!r && !*status && wait_ms) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		poll(&pfd, 1, wait_ms);
		r = gp_fence_file_status(fd, status);
	}
	close(fd);
	return r;
}
