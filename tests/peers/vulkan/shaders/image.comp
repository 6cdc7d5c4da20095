// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8) uniform image2D colours;
layout(binding = 1, r32ui) uniform uimage2D counts;
layout(binding = 2, rgba16f) uniform image2D halves;
layout(binding = 3) writeonly uniform image2D reversed;

void main()
{
	ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(colours);
	if (at.x >= size.x || at.y >= size.y)
		return;
	vec4 c = imageLoad(colours, at);

	imageAtomicAdd(counts, ivec2(at.x / 4, at.y), 1u + uint(c.y * 255.0 + 0.5));
	uint old = imageAtomicMax(counts, ivec2(size.x - 1, at.y), uint(at.x));
	imageStore(halves, at, imageLoad(halves, at).wzyx * 2.0);
	imageStore(reversed, at, vec4(c.xyz, old <= uint(size.x) ? 1.0 : 0.0));
	imageStore(colours, at, imageLoad(colours, at).wxyz);
}
