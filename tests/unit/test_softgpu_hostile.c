/* SPDX-License-Identifier: MIT */
/*
 * Hostile mode of softgpu: a wait or a cache operation that is missing shows, one that is there helps. Each case runs
 * twice, with what it is about and without.
 */
#include "unit/softgpu_pm4.h"

enum { SOURCE = 0, MIDDLE = 64, RESULT = 128 }; /* offsets in different cache lines */

/* Writes 0x1234 to MIDDLE by one shader and copies it to RESULT by another; returns what arrives. */
static uint32_t
produce_consume(enum shader consumer, bool wait, uint32_t gcr)
{
	data[MIDDLE / 4] = 0x0ddba11;
	data[RESULT / 4] = 0;
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 0x1234);
	if (wait)
		flush();
	if (gcr)
		acquire(gcr);
	dispatch(consumer, DATA_VA + MIDDLE, DATA_VA + RESULT);
	run_ok();
	return data[RESULT / 4];
}

static void
test_hostile_read_after_write(void **state)
{
	(void)state;
	load_shaders();
	assert_int_equal(produce_consume(COPY, false, 0), 0x1234); /* not hostile: kinder than hardware */
	config()->hostile = true;
	assert_int_equal(produce_consume(COPY, true, 0x380), 0x1234);
	assert_int_equal(produce_consume(COPY, true, 0), 0x0ddba11);	 /* no invalidation */
	assert_int_equal(produce_consume(COPY, false, 0x380), 0x0ddba11); /* no wait */
	assert_int_equal(produce_consume(COPY, true, 0x100), 0x0ddba11); /* GL1 forgotten */
	assert_int_equal(produce_consume(COPY, true, 0x80), 0x0ddba11);	 /* scalar only */
	assert_int_equal(produce_consume(COPY_GLC, true, 0), 0x1234);	 /* device-coherent load */
	assert_int_equal(produce_consume(COPY_SCALAR, true, 0x300), 0x0ddba11);
	assert_int_equal(produce_consume(COPY_SCALAR, true, 0x80), 0x1234);
	config()->seed = 12345;
	assert_int_equal(produce_consume(COPY, true, 0x380), 0x1234);
	assert_int_equal(produce_consume(COPY, true, 0), 0x0ddba11);
}

/* With seeds other than 0 some orders are right by chance, but not all. */
static void
test_hostile_shuffle(void **state)
{
	unsigned wrong = 0, right = 0;

	(void)state;
	load_shaders();
	config()->hostile = true;
	for (unsigned seed = 1; seed < 30; seed++) {
		config()->seed = seed;
		if (produce_consume(COPY_GLC, false, 0) == 0x1234)
			right++;
		else
			wrong++;
	}
	assert_true(wrong > 3 && right > 3);
}

static void
test_hostile_write_hazards(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	for (int wait = 0; wait < 2; wait++) {
		/* WAR: the copy must see the old value */
		data[MIDDLE / 4] = 1;
		preamble(0);
		dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
		if (wait)
			flush();
		dispatch(STORE, DATA_VA + MIDDLE, 2);
		run_ok();
		assert_int_equal(data[RESULT / 4], wait ? 1 : 2);
		/* WAW: the second must win */
		preamble(0);
		dispatch(STORE, DATA_VA + MIDDLE, 3);
		if (wait)
			flush();
		dispatch(STORE, DATA_VA + MIDDLE, 4);
		run_ok();
		assert_int_equal(data[MIDDLE / 4], wait ? 4 : 3);
	}
}

