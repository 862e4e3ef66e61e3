/*
 * The checker of a corpus: see corpus_check.h.
 *
 * First the catalogue, then every file in the streams folder, with its row, then
 * the rows without a file.
 * Repair never deletes what might be a user's data: a damaged file is kept
 * under another name, and so is a damaged catalogue. Only temporary files of
 * processes that are gone are removed.
 */
#include "store/corpus_check.h"

#include "base/file.h"
#include "store/catalogue.h"
#include "store/catalogue_salvage.h"
#include "store/corpus_files.h"
#include "store/corpus_leftovers.h"
#include "store/corpus_readers.h"
#include "store/corpus_rows.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct check {
	char *path;
	char *streams;
	char *catalogue_path;
	struct lode_catalogue *catalogue; /* NULL when it is bad and not repaired */
	struct lode_corpus_readers readers;
	struct lode_corpus_list rows; /* by path */
	const struct lode_corpus_entry **rows_by_id;
	struct lode_corpus_list salvaged; /* of a catalogue that is rebuilt */
	int repair;
	struct lode_corpus_check_result *result;
	struct lode_notes *notes;
	const struct lode_progress *progress;
};

/* ---- the catalogue ---- */

static int compare_paths(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = left, *b = right;

	return strcmp(a->path, b->path);
}

static int compare_ids(const void *left, const void *right)
{
	const struct lode_corpus_entry *const *a = left, *const *b = right;

	return memcmp((*a)->id, (*b)->id, 32);
}

static int sort_rows(struct check *check, struct lode_error *error)
{
	size_t count = check->rows.count;

	if (!count)
		return 0;
	check->rows_by_id = lode_calloc(count, sizeof(const struct lode_corpus_entry *));
	if (!check->rows_by_id)
		return lode_fail_memory(error);
	qsort(check->rows.items, count, sizeof(*check->rows.items), compare_paths);
	for (size_t i = 0; i < count; i++)
		check->rows_by_id[i] = &check->rows.items[i];
	qsort(check->rows_by_id, count, sizeof(const struct lode_corpus_entry *), compare_ids);
	return 0;
}

static int catalogue_usable(struct check *check, struct lode_error *error)
{
	enum lode_catalogue_mode mode = check->repair ? LODE_CATALOGUE_WRITE : LODE_CATALOGUE_READ;
	struct stat status;
	int code;

	if (stat(check->catalogue_path, &status) < 0 || !S_ISREG(status.st_mode))
		return lode_fail(error, LODE_BAD_INPUT, "%s: is missing", check->catalogue_path);
	code = lode_catalogue_open(&check->catalogue, check->catalogue_path, mode, error);
	if (!code)
		code = lode_catalogue_check(check->catalogue, error);
	if (!code)
		code = lode_catalogue_list(check->catalogue, check->streams, LODE_STREAMS_ALL, &check->rows, error);
	if (!code)
		code = sort_rows(check, error);
	if (code) {
		lode_catalogue_close(check->catalogue);
		check->catalogue = NULL;
	}
	return code;
}

/* NAME.damaged, or NAME.2.damaged where an earlier repair kept one, and so on; the caller frees it. */
static char *damaged_name(const char *path)
{
	char *name = lode_format("%s.damaged", path);

	for (unsigned number = 2; name && access(name, F_OK) == 0; number++) {
		lode_free(name);
		name = lode_format("%s.%u.damaged", path, number);
	}
	return name;
}

/*
 * Keeps the damaged catalogue beside and begins an empty one; the files will fill
 * it, and what it still says of where they came from. Its journal goes with it: SQLite
 * would play it back into the new one.
 */
