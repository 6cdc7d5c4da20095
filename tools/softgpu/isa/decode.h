/* SPDX-License-Identifier: MIT */
/* decode.h: instruction words to struct sg_op, the form the interpreter runs. */
#ifndef SOFTGPU_DECODE_H
#define SOFTGPU_DECODE_H

#include "isa.h"
#include "valu.h"

enum sg_format {
	SG_FMT_NONE,
	SG_FMT_SOP1, SG_FMT_SOP2, SG_FMT_SOPC, SG_FMT_SOPK, SG_FMT_SOPP, SG_FMT_SMEM,
	SG_FMT_VOP1, SG_FMT_VOP2, SG_FMT_VOPC, SG_FMT_VOP3, SG_FMT_VOP3P, SG_FMT_VOPDX, SG_FMT_VOPDY, SG_FMT_VINTERP,
	SG_FMT_DS, SG_FMT_FLAT, SG_FMT_GLOBAL, SG_FMT_SCRATCH, SG_FMT_MUBUF, SG_FMT_MTBUF, SG_FMT_MIMG,
	SG_FMT_VINTRP, SG_FMT_LDSDIR, SG_FMT_EXP,
	SG_FMT_COUNT
};

struct sg_opcode {
	uint16_t number;
	const char *name;	/* without _e32 and _e64 */
};

struct sg_opcode_table {
	const struct sg_opcode *rows;
	unsigned count;
};

extern const struct sg_opcode_table sg_gfx10_opcodes[SG_FMT_COUNT], sg_gfx11_opcodes[SG_FMT_COUNT];

/* gfx11's name of a gfx10.3 operation that had another one; false: it had not. */
bool sg_alias(const char *name, char *out, size_t bytes);

struct sg_wave;
struct sg_op;

/* Runs one operation; returns the next one, or NULL to leave the interpreter loop with w->state set. */
typedef const struct sg_op *sg_handler(struct sg_wave *w, const struct sg_op *op);

/* An opcode of one architecture with its meaning. */
struct sg_insn {
	const char *name;	/* NULL: no such opcode */
	const char *key;	/* gfx11's name, by which semantics are bound */
	sg_handler *run;
	const void *sem;	/* struct sg_salu_op, sg_valu_op, sg_mem_op, ... by family */
	uint8_t family;		/* enum sg_family */
	uint8_t form;		/* family's own use */
	uint8_t arch;		/* enum sg_arch */
	uint16_t index;		/* execution counter */
};

enum sg_family {
	SG_FAM_UNIMPLEMENTED,
	SG_FAM_DROP,		/* no effect in a synchronous interpreter */
	SG_FAM_SALU,
	SG_FAM_FLOW,		/* branches, end, barrier, mode: salu operands, own handler */
	SG_FAM_VALU,
	SG_FAM_LANE,		/* data movement between lanes and register files */
	SG_FAM_SMEM,
	SG_FAM_LDS,
	SG_FAM_VMEM,
	SG_FAM_IMAGE,
};

#define SG_MAX_INSNS 2048

/* Instruction set of one architecture: built once from the opcode tables and the families' semantics. */
struct sg_isa {
	enum sg_arch arch;
	unsigned null_code, m0_code; /* operand codes 124 and 125 changed places in gfx11 */
	unsigned count;
	struct sg_insn insns[SG_MAX_INSNS];
	char keys[16384];	/* names that alias.c made up */
	unsigned keys_used;
	uint16_t index[SG_FMT_COUNT][1024]; /* 0: no such opcode */
};

/* NULL: architecture without a table. */
const struct sg_isa *sg_isa_get(enum sg_arch arch);
/* NULL when the number names no opcode. */
const struct sg_insn *sg_isa_find(const struct sg_isa *isa, enum sg_format format, unsigned number);

/* One family's claim on an opcode: fills run, sem, family and returns true when the name is its own. */
typedef bool sg_bind_fn(struct sg_insn *insn, enum sg_format format);
sg_bind_fn sg_bind_salu, sg_bind_flow, sg_bind_smem, sg_bind_lane, sg_bind_valu, sg_bind_lds, sg_bind_vmem,
	sg_bind_image;

/* Register numbers inside struct sg_wave.sgpr, the same for all architectures. */
enum {
	SG_REG_VCC = 106,
	SG_REG_TTMP = 108,
	SG_REG_NULL = 124,	/* stays 0 */
	SG_REG_M0 = 125,
	SG_REG_EXEC = 126,
	SG_REG_SINK = 128,	/* writes to null go here */
	SG_SGPR_COUNT = 128 + 32,
};

enum { SG_VGPR_HIDDEN = 272 }; /* first register past v255 and any tuple that starts there */
enum { SG_VGPR_COUNT = SG_VGPR_HIDDEN + 16 };

enum sg_kind {
	SG_K_NONE, SG_K_VGPR, SG_K_SGPR, SG_K_CONST,
	SG_K_SCC, SG_K_VCCZ, SG_K_EXECZ,
	SG_K_LDS_DIRECT,	/* RDNA2: what M0 points to in LDS */
};

