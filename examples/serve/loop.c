/* SPDX-License-Identifier: MIT */
/* loop.c: one io_uring for everything. Every connection has at most one operation of its own in the ring: a receive, a
 * send or a GPU run; a client that is not read from cannot fill memory. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/tool.h"
#include "serve.h"

#define RING_ENTRIES 1024
#define BODY_SLACK 65536	/* JSON around the numbers */
#define BODY_PER_BYTE 8		/* an f32 takes up to 26 characters of JSON with its comma */
#define RECOVER_PAUSE_NS 5000000
#define LINGER_NS 2000000000
#define LINGER_RECEIVES 4096	/* of 16 KiB at most */

enum op { OP_ACCEPT, OP_SIGNAL, OP_RECEIVE, OP_SEND, OP_RUN, OP_IDLE, OP_RECOVER };

struct loop {
	struct model *m;
	const struct serve_options *o;
	struct io_uring ring;
	int listener, signals;
	struct signalfd_siginfo signal;
	struct connection *connections;
	unsigned *unused;	/* stack of free places */
	unsigned n_unused;
	size_t body_limit;
	bool stopping, accepting, recover_armed;
	unsigned waiting;	/* connections whose run waits for the queue */
	struct __kernel_timespec pause;
};

/* ---- the ring ---- */

static uint64_t
tag(enum op op, unsigned place, unsigned generation)
{
	return (uint64_t)generation << 32 | (uint64_t)place << 8 | op;
}

static struct io_uring_sqe *
entry(struct loop *l)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&l->ring);

	while (!sqe) {
		io_uring_submit(&l->ring);
		sqe = io_uring_get_sqe(&l->ring);
	}
	return sqe;
}

/* Two entries that belong together must reach the kernel together. */
static void
room_for_two(struct loop *l)
{
	while (io_uring_sq_space_left(&l->ring) < 2)
		io_uring_submit(&l->ring);
}

static void
open_ring(struct loop *l)
{
	struct io_uring_params params = { .flags = IORING_SETUP_CLAMP };
	int r = io_uring_queue_init_params(RING_ENTRIES, &l->ring, &params);

	if (r)
		tool_die("io_uring: %s", strerror(-r));
}

/* ---- connections ---- */

static unsigned
place_of(const struct loop *l, const struct connection *c)
{
	return (unsigned)(c - l->connections);
}

static void want(struct loop *l, struct connection *c, enum connection_want what);

static void
close_connection(struct loop *l, struct connection *c)
{
	if (c->waits_for_queue)
		l->waiting--;
	c->waits_for_queue = false;
	c->closing = true;
	if (c->pending)
		return; /* the last report closes */
	close(c->fd);
	connection_end(c);
	c->fd = -1;
	l->unused[l->n_unused++] = place_of(l, c);
}

static struct __kernel_timespec
idle_time(uint64_t ns)
{
	return (struct __kernel_timespec){ .tv_sec = (long long)(ns / 1000000000u), .tv_nsec = (long long)(ns % 1000000000u) };
}

static void
receive(struct loop *l, struct connection *c)
{
	struct io_uring_sqe *sqe;

	if (c->in_n)
		memmove(c->in, c->in + c->in_first, c->in_n);
	c->in_first = 0;
	c->idle = idle_time(c->lingering && l->o->idle_ns > LINGER_NS ? LINGER_NS : l->o->idle_ns);
	room_for_two(l);
	sqe = entry(l);
	io_uring_prep_recv(sqe, c->fd, c->in + c->in_n, sizeof(c->in) - c->in_n, 0);
	sqe->flags |= IOSQE_IO_LINK;
	io_uring_sqe_set_data64(sqe, tag(OP_RECEIVE, place_of(l, c), c->generation));
	sqe = entry(l);
	io_uring_prep_link_timeout(sqe, &c->idle, 0);
	io_uring_sqe_set_data64(sqe, tag(OP_IDLE, place_of(l, c), c->generation));
	c->pending += 2;
}

static void
send_more(struct loop *l, struct connection *c)
{
	struct io_uring_sqe *sqe;

	room_for_two(l);
	sqe = entry(l);
	io_uring_prep_send(sqe, c->fd, c->out.data + c->out_sent, c->out.n - c->out_sent, MSG_NOSIGNAL);
	sqe->flags |= IOSQE_IO_LINK;
	io_uring_sqe_set_data64(sqe, tag(OP_SEND, place_of(l, c), c->generation));
	sqe = entry(l);
	c->idle = idle_time(l->o->idle_ns);
	io_uring_prep_link_timeout(sqe, &c->idle, 0);
	io_uring_sqe_set_data64(sqe, tag(OP_IDLE, place_of(l, c), c->generation));
	c->pending += 2;
}

static void
answer_error(struct loop *l, struct connection *c, unsigned status, const char *text)
{
	struct response response = { 0 };

	l->m->failed++;
	protocol_error(&response, status, "%s", text);
	connection_answer(c, &response);
	want(l, c, WANT_OUTPUT);
}

/* ---- GPU runs ---- */

