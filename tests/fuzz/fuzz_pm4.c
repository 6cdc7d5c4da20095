/* SPDX-License-Identifier: MIT */
/*
 * The packet processors of softgpu on any bytes: the first byte chooses ring and mode, the rest is an IB. Whatever it
 * holds, the job must come back, and nothing may be touched outside the mappings (run it with ASan).
 *
 * SOFTGPU_PROFILE chooses the chip.
 *
 * ./fuzz_pm4 [-runs=N] [-seed=S] [FILE...] runs each file as it is, then N streams made of random packets and random
 * mutations of the files, the same ones for the same seed.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined -DGPUPLAN_LIBFUZZER ...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hw.h"
#include "pm4.h"
#include "pm4_regs.h"

#define IB_VA 0x100000000ull
#define DATA_VA 0x200000000ull
#define CODE_VA 0x300000000ull
#define IB_BYTES 16384u
#define DATA_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct sg_vm *vm;
static struct sg_bo *ib_bo, *data_bo, *code_bo;
static struct sg_job jobs[2]; /* hostile mode runs each stream twice, so that the two overlap */
static int finished;
static unsigned long outcomes[SG_JOB_SKIPPED + 1];

static void
need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_pm4: %s does not hold\n", what);
	abort();
}

static struct sg_bo *
map(uint64_t va, uint64_t bytes, uint32_t access)
{
	struct sg_bo *bo = sg_bo_create(bytes, true);

	need(bo && sg_vm_map(vm, va, bytes, bo, 0, access) == 0, "mapping");
	return bo;
}

/* The configuration is read once; here it changes from job to job, while no thread is there to read it. */
static struct sg_config *
config(void)
{
	sg_ring_stop_all();
	return (struct sg_config *)(uintptr_t)sg_config();
}

static void
device_open(void)
{
	/* s_endpgm; then v_mov_b32 v0, 0; global_store_b32 v0, v0, s[0:1]; s_endpgm. Of gfx10, and of gfx11. */
	static const uint32_t end[2] = { 0xbf810000, 0xbfb00000 };
	static const uint32_t store[2][4] = { { 0x7e000280, 0xdc708000, 0x00000000, 0xbf810000 },
					      { 0x7e000280, 0xdc6a0000, 0x00000000, 0xbfb00000 } };
	bool gfx11 = sg_config()->profile->gen >= SG_GEN_11;

	if (vm)
		return;
	vm = sg_vm_create();
	need(vm != NULL, "address space");
	ib_bo = map(IB_VA, IB_BYTES, SG_VM_READ | SG_VM_WRITE);
	data_bo = map(DATA_VA, DATA_BYTES, SG_VM_READ | SG_VM_WRITE);
	code_bo = map(CODE_VA, 4096, SG_VM_READ | SG_VM_EXEC);
	memcpy(code_bo->host, &end[gfx11], sizeof(end[0]));
	memcpy(code_bo->host + 256, store[gfx11], sizeof(store[0]));
	config()->lockup_ms = 4;
	config()->spin_us = 1000;
}

static void
done(struct sg_job *j, enum sg_outcome outcome, const char *why)
{
	(void)j;
	need(outcome <= SG_JOB_SKIPPED, "outcome");
	need(outcome == SG_JOB_DONE || why[0], "a failure says why");
	outcomes[outcome]++;
	__atomic_fetch_add(&finished, 1, __ATOMIC_RELEASE);
}

