/* SPDX-License-Identifier: MIT */
/* parameter.c: setting a slot's parameters between runs: stores into its stream and arguments, nothing else. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "plan.h"

static uint32_t
count(const struct gpuplan_plan *plan)
{
	return gp_image_count(plan->image, PLAN_SECTION_PARAMETERS);
}

int
gpuplan_plan_parameter(const struct gpuplan_plan *plan, const char *name, uint32_t *index)
{
	const struct gp_image *image = plan->image;

	for (uint32_t i = 0; name && i < count(plan); i++)
		if (!strcmp(image->strings + image->parameters[i].name, name)) {
			*index = i;
			return 0;
		}
	return name ? -ENOENT : -EINVAL;
}

int
gpuplan_plan_get_parameter(const struct gpuplan_plan *plan, uint32_t i, struct gpuplan_parameter *info)
{
	const struct plan_image_parameter *p;

	if (i >= count(plan))
		return -EINVAL;
	p = &plan->image->parameters[i];
	*info = (struct gpuplan_parameter){
		.name = plan->image->strings + p->name,
		.bytes = p->bytes,
		.initial = p->initial,
		.min = p->min,
		.max = p->max,
	};
	return 0;
}

static int
check_value(const struct gp_image *image, const struct gpuplan_value *value, uint32_t i, struct gpuplan_error *error)
{
	uint32_t n = gp_image_count(image, PLAN_SECTION_PARAMETERS);
	const struct plan_image_parameter *p;
	const char *name;

	if (value->parameter >= n)
		return gp_error(error, -EINVAL, "value %" PRIu32 " is for parameter %" PRIu32 ", the plan has %" PRIu32, i,
				value->parameter, n);
	p = &image->parameters[value->parameter];
	name = image->strings + p->name;
	if (value->bytes != p->bytes)
		return gp_error(error, -EINVAL,
				"value %" PRIu32 " has %" PRIu32 " bytes, parameter \"%.64s\" has %" PRIu32, i, value->bytes,
				name, p->bytes);
	if (value->value < p->min || value->value > p->max)
		return gp_error(error, -EINVAL,
				"value %" PRIu32 " is %" PRIu64 ", parameter \"%.64s\" is %" PRIu64 " to %" PRIu64, i,
				value->value, name, p->min, p->max);
	return 0;
}

static void
write_value(struct gpuplan_slot *slot, uint32_t parameter, uint64_t value)
{
	const struct gp_image *image = slot->plan->image;
	const struct plan_image_parameter *p = &image->parameters[parameter];
	uint8_t *host = slot->host->cpu;

	for (uint32_t i = 0; i < p->n_patches; i++) {
		const struct plan_image_patch *patch = &image->patches[p->first_patch + i];
		uint64_t product = value * patch->multiplier;
		uint8_t *place = patch->where == PLAN_IN_STREAM ? host + image->header->stream_offset + patch->place * 4ull
								: host + image->header->kernarg_offset + patch->place;

		memcpy(place, &product, patch->bytes); /* little-endian: the low bytes */
	}
}

int
gpuplan_slot_set(struct gpuplan_slot *slot, const struct gpuplan_value *values, uint32_t n, struct gpuplan_error *error)
{
	int r;

	if (n && !values)
		return gp_error(error, -EINVAL, "%" PRIu32 " values but no array of them", n);
	r = gp_run_idle(&slot->run);
	if (r)
		return gp_error(error, r, "slot %" PRIu32 " of plan \"%.64s\" %s", slot->index,
				slot->plan->image->strings + slot->plan->image->header->name,
				r == -EBUSY ? "still runs, its parameters are in use" :
					      "cannot be asked whether it still runs");
	for (uint32_t i = 0; i < n; i++)
		if ((r = check_value(slot->plan->image, &values[i], i, error)))
			return r;
	for (uint32_t i = 0; i < n; i++)
		write_value(slot, values[i].parameter, values[i].value);
	slot->parameters_set |= n != 0;
	return 0;
}

void
gp_slot_parameters_reset(struct gpuplan_slot *slot)
{
	if (!slot->parameters_set)
		return;
	for (uint32_t i = 0; i < count(slot->plan); i++)
		write_value(slot, i, slot->plan->image->parameters[i].initial);
	slot->parameters_set = false;
}
