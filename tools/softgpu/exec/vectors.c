/* SPDX-License-Identifier: MIT */
/* vectors.c: reading vectors, and the tolerances their description grants. */
#include "vectors.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *
hex_bytes(const char *text, unsigned *bytes)
{
	size_t n = strlen(text) / 2;
	uint8_t *out = calloc(1, n + 16);
	for (size_t i = 0; out && i < n; i++) {
		unsigned byte = 0;
		sscanf(text + 2 * i, "%2x", &byte);
		out[i] = (uint8_t)byte;
	}
	*bytes = (unsigned)n;
	return out;
}

static uint64_t
hex_member(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));
	return text ? strtoull(text, NULL, 16) : 0;
}

static void
parse_lanes(struct registers *r, unsigned reg, const char *text)
{
	unsigned lanes = (unsigned)(strlen(text) / 8);
	char word[9] = "";
	if (reg > 255 || !(r->v[reg] = calloc(lanes ? lanes : 1, 4)))
		return;
	for (unsigned i = 0; i < lanes; i++) {
		memcpy(word, text + 8 * i, 8);
		r->v[reg][i] = (uint32_t)strtoul(word, NULL, 16);
	}
	if (lanes > r->lanes)
		r->lanes = lanes;
}

static void
parse_registers(struct registers *r, json_t *o)
{
	const char *key;
	json_t *value;
	json_object_foreach(json_object_get(o, "v"), key, value)
		parse_lanes(r, (unsigned)atoi(key), json_string_value(value));
	json_object_foreach(json_object_get(o, "s"), key, value) {
		unsigned n = (unsigned)atoi(key);
		if (n < 106) {
			r->s[n] = (uint32_t)strtoul(json_string_value(value), NULL, 16);
			r->has_s[n] = true;
		}
	}
	r->vcc = hex_member(o, "vcc");
	r->exec = hex_member(o, "exec");
	r->m0 = (uint32_t)hex_member(o, "m0");
	r->scc = (uint32_t)json_integer_value(json_object_get(o, "scc"));
}

static enum vector_kind
kind_of(const char *name)
{
	static const struct { const char *part; enum vector_kind kind; } kinds[] = {
		{ "PK2_F16", KIND_PK16 }, { "AB_F16", KIND_PK16 }, { "DC_F16", KIND_PK16 }, { "BF16", KIND_BF16 },
		{ "F16", KIND_F16 }, { "F32", KIND_F32 }, { "F64", KIND_F64 },
	};
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strstr(name, kinds[i].part))
			return kinds[i].kind;
	return KIND_BITS;
}

static unsigned
register_number(json_t *format)
{
	const char *name = json_string_value(json_array_get(format, 0));
	return name && name[0] == 'v' ? (unsigned)atoi(name[1] == '[' ? name + 2 : name + 1) : 0;
}

static void
parse_formats(struct vector *v, json_t *formats)
{
	static const char *const sources[] = { "src0", "src1", "src2", "vsrc0", "vsrc1" };
	json_t *dst = json_object_get(formats, "vdst");
	if (dst) {
		v->dst = register_number(dst);
		v->dst_count = (unsigned)json_integer_value(json_array_get(dst, 1));
		v->kind = kind_of(json_string_value(json_array_get(dst, 2)));
	}
	for (unsigned i = 0; i < 5 && v->nan_source_count < 3; i++) {
		json_t *s = json_object_get(formats, sources[i]);
		if (s)
			v->nan_sources[v->nan_source_count++] = register_number(s);
	}
}

/* A register that is not compared. */
static void
ignore(struct vector *v, const char *name)
{
	unsigned number;
	char kind;

	if (!name)
		return;
	if (!strncmp(name, "vcc", 3))
		v->ignored_vcc = true;
	else if (!strncmp(name, "exec", 4))
		v->ignored_exec = true;
	else if (!strcmp(name, "scc"))
		v->ignored_scc = true;
	else if (sscanf(name, "%c%u", &kind, &number) == 2 && kind == 's' && number < 106)
		v->ignored_s[number] = true;
	else if (sscanf(name, "%c%u", &kind, &number) == 2 && kind == 'v' && number < 256)
		v->ignored_v[number] = true;
}

