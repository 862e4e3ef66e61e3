/* Reading a table from fuzzed bytes, for the targets of CSV and ARFF. */
#ifndef LODE_TESTS_FUZZ_TABLE_H
#define LODE_TESTS_FUZZ_TABLE_H

#include "fuzz.h"

#include "explain/table/table_read.h"

#include <math.h>

static inline void fuzz_check_column(const struct lode_data_column *column, size_t rows)
{
	size_t missing = 0;

	fuzz_require(column->name[0] != '\0', "a column has a name");
	for (size_t i = 0; i < rows; i++) {
		if (column->kind == LODE_DATA_NUMBER) {
			fuzz_require(isnan(column->numbers[i]) || isfinite(column->numbers[i]),
				     "numbers are finite");
			missing += isnan(column->numbers[i]) != 0;
		} else if (column->kind == LODE_DATA_CATEGORY) {
			fuzz_require(column->codes[i] == LODE_NONE || column->codes[i] < column->values.count,
				     "a category's value is there");
			missing += column->codes[i] == LODE_NONE;
		}
	}
	fuzz_require(missing == column->missing, "missing values are counted");
	if (column->kind == LODE_DATA_BINARY && rows % 64)
		fuzz_require(column->bits[rows / 64] >> (rows % 64) == 0, "bits behind the last row are 0");
}

/* 1 and a table to be released, or 0. */
static inline int fuzz_table_read(struct lode_data_table *table,
				  int (*read)(struct lode_data_table *, struct lode_input *, struct lode_error *),
				  const uint8_t *bytes, size_t size)
{
	struct lode_error error = { "" };
	struct lode_input *input;
	int code = lode_input_memory(&input, "fuzz", bytes, size, &error);

	fuzz_require_sentence(code, &error);
	if (code < 0)
		return 0;
	code = read(table, input, &error);
	fuzz_require_sentence(code, &error);
	lode_input_close(input);
	for (size_t i = 0; code == 0 && i < table->count; i++)
		fuzz_check_column(&table->columns[i], table->rows);
	return code == 0;
}

#endif
