/* SPDX-License-Identifier: MIT */
/* pm4_text.c: PM4 as text. All names come from uapi/pm4*.h. */
#include <inttypes.h>
#include <string.h>

#include "pm4_regs.h"
#include "pm4_text.h"

struct names {
	uint32_t number;
	const char *name;
};

#define NAME_X(number, name) { number, #name },
#define END { 0, NULL }
static const struct names opcodes[] = { PM4_OPCODES(NAME_X) END };
static const struct names events[] = { PM4_EVENTS(NAME_X) END };
static const struct names regs_uconfig[] = { UCONFIG_REGS(NAME_X) END };
static const struct names regs_common[] = { COMPUTE_REGS_COMMON(NAME_X) END };
static const struct names regs_gfx9[] = { COMPUTE_REGS_GFX9(NAME_X) END };
static const struct names regs_gfx90a[] = { COMPUTE_REGS_GFX90A(NAME_X) END };
static const struct names regs_gfx942[] = { COMPUTE_REGS_GFX942(NAME_X) END };
static const struct names regs_gfx10[] = { COMPUTE_REGS_GFX10(NAME_X) END };
static const struct names regs_gfx11[] = { COMPUTE_REGS_GFX11(NAME_X) END };
static const struct names regs_gfx12[] = { COMPUTE_REGS_GFX12(NAME_X) END };

/* The first whose name begins the target's. */
static const struct {
	const char *prefix;
	uint32_t generation;
	const struct names *regs;
} generations[] = {
	{ "gfx90a", PM4_GFX90A, regs_gfx90a }, { "gfx94", PM4_GFX942, regs_gfx942 }, { "gfx9", PM4_GFX9, regs_gfx9 },
	{ "gfx10", PM4_GFX10, regs_gfx10 },    { "gfx11", PM4_GFX11, regs_gfx11 },   { "gfx12", PM4_GFX12, regs_gfx12 },
};

#define N_GENERATIONS (sizeof(generations) / sizeof(generations[0]))

struct field {
	uint32_t generations;
	const char *of;		/* register or packet */
	uint32_t dword;		/* of a packet */
	const char *name;
	uint32_t hi, lo;
};

#define REG_X(generations, reg, name, bits) FIELD_(generations, #reg, 0, #name, bits)
#define PACKET_X(generations, packet, dword, name, bits) FIELD_(generations, #packet, dword, #name, bits)
#define FIELD_(generations, of, dword, name, ...) { generations, of, dword, name, __VA_ARGS__ },
static const struct field reg_fields[] = { PM4_REG_FIELDS(REG_X) { 0, NULL, 0, NULL, 0, 0 } };
static const struct field packet_fields[] = { PM4_PACKET_FIELDS(PACKET_X) { 0, NULL, 0, NULL, 0, 0 } };

static const char *
find(const struct names *table, uint32_t number)
{
	for (; table->name; table++)
		if (table->number == number)
			return table->name;
	return NULL;
}

uint32_t
pm4_generation(const char *target)
{
	for (size_t i = 0; i < N_GENERATIONS; i++)
		if (!strncmp(target, generations[i].prefix, strlen(generations[i].prefix)))
			return generations[i].generation;
	return 0;
}

const char *
pm4_reg_name(uint32_t generation, uint32_t offset)
{
	const char *name = find(regs_common, offset);

	for (size_t i = 0; !name && i < N_GENERATIONS; i++)
		if (generations[i].generation == generation)
			name = find(generations[i].regs, offset);
	return name ? name : "?";
}

