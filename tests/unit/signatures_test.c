/* Signatures: the text file and the catalogue say the same, whichever was changed, and matches are never
 * stale. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "mine/signatures.h"
#include "store/corpus_check.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	char path[64];
	struct lode_corpus *corpus;
	struct lode_signatures signatures;
	struct lode_error error;
};

static void require(struct fixture *fixture, int code)
{
	if (code)
		fail_msg("%d: %s", code, fixture->error.text);
}

static void reopen(struct fixture *fixture, enum lode_corpus_mode mode)
{
	lode_corpus_close(fixture->corpus);
	require(fixture, lode_corpus_open(&fixture->corpus, fixture->path, mode, &fixture->error));
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (temporary_folder(fixture->path, sizeof(fixture->path)) < 0)
		return -1;
	return lode_corpus_open(&fixture->corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_signatures_release(&fixture->signatures);
	lode_corpus_close(fixture->corpus);
	temporary_remove(fixture->path);
	free(fixture);
	return 0;
}

static const char *text_path(struct fixture *fixture)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/signatures.txt", fixture->path);
	return path;
}

static void write_text(struct fixture *fixture, const char *text)
{
	FILE *file = fopen(text_path(fixture), "wb");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static const char *read_text(struct fixture *fixture)
{
	static char text[1 << 20];
	FILE *file = fopen(text_path(fixture), "rb");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[size] = '\0';
	if (file)
		fclose(file);
	return file ? text : NULL;
}

static void load(struct fixture *fixture)
{
	lode_signatures_release(&fixture->signatures);
	require(fixture, lode_signatures_load(fixture->corpus, &fixture->signatures, &fixture->error));
}

/* The signature of this name, or NULL. */
static struct lode_signature *find(const struct fixture *fixture, const char *name)
{
	const struct lode_signatures *signatures = &fixture->signatures;

	for (size_t i = 0; i < signatures->count; i++)
		if (strcmp(signatures->items[i].name, name) == 0)
			return &signatures->items[i];
	return NULL;
}

static void refuse(struct fixture *fixture, const char *words)
{
	lode_signatures_release(&fixture->signatures);
	assert_int_equal(lode_signatures_load(fixture->corpus, &fixture->signatures, &fixture->error),
			 LODE_BAD_INPUT);
	if (!strstr(fixture->error.text, words))
		fail_msg("'%s' is not in '%s'", words, fixture->error.text);
}

/* Makes a change with one pattern of frames parted by blanks; NULL: none. */
static int change_one(struct lode_corpus *corpus, struct lode_signature_change change, const char *frames_text,
		      struct lode_error *error)
{
	struct lode_patterns patterns = { 0 };
	struct lode_frames frames;
	uint32_t sequence[8], length = 0;
	int code;

	lode_frames_init(&frames);
	for (const char *at = frames_text; at && *at;) {
		size_t size = strcspn(at, " ");

		sequence[length++] = lode_frames_parse(&frames, at, size);
		at += size + (at[size] == ' ');
	}
	if (length) {
		lode_patterns_add(&patterns, sequence, length, 0);
		change.patterns = &patterns;
		change.frames = &frames;
	}
	code = lode_signatures_change(corpus, &change, error);
	lode_patterns_release(&patterns);
	lode_frames_release(&frames);
	return code;
}

static int make(struct lode_corpus *corpus, const char *name, const char *frames, struct lode_error *error)
{
	return change_one(corpus, (struct lode_signature_change){ .verb = LODE_SIGNATURE_MAKE, .name = name },
			  frames, error);
}

/* ---- the two copies ---- */

static void a_signature_made_stands_in_the_text_and_in_the_catalogue(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_change change = { .verb = LODE_SIGNATURE_MAKE,
						.name = "short names",
						.bug = "http://b/1",
						.kind = "wait" };
	struct lode_signature_rows rows;

	require(fixture, change_one(fixture->corpus, change, "app!main app!hash", &fixture->error));
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
	assert_string_equal(fixture->signatures.items[0].name, "short names");
	assert_string_equal(fixture->signatures.items[0].bug, "http://b/1");
	assert_int_equal(fixture->signatures.items[0].state, LODE_SIGNATURE_OPEN);
	assert_int_equal(fixture->signatures.items[0].kinds, 1 << LODE_WAIT);
	assert_int_equal(fixture->signatures.items[0].count, 1);
	assert_true(fixture->signatures.items[0].id > 0);
	assert_true(fixture->signatures.kept);
	require(fixture, lode_catalogue_signatures(lode_corpus_catalogue(fixture->corpus), &rows, &fixture->error));
	assert_int_equal(rows.count, 1);
	assert_string_equal(rows.items[0].name, "short names");
	assert_string_equal(rows.items[0].patterns, "pattern\n\tapp!main\n\tapp!hash\n");
	assert_string_equal(rows.digest, fixture->signatures.digest);
	lode_signature_rows_release(&rows);
	assert_non_null(strstr(read_text(fixture), "signature short names\nbug http://b/1\nstate open\nsince "));
}

