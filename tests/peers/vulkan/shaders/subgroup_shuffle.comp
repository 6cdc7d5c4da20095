// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 128) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint result[]; };

void main()
{
	uint l = gl_LocalInvocationID.x, base = l * 40, lane = gl_SubgroupInvocationID, last = gl_SubgroupSize - 1;
	uint v = data[l];
	uint up = subgroupShuffleUp(v, 3), down = subgroupShuffleDown(v, 2); // all lanes take part
	uvec4 odd = subgroupBallot((v & 1u) != 0), all = subgroupBallot(true);

	result[base] = gl_SubgroupSize;
	result[base + 1] = gl_SubgroupID;
	result[base + 2] = lane;
	result[base + 3] = subgroupShuffle(v, (v >> 8) & last);
	result[base + 4] = subgroupShuffleXor(v, 1);
	result[base + 5] = subgroupShuffleXor(v, 5);
	result[base + 6] = lane >= 3 ? up : 0;
	result[base + 7] = lane + 2 <= last ? down : 0;
	result[base + 8] = subgroupBroadcast(v, 5);
	result[base + 9] = subgroupBroadcastFirst(v);
	result[base + 10] = odd.x;
	result[base + 11] = odd.y;
	result[base + 12] = subgroupBallotBitCount(odd);
	result[base + 13] = subgroupBallotInclusiveBitCount(odd);
	result[base + 14] = subgroupBallotExclusiveBitCount(odd);
	result[base + 15] = subgroupBallotFindLSB(odd);
	result[base + 16] = subgroupBallotFindMSB(odd);
	result[base + 17] = uint(subgroupBallotBitExtract(odd, (v >> 16) & last));
	result[base + 18] = uint(subgroupInverseBallot(odd));
	result[base + 19] = uint(subgroupElect());
	result[base + 20] = uint(subgroupAny(v == data[77]));
	result[base + 21] = uint(subgroupAll(v != data[77]));
	result[base + 22] = uint(subgroupAllEqual(v));
	result[base + 23] = uint(subgroupAllEqual(data[3]));
	result[base + 24] = subgroupQuadBroadcast(v, 2);
	result[base + 25] = subgroupQuadSwapHorizontal(v);
	result[base + 26] = subgroupQuadSwapVertical(v);
	result[base + 27] = subgroupQuadSwapDiagonal(v);
	result[base + 28] = gl_SubgroupLtMask.x;
	result[base + 29] = gl_SubgroupGeMask.x & all.x;
	result[base + 30] = gl_SubgroupEqMask.y;
	result[base + 31] = gl_NumSubgroups;
}
