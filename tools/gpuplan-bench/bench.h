/* SPDX-License-Identifier: MIT */
/* bench.h: the pieces of gpuplan-bench: options -> model -> load loop -> report. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuplan.h"

enum bench_completion { COMPLETE_RING, COMPLETE_POLL, COMPLETE_REAP, COMPLETE_WAIT };

struct bench_options {
	const char *package;	/* NULL: the speech model */
	const char *device;
	const char *plan;	/* NULL: the package's first */
	const char *shaders;	/* folder; NULL: embedded */
	unsigned slots;		/* in flight */
	double rate;		/* submissions per second, open loop; 0: closed loop */
	double duration;	/* seconds; 0: until the count is done */
	uint64_t count;		/* submissions; 0: by duration */
	enum bench_completion completion;
	bool verify;
	bool json;
	unsigned omit_barrier;	/* test hook of gpuplan_plan_params */
#define BENCH_SETTINGS 64
	const char *settings[BENCH_SETTINGS]; /* NAME=VALUE */
	unsigned n_settings;
};

/* ---- histogram.c: latencies without allocating, 1/64 relative resolution ---- */

#define HISTOGRAM_SUB 64
struct histogram {
	uint64_t buckets[58 * HISTOGRAM_SUB];
	uint64_t count, max, sum;
};
void histogram_add(struct histogram *h, uint64_t ns);
/* Upper edge of the bucket that holds the p-th fraction (0..1]. */
uint64_t histogram_quantile(const struct histogram *h, double p);

/* ---- workload.c: what goes into the plan's inputs and must come out ---- */

struct workload;
/* folder: the package's. Reads reference.json and the recording when they are there; else inputs are noise and
 * nothing can be verified. */
struct workload *workload_create(const char *folder, struct gpuplan_plan *plan, unsigned slots);
void workload_destroy(struct workload *w);
bool workload_can_verify(const struct workload *w);
/* Writes the next inputs of the slot (acquired, idle). */
void workload_feed(struct workload *w, struct gpuplan_slot *slot);
/* Looks at the outputs of what was fed last. */
void workload_check(struct workload *w, struct gpuplan_slot *slot);

struct workload_result {
	uint64_t checked;	/* outputs compared */
	uint64_t wrong;		/* beyond tolerance */
	double tolerance, worst; /* largest absolute difference */
	uint64_t worst_frame;
	unsigned batch;		/* streams per submission */
	unsigned frames;	/* of the recording; 0: inputs are noise */
	double seconds_per_inference; /* of sound, 0 when unknown */
	char reference[128];	/* whose answers */
};
void workload_result(const struct workload *w, struct workload_result *result);

/* ---- settings.c ---- */

/* Sets the slot's parameters as the options say; dies with a sentence. */
void settings_apply(const struct bench_options *o, const struct gpuplan_plan *plan, struct gpuplan_slot *slot);

/* ---- load.c ---- */

struct load_result {
	struct histogram latency;
	uint64_t submissions, failed;
	uint64_t elapsed_ns;
	uint64_t ioctls, enters; /* in the loop; enters of the bench's own ring */
	bool enters_known;
	char failure[160];	/* the first one */
};
void load_run(const struct bench_options *o, struct gpuplan_queue *queue, struct gpuplan_slot **slots,
	      struct workload *w, struct load_result *result);

/* ---- syscount.c: ioctls of this process, by standing in front of libc's ---- */
uint64_t syscount_ioctls(void);

/* ---- report.c ---- */
void report_print(const struct bench_options *o, const struct gpuplan_context *context, struct gpuplan_plan *plan,
		  const struct load_result *load, const struct workload_result *answers, uint64_t weight_bytes);

#endif
