/* SPDX-License-Identifier: MIT */
/* softgpu-exec: runs instruction sequences on softgpu's shader cores.
 *
 * Without arguments: one JSON object a line on stdin ({code, init, lanes, arch, wave, mem, lds, scratch} or {kernel,
 * lanes}), one on stdout with the registers that changed. --check FILE...: compares each line's outcome with its
 * `final` (or `out`) and prints passed/failed/skipped per file; -v names the failures. The format is that of the test
 * vectors' own description: hw vectors start from zeroed registers, gen vectors from `init`. SOFTGPU_SIMD=none, avx2 or
 * avx512: the best vector extension of the host to use.
 */
#include "../isa/core.h"
#include "vectors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Memory: a handful of fixed areas */

enum { AREAS = 5 };
enum { CODE, BUFFER, BLOCK, DATA, SCRATCH };

static const struct {
	uint64_t va;
	size_t bytes;
	uint32_t access;
} layout[AREAS] = {
	[CODE] = { 0x10000, 0x10000, SG_ACCESS_READ | SG_ACCESS_EXEC },
	[BUFFER] = { 0x100000, 0x40000, SG_ACCESS_READ | SG_ACCESS_WRITE },
	[BLOCK] = { 0x200000, 0x1000, SG_ACCESS_READ },
	[DATA] = { 0x300000, 0x10000, SG_ACCESS_READ | SG_ACCESS_WRITE },
	[SCRATCH] = { 0x1000000, 0x400000, SG_ACCESS_READ | SG_ACCESS_WRITE },
};

enum { DATA_MARGIN = 0x8000 }; /* gen vectors may reach below their base */

struct machine {
	struct sg_mem mem;
	uint8_t *area[AREAS];
	struct sg_core *core;
	struct sg_dispatch d;
	volatile bool stop;
	uint32_t before[2][SG_VGPR_COUNT][SG_LANES]; /* registers of the first two halves or waves */
	uint32_t before_sgpr[SG_SGPR_COUNT];
	struct sg_stop why;
	unsigned waves;
};

static bool
lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	struct machine *m = (struct machine *)mem;
	for (unsigned i = 0; i < AREAS; i++) {
		if (va - layout[i].va < layout[i].bytes) {
			*out = (struct sg_span){ layout[i].va, layout[i].bytes, m->area[i], layout[i].access };
			return true;
		}
	}
	return false;
}

static bool
fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	(void)mem, (void)va, (void)access, (void)pc;
	return true;
}

static uint64_t
gpu_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 100000000 + (uint64_t)t.tv_nsec / 10;
}

static bool
machine_init(struct machine *m)
{
	static const struct sg_mem_ops ops = { .lookup = lookup, .fault = fault };
	memset(m, 0, sizeof *m);
	m->mem.ops = &ops;
	m->core = sg_core_create();
	for (unsigned i = 0; i < AREAS; i++)
		if (!(m->area[i] = calloc(1, layout[i].bytes)))
			return false;
	return m->core != NULL;
}

/* Setting up one vector */

static void
dispatch_for(struct machine *m, const struct vector *v)
{
	uint64_t user = v->kernel ? layout[BLOCK].va : 0;
	m->d = (struct sg_dispatch){
		.arch = v->arch, .wave32 = v->wave == 32, .pc = layout[CODE].va,
		.rsrc1 = 31 | 0xc0u << 12 | 1u << 21 | 1u << 23, /* f32 denormals flushed, DX10_CLAMP, IEEE */
		.rsrc2 = 1 | 2 << 1 | 128 << 15,
		.user_data = { (uint32_t)user, (uint32_t)(user >> 32) },
		.threads = { v->lanes, 1, 1 }, .partial = { v->lanes, 1, 1 }, .groups = { 1, 1, 1 },
		.scratch_base = layout[SCRATCH].va, .scratch_wave_bytes = 0x200000, .scratch_waves = 2,
		.stop = &m->stop, .clock = gpu_clock,
	};
	if (v->kernel && v->wave == 64)
		m->d.rsrc1 = (m->d.rsrc1 & ~63u) | 63;
}

