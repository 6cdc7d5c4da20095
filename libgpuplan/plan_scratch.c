/* SPDX-License-Identifier: MIT */
/* plan_scratch.c: which scratch allocations may lie in the same bytes.
 *
 * Two may when the last command that touches the one is over, by barriers that stand anyway, before the first that
 * touches the other starts: sharing never costs a barrier. Largest first, each in the smallest gap that holds it.
 */
#include "compile.h"
#include "error.h"

/* Every allocation is held against all placed ones: beyond this many, others share among themselves. */
#define MAX_SHARED 4096u

#define NEVER UINT32_MAX

struct block {
	uint64_t offset, bytes;
	uint32_t allocation;
	uint32_t first;		/* command that touches it first */
	uint32_t free;		/* first command that finds it unused */
	uint32_t free_dma;	/* and without its bytes in an L2 that DMA does not see */
	bool dma_writes;
};

/* Commands by their last access to an allocation; NEVER: none. */
struct use {
	uint32_t first, last_shader, last_write, last_dma;
	bool dma_writes;
};

static void
note_use(struct use *u, const struct gp_hazard_access *a, uint32_t command)
{
	bool writes = a->access & GPUPLAN_WRITE;

	if (u->first == NEVER)
		u->first = command;
	if (a->engine == GP_ENGINE_SHADER) {
		u->last_shader = command;
		if (writes)
			u->last_write = command;
	} else {
		u->last_dma = command;
		u->dma_writes |= writes;
	}
}

static int
find_uses(const struct gp_compile *c, struct use *uses)
{
	struct gp_accesses a;
	uint32_t at = 0;
	int r = gp_plan_accesses(c, false, &a);

	if (r)
		return r;
	memset(uses, 0xff, c->allocations.n * sizeof(*uses));
	for (uint32_t i = 0; i < c->allocations.n; i++)
		uses[i].dma_writes = false;
	for (uint32_t i = 0; i < c->commands.n; i++)
		for (uint32_t end = at + a.counts[i]; at < end; at++) {
			const struct gp_hazard_access *access = gp_array_at(&a.accesses, at);

			if (!(access->allocation & PLAN_STAGING))
				note_use(&uses[access->allocation], access, i);
		}
	gp_accesses_finish(&a);
	return 0;
}

/* The command in front of which the next barrier with an operation stands, after command i; NEVER: none. */
static void
find_next(const struct gp_compile *c, uint32_t op, uint32_t *next)
{
	uint32_t at = NEVER, b = c->barriers.n;

	for (uint32_t i = c->commands.n; i-- > 0;) {
		next[i] = at;
		while (b && ((struct plan_image_barrier *)gp_array_at(&c->barriers, b - 1))->before >= i) {
			const struct plan_image_barrier *barrier = gp_array_at(&c->barriers, --b);

			if (barrier->ops & op)
				at = barrier->before;
		}
	}
}

static uint32_t
later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t
after(const uint32_t *next, uint32_t command)
{
	return command == NEVER ? 0 : next[command];
}

static void
set_life(const struct gp_compile *c, const struct use *u, const uint32_t *next_wait, const uint32_t *next_writeback,
	 struct block *b)
{
	uint32_t waited = after(next_wait, u->last_write);

	b->first = u->first;
	b->dma_writes = u->dma_writes;
	b->free = later(after(next_wait, u->last_shader), u->last_dma == NEVER ? 0 : u->last_dma + 1);
	b->free_dma = b->free;
	if (c->d->target->dma_bypasses_l2 && u->last_write != NEVER)
		b->free_dma = waited == NEVER ? NEVER : later(b->free, next_writeback[waited - 1]);
}

static bool
same_time(const struct block *a, const struct block *b)
{
	const struct block *x = a->first < b->first ? a : b, *y = x == a ? b : a;

	return (y->dma_writes ? x->free_dma : x->free) > y->first;
}

/* Larger first, then as declared. */
static int
compare_blocks(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->allocation < y->allocation ? -1 : 1;
}

