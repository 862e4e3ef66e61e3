/* Tables as CSV; what comes out is whole, and a small table can be explained. */
#include "fuzz.h"
#include "fuzz_table.h"

#include "explain/explain.h"

/* Explaining takes time; larger tables are only read. */
#define FEW_ROWS    64
#define FEW_COLUMNS 12

/* Takes the first two columns of numbers as x and y. */
static void explain(const struct lode_data_table *table)
{
	struct lode_explain_input input = { .table = table, .name = "fuzz", .inputs = 1 };
	unsigned char auxiliary[FEW_COLUMNS];
	struct lode_explain_options options;
	struct lode_explanation explanation;
	struct lode_error error = { "" };
	uint32_t numeric[2] = { 0, 0 };
	unsigned found = 0;
	int code;

	for (uint32_t i = 0; i < table->count && i < FEW_COLUMNS; i++) {
		auxiliary[i] = 1;
		if (found < 2 && table->columns[i].kind != LODE_DATA_CATEGORY) {
			auxiliary[i] = 0;
			numeric[found++] = i;
		}
	}
	if (found < 2)
		return;
	input.x[0] = numeric[0];
	input.y = numeric[1];
	input.auxiliary = auxiliary;
	lode_explain_defaults(&options);
	options.folds = 2;
	options.jobs = 1;
	options.family = (enum lode_family)(table->rows % LODE_FAMILIES);
	options.clusters = (unsigned)(table->count % 4);
	code = lode_explain(&input, &options, &explanation, &error);
	fuzz_require_sentence(code, &error);
	if (code < 0)
		return;
	for (size_t i = 0; i < explanation.rows; i++)
		fuzz_require(explanation.assigned[i] < explanation.clusters, "a row's cluster is there");
	lode_explanation_release(&explanation);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_data_table table;

	if (!fuzz_table_read(&table, lode_csv_read, bytes, size))
		return 0;
	if (table.rows <= FEW_ROWS && table.count <= FEW_COLUMNS)
		explain(&table);
	lode_data_table_release(&table);
	return 0;
}
