/* SPDX-License-Identifier: MIT */
/*
 * y[b][r] = bias[r] + sum over j of w[r][j] * x[b][j]
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       x     [batch][depth]
 *   1   global const float*  r       w     [rows][depth]
 *   2   global const float*  r       bias  [rows]
 *   3   global float*        w       y     [batch][rows], every element written
 *   4   int                          rows
 *   5   int                          depth
 *
 * A group makes 8 rows of one batch lane, 16 work-items a row; LDS adds their sums as a tree.
 * Work-group 128 x 1 x 1. Grid: x = ceil(rows / 8), y = batch. LDS: 512 bytes, static.
 */
#include "prelude.h"

#define ROWS 8
#define LANES 16
#define ITEMS (ROWS * LANES)

kernel GROUP(ITEMS) void
linear(global const float *x, global const float *w, global const float *bias, global float *y, int rows,
       int depth)
{
	local float partial[ITEMS];
	int t = get_local_id(0), lane = t % LANES;
	int row = get_group_id(0) * ROWS + t / LANES, b = get_group_id(1);
	int safe_row = row < rows ? row : rows - 1; /* rows past the end are computed, not stored */
	float sum = 0.0f;

#pragma unroll 4
	for (int j = lane; j < depth; j += LANES)
		sum = fma1(w[safe_row * depth + j], x[b * depth + j], sum);

	partial[t] = sum;
	for (int step = LANES / 2; step > 0; step /= 2) {
		lds_barrier();
		if (lane < step)
			partial[t] += partial[t + step];
	}
	if (lane == 0 && row < rows)
		y[b * rows + row] = bias[row] + partial[t];
}
