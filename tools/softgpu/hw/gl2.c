/* SPDX-License-Identifier: MIT */
/* gl2.c: hostile mode's L2 cache, as far as the CPU can tell that there is one.
 *
 * All engines of the GPU go through it, so between them it does not show. The CPU does not: what the GPU writes stays
 * here until a write-back, and what the GPU has read or written once is not read again from memory until an
 * invalidation, whatever the CPU stores there meanwhile. Each byte has a bit that says it is cached and one that says
 * it is dirty, so that a write-back never touches bytes of the line that the GPU did not write.
 *
 * Lines are kept by the page of 4 KiB. There is room for PAGES_MAX pages; after that the oldest page gives way: its
 * dirty bytes are written back and its clean ones forgotten, both of which hardware may do at any time.
 */
#include "gl2.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE_BYTES = 4096,
	LINE = 64,
	LINES = PAGE_BYTES / LINE,
	PAGES_MAX = 1 << 14,	/* 64 MiB: ten times what the cards have */
	BUCKETS = 1 << 15,
};

struct page {
	uint64_t key;		/* host address / PAGE_BYTES */
	uint32_t next;		/* in its bucket */
	uint32_t generation;	/* other than gl2's: invalidated since, carried out when the page is looked up */
	bool listed;		/* in gl2.dirty */
	uint64_t cached[LINES];	/* a bit per byte */
	uint64_t dirty[LINES];	/* subset of cached */
	uint8_t data[PAGE_BYTES];
};

/* Pages are numbered from 1; 0 is none. */
static struct {
	struct page *pages[PAGES_MAX + 1];
	uint32_t bucket[BUCKETS];
	uint32_t dirty[PAGES_MAX]; /* pages that may have dirty bytes */
	uint32_t n_dirty;
	uint32_t count;
	uint32_t hand;		/* last page that gave way */
	uint32_t generation;
	struct page *last;	/* last one looked up */
} gl2;

/* ---- pages ---- */

static uint32_t
bucket_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 49); /* 15 bits */
}

static uint8_t *
page_host(const struct page *p)
{
	return (uint8_t *)(uintptr_t)(p->key * PAGE_BYTES);
}

static void
page_refresh(struct page *p)
{
	if (p->generation == gl2.generation)
		return;
	memcpy(p->cached, p->dirty, sizeof(p->cached));
	p->generation = gl2.generation;
}

static struct page *
page_find(uint64_t key)
{
	struct page *p = gl2.last;

	if (!p || p->key != key) {
		uint32_t i = gl2.bucket[bucket_of(key)];
		while (i && gl2.pages[i]->key != key)
			i = gl2.pages[i]->next;
		if (!i)
			return NULL;
		p = gl2.last = gl2.pages[i];
	}
	page_refresh(p);
	return p;
}

static void
store_word(uint8_t *host, const uint8_t *data, unsigned dirty)
{
	uint64_t wide;
	uint32_t half;

	/* Whole words at once: the CPU may poll them. */
	if (dirty == 0xff) {
		memcpy(&wide, data, 8);
		__atomic_store_n((uint64_t *)(void *)host, wide, __ATOMIC_RELAXED);
		return;
	}
	for (unsigned i = 0; i < 8; i += 4) {
		if ((dirty >> i & 15) == 15) {
			memcpy(&half, data + i, 4);
			__atomic_store_n((uint32_t *)(void *)(host + i), half, __ATOMIC_RELAXED);
			continue;
		}
		for (unsigned k = i; k < i + 4; k++)
			if (dirty >> k & 1)
				__atomic_store_n(host + k, data[k], __ATOMIC_RELAXED);
	}
}

static void
line_write_back(struct page *p, unsigned line)
{
	uint64_t dirty = p->dirty[line];

	p->dirty[line] = 0;
	for (unsigned i = 0; dirty; i += 8, dirty >>= 8)
		if (dirty & 0xff)
			store_word(page_host(p) + line * LINE + i, p->data + line * LINE + i, dirty & 0xff);
}

static void
page_write_back(struct page *p)
{
	for (unsigned line = 0; line < LINES; line++)
		if (p->dirty[line])
			line_write_back(p, line);
}

static void
page_unlink(uint32_t index)
{
	uint32_t *at = &gl2.bucket[bucket_of(gl2.pages[index]->key)];

	while (*at != index)
		at = &gl2.pages[*at]->next;
	*at = gl2.pages[index]->next;
}

/* A page for other use, the oldest when there is no room; 0: no memory at all. */
static uint32_t
page_room(void)
{
	if (gl2.count < PAGES_MAX) {
		struct page *p = calloc(1, sizeof(*p));
		if (p) {
			gl2.pages[++gl2.count] = p;
			return gl2.count;
		}
	}
	if (gl2.count == 0)
		return 0;
	uint32_t index = gl2.hand = gl2.hand % gl2.count + 1;
	page_write_back(gl2.pages[index]);
	page_unlink(index);
	memset(gl2.pages[index]->cached, 0, sizeof(gl2.pages[index]->cached));
	return index;
}

