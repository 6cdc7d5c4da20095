/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "json_node.h"
#include "safetensors.h"

/* The limit of the reference reader; a header is some 100 bytes per tensor. */
#define MAX_HEADER 100000000u

/* value = enum gpuplan_dtype << 8 | bytes; enum 0 where gpuplan has no such type. */
#define TYPE(dtype, bytes) ((dtype) << 8 | (bytes))
static const struct gp_choice dtypes[] = {
	{ "F32", TYPE(GPUPLAN_F32, 4) }, { "F16", TYPE(GPUPLAN_F16, 2) }, { "BF16", TYPE(GPUPLAN_BF16, 2) },
	{ "F64", TYPE(GPUPLAN_F64, 8) }, { "U8", TYPE(GPUPLAN_U8, 1) },	  { "I8", TYPE(GPUPLAN_I8, 1) },
	{ "U16", TYPE(GPUPLAN_U16, 2) }, { "I16", TYPE(GPUPLAN_I16, 2) }, { "U32", TYPE(GPUPLAN_U32, 4) },
	{ "I32", TYPE(GPUPLAN_I32, 4) }, { "U64", TYPE(GPUPLAN_U64, 8) }, { "I64", TYPE(GPUPLAN_I64, 8) },
	{ "BOOL", TYPE(0, 1) },		 { "F8_E4M3", TYPE(0, 1) },	  { "F8_E5M2", TYPE(0, 1) },
	{ NULL, 0 },
};

/* Product of the shape and the element size, into *bytes. */
static int
read_shape(const struct gp_node *shape, uint32_t element_bytes, uint64_t *bytes)
{
	struct gp_node one;
	uint64_t n;
	int r;

	if (json_array_size(shape->value) > GPUPLAN_MAX_RANK)
		return gp_node_error(shape, -EINVAL, "has %zu dimensions, at most %d are read",
				     json_array_size(shape->value), GPUPLAN_MAX_RANK);
	*bytes = element_bytes;
	for (size_t i = 0; i < json_array_size(shape->value); i++) {
		r = gp_node_element(shape, i, JSON_INTEGER, &one);
		if (!r)
			r = gp_node_uint(&one, INT64_MAX, &n);
		if (r)
			return r;
		if (__builtin_mul_overflow(*bytes, n, bytes))
			return gp_node_error(shape, -EINVAL, "its bytes are more than 64 bits hold");
	}
	return 0;
}

static int
check_tensor(const struct gp_node *tensor, uint64_t data_bytes)
{
	static const char *const known[] = { "dtype", "shape", "data_offsets", NULL };
	struct gp_node shape, offsets, one;
	uint64_t bytes = 0, range[2] = { 0 };
	int r, type;

	if ((r = gp_node_check_members(tensor, known)) || (r = gp_node_get_choice(tensor, "dtype", dtypes, &type)) ||
	    (r = gp_node_child(tensor, "shape", JSON_ARRAY, &shape)) ||
	    (r = read_shape(&shape, type & 0xff, &bytes)) ||
	    (r = gp_node_child(tensor, "data_offsets", JSON_ARRAY, &offsets)))
		return r;
	if (json_array_size(offsets.value) != 2)
		return gp_node_error(&offsets, -EINVAL, "has %zu elements, expected begin and end",
				     json_array_size(offsets.value));
	for (size_t i = 0; i < 2; i++)
		if ((r = gp_node_element(&offsets, i, JSON_INTEGER, &one)) ||
		    (r = gp_node_uint(&one, INT64_MAX, &range[i])))
			return r;
	if (range[0] > range[1] || range[1] > data_bytes)
		return gp_node_error(&offsets, -EINVAL,
				     "is %" PRIu64 " to %" PRIu64 ", the file has %" PRIu64 " bytes of data", range[0],
				     range[1], data_bytes);
	if (range[1] - range[0] != bytes)
		return gp_node_error(tensor, -EINVAL, "dtype and shape make %" PRIu64 " bytes, data_offsets span %" PRIu64,
				     bytes, range[1] - range[0]);
	return 0;
}