static void
test_hostile_cp(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	for (int wait = 0; wait < 2; wait++) {
		/* the CP's copy does not wait for the shader that makes its source */
		data[MIDDLE / 4] = 1;
		preamble(0);
		dispatch(STORE, DATA_VA + MIDDLE, 2);
		if (wait)
			flush();
		PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA + MIDDLE), ADDRESS(DATA_VA + RESULT), 4);
		run_ok();
		assert_int_equal(data[RESULT / 4], wait ? 2 : 1);
		/* a shader does not see what the CP wrote until its caches are invalidated */
		data[MIDDLE / 4] = 1;
		preamble(0);
		write_data(DATA_VA + MIDDLE, 3);
		if (wait)
			acquire(0x380);
		dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
		run_ok();
		assert_int_equal(data[RESULT / 4], wait ? 3 : 1);
	}
	/* the CP's write does not wait for a shader that still reads */
	data[MIDDLE / 4] = 1;
	preamble(0);
	dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
	write_data(DATA_VA + MIDDLE, 4);
	run_ok();
	assert_int_equal(data[RESULT / 4], 4);
	/* WAIT_REG_MEM on a word that RELEASE_MEM writes orders as a flush does. */
	data[SOURCE] = 0;
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 5);
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 1u << 29, ADDRESS(DATA_VA + SOURCE), 1, 0, 0);
	PACKET(PM4_OP_WAIT_REG_MEM, 0x13, ADDRESS(DATA_VA + SOURCE), 1, 0xffffffff, 4);
	PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA + MIDDLE), ADDRESS(DATA_VA + RESULT), 4);
	run_ok();
	assert_int_equal(data[RESULT / 4], 5);
	/* RELEASE_MEM alone orders nothing behind it. */
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 6);
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 1u << 29, ADDRESS(DATA_VA + SOURCE), 2, 0, 0);
	dispatch(STORE, DATA_VA + MIDDLE, 7);
	run_ok();
	assert_int_equal(data[MIDDLE / 4], 6);
	assert_int_equal(data[SOURCE], 2);
}

/* A range invalidates only its own lines. */
static void
test_hostile_range(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	for (int covered = 0; covered < 2; covered++) {
		data[MIDDLE / 4] = 1;
		preamble(0);
		dispatch(STORE, DATA_VA + MIDDLE, 2);
		flush();
		PACKET(PM4_OP_ACQUIRE_MEM, 0, 1, 0, (uint32_t)(DATA_VA >> 8) + (covered ? 0 : 1), 0, 10, 0x380);
		dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
		run_ok();
		assert_int_equal(data[RESULT / 4], covered ? 2 : 1);
	}
}

static void
test_hostile_own_writes(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	data[MIDDLE / 4] = 1;
	data[RESULT / 4] = 0;
	preamble(0);
	dispatch(STORE_AND_LOAD, DATA_VA + MIDDLE, DATA_VA + RESULT);
	/* independent, in the same cache lines */
	dispatch(STORE, DATA_VA + MIDDLE + 4, 9);
	dispatch(ADD, DATA_VA + 256, 0);
	dispatch(ADD, DATA_VA + 256, 0);
	run_ok();
	assert_int_equal(data[RESULT / 4], 0x5151);
	assert_int_equal(data[MIDDLE / 4 + 1], 9);
	assert_int_equal(data[64], 2);
}

/* What the last job wrote is stale in the next, until that invalidates. */
static void
test_hostile_between_jobs(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	config()->strict = false;
	data[MIDDLE / 4] = 1;
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 2);
	run_ok();
	dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
	run_ok();
	assert_int_equal(data[RESULT / 4], 1);
	preamble(0);
	dispatch(COPY, DATA_VA + MIDDLE, DATA_VA + RESULT);
	run_ok();
	assert_int_equal(data[RESULT / 4], 2);
}

static void
test_hostile_registers(void **state)
{
	static const struct { uint32_t reg; const char *name; } required[] = {
		{ 0x215, "COMPUTE_RESOURCE_LIMITS" }, { 0x216, "COMPUTE_STATIC_THREAD_MGMT_SE0" },
		{ 0x218, "COMPUTE_TMPRING_SIZE" },    { 0x21b, "COMPUTE_RESTART_X" },
		{ 0x20b, "COMPUTE_PERFCOUNT_ENABLE" }, { 0x21e, "COMPUTE_THREAD_TRACE_ENABLE" },
		{ 0x222, "COMPUTE_REQ_CTRL" },	      { 0x227, "COMPUTE_USER_ACCUM_3" },
		{ 0x22e, "COMPUTE_STATIC_THREAD_MGMT_SE7" }, { 0x22f, "COMPUTE_DISPATCH_INTERLEAVE" },
		{ 0x27d, "COMPUTE_DISPATCH_TUNNEL" }, { 0x228, "COMPUTE_PGM_RSRC3" },
	};

	(void)state;
	load_shaders();
	config()->hostile = true;
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		preamble(required[i].reg);
		dispatch(END, 0, 0);
		run_fails(SG_JOB_ILLEGAL, required[i].name);
	}
	preamble(0x204); /* not needed with FORCE_START_AT_000 */
	dispatch(END, 0, 0);
	run_ok();
	preamble(0x204);
	dispatch(END, 0, 0);
	PACKET(PM4_OP_DISPATCH_DIRECT, 1, 1, 1, INITIATOR_W32 & ~4u);
	run_fails(SG_JOB_ILLEGAL, "COMPUTE_START_X");
}

