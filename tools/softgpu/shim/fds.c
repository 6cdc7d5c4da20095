/* SPDX-License-Identifier: MIT */
/* fds.c: the table of softgpu's file descriptors. */
#define _GNU_SOURCE
#include "fds.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

/* Two levels: a process that never opens a node pays for 8 KiB of zeros and nothing else. */
#define CHUNK_BITS 10
#define CHUNK (1u << CHUNK_BITS)
#define CHUNKS 1024u /* descriptors up to 1048576, the kernel's default nr_open */
/* Kept duplicates start here, so that programs which count on "the lowest free number" see none of them early. */
#define KEEP_FROM 512
/* Nanoseconds of the interval that marks a timerfd as a node. */
#define NODE_MAGIC 226128117

typedef struct sg_desc *slot_t;

static slot_t *chunks[CHUNKS]; /* atomic pointers to arrays of atomic pointers */

/* Recycled, never freed: see fds.h. */
static struct {
	pthread_mutex_t lock; /* protects free */
	struct sg_desc *free;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int owner; /* process id; 0: no descriptor of ours yet. Atomic */

static int
process_id(void)
{
	return (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static slot_t *
slot_find(int fd)
{
	if ((unsigned)fd >= CHUNKS * CHUNK)
		return NULL;
	slot_t *chunk = __atomic_load_n(&chunks[(unsigned)fd >> CHUNK_BITS], __ATOMIC_ACQUIRE);
	return chunk ? &chunk[(unsigned)fd & (CHUNK - 1)] : NULL;
}

static slot_t *
slot_make(int fd)
{
	slot_t *slot = slot_find(fd);

	if (slot || (unsigned)fd >= CHUNKS * CHUNK)
		return slot;
	/* From the heap, so that leak checkers find what open descriptors refer to. */
	void *fresh = calloc(CHUNK, sizeof(slot_t));
	if (!fresh)
		return NULL;
	slot_t *none = NULL;
	if (!__atomic_compare_exchange_n(&chunks[(unsigned)fd >> CHUNK_BITS], &none, fresh, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free(fresh);
	return slot_find(fd);
}

struct sg_desc *
sg_desc_create(enum sg_desc_kind kind, void *object)
{
	pthread_mutex_lock(&pool.lock);
	struct sg_desc *desc = pool.free;
	if (desc)
		pool.free = desc->next;
	pthread_mutex_unlock(&pool.lock);
	if (!desc)
		desc = calloc(1, sizeof(*desc));
	if (!desc)
		return NULL;
	desc->kind = kind;
	desc->object = object;
	desc->identity = 0;
	desc->keep_fd = -1;
	__atomic_store_n(&desc->refs, 1, __ATOMIC_RELEASE);
	return desc;
}

void
sg_desc_unref(struct sg_desc *desc)
{
	if (!desc || __atomic_sub_fetch(&desc->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	sg_desc_release(desc);
	if (desc->keep_fd >= 0)
		raw_close(desc->keep_fd);
	desc->kind = SG_DESC_FREE;
	desc->object = NULL;
	pthread_mutex_lock(&pool.lock);
	desc->next = pool.free;
	pool.free = desc;
	pthread_mutex_unlock(&pool.lock);
}

bool
sg_desc_try_ref(struct sg_desc *desc)
{
	int refs = __atomic_load_n(&desc->refs, __ATOMIC_ACQUIRE);

	while (refs > 0)
		if (__atomic_compare_exchange_n(&desc->refs, &refs, refs + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return true;
	return false;
}

struct sg_desc *
sg_fd_get(int fd)
{
	slot_t *slot = slot_find(fd);

	if (!slot)
		return NULL;
	for (;;) {
		struct sg_desc *desc = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!desc)
			return NULL;
		if (!sg_desc_try_ref(desc))
			continue;
		/* It may have been recycled for another descriptor between the two steps. */
		if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == desc)
			return desc;
		sg_desc_unref(desc);
	}
}

enum sg_desc_kind
sg_fd_kind(int fd)
{
	slot_t *slot = slot_find(fd);
	struct sg_desc *desc = slot ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;

	return desc ? desc->kind : SG_DESC_FREE;
}

/* A description in the table with this identity, with a new reference. */
static struct sg_desc *
find_identity(enum sg_desc_kind kind, uint64_t identity)
{
	for (unsigned c = 0; c < CHUNKS && identity; c++) {
		slot_t *chunk = __atomic_load_n(&chunks[c], __ATOMIC_ACQUIRE);
		for (unsigned i = 0; chunk && i < CHUNK; i++) {
			struct sg_desc *desc = __atomic_load_n(&chunk[i], __ATOMIC_ACQUIRE);
			if (!desc || desc->kind != kind || desc->identity != identity || !sg_desc_try_ref(desc))
				continue;
			if (desc->kind == kind && desc->identity == identity)
				return desc;
			sg_desc_unref(desc);
		}
	}
	return NULL;
}

enum sg_desc_kind
sg_fd_adopt(int fd)
{
	static const enum sg_desc_kind eventfds[] = { SG_DESC_SYNCOBJ, SG_DESC_SYNC_FILE, SG_DESC_DMABUF };
	uint64_t identity = sg_fd_identity(fd, SG_DESC_NODE);
	struct sg_desc *desc = find_identity(SG_DESC_NODE, identity);

	if (identity && !desc)
		desc = sg_node_open(identity);
	if (!identity) {
		identity = sg_eventfd_identity(fd);
		if (identity == UINT64_MAX)
			return SG_DESC_FREE; /* an old kernel gives no number to know it by */
		for (unsigned i = 0; i < 3 && !desc; i++)
			desc = find_identity(eventfds[i], identity);
	}
	if (!desc)
		return SG_DESC_FREE;
	enum sg_desc_kind kind = desc->kind;
	return sg_fd_install(fd, desc) ? kind : SG_DESC_FREE;
}

struct sg_desc *
sg_fd_get_verified(int fd, enum sg_desc_kind kind)
{
	struct sg_desc *desc = sg_fd_get(fd);

	if (desc && desc->kind == kind && (!desc->identity || desc->identity == sg_fd_identity(fd, kind)))
		return desc;
	/* Of another kind it may be right all the same. */
	bool stale = desc && (desc->kind == kind || desc->identity != sg_fd_identity(fd, desc->kind));
	sg_desc_unref(desc);
	if (stale)
		sg_fd_forget(fd);
	if (desc && !stale)
		return NULL;
	return sg_fd_adopt(fd) == kind ? sg_fd_get(fd) : NULL;
}

bool
sg_fd_install(int fd, struct sg_desc *desc)
{
	slot_t *slot = slot_make(fd);

	if (!slot) {
		sg_desc_unref(desc);
		return false;
	}
	if (!__atomic_load_n(&owner, __ATOMIC_RELAXED))
		__atomic_store_n(&owner, process_id(), __ATOMIC_RELAXED);
	sg_desc_unref(__atomic_exchange_n(slot, desc, __ATOMIC_ACQ_REL));
	return true;
}

void
sg_fd_forget(int fd)
{
	slot_t *slot = slot_find(fd);

	if (slot && __atomic_load_n(slot, __ATOMIC_RELAXED))
		sg_desc_unref(__atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL));
}

void
sg_fd_forget_range(unsigned first, unsigned last)
{
	for (unsigned c = first >> CHUNK_BITS; c < CHUNKS && c <= last >> CHUNK_BITS; c++) {
		if (!__atomic_load_n(&chunks[c], __ATOMIC_ACQUIRE))
			continue;
		for (unsigned fd = c * CHUNK; fd < (c + 1) * CHUNK; fd++)
			if (fd >= first && fd <= last)
				sg_fd_forget((int)fd);
	}
}

/* "/proc/self/fdinfo/N" without stdio: this runs in places where malloc may not. */
static void
fdinfo_path(char *to, int fd)
{
	char digits[12];
	int n = 0;

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	to = stpcpy(to, "/proc/self/fdinfo/");
	while (n > 0)
		*to++ = digits[--n];
	*to = '\0';
}

uint64_t
sg_eventfd_identity(int fd)
{
	char path[48], text[512];

	if (fd < 0)
		return 0;
	fdinfo_path(path, fd);
	int info = (int)raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (info < 0)
		return 0;
	long n = raw_read(info, text, sizeof(text) - 1);
	raw_close(info);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "eventfd-id:");
	/* Ids count from 0; 0 means "none" here. */
	if (at)
		return strtoull(at + 11, NULL, 10) + 1;
	/* Kernels before 5.2 have only the counter's line: no identity, but an eventfd. */
	return strstr(text, "eventfd-count:") ? UINT64_MAX : 0;
}

int
sg_node_create(bool primary, int flags, uint64_t *identity)
{
	static uint32_t opened; /* atomic */
	int timer_flags = (flags & O_CLOEXEC ? TFD_CLOEXEC : 0) | (flags & O_NONBLOCK ? TFD_NONBLOCK : 0);
	struct timespec now;

	/* 32 bits that no other open has, in an exec'ed process with the same id neither, and 1 of the kind: the kernel
	 * keeps intervals up to 2^33 seconds. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t mix = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	mix ^= (uint64_t)process_id() << 40 ^ (uint64_t)__atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED) << 32;
	uint64_t name = (mix * 0x9e3779b97f4a7c15 >> 32 | 1) << 1 | primary;
	struct itimerspec never = { .it_interval = { .tv_sec = (time_t)name, .tv_nsec = NODE_MAGIC } };

	long fd = raw_call(SYS_timerfd_create, CLOCK_MONOTONIC, timer_flags, 0, 0, 0, 0);
	if (fd < 0)
		return (int)fd;
	raw_call(SYS_timerfd_settime, fd, 0, (long)&never, 0, 0, 0);
	*identity = name;
	return (int)fd;
}

bool
sg_node_identity_primary(uint64_t identity)
{
	return identity & 1;
}

uint64_t
sg_fd_identity(int fd, enum sg_desc_kind kind)
{
	struct itimerspec t;

	if (kind != SG_DESC_NODE)
		return sg_eventfd_identity(fd);
	if (raw_call(SYS_timerfd_gettime, fd, (long)&t, 0, 0, 0, 0) < 0 || t.it_interval.tv_nsec != NODE_MAGIC)
		return 0;
	return (uint64_t)t.it_interval.tv_sec;
}

int
sg_fd_keep(int fd)
{
	long r = raw_fcntl(fd, F_DUPFD_CLOEXEC, KEEP_FROM);

	if (r == -EINVAL || r == -EMFILE)
		r = raw_fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return (int)r;
}

bool
sg_fds_borrowed(void)
{
	int known = __atomic_load_n(&owner, __ATOMIC_RELAXED);

	return known && known != process_id();
}

void
sg_fds_fork_lock(void)
{
	pthread_mutex_lock(&pool.lock);
}

void
sg_fds_fork_unlock(bool child)
{
	if (child)
		__atomic_store_n(&owner, process_id(), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&pool.lock);
}
