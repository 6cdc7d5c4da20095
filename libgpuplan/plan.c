/* SPDX-License-Identifier: MIT */
/* plan.c: an image bound to memory: one relocated copy of stream and arguments per slot. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "image.h"
#include "params.h"
#include "plan.h"

static uint64_t
base_address(const struct gp_plan_binding *binding, const struct gpuplan_slot *slot,
	     const struct plan_image_relocation *r)
{
	switch (r->memory) {
	case PLAN_MEMORY_WEIGHT:
	case PLAN_MEMORY_SHARED:
		return binding->declarations->allocations[r->index].buffer->va;
	case PLAN_MEMORY_CODE:
		return binding->declarations->codes[r->index].buffer->va;
	case PLAN_MEMORY_DEVICE:
		return slot->device->va;
	default: /* PLAN_MEMORY_HOST */
		return slot->host->va;
	}
}

static uint8_t *
relocated_block(const struct gpuplan_slot *slot, const struct plan_image_header *h, uint32_t where)
{
	uint8_t *host = slot->host->cpu;

	switch (where) {
	case PLAN_IN_STREAM:
		return host + h->stream_offset;
	case PLAN_IN_RESET:
		return host + h->reset_offset;
	default: /* PLAN_IN_KERNARG */
		return host + h->kernarg_offset;
	}
}

static void
relocate(const struct gp_plan_binding *binding, const struct gpuplan_slot *slot, const struct plan_image_header *h,
	 const struct plan_image_relocation *r)
{
	uint64_t va = base_address(binding, slot, r) + r->addend;
	uint8_t *block = relocated_block(slot, h, r->where);
	uint32_t *dw = (uint32_t *)(void *)block + r->place;

	switch (r->kind) {
	case PLAN_RELOC_ADDR64:
		memcpy(block + r->place, &va, sizeof(va));
		break;
	case PLAN_RELOC_LO32:
		*dw |= (uint32_t)va;
		break;
	case PLAN_RELOC_HI32:
		*dw |= (uint32_t)(va >> 32);
		break;
	case PLAN_RELOC_LO32_SHR8:
		*dw |= (uint32_t)(va >> 8);
		break;
	case PLAN_RELOC_HI8_SHR40:
		*dw |= (uint32_t)(va >> 40) & 0xff;
		break;
	}
}

static void
write_slot(const struct gp_plan_binding *binding, const struct gp_image *image, const struct gpuplan_slot *slot)
{
	const struct plan_image_header *h = image->header;
	uint8_t *host = slot->host->cpu;

	memcpy(host + h->stream_offset, image->stream,
	       gp_image_count(image, PLAN_SECTION_STREAM) * sizeof(uint32_t));
	memcpy(host + h->reset_offset, image->reset, gp_image_count(image, PLAN_SECTION_RESET) * sizeof(uint32_t));
	memcpy(host + h->kernarg_offset, image->kernarg, gp_image_count(image, PLAN_SECTION_KERNARG));
	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_RELOCATIONS); i++)
		relocate(binding, slot, h, &image->relocations[i]);
}

static int
slot_init(struct gpuplan_plan *plan, const struct gp_plan_binding *binding, uint32_t i, struct gpuplan_error *error)
{
	const struct plan_image_header *h = plan->image->header;
	struct gpuplan_slot *slot = &plan->slots[i];
	struct gpuplan_context *context = plan->context;
	char what[96];
	uint32_t reset_bytes;
	int r;

	snprintf(what, sizeof(what), "slot %" PRIu32 " of %" PRIu32 " of plan \"%.40s\"", i, plan->capacity,
		 plan->image->strings + h->name);
	slot->plan = plan;
	slot->index = i;
	if (h->device_bytes && (r = gp_buffer_create(context, h->device_bytes, GP_HEAP_DEVICE, binding->purpose, what,
						     &slot->device, error)))
		return r;
	r = gp_buffer_create(context, h->host_bytes, GP_HEAP_HOST, binding->purpose, what, &slot->host, error);
	if (r)
		return r;
	write_slot(binding, plan->image, slot);
	reset_bytes = gp_image_ib_bytes(plan->image, PLAN_IN_RESET);
	slot->has_state = reset_bytes != 0;
	r = gp_run_init(&slot->run, context, slot,
			(volatile uint64_t *)(void *)((uint8_t *)slot->host->cpu + h->word_offset), error);
	if (r)
		return r;
	gp_cs_set_ib(&slot->run.cs, true, slot->host->va + h->reset_offset, reset_bytes);
	gp_cs_set_ib(&slot->run.cs, false, slot->host->va + h->stream_offset,
		     gp_image_ib_bytes(plan->image, PLAN_IN_STREAM));
	gpuplan_slot_reset_state(slot);
	return 0;
}

