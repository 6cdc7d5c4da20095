/* SPDX-License-Identifier: MIT */
/*
 * The packet processors of softgpu: what each packet does, and what ends a job. Hostile mode is
 * test_softgpu_hostile.c's.
 */
#include "unit/softgpu_pm4.h"

/* ---- packets that move data ---- */

static void
test_write_data(void **state)
{
	(void)state;
	PACKET(PM4_OP_WRITE_DATA, 0x00100500, ADDRESS(DATA_VA), 1, 2, 3);
	PACKET(PM4_OP_WRITE_DATA, 0x00110500, ADDRESS(DATA_VA + 16), 4, 5, 6); /* ONE_ADDR */
	PACKET(PM4_OP_WRITE_DATA, 0x00000000, R_COMPUTE_USER_DATA_0 + PM4_SH_BASE, 0, 0xabc);
	PACKET(PM4_OP_COPY_DATA, 0x00100500, R_COMPUTE_USER_DATA_0 + PM4_SH_BASE, 0, ADDRESS(DATA_VA + 32));
	run_ok();
	assert_int_equal(data[0] == 1 && data[1] == 2 && data[2] == 3, 1);
	assert_int_equal(data[4], 6);
	assert_int_equal(data[5], 0);
	assert_int_equal(data[8], 0xabc);
	PACKET(PM4_OP_WRITE_DATA, 0, 0x54f, 0, 1); /* IGT's privileged register */
	run_fails(SG_JOB_ILLEGAL, "register 0x54f is privileged");
}

static void
test_copy_data(void **state)
{
	uint64_t before = sg_gpu_clock(), stamp;

	(void)state;
	data[0] = 0x11111111;
	data[1] = 0x22222222;
	PACKET(PM4_OP_COPY_DATA, 0x00110501, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 8));
	PACKET(PM4_OP_COPY_DATA, 0x00100505, 0x33, 0x44, ADDRESS(DATA_VA + 16));
	PACKET(PM4_OP_COPY_DATA, 0x00110509, 0, 0, ADDRESS(DATA_VA + 24));
	run_ok();
	assert_int_equal(data[2] == 0x11111111 && data[3] == 0x22222222, 1);
	assert_int_equal(data[4] == 0x33 && data[5] == 0, 1);
	memcpy(&stamp, &data[6], 8);
	assert_true(stamp >= before && stamp <= sg_gpu_clock());
}

static void
test_dma_data(void **state)
{
	(void)state;
	PACKET(PM4_OP_DMA_DATA, 0x40300000, 0x01020304, 0, ADDRESS(DATA_VA), 64);
	PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 0x1000 - 6), 10); /* unaligned */
	PACKET(PM4_OP_DMA_DATA, 0x60200000, ADDRESS(DATA_VA), ADDRESS(DATA_VA), 0x80000040);   /* prefetch */
	PACKET(PM4_OP_DMA_DATA, 0xe0300000, 0, 0, 0, 0, 0); /* waits for earlier ones: no bytes */
	PACKET(PM4_OP_DMA_DATA_FILL_MULTI, 0, 32, 2, ADDRESS(DATA_VA), 8);
	run_ok();
	assert_int_equal(data[15] == 0x01020304 && data[16] == 0, 1);
	assert_memory_equal((uint8_t *)data + 0x1000 - 6, "\4\3\2\1\4\3\2\1\4\3", 10);
	assert_int_equal(data[0] == 0 && data[1] == 0 && data[2] == 0x01020304 && data[8] == 0 && data[10] != 0, 1);
	PACKET(PM4_OP_DMA_DATA, 0x40300000, 9, 0, ADDRESS(DATA_VA), 1u << 27 | 64); /* DAS */
	run_fails(SG_JOB_ILLEGAL, "register address space is privileged");
}

