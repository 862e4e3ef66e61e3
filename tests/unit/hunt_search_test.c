/*
 * The search against simulated programs. Most tests are rows of a table: a program, what
 * probing it costs, and the verdicts that the search must come to.
 */
#include "hunt_search_fixture.h"

#include <math.h>
#include <string.h>

#define SECOND 1000000000ull

/* ---- programs ---- */

/* A stack of the first thread, without its root. */
struct line {
	enum lode_hypothesis kind;
	double share;
	const char *functions;
	uint64_t from, until; /* seconds */
	uint64_t object;
	double operations, bytes;
};

#define LINES 5

static void make_program(struct simulation *simulation, const char *root, const struct line *lines)
{
	uint32_t thread;

	assert_int_equal(simulation_init(simulation), 0);
	if (!lines)
		return;
	thread = simulation_thread(simulation, 0, 0, root);
	for (size_t i = 0; i < LINES && lines[i].functions; i++) {
		const struct line *line = &lines[i];
		struct simulated_stack *stack =
			simulation_stack(simulation, thread, line->kind, line->share, line->functions);

		stack->from = line->from * SECOND;
		stack->until = line->until * SECOND;
		stack->object = line->object;
		stack->operations = line->operations;
		stack->bytes = line->bytes;
	}
}

#define LINE(kind_, functions_, ...)                                                                              \
	{                                                                                                         \
		.kind = (kind_), .functions = (functions_), __VA_ARGS__                                           \
	}

/* A is hot, B, C and D are not, E, which they all call, is (the paper's figure 2). */
static const struct line figure_2[LINES] = {
	LINE(LODE_CPU_BOUND, "B E", .share = 0.18),
	LINE(LODE_CPU_BOUND, "C E", .share = 0.18),
	LINE(LODE_CPU_BOUND, "D E", .share = 0.18),
	LINE(LODE_CPU_BOUND, "", .share = 0.40),
};

static const struct line chain[LINES] = {
	LINE(LODE_CPU_BOUND, "a b c d e f hot", .share = 0.70),
	LINE(LODE_CPU_BOUND, "a b other", .share = 0.10),
	LINE(LODE_IO_BLOCKING, "log write", .share = 0.15),
};

static void make_chain(struct simulation *simulation)
{
	make_program(simulation, "main", chain);
}

/* ---- programs and the verdicts about them ---- */

/* One experiment; what is 0 or NULL is not checked. */
struct expected {
	enum lode_hypothesis hypothesis;
	const char *function;             /* NULL: all code */
	enum lode_experiment_state state; /* LODE_EXPERIMENT_STATES: it was not made */
	uint64_t object;
	int starter;   /* its origin is deep start */
	int sampled;   /* 1: decided by samples, -1: by probes */
	unsigned runs; /* ANY_RUNS: more than one */
	double value;
	double after, before; /* seconds: when it was found */
	int lost;             /* it was true before */
};

#define EXPECT(hypothesis_, function_, ...)                                                                       \
	{                                                                                                         \
		.hypothesis = (hypothesis_), .function = (function_), __VA_ARGS__                                 \
	}
#define EXPECTED        6
#define ANY_RUNS        100
#define BOTH_STRATEGIES 2

struct scenario {
	const char *name;
	int strategy; /* or BOTH_STRATEGIES */
	int by_the_paper;
	const char *root;         /* NULL: main */
	const struct line *lines; /* NULL: it does nothing */
	const char *costly;       /* the function that `predicted` is about */
	double predicted;
	int blind;      /* probes of `costly` miss it so many times */
	double crowded; /* share of wall time without a CPU */
	double own;
	int no_samples;
	double ends, time;        /* seconds: the program, the search (which then goes on when nothing is left) */
	enum lode_search_end end; /* 0: exhausted */
	size_t experiments;       /* in all */
	struct expected expected[EXPECTED];
};

