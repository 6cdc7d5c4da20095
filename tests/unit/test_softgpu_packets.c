/* SPDX-License-Identifier: MIT */
/*
 * Which packet is legal where, on every profile, and the packets that test_softgpu_pm4.c, which has the everyday ones,
 * leaves out.
 */
#include "unit/softgpu_pm4.h"

static const char *const profile_names[] = { "gfx1030", "gfx1100", "gfx1201" };

/* ---- legality ---- */

/* Generation times ten from which an opcode is legal and until which (0: still), by ring. Written down from AMD's
 * opcode lists and packet headers (PAL) and Linux's, apart from the device's own table. */
struct legal { uint8_t op, gfx, gfx_until, compute, compute_until; };
static const struct legal legal[] = {
	{ 0x10, 90, 0, 90, 0 }, { 0x11, 90, 0, 120, 0 }, { 0x12, 90, 0, 0, 0 }, { 0x13, 90, 0, 0, 0 },
	{ 0x15, 90, 0, 90, 0 }, { 0x16, 90, 0, 90, 0 }, { 0x1d, 90, 119, 90, 119 }, { 0x1e, 90, 0, 90, 0 },
	{ 0x1f, 90, 0, 0, 0 }, { 0x20, 90, 0, 0, 0 }, { 0x21, 90, 0, 0, 0 }, { 0x22, 90, 0, 90, 0 },
	{ 0x23, 90, 0, 94, 94 }, { 0x24, 90, 0, 0, 0 }, { 0x25, 90, 0, 0, 0 }, { 0x26, 90, 0, 0, 0 },
	{ 0x27, 90, 0, 0, 0 }, { 0x28, 90, 0, 0, 0 }, { 0x2a, 90, 0, 0, 0 }, { 0x2c, 90, 0, 0, 0 },
	{ 0x2d, 90, 0, 0, 0 }, { 0x2f, 90, 0, 0, 0 }, { 0x30, 90, 0, 0, 0 }, { 0x34, 90, 0, 0, 0 },
	{ 0x35, 90, 0, 0, 0 }, { 0x36, 90, 0, 0, 0 }, { 0x37, 90, 0, 90, 0 }, { 0x38, 90, 0, 0, 0 },
	{ 0x39, 90, 109, 90, 109 }, { 0x3c, 90, 0, 90, 0 }, { 0x3d, 110, 0, 110, 0 }, { 0x3f, 90, 0, 90, 0 },
	{ 0x40, 90, 0, 90, 0 }, { 0x42, 90, 0, 0, 0 }, { 0x45, 90, 0, 90, 0 }, { 0x46, 90, 0, 90, 0 },
	{ 0x49, 90, 0, 90, 0 }, { 0x4a, 90, 0, 0, 0 }, { 0x4c, 100, 0, 0, 0 }, { 0x4d, 100, 0, 0, 0 },
	{ 0x4e, 110, 0, 0, 0 }, { 0x50, 90, 0, 90, 0 }, { 0x51, 90, 0, 0, 0 }, { 0x54, 90, 0, 90, 0 },
	{ 0x58, 90, 0, 90, 0 }, { 0x59, 90, 0, 90, 0 }, { 0x5d, 90, 0, 90, 0 }, { 0x5e, 90, 0, 0, 0 },
	{ 0x5f, 90, 0, 0, 0 }, { 0x61, 90, 0, 0, 0 }, { 0x63, 90, 0, 103, 0 }, { 0x64, 100, 0, 0, 0 },
	{ 0x68, 90, 0, 90, 0 }, { 0x69, 90, 0, 0, 0 }, { 0x6a, 90, 0, 0, 0 }, { 0x76, 90, 0, 90, 0 },
	{ 0x77, 90, 0, 0, 0 }, { 0x78, 0, 0, 90, 0 }, { 0x79, 90, 0, 90, 0 }, { 0x7a, 90, 0, 0, 0 },
	{ 0x80, 90, 109, 0, 0 }, { 0x81, 90, 109, 0, 0 }, { 0x83, 90, 109, 0, 0 }, { 0x84, 90, 109, 0, 0 },
	{ 0x85, 90, 109, 0, 0 }, { 0x86, 90, 109, 0, 0 }, { 0x88, 90, 109, 0, 0 }, { 0x89, 90, 109, 0, 0 },
	{ 0x8b, 90, 0, 0, 0 }, { 0x90, 90, 0, 0, 0 }, { 0x91, 90, 0, 0, 0 }, { 0x92, 103, 0, 0, 0 },
	{ 0x93, 90, 0, 90, 0 }, { 0x95, 90, 0, 90, 0 }, { 0x98, 90, 0, 90, 0 }, { 0x99, 0, 0, 90, 102 },
	{ 0x9a, 90, 0, 90, 0 }, { 0x9b, 90, 0, 90, 0 }, { 0x9f, 90, 0, 0, 0 }, { 0xa0, 0, 0, 90, 0 },
	{ 0xa1, 0, 0, 90, 0 }, { 0xa2, 0, 0, 90, 0 }, { 0xa3, 0, 0, 90, 0 }, { 0xa4, 0, 0, 90, 0 },
	{ 0xa5, 0, 0, 90, 0 }, { 0xa7, 120, 0, 0, 0 }, { 0xa8, 120, 0, 0, 0 }, { 0xa9, 100, 0, 100, 0 },
	{ 0xaa, 0, 0, 100, 0 }, { 0xad, 0, 0, 100, 0 }, { 0xae, 90, 0, 0, 0 }, { 0xb1, 110, 0, 0, 0 },
	{ 0xb2, 110, 0, 110, 0 }, { 0xb4, 110, 0, 120, 0 }, { 0xb8, 110, 0, 0, 0 }, { 0xb9, 110, 0, 0, 0 },
	{ 0xba, 110, 0, 120, 0 }, { 0xbb, 110, 119, 110, 119 }, { 0xbc, 120, 0, 120, 0 }, { 0xbd, 110, 0, 110, 0 },
	{ 0xbe, 120, 0, 120, 0 }, { 0xd0, 110, 0, 110, 0 }, { 0xd1, 110, 0, 110, 0 }, { 0xd2, 90, 0, 90, 0 },
	{ 0xf0, 110, 0, 110, 0 }, { 0xff, 0, 0, 103, 0 },
};

