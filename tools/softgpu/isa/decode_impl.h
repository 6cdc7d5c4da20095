/* SPDX-License-Identifier: MIT */
/* decode_impl.h: what the decode*.c files share. Not for use outside them. */
#ifndef SOFTGPU_DECODE_IMPL_H
#define SOFTGPU_DECODE_IMPL_H

#include "decode.h"

#include <string.h>

/* One instruction being decoded. */
struct dec {
	const struct sg_isa *isa;
	struct sg_pool *pool;
	const uint32_t *words;
	unsigned count;		/* valid dwords at words */
	unsigned used;		/* dwords of the instruction so far */
	bool literal_taken;
	uint32_t literal;
	bool short_of_words;
	const char *error;	/* why it cannot run */
};

#define BITS(word, high, low) (((word) >> (low)) & ((2u << ((high) - (low))) - 1))

static inline uint32_t
sg_next_word(struct dec *d)
{
	if (d->used >= d->count) {
		d->short_of_words = true;
		return 0;
	}
	return d->words[d->used++];
}

static inline bool
sg_is_16bit(unsigned type)
{
	return type == SG_T_B16 || type == SG_T_F16;
}

static inline bool
sg_is_64bit(unsigned type)
{
	return type == SG_T_B64 || type == SG_T_F64;
}

/* The literal behind the instruction; one for all operands that name it. */
uint32_t sg_literal(struct dec *d);
/* Scalar codes 0..255 to an operand. sign: how a literal is widened to 64 bits. */
void sg_decode_scalar(struct dec *d, struct sg_operand *s, unsigned code, unsigned type, bool sign);
/* 9-bit codes; constants become lane arrays. */
void sg_decode_vector(struct dec *d, struct sg_operand *s, unsigned code, unsigned type, const struct sg_insn *insn);
/* Register of a scalar result; writes to null go to a sink that nobody reads. */
uint16_t sg_decode_sdst(struct dec *d, unsigned code, unsigned dwords);

/* Each fills op (VALU: several) from the first dword w. */
unsigned sg_decode_valu(struct dec *d, struct sg_op *ops, enum sg_format format, uint32_t w);
void sg_decode_lane(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w);
void sg_decode_lds(struct dec *d, struct sg_op *op, uint32_t w);
void sg_decode_vmem(struct dec *d, struct sg_op *op, enum sg_format format, uint32_t w);
void sg_decode_image(struct dec *d, struct sg_op *op, uint32_t w);

#endif
