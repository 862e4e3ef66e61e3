/* Exports in every format on a failing machine: the file is as it was, or right. */
#include "fault.h"
#include "random_stream.h"

#include "export/export.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct place shared; /* a corpus with two streams, and in `other` the scratch files */
static const struct lode_exporter *exporter;
static unsigned char *right; /* what it writes when nothing fails */
static size_t right_size;

static int make_corpus(void **state)
{
	struct lode_error error = { "" };
	struct lode_corpus *corpus;

	(void)state;
	place_make(&shared);
	assert_int_equal(mkdir(shared.other, 0700), 0);
	setenv("TMPDIR", shared.other, 1);
	assert_int_equal(lode_corpus_open(&corpus, shared.corpus, LODE_CORPUS_CREATE, &error), 0);
	for (unsigned i = 1; i < 3; i++) {
		struct whole stream;

		whole_make(&stream, i);
		assert_int_equal(lode_corpus_add(corpus, id_of(i), "test", &stream.stream, 0, 1, &error), 1);
		whole_release(&stream);
	}
	lode_corpus_close(corpus);
	return 0;
}

static int remove_corpus(void **state)
{
	(void)state;
	place_remove(&shared);
	return 0;
}

static void lay_out(struct place *place)
{
	write_whole(place->file, "old", 3);
}

static int run_export(struct place *place, struct lode_error *error)
{
	struct lode_export_options options = { 0 };
	struct lode_corpus *corpus;
	struct lode_output output;
	struct lode_notes notes;
	int code = lode_corpus_open(&corpus, shared.corpus, LODE_CORPUS_READ, error);

	if (code < 0)
		return code;
	lode_notes_init(&notes);
	options.notes = &notes;
	code = lode_output_open(&output, place->file, error);
	if (code == 0) {
		code = lode_export_corpus(corpus, exporter, &options, &output, error);
		if (code < 0)
			lode_output_abandon(&output);
		else
			code = lode_output_finish(&output, error);
	}
	lode_notes_release(&notes);
	lode_corpus_close(corpus);
	return code;
}

static size_t count_files(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	return count;
}

static void require_right_or_old(struct place *place, int code)
{
	size_t size;
	unsigned char *bytes = read_whole(place->file, &size);
	int is_old = size == 3 && memcmp(bytes, "old", 3) == 0;
	int is_right = size == right_size && memcmp(bytes, right, size) == 0;

	if (code < 0 ? !is_old && !is_right : !is_right)
		fail_msg("%s: the code is %d, but the file is neither old nor right", exporter->name, code);
	free(bytes);
}

static const struct fault_job exporting = {
	.prepare = lay_out, .run = run_export, .check = require_right_or_old, .most = 60
};

static void learn_what_is_right(void)
{
	struct lode_error error = { "" };
	struct place place;

	place_make(&place);
	if (run_export(&place, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(count_files(place.folder), 1);
	right = read_whole(place.file, &right_size);
	place_remove(&place);
}

static void every_export_is_right_or_leaves_the_old_file(void **state)
{
	(void)state;
	for (size_t i = 0; lode_exporters[i]; i++) {
		exporter = lode_exporters[i];
		learn_what_is_right();
		fail_every_allocation(&exporting);
		fail_every_file_operation(&exporting);
		free(right);
		assert_int_equal(count_files(shared.other), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_export_is_right_or_leaves_the_old_file),
	};

	return cmocka_run_group_tests(tests, make_corpus, remove_corpus);
}
