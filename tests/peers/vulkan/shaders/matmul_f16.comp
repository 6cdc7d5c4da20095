// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
// 2x2 results per invocation on packed halves; the sum is kept in f32.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) readonly buffer A { f16vec4 a[]; };
layout(binding = 1) readonly buffer B { f16vec4 b[]; }; // transposed
layout(binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform P { uint n, k4; };
shared f16vec4 ta[16][8], tb[16][8];

void main()
{
	uvec2 l = gl_LocalInvocationID.xy, base = gl_WorkGroupID.xy * 16u;
	mat2 sum = mat2(0.0);

	for (uint t = 0; t < k4; t += 8) {
		for (uint r = l.y; r < 16; r += 8) {
			ta[r][l.x] = a[(base.y + r) * k4 + t + l.x];
			tb[r][l.x] = b[(base.x + r) * k4 + t + l.x];
		}
		barrier();
		for (uint i = 0; i < 8; i++)
			for (uint x = 0; x < 2; x++)
				for (uint y = 0; y < 2; y++) {
					f16vec4 p = ta[l.y * 2 + y][i] * tb[l.x * 2 + x][i];
					sum[x][y] += float(p.x + p.y) + float(p.z + p.w);
				}
		barrier();
	}
	for (uint x = 0; x < 2; x++)
		for (uint y = 0; y < 2; y++)
			c[(base.y + l.y * 2 + y) * n + base.x + l.x * 2 + x] = sum[x][y];
}
