/*
 * Corpus: see corpus.h.
 *
 * Adding a stream: its file is written under a temporary name and made durable;
 * then, inside one catalogue transaction, it is renamed into place and its row is
 * written. A crash before the commit leaves at most a file that no row names,
 * which is invisible, and which the next import or `lode fsck` removes. Replacing
 * writes a second file beside the first, and the commit switches between them.
 */
#include "store/corpus.h"

#include "base/file.h"
#include "store/catalogue.h"
#include "store/catalogue_signatures.h"
#include "store/corpus_files.h"
#include "store/corpus_names.h"
#include "store/corpus_state.h"
#include "store/map_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ---- */

/* A name is durable when its folder is; a folder that may not be read cannot be synced. */
static void sync_names(const struct lode_corpus *corpus)
{
	char *folder = lode_file_folder(corpus->path);

	if (folder)
		lode_file_sync_folder(folder, NULL);
	lode_file_sync_folder(corpus->path, NULL);
	lode_free(folder);
}

static int make_folders(struct lode_corpus *corpus, struct lode_error *error)
{
	mode_t mode = corpus->is_private ? 0700 : 0777;
	int is_new = access(corpus->streams, F_OK) < 0;
	int code = lode_file_make_folder(corpus->path, mode, error);

	if (!code)
		code = lode_file_make_folder(corpus->streams, mode, error);
	if (!code && is_new)
		sync_names(corpus);
	return code;
}

static int is_corpus(const char *catalogue_path)
{
	struct stat status;

	return stat(catalogue_path, &status) == 0 && S_ISREG(status.st_mode);
}

/* A folder that holds other things must not be turned into a corpus by a slip of the keyboard. */
static int may_become_corpus(const struct lode_corpus *corpus, struct lode_error *error)
{
	int other = lode_corpus_folder_is_foreign(corpus->path);

	if (other)
		return lode_fail(
			error, LODE_USAGE,
			"%s: is a folder with other files in it, not a corpus; name a new or an empty folder",
			corpus->path);
	return 0;
}

static int is_gone_or_empty(const char *path)
{
	struct stat status;

	return stat(path, &status) < 0 || (S_ISREG(status.st_mode) && !status.st_size);
}

/*
 * Streams whose catalogue is missing or empty. A new one would hide them. The
 * catalogue of a new corpus is complete before its first stream, so it is checked
 * again after streams were seen.
 */
static int has_lost_catalogue(const struct lode_corpus *corpus, const char *catalogue_path)
{
	return is_gone_or_empty(catalogue_path) && lode_corpus_has_streams(corpus->streams) &&
	       is_gone_or_empty(catalogue_path);
}

static int open_catalogue(struct lode_corpus *corpus, enum lode_corpus_mode mode, struct lode_error *error)
{
	char *path = lode_format("%s/%s", corpus->path, LODE_CATALOGUE_FILE);
	int code = 0, may_create = mode == LODE_CORPUS_CREATE || mode == LODE_CORPUS_RECORD;

	if (!path)
		return lode_fail_memory(error);
	if (has_lost_catalogue(corpus, path)) {
		code = lode_fail(
			error, LODE_BAD_INPUT,
			"%s: is missing or empty, but there are streams; 'lode fsck --repair %s' rebuilds it",
			path, corpus->path);
	} else if (!is_corpus(path)) {
		if (!may_create)
			code = lode_corpus_refuse(corpus->path, error);
		else
			code = may_become_corpus(corpus, error);
	}
	if (!code && may_create)
		code = make_folders(corpus, error);
	if (!code && may_create)
		code = lode_catalogue_create(path, lode_corpus_file_mode(corpus), error);
	if (!code)
		code = lode_catalogue_open(&corpus->catalogue, path,
					   mode == LODE_CORPUS_READ ? LODE_CATALOGUE_READ : LODE_CATALOGUE_WRITE,
					   error);
	lode_free(path);
	return code;
}

int lode_corpus_open(struct lode_corpus **result, const char *path, enum lode_corpus_mode mode,
		     struct lode_error *error)
{
	struct lode_corpus *corpus = lode_calloc(1, sizeof(*corpus));
	size_t length = strlen(path);
	int code;

