/* SPDX-License-Identifier: MIT */
/*
 * What softgpu and PoCL both run. clang compiles this file to code objects for softgpu; PoCL compiles the same text at
 * run time for the host's processor. Every fma is written out, so that both make the same roundings in the same order.
 *
 *  arg  type                 access  meaning
 *   0   global float*        w       out   one element per work-item (global_memory: per turn too; GEMM: N * N a batch)
 *   1   global const float*  r       a
 *   2   global const float*  r       b
 *   3   uint                         turns of the loop (GEMM: unused)
 *
 * Work-group 256 x 1 x 1, full groups only. The sizes of a and b are those of cases.c.
 */
#ifdef __AMDGCN__
#include "prelude.h"
#else
#define GROUP(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#define lds_barrier() barrier(CLK_LOCAL_MEM_FENCE)
#define fma1(a, b, c) fma(a, b, c)
#endif

#define ITEMS 256
#define N 256		/* GEMM: rows and columns */
#define ROUND 8		/* steps of a loop written out, so that the loop's own instructions are few */

#define INPUTS global float *restrict out, global const float *restrict a, global const float *restrict b, uint turns
#define ID (get_group_id(0) * ITEMS + get_local_id(0))

/* 64 fma a turn, x = x * s + t: three-operand v_fma_f32, one operation an instruction. */
kernel GROUP(ITEMS) void
fma_chain(INPUTS)
{
	uint id = ID;
	float x[8], s = b[id & 255], t = b[(id + 1) & 255];

#pragma unroll
	for (int k = 0; k < 8; k++)
		x[k] = a[(id + k) & 4095];
	for (uint i = 0; i < turns; i++) {
#pragma unroll
		for (int j = 0; j < ROUND; j++)
#pragma unroll
			for (int k = 0; k < 8; k++)
				x[k] = fma1(x[k], s, t);
	}
	out[id] = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* 64 fma a turn, sum += s * t: the form of matrix products, which the compiler pairs to v_dual_fmac_f32. */
kernel GROUP(ITEMS) void
fma_dual(INPUTS)
{
	uint id = ID;
	float x[8], s[4], t[2];

#pragma unroll
	for (int k = 0; k < 8; k++)
		x[k] = a[(id + k) & 4095];
#pragma unroll
	for (int k = 0; k < 4; k++)
		s[k] = b[(id + k) & 255];
	t[0] = b[(id + 5) & 255];
	t[1] = b[(id + 6) & 255];
	for (uint i = 0; i < turns; i++) {
#pragma unroll
		for (int j = 0; j < ROUND; j++)
#pragma unroll
			for (int k = 0; k < 8; k++)
				x[k] = fma1(s[k % 4], t[k / 4], x[k]);
	}
	out[id] = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* 32 rounds a turn of xorshift (3 shifts, 3 xors), a multiplication and an addition: 8 operations. */
kernel GROUP(ITEMS) void
integer(INPUTS)
{
	uint id = ID, x[4];

#pragma unroll
	for (int k = 0; k < 4; k++)
		x[k] = as_uint(a[(id + k) & 4095]) + id;
	for (uint i = 0; i < turns; i++) {
#pragma unroll
		for (int j = 0; j < ROUND; j++)
#pragma unroll
			for (int k = 0; k < 4; k++) {
				x[k] ^= x[k] << 13;
				x[k] ^= x[k] >> 17;
				x[k] ^= x[k] << 5;
				x[k] = x[k] * 1664525u + id;
			}
	}
	/* kept below 2^24 and converted, so that one comparison of floats serves all kernels */
	out[id] = (float)((x[0] ^ x[1] ^ x[2] ^ x[3]) >> 8);
}

/* 32 reads of local memory a turn: 16 of consecutive words, 8 of one word by all, 8 scattered; 2 writes, 2 barriers. */
kernel GROUP(ITEMS) void
local_memory(INPUTS)
{
	local float words[2 * ITEMS];
	uint t = get_local_id(0), id = ID;
	uint far = (t * 167) & 255; /* odd factor: a permutation without pattern to the banks */
	float first = a[id & 4095], second = b[t], sum = 0.0f;

	for (uint i = 0; i < turns; i++) {
		words[t] = fma1((float)(i & 255), 0.0078125f, first);
		words[t + ITEMS] = fma1((float)(i & 127), -0.0078125f, second);
		lds_barrier();
#pragma unroll
		for (int j = 0; j < 8; j++) {
			sum = fma1(words[t + 2 * j], words[t + ITEMS / 2 + 3 * j], sum);
			sum = fma1(words[ITEMS + 5 * j], words[ITEMS + (far ^ j)], sum);
		}
		lds_barrier();
	}
	out[id] = sum;
}

#define STREAM (64 * ITEMS) /* work-items of global_memory */

/* Eight reads of 4 bytes a turn: 6 of consecutive words, 2 scattered over a (4 MiB); one write of 4 bytes. */
kernel GROUP(ITEMS) void
global_memory(INPUTS)
{
	uint id = ID, mask = (1u << 20) - 1;

	for (uint i = 0; i < turns; i++) {
		uint at = id + i * 8191, far = (id * 40503u + i * 977) & mask;
		float sum = a[at & mask];

		sum = fma1(a[(at + ITEMS) & mask], 0.5f, sum);
		sum = fma1(a[(at + 2 * ITEMS) & mask], 0.25f, sum);
		sum = fma1(b[at & mask], 0.125f, sum);
		sum = fma1(b[(at + ITEMS) & mask], 0.0625f, sum);
		sum = fma1(b[(at + 2 * ITEMS) & mask], 0.5f, sum);
		sum = fma1(a[far], 0.25f, sum);
		sum = fma1(a[far ^ 12345], 0.125f, sum);
		out[id + i * STREAM] = sum;
	}
}

/* One element of c per work-item, straight from global memory. Grid: x = N, y = batch. */
kernel GROUP(ITEMS) void
gemm_naive(INPUTS)
{
	uint column = get_local_id(0), row = get_group_id(0);
	float sum = 0.0f;

	for (uint k = 0; k < N; k++)
		sum = fma1(a[row * N + k], b[k * N + column], sum);
	out[get_group_id(1) * N * N + row * N + column] = sum;
}

#define TILE 64		/* rows and columns of a group's part of c */
#define DEPTH 16	/* of a step along k */
#define EACH 4		/* a work-item makes EACH x EACH elements */

/* Tiles of a and b through local memory, 4 x 4 elements of c per work-item. Grid: x = (N / TILE)^2, y = batch. */
kernel GROUP(ITEMS) void
gemm_tiled(INPUTS)
{
	local float tile_a[DEPTH][TILE], tile_b[DEPTH][TILE];
	uint t = get_local_id(0), x = t % 16, y = t / 16;
	uint top = get_group_id(0) / (N / TILE) * TILE, left = get_group_id(0) % (N / TILE) * TILE;
	float c[EACH][EACH] = { { 0.0f } };

	for (uint step = 0; step < N; step += DEPTH) {
		lds_barrier();
#pragma unroll
		for (uint i = 0; i < EACH; i++) {
			tile_a[x][y + 16 * i] = a[(top + y + 16 * i) * N + step + x];
			tile_b[t / TILE + 4 * i][t % TILE] = b[(step + t / TILE + 4 * i) * N + left + t % TILE];
		}
		lds_barrier();
#pragma unroll 4
		for (uint k = 0; k < DEPTH; k++)
#pragma unroll
			for (uint i = 0; i < EACH; i++)
#pragma unroll
				for (uint j = 0; j < EACH; j++)
					c[i][j] = fma1(tile_a[k][y * EACH + i], tile_b[k][x * EACH + j], c[i][j]);
	}
	out += get_group_id(1) * N * N;
#pragma unroll
	for (uint i = 0; i < EACH; i++)
#pragma unroll
		for (uint j = 0; j < EACH; j++)
			out[(top + y * EACH + i) * N + left + x * EACH + j] = c[i][j];
}
