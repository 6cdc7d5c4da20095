/* SPDX-License-Identifier: MIT */
/* lines.h: lists of lines and their differences. */
#ifndef DUMP_LINES_H
#define DUMP_LINES_H

#include <stddef.h>
#include <stdio.h>

struct lines {
	char *text;
	size_t bytes;
	char **line;
	unsigned n;
};

/* What is printed to the stream between start and end becomes the lines. */
FILE *lines_start(struct lines *l);
void lines_end(struct lines *l, FILE *f);
void lines_free(struct lines *l);

/* Prints the lines that only a ("-") or only b ("+") has, under the title; nothing when there are none. Returns how
 * many. */
unsigned lines_diff(const struct lines *a, const struct lines *b, const char *title);

#endif
