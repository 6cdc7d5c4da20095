/* SPDX-License-Identifier: MIT */
/* test_isa_fast.c: the handlers for the host's vector units (tools/softgpu/isa/fast*.c, salu.c) do exactly what the
 * general ones do. Each opcode that has one runs with random operands, exec masks, modes and addresses on a core
 * that may use no vector extension, and on one per extension that the host has; registers, LDS, memory, faults and the
 * reason of a stop must be equal.
 *
 * --digests: no tests; runs every opcode, with a handler of its own or not, and prints a digest of its outcomes.
 * check_simd.sh compares those of the builds for different processors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/core.h"

#define CODE_VA 0x10000ull
#define DATA_VA 0x1ffff0000ull	/* two spans that meet at a 4 GiB boundary, then one that is read-only, then nothing */
#define DATA_BYTES 0x10000u
#define SPANS 3
#define LDS_BYTES 4096u
#define USED_VGPRS 16u
#define ROUNDS 24u		/* of each opcode and architecture */

struct faults {
	unsigned count;
	uint64_t hash;
};

struct machine {
	struct sg_mem mem;
	struct sg_core *core;
	uint32_t code[8];
	uint8_t data[SPANS * DATA_BYTES];
	struct faults faults;
	struct sg_stop stop;
	bool strict;
};

static struct machine *machines[SG_SIMD_COUNT]; /* NULL: the host has not that */
static uint64_t seed, digest;
static bool digests_only;
static unsigned quick_opcodes;

static uint32_t
rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static uint64_t
mix(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 1099511628211ull;
	return hash;
}

/* ---- memory ---- */

static bool
lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	struct machine *m = (struct machine *)mem;

	if (va - CODE_VA < sizeof(m->code)) {
		*out = (struct sg_span){ CODE_VA, sizeof(m->code), (uint8_t *)m->code, SG_ACCESS_READ | SG_ACCESS_EXEC };
		return true;
	}
	for (unsigned i = 0; i < SPANS; i++) {
		uint64_t start = DATA_VA + i * DATA_BYTES;
		if (va - start >= DATA_BYTES)
			continue;
		*out = (struct sg_span){ start, DATA_BYTES, m->data + i * DATA_BYTES,
					 i < 2 ? SG_ACCESS_READ | SG_ACCESS_WRITE : SG_ACCESS_READ };
		return true;
	}
	return false;
}

static bool
fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	struct machine *m = (struct machine *)mem;
	uint64_t what[3] = { va, access, pc };

	m->faults.count++;
	m->faults.hash = mix(m->faults.hash, what, sizeof(what));
	return m->strict;
}

static const struct sg_mem_ops mem_ops = { .lookup = lookup, .fault = fault };

/* ---- one case ---- */

/* Values that arithmetic treats in its own way turn up often. */
static uint32_t
value(void)
{
	static const uint32_t special[] = { 0, 0x80000000, 1, 0xffffffff, 0x7fffffff, 0x3f800000, 0xbf800000, 0x7f800000,
					    0xff800000, 0x7fc00000, 0x7fa00001, 0xffc12345, 0x00000123, 0x807fffff,
					    31, 32, 33, 63, 64, 0x00ffffff, 0x01000000 };
	uint32_t r = rnd();

	return r & 1 ? rnd() : special[(r >> 8) % (sizeof(special) / sizeof(special[0]))];
}

enum { MEMORY_NONE, MEMORY_LDS, MEMORY_GLOBAL, MEMORY_FLAT };

struct setup {
	enum sg_arch arch;
	bool wave32;
	int memory;
	uint32_t mode, exec[2];
	uint32_t code[3];
	unsigned words;
	unsigned addr;		/* first VGPR of addresses */
	bool saddr;		/* SGPRs 10 and 11 are the base */
	uint64_t seed;
};

static uint32_t
random_exec(void)
{
	switch (rnd() % 6) {
	case 0: return 0;
	case 1: return 1u << rnd() % 32;
	case 2: return rnd();
	default: return UINT32_MAX;
	}
}

/* Offsets of a half's lanes: rows, one place, scattered; some of them reach out of range. */
static void
offsets(uint32_t *to, uint32_t bytes)
{
	uint32_t start = rnd() % bytes, kind = rnd() % 6;

	if (rnd() % 4)
		start &= ~3u;
	for (unsigned i = 0; i < SG_LANES; i++)
		to[i] = kind == 0 ? start : kind == 1 ? (rnd() % bytes) & ~3u : kind == 2 ? rnd() % bytes :
			kind == 3 && i == 7 ? start + 4 * bytes : start + 4 * i;
	if (kind == 4 && rnd() % 4 == 0)
		to[rnd() % SG_LANES] = rnd();
}

