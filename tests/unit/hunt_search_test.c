/*
 * The search against a simulated program. The oracle is the paper's definition of
 * what a call-graph search examines, as a closure: the whole program; and whatever
 * refines something that is true. It reads the simulated program's stacks itself and
 * shares no code with the search.
 */
#include "cmocka_all.h"

#include "base/memory.h"
#include "hunt/meter/wait_objects.h"
#include "hunt/search/search.h"
#include "hunt_simulation.h"
#include "random_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

/* ---- running a search ---- */

struct told {
	size_t lines;
};

static void count_change(void *context, uint32_t experiment)
{
	(void)experiment;
	((struct told *)context)->lines++;
}

static struct lode_search *hunt(struct simulation *simulation, const struct lode_search_options *options,
				int *end)
{
	struct lode_error error = {""};
	struct lode_search *search;
	static struct told told;
	int code = lode_search_create(&search, &simulation->meter, options, count_change, &told, &error);

	for (int steps = 0; code == 0 && steps < 200000; steps++)
		code = lode_search_step(search, &error);
	assert_true(code > 0);
	*end = code;
	assert_int_equal(lode_search_finish(search, (enum lode_search_end)code, &error), 0);
	assert_int_equal(simulation->run_count, 0); /* every probe is out */
	return search;
}

static struct lode_search_options settings(enum lode_strategy strategy)
{
	struct lode_search_options options;

	lode_search_options_default(&options);
	options.strategy = strategy;
	return options;
}

static struct lode_focus on_function(struct simulation *simulation, const char *name)
{
	struct lode_focus focus = lode_focus_whole();

	focus.function = simulation_function(simulation, name);
	return focus;
}

static enum lode_experiment_state state_of(const struct lode_search *search, enum lode_hypothesis hypothesis,
					   struct lode_focus focus)
{
	uint32_t id = lode_history_find(lode_search_history(search), hypothesis, &focus);

	return id == LODE_NONE ? LODE_EXPERIMENT_STATES : lode_search_history(search)->experiments[id].state;
}

static const struct lode_experiment *experiment_of(const struct lode_search *search,
						   enum lode_hypothesis hypothesis, struct lode_focus focus)
{
	uint32_t id = lode_history_find(lode_search_history(search), hypothesis, &focus);

	assert_true(id != LODE_NONE);
	return &lode_search_history(search)->experiments[id];
}

/* ---- figure 2 ---- */

/* A is hot, B, C and D are not, E, which they all call, is. */
static void make_figure_2(struct simulation *simulation)
{
	uint32_t thread;

	assert_int_equal(simulation_init(simulation), 0);
	thread = simulation_thread(simulation, 0, 0, "A");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.18, "B E");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.18, "C E");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.18, "D E");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.40, "");
}

static void the_call_graph_search_does_not_see_what_figure_2_hides(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_CALL_GRAPH);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_figure_2(&simulation);
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "A")),
			 LODE_EXPERIMENT_TRUE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "B")),
			 LODE_EXPERIMENT_FALSE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "C")),
			 LODE_EXPERIMENT_FALSE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "D")),
			 LODE_EXPERIMENT_FALSE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "E")),
			 LODE_EXPERIMENT_STATES);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void deep_start_finds_what_figure_2_hides(void **state)
{
	for (int by_the_paper = 0; by_the_paper < 2; by_the_paper++) {
		struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
		const struct lode_experiment *deep;
		struct simulation simulation;
		struct lode_search *search;
		int end;

		(void)state;
		options.starters_by_the_paper = by_the_paper;
		make_figure_2(&simulation);
		search = hunt(&simulation, &options, &end);
		deep = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "E"));
		assert_int_equal(deep->state, LODE_EXPERIMENT_TRUE);
		assert_int_equal(deep->origin, LODE_ORIGIN_DEEP_START);
		assert_true(fabs(deep->value - 0.54) < 1e-6);
		assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "B")),
				 LODE_EXPERIMENT_FALSE);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
}

/* ---- deep starters in the search ---- */

static void make_chain(struct simulation *simulation)
{
	uint32_t thread;

	assert_int_equal(simulation_init(simulation), 0);
	thread = simulation_thread(simulation, 0, 0, "main");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.70, "a b c d e f hot");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.10, "a b other");
	simulation_stack(simulation, thread, LODE_IO_BLOCKING, 0.15, "log write");
}

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

/* Neither probes nor samples tell anything of it. */
static void a_function_that_cannot_be_measured_is_passed_through(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_CALL_GRAPH);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_chain(&simulation);
	simulation.predicted[simulation_function(&simulation, "b")] = -1;
	simulation.no_samples = 1;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "b")),
			 LODE_EXPERIMENT_IMPOSSIBLE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")),
			 LODE_EXPERIMENT_TRUE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "other")),
			 LODE_EXPERIMENT_FALSE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- cost ---- */

