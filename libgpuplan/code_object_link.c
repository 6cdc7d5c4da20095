/* SPDX-License-Identifier: MIT */
/* code_object_link.c: dynamic section, symbols and relocations. Source: the ELF gABI, LLVM's AMDGPUUsage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_object_parts.h"

#define SHN_AMDGPU_LDS 0xff00 /* LDS variables before linking */

/* Addresses as in the file; 0 where the entry is absent. */
struct dynamic {
	uint64_t symtab, syment, strtab, strsz, hash, gnu_hash, rela, relasz, relaent;
};

static const char *const relocation_names[] = {
	"R_AMDGPU_NONE",
	"R_AMDGPU_ABS32_LO",
	"R_AMDGPU_ABS32_HI",
	"R_AMDGPU_ABS64",
	"R_AMDGPU_REL32",
	"R_AMDGPU_REL64",
	"R_AMDGPU_ABS32",
	"R_AMDGPU_GOTPCREL",
	"R_AMDGPU_GOTPCREL32_LO",
	"R_AMDGPU_GOTPCREL32_HI",
	"R_AMDGPU_REL32_LO",
	"R_AMDGPU_REL32_HI",
	"type 12",
	"R_AMDGPU_RELATIVE64",
	"R_AMDGPU_REL16",
};

/* Entries of .dynamic that ask for something this loader does not do. */
static const struct {
	int64_t tag;
	const char *name;
} refused_tags[] = {
	{ DT_NEEDED, "another library (DT_NEEDED)" }, { DT_REL, "DT_REL relocations" },
	{ DT_JMPREL, "PLT relocations (DT_JMPREL)" }, { 36, "DT_RELR relocations" },
	{ DT_INIT, "a host-style DT_INIT" },	      { DT_INIT_ARRAY, "a DT_INIT_ARRAY" },
};

/* p is an address of the file; the bytes must come from the file. NULL otherwise. */
static const uint8_t *
at_address(const struct gp_co_loader *l, uint64_t address, uint64_t bytes)
{
	return address < l->low ? NULL : gp_co_file_bytes(l, address - l->low, bytes, false);
}

static int
check_tag(struct gp_co_loader *l, int64_t tag)
{
	for (size_t i = 0; i < sizeof(refused_tags) / sizeof(refused_tags[0]); i++)
		if (refused_tags[i].tag == tag)
			return gp_co_fail(l, -ENOTSUP, "needs %s, which this loader does not support",
				       refused_tags[i].name);
	return 0;
}

static void
take_entry(struct dynamic *d, const Elf64_Dyn *e)
{
	switch (e->d_tag) {
	case DT_SYMTAB:
		d->symtab = e->d_un.d_ptr;
		break;
	case DT_SYMENT:
		d->syment = e->d_un.d_val;
		break;
	case DT_STRTAB:
		d->strtab = e->d_un.d_ptr;
		break;
	case DT_STRSZ:
		d->strsz = e->d_un.d_val;
		break;
	case DT_HASH:
		d->hash = e->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = e->d_un.d_ptr;
		break;
	case DT_RELA:
		d->rela = e->d_un.d_ptr;
		break;
	case DT_RELASZ:
		d->relasz = e->d_un.d_val;
		break;
	case DT_RELAENT:
		d->relaent = e->d_un.d_val;
		break;
	}
}

static int
read_dynamic(struct gp_co_loader *l, struct dynamic *d)
{
	const uint8_t *p = at_address(l, l->dynamic, l->dynamic_bytes);
	Elf64_Dyn e;
	int r = 0;

	if (!l->dynamic_bytes)
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: no dynamic segment, so no symbols: linked with ld.lld -shared?");
	if (!p)
		return gp_co_fail(l, -ENOEXEC, "malformed: the dynamic segment is outside the loaded ones");
	for (uint64_t i = 0; !r && i < l->dynamic_bytes / sizeof(e); i++) {
		memcpy(&e, p + i * sizeof(e), sizeof(e));
		if (e.d_tag == DT_NULL)
			return 0;
		take_entry(d, &e);
		r = check_tag(l, e.d_tag);
	}
	return r ? r : gp_co_fail(l, -ENOEXEC, "malformed: the dynamic section has no end");
}

static bool
read_words(const struct gp_co_loader *l, uint64_t address, uint32_t *words, uint32_t n)
{
	const uint8_t *p = at_address(l, address, n * sizeof(*words));

	if (p)
		memcpy(words, p, n * sizeof(*words));
	return p;
}

/* DT_HASH: nbucket, nchain; there are as many chain entries as symbols. */
static bool
count_by_hash(const struct gp_co_loader *l, const struct dynamic *d, uint64_t *n)
{
	uint32_t head[2];

	if (!read_words(l, d->hash, head, 2))
		return false;
	*n = head[1];
	return at_address(l, d->hash, 8 + 4 * ((uint64_t)head[0] + head[1]));
}