static void
set_addresses(struct sg_wave *w, unsigned half, const struct setup *s)
{
	uint32_t *lo = w->v[half][s->addr], *hi = w->v[half][s->addr + 1], offset[SG_LANES];

	offsets(offset, s->memory == MEMORY_LDS ? LDS_BYTES + 64 : SPANS * DATA_BYTES + 64);
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint64_t va = DATA_VA + offset[i];
		if (s->memory == MEMORY_FLAT && offset[i] % 64 == 4)
			va = (uint64_t)SG_SHARED_APERTURE << 32 | offset[i] % LDS_BYTES;
		lo[i] = s->memory == MEMORY_LDS || s->saddr ? offset[i] : (uint32_t)va;
		if (s->memory != MEMORY_LDS && !s->saddr)
			hi[i] = (uint32_t)(va >> 32);
	}
	w->sgpr[10] = (uint32_t)DATA_VA;
	w->sgpr[11] = (uint32_t)(DATA_VA >> 32);
}

static void
prepare(struct machine *m, const struct setup *s)
{
	static const uint32_t end[] = { [SG_ARCH_RDNA2] = 0xbf810000, [SG_ARCH_RDNA3] = 0xbfb00000 };
	struct sg_core *core = m->core;

	seed = s->seed;
	memcpy(m->code, s->code, sizeof(s->code));
	for (unsigned i = s->words; i < 8; i++)
		m->code[i] = end[s->arch];
	for (unsigned half = 0; half < core->waves[0].halves; half++)
		for (unsigned r = 0; r < USED_VGPRS; r++)
			for (unsigned i = 0; i < SG_LANES; i++)
				core->waves[0].v[half][r][i] = value();
	for (unsigned r = 0; r < SG_REG_TTMP; r++)
		core->waves[0].sgpr[r] = value();
	for (unsigned i = 0; i < LDS_BYTES; i++)
		core->lds[i] = (uint8_t)(i * 7 + 3);
	for (unsigned i = 0; i < sizeof(m->data); i++)
		m->data[i] = (uint8_t)(i * 13 + (i >> 8));
	for (unsigned half = 0; s->memory && half < core->waves[0].halves; half++)
		set_addresses(&core->waves[0], half, s);
	core->waves[0].scc = rnd() & 1;
	memcpy(&core->waves[0].sgpr[SG_REG_EXEC], s->exec, 4 * core->waves[0].halves);
}

static void
run(struct machine *m, const struct setup *s)
{
	struct sg_dispatch d = {
		.arch = s->arch, .wave32 = s->wave32, .pc = CODE_VA,
		.rsrc1 = 31 | s->mode << 12 | 1u << 21 | 1u << 23, .rsrc2 = (LDS_BYTES / 512) << 15,
		.threads = { s->wave32 ? 32 : 64, 1, 1 }, .partial = { s->wave32 ? 32 : 64, 1, 1 }, .groups = { 1, 1, 1 },
	};

	m->faults = (struct faults){ 0 };
	m->strict = s->seed & 1;
	sg_core_begin(m->core, &d, &m->mem, &m->stop);
	assert_int_equal(sg_group_init(m->core, d.start), 1);
	prepare(m, s);
	assert_int_equal(sg_cache_begin(m->core), 0);
	sg_group_run(m->core, 1);
}

static void
compare(const struct machine *a, const struct machine *b, const struct setup *s, const char *name, unsigned level)
{
	const struct sg_wave *x = &a->core->waves[0], *y = &b->core->waves[0];
	const char *what = NULL;

	for (unsigned half = 0; half < x->halves; half++)
		if (memcmp(x->v[half], y->v[half], sizeof(sg_lanes) * 32))
			what = "VGPRs";
	if (memcmp(x->sgpr, y->sgpr, sizeof(uint32_t) * SG_REG_SINK) || x->scc != y->scc)
		what = "SGPRs";
	if (memcmp(a->core->lds, b->core->lds, LDS_BYTES))
		what = "LDS";
	if (memcmp(a->data, b->data, sizeof(a->data)))
		what = "memory";
	if (memcmp(&a->faults, &b->faults, sizeof(a->faults)) || a->stop.reason != b->stop.reason ||
	    strcmp(a->stop.text, b->stop.text))
		what = "faults";
	if (what)
		fail_msg("%s on %s, wave%d, code %08x %08x, seed %llx: %s differ at level %u", name,
			 s->arch == SG_ARCH_RDNA3 ? "RDNA3" : "RDNA2", s->wave32 ? 32 : 64, s->code[0], s->code[1],
			 (unsigned long long)s->seed, what, level);
}