/* Samples tell nothing of the size of operations. */
static void what_costs_more_than_the_limit_is_deferred_where_samples_do_not_tell(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	const struct lode_experiment *small;
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_chain(&simulation);
	simulation.stacks[2].share = 0.3;
	simulation.stacks[2].operations = 100000;
	simulation.stacks[2].bytes = 16;
	simulation.predicted[simulation_function(&simulation, "write")] = 0.4;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	small = experiment_of(search, LODE_SMALL_IO, on_function(&simulation, "write"));
	assert_int_equal(small->state, LODE_EXPERIMENT_DEFERRED);
	assert_int_equal(small->runs, 0);
	assert_non_null(small->why);
	assert_int_equal(state_of(search, LODE_SMALL_IO, on_function(&simulation, "log")),
			 LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* The limit is for all that a hunt takes; but what fits by itself has its turn, whatever the meter takes. */
static void what_the_meter_itself_takes_counts_against_the_limit(void **state)
{
	static const double own[] = {0, 0.03, 0.04, 0.5}, highest[] = {0.1, 0.07, 0.06, 0.05};

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

static void what_fits_the_limit_only_alone_has_its_turn_though_the_meter_takes_some(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_chain(&simulation);
	simulation.predicted[simulation_function(&simulation, "hot")] = 0.08;
	simulation.own = 0.03;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")),
			 LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* Probes of a function that is in progress may miss it; samples do not. */
static void what_samples_show_and_probes_do_not_is_not_false(void **state)
{
	for (int times = 1; times <= 5; times += 4) {
		struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
		const struct lode_experiment *f;
		struct simulation simulation;
		struct lode_search *search;
		int end;

		(void)state;
		make_chain(&simulation);
		simulation.blind[simulation_function(&simulation, "f")] = times;
		search = hunt(&simulation, &options, &end);
		f = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "f"));
		assert_int_equal(f->state, LODE_EXPERIMENT_TRUE);
		assert_int_equal(f->evidence, times == 1 ? LODE_EVIDENCE_PROBES : LODE_EVIDENCE_SAMPLES);
		assert_int_equal(f->runs, times == 1 ? 2 : 5);
		assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")),
				 LODE_EXPERIMENT_TRUE);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
}

/* What is done later is in few of all samples, but in all of the latest; no false experiment was there
 * before. */
static void a_new_phase_has_its_deep_starters_soon(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	const struct lode_experiment *late;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;
	int end;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "load parse")->until = 31 * SECOND;
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "a b c d late")->from = 31 * SECOND;
	options.watch_on = 1;
	options.time = 60 * SECOND;
	search = hunt(&simulation, &options, &end);
	late = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "late"));
	assert_int_equal(late->origin, LODE_ORIGIN_DEEP_START);
	assert_true(late->found > 31 * SECOND && late->found < 33 * SECOND);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* One function of a loop becomes slow after it was found fast; all others stay what they are. */
static void what_becomes_slow_later_is_found(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	const struct lode_experiment *late;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;
	int end;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.3, "loop");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.5, "loop steady");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.02, "loop late");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.4, "loop late")->from = 9 * SECOND;
	simulation.stacks[simulation.stack_count - 1].until = 100 * SECOND;
	options.watch_on = 1;
	options.time = 20 * SECOND;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_TIME_UP);
	late = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "late"));
	assert_int_equal(late->state, LODE_EXPERIMENT_TRUE);
	assert_true(late->runs > 1);
	assert_true(late->found > 9 * SECOND);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* Whoever predicts too little is found out by measuring; then something is let go until it fits. */
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
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")),
			 LODE_EXPERIMENT_TRUE);
	assert_int_equal(lode_search_finish(search, LODE_SEARCH_EXHAUSTED, &error), 0);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- phases, ends ---- */

static void a_bottleneck_that_goes_away_turns_false_and_the_next_one_is_found(void **state)
{
	for (int strategy = 0; strategy < 2; strategy++) {
		struct lode_search_options options = settings((enum lode_strategy)strategy);
		const struct lode_experiment *first;
		struct simulation simulation;
		struct lode_search *search;
		uint32_t thread;
		int end;

		(void)state;
		assert_int_equal(simulation_init(&simulation), 0);
		thread = simulation_thread(&simulation, 0, 0, "main");
		simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "load")->until = 11 * SECOND;
		simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "solve")->from = 11 * SECOND;
		options.watch_on = 1;
		options.time = 60 * SECOND;
		search = hunt(&simulation, &options, &end);
		assert_int_equal(end, LODE_SEARCH_TIME_UP);
		first = experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "load"));
		assert_int_equal(first->state, LODE_EXPERIMENT_FALSE);
		assert_true(first->found && first->lost > first->found);
		assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "solve")),
				 LODE_EXPERIMENT_TRUE);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
}

static void a_program_that_wakes_up_later_is_examined_then(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_CALL_GRAPH);
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;
	int end;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "work")->from = 20 * SECOND;
	options.watch_on = 1;
	options.time = 60 * SECOND;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "work")),
			 LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

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
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "e")),
			 LODE_EXPERIMENT_TRUE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void the_end_of_the_program_ends_the_search(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_CALL_GRAPH);
	struct simulation simulation;
	struct lode_search *search;
	int end;

	(void)state;
	make_chain(&simulation);
	simulation.ends = 2 * SECOND + SECOND / 2;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_PROGRAM_ENDED);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, on_function(&simulation, "main")),
			 LODE_EXPERIMENT_TRUE);
	assert_true(lode_search_lasted(search) == SECOND + SECOND / 2);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

