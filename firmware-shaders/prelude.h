/* SPDX-License-Identifier: MIT */
/*
 * What the kernels need from OpenCL C, as compiler builtins.
 *
 * The objects are linked with no device library (-nogpulib), where get_local_id, barrier, fma and
 * the math functions are only declared. Each macro replaces such a declaration by the builtin that
 * a library would have ended in. Include it first in every .cl file.
 *
 * There is no get_global_id, get_local_size or get_num_groups on purpose: they read hidden
 * arguments, which make the argument block 256 bytes longer. The kernels here have a fixed group
 * size and take their bounds as arguments, so their argument block is what their signature says.
 */
#ifndef GPUPLAN_PRELUDE_H
#define GPUPLAN_PRELUDE_H

#define get_local_id(d) ((uint)((d) == 0   ? __builtin_amdgcn_workitem_id_x() \
				: (d) == 1 ? __builtin_amdgcn_workitem_id_y() \
					   : __builtin_amdgcn_workitem_id_z()))
#define get_group_id(d) ((uint)((d) == 0   ? __builtin_amdgcn_workgroup_id_x() \
				: (d) == 1 ? __builtin_amdgcn_workgroup_id_y() \
					   : __builtin_amdgcn_workgroup_id_z()))

/*
 * Group barrier that orders LDS accesses only. No kernel here passes data between work-items
 * through global memory, and a fence on all address spaces would also wait for (and on gfx10+
 * invalidate the vector L0 after) the weight loads in flight.
 */
#define lds_barrier() \
	do { \
		__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local"); \
		__builtin_amdgcn_s_barrier(); \
		__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local"); \
	} while (0)

#define fma1(a, b, c) __builtin_fmaf(a, b, c)
#define fma4(a, b, c) __builtin_elementwise_fma(a, b, c)
#define abs1(a) __builtin_fabsf(a)
#define sqrt1(a) __builtin_sqrtf(a)
#define sign_of(magnitude, sign) __builtin_copysignf(magnitude, sign)
/* v_exp_f32: 2^x to 1 ulp. It returns 0 where the result is denormal: keep x above -126. */
#define exp2_raw(a) __builtin_amdgcn_exp2f(a)

/* All groups of one kernel have this many work-items, whatever the wave size. */
#define GROUP(n) __attribute__((reqd_work_group_size(n, 1, 1)))

#endif
