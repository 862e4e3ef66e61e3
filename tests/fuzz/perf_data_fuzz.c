/* perf.data, of files and of pipes, without symbols and with them: see fuzz_import for what is checked. */
#include "fuzz.h"

#include "import/import.h"

extern const struct lode_importer lode_importer_perf_data;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	fuzz_import(&lode_importer_perf_data, 0, bytes, size);
	if (size % 8 == 0) /* takes ten times as long */
		fuzz_import(&lode_importer_perf_data, 1, bytes, size);
	return 0;
}
