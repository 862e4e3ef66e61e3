/*
 * Plans for `events` and `sums`: what SQLite asks of them, and which part of it they do themselves. A
 * plan travels as text from the planner to the cursor (row_table.c). Private to src/query/.
 */
#ifndef LODE_QUERY_ROW_PLAN_H
#define LODE_QUERY_ROW_PLAN_H

#include "query/row_filter.h"

/* Columns that rows can be grouped by. */
#define LODE_ROW_GROUPS 4

struct lode_row_plan {
	unsigned fields; /* a bit for each enum lode_row_field that is read */
	enum lode_row_field groups[LODE_ROW_GROUPS];
	size_t group_count; /* 0: rows come as they are stored */
	int distinct;       /* of rows that agree in all groups one is enough */
};

/* xBestIndex. `fields` has the field of each column. */
int lode_row_plan_make(struct lode_query_data *data, int of_sums, const enum lode_row_field *fields,
		       sqlite3_index_info *info);
/* xFilter: reads the plan and adds its constraints to `filter`. Returns 0 or LODE_SYSTEM. */
int lode_row_plan_read(struct lode_row_plan *plan, int number, const char *text, sqlite3_value **values,
		       struct lode_row_filter *filter);

/* The number by which rows are put in order for a group. */
int lode_row_group_bits(const struct lode_query_data *data, enum lode_row_field field);

#endif