/* NULL: no memory, then the access goes past the cache. */
static struct page *
page_take(uint64_t key)
{
	struct page *p = page_find(key);
	uint32_t index = p ? 0 : page_room();

	if (!index)
		return p;
	p = gl2.last = gl2.pages[index];
	p->key = key;
	p->generation = gl2.generation;
	p->next = gl2.bucket[bucket_of(key)];
	gl2.bucket[bucket_of(key)] = index;
	return p;
}

/* The page's number, which it does not know, stands in its bucket's chain. */
static void
page_list(struct page *p)
{
	uint32_t i = gl2.bucket[bucket_of(p->key)];

	if (p->listed)
		return;
	while (gl2.pages[i] != p)
		i = gl2.pages[i]->next;
	gl2.dirty[gl2.n_dirty++] = i;
	p->listed = true;
}

/* ---- parts of lines ---- */

struct part {
	uint64_t key;
	unsigned line, first, bytes;
};

static struct part
part_at(const uint8_t *host, uint64_t bytes)
{
	uintptr_t at = (uintptr_t)host;
	unsigned first = at % LINE;

	return (struct part){
		.key = at / PAGE_BYTES, .line = at / LINE % LINES, .first = first,
		.bytes = LINE - first < bytes ? LINE - first : (unsigned)bytes,
	};
}

static uint64_t
part_mask(const struct part *t)
{
	return (t->bytes == LINE ? ~0ull : (1ull << t->bytes) - 1) << t->first;
}

static uint8_t *
part_data(struct page *p, const struct part *t)
{
	return p->data + t->line * LINE + t->first;
}

static void
line_fill(struct page *p, unsigned line)
{
	const uint8_t *host = page_host(p) + line * LINE;
	uint8_t *data = p->data + line * LINE;

	if (!p->cached[line])
		memcpy(data, host, LINE);
	for (unsigned i = 0; p->cached[line] && i < LINE; i++)
		if (!(p->cached[line] >> i & 1))
			data[i] = host[i];
	p->cached[line] = ~0ull;
}

/* Bytes of the line that `mask` names go over what dst has. */
static void
overlay(struct page *p, const struct part *t, uint64_t mask, uint8_t *dst)
{
	const uint8_t *data = part_data(p, t);

	mask >>= t->first;
	for (unsigned i = 0; i < t->bytes; i++)
		if (mask >> i & 1)
			dst[i] = data[i];
}

/* Words the CPU stores at once are also read at once. */
static void
load(void *dst, const uint8_t *host, unsigned bytes)
{
	if (bytes == 4 && (uintptr_t)host % 4 == 0) {
		uint32_t v = __atomic_load_n((const uint32_t *)(const void *)host, __ATOMIC_ACQUIRE);
		memcpy(dst, &v, 4);
	} else if (bytes == 8 && (uintptr_t)host % 8 == 0) {
		uint64_t v = __atomic_load_n((const uint64_t *)(const void *)host, __ATOMIC_ACQUIRE);
		memcpy(dst, &v, 8);
	} else {
		memcpy(dst, host, bytes);
	}
}

static void
store(uint8_t *host, const void *src, unsigned bytes)
{
	if (bytes == 4 && (uintptr_t)host % 4 == 0) {
		uint32_t v;
		memcpy(&v, src, 4);
		__atomic_store_n((uint32_t *)(void *)host, v, __ATOMIC_RELEASE);
	} else if (bytes == 8 && (uintptr_t)host % 8 == 0) {
		uint64_t v;
		memcpy(&v, src, 8);
		__atomic_store_n((uint64_t *)(void *)host, v, __ATOMIC_RELEASE);
	} else {
		memcpy(host, src, bytes);
	}
}

/* ---- accesses ---- */

void
sg_gl2_read(const uint8_t *host, void *dst, uint64_t bytes)
{
	uint8_t *to = dst;

	while (bytes > 0) {
		struct part t = part_at(host, bytes);
		struct page *p = page_take(t.key);
		if (!p) {
			load(to, host, t.bytes);
		} else {
			if (part_mask(&t) & ~p->cached[t.line])
				line_fill(p, t.line);
			memcpy(to, part_data(p, &t), t.bytes);
		}
		host += t.bytes;
		to += t.bytes;
		bytes -= t.bytes;
	}
}

