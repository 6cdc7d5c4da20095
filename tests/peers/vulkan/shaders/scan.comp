// SPDX-License-Identifier: MIT
#version 450
// Exclusive scan of 256 values per group; the group's total goes to totals.
layout(local_size_x = 256) in;
layout(binding = 0) buffer Data { uint data[]; };
layout(binding = 1) writeonly buffer Totals { uint totals[]; };
shared uint t[2][256];

void main()
{
	uint l = gl_LocalInvocationID.x, from = 0;
	uint v = data[gl_GlobalInvocationID.x];

	t[0][l] = v;
	for (uint step = 1; step < 256; step <<= 1) {
		barrier();
		t[1 - from][l] = t[from][l] + (l >= step ? t[from][l - step] : 0);
		from = 1 - from;
	}
	data[gl_GlobalInvocationID.x] = t[from][l] - v;
	if (l == 255)
		totals[gl_WorkGroupID.x] = t[from][l];
}
