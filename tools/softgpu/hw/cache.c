/* SPDX-License-Identifier: MIT */
/* cache.c: hostile mode's caches, which stay stale until they are invalidated.
 *
 * Model, from memory upwards. gl2.c has the L2 of the chip: all of the GPU sees the same contents in it, the CPU sees
 * what was written back, and the GPU sees what the CPU wrote after an invalidation. Above it each ring has two views
 * (GLV+GL1 for vector loads, GLK for scalar loads), and a view keeps the old contents of each 64-byte line that
 * anything on the GPU has written since the view was last invalidated: what a cache would still hold that had read the
 * line before. A load through the view gets the old bytes if they were written by something before the loading
 * dispatch in program order. It gets what L2 holds if it wrote them itself (L0 and GL1 write through), or if the
 * writer comes later in program order: then the line was not cached, the worst case for a write that should have
 * waited for this read. Device-coherent loads and atomics go to L2. A view belongs to a ring, not to the chip, so an
 * invalidation by somebody else's stream never helps; views live on from job to job, so a stream that does not
 * invalidate at its start sees what the last job on the ring left. Instruction caches are icache.c's.
 *
 * The packet processor reads and writes through L2, but for IBs, which it fetches from memory whatever L2 holds, and
 * polls (WAIT_REG_MEM, REWIND), which go past clean lines. WRITE_DATA and RELEASE_MEM with the bypass policy write to
 * memory, with others their data is dirty in L2. SDMA goes past L2 but coherently with it. The end of each job of a
 * GFX or COMPUTE ring is the kernel's fence: it writes L2 back and invalidates nothing. After a failed job all of L2
 * is written back and dropped, so that what a reset leaves does not depend on timing.
 *
 * Kinder than hardware, not modelled:
 * - views do not keep what the CPU has overwritten: GL2_INV alone makes the CPU's stores visible, although GLV, GL1
 *   and GLK may hold them on hardware;
 * - workgroups of one dispatch see each other's stores without glc;
 * - DMA_DATA and COPY_DATA always go through L2, whatever selectors and policies say; metadata caches do not exist;
 * - GLV_INV and GL1_INV work only together in one packet; a GL1_INV followed by a GLV_INV, which hardware allows,
 *   does nothing here (stricter than hardware, and nobody does it);
 * - a view remembers at most LINES_MAX lines between two invalidations (16 MiB; the real caches hold far less),
 *   later writes are visible at once; L2 holds 64 MiB (gl2.c);
 * - an atomic of a shader and one of the packet processor on different rings are not atomic towards each other;
 * - after a fork each process has an L2 of its own, empty in the child.
 * Randomness: none here, a line that may be stale is stale.
 */
#include "cache.h"

#include "gl2.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64u
#define LINES_MAX (1u << 18)
#define LINES_FIRST 1024u

struct line {
	uint64_t key;		/* host address / LINE */
	uint64_t mask;		/* bytes written since the invalidation */
	uint32_t generation;	/* other than the view's: free slot */
	uint32_t writer;	/* of all bytes in mask, unless `several` */
	uint32_t *writers;	/* LINE entries, of each byte; allocated once per slot, valid when `several` */
	bool several;
	bool dropped;		/* taken out by a ranged invalidation; keeps the probe chain intact */
	uint8_t old[LINE];
};

struct view {
	struct line *lines;	/* open addressing; NULL until first used */
	uint32_t room, count;	/* power of two; used slots of this generation */
	uint32_t generation;
};

enum { VIEW_VECTOR, VIEW_SCALAR, VIEW_COUNT };

struct sg_stale {
	struct view views[VIEW_COUNT];
	struct sg_stale *next;
};

/* Protects L2, every view and their list; also makes a store and its bookkeeping one step. Hostile mode only. */
static pthread_mutex_t stale_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_stale *all;

uint32_t
sg_stale_new_writer(void)
{
	static uint32_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

struct sg_stale *
sg_stale_create(void)
{
	struct sg_stale *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	for (unsigned i = 0; i < VIEW_COUNT; i++)
		s->views[i].generation = 1;
	pthread_mutex_lock(&stale_lock);
	s->next = all;
	all = s;
	pthread_mutex_unlock(&stale_lock);
	return s;
}

static uint32_t
hash(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40);
}

/* The slot of key, or the free one where it would go. */
static struct line *
view_slot(const struct view *v, uint64_t key)
{
	for (uint32_t i = hash(key);; i++) {
		struct line *l = &v->lines[i & (v->room - 1)];
		if (l->generation != v->generation || l->key == key)
			return l;
	}
}

