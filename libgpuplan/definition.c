/* SPDX-License-Identifier: MIT */
/* definition.c: what is left of a session: weights and code, shared by handles and plans. */
#include <stdlib.h>

#include "definition.h"

void
gp_declarations_finish(struct gp_declarations *d)
{
	for (uint32_t i = 0; i < d->n_allocations; i++) {
		gp_buffer_destroy(d->allocations[i].buffer);
		free(d->allocations[i].name);
	}
	for (uint32_t i = 0; i < d->n_codes; i++) {
		gp_buffer_destroy(d->codes[i].buffer);
		gp_code_object_destroy(d->codes[i].object);
		free(d->codes[i].name);
	}
	free(d->allocations);
	free(d->codes);
	free(d->kernels);
	*d = (struct gp_declarations){ 0 };
}

struct gp_model *
gp_model_ref(struct gp_model *model)
{
	__atomic_fetch_add(&model->refs, 1, __ATOMIC_RELAXED);
	return model;
}

void
gp_model_unref(struct gp_model *model)
{
	/* Release what this user did, acquire what the others did. */
	if (__atomic_sub_fetch(&model->refs, 1, __ATOMIC_ACQ_REL))
		return;
	gp_declarations_finish(&model->declarations);
	free(model);
}

void
gpuplan_definition_destroy(struct gpuplan_definition *definition)
{
	if (!definition)
		return;
	gp_model_unref(definition->model);
	free(definition);
}

uint64_t
gpuplan_definition_weight_bytes(const struct gpuplan_definition *definition)
{
	return definition->model->weight_bytes;
}
