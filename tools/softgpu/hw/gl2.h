/* SPDX-License-Identifier: MIT */
/* gl2.h: hostile mode's L2. Every call with the cache lock held (cache.c); only cache.c calls these. */
#ifndef SOFTGPU_GL2_H
#define SOFTGPU_GL2_H

#include <stdbool.h>
#include <stdint.h>

/* Through L2: a read caches the whole line, a write is dirty until it is written back. */
void sg_gl2_read(const uint8_t *host, void *dst, uint64_t bytes);
void sg_gl2_write(uint8_t *host, const void *src, uint64_t bytes);
/* What a read would give, without caching anything. */
void sg_gl2_peek(const uint8_t *host, void *dst, uint64_t bytes);
/* Memory, but for bytes that the GPU has written and not written back. */
void sg_gl2_read_uncached(const uint8_t *host, void *dst, uint64_t bytes);
/* To memory; a copy, if there is one, is dropped. */
void sg_gl2_write_uncached(uint8_t *host, const void *src, uint64_t bytes);

bool sg_gl2_is_dirty(void);
void sg_gl2_write_back(void);
void sg_gl2_invalidate(void); /* drops what is clean */
void sg_gl2_discard(void);    /* drops everything */
void sg_gl2_write_back_range(const uint8_t *host, uint64_t bytes);
void sg_gl2_invalidate_range(const uint8_t *host, uint64_t bytes);
/* The memory goes away: drops its lines, dirty or not. */
void sg_gl2_forget(const uint8_t *host, uint64_t bytes);

#endif
