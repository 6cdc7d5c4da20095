/* SPDX-License-Identifier: MIT */
/* dump.h: the pieces of gpuplan-dump: image -> checked view -> text. */
#ifndef DUMP_H
#define DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan_image.h"

/* A checked image: every index and offset in it can be followed. */
struct view {
	const struct plan_image_header *h;
	const char *strings;
	const struct plan_image_allocation *allocations;
	const struct plan_image_kernel *kernels;
	const struct plan_image_arg *args;
	const struct plan_image_command *commands;
	const struct plan_image_access *accesses;
	const struct plan_image_barrier *barriers;
	const struct plan_image_io *io;
	const uint32_t *stream, *reset;
	const uint8_t *kernarg;
	const struct plan_image_relocation *relocations;
	const struct plan_image_parameter *parameters;
	const struct plan_image_patch *patches;
	const struct plan_image_segment *segments;
};

static inline uint32_t
view_count(const struct view *v, enum plan_section section)
{
	return v->h->sections[section].count;
}

/* Of bytes that gpuplan_image_check has accepted. */
void view_open(struct view *v, const void *bytes);

/* "spectrum[0..4128)" */
void view_region(const struct view *v, uint32_t allocation, uint64_t offset, uint64_t bytes, char *text, size_t size);
/* "slot host + 0x1200" */
void view_place(const struct view *v, uint32_t memory, uint32_t index, uint64_t offset, char *text, size_t size);

/* enum gpuplan_use, enum plan_command_kind, enum gpuplan_access ("reads"), enum plan_hazard as words */
const char *view_use(uint32_t use);
const char *view_command(uint32_t kind);
const char *view_access(uint32_t access);
const char *view_hazard(uint32_t hazard);

/* Name of parameter i. */
static inline const char *
view_parameter(const struct view *v, uint32_t i)
{
	return v->strings + v->parameters[i].name;
}

void dump_image(const struct view *v, unsigned slots);
/* Prints what only one of them has; returns how many lines. */
unsigned dump_diff(const struct view *a, const struct view *b);
void dump_stream(const struct view *v, const uint32_t *stream, uint32_t n, uint32_t where);

#endif
