/* SPDX-License-Identifier: MIT */
/* corpus.c: instruction words for the comparison: each opcode with operands of every kind, and random words. */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint32_t
rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 16) % below);
}

static uint32_t
bits(unsigned n)
{
	return rnd(1u << n);
}

static bool
one_in(unsigned n)
{
	return rnd(n) == 0;
}

/* Scalar registers, aligned for any tuple. */
static uint32_t
sgpr(void)
{
	static const uint8_t codes[] = { 0, 4, 8, 64, 100, 106, 108, 112, 126 };
	return codes[rnd(sizeof codes)];
}

static uint32_t
scalar(void)
{
	static const uint8_t constants[] = { 124, 125, 128, 129, 192, 193, 208, 235, 236, 237,
					     238, 240, 243, 247, 248, 251, 252, 253, 255 };
	return one_in(2) ? sgpr() : constants[rnd(sizeof constants)];
}

static uint32_t
source(void)
{
	return one_in(3) ? scalar() : 256 + rnd(120);
}

/* Sources an operation has; LLVM wants unused fields 0. */
static unsigned
sources_of(const struct sg_insn *insn)
{
	const struct sg_valu_op *v = insn->sem;
	unsigned n = 0;
	if (insn->family == SG_FAM_LANE)
		return insn->form & 3;
	if (insn->family != SG_FAM_VALU)
		return 3;
	while (n < 3 && v->src[n] != SG_T_NONE)
		n++;
	return n + ((v->flags & SG_V_READS_MASK) && n == 2); /* the mask is a source too */
}

static bool
reads_mask(const struct sg_insn *insn)
{
	const struct sg_valu_op *v = insn->sem;
	return insn->family == SG_FAM_VALU && (v->flags & SG_V_READS_MASK) && v->src[2] == SG_T_NONE;
}

static bool
is_float(const struct sg_insn *insn)
{
	const struct sg_valu_op *v = insn->sem;
	return insn->family == SG_FAM_VALU && (v->src[0] == SG_T_F16 || v->src[0] == SG_T_F32 || v->src[0] == SG_T_F64);
}

static bool
is_half(const struct sg_insn *insn)
{
	const struct sg_valu_op *v = insn->sem;
	return insn->family == SG_FAM_VALU && (v->dst == SG_T_F16 || v->dst == SG_T_B16);
}

static void
vector64(const struct sg_isa *isa, const struct sg_insn *insn, struct entry *e, bool dpp)
{
	static const uint8_t shift[3] = { 0, 9, 18 };
	unsigned n = sources_of(insn);
	for (unsigned i = 0; i < n; i++)
		e->words[1] |= (i == 2 && reads_mask(insn) ? sgpr() : source()) << shift[i];
	if (one_in(4) && is_float(insn))
		e->words[1] |= bits(n) << 29;
	if (one_in(8) && is_float(insn) && !dpp)
		e->words[1] |= bits(2) << 27;
	if (one_in(4) && is_float(insn))
		e->words[0] |= bits(n) << 8;
	if (one_in(6) && is_float(insn))
		e->words[0] |= 0x8000;
	if (one_in(3) && is_half(insn) && dpp)
		e->words[0] |= bits(n) << 11;
	if (dpp && isa->arch == SG_ARCH_RDNA3 && one_in(6)) {
		e->words[1] = (e->words[1] & ~0x1ffu) | (one_in(2) ? 250 : 233);
		e->words[2] = (e->words[2] & 0xff) | 0xff08e400;
	}
}

/* Address, two data registers and a destination, as far as the operation has them. */
static uint32_t
lds_fields(const struct sg_insn *insn)
{
	const struct sg_mem_op *m = insn->sem;
	uint32_t r = 0;
	bool two = m && (m->addrs == 2 || m->atomic == SG_A_CMPSWAP || m->atomic == SG_A_FCMPSWAP ||
			 m->atomic == SG_A_MSKOR || m->atomic == SG_A_WRAP);
	bool counter = !strcmp(insn->key, "ds_append") || !strcmp(insn->key, "ds_consume");

	if (!insn->form && !counter)
		r |= rnd(200);
	if ((m && m->kind != SG_M_LOAD) || strstr(insn->key, "permute"))
		r |= rnd(200) << 8;
	if (two && m->kind != SG_M_LOAD)
		r |= rnd(200) << 16;
	if (!m || m->kind == SG_M_LOAD || m->returns || (m->kind == SG_M_ATOMIC && m->addrs == 2))
		r |= rnd(200) << 24;
	return r;
}

