/* SPDX-License-Identifier: MIT */
/* memory.c: backing memory of buffer objects.
 *
 * All VRAM and GTT of the device is one sparse memfd; a BO is a range of it. Offsets are handed out once and never
 * again: a mapping that outlives its BO then reads zeros instead of a stranger's data, and two processes after a fork
 * cannot give the same bytes to two BOs (the cursor stands in shared memory). Pages are committed on first touch and
 * punched out with the last reference, so addresses are the only thing that is used up: 2^60 bytes of them.
 */
#define _GNU_SOURCE
#include "cache.h"
#include "guard.h"
#include "hw.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ull
#define DEVICE_BYTES (1ull << 60)
/* GEM_MMAP offsets of the kernel start here too (DRM_FILE_PAGE_OFFSET_START). */
#define FIRST_OFFSET (1ull << 32)
/* More would commit a whole card's memory when somebody allocates it just to see. */
#define POISON_MAX (64ull << 20)

struct device_memory {
	int fd;
	uint64_t *cursor; /* next free offset; in a page shared with forked children; atomic */
};

static struct device_memory device = { .fd = -1 };
static pthread_once_t device_once = PTHREAD_ONCE_INIT;
static unsigned fork_generation; /* 0 in the process that loaded softgpu, one more in each child */

/* What sg_bo_create really returns. */
struct backed_bo {
	struct sg_bo bo;
	unsigned generation; /* only the process that created a BO may punch out its pages */
};

static void
memory_after_fork(void)
{
	fork_generation++;
}

static void
device_open(void)
{
	int fd = memfd_create("softgpu-vram", MFD_CLOEXEC);

	if (fd < 0)
		return;
	/* RLIMIT_FSIZE may forbid the size; smaller ones serve as well. */
	uint64_t bytes = DEVICE_BYTES;
	while (ftruncate(fd, (off_t)bytes) != 0 && bytes > 2 * FIRST_OFFSET)
		bytes /= 2;
	uint64_t *cursor = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cursor == MAP_FAILED) {
		close(fd);
		return;
	}
	cursor[0] = FIRST_OFFSET;
	cursor[1] = bytes;
	device.cursor = cursor;
	device.fd = fd;
	pthread_atfork(NULL, NULL, memory_after_fork);
}

int
sg_vram_fd(void)
{
	pthread_once(&device_once, device_open);
	return device.fd;
}

/* 0: the address space of the device is used up. */
static uint64_t
take_offset(uint64_t bytes)
{
	uint64_t at = __atomic_load_n(&device.cursor[0], __ATOMIC_RELAXED);

	do {
		if (device.cursor[1] - at < bytes)
			return 0;
	} while (!__atomic_compare_exchange_n(&device.cursor[0], &at, at + bytes, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return at;
}

struct sg_bo *
sg_bo_create(uint64_t bytes, bool clear)
{
	if (bytes == 0 || bytes > DEVICE_BYTES || sg_vram_fd() < 0)
		return NULL;
	bytes = (bytes + PAGE - 1) & ~(PAGE - 1);

	struct backed_bo *bo = calloc(1, sizeof(*bo));
	if (!bo)
		return NULL;
	uint64_t offset = take_offset(bytes);
	void *host = MAP_FAILED;
	if (offset)
		host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, device.fd, (off_t)offset);
	if (host == MAP_FAILED) {
		free(bo);
		return NULL;
	}
	bo->bo = (struct sg_bo){ .refs = 1, .bytes = bytes, .file_offset = offset, .host = host };
	bo->generation = fork_generation;
	/* Linux hands out zeroed memory of either kind, and foreign drivers count on it: only strict mode takes that away. */
	if (sg_config()->hostile && sg_config()->strict && !clear)
		memset(host, SG_POISON_BYTE, bytes < POISON_MAX ? bytes : POISON_MAX);
	return &bo->bo;
}

struct sg_bo *
sg_bo_create_user(void *memory, uint64_t bytes)
{
	struct backed_bo *bo = calloc(1, sizeof(*bo));

	if (!bo)
		return NULL;
	bo->bo = (struct sg_bo){ .refs = 1, .bytes = bytes, .host = memory, .user_memory = true };
	sg_guard_add(memory, bytes);
	return &bo->bo;
}

struct sg_bo *
sg_bo_ref(struct sg_bo *bo)
{
	__atomic_fetch_add(&bo->refs, 1, __ATOMIC_RELAXED);
	return bo;
}

void
sg_bo_unref(struct sg_bo *bo)
{
	struct backed_bo *backed = (struct backed_bo *)bo;

	if (!bo || __atomic_sub_fetch(&bo->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	sg_l2_forget(bo->host, bo->bytes);
	if (bo->user_memory) {
		sg_guard_remove(bo->host, bo->bytes);
	} else {
		munmap(bo->host, bo->bytes);
		if (backed->generation == fork_generation)
			fallocate(device.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)bo->file_offset,
				  (off_t)bo->bytes);
	}
	free(backed);
}
