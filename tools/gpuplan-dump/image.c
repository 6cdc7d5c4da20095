/* SPDX-License-Identifier: MIT */
/* image.c: everything of an image but its streams as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/tool.h"
#include "dump.h"
#include "gpuplan.h"

static const char *const memory_text[] = { "not referenced", "weights", "slot device", "slot host", "session", "code" };
static const char *const arg_text[] = { "?", "value", "buffer", "LDS", "hidden" };

#define TEXT(table, i) ((i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "?")

static uint64_t
pages(uint64_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

static void
print_ledger(const struct view *v, unsigned slots)
{
	const struct plan_image_header *h = v->h;
	uint64_t weights = 0, slot = pages(h->device_bytes) + pages(h->host_bytes);

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ALLOCATIONS); i++)
		if (v->allocations[i].use == GPUPLAN_WEIGHT)
			weights += pages(v->allocations[i].bytes);
	printf("memory\n");
	printf("  weights (shared by all plans)        %12" PRIu64 "\n", weights);
	printf("  slot: device-local, page-rounded     %12" PRIu64 "\n", pages(h->device_bytes));
	printf("  slot: mapped, page-rounded           %12" PRIu64 "\n", pages(h->host_bytes));
	printf("  %3u slot%s                            %12" PRIu64 "\n", slots, slots == 1 ? " " : "s", slot * slots);
	if (h->scratch_planned_bytes != h->scratch_bytes)
		printf("  scratch of one slot: %" PRIu64 " without sharing, %" PRIu64 " with\n", h->scratch_bytes,
		       h->scratch_planned_bytes);
	printf("  of one slot: scratch %" PRIu64 ", state %" PRIu64 ", staging %" PRIu64 ", private segment %" PRIu64
	       ", arguments %" PRIu32 ", streams %" PRIu32 " bytes\n",
	       h->scratch_planned_bytes, h->state_bytes, h->staging_bytes, h->private_bytes,
	       view_count(v, PLAN_SECTION_KERNARG),
	       4 * (view_count(v, PLAN_SECTION_STREAM) + view_count(v, PLAN_SECTION_RESET)));
}

/* When an allocation's bytes are its own. */
static void
print_life(const struct plan_image_allocation *a)
{
	if (!a->pooled)
		return;
	printf(", shared: from command %" PRIu32, a->first_command);
	if (a->free_command != UINT32_MAX)
		printf(" to before %" PRIu32, a->free_command);
}

static void
print_allocations(const struct view *v)
{
	printf("\nallocations                        use      declared   referenced  place\n");
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_ALLOCATIONS); i++) {
		const struct plan_image_allocation *a = &v->allocations[i];

		printf("  %-32s %-8s %10" PRIu64 " %12" PRIu64 "  %s", v->strings + a->name, view_use(a->use),
		       a->bytes, a->extent, TEXT(memory_text, a->memory));
		if (a->memory == PLAN_MEMORY_DEVICE || a->memory == PLAN_MEMORY_HOST)
			printf(" + 0x%" PRIx64, a->place);
		print_life(a);
		putchar('\n');
	}
}

static void
print_io(const struct view *v)
{
	char region[256];

	printf("\ninputs and outputs\n");
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_IO); i++) {
		const struct plan_image_io *io = &v->io[i];

		view_region(v, io->allocation, io->offset, io->bytes, region, sizeof(region));
		printf("  %s %-20s type %" PRIu32 " [", io->output ? "out" : "in ", v->strings + io->name, io->dtype);
		for (uint32_t d = 0; d < io->rank; d++)
			printf("%s%" PRIu64, d ? ", " : "", io->shape[d]);
		printf("]  %s, %s at slot host + 0x%" PRIx64 "\n", region, io->staged ? "staged" : "in place", io->place);
	}
}

static void
print_kernels(const struct view *v)
{
	printf("\nkernels\n");
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_KERNELS); i++) {
		const struct plan_image_kernel *k = &v->kernels[i];

		printf("  %s: code %" PRIu32 " + 0x%" PRIx64 ", wave%" PRIu32 ", workgroup up to %" PRIu32 ", LDS %" PRIu32
		       ", private %" PRIu32 ", rsrc %08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n",
		       v->strings + k->name, k->code, k->entry, k->wave_size, k->max_block, k->lds_bytes,
		       k->private_bytes, k->rsrc1, k->rsrc2, k->rsrc3);
		for (uint32_t a = 0; a < k->n_args; a++) {
			const struct plan_image_arg *arg = &v->args[k->first_arg + a];

			printf("    %3" PRIu32 " + %-3" PRIu32 " %-7s %s\n", arg->offset, arg->bytes,
			       TEXT(arg_text, arg->kind), v->strings + arg->name);
		}
	}
}

