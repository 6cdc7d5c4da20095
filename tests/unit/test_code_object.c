/* SPDX-License-Identifier: MIT */
/*
 * The code object loader: what it reads of good objects, each refusal by its message, damaged files, failing
 * allocations.
 *
 * The objects are built from data_code_object/ and found in the folder GPUPLAN_TEST_OBJECTS (default:
 * $B/tests/objects). Links with the flags in test_code_object.flags: malloc and its kin wrapped, libelf and msgpack-c
 * static so that theirs are as well.
 */
#define _GNU_SOURCE /* memmem */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "amdgpu_code_object.h"
#include "code_object.h"
#include "gpuplan.h"

/* ---- allocations: counted, and the fail_at'th fails ---- */

static long live, calls, fail_at;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void __wrap_free(void *p);

static bool
fails(void)
{
	return ++calls == fail_at;
}

void *
__wrap_malloc(size_t bytes)
{
	void *p = fails() ? NULL : __real_malloc(bytes);

	live += p != NULL;
	return p;
}

void *
__wrap_calloc(size_t n, size_t bytes)
{
	void *p = fails() ? NULL : __real_calloc(n, bytes);

	live += p != NULL;
	return p;
}

void *
__wrap_realloc(void *old, size_t bytes)
{
	void *p = fails() ? NULL : __real_realloc(old, bytes);

	live += p && !old;
	return p;
}

void
__wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

/* ---- files ---- */

struct file {
	uint8_t *data;
	size_t bytes;
};

static struct file
read_object(const char *name)
{
	const char *folder = getenv("GPUPLAN_TEST_OBJECTS"), *build = getenv("B");
	struct file f;
	char path[512];
	FILE *in;
	long n;

	if (folder)
		snprintf(path, sizeof(path), "%s/%s.co", folder, name);
	else
		snprintf(path, sizeof(path), "%s/tests/objects/%s.co", build ? build : "build", name);
	in = fopen(path, "rb");
	if (!in)
		fail_msg("%s: cannot open", path);
	fseek(in, 0, SEEK_END);
	n = ftell(in);
	rewind(in);
	f.bytes = (size_t)n;
	f.data = malloc(f.bytes);
	assert_int_equal(fread(f.data, 1, f.bytes, in), f.bytes);
	fclose(in);
	return f;
}

static struct file
copy_object(struct file from)
{
	struct file f = { malloc(from.bytes), from.bytes };

	memcpy(f.data, from.data, from.bytes);
	return f;
}

static Elf64_Ehdr *
header(struct file f)
{
	return (Elf64_Ehdr *)f.data;
}

static Elf64_Phdr *
segment(struct file f, uint32_t type, unsigned number)
{
	Elf64_Phdr *p = (Elf64_Phdr *)(f.data + header(f)->e_phoff);

	for (unsigned i = 0; i < header(f)->e_phnum; i++)
		if (p[i].p_type == type && !number--)
			return &p[i];
	fail_msg("no such segment");
	return NULL;
}

static uint8_t *
at_address(struct file f, uint64_t address)
{
	for (unsigned i = 0; i < header(f)->e_phnum; i++) {
		Elf64_Phdr *p = (Elf64_Phdr *)(f.data + header(f)->e_phoff) + i;

		if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz)
			return f.data + p->p_offset + (address - p->p_vaddr);
	}
	fail_msg("address not in the file");
	return NULL;
}

static Elf64_Dyn *
dynamic(struct file f, int64_t tag)
{
	for (Elf64_Dyn *d = (Elf64_Dyn *)at_address(f, segment(f, PT_DYNAMIC, 0)->p_vaddr); d->d_tag; d++)
		if (d->d_tag == tag)
			return d;
	fail_msg("no such dynamic entry");
	return NULL;
}

static uint8_t *
table(struct file f, int64_t tag)
{
	return at_address(f, dynamic(f, tag)->d_un.d_ptr);
}

