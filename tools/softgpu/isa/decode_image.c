/* SPDX-License-Identifier: MIT */
/* decode_image.c: MIMG. */
#include "decode_impl.h"
#include "image.h"

static uint32_t
flag(uint32_t word, unsigned bit, uint32_t value)
{
	return word >> bit & 1 ? value : 0;
}

static void
fields_gfx10(struct sg_op *op, uint32_t w, uint32_t hi)
{
	op->ctrl = BITS(w, 11, 8) | BITS(w, 5, 3) << SG_IMG_DIM_SHIFT | flag(w, 12, SG_IMG_UNORM) |
		   flag(w, 15, SG_IMG_R128) | flag(w, 17, SG_IMG_LWE) | flag(hi, 30, SG_IMG_A16) |
		   flag(hi, 31, SG_IMG_D16) | (BITS(w, 2, 1) ? SG_IMG_NSA : 0);
	op->flags |= flag(w, 7, SG_OP_DLC) | flag(w, 13, SG_OP_GLC) | flag(w, 16, SG_OP_TFE) | flag(w, 25, SG_OP_SLC);
}

static void
fields_gfx11(struct sg_op *op, uint32_t w, uint32_t hi)
{
	op->ctrl = BITS(w, 11, 8) | BITS(w, 4, 2) << SG_IMG_DIM_SHIFT | flag(w, 7, SG_IMG_UNORM) |
		   flag(w, 15, SG_IMG_R128) | flag(w, 16, SG_IMG_A16) | flag(w, 17, SG_IMG_D16) |
		   flag(hi, 22, SG_IMG_LWE) | flag(w, 0, SG_IMG_NSA);
	op->flags |= flag(w, 12, SG_OP_SLC) | flag(w, 13, SG_OP_DLC) | flag(w, 14, SG_OP_GLC) | flag(hi, 21, SG_OP_TFE);
}

/* Registers of the address: consecutive from vaddr, or the rest named in further dwords. Where gfx11 has room for five
 * only, the fifth begins a run; image loads and stores never need more. */
static void
address_registers(struct dec *d, struct sg_op *op, unsigned first, unsigned extra_dwords)
{
	unsigned components = sg_image_coordinates(op);
	uint64_t registers = first;

	op->size = (uint8_t)(op->ctrl & SG_IMG_A16 ? (components + 1) / 2 : components);
	for (unsigned dword = 0; dword < extra_dwords; dword++) {
		uint32_t w = sg_next_word(d);
		if (dword == 0)
			registers |= (uint64_t)w << 8;
	}
	for (unsigned i = 1; !extra_dwords && i < op->size; i++)
		registers |= (uint64_t)((first + i) & 0xff) << 8 * i;
	op->imm = (int64_t)(registers & 0xffffffffff);
}

void
sg_decode_image(struct dec *d, struct sg_op *op, uint32_t w)
{
	bool gfx10 = d->isa->arch == SG_ARCH_RDNA2;
	uint32_t hi = sg_next_word(d);
	unsigned resource_end;

	if (gfx10)
		fields_gfx10(op, w, hi);
	else
		fields_gfx11(op, w, hi);
	bool coherent = gfx10 ? (op->flags & SG_OP_GLC) && (op->flags & SG_OP_DLC) : op->flags & SG_OP_GLC;
	op->flags |= coherent ? SG_OP_COHERENT : 0;
	address_registers(d, op, BITS(hi, 7, 0), gfx10 ? BITS(w, 2, 1) : BITS(w, 0, 0));
	op->dst = op->data0 = BITS(hi, 15, 8);
	op->sdst = BITS(hi, 20, 16) * 4;
	resource_end = op->sdst + (op->ctrl & SG_IMG_R128 ? 4 : 8);
	if ((op->sdst < 106 && resource_end > 106) || resource_end > SG_REG_NULL)
		d->error = "has its resource outside the scalar registers";
	else if (!(op->ctrl & SG_IMG_DMASK))
		d->error = "has an empty dmask";
	else if (sg_image_dim(op) >= SG_DIM_2D_MSAA)
		d->error = "of multisampled images is not implemented";
}
