/* Contexts of a recording: from numbers to texts. */
#include "cmocka_all.h"

#include "record/stream/record_contexts.h"
#include "trace/stream.h"

#include <stdio.h>
#include <string.h>

struct fixture {
	struct lode_record_contexts contexts;
	struct lode_dictionary dictionary;
};

static void begin(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(lode_dictionary_init(&fixture->dictionary), 0);
}

static void end(struct fixture *fixture)
{
	lode_record_contexts_release(&fixture->contexts);
	lode_dictionary_release(&fixture->dictionary);
}

static void add(struct fixture *fixture, uint32_t number, enum lode_record_context_kind kind, const void *bytes,
		size_t size)
{
	struct lode_record_context named = { .number = number, .kind = kind, .size = (uint32_t)size };

	memcpy(named.bytes, bytes, size);
	assert_int_equal(lode_record_contexts_add(&fixture->contexts, &fixture->dictionary.frames.strings, &named),
			 0);
}

static void add_text(struct fixture *fixture, uint32_t number, enum lode_record_context_kind kind, const char *text)
{
	add(fixture, number, kind, text, strlen(text) + 1);
}

static void assert_known(struct fixture *fixture, uint32_t number, const char *text)
{
	uint32_t string = lode_record_contexts_find(&fixture->contexts, number);

	assert_string_equal(lode_strings_get(&fixture->dictionary.frames.strings, string), text);
}

static void a_context_is_a_text(void **state)
{
	static const unsigned char ids[24] = { 0xab, 1, [15] = 2, [16] = 0xf0, [23] = 3 };
	struct fixture fixture;

	(void)state;
	begin(&fixture);
	assert_known(&fixture, 0, "");
	assert_known(&fixture, 5, ""); /* lost on its way */
	assert_int_equal(fixture.contexts.forgotten, 1);
	add(&fixture, 1, LODE_CONTEXT_TRACE, ids, sizeof(ids));
	add_text(&fixture, 2, LODE_CONTEXT_TEXT, "SELECT  7");
	add_text(&fixture, LODE_RECORD_CONTEXT_OWN, LODE_CONTEXT_NAME, "answer 42");
	add(&fixture, 3, LODE_CONTEXT_TRACE, ids, 10); /* cut */
	assert_known(&fixture, 1, "trace:ab010000000000000000000000000002 span:f000000000000003");
	assert_known(&fixture, 2, "SELECT ?");
	assert_known(&fixture, LODE_RECORD_CONTEXT_OWN, "answer 42");
	assert_known(&fixture, 3, "");
	end(&fixture);
}

/* As many as the table holds, and more: the oldest are forgotten, marks are not. */
static void the_last_millions_are_known(void **state)
{
	const uint32_t count = 5000000, kept = 4000000;
	struct fixture fixture;
	char text[32];

	(void)state;
	begin(&fixture);
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "mark %c", 'a' + i);
		add_text(&fixture, LODE_RECORD_CONTEXT_OWN | i, LODE_CONTEXT_NAME, text);
	}
	for (uint32_t i = 1; i <= count; i++) {
		snprintf(text, sizeof(text), "query %c", 'a' + i % 26);
		add_text(&fixture, i, LODE_CONTEXT_NAME, text);
	}
	for (uint32_t i = count - kept; i <= count; i += 997) {
		const struct lode_strings *strings = &fixture.dictionary.frames.strings;
		const char *found = lode_strings_get(strings, lode_record_contexts_find(&fixture.contexts, i));

		snprintf(text, sizeof(text), "query %c", 'a' + i % 26);
		assert_true(!*found || !strcmp(found, text));
	}
	assert_true(fixture.contexts.forgotten <= 10);
	assert_known(&fixture, 1, "");
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "mark %c", 'a' + i);
		assert_known(&fixture, LODE_RECORD_CONTEXT_OWN | i, text);
	}
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_context_is_a_text),
		cmocka_unit_test(the_last_millions_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
