/* SPDX-License-Identifier: MIT */
/* paths.c: rewriting of paths, and the process's tree. */
#define _GNU_SOURCE
#include "paths.h"
#include "proc.h"
#include "raw.h"

#include "../hw/hw.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sg_tree tree;
static enum { TREE_UNKNOWN, TREE_READY, TREE_NONE } tree_state; /* atomic */
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool tree_making __attribute__((tls_model("initial-exec"))); /* our own calls mean the real paths */
static pid_t tree_owner; /* who has to remove it; 0: the launcher */

static void
tree_find(void)
{
	const char *root = getenv(SG_TREE_ENV);

	if (root && *root && sg_tree_load(&tree, root)) {
		__atomic_store_n(&tree_state, TREE_READY, __ATOMIC_RELEASE);
		return;
	}
	int r = sg_tree_create(&tree, sg_config()->profile, sg_config()->lockup_ms,
			       sg_config()->recovery);
	if (r == 0)
		tree_owner = getpid();
	else
		fprintf(stderr, "softgpu: cannot make a folder for the device: %s\n", strerror(-r));
	__atomic_store_n(&tree_state, r == 0 ? TREE_READY : TREE_NONE, __ATOMIC_RELEASE);
}

const struct sg_tree *
sg_tree(void)
{
	int state = __atomic_load_n(&tree_state, __ATOMIC_ACQUIRE);

	if (state == TREE_UNKNOWN && !tree_making) {
		tree_making = true;
		pthread_mutex_lock(&tree_lock);
		if (tree_state == TREE_UNKNOWN)
			tree_find();
		pthread_mutex_unlock(&tree_lock);
		tree_making = false;
		state = __atomic_load_n(&tree_state, __ATOMIC_ACQUIRE);
	}
	return state == TREE_READY && !tree_making ? &tree : NULL;
}

__attribute__((destructor)) static void
tree_end(void)
{
	if (!tree_owner || tree_owner != getpid())
		return;
	tree_making = true;
	__atomic_store_n(&tree_state, TREE_NONE, __ATOMIC_RELEASE);
	sg_tree_remove(&tree);
}