static void
memory(const struct sg_isa *isa, const struct sg_insn *insn, struct entry *e, enum sg_format format)
{
	bool gfx10 = isa->arch == SG_ARCH_RDNA2;
	uint32_t null = gfx10 ? 125 : 124;
	e->words[1] = rnd(200) | rnd(200) << 8;
	switch (format) {
	case SG_FMT_DS: e->words[1] = lds_fields(insn); break;
	case SG_FMT_FLAT: case SG_FMT_GLOBAL: case SG_FMT_SCRATCH:
		e->words[1] |= (one_in(2) || format == SG_FMT_FLAT ? null : rnd(50) * 2) << 16 | rnd(200) << 24;
		if (format == SG_FMT_SCRATCH && !gfx10)
			e->words[1] |= bits(1) << 23;
		break;
	default: e->words[1] |= rnd(24) << 16 | (one_in(2) ? 128 : sgpr()) << 24; break;
	}
	if (one_in(2))
		e->words[0] |= bits(12) & (format == SG_FMT_FLAT ? 0x7ff : 0xfff);
	if (format == SG_FMT_DS)
		e->words[0] = (e->words[0] & ~0xffffu) | (one_in(2) ? bits(16) : 0);
}

static void
flags(const struct sg_isa *isa, struct entry *e, enum sg_format format)
{
	bool gfx10 = isa->arch == SG_ARCH_RDNA2, buffer = format == SG_FMT_MUBUF || format == SG_FMT_MTBUF;
	if (buffer && gfx10)
		e->words[0] |= bits(2) << 12 | bits(2) << 14;
	else if (buffer) {
		e->words[0] |= bits(3) << 12;
		e->words[1] |= bits(2) << 22;
	} else if (format != SG_FMT_DS)
		e->words[0] |= gfx10 ? bits(1) << 12 | bits(2) << 16 : bits(3) << 13;
	if (buffer && one_in(8)) /* tfe */
		e->words[1] |= 1u << (gfx10 ? 23 : 21);
	if (format == SG_FMT_MTBUF)
		e->words[0] |= rnd(gfx10 ? 128 : 64) << 19;
}

/* Dimension, mask, flags and, now and then, registers of the address one by one in further dwords. */
static void
image(const struct sg_isa *isa, const struct sg_insn *insn, struct entry *e)
{
	bool gfx10 = isa->arch == SG_ARCH_RDNA2, one = strstr(insn->name, "resinfo");
	uint32_t dim = rnd(6), dmask = one_in(3) ? 15 : 1 + rnd(15);
	/* LLVM takes its own way where a list of registers is not needed or masks do not suit an atomic */
	uint32_t extra = (dim == 2 || dim == 3 || dim == 5) && !one ? bits(1) : 0;

	if (strstr(insn->name, "cmpswap"))
		dmask = one_in(2) ? 3 : 15;
	else if (strstr(insn->name, "atomic"))
		dmask = one_in(2) ? 1 : 3;
	e->words[0] |= dmask << 8 | dim << (gfx10 ? 3 : 2) | extra << (gfx10 ? 1 : 0);
	e->words[1] = rnd(200) | rnd(200) << 8 | rnd(24) << 16;
	if (one_in(2))
		e->words[0] |= gfx10 ? bits(1) << 7 | bits(2) << 12 | bits(1) << 25 : bits(1) << 7 | bits(3) << 12;
	bool atomic = strstr(insn->name, "atomic"); /* LLVM knows no status of those that move 64 bits */
	if (one_in(4)) /* r128, tfe, lwe */
		e->words[0] |= (gfx10 && !atomic ? bits(3) : bits(1)) << 15;
	if (one_in(4)) /* a16, d16 */
		e->words[gfx10] |= bits(2) << (gfx10 ? 30 : 16);
	if (!gfx10 && !atomic && one_in(6)) /* tfe, lwe */
		e->words[1] |= bits(2) << 21;
}

