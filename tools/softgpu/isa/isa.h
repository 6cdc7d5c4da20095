/* SPDX-License-Identifier: MIT */
/* isa.h: what the command processor (hw/) asks of the shader cores (isa/).
 *
 * One dispatch is a grid of workgroups. hw/ fills a struct sg_dispatch from the
 * COMPUTE_* registers and runs any subset of its workgroups, in any order, from
 * any thread; isa/ knows neither rings nor ioctls. Memory is reached only through
 * struct sg_mem, which hw/ implements.
 */
#ifndef SOFTGPU_ISA_H
#define SOFTGPU_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_arch {
	SG_ARCH_RDNA2,	/* gfx1030 .. gfx1036 */
	SG_ARCH_RDNA3,	/* gfx1100 .. gfx1103 */
};

enum sg_access {
	SG_ACCESS_READ = 1,
	SG_ACCESS_WRITE = 2,
	SG_ACCESS_EXEC = 4,
};

/* Which cache a data access goes through; decides what a stale line looks like. */
enum sg_path {
	SG_PATH_VECTOR,		 /* GLV -> GL1 -> GL2, ordinary vector access */
	SG_PATH_VECTOR_COHERENT, /* device scope: glc on gfx11, glc+dlc on gfx10, all atomics */
	SG_PATH_SCALAR,		 /* GLK -> GL2, SMEM */
	SG_PATH_COUNT
};

/* Part of a GPU address space that is contiguous in host memory. */
struct sg_span {
	uint64_t va;	/* first GPU address, sign-extended 48 bits */
	uint64_t bytes;
	uint8_t *host;	/* host address of va; NULL for PRT (reads 0, drops writes) */
	uint32_t access; /* SG_ACCESS_* allowed by the page table */
};

struct sg_mem;

struct sg_mem_ops {
	/* The span that covers va. False: unmapped. Spans stay valid for the job. */
	bool (*lookup)(struct sg_mem *mem, uint64_t va, struct sg_span *out);

	/* An access hit no mapping or one without the right. Records it. The access
	 * reads 0 or is dropped. True: strict mode, stop this dispatch with SG_STOP_FAULT. */
	bool (*fault)(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc);

	/* Hostile mode only (mem->hostile): every data access goes through these two
	 * instead of a host pointer, so that stale caches can be shown. Never cross a span. */
	void (*read)(struct sg_mem *mem, const struct sg_span *span, uint64_t va, void *dst, size_t bytes,
		     enum sg_path path);
	void (*write)(struct sg_mem *mem, const struct sg_span *span, uint64_t va, const void *src, size_t bytes);
};

/* A job's view of memory, embedded in hw/'s own structure. */
struct sg_mem {
	const struct sg_mem_ops *ops;
	bool hostile;
};

enum sg_stop_reason {
	SG_STOP_NONE = 0,	/* ran to s_endpgm */
	SG_STOP_ILLEGAL,	/* undecodable or unimplemented instruction, bad pc */
	SG_STOP_FAULT,		/* strict mode: memory violation */
	SG_STOP_TRAP,		/* s_trap, s_sethalt */
	SG_STOP_TIMEOUT,	/* sg_dispatch.stop became true */
	SG_STOP_DEADLOCK,	/* waves of a group wait at different barriers */
};

struct sg_stop {
	enum sg_stop_reason reason;
	uint64_t pc;		/* GPU address of the instruction */
	uint32_t words[3];	/* its first dwords */
	char text[192];		/* one sentence naming the instruction */
};

/* One dispatch as the COMPUTE_* registers describe it. */
struct sg_dispatch {
	enum sg_arch arch;
	bool wave32;		/* COMPUTE_DISPATCH_INITIATOR.CS_W32_EN */
	uint64_t pc;		/* COMPUTE_PGM << 8, sign-extended from bit 47 */
	uint32_t rsrc1, rsrc2, rsrc3;
	uint32_t user_data[16];
	uint32_t threads[3];	/* COMPUTE_NUM_THREAD_*.FULL */
	uint32_t partial[3];	/* threads of the last group of each axis; equals threads without PARTIAL_TG_EN */
	uint32_t start[3];	/* first workgroup id per axis */
	uint32_t groups[3];	/* number of workgroups per axis */
	uint64_t scratch_base;	/* COMPUTE_DISPATCH_SCRATCH_BASE << 8; 0 = none */
	uint32_t scratch_wave_bytes; /* TMPRING_SIZE.WAVESIZE in bytes per wave */
	uint32_t scratch_waves;	/* TMPRING_SIZE.WAVES: wave slots behind scratch_base (per device) */
	uint32_t poison;	/* value of uninitialised SGPRs, VGPRs and LDS */
	const volatile bool *stop; /* set by the watchdog; looked at on every backward branch and barrier */
	uint64_t (*clock)(void); /* GPU clock, 100 MHz, for s_memrealtime and friends */
};

/* Executed wave instructions, kept per core object; collected for SOFTGPU_REPORT. */
struct sg_isa_stats {
	uint64_t waves;
	uint64_t groups;
	uint64_t instructions;	/* wave instructions executed */
};

/* A shader core: registers, LDS and decode cache of one host thread. Not shared between threads. */
struct sg_core;

struct sg_core *sg_core_create(void);
void sg_core_destroy(struct sg_core *core);
const struct sg_isa_stats *sg_core_stats(const struct sg_core *core);
/* Calls emit once per opcode executed so far (only when counting was switched on). */
void sg_core_count_opcodes(struct sg_core *core, bool on);
void sg_core_opcodes(const struct sg_core *core, void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg);

/* Runs workgroups [first, first + count) in linear order (x fastest) of the dispatch, to their end.
 * Returns SG_STOP_NONE or why it stopped, with *stop filled. Never crashes the host, whatever the code is:
 * code is fetched through mem (needs SG_ACCESS_EXEC), decoded once per code address and cached in the core;
 * the cache is validated against memory at the start of every call, so callers never invalidate it. */
enum sg_stop_reason sg_core_run(struct sg_core *core, const struct sg_dispatch *d, struct sg_mem *mem, uint64_t first,
				uint64_t count, struct sg_stop *stop);

/* Vector extensions of the host for which there are handlers of their own; results are the same with all. */
enum sg_simd { SG_SIMD_NONE, SG_SIMD_AVX2, SG_SIMD_AVX512, SG_SIMD_COUNT };

/* Code decoded from now on uses none above `most` (any thread; at first there is no limit). Returns what will be used:
 * that, or less where the host has less. */
enum sg_simd sg_simd_limit(enum sg_simd most);
/* "none", "avx2" or "avx512"; anything else: SG_SIMD_COUNT. */
enum sg_simd sg_simd_named(const char *name);

/* Disassembles one instruction for reports: mnemonic and operands as far as known. Returns its size in dwords, 0 if
 * undecodable. */
unsigned sg_disassemble(enum sg_arch arch, const uint32_t *words, unsigned dwords, char *text, size_t text_bytes);

#endif
