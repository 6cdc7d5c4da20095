/* SPDX-License-Identifier: MIT */
/* Buffers, memory budgets and file descriptors of softgpu's nodes.
 */
#include "softgpu_drm.h"

/* ---- buffers between files and as descriptors ---- */

static void
prime_semantics(void **state)
{
	struct gpu g, h;
	uint32_t bo;

	(void)state;
	gpu_open(&g);
	gpu_open(&h);
	assert_int_equal(gem_create(g.fd, 2 * PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &bo), 0);
	struct drm_prime_handle out = { bo, DRM_CLOEXEC | DRM_RDWR, -1 };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &out), 0);
	assert_int_equal(lseek(out.fd, 0, SEEK_END), 2 * PAGE);
	struct drm_prime_handle in = { 0, 0, out.fd };
	assert_int_equal(drm(g.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	assert_int_equal(in.handle, bo); /* the handle it has */
	assert_int_equal(drm(h.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	uint32_t theirs = in.handle;
	assert_int_equal(drm(h.fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
	assert_int_equal(in.handle, theirs);
	uint32_t *a = gem_map(g.fd, bo, 2 * PAGE), *b = gem_map(h.fd, theirs, 2 * PAGE);
	uint32_t *c = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, PAGE);
	a[1024] = 42;
	assert_int_equal(b[1024], 42);
	assert_int_equal(c[0], 42);
	/* Polls unready while a job that uses it is not done. */
	assert_true(readable(out.fd, 0));
	uint32_t entry[2] = { bo, 0 };
	struct drm_amdgpu_bo_list_in list = { 0, 0, 1, 8, (uintptr_t)entry };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_BO_HANDLES, &list, sizeof(list), NULL), 0);
	assert_false(readable(out.fd, 20));
	union drm_amdgpu_gem_wait_idle idle = { .in = { bo, 0, 0 } };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_WAIT_IDLE, &idle), 0);
	assert_int_equal(idle.out.status, 1);
	g.mem[0] = 1;
	assert_true(readable(out.fd, 5000));
	/* To its own device it is no import: it may go to VRAM. What was asked at creation comes back with it. */
	struct drm_amdgpu_gem_create_in made;
	struct drm_amdgpu_gem_op place = { theirs, AMDGPU_GEM_OP_SET_PLACEMENT, AMDGPU_GEM_DOMAIN_VRAM };
	struct drm_amdgpu_gem_op ask = { bo, AMDGPU_GEM_OP_GET_GEM_CREATE_INFO, (uintptr_t)&made };
	assert_int_equal(drm(h.fd, DRM_IOCTL_AMDGPU_GEM_OP, &place), 0);
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_OP, &ask), 0);
	assert_true(made.bo_size == 2 * PAGE && made.domains == AMDGPU_GEM_DOMAIN_VRAM);
	assert_true(made.domain_flags & AMDGPU_GEM_CREATE_VRAM_CLEARED);
	/* The memory outlives every handle and descriptor while it is mapped. */
	assert_int_equal(gem_close(g.fd, bo), 0);
	assert_int_equal(gem_close(h.fd, theirs), 0);
	close(out.fd);
	munmap(a, 2 * PAGE);
	munmap(b, 2 * PAGE);
	munmap(c, PAGE);
	gpu_close(&g);
	gpu_close(&h);
}

static void
mmap_checks(void **state)
{
	struct gpu g, h;

	(void)state;
	gpu_open(&g);
	gpu_open(&h);
	union drm_amdgpu_gem_mmap m = { .in = { g.bo, 0 } };
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_GEM_MMAP, &m), 0);
	off_t at = (off_t)m.out.addr_ptr;
	assert_ptr_equal(mmap(NULL, 5 * PAGE, PROT_READ, MAP_SHARED, g.fd, at), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, g.fd, at + PAGE), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, h.fd, at), MAP_FAILED);
	assert_int_equal(errno, EACCES);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, g.fd, at), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	gpu_close(&g);
	gpu_close(&h);
}

/* A BO of its own per file description; two opens are two, dup is the same. */
static void
descriptors(void **state)
{
	struct gpu g;
	struct stat st, st2;
	pid_t me = getpid();

	(void)state;
	gpu_open(&g);
	assert_int_equal(fstat(g.fd, &st), 0);
	assert_int_equal(stat(node, &st2), 0);
	assert_true(S_ISCHR(st.st_mode) && major(st.st_rdev) == 226 && st.st_rdev == st2.st_rdev && st.st_ino == st2.st_ino);
	int copy = fcntl(g.fd, F_DUPFD_CLOEXEC, 0), other = open(node, O_RDWR | O_CLOEXEC);
	assert_int_equal(syscall(SYS_kcmp, me, me, 0, g.fd, copy), 0);
	assert_int_not_equal(syscall(SYS_kcmp, me, me, 0, g.fd, other), 0);
	assert_int_equal(va_op(copy, AMDGPU_VA_OP_UNMAP, g.bo, VA, 0, 0), 0);
	assert_int_equal(va_op(other, AMDGPU_VA_OP_MAP, g.bo, VA, 0, PAGE), -ENOENT);
	assert_int_equal(dup2(copy, other), other); /* ends the second file */
	assert_int_equal(va_op(other, AMDGPU_VA_OP_MAP, g.bo, VA, 0, PAGE), 0);
	close(copy);
	close(other);
	assert_int_equal(ioctl(other, DRM_IOCTL_AMDGPU_VM, &st), -1);
	assert_int_equal(errno, EBADF);
	int card = open(primary, O_RDWR | O_CLOEXEC);
	assert_int_equal(drm(card, DRM_IOCTL_GET_CLIENT, &(struct drm_client){ .idx = 0 }), 0);
	close(card);
	gpu_close(&g);
}

