/* SPDX-License-Identifier: MIT */
/* slot.c: taking a slot and giving it back. Inputs and outputs are plan.c's, submitting is queue.c's. */
#include <errno.h>

#include "context.h"
#include "plan.h"
#include "queue.h"

/* 0 when the slot is the caller's now. */
static int
slot_take(struct gpuplan_slot *slot)
{
	bool taken = false;
	int r;

	if (!atomic_compare_exchange_strong_explicit(&slot->taken, &taken, true, memory_order_acquire,
						     memory_order_relaxed))
		return -EBUSY;
	r = gp_run_prepare(&slot->run);
	if (r)
		atomic_store_explicit(&slot->taken, false, memory_order_release);
	else
		gp_slot_parameters_reset(slot);
	return r;
}

int
gpuplan_plan_acquire(struct gpuplan_plan *plan, struct gpuplan_slot **out)
{
	int result = gp_context_check_process(plan->context);

	if (result)
		return result;
	result = -EBUSY;
	for (uint32_t i = 0; i < plan->capacity; i++) {
		struct gpuplan_slot *slot = &plan->slots[i];
		int r;

		if (atomic_load_explicit(&slot->taken, memory_order_relaxed))
			continue;
		r = slot_take(slot);
		if (!r) {
			atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
			*out = slot;
			return 0;
		}
		/* A free slot that cannot be had for want of descriptors is worth telling. */
		if (r != -EBUSY)
			result = r;
	}
	return result;
}

void
gpuplan_slot_release(struct gpuplan_slot *slot)
{
	struct gpuplan_plan *plan;

	if (!slot)
		return;
	plan = slot->plan;
	gp_run_abandon(&slot->run);
	atomic_store_explicit(&slot->taken, false, memory_order_release);
	gp_plan_unref(plan);
}

uint32_t
gpuplan_slot_index(const struct gpuplan_slot *slot)
{
	return slot->index;
}

void
gpuplan_slot_reset_state(struct gpuplan_slot *slot)
{
	gp_cs_set_count(&slot->run.cs, slot->has_state ? 2 : 1);
}

void
gpuplan_slot_set_user_data(struct gpuplan_slot *slot, uint64_t user_data)
{
	slot->run.user_data = user_data;
}
