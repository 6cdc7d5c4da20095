// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 96) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint r[]; };

uint collatz(uint n)
{
	uint steps = 0;

	while (n != 1u && steps < 300u) {
		n = (n & 1u) != 0 ? 3u * n + 1u : n >> 1;
		steps++;
	}
	return steps;
}

uint early(uint v)
{
	for (uint i = 0; i < 40; i++) {
		if ((v >> (i & 31u) & 3u) == 3u && i > 7u)
			return i * 100u;
		if ((v & (1u << (i & 31u))) == 0)
			continue;
		for (uint j = 0; j < (v & 7u); j++) {
			if (j * j == i)
				break;
			v = v * 17u + j;
		}
	}
	return v;
}

void main()
{
	uint id = gl_GlobalInvocationID.x, v = data[id], x = 0;

	switch (v % 9u) {
	case 0: x = collatz(v & 1023u | 1u); break;
	case 1: x = early(v);
	case 2: x += 7u; break;
	case 3: for (uint i = 0; i < (v >> 28); i++) x += collatz((v >> i & 255u) + 2u); break;
	case 4: x = v / (id + 1u); break;
	case 7: if ((v & 512u) != 0) { x = early(v >> 3); break; } x = 5u;
	default: x ^= v;
	}
	do {
		x = x * 1664525u + 1013904223u;
	} while ((x >> 29) > (v & 7u));
	r[id] = x;
}
