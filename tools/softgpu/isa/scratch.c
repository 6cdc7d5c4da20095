/* SPDX-License-Identifier: MIT */
/* scratch.c: hands out the scratch slots behind a dispatch's base address to the waves that run at the same time on
 * all cores of the process. One lock per workgroup, only for kernels with scratch. */
#include "core.h"

#include <pthread.h>
#include <time.h>

enum { POOLS = 32, SLOTS = 4096 /* TMPRING_SIZE.WAVES has 12 bits */ };

static struct pool {
	uint64_t base;
	unsigned users;
	uint64_t taken[SLOTS / 64];
} pools[POOLS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;

static struct pool *
find_pool(uint64_t base)
{
	struct pool *empty = NULL;
	for (unsigned i = 0; i < POOLS; i++) {
		if (pools[i].users && pools[i].base == base)
			return &pools[i];
		if (!pools[i].users)
			empty = &pools[i];
	}
	if (empty) {
		memset(empty, 0, sizeof *empty);
		empty->base = base;
	}
	return empty;
}

/* RDNA3 knows the address; on RDNA2 the wave gets its offset in an SGPR and adds it to the base that its buffer
 * resource and FLAT_SCRATCH take from user data. */
static void
give_slot(const struct sg_dispatch *d, struct sg_wave *w, unsigned slot)
{
	w->scratch_slot = (uint16_t)slot;
	w->scratch_bytes = d->scratch_wave_bytes;
	if (d->arch == SG_ARCH_RDNA2)
		w->sgpr[w->scratch_sgpr] = slot * d->scratch_wave_bytes;
	else
		w->scratch = d->scratch_base + (uint64_t)slot * d->scratch_wave_bytes;
}

/* All slots of a group or none, so that two groups never wait for each other. */
static bool
try_acquire(struct sg_core *core, unsigned waves)
{
	const struct sg_dispatch *d = core->d;
	struct pool *p = find_pool(d->scratch_base);
	unsigned limit = d->scratch_waves < SLOTS ? d->scratch_waves : SLOTS, slots[SG_MAX_WAVES], n = 0;

	if (!p)
		return false;
	for (unsigned i = 0; i < limit && n < waves; i++)
		if (!(p->taken[i / 64] >> (i % 64) & 1))
			slots[n++] = i;
	if (n < waves)
		return false;
	for (unsigned i = 0; i < waves; i++) {
		p->taken[slots[i] / 64] |= (uint64_t)1 << (slots[i] % 64);
		give_slot(d, &core->waves[i], slots[i]);
	}
	p->users += waves;
	return true;
}

bool
sg_scratch_acquire(struct sg_core *core, unsigned waves)
{
	bool ok;

	if (core->d->scratch_waves < waves)
		return false;
	pthread_mutex_lock(&lock);
	const volatile bool *stop = core->d->stop;
	while (!(ok = try_acquire(core, waves)) && !(stop && __atomic_load_n(stop, __ATOMIC_RELAXED))) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 10000000; /* look at the watchdog every 10 ms */
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&freed, &lock, &until);
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

void
sg_scratch_release(struct sg_core *core, unsigned waves)
{
	pthread_mutex_lock(&lock);
	struct pool *p = find_pool(core->d->scratch_base);
	for (unsigned i = 0; p && i < waves; i++) {
		unsigned slot = core->waves[i].scratch_slot;
		p->taken[slot / 64] &= ~((uint64_t)1 << (slot % 64));
		p->users--;
		core->waves[i].scratch_bytes = 0;
	}
	pthread_cond_broadcast(&freed);
	pthread_mutex_unlock(&lock);
}
