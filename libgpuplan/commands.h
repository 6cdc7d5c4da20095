/* SPDX-License-Identifier: MIT */
/* commands.h: command lists of our own: deep copies that a fragment or a recording keeps. Pure. */
#ifndef GP_COMMANDS_H
#define GP_COMMANDS_H

#include "array.h"
#include "gpuplan.h"

struct gp_commands {
	struct gp_array list;	/* struct gpuplan_command */
	struct gp_array blocks;	/* void *: what the commands point at, one block per append */
};

void gp_commands_init(struct gp_commands *commands);
void gp_commands_finish(struct gp_commands *commands);
/* Appends copies that share nothing with the caller's. prefix (NULL: none) is put in front of every label.
 * Errors: -ENOMEM; nothing is appended then. */
int gp_commands_append(struct gp_commands *commands, const struct gpuplan_command *in, uint32_t n, const char *prefix);
/* Takes the last append back: list elements from n on. */
void gp_commands_undo(struct gp_commands *commands, uint32_t n);

/* Calls visit for every region of commands [first, first + n), in order; it may change them. Stops at, and returns,
 * the first non-zero result. */
typedef int gp_region_visit_fn(void *arg, uint32_t command, enum gpuplan_access access, struct gpuplan_region *region);
int gp_commands_regions(struct gp_commands *commands, uint32_t first, uint32_t n, gp_region_visit_fn *visit, void *arg);

/* Parameter i of commands [first, first + n) becomes parameter numbers[i]. */
void gp_commands_renumber(struct gp_commands *commands, uint32_t first, uint32_t n, const uint32_t *numbers);

#endif
