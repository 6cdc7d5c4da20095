/* SPDX-License-Identifier: MIT */
/* hazard.c: barriers from declared accesses.
 *
 * Two lists per allocation. "In flight": accesses of dispatches since the last wait; they conflict with whatever
 * overlaps and one of both writes. "Unseen": writes since the last cache invalidation, by shaders or DMA; a shader
 * that reads them could find older data in its caches (DMA reads L2 and cannot).
 */
#include <errno.h>
#include <stdlib.h>

#include "gpuplan.h"
#include "hazard.h"

struct entry {
	uint64_t begin, end;
	uint32_t command;
	uint32_t access;	/* enum gpuplan_access */
	bool ended;		/* done before later packets: DMA at once, a dispatch after a wait */
};

struct list {
	struct entry *entries;
	uint32_t n, capacity;
};

struct place {
	struct list in_flight, unseen;
};

struct gp_hazards {
	uint32_t n_allocations, n_places;
	struct place places[];
};

struct gp_hazards *
gp_hazards_create(uint32_t n_allocations, uint32_t n_io)
{
	uint32_t n = n_allocations + n_io;
	struct gp_hazards *h = calloc(1, sizeof(*h) + n * sizeof(h->places[0]));

	if (!h)
		return NULL;
	h->n_allocations = n_allocations;
	h->n_places = n;
	return h;
}

void
gp_hazards_destroy(struct gp_hazards *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->n_places; i++) {
		free(h->places[i].in_flight.entries);
		free(h->places[i].unseen.entries);
	}
	free(h);
}

static struct place *
place_of(struct gp_hazards *h, uint32_t allocation)
{
	if (allocation & PLAN_STAGING)
		return &h->places[h->n_allocations + (allocation & ~PLAN_STAGING)];
	return &h->places[allocation];
}

static int
list_add(struct list *l, const struct entry *entry)
{
	if (l->n == l->capacity) {
		uint32_t capacity = l->capacity ? l->capacity * 2 : 8;
		struct entry *entries = realloc(l->entries, capacity * sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		l->entries = entries;
		l->capacity = capacity;
	}
	l->entries[l->n++] = *entry;
	return 0;
}

static uint32_t
hazard_kind(uint32_t before, uint32_t now)
{
	if (before & GPUPLAN_WRITE)
		return now & GPUPLAN_READ ? PLAN_RAW : PLAN_WAW;
	return now & GPUPLAN_WRITE ? PLAN_WAR : 0;
}

/* The first conflict becomes the barrier's reason; a read after write explains more than the rest, so it wins. */
static void
note(struct plan_image_barrier *barrier, uint32_t ops, uint32_t hazard, const struct entry *before, uint32_t command,
     const struct plan_image_access *now)
{
	uint64_t begin = before->begin > now->offset ? before->begin : now->offset;
	uint64_t now_end = now->offset + now->bytes;
	uint64_t end = before->end < now_end ? before->end : now_end;

	if (!barrier->ops || (hazard == PLAN_RAW && barrier->hazard != PLAN_RAW)) {
		barrier->before = command;
		barrier->producer = before->command;
		barrier->consumer = command;
		barrier->hazard = hazard;
		barrier->allocation = now->allocation;
		barrier->offset = begin;
		barrier->bytes = end - begin;
	}
	barrier->ops |= ops;
}

static bool
overlaps(const struct entry *e, const struct plan_image_access *a)
{
	return e->begin < a->offset + a->bytes && a->offset < e->end;
}

static void
look(struct gp_hazards *h, uint32_t command, enum gp_engine engine, const struct plan_image_access *a,
     struct plan_image_barrier *barrier)
{
	const struct place *p = place_of(h, a->allocation);

	for (uint32_t i = 0; i < p->in_flight.n; i++) {
		const struct entry *e = &p->in_flight.entries[i];
		uint32_t hazard = hazard_kind(e->access, a->access);

		if (hazard && overlaps(e, a))
			note(barrier, PLAN_BARRIER_WAIT, hazard, e, command, a);
	}
	if (engine != GP_ENGINE_SHADER || !(a->access & GPUPLAN_READ))
		return;
	for (uint32_t i = 0; i < p->unseen.n; i++)
		if (overlaps(&p->unseen.entries[i], a))
			note(barrier, PLAN_BARRIER_INVALIDATE, PLAN_RAW, &p->unseen.entries[i], command, a);
}

/* After a wait nothing is in flight; after an invalidation the writes that have ended are seen by all. */
static void
apply(struct gp_hazards *h, uint32_t ops)
{
	for (uint32_t i = 0; i < h->n_places; i++) {
		struct place *p = &h->places[i];

		uint32_t kept = 0;

		if (ops & PLAN_BARRIER_WAIT) {
			p->in_flight.n = 0;
			for (uint32_t k = 0; k < p->unseen.n; k++)
				p->unseen.entries[k].ended = true;
		}
		if (!(ops & PLAN_BARRIER_INVALIDATE))
			continue;
		for (uint32_t k = 0; k < p->unseen.n; k++)
			if (!p->unseen.entries[k].ended)
				p->unseen.entries[kept++] = p->unseen.entries[k];
		p->unseen.n = kept;
	}
}

int
gp_hazards_next(struct gp_hazards *h, uint32_t command, enum gp_engine engine,
		const struct plan_image_access *accesses, uint32_t n, struct plan_image_barrier *barrier)
{
	*barrier = (struct plan_image_barrier){ 0 };
	for (uint32_t i = 0; i < n; i++)
		look(h, command, engine, &accesses[i], barrier);
	if (barrier->ops)
		apply(h, barrier->ops);

	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_access *a = &accesses[i];
		struct place *p = place_of(h, a->allocation);
		struct entry e = { a->offset, a->offset + a->bytes, command, a->access, engine == GP_ENGINE_DMA };

		if (engine == GP_ENGINE_SHADER && list_add(&p->in_flight, &e))
			return -ENOMEM;
		if ((a->access & GPUPLAN_WRITE) && list_add(&p->unseen, &e))
			return -ENOMEM;
	}
	return barrier->ops != 0;
}
