/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

void
bench_result_add(struct bench_result *r, unsigned runner, struct bench_time time)
{
	if (!(r->best[runner].wall > 0) || time.wall < r->best[runner].wall)
		r->best[runner] = time;
	if (!(r->least_cpu[runner] > 0) || time.cpu < r->least_cpu[runner])
		r->least_cpu[runner] = time.cpu;
}

void
bench_result_compare(struct bench_result *r, const float *softgpu, const float *pocl, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		double difference = fabs((double)softgpu[i] - pocl[i]) / fmax(fabs((double)pocl[i]), 1e-3);

		if (!(difference <= BENCH_TOLERANCE))
			r->wrong++;
		if (!(difference <= r->difference))
			r->difference = difference;
	}
}

/* ---- the table ---- */

/* Thousand millions of units of work per second of processor time. */
static double
rate(const struct bench_case *c, const struct bench_result *r, unsigned runner)
{
	return c->work * (double)bench_items(&c->full) * c->full.turns / r->least_cpu[runner] / 1e9;
}

static double
lane_rate(const struct bench_result *r)
{
	return (double)r->counts.instructions * BENCH_WAVE / r->least_cpu[BENCH_SOFTGPU] / 1e9;
}

static void
print_head(bool with_pocl)
{
	printf("%-19s | %-40s", "", "softgpu");
	if (with_pocl)
		printf(" | %-21s | %-21s | %-14s |", "PoCL, 1 thread", "PoCL, its own choice", "softgpu / PoCL");
	printf("\n%-19s | %7s %5s %8s %17s", "kernel", "ms", "cores", "Glane/s", "work/s     ");
	if (with_pocl)
		printf(" | %7s %5s %7s | %7s %5s %7s | %6s %7s | results", "ms", "cores", "work/s", "ms", "cores", "work/s",
		       "core", "in all");
	putchar('\n');
}

static void
print_times(const struct bench_result *r, unsigned runner)
{
	const struct bench_time *t = &r->best[runner];

	printf(" | %7.2f %5.2f", t->wall * 1e3, t->cpu / t->wall);
}

static void
print_softgpu(const struct bench_case *c, const struct bench_result *r)
{
	printf("%-19s", c->title);
	print_times(r, BENCH_SOFTGPU);
	if (c->unit)
		printf(" %8.3f %9.2f %-7s", lane_rate(r), rate(c, r, BENCH_SOFTGPU), c->unit);
	else
		printf(" %8s %17s", "", "");
}

static void
print_pocl(const struct bench_case *c, const struct bench_result *r, unsigned runner)
{
	print_times(r, runner);
	if (c->unit)
		printf(" %7.2f", rate(c, r, runner));
	else
		printf(" %7s", "");
}

static void
print_ratios(const struct bench_result *r)
{
	printf(" | %6.2f %7.2f | ", r->least_cpu[BENCH_SOFTGPU] / r->least_cpu[BENCH_POCL_ONE],
	       r->best[BENCH_SOFTGPU].wall / r->best[BENCH_POCL].wall);
	if (r->wrong)
		printf("WRONG: %llu", (unsigned long long)r->wrong);
	else if (r->difference > 0)
		printf("within %.0e", r->difference);
	else
		printf("equal");
}

static void
explain(bool with_pocl)
{
	printf("\nms      best wall time of a whole launch; the first line is one that does no work\n"
	       "cores   processor time / wall time of that run: threads at work, or less when the machine is busy\n"
	       "Glane/s 10^9 lane-instructions per second and core: the wave instructions that softgpu counted, scalar ones\n"
	       "        too, x %d lanes, by the least processor time\n"
	       "work/s  per second and core likewise, in the unit of softgpu's column (10^9); an fma is two FLOP\n",
	       BENCH_WAVE);
	if (with_pocl)
		printf("core    softgpu's least processor time / that of PoCL with 1 thread: times slower on one core\n"
		       "in all  softgpu's best wall time / that of PoCL as it comes: times slower on this machine\n"
		       "results every output of every repetition, softgpu against both PoCLs; tolerance %g relative\n",
		       BENCH_TOLERANCE);
}

void
bench_report(const struct bench_result *results, bool with_pocl)
{
	print_head(with_pocl);
	for (unsigned i = 0; i < bench_case_count; i++) {
		const struct bench_case *c = &bench_cases[i];
		const struct bench_result *r = &results[i];

		if (!(r->best[BENCH_SOFTGPU].wall > 0))
			continue;
		print_softgpu(c, r);
		if (with_pocl) {
			print_pocl(c, r, BENCH_POCL_ONE);
			print_pocl(c, r, BENCH_POCL);
			print_ratios(r);
		}
		putchar('\n');
	}
	explain(with_pocl);
}

static double
rate_of(const char *title, const struct bench_result *results)
{
	for (unsigned i = 0; i < bench_case_count; i++)
		if (!strcmp(bench_cases[i].title, title))
			return results[i].least_cpu[BENCH_SOFTGPU] > 0 ? rate(&bench_cases[i], &results[i], BENCH_SOFTGPU) : 0;
	return 0;
}

static void
print_bare(const char *loop, double bare, const char *title, const struct bench_result *results)
{
	double softgpu = rate_of(title, results);

	printf("%-58s %7.2f GFLOP/s", loop, bare);
	if (softgpu > 0)
		printf(", %5.1f times softgpu's \"%s\"", bare / softgpu, title);
	putchar('\n');
}

void
bench_report_bare(const struct bench_bare *bare, const struct bench_result *results)
{
	printf("\nbare loops in AVX2 on one core, same run: bounds for a translator to native code\n");
	print_bare("32-lane FMA, registers in memory", bare->fma_memory, "f32 FMA", results);
	print_bare("32-lane FMA, registers in the host's", bare->fma_registers, "f32 FMA", results);
	print_bare("GEMM 256^3, sums in the host's registers", bare->gemm, "GEMM 256^3, tiled", results);
}

void
bench_report_counts(const struct bench_result *results)
{
	for (unsigned i = 0; i < bench_case_count; i++)
		if (results[i].counts.instructions)
			printf("%-20s %-14s %12llu wave instructions %14llu lane-instructions\n", bench_cases[i].title,
			       bench_cases[i].kernel, (unsigned long long)results[i].counts.instructions,
			       (unsigned long long)results[i].counts.instructions * BENCH_WAVE);
}
