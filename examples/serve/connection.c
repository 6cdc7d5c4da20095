/* SPDX-License-Identifier: MIT */
/* connection.c: one client: HTTP/1.1 requests out of bytes, one at a time, and responses into bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve.h"

#define MAX_URL 4096
#define MAX_HEADER 8192		/* one line; all of them together are bounded by the parser (80 KiB) */

enum { HEADER_NONE, HEADER_NAME, HEADER_VALUE };

static struct connection *
of(http_parser *parser)
{
	return parser->data;
}

/* ---- what the parser finds ---- */

static int
on_begin(http_parser *parser)
{
	struct connection *c = of(parser);

	c->request.url.n = 0;
	c->request.body.n = 0;
	c->request.header_length = SIZE_MAX;
	c->header = HEADER_NONE;
	c->header_name.n = c->header_value.n = 0;
	c->want_continue = false;
	return 0;
}

static int
on_url(http_parser *parser, const char *at, size_t n)
{
	struct connection *c = of(parser);

	return c->request.url.n + n > MAX_URL || !bytes_add(&c->request.url, at, n);
}

static bool
named(const struct connection *c, const char *name)
{
	return c->header_name.n == strlen(name) && !strncasecmp(c->header_name.data, name, c->header_name.n);
}

/* A whole header line is there. 0, or the request is malformed. */
static int
header_end(struct connection *c)
{
	char number[32];
	char *end;

	if (c->header != HEADER_VALUE)
		return 0;
	if (named(c, "Inference-Header-Content-Length")) {
		if (!c->header_value.n || c->header_value.n >= sizeof(number))
			return 1;
		memcpy(number, c->header_value.data, c->header_value.n);
		number[c->header_value.n] = 0;
		if (number[0] < '0' || number[0] > '9')
			return 1;
		c->request.header_length = strtoull(number, &end, 10);
		if (*end || c->request.header_length > c->body_limit)
			return 1;
	} else if (named(c, "Expect")) {
		c->want_continue = c->header_value.n == 12 && !strncasecmp(c->header_value.data, "100-continue", 12);
	}
	c->header_name.n = c->header_value.n = 0;
	return 0;
}

static int
on_header_field(http_parser *parser, const char *at, size_t n)
{
	struct connection *c = of(parser);

	if (header_end(c))
		return 1;
	c->header = HEADER_NAME;
	return c->header_name.n + n > MAX_HEADER || !bytes_add(&c->header_name, at, n);
}

static int
on_header_value(http_parser *parser, const char *at, size_t n)
{
	struct connection *c = of(parser);

	c->header = HEADER_VALUE;
	return c->header_value.n + n > MAX_HEADER || !bytes_add(&c->header_value, at, n);
}

static int
on_headers(http_parser *parser)
{
	struct connection *c = of(parser);

	if (header_end(c))
		return 1;
	c->header = HEADER_NONE;
	c->request.method = (enum http_method)parser->method;
	return 0;
}

static int
on_body(http_parser *parser, const char *at, size_t n)
{
	struct connection *c = of(parser);

	if (c->request.body.n + n > c->body_limit)
		return 1;
	c->want_continue = false;
	return !bytes_add(&c->request.body, at, n);
}

