/* SPDX-License-Identifier: MIT */
/*
 * code_object_meta.c: the metadata note, a MessagePack map. Source: LLVM's AMDGPUUsage, "Code Object Metadata".
 *
 * msgpack-c allocates what an array header claims before it has seen the elements, so the structure is walked once
 * without allocating before msgpack-c gets it. Unknown keys are ignored, as the format's makers ask for.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object_parts.h"

/* Nested lists and maps; the format has 4 levels. */
#define MAX_DEPTH 16
/* Work-items per workgroup, and per axis, on every generation. */
#define MAX_BLOCK 1024u

/* Big-endian, as everything in MessagePack. Caller has checked the bounds. */
static uint64_t
read_be(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return value;
}

/* One item without its children: first byte, then `length` bytes of count, `fixed` bytes, and a payload or children
 * by that count. Types 0xc0 to 0xdf in the order of the specification. */
struct item_form {
	uint8_t length, fixed;
	enum { BYTES, ITEMS, PAIRS, INVALID } counts;
};

static const struct item_form item_forms[32] = {
	{ 0, 0, BYTES }, { 0, 0, INVALID }, { 0, 0, BYTES }, { 0, 0, BYTES }, /* nil, never used, false, true */
	{ 1, 0, BYTES }, { 2, 0, BYTES },   { 4, 0, BYTES },		      /* bin */
	{ 1, 1, BYTES }, { 2, 1, BYTES },   { 4, 1, BYTES },		      /* ext, with a type byte */
	{ 0, 4, BYTES }, { 0, 8, BYTES },				      /* float */
	{ 0, 1, BYTES }, { 0, 2, BYTES },   { 0, 4, BYTES }, { 0, 8, BYTES }, /* uint */
	{ 0, 1, BYTES }, { 0, 2, BYTES },   { 0, 4, BYTES }, { 0, 8, BYTES }, /* int */
	{ 0, 2, BYTES }, { 0, 3, BYTES },   { 0, 5, BYTES }, { 0, 9, BYTES }, { 0, 17, BYTES }, /* fixext */
	{ 1, 0, BYTES }, { 2, 0, BYTES },   { 4, 0, BYTES },					/* str */
	{ 2, 0, ITEMS }, { 4, 0, ITEMS },   { 2, 0, PAIRS }, { 4, 0, PAIRS },			/* array, map */
};

/* Types whose count sits in the first byte. */
static struct item_form
short_form(uint8_t first, uint64_t *count)
{
	*count = 0;
	if (first < 0x80 || first >= 0xe0)
		return (struct item_form){ 0, 0, BYTES };
	*count = first < 0xa0 ? first & 15 : first & 31;
	return (struct item_form){ 0, 0, first < 0x90 ? PAIRS : first < 0xa0 ? ITEMS : BYTES };
}

/* Moves *at behind the item's own bytes; *children is the number of items that follow as its contents. */
static bool
scan_item(const uint8_t *data, size_t bytes, size_t *at, uint64_t *children)
{
	struct item_form form;
	uint64_t count = 0;
	uint8_t first;

	if (*at >= bytes)
		return false;
	first = data[(*at)++];
	form = first < 0xc0 || first >= 0xe0 ? short_form(first, &count) : item_forms[first - 0xc0];
	if (form.counts == INVALID || bytes - *at < (size_t)form.length + form.fixed)
		return false;
	if (form.length)
		count = read_be(data + *at, form.length);
	*at += (size_t)form.length + form.fixed;
	*children = form.counts == PAIRS ? 2 * count : form.counts == ITEMS ? count : 0;
	if (*children > bytes - *at || (form.counts == BYTES && count > bytes - *at))
		return false; /* every child has a byte at least */
	if (form.counts == BYTES)
		*at += count;
	return true;
}

/* True when data is exactly one well-formed item. */
static bool
scan(const uint8_t *data, size_t bytes)
{
	uint64_t left[MAX_DEPTH] = { 1 }, children;
	unsigned depth = 0;
	size_t at = 0;

	for (;;) {
		while (!left[depth])
			if (!depth--)
				return at == bytes;
		left[depth]--;
		if (!scan_item(data, bytes, &at, &children))
			return false;
		if (children) {
			if (++depth == MAX_DEPTH)
				return false;
			left[depth] = children;
		}
	}
}