/* ---- fork ---- */

static void
fork_child_submits(void **state)
{
	struct gpu g;
	int status;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it refuses threads in a forked child */
#endif
	gpu_open(&g);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	pid_t pid = fork();
	if (pid == 0) {
		uint64_t seq = 0, busy = 1;
		int bad = submit(&g, IB_NOP, 0, 0, NULL, 0, &seq) || seq != 2 || wait_cs(&g, 0, seq, (uint64_t)FOREVER, &busy) || busy;
		g.mem[WORD] = 0x1234; /* the parent sees it */
		_exit(bad ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(g.mem[WORD], 0x1234);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	gpu_close(&g);
}

#define CHILDREN 3
#define EACH 80

/* Several at once on one inherited context, deeper than its queue; what each makes is its own. */
static void
fork_children_together(void **state)
{
	struct gpu g;
	uint64_t seq = 0, busy = 1;
	uint32_t page;
	pid_t pids[CHILDREN];
	int status;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();
#endif
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &page), 0);
	volatile uint64_t *words = gem_map(g.fd, page, PAGE);
	for (int c = 0; c < CHILDREN; c++) {
		pids[c] = fork();
		if (pids[c] != 0)
			continue;
		struct drm_amdgpu_cs_chunk_fence fence = { page, 8u * (unsigned)c };
		uint32_t own;
		int bad = gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &own) || va_op(g.fd, 1, own, VA + 0x100000, 0, PAGE);
		for (int i = 0; i < EACH && !bad; i++)
			bad = submit(&g, IB_NOP, 0, AMDGPU_CHUNK_ID_FENCE, &fence, sizeof(fence), &seq);
		bad |= wait_cs(&g, 0, seq, (uint64_t)FOREVER, &busy) || busy;
		_exit(bad || seq != EACH ? 1 : 0);
	}
	for (int c = 0; c < CHILDREN; c++) {
		assert_int_equal(waitpid(pids[c], &status, 0), pids[c]);
		assert_int_equal(status, 0);
		assert_int_equal(words[c], EACH);
	}
	/* Here nothing was submitted, and the handle that each of them got is none. */
	assert_int_equal(wait_cs(&g, 0, 1, 0, &busy), -EINVAL);
	assert_int_equal(va_op(g.fd, AMDGPU_VA_OP_MAP, page + 1, VA + 0x100000, 0, PAGE), -ENOENT);
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, &seq), 0);
	assert_int_equal(seq, 1);
	munmap((void *)(uintptr_t)words, PAGE);
	gpu_close(&g);
}

/* ---- accounting ---- */

static void
accounting(void **state)
{
	struct gpu g;
	uint32_t bo[3];

	(void)state;
	assert_int_equal(counter("gem_objects"), 0); /* what every case before has left */
	assert_int_equal(counter("syncobj_objects") + counter("ctx_objects") + counter("bo_lists"), 0);
	gpu_open(&g);
	assert_int_equal(gem_create(g.fd, 5000, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[0]), 0);
	assert_int_equal(gem_create(g.fd, 1 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, &bo[1]), 0);
	assert_int_equal(counter("gem_bytes_vram"), 8192 + (1 << 20));
	assert_int_equal(counter("gem_bytes_gtt"), 4 * PAGE);
	assert_int_equal(counter("gem_objects"), 3);
	assert_true(counter("GEM_CREATE") >= 3);
	/* Over-commit: 18 + 7 GiB on a card of 24; the oldest move to GTT (8 GiB), nothing is refused. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(gem_create(g.fd, 6ull << 30, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &bo[i]), 0);
	long long before = counter("evictions");
	assert_int_equal(gem_create(g.fd, 7ull << 30, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, &bo[0]), 0);
	assert_true(counter("evictions") > before);
	assert_int_equal(gem_create(g.fd, 7ull << 30, AMDGPU_GEM_DOMAIN_GTT, 0, &bo[1]), -ENOMEM);
	gpu_close(&g);
	assert_int_equal(counter("gem_objects") + counter("gem_bytes_vram") + counter("gem_bytes_gtt"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prime_semantics), cmocka_unit_test(mmap_checks),
		cmocka_unit_test(descriptors), cmocka_unit_test(fork_child_submits), cmocka_unit_test(fork_children_together),
		cmocka_unit_test(accounting), cmocka_unit_test(nothing_left),
	};
	int status = begin(argc, argv, NULL, 0);

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
