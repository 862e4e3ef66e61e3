/* The kernel's list of its symbols, which may be a copied file. */
#include "table_lookups.h"

#include "symbols/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_table_builder builder = { 0 };
	struct lode_kallsyms found = { 0 };
	struct lode_table table;

	fuzz_require(lode_image_parse_kallsyms(&builder, (const char *)bytes, size, &found) == 0,
		     "wrong lines are skipped");
	fuzz_require(lode_table_finish(&builder, &table) == 0, "a table can be made of it");
	look_up_all(&table);
	lode_table_release(&table);
	return 0;
}
