/* SPDX-License-Identifier: MIT */
/* image_load.c: a plan image from anywhere -> the same image, made here.
 *
 * Nothing of a loaded image reaches the GPU because the file says so: its records are turned back into commands and
 * declarations of this definition, compiled with all checks, and the result is held against the file byte by byte. Only
 * the argument template (values, and which of the declared memory each address points at) is taken over, checked.
 */
#include <inttypes.h>
#include <stdio.h>

#include "compile.h"
#include "error.h"

/* The caller's side of a compilation, rebuilt. */
struct source {
	const struct gp_image *image;
	const struct gp_declarations *d;
	struct gpuplan_error *error;
	struct gpuplan_plan_params params;
	struct gpuplan_command *commands;
	const struct plan_image_command **records; /* of each */
	struct gpuplan_binding *bindings; /* one per access record */
	struct gpuplan_region *grids;	/* likewise */
	struct gpuplan_io *io;		/* inputs, then outputs */
	struct gpuplan_parameter *parameters;
	uint32_t *kernels;		/* declared number of each kernel record */
};

static int
check_target(const struct source *s)
{
	const struct plan_image_header *h = s->image->header;

	if (strcmp(h->target, s->d->target->name))
		return gp_error(s->error, -ENOTSUP, "plan image is for %s, the definition lives on %s", h->target,
				s->d->target->name);
	return 0;
}

static int
check_allocations(const struct source *s)
{
	uint32_t n = gp_image_count(s->image, PLAN_SECTION_ALLOCATIONS);

	if (n != s->d->n_allocations)
		return gp_error(s->error, -ESTALE, "plan image was made for %" PRIu32 " allocations, the definition has %" PRIu32,
				n, s->d->n_allocations);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_allocation *in = &s->image->allocations[i];
		const struct gp_allocation *here = &s->d->allocations[i];

		if (in->bytes != here->bytes || in->use != here->use || in->placement != here->placement ||
		    strcmp(s->image->strings + in->name, here->name))
			return gp_error(s->error, -ESTALE,
					"plan image was made for allocation %" PRIu32 " \"%.40s\" of %" PRIu64 " bytes (use %" PRIu32
					", placement %" PRIu32 "), the definition's is \"%.40s\" of %" PRIu64
					" bytes (use %d, placement %d)",
					i, s->image->strings + in->name, in->bytes, in->use, in->placement, here->name,
					here->bytes, (int)here->use, (int)here->placement);
	}
	return 0;
}

static const struct gp_kernel_info *
kernel_info(const struct gp_declarations *d, uint32_t i)
{
	return &d->codes[d->kernels[i].code].object->kernels[d->kernels[i].kernel];
}

