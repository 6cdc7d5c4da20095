/* SPDX-License-Identifier: MIT */
/* gpuplan-serve: a model package behind the Open Inference Protocol. docs/man/gpuplan-serve.1 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "serve.h"

struct options {
	struct serve_options serve;
	const char *package, *plan, *name, *device;
	unsigned slots;
	double timeout;
};

static void
usage(FILE *out)
{
	fputs("usage: gpuplan-serve [options] [PACKAGE]\n"
	      "Serves a model package (default: the speech model) over HTTP as /v2/models/NAME, one request per slot.\n"
	      "  --plan NAME         plan of the package (default: its first)\n"
	      "  --name NAME         name of the model (default: the package's folder)\n"
	      "  --slots N           requests in flight, 1 to 30 (default 8); more are refused with 503\n"
	      "  --address A         IPv4 address (default 127.0.0.1)\n"
	      "  --port N            TCP port (default 8000; 0: any, printed)\n"
	      "  --connections N     clients at once (default 256)\n"
	      "  --idle SECONDS      a client that neither sends nor takes anything is dropped (default 30)\n"
	      "  --timeout SECONDS   for one inference (default 10)\n"
	      "  --device NODE       render node\n",
	      out);
}

static bool
parse_serve(struct options *o, char **argv, int *i)
{
	const char *a = argv[*i];

	if (!strcmp(a, "--address"))
		o->serve.address = tool_option_value(argv, i);
	else if (!strcmp(a, "--port"))
		o->serve.port = (unsigned)tool_option_number(argv, i, 0, 65535);
	else if (!strcmp(a, "--connections"))
		o->serve.max_connections = (unsigned)tool_option_number(argv, i, 1, 65536);
	else if (!strcmp(a, "--idle"))
		o->serve.idle_ns = (uint64_t)(1e9 * tool_option_number(argv, i, 0.001, 86400));
	else
		return false;
	return true;
}

static void
parse(struct options *o, char **argv)
{
	for (int i = 1; argv[i]; i++) {
		const char *a = argv[i];

		if (!strcmp(a, "--help")) {
			usage(stdout);
			exit(0);
		} else if (parse_serve(o, argv, &i)) {
			continue;
		} else if (!strcmp(a, "--plan")) {
			o->plan = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--name")) {
			o->name = tool_option_value(argv, &i);
		} else if (!strcmp(a, "--slots")) {
			o->slots = (unsigned)tool_option_number(argv, &i, 1, 30);
		} else if (!strcmp(a, "--timeout")) {
			o->timeout = tool_option_number(argv, &i, 0.001, 3600);
		} else if (!strcmp(a, "--device")) {
			o->device = tool_option_value(argv, &i);
		} else if (a[0] == '-' || o->package) {
			usage(stderr);
			tool_die(a[0] == '-' ? "unknown option %s" : "one package at a time, not also %s", a);
		} else {
			o->package = a;
		}
	}
}

/* Last part of the package's path that names anything. */
static void
default_name(const char *package, char name[256])
{
	size_t end = strlen(package), begin;

	if (end > 13 && !strcmp(package + end - 13, "/package.json"))
		end -= 13;
	while (end > 1 && package[end - 1] == '/')
		end--;
	begin = end;
	while (begin > 0 && package[begin - 1] != '/')
		begin--;
	snprintf(name, 256, "%.*s", (int)(end - begin < 255 ? end - begin : 255), package + begin);
}

int
main(int argc, char **argv)
{
	struct options o = {
		.serve = { .address = "127.0.0.1", .port = 8000, .max_connections = 256, .idle_ns = 30000000000u },
		.slots = 8,
		.timeout = 10,
	};
	char package[4096], name[256];
	struct model m;
	int status;

	(void)argc;
	tool_name = "gpuplan-serve";
	parse(&o, argv);
	if (!o.package) {
		tool_share_path("models/silero-vad", package, sizeof(package));
		o.package = package;
	}
	default_name(o.package, name);
	model_open(&m, o.package, o.plan, o.name ? o.name : name, o.slots, (uint64_t)(o.timeout * 1e9), o.device, argv);
	status = serve_loop(&m, &o.serve);
	model_close(&m);
	return status;
}
