/* SPDX-License-Identifier: MIT */
/* hazard.h: which commands must wait for which. Pure. */
#ifndef GP_HAZARD_H
#define GP_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

#include "plan_image.h"

/* What has not been ordered yet, per allocation. */
struct gp_hazards;

struct gp_hazards *gp_hazards_create(uint32_t n_allocations, uint32_t n_io);
void gp_hazards_destroy(struct gp_hazards *hazards);

/* The commands' engine: a dispatch runs beside later commands until a barrier waits for it; the command processor's
 * own copies and fills are done before the next packet is looked at. */
enum gp_engine { GP_ENGINE_SHADER, GP_ENGINE_DMA };

/* Takes the next command in order. Returns whether a barrier must stand in front of it, with *barrier filled (all but
 * the stream place), or -ENOMEM. Only accesses to memory that commands may write are worth passing. */
int gp_hazards_next(struct gp_hazards *hazards, uint32_t command, enum gp_engine engine,
		    const struct plan_image_access *accesses, uint32_t n, struct plan_image_barrier *barrier);

#endif