static uint32_t
opcode_gfx10(enum sg_format format, uint32_t n, uint32_t *hi)
{
	switch (format) {
	case SG_FMT_FLAT: return 0xdc000000 | n << 18;
	case SG_FMT_SCRATCH: return 0xdc004000 | n << 18;
	case SG_FMT_GLOBAL: return 0xdc008000 | n << 18;
	case SG_FMT_MUBUF: return 0xe0000000 | (n & 127) << 18 | (n >> 7) << 25;
	case SG_FMT_MTBUF: *hi |= (n >> 3) << 21; return 0xe8000000 | (n & 7) << 16;
	case SG_FMT_MIMG: return 0xf0000000 | (n & 127) << 18 | n >> 7;
	case SG_FMT_VINTRP: return 0xc8000000 | n << 16;
	default: return 0;
	}
}

static uint32_t
opcode_gfx11(enum sg_format format, uint32_t n)
{
	switch (format) {
	case SG_FMT_FLAT: return 0xdc000000 | n << 18;
	case SG_FMT_SCRATCH: return 0xdc010000 | n << 18;
	case SG_FMT_GLOBAL: return 0xdc020000 | n << 18;
	case SG_FMT_MUBUF: return 0xe0000000 | n << 18;
	case SG_FMT_MTBUF: return 0xe8000000 | n << 15;
	case SG_FMT_MIMG: return 0xf0000000 | n << 18;
	case SG_FMT_VOPDX: return 0xc8000000 | n << 22;
	case SG_FMT_VINTERP: return 0xcd000000 | n << 16;
	case SG_FMT_LDSDIR: return 0xce000000 | n << 20;
	default: return 0;
	}
}

/* First dword with the encoding's and the opcode's bits. */
static uint32_t
opcode(const struct sg_isa *isa, enum sg_format format, uint32_t n, uint32_t *hi)
{
	switch (format) {
	case SG_FMT_SOP1: return 0xbe800000 | n << 8;
	case SG_FMT_SOP2: return 0x80000000 | n << 23;
	case SG_FMT_SOPC: return 0xbf000000 | n << 16;
	case SG_FMT_SOPK: return 0xb0000000 | n << 23;
	case SG_FMT_SOPP: return 0xbf800000 | n << 16;
	case SG_FMT_SMEM: return 0xf4000000 | n << 18;
	case SG_FMT_VOP1: return 0x7e000000 | n << 9;
	case SG_FMT_VOP2: return n << 25;
	case SG_FMT_VOPC: return 0x7c000000 | n << 17;
	case SG_FMT_VOP3: return 0xd4000000 | n << 16;
	case SG_FMT_VOP3P: return 0xcc000000 | n << 16;
	case SG_FMT_DS: return 0xd8000000 | n << 18;
	case SG_FMT_EXP: return 0xf8000000;
	default: return isa->arch == SG_ARCH_RDNA2 ? opcode_gfx10(format, n, hi) : opcode_gfx11(format, n);
	}
}

static void
smem(const struct sg_isa *isa, struct entry *e)
{
	static const uint32_t offsets[] = { 0, 4, 0x10, 0xffffc, 0x1fff00 };
	uint32_t null = isa->arch == SG_ARCH_RDNA2 ? 125 : 124;
	e->words[0] |= (rnd(6) * 16) << 6 | rnd(16) * 2;
	e->words[1] = offsets[rnd(5)] | (one_in(3) ? sgpr() : null) << 25;
	if (one_in(4))
		e->words[0] |= isa->arch == SG_ARCH_RDNA2 ? bits(1) << 16 | bits(1) << 14 : bits(2) << 13;
	if (one_in(6)) { /* those without operands */
		e->words[0] &= ~0x1fffu;
		e->words[1] = 0;
	}
}

