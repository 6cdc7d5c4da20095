/* SPDX-License-Identifier: MIT */
/* decode_mem.c: DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF. */
#include "core.h"
#include "decode_impl.h"

static uint32_t
flag(uint32_t word, unsigned bit, uint32_t value)
{
	return word >> bit & 1 ? value : 0;
}

void
sg_decode_lds(struct dec *d, struct sg_op *op, uint32_t w)
{
	uint32_t hi = sg_next_word(d);
	op->imm = BITS(w, 15, 0);
	op->flags |= flag(w, 17, SG_OP_GDS);
	op->addr = BITS(hi, 7, 0);
	op->data0 = BITS(hi, 15, 8);
	op->data1 = BITS(hi, 23, 16);
	op->dst = BITS(hi, 31, 24);
	if (op->flags & SG_OP_GDS)
		d->error = "uses global data share, which compute dispatches do not have here";
}

/* Loads at device scope bypass the caches that are not shared: glc on gfx11, glc with dlc on gfx10. */
static void
set_coherence(const struct dec *d, struct sg_op *op)
{
	const uint32_t gfx10 = SG_OP_GLC | SG_OP_DLC;
	bool coherent = d->isa->arch == SG_ARCH_RDNA2 ? (op->flags & gfx10) == gfx10 : op->flags & SG_OP_GLC;
	op->flags |= coherent ? SG_OP_COHERENT : 0;
}

static void
flat_fields_gfx10(struct sg_op *op, enum sg_format format, uint32_t w)
{
	op->imm = format == SG_FMT_FLAT ? (int32_t)BITS(w, 10, 0) : (int32_t)(w << 20) >> 20;
	op->flags |= flag(w, 12, SG_OP_DLC) | flag(w, 16, SG_OP_GLC) | flag(w, 17, SG_OP_SLC) |
		     flag(w, 13, SG_OP_TO_LDS);
}

static void
flat_fields_gfx11(struct sg_op *op, enum sg_format format, uint32_t w)
{
	op->imm = format == SG_FMT_FLAT ? (int32_t)BITS(w, 11, 0) : (int32_t)(w << 19) >> 19;
	op->flags |= flag(w, 13, SG_OP_DLC) | flag(w, 14, SG_OP_GLC) | flag(w, 15, SG_OP_SLC);
}

/* Which of vector and scalar offset a scratch access has: gfx11 says so in a bit, gfx10 by the scalar code (127:
 * neither). */
static void
scratch_operands(const struct dec *d, struct sg_op *op, uint32_t hi, bool has_saddr)
{
	unsigned saddr = BITS(hi, 22, 16);
	if (d->isa->arch == SG_ARCH_RDNA3)
		op->flags |= flag(hi, 23, SG_OP_VADDR);
	else if (saddr == d->isa->null_code)
		op->flags |= SG_OP_VADDR;
	if (has_saddr)
		op->flags |= SG_OP_SADDR;
}

static void
decode_flat(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	uint32_t hi = sg_next_word(d);
	unsigned saddr = BITS(hi, 22, 16);
	bool has_saddr = format != SG_FMT_FLAT && saddr != d->isa->null_code && saddr != 0x7f;

	if (d->isa->arch == SG_ARCH_RDNA2)
		flat_fields_gfx10(op, format, w);
	else
		flat_fields_gfx11(op, format, w);
	set_coherence(d, op);
	op->addr = BITS(hi, 7, 0);
	op->data0 = BITS(hi, 15, 8);
	op->dst = BITS(hi, 31, 24);
	if (op->flags & SG_OP_TO_LDS)
		d->error = "with lds is not implemented";
	if (format == SG_FMT_SCRATCH)
		scratch_operands(d, op, hi, has_saddr);
	else if (has_saddr)
		op->flags |= SG_OP_SADDR;
	if (!has_saddr)
		return;
	op->sdst = (uint16_t)(saddr == d->isa->m0_code ? SG_REG_M0 : saddr);
	if (format == SG_FMT_GLOBAL)
		op->sdst &= (uint16_t)~1u;
	if (format == SG_FMT_GLOBAL && op->sdst >= SG_REG_NULL)
		d->error = "has its address outside the scalar registers";
}

/* MUBUF and MTBUF: both share all fields but the format, and gfx11 moved the flags. */
static void
decode_buffer(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	bool gfx10 = d->isa->arch == SG_ARCH_RDNA2;
	uint32_t hi = sg_next_word(d);

	op->imm = BITS(w, 11, 0);
	op->flags |= flag(w, 14, SG_OP_GLC);
	if (gfx10)
		op->flags |= flag(w, 12, SG_OP_OFFEN) | flag(w, 13, SG_OP_IDXEN) | flag(w, 15, SG_OP_DLC) |
			     flag(hi, 22, SG_OP_SLC) | flag(hi, 23, SG_OP_TFE) |
			     (format == SG_FMT_MUBUF ? flag(w, 16, SG_OP_TO_LDS) : 0);
	else
		op->flags |= flag(w, 12, SG_OP_SLC) | flag(w, 13, SG_OP_DLC) | flag(hi, 21, SG_OP_TFE) |
			     flag(hi, 22, SG_OP_OFFEN) | flag(hi, 23, SG_OP_IDXEN);
	if (!strncmp(op->insn->key, "buffer_load_lds", 15))
		op->flags |= SG_OP_TO_LDS;
	set_coherence(d, op);
	if (format == SG_FMT_MTBUF)
		op->size = (uint8_t)BITS(w, 25, 19);
	op->addr = BITS(hi, 7, 0);
	op->data0 = op->dst = BITS(hi, 15, 8);
	op->sdst = BITS(hi, 20, 16) * 4;
	if (op->sdst == 104 || op->sdst >= SG_REG_NULL)
		d->error = "has its resource outside the scalar registers";
	const struct sg_mem_op *m = op->sem;
	if ((op->flags & SG_OP_TO_LDS) && (m->kind != SG_M_LOAD || m->bytes > 4 || m->d16 || m->format))
		d->error = "with lds is not implemented";
	if ((op->flags & SG_OP_TFE) && (m->kind != SG_M_LOAD || (op->flags & SG_OP_TO_LDS)))
		d->error = "asks for texture-fail status (tfe) of what is no load to registers";
	sg_decode_scalar(d, &op->src[0], BITS(hi, 31, 24), SG_T_B32, false);
}

void
sg_decode_vmem(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w)
{
	if (format == SG_FMT_MUBUF || format == SG_FMT_MTBUF)
		decode_buffer(d, op, format, w);
	else
		decode_flat(d, op, format, w);
}