static struct line *
view_find(const struct view *v, uint64_t key)
{
	if (v->count == 0)
		return NULL;
	struct line *l = view_slot(v, key);
	return l->generation == v->generation && !l->dropped ? l : NULL;
}

static void
view_forget(struct view *v)
{
	v->count = 0;
	if (++v->generation != 0)
		return;
	/* Wrapped round: slots of generation 1 may be four thousand million invalidations old. */
	for (uint32_t i = 0; i < v->room; i++)
		v->lines[i].generation = 0;
	v->generation = 1;
}

static bool
view_grow(struct view *v)
{
	struct view bigger = { .room = v->room ? v->room * 2 : LINES_FIRST, .generation = v->generation };

	bigger.lines = calloc(bigger.room, sizeof(bigger.lines[0]));
	if (!bigger.lines)
		return false;
	for (uint32_t i = 0; i < v->room; i++) {
		struct line *l = &v->lines[i];
		if (l->generation == v->generation && !l->dropped) {
			*view_slot(&bigger, l->key) = *l;
			bigger.count++;
		} else {
			free(l->writers);
		}
	}
	free(v->lines);
	*v = bigger;
	return true;
}

/* The line's record, made with its present contents when it is the first write. NULL: full. */
static struct line *
view_take(struct view *v, uint64_t key)
{
	if (v->count * 2 >= v->room && (v->count >= LINES_MAX || !view_grow(v)))
		return view_find(v, key);
	struct line *l = view_slot(v, key);
	bool known = l->generation == v->generation;
	if (known && !l->dropped)
		return l;
	if (!known)
		v->count++;
	l->key = key;
	l->generation = v->generation;
	l->mask = 0;
	l->several = l->dropped = false;
	sg_gl2_peek((const uint8_t *)(uintptr_t)(key * LINE), l->old, LINE);
	return l;
}

/* From one writer for all bytes to one per byte. */
static bool
line_split(struct line *l)
{
	if (!l->writers)
		l->writers = malloc(LINE * sizeof(l->writers[0]));
	if (!l->writers)
		return false;
	for (unsigned i = 0; i < LINE; i++)
		l->writers[i] = l->writer;
	l->several = true;
	return true;
}

static void
line_write(struct line *l, uint64_t mask, uint32_t writer)
{
	if ((l->mask & ~mask) == 0) {
		l->several = false;
		l->writer = writer;
	} else if (!l->several && l->writer != writer && !line_split(l)) {
		return;
	}
	l->mask |= mask;
	if (!l->several)
		return;
	for (unsigned i = 0; i < LINE; i++)
		if (mask >> i & 1)
			l->writers[i] = writer;
}

static uint64_t
byte_mask(unsigned first, unsigned count)
{
	return (count == LINE ? ~0ull : (1ull << count) - 1) << first;
}

/* Lock held. */
static void
note_line(uint64_t key, unsigned first, unsigned count, uint32_t writer)
{
	for (struct sg_stale *s = all; s; s = s->next) {
		for (unsigned i = 0; i < VIEW_COUNT; i++) {
			struct line *l = view_take(&s->views[i], key);
			if (l)
				line_write(l, byte_mask(first, count), writer);
		}
	}
}

/* Lock held. */
static void
note_write(const uint8_t *host, uint64_t bytes, uint32_t writer)
{
	uintptr_t at = (uintptr_t)host;

	while (bytes > 0) {
		unsigned first = at % LINE;
		unsigned count = LINE - first < bytes ? LINE - first : (unsigned)bytes;
		note_line(at / LINE, first, count, writer);
		at += count;
		bytes -= count;
	}
}

void
sg_stale_write(uint8_t *host, const void *src, size_t bytes, uint32_t writer)
{
	pthread_mutex_lock(&stale_lock);
	note_write(host, bytes, writer);
	sg_gl2_write(host, src, bytes);
	pthread_mutex_unlock(&stale_lock);
}

/* Puts the old bytes over what was read from L2. */
static void
line_read(const struct line *l, unsigned first, unsigned count, uint8_t *dst, uint32_t reader)
{
	for (unsigned i = first; i < first + count; i++) {
		if (!(l->mask >> i & 1))
			continue;
		uint32_t writer = l->several ? l->writers[i] : l->writer;
		if ((int32_t)(writer - reader) < 0)
			dst[i - first] = l->old[i];
	}
}

/* Lock held. */
static void
view_read(const struct view *v, const uint8_t *host, uint8_t *dst, size_t bytes, uint32_t reader)
{
	uintptr_t at = (uintptr_t)host;

	while (bytes > 0) {
		unsigned first = at % LINE;
		unsigned count = LINE - first < bytes ? LINE - first : (unsigned)bytes;
		const struct line *l = view_find(v, at / LINE);
		if (l)
			line_read(l, first, count, dst, reader);
		at += count;
		dst += count;
		bytes -= count;
	}
}

