/* SPDX-License-Identifier: MIT */
/* emit_gfx10.c: PM4 for RDNA1 and RDNA2 compute rings, and what gfx11 shares with them.
 *
 * Sources: Linux gfx_v10_0.c (fence and acquire values), RADV and PAL (registers a stream must set itself, since
 * kernel compute rings are shared and no register is saved between submissions), LLVM's AMDGPUUsage (user SGPRs,
 * scratch descriptor).
 */
#include <stddef.h>

#include "amdgpu_code_object.h"
#include "emit_gfx10.h"
#include "pm4.h"
#include "pm4_regs.h"
#include "target.h"

static void
acquire(struct gp_emit *e, uint32_t gcr)
{
	gp_emit_dword(e, pm4_header(PM4_OP_ACQUIRE_MEM, PM4_ACQUIRE_MEM_GFX10_DWORDS - 1));
	gp_emit_dword(e, 0);
	/* Full range: partial ranges are walked line by line. */
	gp_emit_dword(e, ACQUIRE_MEM_COHER_SIZE_ALL);
	gp_emit_dword(e, ACQUIRE_MEM_COHER_SIZE_HI_ALL);
	gp_emit_dword(e, 0);
	gp_emit_dword(e, 0);
	gp_emit_dword(e, ACQUIRE_MEM_POLL_INTERVAL);
	gp_emit_dword(e, gcr);
}

void
gp_gfx10_begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	e->scratch = *scratch;
	/* 0xc3b1 after uploads, as the kernel's EMIT_MEM_SYNC and RADV's preamble; 0xc3b0 when only data is new. */
	acquire(e, PM4_SET(GCR_GLI_INV, how == GP_BEGIN_AFTER_UPLOAD) | PM4_SET(GCR_GLM_WB, 1) | PM4_SET(GCR_GLM_INV, 1) |
			   PM4_SET(GCR_GLK_INV, 1) | PM4_SET(GCR_GLV_INV, 1) | PM4_SET(GCR_GL1_INV, 1) |
			   PM4_SET(GCR_GL2_INV, 1) | PM4_SET(GCR_GL2_WB, 1));
	for (uint32_t r = R_COMPUTE_START_X; r <= R_COMPUTE_START_Z; r++)
		gp_emit_reg(e, r, 0);
	gp_emit_reg(e, R_COMPUTE_PIPELINESTAT_ENABLE, 0);
	gp_emit_reg(e, R_COMPUTE_PERFCOUNT_ENABLE, 0);
	gp_emit_reg(e, R_COMPUTE_RESOURCE_LIMITS, 0);
	gp_emit_reg(e, R_COMPUTE_STATIC_THREAD_MGMT_SE0, 0xffffffff);
	gp_emit_reg(e, R_COMPUTE_STATIC_THREAD_MGMT_SE1, 0xffffffff);
	gp_emit_reg(e, R_COMPUTE_STATIC_THREAD_MGMT_SE2, 0xffffffff);
	gp_emit_reg(e, R_COMPUTE_STATIC_THREAD_MGMT_SE3, 0xffffffff);
	for (uint32_t r = R_COMPUTE_RESTART_X; r <= R_COMPUTE_RESTART_Z; r++)
		gp_emit_reg(e, r, 0);
	gp_emit_reg(e, R_COMPUTE_THREAD_TRACE_ENABLE, 0);
	gp_emit_reg(e, R_GFX10_COMPUTE_REQ_CTRL, 0);
	for (uint32_t r = R_GFX10_COMPUTE_USER_ACCUM_0; r <= R_GFX10_COMPUTE_USER_ACCUM_3; r++)
		gp_emit_reg(e, r, 0);
	gp_emit_reg(e, R_GFX10_COMPUTE_DISPATCH_TUNNEL, 0);
}

/* User SGPRs from `reg` on, in the order of the HSA ABI behind the scratch descriptor. The descriptor's count may be
 * larger (padding for the gfx1100 SGPR initialisation bug); padding needs no value. */