static void
load_memory(struct machine *m, const struct vector *v)
{
	for (unsigned i = 0; i < SCRATCH; i++)
		memset(m->area[i], 0, layout[i].bytes);
	if (v->scratch)
		memset(m->area[SCRATCH], 0, layout[SCRATCH].bytes);
	memcpy(m->area[CODE], v->code, v->code_bytes);
	uint32_t end = v->arch == SG_ARCH_RDNA3 ? 0xbfb00000 : 0xbf810000; /* s_endpgm */
	memcpy(m->area[CODE] + v->code_bytes, &end, 4);
	uint64_t buffer = layout[BUFFER].va;
	memcpy(m->area[BLOCK], &buffer, 8);
	if (v->mem_space == MEM_GLOBAL)
		memcpy(m->area[DATA] + DATA_MARGIN, v->mem_init, v->mem_bytes);
}

static void
set_wave(struct machine *m, const struct vector *v, unsigned index)
{
	struct sg_wave *w = &m->core->waves[index];
	if (v->kernel)
		return;
	for (unsigned half = 0; half < w->halves; half++)
		for (unsigned i = 0; i < SG_LANES; i++) {
			unsigned lane = (index * w->halves + half) * SG_LANES + i;
			w->v[half][0][i] = 0;
			w->v[half][255][i] = v->has_init ? 0 : lane;
			for (unsigned r = 0; v->has_init && r < 256; r++)
				w->v[half][r][i] = v->init.v[r] && lane < v->init.lanes ? v->init.v[r][lane] : 0;
		}
	w->sgpr[0] = w->sgpr[1] = 0;
	w->scratch_sgpr = SG_REG_SINK; /* RDNA2 would find its scratch offset in s2 */
	if (v->has_init) {
		memcpy(w->sgpr, v->init.s, sizeof v->init.s);
		w->sgpr[SG_REG_VCC] = (uint32_t)v->init.vcc;
		w->sgpr[SG_REG_VCC + 1] = (uint32_t)(v->init.vcc >> 32);
		w->sgpr[SG_REG_EXEC] = (uint32_t)v->init.exec;
		w->sgpr[SG_REG_EXEC + 1] = (uint32_t)(v->init.exec >> 32);
		w->sgpr[SG_REG_M0] = v->init.m0;
		w->scc = v->init.scc;
	} else {
		w->sgpr[80] = (uint32_t)layout[BLOCK].va;
		w->sgpr[81] = 0;
	}
	if (v->mem_space == MEM_GLOBAL) {
		w->sgpr[v->base_sgpr] = (uint32_t)layout[DATA].va + DATA_MARGIN;
		w->sgpr[v->base_sgpr + 1] = 0;
	}
}

static void
run_vector(struct machine *m, const struct vector *v)
{
	static const uint32_t id[3];
	dispatch_for(m, v);
	load_memory(m, v);
	sg_core_begin(m->core, &m->d, &m->mem, &m->why);
	if (!m->core->isa || sg_cache_begin(m->core)) {
		m->why.reason = SG_STOP_ILLEGAL;
		snprintf(m->why.text, sizeof m->why.text, "architecture not supported");
		return;
	}
	m->waves = sg_group_init(m->core, id);
	for (unsigned i = 0; i < m->waves; i++)
		set_wave(m, v, i);
	if (v->mem_space == MEM_LDS)
		memcpy(m->core->lds, v->mem_init, v->mem_bytes);
	struct sg_wave *w = m->core->waves;
	memcpy(m->before_sgpr, w->sgpr, sizeof m->before_sgpr);
	for (unsigned half = 0; half < 2; half++)
		memcpy(m->before[half], m->core->vgprs + (size_t)SG_VGPR_COUNT * half, sizeof m->before[half]);
	sg_group_run(m->core, m->waves);
}

/* Registers by lane of the group, whatever the wave size. */
static uint32_t
vgpr(const struct machine *m, unsigned reg, unsigned lane)
{
	return m->core->vgprs[(size_t)SG_VGPR_COUNT * (lane / SG_LANES) + reg][lane % SG_LANES];
}

static uint64_t
pair(const struct machine *m, unsigned reg)
{
	const uint32_t *s = m->core->waves[0].sgpr;
	return s[reg] | (m->d.wave32 ? 0 : (uint64_t)s[reg + 1] << 32);
}

