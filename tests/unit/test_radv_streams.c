/* SPDX-License-Identifier: MIT */
/* Promise: for the same dispatch our stream says what RADV's does. Every register and packet that only one of both
 * writes, or writes otherwise, is listed here with the reason; docs/targets.md has the list in words.
 *
 * RADV 22.3.6 for gfx1030 and gfx1100: the preamble that goes before every submission, and a command buffer with two
 * dispatches of a wave64 shader, 64 threads a group, 1 x 1 x 1 groups. `test_radv_streams --list` prints both sides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "pm4_regs.h"
#include "target.h"

#define FIRST R_COMPUTE_DISPATCH_INITIATOR
#define CODE_VA 0xffff800000000000u
#define MAX_PACKETS 64

struct packet {
	uint32_t op, dwords;
	const uint32_t *dw;
};

struct stream {
	uint32_t dw[1024];
	uint32_t n;
	bool seen[128];		/* SET_SH_REG before the first dispatch */
	uint32_t value[128];
	struct packet packets[MAX_PACKETS]; /* all but SET_SH_REG and padding, up to and with the first dispatch */
	uint32_t n_packets;
};

/* ---- the accepted differences ---- */

enum side { THEIRS = 1, OURS = 2, BOTH = 3 };

struct difference {
	enum side side;		/* who writes it */
	uint32_t first, last;
	const char *why;
};

static const struct difference reg_differences[] = {
	{ BOTH, R_COMPUTE_RESOURCE_LIMITS, R_COMPUTE_RESOURCE_LIMITS,
	  "CU_GROUP_COUNT 1: a scheduling hint for one-wave groups; 0 is no limit" },
	{ OURS, R_COMPUTE_PIPELINESTAT_ENABLE, R_COMPUTE_PERFCOUNT_ENABLE, "others may have left them on" },
	{ OURS, R_COMPUTE_TMPRING_SIZE, R_COMPUTE_TMPRING_SIZE, "others may have left a size; RADV writes it with scratch" },
	{ OURS, R_COMPUTE_RESTART_X, R_COMPUTE_RESTART_Z, "others may have left them set" },
	{ OURS, R_COMPUTE_THREAD_TRACE_ENABLE, R_COMPUTE_THREAD_TRACE_ENABLE, "others may have left it on" },
	{ OURS, R_GFX10_COMPUTE_REQ_CTRL, R_GFX10_COMPUTE_REQ_CTRL, "others may have left it set" },
	{ OURS, R_GFX10_COMPUTE_DISPATCH_TUNNEL, R_GFX10_COMPUTE_DISPATCH_TUNNEL, "others may have left it set" },
	{ OURS, R_COMPUTE_USER_DATA_0, R_COMPUTE_USER_DATA_1, "the HSA ABI's 64-bit pointer to the arguments" },
	{ THEIRS, R_COMPUTE_USER_DATA_2, R_COMPUTE_USER_DATA_3, "RADV's 32-bit descriptor set and push constant" },
};

static const struct difference packet_differences[] = {
	{ THEIRS, PM4_OP_EVENT_WRITE, 0, "PIPELINESTAT_START: for queries, which we have none of" },
	{ THEIRS, PM4_OP_DMA_DATA, 0, "prefetch of code into L2, to hide the first miss" },
};

static const struct difference *
find_difference(const struct difference *list, size_t n, enum side side, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].side == side && list[i].first <= number &&
		    number <= (list[i].last ? list[i].last : list[i].first))
			return &list[i];
	return NULL;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define REG_DIFFERENCE(side, reg) find_difference(reg_differences, COUNT(reg_differences), side, reg)
#define PACKET_DIFFERENCE(side, op) find_difference(packet_differences, COUNT(packet_differences), side, op)

/* ---- streams ---- */

static void
read_hex(struct stream *s, const char *chip, const char *which)
{
	char path[128], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/data/radv-22.3.6-%s-%s.hex", chip, which);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: run from the root of the tree", path);
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			s->dw[s->n++] = (uint32_t)strtoul(line, NULL, 16);
	fclose(f);
}

static void
take_registers(struct stream *s, const uint32_t *p, uint32_t body)
{
	for (uint32_t i = 1; i < body; i++) {
		uint32_t reg = p[1] + i - 1 - FIRST;

		assert_true(reg < 128);
		s->seen[reg] = true;
		s->value[reg] = p[1 + i];
	}
}

static void
parse(struct stream *s)
{
	for (uint32_t at = 0; at < s->n;) {
		uint32_t body = PM4_GET(PM4_HEADER_COUNT, s->dw[at]) + 1, op = PM4_GET(PM4_HEADER_OPCODE, s->dw[at]);

		if (s->dw[at] == PM4_NOP_ONE_DWORD) {
			at++;
			continue;
		}
		if (op == PM4_OP_SET_SH_REG) {
			take_registers(s, &s->dw[at], body);
		} else {
			assert_true(s->n_packets < MAX_PACKETS);
			s->packets[s->n_packets++] = (struct packet){ op, 1 + body, &s->dw[at] };
		}
		if (op == PM4_OP_DISPATCH_DIRECT)
			return;
		at += 1 + body;
	}
	fail_msg("no dispatch in the stream");
}

static void
theirs(struct stream *s, const char *chip)
{
	memset(s, 0, sizeof(*s));
	read_hex(s, chip, "preamble");
	read_hex(s, chip, "two-dispatches");
	parse(s);
}

