// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform P { uint m, n, k; };
shared float ta[16][17], tb[16][17];

void main()
{
	uint row = gl_GlobalInvocationID.y, col = gl_GlobalInvocationID.x;
	uint ly = gl_LocalInvocationID.y, lx = gl_LocalInvocationID.x;
	float sum = 0.0;

	for (uint t = 0; t < k; t += 16) {
		ta[ly][lx] = row < m && t + lx < k ? a[row * k + t + lx] : 0.0;
		tb[ly][lx] = t + ly < k && col < n ? b[(t + ly) * n + col] : 0.0;
		barrier();
		for (uint i = 0; i < 16; i++)
			sum += ta[ly][i] * tb[i][lx];
		barrier();
	}
	if (row < m && col < n)
		c[row * n + col] = sum;
}
