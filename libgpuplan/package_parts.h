/* SPDX-License-Identifier: MIT */
/* package_parts.h: what the files that read package.json share. */
#ifndef GP_PACKAGE_PARTS_H
#define GP_PACKAGE_PARTS_H

#include "package.h"

/* Zeroed memory for a list; one element too many so that an empty list is not NULL. */
void *gp_package_list(const struct gp_node *list, size_t element_bytes, uint32_t *n, int *r);
/* Reads member `key` of an object, a name, and looks it up in index. key: "allocation". */
int gp_package_lookup(const json_t *index, const struct gp_node *object, const char *key, uint32_t *number);
/* Reads member `key` of an object, a region of one of the package's allocations. */
int gp_package_region(const struct gpuplan_package *package, const struct gp_node *object, const char *key,
		      struct gpuplan_region *region);

/* package_command.c: makes room for what the commands point at, whatever types they turn out to have; ... */
int gp_package_room(struct gp_package_plan *plan, const struct gp_node *commands);
/* ... reads a command; bindings, arguments and grid regions go to the ends of the plan's lists; ... */
int gp_package_command(const struct gpuplan_package *package, struct gp_package_plan *plan, const struct gp_node *node,
		       struct gpuplan_command *command);
/* ... and a number with its type, { "f32": 1.5 }, that stands where `bytes` bytes are wanted. */
int gp_package_scalar(const struct gp_node *node, uint32_t bytes, uint64_t *bits);

#endif
