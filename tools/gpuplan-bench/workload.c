/* SPDX-License-Identifier: MIT */
/* workload.c: feeds recorded speech frame by frame and holds every answer against the reference's.
 *
 * Each lane of each slot is a stream of its own: the recording turned round by the reference's shift. Streams keep
 * their state in the slot; a plan with the state as input and output gets it carried over here.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/tool.h"
#include "plan_image.h"

struct stream {
	unsigned reference;	/* which of the reference's streams */
	uint64_t frame;		/* next */
};

struct workload {
	bool speech;
	unsigned batch, n_slots;
	unsigned input, output;	/* numbers in the plan */
	int state_input, state_output; /* -1: kept in the slot */
	unsigned context, frame, frames, n_references;
	double tolerance;
	float *samples;		/* frames x frame */
	double *probability;	/* n_references x frames */
	unsigned *shift;
	struct stream *streams;	/* n_slots x batch */
	struct workload_result result;
	uint32_t noise;
	unsigned n_inputs;
};

static json_t *
member(json_t *object, const char *name, json_type type, const char *path)
{
	json_t *value = json_object_get(object, name);

	if (!value || (json_typeof(value) != type && !(type == JSON_REAL && json_is_number(value))))
		tool_die("%s: member \"%s\" is missing or of another type", path, name);
	return value;
}

static unsigned
number(json_t *object, const char *name, const char *path)
{
	json_int_t value = json_integer_value(member(object, name, JSON_INTEGER, path));

	if (value < 0 || value > 1 << 24)
		tool_die("%s: \"%s\" is %lld, 0 to 2^24 is possible", path, name, (long long)value);
	return (unsigned)value;
}

static uint32_t
le32(const uint8_t *b)
{
	return b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
}

/* 16-bit mono PCM with a plain 44-byte header. */
static void
read_wav(struct workload *w, const char *path, unsigned rate)
{
	size_t n = (size_t)w->frames * w->frame;
	uint8_t header[44];
	int16_t *pcm = malloc(n * sizeof(*pcm));
	FILE *f = fopen(path, "rb");

	w->samples = malloc(n * sizeof(*w->samples));
	if (!f || !pcm || !w->samples)
		tool_die("%s: %s", path, strerror(errno));
	if (fread(header, 1, 44, f) != 44 || memcmp(header, "RIFF", 4) || memcmp(header + 36, "data", 4))
		tool_die("%s: no plain WAV header", path);
	if (header[20] != 1 || header[22] != 1 || header[34] != 16 || le32(header + 24) != rate)
		tool_die("%s: %u Hz, %u channels, %u bits; the reference wants %u Hz, 1 channel, 16 bits", path,
			 le32(header + 24), header[22], header[34], rate);
	if (le32(header + 40) < n * 2 || fread(pcm, 2, n, f) != n)
		tool_die("%s: %u bytes of sound, the reference has %zu", path, le32(header + 40), n * 2);
	for (size_t i = 0; i < n; i++)
		w->samples[i] = (float)pcm[i] / 32768.0f;
	fclose(f);
	free(pcm);
}

static void
read_streams(struct workload *w, json_t *root, const char *path)
{
	json_t *streams = member(root, "streams", JSON_ARRAY, path);

	w->n_references = (unsigned)json_array_size(streams);
	w->shift = calloc(w->n_references, sizeof(*w->shift));
	w->probability = calloc((size_t)w->n_references * w->frames, sizeof(*w->probability));
	if (!w->n_references || !w->shift || !w->probability)
		tool_die("%s: no streams, or no memory for them", path);
	for (unsigned s = 0; s < w->n_references; s++) {
		json_t *stream = json_array_get(streams, s);
		json_t *p = member(stream, "probability", JSON_ARRAY, path);

		w->shift[s] = number(stream, "shift", path);
		if (json_array_size(p) != w->frames)
			tool_die("%s: stream %u has %zu probabilities for %u frames", path, s, json_array_size(p), w->frames);
		for (unsigned i = 0; i < w->frames; i++)
			w->probability[(size_t)s * w->frames + i] = json_number_value(json_array_get(p, i));
	}
}

