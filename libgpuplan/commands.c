/* SPDX-License-Identifier: MIT */
/* commands.c: deep copies of command lists.
 *
 * An append walks its commands twice: once to count the bytes they point at, once to copy them into one block of
 * exactly that size. Both walks are the same code.
 */
#include <assert.h>
#include <stdalign.h>

#include "commands.h"

/* Where the next bytes go; base NULL: only counted. */
struct block {
	uint8_t *base;
	size_t used;
};

void
gp_commands_init(struct gp_commands *commands)
{
	gp_array_init(&commands->list, sizeof(struct gpuplan_command));
	gp_array_init(&commands->blocks, sizeof(void *));
}

void
gp_commands_finish(struct gp_commands *commands)
{
	for (uint32_t i = 0; i < commands->blocks.n; i++)
		free(*(void **)gp_array_at(&commands->blocks, i));
	gp_array_finish(&commands->blocks);
	gp_array_finish(&commands->list);
}

static void *
reserve(struct block *b, size_t bytes)
{
	size_t place = (b->used + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);

	b->used = place + bytes;
	return b->base ? b->base + place : NULL;
}

/* A copy of bytes in the block; NULL while counting or when there is nothing. */
static void *
keep(struct block *b, const void *from, size_t bytes)
{
	void *to = bytes ? reserve(b, bytes) : NULL;

	if (to)
		memcpy(to, from, bytes);
	return to;
}

static const char *
keep_label(struct block *b, const char *prefix, const char *label)
{
	size_t before = prefix ? strlen(prefix) : 0, bytes = label ? strlen(label) : 0;
	char *to;

	if (!label && !before)
		return NULL;
	to = reserve(b, before + bytes + 1);
	if (!to)
		return NULL;
	memcpy(to, prefix ? prefix : "", before);
	memcpy(to + before, label ? label : "", bytes);
	to[before + bytes] = 0;
	return to;
}

static void
keep_dispatch(struct block *b, const struct gpuplan_dispatch *in, struct gpuplan_dispatch *out)
{
	struct gpuplan_arg *args = keep(b, in->args, in->n_args * sizeof(*args));

	for (uint32_t i = 0; i < in->n_args; i++) {
		void *data;

		if (in->args[i].kind != GPUPLAN_ARG_SCALAR || in->args[i].bytes <= 8)
			continue;
		data = keep(b, in->args[i].value.data, in->args[i].bytes);
		if (args)
			args[i].value.data = data;
	}
	out->args = args;
	out->bindings = keep(b, in->bindings, in->n_bindings * sizeof(*in->bindings));
	out->packed = keep(b, in->packed, in->packed_bytes);
	out->packed_params = keep(b, in->packed_params, in->n_packed_params * sizeof(*in->packed_params));
	out->groups_from = keep(b, in->groups_from, in->groups_from ? sizeof(*in->groups_from) : 0);
}

static void
keep_command(struct block *b, const struct gpuplan_command *in, const char *prefix, struct gpuplan_command *out)
{
	*out = *in;
	out->label = keep_label(b, prefix, in->label);
	if (in->kind == GPUPLAN_DISPATCH)
		keep_dispatch(b, &in->u.dispatch, &out->u.dispatch);
}

int
gp_commands_append(struct gp_commands *commands, const struct gpuplan_command *in, uint32_t n, const char *prefix)
{
	struct gpuplan_command scrap, *list;
	struct block count = { 0 }, b = { 0 };

	for (uint32_t i = 0; i < n; i++)
		keep_command(&count, &in[i], prefix, &scrap);
	b.base = malloc(count.used + 1);
	if (!b.base)
		return -ENOMEM;
	list = gp_array_grow(&commands->list, n);
	if (!list || gp_array_push(&commands->blocks, &b.base)) {
		if (list)
			commands->list.n -= n;
		free(b.base);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		keep_command(&b, &in[i], prefix, &list[i]);
	assert(b.used == count.used);
	return 0;
}

void
gp_commands_undo(struct gp_commands *commands, uint32_t n)
{
	commands->list.n = n;
	commands->blocks.n--;
	free(*(void **)gp_array_at(&commands->blocks, commands->blocks.n));
}

static int
dispatch_regions(const struct gpuplan_dispatch *d, uint32_t command, gp_region_visit_fn *visit, void *arg)
{
	/* our own copy: keep_dispatch made it */
	struct gpuplan_binding *bindings = (struct gpuplan_binding *)(uintptr_t)d->bindings;
	int r = 0;

	for (uint32_t i = 0; !r && i < d->n_bindings; i++)
		r = visit(arg, command, bindings[i].access, &bindings[i].region);
	if (!r && d->groups_from)
		r = visit(arg, command, GPUPLAN_READ, (struct gpuplan_region *)(uintptr_t)d->groups_from);
	return r;
}

int
gp_commands_regions(struct gp_commands *commands, uint32_t first, uint32_t n, gp_region_visit_fn *visit, void *arg)
{
	int r = 0;

	for (uint32_t i = first; !r && i < first + n; i++) {
		struct gpuplan_command *c = gp_array_at(&commands->list, i);

		switch (c->kind) {
		case GPUPLAN_FILL:
			r = visit(arg, i, GPUPLAN_WRITE, &c->u.fill.dst);
			break;
		case GPUPLAN_COPY:
			r = visit(arg, i, GPUPLAN_WRITE, &c->u.copy.dst);
			if (!r)
				r = visit(arg, i, GPUPLAN_READ, &c->u.copy.src);
			break;
		case GPUPLAN_DISPATCH:
			r = dispatch_regions(&c->u.dispatch, i, visit, arg);
			break;
		}
	}
	return r;
}

static void
renumber_dispatch(struct gpuplan_dispatch *d, const uint32_t *numbers)
{
	/* our own copies: keep_dispatch made them */
	struct gpuplan_arg *args = (struct gpuplan_arg *)(uintptr_t)d->args;
	struct gpuplan_packed_param *packed = (struct gpuplan_packed_param *)(uintptr_t)d->packed_params;

	for (uint32_t i = 0; i < d->n_args; i++)
		if (args[i].kind == GPUPLAN_ARG_PARAM)
			args[i].binding = numbers[args[i].binding];
	for (uint32_t i = 0; i < d->n_packed_params; i++)
		packed[i].parameter = numbers[packed[i].parameter];
	for (uint32_t i = 0; i < 3; i++)
		if (d->groups_param[i])
			d->groups_param[i] = numbers[d->groups_param[i] - 1] + 1;
}

void
gp_commands_renumber(struct gp_commands *commands, uint32_t first, uint32_t n, const uint32_t *numbers)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct gpuplan_command *c = gp_array_at(&commands->list, i);

		if (c->kind == GPUPLAN_DISPATCH)
			renumber_dispatch(&c->u.dispatch, numbers);
		else if (c->kind == GPUPLAN_FILL && c->u.fill.value_param)
			c->u.fill.value_param = numbers[c->u.fill.value_param - 1] + 1;
	}
}
