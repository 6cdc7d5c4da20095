/* SPDX-License-Identifier: MIT */
/* emit_packets.c: packets and registers that every generation writes alike.
 *
 * Sources: Linux gfx_v9_0.c to gfx_v12_0.c, RADV and PAL (registers a stream must set itself, since kernel compute
 * rings are shared and no register is saved between submissions), LLVM's AMDGPUUsage (user SGPRs, scratch).
 */
#include <assert.h>
#include <stddef.h>

#include "amdgpu_code_object.h"
#include "emit.h"
#include "pm4_regs.h"
#include "target.h"

void
gp_emit_ring_defaults(struct gp_emit *e)
{
	gp_emit_reg_range(e, R_COMPUTE_START_X, R_COMPUTE_START_Z, 0);
	gp_emit_reg_range(e, R_COMPUTE_PIPELINESTAT_ENABLE, R_COMPUTE_PERFCOUNT_ENABLE, 0);
	gp_emit_reg(e, R_COMPUTE_RESOURCE_LIMITS, 0);
	gp_emit_reg_range(e, R_COMPUTE_STATIC_THREAD_MGMT_SE0, R_COMPUTE_STATIC_THREAD_MGMT_SE1, 0xffffffff);
	gp_emit_reg_range(e, R_COMPUTE_STATIC_THREAD_MGMT_SE2, R_COMPUTE_STATIC_THREAD_MGMT_SE3, 0xffffffff);
	gp_emit_reg_range(e, R_COMPUTE_RESTART_X, R_COMPUTE_RESTART_Z, 0);
	gp_emit_reg(e, R_COMPUTE_THREAD_TRACE_ENABLE, 0);
}

/* WAVESIZE has the same first bit everywhere and is widest on gfx12. */
void
gp_emit_tmpring(struct gp_emit *e, uint32_t waves)
{
	uint32_t bytes = e->scratch.bytes_per_wave;

	gp_emit_reg(e, R_COMPUTE_TMPRING_SIZE,
		    PM4_SET(TMPRING_WAVES, bytes ? waves : 0) |
			    PM4_SET(TMPRING_WAVESIZE_GFX12, bytes / e->target->private_granule));
}

void
gp_emit_architected_scratch(struct gp_emit *e)
{
	if (!e->scratch.bytes_per_wave)
		return;
	gp_emit_reg_ref(e, R_COMPUTE_DISPATCH_SCRATCH_BASE_LO, e->scratch.base, PLAN_RELOC_LO32_SHR8, 0);
	gp_emit_reg_ref(e, R_COMPUTE_DISPATCH_SCRATCH_BASE_HI, e->scratch.base, PLAN_RELOC_HI8_SHR40, 0);
}

#define SCRATCH_SWIZZLE (1u << 31)

/* Every kernel asks for the descriptor; without scratch its four SGPRs may hold anything. Kernels add the wave's
 * offset themselves. */
uint32_t
gp_emit_scratch_descriptor(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t word3)
{
	uint32_t reg = R_COMPUTE_USER_DATA_0;

	if (!(d->properties & AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER))
		return reg;
	if (PM4_GET(RSRC2_SCRATCH_EN, d->rsrc2)) {
		gp_emit_reg_ref(e, reg, e->scratch.base, PLAN_RELOC_LO32, 0);
		gp_emit_reg_ref(e, reg + 1, e->scratch.base, PLAN_RELOC_HI32, SCRATCH_SWIZZLE);
		gp_emit_reg(e, reg + 2, 0xffffffff);
		gp_emit_reg(e, reg + 3, word3);
	}
	return reg + 4;
}

static uint32_t
address_pair(struct gp_emit *e, uint32_t reg, struct gp_ref ref)
{
	gp_emit_reg_ref(e, reg, ref, PLAN_RELOC_LO32, 0);
	gp_emit_reg_ref(e, reg + 1, ref, PLAN_RELOC_HI32, 0);
	return reg + 2;
}

/* In the order of the HSA ABI. The descriptor's count may be larger (padding for the gfx1100 SGPR initialisation bug);
 * padding needs no value. */
void
gp_emit_user_data(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg)
{
	if (d->properties & AMDGPU_KCP_DISPATCH_PTR)
		reg = address_pair(e, reg, d->dispatch_packet);
	if (d->properties & AMDGPU_KCP_QUEUE_PTR)
		reg = address_pair(e, reg, d->queue);
	if (d->properties & AMDGPU_KCP_KERNARG_SEGMENT_PTR)
		reg = address_pair(e, reg, d->kernarg);
	if (d->properties & AMDGPU_KCP_DISPATCH_ID)
		reg = address_pair(e, reg, gp_ref_absolute(0));
	if (d->properties & AMDGPU_KCP_FLAT_SCRATCH_INIT)
		reg = address_pair(e, reg, e->scratch.base);
	if (d->properties & AMDGPU_KCP_PRIVATE_SEGMENT_SIZE)
		gp_emit_reg(e, reg, d->private_bytes);
}

void
gp_emit_program(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	for (uint32_t i = 0; i < 3; i++)
		gp_emit_reg(e, R_COMPUTE_NUM_THREAD_X + i, PM4_SET(NUM_THREAD_FULL, d->block[i]));
	gp_emit_reg_ref(e, R_COMPUTE_PGM_LO, d->code, PLAN_RELOC_LO32_SHR8, 0);
	gp_emit_reg_ref(e, R_COMPUTE_PGM_HI, d->code, PLAN_RELOC_HI8_SHR40, 0);
	gp_emit_reg(e, R_COMPUTE_PGM_RSRC1, d->rsrc1);
	gp_emit_reg(e, R_COMPUTE_PGM_RSRC2, d->rsrc2);
}

