/* SPDX-License-Identifier: MIT */
/* stream.c: a command stream as packets and registers by name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "pm4.h"
#include "pm4_regs.h"

struct names {
	uint32_t number;
	const char *name;
};

#define NAME_X(number, name) { number, #name },
static const struct names opcodes[] = { PM4_OPCODES(NAME_X) { 0, NULL } };
static const struct names regs_common[] = { COMPUTE_REGS_COMMON(NAME_X) { 0, NULL } };
static const struct names regs_gfx10[] = { COMPUTE_REGS_GFX10(NAME_X) { 0, NULL } };
static const struct names regs_gfx11[] = { COMPUTE_REGS_GFX11(NAME_X) { 0, NULL } };

static const char *
find(const struct names *table, uint32_t number)
{
	for (; table->name; table++)
		if (table->number == number)
			return table->name;
	return NULL;
}

static const char *
reg_name(const struct view *v, uint32_t reg)
{
	const char *name = find(regs_common, reg);

	if (!name && !strncmp(v->h->target, "gfx11", 5))
		name = find(regs_gfx11, reg);
	if (!name && !strncmp(v->h->target, "gfx10", 5))
		name = find(regs_gfx10, reg);
	return name ? name : "?";
}

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

static void
value_text(const struct view *v, uint32_t where, uint32_t place, uint32_t dw, char *text, size_t size)
{
	static const char *const part[] = { "lo32", "hi32", "[39:8]", "[47:40]", "" };
	const struct plan_image_relocation *r = relocation_at(v, where, place);
	const char *parameter = parameter_at(v, where, place);
	char target[160];

	if (parameter) {
		snprintf(text, size, "(%s)", parameter);
		return;
	}
	if (!r) {
		snprintf(text, size, "%08" PRIx32, dw);
		return;
	}
	view_place(v, r->memory, r->index, r->addend, target, sizeof(target));
	snprintf(text, size, "%s of (%s)", part[r->kind], target);
}

static void
print_set_sh(const struct view *v, uint32_t where, const uint32_t *dw, uint32_t at, uint32_t body)
{
	uint32_t reg = PM4_GET(PM4_SET_REG_OFFSET, dw[at + 1]);
	char text[224];

	for (uint32_t i = 1; i < body; i++) {
		value_text(v, where, at + 1 + i, dw[at + 1 + i], text, sizeof(text));
		printf("                  %-36s %s\n", reg_name(v, reg + i - 1), text);
	}
}

static void
print_gcr(uint32_t gcr)
{
	static const struct {
		uint32_t mask;
		const char *name;
	} bits[] = { { 0x3, "GLI_INV" },  { 0x10, "GLM_WB" },    { 0x20, "GLM_INV" },  { 0x40, "GLK_WB" },  { 0x80, "GLK_INV" },
		     { 0x100, "GLV_INV" }, { 0x200, "GL1_INV" }, { 0x4000, "GL2_INV" }, { 0x8000, "GL2_WB" } };

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (gcr & bits[i].mask)
			printf(" %s", bits[i].name);
}

static void
print_body(const struct view *v, uint32_t where, const uint32_t *dw, uint32_t at, uint32_t body)
{
	char text[224];

	for (uint32_t i = 1; i <= body; i++) {
		value_text(v, where, at + i, dw[at + i], text, sizeof(text));
		printf(" %s", text);
	}
}

static void
print_dispatch(const struct view *v, uint32_t where, const uint32_t *dw, uint32_t at)
{
	for (uint32_t i = 1; i <= 3; i++) {
		const char *parameter = parameter_at(v, where, at + i);

		if (parameter)
			printf("%s(%s)", i > 1 ? " x " : " ", parameter);
		else
			printf("%s%" PRIu32, i > 1 ? " x " : " ", dw[at + i]);
	}
	printf(" workgroups, initiator %08" PRIx32 "%s", dw[at + 4],
	       PM4_GET(DISPATCH_INITIATOR_CS_W32_EN, dw[at + 4]) ? " wave32" : " wave64");
}

static void
print_packet(const struct view *v, uint32_t where, const uint32_t *dw, uint32_t at, uint32_t body)
{
	uint32_t op = PM4_GET(PM4_HEADER_OPCODE, dw[at]);
	const char *name = find(opcodes, op);

	printf("  %6" PRIu32 " %08" PRIx32 "  %s", at, dw[at], name ? name : "unknown packet");
	switch (op) {
	case PM4_OP_SET_SH_REG:
		putchar('\n');
		if (body)
			print_set_sh(v, where, dw, at, body);
		return;
	case PM4_OP_DISPATCH_DIRECT:
		if (body == 4)
			print_dispatch(v, where, dw, at);
		break;
	case PM4_OP_EVENT_WRITE:
		printf(" %s", (dw[at + 1] & 0x3f) == PM4_EVENT_CS_PARTIAL_FLUSH ? "CS_PARTIAL_FLUSH" : "");
		print_body(v, where, dw, at, body);
		break;
	case PM4_OP_ACQUIRE_MEM:
		if (body == 7)
			print_gcr(dw[at + 7]);
		break;
	default:
		print_body(v, where, dw, at, body);
		break;
	}
	putchar('\n');
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
	uint32_t at = 0, pad = 0;

	while (at < n) {
		uint32_t body = PM4_GET(PM4_HEADER_COUNT, stream[at]) + 1;

		if (stream[at] == PM4_NOP_ONE_DWORD) {
			pad++;
			at++;
			continue;
		}
		if (where == PLAN_IN_STREAM)
			print_heading(v, at);
		if (PM4_GET(PM4_HEADER_TYPE, stream[at]) != PM4_TYPE3 || body > n - at - 1) {
			printf("  %6" PRIu32 " %08" PRIx32 "  not a packet, or cut short\n", at, stream[at]);
			return;
		}
		print_packet(v, where, stream, at, body);
		at += 1 + body;
	}
	if (pad)
		printf("         %" PRIu32 " dwords of padding\n", pad);
}
