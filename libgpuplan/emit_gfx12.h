/* SPDX-License-Identifier: MIT */
#ifndef GP_EMIT_GFX12_H
#define GP_EMIT_GFX12_H

#include "emit.h"

extern const struct gp_emit_ops gp_emit_gfx12;

#endif
