/* SPDX-License-Identifier: MIT */
/* workers.c: runs workgroups on shader cores and turns a core's stop into the job's outcome. */
#define _GNU_SOURCE
#include "workers.h"

#include "host.h"
#include "pool.h"
#include "stats.h"

#include <string.h>

static enum sg_outcome
outcome_of(enum sg_stop_reason reason)
{
	switch (reason) {
	case SG_STOP_ILLEGAL: return SG_JOB_ILLEGAL;
	case SG_STOP_FAULT: return SG_JOB_FAULT;
	default: return SG_JOB_HANG; /* no trap handler is installed: a trapped or deadlocked wave never ends */
	}
}

static const char *
reason_text(enum sg_stop_reason reason)
{
	switch (reason) {
	case SG_STOP_ILLEGAL: return "illegal instruction";
	case SG_STOP_FAULT: return "VM fault";
	case SG_STOP_TRAP: return "trap without handler";
	case SG_STOP_TIMEOUT: return "shader did not end";
	case SG_STOP_DEADLOCK: return "barrier deadlock";
	default: return "stopped";
	}
}

/* ---- cores ---- */

static struct sg_core *helper_cores[SG_HELPERS_MAX]; /* each used by its helper while that is inside a task */

static struct sg_core *
core_of(struct sg_core **core, const struct sg_run *run)
{
	if (!*core) {
		struct sg_core *made = sg_core_create();
		if (made)
			sg_core_count_opcodes(made, run->config->report != NULL);
		__atomic_store_n(core, made, __ATOMIC_RELEASE); /* a report may look */
	}
	return *core;
}

/* ---- work ---- */

struct task {
	struct sg_workers *workers;
	struct sg_run *run;
	const struct sg_dispatch *dispatch;
	uint64_t first, count, chunk;
	uint64_t next;		/* atomic: offset of the first group nobody has taken */
	uint32_t reported;	/* atomic: `stop` is somebody's */
	struct sg_stop stop;
};

/* The first report counts; it also stops the others, whose own it outruns. */
static void
task_report(struct task *t, const struct sg_stop *stop)
{
	if (!__atomic_exchange_n(&t->reported, 1, __ATOMIC_ACQ_REL))
		t->stop = *stop;
	__atomic_store_n(&t->run->stop, true, __ATOMIC_RELAXED);
}

/* False: a stop. */
static bool
run_chunk(struct task *t, struct sg_core *core, uint64_t at, uint64_t n)
{
	struct sg_counters *counters = t->run->counters;
	struct sg_isa_stats before = *sg_core_stats(core);
	struct sg_stop stop = { 0 };

	enum sg_stop_reason reason = sg_core_run(core, t->dispatch, &t->run->mem, t->first + at, n, &stop);
	sg_count_shared(&counters->waves, sg_core_stats(core)->waves - before.waves);
	sg_count_shared(&counters->instructions, sg_core_stats(core)->instructions - before.instructions);
	if (reason != SG_STOP_NONE)
		task_report(t, &stop);
	return reason == SG_STOP_NONE;
}

static void
task_work(struct task *t, struct sg_core **own)
{
	struct sg_core *core = core_of(own, t->run);

	/* Without memory for a core of its own a helper leaves the work to the others. */
	while (core && !__atomic_load_n(&t->run->stop, __ATOMIC_RELAXED)) {
		uint64_t at = __atomic_fetch_add(&t->next, t->chunk, __ATOMIC_RELAXED);
		if (at >= t->count)
			return;
		if (!run_chunk(t, core, at, t->count - at < t->chunk ? t->count - at : t->chunk))
			return;
	}
}

static void
helper_work(void *arg, unsigned helper)
{
	task_work(arg, &helper_cores[helper]);
}

/* All groups from next on, by this thread and perhaps others. */
static void
task_run(struct task *t, unsigned threads)
{
	bool helped = threads > 1 && sg_pool_begin(threads - 1, helper_work, t);

	task_work(t, &t->workers->core);
	if (helped)
		sg_pool_end();
}