static Elf64_Sym *
symbol(struct file f, const char *name)
{
	Elf64_Sym *s = (Elf64_Sym *)table(f, DT_SYMTAB);
	uint32_t n = ((uint32_t *)table(f, DT_HASH))[1];

	for (uint32_t i = 1; i < n; i++)
		if (!strcmp((char *)table(f, DT_STRTAB) + s[i].st_name, name))
			return &s[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

static struct amdgpu_kernel_descriptor *
descriptor(struct file f, const char *name)
{
	return (struct amdgpu_kernel_descriptor *)at_address(f, symbol(f, name)->st_value);
}

/* The first occurrence of text in the metadata; what follows a key is its value. */
static uint8_t *
metadata(struct file f, const char *text)
{
	Elf64_Phdr *p = segment(f, PT_NOTE, 0);
	uint8_t *at = memmem(f.data + p->p_offset, p->p_filesz, text, strlen(text));

	if (!at)
		fail_msg("'%s' is not in the metadata", text);
	return at;
}

static uint8_t *
value_of(struct file f, const char *key)
{
	return metadata(f, key) + strlen(key);
}

static void
replace(struct file f, const char *from, const char *to)
{
	assert_int_equal(strlen(from), strlen(to));
	memcpy(metadata(f, from), to, strlen(to));
}

/* ---- loading ---- */

static struct gp_code_object *
load(struct file f, const char *target)
{
	struct gp_code_object *code = NULL;
	struct gpuplan_error error = { 0 };
	int r = gp_code_object_load(f.data, f.bytes, target, "test", &code, &error);

	if (r)
		fail_msg("refused: %s", error.message);
	assert_non_null(code);
	return code;
}

static struct gp_code_object *
load_named(const char *name, const char *target)
{
	struct file f = read_object(name);
	struct gp_code_object *code = load(f, target);

	free(f.data);
	return code;
}

/* Refused with that code, and with text in a message that names the file; nothing is left behind. */
static void
refused(struct file f, const char *target, int code, const char *text)
{
	struct gp_code_object *out = (void *)8;
	struct gpuplan_error error = { 0 };
	long before = live;
	int r = gp_code_object_load(f.data, f.bytes, target, "test", &out, &error);

	if (!r)
		fail_msg("loaded, should say '%s'", text);
	if (!strstr(error.message, text))
		fail_msg("says '%s', should say '%s'", error.message, text);
	if (r != code || error.code != code)
		fail_msg("'%s': returned %d, should be %d", text, r, code);
	assert_memory_equal(error.message, "test: ", 6);
	assert_null(out);
	assert_int_equal(live, before);
	assert_int_equal(gp_code_object_load(f.data, f.bytes, target, NULL, &out, NULL), code);
}

static void
refused_free(struct file f, const char *target, int code, const char *text)
{
	refused(f, target, code, text);
	free(f.data);
}

static const struct gp_kernel_info *
kernel(const struct gp_code_object *code, const char *name)
{
	for (uint32_t i = 0; i < code->n_kernels; i++)
		if (!strcmp(code->kernels[i].name, name))
			return &code->kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

static const struct gp_kernel_arg *
hidden_arg(const struct gp_kernel_info *k, const char *name)
{
	for (uint32_t i = k->n_explicit; i < k->n_args; i++) {
		assert_int_equal(k->args[i].kind, GP_ARG_HIDDEN);
		if (!strcmp(k->args[i].hidden, name))
			return &k->args[i];
	}
	return NULL;
}

static void
check_arg(const struct gp_kernel_info *k, uint32_t i, const char *name, enum gp_arg_kind kind, uint32_t offset,
	  uint32_t bytes, uint32_t align)
{
	assert_true(i < k->n_explicit);
	assert_string_equal(k->args[i].name, name);
	assert_int_equal(k->args[i].kind, kind);
	assert_int_equal(k->args[i].offset, offset);
	assert_int_equal(k->args[i].bytes, bytes);
	assert_int_equal(k->args[i].align, align);
}

/* Everything a user of a loaded object relies on, whatever the file was. */
static void
check_invariants(const struct gp_code_object *code)
{
	assert_non_null(code->image);
	assert_int_equal(code->image_bytes % 4096, 0);
	assert_true(code->abi >= 4 && code->abi <= 6);
	for (uint32_t i = 0; i < code->n_relocations; i++) {
		assert_true(code->relocations[i].place <= code->image_bytes - 8);
		assert_true(code->relocations[i].value <= code->image_bytes);
	}
	for (uint32_t i = 0; i < code->n_kernels; i++) {
		const struct gp_kernel_info *k = &code->kernels[i];

		assert_true(k->name && *k->name);
		assert_true(k->entry + 4 + 4096 <= code->image_bytes && k->entry % 256 == 0);
		assert_true(k->descriptor + 64 <= code->image_bytes && k->descriptor % 64 == 0);
		assert_true(k->explicit_bytes <= k->kernarg_bytes && k->kernarg_bytes <= 65536);
		assert_true(!k->hidden_block || k->hidden_offset + 256 <= k->kernarg_bytes);
		assert_true(k->lds_bytes <= 65536 && (k->wave_size == 32 || k->wave_size == 64));
		assert_true(k->max_block >= 1 && k->max_block <= 1024);
		assert_true(k->n_explicit <= k->n_args);
		for (uint32_t a = 0; a < k->n_args; a++) {
			assert_non_null(k->args[a].name);
			assert_true((k->args[a].kind == GP_ARG_HIDDEN) == (a >= k->n_explicit));
			assert_true(k->args[a].offset + k->args[a].bytes <= k->kernarg_bytes);
		}
	}
}

/* ---- good objects ---- */

static void
test_explicit_arguments(void **state)
{
	struct gp_code_object *code = load_named("args.v5", "gfx1100");
	const struct gp_kernel_info *k = kernel(code, "plain");

	(void)state;
	check_invariants(code);
	assert_int_equal(code->abi, 5);
	assert_int_equal(code->mach, 0x41);
	assert_int_equal(code->n_kernels, 8);
	assert_true(k->has_args && !k->hidden_block && !k->refused);
	assert_int_equal(k->n_args, 5);
	assert_int_equal(k->n_explicit, 5);
	check_arg(k, 0, "dst", GP_ARG_GLOBAL_BUFFER, 0, 8, 0);
	check_arg(k, 1, "src", GP_ARG_GLOBAL_BUFFER, 8, 8, 0);
	check_arg(k, 2, "n", GP_ARG_BY_VALUE, 16, 4, 0);
	check_arg(k, 3, "scale", GP_ARG_BY_VALUE, 20, 4, 0);
	check_arg(k, 4, "p", GP_ARG_BY_VALUE, 24, 12, 0);
	assert_int_equal(k->kernarg_bytes, 36);
	assert_int_equal(k->explicit_bytes, 36);
	assert_int_equal(k->max_block, 256);
	assert_int_equal(k->wave_size, 32);
	assert_int_equal(k->reqd_block[0], 0);
	assert_int_equal(k->vgprs, 5);
	assert_int_equal(k->properties, AMDGPU_KCP_KERNARG_SEGMENT_PTR | AMDGPU_KCP_WAVE32);
	gp_code_object_destroy(code);
}

static void
test_registers_cleaned(void **state)
{
	struct gp_code_object *code = load_named("args.v5", "gfx1100");

	(void)state;
	/* the file has 0x60af0080: SGPR granules, which gfx11 reserves */
	assert_int_equal(kernel(code, "plain")->rsrc1, 0x60af0000);
	assert_int_equal(kernel(code, "plain")->rsrc2, 0x9e); /* clang's 15 user SGPRs are kept */
	gp_code_object_destroy(code);

	/* the file has 0x60af0c40 and 0x7f80e0c4: priority, exceptions, LDS size, trap */
	code = load_named("hand.v5", "gfx1100");
	assert_int_equal(kernel(code, "raw")->rsrc1, 0x60af0000);
	assert_int_equal(kernel(code, "raw")->rsrc2, 0x84);
	gp_code_object_destroy(code);

	/* gfx9 keeps its SGPR granules, gfx90a has a compute_pgm_rsrc3 */
	code = load_named("args.gfx90a", "gfx90a");
	assert_int_equal(kernel(code, "plain")->rsrc1, 0xaf0040);
	assert_int_equal(kernel(code, "plain")->rsrc3, 1);
	gp_code_object_destroy(code);
}

static void
test_hidden_arguments_v5(void **state)
{
	struct gp_code_object *code = load_named("args.v5", "gfx1100");
	const struct gp_kernel_info *k = kernel(code, "hidden");

	(void)state;
	assert_int_equal(k->n_explicit, 2);
	assert_int_equal(k->explicit_bytes, 12);
	assert_int_equal(k->kernarg_bytes, 16 + 256);
	assert_true(k->hidden_block);
	assert_int_equal(k->hidden_offset, 16);
	assert_int_equal(hidden_arg(k, "group_size_x")->offset, 16 + AMDGPU_HIDDEN_GROUP_SIZE_X);
	assert_int_equal(hidden_arg(k, "group_size_x")->bytes, 2);
	assert_int_equal(hidden_arg(k, "grid_dims")->offset, 16 + AMDGPU_HIDDEN_GRID_DIMS);
	k = kernel(code, "implicit");
	assert_int_equal(hidden_arg(k, "printf_buffer") || hidden_arg(k, "hostcall_buffer"), 1);
	assert_int_equal(hidden_arg(k, "queue_ptr")->offset, 8 + 200);
	assert_false(kernel(code, "plain")->hidden_block);
	gp_code_object_destroy(code);
}

static void
test_hidden_arguments_v4(void **state)
{
	struct gp_code_object *code = load_named("args.v4", "gfx1100");
	const struct gp_kernel_info *k = kernel(code, "implicit");

	(void)state;
	check_invariants(code);
	assert_int_equal(code->abi, 4);
	assert_int_equal(k->n_explicit, 1);
	assert_int_equal(k->kernarg_bytes, 8 + 56);
	assert_false(k->hidden_block);
	assert_int_equal(hidden_arg(k, "global_offset_x")->offset, 8);
	assert_int_equal(hidden_arg(k, "global_offset_z")->offset, 24);
	assert_int_equal(hidden_arg(k, "multigrid_sync_arg")->offset, 8 + 48);
	/* v4 reads the group size from the dispatch packet */
	assert_int_equal(kernel(code, "hidden")->properties & AMDGPU_KCP_DISPATCH_PTR, AMDGPU_KCP_DISPATCH_PTR);
	assert_int_equal(kernel(code, "hidden")->n_args, 2);
	gp_code_object_destroy(code);
}

static void
test_lds_scratch_and_group_size(void **state)
{
	struct gp_code_object *code = load_named("args.v5", "gfx1100");
	const struct gp_kernel_info *k = kernel(code, "fixed");

	(void)state;
	assert_int_equal(k->lds_bytes, 256);
	assert_int_equal(k->max_block, 64);
	assert_int_equal(k->reqd_block[0], 8);
	assert_int_equal(k->reqd_block[1], 4);
	assert_int_equal(k->reqd_block[2], 2);
	k = kernel(code, "shared");
	assert_int_equal(k->lds_bytes, 16);
	check_arg(k, 0, "first", GP_ARG_DYNAMIC_LDS, 0, 4, 16);
	check_arg(k, 2, "second", GP_ARG_DYNAMIC_LDS, 16, 4, 1);
	k = kernel(code, "stack");
	assert_true(k->private_bytes >= 128 && k->private_bytes < 256);
	assert_int_equal(k->rsrc2 & 1, 1);
	k = kernel(code, "nothing");
	assert_true(k->has_args);
	assert_int_equal(k->n_args + k->kernarg_bytes + k->private_bytes + k->lds_bytes, 0);
	gp_code_object_destroy(code);
}

static void
test_handmade(void **state)
{
	struct gp_code_object *code = load_named("hand.v5", "gfx1100");
	const struct gp_kernel_info *k = kernel(code, "raw");

	(void)state;
	check_invariants(code);
	assert_false(k->has_args);
	assert_int_equal(k->n_args, 0);
	assert_int_equal(k->kernarg_bytes, 24);
	assert_int_equal(k->explicit_bytes, 24);
	assert_int_equal(k->max_block, 1024); /* the file says 2048 */
	assert_null(k->refused);
	k = kernel(code, "stacked");
	assert_int_equal(k->private_bytes, 16 + 4096);
	assert_int_equal(k->rsrc2, 0x85); /* SCRATCH_EN */
	assert_null(k->refused);
	assert_non_null(strstr(kernel(code, "starter")->refused, "kind 'init'"));
	assert_non_null(strstr(kernel(code, "enqueued")->refused, "device_enqueue_symbol"));
	gp_code_object_destroy(code);
}

static void
test_refused_kernels(void **state)
{
	static const char *const kinds[] = { "image", "sampler", "pipe", "queue" };
	struct gp_code_object *code = load_named("refused.v5", "gfx1100");
	char name[32];

	(void)state;
	check_invariants(code);
	assert_null(kernel(code, "fine")->refused);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "takes_%s", kinds[i]);
		assert_non_null(strstr(kernel(code, name)->refused, name));
		assert_non_null(strstr(kernel(code, name)->refused, kinds[i]));
		assert_non_null(strstr(kernel(code, name)->refused, "at offset 8"));
	}
	assert_non_null(strstr(kernel(code, "takes_wide")->refused, "aligned to 128 bytes"));
	gp_code_object_destroy(code);
}

static void
test_wave64(void **state)
{
	struct gp_code_object *code = load_named("args.wave64", "gfx1100");

	(void)state;
	check_invariants(code);
	assert_int_equal(kernel(code, "plain")->wave_size, 64);
	assert_int_equal(kernel(code, "plain")->properties, AMDGPU_KCP_KERNARG_SEGMENT_PTR);
	gp_code_object_destroy(code);
}

static void
test_older_and_newer_generations(void **state)
{
	struct gp_code_object *code = load_named("args.gfx1030", "gfx1030");

	(void)state;
	check_invariants(code);
	/* V# and kernarg pointer, flat scratch init where the kernel has scratch */
	assert_int_equal(kernel(code, "plain")->properties, 0x409);
	assert_int_equal(kernel(code, "stack")->properties, 0x429);
	gp_code_object_destroy(code);
	code = load_named("args.gfx1200", "gfx1200");
	check_invariants(code);
	gp_code_object_destroy(code);
	code = load_named("args.gfx90a", "gfx90a");
	check_invariants(code);
	assert_int_equal(kernel(code, "plain")->wave_size, 64);
	gp_code_object_destroy(code);
	code = load_named("args.gfx900", "gfx900");
	check_invariants(code);
	assert_int_equal(kernel(code, "plain")->wave_size, 64);
	assert_int_equal(kernel(code, "plain")->properties, 0x9);
	assert_int_equal(kernel(code, "plain")->rsrc3, 0);
	gp_code_object_destroy(code);
	/* flat scratch is architected: arguments alone, in s[0:1]; the accumulation offset goes into RSRC3 */
	code = load_named("args.gfx942", "gfx942");
	check_invariants(code);
	assert_int_equal(kernel(code, "plain")->wave_size, 64);
	assert_int_equal(kernel(code, "plain")->properties, 0x8);
	assert_int_equal(kernel(code, "stack")->properties, 0x8);
	assert_true(kernel(code, "stack")->rsrc2 & 1);
	assert_int_equal(kernel(code, "plain")->rsrc3, 1);
	gp_code_object_destroy(code);
}

/* Workgroups split over compute units: the kernel's choice, passed on. */
static void
test_tg_split(void **state)
{
	static const char *const objects[][2] = { { "args.gfx90a", "gfx90a" }, { "args.gfx942", "gfx942" } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct file f = read_object(objects[i][0]);
		struct gp_code_object *code;

		descriptor(f, "plain.kd")->compute_pgm_rsrc3 |= 1u << 16;
		code = load(f, objects[i][1]);
		assert_int_equal(kernel(code, "plain")->rsrc3, 1u << 16 | 1);
		gp_code_object_destroy(code);
		free(f.data);
	}
}

static void
test_stripped(void **state)
{
	struct gp_code_object *full = load_named("args.v5", "gfx1100"), *code = load_named("args.stripped", "gfx1100");

	(void)state;
	assert_int_equal(code->n_kernels, full->n_kernels);
	assert_int_equal(code->image_bytes, full->image_bytes);
	assert_true(code->hash != full->hash);
	for (uint32_t i = 0; i < code->n_kernels; i++)
		assert_int_equal(code->kernels[i].entry, full->kernels[i].entry);
	gp_code_object_destroy(full);
	gp_code_object_destroy(code);
}

/* Without DT_HASH the symbols are counted by DT_GNU_HASH. */
static void
test_gnu_hash(void **state)
{
	struct file f = read_object("args.v5");
	struct gp_code_object *code;

	(void)state;
	dynamic(f, DT_HASH)->d_tag = 0x60000000;
	code = load(f, "gfx1100");
	check_invariants(code);
	assert_int_equal(code->n_kernels, 8);
	gp_code_object_destroy(code);
	dynamic(f, DT_GNU_HASH)->d_tag = 0x60000000;
	refused_free(f, "gfx1100", -ENOEXEC, "no symbol hash table");
}

/* nbuckets, symoffset, bloom words, shift; bloom; buckets; chains */
static void
test_gnu_hash_refusals(void **state)
{
	static const char outside[] = "hash table is outside the file or inconsistent";
	struct file good = read_object("args.v5"), f;
	uint32_t *h, n;

	(void)state;
	dynamic(good, DT_HASH)->d_tag = 0x60000000;
	f = copy_object(good);
	h = (uint32_t *)table(f, DT_GNU_HASH);
	h[0] = UINT32_MAX;
	refused_free(f, "gfx1100", -ENOEXEC, outside);
	f = copy_object(good);
	h = (uint32_t *)table(f, DT_GNU_HASH);
	h[2] = UINT32_MAX;
	refused_free(f, "gfx1100", -ENOEXEC, outside);
	f = copy_object(good);
	h = (uint32_t *)table(f, DT_GNU_HASH);
	h[1] = UINT32_MAX;
	refused_free(f, "gfx1100", -ENOEXEC, outside);
	f = copy_object(good);
	h = (uint32_t *)table(f, DT_GNU_HASH);
	n = h[0];
	memset(h + 4 + 2 * h[2], 0, 4 * n); /* empty buckets: only symoffset symbols */
	refused_free(f, "gfx1100", -ENOEXEC, "has no dynamic symbol");
	f = copy_object(good);
	h = (uint32_t *)table(f, DT_GNU_HASH);
	h[4 + 2 * h[2]] = 1u << 30; /* a chain outside the file */
	refused_free(f, "gfx1100", -ENOEXEC, outside);
	f = copy_object(good);
	dynamic(f, DT_GNU_HASH)->d_un.d_ptr = 1u << 30;
	refused_free(f, "gfx1100", -ENOEXEC, outside);
	free(good.data);
}

/* ---- the image ---- */

static void
test_segments_and_zero_fill(void **state)
{
	struct file f = read_object("args.v5");
	struct gp_code_object *code = load(f, "gfx1100");

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		Elf64_Phdr *p = segment(f, PT_LOAD, i);

		assert_memory_equal(code->image + p->p_vaddr, f.data + p->p_offset, p->p_filesz);
		for (uint64_t at = p->p_filesz; at < p->p_memsz; at++)
			assert_int_equal(code->image[p->p_vaddr + at], 0);
	}
	assert_true(segment(f, PT_LOAD, 3)->p_memsz > 1200); /* bss */
	gp_code_object_destroy(code);
	free(f.data);
}

