/* What the catalogue keeps of signatures: see catalogue_signatures.h. */
#include "store/catalogue_signatures.h"

#include "store/catalogue_sql.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int lode_catalogue_writable(struct lode_catalogue *catalogue)
{
	const char *slash = strrchr(catalogue->path, '/');
	char *folder = slash ? lode_strndup(catalogue->path, (size_t)(slash - catalogue->path) + 1)
			     : lode_strdup(".");
	/* The journal is next to the file. */
	int writable = folder && access(folder, W_OK) == 0 && sqlite3_db_readonly(catalogue->db, "main") == 0;

	lode_free(folder);
	return writable;
}

/* ---- reading ---- */

static int read_row(struct lode_catalogue *catalogue, sqlite3_stmt *statement, struct lode_signature_rows *rows,
		    struct lode_error *error)
{
	const char *texts[8];

	for (int i = 0; i < 8; i++) {
		if (sqlite3_column_type(statement, 1 + i) != SQLITE_TEXT)
			return lode_fail(
				error, LODE_BAD_INPUT,
				"%s: a signature lacks its name or patterns; 'lode fsck --repair' rebuilds it",
				catalogue->path);
		texts[i] = lode_sql_text(&rows->arena, statement, 1 + i);
		if (!texts[i])
			return lode_fail_memory(error);
	}
	return LODE_APPEND(rows->items, rows->count, rows->capacity,
			   (struct lode_signature_row){
				   .id = sqlite3_column_int64(statement, 0),
				   .name = texts[0],
				   .bug = texts[1],
				   .state = texts[2],
				   .since = texts[3],
				   .kind = texts[4],
				   .made = texts[5],
				   .patterns = texts[6],
				   .notes = texts[7],
			   }) < 0
		       ? lode_fail_memory(error)
		       : 0;
}

static int read_file_row(struct lode_catalogue *catalogue, sqlite3_stmt *statement,
			 struct lode_signature_rows *rows, struct lode_error *error)
{
	const char *digest = (const char *)sqlite3_column_text(statement, 0);

	(void)catalogue;
	if (!digest)
		return lode_fail_memory(error);
	memset(rows->digest, 0, sizeof(rows->digest));
	strncpy(rows->digest, digest, sizeof(rows->digest) - 1);
	rows->newest = sqlite3_column_int64(statement, 1);
	return 0;
}

static int compare_ids(const void *left, const void *right)
{
	const struct lode_signature_row *const *a = left, *const *b = right;

	return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

/* Calls `take` for each row of a query. */
static int for_each(struct lode_catalogue *catalogue, const char *sql, struct lode_signature_rows *rows,
		    int (*take)(struct lode_catalogue *, sqlite3_stmt *, struct lode_signature_rows *,
				struct lode_error *),
		    struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, sql, error);
	int code = 0, status = SQLITE_DONE;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	while (!code && (status = sqlite3_step(statement)) == SQLITE_ROW)
		code = take(catalogue, statement, rows, error);
	if (!code && status != SQLITE_DONE)
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	return code;
}

/* One stream that a signature matches; SQLite's own sums would stumble over numbers of 64 bits. */
static void add_match(struct lode_signature_row *row, sqlite3_stmt *statement)
{
	const char *added = (const char *)sqlite3_column_text(statement, 4);

	row->streams++;
	row->newer += added && strcmp(added, row->since) > 0;
	for (int kind = 0; kind < 2; kind++)
		row->cost[kind] =
			lode_add_saturating(row->cost[kind], (uint64_t)sqlite3_column_int64(statement, 1 + kind));
	row->events = lode_add_saturating(row->events, (uint64_t)sqlite3_column_int64(statement, 3));
}