static void
test_atomic_mem(void **state)
{
	(void)state;
	data[0] = 5;
	data[2] = 7;
	data[4] = 0xffffffff;
	data[6] = data[7] = 0;
	PACKET(PM4_OP_ATOMIC_MEM, 15, ADDRESS(DATA_VA), 3, 0, 0, 0, 0);		/* ADD_RTN */
	PACKET(PM4_OP_ATOMIC_MEM, 8 | 1 << 8, ADDRESS(DATA_VA + 8), 9, 0, 7, 0, 0); /* CMPSWAP_RTN, loop */
	PACKET(PM4_OP_ATOMIC_MEM, 17, ADDRESS(DATA_VA + 16), 4, 0, 0, 0, 0);	/* SMIN_RTN of -1 */
	PACKET(PM4_OP_ATOMIC_MEM, 111, ADDRESS(DATA_VA + 24), 1, 2, 0, 0, 0);	/* ADD64 */
	run_ok();
	assert_int_equal(data[0], 8);
	assert_int_equal(data[2], 9);
	assert_int_equal(data[4], 0xffffffff);
	assert_int_equal(data[6] == 1 && data[7] == 2, 1);
	PACKET(PM4_OP_ATOMIC_MEM, 4, ADDRESS(DATA_VA), 3, 0, 0, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "unknown atomic operation 4");
}

static void
test_release_mem(void **state)
{
	uint64_t value;

	(void)state;
	PACKET(PM4_OP_RELEASE_MEM, 0x06603514, 2u << 29, ADDRESS(DATA_VA), 0x89abcdef, 0x01234567, 0);
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 1u << 29, ADDRESS(DATA_VA + 8), 0x55, 0x66, 0);
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 0x60000000, ADDRESS(DATA_VA + 16), 0, 0, 0);
	PACKET(PM4_OP_RELEASE_MEM, 0x62f, 7u << 29, ADDRESS(DATA_VA + 8), 1, 0, 0);
	PACKET(PM4_OP_TIMESTAMP, 3, ADDRESS(DATA_VA + 24), ADDRESS(DATA_VA + 32));
	run_ok();
	memcpy(&value, data, 8);
	assert_true(value == 0x0123456789abcdefull);
	assert_int_equal(data[2] == 0x56 && data[3] == 0, 1);
	memcpy(&value, &data[4], 8);
	assert_true(value != 0 && value <= sg_gpu_clock());
	assert_true(data[6] != 0 && data[8] != 0);
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 2u << 29 | 2u << 16, ADDRESS(DATA_VA), 0, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "privileged");
}

/* ---- registers ---- */

static void
test_set_registers(void **state)
{
	(void)state;
	PACKET(PM4_OP_SET_SH_REG, 0x240, 10, 11);
	PACKET(PM4_OP_SET_SH_REG_INDEX, 0x30000242, 12);
	PACKET(PM4_OP_SET_SH_REG_PAIRS_PACKED, 2, 0x243 | 0x244u << 16, 13, 14);
	PACKET(PM4_OP_SET_SH_REG_PAIRS_PACKED_N, 2, 0x245 | 0x246u << 16, 15, 16);
	PACKET(PM4_OP_SET_UCONFIG_REG, 0x7b, 0x20);
	for (unsigned i = 0; i < 7; i++)
		PACKET(PM4_OP_COPY_DATA, 0x00100500, PM4_SH_BASE + 0x240 + i, 0, ADDRESS(DATA_VA + 4 * i));
	PACKET(PM4_OP_COPY_DATA, 0x00100500, PM4_UCONFIG_BASE + 0x7b, 0, ADDRESS(DATA_VA + 28));
	run_ok();
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(data[i], 10 + i);
	assert_int_equal(data[7], 0x20);

	data[16] = 21;
	data[17] = 22;
	PACKET(PM4_OP_LOAD_SH_REG_INDEX, ADDRESS(DATA_VA + 64), 0x240, 2);
	PACKET(PM4_OP_COPY_DATA, 0x00110500, PM4_SH_BASE + 0x240, 0, ADDRESS(DATA_VA));
	run_ok();
	assert_int_equal(data[0] == 21 && data[1] == 22, 1);

	PACKET(PM4_OP_SET_SH_REG, 0x3ff, 1, 2);
	run_fails(SG_JOB_ILLEGAL, "leave the window");
	PACKET(PM4_OP_SET_SH_REG_PAIRS_PACKED, 4, 0x243 | 0x244u << 16, 13, 14);
	run_fails(SG_JOB_ILLEGAL, "do not fit");
	PACKET(PM4_OP_SET_SH_REG_PAIRS, 0x240, 1); /* compute rings have it since gfx12 */
	run_fails(SG_JOB_ILLEGAL, "SET_SH_REG_PAIRS on compute ring 0");
}

