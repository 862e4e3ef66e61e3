/*
 * Reading a damaged catalogue: see catalogue_salvage.h.
 *
 * The table of streams, the index of their ids and the index check_streams hold
 * each value twice, in different pages. All three are read, forwards until
 * SQLite meets damage and then backwards, and what they say is put together by
 * row number. A reading that two of them share is right; one that only one has is
 * taken, since the other one could not be read; of two that differ, the table's is
 * taken and marked.
 */
#include "store/catalogue_salvage.h"

#include "store/catalogue_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A scan takes a dozen or two of SQLite's steps a row, and a row has 80 bytes and more. */
#define STEPS_PER_BYTE 4
#define STEPS_FREE     100000
#define STEPS_PIECE    1000

#define UNSURE "found by fsck in a damaged catalogue, uncertain: "

/* What one scan says of one row. */
struct reading {
	int64_t row;
	unsigned scan;      /* place in `scans` */
	const char *id;     /* NULL: it does not say */
	const char *source; /* likewise */
	uint64_t added;
};

struct salvage {
	struct lode_catalogue catalogue;
	struct lode_corpus_list *list;
	struct reading *readings;
	size_t count, capacity;
	uint64_t steps_left;
	struct lode_error *error;
};

#define TABLE "SELECT rowid, id, source, strftime('%s', added) FROM streams NOT INDEXED ORDER BY rowid"
#define IDS   "SELECT rowid, id, NULL, NULL FROM streams INDEXED BY sqlite_autoindex_streams_1 ORDER BY id"
#define SOURCES                                                                                                   \
	"SELECT rowid, NULL, source, strftime('%s', added) FROM streams INDEXED BY check_streams"                 \
	" ORDER BY source"

/* Each with its way back, which only a scan that meets damage needs. */
static const char *const scans[][2] = {
	{ TABLE, TABLE " DESC" },
	{ IDS, IDS " DESC" },
	{ SOURCES, SOURCES " DESC" },
};

/* Pages of a stranger's file can refer to one another a great many times. */
static int count_steps(void *context)
{
	struct salvage *salvage = context;

	if (salvage->steps_left < STEPS_PIECE)
		return 1;
	salvage->steps_left -= STEPS_PIECE;
	return 0;
}

/* As SQLite wants to have names of files with options; the journal, and other programs, are left alone. */
static char *address_of(const char *path)
{
	struct lode_buffer buffer = { 0 };
	char *address = NULL, escape[4];

	lode_buffer_text(&buffer, *path == '/' ? "file://" : "file:");
	for (; *path; path++) {
		int is_plain = strchr("%?#", *path) == NULL;

		snprintf(escape, sizeof(escape), is_plain ? "%c" : "%%%02X", (unsigned char)*path);
		lode_buffer_text(&buffer, escape);
	}
	lode_buffer_text(&buffer, "?immutable=1");
	if (!buffer.failed)
		address = lode_strndup((const char *)buffer.bytes, buffer.size);
	lode_buffer_release(&buffer);
	return address;
}

