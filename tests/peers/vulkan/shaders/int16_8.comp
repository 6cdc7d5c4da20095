// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In16 { uint16_t h[]; };
layout(binding = 1) readonly buffer In8 { uint8_t c[]; };
layout(binding = 2) writeonly buffer Out16 { uint16_t r[]; };
layout(binding = 3) writeonly buffer Out8 { uint8_t q[]; };
layout(binding = 4) readonly buffer InV { u16vec2 v[]; };
layout(binding = 5) writeonly buffer OutV { u16vec2 p[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, o = id * 16;
	uint16_t a = h[id * 2], b = h[id * 2 + 1];
	int16_t sa = int16_t(a), sb = int16_t(b);
	uint8_t x = c[id * 2], y = c[id * 2 + 1];
	int s = int(b & 15us);

	r[o] = a + b;
	r[o + 1] = a - b;
	r[o + 2] = a * b;
	r[o + 3] = a / (b | 1us);
	r[o + 4] = uint16_t(sa / (sb | 1s));
	r[o + 5] = a << s;
	r[o + 6] = a >> s;
	r[o + 7] = uint16_t(sa >> s);
	r[o + 8] = min(a, b);
	r[o + 9] = uint16_t(max(sa, sb));
	r[o + 10] = uint16_t(int(sa) * int(sb) >> 13);
	r[o + 11] = a * b + uint16_t(x);
	q[id * 8] = x + y;
	q[id * 8 + 1] = x * y;
	q[id * 8 + 2] = uint8_t(int8_t(x) >> (s & 7));
	q[id * 8 + 3] = min(x, y);
	q[id * 8 + 4] = uint8_t(max(int8_t(x), int8_t(y)));
	q[id * 8 + 5] = uint8_t(a >> 8us) ^ y;
	p[id * 8] = v[id * 2] + v[id * 2 + 1];
	p[id * 8 + 1] = v[id * 2] - v[id * 2 + 1];
	p[id * 8 + 2] = v[id * 2] * v[id * 2 + 1];
	p[id * 8 + 3] = min(v[id * 2], v[id * 2 + 1]);
	p[id * 8 + 4] = u16vec2(max(i16vec2(v[id * 2]), i16vec2(v[id * 2 + 1])));
	p[id * 8 + 5] = v[id * 2] >> (v[id * 2 + 1] & 15us);
	p[id * 8 + 6] = v[id * 2] * v[id * 2 + 1].yx + v[id * 2].yy;
}
