// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
// 64 x 64 x 64, signed bytes into 32 bits; b is transposed.
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly buffer A { i8vec4 a[64][16]; };
layout(binding = 1) readonly buffer B { i8vec4 b[64][16]; };
layout(binding = 2) writeonly buffer C { int c[64][64]; };

void main()
{
	uvec2 at = gl_GlobalInvocationID.xy;
	int sum = 0;

	for (uint k = 0; k < 16; k++) {
		ivec4 p = ivec4(a[at.y][k]) * ivec4(b[at.x][k]);
		sum += p.x + p.y + p.z + p.w;
	}
	c[at.y][at.x] = sum;
}
