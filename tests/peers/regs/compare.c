/* SPDX-License-Identifier: MIT */
/* compare MESA/src/amd: holds uapi/pm4*.h against Mesa's register database (registers/ *.json) and packet header
 * (common/sid.h). Prints for each generation how many names were compared and every difference; exit status 1 if any.
 * compare --list: what uapi/ says, one line each, for a comparison with other headers.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm4.h"
#include "pm4_regs.h"

struct number {
	const char *name;
	uint32_t number;
	uint32_t generations;
};

struct field {
	uint32_t generations;
	const char *of;
	uint32_t dword;
	const char *name;
	uint32_t hi, lo;
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define ALL_X(number, name) { #name, number, PM4_ALL },
#define GFX9_X(number, name) { #name, number, PM4_GFX9 },
#define GFX90A_X(number, name) { #name, number, PM4_GFX90A },
#define GFX942_X(number, name) { #name, number, PM4_GFX942 },
#define GFX10_X(number, name) { #name, number, PM4_GFX10 },
#define GFX11_X(number, name) { #name, number, PM4_GFX11 },
#define GFX12_X(number, name) { #name, number, PM4_GFX12 },

static const struct number regs[] = {
	COMPUTE_REGS_COMMON(ALL_X) COMPUTE_REGS_GFX9(GFX9_X) COMPUTE_REGS_GFX90A(GFX90A_X) COMPUTE_REGS_GFX942(GFX942_X)
	COMPUTE_REGS_GFX10(GFX10_X) COMPUTE_REGS_GFX11(GFX11_X) COMPUTE_REGS_GFX12(GFX12_X)
};
static const struct number uconfig[] = { UCONFIG_REGS(ALL_X) };
static const struct number opcodes[] = { PM4_OPCODES(ALL_X) };
static const struct number events[] = { PM4_EVENTS(ALL_X) };

#define FIELD_(generations, of, dword, name, ...) { generations, of, dword, name, __VA_ARGS__ },
#define REG_X(generations, reg, name, bits) FIELD_(generations, #reg, 0, #name, bits)
#define PACKET_X(generations, packet, dword, name, bits) FIELD_(generations, #packet, dword, #name, bits)
static const struct field reg_fields[] = { PM4_REG_FIELDS(REG_X) };
static const struct field packet_fields[] = { PM4_PACKET_FIELDS(PACKET_X) };

static const struct {
	const char *file;	/* without .json; chip name in pkt3.json */
	const char *shown;
	uint32_t generation;
} runs[] = {
	{ "gfx9", "gfx9", PM4_GFX9 },	   { "gfx9", "gfx90a", PM4_GFX90A }, { "gfx10", "gfx10", PM4_GFX10 },
	{ "gfx103", "gfx10.3", PM4_GFX10 }, { "gfx11", "gfx11", PM4_GFX11 },
};

/* What only one side has, and why that is no mistake. `ours`: Mesa 22.3.6 lacks it. */
static const struct {
	uint32_t generations;
	const char *name;
	bool ours;
	const char *why;
} known[] = {
	{ PM4_GFX90A, "COMPUTE_RESTART_", true, "CDNA only; compared with Linux gc_9_4_2_offset.h" },
	{ PM4_GFX90A, "COMPUTE_SHADER_CHKSUM", true, "moved on CDNA; compared with Linux gc_9_4_2_offset.h" },
	{ PM4_GFX90A, "COMPUTE_PGM_RSRC3", true, "CDNA only; compared with Linux gc_9_4_2_offset.h" },
	{ PM4_GFX9, "COMPUTE_STATIC_THREAD_MGMT_SE", false, "SE4 to SE7: on CDNA only" },
	{ PM4_GFX9, "COMPUTE_SHADER_CHKSUM", false, "the number of STATIC_THREAD_MGMT_SE4; nobody writes it" },
	{ PM4_GFX9 | PM4_CDNA | PM4_GFX10, "RELEASE_MEM:1.CACHE_POLICY", true, "PAL's packet headers have it" },
	{ PM4_ALL, "RELEASE_MEM:2.", true, "width: PAL's packet headers; sid.h has the shift" },
	{ PM4_ALL, "WAIT_REG_MEM:1.", true, "FUNCTION and OPERATION: PAL's packet headers" },
	{ PM4_ALL, "COND_EXEC:4.", true, "PAL's packet headers" },
	{ PM4_GFX11, "CP_COHER_START_DELAY", true, "gone from gfx11 on" },
	{ PM4_GFX10_11, "COMPUTE_PGM_RSRC1.DEBUG_MODE", true, "PAL's register headers have it" },
	{ PM4_GFX11, "ZPASS_DONE", true, "softgpu takes it on every generation" },
};

