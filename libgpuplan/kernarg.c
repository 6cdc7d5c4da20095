/* SPDX-License-Identifier: MIT */
/* kernarg.c: a dispatch's argument block from its bindings and arguments, checked against the kernel's metadata.
 *
 * Layout per dispatch, each 64-byte aligned: kernarg segment, then the AQL packet for kernels that read it.
 * Hidden arguments follow the v5/v6 table of LLVM's AMDGPUUsage; metadata may list too few of them, so a segment that
 * has room for the whole block gets the whole block.
 */
#include <inttypes.h>
#include <stdio.h>

#include "amdgpu_code_object.h"
#include "compile.h"
#include "error.h"

#define SEGMENT_ALIGN 64u
#define AQL_PACKET_BYTES 64u
#define LDS_ALIGN 16u		/* of dynamic LDS without .pointee_align */
#define PRINTF_BUFFER_BYTES 16u	/* offset 0, capacity 0: every printf is a quiet no-op */

static int
out_of_memory(struct gp_compile *c)
{
	return gp_error(c->error, -ENOMEM, "out of memory");
}

static void
put(struct gp_compile *c, uint32_t place, const void *data, uint32_t bytes)
{
	memcpy(gp_array_at(&c->kernarg, place), data, bytes);
}

static int
put_address(struct gp_compile *c, uint32_t place, uint32_t allocation, uint64_t offset)
{
	struct gp_kernarg_ref ref = { place, allocation, offset };

	return gp_array_push(&c->kernarg_refs, &ref) ? out_of_memory(c) : 0;
}

/* The template holds the initial value; a run may write value * multiplier there. */
static int
put_param(struct gp_compile *c, uint32_t place, uint32_t parameter, uint32_t bytes, uint32_t multiplier)
{
	const struct plan_image_parameter *p = gp_array_at(&c->parameters, parameter);
	struct plan_image_patch patch = {
		.parameter = parameter, .where = PLAN_IN_KERNARG, .place = place, .bytes = bytes, .multiplier = multiplier
	};
	uint64_t initial = p->initial * multiplier;

	put(c, place, &initial, bytes);
	return gp_array_push(&c->patches, &patch) ? out_of_memory(c) : 0;
}

static int
reserve(struct gp_compile *c, uint32_t bytes, uint32_t *place)
{
	uint32_t pad = (uint32_t)(gp_align(c->kernarg.n, SEGMENT_ALIGN) - c->kernarg.n);

	if (!gp_array_grow(&c->kernarg, pad + bytes))
		return out_of_memory(c);
	*place = c->kernarg.n - bytes;
	return 0;
}

static uint32_t
count_buffers(const struct gp_kernel_info *k, const struct gpuplan_dispatch *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_explicit; i++)
		n += k->args[i].kind == GP_ARG_GLOBAL_BUFFER && !(i < d->n_args && d->args[i].kind == GPUPLAN_ARG_NULL);
	return n;
}

static int
check_binding_count(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
		    const char *what)
{
	uint32_t buffers = count_buffers(k, d);

	if (k->has_args && d->n_bindings != buffers)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " bindings, kernel \"%s\" takes %" PRIu32 " buffers",
				what, d->n_bindings, k->name, buffers);
	return 0;
}

static int
put_scalar(struct gp_compile *c, uint32_t place, const struct gpuplan_arg *arg, const struct gp_kernel_arg *meta,
	   const char *what, uint32_t i)
{
	if (arg->bytes != meta->bytes)
		return gp_error(c->error, -EINVAL,
				"%s: argument %" PRIu32 " \"%s\" is %" PRIu32 " bytes, the kernel's is %" PRIu32, what,
				i, meta->name, arg->bytes, meta->bytes);
	if (arg->bytes > sizeof(arg->value) && !arg->value.data)
		return gp_error(c->error, -EINVAL, "%s: argument %" PRIu32 " \"%s\" has no data for its %" PRIu32 " bytes",
				what, i, meta->name, arg->bytes);
	put(c, place, arg->bytes > sizeof(arg->value) ? arg->value.data : &arg->value, arg->bytes);
	return 0;
}

