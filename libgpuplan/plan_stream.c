/* SPDX-License-Identifier: MIT */
/* plan_stream.c: records -> PM4. */
#include <assert.h>
#include <inttypes.h>

#include "compile.h"
#include "error.h"
#include "pm4.h"
#include "pm4_regs.h"

static struct gp_ref
access_ref(const struct gp_compile *c, const struct plan_image_command *command, uint32_t i)
{
	const struct plan_image_access *a = gp_array_at(&c->accesses, command->first_access + i);
	struct gp_ref ref = gp_plan_place(c, a->allocation);

	ref.addend += a->offset;
	return ref;
}

static struct gp_ref
kernarg_ref(const struct gp_compile *c, uint32_t place)
{
	return (struct gp_ref){ PLAN_MEMORY_HOST, 0, c->header.kernarg_offset + place };
}

static void
emit_dispatch(const struct gp_compile *c, struct gp_emit *e, const struct plan_image_command *command)
{
	const struct plan_image_kernel *k = gp_array_at(&c->kernels, command->kernel);
	struct gp_emit_dispatch d = {
		.code = { PLAN_MEMORY_CODE, k->code, k->entry },
		.kernarg = kernarg_ref(c, command->kernarg),
		.rsrc1 = k->rsrc1,
		.rsrc2 = k->rsrc2 | PM4_SET(RSRC2_LDS_SIZE, (command->lds_bytes + 511) / 512),
		.rsrc3 = k->rsrc3,
		.properties = k->properties,
		.dispatch_packet = kernarg_ref(c, command->kernarg + (uint32_t)gp_align(command->kernarg_bytes, 64)),
		.queue = kernarg_ref(c, c->aux == UINT32_MAX ? 0 : c->aux),
		.private_bytes = k->private_bytes,
	};

	if (command->grid_access) {
		d.has_indirect = true;
		d.indirect = access_ref(c, command, command->grid_access - 1);
	}
	if (k->private_bytes)
		d.rsrc2 |= PM4_SET(RSRC2_SCRATCH_EN, 1);
	for (uint32_t i = 0; i < 3; i++)
		d.groups[i] = (struct gp_emit_word){ command->groups[i], command->groups_param[i] };
	memcpy(d.block, command->block, sizeof(d.block));
	c->d->target->emit->dispatch(e, &d);
}

static void
emit_command(const struct gp_compile *c, struct gp_emit *e, const struct plan_image_command *command)
{
	const struct plan_image_access *dst = gp_array_at(&c->accesses, command->first_access);
	const struct gp_emit_ops *ops = c->d->target->emit;

	switch (command->kind) {
	case PLAN_COMMAND_FILL:
		ops->fill(e, access_ref(c, command, 0), dst->bytes, (struct gp_emit_word){ command->value, command->value_param });
		break;
	case PLAN_COMMAND_DISPATCH:
		emit_dispatch(c, e, command);
		break;
	default: /* copies */
		ops->copy(e, access_ref(c, command, 0), access_ref(c, command, 1), dst->bytes);
		break;
	}
}

static struct gp_emit_private
private_ring(const struct gp_compile *c)
{
	return (struct gp_emit_private){
		.base = { PLAN_MEMORY_DEVICE, 0, c->header.private_offset },
		.bytes_per_wave = c->private_per_wave,
		.waves = c->d->target->private_waves,
	};
}

static void
emit_run(struct gp_compile *c, struct gp_emit *e)
{
	const struct gp_emit_ops *ops = c->d->target->emit;
	struct gp_emit_private scratch = private_ring(c);
	uint32_t next = 0;

	ops->begin(e, &scratch, GP_BEGIN_AFTER_UPLOAD);
	for (uint32_t i = 0; i < c->commands.n; i++) {
		struct plan_image_command *command = gp_array_at(&c->commands, i);

		if (next < c->barriers.n) {
			struct plan_image_barrier *b = gp_array_at(&c->barriers, next);

			if (b->before == i) {
				next++;
				b->stream = e->n;
				if (c->params->omit_barrier != next)
					ops->barrier(e, b->ops);
				b->stream_dwords = e->n - b->stream;
			}
		}
		command->stream = e->n;
		emit_command(c, e, command);
		command->stream_dwords = e->n - command->stream;
	}
	ops->signal(e, (struct gp_ref){ PLAN_MEMORY_HOST, 0, c->header.word_offset }, 1);
	ops->finish(e);
}

