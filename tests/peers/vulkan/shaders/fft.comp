// SPDX-License-Identifier: MIT
#version 450
// 1024 complex points a group, radix 2 (Stockham), two points an invocation.
layout(local_size_x = 512) in;
layout(binding = 0) buffer Data { vec2 data[]; };
shared vec2 t[1024];

vec2 times(vec2 a, vec2 b)
{
	return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

void main()
{
	uint l = gl_LocalInvocationID.x, base = gl_WorkGroupID.x * 1024;

	t[l] = data[base + l];
	t[l + 512] = data[base + l + 512];
	for (uint n = 1; n < 1024; n <<= 1) {
		barrier();
		float angle = -3.14159265358979 * float(l & (n - 1)) / float(n);
		vec2 a = t[l], b = times(t[l + 512], vec2(cos(angle), sin(angle)));
		uint to = (l & ~(n - 1)) * 2 + (l & (n - 1));
		barrier();
		t[to] = a + b;
		t[to + n] = a - b;
	}
	barrier();
	data[base + l] = t[l];
	data[base + l + 512] = t[l + 512];
}