static int add_matches(struct lode_catalogue *catalogue, struct lode_signature_row **by_id, size_t count,
		       struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue,
				 "SELECT signature, m.run_ns, m.wait_ns, m.events, added"
				 " FROM stream_signatures AS m JOIN streams ON streams.id = m.stream",
				 error);
	int status;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		struct lode_signature_row wanted = { .id = sqlite3_column_int64(statement, 0) }, *key = &wanted;
		struct lode_signature_row **found =
			count ? bsearch(&key, by_id, count, sizeof(*by_id), compare_ids) : NULL;

		if (found)
			add_match(*found, statement);
	}
	sqlite3_finalize(statement);
	return status == SQLITE_DONE ? 0 : lode_sql_fail(catalogue, error);
}

static int sum_matches(struct lode_catalogue *catalogue, struct lode_signature_rows *rows, struct lode_error *error)
{
	struct lode_signature_row **by_id = lode_calloc(rows->count + 1, sizeof(struct lode_signature_row *));
	int code;

	if (!by_id)
		return lode_fail_memory(error);
	for (size_t i = 0; i < rows->count; i++)
		by_id[i] = &rows->items[i];
	qsort(by_id, rows->count, sizeof(struct lode_signature_row *), compare_ids);
	code = add_matches(catalogue, by_id, rows->count, error);
	lode_free(by_id);
	return code;
}

#define SIGNATURES(notes) "SELECT id, name, bug, state, since, kind, made, patterns, " notes " FROM signatures"

int lode_catalogue_signatures(struct lode_catalogue *catalogue, struct lode_signature_rows *rows,
			      struct lode_error *error)
{
	int64_t version = 0;
	int code = lode_catalogue_version(catalogue, &version, error);

	memset(rows, 0, sizeof(*rows));
	if (code || version < 2)
		return code;
	code = for_each(catalogue, "SELECT digest, newest FROM signature_file", rows, read_file_row, error);
	if (!code)
		code = for_each(catalogue,
				version < 5
					? SIGNATURES("''") " ORDER BY place, id"
					: SIGNATURES("coalesce(notes, '')") " LEFT JOIN signature_notes ON "
									    "signature = id ORDER BY place, id",
				rows, read_row, error);
	return code ? code : sum_matches(catalogue, rows, error);
}

void lode_signature_rows_release(struct lode_signature_rows *rows)
{
	lode_free(rows->items);
	lode_arena_release(&rows->arena);
	memset(rows, 0, sizeof(*rows));
}

/* ---- writing ---- */

/* Runs a statement whose parameters were bound (unless that `failed`), and finishes it. */
static int finish(struct lode_catalogue *catalogue, sqlite3_stmt *statement, int failed, struct lode_error *error)
{
	int code = !statement || failed ? lode_sql_fail(catalogue, error)
					: lode_sql_step(catalogue, statement, error);

	sqlite3_finalize(statement);
	return code;
}

static int put_notes(struct lode_catalogue *catalogue, const struct lode_signature_row *row,
		     struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(
		catalogue, "INSERT INTO signature_notes VALUES(?,?) ON CONFLICT(signature) DO UPDATE SET notes = excluded.notes",
		error);
	int failed = statement && (lode_sql_bind_number(statement, 1, (uint64_t)row->id) ||
				   lode_sql_bind_text(statement, 2, row->notes));

	return finish(catalogue, statement, failed, error);
}

int lode_catalogue_put_signature(struct lode_catalogue *catalogue, const struct lode_signature_row *row,
				 size_t place, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(
		catalogue,
		"INSERT INTO signatures(id, place, name, bug, state, since, kind, made, patterns)"
		" VALUES(?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET place = excluded.place, bug = "
		"excluded.bug,"
		" state = excluded.state, since = excluded.since, made = excluded.made",
		error);
	const char *texts[] = { row->name, row->bug, row->state, row->since, row->kind, row->made, row->patterns };
	int failed = 0, code;

	if (statement) {
		failed |= lode_sql_bind_number(statement, 1, (uint64_t)row->id);
		failed |= lode_sql_bind_number(statement, 2, place);
		for (int i = 0; i < 7; i++)
			failed |= lode_sql_bind_text(statement, 3 + i, texts[i]);
	}
	code = finish(catalogue, statement, failed, error);
	return code ? code : put_notes(catalogue, row, error);
}

