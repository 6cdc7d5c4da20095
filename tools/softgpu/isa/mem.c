/* SPDX-License-Identifier: MIT */
/* mem.c: access to GPU memory through a few remembered spans. */
#include "core.h"

#include <inttypes.h>
#include <pthread.h>

const struct sg_span *
sg_mem_span(struct sg_core *core, uint64_t va)
{
	struct sg_span *tlb = core->tlb, found;
	unsigned i;

	for (i = 0; i < SG_TLB_ENTRIES; i++)
		if (va - tlb[i].va < tlb[i].bytes)
			break;
	if (i == 0)
		return tlb;
	if (i < SG_TLB_ENTRIES) { /* kernels go to and fro between a few buffers: an exchange is cheap */
		found = tlb[i];
		tlb[i] = tlb[0];
	} else {
		if (!core->mem->ops->lookup(core->mem, va, &found) || va - found.va >= found.bytes)
			return NULL;
		memmove(&tlb[1], &tlb[0], (SG_TLB_ENTRIES - 1) * sizeof *tlb);
	}
	tlb[0] = found;
	return tlb;
}

uint8_t *
sg_mem_host(struct sg_core *core, uint64_t va, unsigned bytes, uint32_t access)
{
	if (core->mem->hostile)
		return NULL;
	const struct sg_span *s = sg_mem_span(core, va);
	if (!s || !s->host || (s->access & access) != access || s->bytes - (va - s->va) < bytes)
		return NULL;
	return s->host + (va - s->va);
}

static void
fault(struct sg_wave *w, uint64_t va, uint32_t access, uint64_t pc)
{
	static const char *const verb[] = { [SG_ACCESS_READ] = "reads", [SG_ACCESS_WRITE] = "writes",
					    [SG_ACCESS_READ | SG_ACCESS_WRITE] = "updates" };
	if (w->core->mem->ops->fault(w->core->mem, va, access, pc))
		sg_stop_at(w, SG_STOP_FAULT, pc, "instruction %s address 0x%" PRIx64 ", which is not mapped for that",
			   verb[access & 3] ? verb[access & 3] : "uses", va);
}

/* Bytes from va on that one lookup decides about; a missing page ends at the next 4 KiB boundary. */
static unsigned
piece(const struct sg_span *s, uint64_t va, unsigned bytes)
{
	uint64_t room = s ? s->bytes - (va - s->va) : 4096 - (va & 4095);
	return room < bytes ? (unsigned)room : bytes;
}

void
sg_mem_read(struct sg_wave *w, uint64_t va, void *dst, unsigned bytes, enum sg_path path, uint64_t pc)
{
	struct sg_mem *mem = w->core->mem;
	uint8_t *to = dst;

	for (unsigned n; bytes; bytes -= n, va += n, to += n) {
		const struct sg_span *s = sg_mem_span(w->core, va);
		n = piece(s, va, bytes);
		if (!s || !(s->access & SG_ACCESS_READ)) {
			memset(to, 0, n);
			fault(w, va, SG_ACCESS_READ, pc);
		} else if (!s->host)
			memset(to, 0, n);
		else if (mem->hostile)
			mem->ops->read(mem, s, va, to, n, path);
		else
			memcpy(to, s->host + (va - s->va), n);
	}
}

void
sg_mem_write(struct sg_wave *w, uint64_t va, const void *src, unsigned bytes, uint64_t pc)
{
	struct sg_mem *mem = w->core->mem;
	const uint8_t *from = src;

	for (unsigned n; bytes; bytes -= n, va += n, from += n) {
		const struct sg_span *s = sg_mem_span(w->core, va);
		n = piece(s, va, bytes);
		if (!s || !(s->access & SG_ACCESS_WRITE))
			fault(w, va, SG_ACCESS_WRITE, pc);
		else if (!s->host)
			continue;
		else if (mem->hostile)
			mem->ops->write(mem, s, va, from, n);
		else
			memcpy(s->host + (va - s->va), from, n);
	}
}

/* Atomics */

static pthread_mutex_t atomic_lock = PTHREAD_MUTEX_INITIALIZER;

static void
raw_read(struct sg_mem *mem, const struct sg_span *s, uint64_t va, void *dst, unsigned bytes)
{
	if (mem->hostile)
		mem->ops->read(mem, s, va, dst, bytes, SG_PATH_VECTOR_COHERENT);
	else
		memcpy(dst, s->host + (va - s->va), bytes);
}

static void
raw_write(struct sg_mem *mem, const struct sg_span *s, uint64_t va, const void *src, unsigned bytes)
{
	if (mem->hostile)
		mem->ops->write(mem, s, va, src, bytes);
	else
		memcpy(s->host + (va - s->va), src, bytes);
}

/* In hostile mode memory is not plain host memory, and the host has no atomics for misaligned addresses: there
 * atomicity between cores is a lock of ours. */
static uint64_t
locked_atomic(struct sg_wave *w, const struct sg_span *s, uint64_t va, const struct sg_mem_op *m, uint64_t data,
	       uint64_t compare)
{
	struct sg_mem *mem = w->core->mem;
	uint64_t old = 0;

	pthread_mutex_lock(&atomic_lock);
	raw_read(mem, s, va, &old, m->bytes);
	uint64_t new = sg_atomic_apply(m->atomic, m->bytes, old, data, compare, w->mode);
	raw_write(mem, s, va, &new, m->bytes);
	pthread_mutex_unlock(&atomic_lock);
	return old;
}

static uint64_t
atomic32(struct sg_wave *w, uint32_t *p, const struct sg_mem_op *m, uint64_t data, uint64_t compare)
{
	if (m->atomic == SG_A_ADD)
		return __atomic_fetch_add(p, (uint32_t)data, __ATOMIC_SEQ_CST);
	uint32_t old = __atomic_load_n(p, __ATOMIC_RELAXED), new;
	do
		new = (uint32_t)sg_atomic_apply(m->atomic, 4, old, data, compare, w->mode);
	while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

static uint64_t
atomic64(struct sg_wave *w, uint64_t *p, const struct sg_mem_op *m, uint64_t data, uint64_t compare)
{
	uint64_t old = __atomic_load_n(p, __ATOMIC_RELAXED), new;
	do
		new = sg_atomic_apply(m->atomic, 8, old, data, compare, w->mode);
	while (!__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

uint64_t
sg_mem_atomic(struct sg_wave *w, uint64_t va, const struct sg_mem_op *m, uint64_t data, uint64_t compare, uint64_t pc)
{
	const uint32_t access = SG_ACCESS_READ | SG_ACCESS_WRITE;

	const struct sg_span *s = sg_mem_span(w->core, va);
	if (!s || (s->access & access) != access || s->bytes - (va - s->va) < m->bytes) {
		fault(w, va, access, pc);
		return 0;
	}
	if (!s->host)
		return 0;
	uint8_t *p = s->host + (va - s->va);
	if (w->core->mem->hostile || ((uintptr_t)p & (m->bytes - 1)))
		return locked_atomic(w, s, va, m, data, compare);
	return m->bytes == 4 ? atomic32(w, (uint32_t *)p, m, data, compare) :
			       atomic64(w, (uint64_t *)p, m, data, compare);
}
