/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX10_H
#define GP_EMIT_GFX10_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx10;

/* Shared with gfx11, which differs in scratch, in some registers and in the size of DMA packets. */
void gp_gfx10_begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how);
void gp_gfx10_user_data(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg);
void gp_gfx10_launch(struct gp_emit *e, const struct gp_emit_dispatch *d);
/* src NULL: fills with value. */
void gp_gfx10_dma(struct gp_emit *e, struct gp_ref dst, const struct gp_ref *src, struct gp_emit_word value, uint64_t bytes,
		  uint32_t max_bytes);
void gp_gfx10_barrier(struct gp_emit *e, uint32_t ops);
void gp_gfx10_signal(struct gp_emit *e, struct gp_ref word, uint64_t value);

#endif
