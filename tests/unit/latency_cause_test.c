/* The root cause of a difference between two corpora. */
#include "latency_diff_fixture.h"

/* ---- the root cause ---- */

struct step {
	uint64_t wait;
	const char *stack;
};

static void add_steps(struct side *side, const struct step *steps)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	uint64_t t = 0;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	lode_stream_init(&stream, &dictionary);
	for (; steps->stack; steps++) {
		add_event(&stream, steps->wait ? LODE_WAIT : LODE_RUN, t, steps->wait, 1, steps->stack);
		t += steps->wait + 1000;
	}
	side_add(side, &stream);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
}

/* The cause of the difference of two single streams, as text; "" for none. */
static void cause_by(const struct step *good, const struct step *bad, const struct lode_diff_options *options,
		     char *text, size_t size)
{
	struct side base, slow;
	struct lode_diff diff;

	side_open(&base);
	side_open(&slow);
	add_steps(&base, good);
	add_steps(&slow, bad);
	side_infer(&base);
	side_infer(&slow);
	assert_int_equal(lode_diff(&base.latency, &slow.latency, options, &diff), 0);
	*text = '\0';
	if (diff.cause.node) {
		uint32_t frame = diff.dictionary->tree.nodes[diff.cause.node].frame;

		snprintf(text, size, "%s %s%s", lode_frames_function(&diff.dictionary->frames, frame),
			 lode_layer_name(diff.cause.layer), diff.cause.is_new ? " new" : "");
	}
	lode_diff_release(&diff);
	side_close(&base);
	side_close(&slow);
}

static void cause_of(const struct step *good, const struct step *bad, char *text, size_t size)
{
	cause_by(good, bad, &one_job, text, size);
}

/* What is looked for says which path has the cause, not only which paths are shown. */
static void the_cause_is_on_a_path_that_matches(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 1000, "app!main app!load kernel!io" },
					    { 1000, "app!main app!save kernel!io" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },
					   { 900000, "app!main app!load kernel!io" },
					   { 500000, "app!main app!save kernel!io" },
					   { 0, "app!main" },
					   { 0, NULL } };
	static const char *const save[] = { "app!save", NULL }, *const none[] = { "app!print", NULL };
	struct lode_diff_options options = one_job;
	char text[128];

	(void)state;
	cause_by(good, bad, &options, text, sizeof(text));
	assert_string_equal(text, "load program");
	options.match = save;
	cause_by(good, bad, &options, text, sizeof(text));
	assert_string_equal(text, "save program");
	options.match = none;
	cause_by(good, bad, &options, text, sizeof(text));
	assert_string_equal(text, "");
}

/* A postmaster without symbols waits longer where more is done by others. Little of that is not idle. */
static void what_is_idle_on_both_sides_is_no_cause(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 1000, "app!main app!load kernel!io" },
					    { 0, "app!main app!0x1234" },
					    { 9000000, "app!main app!0x1234 kernel!ep_poll" },
					    { 0, "app!main app!0x1234 kernel!ep_poll" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },
					   { 20000, "app!main app!load kernel!io" },
					   { 0, "app!main app!0x1234" },
					   { 9000000, "app!main app!0x1234 kernel!ep_poll" },
#define EIGHT EACH, EACH, EACH, EACH, EACH, EACH, EACH, EACH
#define EACH  { 0, "app!main app!0x1234 kernel!ep_poll" }
					   EIGHT,
					   EIGHT,
					   EIGHT,
					   EIGHT,
					   EIGHT,
					   EIGHT,
#undef EACH
#undef EIGHT
					   { 0, "app!main" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "load program");
}

static void the_cause_on_a_new_path_is_who_waits(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 5000, "app!main app!load libc.so.6!read kernel!io" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },
					   { 5000, "app!main app!load libc.so.6!read kernel!io" },
					   { 900000,
					     "app!main app!load app!log spell.so!check libc.so.6!read kernel!io" },
					   { 0, "app!main" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "check plug-in new"); /* not log, which may have been too short to be seen */
}

static void the_cause_is_who_calls_a_known_function_instead_of_another_one(void **state)
{
	static const struct step good[] = { { 0, "app!main app!work" },
					    { 400000, "app!main app!work app!refresh app!fetch kernel!io" },
					    { 0, "app!main app!work" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main app!work" },
					   { 900000, "app!main app!work app!refresh_locked app!fetch kernel!io" },
					   { 0, "app!main app!work" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "refresh_locked program new");
}

static void the_cause_is_who_does_what_it_did_not_do_before(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 400000, "app!main app!open app!read_head kernel!io" },
					    { 0, "app!main app!add app!hash" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },
					   { 400000, "app!main app!open app!read_head kernel!io" },
					   { 0, "app!main app!add app!hash" },
					   { 900000,
					     "app!main app!add app!hash app!full_name app!read_head kernel!io" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "hash program");
}

static void the_cause_is_where_new_slow_paths_meet(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 400000, "app!main app!open app!read_head kernel!io" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = {
		{ 400000, "app!main app!open app!read_head kernel!io" },
		{ 900000, "app!main app!add app!hash app!full_name app!read_head kernel!io" },
		{ 800000, "app!main app!find app!hash app!full_name app!read_head kernel!io" },
		{ 0, "app!main" },
		{ 0, NULL }
	};
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "hash program new");
}

