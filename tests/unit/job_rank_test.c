/* Processes of one job (base/job_rank.h), as threads: the tree, numbers, broadcasts, tasks for the first one. */
#include "cmocka_all.h"
#include "job_fixture.h"

#include "base/message.h"

#include <limits.h>

/* ---- the tree ---- */

/* Below a process is a range that begins with it; children follow one another; all have one parent. */
static unsigned check_below(unsigned number, unsigned count)
{
	struct lode_job_rank rank = { .number = number, .count = count };
	unsigned end = number + 1;

	for (unsigned i = 0, child; (child = lode_job_child(&rank, i)) != UINT_MAX; i++) {
		struct lode_job_rank other = { .number = child, .count = count };

		assert_int_equal(child, end);
		assert_int_equal(lode_job_parent(&other), number);
		end = check_below(child, count);
	}
	return end;
}

static void the_tree_has_every_process_once_and_is_flat(void **state)
{
	(void)state;
	for (unsigned count = 1; count < 300; count++) {
		assert_int_equal(check_below(0, count), count);
		for (unsigned number = 1; number < count; number++) {
			struct lode_job_rank rank = { .number = number, .count = count };
			unsigned steps = 0;

			for (; rank.number; rank.number = lode_job_parent(&rank))
				steps++;
			assert_true(1u << (steps - 1) <= number);
		}
	}
}

/* ---- messages ---- */

#define TEXT "to all"

static int broadcast(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	int code;

	(void)context;
	if (!rank->number)
		lode_buffer_add(&message, TEXT, sizeof(TEXT));
	code = lode_job_broadcast(rank, &message, error);
	if (!code && (message.size != sizeof(TEXT) || memcmp(message.bytes, TEXT, sizeof(TEXT)) != 0))
		code = -99;
	lode_buffer_release(&message);
	return code;
}

static void all_get_a_broadcast_and_nobody_sends_many(void **state)
{
	static struct job job;

	(void)state;
	for (unsigned count = 1; count <= JOB_MOST; count++) {
		job_run(&job, count, 1, broadcast, NULL);
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(job.processes[i].code, 0);
			assert_int_equal(job.processes[i].received, i > 0);
			assert_true(job.processes[i].sent <= 5);
		}
	}
}

/* ---- numbers ---- */

#define NUMBERS 1000

static int take_all(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	_Atomic unsigned *taken = context;
	struct lode_job_turns turns = { 0 };
	uint64_t number;

	(void)error;
	while ((number = lode_job_take(rank, &turns)) < NUMBERS)
		taken[number]++;
	return 0;
}

static void every_number_is_taken_once(void **state)
{
	static struct job job;
	static _Atomic unsigned taken[NUMBERS];

	(void)state;
	for (unsigned count = 1; count <= JOB_MOST; count += 3)
		for (int gives = 0; gives < 2; gives++) {
			for (unsigned i = 0; i < NUMBERS; i++)
				taken[i] = 0;
			job_run(&job, count, gives, take_all, taken);
			for (unsigned i = 0; i < NUMBERS; i++)
				assert_int_equal(taken[i], 1);
		}
}

/* ---- tasks ---- */

/* The others square a number each and send it. */
static int square(const struct lode_job_rank *rank, struct lode_cursor input, struct lode_error *error)
{
	uint64_t number = lode_cursor_u64(&input) + rank->number;

	number *= number;
	return rank->send(rank->context, 0, &number, sizeof(number), error);
}

static int refuse(const struct lode_job_rank *rank, struct lode_cursor input, struct lode_error *error)
{
	(void)input;
	return lode_fail(error, LODE_BAD_INPUT, "process %u refuses", rank->number);
}

static const struct lode_job_service services[] = { { 7, square }, { 8, refuse }, { .task = LODE_JOB_END } };

static int sum_squares(const struct lode_job_rank *rank, uint64_t base, uint64_t *sum, struct lode_error *error)
{
	struct lode_buffer message = { 0 };
	int code;

	lode_buffer_u64(&message, base);
	code = lode_job_call(rank, 7, &message, error);
	for (unsigned i = 1; i < rank->count && !code; i++) {
		struct lode_cursor cursor;

		code = rank->receive(rank->context, i, &message, error);
		cursor = lode_cursor(message.bytes, message.size);
		*sum += lode_cursor_u64(&cursor);
	}
	lode_buffer_release(&message);
	return code;
}

