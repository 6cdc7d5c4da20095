/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "json_node.h"

static const char *
type_name(json_type type)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",	  [JSON_STRING] = "a string",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	     [JSON_NULL] = "null",
	};

	return names[type];
}

int
gp_json_parse(const struct gp_json_file *file, const char *text, size_t bytes, json_t **root)
{
	json_error_t why;

	*root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
	/* Out of memory: jansson knows no place then, and mostly has no words for it. */
	if (!*root && !why.text[0])
		return gp_error(file->error, -ENOMEM, "%s: no memory to read %zu bytes of JSON", file->name, bytes);
	if (!*root)
		return gp_error(file->error, -EINVAL, "%s: line %d, column %d: %s", file->name, why.line, why.column,
				why.text);
	return 0;
}

/* Appends "a.b[3].c" to buffer; returns the length so far, at most size - 1. */
static size_t
write_place(const struct gp_node *node, char *buffer, size_t size)
{
	size_t at;
	int n;

	if (!node->up)
		return 0;
	at = write_place(node->up, buffer, size);
	if (node->key)
		n = snprintf(buffer + at, size - at, "%s%s", at ? "." : "", node->key);
	else
		n = snprintf(buffer + at, size - at, "[%zu]", node->index);
	at += n > 0 ? (size_t)n : 0;
	return at < size ? at : size - 1;
}

int
gp_node_error(const struct gp_node *node, int code, const char *format, ...)
{
	char place[160] = "", sentence[320];
	va_list ap;

	write_place(node, place, sizeof(place));
	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	return gp_error(node->file->error, code, "%s: %s%s%s", node->file->name, place, *place ? ": " : "", sentence);
}

static int
expect(const struct gp_node *node, json_type type)
{
	if (json_typeof(node->value) != type)
		return gp_node_error(node, -EINVAL, "is %s, expected %s", type_name(json_typeof(node->value)),
				     type_name(type));
	return 0;
}

bool
gp_node_has(const struct gp_node *object, const char *key)
{
	return json_object_get(object->value, key) != NULL;
}

int
gp_node_child(const struct gp_node *object, const char *key, json_type type, struct gp_node *child)
{
	*child = (struct gp_node){ object->file, object, key, 0, json_object_get(object->value, key) };
	if (!child->value)
		return gp_node_error(object, -EINVAL, "has no member \"%s\"", key);
	return expect(child, type);
}

int
gp_node_element(const struct gp_node *array, size_t i, json_type type, struct gp_node *element)
{
	*element = (struct gp_node){ array->file, array, NULL, i, json_array_get(array->value, i) };
	if (!element->value)
		return gp_node_error(array, -EINVAL, "has %zu elements, element %zu is needed",
				     json_array_size(array->value), i);
	return expect(element, type);
}

int
gp_node_uint(const struct gp_node *node, uint64_t max, uint64_t *out)
{
	json_int_t value;
	int r = expect(node, JSON_INTEGER);

	if (r)
		return r;
	value = json_integer_value(node->value);
	if (value < 0 || (uint64_t)value > max)
		return gp_node_error(node, -EINVAL, "is %" JSON_INTEGER_FORMAT ", expected 0 to %" PRIu64, value, max);
	*out = (uint64_t)value;
	return 0;
}

int
gp_node_get_string(const struct gp_node *object, const char *key, const char **out)
{
	struct gp_node child;
	int r = gp_node_child(object, key, JSON_STRING, &child);

	if (r)
		return r;
	*out = json_string_value(child.value);
	if (!**out)
		return gp_node_error(&child, -EINVAL, "is an empty string");
	return 0;
}

int
gp_node_get_uint(const struct gp_node *object, const char *key, uint64_t max, uint64_t *out)
{
	struct gp_node child;
	int r = gp_node_child(object, key, JSON_INTEGER, &child);

	return r ? r : gp_node_uint(&child, max, out);
}

static void
append(char *list, size_t size, const char *word)
{
	size_t at = strlen(list);

	snprintf(list + at, size - at, "%s%s", at ? ", " : "", word);
}

int
gp_node_get_choice(const struct gp_node *object, const char *key, const struct gp_choice *choices, int *out)
{
	struct gp_node child;
	const char *name;
	char list[160] = "";
	int r = gp_node_child(object, key, JSON_STRING, &child);

	if (r)
		return r;
	name = json_string_value(child.value);
	for (const struct gp_choice *c = choices; c->name; c++) {
		append(list, sizeof(list), c->name);
		if (strcmp(name, c->name) == 0) {
			*out = c->value;
			return 0;
		}
	}
	return gp_node_error(&child, -EINVAL, "is \"%.64s\", expected one of %s", name, list);
}

static bool
is_known(const char *key, const char *const *known)
{
	while (*known && strcmp(key, *known) != 0)
		known++;
	return *known;
}

int
gp_node_check_members(const struct gp_node *object, const char *const *known)
{
	char list[160] = "";
	const char *key;
	json_t *value;

	/* The iterator's tree is not changed by it; jansson just has no const form. */
	json_object_foreach((json_t *)(uintptr_t)object->value, key, value) {
		if (is_known(key, known))
			continue;
		for (; *known; known++)
			append(list, sizeof(list), *known);
		return gp_node_error(object, -EINVAL, "unknown member \"%.64s\", known are %s", key, list);
	}
	return 0;
}