static void
test_hostile_poison(void **state)
{
	struct sg_bo *bo;

	(void)state;
	config()->hostile = true;
	config()->strict = false;
	bo = sg_bo_create(5000, false);
	assert_non_null(bo);
	assert_int_equal(bo->host[0], 0);
	sg_bo_unref(bo);
	config()->strict = true;
	bo = sg_bo_create(5000, false);
	assert_non_null(bo);
	assert_int_equal(bo->bytes, 8192);
	assert_int_equal(bo->host[0], 0xa5);
	assert_int_equal(bo->host[8191], 0xa5);
	sg_bo_unref(bo);
	bo = sg_bo_create(5000, true);
	assert_int_equal(bo->host[0], 0);
	sg_bo_unref(bo);
}

/* ---- L2 and the CPU ---- */

enum { WORD = 512, GATE = 1024, LATE_WORD = 1536 };
#define RELEASE_DATA 0x06400514u /* bypass, no cache operation */
#define GL2_WB (1u << 21)

static uint32_t
look(unsigned offset)
{
	return __atomic_load_n(&data[offset / 4], __ATOMIC_ACQUIRE);
}

static void
release(uint32_t event, uint64_t va, uint32_t value)
{
	PACKET(PM4_OP_RELEASE_MEM, event, 1u << 29, ADDRESS(va), value, 0, 0);
}

/* The job waits until the test opens the gate. */
static void
gate(void)
{
	data[GATE / 4] = 0;
	PACKET(PM4_OP_WAIT_REG_MEM, 0x13, ADDRESS(DATA_VA + GATE), 1, 0xffffffff, 4);
}

static void
open_gate(void)
{
	__atomic_store_n(&data[GATE / 4], 1, __ATOMIC_RELEASE);
}

/* Runs a stream whose last part stands behind a gate; comes back when the WORD before the gate has been written. */
static void
run_to_gate(struct result *r)
{
	sg_ring_submit(job_create(r, IB_VA, n));
	while (look(WORD) != 1 && !__atomic_load_n(&r->done, __ATOMIC_ACQUIRE))
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	assert_int_equal(r->done, 0);
}

static void
finish(struct result *r)
{
	open_gate();
	result_wait(r);
	assert_int_equal(r->outcome, SG_JOB_DONE);
	n = 0;
}

/* The CPU polls WORD and then reads what the shader wrote before it. */
static void
test_hostile_write_back(void **state)
{
	struct result r;

	(void)state;
	load_shaders();
	config()->hostile = true;
	for (int wb = 0; wb < 2; wb++) {
		data[MIDDLE / 4] = data[WORD / 4] = data[LATE_WORD / 4] = 0;
		preamble(0);
		dispatch(STORE, DATA_VA + MIDDLE, 0x1234);
		flush();
		write_data(DATA_VA + RESULT, 7);
		release(0x528, DATA_VA + LATE_WORD, 1); /* not bypass: stays in L2 */
		release(RELEASE_DATA | (wb ? GL2_WB : 0), DATA_VA + WORD, 1);
		gate();
		data[RESULT / 4] = 0;
		run_to_gate(&r);
		assert_int_equal(look(MIDDLE), wb ? 0x1234 : 0);
		assert_int_equal(look(RESULT), wb ? 7 : 0);
		assert_int_equal(look(LATE_WORD), wb ? 1 : 0);
		/* in the same line, and not the GPU's */
		data[MIDDLE / 4 + 1] = 0x77;
		finish(&r);
		assert_int_equal(data[MIDDLE / 4], 0x1234); /* by the kernel's fence */
		assert_int_equal(data[MIDDLE / 4 + 1], 0x77);
		assert_int_equal(data[LATE_WORD / 4], 1);
	}
	/* ACQUIRE_MEM writes back too; with L2 left dirty nothing is lost by an invalidation. */
	data[MIDDLE / 4] = data[RESULT / 4] = data[WORD / 4] = 0;
	preamble(0);
	write_data(DATA_VA + MIDDLE, 1);
	acquire(0x8000);
	write_data(DATA_VA + RESULT, 2);
	acquire(0x4000);
	release(RELEASE_DATA, DATA_VA + WORD, 1);
	gate();
	run_to_gate(&r);
	assert_int_equal(look(MIDDLE), 1);
	assert_int_equal(look(RESULT), 0);
	finish(&r);
	assert_int_equal(data[RESULT / 4], 2);
}

