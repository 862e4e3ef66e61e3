/*
 * The symbol cache: each input is tried as it is, and with its size and checksum
 * repaired, because the author of a hostile file can compute them.
 */
#include "repaired.h"
#include "table_lookups.h"

#include "symbols/symbol_cache.h"

static void try_bytes(const uint8_t *bytes, size_t size)
{
	struct lode_cached cached;
	int code = lode_cache_parse(bytes, size, &cached);

	fuzz_require(code == 0 || code == LODE_BAD_INPUT, "bytes are a table or they are not");
	if (code < 0)
		return;
	fuzz_require(cached.origin.identity && cached.origin.fetched, "a table says where it comes from");
	look_up_all(&cached.table);
	lode_cached_release(&cached);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	try_repaired(bytes, size, 88, try_bytes);
	return 0;
}
