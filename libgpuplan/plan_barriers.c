/* SPDX-License-Identifier: MIT */
/* plan_barriers.c: from records, and the places of what they touch, to barriers. */
#include "compile.h"
#include "error.h"

/* Accesses that can conflict with anything: weights are only read, except in a session's own runs. */
static bool
is_mutable(const struct gp_compile *c, const struct plan_image_access *a)
{
	return (a->allocation & PLAN_STAGING) || c->session_run ||
	       c->d->allocations[a->allocation].use != GPUPLAN_WEIGHT;
}

/* Where the bytes lie: in the slot's or the session's memory, or in a memory of the allocation's own. */
static struct gp_range
access_range(const struct gp_compile *c, const struct plan_image_access *a, bool placed)
{
	struct gp_ref ref = { 0 };
	uint64_t space = a->allocation;

	if (placed) {
		ref = gp_plan_place(c, a->allocation);
		space = (uint64_t)ref.memory << 32 | ref.index;
	}
	return (struct gp_range){ space, ref.addend + a->offset, ref.addend + a->offset + a->bytes };
}

/* What lay in an allocation's bytes before its first command means nothing to it. */
static uint32_t
note_first(uint32_t *first, const struct plan_image_access *a, uint32_t command)
{
	if (a->allocation & PLAN_STAGING)
		return 0;
	if (first[a->allocation] == UINT32_MAX)
		first[a->allocation] = command;
	return first[a->allocation];
}

static int
add_accesses(const struct gp_compile *c, uint32_t i, bool placed, uint32_t *first, struct gp_array *out)
{
	const struct plan_image_command *command = gp_array_at(&c->commands, i);

	for (uint32_t k = 0; k < command->n_accesses; k++) {
		const struct plan_image_access *a = gp_array_at(&c->accesses, command->first_access + k);
		bool shader = command->kind == PLAN_COMMAND_DISPATCH && !(a->access & PLAN_ACCESS_CP);
		struct gp_hazard_access *h;

		if (!is_mutable(c, a))
			continue;
		h = gp_array_grow(out, 1);
		if (!h)
			return -ENOMEM;
		*h = (struct gp_hazard_access){
			.range = access_range(c, a, placed),
			.access = a->access & GPUPLAN_READ_WRITE,
			.engine = shader ? GP_ENGINE_SHADER : GP_ENGINE_DMA,
			.since = note_first(first, a, i),
			.allocation = a->allocation,
			.offset = a->offset,
		};
	}
	return 0;
}

void
gp_accesses_finish(struct gp_accesses *a)
{
	gp_array_finish(&a->accesses);
	free(a->counts);
}

int
gp_plan_accesses(const struct gp_compile *c, bool placed, struct gp_accesses *out)
{
	uint32_t *first = malloc(((size_t)c->d->n_allocations + 1) * sizeof(*first));
	int r = 0;

	gp_array_init(&out->accesses, sizeof(struct gp_hazard_access));
	out->counts = malloc(((size_t)c->commands.n + 1) * sizeof(*out->counts));
	if (!first || !out->counts)
		r = -ENOMEM;
	else
		memset(first, 0xff, c->d->n_allocations * sizeof(*first));
	for (uint32_t i = 0; !r && i < c->commands.n; i++) {
		uint32_t before = out->accesses.n;

		r = add_accesses(c, i, placed, first, &out->accesses);
		out->counts[i] = out->accesses.n - before;
	}
	free(first);
	if (r)
		gp_accesses_finish(out);
	return r ? gp_error(c->error, r, "out of memory") : 0;
}

static int
find_barriers(struct gp_compile *c, const struct gp_accesses *a)
{
	struct gp_hazards *hazards = gp_hazards_create(a->accesses.data, a->accesses.n, c->commands.n,
						       c->d->target->dma_bypasses_l2);
	struct plan_image_barrier barrier;
	int r = hazards ? 0 : -ENOMEM;

	c->barriers.n = 0;
	for (uint32_t i = 0; !r && i < c->commands.n; i++) {
		struct plan_image_command *command = gp_array_at(&c->commands, i);

		if (gp_hazards_next(hazards, a->counts[i], &barrier))
			r = gp_array_push(&c->barriers, &barrier);
		command->level = c->barriers.n;
	}
	gp_hazards_destroy(hazards);
	return r ? gp_error(c->error, r, "out of memory") : 0;
}

int
gp_plan_barriers(struct gp_compile *c, bool placed)
{
	struct gp_accesses accesses;
	int r = gp_plan_accesses(c, placed, &accesses);

	if (r)
		return r;
	r = find_barriers(c, &accesses);
	gp_accesses_finish(&accesses);
	return r;
}