static int
put_arg_param(struct gp_compile *c, uint32_t place, const struct gpuplan_arg *arg, const struct gp_kernel_arg *meta,
	      const char *what, uint32_t i)
{
	const struct plan_image_parameter *p;
	char text[128];
	int r;

	snprintf(text, sizeof(text), "%s: argument %" PRIu32, what, i);
	if ((r = gp_param_find(c, arg->binding, text, &p)))
		return r;
	if (arg->bytes)
		return gp_error(c->error, -EINVAL,
				"%s is parameter \"%.64s\" and has %" PRIu32 " bytes of its own, they must be 0", text,
				gp_param_name(c, arg->binding), arg->bytes);
	if (p->bytes != meta->bytes)
		return gp_error(c->error, -EINVAL,
				"%s \"%s\" is parameter \"%.64s\" of %" PRIu32 " bytes, the kernel's is %" PRIu32, text,
				meta->name, gp_param_name(c, arg->binding), p->bytes, meta->bytes);
	return put_param(c, place, arg->binding, p->bytes, 1);
}

static const char *
arg_kind_text(enum gp_arg_kind kind)
{
	switch (kind) {
	case GP_ARG_BY_VALUE:
		return "a value";
	case GP_ARG_GLOBAL_BUFFER:
		return "a buffer";
	case GP_ARG_DYNAMIC_LDS:
		return "dynamic LDS";
	default:
		return "hidden";
	}
}

static int
put_arg(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_arg *meta, uint32_t i,
	uint32_t segment, uint64_t *lds, const char *what)
{
	static const enum gp_arg_kind wanted[] = {
		[GPUPLAN_ARG_BINDING] = GP_ARG_GLOBAL_BUFFER,
		[GPUPLAN_ARG_SCALAR] = GP_ARG_BY_VALUE,
		[GPUPLAN_ARG_LDS] = GP_ARG_DYNAMIC_LDS,
		[GPUPLAN_ARG_NULL] = GP_ARG_GLOBAL_BUFFER,
		[GPUPLAN_ARG_PARAM] = GP_ARG_BY_VALUE,
	};
	const struct gpuplan_arg *arg = &d->args[i];
	uint32_t offset;

	if (arg->kind < GPUPLAN_ARG_BINDING || arg->kind > GPUPLAN_ARG_PARAM)
		return gp_error(c->error, -EINVAL, "%s: argument %" PRIu32 " has unknown kind %d", what, i,
				(int)arg->kind);
	if (wanted[arg->kind] != meta->kind)
		return gp_error(c->error, -EINVAL, "%s: argument %" PRIu32 " is given as %s, the kernel's \"%s\" is %s", what,
				i, arg_kind_text(wanted[arg->kind]), meta->name, arg_kind_text(meta->kind));
	switch (arg->kind) {
	case GPUPLAN_ARG_BINDING:
		if (arg->binding >= d->n_bindings)
			return gp_error(c->error, -EINVAL,
					"%s: argument %" PRIu32 " names binding %" PRIu32 " of %" PRIu32, what, i,
					arg->binding, d->n_bindings);
		return put_address(c, segment + meta->offset, d->bindings[arg->binding].region.allocation,
				   d->bindings[arg->binding].region.offset);
	case GPUPLAN_ARG_SCALAR:
		return put_scalar(c, segment + meta->offset, arg, meta, what, i);
	case GPUPLAN_ARG_PARAM:
		return put_arg_param(c, segment + meta->offset, arg, meta, what, i);
	case GPUPLAN_ARG_NULL:
		return 0; /* the block is zero */
	default:
		*lds = gp_align(*lds, meta->align ? meta->align : LDS_ALIGN);
		offset = (uint32_t)*lds;
		put(c, segment + meta->offset, &offset, sizeof(offset));
		*lds += arg->bytes;
		return 0;
	}
}

static int
check_bindings_used(struct gp_compile *c, const struct gpuplan_dispatch *d, const char *what)
{
	for (uint32_t b = 0; b < d->n_bindings; b++) {
		bool used = false;

		for (uint32_t i = 0; i < d->n_args; i++)
			used |= d->args[i].kind == GPUPLAN_ARG_BINDING && d->args[i].binding == b;
		if (!used)
			return gp_error(c->error, -EINVAL, "%s: no argument of %" PRIu32 " names binding %" PRIu32, what,
					d->n_args, b);
	}
	return 0;
}

