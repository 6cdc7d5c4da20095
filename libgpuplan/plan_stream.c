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

/* ---- segments: what one IB holds ---- */

/* More than a dispatch that changes every register needs with a barrier before it, or a stream's end. */
#define STEP_DWORDS 256u
static_assert(GP_IB_MIN_DWORDS >= 2 * STEP_DWORDS, "an IB has to hold its start and one step");

/* A stream being written: counted first, then emitted with the sizes of its segments known. */
struct writer {
	struct gp_compile *c;
	struct gp_emit e;
	struct gp_emit probe;	/* counts what a copy or fill would take */
	uint64_t base;		/* of the stream in the slot's host memory */
	uint32_t limit;		/* dwords of an IB */
	uint32_t segment;	/* number of the one being written */
	bool counting;
};

static struct plan_image_segment *
segment_at(const struct writer *w)
{
	return gp_array_at(&w->c->segments, w->segment);
}

/* Out of memory shows when the stream is closed. */
static void
open_segment(struct writer *w)
{
	struct plan_image_segment *s;

	if (!w->counting || w->c->segments_failed)
		return;
	s = gp_array_grow(&w->c->segments, 1);
	w->c->segments_failed = !s;
	if (s)
		*s = (struct plan_image_segment){ .where = w->e.where, .first = w->e.n };
}

static void
close_segment(struct writer *w)
{
	struct plan_image_segment *s;

	if (w->c->segments_failed)
		return;
	s = segment_at(w);
	if (w->counting)
		s->dwords = w->e.n - s->first;
	assert(s->dwords == w->e.n - s->first && s->dwords <= w->limit);
}

/* Goes on in a segment of its own. */
static void
chain(struct writer *w)
{
	struct gp_ref next = { PLAN_MEMORY_HOST, 0, 0 };
	uint32_t dwords = 0;

	if (!w->counting) {
		next.addend = w->base + segment_at(w)[1].first * sizeof(uint32_t);
		dwords = segment_at(w)[1].dwords;
	}
	w->c->d->target->emit->chain(&w->e, next, dwords);
	close_segment(w);
	w->segment++;
	open_segment(w);
}

static uint32_t
segment_first(const struct writer *w)
{
	return w->c->segments_failed ? 0 : segment_at(w)->first;
}

static void
make_room(struct writer *w, uint32_t dwords)
{
	if (w->e.n - segment_first(w) + dwords + GP_CHAIN_MAX_DWORDS > w->limit)
		chain(w);
}

/* ---- commands ---- */

/* A copy, or a fill without src. */
struct dma {
	struct gp_ref dst, src;
	bool fill;
	struct gp_emit_word value;
};

static void
emit_dma(const struct gp_emit_ops *ops, struct gp_emit *e, const struct dma *d, uint64_t at, uint64_t bytes)
{
	struct gp_ref dst = d->dst, src = d->src;

	dst.addend += at;
	src.addend += at;
	if (d->fill)
		ops->fill(e, dst, bytes, d->value);
	else
		ops->copy(e, dst, src, bytes);
}

static uint32_t
count_dma(struct writer *w, const struct dma *d, uint64_t bytes)
{
	uint32_t before = w->probe.n;

	emit_dma(w->c->d->target->emit, &w->probe, d, 0, bytes);
	return w->probe.n - before;
}

/* In pieces that an IB holds: the largest copies take a packet for every 32 KiB. */
static void
write_dma(struct writer *w, const struct dma *d, uint64_t bytes)
{
	uint64_t piece = bytes;

	while (count_dma(w, d, piece) > w->limit - STEP_DWORDS)
		piece = gp_align(piece / 2, 4);
	for (uint64_t at = 0; at < bytes; at += piece) {
		uint64_t n = bytes - at < piece ? bytes - at : piece;

		make_room(w, count_dma(w, d, n));
		emit_dma(w->c->d->target->emit, &w->e, d, at, n);
	}
}

