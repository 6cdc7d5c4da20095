// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { f16vec4 data[]; };
layout(binding = 1) writeonly buffer Out { float16_t r[]; };
layout(binding = 2) writeonly buffer OutF { float f[]; };
layout(binding = 3) writeonly buffer OutV { f16vec2 p[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, o = id * 16;
	float16_t a = data[id].x, b = data[id].y, c = data[id].z;
	f16vec2 ab = data[id].xy, cd = data[id].zw;

	precise float16_t prod = a * b, sum = a + b;
	r[o] = sum;
	r[o + 1] = prod;
	r[o + 2] = a - c;
	r[o + 3] = min(a, b);
	r[o + 4] = max(b, c);
	r[o + 5] = floor(a);
	r[o + 6] = trunc(b) + float16_t(0.0);
	r[o + 7] = abs(a) - float16_t(1.0);
	r[o + 8] = -a;
	r[o + 9] = float16_t(int16_t(b));
	r[o + 10] = a < b ? c : a;
	r[o + 11] = clamp(a, float16_t(-1.5), float16_t(2.0));
	r[o + 12] = float16_t(float(a) + 0.5);
	f[id * 8] = float(a) * 3.0;
	f[id * 8 + 1] = float(sqrt(abs(c)));
	f[id * 8 + 2] = float(a / (abs(b) + float16_t(1.0)));
	f[id * 8 + 3] = float(fma(a, b, c));
	f[id * 8 + 4] = float(exp2(clamp(a, float16_t(-3.0), float16_t(3.0))));
	f[id * 8 + 5] = float(inversesqrt(abs(c) + float16_t(1.0)));
	f[id * 8 + 6] = uintBitsToFloat(packHalf2x16(vec2(ab)));
	precise f16vec2 vp = ab * cd, vs = ab + cd;
	p[id * 4] = vp;
	p[id * 4 + 1] = vs;
	p[id * 4 + 2] = max(ab.yx, -cd);
	p[id * 4 + 3] = min(abs(ab), cd);
}
