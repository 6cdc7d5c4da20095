// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { u64vec2 data[]; };
layout(binding = 1) writeonly buffer Out { uint64_t r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, o = id * 20;
	uint64_t a = data[id].x, b = data[id].y;
	int64_t sa = int64_t(a), sb = int64_t(b);
	int s = int(b & 63ul);

	r[o] = a + b;
	r[o + 1] = a - b;
	r[o + 2] = a * b;
	r[o + 3] = a / (b >> (s >> 1) | 1ul);
	r[o + 4] = a % (b >> (s >> 1) | 1ul);
	r[o + 5] = uint64_t(sa / (sb >> (s >> 1) | 1l));
	r[o + 6] = a << s;
	r[o + 7] = a >> s;
	r[o + 8] = uint64_t(sa >> s);
	r[o + 9] = min(a, b);
	r[o + 10] = uint64_t(max(sa, sb));
	r[o + 11] = uint64_t(abs(sa));
	r[o + 12] = uint64_t(a < b) + uint64_t(sa < sb) * 2ul + uint64_t(a == b) * 4ul;
	r[o + 13] = uint64_t(uint(a)) * uint64_t(uint(b));
	r[o + 14] = uint64_t(int64_t(int(a)) * int64_t(int(b)));
	r[o + 15] = a & ~b | (a ^ b) >> 7;
	r[o + 16] = uint64_t(uint(a >> 40)) + packUint2x32(unpackUint2x32(b).yx);
	r[o + 17] = uint64_t(int64_t(int(sb)));
}
