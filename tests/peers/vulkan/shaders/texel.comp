// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(binding = 0, rgba8) uniform imageBuffer bytes;
layout(binding = 1, r32ui) uniform uimageBuffer words;
layout(binding = 2, rgba16f) uniform imageBuffer halves;
layout(binding = 3, rgba32i) uniform iimageBuffer wide;

void main()
{
	int id = int(gl_GlobalInvocationID.x);
	vec4 b = imageLoad(bytes, id);
	ivec4 w = imageLoad(wide, id);

	imageStore(words, id, uvec4(uint(b.x * 255.0 + 0.5) + uint(b.w * 255.0 + 0.5) * 256u + uint(imageSize(bytes))));
	imageAtomicAdd(words, id, uint(w.z));
	imageStore(halves, id, imageLoad(halves, id).wzyx * 2.0);
	imageStore(wide, id, ivec4(w.yx, w.zw + 1));
	imageStore(bytes, id, b.bgra);
}
