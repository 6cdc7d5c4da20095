/* SPDX-License-Identifier: MIT */
/* view.c: the parts of a plan image that gpuplan_image_check has accepted. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"

void
view_open(struct view *v, const void *bytes)
{
	const uint8_t *b = bytes;
	const struct plan_image_section *s;

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
	v->segments = (const void *)(b + s[PLAN_SECTION_SEGMENTS].offset);
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

#define TEXT(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "?")

const char *
view_use(uint32_t use)
{
	static const char *const text[] = { "?", "weight", "scratch", "state" };

	return TEXT(text, use);
}

const char *
view_command(uint32_t kind)
{
	static const char *const text[] = { "?", "fill", "copy", "dispatch", "stage in", "stage out" };

	return TEXT(text, kind);
}

const char *
view_access(uint32_t access)
{
	static const char *const text[] = { "?", "reads", "writes", "updates" };

	return TEXT(text, access & ~PLAN_ACCESS_CP);
}

const char *
view_hazard(uint32_t hazard)
{
	static const char *const text[] = { "?", "read after write", "write after read", "write after write" };

	return TEXT(text, hazard);
}
