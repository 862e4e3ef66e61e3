/* Rows against files: see corpus_rows.h. */
#include "store/corpus_rows.h"

#include "store/catalogue_sql.h"
#include "store/corpus_files.h"

#include <string.h>

/* ---- what a file says ---- */

struct description {
	struct lode_corpus_entry *entry;
	struct lode_events events; /* of one block */
	unsigned char *seen;       /* by stack */
};

static void add_block(struct description *description, enum lode_event_type type)
{
	struct lode_corpus_entry *entry = description->entry;
	const struct lode_events *events = &description->events;

	entry->events[type] += events->count;
	for (size_t i = 0; i < events->count; i++) {
		uint64_t end =
			lode_add_saturating(lode_add_saturating(events->t[i], events->cost[i]), events->delay[i]);

		entry->cost[type] = lode_add_saturating(entry->cost[type], lode_events_cost(events, i));
		entry->first_t = events->t[i] < entry->first_t ? events->t[i] : entry->first_t;
		entry->last_t = end > entry->last_t ? end : entry->last_t;
		entry->stacks += !description->seen[events->stack[i]];
		description->seen[events->stack[i]] = 1;
	}
}

static int add_blocks(struct description *description, struct lode_store *store, struct lode_error *error)
{
	const unsigned columns = LODE_T | LODE_COST | LODE_DELAY | LODE_STACK | LODE_WEIGHT;
	int code = 0;

	for (size_t i = 0; !code && i < lode_store_blocks(store); i++) {
		code = lode_store_events(store, i, columns, &description->events, error);
		if (!code)
			add_block(description, lode_store_block(store, i)->type);
	}
	return code;
}

/* What the head says: all but the events. */
static void describe_head(const struct lode_stream *stream, struct lode_corpus_entry *entry)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	entry->name = lode_strings_get(strings, stream->name);
	entry->host = lode_strings_get(strings, stream->host);
	entry->threads = stream->thread_count;
	entry->symptoms = stream->symptom_count;
	entry->first_t = UINT64_MAX;
	for (size_t i = 0; i < stream->symptom_count; i++) {
		const struct lode_symptom *symptom = &stream->symptoms[i];

		entry->first_t = symptom->t0 < entry->first_t ? symptom->t0 : entry->first_t;
		entry->last_t = symptom->t1 > entry->last_t ? symptom->t1 : entry->last_t;
	}
}

static int describe(struct lode_store *store, struct lode_stream *stream, struct lode_corpus_entry *entry,
		    struct lode_error *error)
{
	struct description description = { .entry = entry };
	int code = lode_store_head(store, stream, error);

	if (code)
		return code;
	description.seen = lode_calloc(stream->dictionary->tree.count, 1);
	if (!description.seen)
		return lode_fail_memory(error);
	description.seen[0] = 1; /* no stack */
	describe_head(stream, entry);
	code = add_blocks(&description, store, error);
	if (entry->first_t > entry->last_t)
		entry->first_t = 0;
	lode_events_release(&description.events);
	lode_free(description.seen);
	return code;
}

int lode_corpus_describe_file(const char *path, struct lode_stream *stream, struct lode_corpus_entry *entry,
			      struct lode_error *error)
{
	struct lode_store *store;
	int code = lode_store_open(&store, path, error);

	if (code)
		return code;
	code = describe(store, stream, entry, error);
	lode_store_close(store);
	return code ? code : lode_corpus_look_at(path, entry, error);
}

/* ---- comparing ---- */

/* What the two say differently; NULL: nothing. The time of the file may differ: copies of a corpus have their
 * own. */
