/* SPDX-License-Identifier: MIT */
/* sched.c: from a submitted job to the hardware ring and back (drivers/gpu/drm/scheduler and amdgpu_job.c).
 *
 * An entity is a FIFO. Its head goes to the ring when its dependencies have signaled and the ring has one of its two
 * credits left; more than that waits here, where a reset does not touch it. Everything runs in the thread that makes
 * it possible: the submitter, or the ring's thread that finished the job in front.
 */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <amdgpu_drm.h>

static struct sg_task *recycled;

static const char *const timeline_names[SG_IP_COUNT][SG_MAX_RINGS] = {
	[SG_IP_GFX] = { "gfx_0.0.0", "gfx_0.1.0", "gfx_0.2.0", "gfx_0.3.0" },
	[SG_IP_COMPUTE] = { "comp_1.0.0", "comp_1.1.0", "comp_1.2.0", "comp_1.3.0" },
	[SG_IP_SDMA] = { "sdma0", "sdma1", "sdma2", "sdma3" },
};

/* ---- tasks ---- */

struct sg_task *
sg_task_create(void)
{
	struct sg_task *t = recycled;

	if (t)
		recycled = t->next;
	else
		t = malloc(sizeof(*t));
	if (!t)
		return NULL;
	/* The IBs are written before they are read, and are 3 KiB. */
	memset(&t->job, 0, offsetof(struct sg_job, ibs));
	memset((char *)t + offsetof(struct sg_job, user_fence), 0,
	       offsetof(struct sg_task, deps_inline) - offsetof(struct sg_job, user_fence));
	t->deps = t->deps_inline;
	t->deps_room = SG_DEPS_INLINE;
	return t;
}

void
sg_task_free(struct sg_task *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->n_deps; i++) {
		sg_fence_remove_cb(&t->deps[i].cb);
		sg_fence_unref(t->deps[i].fence);
	}
	if (t->deps != t->deps_inline)
		free(t->deps);
	sg_gem_unref(t->user_fence_bo);
	sg_fence_unref(t->finished);
	sg_vm_unref(t->job.vm);
	sg_ctx_unref(t->ctx);
	t->next = recycled;
	recycled = t;
}

int
sg_task_depend(struct sg_task *t, struct sg_fence *fence)
{
	if (sg_fence_is_signaled(fence)) {
		sg_fence_unref(fence);
		return 0;
	}
	if (t->n_deps == t->deps_room) {
		unsigned room = t->deps_room * 2;
		struct sg_dep *bigger = malloc(room * sizeof(*bigger));
		if (!bigger) {
			sg_fence_unref(fence);
			return -ENOMEM;
		}
		memcpy(bigger, t->deps, t->n_deps * sizeof(*bigger));
		if (t->deps != t->deps_inline)
			free(t->deps);
		t->deps = bigger;
		t->deps_room = room;
	}
	/* Registered by sg_task_push, when the array does not move any more. */
	t->deps[t->n_deps++] = (struct sg_dep){ .fence = fence, .task = t };
	return 0;
}

/* ---- entities ---- */

int
sg_entity_error(const struct sg_entity *e)
{
	return e->last_scheduled ? e->last_scheduled->error : 0;
}

void
sg_entity_free(struct sg_entity *e)
{
	if (!e)
		return;
	for (unsigned i = 0; i < SG_ENTITY_DEPTH; i++)
		sg_fence_unref(e->fences[i]);
	sg_fence_unref(e->last_scheduled);
	free(e);
}

static struct sg_ring_state *
entity_ring(const struct sg_entity *e)
{
	return &sg_dev.rings[e->ip][e->ring];
}

static uint32_t
ring_bit(const struct sg_entity *e)
{
	return 1u << (e->ip * SG_MAX_RINGS + e->ring);
}

/* The head can go. */
static void
entity_ready(struct sg_entity *e)
{
	struct sg_ring_state *ring = entity_ring(e);
	enum sg_priority level = e->ctx->level;

	sg_dev.sched_pending |= ring_bit(e);
	if (e->ready)
		return;
	e->ready = true;
	e->next_ready = NULL;
	struct sg_entity **at = &ring->ready[level];
	while (*at)
		at = &(*at)->next_ready;
	*at = e;
}

