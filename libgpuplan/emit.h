/* SPDX-License-Identifier: MIT */
/* emit.h: writing PM4 for one command after another. Pure: no device, no I/O.
 *
 * An emitter first runs with dw == NULL and only counts, then with memory of exactly that size; the caller asserts
 * that both agree. Addresses are references that become relocations, or absolute where they are known already.
 */
#ifndef GP_EMIT_H
#define GP_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "plan_image.h"
#include "pm4.h"

struct gp_target;

/* An address: base of (memory, index) plus addend. PLAN_MEMORY_NONE: addend is the address itself. */
struct gp_ref {
	uint32_t memory;	/* enum plan_memory */
	uint32_t index;
	uint64_t addend;
};

static inline struct gp_ref
gp_ref_absolute(uint64_t va)
{
	return (struct gp_ref){ PLAN_MEMORY_NONE, 0, va };
}

/* Length of IBs and of their segments, in dwords. */
#define GP_IB_GRANULE 8
/* What chain appends at most. */
#define GP_CHAIN_MAX_DWORDS (PM4_INDIRECT_BUFFER_DWORDS + GP_IB_GRANULE - 1)

/* A dword of a packet that a run may set. Zero-initialised .param: a constant. */
struct gp_emit_word {
	uint32_t value;		/* of a parameter: its initial value */
	uint32_t param;		/* parameter + 1, 0: none */
};

/* Compute registers whose last written value is remembered: SET_SH_REG offsets 0x200 .. 0x27f. */
#define GP_EMIT_REGS 128

struct gp_emit_reg {
	bool known;
	bool is_ref;
	uint32_t value;		/* or what is ORed to the address */
	struct gp_ref ref;	/* memory != NONE: relocated by kind */
	uint32_t kind;		/* enum plan_relocation_kind */
};

struct gp_emit_private {
	struct gp_ref base;	/* private-segment ring; bytes 0 = none */
	uint32_t bytes_per_wave; /* rounded to the granule */
	uint32_t waves;		/* per shader engine */
};

struct gp_emit {
	const struct gp_target *target;
	uint32_t *dw;		/* NULL: count only */
	uint32_t n;		/* dwords so far */
	uint32_t where;		/* enum plan_relocation_where, for relocations */
	struct plan_image_relocation *relocations; /* NULL: count only */
	uint32_t n_relocations;
	struct plan_image_patch *patches; /* NULL: count only */
	uint32_t n_patches;
	struct gp_emit_private scratch; /* of this IB, from begin */
	struct gp_emit_reg regs[GP_EMIT_REGS]; /* what the stream has written so far */
	struct gp_emit_reg want[GP_EMIT_REGS]; /* known = waits for gp_emit_flush_regs */
};

/* What may have happened before an IB. */
enum gp_begin {
	GP_BEGIN_RUN,		/* code was there before: a job since its last upload has dropped old instructions */
	GP_BEGIN_AFTER_UPLOAD,	/* code may be new: the instruction cache is invalidated too */
};

/* A dispatch, ready for registers. */
struct gp_emit_dispatch {
	struct gp_ref code;	/* entry */
	struct gp_ref kernarg;
	uint32_t rsrc1, rsrc2, rsrc3; /* LDS size included */
	uint32_t properties;	/* kernel_code_properties: user SGPR layout, wave32 */
	struct gp_emit_word groups[3];
	uint32_t block[3];
	bool has_indirect;	/* groups[] are not used; the command processor reads them when it gets there */
	struct gp_ref indirect;	/* three dwords, 4-byte aligned */
	/* for kernels that ask for them */
	struct gp_ref dispatch_packet; /* 64-byte AQL packet */
	struct gp_ref queue;	/* 256 zero bytes: nothing compiled for gfx9 and later reads them */
	uint32_t private_bytes;	/* per work-item */
};

