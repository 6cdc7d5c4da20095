/* SPDX-License-Identifier: MIT */
/* syscount.c: counts the ioctls of the calling process. A program's own definition comes before every library's, so
 * libdrm's calls pass through here; io_uring_enter is made inside liburing and is counted by the load loop. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>

#include "bench.h"

static uint64_t ioctls;

__attribute__((visibility("default"))) int
ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	va_list ap;
	void *arg;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	__atomic_fetch_add(&ioctls, 1, __ATOMIC_RELAXED);
	return next(fd, request, arg);
}

uint64_t
syscount_ioctls(void)
{
	return __atomic_load_n(&ioctls, __ATOMIC_RELAXED);
}
