/* SPDX-License-Identifier: MIT */
/* fence.c: fences, chains of timeline points, arrays. Semantics from Linux 6.12 drivers/dma-buf/dma-fence*.c. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct sg_fence *recycled; /* linked by prev */
static uint64_t last_context;

uint64_t
sg_fence_context(void)
{
	return ++last_context;
}

struct sg_fence *
sg_fence_create(uint64_t context, uint64_t seqno)
{
	struct sg_fence *fence = recycled;

	if (fence)
		recycled = fence->prev;
	else
		fence = malloc(sizeof(*fence));
	if (!fence)
		return NULL;
	memset(fence, 0, sizeof(*fence));
	fence->refs = 1;
	fence->context = context;
	fence->seqno = seqno;
	sg_list_init(&fence->cbs);
	return fence;
}

static void
fence_free(struct sg_fence *fence)
{
	sg_fence_unref(fence->scheduled);
	sg_fence_unref(fence->contained);
	for (unsigned i = 0; i < fence->n_members; i++)
		sg_fence_unref(fence->members[i]);
	free(fence->members);
	fence->prev = recycled;
	recycled = fence;
}

/* Down a chain in a loop: a timeline may be thousands of points long. */
void
sg_fence_unref(struct sg_fence *fence)
{
	while (fence && --fence->refs == 0) {
		struct sg_fence *prev = fence->prev;
		fence_free(fence);
		fence = prev;
	}
}

struct sg_fence *
sg_fence_stub(void)
{
	static struct sg_fence stub = { .refs = 1, .signaled = true };

	if (!stub.timestamp_ns)
		stub.timestamp_ns = (uint64_t)sg_now_ns();
	return sg_fence_ref(&stub);
}

/* ---- signaling ---- */

void
sg_fence_signal(struct sg_fence *fence, int error)
{
	if (fence->signaled)
		return;
	if (!fence->error)
		fence->error = error;
	fence->signaled = true;
	fence->timestamp_ns = (uint64_t)sg_now_ns();
	sg_fence_ref(fence);
	while (!sg_list_empty(&fence->cbs)) {
		struct sg_fence_cb *cb = (struct sg_fence_cb *)fence->cbs.next;
		sg_list_remove(&cb->node);
		cb->func(cb, fence);
	}
	sg_fence_unref(fence);
}

static bool
chain_done(struct sg_fence *chain)
{
	for (struct sg_fence *f = chain; f && !f->signaled;) {
		if (!sg_fence_is_signaled(f->kind == SG_FENCE_CHAIN ? f->contained : f))
			return false;
		f = f->kind == SG_FENCE_CHAIN ? f->prev : NULL;
	}
	return true;
}

static bool
array_done(struct sg_fence *array)
{
	for (unsigned i = 0; i < array->n_members; i++) {
		if (!sg_fence_is_signaled(array->members[i]))
			return false;
		if (!array->error)
			array->error = array->members[i]->error;
	}
	return true;
}

bool
sg_fence_look(struct sg_fence *fence)
{
	if (fence->kind == SG_FENCE_CHAIN ? !chain_done(fence) : !array_done(fence))
		return false;
	sg_fence_signal(fence, 0);
	return true;
}

int
sg_fence_status(struct sg_fence *fence)
{
	if (!sg_fence_is_signaled(fence))
		return 0;
	return fence->error ? fence->error : 1;
}

/* ---- callbacks ---- */

/* The first fence inside that has not signaled; it exists. */
static struct sg_fence *
first_unsignaled(struct sg_fence *fence)
{
	for (unsigned i = 0; i < fence->n_members; i++)
		if (!sg_fence_is_signaled(fence->members[i]))
			return fence->members[i];
	for (struct sg_fence *f = fence; f; f = f->kind == SG_FENCE_CHAIN ? f->prev : NULL) {
		struct sg_fence *inner = f->kind == SG_FENCE_CHAIN ? f->contained : f;
		if (!sg_fence_is_signaled(inner))
			return inner;
	}
	return NULL;
}

static void fence_progress(struct sg_fence_cb *cb, struct sg_fence *member);

/* Makes a chain or array notice that it is done. A reference is held while armed. */
static void
fence_arm(struct sg_fence *fence)
{
	struct sg_fence *inner = first_unsignaled(fence);

	sg_fence_ref(fence);
	sg_fence_add_cb(inner, &fence->progress, fence_progress);
}

static void
fence_progress(struct sg_fence_cb *cb, struct sg_fence *member)
{
	struct sg_fence *fence = (struct sg_fence *)((char *)cb - offsetof(struct sg_fence, progress));

	(void)member;
	if (!sg_fence_is_signaled(fence))
		fence_arm(fence);
	sg_fence_unref(fence);
}

