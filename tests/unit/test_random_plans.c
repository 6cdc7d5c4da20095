/* SPDX-License-Identifier: MIT */
/* Promise: a stream is as long as predicted, for 10,000 random plans of all targets: guard words around every block of
 * memory stay whole, packets fill their segments exactly, chains lead from each segment to the next, commands and
 * barriers account for every packet between start and end, and a saved image makes the same plan. */
#include "plan_view.h"
#include "pm4.h"

#define TEST(name) static void name(void **state)

/* ---- guard words: memory of the library and of this file has some on both sides ---- */

#define GUARD 0x5a17ed6a4d0fb10cull

struct guarded {
	uint64_t bytes;
	uint64_t guard;
};

void *__real_malloc(size_t);
void __real_free(void *);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);

static uint64_t n_guarded, n_broken;

void *
__wrap_malloc(size_t bytes)
{
	struct guarded *g = __real_malloc(sizeof(*g) + bytes + sizeof(uint64_t));
	const uint64_t guard = GUARD;

	if (!g)
		return NULL;
	*g = (struct guarded){ bytes, GUARD };
	memcpy((uint8_t *)(g + 1) + bytes, &guard, sizeof(guard));
	n_guarded++;
	return g + 1;
}

/* Memory of the C library's own functions has no guards; looking for one in front of it is what AddressSanitizer is not to
 * see. */
__attribute__((no_sanitize_address)) static struct guarded *
guarded_of(void *p)
{
	struct guarded *g = p;

	return g && g[-1].guard == GUARD ? &g[-1] : NULL;
}

static void
check_guard(const struct guarded *g)
{
	const uint64_t guard = GUARD;

	n_broken += memcmp((const uint8_t *)(g + 1) + g->bytes, &guard, sizeof(guard)) != 0;
}

void
__wrap_free(void *p)
{
	struct guarded *g = guarded_of(p);

	if (!g) {
		__real_free(p);
		return;
	}
	check_guard(g);
	g->guard = 0;
	__real_free(g);
}

void *
__wrap_calloc(size_t n, size_t bytes)
{
	void *p = __wrap_malloc(n * bytes);

	return p ? memset(p, 0, n * bytes) : NULL;
}

void *
__wrap_realloc(void *old, size_t bytes)
{
	struct guarded *g = guarded_of(old);
	void *p;

	if (old && !g)
		return __real_realloc(old, bytes);
	p = __wrap_malloc(bytes);
	if (p && g)
		memcpy(p, old, g->bytes < bytes ? g->bytes : bytes);
	if (p)
		__wrap_free(old);
	return p;
}

/* ---- streams ---- */

static struct rg_model model;
static struct rg_graph graph;

/* The last packet's place; the packets fill the segment. */
static uint32_t
walk(const uint32_t *stream, const struct plan_image_segment *s)
{
	uint32_t at = s->first, end = s->first + s->dwords, last = at;

	while (at < end) {
		last = at;
		if (stream[at] == PM4_NOP_ONE_DWORD) {
			at++;
			continue;
		}
		assert_int_equal(PM4_GET(PM4_HEADER_TYPE, stream[at]), PM4_TYPE3);
		at += PM4_GET(PM4_HEADER_COUNT, stream[at]) + 2;
	}
	assert_int_equal(at, end);
	return last;
}

static const struct plan_image_relocation *
relocation_at(const struct plan_view *v, uint32_t where, uint32_t place)
{
	for (uint32_t i = 0; i < pv_count(v, PLAN_SECTION_RELOCATIONS); i++)
		if (v->relocations[i].where == where && v->relocations[i].place == place)
			return &v->relocations[i];
	return NULL;
}

static void
check_chain(const struct plan_view *v, const uint32_t *stream, uint32_t packet, uint64_t base,
	    const struct plan_image_segment *next)
{
	const struct plan_image_relocation *r = relocation_at(v, next->where, packet + 1);

	assert_int_equal(PM4_GET(PM4_HEADER_OPCODE, stream[packet]), PM4_OP_INDIRECT_BUFFER);
	assert_int_equal(PM4_GET(INDIRECT_BUFFER_CHAIN, stream[packet + 3]), 1);
	assert_int_equal(PM4_GET(INDIRECT_BUFFER_SIZE, stream[packet + 3]), next->dwords);
	assert_non_null(r);
	assert_int_equal(r->memory, PLAN_MEMORY_HOST);
	assert_int_equal(r->addend, base + 4ull * next->first);
}

static void
check_segments(const struct plan_view *v, uint32_t limit)
{
	const uint32_t *reset = (const void *)(v->image + v->h->sections[PLAN_SECTION_RESET].offset);
	uint32_t n = pv_count(v, PLAN_SECTION_SEGMENTS);

	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_segment *s = &v->segments[i];
		bool run = s->where == PLAN_IN_STREAM;
		const uint32_t *stream = run ? v->stream : reset;
		uint32_t last = walk(stream, s);

		assert_true(s->dwords > 0 && s->dwords <= limit);
		assert_int_equal(s->first % 8 + s->dwords % 8, 0);
		if (i + 1 < n && s[1].where == s->where)
			check_chain(v, stream, last, run ? v->h->stream_offset : v->h->reset_offset, &s[1]);
	}
}

