/* SPDX-License-Identifier: MIT */
/* plan_params.c: a plan's named parameters, and the places that change with them. */
#include <inttypes.h>

#include "compile.h"
#include "error.h"

/* The largest value of that many bytes. */
static uint64_t
all_ones(uint32_t bytes)
{
	return UINT64_MAX >> (64 - 8 * bytes);
}

static int
check_name(struct gp_compile *c, uint32_t i)
{
	const struct gpuplan_parameter *p = c->params->parameters;

	if (!p[i].name || !p[i].name[0])
		return gp_error(c->error, -EINVAL, "parameter %" PRIu32 " has no name, each of the %" PRIu32 " needs one", i,
				c->params->n_parameters);
	for (uint32_t other = 0; other < i; other++)
		if (!strcmp(p[other].name, p[i].name))
			return gp_error(c->error, -EINVAL, "parameters %" PRIu32 " and %" PRIu32 " are both named \"%.64s\"",
					other, i, p[i].name);
	return 0;
}

static int
check_parameter(struct gp_compile *c, uint32_t i)
{
	const struct gpuplan_parameter *p = &c->params->parameters[i];
	int r = check_name(c, i);

	if (r)
		return r;
	if (p->bytes < 1 || p->bytes > 8)
		return gp_error(c->error, -EINVAL, "parameter \"%.64s\" has %" PRIu32 " bytes, 1 to 8 are possible", p->name,
				p->bytes);
	if (p->reserved)
		return gp_error(c->error, -EINVAL, "parameter \"%.64s\" has reserved member %" PRIu32 ", it must be 0",
				p->name, p->reserved);
	if (p->min > p->max)
		return gp_error(c->error, -EINVAL, "parameter \"%.64s\" is at least %" PRIu64 " and at most %" PRIu64,
				p->name, p->min, p->max);
	if (p->max > all_ones(p->bytes))
		return gp_error(c->error, -EINVAL,
				"parameter \"%.64s\" is at most %" PRIu64 ", its %" PRIu32 " bytes hold %" PRIu64, p->name,
				p->max, p->bytes, all_ones(p->bytes));
	if (p->initial < p->min || p->initial > p->max)
		return gp_error(c->error, -EINVAL,
				"parameter \"%.64s\" is %" PRIu64 " at first, %" PRIu64 " to %" PRIu64 " are allowed",
				p->name, p->initial, p->min, p->max);
	return 0;
}

int
gp_params_check(struct gp_compile *c)
{
	const struct gpuplan_plan_params *params = c->params;

	if (params->n_parameters && !params->parameters)
		return gp_error(c->error, -EINVAL, "plan has %" PRIu32 " parameters but no array of them",
				params->n_parameters);
	for (uint32_t i = 0; i < params->n_parameters; i++) {
		const struct gpuplan_parameter *in = &params->parameters[i];
		struct plan_image_parameter *out;
		int r = check_parameter(c, i);

		if (r)
			return r;
		out = gp_array_grow(&c->parameters, 1);
		if (!out || gp_compile_string(c, in->name, &out->name))
			return gp_error(c->error, -ENOMEM, "out of memory");
		out->bytes = in->bytes;
		out->initial = in->initial;
		out->min = in->min;
		out->max = in->max;
	}
	return 0;
}

int
gp_param_find(struct gp_compile *c, uint32_t i, const char *what, const struct plan_image_parameter **p)
{
	if (i >= c->parameters.n)
		return gp_error(c->error, -EINVAL, "%s names parameter %" PRIu32 ", the plan has %" PRIu32, what, i,
				c->parameters.n);
	*p = gp_array_at(&c->parameters, i);
	return 0;
}

const char *
gp_param_name(const struct gp_compile *c, uint32_t i)
{
	return c->params->parameters[i].name;
}

/* By parameter, each one's in the order they were made: where first, then place. */
static int
compare_patches(const void *a, const void *b)
{
	const struct plan_image_patch *x = a, *y = b;

	if (x->parameter != y->parameter)
		return x->parameter < y->parameter ? -1 : 1;
	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

int
gp_params_finish(struct gp_compile *c)
{
	const struct plan_image_patch *patches;

	if (c->patches.n)
		qsort(c->patches.data, c->patches.n, sizeof(struct plan_image_patch), compare_patches);
	patches = c->patches.data;
	for (uint32_t i = 0, at = 0; i < c->parameters.n; i++) {
		struct plan_image_parameter *p = gp_array_at(&c->parameters, i);

		p->first_patch = at;
		while (at < c->patches.n && patches[at].parameter == i)
			at++;
		p->n_patches = at - p->first_patch;
		if (!p->n_patches)
			return gp_error(c->error, -EINVAL,
					"parameter %" PRIu32 " \"%.64s\" is used by none of the %" PRIu32 " commands", i,
					gp_param_name(c, i), c->params->n_commands);
	}
	return 0;
}
