/* SPDX-License-Identifier: MIT */
/* compile.h: the plan compiler's own pieces, in the order they run.
 *
 *   plan_params   named parameters -> records; at the end, their patches in order
 *   plan_check    commands and I/O against the declarations -> records
 *   kernarg       one dispatch's argument block -> template, relocations, patches
 *   plan_order    another order of the commands that needs fewer barriers, if wanted
 *   plan_layout   referenced extents -> places in a slot's memory (plan_scratch.c: shared ones, if wanted)
 *   plan_barriers accesses and places -> barriers (hazard.c, range_tree.c)
 *   plan_stream   records -> PM4
 *   image         records -> one block of bytes
 */
#ifndef GP_COMPILE_H
#define GP_COMPILE_H

#include "array.h"
#include "definition.h"
#include "emit.h"
#include "hazard.h"
#include "image.h"
#include "plan_image.h"

#define GP_PLACEMENTS 2 /* enum gpuplan_placement */

/* Records while a plan is compiled; each array becomes a section of the image. */
struct gp_compile {
	const struct gp_declarations *d;
	const struct gpuplan_plan_params *params;
	const struct gp_compile_options *options;
	bool session_run;
	struct gpuplan_error *error;

	struct gp_array strings;     /* char */
	struct gp_array allocations; /* struct plan_image_allocation, one per declaration */
	struct gp_array kernels;     /* struct plan_image_kernel, those used */
	struct gp_array kernel_refs; /* uint32_t: declaration index of each of kernels */
	struct gp_array args;	     /* struct plan_image_arg */
	struct gp_array commands;    /* struct plan_image_command */
	struct gp_array accesses;    /* struct plan_image_access */
	struct gp_array barriers;    /* struct plan_image_barrier */
	struct gp_array io;	     /* struct plan_image_io */
	struct gp_array kernarg;     /* uint8_t */
	struct gp_array relocations; /* struct plan_image_relocation */
	struct gp_array parameters;  /* struct plan_image_parameter */
	struct gp_array patches;     /* struct plan_image_patch; by parameter from gp_params_sort on */
	struct gp_array kernarg_refs; /* struct gp_kernarg_ref: kernarg places whose address the layout will know */
	struct gp_array stream, reset; /* uint32_t */
	struct gp_array segments;    /* struct plan_image_segment */
	bool segments_failed;	     /* no memory for one */
	struct plan_image_header header;
	uint64_t pool_bytes[GP_PLACEMENTS]; /* shared scratch, by placement */
	uint32_t n_barriers_unshared; /* with REUSE_SCRATCH: barriers needed without it */
	uint32_t private_per_wave;   /* bytes, largest of all dispatches, rounded to the granule */
	uint32_t aux;		     /* kernarg offset of the queue block, UINT32_MAX: nobody asked */
};

/* 8 bytes in the kernarg block that hold an address: of a region, or of the kernarg block itself. */
struct gp_kernarg_ref {
	uint32_t place;		/* byte offset */
	uint32_t allocation;	/* or GP_KERNARG_SELF, GP_KERNARG_CODE | code number */
	uint64_t offset;
};
#define GP_KERNARG_SELF 0xffffffffu
#define GP_KERNARG_CODE 0x80000000u

/* Adds a string, returns its offset in *out. */
int gp_compile_string(struct gp_compile *c, const char *text, uint32_t *out);

int gp_plan_check(struct gp_compile *c);
/* plan_params.c: the plan's parameters as records, before all else; ... */
int gp_params_check(struct gp_compile *c);
/* ... parameter i for `what`, which names it; ... */
int gp_param_find(struct gp_compile *c, uint32_t i, const char *what, const struct plan_image_parameter **p);
const char *gp_param_name(const struct gp_compile *c, uint32_t i);
/* ... and, when all patches are there, sorted by parameter. Refuses parameters that nothing uses. */
int gp_params_finish(struct gp_compile *c);
/* The kernarg block of a dispatch, bindings and arguments checked against the kernel's metadata. command has its grid
 * and workgroup already. */
int gp_kernarg_build(struct gp_compile *c, const struct gpuplan_dispatch *dispatch, const struct gp_kernel_info *kernel,
		     const char *what, struct plan_image_command *command);
/* Or, where an image is made again, all argument blocks as they were; ... */
int gp_kernarg_take_all(struct gp_compile *c);
/* ... one dispatch's place in them; ... */
int gp_kernarg_take(struct gp_compile *c, const struct gp_kernel_info *kernel, const char *what,
		    const struct plan_image_command *record, struct plan_image_command *command);
/* ... and their addresses. */
int gp_kernarg_take_relocations(struct gp_compile *c);
int gp_plan_order(struct gp_compile *c);
int gp_plan_layout(struct gp_compile *c);
/* Gives shared places, relative to pools, to scratch allocations that are not in use at the same time. */
int gp_plan_scratch(struct gp_compile *c);
/* Where allocation (or PLAN_STAGING | io) starts, as an address reference. */
struct gp_ref gp_plan_place(const struct gp_compile *c, uint32_t allocation);

/* Accesses that matter for barriers, command after command. */
struct gp_accesses {
	struct gp_array accesses; /* struct gp_hazard_access */
	uint32_t *counts;	/* accesses of each command */
};

/* placed: where the layout put them; else every allocation is a memory of its own. */
int gp_plan_accesses(const struct gp_compile *c, bool placed, struct gp_accesses *accesses);
void gp_accesses_finish(struct gp_accesses *accesses);
/* Fills barriers and the commands' levels anew. */
int gp_plan_barriers(struct gp_compile *c, bool placed);
int gp_plan_streams(struct gp_compile *c);
/* Of the code objects that those kernels are of. */
uint64_t gp_code_hash(const struct gp_declarations *d, const struct plan_image_kernel *kernels, uint32_t n);
int gp_image_build(struct gp_compile *c, struct gp_image **image);

/* Label for messages: `command 3 "conv1"`. */
void gp_command_text(const struct gpuplan_command *command, uint32_t i, char text[96]);

static inline uint64_t
gp_align(uint64_t value, uint64_t granule)
{
	return (value + granule - 1) / granule * granule;
}

/* Smallest params.ib_dwords. */
#define GP_IB_MIN_DWORDS 512u

/* Every place in a slot's memory starts on its own 256 bytes: enough for an IB, a kernarg block and any vector. */
#define GP_PLACE_ALIGN 256u

/* What kernels that ask for a queue pointer get: zeroes, which nothing compiled for gfx9 and later reads. */
#define GP_QUEUE_BLOCK_BYTES 256u

#endif
