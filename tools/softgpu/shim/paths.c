/* SPDX-License-Identifier: MIT */
/* paths.c: rewriting of paths, and the process's tree. */
#define _GNU_SOURCE
#include "paths.h"

#include "../hw/hw.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	int r = sg_tree_create(&tree, sg_config()->profile, sg_config()->lockup_ms);
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
	       has_prefix(path, "/sys/module/amdgpu");
}

enum sg_path
sg_path_resolve(const char *path, char out[SG_PATH_ROOM])
{
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
