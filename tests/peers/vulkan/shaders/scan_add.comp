// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 256) in;
layout(binding = 0) buffer Data { uint data[]; };
layout(binding = 1) readonly buffer Totals { uint totals[]; };

void main()
{
	data[gl_GlobalInvocationID.x] += totals[gl_WorkGroupID.x];
}