static void a_function_that_is_called_from_a_new_place_is_the_cause(void **state)
{
	static const struct step good[] = { { 0, "app!main app!check" },
					    { 400000, "app!main app!open app!reload kernel!io" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main app!check" },
					   { 400000, "app!main app!open app!reload kernel!io" },
					   { 900000, "app!main app!check app!reload kernel!io" },
					   { 0, "app!main" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "reload program new");
}

static void a_sleep_counts_where_nobody_slept_before(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 0, "app!main app!serve" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step rests[] = { { 0, "app!main" },
					     { 9000000,
					       "app!main app!serve libc.so.6!nanosleep kernel!do_nanosleep" },
					     { 0, "app!main" },
					     { 0, NULL } };
	static const struct step rests_longer[] = {
		{ 0, "app!main" },
		{ 90000000, "app!main app!serve libc.so.6!nanosleep kernel!do_nanosleep" },
		{ 0, "app!main" },
		{ 0, NULL }
	};
	static const struct step new_thread[] = { { 0, "app!main" },
						  { 0, "app!main app!serve" },
						  { 0, "app!main" },
						  { 9000000, "app!timer libc.so.6!nanosleep kernel!do_nanosleep" },
						  { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, rests, text, sizeof(text));
	assert_string_equal(text, "serve program");
	cause_of(rests, rests_longer, text, sizeof(text));
	assert_string_equal(text, ""); /* it has nothing to do, for longer */
	cause_of(good, new_thread, text, sizeof(text));
	assert_null(strstr(text, "timer"));
}

static void waiting_for_a_processor_is_not_compared(void **state)
{
	static const char *const stacks[] = { "app!main app!work", "app!main app!work app!sort" };
	struct side sides[2];
	struct lode_diff diff;

	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct lode_dictionary dictionary;
		struct lode_stream stream;

		side_open(&sides[slow]);
		assert_int_equal(lode_dictionary_init(&dictionary), 0);
		lode_stream_init(&stream, &dictionary);
		for (int i = 0; i < 2; i++) {
			add_event(&stream, LODE_RUN, i * 100000000u, 1000000, 1, stacks[i]);
			add_event(&stream, LODE_WAIT, i * 100000000u + 1000, 5000000, 1, stacks[i]);
		}
		add_event(&stream, LODE_CALL, 50000000, 0, 1, stacks[1]);
		stream.events[LODE_CALL].delay[0] = slow ? 40000000 : 1000;
		stream.events[LODE_WAIT].delay[0] = slow ? 9000000 : 0;
		side_add(&sides[slow], &stream);
		lode_stream_release(&stream);
		lode_dictionary_release(&dictionary);
		side_infer(&sides[slow]);
	}
	assert_int_equal(lode_diff(&sides[0].latency, &sides[1].latency, &one_job, &diff), 0);
	for (uint32_t node = 1; node < diff.dictionary->tree.count; node++)
		assert_true(lode_diff_delta(&diff, node) <= 0); /* the thread ran for less, and waited as long */
	lode_diff_release(&diff);
	side_close(&sides[0]);
	side_close(&sides[1]);
}

static void the_cause_of_a_longer_wait_is_who_waits(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 5000, "app!main libfoo.so.1!load libc.so.6!read kernel!io" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },
					   { 500000, "app!main libfoo.so.1!load libc.so.6!read kernel!io" },
					   { 0, "app!main" },
					   { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "load library");
	cause_of(bad, good, text, sizeof(text));
	assert_string_equal(text, ""); /* nothing got slower */
}

static void the_cause_of_a_longer_run_is_what_runs(void **state)
{
	static const struct step good[] = { { 0, "app!main" },
					    { 0, "app!main app!sort" },
					    { 0, "app!main" },
					    { 0, NULL } };
	static const struct step bad[] = { { 0, "app!main" },          { 0, "app!main app!sort" },
					   { 0, "app!main app!sort" }, { 0, "app!main app!sort" },
					   { 0, "app!main" },          { 0, NULL } };
	char text[128];

	(void)state;
	cause_of(good, bad, text, sizeof(text));
	assert_string_equal(text, "sort program");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cause_is_on_a_path_that_matches),
		cmocka_unit_test(what_is_idle_on_both_sides_is_no_cause),
		cmocka_unit_test(the_cause_on_a_new_path_is_who_waits),
		cmocka_unit_test(the_cause_is_who_calls_a_known_function_instead_of_another_one),
		cmocka_unit_test(the_cause_is_who_does_what_it_did_not_do_before),
		cmocka_unit_test(the_cause_is_where_new_slow_paths_meet),
		cmocka_unit_test(a_function_that_is_called_from_a_new_place_is_the_cause),
		cmocka_unit_test(a_sleep_counts_where_nobody_slept_before),
		cmocka_unit_test(waiting_for_a_processor_is_not_compared),
		cmocka_unit_test(the_cause_of_a_longer_wait_is_who_waits),
		cmocka_unit_test(the_cause_of_a_longer_run_is_what_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
