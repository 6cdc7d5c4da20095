/* SPDX-License-Identifier: MIT */
/* generation.c: one table per generation of the graphics core.
 *
 * Sources: AMD's packet headers in PAL (ACQUIRE_MEM, RELEASE_MEM), Linux's gc_*_offset.h and gfx_v*.c (registers, MQD),
 * Mesa and PAL for what a preamble sets.
 */
#include "generation.h"

#include "pm4.h"
#include "pm4_regs.h"

#define ALL_(hi, lo) (PM4_MASK_(hi, lo) << (lo))
#define ALL(field) PM4_APPLY_(ALL_, field) /* the bits of a field */
#define END_OF_NAMES { 0, NULL }
#define END_OF_SPANS { 0, 0 }
#define REG_NAME(number, name) { number, #name },

static const struct sg_reg_name names_common[] = { COMPUTE_REGS_COMMON(REG_NAME) END_OF_NAMES };

#define GCR(vector_bits)                                                                                              \
	{ .vector = (vector_bits), .scalar = ALL(GCR_GLK_INV), .code = ALL(GCR_GLI_INV),                              \
	  .write_back = ALL(GCR_GL2_WB), .invalidate = ALL(GCR_GL2_INV), .discard = ALL(GCR_GL2_DISCARD) }
#define RELEASE(vector_bits, scalar_bits)                                                                             \
	{ .vector = (vector_bits), .scalar = (scalar_bits), .write_back = ALL(RELEASE_MEM_GL2_WB),                    \
	  .invalidate = ALL(RELEASE_MEM_GL2_INV), .discard = ALL(RELEASE_MEM_GL2_DISCARD) }

/* ---- gfx10.3 ---- */

static const uint16_t masks_gfx10[] = {
	R_COMPUTE_STATIC_THREAD_MGMT_SE0, R_COMPUTE_STATIC_THREAD_MGMT_SE1, R_COMPUTE_STATIC_THREAD_MGMT_SE2,
	R_COMPUTE_STATIC_THREAD_MGMT_SE3, 0,
};

static const struct sg_reg_span required_gfx10[] = {
	{ R_GFX10_COMPUTE_REQ_CTRL, R_GFX10_COMPUTE_REQ_CTRL },
	{ R_GFX10_COMPUTE_USER_ACCUM_0, R_GFX10_COMPUTE_PGM_RSRC3 },
	{ R_GFX10_COMPUTE_DISPATCH_TUNNEL, R_GFX10_COMPUTE_DISPATCH_TUNNEL },
	END_OF_SPANS,
};

static const struct sg_reg_name names_gfx10[] = { COMPUTE_REGS_GFX10(REG_NAME) END_OF_NAMES };

static const struct sg_generation gfx103 = {
	.gen = SG_GEN_103,
	.acquire_body = 7, .acquire_dword = 6,
	.acquire = GCR(ALL(GCR_GLV_INV) | ALL(GCR_GL1_INV)),
	.release = RELEASE(ALL(RELEASE_MEM_GLV_INV) | ALL(RELEASE_MEM_GL1_INV), 0),
	.wave32 = true,
	.statistics = 11, .misc_reserved = 3, .rsrc3 = R_GFX10_COMPUTE_PGM_RSRC3,
	.tmpring = { .wave_bits = 13, .wave_unit = 1024 },
	.cu_masks = masks_gfx10, .required = required_gfx10, .names = names_gfx10,
};

/* ---- gfx11 ---- */

static const uint16_t masks_gfx11[] = {
	R_COMPUTE_STATIC_THREAD_MGMT_SE0, R_COMPUTE_STATIC_THREAD_MGMT_SE1, R_COMPUTE_STATIC_THREAD_MGMT_SE2,
	R_COMPUTE_STATIC_THREAD_MGMT_SE3, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE4,
	R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE5, R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE6,
	R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE7, 0,
};

