/* SPDX-License-Identifier: MIT */
/* Arguments that the loader refuses, one kernel each. */
kernel void fine(global uint *dst) { dst[0] = 1; }
kernel void takes_image(global uint *dst, read_only image2d_t picture) { dst[0] = 1; }
kernel void takes_sampler(global uint *dst, sampler_t nearest) { dst[0] = 1; }
kernel void takes_pipe(global uint *dst, read_only pipe uint stream) { dst[0] = 1; }
kernel void takes_queue(global uint *dst, queue_t device_queue) { dst[0] = 1; }
/* kernarg_segment_align above 64 */
kernel void takes_wide(global uint *dst, double16 wide) { dst[0] = wide.x > 0; }
