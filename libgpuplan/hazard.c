/* SPDX-License-Identifier: MIT */
/* hazard.c: barriers from declared accesses.
 *
 * Per byte the last command matters that wrote it by a shader, read it by a shader, wrote it by the command processor.
 * It is in flight when no wait stood behind it. A write is unseen by shaders, whose caches may hold older data, until
 * caches were invalidated after it had ended. Where the command processor does not see L2, L2 stands between the two:
 * it has to be written back before the one reads or overwrites what the other wrote, and to be invalidated the other
 * way round.
 */
#include <stdlib.h>

#include "gpuplan.h"
#include "hazard.h"

/* Layers of the range tree. The numbers are commands + 1; 0: none. */
enum { SHADER_WRITE, SHADER_READ, DMA_WRITE };

struct gp_hazards {
	struct gp_range_tree tree;
	const struct gp_hazard_access *accesses;
	uint32_t *first;	/* access of each command so far */
	uint32_t n_commands, n_accesses; /* so far */
	bool dma_bypasses_l2;
	/* Commands below these numbers ... */
	uint32_t ended;		/* have ended: a wait stood */
	uint32_t seen;		/* and shaders see what they wrote by shaders */
	uint32_t dma_seen;	/* or by the command processor */
	uint32_t written_back;	/* and memory has what they wrote by shaders */
};

struct gp_hazards *
gp_hazards_create(const struct gp_hazard_access *accesses, uint32_t n_accesses, uint32_t n_commands, bool dma_bypasses_l2)
{
	struct gp_hazards *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->accesses = accesses;
	h->dma_bypasses_l2 = dma_bypasses_l2;
	h->first = malloc(((size_t)n_commands + 1) * sizeof(*h->first));
	if (!h->first || gp_range_tree_init(&h->tree, accesses, n_accesses, sizeof(*accesses))) {
		gp_hazards_destroy(h);
		return NULL;
	}
	return h;
}

void
gp_hazards_destroy(struct gp_hazards *h)
{
	if (!h)
		return;
	gp_range_tree_finish(&h->tree);
	free(h->first);
	free(h);
}

/* What a conflict is about, before its bytes are looked up. */
struct conflict {
	uint32_t hazard;	/* enum plan_hazard; 0: none so far */
	uint32_t producer;	/* command */
	uint32_t layer;		/* how the producer touched the bytes */
	uint32_t access;	/* number of the consumer's access */
	uint32_t ops;		/* of all conflicts of the command */
};

/* The first conflict becomes the barrier's reason; a read after write explains more than the rest, so it wins. */
static void
note(struct conflict *c, uint32_t ops, uint32_t hazard, uint32_t layer, uint32_t number, uint32_t access)
{
	c->ops |= ops;
	if (c->hazard && (hazard != PLAN_RAW || c->hazard == PLAN_RAW))
		return;
	c->hazard = hazard;
	c->producer = number - 1;
	c->layer = layer;
	c->access = access;
}

static uint32_t
max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void
look(const struct gp_hazards *h, uint32_t i, struct conflict *c)
{
	const struct gp_hazard_access *a = &h->accesses[i];
	bool reads = a->access & GPUPLAN_READ, writes = a->access & GPUPLAN_WRITE;
	uint32_t last[GP_RANGE_LAYERS];
	uint32_t dma_ops = h->dma_bypasses_l2 ? PLAN_BARRIER_INVALIDATE | PLAN_BARRIER_L2_INVALIDATE : PLAN_BARRIER_INVALIDATE;

	gp_range_tree_max(&h->tree, i, last);
	if (last[SHADER_WRITE] > h->ended)
		note(c, PLAN_BARRIER_WAIT, reads ? PLAN_RAW : PLAN_WAW, SHADER_WRITE, last[SHADER_WRITE], i);
	if (writes && last[SHADER_READ] > h->ended)
		note(c, PLAN_BARRIER_WAIT, PLAN_WAR, SHADER_READ, last[SHADER_READ], i);
	if (a->engine == GP_ENGINE_DMA) {
		if (h->dma_bypasses_l2 && last[SHADER_WRITE] > max_u32(h->written_back, writes ? 0 : a->since))
			note(c, PLAN_BARRIER_L2_WRITE_BACK, reads ? PLAN_RAW : PLAN_WAW, SHADER_WRITE,
			     last[SHADER_WRITE], i);
	} else if (reads) {
		if (last[SHADER_WRITE] > max_u32(h->seen, a->since))
			note(c, PLAN_BARRIER_INVALIDATE, PLAN_RAW, SHADER_WRITE, last[SHADER_WRITE], i);
		if (last[DMA_WRITE] > max_u32(h->dma_seen, a->since))
			note(c, dma_ops, PLAN_RAW, DMA_WRITE, last[DMA_WRITE], i);
	}
}

