/* SPDX-License-Identifier: MIT */
/* range_tree.c: a segment tree over compressed addresses. Numbers only grow, so nothing is ever pushed down: a node
 * knows what covers it whole, and the largest of all below. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "range_tree.h"

/* One end of a range, to be sorted. */
struct edge {
	uint64_t space, at;
	uint32_t range;
	bool end;
};

static int
compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Numbers the places between edges. Those between two spaces belong to no range, and cost a leaf each. */
static void
number_leaves(struct gp_range_tree *t, const struct edge *edges, size_t n)
{
	uint32_t leaf = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && compare_edges(&edges[i - 1], &edges[i]))
			leaf++;
		if (edges[i].end)
			t->end[edges[i].range] = leaf;
		else
			t->first[edges[i].range] = leaf;
	}
	t->n_leaves = leaf ? leaf : 1;
}

static struct edge *
make_edges(const void *ranges, uint32_t n, size_t stride)
{
	struct edge *edges = malloc(2 * (size_t)n * sizeof(*edges));

	for (uint32_t i = 0; edges && i < n; i++) {
		const struct gp_range *r = (const void *)((const char *)ranges + i * stride);

		edges[2 * (size_t)i] = (struct edge){ r->space, r->begin, i, false };
		edges[2 * (size_t)i + 1] = (struct edge){ r->space, r->end, i, true };
	}
	return edges;
}

int
gp_range_tree_init(struct gp_range_tree *t, const void *ranges, uint32_t n, size_t stride)
{
	struct edge *edges;

	*t = (struct gp_range_tree){ .n_leaves = 1 };
	if (!n)
		return 0;
	edges = make_edges(ranges, n, stride);
	t->first = malloc(n * sizeof(*t->first));
	t->end = malloc(n * sizeof(*t->end));
	if (edges && t->first && t->end) {
		qsort(edges, 2 * (size_t)n, sizeof(*edges), compare_edges);
		number_leaves(t, edges, 2 * (size_t)n);
		t->nodes = calloc(2 * (size_t)t->n_leaves, sizeof(*t->nodes));
	}
	free(edges);
	if (t->nodes)
		return 0;
	gp_range_tree_finish(t);
	return -ENOMEM;
}

void
gp_range_tree_finish(struct gp_range_tree *t)
{
	free(t->first);
	free(t->end);
	free(t->nodes);
	memset(t, 0, sizeof(*t));
}

static void
raise(uint32_t *number, uint32_t value)
{
	if (*number < value)
		*number = value;
}

static void
raise_above(struct gp_range_tree *t, size_t node, uint32_t layer, uint32_t value)
{
	while (node >>= 1)
		raise(&t->nodes[node].any[layer], value);
}

static void
cover(struct gp_range_node *node, uint32_t layer, uint32_t value)
{
	raise(&node->whole[layer], value);
	raise(&node->any[layer], value);
}

void
gp_range_tree_raise(struct gp_range_tree *t, uint32_t i, uint32_t layer, uint32_t value)
{
	size_t first = (size_t)t->n_leaves + t->first[i], end = (size_t)t->n_leaves + t->end[i];

	if (first >= end)
		return;
	for (size_t l = first, r = end; l < r; l >>= 1, r >>= 1) {
		if (l & 1)
			cover(&t->nodes[l++], layer, value);
		if (r & 1)
			cover(&t->nodes[--r], layer, value);
	}
	/* Every covered node's parent is above one of the two outermost leaves. */
	raise_above(t, first, layer, value);
	if (end - first > 1)
		raise_above(t, end - 1, layer, value);
}

static void
take_larger(uint32_t max[GP_RANGE_LAYERS], const uint32_t with[GP_RANGE_LAYERS])
{
	for (uint32_t k = 0; k < GP_RANGE_LAYERS; k++)
		max[k] = max[k] < with[k] ? with[k] : max[k];
}

static void
max_above(const struct gp_range_tree *t, size_t node, uint32_t max[GP_RANGE_LAYERS])
{
	while (node >>= 1)
		take_larger(max, t->nodes[node].whole);
}

void
gp_range_tree_max(const struct gp_range_tree *t, uint32_t i, uint32_t max[GP_RANGE_LAYERS])
{
	size_t first = (size_t)t->n_leaves + t->first[i], end = (size_t)t->n_leaves + t->end[i];

	memset(max, 0, GP_RANGE_LAYERS * sizeof(max[0]));
	if (first >= end)
		return;
	for (size_t l = first, r = end; l < r; l >>= 1, r >>= 1) {
		if (l & 1)
			take_larger(max, t->nodes[l++].any);
		if (r & 1)
			take_larger(max, t->nodes[--r].any);
	}
	max_above(t, first, max);
	if (end - first > 1)
		max_above(t, end - 1, max);
}