static void an_empty_program_is_searched_in_no_time(void **state)
{
	for (int strategy = 0; strategy < 2; strategy++) {
		struct lode_search_options options = settings((enum lode_strategy)strategy);
		struct simulation simulation;
		struct lode_search *search;
		int end;

		(void)state;
		assert_int_equal(simulation_init(&simulation), 0);
		search = hunt(&simulation, &options, &end);
		assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
		assert_int_equal(lode_search_history(search)->count, 3);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
}

static void recursion_and_cycles_end(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;
	int end;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.5, "a b a b a b a");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.4, "main main main a a a");
	search = hunt(&simulation, &options, &end);
	assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
	assert_int_equal(lode_search_history(search)->count, 3 + 3);
	assert_true(fabs(experiment_of(search, LODE_CPU_BOUND, on_function(&simulation, "a"))->value - 0.9) <
		    1e-6);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- the other hypotheses ---- */

static void locks_and_small_operations_are_found(void **state)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct lode_focus focus = lode_focus_whole();
	struct simulated_stack *stack;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;
	int end;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_SYNC_WAITING, 0.3, "take lock")->object = 0xabc;
	simulation_stack(&simulation, thread, LODE_SYNC_WAITING, 0.1, "take lock")->object = 0xdef;
	stack = simulation_stack(&simulation, thread, LODE_IO_BLOCKING, 0.4, "log write");
	stack->operations = 100000;
	stack->bytes = 16;
	search = hunt(&simulation, &options, &end);
	assert_int_equal(state_of(search, LODE_SMALL_IO, focus), LODE_EXPERIMENT_TRUE);
	assert_int_equal(state_of(search, LODE_SMALL_IO, on_function(&simulation, "write")),
			 LODE_EXPERIMENT_TRUE);
	focus.object = 0xabc;
	assert_int_equal(state_of(search, LODE_SYNC_WAITING, focus), LODE_EXPERIMENT_TRUE);
	focus.object = 0xdef;
	assert_int_equal(state_of(search, LODE_SYNC_WAITING, focus), LODE_EXPERIMENT_FALSE);
	assert_int_equal(state_of(search, LODE_CPU_BOUND, lode_focus_whole()), LODE_EXPERIMENT_FALSE);
	lode_search_destroy(search);
	simulation_release(&simulation);
}

/* ---- random programs against the closure ---- */

#define FUNCTIONS 9
#define MOST_SETS 20000

struct asked {
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	int truth; /* 1 true, 0 false, -1 cannot be measured, -2 costs too much */
};

struct oracle {
	const struct simulation *simulation;
	const struct lode_search_options *options;
	int calls[SIMULATION_MOST][SIMULATION_MOST];
	struct asked *asked;
	size_t count;
	uint32_t app, lib; /* what stands for the modules */
};

/* No object, one of two locks, or a message: two communicators with two tags each. */
static uint64_t draw_object(uint64_t *seed)
{
	uint64_t number = random_below(seed, 7);

	return number < 3 ? number
			  : lode_message_tagged(lode_message_communicator(5 + (number - 3) / 2, 0), (int32_t)(number - 3) % 2);
}

/* A random program: walks on a random call graph, on some threads, processes and hosts. */
static void draw_program(struct simulation *simulation, uint64_t *seed, struct oracle *oracle)
{
	static const char *const names[FUNCTIONS] = {"f0", "f1",     "f2",     "f3",	"f4",
						     "f5", "lib!f6", "lib!f7", "lib!f8"};
	size_t processes = 1 + random_below(seed, 3), stacks = random_below(seed, 14);

	assert_int_equal(simulation_init(simulation), 0);
	for (int i = 0; i < FUNCTIONS; i++)
		assert_int_equal(simulation_function(simulation, names[i]), i);
	for (uint32_t p = 0; p < processes; p++)
		for (size_t t = 1 + random_below(seed, 2); t > 0; t--)
			simulation_thread(simulation, p % 2 ? 1 : 0, p, names[random_below(seed, 2)]);
	for (int edges = 0; edges < 8; edges++)
		lode_program_add_call(simulation->meter.program, (uint32_t)random_below(seed, FUNCTIONS),
				      (uint32_t)random_below(seed, FUNCTIONS));
	for (size_t s = 0; s < stacks; s++) {
		char text[64] = "";
		struct simulated_stack *stack;

		for (size_t depth = random_below(seed, 6); depth > 0; depth--) {
			strcat(text, names[random_below(seed, FUNCTIONS)]);
			strcat(text, " ");
		}
		stack = simulation_stack(simulation, (uint32_t)random_below(seed, simulation->thread_count),
					 (enum lode_hypothesis)random_below(seed, 3),
					 (double)random_below(seed, 400) / 1000, text);
		if (stack->kind == LODE_SYNC_WAITING)
			stack->object = draw_object(seed);
		if (stack->kind == LODE_IO_BLOCKING) {
			stack->operations = 1000 * (double)(1 + random_below(seed, 9));
			stack->bytes = (double)(1 + random_below(seed, 9000));
		}
	}
	for (int i = 0; i < FUNCTIONS; i++)
		simulation->predicted[i] = simulation->real[i] = (double)random_below(seed, 100) / 1000;
	for (int i = random_below(seed, 5) ? (int)random_below(seed, 3) : FUNCTIONS; i > 0; i--)
		simulation->predicted[i - 1] = 0.3;
	if (!random_below(seed, 3))
		simulation->predicted[random_below(seed, FUNCTIONS)] = -1;
	if (!random_below(seed, 4))
		simulation->no_samples = 1;
	oracle->app = oracle->lib = LODE_NONE;
	lode_program_module(simulation->meter.program, 0, &oracle->app);
	lode_program_module(simulation->meter.program, FUNCTIONS - 1, &oracle->lib);
	memset(oracle->calls, 0, sizeof(oracle->calls));
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		size_t count;
		const uint32_t *callees = lode_program_callees(simulation->meter.program, f, &count);

		for (size_t i = 0; i < count; i++)
			oracle->calls[f][callees[i]] = 1;
	}
}

