/* SPDX-License-Identifier: MIT */
/* test_isa_hotpath.c: a shader core allocates nothing and takes no lock while instructions run: once a program has been
 * decoded, a dispatch makes as many such calls with 10,000 turns of its loop as with one, none. The linker's --wrap
 * (test_isa_hotpath.flags) counts them.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/core.h"

#define CODE_VA 0x10000ull
#define DATA_VA 0x20000ull

static unsigned calls;

#define WRAP(type, name, parameters, arguments)                                                                        \
	type __real_##name parameters;                                                                                 \
	type __wrap_##name parameters;                                                                                 \
	type __wrap_##name parameters                                                                                  \
	{                                                                                                              \
		calls++;                                                                                               \
		return __real_##name arguments;                                                                        \
	}
WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n))
WRAP(void, free, (void *p), (p))
WRAP(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))

static uint32_t code[32], data[256];

static bool
lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	(void)mem;
	if (va - CODE_VA < sizeof(code))
		*out = (struct sg_span){ CODE_VA, sizeof(code), (uint8_t *)code, SG_ACCESS_READ | SG_ACCESS_EXEC };
	else if (va - DATA_VA < sizeof(data))
		*out = (struct sg_span){ DATA_VA, sizeof(data), (uint8_t *)data, SG_ACCESS_READ | SG_ACCESS_WRITE };
	else
		return false;
	return true;
}

static bool
fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	(void)mem, (void)va, (void)access, (void)pc;
	return true;
}

/* RDNA3; s0: turns, s[2:3]: the data */
static const uint32_t program[] = {
	0x30040082,		/* v_lshlrev_b32_e32 v2, 2, v0 */
	0x4a020101,		/* loop: v_add_nc_u32_e32 v1, v1, v0 */
	0x10080903,		/* v_mul_f32_e32 v4, v3, v4 */
	0xd8340000, 0x00000102,	/* ds_store_b32 v2, v1 */
	0xd8d80000, 0x03000002,	/* ds_load_b32 v3, v2 */
	0xdc520000, 0x05020002,	/* global_load_b32 v5, v2, s[2:3] */
	0xdc6a0000, 0x00020502,	/* global_store_b32 v2, v5, s[2:3] */
	0xf4000181, 0xf8000000,	/* s_load_b32 s6, s[2:3], 0x0 */
	0x7c980500,		/* v_cmp_gt_u32_e32 vcc_lo, v0, v2 */
	0x8100c100,		/* s_add_i32 s0, s0, -1 */
	0xbf078000,		/* s_cmp_lg_u32 s0, 0 */
	0xbfa2fff0,		/* s_cbranch_scc1 loop */
	0xbfb00000,		/* s_endpgm */
};

/* Calls made by a dispatch with so many turns. */
static unsigned
run(struct sg_core *core, uint32_t turns, uint64_t *instructions)
{
	static const struct sg_mem_ops ops = { .lookup = lookup, .fault = fault };
	struct sg_mem mem = { .ops = &ops };
	struct sg_dispatch d = {
		.arch = SG_ARCH_RDNA3, .wave32 = true, .pc = CODE_VA, .rsrc1 = 3 | 0xf0u << 12, .rsrc2 = 4 << 1 | 1 << 15,
		.user_data = { turns, 0, (uint32_t)DATA_VA, 0 },
		.threads = { 32, 1, 1 }, .partial = { 32, 1, 1 }, .groups = { 1, 1, 1 },
	};
	uint64_t before = sg_core_stats(core)->instructions;
	struct sg_stop stop;

	calls = 0;
	enum sg_stop_reason reason = sg_core_run(core, &d, &mem, 0, 1, &stop);
	unsigned made = calls;
	if (reason != SG_STOP_NONE)
		fail_msg("stopped: %s", stop.text);
	*instructions = sg_core_stats(core)->instructions - before;
	return made;
}

static void
no_allocation_and_no_lock_per_instruction(void **state)
{
	uint64_t few, many;

	(void)state;
	for (unsigned level = 0; level < SG_SIMD_COUNT; level++) {
		struct sg_core *core = sg_core_create();
		assert_non_null(core);
		sg_simd_limit(level);
		assert_true(run(core, 1, &few) > 0); /* decodes: the counting works */
		assert_int_equal(run(core, 1, &few), 0);
		assert_int_equal(run(core, 10000, &many), 0);
		assert_int_equal(many - few, 9999 * (few - 2));
		sg_core_destroy(core);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_allocation_and_no_lock_per_instruction) };

	memcpy(code, program, sizeof(program));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
