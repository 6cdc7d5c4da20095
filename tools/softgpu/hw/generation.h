/* SPDX-License-Identifier: MIT */
/* generation.h: what differs between generations of the graphics core, as far as the packet processors see it: one
 * table each (generation.c). What a chip has of it, and its name, stands in profile.c. */
#ifndef SOFTGPU_GENERATION_H
#define SOFTGPU_GENERATION_H

#include "hw.h"

struct sg_reg_span { uint16_t first, last; };
struct sg_reg_name { uint16_t offset; const char *name; };

/* Which bits of a dword ask the caches for what. */
struct sg_cache_bits {
	uint32_t vector; /* all of them: what a wave reads by vector loads comes from L2 then */
	uint32_t scalar, code, write_back, invalidate, discard; /* any of them */
};

/* COMPUTE_TMPRING_SIZE */
struct sg_tmpring {
	uint32_t wave_bits;	/* of WAVESIZE, from bit 12 */
	uint32_t wave_unit;	/* bytes */
	bool waves_per_se;	/* WAVES counts one shader engine's */
	bool base_register;	/* scratch is where COMPUTE_DISPATCH_SCRATCH_BASE says, not where a descriptor does */
};

struct sg_generation {
	enum sg_gen gen;
	/* ACQUIRE_MEM: dwords of the body, which of them holds the bits; RELEASE_MEM: its first has them. */
	uint32_t acquire_body, acquire_dword;
	struct sg_cache_bits acquire, release;
	bool pws;		/* ACQUIRE_MEM of the gfx ring can wait for a RELEASE_MEM */
	bool wave32;		/* the initiator's CS_W32_EN exists */
	bool pixel_pipe_stat;	/* occlusion counts come by PIXEL_PIPE_STAT_DUMP too */
	uint32_t statistics;	/* 64-bit words that SAMPLE_PIPELINESTAT writes */
	uint32_t misc_reserved;	/* COMPUTE_MISC_RESERVED of the kernel's MQD */
	uint32_t rsrc3;		/* SH offset of COMPUTE_PGM_RSRC3 */
	struct sg_tmpring tmpring;
	/* SH offsets; lists end with zeros. */
	const uint16_t *cu_masks;	      /* COMPUTE_STATIC_THREAD_MGMT_SEn in order of n */
	const struct sg_reg_span *required;   /* what a stream has to set for each IB, beside what all have to */
	const struct sg_reg_name *names;      /* registers not in COMPUTE_REGS_COMMON */
};

/* The table of a chip's generation, never NULL for a profile of ours. */
const struct sg_generation *sg_generation_of(const struct sg_profile *profile);
/* Of a COMPUTE_* register, by its SH offset; NULL if it has none. */
const char *sg_generation_reg_name(const struct sg_generation *generation, uint32_t offset);

#endif
