/* SPDX-License-Identifier: MIT */
/*
 * The shader cores of softgpu on any code: the first byte chooses architecture, wave size and strictness, the rest is a
 * program. Whatever it holds, the dispatch must come back with a reason that fits, nothing may be touched outside the
 * mappings (run it with ASan), and disassembling it must agree with decoding it on sizes.
 *
 * ./fuzz_isa [-runs=N] [-seed=S] [FILE...] runs each file as it is, then N programs: random opcodes of every encoding
 * with random fields, random words, and mutations of the files; the same ones for the same seed.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined -DGPUPLAN_LIBFUZZER ...
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "core.h"

#define CODE_VA 0x10000ull
#define DATA_VA 0x200000ull
#define SCRATCH_VA 0x400000ull
#define CODE_WORDS 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct machine {
	struct sg_mem mem;
	struct sg_core *core;
	uint32_t code[CODE_WORDS];
	uint8_t data[8192], scratch[32768];
	bool strict;
} m;

static volatile bool timeout;
static unsigned long outcomes[SG_STOP_DEADLOCK + 1];

static void
need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_isa: %s does not hold\n", what);
	abort();
}

static bool
lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	const uint32_t rw = SG_ACCESS_READ | SG_ACCESS_WRITE;
	const struct sg_span spans[] = {
		{ CODE_VA, sizeof m.code, (uint8_t *)m.code, SG_ACCESS_READ | SG_ACCESS_EXEC },
		{ DATA_VA, sizeof m.data, m.data, rw },
		{ DATA_VA + sizeof m.data, 4096, NULL, rw }, /* PRT: reads 0, drops writes */
		{ SCRATCH_VA, sizeof m.scratch, m.scratch, rw },
	};
	(void)mem;
	for (unsigned i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (va - spans[i].va < spans[i].bytes) {
			*out = spans[i];
			return true;
		}
	}
	return false;
}

static bool
fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	(void)mem, (void)va, (void)access, (void)pc;
	return m.strict;
}

/* Hostile mode: the same memory through the two calls. */
static void
hostile_read(struct sg_mem *mem, const struct sg_span *span, uint64_t va, void *dst, size_t bytes, enum sg_path path)
{
	(void)mem, (void)path;
	need(va - span->va + bytes <= span->bytes, "a read stays in its span");
	memcpy(dst, span->host + (va - span->va), bytes);
}

static void
hostile_write(struct sg_mem *mem, const struct sg_span *span, uint64_t va, const void *src, size_t bytes)
{
	(void)mem;
	need(va - span->va + bytes <= span->bytes, "a write stays in its span");
	memcpy(span->host + (va - span->va), src, bytes);
}

static uint64_t
gpu_clock(void)
{
	static uint64_t ticks;
	return ticks++;
}

static void
on_alarm(int number)
{
	(void)number;
	__atomic_store_n(&timeout, true, __ATOMIC_RELAXED);
}

