/* SPDX-License-Identifier: MIT */
/* cp_sync.c: packets that wait, order, invalidate or say that something is over. */
#include "cp.h"

#include "icache.h"
#include "stats.h"

#include <string.h>
#include <time.h>

/* ---- ACQUIRE_MEM: ctl (gfx9: what to do), size, size hi, base, base hi, poll, gcr (since gfx10: what to do). Does not
 * wait for shaders since gfx10. ---- */

/* What one packet asks of the caches. */
struct cache_work {
	bool vector, scalar, code, write_back, invalidate, discard;
};

static struct cache_work
cache_work(const struct sg_cache_bits *b, uint32_t dword)
{
	return (struct cache_work){
		.vector = (dword & b->vector) == b->vector,
		.scalar = dword & b->scalar,
		.code = dword & b->code,
		.write_back = dword & b->write_back,
		.invalidate = dword & b->invalidate,
		.discard = dword & b->discard,
	};
}

static void
work_on_all(struct sg_cp *cp, const struct cache_work *w)
{
	if (w->write_back)
		sg_l2_write_back();
	if (w->discard)
		sg_l2_discard();
	else if (w->invalidate)
		sg_l2_invalidate();
	if (cp->run.stale && (w->vector || w->scalar))
		sg_stale_invalidate(cp->run.stale, w->vector, w->scalar);
}

static void
work_on_piece(struct sg_cp *cp, const struct cache_work *w, const uint8_t *host, uint64_t bytes)
{
	if (w->write_back)
		sg_l2_write_back_range(host, bytes);
	if (w->invalidate)
		sg_l2_invalidate_range(host, bytes);
	if (cp->run.stale && (w->vector || w->scalar))
		sg_stale_invalidate_range(cp->run.stale, w->vector, w->scalar, host, bytes);
}

/* [va, va + bytes) of each mapping */
static void
work_on_range(struct sg_cp *cp, const struct cache_work *w, uint64_t va, uint64_t bytes)
{
	const struct sg_snapshot *pages = cp->run.pages;

	va = sg_canonical(va);
	for (unsigned i = 0; i < pages->count; i++) {
		const struct sg_mapping *m = &pages->map[i];
		uint64_t skip = va > m->va ? va - m->va : 0, before = m->va > va ? m->va - va : 0;
		if (!m->host || skip >= m->bytes || before >= bytes)
			continue;
		uint64_t most = m->bytes - skip, want = bytes - before;
		work_on_piece(cp, w, m->host + skip, want < most ? want : most);
	}
}

void
sg_pk_acquire_mem(struct sg_cp *cp, const struct sg_packet *p)
{
	const struct sg_generation *g = cp->run.generation;

	if (p->dwords < g->acquire_body) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords, needs %u on %s", p->dwords, g->acquire_body,
			    cp->run.profile->name);
		return;
	}
	struct cache_work w = cache_work(&g->acquire, p->body[g->acquire_dword]);

	sg_count(&cp->run.counters->acquires, 1);
	if (g->pws && cp->ip == SG_IP_GFX && PM4_GET(ACQUIRE_MEM_PWS_ENA, p->body[5]))
		sg_cp_drain(cp); /* the RELEASE_MEM it waits for comes after the waves before it */
	if (!cp->run.config->hostile)
		return;
	if (w.code && cp->run.icache) /* no range: its field has none that anybody uses */
		sg_icache_invalidate(cp->run.icache);
	/* Sizes and bases count 256 bytes. */
	if (p->body[1] == ACQUIRE_MEM_COHER_SIZE_ALL)
		work_on_all(cp, &w);
	else
		work_on_range(cp, &w, sg_u64(p->body[3], p->body[4] & 0xff) << 8,
			      sg_u64(p->body[1], p->body[2] & 0xff) << 8);
}

/* ---- RELEASE_MEM: event, selectors, address, data, context id ---- */

enum release_data { DATA_NONE = 0, DATA_32 = 1, DATA_64 = 2, DATA_GPU_CLOCK = 3, DATA_SYSTEM_CLOCK = 4, DATA_GDS = 5,
		    DATA_ADD_32 = 7 };

/* The data share of which no job owns a part reads 0. */
static void
release_gds(struct sg_cp *cp, uint64_t va, uint32_t dwords)
{
	sg_run_fill(&cp->run, va & ~3ull, 0, dwords * 4ull);
}

