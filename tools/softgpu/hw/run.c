/* SPDX-License-Identifier: MIT */
/* run.c: the state of a job being executed, its failures and its way to memory. */
#define _GNU_SOURCE
#include "run.h"

#include "icache.h"
#include "stats.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PAGE 4096ull

/* ---- failures ---- */

static void
why_append(struct sg_run *run, const char *format, va_list args)
{
	size_t n = strlen(run->why);

	vsnprintf(run->why + n, sizeof(run->why) - n, format, args);
}

void
sg_run_fail(struct sg_run *run, enum sg_outcome outcome, const char *format, ...)
{
	va_list args;

	if (run->failed)
		return;
	run->failed = true;
	if (outcome == SG_JOB_HANG && __atomic_load_n(&run->reset, __ATOMIC_RELAXED)) {
		run->outcome = SG_JOB_SKIPPED;
		snprintf(run->why, sizeof(run->why), "%s: stopped by the reset for a job of another ring", run->engine);
		return;
	}
	run->outcome = outcome;
	if (run->packet)
		snprintf(run->why, sizeof(run->why), "%s on %s, IB 0x%llx + 0x%llx: ", run->packet, run->engine,
			 (unsigned long long)run->ib_va, (unsigned long long)(run->packet_va - run->ib_va));
	else
		snprintf(run->why, sizeof(run->why), "%s: ", run->engine);
	va_start(args, format);
	why_append(run, format, args);
	va_end(args);
}

bool
sg_run_timed_out(struct sg_run *run)
{
	if (!__atomic_load_n(&run->stop, __ATOMIC_RELAXED))
		return false;
	sg_run_fail(run, SG_JOB_HANG, "not done after %u ms", run->config->lockup_ms);
	return true;
}

void
sg_run_pause(unsigned turn)
{
	if (turn < 200) {
		sched_yield();
		return;
	}
	nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* splitmix64 */
uint64_t
sg_run_random(struct sg_run *run)
{
	uint64_t z = run->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* ---- what the shader cores call ---- */

static bool
mem_lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	struct sg_run *run = (struct sg_run *)mem;
	const struct sg_mapping *m = sg_snapshot_find(run->pages, sg_canonical(va));

	if (!m)
		return false;
	/* SG_VM_* and SG_ACCESS_* have the same bits. */
	*out = (struct sg_span){ .va = m->va, .bytes = m->bytes, .host = m->host, .access = m->access & 7 };
	/* In hostile mode the cores themselves read nothing from spans but code; data goes through mem_read. */
	if (mem->hostile && run->icache && m->host && (m->access & SG_VM_EXEC))
		out->host = sg_icache_host(run->icache, m);
	return true;
}

/* Host address of data, where the span may be one for code. */
static uint8_t *
data_host(const struct sg_run *run, const struct sg_span *span, uint64_t va)
{
	if (!run->icache || !(span->access & SG_ACCESS_EXEC))
		return span->host + (va - span->va);
	const struct sg_mapping *m = sg_snapshot_find(run->pages, va);
	return m->host + (va - m->va);
}

static bool
mem_fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	struct sg_run *run = (struct sg_run *)mem;

	(void)pc; /* in the core's struct sg_stop when it matters */
	sg_count_shared(&run->counters->faults, 1);
	sg_vm_record_fault(run->vm, va, access & SG_ACCESS_WRITE ? SG_VM_WRITE : SG_VM_READ,
			   access & SG_ACCESS_EXEC ? SG_CLIENT_SQC_INST : SG_CLIENT_TCP);
	return run->config->strict;
}

static void
mem_read(struct sg_mem *mem, const struct sg_span *span, uint64_t va, void *dst, size_t bytes, enum sg_path path)
{
	struct sg_run *run = (struct sg_run *)mem;

	if (!span->host)
		memset(dst, 0, bytes);
	else if (run->stale)
		sg_stale_read(run->stale, path, data_host(run, span, va), dst, bytes, run->writer);
	else
		memcpy(dst, span->host + (va - span->va), bytes);
}

static void
mem_write(struct sg_mem *mem, const struct sg_span *span, uint64_t va, const void *src, size_t bytes)
{
	struct sg_run *run = (struct sg_run *)mem;

	if (!span->host)
		return;
	if (mem->hostile)
		sg_stale_write(data_host(run, span, va), src, bytes, run->writer);
	else
		memcpy(span->host + (va - span->va), src, bytes);
}

static const struct sg_mem_ops mem_ops = {
	.lookup = mem_lookup,
	.fault = mem_fault,
	.read = mem_read,
	.write = mem_write,
};

/* ---- life of a run ---- */

void
sg_run_init(struct sg_run *run, struct sg_counters *counters, const char *engine, enum sg_client client)
{
	run->config = sg_config();
	run->profile = run->config->profile;
	run->generation = sg_generation_of(run->profile);
	run->counters = counters;
	run->client = client;
	snprintf(run->engine, sizeof(run->engine), "%s", engine);
}

