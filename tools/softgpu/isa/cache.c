/* SPDX-License-Identifier: MIT */
/* cache.c: decoded programs. A program is decoded piece by piece as its addresses are reached; pieces never move, so
 * operations point to each other. Before each run the words it was decoded from are compared with memory. */
#include "core.h"

#include <stdlib.h>

enum {
	PIECE_WORDS = 256,	/* dwords decoded at a time */
	PROGRAM_OPS = 1 << 18,	/* garbage that keeps jumping to new places starts over here */
	PROGRAMS = 64,		/* kernels remembered per core */
};

struct piece {
	struct piece *next;
	uint64_t pc;
	unsigned words;
	uint32_t *raw;		/* behind the operations */
	struct sg_op ops[];
};

/* A piece being decoded. */
struct draft {
	unsigned words, count, places;
	uint32_t raw[PIECE_WORDS];
	struct {
		uint64_t pc;
		unsigned op;
	} place[PIECE_WORDS + 1];
	struct sg_op ops[2 * PIECE_WORDS + SG_DECODE_MAX_OPS + 1];
};

struct sg_constant {
	struct sg_constant *next;
	uint64_t value;
	unsigned dwords;
	bool repeat;
	uint32_t *lanes;
};

struct place {
	uint64_t pc;
	struct sg_op *op;
};

struct sg_program {
	struct sg_program *next;
	uint64_t pc;
	enum sg_arch arch;
	bool stale;		/* met unmapped code: decode afresh next time */
	unsigned generation;	/* grows when pieces are freed during a run */
	unsigned ops;
	struct piece *pieces;
	struct sg_pool pool;
	struct place *map;	/* open addressing by pc */
	unsigned map_size, map_used;
};

/* Constants */

const uint32_t *
sg_pool_splat(struct sg_pool *pool, uint64_t value, unsigned dwords, bool repeat)
{
	static const uint32_t zero[8 * SG_LANES] __attribute__((aligned(128)));
	for (struct sg_constant *c = pool->all; c; c = c->next)
		if (c->value == value && c->dwords == dwords && c->repeat == repeat)
			return c->lanes;
	struct sg_constant *c = malloc(sizeof *c);
	uint32_t *lanes = aligned_alloc(128, sizeof(uint32_t) * SG_LANES * dwords);
	if (!c || !lanes) {
		free(c);
		free(lanes);
		return zero;
	}
	for (unsigned i = 0; i < SG_LANES * dwords; i++)
		lanes[i] = i < SG_LANES || repeat ? (uint32_t)value : (uint32_t)(value >> 32);
	*c = (struct sg_constant){ .next = pool->all, .value = value, .dwords = dwords, .repeat = repeat, .lanes = lanes };
	return (pool->all = c)->lanes;
}

void
sg_pool_free(struct sg_pool *pool)
{
	for (struct sg_constant *c = pool->all, *next; c; c = next) {
		next = c->next;
		free(c->lanes);
		free(c);
	}
	pool->all = NULL;
}

/* Addresses */

static unsigned
hash(const struct sg_program *p, uint64_t pc)
{
	return (unsigned)(pc * 0x9e3779b97f4a7c15 >> 32) & (p->map_size - 1);
}

static struct sg_op *
map_find(const struct sg_program *p, uint64_t pc)
{
	if (!p->map_size)
		return NULL;
	for (unsigned i = hash(p, pc); p->map[i].op; i = (i + 1) & (p->map_size - 1))
		if (p->map[i].pc == pc)
			return p->map[i].op;
	return NULL;
}

static void
map_put(struct sg_program *p, uint64_t pc, struct sg_op *op)
{
	unsigned i = hash(p, pc);
	while (p->map[i].op)
		i = (i + 1) & (p->map_size - 1);
	p->map[i] = (struct place){ pc, op };
	p->map_used++;
}

