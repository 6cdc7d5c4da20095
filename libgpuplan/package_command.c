/* SPDX-License-Identifier: MIT */
/* package_command.c: the commands of a package's plans. Everything here may come from a stranger. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "package_parts.h"

static int
read_binding(const struct gpuplan_package *package, const struct gp_node *node, struct gpuplan_binding *binding)
{
	static const char *const known[] = { "region", "access", NULL };
	static const struct gp_choice accesses[] = {
		{ "r", GPUPLAN_READ }, { "w", GPUPLAN_WRITE }, { "rw", GPUPLAN_READ_WRITE }, { NULL, 0 }
	};
	int r, access = 0;

	if (!(r = gp_node_check_members(node, known)) && !(r = gp_package_region(package, node, "region", &binding->region)))
		r = gp_node_get_choice(node, "access", accesses, &access);
	binding->access = access;
	return r;
}

/* Reads member `key` of an object, the name of a parameter of the plan. */
static int
read_param(const struct gp_package_plan *plan, const struct gp_node *object, const char *key, uint32_t *number)
{
	const json_t *found;
	const char *name;
	int r = gp_node_get_string(object, key, &name);

	if (r)
		return r;
	found = json_object_get(plan->parameter_index, name);
	if (!found)
		return gp_node_error(object, -ENOENT,
				     "names parameter \"%.64s\", the plan has %" PRIu32 " and none of that name", name,
				     plan->n_parameters);
	*number = (uint32_t)json_integer_value(found);
	return 0;
}

/* A dword that is a number or {"param": NAME}: *value, or *param = parameter + 1 and *value 0. */
static int
read_word(const struct gp_package_plan *plan, const struct gp_node *node, uint32_t *value, uint32_t *param)
{
	static const char *const known[] = { "param", NULL };
	uint32_t number = 0;
	uint64_t n = 0;
	int r;

	*value = *param = 0;
	if (!json_is_object(node->value)) {
		r = gp_node_uint(node, UINT32_MAX, &n);
		*value = (uint32_t)n;
		return r;
	}
	if ((r = gp_node_check_members(node, known)) || (r = read_param(plan, node, "param", &number)))
		return r;
	*param = number + 1;
	return 0;
}

/* What read_word takes. */
static json_type
word_type(const json_t *value)
{
	return json_is_object(value) ? JSON_OBJECT : JSON_INTEGER;
}

static int
read_integer_arg(const struct gp_node *value, uint32_t bytes, bool is_signed, struct gpuplan_arg *arg)
{
	int64_t n = json_integer_value(value->value);
	int64_t high = bytes == 8 ? INT64_MAX : (INT64_C(1) << (8 * bytes - is_signed)) - 1;
	int64_t low = is_signed ? -high - 1 : 0;

	if (n < low || n > high)
		return gp_node_error(value, -EINVAL, "is %" PRId64 ", expected %" PRId64 " to %" PRId64, n, low, high);
	arg->bytes = bytes;
	arg->value.i64 = n; /* little-endian: the first `bytes` bytes are the value of that size */
	return 0;
}

static int
read_real_arg(const struct gp_node *value, uint32_t bytes, struct gpuplan_arg *arg)
{
	double x = json_number_value(value->value);

	arg->bytes = bytes;
	if (bytes == 8) {
		arg->value.f64 = x;
		return 0;
	}
	arg->value.f32 = (float)x;
	if (!__builtin_isfinite(arg->value.f32))
		return gp_node_error(value, -EINVAL, "is %g, more than an f32 holds", x);
	return 0;
}

