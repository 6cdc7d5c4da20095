/* SPDX-License-Identifier: MIT */
/* pm4_regs.h: the registers a compute stream writes, as offsets for SET_SH_REG (dword number minus 0x2c00) and
 * SET_UCONFIG_REG (minus 0xc000). Fields stand in pm4_fields.h.
 *
 * Source: Linux include/asic_reg/gc/gc_{9_0,9_4_2,9_4_3,10_1_0,10_3_0,11_0_0}_offset.h and _sh_mask.h, PAL's merged
 * headers for gfx12, Mesa's register database. Registers that moved between generations stand in their own lists.
 */
#ifndef GPUPLAN_UAPI_PM4_REGS_H
#define GPUPLAN_UAPI_PM4_REGS_H

#include "pm4_fields.h"

/* X(offset, name): the same on every generation from gfx9 to gfx12. From gfx10 on STATIC_THREAD_MGMT_SE0 to 3 are also
 * known as DESTINATION_EN_SE0 to 3. */
#define COMPUTE_REGS_COMMON(X)                                                                                        \
	X(0x200, COMPUTE_DISPATCH_INITIATOR)                                                                          \
	X(0x201, COMPUTE_DIM_X)                                                                                       \
	X(0x202, COMPUTE_DIM_Y)                                                                                       \
	X(0x203, COMPUTE_DIM_Z)                                                                                       \
	X(0x204, COMPUTE_START_X)                                                                                     \
	X(0x205, COMPUTE_START_Y)                                                                                     \
	X(0x206, COMPUTE_START_Z)                                                                                     \
	X(0x207, COMPUTE_NUM_THREAD_X)                                                                                \
	X(0x208, COMPUTE_NUM_THREAD_Y)                                                                                \
	X(0x209, COMPUTE_NUM_THREAD_Z)                                                                                \
	X(0x20a, COMPUTE_PIPELINESTAT_ENABLE)                                                                         \
	X(0x20b, COMPUTE_PERFCOUNT_ENABLE)                                                                            \
	X(0x20c, COMPUTE_PGM_LO)                                                                                      \
	X(0x20d, COMPUTE_PGM_HI)                                                                                      \
	X(0x20e, COMPUTE_DISPATCH_PKT_ADDR_LO)                                                                        \
	X(0x20f, COMPUTE_DISPATCH_PKT_ADDR_HI)                                                                        \
	X(0x210, COMPUTE_DISPATCH_SCRATCH_BASE_LO)                                                                    \
	X(0x211, COMPUTE_DISPATCH_SCRATCH_BASE_HI)                                                                    \
	X(0x212, COMPUTE_PGM_RSRC1)                                                                                   \
	X(0x213, COMPUTE_PGM_RSRC2)                                                                                   \
	X(0x214, COMPUTE_VMID)                                                                                        \
	X(0x215, COMPUTE_RESOURCE_LIMITS)                                                                             \
	X(0x216, COMPUTE_STATIC_THREAD_MGMT_SE0)                                                                      \
	X(0x217, COMPUTE_STATIC_THREAD_MGMT_SE1)                                                                      \
	X(0x218, COMPUTE_TMPRING_SIZE)                                                                                \
	X(0x219, COMPUTE_STATIC_THREAD_MGMT_SE2)                                                                      \
	X(0x21a, COMPUTE_STATIC_THREAD_MGMT_SE3)                                                                      \
	X(0x21b, COMPUTE_RESTART_X)                                                                                   \
	X(0x21c, COMPUTE_RESTART_Y)                                                                                   \
	X(0x21d, COMPUTE_RESTART_Z)                                                                                   \
	X(0x21e, COMPUTE_THREAD_TRACE_ENABLE)                                                                         \
	X(0x21f, COMPUTE_MISC_RESERVED)                                                                               \
	X(0x220, COMPUTE_DISPATCH_ID)                                                                                 \
	X(0x221, COMPUTE_THREADGROUP_ID)                                                                              \
	X(0x240, COMPUTE_USER_DATA_0)                                                                                 \
	X(0x241, COMPUTE_USER_DATA_1)                                                                                 \
	X(0x242, COMPUTE_USER_DATA_2)                                                                                 \
	X(0x243, COMPUTE_USER_DATA_3)                                                                                 \
	X(0x244, COMPUTE_USER_DATA_4)                                                                                 \
	X(0x245, COMPUTE_USER_DATA_5)                                                                                 \
	X(0x246, COMPUTE_USER_DATA_6)                                                                                 \
	X(0x247, COMPUTE_USER_DATA_7)                                                                                 \
	X(0x248, COMPUTE_USER_DATA_8)                                                                                 \
	X(0x249, COMPUTE_USER_DATA_9)                                                                                 \
	X(0x24a, COMPUTE_USER_DATA_10)                                                                                \
	X(0x24b, COMPUTE_USER_DATA_11)                                                                                \
	X(0x24c, COMPUTE_USER_DATA_12)                                                                                \
	X(0x24d, COMPUTE_USER_DATA_13)                                                                                \
	X(0x24e, COMPUTE_USER_DATA_14)                                                                                \
	X(0x24f, COMPUTE_USER_DATA_15)                                                                                \
	X(0x27e, COMPUTE_DISPATCH_END)                                                                                \
	X(0x27f, COMPUTE_NOWHERE)

