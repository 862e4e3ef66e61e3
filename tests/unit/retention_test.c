/*
 * What a flight recorder may write and what of it stays: rates, limits, and taking
 * streams out of a corpus; rules; and the files that are held open.
 */
#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"

#include "../../include/lode_mark.h"

#include "base/random.h"
#include "base/units.h"
#include "process/held_files.h"
#include "watch/baseline.h"
#include "watch/retention.h"
#include "watch/rules.h"
#include "symbols/mark_notes.h"
#include "store/corpus_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define HOUR   (3600 * SECOND)

/* ---- the baseline ---- */

static void one_hour_in_a_hundred_is_drawn_for_each_host(void **state)
{
	struct lode_baseline baseline;
	unsigned drawn[2] = { 0 }, both = 0;

	(void)state;
	assert_int_equal(lode_baseline_parse(&baseline, "1%", NULL), 0);
	assert_int_equal(baseline.one_in, 100);
	for (uint64_t hour = 0; hour < 200000; hour++) {
		uint64_t a = lode_baseline_moment(&baseline, "a", hour * 3600),
			 b = lode_baseline_moment(&baseline, "b", hour * 3600);

		assert_true(!a || a / 3600 == hour);
		drawn[0] += a != 0;
		drawn[1] += b != 0;
		both += a && b;
	}
	/* 2000 +- 44 each and 20 +- 4.5 of both: no host follows another. */
	assert_in_range(drawn[0], 1800, 2200);
	assert_in_range(drawn[1], 1800, 2200);
	assert_in_range(both, 1, 45);
}

static void the_moment_of_a_baseline_is_due_once_whatever_the_clock_does(void **state)
{
	struct lode_baseline baseline;
	uint64_t moment, first = 1000 * 3600;
	unsigned due = 0;

	(void)state;
	assert_int_equal(lode_baseline_parse(&baseline, "100%", NULL), 0);
	moment = lode_baseline_moment(&baseline, "a", first);
	assert_false(lode_baseline_is_due(&baseline, "a", first + 3599)); /* it may have passed before the start */
	assert_false(lode_baseline_is_due(&baseline, "a", first - 1));    /* set back */
	for (uint64_t now = first; now < first + 3600; now++)
		due += (unsigned)lode_baseline_is_due(&baseline, "a", now);
	assert_int_equal(due, 1);
	assert_false(lode_baseline_is_due(&baseline, "a", moment));
	assert_int_equal(lode_baseline_parse(&baseline, "2", NULL), LODE_USAGE);
	assert_int_equal(lode_baseline_parse(&baseline, "0%", NULL), LODE_USAGE);
}

/* ---- rates ---- */

/* Against all times that were let through: in no hour more than allowed, and none refused that could have
 * been. */
static void no_hour_has_more_than_was_allowed(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (size_t limit = 1; limit <= 9; limit++) {
		uint64_t taken[4000], now = 0;
		size_t count = 0;
		struct lode_rate rate;

		assert_int_equal(lode_rate_init(&rate, limit), 0);
		for (int i = 0; i < 4000; i++) {
			size_t within = 0;

			now += lode_splitmix64(&random) % (lode_splitmix64(&random) % 8 ? HOUR / 50 : HOUR);
			for (size_t j = 0; j < count; j++)
				within += now - taken[j] < HOUR;
			assert_int_equal(lode_rate_take(&rate, now), within < limit);
			if (within < limit)
				taken[count++] = now;
		}
		lode_rate_release(&rate);
	}
}