bool
gp_co_is(const msgpack_object *o, const char *text)
{
	return o && o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
	       !memcmp(o->via.str.ptr, text, o->via.str.size);
}

const msgpack_object *
gp_co_get(const msgpack_object *map, const char *key)
{
	for (uint32_t i = 0; i < map->via.map.size; i++)
		if (gp_co_is(&map->via.map.ptr[i].key, key))
			return &map->via.map.ptr[i].val;
	return NULL;
}

static const msgpack_object *
get_type(struct gp_co_loader *l, const msgpack_object *map, const char *where, const char *key, msgpack_object_type type,
	 const char *type_name)
{
	const msgpack_object *o = gp_co_get(map, key);

	if (o && o->type == type)
		return o;
	gp_co_fail(l, -ENOEXEC, "malformed metadata: %s %s %s%s", where, o ? "has a" : "has no", key, o ? type_name : "");
	return NULL;
}

int
gp_co_get_u32(struct gp_co_loader *l, const msgpack_object *map, const char *where, const char *key, uint32_t *value)
{
	const msgpack_object *o =
	    get_type(l, map, where, key, MSGPACK_OBJECT_POSITIVE_INTEGER, " that is no unsigned integer");

	if (!o)
		return -ENOEXEC;
	if (o->via.u64 > UINT32_MAX)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a %s of %llu", where, key,
			       (unsigned long long)o->via.u64);
	*value = (uint32_t)o->via.u64;
	return 0;
}

int
gp_co_get_string(struct gp_co_loader *l, const msgpack_object *map, const char *where, const char *key, char **value)
{
	const msgpack_object *o = get_type(l, map, where, key, MSGPACK_OBJECT_STR, " that is no string");

	if (!o)
		return -ENOEXEC;
	if (!o->via.str.size || memchr(o->via.str.ptr, 0, o->via.str.size))
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a %s that is empty or contains a zero byte",
			       where, key);
	*value = gp_co_copy_string(o->via.str.ptr, o->via.str.size);
	return *value ? 0 : gp_co_nomem(l);
}

int
gp_co_refuse_kernel(struct gp_co_loader *l, struct gp_kernel_info *k, const char *format, ...)
{
	char name[CO_TEXT], text[256], sentence[sizeof(name) + sizeof(text) + 16];
	va_list ap;

	if (k->refused)
		return 0;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(sentence, sizeof(sentence), "kernel '%s' %s", gp_co_text(name, k->name, strlen(k->name)), text);
	k->refused = gp_co_copy_string(sentence, strlen(sentence));
	return k->refused ? 0 : gp_co_nomem(l);
}

static int
check_wave_size(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k)
{
	int r = gp_co_get_u32(l, map, where, ".wavefront_size", &k->wave_size);

	if (!r && k->wave_size != 32 && k->wave_size != 64)
		r = gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .wavefront_size of %u", where, k->wave_size);
	return r;
}

/* Alignment: a segment of the loader's users starts on a multiple of CO_KERNARG_ALIGN. */
static int
read_kernarg(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k,
	     struct gp_co_kernel_meta *meta)
{
	uint32_t align;
	int r = gp_co_get_u32(l, map, where, ".kernarg_segment_size", &meta->kernarg_bytes);

	if (!r)
		r = gp_co_get_u32(l, map, where, ".kernarg_segment_align", &align);
	if (r)
		return r;
	if (meta->kernarg_bytes > CO_MAX_KERNARG)
		return gp_co_fail(l, -ENOTSUP, "%s has %u bytes of arguments, more than %u", where, meta->kernarg_bytes,
			       CO_MAX_KERNARG);
	if (!align || align & (align - 1))
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .kernarg_segment_align of %u", where, align);
	if (align > CO_KERNARG_ALIGN)
		return gp_co_refuse_kernel(l, k, "needs its arguments aligned to %u bytes; %u are supported", align,
					CO_KERNARG_ALIGN);
	return 0;
}

static int
read_max_block(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k)
{
	int r = gp_co_get_u32(l, map, where, ".max_flat_workgroup_size", &k->max_block);

	if (!r && !k->max_block)
		r = gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .max_flat_workgroup_size of 0", where);
	if (k->max_block > MAX_BLOCK)
		k->max_block = MAX_BLOCK;
	return r;
}

