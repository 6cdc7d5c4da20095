/* SPDX-License-Identifier: MIT */
/* plan_compile.c: the plan compiler: declarations, commands and I/O in, image out. No device, no globals, no I/O. */
#include <assert.h>

#include "compile.h"
#include "error.h"

int
gp_compile_string(struct gp_compile *c, const char *text, uint32_t *out)
{
	uint32_t bytes = (uint32_t)strlen(text) + 1;
	char *place;

	if (bytes == 1 && c->strings.n) {
		*out = 0;
		return 0;
	}
	*out = c->strings.n;
	place = gp_array_grow(&c->strings, bytes);
	if (!place)
		return -ENOMEM;
	memcpy(place, text, bytes);
	return 0;
}

static void
compile_init(struct gp_compile *c)
{
	gp_array_init(&c->strings, 1);
	gp_array_init(&c->allocations, sizeof(struct plan_image_allocation));
	gp_array_init(&c->kernels, sizeof(struct plan_image_kernel));
	gp_array_init(&c->kernel_refs, sizeof(uint32_t));
	gp_array_init(&c->args, sizeof(struct plan_image_arg));
	gp_array_init(&c->commands, sizeof(struct plan_image_command));
	gp_array_init(&c->accesses, sizeof(struct plan_image_access));
	gp_array_init(&c->barriers, sizeof(struct plan_image_barrier));
	gp_array_init(&c->io, sizeof(struct plan_image_io));
	gp_array_init(&c->kernarg, 1);
	gp_array_init(&c->relocations, sizeof(struct plan_image_relocation));
	gp_array_init(&c->parameters, sizeof(struct plan_image_parameter));
	gp_array_init(&c->patches, sizeof(struct plan_image_patch));
	gp_array_init(&c->kernarg_refs, sizeof(struct gp_kernarg_ref));
	gp_array_init(&c->stream, sizeof(uint32_t));
	gp_array_init(&c->reset, sizeof(uint32_t));
	gp_array_init(&c->segments, sizeof(struct plan_image_segment));
	c->aux = UINT32_MAX;
}

static void
compile_finish(struct gp_compile *c)
{
	struct gp_array *arrays[] = {
		&c->strings,  &c->allocations, &c->kernels, &c->kernel_refs, &c->args,	       &c->commands,
		&c->accesses, &c->barriers,    &c->io,	    &c->kernarg,     &c->relocations, &c->kernarg_refs,
		&c->stream,   &c->reset,       &c->parameters, &c->patches,  &c->segments,
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		gp_array_finish(arrays[i]);
}

/* String 0 is "", the name follows. */
static int
start_strings(struct gp_compile *c)
{
	uint32_t empty;

	if (gp_compile_string(c, "", &empty) ||
	    gp_compile_string(c, c->params->name ? c->params->name : "", &c->header.name))
		return gp_error(c->error, -ENOMEM, "out of memory");
	return 0;
}

/* Order in time, places in memory, and what that needs of barriers. */
static int
place(struct gp_compile *c)
{
	int r = 0;

	if (c->params->flags & GPUPLAN_PLAN_REORDER)
		r = gp_plan_order(c);
	if (r || (r = gp_plan_layout(c)) || (r = gp_plan_barriers(c, true)))
		return r;
	assert(!(c->params->flags & GPUPLAN_PLAN_REUSE_SCRATCH) || c->barriers.n == c->n_barriers_unshared);
	return 0;
}

int
gp_plan_compile(const struct gp_declarations *declarations, const struct gpuplan_plan_params *params,
		const struct gp_compile_options *options, struct gp_image **image, struct gpuplan_error *error)
{
	struct gp_compile c = {
		.d = declarations, .params = params, .options = options, .session_run = options->session_run, .error = error
	};
	int r;

	compile_init(&c);
	if (!(r = start_strings(&c)) && !(r = gp_params_check(&c)) && !(r = gp_kernarg_take_all(&c)) && !(r = gp_plan_check(&c)) && !(r = place(&c)) &&
	    !(r = gp_plan_streams(&c)) && !(r = gp_params_finish(&c)))
		r = gp_image_build(&c, image);
	compile_finish(&c);
	return r;
}