/* One member that says what it is: {"binding": 0}, {"u32": 5}, {"lds": 1024}, {"param": "n"}. */
static int
read_arg(const struct gp_package_plan *plan, const struct gp_node *node, uint32_t n_bindings, struct gpuplan_arg *arg)
{
	enum { BINDING, LDS, UINT, INT, REAL, PARAM };
	static const struct { const char *key; int how; uint32_t bytes; } kinds[] = {
		{ "binding", BINDING, 0 }, { "lds", LDS, 0 }, { "u8", UINT, 1 },  { "i8", INT, 1 },
		{ "u16", UINT, 2 },	   { "i16", INT, 2 }, { "u32", UINT, 4 }, { "i32", INT, 4 },
		{ "u64", UINT, 8 },	   { "i64", INT, 8 }, { "f32", REAL, 4 }, { "f64", REAL, 8 },
		{ "param", PARAM, 0 },
	};
	size_t k = 0, n_kinds = sizeof(kinds) / sizeof(kinds[0]);
	struct gp_node value;
	uint64_t n = 0;
	int r;

	while (k < n_kinds && !gp_node_has(node, kinds[k].key))
		k++;
	if (k == n_kinds || json_object_size(node->value) != 1)
		return gp_node_error(node, -EINVAL,
				     "has %zu members, expected exactly one of binding, lds, param, u8, i8, u16, i16, u32, "
				     "i32, u64, i64, f32, f64",
				     json_object_size(node->value));
	if (kinds[k].how == PARAM && plan) {
		arg->kind = GPUPLAN_ARG_PARAM;
		return read_param(plan, node, "param", &arg->binding);
	}
	/* 1 is as good a fraction as 1.0 */
	r = gp_node_child(node, kinds[k].key,
			  kinds[k].how == REAL && json_is_real(json_object_get(node->value, kinds[k].key)) ? JSON_REAL :
													     JSON_INTEGER,
			  &value);
	if (r)
		return r;
	arg->kind = GPUPLAN_ARG_SCALAR;
	if (kinds[k].how == UINT || kinds[k].how == INT)
		return read_integer_arg(&value, kinds[k].bytes, kinds[k].how == INT, arg);
	if (kinds[k].how == REAL)
		return read_real_arg(&value, kinds[k].bytes, arg);
	r = gp_node_uint(&value, UINT32_MAX, &n);
	if (!r && kinds[k].how == BINDING && n >= n_bindings)
		r = gp_node_error(&value, -EINVAL, "is %" PRIu64 ", the dispatch has %u bindings", n, n_bindings);
	arg->kind = kinds[k].how == LDS ? GPUPLAN_ARG_LDS : GPUPLAN_ARG_BINDING;
	if (kinds[k].how == LDS)
		arg->bytes = (uint32_t)n;
	else
		arg->binding = (uint32_t)n;
	return r;
}

int
gp_package_scalar(const struct gp_node *node, uint32_t bytes, uint64_t *bits)
{
	struct gpuplan_arg arg = { 0 };
	int r = read_arg(NULL, node, 0, &arg);

	if (!r && arg.kind != GPUPLAN_ARG_SCALAR)
		return gp_node_error(node, -EINVAL, "is no number, expected one of %" PRIu32 " bytes", bytes);
	if (!r && arg.bytes != bytes)
		return gp_node_error(node, -EINVAL, "has %" PRIu32 " bytes, expected %" PRIu32, arg.bytes, bytes);
	*bits = arg.value.u64 & UINT64_MAX >> (64 - 8 * bytes);
	return r;
}

/* x, y and z of key into axes; params NULL: numbers only. */
static int
read_axes(const struct gp_package_plan *plan, const struct gp_node *dispatch, const char *key, uint32_t axes[3],
	  uint32_t params[3])
{
	struct gp_node list, one;
	uint32_t none;
	int r = gp_node_child(dispatch, key, JSON_ARRAY, &list);

	if (!r && json_array_size(list.value) != 3)
		r = gp_node_error(&list, -EINVAL, "has %zu elements, expected x, y and z", json_array_size(list.value));
	for (size_t i = 0; !r && i < 3; i++) {
		json_type type = params ? word_type(json_array_get(list.value, i)) : JSON_INTEGER;

		if (!(r = gp_node_element(&list, i, type, &one)))
			r = read_word(plan, &one, &axes[i], params ? &params[i] : &none);
	}
	return r;
}

/* Bindings and arguments go to the end of the plan's lists, which gp_package_room() has made large enough. */
static int
read_lists(const struct gpuplan_package *package, struct gp_package_plan *plan, const struct gp_node *node,
	   struct gpuplan_dispatch *dispatch)
{
	struct gp_node list, one;
	int r;

	if ((r = gp_node_child(node, "bindings", JSON_ARRAY, &list)))
		return r;
	dispatch->bindings = plan->bindings + plan->n_bindings;
	dispatch->n_bindings = (uint32_t)json_array_size(list.value);
	for (uint32_t i = 0; i < dispatch->n_bindings; i++)
		if ((r = gp_node_element(&list, i, JSON_OBJECT, &one)) ||
		    (r = read_binding(package, &one, &plan->bindings[plan->n_bindings++])))
			return r;
	if ((r = gp_node_child(node, "args", JSON_ARRAY, &list)))
		return r;
	dispatch->args = plan->args + plan->n_args;
	dispatch->n_args = (uint32_t)json_array_size(list.value);
	for (uint32_t i = 0; i < dispatch->n_args; i++)
		if ((r = gp_node_element(&list, i, JSON_OBJECT, &one)) ||
		    (r = read_arg(plan, &one, dispatch->n_bindings, &plan->args[plan->n_args++])))
			return r;
	return 0;
}