static void
check_padding(const char *name, const char *target, uint32_t filler)
{
	struct file f = read_object(name);
	struct gp_code_object *code = load(f, target);
	Elf64_Phdr *text = segment(f, PT_LOAD, 1), *next = segment(f, PT_LOAD, 2);
	uint64_t end = text->p_vaddr + text->p_memsz;
	uint32_t word;

	assert_true(text->p_flags & PF_X);
	assert_true(code->image_bytes >= end + 4096);
	assert_true(next->p_vaddr >= end + 4096);
	for (uint64_t at = end; at < end + 4096; at += 4) {
		memcpy(&word, code->image + at, 4);
		assert_int_equal(word, filler);
	}
	gp_code_object_destroy(code);
	free(f.data);
}

static void
test_code_end_padding(void **state)
{
	(void)state;
	check_padding("hand.v5", "gfx1100", 0xbf9f0000);
	check_padding("args.gfx1030", "gfx1030", 0xbf9f0000);
	check_padding("args.gfx90a", "gfx90a", 0xbf810000);
}

/* Code in the last segment: the image grows. */
static void
test_code_at_the_end(void **state)
{
	struct file f = read_object("args.v5");
	Elf64_Phdr *last = segment(f, PT_LOAD, 3);
	uint64_t end = last->p_vaddr + last->p_memsz;
	struct gp_code_object *code;
	uint32_t word;

	(void)state;
	last->p_flags |= PF_X;
	code = load(f, "gfx1100");
	assert_int_equal(code->image_bytes, (end + 4096 + 4095) / 4096 * 4096);
	memcpy(&word, code->image + code->image_bytes - 4, 4);
	assert_int_equal(word, 0xbf9f0000);
	gp_code_object_destroy(code);
	free(f.data);
}

static uint64_t
placed(const struct gp_code_object *code, uint64_t base, uint64_t at)
{
	uint8_t *loaded = malloc(code->image_bytes);
	uint64_t value;

	gp_code_object_place(code, base, loaded);
	memcpy(&value, loaded + at, 8);
	memcpy(loaded + at, code->image + at, 8);
	assert_memory_equal(loaded, code->image, code->image_bytes);
	free(loaded);
	return value;
}

static void
test_relocations(void **state)
{
	const uint64_t base = 0x7fff12345000;
	struct file f = read_object("args.v5");
	Elf64_Rela *rela = (Elf64_Rela *)table(f, DT_RELA);
	struct gp_code_object *code = load(f, "gfx1100");

	(void)state;
	assert_int_equal(code->n_relocations, 1);
	assert_int_equal(rela->r_info, AMDGPU_R_RELATIVE64);
	assert_int_equal(placed(code, base, rela->r_offset), base + (uint64_t)rela->r_addend);
	gp_code_object_destroy(code);
	rela->r_info = AMDGPU_R_NONE;
	code = load(f, "gfx1100");
	assert_int_equal(code->n_relocations, 0);
	gp_code_object_destroy(code);
	free(f.data);

	f = read_object("hand.v5");
	rela = (Elf64_Rela *)table(f, DT_RELA);
	code = load(f, "gfx1100");
	assert_int_equal((uint32_t)rela->r_info, AMDGPU_R_ABS64);
	assert_int_equal(placed(code, base, rela->r_offset), base + symbol(f, "table")->st_value + 8);
	gp_code_object_destroy(code);
	free(f.data);
}

/* The lowest segment need not be at 0: everything in the code object is relative to it. */
static void
test_low_address(void **state)
{
	struct file f = read_object("hand.v5");
	Elf64_Rela *rela = (Elf64_Rela *)table(f, DT_RELA);
	struct gp_code_object *code;
	const uint64_t up = 0x100000;

	(void)state;
	rela->r_offset += up;
	for (Elf64_Dyn *d = (Elf64_Dyn *)at_address(f, segment(f, PT_DYNAMIC, 0)->p_vaddr); d->d_tag; d++)
		if (d->d_tag == DT_RELA || d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_HASH)
			d->d_un.d_ptr += up;
	for (unsigned i = 0; i < 4; i++)
		segment(f, PT_LOAD, i)->p_vaddr += up;
	segment(f, PT_DYNAMIC, 0)->p_vaddr += up;
	for (unsigned i = 1; i < 7; i++)
		((Elf64_Sym *)table(f, DT_SYMTAB))[i].st_value += up;
	code = load(f, "gfx1100");
	check_invariants(code);
	assert_int_equal(kernel(code, "raw")->entry, 0x1900);
	assert_int_equal(code->relocations[0].place, rela->r_offset - up);
	assert_int_equal(code->relocations[0].value, symbol(f, "table")->st_value - up + 8);
	gp_code_object_destroy(code);
	free(f.data);
}

