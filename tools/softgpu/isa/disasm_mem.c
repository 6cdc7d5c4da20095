/* SPDX-License-Identifier: MIT */
/* disasm_mem.c: operands of memory instructions as LLVM writes them. */
#include "disasm_impl.h"
#include "image.h"
#include "vmem.h"

static void
put_flag(struct sg_text *t, const struct sg_op *op, uint32_t flag, const char *name)
{
	if (op->flags & flag)
		sg_put(t, " %s", name);
}

static void
put_cache_flags(struct sg_text *t, const struct sg_op *op)
{
	put_flag(t, op, SG_OP_GLC, "glc");
	put_flag(t, op, SG_OP_SLC, "slc");
	put_flag(t, op, SG_OP_DLC, "dlc");
}

static bool
is_compare(const struct sg_mem_op *m)
{
	return m->atomic == SG_A_CMPSWAP || m->atomic == SG_A_FCMPSWAP;
}

/* LDS */

static void
put_lds_data(struct sg_text *t, const struct sg_op *op, const struct sg_mem_op *m)
{
	bool second = m->addrs == 2 || is_compare(m) || m->atomic == SG_A_MSKOR || m->atomic == SG_A_WRAP;
	if (m->kind == SG_M_LOAD)
		return;
	sg_put_vgpr(t, op->data0, sg_vmem_data_dwords(m));
	if (second)
		sg_put_vgpr(t, op->data1, sg_vmem_data_dwords(m));
}

static void
put_exchange(struct sg_text *t, const struct sg_op *op)
{
	bool counter = !strcmp(op->insn->key, "ds_append") || !strcmp(op->insn->key, "ds_consume");
	sg_put_vgpr(t, op->dst, 1);
	if (!counter)
		sg_put_vgpr(t, op->addr, 1);
	if (strstr(op->insn->key, "permute"))
		sg_put_vgpr(t, op->data0, 1);
	if (op->imm)
		sg_put(t, " offset:%d", (int)op->imm);
}

void
sg_put_lds(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_mem_op *m = op->sem;

	if (!m) {
		put_exchange(t, op);
		return;
	}
	if (m->kind == SG_M_LOAD || m->returns || (m->kind == SG_M_ATOMIC && m->addrs == 2))
		sg_put_vgpr(t, op->dst, sg_vmem_data_dwords(m) * (m->addrs == 2 ? 2 : 1));
	if (!op->insn->form)
		sg_put_vgpr(t, op->addr, 1);
	put_lds_data(t, op, m);
	if (m->addrs == 2) {
		if (op->imm & 0xff)
			sg_put(t, " offset0:%u", (unsigned)op->imm & 0xff);
		if (op->imm >> 8)
			sg_put(t, " offset1:%u", (unsigned)op->imm >> 8);
	} else if (op->imm)
		sg_put(t, " offset:%u", (unsigned)op->imm);
}

/* FLAT, GLOBAL, SCRATCH */

static void
put_off(struct sg_text *t)
{
	sg_put_comma(t);
	sg_put(t, "off");
}

static void
put_flat_address(struct sg_text *t, const struct sg_op *op)
{
	bool saddr = op->flags & SG_OP_SADDR;
	switch (op->insn->form) {
	case SG_FORM_SCRATCH:
		if (op->flags & SG_OP_VADDR)
			sg_put_vgpr(t, op->addr, 1);
		else
			put_off(t);
		break;
	case SG_FORM_ADDTID: break;
	default: sg_put_vgpr(t, op->addr, saddr ? 1 : 2); break;
	}
}

static void
put_flat(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_mem_op *m = op->sem;
	bool load = m->kind == SG_M_LOAD;

	if (load || (m->kind == SG_M_ATOMIC && (op->flags & SG_OP_GLC)))
		sg_put_vgpr(t, op->dst, sg_vmem_data_dwords(m));
	put_flat_address(t, op);
	if (!load)
		sg_put_vgpr(t, op->data0, sg_vmem_data_dwords(m) * (is_compare(m) ? 2 : 1));
	if (op->flags & SG_OP_SADDR)
		sg_put_sgpr(t, op->sdst, op->insn->form == SG_FORM_SCRATCH ? 1 : 2);
	else if (op->insn->form != SG_FORM_FLAT)
		put_off(t);
	if (op->imm)
		sg_put(t, " offset:%d", (int)op->imm);
	put_cache_flags(t, op);
}