static bool
is_legal(unsigned op, bool gfx, unsigned gen)
{
	for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++) {
		unsigned since = gfx ? legal[i].gfx : legal[i].compute;
		unsigned until = gfx ? legal[i].gfx_until : legal[i].compute_until;
		if (legal[i].op == op)
			return since && gen >= since && (!until || gen <= until);
	}
	return false;
}

/* 14 dwords suffice all; the first keeps REWIND from waiting. What a legal packet says of its fields does not matter. */
static bool
opcode_accepted(unsigned op)
{
	struct result r;

	PACKET(op, 1u << 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	r = run();
	return !strstr(r.why, "unknown opcode") && !strstr(r.why, "is not legal on this ring");
}

static void
test_legality(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		config()->profile = sg_profile_find(profile_names[i]);
		config()->strict = false;
		for (unsigned ring = 0; ring < 2; ring++) {
			ip = ring ? SG_IP_COMPUTE : SG_IP_GFX;
			for (unsigned op = 0; op < 256; op++) {
				bool want = is_legal(op, ip == SG_IP_GFX, sg_config()->profile->gen);
				if (opcode_accepted(op) == want)
					continue;
				print_error("%s, ring %u: opcode 0x%02x should be %s\n", profile_names[i], ip, op,
					    want ? "legal" : "illegal");
				wrong++;
			}
		}
	}
	assert_int_equal(wrong, 0);
}

/* ---- data ---- */

static void
test_atomics(void **state)
{
	/* code, before, source, compare, after; 32 bits, then 64 */
	static const struct { uint32_t op; uint64_t old, src, cmp, want; } rows[] = {
		{ 7, 5, 9, 0, 9 }, { 8, 5, 9, 5, 9 }, { 8, 5, 9, 6, 5 }, { 15, 5, 0xffffffff, 0, 4 }, { 16, 5, 6, 0, 0xffffffff },
		{ 17, 0xffffffff, 4, 0, 0xffffffff }, { 18, 0xffffffff, 4, 0, 4 }, { 19, 0xffffffff, 4, 0, 4 },
		{ 20, 0xffffffff, 4, 0, 0xffffffff }, { 21, 6, 3, 0, 2 }, { 22, 6, 3, 0, 7 }, { 23, 6, 3, 0, 5 },
		{ 24, 5, 5, 0, 0 }, { 24, 4, 5, 0, 5 }, { 25, 0, 5, 0, 5 }, { 25, 9, 5, 0, 5 }, { 25, 3, 5, 0, 2 },
		{ 1, 0x3f800000, 7, 0x3f800000, 7 }, { 1, 0x80000000, 7, 0, 7 }, { 1, 0x7fc00000, 7, 0x7fc00000, 0x7fc00000 },
		{ 2, 0x40000000, 0xbf800000, 0, 0xbf800000 }, { 3, 0x40000000, 0xbf800000, 0, 0x40000000 },
		{ 2, 1, 0, 0, 0 }, { 10, 1, 0x80000000, 0, 1 }, /* a denormal counts as 0 */
		{ 71, 5, 9, 0, 9 }, { 79, 5, 9, 0, 14 },
		{ 39, 1ull << 40, 3, 0, 3 }, { 47, 0xffffffff, 1, 0, 1ull << 32 },
		{ 49, 1ull << 63, 1, 0, 1ull << 63 }, { 50, 1ull << 63, 1, 0, 1 },
		{ 34, 0x4000000000000000, 0xbff0000000000000, 0, 0xbff0000000000000 },
		{ 111, 1ull << 33, 1, 0, (1ull << 33) + 1 }, { 104, 5, 1ull << 50, 5, 1ull << 50 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(&data[4 * i], &rows[i].old, 8);
		PACKET(PM4_OP_ATOMIC_MEM, rows[i].op, ADDRESS(DATA_VA + 16 * i), ADDRESS(rows[i].src), ADDRESS(rows[i].cmp), 0);
		PACKET(PM4_OP_COPY_DATA, 0x00110506, 0, 0, ADDRESS(DATA_VA + 16 * i + 8)); /* what it returned */
	}
	run_ok();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t now, returned;
		memcpy(&now, &data[4 * i], 8);
		memcpy(&returned, &data[4 * i + 2], 8);
		if (now != rows[i].want || returned != rows[i].old)
			print_error("row %zu, operation %u: 0x%llx\n", i, rows[i].op, (unsigned long long)now);
		assert_true(now == rows[i].want && returned == rows[i].old);
	}
	/* a loop ends when another engine has made it true */
	config()->lockup_ms = 20;
	PACKET(PM4_OP_ATOMIC_MEM, 8 | 1 << 8, ADDRESS(DATA_VA), 1, 0, 0x777, 0, 0);
	run_fails(SG_JOB_HANG, "ATOMIC_MEM");
}

