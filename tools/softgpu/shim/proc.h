/* SPDX-License-Identifier: MIT */
/* proc.h: what /proc says of our descriptors, and paths that begin at a folder's descriptor. */
#ifndef SOFTGPU_PROC_H
#define SOFTGPU_PROC_H

#include "fds.h"

#include <stddef.h>

/* "/proc/self/fd/7" and its other spellings: the descriptor, or -1 when it is not this process's or not one of ours. */
int sg_proc_fd(const char *path);
/* The same for ".../fdinfo/7" of a node. */
int sg_proc_fdinfo(const char *path);
/* What reading that link gives, or NULL. */
const char *sg_proc_name(int fd, char *room, size_t bytes);
/* An ordinary file at its start with what reading fdinfo gives; -errno. */
long sg_proc_fdinfo_open(int fd, int flags);

#endif
