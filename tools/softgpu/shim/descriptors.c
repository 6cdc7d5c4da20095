/* SPDX-License-Identifier: MIT */
/* descriptors.c: interposed functions on descriptors: ioctl, close, the dup family, mmap, lseek. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "fds.h"
#include "raw.h"
#include "shim.h"

#include "../drm/node.h"
#include "../hw/hw.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- ioctl ---- */

/* SOFTGPU_SYSCALLS: strace sees each call once. The file below knows none of ours and says ENOTTY. */
static void
show_syscall(int fd, uint32_t cmd)
{
	if (sg_config()->syscalls)
		raw_ioctl(fd, cmd, NULL);
}

static long
ioctl_dmabuf(int fd, uint32_t cmd, void *arg)
{
	/* Memory is coherent here: DMA_BUF_IOCTL_SYNC has nothing to do. */
	if (_IOC_TYPE(cmd) == DMA_BUF_BASE && _IOC_NR(cmd) == _IOC_NR(DMA_BUF_IOCTL_SYNC))
		return 0;
	return raw_ioctl(fd, cmd, arg);
}

static long
ioctl_ours(int fd, struct sg_desc *desc, uint32_t cmd, void *arg)
{
	switch (desc->kind) {
	case SG_DESC_NODE:
		/* FIOCLEX and the like are the file system's. */
		if (_IOC_TYPE(cmd) != 'd')
			return raw_ioctl(fd, cmd, arg);
		show_syscall(fd, cmd);
		return sg_drm_ioctl(desc->object, cmd, arg);
	case SG_DESC_SYNC_FILE:
		if (_IOC_TYPE(cmd) != '>')
			return raw_ioctl(fd, cmd, arg);
		show_syscall(fd, cmd);
		return sg_sync_file_ioctl(desc->object, cmd, arg);
	case SG_DESC_DMABUF:
		return ioctl_dmabuf(fd, cmd, arg);
	default:
		return raw_ioctl(fd, cmd, arg);
	}
}

static bool
ioctl_is_ours(uint32_t cmd)
{
	return _IOC_TYPE(cmd) == 'd' || _IOC_TYPE(cmd) == '>' || _IOC_TYPE(cmd) == DMA_BUF_BASE;
}

SG_EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	enum sg_desc_kind kind = sg_fd_kind(fd);
	va_list args;

	va_start(args, request);
	void *arg = va_arg(args, void *);
	va_end(args);
	int saved = errno;
	if (kind == SG_DESC_FREE) {
		long done = raw_ioctl(fd, request, arg);
		/* Nobody knows the call: it may be one of our files that came past us. */
		if (done == -ENOTTY && ioctl_is_ours((uint32_t)request))
			kind = sg_fd_adopt(fd);
		if (kind == SG_DESC_FREE)
			return (int)sg_result(done);
	}
	struct sg_desc *desc = kind == SG_DESC_NODE ? sg_fd_get(fd) : sg_fd_get_verified(fd, kind);
	/* Callers may have sign-extended an int. */
	long r = desc ? ioctl_ours(fd, desc, (uint32_t)request, arg) : raw_ioctl(fd, request, arg);
	sg_desc_unref(desc);
	errno = saved;
	return (int)sg_result(r);
}

/* ---- close ---- */

static void
forget(int fd)
{
	enum sg_desc_kind kind = sg_fd_kind(fd);

	if (kind == SG_DESC_FREE || sg_fds_borrowed())
		return;
	int saved = errno;
	/* Closing any copy of a DRM descriptor waits for the file's jobs. */
	struct sg_desc *desc = kind == SG_DESC_NODE ? sg_fd_get(fd) : NULL;
	if (desc)
		sg_file_flush(desc->object);
	sg_desc_unref(desc);
	sg_fd_forget(fd);
	errno = saved;
}

SG_EXPORT int
close(int fd)
{
	forget(fd);
	return (int)sg_result(raw_close(fd));
}

/* glibc closes the stream's descriptor past us. */
SG_EXPORT int
fclose(FILE *stream)
{
	static void *next;

	forget(fileno(stream));
	return ((int (*)(FILE *))sg_next(&next, "fclose", NULL))(stream);
}

SG_EXPORT int
close_range(unsigned first, unsigned last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC) && first <= last && !sg_fds_borrowed())
		sg_fd_forget_range(first, last);
	return (int)sg_result(raw_call(SYS_close_range, first, last, flags, 0, 0, 0));
}

SG_EXPORT void
closefrom(int first)
{
	if (first < 0)
		first = 0;
	close_range((unsigned)first, ~0u, 0);
}

/* ---- duplicates: real ones, on the same description ---- */

