/* SPDX-License-Identifier: MIT */
/* icache.c: hostile mode's instruction cache: code stays as it was when it was first run, until GLI_INV.
 *
 * The shader cores read code from host memory, so a BO whose code was run gets a private mapping beside the shared
 * one: the lines that were run are copied into it and stay, everything else in it shows what memory holds. The cores
 * are shown that mapping instead of the BO, and do not know.
 *
 * What was run is not known exactly. It is taken to be the code from the dispatch's first instruction on to the first
 * s_code_end, which compilers put behind each kernel, and at most as much as the cache holds. Lines go by virtual
 * address: other code that comes to lie where some was run finds the old lines, too. Kinder than hardware:
 * functions that stand elsewhere are never stale; neither is code in user memory, which has no file to map privately.
 * Stricter: code behind a kernel that has no s_code_end counts as run. Code is fetched through L2, so it can also be
 * stale there.
 */
#define _GNU_SOURCE
#include "icache.h"

#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PAGE_BYTES = 4096,
	LINE = 64,
	BYTES_MAX = 32768,	/* sqc_inst_kib of all profiles */
	SHADOWS_MAX = 32,	/* BOs; the oldest gives way */
	PAGES_MAX = 256,	/* of one BO; when they are used up it starts over */
};

#define S_CODE_END 0xbf9f0000u

struct code_page {
	uint64_t offset;	/* in the BO */
	uint64_t lines;		/* bit per line: cached */
};

struct shadow {
	uint64_t file_offset;	/* identifies the BO, never used again; 0: none */
	uint64_t vm, va;	/* address space, and where the BO's start lay in it when code of it was first run */
	uint64_t bytes;
	uint8_t *memory;	/* private mapping of the whole BO */
	unsigned n_pages;
	struct code_page pages[PAGES_MAX];
};

struct sg_icache {
	struct shadow shadows[SHADOWS_MAX];
	unsigned hand;		/* next to give way */
};

struct sg_icache *
sg_icache_create(void)
{
	return calloc(1, sizeof(struct sg_icache));
}

static void
shadow_forget(struct shadow *s)
{
	if (s->n_pages)
		madvise(s->memory, s->bytes, MADV_DONTNEED); /* shows the file again */
	s->n_pages = 0;
}

void
sg_icache_invalidate(struct sg_icache *c)
{
	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		shadow_forget(&c->shadows[i]);
}

static struct shadow *
shadow_find(const struct sg_icache *c, const struct sg_bo *bo)
{
	if (!bo || bo->user_memory)
		return NULL;
	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		if (c->shadows[i].file_offset == bo->file_offset)
			return (struct shadow *)(uintptr_t)&c->shadows[i];
	return NULL;
}

static struct code_page *
page_take(struct shadow *s, uint64_t offset)
{
	for (unsigned i = 0; i < s->n_pages; i++)
		if (s->pages[i].offset == offset)
			return &s->pages[i];
	if (s->n_pages == PAGES_MAX)
		shadow_forget(s);
	s->pages[s->n_pages] = (struct code_page){ .offset = offset };
	return &s->pages[s->n_pages++];
}

/* Lines of another BO's code at the same addresses. They are this one's from now on. */
static void
page_inherit(struct shadow *s, struct shadow *from, unsigned number)
{
	struct code_page old = from->pages[number];
	struct code_page *page = page_take(s, from->va + old.offset - s->va);

	for (unsigned i = 0; i < PAGE_BYTES / LINE; i++)
		if (old.lines >> i & 1)
			memcpy(s->memory + page->offset + i * LINE, from->memory + old.offset + i * LINE, LINE);
	page->lines |= old.lines;
	from->pages[number] = from->pages[--from->n_pages];
	madvise(from->memory + old.offset, PAGE_BYTES, MADV_DONTNEED);
}

static void
shadow_inherit(struct shadow *s, struct shadow *from)
{
	if (from->vm != s->vm)
		return;
	for (unsigned i = from->n_pages; i-- > 0;) {
		uint64_t va = from->va + from->pages[i].offset;

		if (va >= s->va && va - s->va < s->bytes)
			page_inherit(s, from, i);
	}
}

static struct shadow *
shadow_take(struct sg_icache *c, const struct sg_vm *vm, const struct sg_mapping *m)
{
	const struct sg_bo *bo = m->bo;
	struct shadow *s = shadow_find(c, bo), fresh;

	if (s || !bo || bo->user_memory)
		return s;
	fresh = (struct shadow){ .file_offset = bo->file_offset, .vm = sg_vm_serial(vm), .va = m->va - m->bo_offset,
				 .bytes = bo->bytes };
	fresh.memory = mmap(NULL, bo->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, sg_vram_fd(),
			    (off_t)bo->file_offset);
	if (fresh.memory == MAP_FAILED)
		return NULL;
	for (unsigned i = 0; i < SHADOWS_MAX; i++)
		if (c->shadows[i].file_offset)
			shadow_inherit(&fresh, &c->shadows[i]);
	s = &c->shadows[c->hand++ % SHADOWS_MAX];
	if (s->file_offset)
		munmap(s->memory, s->bytes);
	*s = fresh;
	return s;
}

/* The first store to a private page makes a copy of all of it: lines of it that are not cached follow memory. */
static void
page_follow(struct shadow *s, const struct code_page *page, const uint8_t *host)
{
	uint8_t data[PAGE_BYTES];

	sg_l2_read(host + page->offset, data, sizeof(data), SG_L2_UNCACHED);
	for (unsigned i = 0; i < PAGE_BYTES / LINE; i++)
		if (!(page->lines >> i & 1))
			memcpy(s->memory + page->offset + i * LINE, data + i * LINE, LINE);
}

/* False: the code ends here. */
static bool
line_take(struct shadow *s, const uint8_t *host, uint64_t offset, unsigned first)
{
	struct code_page *page = page_take(s, offset / PAGE_BYTES * PAGE_BYTES);
	unsigned line = offset % PAGE_BYTES / LINE;
	uint32_t words[LINE / 4];

	if (!(page->lines >> line & 1))
		sg_l2_read(host + offset, s->memory + offset, LINE, SG_L2_CACHED);
	page->lines |= 1ull << line;
	memcpy(words, s->memory + offset, LINE);
	for (unsigned i = first; i < LINE / 4; i++)
		if (words[i] == S_CODE_END)
			return false;
	return true;
}

void
sg_icache_fetch(struct sg_icache *c, const struct sg_vm *vm, const struct sg_mapping *m, uint64_t va)
{
	struct shadow *s = shadow_take(c, vm, m);
	uint64_t at = m->bo_offset + (va - m->va), end = m->bo_offset + m->bytes;

	if (!s)
		return;
	const uint8_t *host = m->host - m->bo_offset;
	for (unsigned i = 0; i < s->n_pages; i++)
		page_follow(s, &s->pages[i], host);
	if (end - at > BYTES_MAX)
		end = at + BYTES_MAX;
	unsigned first = at % LINE / 4;
	for (at -= at % LINE; at < end && line_take(s, host, at, first); at += LINE)
		first = 0;
	/* Pages that are new have been copied whole just now. */
}

uint8_t *
sg_icache_host(const struct sg_icache *c, const struct sg_mapping *m)
{
	const struct shadow *s = shadow_find(c, m->bo);

	return s && s->n_pages ? s->memory + m->bo_offset : m->host;
}
