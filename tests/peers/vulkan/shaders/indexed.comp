// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_nonuniform_qualifier : require
// Which buffer is read differs from lane to lane.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer In { uint data[]; } buffers[];
layout(set = 1, binding = 0) writeonly buffer Out { uint r[]; };
layout(push_constant) uniform Push { uint count; };

void main()
{
	uint id = gl_GlobalInvocationID.x, which = (id * 7u + id / 16u) % count;

	r[id] = buffers[nonuniformEXT(which)].data[id % 16u] * 3u + which + buffers[nonuniformEXT(which)].data.length();
}
