/*
 * Time that moves between contexts is no extra time: comparisons of runs whose truth is known.
 *
 * A side is a list of stacks with the time that a run spends in each, and noise. What a function takes more in
 * all its contexts is compared with sums over texts.
 */
#include "cmocka_all.h"

#include "latency_runs.h"

/* Functions of a server that both sides have, and that vary. */
static void spend_as_always(struct runs *runs)
{
	char stack[64];

	for (unsigned i = 0; i < 40; i++) {
		snprintf(stack, sizeof(stack), "main serve part%u work%u", i % 5, i);
		spend(runs, stack, 60.0 / (i + 1), 0);
	}
}

/* ---- the oracle ---- */

/* The last function of a stack that is not of the kernel or the C library. */
static void who(const char *stack, char *name, size_t size)
{
	char copy[128], *rest = copy, *word;

	*name = '\0';
	snprintf(copy, sizeof(copy), "%s", stack);
	while ((word = strtok_r(rest, " ", &rest)))
		if (strncmp(word, "kernel!", 7) && strncmp(word, "libc.so.6!", 10))
			snprintf(name, size, "%s", word);
}

/* ns per stream that the function takes in all its contexts. */
static double function_time(const struct runs *runs, const struct lode_latency *latency, const char *function)
{
	double sum = 0;
	char name[128];

	for (size_t i = 0; i < runs->count; i++) {
		struct lode_dictionary *dictionary = (struct lode_dictionary *)(uintptr_t)&latency->dictionary;
		uint32_t node = node_of(dictionary, runs->places[i].stack);

		who(runs->places[i].stack, name, sizeof(name));
		if (strcmp(name, function))
			continue;
		for (size_t row = 0; row < latency->row_count; row++)
			if (latency->rows[row].node == node)
				sum += (double)latency->rows[row].own;
	}
	return sum / (double)latency->stream_count;
}

struct verdict {
	char cause[64]; /* "" for none */
	enum lode_no_cause why;
	double more; /* ms */
	int sure;
};

static struct verdict compare(const struct runs *good, const struct runs *bad, size_t streams, uint64_t seed)
{
	static const struct lode_diff_options options = { .jobs = 1 };
	struct verdict verdict = { .cause = "" };
	struct lode_latency base, slow;
	struct lode_diff diff;

	infer(good, streams, &seed, &base);
	infer(bad, streams, &seed, &slow);
	assert_int_equal(lode_diff(&base, &slow, &options, &diff), 0);
	for (size_t i = 0; i < bad->count; i++) {
		char name[128], full[160];
		uint32_t frame;

		who(bad->places[i].stack, name, sizeof(name));
		snprintf(full, sizeof(full), "app!%s", name);
		frame = lode_frames_parse(&base.dictionary.frames, full, strlen(full));
		assert_true(fabs(function_time(bad, &slow, name) - function_time(good, &base, name) -
				 (double)diff.functions[frame].more) < 2.0 * MAX_STACKS);
	}
	verdict.why = diff.no_cause;
	verdict.more = (double)diff.cause.more / MS;
	verdict.sure = lode_diff_is_sure(&diff);
	if (diff.cause.node)
		snprintf(verdict.cause, sizeof(verdict.cause), "%s",
			 lode_frames_function(&diff.dictionary->frames,
					      diff.dictionary->tree.nodes[diff.cause.node].frame));
	assert_int_equal(!diff.cause.node, diff.no_cause != LODE_CAUSE_KNOWN);
	lode_diff_release(&diff);
	release_latency(&base);
	release_latency(&slow);
	return verdict;
}

/* ---- cases ---- */

#define ROUNDS 20

/* write_log is reached by a tail call in one build and by a call in the other one. */
static void spend_in_log(struct runs *runs, int tail_call)
{
	spend(runs, tail_call ? "main serve handle write_log" : "main serve handle finish write_log", 19.5, 0);
	spend(runs, "main serve handle", 5, 0);
}

static void a_lock_is_the_cause_and_not_a_function_whose_caller_changed(void **state)
{
	static const char lock[] = "main serve handle lock_table libc.so.6!pthread_mutex_lock kernel!futex_wait";
	struct runs good = { .count = 0 }, bad = { .count = 0 };
	int right = 0;

	(void)state;
	spend_as_always(&good);
	spend_as_always(&bad);
	spend_in_log(&good, 0);
	spend_in_log(&bad, 1);
	spend(&good, lock, 0.013, 0);
	spend(&bad, lock, 65, 1.5); /* how long others hold it varies much */
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict verdict = compare(&good, &bad, 10, seed);

		assert_string_not_equal(verdict.cause, "write_log");
		right += !strcmp(verdict.cause, "lock_table") && verdict.more > 30 && verdict.more < 140;
	}
	assert_true(right >= ROUNDS - 1);
}

static void calls_from_another_place_are_no_cause(void **state)
{
	struct runs good = { .count = 0 }, bad = { .count = 0 };
	int named = 0;

	(void)state;
	spend_as_always(&good);
	spend_as_always(&bad);
	spend_in_log(&good, 0);
	spend_in_log(&bad, 1);
	for (uint64_t seed = 1; seed <= 5 * ROUNDS; seed++)
		named += compare(&good, &bad, 8, seed).cause[0] != '\0';
	assert_true(named <= 5 * ROUNDS / 20);
}