static const struct scenario scenarios[] = {
	{ .name = "the_call_graph_search_does_not_see_what_figure_2_hides",
	  .strategy = LODE_STRATEGY_CALL_GRAPH,
	  .root = "A",
	  .lines = figure_2,
	  .expected = { EXPECT(LODE_CPU_BOUND, "A", .state = LODE_EXPERIMENT_TRUE),
			EXPECT(LODE_CPU_BOUND, "B", .state = LODE_EXPERIMENT_FALSE),
			EXPECT(LODE_CPU_BOUND, "C", .state = LODE_EXPERIMENT_FALSE),
			EXPECT(LODE_CPU_BOUND, "D", .state = LODE_EXPERIMENT_FALSE),
			EXPECT(LODE_CPU_BOUND, "E", .state = LODE_EXPERIMENT_STATES) } },
	{ .name = "deep_start_finds_what_figure_2_hides",
	  .root = "A",
	  .lines = figure_2,
	  .expected = { EXPECT(LODE_CPU_BOUND, "E", .state = LODE_EXPERIMENT_TRUE, .starter = 1, .value = 0.54),
			EXPECT(LODE_CPU_BOUND, "B", .state = LODE_EXPERIMENT_FALSE) } },
	{ .name = "deep_start_by_the_paper_finds_what_figure_2_hides",
	  .by_the_paper = 1,
	  .root = "A",
	  .lines = figure_2,
	  .expected = { EXPECT(LODE_CPU_BOUND, "E", .state = LODE_EXPERIMENT_TRUE, .starter = 1, .value = 0.54),
			EXPECT(LODE_CPU_BOUND, "B", .state = LODE_EXPERIMENT_FALSE) } },
	/* Neither probes nor samples measure `b`. */
	{ .name = "a_function_that_cannot_be_measured_is_passed_through",
	  .strategy = LODE_STRATEGY_CALL_GRAPH,
	  .lines = chain,
	  .costly = "b",
	  .predicted = -1,
	  .no_samples = 1,
	  .expected = { EXPECT(LODE_CPU_BOUND, "b", .state = LODE_EXPERIMENT_IMPOSSIBLE),
			EXPECT(LODE_CPU_BOUND, "hot", .state = LODE_EXPERIMENT_TRUE),
			EXPECT(LODE_CPU_BOUND, "other", .state = LODE_EXPERIMENT_FALSE) } },
	/* Samples know nothing of the size of operations. */
	{ .name = "what_costs_more_than_the_limit_is_deferred_where_samples_cannot_decide",
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "a b c d e f hot", .share = 0.70),
					       LINE(LODE_CPU_BOUND, "a b other", .share = 0.10),
					       LINE(LODE_IO_BLOCKING, "log write", .share = 0.3,
						    .operations = 100000, .bytes = 16) },
	  .costly = "write",
	  .predicted = 0.4,
	  .expected = { EXPECT(LODE_SMALL_IO, "write", .state = LODE_EXPERIMENT_DEFERRED),
			EXPECT(LODE_SMALL_IO, "log", .state = LODE_EXPERIMENT_TRUE) } },
	{ .name = "what_fits_the_limit_only_alone_has_its_turn_though_the_meter_takes_some",
	  .lines = chain,
	  .costly = "hot",
	  .predicted = 0.08,
	  .own = 0.03,
	  .expected = { EXPECT(LODE_CPU_BOUND, "hot", .state = LODE_EXPERIMENT_TRUE) } },
	/* Probes of a function that is in progress may miss it; samples do not. */
	{ .name = "what_samples_show_and_probes_missed_once_runs_again",
	  .lines = chain,
	  .costly = "f",
	  .blind = 1,
	  .expected = { EXPECT(LODE_CPU_BOUND, "f", .state = LODE_EXPERIMENT_TRUE, .sampled = -1, .runs = 2),
			EXPECT(LODE_CPU_BOUND, "hot", .state = LODE_EXPERIMENT_TRUE) } },
	{ .name = "what_samples_show_and_probes_never_see_is_decided_by_samples",
	  .lines = chain,
	  .costly = "f",
	  .blind = 5,
	  .expected = { EXPECT(LODE_CPU_BOUND, "f", .state = LODE_EXPERIMENT_TRUE, .sampled = 1, .runs = 5),
			EXPECT(LODE_CPU_BOUND, "hot", .state = LODE_EXPERIMENT_TRUE) } },
	/* What is done later is in few of all samples, but in all of the latest; no false experiment was
	 * there before. */
	{ .name = "a_new_phase_has_its_deep_starters_soon",
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "load parse", .share = 0.9, .until = 31),
					       LINE(LODE_CPU_BOUND, "a b c d late", .share = 0.9, .from = 31) },
	  .time = 60,
	  .end = LODE_SEARCH_TIME_UP,
	  .expected = { EXPECT(LODE_CPU_BOUND, "late", .state = LODE_EXPERIMENT_TRUE, .starter = 1, .after = 31,
			       .before = 33) } },
	/* One function of a loop becomes slow after it was found fast; all others stay what they are. */
	{ .name = "what_becomes_slow_later_is_found",
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "loop", .share = 0.3),
					       LINE(LODE_CPU_BOUND, "loop steady", .share = 0.5),
					       LINE(LODE_CPU_BOUND, "loop late", .share = 0.02),
					       LINE(LODE_CPU_BOUND, "loop late", .share = 0.4, .from = 9,
						    .until = 100) },
	  .time = 20,
	  .end = LODE_SEARCH_TIME_UP,
	  .expected = { EXPECT(LODE_CPU_BOUND, "late", .state = LODE_EXPERIMENT_TRUE, .runs = ANY_RUNS,
			       .after = 9) } },
	{ .name = "a_bottleneck_that_goes_away_turns_false_and_the_next_one_is_found",
	  .strategy = BOTH_STRATEGIES,
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "load", .share = 0.9, .until = 11),
					       LINE(LODE_CPU_BOUND, "solve", .share = 0.9, .from = 11) },
	  .time = 60,
	  .end = LODE_SEARCH_TIME_UP,
	  .expected = { EXPECT(LODE_CPU_BOUND, "load", .state = LODE_EXPERIMENT_FALSE, .lost = 1),
			EXPECT(LODE_CPU_BOUND, "solve", .state = LODE_EXPERIMENT_TRUE) } },
	{ .name = "a_program_that_wakes_up_later_is_examined_then",
	  .strategy = LODE_STRATEGY_CALL_GRAPH,
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "work", .share = 0.9, .from = 20) },
	  .time = 60,
	  .end = LODE_SEARCH_TIME_UP,
	  .expected = { EXPECT(LODE_CPU_BOUND, "work", .state = LODE_EXPERIMENT_TRUE) } },
	{ .name = "a_busy_machine_hides_nothing_and_is_told_itself",
	  .lines = chain,
	  .crowded = 0.87,
	  .expected = { EXPECT(LODE_CPU_BOUND, NULL, .state = LODE_EXPERIMENT_TRUE, .value = 0.80),
			EXPECT(LODE_CPU_BOUND, "hot", .state = LODE_EXPERIMENT_TRUE, .value = 0.70),
			EXPECT(LODE_CPU_BOUND, "other", .state = LODE_EXPERIMENT_FALSE),
			EXPECT(LODE_READY_WAITING, NULL, .state = LODE_EXPERIMENT_TRUE, .value = 0.87) } },
	{ .name = "the_end_of_the_program_ends_the_search",
	  .strategy = LODE_STRATEGY_CALL_GRAPH,
	  .lines = chain,
	  .ends = 2.5,
	  .end = LODE_SEARCH_PROGRAM_ENDED,
	  .expected = { EXPECT(LODE_CPU_BOUND, "main", .state = LODE_EXPERIMENT_TRUE) } },
	{ .name = "an_empty_program_is_searched_in_no_time", .strategy = BOTH_STRATEGIES, .experiments = 4 },
	{ .name = "recursion_and_cycles_end",
	  .lines = (const struct line[LINES]){ LINE(LODE_CPU_BOUND, "a b a b a b a", .share = 0.5),
					       LINE(LODE_CPU_BOUND, "main main main a a a", .share = 0.4) },
	  .experiments = 4 + 3,
	  .expected = { EXPECT(LODE_CPU_BOUND, "a", .state = LODE_EXPERIMENT_TRUE, .value = 0.9) } },
	{ .name = "locks_and_small_operations_are_found",
	  .lines = (const struct line[LINES]){ LINE(LODE_SYNC_WAITING, "take lock", .share = 0.3, .object = 0xabc),
					       LINE(LODE_SYNC_WAITING, "take lock", .share = 0.1, .object = 0xdef),
					       LINE(LODE_IO_BLOCKING, "log write", .share = 0.4,
						    .operations = 100000, .bytes = 16) },
	  .expected = { EXPECT(LODE_SMALL_IO, NULL, .state = LODE_EXPERIMENT_TRUE),
			EXPECT(LODE_SMALL_IO, "write", .state = LODE_EXPERIMENT_TRUE),
			EXPECT(LODE_SYNC_WAITING, NULL, .state = LODE_EXPERIMENT_TRUE, .object = 0xabc),
			EXPECT(LODE_SYNC_WAITING, NULL, .state = LODE_EXPERIMENT_FALSE, .object = 0xdef),
			EXPECT(LODE_CPU_BOUND, NULL, .state = LODE_EXPERIMENT_FALSE) } },
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static void check_verdict(struct simulation *simulation, const struct lode_search *search,
			  const struct expected *expected)
{
	struct lode_focus focus = expected->function ? on_function(simulation, expected->function)
						     : lode_focus_whole();
	const struct lode_experiment *experiment;

	focus.object = expected->object;
	assert_int_equal(state_of(search, expected->hypothesis, focus), expected->state);
	if (expected->state == LODE_EXPERIMENT_STATES)
		return;
	experiment = experiment_of(search, expected->hypothesis, focus);
	if (expected->starter)
		assert_int_equal(experiment->origin, LODE_ORIGIN_DEEP_START);
	if (expected->sampled)
		assert_int_equal(experiment->evidence,
				 expected->sampled > 0 ? LODE_EVIDENCE_SAMPLES : LODE_EVIDENCE_PROBES);
	if (expected->runs == ANY_RUNS)
		assert_true(experiment->runs > 1);
	else if (expected->runs)
		assert_int_equal(experiment->runs, expected->runs);
	if (expected->value > 0)
		assert_true(fabs(experiment->value - expected->value) < 1e-6);
	if (expected->after > 0)
		assert_true((double)experiment->found > expected->after * (double)SECOND);
	if (expected->before > 0)
		assert_true((double)experiment->found < expected->before * (double)SECOND);
	if (expected->lost)
		assert_true(experiment->found && experiment->lost > experiment->found);
	if (expected->state == LODE_EXPERIMENT_DEFERRED) {
		assert_int_equal(experiment->runs, 0);
		assert_non_null(experiment->why);
	}
}

