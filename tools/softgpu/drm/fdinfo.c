/* SPDX-License-Identifier: MIT */
/* fdinfo.c: what the kernel tells of an open node in /proc/PID/fdinfo (Linux 6.12 drm_file.c, amdgpu_fdinfo.c). */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"
#include "../shim/paths.h"

#include <stdio.h>

#define VRAM AMDGPU_GEM_DOMAIN_VRAM
#define GTT AMDGPU_GEM_DOMAIN_GTT
#define FIRST_PASID 0x8000u

/* Bytes of a file's buffers. */
struct usage {
	uint64_t vram, gtt, cpu, shared_vram, shared_gtt, shared_cpu, visible;
	uint64_t evicted, evicted_visible, wanted_vram, wanted_visible, wanted_gtt;
};

/* Exported, or known to more than one open file. */
static bool
is_shared(struct sg_gem *gem)
{
	unsigned files = 0;

	for (struct sg_file *f = sg_dev.files; f && files < 2; f = f->next)
		for (uint32_t handle = 1; handle <= f->gems.room; handle++)
			if (sg_gem_find(f, handle) == gem) {
				files++;
				break;
			}
	return gem->dmabuf || files > 1;
}

static void
add_gem(struct usage *u, struct sg_gem *gem)
{
	bool wants_visible = gem->flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED;
	uint64_t shared = is_shared(gem) ? gem->bytes : 0;

	if (gem->placed == VRAM) {
		u->vram += gem->bytes;
		u->shared_vram += shared;
		u->visible += gem->visible ? gem->bytes : 0;
	} else if (gem->placed == GTT) {
		u->gtt += gem->bytes;
		u->shared_gtt += shared;
	} else {
		u->cpu += gem->bytes;
		u->shared_cpu += shared;
	}
	if (gem->preferred & VRAM) {
		u->wanted_vram += gem->bytes;
		u->wanted_visible += wants_visible ? gem->bytes : 0;
		u->evicted += gem->placed != VRAM ? gem->bytes : 0;
		u->evicted_visible += gem->placed != VRAM && wants_visible ? gem->bytes : 0;
	} else if (gem->preferred & GTT) {
		u->wanted_gtt += gem->bytes;
	}
}

/* Done jobs and what the running ones have had so far. */
static uint64_t
engine_time(const struct sg_file *file, unsigned ip)
{
	uint64_t ns = file->engine_ns[ip], now = (uint64_t)sg_now_ns();

	for (unsigned r = 0; r < SG_MAX_RINGS; r++)
		for (const struct sg_task *t = sg_dev.rings[ip][r].tasks; t; t = t->ring_next)
			if (t->ctx->file == file && t->started_ns)
				ns += now - t->started_ns;
	return ns;
}

static void
line(FILE *out, const char *key, uint64_t bytes)
{
	fprintf(out, "%s\t%llu KiB\n", key, (unsigned long long)(bytes >> 10));
}

void
sg_fdinfo_write(struct sg_file *file, FILE *out)
{
	static const char *const engines[SG_IP_COUNT] = { "gfx", "compute", "dma" };
	const struct sg_tree *tree = sg_tree();
	uint64_t busy[SG_IP_COUNT];
	struct usage u = { 0 };

	sg_lock();
	for (uint32_t handle = 1; handle <= file->gems.room; handle++)
		if (sg_gem_find(file, handle))
			add_gem(&u, sg_gem_find(file, handle));
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		busy[ip] = engine_time(file, ip);
	sg_unlock();
	fprintf(out, "drm-driver:\tamdgpu\ndrm-client-id:\t%u\n", file->open_id);
	fprintf(out, "drm-pdev:\t%s\npasid:\t%u\n", tree ? tree->slot : "0000:03:00.0", FIRST_PASID + file->open_id);
	line(out, "drm-memory-vram:", u.vram);
	line(out, "drm-memory-gtt: ", u.gtt);
	line(out, "drm-memory-cpu: ", u.cpu);
	line(out, "amd-memory-visible-vram:", u.visible);
	line(out, "amd-evicted-vram:", u.evicted);
	line(out, "amd-evicted-visible-vram:", u.evicted_visible);
	line(out, "amd-requested-vram:", u.wanted_vram);
	line(out, "amd-requested-visible-vram:", u.wanted_visible);
	line(out, "amd-requested-gtt:", u.wanted_gtt);
	line(out, "drm-shared-vram:", u.shared_vram);
	line(out, "drm-shared-gtt:", u.shared_gtt);
	line(out, "drm-shared-cpu:", u.shared_cpu);
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		if (busy[ip])
			fprintf(out, "drm-engine-%s:\t%llu ns\n", engines[ip], (unsigned long long)busy[ip]);
}
