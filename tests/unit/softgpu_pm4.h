/* SPDX-License-Identifier: MIT */
/*
 * For the tests of softgpu's packet processors: one address space with an IB, data and code, jobs given to the rings
 * directly, without the ioctls above them, streams and shaders.
 *
 * Shaders were assembled with `llvm-mc-19 -arch=amdgcn -mcpu=gfx1100`; their source stands beside each.
 */
#ifndef SOFTGPU_PM4_H
#define SOFTGPU_PM4_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hw.h"
#include "isa.h"
#include "pm4.h"
#include "pm4_regs.h"

#define IB_VA 0x100000000ull
#define IB2_VA 0x100008000ull
#define DATA_VA 0x200000000ull
#define READ_ONLY_VA 0x300000000ull
#define CODE_VA 0xffff800000010000ull
#define NOWHERE_VA 0x700000000ull
#define IB_DWORDS 8192u
/* Of jobs that are not to hang; a sanitizer makes them several times slower. */
#ifdef __SANITIZE_THREAD__
#define LOCKUP_MS 120000
#else
#define LOCKUP_MS 10000
#endif

/* ---- a device with one address space ---- */

static struct sg_vm *vm;
static struct sg_bo *ib_bo, *data_bo, *code_bo;
static uint32_t *ib, *data, *code;
static unsigned n; /* dwords in ib */
static enum sg_ip ip;
static uint32_t preamble_gcr; /* 0xc3b1 is everything */

struct result {
	int done;	/* the how-manieth job of the test it was, from 1 */
	enum sg_outcome outcome;
	char why[400];
	uint64_t fence;
};

/* The configuration is read once per process; tests change it while no thread of the device is there to read it. */
static inline struct sg_config *
config(void)
{
	sg_ring_stop_all();
	return (struct sg_config *)(uintptr_t)sg_config();
}

static inline uint32_t *
map(uint64_t va, uint64_t bytes, uint32_t access, struct sg_bo **bo)
{
	*bo = sg_bo_create(bytes, true);
	assert_non_null(*bo);
	assert_int_equal(sg_vm_map(vm, va, bytes, *bo, 0, access), 0);
	return (uint32_t *)(void *)(*bo)->host;
}

static inline int
setup(void **state)
{
	(void)state;
	*config() = (struct sg_config){
		.profile = sg_profile_default(), .strict = true, .execute = true, .lockup_ms = LOCKUP_MS, .spin_us = 20,
		.eventfd = true, .recovery = "full",
	};
	vm = sg_vm_create();
	assert_non_null(vm);
	ib = map(IB_VA, IB_DWORDS * 4 * 2, SG_VM_READ, &ib_bo);
	data = map(DATA_VA, 65536, SG_VM_READ | SG_VM_WRITE, &data_bo);
	code = map(CODE_VA, 65536, SG_VM_READ | SG_VM_EXEC, &code_bo);
	n = 0;
	ip = SG_IP_COMPUTE;
	preamble_gcr = 0xc3b1;
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	sg_ring_drain_all();
	sg_vm_unref(vm);
	sg_bo_unref(ib_bo);
	sg_bo_unref(data_bo);
	sg_bo_unref(code_bo);
	return 0;
}

static inline void
job_done(struct sg_job *job, enum sg_outcome outcome, const char *why)
{
	struct result *r = job->owner;

	r->outcome = outcome;
	snprintf(r->why, sizeof(r->why), "%s", why);
	free(job);
	static int order; /* all jobs of a test are on one ring */
	__atomic_store_n(&r->done, ++order, __ATOMIC_RELEASE);
}

static inline struct sg_job *
job_create(struct result *r, uint64_t va, uint32_t dwords)
{
	struct sg_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	*r = (struct result){ 0 };
	job->vm = vm;
	job->ip = ip;
	job->n_ibs = 1;
	job->ibs[0] = (struct sg_ib){ .va = va, .dwords = dwords };
	job->user_fence = &r->fence;
	job->user_fence_value = 77;
	job->done = job_done;
	job->owner = r;
	return job;
}

