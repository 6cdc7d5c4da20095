/* SPDX-License-Identifier: MIT */
/* diff.c: what two images differ in, by meaning.
 *
 * Each part is written as lines that say what is meant and leave out what merely follows from the rest: numbers of
 * commands, places in memory and streams, relocations. One command more then shows as one line (and the barriers that
 * come with it), not as a shift of everything behind it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "gpuplan.h"
#include "lines.h"

#define ARG_BY_VALUE 1u		/* kinds of struct plan_image_arg */

static void
head(const struct view *v, FILE *f)
{
	fprintf(f, "target %s\n", v->h->target);
	fprintf(f, "name \"%s\"\n", v->strings + v->h->name);
	fprintf(f, "flags 0x%" PRIx32 "\n", v->h->flags);
	fprintf(f, "code hash %016" PRIx64 "\n", v->h->code_hash);
}

static void
allocations(const struct view *v, FILE *f)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ALLOCATIONS); i++) {
		const struct plan_image_allocation *a = &v->allocations[i];

		fprintf(f, "%s \"%s\" of %" PRIu64 " bytes%s, %" PRIu64 " referenced\n", view_use(a->use),
			v->strings + a->name, a->bytes, a->placement == GPUPLAN_HOST ? ", host" : "", a->extent);
	}
}

static void
ios(const struct view *v, FILE *f)
{
	char region[256];

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_IO); i++) {
		const struct plan_image_io *io = &v->io[i];

		view_region(v, io->allocation, io->offset, io->bytes, region, sizeof(region));
		fprintf(f, "%s \"%s\" of type %" PRIu32 " [", io->output ? "output" : "input", v->strings + io->name,
			io->dtype);
		for (uint32_t d = 0; d < io->rank; d++)
			fprintf(f, "%s%" PRIu64, d ? ", " : "", io->shape[d]);
		fprintf(f, "] in %s%s\n", region, io->staged ? ", staged" : "");
	}
}

static void
kernels(const struct view *v, FILE *f)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_KERNELS); i++) {
		const struct plan_image_kernel *k = &v->kernels[i];

		fprintf(f, "%s: code %" PRIu32 " + 0x%" PRIx64 ", wave%" PRIu32 ", LDS %" PRIu32 ", private %" PRIu32
			   ", rsrc %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n",
			v->strings + k->name, k->code, k->entry, k->wave_size, k->lds_bytes, k->private_bytes, k->rsrc1,
			k->rsrc2, k->rsrc3);
	}
}

static void
parameters(const struct view *v, FILE *f)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PARAMETERS); i++) {
		const struct plan_image_parameter *p = &v->parameters[i];

		fprintf(f, "\"%s\" of %" PRIu32 " bytes, %" PRIu64 " to %" PRIu64 ", at first %" PRIu64 "\n",
			view_parameter(v, i), p->bytes, p->min, p->max, p->initial);
	}
}

/* The value of an argument, or the parameter that sets it. */
static void
argument(const struct view *v, const struct plan_image_command *c, const struct plan_image_arg *a, FILE *f)
{
	uint64_t first = (uint64_t)c->kernarg + a->offset;

	fprintf(f, " %s=", v->strings + a->name);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PATCHES); i++) {
		const struct plan_image_patch *p = &v->patches[i];

		if (p->where == PLAN_IN_KERNARG && p->place >= first && p->place < first + a->bytes) {
			fprintf(f, "(%s)", view_parameter(v, p->parameter));
			return;
		}
	}
	if (a->offset > c->kernarg_bytes || a->bytes > c->kernarg_bytes - a->offset) {
		fprintf(f, "?");
		return;
	}
	fprintf(f, "0x");
	for (uint32_t i = a->bytes; i-- > 0;)
		fprintf(f, "%02x", v->kernarg[first + i]);
}