static uint32_t
highest_bucket(const uint8_t *buckets, uint32_t n)
{
	uint32_t highest = 0, bucket;

	for (uint32_t i = 0; i < n; i++) {
		memcpy(&bucket, buckets + 4ull * i, 4);
		highest = bucket > highest ? bucket : highest;
	}
	return highest;
}

/* DT_GNU_HASH: nbuckets, symoffset, bloom words of 8 bytes, shift; then bloom, buckets and one chain word for each
 * symbol from symoffset on, the last of a bucket with bit 0 set. */
static bool
count_by_gnu_hash(const struct gp_co_loader *l, const struct dynamic *d, uint64_t *n)
{
	uint32_t head[4], last, word;
	const uint8_t *buckets;
	uint64_t at, chains;

	if (!read_words(l, d->gnu_hash, head, 4))
		return false;
	at = d->gnu_hash + 16 + 8ull * head[2];
	buckets = at_address(l, at, 4ull * head[0]);
	if (!buckets)
		return false;
	chains = at + 4ull * head[0];
	last = highest_bucket(buckets, head[0]);
	*n = head[1];
	if (!last)
		return true;
	if (last < head[1])
		return false;
	do {
		if (!read_words(l, chains + 4ull * (last - head[1]), &word, 1))
			return false;
		last++;
	} while (!(word & 1) && last);
	*n = last;
	return true;
}

static int
find_tables(struct gp_co_loader *l, const struct dynamic *d)
{
	bool counted =
	    d->hash ? count_by_hash(l, d, &l->n_symbols) : d->gnu_hash && count_by_gnu_hash(l, d, &l->n_symbols);

	if (!counted)
		return gp_co_fail(l, -ENOEXEC, "malformed: %s",
			       d->hash || d->gnu_hash ? "the symbol hash table is outside the file or inconsistent"
						      : "no symbol hash table (DT_HASH or DT_GNU_HASH)");
	if (d->syment != sizeof(Elf64_Sym))
		return gp_co_fail(l, -ENOEXEC, "malformed: dynamic symbols of %llu bytes instead of %zu",
			       (unsigned long long)d->syment, sizeof(Elf64_Sym));
	l->symbols = at_address(l, d->symtab, l->n_symbols * sizeof(Elf64_Sym));
	if (!l->symbols)
		return gp_co_fail(l, -ENOEXEC, "malformed: %llu dynamic symbols at 0x%llx are outside the file",
			       (unsigned long long)l->n_symbols, (unsigned long long)d->symtab);
	l->strings = (const char *)at_address(l, d->strtab, d->strsz);
	l->string_bytes = d->strsz;
	if (!l->strings || !d->strsz || l->strings[d->strsz - 1])
		return gp_co_fail(l, -ENOEXEC, "malformed: the dynamic string table is outside the file or has no end");
	return 0;
}

static bool
get_symbol(const struct gp_co_loader *l, uint64_t i, struct gp_co_symbol *symbol)
{
	Elf64_Sym s;

	if (i >= l->n_symbols)
		return false;
	memcpy(&s, l->symbols + i * sizeof(s), sizeof(s));
	if (s.st_name >= l->string_bytes)
		return false;
	*symbol = (struct gp_co_symbol){
		.name = l->strings + s.st_name,
		.value = s.st_value,
		.bytes = s.st_size,
		.section = s.st_shndx,
		.type = ELF64_ST_TYPE(s.st_info),
	};
	return true;
}

static int
check_symbol(struct gp_co_loader *l, uint64_t i)
{
	struct gp_co_symbol s;
	char name[CO_TEXT];

	if (!get_symbol(l, i, &s))
		return gp_co_fail(l, -ENOEXEC, "malformed: the name of dynamic symbol %llu is outside the string table",
			       (unsigned long long)i);
	if (s.section == SHN_UNDEF)
		return gp_co_fail(l, -ENOTSUP, "undefined symbol '%s': everything must be linked into the one file",
			       gp_co_text(name, s.name, strlen(s.name)));
	if (s.section == SHN_AMDGPU_LDS)
		return gp_co_fail(l, -ENOEXEC, "malformed: LDS symbol '%s' was not resolved by the linker",
			       gp_co_text(name, s.name, strlen(s.name)));
	return 0;
}

/* Symbol 0 is the null symbol. */
static int
check_symbols(struct gp_co_loader *l)
{
	int r = 0;

	for (uint64_t i = 1; !r && i < l->n_symbols; i++)
		r = check_symbol(l, i);
	return r;
}

bool
gp_co_find_symbol(const struct gp_co_loader *l, const char *name, struct gp_co_symbol *symbol)
{
	for (uint64_t i = 1; i < l->n_symbols; i++)
		if (get_symbol(l, i, symbol) && !strcmp(symbol->name, name))
			return true;
	return false;
}

