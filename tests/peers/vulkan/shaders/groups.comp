// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 5, local_size_y = 3, local_size_z = 7) in;
layout(binding = 0) writeonly buffer Out { uint r[]; };

void main()
{
	uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize, g = gl_GlobalInvocationID;
	uint at = (g.z * size.y + g.y) * size.x + g.x;

	r[at] = gl_WorkGroupID.x | gl_WorkGroupID.y << 8 | gl_WorkGroupID.z << 16 | gl_LocalInvocationIndex << 24;
}