/* A function that is inlined into its caller, or renamed, takes its time there. */
static void time_that_another_function_took_before_is_no_cause(void **state)
{
	struct runs good = { .count = 0 }, inlined = { .count = 0 }, renamed = { .count = 0 };
	int moved = 0;

	(void)state;
	spend_as_always(&good);
	spend_as_always(&inlined);
	spend_as_always(&renamed);
	spend(&good, "main serve parse", 10, 0);
	spend(&good, "main serve parse copy", 20, 0);
	spend(&inlined, "main serve parse", 30, 0);
	spend(&renamed, "main serve parse", 10, 0);
	spend(&renamed, "main serve parse copy_fast", 20, 0);
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict first = compare(&good, &inlined, 10, seed),
			       second = compare(&good, &renamed, 10, seed);

		moved += (first.why == LODE_CAUSE_MOVED || first.why == LODE_CAUSE_NOT_SLOWER) +
			 (second.why == LODE_CAUSE_MOVED || second.why == LODE_CAUSE_NOT_SLOWER);
	}
	assert_true(moved >= 2 * ROUNDS * 9 / 10);
}

/* Only what a renamed function takes more than the old one is extra time. */
static void a_slower_replacement_costs_the_difference(void **state)
{
	struct runs good = { .count = 0 }, bad = { .count = 0 };
	int right = 0;

	(void)state;
	spend_as_always(&good);
	spend_as_always(&bad);
	spend(&good, "main serve parse copy", 30, 0);
	spend(&bad, "main serve parse copy_safe", 70, 0);
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict verdict = compare(&good, &bad, 10, seed);

		right += !strcmp(verdict.cause, "copy_safe") && fabs(verdict.more - 40) < 8;
	}
	assert_true(right >= ROUNDS - 1);
}

static void a_faster_run_has_no_cause_of_slowness(void **state)
{
	struct runs good = { .count = 0 }, bad = { .count = 0 };

	(void)state;
	spend_as_always(&good);
	spend_as_always(&bad);
	spend(&good, "main serve load", 100, 0);
	spend(&bad, "main serve load", 20, 0);
	spend(&good, "main serve save", 20, 0);
	spend(&bad, "main serve save", 40, 0);
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict verdict = compare(&good, &bad, 10, seed);

		assert_string_equal(verdict.cause, "");
		assert_int_equal(verdict.why, LODE_CAUSE_NOT_SLOWER);
		assert_true(verdict.sure); /* that save takes more is shown as before */
	}
}

/* Where some other time varies so much that the whole run shows nothing, the function is told, not a cause. */
static void a_run_that_may_be_slower_by_chance_has_no_cause(void **state)
{
	struct runs good = { .count = 0 }, bad = { .count = 0 };
	int unsure = 0;

	(void)state;
	spend_as_always(&good);
	spend_as_always(&bad);
	spend(&good, "main serve fetch kernel!tcp_recvmsg", 500, 2);
	spend(&bad, "main serve fetch kernel!tcp_recvmsg", 500, 2);
	spend(&good, "main serve save", 20, 0);
	spend(&bad, "main serve save", 40, 0);
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict verdict = compare(&good, &bad, 10, seed);

		unsure += verdict.why == LODE_CAUSE_TOTAL_UNSURE || verdict.why == LODE_CAUSE_NOT_SLOWER ||
			  verdict.why == LODE_CAUSE_MOVED;
	}
	assert_true(unsure >= ROUNDS * 8 / 10);
}

/* Strings that grow by one piece at a time are copied in many contexts, and collected in one. */
static void contexts_of_one_function_count_together(void **state)
{
	struct runs good = { .count = 0 }, bad = { .count = 0 };
	char stack[128];
	int right = 0;

	(void)state;
	for (unsigned side = 0; side < 2; side++) {
		struct runs *runs = side ? &bad : &good;

		spend_as_always(runs);
		for (unsigned i = 0; i < 7; i++) {
			snprintf(stack, sizeof(stack), "main execute call%u execute luaV_concat libc.so.6!memcpy",
				 i);
			spend(runs, stack, side ? 2.8 : 0.05, 0);
		}
		spend(runs, "main execute luaC_step propagatemark", side ? 6 : 2, 0);
	}
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct verdict verdict = compare(&good, &bad, 10, seed);

		right += !strcmp(verdict.cause, "luaV_concat") && fabs(verdict.more - 19.3) < 4;
	}
	assert_true(right >= ROUNDS - 1);
}

/* Builds in which any function may be called from elsewhere, and none takes more: a cause in at most 5 of 100. */
static void moved_functions_raise_no_more_alarms_than_equal_runs(void **state)
{
	uint64_t seed = 77;
	int named = 0, sure = 0, rounds = 300;

	(void)state;
	for (int round = 0; round < rounds; round++) {
		struct runs good = { .count = 0 }, bad = { .count = 0 };
		struct verdict verdict;
		char stack[64];

		for (unsigned i = 0; i < 30; i++)
			for (unsigned side = 0; side < 2; side++) {
				snprintf(stack, sizeof(stack), "main serve part%u work%u",
					 (unsigned)random_below(&seed, 4), i);
				spend(side ? &bad : &good, stack, 60.0 / (i + 1), 0);
			}
		verdict = compare(&good, &bad, 4 + (size_t)round % 7, (uint64_t)round + 1000);
		named += verdict.cause[0] != '\0';
		sure += verdict.sure;
	}
	print_message("%d of %d comparisons name a cause, %d claim a difference\n", named, rounds, sure);
	assert_true(sure <= rounds / 20 && named <= sure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_the_cause_and_not_a_function_whose_caller_changed),
		cmocka_unit_test(calls_from_another_place_are_no_cause),
		cmocka_unit_test(time_that_another_function_took_before_is_no_cause),
		cmocka_unit_test(a_slower_replacement_costs_the_difference),
		cmocka_unit_test(a_faster_run_has_no_cause_of_slowness),
		cmocka_unit_test(a_run_that_may_be_slower_by_chance_has_no_cause),
		cmocka_unit_test(contexts_of_one_function_count_together),
		cmocka_unit_test(moved_functions_raise_no_more_alarms_than_equal_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
