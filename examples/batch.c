/* SPDX-License-Identifier: MIT */
/*
 * batch.c: many small jobs of one shape, a few in flight, all completions from the program's own io_uring.
 *
 * Each job is y = W x + b with one W for all: a layer of a model, run for 1000 vectors. The answers are compared with the
 * CPU's.
 *
 *   batch $(pkg-config --variable=shadersdir gpuplan)             on an AMD GPU
 *   softgpu batch $(pkg-config --variable=shadersdir gpuplan)     on any machine
 *
 * Exit status: 0 all answers are right, 1 not, 77 there is no GPU.
 */
#include <errno.h>
#include <liburing.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpuplan.h>

enum { JOBS = 1000, SLOTS = 8, ROWS = 64, DEPTH = 256 };

#define SECOND UINT64_C(1000000000)

static float weights[ROWS][DEPTH], bias[ROWS];

/* What is made once. */
static struct gpuplan_context *context;
static struct gpuplan_definition *definition;
static struct gpuplan_plan *plan;
static struct gpuplan_queue *queue;
static struct io_uring ring;
static struct gpuplan_error error;

/* Every refusal of the library comes with a sentence. */
static void
check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "batch: %s: %s\n", what, error.message);
	exit(r == -ENODEV ? 77 : 1);
}

/* The same for calls without one. */
static void
check_errno(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "batch: %s: %s\n", what, strerror(-r));
	exit(1);
}

/* ---- the model: weights and code, frozen ---- */

static void *
read_code(const char *folder, size_t *bytes)
{
	struct gpuplan_context_info info;
	char path[4096];
	FILE *f;
	void *code;

	gpuplan_context_get_info(context, &info);
	snprintf(path, sizeof(path), "%s/%s/linear.co", folder, info.target);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END)) {
		fprintf(stderr, "batch: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	*bytes = (size_t)ftell(f);
	rewind(f);
	code = malloc(*bytes);
	if (!code || fread(code, 1, *bytes, f) != *bytes) {
		fprintf(stderr, "batch: cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	printf("%s (%s), %d slots\n", info.target, info.device, SLOTS);
	return code;
}

static struct gpuplan_region
allocate(struct gpuplan_session *session, enum gpuplan_use use, enum gpuplan_placement placement, uint64_t bytes,
	 const char *name)
{
	struct gpuplan_alloc_params params = {
		.size = sizeof(params), .use = use, .placement = placement, .bytes = bytes, .name = name,
	};
	struct gpuplan_region region;

	check(gpuplan_session_alloc(session, &params, &region, &error), name);
	return region;
}

struct model {
	struct gpuplan_region weights, bias, x, y;
	struct gpuplan_kernel linear;
};

static void
build_model(struct model *m, const char *shaders)
{
	struct gpuplan_session *session;
	uint32_t code;
	size_t bytes;
	void *elf;

	check(gpuplan_session_create(context, &session, &error), "session");
	/* Weights exist once. x and y are declared here; every slot gets its own, in memory that the CPU can reach. */
	m->weights = allocate(session, GPUPLAN_WEIGHT, GPUPLAN_DEVICE, sizeof(weights), "weights");
	m->bias = allocate(session, GPUPLAN_WEIGHT, GPUPLAN_DEVICE, sizeof(bias), "bias");
	m->x = allocate(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, DEPTH * sizeof(float), "x");
	m->y = allocate(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, ROWS * sizeof(float), "y");
	check(gpuplan_session_upload(session, m->weights, weights, &error), "upload of weights");
	check(gpuplan_session_upload(session, m->bias, bias, &error), "upload of bias");
	elf = read_code(shaders, &bytes);
	check(gpuplan_session_load(session, elf, bytes, "linear", &code, &error), "code object");
	free(elf);
	check(gpuplan_session_kernel(session, code, "linear", &m->linear, &error), "kernel");
	/* From here on the session is gone, and weights and code never change. */
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + 10 * SECOND, &definition, &error), "freeze");
}

/* ---- the plan: one dispatch, compiled once and bound to all slots ---- */

static void
make_plan(const struct model *m)
{
	/* Barriers, were there more commands, would follow from these accesses. */
	struct gpuplan_binding bindings[] = {
		{ .region = m->x, .access = GPUPLAN_READ },
		{ .region = m->weights, .access = GPUPLAN_READ },
		{ .region = m->bias, .access = GPUPLAN_READ },
		{ .region = m->y, .access = GPUPLAN_WRITE },
	};
	/* In the order of the kernel: x, w, bias, y, rows, depth. */
	struct gpuplan_arg args[] = {
		gpuplan_arg_binding(0), gpuplan_arg_binding(1), gpuplan_arg_binding(2),
		gpuplan_arg_binding(3), gpuplan_arg_i32(ROWS),	gpuplan_arg_i32(DEPTH),
	};
	struct gpuplan_command command = { .kind = GPUPLAN_DISPATCH, .label = "y = W x + b" };
	struct gpuplan_io input = { .region = m->x, .dtype = GPUPLAN_F32, .rank = 1, .shape = { DEPTH }, .name = "x" };
	struct gpuplan_io output = { .region = m->y, .dtype = GPUPLAN_F32, .rank = 1, .shape = { ROWS }, .name = "y" };
	struct gpuplan_plan_params params = {
		.size = sizeof(params), .capacity = SLOTS, .commands = &command, .n_commands = 1,
		.inputs = &input, .n_inputs = 1, .outputs = &output, .n_outputs = 1, .name = "batch",
	};

	command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = m->linear, .groups = { (ROWS + 7) / 8, 1, 1 }, .block = { 128, 1, 1 }, /* as linear.cl says */
		.n_bindings = 4, .bindings = bindings, .n_args = 6, .args = args,
	};
	check(gpuplan_plan_create(definition, &params, &plan, &error), "plan");
}

