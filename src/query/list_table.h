/*
 * Tables whose rows are numbered and at hand: streams, threads, frames, the results of analyses. Private to
 * src/query/.
 */
#ifndef LODE_QUERY_LIST_TABLE_H
#define LODE_QUERY_LIST_TABLE_H

#include "query/query_tables.h"

struct lode_query_list {
	const char *name;
	int key; /* the column that is the number of the row; -1: none is */
	/* How many rows there are, with what has to be loaded for that. Returns 0 or a negative code. */
	int (*count)(struct lode_query_data *data, int64_t *count);
	/* The same for the row of one key; NULL: as for all rows. */
	int (*count_for)(struct lode_query_data *data, int64_t key, int64_t *count);
	/* Makes a row ready. Returns 1, 0 when there is none of this number, or a negative code. NULL: all are. */
	int (*ready)(struct lode_query_data *data, int64_t row);
	void (*give)(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column);
	double rows; /* about how many, for the planner */
};

extern const struct lode_query_list lode_query_streams_list, lode_query_attributes_list, lode_query_threads_list,
	lode_query_frames_list, lode_query_stacks_list, lode_query_symptoms_list, lode_query_tables_list,
	lode_query_patterns_list, lode_query_clusters_list, lode_query_signatures_list,
	lode_query_critical_path_list;

#endif
