/* SPDX-License-Identifier: MIT */
/* core.h: state shared by the files of isa/. hw/ sees only isa.h. */
#ifndef SOFTGPU_CORE_H
#define SOFTGPU_CORE_H

#include "decode.h"

#include <string.h>

enum { SG_MAX_WAVES = 32 };	/* 1024 threads a group in waves of 32 */
enum { SG_LDS_MAX = 65536 };

/* Flat apertures as amdgpu programs SH_MEM_BASES. */
#define SG_SHARED_APERTURE 0x20000000u	/* high dword */
#define SG_PRIVATE_APERTURE 0x10000000u

#define SG_MODE_DX10_CLAMP (1u << 8)
#define SG_MODE_IEEE_BIT (1u << 9)

enum sg_wave_state { SG_WAVE_RUN, SG_WAVE_BARRIER, SG_WAVE_END, SG_WAVE_STOP };

typedef uint32_t sg_lanes[SG_LANES] __attribute__((aligned(128)));

struct sg_wave {
	uint32_t sgpr[SG_SGPR_COUNT];
	sg_lanes *v[2];		/* VGPRs of lanes 0-31 and 32-63 */
	struct sg_core *core;
	uint32_t mode;		/* layout of the MODE register */
	uint32_t scc;
	uint8_t halves;		/* 1 wave32, 2 wave64 */
	uint8_t state;		/* enum sg_wave_state */
	bool f32_plain;		/* MODE: f32 rounds to nearest even and keeps denormals, like the host */
	uint8_t index;		/* in the group */
	uint64_t pc;		/* valid while the wave is not running */
	uint8_t *lds;
	uint32_t lds_bytes;
	uint64_t scratch;	/* address of this wave's block; RDNA2: FLAT_SCRATCH, written by the shader */
	uint32_t scratch_bytes;
	uint16_t shared_first, shared_count; /* wave64: VGPRs that lanes i and i + 32 have in common */
	uint16_t scratch_slot;
	uint16_t scratch_sgpr;	/* RDNA2: where the wave's offset goes; SG_REG_SINK without scratch */
};

enum { SG_TLB_ENTRIES = 8 };

struct sg_program;
struct draft;

struct sg_core {
	struct sg_isa_stats stats;
	const struct sg_isa *isa;
	const struct sg_dispatch *d;
	struct sg_mem *mem;
	struct sg_stop *stop;
	struct sg_program *program;
	struct sg_program *programs;	/* most recently used first */
	struct sg_span tlb[SG_TLB_ENTRIES]; /* the last one used first; empty at the start of each run */
	struct draft *draft;		/* cache.c: room to decode into */
	sg_lanes *vgprs;		/* SG_MAX_WAVES register files */
	uint8_t *lds;
	bool counting;
	uint64_t counters[2][SG_MAX_INSNS]; /* by architecture */
	struct sg_wave waves[SG_MAX_WAVES];
};

/* Decode cache (cache.c) */

/* Makes core->program the decoded code at d->pc, fresh or validated against memory. */
int sg_cache_begin(struct sg_core *core);
void sg_cache_destroy(struct sg_core *core);
/* The operation at a code address; never NULL unless memory is exhausted (then the core's stop is filled). */
struct sg_op *sg_cache_find(struct sg_core *core, uint64_t pc);
/* Next operation of a branch that is taken: looks at the watchdog and resolves the target. */
const struct sg_op *sg_jump(struct sg_wave *w, const struct sg_op *op, uint64_t pc);
/* First operation of a wave. */
const struct sg_op *sg_enter(struct sg_wave *w);

