/* SPDX-License-Identifier: MIT */
/* heap.h: bytes this process has allocated, by the library too: heap.c stands in for the C library's malloc. */
#ifndef BENCH_PREPARE_HEAP_H
#define BENCH_PREPARE_HEAP_H

#include <stddef.h>

size_t heap_now(void);
/* Highest since the last heap_restart. */
size_t heap_peak(void);
void heap_restart(void);

#endif