static bool
is_producer(const struct gp_hazard_access *a, const struct gp_hazard_access *now, uint32_t layer)
{
	bool dma = layer == DMA_WRITE;

	return (a->access & (layer == SHADER_READ ? GPUPLAN_READ : GPUPLAN_WRITE)) &&
	       (a->engine == GP_ENGINE_DMA) == dma && a->range.space == now->range.space &&
	       a->range.begin < now->range.end && now->range.begin < a->range.end;
}

/* Which bytes: the producer's first access that overlaps. */
static void
explain(const struct gp_hazards *h, uint32_t command, const struct conflict *c, struct plan_image_barrier *barrier)
{
	const struct gp_hazard_access *now = &h->accesses[c->access], *a = &h->accesses[h->first[c->producer]];
	uint64_t begin, end;

	while (!is_producer(a, now, c->layer))
		a++;
	begin = a->range.begin > now->range.begin ? a->range.begin : now->range.begin;
	end = a->range.end < now->range.end ? a->range.end : now->range.end;
	*barrier = (struct plan_image_barrier){
		.before = command,
		.ops = c->ops,
		.producer = c->producer,
		.consumer = command,
		.hazard = c->hazard,
		.allocation = now->allocation,
		.offset = now->offset + (begin - now->range.begin),
		.bytes = end - begin,
		.producer_allocation = a->allocation,
		.producer_offset = a->offset + (begin - a->range.begin),
	};
}

static void
apply(struct gp_hazards *h, uint32_t command, uint32_t ops)
{
	if (ops & PLAN_BARRIER_WAIT)
		h->ended = command;
	if (ops & PLAN_BARRIER_INVALIDATE) {
		h->seen = h->ended;
		if (!h->dma_bypasses_l2 || (ops & PLAN_BARRIER_L2_INVALIDATE))
			h->dma_seen = command;
	}
	if (ops & PLAN_BARRIER_L2_WRITE_BACK)
		h->written_back = h->ended;
}

static void
remember(struct gp_hazards *h, uint32_t i, uint32_t command)
{
	const struct gp_hazard_access *a = &h->accesses[i];

	if (a->engine == GP_ENGINE_SHADER && (a->access & GPUPLAN_READ))
		gp_range_tree_raise(&h->tree, i, SHADER_READ, command + 1);
	if (a->access & GPUPLAN_WRITE)
		gp_range_tree_raise(&h->tree, i, a->engine == GP_ENGINE_DMA ? DMA_WRITE : SHADER_WRITE, command + 1);
}

bool
gp_hazards_next(struct gp_hazards *h, uint32_t n, struct plan_image_barrier *barrier)
{
	uint32_t command = h->n_commands++, first = h->n_accesses;
	struct conflict c = { 0 };

	h->first[command] = first;
	h->n_accesses += n;
	for (uint32_t i = first; i < first + n; i++)
		look(h, i, &c);
	if (c.ops) {
		explain(h, command, &c, barrier);
		apply(h, command, c.ops);
	} else {
		*barrier = (struct plan_image_barrier){ 0 };
	}
	for (uint32_t i = first; i < first + n; i++)
		remember(h, i, command);
	return c.ops != 0;
}