/* "7x(n)x1", or where the counts are: "in counts[0..12), up to 7x1x1" */
static void
print_grid(const struct view *v, const struct plan_image_command *c)
{
	char region[256];

	printf(" grid ");
	if (c->grid_access) {
		const struct plan_image_access *x = &v->accesses[c->first_access + c->grid_access - 1];

		view_region(v, x->allocation, x->offset, x->bytes, region, sizeof(region));
		printf("in %s, up to ", region);
	}
	for (uint32_t i = 0; i < 3; i++)
		if (c->groups_param[i])
			printf("%s(%s)", i ? "x" : "", view_parameter(v, c->groups_param[i] - 1));
		else
			printf("%s%" PRIu32, i ? "x" : "", c->groups[i]);
}

/* The caller's order is not the image's. */
static bool
is_reordered(const struct view *v)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_COMMANDS); i++) {
		if (v->commands[i].source == PLAN_NO_SOURCE)
			continue;
		if (v->commands[i].source != next++)
			return true;
	}
	return false;
}

static void
print_command(const struct view *v, uint32_t i, bool reordered)
{
	const struct plan_image_command *c = &v->commands[i];
	char region[256];

	printf("  %3" PRIu32 " %-9s %-20s", i, view_command(c->kind), v->strings + c->label);
	if (c->kind == PLAN_COMMAND_DISPATCH) {
		printf(" %s", v->strings + v->kernels[c->kernel].name);
		print_grid(v, c);
		printf(" of %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", LDS %" PRIu32, c->block[0], c->block[1], c->block[2],
		       c->lds_bytes);
	}
	if (c->kind == PLAN_COMMAND_FILL && c->value_param)
		printf(" value (%s)", view_parameter(v, c->value_param - 1));
	else if (c->kind == PLAN_COMMAND_FILL)
		printf(" value %08" PRIx32, c->value);
	printf(", %" PRIu32 " dwords", c->stream_dwords);
	if (reordered && c->source != PLAN_NO_SOURCE)
		printf(", was command %" PRIu32, c->source);
	putchar('\n');
	for (uint32_t a = 0; a < c->n_accesses; a++) {
		const struct plan_image_access *x = &v->accesses[c->first_access + a];

		view_region(v, x->allocation, x->offset, x->bytes, region, sizeof(region));
		printf("        %-7s %s%s\n", view_access(x->access), region,
		       x->access & PLAN_ACCESS_CP ? " (command processor, for the grid)" : "");
	}
}

/* Commands by where their part of the stream or of the arguments starts. */
struct owner {
	uint32_t first, n, command;
};

struct owners {
	struct owner *by_place;
	uint32_t n;
};

static int
compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static void
find_owners(const struct view *v, uint32_t where, struct owners *o)
{
	uint32_t n = view_count(v, PLAN_SECTION_COMMANDS);

	o->n = 0;
	o->by_place = malloc(((size_t)n + 1) * sizeof(*o->by_place));
	if (!o->by_place)
		tool_die("no memory to look through %" PRIu32 " commands", n);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_image_command *c = &v->commands[i];
		bool stream = where == PLAN_IN_STREAM;
		uint32_t first = stream ? c->stream : c->kernarg, size = stream ? c->stream_dwords : c->kernarg_bytes;

		if (size)
			o->by_place[o->n++] = (struct owner){ first, size, i };
	}
	qsort(o->by_place, o->n, sizeof(*o->by_place), compare_owners);
}

/* The command that a place belongs to, or that there is none. */
static void
print_owner(const struct view *v, const struct owners *o, uint32_t place)
{
	uint32_t low = 0, high = o->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->by_place[middle].first <= place)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && place - o->by_place[low - 1].first < o->by_place[low - 1].n)
		printf(" of command %" PRIu32 " %s", o->by_place[low - 1].command,
		       v->strings + v->commands[o->by_place[low - 1].command].label);
}