/* What the GPU has read stays in L2, whatever the CPU writes there. */
static void
test_hostile_stale_input(void **state)
{
	static const struct { uint32_t gcr; bool fresh; } starts[] = {
		{ 0xc3b1, true }, { 0x83b1, false }, { 0x380, false }, { 0x4380, true },
	};

	(void)state;
	load_shaders();
	config()->hostile = true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		for (int by_cp = 0; by_cp < 2; by_cp++) {
			for (uint32_t round = 1; round < 3; round++) {
				data[SOURCE / 4] = round;
				preamble_gcr = round == 1 ? 0xc3b1 : starts[i].gcr;
				preamble(0);
				if (by_cp)
					PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA + SOURCE),
					       ADDRESS(DATA_VA + RESULT), 4);
				else
					dispatch(COPY, DATA_VA + SOURCE, DATA_VA + RESULT);
				run_ok();
			}
			assert_int_equal(data[RESULT / 4], starts[i].fresh ? 2 : 1);
		}
	}
	/* a range that does not cover the line is no help */
	for (unsigned off = 0; off < 2; off++) {
		for (uint32_t round = 1; round < 3; round++) {
			data[SOURCE / 4] = round;
			preamble_gcr = round == 1 ? 0xc3b1 : 0;
			preamble(0);
			if (round == 2)
				PACKET(PM4_OP_ACQUIRE_MEM, 0, 1, 0, (uint32_t)(DATA_VA >> 8) + off, 0, 10, 0x4380);
			dispatch(COPY, DATA_VA + SOURCE, DATA_VA + RESULT);
			run_ok();
		}
		assert_int_equal(data[RESULT / 4], off ? 1 : 2);
	}
}

/* Words the GPU wrote itself, and nobody else: SDMA reads them from L2, and its own writes are seen. */
static void
test_hostile_sdma(void **state)
{
	struct result r;

	(void)state;
	load_shaders();
	config()->hostile = true;
	data[MIDDLE / 4] = data[WORD / 4] = 0;
	preamble(0);
	write_data(DATA_VA + MIDDLE, 5);
	release(RELEASE_DATA, DATA_VA + WORD, 1);
	gate();
	dispatch(COPY_GLC, DATA_VA + SOURCE, DATA_VA + RESULT + 4);
	run_to_gate(&r);
	assert_int_equal(look(MIDDLE), 0);
	struct result copied;
	ip = SG_IP_SDMA;
	uint32_t copy[] = { 1, 3, 0, ADDRESS(DATA_VA + MIDDLE), ADDRESS(DATA_VA + SOURCE) };
	memcpy(&ib[IB_DWORDS], copy, sizeof(copy));
	sg_ring_submit(job_create(&copied, IB2_VA, sizeof(copy) / 4));
	result_wait(&copied);
	assert_int_equal(copied.outcome, SG_JOB_DONE);
	assert_int_equal(look(SOURCE), 5);
	finish(&r);
	assert_int_equal(data[RESULT / 4 + 1], 5);
}

/* When L2 is full the oldest lines give way, written back. */
static void
test_hostile_eviction(void **state)
{
	enum { MIB = 80, BYTES = MIB << 20 };
	struct sg_bo *bo;
	struct result r;

	(void)state;
	config()->hostile = true;
	map(0x800000000ull, BYTES, SG_VM_READ | SG_VM_WRITE, &bo);
	data[WORD / 4] = 0;
	for (unsigned i = 0; i < BYTES; i += 4096)
		*(uint32_t *)(void *)(bo->host + i) = 1;
	acquire(0xc3b1);
	for (unsigned i = 0; i < MIB; i += 2) /* zeroes a dword of each page */
		PACKET(PM4_OP_DMA_DATA_FILL_MULTI, 0, 4096, 512, ADDRESS(0x800000000ull + ((uint64_t)i << 20)), 4);
	release(RELEASE_DATA, DATA_VA + WORD, 1);
	gate();
	run_to_gate(&r);
	assert_int_equal(*(uint32_t *)(void *)bo->host, 0);
	assert_int_equal(*(uint32_t *)(void *)(bo->host + BYTES - 4096), 1);
	finish(&r);
	for (unsigned i = 0; i < BYTES; i += 4096)
		assert_int_equal(*(uint32_t *)(void *)(bo->host + i), 0);
	sg_vm_drop_bo(vm, bo);
	sg_bo_unref(bo);
}

