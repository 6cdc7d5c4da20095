// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) buffer Out { float r[4]; };

void main()
{
	float v = float(data[gl_GlobalInvocationID.x] & 15u) - 7.0;

	atomicAdd(r[0], v);
	if (gl_GlobalInvocationID.x == 5)
		atomicExchange(r[2], 2.5);
}