/* Programs that loop are stopped after this long. */
static void
limit(long microseconds)
{
	struct itimerval t = { .it_value = { 0, microseconds } };
	__atomic_store_n(&timeout, false, __ATOMIC_RELAXED);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void
open_machine(void)
{
	static const struct sg_mem_ops ops = {
		.lookup = lookup, .fault = fault, .read = hostile_read, .write = hostile_write,
	};
	if (m.core)
		return;
	m.core = sg_core_create();
	need(m.core != NULL, "a core");
	m.mem.ops = &ops;
	signal(SIGALRM, on_alarm);
}

/* Sizes that the disassembler gives lead through the program as decoding does. */
static void
disassemble(enum sg_arch arch, unsigned words)
{
	char text[160];
	for (unsigned at = 0; at < words;) {
		unsigned n = sg_disassemble(arch, m.code + at, words - at, text, sizeof text);
		need(n <= words - at, "an instruction ends where its words end");
		need(strlen(text) < sizeof text, "text is terminated");
		at += n ? n : 1;
	}
}

/* User data: two pointers into memory, a buffer resource with and one without swizzle. */
static struct sg_dispatch
dispatch(uint8_t choice)
{
	bool gfx10 = choice & 1, wave32 = choice & 2;
	struct sg_dispatch d = {
		.arch = gfx10 ? SG_ARCH_RDNA2 : SG_ARCH_RDNA3, .wave32 = wave32, .pc = CODE_VA,
		.rsrc1 = 63 | 0xc0u << 12 | (uint32_t)(choice >> 4) << 16 | 1u << 21,
		.rsrc2 = 1 | 16 << 1 | 1 << 7 | 1 << 10 | 2 << 11 | 2 << 15,
		.user_data = { SCRATCH_VA, gfx10 ? 0x80000000 : 0x40000000, UINT32_MAX, 0x31c16000, DATA_VA, 0, 64, 0x100,
			       DATA_VA, 8 << 16, 100, 22 << 12 | 0x688, DATA_VA, 0, DATA_VA + 4096, 0 },
		.threads = { 40, 2, 1 }, .partial = { 40, 2, 1 }, .groups = { 2, 1, 1 },
		.scratch_base = SCRATCH_VA, .scratch_wave_bytes = 4096, .scratch_waves = 4,
		.poison = choice & 8 ? 0xdeadbeef : 0, .stop = &timeout, .clock = gpu_clock,
	};
	return d;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sg_stop stop;

	open_machine();
	if (bytes < 5)
		return 0;
	size_t n = (bytes - 1) / 4 < CODE_WORDS ? (bytes - 1) / 4 : CODE_WORDS;
	memset(m.code, 0, sizeof m.code);
	memcpy(m.code, data + 1, 4 * n);
	struct sg_dispatch d = dispatch(data[0]);
	m.strict = data[0] & 4;
	m.mem.hostile = data[0] & 0x80;
	disassemble(d.arch, (unsigned)n);
	limit(3000);
	enum sg_stop_reason reason = sg_core_run(m.core, &d, &m.mem, 0, 2, &stop);
	limit(0);
	need(reason == stop.reason && reason <= SG_STOP_DEADLOCK, "the reason is returned and stored");
	need(reason == SG_STOP_NONE || stop.text[0], "a stop says why");
	need(strlen(stop.text) < sizeof stop.text, "its text is terminated");
	outcomes[reason]++;
	return 0;
}

#ifndef GPUPLAN_LIBFUZZER

static uint64_t state;

static uint32_t
rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % below);
}

static uint32_t
word(void)
{
	return rnd(0x10000) | rnd(0x10000) << 16;
}

/* First dwords of each encoding: fixed bits, and how many bits at which place hold the opcode. */
static const struct encoding {
	uint32_t fixed;
	uint8_t bits, shift, archs; /* archs: 1 gfx10, 2 gfx11 */
} encodings[] = {
	{ 0xbe800000, 7, 8, 3 }, { 0x80000000, 6, 23, 3 }, { 0xbf000000, 5, 16, 3 }, { 0xb0000000, 5, 23, 3 },
	{ 0xbf800000, 6, 16, 3 }, { 0xf4000000, 6, 18, 3 }, { 0x7e000000, 7, 9, 3 }, { 0x00000000, 6, 25, 3 },
	{ 0x7c000000, 8, 17, 3 }, { 0xd4000000, 10, 16, 3 }, { 0xcc000000, 7, 16, 3 }, { 0xd8000000, 8, 18, 3 },
	{ 0xdc000000, 7, 18, 3 }, { 0xdc004000, 7, 18, 1 }, { 0xdc008000, 7, 18, 1 }, { 0xdc010000, 7, 18, 2 },
	{ 0xdc020000, 7, 18, 2 }, { 0xe0000000, 8, 18, 3 }, { 0xe8000000, 4, 15, 3 }, { 0xc8000000, 4, 22, 2 },
	{ 0xcd000000, 3, 16, 2 },
};

/* Does it decode to something that runs? size: in dwords. */
static bool
decodes(unsigned arch, const uint32_t *words, unsigned *size)
{
	struct sg_op ops[SG_DECODE_MAX_OPS];
	struct sg_pool pool = { 0 };
	unsigned count = 0;

	*size = sg_decode(sg_isa_get(arch ? SG_ARCH_RDNA3 : SG_ARCH_RDNA2), &pool, 0, words, 5, ops, &count);
	sg_pool_free(&pool);
	return *size && (!count || (ops[0].run != sg_run_illegal && ops[0].run != sg_run_unimplemented));
}

/* Operands are low registers more often than not. */
static void
any_opcode(unsigned arch, uint32_t *out)
{
	const struct encoding *e;
	do
		e = &encodings[rnd(sizeof encodings / sizeof *encodings)];
	while (!(e->archs >> arch & 1));
	out[0] = word() & (rnd(2) ? 0x030f0f1f : UINT32_MAX);
	out[0] &= ~(((1u << e->bits) - 1) << e->shift | 0xfc000000u);
	if (e->shift >= 17 && e->fixed < 0xc0000000)
		out[0] &= 0x01ffffff;
	out[0] |= e->fixed | rnd(1u << e->bits) << e->shift;
	out[1] = rnd(2) ? word() & 0x0303030f : word();
	for (unsigned i = 2; i < 5; i++)
		out[i] = word();
}

