/* SPDX-License-Identifier: MIT */
/* package.c: model package on disk -> session and plans, through the public API alone. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "package.h"
#include "params.h"

/* A command list of 100,000 dispatches is some 60 MB of JSON; more than this is a mistake. */
#define MAX_JSON_BYTES (256u << 20)

/* ---- reading ---- */

/* The first `bytes` bytes of prefix, then name. */
static char *
concat(const char *prefix, size_t bytes, const char *name)
{
	char *path = malloc(bytes + strlen(name) + 1);

	if (path) {
		memcpy(path, prefix, bytes);
		strcpy(path + bytes, name);
	}
	return path;
}

/* Path of a file in the folder of another one. */
static char *
beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return concat(path, slash ? (size_t)(slash - path) + 1 : 0, name);
}

/* The JSON file itself, when path is the folder that holds it. */
static char *
json_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return concat(path, strlen(path), "/package.json");
	return strdup(path);
}

static int
read_all(int fd, char *text, size_t *bytes)
{
	size_t at = 0;

	while (at < *bytes) {
		ssize_t n = read(fd, text + at, *bytes - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break; /* it became shorter meanwhile */
		at += n > 0 ? (size_t)n : 0;
	}
	*bytes = at;
	return 0;
}

static int
read_file(const char *path, char **text, size_t *bytes, struct gpuplan_error *error)
{
	struct stat st;
	int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */

	*text = NULL;
	if (fd < 0 || fstat(fd, &st) != 0) {
		r = gp_error(error, -errno, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		r = gp_error(error, -EINVAL, "%s: is not a regular file, package.json is", path);
	} else if (st.st_size > MAX_JSON_BYTES) {
		r = gp_error(error, -EINVAL, "%s: has %jd bytes, at most %u are read", path, (intmax_t)st.st_size,
			     MAX_JSON_BYTES);
	} else {
		*bytes = (size_t)st.st_size;
		*text = malloc(*bytes + 1);
		r = *text ? read_all(fd, *text, bytes) : -ENOMEM;
		if (r)
			gp_error(error, r, "%s: reading %jd bytes: %s", path, (intmax_t)st.st_size, strerror(-r));
	}
	if (fd >= 0)
		close(fd);
	if (r) {
		free(*text);
		*text = NULL;
	}
	return r;
}

static int
open_weights(struct gpuplan_package *package, struct gpuplan_error *error)
{
	package->files = calloc(package->n_weights + 1, sizeof(*package->files));
	if (!package->files)
		return gp_error(error, -ENOMEM, "%s: no memory for %u weight files", package->path, package->n_weights);
	for (uint32_t i = 0; i < package->n_weights; i++) {
		char *path = beside(package->path, package->weights[i]);
		int r = path ? gp_safetensors_open(&package->files[i], path, error) :
			       gp_error(error, -ENOMEM, "%s: no memory for a path", package->weights[i]);

		free(path);
		if (r)
			return r;
		package->n_files++;
	}
	return 0;
}

static const struct gp_safetensors *
find_tensor(const struct gpuplan_package *package, const char *name, struct gp_tensor *tensor)
{
	for (uint32_t i = 0; i < package->n_files; i++)
		if (gp_safetensors_find(&package->files[i], name, tensor))
			return &package->files[i];
	return NULL;
}

struct shape_text {
	char s[GPUPLAN_MAX_RANK * 22 + 3]; /* 20 digits, ", " each, and brackets */
};

static struct shape_text
shape_text(const uint64_t *shape, uint32_t rank)
{
	struct shape_text text = { "[" };
	size_t at = 1;

	for (uint32_t i = 0; i < rank; i++)
		at += (size_t)sprintf(text.s + at, "%s%" PRIu64, i ? ", " : "", shape[i]);
	strcpy(text.s + at, "]");
	return text;
}

static int
match_tensor(const struct gpuplan_package *package, struct gp_package_allocation *a, struct gpuplan_error *error)
{
	struct gp_tensor tensor = { 0 };
	const struct gp_safetensors *file = find_tensor(package, a->tensor, &tensor);

	if (!file)
		return gp_error(error, -ENOENT, "%s: weight \"%.64s\" is tensor \"%.64s\", none of the %u weight files has it",
				package->path, a->name, a->tensor, package->n_weights);
	if (a->bytes != tensor.bytes)
		return gp_error(error, -EINVAL,
				"%s: weight \"%.64s\" has %" PRIu64 " bytes, tensor \"%.64s\" in %s has %" PRIu64,
				package->path, a->name, a->bytes, a->tensor, file->name, tensor.bytes);
	if (a->dtype && a->dtype != tensor.dtype)
		return gp_error(error, -EINVAL, "%s: weight \"%.64s\" has type %s, tensor \"%.64s\" in %s has %s",
				package->path, a->name, a->dtype_name, a->tensor, file->name, tensor.dtype_name);
	if (a->dtype && (a->rank != tensor.rank || memcmp(a->shape, tensor.shape, sizeof(a->shape)) != 0))
		return gp_error(error, -EINVAL, "%s: weight \"%.64s\" has shape %s, tensor \"%.64s\" in %s has %s",
				package->path, a->name, shape_text(a->shape, a->rank).s, a->tensor, file->name,
				shape_text(tensor.shape, tensor.rank).s);
	a->data = tensor.data;
	return 0;
}

static int
match_tensors(struct gpuplan_package *package, struct gpuplan_error *error)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < package->n_allocations; i++)
		if (package->allocations[i].use == GPUPLAN_WEIGHT)
			r = match_tensor(package, &package->allocations[i], error);
	return r;
}