static bool
taken(const uint32_t *list, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* A kernel looked up twice is two records: each takes a declaration of its own. */
static int
find_kernel(struct source *s, uint32_t i)
{
	const struct plan_image_kernel *k = &s->image->kernels[i];
	const char *name = s->image->strings + k->name;

	for (uint32_t j = 0; j < s->d->n_kernels; j++)
		if (s->d->kernels[j].code == k->code && !strcmp(kernel_info(s->d, j)->name, name) &&
		    !taken(s->kernels, i, j)) {
			s->kernels[i] = j;
			return 0;
		}
	return gp_error(s->error, -ENOENT,
			"plan image uses kernel \"%.64s\" of code object %" PRIu32 ", none of the %" PRIu32
			" kernels the definition looked up is that",
			name, k->code, s->d->n_kernels);
}

static int
check_code(struct source *s)
{
	uint64_t here;
	int r;

	for (uint32_t i = 0; i < gp_image_count(s->image, PLAN_SECTION_KERNELS); i++)
		if ((r = find_kernel(s, i)))
			return r;
	here = gp_code_hash(s->d, s->image->kernels, gp_image_count(s->image, PLAN_SECTION_KERNELS));
	if (here != s->image->header->code_hash)
		return gp_error(s->error, -ESTALE,
				"plan image was made for code with hash %016" PRIx64 ", the definition's has %016" PRIx64,
				s->image->header->code_hash, here);
	return 0;
}

static bool
inside(uint64_t offset, uint64_t bytes, uint64_t limit)
{
	return offset <= limit && bytes <= limit - offset;
}

/* Addresses in arguments point into the slot's memory, a weight or loaded code, or nowhere outside of the plan. */
static int
check_address(const struct source *s, const struct plan_image_relocation *r, uint32_t i)
{
	const struct plan_image_header *h = s->image->header;
	bool good = r->kind == PLAN_RELOC_ADDR64;

	switch (r->memory) {
	case PLAN_MEMORY_WEIGHT:
		good = good && s->d->allocations[r->index].use == GPUPLAN_WEIGHT &&
		       inside(r->addend, 1, s->d->allocations[r->index].bytes);
		break;
	case PLAN_MEMORY_CODE:
		good = good && r->index < s->d->n_codes &&
		       inside(r->addend, 1, s->d->codes[r->index].object->image_bytes);
		break;
	case PLAN_MEMORY_DEVICE:
		good = good && inside(r->addend, 1, h->device_bytes);
		break;
	case PLAN_MEMORY_HOST:
		good = good && inside(r->addend, 1, h->host_bytes);
		break;
	default:
		good = false;
	}
	if (good)
		return 0;
	return gp_error(s->error, -EINVAL,
			"plan image: relocation %" PRIu32 " puts an address outside of the plan into the arguments (memory %" PRIu32
			", number %" PRIu32 ", offset %" PRIu64 ")",
			i, r->memory, r->index, r->addend);
}

static int
check_arguments(const struct source *s)
{
	uint32_t n = gp_image_count(s->image, PLAN_SECTION_KERNARG), block = s->image->header->queue_block;
	int r;

	for (uint32_t i = 0; i < gp_image_count(s->image, PLAN_SECTION_RELOCATIONS); i++)
		if (s->image->relocations[i].where == PLAN_IN_KERNARG &&
		    (r = check_address(s, &s->image->relocations[i], i)))
			return r;
	if (block != UINT32_MAX && !inside(block, GP_QUEUE_BLOCK_BYTES, n))
		return gp_error(s->error, -EINVAL,
				"plan image: queue block of %u bytes at byte %" PRIu32 " of %" PRIu32 " argument bytes",
				GP_QUEUE_BLOCK_BYTES, block, n);
	return 0;
}

/* ---- records back to what the caller gave ---- */

static struct gpuplan_region
region_of(const struct source *s, const struct plan_image_access *a)
{
	return (struct gpuplan_region){ s->d->session, a->allocation, 0, a->offset, a->bytes };
}

static void
rebuild_dispatch(const struct source *s, const struct plan_image_command *in, struct gpuplan_dispatch *d)
{
	d->kernel = (struct gpuplan_kernel){ s->d->session, s->kernels[in->kernel], 0 };
	for (uint32_t i = 0; i < 3; i++) {
		d->groups_param[i] = in->groups_param[i];
		d->groups[i] = in->groups_param[i] ? 0 : in->groups[i];
		d->block[i] = in->block[i];
	}
	d->bindings = &s->bindings[in->first_access];
	d->n_bindings = in->n_accesses;
	for (uint32_t i = 0; i < in->n_accesses; i++) {
		const struct plan_image_access *a = &s->image->accesses[in->first_access + i];

		s->bindings[in->first_access + i] =
			(struct gpuplan_binding){ .region = region_of(s, a), .access = (enum gpuplan_access)a->access };
	}
	/* The grid's place is the last access. */
	if (!in->grid_access)
		return;
	s->grids[in->first_access] = region_of(s, &s->image->accesses[in->first_access + in->n_accesses - 1]);
	d->groups_from = &s->grids[in->first_access];
	d->n_bindings--;
}

static void
rebuild_command(const struct source *s, const struct plan_image_command *in, struct gpuplan_command *out)
{
	const struct plan_image_access *accesses = &s->image->accesses[in->first_access];

	out->label = in->label ? s->image->strings + in->label : NULL;
	switch (in->kind) {
	case PLAN_COMMAND_FILL:
		out->kind = GPUPLAN_FILL;
		out->u.fill.dst = region_of(s, &accesses[0]);
		out->u.fill.value = in->value_param ? 0 : in->value;
		out->u.fill.value_param = in->value_param;
		break;
	case PLAN_COMMAND_COPY:
		out->kind = GPUPLAN_COPY;
		out->u.copy.dst = region_of(s, &accesses[0]);
		out->u.copy.src = region_of(s, &accesses[1]);
		break;
	default:
		out->kind = GPUPLAN_DISPATCH;
		rebuild_dispatch(s, in, &out->u.dispatch);
		break;
	}
}

/* In the caller's order; staging is the compiler's own. */
static int
rebuild_commands(struct source *s)
{
	uint32_t n = gp_image_count(s->image, PLAN_SECTION_COMMANDS), own = 0;

	for (uint32_t i = 0; i < n; i++)
		own += s->image->commands[i].source != PLAN_NO_SOURCE;
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_command *in = &s->image->commands[i];
		bool staging = in->kind == PLAN_COMMAND_STAGE_IN || in->kind == PLAN_COMMAND_STAGE_OUT;

		if (staging != (in->source == PLAN_NO_SOURCE) || (!staging && (in->source >= own || s->records[in->source])))
			return gp_error(s->error, -EINVAL,
					"plan image: command %" PRIu32 " of kind %" PRIu32 " was number %" PRIu32 " of %" PRIu32, i,
					in->kind, in->source, own);
		if (in->kind == PLAN_COMMAND_DISPATCH && in->grid_access && in->grid_access != in->n_accesses)
			return gp_error(s->error, -EINVAL,
					"plan image: command %" PRIu32 " has its grid in access %" PRIu32 " of %" PRIu32, i,
					in->grid_access, in->n_accesses);
		if (staging)
			continue;
		s->records[in->source] = in;
		rebuild_command(s, in, &s->commands[in->source]);
	}
	s->params.commands = s->commands;
	s->params.n_commands = own;
	return 0;
}

