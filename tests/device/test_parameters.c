/* SPDX-License-Identifier: MIT */
/* Promise: parameters change arguments, fill values and grids from run to run without a new plan; each answer is that of
 * the parameters set last; a refused update changes nothing; nothing grows with the number of updates. A grid may also
 * come from memory that an earlier command of the same run wrote.
 *
 * GPUPLAN_TEST_UPDATES=N: number of updates and runs of the long test (default 5,000; the promise is for 100,000). */
#include "device/package_test.h"

#define WORDS 2048u
#define GROUP 1024u /* words that a workgroup of `fill` writes */

static struct {
	struct gpuplan_context *context;
	struct gpuplan_context_info info;
	struct gpuplan_definition *definition;
	struct gpuplan_queue *queue;
	struct gpuplan_region out, counts, host_counts, big_a, big_b, one;
	struct gpuplan_kernel fill, hidden[2];
	unsigned n_hidden;
} m;

/* ---- a plan whose answer says what its parameters were ---- */

enum { BLANK, VALUE, COUNT, GROUPS, N_PARAMETERS };

static const struct gpuplan_parameter parameters[N_PARAMETERS] = {
	[BLANK] = { .name = "blank", .bytes = 4, .initial = 1, .max = UINT32_MAX },
	[VALUE] = { .name = "value", .bytes = 4, .initial = 2, .max = UINT32_MAX },
	[COUNT] = { .name = "count", .bytes = 4, .initial = 3, .max = WORDS },
	[GROUPS] = { .name = "groups", .bytes = 1, .initial = 1, .max = 2 },
};

/* out = blank everywhere, then `value` in its first min(count, groups * GROUP) words. */
static struct gpuplan_plan *
make_plan(uint32_t capacity)
{
	struct gpuplan_binding binding = { .region = m.out, .access = GPUPLAN_WRITE };
	struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_param(VALUE), gpuplan_arg_param(COUNT) };
	struct gpuplan_command commands[] = { dt_fill(m.out, 0), { .kind = GPUPLAN_DISPATCH, .label = "fill" } };
	struct gpuplan_io out = { .region = m.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } };
	struct gpuplan_plan_params params = dt_plan_params(capacity, commands, 2);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;

	commands[0].u.fill.value_param = BLANK + 1;
	commands[1].u.dispatch = (struct gpuplan_dispatch){
		.kernel = m.fill,
		.groups = { 0, 1, 1 },
		.groups_param = { GROUPS + 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &binding,
		.n_args = 3,
		.args = args,
	};
	params.outputs = &out;
	params.n_outputs = 1;
	params.parameters = parameters;
	params.n_parameters = N_PARAMETERS;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	return plan;
}

static struct gpuplan_slot *
acquire(struct gpuplan_plan *plan)
{
	struct gpuplan_slot *slot;

	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	return slot;
}

struct now {
	uint64_t value[N_PARAMETERS];
};

static struct now
initial(void)
{
	struct now now;

	for (unsigned i = 0; i < N_PARAMETERS; i++)
		now.value[i] = parameters[i].initial;
	return now;
}

static void
set(struct gpuplan_slot *slot, struct now *now, uint32_t parameter, uint64_t value)
{
	struct gpuplan_value v = { parameter, parameters[parameter].bytes, value };
	struct gpuplan_error error;

	dt_ok(gpuplan_slot_set(slot, &v, 1, &error), &error);
	now->value[parameter] = value;
}

static void
check(struct gpuplan_slot *slot, const struct now *now)
{
	const uint32_t *out = gpuplan_slot_output(slot, 0, NULL);
	uint64_t written = now->value[GROUPS] * GROUP;

	if (now->value[COUNT] < written)
		written = now->value[COUNT];
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t wanted = (uint32_t)(i < written ? now->value[VALUE] : now->value[BLANK]);

		if (out[i] == wanted)
			continue;
		print_error("word %u is 0x%x, expected 0x%x (value 0x%x, blank 0x%x, count %u, groups %u)\n", i, out[i],
			    wanted, (uint32_t)now->value[VALUE], (uint32_t)now->value[BLANK], (uint32_t)now->value[COUNT],
			    (uint32_t)now->value[GROUPS]);
		fail();
	}
}

