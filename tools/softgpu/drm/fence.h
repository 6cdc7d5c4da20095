/* SPDX-License-Identifier: MIT */
/* fence.h: dma_fence, dma_fence_chain and dma_fence_array of the kernel, as far as user space can tell.
 *
 * Everything here, reference counts included, is protected by the device lock (device.h). Callbacks run with it held
 * and may signal other fences; what must not run under it (writes to eventfds, wakes) is deferred to its release.
 */
#ifndef SOFTGPU_FENCE_H
#define SOFTGPU_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_fence;

/* Doubly linked ring with its head as an element; next NULL: in no list. */
struct sg_list {
	struct sg_list *next, *prev;
};

static inline void
sg_list_init(struct sg_list *head)
{
	head->next = head->prev = head;
}

static inline void
sg_list_append(struct sg_list *head, struct sg_list *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

static inline void
sg_list_remove(struct sg_list *node)
{
	if (!node->next)
		return;
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = NULL;
}

static inline bool
sg_list_empty(const struct sg_list *head)
{
	return head->next == head;
}

struct sg_fence_cb {
	struct sg_list node; /* first */
	void (*func)(struct sg_fence_cb *cb, struct sg_fence *fence);
};

enum sg_fence_kind { SG_FENCE_PLAIN, SG_FENCE_CHAIN, SG_FENCE_ARRAY };

struct sg_fence {
	int refs;
	enum sg_fence_kind kind;
	bool signaled;
	int error;		/* 0 or -errno; set before signaled */
	uint64_t context, seqno; /* fences of one context signal in seqno order */
	uint64_t timestamp_ns;	/* CLOCK_MONOTONIC of the signal */
	struct sg_list cbs;
	const void *owner;	/* of a job: its struct sg_file, for implicit sync; compared only */
	const char *timeline;	/* of a job: ring name for SYNC_IOC_FILE_INFO; static */

	/* of a job: a fence for "on the hardware", made when somebody asks */
	struct sg_fence *scheduled;
	bool is_scheduled;

	/* chain: a timeline's point; also a list link of recycled fences */
	struct sg_fence *prev, *contained;
	uint64_t prev_seqno;

	/* array */
	struct sg_fence **members;
	unsigned n_members;

	/* chain and array: waits for one member at a time while somebody waits for us */
	struct sg_fence_cb progress;
};

static inline struct sg_fence *
sg_fence_ref(struct sg_fence *fence)
{
	if (fence)
		fence->refs++;
	return fence;
}

struct sg_fence *sg_fence_create(uint64_t context, uint64_t seqno); /* NULL: out of memory */
void sg_fence_unref(struct sg_fence *fence);
uint64_t sg_fence_context(void); /* a fresh context number */
/* A new reference on a fence that is signaled since ever. */
struct sg_fence *sg_fence_stub(void);

bool sg_fence_look(struct sg_fence *fence); /* one whose flag is not set: asks what a chain or array contains */
static inline bool
sg_fence_is_signaled(struct sg_fence *fence)
{
	return fence->signaled || (fence->kind != SG_FENCE_PLAIN && sg_fence_look(fence));
}
/* 0 active, 1 done, <0 error: dma_fence_get_status */
int sg_fence_status(struct sg_fence *fence);
void sg_fence_signal(struct sg_fence *fence, int error);
/* False: already signaled, cb is not used. */
bool sg_fence_add_cb(struct sg_fence *fence, struct sg_fence_cb *cb,
		     void (*func)(struct sg_fence_cb *, struct sg_fence *));
void sg_fence_remove_cb(struct sg_fence_cb *cb); /* also when it ran already */

/* Takes over `contained` and `prev` (may be NULL). */
struct sg_fence *sg_fence_chain(struct sg_fence *prev, struct sg_fence *contained, uint64_t point);
/* dma_fence_chain_find_seqno: replaces *fence (a reference) by the fence to wait for, NULL when that point is signaled
 * already. False: the point does not exist yet, *fence unchanged. */
bool sg_fence_find_point(struct sg_fence **fence, uint64_t point);
/* dma_fence_chain_walk: drops the reference, returns one on the predecessor; forgets signaled nodes in between. */
struct sg_fence *sg_fence_walk(struct sg_fence *fence);
/* The plain fences inside, borrowed, in `out`; returns how many there are (may exceed max). */
unsigned sg_fence_unwrap(struct sg_fence *fence, struct sg_fence **out, unsigned max);
/* dma_fence_unwrap_merge of up to two fences (b may be NULL): one fence without chains inside. NULL: out of memory. */
struct sg_fence *sg_fence_merge(struct sg_fence *a, struct sg_fence *b);

#endif
