/* SPDX-License-Identifier: MIT */
/* region_graph.h: random command lists over slices of a few allocations, and what they compute, one command after the
 * other on the CPU. Commands read only words that earlier ones of the same run have written. */
#ifndef REGION_GRAPH_H
#define REGION_GRAPH_H

#include "device/device_test.h"

#define RG_SCRATCH 12
enum { RG_IN = RG_SCRATCH, RG_OUT, RG_STATE, RG_WEIGHT, RG_ALLOCS };
#define RG_WORDS 192	/* of each allocation */
#define RG_SLICE 96	/* at most, of each access */
#define RG_MAX 256	/* commands */

struct rg_slice {
	uint32_t a, at, words;
};

enum rg_kind { RG_FILL, RG_COPY, RG_MIX, RG_FOLD };

struct rg_op {
	enum rg_kind kind;
	struct rg_slice d, a, b;
	uint32_t salt;
};

struct rg_model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_region regions[RG_ALLOCS];
	struct gpuplan_kernel mix, fold;
	uint32_t weight[RG_WORDS];
};

struct rg_graph {
	uint32_t random;
	uint32_t n;
	struct rg_op ops[RG_MAX];
	bool defined[RG_ALLOCS][RG_WORDS];
	/* for the plan */
	struct gpuplan_command commands[RG_MAX];
	struct gpuplan_binding bindings[RG_MAX][3];
	struct gpuplan_arg args[RG_MAX][7];
	struct gpuplan_io in, out;
};

/* ---- the model ---- */

DT_UNUSED void *
rg_code(const char *target, size_t *bytes)
{
	char path[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 128);
	FILE *file;
	void *data;

	assert_true(n > 0);
	path[n] = 0;
	for (int i = 0; i < 2; i++)
		if ((slash = strrchr(path, '/')))
			*slash = 0;
	snprintf(path + strlen(path), 128, "/objects/regions.%s.co", target);
	file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	data = malloc(*bytes);
	assert_int_equal(fread(data, 1, *bytes, file), *bytes);
	fclose(file);
	return data;
}

/* False: no kernels for that target. Keeps the context. */
DT_UNUSED bool
rg_open(struct rg_model *m, struct gpuplan_context *context)
{
	struct gpuplan_context_info info;
	struct gpuplan_session *session;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf;

	memset(m, 0, sizeof(*m));
	m->context = context;
	gpuplan_context_get_info(context, &info);
	elf = rg_code(info.target, &bytes);
	if (!elf)
		return false;
	session = dt_session(context);
	for (uint32_t i = 0; i < RG_ALLOCS; i++) {
		enum gpuplan_use use = i == RG_STATE ? GPUPLAN_STATE : i == RG_WEIGHT ? GPUPLAN_WEIGHT : GPUPLAN_SCRATCH;
		/* Some scratch is mapped; the input is staged, the output in place. */
		enum gpuplan_placement placement = i == RG_OUT || (i < RG_SCRATCH && i % 5 == 4);

		m->regions[i] = dt_alloc(session, use, placement, RG_WORDS * 4, NULL);
	}
	for (uint32_t i = 0; i < RG_WORDS; i++)
		m->weight[i] = i * 2654435761u;
	dt_ok(gpuplan_session_upload(session, m->regions[RG_WEIGHT], m->weight, &error), &error);
	dt_ok(gpuplan_session_load(session, elf, bytes, "regions", &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, "mix", &m->mix, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, "fold", &m->fold, &error), &error);
	free(elf);
	m->definition = dt_freeze(session);
	return true;
}

DT_UNUSED void
rg_close(struct rg_model *m)
{
	gpuplan_definition_destroy(m->definition);
	dt_check_ledger_zero(m->context);
	gpuplan_context_destroy(m->context);
}

/* ---- making a graph ---- */

DT_UNUSED uint32_t
rg_pick(struct rg_graph *g, uint32_t n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 17;
	g->random ^= g->random << 5;
	return g->random % n;
}

DT_UNUSED bool
rg_overlap(const struct rg_slice *x, const struct rg_slice *y)
{
	return x->a == y->a && x->at < y->at + y->words && y->at < x->at + x->words;
}

/* Whole allocations, equal halves or any slice. */
DT_UNUSED struct rg_slice
rg_slice(struct rg_graph *g, uint32_t a)
{
	struct rg_slice s = { a, 0, RG_SLICE };

	switch (rg_pick(g, 4)) {
	case 0:
		s.at = rg_pick(g, 2) * RG_SLICE;
		break;
	case 1:
		s.words = RG_WORDS;
		break;
	default:
		s.words = 1 + rg_pick(g, RG_SLICE);
		s.at = rg_pick(g, RG_WORDS - s.words + 1);
		break;
	}
	return s;
}