void
gp_gfx10_user_data(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg)
{
	if (d->properties & AMDGPU_KCP_DISPATCH_PTR) {
		gp_emit_reg_ref(e, reg, d->dispatch_packet, PLAN_RELOC_LO32, 0);
		gp_emit_reg_ref(e, reg + 1, d->dispatch_packet, PLAN_RELOC_HI32, 0);
		reg += 2;
	}
	if (d->properties & AMDGPU_KCP_QUEUE_PTR) {
		gp_emit_reg_ref(e, reg, d->queue, PLAN_RELOC_LO32, 0);
		gp_emit_reg_ref(e, reg + 1, d->queue, PLAN_RELOC_HI32, 0);
		reg += 2;
	}
	if (d->properties & AMDGPU_KCP_KERNARG_SEGMENT_PTR) {
		gp_emit_reg_ref(e, reg, d->kernarg, PLAN_RELOC_LO32, 0);
		gp_emit_reg_ref(e, reg + 1, d->kernarg, PLAN_RELOC_HI32, 0);
		reg += 2;
	}
	if (d->properties & AMDGPU_KCP_DISPATCH_ID) {
		gp_emit_reg(e, reg, 0);
		gp_emit_reg(e, reg + 1, 0);
		reg += 2;
	}
	if (d->properties & AMDGPU_KCP_FLAT_SCRATCH_INIT) {
		gp_emit_reg_ref(e, reg, e->scratch.base, PLAN_RELOC_LO32, 0);
		gp_emit_reg_ref(e, reg + 1, e->scratch.base, PLAN_RELOC_HI32, 0);
		reg += 2;
	}
	if (d->properties & AMDGPU_KCP_PRIVATE_SEGMENT_SIZE)
		gp_emit_reg(e, reg, d->private_bytes);
}

void
gp_gfx10_launch(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	for (uint32_t i = 0; i < 3; i++)
		gp_emit_reg(e, R_COMPUTE_NUM_THREAD_X + i, PM4_SET(NUM_THREAD_FULL, d->block[i]));
	gp_emit_reg_ref(e, R_COMPUTE_PGM_LO, d->code, PLAN_RELOC_LO32_SHR8, 0);
	gp_emit_reg_ref(e, R_COMPUTE_PGM_HI, d->code, PLAN_RELOC_HI8_SHR40, 0);
	gp_emit_reg(e, R_COMPUTE_PGM_RSRC1, d->rsrc1);
	gp_emit_reg(e, R_COMPUTE_PGM_RSRC2, d->rsrc2);
	gp_emit_reg(e, R_GFX10_COMPUTE_PGM_RSRC3, d->rsrc3);
	gp_emit_flush_regs(e);
	gp_emit_launch(e, d, d->properties & AMDGPU_KCP_WAVE32);
}

static struct gp_ref
advance(struct gp_ref ref, uint64_t bytes)
{
	ref.addend += bytes;
	return ref;
}

/* The compute ring's DMA is synchronous: the next packet sees it done. It goes through L2. */
void
gp_gfx10_dma(struct gp_emit *e, struct gp_ref dst, const struct gp_ref *src, struct gp_emit_word value, uint64_t bytes,
	     uint32_t max_bytes)
{
	uint32_t src_sel = src ? 3 : 2;

	for (uint64_t done = 0; done < bytes;) {
		uint64_t left = bytes - done;
		uint32_t n = left < max_bytes ? (uint32_t)left : max_bytes;

		gp_emit_dword(e, pm4_header(PM4_OP_DMA_DATA, PM4_DMA_DATA_DWORDS - 1));
		gp_emit_dword(e, PM4_SET(DMA_DATA_SRC_SEL, src_sel) | PM4_SET(DMA_DATA_DST_SEL, 3) |
					 PM4_SET(DMA_DATA_CP_SYNC, 1));
		if (src) {
			gp_emit_ref(e, advance(*src, done), PLAN_RELOC_LO32, 0);
			gp_emit_ref(e, advance(*src, done), PLAN_RELOC_HI32, 0);
		} else {
			gp_emit_word(e, value);
			gp_emit_dword(e, 0);
		}
		gp_emit_ref(e, advance(dst, done), PLAN_RELOC_LO32, 0);
		gp_emit_ref(e, advance(dst, done), PLAN_RELOC_HI32, 0);
		gp_emit_dword(e, PM4_SET(DMA_DATA_BYTE_COUNT, n));
		done += n;
	}
}