static void
write_command(struct writer *w, const struct plan_image_command *command)
{
	const struct gp_compile *c = w->c;
	const struct plan_image_access *dst = gp_array_at(&c->accesses, command->first_access);
	struct dma d = { .fill = command->kind == PLAN_COMMAND_FILL, .value = { command->value, command->value_param } };

	if (command->kind == PLAN_COMMAND_DISPATCH) {
		emit_dispatch(c, &w->e, command);
		return;
	}
	d.dst = access_ref(c, command, 0);
	if (!d.fill)
		d.src = access_ref(c, command, 1);
	write_dma(w, &d, dst->bytes);
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
write_barrier(struct writer *w, uint32_t number)
{
	struct plan_image_barrier *b = gp_array_at(&w->c->barriers, number);

	b->stream = w->e.n;
	if (w->c->params->omit_barrier != number + 1)
		w->c->d->target->emit->barrier(&w->e, b->ops);
	b->stream_dwords = w->e.n - b->stream;
}

static void
write_run(struct writer *w)
{
	struct gp_compile *c = w->c;
	const struct gp_emit_ops *ops = c->d->target->emit;
	struct gp_emit_private scratch = private_ring(c);
	uint32_t next = 0;

	ops->begin(&w->e, &scratch, c->session_run ? GP_BEGIN_AFTER_UPLOAD : GP_BEGIN_RUN);
	for (uint32_t i = 0; i < c->commands.n; i++) {
		struct plan_image_command *command = gp_array_at(&c->commands, i);

		make_room(w, STEP_DWORDS);
		if (next < c->barriers.n && ((struct plan_image_barrier *)gp_array_at(&c->barriers, next))->before == i)
			write_barrier(w, next++);
		command->stream = w->e.n;
		write_command(w, command);
		command->stream_dwords = w->e.n - command->stream;
	}
	make_room(w, STEP_DWORDS);
	ops->signal(&w->e, (struct gp_ref){ PLAN_MEMORY_HOST, 0, c->header.word_offset }, 1);
}

static void
write_reset(struct writer *w)
{
	struct gp_compile *c = w->c;
	struct gp_emit_private none = { .bytes_per_wave = 0 };

	c->d->target->emit->begin(&w->e, &none, GP_BEGIN_RUN);
	for (uint32_t i = 0; i < c->allocations.n; i++) {
		const struct plan_image_allocation *a = gp_array_at(&c->allocations, i);
		struct dma d = { .fill = true };

		if (a->use != GPUPLAN_STATE || !a->extent)
			continue;
		d.dst = gp_plan_place(c, i);
		write_dma(w, &d, gp_align(a->extent, 4));
	}
}

static void
write_stream(struct writer *w, void (*write)(struct writer *))
{
	open_segment(w);
	write(w);
	w->c->d->target->emit->finish(&w->e);
	close_segment(w);
}

static void
writer_init(struct writer *w, struct gp_compile *c, uint32_t where, uint64_t base, bool counting)
{
	memset(w, 0, sizeof(*w));
	w->c = c;
	w->base = base;
	w->limit = c->params->ib_dwords ? c->params->ib_dwords : PM4_IB_MAX_DWORDS;
	w->counting = counting;
	gp_emit_init(&w->e, c->d->target, where);
	gp_emit_init(&w->probe, c->d->target, where);
}

/* Counts, allocates exactly that, emits, and holds the two against each other. */
static int
write_twice(struct gp_compile *c, uint32_t where, uint64_t base, void (*write)(struct writer *),
	    struct gp_array *stream)
{
	struct writer count, w;
	struct plan_image_relocation *relocations = NULL;
	struct plan_image_patch *patches = NULL;
	uint32_t first = c->relocations.n, first_patch = c->patches.n, segment = c->segments.n;

	writer_init(&count, c, where, base, true);
	count.segment = segment;
	write_stream(&count, write);
	writer_init(&w, c, where, base, false);
	w.segment = segment;
	w.e.dw = gp_array_grow(stream, count.e.n);
	if (count.e.n_relocations)
		relocations = gp_array_grow(&c->relocations, count.e.n_relocations);
	if (count.e.n_patches)
		patches = gp_array_grow(&c->patches, count.e.n_patches);
	if (c->segments_failed || !w.e.dw || (count.e.n_relocations && !relocations) || (count.e.n_patches && !patches))
		return gp_error(c->error, -ENOMEM, "out of memory");
	w.e.relocations = relocations;
	w.e.patches = patches;
	write_stream(&w, write);
	assert(w.e.n == count.e.n && first + w.e.n_relocations == c->relocations.n &&
	       first_patch + w.e.n_patches == c->patches.n);
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
	if (c->options->arguments)
		return gp_kernarg_take_relocations(c);
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
	h->stream_offset = take(&h->host_bytes, 0);
	if ((r = write_twice(c, PLAN_IN_STREAM, h->stream_offset, write_run, &c->stream)))
		return r;
	h->host_bytes += c->stream.n * sizeof(uint32_t);
	h->reset_offset = take(&h->host_bytes, 0);
	if (has_state(c) && (r = write_twice(c, PLAN_IN_RESET, h->reset_offset, write_reset, &c->reset)))
		return r;
	h->host_bytes += c->reset.n * sizeof(uint32_t);
	return relocate_kernarg(c);
}
