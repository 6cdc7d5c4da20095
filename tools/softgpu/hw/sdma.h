/* SPDX-License-Identifier: MIT */
/* sdma.h: the packet processor of one SDMA ring. Used by that ring's thread only. */
#ifndef SOFTGPU_SDMA_H
#define SOFTGPU_SDMA_H

#include "run.h"

struct sg_sdma {
	struct sg_run run;
	uint32_t *dwords;	/* copy of the IB at work */
	uint32_t room, count, at;
};

struct sg_sdma *sg_sdma_create(unsigned ring, struct sg_counters *counters);
void sg_sdma_run(struct sg_sdma *sdma, const struct sg_job *job, uint64_t number);

#endif
