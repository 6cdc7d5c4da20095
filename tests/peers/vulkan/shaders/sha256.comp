// SPDX-License-Identifier: MIT
#version 450
// One message of two padded blocks per invocation, words already big-endian.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint message[]; };
layout(binding = 1) writeonly buffer Out { uint digest[]; };
layout(binding = 2) readonly buffer K { uint k[64]; };

uint rotr(uint x, uint n) { return x >> n | x << (32u - n); }

void main()
{
	uint id = gl_GlobalInvocationID.x;
	uint h[8] = { 0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u };

	for (uint block = 0; block < 2; block++) {
		uint w[64], s[8] = h;

		for (uint i = 0; i < 16; i++)
			w[i] = message[id * 32 + block * 16 + i];
		for (uint i = 16; i < 64; i++)
			w[i] = w[i - 16] + w[i - 7] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
				(rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
		for (uint i = 0; i < 64; i++) {
			uint t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) + (s[4] & s[5] ^ ~s[4] & s[6]) + k[i] + w[i];
			uint t2 = (rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22)) + (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]);

			for (uint j = 7; j > 0; j--)
				s[j] = s[j - 1];
			s[4] += t1;
			s[0] = t1 + t2;
		}
		for (uint i = 0; i < 8; i++)
			h[i] += s[i];
	}
	for (uint i = 0; i < 8; i++)
		digest[id * 8 + i] = h[i];
}
