/* SPDX-License-Identifier: MIT */
/* pm4.h: PM4 type-3 packets of AMD's command processors, gfx9 to gfx12, as far as compute needs them.
 *
 * Names and numbers are those of AMD's packet headers (PAL), the Linux driver (nvd.h, soc15d.h) and Mesa (sid.h).
 * Constants and inline encoders only. Fields stand in pm4_fields.h, registers in pm4_regs.h.
 */
#ifndef GPUPLAN_UAPI_PM4_H
#define GPUPLAN_UAPI_PM4_H

#include <stdint.h>

/* A field of a dword: PM4_SET(RELEASE_MEM_EVENT_INDEX, 5). Each field is given as `hi, lo`. */
#define PM4_MASK_(hi, lo) ((uint32_t)((1ull << ((hi) - (lo) + 1)) - 1))
#define PM4_SET_(hi, lo, v) (((uint32_t)(v) & PM4_MASK_(hi, lo)) << (lo))
#define PM4_GET_(hi, lo, dw) (((uint32_t)(dw) >> (lo)) & PM4_MASK_(hi, lo))
#define PM4_SET(field, v) PM4_APPLY_(PM4_SET_, field, v)
#define PM4_GET(field, dw) PM4_APPLY_(PM4_GET_, field, dw)
#define PM4_APPLY_(macro, ...) macro(__VA_ARGS__)

/* ---- header ---- */
#define PM4_HEADER_TYPE 31, 30
#define PM4_HEADER_COUNT 29, 16		/* body dwords - 1 */
#define PM4_HEADER_OPCODE 15, 8
#define PM4_HEADER_RESET_FILTER_CAM 2, 2 /* gfx ring, gfx10+ */
#define PM4_HEADER_SHADER_TYPE 1, 1	/* gfx ring: 1 = compute state; ignored on compute rings */
#define PM4_HEADER_PREDICATE 0, 0	/* gfx ring only */

#define PM4_TYPE0 0u			/* register writes, gfx ring only */
#define PM4_TYPE3 3u
#define PM4_NOP_ONE_DWORD 0xffff1000u	/* NOP with COUNT 0x3fff: a single dword, the usual padding */
#define PM4_NOP_TYPE2 0x80000000u	/* one-dword filler of older chips */

static inline uint32_t
pm4_header(uint32_t opcode, uint32_t body_dwords)
{
	return PM4_SET(PM4_HEADER_TYPE, PM4_TYPE3) | PM4_SET(PM4_HEADER_COUNT, body_dwords - 1) |
	       PM4_SET(PM4_HEADER_OPCODE, opcode);
}