static void
vopd(const struct sg_isa *isa, struct entry *e)
{
	static const uint8_t y[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18 };
	(void)isa;
	e->words[0] |= (uint32_t)y[rnd(16)] << 17 | (256 + rnd(64) * 4) | rnd(64) * 4 << 9;
	e->words[1] = (257 + rnd(63) * 4) | (rnd(63) * 4 + 1) << 9 | rnd(100) << 17 | rnd(200) << 24;
	if (one_in(4))
		e->words[0] = (e->words[0] & ~0x1ffu) | scalar();
}

/* First source of VOP1, VOP2 and VOPC, and the extra dword of SDWA and DPP, with modifiers where there are operands
 * for them. */
static uint32_t
extended_source(const struct sg_isa *isa, const struct sg_insn *insn, enum sg_format format, uint32_t *extra)
{
	static const uint16_t controls[] = { 0x1b, 0x101, 0x10f, 0x111, 0x12f, 0x140, 0x141, 0x150, 0x15f, 0x160, 0x16f };
	bool two = format != SG_FMT_VOP1, compare = format == SG_FMT_VOPC;
	uint32_t modifiers = is_float(insn) ? bits(two ? 4 : 2) : 0;

	switch (rnd(6)) {
	case 0:
		*extra = rnd(120) | (uint32_t)controls[rnd(11)] << 8 | bits(2) << 18 | modifiers << 20 | bits(8) << 24;
		return 250;
	case 1: *extra = rnd(120) | bits(12) << 8 | bits(12) << 20; return 233 + rnd(2);
	case 2:
		if (isa->arch != SG_ARCH_RDNA2)
			return source();
		*extra = rnd(100) | rnd(7) << 16 | (modifiers & 3) << 20;
		*extra |= compare ? (one_in(2) ? 0x8000 | sgpr() << 8 : 0) : rnd(7) << 8 | rnd(3) << 11;
		*extra |= two ? rnd(7) << 24 | modifiers >> 2 << 28 : 0;
		return 249;
	default: return source();
	}
}

static void
short_vector(const struct sg_isa *isa, const struct sg_insn *insn, struct entry *e, enum sg_format format)
{
	uint32_t extra = e->words[1];
	e->words[0] |= extended_source(isa, insn, format, &extra);
	e->words[1] = extra;
	if (format != SG_FMT_VOPC)
		e->words[0] |= rnd(120) << 17;
	if (format != SG_FMT_VOP1)
		e->words[0] |= rnd(100) << 9;
}

/* One form of an opcode. Words that a field does not use hold random literals. */
static void
build(const struct sg_isa *isa, enum sg_format format, uint32_t number, struct entry *e)
{
	const struct sg_insn *insn = sg_isa_find(isa, format, number);
	uint32_t hi = 0;
	for (unsigned i = 0; i < MAX_WORDS; i++)
		e->words[i] = one_in(3) ? rnd(100) : bits(16) | bits(16) << 16;
	e->words[0] = opcode(isa, format, number, &hi);
	switch (format) {
	case SG_FMT_SOP1: e->words[0] |= sgpr() << 16 | scalar(); break;
	case SG_FMT_SOP2: e->words[0] |= sgpr() << 16 | scalar() << 8 | scalar(); break;
	case SG_FMT_SOPC: e->words[0] |= scalar() << 8 | scalar(); break;
	case SG_FMT_SOPK: e->words[0] |= (one_in(4) ? 125u : sgpr()) << 16 | bits(16); break;
	case SG_FMT_SOPP: e->words[0] |= one_in(2) ? 0 : bits(16); break;
	case SG_FMT_SMEM: smem(isa, e); break;
	case SG_FMT_VOP1: case SG_FMT_VOP2: case SG_FMT_VOPC: short_vector(isa, insn, e, format); break;
	case SG_FMT_VOP3:
		e->words[1] = 0;
		e->words[0] |= one_in(2) ? sgpr() : rnd(200);
		vector64(isa, insn, e, true);
		break;
	case SG_FMT_VOP3P:
		e->words[1] = one_in(2) ? 3u << 27 : bits(2) << 27;
		e->words[0] |= rnd(120) | 0x4000 | bits(2) << 11; /* the third pair is fixed in two-source operations */
		vector64(isa, insn, e, false);
		break;
	case SG_FMT_VOPDX: vopd(isa, e); break;
	case SG_FMT_DS: case SG_FMT_FLAT: case SG_FMT_GLOBAL: case SG_FMT_SCRATCH: case SG_FMT_MUBUF: case SG_FMT_MTBUF:
		memory(isa, insn, e, format);
		flags(isa, e, format);
		e->words[1] |= hi;
		break;
	case SG_FMT_MIMG: image(isa, insn, e); break;
	case SG_FMT_LDSDIR: e->words[0] |= rnd(200) | rnd(16) << 16; break;
	default: e->words[0] |= bits(8); break;
	}
}