static void
plan_free(struct gpuplan_plan *plan)
{
	for (uint32_t i = 0; plan->slots && i < plan->capacity; i++) {
		struct gpuplan_slot *slot = &plan->slots[i];

		if (slot->run.context)
			gp_run_finish(&slot->run);
		gp_buffer_destroy(slot->device);
		gp_buffer_destroy(slot->host);
	}
	free(plan->slots);
	gp_image_destroy(plan->image);
	if (plan->model)
		gp_model_unref(plan->model);
	free(plan);
}

static struct gpuplan_plan *
plan_alloc(const struct gp_plan_binding *binding, struct gp_image *image, uint32_t capacity)
{
	struct gpuplan_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->slots = calloc(capacity, sizeof(*plan->slots));
	if (!plan->slots) {
		free(plan);
		return NULL;
	}
	atomic_init(&plan->refs, 1);
	plan->model = binding->model ? gp_model_ref(binding->model) : NULL;
	plan->context = binding->context;
	plan->image = image;
	plan->capacity = capacity;
	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_IO); i++) {
		if (image->io[i].output)
			plan->n_outputs++;
		else
			plan->n_inputs++;
	}
	return plan;
}

/* Takes the image, also when it fails. */
static int
create_of_image(const struct gp_plan_binding *binding, struct gp_image *image, uint32_t capacity,
		struct gpuplan_plan **out, struct gpuplan_error *error)
{
	struct gpuplan_plan *plan = plan_alloc(binding, image, capacity);
	int r;

	if (!plan) {
		gp_image_destroy(image);
		return gp_error(error, -ENOMEM, "out of memory for a plan of %" PRIu32 " slots", capacity);
	}
	for (uint32_t i = 0; i < plan->capacity; i++)
		if ((r = slot_init(plan, binding, i, error))) {
			plan_free(plan);
			return r;
		}
	*out = plan;
	return 0;
}

int
gp_plan_create(const struct gp_plan_binding *binding, const struct gpuplan_plan_params *params,
	       struct gpuplan_plan **out, struct gpuplan_error *error)
{
	struct gp_compile_options options = { .session_run = binding->session_run };
	struct gp_image *image;
	int r = gp_plan_compile(binding->declarations, params, &options, &image, error);

	return r ? r : create_of_image(binding, image, params->capacity, out, error);
}

void
gp_plan_unref(struct gpuplan_plan *plan)
{
	if (atomic_fetch_sub_explicit(&plan->refs, 1, memory_order_acq_rel) == 1)
		plan_free(plan);
}

static struct gp_plan_binding
definition_binding(const struct gpuplan_definition *definition)
{
	return (struct gp_plan_binding){
		.context = definition->model->context,
		.model = definition->model,
		.declarations = &definition->model->declarations,
		.purpose = GP_FOR_SLOTS,
	};
}

static int
check_context(const struct gpuplan_plan_params *p, const struct gp_model *model, struct gpuplan_error *error)
{
	if (p->context && p->context != model->context)
		return gp_error(error, -EXDEV, "plan wants context %p (%s), the definition lives on %p (%s)",
				(void *)p->context, p->context->info.device, (void *)model->context,
				model->context->info.device);
	return 0;
}

int
gpuplan_plan_create(struct gpuplan_definition *definition, const struct gpuplan_plan_params *params,
		    struct gpuplan_plan **plan, struct gpuplan_error *error)
{
	struct gp_plan_binding binding = definition_binding(definition);
	struct gpuplan_plan_params p;
	int r = gp_params_copy(&p, sizeof(p), params, "plan", error);

	if (r || (r = check_context(&p, definition->model, error)))
		return r;
	return gp_plan_create(&binding, &p, plan, error);
}

