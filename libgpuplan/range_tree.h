/* SPDX-License-Identifier: MIT */
/* range_tree.h: numbers on byte ranges, and the largest on any byte of a range. Pure.
 *
 * All ranges that will ever be asked about are given at the start, so that bytes nobody tells apart are one leaf of a
 * tree; after that every question costs the logarithm of their number.
 */
#ifndef GP_RANGE_TREE_H
#define GP_RANGE_TREE_H

#include <stddef.h>
#include <stdint.h>

/* [begin, end) of one memory; other spaces never overlap. */
struct gp_range {
	uint64_t space;
	uint64_t begin, end;
};

/* Independent numbers per byte. */
#define GP_RANGE_LAYERS 4

struct gp_range_node {
	uint32_t whole[GP_RANGE_LAYERS]; /* largest number given to all bytes below */
	uint32_t any[GP_RANGE_LAYERS];	 /* largest number given to any byte below */
};

struct gp_range_tree {
	uint32_t n_leaves;
	uint32_t *first, *end;	/* leaves of each range */
	struct gp_range_node *nodes; /* 2 * n_leaves; node 1 is the root, leaf i is n_leaves + i */
};

/* Every byte has 0 in every layer. ranges: n structs of `stride` bytes that start with a struct gp_range; only read
 * here. 0 or -ENOMEM. */
int gp_range_tree_init(struct gp_range_tree *tree, const void *ranges, uint32_t n, size_t stride);
void gp_range_tree_finish(struct gp_range_tree *tree);

/* Raises every byte of range number i to at least value in one layer. */
void gp_range_tree_raise(struct gp_range_tree *tree, uint32_t i, uint32_t layer, uint32_t value);
/* The largest number on any byte of range number i, per layer. */
void gp_range_tree_max(const struct gp_range_tree *tree, uint32_t i, uint32_t max[GP_RANGE_LAYERS]);

#endif