/* gfx900 to gfx909 */
#define COMPUTE_REGS_GFX9(X)                                                                                          \
	X(0x222, COMPUTE_RELAUNCH)                                                                                    \
	X(0x223, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x224, COMPUTE_WAVE_RESTORE_ADDR_HI)

#define COMPUTE_REGS_GFX90A(X)                                                                                        \
	X(0x222, COMPUTE_RELAUNCH)                                                                                    \
	X(0x223, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x224, COMPUTE_WAVE_RESTORE_ADDR_HI)                                                                        \
	X(0x225, COMPUTE_STATIC_THREAD_MGMT_SE4)                                                                      \
	X(0x226, COMPUTE_STATIC_THREAD_MGMT_SE5)                                                                      \
	X(0x227, COMPUTE_STATIC_THREAD_MGMT_SE6)                                                                      \
	X(0x228, COMPUTE_STATIC_THREAD_MGMT_SE7)                                                                      \
	X(0x229, COMPUTE_RESTART_X2)                                                                                  \
	X(0x22a, COMPUTE_RESTART_Y2)                                                                                  \
	X(0x22b, COMPUTE_RESTART_Z2)                                                                                  \
	X(0x22c, COMPUTE_SHADER_CHKSUM)                                                                               \
	X(0x22d, COMPUTE_PGM_RSRC3)

#define COMPUTE_REGS_GFX942(X)                                                                                        \
	X(0x222, COMPUTE_RELAUNCH)                                                                                    \
	X(0x223, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x224, COMPUTE_WAVE_RESTORE_ADDR_HI)                                                                        \
	X(0x227, COMPUTE_TG_CHUNK_SIZE)                                                                               \
	X(0x22c, COMPUTE_SHADER_CHKSUM)                                                                               \
	X(0x22d, COMPUTE_PGM_RSRC3)

/* gfx101x and gfx103x */
#define COMPUTE_REGS_GFX10(X)                                                                                         \
	X(0x222, COMPUTE_REQ_CTRL)                                                                                    \
	X(0x224, COMPUTE_USER_ACCUM_0)                                                                                \
	X(0x225, COMPUTE_USER_ACCUM_1)                                                                                \
	X(0x226, COMPUTE_USER_ACCUM_2)                                                                                \
	X(0x227, COMPUTE_USER_ACCUM_3)                                                                                \
	X(0x228, COMPUTE_PGM_RSRC3)                                                                                   \
	X(0x229, COMPUTE_DDID_INDEX)                                                                                  \
	X(0x22a, COMPUTE_SHADER_CHKSUM)                                                                               \
	X(0x22b, COMPUTE_RELAUNCH)                                                                                    \
	X(0x22c, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x22d, COMPUTE_WAVE_RESTORE_ADDR_HI)                                                                        \
	X(0x22e, COMPUTE_RELAUNCH2)                                                                                   \
	X(0x27d, COMPUTE_DISPATCH_TUNNEL)

#define COMPUTE_REGS_GFX11(X)                                                                                         \
	X(0x222, COMPUTE_REQ_CTRL)                                                                                    \
	X(0x224, COMPUTE_USER_ACCUM_0)                                                                                \
	X(0x225, COMPUTE_USER_ACCUM_1)                                                                                \
	X(0x226, COMPUTE_USER_ACCUM_2)                                                                                \
	X(0x227, COMPUTE_USER_ACCUM_3)                                                                                \
	X(0x228, COMPUTE_PGM_RSRC3)                                                                                   \
	X(0x229, COMPUTE_DDID_INDEX)                                                                                  \
	X(0x22a, COMPUTE_SHADER_CHKSUM)                                                                               \
	X(0x22b, COMPUTE_STATIC_THREAD_MGMT_SE4)                                                                      \
	X(0x22c, COMPUTE_STATIC_THREAD_MGMT_SE5)                                                                      \
	X(0x22d, COMPUTE_STATIC_THREAD_MGMT_SE6)                                                                      \
	X(0x22e, COMPUTE_STATIC_THREAD_MGMT_SE7)                                                                      \
	X(0x22f, COMPUTE_DISPATCH_INTERLEAVE)                                                                         \
	X(0x230, COMPUTE_RELAUNCH)                                                                                    \
	X(0x231, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x232, COMPUTE_WAVE_RESTORE_ADDR_HI)                                                                        \
	X(0x233, COMPUTE_RELAUNCH2)                                                                                   \
	X(0x27d, COMPUTE_DISPATCH_TUNNEL)

