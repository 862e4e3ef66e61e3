/* The pattern file: what is written reads back the same, and every slip gets a sentence with its line. */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "pattern_group.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
	struct lode_frames frames;
	struct lode_pattern_file file;
	struct lode_error error;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return lode_frames_init(&fixture->frames);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lode_pattern_file_release(&fixture->file);
	lode_frames_release(&fixture->frames);
	free(fixture);
	return 0;
}

static void parse_bytes(struct fixture *fixture, const char *text, size_t size)
{
	/* A copy of exactly this size, so that a read past the end is seen. */
	char *copy = malloc(size + 1);
	int code;

	memcpy(copy, text, size);
	lode_pattern_file_release(&fixture->file);
	code = lode_pattern_file_parse(&fixture->file, "FILE", copy, size, &fixture->frames, &fixture->error);
	free(copy);
	if (code)
		fail_msg("%s", fixture->error.text);
}

static void parse(struct fixture *fixture, const char *text)
{
	parse_bytes(fixture, text, strlen(text));
}

/* All of the file as one text: `signature NAME bug BUG ...|frame,frame|frame;`. */
static const char *summary(struct fixture *fixture)
{
	static struct lode_buffer buffer;
	struct lode_pattern_file *file = &fixture->file;

	lode_buffer_clear(&buffer);
	for (size_t i = 0; i < file->count; i++) {
		const struct lode_pattern_group *group = &file->groups[i];

		lode_buffer_print(&buffer, "%s[%s]", group->type, group->name ? group->name : "-");
		lode_buffer_print(&buffer, "%s %s %s %s %s", group->bug ? group->bug : "-",
				  group->state ? group->state : "-", group->since ? group->since : "-",
				  group->kind ? group->kind : "-", group->made ? group->made : "-");
		for (size_t k = 0; k < group->count; k++) {
			const uint32_t *frames = lode_pattern_frames(&file->patterns, group->first + k);

			for (uint32_t f = 0; f < file->patterns.items[group->first + k].length; f++) {
				lode_buffer_byte(&buffer, f ? ',' : '|');
				lode_frames_text(&fixture->frames, frames[f], &buffer);
			}
		}
		lode_buffer_byte(&buffer, ';');
	}
	lode_buffer_byte(&buffer, '\0');
	return buffer.bytes;
}

static void require_failure(struct fixture *fixture, const char *text, size_t size, const char *words)
{
	lode_pattern_file_release(&fixture->file);
	assert_int_equal(lode_pattern_file_parse(&fixture->file, "FILE", text, size, &fixture->frames,
						 &fixture->error),
			 LODE_BAD_INPUT);
	if (!strstr(fixture->error.text, words))
		fail_msg("'%s' is not in '%s'", words, fixture->error.text);
}

static void the_example_of_the_manual_is_read(void **state)
{
	parse(*state, "# found by Ann\n"
		      "signature short names in hash\n"
		      "bug https://bugs.example/123\n"
		      "state open\n"
		      "since 2026-02-01T12:00:00Z\n"
		      "kind wait\n"
		      "made 2026-01-31T12:00:00Z\n"
		      "pattern\n"
		      "\tapp!main\n"
		      "\tapp!GetHashCode\n"
		      "\n"
		      "# the other way there\n"
		      "pattern\n"
		      "\tapp!main\n"
		      "cluster 0123456789ab\n"
		      "pattern\n"
		      "    lib!x y\n");
	assert_string_equal(summary(*state), "signature[short names in hash]https://bugs.example/123 open "
					     "2026-02-01T12:00:00Z wait 2026-01-31T12:00:00Z"
					     "|app!main,app!GetHashCode|app!main;"
					     "cluster[0123456789ab]- - - - -|lib!x y;");
}