/* ---- targets ---- */

static void
accepted(const char *name, const char *target)
{
	gp_code_object_destroy(load_named(name, target));
}

static void
test_targets(void **state)
{
	(void)state;
	accepted("args.v6", "gfx1100");
	accepted("args.v6", "gfx1103");
	accepted("args.v6", "gfx1151");
	accepted("args.gfx90a", "gfx90a:sramecc+:xnack-");
	accepted("args.gfx90a", "gfx90a:xnack+");
	accepted("args.gfx942", "gfx942:sramecc+:xnack-");
	accepted("args.gfx900", "gfx900:xnack-");
	accepted("args.gfx90a-xnack", "gfx90a:xnack+");
	refused_free(read_object("args.gfx90a-xnack"), "gfx90a", -ENOTSUP,
		     "built for gfx90a with xnack on, but the device's gfx90a has xnack off");
	refused_free(read_object("args.v6"), "gfx1030", -ENOTSUP, "but the device is gfx1030");
	refused_free(read_object("args.v6"), "gfx1200", -ENOTSUP, "built for gfx11-generic (gfx1100 ");
	refused_free(read_object("args.v5"), "gfx1101", -ENOTSUP,
		     "built for gfx1100, but the device is gfx1101: same gfx11 architecture, other processor");
	refused_free(read_object("args.v5"), "gfx1030", -ENOTSUP,
		     "built for gfx1100, another architecture (gfx11) than the device's gfx1030 (gfx10)");
	refused_free(read_object("args.gfx90a"), "gfx1100", -ENOTSUP, "(gfx9) than the device's gfx1100 (gfx11)");
	refused_free(read_object("args.v5"), "gfx9999", -ENOTSUP, "device target 'gfx9999' is not known");
	refused_free(read_object("args.v5"), "gfx11-generic", -ENOTSUP, "device target 'gfx11-generic' is not known");
	refused_free(read_object("args.v5"), "", -ENOTSUP, "device target '' is not known");
	refused_free(read_object("args.v5"), "gfx1100:xnack+", -EINVAL, "features that gfx1100 does not have");
	refused_free(read_object("args.v5"), "gfx1100:wave", -EINVAL, "features that gfx1100 does not have");
}

static void
flags_refused(const char *object, uint32_t flags, const char *target, int code, const char *text)
{
	struct file f = read_object(object);

	header(f)->e_flags = flags;
	refused_free(f, target, code, text);
}

static void
test_e_flags(void **state)
{
	(void)state;
	flags_refused("args.v5", 0xfe, "gfx1100", -ENOTSUP, "unknown processor (machine 0xfe), the device is gfx1100");
	flags_refused("args.v5", 0x4f, "gfx1100", -ENOTSUP, "built for gfx950");
	flags_refused("args.v5", 0x241, "gfx1100", -ENOEXEC, "xnack off, but gfx1100 has no xnack");
	flags_refused("args.v5", 0x441, "gfx1100", -ENOEXEC, "sramecc any, but gfx1100 has no sramecc");
	flags_refused("args.v5", 0x1041, "gfx1100", -ENOEXEC, "code object v5 does not define (0x00001000)");
	flags_refused("args.v5", 0x01000054, "gfx1100", -ENOEXEC, "code object v5 does not define (0x01000000)");
	flags_refused("args.v5", 0x54, "gfx1100", -ENOEXEC, "gfx11-generic needs code object v6, the file is v5");
	flags_refused("args.v6", 0x54, "gfx1100", -ENOEXEC, "gfx11-generic without a generic version");
	flags_refused("args.v6", 0x02000054, "gfx1100", -ENOTSUP, "generic version 2 of gfx11-generic is too new");
	flags_refused("args.v6", 0x01000041, "gfx1100", -ENOEXEC, "generic version 1, but gfx1100 is one processor");
	flags_refused("args.v6", 0x41, "gfx1100", -ENOEXEC, "e_flags say gfx1100 ");
	flags_refused("args.gfx90a", 0xb3f, "gfx90a", -ENOTSUP, "xnack on, but the device's gfx90a has xnack off");
	flags_refused("args.gfx90a", 0x93f, "gfx90a", -ENOTSUP, "sramecc off, but the device's gfx90a has sramecc on");
	flags_refused("args.gfx90a", 0x63f, "gfx90a", -ENOEXEC,
		      "e_flags say gfx90a (xnack off, sramecc any), amdhsa.target");
}

/* ---- not a code object at all ---- */

static void
test_other_files(void **state)
{
	char text[] = "__CLANG_OFFLOAD_BUNDLE__\1\0\0\0\0\0\0\0";

	(void)state;
	refused((struct file){ (uint8_t *)text, sizeof(text) }, "gfx1100", -ENOTSUP, "clang offload bundle");
	refused((struct file){ (uint8_t *)"CCOB\2", 5 }, "gfx1100", -ENOTSUP, "compressed offload bundle (CCOB)");
	refused((struct file){ (uint8_t *)"BC\xc0\xde", 4 }, "gfx1100", -ENOEXEC, "not an ELF file");
	refused((struct file){ (uint8_t *)"", 0 }, "gfx1100", -ENOEXEC, "not an ELF file");
	refused((struct file){ NULL, 0 }, "gfx1100", -ENOEXEC, "not an ELF file");
	refused((struct file){ (uint8_t *)"\177ELF", 4 }, "gfx1100", -ENOEXEC, "truncated: 4 bytes");
}

static void
test_bad_calls(void **state)
{
	struct gp_code_object *code;
	struct gpuplan_error error;

	(void)state;
	assert_int_equal(gp_code_object_load("", 1, "gfx1100", "x", NULL, &error), -EINVAL);
	assert_int_equal(gp_code_object_load("", 1, NULL, "x", &code, &error), -EINVAL);
	assert_int_equal(gp_code_object_load(NULL, 1, "gfx1100", "x", &code, NULL), -EINVAL);
	gp_code_object_destroy(NULL);
}

/* ---- refusals by patching one field ---- */

enum base { EHDR, LOAD0, LOAD1, LOAD3, NOTE, DYNAMIC, DYN_TAG, DYN_VALUE, SYMBOL, RELA, KD, KEY, TEXT };

struct patch {
	enum base base;
	union {
		int64_t tag;
		const char *name;
	} at;
	size_t offset, bytes;
	uint64_t value;
	int code;
	const char *text;
};

static uint8_t *
patch_base(struct file f, const struct patch *p)
{
	switch (p->base) {
	case EHDR:
		return f.data;
	case LOAD0:
		return (uint8_t *)segment(f, PT_LOAD, 0);
	case LOAD1:
		return (uint8_t *)segment(f, PT_LOAD, 1);
	case LOAD3:
		return (uint8_t *)segment(f, PT_LOAD, 3);
	case NOTE:
		return (uint8_t *)segment(f, PT_NOTE, 0);
	case DYNAMIC:
		return (uint8_t *)segment(f, PT_DYNAMIC, 0);
	case DYN_TAG:
		return (uint8_t *)dynamic(f, p->at.tag);
	case DYN_VALUE:
		return (uint8_t *)&dynamic(f, p->at.tag)->d_un;
	case SYMBOL:
		return (uint8_t *)symbol(f, p->at.name);
	case RELA:
		return table(f, DT_RELA);
	case KD:
		return (uint8_t *)descriptor(f, "plain.kd");
	case KEY:
		return value_of(f, p->at.name);
	case TEXT:
		return metadata(f, p->at.name);
	}
	return NULL;
}

static void
run_patches(const char *object, const char *target, const struct patch *patches, size_t n)
{
	struct file good = read_object(object);

	for (size_t i = 0; i < n; i++) {
		struct file f = copy_object(good);

		memcpy(patch_base(f, &patches[i]) + patches[i].offset, &patches[i].value, patches[i].bytes);
		refused_free(f, target, patches[i].code, patches[i].text);
	}
	free(good.data);
}

#define RUN(object, target, patches) run_patches(object, target, patches, sizeof(patches) / sizeof((patches)[0]))
#define FIELD(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define EH(member, value, code, text)                                                                                  \
	{                                                                                                              \
		EHDR, { 0 }, FIELD(Elf64_Ehdr, member), value, code, text                                              \
	}
#define ID(i, value, code, text)                                                                                       \
	{                                                                                                              \
		EHDR, { 0 }, i, 1, value, code, text                                                                   \
	}
#define PH(which, member, value, code, text)                                                                           \
	{                                                                                                              \
		which, { 0 }, FIELD(Elf64_Phdr, member), value, code, text                                             \
	}
#define DV(t, value, code, text)                                                                                       \
	{                                                                                                              \
		DYN_VALUE, { .tag = t }, 0, 8, value, code, text                                                       \
	}
#define DT(t, value, code, text)                                                                                       \
	{                                                                                                              \
		DYN_TAG, { .tag = t }, 0, 8, value, code, text                                                         \
	}
