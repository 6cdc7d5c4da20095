/* SPDX-License-Identifier: MIT */
/* disasm_impl.h: what disasm.c and disasm_mem.c share. */
#ifndef SOFTGPU_DISASM_IMPL_H
#define SOFTGPU_DISASM_IMPL_H

#include "core.h"

struct sg_text {
	char *at;
	size_t room;
	bool operands;	/* one was printed: the next needs a comma */
	bool wide_literal; /* whole though the operand is 16 bits wide */
	unsigned hidden; /* register that a VOPD pair reads through SG_VGPR_HIDDEN */
};

void sg_put(struct sg_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Each starts the next operand. */
void sg_put_comma(struct sg_text *t);
void sg_put_vgpr(struct sg_text *t, unsigned reg, unsigned dwords);
void sg_put_sgpr(struct sg_text *t, unsigned reg, unsigned dwords);
void sg_put_source(struct sg_text *t, const struct sg_operand *s);

/* disasm_mem.c: operands of DS, FLAT family, buffers, SMEM and images. */
void sg_put_lds(struct sg_text *t, const struct sg_op *op);
void sg_put_vmem(struct sg_text *t, const struct sg_op *op);
void sg_put_smem(struct sg_text *t, const struct sg_op *op);
void sg_put_image(struct sg_text *t, const struct sg_op *op);

#endif
