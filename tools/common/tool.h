/* SPDX-License-Identifier: MIT */
/* tool.h: what the command-line tools share. */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "gpuplan.h"

/* Prints "<program>: <text>" to stderr and exits with 2. */
_Noreturn __attribute__((format(printf, 1, 2))) void tool_die(const char *format, ...);
extern const char *tool_name;

/* Opens the GPU. Where there is none, starts the program again under softgpu and says so in one line; gives up when
 * that has happened already. */
struct gpuplan_context *tool_open_context(const char *device, char **argv);

/* Folder of a file or folder shipped with the tools: <binary's folder>/../share/gpuplan/<name>. */
void tool_share_path(const char *name, char *path, size_t bytes);

/* The value of an option that takes one; dies when it is missing. */
const char *tool_option_value(char **argv, int *i);
double tool_option_number(char **argv, int *i, double least, double most);

#endif
