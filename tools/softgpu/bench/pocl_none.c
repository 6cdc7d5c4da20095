/* SPDX-License-Identifier: MIT */
/* pocl_none.c: stands in for pocl.c where the OpenCL headers and loader were not there at build time. */
#include <stdio.h>

#include "bench.h"

struct bench_pocl *
bench_pocl_create(const char *program, size_t bytes, char *text, size_t text_bytes)
{
	(void)program;
	(void)bytes;
	snprintf(text, text_bytes, "built without OpenCL; Debian packages: " BENCH_PACKAGES);
	return NULL;
}

int
bench_pocl_run(struct bench_pocl *pocl, unsigned i, struct bench_time *time, float *out)
{
	(void)pocl;
	(void)i;
	(void)time;
	(void)out;
	return -1;
}
