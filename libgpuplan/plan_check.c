/* SPDX-License-Identifier: MIT */
/* plan_check.c: commands, inputs and outputs held against the declarations, and turned into records.
 *
 * Every refusal of gpuplan_plan_create that concerns what the plan does is made here or in kernarg.c, before any
 * memory of the device is touched.
 */
#include <inttypes.h>
#include <stdio.h>

#include "amdgpu_code_object.h"
#include "compile.h"
#include "error.h"
#include "pm4.h"
#include "region.h"

void
gp_command_text(const struct gpuplan_command *command, uint32_t i, char text[96])
{
	if (command->label)
		snprintf(text, 96, "command %" PRIu32 " \"%.60s\"", i, command->label);
	else
		snprintf(text, 96, "command %" PRIu32, i);
}

static int
add_access(struct gp_compile *c, uint32_t allocation, uint32_t access, uint64_t offset, uint64_t bytes)
{
	struct plan_image_access a = {
		.allocation = allocation, .access = access, .offset = offset, .bytes = bytes
	};

	if (gp_array_push(&c->accesses, &a))
		return gp_error(c->error, -ENOMEM, "out of memory");
	return 0;
}

/* A region that commands read or write; weights are read-only except in a session's own runs. */
static int
check_region(struct gp_compile *c, const struct gpuplan_region *region, uint32_t access, const char *what)
{
	const struct gp_allocation *a;
	int r = gp_region_check(c->d, region, what, c->error);

	if (r)
		return r;
	a = &c->d->allocations[region->allocation];
	if ((access & GPUPLAN_WRITE) && a->use == GPUPLAN_WEIGHT && !c->session_run)
		return gp_error(c->error, -EPERM, "%s writes weight \"%s\", which is immutable after freeze", what,
				a->name);
	return 0;
}

static int
check_dwords(struct gp_compile *c, const struct gpuplan_region *region, const char *what)
{
	if (region->offset % 4 || region->bytes % 4)
		return gp_error(c->error, -EINVAL,
				"%s: offset %" PRIu64 " and %" PRIu64 " bytes must both be multiples of 4", what,
				region->offset, region->bytes);
	return 0;
}

static struct plan_image_command *
add_command(struct gp_compile *c, uint32_t kind, const char *label)
{
	struct plan_image_command *command = gp_array_grow(&c->commands, 1);
	uint32_t string = 0;

	if (!command || (label && gp_compile_string(c, label, &string))) {
		gp_error(c->error, -ENOMEM, "out of memory");
		return NULL;
	}
	command->kind = kind;
	command->label = string;
	command->first_access = c->accesses.n;
	return command;
}

/* The value of a fill, constant or from a parameter. */
static int
check_fill_value(struct gp_compile *c, const struct gpuplan_command *in, const char *what,
		 struct plan_image_command *out)
{
	const struct plan_image_parameter *p;
	uint32_t number = in->u.fill.value_param - 1;
	char place[128];
	int r;

	out->value = in->u.fill.value;
	out->value_param = in->u.fill.value_param;
	if (!in->u.fill.value_param)
		return 0;
	snprintf(place, sizeof(place), "%s: fill value", what);
	if ((r = gp_param_find(c, number, place, &p)))
		return r;
	if (in->u.fill.value)
		return gp_error(c->error, -EINVAL, "%s: the fill value is both %" PRIu32 " and parameter \"%.64s\"", what,
				in->u.fill.value, gp_param_name(c, number));
	if (p->bytes != sizeof(out->value))
		return gp_error(c->error, -EINVAL, "%s: parameter \"%.64s\" has %" PRIu32 " bytes, a fill value has 4", what,
				gp_param_name(c, number), p->bytes);
	out->value = (uint32_t)p->initial;
	return 0;
}