/* One that is likely to run. */
static unsigned
instruction(unsigned arch, uint32_t *out)
{
	unsigned size = 0;
	for (unsigned i = 0; i < 12; i++) {
		any_opcode(arch, out);
		if (decodes(arch, out, &size))
			break;
	}
	return size && size < 5 ? size : 1;
}

/* Short forward and backward branches, and a loop over a counter now and then. */
static unsigned
branch(unsigned arch, uint32_t *out)
{
	static const uint32_t gfx10[] = { 0xbf820000, 0xbf840000, 0xbf850000, 0xbf860000, 0xbf880000, 0xbf8a0000, 0xbf810000 };
	static const uint32_t gfx11[] = { 0xbfa00000, 0xbfa10000, 0xbfa20000, 0xbfa30000, 0xbfa50000, 0xbfbd0000, 0xbfb00000 };
	uint32_t w = (arch ? gfx11 : gfx10)[rnd(7)];
	bool jump = (w >> 16 & 0x7f) < 0x0a || (arch && (w >> 16 & 0x7f) < 0x30);
	*out = w | (jump ? (rnd(4) ? rnd(12) : 0x10000u - rnd(12)) & 0xffff : 0);
	return 1;
}

static size_t
generate(uint8_t *out)
{
	uint32_t code[CODE_WORDS + 8];
	unsigned n = 0, words = 1 + rnd(48), arch;

	out[0] = (uint8_t)rnd(256);
	arch = !(out[0] & 1);
	while (n < words) {
		unsigned kind = rnd(40);
		if (kind == 0)
			code[n++] = word();
		else if (kind < 5)
			n += branch(arch, code + n);
		else
			n += instruction(arch, code + n);
	}
	code[n++] = arch ? 0xbfb00000 : 0xbf810000;
	memcpy(out + 1, code, 4 * n);
	return 1 + 4 * n;
}

static size_t
mutate(const uint8_t *file, size_t bytes, uint8_t *out)
{
	size_t n = bytes < 4 * CODE_WORDS ? bytes : 4 * CODE_WORDS;
	memcpy(out, file, n);
	for (unsigned i = 1 + rnd(8); i && n; i--)
		out[rnd((uint32_t)n)] ^= (uint8_t)(1u << rnd(8));
	return n;
}

struct file {
	uint8_t *bytes;
	size_t size;
};

static struct file
read_file(const char *name)
{
	struct file f = { NULL, 0 };
	FILE *in = fopen(name, "rb");
	if (!in) {
		perror(name);
		exit(1);
	}
	f.bytes = malloc(4 * CODE_WORDS + 8);
	f.size = fread(f.bytes, 1, 4 * CODE_WORDS + 1, in);
	fclose(in);
	return f;
}

static void
report(unsigned long runs)
{
	static const char *const names[] = { "ended", "illegal", "fault", "trap", "timeout", "deadlock" };
	printf("fuzz_isa: %lu programs:", runs);
	for (unsigned i = 0; i <= SG_STOP_DEADLOCK; i++)
		printf(" %s %lu%s", names[i], outcomes[i], i < SG_STOP_DEADLOCK ? "," : "");
	printf("; %llu wave instructions\n", (unsigned long long)sg_core_stats(m.core)->instructions);
}

int
main(int argc, char **argv)
{
	static uint8_t program[4 * (CODE_WORDS + 8)];
	struct file files[64];
	unsigned n_files = 0;
	unsigned long runs = 20000;
	uint64_t seed = 1;

	open_machine();
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-runs=", 6))
			runs = strtoul(argv[i] + 6, NULL, 0);
		else if (!strncmp(argv[i], "-seed=", 6))
			seed = strtoull(argv[i] + 6, NULL, 0);
		else if (n_files < 64) {
			files[n_files] = read_file(argv[i]);
			LLVMFuzzerTestOneInput(files[n_files].bytes, files[n_files].size);
			n_files++;
		}
	}
	state = seed * 0x9e3779b97f4a7c15 | 1;
	for (unsigned long i = 0; i < runs; i++) {
		const struct file *f = n_files && rnd(4) == 0 ? &files[rnd(n_files)] : NULL;
		size_t n = f ? mutate(f->bytes, f->size, program) : generate(program);
		LLVMFuzzerTestOneInput(program, n);
	}
	report(runs);
	for (unsigned i = 0; i < n_files; i++)
		free(files[i].bytes);
	sg_core_destroy(m.core);
	return 0;
}

#endif
