/*
 * Verdicts by samples, and modules, in a simulated program whose shares are known: what
 * samples may decide, when they do, and that what they do not show makes nothing false.
 * Whole searches against a closure are in hunt_search_test.c.
 */
#include "hunt_search_fixture.h"

#include <math.h>
#include <string.h>

#define SECOND      1000000000ull
#define MILLISECOND 1000000ull

/* ---- running a search ---- */

static struct lode_search *hunt_with(struct simulation *simulation, const struct lode_search_options *options)
{
	int end;

	return hunt(simulation, options, &end);
}

static struct lode_search *hunt_by(struct simulation *simulation, enum lode_strategy strategy)
{
	struct lode_search_options options = settings(strategy);

	return hunt_with(simulation, &options);
}

static void release(struct lode_search *search, struct simulation *simulation)
{
	lode_search_destroy(search);
	simulation_release(simulation);
}

static const struct lode_experiment *find(const struct lode_search *search, enum lode_hypothesis hypothesis,
					  struct lode_focus focus)
{
	uint32_t id = lode_history_find(lode_search_history(search), hypothesis, &focus);

	return id == LODE_NONE ? NULL : &lode_search_history(search)->experiments[id];
}

static const struct lode_experiment *on(const struct lode_search *search, enum lode_hypothesis hypothesis,
					struct simulation *simulation, const char *name)
{
	struct lode_focus focus = lode_focus_whole();
	const struct lode_experiment *experiment;

	focus.function = simulation_function(simulation, name);
	experiment = find(search, hypothesis, focus);
	assert_non_null(experiment);
	return experiment;
}

/* The focus of the module of a function. */
static struct lode_focus in_module_of(struct simulation *simulation, const char *name)
{
	struct lode_focus focus = lode_focus_whole();

	assert_int_equal(lode_program_module(simulation->meter.program, simulation_function(simulation, name),
					     &focus.function),
			 0);
	return focus;
}

static void check(const struct lode_experiment *experiment, enum lode_experiment_state state,
		  enum lode_evidence evidence, double value)
{
	assert_int_equal(experiment->state, state);
	assert_int_equal(experiment->evidence, evidence);
	assert_true(fabs(experiment->value - value) < 1e-6);
}

/* main calls `often` (60%), that calls `sort` (30%), that calls `merge` (15%); and `rare` (10%). */
static void make_program(struct simulation *simulation)
{
	uint32_t thread;

	assert_int_equal(simulation_init(simulation), 0);
	thread = simulation_thread(simulation, 0, 0, "main");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.3, "often");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.15, "often sort");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.15, "often sort merge");
	simulation_stack(simulation, thread, LODE_CPU_BOUND, 0.1, "rare");
}

/* ---- when samples decide ---- */

