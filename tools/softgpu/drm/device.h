/* SPDX-License-Identifier: MIT */
/* device.h: objects of the kernel's side and the lock that protects them.
 *
 * There is one lock for all of drm/. Every section under it is short and none sleeps with it: a call that waits drops
 * it (wait.c). That makes fork simple too, since one lock held at fork() is a consistent device in the child.
 * Order: device lock, then the locks inside hw/ (rings, page tables). hw/ calls job_done without its locks held.
 */
#ifndef SOFTGPU_DEVICE_H
#define SOFTGPU_DEVICE_H

#include "fence.h"
#include "../hw/hw.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SG_PAGE 4096ull
#define SG_MAX_IBS 192
#define SG_ENTITY_DEPTH 32	 /* amdgpu.sched_jobs */
#define SG_RING_CREDITS 2	 /* amdgpu.sched_hw_submission */
#define SG_MAX_RINGS 4		 /* per IP */
#define SG_GANG_SIZE 4		 /* AMDGPU_CS_GANG_SIZE */
#define SG_HW_IP_NUM 10		 /* AMDGPU_HW_IP_NUM of Linux 6.12, with VPE */
#define SG_RENDER_MINORS 128

/* ---- the lock ---- */
void sg_lock(void);
void sg_unlock(void); /* starts what became ready, releases, then does what was deferred */

/* ---- waiting (wait.c) ---- */
struct sg_waiter {
	uint32_t word; /* futex; 1: something happened */
};
/* Lock held; drops it while asleep. deadline: absolute CLOCK_MONOTONIC ns, INT64_MAX for ever, in the past: no sleep.
 * 0: woken, -ETIME, -EINTR. Resets the waiter. */
int sg_waiter_sleep(struct sg_waiter *waiter, int64_t deadline);
void sg_waiter_wake(struct sg_waiter *waiter);
int64_t sg_now_ns(void);
/* All of n fences (or any: *first gets its index). Lock held and dropped. 0, -ETIME, -EINTR, -ENOMEM. */
int sg_fences_wait(struct sg_fence *const *fences, unsigned n, bool all, int64_t deadline, unsigned *first);
/* One fence; interruptible false: signals do not end it. */
int sg_fence_wait(struct sg_fence *fence, int64_t deadline, bool interruptible);
/* amdgpu_gem_timeout: absolute ns as uint64, >= 2^63 is for ever. */
int64_t sg_deadline(uint64_t timeout);
/* Adds 1 to an eventfd unless it is full. */
void sg_eventfd_add(int fd);
/* Adds 1 to an eventfd after the lock is released, then closes fd. `generation` is sg_dev.generation of when it was
 * taken: a forked child shares the eventfd with its parent, whose event it is, and only closes its copy. */
void sg_defer_eventfd(int fd, unsigned generation);

/* ---- handles (handle.c): small numbers from 1, lowest free first ---- */
struct sg_handles {
	void **slots; /* index = handle - 1 */
	unsigned room, lowest; /* lowest: no free slot below */
	unsigned count;
};
/* 0: out of memory or `limit` reached. */
uint32_t sg_handle_add(struct sg_handles *handles, void *object, uint32_t limit);
static inline void *
sg_handle_find(const struct sg_handles *handles, uint32_t handle)
{
	return handle - 1 < handles->room ? handles->slots[handle - 1] : NULL;
}
void *sg_handle_remove(struct sg_handles *handles, uint32_t handle);
void sg_handles_free(struct sg_handles *handles);
/* Takes any object out; NULL when empty. */
void *sg_handle_pop(struct sg_handles *handles);

/* ---- reservation objects: unfinished jobs that use a buffer ---- */
struct sg_resv {
	struct sg_fence **fences; /* the newest per fence context */
	unsigned count, room;
};
void sg_resv_add(struct sg_resv *resv, struct sg_fence *fence);
/* Forgets signaled fences; true when none is left. */
bool sg_resv_idle(struct sg_resv *resv);
void sg_resv_free(struct sg_resv *resv);
/* Until every fence that stands in it now has signaled. */
int sg_resv_wait(struct sg_resv *resv, int64_t deadline, bool interruptible);