	*result = NULL;
	if (!corpus)
		return lode_fail_memory(error);
	while (length > 1 && path[length - 1] == '/')
		length--;
	corpus->path = lode_strndup(path, length);
	corpus->streams = corpus->path ? lode_format("%s/%s", corpus->path, LODE_STREAMS_FOLDER) : NULL;
	lode_corpus_readers_init(&corpus->readers, corpus->streams);
	corpus->writable = mode != LODE_CORPUS_READ;
	corpus->is_private = mode == LODE_CORPUS_RECORD;
	code = corpus->streams ? open_catalogue(corpus, mode, error) : lode_fail_memory(error);
	if (code) {
		lode_corpus_close(corpus);
		return code;
	}
	*result = corpus;
	return 0;
}

/* ---- several as one ---- */

/* Paths in a title. */
#define TITLE_NAMES 3

static int make_title(struct lode_corpus *corpus, const struct lode_text_list *names)
{
	struct lode_buffer title = { 0 };
	size_t shown = names->count <= TITLE_NAMES ? names->count : TITLE_NAMES;

	for (size_t i = 0; i < shown; i++) {
		lode_buffer_text(&title, i ? ", " : "");
		lode_buffer_text(&title, names->items[i]);
	}
	if (names->count > shown)
		lode_buffer_print(&title, " and %zu more", names->count - shown);
	lode_buffer_byte(&title, '\0');
	corpus->title = title.failed ? NULL : lode_strdup(title.bytes);
	lode_buffer_release(&title);
	return corpus->title ? 0 : LODE_SYSTEM;
}

static int open_named(struct lode_corpus **result, const struct lode_text_list *names, struct lode_error *error)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, names->items[0], LODE_CORPUS_READ, error);

	if (code)
		return code;
	corpus->others = lode_calloc(names->count, sizeof(*corpus->others));
	if (!corpus->others || (names->count > 1 && make_title(corpus, names) < 0))
		code = lode_fail_memory(error);
	for (size_t i = 1; !code && i < names->count; i++) {
		code = lode_corpus_open(&corpus->others[corpus->other_count], names->items[i], LODE_CORPUS_READ,
					error);
		corpus->other_count += !code;
	}
	if (code) {
		lode_corpus_close(corpus);
		return code;
	}
	*result = corpus;
	return 0;
}

int lode_corpus_open_all(struct lode_corpus **result, char *const *names, size_t count, struct lode_error *error)
{
	struct lode_text_list all = { 0 };
	int code = 0;

	*result = NULL;
	for (size_t i = 0; !code && i < count; i++)
		code = lode_corpus_names_add(&all, names[i], error);
	if (!code)
		code = open_named(result, &all, error);
	lode_text_list_release(&all);
	return code;
}

size_t lode_corpus_count(const struct lode_corpus *corpus)
{
	return corpus->other_count + 1;
}

struct lode_corpus *lode_corpus_member(struct lode_corpus *corpus, size_t i)
{
	return i ? corpus->others[i - 1] : corpus;
}

const char *lode_corpus_title(const struct lode_corpus *corpus)
{
	return corpus->title ? corpus->title : corpus->path;
}

void lode_corpus_close(struct lode_corpus *corpus)
{
	if (!corpus)
		return;
	for (size_t i = 0; i < corpus->other_count; i++)
		lode_corpus_close(corpus->others[i]);
	lode_free(corpus->others);
	lode_free(corpus->title);
	if (corpus->catalogue && corpus->writable)
		lode_corpus_sweep(&corpus->readers, corpus->catalogue);
	lode_corpus_readers_release(&corpus->readers);
	lode_map_cache_close(corpus->cache);
	lode_catalogue_close(corpus->catalogue);
	lode_free(corpus->path);
	lode_free(corpus->streams);
	lode_free(corpus);
}

const char *lode_corpus_path(const struct lode_corpus *corpus)
{
	return corpus->path;
}

mode_t lode_corpus_file_mode(const struct lode_corpus *corpus)
{
	return corpus->is_private ? 0600 : 0666;
}

int lode_corpus_use_cache(struct lode_corpus *corpus, const struct lode_map_cache_options *options)
{
	for (size_t i = 0; i < lode_corpus_count(corpus); i++) {
		struct lode_corpus *member = lode_corpus_member(corpus, i);

		if (!member->cache)
			member->cache = lode_map_cache_open(member->path, options);
		if (!member->cache)
			return LODE_SYSTEM;
	}
	return 0;
}

