/* SPDX-License-Identifier: MIT */
/* pm4_text.h: PM4 packets, registers and fields by name, for each generation. */
#ifndef PM4_TEXT_H
#define PM4_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pm4.h"

struct pm4_text {
	FILE *out;
	uint32_t generation;	/* one bit of enum pm4_generation */
	/* Writes what dword `place` holds where that is no plain number (an address, a parameter) and returns true. */
	bool (*value)(const struct pm4_text *t, uint32_t place, char *text, size_t size);
	const void *arg;	/* for value */
	uint32_t where;		/* for value */
};

/* Of "gfx1030"; 0: none that is known here. */
uint32_t pm4_generation(const char *target);
/* Name of a SET_SH_REG offset, "?" where the generation has none. */
const char *pm4_reg_name(uint32_t generation, uint32_t offset);
/* Prints the packet at dword `at` of n. Returns its dwords, 0: there is no whole packet, nothing is printed. */
uint32_t pm4_print(const struct pm4_text *t, const uint32_t *dw, uint32_t at, uint32_t n);

#endif
