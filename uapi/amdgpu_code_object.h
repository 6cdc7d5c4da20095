/* SPDX-License-Identifier: MIT */
/* amdgpu_code_object.h: AMDGPU code objects on disk (ELF, kernel descriptor, metadata note).
 * Source: LLVM's AMDGPUUsage and output of LLVM 19. */
#ifndef GPUPLAN_UAPI_AMDGPU_CODE_OBJECT_H
#define GPUPLAN_UAPI_AMDGPU_CODE_OBJECT_H

#include <stdint.h>

#define AMDGPU_ELF_MACHINE 224		 /* EM_AMDGPU */
#define AMDGPU_ELFOSABI_HSA 64
#define AMDGPU_ELFOSABI_PAL 65
#define AMDGPU_ELFOSABI_MESA3D 66
#define AMDGPU_ELFABIVERSION_V4 2
#define AMDGPU_ELFABIVERSION_V5 3
#define AMDGPU_ELFABIVERSION_V6 4
#define AMDGPU_NT_METADATA 32		 /* note type, name "AMDGPU", desc is MessagePack */

/* e_flags, v4 and later */
#define AMDGPU_EF_MACH_MASK 0xffu
#define AMDGPU_EF_XNACK_SHIFT 8
#define AMDGPU_EF_SRAMECC_SHIFT 10
#define AMDGPU_EF_FEATURE_MASK 3u	 /* 0 unsupported, 1 any, 2 off, 3 on */
#define AMDGPU_EF_GENERIC_VERSION_SHIFT 24

/* X(mach, name): processors of e_flags. */
#define AMDGPU_EF_MACHS(X)                                                                                            \
	X(0x2c, gfx900) X(0x2d, gfx902) X(0x2e, gfx904) X(0x2f, gfx906) X(0x30, gfx908) X(0x31, gfx909)               \
	X(0x3f, gfx90a) X(0x32, gfx90c) X(0x40, gfx940) X(0x4b, gfx941) X(0x4c, gfx942)                               \
	X(0x33, gfx1010) X(0x34, gfx1011) X(0x35, gfx1012) X(0x42, gfx1013)                                           \
	X(0x36, gfx1030) X(0x37, gfx1031) X(0x38, gfx1032) X(0x39, gfx1033) X(0x3e, gfx1034) X(0x3d, gfx1035)         \
	X(0x45, gfx1036) X(0x41, gfx1100) X(0x46, gfx1101) X(0x47, gfx1102) X(0x44, gfx1103) X(0x43, gfx1150)         \
	X(0x4a, gfx1151) X(0x55, gfx1152) X(0x48, gfx1200) X(0x4e, gfx1201)

/* Relocation types of .rela.dyn */
#define AMDGPU_R_NONE 0
#define AMDGPU_R_ABS64 3
#define AMDGPU_R_RELATIVE64 13

/* 64 bytes in .rodata, 64-byte aligned, symbol "<kernel>.kd" */
struct amdgpu_kernel_descriptor {
	uint32_t group_segment_fixed_size;
	uint32_t private_segment_fixed_size;
	uint32_t kernarg_size;
	uint8_t reserved0[4];
	int64_t kernel_code_entry_byte_offset; /* from the descriptor's own address */
	uint8_t reserved1[20];
	uint32_t compute_pgm_rsrc3;
	uint32_t compute_pgm_rsrc1;
	uint32_t compute_pgm_rsrc2;
	uint16_t kernel_code_properties;
	uint16_t kernarg_preload;
	uint8_t reserved2[4];
};

/* kernel_code_properties */
#define AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER (1u << 0) /* 4 SGPRs */
#define AMDGPU_KCP_DISPATCH_PTR (1u << 1)
#define AMDGPU_KCP_QUEUE_PTR (1u << 2)
#define AMDGPU_KCP_KERNARG_SEGMENT_PTR (1u << 3)
#define AMDGPU_KCP_DISPATCH_ID (1u << 4)
#define AMDGPU_KCP_FLAT_SCRATCH_INIT (1u << 5)
#define AMDGPU_KCP_PRIVATE_SEGMENT_SIZE (1u << 6)
#define AMDGPU_KCP_WAVE32 (1u << 10)
#define AMDGPU_KCP_DYNAMIC_STACK (1u << 11)
#define AMDGPU_KCP_RESERVED 0xf380u

/* hidden arguments, v5 and v6: offsets relative to the 8-aligned end of the explicit arguments */
enum amdgpu_hidden_v5 {
	AMDGPU_HIDDEN_BLOCK_COUNT_X = 0,
	AMDGPU_HIDDEN_GROUP_SIZE_X = 12,
	AMDGPU_HIDDEN_REMAINDER_X = 18,
	AMDGPU_HIDDEN_GLOBAL_OFFSET_X = 40,
	AMDGPU_HIDDEN_GRID_DIMS = 64,
	AMDGPU_HIDDEN_PRINTF_BUFFER = 72,
	AMDGPU_HIDDEN_DYNAMIC_LDS_SIZE = 120,
	AMDGPU_HIDDEN_BYTES_V5 = 256,
};

#endif
