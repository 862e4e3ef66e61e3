/* Words that all reports of a hunt use, and the order of bottlenecks: see hunt_report.h. */
#include "base/safe_text.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "base/units.h"
#include "hunt/meter/wait_objects.h"
#include "result/hunt_report.h"

#include <stdlib.h>
#include <string.h>

/* Calls from a function up to one of a script, at most; in a recursion there is no end. */
#define MAX_STEPS 256

/* ---- bottlenecks ---- */

unsigned lode_hunt_depth(const struct lode_history *history, uint32_t experiment)
{
	unsigned depth = 0;

	while (history->experiments[experiment].parent != LODE_NONE) {
		experiment = history->experiments[experiment].parent;
		depth++;
	}
	return depth;
}

struct order {
	const struct lode_program *program;
	const struct lode_history *history;
	const char *leads; /* by experiment: something true refines it */
	const unsigned *depths;
};

/* Small operations are the worse the smaller they are; shares the larger. */
static double strength(const struct lode_experiment *experiment)
{
	if (experiment->hypothesis == LODE_SMALL_IO)
		return experiment->value > 0 ? experiment->threshold / experiment->value / 100 : 0;
	return experiment->value;
}

static int is_module(const struct order *order, uint32_t id)
{
	return lode_program_is_module(order->program, order->history->experiments[id].focus.function);
}

static int is_lost(const struct order *order, uint32_t id)
{
	return order->history->experiments[id].lost != 0;
}

