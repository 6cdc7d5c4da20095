/* SPDX-License-Identifier: MIT */
/*
 * gpuplan_image_check and gpuplan_plan_load on any bytes: what the first accepts, the whole of gpuplan-dump must be able
 * to follow; what the second accepts, it makes again to the byte;
 * what it refuses, it refuses with a sentence. Reads outside of the bytes end in a guard page, or in
 * AddressSanitizer.
 *
 * ./fuzz_image [-runs=N] [-seed=S] [FILE...] takes the files, or without any, images that it compiles itself, offline:
 * one of every kind of command, for two targets, and the speech model's. Of the first of them every dword is set to
 * every value of a list in turn and every length is tried; then come N random mutations of all, the same ones for the
 * same seed.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address,undefined -DGPUPLAN_LIBFUZZER ...
 */
#include <sys/mman.h>

#include "device/package_test.h"

/* The tool is not a library: its reader is part of this program. */
#include "../../tools/gpuplan-dump/diff.c"
#include "../../tools/gpuplan-dump/image.c"
#include "../../tools/gpuplan-dump/lines.c"
#include "../../tools/gpuplan-dump/pm4_text.c"
#include "../../tools/gpuplan-dump/stream.c"
#include "../../tools/gpuplan-dump/view.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define HANG_SECONDS 120

static unsigned long accepted, refused;

_Noreturn void
tool_die(const char *format, ...)
{
	fprintf(stderr, "fuzz_image: the dump gave up: %s\n", format);
	abort();
}

static void
need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_image: %s does not hold\n", what);
	abort();
}

/* ---- bytes with nothing behind them ---- */

#if defined(__SANITIZE_ADDRESS__)
static void *
place(const uint8_t *data, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	need(copy, "memory");
	memcpy(copy, data, bytes);
	return copy;
}

static void
unplace(void *copy)
{
	free(copy);
}
#else
#define ROOM (4u << 20)

/* Right before a page that cannot be read; aligned like malloc's memory, so up to 7 bytes before it. */
static void *
place(const uint8_t *data, size_t bytes)
{
	static uint8_t *room;
	uint8_t *copy;

	if (!room) {
		room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		need(room != MAP_FAILED && !mprotect(room + ROOM, 4096, PROT_NONE), "a guard page");
	}
	need(bytes <= ROOM, "bytes <= ROOM");
	copy = room + ROOM - (bytes + 7) / 8 * 8;
	return memcpy(copy, data, bytes);
}

static void
unplace(void *copy)
{
	(void)copy;
}
#endif

/* ---- a definition that some of the images are for ---- */

static void
must(int r, const struct gpuplan_error *error)
{
	if (!r)
		return;
	fprintf(stderr, "fuzz_image: %s\n", error->message);
	exit(2);
}

#define BYTES 1024u

/* The regions of the small plan. */
struct small {
	struct gpuplan_region weight, in, out, tmp, state;
	struct gpuplan_kernel fill;
};

static struct gpuplan_definition *
declare_small(struct gpuplan_context *context, struct small *s)
{
	struct gpuplan_session *session = dt_session(context);

	s->weight = dt_weight(session, BYTES, "weight");
	s->in = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "in");
	s->out = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_HOST, BYTES, "out");
	s->tmp = dt_alloc(session, GPUPLAN_SCRATCH, GPUPLAN_DEVICE, BYTES, "tmp");
	s->state = dt_alloc(session, GPUPLAN_STATE, GPUPLAN_DEVICE, BYTES, "state");
	s->fill = dt_kernel(context, session, "fill", "fill");
	return dt_freeze(session);
}

static unsigned long loaded;

/* What is loaded makes the same image again. */
static void
load(const void *image, size_t bytes)
{
	static struct gpuplan_definition *definition;
	static struct small small;
	struct gpuplan_plan_params params = dt_plan_params(1, NULL, 0);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	const void *again;
	size_t n;

	if (!definition)
		definition = declare_small(dt_offline("gfx1100"), &small);
	memset(&error, 'x', sizeof(error));
	if (gpuplan_plan_load(definition, image, bytes, &params, &plan, &error)) {
		need(memchr(error.message, 0, sizeof(error.message)) && strlen(error.message) > 10, "a sentence of load");
		return;
	}
	again = gpuplan_plan_image(plan, &n);
	need(n == bytes && !memcmp(again, image, n), "the image of what was loaded");
	gpuplan_plan_destroy(plan);
	loaded++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct plan_image_header *copy = place(data, bytes);
	struct gpuplan_error error;
	struct view v;

	/* Else the checksum would refuse every mutation. */
	if (bytes >= sizeof(*copy))
		copy->checksum = plan_image_checksum(copy, bytes);
	memset(&error, 'x', sizeof(error));
	if (!gpuplan_image_check(copy, bytes, &error)) {
		view_open(&v, copy);
		dump_image(&v, 3);
		need(dump_diff(&v, &v) == 0, "no difference from itself");
		load(copy, bytes);
		accepted++;
	} else {
		need(memchr(error.message, 0, sizeof(error.message)) && strlen(error.message) > 10 &&
		     !strchr(error.message, '\n'), "a sentence");
		refused++;
	}
	unplace(copy);
	return 0;
}

