/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX11_H
#define GP_EMIT_GFX11_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx11;

/* Shared with gfx12. */
void gp_gfx11_ring_defaults(struct gp_emit *e);
void gp_gfx11_dispatch(struct gp_emit *e, const struct gp_emit_dispatch *d);
void gp_gfx11_fill(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value);
void gp_gfx11_copy(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes);

#endif
