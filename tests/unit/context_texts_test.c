/* Texts of contexts that a flight recorder keeps, compared with all that were ever added. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "watch/context_texts.h"

#include <stdio.h>
#include <string.h>

#define NUMBERS 600000u

static struct lode_record_context context_of(uint32_t number, uint32_t text)
{
	struct lode_record_context context = { .number = number, .mark = LODE_RECORD_CONTEXT_MARK };

	context.kind = text % 2 ? LODE_CONTEXT_TEXT : LODE_CONTEXT_NAME;
	context.size = (uint32_t)snprintf((char *)context.bytes, sizeof(context.bytes), "select %u", text);
	return context;
}

/* What is found is what was added; nearly all of the latest numbers are found as long as few texts differ. */
static void the_latest_numbers_stand_for_their_texts(void **unused)
{
	struct lode_context_texts *texts = lode_context_texts_create();
	struct lode_record_context found, context;
	uint64_t seed = 7;
	uint32_t missed = 0;
	static uint32_t text_of[NUMBERS + 1];

	(void)unused;
	assert_non_null(texts);
	for (uint32_t number = 1; number <= NUMBERS; number++) {
		text_of[number] = random_below(&seed, 2000);
		context = context_of(number, text_of[number]);
		lode_context_texts_add(texts, &context);
	}
	for (uint32_t number = 1; number <= NUMBERS; number++) {
		int is_found = lode_context_texts_find(texts, number, &found);

		context = context_of(number, text_of[number]);
		if (is_found)
			assert_memory_equal(&found, &context, sizeof(found));
		else
			missed += number + 200000 >= NUMBERS;
	}
	assert_true(missed < 2000);
	lode_context_texts_destroy(texts);
}

/* Where each number has its own text, those of long ago are gone, and none is taken for another. */
static void texts_that_all_differ_do_not_add_up(void **unused)
{
	struct lode_context_texts *texts = lode_context_texts_create();
	struct lode_record_context found, context;
	uint32_t count = 0;

	(void)unused;
	assert_non_null(texts);
	for (uint32_t number = 1; number <= NUMBERS; number++) {
		context = context_of(number, number);
		lode_context_texts_add(texts, &context);
	}
	for (uint32_t number = 1; number <= NUMBERS; number++)
		if (lode_context_texts_find(texts, number, &found)) {
			context = context_of(number, number);
			assert_memory_equal(&found, &context, sizeof(found));
			count++;
		}
	assert_true(count > 8000 && count <= 16384);
	lode_context_texts_destroy(texts);
}

/* Marks are few, and stay however many queries there are. */
static void marks_stay(void **unused)
{
	struct lode_context_texts *texts = lode_context_texts_create();
	struct lode_record_context found, mark = context_of(LODE_RECORD_CONTEXT_OWN | 3, 4000), context;

	(void)unused;
	assert_non_null(texts);
	lode_context_texts_add(texts, &mark);
	for (uint32_t number = 1; number <= NUMBERS; number++) {
		context = context_of(number, number % 1000);
		lode_context_texts_add(texts, &context);
	}
	assert_true(lode_context_texts_find(texts, mark.number, &found));
	assert_memory_equal(&found, &mark, sizeof(found));
	assert_false(lode_context_texts_find(texts, LODE_RECORD_CONTEXT_OWN | 4, &found));
	assert_false(lode_context_texts_find(texts, 0, &found));
	context.size = sizeof(context.bytes) + 1;
	lode_context_texts_add(texts, &context);
	lode_context_texts_destroy(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_numbers_stand_for_their_texts),
		cmocka_unit_test(texts_that_all_differ_do_not_add_up),
		cmocka_unit_test(marks_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
