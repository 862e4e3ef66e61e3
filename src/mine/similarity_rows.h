/*
 * Up to eight patterns (rows) that are compared with others (columns), one after the other: what a thread that
 * finds similarities (similarities.h) works with.
 */
#ifndef LODE_MINE_SIMILARITY_ROWS_H
#define LODE_MINE_SIMILARITY_ROWS_H

#include "mine/similarities.h"
#include "mine/similarity_bound.h"

/* Private to what compares. */
struct lode_similarities {
	const struct lode_patterns *patterns;
	const struct lode_words *words;
	const struct lode_call_counts *counts;
	struct lode_names names;
	struct lode_similarity_weight *weights; /* parallel to the patterns' frames */
	struct lode_bound_patterns bounds;
	uint32_t *order;
};

struct lode_similarity_rows;

/* NULL when memory has run out. */
struct lode_similarity_rows *lode_similarity_rows_make(const struct lode_similarities *similarities);
void lode_similarity_rows_free(struct lode_similarity_rows *rows);
/* Makes these patterns, at most LODE_BOUND_LANES, the rows. Returns 0 or LODE_SYSTEM. */
int lode_similarity_rows_take(struct lode_similarity_rows *rows, const uint32_t *patterns, size_t count);
/*
 * Compares the first `count` rows with a column; results in units go to units[row * stride], 0 for what cannot be
 * `least`. `*shared`: how many frames the column begins with like the one before it, at most what that left there; 0
 * for the first column. Returns 0 or LODE_SYSTEM.
 */
int lode_similarity_rows_compare(struct lode_similarity_rows *rows, uint32_t column, size_t count, uint32_t least,
				 uint32_t *shared, uint32_t *units, size_t stride);

#endif
