// SPDX-License-Identifier: MIT
#version 450
// 192 values alive at once in a group of 1024: more than the vector registers such a group may have.
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 1024) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint r[]; };
#define COUNT 192u

void main()
{
	uint l = gl_LocalInvocationID.x, v[COUNT], sum = 0;

	[[unroll]] for (uint i = 0; i < COUNT; i++)
		v[i] = data[(l * 7u + i * 13u) & 4095u];
	for (uint round = 0; round < data[0] % 3u + 2u; round++)
		[[unroll]] for (uint i = 0; i < COUNT; i++)
			v[i] = v[i] * 5u + (v[(i * 5u + 1u) % COUNT] ^ round);
	[[unroll]] for (uint i = 0; i < COUNT; i++)
		sum = sum * 33u ^ v[i];
	r[gl_GlobalInvocationID.x] = sum;
}