static void
print_parameters(const struct view *v)
{
	struct owners stream, arguments;

	find_owners(v, PLAN_IN_STREAM, &stream);
	find_owners(v, PLAN_IN_KERNARG, &arguments);
	printf("\nparameters: %" PRIu32 "\n", view_count(v, PLAN_SECTION_PARAMETERS));
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_PARAMETERS); i++) {
		const struct plan_image_parameter *p = &v->parameters[i];

		printf("  %3" PRIu32 " %-20s %" PRIu32 " bytes, %" PRIu64 " to %" PRIu64 ", at first %" PRIu64 ", %" PRIu32
		       " places\n",
		       i, view_parameter(v, i), p->bytes, p->min, p->max, p->initial, p->n_patches);
		for (uint32_t k = 0; k < p->n_patches; k++) {
			const struct plan_image_patch *x = &v->patches[p->first_patch + k];

			printf("        %s %s %" PRIu32 ", %" PRIu32 " bytes", x->where == PLAN_IN_STREAM ? "stream" : "arguments",
			       x->where == PLAN_IN_STREAM ? "dword" : "byte", x->place, x->bytes);
			if (x->multiplier != 1)
				printf(" of the value times %" PRIu32, x->multiplier);
			print_owner(v, x->where == PLAN_IN_STREAM ? &stream : &arguments, x->place);
			putchar('\n');
		}
	}
	free(stream.by_place);
	free(arguments.by_place);
}

static void
barrier_ops(uint32_t ops, char *text, size_t size)
{
	static const struct {
		uint32_t op;
		const char *text;
	} table[] = {
		{ PLAN_BARRIER_WAIT, "wait" },
		{ PLAN_BARRIER_L2_WRITE_BACK, "write L2 back" },
		{ PLAN_BARRIER_INVALIDATE, "invalidate caches" },
		{ PLAN_BARRIER_L2_INVALIDATE, "invalidate L2" },
	};
	int n = 0;

	text[0] = 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (ops & table[i].op)
			n += snprintf(text + n, size - (size_t)n, "%s%s", n ? " + " : "", table[i].text);
}

/* The bytes in conflict; twice when two allocations share them. */
static void
print_conflict(const struct view *v, const struct plan_image_barrier *b)
{
	char region[256];

	view_region(v, b->allocation, b->offset, b->bytes, region, sizeof(region));
	printf("%s", region);
	if (b->producer_allocation == b->allocation)
		return;
	view_region(v, b->producer_allocation, b->producer_offset, b->bytes, region, sizeof(region));
	printf(", the same memory as %s", region);
}

static void
print_barriers(const struct view *v)
{
	char ops[96];

	printf("\nbarriers: %" PRIu32 "\n", view_count(v, PLAN_SECTION_BARRIERS));
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_BARRIERS); i++) {
		const struct plan_image_barrier *b = &v->barriers[i];

		barrier_ops(b->ops, ops, sizeof(ops));
		printf("  %3" PRIu32 " before command %" PRIu32 ": %s, because command %" PRIu32 " %s and command %" PRIu32
		       " %s conflict (%s) in ",
		       i + 1, b->before, ops, b->producer, v->strings + v->commands[b->producer].label, b->consumer,
		       v->strings + v->commands[b->consumer].label, view_hazard(b->hazard));
		print_conflict(v, b);
		printf("; %" PRIu32 " dwords\n", b->stream_dwords);
	}
}

void
dump_image(const struct view *v, unsigned slots)
{
	bool reordered = is_reordered(v);

	printf("plan \"%s\" for %s, %" PRIu32 " bytes, code hash %016" PRIx64 "\n\n", v->strings + v->h->name, v->h->target,
	       v->h->bytes, v->h->code_hash);
	print_ledger(v, slots);
	print_allocations(v);
	print_io(v);
	print_kernels(v);
	printf("\ncommands%s\n", reordered ? ", in an order that needs fewer barriers" : "");
	for (uint32_t i = 0; i < view_count(v, PLAN_SECTION_COMMANDS); i++)
		print_command(v, i, reordered);
	print_parameters(v);
	print_barriers(v);
	printf("\nstream, %" PRIu32 " dwords\n", view_count(v, PLAN_SECTION_STREAM));
	dump_stream(v, v->stream, view_count(v, PLAN_SECTION_STREAM), PLAN_IN_STREAM);
	if (view_count(v, PLAN_SECTION_RESET)) {
		printf("\nreset stream, %" PRIu32 " dwords\n", view_count(v, PLAN_SECTION_RESET));
		dump_stream(v, v->reset, view_count(v, PLAN_SECTION_RESET), PLAN_IN_RESET);
	}
}
