/* SPDX-License-Identifier: MIT */
/* package_parse.c: JSON text to struct gpuplan_package. Everything here may come from a stranger. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "package_parts.h"

static const struct gp_choice dtypes[] = {
	{ "u8", GPUPLAN_U8 },	{ "i8", GPUPLAN_I8 },	  { "u16", GPUPLAN_U16 }, { "i16", GPUPLAN_I16 },
	{ "f16", GPUPLAN_F16 }, { "bf16", GPUPLAN_BF16 }, { "u32", GPUPLAN_U32 }, { "i32", GPUPLAN_I32 },
	{ "f32", GPUPLAN_F32 }, { "u64", GPUPLAN_U64 },	  { "i64", GPUPLAN_I64 }, { "f64", GPUPLAN_F64 },
	{ NULL, 0 },
};

/* ---- lists ---- */

void *
gp_package_list(const struct gp_node *list, size_t element_bytes, uint32_t *n, int *r)
{
	size_t size = json_array_size(list->value);
	void *memory;

	if (size > UINT32_MAX / 2) {
		*r = gp_node_error(list, -EINVAL, "has %zu elements, at most %u are read", size, UINT32_MAX / 2);
		return NULL;
	}
	memory = calloc(size + 1, element_bytes);
	*r = memory ? 0 : gp_node_error(list, -ENOMEM, "no memory for %zu elements", size);
	if (memory)
		*n = (uint32_t)size;
	return memory;
}

/* Notes that element `number` of a list is called `name`; refuses a second one. */
static int
index_add(json_t **index, const struct gp_node *element, const char *name)
{
	const json_t *earlier;

	if (!*index)
		*index = json_object();
	earlier = json_object_get(*index, name);
	if (earlier)
		return gp_node_error(element, -EINVAL, "name \"%.64s\" is taken by element %" JSON_INTEGER_FORMAT, name,
				     json_integer_value(earlier));
	if (json_object_set_new(*index, name, json_integer((json_int_t)element->index)) != 0)
		return gp_node_error(element, -ENOMEM, "no memory for its name");
	return 0;
}

int
gp_package_lookup(const json_t *index, const struct gp_node *object, const char *key, uint32_t *number)
{
	const json_t *found;
	const char *name;
	int r = gp_node_get_string(object, key, &name);

	if (r)
		return r;
	found = json_object_get(index, name);
	if (!found)
		return gp_node_error(object, -ENOENT, "names %s \"%.64s\", the package has %zu %ss and none of that name", key,
				     name, json_object_size(index), key);
	*number = (uint32_t)json_integer_value(found);
	return 0;
}

/* ---- dtype, shape, region ---- */

static int
read_shape(const struct gp_node *object, uint32_t *rank, uint64_t *shape)
{
	struct gp_node list, one;
	size_t n;
	int r = gp_node_child(object, "shape", JSON_ARRAY, &list);

	if (r)
		return r;
	n = json_array_size(list.value);
	if (n > GPUPLAN_MAX_RANK)
		return gp_node_error(&list, -EINVAL, "has %zu dimensions, at most %d are possible", n, GPUPLAN_MAX_RANK);
	for (size_t i = 0; i < n; i++)
		if ((r = gp_node_element(&list, i, JSON_INTEGER, &one)) || (r = gp_node_uint(&one, INT64_MAX, &shape[i])))
			return r;
	*rank = (uint32_t)n;
	return 0;
}

int
gp_package_region(const struct gpuplan_package *package, const struct gp_node *object, const char *key,
	    struct gpuplan_region *region)
{
	static const char *const known[] = { "allocation", "offset", "bytes", NULL };
	const struct gp_package_allocation *allocation;
	struct gp_node node;
	int r;

	if ((r = gp_node_child(object, key, JSON_OBJECT, &node)) || (r = gp_node_check_members(&node, known)) ||
	    (r = gp_package_lookup(package->allocation_index, &node, "allocation", &region->allocation)) ||
	    (r = gp_node_get_uint(&node, "offset", INT64_MAX, &region->offset)) ||
	    (r = gp_node_get_uint(&node, "bytes", INT64_MAX, &region->bytes)))
		return r;
	allocation = &package->allocations[region->allocation];
	/* Both are below 2^63, so the sum fits. */
	if (region->offset + region->bytes > allocation->bytes)
		return gp_node_error(&node, -EINVAL,
				     "offset %" PRIu64 " + %" PRIu64 " bytes ends past allocation \"%.64s\" of %" PRIu64
				     " bytes",
				     region->offset, region->bytes, allocation->name, allocation->bytes);
	return 0;
}

/* ---- allocations ---- */

