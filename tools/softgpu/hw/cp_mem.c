/* SPDX-License-Identifier: MIT */
/* cp_mem.c: packets by which the CP itself moves data.
 *
 * None of them waits for dispatches: in hostile mode they act while earlier dispatches have not begun.
 */
#include "cp.h"

#include <string.h>

/* Selectors shared by WRITE_DATA and COPY_DATA */
#define WRITE_DATA_CACHE_POLICY 26, 25
enum data_sel { SEL_REG = 0, SEL_MEM_SYNC = 1, SEL_L2 = 2, SEL_GDS = 3, SEL_PERF_REG = 4, SEL_MEM_OR_IMMEDIATE = 5,
		SEL_ATOMIC_RETURN = 6, SEL_GDS_RETURN_0 = 7, SEL_GDS_RETURN_1 = 8, SEL_GPU_CLOCK = 9,
		SEL_SYSTEM_CLOCK = 10 };

/* ---- WRITE_DATA: ctl, address, data... ---- */

static void
write_registers(struct sg_cp *cp, uint32_t reg, const uint32_t *data, uint32_t n, bool one_address)
{
	for (uint32_t i = 0; i < n; i++)
		if (!sg_cp_set_user_reg(cp, one_address ? reg : reg + i, data[i]))
			return;
}

static void
write_memory(struct sg_cp *cp, uint64_t va, const uint32_t *data, uint32_t n, bool one_address)
{
	if (!one_address) {
		sg_run_write(&cp->run, va, data, n * 4ull);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!sg_run_write(&cp->run, va, &data[i], 4))
			return;
}

void
sg_pk_write_data(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t sel = PM4_GET(WRITE_DATA_DST_SEL, p->body[0]), n = p->dwords - 3;
	bool one_address = PM4_GET(WRITE_DATA_ONE_ADDR, p->body[0]);

	switch (sel) {
	case SEL_REG:
		write_registers(cp, p->body[1] & 0x3ffff, &p->body[3], n, one_address);
		break;
	case SEL_MEM_SYNC:
	case SEL_L2:
	case SEL_MEM_OR_IMMEDIATE:
		if (PM4_GET(WRITE_DATA_CACHE_POLICY, p->body[0]) == PM4_POLICY_BYPASS)
			cp->run.l2 = SG_L2_UNCACHED;
		write_memory(cp, sg_u64(p->body[1] & ~3u, p->body[2]), &p->body[3], n, one_address);
		break;
	case SEL_GDS: /* of which no job has a part */
		break;
	default:
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "destination %u does not exist", sel);
		break;
	}
}

/* ---- COPY_DATA: ctl, source, destination ---- */

static bool
copy_source(struct sg_cp *cp, const uint32_t *body, unsigned bytes, uint64_t *value)
{
	uint32_t sel = PM4_GET(COPY_DATA_SRC_SEL, body[0]), reg = body[1] & 0x3ffff;

	*value = 0;
	switch (sel) {
	case SEL_REG:
	case SEL_PERF_REG: /* those outside the file are counters of blocks that are not there */
		if (reg + 1 < SG_CP_REGS)
			*value = sg_u64(cp->regs[reg], cp->regs[reg + 1]);
		return true;
	case SEL_MEM_SYNC:
	case SEL_L2:
		return sg_run_read(&cp->run, sg_u64(body[1], body[2]) & ~(uint64_t)(bytes - 1), value, bytes);
	case SEL_MEM_OR_IMMEDIATE:
		*value = sg_u64(body[1], body[2]);
		return true;
	case SEL_GPU_CLOCK:
	case SEL_SYSTEM_CLOCK:
		*value = sg_gpu_clock();
		return true;
	case SEL_ATOMIC_RETURN:
		*value = cp->atomic_return;
		return true;
	case SEL_GDS_RETURN_0:
	case SEL_GDS_RETURN_1:
		*value = cp->gds_return;
		return true;
	case SEL_GDS:
		return true;
	default:
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "source %u does not exist", sel);
		return false;
	}
}

static void
copy_to_registers(struct sg_cp *cp, uint32_t reg, uint64_t value, unsigned bytes)
{
	if (sg_cp_set_user_reg(cp, reg, (uint32_t)value) && bytes == 8)
		sg_cp_set_user_reg(cp, reg + 1, (uint32_t)(value >> 32));
}

/* The path by which drivers set up traces and counters reaches config registers too. */
static void
copy_to_perf_registers(struct sg_cp *cp, uint32_t reg, uint64_t value, unsigned bytes)
{
	if (reg < PM4_CONFIG_BASE || reg >= PM4_SH_BASE)
		copy_to_registers(cp, reg, value, bytes);
	else
		sg_cp_set_reg(cp, reg, (uint32_t)value);
}

