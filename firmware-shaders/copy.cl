/* SPDX-License-Identifier: MIT */
/*
 * dst[i] = src[i], i < n
 *
 *  arg  type                access  meaning
 *   0   global const uint*  r       src  [n]
 *   1   global uint*        w       dst  [n], every element written; must not overlap src
 *   2   uint                        n, in 4-byte words
 *
 * A group moves 1024 consecutive words, 4 per work-item, 256 apart so that each access of a wave
 * is one contiguous run. Work-group 256 x 1 x 1. Grid: x = ceil(n / 1024). No LDS.
 */
#include "prelude.h"

#define ITEMS 256
#define WORDS 4

kernel GROUP(ITEMS) void
copy(global const uint *restrict src, global uint *restrict dst, uint n)
{
	ulong first = (ulong)get_group_id(0) * (ITEMS * WORDS) + get_local_id(0); /* may pass 2^32 */

	for (int i = 0; i < WORDS; i++)
		if (first + i * ITEMS < n)
			dst[first + i * ITEMS] = src[first + i * ITEMS];
}