/* ---- instruction cache ---- */

enum { PATCHED = 20, BESIDE = 21 }; /* shaders that the tests rewrite */
#define V_MOV_V1(inline_constant) (0x7e020200u | (128 + (inline_constant)))

static void
store_constant(unsigned shader, unsigned value)
{
	memcpy(&code[shader * 64], shaders[STORE], sizeof(shaders[STORE]));
	code[shader * 64 + 1] = V_MOV_V1(value);
	code[shader * 64 + 5] = 0xbf9f0000; /* s_code_end */
}

static uint32_t
run_constant(unsigned shader, uint32_t gcr)
{
	preamble_gcr = gcr;
	preamble(0);
	dispatch(shader, DATA_VA + RESULT, 0);
	run_ok();
	return data[RESULT / 4];
}

static void
test_hostile_code(void **state)
{
	(void)state;
	config()->hostile = true;
	store_constant(PATCHED, 1);
	store_constant(BESIDE, 2);
	assert_int_equal(run_constant(PATCHED, 0xc3b1), 1);
	store_constant(PATCHED, 3);
	store_constant(BESIDE, 4);
	assert_int_equal(run_constant(PATCHED, 0xc3b0), 1); /* GLI_INV forgotten */
	assert_int_equal(run_constant(BESIDE, 0xc3b0), 4);  /* never run before */
	assert_int_equal(run_constant(PATCHED, 0xc3b1), 3);
	store_constant(PATCHED, 7);
	assert_int_equal(run_constant(PATCHED, 0x83b1), 3); /* GL2_INV forgotten */
	assert_int_equal(run_constant(PATCHED, 0xc3b1), 7);
	/* Code that the GPU writes needs no more than GLI_INV. */
	for (int inv = 0; inv < 2; inv++) {
		store_constant(PATCHED, 5);
		preamble_gcr = 0xc3b1;
		preamble(0);
		sg_vm_unmap(vm, CODE_VA, code_bo);
		sg_vm_map(vm, CODE_VA, 65536, code_bo, 0, SG_VM_READ | SG_VM_WRITE | SG_VM_EXEC);
		dispatch(PATCHED, DATA_VA + MIDDLE, 0);
		flush();
		write_data(CODE_VA + PATCHED * 256 + 4, V_MOV_V1(6));
		if (inv)
			acquire(0x1);
		dispatch(PATCHED, DATA_VA + RESULT, 0);
		run_ok();
		assert_int_equal(data[MIDDLE / 4], 5);
		assert_int_equal(data[RESULT / 4], inv ? 6 : 5);
	}
}

/* Another buffer's code at an address where code was run: the cache goes by addresses. */
static void
test_hostile_code_moved_in(void **state)
{
	struct sg_bo *other = sg_bo_create(65536, true);
	struct sg_bo *own = code_bo;

	(void)state;
	assert_non_null(other);
	config()->hostile = true;
	store_constant(PATCHED, 1);
	assert_int_equal(run_constant(PATCHED, 0xc3b1), 1);
	store_constant(PATCHED, 2);
	memcpy(other->host, own->host, 65536);
	sg_vm_unmap(vm, CODE_VA, own);
	sg_vm_map(vm, CODE_VA, 65536, other, 0, SG_VM_READ | SG_VM_EXEC);
	assert_int_equal(run_constant(PATCHED, 0xc3b0), 1); /* GLI_INV forgotten */
	assert_int_equal(run_constant(PATCHED, 0xc3b1), 2);
	sg_vm_unmap(vm, CODE_VA, other);
	sg_vm_map(vm, CODE_VA, 65536, own, 0, SG_VM_READ | SG_VM_EXEC);
	sg_bo_unref(other);
}

/* Data beside code, in the same BO, is data. */
static void
test_hostile_data_in_code(void **state)
{
	(void)state;
	load_shaders();
	config()->hostile = true;
	sg_vm_unmap(vm, CODE_VA, code_bo);
	sg_vm_map(vm, CODE_VA, 65536, code_bo, 0, SG_VM_READ | SG_VM_WRITE | SG_VM_EXEC);
	preamble(0);
	dispatch(STORE, CODE_VA + 0xe00, 0x1234);
	flush();
	acquire(0x380);
	dispatch(COPY, CODE_VA + 0xe00, DATA_VA + RESULT);
	run_ok();
	assert_int_equal(code[0xe00 / 4], 0x1234);
	assert_int_equal(data[RESULT / 4], 0x1234);
}

