/* SPDX-License-Identifier: MIT */
/* user.c: what is mapped in the caller's memory. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int
sg_user_range(uint64_t address, uint64_t bytes, bool anonymous)
{
	uint64_t end = address + bytes, at = address;
	char line[512];
	int r = -EFAULT;

	if (end < address)
		return -EFAULT;
	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return 0;
	while (at < end && fgets(line, sizeof(line), maps)) {
		unsigned long long low, high, inode;
		if (sscanf(line, "%llx-%llx %*s %*s %*s %llu", &low, &high, &inode) != 3 || high <= at)
			continue;
		if (low > at)
			break;
		if (anonymous && (inode != 0 || high < end)) {
			r = -EPERM;
			break;
		}
		at = high;
	}
	fclose(maps);
	return at >= end ? 0 : r;
}