/* Scratch comes and goes: only a few allocations are in use at a time. */
DT_UNUSED uint32_t
rg_scratch(struct rg_graph *g, uint32_t length)
{
	uint32_t window = g->n * (RG_SCRATCH - 3) / length;

	if (window > RG_SCRATCH - 4)
		window = RG_SCRATCH - 4;
	return window + rg_pick(g, 4);
}

DT_UNUSED void
rg_add(struct rg_graph *g, const struct rg_op *op)
{
	assert_true(g->n < RG_MAX);
	g->ops[g->n++] = *op;
	for (uint32_t i = 0; i < op->d.words; i++)
		g->defined[op->d.a][op->d.at + i] = true;
}

DT_UNUSED void
rg_define(struct rg_graph *g, const struct rg_slice *s)
{
	struct rg_op fill = { .kind = RG_FILL, .d = *s, .salt = g->n * 77 };

	for (uint32_t i = 0; i < s->words; i++)
		if (!g->defined[s->a][s->at + i]) {
			rg_add(g, &fill);
			return;
		}
}

DT_UNUSED struct rg_slice
rg_source(struct rg_graph *g, uint32_t length, const struct rg_slice *not)
{
	static const uint32_t fixed[] = { RG_IN, RG_STATE, RG_WEIGHT };
	struct rg_slice s;

	do
		s = rg_slice(g, rg_pick(g, 5) ? rg_scratch(g, length) : fixed[rg_pick(g, 3)]);
	while (rg_overlap(&s, not));
	rg_define(g, &s);
	return s;
}

DT_UNUSED void
rg_step(struct rg_graph *g, uint32_t length)
{
	uint32_t to = rg_pick(g, 8);
	struct rg_op op = { .kind = (enum rg_kind)rg_pick(g, 4), .salt = rg_pick(g, 1000) };

	if (op.kind < RG_MIX && rg_pick(g, 2))
		op.kind += 2;
	op.d = rg_slice(g, to == 0 ? RG_OUT : to == 1 ? RG_STATE : rg_scratch(g, length));
	if (op.kind == RG_FOLD)
		rg_define(g, &op.d);
	if (op.kind != RG_FILL)
		op.a = rg_source(g, length, &op.d);
	if (op.kind == RG_MIX)
		op.b = rg_source(g, length, &op.d);
	if (op.kind == RG_COPY)
		op.a.words = op.d.words = op.a.words < op.d.words ? op.a.words : op.d.words;
	rg_add(g, &op);
}

DT_UNUSED struct gpuplan_region
rg_region(const struct rg_model *m, const struct rg_slice *s)
{
	return gpuplan_slice(m->regions[s->a], s->at * 4, s->words * 4);
}

DT_UNUSED void
rg_dispatch(const struct rg_model *m, struct rg_graph *g, uint32_t i)
{
	const struct rg_op *op = &g->ops[i];
	struct gpuplan_dispatch *d = &g->commands[i].u.dispatch;
	struct gpuplan_binding *b = g->bindings[i];
	struct gpuplan_arg *a = g->args[i];
	bool mix = op->kind == RG_MIX;

	d->kernel = mix ? m->mix : m->fold;
	d->groups[0] = (op->d.words + 63) / 64;
	d->groups[1] = d->groups[2] = 1;
	d->block[0] = 64;
	d->block[1] = d->block[2] = 1;
	d->bindings = b;
	d->args = a;
	b[0] = (struct gpuplan_binding){ rg_region(m, &op->a), GPUPLAN_READ, 0 };
	b[1] = (struct gpuplan_binding){ rg_region(m, &op->d), mix ? GPUPLAN_WRITE : GPUPLAN_READ_WRITE, 0 };
	d->n_bindings = 2;
	if (mix) {
		b[d->n_bindings++] = (struct gpuplan_binding){ rg_region(m, &op->b), GPUPLAN_READ, 0 };
		a[d->n_args++] = gpuplan_arg_binding(0);
		a[d->n_args++] = gpuplan_arg_binding(2);
		a[d->n_args++] = gpuplan_arg_binding(1);
		a[d->n_args++] = gpuplan_arg_u32(op->a.words);
		a[d->n_args++] = gpuplan_arg_u32(op->b.words);
		a[d->n_args++] = gpuplan_arg_u32(op->d.words);
	} else {
		a[d->n_args++] = gpuplan_arg_binding(1);
		a[d->n_args++] = gpuplan_arg_binding(0);
		a[d->n_args++] = gpuplan_arg_u32(op->d.words);
		a[d->n_args++] = gpuplan_arg_u32(op->a.words);
	}
	a[d->n_args++] = gpuplan_arg_u32(op->salt);
}