/* ---- jobs of one ring ---- */

/* The stream emitted last becomes the second of two; the next one emitted is the first. */
static unsigned second_dwords;

static void
make_second(void)
{
	memcpy(&ib[IB_DWORDS], ib, n * 4);
	second_dwords = n;
	n = 0;
}

/* Puts a gate in front of the first stream, so that the second is queued before the first can end. */
static void
run_both(struct result *first, struct result *second, bool (*cancelled)(struct sg_job *job))
{
	sg_ring_submit(job_create(first, IB_VA, n));
	struct sg_job *job = job_create(second, IB2_VA, second_dwords);
	job->cancelled = cancelled;
	sg_ring_submit(job);
	open_gate();
	result_wait(first);
	result_wait(second);
	n = 0;
	assert_true(first->done < second->done);
}

/* One stream writes, the next one reads; a wait may stand at the end of the one or at the start of the other. */
static void
test_hostile_jobs_overlap(void **state)
{
	struct result first, second;

	(void)state;
	load_shaders();
	config()->hostile = true;
	for (unsigned barrier = 0; barrier < 3; barrier++) {
		data[MIDDLE / 4] = 1;
		data[RESULT / 4] = 0;
		if (barrier == 1)
			flush();
		preamble(0);
		dispatch(COPY_GLC, DATA_VA + MIDDLE, DATA_VA + RESULT);
		make_second();
		gate();
		preamble(0);
		dispatch(STORE, DATA_VA + MIDDLE, 2);
		if (barrier == 2)
			flush();
		run_both(&first, &second, NULL);
		assert_int_equal(first.outcome, SG_JOB_DONE);
		assert_int_equal(second.outcome, SG_JOB_DONE);
		assert_int_equal(data[MIDDLE / 4], 2);
		assert_int_equal(data[RESULT / 4], barrier ? 2 : 1);
	}
	/* The second job's CP writes before the first job's shader reads. */
	data[MIDDLE / 4] = 1;
	write_data(DATA_VA + MIDDLE, 2);
	make_second();
	gate();
	preamble(0);
	dispatch(COPY_GLC, DATA_VA + MIDDLE, DATA_VA + RESULT);
	run_both(&first, &second, NULL);
	assert_int_equal(data[RESULT / 4], 2);
	/* A job is told to be done only after its own work: here the second waits for the first one's word. */
	data[WORD / 4] = data[RESULT / 4] = 0;
	PACKET(PM4_OP_WAIT_REG_MEM, 0x13, ADDRESS(DATA_VA + WORD), 1, 0xffffffff, 4);
	preamble(0);
	dispatch(COPY_GLC, DATA_VA + MIDDLE, DATA_VA + RESULT);
	make_second();
	gate();
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 3);
	release(0x528, DATA_VA + WORD, 1);
	run_both(&first, &second, NULL);
	assert_int_equal(second.outcome, SG_JOB_DONE);
	assert_int_equal(data[RESULT / 4], 3);
}

static bool first_failed;

static bool
after_failure(struct sg_job *job)
{
	(void)job;
	return __atomic_load_n(&first_failed, __ATOMIC_ACQUIRE);
}

static void
noting_failure(struct sg_job *job, enum sg_outcome outcome, const char *why)
{
	__atomic_store_n(&first_failed, outcome != SG_JOB_DONE, __ATOMIC_RELEASE);
	job_done(job, outcome, why);
}