static void
run_everywhere(const struct setup *s, const char *name)
{
	for (unsigned level = 0; level < SG_SIMD_COUNT; level++) {
		if (!machines[level])
			continue;
		sg_simd_limit(level);
		run(machines[level], s);
		if (level)
			compare(machines[0], machines[level], s, name, level);
	}
	const struct machine *m = machines[0];
	for (unsigned half = 0; half < m->core->waves[0].halves; half++)
		digest = mix(digest, m->core->waves[0].v[half], sizeof(sg_lanes) * USED_VGPRS);
	digest = mix(digest, m->core->waves[0].sgpr, sizeof(uint32_t) * SG_REG_SINK);
	digest = mix(digest, m->core->lds, LDS_BYTES);
	digest = mix(digest, m->data, sizeof(m->data));
}

/* ---- encodings ---- */

static unsigned
vector_source(void)
{
	static const unsigned others[] = { 128, 129, 160, 193, 208, 240, 242, 247, 4, 5, 30, 106, 126, 253 };

	return rnd() % 3 ? 256 + rnd() % 8 : others[rnd() % (sizeof(others) / sizeof(others[0]))];
}

static unsigned
scalar_source(void)
{
	return rnd() % 3 ? 2 * (rnd() % 8) : 128 + rnd() % 80;
}

static void
encode_ds(struct setup *s, unsigned number)
{
	s->memory = MEMORY_LDS;
	s->addr = rnd() % 4;
	s->code[0] = 0xd8000000 | number << 18 | (rnd() % 4 ? rnd() & 0x0f0f : rnd() & 0xffff);
	s->code[1] = s->addr | (rnd() % 8) << 8 | (rnd() % 8) << 16 | (rnd() % 8) << 24;
	s->words = 2;
}

static void
encode_global(struct setup *s, unsigned number, bool flat)
{
	bool gfx11 = s->arch == SG_ARCH_RDNA3;
	uint32_t segment = flat ? 0 : 2, offset = rnd() % 2 ? rnd() & (flat ? 0x7fc : 0xffc) : 0;

	s->memory = flat ? MEMORY_FLAT : MEMORY_GLOBAL;
	s->saddr = !flat && rnd() % 2;
	s->addr = rnd() % 4;
	s->code[0] = 0xdc000000 | number << 18 | segment << (gfx11 ? 16 : 14) | offset;
	s->code[1] = s->addr | (rnd() % 8) << 8 | (s->saddr ? 10 : gfx11 ? 124 : 125) << 16 | (rnd() % 8) << 24;
	s->words = 2;
}

static void
encode(struct setup *s, enum sg_format format, unsigned number)
{
	unsigned dst = rnd() % 8, sdst = 2 * (rnd() % 8);

	s->words = 1;
	switch (format) {
	case SG_FMT_SOP1: s->code[0] = 0xbe800000 | sdst << 16 | number << 8 | scalar_source(); break;
	case SG_FMT_SOP2: s->code[0] = 0x80000000 | number << 23 | sdst << 16 | scalar_source() << 8 | scalar_source(); break;
	case SG_FMT_SOPC: s->code[0] = 0xbf000000 | number << 16 | scalar_source() << 8 | scalar_source(); break;
	case SG_FMT_VOP1: s->code[0] = 0x7e000000 | dst << 17 | number << 9 | vector_source(); break;
	case SG_FMT_VOP2: s->code[0] = number << 25 | dst << 17 | (rnd() % 8) << 9 | vector_source(); break;
	case SG_FMT_VOPC: s->code[0] = 0x7c000000 | number << 17 | (rnd() % 8) << 9 | vector_source(); break;
	case SG_FMT_VOP3:
		s->code[0] = 0xd4000000 | number << 16 | sdst << 8 | dst;
		s->code[1] = vector_source() | vector_source() << 9 | vector_source() << 18;
		if (digests_only) /* modifiers */
			s->code[1] |= rnd() & 0xf8000000;
		s->words = 2;
		break;
	case SG_FMT_DS: encode_ds(s, number); break;
	case SG_FMT_GLOBAL: encode_global(s, number, false); break;
	case SG_FMT_FLAT: encode_global(s, number, true); break;
	case SG_FMT_VOP3P:
		s->code[0] = 0xcc000000 | number << 16 | (rnd() & 0x7f00) | dst;
		s->code[1] = vector_source() | vector_source() << 9 | vector_source() << 18 | (rnd() & 0xf8000000);
		s->words = 2;
		break;
	default: fail_msg("no encoding for format %d", format);
	}
}