static int oracle_thread_matches(const struct oracle *oracle, uint32_t thread, struct lode_focus focus)
{
	const struct simulated_thread *it = &oracle->simulation->threads[thread];

	if (focus.host != LODE_NONE && it->host != focus.host)
		return 0;
	if (focus.process != LODE_NONE && it->process != focus.process)
		return 0;
	return focus.thread == LODE_NONE || thread == focus.thread;
}

static uint32_t oracle_module(const struct oracle *oracle, const struct simulated_stack *stack)
{
	return stack->functions[stack->depth - 1] >= 6 ? oracle->lib : oracle->app;
}

/* The communicator that a message goes through; 0: it is none. Two communicators with two tags each. */
static uint64_t oracle_communicator(uint64_t object)
{
	for (uint64_t handle = 5; handle < 7; handle++)
		for (int tag = 0; tag < 2; tag++)
			if (object == lode_message_tagged(lode_message_communicator(handle, 0), tag))
				return lode_message_communicator(handle, 0);
	return 0;
}

static int oracle_stack_matches(const struct oracle *oracle, const struct simulated_stack *stack,
				struct lode_focus focus)
{
	int held = focus.function == LODE_NONE || focus.function == oracle_module(oracle, stack);

	for (size_t i = 0; i < stack->depth; i++)
		held |= stack->functions[i] == focus.function;
	return held && oracle_thread_matches(oracle, stack->thread, focus) &&
	       (focus.object == 0 || stack->object == focus.object ||
		oracle_communicator(stack->object) == focus.object);
}

static int oracle_truth(const struct oracle *oracle, enum lode_hypothesis hypothesis, struct lode_focus focus)
{
	int processes[SIMULATION_MOST] = {0};
	double sum = 0, operations = 0, bytes = 0, wall = 0;

	if (focus.function < FUNCTIONS) {
		double cost = oracle->simulation->predicted[focus.function];
		int samples_tell = hypothesis != LODE_SMALL_IO && !focus.object;

		if (cost < 0 && (!samples_tell || oracle->simulation->no_samples))
			return -1;
		if (cost > oracle->options->cost && !samples_tell)
			return -2;
		if (cost > oracle->options->cost && oracle->simulation->no_samples)
			return -1;
	}
	for (uint32_t t = 0; t < oracle->simulation->thread_count; t++)
		if (oracle_thread_matches(oracle, t, focus))
			processes[oracle->simulation->threads[t].process] = 1;
	for (int p = 0; p < SIMULATION_MOST; p++)
		wall += processes[p];
	for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
		const struct simulated_stack *stack = &oracle->simulation->stacks[s];

		if (!oracle_stack_matches(oracle, stack, focus))
			continue;
		if (stack->kind == hypothesis)
			sum += stack->share;
		operations += stack->operations;
		bytes += stack->operations * stack->bytes;
	}
	if (hypothesis == LODE_SMALL_IO)
		return operations > 0 && bytes / operations < oracle->options->thresholds[LODE_SMALL_IO];
	return wall > 0 && sum / wall > oracle->options->thresholds[hypothesis];
}

static void oracle_ask(struct oracle *oracle, enum lode_hypothesis hypothesis, struct lode_focus focus)
{
	for (size_t i = 0; i < oracle->count; i++) {
		const struct lode_focus *other = &oracle->asked[i].focus;

		if (oracle->asked[i].hypothesis == hypothesis && other->function == focus.function &&
		    other->host == focus.host && other->process == focus.process &&
		    other->thread == focus.thread && other->object == focus.object)
			return;
	}
	assert_true(oracle->count < MOST_SETS);
	oracle->asked[oracle->count++] =
		(struct asked){hypothesis, focus, oracle_truth(oracle, hypothesis, focus)};
}