static void
test_gfx_ring(void **state)
{
	(void)state;
	ip = SG_IP_GFX;
	load_shaders();
	PACKET(PM4_OP_CONTEXT_CONTROL, 0x80000000, 0x80000000);
	PACKET(PM4_OP_CLEAR_STATE, 0);
	PACKET(PM4_OP_PFP_SYNC_ME, 0);
	PACKET(PM4_OP_SET_CONTEXT_REG, 0x10, 1, 2);
	PACKET(PM4_OP_SET_SH_REG_PAIRS, 0x240, 31, 0x241, 32);
	PACKET(PM4_OP_COPY_DATA, 0x00110500, PM4_SH_BASE + 0x240, 0, ADDRESS(DATA_VA));
	run_ok();
	assert_int_equal(data[0] == 31 && data[1] == 32, 1);
	/* A call returns, and predicated packets are skipped. */
	memcpy(&ib[IB_DWORDS], (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500, ADDRESS(DATA_VA + 8), 5 }, 20);
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 5);
	write_data(DATA_VA + 12, 6);
	PACKET(PM4_OP_SET_PREDICATION, 4 << 16 | 1 << 8, ADDRESS(DATA_VA + 64));
	PACKET(PM4_OP_WRITE_DATA, 0x00100500, ADDRESS(DATA_VA + 16), 7);
	ib[n - 5] |= 1;
	run_ok();
	assert_int_equal(data[2] == 5 && data[3] == 6 && data[4] == 0, 1);
	/* DISPATCH_INDIRECT by SET_BASE */
	memcpy(&data[32], (uint32_t[]){ 1, 1, 1 }, 12);
	dispatch(END, 0, 0);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_LO, (uint32_t)((CODE_VA + ADD * 256) >> 8));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_USER_DATA_0, ADDRESS(DATA_VA + 20));
	PACKET(PM4_OP_SET_BASE, 1, ADDRESS(DATA_VA + 64));
	PACKET(PM4_OP_DISPATCH_INDIRECT, 64, INITIATOR_W32);
	run_ok();
	assert_int_equal(data[5], 1);
	PACKET(0x2d, 3, 2);
	run_fails(SG_JOB_ILLEGAL, "DRAW_INDEX_AUTO on gfx ring 0");
}

/* ---- flow of the stream ---- */

static void
test_nop_forms(void **state)
{
	(void)state;
	emit(PM4_NOP_ONE_DWORD);
	emit(PM4_NOP_TYPE2);
	PACKET(PM4_OP_NOP, 0xffffffff, 0xffffffff, 0xffffffff);
	write_data(DATA_VA, 1);
	emit(0xc0001000); /* IGT's tail: its body lies outside */
	run_ok();
	assert_int_equal(data[0], 1);
}

static void
test_chain(void **state)
{
	(void)state;
	memcpy(&ib[IB_DWORDS], (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500, ADDRESS(DATA_VA), 5 }, 20);
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 5 | 0x00900000);
	write_data(DATA_VA + 4, 6); /* a chain never comes back */
	run_ok();
	assert_int_equal(data[0] == 5 && data[1] == 0, 1);
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 5);
	run_fails(SG_JOB_ILLEGAL, "without CHAIN");
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(NOWHERE_VA), 5 | 0x00900000);
	run_fails(SG_JOB_FAULT, "0x700000000");
	config()->lockup_ms = 20;
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB_VA), 4 | 0x00900000); /* to itself */
	run_fails(SG_JOB_HANG, "not done after 20 ms");
}

