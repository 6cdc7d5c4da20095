/* SPDX-License-Identifier: MIT */
/*
 * The two parsers of a model package on any bytes: text that starts with '{' or '[' is a package.json, everything
 * else a safetensors file. What they accept is then used the way the library uses it.
 *
 * ./fuzz_package [-runs=N] [-seed=S] [FILE...] runs each file as it is, then N random mutations of them, the same
 * ones for the same seed. Without files: those of corpus/package, from the root of the tree.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined -DGPUPLAN_LIBFUZZER ...; ./fuzz_package corpus/package
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Keeps reads that have no other effect. */
static volatile uint64_t sink;

static void
need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_package: %s does not hold\n", what);
	abort();
}

static void
check_region(const struct gpuplan_package *package, const struct gpuplan_region *region)
{
	need(region->allocation < package->n_allocations, "region.allocation < n_allocations");
	need(region->offset + region->bytes <= package->allocations[region->allocation].bytes, "region inside allocation");
}

static void
check_dispatch(const struct gpuplan_package *package, const struct gp_package_plan *plan,
	       const struct gpuplan_dispatch *d)
{
	need(d->kernel.index < package->n_kernels, "kernel < n_kernels");
	need(d->bindings + d->n_bindings <= plan->bindings + plan->n_bindings, "bindings inside the plan's");
	need(d->args + d->n_args <= plan->args + plan->n_args, "args inside the plan's");
	for (uint32_t i = 0; i < d->n_bindings; i++)
		check_region(package, &d->bindings[i].region);
	for (uint32_t i = 0; i < d->n_args; i++)
		if (d->args[i].kind == GPUPLAN_ARG_BINDING)
			need(d->args[i].binding < d->n_bindings, "argument's binding < n_bindings");
		else if (d->args[i].kind == GPUPLAN_ARG_PARAM)
			need(d->args[i].binding < plan->n_parameters, "argument's parameter < n_parameters");
	for (uint32_t i = 0; i < 3; i++)
		need(d->groups_param[i] <= plan->n_parameters && !(d->groups_param[i] && d->groups[i]), "grid's parameter");
	if (!d->groups_from)
		return;
	need(d->groups_from >= plan->grids && d->groups_from < plan->grids + plan->n_grids, "grid inside the plan's");
	check_region(package, d->groups_from);
}

static void
check_parameters(const struct gp_package_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_parameters; i++) {
		const struct gpuplan_parameter *p = &plan->parameters[i];

		need(p->name[0] && p->bytes >= 1 && p->bytes <= 8, "a parameter's size");
		need(p->min <= p->initial && p->initial <= p->max && p->max <= UINT64_MAX >> (64 - 8 * p->bytes),
		     "a parameter's range");
	}
}

static void
check_plan(const struct gpuplan_package *package, const struct gp_package_plan *plan)
{
	check_parameters(plan);
	for (uint32_t i = 0; i < plan->n_inputs; i++)
		check_region(package, &plan->inputs[i].region);
	for (uint32_t i = 0; i < plan->n_outputs; i++)
		check_region(package, &plan->outputs[i].region);
	for (uint32_t i = 0; i < plan->n_commands; i++) {
		const struct gpuplan_command *c = &plan->commands[i];

		if (c->kind == GPUPLAN_FILL) {
			check_region(package, &c->u.fill.dst);
			need(c->u.fill.value_param <= plan->n_parameters, "fill's parameter <= n_parameters");
		} else if (c->kind == GPUPLAN_COPY)
			check_region(package, &c->u.copy.src);
		else
			check_dispatch(package, plan, &c->u.dispatch);
	}
}

static void
try_package(const uint8_t *data, size_t bytes)
{
	struct gpuplan_package package = { 0 };
	struct gpuplan_error error = { 0 };
	int r = gp_package_parse(&package, "package.json", (const char *)data, bytes, &error);

	need(r == error.code && (r == 0) == (error.message[0] == '\0'), "one sentence for each refusal");
	for (uint32_t i = 0; r == 0 && i < package.n_plans; i++)
		check_plan(&package, &package.plans[i]);
	gp_package_finish(&package);
}