static int remake_catalogue(struct check *check, struct lode_error *error)
{
	char *aside = damaged_name(check->catalogue_path);
	char *journal = lode_format("%s-journal", check->catalogue_path);
	char *journal_aside = aside ? lode_format("%s-journal", aside) : NULL;
	int code = journal && journal_aside ? 0 : lode_fail_memory(error);

	if (!code && access(check->catalogue_path, F_OK) == 0)
		code = lode_file_rename(check->catalogue_path, aside, error);
	if (!code && access(journal, F_OK) == 0)
		code = lode_file_rename(journal, journal_aside, error);
	if (!code)
		code = lode_catalogue_create(check->catalogue_path, lode_file_mode(aside), error);
	if (!code)
		code = lode_catalogue_salvage(aside, &check->salvaged, error);
	lode_free(aside);
	lode_free(journal);
	lode_free(journal_aside);
	if (!code)
		code = lode_catalogue_open(&check->catalogue, check->catalogue_path, LODE_CATALOGUE_WRITE, error);
	return code;
}

static int check_catalogue(struct check *check, struct lode_error *error)
{
	int code = catalogue_usable(check, error);

	if (code != LODE_BAD_INPUT)
		return code;
	check->result->catalogue_bad = 1;
	lode_notes_add(check->notes, 1, check->repair ? "catalogues rebuilt" : "damaged catalogues",
		       error ? error->text : NULL);
	return check->repair ? remake_catalogue(check, error) : 0;
}

/* ---- stream files ---- */

static const struct lode_corpus_entry *row_of(const struct check *check, char *path)
{
	struct lode_corpus_entry wanted = { .path = path };

	if (!check->rows.count)
		return NULL;
	return bsearch(&wanted, check->rows.items, check->rows.count, sizeof(wanted), compare_paths);
}

static const struct lode_corpus_entry *row_with_id(const struct check *check, const char *id)
{
	struct lode_corpus_entry wanted = { 0 };
	const struct lode_corpus_entry *key = &wanted, **found;

	if (!check->rows_by_id || strlen(id) < 32)
		return NULL;
	memcpy(wanted.id, id, 32);
	found = bsearch(&key, check->rows_by_id, check->rows.count, sizeof(key), compare_ids);
	return found ? *found : NULL;
}

/*
 * Writes a row for a whole stream file, made from the file itself and from what
 * only a catalogue can know: that of the row `old`, of another row of this stream, or
 * of a catalogue that was damaged.
 */