static void bare_frames_parted_by_blank_lines_are_patterns(void **state)
{
	struct fixture *fixture = *state;

	parse(fixture, "\n# comment\napp!main\n  app!load  \n# inside\nlibc!read\n \t\n\nother\n");
	assert_string_equal(summary(fixture), "[-]- - - - -|app!main,app!load,libc!read|other;");
	assert_int_equal(fixture->file.groups[0].line, 3);
	parse(fixture, "\tpattern\n\tsignature x");
	assert_string_equal(summary(fixture), "[-]- - - - -|pattern,signature x;");
}

static void patterns_need_no_group(void **state)
{
	parse(*state, "pattern\n\ta\npattern\n\tb\nsignature s\npattern\n\tc\n");
	assert_string_equal(summary(*state), "[-]- - - - -|a|b;signature[s]- - - - -|c;");
}

static void a_file_of_nothing_has_no_patterns(void **state)
{
	struct fixture *fixture = *state;

	parse(fixture, "");
	assert_int_equal(fixture->file.count, 0);
	parse(fixture, "\n \n# comment");
	assert_int_equal(fixture->file.count, 0);
	assert_int_equal(fixture->file.patterns.count, 0);
}

static void windows_lines_and_a_missing_last_line_end_change_nothing(void **state)
{
	struct fixture *fixture = *state;

	parse(fixture, "\xef\xbb\xbfsignature a b\r\nstate fixed\r\n\r\npattern\r\n\tx\r\n\ty");
	assert_string_equal(summary(fixture), "signature[a b]- fixed - - -|x,y;");
	assert_int_equal(fixture->file.groups[0].start, 3);
}

static void bytes_that_are_no_utf8_stay_as_they_are(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t *frames;

	parse(fixture, "pattern\n\t\xff\xfe!\xc3(\n\t\\xff!\\x41\\\\\\n\\t\n");
	frames = lode_pattern_frames(&fixture->file.patterns, 0);
	assert_string_equal(lode_frames_module_name(&fixture->frames, frames[0]), "\xff\xfe");
	assert_string_equal(lode_frames_function(&fixture->frames, frames[0]), "\xc3(");
	assert_string_equal(lode_frames_module_name(&fixture->frames, frames[1]), "\xff");
	assert_string_equal(lode_frames_function(&fixture->frames, frames[1]), "A\\\n\t");
}

static void a_group_knows_its_place_in_the_text(void **state)
{
	struct fixture *fixture = *state;
	const char text[] = "# top\nsignature a\npattern\n\tx\n\n# of b\nsignature b\npattern\n\ty\n# end\n";

	parse(fixture, text);
	assert_int_equal(fixture->file.groups[0].line, 2);
	assert_int_equal(fixture->file.groups[1].line, 7);
	assert_memory_equal(text + fixture->file.groups[0].start, "signature a\n", 12);
	assert_memory_equal(text + fixture->file.groups[0].end - 2, "x\n\n", 3);
	assert_memory_equal(text + fixture->file.groups[1].start, "signature b\n", 12);
	assert_memory_equal(text + fixture->file.groups[1].end, "# end\n", 6);
}

