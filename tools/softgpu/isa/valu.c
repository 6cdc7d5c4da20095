/* SPDX-License-Identifier: MIT */
/* valu.c: the table of operations. */
#include "valu_impl.h"

/* Types and flags of valu_list.h without their prefixes. */
enum {
	NONE = SG_T_NONE, B16 = SG_T_B16, F16 = SG_T_F16, B32 = SG_T_B32, F32 = SG_T_F32, B64 = SG_T_B64, F64 = SG_T_F64,
	PK16 = SG_T_PK16, B128 = SG_T_B128, B256 = SG_T_B256, MASK = SG_T_MASK,
	READS_DST = SG_V_READS_DST, READS_MASK = SG_V_READS_MASK, WRITES_MASK = SG_V_WRITES_MASK,
	RAW_MODIFIERS = SG_V_RAW_MODIFIERS, COMPARE = SG_V_COMPARE, FLOAT_OUT = SG_V_FLOAT_OUT,
};

#define SG_OP(name, fn, dst, a, b, c, flags) { #name, sg_##fn, dst, { a, b, c }, flags },
const struct sg_valu_op sg_valu_ops[] = {
#include "valu_list.h"
	{ NULL, NULL, NONE, { NONE, NONE, NONE }, 0 },
};
#undef SG_OP

const struct sg_valu_op *
sg_valu_find(const char *name)
{
	for (const struct sg_valu_op *op = sg_valu_ops; op->name; op++)
		if (strcmp(op->name, name) == 0)
			return op;
	return NULL;
}
