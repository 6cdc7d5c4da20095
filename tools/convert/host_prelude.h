/* SPDX-License-Identifier: MIT */
/* firmware-shaders/prelude.h for the CPU: see run_kernels.c. Included before the .cl file, whose own
 * include of prelude.h then does nothing. */
#ifndef GPUPLAN_PRELUDE_H
#define GPUPLAN_PRELUDE_H

uint run_local_id(uint d);
uint run_group_id(uint d);
void run_barrier(void);
float exp2f(float);

#define get_local_id(d) run_local_id(d)
#define get_group_id(d) run_group_id(d)
#define lds_barrier() run_barrier()
#define fma1(a, b, c) __builtin_fmaf(a, b, c)
#define fma4(a, b, c) __builtin_elementwise_fma(a, b, c)
#define abs1(a) __builtin_fabsf(a)
#define sqrt1(a) __builtin_sqrtf(a)
#define sign_of(magnitude, sign) __builtin_copysignf(magnitude, sign)
#define exp2_raw(a) exp2f(a)
#define GROUP(n) __attribute__((reqd_work_group_size(n, 1, 1)))

#endif