/* Optional; three numbers within max_block. */
static int
read_reqd_block(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k)
{
	const msgpack_object *list = gp_co_get(map, ".reqd_workgroup_size");
	uint64_t product = 1;

	if (!list)
		return 0;
	if (list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size != 3)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .reqd_workgroup_size that is no list of 3",
			       where);
	for (uint32_t i = 0; i < 3; i++) {
		const msgpack_object *o = &list->via.array.ptr[i];

		if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || !o->via.u64 || o->via.u64 > MAX_BLOCK)
			return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .reqd_workgroup_size outside 1 to %u",
				       where, MAX_BLOCK);
		k->reqd_block[i] = (uint32_t)o->via.u64;
		product *= o->via.u64;
	}
	if (product > k->max_block)
		return gp_co_fail(l, -ENOEXEC,
			       "malformed metadata: %s has a .reqd_workgroup_size of %ux%ux%u, over its "
			       "maximum of %u work-items",
			       where, k->reqd_block[0], k->reqd_block[1], k->reqd_block[2], k->max_block);
	return 0;
}

static int
read_sizes(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k,
	   struct gp_co_kernel_meta *meta)
{
	int r = gp_co_get_u32(l, map, where, ".group_segment_fixed_size", &meta->lds_bytes);

	if (!r)
		r = gp_co_get_u32(l, map, where, ".private_segment_fixed_size", &meta->private_bytes);
	if (!r)
		r = gp_co_get_u32(l, map, where, ".sgpr_count", &k->sgprs);
	if (!r)
		r = gp_co_get_u32(l, map, where, ".vgpr_count", &k->vgprs);
	if (!r)
		r = check_wave_size(l, map, where, k);
	if (!r)
		r = read_kernarg(l, map, where, k, meta);
	if (!r)
		r = read_max_block(l, map, where, k);
	return r ? r : read_reqd_block(l, map, where, k);
}

static int
read_extras(struct gp_co_loader *l, const msgpack_object *map, struct gp_kernel_info *k, struct gp_co_kernel_meta *meta)
{
	const msgpack_object *kind = gp_co_get(map, ".kind"), *stack = gp_co_get(map, ".uses_dynamic_stack");
	char text[CO_TEXT];
	int r = 0;

	meta->dynamic_stack = stack && stack->type == MSGPACK_OBJECT_BOOLEAN && stack->via.boolean;
	if (kind && !gp_co_is(kind, "normal"))
		r = gp_co_refuse_kernel(
		    l, k, "is of kind '%s': only normal kernels can be dispatched",
		    kind->type == MSGPACK_OBJECT_STR ? gp_co_text(text, kind->via.str.ptr, kind->via.str.size) : "?");
	if (!r && gp_co_get(map, ".device_enqueue_symbol"))
		r = gp_co_refuse_kernel(l, k,
				     "is enqueued by the device (.device_enqueue_symbol), which is not supported");
	return r;
}

/* The whole kernarg segment is the caller's when the metadata does not list arguments. */
static int
read_arg_list(struct gp_co_loader *l, const msgpack_object *map, const char *where, struct gp_kernel_info *k)
{
	const msgpack_object *args = gp_co_get(map, ".args");

	if (args && args->type != MSGPACK_OBJECT_ARRAY)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .args that is no list", where);
	k->has_args = args || !k->kernarg_bytes;
	k->explicit_bytes = args ? 0 : k->kernarg_bytes;
	return args ? gp_co_read_args(l, args, k) : 0;
}

static int
check_twice(struct gp_co_loader *l, const struct gp_kernel_info *k, const char *where)
{
	for (const struct gp_kernel_info *other = l->code->kernels; other < k; other++)
		if (!strcmp(other->name, k->name))
			return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s is there twice", where);
	return 0;
}

