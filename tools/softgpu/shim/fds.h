/* SPDX-License-Identifier: MIT */
/* fds.h: which file descriptors of this process are softgpu's.
 *
 * One lookup stands on the way of every ioctl, close and fstat of the process, so the table is indexed by descriptor
 * and read without a lock. What it points to (a description, as the kernel's struct file) is memory that is recycled
 * but never given back, so that a reader may look at it before it has a reference.
 */
#ifndef SOFTGPU_FDS_H
#define SOFTGPU_FDS_H

#include <stdbool.h>
#include <stdint.h>

enum sg_desc_kind { SG_DESC_FREE, SG_DESC_NODE, SG_DESC_SYNCOBJ, SG_DESC_SYNC_FILE, SG_DESC_DMABUF };

struct sg_desc {
	int refs;		/* atomic; descriptors plus calls at work */
	enum sg_desc_kind kind;
	void *object;		/* drm/'s: struct sg_file, sg_syncobj, sg_fence, sg_gem; one reference */
	uint64_t identity;	/* what the kernel's file itself says about who it is, see sg_fd_identity */
	int keep_fd;		/* our own descriptor on the same description, or -1 */
	struct sg_desc *next;	/* free list, protected by the pool's lock */
};

/* A new description with one reference, not in the table yet. NULL: out of memory. */
struct sg_desc *sg_desc_create(enum sg_desc_kind kind, void *object);
void sg_desc_unref(struct sg_desc *desc);

/* The description behind fd with a new reference, or NULL when fd is not ours. */
struct sg_desc *sg_fd_get(int fd);
/* Without reference and verification, for a first look: SG_DESC_FREE when fd is not ours. */
enum sg_desc_kind sg_fd_kind(int fd);
/* As sg_fd_get for one kind, by what fd is and not by what the table says: NULL when it was closed behind our back
 * (io_uring, fclose) and is another file now, and found when it came past us (SCM_RIGHTS, exec). System calls. */
struct sg_desc *sg_fd_get_verified(int fd, enum sg_desc_kind kind);
/* An unknown descriptor that is one of ours gets into the table. A node of a process that is gone (exec) or another
 * becomes a new open file of the same node. Kind found, SG_DESC_FREE: not ours. */
enum sg_desc_kind sg_fd_adopt(int fd);
/* Takes over the caller's reference; replaces what the table says. False: no memory, reference dropped. */
bool sg_fd_install(int fd, struct sg_desc *desc);
/* Forgets fd; call before the real close. */
void sg_fd_forget(int fd);
void sg_fd_forget_range(unsigned first, unsigned last);

/* ---- what the kernel knows about our files ----
 *
 * A node is a timerfd that never fires: it polls as a DRM file without events does, read waits or gives EAGAIN, write
 * is EINVAL. The interval of the timer, which has no effect, says that it is ours and whose. The others are eventfds,
 * which have a number of their own.
 */
/* A new node's descriptor, its identity in *identity. Negative errno. */
int sg_node_create(bool primary, int flags, uint64_t *identity);
bool sg_node_identity_primary(uint64_t identity);
/* 0: neither node nor eventfd, or not open. */
uint64_t sg_fd_identity(int fd, enum sg_desc_kind kind);
uint64_t sg_eventfd_identity(int fd);
/* A duplicate out of the way of the program's small numbers, close-on-exec. Negative errno. */
int sg_fd_keep(int fd);

/* Adds a reference unless the last one is gone already. */
bool sg_desc_try_ref(struct sg_desc *desc);
/* A description of a new open file of the node that `identity` names (drm/file.c). NULL: out of memory. */
struct sg_desc *sg_node_open(uint64_t identity);
/* Called when the last reference is gone, before desc is recycled (drm/file.c). */
void sg_desc_release(struct sg_desc *desc);

/* Not in the process that the table belongs to: the child of a vfork, which shares our memory but not descriptors. */
bool sg_fds_borrowed(void);
void sg_fds_fork_lock(void);
void sg_fds_fork_unlock(bool child);

#endif
