// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uvec2 data[]; };
layout(binding = 1) writeonly buffer Out { uint r[]; };

void main()
{
	uint id = gl_GlobalInvocationID.x, a = data[id].x, b = data[id].y, o = id * 40, hi, lo, c;
	int sa = int(a), sb = int(b), shi, slo;
	uint s = b & 31u, w = (b >> 5) & 31u;

	r[o] = a * b;
	r[o + 1] = a / (b | 1u);
	r[o + 2] = a % (b | 1u);
	r[o + 3] = uint(sa / (sb | 1));
	r[o + 4] = a << s;
	r[o + 5] = a >> s;
	r[o + 6] = uint(sa >> int(s));
	r[o + 7] = bitfieldExtract(a, int(s), int(min(w, 32u - s)));
	r[o + 8] = uint(bitfieldExtract(sa, int(s), int(min(w, 32u - s))));
	r[o + 9] = bitfieldInsert(a, b, int(s), int(min(w, 32u - s)));
	r[o + 10] = uint(bitCount(a));
	r[o + 11] = uint(findLSB(a >> s << s));
	r[o + 12] = uint(findMSB(a >> s));
	r[o + 13] = uint(findMSB(sa >> int(s)));
	r[o + 14] = bitfieldReverse(a);
	r[o + 15] = uaddCarry(a, b, c);
	r[o + 16] = c;
	r[o + 17] = usubBorrow(a, b, c);
	r[o + 18] = c;
	umulExtended(a, b, hi, lo);
	r[o + 19] = hi;
	imulExtended(sa, sb, shi, slo);
	r[o + 20] = uint(shi);
	r[o + 21] = min(a, b);
	r[o + 22] = uint(max(sa, sb));
	r[o + 23] = uint(clamp(sa, -1000, sb & 0xffff));
	r[o + 24] = uint(abs(sa));
	r[o + 25] = uint(sign(sb));
	r[o + 26] = (a & b) | (~a & s);
	r[o + 27] = a ^ b ^ s;
	r[o + 28] = (a << 3) + b;
	r[o + 29] = (a + b) << 5;
	r[o + 30] = (a & 0xffffffu) * (b & 0xffffffu) + s;
	r[o + 31] = uint(a < b) + uint(sa < sb) * 2 + uint(a == b) * 4 + uint(sa >= int(s)) * 8;
	r[o + 32] = (a >> s) | (a << ((32u - s) & 31u));
	r[o + 33] = max(min(a, b), s);
	r[o + 34] = a / 7u + a % 1000u;
	r[o + 35] = uint(sa / 10 + sb % 3 * sign(sb));
}
