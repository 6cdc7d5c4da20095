// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
// Shared memory of every element width, 32 KiB in all, read back crosswise.
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer In { uvec4 data[]; };
layout(binding = 1) writeonly buffer Out { uvec4 r[]; };
shared uvec4 v[1024];
shared uvec2 d[1024];
shared uint64_t q[256];
shared uvec3 tri[256];
shared uint16_t h[512];
shared uint8_t b[1024];

void main()
{
	uint l = gl_LocalInvocationID.x;
	uvec4 in0 = data[gl_GlobalInvocationID.x];

	for (uint i = 0; i < 4; i++) {
		v[l * 4 + i] = in0 + i;
		d[l + i * 256] = in0.zw ^ i;
		b[l * 4 + (i ^ 1u)] = uint8_t(in0.x >> (i * 8u));
	}
	q[l] = packUint2x32(in0.yz);
	tri[255 - l] = in0.wyx;
	h[l * 2] = uint16_t(in0.y);
	h[l * 2 + 1] = uint16_t(in0.y >> 16);
	barrier();
	uint k = in0.x & 255u;
	uvec4 x = v[k * 4 + (l & 3u)] + v[(l * 37u) & 1023u];
	uvec2 y = d[(k * 5u + l) & 1023u] + d[k] * 3u;
	uvec3 z = tri[k ^ 85u];
	r[gl_GlobalInvocationID.x] = uvec4(x.x ^ y.x + z.x, x.y + uint(q[k] >> 9) + z.y, x.z + uint(h[k * 2]) * uint(h[k + 1]),
		x.w + y.y * uint(b[k * 3]) - uint(b[l + k]) - z.z);
}