#define SY(n, member, value, code, text)                                                                               \
	{                                                                                                              \
		SYMBOL, { .name = n }, FIELD(Elf64_Sym, member), value, code, text                                     \
	}
#define RE(member, value, code, text)                                                                                  \
	{                                                                                                              \
		RELA, { 0 }, FIELD(Elf64_Rela, member), value, code, text                                              \
	}
#define KDF(member, value, code, text)                                                                                 \
	{                                                                                                              \
		KD, { 0 }, FIELD(struct amdgpu_kernel_descriptor, member), value, code, text                           \
	}
#define KB(offset, value, code, text)                                                                                  \
	{                                                                                                              \
		KD, { 0 }, offset, 1, value, code, text                                                                \
	}
#define MV(key, value, code, text)                                                                                     \
	{                                                                                                              \
		KEY, { .name = key }, 0, 1, value, code, text                                                          \
	}

static void
test_header_refusals(void **state)
{
	static const struct patch patches[] = {
		ID(EI_CLASS, ELFCLASS32, -ENOEXEC, "64-bit little-endian"),
		ID(EI_DATA, ELFDATA2MSB, -ENOEXEC, "64-bit little-endian"),
		ID(EI_VERSION, 2, -ENOEXEC, "ELF version 2"),
		ID(EI_OSABI, 65, -ENOTSUP, "is for the PAL ABI"),
		ID(EI_OSABI, 66, -ENOTSUP, "is for the Mesa3D ABI"),
		ID(EI_OSABI, 0, -ENOTSUP, "OS ABI 0, not HSA"),
		ID(EI_ABIVERSION, 0, -ENOTSUP, "is code object v2"),
		ID(EI_ABIVERSION, 1, -ENOTSUP, "is code object v3"),
		ID(EI_ABIVERSION, 5, -ENOTSUP, "ELF ABI version 5, newer"),
		EH(e_version, 0, -ENOEXEC, "ELF version"),
		EH(e_machine, 62, -ENOEXEC, "machine 62, not for AMDGPU"),
		EH(e_type, ET_REL, -ENOEXEC, "not linked: run ld.lld"),
		EH(e_type, ET_EXEC, -ENOEXEC, "ELF type 2"),
		EH(e_phnum, 0, -ENOEXEC, "no program headers"),
		EH(e_phnum, 65, -ENOEXEC, "65 program headers, more than 64"),
		EH(e_phnum, 0xffff, -ENOEXEC, "65535 program headers"),
		EH(e_phentsize, 32, -ENOEXEC, "program headers of 32 bytes"),
		EH(e_phoff, UINT64_MAX - 8, -ENOEXEC, "do not fit behind the ELF header in"),
		EH(e_phoff, 1u << 30, -ENOEXEC, "do not fit behind the ELF header in"),
		EH(e_phoff, 0, -ENOEXEC, "headers at 0 do not fit behind"),
	};

	(void)state;
	RUN("args.v5", "gfx1100", patches);
}

static void
test_segment_refusals(void **state)
{
	static const struct patch patches[] = {
		PH(LOAD1, p_offset, UINT64_MAX, -ENOEXEC, "reaches past the file"),
		PH(LOAD1, p_filesz, UINT64_MAX, -ENOEXEC, "reaches past the file"),
		PH(LOAD1, p_memsz, 1, -ENOEXEC, "bytes in the file, 1 in memory"),
		PH(LOAD1, p_vaddr, UINT64_MAX - 0x10, -ENOEXEC, "past the address space"),
		PH(LOAD3, p_memsz, UINT64_MAX - 0x6000, -ENOEXEC, "past the address space"),
		PH(LOAD1, p_vaddr, 0x100, -ENOEXEC, "overlaps or precedes"),
		PH(LOAD0, p_vaddr, 0x100000, -ENOEXEC, "overlaps or precedes"),
		PH(LOAD3, p_memsz, 1u << 30, -ENOEXEC, "needs more than 268435456 bytes"),
		PH(LOAD3, p_vaddr, 1ull << 40, -ENOEXEC, "needs more than 268435456 bytes"),
		PH(NOTE, p_offset, UINT64_MAX, -ENOEXEC, "note segment"),
		PH(NOTE, p_type, PT_NULL, -ENOEXEC, "no AMDGPU metadata note"),
		PH(NOTE, p_type, PT_DYNAMIC, -ENOEXEC, "two dynamic segments"),
		PH(NOTE, p_filesz, 40, -ENOEXEC, "reaches past its segment"),
		PH(DYNAMIC, p_type, PT_NULL, -ENOEXEC, "no dynamic segment"),
		PH(DYNAMIC, p_vaddr, 0x5000000, -ENOEXEC, "dynamic segment is outside"),
		PH(DYNAMIC, p_vaddr, UINT64_MAX, -ENOEXEC, "dynamic segment is outside"),
		PH(DYNAMIC, p_filesz, 32, -ENOEXEC, "dynamic section has no end"),
		PH(LOAD1, p_flags, PF_R, -ENOEXEC, "is not in an executable segment"),
	};
	static const struct patch gfx900[] = {
		KDF(kernel_code_properties, 0x0409, -ENOTSUP, "kernel_code_properties bits are set (0x400)"),
		KDF(compute_pgm_rsrc3, 1, -ENOTSUP, "compute_pgm_rsrc3 bits are set (0x1)"),
		KDF(kernarg_preload, 1, -ENOTSUP, "kernarg_preload bits"),
	};
	static const struct patch gfx942[] = {
		KDF(kernel_code_properties, 0x0009, -ENOTSUP, "kernel_code_properties bits are set (0x1)"),
		KDF(kernel_code_properties, 0x0028, -ENOTSUP, "kernel_code_properties bits are set (0x20)"),
		KDF(kernel_code_properties, 0x0408, -ENOTSUP, "kernel_code_properties bits are set (0x400)"),
		KDF(compute_pgm_rsrc3, 1u << 10, -ENOTSUP, "compute_pgm_rsrc3 bits are set (0x400)"),
	};
	struct file f = read_object("args.v5");

	(void)state;
	RUN("args.gfx900", "gfx900", gfx900);
	RUN("args.gfx942", "gfx942", gfx942);
	RUN("args.v5", "gfx1100", patches);
	for (unsigned i = 0; i < 4; i++)
		segment(f, PT_LOAD, 0)->p_type = PT_NULL;
	refused_free(f, "gfx1100", -ENOEXEC, "nothing to load");
}

static void
test_dynamic_refusals(void **state)
{
	static const struct patch patches[] = {
		DV(DT_SYMTAB, UINT64_MAX - 7, -ENOEXEC, "dynamic symbols at"),
		DV(DT_SYMENT, 16, -ENOEXEC, "dynamic symbols of 16 bytes"),
		DV(DT_STRTAB, 1u << 30, -ENOEXEC, "string table is outside"),
		DV(DT_STRSZ, UINT64_MAX, -ENOEXEC, "string table is outside"),
		DV(DT_STRSZ, 0, -ENOEXEC, "string table is outside"),
		DV(DT_STRSZ, 2, -ENOEXEC, "string table is outside the file or has no end"),
		DV(DT_HASH, 1u << 30, -ENOEXEC, "hash table is outside"),
		DV(DT_HASH, 0x250, -ENOEXEC, "hash table is outside"),
		DV(DT_RELASZ, 25, -ENOEXEC, "25 bytes of relocations, 24 each"),
		DV(DT_RELASZ, 24ull << 40, -ENOEXEC, "relocations at 0x"),
		DV(DT_RELAENT, 16, -ENOEXEC, "relocations, 16 each"),
		DV(DT_RELA, UINT64_MAX, -ENOEXEC, "relocations at 0xffff"),
		DT(DT_RELACOUNT, DT_NEEDED, -ENOTSUP, "another library (DT_NEEDED)"),
		DT(DT_RELACOUNT, DT_REL, -ENOTSUP, "DT_REL relocations"),
		DT(DT_RELACOUNT, DT_JMPREL, -ENOTSUP, "PLT relocations"),
		DT(DT_RELACOUNT, 36, -ENOTSUP, "DT_RELR relocations"),
		DT(DT_RELACOUNT, DT_INIT_ARRAY, -ENOTSUP, "DT_INIT_ARRAY"),
		SY("hidden", st_shndx, SHN_UNDEF, -ENOTSUP, "undefined symbol 'hidden'"),
		SY("hidden", st_shndx, 0xff00, -ENOEXEC, "LDS symbol 'hidden'"),
		SY("hidden", st_name, 0x7fffffff, -ENOEXEC, "outside the string table"),
		SY("plain.kd", st_name, 0, -ENOEXEC,
		   "kernel 'plain' has no dynamic symbol 'plain.kd'; a C kernel needs"),
		SY("plain.kd", st_size, 128, -ENOEXEC, "128 bytes) is no kernel descriptor"),
		SY("plain.kd", st_info, STT_FUNC, -ENOEXEC, "'plain.kd' (type 2, 64 bytes)"),
		SY("plain.kd", st_value, 1u << 30, -ENOEXEC, "descriptor 'plain.kd' at 0x40000000 is outside the file"),
		SY("plain.kd", st_value, UINT64_MAX - 63, -ENOEXEC, "is outside the file"),
		SY("plain.kd", st_value, 0x1510, -ENOEXEC, "is not aligned to 64 bytes"),
		RE(r_info, 1, -ENOTSUP, "R_AMDGPU_ABS32_LO against symbol ''"),
		RE(r_info, 1ull << 32 | 8, -ENOTSUP, "R_AMDGPU_GOTPCREL32_LO against symbol '"),
		RE(r_info, 77, -ENOTSUP, "unknown type 77"),
		RE(r_info, 1ull << 60 | 77, -ENOTSUP, "unknown type 77"),
		RE(r_info, 3, -ENOEXEC, "(R_AMDGPU_ABS64) has no symbol"),
		RE(r_info, 1ull << 40 | 3, -ENOEXEC, "(R_AMDGPU_ABS64) has no symbol"),
		RE(r_offset, UINT64_MAX - 3, -ENOEXEC, "outside the segments"),
		RE(r_offset, 0x55ec, -ENOEXEC, "outside the segments"),
		RE(r_addend, 1u << 30, -ENOEXEC, "points at 0x40000000 outside the file"),
		RE(r_addend, UINT64_MAX, -ENOEXEC, "points at 0xffffffffffffffff"),
	};
	static const struct patch symbolic[] = {
		SY("table", st_shndx, SHN_ABS, -ENOTSUP, "is against 'table', which has no address"),
		RE(r_info, 6ull << 32 | 10, -ENOTSUP, "R_AMDGPU_REL32_LO against symbol 'table'"),
	};

	(void)state;
	RUN("args.v5", "gfx1100", patches);
	RUN("hand.v5", "gfx1100", symbolic);
}