static void
release_write(struct sg_cp *cp, const uint32_t *body)
{
	uint64_t va = sg_u64(body[2], body[3]), data = sg_u64(body[4], body[5]), old;

	switch (PM4_GET(RELEASE_MEM_DATA_SEL, body[1])) {
	case DATA_32:
		sg_run_write(&cp->run, va & ~3ull, &data, 4);
		break;
	case DATA_64:
		sg_run_write(&cp->run, va & ~7ull, &data, 8);
		break;
	case DATA_GPU_CLOCK:
	case DATA_SYSTEM_CLOCK:
		data = sg_gpu_clock();
		sg_run_write(&cp->run, va & ~7ull, &data, 8);
		break;
	case DATA_ADD_32:
		sg_run_atomic(&cp->run, 15 /* ADD_RTN */, va, data, 0, &old);
		break;
	case DATA_GDS:
		release_gds(cp, va, PM4_GET(RELEASE_MEM_GDS_DWORDS, body[4]));
		break;
	default: /* nothing to write */
		break;
	}
}

/* A word that tells the CPU of data still in L2. The kernel's fence is about to write them back; on hardware it takes
 * microseconds that a CPU which polls makes use of, here the CPU may not even be running. */
static void
let_the_cpu_look(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* First the caches, then the word: who sees it, sees what was written back. */
void
sg_cp_release(struct sg_cp *cp, const uint32_t body[7])
{
	struct cache_work w = cache_work(&cp->run.generation->release, body[0]);
	bool bypass = PM4_GET(RELEASE_MEM_CACHE_POLICY, body[0]) == PM4_POLICY_BYPASS;
	enum sg_l2_use use = cp->run.l2;

	if (cp->run.config->hostile)
		work_on_all(cp, &w);
	cp->run.l2 = bypass ? SG_L2_UNCACHED : SG_L2_CACHED;
	release_write(cp, body);
	cp->run.l2 = use;
	if (cp->run.config->hostile && bypass && !w.write_back && sg_l2_is_dirty())
		let_the_cpu_look();
}

/* The CP goes on at once; the effect comes when earlier dispatches have ended. */
void
sg_pk_release_mem(struct sg_cp *cp, const struct sg_packet *p)
{
	if (PM4_GET(RELEASE_MEM_DST_SEL, p->body[1]) > 1) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "destination %u (queue pointers) is privileged",
			    PM4_GET(RELEASE_MEM_DST_SEL, p->body[1]));
		return;
	}
	if (!sg_cp_defer_release(cp, p->body))
		sg_cp_release(cp, p->body);
}

/* ---- WAIT_REG_MEM ---- */

struct wait {
	bool reg;		/* of the file, not memory */
	uint32_t function;
	uint64_t va, reference, mask; /* va: or the register's number */
	unsigned bytes;
};

static bool
wait_look(struct sg_cp *cp, const struct wait *w, uint64_t *value)
{
	*value = w->reg ? cp->regs[w->va] : 0;
	if (w->reg)
		return sg_run_compare(w->function, *value & w->mask, w->reference);
	return sg_run_poll(&cp->run, w->va, value, w->bytes) &&
	       sg_run_compare(w->function, *value & w->mask, w->reference);
}

static void
wait_until(struct sg_cp *cp, const struct wait *w)
{
	static const char *const functions[8] = { "always", "<", "<=", "==", "!=", ">=", ">", "?" };
	uint64_t value;

	if (wait_look(cp, w, &value) || cp->run.failed)
		return;
	/* Dispatches and their RELEASE_MEMs make progress while the CP waits. */
	sg_cp_drain(cp);
	for (unsigned turn = 0; !cp->run.failed && !wait_look(cp, w, &value); turn++) {
		if (__atomic_load_n(&cp->run.stop, __ATOMIC_RELAXED)) {
			sg_run_fail(&cp->run, SG_JOB_HANG,
				    "waited %u ms for (value & 0x%llx) %s 0x%llx %s 0x%llx, value is 0x%llx",
				    cp->run.config->lockup_ms, (unsigned long long)w->mask, functions[w->function],
				    (unsigned long long)w->reference, w->reg ? "in register" : "at",
				    (unsigned long long)w->va, (unsigned long long)value);
			return;
		}
		sg_run_pause(turn);
	}
}

