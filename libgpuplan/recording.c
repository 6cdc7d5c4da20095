/* SPDX-License-Identifier: MIT */
/* recording.c: fragments put one behind the other into a larger command list.
 *
 * Binding a port moves all command regions inside it to other bytes. What was checked of the fragment stays true only
 * if regions that did not share bytes before do not share any after, unless nobody writes them; that is checked here,
 * all the rest (bounds, weights, kernels) by the plan compiler on the moved commands.
 */
#include <inttypes.h>
#include <stdio.h>

#include "error.h"
#include "fragment.h"
#include "params.h"
#include "region.h"

struct gpuplan_recording {
	struct gp_model *model;
	struct gp_commands commands;
	struct gp_array parameters; /* struct gpuplan_parameter, names are ours */
};

/* A region of a moved command. */
struct touch {
	struct gpuplan_region region;
	uint32_t object;	/* ports moved together have one number, all that stays is 0 */
	uint32_t command;	/* of the fragment */
	bool write;
};

struct append {
	struct gpuplan_recording *recording;
	const struct gpuplan_fragment *fragment;
	struct gpuplan_error *error;
	const struct gpuplan_region **targets; /* per port; NULL: stays */
	uint32_t *objects;	/* per port */
	struct gp_array touches; /* struct touch */
	uint32_t first;		/* first command of this append in the recording */
};

static uint32_t
n_ports(const struct gpuplan_fragment *f)
{
	return f->n_inputs + f->n_outputs;
}

static const char *
port_text(const struct gpuplan_fragment *f, uint32_t i, char text[128])
{
	const struct gp_port *port = &f->ports[i];
	uint32_t number = port->output ? i - f->n_inputs : i;

	snprintf(text, 128, "%s %" PRIu32 "%s%.40s%s of fragment \"%.40s\"", port->output ? "output" : "input", number,
		 *port->name ? " \"" : "", port->name, *port->name ? "\"" : "", f->name);
	return text;
}

static const char *
allocation_name(const struct append *a, uint32_t allocation)
{
	return a->recording->model->declarations.allocations[allocation].name;
}

static int
check_bind(struct append *a, const struct gpuplan_bind *bind)
{
	const struct gpuplan_fragment *f = a->fragment;
	uint32_t n = bind->output ? f->n_outputs : f->n_inputs;
	uint32_t i = bind->output ? f->n_inputs + bind->port : bind->port;
	const struct gp_port *port;
	char text[128];
	int r;

	if (bind->output > 1)
		return gp_error(a->error, -EINVAL, "bind says output %" PRIu32 ", 0 (input) and 1 (output) are known",
				bind->output);
	if (bind->port >= n)
		return gp_error(a->error, -ENOENT, "fragment \"%.40s\" has %" PRIu32 " %s, number %" PRIu32 " was bound",
				f->name, n, bind->output ? "outputs" : "inputs", bind->port);
	port = &f->ports[i];
	port_text(f, i, text);
	if (a->targets[i])
		return gp_error(a->error, -EINVAL, "%s is bound twice", text);
	r = gp_region_check(&a->recording->model->declarations, &bind->region, text, a->error);
	if (r)
		return r;
	if (bind->region.bytes < port->region.bytes)
		return gp_error(a->error, -EINVAL, "%s needs %" PRIu64 " bytes, the bound region has %" PRIu64, text,
				port->region.bytes, bind->region.bytes);
	if (port->torn)
		return gp_error(a->error, -EINVAL,
				"%s lies at [%" PRIu64 "..%" PRIu64 ") of \"%s\" and cannot be bound elsewhere: command %" PRIu32
				" reaches over its edge, at [%" PRIu64 "..%" PRIu64 ")",
				text, port->region.offset, port->region.offset + port->region.bytes,
				allocation_name(a, port->region.allocation), port->torn_by, port->torn_region.offset,
				port->torn_region.offset + port->torn_region.bytes);
	a->targets[i] = &bind->region;
	return 0;
}

static int
check_binds(struct append *a, const struct gpuplan_bind *binds, uint32_t n)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++)
		r = check_bind(a, &binds[i]);
	return r;
}