static void
try_safetensors(const uint8_t *data, size_t bytes)
{
	struct gpuplan_error error = { 0 };
	struct gp_safetensors file;
	struct gp_tensor tensor;
	const char *name;
	json_t *value;
	int r = gp_safetensors_parse(&file, "w.safetensors", data, bytes, &error);

	need(r == error.code && (r == 0) == (error.message[0] == '\0'), "one sentence for each refusal");
	if (r)
		return;
	json_object_foreach(file.header, name, value)
		if (gp_safetensors_find(&file, name, &tensor))
			for (uint64_t i = 0; i < tensor.bytes; i++)
				sink += ((const uint8_t *)tensor.data)[i];
	gp_safetensors_finish(&file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	/* A copy of exactly that size, so that AddressSanitizer sees reads past the end. */
	uint8_t *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	if (bytes && (copy[0] == '{' || copy[0] == '['))
		try_package(copy, bytes);
	else
		try_safetensors(copy, bytes);
	free(copy);
	return 0;
}

#ifndef GPUPLAN_LIBFUZZER

static uint64_t random_state = 1;

/* xorshift64*: the mutations need no better, only the same everywhere. */
static uint64_t
random_below(uint64_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * UINT64_C(2685821657736338717) >> 16) % n;
}

static const char *const words[] = {
	"\"",  "{",	 "}",	 "[",	  "]",		",",	  ":",		       "-1",		"0",
	"1e9", "1.5",	 "null", "true", "\"param\"", "\"f32\"", "9223372036854775807", "4294967296", "\\u0000",
};

/* One random edit of *data; there is room for 32 bytes more. */
static size_t
mutate(uint8_t *data, size_t bytes)
{
	size_t at = random_below(bytes + 1), n = random_below(16) + 1;
	const char *word = words[random_below(sizeof(words) / sizeof(words[0]))];

	switch (random_below(5)) {
	case 0: /* flip a bit */
		if (at < bytes)
			data[at] ^= (uint8_t)(1 << random_below(8));
		return bytes;
	case 1: /* drop some bytes */
		n = n < bytes - at ? n : bytes - at;
		memmove(data + at, data + at + n, bytes - at - n);
		return bytes - n;
	case 2: /* insert a word */
		n = strlen(word);
		memmove(data + at + n, data + at, bytes - at);
		memcpy(data + at, word, n);
		return bytes + n;
	case 3: /* repeat what stands elsewhere */
		n = n < bytes - at ? n : bytes - at;
		memmove(data + random_below(bytes - n + 1), data + at, n);
		return bytes;
	default: /* cut off */
		return random_below(8) ? bytes : at;
	}
}

struct seed {
	uint8_t *data;
	size_t bytes;
};

static struct seed
read_seed(const char *path)
{
	struct seed seed = { NULL, 0 };
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) != 0) {
		perror(path);
		exit(2);
	}
	seed.bytes = (size_t)ftell(file);
	rewind(file);
	seed.data = malloc(seed.bytes + 1);
	if (!seed.data || fread(seed.data, 1, seed.bytes, file) != seed.bytes) {
		perror(path);
		exit(2);
	}
	fclose(file);
	return seed;
}

static void
run_mutation(const struct seed *seed)
{
	uint64_t n = random_below(6) + 1;
	size_t bytes = seed->bytes;
	uint8_t *data = malloc(bytes + 32 * n + 1);

	if (!data)
		return;
	memcpy(data, seed->data, bytes);
	while (n-- > 0 && bytes > 0)
		bytes = mutate(data, bytes);
	LLVMFuzzerTestOneInput(data, bytes);
	free(data);
}

static const char *const default_files[] = {
	"tests/fuzz/corpus/package/small.json",
	"tests/fuzz/corpus/package/small.safetensors",
};

static void
run_all(const struct seed *seeds, size_t n, unsigned long runs)
{
	for (size_t i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].bytes);
	for (unsigned long i = 0; i < runs; i++)
		run_mutation(&seeds[random_below(n)]);
	printf("%zu files and %lu mutations\n", n, runs);
}

int
main(int argc, char **argv)
{
	size_t n = 0, n_default = sizeof(default_files) / sizeof(default_files[0]);
	struct seed *seeds = calloc((size_t)argc + n_default, sizeof(*seeds));
	unsigned long runs = 20000;

	if (!seeds)
		return 2;
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-runs=", 6) == 0)
			runs = strtoul(argv[i] + 6, NULL, 10);
		else if (strncmp(argv[i], "-seed=", 6) == 0)
			random_state = strtoul(argv[i] + 6, NULL, 10) | 1;
		else
			seeds[n++] = read_seed(argv[i]);
	if (n == 0)
		while (n < n_default) {
			seeds[n] = read_seed(default_files[n]);
			n++;
		}
	run_all(seeds, n, runs);
	while (n > 0)
		free(seeds[--n].data);
	free(seeds);
	return 0;
}

#endif
