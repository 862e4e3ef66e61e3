/*
 * Results that were kept: each input is tried as a whole entry, as it is and with its
 * checksum repaired, and as the payload of either analysis, over a fixed dictionary.
 */
#include "fuzz.h"
#include "random_stream.h"

#include "latency/partial_cache.h"
#include "scope/activity_cache.h"
#include "scope/area_cache.h"
#include "store/store_format.h"

#include <stdlib.h>
#include <string.h>

/* As seeds.c made the stream of the seeds. */
#define SEED   9
#define EVENTS 30

static const struct lode_map_key key = { "0123456789abcdef0123456789abcdef" };

static void fill(struct lode_dictionary *dictionary, struct lode_stream *stream)
{
	uint64_t seed = SEED;

	fuzz_require(lode_dictionary_init(dictionary) == 0, "memory");
	lode_stream_init(stream, dictionary);
	fuzz_require(random_stream(stream, &seed, EVENTS) == 0, "memory");
}

static void check_rows(const struct lode_area_rows *rows, const struct lode_area_partial *partial)
{
	for (size_t i = 0; i < rows->count; i++)
		fuzz_require(rows->items[i].stack < partial->dictionary.tree.count &&
				     rows->items[i].stream < (partial->each ? partial->symptoms : 1),
			     "a row is of a stack and a symptom that are there");
}

static void try_area(struct lode_cursor payload)
{
	struct lode_area_partial partial = { 0 };
	int code;

	fill(&partial.dictionary, &partial.stream);
	partial.occurrences = lode_calloc(partial.dictionary.tree.count, sizeof(*partial.occurrences));
	fuzz_require(partial.occurrences != NULL, "memory");
	code = lode_area_partial_read(payload, &partial);
	fuzz_require(code == 0 || code == LODE_BAD_INPUT || code == LODE_SYSTEM, "a code that is known");
	for (int kind = 0; code == 0 && kind < LODE_AREA_KINDS; kind++) {
		check_rows(&partial.rows[kind], &partial);
		check_rows(&partial.idle[kind], &partial);
	}
	lode_area_partial_release(&partial);
}

static void try_latency(struct lode_cursor payload)
{
	struct lode_latency_partial partial = { 0 };
	int code;

	fill(&partial.dictionary, &partial.stream);
	code = lode_latency_partial_read(payload, &partial);
	fuzz_require(code == 0 || code == LODE_BAD_INPUT || code == LODE_SYSTEM, "a code that is known");
	fuzz_check_stream(&partial.stream);
	for (uint32_t node = 0; code == 0 && node < partial.dictionary.tree.count; node++)
		lode_sketch_quantile(&partial.sketch, partial.chains.of[node], 0.5);
	lode_latency_partial_release(&partial);
}

static void try_states(struct lode_cursor payload)
{
	struct lode_state_table states;
	int code;

	fuzz_require(lode_state_table_init(&states) == 0, "memory");
	code = lode_activity_cache_read(payload, &states);
	fuzz_require(code == 0 || code == LODE_BAD_INPUT || code == LODE_SYSTEM, "a code that is known");
	lode_state_table_release(&states);
}

static void try_entry(const uint8_t *bytes, size_t size)
{
	struct lode_cursor payload;
	int code = lode_cached_map_parse(bytes, size, &key, &payload);

	fuzz_require(code == 0 || code == LODE_BAD_INPUT, "bytes are an entry or they are not");
	fuzz_require(code || lode_cursor_left(&payload) == size - 56, "a payload is all behind the header");
}

/* Magic, key, size and checksum, as the author of a hostile entry would write them. */
static void repair(uint8_t *bytes, size_t size)
{
	uint64_t left = size - 56, checksum;

	memcpy(bytes, "LODEMAP1", 8);
	memcpy(bytes + 8, key.text, 32);
	memcpy(bytes + 40, &left, 8);
	checksum = lode_checksum(bytes + 56, (size_t)left, lode_checksum(bytes, 48, 0));
	memcpy(bytes + 48, &checksum, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 56);

	fuzz_require(copy != NULL, "memory");
	memcpy(copy + 56, bytes, size);
	try_entry(bytes, size);
	repair(copy, size + 56);
	try_entry(copy, size + 56);
	try_area(lode_cursor(bytes, size));
	try_latency(lode_cursor(bytes, size));
	try_states(lode_cursor(bytes, size));
	free(copy);
	return 0;
}