static void
test_copy_data_forms(void **state)
{
	(void)state;
	data[0] = 1;
	data[1] = 2;
	PACKET(PM4_OP_COPY_DATA, 0x00110505, 0x33, 0x44, ADDRESS(DATA_VA + 8));		/* immediate, 64 bits */
	PACKET(PM4_OP_COPY_DATA, 0x00110002, ADDRESS(DATA_VA), PM4_SH_BASE + 0x240, 0);	/* L2 to two registers */
	PACKET(PM4_OP_COPY_DATA, 0x00010200, PM4_SH_BASE + 0x240, 0, ADDRESS(DATA_VA + 16)); /* and to L2 */
	PACKET(PM4_OP_COPY_DATA, 0x00000405, 0x99, 0, 0x2345, 0);				/* the way of perf registers */
	PACKET(PM4_OP_COPY_DATA, 0x00000504, 0x2345, 0, ADDRESS(DATA_VA + 24));
	PACKET(PM4_OP_COPY_DATA, 0x00110503, 0, 0, ADDRESS(DATA_VA + 32));			/* GDS: no part of it */
	PACKET(PM4_OP_COPY_DATA, 0x0011050a, 0, 0, ADDRESS(DATA_VA + 40));			/* system clock */
	data[8] = data[9] = 7;
	run_ok();
	assert_int_equal(data[2] == 0x33 && data[3] == 0x44 && data[4] == 1 && data[5] == 2, 1);
	assert_int_equal(data[6], 0x99);
	assert_int_equal(data[8] == 0 && data[9] == 0, 1);
	assert_true(data[10] != 0);
	PACKET(PM4_OP_COPY_DATA, 0x00000005, 0x99, 0, 0x2345, 0);
	run_fails(SG_JOB_ILLEGAL, "register 0x2345 is privileged");
	PACKET(PM4_OP_COPY_DATA, 0x00000405, 0x99, 0, 0x100, 0);
	run_fails(SG_JOB_ILLEGAL, "register 0x100 is privileged");
	PACKET(PM4_OP_COPY_DATA, 0x0000050c, 0, 0, ADDRESS(DATA_VA));
	run_fails(SG_JOB_ILLEGAL, "source 12 does not exist");
	PACKET(PM4_OP_COPY_DATA, 0x00000701, ADDRESS(DATA_VA), ADDRESS(DATA_VA));
	run_fails(SG_JOB_ILLEGAL, "destination 7 does not exist");
}

static void
test_dma_data_forms(void **state)
{
	(void)state;
	data[0] = 0xa;
	data[1] = 0xb;
	data[2] = 0xc;
	PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 64), 1u << 29 | 12);	/* DAIC: the last */
	PACKET(PM4_OP_DMA_DATA, 0x60300000, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 128), 1u << 28 | 12);	/* SAIC: the first */
	PACKET(PM4_OP_DMA_DATA, 0x40300000, 0x77, 0, ADDRESS(DATA_VA + 192), 1u << 29 | 12);	/* DAIC of a fill */
	PACKET(PM4_OP_DMA_DATA, 0x40000000, 0x78, 0, ADDRESS(DATA_VA + 256), 8);		/* by address */
	PACKET(PM4_OP_DMA_DATA, 0x20300000, 0, 0, ADDRESS(DATA_VA + 320), 8);			/* from GDS */
	PACKET(PM4_OP_DMA_DATA, 0x40100000, 0x79, 0, 0, 0, 8);					/* to GDS */
	data[80] = 5;
	run_ok();
	assert_int_equal(data[16] == 0xc && data[17] == 0, 1);
	assert_int_equal(data[32] == 0xa && data[33] == 0xa && data[34] == 0xa, 1);
	assert_int_equal(data[48] == 0x77 && data[49] == 0, 1);
	assert_int_equal(data[64] == 0x78 && data[65] == 0x78 && data[66] == 0, 1);
	assert_int_equal(data[80], 0);
}

