/* SPDX-License-Identifier: MIT */
/* Decoding and execution of RDNA2 and RDNA3 instructions: every encoding class once, by hand-written words (assembled with
 * LLVM 19); what is no instruction stops the dispatch; random words never crash or hang. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/core.h"

#define CODE_VA 0x10000ull
#define DATA_VA 0x200000ull
#define HIGH_VA 0xffff800000200000ull /* the same data, above the hole */
#define SCRATCH_VA 0x400000ull

struct machine {
	struct sg_mem mem;
	uint8_t code[4096], data[8192], scratch[65536];
	struct sg_core *core;
	struct sg_dispatch d;
	struct sg_stop stop;
	volatile bool timeout;
	bool strict;
	uint32_t rsrc3;
};

static struct machine m;

static bool
lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	const uint32_t rw = SG_ACCESS_READ | SG_ACCESS_WRITE;
	const struct sg_span spans[] = {
		{ CODE_VA, sizeof m.code, m.code, SG_ACCESS_READ | SG_ACCESS_EXEC },
		{ DATA_VA, sizeof m.data, m.data, rw },
		{ SCRATCH_VA, sizeof m.scratch, m.scratch, rw },
		{ HIGH_VA, sizeof m.data, m.data, rw },
	};
	(void)mem;
	for (unsigned i = 0; i < sizeof spans / sizeof *spans; i++) {
		if (va - spans[i].va < spans[i].bytes) {
			*out = spans[i];
			return true;
		}
	}
	return false;
}

static bool
fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	(void)mem, (void)va, (void)access, (void)pc;
	return m.strict;
}

static const struct sg_mem_ops ops = { .lookup = lookup, .fault = fault };

static int
setup(void **state)
{
	(void)state;
	m.core = sg_core_create();
	m.mem.ops = &ops;
	return m.core == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	sg_core_destroy(m.core);
	return 0;
}

/* One wave of 32 or 64 lanes, one group. f32 denormals kept, IEEE, DX10_CLAMP; 1 KiB of LDS. */
static void
dispatch(enum sg_arch arch, bool wave32)
{
	m.timeout = false;
	m.strict = true;
	m.d = (struct sg_dispatch){
		.arch = arch, .wave32 = wave32, .pc = CODE_VA,
		.rsrc1 = 31 | 0xf0u << 12 | 1u << 21 | 1u << 23, .rsrc2 = 1 | 2 << 15, .rsrc3 = m.rsrc3,
		.threads = { wave32 ? 32 : 64, 1, 1 }, .partial = { wave32 ? 32 : 64, 1, 1 }, .groups = { 1, 1, 1 },
		.scratch_base = SCRATCH_VA, .scratch_wave_bytes = 8192, .scratch_waves = 1, .stop = &m.timeout,
	};
}

/* Runs words + s_endpgm from a known state: v[r] lane l = 100 r + l, s[r] = r, s[2:3] = DATA_VA, data and LDS dword i
 * = i. */
static struct sg_wave *
run_on(enum sg_arch arch, const uint32_t *words, unsigned count, bool wave32)
{
	static const uint32_t id[3];
	const uint32_t end = arch == SG_ARCH_RDNA3 ? 0xbfb00000 : 0xbf810000;
	dispatch(arch, wave32);
	memset(m.code, 0, sizeof m.code);
	memset(m.scratch, 0, sizeof m.scratch);
	memcpy(m.code, words, 4 * count);
	memcpy(m.code + 4 * count, &end, 4);
	for (unsigned i = 0; i < sizeof m.data / 4; i++)
		memcpy(m.data + 4 * i, &i, 4);
	sg_core_begin(m.core, &m.d, &m.mem, &m.stop);
	assert_int_equal(sg_cache_begin(m.core), 0);
	assert_int_equal(sg_group_init(m.core, id), 1);
	struct sg_wave *w = &m.core->waves[0];
	w->scratch_sgpr = SG_REG_SINK; /* s0 holds its own number here */
	for (unsigned i = 0; i < w->lds_bytes / 4; i++)
		memcpy(w->lds + 4 * i, &i, 4);
	for (unsigned half = 0; half < w->halves; half++)
		for (unsigned r = 0; r < 256; r++)
			for (unsigned l = 0; l < SG_LANES; l++)
				w->v[half][r][l] = 100 * r + half * SG_LANES + l;
	for (unsigned r = 0; r < 106; r++)
		w->sgpr[r] = r;
	w->sgpr[2] = (uint32_t)DATA_VA;
	w->sgpr[3] = 0;
	w->sgpr[SG_REG_VCC] = 0xf0f0f0f0;
	w->sgpr[SG_REG_M0] = 0;
	w->scc = 1;
	sg_group_run(m.core, 1);
	return w;
}

