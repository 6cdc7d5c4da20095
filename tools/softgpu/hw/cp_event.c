/* SPDX-License-Identifier: MIT */
/* cp_event.c: EVENT_WRITE, and the counters that some events write to memory. */
#include "cp.h"

#include "stats.h"

/* Counters of the graphics pipe say by this bit that they have been written. */
#define COUNTER_VALID (1ull << 63)

static bool
has_address(struct sg_cp *cp, const struct sg_packet *p)
{
	if (p->dwords < 3)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "event 0x%02x without an address",
			    PM4_GET(EVENT_WRITE_EVENT_TYPE, p->body[0]));
	return p->dwords >= 3;
}

/* Compute invocations stand eleventh on all generations. */
static void
sample_pipeline_statistics(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { COMPUTE_INVOCATIONS = 10, MOST = 14 };
	uint64_t counters[MOST] = { 0 };

	if (!has_address(cp, p))
		return;
	counters[COMPUTE_INVOCATIONS] = cp->invocations;
	sg_run_write(&cp->run, sg_u64(p->body[1] & ~7u, p->body[2]), counters, cp->run.generation->statistics * 8);
}

/* Samples that passed, by each render back end, 16 bytes apart: without draws there are none. */
static void
sample_zpass(struct sg_cp *cp, uint64_t va)
{
	const uint64_t none = COUNTER_VALID;

	for (uint32_t rb = 0; rb < 32; rb++)
		if (cp->run.profile->rb_mask >> rb & 1)
			sg_run_write(&cp->run, va + rb * 16ull, &none, 8);
}

/* Primitives written and needed; likewise. */
static void
sample_streamout(struct sg_cp *cp, const struct sg_packet *p)
{
	const uint64_t none[2] = { COUNTER_VALID, COUNTER_VALID };

	if (has_address(cp, p))
		sg_run_write(&cp->run, sg_u64(p->body[1] & ~7u, p->body[2]), none, sizeof(none));
}

/* Events that only the gfx ring knows; the others of the graphics pipe do nothing here. */
static void
gfx_event(struct sg_cp *cp, const struct sg_packet *p, uint32_t event)
{
	switch (event) {
	case PM4_EVENT_PIXEL_PIPE_STAT_DUMP:
		if (!cp->run.generation->pixel_pipe_stat)
			break;
		/* fall through */
	case PM4_EVENT_ZPASS_DONE:
		if (has_address(cp, p))
			sample_zpass(cp, sg_u64(p->body[1] & ~7u, p->body[2]));
		break;
	case PM4_EVENT_SAMPLE_STREAMOUTSTATS:
	case PM4_EVENT_SAMPLE_STREAMOUTSTATS1:
	case PM4_EVENT_SAMPLE_STREAMOUTSTATS2:
	case PM4_EVENT_SAMPLE_STREAMOUTSTATS3:
		sample_streamout(cp, p);
		break;
	default:
		break;
	}
}

void
sg_pk_event_write(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t event = PM4_GET(EVENT_WRITE_EVENT_TYPE, p->body[0]);

	switch (event) {
	case PM4_EVENT_CS_PARTIAL_FLUSH:
		sg_count(&cp->run.counters->barriers, 1);
		sg_cp_drain(cp);
		break;
	case PM4_EVENT_PIPELINESTAT_START:
		cp->statistics_off = false;
		break;
	case PM4_EVENT_PIPELINESTAT_STOP:
		cp->statistics_off = true;
		break;
	case PM4_EVENT_SAMPLE_PIPELINESTAT:
		sample_pipeline_statistics(cp, p);
		break;
	default:
		if (cp->ip == SG_IP_GFX)
			gfx_event(cp, p, event);
		break;
	}
}

void
sg_pk_event_write_zpass(struct sg_cp *cp, const struct sg_packet *p)
{
	sample_zpass(cp, sg_u64(p->body[0] & ~7u, p->body[1]));
}

/* OCCLUSION_QUERY: where the counts at the begin are, where the sum goes; the counts at the end lie 8 bytes behind. */
void
sg_pk_occlusion_query(struct sg_cp *cp, const struct sg_packet *p)
{
	uint64_t from = sg_u64(p->body[0] & ~0xfu, p->body[1]), sum = 0, pair[2];

	for (uint32_t rb = 0; rb < 32; rb++) {
		if (!(cp->run.profile->rb_mask >> rb & 1))
			continue;
		if (!sg_run_read(&cp->run, from + rb * 16ull, pair, sizeof(pair)))
			return;
		sum += pair[1] - pair[0];
	}
	sg_run_write(&cp->run, sg_u64(p->body[2] & ~7u, p->body[3]), &sum, 8);
}
