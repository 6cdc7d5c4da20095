/* SPDX-License-Identifier: MIT */
/* bind.c: joins the opcode tables of an architecture with what the operations mean. */
#include "core.h"

#include <pthread.h>

/* Waits, hints and cache maintenance: nothing to do where every access completes before the next instruction. */
static const char *const without_effect[] = {
	"s_nop", "s_sleep", "s_set_inst_prefetch_distance", "s_clause", "s_delay_alu", "s_waitcnt", "s_waitcnt_depctr",
	"s_wait_idle", "s_wait_event", "s_wakeup", "s_setprio", "s_incperflevel", "s_decperflevel", "s_ttracedata",
	"s_ttracedata_imm", "s_icache_inv", "s_version", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt",
	"s_waitcnt_lgkmcnt", "v_nop", "v_pipeflush", "ds_nop", "buffer_gl0_inv", "buffer_gl1_inv", "s_dcache_inv",
	"s_gl1_inv", "s_atc_probe", "s_atc_probe_buffer",
	/* conditional debug breaks: the flags they test are never set */
	"s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user",
};

static bool
bind_drop(struct sg_insn *insn)
{
	for (unsigned i = 0; i < sizeof without_effect / sizeof *without_effect; i++) {
		if (!strcmp(insn->key, without_effect[i])) {
			insn->family = SG_FAM_DROP;
			return true;
		}
	}
	return false;
}

static void
bind(struct sg_insn *insn, enum sg_format format)
{
	static sg_bind_fn *const binders[] = { sg_bind_salu, sg_bind_flow, sg_bind_smem, sg_bind_lane,
					       sg_bind_valu, sg_bind_lds,  sg_bind_vmem, sg_bind_image };
	if (bind_drop(insn))
		return;
	for (unsigned i = 0; i < sizeof binders / sizeof *binders; i++)
		if (binders[i](insn, format))
			return;
	insn->family = SG_FAM_UNIMPLEMENTED;
	insn->run = sg_run_unimplemented;
}

/* The name semantics are bound by, kept in isa->keys when it is not the name itself. */
static const char *
key_of(struct sg_isa *isa, const char *name)
{
	char *key = isa->keys + isa->keys_used, other[64];
	if (isa->arch == SG_ARCH_RDNA3 || !sg_alias(name, other, sizeof other))
		return name;
	size_t n = strlen(other) + 1;
	if (n > sizeof isa->keys - isa->keys_used)
		return name; /* would show as unimplemented */
	memcpy(key, other, n);
	isa->keys_used += (unsigned)n;
	return key;
}

static void
build(struct sg_isa *isa, enum sg_arch arch, const struct sg_opcode_table *tables)
{
	isa->arch = arch;
	isa->null_code = arch == SG_ARCH_RDNA3 ? 124 : 125;
	isa->m0_code = arch == SG_ARCH_RDNA3 ? 125 : 124;
	isa->count = 1; /* index 0 means no such opcode */
	for (unsigned f = 0; f < SG_FMT_COUNT; f++) {
		for (unsigned i = 0; i < tables[f].count && isa->count < SG_MAX_INSNS; i++) {
			struct sg_insn *insn = &isa->insns[isa->count];
			insn->name = tables[f].rows[i].name;
			insn->key = key_of(isa, insn->name);
			insn->index = isa->count;
			insn->arch = (uint8_t)arch;
			bind(insn, f);
			isa->index[f][tables[f].rows[i].number] = isa->count++;
		}
	}
}

/* Each costs some milliseconds, and few processes need more than one. */
static struct sg_isa rdna2, rdna3;

static void
build_rdna2(void)
{
	build(&rdna2, SG_ARCH_RDNA2, sg_gfx10_opcodes);
}

static void
build_rdna3(void)
{
	build(&rdna3, SG_ARCH_RDNA3, sg_gfx11_opcodes);
}

const struct sg_isa *
sg_isa_get(enum sg_arch arch)
{
	static pthread_once_t once[2] = { PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT };

	switch (arch) {
	case SG_ARCH_RDNA2: pthread_once(&once[0], build_rdna2); return &rdna2;
	case SG_ARCH_RDNA3: pthread_once(&once[1], build_rdna3); return &rdna3;
	default: return NULL;
	}
}

const struct sg_insn *
sg_isa_find(const struct sg_isa *isa, enum sg_format format, unsigned number)
{
	if (number >= 1024 || !isa->index[format][number])
		return NULL;
	return &isa->insns[isa->index[format][number]];
}