static void
test_gds(void **state)
{
	(void)state;
	data[0] = data[1] = data[2] = 9;
	PACKET(PM4_OP_WRITE_DATA, 0x00100300, 0, 0, 1);
	PACKET(PM4_OP_ATOMIC_GDS, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	PACKET(PM4_OP_COPY_DATA, 0x00100507, 0, 0, ADDRESS(DATA_VA));
	PACKET(PM4_OP_RELEASE_MEM, 0x528, 5u << 29, ADDRESS(DATA_VA + 4), 1 << 16, 0, 0);
	run_ok();
	assert_int_equal(data[0] == 0 && data[1] == 0 && data[2] == 9, 1);
	load_shaders();
	dispatch(END, 0, 0);
	ib[n - 1] |= 1 << 3;
	run_fails(SG_JOB_ILLEGAL, "ordered append");
	dispatch(END, 0, 0);
	ib[n - 1] |= 1 << 14;
	run_fails(SG_JOB_ILLEGAL, "RESTORE");
}

/* ---- registers ---- */

static void
test_load_and_modify(void **state)
{
	(void)state;
	ip = SG_IP_GFX;
	memcpy(&data[16], (uint32_t[]){ 11, 12, 13, 14 }, 16);
	memcpy(&data[32], (uint32_t[]){ 0x248, 21, 0x24a, 22 }, 16);
	PACKET(PM4_OP_LOAD_SH_REG, ADDRESS(DATA_VA + 64 - 0x240 * 4), 0x240, 2); /* register n stands at base + 4 n */
	PACKET(PM4_OP_SET_BASE, 4, ADDRESS(DATA_VA));
	PACKET(PM4_OP_LOAD_SH_REG_INDEX, 1, 72, 0x242, 2);		 /* offset from SET_BASE 4 */
	PACKET(PM4_OP_LOAD_SH_REG_INDEX, ADDRESS(DATA_VA + 128), 1u << 31, 2); /* pairs */
	PACKET(PM4_OP_LOAD_CONTEXT_REG_INDEX, ADDRESS(DATA_VA + 64), 0x10, 1);
	PACKET(PM4_OP_LOAD_UCONFIG_REG_INDEX, ADDRESS(DATA_VA + 64), 0x7b, 1);
	PACKET(PM4_OP_CONTEXT_REG_RMW, 0x10, 0xf0, 0xff);
	PACKET(PM4_OP_REG_RMW, PM4_SH_BASE + 0x240, 0xfffffffe, 0x100);
	PACKET(PM4_OP_REG_RMW, 3u << 30 | (PM4_SH_BASE + 0x241), PM4_SH_BASE + 0x242, PM4_SH_BASE + 0x243);
	static const uint32_t regs[] = { PM4_SH_BASE + 0x240, PM4_SH_BASE + 0x241, PM4_SH_BASE + 0x242, PM4_SH_BASE + 0x243,
					 PM4_SH_BASE + 0x248, PM4_SH_BASE + 0x24a, PM4_CONTEXT_BASE + 0x10,
					 PM4_UCONFIG_BASE + 0x7b };
	static const uint32_t want[] = { 10 | 0x100, (12 & 13) | 14, 13, 14, 21, 22, 11 | 0xf0, 11 };
	for (unsigned i = 0; i < 8; i++)
		PACKET(PM4_OP_COPY_DATA, 0x00100500, regs[i], 0, ADDRESS(DATA_VA + 1024 + 4 * i));
	PACKET(PM4_OP_CLEAR_STATE, 0);
	PACKET(PM4_OP_COPY_DATA, 0x00100500, regs[6], 0, ADDRESS(DATA_VA + 1024 + 32));
	data[264] = 5;
	run_ok();
	assert_memory_equal(&data[256], want, sizeof(want));
	assert_int_equal(data[264], 0);
	PACKET(PM4_OP_SET_SH_REG_OFFSET, 0x240, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "SET_SH_REG_OFFSET on gfx ring 0");
	/* type 0: registers by number */
	emit(1u << 16 | (PM4_SH_BASE + 0x240));
	emit(31);
	emit(32);
	PACKET(PM4_OP_COPY_DATA, 0x00110500, PM4_SH_BASE + 0x240, 0, ADDRESS(DATA_VA));
	run_ok();
	assert_int_equal(data[0] == 31 && data[1] == 32, 1);
	emit(0);
	emit(0);
	run_fails(SG_JOB_ILLEGAL, "register 0x0 is privileged");
}

static void
test_packed_pairs(void **state)
{
	uint32_t body[1 + 24] = { 16 };

	(void)state;
	for (unsigned i = 0; i < 24; i++)
		body[1 + i] = 0x240 | 0x241u << 16;
	packet(PM4_OP_SET_SH_REG_PAIRS_PACKED, body, 25);
	run_ok();
	packet(PM4_OP_SET_SH_REG_PAIRS_PACKED_N, body, 25);
	run_fails(SG_JOB_ILLEGAL, "16 registers, at most 14 fit");
	PACKET(PM4_OP_SET_SH_REG_PAIRS_PACKED, 3, 0x240 | 0x241u << 16, 1, 2, 0x242, 3, 4);
	run_fails(SG_JOB_ILLEGAL, "3 registers do not fit");
	config()->profile = sg_profile_find("gfx1201");
	PACKET(PM4_OP_SET_SH_REG_PAIRS, 0x242, 43, 0x240, 41);
	PACKET(PM4_OP_SET_SH_REG_PAIRS_PACKED_GFX12, 2, 0x241 | 0x243u << 16, 42, 44);
	PACKET(PM4_OP_SET_UCONFIG_REG_PAIRS, 0x7b, 45);
	for (unsigned i = 0; i < 4; i++)
		PACKET(PM4_OP_COPY_DATA, 0x00100500, PM4_SH_BASE + 0x240 + i, 0, ADDRESS(DATA_VA + 4 * i));
	PACKET(PM4_OP_COPY_DATA, 0x00100500, PM4_UCONFIG_BASE + 0x7b, 0, ADDRESS(DATA_VA + 16));
	run_ok();
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(data[i], 41 + i);
}

/* ---- waits and conditions ---- */

static void
test_wait_functions(void **state)
{
	/* function, value, holds against 5 */
	static const struct { uint32_t function, value; bool holds; } rows[] = {
		{ 0, 9, true }, { 1, 4, true }, { 1, 5, false }, { 2, 5, true }, { 2, 6, false }, { 3, 5, true },
		{ 3, 6, false }, { 4, 6, true }, { 4, 5, false }, { 5, 5, true }, { 5, 4, false }, { 6, 6, true },
		{ 6, 5, false }, { 6, 0x80000000, true }, /* unsigned */
	};

	(void)state;
	config()->lockup_ms = 8;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned form = 0; form < 6; form++) {
			uint32_t f = rows[i].function, v = rows[i].value;
			data[0] = v;
			data[1] = 0;
			set_sh(0x240, v);
			if (form == 0)
				PACKET(PM4_OP_WAIT_REG_MEM, 0x10 | f, ADDRESS(DATA_VA), 5, 0xffffffff, 4);
			else if (form == 1)
				PACKET(PM4_OP_WAIT_REG_MEM64, 0x10 | f, ADDRESS(DATA_VA), 5, 0, 0xffffffff, 0xffffffff, 4);
			else if (form == 2)
				PACKET(PM4_OP_WAIT_REG_MEM, f, PM4_SH_BASE + 0x240, 0, 5, 0xffffffff, 4);
			else if (form == 3) /* preemptible */
				PACKET(PM4_OP_WAIT_REG_MEM, 0xd0 | f, ADDRESS(DATA_VA), 5, 0xffffffff, 4);
			if (form < 4) {
				struct result r = run();
				assert_int_equal(r.outcome, rows[i].holds ? SG_JOB_DONE : SG_JOB_HANG);
				continue;
			}
			/* The same comparison decides COND_WRITE and COND_INDIRECT_BUFFER. */
			data[2] = 0;
			memcpy(&ib[IB_DWORDS], (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500,
			       ADDRESS(DATA_VA + 8), 1 }, 20);
			if (form == 4)
				PACKET(PM4_OP_COND_WRITE, 0x110 | f, ADDRESS(DATA_VA), 5, 0xffffffff, ADDRESS(DATA_VA + 8), 1);
			else
				PACKET(PM4_OP_INDIRECT_BUFFER, 1 | f << 8, ADDRESS(DATA_VA), 0xffffffff, 0xffffffff, 5, 0,
				       ADDRESS(IB2_VA), 5, 0, 0, 0);
			run_ok();
			assert_int_equal(data[2], rows[i].holds);
		}
	}
	PACKET(PM4_OP_WAIT_REG_MEM, 0x23, ADDRESS(DATA_VA), 5, 0xffffffff, 4);
	run_fails(SG_JOB_ILLEGAL, "memory space 2");
	PACKET(PM4_OP_WAIT_REG_MEM, 3, PM4_SH_BASE + 0x240, 0, 0x1234, 0xffffffff, 4);
	run_fails(SG_JOB_HANG, "in register 0x2e40");
}