struct lode_map_cache *lode_corpus_cache(struct lode_corpus *corpus)
{
	return corpus->cache;
}

struct lode_catalogue *lode_corpus_catalogue(struct lode_corpus *corpus)
{
	return corpus->catalogue;
}

/* ---- adding ---- */

int lode_corpus_has(struct lode_corpus *corpus, const char *id, struct lode_error *error)
{
	char file[256];

	return lode_catalogue_find(corpus->catalogue, id, file, sizeof(file), error);
}

char *lode_corpus_stream_path(struct lode_corpus *corpus, const char *id, struct lode_error *error)
{
	char file[256], *path = NULL;
	int found;

	lode_corpus_readers_enter(&corpus->readers);
	found = lode_catalogue_find(corpus->catalogue, id, file, sizeof(file), error);
	if (found == 0)
		lode_fail(error, LODE_BAD_INPUT, "%s: has no stream %s", corpus->path, id);
	if (found == 1 && !(path = lode_format("%s/%s", corpus->streams, file)))
		lode_fail_memory(error);
	return path;
}

/* Distinct stacks of the events; the tree holds their beginnings too. */
static int count_stacks(const struct lode_stream *stream, uint64_t *count)
{
	unsigned char *seen = lode_calloc(stream->dictionary->tree.count, 1);

	if (!seen)
		return LODE_SYSTEM;
	seen[0] = 1; /* no stack */
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++) {
			*count += !seen[events->stack[i]];
			seen[events->stack[i]] = 1;
		}
	}
	lode_free(seen);
	return 0;
}

int lode_corpus_describe(const struct lode_stream *stream, struct lode_corpus_entry *entry)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	entry->name = lode_strings_get(strings, stream->name);
	entry->host = lode_strings_get(strings, stream->host);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		entry->events[type] = events->count;
		for (size_t i = 0; i < events->count; i++)
			entry->cost[type] = lode_add_saturating(entry->cost[type], lode_events_cost(events, i));
	}
	lode_stream_span(stream, &entry->first_t, &entry->last_t);
	entry->threads = stream->thread_count;
	entry->symptoms = stream->symptom_count;
	return count_stacks(stream, &entry->stacks);
}

/* A file name for stream `id` that no row names: ID.lode at first, ID.2.lode in place of it, and so on. */
static void choose_file(const char *id, const char *old, char *file, size_t size)
{
	unsigned number = 1;

	if (!old) {
		snprintf(file, size, "%s.lode", id);
		return;
	}
	if (strlen(old) > 33)
		sscanf(old + 33, "%u", &number);
	snprintf(file, size, "%s.%u.lode", id, number + 1);
}

/*
 * Whether the catalogue names `file`, or might. A commit that failed late, when
 * its journal was gone already, has taken place; then the file must stay.
 */
static int is_named(struct lode_corpus *corpus, const char *id, const char *file)
{
	char named[256];
	int found;

	lode_catalogue_rollback(corpus->catalogue);
	found = lode_catalogue_find(corpus->catalogue, id, named, sizeof(named), NULL);
	return found < 0 || (found && strcmp(named, file) == 0);
}

/* Puts the finished file in place and writes its row; the catalogue is locked. */
static int place(struct lode_corpus *corpus, struct lode_corpus_entry *entry, const char *temporary,
		 const char *file, const struct lode_stream *stream, struct lode_error *error)
{
	char *path = lode_format("%s/%s", corpus->streams, file);
	int code;

	if (!path)
		return lode_fail_memory(error);
	code = lode_file_rename(temporary, path, error);
	if (code) {
		lode_free(path);
		return code;
	}
	code = lode_file_sync_folder(corpus->streams, error);
	if (!code)
		code = lode_corpus_look_at(path, entry, error);
	if (!code)
		code = lode_catalogue_put(corpus->catalogue, entry, file, stream, error);
	if (!code)
		code = lode_catalogue_commit(corpus->catalogue, error);
	if (code && !is_named(corpus, entry->id, file))
		unlink(path);
	lode_free(path);
	return code;
}