static void
dispatch(const struct view *v, const struct plan_image_command *c, FILE *f)
{
	const struct plan_image_kernel *k = &v->kernels[c->kernel];

	fprintf(f, " %s grid", v->strings + k->name);
	for (uint32_t i = 0; i < 3; i++)
		if (c->groups_param[i])
			fprintf(f, "%c(%s)", i ? 'x' : ' ', view_parameter(v, c->groups_param[i] - 1));
		else
			fprintf(f, "%c%" PRIu32, i ? 'x' : ' ', c->groups[i]);
	fprintf(f, "%s of %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", LDS %" PRIu32 ",", c->grid_access ? " at most" : "",
		c->block[0], c->block[1], c->block[2], c->lds_bytes);
	for (uint32_t i = 0; i < k->n_args; i++)
		if (v->args[k->first_arg + i].kind == ARG_BY_VALUE)
			argument(v, c, &v->args[k->first_arg + i], f);
}

static void
command(const struct view *v, const struct plan_image_command *c, FILE *f)
{
	char region[256];

	fprintf(f, "%s \"%s\"", view_command(c->kind), v->strings + c->label);
	if (c->kind == PLAN_COMMAND_DISPATCH)
		dispatch(v, c, f);
	else if (c->kind == PLAN_COMMAND_FILL && c->value_param)
		fprintf(f, " with (%s)", view_parameter(v, c->value_param - 1));
	else if (c->kind == PLAN_COMMAND_FILL)
		fprintf(f, " with 0x%08" PRIx32, c->value);
	for (uint32_t i = 0; i < c->n_accesses; i++) {
		const struct plan_image_access *a = &v->accesses[c->first_access + i];

		view_region(v, a->allocation, a->offset, a->bytes, region, sizeof(region));
		fprintf(f, ", %s %s%s", view_access(a->access), region, i + 1 == c->grid_access ? " for its grid" : "");
	}
	fputc('\n', f);
}

static void
commands(const struct view *v, FILE *f)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_COMMANDS); i++)
		command(v, &v->commands[i], f);
}

static void
barriers(const struct view *v, FILE *f)
{
	char region[256];

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_BARRIERS); i++) {
		const struct plan_image_barrier *b = &v->barriers[i];
		const struct plan_image_command *from = &v->commands[b->producer], *to = &v->commands[b->consumer];

		view_region(v, b->allocation, b->offset, b->bytes, region, sizeof(region));
		fprintf(f, "before %s \"%s\", because of %s \"%s\": %s of %s (operations 0x%" PRIx32 ")\n",
			view_command(to->kind), v->strings + to->label, view_command(from->kind),
			v->strings + from->label, view_hazard(b->hazard), region, b->ops);
	}
}

/* What all of it comes to. */
static void
sums(const struct view *v, FILE *f)
{
	const struct plan_image_header *h = v->h;

	fprintf(f, "%" PRIu32 " commands\n", view_count(v, PLAN_SECTION_COMMANDS));
	fprintf(f, "%" PRIu32 " barriers\n", view_count(v, PLAN_SECTION_BARRIERS));
	fprintf(f, "%" PRIu32 " stream dwords\n", view_count(v, PLAN_SECTION_STREAM));
	fprintf(f, "%" PRIu32 " argument bytes\n", view_count(v, PLAN_SECTION_KERNARG));
	fprintf(f, "%" PRIu64 " bytes of device memory per slot\n", h->device_bytes);
	fprintf(f, "%" PRIu64 " bytes of mapped memory per slot\n", h->host_bytes);
}

unsigned
dump_diff(const struct view *a, const struct view *b)
{
	static const struct {
		const char *title;
		void (*write)(const struct view *v, FILE *f);
	} parts[] = {
		{ "plan", head },	  { "allocations", allocations }, { "inputs and outputs", ios },
		{ "kernels", kernels },	  { "parameters", parameters },	  { "commands", commands },
		{ "barriers", barriers }, { "sums", sums },
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct view *views[2] = { a, b };
		struct lines lines[2];

		for (int k = 0; k < 2; k++) {
			FILE *f = lines_start(&lines[k]);

			parts[i].write(views[k], f);
			lines_end(&lines[k], f);
		}
		n += lines_diff(&lines[0], &lines[1], parts[i].title);
		lines_free(&lines[0]);
		lines_free(&lines[1]);
	}
	return n;
}