static void
test_conditions(void **state)
{
	(void)state;
	data[0] = 0;
	data[1] = 1;
	PACKET(PM4_OP_COND_EXEC, ADDRESS(DATA_VA), 0, 5);
	write_data(DATA_VA + 8, 1);
	PACKET(PM4_OP_COND_EXEC, ADDRESS(DATA_VA + 4), 0, 5);
	write_data(DATA_VA + 12, 1);
	PACKET(PM4_OP_COND_WRITE, 0x113, ADDRESS(DATA_VA + 4), 1, 0xff, ADDRESS(DATA_VA + 16), 9);
	PACKET(PM4_OP_REWIND, 1u << 31);
	run_ok();
	assert_int_equal(data[2] == 0 && data[3] == 1 && data[4] == 9, 1);
}

static void
test_wait_reg_mem(void **state)
{
	struct result r;
	uint64_t big = 0x100000002ull;

	(void)state;
	PACKET(PM4_OP_WAIT_REG_MEM, 0x40 | 3, 0x100, 0x101, 4, 4, 0x20); /* HDP flush handshake */
	PACKET(PM4_OP_WAIT_REG_MEM, 0x15, ADDRESS(DATA_VA), 3, 0xff, 4);
	write_data(DATA_VA + 8, 1);
	sg_ring_submit(job_create(&r, IB_VA, n));
	nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	assert_int_equal(__atomic_load_n(&r.done, __ATOMIC_ACQUIRE), 0);
	__atomic_store_n(&data[0], 0x103, __ATOMIC_RELEASE);
	result_wait(&r);
	n = 0;
	assert_int_equal(r.outcome, SG_JOB_DONE);
	assert_int_equal(data[2], 1);

	memcpy(&data[4], &big, 8);
	PACKET(PM4_OP_WAIT_REG_MEM64, 0x13, ADDRESS(DATA_VA + 16), 2, 1, 0xffffffff, 0xffffffff, 4);
	run_ok();
	config()->lockup_ms = 30;
	PACKET(PM4_OP_WAIT_REG_MEM, 0x13, ADDRESS(DATA_VA), 0xdead, 0xffffffff, 4);
	run_fails(SG_JOB_HANG, "== 0xdead at 0x200000000, value is 0x103");
}

static void
test_illegal(void **state)
{
	(void)state;
	emit(PM4_NOP_ONE_DWORD);
	PACKET(0xf2, 0);
	run_fails(SG_JOB_ILLEGAL, "packet on compute ring 0, IB 0x100000000 + 0x4: unknown opcode 0xf2");
	PACKET(PM4_OP_CLEAR_STATE, 0);
	run_fails(SG_JOB_ILLEGAL, "CLEAR_STATE on compute ring 0");
	emit(0);
	run_fails(SG_JOB_ILLEGAL, "of type 0");
	emit(pm4_header(PM4_OP_WRITE_DATA, 100));
	emit(0);
	run_fails(SG_JOB_ILLEGAL, "truncated");
	PACKET(PM4_OP_RELEASE_MEM, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "body of 2 dwords, needs 7");
	PACKET(PM4_OP_ACQUIRE_MEM, 0, 0, 0, 0, 0, 0); /* gfx9's */
	run_fails(SG_JOB_ILLEGAL, "needs 7");
	run_ok();
}

static void
test_faults(void **state)
{
	struct sg_vm_fault fault;
	struct sg_bo *bo;

	(void)state;
	write_data(NOWHERE_VA + 0x123c, 1);
	run_fails(SG_JOB_FAULT, "WRITE_DATA on compute ring 0, IB 0x100000000 + 0x0: VM fault, write to unmapped");
	sg_vm_last_fault(vm, &fault);
	assert_true(fault.address == NOWHERE_VA + 0x1000 && fault.count == 1 && (fault.status >> 18 & 1));
	map(READ_ONLY_VA, 4096, SG_VM_READ, &bo);
	write_data(READ_ONLY_VA, 1);
	run_fails(SG_JOB_FAULT, "0x300000000");
	assert_int_equal(bo->host[0], 0);
	sg_vm_drop_bo(vm, bo);
	sg_bo_unref(bo);

	config()->strict = false;
	data[0] = 1;
	PACKET(PM4_OP_COPY_DATA, 0x00100501, ADDRESS(NOWHERE_VA), ADDRESS(DATA_VA));
	write_data(NOWHERE_VA, 1);
	write_data(DATA_VA + 4, 2);
	run_ok();
	assert_int_equal(data[0] == 0 && data[1] == 2, 1);
	sg_vm_last_fault(vm, &fault);
	assert_true(fault.count == 4);
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(NOWHERE_VA), 5 | 0x00900000);
	run_fails(SG_JOB_HANG, "IB of 5 dwords at 0x700000000 is not all mapped");
}

