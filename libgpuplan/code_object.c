/* SPDX-License-Identifier: MIT */
/*
 * code_object.c: loads an AMDGPU code object (ELF, code object v4 to v6).
 *
 * In order: header and target (code_object_elf.c, code_object_target.c), segments into one image, dynamic symbols and
 * relocations (code_object_link.c), the metadata note (code_object_meta.c, code_object_args.c), and each kernel's
 * descriptor against it (code_object_kernel.c). Every step returns 0 or a negative errno with a sentence; whatever was
 * allocated hangs on struct gp_co_loader or on the code object and is freed in one place.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object_parts.h"

/* File, GPU and these structs share one byte order; nothing here swaps. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "code objects are read as they are: little-endian hosts only");
_Static_assert(sizeof(struct amdgpu_kernel_descriptor) == 64, "kernel descriptor");

int
gp_co_fail(struct gp_co_loader *l, int code, const char *format, ...)
{
	char text[sizeof(((struct gpuplan_error *)0)->message)];
	va_list ap;

	if (!l->error)
		return code;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return gp_error(l->error, code, "%s: %s", l->name, text);
}

int
gp_co_nomem(struct gp_co_loader *l)
{
	return gp_co_fail(l, -ENOMEM, "out of memory");
}

const char *
gp_co_text(char text[CO_TEXT], const char *from, size_t bytes)
{
	size_t n = bytes < CO_TEXT - 1 ? bytes : CO_TEXT - 1;

	for (size_t i = 0; i < n; i++)
		text[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	text[n] = 0;
	if (n < bytes)
		memcpy(text + n - 3, "...", 3);
	return text;
}

char *
gp_co_copy_string(const char *from, size_t bytes)
{
	char *to = malloc(bytes + 1);

	if (!to)
		return NULL;
	memcpy(to, from, bytes);
	to[bytes] = 0;
	return to;
}

/* FNV-1a, 64 bits: offset basis and prime of the algorithm's definition. */
static uint64_t
hash_bytes(const uint8_t *data, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ data[i]) * 0x100000001b3u;
	return hash;
}

/* libelf may write to the memory it is given, and code_object_elf.c blanks fields. */
static int
copy_file(struct gp_co_loader *l, const void *elf, size_t bytes)
{
	l->copy = malloc(bytes ? bytes : 1);
	l->code = calloc(1, sizeof(*l->code));
	if (!l->copy || !l->code)
		return gp_co_nomem(l);
	if (bytes)
		memcpy(l->copy, elf, bytes);
	l->bytes = bytes;
	l->code->hash = hash_bytes(l->copy, bytes);
	return 0;
}

static int
load(struct gp_co_loader *l, const void *elf, size_t bytes, const char *target)
{
	int r;

	r = gp_co_parse_device(l, target);
	if (!r)
		r = copy_file(l, elf, bytes);
	if (!r)
		r = gp_co_read_elf(l);
	if (!r)
		r = gp_co_link(l);
	if (!r)
		r = gp_co_read_metadata(l);
	return r;
}

int
gp_code_object_load(const void *elf, size_t bytes, const char *target, const char *name, struct gp_code_object **out,
		    struct gpuplan_error *error)
{
	struct gp_co_loader l = { .name = name ? name : "code object", .error = error };
	int r;

	if (!out || !target || (!elf && bytes))
		return gp_error(error, -EINVAL, "gp_code_object_load: no %s given",
				!out	  ? "result"
				: !target ? "target"
					  : "file");
	*out = NULL;
	msgpack_unpacked_init(&l.metadata);
	r = load(&l, elf, bytes, target);
	if (!r) {
		*out = l.code;
		l.code = NULL;
	}
	msgpack_unpacked_destroy(&l.metadata);
	gp_code_object_destroy(l.code);
	free(l.copy);
	return r;
}

static void
free_kernel(struct gp_kernel_info *k)
{
	for (uint32_t i = 0; i < k->n_args; i++)
		free(k->args[i].name);
	free(k->args);
	free(k->name);
	free((char *)k->refused);
}

void
gp_code_object_destroy(struct gp_code_object *code)
{
	if (!code)
		return;
	for (uint32_t i = 0; i < code->n_kernels; i++)
		free_kernel(&code->kernels[i]);
	free(code->kernels);
	free(code->relocations);
	free(code->image);
	free(code);
}

void
gp_code_object_place(const struct gp_code_object *code, uint64_t base, void *dst)
{
	memcpy(dst, code->image, code->image_bytes);
	for (uint32_t i = 0; i < code->n_relocations; i++) {
		const struct gp_code_relocation *r = &code->relocations[i];
		uint64_t value = base + r->value;

		memcpy((uint8_t *)dst + r->place, &value, sizeof(value));
	}
}