static void set_up(const struct scenario *scenario, struct simulation *simulation,
		   struct lode_search_options *options)
{
	make_program(simulation, scenario->root ? scenario->root : "main", scenario->lines);
	if (scenario->predicted != 0)
		simulation->predicted[simulation_function(simulation, scenario->costly)] = scenario->predicted;
	if (scenario->blind)
		simulation->blind[simulation_function(simulation, scenario->costly)] = scenario->blind;
	simulation->own = scenario->own;
	simulation->crowded = scenario->crowded;
	simulation->no_samples = scenario->no_samples;
	simulation->ends = (uint64_t)(scenario->ends * (double)SECOND);
	options->starters_by_the_paper = scenario->by_the_paper;
	options->time = (uint64_t)(scenario->time * (double)SECOND);
	options->watch_on = scenario->time > 0;
}

static void check_scenario_by(const struct scenario *scenario, enum lode_strategy strategy)
{
	struct lode_search_options options = settings(strategy);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	set_up(scenario, &simulation, &options);
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, scenario->end ? scenario->end : LODE_SEARCH_EXHAUSTED);
	if (scenario->experiments)
		assert_int_equal(lode_search_history(search)->count, scenario->experiments);
	if (scenario->ends > 0) /* the clock begins at 1 s */
		assert_true(lode_search_lasted(search) == simulation.ends - SECOND);
	for (size_t i = 0; i < EXPECTED && scenario->expected[i].state; i++)
		check_verdict(&simulation, search, &scenario->expected[i]);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void check_scenario(void **state)
{
	const struct scenario *scenario = *state;

	if (scenario->strategy != BOTH_STRATEGIES) {
		check_scenario_by(scenario, (enum lode_strategy)scenario->strategy);
		return;
	}
	check_scenario_by(scenario, LODE_STRATEGY_DEEP_START);
	check_scenario_by(scenario, LODE_STRATEGY_CALL_GRAPH);
}

