// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { vec2 data[]; };
layout(binding = 1) writeonly buffer Exact { uint e[]; };
layout(binding = 2) writeonly buffer Near { float r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, o = id * 32;
	float a = data[id].x, b = data[id].y;
	int ex;
	precise float prod = a * b, diff = a - b;

	e[o] = floatBitsToUint(prod);
	e[o + 1] = floatBitsToUint(diff);
	e[o + 2] = floatBitsToUint(floor(a));
	e[o + 3] = floatBitsToUint(ceil(b));
	e[o + 4] = floatBitsToUint(trunc(a));
	e[o + 5] = floatBitsToUint(roundEven(b));
	e[o + 6] = floatBitsToUint(min(a, b));
	e[o + 7] = floatBitsToUint(max(a, b));
	e[o + 8] = floatBitsToUint(abs(a));
	e[o + 9] = floatBitsToUint(sign(b));
	e[o + 10] = uint(int(a));
	e[o + 11] = uint(abs(b));
	e[o + 12] = floatBitsToUint(float(int(floatBitsToUint(a))));
	e[o + 13] = floatBitsToUint(float(floatBitsToUint(b)));
	e[o + 14] = floatBitsToUint(clamp(a, -2.0, 3.0));
	e[o + 15] = packHalf2x16(vec2(roundEven(a), roundEven(b)));
	e[o + 16] = floatBitsToUint(unpackHalf2x16(floatBitsToUint(a) & 0x7bff7bffu).x);
	e[o + 17] = packUnorm4x8(vec4(clamp(roundEven(a), 0.0, 1.0), 1.0, 0.0, 1.0));
	e[o + 18] = uint(isnan(a)) + uint(isinf(b)) * 2 + uint(a < b) * 4 + uint(a != b) * 8 + uint(a >= b) * 16;
	e[o + 19] = floatBitsToUint(ldexp(a, int(id & 15u) - 8));
	e[o + 20] = floatBitsToUint(frexp(a, ex));
	e[o + 21] = uint(ex);
	r[o] = a / (abs(b) + 0.5);
	r[o + 1] = sqrt(abs(a));
	r[o + 2] = inversesqrt(abs(b) + 0.5);
	r[o + 3] = exp2(a * 0.1);
	r[o + 4] = log2(abs(b) + 0.5);
	r[o + 5] = sin(a);
	r[o + 6] = cos(b);
	r[o + 7] = pow(abs(a) * 0.1 + 0.5, b * 0.1);
	r[o + 8] = exp(a * 0.1);
	r[o + 9] = log(abs(a) + 0.5);
	r[o + 10] = atan(a, b);
	r[o + 11] = tanh(a * 0.2);
	r[o + 12] = fma(a, b, 1.0);
	r[o + 13] = mix(a, b, 0.25);
	r[o + 14] = fract(a);
	r[o + 15] = mod(a, 3.0);
	r[o + 16] = smoothstep(-10.0, 10.0, a);
	r[o + 17] = length(vec3(a, b, 1.0));
	r[o + 18] = dot(vec4(a, b, 1.0, 2.0), vec4(b, a, 3.0, 4.0));
	r[o + 19] = asin(clamp(a * 0.1, -0.9, 0.9));
}
