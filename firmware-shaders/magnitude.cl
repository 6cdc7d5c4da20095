/* SPDX-License-Identifier: MIT */
/*
 * mag[b][i] = sqrt(re[b][i]^2 + im[b][i]^2), i < n
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       spectrum  [batch][2][n]: all real parts, then all imaginary ones
 *   1   global float*        w       mag       [batch][n], every element written
 *   2   int                          n
 *
 * One work-item per element. Work-group 64 x 1 x 1. Grid: x = ceil(n / 64), y = batch. No LDS.
 */
#include "prelude.h"

#define ITEMS 64

kernel GROUP(ITEMS) void
magnitude(global const float *spectrum, global float *mag, int n)
{
	int i = get_group_id(0) * ITEMS + get_local_id(0), b = get_group_id(1);

	if (i < n) {
		float re = spectrum[2 * b * n + i];
		float im = spectrum[(2 * b + 1) * n + i];

		mag[b * n + i] = sqrt1(fma1(re, re, im * im));
	}
}