/* ---- deep starters in the search ---- */

static uint64_t time_to(const struct lode_search *search, struct lode_focus focus)
{
	const struct lode_experiment *experiment = experiment_of(search, LODE_CPU_BOUND, focus);

	assert_int_equal(experiment->state, LODE_EXPERIMENT_TRUE);
	return experiment->found - lode_search_began(search);
}

static void a_deep_bottleneck_is_found_sooner_and_its_way_is_connected(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	const struct lode_experiment *way, *hot;
	struct simulation simulation;
	struct lode_search *search;
	uint64_t deep, plain;
	int end;

	(void)state;
	make_chain(&simulation);
	search = hunt(&simulation, &options, &end);
	deep = time_to(search, on_function(&simulation, "hot"));
	hot = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot"));
	assert_int_equal(hot->origin, LODE_ORIGIN_DEEP_START);
	way = &lode_search_history(search)->experiments[hot->parent];
	assert_int_equal(way->focus.function, simulation_function(&simulation, "f"));
	assert_int_equal(way->origin, LODE_ORIGIN_CONNECT);
	assert_int_equal(way->state, LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);

	options.strategy = LODE_STRATEGY_CALL_GRAPH;
	make_chain(&simulation);
	search = hunt(&simulation, &options, &end);
	plain = time_to(search, on_function(&simulation, "hot"));
	assert_true(plain >= 4 * deep);
	assert_int_equal(experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot"))->origin,
			 LODE_ORIGIN_CALL_GRAPH);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void deep_starters_start_before_what_connects_them_and_that_before_the_rest(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_chain(&simulation);
	for (size_t f = 0; f < lode_program_count(simulation.meter.program); f++)
		simulation.predicted[f] = simulation.real[f] = 0.06; /* one at a time */
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	assert_true(time_to(search, on_function(&simulation, "hot")) <
		    time_to(search, on_function(&simulation, "f")));
	assert_true(time_to(search, on_function(&simulation, "e")) <
		    experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "other"))->concluded -
			    lode_search_began(search));
	assert_true(lode_search_highest_cost(search) <= 0.1);
	assert_true(simulation.highest_cost <= 0.1);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- cost ---- */