static int
check_fill(struct gp_compile *c, const struct gpuplan_command *in, const char *what)
{
	struct plan_image_command *out, value = { 0 };
	char place[128];
	int r;

	snprintf(place, sizeof(place), "%s: fill destination", what);
	if ((r = check_region(c, &in->u.fill.dst, GPUPLAN_WRITE, place)) ||
	    (r = check_dwords(c, &in->u.fill.dst, place)) || (r = check_fill_value(c, in, what, &value)))
		return r;
	out = add_command(c, PLAN_COMMAND_FILL, in->label);
	if (!out)
		return -ENOMEM;
	out->value = value.value;
	out->value_param = value.value_param;
	out->n_accesses = 1;
	return add_access(c, in->u.fill.dst.allocation, GPUPLAN_WRITE, in->u.fill.dst.offset, in->u.fill.dst.bytes);
}

static int
check_copy(struct gp_compile *c, const struct gpuplan_command *in, const char *what)
{
	const struct gpuplan_region *dst = &in->u.copy.dst, *src = &in->u.copy.src;
	struct plan_image_command *out;
	char place[128];
	int r;

	snprintf(place, sizeof(place), "%s: copy destination", what);
	if ((r = check_region(c, dst, GPUPLAN_WRITE, place)) || (r = check_dwords(c, dst, place)))
		return r;
	snprintf(place, sizeof(place), "%s: copy source", what);
	if ((r = check_region(c, src, GPUPLAN_READ, place)) || (r = check_dwords(c, src, place)))
		return r;
	if (dst->bytes != src->bytes)
		return gp_error(c->error, -EINVAL,
				"%s: copy destination has %" PRIu64 " bytes, its source %" PRIu64, what, dst->bytes,
				src->bytes);
	if (dst->allocation == src->allocation && dst->offset < src->offset + src->bytes &&
	    src->offset < dst->offset + dst->bytes)
		return gp_error(c->error, -EINVAL,
				"%s: copy source at %" PRIu64 " and destination at %" PRIu64
				" overlap within %" PRIu64 " bytes",
				what, src->offset, dst->offset, dst->bytes);
	out = add_command(c, PLAN_COMMAND_COPY, in->label);
	if (!out)
		return -ENOMEM;
	out->n_accesses = 2;
	if ((r = add_access(c, dst->allocation, GPUPLAN_WRITE, dst->offset, dst->bytes)))
		return r;
	return add_access(c, src->allocation, GPUPLAN_READ, src->offset, src->bytes);
}

/* One axis of a grid, constant or from a parameter: then the parameter's bounds count. */
static int
check_axis(struct gp_compile *c, const struct gpuplan_dispatch *d, uint32_t i, const char *what,
	   struct plan_image_command *out)
{
	const struct gp_target *t = c->d->target;
	const struct plan_image_parameter *p = NULL;
	const char *name = "";
	uint64_t most = d->groups[i];
	char place[128];
	int r;

	out->groups[i] = d->groups[i];
	out->groups_param[i] = d->groups_param[i];
	out->block[i] = d->block[i];
	if (d->groups_param[i]) {
		snprintf(place, sizeof(place), "%s: grid in %c", what, "xyz"[i]);
		if ((r = gp_param_find(c, d->groups_param[i] - 1, place, &p)))
			return r;
		name = gp_param_name(c, d->groups_param[i] - 1);
		if (d->groups[i])
			return gp_error(c->error, -EINVAL,
					"%s: grid in %c is both %" PRIu32 " workgroups and parameter \"%.64s\"", what,
					"xyz"[i], d->groups[i], name);
		out->groups[i] = (uint32_t)p->initial;
		most = p->max;
	}
	if ((!p && !d->groups[i]) || !d->block[i])
		return gp_error(c->error, -EINVAL,
				"%s: grid is zero in %c: %" PRIu32 " workgroups of %" PRIu32 " work-items", what,
				"xyz"[i], d->groups[i], d->block[i]);
	/* most is no more than 2^31 where it is multiplied */
	if (most > t->max_groups[i] || most * d->block[i] > UINT32_MAX)
		return gp_error(c->error, -E2BIG,
				"%s: %s%.64s%s%" PRIu64 " workgroups of %" PRIu32 " in %c, %s takes %" PRIu32
				" and 2^32 - 1 work-items",
				what, p ? "parameter \"" : "", name, p ? "\" allows " : "", most, d->block[i], "xyz"[i],
				t->name, t->max_groups[i]);
	return 0;
}

