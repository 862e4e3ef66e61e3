/* Tables as ARFF: what comes out is whole. */
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_data_table table;

	if (fuzz_table_read(&table, lode_arff_read, bytes, size))
		lode_data_table_release(&table);
	return 0;
}