/* ---- buffer objects (gem.c) ---- */
struct sg_gem {
	int refs;
	struct sg_bo *bo;
	struct sg_gem *next, **link; /* device's list, in order of creation */
	uint64_t bytes;		/* page-rounded */
	uint64_t alignment, flags; /* as created, for GEM_OP and GEM_MMAP */
	uint32_t preferred;	/* AMDGPU_GEM_DOMAIN_* asked for */
	uint32_t placed;	/* one domain: where it counts now */
	struct sg_file *root;	/* VM_ALWAYS_VALID: shares this file's reservation; compared only */
	struct sg_resv resv;	/* unused when root is set */
	bool visible;		/* counts as CPU-visible VRAM */
	uint64_t user_address;	/* userptr, else 0 */
	int user_pid;		/* whose memory that is */
	uint64_t tiling_info, metadata_flags;
	uint32_t metadata_bytes, metadata[64];
	struct sg_desc *dmabuf;	/* exported description, compared and cleared when it dies */
	int dmabuf_busy;	/* unsignaled writers the dma-buf polls unready for */
	unsigned dmabuf_generation; /* of its making; a forked child leaves its parent's alone */
};
struct sg_gem *sg_gem_ref(struct sg_gem *gem);
void sg_gem_unref(struct sg_gem *gem);
struct sg_gem *sg_gem_find(struct sg_file *file, uint32_t handle); /* borrowed */
struct sg_resv *sg_gem_resv(struct sg_gem *gem);
/* Handle of gem in file, made when it has none. 0: out of memory. */
uint32_t sg_gem_handle(struct sg_file *file, struct sg_gem *gem);
/* A job that writes gem was queued: the dma-buf polls unready until fence signals. */
void sg_dmabuf_busy(struct sg_gem *gem, struct sg_fence *fence);

/* ---- sync objects (syncobj.c) ---- */
struct sg_syncobj;
struct sg_syncobj_cb {
	struct sg_list node; /* first */
	void (*func)(struct sg_syncobj_cb *cb, struct sg_syncobj *syncobj); /* may free cb */
};
struct sg_syncobj {
	int refs;
	struct sg_fence *fence;	/* NULL: none yet */
	struct sg_list cbs;	/* called at every new fence */
};
struct sg_syncobj *sg_syncobj_create(struct sg_fence *fence); /* takes the reference over; NULL: out of memory */
struct sg_syncobj *sg_syncobj_ref(struct sg_syncobj *syncobj);
void sg_syncobj_unref(struct sg_syncobj *syncobj);
struct sg_syncobj *sg_syncobj_find(struct sg_file *file, uint32_t handle); /* borrowed */
void sg_syncobj_add_cb(struct sg_syncobj *syncobj, struct sg_syncobj_cb *cb,
		       void (*func)(struct sg_syncobj_cb *, struct sg_syncobj *));
/* fence is borrowed, may be NULL (reset). */
void sg_syncobj_replace(struct sg_syncobj *syncobj, struct sg_fence *fence);
int sg_syncobj_add_point(struct sg_syncobj *syncobj, struct sg_fence *fence, uint64_t point);
/* drm_syncobj_find_fence: a reference in *out. Blocks (dropping the lock) up to 5 s with WAIT_FOR_SUBMIT. */
int sg_syncobj_fence(struct sg_file *file, uint32_t handle, uint64_t point, uint64_t flags, struct sg_fence **out);
/* New descriptors; take the reference over. fd or -errno. */
int sg_syncobj_export(struct sg_syncobj *syncobj);
int sg_sync_file_create(struct sg_fence *fence);

/* ---- contexts and scheduling (ctx.c, sched.c) ---- */
struct sg_entity {
	struct sg_ctx *ctx;
	enum sg_ip ip;
	unsigned ring;
	uint64_t sequence;	/* of the next job, from 1 */
	uint64_t context;	/* fence context */
	struct sg_fence *fences[SG_ENTITY_DEPTH];
	struct sg_task *head, **tail; /* not yet on the hardware */
	struct sg_fence *last_scheduled;
	bool ready;		/* in its ring's list */
	struct sg_entity *next_ready;
};

