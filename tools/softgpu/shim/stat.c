/* SPDX-License-Identifier: MIT */
/* stat.c: the stat and access families. The nodes are empty files in the tree and must look like devices. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "fds.h"
#include "paths.h"
#include "proc.h"
#include "raw.h"
#include "shim.h"

#include "../drm/node.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DRM_MAJOR 226
/* devtmpfs as programs see it: the same for stat and fstat, and different for the two nodes. */
#define NODE_DEV makedev(0, 6)
#define NODE_INO(minor) (0x50f70000ull + (minor))
#define NODE_MODE (S_IFCHR | 0666)

static void
patch(struct stat *st, unsigned minor)
{
	st->st_mode = NODE_MODE;
	st->st_rdev = makedev(DRM_MAJOR, minor);
	st->st_dev = NODE_DEV;
	st->st_ino = NODE_INO(minor);
	st->st_nlink = 1;
	st->st_size = 0;
	st->st_blocks = 0;
}

static unsigned
minor_of(bool primary)
{
	const struct sg_tree *t = sg_tree();

	return t ? (primary ? t->card : t->render) : (primary ? 0 : 128);
}

/* Whether fd is a node; *minor is its number. What the kernel says of a timerfd is neither file nor device; everything
 * else can be no node. */
static bool
fd_minor(int fd, unsigned mode, unsigned *minor)
{
	if ((mode & S_IFMT) && sg_fd_kind(fd) != SG_DESC_NODE)
		return false;
	struct sg_desc *desc = sg_fd_get_verified(fd, SG_DESC_NODE);
	bool node = desc != NULL;
	if (node)
		*minor = minor_of(sg_file_is_primary(desc->object));
	sg_desc_unref(desc);
	return node;
}

static bool
is_empty_path(const char *path, int flags)
{
	return path && path[0] == '\0' && (flags & AT_EMPTY_PATH);
}

static int
stat_any(int dir, const char *path, struct stat *st, int flags)
{
	char other[SG_PATH_ROOM];
	enum sg_path kind = sg_path_resolve_at(dir, path, other);
	bool ours = sg_path_in_tree(kind);
	unsigned minor;

	long r = raw_call(SYS_newfstatat, ours ? AT_FDCWD : dir, (long)(ours ? other : path), (long)st, flags, 0, 0);
	if (r < 0)
		return (int)sg_result(r);
	if (kind == SG_PATH_CARD || kind == SG_PATH_RENDER)
		patch(st, minor_of(kind == SG_PATH_CARD));
	else if (kind == SG_PATH_FD && !(flags & AT_SYMLINK_NOFOLLOW) && fd_minor(sg_proc_fd(other), st->st_mode, &minor))
		patch(st, minor);
	else if (is_empty_path(path, flags) && fd_minor(dir, st->st_mode, &minor))
		patch(st, minor);
	return 0;
}

static int
stat_fd(int fd, struct stat *st)
{
	unsigned minor;

	long r = raw_call(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
	if (r < 0)
		return (int)sg_result(r);
	if (fd_minor(fd, st->st_mode, &minor))
		patch(st, minor);
	return 0;
}

/* On x86-64 struct stat64 is struct stat, and the kernel's. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "x86-64");
#define ST(p) ((struct stat *)(void *)(p))

SG_EXPORT int
stat(const char *restrict path, struct stat *restrict st)
{
	return stat_any(AT_FDCWD, path, st, 0);
}

SG_EXPORT int
stat64(const char *restrict path, struct stat64 *restrict st)
{
	return stat_any(AT_FDCWD, path, ST(st), 0);
}

SG_EXPORT int
lstat(const char *restrict path, struct stat *restrict st)
{
	return stat_any(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

SG_EXPORT int
lstat64(const char *restrict path, struct stat64 *restrict st)
{
	return stat_any(AT_FDCWD, path, ST(st), AT_SYMLINK_NOFOLLOW);
}

SG_EXPORT int
fstat(int fd, struct stat *st)
{
	return stat_fd(fd, st);
}

SG_EXPORT int
fstat64(int fd, struct stat64 *st)
{
	return stat_fd(fd, ST(st));
}

SG_EXPORT int
fstatat(int dir, const char *restrict path, struct stat *restrict st, int flags)
{
	return stat_any(dir, path, st, flags);
}

SG_EXPORT int
fstatat64(int dir, const char *restrict path, struct stat64 *restrict st, int flags)
{
	return stat_any(dir, path, ST(st), flags);
}

/* What programs linked before glibc 2.33 call; the version is always 1 on x86-64. */
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat(int version, const char *path, struct stat *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags);

SG_EXPORT int
__xstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat_any(AT_FDCWD, path, st, 0);
}