static struct sg_wave *
run(const uint32_t *words, unsigned count, bool wave32)
{
	return run_on(SG_ARCH_RDNA3, words, count, wave32);
}

/* Where a result is looked for: s0.., vREG by lane, or memory. */
enum where { S, V, LDS, MEM, SCRATCH_MEM, SCC };

struct example {
	const char *text;
	unsigned count;
	uint32_t words[10];
	enum where where;
	unsigned reg, lane;
	uint32_t expected;
};

static const struct example examples[] = {
	/* SOP2, with literal and carry */
	{ "s_add_u32 s0, 0x12345678, s1", 2, { 0x800001ff, 0x12345678 }, S, 0, 0, 0x12345679 },
	{ "s_addc_u32 s1, s2, 0", 1, { 0x82018002 }, S, 1, 0, (uint32_t)DATA_VA + 1 },
	{ "s_lshl_b64 s[2:3], s[2:3], 4", 1, { 0x84828402 }, S, 2, 0, (uint32_t)DATA_VA << 4 },
	/* SOP1, SOPC, SOPK */
	{ "s_and_saveexec_b32 s6, s7", 1, { 0xbe862007 }, S, SG_REG_EXEC, 0, 7 },
	{ "s_cmp_lt_i32 s0, s1", 1, { 0xbf040100 }, SCC, 0, 0, 1 },
	{ "s_movk_i32 s8, 0xff00", 1, { 0xb008ff00 }, S, 8, 0, 0xffffff00 },
	{ "s_cmpk_eq_u32 s8, 0xff00", 1, { 0xb488ff00 }, SCC, 0, 0, 0 },
	/* SMEM */
	{ "s_load_b64 s[10:11], s[2:3], 0x10", 2, { 0xf4040281, 0xf8000010 }, S, 11, 0, 5 },
	{ "s_mov_b32 s3, 0x8000; s_load_b64 s[10:11], s[2:3], 0x10: the upper 16 bits of an address are not looked at", 4,
	  { 0xbe8300ff, 0x8000, 0xf4040281, 0xf8000010 }, S, 11, 0, 5 },
	/* VOP1, VOP2, VOPC */
	{ "v_mov_b32 v2, 64", 1, { 0x7e0402c0 }, V, 2, 31, 64 },
	{ "v_lshlrev_b32 v1, 2, v0", 1, { 0x30020082 }, V, 1, 3, 12 },
	{ "v_mov_b32 v1, 1.0; v_fmaak_f32 v1, v1, v1, 3.0", 3, { 0x7e0202f2, 0x5a020301, 0x40400000 }, V, 1, 0,
	  0x40800000 },
	{ "v_cmp_gt_u32 vcc_lo, v1, v2", 1, { 0x7c980501 }, S, SG_REG_VCC, 0, 0 },
	/* VOP3 with modifiers, VOP3B, integer and lane forms */
	{ "v_mov_b32 v2, 1.0; v_add_f32 v1, -v2, |v2| clamp", 3, { 0x7e0402f2, 0xd5038201, 0x20020502 }, V, 1, 7, 0 },
	{ "v_add_co_u32 v1, s2, v2, v3", 2, { 0xd7000201, 0x00020702 }, V, 1, 1, 502 },
	{ "v_add_co_u32 v1, s2, v2, v3", 2, { 0xd7000201, 0x00020702 }, S, 2, 0, 0 },
	{ "v_mad_u64_u32 v[2:3], null, v0, v1, 0", 2, { 0xd6fe7c02, 0x02020300 }, V, 2, 2, 204 },
	{ "v_readlane_b32 s0, v1, 5", 2, { 0xd7600000, 0x00010b01 }, S, 0, 0, 105 },
	/* VOP3P: low halves crossed with high ones */
	{ "v_pk_add_u16 v1, v2, v3", 2, { 0xcc0a4001, 0x18020702 }, V, 1, 4, 508 },
	/* VOPD whose halves swap two registers */
	{ "v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1", 2, { 0xca100102, 0x01020101 }, V, 1, 9, 209 },
	{ "v_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v2, v1", 2, { 0xca100102, 0x01020101 }, V, 2, 9, 109 },
	/* DPP16, DPP8, DPP on VOP3 */
	{ "v_mov_b32_dpp v1, v0 row_shr:1", 2, { 0x7e0202fa, 0xff011100 }, V, 1, 5, 4 },
	{ "v_mov_b32_dpp v1, v0 row_shr:1: first lane of a row stays", 2, { 0x7e0202fa, 0xff011100 }, V, 1, 16, 116 },
	{ "v_mov_b32_dpp v1, v0 dpp8:[7,6,5,4,3,2,1,0]", 2, { 0x7e0202e9, 0x05397700 }, V, 1, 8, 15 },
	/* DS */
	{ "v_lshlrev_b32 v0, 2, v0; ds_store_b32 v0, v1 offset:4", 3, { 0x30000082, 0xd8340004, 0x00000100 }, LDS, 0, 6,
	  105 },
	{ "v_lshlrev_b32 v0, 2, v0; ds_load_2addr_b32 v[2:3], v0 offset0:1 offset1:2", 3,
	  { 0x30000082, 0xd8dc0201, 0x02000000 }, V, 3, 10, 12 },
	/* GLOBAL with scalar base, atomics returning the old value, SCRATCH, MUBUF cache control */
	{ "v_lshlrev_b32 v0, 2, v0; global_load_b32 v1, v0, s[2:3] offset:-4 of lane 1", 3,
	  { 0x30000082, 0xdc520004, 0x01020000 }, V, 1, 1, 2 },
	{ "v_mov_b32 v0, 0; global_atomic_add_u32 v1, v0, v2, s[2:3] glc", 3, { 0x7e000280, 0xdcd64000, 0x01020200 }, V,
	  1, 1, 200 },
	{ "scratch_store_b32 off, v1, s4 offset:8", 2, { 0xdc690008, 0x00040100 }, SCRATCH_MEM, 0, 3 * 32 + 5, 105 },
	{ "buffer_gl0_inv; v_mov_b32 v2, 64", 3, { 0xe0ac0000, 0x00000000, 0x7e0402c0 }, V, 2, 0, 64 },
	/* a carry in an odd register; compare-and-store has its operands the other way round than RDNA2's */
	{ "v_add_co_ci_u32_e64 v4, null, v0, v1, s5",
	  2, { 0xd5207c04, 0x00160300 }, V, 4, 2, 105 },
	{ "v_mov_b32 v0, 0; v_mov_b32 v1, 1; ds_cmpstore_b32 v0, v2, v1 offset:4",
	  4, { 0x7e000280, 0x7e020281, 0xd8400004, 0x00010200 }, LDS, 0, 1, 200 },
	{ "stride 4, 64 records, word3 0x2afac: buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen",
	  8, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b00ff, 0x0002afac, 0xe00c0000, 0x80820400 }, V, 4, 5, 0x3ca0a0a1 },
	{ "stride 4, 64 records, word3 0xd004: buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen",
	  8, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b00ff, 0x0000d004, 0xe00c0000, 0x80820400 }, V, 7, 5, 0 },
	{ "stride 4, 64 records, word3 0x0: tbuffer_load_format_xyzw v[4:7], v0, s[8:11], 0 format:[BUF_FMT_16_16_UINT] idxen",
	  7, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b0080, 0xe8d98000, 0x80820400 }, V, 4, 5, 5 },
	{ "stride 4, 64 records, word3 0x0: v_mov_b32 v1, 1.0; v_mov_b32 v2, -2.0; tbuffer_store_format_xy v[1:2], v0, s[8:11], 0 format:[BUF_FMT_16_16_FLOAT] idxen",
	  9, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b0080, 0x7e0202f2, 0x7e0402f5, 0xe8ea8000,
	    0x80820100 }, MEM, 0, 3, 0xc0003c00 },
	{ "stride 4, 64 records, word3 0x0: v_mov_b32 v1, 1.0; v_mov_b32 v2, 2.0; v_mov_b32 v3, 0.5; tbuffer_store_format_xyz v[1:3], v0, s[8:11], 0 format:[BUF_FMT_10_11_11_FLOAT] idxen",
	  10, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b0080, 0x7e0202f2, 0x7e0402f4, 0x7e0602f0,
	    0xe8f30000, 0x80820100 }, MEM, 0, 3, 0x702003c0 },
	{ "stride 4, 64 records, word3 0x0: tbuffer_load_d16_format_xy v1, v0, s[8:11], 0 format:[BUF_FMT_8_8_UINT] idxen",
	  7, { 0xbe880002, 0xbe8900ff, 0x00040000, 0xb00a0040, 0xbe8b0080, 0xe8948000, 0x80820100 }, V, 1, 5, 5 },
};

