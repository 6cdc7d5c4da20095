/* SPDX-License-Identifier: MIT */
/* plan_barriers.c: from records with their places in memory to barriers. */
#include "compile.h"
#include "error.h"
#include "hazard.h"

/* Accesses that can conflict with anything: weights are only read, except in a session's own runs. */
static bool
is_mutable(const struct gp_compile *c, const struct plan_image_access *a)
{
	return (a->allocation & PLAN_STAGING) || c->session_run ||
	       c->d->allocations[a->allocation].use != GPUPLAN_WEIGHT;
}

static struct gp_hazard_access
place_access(const struct gp_compile *c, const struct plan_image_command *command, const struct plan_image_access *a)
{
	bool shader = command->kind == PLAN_COMMAND_DISPATCH && !(a->access & PLAN_ACCESS_CP);
	struct gp_ref ref = gp_plan_place(c, a->allocation);
	uint64_t begin = ref.addend + a->offset;

	return (struct gp_hazard_access){
		.range = { (uint64_t)ref.memory << 32 | ref.index, begin, begin + a->bytes },
		.access = a->access & GPUPLAN_READ_WRITE,
		.engine = shader ? GP_ENGINE_SHADER : GP_ENGINE_DMA,
		.allocation = a->allocation,
		.offset = a->offset,
	};
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

/* counts: accesses of each command that matter. */
static int
place_accesses(const struct gp_compile *c, struct gp_array *out, uint32_t *counts, uint32_t *first)
{
	memset(first, 0xff, c->d->n_allocations * sizeof(*first));
	for (uint32_t i = 0; i < c->commands.n; i++) {
		const struct plan_image_command *command = gp_array_at(&c->commands, i);

		counts[i] = out->n;
		for (uint32_t k = 0; k < command->n_accesses; k++) {
			const struct plan_image_access *a = gp_array_at(&c->accesses, command->first_access + k);
			struct gp_hazard_access placed;

			if (!is_mutable(c, a))
				continue;
			placed = place_access(c, command, a);
			placed.since = note_first(first, a, i);
			if (gp_array_push(out, &placed))
				return -ENOMEM;
		}
		counts[i] = out->n - counts[i];
	}
	return 0;
}

static int
find_barriers(struct gp_compile *c, const struct gp_array *accesses, const uint32_t *counts)
{
	struct gp_hazards *hazards = gp_hazards_create(accesses->data, accesses->n, c->commands.n,
						       c->d->target->dma_bypasses_l2);
	struct plan_image_barrier barrier;
	int r = hazards ? 0 : -ENOMEM;

	c->barriers.n = 0;
	for (uint32_t i = 0; !r && i < c->commands.n; i++) {
		struct plan_image_command *command = gp_array_at(&c->commands, i);

		if (gp_hazards_next(hazards, counts[i], &barrier))
			r = gp_array_push(&c->barriers, &barrier);
		command->level = c->barriers.n;
	}
	gp_hazards_destroy(hazards);
	return r;
}

int
gp_plan_barriers(struct gp_compile *c)
{
	uint32_t *counts = malloc(((size_t)c->commands.n + 1) * sizeof(*counts));
	uint32_t *first = malloc(((size_t)c->d->n_allocations + 1) * sizeof(*first));
	struct gp_array accesses;
	int r = -ENOMEM;

	gp_array_init(&accesses, sizeof(struct gp_hazard_access));
	if (counts && first)
		r = place_accesses(c, &accesses, counts, first);
	if (!r)
		r = find_barriers(c, &accesses, counts);
	gp_array_finish(&accesses);
	free(first);
	free(counts);
	return r ? gp_error(c->error, r, "out of memory") : 0;
}
