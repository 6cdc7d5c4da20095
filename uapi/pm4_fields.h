/* SPDX-License-Identifier: MIT */
/* pm4_fields.h: fields of registers and of packets, `hi, lo` for PM4_SET and PM4_GET, and lists of them by generation
 * with the names that Linux and Mesa know them by. tests/peers/mesa_regs.sh holds the lists against Mesa's database. */
#ifndef GPUPLAN_UAPI_PM4_FIELDS_H
#define GPUPLAN_UAPI_PM4_FIELDS_H

enum pm4_generation {
	PM4_GFX9 = 1,
	PM4_GFX90A = 2,
	PM4_GFX942 = 4,
	PM4_GFX10 = 8,
	PM4_GFX11 = 16,
	PM4_GFX12 = 32,
	PM4_CDNA = PM4_GFX90A | PM4_GFX942,
	PM4_GFX9_X = PM4_GFX9 | PM4_CDNA, /* gfx900 to gfx942 */
	PM4_TO_GFX10 = PM4_GFX9_X | PM4_GFX10,
	PM4_TO_GFX11 = PM4_TO_GFX10 | PM4_GFX11,
	PM4_GFX10_11 = PM4_GFX10 | PM4_GFX11,
	PM4_GFX11_UP = PM4_GFX11 | PM4_GFX12,
	PM4_GFX10_UP = PM4_GFX10 | PM4_GFX11_UP,
	PM4_ALL = PM4_TO_GFX11 | PM4_GFX12,
	PM4_CDBG = PM4_GFX9_X | PM4_GFX12,
	PM4_TRAPS = PM4_GFX942 | PM4_GFX11,
};

/* ---- registers ---- */
#define DISPATCH_INITIATOR_COMPUTE_SHADER_EN 0, 0
#define DISPATCH_INITIATOR_PARTIAL_TG_EN 1, 1
#define DISPATCH_INITIATOR_FORCE_START_AT_000 2, 2
#define DISPATCH_INITIATOR_ORDERED_APPEND_ENBL 3, 3
#define DISPATCH_INITIATOR_ORDERED_APPEND_MODE 4, 4
#define DISPATCH_INITIATOR_USE_THREAD_DIMENSIONS 5, 5
#define DISPATCH_INITIATOR_ORDER_MODE 6, 6
#define DISPATCH_INITIATOR_SCALAR_L1_INV_VOL 10, 10
#define DISPATCH_INITIATOR_VECTOR_L1_INV_VOL 11, 11
#define DISPATCH_INITIATOR_PING_PONG_EN 12, 12
#define DISPATCH_INITIATOR_TUNNEL_ENABLE 13, 13
#define DISPATCH_INITIATOR_RESTORE 14, 14
#define DISPATCH_INITIATOR_CS_W32_EN 15, 15 /* waves of 32 */
#define DISPATCH_INITIATOR_AMP_SHADER_EN 16, 16
#define DISPATCH_INITIATOR_DISABLE_DISP_PREMPT_EN 17, 17
#define DISPATCH_INITIATOR_INTERLEAVE_2D_EN 18, 18
#define DISPATCH_INITIATOR_TTRACE_QUEUE_ID 31, 29
#define NUM_THREAD_FULL 15, 0
#define NUM_THREAD_FULL_GFX12 12, 0
#define NUM_THREAD_INTERLEAVE_BITS 15, 13
#define NUM_THREAD_PARTIAL 31, 16
#define PIPELINESTAT_ENABLE 0, 0
#define PERFCOUNT_ENABLE 0, 0
#define PGM_HI_DATA 7, 0
#define DISPATCH_PKT_ADDR_HI_DATA 7, 0
#define DISPATCH_SCRATCH_BASE_HI_DATA 7, 0
#define RSRC1_VGPRS 5, 0
#define RSRC1_SGPRS 9, 6
#define RSRC1_PRIORITY 11, 10
#define RSRC1_FLOAT_MODE 19, 12
#define RSRC1_PRIV 20, 20
#define RSRC1_DX10_CLAMP 21, 21
#define RSRC1_WG_RR_EN 21, 21
#define RSRC1_DEBUG_MODE 22, 22
#define RSRC1_IEEE_MODE 23, 23
#define RSRC1_DISABLE_PERF 23, 23
#define RSRC1_BULKY 24, 24
#define RSRC1_CDBG_USER 25, 25
#define RSRC1_FP16_OVFL 26, 26
#define RSRC1_WGP_MODE 29, 29
#define RSRC1_MEM_ORDERED 30, 30
#define RSRC1_FWD_PROGRESS 31, 31
#define RSRC2_SCRATCH_EN 0, 0
#define RSRC2_USER_SGPR 5, 1
#define RSRC2_TRAP_PRESENT 6, 6
#define RSRC2_DYNAMIC_VGPR 6, 6
#define RSRC2_TGID_X_EN 7, 7
#define RSRC2_TGID_Y_EN 8, 8
#define RSRC2_TGID_Z_EN 9, 9
#define RSRC2_TG_SIZE_EN 10, 10
#define RSRC2_TIDIG_COMP_CNT 12, 11
#define RSRC2_EXCP_EN_MSB 14, 13
#define RSRC2_LDS_SIZE 23, 15 /* units of 512 bytes */
#define RSRC2_EXCP_EN 30, 24
#define RSRC2_SKIP_USGPR0 31, 31
#define RSRC2_WGP_TAKEOVER 31, 31
#define RSRC3_ACCUM_OFFSET 5, 0 /* first accumulation VGPR / 4 - 1 */
#define RSRC3_TG_SPLIT 16, 16
#define RSRC3_SHARED_VGPR_CNT 3, 0
#define RSRC3_INST_PREF_SIZE_GFX11 9, 4
#define RSRC3_INST_PREF_SIZE_GFX12 11, 4
#define RSRC3_TRAP_ON_START 10, 10
#define RSRC3_TRAP_ON_END 11, 11
#define RSRC3_GLG_EN 13, 13
#define RSRC3_IMAGE_OP 31, 31
#define VMID_DATA 3, 0
#define RESOURCE_LIMITS_WAVES_PER_SH 9, 0
#define RESOURCE_LIMITS_TG_PER_CU 15, 12
#define RESOURCE_LIMITS_LOCK_THRESHOLD 21, 16
#define RESOURCE_LIMITS_SIMD_DEST_CNTL 22, 22
#define RESOURCE_LIMITS_FORCE_SIMD_DIST 23, 23
#define RESOURCE_LIMITS_CU_GROUP_COUNT 26, 24
#define RESOURCE_LIMITS_SIMD_DISABLE 30, 27
#define STATIC_THREAD_MGMT_SA0_CU_EN 15, 0
#define STATIC_THREAD_MGMT_SA1_CU_EN 31, 16
#define TMPRING_WAVES 11, 0 /* to gfx10: in all, a multiple of the shader engines; then per engine */
#define TMPRING_WAVESIZE_GFX10 24, 12 /* units of 1024 bytes */
#define TMPRING_WAVESIZE_GFX11 26, 12 /* units of 256 bytes */
#define TMPRING_WAVESIZE_GFX12 29, 12 /* units of 256 bytes */
#define THREAD_TRACE_ENABLE 0, 0
#define MISC_RESERVED_SEND_SEID 1, 0
#define MISC_RESERVED_SEND_SEID_GFX11 2, 0
#define MISC_RESERVED_SEND_SEID_GFX12 3, 0
#define MISC_RESERVED_WAVE_ID_BASE 16, 5
#define RELAUNCH_PAYLOAD 29, 0
#define RELAUNCH_IS_EVENT 30, 30
#define RELAUNCH_IS_STATE 31, 31
#define WAVE_RESTORE_ADDR_HI_ADDR 15, 0
#define REQ_CTRL_SOFT_GROUPING_EN 0, 0
#define REQ_CTRL_NUMBER_OF_REQUESTS_PER_CU 4, 1
#define REQ_CTRL_SOFT_GROUPING_ALLOCATION_TIMEOUT 8, 5
#define REQ_CTRL_HARD_LOCK_HYSTERESIS 9, 9
#define REQ_CTRL_HARD_LOCK_LOW_THRESHOLD 14, 10
#define REQ_CTRL_PRODUCER_REQUEST_LOCKOUT 15, 15
#define REQ_CTRL_GLOBAL_SCANNING_EN 16, 16
#define REQ_CTRL_ALLOCATION_RATE_THROTTLING_THRESHOLD 19, 17
#define REQ_CTRL_DEDICATED_PREALLOCATION_BUFFER_LIMIT 26, 20
#define USER_ACCUM_CONTRIBUTION 6, 0
#define DDID_INDEX_INDEX 10, 0
#define DISPATCH_TUNNEL_OFF_DELAY 9, 0
#define DISPATCH_TUNNEL_IMMEDIATE 10, 10
#define DISPATCH_TUNNEL_OFF_DELAY_GFX12 12, 0
#define DISPATCH_INTERLEAVE 9, 0
#define DISPATCH_INTERLEAVE_2D_X_SIZE 19, 16
#define DISPATCH_INTERLEAVE_2D_Y_SIZE 27, 24
#define CP_COHER_START_DELAY_COUNT 5, 0
#define TA_CS_BC_BASE_ADDR_HI_ADDRESS 7, 0

