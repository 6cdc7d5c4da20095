/* SPDX-License-Identifier: MIT */
/* report.c: what the device has counted, for tests that look from outside.
 *
 * The same JSON object comes from two places:
 *   - the file named by SOFTGPU_REPORT ("%p" in it is the process id), written when a process that opened a node ends;
 *   - while it runs, reading /sys/class/drm/renderD128/device/softgpu_stats (any way of naming that sysfs folder
 *     does) in the same process gives the counters of this moment. The library under test need not know.
 * Members:
 *   ioctls            calls by name: {"CS": 10, "GEM_CREATE": 3, ...}, only those that happened; refused ones count
 *   gem_bytes_vram, gem_bytes_gtt, gem_bytes_other    page-rounded bytes of buffers alive, by placement
 *   gem_peak_vram, gem_peak_gtt, gem_created_vram, gem_created_gtt    highest and total
 *   gem_objects, ctx_objects, syncobj_objects, bo_lists    objects alive, whoever holds them
 *   jobs_submitted, jobs_done, jobs_failed, jobs_in_flight
 *   resets, vram_lost, hangs, illegals, faults, skipped, evictions, bytes_moved
 *   profile, pid
 *   hw                object with hw/'s own members (sg_hw_report)
 */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
member(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, "  \"%s\": %llu,\n", name, (unsigned long long)value);
}

static void
write_ioctls(FILE *out)
{
	const char *comma = "";

	fputs("  \"ioctls\": {", out);
	for (unsigned nr = 0; nr < SG_NR_COUNT; nr++) {
		uint64_t n = sg_ioctl_calls(nr);
		if (!n || !sg_ioctl_name(nr))
			continue;
		fprintf(out, "%s\"%s\": %llu", comma, sg_ioctl_name(nr), (unsigned long long)n);
		comma = ", ";
	}
	fputs("},\n", out);
}

static void
write_memory(FILE *out, const struct sg_device *d)
{
	member(out, "gem_bytes_vram", d->vram.now);
	member(out, "gem_bytes_gtt", d->gtt.now);
	member(out, "gem_bytes_other", d->other.now);
	member(out, "gem_peak_vram", d->vram.peak);
	member(out, "gem_peak_gtt", d->gtt.peak);
	member(out, "gem_created_vram", d->vram.created);
	member(out, "gem_created_gtt", d->gtt.created);
	member(out, "gem_objects", d->gem_objects);
	member(out, "ctx_objects", d->ctx_objects);
	member(out, "syncobj_objects", d->syncobj_objects);
	member(out, "bo_lists", d->bo_lists);
	member(out, "evictions", d->evictions);
	member(out, "bytes_moved", d->bytes_moved);
}

static void
write_jobs(FILE *out, const struct sg_device *d)
{
	member(out, "jobs_submitted", d->jobs_submitted);
	member(out, "jobs_done", d->jobs_done);
	member(out, "jobs_failed", d->jobs_failed);
	member(out, "jobs_in_flight", d->in_flight);
	member(out, "resets", d->reset_counter);
	member(out, "vram_lost", d->vram_lost_counter);
	member(out, "hangs", d->hangs);
	member(out, "illegals", d->illegals);
	member(out, "faults", d->faults);
	member(out, "skipped", d->skipped);
}

void
sg_stats_write(FILE *out)
{
	/* A copy, so that the counters fit together and the lock is not held while writing. */
	sg_lock();
	struct sg_device copy = sg_dev;
	sg_unlock();
	fprintf(out, "{\n  \"profile\": \"%s\",\n  \"pid\": %d,\n", sg_config()->profile->name, (int)getpid());
	write_ioctls(out);
	write_memory(out, &copy);
	write_jobs(out, &copy);
	fputs("  \"hw\": {", out);
	sg_hw_report(out);
	fputs("}\n}\n", out);
}

static void
report_path(char *to, size_t room)
{
	const char *path = sg_config()->report;
	const char *pid = strstr(path, "%p");

	if (pid)
		snprintf(to, room, "%.*s%d%s", (int)(pid - path), path, (int)getpid(), pid + 2);
	else
		snprintf(to, room, "%s", path);
}

void sg_report_write(void);

void
sg_report_write(void)
{
	char path[4096];

	if (!sg_config()->report)
		return;
	report_path(path, sizeof(path));
	FILE *out = fopen(path, "we");
	if (!out) {
		fprintf(stderr, "softgpu: cannot write the report %s\n", path);
		return;
	}
	sg_stats_write(out);
	fclose(out);
}
