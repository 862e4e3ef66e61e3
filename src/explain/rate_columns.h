/*
 * Amounts of a table as rates: how often something happened for each unit of x.
 *
 * How often a run calls fsync grows with the number of records that it writes, whether it does so after each 16 or
 * after each 64 of them: no bound on the number of calls tells the two apart, but one on the calls per record does.
 */
#ifndef LODE_EXPLAIN_RATE_COLUMNS_H
#define LODE_EXPLAIN_RATE_COLUMNS_H

#include "explain/explain.h"

/* Whether that may tell more than the amounts: x is one column, above 0 in every row, and there are amounts. */
int lode_explain_has_rates(const struct lode_explain_input *input);
/*
 * Adds columns `NAME per X` to the table of `input`. `rates` becomes the input in which they take the place of the
 * amounts, unless they only follow x; its `auxiliary` is the caller's to free. Returns 0 or LODE_SYSTEM with a sentence.
 */
int lode_explain_add_rates(const struct lode_explain_input *input, struct lode_data_table *table,
			   struct lode_explain_input *rates, struct lode_error *error);

#endif
