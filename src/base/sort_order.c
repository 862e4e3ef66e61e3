/*
 * The order of 64-bit keys: see sort_order.h.
 *
 * Keys that are a few ascending runs, such as the times of several CPUs, are merged. Others are sorted by
 * radix, which leaves out the digits that all keys share: addresses of one file differ in three or four bytes
 * only. Where a key's distance from the smallest one and its place fit into 64 bits together, which they do for
 * the times of any recording, such numbers are sorted: each pass reads them one after another. Otherwise only
 * positions are moved, one byte of the keys per pass, and each key is looked up.
 */
#include "base/sort_order.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/ordered_merge.h"

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

/* More runs than these take longer to merge than a radix sort. */
#define MERGED_RUNS 64

/* Ascending runs; when there are more than MERGED_RUNS, some number above it. */
static size_t count_runs(const uint64_t *keys, size_t count)
{
	size_t runs = 1;

	for (size_t i = 1; i < count && runs <= MERGED_RUNS; i++)
		runs += keys[i] < keys[i - 1];
	return runs;
}

/* At most MERGED_RUNS runs, of one key or more. */
static int merge_runs(const uint64_t *keys, size_t count, uint32_t *order)
{
	struct lode_ordered_merge merge = { 0 };
	uint32_t nexts[MERGED_RUNS], ends[MERGED_RUNS], runs = 0;

	if (lode_ordered_merge_reserve(&merge, MERGED_RUNS) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || keys[i] < keys[i - 1]) {
			nexts[runs] = (uint32_t)i;
			lode_ordered_merge_add(&merge, runs++, keys[i]); /* there is room */
		}
		ends[runs - 1] = (uint32_t)i + 1;
	}
	while (merge.count) {
		uint32_t run = merge.sources[0].number, end = ends[run], next = nexts[run];
		uint64_t limit = lode_ordered_merge_limit(&merge);

		do
			*order++ = next++;
		while (next < end && keys[next] < limit);
		nexts[run] = next;
		if (next < end)
			lode_ordered_merge_advance(&merge, keys[next]);
		else
			lode_ordered_merge_remove(&merge);
	}
	lode_ordered_merge_release(&merge);
	return 0;
}

/* Bits that a number takes. */
static unsigned bits_of(uint64_t number)
{
	return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

static uint64_t smallest(const uint64_t *keys, size_t count, uint64_t *span)
{
	uint64_t least = keys[0], most = keys[0];

	for (size_t i = 1; i < count; i++) {
		least = keys[i] < least ? keys[i] : least;
		most = keys[i] > most ? keys[i] : most;
	}
	*span = most - least;
	return least;
}

/* Digits of packed numbers: many buckets cost more than they save when there are few numbers. */
#define DIGIT_BITS       11
#define SMALL_DIGIT_BITS 8
#define SMALL_COUNT      4096

/* One pass: stable by the digit at `shift`. Returns 0 when all numbers share it and nothing was moved. */
static int sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift, uint64_t mask)
{
	uint32_t places[1u << DIGIT_BITS] = { 0 }, next = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i] >> shift & mask]++;
	if (places[from[0] >> shift & mask] == count)
		return 0;
	for (size_t value = 0; value <= mask; value++) {
		uint32_t here = places[value];

		places[value] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i] >> shift & mask]++] = from[i];
	return 1;
}

/* `places`: bits of a place; the keys, less `least`, take `bits` more. */
static int sort_packed(const uint64_t *keys, size_t count, uint64_t least, unsigned places, unsigned bits,
		       uint32_t *order)
{
	unsigned digit = count < SMALL_COUNT ? SMALL_DIGIT_BITS : DIGIT_BITS;
	uint64_t *from = lode_realloc(NULL, count, 2 * sizeof(*from)), *spare = from, *to;

	if (!from)
		return LODE_SYSTEM;
	to = from + count;
	for (size_t i = 0; i < count; i++)
		from[i] = (keys[i] - least) << places | i;
	for (unsigned shift = places; shift < places + bits; shift += digit)
		if (sort_by_digit(from, to, count, shift, (1u << digit) - 1)) {
			uint64_t *swap = from;

			from = to;
			to = swap;
		}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)(from[i] & ((1ull << places) - 1));
	lode_free(spare);
	return 0;
}

static int sort_places(const uint64_t *keys, size_t count, uint32_t *order)
{
	size_t places[8][256] = { 0 };
	uint32_t *from = order, *to, *spare;

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

int lode_sort_order(const uint64_t *keys, size_t count, uint32_t *order)
{
	unsigned places = bits_of(count), bits;
	size_t runs = count_runs(keys, count);
	uint64_t least, span;

	if (runs > 1 && runs <= MERGED_RUNS)
		return merge_runs(keys, count, order);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	if (runs == 1)
		return 0;
	least = smallest(keys, count, &span);
	bits = bits_of(span);
	return places + bits <= 64 ? sort_packed(keys, count, least, places, bits, order)
				   : sort_places(keys, count, order);
}
