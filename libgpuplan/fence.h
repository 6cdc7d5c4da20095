/* SPDX-License-Identifier: MIT */
/* fence.h: binary syncobjs, the fences in them, and how to hear of those. Cold path: every call is one to four ioctls.
 */
#ifndef GP_FENCE_H
#define GP_FENCE_H

#include <stdint.h>

struct gpuplan_context;

int gp_fence_create(const struct gpuplan_context *context, uint32_t *syncobj);
void gp_fence_destroy(const struct gpuplan_context *context, uint32_t syncobj);

/* Adds 1 to the eventfd once, when the fence that is there now signals: within the call if it has. Cannot be taken
 * back; the kernel holds the eventfd until then. Errors: -ENOMEM, -EINVAL before Linux 6.6. */
int gp_fence_register(const struct gpuplan_context *context, uint32_t syncobj, int eventfd);

/* A sync_file of the fence that is there now: readable once it has signalled, whatever its error. The caller closes
 * it. Errors: -EMFILE, -ENOMEM, -EINVAL no fence yet. */
int gp_fence_export(const struct gpuplan_context *context, uint32_t syncobj);
/* Of a sync_file: *status 1 signalled, 0 running, or the fence's negative errno. */
int gp_fence_file_status(int sync_file, int *status);
/* Of the fence in a syncobj, after waiting up to wait_ms for it to signal. Errors: as gp_fence_export. */
int gp_fence_status(const struct gpuplan_context *context, uint32_t syncobj, int wait_ms, int *status);

#endif
