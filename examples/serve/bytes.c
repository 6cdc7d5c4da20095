/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

static bool
reserve(struct bytes *b, size_t n)
{
	size_t capacity = b->capacity ? b->capacity : 256;
	char *data;

	if (n > SIZE_MAX / 2 - b->n)
		return false;
	if (b->n + n <= b->capacity)
		return true;
	while (capacity < b->n + n)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (!data)
		return false;
	b->data = data;
	b->capacity = capacity;
	return true;
}

bool
bytes_add(struct bytes *b, const void *data, size_t n)
{
	if (!n)
		return true;
	if (!reserve(b, n))
		return false;
	memcpy(b->data + b->n, data, n);
	b->n += n;
	return true;
}

bool
bytes_print(struct bytes *b, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || !reserve(b, (size_t)n + 1))
		return false;
	va_start(ap, format);
	vsnprintf(b->data + b->n, (size_t)n + 1, format, ap);
	va_end(ap);
	b->n += (size_t)n;
	return true;
}

void
bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}
