/* SPDX-License-Identifier: MIT */
/* ioctl.c: the table of ioctls and the way through it (drivers/gpu/drm/drm_ioctl.c).
 *
 * Only the number of `cmd` selects; its size says how much of the caller's structure is copied, so that older and
 * newer user space work, and its direction which way.
 */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { RENDER = 1, MASTER = 2 };

struct entry {
	const char *name;	/* in reports and SOFTGPU_FAIL */
	uint32_t cmd;		/* as the kernel's header has it; its direction limits the caller's */
	unsigned flags;
	sg_handler *handler;
};

/* Largest structure any handler looks at: GEM_METADATA, 288 bytes. */
#define ARGS_INLINE 512

#define NR(cmd) ((cmd) & 0xff)
#define AMD(name, flags, handler) \
	[NR(DRM_IOCTL_AMDGPU_##name)] = { #name, (uint32_t)DRM_IOCTL_AMDGPU_##name, flags, handler }
#define DRM(name, flags, handler) [NR(DRM_IOCTL_##name)] = { #name, (uint32_t)DRM_IOCTL_##name, flags, handler }

static const struct entry table[256] = {
	DRM(VERSION, RENDER, sg_ioctl_version),
	DRM(GET_UNIQUE, 0, sg_ioctl_get_unique),
	DRM(GET_MAGIC, 0, sg_ioctl_get_magic),
	DRM(GET_CLIENT, 0, sg_ioctl_get_client),
	DRM(SET_VERSION, MASTER, sg_ioctl_set_version),
	DRM(GEM_CLOSE, RENDER, sg_ioctl_gem_close),
	DRM(GEM_FLINK, 0, sg_ioctl_gem_flink),
	DRM(GEM_OPEN, 0, sg_ioctl_gem_open),
	DRM(GET_CAP, RENDER, sg_ioctl_get_cap),
	DRM(SET_CLIENT_CAP, 0, sg_ioctl_set_client_cap),
	DRM(AUTH_MAGIC, MASTER, sg_ioctl_auth_magic),
	DRM(SET_MASTER, 0, sg_ioctl_set_master),
	DRM(DROP_MASTER, 0, sg_ioctl_drop_master),
	DRM(PRIME_HANDLE_TO_FD, RENDER, sg_ioctl_prime_to_fd),
	DRM(PRIME_FD_TO_HANDLE, RENDER, sg_ioctl_prime_from_fd),
	DRM(SYNCOBJ_CREATE, RENDER, sg_ioctl_syncobj_create),
	DRM(SYNCOBJ_DESTROY, RENDER, sg_ioctl_syncobj_destroy),
	DRM(SYNCOBJ_HANDLE_TO_FD, RENDER, sg_ioctl_syncobj_to_fd),
	DRM(SYNCOBJ_FD_TO_HANDLE, RENDER, sg_ioctl_syncobj_from_fd),
	DRM(SYNCOBJ_WAIT, RENDER, sg_ioctl_syncobj_wait),
	DRM(SYNCOBJ_RESET, RENDER, sg_ioctl_syncobj_reset),
	DRM(SYNCOBJ_SIGNAL, RENDER, sg_ioctl_syncobj_signal),
	DRM(SYNCOBJ_TIMELINE_WAIT, RENDER, sg_ioctl_syncobj_timeline_wait),
	DRM(SYNCOBJ_QUERY, RENDER, sg_ioctl_syncobj_query),
	DRM(SYNCOBJ_TRANSFER, RENDER, sg_ioctl_syncobj_transfer),
	DRM(SYNCOBJ_TIMELINE_SIGNAL, RENDER, sg_ioctl_syncobj_timeline_signal),
	[0xcf] = { "SYNCOBJ_EVENTFD", GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, RENDER, sg_ioctl_syncobj_eventfd },

	AMD(GEM_CREATE, RENDER, sg_ioctl_gem_create),
	AMD(GEM_MMAP, RENDER, sg_ioctl_gem_mmap),
	AMD(CTX, RENDER, sg_ioctl_ctx),
	AMD(BO_LIST, RENDER, sg_ioctl_bo_list),
	AMD(CS, RENDER, sg_ioctl_cs),
	AMD(INFO, RENDER, sg_ioctl_info),
	AMD(GEM_METADATA, RENDER, sg_ioctl_gem_metadata),
	AMD(GEM_WAIT_IDLE, RENDER, sg_ioctl_gem_wait_idle),
	AMD(GEM_VA, RENDER, sg_ioctl_gem_va),
	AMD(WAIT_CS, RENDER, sg_ioctl_wait_cs),
	AMD(GEM_OP, RENDER, sg_ioctl_gem_op),
	AMD(GEM_USERPTR, RENDER, sg_ioctl_gem_userptr),
	AMD(WAIT_FENCES, RENDER, sg_ioctl_wait_fences),
	AMD(VM, RENDER, sg_ioctl_vm),
	AMD(FENCE_TO_HANDLE, RENDER, sg_ioctl_fence_to_handle),
	AMD(SCHED, MASTER, sg_ioctl_sched),
};

/* ---- counting and failing on demand ---- */

static uint64_t calls[SG_NR_COUNT]; /* written under the device lock */

/* SOFTGPU_FAIL: the n-th call (from 1) of this ioctl answers -errno without doing anything. */
struct failure {
	struct failure *next;
	uint64_t n;
	int error;
};
static struct failure *failures[SG_NR_COUNT];
static pthread_once_t failures_once = PTHREAD_ONCE_INIT;

const char *
sg_ioctl_name(unsigned nr)
{
	if (nr == SG_NR_SYNC_MERGE)
		return "SYNC_MERGE";
	if (nr == SG_NR_SYNC_FILE_INFO)
		return "SYNC_FILE_INFO";
	return nr < 256 ? table[nr].name : NULL;
}

uint64_t
sg_ioctl_calls(unsigned nr)
{
	return __atomic_load_n(&calls[nr], __ATOMIC_RELAXED);
}

static int
errno_value(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end != text && *end == '\0')
		return (int)value;
	for (int e = 1; e < 134; e++) {
		const char *name = strerrorname_np(e);
		if (name && strcmp(name, text) == 0)
			return e;
	}
	return 0;
}

static bool
failure_parse(char *item)
{
	char *n = strchr(item, ':');
	char *error = n ? strchr(n + 1, ':') : NULL;

	if (!error)
		return false;
	*n++ = *error++ = '\0';
	struct failure f = { .n = strtoull(n, NULL, 10), .error = errno_value(error) };
	for (unsigned nr = 0; nr < SG_NR_COUNT && f.n && f.error; nr++) {
		if (!sg_ioctl_name(nr) || strcmp(sg_ioctl_name(nr), item) != 0)
			continue;
		struct failure *made = malloc(sizeof(*made));
		if (!made)
			return false;
		f.next = failures[nr];
		*made = f;
		failures[nr] = made;
		return true;
	}
	return false;
}

static void
failures_read(void)
{
	char *rest, *text = sg_config()->fail ? strdup(sg_config()->fail) : NULL;

	for (char *item = text ? strtok_r(text, ",", &rest) : NULL; item; item = strtok_r(NULL, ",", &rest))
		if (!failure_parse(item))
			fprintf(stderr, "softgpu: SOFTGPU_FAIL: cannot use \"%s\" (want name:n:errno)\n", item);
	free(text);
}

int
sg_ioctl_account(unsigned nr)
{
	uint64_t n = calls[nr] + 1;

	__atomic_store_n(&calls[nr], n, __ATOMIC_RELAXED);
	if (!sg_config()->fail)
		return 0;
	pthread_once(&failures_once, failures_read);
	for (const struct failure *f = failures[nr]; f; f = f->next)
		if (f->n == n)
			return -f->error;
	return 0;
}

/* ---- one call ---- */

static int
permitted(const struct sg_file *file, const struct entry *entry)
{
	/* Openers of the primary node are authenticated and the first is master; all count as such. */
	if (file->primary)
		return 0;
	return (entry->flags & RENDER) && !(entry->flags & MASTER) ? 0 : -EACCES;
}

static int
run(struct sg_file *file, const struct entry *entry, void *data)
{
	int r = permitted(file, entry);

	if (r)
		return r;
	sg_lock();
	r = sg_ioctl_account(NR(entry->cmd));
	if (r == 0)
		r = entry->handler(file, data);
	sg_unlock();
	return r;
}

int
sg_drm_ioctl(struct sg_file *file, uint32_t cmd, void *arg)
{
	_Alignas(8) char small[ARGS_INLINE];
	const struct entry *entry = &table[NR(cmd)];
	size_t size = _IOC_SIZE(cmd);

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE)
		return -ENOTTY;
	if (!entry->handler)
		return -EINVAL;
	/* What both sides agree on. */
	uint32_t direction = cmd & entry->cmd;
	size_t in = direction & IOC_IN ? size : 0, out = direction & IOC_OUT ? size : 0;
	/* Longer structures come back whole, so they are held whole. */
	char *data = size <= sizeof(small) ? small : malloc(size);
	if (!data)
		return -ENOMEM;
	size_t known = _IOC_SIZE(entry->cmd), whole = known > size ? known : size;
	memset(data + in, 0, whole - in);
	int r = sg_copy_from(data, (uintptr_t)arg, in);
	if (r == 0) {
		r = run(file, entry, data);
		/* Also after an error. */
		if (sg_copy_to((uintptr_t)arg, data, out))
			r = -EFAULT;
	}
	if (data != small)
		free(data);
	return r;
}
