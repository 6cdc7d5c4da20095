/* SPDX-License-Identifier: MIT */
/*
 * safetensors.h: a reader of the safetensors format (github.com/huggingface/safetensors, "Format").
 *
 *   u64 little-endian n, n bytes of JSON {"tensor name": {"dtype", "shape", "data_offsets": [begin, end]}, ...},
 *   then the data; offsets count from its first byte.
 */
#ifndef GP_SAFETENSORS_H
#define GP_SAFETENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuplan.h"

struct gp_safetensors {
	char *name;		/* file name, for messages */
	const uint8_t *data;	/* whole file */
	size_t bytes;
	bool mapped;		/* data is ours to unmap */
	json_t *header;		/* checked: every tensor lies inside the file */
	size_t first;		/* file offset of the data part */
};

struct gp_tensor {
	const void *data;	/* inside the file; no alignment promised */
	uint64_t bytes;
	const char *dtype_name;	/* as the file spells it: "F32" */
	int dtype;		/* enum gpuplan_dtype, 0: a type of which only the size is known */
	uint32_t rank;
	uint64_t shape[GPUPLAN_MAX_RANK];
};

/* Reads the header of a file in memory, which must outlive it. Errors: -EINVAL with both sides, -ENOMEM. */
int gp_safetensors_parse(struct gp_safetensors *file, const char *name, const void *data, size_t bytes,
			 struct gpuplan_error *error);
/* Maps a file read-only and parses it. The file must not be shortened while it is mapped (SIGBUS). Errors: also those
 * of open. */
int gp_safetensors_open(struct gp_safetensors *file, const char *path, struct gpuplan_error *error);
void gp_safetensors_finish(struct gp_safetensors *file);

/* False: no tensor of that name. */
bool gp_safetensors_find(const struct gp_safetensors *file, const char *name, struct gp_tensor *tensor);

#endif