static int serve_or_sum(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	uint64_t *sum = context;
	int code;

	if (rank->number)
		return lode_job_serve(rank, services, error);
	code = sum_squares(rank, 0, sum, error);
	if (!code)
		code = sum_squares(rank, 100, sum, error);
	return code ? code : lode_job_call(rank, LODE_JOB_END, NULL, error);
}

static void the_others_serve_the_first_until_it_ends(void **state)
{
	static struct job job;

	(void)state;
	for (unsigned count = 1; count <= JOB_MOST; count++) {
		uint64_t sum = 0, expected = 0;

		job_run(&job, count, 1, serve_or_sum, &sum);
		for (unsigned i = 1; i < count; i++)
			expected += i * i + (100 + i) * (100 + i);
		assert_int_equal(sum, expected);
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(job.processes[i].code, 0);
	}
}

static int call_for(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	return rank->number ? lode_job_serve(rank, services, error)
			    : lode_job_call(rank, *(uint64_t *)context, NULL, error);
}

static void what_fails_or_is_not_known_ends_serving_with_a_sentence(void **state)
{
	static struct job job;
	uint64_t task = 8;

	(void)state;
	job_run(&job, 2, 1, call_for, &task);
	assert_int_equal(job.processes[1].code, LODE_BAD_INPUT);
	assert_string_equal(job.processes[1].error.text, "process 1 refuses");
	task = 9;
	job_run(&job, 2, 1, call_for, &task);
	assert_int_equal(job.processes[1].code, LODE_SYSTEM);
	assert_string_equal(job.processes[1].error.text, "rank 1 was called for a task that it does not know");
}

static int answer_or_read(void *context, const struct lode_job_rank *rank, struct lode_error *error)
{
	int code = *(int *)context;
	struct lode_buffer message = { 0 };
	struct lode_cursor cursor;

	if (rank->number) {
		lode_buffer_u64(&message, 0);
		lode_buffer_u64(&message, 77);
		if (code)
			lode_fail(error, code, "process %u failed", rank->number);
		return lode_job_answer(rank, &message, code, error);
	}
	code = rank->receive(rank->context, 1, &message, error);
	cursor = lode_cursor(message.bytes, message.size);
	if (!code)
		code = lode_message_failure(&cursor, error);
	if (!code && lode_cursor_u64(&cursor) != 77)
		code = INT_MAX;
	lode_buffer_release(&message);
	return code;
}

static void an_answer_is_what_was_asked_for_or_the_failure(void **state)
{
	static struct job job;
	int code = 0;

	(void)state;
	job_run(&job, 2, 1, answer_or_read, &code);
	assert_int_equal(job.processes[0].code, 0);
	assert_int_equal(job.processes[1].code, 0);
	code = LODE_BAD_INPUT;
	job_run(&job, 2, 1, answer_or_read, &code);
	assert_int_equal(job.processes[0].code, LODE_BAD_INPUT);
	assert_string_equal(job.processes[0].error.text, "process 1 failed");
	/* The first one knows; whoever failed goes on serving. */
	assert_int_equal(job.processes[1].code, 0);
}

static void a_code_that_is_none_of_ours_is_still_a_failure(void **state)
{
	const int64_t codes[] = { 1, INT_MIN, INT64_MIN, INT64_MAX, (int64_t)INT_MIN - 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct lode_error error = { "" };
		struct lode_cursor cursor = lode_cursor(&codes[i], sizeof(codes[i]));

		assert_int_equal(lode_message_failure(&cursor, &error), LODE_SYSTEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_has_every_process_once_and_is_flat),
		cmocka_unit_test(all_get_a_broadcast_and_nobody_sends_many),
		cmocka_unit_test(every_number_is_taken_once),
		cmocka_unit_test(the_others_serve_the_first_until_it_ends),
		cmocka_unit_test(what_fails_or_is_not_known_ends_serving_with_a_sentence),
		cmocka_unit_test(an_answer_is_what_was_asked_for_or_the_failure),
		cmocka_unit_test(a_code_that_is_none_of_ours_is_still_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