/* Says why the groups have not all run, if so. */
static bool
task_finish(struct task *t)
{
	struct sg_run *run = t->run;
	uint64_t pc = t->dispatch->pc;

	if (t->reported)
		sg_run_fail(run, outcome_of(t->stop.reason), "%s at pc 0x%llx (code 0x%llx + 0x%llx): %s",
			    reason_text(t->stop.reason), (unsigned long long)t->stop.pc, (unsigned long long)pc,
			    (unsigned long long)(t->stop.pc - pc), t->stop.text);
	else if (!t->workers->core)
		sg_run_fail(run, SG_JOB_HANG, "out of host memory for a shader core");
	else if (t->next < t->count)
		sg_run_timed_out(run);
	return !run->failed;
}

/* ---- how many threads ---- */

#define CHUNK_MAX 1024u	/* between two looks at the watchdog */
#define CHUNK_NS 20000u	/* each call of a core validates its decoded code, so not too short */
#define SHARE_NS 100000u /* a shorter dispatch is over before a helper that sleeps has come */
#define SHARE_GROUPS 8u

static struct sg_program_time *
time_of(struct sg_workers *w, uint64_t pc)
{
	struct sg_program_time *time = &w->times[(pc * 0x9e3779b97f4a7c15ull) >> 58];

	if (time->pc != pc)
		*time = (struct sg_program_time){ .pc = pc };
	return time;
}

static void
remember(struct sg_program_time *time, uint64_t began, uint64_t groups)
{
	time->group_ns = (sg_host_ns() - began) / groups + 1;
}

static bool
worth_sharing(const struct sg_program_time *time, uint64_t groups)
{
	return groups >= SHARE_GROUPS && time->group_ns >= SHARE_NS / groups;
}

static uint64_t
chunk_for(const struct sg_program_time *time, uint64_t groups, unsigned threads)
{
	uint64_t chunk = groups / (threads * 8ull), most = groups / threads;

	if (chunk < CHUNK_NS / time->group_ns)
		chunk = CHUNK_NS / time->group_ns;
	if (chunk > most)
		chunk = most;
	return chunk < 1 ? 1 : chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
}

static void
run_alone(struct task *t)
{
	struct sg_program_time *time = time_of(t->workers, t->dispatch->pc);
	uint64_t began = sg_host_ns();

	task_run(t, 1);
	remember(time, began, t->count);
}

/* One group first when nothing is known of the program. */
static void
run_shared(struct task *t, unsigned threads)
{
	struct sg_program_time *time = time_of(t->workers, t->dispatch->pc);
	uint64_t all = t->count, began = sg_host_ns();

	if (time->group_ns == 0) {
		t->count = 1;
		task_run(t, 1);
		remember(time, began, 1);
		t->next = 1;
		t->count = all;
	}
	if (!worth_sharing(time, t->count - t->next)) {
		run_alone(t);
		return;
	}
	t->chunk = chunk_for(time, t->count - t->next, threads);
	began = sg_host_ns();
	uint64_t groups = t->count - t->next;
	task_run(t, threads);
	time->group_ns = (sg_host_ns() - began) * threads / groups + 1;
}

bool
sg_workers_run(struct sg_workers *w, struct sg_run *run, const struct sg_dispatch *d, uint64_t first, uint64_t count)
{
	struct task t = { .workers = w, .run = run, .dispatch = d, .first = first, .count = count,
			  .chunk = count < CHUNK_MAX ? count : CHUNK_MAX };
	unsigned threads = run->config->hostile ? 1 : run->config->threads;

	if (threads <= 1 || count < SHARE_GROUPS)
		task_run(&t, 1);
	else
		run_shared(&t, threads);
	return task_finish(&t);
}

/* ---- the rest ---- */

void
sg_workers_opcodes(struct sg_workers *w, void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg)
{
	const struct sg_core *core = __atomic_load_n(&w->core, __ATOMIC_ACQUIRE);

	if (core)
		sg_core_opcodes(core, emit, arg);
}

void
sg_workers_helper_opcodes(void (*emit)(void *arg, const char *mnemonic, uint64_t count), void *arg)
{
	for (unsigned i = 0; i < SG_HELPERS_MAX; i++) {
		const struct sg_core *core = __atomic_load_n(&helper_cores[i], __ATOMIC_ACQUIRE);
		if (core)
			sg_core_opcodes(core, emit, arg);
	}
}

/* A core in the middle of something is no use in the child. */
void
sg_workers_after_fork(void)
{
	if (sg_pool_after_fork())
		memset(helper_cores, 0, sizeof(helper_cores));
}
