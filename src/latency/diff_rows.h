/*
 * The rows of both sides of a comparison, by node of the common tree. Private to latency.
 */
#ifndef LODE_LATENCY_DIFF_ROWS_H
#define LODE_LATENCY_DIFF_ROWS_H

#include "latency/latency.h"

struct lode_diff_rows {
	const struct lode_latency *sides[2]; /* base, slow */
	const uint32_t *nodes[2];            /* their numbers in the common tree; NULL: the same */
	const struct lode_stack_tree *tree;  /* the common one */
	size_t *starts[2];                   /* by common node: its first row; one more than nodes */
	struct lode_latency_row *rows[2];    /* with `own` as it is compared; `node` is the side's own number */
};

/*
 * Orders the rows; sides, nodes and tree are set. `known`: by common node, whether the base has it.
 * Returns 0 or LODE_SYSTEM; release in either case.
 */
int lode_diff_rows_order(struct lode_diff_rows *rows, const uint8_t *known);
void lode_diff_rows_release(struct lode_diff_rows *rows);

static inline uint32_t lode_diff_rows_node(const struct lode_diff_rows *rows, int side, uint32_t node)
{
	return rows->nodes[side] ? rows->nodes[side][node] : node;
}

static inline size_t lode_diff_rows_streams(const struct lode_diff_rows *rows)
{
	return rows->sides[0]->stream_count + rows->sides[1]->stream_count;
}

/* ns of a side's streams in this very node, saturating. */
uint64_t lode_diff_rows_own(const struct lode_diff_rows *rows, int side, uint32_t node);
/* Adds what a node takes in each stream: those of the base first, then the slow ones. */
void lode_diff_rows_add(const struct lode_diff_rows *rows, uint32_t node, double *values);

#endif