/* ---- tests ---- */

/* Does the instruction run by a handler of its own on the best level? */
static bool
is_quick(const struct setup *s)
{
	const struct sg_isa *isa = sg_isa_get(s->arch);
	struct sg_op ops[SG_DECODE_MAX_OPS];
	struct sg_pool pool = { 0 };
	unsigned count;

	sg_simd_limit(SG_SIMD_AVX512);
	bool quick = sg_decode(isa, &pool, CODE_VA, s->code, s->words, ops, &count) && count == 1 &&
		     sg_fast_handler(&ops[0]);
	sg_pool_free(&pool);
	return quick;
}

static void
try_opcode(enum sg_arch arch, enum sg_format format, unsigned number, const struct sg_insn *insn)
{
	bool quick = false;

	digest = 14695981039346656037ull;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct setup s = { .arch = arch };
		uint64_t next;
		s.wave32 = rnd() % 3;
		s.mode = rnd() % 4 ? 0xf0 : rnd() & 0xff;
		s.exec[0] = random_exec();
		s.exec[1] = random_exec();
		encode(&s, format, number);
		s.seed = rnd();
		next = seed;
		if (digests_only || is_quick(&s)) {
			run_everywhere(&s, insn->name);
			quick = true;
		}
		seed = next;
	}
	quick_opcodes += quick;
	if (digests_only)
		printf("%u %s %016llx\n", arch, insn->name, (unsigned long long)digest);
}

static void
try_format(enum sg_arch arch, enum sg_format format)
{
	const struct sg_isa *isa = sg_isa_get(arch);

	for (unsigned number = 0; number < 1024; number++) {
		const struct sg_insn *insn = sg_isa_find(isa, format, number);
		if (insn && insn->family != SG_FAM_FLOW && insn->family != SG_FAM_SMEM)
			try_opcode(arch, format, number, insn);
	}
}

static void
try_formats(const enum sg_format *formats, unsigned count, unsigned at_least)
{
	seed = 1;
	quick_opcodes = 0;
	for (unsigned i = 0; i < count; i++) {
		try_format(SG_ARCH_RDNA2, formats[i]);
		try_format(SG_ARCH_RDNA3, formats[i]);
	}
	if (!digests_only)
		printf("%u opcodes with handlers of their own\n", quick_opcodes);
	if (!digests_only && machines[SG_SIMD_AVX2])
		assert_true(quick_opcodes >= at_least);
}

static void
test_scalar(void **state)
{
	(void)state;
	try_formats((enum sg_format[]){ SG_FMT_SOP1, SG_FMT_SOP2, SG_FMT_SOPC }, 3, 60);
}

static void
test_vector(void **state)
{
	(void)state;
	try_formats((enum sg_format[]){ SG_FMT_VOP1, SG_FMT_VOP2, SG_FMT_VOPC, SG_FMT_VOP3 }, 4, 180);
}

static void
test_lds(void **state)
{
	(void)state;
	try_formats((enum sg_format[]){ SG_FMT_DS }, 1, 30);
}

static void
test_memory(void **state)
{
	(void)state;
	try_formats((enum sg_format[]){ SG_FMT_GLOBAL, SG_FMT_FLAT }, 2, 32);
}

static int
setup(void **state)
{
	(void)state;
	for (unsigned level = 0; level < SG_SIMD_COUNT; level++) {
		if (sg_simd_limit(level) != level)
			continue;
		struct machine *m = machines[level] = calloc(1, sizeof(*m));
		if (!m || !(m->core = sg_core_create()))
			return -1;
		m->mem.ops = &mem_ops;
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (unsigned level = 0; level < SG_SIMD_COUNT; level++) {
		if (machines[level])
			sg_core_destroy(machines[level]->core);
		free(machines[level]);
	}
	return 0;
}

static int
print_digests(void)
{
	digests_only = true;
	if (setup(NULL))
		return 1;
	test_scalar(NULL);
	test_vector(NULL);
	try_formats((enum sg_format[]){ SG_FMT_VOP3P }, 1, 0);
	test_lds(NULL);
	test_memory(NULL);
	return teardown(NULL);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--digests"))
		return print_digests();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalar),
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_lds),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
