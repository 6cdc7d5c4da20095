/* SPDX-License-Identifier: MIT */
/* softgpu: runs a program with the software amdgpu device.
 *
 * Finds libsoftgpu.so next to itself, makes the folder that stands in for /dev/dri and /sys, sets LD_PRELOAD and runs
 * the command as a child, so that the folder is removed at the end. Options become the SOFTGPU_* variables that the
 * library reads (hw/config.c); those can be set directly too.
 */
#define _GNU_SOURCE
#include "hw/hw.h"
#include "shim/tree.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_USAGE 125	   /* as env(1): softgpu itself failed */
#define EXIT_NO_EXEC 126
#define EXIT_NO_COMMAND 127
#define DEFAULT_LOCKUP_MS 10000

static const char help[] =
	"usage: softgpu [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"Runs COMMAND with a software AMD GPU: /dev/dri/renderD128 (or the first free number) is amdgpu.\n"
	"\n"
	"  --profile NAME      which chip (default gfx1100; see --list-profiles)\n"
	"  --strict            a GPU VM fault ends the job and its context\n"
	"  --hostile           show everything the hardware is free to do: stale caches, other orders, garbage\n"
	"  --seed N            random choices of --hostile; 0: always the worst order\n"
	"  --no-execute        jobs complete without running\n"
	"  --timeout-ms N      how long a job may run (default 10000)\n"
	"  --recovery HOW      what a hang leads to: full, soft or ring\n"
	"  --no-recovery       a hang leads to nothing: the ring stands still (amdgpu.gpu_recovery=0)\n"
	"  --vram-lost         a full reset loses VRAM\n"
	"  --job-delay-us N    every job takes at least this long\n"
	"  --fail LIST         ioctl:n:errno[,...]: the n-th call of that ioctl fails, e.g. CS:3:ENOMEM\n"
	"  --no-eventfd        no DRM_IOCTL_SYNCOBJ_EVENTFD, as before Linux 6.6\n"
	"  --syscalls          each ioctl also enters the real kernel once, so that strace counts it\n"
	"  --report FILE       counters as JSON at exit (\"%p\": process id)\n"
	"  --list-profiles     names of the chips\n"
	"  --help              this text\n"
	"\n"
	"Exit status: the command's; 128 + n when signal n ended it; 125 when softgpu itself fails.\n";

enum option_id {
	OPT_HELP = 256, OPT_LIST, OPT_PROFILE, OPT_STRICT, OPT_HOSTILE, OPT_SEED, OPT_NO_EXECUTE, OPT_TIMEOUT,
	OPT_RECOVERY, OPT_NO_RECOVERY, OPT_VRAM_LOST, OPT_DELAY, OPT_FAIL, OPT_NO_EVENTFD, OPT_SYSCALLS, OPT_REPORT,
};

static const struct option options[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "list-profiles", no_argument, NULL, OPT_LIST },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "hostile", no_argument, NULL, OPT_HOSTILE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "no-execute", no_argument, NULL, OPT_NO_EXECUTE },
	{ "timeout-ms", required_argument, NULL, OPT_TIMEOUT },
	{ "recovery", required_argument, NULL, OPT_RECOVERY },
	{ "no-recovery", no_argument, NULL, OPT_NO_RECOVERY },
	{ "vram-lost", no_argument, NULL, OPT_VRAM_LOST },
	{ "job-delay-us", required_argument, NULL, OPT_DELAY },
	{ "fail", required_argument, NULL, OPT_FAIL },
	{ "no-eventfd", no_argument, NULL, OPT_NO_EVENTFD },
	{ "syscalls", no_argument, NULL, OPT_SYSCALLS },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ NULL, 0, NULL, 0 },
};

/* The variable an option sets; a fixed value for options without argument. */
static const struct {
	enum option_id id;
	const char *name, *value;
} variables[] = {
	{ OPT_PROFILE, "SOFTGPU_PROFILE", NULL },
	{ OPT_STRICT, "SOFTGPU_STRICT", "1" },
	{ OPT_HOSTILE, "SOFTGPU_HOSTILE", "1" },
	{ OPT_SEED, "SOFTGPU_SEED", NULL },
	{ OPT_NO_EXECUTE, "SOFTGPU_EXECUTE", "0" },
	{ OPT_TIMEOUT, "SOFTGPU_LOCKUP_TIMEOUT_MS", NULL },
	{ OPT_RECOVERY, "SOFTGPU_RECOVERY", NULL },
	{ OPT_NO_RECOVERY, "SOFTGPU_GPU_RECOVERY", "0" },
	{ OPT_VRAM_LOST, "SOFTGPU_VRAM_LOST", "1" },
	{ OPT_DELAY, "SOFTGPU_JOB_DELAY_US", NULL },
	{ OPT_FAIL, "SOFTGPU_FAIL", NULL },
	{ OPT_NO_EVENTFD, "SOFTGPU_EVENTFD", "0" },
	{ OPT_SYSCALLS, "SOFTGPU_SYSCALLS", "1" },
	{ OPT_REPORT, "SOFTGPU_REPORT", NULL },
};

static void
list_profiles(void)
{
	/* The chips of the project; which of them this build knows. */
	static const char *const names[] = { "gfx900",	"gfx906",  "gfx90a",  "gfx942",
					     "gfx1030", "gfx1100", "gfx1200", "gfx1201" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct sg_profile *p = sg_profile_find(names[i]);
		if (p)
			printf("%-8s  %s, %llu MiB%s\n", p->name, p->marketing,
			       (unsigned long long)(p->vram_bytes >> 20), p == sg_profile_default() ? "  (default)" : "");
	}
}