static const struct example examples_gfx10[] = {
	{ "s_ff0_i32_b32 s0, s7",
	  1, { 0xbe801107 }, S, 0, 0, 3 },
	{ "s_andn2_b32 s0, s7, s5",
	  1, { 0x8a000507 }, S, 0, 0, 2 },
	{ "s_mov_b32 m0, 9; s_mov_b32 s0, m0",
	  2, { 0xbefc0389, 0xbe80037c }, S, 0, 0, 9 },
	{ "s_add_u32 null, s0, s1; s_cselect_b32 s0, 1, 2",
	  2, { 0x807d0100, 0x85008281 }, S, 0, 0, 2 },
	{ "s_load_dwordx2 s[10:11], s[2:3], 0x10",
	  2, { 0xf4040281, 0xfa000010 }, S, 11, 0, 5 },
	{ "v_add_nc_u32_sdwa v1, v0, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_0",
	  2, { 0x4a0204f9, 0x00001100 }, V, 1, 3, 0xce67 },
	{ "v_mov_b32_sdwa v1, sext(v2) dst_sel:DWORD src0_sel:BYTE_0",
	  2, { 0x7e0202f9, 0x00080602 }, V, 1, 0, 0xffffffc8 },
	{ "v_cvt_f32_u32_sdwa v1, v2 dst_sel:DWORD src0_sel:WORD_1",
	  2, { 0x7e020cf9, 0x00050602 }, V, 1, 0, 0 },
	{ "v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0",
	  2, { 0x7e0202f9, 0x00000d02 }, V, 1, 0, 0x00c80000 },
	{ "v_cmp_gt_u32_sdwa s4, v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_1",
	  2, { 0x7d8802f9, 0x01008400 }, S, 4, 0, 0xfffffffe },
	{ "v_mov_b32_dpp v1, v0 row_shr:1",
	  2, { 0x7e0202fa, 0xff011100 }, V, 1, 5, 4 },
	{ "v_add_co_ci_u32_e64 v4, null, v0, v1, s5",
	  2, { 0xd5287d04, 0x00160300 }, V, 4, 2, 105 },
	{ "v_mov_b32 v200, 7; v_cvt_f16_u16 v1, v200",
	  2, { 0x7f900287, 0x7e02a1c8 }, V, 1, 0, 0x4700 },
	{ "v_lshlrev_b32 v0, 2, v0; ds_cmpst_b32 v0, v0, v2 offset:4; ds_read_b32 v3, v0 offset:4",
	  5, { 0x34000082, 0xd8400004, 0x00020000, 0xd8d80004, 0x03000000 }, V, 3, 5, 6 },
	{ "v_mov_b32 v0, 0; v_mov_b32 v1, 1; ds_cmpst_b32 v0, v1, v2 offset:4",
	  4, { 0x7e000280, 0x7e020281, 0xd8400004, 0x00020100 }, LDS, 0, 1, 200 },
	{ "v_lshlrev_b32 v0, 2, v0; global_load_dword v1, v0, s[2:3] offset:4 glc dlc",
	  3, { 0x34000082, 0xdc319004, 0x01020000 }, V, 1, 1, 2 },
	{ "v_mov_b32 v0, 0; global_atomic_add v1, v0, v2, s[2:3] glc",
	  3, { 0x7e000280, 0xdcc98000, 0x01020200 }, V, 1, 1, 200 },
	{ "s_mov_b32 s4, 0x400000; s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s4; s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), null; s_mov_b32 s5, 4; scratch_store_dword off, v1, s5 offset:8",
	  7, { 0xbe8403ff, 0x00400000, 0xb984f814, 0xb9fdf815, 0xbe850384, 0xdc704008, 0x00050100 }, SCRATCH_MEM, 0, 101, 105 },
	{ "scratch resource: buffer_store_dword v1, off, s[8:11], 0 offset:12",
	  9, { 0xbe8803ff, 0x00400000, 0xbe8903ff, 0x80000000, 0xbe8a03c1, 0xbe8b03ff, 0x31c16000, 0xe070000c,
	    0x80020100 }, SCRATCH_MEM, 0, 101, 105 },
	{ "scratch resource: v_mov_b32 v3, 4; buffer_store_byte v1, v3, s[8:11], 0 offen offset:9",
	  10, { 0xbe8803ff, 0x00400000, 0xbe8903ff, 0x80000000, 0xbe8a03c1, 0xbe8b03ff, 0x31c16000, 0x7e060284,
	    0xe0601009, 0x80020103 }, SCRATCH_MEM, 0, 101, 0x6900 },
	{ "stride 8, 64 records, word3 0x20016000: buffer_load_dword v3, v0, s[8:11], 0 idxen offset:4",
	  8, { 0xbe880302, 0xbe8903ff, 0x00080000, 0xb00a0040, 0xbe8b03ff, 0x20016000, 0xe0302004, 0x80020300 }, V, 3, 5, 11 },
	{ "stride 8, 4 records, word3 0x16000: buffer_load_dword v3, v0, s[8:11], 0 idxen offset:4",
	  8, { 0xbe880302, 0xbe8903ff, 0x00080000, 0xb00a0004, 0xbe8b03ff, 0x00016000, 0xe0302004, 0x80020300 }, V, 3, 5, 0 },
	{ "stride 0, 16 records, word3 0x30016000: v_lshlrev_b32 v0, 2, v0; buffer_load_dword v3, v0, s[8:11], 0 offen",
	  8, { 0xbe880302, 0xbe890380, 0xb00a0010, 0xbe8b03ff, 0x30016000, 0x34000082, 0xe0301000, 0x80020300 }, V, 3, 5, 0 },
	{ "stride 4, 64 records, word3 0x38fac: buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen",
	  8, { 0xbe880302, 0xbe8903ff, 0x00040000, 0xb00a0040, 0xbe8b03ff, 0x00038fac, 0xe00c2000, 0x80020400 }, V, 4, 5, 0x3ca0a0a1 },
	{ "stride 4, 64 records, word3 0x0: tbuffer_load_format_xyzw v[4:7], v0, s[8:11], 0 format:[BUF_FMT_16_16_UINT] idxen",
	  7, { 0xbe880302, 0xbe8903ff, 0x00040000, 0xb00a0040, 0xbe8b0380, 0xe8db2000, 0x80020400 }, V, 7, 5, 1 },
	{ "stride 4, 64 records, word3 0x0: v_mov_b32 v1, 1.0; v_mov_b32 v2, 0.5; tbuffer_store_format_xy v[1:2], v0, s[8:11], 0 format:[BUF_FMT_16_16_UNORM] idxen",
	  9, { 0xbe880302, 0xbe8903ff, 0x00040000, 0xb00a0040, 0xbe8b0380, 0x7e0202f2, 0x7e0402f0, 0xe8bd2000,
	    0x80020100 }, MEM, 0, 3, 0x8000ffff },
	{ "v_mov_b32 v1, -1.0; v_log_f32 v1, v1",
	  2, { 0x7e0202f3, 0x7e024f01 }, V, 1, 0, 0x7fc00000 },
};