static inline void
result_wait(struct result *r)
{
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

/* Submits what was emitted, and waits. */
static inline struct result
run(void)
{
	struct result r;

	sg_ring_submit(job_create(&r, IB_VA, n));
	result_wait(&r);
	n = 0;
	return r;
}

static inline void
run_ok(void)
{
	struct result r = run();

	if (r.outcome != SG_JOB_DONE)
		print_error("%s\n", r.why);
	assert_int_equal(r.outcome, SG_JOB_DONE);
	assert_int_equal(r.fence, 77);
}

static inline void
run_fails(enum sg_outcome outcome, const char *says)
{
	struct result r = run();

	if (r.outcome != outcome || !strstr(r.why, says))
		print_error("outcome %d, says: %s\n", r.outcome, r.why);
	assert_int_equal(r.outcome, outcome);
	assert_non_null(strstr(r.why, says));
	assert_int_equal(r.fence, 0);
}

/* ---- streams ---- */

static inline void
emit(uint32_t dword)
{
	assert_true(n < IB_DWORDS);
	ib[n++] = dword;
}

#define PACKET(op, ...) packet(op, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)
#define DWORDS(...) dwords((const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)
#define ADDRESS(va) (uint32_t)(va), (uint32_t)((va) >> 32)

static inline void
dwords(const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		emit(values[i]);
}

static inline void
packet(uint32_t op, const uint32_t *body, size_t count)
{
	emit(pm4_header(op, (uint32_t)count));
	dwords(body, count);
}

static inline void
set_sh(uint32_t reg, uint32_t value)
{
	PACKET(PM4_OP_SET_SH_REG, reg, value);
}

static inline void
write_data(uint64_t va, uint32_t value)
{
	PACKET(PM4_OP_WRITE_DATA, 0x00100500, ADDRESS(va), value);
}

static inline void
flush(void)
{
	PACKET(PM4_OP_EVENT_WRITE, 0x407);
}

static inline void
acquire(uint32_t gcr)
{
	PACKET(PM4_OP_ACQUIRE_MEM, 0, 0xffffffff, 0xffffff, 0, 0, 10, gcr);
}

/* All that a stream has to set, since kernel rings save no register between submissions, but `leave_out`. */
static inline void
preamble(uint32_t leave_out)
{
	static const uint32_t zero[] = { 0x204, 0x205, 0x206, 0x20b, 0x215, 0x218, 0x21b, 0x21c, 0x21d,
					 0x21e, 0x222, 0x224, 0x225, 0x226, 0x227, 0x228, 0x27d };
	static const uint32_t ones[] = { 0x216, 0x217, 0x219, 0x21a, 0x22b, 0x22c, 0x22d, 0x22e };

	for (size_t i = 0; i < sizeof(zero) / 4; i++)
		if (zero[i] != leave_out)
			set_sh(zero[i], 0);
	for (size_t i = 0; i < sizeof(ones) / 4; i++)
		if (ones[i] != leave_out)
			set_sh(ones[i], 0xffffffff);
	if (leave_out != 0x22f)
		set_sh(0x22f, 64);
	acquire(preamble_gcr);
}

#define INITIATOR_W32 0x8045u

/* One group of one thread with four user SGPRs: two addresses. */
static inline void
dispatch(unsigned shader, uint64_t first, uint64_t second)
{
	uint64_t pc = CODE_VA + shader * 256;

	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_NUM_THREAD_X, 1, 1, 1);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_LO, (uint32_t)(pc >> 8), (uint32_t)(pc >> 40) & 0xff);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_RSRC1, 0x602c0000, PM4_SET(RSRC2_USER_SGPR, 5));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_USER_DATA_0, ADDRESS(first), ADDRESS(second), 0x5151);
	PACKET(PM4_OP_DISPATCH_DIRECT, 1, 1, 1, INITIATOR_W32);
}

