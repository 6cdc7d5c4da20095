/* SPDX-License-Identifier: MIT */
/* emit_gfx11.c: PM4 for RDNA3 compute rings, where it differs from gfx10. Sources: as emit_packets.c, gfx_v11_0.c. */
#include <stddef.h>

#include "emit_gfx10.h"
#include "emit_gfx11.h"
#include "pm4_regs.h"
#include "target.h"

/* Scratch is architected: base and size are registers, kernels take no SGPRs for it. WAVES counts per engine. */
void
gp_gfx11_ring_defaults(struct gp_emit *e)
{
	gp_emit_reg_range(e, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE4, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE7, 0xffffffff);
	gp_emit_reg(e, R_GFX11_COMPUTE_DISPATCH_INTERLEAVE, DISPATCH_INTERLEAVE_GFX11);
	gp_emit_architected_scratch(e);
	gp_emit_tmpring(e, e->scratch.waves);
}

static void
begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	gp_gfx10_begin(e, scratch, how);
	gp_gfx11_ring_defaults(e);
}

void
gp_gfx11_dispatch(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_gfx10_launch(e, d, R_COMPUTE_USER_DATA_0);
}

void
gp_gfx11_fill(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value)
{
	gp_emit_dma(e, dst, NULL, value, bytes, DMA_DATA_MAX_BYTES_GFX11);
}

void
gp_gfx11_copy(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes)
{
	gp_emit_dma(e, dst, &src, (struct gp_emit_word){ 0 }, bytes, DMA_DATA_MAX_BYTES_GFX11);
}

const struct gp_emit_ops gp_emit_gfx11 = {
	.begin = begin,
	.dispatch = gp_gfx11_dispatch,
	.fill = gp_gfx11_fill,
	.copy = gp_gfx11_copy,
	.barrier = gp_gfx10_barrier,
	.signal = gp_gfx10_signal,
	.chain = gp_emit_chain,
	.finish = gp_emit_finish,
};
