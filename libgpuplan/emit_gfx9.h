/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX9_H
#define GP_EMIT_GFX9_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx9;	/* gfx900, gfx906 */
extern const struct gp_emit_ops gp_emit_gfx90a;
extern const struct gp_emit_ops gp_emit_gfx942;

#endif