static void
test_descriptor_refusals(void **state)
{
	static const struct patch patches[] = {
		KB(12, 1, -ENOTSUP, "reserved bytes of the descriptor are set (0x1)"),
		KB(24, 1, -ENOTSUP, "reserved bytes of the descriptor"),
		KB(43, 0x80, -ENOTSUP, "reserved bytes of the descriptor are set (0x80)"),
		KB(60, 1, -ENOTSUP, "reserved bytes of the descriptor"),
		KDF(kernel_code_properties, 0x0488, -ENOTSUP, "kernel_code_properties bits are set (0x80)"),
		KDF(kernel_code_properties, 0x8408, -ENOTSUP, "kernel_code_properties bits are set (0x8000)"),
		KDF(kernel_code_properties, 0x0409, -ENOTSUP, "kernel_code_properties bits are set (0x1)"),
		KDF(kernel_code_properties, 0x0428, -ENOTSUP, "kernel_code_properties bits are set (0x20)"),
		KDF(kernel_code_properties, 0x0008, -ENOEXEC, "waves of 64 in its descriptor, 32 in the metadata"),
		KDF(kernarg_preload, 2, -ENOTSUP, "kernarg_preload bits are set (0x2)"),
		KDF(compute_pgm_rsrc1, 1u << 20, -ENOTSUP, "compute_pgm_rsrc1 bits are set (0x100000)"),
		KDF(compute_pgm_rsrc1, 1u << 22, -ENOTSUP, "compute_pgm_rsrc1 bits"),
		KDF(compute_pgm_rsrc1, 1u << 24, -ENOTSUP, "compute_pgm_rsrc1 bits"),
		KDF(compute_pgm_rsrc1, 1u << 25, -ENOTSUP, "compute_pgm_rsrc1 bits"),
		KDF(compute_pgm_rsrc1, 1u << 27, -ENOTSUP, "compute_pgm_rsrc1 bits"),
		KDF(compute_pgm_rsrc2, 1u << 31, -ENOTSUP, "compute_pgm_rsrc2 bits"),
		KDF(compute_pgm_rsrc2, 3u << 11 | 0x1e, -ENOEXEC, "undefined code 3"),
		KDF(compute_pgm_rsrc2, 17u << 1, -ENOEXEC, "asks for 17 user SGPRs, there are 16"),
		KDF(compute_pgm_rsrc2, 1u << 1, -ENOEXEC, "has 1 user SGPRs, but enables contents for 2"),
		KDF(compute_pgm_rsrc3, 1, -ENOTSUP, "compute_pgm_rsrc3 bits are set (0x1)"),
		KDF(compute_pgm_rsrc3, 1u << 10, -ENOTSUP, "compute_pgm_rsrc3 bits"),
		KDF(kernel_code_entry_byte_offset, 1u << 30, -ENOEXEC, "is not in an executable segment"),
		KDF(kernel_code_entry_byte_offset, UINT64_MAX << 63, -ENOEXEC, "is not in an executable segment"),
		KDF(kernel_code_entry_byte_offset, 0, -ENOEXEC, "is not in an executable segment"),
		KDF(kernarg_size, 28, -ENOEXEC, "28 bytes of arguments in its descriptor, 36 in the metadata"),
		KDF(kernarg_size, 65537, -ENOTSUP, "65537 bytes of arguments, more than 65536"),
		KDF(group_segment_fixed_size, 65537, -ENOTSUP, "needs 65537 bytes of LDS, a workgroup can have 65536"),
		KDF(private_segment_fixed_size, 1u << 20, -ENOTSUP, "1048576 bytes of private memory"),
		KDF(private_segment_fixed_size, UINT32_MAX, -ENOTSUP, "4294967295 bytes of private memory"),
	};
	static const struct patch v4[] = {
		KDF(kernel_code_properties, 0x0c08, -ENOTSUP, "kernel_code_properties bits are set (0x800)"),
	};
	static const struct patch gfx9[] = {
		KDF(kernel_code_properties, 0x0409, -ENOTSUP, "kernel_code_properties bits are set (0x400)"),
		KDF(compute_pgm_rsrc1, 1u << 30, -ENOTSUP, "compute_pgm_rsrc1 bits"),
		KDF(compute_pgm_rsrc3, 1u << 8, -ENOTSUP, "compute_pgm_rsrc3 bits"),
		KDF(compute_pgm_rsrc3, 1u << 31, -ENOTSUP, "compute_pgm_rsrc3 bits"),
		KDF(kernarg_preload, 9, -ENOEXEC, "has 6 user SGPRs, but enables contents for 15"),
	};
	struct file f = read_object("args.v5");

	(void)state;
	RUN("args.v5", "gfx1100", patches);
	RUN("args.v4", "gfx1100", v4);
	RUN("args.gfx90a", "gfx90a", gfx9);
	descriptor(f, "plain.kd")->kernel_code_entry_byte_offset += 4;
	refused_free(f, "gfx1100", -ENOEXEC, "is not aligned to 256 bytes");
}

/* LDS of exactly 64 KiB, descriptors without a kernarg size. */
static void
test_descriptor_limits(void **state)
{
	struct file f = read_object("args.v5");
	struct gp_code_object *code;

	(void)state;
	descriptor(f, "plain.kd")->group_segment_fixed_size = 65536;
	descriptor(f, "plain.kd")->kernarg_size = 0;
	code = load(f, "gfx1100");
	assert_int_equal(kernel(code, "plain")->lds_bytes, 65536);
	assert_int_equal(kernel(code, "plain")->kernarg_bytes, 36);
	gp_code_object_destroy(code);
	descriptor(f, "plain.kd")->kernarg_size = 64;
	code = load(f, "gfx1100");
	assert_int_equal(kernel(code, "plain")->kernarg_bytes, 64);
	gp_code_object_destroy(code);
	free(f.data);
}

static void
test_kernarg_preload(void **state)
{
	struct file f = read_object("args.gfx90a");
	struct gp_code_object *code;

	(void)state;
	descriptor(f, "plain.kd")->kernarg_preload = 2;
	descriptor(f, "plain.kd")->compute_pgm_rsrc2 += 2 << 1;
	code = load(f, "gfx90a");
	assert_non_null(strstr(kernel(code, "plain")->refused, "kernel 'plain' preloads arguments into SGPRs"));
	assert_null(kernel(code, "shared")->refused);
	gp_code_object_destroy(code);
	free(f.data);
}