static void
parse_exceptions(struct vector *v, json_t *o)
{
	size_t i;
	json_t *item;
	json_array_foreach(json_object_get(o, "skip"), i, item)
		v->skip_lanes |= (uint64_t)1 << (json_integer_value(item) & 63);
	json_array_foreach(json_object_get(o, "nocheck"), i, item) {
		ignore(v, json_string_value(item));
	}
	json_array_foreach(json_object_get(o, "checked"), i, item) {
		unsigned reg, lane = 0;
		const char *name = json_string_value(item);
		if (name && sscanf(name, "v%u:%u", &reg, &lane) >= 1 && reg < 16 && lane < 64)
			v->checked[reg] |= (uint64_t)1 << lane;
	}
	v->nan_disputed = json_is_true(json_object_get(o, "nan_lanes_disputed")) ||
			  json_integer_value(json_object_get(o, "nan_lanes_disputed"));
	v->low_half_only = json_is_true(json_object_get(o, "dst16_low_only")) ||
			   json_integer_value(json_object_get(o, "dst16_low_only"));
	v->approx = json_integer_value(json_object_get(o, "approx"));
	v->ulp = (unsigned)json_integer_value(json_object_get(o, "ulp"));
	const char *target = json_string_value(json_object_get(o, "min_target"));
	v->skip = target && strcmp(target, "gfx1103") > 0;
}

static void
parse_memory(struct vector *v, json_t *o)
{
	json_t *mem = json_object_get(o, "mem");
	v->scratch = json_integer_value(json_object_get(o, "scratch"));
	if (!json_is_object(mem))
		return;
	const char *space = json_string_value(json_object_get(mem, "space"));
	const char *final = json_string_value(json_object_get(mem, "final"));
	const char *init = json_string_value(json_object_get(mem, "init"));
	v->mem_space = !strcmp(space, "lds") ? MEM_LDS : MEM_GLOBAL;
	v->mem_init = hex_bytes(init, &v->mem_bytes);
	v->mem_final = hex_bytes(!strcmp(final, "=") ? init : final, &v->mem_bytes);
	v->base_sgpr = (unsigned)json_integer_value(json_object_get(mem, "base_sgpr"));
	if (v->base_sgpr > 104 || v->mem_bytes > 0x8000)
		v->skip = true;
}

static void
describe(struct vector *v, json_t *o)
{
	json_t *asm_text = json_object_get(o, "asm");
	char *text = json_dumps(asm_text ? asm_text : json_null(), JSON_ENCODE_ANY);
	const char *id = json_string_value(json_object_get(o, "id"));
	static const char *const loose[] = { "v_exp", "v_log", "v_sin", "v_cos", "v_rcp", "v_rsq", "v_sqrt" };

	snprintf(v->id, sizeof v->id, "%s", id ? id : "");
	snprintf(v->note, sizeof v->note, "%s", text ? text : "");
	for (unsigned i = 0; text && i < sizeof loose / sizeof *loose; i++)
		v->loose |= strstr(text, loose[i]) != NULL;
	v->scalar = text && !strncmp(text, "\"s_", 3);
	v->angle = text && (strstr(text, "v_sin") || strstr(text, "v_cos"));
	v->wmma = text && strstr(text, "wmma");
	free(text);
}

struct vector_refs {
	json_t *by_id;
};

struct vector_refs *
vector_refs_open(const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[4096], *line = NULL;
	size_t room = 0;

	snprintf(name, sizeof name, "%.*sgen_rdna3.jsonl", slash ? (int)(slash - path + 1) : 0, path);
	FILE *in = strstr(path, "gen_rdna2") ? fopen(name, "r") : NULL;
	struct vector_refs *refs = in ? calloc(1, sizeof *refs) : NULL;
	if (refs)
		refs->by_id = json_object();
	while (refs && getline(&line, &room, in) > 0) {
		json_t *o = json_loads(line, 0, NULL);
		const char *id = json_string_value(json_object_get(o, "id"));
		if (id)
			json_object_set(refs->by_id, id, o);
		json_decref(o);
	}
	free(line);
	if (in)
		fclose(in);
	return refs;
}

