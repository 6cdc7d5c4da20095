/* SPDX-License-Identifier: MIT */
/* cp_sync.c: packets that wait, order, invalidate or say that something is over. */
#include "cp.h"

#include "icache.h"
#include "stats.h"

#include <string.h>
#include <time.h>

/* ---- EVENT_WRITE ---- */

/* 11 counters of 64 bits, 14 since gfx11; compute invocations are the last of the first eleven. */
static void
sample_pipeline_statistics(struct sg_cp *cp, const struct sg_packet *p)
{
	uint64_t counters[14] = { 0 };
	bool gfx11 = cp->run.profile->gfx_major >= 11;

	if (p->dwords < 3) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "SAMPLE_PIPELINESTAT without an address");
		return;
	}
	counters[10] = cp->invocations;
	sg_run_write(&cp->run, sg_u64(p->body[1] & ~7u, p->body[2]), counters, (gfx11 ? 14 : 11) * 8);
}

void
sg_pk_event_write(struct sg_cp *cp, const struct sg_packet *p)
{
	switch (PM4_GET(EVENT_WRITE_EVENT_TYPE, p->body[0])) {
	case PM4_EVENT_CS_PARTIAL_FLUSH:
		sg_count(&cp->run.counters->barriers, 1);
		sg_cp_drain(cp);
		break;
	case PM4_EVENT_SAMPLE_PIPELINESTAT:
		sample_pipeline_statistics(cp, p);
		break;
	default:
		break; /* graphics, thread trace, statistics on and off */
	}
}

/* ---- ACQUIRE_MEM: ctl, size, size hi, base, base hi, poll, gcr. Does not wait for shaders since gfx10. ---- */

#define GCR_GL2_DISCARD 13, 13

/* What one packet asks of the caches. */
struct cache_work {
	bool vector, scalar, code, write_back, invalidate, discard;
};

static struct cache_work
acquire_work(uint32_t gcr)
{
	return (struct cache_work){
		.vector = PM4_GET(GCR_GLV_INV, gcr) && PM4_GET(GCR_GL1_INV, gcr),
		.scalar = PM4_GET(GCR_GLK_INV, gcr),
		.code = PM4_GET(GCR_GLI_INV, gcr) != 0,
		.write_back = PM4_GET(GCR_GL2_WB, gcr),
		.invalidate = PM4_GET(GCR_GL2_INV, gcr),
		.discard = PM4_GET(GCR_GL2_DISCARD, gcr),
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
	if (p->dwords < 7) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords, needs 7 since gfx10", p->dwords);
		return;
	}
	struct cache_work w = acquire_work(p->body[6]);

	sg_count(&cp->run.counters->acquires, 1);
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
#define RELEASE_MEM_GL2_DISCARD 19, 19
#define RELEASE_MEM_GLK_INV_GFX11 30, 30

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
	default: /* nothing, or GDS, which holds nothing */
		break;
	}
}

static struct cache_work
release_work(const struct sg_cp *cp, uint32_t event)
{
	return (struct cache_work){
		.vector = PM4_GET(RELEASE_MEM_GLV_INV, event) && PM4_GET(RELEASE_MEM_GL1_INV, event),
		.scalar = cp->run.profile->gfx_major >= 11 && PM4_GET(RELEASE_MEM_GLK_INV_GFX11, event),
		.write_back = PM4_GET(RELEASE_MEM_GL2_WB, event),
		.invalidate = PM4_GET(RELEASE_MEM_GL2_INV, event),
		.discard = PM4_GET(RELEASE_MEM_GL2_DISCARD, event),
	};
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
	struct cache_work w = release_work(cp, body[0]);
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
	uint32_t function;
	uint64_t va, reference, mask;
	unsigned bytes;
};

static bool
wait_look(struct sg_cp *cp, const struct wait *w, uint64_t *value)
{
	*value = 0;
	return sg_run_poll(&cp->run, w->va, value, w->bytes) &&
	       sg_run_compare(w->function, *value & w->mask, w->reference);
}

static void
wait_memory(struct sg_cp *cp, const struct wait *w)
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
				    "waited %u ms for (value & 0x%llx) %s 0x%llx at 0x%llx, value is 0x%llx",
				    cp->run.config->lockup_ms, (unsigned long long)w->mask, functions[w->function],
				    (unsigned long long)w->reference, (unsigned long long)w->va,
				    (unsigned long long)value);
			return;
		}
		sg_run_pause(turn);
	}
}

/* Registers a user stream waits on are handshakes of other blocks (HDP flush): they answer at once. */
static bool
is_memory_wait(const struct sg_packet *p)
{
	return PM4_GET(WAIT_REG_MEM_MEM_SPACE, p->body[0]) == 1 && PM4_GET(WAIT_REG_MEM_OPERATION, p->body[0]) != 1;
}

void
sg_pk_wait_reg_mem(struct sg_cp *cp, const struct sg_packet *p)
{
	struct wait w = {
		.function = PM4_GET(WAIT_REG_MEM_FUNCTION, p->body[0]),
		.va = sg_canonical(sg_u64(p->body[1] & ~3u, p->body[2])),
		.reference = p->body[3], .mask = p->body[4], .bytes = 4,
	};

	if (is_memory_wait(p))
		wait_memory(cp, &w);
}

void
sg_pk_wait_reg_mem64(struct sg_cp *cp, const struct sg_packet *p)
{
	struct wait w = {
		.function = PM4_GET(WAIT_REG_MEM_FUNCTION, p->body[0]),
		.va = sg_canonical(sg_u64(p->body[1] & ~7u, p->body[2])),
		.reference = sg_u64(p->body[3], p->body[4]), .mask = sg_u64(p->body[5], p->body[6]), .bytes = 8,
	};

	if (is_memory_wait(p))
		wait_memory(cp, &w);
}

/* ---- conditions ---- */

void
sg_pk_cond_exec(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t value;

	if (sg_run_read(&cp->run, sg_u64(p->body[0] & ~3u, p->body[1]), &value, 4) && value == 0)
		sg_cp_skip(cp, PM4_GET(COND_EXEC_COUNT, p->body[3]));
}

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

/* SET_PREDICATION (gfx ring): ctl, address. Only the boolean forms; queries of graphics never skip. */
void
sg_pk_set_predication(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { CLEAR = 0, BOOL64 = 3, BOOL32 = 4 };
	uint32_t op = PM4_GET_(18, 16, p->body[0]);
	bool run_if_set = PM4_GET_(8, 8, p->body[0]);
	uint64_t value = 0;

	cp->predicate_skips = false;
	if (op != BOOL64 && op != BOOL32)
		return;
	sg_cp_drain(cp); /* PFP_SYNC_ME precedes it in all users */
	if (sg_run_read(&cp->run, sg_u64(p->body[1] & ~3u, p->body[2]), &value, op == BOOL64 ? 8 : 4))
		cp->predicate_skips = (value != 0) != run_if_set;
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
