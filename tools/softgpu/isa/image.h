/* SPDX-License-Identifier: MIT */
/* image.h: image instructions (MIMG) between decode_image.c, image.c and the disassembler. */
#ifndef SOFTGPU_ISA_IMAGE_H
#define SOFTGPU_ISA_IMAGE_H

#include "core.h"

struct sg_image_op {
	const char *name;
	uint8_t kind;	/* enum sg_mem_kind; SG_M_OTHER: image_get_resinfo */
	uint8_t atomic;	/* enum sg_atomic */
	bool mip;	/* the last address component is a mip level */
};

/* Fields of struct sg_op.ctrl. The registers of the address are the bytes of imm, the first in the lowest; size of
 * them. */
enum {
	SG_IMG_DMASK = 15,
	SG_IMG_DIM_SHIFT = 4,
	SG_IMG_A16 = 1 << 7,	/* address components are 16 bits wide, two a register */
	SG_IMG_D16 = 1 << 8,	/* data components are */
	SG_IMG_R128 = 1 << 9,	/* resource of four dwords */
	SG_IMG_UNORM = 1 << 10,	/* about samplers only */
	SG_IMG_LWE = 1 << 11,	/* another dword of results, as with tfe */
	SG_IMG_NSA = 1 << 12,	/* registers of the address are named one by one */
};

/* Values of the dimension field. */
enum {
	SG_DIM_1D, SG_DIM_2D, SG_DIM_3D, SG_DIM_CUBE, SG_DIM_1D_ARRAY, SG_DIM_2D_ARRAY, SG_DIM_2D_MSAA,
	SG_DIM_2D_MSAA_ARRAY,
};

static inline unsigned
sg_image_dim(const struct sg_op *op)
{
	return op->ctrl >> SG_IMG_DIM_SHIFT & 7;
}

/* Components of the address. */
static inline unsigned
sg_image_coordinates(const struct sg_op *op)
{
	static const uint8_t count[] = { 1, 2, 3, 3, 2, 3, 3, 4 };
	const struct sg_image_op *m = op->sem;
	return m->kind == SG_M_OTHER ? 1 : count[sg_image_dim(op)] + m->mip;
}

static inline unsigned
sg_image_components(const struct sg_op *op)
{
	return (unsigned)__builtin_popcount(op->ctrl & SG_IMG_DMASK);
}

/* Registers of data, without the status that tfe and lwe add. */
static inline unsigned
sg_image_data_dwords(const struct sg_op *op)
{
	unsigned n = sg_image_components(op);
	return op->ctrl & SG_IMG_D16 ? (n + 1) / 2 : n;
}

#endif