static void a_rate_without_a_limit_lets_all_through(void **state)
{
	struct lode_rate rate;

	(void)state;
	assert_int_equal(lode_rate_init(&rate, 0), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(lode_rate_take(&rate, 5));
	lode_rate_release(&rate);
}

/* ---- limits ---- */

static void limits_are_read_or_refused(void **state)
{
	static const char *const wrong[] = { "", "0", "0MB", "0s", "x", "12x", "5 MB", "-3", "1e3", "d" };
	struct lode_error error;
	struct lode_retention keep = { 0 };

	(void)state;
	assert_int_equal(lode_retention_parse(&keep, "20", &error), 0);
	assert_int_equal(lode_retention_parse(&keep, "1.5GB", &error), 0);
	assert_int_equal(lode_retention_parse(&keep, "36h", &error), 0);
	assert_int_equal(keep.count, 20);
	assert_int_equal(keep.bytes, 1500000000);
	assert_int_equal(keep.seconds, 36 * 3600);
	assert_int_equal(lode_retention_parse(&keep, "7d", &error), 0);
	assert_int_equal(keep.seconds, 7 * 86400);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(lode_retention_parse(&keep, wrong[i], &error), LODE_USAGE);
}

static void sizes_are_read(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(lode_bytes_parse("64MB", &bytes, NULL), 0);
	assert_int_equal(bytes, 64000000);
	assert_int_equal(lode_bytes_parse("0.5k", &bytes, NULL), 0);
	assert_int_equal(bytes, 500);
	assert_int_equal(lode_bytes_parse("123", &bytes, NULL), 0);
	assert_int_equal(bytes, 123);
	assert_int_equal(lode_bytes_parse("99999999999999999999", &bytes, NULL), LODE_USAGE);
	assert_int_equal(lode_bytes_parse("20000000TB", &bytes, NULL), LODE_USAGE);
	assert_int_equal(lode_bytes_parse("B", &bytes, NULL), LODE_USAGE);
	assert_int_equal(lode_bytes_parse("1 MB", &bytes, NULL), LODE_USAGE);
}

/* ---- streams ---- */

struct fixture {
	char path[64];
	struct lode_corpus *corpus;
	char ids[16][33];
	size_t count;
};

/* A stream of a watch on a host, the newest so far. */
static void add_stream(struct fixture *fixture, const char *watch, const char *host)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint64_t seed = fixture->count + 1;
	struct lode_event event = { .t = 1000 + fixture->count, .waker = LODE_NONE };
	char *id = fixture->ids[fixture->count++];

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	stream.name = lode_strings_add(&dictionary.frames.strings, "stream", 6);
	stream.host = lode_strings_add(&dictionary.frames.strings, host, strlen(host));
	event.thread = lode_stream_thread(&stream, 1, 1);
	assert_int_equal(lode_stream_add_event(&stream, LODE_RUN, &event), 0);
	if (watch)
		assert_int_equal(lode_stream_set_attribute(&stream, LODE_WATCH_ATTRIBUTE, watch,
							   LODE_ATTRIBUTE_TEXT),
				 0);
	snprintf(id, 33, "%016llx%016llx", (unsigned long long)lode_splitmix64(&seed),
		 (unsigned long long)lode_splitmix64(&seed));
	assert_int_equal(lode_corpus_add(fixture->corpus, id, "test", &stream, 0, 1, NULL), 1);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

static void open_corpus(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(temporary_folder(fixture->path, sizeof(fixture->path)), 0);
	assert_int_equal(lode_corpus_open(&fixture->corpus, fixture->path, LODE_CORPUS_CREATE, NULL), 0);
}

static void close_corpus(struct fixture *fixture)
{
	lode_corpus_close(fixture->corpus);
	assert_int_equal(temporary_remove(fixture->path), 0);
}

static int has(struct fixture *fixture, size_t i)
{
	char path[160];
	int found = lode_corpus_has(fixture->corpus, fixture->ids[i], NULL);

	snprintf(path, sizeof(path), "%s/streams/%s.lode", fixture->path, fixture->ids[i]);
	assert_int_equal(access(path, F_OK) == 0, found);
	return found;
}

static void a_stream_that_is_removed_leaves_neither_row_nor_file(void **state)
{
	struct fixture fixture;

	(void)state;
	open_corpus(&fixture);
	add_stream(&fixture, "a", "h");
	add_stream(&fixture, "a", "h");
	assert_int_equal(lode_corpus_remove(fixture.corpus, fixture.ids[0], NULL), 1);
	assert_int_equal(lode_corpus_remove(fixture.corpus, fixture.ids[0], NULL), 0);
	assert_false(has(&fixture, 0));
	assert_true(has(&fixture, 1));
	close_corpus(&fixture);
}

static void only_the_oldest_of_this_watch_go(void **state)
{
	struct lode_retention keep = { .count = 2 };
	struct fixture fixture;

	(void)state;
	open_corpus(&fixture);
	add_stream(&fixture, "mine", "here");
	add_stream(&fixture, "other", "here");
	add_stream(&fixture, NULL, "here");
	add_stream(&fixture, "mine", "elsewhere");
	for (int i = 0; i < 3; i++)
		add_stream(&fixture, "mine", "here");
	assert_int_equal(lode_retention_apply(&keep, fixture.corpus, "mine", "here", 0, NULL), 2);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(has(&fixture, i), i != 0 && i != 4);
	assert_int_equal(lode_retention_apply(&keep, fixture.corpus, "mine", "here", 0, NULL), 0);
	close_corpus(&fixture);
}

static void the_newest_stays_whatever_its_size_or_age(void **state)
{
	struct lode_retention small = { .bytes = 1 }, young = { .seconds = 1 }, none = { 0 };
	struct fixture fixture;

	(void)state;
	open_corpus(&fixture);
	add_stream(&fixture, "a", "h");
	add_stream(&fixture, "a", "h");
	add_stream(&fixture, "a", "h");
	assert_int_equal(lode_retention_apply(&none, fixture.corpus, "a", "h", UINT64_MAX / 2, NULL), 0);
	assert_int_equal(lode_retention_apply(&young, fixture.corpus, "a", "h", 0, NULL), 0);
	assert_int_equal(lode_retention_apply(&small, fixture.corpus, "a", "h", 0, NULL), 2);
	assert_true(has(&fixture, 2));
	add_stream(&fixture, "a", "h");
	assert_int_equal(lode_retention_apply(&young, fixture.corpus, "a", "h", UINT64_MAX / 2, NULL), 1);
	assert_true(has(&fixture, 3));
	close_corpus(&fixture);
}

static void memory_that_runs_out_removes_nothing_by_halves(void **state)
{
	struct lode_retention keep = { .count = 1 };

	(void)state;
	for (uint64_t nth = 1; nth < 40; nth++) {
		struct fixture fixture;
		struct lode_error error;
		int code;

		open_corpus(&fixture);
		for (int i = 0; i < 3; i++)
			add_stream(&fixture, "a", "h");
		lode_memory_fail_at(nth, 1);
		code = lode_retention_apply(&keep, fixture.corpus, "a", "h", 0, &error);
		lode_memory_fail_at(0, 0);
		assert_true(code == 2 || code == LODE_SYSTEM);
		assert_int_equal(lode_corpus_has(fixture.corpus, fixture.ids[2], NULL), 1);
		close_corpus(&fixture);
		if (code == 2)
			return;
	}
	fail_msg("it never came to an end");
}

/* ---- rules ---- */

static void check_rule(const char *text, enum lode_record_rule_type type, const char *name, const char *binary,
		       uint64_t limit)
{
	struct lode_record_rule rule;
	struct lode_error error;

	assert_int_equal(lode_record_rule_parse(&rule, text, &error), 0);
	assert_int_equal(rule.type, type);
	assert_int_equal(rule.limit, limit);
	assert_int_equal(rule.length, name ? strlen(name) : 0);
	assert_true(name ? !memcmp(rule.name, name, rule.length) : !rule.name);
	assert_int_equal(rule.binary_length, binary ? strlen(binary) : 0);
	assert_true(!binary || !memcmp(rule.binary, binary, rule.binary_length));
}

static void rules_say_what_is_too_slow(void **state)
{
	(void)state;
	check_rule("thread gui wait > 50ms", LODE_RULE_WAIT, "gui", NULL, 50000000);
	check_rule("  thread  Web Content  wait>1us", LODE_RULE_WAIT, "Web Content", NULL, 1000);
	check_rule("thread wait wait > 5ns", LODE_RULE_WAIT, "wait", NULL, 5);
	check_rule("thread a>b queue > 5ns", LODE_RULE_QUEUE, "a>b", NULL, 5);
	check_rule("wait > 2s", LODE_RULE_WAIT, NULL, NULL, 2000000000);
	check_rule("queue > 2s", LODE_RULE_QUEUE, NULL, NULL, 2000000000);
	check_rule("thread waits", LODE_RULE_THREAD, "waits", NULL, 0);
	check_rule("thread a > b", LODE_RULE_THREAD, "a > b", NULL, 0);
	check_rule("run > 2s", LODE_RULE_RUN, NULL, NULL, 2000000000);
	check_rule("mark load page > 1ms", LODE_RULE_MARK, "load page", NULL, 1000000);
	check_rule("/bin/app:f > 1ms", LODE_RULE_FUNCTION, "f", "/bin/app", 1000000);
	check_rule("function app:ns::f<int>(int) > 1ms", LODE_RULE_FUNCTION, "ns::f<int>(int)", "app", 1000000);
	check_rule("run:main > 1ms", LODE_RULE_FUNCTION, "main", "run", 1000000);
}

static void limits_for_the_kernel_follow_from_rules(void **state)
{
	struct lode_record_rule rule;
	struct lode_record_limit limit;

	(void)state;
	assert_int_equal(lode_record_rule_parse(&rule, "thread fifteen letters wait > 7ns", NULL), 0);
	limit = lode_record_rule_limit(&rule);
	assert_int_equal(limit.type, LODE_LIMIT_WAIT);
	assert_int_equal(limit.limit, 7);
	assert_false(limit.any);
	assert_memory_equal(limit.name, "fifteen letters\0", 16);
	assert_int_equal(lode_record_rule_parse(&rule, "queue > 7ns", NULL), 0);
	limit = lode_record_rule_limit(&rule);
	assert_int_equal(limit.type, LODE_LIMIT_QUEUE);
	assert_true(limit.any);
	assert_int_equal(lode_record_rule_parse(&rule, "mark x > 7ns", NULL), 0);
	assert_int_equal(lode_record_rule_limit(&rule).type, LODE_LIMIT_SPAN);
	assert_true(lode_record_rule_is_limit(&rule));
	assert_int_equal(lode_record_rule_parse(&rule, "run > 7ns", NULL), 0);
	assert_int_equal(lode_record_rule_limit(&rule).type, LODE_LIMIT_NONE);
	assert_false(lode_record_rule_is_limit(&rule));
}

/* ---- files ---- */

static void see(struct lode_held_files *files, char *path, uint32_t pid, uint64_t t)
{
	struct lode_change change = { .type = LODE_CHANGE_MAP, .t = t, .pid = pid, .tid = pid, .text = path };

	assert_int_equal(lode_held_files_see(files, &change), 0);
}

static void a_file_is_held_until_its_process_is_long_gone(void **state)
{
	struct lode_held_files *files = calloc(1, sizeof(*files));
	char folder[64], path[96], other[] = "/no/such/file";
	int fd;

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	snprintf(path, sizeof(path), "%s/program", folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	lode_held_files_init(files);
	see(files, other, (uint32_t)getpid(), 1);
	see(files, path, (uint32_t)getpid(), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(lode_held_files_open(files, other, ""), -1);
	assert_int_equal(lode_held_files_open(files, path, "00"), -1);
	fd = lode_held_files_open(files, path, "");
	assert_true(fd >= 0);
	close(fd);
	lode_held_files_tidy(files, 100 * SECOND, SECOND);
	assert_int_equal(files->items[0].gone, 0);
	see(files, path, 5000000, 2); /* a number that no process has */
	lode_held_files_tidy(files, 110 * SECOND, SECOND);
	lode_held_files_tidy(files, 110 * SECOND + 5, SECOND);
	assert_non_null(files->items[0].path);
	lode_held_files_tidy(files, 112 * SECOND, SECOND);
	assert_null(files->items[0].path);
	lode_held_files_release(files);
	free(files);
	rmdir(folder);
}

static void no_more_files_are_held_than_there_is_room_for(void **state)
{
	struct lode_held_files *files = calloc(1, sizeof(*files));
	char folder[64], path[96];
	int fd;

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	lode_held_files_init(files);
	for (uint32_t i = 0; i < LODE_HELD_FILES + 10; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
		see(files, path, (uint32_t)getpid(), i + 1);
		fd = lode_held_files_open(files, path, "");
		assert_true(fd >= 0);
		close(fd);
	}
	for (uint32_t i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		fd = lode_held_files_open(files, path, "");
		assert_int_equal(fd >= 0, i >= 10);
		close(fd);
	}
	lode_held_files_release(files);
	free(files);
	assert_int_equal(temporary_remove(folder), 0);
}

static void what_is_no_program_has_no_marks(void **state)
{
	struct lode_marks marks;

	(void)state;
	assert_int_equal(lode_marks_read(&marks, "/no/such/file"), 0);
	assert_int_equal(marks.count, 0);
	lode_marks_release(&marks);
	assert_int_equal(lode_marks_read(&marks, "/proc/self/maps"), 0);
	assert_int_equal(marks.count, 0);
	lode_marks_release(&marks);
}

/* The instruction at an offset of our own file does nothing. */
static int is_mark_at(uint64_t offset)
{
#if defined(__aarch64__)
	static const unsigned char nothing[] = { 0x1f, 0x20, 0x03, 0xd5 };
#else
	static const unsigned char nothing[] = { 0x90 };
#endif
	unsigned char bytes[sizeof(nothing)];
	int fd = open("/proc/self/exe", O_RDONLY);
	ssize_t size = pread(fd, bytes, sizeof(bytes), (off_t)offset);

	close(fd);
	return size == (ssize_t)sizeof(bytes) && !memcmp(bytes, nothing, sizeof(bytes));
}

static void the_marks_of_a_program_are_where_it_has_them(void **state)
{
	struct lode_marks marks;
	int begins = 0, ends = 0;

	(void)state;
	LODE_MARK_SCOPE("a test")
	{
		assert_int_equal(lode_marks_read(&marks, "/proc/self/exe"), 0);
	}
	for (size_t i = 0; i < marks.count; i++) {
		assert_string_equal(marks.items[i].name, "a test");
		assert_true(is_mark_at(marks.items[i].offset));
		begins += !marks.items[i].end;
		ends += marks.items[i].end;
	}
	assert_true(begins >= 1 && ends >= 1);
	lode_marks_release(&marks);
}

static void memory_that_runs_out_while_marks_are_read_is_reported(void **state)
{
	struct lode_marks marks;
	int code = LODE_SYSTEM;

	(void)state;
	for (uint64_t nth = 1; code; nth++) {
		lode_memory_fail_at(nth, 1);
		code = lode_marks_read(&marks, "/proc/self/exe");
		lode_memory_fail_at(0, 0);
		assert_true(nth < 100);
	}
	lode_marks_release(&marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hour_in_a_hundred_is_drawn_for_each_host),
		cmocka_unit_test(the_moment_of_a_baseline_is_due_once_whatever_the_clock_does),
		cmocka_unit_test(no_hour_has_more_than_was_allowed),
		cmocka_unit_test(a_rate_without_a_limit_lets_all_through),
		cmocka_unit_test(limits_are_read_or_refused),
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(a_stream_that_is_removed_leaves_neither_row_nor_file),
		cmocka_unit_test(only_the_oldest_of_this_watch_go),
		cmocka_unit_test(the_newest_stays_whatever_its_size_or_age),
		cmocka_unit_test(memory_that_runs_out_removes_nothing_by_halves),
		cmocka_unit_test(rules_say_what_is_too_slow),
		cmocka_unit_test(limits_for_the_kernel_follow_from_rules),
		cmocka_unit_test(a_file_is_held_until_its_process_is_long_gone),
		cmocka_unit_test(no_more_files_are_held_than_there_is_room_for),
		cmocka_unit_test(what_is_no_program_has_no_marks),
		cmocka_unit_test(the_marks_of_a_program_are_where_it_has_them),
		cmocka_unit_test(memory_that_runs_out_while_marks_are_read_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
