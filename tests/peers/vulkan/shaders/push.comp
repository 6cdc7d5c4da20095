// SPDX-License-Identifier: MIT
#version 450
// 128 bytes of push constants: some arrive in registers, the rest through memory.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Out { uint data[]; };
layout(push_constant) uniform P { uint first; uint scale; ivec2 offset; uvec4 table[6]; uint last; uint pad; uvec2 tail; };

void main()
{
	uint g = gl_WorkGroupID.x, i = g * 32 + gl_LocalInvocationID.x; // indices into push constants have to be uniform
	uint v = table[g % 6u][g & 3u] * scale + uint(offset.x - offset.y);

	data[first + i] = (v ^ last ^ tail[g & 1u]) + i;
}