static void
test_cond_indirect_buffer(void **state)
{
	(void)state;
	memcpy(&ib[IB_DWORDS], (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500, ADDRESS(DATA_VA + 16), 1 }, 20);
	memcpy(&ib[IB_DWORDS + 64], (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500, ADDRESS(DATA_VA + 20), 1 }, 20);
	for (unsigned pass = 0; pass < 2; pass++) {
		data[0] = 0xff00 | (pass ? 7 : 8);
		data[4] = data[5] = data[6] = 0;
		PACKET(PM4_OP_INDIRECT_BUFFER, 2 | 3 << 8, ADDRESS(DATA_VA), 0xff, 0, 7, 0, ADDRESS(IB2_VA), 5,
		       ADDRESS(IB2_VA + 256), 5);
		write_data(DATA_VA + 24, 1); /* neither comes back */
		run_ok();
		assert_int_equal(data[4], pass);
		assert_int_equal(data[5], !pass);
		assert_int_equal(data[6], 0);
	}
	/* without an else the stream goes on */
	PACKET(PM4_OP_INDIRECT_BUFFER, 1 | 3 << 8, ADDRESS(DATA_VA), 0xff, 0, 99, 0, ADDRESS(IB2_VA), 5, 0, 0, 0);
	write_data(DATA_VA + 24, 3);
	run_ok();
	assert_int_equal(data[6], 3);
	PACKET(PM4_OP_INDIRECT_BUFFER, 3, ADDRESS(DATA_VA), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "mode 3 does not exist");
	PACKET(PM4_OP_INDIRECT_BUFFER, 1, ADDRESS(DATA_VA), 0);
	run_fails(SG_JOB_ILLEGAL, "body of 4 dwords, COND_INDIRECT_BUFFER has 13");
}

