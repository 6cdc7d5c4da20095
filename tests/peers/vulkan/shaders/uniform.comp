// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(std140, binding = 0) uniform U0 { uvec4 key; mat4 m; uint table[16]; };
layout(std140, binding = 1) uniform U1 { vec4 v[64]; };
layout(binding = 2) writeonly buffer R { uvec4 r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x;
	vec4 p = m * v[id & 63u]; // small integers: exact

	r[id] = uvec4(ivec4(p)) * key + table[id % 16u];
}
