// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { float r[]; };
shared float t[2];

void main()
{
	float v = float(data[gl_GlobalInvocationID.x] & 15u) - 7.0;

	if (gl_LocalInvocationID.x < 2)
		t[gl_LocalInvocationID.x] = 0.0;
	barrier();
	atomicAdd(t[0], v);
	atomicAdd(t[1], float(gl_LocalInvocationID.x));
	barrier();
	if (gl_LocalInvocationID.x == 0)
		r[gl_WorkGroupID.x] = t[0] + t[1];
}
