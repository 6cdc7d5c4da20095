// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) buffer Out { uint bins[256]; };
layout(push_constant) uniform P { uint n; };
shared uint local_bins[256];

void main()
{
	uint stride = gl_NumWorkGroups.x * 128;

	for (uint i = gl_LocalInvocationID.x; i < 256; i += 128)
		local_bins[i] = 0;
	barrier();
	for (uint i = gl_GlobalInvocationID.x; i < n; i += stride)
		for (uint s = 0; s < 32; s += 8)
			atomicAdd(local_bins[(data[i] >> s) & 255u], 1);
	barrier();
	for (uint i = gl_LocalInvocationID.x; i < 256; i += 128)
		if (local_bins[i] != 0)
			atomicAdd(bins[i], local_bins[i]);
}