static int
find_io(struct gpuplan_plan *plan, const char *name, bool output)
{
	size_t bytes;
	const uint8_t *image = gpuplan_plan_image(plan, &bytes);
	const struct plan_image_header *h = (const void *)image;
	const struct plan_image_io *io = (const void *)(image + h->sections[PLAN_SECTION_IO].offset);
	const char *strings = (const char *)image + h->sections[PLAN_SECTION_STRINGS].offset;
	int n = 0;

	for (uint32_t i = 0; i < h->sections[PLAN_SECTION_IO].count; i++) {
		if ((io[i].output != 0) != output)
			continue;
		if (!strcmp(strings + io[i].name, name))
			return n;
		n++;
	}
	return -1;
}

static void
read_reference(struct workload *w, const char *folder, struct gpuplan_plan *plan)
{
	char path[4096], wav[4096];
	json_error_t error;
	json_t *root;
	int in, out;

	snprintf(path, sizeof(path), "%s/reference.json", folder);
	root = json_load_file(path, 0, &error);
	if (!root && json_error_code(&error) == json_error_cannot_open_file)
		return;
	if (!root)
		tool_die("%s:%d: %s", path, error.line, error.text);
	w->frame = number(root, "frame", path);
	w->context = number(root, "context", path);
	w->frames = number(root, "frames", path);
	w->tolerance = json_number_value(member(root, "tolerance", JSON_REAL, path));
	snprintf(wav, sizeof(wav), "%s/%s", folder, json_string_value(member(root, "wav", JSON_STRING, path)));
	if (!w->frame || !w->frames || w->context > w->frame)
		tool_die("%s: %u frames of %u samples with %u of context make no stream", path, w->frames, w->frame,
			 w->context);
	read_wav(w, wav, number(root, "sample_rate", path));
	read_streams(w, root, path);
	in = find_io(plan, json_string_value(member(root, "input", JSON_STRING, path)), false);
	out = find_io(plan, json_string_value(member(root, "output", JSON_STRING, path)), true);
	if (in < 0 || out < 0)
		tool_die("%s: the plan has no such input or output", path);
	w->input = (unsigned)in;
	w->output = (unsigned)out;
	w->state_input = find_io(plan, json_string_value(member(root, "state_input", JSON_STRING, path)), false);
	w->state_output = find_io(plan, json_string_value(member(root, "state_output", JSON_STRING, path)), true);
	snprintf(w->result.reference, sizeof(w->result.reference), "%s",
		 json_string_value(member(root, "made_by", JSON_STRING, path)));
	w->result.seconds_per_inference = (double)w->frame / number(root, "sample_rate", path);
	w->speech = true;
	json_decref(root);
}

static void
batch_from_sizes(struct workload *w, struct gpuplan_plan *plan)
{
	struct gpuplan_slot *slot;
	size_t bytes;

	if (gpuplan_plan_acquire(plan, &slot))
		tool_die("no slot free to look at the plan's sizes");
	gpuplan_slot_input(slot, w->input, &bytes);
	gpuplan_slot_release(slot);
	w->batch = (unsigned)(bytes / ((w->context + w->frame) * sizeof(float)));
	if (!w->batch || bytes % ((w->context + w->frame) * sizeof(float)))
		tool_die("input of %zu bytes is no whole number of frames of %u samples", bytes, w->context + w->frame);
}