/* ---- opcodes: X(number, name) ---- */
#define PM4_OPCODES(X)                                                                                                \
	X(0x10, NOP)                                                                                                  \
	X(0x11, SET_BASE)                                                                                             \
	X(0x12, CLEAR_STATE)                                                                                          \
	X(0x13, INDEX_BUFFER_SIZE)                                                                                    \
	X(0x15, DISPATCH_DIRECT)                                                                                      \
	X(0x16, DISPATCH_INDIRECT)                                                                                    \
	X(0x1d, ATOMIC_GDS)                                                                                           \
	X(0x1e, ATOMIC_MEM)                                                                                           \
	X(0x1f, OCCLUSION_QUERY)                                                                                      \
	X(0x20, SET_PREDICATION)                                                                                      \
	X(0x21, REG_RMW)                                                                                              \
	X(0x22, COND_EXEC)                                                                                            \
	X(0x23, PRED_EXEC)                                                                                            \
	X(0x24, DRAW_INDIRECT)                                                                                        \
	X(0x25, DRAW_INDEX_INDIRECT)                                                                                  \
	X(0x26, INDEX_BASE)                                                                                           \
	X(0x27, DRAW_INDEX_2)                                                                                         \
	X(0x28, CONTEXT_CONTROL)                                                                                      \
	X(0x2a, INDEX_TYPE)                                                                                           \
	X(0x2c, DRAW_INDIRECT_MULTI)                                                                                  \
	X(0x2d, DRAW_INDEX_AUTO)                                                                                      \
	X(0x2f, NUM_INSTANCES)                                                                                        \
	X(0x30, DRAW_INDEX_MULTI_AUTO)                                                                                \
	X(0x34, STRMOUT_BUFFER_UPDATE)                                                                                \
	X(0x35, DRAW_INDEX_OFFSET_2)                                                                                  \
	X(0x36, DRAW_PREAMBLE)                                                                                        \
	X(0x37, WRITE_DATA)                                                                                           \
	X(0x38, DRAW_INDEX_INDIRECT_MULTI)                                                                            \
	X(0x39, MEM_SEMAPHORE)                                                                                        \
	X(0x3c, WAIT_REG_MEM)                                                                                         \
	X(0x3d, PERF_COUNTER_WINDOW)                                                                                  \
	X(0x3f, INDIRECT_BUFFER)                                                                                      \
	X(0x40, COPY_DATA)                                                                                            \
	X(0x42, PFP_SYNC_ME)                                                                                          \
	X(0x43, SURFACE_SYNC)                                                                                         \
	X(0x45, COND_WRITE)                                                                                           \
	X(0x46, EVENT_WRITE)                                                                                          \
	X(0x47, EVENT_WRITE_EOP)                                                                                      \
	X(0x48, EVENT_WRITE_EOS)                                                                                      \
	X(0x49, RELEASE_MEM)                                                                                          \
	X(0x4a, PREAMBLE_CNTL)                                                                                        \
	X(0x4c, DISPATCH_MESH_INDIRECT_MULTI)                                                                         \
	X(0x4d, DISPATCH_TASKMESH_GFX)                                                                                \
	X(0x4e, DISPATCH_MESH_DIRECT)                                                                                 \
	X(0x50, DMA_DATA)                                                                                             \
	X(0x51, CONTEXT_REG_RMW)                                                                                      \
	X(0x54, PERFMON_CONTROL)                                                                                      \
	X(0x58, ACQUIRE_MEM)                                                                                          \
	X(0x59, REWIND)                                                                                               \
	X(0x5d, PRIME_UTCL2)                                                                                          \
	X(0x5e, LOAD_UCONFIG_REG)                                                                                     \
	X(0x5f, LOAD_SH_REG)                                                                                          \
	X(0x61, LOAD_CONTEXT_REG)                                                                                     \
	X(0x63, LOAD_SH_REG_INDEX)                                                                                    \
	X(0x64, LOAD_UCONFIG_REG_INDEX)                                                                               \
	X(0x68, SET_CONFIG_REG)                                                                                       \
	X(0x69, SET_CONTEXT_REG)                                                                                      \
	X(0x6a, SET_CONTEXT_REG_INDEX)                                                                                \
	X(0x76, SET_SH_REG)                                                                                           \
	X(0x77, SET_SH_REG_OFFSET)                                                                                    \
	X(0x78, SET_QUEUE_REG)                                                                                        \
	X(0x79, SET_UCONFIG_REG)                                                                                      \
	X(0x7a, SET_UCONFIG_REG_INDEX)                                                                                \
	X(0x80, LOAD_CONST_RAM)                                                                                       \
	X(0x81, WRITE_CONST_RAM)                                                                                      \
	X(0x83, DUMP_CONST_RAM)                                                                                       \
	X(0x84, INCREMENT_CE_COUNTER)                                                                                 \
	X(0x85, INCREMENT_DE_COUNTER)                                                                                 \
	X(0x86, WAIT_ON_CE_COUNTER)                                                                                   \
	X(0x88, WAIT_ON_DE_COUNTER_DIFF)                                                                              \
	X(0x89, SET_CE_DE_COUNTERS)                                                                                   \
	X(0x8b, SWITCH_BUFFER)                                                                                        \
	X(0x90, FRAME_CONTROL)                                                                                        \
	X(0x91, INDEX_ATTRIBUTES_INDIRECT)                                                                            \
	X(0x92, WAIT_FOR_WRITE_CONFIRM)                                                                               \
	X(0x93, WAIT_REG_MEM64)                                                                                       \
	X(0x95, HDP_FLUSH)                                                                                            \
	X(0x98, INVALIDATE_TLBS)                                                                                      \
	X(0x99, AQL_PACKET_GFX9)                                                                                      \
	X(0x9a, DMA_DATA_FILL_MULTI)                                                                                  \
	X(0x9b, SET_SH_REG_INDEX)                                                                                     \
	X(0x9f, LOAD_CONTEXT_REG_INDEX)                                                                               \
	X(0xa0, SET_RESOURCES)                                                                                        \
	X(0xa1, MAP_PROCESS)                                                                                          \
	X(0xa2, MAP_QUEUES)                                                                                           \
	X(0xa3, UNMAP_QUEUES)                                                                                         \
	X(0xa4, QUERY_STATUS)                                                                                         \
	X(0xa5, RUN_LIST)                                                                                             \
	X(0xa7, DISPATCH_DIRECT_INTERLEAVED)                                                                          \
	X(0xa8, DISPATCH_INDIRECT_INTERLEAVED)                                                                        \
	X(0xa9, DISPATCH_TASK_STATE_INIT)                                                                             \
	X(0xaa, DISPATCH_TASKMESH_DIRECT_ACE)                                                                         \
	X(0xad, DISPATCH_TASKMESH_INDIRECT_MULTI_ACE)                                                                 \
	X(0xae, EXECUTE_INDIRECT)                                                                                     \
	X(0xb1, EVENT_WRITE_ZPASS)                                                                                    \
	X(0xb2, TIMESTAMP)                                                                                            \
	X(0xb4, EXECUTE_INDIRECT_V2)                                                                                  \
	X(0xb8, SET_CONTEXT_REG_PAIRS)                                                                                \
	X(0xb9, SET_CONTEXT_REG_PAIRS_PACKED)                                                                         \
	X(0xba, SET_SH_REG_PAIRS)                                                                                     \
	X(0xbb, SET_SH_REG_PAIRS_PACKED)                                                                              \
	X(0xbc, SET_SH_REG_PAIRS_PACKED_GFX12)                                                                        \
	X(0xbd, SET_SH_REG_PAIRS_PACKED_N)                                                                            \
	X(0xbe, SET_UCONFIG_REG_PAIRS)                                                                                \
	X(0xd0, PROTECTED_FENCE_SIGNAL)                                                                               \
	X(0xd1, FENCE_WAIT_MULTI)                                                                                     \
	X(0xd2, RUN_CLEANER_SHADER)                                                                                   \
	X(0xf0, SET_Q_PREEMPTION_MODE)                                                                                \
	X(0xff, AQL_PACKET)

