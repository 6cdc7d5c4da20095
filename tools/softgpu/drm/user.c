/* SPDX-License-Identifier: MIT */
/* user.c: the caller's memory.
 *
 * The kernel answers -EFAULT for a bad pointer; in the caller's own process that would be a signal. What cannot be
 * user memory at all is recognised, the rest is trusted: asking the kernel would cost a system call per copy.
 */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define USER_FIRST 0x1000ull		 /* vm.mmap_min_addr is larger, but the first page is never there */
#define USER_END 0x7ffffffff000ull	 /* TASK_SIZE_MAX with 4-level page tables */

static bool
plausible(uint64_t user, size_t bytes)
{
	return user >= USER_FIRST && user < USER_END && bytes <= USER_END - user;
}

int
sg_copy_from(void *to, uint64_t user, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (!plausible(user, bytes))
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)user, bytes);
	return 0;
}

int
sg_copy_to(uint64_t user, const void *from, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (!plausible(user, bytes))
		return -EFAULT;
	memcpy((void *)(uintptr_t)user, from, bytes);
	return 0;
}

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
