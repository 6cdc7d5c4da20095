/* SPDX-License-Identifier: MIT */
/* plan_view.h: sections of a plan's image, for tests of the plan compiler. */
#ifndef PLAN_VIEW_H
#define PLAN_VIEW_H

#include "device/region_graph.h"
#include "plan_image.h"

struct plan_view {
	struct gpuplan_plan *plan;
	const uint8_t *image;
	const struct plan_image_header *h;
	const struct plan_image_allocation *allocations;
	const struct plan_image_command *commands;
	const struct plan_image_access *accesses;
	const struct plan_image_barrier *barriers;
	const struct plan_image_relocation *relocations;
	const struct plan_image_segment *segments;
	const uint32_t *stream;
	size_t bytes;
};

static inline uint32_t
pv_count(const struct plan_view *v, enum plan_section section)
{
	return v->h->sections[section].count;
}

DT_UNUSED void
pv_open(struct plan_view *v, struct gpuplan_definition *definition, const struct gpuplan_plan_params *params)
{
	struct gpuplan_error error;
	const struct plan_image_section *s;

	dt_ok(gpuplan_plan_create(definition, params, &v->plan, &error), &error);
	v->image = gpuplan_plan_image(v->plan, &v->bytes);
	dt_ok(gpuplan_image_check(v->image, v->bytes, &error), &error);
	v->h = (const void *)v->image;
	s = v->h->sections;
	v->allocations = (const void *)(v->image + s[PLAN_SECTION_ALLOCATIONS].offset);
	v->commands = (const void *)(v->image + s[PLAN_SECTION_COMMANDS].offset);
	v->accesses = (const void *)(v->image + s[PLAN_SECTION_ACCESSES].offset);
	v->barriers = (const void *)(v->image + s[PLAN_SECTION_BARRIERS].offset);
	v->relocations = (const void *)(v->image + s[PLAN_SECTION_RELOCATIONS].offset);
	v->segments = (const void *)(v->image + s[PLAN_SECTION_SEGMENTS].offset);
	v->stream = (const void *)(v->image + s[PLAN_SECTION_STREAM].offset);
}

DT_UNUSED void
pv_close(struct plan_view *v)
{
	gpuplan_plan_destroy(v->plan);
}

/* A barrier with that operation stands behind command i and in front of command k. */
DT_UNUSED bool
pv_barrier_between(const struct plan_view *v, uint32_t op, uint32_t i, uint32_t k)
{
	for (uint32_t b = 0; b < pv_count(v, PLAN_SECTION_BARRIERS); b++)
		if ((v->barriers[b].ops & op) && v->barriers[b].before > i && v->barriers[b].before <= k)
			return true;
	return false;
}

DT_UNUSED bool
pv_conflict(const struct plan_view *v, const struct plan_image_command *x, const struct plan_image_command *y)
{
	for (uint32_t i = 0; i < x->n_accesses; i++)
		for (uint32_t k = 0; k < y->n_accesses; k++) {
			const struct plan_image_access *a = &v->accesses[x->first_access + i];
			const struct plan_image_access *b = &v->accesses[y->first_access + k];

			if (a->allocation == b->allocation && ((a->access | b->access) & GPUPLAN_WRITE) &&
			    a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
				return true;
		}
	return false;
}

#endif