static struct gpuplan_region
moved(const struct append *a, uint32_t port, struct gpuplan_region region)
{
	const struct gpuplan_region *target = a->targets[port];

	if (!target)
		return region;
	region.offset = target->offset + (region.offset - a->fragment->ports[port].region.offset);
	region.allocation = target->allocation;
	return region;
}

/* Ports that share bytes in the fragment (in-place) have to move alike; they are one object from then on. */
static int
group_ports(struct append *a)
{
	const struct gpuplan_fragment *f = a->fragment;
	uint32_t next = 1;

	for (uint32_t i = 0; i < n_ports(f); i++) {
		const struct gpuplan_region *mine = &f->ports[i].region;

		a->objects[i] = a->targets[i] ? next++ : 0;
		for (uint32_t k = 0; k < i; k++) {
			struct gpuplan_region here = moved(a, i, *mine), there = moved(a, k, *mine);
			char one[128], two[128];

			if (!gp_regions_overlap(mine, &f->ports[k].region))
				continue;
			if (here.allocation != there.allocation || here.offset != there.offset)
				return gp_error(a->error, -EINVAL,
						"%s shares bytes with %s and must move with it: one would lie at %" PRIu64
						" of \"%s\", the other at %" PRIu64 " of \"%s\"",
						port_text(f, k, one), port_text(f, i, two), there.offset,
						allocation_name(a, there.allocation), here.offset,
						allocation_name(a, here.allocation));
			a->objects[i] = a->objects[k];
		}
	}
	return 0;
}

static int
move(void *arg, uint32_t command, enum gpuplan_access access, struct gpuplan_region *region)
{
	struct append *a = arg;
	struct touch touch = { .command = command - a->first, .write = (access & GPUPLAN_WRITE) != 0 };

	for (uint32_t i = 0; i < n_ports(a->fragment); i++) {
		if (!a->targets[i] || !gp_region_inside(region, &a->fragment->ports[i].region))
			continue;
		*region = moved(a, i, *region);
		touch.object = a->objects[i];
		break;
	}
	touch.region = *region;
	return gp_array_push(&a->touches, &touch);
}

static int
by_place(const void *x, const void *y)
{
	const struct touch *a = x, *b = y;

	if (a->region.allocation != b->region.allocation)
		return a->region.allocation < b->region.allocation ? -1 : 1;
	if (a->region.offset != b->region.offset)
		return a->region.offset < b->region.offset ? -1 : 1;
	return a->command < b->command ? -1 : a->command > b->command;
}

static int
aliasing(struct append *a, const struct touch *before, const struct touch *now)
{
	uint64_t end = before->region.offset + before->region.bytes, now_end = now->region.offset + now->region.bytes;

	return gp_error(a->error, -EINVAL,
			"binding fragment \"%.40s\" makes command %" PRIu32 " (%s) and command %" PRIu32
			" (%s) share bytes [%" PRIu64 "..%" PRIu64 ") of \"%s\", which they did not before",
			a->fragment->name, before->command, before->write ? "writes" : "reads", now->command,
			now->write ? "writes" : "reads", now->region.offset, end < now_end ? end : now_end,
			allocation_name(a, now->region.allocation));
}

/* The touch of each object that reaches furthest, of those seen so far in one allocation. */
struct reach {
	const struct touch *read, *write;
};

static uint64_t
end_of(const struct touch *t)
{
	return t ? t->region.offset + t->region.bytes : 0;
}

static int
check_aliases(struct append *a)
{
	uint32_t n_objects = n_ports(a->fragment) + 1;
	struct reach *reach = calloc(n_objects, sizeof(*reach));
	const struct touch *touches = a->touches.data;
	int r = 0;

	if (!reach)
		return gp_error(a->error, -ENOMEM, "out of memory");
	if (a->touches.n)
		qsort(a->touches.data, a->touches.n, sizeof(*touches), by_place);
	for (uint32_t i = 0; !r && i < a->touches.n; i++) {
		const struct touch *t = &touches[i];
		struct reach *mine = &reach[t->object];

		if (i && touches[i - 1].region.allocation != t->region.allocation)
			memset(reach, 0, n_objects * sizeof(*reach));
		for (uint32_t o = 0; !r && o < n_objects; o++) {
			if (o == t->object)
				continue;
			if (end_of(reach[o].write) > t->region.offset)
				r = aliasing(a, reach[o].write, t);
			else if (t->write && end_of(reach[o].read) > t->region.offset)
				r = aliasing(a, reach[o].read, t);
		}
		if (t->write && end_of(t) > end_of(mine->write))
			mine->write = t;
		if (!t->write && end_of(t) > end_of(mine->read))
			mine->read = t;
	}
	free(reach);
	return r;
}

