/* SPDX-License-Identifier: MIT */
/* cp_dispatch.c: from COMPUTE_* registers to struct sg_dispatch. */
#include "cp.h"

#include <string.h>

#define LDS_MAX 65536u
#define THREADS_MAX 1024u
#define DEFAULT_POISON 0xdeadbeefu

/* ---- registers a stream must set itself ---- */

/* What PAL and Mesa set for each IB; each generation has more (generation.c). RESTART matters only with the initiator's
 * RESTORE bit, but then a stream must not depend on nobody having set that: it is asked for too, as tinygrad and
 * libgpuplan write it. */
static const struct sg_reg_span required_common[] = {
	{ R_COMPUTE_NUM_THREAD_X, R_COMPUTE_NUM_THREAD_Z },
	{ R_COMPUTE_PERFCOUNT_ENABLE, R_COMPUTE_PGM_HI },
	{ R_COMPUTE_PGM_RSRC1, R_COMPUTE_PGM_RSRC2 },
	{ R_COMPUTE_RESOURCE_LIMITS, R_COMPUTE_THREAD_TRACE_ENABLE },
	{ 0, 0 },
};

static bool
check_written(struct sg_cp *cp, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		if (cp->sh_written[i / 32] >> i % 32 & 1)
			continue;
		const char *name = sg_generation_reg_name(cp->run.generation, i);
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL,
			    "%s (SH 0x%x) was not written in this submission; what it holds was left by others",
			    name ? name : "register", i);
		return false;
	}
	return true;
}

static bool
check_spans(struct sg_cp *cp, const struct sg_reg_span *spans)
{
	for (; spans->first; spans++)
		if (!check_written(cp, spans->first, spans->last))
			return false;
	return true;
}

/* Hostile and strict only. */
static bool
check_registers(struct sg_cp *cp, uint32_t initiator)
{
	bool scratch = PM4_GET(RSRC2_SCRATCH_EN, sg_cp_sh(cp, R_COMPUTE_PGM_RSRC2));
	const struct sg_generation *g = cp->run.generation;

	if (!PM4_GET(DISPATCH_INITIATOR_FORCE_START_AT_000, initiator) &&
	    !check_written(cp, R_COMPUTE_START_X, R_COMPUTE_START_Z))
		return false;
	if (!check_spans(cp, required_common))
		return false;
	if (g->tmpring.base_register && scratch &&
	    !check_written(cp, R_COMPUTE_DISPATCH_SCRATCH_BASE_LO, R_COMPUTE_DISPATCH_SCRATCH_BASE_HI))
		return false;
	return check_spans(cp, g->required);
}

/* ---- registers to dispatch ---- */

static void
set_scratch(const struct sg_cp *cp, struct sg_dispatch *d)
{
	const struct sg_tmpring *t = &cp->run.generation->tmpring;
	uint32_t ring = sg_cp_sh(cp, R_COMPUTE_TMPRING_SIZE);

	if (!PM4_GET(RSRC2_SCRATCH_EN, d->rsrc2))
		return;
	d->scratch_wave_bytes = (ring >> 12 & ((1u << t->wave_bits) - 1)) * t->wave_unit;
	d->scratch_waves = PM4_GET(TMPRING_WAVES, ring) * (t->waves_per_se ? cp->run.profile->num_se : 1);
	if (t->base_register)
		d->scratch_base = sg_canonical(sg_u64(sg_cp_sh(cp, R_COMPUTE_DISPATCH_SCRATCH_BASE_LO),
						      sg_cp_sh(cp, R_COMPUTE_DISPATCH_SCRATCH_BASE_HI) & 0xff) << 8);
}

static void
set_state(struct sg_cp *cp, struct sg_dispatch *d, uint32_t initiator)
{
	d->arch = (enum sg_arch)cp->run.profile->arch;
	d->wave32 = cp->run.generation->wave32 && PM4_GET(DISPATCH_INITIATOR_CS_W32_EN, initiator);
	/* 48 address bits without sign, in units of 256 bytes */
	d->pc = sg_canonical(sg_u64(sg_cp_sh(cp, R_COMPUTE_PGM_LO), sg_cp_sh(cp, R_COMPUTE_PGM_HI) & 0xff) << 8);
	d->rsrc1 = sg_cp_sh(cp, R_COMPUTE_PGM_RSRC1);
	d->rsrc2 = sg_cp_sh(cp, R_COMPUTE_PGM_RSRC2);
	d->rsrc3 = sg_cp_sh(cp, cp->run.generation->rsrc3);
	memcpy(d->user_data, &cp->regs[PM4_SH_BASE + R_COMPUTE_USER_DATA_0], sizeof(d->user_data));
	d->poison = cp->run.config->hostile ? (uint32_t)sg_run_random(&cp->run) | 1 : DEFAULT_POISON;
	d->stop = &cp->run.stop;
	d->clock = sg_gpu_clock;
	set_scratch(cp, d);
}

/* One axis of the grid: group size, first group, number of groups, threads of the last group. */
static void
set_axis(const struct sg_cp *cp, struct sg_dispatch *d, unsigned axis, uint32_t dim, uint32_t initiator)
{
	uint32_t num = sg_cp_sh(cp, R_COMPUTE_NUM_THREAD_X + axis), full = PM4_GET(NUM_THREAD_FULL, num);
	uint32_t partial = PM4_GET(NUM_THREAD_PARTIAL, num), end = dim;

	d->threads[axis] = full;
	d->partial[axis] = full;
	if (PM4_GET(DISPATCH_INITIATOR_USE_THREAD_DIMENSIONS, initiator)) {
		end = full ? dim / full + (dim % full != 0) : 0;
		if (full && dim % full)
			d->partial[axis] = dim % full;
	} else if (PM4_GET(DISPATCH_INITIATOR_PARTIAL_TG_EN, initiator) && partial) {
		d->partial[axis] = partial;
	}
	if (!PM4_GET(DISPATCH_INITIATOR_FORCE_START_AT_000, initiator))
		d->start[axis] = sg_cp_sh(cp, R_COMPUTE_START_X + axis);
	d->groups[axis] = end > d->start[axis] ? end - d->start[axis] : 0;
}

