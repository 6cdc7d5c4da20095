// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_ballot : require
// Moves each key to its place; stable, by ballots within a subgroup and counts across them.
layout(local_size_x = 256) in;
layout(push_constant) uniform Push { uint shift, blocks; };
layout(binding = 0) readonly buffer Keys { uint keys[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };
layout(binding = 2) writeonly buffer Out { uint sorted[]; };
shared uint before[64][16]; // of a subgroup, by digit

void main()
{
	uint key = keys[gl_GlobalInvocationID.x], digit = key >> shift & 15u, rank = 0;

	for (uint d = 0; d < 16; d++) {
		uvec4 same = subgroupBallot(digit == d);

		if (digit == d)
			rank = subgroupBallotExclusiveBitCount(same);
		if (subgroupElect())
			before[gl_SubgroupID][d] = subgroupBallotBitCount(same);
	}
	barrier();
	for (uint s = 0; s < gl_SubgroupID; s++)
		rank += before[s][digit];
	sorted[places[digit * blocks + gl_WorkGroupID.x] + rank] = key;
}
