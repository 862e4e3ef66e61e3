/*
 * The gate for releases: rules as people write them, and comparisons of runs whose truth is known.
 */
#include "cmocka_all.h"

#include "latency/diff.h"
#include "latency_runs.h"

#include <string.h>

#define MAX_RUNS 128

/* ---- rules ---- */

static void rules_are_read(void **state)
{
	struct lode_gate_rule rule;

	(void)state;
	assert_int_equal(lode_gate_rule_parse(&rule, "total > 3%", NULL), 0);
	assert_int_equal(rule.metric, LODE_GATE_TOTAL);
	assert_true(fabs(rule.share - 0.03) < 1e-12);
	assert_null(rule.frame);
	assert_int_equal(lode_gate_rule_parse(&rule, " own>5ms  in app!*lock*", NULL), 0);
	assert_int_equal(rule.metric, LODE_GATE_OWN);
	assert_true(rule.share < 0 && rule.limit == 5e6);
	assert_string_equal(rule.frame, "app!*lock*");
	assert_int_equal(lode_gate_rule_parse(&rule, "all > 0.5%", NULL), 0);
	assert_int_equal(rule.metric, LODE_GATE_ALL);
	assert_true(fabs(rule.share - 0.005) < 1e-12);
}

static void wrong_rules_are_refused_with_a_sentence(void **state)
{
	static const char *const wrong[] = {
		"",          "total",       "total > ",        "total < 3%",   "total > 3",
		"most > 3%", "own > 3% of", "own > 3% inside", "own > 3% in ", "total > 3% in main",
		"own > -3%", "own > x%",    "own > 3%%",       "own > nan%",   "own > 1e9%",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct lode_gate_rule rule;
		struct lode_error error = { "" };

		assert_int_equal(lode_gate_rule_parse(&rule, wrong[i], &error), LODE_USAGE);
		assert_non_null(strchr(error.text, '\''));
	}
}

/* ---- verdicts ---- */

struct setting {
	const char *rule;
	size_t streams; /* a side */
	int apart;      /* the sides are recorded on different hosts */
	size_t hosts;   /* 0: one */
	size_t persist;
	size_t gone; /* so many of the last slow streams are like those of the base */
	size_t only; /* but only those of this host, the first is 1; 0: of any */
	int swapped; /* the blocks of hosts have the opposite order */
};

static uint32_t block_of(const struct setting *setting, size_t stream)
{
	uint32_t host = setting->hosts ? (uint32_t)(stream % setting->hosts) : 0;

	if (setting->apart)
		return stream >= setting->streams;
	return setting->swapped ? (uint32_t)setting->hosts - 1 - host : host;
}

/* Whether a stream of the slow side is like those of the base. */
static int is_gone(const struct setting *setting, size_t stream)
{
	return stream >= setting->streams - setting->gone &&
	       (!setting->only || (setting->streams + stream) % setting->hosts == setting->only - 1);
}