/* The limit is for all that a hunt takes; but what fits by itself has its turn, whatever the meter takes. */
static void what_the_meter_itself_takes_counts_against_the_limit(void **state)
{
	static const double own[] = { 0, 0.03, 0.04, 0.5 }, highest[] = { 0.1, 0.07, 0.06, 0.05 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
		struct simulation simulation;
		struct lode_search *search;
		int end;

		make_chain(&simulation);
		for (size_t f = 0; f < lode_program_count(simulation.meter.program); f++)
			simulation.predicted[f] = simulation.real[f] = 0.01;
		simulation.own = own[i];
		search = hunt(&simulation, &options, &end);
		assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
		assert_true(simulation.highest_cost <= highest[i] + 1e-9);
		assert_true(simulation.highest_cost > highest[i] - 0.01 - 1e-9);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
}

/* Costs that were predicted too low are corrected by measuring; then experiments stop until the rest fits. */
static void measured_costs_bring_the_search_back_below_the_limit(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct lode_error error;
	struct simulation simulation;
	struct lode_search *search;
	int code, over = 0;

	(void)state;
	make_chain(&simulation);
	for (size_t f = 0; f < lode_program_count(simulation.meter.program); f++) {
		simulation.predicted[f] = 0.001;
		simulation.real[f] = 0.03;
	}
	assert_int_equal(lode_search_create(&search, &simulation.meter, &options, NULL, NULL, &error), 0);
	while ((code = lode_search_step(search, &error)) == 0) {
		over = lode_search_cost(search) > options.cost ? over + 1 : 0;
		assert_true(over < 2);
	}
	assert_int_equal(code, LODE_SEARCH_EXHAUSTED);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")), LODE_EXPERIMENT_TRUE);
	assert_int_equal(lode_search_finish(search, LODE_SEARCH_EXHAUSTED, &error), 0);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- phases, ends ---- */

static void a_process_that_dies_leaves_verdicts_or_says_why_not(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_CALL_GRAPH);
	struct simulation simulation;
	struct lode_search *search;
	const struct lode_history *history;
	int end, gone = 0;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	for (uint32_t p = 0; p < 3; p++) {
		uint32_t thread = simulation_thread(&simulation, 0, p, "main");

		simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "a b c d e");
		simulation.threads[thread].ends = p ? 0 : 2 * SECOND + SECOND / 10;
	}
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	history = lode_search_history(search);
	for (size_t i = 0; i < history->count; i++)
		gone += history->experiments[i].focus.process == 0 &&
			history->experiments[i].state == LODE_EXPERIMENT_IMPOSSIBLE;
	assert_true(gone > 0);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "e")), LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void noise_changes_few_verdicts(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	int right = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct simulation simulation;
		struct lode_search *search;
		int end;

		make_chain(&simulation);
		simulation.noise = 0.3;
		simulation.seed = (uint64_t)round + 1;
		search = hunt(&simulation, &options, &end);
		right += state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")) == LODE_EXPERIMENT_TRUE &&
			 state_of(search, LODE_CPU_BOUND, on_function(&simulation, "other")) ==
				 LODE_EXPERIMENT_FALSE &&
			 state_of(search, LODE_IO_BLOCKING, lode_focus_whole()) == LODE_EXPERIMENT_FALSE;
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
	assert_true(right >= 95);
}