/* X(generations, register, field, bits) */
#define PM4_REG_FIELDS(X)                                                                                             \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, COMPUTE_SHADER_EN, DISPATCH_INITIATOR_COMPUTE_SHADER_EN)               \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, PARTIAL_TG_EN, DISPATCH_INITIATOR_PARTIAL_TG_EN)                       \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, FORCE_START_AT_000, DISPATCH_INITIATOR_FORCE_START_AT_000)             \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, ORDERED_APPEND_ENBL, DISPATCH_INITIATOR_ORDERED_APPEND_ENBL)           \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, ORDERED_APPEND_MODE, DISPATCH_INITIATOR_ORDERED_APPEND_MODE)           \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, USE_THREAD_DIMENSIONS, DISPATCH_INITIATOR_USE_THREAD_DIMENSIONS)       \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, ORDER_MODE, DISPATCH_INITIATOR_ORDER_MODE)                             \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, SCALAR_L1_INV_VOL, DISPATCH_INITIATOR_SCALAR_L1_INV_VOL)               \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, VECTOR_L1_INV_VOL, DISPATCH_INITIATOR_VECTOR_L1_INV_VOL)               \
	X(PM4_GFX12, COMPUTE_DISPATCH_INITIATOR, PING_PONG_EN, DISPATCH_INITIATOR_PING_PONG_EN)                       \
	X(PM4_GFX10_UP, COMPUTE_DISPATCH_INITIATOR, TUNNEL_ENABLE, DISPATCH_INITIATOR_TUNNEL_ENABLE)                  \
	X(PM4_ALL, COMPUTE_DISPATCH_INITIATOR, RESTORE, DISPATCH_INITIATOR_RESTORE)                                   \
	X(PM4_GFX10_UP, COMPUTE_DISPATCH_INITIATOR, CS_W32_EN, DISPATCH_INITIATOR_CS_W32_EN)                          \
	X(PM4_GFX11_UP, COMPUTE_DISPATCH_INITIATOR, AMP_SHADER_EN, DISPATCH_INITIATOR_AMP_SHADER_EN)                  \
	X(PM4_GFX11_UP, COMPUTE_DISPATCH_INITIATOR, DISABLE_DISP_PREMPT_EN, DISPATCH_INITIATOR_DISABLE_DISP_PREMPT_EN) \
	X(PM4_GFX12, COMPUTE_DISPATCH_INITIATOR, INTERLEAVE_2D_EN, DISPATCH_INITIATOR_INTERLEAVE_2D_EN)               \
	X(PM4_GFX12, COMPUTE_DISPATCH_INITIATOR, TTRACE_QUEUE_ID, DISPATCH_INITIATOR_TTRACE_QUEUE_ID)                 \
	X(PM4_TO_GFX11, COMPUTE_NUM_THREAD_X, NUM_THREAD_FULL, NUM_THREAD_FULL)                                       \
	X(PM4_GFX12, COMPUTE_NUM_THREAD_X, NUM_THREAD_FULL, NUM_THREAD_FULL_GFX12)                                    \
	X(PM4_GFX12, COMPUTE_NUM_THREAD_X, INTERLEAVE_BITS_X, NUM_THREAD_INTERLEAVE_BITS)                             \
	X(PM4_ALL, COMPUTE_NUM_THREAD_X, NUM_THREAD_PARTIAL, NUM_THREAD_PARTIAL)                                      \
	X(PM4_TO_GFX11, COMPUTE_NUM_THREAD_Y, NUM_THREAD_FULL, NUM_THREAD_FULL)                                       \
	X(PM4_GFX12, COMPUTE_NUM_THREAD_Y, NUM_THREAD_FULL, NUM_THREAD_FULL_GFX12)                                    \
	X(PM4_GFX12, COMPUTE_NUM_THREAD_Y, INTERLEAVE_BITS_Y, NUM_THREAD_INTERLEAVE_BITS)                             \
	X(PM4_ALL, COMPUTE_NUM_THREAD_Y, NUM_THREAD_PARTIAL, NUM_THREAD_PARTIAL)                                      \
	X(PM4_ALL, COMPUTE_NUM_THREAD_Z, NUM_THREAD_FULL, NUM_THREAD_FULL)                                            \
	X(PM4_ALL, COMPUTE_NUM_THREAD_Z, NUM_THREAD_PARTIAL, NUM_THREAD_PARTIAL)                                      \
	X(PM4_ALL, COMPUTE_PIPELINESTAT_ENABLE, PIPELINESTAT_ENABLE, PIPELINESTAT_ENABLE)                             \
	X(PM4_ALL, COMPUTE_PERFCOUNT_ENABLE, PERFCOUNT_ENABLE, PERFCOUNT_ENABLE)                                      \
	X(PM4_ALL, COMPUTE_PGM_HI, DATA, PGM_HI_DATA)                                                                 \
	X(PM4_ALL, COMPUTE_DISPATCH_PKT_ADDR_HI, DATA, DISPATCH_PKT_ADDR_HI_DATA)                                     \
	X(PM4_ALL, COMPUTE_DISPATCH_SCRATCH_BASE_HI, DATA, DISPATCH_SCRATCH_BASE_HI_DATA)                             \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, VGPRS, RSRC1_VGPRS)                                                             \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, SGPRS, RSRC1_SGPRS)                                                             \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, PRIORITY, RSRC1_PRIORITY)                                                       \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, FLOAT_MODE, RSRC1_FLOAT_MODE)                                                   \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, PRIV, RSRC1_PRIV)                                                               \
	X(PM4_TO_GFX11, COMPUTE_PGM_RSRC1, DX10_CLAMP, RSRC1_DX10_CLAMP)                                              \
	X(PM4_GFX12, COMPUTE_PGM_RSRC1, WG_RR_EN, RSRC1_WG_RR_EN)                                                     \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, DEBUG_MODE, RSRC1_DEBUG_MODE)                                                   \
	X(PM4_TO_GFX11, COMPUTE_PGM_RSRC1, IEEE_MODE, RSRC1_IEEE_MODE)                                                \
	X(PM4_GFX12, COMPUTE_PGM_RSRC1, DISABLE_PERF, RSRC1_DISABLE_PERF)                                             \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, BULKY, RSRC1_BULKY)                                                             \
	X(PM4_CDBG, COMPUTE_PGM_RSRC1, CDBG_USER, RSRC1_CDBG_USER)                                                    \
	X(PM4_ALL, COMPUTE_PGM_RSRC1, FP16_OVFL, RSRC1_FP16_OVFL)                                                     \
	X(PM4_GFX10_UP, COMPUTE_PGM_RSRC1, WGP_MODE, RSRC1_WGP_MODE)                                                  \
	X(PM4_GFX10_UP, COMPUTE_PGM_RSRC1, MEM_ORDERED, RSRC1_MEM_ORDERED)                                            \
	X(PM4_GFX10_UP, COMPUTE_PGM_RSRC1, FWD_PROGRESS, RSRC1_FWD_PROGRESS)                                          \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, SCRATCH_EN, RSRC2_SCRATCH_EN)                                                   \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, USER_SGPR, RSRC2_USER_SGPR)                                                     \
	X(PM4_TO_GFX11, COMPUTE_PGM_RSRC2, TRAP_PRESENT, RSRC2_TRAP_PRESENT)                                          \
	X(PM4_GFX12, COMPUTE_PGM_RSRC2, DYNAMIC_VGPR, RSRC2_DYNAMIC_VGPR)                                             \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, TGID_X_EN, RSRC2_TGID_X_EN)                                                     \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, TGID_Y_EN, RSRC2_TGID_Y_EN)                                                     \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, TGID_Z_EN, RSRC2_TGID_Z_EN)                                                     \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, TG_SIZE_EN, RSRC2_TG_SIZE_EN)                                                   \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, TIDIG_COMP_CNT, RSRC2_TIDIG_COMP_CNT)                                           \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, EXCP_EN_MSB, RSRC2_EXCP_EN_MSB)                                                 \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, LDS_SIZE, RSRC2_LDS_SIZE)                                                       \
	X(PM4_ALL, COMPUTE_PGM_RSRC2, EXCP_EN, RSRC2_EXCP_EN)                                                         \
	X(PM4_GFX9_X, COMPUTE_PGM_RSRC2, SKIP_USGPR0, RSRC2_SKIP_USGPR0)                                             \
	X(PM4_GFX12, COMPUTE_PGM_RSRC2, WGP_TAKEOVER, RSRC2_WGP_TAKEOVER)                                             \
	X(PM4_CDNA, COMPUTE_PGM_RSRC3, ACCUM_OFFSET, RSRC3_ACCUM_OFFSET)                                              \
	X(PM4_CDNA, COMPUTE_PGM_RSRC3, TG_SPLIT, RSRC3_TG_SPLIT)                                                      \
	X(PM4_GFX10_UP, COMPUTE_PGM_RSRC3, SHARED_VGPR_CNT, RSRC3_SHARED_VGPR_CNT)                                    \
	X(PM4_GFX11, COMPUTE_PGM_RSRC3, INST_PREF_SIZE, RSRC3_INST_PREF_SIZE_GFX11)                                   \
	X(PM4_GFX12, COMPUTE_PGM_RSRC3, INST_PREF_SIZE, RSRC3_INST_PREF_SIZE_GFX12)                                   \
	X(PM4_TRAPS, COMPUTE_PGM_RSRC3, TRAP_ON_START, RSRC3_TRAP_ON_START)                                           \
	X(PM4_TRAPS, COMPUTE_PGM_RSRC3, TRAP_ON_END, RSRC3_TRAP_ON_END)                                               \
	X(PM4_GFX12, COMPUTE_PGM_RSRC3, GLG_EN, RSRC3_GLG_EN)                                                         \
	X(PM4_GFX11_UP, COMPUTE_PGM_RSRC3, IMAGE_OP, RSRC3_IMAGE_OP)                                                  \
	X(PM4_ALL, COMPUTE_VMID, DATA, VMID_DATA)                                                                     \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, WAVES_PER_SH, RESOURCE_LIMITS_WAVES_PER_SH)                               \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, TG_PER_CU, RESOURCE_LIMITS_TG_PER_CU)                                     \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, LOCK_THRESHOLD, RESOURCE_LIMITS_LOCK_THRESHOLD)                           \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, SIMD_DEST_CNTL, RESOURCE_LIMITS_SIMD_DEST_CNTL)                           \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, FORCE_SIMD_DIST, RESOURCE_LIMITS_FORCE_SIMD_DIST)                         \
	X(PM4_ALL, COMPUTE_RESOURCE_LIMITS, CU_GROUP_COUNT, RESOURCE_LIMITS_CU_GROUP_COUNT)                           \
	X(PM4_GFX9_X, COMPUTE_RESOURCE_LIMITS, SIMD_DISABLE, RESOURCE_LIMITS_SIMD_DISABLE)                           \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE0, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                       \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE0, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                       \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE0, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE0, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE1, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                       \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE1, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                       \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE1, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE1, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE2, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                       \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE2, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                       \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE2, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE2, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE3, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                       \
	X(PM4_GFX9_X, COMPUTE_STATIC_THREAD_MGMT_SE3, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                       \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE3, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX10_UP, COMPUTE_STATIC_THREAD_MGMT_SE3, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE4, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                        \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE4, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                        \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE4, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE4, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE5, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                        \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE5, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                        \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE5, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE5, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE6, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                        \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE6, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                        \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE6, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE6, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE7, SH0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                        \
	X(PM4_GFX90A, COMPUTE_STATIC_THREAD_MGMT_SE7, SH1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                        \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE7, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                      \
	X(PM4_GFX11_UP, COMPUTE_STATIC_THREAD_MGMT_SE7, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                      \
	X(PM4_GFX12, COMPUTE_STATIC_THREAD_MGMT_SE8, SA0_CU_EN, STATIC_THREAD_MGMT_SA0_CU_EN)                         \
	X(PM4_GFX12, COMPUTE_STATIC_THREAD_MGMT_SE8, SA1_CU_EN, STATIC_THREAD_MGMT_SA1_CU_EN)                         \
	X(PM4_ALL, COMPUTE_TMPRING_SIZE, WAVES, TMPRING_WAVES)                                                        \
	X(PM4_TO_GFX10, COMPUTE_TMPRING_SIZE, WAVESIZE, TMPRING_WAVESIZE_GFX10)                                       \
	X(PM4_GFX11, COMPUTE_TMPRING_SIZE, WAVESIZE, TMPRING_WAVESIZE_GFX11)                                          \
	X(PM4_GFX12, COMPUTE_TMPRING_SIZE, WAVESIZE, TMPRING_WAVESIZE_GFX12)                                          \
	X(PM4_ALL, COMPUTE_THREAD_TRACE_ENABLE, THREAD_TRACE_ENABLE, THREAD_TRACE_ENABLE)                             \
	X(PM4_TO_GFX10, COMPUTE_MISC_RESERVED, SEND_SEID, MISC_RESERVED_SEND_SEID)                                    \
	X(PM4_GFX11, COMPUTE_MISC_RESERVED, SEND_SEID, MISC_RESERVED_SEND_SEID_GFX11)                                 \
	X(PM4_GFX12, COMPUTE_MISC_RESERVED, SEND_SEID, MISC_RESERVED_SEND_SEID_GFX12)                                 \
	X(PM4_ALL, COMPUTE_MISC_RESERVED, WAVE_ID_BASE, MISC_RESERVED_WAVE_ID_BASE)                                   \
	X(PM4_ALL, COMPUTE_RELAUNCH, PAYLOAD, RELAUNCH_PAYLOAD)                                                       \
	X(PM4_ALL, COMPUTE_RELAUNCH, IS_EVENT, RELAUNCH_IS_EVENT)                                                     \
	X(PM4_ALL, COMPUTE_RELAUNCH, IS_STATE, RELAUNCH_IS_STATE)                                                     \
	X(PM4_GFX10_UP, COMPUTE_RELAUNCH2, PAYLOAD, RELAUNCH_PAYLOAD)                                                 \
	X(PM4_GFX10_UP, COMPUTE_RELAUNCH2, IS_EVENT, RELAUNCH_IS_EVENT)                                               \
	X(PM4_GFX10_UP, COMPUTE_RELAUNCH2, IS_STATE, RELAUNCH_IS_STATE)                                               \
	X(PM4_ALL, COMPUTE_WAVE_RESTORE_ADDR_HI, ADDR, WAVE_RESTORE_ADDR_HI_ADDR)                                     \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, SOFT_GROUPING_EN, REQ_CTRL_SOFT_GROUPING_EN)                                \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, NUMBER_OF_REQUESTS_PER_CU, REQ_CTRL_NUMBER_OF_REQUESTS_PER_CU)              \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, SOFT_GROUPING_ALLOCATION_TIMEOUT, REQ_CTRL_SOFT_GROUPING_ALLOCATION_TIMEOUT) \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, HARD_LOCK_HYSTERESIS, REQ_CTRL_HARD_LOCK_HYSTERESIS)                        \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, HARD_LOCK_LOW_THRESHOLD, REQ_CTRL_HARD_LOCK_LOW_THRESHOLD)                  \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, PRODUCER_REQUEST_LOCKOUT, REQ_CTRL_PRODUCER_REQUEST_LOCKOUT)                \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, GLOBAL_SCANNING_EN, REQ_CTRL_GLOBAL_SCANNING_EN)                            \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, ALLOCATION_RATE_THROTTLING_THRESHOLD, REQ_CTRL_ALLOCATION_RATE_THROTTLING_THRESHOLD) \
	X(PM4_GFX10_UP, COMPUTE_REQ_CTRL, DEDICATED_PREALLOCATION_BUFFER_LIMIT, REQ_CTRL_DEDICATED_PREALLOCATION_BUFFER_LIMIT) \
	X(PM4_GFX10_UP, COMPUTE_USER_ACCUM_0, CONTRIBUTION, USER_ACCUM_CONTRIBUTION)                                  \
	X(PM4_GFX10_UP, COMPUTE_USER_ACCUM_1, CONTRIBUTION, USER_ACCUM_CONTRIBUTION)                                  \
	X(PM4_GFX10_UP, COMPUTE_USER_ACCUM_2, CONTRIBUTION, USER_ACCUM_CONTRIBUTION)                                  \
	X(PM4_GFX10_UP, COMPUTE_USER_ACCUM_3, CONTRIBUTION, USER_ACCUM_CONTRIBUTION)                                  \
	X(PM4_GFX10_UP, COMPUTE_DDID_INDEX, INDEX, DDID_INDEX_INDEX)                                                  \
	X(PM4_GFX10_11, COMPUTE_DISPATCH_TUNNEL, OFF_DELAY, DISPATCH_TUNNEL_OFF_DELAY)                                \
	X(PM4_GFX10_11, COMPUTE_DISPATCH_TUNNEL, IMMEDIATE, DISPATCH_TUNNEL_IMMEDIATE)                                \
	X(PM4_GFX12, COMPUTE_DISPATCH_TUNNEL, OFF_DELAY, DISPATCH_TUNNEL_OFF_DELAY_GFX12)                             \
	X(PM4_GFX11, COMPUTE_DISPATCH_INTERLEAVE, INTERLEAVE, DISPATCH_INTERLEAVE)                                    \
	X(PM4_GFX12, COMPUTE_DISPATCH_INTERLEAVE, INTERLEAVE_1D, DISPATCH_INTERLEAVE)                                 \
	X(PM4_GFX12, COMPUTE_DISPATCH_INTERLEAVE, INTERLEAVE_2D_X_SIZE, DISPATCH_INTERLEAVE_2D_X_SIZE)                \
	X(PM4_GFX12, COMPUTE_DISPATCH_INTERLEAVE, INTERLEAVE_2D_Y_SIZE, DISPATCH_INTERLEAVE_2D_Y_SIZE)                \
	X(PM4_TO_GFX10, CP_COHER_START_DELAY, START_DELAY_COUNT, CP_COHER_START_DELAY_COUNT)                          \
	X(PM4_ALL, TA_CS_BC_BASE_ADDR_HI, ADDRESS, TA_CS_BC_BASE_ADDR_HI_ADDRESS)