static unsigned compared, differences, excused;
static const char *running;
static uint32_t generation;

static void __attribute__((format(printf, 1, 2)))
differ(const char *format, ...)
{
	va_list args;

	printf("  %s: ", running);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	differences++;
}

static bool
excuse(const char *name, bool ours)
{
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].generations & generation && known[i].ours == ours &&
		    !strncmp(name, known[i].name, strlen(known[i].name))) {
			excused++;
			return true;
		}
	return false;
}

static void
missing(const char *name, bool ours)
{
	if (!excuse(name, ours))
		differ("%s is known to %s only", name, ours ? "uapi/" : "Mesa");
}

static json_t *
load(const char *folder, const char *name)
{
	char path[4096];
	json_error_t error;
	json_t *root;

	snprintf(path, sizeof(path), "%s/registers/%s.json", folder, name);
	root = json_load_file(path, 0, &error);
	if (!root) {
		fprintf(stderr, "compare: %s: %s\n", path, error.text);
		exit(2);
	}
	return root;
}

static bool
for_chip(json_t *mapping, const char *chip)
{
	json_t *chips = json_object_get(mapping, "chips"), *c;
	size_t i;

	if (!chips)
		return true;
	json_array_foreach(chips, i, c)
		if (!strcmp(json_string_value(c), chip))
			return true;
	return false;
}

static json_t *
find_mapping(json_t *db, const char *chip, const char *name)
{
	json_t *m;
	size_t i;

	json_array_foreach(json_object_get(db, "register_mappings"), i, m)
		if (for_chip(m, chip) && !strcmp(json_string_value(json_object_get(m, "name")), name))
			return m;
	return NULL;
}

static json_t *
fields_of(json_t *db, json_t *mapping)
{
	const char *type = json_string_value(json_object_get(mapping, "type_ref"));

	return type ? json_object_get(json_object_get(json_object_get(db, "register_types"), type), "fields") : NULL;
}

/* ---- fields ---- */

static void
compare_field(const struct field *f, const char *shown, json_t *fields)
{
	json_t *theirs;
	size_t i;

	json_array_foreach(fields, i, theirs) {
		json_t *bits = json_object_get(theirs, "bits");
		uint32_t lo = (uint32_t)json_integer_value(json_array_get(bits, 0));
		uint32_t hi = (uint32_t)json_integer_value(json_array_get(bits, 1));

		if (strcmp(json_string_value(json_object_get(theirs, "name")), f->name))
			continue;
		compared++;
		if (lo != f->lo || hi != f->hi)
			differ("%s.%s is [%u:%u] in uapi/, [%u:%u] in Mesa", shown, f->name, f->hi, f->lo, hi, lo);
		return;
	}
	char name[128];
	snprintf(name, sizeof(name), "%s.%s", shown, f->name);
	missing(name, true);
}