static uint32_t
look(const struct sg_wave *w, const struct example *e)
{
	uint32_t value = 0;
	switch (e->where) {
	case S: return w->sgpr[e->reg];
	case V: return w->v[0][e->reg][e->lane];
	case SCC: return w->scc;
	case LDS: memcpy(&value, w->lds + 4 * e->lane, 4); break;
	case MEM: memcpy(&value, m.data + 4 * e->lane, 4); break;
	case SCRATCH_MEM: memcpy(&value, m.scratch + 4 * e->lane, 4); break;
	}
	return value;
}

static void
check_examples(enum sg_arch arch, const struct example *e, unsigned count)
{
	for (; count; count--, e++) {
		const struct sg_wave *w = run_on(arch, e->words, e->count, true);
		if (m.stop.reason != SG_STOP_NONE)
			fail_msg("%s stopped: %s", e->text, m.stop.text);
		if (look(w, e) != e->expected)
			fail_msg("%s gave %08x, expected %08x", e->text, look(w, e), e->expected);
	}
}

static void
test_examples(void **state)
{
	(void)state;
	check_examples(SG_ARCH_RDNA3, examples, sizeof examples / sizeof *examples);
	check_examples(SG_ARCH_RDNA2, examples_gfx10, sizeof examples_gfx10 / sizeof *examples_gfx10);
}