void
sg_run_begin(struct sg_run *run, const struct sg_job *job, uint64_t number)
{
	run->profile = run->config->profile;
	run->generation = sg_generation_of(run->profile);
	run->mem = (struct sg_mem){ .ops = &mem_ops, .hostile = run->config->hostile };
	run->vm = job->vm;
	run->pages = sg_vm_snapshot(job->vm);
	run->writer = 0;
	run->l2 = run->client == SG_CLIENT_SDMA0 ? SG_L2_UNCACHED : SG_L2_CACHED;
	run->random = run->config->seed * 0x2545f4914f6cdd1dull + number;
	run->outcome = SG_JOB_DONE;
	run->failed = false;
	run->why[0] = '\0';
	run->packet = NULL;
}

void
sg_run_end(struct sg_run *run)
{
	sg_snapshot_unref(run->pages);
	run->pages = NULL;
	run->vm = NULL;
}

/* ---- packets' way to memory ---- */

static bool
packet_fault(struct sg_run *run, uint64_t va, uint32_t access)
{
	sg_count(&run->counters->faults, 1);
	sg_vm_record_fault(run->vm, va, access, run->client);
	if (!run->config->strict)
		return true;
	sg_run_fail(run, SG_JOB_FAULT, "VM fault, %s address 0x%llx",
		    access & SG_VM_WRITE ? "write to unmapped or read-only" : "read of unmapped",
		    (unsigned long long)va);
	return false;
}

/* A piece of a range that one mapping serves, or that none does. */
struct piece {
	uint8_t *host; /* NULL: PRT or a fault */
	uint64_t bytes;
	bool fault;
};

static struct piece
piece_at(struct sg_run *run, uint64_t va, uint64_t bytes, uint32_t access)
{
	const struct sg_mapping *m = sg_snapshot_find(run->pages, va);
	struct piece p = { .fault = !m || (m->access & access) != access };

	if (m) {
		p.bytes = m->bytes - (va - m->va);
		p.host = m->host && !p.fault ? m->host + (va - m->va) : NULL;
		p.fault = p.fault && !(m->access & SG_VM_PRT);
	} else {
		p.bytes = PAGE - va % PAGE;
	}
	if (p.bytes > bytes)
		p.bytes = bytes;
	return p;
}

/* Reports only the first hole of a packet's range, like the kernel's rate limit. */
static bool
piece_check(struct sg_run *run, const struct piece *p, uint64_t va, uint32_t access, bool *reported)
{
	if (!p->fault || *reported)
		return true;
	*reported = true;
	return packet_fault(run, va, access);
}

static void
load(void *dst, const uint8_t *host, uint64_t bytes)
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
store(struct sg_run *run, uint8_t *host, const void *src, uint64_t bytes)
{
	if (run->mem.hostile) {
		sg_l2_write(host, src, bytes, run->l2);
	} else if (bytes == 4 && (uintptr_t)host % 4 == 0) {
		uint32_t v;
		memcpy(&v, src, 4);
		__atomic_store_n((uint32_t *)(void *)host, v, __ATOMIC_RELEASE);
	} else if (bytes == 8 && (uintptr_t)host % 8 == 0) {
		uint64_t v;
		memcpy(&v, src, 8);
		__atomic_store_n((uint64_t *)(void *)host, v, __ATOMIC_RELEASE);
	} else {
		memmove(host, src, bytes);
	}
}

static bool
read_memory(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes, bool through_l2)
{
	uint8_t *out = dst;
	bool reported = false;

	while (bytes > 0) {
		va = sg_canonical(va);
		struct piece p = piece_at(run, va, bytes, SG_VM_READ);
		if (!piece_check(run, &p, va, SG_VM_READ, &reported))
			return false;
		if (!p.host)
			memset(out, 0, p.bytes);
		else if (through_l2)
			sg_l2_read(p.host, out, p.bytes, run->l2);
		else
			load(out, p.host, p.bytes);
		va += p.bytes;
		out += p.bytes;
		bytes -= p.bytes;
	}
	return true;
}

bool
sg_run_read(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes)
{
	return read_memory(run, va, dst, bytes, run->mem.hostile);
}

bool
sg_run_poll(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes)
{
	enum sg_l2_use use = run->l2;

	run->l2 = SG_L2_UNCACHED;
	bool ok = sg_run_read(run, va, dst, bytes);
	run->l2 = use;
	return ok;
}

bool
sg_run_fetch(struct sg_run *run, uint64_t va, void *dst, uint64_t bytes)
{
	return read_memory(run, va, dst, bytes, false);
}

