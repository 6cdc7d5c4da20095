// SPDX-License-Identifier: MIT
// Two kernels that do nothing, with descriptors that ask for what matters in a stream: `plain` for arguments alone,
// `hungry` for private memory and LDS. PROCESSOR and WAVE come from the command line.
	.text
	.macro kernel name
	.p2align 8
	.globl \name
	.protected \name
	.type \name,@function
\name:
	s_endpgm
	.size \name, . - \name
	.endm
	kernel plain
	kernel hungry
	.p2align 8

	.section .rodata,"a"
	.p2align 6
	.amdhsa_kernel plain
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_vgpr 24
		.amdhsa_next_free_sgpr 16
#ifndef ARCHITECTED
		.amdhsa_user_sgpr_private_segment_buffer 1
#endif
#ifdef ACCUM
		.amdhsa_accum_offset 24
#endif
	.end_amdhsa_kernel

	.p2align 6
	.amdhsa_kernel hungry
		.amdhsa_kernarg_size 24
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_vgpr_workitem_id 1
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 32
#ifndef ARCHITECTED
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
#else
		.amdhsa_enable_private_segment 1
#endif
#ifdef ACCUM
		.amdhsa_accum_offset 40
#endif
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--PROCESSOR
amdhsa.kernels:
  - .name: plain
    .symbol: plain.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: WAVE
    .sgpr_count: 16
    .vgpr_count: 24
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .access: read_write }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global, .access: read_write }
      - { .size: 4, .offset: 16, .value_kind: by_value }
  - .name: hungry
    .symbol: hungry.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 64
    .wavefront_size: WAVE
    .sgpr_count: 32
    .vgpr_count: 40
    .max_flat_workgroup_size: 256
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .access: read_write }
      - { .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global, .access: read_write }
      - { .size: 4, .offset: 16, .value_kind: by_value }
...
	.end_amdgpu_metadata