/* RDNA2: separate work-item ids, group info, and the scratch offset behind the system SGPRs. */
static void
test_initial_state_gfx10(void **state)
{
	const uint32_t end = 0xbf810000;
	(void)state;
	dispatch(SG_ARCH_RDNA2, true);
	memcpy(m.code, &end, 4);
	m.d.rsrc2 = 1 | 2 << 1 | 1 << 7 | 1 << 8 | 1 << 10 | 2 << 11;
	m.d.user_data[0] = 11;
	m.d.user_data[1] = 12;
	for (unsigned i = 0; i < 3; i++)
		m.d.threads[i] = m.d.partial[i] = 4;
	m.d.scratch_waves = 4;
	m.d.scratch_wave_bytes = 2048;
	assert_int_equal(sg_core_run(m.core, &m.d, &m.mem, 0, 1, &m.stop), SG_STOP_NONE);
	const struct sg_wave *w = &m.core->waves[1];
	assert_int_equal(w->sgpr[1], 12);
	assert_int_equal(w->sgpr[2], 0);		/* group x, y */
	assert_int_equal(w->sgpr[4], 2 | 1 << 6);	/* two waves, this is the second */
	assert_int_equal(w->sgpr[5], 2048);		/* its scratch */
	assert_int_equal(w->v[0][0][7], 3);
	assert_int_equal(w->v[0][1][7], 1);
	assert_int_equal(w->v[0][2][7], 2);
}

