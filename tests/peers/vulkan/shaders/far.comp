// SPDX-License-Identifier: MIT
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// Far beyond what 32 bits of offset reach from the first word.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint v; };
layout(push_constant) uniform Push { uint64_t base, step; };
layout(binding = 0) writeonly buffer Out { uint r[]; };

void main()
{
	uint l = gl_LocalInvocationID.x;
	Word word = Word(base + step * l);

	atomicAdd(word.v, l * l);
	r[l] = word.v;
}
