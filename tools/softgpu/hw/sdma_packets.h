/* SPDX-License-Identifier: MIT */
/* sdma_packets.h: SDMA v5.2 and v6 packets. Source: Linux navi10_sdma_pkt_open.h, sdma_v6_0_0_pkt_open.h. */
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
	SDMA_OP_GPUVM_INV = 16,
	SDMA_OP_GCR_REQ = 17,
	SDMA_OP_DUMMY_TRAP = 32,
};

#define SDMA_HEADER_OP 7, 0
#define SDMA_HEADER_SUB_OP 15, 8
#define SDMA_NOP_COUNT 29, 16		/* dwords that follow */
#define SDMA_COPY_BROADCAST 27, 27
#define SDMA_COPY_COUNT 29, 0		/* bytes - 1; 22 bits on older engines, which streams respect themselves */
#define SDMA_WRITE_COUNT 19, 0		/* dwords - 1 */
#define SDMA_FILL_SIZE 31, 30		/* 0 byte, 1 word, 2 dword */
#define SDMA_POLL_FUNCTION 30, 28
#define SDMA_POLL_MEMORY 31, 31
#define SDMA_COND_EXE_COUNT 13, 0
#define SDMA_ATOMIC_LOOP 16, 16
#define SDMA_ATOMIC_OP 31, 25

#endif
