/* SPDX-License-Identifier: MIT */
/*
 * code_object_elf.c: ELF header, segments, the image.
 *
 * Every number is checked here before libelf sees it; libelf hands out the header and program headers. Sections are
 * not read at all: a stripped file loads like any other.
 */
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "code_object_parts.h"

#define PAGE 4096u
#define S_CODE_END 0xBF9F0000u /* gfx10 and later: stops the prefetch as well */
#define S_ENDPGM 0xBF810000u   /* gfx9 has no s_code_end */

static uint64_t
round_page(uint64_t value)
{
	return (value + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static bool
starts_with(const struct gp_co_loader *l, const char *magic, size_t bytes)
{
	return l->bytes >= bytes && !memcmp(l->copy, magic, bytes);
}

/* What people hand in instead of a code object. */
static int
check_magic(struct gp_co_loader *l)
{
	if (starts_with(l, "__CLANG_OFFLOAD_BUNDLE__", 24))
		return gp_co_fail(l, -ENOTSUP,
			       "is a clang offload bundle (__CLANG_OFFLOAD_BUNDLE__), not a code object: "
			       "unbundle it, or compile with --no-gpu-bundle-output");
	if (starts_with(l, "CCOB", 4))
		return gp_co_fail(l, -ENOTSUP,
			       "is a compressed offload bundle (CCOB), not a code object: unbundle it, or "
			       "compile with --no-gpu-bundle-output");
	if (!starts_with(l, ELFMAG, SELFMAG))
		return gp_co_fail(l, -ENOEXEC, "is not an ELF file");
	if (l->bytes < sizeof(Elf64_Ehdr))
		return gp_co_fail(l, -ENOEXEC, "is truncated: %zu bytes, an ELF header has %zu", l->bytes,
			       sizeof(Elf64_Ehdr));
	return 0;
}

static int
check_ident(struct gp_co_loader *l, const Elf64_Ehdr *h)
{
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return gp_co_fail(l, -ENOEXEC, "is not a 64-bit little-endian ELF file (class %u, data %u)",
			       h->e_ident[EI_CLASS], h->e_ident[EI_DATA]);
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return gp_co_fail(l, -ENOEXEC, "has ELF version %u/%u instead of 1", h->e_ident[EI_VERSION], h->e_version);
	if (h->e_machine != AMDGPU_ELF_MACHINE)
		return gp_co_fail(l, -ENOEXEC, "is an ELF file for machine %u, not for AMDGPU (%u)", h->e_machine,
			       AMDGPU_ELF_MACHINE);
	if (h->e_ident[EI_OSABI] == AMDGPU_ELFOSABI_PAL || h->e_ident[EI_OSABI] == AMDGPU_ELFOSABI_MESA3D)
		return gp_co_fail(l, -ENOTSUP, "is for the %s ABI, not for HSA: compile for amdgcn-amd-amdhsa",
			       h->e_ident[EI_OSABI] == AMDGPU_ELFOSABI_PAL ? "PAL" : "Mesa3D");
	if (h->e_ident[EI_OSABI] != AMDGPU_ELFOSABI_HSA)
		return gp_co_fail(l, -ENOTSUP, "has OS ABI %u, not HSA (%u)", h->e_ident[EI_OSABI], AMDGPU_ELFOSABI_HSA);
	return 0;
}

static int
check_version(struct gp_co_loader *l, const Elf64_Ehdr *h)
{
	uint32_t version = h->e_ident[EI_ABIVERSION];

	if (h->e_type == ET_REL)
		return gp_co_fail(l, -ENOEXEC, "is a relocatable object, not linked: run ld.lld -shared on it");
	if (h->e_type != ET_DYN)
		return gp_co_fail(l, -ENOEXEC, "has ELF type %u; a code object is a shared object (%u)", h->e_type,
			       ET_DYN);
	if (version < AMDGPU_ELFABIVERSION_V4)
		return gp_co_fail(l, -ENOTSUP,
			       "is code object v%u, this loader reads v4 to v6: compile with "
			       "-mcode-object-version=5",
			       version + 2);
	if (version > AMDGPU_ELFABIVERSION_V6)
		return gp_co_fail(l, -ENOTSUP,
			       "has ELF ABI version %u, newer than the code object v4 to v6 (2 to 4) that "
			       "this loader reads",
			       version);
	l->code->abi = version + 2;
	return 0;
}

static int
check_program_headers(struct gp_co_loader *l, const Elf64_Ehdr *h)
{
	if (!h->e_phnum)
		return gp_co_fail(l, -ENOEXEC, "malformed: no program headers");
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return gp_co_fail(l, -ENOEXEC, "malformed: program headers of %u bytes instead of %zu", h->e_phentsize,
			       sizeof(Elf64_Phdr));
	if (h->e_phnum > CO_MAX_SEGMENTS)
		return gp_co_fail(l, -ENOEXEC, "has %u program headers, more than %u", h->e_phnum, CO_MAX_SEGMENTS);
	if (h->e_phoff < sizeof(*h) || !gp_co_range_ok(h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), l->bytes))
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: %u program headers at %llu do not fit behind the ELF header in %zu bytes",
			       h->e_phnum, (unsigned long long)h->e_phoff, l->bytes);
	return 0;
}

