/* SPDX-License-Identifier: MIT */
/* icache.h: hostile mode's instruction cache of one ring. See icache.c. Used by the ring's thread only. */
#ifndef SOFTGPU_ICACHE_H
#define SOFTGPU_ICACHE_H

#include "vm.h"

struct sg_icache;

struct sg_icache *sg_icache_create(void); /* NULL: out of memory */
void sg_icache_invalidate(struct sg_icache *c);
/* A dispatch is about to run code at va, which lies in m: its lines become what they are now, unless they are cached. */
void sg_icache_fetch(struct sg_icache *c, const struct sg_vm *vm, const struct sg_mapping *m, uint64_t va);
/* Where code of this mapping is to be read, in place of m->host; m->host itself when none of it is cached. */
uint8_t *sg_icache_host(const struct sg_icache *c, const struct sg_mapping *m);

#endif
