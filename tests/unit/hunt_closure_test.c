/*
 * The search against an oracle: what the paper says that a call-graph search examines, as a
 * closure: the whole program, and whatever refines something that is true. The oracle
 * reads the stacks of random simulated programs itself and shares no code with the search.
 */
#include "hunt_search_fixture.h"

#include "hunt/meter/wait_objects.h"
#include "random_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random programs against the closure ---- */

#define FUNCTIONS 9
#define MAX_SETS  20000

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
	uint32_t app, lib; /* the numbers of the modules */
};

/* No object, one of two locks, or a message: two communicators with two tags each. */
static uint64_t draw_object(uint64_t *seed)
{
	uint64_t number = random_below(seed, 7);

	return number < 3 ? number
			  : lode_message_tagged(lode_message_communicator(5 + (number - 3) / 2, 0),
						(int32_t)(number - 3) % 2);
}

/* A random program: walks on a random call graph, on some threads, processes and hosts. */
static void draw_program(struct simulation *simulation, uint64_t *seed, struct oracle *oracle)
{
	static const char *const names[FUNCTIONS] = { "f0", "f1",     "f2",     "f3",    "f4",
						      "f5", "lib!f6", "lib!f7", "lib!f8" };
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
	int processes[SIMULATION_MOST] = { 0 };
	double sum = 0, operations = 0, bytes = 0, usable = 0;

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
		usable += processes[p];
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
	if (hypothesis == LODE_READY_WAITING) /* a share of wall time; all else is one of the rest */
		sum = usable * oracle->simulation->crowded;
	return usable > 0 && sum / usable > oracle->options->thresholds[hypothesis];
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
	assert_true(oracle->count < MAX_SETS);
	oracle->asked[oracle->count++] =
		(struct asked){ hypothesis, focus, oracle_truth(oracle, hypothesis, focus) };
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
	uint32_t seen[3][SIMULATION_MOST], counts[3] = { 0 };
	struct lode_focus focus = asked->focus;

	for (uint32_t t = 0; t < oracle->simulation->thread_count; t++) {
		const struct simulated_thread *thread = &oracle->simulation->threads[t];
		uint32_t here[3] = { thread->host, thread->process, t };

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
	if (asked.hypothesis == LODE_READY_WAITING) {
		oracle_refine_place(oracle, &asked);
		return;
	}
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
	struct lode_focus whole = { LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0 };

	oracle->count = 0;
	for (int h = 0; h < LODE_SMALL_IO; h++)
		oracle_ask(oracle, (enum lode_hypothesis)h, whole);
	if (!oracle->options->paper_hypotheses)
		oracle_ask(oracle, LODE_READY_WAITING, whole);
	for (size_t i = 0; i < oracle->count; i++)
		oracle_refine(oracle, oracle->asked[i]);
}

static enum lode_experiment_state expected_state(const struct asked *asked)
{
	return asked->truth > 0     ? LODE_EXPERIMENT_TRUE
	       : asked->truth == 0  ? LODE_EXPERIMENT_FALSE
	       : asked->truth == -1 ? LODE_EXPERIMENT_IMPOSSIBLE
				    : LODE_EXPERIMENT_DEFERRED;
}

static int was_asked(const struct oracle *oracle, enum lode_hypothesis hypothesis, const struct lode_focus *focus)
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
	size_t roots = oracle->options->paper_hypotheses ? 3 : 4;

	for (size_t i = 0; i < oracle->count; i++) {
		enum lode_experiment_state now =
			state_of(search, oracle->asked[i].hypothesis, oracle->asked[i].focus);

		if (oracle->asked[i].truth > 0 || now != LODE_EXPERIMENT_STATES)
			assert_int_equal(now, expected_state(&oracle->asked[i]));
	}
	/* Whatever else was examined has the right verdict, too. */
	for (size_t i = 0; i < history->count; i++) {
		const struct lode_experiment *experiment = &history->experiments[i];
		struct asked asked = { experiment->hypothesis, experiment->focus,
				       oracle_truth(oracle, experiment->hypothesis, experiment->focus) };

		if (exactly)
			assert_true(was_asked(oracle, experiment->hypothesis, &experiment->focus));
		assert_int_equal(experiment->state, expected_state(&asked));
		assert_true((experiment->parent == LODE_NONE) == (i < roots));
		if (experiment->state == LODE_EXPERIMENT_TRUE && experiment->hypothesis != LODE_SMALL_IO)
			assert_true(experiment->value > experiment->threshold && experiment->confidence > 0.9);
	}
}

/* Each function that samples show often enough, where its hypothesis is true for the program, has its
 * experiment. */
static void check_starters(const struct oracle *oracle, const struct lode_search *search)
{
	for (int h = 0; h < LODE_SMALL_IO; h++) {
		struct lode_focus focus = { LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0 };
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
	int depth[FUNCTIONS];   /* calls from where samples begin; -1: not seen */
	int group[FUNCTIONS];   /* of those above the threshold; -1: none */
	int starter[FUNCTIONS]; /* of its group */
	int is_unclear;         /* a share is the threshold, except rounding */
};

/* All samples of a host or process count, of whatever kind; a function once per sample. */
static void count_samples(const struct oracle *oracle, struct lode_focus place, struct paper_graph *graph)
{
	place.function = place.thread = LODE_NONE;
	place.object = 0;
	for (size_t s = 0; s < oracle->simulation->stack_count; s++) {
		const struct simulated_stack *stack = &oracle->simulation->stacks[s];
		int seen[FUNCTIONS] = { 0 };

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
	struct paper_graph graph = { .all = 0 };

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
	struct oracle oracle = { .asked = calloc(MAX_SETS, sizeof(*oracle.asked)) };
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
		options.starters_by_the_paper = options.paper_hypotheses = by_the_paper;
		oracle.simulation = &simulation;
		oracle.options = &options;
		draw_program(&simulation, &seed, &oracle);
		simulation.crowded = (double)random_below(&seed, 4) * 0.3; /* what is found does not depend on it */
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
	search_random(LODE_STRATEGY_CALL_GRAPH, 0, 11, TEST_ROUNDS(400));
}

static void deep_start_examines_all_of_that_and_what_samples_show(void **state)
{
	(void)state;
	search_random(LODE_STRATEGY_DEEP_START, 0, 12, TEST_ROUNDS(400));
}

static void the_profile_of_paradyn_chooses_deep_starters_as_the_paper_does(void **state)
{
	(void)state;
	assert_true(search_random(LODE_STRATEGY_DEEP_START, 1, 13, TEST_ROUNDS(400)) > TEST_ROUNDS(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_graph_search_examines_exactly_what_the_paper_says),
		cmocka_unit_test(deep_start_examines_all_of_that_and_what_samples_show),
		cmocka_unit_test(the_profile_of_paradyn_chooses_deep_starters_as_the_paper_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
