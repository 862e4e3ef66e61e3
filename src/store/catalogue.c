/*
 * The catalogue of a corpus: see catalogue.h.
 *
 * Schema (PRAGMA user_version; application_id 0x4c4f4445, "LODE"):
 *
 *	streams            id, name, host, file, source, counts, costs, time span, sizes
 *	attributes         stream, key, type, value
 *	symptoms           stream, pid, tid, name, t0, t1
 *
 * and from version 2 on what catalogue_signatures.c manages:
 *
 *	signatures         id, place in the file, name, bug, state, since, kind, made, patterns
 *	signature_file     one row: digest of the text file taken over last, newest id given
 *	stream_signatures  stream, signature, costs, events: where signatures match
 *	matched_streams    stream, the newest signature it was matched with
 *
 * and from version 3 on indexes over all columns that are stored nowhere else, neither in the
 * stream files nor in another index. Each value is then in the file twice, and SQLite's own
 * check compares the two, so that no changed byte goes unnoticed. From version 4 on:
 *
 *	past_signatures    signature, host, version: the same of streams that were removed (lode prune)
 *
 * From version 5 on:
 *
 *	signature_notes    signature, notes: what people wrote about it
 *
 * Older catalogues are read as they are; one of version 1 has no signatures. Opening
 * one for writing, or keeping signatures in it, adds what is missing.
 *
 * The journal is SQLite's plain rollback journal: it works on every file system
 * and leaves no extra files behind.
 */
#include "base/file.h"
#include "store/catalogue_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_MILLISECONDS 60000
#define APPLICATION_ID    0x4c4f4445
#define SCHEMA_VERSION    5
#define TEXT_LIMIT        (64 << 20) /* bytes of a name, an attribute, a row */

/* Word for word what SQLite keeps of them in sqlite_master, so that a catalogue can be compared with it. */
static const char *const schema[] = {
	"CREATE TABLE streams("
	" id TEXT PRIMARY KEY, name TEXT NOT NULL, host TEXT NOT NULL, file TEXT NOT NULL, source TEXT NOT "
	"NULL,"
	" runs INTEGER NOT NULL, waits INTEGER NOT NULL, calls INTEGER NOT NULL,"
	" run_ns INTEGER NOT NULL, wait_ns INTEGER NOT NULL,"
	" first_t INTEGER NOT NULL, last_t INTEGER NOT NULL,"
	" threads INTEGER NOT NULL, stacks INTEGER NOT NULL, symptoms INTEGER NOT NULL,"
	" file_size INTEGER NOT NULL, added TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ','now')))",
	"CREATE TABLE attributes("
	" stream TEXT NOT NULL REFERENCES streams(id) ON DELETE CASCADE,"
	" key TEXT NOT NULL, type TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(stream, key)) WITHOUT "
	"ROWID",
	"CREATE TABLE symptoms("
	" stream TEXT NOT NULL REFERENCES streams(id) ON DELETE CASCADE,"
	" pid INTEGER, tid INTEGER NOT NULL, name TEXT NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL)",
	"CREATE INDEX symptoms_of_stream ON symptoms(stream)",
	"CREATE INDEX attributes_by_key ON attributes(key, value)",
	"CREATE VIEW hosts AS"
	" SELECT host, count(*) AS streams, sum(run_ns) AS run_ns, sum(wait_ns) AS wait_ns"
	" FROM streams GROUP BY host",
	/* since version 2 */
	"CREATE TABLE signatures("
	" id INTEGER PRIMARY KEY, place INTEGER NOT NULL, name TEXT NOT NULL UNIQUE, bug TEXT NOT NULL,"
	" state TEXT NOT NULL, since TEXT NOT NULL, kind TEXT NOT NULL, made TEXT NOT NULL, patterns TEXT "
	"NOT NULL)",
	"CREATE TABLE signature_file(digest TEXT NOT NULL, newest INTEGER NOT NULL)",
	"CREATE TABLE stream_signatures("
	" stream TEXT NOT NULL REFERENCES streams(id) ON DELETE CASCADE,"
	" signature INTEGER NOT NULL REFERENCES signatures(id) ON DELETE CASCADE,"
	" run_ns INTEGER NOT NULL, wait_ns INTEGER NOT NULL, events INTEGER NOT NULL,"
	" PRIMARY KEY(stream, signature)) WITHOUT ROWID",
	"CREATE INDEX streams_of_signature ON stream_signatures(signature)",
	"CREATE TABLE matched_streams("
	" stream TEXT PRIMARY KEY REFERENCES streams(id) ON DELETE CASCADE,"
	" newest INTEGER NOT NULL) WITHOUT ROWID",
	/* since version 3 */
	"CREATE INDEX check_streams ON streams(source, added)",
	"CREATE INDEX check_signatures ON signatures(place, bug, state, since, kind, made, patterns)",
	"CREATE INDEX check_signature_file ON signature_file(digest, newest)",
	"CREATE INDEX check_stream_signatures ON stream_signatures(run_ns, wait_ns, events)",
	"CREATE INDEX check_matched_streams ON matched_streams(newest)",
	/* since version 4 */
	"CREATE TABLE past_signatures("
	" signature INTEGER NOT NULL REFERENCES signatures(id) ON DELETE CASCADE,"
	" host TEXT NOT NULL, version TEXT NOT NULL, streams INTEGER NOT NULL, events INTEGER NOT NULL,"
	" run_ns REAL NOT NULL, wait_ns REAL NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL,"
	" PRIMARY KEY(signature, host, version)) WITHOUT ROWID",
	"CREATE INDEX check_past_signatures ON past_signatures(streams, events, run_ns, wait_ns, first, last)",
	/* since version 5 */
	"CREATE TABLE signature_notes("
	" signature INTEGER PRIMARY KEY REFERENCES signatures(id) ON DELETE CASCADE, notes TEXT NOT NULL)",
	"CREATE INDEX check_signature_notes ON signature_notes(notes)",
};