void
gp_gfx10_barrier(struct gp_emit *e, uint32_t ops)
{
	uint32_t gcr = 0;

	if (ops & PLAN_BARRIER_WAIT) {
		gp_emit_dword(e, pm4_header(PM4_OP_EVENT_WRITE, PM4_EVENT_WRITE_DWORDS - 1));
		gp_emit_dword(e, PM4_SET(EVENT_WRITE_EVENT_TYPE, PM4_EVENT_CS_PARTIAL_FLUSH) |
					 PM4_SET(EVENT_WRITE_EVENT_INDEX, 4));
	}
	/* 0x380: stores are in L2 already (L0 and L1 write through), so L2 is left alone. */
	if (ops & PLAN_BARRIER_INVALIDATE)
		gcr |= PM4_SET(GCR_GLK_INV, 1) | PM4_SET(GCR_GLV_INV, 1) | PM4_SET(GCR_GL1_INV, 1);
	if (ops & PLAN_BARRIER_L2_WRITE_BACK)
		gcr |= PM4_SET(GCR_GL2_WB, 1);
	if (ops & PLAN_BARRIER_L2_INVALIDATE)
		gcr |= PM4_SET(GCR_GL2_INV, 1);
	if (gcr)
		acquire(e, gcr);
}

void
gp_gfx10_signal(struct gp_emit *e, struct gp_ref word, uint64_t value)
{
	gp_emit_dword(e, pm4_header(PM4_OP_RELEASE_MEM, PM4_RELEASE_MEM_DWORDS - 1));
	/* 0x06603514, the kernel's own fence on gfx10 and gfx11. */
	gp_emit_dword(e, PM4_SET(RELEASE_MEM_EVENT_TYPE, PM4_EVENT_CACHE_FLUSH_AND_INV_TS) |
				 PM4_SET(RELEASE_MEM_EVENT_INDEX, 5) | PM4_SET(RELEASE_MEM_GLM_WB, 1) |
				 PM4_SET(RELEASE_MEM_GLM_INV, 1) | PM4_SET(RELEASE_MEM_GL2_WB, 1) |
				 PM4_SET(RELEASE_MEM_SEQ, 1) | PM4_SET(RELEASE_MEM_CACHE_POLICY, 3));
	gp_emit_dword(e, PM4_SET(RELEASE_MEM_DATA_SEL, 2));
	gp_emit_ref(e, word, PLAN_RELOC_LO32, 0);
	gp_emit_ref(e, word, PLAN_RELOC_HI32, 0);
	gp_emit_dword(e, (uint32_t)value);
	gp_emit_dword(e, (uint32_t)(value >> 32));
	gp_emit_dword(e, 0);
}

/* Scratch through a swizzled buffer descriptor in the first user SGPRs; kernels add the wave's offset themselves.
 * Word 3 as LLVM and Mesa's ACO build it: format 22, add thread id, index stride 32 or 64, resource level 1, raw. */
#define SCRATCH_SWIZZLE (1u << 31)
#define SCRATCH_WORD3_WAVE32 0x31c16000u
#define SCRATCH_WORD3_WAVE64 0x31e16000u

static void
begin(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	gp_gfx10_begin(e, scratch, how);
	gp_emit_reg(e, R_COMPUTE_TMPRING_SIZE,
		    PM4_SET(TMPRING_WAVES, scratch->bytes_per_wave ? scratch->waves * e->target->shader_engines : 0) |
			    PM4_SET(TMPRING_WAVESIZE_GFX10, scratch->bytes_per_wave / e->target->private_granule));
}

static void
dispatch(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	uint32_t reg = R_COMPUTE_USER_DATA_0;

	if (d->properties & AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER) {
		/* Every kernel asks for the descriptor; without scratch its four SGPRs may hold anything. */
		if (PM4_GET(RSRC2_SCRATCH_EN, d->rsrc2)) {
			gp_emit_reg_ref(e, reg, e->scratch.base, PLAN_RELOC_LO32, 0);
			gp_emit_reg_ref(e, reg + 1, e->scratch.base, PLAN_RELOC_HI32, SCRATCH_SWIZZLE);
			gp_emit_reg(e, reg + 2, 0xffffffff);
			gp_emit_reg(e, reg + 3,
				    d->properties & AMDGPU_KCP_WAVE32 ? SCRATCH_WORD3_WAVE32 : SCRATCH_WORD3_WAVE64);
		}
		reg += 4;
	}
	gp_gfx10_user_data(e, d, reg);
	gp_gfx10_launch(e, d);
}

static void
fill(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value)
{
	gp_gfx10_dma(e, dst, NULL, value, bytes, DMA_DATA_MAX_BYTES_GFX9);
}

static void
copy(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes)
{
	gp_gfx10_dma(e, dst, &src, (struct gp_emit_word){ 0 }, bytes, DMA_DATA_MAX_BYTES_GFX9);
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
