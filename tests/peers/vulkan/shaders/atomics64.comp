// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint64_t data[]; };
layout(binding = 1) buffer Out { uint64_t r[16]; };
shared uint64_t t[4];

void main()
{
	uint l = gl_LocalInvocationID.x, id = gl_GlobalInvocationID.x;
	uint64_t v = data[id];

	if (l < 4)
		t[l] = 0;
	barrier();
	atomicAdd(r[0], v);
	atomicMax(r[1], v);
	atomicMin(r[2], v);
	atomicOr(r[3], v & 0xf0f0f0f0f0f0ul);
	atomicAnd(r[4], v | 0xfff0ffff0000fffful);
	atomicXor(r[5], v);
	atomicAdd(t[0], v);
	atomicMax(t[1], v);
	atomicXor(t[2], v);
	if (atomicExchange(t[3], 1ul) == 0ul)
		atomicAdd(r[9], 1ul);
	for (bool done = false; !done;) {
		uint64_t old = r[10];

		done = atomicCompSwap(r[10], old, old + 0x100000003ul) == old;
	}
	barrier();
	if (l == 0) {
		atomicAdd(r[6], t[0]);
		atomicMax(r[7], t[1]);
		atomicXor(r[8], t[2]);
	}
}