static int index_file(struct check *check, const char *name, const char *path, const struct lode_corpus_entry *old,
		      struct lode_error *error)
{
	struct lode_corpus_entry entry = { 0 };
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	memcpy(entry.id, name, 32);
	old = old ? old : row_with_id(check, name);
	old = old ? old : lode_catalogue_salvaged(&check->salvaged, entry.id);
	entry.source = old ? old->source : "found by fsck";
	code = lode_corpus_describe_file(path, &stream, &entry, error);
	if (old && old->added)
		entry.added = old->added;
	if (!code)
		code = lode_catalogue_begin(check->catalogue, error);
	if (!code) {
		code = lode_catalogue_put(check->catalogue, &entry, name, &stream, error);
		if (!code)
			code = lode_catalogue_commit(check->catalogue, error);
		lode_catalogue_rollback(check->catalogue);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

/* Replaces a damaged file by what can be saved of it; the original is kept beside. */
static int salvage_file(struct check *check, const char *path, struct lode_error *error)
{
	char *saved = lode_format("%s.tmp", path);
	char *aside = damaged_name(path);
	struct lode_fsck_result result;
	int code = saved && aside ? 0 : lode_fail_memory(error);

	if (!code)
		unlink(saved);
	if (!code)
		code = lode_store_salvage(path, saved, &result, check->notes, error);
	if (!code && link(path, aside) < 0)
		code = lode_file_rename(path, aside, error);
	if (!code)
		code = lode_file_rename(saved, path, error);
	if (!code)
		code = lode_file_sync_folder(check->streams, error);
	if (code && saved)
		unlink(saved);
	lode_free(saved);
	lode_free(aside);
	return code;
}

static void add_blocks(struct lode_fsck_result *sum, const struct lode_fsck_result *one)
{
	sum->blocks_good += one->blocks_good;
	sum->blocks_bad += one->blocks_bad;
	sum->bytes_bad += one->bytes_bad;
	sum->events_good += one->events_good;
	sum->footer_bad |= one->footer_bad;
}

/* A damaged file: counted, and with repair salvaged. Sets `*whole` when it is good afterwards. */
static int handle_damage(struct check *check, const char *path, int *whole, struct lode_error *error)
{
	int code;

	*whole = 0;
	if (!check->repair) {
		check->result->streams_bad++;
		return 0;
	}
	code = salvage_file(check, path, error);
	if (code == LODE_BAD_INPUT) {
		lode_notes_add(check->notes, 1, "streams beyond repair", error ? error->text : path);
		check->result->streams_bad++;
		return 0;
	}
	if (code)
		return code;
	check->result->streams_repaired++;
	*whole = 1;
	return 0;
}

/* An unfinished import has its file in place a moment before its row, and one that was killed then leaves it. */
static void note_without_row(struct check *check, const char *path)
{
	check->result->files_without_row++;
	lode_notes_add(check->notes, 1,
		       check->result->catalogue_bad || check->repair
			       ? "stream files that the catalogue does not name"
			       : "stream files that the catalogue does not name, harmless: an import runs or was "
				 "cut off, and --repair adds them",
		       path);
}

/* Whether the catalogue says something else of a stream than its file: 1, 0, or a negative code. */
static int is_row_wrong(struct check *check, const struct lode_corpus_entry *row, const char *name,
			struct lode_error *error)
{
	const char *what = NULL;
	char file[256], *place;
	int agrees = lode_corpus_row_agrees(check->catalogue, row, &what, error);

	if (agrees)
		return agrees < 0 ? agrees : 0;
	/* The stream may have been replaced since the rows were listed. */
	agrees = lode_catalogue_find(check->catalogue, row->id, file, sizeof(file), error);
	if (agrees <= 0 || strcmp(file, name) != 0)
		return agrees < 0 ? agrees : 0;
	check->result->rows_wrong++;
	place = lode_format("%s (%s)", row->path, what);
	lode_notes_add(check->notes, 1, "streams whose catalogue entry differs from their file", place);
	lode_free(place);
	return 1;
}

static int check_stream_file(struct check *check, const char *name, char *path, struct lode_error *error)
{
	const struct lode_corpus_entry *row = row_of(check, path);
	struct lode_fsck_result result;
	int damaged, whole = 1, wrong = 0;
	int code = lode_store_check(path, &result, check->notes, error);

	if (code == LODE_BAD_INPUT) { /* nothing in it is of Lode */
		check->result->streams_bad++;
		lode_notes_add(check->notes, 1, "streams beyond repair", error ? error->text : path);
		return 0;
	}
	if (code)
		return access(path, F_OK) < 0 ? 0 : code; /* taken back by the import that put it there */
	add_blocks(&check->result->blocks, &result);
	damaged = result.blocks_bad || result.footer_bad;
	if (!damaged)
		check->result->streams_good++;
	else
		code = handle_damage(check, path, &whole, error);
	if (!row)
		note_without_row(check, path);
	if (!code && row && !damaged)
		code = wrong = is_row_wrong(check, row, name, error);
	code = code < 0 ? code : 0;
	if (!code && check->repair && whole && (!row || damaged || wrong))
		code = index_file(check, name, path, row, error);
	return code;
}

/*
 * Whether the catalogue names another file, a whole one, for the stream of this
 * file: then replacing it was cut off, before the switch or just behind it.
 */
static int is_superseded(const struct check *check, const char *name, const char *path)
{
	const struct lode_corpus_entry *row = row_with_id(check, name);
	struct lode_fsck_result result;

	return row && strcmp(row->path, path) != 0 && !lode_store_check(row->path, &result, NULL, NULL) &&
	       !result.blocks_bad && !result.footer_bad;
}

static int check_superseded(struct check *check, const char *name, const char *path, struct lode_error *error)
{
	check->result->leftovers++;
	lode_notes_add(check->notes, 1, "leftovers of imports that were cut off", path);
	return check->repair ? lode_corpus_discard(&check->readers, check->catalogue, name, error) : 0;
}

/* A file that was replaced or removed while it was being read: harmless, and deleted when it no longer is. */
static int is_discarded(const struct check *check, const char *name, char *path)
{
	return check->catalogue && !row_of(check, path) && lode_corpus_is_discarded(check->streams, name);
}

static int check_discarded(struct check *check, const char *name, const char *path, struct lode_error *error)
{
	check->result->leftovers++;
	lode_notes_add(check->notes, 1, "replaced files that were still being read", path);
	return check->repair ? lode_corpus_discard(&check->readers, check->catalogue, name, error) : 0;
}

static int check_leftover(struct check *check, const char *path, struct lode_error *error)
{
	check->result->leftovers++;
	lode_notes_add(check->notes, 1,
		       check->repair ? "leftovers of commands that were killed"
				     : "leftovers of commands that were killed; --repair removes them",
		       path);
	return check->repair ? lode_file_remove(path, error) : 0;
}

/* Whether the process that writes an unfinished file is there. */
static int has_writer(const char *name, const char *path)
{
	return lode_corpus_has_writer(path, lode_corpus_temporary_process(name));
}

/* Those beside the streams. */
static int check_leftovers(struct check *check, struct lode_error *error)
{
	struct lode_text_list paths = { 0 };
	int code = lode_corpus_leftovers(check->path, &paths) < 0 ? lode_fail_memory(error) : 0;

	for (size_t i = 0; !code && i < paths.count; i++)
		code = check_leftover(check, paths.items[i], error);
	lode_text_list_release(&paths);
	return code;
}

/* Makes a stream of the whole blocks of a recording that was cut off. */
static int save_recording(struct check *check, const char *name, const char *path, struct lode_error *error)
{
	const struct lode_corpus_entry cut_off = { .source = "a recording that was cut off" };
	struct lode_fsck_result result;
	char file[64];
	char *to, *saved;
	int code;

	snprintf(file, sizeof(file), "%.32s.lode", name + 1);
	to = lode_format("%s/%s", check->streams, file);
	saved = to ? lode_format("%s.tmp", to) : NULL;
	code = saved ? 0 : lode_fail_memory(error);
	if (!code) {
		unlink(saved);
		code = lode_store_salvage(path, saved, &result, check->notes, error);
	}
	if (!code)
		code = lode_file_rename(saved, to, error);
	if (!code)
		code = lode_file_sync_folder(check->streams, error);
	if (!code)
		code = index_file(check, file, to, &cut_off, error);
	if (!code)
		code = lode_file_remove(path, error);
	if (code && saved)
		unlink(saved);
	lode_free(saved);
	lode_free(to);
	return code;
}

/* The events of a recording whose process died: nothing of it is lost but its last second. */
static int check_recording(struct check *check, const char *name, const char *path, struct lode_error *error)
{
	int code;

	if (has_writer(name, path))
		return 0;                   /* it goes on */
	if (row_with_id(check, name + 1)) { /* it died when all was done but clearing away */
		check->result->leftovers++;
		return check->repair ? lode_file_remove(path, error) : 0;
	}
	lode_notes_add(check->notes, 1, "recordings that were cut off", path);
	code = check->repair ? save_recording(check, name, path, error) : LODE_BAD_INPUT;
	if (code && code != LODE_BAD_INPUT)
		return code;
	check->result->recordings += !code || !check->repair;
	check->result->streams_bad += code && check->repair;
	return 0;
}

static int check_file(struct check *check, const char *name, struct lode_error *error)
{
	char *path = lode_format("%s/%s", check->streams, name);
	int code = 0;

	if (!path)
		return lode_fail_memory(error);
	switch (lode_corpus_classify(name)) {
	case LODE_FILE_STREAM:
		if (is_discarded(check, name, path))
			code = check_discarded(check, name, path, error);
		else if (is_superseded(check, name, path))
			code = check_superseded(check, name, path, error);
		else
			code = check_stream_file(check, name, path, error);
		break;
	case LODE_FILE_REPLACED: /* goes with the file that it names */
		break;
	case LODE_FILE_TEMPORARY:
		code = has_writer(name, path) ? 0 : check_leftover(check, path, error);
		break;
	case LODE_FILE_RECORDING:
		code = check_recording(check, name, path, error);
		break;
	case LODE_FILE_DAMAGED:
		lode_notes_add(check->notes, 1, "damaged originals kept by an earlier repair", path);
		break;
	case LODE_FILE_FOREIGN:
		lode_notes_add(check->notes, 1, "files that do not belong to a corpus, left alone", path);
	}
	lode_free(path);
	return code;
}

static int not_dot(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int check_files(struct check *check, struct lode_error *error)
{
	struct dirent **names = NULL;
	int count = scandir(check->streams, &names, not_dot, alphasort);
	int code = 0;

	if (count < 0 && errno != ENOENT)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be read: %s", check->streams, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!code &&
		    lode_progress_report(check->progress, "checking", "streams", (uint64_t)i, (uint64_t)count))
			code = lode_fail(error, LODE_SYSTEM, "%s: checking was interrupted", check->path);
		if (!code)
			code = check_file(check, names[i]->d_name, error);
		free(names[i]); /* from scandir */
	}
	free(names); /* from scandir */
	return code;
}

/* ---- rows ---- */

/* Takes the row of a file that is gone away, unless the stream was found in another one. */
static int remove_row(struct check *check, const struct lode_corpus_entry *row, struct lode_error *error)
{
	char file[256];
	int found = lode_catalogue_find(check->catalogue, row->id, file, sizeof(file), error);

	if (found <= 0 || strcmp(file, strrchr(row->path, '/') + 1) != 0)
		return found < 0 ? found : 0;
	return lode_catalogue_remove(check->catalogue, row->id, error);
}

static int check_rows(struct check *check, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; !code && i < check->rows.count; i++) {
		const struct lode_corpus_entry *row = &check->rows.items[i];

		if (access(row->path, F_OK) == 0)
			continue;
		check->result->rows_without_file++;
		lode_notes_add(check->notes, 1, "streams whose file is gone", row->path);
		if (check->repair)
			code = remove_row(check, row, error);
	}
	return code;
}