static void
set_variable(int id)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if ((int)variables[i].id == id)
			setenv(variables[i].name, variables[i].value ? variables[i].value : optarg, 1);
}

/* Reads the options; what remains is the command. Exits on help, list and errors. */
static char **
parse(int argc, char **argv)
{
	int c;

	/* "+": options end at the command. */
	while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		if (c == 'h' || c == OPT_HELP) {
			fputs(help, stdout);
			exit(0);
		}
		if (c == OPT_LIST) {
			list_profiles();
			exit(0);
		}
		if (c == '?') {
			fputs("Try: softgpu --help\n", stderr);
			exit(EXIT_USAGE);
		}
		if (c == OPT_PROFILE && !sg_profile_find(optarg)) {
			fprintf(stderr, "softgpu: unknown profile %s; see softgpu --list-profiles\n", optarg);
			exit(EXIT_USAGE);
		}
		set_variable(c);
	}
	if (optind < argc)
		return argv + optind;
	fputs(help, stderr);
	exit(EXIT_USAGE);
}

/* ---- the library ---- */

static bool
readable(const char *path)
{
	return access(path, R_OK) == 0;
}

/* Folders of builds for newer processors in front of the one for all. SOFTGPU_SIMD, which the library also reads
 * (hw/config.c), forbids some. */
static unsigned
builds_for_host(const char *folders[3])
{
	const char *most = getenv("SOFTGPU_SIMD");
	bool avx512 = !most || (strcmp(most, "none") && strcmp(most, "avx2")), avx2 = !most || strcmp(most, "none");
	unsigned n = 0;

#if defined(__x86_64__)
	if (avx512 && __builtin_cpu_supports("x86-64-v4"))
		folders[n++] = "/x86-64-v4";
	if (avx2 && __builtin_cpu_supports("x86-64-v3"))
		folders[n++] = "/x86-64-v3";
#endif
	folders[n++] = "";
	return n;
}

/* ../lib from the launcher (installed, or build/bin), or the same folder. */
static bool
find_library(char *to)
{
	static const char *const places[] = { "/../lib", "/lib", "", "/../lib/softgpu" };
	const char *folders[3];
	unsigned n_folders = builds_for_host(folders);
	char self[PATH_MAX - 64], path[PATH_MAX];

	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return false;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (unsigned k = 0; k < n_folders; k++) {
			snprintf(path, sizeof(path), "%s%s%s/libsoftgpu.so", self, places[i], folders[k]);
			if (readable(path) && realpath(path, to))
				return true;
		}
	return false;
}

static int
set_preload(void)
{
	char library[PATH_MAX];
	const char *before = getenv("LD_PRELOAD");
	char *all;

	if (!find_library(library)) {
		fputs("softgpu: libsoftgpu.so is not beside this program (looked in ../lib and here)\n", stderr);
		return -ENOENT;
	}
#ifdef SOFTGPU_PRELOAD_FIRST
	/* A sanitizer's runtime wants to be the first library of all. */
	int n = asprintf(&all, "%s:%s%s%s", SOFTGPU_PRELOAD_FIRST, library, before ? ":" : "", before ? before : "");
#else
	int n = asprintf(&all, "%s%s%s", library, before && *before ? ":" : "", before && *before ? before : "");
#endif
	if (n < 0)
		return -ENOMEM;
	setenv("LD_PRELOAD", all, 1);
	free(all);
	return 0;
}

/* ---- the command ---- */

static volatile pid_t child;

static void
forward(int signal)
{
	if (child > 0)
		kill(child, signal);
}

/* Signals from the keyboard reach the child itself, as a member of the terminal's process group. */
static void
forward_signals(void)
{
	static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT };
	struct sigaction on = { .sa_handler = forward, .sa_flags = SA_RESTART }, ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaction(forwarded[i], &on, NULL);
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGQUIT, &ignore, NULL);
}

static _Noreturn void
exec_command(char **command, const sigset_t *mask)
{
	if (set_preload())
		_exit(EXIT_USAGE);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	fprintf(stderr, "softgpu: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NO_COMMAND : EXIT_NO_EXEC);
}

static int
run(char **command)
{
	sigset_t all, before;
	int status;

	/* Nothing is forwarded before there is a child to forward to. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (child == 0)
		exec_command(command, &before);
	if (child < 0) {
		perror("softgpu: fork");
		return EXIT_USAGE;
	}
	forward_signals();
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_USAGE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static unsigned
lockup_ms(void)
{
	const char *text = getenv("SOFTGPU_LOCKUP_TIMEOUT_MS");

	return text && *text ? (unsigned)strtoul(text, NULL, 0) : DEFAULT_LOCKUP_MS;
}

/* As hw/config.c has it. */
static const char *
recovery(void)
{
	const char *on = getenv("SOFTGPU_GPU_RECOVERY"), *kind = getenv("SOFTGPU_RECOVERY");

	if (on && strcmp(on, "0") == 0)
		return "none";
	return kind && *kind ? kind : "full";
}

int
main(int argc, char **argv)
{
	char **command = parse(argc, argv);
	const char *name = getenv("SOFTGPU_PROFILE");
	const struct sg_profile *profile = name ? sg_profile_find(name) : NULL;
	struct sg_tree tree;

	int r = sg_tree_create(&tree, profile ? profile : sg_profile_default(), lockup_ms(), recovery());
	if (r) {
		fprintf(stderr, "softgpu: cannot make a folder for the device: %s\n", strerror(-r));
		return EXIT_USAGE;
	}
	setenv(SG_TREE_ENV, tree.root, 1);
	r = run(command);
	sg_tree_remove(&tree);
	return r;
}
