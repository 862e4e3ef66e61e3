/* Scopes of a stored stream: loaded, made ready, written as JSON; with memory running out anywhere. */
#include "small_stream.h"
#include "temporary.h"

#include "result/scope_longest.h"

#include <fcntl.h>

struct stored {
	char folder[64];
	char path[96];
	struct lode_corpus_entry entry;
	struct lode_idle_rules *idle;
	struct lode_symptom_rules rules;
	struct lode_scope_options options;
};

/* Writes a random stream with its own symptom and asks for `rule`, if it is not NULL. */
static void store(struct stored *stored, uint64_t seed, const char *rule)
{
	const char *const texts[] = { rule, NULL };
	struct small_stream small;
	struct lode_symptom symptom;

	memset(stored, 0, sizeof(*stored));
	small_begin(&small);
	small_random(&small, &seed, 60, 50);
	symptom = small_random_symptom(&small, &seed, 40);
	assert_int_equal(lode_stream_add_symptom(&small.stream, &symptom), 0);
	assert_int_equal(lode_stream_set_attribute(&small.stream, "version", "4.2", LODE_ATTRIBUTE_TEXT), 0);
	assert_int_equal(temporary_folder(stored->folder, sizeof(stored->folder)), 0);
	snprintf(stored->path, sizeof(stored->path), "%s/stream.lode", stored->folder);
	assert_int_equal(lode_store_write(stored->path, 0666, &small.stream, 1, NULL), 0);
	small_end(&small);
	stored->entry.path = stored->path;
	assert_int_equal(lode_idle_rules_load(&stored->idle, NULL, NULL), 0);
	assert_int_equal(lode_symptom_rules_parse(&stored->rules, texts, NULL), 0);
	stored->options = (struct lode_scope_options){ .rules = &stored->rules, .idle = stored->idle };
}

static void discard(struct stored *stored)
{
	lode_symptom_rules_release(&stored->rules);
	lode_idle_rules_free(stored->idle);
	unlink(stored->path);
	rmdir(stored->folder);
}

/* For a page: the symptoms share a table of stacks. */
static int write_page(struct lode_scope_report *report, struct lode_output *output, struct lode_error *error)
{
	struct lode_scope_longest page = { .most = 8 };
	int code = lode_scope_longest_add(&page, report, error);

	if (!code)
		lode_scope_longest_json(&page, &output->buffer);
	lode_scope_longest_release(&page);
	return code;
}

/* The JSON of the stream, for the caller to release; what fails is said in `error`. */
static int write_json(const struct stored *stored, int page, struct lode_buffer *json, struct lode_error *error)
{
	struct lode_scope_report report;
	struct lode_output output;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int code = lode_scope_report_make(&report, &stored->entry, &stored->options, error);

	if (!code)
		code = lode_output_descriptor(&output, fd, "nowhere", error);
	if (!code) {
		code = page ? write_page(&report, &output, error) : lode_scope_json(&report, &output, error);
		if (!code && output.buffer.failed)
			code = lode_fail_memory(error);
		if (!code)
			lode_buffer_add(json, output.buffer.bytes, output.buffer.size);
		lode_output_abandon(&output);
	}
	lode_scope_report_release(&report);
	close(fd);
	return code;
}

static size_t count_symptoms(const struct lode_buffer *json)
{
	static const char member[] = "\"unknown_ns\":"; /* every symptom has one */
	const char *at = json->bytes, *end = at + json->size;
	size_t count = 0;

	while (json->size && (at = memmem(at, (size_t)(end - at), member, sizeof(member) - 1)) != NULL) {
		at += sizeof(member) - 1;
		count++;
	}
	return count;
}

static void a_stream_without_rules_has_its_own_symptoms(void **state)
{
	struct lode_buffer json = { 0 };
	struct stored stored;

	(void)state;
	store(&stored, 3, NULL);
	for (int scope = LODE_SCOPE_ALL; scope < LODE_SCOPES; scope++) {
		stored.options.scope = (enum lode_scope)scope;
		for (int page = 0; page < 2; page++) {
			lode_buffer_clear(&json);
			assert_int_equal(write_json(&stored, page, &json, NULL), 0);
			assert_int_equal(count_symptoms(&json), 1);
		}
	}
	lode_buffer_release(&json);
	discard(&stored);
}

static void a_stream_that_is_not_meant_is_not_reported(void **state)
{
	static const char *const where[] = { "version=5.*", NULL };
	struct lode_buffer json = { 0 };
	struct stored stored;

	(void)state;
	store(&stored, 3, NULL);
	stored.options.where = where;
	assert_int_equal(write_json(&stored, 0, &json, NULL), 0);
	assert_int_equal(json.size, 0);
	lode_buffer_release(&json);
	discard(&stored);
}

static void memory_that_runs_out_is_a_clean_error(void **state)
{
	static const char *const rules[] = { NULL, "wait > 2ns", "between start and f > 1ns" };

	(void)state;
	for (int round = 2 * LODE_SCOPE_THREAD; round < 2 * LODE_SCOPES; round++) {
		int scope = round / 2, page = round % 2, code = LODE_SYSTEM;
		struct stored stored;

		store(&stored, 5, rules[scope % 3]);
		stored.options.scope = (enum lode_scope)scope;
		for (uint64_t nth = 1; code; nth++) {
			struct lode_error error = { "" };
			struct lode_buffer json = { 0 };

			lode_memory_fail_at(nth, 0);
			code = write_json(&stored, page, &json, &error);
			lode_memory_fail_at(0, 0);
			assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
			lode_buffer_release(&json);
		}
		discard(&stored);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_without_rules_has_its_own_symptoms),
		cmocka_unit_test(a_stream_that_is_not_meant_is_not_reported),
		cmocka_unit_test(memory_that_runs_out_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