/* ---- dispatches ---- */

static void
test_dispatch(void **state)
{
	(void)state;
	load_shaders();
	dispatch(STORE, DATA_VA, 0x1234);
	/* four groups along x, their ids in s2 */
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_LO, (uint32_t)((CODE_VA + GROUP_ID * 256) >> 8));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_RSRC2, PM4_SET(RSRC2_USER_SGPR, 2) | PM4_SET(RSRC2_TGID_X_EN, 1));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_USER_DATA_0, ADDRESS(DATA_VA + 64));
	PACKET(PM4_OP_DISPATCH_DIRECT, 4, 1, 1, INITIATOR_W32);
	/* dimensions are end coordinates without FORCE_START_AT_000 */
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_USER_DATA_0, ADDRESS(DATA_VA + 128));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_START_X, 2, 0, 0);
	PACKET(PM4_OP_DISPATCH_DIRECT, 4, 1, 1, INITIATOR_W32 & ~4u);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_START_X, 0, 0, 0);
	/* indirect, in threads */
	memcpy(&data[256], (uint32_t[]){ 3, 1, 1 }, 12);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_USER_DATA_0, ADDRESS(DATA_VA + 192));
	PACKET(PM4_OP_DISPATCH_INDIRECT, ADDRESS(DATA_VA + 1024), 0x8061);
	PACKET(PM4_OP_DISPATCH_DIRECT, 0, 1, 1, INITIATOR_W32);	/* no waves */
	PACKET(PM4_OP_DISPATCH_DIRECT, 9, 9, 9, 0);		/* shader not enabled */
	run_ok();
	assert_int_equal(data[0], 0x1234);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(data[16 + i], i);
	assert_int_equal(data[32] == 0 && data[34] == 2 && data[35] == 3, 1);
	assert_int_equal(data[49] == 1 && data[50] == 2 && data[51] == 0, 1);
}

static void
test_dispatch_refusals(void **state)
{
	static const struct { uint32_t reg, value; const char *says; } bad[] = {
		{ R_COMPUTE_NUM_THREAD_X, 0, "workgroup of 0 x 1 x 1" },
		{ R_COMPUTE_NUM_THREAD_X, 1025, "workgroup of 1025" },
		{ R_COMPUTE_PGM_RSRC2, PM4_SET(RSRC2_USER_SGPR, 17), "17 user SGPRs" },
		{ R_COMPUTE_PGM_RSRC2, PM4_SET(RSRC2_LDS_SIZE, 129), "66048 bytes of LDS" },
		{ R_COMPUTE_PGM_RSRC2, PM4_SET(RSRC2_SCRATCH_EN, 1), "COMPUTE_TMPRING_SIZE is 0x0" },
		{ R_COMPUTE_PGM_LO, 0x7fff, "VM fault at pc" },
	};

	(void)state;
	load_shaders();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_sh(R_COMPUTE_TMPRING_SIZE, 0);
		dispatch(END, 0, 0);
		set_sh(bad[i].reg, bad[i].value);
		PACKET(PM4_OP_DISPATCH_DIRECT, 1, 1, 1, INITIATOR_W32);
		run_fails(i < 5 ? SG_JOB_ILLEGAL : SG_JOB_FAULT, bad[i].says);
	}
	dispatch(ILLEGAL, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "illegal instruction at pc 0xffff800000010800");
	dispatch(STORE, NOWHERE_VA, 0);
	run_fails(SG_JOB_FAULT, "0x700000000");
	config()->lockup_ms = 30;
	dispatch(FOREVER, 0, 0);
	run_fails(SG_JOB_HANG, "DISPATCH_DIRECT on compute ring 0");
	dispatch(STORE, DATA_VA, 1);
	run_ok();
}

