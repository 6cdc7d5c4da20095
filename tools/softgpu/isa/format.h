/* SPDX-License-Identifier: MIT */
/* format.h: formats of typed buffer accesses and images. */
#ifndef SOFTGPU_FORMAT_H
#define SOFTGPU_FORMAT_H

#include "isa.h"

enum { SG_N_UNORM, SG_N_SNORM, SG_N_USCALED, SG_N_SSCALED, SG_N_UINT, SG_N_SINT, SG_N_FLOAT, SG_N_SRGB };

struct sg_buffer_format {
	uint8_t bits[4];	/* of components x, y, z, w in memory; 0 = absent */
	uint8_t numeric;	/* SG_N_* */
	uint8_t bytes;		/* of one element */
};

/* False: not a format; everything is 0 then. */
bool sg_format_find(enum sg_arch arch, unsigned number, struct sg_buffer_format *out);
/* The same for images, which have more formats. False also for those that are not made of plain fields. */
bool sg_format_find_image(enum sg_arch arch, unsigned number, struct sg_buffer_format *out);
/* As assemblers write it: [BUF_FMT_...] or the number. */
void sg_format_name(enum sg_arch arch, unsigned number, char *text, size_t bytes);

/* Bits of a component in memory to a register and back. */
uint32_t sg_format_load(const struct sg_buffer_format *f, unsigned component, uint32_t v);
uint32_t sg_format_store(const struct sg_buffer_format *f, unsigned component, uint32_t v);
/* What a resource's select code (0, 1, 4..7: x..w) gives of an element; elements are readable 24 bytes far. */
uint32_t sg_format_select(const struct sg_buffer_format *f, const uint8_t *element, unsigned select);
/* Adds the bits of a component to an element that has zeros there. */
void sg_format_insert(const struct sg_buffer_format *f, uint8_t *element, unsigned component, uint32_t value);
/* Which of the components given to a store goes to this one in memory: the one a load would take there. -1: none. */
int sg_format_source(unsigned select, unsigned component);
uint32_t sg_format_to_half(uint32_t f32);
uint32_t sg_format_from_half(uint32_t half);

static inline bool
sg_format_is_integer(const struct sg_buffer_format *f)
{
	return f->numeric == SG_N_UINT || f->numeric == SG_N_SINT;
}

#endif
