/* SPDX-License-Identifier: MIT */
/* shim.h: what the interposed functions have in common. */
#ifndef SOFTGPU_SHIM_H
#define SOFTGPU_SHIM_H

#include <dirent.h>
#include <errno.h>

/* Everything else is hidden (-fvisibility=hidden and softgpu.map). */
#define SG_EXPORT __attribute__((visibility("default")))

/* The libc convention from the kernel's. */
static inline long
sg_result(long r)
{
	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

/* The next definition of a libc function after ours; `version` where an old one would be found first. */
void *sg_next(void **cache, const char *name, const char *version);

#endif