/* Both ways: ours are theirs, theirs are ours. */
static void
compare_fields(const struct field *table, size_t n, const char *of, uint32_t dword, const char *shown, json_t *fields)
{
	json_t *theirs;
	size_t i;

	for (const struct field *f = table; f < table + n; f++)
		if (f->generations & generation && f->dword == dword && !strcmp(f->of, of))
			compare_field(f, shown, fields);
	json_array_foreach(fields, i, theirs) {
		const char *name = json_string_value(json_object_get(theirs, "name"));
		bool found = !strncmp(name, "RESERVED", 8);
		char text[128];

		for (const struct field *f = table; f < table + n; f++)
			found |= f->generations & generation && f->dword == dword && !strcmp(f->of, of) &&
				 !strcmp(f->name, name);
		snprintf(text, sizeof(text), "%s.%s", shown, name);
		if (!found)
			missing(text, false);
	}
}

/* ---- registers ---- */

/* From gfx10 on Mesa has the first four CU masks by their other name, without fields. */
static const char *
mesa_name(const char *name)
{
	static char other[64];

	if (generation >= PM4_GFX10 && sscanf(name, "COMPUTE_STATIC_THREAD_MGMT_SE%1[0-3]", other) == 1) {
		char digit = other[0];

		snprintf(other, sizeof(other), "COMPUTE_DESTINATION_EN_SE%c", digit);
		return other;
	}
	return name;
}

static void
compare_register(json_t *db, json_t *manual, const char *chip, const struct number *r, uint32_t base)
{
	json_t *from = db, *m = find_mapping(db, chip, mesa_name(r->name)), *fields;
	uint32_t at;

	if (!m) {
		from = manual;
		m = find_mapping(manual, chip, r->name);
	}
	if (!m) {
		missing(r->name, true);
		return;
	}
	at = (uint32_t)json_integer_value(json_object_get(json_object_get(m, "map"), "at"));
	if (at != base + 4 * r->number && excuse(r->name, true))
		return;
	compared++;
	if (at != base + 4 * r->number)
		differ("%s is 0x%x in uapi/, 0x%x in Mesa", r->name, base + 4 * r->number, at);
	fields = fields_of(from, m);
	if (fields)
		compare_fields(reg_fields, COUNT(reg_fields), r->name, 0, r->name, fields);
}

static void
look_for_theirs(json_t *db, const char *chip)
{
	json_t *m;
	size_t i;

	json_array_foreach(json_object_get(db, "register_mappings"), i, m) {
		const char *name = json_string_value(json_object_get(m, "name"));
		bool found = false;

		if (!for_chip(m, chip) || strncmp(name, "COMPUTE_", 8))
			continue;
		for (size_t k = 0; k < COUNT(regs); k++)
			found |= regs[k].generations & generation && !strcmp(mesa_name(regs[k].name), name);
		if (!found)
			missing(name, false);
	}
}

static void
compare_registers(json_t *db, json_t *manual, const char *chip)
{
	for (size_t i = 0; i < COUNT(regs); i++)
		if (regs[i].generations & generation)
			compare_register(db, manual, chip, &regs[i], 4 * PM4_SH_BASE);
	for (size_t i = 0; i < COUNT(uconfig); i++)
		compare_register(db, manual, chip, &uconfig[i], 4 * PM4_UCONFIG_BASE);
	look_for_theirs(db, chip);
	look_for_theirs(manual, chip);
}

/* ---- packets ---- */

static const struct {
	const char *packet;
	uint32_t dword;
	uint32_t generations;
	const char *mesa;	/* in pkt3.json, or a register */
	bool is_reg;
} words[] = {
	{ "ACQUIRE_MEM", 1, PM4_GFX9_X, "CP_COHER_CNTL", true },
	{ "ACQUIRE_MEM", 7, PM4_GFX10_UP, "GCR_CNTL", false },
	{ "RELEASE_MEM", 1, PM4_GFX10_UP, "RELEASE_MEM_OP", false },
	{ "WRITE_DATA", 1, PM4_ALL, "CONTROL", false },
	{ "DMA_DATA", 1, PM4_ALL, "DMA_DATA_WORD0", false },
	{ "DMA_DATA", 6, PM4_ALL, "COMMAND", false },
	{ "INDIRECT_BUFFER", 3, PM4_ALL, "IB_CONTROL", false },
	{ "DISPATCH_DIRECT", 4, PM4_ALL, "COMPUTE_DISPATCH_INITIATOR", true },
	{ "DISPATCH_INDIRECT", 3, PM4_ALL, "COMPUTE_DISPATCH_INITIATOR", true },
};

