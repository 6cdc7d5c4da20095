/* SPDX-License-Identifier: MIT */
/* image_check.c: a plan image from anywhere, checked before anything in it is followed. Pure. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "image.h"

static const struct {
	const char *name;
	uint32_t element;
} sections[PLAN_SECTION_COUNT] = {
	[PLAN_SECTION_STRINGS] = { "strings", 1 },
	[PLAN_SECTION_ALLOCATIONS] = { "allocations", sizeof(struct plan_image_allocation) },
	[PLAN_SECTION_KERNELS] = { "kernels", sizeof(struct plan_image_kernel) },
	[PLAN_SECTION_ARGS] = { "arguments", sizeof(struct plan_image_arg) },
	[PLAN_SECTION_COMMANDS] = { "commands", sizeof(struct plan_image_command) },
	[PLAN_SECTION_ACCESSES] = { "accesses", sizeof(struct plan_image_access) },
	[PLAN_SECTION_BARRIERS] = { "barriers", sizeof(struct plan_image_barrier) },
	[PLAN_SECTION_IO] = { "inputs and outputs", sizeof(struct plan_image_io) },
	[PLAN_SECTION_STREAM] = { "stream", 4 },
	[PLAN_SECTION_RESET] = { "reset stream", 4 },
	[PLAN_SECTION_KERNARG] = { "kernel arguments", 1 },
	[PLAN_SECTION_RELOCATIONS] = { "relocations", sizeof(struct plan_image_relocation) },
	[PLAN_SECTION_PARAMETERS] = { "parameters", sizeof(struct plan_image_parameter) },
	[PLAN_SECTION_PATCHES] = { "patches", sizeof(struct plan_image_patch) },
	[PLAN_SECTION_SEGMENTS] = { "segments", sizeof(struct plan_image_segment) },
};

struct check {
	const struct gp_image *v;
	struct gpuplan_error *error;
	int result;
};

__attribute__((format(printf, 2, 3))) static void
bad(struct check *c, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (c->result)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->result = gp_error(c->error, -EINVAL, "plan image: %s", text);
}

/* [first, first + n) lies in a section of count elements. */
static void
in_section(struct check *c, const char *what, uint32_t i, uint64_t first, uint64_t n, enum plan_section section)
{
	if (first + n > gp_image_count(c->v, section))
		bad(c, "%s %" PRIu32 ": %s %" PRIu64 " + %" PRIu64 ", the image has %" PRIu32, what, i,
		    sections[section].name, first, n, gp_image_count(c->v, section));
}

static void
check_string(struct check *c, const char *what, uint32_t i, uint32_t string)
{
	in_section(c, what, i, string, 1, PLAN_SECTION_STRINGS);
}

static void
check_allocation(struct check *c, const char *what, uint32_t i, uint32_t allocation)
{
	if (allocation & PLAN_STAGING)
		in_section(c, what, i, allocation & ~PLAN_STAGING, 1, PLAN_SECTION_IO);
	else
		in_section(c, what, i, allocation, 1, PLAN_SECTION_ALLOCATIONS);
}

/* param: parameter + 1, 0: none */
static void
check_param(struct check *c, const char *what, uint32_t i, uint32_t param)
{
	if (param)
		in_section(c, what, i, param - 1, 1, PLAN_SECTION_PARAMETERS);
}

static void
check_commands(struct check *c)
{
	const struct gp_image *v = c->v;

	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_COMMANDS); i++) {
		const struct plan_image_command *k = &v->commands[i];

		check_string(c, "command", i, k->label);
		in_section(c, "command", i, k->first_access, k->n_accesses, PLAN_SECTION_ACCESSES);
		in_section(c, "command", i, k->stream, k->stream_dwords, PLAN_SECTION_STREAM);
		in_section(c, "command", i, k->kernarg, k->kernarg_bytes, PLAN_SECTION_KERNARG);
		check_param(c, "command", i, k->value_param);
		for (uint32_t axis = 0; axis < 3; axis++)
			check_param(c, "command", i, k->groups_param[axis]);
		if (k->grid_access > k->n_accesses)
			bad(c, "command %" PRIu32 " has its grid in access %" PRIu32 " of %" PRIu32, i, k->grid_access - 1,
			    k->n_accesses);
		if (k->kind == PLAN_COMMAND_DISPATCH)
			in_section(c, "command", i, k->kernel, 1, PLAN_SECTION_KERNELS);
		else if (k->kind < PLAN_COMMAND_FILL || k->kind > PLAN_COMMAND_STAGE_OUT)
			bad(c, "command %" PRIu32 " has unknown kind %" PRIu32, i, k->kind);
		else if (!k->n_accesses || (k->kind != PLAN_COMMAND_FILL && k->n_accesses < 2))
			bad(c, "command %" PRIu32 " has %" PRIu32 " accesses, too few for its kind", i, k->n_accesses);
	}
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_ACCESSES); i++)
		check_allocation(c, "access", i, v->accesses[i].allocation);
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_BARRIERS); i++) {
		const struct plan_image_barrier *b = &v->barriers[i];

		in_section(c, "barrier", i, b->before, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->producer, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->consumer, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->stream, b->stream_dwords, PLAN_SECTION_STREAM);
		check_allocation(c, "barrier", i, b->allocation);
		check_allocation(c, "barrier", i, b->producer_allocation);
	}
}