/* " CHAIN IB_SIZE=64": fields that are not 0; of one bit by their name alone. */
static void
print_fields(const struct pm4_text *t, const struct field *f, const char *of, uint32_t dword, uint32_t dw)
{
	for (; f->of; f++) {
		uint32_t value = PM4_GET_(f->hi, f->lo, dw);

		if (!(f->generations & t->generation) || f->dword != dword || !value || strcmp(f->of, of))
			continue;
		fprintf(t->out, " %s", f->name);
		if (f->hi == f->lo)
			continue;
		if (!strcmp(f->name, "EVENT_TYPE") && find(events, value))
			fprintf(t->out, "=%s", find(events, value));
		else
			fprintf(t->out, value < 10 ? "=%" PRIu32 : "=0x%" PRIx32, value);
	}
}

/* Returns true for a plain number. */
static bool
print_value(const struct pm4_text *t, uint32_t place, uint32_t dw)
{
	char text[224];

	if (t->value && t->value(t, place, text, sizeof(text))) {
		fputs(text, t->out);
		return false;
	}
	fprintf(t->out, "%08" PRIx32, dw);
	return true;
}

static void
print_regs(const struct pm4_text *t, const uint32_t *dw, uint32_t at, uint32_t body, bool uconfig)
{
	uint32_t first = PM4_GET(PM4_SET_REG_OFFSET, dw[at + 1]);

	for (uint32_t i = 2; i <= body; i++) {
		uint32_t reg = first + i - 2;
		const char *name = uconfig ? find(regs_uconfig, reg) : pm4_reg_name(t->generation, reg);

		fprintf(t->out, "\n                  %-36s ", name ? name : "?");
		if (print_value(t, at + i, dw[at + i]) && name)
			print_fields(t, reg_fields, name, 0, dw[at + i]);
	}
}

static void
print_dims(const struct pm4_text *t, const uint32_t *dw, uint32_t at)
{
	char text[224];

	for (uint32_t i = 1; i <= 3; i++) {
		if (t->value && t->value(t, at + i, text, sizeof(text)))
			fprintf(t->out, "%s%s", i > 1 ? " x " : " ", text);
		else
			fprintf(t->out, "%s%" PRIu32, i > 1 ? " x " : " ", dw[at + i]);
	}
	fprintf(t->out, " workgroups, initiator");
}

static const char *
wave(const struct pm4_text *t, uint32_t initiator)
{
	return t->generation & PM4_GFX10_UP && PM4_GET(DISPATCH_INITIATOR_CS_W32_EN, initiator) ? "wave32" : "wave64";
}

static void
print_body(const struct pm4_text *t, const char *name, const uint32_t *dw, uint32_t at, uint32_t body)
{
	for (uint32_t i = 1; i <= body; i++) {
		fputc(' ', t->out);
		if (print_value(t, at + i, dw[at + i]) && name)
			print_fields(t, packet_fields, name, i, dw[at + i]);
	}
}

uint32_t
pm4_print(const struct pm4_text *t, const uint32_t *dw, uint32_t at, uint32_t n)
{
	uint32_t body = PM4_GET(PM4_HEADER_COUNT, dw[at]) + 1, op = PM4_GET(PM4_HEADER_OPCODE, dw[at]);
	const char *name = find(opcodes, op);

	if (PM4_GET(PM4_HEADER_TYPE, dw[at]) != PM4_TYPE3 || body > n - at - 1)
		return 0;
	fprintf(t->out, "  %6" PRIu32 " %08" PRIx32 "  %s", at, dw[at], name ? name : "unknown packet");
	if (op == PM4_OP_SET_SH_REG || op == PM4_OP_SET_UCONFIG_REG) {
		print_regs(t, dw, at, body, op == PM4_OP_SET_UCONFIG_REG);
	} else if (op == PM4_OP_DISPATCH_DIRECT && body == PM4_DISPATCH_DIRECT_DWORDS - 1) {
		print_dims(t, dw, at);
		fprintf(t->out, " %08" PRIx32 " %s", dw[at + body], wave(t, dw[at + body]));
		print_fields(t, packet_fields, name, body, dw[at + body]);
	} else {
		print_body(t, name, dw, at, body);
	}
	fputc('\n', t->out);
	return 1 + body;
}
