/* SPDX-License-Identifier: MIT */
/* upload.c: bytes into and out of device memory, by the copy engine of the session's compute queue. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "error.h"
#include "session.h"

/* Command area of a lane: the longest stream copies GP_UPLOAD_CHUNK bytes in DMA packets of 7 dwords for 32 KiB each
 * (gfx11), 231 dwords beside begin, barrier and signal. */
#define COMMAND_BYTES 4096u
/* Completion words stand on cache lines of their own. */
#define WORD_STRIDE 64u
/* Small models need small staging only. */
#define MIN_CHUNK 65536u

enum job_kind { JOB_COPY, JOB_CODE, JOB_ZERO, JOB_FENCE };

struct job {
	enum job_kind kind;
	uint64_t dst, src, bytes;
};

/* ---- lanes ---- */

static int
words_create(struct gpuplan_session *session, struct gpuplan_error *error)
{
	if (session->upload.words)
		return 0;
	return gp_buffer_create(session->context, GP_UPLOAD_LANES * WORD_STRIDE, GP_HEAP_HOST, GP_FOR_SESSION,
				"session's completion words", &session->upload.words, error);
}

static uint64_t
lane_word_offset(const struct gp_upload *upload, const struct gp_upload_lane *lane)
{
	return (uint64_t)(lane - upload->lanes) * WORD_STRIDE;
}

static int
lane_init_run(struct gpuplan_session *session, struct gp_upload_lane *lane, struct gpuplan_error *error)
{
	struct gp_upload *upload = &session->upload;
	char *words;

	if (lane->run.context)
		return 0;
	words = upload->words->cpu;
	return gp_run_init(&lane->run, session->context, NULL,
			   (volatile uint64_t *)(void *)(words + lane_word_offset(upload, lane)), error);
}

/* Only an idle lane's buffer may be replaced. */
static int
lane_reserve(struct gpuplan_session *session, struct gp_upload_lane *lane, uint64_t chunk, struct gpuplan_error *error)
{
	struct gp_buffer *buffer;
	int r;

	if (lane->buffer && chunk <= lane->chunk)
		return 0;
	gp_buffer_destroy(lane->buffer);
	lane->buffer = NULL;
	r = gp_buffer_create(session->context, COMMAND_BYTES + chunk, GP_HEAP_UPLOAD, GP_FOR_SESSION, "session's staging",
			     &buffer, error);
	if (r)
		return r;
	lane->buffer = buffer;
	lane->chunk = buffer->bytes - COMMAND_BYTES;
	return 0;
}

/* The next lane, idle, with room for chunk bytes. */
static int
lane_take(struct gpuplan_session *session, uint64_t chunk, uint64_t deadline, struct gp_upload_lane **out,
	  struct gpuplan_error *error)
{
	struct gp_upload *upload = &session->upload;
	struct gp_upload_lane *lane = &upload->lanes[upload->next];
	bool first = !upload->words;
	int r = gp_session_queue(session, error);

	while (!r && lane->number)
		r = gp_session_judge_oldest(session, deadline, error);
	if (!r)
		r = words_create(session, error);
	if (!r)
		r = lane_init_run(session, lane, error);
	if (!r)
		r = lane_reserve(session, lane, chunk, error);
	if (r && first)
		gp_upload_finish(upload);
	if (r)
		return r;
	upload->next = (upload->next + 1) % GP_UPLOAD_LANES;
	*out = lane;
	return 0;
}

static uint64_t
lane_data_va(const struct gp_upload_lane *lane)
{
	return lane->buffer->va + COMMAND_BYTES;
}

static void *
lane_data(const struct gp_upload_lane *lane)
{
	return (char *)lane->buffer->cpu + COMMAND_BYTES;
}

/* ---- one submission ---- */

/* The dispatches of an earlier run may still execute when this stream starts: wait for them first. Code that has come
 * makes instruction caches forget what was at its addresses before, once for all jobs that will run it. */
