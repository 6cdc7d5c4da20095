// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
// Every arithmetic group operation on the lanes that are active; the host replays them from the lane numbers written.
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint result[]; };
layout(push_constant) uniform P { uint skip; }; // lanes with local id % 5 == skip stay out

void main()
{
	uint l = gl_LocalInvocationID.x, base = l * 40;
	uint u = data[l];
	int i = int(u);
	float f = float(int(u & 63u) - 32);

	result[base] = gl_SubgroupSize;
	result[base + 1] = gl_SubgroupID;
	result[base + 2] = gl_SubgroupInvocationID;
	if (l % 5 == skip)
		return;
#define OUT3(k, type, op, v) \
	result[base + k] = type(subgroup##op(v)); \
	result[base + k + 1] = type(subgroupInclusive##op(v)); \
	result[base + k + 2] = type(subgroupExclusive##op(v))
	OUT3(3, uint, Add, u);
	OUT3(6, uint, Mul, u);
	OUT3(9, uint, Min, u);
	OUT3(12, uint, Max, u);
	OUT3(15, uint, And, u | 0x0ff0f00fu);
	OUT3(18, uint, Or, u & 0x0ff0f00fu);
	OUT3(21, uint, Xor, u);
	OUT3(24, uint, Min, i);
	OUT3(27, uint, Max, i);
	OUT3(30, floatBitsToUint, Add, f);
	OUT3(33, floatBitsToUint, Min, f);
	OUT3(36, floatBitsToUint, Max, f);
}