DT_UNUSED void
rg_make_commands(const struct rg_model *m, struct rg_graph *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct rg_op *op = &g->ops[i];
		struct gpuplan_command *c = &g->commands[i];

		c->kind = op->kind == RG_FILL ? GPUPLAN_FILL : op->kind == RG_COPY ? GPUPLAN_COPY : GPUPLAN_DISPATCH;
		if (op->kind == RG_FILL) {
			c->u.fill.dst = rg_region(m, &op->d);
			c->u.fill.value = op->salt;
		} else if (op->kind == RG_COPY) {
			c->u.copy.dst = rg_region(m, &op->d);
			c->u.copy.src = rg_region(m, &op->a);
		} else {
			rg_dispatch(m, g, i);
		}
	}
	g->in = (struct gpuplan_io){ .region = m->regions[RG_IN], .dtype = GPUPLAN_U32, .rank = 1, .shape = { RG_WORDS } };
	g->out = (struct gpuplan_io){ .region = m->regions[RG_OUT], .dtype = GPUPLAN_U32, .rank = 1, .shape = { RG_WORDS } };
}

/* About `length` commands; equal seeds make equal graphs. */
DT_UNUSED void
rg_make(const struct rg_model *m, struct rg_graph *g, uint32_t seed, uint32_t length)
{
	struct rg_op op = { .kind = RG_FILL, .d = { RG_OUT, 0, RG_WORDS } };

	memset(g, 0, sizeof(*g));
	g->random = seed * 2654435761u + 1;
	memset(g->defined[RG_IN], 1, sizeof(g->defined[0]));
	memset(g->defined[RG_STATE], 1, sizeof(g->defined[0]));
	memset(g->defined[RG_WEIGHT], 1, sizeof(g->defined[0]));
	rg_add(g, &op);
	while (g->n < length)
		rg_step(g, length);
	/* What is left in scratch and state shows in the output. */
	for (uint32_t i = 0; i < 6; i++) {
		op = (struct rg_op){ .kind = RG_FOLD, .d = { RG_OUT, 32 * i, 32 }, .salt = i };
		op.a = rg_source(g, length, &op.d);
		rg_add(g, &op);
	}
	op = (struct rg_op){ .kind = RG_FOLD, .d = { RG_OUT, 0, RG_WORDS }, .a = { RG_STATE, 0, RG_WORDS } };
	rg_add(g, &op);
	rg_make_commands(m, g);
}

DT_UNUSED struct gpuplan_plan_params
rg_params(struct rg_graph *g, uint32_t flags, uint32_t ib_dwords)
{
	struct gpuplan_plan_params params = dt_plan_params(1, g->commands, g->n);

	params.inputs = &g->in;
	params.outputs = &g->out;
	params.n_inputs = params.n_outputs = 1;
	params.flags = flags;
	params.ib_dwords = ib_dwords;
	return params;
}

/* ---- what it computes ---- */

DT_UNUSED void
rg_compute(const struct rg_op *op, uint32_t memory[RG_ALLOCS][RG_WORDS])
{
	uint32_t *d = &memory[op->d.a][op->d.at];
	const uint32_t *a = &memory[op->a.a][op->a.at], *b = &memory[op->b.a][op->b.at];

	for (uint32_t i = 0; i < op->d.words; i++)
		switch (op->kind) {
		case RG_FILL:
			d[i] = op->salt;
			break;
		case RG_COPY:
			d[i] = a[i];
			break;
		case RG_MIX:
			d[i] = a[i % op->a.words] * 3 + (b[(i * 7 + op->salt) % op->b.words] ^ (op->salt + i));
			break;
		case RG_FOLD:
			d[i] = d[i] * 33 + a[(i + op->salt) % op->a.words];
			break;
		}
}

/* One run; memory holds input and state. */
DT_UNUSED void
rg_run(const struct rg_model *m, const struct rg_graph *g, uint32_t memory[RG_ALLOCS][RG_WORDS])
{
	memcpy(memory[RG_WEIGHT], m->weight, sizeof(m->weight));
	for (uint32_t i = 0; i < g->n; i++)
		rg_compute(&g->ops[i], memory);
}

#endif