static int
find_relas(struct gp_co_loader *l, const struct dynamic *d)
{
	if (!d->relasz)
		return 0;
	if (d->relaent != sizeof(Elf64_Rela) || d->relasz % sizeof(Elf64_Rela))
		return gp_co_fail(l, -ENOEXEC, "malformed: %llu bytes of relocations, %llu each",
			       (unsigned long long)d->relasz, (unsigned long long)d->relaent);
	l->relas = at_address(l, d->rela, d->relasz);
	l->n_relas = d->relasz / sizeof(Elf64_Rela);
	if (!l->relas)
		return gp_co_fail(l, -ENOEXEC, "malformed: %llu relocations at 0x%llx are outside the file",
			       (unsigned long long)l->n_relas, (unsigned long long)d->rela);
	return 0;
}

static int
refuse_relocation(struct gp_co_loader *l, uint64_t i, uint32_t type, uint32_t symbol)
{
	struct gp_co_symbol s = { .name = "" };
	char name[CO_TEXT];

	if (symbol)
		get_symbol(l, symbol, &s);
	if (type < sizeof(relocation_names) / sizeof(relocation_names[0]))
		return gp_co_fail(l, -ENOTSUP,
			       "relocation %llu is %s against symbol '%s'; only R_AMDGPU_RELATIVE64 and "
			       "R_AMDGPU_ABS64 are supported",
			       (unsigned long long)i, relocation_names[type], gp_co_text(name, s.name, strlen(s.name)));
	return gp_co_fail(l, -ENOTSUP, "relocation %llu has unknown type %u against symbol '%s'", (unsigned long long)i,
		       type, gp_co_text(name, s.name, strlen(s.name)));
}

/* Address in the file of what the relocation points at. Arithmetic wraps as in the gABI; the result is checked. */
static int
relocation_target(struct gp_co_loader *l, const Elf64_Rela *e, uint64_t i, uint64_t *address)
{
	uint32_t type = (uint32_t)e->r_info, index = (uint32_t)(e->r_info >> 32);
	struct gp_co_symbol s = { .value = 0 };
	char name[CO_TEXT];

	if (type != AMDGPU_R_RELATIVE64 && type != AMDGPU_R_ABS64)
		return refuse_relocation(l, i, type, index);
	if (type == AMDGPU_R_ABS64) {
		if (!index || !get_symbol(l, index, &s))
			return gp_co_fail(l, -ENOEXEC, "malformed: relocation %llu (R_AMDGPU_ABS64) has no symbol",
				       (unsigned long long)i);
		if (s.section >= SHN_LORESERVE)
			return gp_co_fail(l, -ENOTSUP,
				       "relocation %llu (R_AMDGPU_ABS64) is against '%s', which has no address in "
				       "the file",
				       (unsigned long long)i, gp_co_text(name, s.name, strlen(s.name)));
	}
	*address = s.value + (uint64_t)e->r_addend;
	return 0;
}

static int
add_relocation(struct gp_co_loader *l, uint64_t i)
{
	struct gp_code_object *code = l->code;
	uint64_t address = 0;
	Elf64_Rela e;
	int r;

	memcpy(&e, l->relas + i * sizeof(e), sizeof(e));
	if ((uint32_t)e.r_info == AMDGPU_R_NONE)
		return 0;
	r = relocation_target(l, &e, i, &address);
	if (r)
		return r;
	if (e.r_offset < l->low || !gp_co_in_segment(l, e.r_offset - l->low, 8))
		return gp_co_fail(l, -ENOEXEC, "malformed: relocation %llu changes address 0x%llx outside the segments",
			       (unsigned long long)i, (unsigned long long)e.r_offset);
	if (address < l->low || address - l->low > code->image_bytes) /* one past the end is a pointer C allows */
		return gp_co_fail(l, -ENOEXEC, "malformed: relocation %llu points at 0x%llx outside the file",
			       (unsigned long long)i, (unsigned long long)address);
	code->relocations[code->n_relocations++] = (struct gp_code_relocation){ e.r_offset - l->low, address - l->low };
	return 0;
}

static int
read_relocations(struct gp_co_loader *l)
{
	int r = 0;

	if (!l->n_relas)
		return 0;
	if (l->n_relas > UINT32_MAX)
		return gp_co_fail(l, -ENOEXEC, "has %llu relocations", (unsigned long long)l->n_relas);
	l->code->relocations = calloc(l->n_relas, sizeof(*l->code->relocations));
	if (!l->code->relocations)
		return gp_co_nomem(l);
	for (uint64_t i = 0; !r && i < l->n_relas; i++)
		r = add_relocation(l, i);
	return r;
}

int
gp_co_link(struct gp_co_loader *l)
{
	struct dynamic d = { 0 };
	int r = read_dynamic(l, &d);

	if (!r)
		r = find_tables(l, &d);
	if (!r)
		r = check_symbols(l);
	if (!r)
		r = find_relas(l, &d);
	return r ? r : read_relocations(l);
}
