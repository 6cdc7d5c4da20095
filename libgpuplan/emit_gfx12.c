/* SPDX-License-Identifier: MIT */
/* emit_gfx12.c: PM4 for RDNA4 compute rings, where it differs from gfx11. Sources: as emit_packets.c, gfx_v12_0.c.
 *
 * There is no L1 and no metadata cache, their bits are reserved. Command processor and DMA pass L2 by: barriers between
 * them and shaders write L2 back or drop it (target.h: dma_bypasses_l2). Workgroup ids need no SGPRs.
 */
#include <stddef.h>

#include "emit_gfx10.h"
#include "emit_gfx11.h"
#include "emit_gfx12.h"
#include "pm4_regs.h"

/* 0xc181 after uploads, 0xc180 when only data is new. */
static void
begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	e->scratch = *scratch;
	gp_gfx10_acquire(e, PM4_SET(GCR_GLI_INV, how == GP_BEGIN_AFTER_UPLOAD) | PM4_SET(GCR_GLK_INV, 1) |
				    PM4_SET(GCR_GLV_INV, 1) | PM4_SET(GCR_GL2_INV, 1) | PM4_SET(GCR_GL2_WB, 1));
	gp_gfx10_ring_defaults(e);
	gp_gfx11_ring_defaults(e);
	gp_emit_reg(e, R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE8, 0xffffffff);
	gp_emit_reg_range(e, R_COMPUTE_DISPATCH_PKT_ADDR_LO, R_COMPUTE_DISPATCH_PKT_ADDR_HI, 0);
}

static void
barrier(struct gp_emit *e, uint32_t ops)
{
	uint32_t gcr = 0;

	if (ops & PLAN_BARRIER_WAIT)
		gp_emit_wait(e);
	if (ops & PLAN_BARRIER_INVALIDATE)
		gcr |= PM4_SET(GCR_GLK_INV, 1) | PM4_SET(GCR_GLV_INV, 1);
	if (ops & PLAN_BARRIER_L2_WRITE_BACK)
		gcr |= PM4_SET(GCR_GL2_WB, 1);
	/* Invalidation drops clean lines only: a line with a shader's bytes beside those that DMA wrote is written back
	 * first. */
	if (ops & PLAN_BARRIER_L2_INVALIDATE)
		gcr |= PM4_SET(GCR_GL2_INV, 1) | PM4_SET(GCR_GL2_WB, 1);
	if (gcr)
		gp_gfx10_acquire(e, gcr);
}

/* 0x06600514, the kernel's own fence on gfx12. */
static void
signal(struct gp_emit *e, struct gp_ref word, uint64_t value)
{
	gp_emit_release(e,
			PM4_SET(RELEASE_MEM_GL2_WB, 1) | PM4_SET(RELEASE_MEM_SEQ, 1) |
				PM4_SET(RELEASE_MEM_CACHE_POLICY, 3),
			word, value);
}

const struct gp_emit_ops gp_emit_gfx12 = {
	.begin = begin,
	.dispatch = gp_gfx11_dispatch,
	.fill = gp_gfx11_fill,
	.copy = gp_gfx11_copy,
	.barrier = barrier,
	.signal = signal,
	.chain = gp_emit_chain,
	.finish = gp_emit_finish,
};
