/* SPDX-License-Identifier: MIT */
/* kernarg_take.c: argument blocks taken from an image that is made again (image_load.c), instead of built. */
#include <inttypes.h>

#include "compile.h"
#include "error.h"

int
gp_kernarg_take_all(struct gp_compile *c)
{
	const struct gp_image *image = c->options->arguments;
	uint32_t n = image ? gp_image_count(image, PLAN_SECTION_KERNARG) : 0;
	void *block;

	if (!image)
		return 0;
	c->aux = image->header->queue_block;
	block = n ? gp_array_grow(&c->kernarg, n) : NULL;
	if (n && !block)
		return gp_error(c->error, -ENOMEM, "out of memory");
	if (n)
		memcpy(block, image->kernarg, n);
	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_PATCHES); i++) {
		const struct plan_image_patch *p = &image->patches[i];

		if (p->where != PLAN_IN_KERNARG)
			continue;
		if (p->reserved || !p->multiplier)
			return gp_error(c->error, -EINVAL, "plan image: patch %" PRIu32 " has multiplier %" PRIu32 " and reserved %" PRIu32,
					i, p->multiplier, p->reserved);
		if (gp_array_push(&c->patches, p))
			return gp_error(c->error, -ENOMEM, "out of memory");
	}
	return 0;
}

int
gp_kernarg_take(struct gp_compile *c, const struct gp_kernel_info *k, const char *what,
		const struct plan_image_command *record, struct plan_image_command *command)
{
	if (record->kernarg % 64 || record->kernarg_bytes != gp_align(k->kernarg_bytes, 16))
		return gp_error(c->error, -EINVAL,
				"%s: argument block of %" PRIu32 " bytes at %" PRIu32 ", kernel \"%s\" takes %" PRIu32
				" at a multiple of 64",
				what, record->kernarg_bytes, record->kernarg, k->name, k->kernarg_bytes);
	command->kernarg = record->kernarg;
	command->kernarg_bytes = record->kernarg_bytes;
	command->lds_bytes = record->lds_bytes;
	return 0;
}

/* The dispatch whose argument block (or what follows it: packet, queue block) holds the place; blocks and places come in
 * the same order. */
static const struct plan_image_command *
block_at(const struct gp_compile *c, uint32_t place, uint32_t *next)
{
	const struct plan_image_command *const *records = c->options->records;
	const struct plan_image_command *block = NULL;

	while (*next < c->params->n_commands) {
		const struct plan_image_command *r = records[*next];

		if (r->kind == PLAN_COMMAND_DISPATCH && r->kernarg > place)
			break;
		(*next)++;
	}
	for (uint32_t i = *next; i-- > 0 && !block;)
		if (records[i]->kind == PLAN_COMMAND_DISPATCH)
			block = records[i];
	return block && block->kernarg <= place ? block : NULL;
}

static bool
same_address(const struct gp_ref *ref, const struct plan_image_relocation *r)
{
	return ref->memory == r->memory && ref->index == r->index && ref->addend == r->addend;
}

/* An address among a dispatch's arguments is that of something it declares. The hidden ones behind them, and the packet,
 * also know their own neighbourhood and the code. */
static bool
is_declared(const struct gp_compile *c, const struct plan_image_command *block, const struct plan_image_relocation *r)
{
	const struct gp_image *image = c->options->arguments;
	bool hidden = r->place - block->kernarg >= image->kernels[block->kernel].explicit_bytes;

	if (hidden && r->memory == PLAN_MEMORY_CODE)
		return true;
	if (hidden && r->memory == PLAN_MEMORY_HOST && r->index == 0 && r->addend >= c->header.kernarg_offset &&
	    r->addend < c->header.kernarg_offset + c->kernarg.n)
		return true;
	for (uint32_t i = 0; i < block->n_accesses; i++) {
		const struct plan_image_access *a = &image->accesses[block->first_access + i];
		struct gp_ref ref = gp_plan_place(c, a->allocation);

		ref.addend += a->offset;
		if (same_address(&ref, r))
			return true;
	}
	return false;
}

int
gp_kernarg_take_relocations(struct gp_compile *c)
{
	const struct gp_image *image = c->options->arguments;
	uint32_t next = 0;

	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_RELOCATIONS); i++) {
		const struct plan_image_relocation *r = &image->relocations[i];
		const struct plan_image_command *block;

		if (r->where != PLAN_IN_KERNARG)
			continue;
		block = block_at(c, r->place, &next);
		if (!block || r->place % 8 || r->reserved || !is_declared(c, block, r))
			return gp_error(c->error, -EINVAL,
					"plan image: argument byte %" PRIu32 " gets an address (memory %" PRIu32 ", number %" PRIu32
					", offset %" PRIu64 ") that its dispatch does not declare",
					r->place, r->memory, r->index, r->addend);
		if (gp_array_push(&c->relocations, r))
			return gp_error(c->error, -ENOMEM, "out of memory");
	}
	return 0;
}