enum pm4_opcode {
#define PM4_X(number, name) PM4_OP_##name = number,
	PM4_OPCODES(PM4_X)
#undef PM4_X
};

/* ---- register windows, in dwords ---- */
#define PM4_CONFIG_BASE 0x2000u /* up to PM4_SH_BASE */
#define PM4_SH_BASE 0x2c00u
#define PM4_SH_END 0x3000u
#define PM4_CONTEXT_BASE 0xa000u
#define PM4_UCONFIG_BASE 0xc000u

#define PM4_PACKED_N_MAX 14u /* registers of a SET_SH_REG_PAIRS_PACKED_N */
#define PM4_SET_REG_OFFSET 15, 0
#define PM4_SET_REG_INDEX 31, 28 /* SET_SH_REG_INDEX: 0 plain, 3 = AND with the kernel's CU mask */

/* ---- DISPATCH_DIRECT: x, y, z workgroups, initiator; DISPATCH_INDIRECT ---- */
#define PM4_DISPATCH_DIRECT_DWORDS 5
#define PM4_DISPATCH_INDIRECT_DWORDS 4 /* on compute rings: address lo, hi of the three counts, initiator */

/* ---- EVENT_WRITE: X(number, name), names of Mesa's VGT_EVENT_TYPE ---- */
#define PM4_EVENT_WRITE_DWORDS 2
#define PM4_EVENTS(X)                                                                                                 \
	X(0x01, SAMPLE_STREAMOUTSTATS1)                                                                               \
	X(0x02, SAMPLE_STREAMOUTSTATS2)                                                                               \
	X(0x03, SAMPLE_STREAMOUTSTATS3)                                                                               \
	X(0x04, CACHE_FLUSH_TS)                                                                                       \
	X(0x07, CS_PARTIAL_FLUSH) /* index 4: wait until earlier compute waves ended, stores acknowledged */          \
	X(0x14, CACHE_FLUSH_AND_INV_TS_EVENT)                                                                         \
	X(0x15, ZPASS_DONE)                                                                                           \
	X(0x19, PIPELINESTAT_START)                                                                                   \
	X(0x1a, PIPELINESTAT_STOP)                                                                                    \
	X(0x1e, SAMPLE_PIPELINESTAT)                                                                                  \
	X(0x20, SAMPLE_STREAMOUTSTATS)                                                                                \
	X(0x28, BOTTOM_OF_PIPE_TS)                                                                                    \
	X(0x2f, CS_DONE)                                                                                              \
	X(0x39, PIXEL_PIPE_STAT_DUMP)