/* Smallest gap between the placed blocks (by offset) that are alive at the same time, or behind them. */
static uint64_t
find_gap(const struct block *placed, uint32_t n, const struct block *b)
{
	uint64_t end = 0, best = UINT64_MAX, best_gap = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct block *p = &placed[i];

		if (!same_time(p, b))
			continue;
		if (p->offset >= end && p->offset - end >= b->bytes && p->offset - end < best_gap) {
			best = end;
			best_gap = p->offset - end;
		}
		if (p->offset + p->bytes > end)
			end = gp_align(p->offset + p->bytes, GP_PLACE_ALIGN);
	}
	return best != UINT64_MAX ? best : end;
}

static void
insert(struct block *placed, uint32_t n, const struct block *b)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (placed[middle].offset <= b->offset)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(&placed[low + 1], &placed[low], (n - low) * sizeof(*placed));
	placed[low] = *b;
}

/* Returns the bytes all of them take. */
static uint64_t
place_blocks(struct gp_compile *c, struct block *blocks, uint32_t n, struct block *placed)
{
	uint64_t group = 0, end = 0;

	qsort(blocks, n, sizeof(*blocks), compare_blocks);
	for (uint32_t i = 0; i < n; i++) {
		struct plan_image_allocation *a = gp_array_at(&c->allocations, blocks[i].allocation);

		if (i % MAX_SHARED == 0)
			group = gp_align(end, GP_PLACE_ALIGN);
		blocks[i].offset = find_gap(placed, i % MAX_SHARED, &blocks[i]);
		insert(placed, i % MAX_SHARED, &blocks[i]);
		a->pooled = 1;
		a->first_command = blocks[i].first;
		a->free_command = blocks[i].free;
		a->place = group + blocks[i].offset;
		if (a->place + blocks[i].bytes > end)
			end = a->place + blocks[i].bytes;
	}
	return end;
}

/* Not what the caller sees before or after a run. */
static bool
may_share(const struct gp_compile *c, uint32_t i, const struct use *u, const bool *is_io)
{
	const struct plan_image_allocation *a = gp_array_at(&c->allocations, i);

	return a->use == GPUPLAN_SCRATCH && a->extent && u->first != NEVER && !is_io[i];
}

struct work {
	struct use *uses;	/* per allocation */
	bool *is_io;
	struct block *blocks, *placed;
	uint32_t *next_wait, *next_writeback; /* per command */
};

static void
share(struct gp_compile *c, struct work *w)
{
	find_next(c, PLAN_BARRIER_WAIT, w->next_wait);
	find_next(c, PLAN_BARRIER_L2_WRITE_BACK, w->next_writeback);
	for (uint32_t i = 0; i < c->io.n; i++)
		w->is_io[((struct plan_image_io *)gp_array_at(&c->io, i))->allocation] = true;
	for (uint32_t placement = 0; placement < GP_PLACEMENTS; placement++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < c->allocations.n; i++) {
			const struct plan_image_allocation *a = gp_array_at(&c->allocations, i);

			if (a->placement != placement || !may_share(c, i, &w->uses[i], w->is_io))
				continue;
			w->blocks[n] = (struct block){ .bytes = a->extent, .allocation = i };
			set_life(c, &w->uses[i], w->next_wait, w->next_writeback, &w->blocks[n++]);
		}
		c->pool_bytes[placement] = place_blocks(c, w->blocks, n, w->placed);
	}
}

int
gp_plan_scratch(struct gp_compile *c)
{
	size_t n = (size_t)c->allocations.n + 1, n_commands = (size_t)c->commands.n + 1;
	struct work w = {
		.uses = malloc(n * sizeof(*w.uses)),
		.is_io = calloc(n, sizeof(*w.is_io)),
		.blocks = malloc(n * sizeof(*w.blocks)),
		.placed = malloc(n * sizeof(*w.placed)),
		.next_wait = malloc(n_commands * sizeof(*w.next_wait)),
		.next_writeback = malloc(n_commands * sizeof(*w.next_writeback)),
	};
	int r;

	if (!w.uses || !w.is_io || !w.blocks || !w.placed || !w.next_wait || !w.next_writeback)
		r = gp_error(c->error, -ENOMEM, "out of memory");
	else if (!(r = gp_plan_barriers(c, false)) && !(r = find_uses(c, w.uses)))
		share(c, &w);
	free(w.next_writeback);
	free(w.next_wait);
	free(w.placed);
	free(w.blocks);
	free(w.is_io);
	free(w.uses);
	return r;
}