static void every_slip_gets_a_sentence_with_its_line(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} slips[] = {
		{ "signature\npattern\n\tx\n", "FILE:1: a signature without a name" },
		{ "signature a\n", "FILE:1: a signature without a pattern" },
		{ "signature a\nsignature b\npattern\n\tx\n", "FILE:1: a signature without a pattern" },
		{ "signature a\npattern\n\n", "FILE:2: a pattern without a frame" },
		{ "signature a\npattern\npattern\n\tx\n", "FILE:2: a pattern without a frame" },
		{ "signature a\n\tx\n", "FILE:2: a frame without a pattern" },
		{ "signature a\nstate closed\n", "FILE:2: 'closed' is not a state" },
		{ "signature a\nstate\n", "FILE:2: 'state' needs a value" },
		{ "signature a\nkind call\n", "FILE:2: 'call' is not a kind" },
		{ "signature a\nmade yesterday\n", "FILE:2: 'yesterday' is not a time" },
		{ "signature a\nmade 2026-13-01T00:00:00Z\n", "is not a time" },
		{ "signature a\nmade 2026-12-01T24:00:00Z\n", "is not a time" },
		{ "signature a\nbug x\nbug y\n", "FILE:3: a second 'bug'" },
		{ "signature a\npattern\n\tx\nstate open\n", "FILE:4: 'state' comes after a pattern" },
		{ "state open\n", "FILE:1: 'state' comes before any signature" },
		{ "pattern\n\tx\nbug y\n", "FILE:3: 'bug' comes before any signature" },
		{ "signature a\nstat open\n", "FILE:2: 'stat' is not a keyword" },
		{ "pattern app!main\n", "FILE:1: 'app!main' after 'pattern'" },
		{ "app!main\npattern\n", "FILE:2: 'pattern' among bare frames" },
		{ "\tapp!main\n\nsignature x\n", "FILE:3: 'signature' among bare frames" },
		{ "pattern\n\ta\\qb\n", "FILE:2: a backslash" },
		{ "pattern\n\ta\\", "FILE:2: a backslash" },
		{ "pattern\n\ta\\x4", "FILE:2: a backslash" },
		{ "pattern\n\ta\\x4g\n", "FILE:2: a backslash" },
		{ "pattern\n\ta\\x00b\n", "FILE:2: \\x00 means a NUL" },
		{ "signature a\\", "FILE:1: a backslash" },
	};

	for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
		require_failure(*state, slips[i].text, strlen(slips[i].text), slips[i].words);
	require_failure(*state, "pattern\n\ta\0b\n", 13, "FILE:2: a NUL byte");
	require_failure(*state, "# a\0b\n", 6, "FILE:1: a NUL byte");
}

static void a_pattern_longer_than_any_stack_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct lode_buffer text = { 0 };

	lode_buffer_text(&text, "pattern\n");
	for (int i = 0; i < LODE_STACK_DEPTH_LIMIT; i++)
		lode_buffer_text(&text, "\tf\n");
	parse_bytes(fixture, text.bytes, text.size);
	assert_int_equal(fixture->file.patterns.items[0].length, LODE_STACK_DEPTH_LIMIT);
	lode_buffer_text(&text, "\tf\n");
	require_failure(fixture, text.bytes, text.size, "FILE:16386: a pattern of more than 16384 frames");
	lode_buffer_release(&text);
}

static void a_line_of_a_gigabyte_is_refused_without_being_read_into_memory(void **state)
{
	struct fixture *fixture = *state;
	char folder[64], path[96];
	int fd;

	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/long", folder);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "pattern\n\tx", 10), 10);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	close(fd);
	lode_memory_fail_at(0, 0);
	assert_int_equal(lode_pattern_file_read(&fixture->file, path, &fixture->frames, &fixture->error),
			 LODE_BAD_INPUT);
	assert_non_null(strstr(fixture->error.text, "long:2: a line of more than 256 MiB"));
	unlink(path);
	assert_int_equal(lode_pattern_file_read(&fixture->file, path, &fixture->frames, &fixture->error),
			 LODE_SYSTEM);
	rmdir(folder);
}

/* ---- round trips ---- */

/* Text of characters that hurt; never empty unless `may_be_empty`. */
static char *odd_text(uint64_t *seed, int may_be_empty)
{
	static const char *const bits[] = { "a",       "B",    " ",    "\t",   "\n",           "\r",
					    "\\",      "\\n",  "#",    "!",    "\"",           "'",
					    "<b>",     "&lt",  "\xff", "\xc3", "\xe2\x82\xac", "\x01",
					    "::",      "\x7f", "\\x4", "(",    "pattern",      "x",
					    "operator" };
	struct lode_buffer buffer = { 0 };
	uint64_t count = random_below(seed, 5) + (may_be_empty ? 0 : 1);

	for (uint64_t i = 0; i < count; i++)
		lode_buffer_text(&buffer, bits[random_below(seed, sizeof(bits) / sizeof(bits[0]))]);
	lode_buffer_byte(&buffer, '\0');
	return buffer.bytes;
}