enum pm4_event {
#define PM4_X(number, name) PM4_EVENT_##name = number,
	PM4_EVENTS(PM4_X)
#undef PM4_X
};

/* ---- ACQUIRE_MEM, gfx9: coher, size, size_hi, base, base_hi, poll; gfx10+: ctl, the same five, gcr ---- */
#define PM4_ACQUIRE_MEM_GFX10_DWORDS 8
#define PM4_ACQUIRE_MEM_GFX9_DWORDS 7
#define ACQUIRE_MEM_COHER_SIZE_ALL 0xffffffffu
#define ACQUIRE_MEM_COHER_SIZE_HI_ALL 0x00ffffffu /* what the kernel and RADV write; hardware uses fewer bits */
#define ACQUIRE_MEM_POLL_INTERVAL 0xau
#define ACQUIRE_MEM_PWS_ENA 31, 31 /* gfx11+, gfx ring, in the poll dword: wait for a RELEASE_MEM */

/* ---- RELEASE_MEM ---- */
#define PM4_RELEASE_MEM_DWORDS 8
#define RELEASE_MEM_GDS_DWORDS 31, 16 /* of the data dword, with DATA_SEL 5 */

/* WRITE_DATA: ctl, address lo, hi, data... */

/* ---- COPY_DATA: ctl, src lo, hi, dst lo, hi ---- */
#define PM4_COPY_DATA_DWORDS 6

/* ---- DMA_DATA: ctl, src lo or data, src hi, dst lo, hi, command ---- */
#define PM4_DMA_DATA_DWORDS 7
#define DMA_DATA_MAX_BYTES_GFX11 0x7fe0u    /* 32 KiB - 32: Mesa's limit, larger is slow or hangs */
#define DMA_DATA_MAX_BYTES_GFX9 0x3ffffe0u  /* also gfx10 */

/* ---- WAIT_REG_MEM ---- */
#define PM4_WAIT_REG_MEM_DWORDS 7

/* ---- INDIRECT_BUFFER: base lo, hi, ctl ---- */
#define PM4_INDIRECT_BUFFER_DWORDS 4
#define PM4_IB_MAX_DWORDS 0xfffffu
/* COND_INDIRECT_BUFFER, the same opcode: ctl, compare address, mask, reference (64 bits each), base and size twice */
#define PM4_COND_INDIRECT_BUFFER_DWORDS 14
#define COND_INDIRECT_BUFFER_MODE 1, 0 /* 1 if-then, 2 if-then-else */
#define COND_INDIRECT_BUFFER_FUNCTION 10, 8

/* ---- MEM_SEMAPHORE: address lo, hi, ctl ---- */
#define PM4_MEM_SEMAPHORE_DWORDS 4
#define MEM_SEMAPHORE_WRITE_ONE 20, 20
#define MEM_SEMAPHORE_SEL 31, 29 /* 6 signal, 7 wait */

/* ---- PRED_EXEC: count of dwords that only the selected devices (942: XCCs) run ---- */
#define PM4_PRED_EXEC_DWORDS 2
#define PRED_EXEC_COUNT 13, 0
#define PRED_EXEC_SELECT 31, 24

/* ---- SET_PREDICATION: ctl, address lo, hi ---- */
#define PM4_SET_PREDICATION_DWORDS 4
#define SET_PREDICATION_BOOL 8, 8	  /* 1: run predicated packets if it holds */
#define SET_PREDICATION_OP 18, 16	  /* 0 clear, 1 occlusion, 2 streamout, 3 a 64-bit word, 4 a 32-bit word */
#define SET_PREDICATION_CONTINUE 31, 31

/* ---- COND_EXEC: address lo, hi, 0, count ---- */
#define PM4_COND_EXEC_DWORDS 5

#include "pm4_fields.h"

#endif