/* "dtype" with "shape", "bytes", or both when they agree. */
static int
read_size(const struct gp_node *node, struct gp_package_allocation *a)
{
	bool typed = gp_node_has(node, "dtype") || gp_node_has(node, "shape");
	uint64_t bytes;
	int r;

	if (!typed && !gp_node_has(node, "bytes"))
		return gp_node_error(node, -EINVAL, "has no size: give bytes, or dtype and shape");
	if (!typed)
		return gp_node_get_uint(node, "bytes", INT64_MAX, &a->bytes);
	if ((r = gp_node_get_choice(node, "dtype", dtypes, &a->dtype)) ||
	    (r = gp_node_get_string(node, "dtype", &a->dtype_name)) || (r = read_shape(node, &a->rank, a->shape)))
		return r;
	a->bytes = gpuplan_dtype_bytes(a->dtype);
	for (uint32_t i = 0; i < a->rank; i++)
		if (__builtin_mul_overflow(a->bytes, a->shape[i], &a->bytes) || a->bytes > INT64_MAX)
			return gp_node_error(node, -EINVAL, "dtype and shape make more bytes than 63 bits hold");
	if (!gp_node_has(node, "bytes"))
		return 0;
	r = gp_node_get_uint(node, "bytes", INT64_MAX, &bytes);
	if (!r && bytes != a->bytes)
		r = gp_node_error(node, -EINVAL, "bytes is %" PRIu64 ", dtype and shape make %" PRIu64, bytes, a->bytes);
	return r;
}

static int
read_allocation(const struct gp_node *node, struct gp_package_allocation *a)
{
	static const char *const known[] = { "name", "kind", "placement", "bytes", "dtype", "shape", "tensor", NULL };
	static const struct gp_choice kinds[] = {
		{ "weight", GPUPLAN_WEIGHT }, { "scratch", GPUPLAN_SCRATCH }, { "state", GPUPLAN_STATE }, { NULL, 0 }
	};
	static const struct gp_choice placements[] = { { "device", GPUPLAN_DEVICE }, { "host", GPUPLAN_HOST }, { NULL, 0 } };
	int r, use = 0, placement = GPUPLAN_DEVICE;

	if ((r = gp_node_check_members(node, known)) || (r = gp_node_get_string(node, "name", &a->name)) ||
	    (r = gp_node_get_choice(node, "kind", kinds, &use)))
		return r;
	if (gp_node_has(node, "placement") && (r = gp_node_get_choice(node, "placement", placements, &placement)))
		return r;
	a->use = use;
	a->placement = placement;
	if ((r = read_size(node, a)))
		return r;
	if (a->bytes == 0)
		return gp_node_error(node, -EINVAL, "\"%.64s\" has 0 bytes, at least 1 is needed", a->name);
	if (a->use == GPUPLAN_WEIGHT && a->placement != GPUPLAN_DEVICE)
		return gp_node_error(node, -EINVAL, "weight \"%.64s\" is placed on the host, weights are on the device",
				     a->name);
	if (a->use == GPUPLAN_WEIGHT)
		return gp_node_get_string(node, "tensor", &a->tensor);
	if (gp_node_has(node, "tensor"))
		return gp_node_error(node, -EINVAL, "\"%.64s\" names a tensor, only weights have one", a->name);
	return 0;
}

static int
read_allocations(struct gpuplan_package *package, const struct gp_node *root)
{
	struct gp_node list, one;
	int r = gp_node_child(root, "allocations", JSON_ARRAY, &list);

	if (r)
		return r;
	package->allocations = gp_package_list(&list, sizeof(*package->allocations), &package->n_allocations, &r);
	for (uint32_t i = 0; !r && i < package->n_allocations; i++) {
		struct gp_package_allocation *a = &package->allocations[i];

		if (!(r = gp_node_element(&list, i, JSON_OBJECT, &one)) && !(r = read_allocation(&one, a)))
			r = index_add(&package->allocation_index, &one, a->name);
	}
	return r;
}

/* ---- weights and kernels ---- */

