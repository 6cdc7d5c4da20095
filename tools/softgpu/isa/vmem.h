/* SPDX-License-Identifier: MIT */
/* vmem.h: one vector memory instruction while it runs; shared by vmem.c and buffer.c. */
#ifndef SOFTGPU_VMEM_H
#define SOFTGPU_VMEM_H

#include "core.h"
#include "format.h"

struct sg_vmem {
	struct sg_wave *w;
	const struct sg_op *op;
	const struct sg_mem_op *m;
	unsigned space;			/* SG_FORM_* */
	enum sg_path path;
	unsigned half;
	unsigned bytes;			/* of one lane */
	uint64_t va[SG_LANES];		/* SG_FORM_SCRATCH: offset in the lane's own bytes */
	uint32_t limit[SG_LANES];	/* SG_FORM_BUFFER, SG_FORM_TYPED: bytes of this lane that are in range */
	/* What the lower half read when all its lanes gave one address; bytes is 0 if they did not. */
	struct {
		uint64_t va;
		uint32_t limit;
		unsigned bytes;
		uint8_t data[16];
	} once;
};

/* vmem.c: one lane of any space, slowly; out of range parts read 0 and are not written. */
void sg_vmem_read_lane(const struct sg_vmem *a, unsigned lane, void *to);
void sg_vmem_write_lane(const struct sg_vmem *a, unsigned lane, const void *from);

/* buffer.c */
void sg_buffer_addresses(struct sg_vmem *a);
void sg_typed_half(struct sg_vmem *a, uint32_t exec);
/* tfe: the dword behind the data tells whether a lane touched a page without memory (PRT). */
void sg_buffer_status(const struct sg_vmem *a, uint32_t exec);
/* Registers that an access moves. */
unsigned sg_vmem_data_dwords(const struct sg_mem_op *m);

#endif
