/* SPDX-License-Identifier: MIT */
/* Kernels whose descriptors and metadata test_code_object.c knows by heart. The math does not matter. */
#define ID(d) ((uint)__builtin_amdgcn_workitem_id_##d())
#define GROUP ((uint)__builtin_amdgcn_workgroup_id_x())

struct pair {
	uint a, b, c;
};

/* Explicit arguments only: 8 + 8 + 4 + 4 + 12 bytes. */
kernel void
plain(global float *dst, global const float *src, uint n, float scale, struct pair p)
{
	uint i = GROUP * 64 + ID(x);

	if (i < n)
		dst[i] = src[i] * scale + p.a + p.b + p.c;
}

/* The group size is a hidden argument from code object v5 on, and comes from the dispatch packet before. */
kernel void
hidden(global uint *dst, uint n)
{
	uint i = GROUP * __builtin_amdgcn_workgroup_size_x() + ID(x);

	if (i < n)
		dst[i] = i;
}

/* Any of the hidden arguments: all of them are listed, 56 bytes in code object v4, 256 later. */
kernel void
implicit(global uint *dst)
{
	dst[ID(x)] = ((constant uint *)__builtin_amdgcn_implicitarg_ptr())[dst[ID(x)] & 7];
}

/* Static LDS: 256 bytes. */
kernel __attribute__((reqd_work_group_size(8, 4, 2))) void
fixed(global uint *dst)
{
	local uint tile[64];

	tile[ID(x) + 8 * ID(y) + 32 * ID(z)] = dst[ID(x)];
	__builtin_amdgcn_s_barrier();
	dst[GROUP * 64 + ID(x)] = tile[63 - ID(x)];
}

/* Two pieces of dynamic LDS behind 16 bytes of static LDS. */
kernel void
shared(local float4 *first, global float *dst, local uchar *second)
{
	local uint start[4];

	start[ID(x) & 3] = ID(x);
	first[ID(x)] = dst[ID(x)];
	second[ID(x)] = start[1];
	__builtin_amdgcn_s_barrier();
	dst[ID(x)] = first[ID(x) ^ 1].x + second[ID(x) ^ 2];
}

/* Scratch: an array that cannot live in registers. */
kernel void
stack(global uint *dst, uint n)
{
	volatile uint array[32];

	for (uint i = 0; i < n; i++)
		array[i & 31] = dst[i];
	dst[ID(x)] = array[dst[ID(x)] & 31];
}

kernel void
nothing(void)
{
}

/* A pointer in .data: R_AMDGPU_RELATIVE64. And bss behind it. */
global uint word = 7;
global uint *global pointer = &word;
global uint zeros[300];

kernel void
globals(global uint *dst)
{
	dst[ID(x)] = *pointer + zeros[dst[ID(x)] % 300]++;
}