static int
read_dispatch(const struct gpuplan_package *package, struct gp_package_plan *plan, const struct gp_node *node,
	      struct gpuplan_dispatch *dispatch)
{
	static const char *const known[] = { "kernel", "grid",     "grid_from", "block", "dynamic_lds",
					     "bindings", "args", NULL };
	uint64_t lds = 0;
	int r;

	if ((r = gp_node_check_members(node, known)) ||
	    (r = gp_package_lookup(package->kernel_index, node, "kernel", &dispatch->kernel.index)) ||
	    (r = read_axes(plan, node, "grid", dispatch->groups, dispatch->groups_param)) ||
	    (r = read_axes(plan, node, "block", dispatch->block, NULL)))
		return r;
	if (gp_node_has(node, "grid_from")) {
		dispatch->groups_from = &plan->grids[plan->n_grids++];
		if ((r = gp_package_region(package, node, "grid_from", &plan->grids[plan->n_grids - 1])))
			return r;
	}
	if (gp_node_has(node, "dynamic_lds") && (r = gp_node_get_uint(node, "dynamic_lds", UINT32_MAX, &lds)))
		return r;
	dispatch->dynamic_lds = (uint32_t)lds;
	return read_lists(package, plan, node, dispatch);
}

static int
read_fill(const struct gpuplan_package *package, const struct gp_package_plan *plan, const struct gp_node *node,
	  struct gpuplan_command *command)
{
	static const char *const known[] = { "dst", "value", NULL };
	struct gp_node value;
	int r;

	if ((r = gp_node_check_members(node, known)) ||
	    (r = gp_package_region(package, node, "dst", &command->u.fill.dst)) ||
	    (r = gp_node_child(node, "value", word_type(json_object_get(node->value, "value")), &value)))
		return r;
	return read_word(plan, &value, &command->u.fill.value, &command->u.fill.value_param);
}

static int
read_copy(const struct gpuplan_package *package, const struct gp_node *node, struct gpuplan_command *command)
{
	static const char *const known[] = { "dst", "src", NULL };
	int r;

	if (!(r = gp_node_check_members(node, known)) &&
	    !(r = gp_package_region(package, node, "dst", &command->u.copy.dst)))
		r = gp_package_region(package, node, "src", &command->u.copy.src);
	return r;
}

int
gp_package_command(const struct gpuplan_package *package, struct gp_package_plan *plan, const struct gp_node *node,
	     struct gpuplan_command *command)
{
	static const char *const known[] = { "fill", "copy", "dispatch", "label", NULL };
	bool fill = gp_node_has(node, "fill"), copy = gp_node_has(node, "copy"), dispatch = gp_node_has(node, "dispatch");
	struct gp_node body;
	int r = gp_node_check_members(node, known);

	if (r)
		return r;
	if (fill + copy + dispatch != 1)
		return gp_node_error(node, -EINVAL, "has %d of fill, copy and dispatch, expected exactly one",
				     fill + copy + dispatch);
	if (gp_node_has(node, "label") && (r = gp_node_get_string(node, "label", &command->label)))
		return r;
	if ((r = gp_node_child(node, fill ? "fill" : copy ? "copy" : "dispatch", JSON_OBJECT, &body)))
		return r;
	command->kind = fill ? GPUPLAN_FILL : copy ? GPUPLAN_COPY : GPUPLAN_DISPATCH;
	if (fill)
		return read_fill(package, plan, &body, command);
	return copy ? read_copy(package, &body, command) : read_dispatch(package, plan, &body, &command->u.dispatch);
}

int
gp_package_room(struct gp_package_plan *plan, const struct gp_node *commands)
{
	size_t n_bindings = 1, n_args = 1, n_commands = json_array_size(commands->value);

	for (size_t i = 0; i < n_commands; i++) {
		const json_t *dispatch = json_object_get(json_array_get(commands->value, i), "dispatch");

		n_bindings += json_array_size(json_object_get(dispatch, "bindings"));
		n_args += json_array_size(json_object_get(dispatch, "args"));
	}
	if (n_bindings > UINT32_MAX / 2 || n_args > UINT32_MAX / 2)
		return gp_node_error(commands, -EINVAL, "has %zu bindings and %zu arguments, at most %u of each are read",
				     n_bindings - 1, n_args - 1, UINT32_MAX / 2);
	plan->bindings = calloc(n_bindings, sizeof(*plan->bindings));
	plan->args = calloc(n_args, sizeof(*plan->args));
	plan->grids = calloc(n_commands + 1, sizeof(*plan->grids));
	if (!plan->bindings || !plan->args || !plan->grids)
		return gp_node_error(commands, -ENOMEM, "no memory for %zu bindings and %zu arguments", n_bindings - 1,
				     n_args - 1);
	return 0;
}
