/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the code object loader: any bytes are either loaded into something consistent or refused with a sentence.
 *
 * With libFuzzer:  clang -DGP_LIBFUZZER -fsanitize=fuzzer,address,undefined ... fuzz_code_object.c, then run it on a
 * folder with the objects of tests/unit/data_code_object.
 * Alone: fuzz_code_object [N [FILE...]] mutates the files N times, the same way every time; by default 20000 times
 * those in GPUPLAN_TEST_OBJECTS (or $B/tests/objects).
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_object.h"
#include "gpuplan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "fuzz_code_object: line %d: %s\n", __LINE__, #condition);                      \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

static const char *const targets[] = { "gfx1100", "gfx1030", "gfx90a", "gfx90a:xnack+", "gfx1200" };

static void
check_args(const struct gp_kernel_info *k)
{
	uint32_t end = 0;

	CHECK(k->n_explicit <= k->n_args);
	for (uint32_t i = 0; i < k->n_args; i++) {
		const struct gp_kernel_arg *a = &k->args[i];

		CHECK(a->name && a->bytes && a->offset <= k->kernarg_bytes && a->bytes <= k->kernarg_bytes - a->offset);
		CHECK((a->kind == GP_ARG_HIDDEN) == (i >= k->n_explicit));
		CHECK((a->kind == GP_ARG_DYNAMIC_LDS) == (a->align != 0));
		CHECK(memchr(a->hidden, 0, sizeof(a->hidden)));
		if (i < k->n_explicit) {
			CHECK(a->offset >= end);
			end = a->offset + a->bytes;
		}
	}
	CHECK(!k->n_explicit || end == k->explicit_bytes);
}

static void
check_kernel(const struct gp_code_object *code, const struct gp_kernel_info *k)
{
	CHECK(k->name && *k->name);
	CHECK(k->entry % 256 == 0 && k->entry <= code->image_bytes - 4 - 4096);
	CHECK(k->descriptor % 64 == 0 && k->descriptor <= code->image_bytes - 64);
	CHECK(k->explicit_bytes <= k->kernarg_bytes && k->kernarg_bytes <= 65536);
	CHECK(!k->hidden_block || (code->abi >= 5 && k->hidden_offset + 256 <= k->kernarg_bytes));
	CHECK(k->lds_bytes <= 65536);
	CHECK((uint64_t)k->private_bytes * k->wave_size <= 8191 * 1024);
	CHECK(k->wave_size == 32 || k->wave_size == 64);
	CHECK(k->max_block >= 1 && k->max_block <= 1024);
	CHECK((uint64_t)k->reqd_block[0] * k->reqd_block[1] * k->reqd_block[2] <= k->max_block);
	CHECK((k->rsrc2 >> 1 & 31) <= 16 && !(k->rsrc2 >> 15 & 0x1ff));
	check_args(k);
}

static void
check_object(const struct gp_code_object *code)
{
	uint8_t *loaded = malloc(code->image_bytes);

	CHECK(code->image && code->image_bytes && code->image_bytes % 4096 == 0);
	CHECK(code->abi >= 4 && code->abi <= 6);
	for (uint32_t i = 0; i < code->n_kernels; i++)
		check_kernel(code, &code->kernels[i]);
	if (loaded)
		gp_code_object_place(code, 0x7f0000000000, loaded);
	free(loaded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	for (unsigned i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct gp_code_object *code = NULL;
		struct gpuplan_error error = { 0 };
		int r = gp_code_object_load(data, bytes, targets[i], "fuzz", &code, &error);

		CHECK(!r == (code != NULL));
		if (r)
			CHECK((r == -ENOEXEC || r == -ENOTSUP || r == -ENOMEM) && error.code == r &&
			      strlen(error.message) > strlen("fuzz: "));
		else
			check_object(code);
		gp_code_object_destroy(code);
	}
	return 0;
}

#ifndef GP_LIBFUZZER

#define MAX_SEEDS 64

struct seed {
	uint8_t *data;
	size_t bytes;
};

/* xorshift64*: the same sequence everywhere. */
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t
next_random(uint64_t below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1du >> 16) % below;
}