/* What the kernel wants to know of its grid and an indirect one cannot tell it; NULL: nothing. */
static const char *
wants_counts(const struct gp_kernel_info *k)
{
	if (k->properties & AMDGPU_KCP_DISPATCH_PTR)
		return "dispatch packet";
	if (k->hidden_block)
		return "hidden block counts";
	for (uint32_t i = k->n_explicit; i < k->n_args; i++)
		if (!strncmp(k->args[i].hidden, "block_count_", 12) || !strcmp(k->args[i].hidden, "grid_dims"))
			return "hidden block counts";
	return NULL;
}

static int
check_indirect(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k, const char *what)
{
	const struct gpuplan_region *from = d->groups_from;
	char place[128];
	int r;

	snprintf(place, sizeof(place), "%s: indirect grid", what);
	if ((r = check_region(c, from, GPUPLAN_READ, place)))
		return r;
	if (from->bytes != 12 || from->offset % 4)
		return gp_error(c->error, -EINVAL,
				"%s: offset %" PRIu64 " and %" PRIu64 " bytes must be a multiple of 4 and 12, three counts",
				place, from->offset, from->bytes);
	for (uint32_t i = 0; i < 3; i++)
		if (d->groups_param[i])
			return gp_error(c->error, -EINVAL, "%s in \"%s\" and parameter \"%.64s\" in %c are both given", place,
					c->d->allocations[from->allocation].name, gp_param_name(c, d->groups_param[i] - 1),
					"xyz"[i]);
	if (wants_counts(k))
		return gp_error(c->error, -ENOTSUP,
				"%s: kernel \"%s\" reads its %s, which an indirect grid does not fill in", place, k->name,
				wants_counts(k));
	return 0;
}

static int
check_grid(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k, const char *what,
	   struct plan_image_command *out)
{
	const struct gp_target *t = c->d->target;
	uint64_t items = 1;
	int r;

	for (uint32_t i = 0; i < 3; i++) {
		if ((r = check_axis(c, d, i, what, out)))
			return r;
		items *= d->block[i];
	}
	if (items > k->max_block || items > t->max_block)
		return gp_error(c->error, -E2BIG,
				"%s: workgroup of %" PRIu64 " work-items, kernel \"%s\" takes %" PRIu32
				" (register budget) and %s %" PRIu32,
				what, items, k->name, k->max_block, t->name, t->max_block);
	if (k->reqd_block[0] && (d->block[0] != k->reqd_block[0] || d->block[1] != k->reqd_block[1] ||
				 d->block[2] != k->reqd_block[2]))
		return gp_error(c->error, -EINVAL,
				"%s: workgroup is %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", kernel \"%s\" requires %" PRIu32
				"x%" PRIu32 "x%" PRIu32,
				what, d->block[0], d->block[1], d->block[2], k->name, k->reqd_block[0],
				k->reqd_block[1], k->reqd_block[2]);
	return d->groups_from ? check_indirect(c, d, k, what) : 0;
}