static struct sg_entity *
ring_pop_ready(struct sg_ring_state *ring)
{
	for (unsigned level = 0; level < SG_PRIORITIES; level++) {
		struct sg_entity *e = ring->ready[level];
		if (!e)
			continue;
		ring->ready[level] = e->next_ready;
		e->ready = false;
		return e;
	}
	return NULL;
}

static void
ring_forget_ready(struct sg_ring_state *ring, struct sg_entity *e)
{
	for (unsigned level = 0; level < SG_PRIORITIES; level++) {
		struct sg_entity **at = &ring->ready[level];
		while (*at && *at != e)
			at = &(*at)->next_ready;
		if (*at)
			*at = e->next_ready;
	}
	e->ready = false;
}

static void
task_dep_signaled(struct sg_fence_cb *cb, struct sg_fence *fence)
{
	struct sg_task *t = ((struct sg_dep *)cb)->task;

	(void)fence;
	if (--t->waiting == 0 && t->entity->head == t)
		entity_ready(t->entity);
}

void
sg_task_push(struct sg_task *t)
{
	struct sg_entity *e = t->entity;

	t->finished->timeline = timeline_names[e->ip][e->ring];
	t->next = NULL;
	*e->tail = t;
	e->tail = &t->next;
	sg_dev.jobs_submitted++;
	t->waiting = 1;
	for (unsigned i = 0; i < t->n_deps; i++)
		if (sg_fence_add_cb(t->deps[i].fence, &t->deps[i].cb, task_dep_signaled))
			t->waiting++;
	if (--t->waiting == 0 && e->head == t)
		entity_ready(e);
}

struct sg_fence *
sg_fence_scheduled(struct sg_fence *finished)
{
	if (finished->is_scheduled || sg_fence_is_signaled(finished))
		return sg_fence_stub();
	if (!finished->scheduled)
		finished->scheduled = sg_fence_create(sg_fence_context(), 1);
	return finished->scheduled ? sg_fence_ref(finished->scheduled) : sg_fence_ref(finished);
}

/* ---- to the ring ---- */

static void task_done(struct sg_job *job, enum sg_outcome outcome, const char *why);

static bool
task_cancelled(struct sg_job *job)
{
	return __atomic_load_n(&((struct sg_task *)job)->cancel, __ATOMIC_ACQUIRE) != 0;
}

static void
task_finish(struct sg_task *t, int error)
{
	if (error)
		sg_dev.jobs_failed++;
	else
		sg_dev.jobs_done++;
	sg_fence_signal(t->finished, error);
	if (t->started_ns && t->ctx->file)
		t->ctx->file->engine_ns[t->entity->ip] += t->finished->timestamp_ns - t->started_ns;
	sg_task_free(t);
}

/* Why a job at the head must not run: amdgpu_job_prepare_job, amdgpu_job_run. */
static int
task_refused(const struct sg_task *t)
{
	int error = sg_entity_error(t->entity);

	if (error)
		return error;
	if (t->ctx->guilty)
		return -ECANCELED;
	if (t->ctx->file && t->generation != sg_file_generation(t->ctx->file))
		return -ECANCELED;
	return 0;
}

static struct sg_task *
entity_pop(struct sg_entity *e)
{
	struct sg_task *t = e->head;

	e->head = t->next;
	if (!e->head)
		e->tail = &e->head;
	else if (e->head->waiting == 0)
		entity_ready(e);
	return t;
}

static void
ring_list_task(struct sg_ring_state *ring, struct sg_task *t)
{
	t->ring_next = NULL;
	t->on_ring = true;
	struct sg_task **at = &ring->tasks;
	while (*at)
		at = &(*at)->ring_next;
	*at = t;
}

static void
ring_unlist_task(struct sg_ring_state *ring, struct sg_task *t)
{
	struct sg_task **at = &ring->tasks;

	while (*at && *at != t)
		at = &(*at)->ring_next;
	if (*at)
		*at = t->ring_next;
	t->on_ring = false;
}

