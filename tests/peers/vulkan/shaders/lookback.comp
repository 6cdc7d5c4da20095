// SPDX-License-Identifier: MIT
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
// An exclusive scan in one pass (decoupled look-back): blocks take tickets, publish their sum, and walk back over their
// predecessors' until one has published its prefix. Needs only that a group that took a ticket goes on.
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer In { uint data[]; };
layout(binding = 1) writeonly buffer Out { uint result[]; };
layout(binding = 2) buffer State { uint next; uint pad; uvec2 block[]; }; // block: x the flag (1 sum, 2 prefix) and y unused
layout(binding = 3) buffer Sums { uint sums[]; };                      // of block b: [2b] its own, [2b + 1] with all before it
shared uint ticket, base, part[256];

void publish(uint b, uint slot, uint value)
{
	atomicStore(sums[b * 2 + slot], value, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
	atomicStore(block[b].x, slot + 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
}

uint look_back(uint b)
{
	uint sum = 0;

	while (b > 0) {
		uint flag = atomicLoad(block[b - 1].x, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);

		if (flag == 0)
			continue;
		sum += atomicLoad(sums[(b - 1) * 2 + flag - 1], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);
		if (flag == 2)
			break;
		b--;
	}
	return sum;
}

void main()
{
	uint l = gl_LocalInvocationID.x;

	if (l == 0)
		ticket = atomicAdd(next, 1);
	barrier();
	uint b = ticket, id = b * 256 + l, v = data[id], sum = v;

	part[l] = v;
	for (uint step = 1; step < 256; step <<= 1) {
		barrier();
		uint left = l >= step ? part[l - step] : 0;
		barrier();
		part[l] = sum += left;
	}
	if (l == 255) {
		publish(b, 0, sum);
		base = look_back(b);
		publish(b, 1, base + sum);
	}
	barrier();
	result[id] = base + sum - v;
}
