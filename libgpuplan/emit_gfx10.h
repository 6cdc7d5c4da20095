/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX10_H
#define GP_EMIT_GFX10_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx10;

/* Shared with gfx11 and gfx12, which have the same ACQUIRE_MEM. */
void gp_gfx10_acquire(struct gp_emit *e, uint32_t gcr);
/* Registers at IB start that gfx10, gfx11 and gfx12 have. */
void gp_gfx10_ring_defaults(struct gp_emit *e);
/* Shared with gfx11, which has the same caches. */
void gp_gfx10_begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how);
void gp_gfx10_barrier(struct gp_emit *e, uint32_t ops);
void gp_gfx10_signal(struct gp_emit *e, struct gp_ref word, uint64_t value);
/* User SGPRs from `reg` on, program and launch. */
void gp_gfx10_launch(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg);

#endif