struct workload *
workload_create(const char *folder, struct gpuplan_plan *plan, unsigned slots)
{
	struct workload *w = calloc(1, sizeof(*w));
	struct gpuplan_plan_info info;

	if (!w)
		tool_die("out of memory");
	gpuplan_plan_get_info(plan, &info);
	w->n_inputs = info.n_inputs;
	w->n_slots = slots;
	w->batch = 1;
	w->noise = 1;
	w->state_input = w->state_output = -1;
	read_reference(w, folder, plan);
	if (w->speech)
		batch_from_sizes(w, plan);
	w->streams = calloc((size_t)slots * w->batch, sizeof(*w->streams));
	if (!w->streams)
		tool_die("out of memory");
	for (unsigned i = 0; w->speech && i < slots * w->batch; i++)
		w->streams[i].reference = i % w->n_references;
	w->result.tolerance = w->tolerance;
	w->result.batch = w->batch;
	w->result.frames = w->frames;
	return w;
}

void
workload_destroy(struct workload *w)
{
	free(w->samples);
	free(w->probability);
	free(w->shift);
	free(w->streams);
	free(w);
}

bool
workload_can_verify(const struct workload *w)
{
	return w->speech;
}

static void
feed_noise(struct workload *w, struct gpuplan_slot *slot)
{
	for (unsigned i = 0; i < w->n_inputs; i++) {
		size_t bytes;
		float *in = gpuplan_slot_input(slot, i, &bytes);

		for (size_t k = 0; k < bytes / sizeof(*in); k++) {
			w->noise = w->noise * 1664525u + 1013904223u; /* Numerical Recipes' generator */
			in[k] = (float)(int32_t)w->noise / 2147483648.0f;
		}
	}
}

static const float *
frame_at(const struct workload *w, const struct stream *s, uint64_t frame)
{
	return w->samples + (size_t)((frame + w->shift[s->reference]) % w->frames) * w->frame;
}

/* State starts at zero with the recording and is carried over after that. */
static void
feed_state(struct workload *w, struct gpuplan_slot *slot, bool first)
{
	size_t bytes;

	if (w->state_input < 0) {
		if (first)
			gpuplan_slot_reset_state(slot);
		return;
	}
	void *in = gpuplan_slot_input(slot, (unsigned)w->state_input, &bytes);

	if (first)
		memset(in, 0, bytes);
	else
		memcpy(in, gpuplan_slot_output(slot, (unsigned)w->state_output, NULL), bytes);
}

void
workload_feed(struct workload *w, struct gpuplan_slot *slot)
{
	struct stream *streams = &w->streams[gpuplan_slot_index(slot) * w->batch];
	float *in;

	if (!w->speech) {
		feed_noise(w, slot);
		return;
	}
	in = gpuplan_slot_input(slot, w->input, NULL);
	if (streams[0].frame == w->frames)
		for (unsigned b = 0; b < w->batch; b++)
			streams[b].frame = 0;
	feed_state(w, slot, streams[0].frame == 0);
	for (unsigned b = 0; b < w->batch; b++, in += w->context + w->frame) {
		const struct stream *s = &streams[b];

		if (s->frame == 0)
			memset(in, 0, w->context * sizeof(*in));
		else
			memcpy(in, frame_at(w, s, s->frame - 1) + w->frame - w->context, w->context * sizeof(*in));
		memcpy(in + w->context, frame_at(w, s, s->frame), w->frame * sizeof(*in));
	}
}

void
workload_check(struct workload *w, struct gpuplan_slot *slot)
{
	struct stream *streams = &w->streams[gpuplan_slot_index(slot) * w->batch];
	const float *out;

	if (!w->speech)
		return;
	out = gpuplan_slot_output(slot, w->output, NULL);
	for (unsigned b = 0; b < w->batch; b++) {
		struct stream *s = &streams[b];
		double wanted = w->probability[(size_t)s->reference * w->frames + s->frame];
		double difference = fabs((double)out[b] - wanted);

		w->result.checked++;
		if (!(difference <= w->tolerance))
			w->result.wrong++;
		if (!(difference <= w->result.worst)) {
			w->result.worst = difference;
			w->result.worst_frame = s->frame;
		}
		s->frame++;
	}
}

void
workload_result(const struct workload *w, struct workload_result *result)
{
	*result = w->result;
}
