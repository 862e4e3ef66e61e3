/* The lines of critical paths: they show the whole path, in order, and what is cut is cut with reason. */
#include "small_stream.h"

#include "result/scope_lines.h"

#include <stdlib.h>

struct reported {
	struct small_stream small;
	struct lode_scope_report report; /* a shell around the stream: what the lines are made from */
	struct lode_scope_found found;
	struct lode_scope_lines lines;
};

static void report(struct reported *reported, struct lode_symptom symptom, size_t most)
{
	struct lode_scope_index *index;

	memset(&reported->found, 0, sizeof(reported->found));
	memset(&reported->lines, 0, sizeof(reported->lines));
	reported->report = (struct lode_scope_report){ .stream = reported->small.stream };
	reported->found.symptom = symptom;
	assert_int_equal(lode_scope_index_make(&index, &reported->small.stream, NULL), 0);
	assert_int_equal(lode_critical_path(index, &symptom, &reported->found.parts, &reported->found.stepped,
					    &reported->found.result.unknown, NULL),
			 0);
	assert_int_equal(lode_scope_lines_make(&reported->lines, &reported->report, &reported->found, most), 0);
	lode_scope_index_free(index);
}

static void forget(struct reported *reported)
{
	lode_parts_release(&reported->found.parts);
	lode_parts_release(&reported->found.stepped);
	lode_free(reported->lines.items);
}

static void require_line(const struct reported *reported, size_t i, enum lode_scope_line_type type, uint32_t depth,
			 uint64_t t, uint64_t length)
{
	assert_true(i < reported->lines.count);
	assert_int_equal(reported->lines.items[i].type, type);
	assert_int_equal(reported->lines.items[i].depth, depth);
	assert_int_equal(reported->lines.items[i].t, t);
	assert_int_equal(reported->lines.items[i].length, length);
}

static void samples_in_a_row_are_one_line(void **state)
{
	struct reported reported;

	(void)state;
	small_begin(&reported.small);
	for (uint64_t t = 0; t < 50; t += 10)
		small_run(&reported.small, 1, t, 9); /* with a little unknown between them */
	small_run(&reported.small, 1, 80, 9);        /* and too much here */
	report(&reported, (struct lode_symptom){ .t0 = 0, .t1 = 89 }, 0);
	assert_int_equal(reported.lines.count, 3);
	require_line(&reported, 0, LODE_LINE_RUN, 0, 0, 49);
	assert_int_equal(reported.lines.items[0].unseen, 4);
	assert_int_equal(reported.lines.items[0].first, 0);
	assert_int_equal(reported.lines.items[0].last, 4);
	require_line(&reported, 1, LODE_LINE_UNKNOWN, 0, 49, 31);
	require_line(&reported, 2, LODE_LINE_RUN, 0, 80, 9);
	forget(&reported);
	small_end(&reported.small);
}

static void a_step_holds_what_happened_meanwhile(void **state)
{
	struct reported reported;

	(void)state;
	small_begin(&reported.small);
	small_event(&reported.small, LODE_WAIT, 1, 0, 20, 5, 2, "");
	small_run(&reported.small, 2, 4, 6);
	small_event(&reported.small, LODE_WAIT, 2, 10, 10, 0, LODE_NONE, "");
	report(&reported, (struct lode_symptom){ .t0 = 0, .t1 = 30 }, 0);
	assert_int_equal(reported.lines.count, 6);
	require_line(&reported, 0, LODE_LINE_STEP, 0, 0, 20);
	require_line(&reported, 1, LODE_LINE_UNSEEN, 1, 0, 4);
	require_line(&reported, 2, LODE_LINE_RUN, 1, 4, 6);
	require_line(&reported, 3, LODE_LINE_WAIT, 1, 10, 10);
	require_line(&reported, 4, LODE_LINE_QUEUED, 0, 20, 5);
	require_line(&reported, 5, LODE_LINE_UNKNOWN, 0, 25, 5);
	forget(&reported);
	small_end(&reported.small);
}

/* Lines that hold no others follow one another without a gap from t0 to t1. */
static void require_whole(const struct reported *reported)
{
	uint64_t now = reported->found.symptom.t0, unknown = 0;

	for (size_t i = 0; i < reported->lines.count; i++) {
		const struct lode_scope_line *line = &reported->lines.items[i];

		assert_true(line->length > 0);
		assert_int_equal(line->t, now);
		if (line->type == LODE_LINE_STEP)
			continue;
		now += line->length;
		if (line->type == LODE_LINE_UNKNOWN)
			unknown += line->length;
		else if (line->type == LODE_LINE_RUN && !line->depth)
			unknown += line->unseen;
	}
	assert_int_equal(now, reported->found.symptom.t1);
	assert_int_equal(unknown, reported->found.result.unknown);
}

/* Each line is as deep as there are steps around it, and is shown with them. */
static void require_depths(const struct reported *reported, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < reported->lines.count; i++) {
		const struct lode_scope_line *line = &reported->lines.items[i];
		uint32_t depth = 0;

		for (size_t k = 0; k < i; k++) {
			const struct lode_scope_line *step = &reported->lines.items[k];

			if (step->type != LODE_LINE_STEP || step->t + step->length <= line->t)
				continue;
			depth++;
			assert_true(step->t + step->length >= line->t + line->length);
			assert_true(step->shown || !line->shown);
		}
		assert_int_equal(line->depth, depth);
		shown += (size_t)line->shown;
	}
	assert_int_equal(shown, most && most < reported->lines.count ? most : reported->lines.count);
}

static void lines_show_the_whole_path(void **state)
{
	uint64_t seed = 21;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		size_t most = random_below(&seed, 12);
		struct reported reported;

		small_begin(&reported.small);
		small_random(&reported.small, &seed, i % 2 ? 40 : 10, i % 3 ? 60 : 7);
		report(&reported, small_random_symptom(&reported.small, &seed, 60), most);
		require_whole(&reported);
		require_depths(&reported, most);
		forget(&reported);
		small_end(&reported.small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_in_a_row_are_one_line),
		cmocka_unit_test(a_step_holds_what_happened_meanwhile),
		cmocka_unit_test(lines_show_the_whole_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