#ifndef GPUPLAN_LIBFUZZER

/* ---- seeds: images compiled offline ---- */

struct seed {
	uint8_t *data;
	size_t bytes;
};

static struct seed
seed_of(const struct gpuplan_plan *plan)
{
	struct seed seed;
	const void *image = gpuplan_plan_image(plan, &seed.bytes);

	seed.data = malloc(seed.bytes);
	need(seed.data, "memory");
	memcpy(seed.data, image, seed.bytes);
	return seed;
}

/* A fill, copies, dispatches, one of them indirect; staging, state, barriers, and a parameter of each kind of place. */
static struct seed
small_image(const char *target)
{
	struct gpuplan_context *context = dt_offline(target);
	struct small s;
	struct gpuplan_definition *definition = declare_small(context, &s);
	struct gpuplan_binding binding = { .region = s.tmp, .access = GPUPLAN_WRITE };
	struct gpuplan_arg args[] = { gpuplan_arg_binding(0), gpuplan_arg_param(0), gpuplan_arg_u32(BYTES / 4) };
	struct gpuplan_parameter parameters[] = {
		{ .name = "value", .bytes = 4, .initial = 7, .max = UINT32_MAX },
		{ .name = "groups", .bytes = 1, .initial = 1, .min = 1, .max = 200 },
	};
	struct gpuplan_region counts = gpuplan_slice(s.state, 16, 12);
	struct gpuplan_command commands[] = {
		dt_fill(s.state, 5),
		dt_copy(gpuplan_slice(s.out, 0, 64), gpuplan_slice(s.in, 0, 64)),
		{ .kind = GPUPLAN_DISPATCH, .label = "by kernel" },
		{ .kind = GPUPLAN_DISPATCH, .label = "indirect" },
		dt_copy(gpuplan_slice(s.out, 64, 64), gpuplan_slice(s.tmp, 0, 64)),
		dt_copy(gpuplan_slice(s.tmp, 0, 64), gpuplan_slice(s.weight, 0, 64)),
	};
	struct gpuplan_io in = { .region = s.in, .dtype = GPUPLAN_F32, .rank = 2, .shape = { 4, 16 }, .name = "in" };
	struct gpuplan_io out = { .region = s.out, .dtype = GPUPLAN_U8, .rank = 1, .shape = { 128 }, .name = "out" };
	struct gpuplan_plan_params params = dt_plan_params(1, commands, sizeof(commands) / sizeof(commands[0]));
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct seed seed;

	commands[2].u.dispatch = (struct gpuplan_dispatch){
		.kernel = s.fill,
		.groups = { 1, 0, 1 },
		.groups_param = { 0, 2, 0 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &binding,
		.n_args = 3,
		.args = args,
	};
	commands[3].u.dispatch = commands[2].u.dispatch;
	commands[3].u.dispatch.groups[1] = 1;
	commands[3].u.dispatch.groups_param[1] = 0;
	commands[3].u.dispatch.groups_from = &counts;
	commands[0].u.fill.value = 0;
	commands[0].u.fill.value_param = 1;
	params.parameters = parameters;
	params.n_parameters = 2;
	params.inputs = &in;
	params.outputs = &out;
	params.n_inputs = params.n_outputs = 1;
	must(gpuplan_plan_create(definition, &params, &plan, &error), &error);
	seed = seed_of(plan);
	gpuplan_plan_destroy(plan);
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	return seed;
}

static struct seed
speech_image(void)
{
	struct pt_model m = { .context = dt_offline("gfx1100") };
	struct gpuplan_session *session = dt_session(m.context);
	struct gpuplan_error error;
	struct gpuplan_plan *plan;
	struct seed seed;
	char path[4096];

	pt_share("models/silero-vad", path, sizeof(path));
	must(gpuplan_package_open(path, &m.package, &error), &error);
	must(gpuplan_package_load(m.package, session, "gfx1100", pt_find_code, &m, &error), &error);
	m.definition = dt_freeze(session);
	plan = pt_plan(&m, "b1-staged", 1, 0);
	seed = seed_of(plan);
	gpuplan_plan_destroy(plan);
	pt_close(&m);
	return seed;
}

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

/* ---- mutations ---- */

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

/* Around the limits of what the format means by its numbers. */
static const uint32_t values[] = {
	0,	    1,		2, 5, 8, 64, 0xff, 0x1000, 0x7fffffff, PLAN_STAGING, PLAN_STAGING | 1, PLAN_STAGING | 2,
	0xfffffff8, UINT32_MAX,
};
#define VALUES (sizeof(values) / sizeof(values[0]))

/* The image says its length: without this, cutting it tests one comparison only. */
static void
set_length(uint8_t *data, size_t bytes)
{
	uint32_t length = (uint32_t)bytes;

	if (bytes >= offsetof(struct plan_image_header, bytes) + sizeof(length))
		memcpy(data + offsetof(struct plan_image_header, bytes), &length, sizeof(length));
}

static void
sweep_values(const struct seed *seed)
{
	uint8_t *data = malloc(seed->bytes);

	need(data, "memory");
	memcpy(data, seed->data, seed->bytes);
	for (size_t at = 0; at + 4 <= seed->bytes; at += 4) {
		for (size_t i = 0; i < VALUES; i++) {
			memcpy(data + at, &values[i], 4);
			LLVMFuzzerTestOneInput(data, seed->bytes);
		}
		memcpy(data + at, seed->data + at, 4);
	}
	free(data);
}

static void
sweep_lengths(const struct seed *seed)
{
	uint8_t *data = malloc(seed->bytes);

	need(data, "memory");
	memcpy(data, seed->data, seed->bytes);
	for (size_t bytes = seed->bytes; bytes-- > 0;) {
		LLVMFuzzerTestOneInput(data, bytes);
		set_length(data, bytes);
		LLVMFuzzerTestOneInput(data, bytes);
	}
	free(data);
}

static size_t
mutate(uint8_t *data, size_t bytes)
{
	/* Half of them in the header: its sections say where everything is. */
	size_t limit =
	    random_below(2) && bytes > sizeof(struct plan_image_header) ? sizeof(struct plan_image_header) : bytes;
	size_t at = random_below(limit), word = at / 4 * 4, other = random_below(bytes) / 4 * 4;
	uint32_t value;

	switch (random_below(6)) {
	case 0: /* flip a bit */
		data[at] ^= (uint8_t)(1 << random_below(8));
		return bytes;
	case 1: /* a value that may be a limit */
		if (word + 4 <= bytes)
			memcpy(data + word, &values[random_below(VALUES)], 4);
		return bytes;
	case 2: /* a little more or less */
		if (word + 4 <= bytes) {
			memcpy(&value, data + word, 4);
			value += (uint32_t)random_below(17) - 8;
			memcpy(data + word, &value, 4);
		}
		return bytes;
	case 3: /* what stands elsewhere */
		if (word + 4 <= bytes && other + 4 <= bytes)
			memmove(data + word, data + other, 4);
		return bytes;
	case 4: /* swap two */
		if (word + 4 <= bytes && other + 4 <= bytes) {
			memcpy(&value, data + word, 4);
			memmove(data + word, data + other, 4);
			memcpy(data + other, &value, 4);
		}
		return bytes;
	default: /* cut off */
		bytes -= random_below(bytes < 64 ? bytes : 64);
		set_length(data, bytes);
		return bytes;
	}
}

static void
run_mutation(const struct seed *seed)
{
	uint64_t n = random_below(4) + 1;
	size_t bytes = seed->bytes;
	uint8_t *data = malloc(bytes + 1);

	need(data, "memory");
	memcpy(data, seed->data, bytes);
	while (n-- > 0 && bytes > 0)
		bytes = mutate(data, bytes);
	LLVMFuzzerTestOneInput(data, bytes);
	free(data);
}

static void
run_all(const struct seed *seeds, size_t n, unsigned long runs)
{
	for (size_t i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].bytes);
	fprintf(stderr, "%zu images, %lu accepted\n", n, accepted);
	sweep_values(&seeds[0]);
	sweep_lengths(&seeds[0]);
	fprintf(stderr, "sweep of %zu bytes: %lu dumped, %lu refused\n", seeds[0].bytes, accepted, refused);
	/* The long ones rarely: they take longer and have no other kinds of content. */
	for (unsigned long i = 0; i < runs; i++)
		run_mutation(&seeds[random_below(50) ? random_below(n > 1 ? n - 1 : 1) : n - 1]);
	fprintf(stderr, "with %lu mutations: %lu dumped, %lu refused\n", runs, accepted, refused);
}

int
main(int argc, char **argv)
{
	struct seed *seeds = calloc((size_t)argc + 3, sizeof(*seeds));
	unsigned long runs = 100000;
	bool own;
	size_t n = 0;

	need(seeds, "memory");
	alarm(HANG_SECONDS);
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-runs=", 6) == 0)
			runs = strtoul(argv[i] + 6, NULL, 10);
		else if (strncmp(argv[i], "-seed=", 6) == 0)
			random_state = strtoul(argv[i] + 6, NULL, 10) | 1;
		else
			seeds[n++] = read_seed(argv[i]);
	own = !n;
	if (own) {
		seeds[n++] = small_image("gfx1100");
		seeds[n++] = small_image("gfx1030");
		seeds[n++] = speech_image();
	}
	need(freopen("/dev/null", "w", stdout), "/dev/null");
	run_all(seeds, n, runs);
	if (own)
		need(accepted > 100 && refused > 100 && loaded > 100, "all answers");
	while (n > 0)
		free(seeds[--n].data);
	free(seeds);
	return 0;
}

#endif
