/* SPDX-License-Identifier: MIT */
/* plan_layout.c: from what is referenced to places in a slot's memory. */
#include <inttypes.h>

#include "compile.h"
#include "error.h"
#include "pm4.h"
#include "pm4_regs.h"

static void
extend(struct gp_compile *c, uint32_t allocation, uint64_t end)
{
	struct plan_image_allocation *a;

	if (allocation & PLAN_STAGING)
		return;
	a = gp_array_at(&c->allocations, allocation);
	if (end > a->extent)
		a->extent = end;
}

static int
list_allocations(struct gp_compile *c)
{
	for (uint32_t i = 0; i < c->d->n_allocations; i++) {
		const struct gp_allocation *in = &c->d->allocations[i];
		struct plan_image_allocation *out = gp_array_grow(&c->allocations, 1);

		if (!out || gp_compile_string(c, in->name, &out->name))
			return gp_error(c->error, -ENOMEM, "out of memory");
		out->use = in->use;
		out->placement = in->placement;
		out->bytes = in->bytes;
	}
	for (uint32_t i = 0; i < c->accesses.n; i++) {
		const struct plan_image_access *a = gp_array_at(&c->accesses, i);

		extend(c, a->allocation, a->offset + a->bytes);
	}
	for (uint32_t i = 0; i < c->io.n; i++) {
		const struct plan_image_io *io = gp_array_at(&c->io, i);

		extend(c, io->allocation, io->offset + io->bytes);
	}
	return 0;
}

static uint64_t
take(uint64_t *memory, uint64_t bytes)
{
	uint64_t place = gp_align(*memory, GP_PLACE_ALIGN);

	*memory = place + bytes;
	return place;
}

static void
place_allocation(struct gp_compile *c, struct plan_image_allocation *a, const uint64_t pools[GP_PLACEMENTS])
{
	struct plan_image_header *h = &c->header;

	if (!a->extent)
		return;
	if (a->use == GPUPLAN_WEIGHT) {
		a->memory = PLAN_MEMORY_WEIGHT;
		return;
	}
	if (a->use == GPUPLAN_SCRATCH)
		h->scratch_bytes += a->extent;
	else
		h->state_bytes += a->extent;
	if (c->session_run) {
		a->memory = PLAN_MEMORY_SHARED;
		return;
	}
	a->memory = a->placement == GPUPLAN_HOST ? PLAN_MEMORY_HOST : PLAN_MEMORY_DEVICE;
	if (a->pooled)
		a->place += pools[a->placement];
	else
		a->place = take(a->placement == GPUPLAN_HOST ? &h->host_bytes : &h->device_bytes, a->extent);
}

static void
place_allocations(struct gp_compile *c)
{
	struct plan_image_header *h = &c->header;
	uint64_t pools[GP_PLACEMENTS] = {
		[GPUPLAN_DEVICE] = take(&h->device_bytes, c->pool_bytes[GPUPLAN_DEVICE]),
		[GPUPLAN_HOST] = take(&h->host_bytes, c->pool_bytes[GPUPLAN_HOST]),
	};

	for (uint32_t i = 0; i < c->allocations.n; i++)
		place_allocation(c, gp_array_at(&c->allocations, i), pools);
}

struct extent {
	uint32_t memory;
	uint64_t begin, end;
};

static int
compare_extents(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->memory != y->memory)
		return x->memory < y->memory ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Bytes that lie in at least one scratch allocation. */
static int
count_scratch(struct gp_compile *c)
{
	struct extent *extents, end = { 0 };
	uint32_t n = 0;

	c->header.scratch_planned_bytes = c->header.scratch_bytes;
	if (!(c->params->flags & GPUPLAN_PLAN_REUSE_SCRATCH))
		return 0;
	extents = malloc(((size_t)c->allocations.n + 1) * sizeof(*extents));
	if (!extents)
		return gp_error(c->error, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->allocations.n; i++) {
		const struct plan_image_allocation *a = gp_array_at(&c->allocations, i);

		if (a->use == GPUPLAN_SCRATCH && a->extent)
			extents[n++] = (struct extent){ a->memory, a->place, a->place + a->extent };
	}
	qsort(extents, n, sizeof(*extents), compare_extents);
	c->header.scratch_planned_bytes = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (extents[i].memory != end.memory)
			end = (struct extent){ .memory = extents[i].memory };
		if (extents[i].begin < end.end)
			extents[i].begin = end.end < extents[i].end ? end.end : extents[i].end;
		c->header.scratch_planned_bytes += extents[i].end - extents[i].begin;
		if (extents[i].end > end.end)
			end.end = extents[i].end;
	}
	free(extents);
	return 0;
}

static void
place_io(struct gp_compile *c)
{
	for (uint32_t i = 0; i < c->io.n; i++) {
		struct plan_image_io *io = gp_array_at(&c->io, i);
		const struct plan_image_allocation *a = gp_array_at(&c->allocations, io->allocation);

		if (io->staged) {
			io->place = take(&c->header.host_bytes, io->bytes);
			c->header.staging_bytes += io->bytes;
		} else {
			io->place = a->place + io->offset;
		}
	}
}

/* The private-segment ring holds private_waves waves per engine of the hungriest kernel; the hardware lets no more
 * waves with scratch run at once. */
static void
place_private(struct gp_compile *c)
{
	const struct gp_target *t = c->d->target;

	for (uint32_t i = 0; i < c->kernels.n; i++) {
		const struct plan_image_kernel *k = gp_array_at(&c->kernels, i);
		uint64_t bytes = gp_align((uint64_t)k->private_bytes * k->wave_size, t->private_granule);

		/* A kernel that enables scratch needs a ring even when it declares no bytes. */
		if (!bytes && PM4_GET(RSRC2_SCRATCH_EN, k->rsrc2))
			bytes = t->private_granule;
		if (bytes > c->private_per_wave)
			c->private_per_wave = (uint32_t)bytes;
	}
	c->header.private_bytes = (uint64_t)c->private_per_wave * t->private_waves * t->shader_engines;
	if (c->header.private_bytes)
		c->header.private_offset = take(&c->header.device_bytes, c->header.private_bytes);
}

int
gp_plan_layout(struct gp_compile *c)
{
	int r = list_allocations(c);

	if (!r && (c->params->flags & GPUPLAN_PLAN_REUSE_SCRATCH)) {
		r = gp_plan_scratch(c);
		c->n_barriers_unshared = c->barriers.n;
	}
	if (r)
		return r;
	place_allocations(c);
	place_io(c);
	place_private(c);
	c->header.kernarg_offset = take(&c->header.host_bytes, c->kernarg.n);
	return count_scratch(c);
}

struct gp_ref
gp_plan_place(const struct gp_compile *c, uint32_t allocation)
{
	const struct plan_image_allocation *a;

	if (allocation & PLAN_STAGING) {
		const struct plan_image_io *io = gp_array_at(&c->io, allocation & ~PLAN_STAGING);

		return (struct gp_ref){ PLAN_MEMORY_HOST, 0, io->place };
	}
	a = gp_array_at(&c->allocations, allocation);
	if (a->memory == PLAN_MEMORY_WEIGHT || a->memory == PLAN_MEMORY_SHARED)
		return (struct gp_ref){ a->memory, allocation, 0 };
	return (struct gp_ref){ a->memory, 0, a->place };
}