/* A compare that overwrites its own scalar source must not see half a result. */
static void
test_wave64_mask(void **state)
{
	(void)state;
	const uint32_t words[] = { 0xd44c0004, 0x00020004 }; /* v_cmp_gt_u32 s[4:5], s4, v0 */
	const struct sg_wave *w = run(words, 2, false);
	assert_int_equal(m.stop.reason, SG_STOP_NONE);
	assert_int_equal(w->sgpr[4], 0xf);
	assert_int_equal(w->sgpr[5], 0);
}

/* Mesa moves data between the halves of a wave through VGPRs that both have. */
static void
test_shared_vgprs(void **state)
{
	const uint32_t words[] = {
		0x7f0002fa, 0xcf00e400, /* v_mov_b32_dpp v128, v0 quad_perm:[0,1,2,3] row_mask:0xc bank_mask:0xf */
		0x7e020380,		/* v_mov_b32 v1, v128 */
	};
	(void)state;
	m.rsrc3 = 1;
	const struct sg_wave *w = run_on(SG_ARCH_RDNA2, words, 3, false);
	m.rsrc3 = 0;
	assert_int_equal(m.stop.reason, SG_STOP_NONE);
	assert_int_equal(w->v[0][1][5], 37);
	assert_int_equal(w->v[1][1][5], 37);
}