static void a_name_is_taken_once(void **state)
{
	struct fixture *fixture = *state;

	require(fixture, make(fixture->corpus, "a", "x", &fixture->error));
	assert_int_equal(make(fixture->corpus, "a", "y", &fixture->error), LODE_USAGE);
	assert_non_null(strstr(fixture->error.text, "signatures.txt:1: there is a signature 'a' already"));
	write_text(fixture, "signature a\npattern\n\tx\n\nsignature a\npattern\n\ty\n");
	refuse(fixture, "signatures.txt:5: a second signature 'a', the first is in line 1");
}

static void commands_keep_comments_order_and_lines_of_others(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_change change = { .verb = LODE_SIGNATURE_CHANGE, .name = "two", .bug = "http://b/2" };

	write_text(fixture, "# ours\n\nsignature one\npattern\n# why\n\tx\n\n# of two\nsignature two\nbug old\n"
			    "made 2026-01-01T00:00:00Z\npattern\n\ty\n# end");
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	assert_string_equal(
		read_text(fixture),
		"# ours\n\nsignature one\npattern\n# why\n\tx\n\n# of two\nsignature two\nbug http://b/2\n"
		"made 2026-01-01T00:00:00Z\npattern\n\ty\n# end");
	change = (struct lode_signature_change){ .verb = LODE_SIGNATURE_CHANGE, .name = "one", .kind = "run" };
	require(fixture, change_one(fixture->corpus, change, "x z", &fixture->error));
	change = (struct lode_signature_change){ .verb = LODE_SIGNATURE_CHANGE, .name = "two", .bug = "" };
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	assert_string_equal(
		read_text(fixture),
		"# ours\n\nsignature one\nkind run\npattern\n# why\n\tx\npattern\n\tx\n\tz\n\n# of two\n"
		"signature two\nmade 2026-01-01T00:00:00Z\npattern\n\ty\n# end");
	change = (struct lode_signature_change){ .verb = LODE_SIGNATURE_REMOVE, .name = "one" };
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	assert_string_equal(read_text(fixture),
			    "# ours\n\n# of two\nsignature two\nmade 2026-01-01T00:00:00Z\npattern\n\ty\n"
			    "# end");
	assert_int_equal(change_one(fixture->corpus, change, NULL, &fixture->error), LODE_USAGE);
	assert_non_null(strstr(fixture->error.text, "has no signature 'one'"));
}

static void notes_are_added_kept_and_removed(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_change change = { .verb = LODE_SIGNATURE_CHANGE,
						.name = "a",
						.note = "one\ntwo # three" };
	const struct lode_signature *signature;

	write_text(fixture, "signature a\n# ours\nnote zero\nstate fixed\npattern\n\tx\npattern\n\ty\nsignature "
			    "b\nnote other\n"
			    "pattern\n\tx\n");
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	load(fixture);
	signature = find(fixture, "a");
	assert_int_equal(signature->note_count, 2);
	assert_string_equal(signature->notes[0], "zero");
	assert_int_equal(strncmp(signature->notes[1], "20", 2), 0);
	assert_string_equal(signature->notes[1] + strlen("2026-01-31: "), "one\ntwo # three");
	assert_int_equal(find(fixture, "b")->note_count, 1);
	assert_string_equal(find(fixture, "b")->notes[0], "other");
	/* Other patterns make it another signature; its notes stay. */
	change = (struct lode_signature_change){ .verb = LODE_SIGNATURE_CHANGE, .name = "a" };
	require(fixture, change_one(fixture->corpus, change, "z", &fixture->error));
	unlink(text_path(fixture));
	load(fixture);
	assert_int_equal(find(fixture, "a")->note_count, 2);
	assert_int_equal(find(fixture, "a")->count, 3);
	change.note = "";
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	load(fixture);
	assert_int_equal(find(fixture, "a")->note_count, 0);
	assert_int_equal(find(fixture, "a")->state, LODE_SIGNATURE_FIXED);
	assert_int_equal(find(fixture, "b")->note_count, 1);
}

