/* SPDX-License-Identifier: MIT */
/* files.c: interposed functions that take a path and give a descriptor, a stream or a folder. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "fds.h"
#include "paths.h"
#include "proc.h"
#include "raw.h"
#include "shim.h"

#include "../drm/node.h"
#include "../hw/hw.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- opening ---- */

static long
open_node(bool primary, int flags)
{
	uint64_t identity;

	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	int fd = sg_node_create(primary, flags, &identity);
	if (fd < 0)
		return fd;
	struct sg_desc *desc = sg_node_open(identity);
	if (desc && sg_fd_install(fd, desc))
		return fd;
	raw_close(fd);
	return -ENOMEM;
}

/* The counters of this moment, as an ordinary file at its start. */
static long
open_stats(int flags)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	sg_stats_write(out);
	fclose(out);
	long fd = sg_text_file("softgpu_stats", text, bytes, flags);
	free(text);
	return fd;
}

/* The kernel resets when it is read; a program that opens it does that next. */
static long
open_recover(int flags)
{
	if ((flags & O_ACCMODE) != O_RDONLY)
		return -EACCES;
	sg_gpu_recover();
	return sg_text_file("amdgpu_gpu_recover", "0\n", 2, flags);
}

/* A file opened anew through /proc is another description of the same node; the others cannot be opened so. */
static long
open_again(const char *path, int flags)
{
	int fd = sg_proc_fd(path);
	struct sg_desc *desc = fd >= 0 ? sg_fd_get_verified(fd, SG_DESC_NODE) : NULL;

	if (!desc)
		return -ENXIO;
	bool primary = sg_file_is_primary(desc->object);
	sg_desc_unref(desc);
	return open_node(primary, flags);
}

static long
open_any(int dir, const char *path, int flags, unsigned mode)
{
	char other[SG_PATH_ROOM];
	long fd;

	switch (sg_path_resolve_at(dir, path, other)) {
	case SG_PATH_CARD: return open_node(true, flags);
	case SG_PATH_RENDER: return open_node(false, flags);
	case SG_PATH_STATS: return open_stats(flags);
	case SG_PATH_RECOVER: return open_recover(flags);
	case SG_PATH_FD: return open_again(other, flags);
	case SG_PATH_FDINFO: return sg_proc_fdinfo_open(sg_proc_fdinfo(other), flags);
	case SG_PATH_TREE: fd = raw_openat(AT_FDCWD, other, flags, mode); break;
	default: fd = raw_openat(dir, path, flags, mode); break;
	}
	/* The number may be left over from a descriptor that was closed behind our back. */
	if (fd >= 0 && sg_fd_kind((int)fd) != SG_DESC_FREE)
		sg_fd_forget((int)fd);
	return fd;
}

static int
open_errno(int dir, const char *path, int flags, unsigned mode)
{
	int saved = errno;
	long r = open_any(dir, path, flags, mode);

	errno = saved;
	return (int)sg_result(r);
}

#define MODE_OF(flags, last) \
	({                                                                                                            \
		unsigned mode_ = 0;                                                                                   \
		if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) {                                               \
			va_list args_;                                                                                \
			va_start(args_, last);                                                                        \
			mode_ = va_arg(args_, unsigned);                                                              \
			va_end(args_);                                                                                \
		}                                                                                                     \
		mode_;                                                                                                \
	})

SG_EXPORT int
open(const char *path, int flags, ...)
{
	return open_errno(AT_FDCWD, path, flags, MODE_OF(flags, flags));
}

SG_EXPORT int
open64(const char *path, int flags, ...)
{
	return open_errno(AT_FDCWD, path, flags, MODE_OF(flags, flags));
}

SG_EXPORT int
openat(int dir, const char *path, int flags, ...)
{
	return open_errno(dir, path, flags, MODE_OF(flags, flags));
}

SG_EXPORT int
openat64(int dir, const char *path, int flags, ...)
{
	return open_errno(dir, path, flags, MODE_OF(flags, flags));
}

SG_EXPORT int
__open_2(const char *path, int flags)
{
	return open_errno(AT_FDCWD, path, flags, 0);
}

SG_EXPORT int
__open64_2(const char *path, int flags)
{
	return open_errno(AT_FDCWD, path, flags, 0);
}

SG_EXPORT int
__openat_2(int dir, const char *path, int flags)
{
	return open_errno(dir, path, flags, 0);
}

SG_EXPORT int
__openat64_2(int dir, const char *path, int flags)
{
	return open_errno(dir, path, flags, 0);
}

/* ---- streams and folders: glibc does not call its own open through the PLT ---- */

void *
sg_next(void **cache, const char *name, const char *version)
{
	void *at = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (at)
		return at;
	at = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!at)
		at = dlsym(RTLD_NEXT, name);
	if (!at)
		abort(); /* a libc without it */
	__atomic_store_n(cache, at, __ATOMIC_RELEASE);
	return at;
}

