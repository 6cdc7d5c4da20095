// SPDX-License-Identifier: MIT
// What compilers do not write: kernels without .args, other kinds of kernel, a dynamic stack, a symbolic relocation,
// registers that the loader has to clean, no padding behind the code.
	.text
	.p2align 8
	.globl code
	.type code,@function
code:
	s_endpgm
.Lcode_end:
	.size code, .Lcode_end - code

	.macro descriptor name, dynamic
	.section .rodata,"a"
	.p2align 6
	.globl \name\().kd
	.protected \name\().kd
	.type \name\().kd,@object
	.size \name\().kd, 64
\name\().kd:
	.long 0			// LDS
	.long 0			// private segment
	.long 24		// kernarg
	.long 0
	.quad code_local - .	+ 16
	.fill 20, 1, 0
	.long 0			// rsrc3
	.long 0x60af0c40	// rsrc1: MEM_ORDERED, WGP_MODE, DX10_CLAMP, IEEE, modes; priority 3; SGPR granules 1
	.long 0x7f80e0c4	// rsrc2: exceptions, LDS_SIZE 1, workgroup id x.., TRAP_PRESENT, USER_SGPR 2
	.short 0x0408 | (\dynamic << 11)
	.short 0
	.long 0
	.endm
	.set code_local, code

	descriptor raw, 0
	descriptor starter, 0
	descriptor stacked, 1
	descriptor enqueued, 0

	.data
	.p2align 3
	.globl table		// default visibility: the pointer to it stays symbolic, R_AMDGPU_ABS64
	.type table,@object
	.size table, 16
table:
	.quad table + 8
	.quad 0

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1100
amdhsa.kernels:
  - .name: raw
    .symbol: raw.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 2048
  - .name: starter
    .symbol: starter.kd
    .kind: init
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
  - .name: stacked
    .symbol: stacked.kd
    .uses_dynamic_stack: true
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 16
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
  - .name: enqueued
    .symbol: enqueued.kd
    .device_enqueue_symbol: handle
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
...
	.end_amdgpu_metadata
