/* SPDX-License-Identifier: MIT */
/* tensor.c: elements of tensors as the protocol writes them. */
#include <math.h>
#include <string.h>

#include "serve.h"

/* Names of the Open Inference Protocol. */
const char *
tensor_type(enum gpuplan_dtype dtype)
{
	switch (dtype) {
	case GPUPLAN_U8:
		return "UINT8";
	case GPUPLAN_I8:
		return "INT8";
	case GPUPLAN_U16:
		return "UINT16";
	case GPUPLAN_I16:
		return "INT16";
	case GPUPLAN_F16:
		return "FP16";
	case GPUPLAN_BF16:
		return "BF16";
	case GPUPLAN_U32:
		return "UINT32";
	case GPUPLAN_I32:
		return "INT32";
	case GPUPLAN_F32:
		return "FP32";
	case GPUPLAN_U64:
		return "UINT64";
	case GPUPLAN_I64:
		return "INT64";
	case GPUPLAN_F64:
		return "FP64";
	}
	return "?";
}

size_t
tensor_elements(const struct gpuplan_io *io)
{
	size_t n = 1;

	for (uint32_t i = 0; i < io->rank; i++)
		n *= io->shape[i];
	return n;
}

/* Range of an integer type; the values of UINT64 beyond INT64_MAX are not numbers JSON libraries keep. */
static bool
integer_range(enum gpuplan_dtype dtype, json_int_t *least, json_int_t *most)
{
	uint32_t bits = 8 * gpuplan_dtype_bytes(dtype);

	switch (dtype) {
	case GPUPLAN_U8:
	case GPUPLAN_U16:
	case GPUPLAN_U32:
		*least = 0;
		*most = (json_int_t)((1ull << bits) - 1);
		return true;
	case GPUPLAN_U64:
		*least = 0;
		*most = INT64_MAX;
		return true;
	case GPUPLAN_I8:
	case GPUPLAN_I16:
	case GPUPLAN_I32:
	case GPUPLAN_I64:
		*most = (json_int_t)((1ull << (bits - 1)) - 1);
		*least = -*most - 1;
		return true;
	default:
		return false;
	}
}

static bool
element_from_json(const json_t *value, enum gpuplan_dtype dtype, void *to)
{
	json_int_t least, most, n;
	double d;
	float f;

	if (!json_is_number(value))
		return false;
	if (dtype == GPUPLAN_F64 || dtype == GPUPLAN_F32) {
		d = json_number_value(value);
		f = (float)d;
		memcpy(to, dtype == GPUPLAN_F64 ? (void *)&d : (void *)&f, gpuplan_dtype_bytes(dtype));
		return dtype == GPUPLAN_F64 || isfinite(f);
	}
	if (!integer_range(dtype, &least, &most) || !json_is_integer(value))
		return false;
	n = json_integer_value(value);
	if (n < least || n > most)
		return false;
	memcpy(to, &n, gpuplan_dtype_bytes(dtype)); /* little-endian */
	return true;
}

/* Appends the numbers of data behind *at. */
static bool
flatten(const json_t *data, enum gpuplan_dtype dtype, uint8_t *to, size_t n, size_t *at)
{
	if (json_is_array(data)) {
		for (size_t i = 0; i < json_array_size(data); i++)
			if (!flatten(json_array_get(data, i), dtype, to, n, at))
				return false;
		return true;
	}
	if (*at == n || !element_from_json(data, dtype, to + *at * gpuplan_dtype_bytes(dtype)))
		return false;
	(*at)++;
	return true;
}

bool
tensor_from_json(const json_t *data, enum gpuplan_dtype dtype, void *to, size_t n)
{
	size_t at = 0;

	return json_is_array(data) && flatten(data, dtype, to, n, &at) && at == n;
}

static json_t *
element_to_json(const uint8_t *from, enum gpuplan_dtype dtype)
{
	uint32_t bytes = gpuplan_dtype_bytes(dtype);
	json_int_t least, most;
	uint64_t bits = 0;
	double d;
	float f;

	memcpy(&bits, from, bytes);
	if (dtype == GPUPLAN_F32) {
		memcpy(&f, from, sizeof(f));
		return json_real(f);
	}
	if (dtype == GPUPLAN_F64) {
		memcpy(&d, from, sizeof(d));
		return json_real(d);
	}
	if (!integer_range(dtype, &least, &most))
		return NULL;
	if (least < 0 && bytes < 8 && bits >> (8 * bytes - 1))
		bits |= ~0ull << 8 * bytes;
	return json_integer((json_int_t)bits);
}

json_t *
tensor_to_json(const void *from, enum gpuplan_dtype dtype, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++)
		if (json_array_append_new(list, element_to_json((const uint8_t *)from + i * gpuplan_dtype_bytes(dtype), dtype))) {
			json_decref(list);
			return NULL;
		}
	return list;
}