typedef FILE *fopen_fn(const char *, const char *);

static FILE *
open_stream(fopen_fn *next, const char *path, const char *mode)
{
	char other[SG_PATH_ROOM];
	enum sg_path kind = sg_path_resolve_at(AT_FDCWD, path, other);

	if (kind == SG_PATH_REAL)
		return next(path, mode);
	if (kind == SG_PATH_TREE)
		return next(other, mode);
	int fd = open_errno(AT_FDCWD, path, strchr(mode, 'e') ? O_RDWR | O_CLOEXEC : O_RDWR, 0);
	if (fd < 0)
		return NULL;
	FILE *stream = fdopen(fd, mode);
	if (!stream)
		close(fd);
	return stream;
}

SG_EXPORT FILE *
fopen(const char *path, const char *mode)
{
	static void *next;

	return open_stream((fopen_fn *)sg_next(&next, "fopen", NULL), path, mode);
}

SG_EXPORT FILE *
fopen64(const char *path, const char *mode)
{
	static void *next;

	return open_stream((fopen_fn *)sg_next(&next, "fopen64", NULL), path, mode);
}

static bool
in_tree(int dir, const char *path, char out[SG_PATH_ROOM])
{
	return sg_path_in_tree(sg_path_resolve_at(dir, path, out));
}

SG_EXPORT DIR *
opendir(const char *path)
{
	static void *next;
	char other[SG_PATH_ROOM];
	bool ours = in_tree(AT_FDCWD, path, other);

	return ((DIR * (*)(const char *)) sg_next(&next, "opendir", NULL))(ours ? other : path);
}

typedef int scandir_fn(const char *, void *, void *, void *);

SG_EXPORT int
scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	int (*compare)(const struct dirent **, const struct dirent **))
{
	static void *next;
	char other[SG_PATH_ROOM];
	bool ours = in_tree(AT_FDCWD, path, other);

	scandir_fn *real = (scandir_fn *)sg_next(&next, "scandir", NULL);
	return real(ours ? other : path, list, (void *)filter, (void *)compare);
}

SG_EXPORT int
scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	  int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	static void *next;
	char other[SG_PATH_ROOM];
	bool ours = in_tree(AT_FDCWD, path, other);

	scandir_fn *real = (scandir_fn *)sg_next(&next, "scandir64", NULL);
	return real(ours ? other : path, list, (void *)filter, (void *)compare);
}

/* ---- names ---- */

SG_EXPORT char *
realpath(const char *restrict path, char *restrict resolved)
{
	static void *next;
	char other[SG_PATH_ROOM];
	bool ours = in_tree(AT_FDCWD, path, other);
	/* The default version of an older ABI does not take a NULL buffer. */
	char *(*real)(const char *, char *) = (char *(*)(const char *, char *))sg_next(&next, "realpath", "GLIBC_2.3");

	char *r = real(ours ? other : path, resolved);
	if (r && ours)
		sg_path_restore(r);
	return r;
}

SG_EXPORT char *
__realpath_chk(const char *path, char *resolved, size_t room)
{
	(void)room; /* the caller's buffer has PATH_MAX bytes or this would not have compiled without a warning */
	return realpath(path, resolved);
}

SG_EXPORT char *
canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

static ssize_t
read_link(int dir, const char *path, char *to, size_t room)
{
	char other[SG_PATH_ROOM], text[64];
	enum sg_path kind = sg_path_resolve_at(dir, path, other);

	if (kind == SG_PATH_FD) {
		const char *name = sg_proc_name(sg_proc_fd(other), text, sizeof(text));
		size_t n = name ? strlen(name) : 0;
		if (n) {
			memcpy(to, name, n < room ? n : room);
			return (ssize_t)(n < room ? n : room);
		}
	}
	bool ours = sg_path_in_tree(kind);
	return sg_result(raw_readlinkat(ours ? AT_FDCWD : dir, ours ? other : path, to, room));
}

SG_EXPORT ssize_t
readlink(const char *restrict path, char *restrict to, size_t room)
{
	return read_link(AT_FDCWD, path, to, room);
}

SG_EXPORT ssize_t
readlinkat(int dir, const char *restrict path, char *restrict to, size_t room)
{
	return read_link(dir, path, to, room);
}

SG_EXPORT ssize_t
__readlink_chk(const char *path, char *to, size_t room, size_t have)
{
	if (room > have)
		abort();
	return read_link(AT_FDCWD, path, to, room);
}

SG_EXPORT ssize_t
__readlinkat_chk(int dir, const char *path, char *to, size_t room, size_t have)
{
	if (room > have)
		abort();
	return read_link(dir, path, to, room);
}
