/* SPDX-License-Identifier: MIT */
/* image.c: the records of a compilation as one block of bytes. */
#include <stdio.h>

#include "compile.h"
#include "error.h"

uint64_t
gp_code_hash(const struct gp_declarations *d, const struct plan_image_kernel *kernels, uint32_t n)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a offset basis, then its prime */

	for (uint32_t i = 0; i < n; i++) {
		uint64_t code = d->codes[kernels[i].code].object->hash;

		for (uint32_t b = 0; b < 64; b += 8)
			hash = (hash ^ (code >> b & 0xff)) * 0x100000001b3u;
	}
	return hash;
}

void
gp_image_point(struct gp_image *image, const void *bytes, size_t size)
{
	const struct plan_image_header *h = bytes;
	const uint8_t *b = bytes;

	image->bytes = b;
	image->size = size;
	image->header = h;
	image->strings = (const void *)(b + h->sections[PLAN_SECTION_STRINGS].offset);
	image->allocations = (const void *)(b + h->sections[PLAN_SECTION_ALLOCATIONS].offset);
	image->kernels = (const void *)(b + h->sections[PLAN_SECTION_KERNELS].offset);
	image->args = (const void *)(b + h->sections[PLAN_SECTION_ARGS].offset);
	image->commands = (const void *)(b + h->sections[PLAN_SECTION_COMMANDS].offset);
	image->accesses = (const void *)(b + h->sections[PLAN_SECTION_ACCESSES].offset);
	image->barriers = (const void *)(b + h->sections[PLAN_SECTION_BARRIERS].offset);
	image->io = (const void *)(b + h->sections[PLAN_SECTION_IO].offset);
	image->stream = (const void *)(b + h->sections[PLAN_SECTION_STREAM].offset);
	image->reset = (const void *)(b + h->sections[PLAN_SECTION_RESET].offset);
	image->kernarg = b + h->sections[PLAN_SECTION_KERNARG].offset;
	image->relocations = (const void *)(b + h->sections[PLAN_SECTION_RELOCATIONS].offset);
	image->parameters = (const void *)(b + h->sections[PLAN_SECTION_PARAMETERS].offset);
	image->patches = (const void *)(b + h->sections[PLAN_SECTION_PATCHES].offset);
	image->segments = (const void *)(b + h->sections[PLAN_SECTION_SEGMENTS].offset);
}

int
gp_image_build(struct gp_compile *c, struct gp_image **out)
{
	const struct gp_array *sections[PLAN_SECTION_COUNT] = {
		[PLAN_SECTION_STRINGS] = &c->strings,
		[PLAN_SECTION_ALLOCATIONS] = &c->allocations,
		[PLAN_SECTION_KERNELS] = &c->kernels,
		[PLAN_SECTION_ARGS] = &c->args,
		[PLAN_SECTION_COMMANDS] = &c->commands,
		[PLAN_SECTION_ACCESSES] = &c->accesses,
		[PLAN_SECTION_BARRIERS] = &c->barriers,
		[PLAN_SECTION_IO] = &c->io,
		[PLAN_SECTION_STREAM] = &c->stream,
		[PLAN_SECTION_RESET] = &c->reset,
		[PLAN_SECTION_KERNARG] = &c->kernarg,
		[PLAN_SECTION_RELOCATIONS] = &c->relocations,
		[PLAN_SECTION_PARAMETERS] = &c->parameters,
		[PLAN_SECTION_PATCHES] = &c->patches,
		[PLAN_SECTION_SEGMENTS] = &c->segments,
	};
	struct plan_image_header *h = &c->header;
	struct gp_image *image = calloc(1, sizeof(*image));
	uint8_t *block = NULL;
	uint64_t bytes = gp_align(sizeof(*h), 8);

	for (uint32_t i = 0; i < PLAN_SECTION_COUNT; i++) {
		h->sections[i].offset = (uint32_t)bytes;
		h->sections[i].count = sections[i]->n;
		bytes = gp_align(bytes + (uint64_t)sections[i]->n * sections[i]->element, 8);
		if (bytes > INT32_MAX) {
			free(image);
			return gp_error(c->error, -E2BIG, "plan image is over 2 GiB");
		}
	}
	if (image)
		block = calloc(1, bytes);
	if (!block) {
		free(image);
		return gp_error(c->error, -ENOMEM, "out of memory for a plan image of %llu bytes",
				(unsigned long long)bytes);
	}
	memcpy(h->magic, PLAN_IMAGE_MAGIC, sizeof(h->magic));
	h->version = PLAN_IMAGE_VERSION;
	h->bytes = (uint32_t)bytes;
	snprintf(h->target, sizeof(h->target), "%s", c->d->target->name);
	h->code_hash = gp_code_hash(c->d, c->kernels.data, c->kernels.n);
	h->flags = c->params->flags;
	h->ib_dwords = c->params->ib_dwords;
	h->omit_barrier = c->params->omit_barrier;
	h->queue_block = c->aux;
	memcpy(block, h, sizeof(*h));
	for (uint32_t i = 0; i < PLAN_SECTION_COUNT; i++)
		if (sections[i]->n)
			memcpy(block + h->sections[i].offset, sections[i]->data,
			       (size_t)sections[i]->n * sections[i]->element);
	h->checksum = plan_image_checksum(block, bytes);
	memcpy(block, h, sizeof(*h));
	gp_image_point(image, block, bytes);
	*out = image;
	return 0;
}

uint32_t
gp_image_ib_bytes(const struct gp_image *image, uint32_t where)
{
	for (uint32_t i = 0; i < gp_image_count(image, PLAN_SECTION_SEGMENTS); i++)
		if (image->segments[i].where == where)
			return image->segments[i].dwords * (uint32_t)sizeof(uint32_t);
	return 0;
}

void
gp_image_destroy(struct gp_image *image)
{
	if (!image)
		return;
	free((void *)(uintptr_t)image->bytes);
	free(image);
}