/* What the only rule comes to; `found` is its first subject. */
static enum lode_gate_verdict judge(const struct runs *good, const struct runs *bad, const struct setting *setting,
				    uint64_t seed, struct lode_gate_subject *found, char *name)
{
	uint32_t blocks[2 * MAX_RUNS];
	uint64_t times[MAX_RUNS];
	struct lode_gate_rule rule;
	struct lode_gate gate = { &rule, 1, blocks, times, setting->persist };
	struct lode_diff_options options = { .jobs = 1, .gate = &gate };
	struct lode_latency base, slow, after;
	struct lode_diff diff;
	enum lode_gate_verdict verdict;

	assert_int_equal(lode_gate_rule_parse(&rule, setting->rule, NULL), 0);
	infer(good, setting->streams, &seed, &base);
	infer(bad, setting->streams, &seed, &slow);
	infer(good, setting->streams, &seed, &after);
	for (size_t i = 0; i < slow.row_count; i++) {
		struct lode_latency_row *row = &slow.rows[i];

		/* Both have the same stacks where this is used. */
		if (is_gone(setting, row->stream))
			row->own = after.rows[i].own;
	}
	for (size_t i = 0; i < 2 * setting->streams; i++) {
		int is_slow = i >= setting->streams;

		blocks[i] = block_of(setting, i);
		if (is_slow)
			times[i - setting->streams] = i;
	}
	/* Slow hosts take twice as long. */
	for (size_t i = 0; setting->hosts && i < base.row_count; i++)
		base.rows[i].own *= 1 + base.rows[i].stream % setting->hosts;
	for (size_t i = 0; setting->hosts && i < slow.row_count; i++)
		slow.rows[i].own *= 1 + (slow.rows[i].stream + setting->streams) % setting->hosts;
	assert_int_equal(lode_diff(&base, &slow, &options, &diff), 0);
	verdict = diff.gate.outcomes[0].verdict;
	assert_int_equal(diff.gate.verdict, verdict >= LODE_GATE_UNSURE ? verdict : LODE_GATE_WITHIN);
	if (found && diff.gate.subject_count)
		*found = diff.gate.subjects[0];
	if (name && diff.gate.subject_count)
		snprintf(name, 64, "%s",
			 lode_frames_function(&diff.dictionary->frames, diff.gate.subjects[0].frame));
	lode_diff_release(&diff);
	release_latency(&base);
	release_latency(&slow);
	release_latency(&after);
	return verdict;
}

/* A run of 200 ms or so, of which `parse` takes `parse_time`. */
static void make_runs(struct runs *runs, double parse_time)
{
	char stack[64];

	runs->count = 0;
	for (unsigned i = 0; i < 20; i++) {
		snprintf(stack, sizeof(stack), "main serve part%u work%u", i % 5, i);
		spend(runs, stack, 60.0 / (i + 1), 0);
	}
	spend(runs, "main load parse", parse_time, 0);
	spend(runs, "main load read", 10, 0);
}

static void what_is_surely_beyond_or_within_is_told(void **state)
{
	struct runs good, bad;
	struct lode_gate_subject found;
	char name[64];

	(void)state;
	make_runs(&good, 20);
	make_runs(&bad, 40);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "total > 3%", .streams = 10 }, 1, &found,
			       NULL),
			 LODE_GATE_BEYOND);
	assert_int_equal(found.frame, LODE_GATE_NO_FRAME);
	assert_true(found.difference.low < 20e6 && found.difference.high > 20e6);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "total > 20%", .streams = 10 }, 1, NULL,
			       NULL),
			 LODE_GATE_WITHIN);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 15ms in parse", .streams = 10 }, 1,
			       NULL, NULL),
			 LODE_GATE_BEYOND);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 20ms in parse", .streams = 10 }, 1,
			       NULL, NULL),
			 LODE_GATE_UNSURE);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 25ms in parse", .streams = 10 }, 1,
			       NULL, NULL),
			 LODE_GATE_WITHIN);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "all > 15ms in load", .streams = 10 }, 1,
			       NULL, NULL),
			 LODE_GATE_BEYOND);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 2%", .streams = 10 }, 1, &found, name),
			 LODE_GATE_BEYOND);
	assert_string_equal(name, "parse");
	assert_int_equal(judge(&bad, &good, &(struct setting){ .rule = "total > 0%", .streams = 10 }, 1, NULL, NULL),
			 LODE_GATE_WITHIN);
}

static void few_streams_or_unknown_functions_are_unsure(void **state)
{
	struct runs good, bad;

	(void)state;
	make_runs(&good, 20);
	make_runs(&bad, 200);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "total > 3%", .streams = 3 }, 1, NULL, NULL),
			 LODE_GATE_UNSURE);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 3% in nothing", .streams = 10 }, 1,
			       NULL, NULL),
			 LODE_GATE_UNSURE);
}

static void only_hosts_of_both_sides_are_compared(void **state)
{
	struct runs good, bad;

	(void)state;
	make_runs(&good, 20);
	make_runs(&bad, 60);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "total > 3%", .streams = 10, .apart = 1 },
			       1, NULL, NULL),
			 LODE_GATE_UNSURE);
	/* Four hosts, the slowest of which takes four times as long as the first. */
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "total > 3%", .streams = 16, .hosts = 4 },
			       1, NULL, NULL),
			 LODE_GATE_BEYOND);
	assert_int_equal(judge(&good, &good, &(struct setting){ .rule = "total > 5%", .streams = 16, .hosts = 4 },
			       1, NULL, NULL),
			 LODE_GATE_WITHIN);
}

