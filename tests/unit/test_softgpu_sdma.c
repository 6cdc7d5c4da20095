/* SPDX-License-Identifier: MIT */
/* SDMA packets of softgpu, beside the everyday ones that test_softgpu_pm4.c has. */
#include "unit/softgpu_pm4.h"

static const char *const profile_names[] = { "gfx1030", "gfx1100", "gfx1201" };

static void
test_operations(void **state)
{
	static const uint8_t known[] = { 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		config()->profile = sg_profile_find(profile_names[i]);
		config()->strict = false;
		config()->lockup_ms = 5;
		ip = SG_IP_SDMA;
		for (unsigned op = 0; op < 256; op++) {
			bool want = memchr(known, (int)op, sizeof(known)) != NULL;
			DWORDS(op, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
			struct result r = run();
			if (!strstr(r.why, "unknown operation") != want)
				print_error("%s: operation %u\n", profile_names[i], op);
			assert_int_equal(!strstr(r.why, "unknown operation"), want);
		}
	}
}

static void
test_copies(void **state)
{
	(void)state;
	ip = SG_IP_SDMA;
	for (unsigned i = 0; i < 64; i++)
		data[i] = i;
	/* broadcast */
	DWORDS(1 | 1 << 27, 15, 0, ADDRESS(DATA_VA + 4), ADDRESS(DATA_VA + 1024), ADDRESS(DATA_VA + 2048));
	/* overlapping, backwards flag set: as by memmove */
	DWORDS(1 | 1 << 25, 31, 0, ADDRESS(DATA_VA + 128), ADDRESS(DATA_VA + 136));
	/* any byte */
	DWORDS(1, 4, 0, ADDRESS(DATA_VA + 5), ADDRESS(DATA_VA + 3075));
	run_ok();
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(data[256 + i] == i + 1 && data[512 + i] == i + 1, 1);
	assert_int_equal(data[260] == 0 && data[516] == 0, 1);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(data[34 + i], 32 + i);
	assert_memory_equal((uint8_t *)data + 3075, (uint8_t *)data + 5, 5);
	assert_int_equal(((uint8_t *)data)[3074] == 0 && ((uint8_t *)data)[3080] == 0, 1);

	DWORDS(1 | 1 << 27, 15, 0, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 1024));
	run_fails(SG_JOB_ILLEGAL, "truncated: 9 dwords, 7 left");
	/* v7's description of compression is one more dword */
	config()->profile = sg_profile_find("gfx1201");
	DWORDS(1 | 1 << 19, 3, 0, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 1024), 0);
	DWORDS(5, ADDRESS(DATA_VA + 1024 + 4), 7);
	run_ok();
	assert_int_equal(data[256] == 0 && data[257] == 7, 1);
}

/* 3 x 2 x 2 elements of 4 bytes out of a box of 8 x 4 x 3 into one of 5 x 3 x 2 */
static void
test_sub_window(void **state)
{
	const uint32_t *box = &data[0];
	uint32_t *to = &data[256];

	(void)state;
	ip = SG_IP_SDMA;
	for (unsigned i = 0; i < 96; i++)
		data[i] = 1000 + i;
	DWORDS(1 | 4 << 8 | 2u << 29, ADDRESS(DATA_VA), 2 | 1 << 16, 1 | 7 << 13, 8 * 4 - 1,
	       ADDRESS(DATA_VA + 1024), 1 | 1 << 16, 0 | 4 << 13, 5 * 3 - 1, 2 | 1 << 16, 1);
	run_ok();
	for (unsigned z = 0; z < 2; z++)
		for (unsigned y = 0; y < 3; y++)
			for (unsigned x = 0; x < 5; x++) {
				bool inside = x >= 1 && x < 4 && y >= 1 && y < 3;
				uint32_t want = inside ? box[(z + 1) * 32 + y * 8 + x + 1] : 0;
				assert_int_equal(to[z * 15 + y * 5 + x], want);
			}
	DWORDS(1 | 4 << 8 | 2u << 29, ADDRESS(DATA_VA));
	DWORDS(0, 0);
	run_fails(SG_JOB_ILLEGAL, "truncated: 13 dwords, 5 left");
}