static void
run(struct gpuplan_slot *slot, const struct now *now)
{
	dt_run_slot(slot, m.queue);
	check(slot, now);
}

static void
each_kind_of_place_changes(void **state)
{
	struct gpuplan_plan *plan = make_plan(1);
	struct gpuplan_slot *slot = acquire(plan);
	struct now now = initial();

	(void)state;
	run(slot, &now);
	set(slot, &now, COUNT, 2000); /* an argument: the grid of one group bounds it */
	run(slot, &now);
	set(slot, &now, GROUPS, 2); /* a grid */
	run(slot, &now);
	set(slot, &now, VALUE, 0xdeadbeef);
	run(slot, &now);
	set(slot, &now, BLANK, 0x12345678); /* a fill */
	run(slot, &now);
	set(slot, &now, GROUPS, 0); /* nothing runs */
	run(slot, &now);
	run(slot, &now); /* values stay */
	set(slot, &now, GROUPS, 1);
	set(slot, &now, COUNT, 0);
	run(slot, &now);
	gpuplan_slot_release(slot);
	slot = acquire(plan);
	now = initial();
	run(slot, &now);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

static void
slots_have_their_own(void **state)
{
	struct gpuplan_plan *plan = make_plan(3);
	struct gpuplan_slot *slots[3];
	struct now now[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		slots[i] = acquire(plan);
		now[i] = initial();
	}
	set(slots[0], &now[0], VALUE, 100);
	set(slots[2], &now[2], VALUE, 102);
	set(slots[2], &now[2], COUNT, 500);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(gpuplan_slot_submit(slots[i], m.queue), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct gpuplan_completion c;

		assert_int_equal(gpuplan_slot_wait(slots[i], DT_SOON, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		check(slots[i], &now[i]);
		gpuplan_slot_release(slots[i]);
	}
	gpuplan_plan_destroy(plan);
}

/* ---- refused updates ---- */

static void
refused_updates_change_nothing(void **state)
{
	struct gpuplan_plan *plan = make_plan(1);
	struct gpuplan_slot *slot = acquire(plan);
	struct now now = initial();
	struct gpuplan_value good = gpuplan_value_u32(VALUE, 77);
	struct gpuplan_value bad[][2] = {
		{ good, { COUNT, 4, WORDS + 1 } },
		{ good, { COUNT, 8, 5 } },
		{ good, { N_PARAMETERS, 4, 5 } },
		{ { GROUPS, 1, 3 }, good },
	};
	struct gpuplan_error error;

	(void)state;
	set(slot, &now, COUNT, 40);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(gpuplan_slot_set(slot, bad[i], 2, &error), -EINVAL);
		run(slot, &now);
	}
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

static void
a_running_slot_is_busy(void **state)
{
	struct gpuplan_plan *plan = make_plan(1);
	struct gpuplan_slot *slot = acquire(plan);
	struct gpuplan_value v = gpuplan_value_u32(VALUE, 77);
	struct now now = initial();
	struct gpuplan_completion c;
	struct gpuplan_error error;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(gpuplan_slot_submit(slot, m.queue), 0);
		/* until the verdict, done or not */
		dt_refused(gpuplan_slot_set(slot, &v, 1, &error), EBUSY, &error, "slot 0", "still runs");
		assert_int_equal(gpuplan_slot_wait(slot, DT_SOON, &c), 0);
		assert_int_equal(c.status, GPUPLAN_DONE);
		check(slot, &now);
	}
	set(slot, &now, VALUE, 77);
	run(slot, &now);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* A run past its deadline still reads its stream: it is left alone until it has ended. */
static void
a_late_run_is_busy_until_it_ends(void **state)
{
	enum { COPIES = 8 };
	struct gpuplan_parameter p = { .name = "p", .bytes = 4, .initial = 5, .max = UINT32_MAX };
	struct gpuplan_command commands[COPIES + 1];
	struct gpuplan_io out = { .region = m.one, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 1 } };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, COPIES + 1);
	struct gpuplan_value v = gpuplan_value_u32(0, 6);
	struct gpuplan_completion c;
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	unsigned busy = 0;
	int r;

	(void)state;
	for (unsigned i = 0; i < COPIES; i++)
		commands[i] = dt_copy(i % 2 ? m.big_a : m.big_b, i % 2 ? m.big_b : m.big_a);
	commands[COPIES] = dt_fill(m.one, 0);
	commands[COPIES].u.fill.value_param = 1;
	params.parameters = &p;
	params.n_parameters = 1;
	params.outputs = &out;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	slot = acquire(plan);
	assert_int_equal(gpuplan_slot_submit(slot, m.queue), 0);
	assert_int_equal(gpuplan_slot_wait(slot, gpuplan_now(), &c), 0);
	while ((r = gpuplan_slot_set(slot, &v, 1, &error)) == -EBUSY) {
		busy++;
		usleep(1000);
	}
	dt_ok(r, &error);
	assert_true(gpuplan_slot_poll(slot));
	/* the update came after the run */
	assert_int_equal(*(const uint32_t *)gpuplan_slot_output(slot, 0, NULL), 5);
	assert_true(busy || c.status == GPUPLAN_DONE);
	print_message("    busy %u times after %s\n", busy, c.status == GPUPLAN_DONE ? "done" : "the deadline");
	dt_run_slot(slot, m.queue);
	assert_int_equal(*(const uint32_t *)gpuplan_slot_output(slot, 0, NULL), 6);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* ---- nothing grows ---- */

static uint64_t random_state = 88172645463325252u;

/* xorshift64: the same everywhere */
static uint64_t
random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static unsigned long
resident_kib(void)
{
	unsigned long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &size, &resident), 2);
	fclose(f);
	return resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned
descriptors(void)
{
	unsigned n = 0;

	usleep(20000);
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* One update of one to four parameters, now and then a refused one on top, and a run. */
static void
update_and_run(struct gpuplan_slot *slot, struct now *now)
{
	struct gpuplan_value values[N_PARAMETERS];
	struct gpuplan_error error;
	uint32_t n = 1 + (uint32_t)random_below(N_PARAMETERS);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = (uint32_t)random_below(N_PARAMETERS);
		uint64_t value = random_below(parameters[p].max + 1);

		values[i] = (struct gpuplan_value){ p, parameters[p].bytes, value };
		now->value[p] = value;
	}
	dt_ok(gpuplan_slot_set(slot, values, n, &error), &error);
	if (!random_below(8)) {
		values[0].value ^= 1;
		values[n - 1] = (struct gpuplan_value){ COUNT, 4, WORDS + 1 + random_below(1000) };
		assert_int_equal(gpuplan_slot_set(slot, values, n, &error), -EINVAL);
	}
	run(slot, now);
}

static void
nothing_grows_with_updates(void **state)
{
	const char *text = getenv("GPUPLAN_TEST_UPDATES");
	unsigned long n = text ? strtoul(text, NULL, 0) : 5000, warm_up = 500, before, after;
	struct gpuplan_plan *plan = make_plan(1);
	struct gpuplan_slot *slot = acquire(plan);
	struct gpuplan_memory memory, memory_after;
	struct dt_stats device = { 0 }, device_after = { 0 };
	struct now now = initial();
	unsigned open_before, open_after;

	(void)state;
	for (unsigned long i = 0; i < warm_up; i++)
		update_and_run(slot, &now);
	gpuplan_context_get_memory(m.context, &memory);
	dt_device_stats(m.context, &device);
	open_before = descriptors();
	before = resident_kib();
	for (unsigned long i = 0; i < n; i++)
		update_and_run(slot, &now);
	after = resident_kib();
	open_after = descriptors();
	/* softgpu and the kernel let go of an eventfd a moment after its last event */
	for (unsigned i = 0; i < 100 && open_after != open_before; i++)
		open_after = descriptors();
	print_message("    %lu updates and runs: resident %lu KiB before, %lu after; %u descriptors, then %u; %u buffers\n", n,
		      before, after, open_before, open_after, (unsigned)memory.buffers);
	gpuplan_context_get_memory(m.context, &memory_after);
	dt_device_stats(m.context, &device_after);
	assert_memory_equal(&memory, &memory_after, sizeof(memory));
	assert_memory_equal(&device, &device_after, sizeof(device));
	assert_int_equal(open_before, open_after);
	/* a leak of 32 bytes an update would be 156 KiB in the default run; the allocator's own unrest is less */
	assert_true(after <= before + 128);
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* ---- kernels that ask for their grid ---- */

/* `hidden` finds its workgroup's size in hidden arguments (code object v5; full groups only as far as the block count
 * says) or in the dispatch packet (v4): dst[i] = i for i < n. */
static void
hidden_counts_follow(void **state)
{
	struct gpuplan_parameter p[] = { { .name = "groups", .bytes = 4, .initial = 1, .max = 8 } };
	struct gpuplan_io out = { .region = m.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } };

	(void)state;
	if (!m.n_hidden)
		skip();
	for (unsigned k = 0; k < m.n_hidden; k++) {
		struct gpuplan_binding binding = { .region = m.out, .access = GPUPLAN_WRITE };
		struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_u32(WORDS) };
		struct gpuplan_command commands[] = { dt_fill(m.out, 0xffffffff), { .kind = GPUPLAN_DISPATCH } };
		struct gpuplan_plan_params params = dt_plan_params(1, commands, 2);
		struct gpuplan_error error;
		struct gpuplan_plan *plan;
		struct gpuplan_slot *slot;

		commands[1].u.dispatch = (struct gpuplan_dispatch){
			.kernel = m.hidden[k],
			.groups = { 0, 1, 1 },
			.groups_param = { 1 },
			.block = { 64, 1, 1 },
			.n_bindings = 1,
			.bindings = &binding,
			.n_args = 2,
			.args = args,
		};
		params.outputs = &out;
		params.n_outputs = 1;
		params.parameters = p;
		params.n_parameters = 1;
		dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
		slot = acquire(plan);
		for (uint32_t groups = 8; groups < 9; groups--) {
			struct gpuplan_value v = gpuplan_value_u32(0, groups);
			const uint32_t *words = gpuplan_slot_output(slot, 0, NULL);

			dt_ok(gpuplan_slot_set(slot, &v, 1, &error), &error);
			dt_run_slot(slot, m.queue);
			for (uint32_t i = 0; i < WORDS; i++)
				assert_int_equal(words[i], i < groups * 64 ? i : 0xffffffff);
		}
		gpuplan_slot_release(slot);
		gpuplan_plan_destroy(plan);
	}
}

