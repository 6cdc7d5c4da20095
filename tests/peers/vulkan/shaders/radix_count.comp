// SPDX-License-Identifier: MIT
#version 450
// How often each 4-bit digit occurs in each block of 256 keys; counts are digit-major, so that their scan is the order.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint shift, blocks; };
layout(binding = 0) readonly buffer Keys { uint keys[]; };
layout(binding = 1) writeonly buffer Counts { uint counts[]; };
shared uint bins[16];

void main()
{
	uint l = gl_LocalInvocationID.x;

	if (l < 16)
		bins[l] = 0;
	barrier();
	atomicAdd(bins[keys[gl_GlobalInvocationID.x] >> shift & 15u], 1);
	barrier();
	if (l < 16)
		counts[l * blocks + gl_WorkGroupID.x] = bins[l];
}
