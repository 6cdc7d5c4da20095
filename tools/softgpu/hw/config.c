/* SPDX-License-Identifier: MIT */
/* config.c: the environment variables of softgpu, read once. */
#define _GNU_SOURCE
#include "hw.h"

#include "../isa/isa.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sg_config config;
static pthread_once_t config_once = PTHREAD_ONCE_INIT;
static bool config_ready; /* atomic: asked several times per submission, and cheaper than pthread_once */

static bool
env_bool(const char *name, bool otherwise)
{
	const char *text = getenv(name);

	if (!text || !*text)
		return otherwise;
	return strcmp(text, "0") != 0;
}

static uint64_t
env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return otherwise;
	uint64_t value = strtoull(text, &end, 0);
	if (*end == '\0')
		return value;
	fprintf(stderr, "softgpu: %s=%s is not a number, using %llu\n", name, text, (unsigned long long)otherwise);
	return otherwise;
}

/* Workgroups in an order that is the same each time need one thread. */
static unsigned
env_threads(bool hostile)
{
	cpu_set_t cpus;
	unsigned here = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;

	return hostile ? 1 : (unsigned)env_number("SOFTGPU_THREADS", here);
}

/* A copy, because the program may change its environment later. */
static const char *
env_text(const char *name, const char *otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strdup(text) : otherwise;
}

/* Also the launcher's: it chooses a build of the library by it. */
static void
env_simd(void)
{
	const char *text = getenv("SOFTGPU_SIMD");
	enum sg_simd most = text && *text ? sg_simd_named(text) : SG_SIMD_AVX512;

	if (most == SG_SIMD_COUNT)
		fprintf(stderr, "softgpu: SOFTGPU_SIMD=%s is not none, avx2 or avx512, using what there is\n", text);
	sg_simd_limit(most == SG_SIMD_COUNT ? SG_SIMD_AVX512 : most);
}

static const struct sg_profile *
env_profile(void)
{
	const char *text = getenv("SOFTGPU_PROFILE");
	const struct sg_profile *profile = sg_profile_default();

	if (!text || !*text)
		return profile;
	const struct sg_profile *found = sg_profile_find(text);
	if (found)
		return found;
	fprintf(stderr, "softgpu: unknown SOFTGPU_PROFILE=%s, using %s\n", text, profile->name);
	return profile;
}

static void
config_read(void)
{
	env_simd();
	config = (struct sg_config){
		.profile = env_profile(),
		.strict = env_bool("SOFTGPU_STRICT", false),
		.hostile = env_bool("SOFTGPU_HOSTILE", false),
		.execute = env_bool("SOFTGPU_EXECUTE", true),
		.seed = env_number("SOFTGPU_SEED", 0),
		.lockup_ms = (unsigned)env_number("SOFTGPU_LOCKUP_TIMEOUT_MS", 10000),
		.spin_us = (unsigned)env_number("SOFTGPU_RING_SPIN_US", 50),
		.eventfd = env_bool("SOFTGPU_EVENTFD", true),
		.syscalls = env_bool("SOFTGPU_SYSCALLS", false),
		.job_delay_us = (unsigned)env_number("SOFTGPU_JOB_DELAY_US", 0),
		.fence_delay_us = (unsigned)env_number("SOFTGPU_FENCE_DELAY_US", 0),
		.threads = env_threads(env_bool("SOFTGPU_HOSTILE", false)),
		.report = env_text("SOFTGPU_REPORT", NULL),
		.fail = env_text("SOFTGPU_FAIL", NULL),
		.recovery = env_bool("SOFTGPU_GPU_RECOVERY", true) ? env_text("SOFTGPU_RECOVERY", "full") : "none",
		.vram_lost = env_bool("SOFTGPU_VRAM_LOST", false),
		.reset_every = env_number("SOFTGPU_RESET_EVERY", 0),
	};
}

const struct sg_config *
sg_config(void)
{
	if (!__atomic_load_n(&config_ready, __ATOMIC_ACQUIRE)) {
		pthread_once(&config_once, config_read);
		__atomic_store_n(&config_ready, true, __ATOMIC_RELEASE);
	}
	return &config;
}