/* Groups on several host threads. */
static void
many_groups(enum shader shader, uint32_t groups)
{
	dispatch(END, DATA_VA, 0);
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_LO, (uint32_t)((CODE_VA + shader * 256) >> 8));
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_PGM_RSRC2, PM4_SET(RSRC2_USER_SGPR, 2) | PM4_SET(RSRC2_TGID_X_EN, 1));
	PACKET(PM4_OP_DISPATCH_DIRECT, groups, 1, 1, INITIATOR_W32);
}

static void
test_workers(void **state)
{
	struct sg_hw_stats before, after;

	(void)state;
	load_shaders();
	config()->threads = 4;
	sg_hw_stats(&before);
	for (unsigned i = 0; i < 3; i++) {
		many_groups(SLOW_ADD, 60);
		many_groups(GROUP_ID, 2000);
		many_groups(SLOW_ADD, 9);
		run_ok();
		for (unsigned k = 69 * (i + 1); k < 2000; k++)
			assert_int_equal(data[k], k);
		data[0] = 0;
	}
	sg_hw_stats(&after);
	assert_int_equal(after.waves - before.waves, 3 * (3 + 60 + 2000 + 9));
	data[0] = 0;
	many_groups(SLOW_ADD, 100);
	run_ok();
	assert_int_equal(data[0], 100);
	/* one group's end is the job's */
	many_groups(SLOW_ILLEGAL, 10);
	run_ok();
	many_groups(SLOW_ILLEGAL, 1000);
	run_fails(SG_JOB_ILLEGAL, "illegal instruction at pc 0xffff800000010b18");
	many_groups(SLOW_ADD, 40);
	run_ok();
	config()->lockup_ms = 30;
	config()->threads = 4;
	many_groups(FOREVER, 100);
	run_fails(SG_JOB_HANG, "shader did not end");
}

/* ---- address spaces ---- */

static void
test_vm(void **state)
{
	struct sg_bo *bo = sg_bo_create(0x10000, true);

	(void)state;
	assert_non_null(bo);
	assert_int_equal(sg_vm_map(vm, 0x500000, 0x4000, bo, 0, SG_VM_READ | SG_VM_WRITE), 0);
	assert_int_equal(sg_vm_map(vm, 0x503000, 0x4000, bo, 0, SG_VM_READ), -EINVAL);
	assert_int_equal(sg_vm_map(vm, 0x4ff000, 0x1001, bo, 0, SG_VM_READ), -EINVAL);
	assert_int_equal(sg_vm_map(vm, 0x504000, 0x4000, bo, 0xd000, SG_VM_READ), -EINVAL);
	assert_int_equal(sg_vm_map(vm, 0x504000, 0x1000, NULL, 0, SG_VM_PRT), 0);
	assert_int_equal(sg_vm_unmap(vm, 0x501000, bo), -ENOENT);
	assert_int_equal(sg_vm_clear(vm, 0x501000, 0x1000), 0); /* splits */
	write_data(0x500ffc, 1);
	write_data(0x502000, 2);
	write_data(0x504000, 3); /* PRT drops it */
	run_ok();
	assert_int_equal(*(uint32_t *)(void *)(bo->host + 0xffc), 1);
	assert_int_equal(*(uint32_t *)(void *)(bo->host + 0x2000), 2);
	write_data(0x501000, 1);
	run_fails(SG_JOB_FAULT, "0x501000");
	assert_int_equal(bo->refs, 3);
	sg_vm_drop_bo(vm, bo);
	assert_int_equal(bo->refs, 1);
	sg_bo_unref(bo);
}

/* ---- SDMA ---- */