void
vector_refs_close(struct vector_refs *refs)
{
	if (refs)
		json_decref(refs->by_id);
	free(refs);
}

/* What the line itself says wins. */
static json_t *
resolve(json_t *o, const struct vector_refs *refs)
{
	const char *ref = json_string_value(json_object_get(o, "ref"));
	json_t *base = ref && refs ? json_object_get(refs->by_id, ref) : NULL;
	if (!base)
		return o;
	json_t *merged = json_copy(base);
	json_object_update(merged, o);
	json_decref(o);
	return merged;
}

struct vector *
vector_parse(const char *line, const struct vector_refs *refs)
{
	json_t *o = resolve(json_loads(line, 0, NULL), refs);
	struct vector *v = calloc(1, sizeof *v);
	if (!json_is_object(o) || !v) {
		json_decref(o);
		free(v);
		return NULL;
	}
	const char *arch = json_string_value(json_object_get(o, "arch"));
	json_t *init = json_object_get(o, "init");
	const char *kernel = json_string_value(json_object_get(o, "kernel"));
	const char *code = kernel ? kernel : json_string_value(json_object_get(o, "code"));

	describe(v, o);
	v->arch = arch && !strncmp(arch, "gfx10", 5) ? SG_ARCH_RDNA2 : SG_ARCH_RDNA3;
	v->wave = json_integer_value(json_object_get(o, "wave")) == 64 ? 64 : 32;
	v->lanes = (unsigned)json_integer_value(json_object_get(o, "lanes"));
	v->lanes = v->lanes ? v->lanes : v->wave;
	v->kernel = kernel != NULL;
	v->has_init = init != NULL;
	v->code = hex_bytes(code ? code : "", &v->code_bytes);
	v->out = hex_bytes(json_is_string(json_object_get(o, "out")) ? json_string_value(json_object_get(o, "out")) : "",
			   &v->out_bytes);
	parse_registers(&v->init, init);
	parse_registers(&v->final, json_object_get(o, "final"));
	parse_formats(v, json_object_get(o, "fmt"));
	parse_memory(v, o);
	parse_exceptions(v, o);
	v->check_all_f32 = !v->has_init;
	if (v->code_bytes > 0xff00 || v->lanes > 64 || (arch && strncmp(arch, "gfx11", 5) && strncmp(arch, "gfx10", 5)))
		v->skip = true;
	json_decref(o);
	return v;
}

void
vector_free(struct vector *v)
{
	if (!v)
		return;
	for (unsigned i = 0; i < 256; i++) {
		free(v->init.v[i]);
		free(v->final.v[i]);
	}
	free(v->code);
	free(v->out);
	free(v->mem_init);
	free(v->mem_final);
	free(v);
}

/* Tolerances */

