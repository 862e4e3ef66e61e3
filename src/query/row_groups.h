/*
 * Rows in the order that a GROUP BY, DISTINCT or ORDER BY needs: all rows of a scan, their columns copied so
 * that rows of one group follow each other. SQLite then adds groups up as they come, without its
 * sorter. Private to src/query/.
 */
#ifndef LODE_QUERY_ROW_GROUPS_H
#define LODE_QUERY_ROW_GROUPS_H

#include "query/row_plan.h"
#include "query/row_scan.h"

/*
 * Fills `rows`, groups in ascending order; with `plan->distinct` one row of each. `scan` is used, and `rows` must be
 * released in either case. Returns 0 or a negative code with the sentence in the data.
 */
int lode_row_groups_make(struct lode_query_data *data, const struct lode_row_plan *plan, struct lode_row_scan *scan,
			 const struct lode_row_filter *filter, int of_sums, struct lode_rows *rows);
void lode_rows_release(struct lode_rows *rows);

#endif
