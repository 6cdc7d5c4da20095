/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdio.h>

#include "bench.h"

static const struct {
	const char *name;
	double p;
} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1.0 } };

#define N_QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static double
per(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

static void
print_text(const struct bench_options *o, const struct gpuplan_context_info *gpu, const struct gpuplan_plan_info *plan,
	   const struct gpuplan_memory *memory, const struct load_result *load, const struct workload_result *answers,
	   uint64_t weight_bytes)
{
	static const char *const completion[] = { "io_uring", "poll", "reap", "wait" };
	double seconds = (double)load->elapsed_ns / 1e9;
	uint64_t n = load->submissions;

	printf("device      %s (%s), %s\n", gpu->name, gpu->target, gpu->device);
	printf("plan        %s: %u dispatches, %u barriers, %u PM4 dwords, %u argument bytes\n", o->plan,
	       plan->n_dispatches, plan->n_barriers, plan->stream_dwords, plan->kernarg_bytes);
	printf("memory      weights %llu, code %llu, plans %llu, %u slots x %llu: %llu bytes in %llu buffers\n",
	       (unsigned long long)weight_bytes, (unsigned long long)memory->code, (unsigned long long)memory->plans,
	       plan->capacity, (unsigned long long)plan->slot_bytes, (unsigned long long)memory->total,
	       (unsigned long long)memory->buffers);
	if (o->rate > 0)
		printf("load        open loop, %.1f submissions/s, %u slots, completion by %s\n", o->rate, o->slots,
		       completion[o->completion]);
	else
		printf("load        closed loop, %u slots in flight, completion by %s\n", o->slots,
		       completion[o->completion]);
	printf("latency     ");
	for (size_t i = 0; i < N_QUANTILES; i++)
		printf("%s %.3f ms%s", quantiles[i].name,
		       (double)histogram_quantile(&load->latency, quantiles[i].p) / 1e6,
		       i + 1 < N_QUANTILES ? ", " : "\n");
	printf("throughput  %llu inferences in %.2f s: %.1f/s", (unsigned long long)n, seconds, (double)n / seconds);
	if (answers->seconds_per_inference > 0)
		printf(", %.1f seconds of speech per second",
		       (double)n * answers->batch * answers->seconds_per_inference / seconds);
	printf("\nsystem calls %.3f ioctl", per(load->ioctls, n));
	if (load->enters_known)
		printf(" + %.3f io_uring_enter per inference\n", per(load->enters, n));
	else
		printf(" per inference; sleeps are made inside the library: count them with strace -c\n");
	if (load->failed)
		printf("FAILED      %llu submissions, the first: %s\n", (unsigned long long)load->failed, load->failure);
	if (answers->frames)
		printf("answers     %llu probabilities, %llu beyond %g of %s; largest difference %.2e (frame %llu)\n",
		       (unsigned long long)answers->checked, (unsigned long long)answers->wrong, answers->tolerance,
		       answers->reference, answers->worst, (unsigned long long)answers->worst_frame);
}

static void
print_json(const struct bench_options *o, const struct gpuplan_context_info *gpu, const struct gpuplan_plan_info *plan,
	   const struct gpuplan_memory *memory, const struct load_result *load, const struct workload_result *answers,
	   uint64_t weight_bytes)
{
	json_t *latency = json_object();
	json_t *root;

	for (size_t i = 0; i < N_QUANTILES; i++)
		json_object_set_new(latency, quantiles[i].name,
				    json_integer((json_int_t)histogram_quantile(&load->latency, quantiles[i].p)));
	root = json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:f, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:I, s:f}",
		"target", gpu->target, "name", gpu->name, "device", gpu->device, "plan", o->plan, "slots",
		(int)o->slots, "rate", o->rate, "latency_ns", latency, "inferences", (json_int_t)load->submissions,
		"elapsed_ns", (json_int_t)load->elapsed_ns, "failed", (json_int_t)load->failed, "ioctls",
		(json_int_t)load->ioctls, "io_uring_enters", (json_int_t)load->enters, "weight_bytes",
		(json_int_t)weight_bytes, "slot_bytes", (json_int_t)plan->slot_bytes, "total_bytes",
		(json_int_t)memory->total, "dispatches", (int)plan->n_dispatches, "barriers", (int)plan->n_barriers,
		"stream_dwords", (int)plan->stream_dwords, "answers_checked", (json_int_t)answers->checked,
		"answers_wrong", (json_int_t)answers->wrong, "answers_worst", answers->worst);
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
}

void
report_print(const struct bench_options *o, const struct gpuplan_context *context, struct gpuplan_plan *plan,
	     const struct load_result *load, const struct workload_result *answers, uint64_t weight_bytes)
{
	struct gpuplan_context_info gpu;
	struct gpuplan_plan_info info;
	struct gpuplan_memory memory;

	gpuplan_context_get_info(context, &gpu);
	gpuplan_context_get_memory(context, &memory);
	gpuplan_plan_get_info(plan, &info);
	if (o->json)
		print_json(o, &gpu, &info, &memory, load, answers, weight_bytes);
	else
		print_text(o, &gpu, &info, &memory, load, answers, weight_bytes);
}