static void oracle_refine_code(struct oracle *oracle, const struct asked *asked)
{
	struct lode_focus focus = asked->focus;

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		int wanted = 0;

		if (asked->focus.function == LODE_NONE)
			for (uint32_t t = 0; t < oracle->simulation->thread_count; t++)
				wanted |= oracle_thread_matches(oracle, t, asked->focus) &&
					  oracle->simulation->threads[t].root == f;
		else if (asked->focus.function < FUNCTIONS)
			wanted = f != asked->focus.function && oracle->calls[asked->focus.function][f];
		focus.function = f;
		if (wanted)
			oracle_ask(oracle, asked->hypothesis, focus);
	}
}

/* The modules in which samples end, if there are several. */
static void oracle_refine_modules(struct oracle *oracle, const struct asked *asked)
{
	int app = 0, lib = 0;

	if (asked->focus.function != LODE_NONE || asked->focus.object || oracle->simulation->no_samples)
		return;
	for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
		const struct simulated_stack *stack = &oracle->simulation->stacks[s];

		if (stack->kind != asked->hypothesis || !oracle_stack_matches(oracle, stack, asked->focus))
			continue;
		app |= oracle_module(oracle, stack) == oracle->app;
		lib |= oracle_module(oracle, stack) == oracle->lib;
	}
	for (int i = 0; i < 2 && app && lib; i++) {
		struct lode_focus focus = asked->focus;

		focus.function = i ? oracle->lib : oracle->app;
		oracle_ask(oracle, asked->hypothesis, focus);
	}
}

/* Hosts if there are several, else processes if there are several, else threads if there are several. */
static void oracle_refine_place(struct oracle *oracle, const struct asked *asked)
{
	uint32_t seen[3][SIMULATION_MOST], counts[3] = {0};
	struct lode_focus focus = asked->focus;

	for (uint32_t t = 0; t < oracle->simulation->thread_count; t++) {
		const struct simulated_thread *thread = &oracle->simulation->threads[t];
		uint32_t here[3] = {thread->host, thread->process, t};

		if (!oracle_thread_matches(oracle, t, focus))
			continue;
		for (int level = 0; level < 3; level++) {
			uint32_t i = 0;

			while (i < counts[level] && seen[level][i] != here[level])
				i++;
			seen[level][i] = here[level];
			counts[level] += i == counts[level];
		}
	}
	for (int level = 0; level < 3; level++) {
		if (counts[level] <= 1)
			continue;
		for (uint32_t i = 0; i < counts[level]; i++) {
			struct lode_focus narrow = focus;

			*(level == 0   ? &narrow.host
			  : level == 1 ? &narrow.process
				       : &narrow.thread) = seen[level][i];
			oracle_ask(oracle, asked->hypothesis, narrow);
		}
		return;
	}
}

/* From a communicator to what is sent through it, by tag. */
static void oracle_refine_tags(struct oracle *oracle, const struct asked *asked)
{
	if (asked->hypothesis != LODE_SYNC_WAITING || !asked->focus.object)
		return;
	for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
		const struct simulated_stack *stack = &oracle->simulation->stacks[s];
		struct lode_focus focus = asked->focus;

		focus.object = stack->object;
		if (stack->kind == LODE_SYNC_WAITING && oracle_communicator(stack->object) == asked->focus.object &&
		    oracle_stack_matches(oracle, stack, asked->focus))
			oracle_ask(oracle, LODE_SYNC_WAITING, focus);
	}
}

static void oracle_refine(struct oracle *oracle, struct asked asked)
{
	if (asked.truth == 0 || asked.truth == -2 || asked.hypothesis == LODE_SMALL_IO)
		return;
	oracle_refine_code(oracle, &asked);
	if (asked.truth < 0)
		return;
	oracle_refine_modules(oracle, &asked);
	if (asked.focus.function == oracle->app || asked.focus.function == oracle->lib) {
		oracle_refine_place(oracle, &asked);
		return;
	}
	if (asked.hypothesis == LODE_IO_BLOCKING)
		oracle_ask(oracle, LODE_SMALL_IO, asked.focus);
	oracle_refine_place(oracle, &asked);
	oracle_refine_tags(oracle, &asked);
	if (asked.hypothesis == LODE_SYNC_WAITING && !asked.focus.object)
		for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
			const struct simulated_stack *stack = &oracle->simulation->stacks[s];
			struct lode_focus focus = asked.focus;

			focus.object = oracle_communicator(stack->object) ? oracle_communicator(stack->object)
									  : stack->object;
			if (stack->object && stack->kind == LODE_SYNC_WAITING &&
			    oracle_stack_matches(oracle, stack, asked.focus))
				oracle_ask(oracle, LODE_SYNC_WAITING, focus);
		}
}

static void oracle_close(struct oracle *oracle)
{
	struct lode_focus whole = {LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0};

	oracle->count = 0;
	for (int h = 0; h < LODE_SMALL_IO; h++)
		oracle_ask(oracle, (enum lode_hypothesis)h, whole);
	for (size_t i = 0; i < oracle->count; i++)
		oracle_refine(oracle, oracle->asked[i]);
}

