// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
layout(push_constant) uniform P { uint n; };

void main()
{
	uint i = gl_GlobalInvocationID.x;

	if (i < n)
		c[i] = a[i] + b[i];
}