static void
wait_finished(int n)
{
	for (unsigned turn = 0; __atomic_load_n(&finished, __ATOMIC_ACQUIRE) < n; turn++) {
		need(turn < 2000000, "the job came back in time");
		if (turn > 1000)
			nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	device_open();
	if (bytes < 5)
		return 0;
	size_t n = bytes - 1 < IB_BYTES ? (bytes - 1) / 4 * 4 : IB_BYTES;
	memset(ib_bo->host, 0, IB_BYTES);
	memcpy(ib_bo->host, data + 1, n);
	struct sg_config *c = config();
	c->hostile = data[0] & 4;
	c->strict = data[0] & 8;
	c->seed = data[0] >> 4;
	c->threads = 2;
	__atomic_store_n(&finished, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < 1 + c->hostile; i++) {
		jobs[i] = (struct sg_job){
			.vm = vm, .ip = (enum sg_ip)((data[0] & 3) % SG_IP_COUNT), .n_ibs = 1,
			.ibs = { { .va = IB_VA, .dwords = (uint32_t)(n / 4) } }, .done = done,
		};
		sg_ring_submit(&jobs[i]);
	}
	wait_finished(1 + c->hostile);
	return 0;
}

#ifndef GPUPLAN_LIBFUZZER

static uint64_t random_state = 1;

static uint64_t
random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint32_t
random_below(uint32_t limit)
{
	return (uint32_t)(random_bits() >> 32) % limit;
}

static bool
one_in(uint32_t odds)
{
	return random_below(odds) == 0;
}

/* ---- streams that get past the header ---- */

struct stream { uint8_t mode; uint32_t n, dw[IB_BYTES / 4]; };

static void
put(struct stream *s, uint32_t dword)
{
	if (s->n < sizeof(s->dw) / 4)
		s->dw[s->n++] = dword;
}

static void
put_address(struct stream *s)
{
	static const uint64_t bases[] = { IB_VA, DATA_VA, DATA_VA, DATA_VA, CODE_VA, DATA_VA + DATA_BYTES - 16,
					  0xffffffffffff, 0, 0xffff800000000000 };
	uint64_t va = bases[random_below(sizeof(bases) / 8)] + random_below(64) * (one_in(4) ? 1 : 4);

	put(s, (uint32_t)va);
	put(s, (uint32_t)(va >> 32));
}

/* Small, huge, an address or anything. */
static void
put_word(struct stream *s)
{
	switch (random_below(8)) {
	case 0: put_address(s); break;
	case 1: put(s, (uint32_t)random_bits()); break;
	case 2: put(s, 1u << random_below(32)); break;
	case 3: put(s, 0xffffffffu); break;
	case 4: put(s, 0x200u + random_below(0x80)); break;
	default: put(s, random_below(16)); break;
	}
}

static void
put_random_packet(struct stream *s)
{
	static const uint8_t opcodes[] = {
#define OPCODE(number, name) number,
		PM4_OPCODES(OPCODE)
#undef OPCODE
	};
	uint32_t opcode = one_in(50) ? random_below(256) : opcodes[random_below(sizeof(opcodes))];
	uint32_t body = random_below(10) + 1;

	put(s, pm4_header(opcode, one_in(40) ? random_below(0x4000) + 1 : body) | random_below(8));
	uint32_t end = s->n + body;
	while (s->n < end && s->n < sizeof(s->dw) / 4)
		put_word(s);
}

/* A shader's registers */
static void
put_shader(struct stream *s)
{
	put(s, pm4_header(PM4_OP_SET_SH_REG, 4));
	put(s, R_COMPUTE_NUM_THREAD_X);
	for (unsigned i = 0; i < 3; i++)
		put(s, one_in(40) ? random_below(100) : random_below(8) + 1);
	put(s, pm4_header(PM4_OP_SET_SH_REG, 3));
	put(s, R_COMPUTE_PGM_LO);
	put(s, (uint32_t)(CODE_VA >> 8) + random_below(one_in(20) ? 3 : 2));
	put(s, 0);
	put(s, pm4_header(PM4_OP_SET_SH_REG, 3));
	put(s, R_COMPUTE_PGM_RSRC1);
	put(s, one_in(8) ? (uint32_t)random_bits() : 0x602c0001);
	put(s, one_in(8) ? (uint32_t)random_bits() : random_below(17) << 1 | random_below(8) << 7);
	put(s, pm4_header(PM4_OP_SET_SH_REG, 3));
	put(s, R_COMPUTE_USER_DATA_0);
	put_address(s);
}

/* Packets with the fields in their places, so that work gets done. */
static void
put_sane_packet(struct stream *s)
{
	uint32_t start;

	switch (random_below(8)) {
	case 0:
		put_shader(s);
		break;
	case 1:
		put(s, pm4_header(PM4_OP_DISPATCH_DIRECT, 4));
		for (unsigned i = 0; i < 3; i++)
			put(s, random_below(4));
		put(s, 1 | random_below(2) << 15 | random_below(128));
		break;
	case 2:
		put(s, pm4_header(PM4_OP_WRITE_DATA, 5));
		put(s, 0x00100500);
		put_address(s);
		put_word(s);
		put_word(s);
		break;
	case 3:
		put(s, pm4_header(PM4_OP_DMA_DATA, 6));
		put(s, random_below(4) << 29 | random_below(4) << 20);
		put_address(s);
		put_address(s);
		put(s, random_below(one_in(10) ? 0x4000000 : 4096));
		break;
	case 4:
		put(s, pm4_header(PM4_OP_RELEASE_MEM, 7));
		put(s, 0x514 | (uint32_t)random_bits() << 12);
		put(s, random_below(8) << 29);
		put_address(s);
		start = s->n;
		while (s->n < start + 3 && s->n < sizeof(s->dw) / 4)
			put(s, (uint32_t)random_bits());
		break;
	case 5:
		put(s, pm4_header(PM4_OP_ACQUIRE_MEM, 7));
		for (unsigned i = 0; i < 6; i++)
			put(s, one_in(4) ? random_below(64) : 0xffffffff);
		put(s, (uint32_t)random_bits() & 0x3ffff);
		break;
	case 6:
		put(s, pm4_header(PM4_OP_EVENT_WRITE, 1));
		put(s, one_in(4) ? (uint32_t)random_bits() : 0x407);
		break;
	default:
		put(s, PM4_NOP_ONE_DWORD);
		break;
	}
}

/* All registers that strict hostile mode asks for */
static void
put_preamble(struct stream *s)
{
	put(s, pm4_header(PM4_OP_SET_SH_REG, 1 + 0x2c));
	put(s, 0x204);
	for (uint32_t i = 0x204; i <= 0x22f; i++)
		put(s, i == 0x216 ? 0xffffffff : 0); /* some compute units allowed */
	put(s, pm4_header(PM4_OP_SET_SH_REG, 2));
	put(s, R_GFX11_COMPUTE_DISPATCH_TUNNEL);
	put(s, 0);
}

/* Words where packets have addresses, else anything. */
static void
put_sdma_body(struct stream *s, uint32_t words)
{
	uint32_t end = s->n + words;

	while (s->n < end && s->n < sizeof(s->dw) / 4)
		if (one_in(2))
			put_address(s);
		else
			put_word(s);
}

static void
put_random_sdma_packet(struct stream *s)
{
	uint32_t op = one_in(40) ? random_below(256) : random_below(18), sub = one_in(4) ? random_below(9) : 0;

	put(s, op | sub << 8 | (one_in(4) ? (uint32_t)random_bits() & 0xffff0000 : 0));
	put_sdma_body(s, random_below(9));
}

/* Fields in their places */
static void
put_sane_sdma_packet(struct stream *s)
{
	switch (random_below(9)) {
	case 0: /* COPY, now and then to two places */
		put(s, 1 | (one_in(4) ? 1u << 27 : 0));
		put(s, random_below(one_in(10) ? 0x40000000 : 5000));
		put(s, 0);
		for (unsigned i = 0; i < 3; i++)
			put_address(s);
		break;
	case 1: /* COPY of a sub-window */
		put(s, 1 | 4 << 8 | random_below(5) << 29);
		for (unsigned side = 0; side < 2; side++) {
			put_address(s);
			put(s, random_below(8) | random_below(8) << 16);
			put(s, random_below(4) | random_below(64) << 13);
			put(s, random_below(256));
		}
		put(s, random_below(16) | random_below(8) << 16);
		put(s, random_below(one_in(20) ? 0x2000 : 4));
		break;
	case 2: /* WRITE */
		put(s, 2);
		put_address(s);
		put(s, 2);
		put_sdma_body(s, 3);
		break;
	case 3: /* CONST_FILL */
		put(s, 11 | random_below(4) << 30 | (one_in(6) ? 1 << 8 : 0));
		put_address(s);
		put(s, (uint32_t)random_bits());
		put(s, random_below(4096));
		break;
	case 4: /* FENCE */
		put(s, 5 | 3 << 16);
		put_address(s);
		put_word(s);
		break;
	case 5: /* ATOMIC */
		put(s, 10 | random_below(128) << 25 | (one_in(20) ? 1 << 16 : 0));
		for (unsigned i = 0; i < 3; i++)
			put_address(s);
		put(s, 0);
		break;
	case 6: /* COND_EXE */
		put(s, 9);
		put_address(s);
		put(s, random_below(2));
		put(s, random_below(12));
		break;
	case 7: /* TIMESTAMP */
		put(s, 13 | (1 + random_below(2)) << 8);
		put_address(s);
		break;
	default:
		put(s, random_below(4) << 16);
		break;
	}
}

static void
put_sdma_packet(struct stream *s)
{
	if (one_in(6))
		put_random_sdma_packet(s);
	else
		put_sane_sdma_packet(s);
}

static void
make_stream(struct stream *s)
{
	uint32_t packets = random_below(40) + 1;

	s->n = 0;
	s->mode = (uint8_t)random_bits();
	if (!one_in(4) && (s->mode & 3) != SG_IP_SDMA) {
		put_preamble(s);
		put_shader(s);
	}
	for (uint32_t i = 0; i < packets; i++) {
		if ((s->mode & 3) == SG_IP_SDMA)
			put_sdma_packet(s);
		else if (one_in(12))
			put_random_packet(s);
		else
			put_sane_packet(s);
	}
}

static void
run_stream(struct stream *s)
{
	static uint8_t buffer[1 + IB_BYTES];

	buffer[0] = s->mode;
	memcpy(buffer + 1, s->dw, s->n * 4ull);
	if (one_in(4) && s->n)
		buffer[1 + random_below(s->n * 4)] ^= (uint8_t)(1u << random_below(8));
	LLVMFuzzerTestOneInput(buffer, 1 + s->n * 4ull);
}

static int
run_file(const char *path)
{
	static uint8_t buffer[1 + IB_BYTES];
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return 1;
	}
	size_t n = fread(buffer, 1, sizeof(buffer), f);
	fclose(f);
	LLVMFuzzerTestOneInput(buffer, n);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct stream s;
	unsigned long runs = 5000;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-runs=", 6) == 0)
			runs = strtoul(argv[i] + 6, NULL, 10);
		else if (strncmp(argv[i], "-seed=", 6) == 0)
			random_state = strtoul(argv[i] + 6, NULL, 10) | 1;
		else
			failed |= run_file(argv[i]);
	for (unsigned long i = 0; i < runs; i++) {
		make_stream(&s);
		run_stream(&s);
	}
	sg_ring_stop_all();
	sg_vm_unref(vm);
	if (vm) {
		sg_bo_unref(ib_bo);
		sg_bo_unref(data_bo);
		sg_bo_unref(code_bo);
	}
	printf("%lu streams, jobs: %lu done, %lu hung, %lu illegal, %lu faulted\n", runs, outcomes[SG_JOB_DONE],
	       outcomes[SG_JOB_HANG], outcomes[SG_JOB_ILLEGAL], outcomes[SG_JOB_FAULT]);
	return failed;
}

#endif