void
sg_pk_copy_data(struct sg_cp *cp, const struct sg_packet *p)
{
	unsigned bytes = PM4_GET(COPY_DATA_COUNT_SEL, p->body[0]) ? 8 : 4;
	uint32_t sel = PM4_GET(COPY_DATA_DST_SEL, p->body[0]);
	uint64_t value;

	if (!copy_source(cp, p->body, bytes, &value))
		return;
	switch (sel) {
	case SEL_REG:
		copy_to_registers(cp, p->body[3] & 0x3ffff, value, bytes);
		break;
	case SEL_PERF_REG:
		copy_to_perf_registers(cp, p->body[3] & 0x3ffff, value, bytes);
		break;
	case SEL_MEM_SYNC:
	case SEL_L2:
	case SEL_MEM_OR_IMMEDIATE:
		sg_run_write(&cp->run, sg_u64(p->body[3], p->body[4]) & ~(uint64_t)(bytes - 1), &value, bytes);
		break;
	case SEL_GDS:
		break;
	default:
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "destination %u does not exist", sel);
		break;
	}
}

/* ---- DMA_DATA: ctl, source or data, destination, command. Always done before the next packet, as on the MEC. ---- */

enum dma_sel { DMA_ADDRESS = 0, DMA_GDS = 1, DMA_DATA_OR_NOWHERE = 2, DMA_L2 = 3 };

static bool
dma_one_address(struct sg_cp *cp, uint64_t dst, uint64_t src, uint32_t bytes, bool increment_source)
{
	uint32_t value;

	/* Every dword lands on the same one; only the last is seen. */
	if (bytes < 4)
		return true;
	if (increment_source)
		src += bytes - 4;
	return sg_run_read(&cp->run, src, &value, 4) && sg_run_write(&cp->run, dst, &value, 4);
}

static void
dma_from_memory(struct sg_cp *cp, const uint32_t *body, uint64_t dst, bool nowhere)
{
	uint64_t src = sg_u64(body[1], body[2]);
	uint32_t command = body[5], bytes = PM4_GET(DMA_DATA_BYTE_COUNT, command), value;

	if (nowhere)
		sg_run_touch(&cp->run, src, bytes);
	else if (PM4_GET(DMA_DATA_DAIC, command))
		dma_one_address(cp, dst, src, bytes, !PM4_GET(DMA_DATA_SAIC, command));
	else if (!PM4_GET(DMA_DATA_SAIC, command))
		sg_run_copy(&cp->run, dst, src, bytes);
	else if (sg_run_read(&cp->run, src, &value, 4))
		sg_run_fill(&cp->run, dst, value, bytes);
}

void
sg_pk_dma_data(struct sg_cp *cp, const struct sg_packet *p)
{
	uint32_t src_sel = PM4_GET(DMA_DATA_SRC_SEL, p->body[0]), dst_sel = PM4_GET(DMA_DATA_DST_SEL, p->body[0]);
	uint32_t bytes = PM4_GET(DMA_DATA_BYTE_COUNT, p->body[5]);
	uint64_t dst = sg_u64(p->body[3], p->body[4]);
	bool nowhere = dst_sel == DMA_DATA_OR_NOWHERE || dst_sel == DMA_GDS;

	if (PM4_GET(DMA_DATA_SAS, p->body[5]) || PM4_GET(DMA_DATA_DAS, p->body[5])) {
		sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "register address space is privileged");
		return;
	}
	if (src_sel == DMA_ADDRESS || src_sel == DMA_L2)
		dma_from_memory(cp, p->body, dst, nowhere);
	else if (!nowhere) /* without increment all of it lands on the first dword */
		sg_run_fill(&cp->run, dst, src_sel == DMA_GDS ? 0 : p->body[1],
			    PM4_GET(DMA_DATA_DAIC, p->body[5]) && bytes > 4 ? 4 : bytes);
}

/* ctl, stride, count, address, bytes: fills with 0 */
void
sg_pk_dma_data_fill_multi(struct sg_cp *cp, const struct sg_packet *p)
{
	uint64_t dst = sg_u64(p->body[3], p->body[4]);
	uint32_t bytes = PM4_GET(DMA_DATA_BYTE_COUNT, p->body[5]);

	for (uint32_t i = 0; i < p->body[2]; i++, dst += p->body[1])
		if (sg_run_timed_out(&cp->run) || !sg_run_fill(&cp->run, dst, 0, bytes))
			return;
}

/* ---- ATOMIC_MEM: ctl, address, source, compare, loop interval ---- */

void
sg_pk_atomic_mem(struct sg_cp *cp, const struct sg_packet *p)
{
	enum { LOOP_UNTIL_EQUAL = 1 };
	uint32_t op = PM4_GET_(6, 0, p->body[0]), command = PM4_GET_(11, 8, p->body[0]);
	uint64_t va = sg_u64(p->body[1], p->body[2]), src = sg_u64(p->body[3], p->body[4]);
	uint64_t cmp = sg_u64(p->body[5], p->body[6]), old;
	bool wide = op & 32;

	for (unsigned turn = 0; sg_run_atomic(&cp->run, op, va, src, cmp, &old); turn++) {
		cp->atomic_return = old;
		if (command != LOOP_UNTIL_EQUAL || old == (wide ? cmp : (uint32_t)cmp))
			return;
		sg_cp_drain(cp);
		if (cp->run.failed || sg_run_timed_out(&cp->run))
			return;
		sg_run_pause(turn);
	}
}
