/* SPDX-License-Identifier: MIT */
/* tree.h: the folder that stands in for /dev/dri and the device's part of /sys.
 *
 * A real tree on disk answers every question about paths with no list of special cases; interposed functions only
 * rewrite the front of a path. The launcher makes it for all its children and removes it; a process that has
 * libsoftgpu.so preloaded without launcher makes its own when it first asks for such a path.
 * Depends on nothing else of the shim, so that the launcher can link it.
 */
#ifndef SOFTGPU_TREE_H
#define SOFTGPU_TREE_H

#include <stdbool.h>

struct sg_profile;

#define SG_TREE_ENV "SOFTGPU_TREE"

struct sg_tree {
	char root[256];		/* absolute, without symbolic links */
	unsigned card, render;	/* minors, the first that no real node has */
	char slot[16];		/* "0000:03:00.0", one that no real PCI device has */
};

/* In $TMPDIR or /tmp. 0 or -errno; on failure nothing is left. */
int sg_tree_create(struct sg_tree *tree, const struct sg_profile *profile, unsigned lockup_ms,
		   const char *recovery);
/* One that another process made. */
bool sg_tree_load(struct sg_tree *tree, const char *root);
void sg_tree_remove(const struct sg_tree *tree);

#endif
