// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { dvec2 data[]; };
layout(binding = 1) writeonly buffer Out { double r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, o = id * 24;
	double a = data[id].x, b = data[id].y;

	precise double sum = a + b, prod = a * b, diff = a - b;
	r[o] = sum;
	r[o + 1] = prod;
	r[o + 2] = diff;
	r[o + 3] = min(a, b);
	r[o + 4] = max(a, b);
	r[o + 5] = floor(a);
	r[o + 6] = ceil(b);
	r[o + 7] = trunc(a);
	r[o + 8] = abs(b);
	r[o + 9] = double(int(a));
	r[o + 10] = double(uint(abs(b)));
	r[o + 11] = double(float(a));
	r[o + 12] = a < b ? 1.0lf : a == b ? 2.0lf : 3.0lf;
	r[o + 13] = double(int64_t(a * 65536.0lf));
	r[o + 14] = ldexp(a, int(id & 31u) - 16);
	r[o + 15] = roundEven(b * 2.0lf);
	r[o + 16] = a / b;
	r[o + 17] = sqrt(abs(a));
	r[o + 18] = fma(a, b, 1.0lf);
	r[o + 19] = inversesqrt(abs(b) + 1.0lf);
	r[o + 20] = fract(a);
	r[o + 21] = mod(a, 3.0lf);
}