/* k is already counted in code->n_kernels: what it owns is freed with the code object. */
static int
read_kernel(struct gp_co_loader *l, const msgpack_object *map, struct gp_kernel_info *k, struct gp_co_kernel_meta *meta)
{
	char name[CO_TEXT], where[CO_TEXT + 16];
	int r;

	snprintf(where, sizeof(where), "kernel %u", l->code->n_kernels - 1);
	if (map->type != MSGPACK_OBJECT_MAP)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s is no map", where);
	r = gp_co_get_string(l, map, where, ".name", &k->name);
	if (r)
		return r;
	snprintf(where, sizeof(where), "kernel '%s'", gp_co_text(name, k->name, strlen(k->name)));
	r = check_twice(l, k, where);
	if (!r)
		r = gp_co_get_string(l, map, where, ".symbol", &meta->symbol);
	if (!r)
		r = read_sizes(l, map, where, k, meta);
	if (!r)
		r = read_extras(l, map, k, meta);
	k->kernarg_bytes = meta->kernarg_bytes;
	if (!r)
		r = gp_co_read_descriptor(l, k, meta);
	return r ? r : read_arg_list(l, map, where, k);
}

static int
read_kernels(struct gp_co_loader *l, const msgpack_object *root)
{
	const msgpack_object *list =
	    get_type(l, root, "the file", "amdhsa.kernels", MSGPACK_OBJECT_ARRAY, " that is no list");
	struct gp_code_object *code = l->code;
	int r = 0;

	if (!list)
		return -ENOEXEC;
	if (!list->via.array.size)
		return 0;
	code->kernels = calloc(list->via.array.size, sizeof(*code->kernels));
	if (!code->kernels)
		return gp_co_nomem(l);
	for (uint32_t i = 0; !r && i < list->via.array.size; i++) {
		struct gp_co_kernel_meta meta = { 0 };

		r = read_kernel(l, &list->via.array.ptr[i], &code->kernels[code->n_kernels++], &meta);
		free(meta.symbol);
	}
	return r;
}

/* amdhsa.version: 1.1 is code object v4, 1.2 is v5 and v6. */
static int
check_version(struct gp_co_loader *l, const msgpack_object *root)
{
	const msgpack_object *v =
	    get_type(l, root, "the file", "amdhsa.version", MSGPACK_OBJECT_ARRAY, " that is no list");
	uint64_t minor = l->code->abi == 4 ? 1 : 2;

	if (!v)
		return -ENOEXEC;
	if (v->via.array.size != 2 || v->via.array.ptr[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    v->via.array.ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: amdhsa.version is no pair of numbers");
	if (v->via.array.ptr[0].via.u64 != 1 || v->via.array.ptr[1].via.u64 != minor)
		return gp_co_fail(
		    l, -ENOEXEC, "malformed metadata: amdhsa.version is %llu.%llu, code object v%u has 1.%llu",
		    (unsigned long long)v->via.array.ptr[0].via.u64, (unsigned long long)v->via.array.ptr[1].via.u64,
		    l->code->abi, (unsigned long long)minor);
	return 0;
}

static int
check_target(struct gp_co_loader *l, const msgpack_object *root)
{
	const msgpack_object *t =
	    get_type(l, root, "the file", "amdhsa.target", MSGPACK_OBJECT_STR, " that is no string");

	return t ? gp_co_check_metadata_target(l, t->via.str.ptr, t->via.str.size) : -ENOEXEC;
}

static int
unpack(struct gp_co_loader *l)
{
	msgpack_unpack_return r;
	size_t at = 0;

	if (!l->note)
		return gp_co_fail(l, -ENOEXEC, "has no AMDGPU metadata note (type %u), so no kernels can be found",
			       AMDGPU_NT_METADATA);
	if (!scan(l->note, l->note_bytes))
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: the note is not one MessagePack item of %zu bytes",
			       l->note_bytes);
	r = msgpack_unpack_next(&l->metadata, (const char *)l->note, l->note_bytes, &at);
	if (r == MSGPACK_UNPACK_NOMEM_ERROR)
		return gp_co_nomem(l);
	if (r != MSGPACK_UNPACK_SUCCESS || l->metadata.data.type != MSGPACK_OBJECT_MAP)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: the note is no MessagePack map");
	return 0;
}

int
gp_co_read_metadata(struct gp_co_loader *l)
{
	const msgpack_object *root = &l->metadata.data;
	int r = unpack(l);

	if (!r)
		r = check_version(l, root);
	if (!r)
		r = check_target(l, root);
	return r ? r : read_kernels(l, root);
}
