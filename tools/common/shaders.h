/* SPDX-License-Identifier: MIT */
/* shaders.h: the project's own code objects, embedded in the tools. */
#ifndef TOOLS_SHADERS_H
#define TOOLS_SHADERS_H

#include <stddef.h>

struct embedded_shader {
	const char *target, *stem;
	const unsigned char *begin, *end;
};

/* Ended by target == NULL; made by the Makefile. */
extern const struct embedded_shader embedded_shaders[] __attribute__((visibility("hidden")));

/* A gpuplan_find_code_fn: <folder>/<target>/<stem>.co when arg is a folder, else the embedded one. */
int tool_find_code(void *folder, const char *target, const char *stem, const void **elf, size_t *bytes);

#endif