static void
test_sdma(void **state)
{
	(void)state;
	ip = SG_IP_SDMA;
	data[64] = 5;
	DWORDS(0x00000002, ADDRESS(DATA_VA), 2, 0x11, 0x22, 0x33);			/* WRITE 3 dwords */
	DWORDS(0x00000001, 11, 0, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 32));	/* COPY 12 bytes */
	DWORDS(0x8000000b, ADDRESS(DATA_VA + 64), 0xabcd, 15);			/* FILL 16 bytes */
	DWORDS(0x0003 << 16 | 5, ADDRESS(DATA_VA + 96), 0x77);			/* FENCE */
	DWORDS(6, 0);								/* TRAP */
	DWORDS(13 | 2 << 8, ADDRESS(DATA_VA + 104));				/* TIMESTAMP */
	DWORDS(0xb0000008, ADDRESS(DATA_VA + 256), 5, 0xff, 0x0fff0004);		/* POLL_REGMEM == */
	DWORDS(9, ADDRESS(DATA_VA + 256), 4, 4);				/* COND_EXE: not equal, skips */
	DWORDS(5, ADDRESS(DATA_VA + 112), 1);
	DWORDS(15u << 25 | 10, ADDRESS(DATA_VA + 256), 2, 0, 0, 0, 0);		/* ATOMIC add */
	DWORDS(17, 0, 0, 0, 0);							/* GCR_REQ */
	DWORDS(2u << 16, 0xffffffff, 0xffffffff);				/* NOP with two dwords */
	DWORDS(0, 0, 0);
	run_ok();
	assert_int_equal(data[8] == 0x11 && data[9] == 0x22 && data[10] == 0x33 && data[11] == 0, 1);
	assert_int_equal(data[16] == 0xabcd && data[19] == 0xabcd && data[20] == 0, 1);
	assert_int_equal(data[24], 0x77);
	assert_int_not_equal(data[26], 0);
	assert_int_equal(data[28], 0);
	assert_int_equal(data[64], 7);
	DWORDS(99);
	run_fails(SG_JOB_ILLEGAL, "unknown operation 99");
	DWORDS(4, 0, 0, 0, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "INDIRECT on sdma ring 0");
	DWORDS(2, ADDRESS(DATA_VA), 100, 1);
	run_fails(SG_JOB_ILLEGAL, "truncated");
	config()->lockup_ms = 20;
	DWORDS(0xb0000008, ADDRESS(DATA_VA + 256), 5, 0xff, 0x0fff0004);
	run_fails(SG_JOB_HANG, "POLL_REGMEM");
}

/* ---- RADV's streams ---- */

static void
run_radv(const char *name)
{
	char path[128], line[128];
	struct sg_job *job;
	struct result r;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/data/radv-22.3.6-%s.hex", name);
	f = fopen(path, "r");
	if (!f)
		print_error("%s: run from the root of the tree\n", path);
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			emit((uint32_t)strtoul(line, NULL, 16));
	fclose(f);
	job = job_create(&r, IB_VA, n);
	sg_ring_submit(job);
	result_wait(&r);
	if (r.outcome != SG_JOB_DONE)
		print_error("%s: %s\n", name, r.why);
	assert_int_equal(r.outcome, SG_JOB_DONE);
	n = 0;
}

static void
test_radv_streams(void **state)
{
	struct sg_hw_stats before, after;
	char text[128];

	(void)state;
	/* The shaders stood at 0x17e00 and 0x18300 of this window; here both are an s_endpgm. */
	code[0x7e00 / 4] = code[0x8300 / 4] = 0xbfb00000;
	sg_hw_stats(&before);
	run_radv("gfx1100-preamble");
	run_radv("gfx1100-two-dispatches");
	config()->profile = sg_profile_find("gfx1030");
	code[0x7e00 / 4] = code[0x8300 / 4] = 0xbf810000;
	run_radv("gfx1030-preamble");
	bool rdna2 = sg_disassemble(SG_ARCH_RDNA2, &code[0x8300 / 4], 1, text, sizeof(text)) != 0;
	if (rdna2)
		run_radv("gfx1030-two-dispatches");
	else
		print_message("the shader cores have no RDNA2 yet: its dispatches are left out\n");
	sg_hw_stats(&after);
	assert_int_equal(after.dispatches - before.dispatches, rdna2 ? 4 : 2);
	assert_int_equal(after.acquires - before.acquires, 2);
	assert_int_equal(after.waves - before.waves, rdna2 ? 4 : 2);
}

/* ---- rings ---- */