static const char *compare_entries(const struct lode_corpus_entry *row, const struct lode_corpus_entry *file)
{
	const char *base = strrchr(row->path, '/') + 1;

	if (strncmp(base, row->id, 32) != 0)
		return "its file";
	if (strcmp(row->name, file->name) != 0 || strcmp(row->host, file->host) != 0)
		return "its name or host";
	if (memcmp(row->events, file->events, sizeof(row->events)) != 0)
		return "its number of events";
	if (row->cost[LODE_RUN] != file->cost[LODE_RUN] || row->cost[LODE_WAIT] != file->cost[LODE_WAIT])
		return "its costs";
	if (row->first_t != file->first_t || row->last_t != file->last_t)
		return "its span of time";
	if (row->threads != file->threads || row->stacks != file->stacks || row->symptoms != file->symptoms)
		return "its number of threads, stacks or symptoms";
	if (row->file_size != file->file_size)
		return "the size of its file";
	return row->added ? NULL : "when it was added";
}

static int same_text(sqlite3_stmt *statement, int column, const char *text)
{
	const char *found = (const char *)sqlite3_column_text(statement, column);

	return found && strcmp(found, text) == 0;
}

static int same_number(sqlite3_stmt *statement, int column, uint64_t number)
{
	return sqlite3_column_type(statement, column) == SQLITE_INTEGER &&
	       (uint64_t)sqlite3_column_int64(statement, column) == number;
}

static int has_attribute(sqlite3_stmt *statement, const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->attribute_count; i++) {
		const struct lode_attribute *attribute = &stream->attributes[i];

		if (same_text(statement, 0, lode_strings_get(strings, attribute->key)))
			return same_text(statement, 1, lode_sql_attribute_type(attribute->type)) &&
			       same_text(statement, 2, lode_strings_get(strings, attribute->value));
	}
	return 0;
}

/* Symptoms are in the order of the file. */
static int is_symptom(sqlite3_stmt *statement, const struct lode_stream *stream, size_t i)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	const struct lode_symptom *symptom = &stream->symptoms[i];
	const struct lode_thread *thread = &stream->threads[symptom->thread];

	if (thread->pid == LODE_NO_PID ? sqlite3_column_type(statement, 0) != SQLITE_NULL
				       : !same_number(statement, 0, thread->pid))
		return 0;
	return same_number(statement, 1, thread->tid) &&
	       same_text(statement, 2, lode_strings_get(strings, symptom->name)) &&
	       same_number(statement, 3, symptom->t0) && same_number(statement, 4, symptom->t1);
}

/* Whether a query about stream `id` has `count` rows, and each is as it should be. 1, 0 or a negative code.
 */
static int compare_rows(struct lode_catalogue *catalogue, const char *sql, const char *id,
			const struct lode_stream *stream, size_t count, int symptoms, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, sql, error);
	int agrees = 1, status = SQLITE_DONE;
	size_t i = 0;

	if (!statement || lode_sql_bind_text(statement, 1, id)) {
		sqlite3_finalize(statement);
		return lode_sql_fail(catalogue, error);
	}
	while (agrees && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		agrees = i < count &&
			 (symptoms ? is_symptom(statement, stream, i) : has_attribute(statement, stream));
		i++;
	}
	agrees = agrees && i == count;
	if (status != SQLITE_DONE && status != SQLITE_ROW)
		agrees = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	return agrees;
}

static int compare(struct lode_catalogue *catalogue, const struct lode_corpus_entry *row, const char **what,
		   struct lode_stream *stream, struct lode_error *error)
{
	struct lode_corpus_entry file = { 0 };
	int code = lode_corpus_describe_file(row->path, stream, &file, error), agrees;

	if (code)
		return code;
	*what = compare_entries(row, &file);
	if (*what)
		return 0;
	*what = "its attributes";
	agrees = compare_rows(catalogue, "SELECT key, type, value FROM attributes WHERE stream = ?", row->id,
			      stream, stream->attribute_count, 0, error);
	if (agrees <= 0)
		return agrees;
	*what = "its symptoms";
	return compare_rows(catalogue,
			    "SELECT pid, tid, name, t0, t1 FROM symptoms WHERE stream = ? ORDER BY rowid", row->id,
			    stream, stream->symptom_count, 1, error);
}

int lode_corpus_row_agrees(struct lode_catalogue *catalogue, const struct lode_corpus_entry *row,
			   const char **what, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = compare(catalogue, row, what, &stream, error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}