static int
check_header(const struct gp_safetensors *file, struct gpuplan_error *error)
{
	struct gp_json_file json = { file->name, error };
	struct gp_node root = { &json, NULL, NULL, 0, file->header };
	const char *key;
	json_t *value;
	int r;

	if (!json_is_object(file->header))
		return gp_node_error(&root, -EINVAL, "its header is not a JSON object");
	json_object_foreach(file->header, key, value) {
		struct gp_node tensor;

		if (strcmp(key, "__metadata__") == 0)
			continue; /* free text of the producer */
		r = gp_node_child(&root, key, JSON_OBJECT, &tensor);
		if (!r)
			r = check_tensor(&tensor, file->bytes - file->first);
		if (r)
			return r;
	}
	return 0;
}

int
gp_safetensors_parse(struct gp_safetensors *file, const char *name, const void *data, size_t bytes,
		     struct gpuplan_error *error)
{
	struct gp_json_file json = { name, error };
	uint64_t n = 0;
	int r;

	*file = (struct gp_safetensors){ .data = data, .bytes = bytes };
	if (bytes < 8)
		return gp_error(error, -EINVAL, "%s: has %zu bytes, a safetensors file starts with 8 bytes of length", name,
				bytes);
	for (int i = 7; i >= 0; i--)
		n = n << 8 | file->data[i];
	if (n > bytes - 8 || n > MAX_HEADER)
		return gp_error(error, -EINVAL,
				"%s: header length is %" PRIu64 " bytes, %zu bytes follow it and at most %u are read", name,
				n, bytes - 8, MAX_HEADER);
	file->first = 8 + (size_t)n;
	r = gp_json_parse(&json, (const char *)file->data + 8, (size_t)n, &file->header);
	if (r)
		return r;
	file->name = strdup(name);
	r = file->name ? check_header(file, error) : gp_error(error, -ENOMEM, "%s: no memory for its name", name);
	if (r)
		gp_safetensors_finish(file);
	return r;
}

static int
map_file(const char *path, const void **data, size_t *bytes, struct gpuplan_error *error)
{
	struct stat st;
	void *map = NULL;
	int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block us */

	if (fd < 0 || fstat(fd, &st) != 0) {
		r = gp_error(error, -errno, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		r = gp_error(error, -EINVAL, "%s: is not a regular file, a safetensors file is", path);
	} else if (st.st_size < 8) { /* mmap refuses empty files without saying why */
		r = gp_error(error, -EINVAL, "%s: has %jd bytes, a safetensors file starts with 8 bytes of length", path,
			     (intmax_t)st.st_size);
	} else {
		*bytes = (size_t)st.st_size;
		map = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			r = gp_error(error, -errno, "%s: mapping %zu bytes: %s", path, *bytes, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	*data = map;
	return r;
}

int
gp_safetensors_open(struct gp_safetensors *file, const char *path, struct gpuplan_error *error)
{
	const void *data;
	size_t bytes = 0;
	int r;

	*file = (struct gp_safetensors){ 0 };
	r = map_file(path, &data, &bytes, error);
	if (r)
		return r;
	r = gp_safetensors_parse(file, path, data, bytes, error);
	if (r)
		munmap((void *)(uintptr_t)data, bytes);
	else
		file->mapped = true;
	return r;
}

void
gp_safetensors_finish(struct gp_safetensors *file)
{
	json_decref(file->header);
	free(file->name);
	if (file->mapped)
		munmap((void *)(uintptr_t)file->data, file->bytes);
	*file = (struct gp_safetensors){ 0 };
}

bool
gp_safetensors_find(const struct gp_safetensors *file, const char *name, struct gp_tensor *tensor)
{
	const json_t *entry = json_object_get(file->header, name);
	const json_t *shape, *offsets;
	const struct gp_choice *type = dtypes;
	uint64_t begin;

	if (!entry || strcmp(name, "__metadata__") == 0)
		return false;
	/* check_header has seen to types and ranges. */
	shape = json_object_get(entry, "shape");
	offsets = json_object_get(entry, "data_offsets");
	begin = (uint64_t)json_integer_value(json_array_get(offsets, 0));
	*tensor = (struct gp_tensor){
		.data = file->data + file->first + begin,
		.bytes = (uint64_t)json_integer_value(json_array_get(offsets, 1)) - begin,
		.dtype_name = json_string_value(json_object_get(entry, "dtype")),
		.rank = (uint32_t)json_array_size(shape),
	};
	while (strcmp(type->name, tensor->dtype_name) != 0)
		type++;
	tensor->dtype = type->value >> 8;
	for (uint32_t i = 0; i < tensor->rank; i++)
		tensor->shape[i] = (uint64_t)json_integer_value(json_array_get(shape, i));
	return true;
}