static enum lode_experiment_state expected_state(const struct asked *asked)
{
	return asked->truth > 0	    ? LODE_EXPERIMENT_TRUE
	       : asked->truth == 0  ? LODE_EXPERIMENT_FALSE
	       : asked->truth == -1 ? LODE_EXPERIMENT_IMPOSSIBLE
				    : LODE_EXPERIMENT_DEFERRED;
}

static int was_asked(const struct oracle *oracle, enum lode_hypothesis hypothesis,
		     const struct lode_focus *focus)
{
	for (size_t i = 0; i < oracle->count; i++)
		if (oracle->asked[i].hypothesis == hypothesis &&
		    !memcmp(&oracle->asked[i].focus, focus, sizeof(*focus)))
			return 1;
	return 0;
}

/* What must be false since something wider is need not be examined; all that is true must be found. */
static void check_closure(const struct oracle *oracle, const struct lode_search *search, int exactly)
{
	const struct lode_history *history = lode_search_history(search);

	for (size_t i = 0; i < oracle->count; i++) {
		enum lode_experiment_state now =
			state_of(search, oracle->asked[i].hypothesis, oracle->asked[i].focus);

		if (oracle->asked[i].truth > 0 || now != LODE_EXPERIMENT_STATES)
			assert_int_equal(now, expected_state(&oracle->asked[i]));
	}
	/* Whatever else was examined has the right verdict, too. */
	for (size_t i = 0; i < history->count; i++) {
		const struct lode_experiment *experiment = &history->experiments[i];
		struct asked asked = {experiment->hypothesis, experiment->focus,
				      oracle_truth(oracle, experiment->hypothesis, experiment->focus)};

		if (exactly)
			assert_true(was_asked(oracle, experiment->hypothesis, &experiment->focus));
		assert_int_equal(experiment->state, expected_state(&asked));
		assert_true((experiment->parent == LODE_NONE) == (i < 3));
		if (experiment->state == LODE_EXPERIMENT_TRUE && experiment->hypothesis != LODE_SMALL_IO)
			assert_true(experiment->value > experiment->threshold &&
				    experiment->confidence > 0.9);
	}
}

/* Each function that samples show often enough, where its hypothesis is true for the program, has its
 * experiment. */
static void check_starters(const struct oracle *oracle, const struct lode_search *search)
{
	for (int h = 0; h < LODE_SMALL_IO; h++) {
		struct lode_focus focus = {LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0};
		double all = 0, some;

		if (oracle_truth(oracle, (enum lode_hypothesis)h, focus) <= 0)
			continue;
		for (size_t s = 0; s < oracle->simulation->stack_count; s++)
			if ((int)oracle->simulation->stacks[s].kind == h)
				all += oracle->simulation->stacks[s].share;
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			focus.function = f;
			some = 0;
			for (size_t s = 0; s < oracle->simulation->stack_count; s++)
				if ((int)oracle->simulation->stacks[s].kind == h &&
				    oracle_stack_matches(oracle, &oracle->simulation->stacks[s], focus))
					some += oracle->simulation->stacks[s].share;
			if (some > 0.201 * all)
				assert_true(state_of(search, (enum lode_hypothesis)h, focus) !=
					    LODE_EXPERIMENT_STATES);
		}
	}
}

/* ---- the paper's deep starters, from section 2.1, by brute force ---- */

struct paper_graph {
	double weight[FUNCTIONS], all;
	int called[FUNCTIONS][FUNCTIONS];
	int depth[FUNCTIONS];	/* calls from where samples begin; -1: not seen */
	int group[FUNCTIONS];	/* of those above the threshold; -1: none */
	int starter[FUNCTIONS]; /* of its group */
	int is_unclear;		/* a share is the threshold, but for rounding */
};

/* All samples of a host or process count, of whatever kind; a function once a sample. */
static void count_samples(const struct oracle *oracle, struct lode_focus place, struct paper_graph *graph)
{
	place.function = place.thread = LODE_NONE;
	place.object = 0;
	for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
		const struct simulated_stack *stack = &oracle->simulation->stacks[s];
		int seen[FUNCTIONS] = {0};

		if (!oracle_thread_matches(oracle, stack->thread, place))
			continue;
		graph->all += stack->share;
		graph->depth[stack->functions[0]] = 0;
		for (size_t i = 0; i < stack->depth; i++) {
			uint32_t function = stack->functions[i];

			graph->weight[function] += seen[function] ? 0 : stack->share;
			seen[function] = 1;
			if (i)
				graph->called[stack->functions[i - 1]][function] = 1;
		}
	}
}

static void measure_paper_graph(struct paper_graph *graph, double threshold)
{
	for (int round = 0; round < FUNCTIONS; round++)
		for (int a = 0; a < FUNCTIONS; a++)
			for (int b = 0; b < FUNCTIONS; b++)
				if (graph->called[a][b] && graph->depth[a] == round && graph->depth[b] < 0)
					graph->depth[b] = round + 1;
	for (int f = 0; f < FUNCTIONS; f++) {
		double share = graph->all > 0 ? graph->weight[f] / graph->all : 0;

		graph->is_unclear |= fabs(share - threshold) < 1e-6;
		graph->group[f] = share > threshold ? f : -1;
	}
	for (int round = 0; round < FUNCTIONS; round++)
		for (int a = 0; a < FUNCTIONS; a++)
			for (int b = 0; b < FUNCTIONS; b++)
				if ((graph->called[a][b] || graph->called[b][a]) && graph->group[a] >= 0 &&
				    graph->group[b] > graph->group[a])
					graph->group[b] = graph->group[a];
}