static void
test_illegal(void **state)
{
	static const struct { uint32_t words[2]; const char *text; } illegal[] = {
		{ { 0xbf9f0000 }, "s_code_end" },
		{ { 0xd8600000, 0 }, "ds_gws_sema_release_all" },
		{ { 0xd7ff0000, 0 }, "not an instruction" },
		{ { 0xffffffff, 0 }, "not an instruction" },
		{ { 0x7e0202d5 }, "operand code" },	/* v_mov_b32 from reserved code 213 */
		{ { 0xf0001f00, 0 }, "image_load" },
		{ { 0x7e0202fa, 0xff014200 }, "DPP control" }, /* row_bcast:15 */
		{ { 0xd7600000, 0x00020301 }, "vector register" }, /* v_readlane_b32 s0, v1, v1 */
		{ { 0x7e0002f9, 0 }, "operand code" }, /* no SDWA on gfx11 */
	};
	(void)state;
	for (unsigned i = 0; i < sizeof illegal / sizeof *illegal; i++) {
		run(illegal[i].words, 2, true);
		assert_int_equal(m.stop.reason, SG_STOP_ILLEGAL);
		assert_int_equal(m.stop.pc, CODE_VA);
		assert_int_equal(m.stop.words[0], illegal[i].words[0]);
		assert_non_null(strstr(m.stop.text, illegal[i].text));
	}
}

static void
test_stops(void **state)
{
	(void)state;
	const uint32_t trap = 0xbf900002, loop = 0xbfa0ffff; /* s_trap 2; s_branch to itself */
	const uint32_t store[] = { 0x7e000280, 0xdc6a0000, 0x00040100 }; /* global_store_b32 v0, v1, s[4:5] */
	run(&trap, 1, true);
	assert_int_equal(m.stop.reason, SG_STOP_TRAP);
	dispatch(SG_ARCH_RDNA3, true);
	memcpy(m.code, &loop, 4);
	m.timeout = true;
	assert_int_equal(sg_core_run(m.core, &m.d, &m.mem, 0, 1, &m.stop), SG_STOP_TIMEOUT);
	run(store, 3, true);
	assert_int_equal(m.stop.reason, SG_STOP_FAULT);
	dispatch(SG_ARCH_RDNA3, true);
	m.d.pc = DATA_VA; /* mapped, but not executable */
	assert_int_equal(sg_core_run(m.core, &m.d, &m.mem, 0, 1, &m.stop), SG_STOP_FAULT);
}

