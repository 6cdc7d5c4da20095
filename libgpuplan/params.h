/* SPDX-License-Identifier: MIT */
/* params.h: reading a caller's params struct, which may come from a newer header than this library's. */
#ifndef GP_PARAMS_H
#define GP_PARAMS_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "error.h"

/* Copies a params struct that starts with its own size. Members behind the ones this library knows must be zero.
 * Errors: -EINVAL. */
static inline int
gp_params_copy(void *to, uint32_t known, const void *from, const char *what, struct gpuplan_error *error)
{
	uint32_t size;

	if (!from)
		return gp_error(error, -EINVAL, "%s params are missing", what);
	memcpy(&size, from, sizeof(size));
	if (size < known)
		return gp_error(error, -EINVAL, "%s params have size %u, at least %u is needed", what, size, known);
	for (uint32_t i = known; i < size; i++)
		if (((const char *)from)[i])
			return gp_error(error, -EINVAL,
					"%s params have size %u and set byte %u, this library knows only %u", what,
					size, i, known);
	memcpy(to, from, known);
	return 0;
}

#endif
