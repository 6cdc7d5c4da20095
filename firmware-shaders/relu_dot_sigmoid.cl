/* SPDX-License-Identifier: MIT */
/*
 * y[b] = sigmoid(bias[0] + sum over j of w[j] * max(0, x[b][j]))
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       x     [batch][depth]
 *   1   global const float*  r       w     [depth]
 *   2   global const float*  r       bias  [1]
 *   3   global float*        w       y     [batch], every element written
 *   4   int                          depth
 *
 * One group per batch lane; LDS adds the 64 sums as a tree.
 * Work-group 64 x 1 x 1. Grid: x = batch. LDS: 256 bytes, static.
 */
#include "prelude.h"
#include "activations.h"

#define ITEMS 64

kernel GROUP(ITEMS) void
relu_dot_sigmoid(global const float *x, global const float *w, global const float *bias, global float *y,
		 int depth)
{
	local float partial[ITEMS];
	int t = get_local_id(0), b = get_group_id(0);
	float sum = 0.0f;

	for (int j = t; j < depth; j += ITEMS)
		sum = fma1(w[j], relu1(x[b * depth + j]), sum);

	partial[t] = sum;
	for (int step = ITEMS / 2; step > 0; step /= 2) {
		lds_barrier();
		if (t < step)
			partial[t] += partial[t + step];
	}
	if (t == 0)
		y[b] = sigmoid1(bias[0] + partial[0]);
}
