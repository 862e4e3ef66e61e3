/*
 * Results of queries, written: as a table for people, as CSV, as JSON, as folded stacks, and as columns of
 * numbers that programs map (docs/man/lode-query.1 describes the bytes).
 */
#ifndef LODE_QUERY_QUERY_PRINT_H
#define LODE_QUERY_QUERY_PRINT_H

#include "base/output.h"
#include "query/query_columns.h"

enum lode_query_form {
	LODE_QUERY_TABLE,
	LODE_QUERY_CSV,
	LODE_QUERY_JSON,
	LODE_QUERY_FOLDED,
	LODE_QUERY_COLUMNS,
};

struct lode_query_printing {
	struct lode_query *query;
	enum lode_query_form form;
	uint64_t max_rows;        /* 0: all */
	const char *bold, *plain; /* around the heads of a table; "" for none */
	/* What came of it. */
	uint64_t rows;
	int cut; /* there are more rows than `max_rows` */
};

/* Runs a statement and writes its result. Returns 0 or a negative code. */
int lode_query_print(struct lode_query_printing *printing, const char *sql, struct lode_output *output,
		     struct lode_error *error);

#endif