/* ---- failures ---- */

static void wrong_settings_are_refused_with_a_sentence(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct lode_error error = { "" };

	(void)state;
	assert_int_equal(lode_search_options_check(&options, &error), 0);
	options.cost = 0;
	assert_int_equal(lode_search_options_check(&options, &error), LODE_USAGE);
	options.cost = 0.1;
	options.thresholds[LODE_IO_BLOCKING] = -1;
	assert_int_equal(lode_search_options_check(&options, &error), LODE_USAGE);
	options.thresholds[LODE_IO_BLOCKING] = NAN;
	assert_int_equal(lode_search_options_check(&options, &error), LODE_USAGE);
	assert_true(error.text[0]);
	lode_search_options_paradyn(&options);
	assert_int_equal(lode_search_options_check(&options, &error), 0);
}

static void make_with_lock(struct simulation *simulation)
{
	make_program(simulation, "A", figure_2);
	simulation_stack(simulation, 0, LODE_SYNC_WAITING, 0.5, "wait")->object = 7;
}

static void memory_that_runs_out_anywhere_ends_the_search_cleanly(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);

	(void)state;
	require_clean_ends(make_with_lock, &options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_bottleneck_is_found_sooner_and_its_way_is_connected),
		cmocka_unit_test(deep_starters_start_before_what_connects_them_and_that_before_the_rest),
		cmocka_unit_test(what_the_meter_itself_takes_counts_against_the_limit),
		cmocka_unit_test(measured_costs_bring_the_search_back_below_the_limit),
		cmocka_unit_test(a_process_that_dies_leaves_verdicts_or_says_why_not),
		cmocka_unit_test(noise_changes_few_verdicts),
		cmocka_unit_test(wrong_settings_are_refused_with_a_sentence),
		cmocka_unit_test(memory_that_runs_out_anywhere_ends_the_search_cleanly),
	};

	struct CMUnitTest rows[SCENARIOS];
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	for (size_t i = 0; i < SCENARIOS; i++)
		rows[i] = (struct CMUnitTest){ scenarios[i].name, check_scenario, NULL, NULL,
					       (void *)(uintptr_t)&scenarios[i] };
	return failed + cmocka_run_group_tests(rows, NULL, NULL);
}