static bool
in_json(const struct field *f)
{
	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i].generations & generation && words[i].dword == f->dword && !strcmp(words[i].packet, f->of))
			return true;
	return false;
}

static char *sid;

/* Text behind "#define NAME" in sid.h, NULL: it has none. */
static const char *
sid_define(const char *name)
{
	char line[128];
	const char *p;

	snprintf(line, sizeof(line), "\n#define %s", name);
	for (p = strstr(sid, line); p; p = strstr(p + 1, line))
		if (strchr(" (\t", p[strlen(line)]))
			return p + strlen(line);
	return NULL;
}

/* The forms of sid.h: (1 << 12), ((x) << 8), (((unsigned)(x)&0xf) << 8), ((x)&0xf). */
static void
compare_sid(const struct field *f, const char *define)
{
	const char *text = sid_define(define), *end, *shift, *mask;
	uint32_t width = f->hi - f->lo + 1, lo, bits;
	char shown[128];

	snprintf(shown, sizeof(shown), "%s:%u.%s", f->of, f->dword, f->name);
	if (!text) {
		missing(shown, true);
		return;
	}
	end = strchr(text, '\n');
	shift = strstr(text, "<< ");
	mask = strstr(text, "&0x");
	lo = shift && shift < end ? (uint32_t)atoi(shift + 3) : 0;
	bits = mask && mask < end ? (uint32_t)__builtin_popcountl(strtoul(mask + 1, NULL, 16)) : 0;
	if (!strncmp(text + strspn(text, " "), "(1 <<", 5))
		bits = 1;
	compared++;
	if (lo != f->lo || (bits && bits != width))
		differ("%s is [%u:%u] in uapi/, bit %u and %u bits in sid.h", shown, f->hi, f->lo, lo, bits);
}

static void
compare_sid_field(const struct field *f)
{
	char define[128];

	if (!strcmp(f->of, "RELEASE_MEM") && f->dword == 2)
		snprintf(define, sizeof(define), "EOP_%s", f->name);
	else if (!strncmp(f->name, "EVENT_", 6))
		snprintf(define, sizeof(define), "%s", f->name);
	else if (!strcmp(f->of, "RELEASE_MEM"))
		snprintf(define, sizeof(define), "EVENT_%s", f->name);
	else
		snprintf(define, sizeof(define), "%s_%s", f->of, f->name);
	compare_sid(f, define);
}

static void
compare_packets(json_t *packets, json_t *db, const char *chip)
{
	for (size_t i = 0; i < COUNT(words); i++) {
		json_t *from = words[i].is_reg ? db : packets;
		json_t *m = words[i].generations & generation ? find_mapping(from, chip, words[i].mesa) : NULL;
		char shown[64];

		if (!(words[i].generations & generation))
			continue;
		snprintf(shown, sizeof(shown), "%s:%u", words[i].packet, words[i].dword);
		if (m)
			compare_fields(packet_fields, COUNT(packet_fields), words[i].packet, words[i].dword, shown,
				       fields_of(from, m));
		else
			differ("Mesa has no %s", words[i].mesa);
	}
	for (size_t i = 0; i < COUNT(packet_fields); i++)
		if (packet_fields[i].generations & generation && !in_json(&packet_fields[i]))
			compare_sid_field(&packet_fields[i]);
}

