/* SPDX-License-Identifier: MIT */
/* ring.c: hardware rings, one host thread each, and the watchdog.
 *
 * Submitting to a ring that is awake makes no system call: jobs are pushed on a lock-free stack and the ring's thread
 * looks at it for spin_us before it sleeps. The watchdog thread looks at the running jobs every few milliseconds,
 * and sleeps as long as all rings do.
 */
#define _GNU_SOURCE
#include "ring.h"

#include "cp.h"
#include "guard.h"
#include "host.h"
#include "pool.h"
#include "sdma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ring {
	enum sg_ip ip;
	unsigned index;
	struct sg_job *incoming;	/* newest first; atomic: any thread pushes, the ring's takes all */
	uint32_t asleep;		/* futex: 1 = the thread sleeps or is about to */
	uint64_t submitted, completed;	/* jobs; atomic */
	bool started, quit;		/* started: start_lock; quit: atomic */
	pthread_t thread;		/* start_lock */

	/* ring's thread only */
	struct sg_job *queue;		/* oldest first */
	struct sg_cp *cp;
	struct sg_sdma *sdma;
	uint64_t number;		/* jobs begun */

	pthread_spinlock_t watch_lock;	/* protects the two below */
	uint64_t busy_since;		/* ns; 0 = idle */
	struct sg_run *running;

	struct sg_counters counters;
};

static struct ring rings[SG_IP_COUNT][SG_RINGS_MAX];
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t rings_once = PTHREAD_ONCE_INIT;
static __thread struct ring *own_ring; /* of a ring's thread */

static struct {
	bool started;		/* start_lock */
	pthread_t thread;	/* start_lock */
	uint32_t asleep;	/* futex */
	uint32_t rings_awake;	/* atomic */
	uint32_t quit;		/* futex */
} watchdog;

/* ---- small things ---- */

uint64_t
sg_gpu_clock(void)
{
	uint64_t ns = sg_host_ns(), khz = sg_config()->profile->counter_khz;

	/* Split so that it does not overflow after a few hours of uptime. */
	return ns / 1000000 * khz + ns % 1000000 * khz / 1000000;
}

/* ---- watchdog ---- */