/* The image's number of a declared kernel; adds it on first use. */
static int
use_kernel(struct gp_compile *c, uint32_t declared, uint32_t *number)
{
	const struct gp_kernel_ref *ref = &c->d->kernels[declared];
	const struct gp_kernel_info *k = &c->d->codes[ref->code].object->kernels[ref->kernel];
	struct plan_image_kernel *out;

	for (uint32_t i = 0; i < c->kernel_refs.n; i++)
		if (*(uint32_t *)gp_array_at(&c->kernel_refs, i) == declared) {
			*number = i;
			return 0;
		}
	out = gp_array_grow(&c->kernels, 1);
	if (!out || gp_array_push(&c->kernel_refs, &declared))
		return -ENOMEM;
	*out = (struct plan_image_kernel){
		.code = ref->code,
		.entry = k->entry,
		.rsrc1 = k->rsrc1,
		.rsrc2 = k->rsrc2,
		.rsrc3 = k->rsrc3,
		.properties = k->properties,
		.kernarg_bytes = k->kernarg_bytes,
		.explicit_bytes = k->explicit_bytes,
		.lds_bytes = k->lds_bytes,
		.private_bytes = k->private_bytes,
		.wave_size = k->wave_size,
		.max_block = k->max_block,
		.first_arg = c->args.n,
		.n_args = k->n_args,
	};
	*number = c->kernels.n - 1;
	if (gp_compile_string(c, k->name, &out->name))
		return -ENOMEM;
	for (uint32_t i = 0; i < k->n_args; i++) {
		struct plan_image_arg arg = {
			.kind = k->args[i].kind, .offset = k->args[i].offset, .bytes = k->args[i].bytes
		};
		const char *name = k->args[i].kind == GP_ARG_HIDDEN ? k->args[i].hidden : k->args[i].name;

		if (gp_compile_string(c, name, &arg.name) || gp_array_push(&c->args, &arg))
			return -ENOMEM;
	}
	return 0;
}

static int
check_kernel(struct gp_compile *c, struct gpuplan_kernel kernel, const char *what)
{
	if (kernel.session != c->d->session)
		return gp_error(c->error, -EINVAL, "%s: kernel belongs to session %" PRIu64 ", this is session %" PRIu64,
				what, kernel.session, c->d->session);
	if (kernel.index >= c->d->n_kernels)
		return gp_error(c->error, -ENOENT, "%s: unknown kernel %" PRIu32 ", the session looked up %" PRIu32, what,
				kernel.index, c->d->n_kernels);
	return 0;
}

static int
check_bindings(struct gp_compile *c, const struct gpuplan_dispatch *d, const char *what)
{
	char place[128];
	int r;

	if (d->n_bindings && !d->bindings)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " bindings but no array of them", what,
				d->n_bindings);
	for (uint32_t i = 0; i < d->n_bindings; i++) {
		const struct gpuplan_binding *b = &d->bindings[i];

		snprintf(place, sizeof(place), "%s: binding %" PRIu32, what, i);
		if (b->access < GPUPLAN_READ || b->access > GPUPLAN_READ_WRITE)
			return gp_error(c->error, -EINVAL, "%s declares access %d, which is none of read (1), write (2), both (3)",
					place, (int)b->access);
		r = check_region(c, &b->region, b->access, place);
		if (r)
			return r;
	}
	return 0;
}

