/* Signatures on a machine that fails: the text is the old or the new one, whole, and both copies end up the
 * same. */
#include "fault.h"

#include "mine/signatures.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_corpus(struct place *place, struct lode_corpus **corpus, struct lode_error *error)
{
	return lode_corpus_open(corpus, place->corpus, LODE_CORPUS_CREATE, error);
}

/* Makes a signature of one pattern of one frame. */
static int make(struct place *place, const char *name, struct lode_error *error)
{
	struct lode_signature_change change = { .verb = LODE_SIGNATURE_MAKE, .name = name, .state = "fixed" };
	struct lode_patterns patterns = { 0 };
	struct lode_corpus *corpus = NULL;
	struct lode_frames frames = { 0 };
	uint32_t frame = LODE_NONE;
	int code = lode_frames_init(&frames);

	if (!code)
		frame = lode_frames_parse(&frames, "app!main", 8);
	if (code || frame == LODE_NONE || lode_patterns_add(&patterns, &frame, 1, 0) < 0)
		code = lode_fail_memory(error);
	change.patterns = &patterns;
	change.frames = &frames;
	if (!code)
		code = open_corpus(place, &corpus, error);
	if (!code)
		code = lode_signatures_change(corpus, &change, error);
	lode_corpus_close(corpus);
	lode_patterns_release(&patterns);
	lode_frames_release(&frames);
	return code;
}

static void prepare(struct place *place)
{
	struct lode_error error;
	struct whole whole;
	struct lode_corpus *corpus;

	whole_make(&whole, 3);
	assert_int_equal(open_corpus(place, &corpus, &error), 0);
	assert_int_equal(lode_corpus_add(corpus, id_of(3), "test", &whole.stream, 0, 1, &error), 1);
	lode_corpus_close(corpus);
	whole_release(&whole);
	assert_int_equal(make(place, "first", &error), 0);
}

/* Loads them with nothing failing: text and catalogue must agree. */
static void require_signatures(struct place *place, size_t least, size_t most)
{
	struct lode_signatures signatures;
	struct lode_corpus *corpus;
	struct lode_error error;

	require_sound_corpus(place->corpus);
	assert_int_equal(open_corpus(place, &corpus, &error), 0);
	if (lode_signatures_load(corpus, &signatures, &error))
		fail_msg("%s", error.text);
	assert_true(signatures.kept);
	assert_in_range(signatures.count, least, most);
	if (least)
		assert_string_equal(signatures.items[0].name, "first");
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
}

static int make_second(struct place *place, struct lode_error *error)
{
	return make(place, "second", error);
}

static void check_second(struct place *place, int code)
{
	require_signatures(place, code ? 1 : 2, 2);
}

static const struct fault_job making = { prepare, make_second, check_second, 0 };

/* ---- taking over an edited text, and matching ---- */

static void prepare_edited(struct place *place)
{
	static const char text[] = "signature first\npattern\n\tapp!main\nsignature other\npattern\n\tx\n\ty\n";
	char path[128];

	prepare(place);
	snprintf(path, sizeof(path), "%s/signatures.txt", place->corpus);
	write_whole(path, text, sizeof(text) - 1);
}

static int load_and_refresh(struct place *place, struct lode_error *error)
{
	struct lode_signatures signatures = { 0 };
	struct lode_corpus *corpus = NULL;
	int code = lode_corpus_open(&corpus, place->corpus, LODE_CORPUS_READ, error);

	if (!code)
		code = lode_signatures_load(corpus, &signatures, error);
	if (!code)
		code = lode_signatures_refresh(corpus, &signatures, 1, NULL, error);
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
	return code;
}

static void check_edited(struct place *place, int code)
{
	(void)code;
	require_signatures(place, 2, 2);
}

static const struct fault_job taking_over = { prepare_edited, load_and_refresh, check_edited, 0 };

/* ---- a text file that is gone ---- */

static void prepare_gone(struct place *place)
{
	char path[128];

	prepare(place);
	snprintf(path, sizeof(path), "%s/signatures.txt", place->corpus);
	unlink(path);
}

static void check_gone(struct place *place, int code)
{
	(void)code;
	require_signatures(place, 1, 1);
}

static const struct fault_job restoring = { prepare_gone, load_and_refresh, check_gone, 0 };

static void memory_runs_out(void **state)
{
	(void)state;
	fail_every_allocation(&making);
	fail_every_allocation(&taking_over);
	fail_every_allocation(&restoring);
}

static void files_fail(void **state)
{
	(void)state;
	fail_every_file_operation(&making);
	fail_every_file_operation(&taking_over);
	fail_every_file_operation(&restoring);
}

static void sqlite_fails(void **state)
{
	(void)state;
	fail_every_request_of_sqlite(&making);
	fail_every_request_of_sqlite(&taking_over);
	fail_every_request_of_sqlite(&restoring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(files_fail),
		cmocka_unit_test(sqlite_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
