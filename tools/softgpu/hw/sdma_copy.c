/* SPDX-License-Identifier: MIT */
/* sdma_copy.c: SDMA packets that copy, write and fill. */
#include "sdma.h"

#include "sdma_packets.h"

/* ---- COPY ---- */

/* Counts are bytes - 1; the engines before v5.2 look at 22 bits of them. */
static uint64_t
byte_count(const struct sg_sdma *s, uint32_t dword)
{
	unsigned bits = sg_sdma_version(s) >= 52 ? 30 : 22;

	return (dword & ((1u << bits) - 1)) + 1ull;
}

/* count, parameters, source, destination, second destination if it broadcasts */
static uint32_t
copy_linear(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	bool broadcast = PM4_GET(SDMA_COPY_BROADCAST, dw[0]);
	bool described = sg_sdma_version(s) >= 70 && PM4_GET(SDMA_COPY_DCC, dw[0]);
	uint32_t n = broadcast ? 9 : described ? 8 : 7;

	if (left < n)
		return sg_sdma_truncated(s, n, left);
	uint64_t bytes = byte_count(s, dw[1]), src = sg_u64(dw[3], dw[4]);
	if (!sg_run_copy(&s->run, sg_u64(dw[5], dw[6]), src, bytes))
		return 0;
	if (broadcast && !sg_run_copy(&s->run, sg_u64(dw[7], dw[8]), src, bytes))
		return 0;
	return n;
}

/* One side of a sub-window: address, x and y, z and pitch, slice pitch; all but the address in elements. */
struct window { uint64_t va, pitch, slice; };

static struct window
window(const uint32_t *dw, unsigned element)
{
	struct window w = {
		.pitch = PM4_GET(SDMA_WINDOW_PITCH, dw[3]) + 1ull,
		.slice = PM4_GET(SDMA_WINDOW_SLICE, dw[4]) + 1ull,
	};

	w.va = sg_u64(dw[0], dw[1]) + ((PM4_GET(SDMA_WINDOW_Z, dw[3]) * w.slice +
					PM4_GET(SDMA_WINDOW_Y, dw[2]) * w.pitch + PM4_GET(SDMA_WINDOW_X, dw[2]))
				       << element);
	return w;
}

static uint32_t
copy_linear_sub_window(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	enum { DWORDS = 13 };
	unsigned element = PM4_GET(SDMA_WINDOW_ELEMENT, dw[0]);

	if (left < DWORDS)
		return sg_sdma_truncated(s, DWORDS, left);
	struct window from = window(dw + 1, element), to = window(dw + 6, element);
	uint64_t row = (PM4_GET(SDMA_WINDOW_X, dw[11]) + 1ull) << element;
	uint32_t rows = PM4_GET(SDMA_WINDOW_Y, dw[11]) + 1, slices = PM4_GET(SDMA_WINDOW_Z, dw[12]) + 1;
	for (uint32_t z = 0; z < slices; z++)
		for (uint32_t y = 0; y < rows; y++)
			if (!sg_run_copy(&s->run, to.va + ((z * to.slice + y * to.pitch) << element),
					 from.va + ((z * from.slice + y * from.pitch) << element), row))
				return 0;
	return DWORDS;
}

uint32_t
sg_sdma_copy(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	switch (PM4_GET(SDMA_HEADER_SUB_OP, dw[0])) {
	case SDMA_COPY_LINEAR: return copy_linear(s, dw, left);
	case SDMA_COPY_LINEAR_SUB_WINDOW: return copy_linear_sub_window(s, dw, left);
	case SDMA_COPY_TILED: return sg_sdma_refuse_sub_op(s, dw, "tiled");
	case SDMA_COPY_SOA: return sg_sdma_refuse_sub_op(s, dw, "structures to arrays");
	case SDMA_COPY_TILED_SUB_WINDOW: return sg_sdma_refuse_sub_op(s, dw, "tiled sub-window");
	case SDMA_COPY_T2T_SUB_WINDOW: return sg_sdma_refuse_sub_op(s, dw, "tiled to tiled");
	case SDMA_COPY_DIRTY_PAGE: return sg_sdma_refuse_sub_op(s, dw, "dirty pages, the kernel's");
	case SDMA_COPY_LINEAR_PHYSICAL: return sg_sdma_refuse_sub_op(s, dw, "physical addresses, the kernel's");
	default: return sg_sdma_refuse_sub_op(s, dw, "unknown");
	}
}

/* ---- WRITE: destination, count, data ---- */

uint32_t
sg_sdma_write(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t n = PM4_GET(SDMA_WRITE_COUNT, dw[3]) + 1;

	if (PM4_GET(SDMA_HEADER_SUB_OP, dw[0]) != 0)
		return sg_sdma_refuse_sub_op(s, dw, "tiled");
	if (left - 4 < n)
		return sg_sdma_truncated(s, 4ull + n, left);
	return sg_run_write(&s->run, sg_u64(dw[1] & ~3u, dw[2]), &dw[4], n * 4ull) ? 4 + n : 0;
}

/* ---- CONST_FILL ---- */

/* stride, how many, destination, bytes of each; of zeros */
static uint32_t
fill_multi(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	enum { DWORDS = 6 };

	if (left < DWORDS)
		return sg_sdma_truncated(s, DWORDS, left);
	uint64_t dst = sg_u64(dw[3], dw[4]);
	for (uint32_t i = 0; i < dw[2]; i++, dst += dw[1])
		if (sg_run_timed_out(&s->run) ||
		    !sg_run_fill(&s->run, dst, 0, PM4_GET(SDMA_FILL_MULTI_COUNT, dw[5])))
			return 0;
	return DWORDS;
}

uint32_t
sg_sdma_fill(struct sg_sdma *s, const uint32_t *dw, uint32_t left)
{
	uint32_t value = dw[3];
	uint64_t bytes = byte_count(s, dw[4]);

	if (PM4_GET(SDMA_HEADER_SUB_OP, dw[0]) == SDMA_FILL_MULTI)
		return fill_multi(s, dw, left);
	if (PM4_GET(SDMA_HEADER_SUB_OP, dw[0]) != SDMA_FILL_CONSTANT)
		return sg_sdma_refuse_sub_op(s, dw, "unknown");
	switch (PM4_GET(SDMA_FILL_SIZE, dw[0])) {
	case 0:
		value = (value & 0xff) * 0x01010101u;
		break;
	case 1:
		value = (value & 0xffff) * 0x00010001u;
		break;
	default: /* the count is bytes - 1 or bytes - 4, both are in use */
		bytes = (bytes + 3) & ~3ull;
		break;
	}
	return sg_run_fill(&s->run, sg_u64(dw[1], dw[2]), value, bytes) ? 5 : 0;
}