/* Checking */

struct failure {
	char text[256];
};

#define FAIL(f, ...) (snprintf((f)->text, sizeof (f)->text, __VA_ARGS__), false)

static uint32_t
expected(const struct machine *m, const struct vector *v, unsigned reg, unsigned lane)
{
	if (v->final.v[reg])
		return lane < v->final.lanes ? v->final.v[reg][lane] : 0;
	return v->has_init ? m->before[lane / SG_LANES][reg][lane % SG_LANES] : 0;
}

static bool
check_vgprs(const struct machine *m, const struct vector *v, struct failure *f)
{
	unsigned lanes = v->has_init ? v->wave : v->lanes;
	for (unsigned r = 0; r < (v->has_init ? 256u : 16u); r++) {
		unsigned first = vector_first_word(v, r), second = first < 255 ? first + 1 : first;
		for (unsigned lane = 0; lane < lanes; lane++) {
			uint32_t got = vgpr(m, r, lane), want = expected(m, v, r, lane);
			if (got == want)
				continue;
			const uint32_t all_got[2] = { vgpr(m, first, lane), vgpr(m, second, lane) };
			const uint32_t all_want[2] = { expected(m, v, first, lane), expected(m, v, second, lane) };
			if (!vector_tolerates(v, r, lane, all_got, all_want))
				return FAIL(f, "v%u lane %u is %08x, expected %08x", r, lane, got, want);
		}
	}
	return true;
}

static bool
check_sgprs(const struct machine *m, const struct vector *v, struct failure *f)
{
	const struct sg_wave *w = &m->core->waves[0];
	for (unsigned r = 0; r < (v->has_init ? 106u : 16u); r++) {
		uint32_t want = v->final.has_s[r] ? v->final.s[r] : v->has_init ? m->before_sgpr[r] : 0;
		if (w->sgpr[r] != want && !v->ignored_s[r])
			return FAIL(f, "s%u is %08x, expected %08x", r, w->sgpr[r], want);
	}
	if (pair(m, SG_REG_VCC) != v->final.vcc && !v->ignored_vcc)
		return FAIL(f, "vcc is %" PRIx64 ", expected %" PRIx64, pair(m, SG_REG_VCC), v->final.vcc);
	if (pair(m, SG_REG_EXEC) != v->final.exec && !v->ignored_exec)
		return FAIL(f, "exec is %" PRIx64 ", expected %" PRIx64, pair(m, SG_REG_EXEC), v->final.exec);
	if ((!v->has_init || v->scalar) && w->scc != v->final.scc && !v->ignored_scc)
		return FAIL(f, "scc is %u, expected %u", w->scc, v->final.scc);
	return true;
}

static bool
check_memory(const struct machine *m, const struct vector *v, struct failure *f)
{
	const uint8_t *got = v->mem_space == MEM_LDS ? m->core->lds : m->area[DATA] + DATA_MARGIN;
	for (unsigned i = 0; v->mem_space != MEM_NONE && i + 4 <= v->mem_bytes; i += 4) {
		uint32_t a, b;
		memcpy(&a, got + i, 4);
		memcpy(&b, v->mem_final + i, 4);
		if (a != b && !vector_same_f32(a, b))
			return FAIL(f, "memory at %u is %08x, expected %08x", i, a, b);
	}
	return true;
}

static bool
check_vector(struct machine *m, const struct vector *v, struct failure *f)
{
	run_vector(m, v);
	if (m->why.reason != SG_STOP_NONE)
		return FAIL(f, "stopped: %s", m->why.text);
	if (v->kernel) {
		for (unsigned i = 0; i < v->out_bytes; i++)
			if (m->area[BUFFER][i] != v->out[i])
				return FAIL(f, "output byte %u is %02x, expected %02x", i, m->area[BUFFER][i], v->out[i]);
		return true;
	}
	return check_vgprs(m, v, f) && check_sgprs(m, v, f) && check_memory(m, v, f);
}

