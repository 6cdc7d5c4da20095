// SPDX-License-Identifier: MIT
#version 450
#extension GL_ARB_shader_clock : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer Out { uvec4 r[]; };

void main()
{
	uvec2 before = clock2x32ARB();
	uint x = gl_LocalInvocationID.x;

	for (uint i = 0; i < 50u + (r[0].x & 1u); i++)
		x = x * 1664525u + 1013904223u;
	uvec2 after = clock2x32ARB();
	r[gl_LocalInvocationID.x] = uvec4(after - before, x, 1);
}
