/* SPDX-License-Identifier: MIT */
/* Kernels of random region graphs (region_graph.h): every word written depends on every operand. */
#include "prelude.h"

/* d[i] from a and b, i < nd; a and b may be shorter and must not overlap d. */
kernel GROUP(64) void
mix(global const uint *a, global const uint *b, global uint *d, uint na, uint nb, uint nd, uint salt)
{
	uint i = (uint)get_group_id(0) * 64 + (uint)get_local_id(0);

	if (i < nd)
		d[i] = a[i % na] * 3 + (b[(i * 7 + salt) % nb] ^ (salt + i));
}

/* d[i] from itself and a, i < nd. */
kernel GROUP(64) void
fold(global uint *d, global const uint *a, uint nd, uint na, uint salt)
{
	uint i = (uint)get_group_id(0) * 64 + (uint)get_local_id(0);

	if (i < nd)
		d[i] = d[i] * 33 + a[(i + salt) % na];
}