static void a_text_that_a_person_edited_is_taken_over(void **state)
{
	struct fixture *fixture = *state;
	int64_t kept, changed;

	write_text(fixture, "signature a\npattern\n\tx\nsignature b\npattern\n\ty\nsignature c\npattern\n\tz\n");
	load(fixture);
	kept = find(fixture, "a")->id;
	changed = find(fixture, "b")->id;
	write_text(fixture, "signature d\npattern\n\tx\nsignature b\npattern\n\ty\n\tw\nsignature a\nstate fixed\n"
			    "pattern\n\tx\n");
	load(fixture);
	assert_int_equal(fixture->signatures.count, 3);
	assert_string_equal(fixture->signatures.items[0].name, "d");
	assert_true(find(fixture, "a")->id == kept);
	assert_int_equal(find(fixture, "a")->state, LODE_SIGNATURE_FIXED);
	assert_true(find(fixture, "b")->id > changed);
	assert_null(find(fixture, "c"));
	write_text(fixture, "signature a\nstat fixed\n");
	refuse(fixture, "signatures.txt:2: 'stat' is not a keyword");
	write_text(fixture, "pattern\n\tx\n");
	refuse(fixture, "belongs to no signature");
	write_text(fixture, "");
	load(fixture);
	assert_int_equal(fixture->signatures.count, 0);
}

static void a_state_says_since_when_it_holds(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_change change = { .verb = LODE_SIGNATURE_CHANGE, .name = "a", .state = "fixed" };

	write_text(fixture, "signature a\nmade 2020-01-01T00:00:00Z\npattern\n\tx\n");
	load(fixture);
	assert_string_equal(fixture->signatures.items[0].since, "2020-01-01T00:00:00Z");
	require(fixture, change_one(fixture->corpus, change, NULL, &fixture->error));
	load(fixture);
	assert_string_equal(fixture->signatures.items[0].made, "2020-01-01T00:00:00Z");
	assert_true(strcmp(fixture->signatures.items[0].since, "2026") > 0);
	/* A person sets it back without saying when: it is known from the change itself, and stays. */
	write_text(fixture, "signature a\nmade 2020-01-01T00:00:00Z\nstate open\npattern\n\tx\n");
	load(fixture);
	assert_true(strcmp(fixture->signatures.items[0].since, "2026") > 0);
}

static void a_text_file_that_is_gone_is_made_anew(void **state)
{
	struct fixture *fixture = *state;
	char before[4096];

	require(fixture, make(fixture->corpus, "a \n<b>", "x!y \"q\"", &fixture->error));
	require(fixture, make(fixture->corpus, "b", "m!z", &fixture->error));
	snprintf(before, sizeof(before), "%s", read_text(fixture));
	unlink(text_path(fixture));
	load(fixture);
	assert_int_equal(fixture->signatures.count, 2);
	assert_string_equal(read_text(fixture), before);
}

static void a_catalogue_made_anew_takes_the_signatures_from_the_text(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;
	char path[128], before[4096];

	require(fixture, make(fixture->corpus, "a", "x", &fixture->error));
	require(fixture, make(fixture->corpus, "b", "y z", &fixture->error));
	snprintf(before, sizeof(before), "%s", read_text(fixture));
	lode_corpus_close(fixture->corpus);
	fixture->corpus = NULL;
	snprintf(path, sizeof(path), "%s/catalogue.sqlite", fixture->path);
	for (int round = 0; round < 2; round++) {
		if (round)
			unlink(path);
		else
			assert_int_equal(truncate(path, 600), 0);
		require(fixture, lode_corpus_check(fixture->path, 1, &result, NULL, NULL, &fixture->error));
		assert_true(result.catalogue_bad);
		reopen(fixture, LODE_CORPUS_READ);
		load(fixture);
		assert_int_equal(fixture->signatures.count, 2);
		assert_true(fixture->signatures.kept);
		assert_string_equal(read_text(fixture), before);
		lode_corpus_close(fixture->corpus);
		fixture->corpus = NULL;
	}
	/* Without a catalogue the folder is still that of a corpus. */
	unlink(path);
	reopen(fixture, LODE_CORPUS_CREATE);
	load(fixture);
	assert_int_equal(fixture->signatures.count, 2);
}

