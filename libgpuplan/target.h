/* SPDX-License-Identifier: MIT */
/* target.h: what differs between GPU generations, one table entry per processor. */
#ifndef GP_TARGET_H
#define GP_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct gp_emit_ops;

struct gp_target {
	const char *name;	/* "gfx1100" */
	uint32_t max_groups[3];
	uint32_t max_block;	/* work-items per workgroup */
	uint32_t max_lds;	/* bytes per workgroup */
	uint32_t shader_engines; /* for the private-segment ring: WAVES counts per engine from gfx11 on */
	uint32_t private_waves;	/* waves per engine the private-segment ring holds */
	uint32_t private_granule; /* bytes */
	bool dma_bypasses_l2;	/* command processor and its DMA read and write memory, not L2 */
	const struct gp_emit_ops *emit;
};

/* NULL: unknown to this library. */
const struct gp_target *gp_target_find(const char *name);
/* By what the kernel says: GC IP discovery version (major << 16 | minor << 8 | revision), or family and external
 * revision where the kernel is older than DRM 3.48 (discovery 0). NULL: unknown; then name gets a text for messages. */
const struct gp_target *gp_target_detect(uint32_t discovery, uint32_t family, uint32_t external_rev, char name[32]);
/* Writes "gfx900, gfx906, ..." into text. */
void gp_target_list(char *text, uint32_t bytes);

#endif