enum sg_priority { SG_PRIORITY_HIGH, SG_PRIORITY_NORMAL, SG_PRIORITY_LOW, SG_PRIORITIES };

struct sg_ctx {
	int refs;
	uint32_t id;
	struct sg_file *file;	/* NULL once the file is gone */
	int32_t priority;	/* AMDGPU_CTX_PRIORITY_* */
	enum sg_priority level;
	bool guilty;
	uint32_t reset_counter, reset_counter_query, vram_lost_counter;
	uint64_t generation;	/* of the VM when it was made */
	uint32_t stable_pstate;
	struct sg_entity *entities[SG_IP_COUNT][SG_MAX_RINGS]; /* made on first use */
};
struct sg_ctx *sg_ctx_find(struct sg_file *file, uint32_t id); /* borrowed */
struct sg_ctx *sg_ctx_ref(struct sg_ctx *ctx);
void sg_ctx_unref(struct sg_ctx *ctx);
/* amdgpu_ctx_get_entity: EINVAL, or the sticky error of the entity. */
int sg_ctx_entity(struct sg_ctx *ctx, uint32_t ip, uint32_t instance, uint32_t ring, struct sg_entity **out);
/* amdgpu_ctx_get_fence: a reference, NULL when done long ago; -EINVAL for the future. */
int sg_entity_fence(struct sg_entity *entity, uint64_t seq, struct sg_fence **out);
unsigned sg_ip_entities(uint32_t ip);
uint32_t sg_ip_ring_mask(uint32_t ip);

struct sg_dep {
	struct sg_fence_cb cb;
	struct sg_fence *fence;
	struct sg_task *task;
};
#define SG_DEPS_INLINE 8

/* One job: what hw/ runs and what the scheduler knows about it. Recycled. */
struct sg_task {
	struct sg_job job;	/* first: done() gets it back */
	struct sg_entity *entity;
	struct sg_ctx *ctx;	/* reference */
	struct sg_fence *finished; /* reference */
	struct sg_task *next;	/* entity's queue, free list */
	unsigned waiting;	/* dependencies not signaled, +1 while being built */
	struct sg_dep *deps;	/* deps_inline or heap */
	unsigned n_deps, deps_room;
	struct sg_gem *user_fence_bo; /* reference or NULL */
	uint64_t generation;	/* of the VM at submit */
	int cancel;		/* -errno: do not run. Atomic, hw/ asks without the lock */
	bool on_ring;
	uint64_t started_ns;	/* handed to hw/; 0 with SOFTGPU_EXECUTE=0 */
	struct sg_task *ring_next; /* of the jobs handed to hw/ */
	struct sg_dep deps_inline[SG_DEPS_INLINE]; /* last: not cleared */
};
struct sg_task *sg_task_create(void);
void sg_task_free(struct sg_task *task); /* never queued, or finished */
/* Adds a dependency unless it is signaled; takes the reference over. */
int sg_task_depend(struct sg_task *task, struct sg_fence *fence);
/* Last step of CS: into the entity's queue; starts it when nothing is missing. */
void sg_task_push(struct sg_task *task);
/* SOFTGPU_EXECUTE=0 and nothing in front or to wait for: the job is done, its fence signaled, and the task free. False:
 * push it. */
bool sg_task_pretend(struct sg_task *task);
/* What is ready goes to hw/; sg_unlock calls it. */
void sg_sched_run(void);
/* The fence that signals when the job behind `finished` is on the hardware; a new reference. */
struct sg_fence *sg_fence_scheduled(struct sg_fence *finished);
/* -errno of the last job that was scheduled, 0 */
int sg_entity_error(const struct sg_entity *entity);
void sg_entity_free(struct sg_entity *entity); /* its queue is empty; NULL is fine */
/* Jobs not yet on the hardware end with -ESRCH. */
void sg_ctx_kill(struct sg_ctx *ctx);
/* amdgpu_flush: until every job of the file is on the hardware, then at most `patience_ns` until they are done. Lock
 * held and dropped. */