static void time_that_moved_is_not_beyond_a_limit(void **state)
{
	struct runs good, bad;
	char name[64];

	(void)state;
	make_runs(&good, 40);
	make_runs(&bad, 20);
	spend(&bad, "main load parse_quickly", 20, 0);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 10ms", .streams = 10 }, 1, NULL, name),
			 LODE_GATE_MOVED);
	assert_string_equal(name, "parse_quickly");
	spend(&bad, "main load parse_again", 20, 0);
	assert_int_equal(judge(&good, &bad, &(struct setting){ .rule = "own > 10ms", .streams = 10 }, 1, NULL, name),
			 LODE_GATE_BEYOND);
}

static void what_the_last_streams_do_not_show_went_away(void **state)
{
	struct runs good, bad;
	struct lode_gate_subject found;

	(void)state;
	make_runs(&good, 20);
	make_runs(&bad, 60);
	assert_int_equal(judge(&good, &bad,
			       &(struct setting){ .rule = "total > 5%", .streams = 20, .persist = 5, .gone = 5 },
			       1, &found, NULL),
			 LODE_GATE_WENT_AWAY);
	assert_true(found.has_recent && fabs(found.recent) < 10e6);
	assert_int_equal(judge(&good, &bad,
			       &(struct setting){ .rule = "total > 5%", .streams = 20, .persist = 0, .gone = 5 },
			       1, NULL, NULL),
			 LODE_GATE_BEYOND);
	assert_int_equal(judge(&good, &bad,
			       &(struct setting){ .rule = "total > 5%", .streams = 20, .persist = 5, .gone = 0 },
			       1, NULL, NULL),
			 LODE_GATE_BEYOND);
}

static void what_one_of_two_hosts_still_shows_is_beyond_in_any_order_of_hosts(void **state)
{
	struct runs good, bad;

	(void)state;
	make_runs(&good, 20);
	make_runs(&bad, 150);
	for (int i = 0; i < 4; i++) {
		struct setting setting = { .rule = "total > 10%",
					   .streams = 40,
					   .hosts = 2,
					   .persist = 12,
					   .gone = 12,
					   .only = 1 + (size_t)i / 2,
					   .swapped = i % 2 };

		assert_int_equal(judge(&good, &bad, &setting, 1, NULL, NULL), LODE_GATE_BEYOND);
		setting.only = 0;
		assert_int_equal(judge(&good, &bad, &setting, 1, NULL, NULL), LODE_GATE_WENT_AWAY);
	}
}

/* Equal sides, a rule for every function that allows nothing: false alarms of all functions together. */
static void false_alarms_are_as_rare_as_promised(void **state)
{
	int alarms = 0, rounds = 150;
	struct runs good;

	(void)state;
	make_runs(&good, 20);
	for (int i = 0; i < rounds; i++)
		alarms += judge(&good, &good, &(struct setting){ .rule = "own > 0%", .streams = 8, .hosts = 2 },
				(uint64_t)i * 977 + 5, NULL, NULL) == LODE_GATE_BEYOND;
	print_message("%d of %d comparisons of equal sides raise an alarm\n", alarms, rounds);
	assert_true(alarms <= rounds * LODE_DIFF_LEVEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(wrong_rules_are_refused_with_a_sentence),
		cmocka_unit_test(what_is_surely_beyond_or_within_is_told),
		cmocka_unit_test(few_streams_or_unknown_functions_are_unsure),
		cmocka_unit_test(only_hosts_of_both_sides_are_compared),
		cmocka_unit_test(time_that_moved_is_not_beyond_a_limit),
		cmocka_unit_test(what_the_last_streams_do_not_show_went_away),
		cmocka_unit_test(what_one_of_two_hosts_still_shows_is_beyond_in_any_order_of_hosts),
		cmocka_unit_test(false_alarms_are_as_rare_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
