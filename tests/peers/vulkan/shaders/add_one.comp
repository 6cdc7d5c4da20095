// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Out { uint r[]; };
layout(push_constant) uniform P { uint mul, add; };

void main()
{
	uint i = gl_GlobalInvocationID.x;

	r[i] = r[i] * mul + add;
}
