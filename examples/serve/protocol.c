/* SPDX-License-Identifier: MIT */
/* protocol.c: the Open Inference Protocol (KServe v2) over one model: health, metadata, inference with JSON and with the
 * binary tensor extension. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

void
protocol_error(struct response *response, unsigned status, const char *format, ...)
{
	char text[1024];
	va_list ap;
	json_t *body;
	char *dump;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	body = json_pack("{s:s%}", "error", text, strnlen(text, sizeof(text)));
	dump = body ? json_dumps(body, JSON_COMPACT) : NULL;
	response->body.n = 0;
	response->status = status;
	response->content_type = "application/json";
	response->json_bytes = 0;
	/* Text that is no UTF-8 cannot be quoted. */
	if (dump)
		bytes_add(&response->body, dump, strlen(dump));
	else
		bytes_print(&response->body, "{\"error\":\"request is not valid UTF-8\"}");
	free(dump);
	json_decref(body);
}

/* Takes body. */
static void
reply(struct response *response, json_t *body)
{
	char *dump = body ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;

	json_decref(body);
	if (!dump || !bytes_add(&response->body, dump, strlen(dump))) {
		free(dump);
		protocol_error(response, 500, "out of memory");
		return;
	}
	response->status = 200;
	response->content_type = "application/json";
	free(dump);
}

/* ---- metadata ---- */

static json_t *
shape_json(const struct gpuplan_io *io)
{
	json_t *shape = json_array();

	for (uint32_t i = 0; shape && i < io->rank; i++)
		json_array_append_new(shape, json_integer((json_int_t)io->shape[i]));
	return shape;
}

/* Inputs and outputs without a name of their own are called input0, output1 ... */
static void
io_name(const struct model *m, bool output, uint32_t i, char name[128])
{
	struct gpuplan_io io;

	gpuplan_plan_get_io(m->plan, output, i, &io);
	if (io.name && *io.name)
		snprintf(name, 128, "%.127s", io.name);
	else
		snprintf(name, 128, "%s%" PRIu32, output ? "output" : "input", i);
}

static json_t *
tensors_json(const struct model *m, bool output)
{
	json_t *list = json_array();
	uint32_t n = output ? m->n_outputs : m->n_inputs;
	struct gpuplan_io io;
	char name[128];

	for (uint32_t i = 0; list && i < n; i++) {
		gpuplan_plan_get_io(m->plan, output, i, &io);
		io_name(m, output, i, name);
		json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", name, "datatype", tensor_type(io.dtype),
						      "shape", shape_json(&io)));
	}
	return list;
}

static void
server_metadata(struct response *response)
{
	reply(response, json_pack("{s:s, s:s, s:[s]}", "name", "gpuplan-serve", "version", SERVE_VERSION, "extensions",
				  "binary_tensor_data"));
}

static void
model_metadata(const struct model *m, struct response *response)
{
	reply(response, json_pack("{s:s, s:[s], s:s, s:o, s:o}", "name", m->name, "versions", "1", "platform", "gpuplan",
				  "inputs", tensors_json(m, false), "outputs", tensors_json(m, true)));
}

/* ---- inference: the request ---- */

struct infer {
	struct model *m;
	const struct request *request;
	struct response *response;
	struct inference *inference;
	json_t *root;
	size_t binary_first, binary_n; /* of the body behind the JSON: next, left */
	bool all_binary;	/* outputs */
	bool *given;		/* inputs that were there */
};

static bool
find_io(const struct model *m, bool output, const char *name, uint32_t *number)
{
	uint32_t n = output ? m->n_outputs : m->n_inputs;
	char here[128];

	for (uint32_t i = 0; i < n; i++) {
		io_name(m, output, i, here);
		if (!strcmp(here, name)) {
			*number = i;
			return true;
		}
	}
	return false;
}

static bool
same_shape(const json_t *shape, const struct gpuplan_io *io)
{
	if (!json_is_array(shape) || json_array_size(shape) != io->rank)
		return false;
	for (uint32_t i = 0; i < io->rank; i++) {
		json_t *n = json_array_get(shape, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 || (uint64_t)json_integer_value(n) != io->shape[i])
			return false;
	}
	return true;
}