static void
watch_begin(struct ring *ring, struct sg_run *run)
{
	pthread_spin_lock(&ring->watch_lock);
	__atomic_store_n(&run->stop, __atomic_load_n(&ring->quit, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&run->reset, false, __ATOMIC_RELAXED);
	ring->running = run;
	ring->busy_since = sg_host_ns();
	pthread_spin_unlock(&ring->watch_lock);
}

static void
watch_end(struct ring *ring)
{
	pthread_spin_lock(&ring->watch_lock);
	ring->busy_since = 0;
	ring->running = NULL;
	pthread_spin_unlock(&ring->watch_lock);
}

/* Tells a running job to stop if it began before the given time. */
static void
watch_stop(struct ring *ring, uint64_t began_before)
{
	pthread_spin_lock(&ring->watch_lock);
	if (ring->busy_since != 0 && ring->busy_since < began_before)
		__atomic_store_n(&ring->running->stop, true, __ATOMIC_RELAXED);
	pthread_spin_unlock(&ring->watch_lock);
}

void
sg_ring_reset(enum sg_ip ip, unsigned index)
{
	struct ring *ring = &rings[ip][index % SG_RINGS_MAX];

	if (ring == own_ring || !__atomic_load_n(&ring->started, __ATOMIC_ACQUIRE))
		return;
	pthread_spin_lock(&ring->watch_lock);
	if (ring->running) {
		__atomic_store_n(&ring->running->reset, true, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->running->stop, true, __ATOMIC_RELEASE);
	}
	pthread_spin_unlock(&ring->watch_lock);
}

static void
watch_all(void)
{
	uint64_t limit = sg_config()->lockup_ms * 1000000ull, now = sg_host_ns();

	if (limit == 0 || limit > now)
		return;
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		for (unsigned i = 0; i < SG_RINGS_MAX; i++)
			watch_stop(&rings[ip][i], now - limit);
}

static uint64_t
watch_period_ns(void)
{
	uint64_t ms = sg_config()->lockup_ms / 8;

	return (ms < 1 ? 1 : ms > 100 ? 100 : ms) * 1000000;
}

static void *
watchdog_main(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "softgpu-watch");
	while (!__atomic_load_n(&watchdog.quit, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&watchdog.rings_awake, __ATOMIC_SEQ_CST) > 0) {
			sg_futex_wait(&watchdog.quit, 0, watch_period_ns());
			watch_all();
			continue;
		}
		__atomic_store_n(&watchdog.asleep, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&watchdog.rings_awake, __ATOMIC_SEQ_CST) == 0 &&
		    !__atomic_load_n(&watchdog.quit, __ATOMIC_SEQ_CST))
			sg_futex_wait(&watchdog.asleep, 1, 0);
		__atomic_store_n(&watchdog.asleep, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void
watchdog_wake(void)
{
	if (__atomic_exchange_n(&watchdog.asleep, 0, __ATOMIC_SEQ_CST))
		sg_futex_wake(&watchdog.asleep, 1);
}

static void
ring_awake(void)
{
	if (__atomic_fetch_add(&watchdog.rings_awake, 1, __ATOMIC_SEQ_CST) == 0)
		watchdog_wake();
}

static void
ring_asleep(void)
{
	__atomic_fetch_sub(&watchdog.rings_awake, 1, __ATOMIC_SEQ_CST);
}

/* ---- queue ---- */

static void
ring_wake(struct ring *ring)
{
	if (__atomic_exchange_n(&ring->asleep, 0, __ATOMIC_SEQ_CST))
		sg_futex_wake(&ring->asleep, 1);
}

static bool
ring_has_news(const struct ring *ring)
{
	return __atomic_load_n(&ring->incoming, __ATOMIC_SEQ_CST) || __atomic_load_n(&ring->quit, __ATOMIC_SEQ_CST);
}

static void
ring_sleep(struct ring *ring)
{
	ring_asleep();
	__atomic_store_n(&ring->asleep, 1, __ATOMIC_SEQ_CST);
	while (!ring_has_news(ring) && __atomic_load_n(&ring->asleep, __ATOMIC_SEQ_CST))
		sg_futex_wait(&ring->asleep, 1, 0);
	__atomic_store_n(&ring->asleep, 0, __ATOMIC_SEQ_CST);
	ring_awake();
}

/* Waits for a job or the end: first awake, then asleep. */
static void
ring_wait(struct ring *ring)
{
	uint64_t until = sg_host_ns() + sg_config()->spin_us * 1000ull;

	do {
		for (unsigned i = 0; i < 64; i++) {
			if (ring_has_news(ring))
				return;
			sg_cpu_relax();
		}
	} while (sg_host_ns() < until);
	ring_sleep(ring);
}

/* Moves what has come in behind the queue, which is empty. */
static void
ring_take(struct ring *ring)
{
	struct sg_job *job = __atomic_exchange_n(&ring->incoming, NULL, __ATOMIC_ACQUIRE);

	while (job) {
		struct sg_job *older = job->next;
		job->next = ring->queue;
		ring->queue = job;
		job = older;
	}
}

static struct sg_job *
ring_next(struct ring *ring)
{
	while (!ring->queue) {
		ring_take(ring);
		if (ring->queue)
			break;
		if (__atomic_load_n(&ring->quit, __ATOMIC_ACQUIRE))
			return NULL;
		ring_wait(ring);
	}
	struct sg_job *job = ring->queue;
	ring->queue = job->next;
	return job;
}

/* ---- jobs ---- */

/* A job that failed leaves its user fence alone, except that soft recovery lets the ring go on to it. */
static void
job_user_fence(struct sg_job *job, enum sg_outcome outcome)
{
	bool soft = strcmp(sg_config()->recovery, "soft") == 0;

	if (job->user_fence && (outcome == SG_JOB_DONE || (soft && outcome != SG_JOB_SKIPPED)))
		__atomic_store_n(job->user_fence, job->user_fence_value, __ATOMIC_RELEASE);
}

/* Not for longer than the ring has to live. */
static void
ring_delay(const struct ring *ring, unsigned us)
{
	uint64_t until = sg_host_ns() + us * 1000ull, now;

	while (us && (now = sg_host_ns()) < until && !__atomic_load_n(&ring->quit, __ATOMIC_RELAXED)) {
		uint64_t ns = until - now < 1000000 ? until - now : 1000000;
		nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
	}
}

static void
job_end(void *arg, struct sg_job *job, enum sg_outcome outcome, const char *why)
{
	struct ring *ring = arg;
	struct sg_vm *vm = job->vm;

	if (sg_guard_missed(vm)) {
		sg_count(&ring->counters.faults, 1);
		if (sg_config()->strict && outcome == SG_JOB_DONE) {
			outcome = SG_JOB_FAULT;
			why = "VM fault: the program unmapped user memory that the job uses";
		}
	}
	if (outcome != SG_JOB_DONE && outcome != SG_JOB_SKIPPED)
		sg_count_failure(&ring->counters, why);
	if (outcome != SG_JOB_SKIPPED)
		ring_delay(ring, sg_config()->fence_delay_us);
	job_user_fence(job, outcome);
	job->done(job, outcome, why); /* the job is gone */
	sg_vm_unref(vm);
	__atomic_fetch_add(&ring->completed, 1, __ATOMIC_RELEASE);
}

/* A reset that came before watch_begin. */
static void
stop_if_cancelled(struct sg_run *run, struct sg_job *job)
{
	if (!job || !job->cancelled || !job->cancelled(job))
		return;
	__atomic_store_n(&run->reset, true, __ATOMIC_RELAXED);
	__atomic_store_n(&run->stop, true, __ATOMIC_RELEASE);
}

static void
ring_rearm(void *arg)
{
	struct ring *ring = arg;

	watch_begin(ring, &ring->cp->run);
	for (unsigned i = 0; i < SG_CP_JOBS; i++)
		stop_if_cancelled(&ring->cp->run, ring->cp->jobs[i].job);
}

static struct sg_run *
ring_engine(struct ring *ring)
{
	if (ring->ip == SG_IP_SDMA) {
		if (!ring->sdma)
			ring->sdma = sg_sdma_create(ring->index, &ring->counters);
		return ring->sdma ? &ring->sdma->run : NULL;
	}
	if (!ring->cp) {
		struct sg_cp *cp = sg_cp_create(ring->ip, ring->index, &ring->counters);
		if (cp)
			cp->owner = (struct sg_cp_owner){ .job_end = job_end, .rearm = ring_rearm, .arg = ring };
		__atomic_store_n(&ring->cp, cp, __ATOMIC_RELEASE); /* a report may look */
	}
	return ring->cp ? &ring->cp->run : NULL;
}

static void
job_execute(struct ring *ring, struct sg_job *job)
{
	struct sg_run *run = ring_engine(ring);

	if (!run) {
		job_end(ring, job, SG_JOB_HANG, "out of host memory");
		return;
	}
	sg_count(&ring->counters.jobs, 1);
	watch_begin(ring, run);
	stop_if_cancelled(run, job);
	if (ring->ip != SG_IP_SDMA) {
		sg_cp_run(ring->cp, job, ring->number);
	} else {
		sg_sdma_run(ring->sdma, job, ring->number);
		job_end(ring, job, run->outcome, run->why);
	}
}

/* Ends what was left for the next job to overlap with. */
static void
ring_settle(struct ring *ring)
{
	if (ring->cp && sg_cp_pending(ring->cp))
		sg_cp_settle(ring->cp);
	watch_end(ring);
}

static void
ring_run(struct ring *ring, struct sg_job *job)
{
	ring->number++;
	if (ring->cp && !sg_cp_joins(ring->cp, job))
		ring_settle(ring);
	/* Before the job does anything, so that it is late as a whole. */
	ring_delay(ring, sg_config()->job_delay_us);
	if (__atomic_load_n(&ring->quit, __ATOMIC_ACQUIRE) || (job->cancelled && job->cancelled(job))) {
		ring_settle(ring);
		job_end(ring, job, SG_JOB_SKIPPED, "cancelled before it ran");
	} else {
		job_execute(ring, job);
	}
	if (!ring->queue)
		ring_take(ring);
	if (!ring->queue)
		ring_settle(ring);
}

static void *
ring_main(void *arg)
{
	static const char *const names[SG_IP_COUNT] = { "gfx", "comp", "sdma" };
	struct ring *ring = arg;
	struct sg_job *job;
	char name[16];

	own_ring = ring;
	sg_guard_thread();
	snprintf(name, sizeof(name), "softgpu-%s%u", names[ring->ip], ring->index % SG_RINGS_MAX);
	pthread_setname_np(pthread_self(), name);
	ring_awake();
	while ((job = ring_next(ring)))
		ring_run(ring, job);
	ring_asleep();
	return NULL;
}

/* ---- fork: a child has the rings but not their threads ---- */

static void
fork_prepare(void)
{
	sg_ring_drain_all();
	pthread_mutex_lock(&start_lock);
	sg_stale_lock_for_fork();
}

static void
fork_parent(void)
{
	sg_stale_unlock_after_fork(false);
	pthread_mutex_unlock(&start_lock);
}

static void
fork_child(void)
{
	sg_stale_unlock_after_fork(true);
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned i = 0; i < SG_RINGS_MAX; i++) {
			struct ring *ring = &rings[ip][i];
			ring->started = false;
			ring->asleep = 0;
			/* A job another thread submitted during the fork stays the parent's. */
			ring->incoming = ring->queue = NULL;
			ring->completed = ring->submitted;
			/* In the middle of such a job an engine is no use here. */
			if (ring->busy_since != 0) {
				ring->cp = NULL;
				ring->sdma = NULL;
			}
			ring->busy_since = 0;
			pthread_spin_init(&ring->watch_lock, PTHREAD_PROCESS_PRIVATE);
		}
	}
	watchdog.started = false;
	watchdog.asleep = watchdog.rings_awake = 0;
	sg_workers_after_fork();
	own_ring = NULL;
	pthread_mutex_unlock(&start_lock);
}

