/* SPDX-License-Identifier: MIT */
/* cp_regs.c: the register file of a ring and the packets that write it.
 *
 * The file is one array over all register numbers; what a register means is looked at when a dispatch reads it
 * (cp_dispatch.c), so the registers that moved between generations need nothing here.
 */
#include "cp.h"

#include <string.h>

#define CONTEXT_END 0xc000u
#define UCONFIG_END 0x10000u

/* What the kernel's MQD loads when it maps the queue, or, in hostile mode, what strangers may have left. */
void
sg_cp_reset_regs(struct sg_cp *cp, bool garbage)
{
	uint32_t *sh = &cp->regs[PM4_SH_BASE];

	if (garbage) {
		for (uint32_t i = R_COMPUTE_DISPATCH_INITIATOR; i <= R_COMPUTE_NOWHERE; i++)
			sh[i] = (uint32_t)sg_run_random(&cp->run);
		return;
	}
	for (const uint16_t *mask = cp->run.generation->cu_masks; *mask; mask++)
		sh[*mask] = 0xffffffff;
	sh[R_COMPUTE_PIPELINESTAT_ENABLE] = 1;
	sh[R_COMPUTE_MISC_RESERVED] = cp->run.generation->misc_reserved;
}

/* Plain packets may point anywhere in their window; what lies behind its end is lost. */
void
sg_cp_set_reg(struct sg_cp *cp, uint32_t reg, uint32_t value)
{
	if (reg >= SG_CP_REGS)
		return;
	cp->regs[reg] = value;
	if (reg >= PM4_SH_BASE && reg < PM4_SH_END) {
		uint32_t i = reg - PM4_SH_BASE;
		cp->sh_written[i / 32] |= 1u << i % 32;
	}
}

bool
sg_cp_set_user_reg(struct sg_cp *cp, uint32_t reg, uint32_t value)
{
	bool open = (reg >= PM4_SH_BASE && reg < PM4_SH_END) || (reg >= PM4_CONTEXT_BASE && reg < UCONFIG_END);

	if (open)
		sg_cp_set_reg(cp, reg, value);
	else
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "register 0x%x is privileged", reg);
	return open;
}

/* ---- SET_*_REG: offset, values ---- */

static void
set_range(struct sg_cp *cp, const struct sg_packet *p, uint32_t base, uint32_t end)
{
	uint32_t reg = base + PM4_GET(PM4_SET_REG_OFFSET, p->body[0]);
	uint32_t n = p->dwords - 1;

	if (reg >= end || n > end - reg) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "registers 0x%x..0x%x leave the window 0x%x..0x%x", reg,
			    reg + n - 1, base, end - 1);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		sg_cp_set_reg(cp, reg + i, p->body[1 + i]);
}

void
sg_pk_set_config_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "config registers (0x%x..0x%x) are privileged", PM4_CONFIG_BASE,
		    PM4_SH_BASE - 1);
}

void
sg_pk_set_context_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	set_range(cp, p, PM4_CONTEXT_BASE, CONTEXT_END);
}

void
sg_pk_set_sh_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	set_range(cp, p, PM4_SH_BASE, PM4_SH_END);
}

void
sg_pk_set_uconfig_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	set_range(cp, p, PM4_UCONFIG_BASE, UCONFIG_END);
}

/* Index 3 means AND with the kernel's CU mask, which is all ones here; 1 inserts the VMID. */
void
sg_pk_set_sh_reg_index(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t index = PM4_GET(PM4_SET_REG_INDEX, p->body[0]);

	if (index == 1)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "index 1 (insert VMID) is privileged");
	else
		set_range(cp, p, PM4_SH_BASE, PM4_SH_END);
}

/* ---- PAIRS: (offset, value)... ---- */

static void
set_pairs(struct sg_cp *cp, const struct sg_packet *p, uint32_t base, uint32_t end)
{
	if (p->dwords % 2 != 0) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "body of %u dwords is not made of pairs", p->dwords);
		return;
	}
	for (uint32_t i = 0; i < p->dwords; i += 2) {
		uint32_t reg = base + (p->body[i] & 0xffff);
		if (reg < end)
			sg_cp_set_reg(cp, reg, p->body[i + 1]);
	}
}

void
sg_pk_set_context_pairs(struct sg_cp *cp, const struct sg_packet *p)
{
	set_pairs(cp, p, PM4_CONTEXT_BASE, CONTEXT_END);
}

void
sg_pk_set_sh_pairs(struct sg_cp *cp, const struct sg_packet *p)
{
	set_pairs(cp, p, PM4_SH_BASE, PM4_SH_END);
}

void
sg_pk_set_uconfig_pairs(struct sg_cp *cp, const struct sg_packet *p)
{
	set_pairs(cp, p, PM4_UCONFIG_BASE, UCONFIG_END);
}

/* ---- PAIRS_PACKED: count, then {offset0 | offset1 << 16, value0, value1}... ---- */

static void
set_packed(struct sg_cp *cp, const struct sg_packet *p, uint32_t base, uint32_t end)
{
	uint32_t n = p->body[0];

	if (n % 2 != 0 || p->dwords - 1 < n / 2 * 3ull) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "%u registers do not fit a body of %u dwords", n, p->dwords);
		return;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		const uint32_t *t = &p->body[1 + 3 * i];
		uint32_t first = base + (t[0] & 0xffff), second = base + (t[0] >> 16);
		if (first < end)
			sg_cp_set_reg(cp, first, t[1]);
		if (second < end)
			sg_cp_set_reg(cp, second, t[2]);
	}
}

