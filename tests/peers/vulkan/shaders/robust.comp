// SPDX-License-Identifier: MIT
#version 450
// Reads past the end give 0, writes past the end do nothing.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) buffer Out { uint r[]; };
layout(push_constant) uniform P { uint far; };

void main()
{
	uint id = gl_GlobalInvocationID.x;
	uint v = data[id * 2] + data[id + far];

	r[id + (id >= 256 ? far : 0)] = v + 1;
}