int
gpuplan_package_open(const char *path, struct gpuplan_package **out, struct gpuplan_error *error)
{
	struct gpuplan_package *package;
	size_t bytes = 0;
	char *text = NULL;
	int r;

	if (!path || !out)
		return gp_error(error, -EINVAL, "gpuplan_package_open: path and package must not be NULL");
	package = calloc(1, sizeof(*package));
	if (package)
		package->path = json_path(path);
	if (!package || !package->path)
		r = gp_error(error, -ENOMEM, "%s: no memory for a package", path);
	else if (!(r = read_file(package->path, &text, &bytes, error)) &&
		 !(r = gp_package_parse(package, package->path, text, bytes, error)) &&
		 !(r = open_weights(package, error)))
		r = match_tensors(package, error);
	free(text);
	if (r)
		gpuplan_package_close(package);
	else
		*out = package;
	return r;
}

void
gpuplan_package_close(struct gpuplan_package *package)
{
	if (!package)
		return;
	gp_package_finish(package);
	free(package);
}

uint32_t
gpuplan_package_plans(const struct gpuplan_package *package)
{
	return package->n_plans;
}

const char *
gpuplan_package_plan_name(const struct gpuplan_package *package, uint32_t i)
{
	return i < package->n_plans ? package->plans[i].name : NULL;
}

/* ---- loading into a session ---- */

static int
load_allocations(const struct gpuplan_package *package, struct gpuplan_session *session, struct gpuplan_region *regions,
		 struct gpuplan_error *error)
{
	for (uint32_t i = 0; i < package->n_allocations; i++) {
		const struct gp_package_allocation *a = &package->allocations[i];
		struct gpuplan_alloc_params params = {
			.size = sizeof(params), .use = a->use, .placement = a->placement, .bytes = a->bytes, .name = a->name
		};
		int r = gpuplan_session_alloc(session, &params, &regions[i], error);

		if (!r && a->data)
			r = gpuplan_session_upload(session, regions[i], a->data, error);
		if (r)
			return r;
	}
	return 0;
}

struct code_source {
	const char *target;
	gpuplan_find_code_fn *find;
	void *arg;
	json_t *loaded; /* stem -> code number: several kernels share one object */
};

