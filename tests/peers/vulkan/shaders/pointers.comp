// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// A linked list walked by device addresses.
layout(local_size_x = 32) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { Node next; uint value; uint pad; };
layout(binding = 0) readonly buffer Heads { Node heads[]; };
layout(binding = 1) writeonly buffer Out { uint r[]; };

void main()
{
	Node node = heads[gl_GlobalInvocationID.x];
	uint sum = 0;

	while (uint64_t(node) != 0ul) {
		sum = sum * 3u + node.value;
		atomicAdd(node.pad, 1);
		node = node.next;
	}
	r[gl_GlobalInvocationID.x] = sum;
}