static void
check_relocations(struct check *c)
{
	static const enum plan_section of[] = {
		[PLAN_IN_STREAM] = PLAN_SECTION_STREAM,
		[PLAN_IN_RESET] = PLAN_SECTION_RESET,
		[PLAN_IN_KERNARG] = PLAN_SECTION_KERNARG,
	};
	const struct gp_image *v = c->v;

	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_RELOCATIONS); i++) {
		const struct plan_image_relocation *r = &v->relocations[i];

		if (r->where > PLAN_IN_KERNARG || r->kind > PLAN_RELOC_ADDR64 || r->memory > PLAN_MEMORY_CODE) {
			bad(c, "relocation %" PRIu32 " is of unknown kind", i);
			return;
		}
		in_section(c, "relocation", i, r->place, r->kind == PLAN_RELOC_ADDR64 ? 8 : 1, of[r->where]);
		if (r->memory == PLAN_MEMORY_WEIGHT || r->memory == PLAN_MEMORY_SHARED)
			in_section(c, "relocation", i, r->index, 1, PLAN_SECTION_ALLOCATIONS);
	}
}

static void
check_parameters(struct check *c)
{
	const struct gp_image *v = c->v;

	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_PARAMETERS); i++) {
		const struct plan_image_parameter *p = &v->parameters[i];

		check_string(c, "parameter", i, p->name);
		in_section(c, "parameter", i, p->first_patch, p->n_patches, PLAN_SECTION_PATCHES);
		if (p->bytes < 1 || p->bytes > 8)
			bad(c, "parameter %" PRIu32 " has %" PRIu32 " bytes, 1 to 8 are possible", i, p->bytes);
	}
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_PATCHES); i++) {
		const struct plan_image_patch *p = &v->patches[i];

		in_section(c, "patch", i, p->parameter, 1, PLAN_SECTION_PARAMETERS);
		if (p->where == PLAN_IN_STREAM && p->bytes == 4)
			in_section(c, "patch", i, p->place, 1, PLAN_SECTION_STREAM);
		else if (p->where == PLAN_IN_KERNARG && p->bytes >= 1 && p->bytes <= 8)
			in_section(c, "patch", i, p->place, p->bytes, PLAN_SECTION_KERNARG);
		else
			bad(c, "patch %" PRIu32 " of %" PRIu32 " bytes is of unknown kind", i, p->bytes);
	}
}

/* Together the segments are the stream, in its order. */
static void
check_segments(struct check *c)
{
	const struct gp_image *v = c->v;
	uint32_t next[] = { [PLAN_IN_STREAM] = 0, [PLAN_IN_RESET] = 0 };

	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_SEGMENTS); i++) {
		const struct plan_image_segment *s = &v->segments[i];

		if (s->where > PLAN_IN_RESET) {
			bad(c, "segment %" PRIu32 " is of unknown stream %" PRIu32, i, s->where);
			return;
		}
		in_section(c, "segment", i, s->first, s->dwords,
			   s->where == PLAN_IN_RESET ? PLAN_SECTION_RESET : PLAN_SECTION_STREAM);
		if (s->first != next[s->where])
			bad(c, "segment %" PRIu32 " starts at dword %" PRIu32 ", the one before it ends at %" PRIu32, i,
			    s->first, next[s->where]);
		next[s->where] = s->first + s->dwords;
	}
	if (next[PLAN_IN_STREAM] != gp_image_count(v, PLAN_SECTION_STREAM) ||
	    next[PLAN_IN_RESET] != gp_image_count(v, PLAN_SECTION_RESET))
		bad(c, "segments hold %" PRIu32 " and %" PRIu32 " dwords, the streams have %" PRIu32 " and %" PRIu32,
		    next[PLAN_IN_STREAM], next[PLAN_IN_RESET], gp_image_count(v, PLAN_SECTION_STREAM),
		    gp_image_count(v, PLAN_SECTION_RESET));
}