static void
emit_job(struct gp_emit *e, const struct job *job, uint64_t word_va)
{
	const struct gp_emit_ops *ops = e->target->emit;
	struct gp_emit_private none = { .bytes_per_wave = 0 };

	ops->begin(e, &none, GP_BEGIN_RUN);
	ops->barrier(e, PLAN_BARRIER_WAIT | PLAN_BARRIER_INVALIDATE);
	if (job->kind == JOB_COPY || job->kind == JOB_CODE)
		ops->copy(e, gp_ref_absolute(job->dst), gp_ref_absolute(job->src), job->bytes);
	if (job->kind == JOB_CODE)
		ops->begin(e, &none, GP_BEGIN_AFTER_UPLOAD);
	else if (job->kind == JOB_ZERO)
		ops->fill(e, gp_ref_absolute(job->dst), job->bytes, (struct gp_emit_word){ 0 });
	ops->signal(e, gp_ref_absolute(word_va), 1);
	ops->finish(e);
}

static uint32_t
lane_emit(const struct gpuplan_session *session, struct gp_upload_lane *lane, const struct job *job)
{
	uint64_t word_va = session->upload.words->va + lane_word_offset(&session->upload, lane);
	struct gp_emit count, e;

	gp_emit_init(&count, session->context->target, PLAN_IN_STREAM);
	emit_job(&count, job, word_va);
	assert(count.n * sizeof(uint32_t) <= COMMAND_BYTES && !count.n_relocations);
	gp_emit_init(&e, session->context->target, PLAN_IN_STREAM);
	e.dw = lane->buffer->cpu;
	emit_job(&e, job, word_va);
	assert(e.n == count.n);
	return e.n * (uint32_t)sizeof(uint32_t);
}

static int
lane_submit(struct gpuplan_session *session, struct gp_upload_lane *lane, const struct job *job, const char *what,
	    struct gpuplan_error *error)
{
	uint32_t bytes = lane_emit(session, lane, job);
	int r;

	gp_cs_set_ib(&lane->run.cs, false, lane->buffer->va, bytes);
	/* Write-combining buffers of this CPU reach memory before the kernel, on any CPU, rings the doorbell. */
	__sync_synchronize();
	r = gp_run_prepare(&lane->run);
	if (!r)
		r = gp_queue_submit(session->queue, &lane->run);
	if (r)
		return gp_session_refused(session, r, what, error);
	snprintf(lane->what, sizeof(lane->what), "%s", what);
	lane->number = ++session->submissions;
	session->run_unfenced = false;
	return 0;
}

/* Powers of two: a lane is replaced a few times only, however sizes grow. */
static uint64_t
chunk_for(uint64_t bytes)
{
	uint64_t chunk = MIN_CHUNK;

	while (chunk < bytes && chunk < GP_UPLOAD_CHUNK)
		chunk *= 2;
	return chunk;
}

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- what sessions ask for ---- */

static int
write_as(struct gpuplan_session *session, enum job_kind kind, uint64_t dst, const void *data, uint64_t bytes,
	 const char *what, struct gpuplan_error *error)
{
	for (uint64_t done = 0; done < bytes;) {
		uint64_t n = min_u64(bytes - done, GP_UPLOAD_CHUNK);
		struct gp_upload_lane *lane;
		struct job job = { .kind = kind, .dst = dst + done, .bytes = n };
		int r = lane_take(session, chunk_for(bytes), 0, &lane, error);

		if (r)
			return r;
		memcpy(lane_data(lane), (const char *)data + done, n);
		job.src = lane_data_va(lane);
		r = lane_submit(session, lane, &job, what, error);
		if (r)
			return r;
		done += n;
	}
	return 0;
}

int
gp_upload_write(struct gpuplan_session *session, uint64_t dst, const void *data, uint64_t bytes, const char *what,
		struct gpuplan_error *error)
{
	return write_as(session, JOB_COPY, dst, data, bytes, what, error);
}