static bool
map_reserve(struct sg_program *p, unsigned more)
{
	if (p->map_size >= 2 * (p->map_used + more))
		return true;
	struct place *old = p->map;
	unsigned old_size = p->map_size, size = old_size ? old_size : 1024;
	while (size < 2 * (p->map_used + more))
		size *= 2;
	struct place *map = calloc(size, sizeof *map);
	if (!map)
		return false;
	p->map = map;
	p->map_size = size;
	p->map_used = 0;
	for (unsigned i = 0; i < old_size; i++)
		if (old[i].op)
			map_put(p, old[i].pc, old[i].op);
	free(old);
	return true;
}

static void
clear_program(struct sg_program *p)
{
	for (struct piece *c = p->pieces, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	p->pieces = NULL;
	free(p->map);
	p->map = NULL;
	p->map_size = p->map_used = p->ops = 0;
	sg_pool_free(&p->pool);
	p->generation++;
}

/* Operations that are not instructions */

static const struct sg_op *
run_link(struct sg_wave *w, const struct sg_op *op)
{
	return sg_jump(w, op, (uint64_t)op->imm);
}

static const struct sg_op *
run_bad_fetch(struct sg_wave *w, const struct sg_op *op)
{
	struct sg_mem *mem = w->core->mem;
	bool strict = mem->ops->fault(mem, op->pc, SG_ACCESS_EXEC, op->pc);
	return sg_stop_at(w, strict ? SG_STOP_FAULT : SG_STOP_ILLEGAL, op->pc,
			  "instruction fetch from an address that is not mapped executable");
}

static const struct sg_op *
run_no_memory(struct sg_wave *w, const struct sg_op *op)
{
	return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "no host memory left to decode the program");
}

/* Decoding */

/* Copies up to PIECE_WORDS dwords of code; fewer where the executable mapping ends. */
static unsigned
fetch_code(struct sg_core *core, uint64_t pc, uint32_t *raw)
{
	unsigned n = 0;
	while (n < PIECE_WORDS) {
		uint64_t va = pc + 4 * (uint64_t)n;
		const struct sg_span *s = sg_mem_span(core, va);
		if (!s || !s->host || !(s->access & SG_ACCESS_EXEC))
			break;
		uint64_t room = (s->bytes - (va - s->va)) / 4;
		unsigned take = room < PIECE_WORDS - n ? (unsigned)room : PIECE_WORDS - n;
		if (!take)
			break;
		memcpy(raw + n, s->host + (va - s->va), 4 * take);
		n += take;
	}
	return n;
}

static bool
ends_piece(const struct sg_op *op)
{
	static const char *const enders[] = { "s_branch", "s_endpgm", "s_endpgm_saved", "s_setpc_b64", "s_code_end" };
	if (!op->insn || op->run == sg_run_illegal || op->run == sg_run_unimplemented)
		return true;
	for (unsigned i = 0; i < sizeof enders / sizeof *enders; i++)
		if (!strcmp(op->insn->key, enders[i]))
			return true;
	return false;
}

static struct sg_op *
internal(struct sg_op *op, sg_handler *run, uint64_t pc)
{
	memset(op, 0, sizeof *op);
	op->run = run;
	op->pc = pc;
	op->imm = (int64_t)pc;
	return op;
}

/* Decodes from pc until control leaves, known code begins or the piece is full. */
static void
decode_draft(struct sg_core *core, struct sg_program *p, uint64_t pc, struct draft *t)
{
	unsigned available = fetch_code(core, pc, t->raw), count;
	bool open = true;

	t->words = t->count = t->places = 0;
	while (open && t->words < available) {
		uint64_t at = pc + 4 * (uint64_t)t->words;
		struct sg_op *op = &t->ops[t->count];
		if (t->words && map_find(p, at))
			break;
		unsigned words = sg_decode(core->isa, &p->pool, at, t->raw + t->words, available - t->words, op, &count);
		if (!words)
			break;
		/* an instruction without operations stands for the next one */
		t->place[t->places].pc = at;
		t->place[t->places++].op = t->count;
		t->words += words;
		t->count += count;
		open = !count || !ends_piece(&op[count - 1]);
	}
	if (!t->words) {
		p->stale = true;
		t->place[0].pc = pc;
		t->place[0].op = 0;
		t->places = 1;
		internal(&t->ops[t->count++], run_bad_fetch, pc);
	} else if (open)
		internal(&t->ops[t->count++], run_link, pc + 4 * (uint64_t)t->words);
}

