// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Private arrays of narrow and wide elements.
layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uvec4 r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, key = data[id];
	uint8_t b[160];
	uint16_t h[96];
	uvec4 v[40];
	uint64_t q[48];

	for (uint i = 0; i < 160; i++) {
		b[i] = uint8_t(key * (i + 1u) >> 11);
		if (i < 96)
			h[i] = uint16_t(key * (i + 3u) >> 7);
		if (i < 40)
			v[i] = uvec4(key + i, key * i, key ^ i, i);
		if (i < 48)
			q[i] = uint64_t(key) * uint64_t(key + i);
	}
	uvec4 sum = uvec4(0);
	for (uint i = 0; i < 64; i++) {
		uint k = key + i * 7u;

		sum.x = sum.x * 31u + uint(b[k % 160u]);
		sum.y = sum.y * 31u + uint(h[k % 96u]);
		sum.z = sum.z * 31u + v[k % 40u].y + v[k % 40u][k & 3u];
		sum.w = sum.w * 31u + uint(q[k % 48u] >> (k & 31u));
		v[k % 40u].z = sum.x;
	}
	r[id] = sum + v[key % 40u];
}