static void
emit_reset(struct gp_compile *c, struct gp_emit *e)
{
	const struct gp_emit_ops *ops = c->d->target->emit;
	struct gp_emit_private none = { .bytes_per_wave = 0 };

	ops->begin(e, &none, GP_BEGIN_AFTER_UPLOAD);
	for (uint32_t i = 0; i < c->allocations.n; i++) {
		const struct plan_image_allocation *a = gp_array_at(&c->allocations, i);

		if (a->use == GPUPLAN_STATE && a->extent)
			ops->fill(e, gp_plan_place(c, i), gp_align(a->extent, 4), (struct gp_emit_word){ 0 });
	}
	ops->finish(e);
}

/* Counts, allocates exactly that, emits, and holds the two against each other. */
static int
emit_twice(struct gp_compile *c, uint32_t where, void (*emit)(struct gp_compile *, struct gp_emit *),
	   struct gp_array *stream)
{
	struct gp_emit count, e;
	struct plan_image_relocation *relocations;
	struct plan_image_patch *patches;
	uint32_t first = c->relocations.n, first_patch = c->patches.n;

	gp_emit_init(&count, c->d->target, where);
	emit(c, &count);
	if (count.n > PM4_IB_MAX_DWORDS)
		return gp_error(c->error, -E2BIG, "stream of %" PRIu32 " dwords, one IB holds %u", count.n,
				PM4_IB_MAX_DWORDS);
	gp_emit_init(&e, c->d->target, where);
	e.dw = gp_array_grow(stream, count.n);
	relocations = count.n_relocations ? gp_array_grow(&c->relocations, count.n_relocations) : NULL;
	patches = count.n_patches ? gp_array_grow(&c->patches, count.n_patches) : NULL;
	if (!e.dw || (count.n_relocations && !relocations) || (count.n_patches && !patches))
		return gp_error(c->error, -ENOMEM, "out of memory");
	e.relocations = relocations;
	e.patches = patches;
	emit(c, &e);
	assert(e.n == count.n && first + e.n_relocations == c->relocations.n && first_patch + e.n_patches == c->patches.n);
	return 0;
}

static uint64_t
take(uint64_t *memory, uint64_t bytes)
{
	uint64_t place = gp_align(*memory, GP_PLACE_ALIGN);

	*memory = place + bytes;
	return place;
}

static bool
has_state(const struct gp_compile *c)
{
	return c->header.state_bytes && !c->session_run;
}

static int
relocate_kernarg(struct gp_compile *c)
{
	for (uint32_t i = 0; i < c->kernarg_refs.n; i++) {
		const struct gp_kernarg_ref *in = gp_array_at(&c->kernarg_refs, i);
		struct gp_ref ref;
		struct plan_image_relocation out = {
			.where = PLAN_IN_KERNARG, .kind = PLAN_RELOC_ADDR64, .place = in->place
		};

		if (in->allocation == GP_KERNARG_SELF)
			ref = kernarg_ref(c, 0);
		else if (in->allocation & GP_KERNARG_CODE)
			ref = (struct gp_ref){ PLAN_MEMORY_CODE, in->allocation & ~GP_KERNARG_CODE, 0 };
		else
			ref = gp_plan_place(c, in->allocation);
		out.memory = ref.memory;
		out.index = ref.index;
		out.addend = ref.addend + in->offset;
		if (gp_array_push(&c->relocations, &out))
			return gp_error(c->error, -ENOMEM, "out of memory");
	}
	return 0;
}

int
gp_plan_streams(struct gp_compile *c)
{
	struct plan_image_header *h = &c->header;
	int r;

	h->word_offset = take(&h->host_bytes, sizeof(uint64_t));
	if ((r = emit_twice(c, PLAN_IN_STREAM, emit_run, &c->stream)))
		return r;
	if (has_state(c) && (r = emit_twice(c, PLAN_IN_RESET, emit_reset, &c->reset)))
		return r;
	h->stream_offset = take(&h->host_bytes, c->stream.n * sizeof(uint32_t));
	h->reset_offset = take(&h->host_bytes, c->reset.n * sizeof(uint32_t));
	return relocate_kernarg(c);
}