static void
schedule(struct sg_ring_state *ring, struct sg_entity *e)
{
	struct sg_task *t = entity_pop(e);
	int error = task_refused(t);

	sg_fence_unref(e->last_scheduled);
	e->last_scheduled = sg_fence_ref(t->finished);
	t->finished->is_scheduled = true;
	if (t->finished->scheduled)
		sg_fence_signal(t->finished->scheduled, 0);
	if (error) {
		task_finish(t, error);
		return;
	}
	ring->in_flight++;
	sg_dev.in_flight++;
	ring_list_task(ring, t);
	if (sg_config()->execute)
		t->started_ns = (uint64_t)sg_now_ns();
	t->job.cancelled = task_cancelled;
	t->job.done = task_done;
	if (ring->stuck)
		return;
	sg_ring_submit(&t->job); /* with SOFTGPU_EXECUTE=0 done has run when this returns */
}

bool
sg_task_pretend(struct sg_task *t)
{
	struct sg_entity *e = t->entity;

	if (t->n_deps || e->head || sg_dev.gate || sg_config()->execute)
		return false;
	int error = task_refused(t);
	sg_fence_unref(e->last_scheduled);
	e->last_scheduled = sg_fence_ref(t->finished);
	t->finished->is_scheduled = true;
	sg_dev.jobs_submitted++;
	if (!error)
		sg_ring_pretend(&t->job);
	task_finish(t, error);
	return true;
}

void
sg_sched_run(void)
{
	while (sg_dev.sched_pending && !sg_dev.gate) {
		unsigned bit = (unsigned)__builtin_ctz(sg_dev.sched_pending);
		struct sg_ring_state *ring = &sg_dev.rings[bit / SG_MAX_RINGS][bit % SG_MAX_RINGS];
		struct sg_entity *e;

		sg_dev.sched_pending &= ~(1u << bit);
		while (ring->in_flight < SG_RING_CREDITS && (e = ring_pop_ready(ring)) != NULL)
			schedule(ring, e);
	}
}

/* ---- and back ---- */

static void
count_failure(enum sg_outcome outcome)
{
	switch (outcome) {
	case SG_JOB_HANG: sg_dev.hangs++; break;
	case SG_JOB_ILLEGAL: sg_dev.illegals++; break;
	default: sg_dev.faults++; break;
	}
}

static void
cancel_ring(struct sg_ring_state *ring)
{
	for (struct sg_task *t = ring->tasks; t; t = t->ring_next)
		__atomic_store_n(&t->cancel, -ECANCELED, __ATOMIC_RELEASE);
}

/* Every job on any ring ends, those that run as well. The hung one's own ring goes on and finds the next cancelled. */
static void
reset_rings(void)
{
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned r = 0; r < SG_MAX_RINGS; r++) {
			cancel_ring(&sg_dev.rings[ip][r]);
			sg_ring_reset((enum sg_ip)ip, r);
		}
	}
}

/* amdgpu.gpu_recovery=0: the fence is marked and never signals, and what is behind it on the ring never runs. */
static void
ring_stick(struct sg_ring_state *ring, struct sg_task *t, enum sg_outcome outcome)
{
	if (ring->stuck)
		return;
	ring->stuck = true;
	t->finished->error = -ETIME;
	count_failure(outcome);
	cancel_ring(ring);
}

static void
lose_vram(void)
{
	sg_dev.vram_lost_counter++;
	for (struct sg_gem *g = sg_dev.gems; g; g = g->next)
		if (g->placed == AMDGPU_GEM_DOMAIN_VRAM && g->bo && !g->bo->user_memory)
			madvise(g->bo->host, g->bo->bytes, MADV_REMOVE);
}

static void
reset_gpu(void)
{
	reset_rings();
	if (sg_config()->vram_lost)
		lose_vram();
}

/* A job has hung or broken the ring; what the kernel's recovery does to it and to others. Returns its error. */
static int
recover(struct sg_task *t, enum sg_outcome outcome)
{
	const struct sg_config *config = sg_config();

	sg_dev.reset_counter++;
	count_failure(outcome);
	if (strcmp(config->recovery, "soft") == 0) {
		/* The waves are killed and the ring goes on to the fence packets behind the IBs. */
		if (t->job.user_fence)
			__atomic_store_n(t->job.user_fence, t->job.user_fence_value, __ATOMIC_RELEASE);
		return -ENODATA;
	}
	if (strcmp(config->recovery, "ring") == 0) {
		cancel_ring(entity_ring(t->entity));
		return -ECANCELED;
	}
	t->ctx->guilty = true;
	reset_gpu();
	return -ECANCELED;
}