/*
 * With the catalogue locked: 1 when the stream was put in place, 0 when it was there already. `old` becomes
 * the name of the file that was there; "" where none was.
 */
static int place_if_new(struct lode_corpus *corpus, struct lode_corpus_entry *entry, const char *temporary,
			const struct lode_stream *stream, int replace, char old[256], struct lode_error *error)
{
	char file[64];
	int found = lode_catalogue_find(corpus->catalogue, entry->id, old, 256, error);
	int code;

	if (found < 0)
		return found;
	if (found && !replace)
		return 0;
	choose_file(entry->id, found ? old : NULL, file, sizeof(file));
	code = place(corpus, entry, temporary, file, stream, error);
	return code ? code : 1;
}

static int place_file(struct lode_corpus *corpus, struct lode_corpus_entry *entry, const char *temporary,
		      const struct lode_stream *stream, int replace, struct lode_error *error)
{
	char old[256] = "";
	int code = lode_catalogue_begin(corpus->catalogue, error);

	if (code)
		return code;
	code = place_if_new(corpus, entry, temporary, stream, replace, old, error);
	lode_catalogue_rollback(corpus->catalogue);
	if (code > 0 && *old) /* if this fails, a harmless file is left over */
		lode_corpus_discard(&corpus->readers, corpus->catalogue, old, NULL);
	return code;
}

char *lode_corpus_draft(struct lode_corpus *corpus, const char *id)
{
	return lode_corpus_temporary(corpus->streams, id);
}

char *lode_corpus_recording(struct lode_corpus *corpus, const char *id)
{
	return lode_corpus_unfinished(corpus->streams, id);
}

int lode_corpus_place(struct lode_corpus *corpus, struct lode_corpus_entry *entry, const char *path,
		      const struct lode_stream *stream, struct lode_error *error)
{
	int code = place_file(corpus, entry, path, stream, 0, error);

	unlink(path);
	return code;
}

/* The permissions of the file that the stream has, or those of new ones: a private stream that is replaced stays private. */
static mode_t mode_of_stream(struct lode_corpus *corpus, const char *id)
{
	char file[256], *path = NULL;
	mode_t mode = lode_corpus_file_mode(corpus);

	if (lode_catalogue_find(corpus->catalogue, id, file, sizeof(file), NULL) == 1)
		path = lode_format("%s/%s", corpus->streams, file);
	if (path)
		mode &= lode_file_mode(path);
	lode_free(path);
	return mode;
}

/* Writes the stream and puts it in place; it was added at `added`, 0: now. */
static int write_and_place(struct lode_corpus *corpus, struct lode_corpus_entry *entry, uint64_t added,
			   const struct lode_stream *stream, int replace, unsigned jobs, struct lode_error *error)
{
	char *temporary = lode_corpus_temporary(corpus->streams, entry->id);
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = (time_t)added } };
	int code;

	if (!temporary || lode_corpus_describe(stream, entry) < 0) {
		lode_free(temporary);
		return lode_fail_memory(error);
	}
	code = lode_store_write(temporary, mode_of_stream(corpus, entry->id), stream, jobs, error);
	if (!code && added)
		utimensat(AT_FDCWD, temporary, times, 0);
	if (!code)
		code = place_file(corpus, entry, temporary, stream, replace, error);
	unlink(temporary);
	lode_free(temporary);
	return code;
}

int lode_corpus_replace(struct lode_corpus *corpus, const struct lode_corpus_entry *entry,
			const struct lode_stream *stream, struct lode_error *error)
{
	struct lode_corpus_entry made = { .source = entry->source };

	memcpy(made.id, entry->id, sizeof(made.id));
	return write_and_place(corpus, &made, entry->added, stream, 1, 1, error);
}

int lode_corpus_add(struct lode_corpus *corpus, const char *id, const char *source,
		    const struct lode_stream *stream, int replace, unsigned jobs, struct lode_error *error)
{
	struct lode_corpus_entry entry = { .source = source };
	int code;

	if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
		return lode_fail(error, LODE_USAGE, "'%s' is not a stream id of 32 hexadecimal digits", id);
	if (!replace) {
		code = lode_corpus_has(corpus, id, error);
		if (code)
			return code < 0 ? code : 0;
	}
	memcpy(entry.id, id, 33);
	return write_and_place(corpus, &entry, 0, stream, replace, jobs, error);
}