static void
test_metadata_refusals(void **state)
{
	static const struct patch patches[] = {
		MV(".wavefront_size", 16, -ENOEXEC, "'plain' has a .wavefront_size of 16"),
		MV(".wavefront_size", 64, -ENOEXEC, "waves of 32 in its descriptor, 64 in the metadata"),
		MV(".wavefront_size", 0xa0, -ENOEXEC, "has a .wavefront_size that is no unsigned integer"),
		MV(".wavefront_size", 0xff, -ENOEXEC, "has a .wavefront_size that is no unsigned integer"),
		MV(".kernarg_segment_size", 37, -ENOEXEC,
		   "36 bytes of arguments in its descriptor, 37 in the metadata"),
		MV(".kernarg_segment_align", 3, -ENOEXEC, ".kernarg_segment_align of 3"),
		MV(".kernarg_segment_align", 0, -ENOEXEC, ".kernarg_segment_align of 0"),
		MV(".sgpr_count", 0xc0, -ENOEXEC, "has a .sgpr_count that is no unsigned integer"),
		MV(".private_segment_fixed_size", 0xc3, -ENOEXEC, ".private_segment_fixed_size that is no"),
		MV(".group_segment_fixed_size", 0xc2, -ENOEXEC, ".group_segment_fixed_size that is no"),
		MV(".offset", 40, -ENOEXEC,
		   "argument 0 of kernel 'plain' (8 bytes at 40) does not fit in the 36 bytes"),
		MV(".offset", 4, -ENOEXEC,
		   "argument 1 of kernel 'plain' at 8 overlaps the one before it, which ends at 12"),
		MV(".size", 0, -ENOEXEC, "argument 0 of kernel 'plain' (0 bytes"),
		MV(".size", 4, -ENOEXEC, "(global_buffer) has 4 bytes instead of 8"),
		MV("amdhsa.kernels", 0x80, -ENOEXEC, "malformed metadata"),
		MV("amdhsa.version", 0xc0, -ENOEXEC, "malformed metadata"),
		{ KEY,
		  { .name = "amdhsa.version" },
		  1,
		  1,
		  2,
		  -ENOEXEC,
		  "amdhsa.version is 2.2, code object v5 has 1.2" },
		{ KEY,
		  { .name = "amdhsa.version" },
		  2,
		  1,
		  1,
		  -ENOEXEC,
		  "amdhsa.version is 1.1, code object v5 has 1.2" },
		{ KEY, { .name = "amdhsa.version" }, 2, 1, 0xff, -ENOEXEC, "amdhsa.version is no pair of numbers" },
		{ KEY, { .name = ".max_flat_workgroup_size" }, 1, 1, 0, -ENOEXEC, ".max_flat_workgroup_size of 0" },
		{ KEY,
		  { .name = ".reqd_workgroup_size" },
		  1,
		  1,
		  0,
		  -ENOEXEC,
		  ".reqd_workgroup_size outside 1 to 1024" },
		{ KEY, { .name = ".reqd_workgroup_size" }, 1, 1, 9, -ENOEXEC, "9x4x2, over its maximum of 64" },
		{ KEY, { .name = ".pointee_align" }, 0, 1, 3, -ENOEXEC, "has a .pointee_align of 3" },
		{ KEY, { .name = ".args" }, 0, 1, 0xdd, -ENOEXEC, "malformed metadata" },
	};
	static const struct {
		const char *from, *to;
		int code;
		const char *text;
	} texts[] = {
		{ ".wavefront_size", ".wavefront_sizf", -ENOEXEC, "kernel 'plain' has no .wavefront_size" },
		{ ".kernarg_segment_size", ".kernarg_segment_sizf", -ENOEXEC, "has no .kernarg_segment_size" },
		{ ".kernarg_segment_align", ".kernarg_segment_aligo", -ENOEXEC, "has no .kernarg_segment_align" },
		{ ".group_segment_fixed_size", ".group_segment_fixed_sizf", -ENOEXEC, "has no .group_segment_fixed" },
		{ ".private_segment_fixed", ".private_segment_fixee", -ENOEXEC, "has no .private_segment_fixed_size" },
		{ ".sgpr_count", ".sgpr_counu", -ENOEXEC, "has no .sgpr_count" },
		{ ".vgpr_count", ".vgpr_counu", -ENOEXEC, "has no .vgpr_count" },
		{ ".max_flat_workgroup", ".max_flat_workgrouq", -ENOEXEC, "has no .max_flat_workgroup_size" },
		{ ".symbol", ".symbom", -ENOEXEC, "kernel 'plain' has no .symbol" },
		{ ".name\xa5plain", ".namf\xa5plain", -ENOEXEC, "kernel 0 has no .name" },
		{ ".name\xa5plain", ".name\xa5pla\0n", -ENOEXEC,
		  "kernel 0 has a .name that is empty or contains a zero" },
		{ ".name\xa5"
		  "fixed",
		  ".name\xa5"
		  "stack",
		  -ENOEXEC, "kernel 'stack' is there twice" },
		{ "plain.kd", "plaim.kd", -ENOEXEC, "kernel 'plain' has no dynamic symbol 'plaim.kd'" },
		{ "amdhsa.kernels", "amdhsa.kernelt", -ENOEXEC, "the file has no amdhsa.kernels" },
		{ "amdhsa.version", "amdhsa.versioo", -ENOEXEC, "the file has no amdhsa.version" },
		{ "amdhsa.target", "amdhsa.targeu", -ENOEXEC, "the file has no amdhsa.target" },
		{ "amdhsa--gfx1100", "amdhsa--gfx1101", -ENOEXEC, "e_flags say gfx1100 (xnack unsupported" },
		{ "amdhsa--gfx1100", "amdhsa--gfx9:x+", -ENOEXEC, "'amdgcn-amd-amdhsa--gfx9:x+' is no target" },
		{ "amdgcn-amd", "amdgcn-and", -ENOEXEC, "is no target of this loader" },
		{ ".value_kind", ".value_kine", -ENOEXEC, "argument 0 of kernel 'plain' has no .value_kind" },
		{ ".offset", ".offseu", -ENOEXEC, "argument 0 of kernel 'plain' has no .offset" },
		{ ".size\x08", ".sizf\x08", -ENOEXEC, "argument 0 of kernel 'plain' has no .size" },
	};
	struct file good = read_object("args.v5");

	(void)state;
	RUN("args.v5", "gfx1100", patches);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct file f = copy_object(good);

		memcpy(metadata(f, texts[i].from), texts[i].to, strlen(texts[i].from));
		refused_free(f, "gfx1100", texts[i].code, texts[i].text);
	}
	free(good.data);
}

/* Kinds of arguments from the future make their kernel unusable, not the file. */
static void
test_unknown_kinds(void **state)
{
	struct file f = read_object("args.v5");
	struct gp_code_object *code;

	(void)state;
	replace(f, "by_value", "by_vague");
	replace(f, "hidden_group_size_x", "hidden_group_sizf_x");
	code = load(f, "gfx1100");
	assert_non_null(strstr(kernel(code, "plain")->refused, "unknown kind 'by_vague' at offset 16"));
	assert_non_null(
	    strstr(kernel(code, "hidden")->refused, "'hidden_group_sizf_x', which this loader does not know"));
	assert_null(kernel(code, "fixed")->refused);
	gp_code_object_destroy(code);
	free(f.data);
}

static void
test_hidden_size(void **state)
{
	struct file f = read_object("args.v5");
	uint8_t *kind = metadata(f, "hidden_group_size_x"), *size = kind;

	(void)state;
	while (memcmp(size, ".size", 5))
		size--;
	size[5] = 4;
	refused_free(f, "gfx1100", -ENOEXEC, "(hidden_group_size_x) has 4 bytes instead of 2");
}

static void
test_message_is_printable(void **state)
{
	struct file f = read_object("args.v5");

	(void)state;
	memcpy(metadata(f, "\xa5plain") + 1, "p\n\xff\x1bn", 5);
	memcpy(metadata(f, "plain.kd"), "plaim.kd", 8);
	refused_free(f, "gfx1100", -ENOEXEC, "kernel 'p???n' has no dynamic symbol 'plaim.kd'");
}

/* ---- notes ---- */

static void
test_note_refusals(void **state)
{
	struct file good = read_object("args.v5"), f = copy_object(good);
	Elf64_Nhdr *n = (Elf64_Nhdr *)(f.data + segment(f, PT_NOTE, 0)->p_offset);
	Elf64_Phdr *stack;

	(void)state;
	n->n_type = 10;
	refused(f, "gfx1100", -ENOTSUP, "code object v2 metadata note");
	n->n_type = 33;
	refused(f, "gfx1100", -ENOEXEC, "no AMDGPU metadata note");
	n->n_type = 32;
	n->n_namesz = UINT32_MAX;
	refused(f, "gfx1100", -ENOEXEC, "reaches past its segment");
	n->n_namesz = 7;
	n->n_descsz = UINT32_MAX;
	refused(f, "gfx1100", -ENOEXEC, "reaches past its segment");
	segment(f, PT_NOTE, 0)->p_filesz = 20;
	n->n_descsz = 0;
	refused(f, "gfx1100", -ENOEXEC, "not one MessagePack item of 0 bytes");
	segment(f, PT_NOTE, 0)->p_filesz = 120;
	n->n_descsz = 100;
	refused(f, "gfx1100", -ENOEXEC, "not one MessagePack item");
	memcpy(f.data, good.data, good.bytes);
	f.data[segment(f, PT_NOTE, 0)->p_offset + 20] = 0xc1; /* never used by MessagePack */
	refused(f, "gfx1100", -ENOEXEC, "not one MessagePack item");
	memcpy(f.data, good.data, good.bytes);
	stack = segment(f, PT_GNU_STACK, 0);
	*stack = *segment(f, PT_NOTE, 0);
	refused_free(f, "gfx1100", -ENOEXEC, "two AMDGPU metadata notes");
	free(good.data);
}

/* A metadata note of our own in the place of the real one: MessagePack that lies about its sizes. */
static void
with_note(const void *desc, uint32_t bytes, int code, const char *text)
{
	struct file f = read_object("args.v5");
	uint8_t *note = f.data + segment(f, PT_NOTE, 0)->p_offset;

	segment(f, PT_NOTE, 0)->p_filesz = 20 + bytes;
	((Elf64_Nhdr *)note)->n_descsz = bytes;
	memcpy(note + 20, desc, bytes);
	refused_free(f, "gfx1100", code, text);
}

