/* SPDX-License-Identifier: MIT */
/* json_node.h: typed reading of a JSON tree that was written by a stranger. Every refusal names file and place. */
#ifndef GP_JSON_NODE_H
#define GP_JSON_NODE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuplan.h"

struct gp_json_file {
	const char *name;	/* for messages */
	struct gpuplan_error *error; /* may be NULL */
};

/* A value and the way to it. Lives on the stack of whoever walks the tree; `up` outlives it there. */
struct gp_node {
	const struct gp_json_file *file;
	const struct gp_node *up; /* NULL: the root */
	const char *key;	/* member name, NULL: element `index` of an array */
	size_t index;
	const json_t *value;	/* borrowed from the tree */
};

struct gp_choice {
	const char *name;	/* NULL ends a list */
	int value;
};

/* Parses text. *root is the caller's. Refuses duplicate members, text after the end, and what jansson refuses. */
int gp_json_parse(const struct gp_json_file *file, const char *text, size_t bytes, json_t **root);

/* Writes "file: place: sentence" and returns code. */
__attribute__((format(printf, 3, 4))) int gp_node_error(const struct gp_node *node, int code, const char *format, ...);

bool gp_node_has(const struct gp_node *object, const char *key);
int gp_node_child(const struct gp_node *object, const char *key, json_type type, struct gp_node *child);
int gp_node_element(const struct gp_node *array, size_t i, json_type type, struct gp_node *element);

/* The value itself as a number in [0, max]. */
int gp_node_uint(const struct gp_node *node, uint64_t max, uint64_t *out);

/* Members of an object. Strings live as long as the tree and are not empty. */
int gp_node_get_string(const struct gp_node *object, const char *key, const char **out);
int gp_node_get_uint(const struct gp_node *object, const char *key, uint64_t max, uint64_t *out);
int gp_node_get_choice(const struct gp_node *object, const char *key, const struct gp_choice *choices, int *out);

/* Refuses members that are not in the NULL-terminated list: a misspelt optional member would pass silently. */
int gp_node_check_members(const struct gp_node *object, const char *const *known);

#endif
