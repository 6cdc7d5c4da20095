/* SPDX-License-Identifier: MIT */
/* cache.h: the stale lines of hostile mode. See cache.c for the model and for what it leaves out. */
#ifndef SOFTGPU_CACHE_H
#define SOFTGPU_CACHE_H

#include "../isa/isa.h"

/* The vector and scalar caches as one ring sees them. Lives as long as the process. */
struct sg_stale;

/* Each dispatch, and each store of a packet processor, has a number; numbers grow in program order. */
uint32_t sg_stale_new_writer(void);

struct sg_stale *sg_stale_create(void); /* NULL: out of memory */
void sg_stale_invalidate(struct sg_stale *s, bool vector, bool scalar);
void sg_stale_invalidate_range(struct sg_stale *s, bool vector, bool scalar, const uint8_t *host, uint64_t bytes);

/* Accesses of shaders */
void sg_stale_write(uint8_t *host, const void *src, size_t bytes, uint32_t writer);
void sg_stale_read(struct sg_stale *s, enum sg_path path, const uint8_t *host, void *dst, size_t bytes,
		   uint32_t reader);

/* Accesses of packet processors: either through L2 like shaders, or past it. A read past L2 still sees what the GPU
 * itself has written and not written back, a write past L2 drops a copy there. */
enum sg_l2_use { SG_L2_CACHED, SG_L2_UNCACHED };
void sg_l2_read(const uint8_t *host, void *dst, uint64_t bytes, enum sg_l2_use use);
void sg_l2_write(uint8_t *host, const void *src, uint64_t bytes, enum sg_l2_use use);
/* Reads, asks for the new value (bytes is 4 or 8; false: leave it) and writes, in one step. */
typedef bool sg_l2_update_fn(void *arg, uint64_t old, uint64_t *value);
bool sg_l2_update(uint8_t *host, unsigned bytes, enum sg_l2_use use, sg_l2_update_fn *update, void *arg);

bool sg_l2_is_dirty(void);
void sg_l2_write_back(void);
void sg_l2_invalidate(void);	/* clean lines */
void sg_l2_discard(void);	/* dirty lines too */
void sg_l2_write_back_range(const uint8_t *host, uint64_t bytes);
void sg_l2_invalidate_range(const uint8_t *host, uint64_t bytes);
/* The memory is about to be unmapped. Any time, hostile or not. */
void sg_l2_forget(const uint8_t *host, uint64_t bytes);

void sg_stale_lock_for_fork(void);
void sg_stale_unlock_after_fork(bool child);

#endif
