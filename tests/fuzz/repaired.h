/* Files of our caches have their size at byte 24 and, at byte 16, a digest of all that follows it. Whoever makes a hostile file
   can compute both, so inputs are tried as they are and with both repaired. */
#ifndef LODE_TESTS_REPAIRED_H
#define LODE_TESTS_REPAIRED_H

#include "fuzz.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* `header`: the size of the file's header, below which there is nothing to mend. The bytes are aligned. */
static inline void try_repaired(const uint8_t *bytes, size_t size, size_t header,
				void (*try_bytes)(const uint8_t *bytes, size_t size))
{
	uint8_t *aligned = malloc(size + 1);
	uint64_t number = size;

	fuzz_require(aligned != NULL, "memory");
	memcpy(aligned, bytes, size);
	try_bytes(aligned, size);
	if (size >= header) {
		memcpy(aligned + 24, &number, sizeof(number));
		number = lode_digest_bytes((const char *)aligned + 24, size - 24);
		memcpy(aligned + 16, &number, sizeof(number));
		try_bytes(aligned, size);
	}
	free(aligned);
}

#endif