static void what_would_cost_too_much_gets_its_verdict_by_samples(void **state)
{
	(void)state;
	for (int strategy = 0; strategy < 2; strategy++) {
		struct simulation simulation;
		struct lode_search *search;

		make_program(&simulation);
		for (uint32_t f = 0; f < lode_program_count(simulation.meter.program); f++)
			simulation.predicted[f] = simulation.real[f] = 0.42;
		search = hunt_by(&simulation, (enum lode_strategy)strategy);
		check(on(search, LODE_CPU_BOUND, &simulation, "often"), LODE_EXPERIMENT_TRUE,
		      LODE_EVIDENCE_SAMPLES, 0.6);
		check(on(search, LODE_CPU_BOUND, &simulation, "sort"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES,
		      0.3);
		check(on(search, LODE_CPU_BOUND, &simulation, "merge"), LODE_EXPERIMENT_FALSE,
		      LODE_EVIDENCE_SAMPLES, 0.15);
		check(on(search, LODE_CPU_BOUND, &simulation, "rare"), LODE_EXPERIMENT_FALSE,
		      LODE_EVIDENCE_SAMPLES, 0.1);
		assert_string_equal(on(search, LODE_CPU_BOUND, &simulation, "rare")->not_probed,
				    "its probes would cost 42% of the program's time");
		assert_true(simulation.highest_cost == 0); /* not one probe went in */
		release(search, &simulation);
	}
}

static void what_turns_out_costly_is_taken_out_and_samples_go_on(void **state)
{
	const struct lode_experiment *often;
	struct simulation simulation;
	struct lode_search *search;

	(void)state;
	make_program(&simulation);
	simulation.real[simulation_function(&simulation, "often")] = 0.5;
	simulation.allowed = 0.1;
	search = hunt_by(&simulation, LODE_STRATEGY_CALL_GRAPH);
	often = on(search, LODE_CPU_BOUND, &simulation, "often");
	check(often, LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.6);
	assert_string_equal(often->not_probed, "cost more than it was allowed");
	assert_null(often->why);
	check(on(search, LODE_CPU_BOUND, &simulation, "sort"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_PROBES, 0.3);
	check(on(search, LODE_CPU_BOUND, &simulation, "merge"), LODE_EXPERIMENT_FALSE, LODE_EVIDENCE_PROBES, 0.15);
	release(search, &simulation);
}

static void what_cannot_be_probed_gets_its_verdict_by_samples(void **state)
{
	struct simulation simulation;
	struct lode_search *search;

	(void)state;
	make_program(&simulation);
	simulation.predicted[simulation_function(&simulation, "often")] = -1;
	simulation.predicted[simulation_function(&simulation, "rare")] = -1;
	search = hunt_by(&simulation, LODE_STRATEGY_CALL_GRAPH);
	check(on(search, LODE_CPU_BOUND, &simulation, "often"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.6);
	check(on(search, LODE_CPU_BOUND, &simulation, "rare"), LODE_EXPERIMENT_FALSE, LODE_EVIDENCE_SAMPLES, 0.1);
	assert_string_equal(on(search, LODE_CPU_BOUND, &simulation, "rare")->not_probed, "cannot be probed");
	release(search, &simulation);
}

/* And those that rest on samples wait for nobody. */
static void to_wait_for_room_is_no_reason_for_samples(void **state)
{
	const struct lode_experiment *often, *merge;
	struct simulation simulation;
	struct lode_search *search;

	(void)state;
	make_program(&simulation);
	for (uint32_t f = 0; f < lode_program_count(simulation.meter.program); f++)
		simulation.predicted[f] = simulation.real[f] = 0.08; /* one at a time */
	simulation.predicted[simulation_function(&simulation, "often")] = 0.3;
	simulation.predicted[simulation_function(&simulation, "merge")] = 0.3;
	search = hunt_by(&simulation, LODE_STRATEGY_DEEP_START);
	often = on(search, LODE_CPU_BOUND, &simulation, "often");
	merge = on(search, LODE_CPU_BOUND, &simulation, "merge");
	check(on(search, LODE_CPU_BOUND, &simulation, "main"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_PROBES, 0.7);
	check(on(search, LODE_CPU_BOUND, &simulation, "sort"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_PROBES, 0.3);
	check(on(search, LODE_CPU_BOUND, &simulation, "rare"), LODE_EXPERIMENT_FALSE, LODE_EVIDENCE_PROBES, 0.1);
	check(often, LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.6);
	check(merge, LODE_EXPERIMENT_FALSE, LODE_EVIDENCE_SAMPLES, 0.15);
	assert_true(often->started == often->created && merge->started == merge->created);
	assert_true(simulation.highest_cost <= 0.1);
	release(search, &simulation);
}

/* Samples of the last second have reported already what a new experiment asks; those of before are of another
 * phase. */
static void samples_from_before_it_began_count(void **state)
{
	const struct lode_experiment *often, *late;
	struct lode_search_options options;
	struct simulation simulation;
	struct lode_search *search;

	(void)state;
	make_program(&simulation);
	simulation.stacks[3].until = 21 * SECOND; /* rare, until then */
	simulation_stack(&simulation, 0, LODE_CPU_BOUND, 0.5, "late")->from = 11 * SECOND;
	simulation.predicted[simulation_function(&simulation, "often")] = 0.4;
	simulation.predicted[simulation_function(&simulation, "late")] = 0.4;
	lode_search_options_default(&options);
	options.watch_on = 1;
	options.time = 20 * SECOND;
	search = hunt_with(&simulation, &options);
	often = on(search, LODE_CPU_BOUND, &simulation, "often");
	check(often, LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.6);
	assert_int_equal(often->found - often->created, 100 * MILLISECOND);
	assert_int_equal(often->past_time, 400 * MILLISECOND); /* the first look was after the first interval */
	late = on(search, LODE_CPU_BOUND, &simulation, "late");
	assert_int_equal(late->state, LODE_EXPERIMENT_TRUE);
	assert_true(late->found > 11 * SECOND && late->found < 12 * SECOND + SECOND / 2);
	assert_int_equal(late->past_time, SECOND);
	release(search, &simulation);
}

static void a_true_one_is_watched_on_and_may_turn_false(void **state)
{
	struct lode_search_options options;
	const struct lode_experiment *load;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "load")->until = 11 * SECOND;
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.9, "solve")->from = 11 * SECOND;
	simulation.predicted[simulation_function(&simulation, "load")] = 0.5;
	simulation.predicted[simulation_function(&simulation, "solve")] = 0.5;
	lode_search_options_default(&options);
	options.watch_on = 1;
	options.time = 40 * SECOND;
	search = hunt_with(&simulation, &options);
	load = on(search, LODE_CPU_BOUND, &simulation, "load");
	assert_int_equal(load->state, LODE_EXPERIMENT_FALSE);
	assert_true(load->found && load->lost > 11 * SECOND);
	assert_int_equal(on(search, LODE_CPU_BOUND, &simulation, "solve")->state, LODE_EXPERIMENT_TRUE);
	release(search, &simulation);
}

/* ---- how sure samples are ---- */

/* Of many hunts with samples that are drawn by chance, how many have the right verdict about `often`. */
static int count_right(double share, uint64_t period, double lost, double *largest_error)
{
	int right = 0;

	*largest_error = 0;
	for (uint64_t round = 1; round <= 200; round++) {
		const struct lode_experiment *often;
		struct simulation simulation;
		struct lode_search *search;
		uint32_t thread;

		assert_int_equal(simulation_init(&simulation), 0);
		thread = simulation_thread(&simulation, 0, 0, "main");
		simulation_stack(&simulation, thread, LODE_CPU_BOUND, share, "often");
		simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.95 - share, "");
		simulation.predicted[simulation_function(&simulation, "often")] = 0.5;
		simulation.period = period;
		simulation.lost = lost;
		simulation.seed = round;
		search = hunt_by(&simulation, LODE_STRATEGY_CALL_GRAPH);
		often = on(search, LODE_CPU_BOUND, &simulation, "often");
		right += often->state == (share > 0.2 ? LODE_EXPERIMENT_TRUE : LODE_EXPERIMENT_FALSE);
		*largest_error = fmax(*largest_error, fabs(often->mean - share));
		release(search, &simulation);
	}
	return right;
}

static void chance_makes_few_verdicts_wrong(void **state)
{
	static const double shares[] = { 0, 0.02, 0.15, 0.26, 0.5, 0.9 };
	double error;

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		assert_true(count_right(shares[i], 2 * MILLISECOND, 0, &error) >= 190);
}

/* With one sample in 80 ms there are six in the first half second: often none shows a function of 30%. */
static void few_samples_are_no_certainty(void **state)
{
	double error;

	(void)state;
	assert_true(count_right(0.3, 80 * MILLISECOND, 0, &error) >= 170);
}

/* Samples only divide up what the clock has: that a third does not come changes no share. */
static void samples_that_are_lost_change_no_share(void **state)
{
	double error;

	(void)state;
	assert_true(count_right(0.5, MILLISECOND, 0.33, &error) >= 190);
	assert_true(error < 0.12);
}

/* ---- what samples do not show ---- */

static void what_a_cut_stack_may_hide_is_not_false(void **state)
{
	const struct lode_experiment *outer;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.5, "outer a b c deep")->cut = 4;
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.3, "other");
	simulation_stack(&simulation, thread, LODE_CPU_BOUND, 0.05, "outer");
	simulation.predicted[simulation_function(&simulation, "outer")] = 0.5;
	simulation.predicted[simulation_function(&simulation, "other")] = 0.5;
	simulation.predicted[simulation_function(&simulation, "deep")] = 0.5;
	search = hunt_by(&simulation, LODE_STRATEGY_DEEP_START);
	outer = on(search, LODE_CPU_BOUND, &simulation, "outer");
	assert_int_equal(outer->state, LODE_EXPERIMENT_IMPOSSIBLE);
	assert_non_null(strstr(outer->why, "samples cannot decide"));
	check(on(search, LODE_CPU_BOUND, &simulation, "other"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.3);
	check(on(search, LODE_CPU_BOUND, &simulation, "deep"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.5);
	/* The search goes on below it. */
	check(on(search, LODE_CPU_BOUND, &simulation, "a"), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_PROBES, 0.5);
	release(search, &simulation);
}

/* A few cut stacks do not keep a verdict that they could not change. */
static void cut_stacks_that_do_not_matter_do_not(void **state)
{
	struct simulation simulation;
	struct lode_search *search;

	(void)state;
	make_program(&simulation);
	simulation_stack(&simulation, 0, LODE_CPU_BOUND, 0.05, "rare a b")->cut = 3;
	simulation.predicted[simulation_function(&simulation, "rare")] = 0.5;
	search = hunt_by(&simulation, LODE_STRATEGY_CALL_GRAPH);
	check(on(search, LODE_CPU_BOUND, &simulation, "rare"), LODE_EXPERIMENT_FALSE, LODE_EVIDENCE_SAMPLES, 0.1);
	release(search, &simulation);
}

/* The clock has the wait while it goes on; samples have it when it is over. */
static void a_wait_that_is_not_over_makes_nothing_false(void **state)
{
	const struct lode_experiment *wait;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_SYNC_WAITING, 0.9, "wait")->every = 1000 * SECOND;
	simulation.predicted[simulation_function(&simulation, "wait")] = -1;
	search = hunt_by(&simulation, LODE_STRATEGY_CALL_GRAPH);
	wait = on(search, LODE_SYNC_WAITING, &simulation, "wait");
	assert_int_equal(wait->state, LODE_EXPERIMENT_IMPOSSIBLE);
	assert_non_null(strstr(wait->why, "waits are not over"));
	release(search, &simulation);
}

/* Waits of 2.7 s, of which the experiment sees the end of the first one only. */
static void a_wait_that_began_before_counts_from_the_beginning_of_the_experiment(void **state)
{
	struct lode_search_options options;
	const struct lode_experiment *wait;
	struct simulation simulation;
	struct lode_search *search;
	uint32_t thread;

	(void)state;
	assert_int_equal(simulation_init(&simulation), 0);
	thread = simulation_thread(&simulation, 0, 0, "main");
	simulation_stack(&simulation, thread, LODE_SYNC_WAITING, 0.9, "wait")->every = 3 * SECOND;
	simulation.predicted[simulation_function(&simulation, "wait")] = -1;
	lode_search_options_default(&options);
	options.watch_on = 1;
	options.time = 3 * SECOND + SECOND / 2;
	search = hunt_with(&simulation, &options);
	wait = on(search, LODE_SYNC_WAITING, &simulation, "wait");
	assert_true(wait->started >= 2 * SECOND);
	assert_true(wait->value > 0.3 && wait->value < 0.9);
	release(search, &simulation);
}

/* ---- modules ---- */

static void make_modules(struct simulation *simulation)
{
	uint32_t first, second;

	assert_int_equal(simulation_init(simulation), 0);
	first = simulation_thread(simulation, 0, 1, "main");
	second = simulation_thread(simulation, 0, 2, "main");
	simulation_stack(simulation, first, LODE_CPU_BOUND, 0.2, "save");
	simulation_stack(simulation, first, LODE_CPU_BOUND, 0.5, "save libz!deflate");
	simulation_stack(simulation, first, LODE_CPU_BOUND, 0.25, "save libz!deflate give");
	simulation_stack(simulation, second, LODE_CPU_BOUND, 0.6, "work");
	simulation_stack(simulation, second, LODE_CPU_BOUND, 0.01, "work libm!sin");
	simulation_stack(simulation, second, LODE_IO_BLOCKING, 0.3, "work libc!read");
}

/* Time in libz counts where nobody else was called from there. */
static void modules_have_the_time_of_their_own_code(void **state)
{
	for (int strategy = 0; strategy < 2; strategy++) {
		struct simulation simulation;
		struct lode_search *search;
		struct lode_focus libz, app, focus;

		(void)state;
		make_modules(&simulation);
		libz = in_module_of(&simulation, "libz!deflate");
		app = in_module_of(&simulation, "main");
		search = hunt_by(&simulation, (enum lode_strategy)strategy);
		check(find(search, LODE_CPU_BOUND, libz), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.25);
		check(find(search, LODE_CPU_BOUND, app), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.525);
		assert_string_equal(lode_search_name(search, &libz, LODE_AXIS_CODE), "libz");
		assert_null(find(search, LODE_CPU_BOUND, libz)->not_probed);
		/* What samples hardly show is not requested. */
		assert_null(find(search, LODE_CPU_BOUND, in_module_of(&simulation, "libm!sin")));
		/* Nor is a module that holds all of it. */
		assert_null(find(search, LODE_IO_BLOCKING, in_module_of(&simulation, "libc!read")));
		focus = libz;
		focus.process = 1;
		check(find(search, LODE_CPU_BOUND, focus), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.5);
		focus = app;
		focus.process = 1;
		check(find(search, LODE_CPU_BOUND, focus), LODE_EXPERIMENT_TRUE, LODE_EVIDENCE_SAMPLES, 0.45);
		release(search, &simulation);
	}
}

static void nothing_lies_below_a_module_but_places(void **state)
{
	struct simulation simulation;
	struct lode_search *search;
	const struct lode_history *history;

	(void)state;
	make_modules(&simulation);
	search = hunt_by(&simulation, LODE_STRATEGY_DEEP_START);
	history = lode_search_history(search);
	for (uint32_t i = 0; i < history->count; i++) {
		const struct lode_experiment *experiment = &history->experiments[i];
		uint32_t function = experiment->focus.function;

		if (lode_program_is_module(simulation.meter.program, function))
			assert_int_equal(experiment->hypothesis, LODE_CPU_BOUND);
		else if (experiment->parent != LODE_NONE)
			assert_false(
				lode_program_is_module(simulation.meter.program,
						       history->experiments[experiment->parent].focus.function));
	}
	release(search, &simulation);
}

/* ---- failures ---- */

static void make_costly_modules(struct simulation *simulation)
{
	make_modules(simulation);
	simulation->predicted[simulation_function(simulation, "save")] = 0.5;
	simulation->real[simulation_function(simulation, "libz!deflate")] = 0.5;
	simulation->allowed = 0.1;
}

static void memory_that_runs_out_anywhere_ends_the_search_cleanly(void **state)
{
	struct lode_search_options options;

	(void)state;
	lode_search_options_default(&options);
	require_clean_ends(make_costly_modules, &options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_would_cost_too_much_gets_its_verdict_by_samples),
		cmocka_unit_test(what_turns_out_costly_is_taken_out_and_samples_go_on),
		cmocka_unit_test(what_cannot_be_probed_gets_its_verdict_by_samples),
		cmocka_unit_test(to_wait_for_room_is_no_reason_for_samples),
		cmocka_unit_test(samples_from_before_it_began_count),
		cmocka_unit_test(a_true_one_is_watched_on_and_may_turn_false),
		cmocka_unit_test(chance_makes_few_verdicts_wrong),
		cmocka_unit_test(few_samples_are_no_certainty),
		cmocka_unit_test(samples_that_are_lost_change_no_share),
		cmocka_unit_test(what_a_cut_stack_may_hide_is_not_false),
		cmocka_unit_test(cut_stacks_that_do_not_matter_do_not),
		cmocka_unit_test(a_wait_that_is_not_over_makes_nothing_false),
		cmocka_unit_test(a_wait_that_began_before_counts_from_the_beginning_of_the_experiment),
		cmocka_unit_test(modules_have_the_time_of_their_own_code),
		cmocka_unit_test(nothing_lies_below_a_module_but_places),
		cmocka_unit_test(memory_that_runs_out_anywhere_ends_the_search_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
