// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 2) const uint SIZE = 4;
layout(constant_id = 3) const bool FLAG = false;
layout(constant_id = 4) const float SCALE = 1.0;
layout(constant_id = 5) const int OFFSET = 0;
layout(binding = 0) writeonly buffer Out { uint r[]; };
shared uint t[SIZE];

void main()
{
	uint l = gl_LocalInvocationIndex, n = gl_WorkGroupSize.x * gl_WorkGroupSize.y;

	for (uint i = l; i < SIZE; i += n)
		t[i] = i * 3u;
	barrier();
	r[gl_WorkGroupID.x * n + l] = t[(l * 11u) % SIZE] + (FLAG ? 1000u : 0u) + uint(float(l) * SCALE) + uint(OFFSET) + n * 65536u;
}
