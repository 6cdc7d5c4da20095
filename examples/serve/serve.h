/* SPDX-License-Identifier: MIT */
/* serve.h: gpuplan-serve, an inference server on one io_uring, for sockets and GPU alike.
 *
 *   loop.c        the ring: accept, receive, send, GPU completions, the end
 *   connection.c  bytes of one client -> one HTTP request at a time -> bytes of its response
 *   protocol.c    request -> response: the Open Inference Protocol (KServe v2)
 *   tensor.c      JSON and binary tensors <-> a slot's inputs and outputs
 *   model.c       package -> plan, slots and queue; runs, runs again after a reset
 *
 * One thread. Bounded by slots: a request that finds none free is refused with 503, nothing waits in a queue.
 */
#ifndef SERVE_H
#define SERVE_H

#include <http_parser.h>
#include <jansson.h>
#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuplan.h"

#define SERVE_VERSION "0.1"

/* ---- growing bytes ---- */

struct bytes {
	char *data;
	size_t n, capacity;
};

/* False when out of memory; then nothing is appended. */
bool bytes_add(struct bytes *b, const void *data, size_t n);
__attribute__((format(printf, 2, 3))) bool bytes_print(struct bytes *b, const char *format, ...);
void bytes_free(struct bytes *b);

/* ---- model.c ---- */

#define MODEL_ATTEMPTS 4	/* runs of one request when resets hit it */

struct model {
	struct gpuplan_context *context;
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plan;
	struct gpuplan_queue *queue;
	const char *name;
	uint32_t n_inputs, n_outputs, n_parameters;
	size_t input_bytes;	/* of all inputs */
	uint64_t deadline_ns;	/* of one run */
	unsigned in_flight;
	bool dead;		/* the queue waits for its recovery */
	/* counters for the log at the end */
	uint64_t done, again, recoveries, failed;
};

struct request;

/* Dies with a sentence when the package cannot be served. */
void model_open(struct model *m, const char *package, const char *plan, const char *name, unsigned slots,
		uint64_t deadline_ns, const char *device, char **argv);
void model_close(struct model *m);
/* Hands the request's slot to the GPU and arms its completion on the ring. 0; -EAGAIN: the queue is dead, try again
 * after its recovery; else it cannot be done. */
int model_submit(struct model *m, struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data);
/* Gives a dead queue a new life once nothing is in flight. 0, -EBUSY, or that it cannot be done. */
int model_recover(struct model *m);

/* ---- connection.c and protocol.c ---- */

struct response {
	unsigned status;	/* HTTP */
	const char *content_type;
	size_t json_bytes;	/* of a body that goes on in binary; 0: all of one kind */
	struct bytes body;
};

struct request {
	enum http_method method;
	struct bytes url, body;
	size_t header_length;	/* Inference-Header-Content-Length; SIZE_MAX: none */
};

/* What is left of an inference while it runs. */
struct inference {
	struct gpuplan_slot *slot;
	char *id;		/* of the request, or NULL */
	bool *binary;		/* per output */
	bool *wanted;		/* per output */
	unsigned attempts;
};

enum verdict { ANSWER_NOW, RUN_FIRST };

/* Routes a request: either response is complete, or the inference's slot is filled and has to run. */
enum verdict protocol_handle(struct model *m, const struct request *request, struct response *response,
			     struct inference *inference);
/* The response of a run that is done. */
void protocol_result(const struct model *m, const struct inference *inference, struct response *response);
/* {"error": "..."} */
__attribute__((format(printf, 3, 4))) void protocol_error(struct response *response, unsigned status,
							   const char *format, ...);
/* Releases the slot too. */
void inference_finish(struct inference *inference);

/* ---- tensor.c ---- */

const char *tensor_type(enum gpuplan_dtype dtype);
size_t tensor_elements(const struct gpuplan_io *io);
/* Nested or flat arrays of numbers to elements. False: too few, too many, or not such numbers. */
bool tensor_from_json(const json_t *data, enum gpuplan_dtype dtype, void *to, size_t n);
/* NULL: no memory, or a type that JSON has no numbers for (FP16, BF16). */
json_t *tensor_to_json(const void *from, enum gpuplan_dtype dtype, size_t n);

/* ---- loop.c ---- */

struct serve_options {
	const char *address;
	unsigned port, max_connections;
	uint64_t idle_ns;	/* a client that sends nothing for so long is dropped */
};

/* Serves until SIGTERM or SIGINT, then finishes what is running. Returns the exit status. */
int serve_loop(struct model *m, const struct serve_options *options);

/* ---- connection.c: no I/O of its own; loop.c moves the bytes ---- */

struct connection {
	int fd;
	unsigned generation;	/* of this place in the loop's table */
	unsigned pending;	/* ring operations that will still report */
	bool closing, keep_alive, running, waits_for_queue;
	unsigned lingering;	/* receives left that are thrown away, 0: none are */
	bool want_continue;	/* the client waits for "100 Continue" before it sends the body */
	http_parser parser;
	char in[16384];
	size_t in_first, in_n;	/* received and not parsed yet */
	size_t body_limit;
	unsigned header;	/* which header line is being read */
	struct bytes header_name, header_value;
	bool complete;		/* request is whole */
	struct request request;
	struct bytes out;
	size_t out_sent;
	struct inference inference;
	struct __kernel_timespec idle;
};

enum connection_want { WANT_INPUT, WANT_OUTPUT, WANT_RUN, WANT_CLOSE };

void connection_start(struct connection *c, int fd, size_t body_limit);
void connection_end(struct connection *c);
/* Parses what has been received; handles a request that is complete. Says what has to happen next. */
enum connection_want connection_advance(struct connection *c, struct model *m);
/* The run is over: makes the response. */
void connection_answer(struct connection *c, struct response *response);
/* Output has been sent: ready for the next request? */
enum connection_want connection_sent(struct connection *c, struct model *m);

#endif
