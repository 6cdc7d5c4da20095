/* SPDX-License-Identifier: MIT */
/* make_image TARGET CODE IMAGE: compiles one small plan for TARGET with the kernels of tests/golden/plan.S and writes
 * its image. The plan has one of everything that a stream can hold. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan.h"

static void
must(int r, const struct gpuplan_error *error)
{
	if (!r)
		return;
	fprintf(stderr, "make_image: %s\n", error->message);
	exit(1);
}

static void *
read_code(const char *path, size_t *bytes)
{
	static char code[1 << 20];
	FILE *f = fopen(path, "rb");

	*bytes = f ? fread(code, 1, sizeof(code), f) : 0;
	if (!f || !*bytes) {
		fprintf(stderr, "make_image: cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	return code;
}

static struct gpuplan_region
alloc(struct gpuplan_session *session, enum gpuplan_use use, enum gpuplan_placement placement, uint64_t bytes,
      const char *name)
{
	struct gpuplan_alloc_params params = { sizeof(params), use, placement, 0, bytes, name };
	struct gpuplan_error error;
	struct gpuplan_region region;

	must(gpuplan_session_alloc(session, &params, &region, &error), &error);
	return region;
}

struct model {
	struct gpuplan_kernel plain, hungry;
	struct gpuplan_region in, a, b, grid, kept, out;
};

static struct gpuplan_command
dispatch(const char *label, struct gpuplan_kernel kernel, const struct gpuplan_binding *bindings)
{
	static struct gpuplan_arg args[3];
	struct gpuplan_command c = { .kind = GPUPLAN_DISPATCH, .label = label };

	args[0] = gpuplan_arg_binding(0);
	args[1] = gpuplan_arg_binding(1);
	args[2] = gpuplan_arg_u32(7);
	c.u.dispatch = (struct gpuplan_dispatch){
		.kernel = kernel,
		.groups = { 4, 1, 1 },
		.block = { 64, 1, 1 },
		.n_bindings = 2,
		.bindings = bindings,
		.n_args = 3,
		.args = args,
	};
	return c;
}

static void
make_plan(struct gpuplan_definition *definition, const struct model *m, struct gpuplan_plan **plan)
{
	struct gpuplan_binding in_a[] = { { m->in, GPUPLAN_READ, 0 }, { m->a, GPUPLAN_WRITE, 0 } };
	struct gpuplan_binding a_b[] = { { m->a, GPUPLAN_READ, 0 }, { m->b, GPUPLAN_WRITE, 0 } };
	struct gpuplan_binding b_kept[] = { { m->b, GPUPLAN_READ, 0 }, { m->kept, GPUPLAN_READ | GPUPLAN_WRITE, 0 } };
	struct gpuplan_command commands[] = {
		{ .kind = GPUPLAN_FILL, .label = "clear", .u.fill = { .dst = m->b, .value = 0x3f800000 } },
		dispatch("first", m->plain, in_a),
		dispatch("again", m->plain, in_a),
		dispatch("change", m->hungry, a_b),
		dispatch("indirect", m->plain, b_kept),
		{ .kind = GPUPLAN_COPY, .label = "result", .u.copy = { .dst = m->out, .src = m->b } },
	};
	struct gpuplan_io in = { .region = m->in, .dtype = GPUPLAN_F32, .rank = 1, .shape = { 64 }, .name = "in" };
	struct gpuplan_io grid = { .region = m->grid, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 3 }, .name = "grid" };
	struct gpuplan_io out = { .region = m->out, .dtype = GPUPLAN_F32, .rank = 1, .shape = { 64 }, .name = "out" };
	struct gpuplan_io inputs[] = { in, grid };
	struct gpuplan_plan_params params = {
		.size = sizeof(params),
		.capacity = 1,
		.commands = commands,
		.n_commands = sizeof(commands) / sizeof(commands[0]),
		.inputs = inputs,
		.n_inputs = 2,
		.outputs = &out,
		.n_outputs = 1,
		.name = "golden",
	};
	struct gpuplan_error error;

	commands[2].u.dispatch.groups[1] = 2;
	commands[3].u.dispatch.block[1] = 2;
	commands[4].u.dispatch.groups_from = &m->grid;
	must(gpuplan_plan_create(definition, &params, plan, &error), &error);
}

int
main(int argc, char **argv)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_definition *definition;
	struct gpuplan_context *context;
	struct gpuplan_session *session;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	const void *code, *image;
	struct model m;
	uint32_t number;
	size_t bytes;
	FILE *f;
	int r;

	if (argc != 4)
		return 2;
	params.offline_target = argv[1];
	must(gpuplan_context_create(&params, &context, &error), &error);
	must(gpuplan_session_create(context, &session, &error), &error);
	code = read_code(argv[2], &bytes);
	r = gpuplan_session_load(session, code, bytes, "plan", &number, &error);
	must(r, &error);
	must(gpuplan_session_kernel(session, number, "plain", &m.plain, &error), &error);
	must(gpuplan_session_kernel(session, number, "hungry", &m.hungry, &error), &error);
	m.in = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 256, "in");
	m.a = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 256, "a");
	m.b = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 256, "b");
	m.grid = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 12, "grid");
	m.kept = alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, 256, "kept");
	m.out = alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 256, "out");
	must(gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000, &definition, &error), &error);
	make_plan(definition, &m, &plan);
	image = gpuplan_plan_image(plan, &bytes);
	f = fopen(argv[3], "wb");
	r = !f || fwrite(image, 1, bytes, f) != bytes || fclose(f);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	return r;
}
