/* The fields of `lode symbolize --json`: see symbolize_report.h. */
#include "result/symbolize_report.h"

#include "result/field_rows.h"

#define TABLE_OF struct lode_symbolize_report
static const struct lode_field symbolize_rows[] = {
	FIELD_TEXT(id, "Id of the stream."),
	FIELD_TEXT(name, "Its name."),
	FIELD_U64(named, "Functions that got a name."),
	FIELD_U64(unnamed, "Functions that stay addresses."),
	FIELD_U64(left, "Functions that had a name."),
};
const struct lode_fields lode_symbolize_fields = FIELD_TABLE("SymbolizeResult", symbolize_rows);
#undef TABLE_OF