static int
bad(struct infer *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int
bad(struct infer *f, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	protocol_error(f->response, 400, "%s", text);
	return -EINVAL;
}

static int
shape_mismatch(struct infer *f, const char *name, const json_t *shape, const struct gpuplan_io *io)
{
	json_t *wanted = shape_json(io);
	char *here = wanted ? json_dumps(wanted, JSON_COMPACT) : NULL;
	char *there = shape ? json_dumps(shape, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	int r = bad(f, "input \"%.64s\" has shape %.128s, the model's is %.128s", name, there ? there : "none",
		    here ? here : "?");

	free(here);
	free(there);
	json_decref(wanted);
	return r;
}

static int
read_binary(struct infer *f, const char *name, const json_t *size, void *to, size_t bytes)
{
	if (!json_is_integer(size) || (uint64_t)json_integer_value(size) != bytes)
		return bad(f, "input \"%.64s\" has binary_data_size %lld, its shape and type make %zu bytes", name,
			   (long long)json_integer_value(size), bytes);
	if (f->binary_n < bytes)
		return bad(f, "input \"%.64s\" needs %zu binary bytes, %zu are left behind the JSON", name, bytes,
			   f->binary_n);
	memcpy(to, f->request->body.data + f->binary_first, bytes);
	f->binary_first += bytes;
	f->binary_n -= bytes;
	return 0;
}

static int
read_input(struct infer *f, const json_t *input)
{
	const char *name = json_string_value(json_object_get(input, "name"));
	const char *type = json_string_value(json_object_get(input, "datatype"));
	const json_t *shape = json_object_get(input, "shape"), *data = json_object_get(input, "data");
	const json_t *size = json_object_get(json_object_get(input, "parameters"), "binary_data_size");
	struct gpuplan_io io;
	uint32_t number;
	size_t bytes;
	void *to;

	if (!name || !find_io(f->m, false, name, &number))
		return bad(f, "model \"%.64s\" has no input \"%.64s\"", f->m->name, name ? name : "(no name)");
	if (f->given[number])
		return bad(f, "input \"%.64s\" is there twice", name);
	gpuplan_plan_get_io(f->m->plan, false, number, &io);
	if (!type || strcmp(type, tensor_type(io.dtype)))
		return bad(f, "input \"%.64s\" has datatype %.32s, the model's is %s", name, type ? type : "none",
			   tensor_type(io.dtype));
	if (!same_shape(shape, &io))
		return shape_mismatch(f, name, shape, &io);
	to = gpuplan_slot_input(f->inference->slot, number, &bytes);
	f->given[number] = true;
	if (size)
		return data ? bad(f, "input \"%.64s\" has both data and binary_data_size", name) :
			      read_binary(f, name, size, to, bytes);
	if (!tensor_from_json(data, io.dtype, to, tensor_elements(&io)))
		return bad(f, "input \"%.64s\": data is not an array of %zu numbers of type %s", name, tensor_elements(&io),
			   tensor_type(io.dtype));
	return 0;
}

static int
read_inputs(struct infer *f)
{
	json_t *inputs = json_object_get(f->root, "inputs");
	char name[128];
	int r;

	if (!json_is_array(inputs))
		return bad(f, "request has no array \"inputs\"");
	for (size_t i = 0; i < json_array_size(inputs); i++)
		if ((r = read_input(f, json_array_get(inputs, i))))
			return r;
	for (uint32_t i = 0; i < f->m->n_inputs; i++)
		if (!f->given[i]) {
			io_name(f->m, false, i, name);
			return bad(f, "input \"%.64s\" is missing", name);
		}
	if (f->binary_n)
		return bad(f, "%zu binary bytes behind the JSON belong to no input", f->binary_n);
	return 0;
}

static int
read_outputs(struct infer *f)
{
	json_t *outputs = json_object_get(f->root, "outputs");
	uint32_t number;

	for (uint32_t i = 0; i < f->m->n_outputs; i++) {
		f->inference->wanted[i] = !outputs;
		f->inference->binary[i] = f->all_binary;
	}
	if (outputs && !json_is_array(outputs))
		return bad(f, "\"outputs\" is no array");
	for (size_t i = 0; i < json_array_size(outputs); i++) {
		json_t *output = json_array_get(outputs, i);
		const char *name = json_string_value(json_object_get(output, "name"));
		json_t *binary = json_object_get(json_object_get(output, "parameters"), "binary_data");

		if (!name || !find_io(f->m, true, name, &number))
			return bad(f, "model \"%.64s\" has no output \"%.64s\"", f->m->name, name ? name : "(no name)");
		f->inference->wanted[number] = true;
		if (binary)
			f->inference->binary[number] = json_is_true(binary);
	}
	return 0;
}

/* The plan's parameters are set by their names, as integers. */
static int
read_parameter(struct infer *f, const char *name, const json_t *value)
{
	struct gpuplan_parameter parameter;
	struct gpuplan_value set = { 0 };
	struct gpuplan_error error;

	if (!strcmp(name, "binary_data_output")) {
		f->all_binary = json_is_true(value);
		return 0;
	}
	if (gpuplan_plan_parameter(f->m->plan, name, &set.parameter))
		return bad(f, "model \"%.64s\" has no parameter \"%.64s\"", f->m->name, name);
	gpuplan_plan_get_parameter(f->m->plan, set.parameter, &parameter);
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return bad(f, "parameter \"%.64s\" is not an integer of at least 0", name);
	set.bytes = parameter.bytes;
	set.value = (uint64_t)json_integer_value(value);
	if (gpuplan_slot_set(f->inference->slot, &set, 1, &error))
		return bad(f, "%s", error.message);
	return 0;
}

static int
read_parameters(struct infer *f)
{
	json_t *parameters = json_object_get(f->root, "parameters"), *value;
	const char *name;
	int r;

	if (parameters && !json_is_object(parameters))
		return bad(f, "\"parameters\" is no object");
	json_object_foreach(parameters, name, value)
		if ((r = read_parameter(f, name, value)))
			return r;
	return 0;
}

static int
parse(struct infer *f)
{
	const struct request *q = f->request;
	size_t json = q->header_length == SIZE_MAX ? q->body.n : q->header_length;
	json_error_t error;
	json_t *id;

	if (json > q->body.n)
		return bad(f, "Inference-Header-Content-Length is %zu, the body has %zu bytes", json, q->body.n);
	f->binary_first = json;
	f->binary_n = q->body.n - json;
	f->root = json_loadb(q->body.data ? q->body.data : "", json, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(f->root))
		return bad(f, "body is no JSON object: %s (line %d, column %d)", f->root ? "another value" : error.text,
			   error.line, error.column);
	id = json_object_get(f->root, "id");
	if (id && !json_is_string(id))
		return bad(f, "\"id\" is no string");
	f->inference->id = id ? strdup(json_string_value(id)) : NULL;
	if (id && !f->inference->id) {
		protocol_error(f->response, 500, "out of memory");
		return -ENOMEM;
	}
	return 0;
}

static int
fill(struct infer *f)
{
	int r;

	if ((r = parse(f)) || (r = read_parameters(f)) || (r = read_inputs(f)))
		return r;
	return read_outputs(f);
}

void
inference_finish(struct inference *inference)
{
	if (inference->slot)
		gpuplan_slot_release(inference->slot);
	free(inference->id);
	free(inference->binary);
	free(inference->wanted);
	*inference = (struct inference){ 0 };
}

static enum verdict
infer(struct model *m, const struct request *request, struct response *response, struct inference *inference)
{
	struct infer f = { .m = m, .request = request, .response = response, .inference = inference };
	int r;

	*inference = (struct inference){ 0 };
	if (gpuplan_plan_acquire(m->plan, &inference->slot)) {
		inference->slot = NULL;
		protocol_error(response, 503, "all slots of model \"%.64s\" are taken", m->name);
		return ANSWER_NOW;
	}
	inference->binary = calloc(m->n_outputs + 1u, sizeof(*inference->binary));
	inference->wanted = calloc(m->n_outputs + 1u, sizeof(*inference->wanted));
	f.given = calloc(m->n_inputs + 1u, sizeof(*f.given));
	if (!inference->binary || !inference->wanted || !f.given) {
		protocol_error(response, 500, "out of memory");
		r = -ENOMEM;
	} else {
		r = fill(&f);
	}
	free(f.given);
	json_decref(f.root);
	if (!r)
		return RUN_FIRST;
	inference_finish(inference);
	return ANSWER_NOW;
}

/* ---- inference: the response ---- */

static json_t *
output_json(const struct model *m, const struct inference *inference, uint32_t i, struct bytes *binary)
{
	struct gpuplan_io io;
	size_t bytes;
	const void *data = gpuplan_slot_output(inference->slot, i, &bytes);
	bool as_binary;
	json_t *output, *list;
	char name[128];

	gpuplan_plan_get_io(m->plan, true, i, &io);
	as_binary = inference->binary[i] || io.dtype == GPUPLAN_F16 || io.dtype == GPUPLAN_BF16;
	io_name(m, true, i, name);
	output = json_pack("{s:s, s:s, s:o}", "name", name, "datatype", tensor_type(io.dtype), "shape", shape_json(&io));
	if (!output)
		return NULL;
	if (as_binary) {
		if (!bytes_add(binary, data, bytes) ||
		    json_object_set_new(output, "parameters",
					json_pack("{s:I}", "binary_data_size", (json_int_t)bytes))) {
			json_decref(output);
			return NULL;
		}
		return output;
	}
	list = tensor_to_json(data, io.dtype, tensor_elements(&io));
	if (!list || json_object_set_new(output, "data", list)) {
		json_decref(output);
		return NULL;
	}
	return output;
}

void
protocol_result(const struct model *m, const struct inference *inference, struct response *response)
{
	json_t *outputs = json_array(), *body;
	struct bytes binary = { 0 };

	for (uint32_t i = 0; outputs && i < m->n_outputs; i++)
		if (inference->wanted[i] && json_array_append_new(outputs, output_json(m, inference, i, &binary))) {
			json_decref(outputs);
			outputs = NULL;
		}
	body = outputs ? json_pack("{s:s, s:s, s:o}", "model_name", m->name, "model_version", "1", "outputs", outputs) : NULL;
	if (body && inference->id)
		json_object_set_new(body, "id", json_string(inference->id));
	reply(response, body);
	if (response->status == 200 && binary.n) {
		response->json_bytes = response->body.n;
		response->content_type = "application/octet-stream";
		if (!bytes_add(&response->body, binary.data, binary.n))
			protocol_error(response, 500, "out of memory");
	}
	bytes_free(&binary);
}

/* ---- routes ---- */

/* "/v2/models/NAME" or ".../versions/1" in front: what follows; NULL: another path, or another model. */
static const char *
behind_model(const struct model *m, const char *path)
{
	static const char models[] = "/v2/models/", version[] = "/versions/1";
	size_t n = strlen(m->name);

	if (strncmp(path, models, sizeof(models) - 1))
		return NULL;
	path += sizeof(models) - 1;
	if (strncmp(path, m->name, n) || (path[n] && path[n] != '/'))
		return NULL;
	path += n;
	if (!strncmp(path, version, sizeof(version) - 1) &&
	    (!path[sizeof(version) - 1] || path[sizeof(version) - 1] == '/'))
		path += sizeof(version) - 1;
	return path;
}

static bool
health(const struct model *m, const char *path, struct response *response)
{
	if (!strcmp(path, "/v2/health/live"))
		reply(response, json_pack("{s:b}", "live", 1));
	else if (!strcmp(path, "/v2/health/ready"))
		reply(response, json_pack("{s:b}", "ready", !m->dead));
	else
		return false;
	if (m->dead && strstr(path, "ready"))
		response->status = 503;
	return true;
}

static enum verdict
get(const struct model *m, const char *path, struct response *response)
{
	const char *rest = behind_model(m, path);

	if (health(m, path, response))
		return ANSWER_NOW;
	if (!strcmp(path, "/v2") || !strcmp(path, "/v2/"))
		server_metadata(response);
	else if (rest && !*rest)
		model_metadata(m, response);
	else if (rest && !strcmp(rest, "/ready"))
		reply(response, json_pack("{s:s, s:b}", "name", m->name, "ready", 1));
	else if (rest && !strcmp(rest, "/infer"))
		protocol_error(response, 405, "inference is a POST");
	else
		protocol_error(response, 404, "no such path; the model is /v2/models/%.64s", m->name);
	return ANSWER_NOW;
}

enum verdict
protocol_handle(struct model *m, const struct request *request, struct response *response, struct inference *inference)
{
	char path[512];
	size_t n = request->url.n;
	const char *query = n ? memchr(request->url.data, '?', n) : NULL, *rest;

	if (query)
		n = (size_t)(query - request->url.data);
	if (n >= sizeof(path) || (n && memchr(request->url.data, 0, n))) {
		protocol_error(response, 404, "no such path");
		return ANSWER_NOW;
	}
	memcpy(path, n ? request->url.data : "", n);
	path[n] = 0;
	if (request->method == HTTP_GET || request->method == HTTP_HEAD)
		return get(m, path, response);
	if (request->method != HTTP_POST) {
		protocol_error(response, 405, "%s is not known here", http_method_str(request->method));
		return ANSWER_NOW;
	}
	rest = behind_model(m, path);
	if (rest && !strcmp(rest, "/infer"))
		return infer(m, request, response, inference);
	if (!strncmp(path, "/v2/", 4) && rest && !*rest)
		protocol_error(response, 405, "metadata is a GET");
	else
		protocol_error(response, 404, "no such path; inference is /v2/models/%.64s/infer", m->name);
	return ANSWER_NOW;
}