/* ---- packets ---- */
#define COHER_TC_NC_ACTION 3, 3 /* only lines of non-coherent memory */
#define COHER_TC_WC_ACTION 4, 4
#define COHER_TC_INV_METADATA_ACTION 5, 5
#define COHER_TCL1_VOL_ACTION 15, 15
#define COHER_TC_WB_ACTION 18, 18 /* L2 write back */
#define COHER_TCL1_ACTION 22, 22 /* vector L1 */
#define COHER_TC_ACTION 23, 23 /* L2 invalidate */
#define COHER_CB_ACTION 25, 25
#define COHER_DB_ACTION 26, 26
#define COHER_SH_KCACHE_ACTION 27, 27 /* scalar cache */
#define COHER_SH_KCACHE_VOL_ACTION 28, 28
#define COHER_SH_ICACHE_ACTION 29, 29 /* instruction cache */
#define COHER_SH_KCACHE_WB_ACTION 30, 30
#define GCR_GLI_INV 1, 0 /* instruction cache: 1 = all */
#define GCR_GL1_RANGE 3, 2
#define GCR_GLM_WB 4, 4
#define GCR_GLM_INV 5, 5
#define GCR_GLK_WB 6, 6
#define GCR_GLK_INV 7, 7 /* scalar cache */
#define GCR_GLV_INV 8, 8 /* vector L0 */
#define GCR_GL1_INV 9, 9 /* shader-array L1 */
#define GCR_GL2_US 10, 10
#define GCR_GL2_RANGE 12, 11
#define GCR_GL2_DISCARD 13, 13
#define GCR_GL2_INV 14, 14
#define GCR_GL2_WB 15, 15
#define GCR_SEQ 17, 16 /* 0 parallel, 1 forward, 2 reverse */
#define GCR_RANGE_IS_PA 18, 18
#define EVENT_WRITE_EVENT_TYPE 5, 0
#define EVENT_WRITE_EVENT_INDEX 11, 8
#define RELEASE_MEM_EVENT_TYPE 5, 0
#define RELEASE_MEM_WAIT_SYNC 7, 7
#define RELEASE_MEM_EVENT_INDEX 11, 8 /* 5 = end of pipe */
#define RELEASE_MEM_TCL1_VOL_ACTION 12, 12
#define RELEASE_MEM_TC_VOL_ACTION 13, 13
#define RELEASE_MEM_TC_WB_ACTION 15, 15
#define RELEASE_MEM_TCL1_ACTION 16, 16
#define RELEASE_MEM_TC_ACTION 17, 17
#define RELEASE_MEM_TC_NC_ACTION 19, 19
#define RELEASE_MEM_TC_WC_ACTION 20, 20
#define RELEASE_MEM_TC_MD_ACTION 21, 21
#define RELEASE_MEM_GLM_WB 12, 12
#define RELEASE_MEM_GLM_INV 13, 13
#define RELEASE_MEM_GLV_INV 14, 14
#define RELEASE_MEM_GL1_INV 15, 15
#define RELEASE_MEM_GL2_US 16, 16
#define RELEASE_MEM_GL2_RANGE 18, 17
#define RELEASE_MEM_GL2_DISCARD 19, 19
#define RELEASE_MEM_GL2_INV 20, 20
#define RELEASE_MEM_GL2_WB 21, 21
#define RELEASE_MEM_SEQ 23, 22
#define RELEASE_MEM_GLK_WB 24, 24
#define RELEASE_MEM_CACHE_POLICY 26, 25 /* 3 = bypass */
#define RELEASE_MEM_EXECUTE 29, 28 /* gfx ring */
#define RELEASE_MEM_GLK_INV 30, 30
#define RELEASE_MEM_PWS_ENABLE 31, 31 /* gfx ring */
#define RELEASE_MEM_DST_SEL 17, 16 /* 0 memory */
#define RELEASE_MEM_INT_SEL 26, 24 /* 0 none, 2 interrupt after write confirm */
#define RELEASE_MEM_DATA_SEL 31, 29 /* 1 low 32 bits, 2 64 bits, 3 GPU clock */
#define WRITE_DATA_DST_SEL 11, 8 /* 0 register, 2 L2, 5 memory */
#define WRITE_DATA_ONE_ADDR 16, 16
#define WRITE_DATA_WR_CONFIRM 20, 20
#define WRITE_DATA_ENGINE_SEL 31, 30
#define COPY_DATA_SRC_SEL 3, 0 /* 0 register, 1 memory, 2 L2, 5 immediate, 9 GPU clock */
#define COPY_DATA_DST_SEL 11, 8 /* 0 register, 2 L2, 5 memory */
#define COPY_DATA_COUNT_SEL 16, 16 /* 1 = 64 bits */
#define COPY_DATA_WR_CONFIRM 20, 20
#define DMA_DATA_ENGINE 0, 0
#define DMA_DATA_SRC_CACHE_POLICY 14, 13
#define DMA_DATA_DST_SEL 21, 20 /* 0 address, 2 nowhere, 3 address through L2 */
#define DMA_DATA_DST_CACHE_POLICY 26, 25
#define DMA_DATA_SRC_SEL 30, 29 /* 0 address, 2 the data dword, 3 address through L2 */
#define DMA_DATA_CP_SYNC 31, 31
#define DMA_DATA_BYTE_COUNT 25, 0
#define DMA_DATA_SAS 26, 26
#define DMA_DATA_DAS 27, 27
#define DMA_DATA_SAIC 28, 28
#define DMA_DATA_DAIC 29, 29
#define DMA_DATA_RAW_WAIT 30, 30
#define DMA_DATA_DIS_WC 31, 31
#define WAIT_REG_MEM_FUNCTION 2, 0 /* 0 always 1 < 2 <= 3 == 4 != 5 >= 6 > */
#define WAIT_REG_MEM_MEM_SPACE 5, 4
#define WAIT_REG_MEM_OPERATION 7, 6
#define INDIRECT_BUFFER_SIZE 19, 0
#define INDIRECT_BUFFER_CHAIN 20, 20
#define INDIRECT_BUFFER_PRE_ENA 21, 21
#define INDIRECT_BUFFER_VALID 23, 23
#define COND_EXEC_COUNT 13, 0