#define SCHEMA_PARTS (sizeof(schema) / sizeof(schema[0]))

/* How many of them a version has. */
static const size_t parts_of_versions[SCHEMA_VERSION + 1] = { 0, 6, 11, 16, 18, SCHEMA_PARTS };

int lode_sql_fail(struct lode_catalogue *catalogue, struct lode_error *error)
{
	int code = sqlite3_errcode(catalogue->db) & 0xff;
	const char *message = sqlite3_errmsg(catalogue->db);

	switch (code) {
	case SQLITE_NOMEM:
		return lode_fail_memory(error);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return lode_fail(error, LODE_SYSTEM,
				 "%s: another process has kept the catalogue locked for a minute; try again later",
				 catalogue->path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: the catalogue is damaged (%s); 'lode fsck --repair' rebuilds it",
				 catalogue->path, message);
	case SQLITE_ERROR:
	case SQLITE_MISMATCH:
	case SQLITE_CONSTRAINT:
		return lode_fail(error, LODE_BAD_INPUT, "%s: the catalogue is not as it should be (%s)",
				 catalogue->path, message);
	default:
		return lode_fail(error, LODE_SYSTEM, "%s: the catalogue cannot be used: %s", catalogue->path,
				 message);
	}
}

int lode_sql_run(struct lode_catalogue *catalogue, const char *sql, struct lode_error *error)
{
	return sqlite3_exec(catalogue->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
									       : lode_sql_fail(catalogue, error);
}

/* The one number that a query answers with. */
static int query_number(struct lode_catalogue *catalogue, const char *sql, int64_t *number,
			struct lode_error *error)
{
	sqlite3_stmt *statement;
	int code = 0;

	if (sqlite3_prepare_v2(catalogue->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return lode_sql_fail(catalogue, error);
	if (sqlite3_step(statement) == SQLITE_ROW)
		*number = sqlite3_column_int64(statement, 0);
	else
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	return code;
}

/* How many parts of the schema a catalogue of some version has; 0: no such version. */
static size_t parts_of_version(int64_t version)
{
	return version > 0 && version <= SCHEMA_VERSION ? parts_of_versions[version] : 0;
}

/* A bit for the part of the schema that `definition` is; 0 when it is none. */
static unsigned schema_part(const char *definition)
{
	for (unsigned i = 0; definition && i < SCHEMA_PARTS; i++)
		if (strcmp(definition, schema[i]) == 0)
			return 1u << i;
	return 0;
}

int lode_sql_is_definition(const char *definition)
{
	return schema_part(definition) != 0;
}

/*
 * A stranger's file can carry views that never end, triggers, and tables that only
 * look like ours: nothing is asked of it before its schema is the one we know.
 */
static int check_schema(struct lode_catalogue *catalogue, size_t parts, struct lode_error *error)
{
	sqlite3_stmt *statement;
	unsigned found = 0, part = 1;
	int status = SQLITE_DONE, code = 0;

	if (sqlite3_prepare_v2(catalogue->db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", -1,
			       &statement, NULL) != SQLITE_OK)
		return lode_sql_fail(catalogue, error);
	while (part && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		part = schema_part((const char *)sqlite3_column_text(statement, 0));
		found |= part;
	}
	if (status != SQLITE_DONE && status != SQLITE_ROW)
		code = lode_sql_fail(catalogue, error);
	else if (!part || found != (1u << parts) - 1)
		code = lode_fail(error, LODE_BAD_INPUT,
				 "%s: its tables are not those of a catalogue; 'lode fsck --repair' rebuilds it",
				 catalogue->path);
	if (code && sqlite3_errcode(catalogue->db) == SQLITE_NOMEM)
		code = lode_fail_memory(error);
	sqlite3_finalize(statement);
	return code;
}

/* A file made by something else must not be touched. `*version` 0: it is empty. */
static int check_owner(struct lode_catalogue *catalogue, int64_t *version, struct lode_error *error)
{
	int64_t application = 0, tables = 0;
	int code = query_number(catalogue, "SELECT count(*) FROM sqlite_master", &tables, error);

	if (!code)
		code = query_number(catalogue, "PRAGMA application_id", &application, error);
	if (!code)
		code = query_number(catalogue, "PRAGMA user_version", version, error);
	if (code)
		return code;
	if (!tables) {
		*version = 0;
		return 0;
	}
	if (application != APPLICATION_ID)
		return lode_fail(error, LODE_BAD_INPUT, "%s: is not a catalogue of Lode", catalogue->path);
	if (!parts_of_version(*version))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is of version %lld, this Lode knows version %d; use a newer Lode",
				 catalogue->path, (long long)*version, SCHEMA_VERSION);
	return check_schema(catalogue, parts_of_version(*version), error);
}

/* Another process may be making or upgrading the catalogue: what is looked at is seen as of one moment. */
static int look(struct lode_catalogue *catalogue, int64_t *version, struct lode_error *error)
{
	int code = lode_sql_run(catalogue, "BEGIN", error);

	if (!code)
		code = check_owner(catalogue, version, error);
	lode_catalogue_rollback(catalogue);
	return code;
}

int lode_catalogue_upgrade(struct lode_catalogue *catalogue, struct lode_error *error)
{
	int64_t version = 0;
	size_t part;
	int code = check_owner(catalogue, &version, error);

	if (code || version == SCHEMA_VERSION)
		return code;
	part = parts_of_version(version);
	code = lode_sql_run(catalogue, "PRAGMA application_id = 1280263237; PRAGMA user_version = 5;", error);
	for (; !code && part < SCHEMA_PARTS; part++)
		code = lode_sql_run(catalogue, schema[part], error);
	if (!code && version < 2)
		code = lode_sql_run(catalogue, "INSERT INTO signature_file VALUES('', 0)", error);
	return code;
}

int lode_catalogue_version(struct lode_catalogue *catalogue, int64_t *version, struct lode_error *error)
{
	return query_number(catalogue, "PRAGMA user_version", version, error);
}

/* Makes the tables that are not there. */
static int make_schema(struct lode_catalogue *catalogue, struct lode_error *error)
{
	int code = lode_catalogue_begin(catalogue, error);

	if (!code)
		code = lode_catalogue_upgrade(catalogue, error);
	if (!code)
		code = lode_catalogue_commit(catalogue, error);
	if (code)
		lode_catalogue_rollback(catalogue);
	return code;
}

/*
 * SQLite opens the file and its journals by their names, and would wait for a pipe and follow a link, which another user
 * may have put into the folder.
 */
static int check_files(const char *path, struct lode_error *error)
{
	static const char *const suffixes[] = { "", "-journal", "-wal", "-shm" };
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *name = lode_format("%s%s", path, suffixes[i]);
		struct stat status;

		if (!name)
			code = lode_fail_memory(error);
		else if (lstat(name, &status) == 0 && !S_ISREG(status.st_mode))
			code = lode_fail(error, LODE_BAD_INPUT, "%s: is not a plain file; remove it", name);
		lode_free(name);
	}
	return code;
}

int lode_catalogue_create(const char *path, mode_t mode, struct lode_error *error)
{
	struct stat status;
	int fd;

	if (lstat(path, &status) == 0)
		return 0;
	fd = lode_file_open(path, O_WRONLY | O_CREAT, mode, error);
	if (fd < 0)
		return errno == EEXIST ? 0 : fd;
	lode_file_keep(path);
	return lode_file_close(fd, path, error);
}

int lode_catalogue_open(struct lode_catalogue **result, const char *path, enum lode_catalogue_mode mode,
			struct lode_error *error)
{
	struct lode_catalogue *catalogue = lode_calloc(1, sizeof(*catalogue));
	/* Readers may write too, where permissions allow it: a writer that was killed leaves a journal. */
	int flags = SQLITE_OPEN_READWRITE | (mode == LODE_CATALOGUE_WRITE ? SQLITE_OPEN_CREATE : 0);
	int64_t version = 0;
	int code;

	*result = NULL;
	if (!catalogue || !(catalogue->path = lode_strdup(path))) {
		lode_free(catalogue);
		return lode_fail_memory(error);
	}
	code = check_files(path, error);
	if (code) {
		lode_catalogue_close(catalogue);
		return code;
	}
	if (sqlite3_open_v2(path, &catalogue->db, flags, NULL) != SQLITE_OK) {
		code = catalogue->db ? lode_sql_fail(catalogue, error) : lode_fail_memory(error);
		lode_catalogue_close(catalogue);
		return code;
	}
	sqlite3_busy_timeout(catalogue->db, BUSY_MILLISECONDS);
	sqlite3_limit(catalogue->db, SQLITE_LIMIT_LENGTH, TEXT_LIMIT);
	/* EXTRA: with FULL the journal of the last transaction may be back after a power cut, and takes it away. */
	code = lode_sql_run(catalogue,
			    "PRAGMA foreign_keys = ON; PRAGMA synchronous = EXTRA; PRAGMA trusted_schema = OFF;"
			    "PRAGMA cell_size_check = ON;",
			    error);
	if (!code)
		code = look(catalogue, &version, error);
	if (!code && version < SCHEMA_VERSION && mode == LODE_CATALOGUE_WRITE)
		code = make_schema(catalogue, error);
	else if (!code && !version)
		code = lode_fail(error, LODE_BAD_INPUT,
				 "%s: the catalogue is empty; 'lode fsck --repair' rebuilds it", path);
	if (code) {
		lode_catalogue_close(catalogue);
		return code;
	}
	*result = catalogue;
	return 0;
}

void lode_catalogue_close(struct lode_catalogue *catalogue)
{
	if (!catalogue)
		return;
	sqlite3_close(catalogue->db);
	lode_free(catalogue->path);
	lode_free(catalogue);
}

int lode_catalogue_begin(struct lode_catalogue *catalogue, struct lode_error *error)
{
	return lode_sql_run(catalogue, "BEGIN IMMEDIATE", error);
}

int lode_catalogue_commit(struct lode_catalogue *catalogue, struct lode_error *error)
{
	return lode_sql_run(catalogue, "COMMIT", error);
}

void lode_catalogue_rollback(struct lode_catalogue *catalogue)
{
	if (!sqlite3_get_autocommit(catalogue->db))
		lode_sql_run(catalogue, "ROLLBACK", NULL);
}

/* ---- statements ---- */

sqlite3_stmt *lode_sql_prepare(struct lode_catalogue *catalogue, const char *sql, struct lode_error *error)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(catalogue->db, sql, -1, &statement, NULL) != SQLITE_OK)
		lode_sql_fail(catalogue, error);
	return statement;
}

