/* SPDX-License-Identifier: MIT */
/* heap.c: malloc and its family, counted. One thread only. glibc's own stand behind them. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "heap.h"

/* In front of the C library's for the shared library too. */
#define COUNTED __attribute__((visibility("default")))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static size_t now, peak;

static void *
more(void *p)
{
	now += p ? malloc_usable_size(p) : 0;
	if (now > peak)
		peak = now;
	return p;
}

static void
less(void *p)
{
	now -= p ? malloc_usable_size(p) : 0;
}

COUNTED void *
malloc(size_t bytes)
{
	return more(__libc_malloc(bytes));
}

COUNTED void *
calloc(size_t n, size_t bytes)
{
	return more(__libc_calloc(n, bytes));
}

COUNTED void *
realloc(void *old, size_t bytes)
{
	size_t had = old ? malloc_usable_size(old) : 0;
	void *p = __libc_realloc(old, bytes);

	if (p || !bytes)
		now -= had;
	return more(p);
}

COUNTED void *
aligned_alloc(size_t alignment, size_t bytes)
{
	return more(__libc_memalign(alignment, bytes));
}

COUNTED int
posix_memalign(void **out, size_t alignment, size_t bytes)
{
	*out = more(__libc_memalign(alignment, bytes));
	return *out ? 0 : ENOMEM;
}

COUNTED void
free(void *p)
{
	less(p);
	__libc_free(p);
}

size_t
heap_now(void)
{
	return now;
}

size_t
heap_peak(void)
{
	return peak;
}

void
heap_restart(void)
{
	peak = now;
}