static const struct sg_reg_span required_gfx11[] = {
	{ R_GFX11_COMPUTE_REQ_CTRL, R_GFX11_COMPUTE_REQ_CTRL },
	{ R_GFX11_COMPUTE_USER_ACCUM_0, R_GFX11_COMPUTE_PGM_RSRC3 },
	{ R_GFX11_COMPUTE_STATIC_THREAD_MGMT_SE4, R_GFX11_COMPUTE_DISPATCH_INTERLEAVE },
	{ R_GFX11_COMPUTE_DISPATCH_TUNNEL, R_GFX11_COMPUTE_DISPATCH_TUNNEL },
	END_OF_SPANS,
};

static const struct sg_reg_name names_gfx11[] = { COMPUTE_REGS_GFX11(REG_NAME) END_OF_NAMES };

static const struct sg_generation gfx11 = {
	.gen = SG_GEN_11,
	.acquire_body = 7, .acquire_dword = 6,
	.acquire = GCR(ALL(GCR_GLV_INV) | ALL(GCR_GL1_INV)),
	.release = RELEASE(ALL(RELEASE_MEM_GLV_INV) | ALL(RELEASE_MEM_GL1_INV), ALL(RELEASE_MEM_GLK_INV)),
	.pws = true, .wave32 = true, .pixel_pipe_stat = true,
	.statistics = 14, .misc_reserved = 7, .rsrc3 = R_GFX11_COMPUTE_PGM_RSRC3,
	.tmpring = { .wave_bits = 15, .wave_unit = 256, .waves_per_se = true, .base_register = true },
	.cu_masks = masks_gfx11, .required = required_gfx11, .names = names_gfx11,
};

/* ---- gfx12: no L1 of a shader array ---- */

static const uint16_t masks_gfx12[] = {
	R_COMPUTE_STATIC_THREAD_MGMT_SE0, R_COMPUTE_STATIC_THREAD_MGMT_SE1, R_COMPUTE_STATIC_THREAD_MGMT_SE2,
	R_COMPUTE_STATIC_THREAD_MGMT_SE3, R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE4,
	R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE5, R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE6,
	R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE7, R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE8, 0,
};

static const struct sg_reg_span required_gfx12[] = {
	{ R_COMPUTE_DISPATCH_PKT_ADDR_LO, R_COMPUTE_DISPATCH_PKT_ADDR_HI },
	{ R_GFX12_COMPUTE_REQ_CTRL, R_GFX12_COMPUTE_PGM_RSRC3 },
	{ R_GFX12_COMPUTE_STATIC_THREAD_MGMT_SE4, R_GFX12_COMPUTE_DISPATCH_INTERLEAVE },
	{ R_GFX12_COMPUTE_DISPATCH_TUNNEL, R_GFX12_COMPUTE_DISPATCH_TUNNEL },
	END_OF_SPANS,
};

static const struct sg_reg_name names_gfx12[] = { COMPUTE_REGS_GFX12(REG_NAME) END_OF_NAMES };

static const struct sg_generation gfx12 = {
	.gen = SG_GEN_12,
	.acquire_body = 7, .acquire_dword = 6,
	.acquire = GCR(ALL(GCR_GLV_INV)),
	.release = RELEASE(ALL(RELEASE_MEM_GLV_INV), ALL(RELEASE_MEM_GLK_INV)),
	.pws = true, .wave32 = true, .pixel_pipe_stat = true,
	.statistics = 14, .misc_reserved = 7, .rsrc3 = R_GFX12_COMPUTE_PGM_RSRC3,
	.tmpring = { .wave_bits = 18, .wave_unit = 256, .waves_per_se = true, .base_register = true },
	.cu_masks = masks_gfx12, .required = required_gfx12, .names = names_gfx12,
};

static const struct sg_generation *const generations[] = { &gfx103, &gfx11, &gfx12 };

const struct sg_generation *
sg_generation_of(const struct sg_profile *profile)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
		if (generations[i]->gen == profile->gen)
			return generations[i];
	return NULL;
}

const char *
sg_generation_reg_name(const struct sg_generation *generation, uint32_t offset)
{
	for (const struct sg_reg_name *n = names_common; n->name; n++)
		if (n->offset == offset)
			return n->name;
	for (const struct sg_reg_name *n = generation->names; n->name; n++)
		if (n->offset == offset)
			return n->name;
	return NULL;
}
