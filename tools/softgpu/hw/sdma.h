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

/* A handler gets the whole packet; `left` dwords of the IB follow from its header on, at least the table's minimum.
 * It returns the packet's length, or 0 after a failure. */
typedef uint32_t sg_sdma_fn(struct sg_sdma *s, const uint32_t *dw, uint32_t left);
sg_sdma_fn sg_sdma_copy, sg_sdma_write, sg_sdma_fill; /* sdma_copy.c */
/* Failures; return 0. */
uint32_t sg_sdma_truncated(struct sg_sdma *s, uint64_t needs, uint32_t left);
uint32_t sg_sdma_refuse_sub_op(struct sg_sdma *s, const uint32_t *dw, const char *name);
unsigned sg_sdma_version(const struct sg_sdma *s); /* major * 10 + minor */

struct sg_sdma *sg_sdma_create(unsigned ring, struct sg_counters *counters);
void sg_sdma_run(struct sg_sdma *sdma, const struct sg_job *job, uint64_t number);

#endif