/* The same shader through our emitter: all it does not share with HSA kernels comes from RADV's registers. */
static void
ours(struct stream *s, const char *chip, const struct stream *radv)
{
	const struct gp_target *target = gp_target_find(chip);
	static const struct gp_emit_private no_scratch;
	struct gp_emit_dispatch d = {
		.code = gp_ref_absolute(CODE_VA | (uint64_t)radv->value[R_COMPUTE_PGM_LO - FIRST] << 8),
		.kernarg = gp_ref_absolute(0x123456789000),
		.rsrc1 = radv->value[R_COMPUTE_PGM_RSRC1 - FIRST],
		.rsrc2 = radv->value[R_COMPUTE_PGM_RSRC2 - FIRST],
		.rsrc3 = radv->value[R_GFX10_COMPUTE_PGM_RSRC3 - FIRST],
		.properties = 1u << 3, /* arguments only */
		.groups = { { .value = 1 }, { .value = 1 }, { .value = 1 } },
		.block = { 64, 1, 1 },
	};
	struct gp_emit e;

	memset(s, 0, sizeof(*s));
	gp_emit_init(&e, target, PLAN_IN_STREAM);
	e.dw = s->dw;
	target->emit->begin(&e, &no_scratch, GP_BEGIN_AFTER_UPLOAD);
	target->emit->dispatch(&e, &d);
	s->n = e.n;
	assert_true(s->n < 1024);
	parse(s);
}

/* ---- comparisons ---- */

static void
compare_registers(const char *chip, const struct stream *radv, const struct stream *own)
{
	for (uint32_t i = 0; i < 128; i++) {
		enum side side = (radv->seen[i] ? THEIRS : 0) | (own->seen[i] ? OURS : 0);

		if (!side || (side == BOTH && radv->value[i] == own->value[i]))
			continue;
		if (!REG_DIFFERENCE(side, FIRST + i))
			fail_msg("%s: register 0x%x: RADV %s %08x, we %s %08x: not on the list", chip, FIRST + i,
				 radv->seen[i] ? "writes" : "does not write", radv->value[i],
				 own->seen[i] ? "write" : "do not write", own->value[i]);
	}
}

/* The next packet that needs a counterpart. */
static const struct packet *
next_packet(const struct stream *s, uint32_t *at, enum side side)
{
	while (*at < s->n_packets && PACKET_DIFFERENCE(side, s->packets[*at].op))
		(*at)++;
	return *at < s->n_packets ? &s->packets[(*at)++] : NULL;
}

/* Word for word, in the same order. */
static void
compare_packets(const char *chip, const struct stream *radv, const struct stream *own)
{
	uint32_t i = 0, k = 0, n = 0;

	for (;; n++) {
		const struct packet *a = next_packet(radv, &i, THEIRS), *b = next_packet(own, &k, OURS);

		if (!a && !b)
			break;
		if (!a || !b || a->dwords != b->dwords || memcmp(a->dw, b->dw, a->dwords * 4))
			fail_msg("%s: packet %u: RADV has %08x, we have %08x", chip, n, a ? a->dw[0] : 0, b ? b->dw[0] : 0);
	}
	/* at least ACQUIRE_MEM and DISPATCH_DIRECT */
	assert_true(n >= 2);
}

static void
no_stale_reason(const char *chip, const struct stream *radv, const struct stream *own)
{
	for (size_t i = 0; i < COUNT(reg_differences); i++)
		for (uint32_t r = reg_differences[i].first; r <= reg_differences[i].last; r++) {
			enum side side = (radv->seen[r - FIRST] ? THEIRS : 0) | (own->seen[r - FIRST] ? OURS : 0);

			if (side != reg_differences[i].side)
				fail_msg("%s: register 0x%x is on the list without need", chip, r);
		}
}

static void
compare(const char *chip)
{
	static struct stream radv, own;

	theirs(&radv, chip);
	ours(&own, chip, &radv);
	compare_registers(chip, &radv, &own);
	compare_packets(chip, &radv, &own);
	no_stale_reason(chip, &radv, &own);
}

static void
gfx1030_says_what_radv_says(void **state)
{
	(void)state;
	compare("gfx1030");
}

static void
gfx1100_says_what_radv_says(void **state)
{
	(void)state;
	compare("gfx1100");
}

/* ---- side by side ---- */

static void
value_text(char text[12], bool seen, uint32_t value)
{
	snprintf(text, 12, seen ? "%08x" : "-", value);
}

static void
list(const char *chip)
{
	static struct stream radv, own;

	theirs(&radv, chip);
	ours(&own, chip, &radv);
	printf("%s, registers before the first dispatch\n%-10s %-8s %-8s\n", chip, "register", "RADV", "we");
	for (uint32_t i = 0; i < 128; i++) {
		enum side side = (radv.seen[i] ? THEIRS : 0) | (own.seen[i] ? OURS : 0);
		const struct difference *d =
			side == BOTH && radv.value[i] == own.value[i] ? NULL : REG_DIFFERENCE(side, FIRST + i);
		char a[12], b[12];

		value_text(a, radv.seen[i], radv.value[i]);
		value_text(b, own.seen[i], own.value[i]);
		if (side)
			printf("0x%-8x %-8s %-8s  %s\n", FIRST + i, a, b, d ? d->why : "");
	}
	for (enum side side = THEIRS; side <= OURS; side++) {
		const struct stream *s = side == THEIRS ? &radv : &own;

		printf("%s\n", side == THEIRS ? "RADV's other packets" : "our other packets");
		for (uint32_t i = 0; i < s->n_packets; i++) {
			const struct difference *d = PACKET_DIFFERENCE(side, s->packets[i].op);

			for (uint32_t k = 0; k < s->packets[i].dwords; k++)
				printf(" %08x", s->packets[i].dw[k]);
			printf("%s%s\n", d ? "  " : "", d ? d->why : "");
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gfx1030_says_what_radv_says),
		cmocka_unit_test(gfx1100_says_what_radv_says),
	};

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list("gfx1030");
		list("gfx1100");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