bool
sg_run_write(struct sg_run *run, uint64_t va, const void *src, uint64_t bytes)
{
	const uint8_t *in = src;
	bool reported = false;

	while (bytes > 0) {
		va = sg_canonical(va);
		struct piece p = piece_at(run, va, bytes, SG_VM_WRITE);
		if (!piece_check(run, &p, va, SG_VM_WRITE, &reported))
			return false;
		if (p.host)
			store(run, p.host, in, p.bytes);
		va += p.bytes;
		in += p.bytes;
		bytes -= p.bytes;
	}
	return true;
}

static void
fill_memory(uint8_t *host, uint32_t value, uint64_t bytes)
{
	uint64_t i = 0;

	for (; i + 4 <= bytes; i += 4)
		memcpy(host + i, &value, 4);
	memcpy(host + i, &value, bytes - i);
}

/* Hostile mode's fills and copies go through here in pieces. */
enum { BOUNCE = 4096 };

static void
fill_piece(struct sg_run *run, uint8_t *host, uint32_t value, uint64_t bytes)
{
	uint8_t bounce[BOUNCE];

	if (!run->mem.hostile) {
		fill_memory(host, value, bytes);
		return;
	}
	fill_memory(bounce, value, bytes < BOUNCE ? bytes : BOUNCE);
	for (uint64_t done = 0; done < bytes; done += BOUNCE)
		store(run, host + done, bounce, bytes - done < BOUNCE ? bytes - done : BOUNCE);
}

bool
sg_run_fill(struct sg_run *run, uint64_t va, uint32_t value, uint64_t bytes)
{
	bool reported = false;

	while (bytes > 0) {
		va = sg_canonical(va);
		struct piece p = piece_at(run, va, bytes, SG_VM_WRITE);
		if (!piece_check(run, &p, va, SG_VM_WRITE, &reported) || sg_run_timed_out(run))
			return false;
		if (p.host)
			fill_piece(run, p.host, value, p.bytes);
		/* Mappings are whole pages, so the pattern stays in step unless the start is odd. */
		unsigned turn = p.bytes % 4 * 8;
		if (turn)
			value = value >> turn | value << (32 - turn);
		va += p.bytes;
		bytes -= p.bytes;
	}
	return true;
}

static void
copy_hostile(struct sg_run *run, uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	uint8_t bounce[BOUNCE];

	while (bytes > 0) {
		uint64_t step = bytes < BOUNCE ? bytes : BOUNCE;
		sg_l2_read(from, bounce, step, run->l2);
		store(run, to, bounce, step);
		to += step;
		from += step;
		bytes -= step;
	}
}

/* One step of a copy: no longer than either side's piece. */
static void
copy_piece(struct sg_run *run, const struct piece *to, const struct piece *from, uint64_t bytes)
{
	if (!to->host)
		return;
	if (!from->host)
		fill_piece(run, to->host, 0, bytes);
	else if (run->mem.hostile)
		copy_hostile(run, to->host, from->host, bytes);
	else
		store(run, to->host, from->host, bytes);
}

bool
sg_run_copy(struct sg_run *run, uint64_t dst, uint64_t src, uint64_t bytes)
{
	bool read_reported = false, write_reported = false;

	while (bytes > 0) {
		dst = sg_canonical(dst);
		src = sg_canonical(src);
		struct piece from = piece_at(run, src, bytes, SG_VM_READ);
		struct piece to = piece_at(run, dst, from.bytes, SG_VM_WRITE);
		if (!piece_check(run, &from, src, SG_VM_READ, &read_reported) ||
		    !piece_check(run, &to, dst, SG_VM_WRITE, &write_reported) || sg_run_timed_out(run))
			return false;
		copy_piece(run, &to, &from, to.bytes);
		dst += to.bytes;
		src += to.bytes;
		bytes -= to.bytes;
	}
	return true;
}

bool
sg_run_touch(struct sg_run *run, uint64_t va, uint64_t bytes)
{
	bool reported = false;

	while (bytes > 0 && !reported) {
		va = sg_canonical(va);
		struct piece p = piece_at(run, va, bytes, SG_VM_READ);
		if (!piece_check(run, &p, va, SG_VM_READ, &reported))
			return false;
		va += p.bytes;
		bytes -= p.bytes;
	}
	return true;
}

bool
sg_run_word(struct sg_run *run, uint64_t va, uint64_t bytes, uint8_t **host)
{
	struct piece p = piece_at(run, va, bytes, SG_VM_READ | SG_VM_WRITE);
	bool reported = false;

	*host = p.host;
	return piece_check(run, &p, va, SG_VM_WRITE, &reported);
}

bool
sg_run_compare(uint32_t function, uint64_t value, uint64_t reference)
{
	switch (function & 7) {
	case 1: return value < reference;
	case 2: return value <= reference;
	case 3: return value == reference;
	case 4: return value != reference;
	case 5: return value >= reference;
	case 6: return value > reference;
	default: return true;
	}
}