static void
arm_recover(struct loop *l)
{
	struct io_uring_sqe *sqe;

	if (l->recover_armed)
		return;
	l->pause = (struct __kernel_timespec){ .tv_nsec = RECOVER_PAUSE_NS };
	sqe = entry(l);
	io_uring_prep_timeout(sqe, &l->pause, 0, 0);
	io_uring_sqe_set_data64(sqe, tag(OP_RECOVER, 0, 0));
	l->recover_armed = true;
}

static void
run(struct loop *l, struct connection *c)
{
	int r;

	if (++c->inference.attempts > MODEL_ATTEMPTS) {
		answer_error(l, c, 500, "the GPU failed this request again and again");
		return;
	}
	r = model_submit(l->m, c->inference.slot, &l->ring, tag(OP_RUN, place_of(l, c), c->generation));
	if (!r) {
		c->pending++;
	} else if (r == -EAGAIN) {
		/* Its inputs stay in the slot until the queue lives again. */
		c->inference.attempts--;
		c->waits_for_queue = true;
		l->waiting++;
		arm_recover(l);
	} else {
		answer_error(l, c, r == -EBUSY ? 503 : 500, r == -EBUSY ? "the queue is full" : "the GPU refused the request");
	}
}

static void
run_waiting(struct loop *l)
{
	for (unsigned i = 0; i < l->o->max_connections && l->waiting; i++) {
		struct connection *c = &l->connections[i];

		if (c->fd < 0 || !c->waits_for_queue || c->closing)
			continue;
		c->waits_for_queue = false;
		l->waiting--;
		run(l, c);
		if (l->m->dead)
			return;
	}
}

static void
fail_waiting(struct loop *l)
{
	for (unsigned i = 0; i < l->o->max_connections; i++) {
		struct connection *c = &l->connections[i];

		if (c->fd < 0 || !c->waits_for_queue)
			continue;
		c->waits_for_queue = false;
		l->waiting--;
		answer_error(l, c, 500, "the GPU cannot be recovered");
	}
}

static void
recover(struct loop *l)
{
	int r = model_recover(l->m);

	if (!r)
		run_waiting(l);
	else if (r == -EBUSY)
		arm_recover(l);
	else
		fail_waiting(l);
	if (l->m->dead && l->waiting)
		arm_recover(l);
}

static void
run_done(struct loop *l, struct connection *c, int res)
{
	struct gpuplan_completion completion;
	struct response response = { 0 };

	l->m->in_flight--;
	if (gpuplan_slot_finish(c->inference.slot, res, &completion)) {
		answer_error(l, c, 500, "the completion cannot be judged");
		return;
	}
	switch (completion.status) {
	case GPUPLAN_DONE:
		l->m->done++;
		protocol_result(l->m, &c->inference, &response);
		connection_answer(c, &response);
		want(l, c, WANT_OUTPUT);
		break;
	case GPUPLAN_FAILED:
	case GPUPLAN_LOST:
		/* The queue is dead; the inputs are still in the slot. */
		l->m->dead = true;
		l->m->again++;
		run(l, c);
		break;
	default:
		answer_error(l, c, 504, "the GPU did not answer in time");
		break;
	}
}

/* ---- what a connection wants next ---- */

static void
want(struct loop *l, struct connection *c, enum connection_want what)
{
	if (c->closing) {
		close_connection(l, c);
		return;
	}
	switch (what) {
	case WANT_INPUT:
		if (l->stopping && !c->request.body.n)
			close_connection(l, c);
		else if (c->in_n == sizeof(c->in))
			close_connection(l, c); /* the parser always takes what it gets */
		else
			receive(l, c);
		break;
	case WANT_OUTPUT:
		if (c->out.n)
			send_more(l, c);
		else
			close_connection(l, c);
		break;
	case WANT_RUN:
		run(l, c);
		break;
	case WANT_CLOSE:
		close_connection(l, c);
		break;
	}
}

/* A client may still be sending what has been refused. Closed at once, the reset would take the answer from it. */
static void
linger(struct loop *l, struct connection *c)
{
	shutdown(c->fd, SHUT_WR);
	c->lingering = LINGER_RECEIVES;
	c->in_n = 0;
	receive(l, c);
}

static void
received(struct loop *l, struct connection *c, int res)
{
	if (res <= 0 || c->lingering == 1) {
		close_connection(l, c);
		return;
	}
	if (c->lingering) {
		c->lingering--;
		receive(l, c);
		return;
	}
	c->in_n += (size_t)res;
	want(l, c, connection_advance(c, l->m));
}

static void
sent(struct loop *l, struct connection *c, int res)
{
	if (res <= 0) {
		close_connection(l, c);
		return;
	}
	c->out_sent += (size_t)res;
	if (c->out_sent < c->out.n)
		send_more(l, c);
	else if (l->stopping)
		close_connection(l, c);
	else if (!c->keep_alive)
		linger(l, c);
	else
		want(l, c, connection_sent(c, l->m));
}

/* ---- accepting ---- */

