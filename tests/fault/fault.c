/* What the fault tests share: see fault.h. */
#include "fault.h"

#include "failing_sqlite.h"
#include "random_stream.h"

#include "base/file.h"
#include "store/corpus_check.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Places that are all tried, and how many of those behind them when a job does not
 * say. SQLite asks for memory thousands of times, mostly to read our statements.
 */
#define FIRST_PLACES        300
#define FIRST_SQLITE_PLACES 60
#define MORE_PLACES         150

/* ---- places ---- */

void place_make(struct place *place)
{
	strcpy(place->folder, access("/dev/shm", W_OK) ? "/tmp/lode-fault-XXXXXX" : "/dev/shm/lode-fault-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->corpus, sizeof(place->corpus), "%s/corpus", place->folder);
	snprintf(place->file, sizeof(place->file), "%s/file", place->folder);
	snprintf(place->other, sizeof(place->other), "%s/other", place->folder);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

void place_remove(struct place *place)
{
	nftw(place->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the loops ---- */

/* One way of failing: how it is armed, and how many requests were made. */
struct seam {
	void (*arm)(uint64_t nth, int for_good, int how);
	uint64_t (*asked)(void);
	int how;
	uint64_t first; /* places that are all tried */
};

static void arm_memory(uint64_t nth, int for_good, int how)
{
	(void)how;
	lode_memory_fail_at(nth, for_good);
}

static void run_once(const struct fault_job *job, const struct seam *seam, uint64_t nth, int for_good)
{
	struct lode_error error = { "" };
	struct place place;
	int code;

	place_make(&place);
	if (job->prepare)
		job->prepare(&place);
	seam->arm(nth, for_good, seam->how);
	code = job->run(&place, &error);
	seam->arm(0, 0, 0);
	if (code < LODE_SYSTEM || (code < 0 && !error.text[0]))
		fail_msg("request %llu%s: result %d, '%s'", (unsigned long long)nth,
			 for_good ? " and all behind it" : "", code, error.text);
	if (job->check)
		job->check(&place, code);
	place_remove(&place);
}

/* Runs without a failure; how many requests it made. */
static uint64_t count_requests(const struct fault_job *job, const struct seam *seam)
{
	struct lode_error error = { "" };
	struct place place;
	uint64_t asked;
	int code;

	place_make(&place);
	if (job->prepare)
		job->prepare(&place);
	seam->arm(0, 0, seam->how);
	code = job->run(&place, &error);
	asked = seam->asked();
	if (code < 0)
		fail_msg("without any failure: %s", error.text);
	if (job->check)
		job->check(&place, code);
	place_remove(&place);
	return asked;
}

static void fail_everywhere(const struct fault_job *job, const struct seam *seam)
{
	uint64_t asked = count_requests(job, seam), step = 1;
	uint64_t most = job->most ? job->most : MORE_PLACES;

	assert_true(asked > 0);
	if (asked > seam->first)
		step = 1 + (asked - seam->first) / most;
	for (int for_good = 0; for_good < 2; for_good++)
		for (uint64_t nth = 1; nth <= asked; nth += nth < seam->first ? 1 : step)
			run_once(job, seam, nth, for_good);
}

void fail_every_allocation(const struct fault_job *job)
{
	struct seam seam = { arm_memory, lode_memory_asked, 0, FIRST_PLACES };

	fail_everywhere(job, &seam);
}

void fail_every_file_operation(const struct fault_job *job)
{
	static const int numbers[] = { EIO, ENOSPC, 0 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct seam seam = { lode_file_fail_at, lode_file_asked, numbers[i], FIRST_PLACES };

		fail_everywhere(job, &seam);
	}
}

void fail_every_request_of_sqlite(const struct fault_job *job)
{
	static const enum failing_sqlite_kind kinds[] = { FAILING_SQLITE_IO, FAILING_SQLITE_FULL,
							  FAILING_SQLITE_MEMORY };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct seam seam = { failing_sqlite_arm, failing_sqlite_asked, kinds[i], FIRST_SQLITE_PLACES };

		fail_everywhere(job, &seam);
	}
}

/* ---- files ---- */

const char *seed_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", SEEDS, name);
	return path;
}

unsigned char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes;
	struct stat status;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

void write_whole(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

void copy_file(const char *from, const char *to)
{
	size_t size;
	unsigned char *bytes = read_whole(from, &size);

	write_whole(to, bytes, size);
	free(bytes);
}

void copy_folder(const char *from, const char *to)
{
	DIR *folder = opendir(from);
	struct dirent *entry;

	assert_non_null(folder);
	assert_int_equal(mkdir(to, 0777), 0);
	while ((entry = readdir(folder))) {
		char here[512], there[512];
		struct stat status;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(here, sizeof(here), "%s/%s", from, entry->d_name);
		snprintf(there, sizeof(there), "%s/%s", to, entry->d_name);
		assert_int_equal(stat(here, &status), 0);
		if (S_ISDIR(status.st_mode))
			copy_folder(here, there);
		else
			copy_file(here, there);
	}
	closedir(folder);
}

/* ---- streams ---- */

int whole_init(struct whole *whole)
{
	int code = lode_dictionary_init(&whole->dictionary);

	if (code == 0)
		lode_stream_init(&whole->stream, &whole->dictionary);
	return code;
}

void whole_release(struct whole *whole)
{
	lode_stream_release(&whole->stream);
	lode_dictionary_release(&whole->dictionary);
}

void whole_make(struct whole *whole, uint64_t number)
{
	uint64_t seed = number * 2 + 1;

	assert_int_equal(whole_init(whole), 0);
	assert_int_equal(random_stream(&whole->stream, &seed, 40), 0);
}

/* ---- corpora ---- */

const char *id_of(unsigned number)
{
	static char id[33];

	snprintf(id, sizeof(id), "%032x", number);
	return id;
}

/* An import under way. */
struct importing {
	struct lode_corpus *corpus;
	struct lode_input *input;
};

static int take(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	struct importing *importing = context;
	char digest[33], number[9];
	int code = lode_input_digest(importing->input, digest, error);

	if (code < 0)
		return code;
	snprintf(number, sizeof(number), "%08x", ordinal);
	memcpy(digest + 24, number, 8);
	code = lode_corpus_add(importing->corpus, digest, lode_input_name(importing->input), stream, 0, 2, error);
	return code < 0 ? code : 0;
}

static int read_input(struct importing *importing, const char *format, const char *corpus,
		      struct lode_notes *notes, struct lode_error *error)
{
	struct lode_import_options options = { .format = format,
					       .jobs = 2,
					       .no_symbols = 1,
					       .cache = "",
					       .notes = notes };
	struct lode_import_sink sink = { take, importing };
	const struct lode_importer *importer = lode_import_choose(importing->input, &options, error);
	int code;

	if (!importer)
		return LODE_BAD_INPUT;
	code = lode_corpus_open(&importing->corpus, corpus, LODE_CORPUS_CREATE, error);
	if (code < 0)
		return code;
	code = importer->read(importing->input, &options, &sink, error);
	lode_corpus_close(importing->corpus);
	return code;
}

int import_file(const char *path, const char *format, const char *corpus, struct lode_error *error)
{
	struct importing importing = { NULL, NULL };
	struct lode_notes notes;
	int code = lode_input_open(&importing.input, path, error);

	if (code < 0)
		return code;
	lode_notes_init(&notes);
	code = read_input(&importing, format, corpus, &notes, error);
	lode_notes_release(&notes);
	lode_input_close(importing.input);
	return code;
}

void require_sound_corpus(const char *path)
{
	struct lode_corpus_check_result result;
	struct lode_error error = { "" };

	if (lode_corpus_check(path, 0, &result, NULL, NULL, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(result.catalogue_bad, 0);
	assert_int_equal(result.streams_bad, 0);
	assert_int_equal(result.rows_without_file, 0);
	assert_int_equal(result.blocks.bytes_bad, 0);
}

void require_stream(const char *corpus, const char *id, uint64_t number)
{
	struct lode_error error = { "" };
	struct whole expected, loaded;
	struct lode_corpus_list list;
	struct lode_corpus *opened;
	size_t found = 0;

	if (lode_corpus_open(&opened, corpus, LODE_CORPUS_READ, &error) < 0 ||
	    lode_corpus_streams(opened, &list, &error) < 0)
		fail_msg("%s", error.text);
	whole_make(&expected, number);
	for (size_t i = 0; i < list.count; i++) {
		if (strcmp(list.items[i].id, id) != 0)
			continue;
		found++;
		assert_int_equal(whole_init(&loaded), 0);
		if (lode_store_load(list.items[i].path, &loaded.stream, &error) < 0)
			fail_msg("%s", error.text);
		assert_true(streams_equal(&expected.stream, &loaded.stream));
		whole_release(&loaded);
	}
	assert_int_equal(found, 1);
	whole_release(&expected);
	lode_corpus_list_release(&list);
	lode_corpus_close(opened);
}

size_t count_streams(const char *corpus)
{
	struct lode_error error = { "" };
	struct lode_corpus_list list;
	struct lode_corpus *opened;
	size_t count;

	if (lode_corpus_open(&opened, corpus, LODE_CORPUS_READ, &error) < 0 ||
	    lode_corpus_streams(opened, &list, &error) < 0)
		fail_msg("%s", error.text);
	count = list.count;
	lode_corpus_list_release(&list);
	lode_corpus_close(opened);
	return count;
}
