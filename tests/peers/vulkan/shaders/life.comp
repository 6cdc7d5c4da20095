// SPDX-License-Identifier: MIT
#version 450
// One step of a cellular automaton on a ring of 32-bit words.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint from[]; };
layout(binding = 1) writeonly buffer Out { uint to[]; };
layout(push_constant) uniform P { uint n; };

void main()
{
	uint i = gl_GlobalInvocationID.x;
	uint c = from[i], l = from[(i + n - 1u) % n], r = from[(i + 1u) % n];

	to[i] = ((c << 1) | (l >> 31)) ^ (c | ((c >> 1) | (r << 31)));
}
