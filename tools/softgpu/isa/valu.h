/* SPDX-License-Identifier: MIT */
/* valu.h: the arithmetic of the vector ALU, apart from everything around it.
 *
 * The interpreter (exec.c) fetches operands, applies exec, DPP, SDWA, op_sel and input modifiers, and writes
 * results back; the functions here compute. One call is one operation over 32 lanes (wave64 calls twice).
 * Operands are arrays of 32 uint32_t, 128-byte aligned; a 64-bit operand is the low array followed
 * directly by the high array (as VGPR pairs lie in the register file); 16-bit operands are in the low half of
 * each lane. d may be the same array as any source. Lanes that exec masks off are computed too (the caller blends),
 * so functions must not trap whatever the lanes hold.
 */
#ifndef SOFTGPU_VALU_H
#define SOFTGPU_VALU_H

#include <stdbool.h>
#include <stdint.h>

#define SG_LANES 32

/* Type of one operand: how wide it is, and how the fetch applies neg and abs and widens constants. */
enum sg_type {
	SG_T_NONE = 0,
	SG_T_B16, SG_T_F16, SG_T_B32, SG_T_F32, SG_T_B64, SG_T_F64,
	SG_T_PK16,	/* two f16 or i16 (VOP3P): neg_lo/neg_hi and op_sel/op_sel_hi are applied by the fetch */
	SG_T_B96, SG_T_B128, SG_T_B256, /* wmma and mqsad operands: consecutive arrays */
	SG_T_MASK,	/* lane mask in SGPRs (vcc or sdst/ssrc), not a vector */
};

struct sg_valu_env {
	uint32_t mode;		/* MODE: [1:0] f32 round, [3:2] f16/f64 round, [5:4] f32 denorm, [7:6] f16/f64 denorm,
				 * [8] DX10_CLAMP, [9] IEEE, [23] FP16_OVFL */
	uint32_t exec;		/* active lanes of this half */
	uint32_t carry_in;	/* mask operand (v_cndmask, carry in, v_div_fmas vcc) of this half */
	uint32_t mask_out;	/* result mask: compare, carry out, v_div_scale; bits of inactive lanes are
				 * cleared by the caller */
	bool clamp;		/* integer saturation where the op defines it; float clamp is the caller's */
	uint8_t neg, abs;	/* raw modifier bits for ops that give them another meaning (VOP3P dot iu, fma_mix):
				 * bit k for source k, neg = neg_lo, abs = neg_hi */
	uint8_t op_sel, op_sel_hi;
};

typedef void sg_valu_fn(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2,
			struct sg_valu_env *env);

enum {
	SG_V_READS_DST = 1 << 0,	/* d is also an input (fmac, dot2acc): the caller passes the old value in d */
	SG_V_READS_MASK = 1 << 1,	/* carry_in is used */
	SG_V_WRITES_MASK = 1 << 2,	/* mask_out is a result (beside or instead of d) */
	SG_V_RAW_MODIFIERS = 1 << 3,	/* fetch applies no neg/abs/op_sel: the function reads them from env */
	SG_V_COMPARE = 1 << 4,		/* VOPC: only mask_out */
	SG_V_FLOAT_OUT = 1 << 5,	/* result takes omod and float clamp */
};

/* One operation of the ALU, whatever its encodings are called. */
struct sg_valu_op {
	const char *name;		/* gfx11 name in lower case, without _e32/_e64: "v_add_f32" */
	sg_valu_fn *fn;
	uint8_t dst;			/* enum sg_type */
	uint8_t src[3];			/* enum sg_type; SG_T_NONE = absent */
	uint16_t flags;			/* SG_V_* */
};

/* NULL when there is no such operation. Linear search is fine: called only while tables are built. */
const struct sg_valu_op *sg_valu_find(const char *name);
/* All of them, ended by name == NULL. */
extern const struct sg_valu_op sg_valu_ops[];

#endif
