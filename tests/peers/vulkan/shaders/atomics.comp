// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) buffer Out { uint r[16]; int s[4]; };
layout(binding = 2) writeonly buffer Tickets { uint ticket[]; };
shared uint t[16];
shared int st[4];

void main()
{
	uint l = gl_LocalInvocationID.x, id = gl_GlobalInvocationID.x, v = data[id];

	if (l < 16)
		t[l] = l == 2 || l == 4 ? 0xffffffffu : 0;
	if (l < 4)
		st[l] = 0;
	barrier();
	atomicAdd(r[0], v);
	atomicMax(r[1], v);
	atomicMin(r[2], v);
	atomicOr(r[3], v & 0x0f0f0f0fu & ~(1u << (v >> 27)));
	atomicAnd(r[4], v | ~(1u << (v >> 27)));
	atomicXor(r[5], v);
	atomicMin(s[0], int(v));
	atomicMax(s[1], int(v));
	ticket[id] = atomicAdd(r[6], 1);
	for (bool done = false; !done;) { // an add made of compare-and-swap
		uint old = r[7];

		done = atomicCompSwap(r[7], old, old * 1u + 3u) == old;
	}
	atomicAdd(t[0], v);
	atomicMax(t[1], v);
	atomicMin(t[2], v);
	atomicOr(t[3], v & 0x0f0f0f0fu & ~(1u << (v >> 27)));
	atomicAnd(t[4], v | ~(1u << (v >> 27)));
	atomicXor(t[5], v);
	atomicMin(st[0], int(v));
	atomicMax(st[1], int(v));
	uint got = atomicAdd(t[6], 1);
	atomicAdd(t[7], got);
	if (atomicExchange(t[8], 1) == 0)
		atomicAdd(t[9], 1);
	atomicCompSwap(t[10], 0, 77);
	barrier();
	if (l == 0) {
		atomicXor(r[8], t[0]);
		atomicMax(r[9], t[1]);
		atomicAdd(r[10], t[2]);
		atomicXor(r[11], t[3]);
		atomicXor(r[12], t[4]);
		atomicXor(r[13], t[5]);
		atomicAdd(s[2], st[0]);
		atomicAdd(s[3], st[1]);
		atomicAdd(r[14], t[6] + t[7] + t[8]);
		atomicAdd(r[15], t[9] * 1000 + t[10]);
	}
}
