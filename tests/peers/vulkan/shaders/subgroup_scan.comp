// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
// Inclusive scan and total of 512 values per group: the same result whatever the size of a subgroup.
layout(local_size_x = 512) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint result[]; };
layout(binding = 2) writeonly buffer Totals { uint totals[]; };
shared uint sums[128];

void main()
{
	uint v = data[gl_GlobalInvocationID.x];
	uint own = subgroupInclusiveAdd(v), before = 0;

	if (gl_SubgroupInvocationID == gl_SubgroupSize - 1)
		sums[gl_SubgroupID] = own;
	barrier();
	for (uint i = 0; i < gl_SubgroupID; i++)
		before += sums[i];
	result[gl_GlobalInvocationID.x] = before + own;
	if (gl_LocalInvocationID.x == 511)
		totals[gl_WorkGroupID.x] = before + own;
}