/* ---- all of it ---- */

static void release(struct check *check)
{
	if (check->repair && check->catalogue)
		lode_corpus_sweep(&check->readers, check->catalogue);
	lode_corpus_readers_release(&check->readers);
	lode_free(check->rows_by_id);
	lode_corpus_list_release(&check->rows);
	lode_corpus_list_release(&check->salvaged);
	lode_catalogue_close(check->catalogue);
	lode_free(check->path);
	lode_free(check->streams);
	lode_free(check->catalogue_path);
}

int lode_corpus_check(const char *path, int repair, struct lode_corpus_check_result *result,
		      struct lode_notes *notes, const struct lode_progress *progress, struct lode_error *error)
{
	struct check check = { .repair = repair, .result = result, .notes = notes, .progress = progress };
	int code = 0;

	memset(result, 0, sizeof(*result));
	check.path = lode_strdup(path);
	check.streams = lode_format("%s/%s", path, LODE_STREAMS_FOLDER);
	check.catalogue_path = lode_format("%s/%s", path, LODE_CATALOGUE_FILE);
	lode_corpus_readers_init(&check.readers, check.streams);
	if (!check.path || !check.streams || !check.catalogue_path)
		code = lode_fail_memory(error);
	else if (access(check.catalogue_path, F_OK) < 0 && access(check.streams, F_OK) < 0)
		code = lode_corpus_refuse(path, error);
	else
		lode_corpus_readers_enter(&check.readers);
	if (!code)
		code = check_catalogue(&check, error);
	if (!code)
		code = check_files(&check, error);
	if (!code)
		code = check_leftovers(&check, error);
	if (!code)
		code = check_rows(&check, error);
	release(&check);
	return code;
}