static int
on_complete(http_parser *parser)
{
	struct connection *c = of(parser);

	c->complete = true;
	c->keep_alive = http_should_keep_alive(parser);
	/* What follows is the next request's: not before this one is answered. */
	http_parser_pause(parser, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_message_begin = on_begin,
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_headers_complete = on_headers,
	.on_body = on_body,
	.on_message_complete = on_complete,
};

/* ---- responses ---- */

static const char *
reason(unsigned status)
{
	switch (status) {
#define XX(number, name, text)                                                                                        \
	case number:                                                                                                  \
		return #text;
		HTTP_STATUS_MAP(XX)
#undef XX
	}
	return "Unknown";
}

void
connection_answer(struct connection *c, struct response *response)
{
	bool head = c->request.method == HTTP_HEAD;
	bool good;

	c->out.n = c->out_sent = 0;
	good = bytes_print(&c->out, "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", response->status,
			   reason(response->status), response->content_type, response->body.n);
	if (good && response->json_bytes)
		good = bytes_print(&c->out, "Inference-Header-Content-Length: %zu\r\n", response->json_bytes);
	if (good && response->status == 503)
		good = bytes_print(&c->out, "Retry-After: 1\r\n");
	good = good && bytes_print(&c->out, "%s\r\n", c->keep_alive ? "" : "Connection: close\r\n");
	if (good && !head)
		good = bytes_add(&c->out, response->body.data, response->body.n);
	if (!good) {
		c->out.n = 0;
		c->keep_alive = false;
	}
	bytes_free(&response->body);
	inference_finish(&c->inference);
	c->running = false;
}

static enum connection_want
refuse(struct connection *c, unsigned status, const char *text)
{
	struct response response = { 0 };

	c->keep_alive = false;
	c->request.method = HTTP_POST;
	protocol_error(&response, status, "%s", text);
	connection_answer(c, &response);
	return WANT_OUTPUT;
}

static enum connection_want
parse_failed(struct connection *c)
{
	char text[128];

	if (HTTP_PARSER_ERRNO(&c->parser) == HPE_CB_body) {
		snprintf(text, sizeof(text), "body is longer than %zu bytes", c->body_limit);
		return refuse(c, 413, text);
	}
	if (HTTP_PARSER_ERRNO(&c->parser) == HPE_CB_url)
		return refuse(c, 414, "path is longer than 4096 bytes");
	if (HTTP_PARSER_ERRNO(&c->parser) == HPE_HEADER_OVERFLOW)
		return refuse(c, 431, "headers are too long");
	snprintf(text, sizeof(text), "not HTTP/1.1: %s", http_errno_description(HTTP_PARSER_ERRNO(&c->parser)));
	return refuse(c, 400, text);
}

static enum connection_want
handle(struct connection *c, struct model *m)
{
	struct response response = { 0 };

	c->complete = false;
	if (protocol_handle(m, &c->request, &response, &c->inference) == RUN_FIRST) {
		c->running = true;
		return WANT_RUN;
	}
	connection_answer(c, &response);
	return WANT_OUTPUT;
}

/* ---- life ---- */

void
connection_start(struct connection *c, int fd, size_t body_limit)
{
	unsigned generation = c->generation + 1;

	memset(c, 0, sizeof(*c));
	c->generation = generation;
	c->fd = fd;
	c->body_limit = body_limit;
	http_parser_init(&c->parser, HTTP_REQUEST);
	c->parser.data = c;
}

void
connection_end(struct connection *c)
{
	inference_finish(&c->inference);
	bytes_free(&c->request.url);
	bytes_free(&c->request.body);
	bytes_free(&c->header_name);
	bytes_free(&c->header_value);
	bytes_free(&c->out);
}

enum connection_want
connection_advance(struct connection *c, struct model *m)
{
	size_t used;

	if (!c->in_n)
		return WANT_INPUT;
	http_parser_pause(&c->parser, 0);
	used = http_parser_execute(&c->parser, &settings, c->in + c->in_first, c->in_n);
	c->in_first += used;
	c->in_n -= used;
	if (c->complete)
		return c->parser.upgrade ? refuse(c, 501, "no other protocol is spoken here") : handle(c, m);
	if (HTTP_PARSER_ERRNO(&c->parser) != HPE_OK)
		return parse_failed(c);
	if (c->want_continue) {
		c->want_continue = false;
		c->out.n = c->out_sent = 0;
		if (!bytes_print(&c->out, "HTTP/1.1 100 Continue\r\n\r\n"))
			return WANT_CLOSE;
		c->keep_alive = true;
		return WANT_OUTPUT;
	}
	return WANT_INPUT;
}

enum connection_want
connection_sent(struct connection *c, struct model *m)
{
	c->out.n = c->out_sent = 0;
	if (!c->keep_alive)
		return WANT_CLOSE;
	/* A large request must not keep its memory for as long as the client stays. */
	if (c->request.body.capacity > 1u << 20 && !c->in_n)
		bytes_free(&c->request.body);
	return connection_advance(c, m);
}
