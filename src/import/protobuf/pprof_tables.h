/*
 * The tables of a pprof profile: where its strings, mappings, functions and locations are in the
 * message, and what it says about itself. Nothing is copied; the message must outlive them.
 */
#ifndef LODE_IMPORT_PPROF_TABLES_H
#define LODE_IMPORT_PPROF_TABLES_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/import.h"
#include "import/protobuf/protobuf.h"
#include "import/text_span.h"

/* A mapping, function or location: the position of its field, and what became of it when it was first used. */
struct lode_pprof_entry {
	uint64_t id;
	uint64_t at;
	uint32_t first; /* module; function's string; first of its frames. LODE_NONE: not used yet */
	uint32_t count; /* location: number of its frames, root first; mapping: its number in `ranges` */
};

struct lode_pprof_table {
	LODE_ARRAY(struct lode_pprof_entry);
	struct lode_index index;
};

struct lode_pprof_kind {
	uint64_t type; /* strings */
	uint64_t unit;
};

struct lode_pprof_tables {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	const unsigned char *bytes; /* the whole message */
	size_t size;

	LODE_ARRAY(uint64_t) strings; /* the position of each one's field */
	LODE_ARRAY(struct lode_pprof_kind) types;
	LODE_ARRAY(uint64_t) comments;
	struct lode_pprof_table mappings;
	struct lode_pprof_table functions;
	struct lode_pprof_table locations;
	uint64_t time;
	uint64_t duration;
	struct lode_pprof_kind period_type;
	uint64_t period;
	uint64_t default_type;
};

/* The first pass: fills all from `bytes`; the rest must be zeroed. Returns 0 or a negative code. */
int lode_pprof_tables_read(struct lode_pprof_tables *tables);
void lode_pprof_tables_release(struct lode_pprof_tables *tables);

/* `at` is the place of the trouble in the message. */
int lode_pprof_fail_damaged(struct lode_pprof_tables *tables, uint64_t at, const char *what);
/* Where a cursor of the message is. */
uint64_t lode_pprof_place(const struct lode_pprof_tables *tables, const struct lode_cursor *cursor);
/* The message of the field at `at`, which was read before. */
struct lode_cursor lode_pprof_message_at(const struct lode_pprof_tables *tables, uint64_t at);
/* The entry with this id, or NULL. */
struct lode_pprof_entry *lode_pprof_find(const struct lode_pprof_table *table, uint64_t id);
/* Number `number` of the string table. Returns 0, or LODE_BAD_INPUT when there is none. */
int lode_pprof_string_get(struct lode_pprof_tables *tables, uint64_t number, struct lode_span *string);
/* The number in field `number` of a message; the last one counts. */
int lode_pprof_read_number(struct lode_pprof_tables *tables, struct lode_cursor message, uint32_t number,
			   uint64_t *value);
/* Appends to a growing array of numbers. */
int lode_pprof_append(struct lode_pprof_tables *tables, uint64_t **items, size_t *count, size_t *capacity,
		      uint64_t item);

#endif