static int
check_header(struct gp_co_loader *l)
{
	Elf64_Ehdr h;
	int r = check_magic(l);

	if (r)
		return r;
	memcpy(&h, l->copy, sizeof(h));
	r = check_ident(l, &h);
	if (!r)
		r = check_version(l, &h);
	if (!r)
		r = check_program_headers(l, &h);
	return r ? r : gp_co_check_flags(l, h.e_flags);
}

/* libelf reads section headers on its own; without them it has nothing to trust that check_header has not checked.
 * Returns the header as it was. */
static Elf64_Ehdr
blank_sections(struct gp_co_loader *l)
{
	Elf64_Ehdr was, h;

	memcpy(&was, l->copy, sizeof(was));
	h = was;
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	memcpy(l->copy, &h, sizeof(h));
	return was;
}

static int
check_load(struct gp_co_loader *l, const Elf64_Phdr *p, uint32_t i)
{
	uint64_t end;

	if (!gp_co_range_ok(p->p_offset, p->p_filesz, l->bytes))
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: segment %u (%llu bytes at %llu) reaches past the file's %zu bytes", i,
			       (unsigned long long)p->p_filesz, (unsigned long long)p->p_offset, l->bytes);
	if (p->p_filesz > p->p_memsz)
		return gp_co_fail(l, -ENOEXEC, "malformed: segment %u has %llu bytes in the file, %llu in memory", i,
			       (unsigned long long)p->p_filesz, (unsigned long long)p->p_memsz);
	if (__builtin_add_overflow(p->p_vaddr, p->p_memsz, &end) || end > UINT64_MAX - 2 * PAGE)
		return gp_co_fail(l, -ENOEXEC, "malformed: segment %u ends past the address space", i);
	return 0;
}

static int
add_segment(struct gp_co_loader *l, const Elf64_Phdr *p, uint32_t i)
{
	const struct gp_co_segment *last = l->n_segments ? &l->segments[l->n_segments - 1] : NULL;
	uint64_t at;
	int r = check_load(l, p, i);

	if (r || !p->p_memsz)
		return r;
	if (!last)
		l->low = p->p_vaddr & ~(uint64_t)(PAGE - 1);
	if (p->p_vaddr < l->low || (last && p->p_vaddr - l->low < last->at + last->memory_bytes))
		return gp_co_fail(l, -ENOEXEC, "malformed: segment %u overlaps or precedes the one before it", i);
	at = p->p_vaddr - l->low;
	if (!gp_co_range_ok(at, p->p_memsz, CO_MAX_IMAGE))
		return gp_co_fail(l, -ENOEXEC, "needs more than %u bytes when loaded (segment %u: %llu bytes at %llu)",
			       CO_MAX_IMAGE, i, (unsigned long long)p->p_memsz, (unsigned long long)at);
	l->segments[l->n_segments++] = (struct gp_co_segment){
		.offset = p->p_offset,
		.at = at,
		.file_bytes = p->p_filesz,
		.memory_bytes = p->p_memsz,
		.executable = p->p_flags & PF_X,
	};
	return 0;
}

/* Another note segment may stand beside it (build id). */
static int
add_note(struct gp_co_loader *l, const uint8_t *desc, uint32_t bytes, uint32_t type)
{
	if (type == 10) /* NT_AMD_HSA_METADATA */
		return gp_co_fail(l, -ENOTSUP, "has a code object v2 metadata note (YAML, type 10)");
	if (type != AMDGPU_NT_METADATA)
		return 0;
	if (l->note)
		return gp_co_fail(l, -ENOEXEC, "malformed: two AMDGPU metadata notes");
	l->note = desc;
	l->note_bytes = bytes;
	return 0;
}

static bool
is_amd(const uint8_t *name, const Elf64_Nhdr *n)
{
	return (n->n_namesz == 7 && !memcmp(name, "AMDGPU", 7)) ||
	       (n->n_namesz == 4 && !memcmp(name, "AMD", 4) && n->n_type == 10);
}

/* Name and desc are padded to 4 bytes (the last desc may lack its padding). */
static int
read_notes(struct gp_co_loader *l, const Elf64_Phdr *p, uint32_t i)
{
	uint64_t at = 0, name, desc;
	Elf64_Nhdr n;
	int r = 0;

	if (!gp_co_range_ok(p->p_offset, p->p_filesz, l->bytes))
		return gp_co_fail(l, -ENOEXEC, "malformed: note segment %u reaches past the file's %zu bytes", i,
			       l->bytes);
	while (!r && at < p->p_filesz && p->p_filesz - at >= sizeof(n)) {
		const uint8_t *base = l->copy + p->p_offset;

		memcpy(&n, base + at, sizeof(n));
		name = at + sizeof(n);
		desc = name + (((uint64_t)n.n_namesz + 3) & ~3ull);
		if (!gp_co_range_ok(desc, n.n_descsz, p->p_filesz))
			return gp_co_fail(l, -ENOEXEC,
				       "malformed: note at %llu (name %u, desc %u bytes) reaches past its segment",
				       (unsigned long long)(p->p_offset + at), n.n_namesz, n.n_descsz);
		if (is_amd(base + name, &n))
			r = add_note(l, base + desc, n.n_descsz, n.n_type);
		at = desc + (((uint64_t)n.n_descsz + 3) & ~3ull);
	}
	return r;
}