void
sg_pk_set_context_packed(struct sg_cp *cp, const struct sg_packet *p)
{
	set_packed(cp, p, PM4_CONTEXT_BASE, CONTEXT_END);
}

void
sg_pk_set_sh_packed(struct sg_cp *cp, const struct sg_packet *p)
{
	set_packed(cp, p, PM4_SH_BASE, PM4_SH_END);
}

/* The fast form */
void
sg_pk_set_sh_packed_n(struct sg_cp *cp, const struct sg_packet *p)
{
	if (p->body[0] > PM4_PACKED_N_MAX)
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "%u registers, at most %u fit", p->body[0], PM4_PACKED_N_MAX);
	else
		set_packed(cp, p, PM4_SH_BASE, PM4_SH_END);
}

/* ---- LOAD_*_REG: base address, then (offset, count)...; register n comes from base + 4 n ---- */

static void
load_regs(struct sg_cp *cp, const struct sg_packet *p, uint32_t base, uint32_t end)
{
	uint64_t va = sg_u64(p->body[0] & ~3u, p->body[1]);

	for (uint32_t i = 2; i + 1 < p->dwords; i += 2) {
		uint32_t offset = p->body[i] & 0xffff, n = p->body[i + 1] & 0x3fff, value;
		for (uint32_t k = offset; k < offset + n && base + k < end; k++) {
			if (!sg_run_read(&cp->run, va + k * 4ull, &value, 4))
				return;
			sg_cp_set_reg(cp, base + k, value);
		}
	}
}

void
sg_pk_load_uconfig_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs(cp, p, PM4_UCONFIG_BASE, UCONFIG_END);
}

void
sg_pk_load_sh_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs(cp, p, PM4_SH_BASE, PM4_SH_END);
}

void
sg_pk_load_context_reg(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs(cp, p, PM4_CONTEXT_BASE, CONTEXT_END);
}

/* LOAD_*_REG_INDEX: address (bit 0: the second dword is an offset from SET_BASE 4), register offset (bit 31: memory
 * holds pairs of offset and value), count */
static void
load_regs_index(struct sg_cp *cp, const struct sg_packet *p, uint32_t base, uint32_t end)
{
	enum { LOAD_REG_INDEX_BASE = 4 };
	bool from_base = p->body[0] & 1, pairs = p->body[2] >> 31;
	uint64_t va = from_base ? cp->bases[LOAD_REG_INDEX_BASE] + p->body[1] : sg_u64(p->body[0] & ~3u, p->body[1]);
	uint32_t offset = p->body[2] & 0xffff, n = p->body[3] & 0x3fff;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t w[2] = { offset + i, 0 };
		bool ok = pairs ? sg_run_read(&cp->run, va + i * 8ull, w, 8) :
				  sg_run_read(&cp->run, va + i * 4ull, &w[1], 4);
		if (!ok)
			return;
		uint32_t reg = base + (w[0] & 0xffff);
		if (reg < end)
			sg_cp_set_reg(cp, reg, w[1]);
	}
}

void
sg_pk_load_sh_reg_index(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs_index(cp, p, PM4_SH_BASE, PM4_SH_END);
}

void
sg_pk_load_uconfig_reg_index(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs_index(cp, p, PM4_UCONFIG_BASE, UCONFIG_END);
}

void
sg_pk_load_context_reg_index(struct sg_cp *cp, const struct sg_packet *p)
{
	load_regs_index(cp, p, PM4_CONTEXT_BASE, CONTEXT_END);
}

/* CONTEXT_REG_RMW: offset, mask, data */
void
sg_pk_context_reg_rmw(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t reg = PM4_CONTEXT_BASE + (p->body[0] & 0xffff);

	if (reg < CONTEXT_END)
		sg_cp_set_reg(cp, reg, (cp->regs[reg] & ~p->body[1]) | (p->body[2] & p->body[1]));
}

/* REG_RMW: register, AND mask, OR mask; bits 31 and 30 say that the masks are numbers of registers that hold them */
void
sg_pk_reg_rmw(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t reg = p->body[0] & 0xffff;
	uint32_t and_mask = p->body[0] >> 31 & 1 ? cp->regs[p->body[1] & 0xffff] : p->body[1];
	uint32_t or_mask = p->body[0] >> 30 & 1 ? cp->regs[p->body[2] & 0xffff] : p->body[2];

	sg_cp_set_user_reg(cp, reg, (cp->regs[reg] & and_mask) | or_mask);
}

/* SET_BASE: index, address. Index 1 is where the gfx ring's DISPATCH_INDIRECT finds its arguments: any dword, since
 * RADV puts the whole argument address here. */
void
sg_pk_set_base(struct sg_cp *cp, const struct sg_packet *p)
{
	cp->bases[p->body[0] & 0xf] = sg_u64(p->body[1] & ~3u, p->body[2]);
}

/* Draws would find the hardware's defaults, which only they would; here all are 0. */
void
sg_pk_clear_state(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	memset(&cp->regs[PM4_CONTEXT_BASE], 0, (CONTEXT_END - PM4_CONTEXT_BASE) * sizeof(cp->regs[0]));
}
