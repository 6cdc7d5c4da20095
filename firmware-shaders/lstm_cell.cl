/* SPDX-License-Identifier: MIT */
/*
 * One step of an LSTM layer (gate order i, f, g, o as in PyTorch), for unit u of batch lane b:
 *
 *   a[q] = bias[q * units + u] + gates_h[b][q * units + u] + sum over j of w[q * units + u][j] * x[b][j]
 *   i, f, o = sigmoid(a[0]), sigmoid(a[1]), sigmoid(a[3]);  g = tanh(a[2])
 *   c_out = f * c_in + i * g;  h_out = o * tanh(c_out)
 *
 * gates_h is the recurrent step, W_hh h + b_hh, made by an earlier `linear`: it needs only the state,
 * so it can run beside the layers that make x, and here no group reads the h another one writes.
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       x        [batch][depth]
 *   1   global const float*  r       w        [4 * units][depth]
 *   2   global const float*  r       bias     [4 * units]
 *   3   global const float*  r       gates_h  [batch][4 * units]
 *   4   global const float*  r       c_in     [batch][units]
 *   5   global float*        w       h_out    [batch][units], every element written
 *   6   global float*        w       c_out    [batch][units], every element written; may be c_in
 *   7   int                          units
 *   8   int                          depth
 *
 * A group makes 8 units of one lane; 16 work-items a unit, each with the four gates as one float4.
 * Work-group 128 x 1 x 1. Grid: x = ceil(units / 8), y = batch. LDS: 2 KiB, static.
 */
#include "prelude.h"
#include "activations.h"

#define UNITS 8
#define LANES 16
#define ITEMS (UNITS * LANES)

kernel GROUP(ITEMS) void
lstm_cell(global const float *x, global const float *w, global const float *bias,
	  global const float *gates_h, global const float *c_in, global float *h_out, global float *c_out,
	  int units, int depth)
{
	local float4 partial[ITEMS];
	int t = get_local_id(0), lane = t % LANES;
	int unit = get_group_id(0) * UNITS + t / LANES, b = get_group_id(1);
	int safe_unit = unit < units ? unit : units - 1; /* units past the end are not stored */
	int gate = units * depth; /* from one gate's weights of a unit to the next gate's */
	float4 sum = 0.0f;

	w += safe_unit * depth;
#pragma unroll 2
	for (int j = lane; j < depth; j += LANES) {
		float4 weight = (float4)(w[j], w[gate + j], w[2 * gate + j], w[3 * gate + j]);

		sum = fma4(weight, (float4)(x[b * depth + j]), sum);
	}

	partial[t] = sum;
	for (int step = LANES / 2; step > 0; step /= 2) {
		lds_barrier();
		if (lane < step)
			partial[t] += partial[t + step];
	}
	if (lane == 0 && unit < units) {
		int at = b * units + unit;
		float4 a = partial[t];
		float c, i, f, g, o;

		gates_h += 4 * b * units;
		i = sigmoid1(a.x + (bias[unit] + gates_h[unit]));
		f = sigmoid1(a.y + (bias[units + unit] + gates_h[units + unit]));
		g = tanh1(a.z + (bias[2 * units + unit] + gates_h[2 * units + unit]));
		o = sigmoid1(a.w + (bias[3 * units + unit] + gates_h[3 * units + unit]));
		c = fma1(f, c_in[at], i * g);
		c_out[at] = c;
		h_out[at] = o * tanh1(c);
	}
}