static const char *one_of(uint64_t *seed, const char *const *words, size_t count)
{
	return words[random_below(seed, count)];
}

struct random_file {
	struct lode_pattern_group groups[5];
	char *texts[5][2];
	const char *notes[10]; /* the name and the bug of the first groups again */
	size_t note_count;
	size_t count;
	struct lode_patterns patterns;
};

static void make_random_file(struct random_file *file, struct lode_frames *frames, uint64_t *seed)
{
	static const char *const states[] = { "open", "fixed", "ignored", NULL };
	static const char *const kinds[] = { "run", "wait", NULL };
	static const char *const times[] = { "2026-01-31T12:00:00Z", "1999-12-31T23:59:59Z", NULL };

	memset(file, 0, sizeof(*file));
	file->count = random_below(seed, 5) + 1;
	for (size_t i = 0; i < file->count; i++) {
		struct lode_pattern_group *group = &file->groups[i];

		group->type = random_below(seed, 2) ? "signature" : "cluster";
		if (!i && random_below(seed, 2))
			group->type = "";
		file->texts[i][0] = odd_text(seed, 0);
		file->texts[i][1] = odd_text(seed, 0);
		if (*group->type) {
			group->name = file->texts[i][0];
			group->bug = random_below(seed, 2) ? file->texts[i][1] : NULL;
			group->state = one_of(seed, states, 4);
			group->kind = one_of(seed, kinds, 3);
			group->since = one_of(seed, times, 3);
			group->made = one_of(seed, times, 3);
			group->first_note = file->note_count;
			group->note_count = random_below(seed, 3);
			for (size_t k = 0; k < group->note_count; k++)
				file->notes[file->note_count++] = file->texts[i][k];
		}
		group->first = file->patterns.count;
		group->count = random_below(seed, 3) + 1;
		for (size_t k = 0; k < group->count; k++) {
			uint32_t sequence[4], length = (uint32_t)random_below(seed, 4) + 1;

			for (uint32_t f = 0; f < length; f++) {
				char *text = odd_text(seed, 1);

				sequence[f] = lode_frames_parse(frames, text, strlen(text));
				lode_free(text);
			}
			assert_int_equal(lode_patterns_add(&file->patterns, sequence, length, 0), 0);
		}
	}
}

static void release_random_file(struct random_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		lode_free(file->texts[i][0]);
		lode_free(file->texts[i][1]);
	}
	lode_patterns_release(&file->patterns);
}

static void require_text(const char *left, const char *right)
{
	if (left && right)
		assert_string_equal(left, right);
	else
		assert_true(left == right);
}

static void require_same(const struct random_file *wanted, const struct lode_pattern_file *got)
{
	assert_int_equal(wanted->count, got->count);
	assert_int_equal(wanted->patterns.count, got->patterns.count);
	for (size_t i = 0; i < wanted->count; i++) {
		assert_string_equal(wanted->groups[i].type, got->groups[i].type);
		require_text(wanted->groups[i].name, got->groups[i].name);
		require_text(wanted->groups[i].bug, got->groups[i].bug);
		require_text(wanted->groups[i].state, got->groups[i].state);
		require_text(wanted->groups[i].kind, got->groups[i].kind);
		require_text(wanted->groups[i].since, got->groups[i].since);
		require_text(wanted->groups[i].made, got->groups[i].made);
		assert_int_equal(wanted->groups[i].note_count, got->groups[i].note_count);
		for (size_t k = 0; k < wanted->groups[i].note_count; k++)
			assert_string_equal(wanted->notes[wanted->groups[i].first_note + k],
					    got->notes[got->groups[i].first_note + k]);
		assert_int_equal(wanted->groups[i].first, got->groups[i].first);
		assert_int_equal(wanted->groups[i].count, got->groups[i].count);
	}
	for (size_t i = 0; i < wanted->patterns.count; i++) {
		assert_int_equal(wanted->patterns.items[i].length, got->patterns.items[i].length);
		assert_memory_equal(lode_pattern_frames(&wanted->patterns, i),
				    lode_pattern_frames(&got->patterns, i),
				    wanted->patterns.items[i].length * sizeof(uint32_t));
	}
}