static bool
check_dispatch(struct sg_cp *cp, const struct sg_dispatch *d)
{
	uint64_t threads = (uint64_t)d->threads[0] * d->threads[1] * d->threads[2];
	uint32_t lds = PM4_GET(RSRC2_LDS_SIZE, d->rsrc2) * 512, sgprs = PM4_GET(RSRC2_USER_SGPR, d->rsrc2);
	struct sg_run *run = &cp->run;

	if (threads == 0 || threads > THREADS_MAX)
		sg_run_fail(run, SG_JOB_ILLEGAL, "workgroup of %u x %u x %u threads, must be 1 to %u", d->threads[0],
			    d->threads[1], d->threads[2], THREADS_MAX);
	else if (d->partial[0] > d->threads[0] || d->partial[1] > d->threads[1] || d->partial[2] > d->threads[2])
		sg_run_fail(run, SG_JOB_ILLEGAL, "partial workgroup %u x %u x %u larger than the full one", d->partial[0],
			    d->partial[1], d->partial[2]);
	else if (sgprs > 16)
		sg_run_fail(run, SG_JOB_ILLEGAL, "RSRC2 asks for %u user SGPRs, there are 16", sgprs);
	else if (lds > LDS_MAX)
		sg_run_fail(run, SG_JOB_ILLEGAL, "RSRC2 asks for %u bytes of LDS, there are %u", lds, LDS_MAX);
	else if (PM4_GET(RSRC2_SCRATCH_EN, d->rsrc2) && (d->scratch_wave_bytes == 0 || d->scratch_waves == 0))
		sg_run_fail(run, SG_JOB_ILLEGAL, "RSRC2 enables scratch, COMPUTE_TMPRING_SIZE is 0x%x",
			    sg_cp_sh(cp, R_COMPUTE_TMPRING_SIZE));
	return !run->failed;
}

/* ---- what the initiator asks for ---- */

static bool
check_initiator(struct sg_cp *cp, uint32_t initiator)
{
	struct sg_run *run = &cp->run;

	if (run->profile->arch == SG_NO_SHADER_CORE)
		sg_run_fail(run, SG_JOB_ILLEGAL, "%s has no shader core here, only packets run", run->profile->name);
	else if (PM4_GET(DISPATCH_INITIATOR_ORDERED_APPEND_ENBL, initiator))
		sg_run_fail(run, SG_JOB_ILLEGAL, "ordered append needs GDS and an OA counter, which no job here has");
	else if (PM4_GET(DISPATCH_INITIATOR_RESTORE, initiator))
		sg_run_fail(run, SG_JOB_ILLEGAL, "RESTORE starts preempted waves again, which only firmware does");
	return !run->failed;
}

/* With no compute unit to go to, waves wait for ever. */
static bool
check_cu_masks(struct sg_cp *cp)
{
	const uint16_t *mask = cp->run.generation->cu_masks;

	for (uint32_t se = 0; se < cp->run.profile->num_se && mask[se]; se++)
		if (sg_cp_sh(cp, mask[se]))
			return true;
	sg_run_fail(&cp->run, SG_JOB_HANG, "COMPUTE_STATIC_THREAD_MGMT_SE0 to SE%u allow no compute unit",
		    cp->run.profile->num_se - 1);
	return false;
}

/* ---- packets ---- */

static void
dispatch(struct sg_cp *cp, const uint32_t dim[3], uint32_t initiator)
{
	struct sg_dispatch d = { 0 };

	sg_cp_set_reg(cp, PM4_SH_BASE + R_COMPUTE_DISPATCH_INITIATOR, initiator);
	if (!PM4_GET(DISPATCH_INITIATOR_COMPUTE_SHADER_EN, initiator))
		return;
	if (!check_initiator(cp, initiator))
		return;
	if (cp->run.config->hostile && cp->run.config->strict && !check_registers(cp, initiator))
		return;
	set_state(cp, &d, initiator);
	for (unsigned i = 0; i < 3; i++) {
		sg_cp_set_reg(cp, PM4_SH_BASE + R_COMPUTE_DIM_X + i, dim[i]);
		set_axis(cp, &d, i, dim[i], initiator);
	}
	if (check_dispatch(cp, &d) && check_cu_masks(cp))
		sg_cp_launch(cp, &d);
}

void
sg_pk_dispatch_direct(struct sg_cp *cp, const struct sg_packet *p)
{
	dispatch(cp, p->body, p->body[3]);
}

/* Compute rings: address, initiator. Gfx ring: offset from SET_BASE, initiator. */
void
sg_pk_dispatch_indirect(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { INDIRECT_ARGS_BASE = 1 };
	bool gfx = cp->ip == SG_IP_GFX;
	uint32_t dim[3];

	if (!gfx && p->dwords < 3) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords, needs 3 on a compute ring", p->dwords);
		return;
	}
	uint64_t va = gfx ? cp->bases[INDIRECT_ARGS_BASE] + p->body[0] : sg_u64(p->body[0] & ~3u, p->body[1]);
	if (sg_run_read(&cp->run, va, dim, sizeof(dim)))
		dispatch(cp, dim, p->body[gfx ? 1 : 2]);
}