/* The moved commands, as the plan compiler sees them; parameters have the fragment's numbers still. */
static int
check_commands(struct append *a)
{
	struct gpuplan_plan_params plan = {
		.size = sizeof(plan),
		.capacity = 1,
		.n_commands = a->fragment->commands.list.n,
		.parameters = a->fragment->parameters,
		.n_parameters = a->fragment->n_parameters,
	};

	if (!plan.n_commands)
		return 0;
	plan.commands = gp_array_at(&a->recording->commands.list, a->first);
	return gp_fragment_check(a->recording->model, &plan, a->error);
}

/* ---- parameters: one of each name ---- */

static void
cut_parameters(struct gpuplan_recording *recording, uint32_t n)
{
	while (recording->parameters.n > n) {
		struct gpuplan_parameter *last = gp_array_at(&recording->parameters, --recording->parameters.n);

		free((char *)(uintptr_t)last->name);
	}
}

static bool
same_parameter(const struct gpuplan_parameter *a, const struct gpuplan_parameter *b)
{
	return a->bytes == b->bytes && a->initial == b->initial && a->min == b->min && a->max == b->max;
}

static int
add_parameter(struct append *a, const char *prefix, const struct gpuplan_parameter *in, uint32_t *number)
{
	struct gp_array *list = &a->recording->parameters;
	struct gpuplan_parameter own = *in;
	size_t before = prefix ? strlen(prefix) : 0, bytes = strlen(in->name) + 1;
	char *name = malloc(before + bytes);

	if (!name)
		return gp_error(a->error, -ENOMEM, "out of memory");
	memcpy(name, prefix ? prefix : "", before);
	memcpy(name + before, in->name, bytes);
	own.name = name;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct gpuplan_parameter *there = gp_array_at(list, i);

		if (strcmp(there->name, name))
			continue;
		free(name);
		*number = i;
		if (same_parameter(there, in))
			return 0;
		return gp_error(a->error, -EINVAL,
				"parameter \"%.64s\" of fragment \"%.40s\" has %" PRIu32 " bytes, %" PRIu64 " to %" PRIu64
				", initially %" PRIu64 "; the recording's has %" PRIu32 " bytes, %" PRIu64 " to %" PRIu64
				", initially %" PRIu64,
				there->name, a->fragment->name, in->bytes, in->min, in->max, in->initial, there->bytes,
				there->min, there->max, there->initial);
	}
	*number = list->n;
	if (gp_array_push(list, &own)) {
		free(name);
		return gp_error(a->error, -ENOMEM, "out of memory");
	}
	return 0;
}

static int
add_parameters(struct append *a, const char *prefix)
{
	const struct gpuplan_fragment *f = a->fragment;
	uint32_t *numbers = calloc((size_t)f->n_parameters + 1, sizeof(*numbers));
	int r = numbers ? 0 : gp_error(a->error, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !r && i < f->n_parameters; i++)
		r = add_parameter(a, prefix, &f->parameters[i], &numbers[i]);
	if (!r)
		gp_commands_renumber(&a->recording->commands, a->first, f->commands.list.n, numbers);
	free(numbers);
	return r;
}

static int
append_moved(struct append *a, const struct gpuplan_append_params *p)
{
	uint32_t n = a->fragment->commands.list.n;
	int r;

	if ((r = check_binds(a, p->binds, p->n_binds)) || (r = group_ports(a)))
		return r;
	r = gp_commands_regions(&a->recording->commands, a->first, n, move, a);
	if (r)
		return gp_error(a->error, r, "out of memory");
	if ((r = check_aliases(a)) || (r = check_commands(a)))
		return r;
	return add_parameters(a, p->flags & GPUPLAN_APPEND_OWN_PARAMETERS ? p->prefix : NULL);
}

