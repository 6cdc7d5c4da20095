/* SPDX-License-Identifier: MIT */
/* cp_pending.c: when dispatches run, and what waits for them.
 *
 * A dispatch is asynchronous to the packets behind it until something drains. Normally it runs at once, which is one
 * of the orders hardware may choose. In hostile mode it waits for the drain and then everything that waits runs in
 * the worst order: last first with seed 0, else in pieces mixed at random. A RELEASE_MEM takes effect, and a job ends,
 * when all dispatches before it have run.
 *
 * A job's end waits like that too. The kernel's fence at the end of a job waits for the job's waves, but nothing makes
 * the next job wait for that fence: its IBs begin while those waves still run (amdgpu_ib.c emits no wait within
 * one entity). So when the next job is already there, it is run up to its first drain with the last one's dispatches
 * pending beside its own (SG_CP_JOBS). As with the kernel, which lets the pipeline drain for a VM flush, both must be
 * of one address space that has not changed; a job that depends on the other's fence is not queued before that.
 */
#include "cp.h"

#include "icache.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

/* The hardware's queue is finite too; this bounds memory. */
#define PENDING_MAX 4096u

/* Saturates: such a dispatch ends by the watchdog. */
static uint64_t
group_count(const struct sg_dispatch *d)
{
	uint64_t n = (uint64_t)d->groups[0] * d->groups[1], total;

	return __builtin_mul_overflow(n, (uint64_t)d->groups[2], &total) ? UINT64_MAX : total;
}

/* The last group of an axis may be a partial one. */
static uint64_t
thread_count(const struct sg_dispatch *d)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < 3; i++)
		n *= d->groups[i] ? (d->groups[i] - 1ull) * d->threads[i] + d->partial[i] : 0;
	return n;
}

/* NULL: out of memory (failed). */
static struct sg_pending *
pending_add(struct sg_cp *cp)
{
	if (cp->n_pending == cp->pending_room) {
		unsigned room = cp->pending_room ? cp->pending_room * 2 : 16;
		struct sg_pending *bigger = realloc(cp->pending, room * sizeof(*bigger));
		if (!bigger) {
			sg_run_fail(&cp->run, SG_JOB_HANG, "out of host memory");
			return NULL;
		}
		cp->pending = bigger;
		cp->pending_room = room;
	}
	struct sg_pending *p = &cp->pending[cp->n_pending++];
	*p = (struct sg_pending){
		.slot = cp->slot,
		.packet = cp->run.packet, .packet_va = cp->run.packet_va, .ib_va = cp->run.ib_va,
	};
	return p;
}

/* Sentences of a failure name the packet that caused the work, not the one that drains. */
static void
pending_blame(struct sg_cp *cp, const struct sg_pending *p)
{
	cp->run.packet = p->packet;
	cp->run.packet_va = p->packet_va;
	cp->run.ib_va = p->ib_va;
}

/* A failed job's waves are gone. */
static void
pending_run(struct sg_cp *cp, struct sg_pending *p, uint64_t groups)
{
	sg_cp_enter(cp, p->slot);
	if (cp->run.failed) {
		p->done = true;
		return;
	}
	if (groups > p->groups - p->next)
		groups = p->groups - p->next;
	pending_blame(cp, p);
	cp->run.writer = p->writer;
	const struct sg_mapping *code = sg_snapshot_find(cp->run.pages, p->d.pc);
	if (cp->run.icache && code && code->host && (code->access & SG_VM_EXEC))
		sg_icache_fetch(cp->run.icache, cp->run.vm, code, p->d.pc);
	sg_workers_run(&cp->workers, &cp->run, &p->d, p->next, groups);
	p->next += groups;
	p->done = p->next == p->groups;
}

static void
pending_effect(struct sg_cp *cp, const struct sg_pending *p)
{
	sg_cp_enter(cp, p->slot);
	if (p->kind == SG_PENDING_END) {
		sg_cp_end(cp, p->slot);
	} else if (!cp->run.failed) {
		pending_blame(cp, p);
		sg_cp_release(cp, p->body);
	}
}

