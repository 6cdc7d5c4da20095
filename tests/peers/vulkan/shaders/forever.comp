// SPDX-License-Identifier: MIT
#version 450
// Ends only when the host writes to the buffer, which it does not.
layout(local_size_x = 64) in;
layout(binding = 0) volatile buffer Data { uint go_on[]; };

void main()
{
	while (go_on[0] != 0u)
		atomicAdd(go_on[1], 1);
}