/* A module says less than a function, regardless of its share; what is over, less than what goes on. */
static int by_specificity(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double strong_x = strength(&order->history->experiments[x]);
	double strong_y = strength(&order->history->experiments[y]);

	if (order->leads[x] != order->leads[y])
		return order->leads[x] - order->leads[y];
	if (order->leads[x] && order->depths[x] != order->depths[y])
		return order->depths[x] > order->depths[y] ? -1 : 1;
	if (is_lost(order, x) != is_lost(order, y))
		return is_lost(order, x) - is_lost(order, y);
	if (is_module(order, x) != is_module(order, y))
		return is_module(order, x) - is_module(order, y);
	if (strong_x != strong_y)
		return strong_x > strong_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* What leads to an experiment, by any steps, true or not; `stack` has room for all experiments. */
static void mark_ancestors(const struct lode_history *history, uint32_t id, char *ancestors, uint32_t *stack)
{
	size_t count = 0;

	stack[count++] = id;
	while (count) {
		uint32_t at = stack[--count];

		for (uint32_t i = history->experiments[at].links; i != LODE_NONE; i = history->links[i].next) {
			uint32_t parent = history->links[i].parent;

			if (ancestors[parent])
				continue;
			ancestors[parent] = 1;
			stack[count++] = parent;
		}
	}
}

/* Who leads to whom: for each bottleneck, by its row, all experiments that lead to it. */
struct lineage {
	const struct lode_history *history;
	const uint32_t *ids;
	size_t count;
	char *ancestors; /* a row a bottleneck, a column an experiment */
	uint32_t *rows;  /* by experiment; LODE_NONE: it is no bottleneck */
};

static int is_ancestor(const struct lineage *lineage, uint32_t ancestor, uint32_t id)
{
	uint32_t row = lineage->rows[id];

	return row != LODE_NONE && lineage->ancestors[row * lineage->history->count + ancestor];
}

/* In a recursion each leads to the other, and neither is the more specific. */
static int leads_to(const struct lineage *lineage, uint32_t id, uint32_t to)
{
	return is_ancestor(lineage, id, to) && !is_ancestor(lineage, to, id);
}

/* The experiment on the same function everywhere. */
static uint32_t without_place(const struct lode_history *history, uint32_t id)
{
	struct lode_focus focus = lode_focus_whole();

	focus.function = history->experiments[id].focus.function;
	return lode_history_find(history, history->experiments[id].hypothesis, &focus);
}

/*
 * Whether one is the wider by what its function leads to elsewhere: on the way down at
 * this very place something was false, so that no links show it.
 */
static int is_wider(const struct lineage *lineage, uint32_t id, uint32_t than)
{
	const struct lode_experiment *a = &lineage->history->experiments[id];
	const struct lode_experiment *b = &lineage->history->experiments[than];
	uint32_t code, code_than;

	for (enum lode_focus_axis axis = LODE_AXIS_HOST; axis < LODE_AXES; axis++)
		if (lode_focus_has(&a->focus, axis) &&
		    lode_focus_on(&a->focus, axis) != lode_focus_on(&b->focus, axis))
			return 0;
	if (a->hypothesis != b->hypothesis || a->focus.function == LODE_NONE || b->focus.function == LODE_NONE)
		return 0;
	code = without_place(lineage->history, id);
	code_than = without_place(lineage->history, than);
	return code != LODE_NONE && code_than != LODE_NONE && leads_to(lineage, code, code_than);
}

static int make_lineage(struct lineage *lineage)
{
	size_t all = lineage->history->count;
	uint32_t *stack = lode_calloc(all + 1, sizeof(*stack));

	lineage->ancestors = lode_calloc(lineage->count + 1, all + 1);
	lineage->rows = lode_calloc(all + 1, sizeof(*lineage->rows));
	if (!stack || !lineage->ancestors || !lineage->rows) {
		lode_free(stack);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < all; i++)
		lineage->rows[i] = LODE_NONE;
	for (size_t i = 0; i < lineage->count; i++) {
		lineage->rows[lineage->ids[i]] = (uint32_t)i;
		mark_ancestors(lineage->history, lineage->ids[i], lineage->ancestors + i * all, stack);
	}
	lode_free(stack);
	return 0;
}

/*
 * Small operations are requested where the program waits for operations, and by no
 * other way: those experiments say who leads to whom.
 */
static uint32_t asked_for_by(const struct lode_history *history, uint32_t id)
{
	const struct lode_experiment *experiment = &history->experiments[id];

	return experiment->hypothesis == LODE_SMALL_IO
		       ? lode_history_find(history, LODE_IO_BLOCKING, &experiment->focus)
		       : id;
}

/* Whether `than` says more precisely what is wrong. */
static int is_less_specific(const struct lineage *lineage, uint32_t id, uint32_t than)
{
	if (lineage->history->experiments[id].hypothesis == lineage->history->experiments[than].hypothesis) {
		id = asked_for_by(lineage->history, id);
		than = asked_for_by(lineage->history, than);
		if (id == LODE_NONE || than == LODE_NONE)
			return 0;
	}
	return leads_to(lineage, id, than) || is_wider(lineage, id, than);
}

/* Marks which of the bottlenecks lead to others. */
static int mark_leading(const struct lode_history *history, const uint32_t *ids, size_t count, char *leads)
{
	struct lineage lineage = { .history = history, .ids = ids, .count = count };
	int code = make_lineage(&lineage);

	for (size_t i = 0; !code && i < count; i++)
		for (size_t k = 0; k < count && !leads[ids[i]]; k++)
			leads[ids[i]] = i != k && is_less_specific(&lineage, ids[i], ids[k]);
	lode_free(lineage.ancestors);
	lode_free(lineage.rows);
	return code;
}

/* The depths of all experiments, and the bottlenecks in order of their creation. Returns how many those are.
 */
static size_t collect(const struct lode_history *history, unsigned *depths, uint32_t *ids)
{
	size_t count = 0;

	for (uint32_t i = 0; i < history->count; i++) {
		uint32_t parent = history->experiments[i].parent;

		depths[i] = parent == LODE_NONE ? 0 : depths[parent] + 1;
		if (history->experiments[i].found)
			ids[count++] = i;
	}
	return count;
}

uint32_t *lode_hunt_bottlenecks(const struct lode_search *search, size_t *count, size_t *specific)
{
	const struct lode_history *history = lode_search_history(search);
	char *leads = lode_calloc(history->count + 1, 1);
	unsigned *depths = lode_calloc(history->count + 1, sizeof(*depths));
	uint32_t *ids = lode_calloc(history->count + 1, sizeof(*ids));
	struct order order = { lode_search_meter(search)->program, history, leads, depths };

	*count = *specific = 0;
	if (leads && depths && ids)
		*count = collect(history, depths, ids);
	if (!leads || !depths || !ids || mark_leading(history, ids, *count, leads) < 0) {
		lode_free(ids);
		ids = NULL;
		*count = 0;
	}
	for (size_t i = 0; i < *count; i++)
		*specific += !leads[ids[i]];
	if (ids)
		qsort_r(ids, *count, sizeof(*ids), by_specificity, &order);
	lode_free(leads);
	lode_free(depths);
	return ids;
}

double lode_hunt_sampled(const struct lode_search *search, const struct lode_experiment *experiment)
{
	enum lode_hypothesis kind = experiment->hypothesis == LODE_SMALL_IO ? LODE_IO_BLOCKING
									    : experiment->hypothesis;
	const struct lode_count_graph *graph =
		lode_counts_graph(lode_search_counts(search), kind, &experiment->focus);
	uint32_t node = graph ? lode_count_node_find(graph, experiment->focus.function) : LODE_NONE;

	if (node == LODE_NONE || !graph->weight)
		return 0;
	return (double)graph->nodes[node].weight / (double)graph->weight;
}

/* ---- words ---- */

static int names_module(const struct lode_search *search, const struct lode_focus *focus)
{
	return lode_program_is_module(lode_search_meter(search)->program, focus->function);
}

static void put_place(const struct lode_search *search, const struct lode_focus *focus, enum lode_focus_axis axis,
		      struct lode_buffer *buffer)
{
	static const char *const kinds[LODE_AXES] = { "", "host ", "process ", "thread ", "lock " };

	if (axis == LODE_AXIS_CODE && names_module(search, focus))
		lode_buffer_text(buffer, "module ");
	/* What is not a lock says what it is. */
	if (axis != LODE_AXIS_OBJECT || !(lode_focus_on(focus, axis) & LODE_OBJECT_MESSAGE))
		lode_buffer_text(buffer, kinds[axis]);
	lode_text_safe(buffer, lode_search_name(search, focus, axis));
}

void lode_hunt_focus(const struct lode_search *search, const struct lode_focus *focus, struct lode_buffer *buffer)
{
	static const char *const before[LODE_AXES] = { "", " on ", " in ", " in ", " at " };
	static const enum lode_focus_axis order[LODE_AXES] = { LODE_AXIS_CODE, LODE_AXIS_OBJECT, LODE_AXIS_THREAD,
							       LODE_AXIS_PROCESS, LODE_AXIS_HOST };

	if (focus->function == LODE_NONE)
		lode_buffer_text(buffer, "the whole program");
	for (int i = 0; i < LODE_AXES; i++) {
		if (!lode_focus_has(focus, order[i]))
			continue;
		lode_buffer_text(buffer, before[order[i]]);
		put_place(search, focus, order[i], buffer);
	}
}

const char *lode_hunt_claim(enum lode_hypothesis hypothesis)
{
	static const char *const claims[LODE_HYPOTHESES] = {
		[LODE_CPU_BOUND] = "uses the CPU",
		[LODE_SYNC_WAITING] = "waits for other threads",
		[LODE_IO_BLOCKING] = "waits for input and output",
		[LODE_SMALL_IO] = "moves only",
		[LODE_READY_WAITING] = "waits for a processor",
	};

	return claims[hypothesis];
}

const char *lode_hunt_origin(enum lode_experiment_origin origin)
{
	static const char *const origins[LODE_ORIGINS] = {
		[LODE_ORIGIN_CONNECT] = "calls one that samples show",
		[LODE_ORIGIN_DEEP_START] = "found from samples",
	};

	return origins[origin];
}

void lode_hunt_step(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];
	const struct lode_experiment *parent;

	if (experiment->parent == LODE_NONE) {
		lode_buffer_text(buffer, lode_hunt_claim(experiment->hypothesis));
		return;
	}
	parent = &history->experiments[experiment->parent];
	if (parent->hypothesis != experiment->hypothesis)
		lode_buffer_text(buffer, lode_hunt_claim(experiment->hypothesis));
	for (int axis = 0; axis < LODE_AXES; axis++)
		if (lode_focus_on(&experiment->focus, (enum lode_focus_axis)axis) !=
		    lode_focus_on(&parent->focus, (enum lode_focus_axis)axis)) {
			put_place(search, &experiment->focus, (enum lode_focus_axis)axis, buffer);
			return;
		}
}