/* ---- older catalogues ---- */

static void run_sql(struct fixture *fixture, const char *sql)
{
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/catalogue.sqlite", fixture->path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

static int64_t version_of(struct fixture *fixture)
{
	sqlite3_stmt *statement;
	int64_t version;
	char path[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/catalogue.sqlite", fixture->path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	version = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return version;
}

static void make_version_4(struct fixture *fixture)
{
	run_sql(fixture, "DROP TABLE signature_notes; PRAGMA user_version = 4;");
}

static void make_version_2(struct fixture *fixture)
{
	make_version_4(fixture);
	run_sql(fixture,
		"DROP TABLE past_signatures; DROP INDEX check_streams; DROP INDEX check_signatures; DROP INDEX "
		"check_signature_file;"
		"DROP INDEX check_stream_signatures; DROP INDEX check_matched_streams; PRAGMA user_version = 2;");
}

static void make_version_1(struct fixture *fixture)
{
	make_version_2(fixture);
	run_sql(fixture, "DROP TABLE matched_streams; DROP TABLE stream_signatures; DROP TABLE signature_file;"
			 "DROP TABLE signatures; PRAGMA user_version = 1;");
}

static void a_catalogue_of_version_1_is_read_and_upgraded_when_written(void **state)
{
	struct fixture *fixture = *state;
	struct lode_corpus_check_result result;

	make_version_1(fixture);
	reopen(fixture, LODE_CORPUS_READ);
	load(fixture);
	assert_int_equal(fixture->signatures.count, 0);
	assert_int_equal(version_of(fixture), 1);
	require(fixture, lode_corpus_check(fixture->path, 0, &result, NULL, NULL, &fixture->error));
	assert_false(result.catalogue_bad);
	assert_int_equal(version_of(fixture), 1);
	reopen(fixture, LODE_CORPUS_WRITE);
	assert_int_equal(version_of(fixture), 5);
	make_version_1(fixture);
	reopen(fixture, LODE_CORPUS_READ);
	write_text(fixture, "signature a\npattern\n\tx\n");
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
	assert_true(fixture->signatures.kept);
	assert_int_equal(version_of(fixture), 5);
}

static void a_catalogue_of_version_2_keeps_its_signatures_when_upgraded(void **state)
{
	struct fixture *fixture = *state;

	write_text(fixture, "signature a\npattern\n\tx\n");
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
	make_version_2(fixture);
	reopen(fixture, LODE_CORPUS_READ);
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
	assert_int_equal(version_of(fixture), 2);
	reopen(fixture, LODE_CORPUS_WRITE);
	assert_int_equal(version_of(fixture), 5);
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
}

static void a_catalogue_of_version_4_gets_notes_when_written(void **state)
{
	struct fixture *fixture = *state;

	write_text(fixture, "signature a\npattern\n\tx\n");
	load(fixture);
	make_version_4(fixture);
	reopen(fixture, LODE_CORPUS_READ);
	load(fixture);
	assert_int_equal(fixture->signatures.count, 1);
	assert_int_equal(version_of(fixture), 4);
	write_text(fixture, "signature a\nnote one\nnote two\npattern\n\tx\n");
	load(fixture);
	assert_int_equal(version_of(fixture), 5);
	assert_int_equal(fixture->signatures.items[0].note_count, 2);
	unlink(text_path(fixture));
	load(fixture);
	assert_int_equal(fixture->signatures.items[0].note_count, 2);
	assert_string_equal(fixture->signatures.items[0].notes[1], "two");
}

static void other_versions_and_odd_tables_are_refused(void **state)
{
	struct fixture *fixture = *state;

	run_sql(fixture, "PRAGMA user_version = 6");
	lode_corpus_close(fixture->corpus);
	assert_int_equal(lode_corpus_open(&fixture->corpus, fixture->path, LODE_CORPUS_READ, &fixture->error),
			 LODE_BAD_INPUT);
	assert_non_null(strstr(fixture->error.text, "use a newer Lode"));
	run_sql(fixture, "PRAGMA user_version = 1"); /* with the tables of version 5 */
	assert_int_equal(lode_corpus_open(&fixture->corpus, fixture->path, LODE_CORPUS_CREATE, &fixture->error),
			 LODE_BAD_INPUT);
	assert_non_null(strstr(fixture->error.text, "its tables are not those of a catalogue"));
	run_sql(fixture, "DROP TABLE signatures; PRAGMA user_version = 4");
	assert_int_equal(lode_corpus_open(&fixture->corpus, fixture->path, LODE_CORPUS_READ, &fixture->error),
			 LODE_BAD_INPUT);
	assert_null(fixture->corpus);
}

/* ---- matching ---- */

/* The slow way: whether the frames' texts are a subsequence of the stack's, each compared as text. */
static int contains(const struct lode_stream *stream, uint32_t stack, const struct lode_signatures *signatures,
		    size_t pattern)
{
	const struct lode_patterns *patterns = &signatures->patterns;
	const struct lode_dictionary *dictionary = stream->dictionary;
	uint32_t left = patterns->items[pattern].length;

	/* From the leaf up: the pattern from its end. */
	for (uint32_t node = stack; node && left; node = dictionary->tree.nodes[node].parent) {
		uint32_t frame = dictionary->tree.nodes[node].frame;
		uint32_t wanted = lode_pattern_frames(patterns, pattern)[left - 1];

		left -= strcmp(lode_frames_function(&dictionary->frames, frame),
			       lode_frames_function(&signatures->frames, wanted)) == 0 &&
			strcmp(lode_frames_module_name(&dictionary->frames, frame),
			       lode_frames_module_name(&signatures->frames, wanted)) == 0;
	}
	return !left;
}

static struct lode_signature_match oracle(const struct lode_stream *stream,
					  const struct lode_signatures *signatures, size_t i)
{
	const struct lode_signature *signature = &signatures->items[i];
	struct lode_signature_match match = { 0 };

	for (int kind = LODE_RUN; kind <= LODE_WAIT; kind++)
		for (size_t e = 0; e < stream->events[kind].count; e++) {
			int found = 0;

			for (size_t p = 0; p < signature->count; p++)
				found |= contains(stream, stream->events[kind].stack[e], signatures,
						  signature->first + p);
			if (!found || !(signature->kinds & 1u << kind))
				continue;
			match.events++;
			match.cost[kind] = lode_add_saturating(match.cost[kind], stream->events[kind].cost[e]);
		}
	return match;
}

/* A pattern of frames of some stack of the stream, in order, and now and then one of nowhere. */
static void add_random_pattern(struct lode_buffer *text, const struct lode_stream *stream, uint64_t *seed)
{
	const struct lode_dictionary *dictionary = stream->dictionary;
	uint32_t node = (uint32_t)random_below(seed, dictionary->tree.count), frames[256];
	uint32_t depth = lode_stack_tree_depth(&dictionary->tree, node);
	struct lode_patterns patterns = { 0 };
	uint32_t chosen[256], length = 0;

	if (depth > 256 || !depth) {
		lode_buffer_text(text, "pattern\n\tnowhere!else\n");
		return;
	}
	lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++)
		if (random_below(seed, 2))
			chosen[length++] = frames[i];
	if (!length)
		chosen[length++] = frames[0];
	if (random_below(seed, 4) == 0)
		chosen[random_below(seed, length)] = frames[random_below(seed, depth)];
	lode_patterns_add(&patterns, chosen, length, 0);
	lode_pattern_write(&patterns, 0, &dictionary->frames, text);
	lode_patterns_release(&patterns);
}

static void write_random_signatures(struct fixture *fixture, const struct lode_stream *stream, uint64_t *seed)
{
	static const char *const kinds[] = { "", "kind run\n", "kind wait\n" };
	struct lode_buffer text = { 0 };
	size_t count = random_below(seed, 6);

	for (size_t i = 0; i < count; i++) {
		lode_buffer_print(&text, "signature s%zu\n%s", i, kinds[random_below(seed, 3)]);
		for (size_t k = random_below(seed, 3) + 1; k > 0; k--)
			add_random_pattern(&text, stream, seed);
	}
	lode_buffer_byte(&text, '\0');
	write_text(fixture, text.bytes);
	lode_buffer_release(&text);
}

static void matches_are_those_of_the_obvious_way(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_matches matches = { 0 };
	uint64_t seed = 77, found = 0;

	for (int round = 0; round < 300; round++) {
		struct lode_dictionary dictionary;
		struct lode_stream stream;
		size_t at = 0;

		lode_dictionary_init(&dictionary);
		lode_stream_init(&stream, &dictionary);
		assert_int_equal(random_stream(&stream, &seed, 30), 0);
		write_random_signatures(fixture, &stream, &seed);
		load(fixture);
		require(fixture, lode_signatures_match(&fixture->signatures, &stream, &matches, &fixture->error));
		for (size_t i = 0; i < fixture->signatures.count; i++) {
			struct lode_signature_match wanted = oracle(&stream, &fixture->signatures, i);

			if (!wanted.events)
				continue;
			assert_true(at < matches.count);
			assert_true(matches.items[at].signature == fixture->signatures.items[i].id);
			assert_int_equal(matches.items[at].events, wanted.events);
			assert_true(matches.items[at].cost[LODE_RUN] == wanted.cost[LODE_RUN]);
			assert_true(matches.items[at].cost[LODE_WAIT] == wanted.cost[LODE_WAIT]);
			at++;
		}
		assert_int_equal(at, matches.count);
		found += matches.count;
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
	assert_true(found > 200);
	lode_signature_matches_release(&matches);
}

/* A stream with one run of `cost` in each of the stacks given as `a b c`. */
static void add_stream(struct fixture *fixture, unsigned number, const char *const *stacks, uint64_t cost,
		       int replace)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	char id[33];

	lode_dictionary_init(&dictionary);
	lode_stream_init(&stream, &dictionary);
	for (; *stacks; stacks++) {
		struct lode_event event = { .t = 1, .cost = cost, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
		uint32_t node = 0;

		for (const char *at = *stacks; *at;) {
			size_t size = strcspn(at, " ");

			node = lode_stack_tree_child(&dictionary.tree, node,
						     lode_frames_parse(&dictionary.frames, at, size));
			at += size + (at[size] == ' ');
		}
		event.stack = node;
		event.thread = lode_stream_tid(&stream, 1);
		lode_stream_add_event(&stream, LODE_RUN, &event);
	}
	snprintf(id, sizeof(id), "%032x", number);
	assert_int_equal(lode_corpus_add(fixture->corpus, id, "test", &stream, replace, 1, &fixture->error), 1);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static size_t count_unmatched(struct fixture *fixture)
{
	struct lode_corpus_list list;
	size_t count;

	require(fixture, lode_corpus_unmatched(fixture->corpus, &list, &fixture->error));
	count = list.count;
	lode_corpus_list_release(&list);
	return count;
}

static void refresh(struct fixture *fixture)
{
	load(fixture);
	require(fixture, lode_signatures_refresh(fixture->corpus, &fixture->signatures, 2, NULL, &fixture->error));
}

static void require_sums(struct fixture *fixture, const char *name, uint64_t streams, uint64_t cost)
{
	const struct lode_signature *signature = find(fixture, name);

	assert_non_null(signature);
	assert_int_equal(signature->streams, streams);
	assert_int_equal(signature->cost[LODE_RUN], cost);
}

static void matches_follow_every_change(void **state)
{
	static const char *const ab[] = { "a b", "a b c", "d", NULL };
	static const char *const d[] = { "d", NULL };
	struct fixture *fixture = *state;

	add_stream(fixture, 1, ab, 10, 0);
	add_stream(fixture, 2, d, 1, 0);
	assert_int_equal(count_unmatched(fixture), 0); /* there is nothing to match with */
	write_text(fixture, "signature ab\npattern\n\ta\n\tb\n");
	load(fixture);
	assert_int_equal(count_unmatched(fixture), 2);
	refresh(fixture);
	assert_int_equal(count_unmatched(fixture), 0);
	require_sums(fixture, "ab", 1, 20);
	/* What is said of it changes no matches; its patterns do; so does a new one. */
	write_text(fixture, "signature ab\nstate ignored\nbug x\npattern\n\ta\n\tb\n");
	load(fixture);
	assert_int_equal(count_unmatched(fixture), 0);
	require_sums(fixture, "ab", 1, 20);
	write_text(fixture, "signature ab\npattern\n\tb\n\tc\n");
	load(fixture);
	assert_int_equal(count_unmatched(fixture), 2);
	require_sums(fixture, "ab", 0, 0);
	refresh(fixture);
	require_sums(fixture, "ab", 1, 10);
	write_text(fixture, "signature d\npattern\n\td\nsignature ab\npattern\n\tb\n\tc\n");
	refresh(fixture);
	require_sums(fixture, "d", 2, 11);
	require_sums(fixture, "ab", 1, 10);
	/* Taking one away needs no matching; a stream that is replaced does. */
	write_text(fixture, "signature ab\npattern\n\tb\n\tc\n");
	load(fixture);
	assert_int_equal(count_unmatched(fixture), 0);
	add_stream(fixture, 2, ab, 5, 1);
	assert_int_equal(count_unmatched(fixture), 1);
	refresh(fixture);
	require_sums(fixture, "ab", 2, 15);
	/* And one that was never matched. */
	add_stream(fixture, 3, ab, 100, 0);
	refresh(fixture);
	require_sums(fixture, "ab", 3, 115);
}

/* As in a corpus that cannot be written to. */
static void sums_are_the_same_where_nothing_can_be_kept(void **state)
{
	static const char *const ab[] = { "a b", "a b c", "d", NULL };
	static const char *const d[] = { "d", NULL };
	struct fixture *fixture = *state;

	add_stream(fixture, 1, ab, 10, 0);
	add_stream(fixture, 2, d, 1, 0);
	write_text(fixture,
		   "signature ab\npattern\n\ta\n\tb\nsignature d\nsince 2020-01-01T00:00:00Z\npattern\n\td\n");
	load(fixture);
	fixture->signatures.kept = 0;
	require(fixture, lode_signatures_refresh(fixture->corpus, &fixture->signatures, 2, NULL, &fixture->error));
	require_sums(fixture, "ab", 1, 20);
	require_sums(fixture, "d", 2, 11);
	assert_int_equal(find(fixture, "d")->newer, 2);
	assert_int_equal(count_unmatched(fixture), 2);
	refresh(fixture);
	require_sums(fixture, "d", 2, 11);
	assert_int_equal(find(fixture, "d")->newer, 2);
}

static void what_signatures_cover_is_what_they_match(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 78;

	for (int round = 0; round < 100; round++) {
		struct lode_dictionary dictionary;
		struct lode_stream stream;
		uint8_t *marks;

		lode_dictionary_init(&dictionary);
		lode_stream_init(&stream, &dictionary);
		assert_int_equal(random_stream(&stream, &seed, 20), 0);
		write_random_signatures(fixture, &stream, &seed);
		load(fixture);
		for (int kind = LODE_RUN; kind <= LODE_WAIT; kind++) {
			marks = calloc(dictionary.tree.count, 1);
			assert_int_equal(lode_signatures_mark(&fixture->signatures, &dictionary, kind, marks), 0);
			for (uint32_t node = 1; node < dictionary.tree.count; node++) {
				int wanted = 0;

				for (size_t i = 0; i < fixture->signatures.count; i++)
					for (size_t p = 0; p < fixture->signatures.items[i].count; p++)
						wanted |= fixture->signatures.items[i].kinds & 1u << kind &&
							  contains(&stream, node, &fixture->signatures,
								   fixture->signatures.items[i].first + p);
				assert_int_equal(marks[node], wanted);
			}
			free(marks);
		}
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
	}
}

static void matches_of_signatures_and_streams_that_are_gone_are_not_kept(void **state)
{
	static const char *const a[] = { "a", NULL };
	struct fixture *fixture = *state;
	struct lode_catalogue *catalogue = lode_corpus_catalogue(fixture->corpus);
	struct lode_signature_match match = { .signature = 12345, .events = 1 };

	add_stream(fixture, 1, a, 10, 0);
	write_text(fixture, "signature a\npattern\n\ta\n");
	load(fixture);
	require(fixture, lode_catalogue_put_matches(catalogue, "00000000000000000000000000000001",
						    "00000000000000000000000000000001.2.lode",
						    fixture->signatures.newest, NULL, 0, &fixture->error));
	assert_int_equal(count_unmatched(fixture), 1);
	require(fixture, lode_catalogue_put_matches(catalogue, "00000000000000000000000000000002", "x",
						    fixture->signatures.newest, NULL, 0, &fixture->error));
	require(fixture, lode_catalogue_put_matches(catalogue, "00000000000000000000000000000001",
						    "00000000000000000000000000000001.lode",
						    fixture->signatures.newest - 1, &match, 1, &fixture->error));
	assert_int_equal(count_unmatched(fixture), 1);
	refresh(fixture);
	require_sums(fixture, "a", 1, 10);
}

static void a_fixed_signature_reports_streams_added_since(void **state)
{
	static const char *const a[] = { "a", NULL };
	struct fixture *fixture = *state;

	add_stream(fixture, 1, a, 10, 0);
	write_text(fixture, "signature a\nstate fixed\nsince 2020-01-01T00:00:00Z\npattern\n\ta\n");
	refresh(fixture);
	assert_int_equal(fixture->signatures.items[0].newer, 1);
	write_text(fixture, "signature a\nstate fixed\nsince 2099-01-01T00:00:00Z\npattern\n\ta\n");
	refresh(fixture);
	assert_int_equal(fixture->signatures.items[0].newer, 0);
	assert_int_equal(fixture->signatures.items[0].streams, 1);
}

/* ---- many at once, and cut off ---- */

static void signatures_made_at_once_are_all_there(void **state)
{
	struct fixture *fixture = *state;
	struct lode_signature_rows rows;

	for (int child = 0; child < 6; child++) {
		if (fork() == 0) {
			struct lode_corpus *corpus;
			int failed = lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_WRITE, &fixture->error);

			for (int i = 0; !failed && i < 12; i++) {
				char name[48];

				snprintf(name, sizeof(name), "of %d number %d", child, i);
				failed = make(corpus, name, "x y", &fixture->error);
			}
			_exit(failed ? 1 : 0);
		}
	}
	for (int child = 0; child < 6; child++) {
		int status;

		wait(&status);
		assert_int_equal(status, 0);
	}
	load(fixture);
	assert_int_equal(fixture->signatures.count, 72);
	require(fixture, lode_catalogue_signatures(lode_corpus_catalogue(fixture->corpus), &rows, &fixture->error));
	assert_int_equal(rows.count, 72);
	assert_string_equal(rows.digest, fixture->signatures.digest);
	lode_signature_rows_release(&rows);
}

static void a_command_killed_at_any_time_leaves_every_signature_it_confirmed(void **state)
{
	struct fixture *fixture = *state;
	size_t confirmed = 0;

	for (int round = 0; round < 40; round++) {
		int pipes[2], status;
		pid_t child;
		char byte;

		assert_int_equal(pipe(pipes), 0);
		child = fork();
		if (child == 0) {
			struct lode_corpus *corpus;

			if (lode_corpus_open(&corpus, fixture->path, LODE_CORPUS_WRITE, &fixture->error) == 0)
				for (int i = 0;; i++) {
					char name[48];

					snprintf(name, sizeof(name), "of %d number %d", round, i);
					if (make(corpus, name, "x y", &fixture->error) == 0 &&
					    write(pipes[1], "+", 1) != 1)
						break;
				}
			_exit(1);
		}
		close(pipes[1]);
		usleep((useconds_t)(rand() % 12000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		while (read(pipes[0], &byte, 1) == 1)
			confirmed++;
		close(pipes[0]);
		load(fixture);
		assert_true(fixture->signatures.kept);
		assert_true(fixture->signatures.count >= confirmed);
		confirmed = fixture->signatures.count;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_signature_made_stands_in_the_text_and_in_the_catalogue),
		TEST(a_name_is_taken_once),
		TEST(commands_keep_comments_order_and_lines_of_others),
		TEST(notes_are_added_kept_and_removed),
		TEST(a_text_that_a_person_edited_is_taken_over),
		TEST(a_state_says_since_when_it_holds),
		TEST(a_text_file_that_is_gone_is_made_anew),
		TEST(a_catalogue_made_anew_takes_the_signatures_from_the_text),
		TEST(a_catalogue_of_version_1_is_read_and_upgraded_when_written),
		TEST(a_catalogue_of_version_2_keeps_its_signatures_when_upgraded),
		TEST(a_catalogue_of_version_4_gets_notes_when_written),
		TEST(other_versions_and_odd_tables_are_refused),
		TEST(matches_are_those_of_the_obvious_way),
		TEST(matches_follow_every_change),
		TEST(sums_are_the_same_where_nothing_can_be_kept),
		TEST(what_signatures_cover_is_what_they_match),
		TEST(matches_of_signatures_and_streams_that_are_gone_are_not_kept),
		TEST(a_fixed_signature_reports_streams_added_since),
		TEST(signatures_made_at_once_are_all_there),
		TEST(a_command_killed_at_any_time_leaves_every_signature_it_confirmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
