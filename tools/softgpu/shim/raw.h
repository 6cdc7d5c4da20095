/* SPDX-License-Identifier: MIT */
/* raw.h: the system calls behind the interposed functions.
 *
 * Entered directly and not through dlsym(RTLD_NEXT): wrappers run before constructors, inside a malloc library's
 * start and in the child of a vfork, where looking symbols up is not safe. All return -errno and leave errno alone.
 */
#ifndef SOFTGPU_RAW_H
#define SOFTGPU_RAW_H

#include <stdint.h>
#include <sys/syscall.h>

static inline long
raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static inline long
raw_openat(int dir, const char *path, int flags, unsigned mode)
{
	return raw_call(SYS_openat, dir, (long)path, flags, mode, 0, 0);
}

static inline long
raw_close(int fd)
{
	return raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long
raw_ioctl(int fd, unsigned long request, void *arg)
{
	return raw_call(SYS_ioctl, fd, (long)request, (long)arg, 0, 0, 0);
}

static inline long
raw_fcntl(int fd, int cmd, unsigned long arg)
{
	return raw_call(SYS_fcntl, fd, cmd, (long)arg, 0, 0, 0);
}

static inline long
raw_read(int fd, void *to, unsigned long bytes)
{
	return raw_call(SYS_read, fd, (long)to, (long)bytes, 0, 0, 0);
}

static inline long
raw_write(int fd, const void *from, unsigned long bytes)
{
	return raw_call(SYS_write, fd, (long)from, (long)bytes, 0, 0, 0);
}

static inline long
raw_readlinkat(int dir, const char *path, char *to, unsigned long bytes)
{
	return raw_call(SYS_readlinkat, dir, (long)path, (long)to, (long)bytes, 0, 0);
}

#endif