static int is_deeper(const struct paper_graph *graph, int a, int b)
{
	if (graph->depth[a] != graph->depth[b])
		return graph->depth[a] > graph->depth[b];
	if (fabs(graph->weight[a] - graph->weight[b]) > 1e-9)
		return graph->weight[a] > graph->weight[b];
	return a < b;
}

static struct paper_graph draw_paper_graph(const struct oracle *oracle, struct lode_focus place)
{
	struct paper_graph graph = {.all = 0};

	for (int f = 0; f < FUNCTIONS; f++)
		graph.depth[f] = -1;
	count_samples(oracle, place, &graph);
	measure_paper_graph(&graph, oracle->options->deep_threshold);
	for (int f = 0; f < FUNCTIONS; f++) {
		int best = graph.group[f] >= 0;

		for (int other = 0; best && other < FUNCTIONS; other++)
			best = other == f || graph.group[other] != graph.group[f] || is_deeper(&graph, f, other);
		graph.starter[f] = best;
	}
	return graph;
}

/* What makes the paper choose: an experiment on a function that tests true. */
static int is_trigger(const struct lode_experiment *experiment)
{
	return experiment->found && experiment->focus.function < FUNCTIONS &&
	       experiment->hypothesis != LODE_SMALL_IO;
}

static int is_beside(const struct lode_experiment *a, const struct lode_experiment *b)
{
	struct lode_focus left = a->focus, right = b->focus;

	left.function = right.function = LODE_NONE;
	return a->hypothesis == b->hypothesis && !memcmp(&left, &right, sizeof(left));
}

/*
 * Whether the plain search had made the experiment, before it was chosen: from another
 * place, as a root, or as what is called by a function that cannot be measured.
 */
static int was_there(const struct lode_history *history, const struct lode_experiment *experiment)
{
	const struct lode_experiment *parent = &history->experiments[experiment->parent];

	return !is_beside(parent, experiment) || parent->focus.function == LODE_NONE ||
	       parent->state == LODE_EXPERIMENT_IMPOSSIBLE;
}

/* Each deep starter was triggered, and is one by the paper. */
static int check_a_paper_starter(const struct oracle *oracle, const struct lode_search *search, size_t id)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *starter = &history->experiments[id];
	struct paper_graph graph = draw_paper_graph(oracle, starter->focus);
	int triggered = 0;

	for (size_t i = 0; i < history->count; i++)
		triggered |= is_trigger(&history->experiments[i]) && is_beside(&history->experiments[i], starter) &&
			     (was_there(history, starter) ||
			      (i != id && history->experiments[i].found <= starter->created));
	assert_true(triggered);
	if (!graph.is_unclear)
		assert_true(graph.starter[starter->focus.function]);
	return !graph.is_unclear;
}

/* And each trigger made all that the paper chooses. */
static void check_a_trigger(const struct oracle *oracle, const struct lode_search *search, size_t id)
{
	const struct lode_experiment *trigger = &lode_search_history(search)->experiments[id];
	struct paper_graph graph = draw_paper_graph(oracle, trigger->focus);

	for (uint32_t f = 0; f < FUNCTIONS && !graph.is_unclear; f++) {
		struct lode_focus focus = trigger->focus;

		focus.function = f;
		if (graph.starter[f])
			assert_true(experiment_of(search, trigger->hypothesis, focus)->starter);
	}
}

static int check_paper_starters(const struct oracle *oracle, const struct lode_search *search)
{
	const struct lode_history *history = lode_search_history(search);
	int checked = 0;

	for (size_t i = 0; i < history->count; i++) {
		if (history->experiments[i].starter)
			checked += check_a_paper_starter(oracle, search, i);
		if (is_trigger(&history->experiments[i]))
			check_a_trigger(oracle, search, i);
	}
	return checked;
}

