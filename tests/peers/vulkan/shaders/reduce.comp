// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uvec4 result[]; };
shared uint sums[256], mins[256], maxs[256], xors[256];

void main()
{
	uint l = gl_LocalInvocationID.x;
	uint v = data[gl_GlobalInvocationID.x];

	sums[l] = mins[l] = maxs[l] = xors[l] = v;
	for (uint step = 128; step > 0; step >>= 1) {
		barrier();
		if (l < step) {
			sums[l] += sums[l + step];
			mins[l] = min(mins[l], mins[l + step]);
			maxs[l] = max(maxs[l], maxs[l + step]);
			xors[l] ^= xors[l + step];
		}
	}
	if (l == 0)
		result[gl_WorkGroupID.x] = uvec4(sums[0], mins[0], maxs[0], xors[0]);
}