static void
check_tables(struct check *c)
{
	const struct gp_image *v = c->v;

	check_string(c, "header", 0, v->header->name);
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_ALLOCATIONS); i++)
		check_string(c, "allocation", i, v->allocations[i].name);
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_KERNELS); i++) {
		check_string(c, "kernel", i, v->kernels[i].name);
		in_section(c, "kernel", i, v->kernels[i].first_arg, v->kernels[i].n_args, PLAN_SECTION_ARGS);
		for (uint32_t k = 0; !c->result && k < v->kernels[i].n_args; k++) {
			const struct plan_image_arg *a = &v->args[v->kernels[i].first_arg + k];

			if ((uint64_t)a->offset + a->bytes > v->kernels[i].kernarg_bytes)
				bad(c, "kernel %" PRIu32 ": argument %" PRIu32 " ends at byte %" PRIu64 " of %" PRIu32, i, k,
				    (uint64_t)a->offset + a->bytes, v->kernels[i].kernarg_bytes);
		}
	}
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_ARGS); i++)
		check_string(c, "argument", i, v->args[i].name);
	for (uint32_t i = 0; i < gp_image_count(v, PLAN_SECTION_IO); i++) {
		check_string(c, "input or output", i, v->io[i].name);
		in_section(c, "input or output", i, v->io[i].allocation, 1, PLAN_SECTION_ALLOCATIONS);
		if (v->io[i].rank > 8)
			bad(c, "input or output %" PRIu32 " has rank %" PRIu32 ", at most 8", i, v->io[i].rank);
	}
}

static int
check_header(struct check *c, const void *bytes, size_t size)
{
	const struct plan_image_header *h = bytes;

	if ((uintptr_t)bytes % 8)
		return gp_error(c->error, -EINVAL, "plan image lies at address %p, it must be a multiple of 8", bytes);
	if (size < sizeof(h->magic) || memcmp(h->magic, PLAN_IMAGE_MAGIC, sizeof(h->magic)))
		return gp_error(c->error, -EINVAL, "no plan image: %zu bytes without its magic", size);
	if (size < sizeof(*h))
		return gp_error(c->error, -EINVAL, "plan image of %zu bytes is cut off, its header alone has %zu", size,
				sizeof(*h));
	if (h->version != PLAN_IMAGE_VERSION)
		return gp_error(c->error, -ENOTSUP, "plan image has version %" PRIu32 ", this library reads %u",
				h->version, PLAN_IMAGE_VERSION);
	if (h->bytes != size || !memchr(h->target, 0, sizeof(h->target)))
		return gp_error(c->error, -EINVAL, "plan image says %" PRIu32 " bytes, there are %zu", h->bytes, size);
	if (h->checksum != plan_image_checksum(bytes, size))
		return gp_error(c->error, -EINVAL,
				"plan image is damaged: its checksum says %016" PRIx64 ", its bytes make %016" PRIx64,
				h->checksum, plan_image_checksum(bytes, size));
	for (uint32_t i = 0; i < PLAN_SECTION_COUNT; i++) {
		uint64_t end = h->sections[i].offset + (uint64_t)h->sections[i].count * sections[i].element;

		if (h->sections[i].offset % 8 || end > size || h->sections[i].offset > size)
			return gp_error(c->error, -EINVAL,
					"plan image: %s at byte %" PRIu32 " end at byte %" PRIu64 ", the image has %zu",
					sections[i].name, h->sections[i].offset, end, size);
	}
	return 0;
}

int
gp_image_open(struct gp_image *image, const void *bytes, size_t size, struct gpuplan_error *error)
{
	struct check c = { .v = image, .error = error };
	uint32_t n;
	int r = check_header(&c, bytes, size);

	if (r)
		return r;
	gp_image_point(image, bytes, size);
	n = gp_image_count(image, PLAN_SECTION_STRINGS);
	if (!n || image->strings[n - 1])
		return gp_error(error, -EINVAL, "plan image: its strings have no end");
	check_tables(&c);
	check_commands(&c);
	check_relocations(&c);
	check_parameters(&c);
	check_segments(&c);
	return c.result;
}

int
gpuplan_image_check(const void *image, size_t bytes, struct gpuplan_error *error)
{
	struct gp_image view;

	return gp_image_open(&view, image, bytes, error);
}
