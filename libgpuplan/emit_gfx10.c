/* SPDX-License-Identifier: MIT */
/* emit_gfx10.c: PM4 for RDNA1 and RDNA2 compute rings, and what later generations share with them.
 * Sources: as emit_packets.c; Linux gfx_v10_0.c (fence and acquire values). */
#include <stddef.h>

#include "amdgpu_code_object.h"
#include "emit_gfx10.h"
#include "pm4_regs.h"
#include "target.h"

void
gp_gfx10_acquire(struct gp_emit *e, uint32_t gcr)
{
	gp_emit_dword(e, pm4_header(PM4_OP_ACQUIRE_MEM, PM4_ACQUIRE_MEM_GFX10_DWORDS - 1));
	gp_emit_dword(e, 0);
	gp_emit_acquire_all(e);
	gp_emit_dword(e, gcr);
}

void
gp_gfx10_ring_defaults(struct gp_emit *e)
{
	gp_emit_ring_defaults(e);
	gp_emit_reg(e, R_GFX10_COMPUTE_REQ_CTRL, 0);
	gp_emit_reg_range(e, R_GFX10_COMPUTE_USER_ACCUM_0, R_GFX10_COMPUTE_USER_ACCUM_3, 0);
	gp_emit_reg(e, R_GFX10_COMPUTE_DISPATCH_TUNNEL, 0);
}

/* 0xc3b1 after uploads, as the kernel's EMIT_MEM_SYNC and RADV's preamble; 0xc3b0 when only data is new. */
void
gp_gfx10_begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	e->scratch = *scratch;
	gp_gfx10_acquire(e, PM4_SET(GCR_GLI_INV, how == GP_BEGIN_AFTER_UPLOAD) | PM4_SET(GCR_GLM_WB, 1) |
				    PM4_SET(GCR_GLM_INV, 1) | PM4_SET(GCR_GLK_INV, 1) | PM4_SET(GCR_GLV_INV, 1) |
				    PM4_SET(GCR_GL1_INV, 1) | PM4_SET(GCR_GL2_INV, 1) | PM4_SET(GCR_GL2_WB, 1));
	gp_gfx10_ring_defaults(e);
}

void
gp_gfx10_barrier(struct gp_emit *e, uint32_t ops)
{
	uint32_t gcr = 0;

	if (ops & PLAN_BARRIER_WAIT)
		gp_emit_wait(e);
	/* 0x380: stores are in L2 already (L0 and L1 write through), so L2 is left alone. A kernel with scalar stores
	 * (gfx101x only) ends by writing them back itself. */
	if (ops & PLAN_BARRIER_INVALIDATE)
		gcr |= PM4_SET(GCR_GLK_INV, 1) | PM4_SET(GCR_GLV_INV, 1) | PM4_SET(GCR_GL1_INV, 1);
	if (ops & PLAN_BARRIER_L2_WRITE_BACK)
		gcr |= PM4_SET(GCR_GL2_WB, 1);
	if (ops & PLAN_BARRIER_L2_INVALIDATE)
		gcr |= PM4_SET(GCR_GL2_INV, 1) | PM4_SET(GCR_GL2_WB, 1);
	if (gcr)
		gp_gfx10_acquire(e, gcr);
}

/* 0x06603514, the kernel's own fence on gfx10 and gfx11. */
void
gp_gfx10_signal(struct gp_emit *e, struct gp_ref word, uint64_t value)
{
	gp_emit_release(e,
			PM4_SET(RELEASE_MEM_GLM_WB, 1) | PM4_SET(RELEASE_MEM_GLM_INV, 1) |
				PM4_SET(RELEASE_MEM_GL2_WB, 1) | PM4_SET(RELEASE_MEM_SEQ, 1) |
				PM4_SET(RELEASE_MEM_CACHE_POLICY, 3),
			word, value);
}

void
gp_gfx10_launch(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg)
{
	gp_emit_user_data(e, d, reg);
	gp_emit_program(e, d);
	gp_emit_reg(e, R_GFX10_COMPUTE_PGM_RSRC3, d->rsrc3);
	gp_emit_launch(e, d, d->properties & AMDGPU_KCP_WAVE32);
}

static void
begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	gp_emit_uconfig(e, R_CP_COHER_START_DELAY, CP_COHER_START_DELAY_GFX10);
	gp_gfx10_begin(e, scratch, how);
	gp_emit_tmpring(e, scratch->waves * e->target->shader_engines);
}

/* Word 3 as LLVM and Mesa's ACO build it: format 22, add thread id, index stride 32 or 64, resource level 1, raw. */
#define SCRATCH_WORD3_WAVE32 0x31c16000u
#define SCRATCH_WORD3_WAVE64 0x31e16000u

static void
dispatch(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_gfx10_launch(e, d,
			gp_emit_scratch_descriptor(e, d,
						   d->properties & AMDGPU_KCP_WAVE32 ? SCRATCH_WORD3_WAVE32
										     : SCRATCH_WORD3_WAVE64));
}

static void
fill(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value)
{
	gp_emit_dma(e, dst, NULL, value, bytes, DMA_DATA_MAX_BYTES_GFX9);
}

static void
copy(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes)
{
	gp_emit_dma(e, dst, &src, (struct gp_emit_word){ 0 }, bytes, DMA_DATA_MAX_BYTES_GFX9);
}

const struct gp_emit_ops gp_emit_gfx10 = {
	.begin = begin,
	.dispatch = dispatch,
	.fill = fill,
	.copy = copy,
	.barrier = gp_gfx10_barrier,
	.signal = gp_gfx10_signal,
	.chain = gp_emit_chain,
	.finish = gp_emit_finish,
};