void lode_hunt_value(enum lode_hypothesis hypothesis, double value, struct lode_buffer *buffer)
{
	if (hypothesis == LODE_SMALL_IO)
		lode_buffer_print(buffer, "%.0f bytes", value);
	else
		lode_buffer_print(buffer, "%.1f%%", 100 * value);
}

/* Shares add up over threads; beyond 100 % a reader could not guess of what. */
static void put_whole(const struct lode_experiment *experiment, struct lode_buffer *buffer)
{
	if (experiment->hypothesis != LODE_SMALL_IO && experiment->value > 1)
		lode_buffer_text(buffer, " of the time, summed over threads");
}

void lode_hunt_measured(const struct lode_experiment *experiment, struct lode_buffer *buffer)
{
	lode_hunt_value(experiment->hypothesis, experiment->value, buffer);
	put_whole(experiment, buffer);
	if (experiment->evidence == LODE_EVIDENCE_SAMPLES)
		lode_buffer_text(buffer, " by samples");
}

/* `99.9%`, `>99.99%`. */
static void put_confidence(double confidence, struct lode_buffer *buffer)
{
	if (confidence > 0.9999)
		lode_buffer_text(buffer, ">99.99%");
	else
		lode_buffer_print(buffer, confidence > 0.999 ? "%.2f%%" : "%.1f%%", 100 * confidence);
}