enum shader { STORE, COPY, COPY_GLC, COPY_SCALAR, STORE_AND_LOAD, ADD, GROUP_ID, FOREVER, ILLEGAL, END,
	      SLOW_ADD, SLOW_ILLEGAL };

static const uint32_t shaders[][18] = {
	/* v_mov_b32 v0, 0; v_mov_b32 v1, s2; global_store_b32 v0, v1, s[0:1]; s_endpgm */
	[STORE] = { 0x7e000280, 0x7e020202, 0xdc6a0000, 0x00000100, 0xbfb00000 },
	/* v_mov_b32 v0, 0; global_load_b32 v1, v0, s[0:1]; s_waitcnt vmcnt(0); global_store_b32 v0, v1, s[2:3]; s_endpgm */
	[COPY] = { 0x7e000280, 0xdc520000, 0x01000000, 0xbf8903f7, 0xdc6a0000, 0x00020100, 0xbfb00000 },
	/* the same with global_load_b32 ... glc */
	[COPY_GLC] = { 0x7e000280, 0xdc524000, 0x01000000, 0xbf8903f7, 0xdc6a0000, 0x00020100, 0xbfb00000 },
	/* s_load_b32 s4, s[0:1], null; s_waitcnt lgkmcnt(0); v_mov_b32 v0, 0; v_mov_b32 v1, s4;
	 * global_store_b32 v0, v1, s[2:3]; s_endpgm */
	[COPY_SCALAR] = { 0xf4000100, 0xf8000000, 0xbf89fc07, 0x7e000280, 0x7e020204, 0xdc6a0000, 0x00020100,
			  0xbfb00000 },
	/* v_mov_b32 v0, 0; v_mov_b32 v1, s4; global_store_b32 v0, v1, s[0:1]; s_waitcnt_vscnt null, 0;
	 * global_load_b32 v2, v0, s[0:1]; s_waitcnt vmcnt(0); global_store_b32 v0, v2, s[2:3]; s_endpgm */
	[STORE_AND_LOAD] = { 0x7e000280, 0x7e020204, 0xdc6a0000, 0x00000100, 0xbc7c0000, 0xdc520000, 0x02000000,
			     0xbf8903f7, 0xdc6a0000, 0x00020200, 0xbfb00000 },
	/* v_mov_b32 v0, 0; v_mov_b32 v1, 1; global_atomic_add_u32 v0, v1, s[0:1]; s_endpgm */
	[ADD] = { 0x7e000280, 0x7e020281, 0xdcd60000, 0x00000100, 0xbfb00000 },
	/* v_mov_b32 v0, s2; v_lshlrev_b32 v1, 2, v0; global_store_b32 v1, v0, s[0:1]; s_endpgm */
	[GROUP_ID] = { 0x7e000202, 0x30020082, 0xdc6a0000, 0x00000001, 0xbfb00000 },
	/* s_movk_i32 s3, 20000; s_sub_u32 s3, s3, 1; s_cmp_lg_u32 s3, 0; s_cbranch_scc1 -3; v_mov_b32 v0, 0;
	 * v_mov_b32 v1, 1; global_atomic_add_u32 v0, v1, s[0:1]; s_endpgm */
	[SLOW_ADD] = { 0xb0034e20, 0x80838103, 0xbf078003, 0xbfa2fffd, 0x7e000280, 0x7e020281, 0xdcd60000, 0x00000100,
		       0xbfb00000 },
	/* the same loop; s_cmp_lg_u32 s2, 40; s_cbranch_scc1 1; illegal; s_endpgm */
	[SLOW_ILLEGAL] = { 0xb0034e20, 0x80838103, 0xbf078003, 0xbfa2fffd, 0xbf07a802, 0xbfa20001, 0xffffffff,
			   0xbfb00000 },
	[FOREVER] = { 0xbfa0ffff },
	[ILLEGAL] = { 0xffffffff },
	[END] = { 0xbfb00000 },
};

static inline void
load_shaders(void)
{
	for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++)
		memcpy(&code[i * 64], shaders[i], sizeof(shaders[i]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