static void
test_ib_levels(void **state)
{
	(void)state;
	ip = SG_IP_GFX;
	/* IB -> IB2, which chains on at its own level and then comes back */
	uint32_t *second = &ib[IB_DWORDS], *third = &ib[IB_DWORDS + 64];
	memcpy(second, (uint32_t[]){ pm4_header(PM4_OP_INDIRECT_BUFFER, 3), ADDRESS(IB2_VA + 256), 5 | 1 << 20 }, 16);
	memcpy(third, (uint32_t[]){ pm4_header(PM4_OP_WRITE_DATA, 4), 0x00100500, ADDRESS(DATA_VA), 1 }, 20);
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 4);
	write_data(DATA_VA + 4, 2);
	run_ok();
	assert_int_equal(data[0] == 1 && data[1] == 2, 1);
	/* a third level does not exist */
	second[3] = 5;
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 4);
	run_fails(SG_JOB_ILLEGAL, "there are only two levels");
	/* a call of nothing */
	PACKET(PM4_OP_INDIRECT_BUFFER, ADDRESS(IB2_VA), 0);
	write_data(DATA_VA + 4, 3);
	run_ok();
	assert_int_equal(data[1], 3);
}

static void
test_semaphores(void **state)
{
	(void)state;
	config()->profile = sg_profile_find("gfx1030");
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 6u << 29);
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 6u << 29);
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 7u << 29);
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA + 8), 6u << 29 | 1 << 20);
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA + 8), 6u << 29 | 1 << 20);
	run_ok();
	assert_int_equal(data[0] == 1 && data[1] == 0 && data[2] == 1, 1);
	config()->lockup_ms = 20;
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 7u << 29);
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 7u << 29); /* there was but one */
	run_fails(SG_JOB_HANG, "MEM_SEMAPHORE");
	PACKET(PM4_OP_MEM_SEMAPHORE, ADDRESS(DATA_VA), 5u << 29);
	run_fails(SG_JOB_ILLEGAL, "semaphore operation 5");
}

/* ---- the gfx ring ---- */

/* Runs a WRITE_DATA with the header's predicate bit. */
static void
predicated(uint32_t ctl, uint64_t va, bool runs)
{
	data[0] = 0;
	PACKET(PM4_OP_SET_PREDICATION, ctl, ADDRESS(va));
	write_data(DATA_VA, 1);
	ib[n - 5] |= 1;
	write_data(DATA_VA + 4, 2);
	run_ok();
	assert_int_equal(data[0], runs);
	assert_int_equal(data[1], 2);
}