static void what_is_written_reads_back_the_same(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 11;

	for (int round = 0; round < 5000; round++) {
		struct lode_buffer text = { 0 };
		struct random_file file;

		make_random_file(&file, &fixture->frames, &seed);
		for (size_t i = 0; i < file.count; i++)
			write_group(&file.groups[i], file.notes, &file.patterns, &fixture->frames, &text);
		parse_bytes(fixture, text.bytes, text.size);
		require_same(&file, &fixture->file);
		lode_buffer_release(&text);
		release_random_file(&file);
	}
}

/* A written line holds only what a terminal and an editor show as it is. */
static void what_is_written_is_plain_lines(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 12;

	for (int round = 0; round < 500; round++) {
		struct lode_buffer text = { 0 };
		struct random_file file;

		make_random_file(&file, &fixture->frames, &seed);
		for (size_t i = 0; i < file.count; i++)
			write_group(&file.groups[i], file.notes, &file.patterns, &fixture->frames, &text);
		for (size_t i = 0; i < text.size; i++) {
			unsigned char c = (unsigned char)text.bytes[i];

			assert_true((c >= ' ' && c != 0x7f) || c == '\n' ||
				    (c == '\t' && text.bytes[i - 1] == '\n'));
			assert_false(c == '\n' && (text.bytes[i - 1] == ' ' || text.bytes[i - 1] == '\t'));
		}
		lode_buffer_release(&text);
		release_random_file(&file);
	}
}

static void memory_that_runs_out_anywhere_is_a_clean_error(void **state)
{
	static const char text[] =
		"signature a\\tb\nbug x\nstate open\nkind run\nmade 2026-01-31T12:00:00Z\nnote y\npattern\n"
		"\tm!one\n\tm!two\nsignature c\npattern\n\tn!three\n";
	struct fixture *fixture = *state;

	for (uint64_t nth = 1; nth < 1000; nth++) {
		struct lode_buffer written = { 0 };
		struct lode_frames frames = { 0 };
		int code;

		lode_memory_fail_at(nth, 0);
		code = lode_frames_init(&frames);
		if (!code)
			code = lode_pattern_file_parse(&fixture->file, "FILE", text, sizeof(text) - 1, &frames,
						       &fixture->error);
		for (size_t i = 0; !code && i < fixture->file.count; i++)
			write_group(&fixture->file.groups[i], fixture->file.notes, &fixture->file.patterns,
				    &frames, &written);
		if (lode_memory_asked() < nth) {
			lode_memory_fail_at(0, 0);
			assert_int_equal(code, 0);
			assert_int_equal(written.size, sizeof(text) - 1);
			assert_memory_equal(written.bytes, text, written.size);
			nth = 1000;
		} else {
			lode_memory_fail_at(0, 0);
			assert_true(code == LODE_SYSTEM || written.failed);
		}
		lode_pattern_file_release(&fixture->file);
		lode_buffer_release(&written);
		lode_frames_release(&frames);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_example_of_the_manual_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bare_frames_parted_by_blank_lines_are_patterns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(patterns_need_no_group, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_of_nothing_has_no_patterns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(windows_lines_and_a_missing_last_line_end_change_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(bytes_that_are_no_utf8_stay_as_they_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_group_knows_its_place_in_the_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_slip_gets_a_sentence_with_its_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pattern_longer_than_any_stack_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_of_a_gigabyte_is_refused_without_being_read_into_memory,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_reads_back_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_is_plain_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_that_runs_out_anywhere_is_a_clean_error, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