static bool
is_cancelled(struct sg_job *job)
{
	(void)job;
	return true;
}

static void
test_rings(void **state)
{
	enum { JOBS = 300 };
	static struct result results[JOBS];
	struct result r;

	(void)state;
	/* in order, each after the one before */
	for (unsigned i = 0; i < 16; i++)
		PACKET(PM4_OP_ATOMIC_MEM, 15, ADDRESS(DATA_VA), 1, 0, 0, 0, 0);
	for (unsigned i = 0; i < JOBS; i++)
		sg_ring_submit(job_create(&results[i], IB_VA, n));
	sg_ring_drain_all();
	for (unsigned i = 0; i < JOBS; i++)
		assert_true(results[i].done && results[i].outcome == SG_JOB_DONE && results[i].fence == 77);
	assert_int_equal(data[0], JOBS * 16);

	struct sg_job *job = job_create(&r, IB_VA, n);
	job->cancelled = is_cancelled;
	sg_ring_submit(job);
	result_wait(&r);
	assert_int_equal(r.outcome, SG_JOB_SKIPPED);
	assert_int_equal(r.fence, 0);

	config()->execute = false;
	sg_ring_submit(job_create(&r, IB_VA, n));
	assert_true(r.done && r.outcome == SG_JOB_DONE && r.fence == 77);
	assert_int_equal(data[0], JOBS * 16);
}

/* A delayed job is late as a whole: nothing of it is seen before. */
static void
test_delay(void **state)
{
	struct result r;

	(void)state;
	config()->job_delay_us = 30000;
	write_data(DATA_VA, 3);
	sg_ring_submit(job_create(&r, IB_VA, n));
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	assert_int_equal(__atomic_load_n(&data[0], __ATOMIC_ACQUIRE), 0);
	result_wait(&r);
	assert_int_equal(data[0], 3);
	/* Only its fence is late. */
	config()->job_delay_us = 0;
	config()->fence_delay_us = 30000;
	data[0] = 0;
	sg_ring_submit(job_create(&r, IB_VA, n));
	while (!__atomic_load_n(&data[0], __ATOMIC_ACQUIRE))
		;
	assert_int_equal(__atomic_load_n(&r.done, __ATOMIC_ACQUIRE), 0);
	result_wait(&r);
	n = 0;
}

static void
test_stop_and_restart(void **state)
{
	struct result r;

	(void)state;
	load_shaders();
	dispatch(FOREVER, 0, 0);
	sg_ring_submit(job_create(&r, IB_VA, n));
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	sg_ring_stop_all();
	assert_true(r.done && r.outcome == SG_JOB_HANG);
	n = 0;
	write_data(DATA_VA, 3);
	run_ok();
	assert_int_equal(data[0], 3);
}

/* A child runs jobs on the same memory with threads of its own. */
static void
test_fork(void **state)
{
	int status;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* ThreadSanitizer cannot start threads after a fork */
#endif
	write_data(DATA_VA, 1);
	run_ok();
	pid_t pid = fork();
	if (pid == 0) {
		struct result r;
		write_data(DATA_VA + 4, 2);
		sg_ring_submit(job_create(&r, IB_VA, n));
		result_wait(&r);
		sg_ring_stop_all();
		_exit(r.outcome == SG_JOB_DONE ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(data[1], 2);
	write_data(DATA_VA + 8, 3);
	run_ok();
	assert_int_equal(data[2], 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_write_data), TEST(test_copy_data), TEST(test_dma_data), TEST(test_atomic_mem),
		TEST(test_release_mem), TEST(test_set_registers), TEST(test_gfx_ring), TEST(test_nop_forms),
		TEST(test_chain), TEST(test_conditions), TEST(test_wait_reg_mem), TEST(test_illegal), TEST(test_faults),
		TEST(test_dispatch), TEST(test_dispatch_refusals), TEST(test_workers), TEST(test_vm), TEST(test_sdma),
		TEST(test_radv_streams), TEST(test_rings), TEST(test_delay), TEST(test_stop_and_restart), TEST(test_fork),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	sg_ring_stop_all();
	return failed;
}