static void
test_predication(void **state)
{
	uint64_t *q = (uint64_t *)(void *)&data[64]; /* at DATA_VA + 256 */

	(void)state;
	ip = SG_IP_GFX;
	enum { RUN_IF = 1 << 8, ZPASS = 1 << 16, PRIMCOUNT = 2 << 16, BOOL64 = 3 << 16, BOOL32 = 4 << 16 };
	q[0] = 1ull << 32;
	predicated(BOOL32 | RUN_IF, DATA_VA + 256, false);
	predicated(BOOL32, DATA_VA + 256, true);
	predicated(BOOL64 | RUN_IF, DATA_VA + 256, true);
	predicated(BOOL64, DATA_VA + 256, false);
	predicated(0, 0, true);
	/* occlusion: nothing passed, then something at the last render back end */
	for (unsigned i = 0; i < 48; i++)
		q[i] = 1ull << 63 | 5;
	predicated(ZPASS | RUN_IF, DATA_VA + 256, false);
	q[47]++;
	predicated(ZPASS | RUN_IF, DATA_VA + 256, true);
	/* streamout: as many written as needed */
	memcpy(q, (uint64_t[]){ 1, 1, 5, 5 }, 32);
	predicated(PRIMCOUNT | RUN_IF, DATA_VA + 256, true);
	q[3] = 6;
	predicated(PRIMCOUNT | RUN_IF, DATA_VA + 256, false);
	/* a query in two pieces */
	q[0] = 1;
	q[1] = 0;
	PACKET(PM4_OP_SET_PREDICATION, BOOL64 | RUN_IF, ADDRESS(DATA_VA + 256));
	predicated((int)(1u << 31 | BOOL64 | RUN_IF), DATA_VA + 264, true);
	PACKET(PM4_OP_SET_PREDICATION, 5 << 16, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "predicate 5 does not exist");
	/* device select: only the first is there */
	data[0] = 0;
	PACKET(PM4_OP_PRED_EXEC, 2u << 24 | 5);
	write_data(DATA_VA, 1);
	PACKET(PM4_OP_PRED_EXEC, 1u << 24 | 5);
	write_data(DATA_VA + 4, 7);
	run_ok();
	assert_int_equal(data[0] == 0 && data[1] == 7, 1);
}

/* A dispatch of so many groups of one thread that do nothing. */
static void
many_threads(uint32_t groups)
{
	dispatch(END, 0, 0);
	ib[n - 4] = groups;
}

static void
test_events(void **state)
{
	uint64_t *q = (uint64_t *)(void *)data;

	(void)state;
	load_shaders();
	ip = SG_IP_GFX;
	/* 3 + 2 invocations while counting, 3 while not */
	many_threads(3);
	PACKET(PM4_OP_EVENT_WRITE, 0x21e, ADDRESS(DATA_VA));
	PACKET(PM4_OP_EVENT_WRITE, 0x1a);
	many_threads(3);
	PACKET(PM4_OP_EVENT_WRITE, 0x19);
	many_threads(2);
	PACKET(PM4_OP_EVENT_WRITE, 0x21e, ADDRESS(DATA_VA + 128));
	q[14] = q[30] = 99;
	run_ok();
	assert_int_equal(q[16 + 10] - q[10], 2);
	assert_int_equal(q[14], 99);
	assert_true(q[13] == 0 && q[11] == 0);
	/* a partial group's threads are counted as they are */
	PACKET(PM4_OP_SET_SH_REG, R_COMPUTE_NUM_THREAD_X, 4 | 3 << 16, 1 | 1 << 16, 1 | 1 << 16);
	PACKET(PM4_OP_DISPATCH_DIRECT, 2, 1, 1, INITIATOR_W32 | 2);
	PACKET(PM4_OP_EVENT_WRITE, 0x21e, ADDRESS(DATA_VA));
	run_ok();
	assert_int_equal(q[10] - q[16 + 10], 7);
	PACKET(PM4_OP_EVENT_WRITE, 0x21e);
	run_fails(SG_JOB_ILLEGAL, "event 0x1e without an address");

	/* counters of a pipe that draws nothing: written, and nothing */
	memset(data, 0, 4096);
	PACKET(PM4_OP_EVENT_WRITE, 0x115, ADDRESS(DATA_VA));
	PACKET(PM4_OP_EVENT_WRITE, 0x139, ADDRESS(DATA_VA + 8));
	PACKET(PM4_OP_EVENT_WRITE_ZPASS, ADDRESS(DATA_VA + 512));
	PACKET(PM4_OP_EVENT_WRITE, 0x320, ADDRESS(DATA_VA + 1024));
	PACKET(PM4_OP_OCCLUSION_QUERY, ADDRESS(DATA_VA), ADDRESS(DATA_VA + 2048));
	q[256] = 5;
	run_ok();
	for (unsigned rb = 0; rb < 24; rb++)
		assert_true(q[2 * rb] == 1ull << 63 && q[2 * rb + 1] == 1ull << 63 && q[64 + 2 * rb] == 1ull << 63);
	assert_true(q[48] == 0 && q[128] == 1ull << 63 && q[129] == 1ull << 63 && q[130] == 0);
	assert_true(q[256] == 0);
	ip = SG_IP_COMPUTE; /* not there */
	memset(data, 0, 64);
	PACKET(PM4_OP_EVENT_WRITE, 0x115, ADDRESS(DATA_VA));
	run_ok();
	assert_true(q[0] == 0);
}