int
gpuplan_plan_load(struct gpuplan_definition *definition, const void *bytes, size_t size,
		  const struct gpuplan_plan_params *params, struct gpuplan_plan **plan, struct gpuplan_error *error)
{
	struct gp_plan_binding binding = definition_binding(definition);
	struct gpuplan_plan_params p;
	struct gp_image *image;
	int r = gp_params_copy(&p, sizeof(p), params, "plan", error);

	if (r || (r = check_context(&p, definition->model, error)))
		return r;
	if (p.n_commands || p.n_inputs || p.n_outputs || p.n_parameters || p.flags || p.omit_barrier || p.ib_dwords)
		return gp_error(error, -EINVAL,
				"the plan image says what a loaded plan does; its params have %" PRIu32 " commands, %" PRIu32
				" inputs, %" PRIu32 " outputs, %" PRIu32 " parameters, flags 0x%" PRIx32 ", all must be 0",
				p.n_commands, p.n_inputs, p.n_outputs, p.n_parameters, p.flags);
	r = gp_image_load(binding.declarations, bytes, size, p.capacity, &image, error);
	return r ? r : create_of_image(&binding, image, p.capacity, plan, error);
}

void
gpuplan_plan_destroy(struct gpuplan_plan *plan)
{
	if (plan)
		gp_plan_unref(plan);
}

static uint64_t
slot_bytes(const struct gpuplan_plan *plan)
{
	const struct gpuplan_slot *slot = &plan->slots[0];

	return slot->host->bytes + (slot->device ? slot->device->bytes : 0);
}

void
gpuplan_plan_get_info(const struct gpuplan_plan *plan, struct gpuplan_plan_info *info)
{
	const struct gp_image *image = plan->image;
	const struct plan_image_header *h = image->header;

	*info = (struct gpuplan_plan_info){
		.capacity = plan->capacity,
		.n_inputs = plan->n_inputs,
		.n_outputs = plan->n_outputs,
		.n_commands = gp_image_count(image, PLAN_SECTION_COMMANDS),
		.n_barriers = gp_image_count(image, PLAN_SECTION_BARRIERS),
		.n_parameters = gp_image_count(image, PLAN_SECTION_PARAMETERS),
		.stream_dwords = gp_image_count(image, PLAN_SECTION_STREAM),
		.kernarg_bytes = gp_image_count(image, PLAN_SECTION_KERNARG),
		.slot_bytes = slot_bytes(plan),
		.scratch_bytes = h->scratch_bytes,
		.state_bytes = h->state_bytes,
		.staging_bytes = h->staging_bytes,
		.scratch_planned_bytes = h->scratch_planned_bytes,
	};
	for (uint32_t i = 0; i < info->n_commands; i++)
		info->n_dispatches += image->commands[i].kind == PLAN_COMMAND_DISPATCH;
}

int
gpuplan_plan_get_io(const struct gpuplan_plan *plan, bool output, uint32_t i, struct gpuplan_io *out)
{
	const struct gp_image *image = plan->image;
	const struct plan_image_io *io;

	if (i >= (output ? plan->n_outputs : plan->n_inputs))
		return -EINVAL;
	io = &image->io[output ? plan->n_inputs + i : i];
	*out = (struct gpuplan_io){
		.region = { plan->model ? plan->model->declarations.session : 0, io->allocation, 0, io->offset, io->bytes },
		.dtype = (enum gpuplan_dtype)io->dtype,
		.rank = io->rank,
		.name = image->strings + io->name,
	};
	memcpy(out->shape, io->shape, sizeof(out->shape));
	return 0;
}

const void *
gpuplan_plan_image(const struct gpuplan_plan *plan, size_t *bytes)
{
	*bytes = plan->image->size;
	return plan->image->bytes;
}

/* Inputs stand before outputs in the image. */
static void *
io_address(struct gpuplan_slot *slot, uint32_t i, size_t *bytes)
{
	const struct plan_image_io *io = &slot->plan->image->io[i];

	if (bytes)
		*bytes = io->bytes;
	return (uint8_t *)slot->host->cpu + io->place;
}

void *
gpuplan_slot_input(struct gpuplan_slot *slot, uint32_t i, size_t *bytes)
{
	return i < slot->plan->n_inputs ? io_address(slot, i, bytes) : NULL;
}

const void *
gpuplan_slot_output(struct gpuplan_slot *slot, uint32_t i, size_t *bytes)
{
	return i < slot->plan->n_outputs ? io_address(slot, slot->plan->n_inputs + i, bytes) : NULL;
}
