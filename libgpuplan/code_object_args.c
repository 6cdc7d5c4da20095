/* SPDX-License-Identifier: MIT */
/* code_object_args.c: a kernel's argument list. Source: LLVM's AMDGPUUsage, "Kernel Argument Metadata". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object_parts.h"

static const char hidden_prefix[] = "hidden_";

/* Every hidden argument of v4, v5 and v6, and its size there; 0: any (an unused slot). */
static const struct {
	const char *name;
	uint32_t bytes;
} hidden_kinds[] = {
	{ "block_count_x", 4 }, { "block_count_y", 4 },	  { "block_count_z", 4 },     { "group_size_x", 2 },
	{ "group_size_y", 2 },	{ "group_size_z", 2 },	  { "remainder_x", 2 },	      { "remainder_y", 2 },
	{ "remainder_z", 2 },	{ "global_offset_x", 8 }, { "global_offset_y", 8 },   { "global_offset_z", 8 },
	{ "grid_dims", 2 },	{ "printf_buffer", 8 },	  { "hostcall_buffer", 8 },   { "multigrid_sync_arg", 8 },
	{ "heap_v1", 8 },	{ "default_queue", 8 },	  { "completion_action", 8 }, { "dynamic_lds_size", 4 },
	{ "private_base", 4 },	{ "shared_base", 4 },	  { "queue_ptr", 8 },	      { "none", 0 },
};

static bool
is_one_of(const msgpack_object *kind, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (gp_co_is(kind, names[i]))
			return true;
	return false;
}

static bool
is_hidden(const msgpack_object *kind)
{
	return kind->via.str.size >= sizeof(hidden_prefix) - 1 &&
	       !memcmp(kind->via.str.ptr, hidden_prefix, sizeof(hidden_prefix) - 1);
}

static int
read_hidden(struct gp_co_loader *l, struct gp_kernel_info *k, struct gp_kernel_arg *arg, const msgpack_object *kind,
	    const char *where)
{
	size_t n = kind->via.str.size - (sizeof(hidden_prefix) - 1);
	char text[CO_TEXT];

	arg->kind = GP_ARG_HIDDEN;
	gp_co_text(text, kind->via.str.ptr + sizeof(hidden_prefix) - 1, n);
	snprintf(arg->hidden, sizeof(arg->hidden), "%.*s", (int)sizeof(arg->hidden) - 1, text);
	for (size_t i = 0; i < sizeof(hidden_kinds) / sizeof(hidden_kinds[0]); i++) {
		if (strcmp(text, hidden_kinds[i].name))
			continue;
		if (hidden_kinds[i].bytes && hidden_kinds[i].bytes != arg->bytes)
			return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s (hidden_%s) has %u bytes instead of %u",
				       where, text, arg->bytes, hidden_kinds[i].bytes);
		return 0;
	}
	return gp_co_refuse_kernel(l, k, "has the hidden argument 'hidden_%s', which this loader does not know", text);
}

static int
need_bytes(struct gp_co_loader *l, const struct gp_kernel_arg *arg, uint32_t bytes, const char *where, const char *what)
{
	if (arg->bytes == bytes)
		return 0;
	return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s (%s) has %u bytes instead of %u", where, what, arg->bytes,
		       bytes);
}

/* .pointee_align, else 16: the largest alignment of a scalar or vector that LDS instructions have. */
static int
read_lds(struct gp_co_loader *l, struct gp_kernel_arg *arg, const msgpack_object *map, const char *where)
{
	int r = need_bytes(l, arg, 4, where, "dynamic_shared_pointer");

	arg->kind = GP_ARG_DYNAMIC_LDS;
	arg->align = 16;
	if (!r && gp_co_get(map, ".pointee_align"))
		r = gp_co_get_u32(l, map, where, ".pointee_align", &arg->align);
	if (!r && (!arg->align || arg->align & (arg->align - 1) || arg->align > CO_MAX_LDS))
		r = gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .pointee_align of %u", where, arg->align);
	return r;
}

static int
read_kind(struct gp_co_loader *l, struct gp_kernel_info *k, struct gp_kernel_arg *arg, const msgpack_object *map,
	  const char *where)
{
	static const char *const unsupported[] = { "image", "sampler", "pipe", "queue" };
	const msgpack_object *kind = gp_co_get(map, ".value_kind");
	char text[CO_TEXT];

	if (!kind || kind->type != MSGPACK_OBJECT_STR)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has no .value_kind", where);
	if (is_hidden(kind))
		return read_hidden(l, k, arg, kind, where);
	if (gp_co_is(kind, "dynamic_shared_pointer"))
		return read_lds(l, arg, map, where);
	if (gp_co_is(kind, "global_buffer")) {
		arg->kind = GP_ARG_GLOBAL_BUFFER;
		return need_bytes(l, arg, 8, where, "global_buffer");
	}
	arg->kind = GP_ARG_BY_VALUE;
	if (gp_co_is(kind, "by_value"))
		return 0;
	gp_co_text(text, kind->via.str.ptr, kind->via.str.size);
	if (is_one_of(kind, unsupported, sizeof(unsupported) / sizeof(unsupported[0])))
		return gp_co_refuse_kernel(
		    l, k,
		    "takes a %s (argument '%s' at offset %u): images, samplers, pipes and queues are "
		    "not supported",
		    text, arg->name, arg->offset);
	return gp_co_refuse_kernel(l, k, "has an argument of the unknown kind '%s' at offset %u", text, arg->offset);
}

