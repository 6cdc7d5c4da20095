/* SPDX-License-Identifier: MIT */
/* definition.h: what a model consists of, while it is built (session) and after (definition). */
#ifndef GP_DEFINITION_H
#define GP_DEFINITION_H

#include "code_object.h"
#include "context.h"

struct gp_allocation {
	char *name;
	enum gpuplan_use use;
	enum gpuplan_placement placement;
	uint64_t bytes;
	struct gp_buffer *buffer; /* weights; in a session also scratch that a run has used */
};

struct gp_code {
	char *name;
	struct gp_code_object *object;
	struct gp_buffer *buffer; /* the object loaded at buffer->va */
};

/* A kernel handle's target: gpuplan_kernel.index counts these. */
struct gp_kernel_ref {
	uint32_t code;
	uint32_t kernel;	/* index in the code object */
};

/* The declarations commands are checked against; what plan_compile reads. */
struct gp_declarations {
	uint64_t session;	/* id in regions and kernels */
	const struct gp_target *target;
	uint32_t n_allocations, n_codes, n_kernels;
	struct gp_allocation *allocations;
	struct gp_code *codes;
	struct gp_kernel_ref *kernels;
};

/* Frees names, code objects, buffers and the arrays; the GPU must be done with the buffers. */
void gp_declarations_finish(struct gp_declarations *declarations);

/* Shared by the definition handle and all its plans. */
struct gp_model {
	int refs;		/* atomic */
	struct gpuplan_context *context;
	struct gp_declarations declarations;
	uint64_t weight_bytes;	/* page-rounded bytes of weight buffers */
};

struct gpuplan_definition {
	struct gp_model *model;
};

struct gp_model *gp_model_ref(struct gp_model *model);
void gp_model_unref(struct gp_model *model); /* the last one frees weights and code */

#endif