static int
check_file(struct machine *m, const char *path, bool verbose)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned passed = 0, failed = 0, skipped = 0;
	struct vector_refs *refs = vector_refs_open(path);

	if (!in) {
		vector_refs_close(refs);
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while (getline(&line, &room, in) > 0) {
		struct vector *v = vector_parse(line, refs);
		struct failure f = { "" };
		if (!v || v->skip)
			skipped++;
		else if (check_vector(m, v, &f))
			passed++;
		else {
			failed++;
			if (verbose)
				printf("FAIL %s [%s] %s\n", v->id, v->note, f.text);
		}
		vector_free(v);
	}
	free(line);
	fclose(in);
	vector_refs_close(refs);
	printf("%s: %u passed, %u failed, %u skipped\n", path, passed, failed, skipped);
	return failed != 0;
}

/* Answering */

static void
print_state(const struct machine *m, const struct vector *v)
{
	unsigned lanes = v->wave > v->lanes ? v->wave : v->lanes;
	const char *comma = "";
	printf("{\"stop\":%d,\"text\":\"%s\",\"v\":{", m->why.reason, m->why.text);
	for (unsigned r = 0; r < 256; r++) {
		bool changed = false;
		for (unsigned lane = 0; lane < lanes; lane++)
			changed |= vgpr(m, r, lane) != m->before[lane / SG_LANES][r][lane % SG_LANES];
		if (!changed)
			continue;
		printf("%s\"%u\":\"", comma, r);
		for (unsigned lane = 0; lane < lanes; lane++)
			printf("%08x", vgpr(m, r, lane));
		printf("\"");
		comma = ",";
	}
	printf("},\"s\":{");
	comma = "";
	for (unsigned r = 0; r < 106; r++) {
		if (m->core->waves[0].sgpr[r] == m->before_sgpr[r])
			continue;
		printf("%s\"%u\":\"%08x\"", comma, r, m->core->waves[0].sgpr[r]);
		comma = ",";
	}
	int digits = m->d.wave32 ? 8 : 16;
	printf("},\"vcc\":\"%0*" PRIx64 "\",\"scc\":%u,\"exec\":\"%0*" PRIx64 "\"", digits, pair(m, SG_REG_VCC),
	       m->core->waves[0].scc, digits, pair(m, SG_REG_EXEC));
	if (v->mem_space != MEM_NONE) {
		const uint8_t *bytes = v->mem_space == MEM_LDS ? m->core->lds : m->area[DATA] + DATA_MARGIN;
		printf(",\"mem\":\"");
		for (unsigned i = 0; i < v->mem_bytes; i++)
			printf("%02x", bytes[i]);
		printf("\"");
	}
	printf("}\n");
}

static int
answer_stdin(struct machine *m)
{
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, stdin) > 0) {
		struct vector *v = vector_parse(line, NULL);
		if (!v || (v->lanes + v->wave - 1) / v->wave * v->wave > 64) {
			printf("{\"error\":\"not a vector\"}\n");
		} else {
			run_vector(m, v);
			print_state(m, v);
		}
		fflush(stdout);
		vector_free(v);
	}
	free(line);
	return 0;
}

static bool
limit_simd(const char *name)
{
	enum sg_simd most = name && *name ? sg_simd_named(name) : SG_SIMD_AVX512;
	if (most == SG_SIMD_COUNT)
		return false;
	sg_simd_limit(most);
	return true;
}

int
main(int argc, char **argv)
{
	static struct machine m;
	bool verbose = false, check = false;
	int result = 0;

	if (!machine_init(&m)) {
		fprintf(stderr, "softgpu-exec: no memory\n");
		return 1;
	}
	if (!limit_simd(getenv("SOFTGPU_SIMD"))) {
		fprintf(stderr, "softgpu-exec: SOFTGPU_SIMD must be none, avx2 or avx512\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "--check"))
			check = true;
		else if (check)
			result |= check_file(&m, argv[i], verbose);
		else {
			fprintf(stderr, "usage: softgpu-exec [-v] [--check FILE...]\n");
			return 2;
		}
	}
	if (!check)
		result = answer_stdin(&m);
	sg_core_destroy(m.core);
	for (unsigned i = 0; i < AREAS; i++)
		free(m.area[i]);
	return result;
}