static int
append_fragment(struct gpuplan_recording *recording, const struct gpuplan_fragment *f,
		const struct gpuplan_append_params *p, struct gpuplan_error *error)
{
	struct append a = {
		.recording = recording, .fragment = f, .error = error, .first = recording->commands.list.n
	};
	uint32_t n_parameters = recording->parameters.n;
	int r = gp_commands_append(&recording->commands, f->commands.list.data, f->commands.list.n, p->prefix);

	if (r)
		return gp_error(error, r, "out of memory for %u commands", f->commands.list.n);
	gp_array_init(&a.touches, sizeof(struct touch));
	a.targets = calloc(n_ports(f) + 1, sizeof(*a.targets));
	a.objects = calloc(n_ports(f) + 1, sizeof(*a.objects));
	if (!a.targets || !a.objects)
		r = gp_error(error, -ENOMEM, "out of memory");
	else
		r = append_moved(&a, p);
	free(a.targets);
	free(a.objects);
	gp_array_finish(&a.touches);
	if (r) {
		gp_commands_undo(&recording->commands, a.first);
		cut_parameters(recording, n_parameters);
	}
	return r;
}

int
gpuplan_recording_create(struct gpuplan_definition *definition, struct gpuplan_recording **out,
			 struct gpuplan_error *error)
{
	struct gpuplan_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return gp_error(error, -ENOMEM, "out of memory for a recording");
	recording->model = gp_model_ref(definition->model);
	gp_commands_init(&recording->commands);
	gp_array_init(&recording->parameters, sizeof(struct gpuplan_parameter));
	*out = recording;
	return 0;
}

void
gpuplan_recording_destroy(struct gpuplan_recording *recording)
{
	if (!recording)
		return;
	gp_commands_finish(&recording->commands);
	cut_parameters(recording, 0);
	gp_array_finish(&recording->parameters);
	gp_model_unref(recording->model);
	free(recording);
}

int
gpuplan_recording_append(struct gpuplan_recording *recording, const struct gpuplan_fragment *fragment,
			 const struct gpuplan_append_params *params, struct gpuplan_error *error)
{
	struct gpuplan_append_params p = { .size = sizeof(p) };
	int r = params ? gp_params_copy(&p, sizeof(p), params, "append", error) : 0;

	if (r)
		return r;
	if (p.flags & ~(uint32_t)GPUPLAN_APPEND_OWN_PARAMETERS)
		return gp_error(error, -EINVAL, "append flags 0x%x, only 0x%x is known", p.flags,
				(unsigned)GPUPLAN_APPEND_OWN_PARAMETERS);
	if ((p.flags & GPUPLAN_APPEND_OWN_PARAMETERS) && !p.prefix)
		return gp_error(error, -EINVAL, "append wants parameters of its own but has no prefix to name them by");
	if (p.n_binds && !p.binds)
		return gp_error(error, -EINVAL, "append has %u binds but no array of them", p.n_binds);
	if (fragment->model != recording->model)
		return gp_error(error, -EXDEV,
				"fragment \"%.40s\" is of session %" PRIu64 ", the recording is of session %" PRIu64,
				fragment->name, fragment->model->declarations.session,
				recording->model->declarations.session);
	return append_fragment(recording, fragment, &p, error);
}

int
gpuplan_recording_add(struct gpuplan_recording *recording, const struct gpuplan_command *commands, uint32_t n,
		      struct gpuplan_error *error)
{
	uint32_t first = recording->commands.list.n;
	struct gpuplan_plan_params plan = { .size = sizeof(plan), .capacity = 1, .commands = commands, .n_commands = n };
	int r;

	/* Before the copy, which follows the pointers in them. */
	r = n ? gp_fragment_check(recording->model, &plan, error) : 0;
	if (r)
		return r;
	r = gp_commands_append(&recording->commands, commands, n, NULL);
	if (r)
		return gp_error(error, r, "out of memory for %u commands behind %u", n, first);
	return 0;
}

const struct gpuplan_command *
gpuplan_recording_commands(const struct gpuplan_recording *recording, uint32_t *n)
{
	*n = recording->commands.list.n;
	return recording->commands.list.data;
}

const struct gpuplan_parameter *
gpuplan_recording_parameters(const struct gpuplan_recording *recording, uint32_t *n)
{
	*n = recording->parameters.n;
	return recording->parameters.data;
}