int lode_sql_step(struct lode_catalogue *catalogue, sqlite3_stmt *statement, struct lode_error *error)
{
	int code = sqlite3_step(statement) == SQLITE_DONE ? 0 : lode_sql_fail(catalogue, error);

	sqlite3_reset(statement);
	return code;
}

/* File names come from a file that a stranger may have made: they must stay in the folder. */
static int safe_file_name(const char *file)
{
	return file[0] && file[0] != '.' && !strchr(file, '/');
}

/* Takes over the name of a stream's file; it may be removed later on, so it must be one of ours. */
static int claim_file_name(struct lode_catalogue *catalogue, const char *name, char *file, size_t size,
			   struct lode_error *error)
{
	if (!name)
		return lode_fail_memory(error);
	if (!safe_file_name(name) || strlen(name) >= size)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: names a file '%s', which is not a name of a stream file", catalogue->path,
				 name);
	memcpy(file, name, strlen(name) + 1);
	return 1;
}

int lode_catalogue_find(struct lode_catalogue *catalogue, const char *id, char *file, size_t size,
			struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "SELECT file FROM streams WHERE id = ?", error);
	int code;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	switch (lode_sql_bind_text(statement, 1, id) ? SQLITE_NOMEM : sqlite3_step(statement)) {
	case SQLITE_ROW:
		code = claim_file_name(catalogue, (const char *)sqlite3_column_text(statement, 0), file, size,
				       error);
		break;
	case SQLITE_DONE:
		code = 0;
		break;
	default:
		code = lode_sql_fail(catalogue, error);
	}
	sqlite3_finalize(statement);
	return code;
}

