/* The fields of `lode query --json`: see query_fields.h. */
#include "result/query_fields.h"

#include "result/field_rows.h"

static const struct lode_field query_rows[] = {
	FIELD_BY_HAND("columns", LODE_SHAPE_LIST, LODE_FIELD_TEXT, "Names of the columns."),
	FIELD_BY_HAND("rows", LODE_SHAPE_LISTS, LODE_FIELD_SCALAR, "Their values, row by row.", FIELD_MAYBE_NULL),
	FIELD_BY_HAND("complete", LODE_SHAPE_ONE, LODE_FIELD_BOOL,
		      "False: there are more rows than were asked for."),
};
const struct lode_fields lode_query_fields = FIELD_TABLE_BY_HAND("QueryResult", query_rows);
