// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 8, local_size_y = 2) in;
layout(binding = 0) buffer Out { uint r[]; };

void main()
{
	r[gl_GlobalInvocationID.y * 256u + gl_GlobalInvocationID.x] += gl_WorkGroupID.x * 16u + gl_WorkGroupID.y + 1u;
}
