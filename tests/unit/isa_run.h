/* SPDX-License-Identifier: MIT */
/* isa_run.h: one wave of a shader core over a flat piece of memory, for tests of single instructions. */
#ifndef TESTS_ISA_RUN_H
#define TESTS_ISA_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/core.h"

enum { RUN_CODE = 0x10000, RUN_DATA = 0x100000, RUN_HOLE = 0x400000 };
enum { RUN_CODE_BYTES = 0x1000, RUN_DATA_BYTES = 0x40000, RUN_HOLE_BYTES = 0x10000 };

struct run {
	struct sg_mem mem;
	struct sg_core *core;
	struct sg_dispatch d;
	struct sg_stop stop;
	struct sg_wave *w;
	uint8_t *code, *data;
	unsigned faults;
};

static bool
run_lookup(struct sg_mem *mem, uint64_t va, struct sg_span *out)
{
	struct run *r = (struct run *)mem;
	const uint32_t all = SG_ACCESS_READ | SG_ACCESS_WRITE;
	if (va - RUN_CODE < RUN_CODE_BYTES)
		*out = (struct sg_span){ RUN_CODE, RUN_CODE_BYTES, r->code, SG_ACCESS_READ | SG_ACCESS_EXEC };
	else if (va - RUN_DATA < RUN_DATA_BYTES)
		*out = (struct sg_span){ RUN_DATA, RUN_DATA_BYTES, r->data, all };
	else if (va - RUN_HOLE < RUN_HOLE_BYTES)
		*out = (struct sg_span){ RUN_HOLE, RUN_HOLE_BYTES, NULL, all };
	else
		return false;
	return true;
}

static bool
run_fault(struct sg_mem *mem, uint64_t va, uint32_t access, uint64_t pc)
{
	(void)va, (void)access, (void)pc;
	((struct run *)mem)->faults++;
	return false;
}

static inline void
run_open(struct run *r)
{
	static const struct sg_mem_ops ops = { .lookup = run_lookup, .fault = run_fault };
	memset(r, 0, sizeof *r);
	r->mem.ops = &ops;
	r->core = sg_core_create();
	r->code = calloc(1, RUN_CODE_BYTES);
	r->data = calloc(1, RUN_DATA_BYTES);
	assert_true(r->core && r->code && r->data);
}

static inline void
run_close(struct run *r)
{
	sg_core_destroy(r->core);
	free(r->code);
	free(r->data);
}

/* A fresh wave with zeroed registers, full exec, 64 KiB of LDS and this code, to which s_endpgm is added. IEEE,
 * DX10_CLAMP, f32 denormals flushed. */
static inline void
run_begin(struct run *r, enum sg_arch arch, unsigned lanes, const uint32_t *words, unsigned count)
{
	static const uint32_t id[3];
	r->d = (struct sg_dispatch){ .arch = arch, .wave32 = lanes == 32, .pc = RUN_CODE,
				     .rsrc1 = 31 | 0xc0u << 12 | 1u << 21 | 1u << 23, .rsrc2 = 128 << 15,
				     .threads = { lanes, 1, 1 }, .partial = { lanes, 1, 1 }, .groups = { 1, 1, 1 } };
	memcpy(r->code, words, 4 * count);
	memcpy(r->code + 4 * count, arch == SG_ARCH_RDNA3 ? &(uint32_t){ 0xbfb00000 } : &(uint32_t){ 0xbf810000 }, 4);
	sg_core_begin(r->core, &r->d, &r->mem, &r->stop);
	assert_int_equal(sg_cache_begin(r->core), 0);
	assert_int_equal(sg_group_init(r->core, id), 1);
	r->w = &r->core->waves[0];
	for (unsigned half = 0; half < r->w->halves; half++)
		memset(r->w->v[half], 0, sizeof(sg_lanes) * 256);
	r->faults = 0;
}

#define RUN_BEGIN(r, arch, lanes, ...)                                                                                 \
	run_begin(r, arch, lanes, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

/* To the end of the program; a stop fails the test. */
static inline void
run_go(struct run *r)
{
	if (sg_group_run(r->core, 1) != SG_STOP_NONE)
		fail_msg("stopped: %s", r->stop.text);
}

/* The program must stop, and say this. */
static inline void
run_stops(struct run *r, const char *text)
{
	assert_int_not_equal(sg_group_run(r->core, 1), SG_STOP_NONE);
	if (!strstr(r->stop.text, text))
		fail_msg("\"%s\" lacks \"%s\"", r->stop.text, text);
}

static inline uint32_t *
run_lane(struct run *r, unsigned reg, unsigned lane)
{
	return &r->w->v[lane / SG_LANES][reg][lane % SG_LANES];
}

#endif
