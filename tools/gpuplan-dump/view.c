/* SPDX-License-Identifier: MIT */
/* view.c: a plan image from anywhere, checked before anything in it is followed. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dump.h"

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
};

struct check {
	const struct view *v;
	char *why;
	size_t size;
	bool bad;
};

__attribute__((format(printf, 2, 3))) static void
bad(struct check *c, const char *format, ...)
{
	va_list ap;

	if (c->bad)
		return;
	c->bad = true;
	va_start(ap, format);
	vsnprintf(c->why, c->size, format, ap);
	va_end(ap);
}

/* [first, first + n) lies in a section of count elements. */
static void
in_section(struct check *c, const char *what, uint32_t i, uint64_t first, uint64_t n, enum plan_section section)
{
	if (first + n > view_count(c->v, section))
		bad(c, "%s %" PRIu32 ": %s %" PRIu64 " + %" PRIu64 ", the image has %" PRIu32, what, i,
		    sections[section].name, first, n, view_count(c->v, section));
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
	const struct view *v = c->v;

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_COMMANDS); i++) {
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
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ACCESSES); i++)
		check_allocation(c, "access", i, v->accesses[i].allocation);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_BARRIERS); i++) {
		const struct plan_image_barrier *b = &v->barriers[i];

		in_section(c, "barrier", i, b->before, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->producer, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->consumer, 1, PLAN_SECTION_COMMANDS);
		in_section(c, "barrier", i, b->stream, b->stream_dwords, PLAN_SECTION_STREAM);
		check_allocation(c, "barrier", i, b->allocation);
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
	const struct view *v = c->v;

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_RELOCATIONS); i++) {
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
	const struct view *v = c->v;

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PARAMETERS); i++) {
		const struct plan_image_parameter *p = &v->parameters[i];

		check_string(c, "parameter", i, p->name);
		in_section(c, "parameter", i, p->first_patch, p->n_patches, PLAN_SECTION_PATCHES);
		if (p->bytes < 1 || p->bytes > 8)
			bad(c, "parameter %" PRIu32 " has %" PRIu32 " bytes, 1 to 8 are possible", i, p->bytes);
	}
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PATCHES); i++) {
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

static void
check_tables(struct check *c)
{
	const struct view *v = c->v;

	check_string(c, "header", 0, v->h->name);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ALLOCATIONS); i++)
		check_string(c, "allocation", i, v->allocations[i].name);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_KERNELS); i++) {
		check_string(c, "kernel", i, v->kernels[i].name);
		in_section(c, "kernel", i, v->kernels[i].first_arg, v->kernels[i].n_args, PLAN_SECTION_ARGS);
	}
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ARGS); i++)
		check_string(c, "argument", i, v->args[i].name);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_IO); i++) {
		check_string(c, "input or output", i, v->io[i].name);
		in_section(c, "input or output", i, v->io[i].allocation, 1, PLAN_SECTION_ALLOCATIONS);
		if (v->io[i].rank > 8)
			bad(c, "input or output %" PRIu32 " has rank %" PRIu32 ", at most 8", i, v->io[i].rank);
	}
}

static bool
check_header(struct check *c, const void *bytes, size_t size)
{
	const struct plan_image_header *h = bytes;

	if (size < sizeof(*h) || memcmp(h->magic, PLAN_IMAGE_MAGIC, sizeof(h->magic))) {
		bad(c, "no plan image: %zu bytes without its magic", size);
		return false;
	}
	if (h->version != PLAN_IMAGE_VERSION) {
		bad(c, "plan image version %" PRIu32 ", this program reads %u", h->version, PLAN_IMAGE_VERSION);
		return false;
	}
	if (h->bytes != size || !memchr(h->target, 0, sizeof(h->target))) {
		bad(c, "plan image says %" PRIu32 " bytes, there are %zu", h->bytes, size);
		return false;
	}
	for (uint32_t i = 0; i < PLAN_SECTION_COUNT; i++) {
		uint64_t end = h->sections[i].offset + (uint64_t)h->sections[i].count * sections[i].element;

		if (h->sections[i].offset % 8 || end > size || h->sections[i].offset > size) {
			bad(c, "%s end at byte %" PRIu64 ", the image has %zu", sections[i].name, end, size);
			return false;
		}
	}
	return true;
}

bool
view_open(struct view *v, const void *bytes, size_t size, char *why, size_t why_bytes)
{
	struct check c = { .v = v, .why = why, .size = why_bytes };
	const uint8_t *b = bytes;
	const struct plan_image_section *s;

	if (!check_header(&c, bytes, size))
		return false;
	v->h = bytes;
	s = v->h->sections;
	v->strings = (const void *)(b + s[PLAN_SECTION_STRINGS].offset);
	v->allocations = (const void *)(b + s[PLAN_SECTION_ALLOCATIONS].offset);
	v->kernels = (const void *)(b + s[PLAN_SECTION_KERNELS].offset);
	v->args = (const void *)(b + s[PLAN_SECTION_ARGS].offset);
	v->commands = (const void *)(b + s[PLAN_SECTION_COMMANDS].offset);
	v->accesses = (const void *)(b + s[PLAN_SECTION_ACCESSES].offset);
	v->barriers = (const void *)(b + s[PLAN_SECTION_BARRIERS].offset);
	v->io = (const void *)(b + s[PLAN_SECTION_IO].offset);
	v->stream = (const void *)(b + s[PLAN_SECTION_STREAM].offset);
	v->reset = (const void *)(b + s[PLAN_SECTION_RESET].offset);
	v->kernarg = b + s[PLAN_SECTION_KERNARG].offset;
	v->relocations = (const void *)(b + s[PLAN_SECTION_RELOCATIONS].offset);
	v->parameters = (const void *)(b + s[PLAN_SECTION_PARAMETERS].offset);
	v->patches = (const void *)(b + s[PLAN_SECTION_PATCHES].offset);
	if (!s[PLAN_SECTION_STRINGS].count || v->strings[s[PLAN_SECTION_STRINGS].count - 1])
		bad(&c, "strings of the image have no end");
	check_tables(&c);
	check_commands(&c);
	check_relocations(&c);
	check_parameters(&c);
	return !c.bad;
}

void
view_region(const struct view *v, uint32_t allocation, uint64_t offset, uint64_t bytes, char *text, size_t size)
{
	const char *kind = "", *name;

	if (allocation & PLAN_STAGING) {
		kind = "staging of ";
		name = v->strings + v->io[allocation & ~PLAN_STAGING].name;
	} else {
		name = v->strings + v->allocations[allocation].name;
	}
	snprintf(text, size, "%s%s[%" PRIu64 "..%" PRIu64 ")", kind, name, offset, offset + bytes);
}

void
view_place(const struct view *v, uint32_t memory, uint32_t index, uint64_t offset, char *text, size_t size)
{
	switch (memory) {
	case PLAN_MEMORY_WEIGHT:
	case PLAN_MEMORY_SHARED:
		snprintf(text, size, "%s + 0x%" PRIx64, v->strings + v->allocations[index].name, offset);
		break;
	case PLAN_MEMORY_CODE:
		snprintf(text, size, "code %" PRIu32 " + 0x%" PRIx64, index, offset);
		break;
	case PLAN_MEMORY_DEVICE:
		snprintf(text, size, "slot device + 0x%" PRIx64, offset);
		break;
	case PLAN_MEMORY_HOST:
		snprintf(text, size, "slot host + 0x%" PRIx64, offset);
		break;
	default:
		snprintf(text, size, "nowhere");
		break;
	}
}
