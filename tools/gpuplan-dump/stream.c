/* SPDX-License-Identifier: MIT */
/* stream.c: a command stream with the plan's names in it. */
#include <inttypes.h>
#include <stdio.h>

#include "dump.h"
#include "pm4_text.h"

static const struct plan_image_relocation *
relocation_at(const struct view *v, uint32_t where, uint32_t place)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_RELOCATIONS); i++)
		if (v->relocations[i].where == where && v->relocations[i].place == place)
			return &v->relocations[i];
	return NULL;
}

/* Name of the parameter that sets a dword of the stream, NULL: none does. */
static const char *
parameter_at(const struct view *v, uint32_t where, uint32_t place)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PATCHES); i++)
		if (v->patches[i].where == where && v->patches[i].place == place)
			return view_parameter(v, v->patches[i].parameter);
	return NULL;
}

static bool
value_text(const struct pm4_text *t, uint32_t place, char *text, size_t size)
{
	static const char *const part[] = { "lo32", "hi32", "[39:8]", "[47:40]", "" };
	const struct view *v = t->arg;
	const struct plan_image_relocation *r = relocation_at(v, t->where, place);
	const char *parameter = parameter_at(v, t->where, place);
	char target[160];

	if (parameter) {
		snprintf(text, size, "(%s)", parameter);
		return true;
	}
	if (!r)
		return false;
	view_place(v, r->memory, r->index, r->addend, target, sizeof(target));
	snprintf(text, size, "%s of (%s)", part[r->kind], target);
	return true;
}

/* What stands in front of dword `at`: a barrier or a command. */
static void
print_heading(const struct view *v, uint32_t at)
{
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_BARRIERS); i++)
		if (v->barriers[i].stream == at && v->barriers[i].stream_dwords)
			printf("         -- barrier %" PRIu32 "\n", i + 1);
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_COMMANDS); i++)
		if (v->commands[i].stream == at)
			printf("         -- command %" PRIu32 " %s\n", i, v->strings + v->commands[i].label);
}

void
dump_stream(const struct view *v, const uint32_t *stream, uint32_t n, uint32_t where)
{
	const struct pm4_text text = { .out = stdout, .generation = pm4_generation(v->h->target), .value = value_text,
				       .arg = v, .where = where };
	uint32_t at = 0, pad = 0;

	while (at < n) {
		uint32_t dwords;

		if (stream[at] == PM4_NOP_ONE_DWORD) {
			pad++;
			at++;
			continue;
		}
		if (where == PLAN_IN_STREAM)
			print_heading(v, at);
		dwords = pm4_print(&text, stream, at, n);
		if (!dwords) {
			printf("  %6" PRIu32 " %08" PRIx32 "  not a packet, or cut short\n", at, stream[at]);
			return;
		}
		at += dwords;
	}
	if (pad)
		printf("         %" PRIu32 " dwords of padding\n", pad);
}
