/* SPDX-License-Identifier: MIT */
/* core.c: the public calls of isa.h, workgroups and the first state of their waves. */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct sg_core *
sg_core_create(void)
{
	struct sg_core *core = aligned_alloc(128, (sizeof *core + 127) & ~(size_t)127);
	if (!core)
		return NULL;
	memset(core, 0, sizeof *core);
	core->vgprs = aligned_alloc(128, sizeof(sg_lanes) * SG_VGPR_COUNT * SG_MAX_WAVES);
	core->lds = aligned_alloc(128, SG_LDS_MAX);
	if (!core->vgprs || !core->lds) {
		sg_core_destroy(core);
		return NULL;
	}
	memset(core->vgprs, 0, sizeof(sg_lanes) * SG_VGPR_COUNT * SG_MAX_WAVES);
	return core;
}

void
sg_core_destroy(struct sg_core *core)
{
	if (!core)
		return;
	sg_cache_destroy(core);
	free(core->vgprs);
	free(core->lds);
	free(core);
}

const struct sg_isa_stats *
sg_core_stats(const struct sg_core *core)
{
	return &core->stats;
}

void
sg_core_count_opcodes(struct sg_core *core, bool on)
{
	core->counting = on;
}

void
sg_core_opcodes(const struct sg_core *core, void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg)
{
	for (unsigned arch = 0; arch < 2; arch++) {
		const struct sg_isa *isa = sg_isa_get(arch);
		for (unsigned i = 1; isa && i < isa->count; i++) {
			uint64_t n = __atomic_load_n(&core->counters[arch][i], __ATOMIC_RELAXED);
			if (n)
				emit(arg, isa->insns[i].name, n);
		}
	}
}

/* Stops */

static void
read_words(struct sg_core *core, uint64_t pc, uint32_t words[3])
{
	for (unsigned i = 0; i < 3; i++) {
		uint64_t va = pc + 4 * i;
		const struct sg_span *s = sg_mem_span(core, va);
		words[i] = 0;
		if (s && s->host && (s->access & SG_ACCESS_EXEC) && s->bytes - (va - s->va) >= 4)
			memcpy(&words[i], s->host + (va - s->va), 4);
	}
}

const struct sg_op *
sg_stop_at(struct sg_wave *w, enum sg_stop_reason reason, uint64_t pc, const char *format, ...)
{
	struct sg_stop *stop = w->core->stop;
	va_list args;

	w->state = SG_WAVE_STOP;
	w->pc = pc;
	if (stop->reason != SG_STOP_NONE)
		return NULL;
	stop->reason = reason;
	stop->pc = pc;
	read_words(w->core, pc, stop->words);
	size_t used = 0;
	if (reason == SG_STOP_FAULT && sg_disassemble(w->core->isa->arch, stop->words, 3, stop->text, 96)) {
		used = strlen(stop->text);
		used += (size_t)snprintf(stop->text + used, sizeof stop->text - used, ": ");
	}
	va_start(args, format);
	vsnprintf(stop->text + used, sizeof stop->text - used, format, args);
	va_end(args);
	return NULL;
}

/* Groups */

void
sg_core_begin(struct sg_core *core, const struct sg_dispatch *d, struct sg_mem *mem, struct sg_stop *stop)
{
	memset(stop, 0, sizeof *stop);
	memset(core->tlb, 0, sizeof core->tlb);
	core->d = d;
	core->mem = mem;
	core->stop = stop;
	core->isa = sg_isa_get(d->arch);
}