void
sg_stale_read(struct sg_stale *s, enum sg_path path, const uint8_t *host, void *dst, size_t bytes, uint32_t reader)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_read(host, dst, bytes);
	if (path == SG_PATH_VECTOR)
		view_read(&s->views[VIEW_VECTOR], host, dst, bytes, reader);
	else if (path == SG_PATH_SCALAR)
		view_read(&s->views[VIEW_SCALAR], host, dst, bytes, reader);
	pthread_mutex_unlock(&stale_lock);
}

void
sg_stale_invalidate(struct sg_stale *s, bool vector, bool scalar)
{
	pthread_mutex_lock(&stale_lock);
	if (vector)
		view_forget(&s->views[VIEW_VECTOR]);
	if (scalar)
		view_forget(&s->views[VIEW_SCALAR]);
	pthread_mutex_unlock(&stale_lock);
}

static void
view_drop(struct view *v, uint64_t first, uint64_t last)
{
	for (uint32_t i = 0; i < v->room; i++) {
		struct line *l = &v->lines[i];
		if (l->generation == v->generation && l->key >= first && l->key <= last)
			l->dropped = true;
	}
}

void
sg_stale_invalidate_range(struct sg_stale *s, bool vector, bool scalar, const uint8_t *host, uint64_t bytes)
{
	uint64_t first = (uintptr_t)host / LINE, last = ((uintptr_t)host + bytes - 1) / LINE;

	if (bytes == 0)
		return;
	pthread_mutex_lock(&stale_lock);
	if (vector)
		view_drop(&s->views[VIEW_VECTOR], first, last);
	if (scalar)
		view_drop(&s->views[VIEW_SCALAR], first, last);
	pthread_mutex_unlock(&stale_lock);
}

/* ---- L2 ---- */

static void
l2_read(const uint8_t *host, void *dst, uint64_t bytes, enum sg_l2_use use)
{
	if (use == SG_L2_CACHED)
		sg_gl2_read(host, dst, bytes);
	else
		sg_gl2_read_uncached(host, dst, bytes);
}

static void
l2_write(uint8_t *host, const void *src, uint64_t bytes, enum sg_l2_use use)
{
	note_write(host, bytes, sg_stale_new_writer());
	if (use == SG_L2_CACHED)
		sg_gl2_write(host, src, bytes);
	else
		sg_gl2_write_uncached(host, src, bytes);
}

void
sg_l2_read(const uint8_t *host, void *dst, uint64_t bytes, enum sg_l2_use use)
{
	pthread_mutex_lock(&stale_lock);
	l2_read(host, dst, bytes, use);
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_write(uint8_t *host, const void *src, uint64_t bytes, enum sg_l2_use use)
{
	pthread_mutex_lock(&stale_lock);
	l2_write(host, src, bytes, use);
	pthread_mutex_unlock(&stale_lock);
}

bool
sg_l2_update(uint8_t *host, unsigned bytes, enum sg_l2_use use, sg_l2_update_fn *update, void *arg)
{
	uint64_t old = 0, value;

	pthread_mutex_lock(&stale_lock);
	l2_read(host, &old, bytes, use); /* little-endian, as the GPU */
	bool write = update(arg, old, &value);
	if (write)
		l2_write(host, &value, bytes, use);
	pthread_mutex_unlock(&stale_lock);
	return write;
}

bool
sg_l2_is_dirty(void)
{
	pthread_mutex_lock(&stale_lock);
	bool dirty = sg_gl2_is_dirty();
	pthread_mutex_unlock(&stale_lock);
	return dirty;
}

void
sg_l2_write_back(void)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_write_back();
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_invalidate(void)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_invalidate();
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_discard(void)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_discard();
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_write_back_range(const uint8_t *host, uint64_t bytes)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_write_back_range(host, bytes);
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_invalidate_range(const uint8_t *host, uint64_t bytes)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_invalidate_range(host, bytes);
	pthread_mutex_unlock(&stale_lock);
}

void
sg_l2_forget(const uint8_t *host, uint64_t bytes)
{
	pthread_mutex_lock(&stale_lock);
	sg_gl2_forget(host, bytes);
	pthread_mutex_unlock(&stale_lock);
}

/* ---- fork ---- */

void
sg_stale_lock_for_fork(void)
{
	pthread_mutex_lock(&stale_lock);
}

/* Rings are idle, so nothing is dirty, unless another thread submits meanwhile: that job is the parent's. */
void
sg_stale_unlock_after_fork(bool child)
{
	if (child)
		sg_gl2_discard();
	pthread_mutex_unlock(&stale_lock);
}