/* What the fetch does to a vector operand after reading it. */
enum {
	SG_MOD_NEG = 1,		/* low half of packed */
	SG_MOD_NEG_HI = 2,	/* high half of packed */
	SG_MOD_ABS = 4,
	SG_MOD_HIGH = 8,	/* 16-bit operand sits in the upper half; packed: low result from the upper half */
	SG_MOD_HI_LOW = 16,	/* packed: high result from the lower half */
};

struct sg_operand {
	uint8_t kind;		/* enum sg_kind */
	uint8_t type;		/* enum sg_type */
	uint8_t mods;		/* SG_MOD_* */
	uint8_t sel;		/* SDWA: 0, or 1 + part (bytes 0..3, words 4 and 5, 6 all) | 8 to sign-extend */
	uint16_t reg;
	uint8_t code;		/* as encoded, for scalars and constants */
	const uint32_t *splat;	/* SG_K_CONST: 32 lanes per dword, in the program's pool */
	uint64_t value;		/* SG_K_CONST */
};

/* SG_OP_* properties */
enum {
	SG_OP_CLAMP = 1 << 0,
	SG_OP_DST_HIGH = 1 << 1,	/* 16-bit result goes to the upper half */
	SG_OP_OVERLAP = 1 << 2,		/* destination partly covers a source: never write in place */
	SG_OP_CMPX = 1 << 3,
	SG_OP_FI = 1 << 4,		/* DPP: fetch inactive lanes */
	SG_OP_BC = 1 << 5,		/* DPP: bound control */
	SG_OP_GLC = 1 << 6,
	SG_OP_OFFEN = 1 << 7,		/* MUBUF */
	SG_OP_IDXEN = 1 << 8,
	SG_OP_SADDR = 1 << 9,		/* FLAT family: scalar address present */
	SG_OP_VADDR = 1 << 10,		/* SCRATCH: vector offset present */
	SG_OP_GDS = 1 << 11,
	SG_OP_PARTIAL = 1 << 12,	/* cannot take the direct path: clamp, omod or 16-bit destination */
	SG_OP_TFE = 1 << 13,
	SG_OP_COHERENT = 1 << 14,	/* load at device scope */
	SG_OP_TO_LDS = 1 << 15,		/* MUBUF: the destination is LDS */
	SG_OP_DLC = 1 << 16,
	SG_OP_SLC = 1 << 17,
};

enum sg_dpp { SG_DPP_NONE, SG_DPP_16, SG_DPP_8 };

/* What SDWA does with the rest of its destination. */
enum { SG_SDWA_PAD, SG_SDWA_SEXT, SG_SDWA_PRESERVE };

struct sg_op {
	sg_handler *run;
	const struct sg_insn *insn;
	const void *sem;
	struct sg_op *target;	/* branch: resolved on first use */
	uint64_t pc;
	int64_t imm;		/* SALU constant, branch target, memory offset */
	uint16_t dst, sdst;	/* vector or scalar destination */
	uint32_t flags;		/* SG_OP_* */
	uint8_t omod;
	uint8_t dpp;		/* enum sg_dpp */
	uint8_t neg, abs, op_sel, op_sel_hi; /* raw, for SG_V_RAW_MODIFIERS */
	uint8_t row_mask, bank_mask;
	uint8_t words;		/* size of the instruction in dwords; 0 for internal operations and
				 * all but the last operation of an instruction */
	uint8_t size;		/* dwords moved (SMEM); MTBUF: format */
	uint8_t format;		/* enum sg_format */
	uint8_t pair;		/* VOPD: opcode of the X half */
	uint8_t sdwa;		/* 0, or 1 | destination part << 1 | what becomes of the rest << 4 (SG_SDWA_*) */
	uint32_t ctrl;		/* dpp_ctrl or the eight DPP8 selectors */
	uint16_t carry;		/* SGPR of the carry-in mask */
	uint16_t addr, data0, data1; /* DS, VMEM registers */
	struct sg_operand src[3];
};

/* Interned constants of one program: lane arrays that operands point to. */
struct sg_constant;
struct sg_pool {
	struct sg_constant *all;
};
void sg_pool_free(struct sg_pool *pool);
const uint32_t *sg_pool_splat(struct sg_pool *pool, uint64_t value, unsigned dwords, bool repeat);

enum { SG_DECODE_MAX_OPS = 4 };	/* a VOPD pair whose halves swap registers */

/* Decodes the instruction at words (count valid dwords) into at most SG_DECODE_MAX_OPS operations. Returns its size in
 * dwords, 0 when more dwords are needed than given. Undecodable words give an operation that stops the wave. *ops_out
 * is 0 for instructions without effect. */
unsigned sg_decode(const struct sg_isa *isa, struct sg_pool *pool, uint64_t pc, const uint32_t *words, unsigned count,
		   struct sg_op *ops, unsigned *ops_out);

/* Which encoding the first dword belongs to, and its opcode number (a bit of which may be in the second dword). */
enum sg_format sg_classify(const struct sg_isa *isa, const uint32_t *words, unsigned count, unsigned *number);

/* Do neg and abs apply to an operand of this type? */
bool sg_takes_float_modifiers(const struct sg_op *op, unsigned type);

sg_handler sg_run_illegal, sg_run_unimplemented;

#endif
