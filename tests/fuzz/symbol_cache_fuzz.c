/*
 * The symbol cache: each input is tried as it is, and with its size and checksum
 * mended, because whoever makes a hostile file can compute them.
 */
#include "table_lookups.h"

#include "base/hash.h"
#include "symbols/symbol_cache.h"

#include <stdlib.h>

static void try_bytes(const void *bytes, size_t size)
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

static void mend(uint8_t *bytes, size_t size)
{
	uint64_t number = size;

	if (size < 88)
		return;
	memcpy(bytes + 24, &number, sizeof(number));
	number = lode_digest_bytes((const char *)bytes + 24, size - 24);
	memcpy(bytes + 16, &number, sizeof(number));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *aligned = malloc(size + 1);

	fuzz_require(aligned != NULL, "memory");
	memcpy(aligned, bytes, size);
	try_bytes(aligned, size);
	mend(aligned, size);
	try_bytes(aligned, size);
	free(aligned);
	return 0;
}