#define COMPUTE_REGS_GFX12(X)                                                                                         \
	X(0x222, COMPUTE_REQ_CTRL)                                                                                    \
	X(0x223, COMPUTE_STATIC_THREAD_MGMT_SE8)                                                                      \
	X(0x224, COMPUTE_USER_ACCUM_0)                                                                                \
	X(0x225, COMPUTE_USER_ACCUM_1)                                                                                \
	X(0x226, COMPUTE_USER_ACCUM_2)                                                                                \
	X(0x227, COMPUTE_USER_ACCUM_3)                                                                                \
	X(0x228, COMPUTE_PGM_RSRC3)                                                                                   \
	X(0x229, COMPUTE_DDID_INDEX)                                                                                  \
	X(0x22a, COMPUTE_SHADER_CHKSUM)                                                                               \
	X(0x22b, COMPUTE_STATIC_THREAD_MGMT_SE4)                                                                      \
	X(0x22c, COMPUTE_STATIC_THREAD_MGMT_SE5)                                                                      \
	X(0x22d, COMPUTE_STATIC_THREAD_MGMT_SE6)                                                                      \
	X(0x22e, COMPUTE_STATIC_THREAD_MGMT_SE7)                                                                      \
	X(0x22f, COMPUTE_DISPATCH_INTERLEAVE)                                                                         \
	X(0x230, COMPUTE_RELAUNCH)                                                                                    \
	X(0x231, COMPUTE_WAVE_RESTORE_ADDR_LO)                                                                        \
	X(0x232, COMPUTE_WAVE_RESTORE_ADDR_HI)                                                                        \
	X(0x233, COMPUTE_RELAUNCH2)                                                                                   \
	X(0x235, COMPUTE_PRESCALED_DIM_X)                                                                             \
	X(0x236, COMPUTE_PRESCALED_DIM_Y)                                                                             \
	X(0x237, COMPUTE_PRESCALED_DIM_Z)                                                                             \
	X(0x27d, COMPUTE_DISPATCH_TUNNEL)

/* SET_UCONFIG_REG. CP_COHER_START_DELAY is gone from gfx11 on. */
#define UCONFIG_REGS(X)                                                                                               \
	X(0x07b, CP_COHER_START_DELAY)                                                                                \
	X(0x380, TA_CS_BC_BASE_ADDR)                                                                                  \
	X(0x381, TA_CS_BC_BASE_ADDR_HI)


enum compute_reg {
#define REGS_X(offset, name) R_##name = offset,
	COMPUTE_REGS_COMMON(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx9 {
#define REGS_X(offset, name) R_GFX9_##name = offset,
	COMPUTE_REGS_GFX9(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx90a {
#define REGS_X(offset, name) R_GFX90A_##name = offset,
	COMPUTE_REGS_GFX90A(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx942 {
#define REGS_X(offset, name) R_GFX942_##name = offset,
	COMPUTE_REGS_GFX942(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx10 {
#define REGS_X(offset, name) R_GFX10_##name = offset,
	COMPUTE_REGS_GFX10(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx11 {
#define REGS_X(offset, name) R_GFX11_##name = offset,
	COMPUTE_REGS_GFX11(REGS_X)
#undef REGS_X
};

enum compute_reg_gfx12 {
#define REGS_X(offset, name) R_GFX12_##name = offset,
	COMPUTE_REGS_GFX12(REGS_X)
#undef REGS_X
};

enum uconfig_reg {
#define REGS_X(offset, name) R_##name = offset,
	UCONFIG_REGS(REGS_X)
#undef REGS_X
};

/* COMPUTE_DISPATCH_INTERLEAVE, gfx11 and gfx12: consecutive workgroups per shader engine; Mesa's value. */
#define DISPATCH_INTERLEAVE_GFX11 64u
/* CP_COHER_START_DELAY: Mesa's values. */
#define CP_COHER_START_DELAY_GFX9 0u
#define CP_COHER_START_DELAY_GFX10 0x20u

#endif
