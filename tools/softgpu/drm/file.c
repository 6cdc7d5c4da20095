/* SPDX-License-Identifier: MIT */
/* file.c: open files of the device, process start, fork and exit. */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A close, and an exiting process, wait this long for jobs that are on the hardware (MAX_WAIT_SCHED_ENTITY_Q_EMPTY). */
#define EXIT_WAIT_MS 1000

static pid_t owner_pid; /* who started here; a forked child neither reports nor waits */

static void process_start(void);

uint64_t
sg_file_generation(const struct sg_file *file)
{
	(void)file;
	return sg_dev.vram_lost_counter;
}

static struct sg_file *
file_open(bool primary)
{
	struct sg_vm *vm = sg_vm_create();
	struct sg_file *file = vm ? calloc(1, sizeof(*file)) : NULL;

	if (!file) {
		sg_vm_unref(vm);
		return NULL;
	}
	file->primary = primary;
	file->vm = vm;
	sg_lock();
	file->open_id = ++sg_dev.next_open_id;
	file->next = sg_dev.files;
	if (file->next)
		file->next->link = &file->next;
	file->link = &sg_dev.files;
	sg_dev.files = file;
	sg_unlock();
	return file;
}

bool
sg_file_is_primary(const struct sg_file *file)
{
	return file->primary;
}

void
sg_file_flush(struct sg_file *file)
{
	sg_lock();
	sg_file_drain(file, EXIT_WAIT_MS * 1000000ll);
	sg_unlock();
}

/* Lock held. */
static void
file_close(struct sg_file *file)
{
	void *object;

	while ((object = sg_handle_pop(&file->ctxs)) != NULL) {
		struct sg_ctx *ctx = object;
		sg_ctx_kill(ctx);
		if (sg_dev.pstate_owner == ctx)
			sg_dev.pstate_owner = NULL;
		ctx->file = NULL;
		sg_ctx_unref(ctx);
	}
	while ((object = sg_handle_pop(&file->bo_lists)) != NULL) {
		sg_dev.bo_lists--;
		sg_bo_list_unref(object);
	}
	while ((object = sg_handle_pop(&file->syncobjs)) != NULL)
		sg_syncobj_unref(object);
	while ((object = sg_handle_pop(&file->gems)) != NULL)
		sg_gem_unref(object);
	sg_handles_free(&file->ctxs);
	sg_handles_free(&file->bo_lists);
	sg_handles_free(&file->syncobjs);
	sg_handles_free(&file->gems);
	sg_resv_free(&file->root);
	sg_vm_unref(file->vm);
	*file->link = file->next;
	if (file->next)
		file->next->link = file->link;
	free(file);
}

struct sg_desc *
sg_node_open(uint64_t identity)
{
	process_start();
	struct sg_file *file = file_open(sg_node_identity_primary(identity));
	struct sg_desc *desc = file ? sg_desc_create(SG_DESC_NODE, file) : NULL;

	if (desc) {
		desc->identity = identity;
	} else if (file) {
		sg_lock();
		file_close(file);
		sg_unlock();
	}
	return desc;
}

void
sg_desc_release(struct sg_desc *desc)
{
	sg_lock();
	switch (desc->kind) {
	case SG_DESC_NODE: file_close(desc->object); break;
	case SG_DESC_SYNCOBJ: sg_syncobj_unref(desc->object); break;
	case SG_DESC_SYNC_FILE: sg_sync_file_release(desc->object); break;
	case SG_DESC_DMABUF: sg_dmabuf_release(desc); break;
	case SG_DESC_FREE: break;
	}
	sg_unlock();
}

/* ---- fork ----
 *
 * Threads do not survive it, so the rings are emptied first and nothing new starts until it is done. What waits for
 * dependencies stays with the parent; in the child such jobs end with -ESRCH.
 */

static void
fork_prepare(void)
{
	sg_lock();
	sg_dev.gate = true;
	sg_sched_quiesce(2 * sg_config()->lockup_ms);
	sg_unlock();
	sg_ring_drain_all();
	sg_lock();
	sg_fds_fork_lock();
}

static void
fork_open_gate(void)
{
	sg_dev.gate = false;
	sg_dev.sched_pending = SG_ALL_RINGS;
	sg_unlock();
}

static void
fork_parent(void)
{
	sg_fds_fork_unlock(false);
	fork_open_gate();
}

static void
fork_child(void)
{
	sg_fds_fork_unlock(true);
	sg_dev.generation++;
	for (struct sg_file *f = sg_dev.files; f; f = f->next)
		for (uint32_t id = 1; id <= f->ctxs.room; id++)
			if (sg_ctx_find(f, id))
				sg_ctx_kill(sg_ctx_find(f, id));
	fork_open_gate();
}

/* ---- exit ---- */

void sg_report_write(void); /* report.c */

/* A destructor and not atexit(): it must come after the program's own handlers, which may still submit. */
__attribute__((destructor)) static void
at_exit(void)
{
	if (!owner_pid || owner_pid != getpid())
		return;
	sg_lock();
	sg_sched_quiesce(EXIT_WAIT_MS);
	sg_dev.gate = true;
	sg_unlock();
	sg_report_write();
	sg_ring_stop_all();
}

static void
start(void)
{
	owner_pid = getpid();
	/* Handlers of prepare run last come, first served: hw/'s are there before ours, which close the gate first. */
	sg_vram_fd();
	sg_ring_init();
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static void
process_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}