/* The decode cache must notice that code changed between two runs. */
static void
test_code_changes(void **state)
{
	(void)state;
	const uint32_t one[] = { 0x7e0402c0 }, two[] = { 0x7e0402c1 };
	assert_int_equal(run(one, 1, true)->v[0][2][0], 64);
	assert_int_equal(run(two, 1, true)->v[0][2][0], UINT32_MAX);
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint32_t
random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

/* Random words of an encoding class, so that most of them decode. */
static uint32_t
likely_word(void)
{
	static const uint32_t class[][2] = { /* fixed bits, mask of random ones */
		{ 0x80000000, 0x3fffffff }, { 0xbe800000, 0x007fffff }, { 0xbf000000, 0x00ffffff },
		{ 0xb0000000, 0x0fffffff }, { 0xf4000000, 0x03ffffff }, { 0x00000000, 0x7fffffff },
		{ 0x7e000000, 0x01ffffff }, { 0x7c000000, 0x01ffffff }, { 0xd4000000, 0x03ffffff },
		{ 0xcc000000, 0x007fffff }, { 0xc8000000, 0x03ffffff }, { 0xd8000000, 0x03fdffff },
		{ 0xdc000000, 0x03ffffff }, { 0xe0000000, 0x03ffffff },
	};
	uint32_t r = random_word();
	if (r % 4 == 0)
		return random_word();
	const uint32_t *c = class[r / 4 % (sizeof class / sizeof *class)];
	return c[0] | (random_word() & c[1]);
}

static void
raise_stop(int signal)
{
	(void)signal;
	m.timeout = true;
}

static void
fill_garbage(enum sg_arch arch, unsigned words)
{
	/* s_branch to the start */
	const uint32_t again = (arch == SG_ARCH_RDNA3 ? 0xbfa00000 : 0xbf820000) | (0xffff - words);
	for (unsigned i = 0; i < words; i++) {
		uint32_t w = likely_word();
		memcpy(m.code + 4 * i, &w, 4);
	}
	memcpy(m.code + 4 * words, &again, 4);
}

/* Memory that another core changes between any two looks at it. */
static void
moving_read(struct sg_mem *mem, const struct sg_span *span, uint64_t va, void *dst, size_t bytes, enum sg_path path)
{
	static uint32_t looks;
	uint32_t values[4];

	(void)mem, (void)path;
	for (unsigned i = 0; i < 4; i++)
		values[i] = span->va == DATA_VA ? 1000 * ++looks : 0;
	memcpy(dst, span->va == DATA_VA ? (const uint8_t *)values : span->host + (va - span->va), bytes);
}

/* What a whole wave reads from one address is one value, in both halves; from two addresses it need not be. */
static void
test_one_value(void **state)
{
	static const struct sg_mem_ops moving = { .lookup = lookup, .fault = fault, .read = moving_read };
	/* v_mov_b32 v0, 0; global_load_b64 v[4:5], v0, s[2:3]; v_lshlrev_b32 v1, 2, v1; global_load_b32 v6, v1, s[2:3] */
	static const uint32_t words[] = { 0x7e000280, 0xdc560000, 0x04020000, 0x30020282, 0xdc520000, 0x06020001 };
	struct sg_wave *w;

	(void)state;
	m.mem.ops = &moving;
	m.mem.hostile = true;
	w = run(words, 6, false);
	m.mem.ops = &ops;
	m.mem.hostile = false;
	for (unsigned half = 0; half < 2; half++)
		for (unsigned i = 0; i < SG_LANES; i++) {
			assert_int_equal(w->v[half][4][i], w->v[0][4][0]);
			assert_int_equal(w->v[half][5][i], w->v[0][5][0]);
		}
	assert_int_not_equal(w->v[0][4][0], 0);
	assert_int_not_equal(w->v[0][6][0], w->v[0][6][1]);
}

/* Three of four streams end at their first jump; the rest loop until a watchdog of half a millisecond. */
static void
test_garbage(void **state)
{
	unsigned reasons[SG_STOP_DEADLOCK + 1] = { 0 };
	const struct itimerval watchdog = { .it_interval.tv_usec = 500, .it_value.tv_usec = 500 };
	(void)state;
	signal(SIGALRM, raise_stop);
	setitimer(ITIMER_REAL, &watchdog, NULL);
	for (unsigned stream = 0; stream < 20000; stream++) {
		dispatch(stream & 8 ? SG_ARCH_RDNA2 : SG_ARCH_RDNA3, stream % 3 != 0);
		m.strict = stream & 4;
		m.d.rsrc2 |= 15 << 1;
		for (unsigned i = 0; i < 16; i++)
			m.d.user_data[i] = i & 1 ? 0 : (uint32_t)DATA_VA + (random_word() & 0xffc);
		fill_garbage(m.d.arch, 8 + random_word() % 56);
		m.timeout = stream & 3;
		enum sg_stop_reason reason = sg_core_run(m.core, &m.d, &m.mem, 0, 1, &m.stop);
		assert_in_range(reason, SG_STOP_NONE, SG_STOP_DEADLOCK);
		reasons[reason]++;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	assert_true(reasons[SG_STOP_ILLEGAL] > 1000);
	assert_true(reasons[SG_STOP_TIMEOUT] > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples), cmocka_unit_test(test_initial_state_gfx10),
		cmocka_unit_test(test_wave64_mask), cmocka_unit_test(test_shared_vgprs), cmocka_unit_test(test_illegal),
		cmocka_unit_test(test_stops), cmocka_unit_test(test_code_changes), cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_garbage),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
