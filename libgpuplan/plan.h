/* SPDX-License-Identifier: MIT */
/* plan.h: an image bound to memory, and the slots that run it. */
#ifndef GP_PLAN_H
#define GP_PLAN_H

#include <stdatomic.h>

#include "completion.h"
#include "definition.h"
#include "plan_image.h"

struct gp_image; /* image.h */

struct gpuplan_slot {
	struct gpuplan_plan *plan;
	uint32_t index;
	_Atomic bool taken;	/* acquire and release */

	/* memory: constant after plan creation */
	struct gp_buffer *device; /* scratch, state, private segment; NULL when none is needed */
	struct gp_buffer *host;	/* mapped: host regions, staging, kernarg, streams, completion word */
	bool has_state;		/* there is a reset stream */
	bool parameters_set;	/* since acquired: memory may differ from the initial values */

	struct gp_run run;	/* completion.h */
};

struct gpuplan_plan {
	_Atomic int refs;	/* the handle and every acquired slot */
	struct gp_model *model; /* NULL for a session's own runs */
	struct gpuplan_context *context;
	struct gp_image *image;
	uint32_t capacity;
	struct gpuplan_slot *slots;
	uint32_t n_inputs, n_outputs;
};

/* parameter.c: initial values again, before a slot's next owner. */
void gp_slot_parameters_reset(struct gpuplan_slot *slot);

/* How a plan's allocations find memory, and what is allowed: a definition's plan or a session's one-off run. */
struct gp_plan_binding {
	struct gpuplan_context *context;
	struct gp_model *model;	/* referenced by the plan; NULL: session run */
	const struct gp_declarations *declarations;
	bool session_run;	/* weights may be written; scratch and state live in the session's own buffers
				 * (gp_allocation.buffer, all present) */
	enum gp_purpose purpose; /* of slot memory: GP_FOR_SLOTS or GP_FOR_SESSION */
};

int gp_plan_create(const struct gp_plan_binding *binding, const struct gpuplan_plan_params *params,
		   struct gpuplan_plan **plan, struct gpuplan_error *error);
void gp_plan_unref(struct gpuplan_plan *plan); /* the last one waits until no slot runs and frees everything */

#endif