/* ---- grids from memory ---- */

/* out = 0, then `value` in as many words as the groups in x that `from` holds. */
struct indirect {
	struct gpuplan_binding out, counts;
	struct gpuplan_arg out_args[3], counts_args[3];
	struct gpuplan_region from;
};

static struct gpuplan_command
indirect_fill(struct indirect *s, struct gpuplan_region from, uint32_t value)
{
	struct gpuplan_command c = { .kind = GPUPLAN_DISPATCH, .label = "indirect" };

	s->from = from;
	s->out = (struct gpuplan_binding){ .region = m.out, .access = GPUPLAN_WRITE };
	s->out_args[0] = gpuplan_arg_binding(0);
	s->out_args[1] = gpuplan_arg_u32(value);
	s->out_args[2] = gpuplan_arg_u32(WORDS);
	c.u.dispatch = (struct gpuplan_dispatch){
		.kernel = m.fill,
		.groups = { 2, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &s->out,
		.n_args = 3,
		.args = s->out_args,
		.groups_from = &s->from,
	};
	return c;
}

/* A kernel writes `value` to all three counts. */
static struct gpuplan_command
write_counts(struct indirect *s, uint32_t param)
{
	struct gpuplan_command c = { .kind = GPUPLAN_DISPATCH, .label = "counts" };

	s->counts = (struct gpuplan_binding){ .region = gpuplan_slice(m.counts, 0, 4), .access = GPUPLAN_WRITE };
	s->counts_args[0] = gpuplan_arg_binding(0);
	s->counts_args[1] = gpuplan_arg_param(param);
	s->counts_args[2] = gpuplan_arg_u32(1);
	c.u.dispatch = (struct gpuplan_dispatch){
		.kernel = m.fill,
		.groups = { 1, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &s->counts,
		.n_args = 3,
		.args = s->counts_args,
	};
	return c;
}

static void
check_groups(struct gpuplan_slot *slot, uint32_t groups, uint32_t value)
{
	const uint32_t *out = gpuplan_slot_output(slot, 0, NULL);

	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(out[i], i < groups * GROUP ? value : 0);
}

/* Counts of 1, x by a kernel of the same run. Returns how many of the runs were right. */
static unsigned
run_from_a_kernel(uint32_t omit_barrier, unsigned runs, struct gpuplan_plan_info *info)
{
	struct gpuplan_parameter p = { .name = "groups", .bytes = 4, .initial = 1, .max = 2 };
	struct gpuplan_io out = { .region = m.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } };
	struct indirect s;
	struct gpuplan_command commands[] = {
		dt_fill(m.out, 0), dt_fill(m.counts, 1), write_counts(&s, 0), indirect_fill(&s, m.counts, 9)
	};
	struct gpuplan_plan_params params = dt_plan_params(1, commands, 4);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	unsigned right = 0;

	params.outputs = &out;
	params.n_outputs = 1;
	params.parameters = &p;
	params.n_parameters = 1;
	params.omit_barrier = omit_barrier;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	gpuplan_plan_get_info(plan, info);
	slot = acquire(plan);
	for (unsigned i = 0; i < runs; i++) {
		struct gpuplan_value v = gpuplan_value_u32(0, i % 3);
		const uint32_t *words;
		uint32_t n = 0;

		dt_ok(gpuplan_slot_set(slot, &v, 1, &error), &error);
		dt_run_slot(slot, m.queue);
		words = gpuplan_slot_output(slot, 0, NULL);
		for (uint32_t w = 0; w < WORDS; w++)
			n += words[w] == (w < i % 3 * GROUP ? 9 : 0);
		right += n == WORDS;
	}
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
	return right;
}

static void
a_grid_from_a_kernel_of_the_same_run(void **state)
{
	const char *hostile = getenv("SOFTGPU_HOSTILE");
	struct gpuplan_plan_info info;

	(void)state;
	assert_int_equal(run_from_a_kernel(0, 30, &info), 30);
	/* a fill before, a wait for the kernel that writes the counts: that one is needed */
	assert_true(info.n_barriers >= 1);
	if (hostile && !strcmp(hostile, "1"))
		assert_true(run_from_a_kernel(info.n_barriers, 30, &info) < 30);
}

static void
a_grid_from_the_cpu(void **state)
{
	struct gpuplan_io in = { .region = m.host_counts, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 3 } };
	struct gpuplan_io out = { .region = m.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } };
	struct indirect s;
	struct gpuplan_command commands[] = { dt_fill(m.out, 0), indirect_fill(&s, m.host_counts, 11) };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, 2);
	static const uint32_t grids[][4] = { { 1, 1, 1, 1 }, { 2, 1, 1, 2 }, { 0, 1, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 } };
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;

	(void)state;
	params.inputs = &in;
	params.outputs = &out;
	params.n_inputs = params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	slot = acquire(plan);
	for (unsigned i = 0; i < 5 * 5; i++) {
		memcpy(gpuplan_slot_input(slot, 0, NULL), grids[i % 5], 12);
		dt_run_slot(slot, m.queue);
		check_groups(slot, grids[i % 5][3], 11);
	}
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* Staged: the stream's own copy writes the counts. */
static void
a_grid_from_a_staged_input(void **state)
{
	struct gpuplan_io in = { .region = m.counts, .dtype = GPUPLAN_U32, .rank = 1, .shape = { 3 } };
	struct gpuplan_io out = { .region = m.out, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } };
	struct indirect s;
	struct gpuplan_command commands[] = { dt_fill(m.out, 0), indirect_fill(&s, m.counts, 12) };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, 2);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;

	(void)state;
	params.inputs = &in;
	params.outputs = &out;
	params.n_inputs = params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(m.definition, &params, &plan, &error), &error);
	slot = acquire(plan);
	for (uint32_t i = 0; i < 12; i++) {
		const uint32_t grid[3] = { i % 3, 1, 1 };

		memcpy(gpuplan_slot_input(slot, 0, NULL), grid, sizeof(grid));
		dt_run_slot(slot, m.queue);
		check_groups(slot, i % 3, 12);
	}
	gpuplan_slot_release(slot);
	gpuplan_plan_destroy(plan);
}