void
sg_gl2_write(uint8_t *host, const void *src, uint64_t bytes)
{
	const uint8_t *from = src;

	while (bytes > 0) {
		struct part t = part_at(host, bytes);
		struct page *p = page_take(t.key);
		if (!p) {
			store(host, from, t.bytes);
		} else {
			page_list(p);
			memcpy(part_data(p, &t), from, t.bytes);
			p->cached[t.line] |= part_mask(&t);
			p->dirty[t.line] |= part_mask(&t);
		}
		host += t.bytes;
		from += t.bytes;
		bytes -= t.bytes;
	}
}

static void
read_around(const uint8_t *host, uint8_t *to, uint64_t bytes, bool clean_too)
{
	while (bytes > 0) {
		struct part t = part_at(host, bytes);
		struct page *p = page_find(t.key);
		load(to, host, t.bytes);
		if (p)
			overlay(p, &t, clean_too ? p->cached[t.line] : p->dirty[t.line], to);
		host += t.bytes;
		to += t.bytes;
		bytes -= t.bytes;
	}
}

void
sg_gl2_peek(const uint8_t *host, void *dst, uint64_t bytes)
{
	read_around(host, dst, bytes, true);
}

void
sg_gl2_read_uncached(const uint8_t *host, void *dst, uint64_t bytes)
{
	read_around(host, dst, bytes, false);
}

void
sg_gl2_write_uncached(uint8_t *host, const void *src, uint64_t bytes)
{
	const uint8_t *from = src;

	while (bytes > 0) {
		struct part t = part_at(host, bytes);
		struct page *p = page_find(t.key);
		if (p) {
			p->cached[t.line] &= ~part_mask(&t);
			p->dirty[t.line] &= ~part_mask(&t);
		}
		store(host, from, t.bytes);
		host += t.bytes;
		from += t.bytes;
		bytes -= t.bytes;
	}
}

/* ---- the whole cache ---- */

bool
sg_gl2_is_dirty(void)
{
	return gl2.n_dirty > 0;
}

void
sg_gl2_write_back(void)
{
	for (uint32_t i = 0; i < gl2.n_dirty; i++) {
		struct page *p = gl2.pages[gl2.dirty[i]];
		page_write_back(p);
		p->listed = false;
	}
	gl2.n_dirty = 0;
}

void
sg_gl2_invalidate(void)
{
	if (++gl2.generation != 0)
		return;
	/* Wrapped round: a page may be four thousand million invalidations old. */
	for (uint32_t i = 1; i <= gl2.count; i++) {
		gl2.pages[i]->generation = 1;
		page_refresh(gl2.pages[i]);
	}
}

void
sg_gl2_discard(void)
{
	for (uint32_t i = 0; i < gl2.n_dirty; i++) {
		struct page *p = gl2.pages[gl2.dirty[i]];
		memset(p->dirty, 0, sizeof(p->dirty));
		p->listed = false;
	}
	gl2.n_dirty = 0;
	sg_gl2_invalidate();
}

/* ---- ranges ---- */

enum what { WRITE_BACK, INVALIDATE, FORGET };

static void
line_do(struct page *p, unsigned line, enum what what)
{
	switch (what) {
	case WRITE_BACK: line_write_back(p, line); break;
	case INVALIDATE: p->cached[line] = p->dirty[line]; break;
	case FORGET: p->cached[line] = p->dirty[line] = 0; break;
	}
}

/* [first, last] of lines counted from address 0 */
static void
page_do(struct page *p, uint64_t first, uint64_t last, enum what what)
{
	uint64_t base = p->key * LINES;

	page_refresh(p);
	for (unsigned line = 0; line < LINES; line++)
		if (base + line >= first && base + line <= last)
			line_do(p, line, what);
}

static void
range_do(const uint8_t *host, uint64_t bytes, enum what what)
{
	uintptr_t at = (uintptr_t)host;

	if (bytes == 0 || gl2.count == 0)
		return;
	uint64_t first = at / LINE, last = (at + bytes - 1) / LINE;
	if (last / LINES - first / LINES < gl2.count) {
		for (uint64_t key = first / LINES; key <= last / LINES; key++) {
			struct page *p = page_find(key);
			if (p)
				page_do(p, first, last, what);
		}
		return;
	}
	for (uint32_t i = 1; i <= gl2.count; i++)
		if (gl2.pages[i]->key >= first / LINES && gl2.pages[i]->key <= last / LINES)
			page_do(gl2.pages[i], first, last, what);
}

void
sg_gl2_write_back_range(const uint8_t *host, uint64_t bytes)
{
	range_do(host, bytes, WRITE_BACK);
}

void
sg_gl2_invalidate_range(const uint8_t *host, uint64_t bytes)
{
	range_do(host, bytes, INVALIDATE);
}

void
sg_gl2_forget(const uint8_t *host, uint64_t bytes)
{
	range_do(host, bytes, FORGET);
}