int lode_catalogue_remove_signature(struct lode_catalogue *catalogue, int64_t id, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "DELETE FROM signatures WHERE id = ?", error);
	int failed = statement && lode_sql_bind_number(statement, 1, (uint64_t)id);

	return finish(catalogue, statement, failed, error);
}

int lode_catalogue_put_signature_file(struct lode_catalogue *catalogue, const char *digest, int64_t newest,
				      struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue, "UPDATE signature_file SET digest = ?, newest = ?", error);
	int failed = statement && (lode_sql_bind_text(statement, 1, digest) ||
				   lode_sql_bind_number(statement, 2, (uint64_t)newest));

	return finish(catalogue, statement, failed, error);
}

/* ---- matches ---- */

static int forget_matches(struct lode_catalogue *catalogue, const char *stream, struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue, "DELETE FROM stream_signatures WHERE stream = ?", error);
	int failed = statement && lode_sql_bind_text(statement, 1, stream);

	return finish(catalogue, statement, failed, error);
}

static int mark_matched(struct lode_catalogue *catalogue, const char *stream, int64_t newest,
			struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue, "INSERT OR REPLACE INTO matched_streams VALUES(?,?)", error);
	int failed = statement && (lode_sql_bind_text(statement, 1, stream) ||
				   lode_sql_bind_number(statement, 2, (uint64_t)newest));

	return finish(catalogue, statement, failed, error);
}

static int insert_matches(struct lode_catalogue *catalogue, const char *stream,
			  const struct lode_signature_match *matches, size_t count, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(
		catalogue, "INSERT INTO stream_signatures SELECT ?, id, ?, ?, ? FROM signatures WHERE id = ?",
		error);
	int code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	for (size_t i = 0; !code && i < count; i++) {
		int failed = lode_sql_bind_text(statement, 1, stream) |
			     lode_sql_bind_number(statement, 2, matches[i].cost[LODE_RUN]) |
			     lode_sql_bind_number(statement, 3, matches[i].cost[LODE_WAIT]) |
			     lode_sql_bind_number(statement, 4, matches[i].events) |
			     lode_sql_bind_number(statement, 5, (uint64_t)matches[i].signature);

		code = failed ? lode_sql_fail(catalogue, error) : lode_sql_step(catalogue, statement, error);
	}
	sqlite3_finalize(statement);
	return code;
}

int lode_catalogue_put_matches(struct lode_catalogue *catalogue, const char *stream, const char *file,
			       int64_t newest, const struct lode_signature_match *matches, size_t count,
			       struct lode_error *error)
{
	const char *slash = strrchr(file, '/');
	char now[256];
	int code = lode_catalogue_find(catalogue, stream, now, sizeof(now), error);

	if (code <= 0)
		return code;
	if (strcmp(now, slash ? slash + 1 : file) != 0)
		return 0;
	code = forget_matches(catalogue, stream, error);
	if (!code)
		code = insert_matches(catalogue, stream, matches, count, error);
	return code ? code : mark_matched(catalogue, stream, newest, error);
}

/* ---- where they were seen ---- */

#define VERSION_OF_STREAM                                                                                         \
	"coalesce((SELECT value FROM attributes WHERE stream = streams.id AND key = 'version'),"                  \
	" (SELECT value FROM attributes WHERE stream = streams.id AND key = 'service.version'), '')"

#define SEEN_NOW                                                                                                  \
	"SELECT signature, " VERSION_OF_STREAM " AS version, host, 1 AS streams, stream_signatures.events AS "    \
	"events, stream_signatures.run_ns AS run_ns, stream_signatures.wait_ns AS wait_ns, added AS first, "      \
	"added AS last FROM stream_signatures JOIN streams ON streams.id = stream"
#define SEEN_BEFORE                                                                                               \
	" UNION ALL SELECT signature, version, host, streams, events, run_ns, wait_ns, first, last"               \
	" FROM past_signatures"