/* As the kernel's recovery by hand (debugfs): nobody is guilty. */
void
sg_gpu_recover(void)
{
	sg_lock();
	sg_dev.reset_counter++;
	reset_gpu();
	sg_unlock();
}

/* SOFTGPU_RESET_EVERY: as if a job of another process had hung; nobody here is guilty. The job in hand is lost with the
 * others, though all it wrote is there. */
static bool
foreign_reset(void)
{
	const struct sg_config *config = sg_config();

	if (!config->reset_every || ++sg_dev.jobs_to_reset % config->reset_every)
		return false;
	sg_dev.reset_counter++;
	reset_gpu();
	return true;
}

static void
task_done(struct sg_job *job, enum sg_outcome outcome, const char *why)
{
	struct sg_task *t = (struct sg_task *)job;
	struct sg_ring_state *ring = entity_ring(t->entity);
	int error;

	(void)why; /* hw/ has put it into its report */
	sg_lock();
	bool failed = outcome != SG_JOB_DONE && outcome != SG_JOB_SKIPPED;
	if (ring->stuck || (failed && !t->cancel && strcmp(sg_config()->recovery, "none") == 0)) {
		ring_stick(ring, t, outcome);
		sg_unlock();
		return;
	}
	ring_unlist_task(ring, t);
	ring->in_flight--;
	sg_dev.in_flight--;
	/* Not guilty of anything after another job's reset took it along, whatever it did then. */
	if (t->cancel)
		error = t->cancel;
	else if (outcome == SG_JOB_DONE)
		error = foreign_reset() ? -ECANCELED : 0;
	else if (outcome == SG_JOB_SKIPPED)
		error = -ECANCELED;
	else
		error = recover(t, outcome);
	if (outcome == SG_JOB_SKIPPED)
		sg_dev.skipped++;
	sg_dev.sched_pending |= ring_bit(t->entity);
	task_finish(t, error);
	sg_unlock();
}

/* ---- ends ---- */

/* A reference on the fence that says when the last job of some entity of this file is on the hardware; NULL: all are. */
static struct sg_fence *
last_queued(struct sg_file *file)
{
	for (uint32_t id = 1; id <= file->ctxs.room; id++) {
		struct sg_ctx *ctx = sg_ctx_find(file, id);
		for (unsigned i = 0; ctx && i < SG_IP_COUNT * SG_MAX_RINGS; i++) {
			struct sg_entity *e = ctx->entities[i / SG_MAX_RINGS][i % SG_MAX_RINGS];
			struct sg_task *t = e ? e->head : NULL;
			while (t && t->next)
				t = t->next;
			if (t)
				return sg_fence_scheduled(t->finished);
		}
	}
	return NULL;
}

void
sg_file_drain(struct sg_file *file, int64_t patience_ns)
{
	struct sg_fence *queued;

	while ((queued = last_queued(file)) != NULL) {
		sg_fence_wait(queued, INT64_MAX, false);
		sg_fence_unref(queued);
	}
	sg_resv_wait(&file->root, sg_now_ns() + patience_ns, true);
}

void
sg_ctx_kill(struct sg_ctx *ctx)
{
	sg_ctx_ref(ctx);
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned r = 0; r < SG_MAX_RINGS; r++) {
			struct sg_entity *e = ctx->entities[ip][r];
			if (!e)
				continue;
			while (e->head) {
				struct sg_task *t = entity_pop(e);
				task_finish(t, -ESRCH);
			}
			ring_forget_ready(entity_ring(e), e);
		}
	}
	sg_ctx_unref(ctx);
}

bool
sg_sched_quiesce(unsigned ms)
{
	int64_t deadline = sg_now_ns() + (int64_t)ms * 1000000;

	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned r = 0; r < SG_MAX_RINGS;) {
			struct sg_task *t = sg_dev.rings[ip][r].stuck ? NULL : sg_dev.rings[ip][r].tasks;
			if (!t)
				r++;
			else if (sg_fence_wait(t->finished, deadline, false))
				return false;
		}
	}
	return true;
}
