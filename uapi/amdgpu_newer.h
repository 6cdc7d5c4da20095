/* SPDX-License-Identifier: MIT */
/* amdgpu_newer.h: DRM definitions newer than the headers of Debian 12 (libdrm 2.4.114).
 * Numbers from Linux 6.12 include/uapi/drm/drm.h and amdgpu_drm.h. */
#ifndef GPUPLAN_UAPI_AMDGPU_NEWER_H
#define GPUPLAN_UAPI_AMDGPU_NEWER_H

#include <stdint.h>

/* DRM_IOCTL_SYNCOBJ_EVENTFD, Linux 6.6: adds 1 to the eventfd when the point's fence signals. */
struct gpuplan_drm_syncobj_eventfd {
	uint32_t handle;
	uint32_t flags;
	uint64_t point;
	int32_t fd;
	uint32_t pad;
};
#define GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD 0xc01864cful

#define GPUPLAN_AMDGPU_FAMILY_GC_11_0_0 145u
#define GPUPLAN_AMDGPU_FAMILY_GC_12_0_0 152u
#define GPUPLAN_AMDGPU_CTX_QUERY2_FLAGS_RESET_IN_PROGRESS (1u << 5)

/* AMDGPU_INFO_GPUVM_FAULT, DRM 3.55 */
#define GPUPLAN_AMDGPU_INFO_GPUVM_FAULT 0x23u
struct gpuplan_amdgpu_info_gpuvm_fault {
	uint64_t addr;
	uint32_t status;
	uint32_t vmhub;
};

/* AMDGPU_INFO_MAX_IBS, DRM 3.56 */
#define GPUPLAN_AMDGPU_INFO_MAX_IBS 0x22u

#endif
