/* SPDX-License-Identifier: MIT */
/* emit_gfx11.c: PM4 for RDNA3 compute rings, where it differs from gfx10. Sources: as emit_gfx10.c, gfx_v11_0.c. */
#include <stddef.h>

#include "emit_gfx10.h"
#include "emit_gfx11.h"
#include "pm4.h"
#include "pm4_regs.h"
#include "target.h"

/* Scratch is architected: base and size are registers, kernels take no SGPRs for it. */
static void
begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	gp_gfx10_begin(e, scratch, how);
	for (uint32_t r = R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE4; r <= R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE7; r++)
		gp_emit_reg(e, r, 0xffffffff);
	gp_emit_reg(e, R_GFX11_COMPUTE_DISPATCH_INTERLEAVE, DISPATCH_INTERLEAVE_GFX11);
	if (scratch->bytes_per_wave) {
		gp_emit_reg_ref(e, R_COMPUTE_DISPATCH_SCRATCH_BASE_LO, scratch->base, PLAN_RELOC_LO32_SHR8, 0);
		gp_emit_reg_ref(e, R_COMPUTE_DISPATCH_SCRATCH_BASE_HI, scratch->base, PLAN_RELOC_HI8_SHR40, 0);
	}
	gp_emit_reg(e, R_COMPUTE_TMPRING_SIZE,
		    PM4_SET(TMPRING_WAVES, scratch->bytes_per_wave ? scratch->waves : 0) |
			    PM4_SET(TMPRING_WAVESIZE_GFX11, scratch->bytes_per_wave / e->target->private_granule));
}

static void
dispatch(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_gfx10_user_data(e, d, R_COMPUTE_USER_DATA_0);
	gp_gfx10_launch(e, d);
}

static void
fill(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value)
{
	gp_gfx10_dma(e, dst, NULL, value, bytes, DMA_DATA_MAX_BYTES_GFX11);
}

static void
copy(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes)
{
	gp_gfx10_dma(e, dst, &src, (struct gp_emit_word){ 0 }, bytes, DMA_DATA_MAX_BYTES_GFX11);
}

const struct gp_emit_ops gp_emit_gfx11 = {
	.begin = begin,
	.dispatch = dispatch,
	.fill = fill,
	.copy = copy,
	.barrier = gp_gfx10_barrier,
	.signal = gp_gfx10_signal,
	.chain = gp_emit_chain,
	.finish = gp_emit_finish,
};