/* Opens the file. 1 when it can be asked; 0: it is no file of SQLite at all. */
static int open_damaged(struct salvage *salvage, const char *path)
{
	struct stat status;
	char *address = address_of(path);
	sqlite3 *db = NULL;
	int code;

	if (!address)
		return lode_fail_memory(salvage->error);
	code = stat(path, &status) < 0
		       ? SQLITE_CANTOPEN
		       : sqlite3_open_v2(address, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	lode_free(address);
	salvage->catalogue.db = db;
	if (code != SQLITE_OK)
		return code == SQLITE_NOMEM ? lode_fail_memory(salvage->error) : 0;
	salvage->steps_left = STEPS_FREE + (uint64_t)status.st_size * STEPS_PER_BYTE;
	sqlite3_progress_handler(db, STEPS_PIECE, count_steps, salvage);
	/* Writable, for SQLite, is a schema of which some definitions may be damaged. */
	code = lode_sql_run(
		&salvage->catalogue,
		"PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA writable_schema = ON;", NULL);
	return code == LODE_SYSTEM ? lode_fail_memory(salvage->error) : !code;
}

/* Whether `streams` is the table that we know and not, for example, a view that never ends. */
static int is_known(struct salvage *salvage)
{
	sqlite3_stmt *statement = lode_sql_prepare(&salvage->catalogue,
						   "SELECT sql FROM sqlite_master WHERE (name = 'streams' OR "
						   "tbl_name = 'streams') AND sql IS NOT NULL",
						   NULL);
	int known = 1, found = 0;

	while (statement && known && sqlite3_step(statement) == SQLITE_ROW) {
		known = lode_sql_is_definition((const char *)sqlite3_column_text(statement, 0));
		found = 1;
	}
	sqlite3_finalize(statement);
	return known && found;
}

static int salvage_row(struct salvage *salvage, sqlite3_stmt *statement, unsigned scan)
{
	struct lode_arena *arena = &salvage->list->arena;
	struct reading *reading;
	const char *id = lode_sql_text(arena, statement, 1), *source = lode_sql_text(arena, statement, 2);

	if (LODE_GROW(salvage->readings, salvage->capacity, salvage->count + 1) < 0)
		return lode_fail_memory(salvage->error);
	if (id && (strspn(id, "0123456789abcdef") != 32 || id[32]))
		id = NULL;
	reading = &salvage->readings[salvage->count++];
	*reading = (struct reading){ .row = sqlite3_column_int64(statement, 0),
				     .scan = scan,
				     .id = id,
				     .source = source,
				     .added = (uint64_t)sqlite3_column_int64(statement, 3) };
	return 0;
}

/* 1 when the scan came to its end; 0 when it met damage. */
static int scan_rows(struct salvage *salvage, const char *sql, unsigned scan)
{
	sqlite3_stmt *statement = lode_sql_prepare(&salvage->catalogue, sql, NULL);
	int status = SQLITE_DONE, code = 0;

	if (!statement)
		return 0; /* damaged, or of a version without this index */
	while (!code && (status = sqlite3_step(statement)) == SQLITE_ROW)
		code = salvage_row(salvage, statement, scan);
	if (status == SQLITE_NOMEM)
		code = lode_fail_memory(salvage->error);
	sqlite3_finalize(statement);
	return code ? code : status == SQLITE_DONE;
}

static int compare_readings(const void *left, const void *right)
{
	const struct reading *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->scan < b->scan ? -1 : a->scan > b->scan;
}

/* The source that the readings agree on, or one that says that they do not; NULL: none, or no memory. */
static const char *choose_source(struct salvage *salvage, const struct reading *first, const struct reading *last)
{
	const char *source = NULL;
	int differs = 0;

	for (; first < last; first++) {
		differs |= source && first->source && strcmp(source, first->source) != 0;
		source = source ? source : first->source;
	}
	if (differs) {
		char *unsure = lode_arena_bytes(&salvage->list->arena, sizeof(UNSURE) + strlen(source));

		if (unsure)
			sprintf(unsure, "%s%s", UNSURE, source);
		return unsure;
	}
	return source;
}

/* Puts together what the readings from `first` up to `last` say of one row: under each id, where they differ. */
static void combine(struct salvage *salvage, const struct reading *first, const struct reading *last)
{
	const char *source = choose_source(salvage, first, last), *id = NULL;
	uint64_t added = 0;

	for (const struct reading *reading = first; reading < last; reading++)
		added = added ? added : reading->added;
	for (; source && first < last; first++) {
		struct lode_corpus_entry *entry = &salvage->list->items[salvage->list->count];

		if (!first->id || (id && strcmp(id, first->id) == 0))
			continue;
		id = first->id;
		*entry = (struct lode_corpus_entry){ .source = source, .added = added };
		memcpy(entry->id, id, 33);
		salvage->list->count++;
	}
}

static int compare_ids(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = left, *b = right;

	return strcmp(a->id, b->id);
}

static int combine_all(struct salvage *salvage)
{
	struct reading *readings = salvage->readings;
	size_t next;

	if (!salvage->count)
		return 0;
	salvage->list->items = lode_calloc(salvage->count, sizeof(*salvage->list->items));
	if (!salvage->list->items)
		return lode_fail_memory(salvage->error);
	qsort(readings, salvage->count, sizeof(*readings), compare_readings);
	for (size_t i = 0; i < salvage->count; i = next) {
		for (next = i + 1; next < salvage->count && readings[next].row == readings[i].row;)
			next++;
		combine(salvage, &readings[i], &readings[next]);
	}
	qsort(salvage->list->items, salvage->list->count, sizeof(*salvage->list->items), compare_ids);
	return 0;
}

int lode_catalogue_salvage(const char *path, struct lode_corpus_list *list, struct lode_error *error)
{
	struct salvage salvage = { .list = list, .error = error };
	int code;

	memset(list, 0, sizeof(*list));
	salvage.catalogue.path = (char *)(uintptr_t)path;
	code = open_damaged(&salvage, path);
	if (code > 0)
		code = is_known(&salvage);
	for (unsigned i = 0; code > 0 && i < sizeof(scans) / sizeof(scans[0]); i++) {
		code = scan_rows(&salvage, scans[i][0], i);
		if (!code)
			code = scan_rows(&salvage, scans[i][1], i);
		code = code < 0 ? code : 1;
	}
	sqlite3_close(salvage.catalogue.db);
	code = code < 0 ? code : combine_all(&salvage);
	lode_free(salvage.readings);
	if (code < 0)
		lode_corpus_list_release(list);
	return code;
}

const struct lode_corpus_entry *lode_catalogue_salvaged(const struct lode_corpus_list *list, const char *id)
{
	struct lode_corpus_entry wanted = { 0 };

	memcpy(wanted.id, id, 32);
	return list->count ? bsearch(&wanted, list->items, list->count, sizeof(wanted), compare_ids) : NULL;
}
