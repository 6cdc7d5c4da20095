/* SPDX-License-Identifier: MIT */
/* peer.c: PoCL takes its number of threads from the environment, once, so each number needs a process. It is forked
 * before any device is opened; requests and answers go over a socket, outputs through shared memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "common/shaders.h"
#include "common/tool.h"

#define REQUEST_OPEN UINT32_MAX /* any other: number of a case */

struct answer {
	int code;		/* 0, -1 (text says why) or an OpenCL error */
	struct bench_time time;
	char text[256];
};

struct bench_peer {
	pid_t pid;
	int fd;
	float *out;		/* shared */
	size_t out_bytes;
};

/* ---- the child ---- */

static struct bench_pocl *
open_pocl(struct answer *a)
{
	const void *program;
	size_t bytes;
	struct bench_pocl *pocl;

	if (tool_find_code(NULL, "bench", "kernels.cl", &program, &bytes)) {
		snprintf(a->text, sizeof(a->text), "the kernels' source is missing in this program");
		return NULL;
	}
	pocl = bench_pocl_create(program, bytes, a->text, sizeof(a->text));
	return pocl;
}

static _Noreturn void
serve(struct bench_peer *p)
{
	struct bench_pocl *pocl = NULL;
	uint32_t request;

	while (read(p->fd, &request, sizeof(request)) == sizeof(request)) {
		struct answer a = { 0 };

		if (request == REQUEST_OPEN)
			a.code = (pocl = open_pocl(&a)) ? 0 : -1;
		else
			a.code = bench_pocl_run(pocl, request, &a.time, p->out);
		if (write(p->fd, &a, sizeof(a)) != sizeof(a))
			break;
	}
	_exit(0); /* not the parent's exit handlers */
}

static _Noreturn void
child(struct bench_peer *p, const char *threads)
{
	if (threads)
		setenv("POCL_MAX_PTHREAD_COUNT", threads, 1);
	else
		unsetenv("POCL_MAX_PTHREAD_COUNT");
	unsetenv("LD_PRELOAD"); /* PoCL may start a linker, which needs no GPU */
	serve(p);
}

/* ---- the parent ---- */

struct bench_peer *
bench_peer_start(const char *threads)
{
	struct bench_peer *p = calloc(1, sizeof(*p));
	int fds[2];

	if (!p || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		tool_die("no process for PoCL: %s", strerror(errno));
	p->out_bytes = bench_most_outputs() * sizeof(float);
	p->out = mmap(NULL, p->out_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->out == MAP_FAILED)
		tool_die("no memory for PoCL's outputs");
	fflush(NULL);
	p->pid = fork();
	if (p->pid < 0)
		tool_die("no process for PoCL: %s", strerror(errno));
	p->fd = fds[p->pid == 0];
	close(fds[p->pid != 0]);
	if (p->pid == 0)
		child(p, threads);
	return p;
}

static void
ask(struct bench_peer *p, uint32_t request, struct answer *a)
{
	if (write(p->fd, &request, sizeof(request)) != sizeof(request) || read(p->fd, a, sizeof(*a)) != sizeof(*a))
		tool_die("the PoCL process died");
}

bool
bench_peer_open(struct bench_peer *p, char *text, size_t text_bytes)
{
	struct answer a;

	ask(p, REQUEST_OPEN, &a);
	snprintf(text, text_bytes, "%s", a.text);
	return a.code == 0;
}

const float *
bench_peer_run(struct bench_peer *p, unsigned i, struct bench_time *time)
{
	struct answer a;

	ask(p, i, &a);
	if (a.code)
		tool_die("%s on PoCL: OpenCL error %d", bench_cases[i].kernel, a.code);
	*time = a.time;
	return p->out;
}

void
bench_peer_stop(struct bench_peer *p)
{
	shutdown(p->fd, SHUT_RDWR); /* close is not enough: peers started later have inherited the descriptor */
	close(p->fd);
	waitpid(p->pid, NULL, 0);
	munmap(p->out, p->out_bytes);
	free(p);
}