/* Always a string, so that users need not test for NULL. */
static int
read_name(struct gp_co_loader *l, struct gp_kernel_arg *arg, const msgpack_object *map, const char *where)
{
	const msgpack_object *name = gp_co_get(map, ".name");

	if (name && (name->type != MSGPACK_OBJECT_STR || memchr(name->via.str.ptr, 0, name->via.str.size)))
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s has a .name that is no string", where);
	arg->name = gp_co_copy_string(name ? name->via.str.ptr : "", name ? name->via.str.size : 0);
	return arg->name ? 0 : gp_co_nomem(l);
}

static int
read_arg(struct gp_co_loader *l, struct gp_kernel_info *k, struct gp_kernel_arg *arg, const msgpack_object *map,
	 const char *where)
{
	int r;

	if (map->type != MSGPACK_OBJECT_MAP)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s is no map", where);
	r = read_name(l, arg, map, where);
	if (!r)
		r = gp_co_get_u32(l, map, where, ".offset", &arg->offset);
	if (!r)
		r = gp_co_get_u32(l, map, where, ".size", &arg->bytes);
	if (r)
		return r;
	if (!arg->bytes || !gp_co_range_ok(arg->offset, arg->bytes, k->kernarg_bytes))
		return gp_co_fail(l, -ENOEXEC,
			       "malformed metadata: %s (%u bytes at %u) does not fit in the %u bytes of the kernarg "
			       "segment",
			       where, arg->bytes, arg->offset, k->kernarg_bytes);
	return read_kind(l, k, arg, map, where);
}

/* Explicit arguments stand in ascending order and apart. */
static int
add_explicit(struct gp_co_loader *l, struct gp_kernel_info *k, const struct gp_kernel_arg *arg, const char *where)
{
	if (arg->offset < k->explicit_bytes)
		return gp_co_fail(l, -ENOEXEC, "malformed metadata: %s at %u overlaps the one before it, which ends at %u",
			       where, arg->offset, k->explicit_bytes);
	k->explicit_bytes = arg->offset + arg->bytes;
	k->n_explicit++;
	return 0;
}

/* One pass for the explicit arguments and one for the hidden ones: the metadata may mix them. n_args counts what is
 * filled, also when a later one fails. */
static int
read_list(struct gp_co_loader *l, const msgpack_object *list, struct gp_kernel_info *k, bool hidden)
{
	char name[CO_TEXT], where[CO_TEXT + 48];
	int r = 0;

	for (uint32_t i = 0; !r && i < list->via.array.size; i++) {
		const msgpack_object *map = &list->via.array.ptr[i];
		const msgpack_object *kind = map->type == MSGPACK_OBJECT_MAP ? gp_co_get(map, ".value_kind") : NULL;
		struct gp_kernel_arg *arg = &k->args[k->n_args];

		if ((kind && kind->type == MSGPACK_OBJECT_STR && is_hidden(kind)) != hidden)
			continue;
		k->n_args++;
		snprintf(where, sizeof(where), "argument %u of kernel '%s'", i,
			 gp_co_text(name, k->name, strlen(k->name)));
		r = read_arg(l, k, arg, map, where);
		if (!r && !hidden)
			r = add_explicit(l, k, arg, where);
	}
	return r;
}

/* v5 and v6 kernels that use any hidden argument have room for all of them. */
static void
find_hidden_block(const struct gp_co_loader *l, struct gp_kernel_info *k)
{
	uint32_t at = (k->explicit_bytes + 7) & ~7u; /* no overflow: within kernarg_bytes, at most CO_MAX_KERNARG */

	if (l->code->abi < 5 || k->kernarg_bytes < at + AMDGPU_HIDDEN_BYTES_V5)
		return;
	k->hidden_block = true;
	k->hidden_offset = at;
}

int
gp_co_read_args(struct gp_co_loader *l, const msgpack_object *list, struct gp_kernel_info *k)
{
	int r = 0;

	if (list->via.array.size) {
		k->args = calloc(list->via.array.size, sizeof(*k->args));
		if (!k->args)
			return gp_co_nomem(l);
		r = read_list(l, list, k, false);
		if (!r)
			r = read_list(l, list, k, true);
	}
	if (!r)
		find_hidden_block(l, k);
	return r;
}