int lode_catalogue_remove(struct lode_catalogue *catalogue, const char *id, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "DELETE FROM streams WHERE id = ?", error);
	int code;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	code = lode_sql_bind_text(statement, 1, id) ? lode_sql_fail(catalogue, error)
						    : lode_sql_step(catalogue, statement, error);
	sqlite3_finalize(statement);
	return code;
}

static int put_stream(struct lode_catalogue *catalogue, const struct lode_corpus_entry *entry, const char *file,
		      struct lode_error *error)
{
	sqlite3_stmt *statement =
		lode_sql_prepare(catalogue,
				 "INSERT INTO streams(id, name, host, file, source, runs, waits, calls, run_ns,"
				 " wait_ns, first_t, last_t, threads, stacks, symptoms, file_size, added)"
				 " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
				 " strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch'))",
				 error);
	const char *texts[] = { entry->id, entry->name, entry->host, file, entry->source };
	uint64_t numbers[] = { entry->events[LODE_RUN], entry->events[LODE_WAIT], entry->events[LODE_CALL],
			       entry->cost[LODE_RUN],   entry->cost[LODE_WAIT],   entry->first_t,
			       entry->last_t,           entry->threads,           entry->stacks,
			       entry->symptoms,         entry->file_size,         entry->added };
	int failed = 0, code;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	for (int i = 0; i < 5; i++)
		failed |= lode_sql_bind_text(statement, 1 + i, texts[i]);
	for (int i = 0; i < 12; i++)
		failed |= lode_sql_bind_number(statement, 6 + i, numbers[i]);
	code = failed ? lode_sql_fail(catalogue, error) : lode_sql_step(catalogue, statement, error);
	sqlite3_finalize(statement);
	return code;
}