static int
check_dispatch(struct gp_compile *c, const struct gpuplan_command *in, const char *what)
{
	const struct gpuplan_dispatch *d = &in->u.dispatch;
	const struct gp_kernel_info *k;
	struct plan_image_command *out, block = { 0 };
	uint32_t number;
	uint64_t lds;
	int r;

	if ((r = check_kernel(c, d->kernel, what)))
		return r;
	k = &c->d->codes[c->d->kernels[d->kernel.index].code].object->kernels[c->d->kernels[d->kernel.index].kernel];
	if ((r = check_grid(c, d, k, what, &block)) || (r = check_bindings(c, d, what)))
		return r;
	r = c->options->arguments ?
		    gp_kernarg_take(c, k, what, c->options->records[in - c->params->commands], &block) :
		    gp_kernarg_build(c, d, k, what, &block);
	if (r)
		return r;
	lds = block.lds_bytes;
	if (lds > c->d->target->max_lds)
		return gp_error(c->error, -E2BIG, "%s: %" PRIu64 " bytes of LDS, %s has %" PRIu32 " per workgroup", what,
				lds, c->d->target->name, c->d->target->max_lds);
	if (use_kernel(c, d->kernel.index, &number))
		return gp_error(c->error, -ENOMEM, "out of memory");
	out = add_command(c, PLAN_COMMAND_DISPATCH, in->label);
	if (!out)
		return -ENOMEM;
	out->kernel = number;
	memcpy(out->groups, block.groups, sizeof(out->groups));
	memcpy(out->groups_param, block.groups_param, sizeof(out->groups_param));
	memcpy(out->block, block.block, sizeof(out->block));
	out->lds_bytes = block.lds_bytes;
	out->kernarg = block.kernarg;
	out->kernarg_bytes = block.kernarg_bytes;
	out->n_accesses = d->n_bindings + (d->groups_from != NULL);
	out->grid_access = d->groups_from ? out->n_accesses : 0;
	for (uint32_t i = 0; i < d->n_bindings; i++) {
		const struct gpuplan_binding *b = &d->bindings[i];

		if ((r = add_access(c, b->region.allocation, b->access, b->region.offset, b->region.bytes)))
			return r;
	}
	if (!d->groups_from)
		return 0;
	return add_access(c, d->groups_from->allocation, GPUPLAN_READ | PLAN_ACCESS_CP, d->groups_from->offset,
			  d->groups_from->bytes);
}

static int
check_command(struct gp_compile *c, uint32_t i)
{
	const struct gpuplan_command *in = &c->params->commands[i];
	char what[96];

	gp_command_text(in, i, what);
	switch (in->kind) {
	case GPUPLAN_FILL:
		return check_fill(c, in, what);
	case GPUPLAN_COPY:
		return check_copy(c, in, what);
	case GPUPLAN_DISPATCH:
		return check_dispatch(c, in, what);
	}
	return gp_error(c->error, -EINVAL, "%s has kind %d, which is none of fill (1), copy (2), dispatch (3)", what,
			(int)in->kind);
}

/* Bytes that element type and shape select. */
static int
io_bytes(struct gp_compile *c, const struct gpuplan_io *io, const char *what, uint64_t *bytes)
{
	uint64_t n = gpuplan_dtype_bytes(io->dtype);

	if (!n)
		return gp_error(c->error, -EINVAL, "%s: unknown element type %d", what, (int)io->dtype);
	if (io->rank > GPUPLAN_MAX_RANK)
		return gp_error(c->error, -EINVAL, "%s: rank %" PRIu32 ", at most %d", what, io->rank,
				GPUPLAN_MAX_RANK);
	for (uint32_t i = 0; i < io->rank; i++)
		if (__builtin_mul_overflow(n, io->shape[i], &n))
			return gp_error(c->error, -EINVAL, "%s: shape is larger than 2^64 bytes at dimension %" PRIu32,
					what, i);
	if (!n)
		return gp_error(c->error, -EINVAL, "%s is empty: a dimension of its shape is 0", what);
	if (n > io->region.bytes)
		return gp_error(c->error, -EINVAL, "%s needs %" PRIu64 " bytes, its region has %" PRIu64, what, n,
				io->region.bytes);
	*bytes = n;
	return 0;
}

static int
check_io(struct gp_compile *c, const struct gpuplan_io *io, uint32_t i, bool output)
{
	const struct gp_allocation *a;
	struct plan_image_io *out;
	char what[96];
	uint64_t bytes = 0;
	int r;

	snprintf(what, sizeof(what), "%s %" PRIu32 "%s%.40s%s", output ? "output" : "input", i, io->name ? " \"" : "",
		 io->name ? io->name : "", io->name ? "\"" : "");
	if ((r = gp_region_check(c->d, &io->region, what, c->error)))
		return r;
	a = &c->d->allocations[io->region.allocation];
	if (a->use == GPUPLAN_WEIGHT)
		return gp_error(c->error, -EINVAL,
				"%s aliases weight \"%s\"; inputs and outputs must be scratch or state", what, a->name);
	if ((r = io_bytes(c, io, what, &bytes)))
		return r;
	out = gp_array_grow(&c->io, 1);
	if (!out || gp_compile_string(c, io->name ? io->name : "", &out->name))
		return gp_error(c->error, -ENOMEM, "out of memory");
	out->output = output;
	out->allocation = io->region.allocation;
	out->dtype = io->dtype;
	out->rank = io->rank;
	memcpy(out->shape, io->shape, io->rank * sizeof(io->shape[0]));
	out->offset = io->region.offset;
	out->bytes = bytes;
	out->staged = a->placement == GPUPLAN_DEVICE;
	return 0;
}

