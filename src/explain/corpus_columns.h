/* What the halves of corpus_table.h share: x and y (corpus_table.c), and what streams did
 * (corpus_features.c). */
#ifndef LODE_EXPLAIN_CORPUS_COLUMNS_H
#define LODE_EXPLAIN_CORPUS_COLUMNS_H

#include "explain/corpus_table.h"

/* What is known of a column of features besides its numbers. */
struct lode_corpus_feature {
	double cost; /* total ns */
	int in_kernel;
};

struct lode_corpus_making {
	struct lode_corpus *corpus;
	const struct lode_area *area;
	const struct lode_corpus_table_options *options;
	struct lode_data_table *table;
	struct lode_explain_input *input;
	struct lode_error *error;
	struct lode_corpus_feature *features; /* by column of the table */
	size_t feature_capacity;
};

/* Adds a column of numbers, all missing; NULL when memory has run out, which the error then says. */
static inline struct lode_data_column *lode_corpus_column(struct lode_corpus_making *making, const char *name,
							  size_t length)
{
	struct lode_data_column *column = lode_data_table_add(making->table, name, length, LODE_DATA_NUMBER);

	if (!column)
		lode_fail_memory(making->error);
	return column;
}

/* Adds the columns behind y, in the order in which the tree should prefer them. */
int lode_corpus_features(struct lode_corpus_making *making);

/* Adds a column for each state that threads can be in (corpus_states.c): rows are streams. */
int lode_corpus_states(struct lode_corpus_making *making);

#endif
