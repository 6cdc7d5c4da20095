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
	SG_PATH_RECOVER, /* amdgpu_gpu_recover in debugfs: reading it resets the GPU */
	SG_PATH_STATS,	/* softgpu_stats in the device's folder */
	SG_PATH_FD,	/* /proc/self/fd/N of one of our descriptors; `out` is that path */
	SG_PATH_FDINFO,	/* /proc/self/fdinfo/N of a node */
};

#define SG_PATH_ROOM 4096

/* `out` names a file of the tree. */
static inline bool
sg_path_in_tree(enum sg_path kind)
{
	return kind != SG_PATH_REAL && kind != SG_PATH_FD && kind != SG_PATH_FDINFO;
}

/* Puts what to open instead into `out` unless it is SG_PATH_REAL. Keeps errno. */
enum sg_path sg_path_resolve(const char *path, char out[SG_PATH_ROOM]);
/* The same for a path that may begin at a folder's descriptor or at the current folder. */
enum sg_path sg_path_resolve_at(int dir, const char *path, char out[SG_PATH_ROOM]);
/* A new descriptor of an ordinary file at its start with this text; -errno. */
long sg_text_file(const char *name, const char *text, size_t bytes, int flags);
/* "<tree>/sys/..." back to "/sys/...", in place. */
void sg_path_restore(char *path);
/* The tree, made when there is none; NULL: cannot be had. */
const struct sg_tree *sg_tree(void);

#endif
