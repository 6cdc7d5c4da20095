// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_basic : require
// Stream compaction: one atomic per subgroup, places inside it by ballot.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) buffer Out { uint count; uint kept[]; };

void main()
{
	uint v = data[gl_GlobalInvocationID.x], base = 0;
	bool keep = v % 7u < 3u;
	uvec4 mask = subgroupBallot(keep);

	if (subgroupElect())
		base = atomicAdd(count, subgroupBallotBitCount(mask));
	base = subgroupBroadcastFirst(base);
	if (keep)
		kept[base + subgroupBallotExclusiveBitCount(mask)] = v;
}