const char *lode_sql_attribute_type(unsigned type)
{
	static const char *const types[] = { "text", "number", "bool" };

	return types[type];
}

static int put_attributes(struct lode_catalogue *catalogue, const char *id, const struct lode_stream *stream,
			  struct lode_error *error)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "INSERT INTO attributes VALUES(?,?,?,?)", error);
	int code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	for (size_t i = 0; !code && i < stream->attribute_count; i++) {
		const struct lode_attribute *attribute = &stream->attributes[i];
		int failed = lode_sql_bind_text(statement, 1, id) |
			     lode_sql_bind_text(statement, 2, lode_strings_get(strings, attribute->key)) |
			     lode_sql_bind_text(statement, 3, lode_sql_attribute_type(attribute->type)) |
			     lode_sql_bind_text(statement, 4, lode_strings_get(strings, attribute->value));

		code = failed ? lode_sql_fail(catalogue, error) : lode_sql_step(catalogue, statement, error);
	}
	sqlite3_finalize(statement);
	return code;
}

static int put_symptoms(struct lode_catalogue *catalogue, const char *id, const struct lode_stream *stream,
			struct lode_error *error)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "INSERT INTO symptoms VALUES(?,?,?,?,?,?)", error);
	int code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	for (size_t i = 0; !code && i < stream->symptom_count; i++) {
		const struct lode_symptom *symptom = &stream->symptoms[i];
		const struct lode_thread *thread = &stream->threads[symptom->thread];
		int failed = lode_sql_bind_text(statement, 1, id) |
			     lode_sql_bind_number(statement, 3, thread->tid) |
			     lode_sql_bind_text(statement, 4, lode_strings_get(strings, symptom->name)) |
			     lode_sql_bind_number(statement, 5, symptom->t0) |
			     lode_sql_bind_number(statement, 6, symptom->t1);

		failed |= thread->pid == LODE_NO_PID ? sqlite3_bind_null(statement, 2) != SQLITE_OK
						     : lode_sql_bind_number(statement, 2, thread->pid);
		code = failed ? lode_sql_fail(catalogue, error) : lode_sql_step(catalogue, statement, error);
	}
	sqlite3_finalize(statement);
	return code;
}

