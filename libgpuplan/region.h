/* SPDX-License-Identifier: MIT */
/* region.h: is a region what it claims to be? Pure. */
#ifndef GP_REGION_H
#define GP_REGION_H

#include "definition.h"

/* Checks a region against the declarations it is meant for: session, allocation, size, bounds, each with its own
 * sentence. what names the region's role, as in "upload" or "command 3 (copy): dst"; NULL: no prefix.
 * Errors: -EINVAL; -ENOENT unknown allocation. */
int gp_region_check(const struct gp_declarations *declarations, const struct gpuplan_region *region, const char *what,
		    struct gpuplan_error *error);

#endif