static void
rings_init(void)
{
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned i = 0; i < SG_RINGS_MAX; i++) {
			rings[ip][i].ip = (enum sg_ip)ip;
			rings[ip][i].index = i;
			pthread_spin_init(&rings[ip][i].watch_lock, PTHREAD_PROCESS_PRIVATE);
		}
	}
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- entry points ---- */

static bool
ring_start(struct ring *ring)
{
	pthread_mutex_lock(&start_lock);
	if (!watchdog.started)
		watchdog.started = sg_start_thread(&watchdog.thread, watchdog_main, NULL) == 0;
	if (!ring->started)
		__atomic_store_n(&ring->started, sg_start_thread(&ring->thread, ring_main, ring) == 0, __ATOMIC_RELEASE);
	bool started = ring->started;
	pthread_mutex_unlock(&start_lock);
	return started;
}

void
sg_ring_init(void)
{
	pthread_once(&rings_once, rings_init);
}

void
sg_ring_submit(struct sg_job *job)
{
	sg_ring_init();
	struct ring *ring = &rings[job->ip % SG_IP_COUNT][job->ring % SG_RINGS_MAX];

	if (!sg_config()->execute) {
		sg_ring_pretend(job);
		job->done(job, SG_JOB_DONE, "");
		return;
	}
	if (!__atomic_load_n(&ring->started, __ATOMIC_ACQUIRE) && !ring_start(ring)) {
		job->done(job, SG_JOB_HANG, "cannot start a host thread for the ring");
		return;
	}
	sg_vm_ref(job->vm);
	__atomic_fetch_add(&ring->submitted, 1, __ATOMIC_RELAXED);
	job->next = __atomic_load_n(&ring->incoming, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&ring->incoming, &job->next, job, true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	ring_wake(ring);
}

static void
ring_drain(struct ring *ring)
{
	uint64_t target = __atomic_load_n(&ring->submitted, __ATOMIC_ACQUIRE);

	if (ring == own_ring)
		return; /* a job's done callback must not wait for itself */
	for (unsigned turn = 0; __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE) < target; turn++)
		sg_run_pause(turn);
}