/* X(generations, packet, dword behind the header counted from 1, field, bits) */
#define PM4_PACKET_FIELDS(X)                                                                                          \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TC_NC_ACTION_ENA, COHER_TC_NC_ACTION)                                          \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TC_WC_ACTION_ENA, COHER_TC_WC_ACTION)                                          \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TC_INV_METADATA_ACTION_ENA, COHER_TC_INV_METADATA_ACTION)                      \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TCL1_VOL_ACTION_ENA, COHER_TCL1_VOL_ACTION)                                    \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TC_WB_ACTION_ENA, COHER_TC_WB_ACTION)                                          \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TCL1_ACTION_ENA, COHER_TCL1_ACTION)                                            \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, TC_ACTION_ENA, COHER_TC_ACTION)                                                \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, CB_ACTION_ENA, COHER_CB_ACTION)                                                \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, DB_ACTION_ENA, COHER_DB_ACTION)                                                \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, SH_KCACHE_ACTION_ENA, COHER_SH_KCACHE_ACTION)                                  \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, SH_KCACHE_VOL_ACTION_ENA, COHER_SH_KCACHE_VOL_ACTION)                          \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, SH_ICACHE_ACTION_ENA, COHER_SH_ICACHE_ACTION)                                  \
	X(PM4_GFX9_X, ACQUIRE_MEM, 1, SH_KCACHE_WB_ACTION_ENA, COHER_SH_KCACHE_WB_ACTION)                            \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GLI_INV, GCR_GLI_INV)                                                         \
	X(PM4_GFX10_11, ACQUIRE_MEM, 7, GL1_RANGE, GCR_GL1_RANGE)                                                     \
	X(PM4_GFX10_11, ACQUIRE_MEM, 7, GLM_WB, GCR_GLM_WB)                                                           \
	X(PM4_GFX10_11, ACQUIRE_MEM, 7, GLM_INV, GCR_GLM_INV)                                                         \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GLK_WB, GCR_GLK_WB)                                                           \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GLK_INV, GCR_GLK_INV)                                                         \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GLV_INV, GCR_GLV_INV)                                                         \
	X(PM4_GFX10_11, ACQUIRE_MEM, 7, GL1_INV, GCR_GL1_INV)                                                         \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GL2_US, GCR_GL2_US)                                                           \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GL2_RANGE, GCR_GL2_RANGE)                                                     \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GL2_DISCARD, GCR_GL2_DISCARD)                                                 \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GL2_INV, GCR_GL2_INV)                                                         \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, GL2_WB, GCR_GL2_WB)                                                           \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, SEQ, GCR_SEQ)                                                                 \
	X(PM4_GFX10_UP, ACQUIRE_MEM, 7, RANGE_IS_PA, GCR_RANGE_IS_PA)                                                 \
	X(PM4_ALL, EVENT_WRITE, 1, EVENT_TYPE, EVENT_WRITE_EVENT_TYPE)                                                \
	X(PM4_ALL, EVENT_WRITE, 1, EVENT_INDEX, EVENT_WRITE_EVENT_INDEX)                                              \
	X(PM4_ALL, RELEASE_MEM, 1, EVENT_TYPE, RELEASE_MEM_EVENT_TYPE)                                                \
	X(PM4_GFX11_UP, RELEASE_MEM, 1, WAIT_SYNC, RELEASE_MEM_WAIT_SYNC)                                             \
	X(PM4_ALL, RELEASE_MEM, 1, EVENT_INDEX, RELEASE_MEM_EVENT_INDEX)                                              \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TCL1_VOL_ACTION_ENA, RELEASE_MEM_TCL1_VOL_ACTION)                              \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_VOL_ACTION_ENA, RELEASE_MEM_TC_VOL_ACTION)                                  \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_WB_ACTION_ENA, RELEASE_MEM_TC_WB_ACTION)                                    \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TCL1_ACTION_ENA, RELEASE_MEM_TCL1_ACTION)                                      \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_ACTION_ENA, RELEASE_MEM_TC_ACTION)                                          \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_NC_ACTION_ENA, RELEASE_MEM_TC_NC_ACTION)                                    \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_WC_ACTION_ENA, RELEASE_MEM_TC_WC_ACTION)                                    \
	X(PM4_GFX9_X, RELEASE_MEM, 1, TC_MD_ACTION_ENA, RELEASE_MEM_TC_MD_ACTION)                                    \
	X(PM4_GFX10_11, RELEASE_MEM, 1, GLM_WB, RELEASE_MEM_GLM_WB)                                                   \
	X(PM4_GFX10_11, RELEASE_MEM, 1, GLM_INV, RELEASE_MEM_GLM_INV)                                                 \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GLV_INV, RELEASE_MEM_GLV_INV)                                                 \
	X(PM4_GFX10_11, RELEASE_MEM, 1, GL1_INV, RELEASE_MEM_GL1_INV)                                                 \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GL2_US, RELEASE_MEM_GL2_US)                                                   \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GL2_RANGE, RELEASE_MEM_GL2_RANGE)                                             \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GL2_DISCARD, RELEASE_MEM_GL2_DISCARD)                                         \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GL2_INV, RELEASE_MEM_GL2_INV)                                                 \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, GL2_WB, RELEASE_MEM_GL2_WB)                                                   \
	X(PM4_GFX10_UP, RELEASE_MEM, 1, SEQ, RELEASE_MEM_SEQ)                                                         \
	X(PM4_GFX11_UP, RELEASE_MEM, 1, GLK_WB, RELEASE_MEM_GLK_WB)                                                   \
	X(PM4_ALL, RELEASE_MEM, 1, CACHE_POLICY, RELEASE_MEM_CACHE_POLICY)                                            \
	X(PM4_GFX11_UP, RELEASE_MEM, 1, EXECUTE, RELEASE_MEM_EXECUTE)                                                 \
	X(PM4_GFX11_UP, RELEASE_MEM, 1, GLK_INV, RELEASE_MEM_GLK_INV)                                                 \
	X(PM4_GFX11_UP, RELEASE_MEM, 1, PWS_ENABLE, RELEASE_MEM_PWS_ENABLE)                                           \
	X(PM4_ALL, RELEASE_MEM, 2, DST_SEL, RELEASE_MEM_DST_SEL)                                                      \
	X(PM4_ALL, RELEASE_MEM, 2, INT_SEL, RELEASE_MEM_INT_SEL)                                                      \
	X(PM4_ALL, RELEASE_MEM, 2, DATA_SEL, RELEASE_MEM_DATA_SEL)                                                    \
	X(PM4_ALL, WRITE_DATA, 1, DST_SEL, WRITE_DATA_DST_SEL)                                                        \
	X(PM4_ALL, WRITE_DATA, 1, WR_ONE_ADDR, WRITE_DATA_ONE_ADDR)                                                   \
	X(PM4_ALL, WRITE_DATA, 1, WR_CONFIRM, WRITE_DATA_WR_CONFIRM)                                                  \
	X(PM4_ALL, WRITE_DATA, 1, ENGINE_SEL, WRITE_DATA_ENGINE_SEL)                                                  \
	X(PM4_ALL, COPY_DATA, 1, SRC_SEL, COPY_DATA_SRC_SEL)                                                          \
	X(PM4_ALL, COPY_DATA, 1, DST_SEL, COPY_DATA_DST_SEL)                                                          \
	X(PM4_ALL, COPY_DATA, 1, COUNT_SEL, COPY_DATA_COUNT_SEL)                                                      \
	X(PM4_ALL, COPY_DATA, 1, WR_CONFIRM, COPY_DATA_WR_CONFIRM)                                                    \
	X(PM4_ALL, DMA_DATA, 1, ENGINE, DMA_DATA_ENGINE)                                                              \
	X(PM4_ALL, DMA_DATA, 1, SRC_CACHE_POLICY, DMA_DATA_SRC_CACHE_POLICY)                                          \
	X(PM4_ALL, DMA_DATA, 1, DST_SEL, DMA_DATA_DST_SEL)                                                            \
	X(PM4_ALL, DMA_DATA, 1, DST_CACHE_POLICY, DMA_DATA_DST_CACHE_POLICY)                                          \
	X(PM4_ALL, DMA_DATA, 1, SRC_SEL, DMA_DATA_SRC_SEL)                                                            \
	X(PM4_ALL, DMA_DATA, 1, CP_SYNC, DMA_DATA_CP_SYNC)                                                            \
	X(PM4_ALL, DMA_DATA, 6, BYTE_COUNT, DMA_DATA_BYTE_COUNT)                                                      \
	X(PM4_ALL, DMA_DATA, 6, SAS, DMA_DATA_SAS)                                                                    \
	X(PM4_ALL, DMA_DATA, 6, DAS, DMA_DATA_DAS)                                                                    \
	X(PM4_ALL, DMA_DATA, 6, SAIC, DMA_DATA_SAIC)                                                                  \
	X(PM4_ALL, DMA_DATA, 6, DAIC, DMA_DATA_DAIC)                                                                  \
	X(PM4_ALL, DMA_DATA, 6, RAW_WAIT, DMA_DATA_RAW_WAIT)                                                          \
	X(PM4_ALL, DMA_DATA, 6, DISABLE_WR_CONFIRM, DMA_DATA_DIS_WC)                                                  \
	X(PM4_ALL, WAIT_REG_MEM, 1, FUNCTION, WAIT_REG_MEM_FUNCTION)                                                  \
	X(PM4_ALL, WAIT_REG_MEM, 1, MEM_SPACE, WAIT_REG_MEM_MEM_SPACE)                                                \
	X(PM4_ALL, WAIT_REG_MEM, 1, OPERATION, WAIT_REG_MEM_OPERATION)                                                \
	X(PM4_ALL, INDIRECT_BUFFER, 3, IB_SIZE, INDIRECT_BUFFER_SIZE)                                                 \
	X(PM4_ALL, INDIRECT_BUFFER, 3, CHAIN, INDIRECT_BUFFER_CHAIN)                                                  \
	X(PM4_ALL, INDIRECT_BUFFER, 3, PRE_ENA, INDIRECT_BUFFER_PRE_ENA)                                              \
	X(PM4_ALL, INDIRECT_BUFFER, 3, VALID, INDIRECT_BUFFER_VALID)                                                  \
	X(PM4_ALL, COND_EXEC, 4, EXEC_COUNT, COND_EXEC_COUNT)                                                         \
	X(PM4_ALL, DISPATCH_DIRECT, 4, COMPUTE_SHADER_EN, DISPATCH_INITIATOR_COMPUTE_SHADER_EN)                       \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, COMPUTE_SHADER_EN, DISPATCH_INITIATOR_COMPUTE_SHADER_EN)                     \
	X(PM4_ALL, DISPATCH_DIRECT, 4, PARTIAL_TG_EN, DISPATCH_INITIATOR_PARTIAL_TG_EN)                               \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, PARTIAL_TG_EN, DISPATCH_INITIATOR_PARTIAL_TG_EN)                             \
	X(PM4_ALL, DISPATCH_DIRECT, 4, FORCE_START_AT_000, DISPATCH_INITIATOR_FORCE_START_AT_000)                     \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, FORCE_START_AT_000, DISPATCH_INITIATOR_FORCE_START_AT_000)                   \
	X(PM4_ALL, DISPATCH_DIRECT, 4, ORDERED_APPEND_ENBL, DISPATCH_INITIATOR_ORDERED_APPEND_ENBL)                   \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, ORDERED_APPEND_ENBL, DISPATCH_INITIATOR_ORDERED_APPEND_ENBL)                 \
	X(PM4_ALL, DISPATCH_DIRECT, 4, ORDERED_APPEND_MODE, DISPATCH_INITIATOR_ORDERED_APPEND_MODE)                   \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, ORDERED_APPEND_MODE, DISPATCH_INITIATOR_ORDERED_APPEND_MODE)                 \
	X(PM4_ALL, DISPATCH_DIRECT, 4, USE_THREAD_DIMENSIONS, DISPATCH_INITIATOR_USE_THREAD_DIMENSIONS)               \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, USE_THREAD_DIMENSIONS, DISPATCH_INITIATOR_USE_THREAD_DIMENSIONS)             \
	X(PM4_ALL, DISPATCH_DIRECT, 4, ORDER_MODE, DISPATCH_INITIATOR_ORDER_MODE)                                     \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, ORDER_MODE, DISPATCH_INITIATOR_ORDER_MODE)                                   \
	X(PM4_ALL, DISPATCH_DIRECT, 4, SCALAR_L1_INV_VOL, DISPATCH_INITIATOR_SCALAR_L1_INV_VOL)                       \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, SCALAR_L1_INV_VOL, DISPATCH_INITIATOR_SCALAR_L1_INV_VOL)                     \
	X(PM4_ALL, DISPATCH_DIRECT, 4, VECTOR_L1_INV_VOL, DISPATCH_INITIATOR_VECTOR_L1_INV_VOL)                       \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, VECTOR_L1_INV_VOL, DISPATCH_INITIATOR_VECTOR_L1_INV_VOL)                     \
	X(PM4_GFX12, DISPATCH_DIRECT, 4, PING_PONG_EN, DISPATCH_INITIATOR_PING_PONG_EN)                               \
	X(PM4_GFX12, DISPATCH_INDIRECT, 3, PING_PONG_EN, DISPATCH_INITIATOR_PING_PONG_EN)                             \
	X(PM4_GFX10_UP, DISPATCH_DIRECT, 4, TUNNEL_ENABLE, DISPATCH_INITIATOR_TUNNEL_ENABLE)                          \
	X(PM4_GFX10_UP, DISPATCH_INDIRECT, 3, TUNNEL_ENABLE, DISPATCH_INITIATOR_TUNNEL_ENABLE)                        \
	X(PM4_ALL, DISPATCH_DIRECT, 4, RESTORE, DISPATCH_INITIATOR_RESTORE)                                           \
	X(PM4_ALL, DISPATCH_INDIRECT, 3, RESTORE, DISPATCH_INITIATOR_RESTORE)                                         \
	X(PM4_GFX10_UP, DISPATCH_DIRECT, 4, CS_W32_EN, DISPATCH_INITIATOR_CS_W32_EN)                                  \
	X(PM4_GFX10_UP, DISPATCH_INDIRECT, 3, CS_W32_EN, DISPATCH_INITIATOR_CS_W32_EN)                                \
	X(PM4_GFX11_UP, DISPATCH_DIRECT, 4, AMP_SHADER_EN, DISPATCH_INITIATOR_AMP_SHADER_EN)                          \
	X(PM4_GFX11_UP, DISPATCH_INDIRECT, 3, AMP_SHADER_EN, DISPATCH_INITIATOR_AMP_SHADER_EN)                        \
	X(PM4_GFX11_UP, DISPATCH_DIRECT, 4, DISABLE_DISP_PREMPT_EN, DISPATCH_INITIATOR_DISABLE_DISP_PREMPT_EN)        \
	X(PM4_GFX11_UP, DISPATCH_INDIRECT, 3, DISABLE_DISP_PREMPT_EN, DISPATCH_INITIATOR_DISABLE_DISP_PREMPT_EN)      \
	X(PM4_GFX12, DISPATCH_DIRECT, 4, INTERLEAVE_2D_EN, DISPATCH_INITIATOR_INTERLEAVE_2D_EN)                       \
	X(PM4_GFX12, DISPATCH_INDIRECT, 3, INTERLEAVE_2D_EN, DISPATCH_INITIATOR_INTERLEAVE_2D_EN)                     \
	X(PM4_GFX12, DISPATCH_DIRECT, 4, TTRACE_QUEUE_ID, DISPATCH_INITIATOR_TTRACE_QUEUE_ID)                         \
	X(PM4_GFX12, DISPATCH_INDIRECT, 3, TTRACE_QUEUE_ID, DISPATCH_INITIATOR_TTRACE_QUEUE_ID)

#endif