static void
test_hostile_messagepack(void **state)
{
	uint8_t deep[64];

	(void)state;
	with_note("\xdd\xff\xff\xff\xff", 5, -ENOEXEC, "not one MessagePack item");   /* array of 4 billion */
	with_note("\xdf\xff\xff\xff\xff", 5, -ENOEXEC, "not one MessagePack item");   /* map */
	with_note("\xdb\xff\xff\xff\xff", 5, -ENOEXEC, "not one MessagePack item");   /* string */
	with_note("\xc9\xff\xff\xff\xff\1", 6, -ENOEXEC, "not one MessagePack item"); /* extension */
	with_note("\x80\x80", 2, -ENOEXEC, "not one MessagePack item");
	with_note("\x01", 1, -ENOEXEC, "no MessagePack map");
	with_note("\x80", 1, -ENOEXEC, "the file has no amdhsa.version");
	with_note("\x81\x01\xd8"
		  "0123456789abcdefg",
		  20, -ENOEXEC, "the file has no amdhsa.version");
	memset(deep, 0x91, sizeof(deep)); /* array of one array of one ... */
	deep[63] = 0;
	with_note(deep, sizeof(deep), -ENOEXEC, "not one MessagePack item");
}

#define TOP                                                                                                            \
	"\x83\xae"                                                                                                     \
	"amdhsa.version\x92\x01\x02\xad"                                                                               \
	"amdhsa.target\xba"                                                                                            \
	"amdgcn-amd-amdhsa--gfx1100\xae"                                                                               \
	"amdhsa.kernels"
#define NAMES "\xa5.name\xa1k\xa7.symbol\xa1s"
#define SIZES                                                                                                          \
	"\xb9.group_segment_fixed_size\0\xbb.private_segment_fixed_size\0\xab.sgpr_count\0\xab.vgpr_count\0"           \
	"\xaf.wavefront_size\x20"
#define NOTE_SAYS(note, code, text) with_note(note, sizeof(note) - 1, code, text)

static void
test_metadata_of_our_own(void **state)
{
	(void)state;
	NOTE_SAYS(TOP "\x91\x01", -ENOEXEC, "kernel 0 is no map");
	NOTE_SAYS(TOP "\x91\x82" NAMES, -ENOEXEC, "kernel 'k' has no .group_segment_fixed_size");
	NOTE_SAYS(TOP "\x91\x83" NAMES "\xb9.group_segment_fixed_size\xcf\0\0\0\1\0\0\0\0", -ENOEXEC,
		  "kernel 'k' has a .group_segment_fixed_size of 4294967296");
	NOTE_SAYS(TOP "\x91\x89" NAMES SIZES "\xb5.kernarg_segment_size\xce\0\1\0\1\xb6.kernarg_segment_align\x08",
		  -ENOTSUP, "kernel 'k' has 65537 bytes of arguments, more than 65536");
	NOTE_SAYS(TOP "\x91\x8b" NAMES SIZES "\xb5.kernarg_segment_size\x08\xb6.kernarg_segment_align\x08"
		      "\xb8.max_flat_workgroup_size\x40\xb4.reqd_workgroup_size\x92\1\1",
		  -ENOEXEC, ".reqd_workgroup_size that is no list of 3");
	NOTE_SAYS(TOP "\x91\xda\xff\xff", -ENOEXEC, "not one MessagePack item");
}

/* A file with variables and no kernels is fine. */
static void
test_no_kernels(void **state)
{
	struct file f = read_object("args.v5");
	uint8_t *note = f.data + segment(f, PT_NOTE, 0)->p_offset;
	struct gp_code_object *code;

	(void)state;
	((Elf64_Nhdr *)note)->n_descsz = sizeof(TOP "\x90") - 1;
	memcpy(note + 20, TOP "\x90", sizeof(TOP "\x90") - 1);
	segment(f, PT_NOTE, 0)->p_filesz = 20 + sizeof(TOP "\x90") - 1;
	code = load(f, "gfx1100");
	check_invariants(code);
	assert_int_equal(code->n_kernels, 0);
	gp_code_object_destroy(code);
	free(f.data);
}

/* The first argument's map becomes a list of as many items. */
static void
test_argument_is_no_map(void **state)
{
	struct file f = read_object("args.v5");
	uint8_t *first = value_of(f, ".args") + 1;

	(void)state;
	assert_int_equal(*first & 0xf8, 0x80);
	*first = 0x90 | (*first & 7) << 1;
	refused_free(f, "gfx1100", -ENOEXEC, "argument 0 of kernel 'plain' is no map");
}

/* ---- damage ---- */

/* Either loads into something consistent or is refused with a sentence; leaks nothing. The copy has no spare bytes, so
 * that AddressSanitizer sees reads past the end. */
static void
try_damaged(const uint8_t *data, size_t bytes, const char *target)
{
	struct gp_code_object *code = NULL;
	struct gpuplan_error error = { 0 };
	long before = live;
	uint8_t *exact = malloc(bytes ? bytes : 1);
	int r;

	memcpy(exact, data, bytes);
	r = gp_code_object_load(exact, bytes, target, "damaged", &code, &error);
	free(exact);
	if (r) {
		if (r != -ENOEXEC && r != -ENOTSUP)
			fail_msg("returned %d: %s", r, error.message);
		assert_int_equal(error.code, r);
		assert_true(strlen(error.message) > strlen("damaged: ") + 8);
		assert_null(code);
	} else {
		check_invariants(code);
		gp_code_object_destroy(code);
	}
	assert_int_equal(live, before);
}

static void
test_truncated(void **state)
{
	static const char *const objects[] = { "args.v5", "hand.v5", "args.stripped" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct file f = read_object(objects[i]);

		for (size_t n = 0; n < f.bytes; n += n < 512 ? 1 : 64)
			try_damaged(f.data, n, "gfx1100");
		free(f.data);
	}
}

static void
test_bit_flips(void **state)
{
	struct file f = read_object("hand.v5");

	(void)state;
	for (size_t bit = 0; bit < 8 * f.bytes; bit++) {
		f.data[bit / 8] ^= 1u << bit % 8;
		try_damaged(f.data, f.bytes, "gfx1100");
		f.data[bit / 8] ^= 1u << bit % 8;
	}
	free(f.data);
}

/* Every byte of a larger file to a few telling values. */
static void
test_byte_values(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff };
	struct file f = read_object("args.v5");

	(void)state;
	for (size_t i = 0; i < f.bytes; i++) {
		uint8_t old = f.data[i];

		f.data[i] = values[i % 4];
		try_damaged(f.data, f.bytes, "gfx1100");
		f.data[i] = old;
	}
	free(f.data);
}

/* ---- failing allocations ---- */

static void
fail_each_allocation(const char *name, const char *target)
{
	struct file f = read_object(name);
	struct gp_code_object *code = NULL;
	struct gpuplan_error error;
	long before = live;
	int r = -ENOMEM;

	for (long n = 1; r; n++) {
		assert_true(n < 10000);
		memset(&error, 0, sizeof(error));
		calls = 0;
		fail_at = n;
		r = gp_code_object_load(f.data, f.bytes, target, "test", &code, &error);
		fail_at = 0;
		if (!r)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(error.message, "test: out of memory");
		assert_null(code);
		assert_int_equal(live, before);
	}
	assert_true(calls > 10);
	check_invariants(code);
	gp_code_object_destroy(code);
	assert_int_equal(live, before);
	free(f.data);
}

static void
test_failing_allocations(void **state)
{
	(void)state;
	fail_each_allocation("args.v5", "gfx1100");
	fail_each_allocation("args.v4", "gfx1100");
	fail_each_allocation("hand.v5", "gfx1100");
	fail_each_allocation("refused.v5", "gfx1100");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explicit_arguments),
		cmocka_unit_test(test_registers_cleaned),
		cmocka_unit_test(test_hidden_arguments_v5),
		cmocka_unit_test(test_hidden_arguments_v4),
		cmocka_unit_test(test_lds_scratch_and_group_size),
		cmocka_unit_test(test_handmade),
		cmocka_unit_test(test_refused_kernels),
		cmocka_unit_test(test_wave64),
		cmocka_unit_test(test_older_and_newer_generations),
		cmocka_unit_test(test_tg_split),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_gnu_hash),
		cmocka_unit_test(test_gnu_hash_refusals),
		cmocka_unit_test(test_segments_and_zero_fill),
		cmocka_unit_test(test_code_end_padding),
		cmocka_unit_test(test_code_at_the_end),
		cmocka_unit_test(test_relocations),
		cmocka_unit_test(test_low_address),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_e_flags),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_bad_calls),
		cmocka_unit_test(test_header_refusals),
		cmocka_unit_test(test_segment_refusals),
		cmocka_unit_test(test_dynamic_refusals),
		cmocka_unit_test(test_descriptor_refusals),
		cmocka_unit_test(test_descriptor_limits),
		cmocka_unit_test(test_kernarg_preload),
		cmocka_unit_test(test_metadata_refusals),
		cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_hidden_size),
		cmocka_unit_test(test_message_is_printable),
		cmocka_unit_test(test_note_refusals),
		cmocka_unit_test(test_hostile_messagepack),
		cmocka_unit_test(test_metadata_of_our_own),
		cmocka_unit_test(test_no_kernels),
		cmocka_unit_test(test_argument_is_no_map),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_byte_values),
		cmocka_unit_test(test_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
