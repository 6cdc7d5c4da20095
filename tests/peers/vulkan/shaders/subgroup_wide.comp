// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint64_t data[]; };
layout(binding = 1) writeonly buffer Out { uint64_t result[]; };

void main()
{
	uint l = gl_LocalInvocationID.x, base = l * 16;
	uint64_t u = data[l];
	int64_t i = int64_t(u);
	double d = double(int(u & 63ul) - 32);
	uint16_t s = uint16_t(u);

	result[base] = gl_SubgroupSize;
	result[base + 1] = gl_SubgroupID;
	result[base + 2] = gl_SubgroupInvocationID;
	result[base + 3] = subgroupAdd(u);
	result[base + 4] = subgroupInclusiveAdd(u);
	result[base + 5] = subgroupMin(u);
	result[base + 6] = uint64_t(subgroupMin(i));
	result[base + 7] = uint64_t(subgroupInclusiveMax(i));
	result[base + 8] = subgroupXor(u);
	result[base + 9] = uint64_t(subgroupAdd(s));
	result[base + 10] = uint64_t(subgroupInclusiveMax(s));
	result[base + 11] = doubleBitsToUint64(subgroupAdd(d));
	result[base + 12] = doubleBitsToUint64(subgroupInclusiveAdd(d));
	result[base + 13] = doubleBitsToUint64(subgroupMax(d));
}