static float
as_f32(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static bool
is_nan32(uint32_t v)
{
	return (v & 0x7fffffff) > 0x7f800000;
}

static bool
is_zero32(uint32_t v)
{
	return !(v & 0x7fffffff);
}

static bool
is_denormal32(uint32_t v)
{
	return !(v & 0x7f800000) && (v & 0x007fffff);
}

/* One side may have flushed what the other kept; the sign of such a zero is free. */
bool
vector_same_f32(uint32_t a, uint32_t b)
{
	if (a == b || (is_nan32(a) && is_nan32(b)))
		return true;
	return (is_denormal32(a) && is_zero32(b)) || (is_denormal32(b) && is_zero32(a));
}

static bool
close_f32(uint32_t a, uint32_t b, double relative)
{
	double x = as_f32(a), y = as_f32(b);
	return vector_same_f32(a, b) || fabs(x - y) <= relative * fmax(fabs(x), fabs(y));
}

static bool
same_half(uint32_t a, uint32_t b, unsigned ulps)
{
	a &= 0xffff;
	b &= 0xffff;
	if ((a & 0x7fff) > 0x7c00 && (b & 0x7fff) > 0x7c00)
		return true;
	return (a > b ? a - b : b - a) <= ulps || (ulps && !((a | b) & 0x7fff));
}

static bool
same_bf16(uint32_t a, uint32_t b, unsigned ulps)
{
	a &= 0xffff;
	b &= 0xffff;
	if ((a & 0x7fff) > 0x7f80 && (b & 0x7fff) > 0x7f80)
		return true;
	return (a > b ? a - b : b - a) <= ulps;
}

static bool
nan_source(const struct vector *v, unsigned lane)
{
	for (unsigned i = 0; i < v->nan_source_count; i++) {
		const uint32_t *s = v->init.v[v->nan_sources[i]];
		if (!s || lane >= v->init.lanes)
			continue;
		if ((s[lane] & 0x7fff) > 0x7c00 || (s[lane] >> 16 & 0x7fff) > 0x7c00)
			return true;
	}
	return false;
}

static double
as_f64(const uint32_t words[2])
{
	double f;
	memcpy(&f, words, 8);
	return f;
}

/* approx: reciprocals and square roots, to 1e-7; a denormal may be 0. */
static bool
same_f64(const struct vector *v, const uint32_t got[2], const uint32_t want[2])
{
	double x = as_f64(got), y = as_f64(want);
	if (!memcmp(got, want, 8) || (isnan(x) && isnan(y)))
		return true;
	if (!v->approx || isnan(x) || isnan(y))
		return false;
	bool x_small = fabs(x) < 0x1p-1022, y_small = fabs(y) < 0x1p-1022;
	return (x_small && y_small && (x == 0 || y == 0)) || fabs(x - y) <= 1e-7 * fmax(fabs(x), fabs(y));
}

unsigned
vector_first_word(const struct vector *v, unsigned reg)
{
	bool wide = !v->check_all_f32 && v->kind == KIND_F64 && reg >= v->dst && reg < v->dst + v->dst_count;
	return wide ? reg - ((reg - v->dst) & 1) : reg;
}

static bool
tolerates_hw(const struct vector *v, unsigned reg, unsigned lane, uint32_t got, uint32_t want)
{
	bool asserted = reg < 16 && (v->checked[reg] >> lane & 1);
	if (is_nan32(got) && is_nan32(want))
		return !asserted;
	return (v->loose && close_f32(got, want, 1e-5)) ||
	       (v->ulp && (got > want ? got - want : want - got) <= v->ulp);
}

bool
vector_tolerates(const struct vector *v, unsigned reg, unsigned lane, const uint32_t got[2], const uint32_t want[2])
{
	unsigned ulps = v->approx ? 2 : 0;
	uint32_t a = got[0], b = want[0];

	if (v->check_all_f32)
		return tolerates_hw(v, reg, lane, a, b);
	if (v->ignored_v[reg])
		return true;
	if (reg < v->dst || reg >= v->dst + (v->dst_count ? v->dst_count : 1))
		return false;
	if ((v->skip_lanes >> lane & 1) || (v->nan_disputed && nan_source(v, lane)))
		return true;
	if (v->low_half_only) {
		a &= 0xffff;
		b &= 0xffff;
	}
	switch (v->kind) {
	case KIND_F32:
		if (v->angle) /* sin and cos are accurate in absolute terms only (ISA documents: 2^-20) */
			return close_f32(a, b, 1e-5) || fabs(as_f32(a) - as_f32(b)) < 0x1p-20;
		return v->approx || v->wmma ? close_f32(a, b, 1e-5) : vector_same_f32(a, b);
	case KIND_F16: return a >> 16 == b >> 16 && same_half(a, b, ulps);
	case KIND_PK16: return same_half(a, b, ulps) && same_half(a >> 16, b >> 16, ulps);
	case KIND_BF16: return same_bf16(a, b, ulps) && same_bf16(a >> 16, b >> 16, ulps);
	case KIND_F64: return same_f64(v, got, want);
	default: return a == b;
	}
}
