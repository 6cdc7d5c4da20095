/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX11_H
#define GP_EMIT_GFX11_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx11;

#endif
