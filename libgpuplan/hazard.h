/* SPDX-License-Identifier: MIT */
/* hazard.h: which commands must wait for which. Pure. */
#ifndef GP_HAZARD_H
#define GP_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

#include "plan_image.h"
#include "range_tree.h"

/* Who touches memory: shaders run beside later commands until a barrier waits for them; what the command processor
 * itself copies, fills or reads is done before it looks at the next packet. */
enum gp_engine { GP_ENGINE_SHADER, GP_ENGINE_DMA };

/* Bytes as a command touches them, where they really lie: allocations that share memory share addresses. */
struct gp_hazard_access {
	struct gp_range range;	/* first: see range_tree.h */
	uint32_t access;	/* enum gpuplan_access */
	enum gp_engine engine;
	uint32_t since;		/* what commands before this one left in these bytes is garbage to the reader */
	uint32_t allocation;	/* for the reason: as in struct plan_image_access */
	uint64_t offset;	/* of range.begin in the allocation */
};

/* What has not been ordered yet. */
struct gp_hazards;

/* All accesses of all commands, those of one command together and in the order of the commands. They are read until
 * destroy. dma_bypasses_l2: the command processor does not see L2 (gfx12). */
struct gp_hazards *gp_hazards_create(const struct gp_hazard_access *accesses, uint32_t n_accesses, uint32_t n_commands,
				     bool dma_bypasses_l2);
void gp_hazards_destroy(struct gp_hazards *hazards);

/* Takes the next command with its next n accesses. Returns whether a barrier must stand in front of it, with *barrier
 * filled (all but the stream place). */
bool gp_hazards_next(struct gp_hazards *hazards, uint32_t n, struct plan_image_barrier *barrier);

#endif