int lode_catalogue_put(struct lode_catalogue *catalogue, const struct lode_corpus_entry *entry, const char *file,
		       const struct lode_stream *stream, struct lode_error *error)
{
	int code = lode_catalogue_remove(catalogue, entry->id, error);

	if (!code)
		code = put_stream(catalogue, entry, file, error);
	if (!code)
		code = put_attributes(catalogue, entry->id, stream, error);
	if (!code)
		code = put_symptoms(catalogue, entry->id, stream, error);
	return code;
}

/* ---- listing ---- */

const char *lode_sql_text(struct lode_arena *arena, sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? lode_arena_text(arena, text, (size_t)sqlite3_column_bytes(statement, column)) : NULL;
}

static char *join_path(struct lode_arena *arena, const char *folder, const char *file)
{
	size_t size = strlen(folder) + strlen(file) + 2;
	char *path = lode_arena_bytes(arena, size);

	if (path)
		snprintf(path, size, "%s/%s", folder, file);
	return path;
}

static int read_entry(struct lode_catalogue *catalogue, sqlite3_stmt *statement, const char *folder,
		      struct lode_arena *arena, struct lode_corpus_entry *entry, struct lode_error *error)
{
	uint64_t numbers[12];
	const char *id = lode_sql_text(arena, statement, 0);
	const char *file = lode_sql_text(arena, statement, 3);

	memset(entry, 0, sizeof(*entry));
	entry->name = lode_sql_text(arena, statement, 1);
	entry->host = lode_sql_text(arena, statement, 2);
	entry->source = lode_sql_text(arena, statement, 4);
	for (int i = 0; i < 5; i++)
		if (sqlite3_column_type(statement, i) == SQLITE_NULL)
			return lode_fail(error, LODE_BAD_INPUT, "%s: a stream lacks its name, file or source",
					 catalogue->path);
	if (!id || !file || !entry->name || !entry->host || !entry->source)
		return lode_fail_memory(error);
	if (strspn(id, "0123456789abcdef") != 32 || id[32] || !safe_file_name(file))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: names a stream '%s' in file '%s', which is not a name of a stream file",
				 catalogue->path, id, file);
	for (int i = 0; i < 12; i++)
		numbers[i] = (uint64_t)sqlite3_column_int64(statement, 5 + i);
	memcpy(entry->id, id, 33);
	memcpy(entry->events, numbers, sizeof(entry->events));
	entry->cost[LODE_RUN] = numbers[3];
	entry->cost[LODE_WAIT] = numbers[4];
	entry->first_t = numbers[5];
	entry->last_t = numbers[6];
	entry->threads = numbers[7];
	entry->stacks = numbers[8];
	entry->symptoms = numbers[9];
	entry->file_size = numbers[10];
	entry->added = numbers[11];
	entry->path = join_path(arena, folder, file);
	return entry->path ? 0 : lode_fail_memory(error);
}

