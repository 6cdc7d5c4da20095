/* SPDX-License-Identifier: MIT */
/* emit_gfx9.c: PM4 for Vega (gfx900, gfx906), CDNA2 (gfx90a) and CDNA3 (gfx942) compute rings. All waves are of 64.
 * Sources: as emit_packets.c; Linux gfx_v9_0.c and gfx_v9_4_3.c (fence and acquire values).
 *
 * gfx90a, gfx942: memory is allocated coarse grained, so within a device L2 is coherent as on gfx900.
 * gfx942: an IB runs on one XCC, the one whose ring the kernel chose; the next may run on another, with other caches.
 * begin and signal leave nothing behind in L2, and begin always drops the instruction cache.
 */
#include <stddef.h>

#include "emit_gfx9.h"
#include "pm4_regs.h"
#include "target.h"

static void
acquire(struct gp_emit *e, uint32_t coher)
{
	gp_emit_dword(e, pm4_header(PM4_OP_ACQUIRE_MEM, PM4_ACQUIRE_MEM_GFX9_DWORDS - 1));
	gp_emit_dword(e, coher);
	gp_emit_acquire_all(e);
}

/* 0x28c40000, as the kernel's EMIT_MEM_SYNC and RADV's preamble; 0x08c40000 when only data is new. */
static void
begin_caches(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	e->scratch = *scratch;
	gp_emit_uconfig(e, R_CP_COHER_START_DELAY, CP_COHER_START_DELAY_GFX9);
	acquire(e, PM4_SET(COHER_SH_ICACHE_ACTION, how == GP_BEGIN_AFTER_UPLOAD) |
			   PM4_SET(COHER_SH_KCACHE_ACTION, 1) | PM4_SET(COHER_TC_ACTION, 1) |
			   PM4_SET(COHER_TCL1_ACTION, 1) | PM4_SET(COHER_TC_WB_ACTION, 1));
	gp_emit_ring_defaults(e);
	gp_emit_tmpring(e, scratch->waves * e->target->shader_engines);
}

static void
begin_gfx90a(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	begin_caches(e, scratch, how);
	gp_emit_reg_range(e, R_GFX90A_COMPUTE_STATIC_THREAD_MGMT_SE4, R_GFX90A_COMPUTE_STATIC_THREAD_MGMT_SE7,
			  0xffffffff);
}

static void
begin_gfx942(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how)
{
	(void)how;
	begin_caches(e, scratch, GP_BEGIN_AFTER_UPLOAD);
	gp_emit_reg(e, R_GFX942_COMPUTE_TG_CHUNK_SIZE, 0);
	gp_emit_architected_scratch(e);
}

/* Word 3 as LLVM and Mesa's ACO build it: add thread id, index stride 64. */
#define SCRATCH_WORD3 0x00e00000u

static void
dispatch_gfx9(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_emit_user_data(e, d, gp_emit_scratch_descriptor(e, d, SCRATCH_WORD3));
	gp_emit_program(e, d);
	gp_emit_launch(e, d, false);
}

static void
dispatch_gfx90a(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_emit_reg(e, R_GFX90A_COMPUTE_PGM_RSRC3, d->rsrc3);
	dispatch_gfx9(e, d);
}

static void
dispatch_gfx942(struct gp_emit *e, const struct gp_emit_dispatch *d)
{
	gp_emit_user_data(e, d, R_COMPUTE_USER_DATA_0);
	gp_emit_program(e, d);
	gp_emit_reg(e, R_GFX942_COMPUTE_PGM_RSRC3, d->rsrc3);
	gp_emit_launch(e, d, false);
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

static void
barrier(struct gp_emit *e, uint32_t ops)
{
	uint32_t coher = 0;

	if (ops & PLAN_BARRIER_WAIT)
		gp_emit_wait(e);
	/* 0x08400000: L1 writes through, so L2 is left alone. A kernel with scalar stores ends by writing them back
	 * itself. */
	if (ops & PLAN_BARRIER_INVALIDATE)
		coher |= PM4_SET(COHER_SH_KCACHE_ACTION, 1) | PM4_SET(COHER_TCL1_ACTION, 1);
	if (ops & PLAN_BARRIER_L2_INVALIDATE)
		coher |= PM4_SET(COHER_TC_ACTION, 1) | PM4_SET(COHER_TC_WB_ACTION, 1);
	else if (ops & PLAN_BARRIER_L2_WRITE_BACK)
		coher |= PM4_SET(COHER_TC_WB_ACTION, 1) | PM4_SET(COHER_TC_NC_ACTION, 1);
	if (coher)
		acquire(e, coher);
}

/* 0x00238514, the kernel's own fence. */
static void
signal(struct gp_emit *e, struct gp_ref word, uint64_t value)
{
	gp_emit_release(e,
			PM4_SET(RELEASE_MEM_TC_WB_ACTION, 1) | PM4_SET(RELEASE_MEM_TCL1_ACTION, 1) |
				PM4_SET(RELEASE_MEM_TC_ACTION, 1) | PM4_SET(RELEASE_MEM_TC_MD_ACTION, 1),
			word, value);
}

#define SHARED .fill = fill, .copy = copy, .barrier = barrier, .signal = signal, .chain = gp_emit_chain, .finish = gp_emit_finish

const struct gp_emit_ops gp_emit_gfx9 = { .begin = begin_caches, .dispatch = dispatch_gfx9, SHARED };
const struct gp_emit_ops gp_emit_gfx90a = { .begin = begin_gfx90a, .dispatch = dispatch_gfx90a, SHARED };
const struct gp_emit_ops gp_emit_gfx942 = { .begin = begin_gfx942, .dispatch = dispatch_gfx942, SHARED };