static struct entry *
add(struct corpus *c)
{
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->entries = realloc(c->entries, c->room * sizeof *c->entries);
		if (!c->entries)
			abort();
	}
	memset(&c->entries[c->count], 0, sizeof *c->entries);
	return &c->entries[c->count++];
}

/* What our decoder makes of the words. */
static void
ours(const struct sg_isa *isa, struct entry *e)
{
	/* LLVM spells out the fields of their immediates */
	static const char *const symbolic[] = { "s_waitcnt", "s_delay_alu", "s_sendmsg", "s_getreg", "s_setreg",
						"ds_swizzle" };
	struct sg_op ops[SG_DECODE_MAX_OPS];
	struct sg_pool pool = { 0 };
	unsigned count = 0, number;

	memset(ops, 0, sizeof ops);
	e->size = (uint8_t)sg_decode(isa, &pool, 0, e->words, MAX_WORDS, ops, &count);
	enum sg_format format = sg_classify(isa, e->words, MAX_WORDS, &number);
	e->known = sg_isa_find(isa, format, number) != NULL;
	e->refused = e->known && count && ops[0].run == sg_run_illegal;
	if (e->refused)
		snprintf(e->reason, sizeof e->reason, "%s", (const char *)ops[0].sem);
	e->name_only = !count || ops[0].run == sg_run_unimplemented || e->refused;
	sg_disassemble(isa->arch, e->words, MAX_WORDS, e->text, sizeof e->text);
	for (unsigned i = 0; i < sizeof symbolic / sizeof *symbolic; i++)
		e->name_only |= !strncmp(e->text, symbolic[i], strlen(symbolic[i]));
	/* the top bit of a FLAT offset is ignored, but LLVM prints it */
	e->name_only |= format == SG_FMT_FLAT && isa->arch == SG_ARCH_RDNA3 && (e->words[0] >> 12 & 1);
	/* LLVM prints half of a literal here, whatever part the instruction reads */
	for (unsigned i = 0; i < 3 && !strncmp(e->text, "v_fma_mix", 9); i++)
		e->name_only |= ops[0].src[i].code == 255;
	sg_pool_free(&pool);
}

void
corpus_generate(struct corpus *c, const struct sg_isa *isa, unsigned variants, unsigned random_words, uint64_t seed)
{
	state = seed | 1;
	for (unsigned f = SG_FMT_SOP1; f < SG_FMT_COUNT; f++) {
		for (unsigned n = 0; n < 1024 && f != SG_FMT_VOPDY; n++) {
			for (unsigned v = 0; isa->index[f][n] && v < variants; v++) {
				struct entry *e = add(c);
				e->format = (uint8_t)f;
				build(isa, f, n, e);
				ours(isa, e);
			}
		}
	}
	for (unsigned i = 0; i < random_words; i++) {
		struct entry *e = add(c);
		for (unsigned k = 0; k < MAX_WORDS; k++)
			e->words[k] = bits(16) | bits(16) << 16;
		ours(isa, e);
	}
}
