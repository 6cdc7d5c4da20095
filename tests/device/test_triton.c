/* SPDX-License-Identifier: MIT */
/* Promise: kernels of a compiler we had no hand in run unchanged: Triton's, with their arguments by metadata, dynamic
 * LDS from the launcher, and NumPy's answers. */
#include <jansson.h>
#include <math.h>

#include "device/package_test.h"

#define FOLDER "tests/data/triton/"
#define MAX_ARGS 12
#define RUNTIME_POINTERS 2 /* at the end of each kernel's arguments: scratch of Triton's runtime */

struct launch {
	struct gpuplan_context *context;
	struct gpuplan_arg args[MAX_ARGS];
	struct gpuplan_binding bindings[MAX_ARGS];
	struct gpuplan_io io[MAX_ARGS]; /* one for each binding */
	size_t offset[MAX_ARGS];	/* of inputs, in data.bin; SIZE_MAX: output */
	unsigned n_args, n_bindings;
};

static uint8_t *data;
static size_t data_bytes;

static void *
read_all(const char *name, size_t *bytes)
{
	char path[256];
	FILE *f;
	void *memory;

	snprintf(path, sizeof(path), FOLDER "%s", name);
	f = fopen(path, "rb");
	if (!f) {
		printf("skipped: %s: %s (run from the root of the tree)\n", path, strerror(errno));
		exit(DT_SKIP);
	}
	fseek(f, 0, SEEK_END);
	*bytes = (size_t)ftell(f);
	rewind(f);
	memory = malloc(*bytes);
	assert_int_equal(fread(memory, 1, *bytes, f), *bytes);
	fclose(f);
	return memory;
}

static uint32_t
number(json_t *object, const char *name)
{
	return (uint32_t)json_integer_value(json_object_get(object, name));
}

static void
add_buffer(struct launch *l, struct gpuplan_session *session, json_t *arg, bool output)
{
	uint32_t bytes = number(arg, "bytes"), i = l->n_bindings++;

	l->offset[i] = output ? SIZE_MAX : number(arg, "offset");
	l->bindings[i].region = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, bytes, output ? "out" : "in");
	l->bindings[i].access = output ? GPUPLAN_WRITE : GPUPLAN_READ;
	l->io[i] = (struct gpuplan_io){
		.region = l->bindings[i].region, .dtype = GPUPLAN_U8, .rank = 1, .shape = { bytes }
	};
	l->args[l->n_args++] = gpuplan_arg_binding(i);
}

static void
add_args(struct launch *l, struct gpuplan_session *session, json_t *args)
{
	size_t i;
	json_t *arg;

	json_array_foreach(args, i, arg) {
		const char *kind = json_string_value(json_object_get(arg, "kind"));
		json_t *value = json_object_get(arg, "value");

		assert_true(l->n_args < MAX_ARGS - RUNTIME_POINTERS);
		if (!strcmp(kind, "buf") || !strcmp(kind, "out"))
			add_buffer(l, session, arg, kind[0] == 'o');
		else if (!strcmp(kind, "i32"))
			l->args[l->n_args++] = gpuplan_arg_i32((int32_t)json_integer_value(value));
		else if (!strcmp(kind, "f32"))
			l->args[l->n_args++] = gpuplan_arg_f32((float)json_number_value(value));
		else
			fail();
	}
	for (i = 0; i < RUNTIME_POINTERS; i++)
		l->args[l->n_args++] = gpuplan_arg_null();
}

static struct gpuplan_command
make_command(struct launch *l, struct gpuplan_session *session, json_t *kernel)
{
	struct gpuplan_command command = { .kind = GPUPLAN_DISPATCH };
	struct gpuplan_dispatch *d = &command.u.dispatch;
	struct gpuplan_error error;
	uint32_t code;
	size_t bytes;
	void *elf = read_all(json_string_value(json_object_get(kernel, "file")), &bytes);

	dt_ok(gpuplan_session_load(session, elf, bytes, "triton", &code, &error), &error);
	dt_ok(gpuplan_session_kernel(session, code, json_string_value(json_object_get(kernel, "symbol")), &d->kernel,
				     &error),
	      &error);
	free(elf);
	for (unsigned i = 0; i < 3; i++) {
		d->groups[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(kernel, "grid"), i));
		d->block[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(kernel, "block"), i));
	}
	d->dynamic_lds = number(kernel, "shared");
	d->bindings = l->bindings;
	d->n_bindings = l->n_bindings;
	d->args = l->args;
	d->n_args = l->n_args;
	return command;
}