#define SEEN(FROM)                                                                                                \
	"SELECT name, state, version, sum(streams), count(DISTINCT host), sum(events), total(run_ns), "           \
	"total(wait_ns), min(strftime('%s', first)), max(strftime('%s', last)) FROM (" FROM                       \
	") AS seen JOIN signatures ON signatures.id = seen.signature GROUP BY signatures.id, version"             \
	" ORDER BY total(run_ns) + total(wait_ns) DESC, name LIMIT ?"

static const char seen_query[] = SEEN(SEEN_NOW SEEN_BEFORE), seen_query_of_version_2[] = SEEN(SEEN_NOW);

static const char retire_statement[] =
	"INSERT INTO past_signatures SELECT signature, host, version, streams, events, run_ns, wait_ns, first, "
	"last FROM (" SEEN_NOW " WHERE stream = ?) WHERE true"
	" ON CONFLICT(signature, host, version) DO UPDATE SET streams = streams + 1,"
	" events = events + excluded.events, run_ns = run_ns + excluded.run_ns,"
	" wait_ns = wait_ns + excluded.wait_ns, first = min(first, excluded.first), last = max(last, "
	"excluded.last)";

static int run_with_text(struct lode_catalogue *catalogue, const char *sql, const char *text,
			 struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, sql, error);
	int code;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	code = lode_sql_bind_text(statement, 1, text) ? lode_fail_memory(error)
						      : lode_sql_step(catalogue, statement, error);
	sqlite3_finalize(statement);
	return code;
}

int lode_catalogue_signatures_retire(struct lode_catalogue *catalogue, const char *stream, struct lode_error *error)
{
	return run_with_text(catalogue, retire_statement, stream, error);
}

int lode_catalogue_signatures_forget(struct lode_catalogue *catalogue, const char *host, struct lode_error *error)
{
	return run_with_text(catalogue, "DELETE FROM past_signatures WHERE host = ?", host, error);
}

/* A sum that may be more than SQLite's integers hold. */
static uint64_t saturated(double sum)
{
	return sum < 0x1p63 ? (uint64_t)sum : INT64_MAX;
}

static void read_seen(sqlite3_stmt *statement, struct lode_signature_seen *seen)
{
	const char *texts[3];

	for (int i = 0; i < 3; i++) {
		texts[i] = (const char *)sqlite3_column_text(statement, i);
		texts[i] = texts[i] ? texts[i] : "";
	}
	*seen = (struct lode_signature_seen){ .name = texts[0],
					      .state = texts[1],
					      .version = texts[2],
					      .streams = (uint64_t)sqlite3_column_int64(statement, 3),
					      .hosts = (uint64_t)sqlite3_column_int64(statement, 4),
					      .events = (uint64_t)sqlite3_column_int64(statement, 5),
					      .first_seen = (uint64_t)sqlite3_column_int64(statement, 8),
					      .last_seen = (uint64_t)sqlite3_column_int64(statement, 9) };
	seen->cost[LODE_RUN] = saturated(sqlite3_column_double(statement, 6));
	seen->cost[LODE_WAIT] = saturated(sqlite3_column_double(statement, 7));
}

int lode_catalogue_signatures_seen(struct lode_catalogue *catalogue, unsigned limit,
				   void (*tell)(void *context, const struct lode_signature_seen *seen),
				   void *context, struct lode_error *error)
{
	sqlite3_stmt *statement;
	int64_t version = 0;
	int status = SQLITE_DONE, code = lode_catalogue_version(catalogue, &version, error);

	if (code || version < 2)
		return code;
	statement = lode_sql_prepare(catalogue, version < 4 ? seen_query_of_version_2 : seen_query, error);
	if (!statement || sqlite3_bind_int64(statement, 1, limit) != SQLITE_OK) {
		sqlite3_finalize(statement);
		return lode_sql_fail(catalogue, error);
	}
	while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
		struct lode_signature_seen seen;

		read_seen(statement, &seen);
		tell(context, &seen);
	}
	if (status != SQLITE_DONE)
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	return code;
}
