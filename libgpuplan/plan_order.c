/* SPDX-License-Identifier: MIT */
/* plan_order.c: another order of the commands that needs fewer barriers.
 *
 * A command's level is the number of barriers that must stand in front of it: one more than that of everything it
 * conflicts with and has to wait for or see. Sorted by level, and as they were within one, all commands of a level share
 * one barrier. Conflicts that cost no barrier, those of the command processor with its own copies, keep their order
 * because they never lower a level.
 */
#include "compile.h"
#include "error.h"

/* Layers of the range tree. The numbers are levels + 1; 0: none. */
enum { SHADER_WRITE, SHADER_READ, DMA_WRITE, DMA_READ };

struct place {
	uint32_t level;
	uint32_t ops;	/* what the barrier of its level has to do for it */
	bool tied;	/* to a copy of the same level that must stay in front of it */
};

static void
depend(struct place *p, uint32_t number, uint32_t ops)
{
	/* A number is a level + 1: of whoever stands behind a barrier the least level, else one too many. */
	uint32_t level = ops ? number : number - 1;

	if (!number || level < p->level)
		return;
	if (level > p->level) {
		p->ops = 0;
		p->tied = false;
	}
	p->level = level;
	p->ops |= ops;
	p->tied |= !ops;
}

static void
look(const struct gp_range_tree *tree, uint32_t i, const struct gp_hazard_access *a, struct place *p)
{
	bool reads = a->access & GPUPLAN_READ, writes = a->access & GPUPLAN_WRITE;
	bool shader = a->engine == GP_ENGINE_SHADER;
	uint32_t last[GP_RANGE_LAYERS];

	gp_range_tree_max(tree, i, last);
	depend(p, last[SHADER_WRITE], PLAN_BARRIER_WAIT | (shader && reads ? PLAN_BARRIER_INVALIDATE : 0));
	if (writes)
		depend(p, last[SHADER_READ], PLAN_BARRIER_WAIT);
	depend(p, last[DMA_WRITE], shader && reads ? PLAN_BARRIER_INVALIDATE : 0);
	if (writes)
		depend(p, last[DMA_READ], 0);
}

static void
remember(struct gp_range_tree *tree, uint32_t i, const struct gp_hazard_access *a, uint32_t level)
{
	bool dma = a->engine == GP_ENGINE_DMA;

	if (a->access & GPUPLAN_WRITE)
		gp_range_tree_raise(tree, i, dma ? DMA_WRITE : SHADER_WRITE, level + 1);
	if (a->access & GPUPLAN_READ)
		gp_range_tree_raise(tree, i, dma ? DMA_READ : SHADER_READ, level + 1);
}

static int
find_levels(const struct gp_compile *c, struct place *places)
{
	struct gp_accesses a;
	struct gp_range_tree tree;
	uint32_t at = 0;
	int r = gp_plan_accesses(c, false, &a);

	if (r)
		return r;
	r = gp_range_tree_init(&tree, a.accesses.data, a.accesses.n, sizeof(struct gp_hazard_access));
	for (uint32_t i = 0; !r && i < c->commands.n; i++) {
		uint32_t first = at;

		places[i] = (struct place){ 0 };
		for (; at < first + a.counts[i]; at++)
			look(&tree, at, gp_array_at(&a.accesses, at), &places[i]);
		for (uint32_t k = first; k < at; k++)
			remember(&tree, k, gp_array_at(&a.accesses, k), places[i].level);
	}
	if (!r)
		gp_range_tree_finish(&tree);
	gp_accesses_finish(&a);
	return r ? gp_error(c->error, r, "out of memory") : 0;
}

/* order[k]: the command that becomes number k. Stable by level; starts: room for commands + 2 numbers. */
static void
sort_by_level(const struct place *places, uint32_t n, uint32_t *order, uint32_t *starts)
{
	memset(starts, 0, ((size_t)n + 2) * sizeof(*starts));
	for (uint32_t i = 0; i < n; i++)
		starts[places[i].level + 1]++;
	for (uint32_t level = 0; level < n; level++)
		starts[level + 1] += starts[level];
	for (uint32_t i = 0; i < n; i++)
		order[starts[places[i].level]++] = i;
	/* Now starts[level] is where the next one starts. */
}

static uint32_t
weight_of(const struct place *p)
{
	return p->tied ? 0 : (uint32_t)__builtin_popcount(p->ops);
}

/* A level's first command calls for its barrier: the one that needs most of it goes in front, or each would call for a
 * barrier of its own. */
static void
lead_levels(const struct place *places, uint32_t n, uint32_t *order)
{
	uint32_t end;

	for (uint32_t first = 0; first < n; first = end) {
		uint32_t leader = first, command;

		for (end = first; end < n && places[order[end]].level == places[order[first]].level; end++)
			if (weight_of(&places[order[end]]) > weight_of(&places[order[leader]]))
				leader = end;
		command = order[leader];
		memmove(&order[first + 1], &order[first], (leader - first) * sizeof(*order));
		order[first] = command;
	}
}

static void
permute(struct plan_image_command *commands, const struct plan_image_command *from, const uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		commands[i] = from[order[i]];
}

/* Takes the new order if it is better. */
static int
try_order(struct gp_compile *c, const uint32_t *order, struct plan_image_command *old)
{
	uint32_t n = c->commands.n, barriers;
	int r = gp_plan_barriers(c, false);

	if (r)
		return r;
	barriers = c->barriers.n;
	memcpy(old, c->commands.data, (size_t)n * sizeof(*old));
	permute(c->commands.data, old, order, n);
	r = gp_plan_barriers(c, false);
	if (!r && c->barriers.n >= barriers)
		memcpy(c->commands.data, old, (size_t)n * sizeof(*old));
	return r;
}

int
gp_plan_order(struct gp_compile *c)
{
	uint32_t n = c->commands.n;
	struct plan_image_command *old = malloc(((size_t)n + 1) * sizeof(*old));
	struct place *places = malloc(((size_t)n + 1) * sizeof(*places));
	uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));
	uint32_t *starts = malloc(((size_t)n + 2) * sizeof(*starts));
	int r;

	if (!old || !places || !order || !starts) {
		r = gp_error(c->error, -ENOMEM, "out of memory");
	} else if (!(r = find_levels(c, places))) {
		sort_by_level(places, n, order, starts);
		lead_levels(places, n, order);
		r = try_order(c, order, old);
	}
	free(starts);
	free(order);
	free(places);
	free(old);
	return r;
}