/* Returns how many deep starters of the paper were checked. */
static int search_random(enum lode_strategy strategy, int by_the_paper, uint64_t seed, int rounds)
{
	struct oracle oracle = {.asked = calloc(MOST_SETS, sizeof(*oracle.asked))};
	int starters = 0;

	for (int round = 0; round < rounds; round++) {
		struct lode_search_options options = settings(strategy);
		struct simulation simulation;
		struct lode_search *search;
		int end;

		for (int h = 0; h < LODE_SMALL_IO; h++)
			options.thresholds[h] =
				0.05005 + (double)random_below(&seed, 4) / 10; /* never met exactly */
		options.thresholds[LODE_SMALL_IO] = 4096.3;
		options.starters_by_the_paper = by_the_paper;
		oracle.simulation = &simulation;
		oracle.options = &options;
		draw_program(&simulation, &seed, &oracle);
		oracle_close(&oracle);
		search = hunt(&simulation, &options, &end);
		assert_int_equal(end, LODE_SEARCH_EXHAUSTED);
		check_closure(&oracle, search, strategy == LODE_STRATEGY_CALL_GRAPH || simulation.no_samples);
		if (strategy == LODE_STRATEGY_DEEP_START && !by_the_paper && !simulation.no_samples)
			check_starters(&oracle, search);
		if (strategy == LODE_STRATEGY_DEEP_START && by_the_paper && !simulation.no_samples)
			starters += check_paper_starters(&oracle, search);
		assert_true(simulation.highest_cost <= options.cost + 1e-9);
		assert_true(lode_search_highest_cost(search) <= options.cost + 1e-9);
		lode_search_destroy(search);
		simulation_release(&simulation);
	}
	free(oracle.asked);
	return starters;
}

static void a_call_graph_search_examines_exactly_what_the_paper_says(void **state)
{
	(void)state;
	search_random(LODE_STRATEGY_CALL_GRAPH, 0, 11, 400);
}

static void deep_start_examines_all_of_that_and_what_samples_show(void **state)
{
	(void)state;
	search_random(LODE_STRATEGY_DEEP_START, 0, 12, 400);
}

static void the_profile_of_paradyn_chooses_deep_starters_as_the_paper_does(void **state)
{
	(void)state;
	assert_true(search_random(LODE_STRATEGY_DEEP_START, 1, 13, 400) > 1000);
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
		right += state_of(search, LODE_CPU_BOUND, on_function(&simulation, "hot")) ==
				 LODE_EXPERIMENT_TRUE &&
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
	struct lode_error error = {""};

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

static int try_search(uint64_t nth, uint64_t *asked)
{
	struct lode_search_options options = settings(LODE_STRATEGY_DEEP_START);
	struct lode_error error = {""};
	struct simulation simulation;
	struct lode_search *search = NULL;
	int code;

	make_figure_2(&simulation);
	simulation_stack(&simulation, 0, LODE_SYNC_WAITING, 0.5, "wait")->object = 7;
	lode_memory_fail_at(nth, 0);
	code = lode_search_create(&search, &simulation.meter, &options, NULL, NULL, &error);
	while (!code)
		code = lode_search_step(search, &error);
	if (code > 0)
		code = lode_search_finish(search, (enum lode_search_end)code, &error);
	*asked = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	assert_true(code == 0 || (code == LODE_SYSTEM && error.text[0]));
	lode_search_destroy(search);
	simulation_release(&simulation);
	return code;
}

static void memory_that_runs_out_anywhere_ends_the_search_cleanly(void **state)
{
	uint64_t asked, ignored;
	int failed = 0;

	(void)state;
	assert_int_equal(try_search(0, &asked), 0);
	for (uint64_t nth = 1; nth <= asked; nth++)
		failed += try_search(nth, &ignored) < 0;
	assert_true(failed > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_call_graph_search_does_not_see_what_figure_2_hides),
		cmocka_unit_test(deep_start_finds_what_figure_2_hides),
		cmocka_unit_test(a_deep_bottleneck_is_found_sooner_and_its_way_is_connected),
		cmocka_unit_test(deep_starters_start_before_what_connects_them_and_that_before_the_rest),
		cmocka_unit_test(a_function_that_cannot_be_measured_is_passed_through),
		cmocka_unit_test(what_costs_more_than_the_limit_is_deferred_where_samples_do_not_tell),
		cmocka_unit_test(what_the_meter_itself_takes_counts_against_the_limit),
		cmocka_unit_test(what_fits_the_limit_only_alone_has_its_turn_though_the_meter_takes_some),
		cmocka_unit_test(what_samples_show_and_probes_do_not_is_not_false),
		cmocka_unit_test(a_new_phase_has_its_deep_starters_soon),
		cmocka_unit_test(what_becomes_slow_later_is_found),
		cmocka_unit_test(measured_costs_bring_the_search_back_below_the_limit),
		cmocka_unit_test(a_bottleneck_that_goes_away_turns_false_and_the_next_one_is_found),
		cmocka_unit_test(a_program_that_wakes_up_later_is_examined_then),
		cmocka_unit_test(a_process_that_dies_leaves_verdicts_or_says_why_not),
		cmocka_unit_test(the_end_of_the_program_ends_the_search),
		cmocka_unit_test(an_empty_program_is_searched_in_no_time),
		cmocka_unit_test(recursion_and_cycles_end),
		cmocka_unit_test(locks_and_small_operations_are_found),
		cmocka_unit_test(a_call_graph_search_examines_exactly_what_the_paper_says),
		cmocka_unit_test(deep_start_examines_all_of_that_and_what_samples_show),
		cmocka_unit_test(the_profile_of_paradyn_chooses_deep_starters_as_the_paper_does),
		cmocka_unit_test(noise_changes_few_verdicts),
		cmocka_unit_test(wrong_settings_are_refused_with_a_sentence),
		cmocka_unit_test(memory_that_runs_out_anywhere_ends_the_search_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
