// SPDX-License-Identifier: MIT
#version 450
// A private array that only scratch memory can hold, indexed by data: RC4-like shuffling, then a walk.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, key = data[id], j = 0, sum = 0;
	uint s[256];

	for (uint i = 0; i < 256; i++)
		s[i] = i;
	for (uint i = 0; i < 256; i++) {
		uint t = s[i];

		j = (j + t + (key >> ((i & 3u) * 8u))) & 255u;
		s[i] = s[j];
		s[j] = t;
	}
	for (uint i = 0; i < 64; i++)
		sum = sum * 31u + s[(s[i] + i) & 255u];
	r[id] = sum;
}
