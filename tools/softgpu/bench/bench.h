/* SPDX-License-Identifier: MIT */
/* bench.h: the same kernels on softgpu and on PoCL.
 *
 *   cases.c    what is run, at which size, and the inputs
 *   device.c   softgpu, through libgpuplan
 *   peer.c     PoCL in processes of its own, so that each has its own number of threads
 *   pocl.c     OpenCL in such a process (pocl_none.c: where there is nothing to build it with)
 *   bare.c     the same operations written by hand for the host
 *   report.c   the table
 */
#ifndef SOFTGPU_BENCH_H
#define SOFTGPU_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpuplan_context;

#define BENCH_ITEMS 256		/* work-items per group, of every kernel */
#define BENCH_INPUT (1u << 20)	/* floats in each of the inputs a and b */
#define BENCH_WAVE 32		/* lanes of a wave: the code objects are wave32 */
#define BENCH_PACKAGES "pocl-opencl-icd opencl-headers ocl-icd-opencl-dev"

/* ---- cases ---- */

struct bench_size {
	uint32_t groups[2];	/* workgroups along x and y */
	uint32_t turns;		/* of the kernel's loop */
};

struct bench_case {
	const char *kernel, *title;
	const char *unit;	/* of work per second, in thousand millions; NULL: the launch alone */
	double work;		/* units per work-item and turn */
	uint32_t outputs;	/* floats written per work-item (and turn, if per_turn) */
	bool per_turn;
	struct bench_size full, small;
};

extern const struct bench_case bench_cases[];
extern const unsigned bench_case_count;

uint64_t bench_items(const struct bench_size *size);
uint64_t bench_outputs(const struct bench_case *c, const struct bench_size *size);
/* The largest bench_outputs of all cases. */
uint64_t bench_most_outputs(void);
/* Fills BENCH_INPUT floats each; the same on every machine. */
void bench_inputs(float *a, float *b);

/* ---- one measured run ---- */

struct bench_time {
	double wall, cpu;	/* seconds; cpu: of all threads of the process that ran it */
};

struct bench_time bench_clock(void);
struct bench_time bench_since(struct bench_time start);

/* ---- softgpu ---- */

struct bench_device;

struct bench_counts {
	uint64_t waves, instructions; /* wave instructions, scalar ones included */
};

/* Plans for every case, in the small or the full size. Dies with a sentence where that fails. */
struct bench_device *bench_device_create(struct gpuplan_context *context, bool small);
void bench_device_destroy(struct bench_device *device);
const char *bench_device_target(const struct bench_device *device);
/* Runs case i once and returns its outputs, valid until its next run. */
const float *bench_device_run(struct bench_device *device, unsigned i, struct bench_time *time,
			      struct bench_counts *counts);

/* ---- PoCL ---- */

struct bench_pocl;

/* NULL: text says why. Else text is the device. program: OpenCL C, of that many bytes. */
struct bench_pocl *bench_pocl_create(const char *program, size_t bytes, char *text, size_t text_bytes);
/* Runs case i in full size; out gets the outputs. 0, or an OpenCL error. */
int bench_pocl_run(struct bench_pocl *pocl, unsigned i, struct bench_time *time, float *out);

/* A PoCL process. threads: a number for POCL_MAX_PTHREAD_COUNT, or NULL: PoCL's own choice. */
struct bench_peer;

struct bench_peer *bench_peer_start(const char *threads);
/* False: PoCL cannot be used there; text says why. True: text names the device. */
bool bench_peer_open(struct bench_peer *peer, char *text, size_t text_bytes);
const float *bench_peer_run(struct bench_peer *peer, unsigned i, struct bench_time *time);
void bench_peer_stop(struct bench_peer *peer);

/* ---- bare loops: what a translator to native code could reach ---- */

struct bench_bare {
	double fma_memory;	/* thousand million FLOP a second on one core: 32-lane FMAs, registers in memory */
	double fma_registers;	/* the same, registers in the host's registers */
	double gemm;		/* 256^3 */
};

/* The better of what was there and one more run. False: the host has neither AVX2 nor FMA. */
bool bench_bare_run(struct bench_bare *bare);

/* ---- results ---- */

enum { BENCH_SOFTGPU, BENCH_POCL_ONE, BENCH_POCL, BENCH_RUNNERS };

struct bench_result {
	struct bench_time best[BENCH_RUNNERS]; /* least wall time with that run's cpu; 0: not run */
	double least_cpu[BENCH_RUNNERS];
	struct bench_counts counts;	/* of one run on softgpu */
	double difference;		/* largest relative one between softgpu and PoCL, of all runs */
	uint64_t wrong;			/* outputs beyond the tolerance */
};

#define BENCH_TOLERANCE 1e-5	/* relative: sums may be made in another order */

void bench_result_add(struct bench_result *result, unsigned runner, struct bench_time time);
void bench_result_compare(struct bench_result *result, const float *softgpu, const float *pocl, uint64_t count);
/* with_pocl: the peers' columns too. */
void bench_report(const struct bench_result *results, bool with_pocl);
/* Below the table. */
void bench_report_bare(const struct bench_bare *bare, const struct bench_result *results);
void bench_report_counts(const struct bench_result *results);

#endif