static int
rebuild_io(struct source *s)
{
	uint32_t n = gp_image_count(s->image, PLAN_SECTION_IO);

	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_io *in = &s->image->io[i];
		struct gpuplan_io *out = &s->io[i];

		if (in->output > 1 || (!in->output && s->params.n_outputs))
			return gp_error(s->error, -EINVAL,
					"plan image: input or output %" PRIu32 " says output %" PRIu32 " behind %" PRIu32 " outputs",
					i, in->output, s->params.n_outputs);
		out->region = (struct gpuplan_region){ s->d->session, in->allocation, 0, in->offset, in->bytes };
		out->dtype = (enum gpuplan_dtype)in->dtype;
		out->rank = in->rank;
		memcpy(out->shape, in->shape, sizeof(out->shape));
		out->name = s->image->strings + in->name;
		if (in->output)
			s->params.n_outputs++;
		else
			s->params.n_inputs++;
	}
	s->params.inputs = s->io;
	s->params.outputs = s->io + s->params.n_inputs;
	return 0;
}

static void
rebuild_parameters(struct source *s)
{
	s->params.n_parameters = gp_image_count(s->image, PLAN_SECTION_PARAMETERS);
	s->params.parameters = s->parameters;
	for (uint32_t i = 0; i < s->params.n_parameters; i++) {
		const struct plan_image_parameter *in = &s->image->parameters[i];

		s->parameters[i] = (struct gpuplan_parameter){
			.name = s->image->strings + in->name,
			.bytes = in->bytes,
			.initial = in->initial,
			.min = in->min,
			.max = in->max,
		};
	}
}

static int
rebuild(struct source *s)
{
	const struct plan_image_header *h = s->image->header;
	int r;

	s->params.size = sizeof(s->params);
	s->params.flags = h->flags;
	s->params.ib_dwords = h->ib_dwords;
	s->params.omit_barrier = h->omit_barrier;
	s->params.name = s->image->strings + h->name;
	rebuild_parameters(s);
	if ((r = rebuild_io(s)))
		return r;
	return rebuild_commands(s);
}

/* ---- the two against each other ---- */

static int
compare(const struct source *s, const struct gp_image *made)
{
	const struct gp_image *given = s->image;
	size_t at = 0;

	while (at < given->size && at < made->size && given->bytes[at] == made->bytes[at])
		at++;
	if (at == given->size && at == made->size)
		return 0;
	return gp_error(s->error, -EINVAL,
			"plan image is not what its commands compile to here: %zu bytes, %zu are made, the first difference is at "
			"byte %zu",
			given->size, made->size, at);
}

static int
source_alloc(struct source *s)
{
	const struct gp_image *image = s->image;
	size_t commands = gp_image_count(image, PLAN_SECTION_COMMANDS), accesses = gp_image_count(image, PLAN_SECTION_ACCESSES);

	s->commands = calloc(commands + 1, sizeof(*s->commands));
	s->records = calloc(commands + 1, sizeof(*s->records));
	s->bindings = calloc(accesses + 1, sizeof(*s->bindings));
	s->grids = calloc(accesses + 1, sizeof(*s->grids));
	s->io = calloc((size_t)gp_image_count(image, PLAN_SECTION_IO) + 1, sizeof(*s->io));
	s->parameters = calloc((size_t)gp_image_count(image, PLAN_SECTION_PARAMETERS) + 1, sizeof(*s->parameters));
	s->kernels = calloc((size_t)gp_image_count(image, PLAN_SECTION_KERNELS) + 1, sizeof(*s->kernels));
	if (s->commands && s->records && s->bindings && s->grids && s->io && s->parameters && s->kernels)
		return 0;
	return gp_error(s->error, -ENOMEM, "out of memory for a plan image of %zu bytes", image->size);
}

static void
source_finish(struct source *s)
{
	free(s->commands);
	free(s->records);
	free(s->bindings);
	free(s->grids);
	free(s->io);
	free(s->parameters);
	free(s->kernels);
}

static int
load(struct source *s, uint32_t capacity, struct gp_image **out)
{
	struct gp_compile_options options = { .arguments = s->image };
	struct gp_image *made;
	int r;

	if ((r = check_target(s)) || (r = check_allocations(s)) || (r = check_code(s)) || (r = check_arguments(s)) ||
	    (r = rebuild(s)))
		return r;
	s->params.capacity = capacity;
	options.records = s->records;
	r = gp_plan_compile(s->d, &s->params, &options, &made, s->error);
	if (r)
		return r;
	r = compare(s, made);
	if (r)
		gp_image_destroy(made);
	else
		*out = made;
	return r;
}

int
gp_image_load(const struct gp_declarations *declarations, const void *bytes, size_t size, uint32_t capacity,
	      struct gp_image **out, struct gpuplan_error *error)
{
	struct gp_image image;
	struct source s = { .image = &image, .d = declarations, .error = error };
	int r = gp_image_open(&image, bytes, size, error);

	if (r)
		return r;
	r = source_alloc(&s);
	if (!r)
		r = load(&s, capacity, out);
	source_finish(&s);
	return r;
}