/* The dynamic section is read from the image, where PT_LOAD put it. */
static int
note_dynamic(struct gp_co_loader *l, const Elf64_Phdr *p)
{
	if (l->dynamic_bytes)
		return gp_co_fail(l, -ENOEXEC, "malformed: two dynamic segments");
	l->dynamic = p->p_vaddr;
	l->dynamic_bytes = p->p_filesz;
	return 0;
}

static int
read_program_header(struct gp_co_loader *l, const Elf64_Phdr *p, uint32_t i)
{
	switch (p->p_type) {
	case PT_LOAD:
		return add_segment(l, p, i);
	case PT_NOTE:
		return read_notes(l, p, i);
	case PT_DYNAMIC:
		return note_dynamic(l, p);
	default:
		return 0; /* PT_PHDR, PT_GNU_RELRO, PT_GNU_STACK: nothing to do on a GPU */
	}
}

static int
read_program_headers(struct gp_co_loader *l)
{
	const Elf64_Ehdr *h;
	const Elf64_Phdr *p;
	Elf64_Ehdr was = blank_sections(l);
	Elf *elf;
	int r = 0;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)l->copy, l->bytes);
	h = elf ? elf64_getehdr(elf) : NULL;
	p = h ? elf64_getphdr(elf) : NULL;
	if (!p) /* check_header has left libelf no other reason */
		r = gp_co_nomem(l);
	for (uint32_t i = 0; !r && i < h->e_phnum; i++) {
		Elf64_Phdr one; /* p is unaligned when e_phoff is */

		memcpy(&one, (const uint8_t *)p + i * sizeof(one), sizeof(one));
		r = read_program_header(l, &one, i);
	}
	elf_end(elf);
	memcpy(l->copy, &was, sizeof(was)); /* the image holds the file's own bytes */
	if (!r && !l->n_segments)
		r = gp_co_fail(l, -ENOEXEC, "malformed: nothing to load (no PT_LOAD)");
	return r;
}

static uint64_t
segment_end(const struct gp_co_segment *s)
{
	return s->at + s->memory_bytes;
}

static size_t
image_bytes(const struct gp_co_loader *l)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < l->n_segments; i++) {
		uint64_t e = segment_end(&l->segments[i]) + (l->segments[i].executable ? CO_CODE_PAD : 0);

		end = e > end ? e : end;
	}
	return round_page(end);
}

/* Behind code, up to the next segment or the end of the page that CO_CODE_PAD reaches into. */
static void
pad_code(struct gp_co_loader *l, uint32_t i)
{
	uint64_t at = (segment_end(&l->segments[i]) + 3) & ~3ull, end = round_page(at + CO_CODE_PAD);
	uint32_t filler = l->major >= 10 ? S_CODE_END : S_ENDPGM;

	if (end > l->code->image_bytes)
		end = l->code->image_bytes;
	if (i + 1 < l->n_segments && end > l->segments[i + 1].at)
		end = l->segments[i + 1].at;
	for (; at + sizeof(filler) <= end; at += sizeof(filler))
		memcpy(l->code->image + at, &filler, sizeof(filler));
}

static int
build_image(struct gp_co_loader *l)
{
	struct gp_code_object *code = l->code;

	code->image_bytes = image_bytes(l);
	code->image = calloc(1, code->image_bytes);
	if (!code->image)
		return gp_co_nomem(l);
	for (uint32_t i = 0; i < l->n_segments; i++) {
		const struct gp_co_segment *s = &l->segments[i];

		memcpy(code->image + s->at, l->copy + s->offset, s->file_bytes);
		if (s->executable)
			pad_code(l, i);
	}
	return 0;
}

int
gp_co_read_elf(struct gp_co_loader *l)
{
	int r = check_header(l);

	if (!r)
		r = read_program_headers(l);
	return r ? r : build_image(l);
}

const uint8_t *
gp_co_file_bytes(const struct gp_co_loader *l, uint64_t at, uint64_t bytes, bool executable)
{
	for (uint32_t i = 0; i < l->n_segments; i++) {
		const struct gp_co_segment *s = &l->segments[i];

		if (at >= s->at && gp_co_range_ok(at - s->at, bytes, s->file_bytes) && (s->executable || !executable))
			return l->code->image + at;
	}
	return NULL;
}

bool
gp_co_in_segment(const struct gp_co_loader *l, uint64_t at, uint64_t bytes)
{
	for (uint32_t i = 0; i < l->n_segments; i++)
		if (at >= l->segments[i].at && gp_co_range_ok(at - l->segments[i].at, bytes, l->segments[i].memory_bytes))
			return true;
	return false;
}
