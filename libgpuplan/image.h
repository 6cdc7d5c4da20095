/* SPDX-License-Identifier: MIT */
/* image.h: plan images: making one, reading one. Pure. */
#ifndef GP_IMAGE_H
#define GP_IMAGE_H

#include <stddef.h>

#include "definition.h"
#include "plan_image.h"

struct gp_image {
	const uint8_t *bytes;	/* the whole image, layout of uapi/plan_image.h */
	size_t size;
	const struct plan_image_header *header;
	/* sections, pointing into bytes */
	const char *strings;
	const struct plan_image_allocation *allocations;
	const struct plan_image_kernel *kernels;
	const struct plan_image_arg *args;
	const struct plan_image_command *commands;
	const struct plan_image_access *accesses;
	const struct plan_image_barrier *barriers;
	const struct plan_image_io *io;
	const uint32_t *stream, *reset;
	const uint8_t *kernarg;
	const struct plan_image_relocation *relocations;
	const struct plan_image_parameter *parameters;
	const struct plan_image_patch *patches;
	const struct plan_image_segment *segments;
};

static inline uint32_t
gp_image_count(const struct gp_image *image, enum plan_section section)
{
	return image->header->sections[section].count;
}

/* Finds the sections of bytes that are a good image; they stay the caller's. */
void gp_image_point(struct gp_image *image, const void *bytes, size_t size);
/* The same for bytes from anywhere: every index and offset in them can be followed afterwards. */
int gp_image_open(struct gp_image *image, const void *bytes, size_t size, struct gpuplan_error *error);
/* What is submitted of PLAN_IN_STREAM or PLAN_IN_RESET: its first segment. 0: the image has no such stream. */
uint32_t gp_image_ib_bytes(const struct gp_image *image, uint32_t where);

/* Of one that the compiler made. */
void gp_image_destroy(struct gp_image *image);

/* What a compilation is allowed. */
struct gp_compile_options {
	bool session_run;	/* see gp_plan_binding */
	/* When an image is made again: the one to take the argument template from, and its record of each command. */
	const struct gp_image *arguments;
	const struct plan_image_command *const *records;
};

/* The plan compiler: a pure function of its arguments. */
int gp_plan_compile(const struct gp_declarations *declarations, const struct gpuplan_plan_params *params,
		    const struct gp_compile_options *options, struct gp_image **image, struct gpuplan_error *error);

/* Checks an image from anywhere against the declarations by compiling it again (image_load.c). */
int gp_image_load(const struct gp_declarations *declarations, const void *bytes, size_t size, uint32_t capacity,
		  struct gp_image **image, struct gpuplan_error *error);

#endif