/* A failure is that of the job it belongs to, wherever it is met. */
static void
test_hostile_overlap_failures(void **state)
{
	static const struct { enum shader first, second; bool bad_packet; enum sg_outcome outcomes[2]; } cases[] = {
		{ ILLEGAL, STORE, false, { SG_JOB_ILLEGAL, SG_JOB_DONE } },
		{ STORE, ILLEGAL, false, { SG_JOB_DONE, SG_JOB_ILLEGAL } },
		{ FOREVER, STORE, false, { SG_JOB_HANG, SG_JOB_DONE } },
		{ STORE, FOREVER, false, { SG_JOB_DONE, SG_JOB_HANG } },
		{ STORE, STORE, true, { SG_JOB_DONE, SG_JOB_ILLEGAL } },
		{ ILLEGAL, FOREVER, false, { SG_JOB_ILLEGAL, SG_JOB_HANG } },
	};
	struct result r[2];

	(void)state;
	load_shaders();
	config()->hostile = true;
	config()->lockup_ms = 40;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		data[MIDDLE / 4] = data[RESULT / 4] = 0;
		preamble(0);
		dispatch(cases[i].second, DATA_VA + RESULT, 2);
		if (cases[i].bad_packet)
			PACKET(0xf2, 0);
		make_second();
		gate();
		preamble(0);
		dispatch(cases[i].first, DATA_VA + MIDDLE, 1);
		run_both(&r[0], &r[1], NULL);
		for (unsigned k = 0; k < 2; k++) {
			if (r[k].outcome != cases[i].outcomes[k])
				print_error("case %zu, job %u: outcome %d, %s\n", i, k, r[k].outcome, r[k].why);
			assert_int_equal(r[k].outcome, cases[i].outcomes[k]);
			assert_int_equal(r[k].fence, r[k].outcome == SG_JOB_DONE ? 77 : 0);
		}
		assert_int_equal(data[MIDDLE / 4], r[0].outcome == SG_JOB_DONE ? 1 : 0);
		assert_int_equal(data[RESULT / 4], r[1].outcome == SG_JOB_DONE ? 2 : 0);
	}
	/* A reset for the first takes the second along, which had begun. */
	preamble(0);
	dispatch(STORE, DATA_VA + RESULT, 2);
	make_second();
	gate();
	preamble(0);
	dispatch(ILLEGAL, 0, 0);
	struct sg_job *first = job_create(&r[0], IB_VA, n), *second = job_create(&r[1], IB2_VA, second_dwords);
	first_failed = false;
	first->done = noting_failure;
	second->cancelled = after_failure;
	sg_ring_submit(first);
	sg_ring_submit(second);
	open_gate();
	result_wait(&r[0]);
	result_wait(&r[1]);
	assert_int_equal(r[0].outcome, SG_JOB_ILLEGAL);
	assert_int_equal(r[1].outcome, SG_JOB_SKIPPED);
	n = 0;
}

/* A change of the page tables between two jobs lets the pipeline drain, as the kernel's VM flush does. */
static void
test_hostile_no_overlap(void **state)
{
	struct sg_hw_stats before, now;
	struct result first, second;

	(void)state;
	load_shaders();
	config()->hostile = true;
	preamble(0);
	dispatch(COPY_GLC, DATA_VA + MIDDLE, DATA_VA + RESULT);
	make_second();
	gate();
	preamble(0);
	dispatch(STORE, DATA_VA + MIDDLE, 2);
	data[MIDDLE / 4] = 1;
	sg_hw_stats(&before);
	sg_ring_submit(job_create(&first, IB_VA, n));
	/* the first one has its page table when its IB was fetched */
	do
		sg_hw_stats(&now);
	while (now.ibs == before.ibs);
	struct sg_bo *bo = sg_bo_create(4096, true);
	assert_int_equal(sg_vm_map(vm, 0x900000000ull, 4096, bo, 0, SG_VM_READ), 0);
	sg_ring_submit(job_create(&second, IB2_VA, second_dwords));
	open_gate();
	result_wait(&first);
	result_wait(&second);
	n = 0;
	assert_int_equal(data[RESULT / 4], 2);
	sg_ring_drain_all();
	sg_vm_drop_bo(vm, bo);
	sg_bo_unref(bo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hostile_read_after_write),
		TEST(test_hostile_shuffle),
		TEST(test_hostile_write_hazards),
		TEST(test_hostile_cp),
		TEST(test_hostile_range),
		TEST(test_hostile_own_writes),
		TEST(test_hostile_between_jobs),
		TEST(test_hostile_registers),
		TEST(test_hostile_poison),
		TEST(test_hostile_write_back),
		TEST(test_hostile_stale_input),
		TEST(test_hostile_sdma),
		TEST(test_hostile_eviction),
		TEST(test_hostile_code),
		TEST(test_hostile_code_moved_in),
		TEST(test_hostile_data_in_code),
		TEST(test_hostile_jobs_overlap),
		TEST(test_hostile_overlap_failures),
		TEST(test_hostile_no_overlap),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	sg_ring_stop_all();
	return failed;
}
