/* Tables with a known truth, for tests of explanations. */
#ifndef LODE_TESTS_EXPLAIN_FIXTURE_H
#define LODE_TESTS_EXPLAIN_FIXTURE_H

#include "cmocka_all.h"
#include "random_stream.h"
#include "explain/explain.h"
#include "explain/table/table_read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline double unit(uint64_t *seed)
{
	return (double)random_below(seed, 1u << 30) / (1u << 30);
}

static inline double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += unit(seed);
	return sum;
}

/* A table with columns size, time and binary ones, and the cluster of each row. */
struct made {
	struct lode_data_table table;
	uint32_t *truth;
	struct lode_explain_input input;
};

static inline void made_release(struct made *made)
{
	lode_free(made->input.auxiliary);
	lode_data_table_release(&made->table);
	free(made->truth);
}

static inline void add_columns(struct made *made, size_t rows, unsigned columns, uint64_t *seed)
{
	memset(made, 0, sizeof(*made));
	lode_data_table_init(&made->table, rows);
	made->truth = calloc(rows, sizeof(*made->truth));
	assert_non_null(lode_data_table_add(&made->table, "size", 4, LODE_DATA_NUMBER));
	assert_non_null(lode_data_table_add(&made->table, "time", 4, LODE_DATA_NUMBER));
	for (unsigned f = 0; f < columns; f++) {
		char name[16];
		struct lode_data_column *column;

		snprintf(name, sizeof(name), "f%u", f);
		column = lode_data_table_add(&made->table, name, strlen(name), LODE_DATA_BINARY);
		for (size_t i = 0; i < rows; i++)
			if (random_below(seed, 2))
				lode_bit_set(column->bits, i);
	}
	assert_int_equal(lode_explain_columns(&made->input, &made->table, "made", "size", "time", NULL), 0);
}

static inline uint32_t pattern_of(const struct made *made, size_t row, unsigned functions)
{
	uint32_t pattern = 0;

	for (unsigned f = 0; f < functions; f++)
		pattern |= (uint32_t)lode_bit_get(made->table.columns[2 + f].bits, row) << f;
	return pattern;
}

/* y = unit · level · x with relative noise; level 0 is a constant with outliers. */
static inline void make_runs(struct made *made, size_t rows, unsigned functions, unsigned dummies, unsigned levels,
			     double noise, uint64_t *seed)
{
	uint32_t level[128];

	add_columns(made, rows, functions + dummies, seed);
	for (uint32_t p = 0; p < 1u << functions; p++)
		level[p] = p < levels ? p : (uint32_t)random_below(seed, levels);
	for (size_t i = 0; i < rows; i++) {
		double x = 1 + (double)(i % 100), error = noise * normal(seed);
		uint32_t own = level[pattern_of(made, i, functions)];

		if (random_below(seed, 50) == 0)
			error += (unit(seed) - 0.5) * 0.3;
		made->truth[i] = own;
		made->table.columns[0].numbers[i] = x;
		made->table.columns[1].numbers[i] = own ? 1200 * own * x * (1 + error) : 130 * (1 + error);
		if (!own && random_below(seed, 20) == 0)
			made->table.columns[1].numbers[i] *= 1 + 2 * unit(seed);
	}
}

/* Clusters are numbered by speed, as levels are. */
static inline double share_right(const struct made *made, const struct lode_explanation *explanation)
{
	size_t right = 0;

	for (size_t i = 0; i < explanation->rows; i++)
		right += made->truth[explanation->row_of[i]] == explanation->assigned[i];
	return (double)right / (double)explanation->rows;
}

static inline void explain(const struct made *made, const struct lode_explain_options *options,
			   struct lode_explanation *explanation)
{
	struct lode_error error = { "" };

	if (lode_explain(&made->input, options, explanation, &error) < 0)
		fail_msg("%s", error.text);
}

#endif
