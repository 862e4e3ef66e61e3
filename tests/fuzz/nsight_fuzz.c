/* Nsight Systems' export to SQLite: see fuzz_import for what is checked. */
#include "fuzz.h"

#include "import/import.h"

extern const struct lode_importer lode_importer_nsight;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	fuzz_import(&lode_importer_nsight, 0, bytes, size);
	return 0;
}
