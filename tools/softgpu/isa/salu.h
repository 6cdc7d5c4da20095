/* SPDX-License-Identifier: MIT */
/* salu.h: operand shapes of the scalar ALU. */
#ifndef SOFTGPU_SALU_H
#define SOFTGPU_SALU_H

#include <stdbool.h>
#include <stdint.h>

struct sg_wave;

struct sg_salu_env {
	uint64_t a, b;		/* operands; 32-bit ones zero-extended */
	uint64_t d;		/* old destination, for ops that modify it */
	uint32_t scc;		/* in and out */
};

typedef uint64_t sg_salu_fn(struct sg_salu_env *e);

struct sg_salu_op {
	const char *name;
	sg_salu_fn *fn;
	uint8_t dst, a, b;	/* dwords; 0 = absent */
	bool sign;		/* 64-bit operand: a literal is sign-extended */
	bool zero_extends;	/* SOPK: immediate is unsigned */
	bool wants_literal;	/* s_setreg_imm32: a dword follows */
	bool keeps_dst;		/* condition false: no write (s_cmov) */
};

#endif
