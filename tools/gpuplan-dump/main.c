/* SPDX-License-Identifier: MIT */
/* gpuplan-dump: what a plan consists of and why. docs/man/gpuplan-dump.1 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/shaders.h"
#include "common/tool.h"
#include "dump.h"

struct options {
	const char *input, *other, *target, *plan, *image, *shaders;
	unsigned slots;
	unsigned flags;		/* enum gpuplan_plan_flags */
};

static void
usage(FILE *out)
{
	fputs("usage: gpuplan-dump [options] PACKAGE|IMAGE\n"
	      "       gpuplan-dump --diff IMAGE IMAGE\n"
	      "Shows memory, kernels, commands, barriers with their reasons, and the decoded command stream. Needs no GPU.\n"
	      "  --target NAME     gfx1100 (default) or another known target; packages only\n"
	      "  --plan NAME       only this plan of the package\n"
	      "  --slots N         for the memory ledger (default 1)\n"
	      "  --reuse-scratch   let scratch share memory\n"
	      "  --reorder         order commands for fewer barriers\n"
	      "  --image FILE      also write the plan image to FILE (one plan)\n"
	      "  --diff A B        what two images differ in; exit status 0: nothing, 1: something, 2: trouble\n"
	      "  --shaders FOLDER  code objects from FOLDER/<target>/ instead of the built-in ones\n",
	      out);
}

static void
parse(struct options *o, char **argv)
{
	for (int i = 1; argv[i]; i++) {
		const char *a = argv[i];

		if (!strcmp(a, "--help")) {
			usage(stdout);
			exit(0);
		} else if (!strcmp(a, "--target")) {
			o->target = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--plan")) {
			o->plan = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--slots")) {
			o->slots = (unsigned)tool_option_number(argv, &i, 1, 4096);
		} else if (!strcmp(a, "--reuse-scratch")) {
			o->flags |= GPUPLAN_PLAN_REUSE_SCRATCH;
		} else if (!strcmp(a, "--reorder")) {
			o->flags |= GPUPLAN_PLAN_REORDER;
		} else if (!strcmp(a, "--image")) {
			o->image = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--diff")) {
			o->input = tool_option_value(argv, &i);
			o->other = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--shaders")) {
			o->shaders = tool_option_value(argv, &i);
		} else if (a[0] == '-' || o->input) {
			usage(stderr);
			tool_die(a[0] == '-' ? "unknown option %s" : "one input at a time, not also %s", a);
		} else {
			o->input = a;
		}
	}
	if (!o->input) {
		usage(stderr);
		tool_die("a package or an image is needed");
	}
}

static void
check(int r, const struct gpuplan_error *error)
{
	if (r)
		tool_die("%s", error->message);
}

static void
write_image(const char *path, const void *image, size_t bytes)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(image, 1, bytes, f) != bytes || fclose(f))
		tool_die("%s: %s", path, strerror(errno));
}

static struct view
view_bytes(const char *name, const void *bytes, size_t size)
{
	struct gpuplan_error error;
	struct view v;

	if (gpuplan_image_check(bytes, size, &error))
		tool_die("%s: %s", name, error.message);
	view_open(&v, bytes);
	return v;
}

static void
dump_bytes(const char *name, const void *bytes, size_t size, unsigned slots)
{
	struct view v = view_bytes(name, bytes, size);

	dump_image(&v, slots);
}

static void
dump_plan(const struct options *o, struct gpuplan_package *package, struct gpuplan_definition *definition,
	  const char *name)
{
	struct gpuplan_plan_params params = { .size = sizeof(params), .capacity = 1, .flags = o->flags };
	struct gpuplan_plan *plan;
	struct gpuplan_error error;
	const void *image;
	size_t bytes;

	check(gpuplan_package_plan(package, definition, name, &params, &plan, &error), &error);
	image = gpuplan_plan_image(plan, &bytes);
	dump_bytes(name, image, bytes, o->slots);
	if (o->image)
		write_image(o->image, image, bytes);
	gpuplan_plan_destroy(plan);
}

static void
dump_package(const struct options *o)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_definition *definition;
	struct gpuplan_context *context;
	struct gpuplan_package *package;
	struct gpuplan_session *session;
	struct gpuplan_error error;
	bool first = true, found = false;

	params.offline_target = o->target ? o->target : "gfx1100";
	check(gpuplan_package_open(o->input, &package, &error), &error);
	check(gpuplan_context_create(&params, &context, &error), &error);
	check(gpuplan_session_create(context, &session, &error), &error);
	check(gpuplan_package_load(package, session, params.offline_target, tool_find_code, (void *)o->shaders, &error),
	      &error);
	check(gpuplan_session_freeze(session, NULL, gpuplan_now() + 1000000000u, &definition, &error), &error);
	for (uint32_t i = 0; i < gpuplan_package_plans(package); i++) {
		const char *name = gpuplan_package_plan_name(package, i);

		if (o->plan && strcmp(o->plan, name))
			continue;
		if (!first)
			printf("\n================================================================\n\n");
		dump_plan(o, package, definition, name);
		first = false;
		found = true;
	}
	if (!found)
		tool_die("%s has no plan \"%s\"", o->input, o->plan ? o->plan : "");
	gpuplan_definition_destroy(definition);
	gpuplan_context_destroy(context);
	gpuplan_package_close(package);
}

static bool
starts_like_image(const char *path)
{
	char magic[8];
	FILE *f = fopen(path, "rb");
	bool image;

	if (!f)
		tool_die("%s: %s", path, strerror(errno));
	image = fread(magic, 1, sizeof(magic), f) == sizeof(magic) && !memcmp(magic, PLAN_IMAGE_MAGIC, sizeof(magic));
	fclose(f);
	return image;
}

/* The caller frees. */
static void *
read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	void *bytes;

	if (!f || fstat(fileno(f), &st))
		tool_die("%s: %s", path, strerror(errno));
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, f) != *size)
		tool_die("%s: cannot be read", path);
	fclose(f);
	return bytes;
}

static void
dump_file(const struct options *o)
{
	size_t size;
	void *bytes = read_file(o->input, &size);

	dump_bytes(o->input, bytes, size, o->slots);
	free(bytes);
}

static int
diff_files(const struct options *o)
{
	size_t sizes[2];
	void *bytes[2] = { read_file(o->input, &sizes[0]), read_file(o->other, &sizes[1]) };
	struct view a = view_bytes(o->input, bytes[0], sizes[0]), b = view_bytes(o->other, bytes[1], sizes[1]);
	unsigned n = dump_diff(&a, &b);

	free(bytes[0]);
	free(bytes[1]);
	return n != 0;
}

int
main(int argc, char **argv)
{
	struct options o = { .slots = 1 };
	struct stat st;

	(void)argc;
	tool_name = "gpuplan-dump";
	parse(&o, argv);
	if (o.other)
		return diff_files(&o);
	if (stat(o.input, &st))
		tool_die("%s: %s", o.input, strerror(errno));
	if (S_ISREG(st.st_mode) && starts_like_image(o.input))
		dump_file(&o);
	else
		dump_package(&o);
	return 0;
}