/* ---- removing ---- */

static int remove_row(struct lode_corpus *corpus, const char *id, int retire, char *file, size_t size,
		      struct lode_error *error)
{
	int code = lode_catalogue_begin(corpus->catalogue, error), found = 0;

	if (!code)
		found = lode_catalogue_find(corpus->catalogue, id, file, size, error);
	if (!code && found > 0 && retire)
		code = lode_catalogue_signatures_retire(corpus->catalogue, id, error);
	if (!code && found > 0)
		code = lode_catalogue_remove(corpus->catalogue, id, error);
	if (!code && found > 0)
		code = lode_catalogue_commit(corpus->catalogue, error);
	lode_catalogue_rollback(corpus->catalogue);
	return code ? code : found;
}

static int remove_stream(struct lode_corpus *corpus, const char *id, int retire, struct lode_error *error)
{
	char file[256];
	int found = remove_row(corpus, id, retire, file, sizeof(file), error), code;

	if (found <= 0)
		return found;
	code = lode_corpus_discard(&corpus->readers, corpus->catalogue, file, error);
	return code ? code : 1;
}

int lode_corpus_remove(struct lode_corpus *corpus, const char *id, struct lode_error *error)
{
	return remove_stream(corpus, id, 0, error);
}

int lode_corpus_retire(struct lode_corpus *corpus, const char *id, struct lode_error *error)
{
	return remove_stream(corpus, id, 1, error);
}

/* ---- listing ---- */

int lode_corpus_streams_with(struct lode_corpus *corpus, const char *key, const char *value,
			     struct lode_corpus_list *list, struct lode_error *error)
{
	lode_corpus_readers_enter(&corpus->readers);
	return lode_catalogue_list_with(corpus->catalogue, corpus->streams, key, value, list, error);
}

static int list_one(struct lode_corpus *corpus, struct lode_corpus_list *list, struct lode_error *error)
{
	int code;

	lode_corpus_readers_enter(&corpus->readers);
	code = lode_catalogue_list(corpus->catalogue, corpus->streams, LODE_STREAMS_ALL, list, error);
	for (size_t i = 0; !code && i < list->count; i++)
		list->items[i].cache = corpus->cache;
	return code;
}

static int compare_ids(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = left, *b = right;
	int order = strcmp(a->id, b->id);

	return order ? order : (a->corpus > b->corpus) - (a->corpus < b->corpus);
}

static int compare_names(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->id, b->id);
}

/* All entries of the parts, each id once, in the order of one list. */
static int join_parts(struct lode_corpus_list *list)
{
	size_t total = 0, kept = 0;

	for (size_t i = 0; i < list->part_count; i++)
		total += list->parts[i].count;
	list->items = lode_calloc(total + 1, sizeof(*list->items));
	if (!list->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < list->part_count; i++)
		for (size_t k = 0; k < list->parts[i].count; k++) {
			list->items[list->count] = list->parts[i].items[k];
			list->items[list->count++].corpus = (uint32_t)i;
		}
	qsort(list->items, list->count, sizeof(*list->items), compare_ids);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || strcmp(list->items[kept - 1].id, list->items[i].id) != 0)
			list->items[kept++] = list->items[i];
	list->repeated = list->count - kept;
	list->count = kept;
	qsort(list->items, list->count, sizeof(*list->items), compare_names);
	return 0;
}

int lode_corpus_streams(struct lode_corpus *corpus, struct lode_corpus_list *list, struct lode_error *error)
{
	size_t count = lode_corpus_count(corpus);
	int code = 0;

	if (count == 1)
		return list_one(corpus, list, error);
	list->parts = lode_calloc(count, sizeof(*list->parts));
	if (!list->parts)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < count; i++, list->part_count++)
		code = list_one(lode_corpus_member(corpus, i), &list->parts[i], error);
	if (!code && join_parts(list) < 0)
		code = lode_fail_memory(error);
	return code;
}

int lode_corpus_unmatched(struct lode_corpus *corpus, struct lode_corpus_list *list, struct lode_error *error)
{
	lode_corpus_readers_enter(&corpus->readers);
	return lode_catalogue_list(corpus->catalogue, corpus->streams, LODE_STREAMS_UNMATCHED, list, error);
}
