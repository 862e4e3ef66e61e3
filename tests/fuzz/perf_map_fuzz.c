/* Perf maps, which programs with a just-in-time compiler write. */
#include "table_lookups.h"

#include "symbols/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_table_builder builder = { 0 };
	struct lode_table table;
	uint64_t skipped = 0;

	fuzz_require(lode_image_parse_perf_map(&builder, (const char *)bytes, size, &skipped) == 0,
		     "wrong lines are skipped");
	fuzz_require(lode_table_finish(&builder, &table) == 0, "a table can be made of it");
	look_up_all(&table);
	lode_table_release(&table);
	return 0;
}
