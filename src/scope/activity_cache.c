/*
 * The cached states of streams: see activity_cache.h.
 *
 * An entry holds the number of rows, the names of their processes one after the other, each ended by a NUL, and then the
 * numbers of each row.
 */
#include "scope/activity_cache.h"

#include "scope/where.h"
#include "store/map_columns.h"

#include <string.h>

/* A row but for its name is numbers alone. */
#define FIRST   offsetof(struct lode_process_states, threads)
#define NUMBERS ((sizeof(struct lode_process_states) - FIRST) / sizeof(uint64_t))

_Static_assert(NUMBERS == 3 + LODE_STATES + 2 && FIRST % sizeof(uint64_t) == 0, "all numbers of a row are kept");

static const struct lode_map_field byte_field[] = { { 0, 1 } };
static const struct lode_map_layout byte_layout = { 1, byte_field, 1 };

int lode_activity_cache_key(const struct lode_activity_options *options, const struct lode_corpus_entry *entry,
			    const struct lode_store *store, struct lode_map_key *key)
{
	struct lode_buffer description = { 0 };
	uint64_t events = 0;
	int code;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		events += entry->events[type];
	if (!options->states_only || !lode_map_cache_wants(entry->cache, events))
		return 0;
	lode_store_digest(store, &description);
	lode_idle_rules_describe(options->idle, &description);
	for (size_t i = 0; lode_where_has_members(options->where) && options->where[i]; i++)
		lode_buffer_add(&description, options->where[i], strlen(options->where[i]) + 1);
	code = lode_map_key_make(key, "states 2", &description);
	lode_buffer_release(&description);
	return code ? code : 1;
}

/* ---- writing ---- */

static void write_states(struct lode_map_writer *writer, const struct lode_state_table *states)
{
	struct lode_buffer names = { 0 };

	for (size_t i = 0; i < states->count; i++) {
		const char *name = lode_strings_get(&states->names, states->items[i].process);

		lode_buffer_add(&names, name, strlen(name) + 1);
	}
	lode_map_write_number(writer, states->count);
	lode_map_write_number(writer, names.size);
	lode_map_write_rows(writer, names.bytes, names.size, &byte_layout);
	for (size_t i = 0; i < states->count; i++) {
		uint64_t numbers[NUMBERS];

		memcpy(numbers, (const char *)&states->items[i] + FIRST, sizeof(numbers));
		for (size_t k = 0; k < NUMBERS; k++)
			lode_map_write_number(writer, numbers[k]);
	}
	writer->buffer.failed |= names.failed;
	lode_buffer_release(&names);
}

void lode_activity_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			     const struct lode_state_table *states)
{
	struct lode_map_writer writer = { 0 };

	write_states(&writer, states);
	lode_map_cache_put(cache, key, &writer.buffer);
	lode_map_writer_release(&writer);
}

/* ---- reading ---- */

static void read_row(struct lode_map_reader *reader, const char *name, struct lode_state_table *states)
{
	struct lode_process_states row = { 0 };
	uint64_t numbers[NUMBERS];

	for (size_t k = 0; k < NUMBERS; k++)
		numbers[k] = lode_map_read_number(reader);
	memcpy((char *)&row + FIRST, numbers, sizeof(numbers));
	if (!reader->code && lode_state_table_put(states, name, &row) < 0)
		reader->code = LODE_SYSTEM;
}

int lode_activity_cache_read(struct lode_cursor payload, void *result)
{
	struct lode_state_table *states = result;
	struct lode_map_reader reader = lode_map_reader(payload);
	size_t count = lode_map_read_count(&reader, UINT32_MAX), size = lode_map_read_count(&reader, UINT32_MAX);
	char *names = lode_map_read_new_rows(&reader, size, &byte_layout);
	size_t at = 0;
	int code;

	for (size_t i = 0; i < count && !reader.code; i++) {
		lode_map_reader_expect(&reader, at < size);
		if (reader.code)
			break;
		read_row(&reader, names + at, states);
		at += strlen(names + at) + 1; /* a NUL follows the last name in any case */
	}
	lode_map_reader_expect(&reader, at == size && states->count == count);
	code = lode_map_reader_finish(&reader);
	lode_map_reader_release(&reader);
	lode_free(names);
	return code;
}

int lode_activity_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			     struct lode_state_table *states)
{
	int code = lode_map_cache_read(cache, key, lode_activity_cache_read, states);

	if (code == 0 || code == 1)
		return code;
	lode_state_table_release(states);
	return code == LODE_BAD_INPUT && !lode_state_table_init(states) ? 0 : LODE_SYSTEM;
}