/* RELEASE_MEMs and ends happen in order, each when all dispatches before it are over. Returns the first item that is
 * not done. */
static unsigned
pending_effects(struct sg_cp *cp, unsigned head)
{
	for (; head < cp->n_pending; head++) {
		struct sg_pending *p = &cp->pending[head];
		if (p->kind != SG_PENDING_DISPATCH)
			pending_effect(cp, p);
		else if (!p->done)
			break;
	}
	return head;
}

static void
drain_reversed(struct sg_cp *cp)
{
	for (unsigned i = cp->n_pending; i-- > 0;)
		if (cp->pending[i].kind == SG_PENDING_DISPATCH)
			pending_run(cp, &cp->pending[i], UINT64_MAX);
	pending_effects(cp, 0);
}

/* A random one of the dispatches that have not ended, or NULL. */
static struct sg_pending *
pending_pick(struct sg_cp *cp)
{
	unsigned start = (unsigned)(sg_run_random(&cp->run) % cp->n_pending);

	for (unsigned k = 0; k < cp->n_pending; k++) {
		struct sg_pending *p = &cp->pending[(start + k) % cp->n_pending];
		if (p->kind == SG_PENDING_DISPATCH && !p->done)
			return p;
	}
	return NULL;
}

static void
drain_shuffled(struct sg_cp *cp)
{
	unsigned head = pending_effects(cp, 0);
	struct sg_pending *p;

	while ((p = pending_pick(cp))) {
		/* About four pieces a dispatch: enough to mix, and each costs the core a check of its code. */
		uint64_t most = p->groups / 2 + 1;
		pending_run(cp, p, sg_run_random(&cp->run) % most + 1);
		head = pending_effects(cp, head);
	}
}

void
sg_cp_drain(struct sg_cp *cp)
{
	const char *packet = cp->run.packet;
	uint64_t packet_va = cp->run.packet_va, ib_va = cp->run.ib_va;
	unsigned slot = cp->slot;

	if (cp->n_pending == 0)
		return;
	if (cp->run.config->seed == 0)
		drain_reversed(cp);
	else
		drain_shuffled(cp);
	cp->n_pending = 0;
	sg_cp_enter(cp, slot);
	cp->run.packet = packet;
	cp->run.packet_va = packet_va;
	cp->run.ib_va = ib_va;
}

bool
sg_cp_defer_release(struct sg_cp *cp, const uint32_t body[7])
{
	if (cp->n_pending == 0)
		return false;
	struct sg_pending *p = pending_add(cp);
	if (p) {
		p->kind = SG_PENDING_RELEASE;
		memcpy(p->body, body, sizeof(p->body));
	}
	return true;
}

bool
sg_cp_defer_end(struct sg_cp *cp)
{
	struct sg_pending *p = cp->n_pending > 0 ? pending_add(cp) : NULL;

	if (p)
		p->kind = SG_PENDING_END;
	else
		sg_cp_drain(cp); /* out of memory, or there is nothing */
	return p != NULL;
}

void
sg_cp_launch(struct sg_cp *cp, const struct sg_dispatch *d)
{
	uint64_t groups = group_count(d);

	sg_count(&cp->run.counters->dispatches, 1);
	if (!cp->statistics_off)
		cp->invocations += thread_count(d);
	if (groups == 0)
		return;
	if (!cp->run.config->hostile) {
		sg_workers_run(&cp->workers, &cp->run, d, 0, groups);
		return;
	}
	if (cp->n_pending >= PENDING_MAX)
		sg_cp_drain(cp);
	struct sg_pending *p = cp->run.failed ? NULL : pending_add(cp);
	if (!p)
		return;
	p->d = *d;
	p->groups = groups;
	p->writer = sg_stale_new_writer();
}