static bool
starts_segment(const struct plan_view *v, uint32_t at)
{
	for (uint32_t i = 0; i < pv_count(v, PLAN_SECTION_SEGMENTS); i++)
		if (v->segments[i].where == PLAN_IN_STREAM && v->segments[i].first == at)
			return true;
	return false;
}

/* Barriers and commands follow each other without a gap, but where a segment ends. */
static void
check_coverage(const struct plan_view *v)
{
	uint32_t at = v->commands[0].stream, next = 0;

	for (uint32_t i = 0; i < pv_count(v, PLAN_SECTION_COMMANDS); i++) {
		const struct plan_image_command *c = &v->commands[i];

		if (next < pv_count(v, PLAN_SECTION_BARRIERS) && v->barriers[next].before == i) {
			assert_true(v->barriers[next].stream == at || starts_segment(v, v->barriers[next].stream));
			assert_true(v->barriers[next].stream_dwords > 0);
			at = v->barriers[next].stream + v->barriers[next].stream_dwords;
			next++;
		}
		assert_true(c->stream == at || starts_segment(v, c->stream));
		assert_true(c->stream_dwords > 0);
		at = c->stream + c->stream_dwords;
	}
	assert_int_equal(next, pv_count(v, PLAN_SECTION_BARRIERS));
	assert_true(at < pv_count(v, PLAN_SECTION_STREAM));
}

static void
check_loads(const struct plan_view *v)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1 };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	const void *image;
	size_t bytes;

	dt_ok(gpuplan_plan_load(model.definition, v->image, v->bytes, &params, &plan, &error), &error);
	image = gpuplan_plan_image(plan, &bytes);
	assert_int_equal(bytes, v->bytes);
	assert_memory_equal(image, v->image, bytes);
	gpuplan_plan_destroy(plan);
}

static const char *const targets[] = {
	"gfx900",  "gfx906",  "gfx90a",  "gfx942",  "gfx1010", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034",
	"gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
};
#define TARGETS (sizeof(targets) / sizeof(targets[0]))
#define PLANS 10000u

/* Returns whether the stream was chained. */
static bool
check_plan(uint32_t seed)
{
	static const uint32_t limits[] = { 512, 520, 1024, 0xfffff };
	uint32_t limit = limits[seed % 4];
	struct gpuplan_plan_params params;
	struct plan_view v;
	bool chained;

	rg_make(&model, &graph, seed, 1 + seed * 31 % 97);
	params = rg_params(&graph, seed / 4 % 4, limit == 0xfffff ? 0 : limit);
	pv_open(&v, model.definition, &params);
	check_segments(&v, limit);
	check_coverage(&v);
	if (seed % 8 == 0)
		check_loads(&v);
	chained = v.segments[0].dwords < pv_count(&v, PLAN_SECTION_STREAM);
	pv_close(&v);
	return chained;
}

TEST(random_plans_are_as_long_as_predicted)
{
	uint32_t plans = 0, chained = 0;

	(void)state;
	for (uint32_t t = 0; t < TARGETS; t++) {
		if (!rg_open(&model, dt_offline(targets[t])))
			fail_msg("no kernels for %s", targets[t]);
		for (; plans < PLANS * (t + 1) / TARGETS; plans++)
			chained += check_plan(plans + 1);
		rg_close(&model);
	}
	print_message("%u plans, %u chained, %llu blocks of memory with guard words, %llu broken\n", plans, chained,
		      (unsigned long long)n_guarded, (unsigned long long)n_broken);
	assert_int_equal(plans, PLANS);
	assert_int_equal(n_broken, 0);
	assert_true(n_guarded > PLANS && chained > PLANS / 4);
}

TEST(impossible_ibs_are_refused)
{
	struct gpuplan_plan_params params;
	struct gpuplan_plan *plan;
	struct gpuplan_error error;

	(void)state;
	assert_true(rg_open(&model, dt_offline("gfx1100")));
	rg_make(&model, &graph, 1, 5);
	params = rg_params(&graph, 0, 511);
	dt_refused(gpuplan_plan_create(model.definition, &params, &plan, &error), EINVAL, &error, "511", "512");
	params.ib_dwords = 0x100000;
	dt_refused(gpuplan_plan_create(model.definition, &params, &plan, &error), EINVAL, &error, "1048576", "1048575");
	rg_close(&model);
}

/* 8 GiB in packets of 32 KiB on gfx11: 1.8 million dwords. */
TEST(the_largest_fills_are_cut)
{
	struct gpuplan_session *session;
	struct gpuplan_plan_params params;
	struct gpuplan_command fill;
	struct plan_view v;

	(void)state;
	memset(&model, 0, sizeof(model));
	model.context = dt_offline("gfx1100");
	session = dt_session(model.context);
	fill = dt_fill(dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 8ull << 30, "large"), 7);
	model.definition = dt_freeze(session);
	params = dt_plan_params(1, &fill, 1);
	pv_open(&v, model.definition, &params);
	assert_true(pv_count(&v, PLAN_SECTION_SEGMENTS) >= 2);
	check_segments(&v, 0xfffff);
	pv_close(&v);
	rg_close(&model);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_plans_are_as_long_as_predicted),
		cmocka_unit_test(impossible_ibs_are_refused),
		cmocka_unit_test(the_largest_fills_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