/* FORCE_START_AT_000 only where the group counts stand in the packet: drivers leave it off for indirect dispatches and
 * rely on COMPUTE_START_* = 0, which begin sets. */
void
gp_emit_launch(struct gp_emit *e, const struct gp_emit_dispatch *d, bool wave32)
{
	uint32_t initiator = PM4_SET(DISPATCH_INITIATOR_COMPUTE_SHADER_EN, 1) |
			     PM4_SET(DISPATCH_INITIATOR_FORCE_START_AT_000, !d->has_indirect) |
			     PM4_SET(DISPATCH_INITIATOR_ORDER_MODE, 1) | PM4_SET(DISPATCH_INITIATOR_CS_W32_EN, wave32);

	gp_emit_flush_regs(e);
	if (d->has_indirect) {
		gp_emit_dword(e, pm4_header(PM4_OP_DISPATCH_INDIRECT, PM4_DISPATCH_INDIRECT_DWORDS - 1) |
					 PM4_SET(PM4_HEADER_SHADER_TYPE, 1));
		gp_emit_ref(e, d->indirect, PLAN_RELOC_LO32, 0);
		gp_emit_ref(e, d->indirect, PLAN_RELOC_HI32, 0);
	} else {
		gp_emit_dword(e, pm4_header(PM4_OP_DISPATCH_DIRECT, PM4_DISPATCH_DIRECT_DWORDS - 1) |
					 PM4_SET(PM4_HEADER_SHADER_TYPE, 1));
		for (uint32_t i = 0; i < 3; i++)
			gp_emit_word(e, d->groups[i]);
	}
	gp_emit_dword(e, initiator);
}

void
gp_emit_uconfig(struct gp_emit *e, uint32_t reg, uint32_t value)
{
	gp_emit_dword(e, pm4_header(PM4_OP_SET_UCONFIG_REG, 2));
	gp_emit_dword(e, PM4_SET(PM4_SET_REG_OFFSET, reg));
	gp_emit_dword(e, value);
}

void
gp_emit_wait(struct gp_emit *e)
{
	gp_emit_dword(e, pm4_header(PM4_OP_EVENT_WRITE, PM4_EVENT_WRITE_DWORDS - 1));
	gp_emit_dword(e, PM4_SET(EVENT_WRITE_EVENT_TYPE, PM4_EVENT_CS_PARTIAL_FLUSH) |
				 PM4_SET(EVENT_WRITE_EVENT_INDEX, 4));
}

/* Full range: partial ranges are walked line by line. */
void
gp_emit_acquire_all(struct gp_emit *e)
{
	gp_emit_dword(e, ACQUIRE_MEM_COHER_SIZE_ALL);
	gp_emit_dword(e, ACQUIRE_MEM_COHER_SIZE_HI_ALL);
	gp_emit_dword(e, 0);
	gp_emit_dword(e, 0);
	gp_emit_dword(e, ACQUIRE_MEM_POLL_INTERVAL);
}

static struct gp_ref
advance(struct gp_ref ref, uint64_t bytes)
{
	ref.addend += bytes;
	return ref;
}

/* The compute ring's DMA is synchronous: the next packet sees it done. It goes through L2 (gfx12: through what lies
 * behind it). */
void
gp_emit_dma(struct gp_emit *e, struct gp_ref dst, const struct gp_ref *src, struct gp_emit_word value,
	    uint64_t bytes, uint32_t max_bytes)
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
gp_emit_release(struct gp_emit *e, uint32_t op, struct gp_ref word, uint64_t value)
{
	gp_emit_dword(e, pm4_header(PM4_OP_RELEASE_MEM, PM4_RELEASE_MEM_DWORDS - 1));
	gp_emit_dword(e, op | PM4_SET(RELEASE_MEM_EVENT_TYPE, PM4_EVENT_CACHE_FLUSH_AND_INV_TS_EVENT) |
				 PM4_SET(RELEASE_MEM_EVENT_INDEX, 5));
	gp_emit_dword(e, PM4_SET(RELEASE_MEM_DATA_SEL, 2));
	gp_emit_ref(e, word, PLAN_RELOC_LO32, 0);
	gp_emit_ref(e, word, PLAN_RELOC_HI32, 0);
	gp_emit_dword(e, (uint32_t)value);
	gp_emit_dword(e, (uint32_t)(value >> 32));
	gp_emit_dword(e, 0);
}

static void
pad(struct gp_emit *e, uint32_t rest)
{
	while ((e->n + rest) % GP_IB_GRANULE)
		gp_emit_dword(e, PM4_NOP_ONE_DWORD);
}

void
gp_emit_chain(struct gp_emit *e, struct gp_ref next, uint32_t dwords)
{
	assert(dwords <= PM4_IB_MAX_DWORDS);
	pad(e, PM4_INDIRECT_BUFFER_DWORDS);
	gp_emit_dword(e, pm4_header(PM4_OP_INDIRECT_BUFFER, PM4_INDIRECT_BUFFER_DWORDS - 1));
	gp_emit_ref(e, next, PLAN_RELOC_LO32, 0);
	gp_emit_ref(e, next, PLAN_RELOC_HI32, 0);
	gp_emit_dword(e, PM4_SET(INDIRECT_BUFFER_SIZE, dwords) | PM4_SET(INDIRECT_BUFFER_CHAIN, 1) |
				 PM4_SET(INDIRECT_BUFFER_VALID, 1));
}

void
gp_emit_finish(struct gp_emit *e)
{
	pad(e, 0);
}