static uint32_t
initial_mode(uint32_t rsrc1)
{
	return (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
}

static void
fill(uint32_t *d, uint32_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		d[i] = value;
}

/* User SGPRs, then those workgroup ids and the group info that rsrc2 asks for. */
static void
init_sgprs(struct sg_wave *w, const uint32_t id[3], unsigned waves)
{
	const struct sg_dispatch *d = w->core->d;
	unsigned n = d->rsrc2 >> 1 & 31;

	if (n > 16)
		n = 16;
	fill(w->sgpr, d->poison, SG_REG_TTMP);
	fill(w->sgpr + SG_REG_TTMP, 0, SG_SGPR_COUNT - SG_REG_TTMP);
	w->sgpr[SG_REG_M0] = d->poison;
	memcpy(w->sgpr, d->user_data, 4 * n);
	for (unsigned axis = 0; axis < 3; axis++)
		if (d->rsrc2 >> (7 + axis) & 1)
			w->sgpr[n++] = id[axis];
	if (d->rsrc2 >> 10 & 1)
		w->sgpr[n++] = waves | (uint32_t)w->index << 6 | (w->index == 0 ? 0x80000000 : 0);
	w->scratch_sgpr = SG_REG_SINK;
	if (d->arch == SG_ARCH_RDNA2 && (d->rsrc2 & 1)) /* filled once the wave has its scratch slot */
		w->scratch_sgpr = (uint16_t)n;
}

/* Work-item ids: packed x, y, z; only the components that TIDIG_COMP_CNT enables. */
static void
init_ids(struct sg_wave *w, unsigned half, unsigned first, const uint32_t size[3])
{
	const struct sg_dispatch *d = w->core->d;
	unsigned components = d->rsrc2 >> 11 & 3;
	uint32_t x = first % size[0], y = first / size[0] % size[1], z = first / size[0] / size[1];
	bool packed = d->arch == SG_ARCH_RDNA3;

	for (unsigned i = 0; i < SG_LANES; i++) {
		uint32_t ids[3] = { x, components > 0 ? y : 0, components > 1 ? z : 0 };
		if (packed)
			w->v[half][0][i] = ids[0] | ids[1] << 10 | ids[2] << 20;
		for (unsigned c = 0; !packed && c <= components && c < 3; c++)
			w->v[half][c][i] = ids[c];
		if (++x == size[0]) {
			x = 0;
			if (++y == size[1])
				y = 0, z++;
		}
	}
}

static void
init_wave(struct sg_core *core, unsigned index, const uint32_t id[3], const uint32_t size[3], unsigned threads,
	  unsigned waves)
{
	const struct sg_dispatch *d = core->d;
	struct sg_wave *w = &core->waves[index];
	unsigned halves = d->wave32 ? 1 : 2, granule = d->wave32 ? 8 : 4;
	unsigned vgprs = ((d->rsrc1 & 63) + 1) * granule, first = index * halves * SG_LANES;

	w->core = core;
	w->halves = halves;
	w->index = index;
	w->state = SG_WAVE_RUN;
	w->pc = d->pc;
	w->scc = 0;
	w->lds = core->lds;
	w->lds_bytes = (d->rsrc2 >> 15 & 0x1ff) * 512;
	if (w->lds_bytes > SG_LDS_MAX)
		w->lds_bytes = SG_LDS_MAX;
	w->shared_first = (uint16_t)vgprs;
	w->shared_count = 0;
	if (!d->wave32) /* COMPUTE_PGM_RSRC3.SHARED_VGPR_CNT, in eights, behind the others */
		w->shared_count = (uint16_t)((d->rsrc3 & 15) * 8);
	w->scratch = 0;
	w->scratch_bytes = 0;
	sg_wave_mode(w, initial_mode(d->rsrc1));
	init_sgprs(w, id, waves);
	for (unsigned half = 0; half < halves; half++) {
		unsigned start = first + half * SG_LANES, left = threads > start ? threads - start : 0;
		w->v[half] = core->vgprs + (size_t)SG_VGPR_COUNT * (index * halves + half);
		unsigned all = vgprs + w->shared_count;
		fill(w->v[half][0], d->poison, (size_t)SG_LANES * (all < 256 ? all : 256));
		init_ids(w, half, start, size);
		w->sgpr[SG_REG_EXEC + half] = left >= SG_LANES ? UINT32_MAX : (1u << left) - 1;
	}
}

static unsigned
stop_group(struct sg_core *core, enum sg_stop_reason reason, const char *text)
{
	core->stop->reason = reason;
	core->stop->pc = core->d->pc;
	read_words(core, core->d->pc, core->stop->words);
	snprintf(core->stop->text, sizeof core->stop->text, "%s", text);
	return 0;
}

unsigned
sg_group_init(struct sg_core *core, const uint32_t id[3])
{
	const struct sg_dispatch *d = core->d;
	unsigned lanes = d->wave32 ? 32 : 64;
	uint64_t threads = 1;
	uint32_t size[3];

	for (unsigned axis = 0; axis < 3 && threads <= 1024; axis++) {
		bool last = id[axis] == d->start[axis] + d->groups[axis] - 1;
		size[axis] = last ? d->partial[axis] : d->threads[axis];
		threads *= size[axis];
	}
	if (threads > 1024)
		return stop_group(core, SG_STOP_ILLEGAL, "workgroup of more than 1024 threads");
	unsigned waves = ((unsigned)threads + lanes - 1) / lanes;
	for (unsigned i = 0; i < waves; i++)
		init_wave(core, i, id, size, (unsigned)threads, waves);
	if (waves)
		fill((uint32_t *)core->lds, d->poison, core->waves[0].lds_bytes / 4);
	return waves;
}

static bool
runs_out(struct sg_core *core)
{
	if (!core->d->stop || !__atomic_load_n(core->d->stop, __ATOMIC_RELAXED))
		return false;
	stop_group(core, SG_STOP_TIMEOUT, "the dispatch was still running at its time limit");
	return true;
}

/* Waves run one after the other, each to its next barrier or end; ended waves count as arrived. */
static enum sg_stop_reason
run_group(struct sg_core *core, unsigned waves)
{
	for (;;) {
		unsigned waiting = 0;
		for (unsigned i = 0; i < waves; i++) {
			struct sg_wave *w = &core->waves[i];
			if (w->state == SG_WAVE_RUN)
				sg_wave_run(w);
			if (core->stop->reason != SG_STOP_NONE)
				return core->stop->reason;
			waiting += w->state == SG_WAVE_BARRIER;
		}
		if (!waiting)
			return SG_STOP_NONE;
		if (runs_out(core))
			return SG_STOP_TIMEOUT;
		for (unsigned i = 0; i < waves; i++)
			if (core->waves[i].state == SG_WAVE_BARRIER)
				core->waves[i].state = SG_WAVE_RUN;
	}
}

enum sg_stop_reason
sg_group_run(struct sg_core *core, unsigned waves)
{
	bool scratch = (core->d->rsrc2 & 1) && core->d->scratch_wave_bytes && waves;

	if (scratch && !sg_scratch_acquire(core, waves)) {
		if (!runs_out(core))
			stop_group(core, SG_STOP_DEADLOCK, "the group needs more scratch slots than TMPRING_SIZE.WAVES");
		return core->stop->reason;
	}
	core->stats.waves += waves;
	core->stats.groups++;
	enum sg_stop_reason reason = run_group(core, waves);
	if (scratch)
		sg_scratch_release(core, waves);
	return reason;
}

enum sg_stop_reason
sg_core_run(struct sg_core *core, const struct sg_dispatch *d, struct sg_mem *mem, uint64_t first, uint64_t count,
	    struct sg_stop *stop)
{
	sg_core_begin(core, d, mem, stop);
	if (!core->isa) {
		stop_group(core, SG_STOP_ILLEGAL, "this architecture has no instruction table");
		return SG_STOP_ILLEGAL;
	}
	if (sg_cache_begin(core)) {
		stop_group(core, SG_STOP_ILLEGAL, "no host memory left to decode the program");
		return SG_STOP_ILLEGAL;
	}
	if (!d->groups[0] || !d->groups[1])
		return SG_STOP_NONE;
	for (uint64_t i = first; i < first + count; i++) {
		uint64_t row = i / d->groups[0];
		uint32_t id[3] = { d->start[0] + (uint32_t)(i % d->groups[0]),
				   d->start[1] + (uint32_t)(row % d->groups[1]),
				   d->start[2] + (uint32_t)(row / d->groups[1]) };
		unsigned waves = sg_group_init(core, id);
		if (stop->reason != SG_STOP_NONE || sg_group_run(core, waves) != SG_STOP_NONE)
			break;
		if (i + 1 < first + count && runs_out(core))
			break;
	}
	return stop->reason;
}