void
sg_ring_drain_all(void)
{
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		for (unsigned i = 0; i < SG_RINGS_MAX; i++)
			ring_drain(&rings[ip][i]);
}

static void
ring_stop(struct ring *ring)
{
	if (!ring->started)
		return;
	__atomic_store_n(&ring->quit, true, __ATOMIC_SEQ_CST);
	watch_stop(ring, UINT64_MAX);
	ring_wake(ring);
	pthread_join(ring->thread, NULL);
	__atomic_store_n(&ring->started, false, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->quit, false, __ATOMIC_SEQ_CST);
}

void
sg_ring_stop_all(void)
{
	pthread_mutex_lock(&start_lock);
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		for (unsigned i = 0; i < SG_RINGS_MAX; i++)
			ring_stop(&rings[ip][i]);
	sg_pool_stop();
	if (watchdog.started) {
		__atomic_store_n(&watchdog.quit, 1, __ATOMIC_SEQ_CST);
		sg_futex_wake(&watchdog.quit, 1);
		watchdog_wake();
		pthread_join(watchdog.thread, NULL);
		watchdog.started = false;
		watchdog.quit = 0;
	}
	pthread_mutex_unlock(&start_lock);
}

struct sg_counters *
sg_ring_counters(enum sg_ip ip, unsigned ring)
{
	return &rings[ip][ring].counters;
}

struct sg_workers *
sg_ring_workers(enum sg_ip ip, unsigned ring)
{
	struct sg_cp *cp = __atomic_load_n(&rings[ip][ring].cp, __ATOMIC_ACQUIRE);

	return cp ? &cp->workers : NULL;
}