/* Scratch that a session's run knows only as the place of a grid gets memory too. */
static void
a_session_runs_with_an_indirect_grid(void **state)
{
	struct gpuplan_session *session = dt_session(m.context);
	struct gpuplan_region counts = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 12, "counts");
	struct gpuplan_region weight = dt_weight(session, WORDS * 4, "weight");
	struct gpuplan_kernel fill = dt_kernel(m.context, session, "fill", "fill");
	struct gpuplan_binding binding = { .region = weight, .access = GPUPLAN_WRITE };
	struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_u32(5), gpuplan_arg_u32(WORDS) };
	struct gpuplan_command commands[] = {
		dt_fill(weight, 1), dt_fill(counts, 1), { .kind = GPUPLAN_DISPATCH }
	};
	uint32_t *words = malloc(WORDS * 4);
	struct gpuplan_error error;

	(void)state;
	commands[2].u.dispatch = (struct gpuplan_dispatch){
		.kernel = fill,
		.groups = { 2, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &binding,
		.n_args = 3,
		.args = args,
		.groups_from = &counts,
	};
	dt_ok(gpuplan_session_run(session, commands, 3, &error), &error);
	dt_ok(gpuplan_session_download(session, weight, words, DT_SOON, &error), &error);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(words[i], i < GROUP ? 5 : 1);
	/* and with no command that backs the place first */
	struct gpuplan_region other = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, 12, "other");

	commands[2].u.dispatch.groups_from = &other;
	args[1] = gpuplan_arg_u32(6);
	dt_ok(gpuplan_session_run(session, &commands[2], 1, &error), &error);
	dt_ok(gpuplan_session_download(session, weight, words, DT_SOON, &error), &error);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(words[i], i < GROUP ? 5 : 1); /* state is zero at first: no groups */
	free(words);
	gpuplan_session_destroy(session);
}