static void
arm_accept(struct loop *l)
{
	struct io_uring_sqe *sqe;

	if (l->accepting || l->stopping || !l->n_unused)
		return;
	sqe = entry(l);
	io_uring_prep_accept(sqe, l->listener, NULL, NULL, SOCK_CLOEXEC);
	io_uring_sqe_set_data64(sqe, tag(OP_ACCEPT, 0, 0));
	l->accepting = true;
}

static void
accepted(struct loop *l, int res)
{
	struct connection *c;
	int on = 1;

	l->accepting = false;
	if (res < 0)
		return; /* out of descriptors, or the client is gone again */
	if (l->stopping) {
		close(res);
		return;
	}
	setsockopt(res, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c = &l->connections[l->unused[--l->n_unused]];
	connection_start(c, res, l->body_limit);
	receive(l, c);
}

static int
listen_on(const struct serve_options *o)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)o->port) };
	socklen_t bytes = sizeof(address);
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (inet_pton(AF_INET, o->address, &address.sin_addr) != 1)
		tool_die("%s is no IPv4 address", o->address);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *)&address, &bytes))
		tool_die("%s:%u: %s", o->address, o->port, strerror(errno));
	printf("gpuplan-serve: listening on http://%s:%u\n", o->address, ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

/* ---- the end ---- */

static void
arm_signals(struct loop *l)
{
	struct io_uring_sqe *sqe = entry(l);

	io_uring_prep_read(sqe, l->signals, &l->signal, sizeof(l->signal), 0);
	io_uring_sqe_set_data64(sqe, tag(OP_SIGNAL, 0, 0));
}

/* No new clients; those who wait for nothing go at once, the others when they have their answer. */
static void
stop(struct loop *l)
{
	l->stopping = true;
	shutdown(l->listener, SHUT_RDWR);
	for (unsigned i = 0; i < l->o->max_connections; i++) {
		struct connection *c = &l->connections[i];

		if (c->fd >= 0 && !c->running && !c->out.n)
			shutdown(c->fd, SHUT_RD);
	}
}

static bool
busy(const struct loop *l)
{
	return !l->stopping || l->n_unused < l->o->max_connections || l->m->in_flight;
}

/* ---- one report ---- */

static void
report(struct loop *l, const struct io_uring_cqe *cqe)
{
	uint64_t data = io_uring_cqe_get_data64(cqe);
	enum op op = (enum op)(data & 0xff);
	struct connection *c = &l->connections[data >> 8 & 0xffffff];

	if (op == OP_ACCEPT) {
		accepted(l, cqe->res);
		return;
	}
	if (op == OP_SIGNAL) {
		stop(l);
		return;
	}
	if (op == OP_RECOVER) {
		l->recover_armed = false;
		recover(l);
		return;
	}
	c->pending--;
	if (c->closing && op == OP_RUN)
		l->m->in_flight--;
	if (c->closing || op == OP_IDLE) {
		if (c->closing)
			close_connection(l, c);
		return;
	}
	if (op == OP_RECEIVE)
		received(l, c, cqe->res);
	else if (op == OP_SEND)
		sent(l, c, cqe->res);
	else
		run_done(l, c, cqe->res);
}

static void
open_loop(struct loop *l)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (l->signals < 0)
		tool_die("signalfd: %s", strerror(errno));
	l->connections = calloc(l->o->max_connections, sizeof(*l->connections));
	l->unused = calloc(l->o->max_connections, sizeof(*l->unused));
	if (!l->connections || !l->unused)
		tool_die("out of memory for %u connections", l->o->max_connections);
	for (unsigned i = l->o->max_connections; i-- > 0;) {
		l->connections[i].fd = -1;
		l->unused[l->n_unused++] = i;
	}
	l->body_limit = l->m->input_bytes * BODY_PER_BYTE + BODY_SLACK;
	open_ring(l);
	l->listener = listen_on(l->o);
}

static void
close_loop(struct loop *l)
{
	io_uring_queue_exit(&l->ring);
	close(l->listener);
	close(l->signals);
	free(l->connections);
	free(l->unused);
}

int
serve_loop(struct model *m, const struct serve_options *options)
{
	struct loop l = { .m = m, .o = options };

	open_loop(&l);
	arm_signals(&l);
	while (busy(&l)) {
		struct io_uring_cqe *cqe;
		unsigned head, n = 0;
		int r;

		arm_accept(&l);
		r = io_uring_submit_and_wait(&l.ring, 1);
		if (r < 0 && r != -EINTR && r != -EBUSY && r != -EAGAIN)
			tool_die("io_uring: %s", strerror(-r));
		io_uring_for_each_cqe(&l.ring, head, cqe) {
			report(&l, cqe);
			n++;
		}
		io_uring_cq_advance(&l.ring, n);
	}
	close_loop(&l);
	printf("gpuplan-serve: %" PRIu64 " answered, %" PRIu64 " run again, %" PRIu64 " recoveries, %" PRIu64 " failed\n",
	       m->done, m->again, m->recoveries, m->failed);
	return 0;
}