static void put_verb(const struct lode_experiment *experiment, struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, " %s ", lode_hunt_claim(experiment->hypothesis));
	lode_hunt_value(experiment->hypothesis, experiment->value, buffer);
	if (experiment->hypothesis == LODE_SMALL_IO)
		lode_buffer_text(buffer, " per operation");
	else if (experiment->hypothesis == LODE_READY_WAITING)
		lode_buffer_text(buffer, " of wall time");
	else if (experiment->value > 1)
		put_whole(experiment, buffer);
	else
		lode_buffer_text(buffer, " of the time");
}

static void put_evidence(const struct lode_experiment *experiment, struct lode_buffer *buffer)
{
	if (experiment->evidence != LODE_EVIDENCE_SAMPLES)
		return;
	lode_buffer_text(buffer, "; by samples");
	if (!experiment->not_probed)
		return;
	lode_buffer_text(buffer, ": ");
	lode_text_safe(buffer, experiment->not_probed);
}

/* Whether a function is of the libraries that every program has: that they wait does not say why. */
static int is_everyones(const struct lode_search *search, uint32_t function)
{
	static const char *const modules[] = { "libc.", "libc-", "libpthread", "ld-", "libstdc++", "libgcc_s" };
	const char *module = lode_program_function(lode_search_meter(search)->program, function)->module;

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++)
		if (lode_starts_with(module, modules[i]))
			return 1;
	return 0;
}

/* The function of the program itself on the way to one of everyone's; LODE_NONE: there is none. */
static uint32_t find_own_function(const struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiments = lode_search_history(search)->experiments;
	uint32_t function = experiments[id].focus.function;

	if (!is_everyones(search, function))
		return LODE_NONE;
	while (function == LODE_NONE || is_everyones(search, function)) {
		id = experiments[id].parent;
		if (id == LODE_NONE)
			return LODE_NONE;
		function = experiments[id].focus.function;
	}
	return function;
}