static struct seed
read_seed(const char *path)
{
	struct seed s = { NULL, 0 };
	FILE *in = fopen(path, "rb");
	long n;

	CHECK(in && !fseek(in, 0, SEEK_END));
	n = ftell(in);
	rewind(in);
	CHECK(n > 0 && (s.data = malloc((size_t)n)) && fread(s.data, 1, (size_t)n, in) == (size_t)n);
	s.bytes = (size_t)n;
	fclose(in);
	return s;
}

static int
read_seeds(struct seed *seeds, int argc, char **argv)
{
	const char *folder = getenv("GPUPLAN_TEST_OBJECTS"), *build = getenv("B");
	char pattern[512];
	glob_t found;
	int n = 0;

	for (; n < argc && n < MAX_SEEDS; n++)
		seeds[n] = read_seed(argv[n]);
	if (n)
		return n;
	snprintf(pattern, sizeof(pattern), folder ? "%s/*.co" : "%s/tests/objects/*.co",
		 folder	 ? folder
		 : build ? build
			 : "build");
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (; n < (int)found.gl_pathc && n < MAX_SEEDS; n++)
		seeds[n] = read_seed(found.gl_pathv[n]);
	globfree(&found);
	return n;
}

/* Where most of the structure is: header, program headers, notes, tables; code follows later in the file. */
static size_t
pick_place(size_t bytes)
{
	size_t near = next_random(4) ? bytes / 2 : bytes;

	if (!next_random(4) && near > 576)
		near = 576;
	return next_random(near ? near : 1);
}

static void
put_number(uint8_t *data, size_t bytes)
{
	static const uint64_t numbers[] = {
		0, 1, 4, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX, UINT64_MAX - 7, 1ull << 63
	};
	uint64_t value = numbers[next_random(sizeof(numbers) / sizeof(numbers[0]))];
	size_t width = 1u << next_random(4), at;

	if (bytes < 8)
		return;
	at = pick_place(bytes) & ~(width - 1);
	if (next_random(2))
		value += at;
	if (at + width <= bytes)
		memcpy(data + at, &value, width);
}

static void
move_block(uint8_t *data, size_t bytes)
{
	size_t length = 1 + next_random(64), from, to;

	if (bytes <= length)
		return;
	from = next_random(bytes - length);
	to = pick_place(bytes - length);
	memmove(data + to, data + from, length);
}

static void
mutate_once(uint8_t *data, size_t *bytes)
{
	switch (*bytes ? next_random(16) : 16) {
	case 0 ... 5:
		data[pick_place(*bytes)] ^= 1u << next_random(8);
		break;
	case 6 ... 8:
		data[pick_place(*bytes)] = (uint8_t)next_random(256);
		break;
	case 9 ... 12:
		put_number(data, *bytes);
		break;
	case 13 ... 14:
		move_block(data, *bytes);
		break;
	case 15:
		if (!next_random(8))
			*bytes = next_random(*bytes);
		break;
	}
}

/* The input has exactly its own bytes, for AddressSanitizer to see reads past the end. */
static void
run_mutation(const struct seed *seed)
{
	size_t bytes = seed->bytes;
	uint8_t *work = malloc(bytes), *exact;

	CHECK(work);
	memcpy(work, seed->data, bytes);
	for (uint64_t n = 1 + next_random(6); n; n--)
		mutate_once(work, &bytes);
	exact = malloc(bytes ? bytes : 1);
	CHECK(exact);
	memcpy(exact, work, bytes);
	LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
	free(work);
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
	struct seed seeds[MAX_SEEDS];
	int n = read_seeds(seeds, argc > 2 ? argc - 2 : 0, argv + 2);

	if (!n) {
		puts("no code objects to start from: GPUPLAN_TEST_OBJECTS");
		return 77;
	}
	for (int i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].bytes);
	for (long i = 0; i < rounds; i++)
		run_mutation(&seeds[next_random((uint64_t)n)]);
	for (int i = 0; i < n; i++)
		free(seeds[i].data);
	printf("%ld mutations of %d code objects\n", rounds, n);
	return 0;
}

#endif