static int
load_code(struct code_source *source, struct gpuplan_session *session, const char *stem, uint32_t *code,
	  struct gpuplan_error *error)
{
	const json_t *number = json_object_get(source->loaded, stem);
	const void *elf = NULL;
	size_t bytes = 0;
	int r;

	if (number) {
		*code = (uint32_t)json_integer_value(number);
		return 0;
	}
	r = source->find(source->arg, source->target, stem, &elf, &bytes);
	if (r)
		return gp_error(error, r, "code object \"%.64s\" for target %s: %s", stem, source->target, strerror(-r));
	r = gpuplan_session_load(session, elf, bytes, stem, code, error);
	if (!r && json_object_set_new(source->loaded, stem, json_integer(*code)) != 0)
		r = gp_error(error, -ENOMEM, "code object \"%.64s\": no memory to note it", stem);
	return r;
}

static int
load_kernels(const struct gpuplan_package *package, struct gpuplan_session *session, struct code_source *source,
	     struct gpuplan_kernel *handles, struct gpuplan_error *error)
{
	for (uint32_t i = 0; i < package->n_kernels; i++) {
		const struct gp_package_kernel *kernel = &package->kernels[i];
		uint32_t code = 0;
		int r = load_code(source, session, kernel->object, &code, error);

		if (!r)
			r = gpuplan_session_kernel(session, code, kernel->symbol, &handles[i], error);
		if (r)
			return r;
	}
	return 0;
}

int
gpuplan_package_load(struct gpuplan_package *package, struct gpuplan_session *session, const char *target,
		     gpuplan_find_code_fn *find_code, void *arg, struct gpuplan_error *error)
{
	struct code_source source = { target, find_code, arg, NULL };
	struct gpuplan_kernel *handles;
	struct gpuplan_region *regions;
	int r;

	if (!package || !session || !target || !find_code)
		return gp_error(error, -EINVAL,
				"gpuplan_package_load: package, session, target and find_code must not be NULL");
	source.loaded = json_object();
	regions = calloc(package->n_allocations + 1, sizeof(*regions));
	handles = calloc(package->n_kernels + 1, sizeof(*handles));
	if (!source.loaded || !regions || !handles)
		r = gp_error(error, -ENOMEM, "%s: no memory for %u allocations and %u kernels", package->path,
			     package->n_allocations, package->n_kernels);
	else if (!(r = load_allocations(package, session, regions, error)))
		r = load_kernels(package, session, &source, handles, error);
	json_decref(source.loaded);
	if (!r) {
		struct gpuplan_region *old_regions = package->regions;
		struct gpuplan_kernel *old_handles = package->handles;

		package->regions = regions;
		package->handles = handles;
		regions = old_regions;
		handles = old_handles;
	}
	free(regions);
	free(handles);
	return r;
}

/* ---- plans ---- */

static struct gpuplan_region
bind(const struct gpuplan_package *package, struct gpuplan_region region)
{
	return gpuplan_slice(package->regions[region.allocation], region.offset, region.bytes);
}

static void
bind_ios(const struct gpuplan_package *package, struct gpuplan_io *ios, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ios[i].region = bind(package, ios[i].region);
}

static void
bind_command(const struct gpuplan_package *package, const struct gp_package_plan *from, const struct gp_package_plan *to,
	     struct gpuplan_command *command)
{
	if (command->kind == GPUPLAN_FILL) {
		command->u.fill.dst = bind(package, command->u.fill.dst);
	} else if (command->kind == GPUPLAN_COPY) {
		command->u.copy.dst = bind(package, command->u.copy.dst);
		command->u.copy.src = bind(package, command->u.copy.src);
	} else {
		struct gpuplan_dispatch *d = &command->u.dispatch;

		d->kernel = package->handles[d->kernel.index];
		d->bindings = to->bindings + (d->bindings - from->bindings);
		if (d->groups_from)
			d->groups_from = to->grids + (d->groups_from - from->grids);
	}
}

static void *
copy_list(const void *list, uint32_t n, size_t element_bytes)
{
	void *copy = malloc(((size_t)n + 1) * element_bytes);

	if (copy)
		memcpy(copy, list, n * element_bytes);
	return copy;
}

