/* SPDX-License-Identifier: MIT */
/* fragment.h: a validated command list with named ends, for recording.c. */
#ifndef GP_FRAGMENT_H
#define GP_FRAGMENT_H

#include "commands.h"
#include "definition.h"

/* An input or output. Command regions that lie in it move with it when it is bound. */
struct gp_port {
	char *name;		/* "" when it has none */
	bool output;
	struct gpuplan_region region;
	/* A command that reaches over the region's edge, with the bytes: then the port cannot be bound. */
	bool torn;
	uint32_t torn_by;
	struct gpuplan_region torn_region;
};

struct gpuplan_fragment {
	struct gp_model *model;
	char *name;
	struct gp_commands commands;
	uint32_t n_inputs, n_outputs;
	struct gp_port *ports;	/* inputs, then outputs */
	uint32_t n_parameters;
	struct gpuplan_parameter *parameters; /* names are ours */
};

static inline bool
gp_regions_overlap(const struct gpuplan_region *a, const struct gpuplan_region *b)
{
	return a->allocation == b->allocation && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static inline bool
gp_region_inside(const struct gpuplan_region *inner, const struct gpuplan_region *outer)
{
	return inner->allocation == outer->allocation && inner->offset >= outer->offset &&
	       inner->offset + inner->bytes <= outer->offset + outer->bytes;
}

/* All checks of gpuplan_plan_create on a command list of the model, without making a plan of it. */
int gp_fragment_check(struct gp_model *model, const struct gpuplan_plan_params *params, struct gpuplan_error *error);

#endif