static int
duplicated(int from, long to)
{
	if (to < 0)
		return (int)sg_result(to);
	if (to == from || (sg_fd_kind(from) == SG_DESC_FREE && sg_fd_kind((int)to) == SG_DESC_FREE) || sg_fds_borrowed())
		return (int)to;
	struct sg_desc *desc = sg_fd_get(from);
	if (desc)
		sg_fd_install((int)to, desc);
	else if (sg_fd_kind((int)to) != SG_DESC_FREE)
		sg_fd_forget((int)to);
	return (int)to;
}

SG_EXPORT int
dup(int fd)
{
	return duplicated(fd, raw_call(SYS_dup, fd, 0, 0, 0, 0, 0));
}

SG_EXPORT int
dup2(int fd, int to)
{
	if (fd != to)
		forget(to);
	return duplicated(fd, raw_call(SYS_dup2, fd, to, 0, 0, 0, 0));
}

SG_EXPORT int
dup3(int fd, int to, int flags)
{
	if (fd != to)
		forget(to);
	return duplicated(fd, raw_call(SYS_dup3, fd, to, flags, 0, 0, 0));
}

static int
fcntl_any(int fd, int cmd, unsigned long arg)
{
	long r = raw_fcntl(fd, cmd, arg);

	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		return duplicated(fd, r);
	return (int)sg_result(r);
}

SG_EXPORT int
fcntl(int fd, int cmd, ...)
{
	va_list args;

	va_start(args, cmd);
	unsigned long arg = va_arg(args, unsigned long);
	va_end(args);
	return fcntl_any(fd, cmd, arg);
}

SG_EXPORT int
fcntl64(int fd, int cmd, ...)
{
	va_list args;

	va_start(args, cmd);
	unsigned long arg = va_arg(args, unsigned long);
	va_end(args);
	return fcntl_any(fd, cmd, arg);
}

/* ---- mmap and lseek ---- */

static long
raw_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return raw_call(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, offset);
}

/* A private mapping that could be written would be a copy, which the kernel has none of for buffers. */
static bool
is_copy(int protection, int flags)
{
	return (flags & MAP_TYPE) == MAP_PRIVATE && (protection & (PROT_READ | PROT_WRITE | PROT_EXEC));
}

/* The bytes of a buffer are in the device memory, at the place that GEM_MMAP names. */
static long
mmap_ours(enum sg_desc_kind kind, void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	struct sg_desc *desc = sg_fd_get_verified(fd, kind);
	uint64_t place = (uint64_t)offset;
	int r = 0;

	if (desc && kind == SG_DESC_NODE)
		r = sg_file_mmap_check(desc->object, place, bytes);
	else if (desc && kind == SG_DESC_DMABUF)
		r = sg_dmabuf_mmap(desc->object, place, bytes, &place);
	if (r == 0 && desc && (kind == SG_DESC_NODE || kind == SG_DESC_DMABUF)) {
		fd = sg_vram_fd();
		r = is_copy(protection, flags) ? -EINVAL : 0;
	}
	sg_desc_unref(desc);
	return r ? r : raw_mmap(at, bytes, protection, flags, fd, (off_t)place);
}

static void *
mmap_any(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	int saved = errno;
	enum sg_desc_kind kind = fd < 0 ? SG_DESC_FREE : sg_fd_kind(fd);
	long r = -ENODEV;

	if (kind == SG_DESC_FREE)
		r = raw_mmap(at, bytes, protection, flags, fd, offset);
	/* Timers and eventfds cannot be mapped: perhaps ours, come past us. */
	if (r == -ENODEV && kind == SG_DESC_FREE)
		kind = sg_fd_adopt(fd);
	if (kind != SG_DESC_FREE)
		r = mmap_ours(kind, at, bytes, protection, flags, fd, offset);
	errno = saved;
	return (void *)sg_result(r);
}

SG_EXPORT void *
mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return mmap_any(at, bytes, protection, flags, fd, offset);
}

SG_EXPORT void *
mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return mmap_any(at, bytes, protection, flags, fd, offset);
}

static off_t
seek_any(int fd, off_t offset, int whence)
{
	if (sg_fd_kind(fd) != SG_DESC_DMABUF)
		return sg_result(raw_call(SYS_lseek, fd, offset, whence, 0, 0, 0));
	/* libdrm asks for the size so. Nothing else moves. */
	struct sg_desc *desc = sg_fd_get_verified(fd, SG_DESC_DMABUF);
	long r = -EINVAL;
	if (!desc)
		r = raw_call(SYS_lseek, fd, offset, whence, 0, 0, 0);
	else if (offset == 0 && whence == SEEK_END)
		r = (long)sg_dmabuf_bytes(desc->object);
	else if (offset == 0 && whence == SEEK_SET)
		r = 0;
	sg_desc_unref(desc);
	return sg_result(r);
}

SG_EXPORT off_t
lseek(int fd, off_t offset, int whence)
{
	return seek_any(fd, offset, whence);
}

SG_EXPORT off64_t
lseek64(int fd, off64_t offset, int whence)
{
	return seek_any(fd, offset, whence);
}
