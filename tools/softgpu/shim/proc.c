/* SPDX-License-Identifier: MIT */
/* proc.c: /proc/self/fd and fdinfo of our descriptors as the kernel's drivers fill them. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "proc.h"
#include "paths.h"
#include "raw.h"

#include "../drm/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *
skip(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return path && strncmp(path, prefix, n) == 0 ? path + n : NULL;
}

/* A decimal number that ends the path, or -1. */
static int
last_number(const char *text)
{
	long value = 0;

	if (!text || !*text)
		return -1;
	for (; *text >= '0' && *text <= '9' && value < 10000000; text++)
		value = value * 10 + (*text - '0');
	return *text ? -1 : (int)value;
}

/* Behind "/proc/self/", "/proc/thread-self/" or "/proc/PID/" of this process. */
static const char *
own_folder(const char *path)
{
	const char *rest = skip(path, "/proc/");
	char own[16];

	if (!rest)
		return NULL;
	if (skip(rest, "self/"))
		return skip(rest, "self/");
	if (skip(rest, "thread-self/"))
		return skip(rest, "thread-self/");
	snprintf(own, sizeof(own), "%d/", (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0));
	return skip(rest, own);
}

/* What fd is; a node that came past us (exec, SCM_RIGHTS) is found here too. */
static enum sg_desc_kind
kind_of(int fd)
{
	enum sg_desc_kind kind = fd < 0 ? SG_DESC_FREE : sg_fd_kind(fd);

	if (fd >= 0 && kind == SG_DESC_FREE && sg_fd_identity(fd, SG_DESC_NODE))
		kind = sg_fd_adopt(fd);
	return kind;
}

int
sg_proc_fd(const char *path)
{
	const char *rest = skip(path, "/dev/fd/");

	if (!rest)
		rest = skip(own_folder(path), "fd/");
	int fd = last_number(rest);
	return kind_of(fd) != SG_DESC_FREE ? fd : -1;
}

int
sg_proc_fdinfo(const char *path)
{
	int fd = last_number(skip(own_folder(path), "fdinfo/"));

	return kind_of(fd) == SG_DESC_NODE ? fd : -1;
}

const char *
sg_proc_name(int fd, char *room, size_t bytes)
{
	enum sg_desc_kind kind = sg_fd_kind(fd);
	struct sg_desc *desc = sg_fd_get_verified(fd, kind);
	const struct sg_tree *t = sg_tree();
	bool primary = desc && kind == SG_DESC_NODE && sg_file_is_primary(desc->object);

	sg_desc_unref(desc);
	if (!desc)
		return NULL;
	switch (kind) {
	case SG_DESC_SYNCOBJ: return "anon_inode:syncobj_file";
	case SG_DESC_SYNC_FILE: return "anon_inode:sync_file";
	case SG_DESC_DMABUF: return "/dmabuf:";
	case SG_DESC_NODE:
		if (!t)
			return NULL;
		snprintf(room, bytes, primary ? "/dev/dri/card%u" : "/dev/dri/renderD%u", primary ? t->card : t->render);
		return room;
	default: return NULL;
	}
}

/* The lines that every descriptor has: up to those of the timer that it really is. */
static void
copy_common(int fd, FILE *out)
{
	char path[48], text[512];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int info = (int)raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (info < 0)
		return;
	long n = raw_read(info, text, sizeof(text) - 1);
	raw_close(info);
	text[n > 0 ? n : 0] = '\0';
	char *end = strstr(text, "clockid:");
	if (end)
		*end = '\0';
	fputs(text, out);
}

long
sg_proc_fdinfo_open(int fd, int flags)
{
	struct sg_desc *desc = sg_fd_get_verified(fd, SG_DESC_NODE);
	char *text = NULL;
	size_t bytes = 0;

	if (!desc)
		return -ENOENT;
	FILE *out = open_memstream(&text, &bytes);
	if (!out) {
		sg_desc_unref(desc);
		return -ENOMEM;
	}
	copy_common(fd, out);
	sg_fdinfo_write(desc->object, out);
	fclose(out);
	sg_desc_unref(desc);
	long r = sg_text_file("fdinfo", text, bytes, flags);
	free(text);
	return r;
}
