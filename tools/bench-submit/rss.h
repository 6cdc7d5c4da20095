/* SPDX-License-Identifier: MIT */
/* rss.h: resident KiB of this process, but for mappings of the software device (its library and the GPU's memory). */
#ifndef BENCH_SUBMIT_RSS_H
#define BENCH_SUBMIT_RSS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline unsigned long
rss_kib(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long sum = 0, kib;
	bool device = false;
	char line[4352];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			device = strstr(line, "softgpu") != NULL;
		else if (!device && sscanf(line, "Rss: %lu kB", &kib) == 1)
			sum += kib;
	}
	if (f)
		fclose(f);
	return sum;
}

#endif
