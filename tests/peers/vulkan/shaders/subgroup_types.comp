// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
// Clusters, quads and exchanges of every width: within 8 lanes, so that the size of a subgroup does not show.
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint64_t data[]; };
layout(binding = 1) writeonly buffer Out { uint64_t result[]; };

void main()
{
	uint l = gl_LocalInvocationID.x, base = l * 24;
	uint64_t q = data[l];
	int64_t i = int64_t(q);
	uint8_t b = uint8_t(q >> 3);
	int16_t s = int16_t(q >> 7);
	float16_t h = float16_t(int(q & 63ul) - 32);
	float f = float(int(q & 1023ul) - 512);
	double d = double(int(q & 65535ul) - 32768);

	result[base] = uint64_t(subgroupClusteredAdd(b, 4));
	result[base + 1] = uint64_t(subgroupClusteredMax(b, 8));
	result[base + 2] = uint64_t(int64_t(subgroupClusteredAdd(s, 8)));
	result[base + 3] = uint64_t(int64_t(subgroupClusteredMin(s, 2)));
	result[base + 4] = subgroupClusteredAdd(q, 8);
	result[base + 5] = uint64_t(subgroupClusteredMax(i, 4));
	result[base + 6] = subgroupClusteredXor(q, 8);
	result[base + 7] = subgroupClusteredAnd(q | 0xffful, 2);
	result[base + 8] = uint64_t(float16BitsToUint16(subgroupClusteredAdd(h, 8)));
	result[base + 9] = uint64_t(float16BitsToUint16(subgroupClusteredMin(h, 4)));
	result[base + 10] = uint64_t(floatBitsToUint(subgroupClusteredAdd(f, 8)));
	result[base + 11] = uint64_t(floatBitsToUint(subgroupClusteredMax(f, 2)));
	result[base + 12] = doubleBitsToUint64(subgroupClusteredAdd(d, 8));
	result[base + 13] = doubleBitsToUint64(subgroupClusteredMin(d, 4));
	result[base + 14] = subgroupShuffleXor(q, 3);
	result[base + 15] = uint64_t(subgroupShuffleXor(b, 6));
	result[base + 16] = uint64_t(float16BitsToUint16(subgroupShuffleXor(h, 5)));
	result[base + 17] = doubleBitsToUint64(subgroupShuffle(d, gl_SubgroupInvocationID & ~7u | uint(q & 7ul)));
	result[base + 18] = subgroupQuadSwapDiagonal(q);
	result[base + 19] = uint64_t(subgroupQuadBroadcast(s, 1));
	result[base + 20] = doubleBitsToUint64(subgroupQuadSwapHorizontal(d));
	result[base + 21] = uint64_t(subgroupAllEqual(gl_WorkGroupSize.x * q - gl_WorkGroupSize.x * q)) |
		uint64_t(subgroupAny(subgroupShuffleXor(d, 1) == d)) << 1;
}