static int
put_args(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k, uint32_t segment,
	 uint64_t *lds, const char *what)
{
	int r;

	if (!k->has_args && d->n_args)
		return gp_error(c->error, -EINVAL,
				"%s: kernel \"%s\" lists no arguments in its metadata; pass its %" PRIu32
				" kernarg bytes packed",
				what, k->name, k->kernarg_bytes);
	if (d->n_args != k->n_explicit)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " arguments, kernel \"%s\" takes %" PRIu32, what,
				d->n_args, k->name, k->n_explicit);
	for (uint32_t i = 0; i < d->n_args; i++)
		if ((r = put_arg(c, d, &k->args[i], i, segment, lds, what)))
			return r;
	return check_bindings_used(c, d, what);
}

static bool
is_buffer_offset(const struct gp_kernel_info *k, uint32_t offset)
{
	for (uint32_t i = 0; i < k->n_explicit; i++)
		if (k->args[i].kind == GP_ARG_GLOBAL_BUFFER && k->args[i].offset == offset)
			return true;
	return false;
}

/* One of the kernel's values has those bytes: all of a scalar, or a member of a structure. */
static bool
is_value_place(const struct gp_kernel_info *k, uint32_t offset, uint32_t bytes)
{
	for (uint32_t i = 0; i < k->n_explicit; i++)
		if (k->args[i].kind == GP_ARG_BY_VALUE && k->args[i].offset <= offset &&
		    offset + bytes <= k->args[i].offset + k->args[i].bytes)
			return true;
	return false;
}

static int
check_packed_overlap(struct gp_compile *c, const struct gpuplan_dispatch *d, uint32_t i, uint32_t bytes, const char *what)
{
	uint32_t begin = d->packed_params[i].offset, end = begin + bytes;

	for (uint32_t b = 0; b < d->n_bindings; b++)
		if (d->bindings[b].packed_offset < end && begin < d->bindings[b].packed_offset + 8)
			return gp_error(c->error, -EINVAL,
					"%s: packed parameter %" PRIu32 " at byte %" PRIu32
					" overlaps the address of binding %" PRIu32 " at byte %" PRIu32,
					what, i, begin, b, d->bindings[b].packed_offset);
	for (uint32_t other = 0; other < i; other++) {
		const struct gpuplan_packed_param *o = &d->packed_params[other];
		const struct plan_image_parameter *p = gp_array_at(&c->parameters, o->parameter);

		if (o->offset < end && begin < o->offset + p->bytes)
			return gp_error(c->error, -EINVAL,
					"%s: packed parameters %" PRIu32 " at byte %" PRIu32 " and %" PRIu32
					" at byte %" PRIu32 " overlap",
					what, other, o->offset, i, begin);
	}
	return 0;
}

static int
put_packed_params(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
		  uint32_t segment, const char *what)
{
	const struct plan_image_parameter *p;
	char text[128];
	int r;

	if (d->n_packed_params && !d->packed_params)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " packed parameters but no array of them", what,
				d->n_packed_params);
	for (uint32_t i = 0; i < d->n_packed_params; i++) {
		const struct gpuplan_packed_param *in = &d->packed_params[i];

		snprintf(text, sizeof(text), "%s: packed parameter %" PRIu32, what, i);
		if ((r = gp_param_find(c, in->parameter, text, &p)))
			return r;
		if (p->bytes > d->packed_bytes || in->offset > d->packed_bytes - p->bytes)
			return gp_error(c->error, -EINVAL,
					"%s puts its %" PRIu32 " bytes at packed byte %" PRIu32 " of %" PRIu32, text,
					p->bytes, in->offset, d->packed_bytes);
		if (k->has_args && !is_value_place(k, in->offset, p->bytes))
			return gp_error(c->error, -EINVAL,
					"%s puts its %" PRIu32 " bytes at packed byte %" PRIu32
					", where kernel \"%s\" takes no value that has them",
					text, p->bytes, in->offset, k->name);
		if ((r = check_packed_overlap(c, d, i, p->bytes, what)) ||
		    (r = put_param(c, segment + in->offset, in->parameter, p->bytes, 1)))
			return r;
	}
	return 0;
}