static void
test_fills(void **state)
{
	uint8_t *bytes = (uint8_t *)data;

	(void)state;
	ip = SG_IP_SDMA;
	DWORDS(11, ADDRESS(DATA_VA + 1), 0xab12, 2);			  /* bytes */
	DWORDS(11 | 1u << 30, ADDRESS(DATA_VA + 16), 0x11223344, 5);	  /* words */
	DWORDS(11 | 2u << 30, ADDRESS(DATA_VA + 32), 0x11223344, 7);	  /* dwords, the count less 1 */
	DWORDS(11 | 2u << 30, ADDRESS(DATA_VA + 48), 0x11223344, 4);	  /* and less 4 */
	data[64] = data[65] = data[66] = data[67] = data[68] = 7;
	DWORDS(11 | 1 << 8, 12, 2, ADDRESS(DATA_VA + 256), 4);		  /* two of four bytes, 12 apart */
	run_ok();
	assert_memory_equal(bytes, "\0\x12\x12\x12\0", 5);
	assert_memory_equal(bytes + 16, "\x44\x33\x44\x33\x44\x33\0\0", 8);
	assert_int_equal(data[8] == 0x11223344 && data[9] == 0x11223344 && data[10] == 0, 1);
	assert_int_equal(data[12] == 0x11223344 && data[13] == 0x11223344 && data[14] == 0, 1);
	assert_int_equal(data[64] == 0 && data[65] == 7 && data[66] == 7 && data[67] == 0 && data[68] == 7, 1);
}

static void
test_conditions(void **state)
{
	(void)state;
	ip = SG_IP_SDMA;
	data[0] = 5;
	DWORDS(15 | 2 << 16, 4);	/* PRE_EXE for another device */
	DWORDS(5, ADDRESS(DATA_VA + 16), 1);
	DWORDS(15 | 1 << 16, 4);
	DWORDS(5, ADDRESS(DATA_VA + 20), 1);
	DWORDS(9, ADDRESS(DATA_VA), 5, 4); /* COND_EXE: equal */
	DWORDS(5, ADDRESS(DATA_VA + 24), 1);
	DWORDS(8u | 1u << 28 | 1u << 31, ADDRESS(DATA_VA), 6, 0xff, 0x0fff0004); /* POLL_REGMEM < */
	DWORDS(8u | 3u << 28 | 1 << 26, 0x100, 0, 4, 4, 0);		  /* HDP flush handshake */
	DWORDS(10u | 8u << 25 | 1 << 16, ADDRESS(DATA_VA), 9, 0, 5, 0, 0); /* ATOMIC compare and swap, loop */
	DWORDS(17 | 1 << 8, 0, 0, 0, 0);				  /* GCR_REQ of user streams */
	DWORDS(15 | 2 << 16, 400);					  /* skips no further than the end */
	run_ok();
	assert_int_equal(data[4] == 0 && data[5] == 1 && data[6] == 1 && data[0] == 9, 1);
	DWORDS(7 | 1u << 30, ADDRESS(DATA_VA + 40)); /* SEMAPHORE: signals twice, takes one */
	DWORDS(7 | 1u << 30, ADDRESS(DATA_VA + 40));
	DWORDS(7, ADDRESS(DATA_VA + 40));
	DWORDS(7 | 3u << 29, ADDRESS(DATA_VA + 48));
	run_ok();
	assert_int_equal(data[10] == 1 && data[12] == 1, 1);
	config()->lockup_ms = 20;
	DWORDS(7, ADDRESS(DATA_VA + 56));
	run_fails(SG_JOB_HANG, "SEMAPHORE on sdma ring 0");
	DWORDS(10u | 8u << 25 | 1 << 16, ADDRESS(DATA_VA), 9, 0, 5, 0, 0);
	run_fails(SG_JOB_HANG, "ATOMIC on sdma ring 0");
}

static void
test_refusals(void **state)
{
	static const struct { uint32_t header; const char *says; } bad[] = {
		{ 1 | 1 << 8, "sub-operation 1 (tiled) is not implemented" },
		{ 1 | 5 << 8, "(tiled sub-window)" }, { 1 | 6 << 8, "(tiled to tiled)" },
		{ 1 | 3 << 8, "(structures to arrays)" }, { 1 | 8 << 8, "(physical addresses, the kernel's)" },
		{ 1 | 40 << 8, "sub-operation 40 (unknown)" }, { 2 | 1 << 8, "(tiled)" },
		{ 5 | 3 << 8, "(of user queues)" }, { 8 | 2 << 8, "POLL_REGMEM on sdma ring 0" },
		{ 13, "setting the clock is privileged" }, { 13 | 3 << 8, "sub-operation 3" },
		{ 4, "only the kernel" }, { 12, "PTEPDE on sdma ring 0" }, { 14, "SRBM_WRITE on sdma ring 0" },
		{ 16, "GPUVM_INV on sdma ring 0" },
	};

	(void)state;
	ip = SG_IP_SDMA;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		DWORDS(bad[i].header, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		run_fails(SG_JOB_ILLEGAL, bad[i].says);
	}
	DWORDS(5, ADDRESS(NOWHERE_VA), 1);
	run_fails(SG_JOB_FAULT, "FENCE on sdma ring 0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_operations), TEST(test_copies), TEST(test_sub_window), TEST(test_fills), TEST(test_conditions),
		TEST(test_refusals),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	sg_ring_stop_all();
	return failed;
}
