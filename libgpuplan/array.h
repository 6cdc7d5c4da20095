/* SPDX-License-Identifier: MIT */
/* array.h: growing arrays for code that builds something piece by piece. */
#ifndef GP_ARRAY_H
#define GP_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct gp_array {
	void *data;
	uint32_t n, capacity;
	uint32_t element;	/* bytes */
};

static inline void
gp_array_init(struct gp_array *a, uint32_t element)
{
	*a = (struct gp_array){ .element = element };
}

static inline void
gp_array_finish(struct gp_array *a)
{
	free(a->data);
	a->data = NULL;
	a->n = a->capacity = 0;
}

static inline void *
gp_array_at(const struct gp_array *a, uint32_t i)
{
	return (char *)a->data + (size_t)i * a->element;
}

/* Room for n more zeroed elements at the end; returns the first or NULL. */
static inline void *
gp_array_grow(struct gp_array *a, uint32_t n)
{
	uint64_t want = (uint64_t)a->n + n;
	void *first;

	if (want > UINT32_MAX / 2)
		return NULL;
	if (want > a->capacity) {
		/* What is asked for at once first is often all there will be. */
		uint64_t capacity = a->capacity ? a->capacity : want > 8 ? want : 8;
		void *data;

		while (capacity < want)
			capacity *= 2;
		data = realloc(a->data, capacity * a->element);
		if (!data)
			return NULL;
		a->data = data;
		a->capacity = (uint32_t)capacity;
	}
	first = gp_array_at(a, a->n);
	memset(first, 0, (size_t)n * a->element);
	a->n = (uint32_t)want;
	return first;
}

static inline int
gp_array_push(struct gp_array *a, const void *element)
{
	void *place = gp_array_grow(a, 1);

	if (!place)
		return -ENOMEM;
	memcpy(place, element, a->element);
	return 0;
}

#endif
