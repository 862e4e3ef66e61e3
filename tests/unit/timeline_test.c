/* Timelines of lode info against a slow oracle that walks every nanosecond. */
#include "cmocka_all.h"
#include "random_stream.h"

#include "result/timeline.h"
#include "text/picture.h"

#include <string.h>

#define SPAN 1000

static void slices_hold_what_each_nanosecond_says(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint64_t expected[2][64] = { { 0 } };
		uint64_t first = random_below(&seed, 2) ? random_below(&seed, 1u << 30) : 0;
		size_t count = 1 + random_below(&seed, 64);
		struct lode_timeline line;

		assert_int_equal(lode_timeline_init(&line, first, first + SPAN, count), 0);
		for (int i = 0; i < 40; i++) {
			int is_wait = (int)random_below(&seed, 2);
			uint64_t start = random_below(&seed, SPAN + 1);
			uint64_t cost = random_below(&seed, SPAN + 1 - start);

			lode_timeline_add(&line, is_wait, first + start, cost);
			for (uint64_t t = start; t < start + cost; t++)
				expected[is_wait][t / line.slice]++;
		}
		lode_timeline_finish(&line);
		assert_memory_equal(line.run, expected[0], count * sizeof(uint64_t));
		assert_memory_equal(line.wait, expected[1], count * sizeof(uint64_t));
		lode_timeline_release(&line);
	}
}

static void times_at_the_ends_of_the_clock_stay_inside(void **state)
{
	struct lode_timeline line;

	(void)state;
	assert_int_equal(lode_timeline_init(&line, 0, UINT64_MAX, 10), 0);
	lode_timeline_add(&line, 1, UINT64_MAX - 5, UINT64_MAX);
	lode_timeline_add(&line, 0, UINT64_MAX, 3);
	lode_timeline_add(&line, 1, 0, UINT64_MAX);
	lode_timeline_finish(&line);
	assert_int_equal(line.run[9], 3);
	assert_true(line.wait[0] == line.slice);
	lode_timeline_release(&line);
	/* What is before or behind the span belongs to its ends. */
	assert_int_equal(lode_timeline_init(&line, 100, 199, 10), 0);
	lode_timeline_add(&line, 0, 5, 1);
	lode_timeline_add(&line, 0, 500, 1);
	lode_timeline_finish(&line);
	assert_int_equal(line.run[0], 1);
	assert_int_equal(line.run[9], 1);
	lode_timeline_release(&line);
}

static void something_is_never_drawn_as_nothing(void **state)
{
	const uint64_t values[] = { 0, 1, 50, 100, 1000 };
	struct lode_buffer buffer = { 0 };

	(void)state;
	assert_int_equal(lode_picture_peak(values, 5), 1000);
	lode_picture_draw(&buffer, values, 5, 100, 1);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, " .=@@");
	lode_buffer_clear(&buffer);
	lode_picture_draw(&buffer, values, 5, 100, 0);
	lode_buffer_byte(&buffer, '\0');
	assert_string_equal(buffer.bytes, " ▁▄██");
	lode_buffer_release(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_hold_what_each_nanosecond_says),
		cmocka_unit_test(times_at_the_ends_of_the_clock_stay_inside),
		cmocka_unit_test(something_is_never_drawn_as_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