#define LIST_COLUMNS                                                                                              \
	"SELECT id, name, host, file, source, runs, waits, calls, run_ns, wait_ns, first_t, last_t, "             \
	"threads,"                                                                                                \
	" stacks, symptoms, file_size, strftime('%s', added) FROM streams"
#define LIST_ORDER " ORDER BY name, id"

/* The rows of a query, which is then at its end. */
static int read_list(struct lode_catalogue *catalogue, sqlite3_stmt *statement, const char *folder,
		     struct lode_corpus_list *list, struct lode_error *error)
{
	size_t capacity = 0;
	int code = 0, status;

	while (!code && (status = sqlite3_step(statement)) == SQLITE_ROW) {
		if (LODE_GROW(list->items, capacity, list->count + 1) < 0)
			code = lode_fail_memory(error);
		else
			code = read_entry(catalogue, statement, folder, &list->arena, &list->items[list->count],
					  error);
		if (!code)
			list->count++;
	}
	if (!code && status != SQLITE_DONE)
		code = lode_sql_fail(catalogue, error);
	sqlite3_finalize(statement);
	if (code)
		lode_corpus_list_release(list);
	return code;
}

int lode_catalogue_list(struct lode_catalogue *catalogue, const char *folder, enum lode_catalogue_streams which,
			struct lode_corpus_list *list, struct lode_error *error)
{
	static const char *const queries[] = {
		[LODE_STREAMS_ALL] = LIST_COLUMNS LIST_ORDER,
		[LODE_STREAMS_UNMATCHED] = LIST_COLUMNS
		" WHERE (SELECT max(id) FROM signatures) >"
		" coalesce((SELECT newest FROM matched_streams WHERE stream = streams.id), 0)" LIST_ORDER,
	};
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, queries[which], error);

	memset(list, 0, sizeof(*list));
	if (!statement)
		return lode_sql_fail(catalogue, error);
	return read_list(catalogue, statement, folder, list, error);
}

int lode_catalogue_list_with(struct lode_catalogue *catalogue, const char *folder, const char *key,
			     const char *value, struct lode_corpus_list *list, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(
		catalogue,
		LIST_COLUMNS " WHERE id IN (SELECT stream FROM attributes WHERE key = ? AND value = ?)" LIST_ORDER,
		error);

	memset(list, 0, sizeof(*list));
	if (!statement)
		return lode_sql_fail(catalogue, error);
	if (lode_sql_bind_text(statement, 1, key) || lode_sql_bind_text(statement, 2, value)) {
		sqlite3_finalize(statement);
		return lode_sql_fail(catalogue, error);
	}
	return read_list(catalogue, statement, folder, list, error);
}

/* Rows of streams or signatures that are not there. */
static int check_references(struct lode_catalogue *catalogue, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "PRAGMA foreign_key_check", error);
	int code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	switch (sqlite3_step(statement)) {
	case SQLITE_DONE:
		break;
	case SQLITE_ROW:
		code = lode_fail(error, LODE_BAD_INPUT, "%s: a row of '%s' is about something that is not there",
				 catalogue->path, (const char *)sqlite3_column_text(statement, 0));
		break;
	default:
		code = lode_sql_fail(catalogue, error);
	}
	sqlite3_finalize(statement);
	return code;
}

int lode_catalogue_check(struct lode_catalogue *catalogue, struct lode_error *error)
{
	sqlite3_stmt *statement = lode_sql_prepare(catalogue, "PRAGMA integrity_check(1)", error);
	const char *answer;
	int code = 0;

	if (!statement)
		return lode_sql_fail(catalogue, error);
	if (sqlite3_step(statement) != SQLITE_ROW)
		code = lode_sql_fail(catalogue, error);
	else if (!(answer = (const char *)sqlite3_column_text(statement, 0)))
		code = lode_fail_memory(error);
	else if (strcmp(answer, "ok") != 0)
		code = lode_fail(error, LODE_BAD_INPUT, "%s: %s", catalogue->path, answer);
	sqlite3_finalize(statement);
	return code ? code : check_references(catalogue, error);
}
