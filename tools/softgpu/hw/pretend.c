/* SPDX-License-Identifier: MIT */
/* pretend.c: jobs that end without having run (SOFTGPU_EXECUTE=0).
 *
 * Callers wait for a job by its fence, or by a word that its own commands write as their last act. So the last packet
 * of each IB is looked at: a RELEASE_MEM writes what it would write, an SDMA fence too. The commands in front are not
 * read, so a job costs the same however long it is. NOPs behind the last packet are skipped, chained IBs followed.
 */
#include "host.h"
#include "hw.h"
#include "ring.h"
#include "vm.h"

#include "pm4.h"

#define MOST_CHAINED 1024
#define SDMA_FENCE_DWORDS 4
#define SDMA_OP_FENCE 5

/* DATA_SEL of RELEASE_MEM */
enum { DATA_NONE = 0, DATA_32 = 1, DATA_64 = 2, DATA_CLOCK = 3 };

/* Host address of [va, va + bytes) when one mapping covers it and allows `access`, else NULL. */
static uint8_t *
host_of(const struct sg_snapshot *pages, uint64_t va, uint64_t bytes, uint32_t access)
{
	va = sg_canonical(va);
	const struct sg_mapping *m = sg_snapshot_find(pages, va);

	if (!m || !m->host || (m->access & access) != access || m->bytes - (va - m->va) < bytes)
		return NULL;
	return m->host + (va - m->va);
}

static void
write_word(const struct sg_snapshot *pages, uint64_t va, uint64_t value, uint64_t bytes)
{
	uint8_t *to = va % bytes ? NULL : host_of(pages, va, bytes, SG_VM_WRITE);

	if (to && bytes == 4)
		__atomic_store_n((uint32_t *)(void *)to, (uint32_t)value, __ATOMIC_RELEASE);
	else if (to)
		__atomic_store_n((uint64_t *)(void *)to, value, __ATOMIC_RELEASE);
}

/* packet: its 8 dwords */
static void
release_mem(const struct sg_snapshot *pages, const uint32_t *packet)
{
	uint64_t va = packet[3] | (uint64_t)packet[4] << 32, value = packet[5] | (uint64_t)packet[6] << 32;

	switch (PM4_GET(RELEASE_MEM_DATA_SEL, packet[2])) {
	case DATA_32: write_word(pages, va, value, 4); break;
	case DATA_64: write_word(pages, va, value, 8); break;
	case DATA_CLOCK: write_word(pages, va, sg_gpu_clock(), 8); break;
	default: break;
	}
}

/* The bit that says which kind of shader a packet is for does not matter. */
static bool
is_packet(uint32_t dword, unsigned op, unsigned dwords)
{
	return (dword & ~2u) == (3u << 30 | (dwords - 2) << 16 | op << 8);
}

/* `end` stands behind the last dword of n. True: a chain, and *next is where it goes on. */
static bool
pm4_end(const struct sg_snapshot *pages, const uint32_t *end, uint32_t n, struct sg_ib *next)
{
	/* Mesa pads to 1024 bytes: by fours first. */
	while (n >= 4 && end[-1] == PM4_NOP_ONE_DWORD && ((end[-1] ^ end[-2]) | (end[-1] ^ end[-3]) | (end[-1] ^ end[-4])) == 0) {
		end -= 4;
		n -= 4;
	}
	while (n > 0 && end[-1] == PM4_NOP_ONE_DWORD) {
		end--;
		n--;
	}
	if (n >= PM4_RELEASE_MEM_DWORDS &&
	    is_packet(end[-PM4_RELEASE_MEM_DWORDS], PM4_OP_RELEASE_MEM, PM4_RELEASE_MEM_DWORDS)) {
		release_mem(pages, end - PM4_RELEASE_MEM_DWORDS);
		return false;
	}
	if (n < PM4_INDIRECT_BUFFER_DWORDS ||
	    !is_packet(end[-PM4_INDIRECT_BUFFER_DWORDS], PM4_OP_INDIRECT_BUFFER, PM4_INDIRECT_BUFFER_DWORDS) ||
	    !PM4_GET(INDIRECT_BUFFER_CHAIN, end[-1]))
		return false;
	next->va = end[-3] | (uint64_t)end[-2] << 32;
	next->dwords = PM4_GET(INDIRECT_BUFFER_SIZE, end[-1]);
	return true;
}

static void
sdma_end(const struct sg_snapshot *pages, const uint32_t *end, uint32_t n)
{
	while (n > 0 && end[-1] == 0) { /* its NOP */
		end--;
		n--;
	}
	if (n >= SDMA_FENCE_DWORDS && (end[-4] & 0xff) == SDMA_OP_FENCE)
		write_word(pages, end[-3] | (uint64_t)end[-2] << 32, end[-1], 4);
}

static void
ib_end(const struct sg_snapshot *pages, enum sg_ip ip, struct sg_ib ib)
{
	for (unsigned hop = 0; hop < MOST_CHAINED; hop++) {
		const uint8_t *host = ib.dwords ? host_of(pages, ib.va, ib.dwords * 4ull, SG_VM_READ) : NULL;
		if (!host || ib.va % 4)
			return;
		const uint32_t *end = (const uint32_t *)(const void *)host + ib.dwords;
		if (ip == SG_IP_SDMA)
			sdma_end(pages, end, ib.dwords);
		if (ip == SG_IP_SDMA || !pm4_end(pages, end, ib.dwords, &ib))
			return;
	}
}

void
sg_ring_pretend(struct sg_job *job)
{
	const struct sg_snapshot *pages = sg_vm_peek(job->vm);

	for (unsigned i = 0; i < job->n_ibs; i++)
		ib_end(pages, job->ip, job->ibs[i]);
	if (job->user_fence)
		__atomic_store_n(job->user_fence, job->user_fence_value, __ATOMIC_RELEASE);
	struct sg_counters *c = sg_ring_counters(job->ip, job->ring);
	__atomic_fetch_add(&c->jobs, 1, __ATOMIC_RELAXED);
}