/* ---- */

static struct gpuplan_kernel
test_kernel(struct gpuplan_session *session, const char *object)
{
	struct gpuplan_kernel kernel;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf = dt_test_object(object, &bytes);

	dt_ok(gpuplan_session_load(session, elf, bytes, object, &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, "hidden", &kernel, &error), &error);
	free(elf);
	return kernel;
}

static void
open_world(void)
{
	struct gpuplan_session *session;

	m.context = dt_context();
	gpuplan_context_get_info(m.context, &m.info);
	session = dt_session(m.context);
	m.out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, WORDS * 4, "out");
	m.counts = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 12, "counts");
	m.host_counts = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 12, "host counts");
	m.big_a = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1 << 20, "big a");
	m.big_b = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, 1 << 20, "big b");
	m.one = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, 4, "one");
	m.fill = dt_kernel(m.context, session, "fill", "fill");
	if (!strcmp(m.info.target, "gfx1100")) {
		m.hidden[m.n_hidden++] = test_kernel(session, "args.v5.co");
		m.hidden[m.n_hidden++] = test_kernel(session, "args.v4.co");
	} else if (!strcmp(m.info.target, "gfx1030")) {
		m.hidden[m.n_hidden++] = test_kernel(session, "args.gfx1030.co");
	}
	m.definition = dt_freeze(session);
	m.queue = dt_queue(m.context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_place_changes),
		cmocka_unit_test(slots_have_their_own),
		cmocka_unit_test(refused_updates_change_nothing),
		cmocka_unit_test(a_running_slot_is_busy),
		cmocka_unit_test(a_late_run_is_busy_until_it_ends),
		cmocka_unit_test(nothing_grows_with_updates),
		cmocka_unit_test(hidden_counts_follow),
		cmocka_unit_test(a_grid_from_a_kernel_of_the_same_run),
		cmocka_unit_test(a_grid_from_the_cpu),
		cmocka_unit_test(a_grid_from_a_staged_input),
		cmocka_unit_test(a_session_runs_with_an_indirect_grid),
	};
	int r;

	open_world();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	gpuplan_queue_destroy(m.queue);
	gpuplan_definition_destroy(m.definition);
	dt_check_ledger_zero(m.context);
	gpuplan_context_destroy(m.context);
	return r;
}