static int
put_packed(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k, uint32_t segment,
	   const char *what)
{
	uint32_t want = k->has_args ? k->explicit_bytes : k->kernarg_bytes;
	int r;

	if (d->packed_bytes != want)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " packed argument bytes, kernel \"%s\" takes %" PRIu32,
				what, d->packed_bytes, k->name, want);
	if (want && !d->packed)
		return gp_error(c->error, -EINVAL, "%s: %" PRIu32 " packed argument bytes but no memory with them", what,
				want);
	if (want)
		put(c, segment, d->packed, want);
	for (uint32_t b = 0; b < d->n_bindings; b++) {
		const struct gpuplan_binding *binding = &d->bindings[b];

		if (binding->packed_offset % 8 || want < 8 || binding->packed_offset > want - 8)
			return gp_error(c->error, -EINVAL,
					"%s: binding %" PRIu32 " puts its address at packed byte %" PRIu32
					", which is no aligned place in %" PRIu32 " bytes",
					what, b, binding->packed_offset, want);
		if (k->has_args && !is_buffer_offset(k, binding->packed_offset))
			return gp_error(c->error, -EINVAL,
					"%s: binding %" PRIu32 " puts its address at packed byte %" PRIu32
					", where kernel \"%s\" takes no buffer",
					what, b, binding->packed_offset, k->name);
		for (uint32_t other = 0; other < b; other++)
			if (d->bindings[other].packed_offset == binding->packed_offset)
				return gp_error(c->error, -EINVAL,
						"%s: bindings %" PRIu32 " and %" PRIu32
						" both put their address at packed byte %" PRIu32,
						what, other, b, binding->packed_offset);
		if ((r = put_address(c, segment + binding->packed_offset, binding->region.allocation,
				     binding->region.offset)))
			return r;
	}
	return put_packed_params(c, d, k, segment, what);
}

/* Workgroups of an axis as a dword, times `multiplier`. */
static int
put_groups(struct gp_compile *c, const struct plan_image_command *command, uint32_t axis, uint32_t place,
	   uint32_t multiplier)
{
	uint32_t product = command->groups[axis] * multiplier;

	if (command->groups_param[axis])
		return put_param(c, place, command->groups_param[axis] - 1, sizeof(product), multiplier);
	put(c, place, &product, sizeof(product));
	return 0;
}

/* Dimensions in use. An axis of a parameter counts by what it may become, so that kernels see no change. */
static uint16_t
grid_dims(const struct gp_compile *c, const struct plan_image_command *command)
{
	uint16_t dims = 1;

	for (uint16_t i = 1; i < 3; i++) {
		const struct plan_image_parameter *p =
			command->groups_param[i] ? gp_array_at(&c->parameters, command->groups_param[i] - 1) : NULL;

		if ((p ? p->max : command->groups[i]) * command->block[i] > 1)
			dims = i + 1;
	}
	return dims;
}

/* Groups are whole (block is exact), so remainders stay 0; so do offsets, default queue, heap and the rest. */
static int
put_hidden_v5(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
	      const struct plan_image_command *command, uint32_t segment, uint32_t printf_buffer)
{
	uint32_t base = segment + k->hidden_offset;
	uint16_t dims = grid_dims(c, command);
	int r;

	for (uint32_t i = 0; i < 3; i++) {
		uint16_t size = (uint16_t)d->block[i];

		if ((r = put_groups(c, command, i, base + AMDGPU_HIDDEN_BLOCK_COUNT_X + 4 * i, 1)))
			return r;
		put(c, base + AMDGPU_HIDDEN_GROUP_SIZE_X + 2 * i, &size, 2);
	}
	put(c, base + AMDGPU_HIDDEN_GRID_DIMS, &dims, 2);
	put(c, base + AMDGPU_HIDDEN_DYNAMIC_LDS_SIZE, &d->dynamic_lds, 4);
	return put_address(c, base + AMDGPU_HIDDEN_PRINTF_BUFFER, GP_KERNARG_SELF, printf_buffer);
}

/* Hidden arguments that metadata lists one by one: v4, and v5 segments cut short. */
static int
put_hidden_listed(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
		  const struct plan_image_command *command, uint32_t segment, uint32_t printf_buffer)
{
	int r = 0;

	for (uint32_t i = k->n_explicit; i < k->n_args; i++) {
		const struct gp_kernel_arg *a = &k->args[i];
		uint32_t place = segment + a->offset;
		int axis = a->hidden[0] ? a->hidden[strlen(a->hidden) - 1] - 'x' : 0;
		uint16_t half;

		if (!strncmp(a->hidden, "block_count_", 12)) {
			r = put_groups(c, command, (uint32_t)axis % 3, place, 1);
		} else if (!strncmp(a->hidden, "group_size_", 11)) {
			half = (uint16_t)d->block[axis % 3];
			put(c, place, &half, 2);
		} else if (!strcmp(a->hidden, "grid_dims")) {
			half = grid_dims(c, command);
			put(c, place, &half, 2);
		} else if (!strcmp(a->hidden, "dynamic_lds_size")) {
			put(c, place, &d->dynamic_lds, 4);
		} else if (!strcmp(a->hidden, "printf_buffer")) {
			r = put_address(c, place, GP_KERNARG_SELF, printf_buffer);
		}
		if (r)
			return r;
		/* everything else is fed 0: offsets, remainders, hostcall, heap, queues, multigrid */
	}
	return 0;
}