static void
compare_events(json_t *db)
{
	json_t *entries = json_object_get(json_object_get(json_object_get(db, "enums"), "VGT_EVENT_TYPE"), "entries"), *e;
	size_t i;

	for (size_t k = 0; k < COUNT(events); k++) {
		bool found = false;

		json_array_foreach(entries, i, e) {
			if (strcmp(json_string_value(json_object_get(e, "name")), events[k].name))
				continue;
			found = true;
			compared++;
			if (json_integer_value(json_object_get(e, "value")) != events[k].number)
				differ("event %s is 0x%x in uapi/", events[k].name, events[k].number);
		}
		if (!found)
			missing(events[k].name, true);
	}
}

/* Opcodes are the same on all generations. Those that Mesa has no use for are listed. */
static void
compare_opcodes(void)
{
	unsigned before = compared;

	printf("opcodes that Mesa does not name:");
	for (size_t i = 0; i < COUNT(opcodes); i++) {
		bool is_ib = !strcmp(opcodes[i].name, "INDIRECT_BUFFER");
		char define[64];
		const char *text;

		snprintf(define, sizeof(define), "PKT3_%s%s", opcodes[i].name, is_ib ? "_CIK" : "");
		text = sid_define(define);
		if (!text) {
			printf(" %s", opcodes[i].name);
			continue;
		}
		compared++;
		if (strtoul(text, NULL, 16) != opcodes[i].number)
			differ("opcode %s is 0x%x in uapi/", opcodes[i].name, opcodes[i].number);
	}
	printf("\n%-8s %4u names compared\n", "opcodes", compared - before);
}

static void
read_sid(const char *folder)
{
	char path[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/common/sid.h", folder);
	f = fopen(path, "rb");
	sid = calloc(1, 1 << 20);
	n = f && sid ? fread(sid, 1, (1 << 20) - 1, f) : 0;
	if (!n) {
		fprintf(stderr, "compare: cannot read %s\n", path);
		exit(2);
	}
	fclose(f);
}

static int
list(void)
{
	for (size_t i = 0; i < COUNT(opcodes); i++)
		printf("opcode %s 0x%x\n", opcodes[i].name, opcodes[i].number);
	for (size_t i = 0; i < COUNT(regs); i++)
		printf("register %u %s 0x%x\n", regs[i].generations, regs[i].name, regs[i].number);
	for (size_t i = 0; i < COUNT(reg_fields); i++)
		printf("field %u %s %s %u %u\n", reg_fields[i].generations, reg_fields[i].of, reg_fields[i].name,
		       reg_fields[i].hi, reg_fields[i].lo);
	for (size_t i = 0; i < COUNT(packet_fields); i++)
		printf("packet %u %s %u %s %u %u\n", packet_fields[i].generations, packet_fields[i].of, packet_fields[i].dword,
		       packet_fields[i].name, packet_fields[i].hi, packet_fields[i].lo);
	return 0;
}

int
main(int argc, char **argv)
{
	json_t *manual, *packets;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "--list"))
		return list();
	read_sid(argv[1]);
	manual = load(argv[1], "registers-manually-defined");
	packets = load(argv[1], "pkt3");
	running = "opcodes";
	compare_opcodes();
	for (size_t i = 0; i < COUNT(runs); i++) {
		json_t *db = load(argv[1], runs[i].file);
		unsigned before = compared, not_compared = excused;

		running = runs[i].shown;
		generation = runs[i].generation;
		compare_registers(db, manual, runs[i].file);
		compare_packets(packets, db, runs[i].file);
		compare_events(db);
		printf("%-8s %4u names compared, %u on one side only for a known reason\n", running, compared - before,
		       excused - not_compared);
		json_decref(db);
	}
	json_decref(manual);
	json_decref(packets);
	free(sid);
	printf("%u names compared, %u differences\n%u passed, %u failed, 0 skipped\n", compared, differences,
	       compared > differences ? compared - differences : 0, differences);
	return differences != 0;
}
