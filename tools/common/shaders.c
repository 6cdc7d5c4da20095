/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/shaders.h"

/* Kept until exit: the library copies nothing before the call ends, but it may ask again for another plan. */
static int
read_file(const char *path, const void **data, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	long size;
	void *memory;

	if (!f)
		return -errno;
	if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		fclose(f);
		return -EIO;
	}
	memory = malloc((size_t)size + 1);
	if (!memory || fread(memory, 1, (size_t)size, f) != (size_t)size) {
		free(memory);
		fclose(f);
		return memory ? -EIO : -ENOMEM;
	}
	fclose(f);
	*data = memory;
	*bytes = (size_t)size;
	return 0;
}

int
tool_find_code(void *folder, const char *target, const char *stem, const void **elf, size_t *bytes)
{
	char path[4096];

	if (folder) {
		if (snprintf(path, sizeof(path), "%s/%s/%s.co", (const char *)folder, target, stem) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		return read_file(path, elf, bytes);
	}
	for (const struct embedded_shader *s = embedded_shaders; s->target; s++)
		if (!strcmp(s->target, target) && !strcmp(s->stem, stem)) {
			*elf = s->begin;
			*bytes = (size_t)(s->end - s->begin);
			return 0;
		}
	return -ENOENT;
}