/* The rest of `path` after `prefix` when that ends at a name's end, else NULL. */
static const char *
after(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(path, prefix, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return NULL;
	return path + n;
}

static const char *
after_minor(const char *path, const char *format, unsigned minor)
{
	char prefix[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(prefix, sizeof(prefix), format, minor);
#pragma GCC diagnostic pop
	return after(path, prefix);
}

static bool
only_slashes(const char *rest)
{
	return rest && rest[strspn(rest, "/")] == '\0';
}

static enum sg_path
classify_dev(const struct sg_tree *t, const char *path)
{
	if (only_slashes(after(path, "/dev/dri")))
		return SG_PATH_TREE;
	if (only_slashes(after_minor(path, "/dev/dri/card%u", t->card)))
		return SG_PATH_CARD;
	if (only_slashes(after_minor(path, "/dev/dri/renderD%u", t->render)))
		return SG_PATH_RENDER;
	return SG_PATH_REAL;
}

static enum sg_path
classify_sys(const struct sg_tree *t, const char *path)
{
	char prefix[64];

	if (only_slashes(after(path, "/sys/class/drm")) || after(path, "/sys/class/drm/version") ||
	    after(path, "/sys/module/amdgpu"))
		return SG_PATH_TREE;
	if (after_minor(path, "/sys/class/drm/card%u", t->card) ||
	    after_minor(path, "/sys/class/drm/renderD%u", t->render) ||
	    after_minor(path, "/sys/kernel/debug/dri/%u", t->card) ||
	    after_minor(path, "/sys/kernel/debug/dri/%u", t->render) ||
	    after_minor(path, "/sys/dev/char/226:%u", t->card) || after_minor(path, "/sys/dev/char/226:%u", t->render))
		return SG_PATH_TREE;
	snprintf(prefix, sizeof(prefix), "/sys/bus/pci/devices/%s", t->slot);
	if (after(path, prefix))
		return SG_PATH_TREE;
	snprintf(prefix, sizeof(prefix), "/sys/devices/pci0000:00/%s", t->slot);
	return after(path, prefix) ? SG_PATH_TREE : SG_PATH_REAL;
}

static bool
has_prefix(const char *path, const char *prefix)
{
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* Whether it is worth looking for the tree. */
static bool
worth_a_look(const char *path)
{
	if (!path || path[0] != '/')
		return false;
	if (path[1] == 'd')
		return has_prefix(path, "/dev/dri");
	if (path[1] != 's')
		return false;
	return has_prefix(path, "/sys/class/drm") || has_prefix(path, "/sys/dev/char/226:") ||
	       has_prefix(path, "/sys/bus/pci/devices/") || has_prefix(path, "/sys/devices/pci0000:00/") ||
	       has_prefix(path, "/sys/module/amdgpu") || has_prefix(path, "/sys/kernel/debug/dri/");
}

static bool
is_proc(const char *path)
{
	return has_prefix(path, "/proc/") || has_prefix(path, "/dev/fd/");
}

static enum sg_path
classify_proc(const char *path, char out[SG_PATH_ROOM])
{
	enum sg_path kind = sg_proc_fdinfo(path) >= 0 ? SG_PATH_FDINFO : sg_proc_fd(path) >= 0 ? SG_PATH_FD : SG_PATH_REAL;

	if (kind != SG_PATH_REAL)
		stpcpy(out, path);
	return kind;
}

enum sg_path
sg_path_resolve(const char *path, char out[SG_PATH_ROOM])
{
	if (path && path[0] == '/' && (path[1] == 'p' || path[1] == 'd'))
		if (is_proc(path))
			return classify_proc(path, out);
	if (!worth_a_look(path) || strlen(path) > SG_PATH_ROOM - sizeof(tree.root) - 1)
		return SG_PATH_REAL;
	int saved = errno;
	const struct sg_tree *t = sg_tree();
	enum sg_path kind = SG_PATH_REAL;
	if (t)
		kind = path[1] == 'd' ? classify_dev(t, path) : classify_sys(t, path);
	if (kind != SG_PATH_REAL)
		stpcpy(stpcpy(out, t->root), path);
	const char *name = strrchr(path, '/');
	if (kind == SG_PATH_TREE && strcmp(name, "/softgpu_stats") == 0)
		kind = SG_PATH_STATS;
	if (kind == SG_PATH_TREE && strcmp(name, "/amdgpu_gpu_recover") == 0)
		kind = SG_PATH_RECOVER;
	errno = saved;
	return kind;
}

void
sg_path_restore(char *path)
{
	const struct sg_tree *t = __atomic_load_n(&tree_state, __ATOMIC_ACQUIRE) == TREE_READY ? &tree : NULL;

	if (!t || !path)
		return;
	const char *rest = after(path, t->root);
	if (rest && *rest)
		memmove(path, rest, strlen(rest) + 1);
}

/* ---- relative paths ---- */

/* Names on the way to something of ours. All others are left to the kernel, which finds them in the tree too when the
 * folder is one of its. */
static bool
may_be_ours(const char *path)
{
	static const char *const names[] = { "dri", "drm", "card", "renderD", "226:", "0000:", "amdgpu", "softgpu_stats" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(path, names[i]))
			return true;
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return *name && name[strspn(name, "0123456789")] == '\0';
}

/* Takes "." and ".." out by their names alone. */
static void
normalise(char *path)
{
	char *to = path;

	for (char *from = path; *from;) {
		char *name = from + strspn(from, "/");
		size_t n = strcspn(name, "/");
		from = name + n;
		if (n == 0 || (n == 1 && name[0] == '.'))
			continue;
		if (n == 2 && name[0] == '.' && name[1] == '.') {
			while (to > path && *--to != '/')
				;
			continue;
		}
		*to++ = '/';
		memmove(to, name, n);
		to += n;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

enum sg_path
sg_path_resolve_at(int dir, const char *path, char out[SG_PATH_ROOM])
{
	char link[32], whole[SG_PATH_ROOM];

	if (!path || path[0] == '/')
		return sg_path_resolve(path, out);
	if (!may_be_ours(path))
		return SG_PATH_REAL;
	if (dir == AT_FDCWD)
		strcpy(link, "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	long n = raw_readlinkat(AT_FDCWD, link, whole, sizeof(whole) - 1);
	if (n <= 0 || (size_t)n + strlen(path) + 2 > sizeof(whole))
		return SG_PATH_REAL;
	whole[n] = '/';
	strcpy(whole + n + 1, path);
	normalise(whole);
	sg_path_restore(whole);
	return sg_path_resolve(whole, out);
}

long
sg_text_file(const char *name, const char *text, size_t bytes, int flags)
{
	int fd = memfd_create(name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < bytes;) {
		long n = raw_write(fd, text + done, bytes - done);
		if (n <= 0) {
			raw_close(fd);
			return n < 0 ? n : -EIO;
		}
		done += (size_t)n;
	}
	raw_call(SYS_lseek, fd, 0, SEEK_SET, 0, 0, 0);
	return fd;
}