/* ---- jobs ---- */

static float
input_value(unsigned job, unsigned i)
{
	return (float)((job * 31 + i * 7) % 101) / 101.0f - 0.5f;
}

static unsigned
wrong_answers(unsigned job, const float *y)
{
	unsigned wrong = 0;

	for (unsigned r = 0; r < ROWS; r++) {
		double sum = bias[r];

		for (unsigned i = 0; i < DEPTH; i++)
			sum += (double)weights[r][i] * input_value(job, i);
		wrong += !(fabs(sum - y[r]) <= 1e-4);
	}
	return wrong;
}

/* Exactly one CQE will follow, with the slot as its user data. */
static void
arm(struct gpuplan_slot *slot)
{
	check_errno(gpuplan_slot_arm(slot, &ring, (uintptr_t)slot, gpuplan_now() + 10 * SECOND), "arm");
}

/* false: all slots are in flight. */
static bool
start(unsigned job, unsigned job_of_slot[SLOTS])
{
	struct gpuplan_slot *slot;
	float *x;

	if (gpuplan_plan_acquire(plan, &slot))
		return false;
	job_of_slot[gpuplan_slot_index(slot)] = job;
	x = gpuplan_slot_input(slot, 0, NULL);
	for (unsigned i = 0; i < DEPTH; i++)
		x[i] = input_value(job, i);
	check_errno(gpuplan_slot_submit(slot, queue), "submit");
	arm(slot);
	return true;
}

/* Returns 1 when a job has ended. */
static unsigned
finish(const struct io_uring_cqe *cqe, const unsigned job_of_slot[SLOTS], unsigned *wrong)
{
	struct gpuplan_slot *slot = (struct gpuplan_slot *)(uintptr_t)cqe->user_data;
	struct gpuplan_completion done;
	int r = gpuplan_slot_finish(slot, cqe->res, &done);

	if (r == -EAGAIN) { /* the request ended, the job did not */
		arm(slot);
		return 0;
	}
	check_errno(r, "finish");
	if (done.status != GPUPLAN_DONE) {
		/* A service would wait for the rest, call gpuplan_queue_recover and run these jobs again. */
		fprintf(stderr, "batch: job %u ended with status %d (%s)\n", job_of_slot[gpuplan_slot_index(slot)],
			done.status, strerror(-done.reason));
		exit(1);
	}
	*wrong += wrong_answers(job_of_slot[gpuplan_slot_index(slot)], gpuplan_slot_output(slot, 0, NULL));
	gpuplan_slot_release(slot);
	return 1;
}

static unsigned
run_jobs(void)
{
	unsigned job_of_slot[SLOTS], next = 0, ended = 0, wrong = 0;

	while (ended < JOBS) {
		struct io_uring_cqe *cqe;
		unsigned head, seen = 0;

		while (next < JOBS && start(next, job_of_slot))
			next++;
		check_errno(io_uring_submit_and_wait(&ring, 1), "io_uring");
		io_uring_for_each_cqe(&ring, head, cqe) {
			ended += finish(cqe, job_of_slot, &wrong);
			seen++;
		}
		io_uring_cq_advance(&ring, seen);
	}
	printf("%d jobs, %u answers, %u wrong\n", JOBS, JOBS * ROWS, wrong);
	return wrong;
}

int
main(int argc, char **argv)
{
	struct gpuplan_context_params context_params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_queue_params queue_params = GPUPLAN_QUEUE_PARAMS_INIT;
	struct model model;
	unsigned wrong;

	if (argc != 2) {
		fprintf(stderr, "usage: batch FOLDER      code objects are FOLDER/<target>/linear.co\n");
		return 1;
	}
	for (unsigned r = 0; r < ROWS; r++) {
		bias[r] = (float)r / ROWS;
		for (unsigned i = 0; i < DEPTH; i++)
			weights[r][i] = (float)((r * 13 + i * 5) % 37) / 37.0f - 0.5f;
	}
	check(gpuplan_context_create(&context_params, &context, &error), "GPU");
	build_model(&model, argv[1]);
	make_plan(&model);
	check(gpuplan_queue_create(context, &queue_params, &queue, &error), "queue");
	/* At most 3 entries for each slot between two calls of io_uring_submit. */
	check_errno(io_uring_queue_init(4 * SLOTS, &ring, 0), "io_uring");

	wrong = run_jobs();

	io_uring_queue_exit(&ring);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context); /* last: the others live on it */
	return wrong != 0;
}
