/* SPDX-License-Identifier: MIT */
/* vksuite [CASE…|-CASE…]: runs the cases, or all but those with a dash, on every queue family that computes, each in its own
 * process, and prints
 *   case NAME gfx|compute: ok HASH | skip REASON | FAIL REASON
 * vksuite --chain NAME N: N dispatches in one command buffer, see chains.c.
 * vksuite --submit N...: the same command buffer of N dispatches many times, see submit.c.
 * vksuite --footprint: resident memory before and after opening a device.
 * vksuite --here N CASE: one case on the N-th such family in this process, for debuggers and SOFTGPU_REPORT.
 * The loader's VK_ICD_FILENAMES or VK_DRIVER_FILES choose the device. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vksuite.h"

#define CASE_SECONDS 300u
#define NO_SUCH_FAMILY 3

static const struct vkcase *const tables[] = {
	cases_basic, cases_subgroup, cases_types, cases_memory, cases_dispatch, cases_transfer, cases_sync, cases_query,
	cases_algorithms, cases_device, cases_descriptors, cases_image,
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const char *case_name = "", *family_name = "?";
static bool in_child;

static _Noreturn void
finish(int status, const char *word, const char *format, va_list args)
{
	printf("case %s %s: %s ", case_name, family_name, word);
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	if (in_child)
		_exit(status);
	exit(status); /* lets softgpu write its report */
}

void
case_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finish(1, "FAIL", format, args);
}

void
case_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finish(0, "skip", format, args);
}

static void
print_ok(uint64_t hash)
{
	printf("case %s %s: ok %016llx\n", case_name, family_name, (unsigned long long)hash);
	fflush(stdout);
}

void
case_done(uint64_t hash)
{
	print_ok(hash);
	if (in_child)
		_exit(0);
	exit(0);
}

static int
run_case(const struct vkcase *c, unsigned nth)
{
	struct vk vk = { 0 };
	uint64_t hash;

	alarm(CASE_SECONDS);
	if (!vk_open(&vk, nth, c->flags))
		return NO_SUCH_FAMILY;
	family_name = vk.family_flags & VK_QUEUE_GRAPHICS_BIT ? "gfx" : "compute";
	hash = c->run(&vk);
	vk_close(&vk);
	print_ok(hash);
	return 0;
}

/* 0 = ok or skipped, 1 = failed, NO_SUCH_FAMILY. */
static int
fork_case(const struct vkcase *c, unsigned nth)
{
	int status;
	pid_t pid;

	case_name = c->name;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		case_fail("fork");
	if (!pid) {
		in_child = true;
		exit(run_case(c, nth));
	}
	if (waitpid(pid, &status, 0) != pid)
		case_fail("waitpid");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("case %s %s: FAIL killed by signal %d\n", c->name, nth ? "compute" : "gfx", WTERMSIG(status));
	return 1;
}

static bool
wanted(const char *name, int argc, char **argv)
{
	bool all = true;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(name, argv[i] + (argv[i][0] == '-')))
			return argv[i][0] != '-';
		all &= argv[i][0] == '-';
	}
	return all;
}

static bool
run_family(unsigned nth, int argc, char **argv, bool *failed)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct vkcase *c = tables[t]; c->name; c++) {
			int status = wanted(c->name, argc, argv) ? fork_case(c, nth) : 0;

			if (status == NO_SUCH_FAMILY)
				return false;
			*failed |= status != 0;
		}
	return true;
}

static int
run_here(unsigned nth, const char *name)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct vkcase *c = tables[t]; c->name; c++)
			if (!strcmp(c->name, name)) {
				case_name = name;
				return run_case(c, nth);
			}
	fprintf(stderr, "no case %s\n", name);
	return 1;
}

int
main(int argc, char **argv)
{
	bool failed = false;
	unsigned nth = 0;

	if (argc == 4 && !strcmp(argv[1], "--here"))
		return run_here((unsigned)atoi(argv[2]), argv[3]);
	if (argc == 4 && !strcmp(argv[1], "--chain"))
		return run_chain(argv[2], (unsigned)atoi(argv[3]));
	if (argc > 2 && !strcmp(argv[1], "--submit"))
		return run_submit(argv + 2);
	if (argc == 2 && !strcmp(argv[1], "--footprint"))
		return run_footprint();
	while (nth < 8 && run_family(nth, argc, argv, &failed))
		nth++;
	if (!nth)
		printf("no device with a queue family that computes\n");
	return !nth || failed;
}
