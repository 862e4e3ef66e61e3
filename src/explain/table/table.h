/*
 * Table: named columns of equal length, each binary, numeric or categorical.
 *
 * What `lode explain` works on. Readers (table_read.h) fill it from files; rows of
 * another kind, such as the streams of a corpus, are added as whole columns.
 * A binary column takes one bit per row, so 6,400 functions times 12,800 runs are
 * 10 MB.
 *
 * A value that is not there is NaN in a column of numbers and LODE_NONE in a
 * column of categories; a binary column has none.
 */
#ifndef LODE_EXPLAIN_TABLE_TABLE_H
#define LODE_EXPLAIN_TABLE_TABLE_H

#include "base/error.h"
#include "base/strings.h"

enum lode_data_column_kind {
	LODE_DATA_BINARY, /* 0 or 1 in every row */
	LODE_DATA_NUMBER,
	LODE_DATA_CATEGORY,
};

struct lode_data_column {
	char *name;
	enum lode_data_column_kind kind;
	uint64_t *bits;             /* binary: bit r of the row of words; bits behind the last row are 0 */
	double *numbers;            /* number */
	uint32_t *codes;            /* category: ids in `values` */
	struct lode_strings values; /* category */
	size_t missing;             /* rows without a value */
	uint64_t text_line;         /* category: line of the first value that is no number; 0: unknown */
	char text[32];              /* category: how that value begins */
};

struct lode_data_table {
	size_t rows;
	struct lode_data_column *columns;
	size_t count;
	size_t capacity;
};

/* Words that hold `rows` bits. */
static inline size_t lode_bit_words(size_t rows)
{
	return (rows + 63) / 64;
}

static inline int lode_bit_get(const uint64_t *bits, size_t row)
{
	return (int)(bits[row / 64] >> (row % 64) & 1);
}

static inline void lode_bit_set(uint64_t *bits, size_t row)
{
	bits[row / 64] |= (uint64_t)1 << (row % 64);
}

/* An empty table of `rows` rows. */
void lode_data_table_init(struct lode_data_table *table, size_t rows);
void lode_data_table_release(struct lode_data_table *table);
/*
 * Adds a column whose cells are 0, NaN or LODE_NONE; the caller fills them in.
 * The name is copied. NULL when memory has run out. The pointer is good until
 * the next column is added.
 */
struct lode_data_column *lode_data_table_add(struct lode_data_table *table, const char *name, size_t length,
					     enum lode_data_column_kind kind);
/* The number of the column called `name`, or LODE_NONE. */
uint32_t lode_data_table_find(const struct lode_data_table *table, const char *name);
/* The number in a row of a binary or numeric column. */
double lode_data_column_number(const struct lode_data_column *column, size_t row);

#endif