static void
free_bound(struct gp_package_plan *plan)
{
	free(plan->inputs);
	free(plan->outputs);
	free(plan->commands);
	free(plan->bindings);
	free(plan->grids);
}

/* A copy of the plan whose regions and kernels are those of the loaded session. Names, args and parameters stay the
 * package's. */
static int
bind_plan(const struct gpuplan_package *package, const struct gp_package_plan *plan, struct gp_package_plan *bound)
{
	*bound = *plan;
	bound->inputs = copy_list(plan->inputs, plan->n_inputs, sizeof(*plan->inputs));
	bound->outputs = copy_list(plan->outputs, plan->n_outputs, sizeof(*plan->outputs));
	bound->commands = copy_list(plan->commands, plan->n_commands, sizeof(*plan->commands));
	bound->bindings = copy_list(plan->bindings, plan->n_bindings, sizeof(*plan->bindings));
	bound->grids = copy_list(plan->grids, plan->n_grids, sizeof(*plan->grids));
	if (!bound->inputs || !bound->outputs || !bound->commands || !bound->bindings || !bound->grids) {
		free_bound(bound);
		return -ENOMEM;
	}
	bind_ios(package, bound->inputs, bound->n_inputs);
	bind_ios(package, bound->outputs, bound->n_outputs);
	for (uint32_t i = 0; i < bound->n_bindings; i++)
		bound->bindings[i].region = bind(package, bound->bindings[i].region);
	for (uint32_t i = 0; i < bound->n_grids; i++)
		bound->grids[i] = bind(package, bound->grids[i]);
	for (uint32_t i = 0; i < bound->n_commands; i++)
		bind_command(package, plan, bound, &bound->commands[i]);
	return 0;
}

static int
find_plan(const struct gpuplan_package *package, const char *name, const struct gp_package_plan **plan,
	  struct gpuplan_error *error)
{
	const json_t *number = json_object_get(package->plan_index, name);
	char list[256] = "";

	if (number) {
		*plan = &package->plans[json_integer_value(number)];
		return 0;
	}
	for (uint32_t i = 0; i < package->n_plans; i++) {
		size_t at = strlen(list);

		snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", package->plans[i].name);
	}
	return gp_error(error, -ENOENT, "%s: has no plan \"%.64s\", it has %s", package->path, name, *list ? list : "none");
}

int
gpuplan_package_plan(struct gpuplan_package *package, struct gpuplan_definition *definition, const char *name,
		     const struct gpuplan_plan_params *params, struct gpuplan_plan **out, struct gpuplan_error *error)
{
	struct gpuplan_plan_params full = { 0 };
	const struct gp_package_plan *plan = NULL;
	struct gp_package_plan bound;
	int r;

	if (!package || !definition || !name || !out)
		return gp_error(error, -EINVAL, "gpuplan_package_plan: package, definition, name and plan must not be NULL");
	r = gp_params_copy(&full, sizeof(full), params, "plan", error);
	if (r)
		return r;
	if (!package->regions)
		return gp_error(error, -EINVAL, "%s: plan \"%.64s\" needs gpuplan_package_load first", package->path, name);
	r = find_plan(package, name, &plan, error);
	if (r)
		return r;
	r = bind_plan(package, plan, &bound);
	if (r)
		return gp_error(error, r, "%s: no memory for plan \"%.64s\"", package->path, name);
	full.size = sizeof(full);
	full.commands = bound.commands;
	full.inputs = bound.inputs;
	full.outputs = bound.outputs;
	full.n_commands = bound.n_commands;
	full.n_inputs = bound.n_inputs;
	full.n_outputs = bound.n_outputs;
	full.parameters = bound.parameters;
	full.n_parameters = bound.n_parameters;
	if (!full.name)
		full.name = plan->name;
	r = gpuplan_plan_create(definition, &full, out, error);
	free_bound(&bound);
	return r;
}
