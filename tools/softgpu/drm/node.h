/* SPDX-License-Identifier: MIT */
/* node.h: the kernel's side as the interposed functions (shim/) call it. */
#ifndef SOFTGPU_NODE_H
#define SOFTGPU_NODE_H

#include "../shim/fds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_file;
struct _IO_FILE;

/* What close of any copy of a descriptor waits for: the jobs of this file. */
void sg_file_flush(struct sg_file *file);
bool sg_file_is_primary(const struct sg_file *file);

/* 0 or -errno */
int sg_drm_ioctl(struct sg_file *file, uint32_t cmd, void *arg);
int sg_sync_file_ioctl(void *fence, uint32_t cmd, void *arg);

/* mmap of a node: 0 when offset and length are those of a buffer of this file that may be mapped. */
int sg_file_mmap_check(struct sg_file *file, uint64_t offset, uint64_t bytes);
/* A dma-buf's bytes and place in the device memory. */
uint64_t sg_dmabuf_bytes(void *gem);
int sg_dmabuf_mmap(void *gem, uint64_t offset, uint64_t bytes, uint64_t *file_offset);

/* Last reference of a description gone; device lock held. */
void sg_sync_file_release(void *object);
void sg_dmabuf_release(struct sg_desc *desc);

/* A reset asked for by hand. */
void sg_gpu_recover(void);

/* Counters as one JSON object (report.c). */
void sg_stats_write(struct _IO_FILE *out);
/* What the kernel adds to /proc/self/fdinfo/N of a node (fdinfo.c). */
void sg_fdinfo_write(struct sg_file *file, struct _IO_FILE *out);

#endif