/* The copy between a staging buffer and a device-local region. */
static int
add_stage(struct gp_compile *c, uint32_t io_index)
{
	struct plan_image_io io = *(struct plan_image_io *)gp_array_at(&c->io, io_index);
	struct plan_image_command *command;
	int r;

	if (!io.staged)
		return 0;
	command = add_command(c, io.output ? PLAN_COMMAND_STAGE_OUT : PLAN_COMMAND_STAGE_IN, NULL);
	if (!command)
		return -ENOMEM;
	command->label = io.name;
	command->source = PLAN_NO_SOURCE;
	command->n_accesses = 2;
	/* destination first, as in a copy */
	if (io.output) {
		if ((r = add_access(c, PLAN_STAGING | io_index, GPUPLAN_WRITE, 0, io.bytes)))
			return r;
		return add_access(c, io.allocation, GPUPLAN_READ, io.offset, io.bytes);
	}
	if ((r = add_access(c, io.allocation, GPUPLAN_WRITE, io.offset, io.bytes)))
		return r;
	return add_access(c, PLAN_STAGING | io_index, GPUPLAN_READ, 0, io.bytes);
}

static int
check_params(struct gp_compile *c)
{
	const struct gpuplan_plan_params *p = c->params;

	const uint32_t known = GPUPLAN_PLAN_REUSE_SCRATCH | GPUPLAN_PLAN_REORDER;

	if (p->flags & ~known)
		return gp_error(c->error, -EINVAL, "plan flags 0x%" PRIx32 " are not known, 0x%" PRIx32 " are",
				p->flags & ~known, known);
	if (p->ib_dwords && (p->ib_dwords < GP_IB_MIN_DWORDS || p->ib_dwords > PM4_IB_MAX_DWORDS))
		return gp_error(c->error, -EINVAL, "IBs of %" PRIu32 " dwords, %u to %u are possible", p->ib_dwords,
				GP_IB_MIN_DWORDS, PM4_IB_MAX_DWORDS);
	if (!p->capacity)
		return gp_error(c->error, -EINVAL, "plan capacity is 0 slots, at least 1 is needed");
	if ((p->n_commands && !p->commands) || (p->n_inputs && !p->inputs) || (p->n_outputs && !p->outputs))
		return gp_error(c->error, -EINVAL,
				"plan has %" PRIu32 " commands, %" PRIu32 " inputs, %" PRIu32
				" outputs but an array of them is missing",
				p->n_commands, p->n_inputs, p->n_outputs);
	return 0;
}

int
gp_plan_check(struct gp_compile *c)
{
	const struct gpuplan_plan_params *p = c->params;
	int r = check_params(c);

	for (uint32_t i = 0; !r && i < p->n_inputs; i++)
		r = check_io(c, &p->inputs[i], i, false);
	for (uint32_t i = 0; !r && i < p->n_outputs; i++)
		r = check_io(c, &p->outputs[i], i, true);
	for (uint32_t i = 0; !r && i < p->n_inputs; i++)
		r = add_stage(c, i);
	for (uint32_t i = 0; !r && i < p->n_commands; i++)
		if (!(r = check_command(c, i)))
			((struct plan_image_command *)gp_array_at(&c->commands, c->commands.n - 1))->source = i;
	for (uint32_t i = 0; !r && i < p->n_outputs; i++)
		r = add_stage(c, p->n_inputs + i);
	return r;
}
