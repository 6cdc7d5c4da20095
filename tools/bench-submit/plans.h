/* SPDX-License-Identifier: MIT */
/* plans.h: the plans that are submitted: the speech model's first one, and chains of n dispatches. */
#ifndef BENCH_SUBMIT_PLANS_H
#define BENCH_SUBMIT_PLANS_H

#include "gpuplan.h"

/* Each dispatch reads what the one before wrote, in two buffers. Dies with a sentence. */
struct gpuplan_plan *plans_chain(struct gpuplan_context *context, uint32_t n);
struct gpuplan_plan *plans_speech(struct gpuplan_context *context);

#endif