SG_EXPORT int
__xstat64(int version, const char *path, struct stat64 *st)
{
	(void)version;
	return stat_any(AT_FDCWD, path, ST(st), 0);
}

SG_EXPORT int
__lxstat(int version, const char *path, struct stat *st)
{
	(void)version;
	return stat_any(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

SG_EXPORT int
__lxstat64(int version, const char *path, struct stat64 *st)
{
	(void)version;
	return stat_any(AT_FDCWD, path, ST(st), AT_SYMLINK_NOFOLLOW);
}

SG_EXPORT int
__fxstat(int version, int fd, struct stat *st)
{
	(void)version;
	return stat_fd(fd, st);
}

SG_EXPORT int
__fxstat64(int version, int fd, struct stat64 *st)
{
	(void)version;
	return stat_fd(fd, ST(st));
}

SG_EXPORT int
__fxstatat(int version, int dir, const char *path, struct stat *st, int flags)
{
	(void)version;
	return stat_any(dir, path, st, flags);
}

SG_EXPORT int
__fxstatat64(int version, int dir, const char *path, struct stat64 *st, int flags)
{
	(void)version;
	return stat_any(dir, path, ST(st), flags);
}

static void
patch_x(struct statx *st, unsigned minor)
{
	st->stx_mode = NODE_MODE;
	st->stx_rdev_major = DRM_MAJOR;
	st->stx_rdev_minor = minor;
	st->stx_dev_major = gnu_dev_major(NODE_DEV);
	st->stx_dev_minor = gnu_dev_minor(NODE_DEV);
	st->stx_ino = NODE_INO(minor);
	st->stx_size = 0;
	st->stx_blocks = 0;
}

SG_EXPORT int
statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	char other[SG_PATH_ROOM];
	enum sg_path kind = sg_path_resolve_at(dir, path, other);
	bool ours = sg_path_in_tree(kind);
	unsigned minor;

	long r = raw_call(SYS_statx, ours ? AT_FDCWD : dir, (long)(ours ? other : path), flags, (long)mask,
			  (long)st, 0);
	if (r < 0)
		return (int)sg_result(r);
	if (kind == SG_PATH_CARD || kind == SG_PATH_RENDER)
		patch_x(st, minor_of(kind == SG_PATH_CARD));
	else if (is_empty_path(path, flags) && fd_minor(dir, st->stx_mode, &minor))
		patch_x(st, minor);
	return 0;
}

/* ---- access ---- */

SG_EXPORT int
faccessat(int dir, const char *path, int mode, int flags)
{
	char other[SG_PATH_ROOM];
	bool ours = sg_path_in_tree(sg_path_resolve_at(dir, path, other));
	int at = ours ? AT_FDCWD : dir;
	long target = (long)(ours ? other : path);

	/* faccessat2 knows flags (Linux 5.8). */
	if (flags)
		return (int)sg_result(raw_call(SYS_faccessat2, at, target, mode, flags, 0, 0));
	return (int)sg_result(raw_call(SYS_faccessat, at, target, mode, 0, 0, 0));
}

SG_EXPORT int
access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- extended attributes: ls -l asks for ACLs by path ---- */

static ssize_t
xattr_any(long number, const char *path, const char *name, void *value, size_t room)
{
	char other[SG_PATH_ROOM];
	bool ours = sg_path_in_tree(sg_path_resolve_at(AT_FDCWD, path, other));

	return sg_result(raw_call(number, (long)(ours ? other : path), (long)name, (long)value, (long)room, 0, 0));
}

SG_EXPORT ssize_t
getxattr(const char *path, const char *name, void *value, size_t room)
{
	return xattr_any(SYS_getxattr, path, name, value, room);
}

SG_EXPORT ssize_t
lgetxattr(const char *path, const char *name, void *value, size_t room)
{
	return xattr_any(SYS_lgetxattr, path, name, value, room);
}