/* Registers that hold what streams have written are looked at; the others that a stream waits for are handshakes of other
 * blocks (the HDP flush, traces), which answer at once. */
static bool
reg_holds_state(uint32_t reg)
{
	return (reg >= PM4_SH_BASE && reg < PM4_SH_END) || (reg >= PM4_CONTEXT_BASE && reg < PM4_UCONFIG_BASE);
}

static void
wait_packet(struct sg_cp *cp, uint32_t ctl, struct wait *w)
{
	enum { SPACE_REGISTER = 0, SPACE_MEMORY = 1, WRITE_WAIT_WRITE = 1 };
	uint32_t space = PM4_GET(WAIT_REG_MEM_MEM_SPACE, ctl);

	w->function = PM4_GET(WAIT_REG_MEM_FUNCTION, ctl);
	if (space > SPACE_MEMORY) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "memory space %u does not exist", space);
		return;
	}
	if (PM4_GET(WAIT_REG_MEM_OPERATION, ctl) == WRITE_WAIT_WRITE)
		return;
	w->reg = space == SPACE_REGISTER;
	if (!w->reg)
		w->va = sg_canonical(w->va & ~(uint64_t)(w->bytes - 1));
	else if (!reg_holds_state((uint32_t)w->va & 0x3ffff))
		return;
	else
		w->va &= 0x3ffff;
	wait_until(cp, w);
}

void
sg_pk_wait_reg_mem(struct sg_cp *cp, const struct sg_packet *p)
{
	struct wait w = { .va = sg_u64(p->body[1], p->body[2]), .reference = p->body[3], .mask = p->body[4],
			  .bytes = 4 };

	wait_packet(cp, p->body[0], &w);
}

void
sg_pk_wait_reg_mem64(struct sg_cp *cp, const struct sg_packet *p)
{
	struct wait w = { .va = sg_u64(p->body[1], p->body[2]), .reference = sg_u64(p->body[3], p->body[4]),
			  .mask = sg_u64(p->body[5], p->body[6]), .bytes = 8 };

	wait_packet(cp, p->body[0], &w);
}

/* ---- other waits ---- */

/* The CP fetches this packet again and again until its VALID bit is set in memory. */
void
sg_pk_rewind(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t value = p->body[0];

	for (unsigned turn = 0; !(value >> 31); turn++) {
		sg_cp_drain(cp);
		if (sg_run_timed_out(&cp->run) || cp->run.failed)
			return;
		sg_run_pause(turn);
		if (!sg_run_poll(&cp->run, cp->run.packet_va + 4, &value, 4))
			return;
	}
}

/* MEM_SEMAPHORE: address, ctl */
void
sg_pk_mem_semaphore(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { SIGNAL = 6, WAIT = 7 };
	uint64_t va = sg_u64(p->body[0] & ~7u, p->body[1]);
	uint32_t sel = PM4_GET(MEM_SEMAPHORE_SEL, p->body[2]);
	bool taken;

	if (sel == SIGNAL) {
		sg_run_semaphore_signal(&cp->run, va, PM4_GET(MEM_SEMAPHORE_WRITE_ONE, p->body[2]));
		return;
	}
	if (sel != WAIT) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "semaphore operation %u does not exist", sel);
		return;
	}
	for (unsigned turn = 0; sg_run_semaphore_take(&cp->run, va, &taken) && !taken; turn++) {
		sg_cp_drain(cp);
		if (cp->run.failed || sg_run_timed_out(&cp->run))
			return;
		sg_run_pause(turn);
	}
}

/* ---- TIMESTAMP: enables, bottom address, top address ---- */

static void
timestamp_write(struct sg_cp *cp, uint32_t lo, uint32_t hi)
{
	uint64_t now = sg_gpu_clock();

	sg_run_write(&cp->run, sg_u64(lo & ~7u, hi), &now, 8);
}

void
sg_pk_timestamp(struct sg_cp *cp, const struct sg_packet *p)
{
	if (p->body[0] & 2)
		timestamp_write(cp, p->body[3], p->body[4]);
	if (!(p->body[0] & 1))
		return;
	sg_cp_drain(cp);
	timestamp_write(cp, p->body[1], p->body[2]);
}