/* MUBUF, MTBUF */

static void
put_buffer(struct sg_text *t, const struct sg_op *op, enum sg_arch arch)
{
	const struct sg_mem_op *m = op->sem;
	const uint32_t both = SG_OP_IDXEN | SG_OP_OFFEN;
	char format[48];

	if (!(op->flags & SG_OP_TO_LDS))
		sg_put_vgpr(t, op->data0, sg_vmem_data_dwords(m) * (is_compare(m) ? 2 : 1) + !!(op->flags & SG_OP_TFE));
	if (op->flags & both)
		sg_put_vgpr(t, op->addr, (op->flags & both) == both ? 2 : 1);
	else
		put_off(t);
	sg_put_sgpr(t, op->sdst, 4);
	sg_put_source(t, &op->src[0]);
	if (op->insn->key[0] == 't' && op->size != 1) {
		sg_format_name(arch, op->size, format, sizeof format);
		sg_put(t, " format:%s", format);
	}
	put_flag(t, op, SG_OP_IDXEN, "idxen");
	put_flag(t, op, SG_OP_OFFEN, "offen");
	if (op->imm)
		sg_put(t, " offset:%d", (int)op->imm);
	put_cache_flags(t, op);
	put_flag(t, op, SG_OP_TFE, "tfe");
	if (arch == SG_ARCH_RDNA2) /* on gfx11 it is in the name */
		put_flag(t, op, SG_OP_TO_LDS, "lds");
}

void
sg_put_vmem(struct sg_text *t, const struct sg_op *op)
{
	enum sg_arch arch = op->insn->arch;
	if (op->insn->form == SG_FORM_BUFFER || op->insn->form == SG_FORM_TYPED)
		put_buffer(t, op, arch);
	else
		put_flat(t, op);
}

/* SMEM */

void
sg_put_smem(struct sg_text *t, const struct sg_op *op)
{
	const struct sg_operand *s = &op->src[0];
	bool immediate = s->kind == SG_K_CONST; /* null, which reads 0 */
	int imm = (int)op->imm;

	sg_put_sgpr(t, op->dst, op->size);
	sg_put_sgpr(t, op->addr, strncmp(op->insn->key, "s_buffer", 8) ? 2 : 4);
	if (!immediate) {
		sg_put_source(t, s);
		if (imm)
			sg_put(t, " offset:%s0x%x", imm < 0 ? "-" : "", (unsigned)(imm < 0 ? -imm : imm));
	} else if (imm) {
		sg_put_comma(t);
		sg_put(t, "%s0x%x", imm < 0 ? "-" : "", (unsigned)(imm < 0 ? -imm : imm));
	} else {
		sg_put_comma(t);
		sg_put(t, "null");
	}
	put_cache_flags(t, op);
}

/* MIMG */

static void
put_image_address(struct sg_text *t, const struct sg_op *op)
{
	if (!(op->ctrl & SG_IMG_NSA)) {
		sg_put_vgpr(t, (unsigned)op->imm & 0xff, op->size);
		return;
	}
	sg_put_comma(t);
	for (unsigned i = 0; i < op->size; i++)
		sg_put(t, "%sv%u", i ? ", " : "[", (unsigned)((uint64_t)op->imm >> 8 * i & 0xff));
	sg_put(t, "]");
}

void
sg_put_image(struct sg_text *t, const struct sg_op *op)
{
	static const char *const dims[] = { "1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY" };
	bool status = op->flags & SG_OP_TFE; /* as LLVM, which does not count the dword that lwe alone adds */

	sg_put_vgpr(t, op->dst, sg_image_data_dwords(op) + status);
	put_image_address(t, op);
	sg_put_sgpr(t, op->sdst, 8);
	sg_put(t, " dmask:0x%x dim:SQ_RSRC_IMG_%s", op->ctrl & SG_IMG_DMASK, dims[sg_image_dim(op)]);
	if (op->ctrl & SG_IMG_UNORM)
		sg_put(t, " unorm");
	put_cache_flags(t, op);
	if (op->ctrl & SG_IMG_R128)
		sg_put(t, " r128");
	if (op->ctrl & SG_IMG_A16)
		sg_put(t, " a16");
	put_flag(t, op, SG_OP_TFE, "tfe");
	if (op->ctrl & SG_IMG_LWE)
		sg_put(t, " lwe");
	if (op->ctrl & SG_IMG_D16)
		sg_put(t, " d16");
}