static bool
wants_hidden(const struct gp_kernel_info *k)
{
	return k->hidden_block || k->n_args > k->n_explicit;
}

static int
put_hidden(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
	   const struct plan_image_command *command, uint32_t segment)
{
	uint32_t printf_buffer;
	int r;

	if (!wants_hidden(k))
		return 0;
	if ((r = reserve(c, PRINTF_BUFFER_BYTES, &printf_buffer)))
		return r;
	if (k->hidden_block && (r = put_hidden_v5(c, d, k, command, segment, printf_buffer)))
		return r;
	return k->hidden_block ? 0 : put_hidden_listed(c, d, k, command, segment, printf_buffer);
}

/* hsa_kernel_dispatch_packet_t: setup, sizes, segment sizes, kernel object, kernarg address. */
static int
put_packet(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
	   const struct plan_image_command *command, uint32_t segment, uint32_t lds, uint32_t packet)
{
	uint16_t dims = 3;
	uint32_t code = c->d->kernels[d->kernel.index].code;
	int r;

	put(c, packet + 2, &dims, 2);
	for (uint32_t i = 0; i < 3; i++) {
		uint16_t size = (uint16_t)d->block[i];

		put(c, packet + 4 + 2 * i, &size, 2);
		if ((r = put_groups(c, command, i, packet + 12 + 4 * i, d->block[i])))
			return r;
	}
	put(c, packet + 24, &k->private_bytes, 4);
	put(c, packet + 28, &lds, 4);
	if ((r = put_address(c, packet + 32, GP_KERNARG_CODE | code, k->descriptor)))
		return r;
	return put_address(c, packet + 40, GP_KERNARG_SELF, segment);
}

int
gp_kernarg_build(struct gp_compile *c, const struct gpuplan_dispatch *d, const struct gp_kernel_info *k,
		 const char *what, struct plan_image_command *command)
{
	uint32_t segment_bytes = (uint32_t)gp_align(k->kernarg_bytes, 16);
	bool packet = k->properties & AMDGPU_KCP_DISPATCH_PTR;
	uint64_t lds = k->lds_bytes;
	uint32_t segment, place;
	int r;

	if (d->n_args && d->packed)
		return gp_error(c->error, -EINVAL, "%s: both %" PRIu32 " arguments and packed bytes are given", what,
				d->n_args);
	if (d->n_args && d->n_packed_params)
		return gp_error(c->error, -EINVAL,
				"%s: both %" PRIu32 " arguments and %" PRIu32 " packed parameters are given", what,
				d->n_args, d->n_packed_params);
	if ((r = check_binding_count(c, d, k, what)))
		return r;
	if ((r = reserve(c, segment_bytes + (packet ? SEGMENT_ALIGN + AQL_PACKET_BYTES : 0), &segment)))
		return r;
	if (d->packed || (!d->n_args && (d->packed_bytes || d->n_packed_params)))
		r = put_packed(c, d, k, segment, what);
	else
		r = put_args(c, d, k, segment, &lds, what);
	if (r)
		return r;
	lds += d->dynamic_lds;
	if ((r = put_hidden(c, d, k, command, segment)))
		return r;
	if (packet && (r = put_packet(c, d, k, command, segment, (uint32_t)lds,
				      segment + (uint32_t)gp_align(segment_bytes, SEGMENT_ALIGN))))
		return r;
	if ((k->properties & AMDGPU_KCP_QUEUE_PTR) && c->aux == UINT32_MAX) {
		if ((r = reserve(c, GP_QUEUE_BLOCK_BYTES, &place)))
			return r;
		c->aux = place;
	}
	command->kernarg = segment;
	command->kernarg_bytes = segment_bytes;
	command->lds_bytes = lds > UINT32_MAX ? UINT32_MAX : (uint32_t)lds;
	return 0;
}
