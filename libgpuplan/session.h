/* SPDX-License-Identifier: MIT */
/* session.h: a model being built.
 *
 * session.c declares and loads, session_run.c runs, judges and freezes, upload.c moves bytes. All of a session's GPU
 * work goes through one queue of its own, in order.
 */
#ifndef GP_SESSION_H
#define GP_SESSION_H

#include "completion.h"
#include "definition.h"

/* Bytes one upload submission moves at most. */
#define GP_UPLOAD_CHUNK (1u << 20)
#define GP_UPLOAD_LANES 2
/* For waits whose caller gave no deadline: twice the kernel's longest default timeout (compute, 60 s). A job older than
 * that never ends. */
#define GP_PATIENCE_NS 120000000000ull

/* One upload submission in flight: the CPU fills one lane while the GPU reads the other. */
struct gp_upload_lane {
	struct gp_buffer *buffer; /* write-combined: command stream, then chunk bytes of data; NULL before first use */
	uint64_t chunk;
	struct gp_run run;	/* context NULL: not initialised */
	uint64_t number;	/* of the submission in flight, 0: idle */
	char what[96];		/* names it when it fails */
};

struct gp_upload {
	struct gp_buffer *words; /* cached: one completion word per lane; NULL before first use */
	struct gp_upload_lane lanes[GP_UPLOAD_LANES];
	uint32_t next;		/* lane that is used next, the one idle for longest */
	struct gp_buffer *readback; /* cached: what a download reads; NULL before first use */
};

/* A session's one-off commands in flight, until their verdict. */
struct gp_session_run {
	struct gp_session_run *next;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	uint64_t number;	/* of the submission */
	uint64_t ordinal;	/* counts runs from 1, for messages */
};

struct gpuplan_session {
	struct gpuplan_context *context;
	struct gp_declarations declarations;
	uint32_t allocations_room, codes_room, kernels_room; /* elements the arrays have memory for */
	struct gpuplan_queue *queue; /* NULL before first use */
	struct gp_upload upload;
	struct gp_session_run *runs, **runs_end; /* in flight, oldest first */
	uint32_t n_runs;
	uint64_t n_started;	/* runs so far */
	uint64_t submissions;	/* so far: the number of the last one */
	bool run_unfenced;	/* dispatches of a run may still execute when the next submission starts */
	struct gpuplan_error failure; /* code 0: none; else the first failed submission: contents are unknown since */
};

/* "weight", "scratch", "state", for messages. */
const char *gp_use_name(enum gpuplan_use use);
/* Gives a weight, or scratch and state that a run uses, its buffer. */
int gp_session_back(struct gpuplan_session *session, struct gp_allocation *a, struct gpuplan_error *error);

/* session_run.c */

/* -ECHILD in a child, -EIO with its sentence when a submission failed before, else 0. */
int gp_session_check(const struct gpuplan_session *session, struct gpuplan_error *error);
/* Everything beside the declarations; waits until the GPU is done with it. */
void gp_session_drop_work(struct gpuplan_session *session);

/* Makes the queue when there is none. Errors: -ENOMEM and others of gpuplan_queue_create. */
int gp_session_queue(struct gpuplan_session *session, struct gpuplan_error *error);
/* Judges the oldest submission in flight, so that its lane or run is free again. 0 also when there is none, -ETIME
 * (nothing changed, ask again), or -EIO noted as the session's failure. deadline 0: for callers whose own caller gave
 * none: longer than the kernel's timeout for any job, then -EIO. */
int gp_session_judge_oldest(struct gpuplan_session *session, uint64_t deadline, struct gpuplan_error *error);
/* Words a submission's refusal (r) and returns -ENOMEM or -EIO. */
int gp_session_refused(struct gpuplan_session *session, int r, const char *what, struct gpuplan_error *error);
/* upload.c. All but read return when queued, and start on the GPU when the session's earlier work is done.
 * Errors: -ENOMEM, -EIO. */

int gp_upload_write(struct gpuplan_session *session, uint64_t dst, const void *data, uint64_t bytes, const char *what,
		    struct gpuplan_error *error);
/* The same for code: whatever runs after it finds no older instructions in caches. */
int gp_upload_code(struct gpuplan_session *session, uint64_t dst, const void *data, uint64_t bytes, const char *what,
		   struct gpuplan_error *error);
/* bytes: a multiple of 4 */
int gp_upload_zero(struct gpuplan_session *session, uint64_t dst, uint64_t bytes, const char *what,
		   struct gpuplan_error *error);
/* Moves nothing: what is submitted next starts after the dispatches submitted before. */
int gp_upload_fence(struct gpuplan_session *session, struct gpuplan_error *error);
/* Also -ETIME. */
int gp_upload_read(struct gpuplan_session *session, uint64_t src, void *data, uint64_t bytes, uint64_t deadline,
		   const char *what, struct gpuplan_error *error);
/* Waits until the GPU is done with the lanes, without a verdict. */
void gp_upload_drain(struct gp_upload *upload);
/* The same, then drops everything. */
void gp_upload_finish(struct gp_upload *upload);

#endif
