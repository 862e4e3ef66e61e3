/*
 * Features: the auxiliary columns of a table as a tree sees them.
 *
 * A column with two values becomes a row of bits. One with more numbers becomes
 * ranks: the codes of its values in ascending order, code 0 for "missing" where
 * some rows have no value, so that a missing number counts as less than every
 * number. A categorical column keeps one code per value, with "missing" as a
 * separate value; it is tested for one value against all others.
 *
 * Columns that are equal in every row are one feature that knows all their
 * names; columns with one value are no features at all.
 */
#ifndef LODE_EXPLAIN_TREE_FEATURES_H
#define LODE_EXPLAIN_TREE_FEATURES_H

#include "explain/table/table.h"

enum lode_feature_kind { LODE_FEATURE_BITS, LODE_FEATURE_RANKS, LODE_FEATURE_CATEGORY };

struct lode_feature {
	enum lode_feature_kind kind;
	uint32_t *columns; /* of the table; the first one names the feature, the others equal it */
	size_t column_count;
	size_t column_capacity;
	uint64_t *bits;       /* bits: set where the value is the larger one */
	double threshold;     /* bits: between the two values */
	uint32_t *codes;      /* ranks, categories */
	uint32_t value_count; /* ranks, categories: codes are below it */
	double *values;       /* ranks: value of each code; -inf for missing */
};

struct lode_features {
	size_t rows;
	struct lode_feature *items;
	size_t count;
	size_t capacity;
	uint64_t *by_row; /* rows × row_words: bit f of a row is its bit of feature f, 0 for other kinds */
	size_t row_words;
	uint32_t *constant; /* columns with the same value in every row */
	size_t constant_count;
	size_t constant_capacity;
};

/* One question to a row; the answer yes goes to the right. */
struct lode_test {
	uint32_t feature;
	uint32_t code; /* ranks: is the row's code above it; categories: is it this one; bits: not used */
};

/*
 * Features of the columns that `use` (one byte a column) marks, over `rows` of the
 * table (`count` of them, at least one, in ascending order).
 */
int lode_features_make(struct lode_features *features, const struct lode_data_table *table,
		       const unsigned char *use, const uint32_t *rows, size_t count, struct lode_error *error);
/* Features of their own for some rows of others (which may repeat); constant ones are kept. */
int lode_features_pick(struct lode_features *features, const struct lode_features *from, const uint32_t *rows,
		       size_t count, const uint32_t *chosen, size_t chosen_count, struct lode_error *error);
void lode_features_release(struct lode_features *features);

/* The answer of one row. */
static inline int lode_test_row(const struct lode_features *features, struct lode_test test, size_t row)
{
	const struct lode_feature *feature = &features->items[test.feature];

	switch (feature->kind) {
	case LODE_FEATURE_BITS:
		return lode_bit_get(feature->bits, row);
	case LODE_FEATURE_RANKS:
		return feature->codes[row] > test.code;
	default:
		return feature->codes[row] == test.code;
	}
}

#endif