int
gp_upload_code(struct gpuplan_session *session, uint64_t dst, const void *data, uint64_t bytes, const char *what,
	       struct gpuplan_error *error)
{
	return write_as(session, JOB_CODE, dst, data, bytes, what, error);
}

int
gp_upload_zero(struct gpuplan_session *session, uint64_t dst, uint64_t bytes, const char *what,
	       struct gpuplan_error *error)
{
	for (uint64_t done = 0; done < bytes;) {
		uint64_t n = min_u64(bytes - done, GP_UPLOAD_CHUNK);
		struct job job = { .kind = JOB_ZERO, .dst = dst + done, .bytes = n };
		struct gp_upload_lane *lane;
		int r = lane_take(session, MIN_CHUNK, 0, &lane, error);

		if (!r)
			r = lane_submit(session, lane, &job, what, error);
		if (r)
			return r;
		done += n;
	}
	return 0;
}

int
gp_upload_fence(struct gpuplan_session *session, struct gpuplan_error *error)
{
	struct job job = { .kind = JOB_FENCE };
	struct gp_upload_lane *lane;
	int r = lane_take(session, MIN_CHUNK, 0, &lane, error);

	return r ? r : lane_submit(session, lane, &job, "fence between runs", error);
}

/* A download that ran out of time may still be written to: all is judged before the buffer is used again. */
static int
readback_reserve(struct gpuplan_session *session, uint64_t bytes, uint64_t deadline, struct gpuplan_error *error)
{
	struct gp_upload *upload = &session->upload;
	uint64_t chunk = chunk_for(bytes);
	int r = 0;

	for (uint32_t i = 0; !r && i < GP_UPLOAD_LANES; i++)
		while (!r && upload->lanes[i].number)
			r = gp_session_judge_oldest(session, deadline, error);
	if (r || (upload->readback && upload->readback->bytes >= chunk))
		return r;
	gp_buffer_destroy(upload->readback);
	upload->readback = NULL;
	return gp_buffer_create(session->context, chunk, GP_HEAP_HOST, GP_FOR_SESSION, "session's read-back",
				&upload->readback, error);
}

int
gp_upload_read(struct gpuplan_session *session, uint64_t src, void *data, uint64_t bytes, uint64_t deadline,
	       const char *what, struct gpuplan_error *error)
{
	int r = readback_reserve(session, bytes, deadline, error);

	for (uint64_t done = 0; !r && done < bytes;) {
		uint64_t n = min_u64(bytes - done, GP_UPLOAD_CHUNK);
		struct job job = { .kind = JOB_COPY, .src = src + done, .bytes = n };
		struct gp_upload_lane *lane;

		job.dst = session->upload.readback->va;
		r = lane_take(session, MIN_CHUNK, deadline, &lane, error);
		if (!r)
			r = lane_submit(session, lane, &job, what, error);
		while (!r && lane->number)
			r = gp_session_judge_oldest(session, deadline, error);
		if (!r)
			memcpy((char *)data + done, session->upload.readback->cpu, n);
		done += n;
	}
	return r;
}

void
gp_upload_drain(struct gp_upload *upload)
{
	for (uint32_t i = 0; i < GP_UPLOAD_LANES; i++)
		if (upload->lanes[i].number)
			gp_run_drain(&upload->lanes[i].run, gpuplan_now() + GP_PATIENCE_NS);
}

void
gp_upload_finish(struct gp_upload *upload)
{
	for (uint32_t i = 0; i < GP_UPLOAD_LANES; i++)
		if (upload->lanes[i].run.context)
			gp_run_finish(&upload->lanes[i].run);
	for (uint32_t i = 0; i < GP_UPLOAD_LANES; i++)
		gp_buffer_destroy(upload->lanes[i].buffer);
	gp_buffer_destroy(upload->readback);
	gp_buffer_destroy(upload->words);
	memset(upload, 0, sizeof(*upload));
}
