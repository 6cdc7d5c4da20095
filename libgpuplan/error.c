/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

int
gp_error(struct gpuplan_error *error, int code, const char *format, ...)
{
	va_list ap;

	if (!error)
		return code;
	error->code = code;
	va_start(ap, format);
	vsnprintf(error->message, sizeof(error->message), format, ap);
	va_end(ap);
	return code;
}