/* One implementation per generation (emit_gfx11.c, ...). Every call appends packets. */
struct gp_emit_ops {
	/* Start of a submission's first IB: nothing is known of registers or caches. Invalidates every cache level that
	 * could hold stale data from the CPU or other engines, sets the registers that stay for the submission. */
	void (*begin)(struct gp_emit *e, const struct gp_emit_private *scratch, enum gp_begin how);
	void (*dispatch)(struct gp_emit *e, const struct gp_emit_dispatch *d);
	void (*fill)(struct gp_emit *e, struct gp_ref dst, uint64_t bytes, struct gp_emit_word value);
	void (*copy)(struct gp_emit *e, struct gp_ref dst, struct gp_ref src, uint64_t bytes);
	void (*barrier)(struct gp_emit *e, uint32_t ops /* enum plan_barrier_ops */);
	/* End of pipe: after all work before it, writes caches back and stores value at word. */
	void (*signal)(struct gp_emit *e, struct gp_ref word, uint64_t value);
	/* Ends a segment that stands from a multiple of GP_IB_GRANULE dwords on, padded so that its end does too: a jump
	 * to the segment at next (32-byte aligned, `dwords` long), which never returns. Registers and caches stay as
	 * they are. The packet is the segment's last four dwords, `dwords` in the last of them. */
	void (*chain)(struct gp_emit *e, struct gp_ref next, uint32_t dwords);
	/* Pads to GP_IB_GRANULE. */
	void (*finish)(struct gp_emit *e);
};

void gp_emit_init(struct gp_emit *e, const struct gp_target *target, uint32_t where);

/* ---- for the generations' files ---- */

void gp_emit_dword(struct gp_emit *e, uint32_t dw);
void gp_emit_word(struct gp_emit *e, struct gp_emit_word word);
void gp_emit_ref(struct gp_emit *e, struct gp_ref ref, uint32_t kind, uint32_t base);
/* Notes a register's wanted value; gp_emit_flush_regs writes those that changed, neighbours in one packet. */
void gp_emit_reg(struct gp_emit *e, uint32_t reg, uint32_t value);
void gp_emit_reg_range(struct gp_emit *e, uint32_t first, uint32_t last, uint32_t value);
/* base is ORed to the part of the address. */
void gp_emit_reg_ref(struct gp_emit *e, uint32_t reg, struct gp_ref ref, uint32_t kind, uint32_t base);
void gp_emit_flush_regs(struct gp_emit *e);

/* emit_packets.c: what is the same on every generation, or differs in a value only. */

/* Registers that any user of the ring may have left in any state, where they are the same everywhere. */
void gp_emit_ring_defaults(struct gp_emit *e);
/* TMPRING_SIZE; waves: as the generation counts them. */
void gp_emit_tmpring(struct gp_emit *e, uint32_t waves);
/* The ring's base in DISPATCH_SCRATCH_BASE, where the hardware gives each wave its part (gfx942, gfx11, gfx12). */
void gp_emit_architected_scratch(struct gp_emit *e);
/* Elsewhere: a swizzled buffer descriptor in the first user SGPRs. Returns the register behind it. */
uint32_t gp_emit_scratch_descriptor(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t word3);
/* The other user SGPRs, from register reg on. */
void gp_emit_user_data(struct gp_emit *e, const struct gp_emit_dispatch *d, uint32_t reg);
/* Block, program address, RSRC1 and RSRC2. */
void gp_emit_program(struct gp_emit *e, const struct gp_emit_dispatch *d);
/* Flushes registers and starts the dispatch. */
void gp_emit_launch(struct gp_emit *e, const struct gp_emit_dispatch *d, bool wave32);
void gp_emit_uconfig(struct gp_emit *e, uint32_t reg, uint32_t value);
void gp_emit_wait(struct gp_emit *e);
/* Five dwords of ACQUIRE_MEM: all of memory. */
void gp_emit_acquire_all(struct gp_emit *e);
/* src NULL: fills with value. */
void gp_emit_dma(struct gp_emit *e, struct gp_ref dst, const struct gp_ref *src, struct gp_emit_word value,
		  uint64_t bytes, uint32_t max_bytes);
/* op: RELEASE_MEM's first dword. */
void gp_emit_release(struct gp_emit *e, uint32_t op, struct gp_ref word, uint64_t value);
void gp_emit_chain(struct gp_emit *e, struct gp_ref next, uint32_t dwords);
void gp_emit_finish(struct gp_emit *e);

#endif