void sg_file_drain(struct sg_file *file, int64_t patience_ns);
uint64_t sg_file_generation(const struct sg_file *file);
#define SG_ALL_RINGS ((1u << SG_IP_COUNT * SG_MAX_RINGS) - 1)
/* Until no ring has a job of ours, at most `ms`. Lock held and dropped. */
bool sg_sched_quiesce(unsigned ms);

/* ---- open files ---- */
struct sg_file {
	bool primary;		/* card0: GET_CLIENT, FLINK and so on are allowed */
	uint32_t open_id;
	struct sg_file *next, **link;
	struct sg_vm *vm;
	struct sg_resv root;	/* every job of this file; VM_ALWAYS_VALID buffers share it */
	struct sg_handles gems, syncobjs, ctxs, bo_lists;
	bool reserved_vmid;
	uint64_t engine_ns[SG_IP_COUNT]; /* of jobs that are done */
};
struct sg_bo_list {
	int refs;
	unsigned n;
	bool has_user_memory;
	struct sg_gem *gems[];
};
void sg_bo_list_unref(struct sg_bo_list *list);
/* At submission: -EPERM for another process's user memory, -EFAULT for what is not mapped any more. */
int sg_bo_list_validate(const struct sg_bo_list *list);
struct drm_amdgpu_bo_list_in;
int sg_bo_list_create(struct sg_file *file, const struct drm_amdgpu_bo_list_in *in, struct sg_bo_list **out);

/* ---- the device ---- */
struct sg_ring_state {
	unsigned in_flight;
	struct sg_task *tasks; /* handed to hw/, oldest first */
	bool stuck;	       /* without recovery: the oldest of them hangs for ever, and nothing behind it runs */
	struct sg_entity *ready[SG_PRIORITIES]; /* oldest first */
};

struct sg_usage {
	uint64_t now, peak, created;
};

struct sg_device {
	struct sg_file *files;
	struct sg_gem *gems, **gems_tail;
	struct sg_ring_state rings[SG_IP_COUNT][SG_MAX_RINGS];
	unsigned in_flight;	/* on all rings */
	bool gate;		/* fork or exit at work: nothing more goes to hw/ */
	uint32_t sched_pending;	/* bit ip * 4 + ring: has a ready entity or new room */
	unsigned generation;	/* 0, one more in each forked child */
	uint32_t reset_counter, vram_lost_counter;
	struct sg_ctx *pstate_owner;
	uint32_t next_open_id;
	/* accounting, bytes */
	struct sg_usage vram, gtt, other;
	uint64_t visible_vram;	/* now */
	uint64_t bytes_moved, evictions;
	uint64_t gem_objects, ctx_objects, syncobj_objects, bo_lists;
	uint64_t jobs_submitted, jobs_done, jobs_failed;
	uint64_t jobs_to_reset;	/* counted for SOFTGPU_RESET_EVERY */
	uint64_t hangs, illegals, faults, skipped;
};
extern struct sg_device sg_dev;

/* ---- user memory ----
 *
 * The kernel answers -EFAULT for a bad pointer; in the caller's own process that would be a signal. What cannot be
 * user memory at all is recognised, the rest is trusted: asking the kernel would cost a system call per copy. Inline,
 * since most copies are of a size known here.
 */
#define SG_USER_FIRST 0x1000ull		/* vm.mmap_min_addr is larger, but the first page is never there */
#define SG_USER_END 0x7ffffffff000ull	/* TASK_SIZE_MAX with 4-level page tables */

static inline bool
sg_user_plausible(uint64_t user, size_t bytes)
{
	return user >= SG_USER_FIRST && user < SG_USER_END && bytes <= SG_USER_END - user;
}

static inline int
sg_copy_from(void *to, uint64_t user, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (!sg_user_plausible(user, bytes))
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)user, bytes);
	return 0;
}

static inline int
sg_copy_to(uint64_t user, const void *from, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (!sg_user_plausible(user, bytes))
		return -EFAULT;
	memcpy((void *)(uintptr_t)user, from, bytes);
	return 0;
}
/* Whether [address, address + bytes) is mapped: -EFAULT; anonymous: and one mapping without a file: -EPERM. */
int sg_user_range(uint64_t address, uint64_t bytes, bool anonymous);

#endif
