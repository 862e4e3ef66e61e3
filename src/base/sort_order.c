/*
 * The order of 64-bit keys: see sort_order.h.
 *
 * Sorting is by radix, a byte a pass, and leaves out the bytes that all keys
 * share: addresses of one file differ in three or four bytes only.
 */
#include "base/sort_order.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* One pass: stable by byte `shift` of the keys, from `from` to `to`. */
static void sort_by_byte(const uint64_t *keys, size_t count, unsigned shift, size_t *places, const uint32_t *from,
			 uint32_t *to)
{
	size_t next = 0;

	for (size_t value = 0; value < 256; value++) {
		size_t here = places[value];

		places[value] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[keys[from[i]] >> shift & 255]++] = from[i];
}

static int ascending(const uint64_t *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (keys[i] < keys[i - 1])
			return 0;
	return 1;
}

int lode_sort_order(const uint64_t *keys, size_t count, uint32_t *order)
{
	size_t places[8][256] = { 0 };
	uint32_t *from = order, *to, *spare;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (ascending(keys, count))
		return 0;
	to = spare = lode_realloc(NULL, count, sizeof(*spare));
	if (!spare)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		for (unsigned byte = 0; byte < 8; byte++)
			places[byte][keys[i] >> 8 * byte & 255]++;
	for (unsigned byte = 0; byte < 8; byte++) {
		uint32_t *swap = from;

		if (places[byte][keys[0] >> 8 * byte & 255] == count)
			continue;
		sort_by_byte(keys, count, 8 * byte, places[byte], from, to);
		from = to;
		to = swap;
	}
	if (from != order)
		memcpy(order, from, count * sizeof(*order));
	lode_free(spare);
	return 0;
}