static int is_scripted(const struct lode_search *search, uint32_t function)
{
	return lode_program_function(lode_search_meter(search)->program, function)->is_scripted;
}

/* The node that calls another most, by samples; LODE_NONE: none does. */
static uint32_t main_caller(const struct lode_count_graph *graph, uint32_t node)
{
	uint32_t caller = LODE_NONE;
	uint64_t most = 0;

	for (size_t i = 0; i < graph->edge_count; i++)
		if (graph->edges[i].callee == node && graph->edges[i].caller != node &&
		    graph->edges[i].weight > most) {
			most = graph->edges[i].weight;
			caller = graph->edges[i].caller;
		}
	return caller;
}

/*
 * The function of a script that a native function works for, by samples: in a program of Python, Java or JavaScript
 * those are the program. LODE_NONE: there is none.
 */
static uint32_t find_script_function(const struct lode_search *search, const struct lode_experiment *experiment)
{
	enum lode_hypothesis kind = experiment->hypothesis == LODE_SMALL_IO ? LODE_IO_BLOCKING
									    : experiment->hypothesis;
	const struct lode_count_graph *graph =
		lode_counts_graph(lode_search_counts(search), kind, &experiment->focus);
	uint32_t node = graph ? lode_count_node_find(graph, experiment->focus.function) : LODE_NONE;

	if (is_scripted(search, experiment->focus.function))
		return LODE_NONE;
	for (size_t steps = 0; node != LODE_NONE && steps < MAX_STEPS; steps++) {
		if (is_scripted(search, graph->nodes[node].function))
			return graph->nodes[node].function;
		node = main_caller(graph, node);
	}
	return LODE_NONE;
}

/* Whose function of the program itself it is that calls one that says little. */
static void put_own_function(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	struct lode_focus focus = experiment->focus;

	if (focus.function == LODE_NONE || names_module(search, &focus))
		return;
	focus.function = find_script_function(search, experiment);
	if (focus.function == LODE_NONE)
		focus.function = find_own_function(search, id);
	if (focus.function == LODE_NONE)
		return;
	lode_buffer_text(buffer, ", called from ");
	put_place(search, &focus, LODE_AXIS_CODE, buffer);
	lode_buffer_byte(buffer, ',');
}

void lode_hunt_sentence(const struct lode_search *search, uint32_t id, struct lode_buffer *buffer)
{
	const struct lode_experiment *experiment = &lode_search_history(search)->experiments[id];
	uint64_t began = lode_search_began(search);
	char text[LODE_UNITS_TEXT];

	lode_hunt_focus(search, &experiment->focus, buffer);
	if (names_module(search, &experiment->focus))
		lode_buffer_text(buffer, " by itself");
	put_own_function(search, id, buffer);
	put_verb(experiment, buffer);
	lode_buffer_text(buffer, " (threshold ");
	lode_hunt_value(experiment->hypothesis, experiment->threshold, buffer);
	lode_buffer_text(buffer, ", confidence ");
	put_confidence(experiment->confidence, buffer);
	put_evidence(experiment, buffer);
	lode_buffer_print(buffer, "), found after %s", lode_duration_text(experiment->found - began, text));
	if (experiment->origin == LODE_ORIGIN_DEEP_START)
		lode_buffer_text(buffer, " from samples");
	if (experiment->lost)
		lode_buffer_print(buffer, "; no longer after %s",
				  lode_duration_text(experiment->lost - began, text));
	lode_buffer_byte(buffer, '.');
}

const char *lode_hunt_end(const struct lode_search *search)
{
	switch (lode_search_ended(search)) {
	case LODE_SEARCH_PROGRAM_ENDED:
		return "the program ended";
	case LODE_SEARCH_EXHAUSTED:
		return "nothing was left to examine";
	case LODE_SEARCH_TIME_UP:
		return "the time was up";
	case LODE_SEARCH_STOPPED:
		return "it was stopped";
	default:
		return "it goes on";
	}
}