/* RADV's and libdrm's gfx preambles: taken, remembered, without effect. */
static void
test_gfx_state(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		config()->profile = sg_profile_find(profile_names[i]);
		ip = SG_IP_GFX;
		PACKET(PM4_OP_CONTEXT_CONTROL, 0x80000000, 0x80000000);
		PACKET(PM4_OP_CLEAR_STATE, 0);
		PACKET(PM4_OP_SET_CONTEXT_REG, 0x10, 1, 2);
		PACKET(PM4_OP_SET_CONTEXT_REG_INDEX, 2u << 28 | 0x12, 3);
		PACKET(PM4_OP_SET_UCONFIG_REG_INDEX, 2u << 28 | 0x242, 4);
		PACKET(PM4_OP_SET_SH_REG_INDEX, 3u << 28 | 0x7, 0xffff); /* a graphics stage's CU mask */
		PACKET(PM4_OP_INDEX_TYPE, 0);
		PACKET(PM4_OP_INDEX_BASE, 0, 0);
		PACKET(PM4_OP_NUM_INSTANCES, 1);
		PACKET(PM4_OP_PFP_SYNC_ME, 0);
		PACKET(PM4_OP_EVENT_WRITE, 0x40f);
		PACKET(PM4_OP_EVENT_WRITE, 0x410);
		PACKET(PM4_OP_EVENT_WRITE, 0x016);
		PACKET(PM4_OP_COPY_DATA, 0x00110500, PM4_CONTEXT_BASE + 0x11, 0, ADDRESS(DATA_VA));
		PACKET(PM4_OP_COPY_DATA, 0x00100500, PM4_UCONFIG_BASE + 0x242, 0, ADDRESS(DATA_VA + 8));
		data[0] = data[1] = data[2] = 0;
		run_ok();
		assert_int_equal(data[0] == 2 && data[1] == 3 && data[2] == 4, 1);
		PACKET(PM4_OP_STRMOUT_BUFFER_UPDATE, 0, 0, 0, 0, 0);
		run_fails(SG_JOB_ILLEGAL, "draws are not implemented");
	}
}

/* ---- dispatches ---- */

static void
test_no_compute_unit(void **state)
{
	(void)state;
	load_shaders();
	for (unsigned i = 0; i < 4; i++)
		set_sh((uint32_t[]){ 0x216, 0x217, 0x219, 0x21a }[i], 0);
	dispatch(STORE, DATA_VA, 1); /* gfx1100 has two engines more */
	run_ok();
	assert_int_equal(data[0], 1);
	for (unsigned i = 0; i < 4; i++)
		set_sh(0x22b + i, 0);
	dispatch(STORE, DATA_VA, 2);
	run_fails(SG_JOB_HANG, "allow no compute unit");
	set_sh(0x22b, 1);
	dispatch(STORE, DATA_VA, 2);
	run_ok();
}

static void
test_without_shader_core(void **state)
{
	(void)state;
	load_shaders();
	config()->profile = sg_profile_find("gfx1201");
	write_data(DATA_VA, 5);
	PACKET(PM4_OP_ACQUIRE_MEM, 0, 0xffffffff, 0xffffff, 0, 0, 10, 0x4181);
	PACKET(PM4_OP_RELEASE_MEM, 0x00600514, 2u << 29, ADDRESS(DATA_VA + 8), 6, 7, 0);
	PACKET(PM4_OP_TIMESTAMP, 3, ADDRESS(DATA_VA + 16), ADDRESS(DATA_VA + 24));
	run_ok();
	assert_int_equal(data[0] == 5 && data[2] == 6 && data[3] == 7, 1);
	dispatch(END, 0, 0);
	run_fails(SG_JOB_ILLEGAL, "gfx1201 has no shader core here");
	dispatch(END, 0, 0);
	ib[n - 1] = 0; /* nothing is enabled, nothing is missed */
	run_ok();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_legality), TEST(test_atomics), TEST(test_copy_data_forms), TEST(test_dma_data_forms),
		TEST(test_gds), TEST(test_load_and_modify), TEST(test_packed_pairs), TEST(test_wait_functions),
		TEST(test_cond_indirect_buffer), TEST(test_ib_levels), TEST(test_semaphores), TEST(test_predication),
		TEST(test_events), TEST(test_gfx_state), TEST(test_no_compute_unit), TEST(test_without_shader_core),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	sg_ring_stop_all();
	return failed;
}
