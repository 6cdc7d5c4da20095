/* SPDX-License-Identifier: MIT */
/* resv.c: which unfinished jobs use a buffer or an address space (the kernel's dma_resv), and handle tables. */
#include "device.h"

#include <errno.h>
#include <stdlib.h>

/* ---- reservations ---- */

static void
resv_remove(struct sg_resv *resv, unsigned i)
{
	sg_fence_unref(resv->fences[i]);
	resv->fences[i] = resv->fences[--resv->count];
}

void
sg_resv_add(struct sg_resv *resv, struct sg_fence *fence)
{
	for (unsigned i = 0; i < resv->count;) {
		/* A later fence of one context stands for the earlier ones. */
		if (resv->fences[i]->context == fence->context || resv->fences[i]->signaled)
			resv_remove(resv, i);
		else
			i++;
	}
	if (resv->count == resv->room) {
		unsigned room = resv->room ? resv->room * 2 : 4;
		struct sg_fence **bigger = realloc(resv->fences, room * sizeof(*bigger));
		if (!bigger)
			abort(); /* the kernel reserved the slot before this point of no return */
		resv->fences = bigger;
		resv->room = room;
	}
	resv->fences[resv->count++] = sg_fence_ref(fence);
}

bool
sg_resv_idle(struct sg_resv *resv)
{
	for (unsigned i = 0; i < resv->count;) {
		if (resv->fences[i]->signaled)
			resv_remove(resv, i);
		else
			i++;
	}
	return resv->count == 0;
}

void
sg_resv_free(struct sg_resv *resv)
{
	while (resv->count > 0)
		resv_remove(resv, resv->count - 1);
	free(resv->fences);
	*resv = (struct sg_resv){ 0 };
}

int
sg_resv_wait(struct sg_resv *resv, int64_t deadline, bool interruptible)
{
	int r = 0;

	if (sg_resv_idle(resv))
		return 0;
	unsigned n = resv->count;
	struct sg_fence **now = malloc(n * sizeof(*now));
	if (!now)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		now[i] = sg_fence_ref(resv->fences[i]);
	for (unsigned i = 0; i < n; i++) {
		if (r == 0)
			r = sg_fence_wait(now[i], deadline, interruptible);
		sg_fence_unref(now[i]);
	}
	free(now);
	return r;
}

/* ---- handles ---- */

static bool
handles_grow(struct sg_handles *h)
{
	unsigned room = h->room ? h->room * 2 : 16;
	void **bigger = realloc(h->slots, room * sizeof(*bigger));

	if (!bigger)
		return false;
	for (unsigned i = h->room; i < room; i++)
		bigger[i] = NULL;
	h->slots = bigger;
	h->room = room;
	return true;
}

uint32_t
sg_handle_add(struct sg_handles *h, void *object, uint32_t limit)
{
	unsigned i = h->lowest;

	while (i < h->room && h->slots[i])
		i++;
	if (i >= limit || (i == h->room && !handles_grow(h)))
		return 0;
	h->slots[i] = object;
	h->lowest = i + 1;
	h->count++;
	return i + 1;
}

void *
sg_handle_remove(struct sg_handles *h, uint32_t handle)
{
	void *object = sg_handle_find(h, handle);

	if (!object)
		return NULL;
	h->slots[handle - 1] = NULL;
	h->count--;
	if (handle - 1 < h->lowest)
		h->lowest = handle - 1;
	return object;
}

void *
sg_handle_pop(struct sg_handles *h)
{
	for (unsigned i = 0; h->count > 0 && i < h->room; i++)
		if (h->slots[i])
			return sg_handle_remove(h, i + 1);
	return NULL;
}

void
sg_handles_free(struct sg_handles *h)
{
	free(h->slots);
	*h = (struct sg_handles){ 0 };
}
