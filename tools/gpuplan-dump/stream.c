/* SPDX-License-Identifier: MIT */
/* stream.c: a command stream with the plan's names in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/tool.h"
#include "dump.h"
#include "pm4_text.h"

/* What fills each dword of the stream being printed: number of the relocation + 1, or PATCH | patch; 0: nothing. */
static uint32_t *filled_by;
#define PATCH 0x80000000u

static void
index_stream(const struct view *v, uint32_t where, uint32_t n)
{
	filled_by = calloc((size_t)n + 1, sizeof(*filled_by));
	if (!filled_by)
		tool_die("no memory to print a stream of %" PRIu32 " dwords", n);
	for (uint32_t i = view_count(v, PLAN_SECTION_RELOCATIONS); i-- > 0;)
		if (v->relocations[i].where == where)
			filled_by[v->relocations[i].place] = i + 1;
	for (uint32_t i = view_count(v, PLAN_SECTION_PATCHES); i-- > 0;)
		if (v->patches[i].where == where)
			filled_by[v->patches[i].place] = PATCH | i;
}

static bool
value_text(const struct pm4_text *t, uint32_t place, char *text, size_t size)
{
	static const char *const part[] = { "lo32", "hi32", "[39:8]", "[47:40]", "" };
	const struct view *v = t->arg;
	const struct plan_image_relocation *r;
	uint32_t by = filled_by[place];
	char target[160];

	if (!by)
		return false;
	if (by & PATCH) {
		snprintf(text, size, "(%s)", view_parameter(v, v->patches[by & ~PATCH].parameter));
		return true;
	}
	r = &v->relocations[by - 1];
	view_place(v, r->memory, r->index, r->addend, target, sizeof(target));
	snprintf(text, size, "%s of (%s)", part[r->kind], target);
	return true;
}

/* What comes next in a stream, in the order of the image. */
struct cursor {
	uint32_t segment, barrier, command;
};

/* What stands in front of dword `at`: a segment of several, a barrier, a command. */
static void
print_heading(const struct view *v, uint32_t where, uint32_t at, struct cursor *c)
{
	uint32_t n = view_count(v, PLAN_SECTION_SEGMENTS);
	uint32_t dwords = view_count(v, where == PLAN_IN_RESET ? PLAN_SECTION_RESET : PLAN_SECTION_STREAM);

	while (c->segment < n && v->segments[c->segment].where != where)
		c->segment++;
	for (; c->segment < n && v->segments[c->segment].where == where && v->segments[c->segment].first <= at; c->segment++)
		if (v->segments[c->segment].dwords < dwords)
			printf("         == segment of %" PRIu32 " dwords\n", v->segments[c->segment].dwords);
	if (where != PLAN_IN_STREAM)
		return;
	for (; c->barrier < view_count(v, PLAN_SECTION_BARRIERS) && v->barriers[c->barrier].stream <= at; c->barrier++)
		if (v->barriers[c->barrier].stream_dwords)
			printf("         -- barrier %" PRIu32 "\n", c->barrier + 1);
	for (; c->command < view_count(v, PLAN_SECTION_COMMANDS) && v->commands[c->command].stream <= at; c->command++)
		printf("         -- command %" PRIu32 " %s\n", c->command,
		       v->strings + v->commands[c->command].label);
}

static void
print_padding(uint32_t *pad)
{
	if (*pad)
		printf("         %" PRIu32 " dwords of padding\n", *pad);
	*pad = 0;
}

static void
print_packets(const struct view *v, const uint32_t *stream, uint32_t n, uint32_t where)
{
	const struct pm4_text text = { .out = stdout, .generation = pm4_generation(v->h->target), .value = value_text,
				       .arg = v, .where = where };
	struct cursor cursor = { 0 };
	uint32_t pad = 0;

	for (uint32_t at = 0; at < n;) {
		uint32_t dwords;

		if (stream[at] == PM4_NOP_ONE_DWORD) {
			pad++;
			at++;
			continue;
		}
		print_padding(&pad);
		print_heading(v, where, at, &cursor);
		dwords = pm4_print(&text, stream, at, n);
		if (!dwords) {
			printf("  %6" PRIu32 " %08" PRIx32 "  not a packet, or cut short\n", at, stream[at]);
			return;
		}
		at += dwords;
	}
	print_padding(&pad);
}

void
dump_stream(const struct view *v, const uint32_t *stream, uint32_t n, uint32_t where)
{
	index_stream(v, where, n);
	print_packets(v, stream, n, where);
	free(filled_by);
	filled_by = NULL;
}
