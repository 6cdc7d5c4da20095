/* SPDX-License-Identifier: MIT */
/* fragment.c: a command list checked once against a definition, to be recorded many times. */
#include "error.h"
#include "fragment.h"
#include "image.h"
#include "params.h"

int
gp_fragment_check(struct gp_model *model, const struct gpuplan_plan_params *params, struct gpuplan_error *error)
{
	struct gp_compile_options options = { 0 };
	struct gp_image *image;
	int r = gp_plan_compile(&model->declarations, params, &options, &image, error);

	if (!r)
		gp_image_destroy(image);
	return r;
}

static int
note_torn(void *arg, uint32_t command, enum gpuplan_access access, struct gpuplan_region *region)
{
	struct gpuplan_fragment *f = arg;

	(void)access;
	for (uint32_t i = 0; i < f->n_inputs + f->n_outputs; i++) {
		struct gp_port *port = &f->ports[i];

		if (port->torn || !gp_regions_overlap(region, &port->region) || gp_region_inside(region, &port->region))
			continue;
		port->torn = true;
		port->torn_by = command;
		port->torn_region = *region;
	}
	return 0;
}

static int
copy_ports(struct gpuplan_fragment *f, const struct gpuplan_io *io, uint32_t n, bool output)
{
	for (uint32_t i = 0; i < n; i++) {
		struct gp_port *port = &f->ports[output ? f->n_inputs + i : i];

		port->name = strdup(io[i].name ? io[i].name : "");
		if (!port->name)
			return -ENOMEM;
		port->output = output;
		port->region = io[i].region;
	}
	return 0;
}

static int
copy_parameters(struct gpuplan_fragment *f, const struct gpuplan_fragment_params *p)
{
	f->parameters = calloc((size_t)p->n_parameters + 1, sizeof(*f->parameters));
	if (!f->parameters)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_parameters; i++) {
		f->parameters[i] = p->parameters[i];
		f->parameters[i].name = strdup(p->parameters[i].name);
		if (!f->parameters[i].name)
			return -ENOMEM;
		f->n_parameters++;
	}
	return 0;
}

static int
fill(struct gpuplan_fragment *f, const struct gpuplan_fragment_params *p)
{
	int r;

	f->name = strdup(p->name ? p->name : "");
	f->ports = calloc((size_t)p->n_inputs + p->n_outputs + 1, sizeof(*f->ports));
	if (!f->name || !f->ports)
		return -ENOMEM;
	f->n_inputs = p->n_inputs;
	f->n_outputs = p->n_outputs;
	if ((r = copy_ports(f, p->inputs, p->n_inputs, false)) || (r = copy_ports(f, p->outputs, p->n_outputs, true)) ||
	    (r = copy_parameters(f, p)) || (r = gp_commands_append(&f->commands, p->commands, p->n_commands, NULL)))
		return r;
	return gp_commands_regions(&f->commands, 0, f->commands.list.n, note_torn, f);
}

int
gpuplan_fragment_create(struct gpuplan_definition *definition, const struct gpuplan_fragment_params *params,
			struct gpuplan_fragment **out, struct gpuplan_error *error)
{
	struct gpuplan_fragment_params p;
	struct gpuplan_plan_params plan = { .size = sizeof(plan), .capacity = 1 };
	struct gpuplan_fragment *f;
	int r = gp_params_copy(&p, sizeof(p), params, "fragment", error);

	if (r)
		return r;
	if (p.flags)
		return gp_error(error, -EINVAL, "fragment flags 0x%x are not known", p.flags);
	plan.commands = p.commands;
	plan.inputs = p.inputs;
	plan.outputs = p.outputs;
	plan.n_commands = p.n_commands;
	plan.n_inputs = p.n_inputs;
	plan.n_outputs = p.n_outputs;
	plan.parameters = p.parameters;
	plan.n_parameters = p.n_parameters;
	plan.name = p.name;
	r = gp_fragment_check(definition->model, &plan, error);
	if (r)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return gp_error(error, -ENOMEM, "out of memory for a fragment");
	gp_commands_init(&f->commands);
	f->model = gp_model_ref(definition->model);
	r = fill(f, &p);
	if (r) {
		gpuplan_fragment_destroy(f);
		return gp_error(error, r, "out of memory for a fragment of %u commands", p.n_commands);
	}
	*out = f;
	return 0;
}

void
gpuplan_fragment_destroy(struct gpuplan_fragment *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; f->ports && i < f->n_inputs + f->n_outputs; i++)
		free(f->ports[i].name);
	free(f->ports);
	for (uint32_t i = 0; i < f->n_parameters; i++)
		free((char *)(uintptr_t)f->parameters[i].name);
	free(f->parameters);
	free(f->name);
	gp_commands_finish(&f->commands);
	gp_model_unref(f->model);
	free(f);
}
