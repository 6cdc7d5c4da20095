// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Out { uint r[]; };
layout(push_constant) uniform P { uint stride; };

void main()
{
	uint g = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;

	if (gl_LocalInvocationID.x == g % 64u)
		r[g] += g * stride + 1u;
}
