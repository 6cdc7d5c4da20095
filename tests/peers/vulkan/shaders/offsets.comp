// SPDX-License-Identifier: MIT
#version 450
// Three sets, dynamic offsets in two of them.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform Scale { uint scale; };
layout(set = 1, binding = 0) readonly buffer In { uint data[]; };
layout(set = 2, binding = 0) writeonly buffer Out { uint r[]; };

void main()
{
	r[gl_GlobalInvocationID.x] = data[gl_GlobalInvocationID.x] * scale + gl_GlobalInvocationID.x;
}
