/* SPDX-License-Identifier: MIT */
/* paths.h: which paths mean softgpu's device. */
#ifndef SOFTGPU_PATHS_H
#define SOFTGPU_PATHS_H

#include "tree.h"

#include <stdbool.h>
#include <stddef.h>

enum sg_path {
	SG_PATH_REAL,	/* none of ours */
	SG_PATH_TREE,	/* a file or folder of the tree */
	SG_PATH_CARD,	/* the nodes */
	SG_PATH_RENDER,
	SG_PATH_STATS,	/* softgpu_stats in the device's folder */
};

#define SG_PATH_ROOM 4096

/* Puts what to open instead into `out` unless it is SG_PATH_REAL. Keeps errno. */
enum sg_path sg_path_resolve(const char *path, char out[SG_PATH_ROOM]);
/* "<tree>/sys/..." back to "/sys/...", in place. */
void sg_path_restore(char *path);
/* The tree, made when there is none; NULL: cannot be had. */
const struct sg_tree *sg_tree(void);

#endif