/* Stops (core.c): fills the core's struct sg_stop once, sets the wave's state, returns NULL. */
const struct sg_op *sg_stop_at(struct sg_wave *w, enum sg_stop_reason reason, uint64_t pc, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Waves (core.c), used by softgpu-exec too */
void sg_core_begin(struct sg_core *core, const struct sg_dispatch *d, struct sg_mem *mem, struct sg_stop *stop);
/* Waves of one group in core->waves, registers and LDS in their initial state. Returns their number. */
unsigned sg_group_init(struct sg_core *core, const uint32_t id[3]);
enum sg_stop_reason sg_group_run(struct sg_core *core, unsigned waves);

void sg_wave_run(struct sg_wave *w);	/* exec.c */
void sg_wave_mode(struct sg_wave *w, uint32_t mode);
sg_handler *sg_fast_handler(const struct sg_op *op); /* fast.c: NULL or a specialised handler */
sg_handler *sg_salu_quick(const struct sg_op *op);   /* salu.c: likewise */

/* Scratch slots (scratch.c): device-wide, shared by all cores of the process. */
bool sg_scratch_acquire(struct sg_core *core, unsigned waves);
void sg_scratch_release(struct sg_core *core, unsigned waves);

/* Memory (mem.c) */

/* The span that covers va, NULL when unmapped. Valid until the next call. */
const struct sg_span *sg_mem_span(struct sg_core *core, uint64_t va);
/* Host address when [va, va + bytes) can be accessed directly, else NULL: then use sg_mem_read and sg_mem_write. */
uint8_t *sg_mem_host(struct sg_core *core, uint64_t va, unsigned bytes, uint32_t access);
/* The same, quicker where the last access was nearby. */
static inline uint8_t *
sg_mem_near(struct sg_core *core, uint64_t va, unsigned bytes, uint32_t access)
{
	const struct sg_span *s = &core->tlb[0];
	uint64_t offset = va - s->va;

	if (offset < s->bytes && s->bytes - offset >= bytes && s->host && (s->access & access) == access &&
	    !core->mem->hostile)
		return s->host + offset;
	return sg_mem_host(core, va, bytes, access);
}
void sg_mem_read(struct sg_wave *w, uint64_t va, void *dst, unsigned bytes, enum sg_path path, uint64_t pc);
void sg_mem_write(struct sg_wave *w, uint64_t va, const void *src, unsigned bytes, uint64_t pc);

/* Forms of SG_FAM_VMEM: where an access goes. */
enum { SG_FORM_FLAT, SG_FORM_GLOBAL, SG_FORM_SCRATCH, SG_FORM_BUFFER, SG_FORM_ADDTID, SG_FORM_TYPED };

struct sg_mem_op;
/* One atomic; returns the old value. data and compare are the operands, bytes is 4 or 8. */
uint64_t sg_mem_atomic(struct sg_wave *w, uint64_t va, const struct sg_mem_op *m, uint64_t data, uint64_t compare,
		       uint64_t pc);

enum sg_atomic {
	SG_A_NONE, SG_A_SWAP, SG_A_CMPSWAP, SG_A_ADD, SG_A_SUB, SG_A_CSUB, SG_A_RSUB, SG_A_SMIN, SG_A_UMIN, SG_A_SMAX,
	SG_A_UMAX, SG_A_AND, SG_A_OR, SG_A_XOR, SG_A_INC, SG_A_DEC, SG_A_WRAP, SG_A_MSKOR, SG_A_FCMPSWAP, SG_A_FMIN,
	SG_A_FMAX, SG_A_FADD, SG_A_CONDXCHG,
};

/* New value of an atomic, old value given (atomic.c). */
uint64_t sg_atomic_apply(enum sg_atomic op, unsigned bytes, uint64_t old, uint64_t data, uint64_t compare,
			 uint32_t mode);

/* Dwords of LDS at a[i] + offset (gather.c). False, having done nothing, when an active lane is out of range. */
bool sg_lds_gather(const struct sg_wave *w, uint32_t *d, const uint32_t *a, uint32_t offset, unsigned dwords,
		   uint32_t exec);
bool sg_lds_scatter(const struct sg_wave *w, const uint32_t *s, const uint32_t *a, uint32_t offset, unsigned dwords,
		    uint32_t exec);

enum sg_mem_kind { SG_M_LOAD, SG_M_STORE, SG_M_ATOMIC, SG_M_LDS_2ADDR, SG_M_OTHER };
enum { SG_D16_NONE, SG_D16_LOW, SG_D16_HIGH };

/* What a memory instruction moves, whatever its address space. */
struct sg_mem_op {
	const char *name;	/* without the prefix of its encoding */
	uint8_t kind;		/* enum sg_mem_kind */
	uint8_t bytes;		/* in memory, per lane and address */
	uint8_t sign;		/* sub-dword load: sign-extend */
	uint8_t d16;		/* SG_D16_* */
	uint8_t atomic;		/* enum sg_atomic */
	uint8_t returns;	/* DS atomics name it; others use glc */
	uint8_t addrs;		/* 2: two offsets */
	uint8_t stride64;
	uint8_t compare_first;	/* ds_cmpst of RDNA2: data0 is compared with, data1 stored */
	uint8_t format;		/* typed buffer access: number of components */
};

/* DS with two addresses: offset of the first (0) or second (1). */
static inline uint32_t
sg_pair_offset(const struct sg_op *op, const struct sg_mem_op *m, unsigned which)
{
	return ((uint32_t)op->imm >> 8 * which & 0xff) * m->bytes * (m->stride64 ? 64 : 1);
}

/* VALU helpers used by lane.c and vmem.c */
static inline uint32_t
sg_exec(const struct sg_wave *w, unsigned half)
{
	return w->sgpr[SG_REG_EXEC + half];
}

static inline unsigned
sg_wave_lanes(const struct sg_wave *w)
{
	return w->halves * SG_LANES;
}

/* What M0 points to in LDS (lane.c): address in bits 15:0, type in 18:16. */
uint32_t sg_lds_direct(const struct sg_wave *w);
/* Value of a scalar operand, 64 bits wide for pairs. */
uint64_t sg_scalar(const struct sg_wave *w, const struct sg_operand *s);
/* Lanes of a vector operand with modifiers applied; tmp holds them when they are not already an array. */
const uint32_t *sg_fetch(const struct sg_wave *w, const struct sg_operand *s, unsigned half, uint32_t *tmp);
unsigned sg_type_dwords(unsigned type);
/* d = lanes of s where mask is set. */
void sg_blend(uint32_t *d, const uint32_t *s, uint32_t mask);
/* DPP: moves lanes of s (one dword) to d; returns which lanes have a valid source. */
uint32_t sg_dpp_move(const struct sg_op *op, uint32_t exec, const uint32_t *s, uint32_t *d);
/* Lanes that row_mask and bank_mask allow to be written in this half. */
uint32_t sg_dpp_write_mask(const struct sg_op *op, unsigned half);

#endif
