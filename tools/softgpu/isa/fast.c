/* SPDX-License-Identifier: MIT */
/* fast.c: which operations run by handlers written for the host's vector units. */
#include "fast.h"

#if defined(__x86_64__)

static enum sg_simd
host_simd(void)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return SG_SIMD_NONE;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return SG_SIMD_AVX512;
	return SG_SIMD_AVX2;
}

#define TABLES { [SG_SIMD_AVX2] = &sg_fast_avx2, [SG_SIMD_AVX512] = &sg_fast_avx512 }

#else

static enum sg_simd host_simd(void) { return SG_SIMD_NONE; }
#define TABLES { NULL }

#endif

static enum sg_simd limit = SG_SIMD_AVX512; /* atomic */

static enum sg_simd
simd(void)
{
	enum sg_simd most = __atomic_load_n(&limit, __ATOMIC_RELAXED), host = host_simd();
	return most < host ? most : host;
}

enum sg_simd
sg_simd_limit(enum sg_simd most)
{
	__atomic_store_n(&limit, most, __ATOMIC_RELAXED);
	return simd();
}

enum sg_simd
sg_simd_named(const char *name)
{
	static const char *const names[SG_SIMD_COUNT] = { "none", "avx2", "avx512" };
	unsigned i = 0;

	while (i < SG_SIMD_COUNT && strcmp(name, names[i]))
		i++;
	return i;
}

/* No modifiers, no DPP, whole results. Overlapping registers do no harm: what a lane reads is read before it writes. */
static bool
is_plain(const struct sg_op *op)
{
	if (op->dpp || (op->flags & (SG_OP_PARTIAL | SG_OP_CLAMP)))
		return false;
	for (unsigned i = 0; i < 3; i++)
		if (op->src[i].mods || op->src[i].sel || op->src[i].kind > SG_K_CONST)
			return false;
	return true;
}

static bool
in_vgprs(const struct sg_op *op, const struct sg_valu_op *v, unsigned from)
{
	for (unsigned i = from; i < 3; i++)
		if (v->src[i] != SG_T_NONE && v->src[i] != SG_T_MASK && op->src[i].kind != SG_K_VGPR)
			return false;
	return true;
}

static sg_handler *
valu_handler(const struct sg_fast *fast, const struct sg_op *op)
{
	const struct sg_valu_op *v = op->sem;

	if (!is_plain(op))
		return NULL;
	for (unsigned i = 0; i < fast->count; i++) {
		const struct sg_fast_valu *f = &fast->valu[i];
		if (strcmp(v->name, f->name))
			continue;
		if (in_vgprs(op, v, 0))
			return f->vgprs;
		return f->scalar && op->src[0].kind != SG_K_VGPR && in_vgprs(op, v, 1) ? f->scalar : f->any;
	}
	return NULL;
}

static sg_handler *
memory_handler(const struct sg_fast *fast, const struct sg_op *op)
{
	const struct sg_mem_op *m = op->sem;

	if (!m || m->bytes < 4 || m->bytes % 4 || m->format || (m->kind != SG_M_LOAD && m->kind != SG_M_STORE))
		return NULL;
	if (op->insn->family == SG_FAM_LDS)
		return op->insn->form ? NULL : fast->lds[m->addrs == 2][m->kind == SG_M_STORE];
	if (op->insn->form != SG_FORM_GLOBAL && op->insn->form != SG_FORM_FLAT)
		return NULL;
	return op->flags & SG_OP_TO_LDS ? NULL : fast->global[m->kind == SG_M_STORE];
}

sg_handler *
sg_fast_handler(const struct sg_op *op)
{
	static const struct sg_fast *const tables[SG_SIMD_COUNT] = TABLES;
	const struct sg_fast *fast = tables[simd()];

	if (!fast || !op->insn || op->run != op->insn->run)
		return NULL;
	switch (op->insn->family) {
	case SG_FAM_SALU: return sg_salu_quick(op);
	case SG_FAM_VALU: return valu_handler(fast, op);
	case SG_FAM_LDS:
	case SG_FAM_VMEM: return memory_handler(fast, op);
	default: return NULL;
	}
}
