/* SPDX-License-Identifier: MIT */
/* serve_client: N clients at once ask a gpuplan-serve of the speech model, and hold every answer against the one that the
 * same sound got before any load.
 *
 *   serve_client PORT CLIENTS SECONDS [--binary] [--lossy]
 *
 * --binary: tensors in the binary extension. --lossy: the server may go away (a balancer in front answers 502 or 504, or
 * the connection ends); those requests are counted and asked again. A 503 is asked again after a pause. Prints
 * "right R wrong W busy B lost L"; exit status 0: no answer was wrong, every client got at least one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 576
#define SOUNDS 8

static unsigned port, seconds;
static bool binary, lossy, loaded;
static float sounds[SOUNDS][SAMPLES], answers[SOUNDS];
static atomic_ulong right, wrong, busy, lost;
static double end_time;

struct reply {
	int status;		/* HTTP; 0: the connection is gone */
	size_t header_length;	/* Inference-Header-Content-Length; 0: none */
	char *body;
	size_t n;
};

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
dial(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct timeval patience = { .tv_sec = 30 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool
send_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = send(fd, data, n, MSG_NOSIGNAL);

		if (done <= 0)
			return false;
		data += done;
		n -= (size_t)done;
	}
	return true;
}

static size_t
header_number(const char *head, const char *name)
{
	const char *at = strcasestr(head, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/* buffer: room for a whole response of this model. */
static struct reply
receive(int fd, char *buffer, size_t room)
{
	struct reply reply = { 0 };
	size_t n = 0, head = 0, body = 0;

	while (!head || n < head + body) {
		ssize_t got = recv(fd, buffer + n, room - 1 - n, 0);
		char *end;

		if (got <= 0)
			return reply;
		n += (size_t)got;
		buffer[n] = 0;
		end = head ? NULL : strstr(buffer, "\r\n\r\n");
		if (!end)
			continue;
		*end = 0;
		head = (size_t)(end - buffer) + 4;
		body = header_number(buffer, "\nContent-Length:");
		if (head + body >= room)
			return reply;
	}
	if (sscanf(buffer, "HTTP/1.1 %d", &reply.status) != 1)
		reply.status = 0;
	reply.header_length = header_number(buffer, "\nInference-Header-Content-Length:");
	reply.body = buffer + head;
	reply.n = body;
	return reply;
}

static size_t
json_request(char *out, size_t room, unsigned sound)
{
	size_t n = (size_t)snprintf(out, room, "{\"id\":\"%u\",\"inputs\":[{\"name\":\"input\",\"shape\":[1,576],"
						"\"datatype\":\"FP32\",\"data\":[", sound);

	for (unsigned i = 0; i < SAMPLES; i++)
		n += (size_t)snprintf(out + n, room - n, "%s%.9g", i ? "," : "", (double)sounds[sound][i]);
	return n + (size_t)snprintf(out + n, room - n, "]}]}");
}

static size_t
binary_request(char *out, size_t room, unsigned sound, size_t *json)
{
	size_t n = (size_t)snprintf(out, room, "{\"id\":\"%u\",\"inputs\":[{\"name\":\"input\",\"shape\":[1,576],"
						"\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%zu}}],"
						"\"parameters\":{\"binary_data_output\":true}}",
				    sound, sizeof(sounds[0]));

	*json = n;
	memcpy(out + n, sounds[sound], sizeof(sounds[0]));
	return n + sizeof(sounds[0]);
}

static bool
ask(int fd, unsigned sound, char *buffer, size_t room, struct reply *reply)
{
	char head[512], body[32768];
	size_t json = 0, n = binary ? binary_request(body, sizeof(body), sound, &json) : json_request(body, sizeof(body), sound);
	int h;

	h = snprintf(head, sizeof(head), "POST /v2/models/silero-vad/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n",
		     n);
	if (binary)
		h += snprintf(head + h, sizeof(head) - (size_t)h, "Inference-Header-Content-Length: %zu\r\n", json);
	h += snprintf(head + h, sizeof(head) - (size_t)h, "\r\n");
	if (!send_all(fd, head, (size_t)h) || !send_all(fd, body, n))
		return false;
	*reply = receive(fd, buffer, room);
	return reply->status != 0;
}

/* The probability and the id of an answer; false: it is not one. */
static bool
read_answer(const struct reply *reply, unsigned *id, float *answer)
{
	size_t n = reply->header_length ? reply->header_length : reply->n;
	json_t *root = n <= reply->n ? json_loadb(reply->body, n, 0, NULL) : NULL;
	json_t *output = json_array_get(json_object_get(root, "outputs"), 0);
	const char *text = json_string_value(json_object_get(root, "id"));
	bool good = text && output;

	*id = text ? (unsigned)strtoul(text, NULL, 10) : SOUNDS;
	if (reply->header_length && reply->n - n == sizeof(*answer))
		memcpy(answer, reply->body + n, sizeof(*answer));
	else if (json_is_number(json_array_get(json_object_get(output, "data"), 0)))
		*answer = (float)json_number_value(json_array_get(json_object_get(output, "data"), 0));
	else
		good = false;
	json_decref(root);
	return good;
}

/* Whether it is the right answer. */
static bool
judge(const struct reply *reply, unsigned sound)
{
	float answer = NAN;
	unsigned id;

	if (reply->status == 503) {
		atomic_fetch_add(&busy, 1);
		usleep(2000);
	} else if (lossy && (reply->status == 502 || reply->status == 504)) {
		atomic_fetch_add(&lost, 1);
		usleep(2000);
	} else if (reply->status == 200 && read_answer(reply, &id, &answer) && id == sound &&
		   answer == answers[sound]) {
		atomic_fetch_add(&right, 1);
		return true;
	} else {
		atomic_fetch_add(&wrong, 1);
		fprintf(stderr, "sound %u: status %d, %.9g instead of %.9g: %.*s\n", sound, reply->status, (double)answer,
			(double)answers[sound], reply->header_length ? 0 : (int)reply->n, reply->body);
	}
	return false;
}

static void *
client(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg, i = number;
	char buffer[32768];
	bool answered = false;
	int fd = -1;

	/* On a slow machine a client's first answer may come late. */
	while (now() < end_time || (!answered && now() < end_time + 120)) {
		struct reply reply;

		if (fd < 0)
			fd = dial();
		if (fd < 0 || !ask(fd, i % SOUNDS, buffer, sizeof(buffer), &reply)) {
			if (fd >= 0)
				close(fd);
			fd = -1;
			atomic_fetch_add(lossy ? &lost : &wrong, 1);
			usleep(10000);
			continue;
		}
		answered |= judge(&reply, i % SOUNDS);
		i++;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void
make_sounds(void)
{
	for (unsigned s = 0; s < SOUNDS; s++)
		for (unsigned i = 0; i < SAMPLES; i++)
			sounds[s][i] = 0.4f * sinf((float)(i * (s + 3)) * 0.05f) + 0.1f * sinf((float)i * 0.7f);
}

/* The answers that count: one client, nobody else. */
static bool
learn(void)
{
	char buffer[32768];
	int fd = dial();

	for (unsigned s = 0; fd >= 0 && s < SOUNDS; s++) {
		struct reply reply;
		unsigned id;

		do {
			if (!ask(fd, s, buffer, sizeof(buffer), &reply))
				return false;
		} while (reply.status == 503);
		if (reply.status != 200 || !read_answer(&reply, &id, &answers[s]))
			return false;
	}
	if (fd >= 0)
		close(fd);
	for (unsigned s = 1; s < SOUNDS; s++)
		loaded |= answers[s] != answers[0];
	return fd >= 0;
}

int
main(int argc, char **argv)
{
	unsigned n;
	pthread_t threads[256];

	if (argc < 4)
		return 2;
	port = (unsigned)atoi(argv[1]);
	n = (unsigned)atoi(argv[2]);
	seconds = (unsigned)atoi(argv[3]);
	for (int i = 4; i < argc; i++) {
		binary |= !strcmp(argv[i], "--binary");
		lossy |= !strcmp(argv[i], "--lossy");
	}
	make_sounds();
	if (n > 256 || !learn() || !loaded) {
		fprintf(stderr, "serve_client: the server does not answer\n");
		return 1;
	}
	end_time = now() + seconds;
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, client, (void *)(uintptr_t)i))
			return 2;
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("right %lu wrong %lu busy %lu lost %lu\n", right, wrong, busy, lost);
	return wrong || right < n;
}
