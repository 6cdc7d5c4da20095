/* SPDX-License-Identifier: MIT */
#ifndef GP_ERROR_H
#define GP_ERROR_H

#include "gpuplan.h"

/* Fills *error (may be NULL) and returns code, a negative errno. */
__attribute__((format(printf, 3, 4))) int gp_error(struct gpuplan_error *error, int code, const char *format, ...);

#endif