static void
compare(const struct gpuplan_slot *slot, json_t *expect, double tolerance, unsigned output)
{
	const float *wanted = (const void *)(data + number(expect, "offset"));
	const float *got;
	double largest = 0, worst = 0;
	size_t bytes;

	got = gpuplan_slot_output((struct gpuplan_slot *)slot, output, &bytes);
	assert_int_equal(bytes, number(expect, "bytes"));
	for (size_t i = 0; i < bytes / 4; i++) {
		largest = fmax(largest, fabs((double)wanted[i]));
		worst = fmax(worst, fabs((double)got[i] - (double)wanted[i]));
		assert_false(isnan(got[i]));
	}
	print_message("  largest difference %.2e of %.2e allowed\n", worst, tolerance * largest);
	assert_true(worst <= tolerance * largest);
}

static void
run_kernel(struct gpuplan_context *context, json_t *kernel, json_t *test)
{
	struct gpuplan_session *session = dt_session(context);
	struct launch l = { .context = context };
	struct gpuplan_plan_params params;
	struct gpuplan_io inputs[MAX_ARGS], output;
	struct gpuplan_definition *definition;
	struct gpuplan_command command;
	struct gpuplan_queue *queue;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	struct gpuplan_error error;
	unsigned n = 0;

	add_args(&l, session, json_object_get(test, "args"));
	command = make_command(&l, session, kernel);
	definition = dt_freeze(session);
	for (unsigned i = 0; i < l.n_bindings; i++) {
		if (l.offset[i] == SIZE_MAX)
			output = l.io[i];
		else
			inputs[n++] = l.io[i];
	}
	params = dt_plan_params(1, &command, 1);
	params.inputs = inputs;
	params.n_inputs = n;
	params.outputs = &output;
	params.n_outputs = 1;
	dt_ok(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	queue = dt_queue(context);
	assert_int_equal(gpuplan_plan_acquire(plan, &slot), 0);
	n = 0;
	for (unsigned i = 0; i < l.n_bindings; i++)
		if (l.offset[i] != SIZE_MAX) {
			size_t bytes;
			void *in = gpuplan_slot_input(slot, n++, &bytes);

			assert_true(l.offset[i] + bytes <= data_bytes);
			memcpy(in, data + l.offset[i], bytes);
		}
	dt_run_slot(slot, queue);
	compare(slot, json_array_get(json_object_get(test, "expect"), 0),
		json_number_value(json_object_get(test, "tol")), 0);
	gpuplan_slot_release(slot);
	gpuplan_queue_destroy(queue);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	dt_check_ledger_zero(context);
}

static void
every_kernel_for_this_target(void **state)
{
	struct gpuplan_context *context = dt_context();
	json_t *root = json_load_file(FOLDER "manifest.json", 0, NULL), *kernel;
	struct gpuplan_context_info info;
	unsigned n = 0;
	size_t i;

	(void)state;
	assert_non_null(root);
	gpuplan_context_get_info(context, &info);
	json_array_foreach(json_object_get(root, "kernels"), i, kernel) {
		const char *name = json_string_value(json_object_get(kernel, "case"));

		if (strcmp(json_string_value(json_object_get(kernel, "arch")), info.target))
			continue;
		print_message("%s for %s\n", name, info.target);
		run_kernel(context, kernel, json_object_get(json_object_get(root, "cases"), name));
		n++;
	}
	if (!n)
		print_message("no kernels for %s\n", info.target);
	json_decref(root);
	gpuplan_context_destroy(context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_for_this_target),
	};
	int r;

	data = read_all("data.bin", &data_bytes);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(data);
	return r;
}