/* A name that becomes part of a path: it must not lead out of its folder. */
static int
check_file_name(const struct gp_node *node, const char *name)
{
	if (strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return gp_node_error(node, -EINVAL, "\"%.64s\" is a path, expected a plain file name", name);
	return 0;
}

static int
read_weights(struct gpuplan_package *package, const struct gp_node *root)
{
	struct gp_node list, one;
	int r = gp_node_child(root, "weights", JSON_ARRAY, &list);

	if (r)
		return r;
	package->weights = gp_package_list(&list, sizeof(*package->weights), &package->n_weights, &r);
	for (uint32_t i = 0; !r && i < package->n_weights; i++) {
		r = gp_node_element(&list, i, JSON_STRING, &one);
		if (r)
			break;
		package->weights[i] = json_string_value(one.value);
		r = *package->weights[i] ? check_file_name(&one, package->weights[i]) :
					   gp_node_error(&one, -EINVAL, "is an empty string");
	}
	return r;
}

static int
read_kernel(const struct gp_node *node, struct gp_package_kernel *kernel)
{
	static const char *const known[] = { "name", "object", "symbol", NULL };
	int r;

	if ((r = gp_node_check_members(node, known)) || (r = gp_node_get_string(node, "name", &kernel->name)) ||
	    (r = gp_node_get_string(node, "object", &kernel->object)) || (r = check_file_name(node, kernel->object)))
		return r;
	kernel->symbol = kernel->name;
	return gp_node_has(node, "symbol") ? gp_node_get_string(node, "symbol", &kernel->symbol) : 0;
}

static int
read_kernels(struct gpuplan_package *package, const struct gp_node *root)
{
	struct gp_node list, one;
	int r = gp_node_child(root, "kernels", JSON_ARRAY, &list);

	if (r)
		return r;
	package->kernels = gp_package_list(&list, sizeof(*package->kernels), &package->n_kernels, &r);
	for (uint32_t i = 0; !r && i < package->n_kernels; i++)
		if (!(r = gp_node_element(&list, i, JSON_OBJECT, &one)) &&
		    !(r = read_kernel(&one, &package->kernels[i])))
			r = index_add(&package->kernel_index, &one, package->kernels[i].name);
	return r;
}

/* ---- plans ---- */

static int
read_io(const struct gpuplan_package *package, const struct gp_node *plan, const char *key, struct gpuplan_io **ios,
	uint32_t *n)
{
	static const char *const known[] = { "name", "region", "dtype", "shape", NULL };
	struct gp_node list, one;
	int dtype = 0, r = gp_node_child(plan, key, JSON_ARRAY, &list);

	if (r)
		return r;
	*ios = gp_package_list(&list, sizeof(**ios), n, &r);
	for (uint32_t i = 0; !r && i < *n; i++) {
		struct gpuplan_io *io = &(*ios)[i];

		if ((r = gp_node_element(&list, i, JSON_OBJECT, &one)) || (r = gp_node_check_members(&one, known)) ||
		    (r = gp_node_get_string(&one, "name", &io->name)) ||
		    (r = gp_package_region(package, &one, "region", &io->region)) ||
		    (r = gp_node_get_choice(&one, "dtype", dtypes, &dtype)) ||
		    (r = read_shape(&one, &io->rank, io->shape)))
			return r;
		io->dtype = dtype;
	}
	return r;
}

/* "initial", "min" or "max": an integer, or a number with its type. */
static int
read_bound(const struct gp_node *node, const char *key, uint32_t bytes, uint64_t *bits)
{
	uint64_t most = UINT64_MAX >> (64 - 8 * bytes);
	struct gp_node value;
	int r;

	if (!json_is_object(json_object_get(node->value, key)))
		return gp_node_get_uint(node, key, most < INT64_MAX ? most : INT64_MAX, bits);
	r = gp_node_child(node, key, JSON_OBJECT, &value);
	return r ? r : gp_package_scalar(&value, bytes, bits);
}

static int
read_parameter(const struct gp_node *node, struct gpuplan_parameter *p)
{
	static const char *const known[] = { "name", "bytes", "initial", "min", "max", NULL };
	uint64_t bytes = 0;
	int r;

	if ((r = gp_node_check_members(node, known)) || (r = gp_node_get_string(node, "name", &p->name)) ||
	    (r = gp_node_get_uint(node, "bytes", UINT32_MAX, &bytes)))
		return r;
	if (bytes < 1 || bytes > 8)
		return gp_node_error(node, -EINVAL, "\"%.64s\" has %" PRIu64 " bytes, 1 to 8 are possible", p->name, bytes);
	p->bytes = (uint32_t)bytes;
	p->max = UINT64_MAX >> (64 - 8 * bytes);
	if ((r = read_bound(node, "initial", p->bytes, &p->initial)) ||
	    (gp_node_has(node, "min") && (r = read_bound(node, "min", p->bytes, &p->min))) ||
	    (gp_node_has(node, "max") && (r = read_bound(node, "max", p->bytes, &p->max))))
		return r;
	if (p->initial < p->min || p->initial > p->max)
		return gp_node_error(node, -EINVAL,
				     "\"%.64s\" is %" PRIu64 " at first, min and max are %" PRIu64 " and %" PRIu64, p->name,
				     p->initial, p->min, p->max);
	return 0;
}

static int
read_parameters(const struct gp_node *node, struct gp_package_plan *plan)
{
	struct gp_node list, one;
	int r = 0;

	if (!gp_node_has(node, "parameters"))
		return 0;
	if ((r = gp_node_child(node, "parameters", JSON_ARRAY, &list)))
		return r;
	plan->parameters = gp_package_list(&list, sizeof(*plan->parameters), &plan->n_parameters, &r);
	for (uint32_t i = 0; !r && i < plan->n_parameters; i++)
		if (!(r = gp_node_element(&list, i, JSON_OBJECT, &one)) &&
		    !(r = read_parameter(&one, &plan->parameters[i])))
			r = index_add(&plan->parameter_index, &one, plan->parameters[i].name);
	return r;
}

static int
read_plan(const struct gpuplan_package *package, const struct gp_node *node, struct gp_package_plan *plan)
{
	static const char *const known[] = { "name", "parameters", "inputs", "outputs", "commands", NULL };
	struct gp_node list, one;
	int r;

	if ((r = gp_node_check_members(node, known)) || (r = gp_node_get_string(node, "name", &plan->name)) ||
	    (r = read_parameters(node, plan)) ||
	    (r = read_io(package, node, "inputs", &plan->inputs, &plan->n_inputs)) ||
	    (r = read_io(package, node, "outputs", &plan->outputs, &plan->n_outputs)) ||
	    (r = gp_node_child(node, "commands", JSON_ARRAY, &list)) || (r = gp_package_room(plan, &list)))
		return r;
	plan->commands = gp_package_list(&list, sizeof(*plan->commands), &plan->n_commands, &r);
	for (uint32_t i = 0; !r && i < plan->n_commands; i++)
		if (!(r = gp_node_element(&list, i, JSON_OBJECT, &one)))
			r = gp_package_command(package, plan, &one, &plan->commands[i]);
	return r;
}

static int
read_plans(struct gpuplan_package *package, const struct gp_node *root)
{
	struct gp_node list, one;
	int r = gp_node_child(root, "plans", JSON_ARRAY, &list);

	if (r)
		return r;
	package->plans = gp_package_list(&list, sizeof(*package->plans), &package->n_plans, &r);
	for (uint32_t i = 0; !r && i < package->n_plans; i++)
		if (!(r = gp_node_element(&list, i, JSON_OBJECT, &one)) &&
		    !(r = read_plan(package, &one, &package->plans[i])))
			r = index_add(&package->plan_index, &one, package->plans[i].name);
	return r;
}

int
gp_package_parse(struct gpuplan_package *package, const char *name, const char *text, size_t bytes,
		 struct gpuplan_error *error)
{
	static const char *const known[] = { "format",	    "name",    "description", "weights",
					     "allocations", "kernels", "plans",	      NULL };
	struct gp_json_file file = { name, error };
	struct gp_node root = { &file, NULL, NULL, 0, NULL };
	uint64_t format;
	int r = gp_json_parse(&file, text, bytes, &package->json);

	if (r)
		return r;
	root.value = package->json;
	if (!json_is_object(root.value))
		return gp_node_error(&root, -EINVAL, "is an array, expected an object");
	/* The version comes first: a later format may have members that are unknown here. */
	if ((r = gp_node_get_uint(&root, "format", INT64_MAX, &format)))
		return r;
	if (format != GP_PACKAGE_FORMAT)
		return gp_node_error(&root, -ENOTSUP, "is of package format %" PRIu64 ", this library reads format %d",
				     format, GP_PACKAGE_FORMAT);
	if ((r = gp_node_check_members(&root, known)) || (r = read_weights(package, &root)) ||
	    (r = read_allocations(package, &root)) || (r = read_kernels(package, &root)))
		return r;
	return read_plans(package, &root);
}

static void
finish_plan(struct gp_package_plan *plan)
{
	free(plan->inputs);
	free(plan->outputs);
	free(plan->commands);
	free(plan->bindings);
	free(plan->args);
	free(plan->grids);
	free(plan->parameters);
	json_decref(plan->parameter_index);
}

void
gp_package_finish(struct gpuplan_package *package)
{
	for (uint32_t i = 0; i < package->n_files; i++)
		gp_safetensors_finish(&package->files[i]);
	for (uint32_t i = 0; i < package->n_plans; i++)
		finish_plan(&package->plans[i]);
	json_decref(package->allocation_index);
	json_decref(package->kernel_index);
	json_decref(package->plan_index);
	json_decref(package->json);
	free(package->path);
	free(package->weights);
	free(package->files);
	free(package->allocations);
	free(package->kernels);
	free(package->plans);
	free(package->regions);
	free(package->handles);
}
