// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Args { uint args[]; };
layout(push_constant) uniform P { uint at, x, y, z; };

void main()
{
	args[at] = x;
	args[at + 1] = y;
	args[at + 2] = z;
}
