/* SPDX-License-Identifier: MIT */
/* sdma_packets.h: SDMA packets of v4 to v7. Sources: Linux's navi10_sdma_pkt_open.h and sdma_v6_0_0_pkt_open.h, PAL's
 * gfx10_merged_sdma_packets.h and gfx12_merged_sdma_packets.h. */
#ifndef SOFTGPU_SDMA_PACKETS_H
#define SOFTGPU_SDMA_PACKETS_H

#include "pm4.h" /* PM4_GET */

enum sdma_op {
	SDMA_OP_NOP = 0,
	SDMA_OP_COPY = 1,
	SDMA_OP_WRITE = 2,
	SDMA_OP_INDIRECT = 4,
	SDMA_OP_FENCE = 5,
	SDMA_OP_TRAP = 6,
	SDMA_OP_SEMAPHORE = 7,
	SDMA_OP_POLL_REGMEM = 8,
	SDMA_OP_COND_EXE = 9,
	SDMA_OP_ATOMIC = 10,
	SDMA_OP_CONST_FILL = 11,
	SDMA_OP_PTEPDE = 12,
	SDMA_OP_TIMESTAMP = 13,
	SDMA_OP_SRBM_WRITE = 14,
	SDMA_OP_PRE_EXE = 15,
	SDMA_OP_DUMMY_TRAP_V4 = 16,
	SDMA_OP_GPUVM_INV = 16, /* v5 and later */
	SDMA_OP_GCR_REQ = 17,
	SDMA_OP_DUMMY_TRAP = 32,
};

#define SDMA_HEADER_OP 7, 0
#define SDMA_HEADER_SUB_OP 15, 8
enum sdma_copy { SDMA_COPY_LINEAR = 0, SDMA_COPY_TILED = 1, SDMA_COPY_SOA = 3, SDMA_COPY_LINEAR_SUB_WINDOW = 4,
		 SDMA_COPY_TILED_SUB_WINDOW = 5, SDMA_COPY_T2T_SUB_WINDOW = 6, SDMA_COPY_DIRTY_PAGE = 7,
		 SDMA_COPY_LINEAR_PHYSICAL = 8 };
enum sdma_fill { SDMA_FILL_CONSTANT = 0, SDMA_FILL_MULTI = 1 };
enum sdma_timestamp { SDMA_TIMESTAMP_SET = 0, SDMA_TIMESTAMP_GET = 1, SDMA_TIMESTAMP_GET_GLOBAL = 2 };
#define SDMA_NOP_COUNT 29, 16		/* dwords that follow */
#define SDMA_COPY_BROADCAST 27, 27
#define SDMA_COPY_DCC 19, 19		/* v7: one more dword, how data is compressed */
/* COPY_LINEAR_SUB_WINDOW, in elements; pitches and extents are less one */
#define SDMA_WINDOW_ELEMENT 31, 29	/* log2 of bytes, header */
#define SDMA_WINDOW_X 13, 0
#define SDMA_WINDOW_Y 29, 16
#define SDMA_WINDOW_Z 12, 0
#define SDMA_WINDOW_PITCH 31, 13
#define SDMA_WINDOW_SLICE 27, 0
#define SDMA_FILL_MULTI_COUNT 25, 0	/* bytes */
#define SDMA_SEMAPHORE_WRITE_ONE 29, 29
#define SDMA_SEMAPHORE_SIGNAL 30, 30
#define SDMA_PRE_EXE_SELECT 23, 16
#define SDMA_PRE_EXE_COUNT 13, 0
#define SDMA_WRITE_COUNT 19, 0		/* dwords - 1 */
#define SDMA_FILL_SIZE 31, 30		/* 0 byte, 1 word, 2 dword */
#define SDMA_POLL_FUNCTION 30, 28
#define SDMA_POLL_MEMORY 31, 31
#define SDMA_COND_EXE_COUNT 13, 0
#define SDMA_ATOMIC_LOOP 16, 16
#define SDMA_ATOMIC_OP 31, 25

#endif
