/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/tool.h"

const char *tool_name = "gpuplan";

void
tool_die(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void
self_path(char *path, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", path, bytes - 1);

	if (n < 0)
		tool_die("cannot read /proc/self/exe: %s", strerror(errno));
	path[n] = 0;
}

static void
binary_folder(char *path, size_t bytes)
{
	char *slash;

	self_path(path, bytes);
	slash = strrchr(path, '/');
	if (slash)
		*slash = 0;
}

void
tool_share_path(const char *name, char *path, size_t bytes)
{
	char folder[3072];

	binary_folder(folder, sizeof(folder));
	snprintf(path, bytes, "%s/../share/gpuplan/%s", folder, name);
}

/* The launcher stands beside this program; it sets LD_PRELOAD, which also tells that it ran. */
static void
restart_under_softgpu(char **argv, const char *why)
{
	const char *preload = getenv("LD_PRELOAD");
	char folder[3072], launcher[4096], self[4096];
	size_t n = 0;
	char **args;

	if (preload && strstr(preload, "libsoftgpu"))
		tool_die("%s", why);
	binary_folder(folder, sizeof(folder));
	snprintf(launcher, sizeof(launcher), "%s/softgpu", folder);
	while (argv[n])
		n++;
	args = calloc(n + 3, sizeof(*args));
	if (!args)
		tool_die("out of memory");
	self_path(self, sizeof(self));
	args[0] = launcher;
	args[1] = (char *)"--";
	args[2] = self;
	memcpy(args + 3, argv + 1, n * sizeof(*args));
	fprintf(stderr, "%s: no AMD GPU here (%s); running on softgpu, the software device\n", tool_name, why);
	execv(launcher, args);
	tool_die("%s; and %s cannot be started: %s", why, launcher, strerror(errno));
}

struct gpuplan_context *
tool_open_context(const char *device, char **argv)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	struct gpuplan_error error;
	int r;

	params.device = device;
	r = gpuplan_context_create(&params, &context, &error);
	if (r == -ENODEV && !device)
		restart_under_softgpu(argv, error.message);
	if (r)
		tool_die("%s", error.message);
	return context;
}

const char *
tool_option_value(char **argv, int *i)
{
	if (!argv[*i + 1])
		tool_die("option %s needs a value", argv[*i]);
	return argv[++*i];
}

double
tool_option_number(char **argv, int *i, double least, double most)
{
	const char *option = argv[*i], *text = tool_option_value(argv, i);
	char *end;
	double value = strtod(text, &end);

	if (*end || end == text || !(value >= least && value <= most))
		tool_die("%s %s: a number from %g to %g is needed", option, text, least, most);
	return value;
}