bool
sg_fence_add_cb(struct sg_fence *fence, struct sg_fence_cb *cb, void (*func)(struct sg_fence_cb *, struct sg_fence *))
{
	cb->node.next = NULL;
	cb->func = func;
	if (sg_fence_is_signaled(fence))
		return false;
	if (fence->kind != SG_FENCE_PLAIN && !fence->progress.node.next)
		fence_arm(fence);
	sg_list_append(&fence->cbs, &cb->node);
	return true;
}

void
sg_fence_remove_cb(struct sg_fence_cb *cb)
{
	sg_list_remove(&cb->node);
}

/* ---- timeline points ---- */

struct sg_fence *
sg_fence_chain(struct sg_fence *prev, struct sg_fence *contained, uint64_t point)
{
	struct sg_fence *chain = sg_fence_create(0, point);

	if (!chain)
		return NULL;
	chain->kind = SG_FENCE_CHAIN;
	chain->prev = prev;
	chain->contained = contained;
	/* Points in order share a context; one out of order starts a new one and is absorbed into its predecessor. */
	if (prev && prev->kind == SG_FENCE_CHAIN && point > prev->seqno) {
		chain->context = prev->context;
		chain->prev_seqno = prev->seqno;
	} else {
		chain->context = sg_fence_context();
		if (prev && prev->kind == SG_FENCE_CHAIN && prev->seqno > point)
			chain->seqno = prev->seqno;
	}
	return chain;
}

struct sg_fence *
sg_fence_walk(struct sg_fence *chain)
{
	if (chain->kind != SG_FENCE_CHAIN) {
		sg_fence_unref(chain);
		return NULL;
	}
	while (chain->prev) {
		struct sg_fence *prev = chain->prev;
		bool is_chain = prev->kind == SG_FENCE_CHAIN;
		if (!sg_fence_is_signaled(is_chain ? prev->contained : prev))
			break;
		chain->prev = is_chain ? sg_fence_ref(prev->prev) : NULL;
		sg_fence_unref(prev);
	}
	struct sg_fence *prev = sg_fence_ref(chain->prev);
	sg_fence_unref(chain);
	return prev;
}

bool
sg_fence_find_point(struct sg_fence **fence, uint64_t point)
{
	if (point == 0)
		return true;
	if ((*fence)->kind != SG_FENCE_CHAIN || (*fence)->seqno < point)
		return false;
	uint64_t context = (*fence)->context;
	while (*fence && (*fence)->context == context && (*fence)->prev_seqno >= point)
		*fence = sg_fence_walk(*fence);
	return true;
}

/* ---- looking inside ---- */

unsigned
sg_fence_unwrap(struct sg_fence *fence, struct sg_fence **out, unsigned max)
{
	unsigned n = 0;

	for (struct sg_fence *f = sg_fence_ref(fence); f; f = sg_fence_walk(f)) {
		struct sg_fence *inner = f->kind == SG_FENCE_CHAIN ? f->contained : f;
		if (inner->kind != SG_FENCE_ARRAY) {
			if (n < max)
				out[n] = inner;
			n++;
			continue;
		}
		for (unsigned i = 0; i < inner->n_members; i++, n++)
			if (n < max)
				out[n] = inner->members[i];
	}
	return n;
}

/* Keeps the unsignaled ones, one (the latest) per context. */
static unsigned
drop_redundant(struct sg_fence **fences, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned k = 0;
		if (sg_fence_is_signaled(fences[i]))
			continue;
		while (k < kept && fences[k]->context != fences[i]->context)
			k++;
		if (k == kept)
			fences[kept++] = fences[i];
		else if (fences[i]->seqno > fences[k]->seqno)
			fences[k] = fences[i];
	}
	return kept;
}

struct sg_fence *
sg_fence_merge(struct sg_fence *a, struct sg_fence *b)
{
	unsigned na = sg_fence_unwrap(a, NULL, 0), nb = b ? sg_fence_unwrap(b, NULL, 0) : 0;
	struct sg_fence **all = calloc(na + nb + 1, sizeof(*all));

	if (!all)
		return NULL;
	sg_fence_unwrap(a, all, na);
	if (b)
		sg_fence_unwrap(b, all + na, nb);
	unsigned n = drop_redundant(all, na + nb);
	if (n <= 1) {
		struct sg_fence *only = n ? sg_fence_ref(all[0]) : sg_fence_stub();
		free(all);
		return only;
	}
	struct sg_fence *array = sg_fence_create(sg_fence_context(), 1);
	if (!array) {
		free(all);
		return NULL;
	}
	array->kind = SG_FENCE_ARRAY;
	array->members = all;
	array->n_members = n;
	for (unsigned i = 0; i < n; i++)
		sg_fence_ref(all[i]);
	return array;
}