static bool
decode_piece(struct sg_core *core, struct sg_program *p, uint64_t pc)
{
	if (!core->draft)
		core->draft = malloc(sizeof *core->draft);
	struct draft *t = core->draft;
	if (!t || !map_reserve(p, PIECE_WORDS + 1))
		return false;
	decode_draft(core, p, pc, t);
	struct piece *c = malloc(sizeof *c + t->count * sizeof c->ops[0] + 4 * t->words);
	if (!c)
		return false;
	c->pc = pc;
	c->words = t->words;
	c->raw = (uint32_t *)&c->ops[t->count];
	memcpy(c->raw, t->raw, 4 * t->words);
	memcpy(c->ops, t->ops, t->count * sizeof c->ops[0]);
	for (unsigned i = 0; i < t->count; i++) {
		sg_handler *fast = sg_fast_handler(&c->ops[i]);
		if (fast)
			c->ops[i].run = fast;
	}
	for (unsigned i = 0; i < t->places; i++)
		map_put(p, t->place[i].pc, &c->ops[t->place[i].op]);
	c->next = p->pieces;
	p->pieces = c;
	p->ops += t->count + 1;
	return true;
}

struct sg_op *
sg_cache_find(struct sg_core *core, uint64_t pc)
{
	static struct sg_op no_memory = { .run = run_no_memory };
	struct sg_program *p = core->program;
	struct sg_op *op = map_find(p, pc);

	if (op)
		return op;
	if (p->ops > PROGRAM_OPS)
		clear_program(p);
	if (!decode_piece(core, p, pc))
		return &no_memory;
	return map_find(p, pc);
}

const struct sg_op *
sg_enter(struct sg_wave *w)
{
	return sg_cache_find(w->core, w->pc);
}

const struct sg_op *
sg_jump(struct sg_wave *w, const struct sg_op *op, uint64_t pc)
{
	struct sg_core *core = w->core;

	if (core->d->stop && __atomic_load_n(core->d->stop, __ATOMIC_RELAXED))
		return sg_stop_at(w, SG_STOP_TIMEOUT, op ? op->pc : pc, "the dispatch was still running at its time limit");
	if (op && op->target)
		return op->target;
	unsigned generation = core->program->generation;
	struct sg_op *target = sg_cache_find(core, pc);
	/* operations live in memory of ours; const only keeps handlers from writing to them */
	if (op && generation == core->program->generation)
		((struct sg_op *)(uintptr_t)op)->target = target;
	return target;
}

/* Programs */

static bool
unchanged(struct sg_core *core, const struct sg_program *p)
{
	uint32_t raw[PIECE_WORDS];
	if (p->stale)
		return false;
	for (const struct piece *c = p->pieces; c; c = c->next)
		if (fetch_code(core, c->pc, raw) < c->words || memcmp(raw, c->raw, 4 * c->words))
			return false;
	return true;
}

static struct sg_program *
take_program(struct sg_core *core)
{
	unsigned n = 0;
	for (struct sg_program **link = &core->programs, *p; (p = *link); link = &p->next) {
		bool match = p->pc == core->d->pc && p->arch == core->d->arch;
		if (!match && (++n < PROGRAMS || p->next))
			continue;
		*link = p->next; /* the wanted one, or the least recently used of too many */
		if (!match || !unchanged(core, p)) {
			clear_program(p);
			p->stale = false;
		}
		return p;
	}
	return calloc(1, sizeof(struct sg_program));
}

int
sg_cache_begin(struct sg_core *core)
{
	struct sg_program *p = take_program(core);
	if (!p)
		return -1;
	p->pc = core->d->pc;
	p->arch = core->d->arch;
	p->next = core->programs;
	core->programs = core->program = p;
	return 0;
}

void
sg_cache_destroy(struct sg_core *core)
{
	for (struct sg_program *p = core->programs, *next; p; p = next) {
		next = p->next;
		clear_program(p);
		free(p);
	}
	free(core->draft);
}
