/* SPDX-License-Identifier: MIT */
/* ring.h: what report.c sees of the rings. */
#ifndef SOFTGPU_RING_H
#define SOFTGPU_RING_H

#include "stats.h"
#include "workers.h"

enum { SG_RINGS_MAX = 8 };

/* Counters of a ring, whether it ever ran or not. */
struct sg_counters *sg_ring_counters(enum sg_ip ip, unsigned ring);
struct sg_workers *sg_ring_workers(enum sg_ip ip, unsigned ring); /* NULL: none yet */

#endif
