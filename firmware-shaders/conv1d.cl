/* SPDX-License-Identifier: MIT */
/*
 * One-dimensional convolution of a batch, as a matrix product.
 *
 * A column is one output position of one batch lane, col = b * out_len + l. A group makes 8 output
 * channels (rows) of 4 columns, so weights are read once for 4 positions, or for 4 lanes where a
 * layer has a single position. 16 work-items share a row: each sums every 16th product, then LDS
 * adds the 16 sums as a tree. The order of additions depends on the arguments alone.
 *
 * Inputs are gathered through LDS in chunks of 256 products (all 8 rows use them), and padding is
 * decided there, outside the inner loop.
 *
 * Work-group 128 x 1 x 1. Grid: x = ceil(out_ch / 8), y = ceil(batch * out_len / 4).
 * LDS: 6 KiB, static.
 */
#include "prelude.h"
#include "activations.h"

#define ROWS 8
#define LANES 16
#define CHUNK 256
#define ITEMS (ROWS * LANES)

struct shape {
	int batch, in_ch, in_len, out_ch, out_len, k, stride, pad;
};

static inline float
fetch(global const float *in, struct shape s, int col, int ic, int kk, bool reflect)
{
	int b = col / s.out_len;
	int p = (col - b * s.out_len) * s.stride - s.pad + kk;

	if (reflect && p >= s.in_len)
		p = 2 * (s.in_len - 1) - p;
	if (b >= s.batch || p < 0 || p >= s.in_len)
		return 0.0f;
	return in[(b * s.in_ch + ic) * s.in_len + p];
}

/* Sum over channels and taps for the row of this work-item; valid in its lanes 0..3 as component. */
static inline float4
products(global const float *in, global const float *w, struct shape s, bool reflect,
	 local float4 *column, local float4 *partial)
{
	int t = get_local_id(0), lane = t % LANES;
	int row = get_group_id(0) * ROWS + t / LANES;
	int col = get_group_id(1) * 4, depth = s.in_ch * s.k;
	float4 sum = 0.0f;

	/* Rows past the end compute the last row again and are not stored. */
	w += (row < s.out_ch ? row : s.out_ch - 1) * depth;
	for (int first = 0; first < depth; first += CHUNK) {
		int n = depth - first < CHUNK ? depth - first : CHUNK;

		for (int j = t; j < n; j += ITEMS) {
			int ic = (first + j) / s.k, kk = first + j - ic * s.k;

			column[j] = (float4)(fetch(in, s, col, ic, kk, reflect),
					     fetch(in, s, col + 1, ic, kk, reflect),
					     fetch(in, s, col + 2, ic, kk, reflect),
					     fetch(in, s, col + 3, ic, kk, reflect));
		}
		lds_barrier();
#pragma unroll 4
		for (int j = lane; j < n; j += LANES)
			sum = fma4((float4)(w[first + j]), column[j], sum);
		lds_barrier(); /* before the next chunk overwrites what slower waves still read */
	}

	partial[t] = sum;
	for (int step = LANES / 2; step > 0; step /= 2) {
		lds_barrier();
		if (lane < step)
			partial[t] += partial[t + step];
	}
	lds_barrier();
	return partial[t - lane];
}

static inline void
store(global float *out, struct shape s, float4 sum, float bias, bool relu)
{
	int t = get_local_id(0), lane = t % LANES;
	int row = get_group_id(0) * ROWS + t / LANES;
	int col = get_group_id(1) * 4 + lane, b = col / s.out_len;
	float y = bias + (lane == 0 ? sum.x : lane == 1 ? sum.y : lane == 2 ? sum.z : sum.w);

	if (lane < 4 && row < s.out_ch && b < s.batch)
		out[(b * s.out_ch + row) * s.out_len + col - b * s.out_len] = relu ? relu1(y) : y;
}

/*
 * out[b][o][l] = f(bias[o] + sum over c, t of w[o][c][t] * in[b][c][l * stride + t - pad])
 * with in = 0 outside its row, f = ReLU when relu is not 0, else the identity.
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       in    [batch][in_ch][in_len]
 *   1   global const float*  r       w     [out_ch][in_ch][k]
 *   2   global const float*  r       bias  [out_ch]
 *   3   global float*        w       out   [batch][out_ch][out_len], every element written
 *   4-11 int                         batch, in_ch, in_len, out_ch, out_len, k, stride, pad
 *  12   int                          relu
 */
kernel GROUP(ITEMS) void
conv1d(global const float *in, global const float *w, global const float *bias, global float *out,
       int batch, int in_ch, int in_len, int out_ch, int out_len, int k, int stride, int pad, int relu)
{
	local float4 column[CHUNK], partial[ITEMS];
	struct shape s = {batch, in_ch, in_len, out_ch, out_len, k, stride, pad};
	int row = get_group_id(0) * ROWS + get_local_id(0) / LANES;
	float b = bias[row < out_ch ? row : out_ch - 1];

	store(out, s, products(in, w, s, false, column, partial), b, relu != 0);
}

/*
 * The same sum without bias and ReLU, where an index past the end of a row is reflected about the
 * last sample: in[in_len - 1 + d] = in[in_len - 1 - d]. This is the short-time Fourier transform
 * when w holds the windowed cosine and sine rows. Indices below 0 (pad > 0) still read 0.
 *
 *  arg  type                 access  meaning
 *   0   global const float*  r       in   [batch][in_ch][in_len]
 *   1   global const float*  r       w    [out_ch][in_ch][k]
 *   2   global float*        w       out  [batch][out_ch][out_len], every element written
 *   3-10 int                         batch, in_ch, in_len, out_ch, out_len, k, stride, pad
 *
 * Needs (out_len - 1) * stride + k - pad <= 2 * in_len - 1 (one reflection).
 */
kernel GROUP(ITEMS) void
conv1d_reflect(global const float *in, global const float *w, global float *out, int batch, int in_ch,
	       int in_len, int out_ch, int out_len, int k, int stride, int pad)
{
	local float4 column[CHUNK], partial[ITEMS];
	struct shape s = {batch, in_ch, in_len, out_ch, out_len, k, stride, pad};

	store(out, s, products(in, w, s, true, column, partial), 0.0f, false);
}
