/* SPDX-License-Identifier: MIT */
/* format.h: formats of typed buffer accesses. */
#ifndef SOFTGPU_FORMAT_H
#define SOFTGPU_FORMAT_H

#include "isa.h"

enum { SG_N_UNORM, SG_N_SNORM, SG_N_USCALED, SG_N_SSCALED, SG_N_UINT, SG_N_SINT, SG_N_FLOAT };

struct sg_buffer_format {
	uint8_t bits[4];	/* of components x, y, z, w in memory; 0 = absent */
	uint8_t numeric;	/* SG_N_* */
	uint8_t bytes;		/* of one element */
};

/* False: not a format; everything is 0 then. */
bool sg_format_find(enum sg_arch arch, unsigned number, struct sg_buffer_format *out);
/* As assemblers write it: [BUF_FMT_...] or the number. */
void sg_format_name(enum sg_arch arch, unsigned number, char *text, size_t bytes);

/* Bits of a component in memory to a register and back. */
uint32_t sg_format_load(const struct sg_buffer_format *f, unsigned component, uint32_t v);
uint32_t sg_format_store(const struct sg_buffer_format *f, unsigned component, uint32_t v);
uint32_t sg_format_to_half(uint32_t f32);
uint32_t sg_format_from_half(uint32_t half);

static inline bool
sg_format_is_integer(const struct sg_buffer_format *f)
{
	return f->numeric == SG_N_UINT || f->numeric == SG_N_SINT;
}

#endif
