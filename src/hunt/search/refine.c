/*
 * Refinement: from a true experiment to more specific ones; see search.h. Deep
 * starters and what connects them are of Deep Start, sections 2.1 and 2.2.
 */
#include "hunt/search/deep_start.h"
#include "hunt/meter/wait_objects.h"
#include "hunt/search/search_internal.h"

#include <math.h>

/* ---- along the axes ---- */

static int collect(void *context, uint32_t number, uint64_t object)
{
	struct lode_search *search = context;

	if (LODE_GROW(search->found.objects, search->found.objects_capacity, search->found.numbers.count + 1) < 0 ||
	    lode_ids_push(&search->found.numbers, number) < 0)
		return LODE_SYSTEM;
	search->found.objects[search->found.numbers.count - 1] = object;
	return 0;
}

static int collect_function(void *context, uint32_t function)
{
	return collect(context, function, 0);
}

/* Asks the meter what is below a focus on an axis; the answer is in `found`. */
static int look_below(struct lode_search *search, const struct lode_focus *focus, enum lode_focus_axis axis)
{
	const struct lode_meter_operations *operations = search->meter->operations;

	search->found.numbers.count = 0;
	if (axis == LODE_AXIS_CODE)
		return operations->roots(search->meter, focus, collect_function, search);
	return operations->below(search->meter, focus, axis, collect, search);
}

static struct lode_focus narrowed(const struct lode_focus *focus, enum lode_focus_axis axis, uint32_t number,
				  uint64_t object)
{
	struct lode_focus narrow = *focus;

	switch (axis) {
	case LODE_AXIS_CODE:
		narrow.function = number;
		break;
	case LODE_AXIS_HOST:
		narrow.host = number;
		break;
	case LODE_AXIS_PROCESS:
		narrow.process = number;
		break;
	case LODE_AXIS_THREAD:
		narrow.thread = number;
		break;
	default:
		narrow.object = object;
		break;
	}
	return narrow;
}

static int was_false(const struct lode_search *search, enum lode_hypothesis hypothesis,
		     const struct lode_focus *focus)
{
	uint32_t id = lode_history_find(&search->history, hypothesis, focus);

	return id != LODE_NONE && search->history.experiments[id].state == LODE_EXPERIMENT_FALSE;
}

/*
 * Whether a share cannot be above its threshold, since it is not so for all code of
 * the same place, or for all locks: those hold it, and are a share of the same time.
 * (A process's share is of less time than that of all processes, and may be larger.)
 */
static int is_hopeless(const struct lode_search *search, enum lode_hypothesis hypothesis,
		       const struct lode_focus *focus)
{
	struct lode_focus code = *focus, object = *focus, whole = *focus;

	if (hypothesis >= LODE_SMALL_IO)
		return 0;
	code.function = LODE_NONE;
	object.object = 0;
	whole.object = lode_object_whole(focus->object);
	return (focus->function != LODE_NONE && was_false(search, hypothesis, &code)) ||
	       (focus->object && was_false(search, hypothesis, &object)) ||
	       (focus->object && was_false(search, hypothesis, &whole));
}

/* Asks for an experiment on each function, thread or lock that was found below the focus of `parent`. */
static int want_found(struct lode_search *search, uint32_t parent, enum lode_focus_axis axis)
{
	for (size_t i = 0; i < search->found.numbers.count; i++) {
		const struct lode_experiment *experiment = &search->history.experiments[parent];
		struct lode_focus focus = narrowed(&experiment->focus, axis, search->found.numbers.items[i],
						   search->found.objects[i]);

		if (!is_hopeless(search, experiment->hypothesis, &focus) &&
		    lode_search_want(search, experiment->hypothesis, &focus, parent, LODE_ORIGIN_CALL_GRAPH,
				     LODE_PRIORITY_LOW) == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/*
 * From all code to the modules that may take enough of the time by themselves, as samples show. They are a
 * step aside: the functions of a module are reached along the call graph. Where there is one module only, it
 * says nothing new.
 */
static int refine_modules(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = &search->history.experiments[id];
	const struct lode_focus *focus = &experiment->focus;
	const struct lode_count_graph *all = lode_counts_graph(&search->counts, experiment->hypothesis, focus);
	const struct lode_count_graph *modules =
		lode_counts_modules(&search->counts, experiment->hypothesis, focus);
	double least = experiment->threshold / 2 / fmax(experiment->value, experiment->mean);

	if (!modules || modules->node_count < 2 || lode_focus_has(focus, LODE_AXIS_OBJECT))
		return 0;
	search->found.numbers.count = 0;
	for (size_t i = 0; i < modules->node_count; i++)
		if ((double)modules->nodes[i].weight > least * (double)all->weight &&
		    collect_function(search, modules->nodes[i].function) < 0)
			return LODE_SYSTEM;
	return want_found(search, id, LODE_AXIS_CODE);
}

/* The next step down the call graph: from all code to its roots, from a function to its callees. */
static int refine_code(struct lode_search *search, uint32_t id)
{
	struct lode_focus focus = search->history.experiments[id].focus;
	size_t count = 0;

	if (focus.function == LODE_NONE) {
		if (look_below(search, &focus, LODE_AXIS_CODE) < 0)
			return LODE_SYSTEM;
		if (want_found(search, id, LODE_AXIS_CODE) < 0)
			return LODE_SYSTEM;
		return refine_modules(search, id);
	}
	search->found.numbers.count = 0;
	lode_program_callees(search->meter->program, focus.function, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t callee = lode_program_callees(search->meter->program, focus.function, &count)[i];

		/* A function that calls itself is not more specific. */
		if (callee != focus.function && collect_function(search, callee) < 0)
			return LODE_SYSTEM;
	}
	return want_found(search, id, LODE_AXIS_CODE);
}

/*
 * The next step from host to process to thread. Where there is only one of a kind,
 * narrowing says nothing new and the step after it is taken.
 */
static int refine_place(struct lode_search *search, uint32_t id)
{
	struct lode_focus focus = search->history.experiments[id].focus;

	for (enum lode_focus_axis axis = LODE_AXIS_HOST; axis <= LODE_AXIS_THREAD; axis++) {
		if (lode_focus_has(&focus, axis))
			continue;
		if (look_below(search, &focus, axis) < 0)
			return LODE_SYSTEM;
		if (search->found.numbers.count > 1)
			return want_found(search, id, axis);
		if (!search->found.numbers.count)
			return 0;
	}
	return 0;
}

static int refine_object(struct lode_search *search, uint32_t id)
{
	struct lode_focus focus = search->history.experiments[id].focus;

	if (focus.object && !lode_object_has_parts(focus.object))
		return 0;
	if (look_below(search, &focus, LODE_AXIS_OBJECT) < 0)
		return LODE_SYSTEM;
	return want_found(search, id, LODE_AXIS_OBJECT);
}

static int refine_hypothesis(struct lode_search *search, uint32_t id)
{
	struct lode_focus focus = search->history.experiments[id].focus;

	if (lode_search_want(search, LODE_SMALL_IO, &focus, id, LODE_ORIGIN_CALL_GRAPH, LODE_PRIORITY_LOW) ==
	    LODE_NONE)
		return LODE_SYSTEM;
	return 0;
}

int lode_search_refine(struct lode_search *search, uint32_t id)
{
	enum lode_hypothesis hypothesis = search->history.experiments[id].hypothesis;
	enum lode_experiment_state state = search->history.experiments[id].state;
	uint32_t function = search->history.experiments[id].focus.function;
	int code = 0;

	if (hypothesis == LODE_SMALL_IO)
		return 0; /* it goes wherever excessive input and output goes */
	if (hypothesis == LODE_READY_WAITING)
		return refine_place(search, id); /* which code is kept from running says nothing */
	if (state == LODE_EXPERIMENT_IMPOSSIBLE)
		return refine_code(search, id);
	if (lode_program_is_module(search->meter->program, function))
		return refine_place(search, id);
	if (hypothesis == LODE_IO_BLOCKING)
		code = refine_hypothesis(search, id);
	if (!code)
		code = refine_code(search, id);
	if (!code)
		code = refine_place(search, id);
	if (!code && hypothesis == LODE_SYNC_WAITING)
		code = refine_object(search, id);
	return code;
}

/* ---- deep starters ---- */

/* Where deep starters are looked for: the hypothesis and focus of the experiment that asks, except the code.
 */
struct deep {
	struct lode_search *search;
	enum lode_hypothesis hypothesis;
	struct lode_focus focus;
	struct lode_focus place; /* whose samples count */
	uint32_t asks;
	char *below; /* by node of the graph: the roots of the call graph lead there */
	const struct lode_count_graph *graph;
};

static uint32_t experiment_on(const struct deep *deep, uint32_t function)
{
	struct lode_focus focus = deep->focus;

	focus.function = function;
	return lode_history_find(&deep->search->history, deep->hypothesis, &focus);
}

static int is_known(void *context, uint32_t function)
{
	return experiment_on(context, function) != LODE_NONE;
}

/* Whether a function has an experiment that does not merely wait its turn in the plain search. */
static int is_begun(const struct deep *deep, uint32_t function)
{
	uint32_t id = experiment_on(deep, function);
	const struct lode_experiment *experiment;

	if (id == LODE_NONE)
		return 0;
	experiment = &deep->search->history.experiments[id];
	return experiment->runs || experiment->priority != LODE_PRIORITY_LOW ||
	       experiment->state == LODE_EXPERIMENT_IMPOSSIBLE;
}

static int may_start(void *context, uint32_t function)
{
	const struct deep *deep = context;

	if (!deep->below[lode_count_node_find(deep->graph, function)])
		return 0; /* what starts a program is no part of it */
	return deep->search->options.starters_by_the_paper || !is_begun(deep, function);
}

/* Where the first function of a path hangs when it has no experiment yet. */
static uint32_t top_of(const struct deep *deep)
{
	uint32_t whole = experiment_on(deep, LODE_NONE);

	return whole == LODE_NONE ? deep->asks : whole;
}

/* Asks for experiments along a path, each the child of the one before; the last is the deep starter. */
static int add_path(struct deep *deep, const uint32_t *path, size_t count)
{
	uint32_t parent = count == 1 && is_known(deep, path[0]) ? LODE_NONE : top_of(deep);

	for (size_t i = 0; i < count; i++) {
		struct lode_focus focus = deep->focus;
		int is_starter = i + 1 == count;

		focus.function = path[i];
		if (!is_starter && experiment_on(deep, path[i]) != LODE_NONE) {
			parent = experiment_on(deep, path[i]);
			continue;
		}
		parent = lode_search_want(deep->search, deep->hypothesis, &focus, parent,
					  is_starter ? LODE_ORIGIN_DEEP_START : LODE_ORIGIN_CONNECT,
					  is_starter ? LODE_PRIORITY_HIGH : LODE_PRIORITY_MEDIUM);
		if (parent == LODE_NONE)
			return LODE_SYSTEM;
	}
	deep->search->history.experiments[parent].starter = 1;
	return 0;
}

static int add_starter(struct deep *deep, uint32_t function)
{
	uint32_t *path;
	size_t count;
	int code;

	if (is_known(deep, function))
		return add_path(deep, &function, 1); /* it is connected already */
	if (lode_deep_path(deep->graph, deep->search->meter->program, function, is_known, deep, &path, &count) < 0)
		return LODE_SYSTEM;
	code = count ? add_path(deep, path, count) : 0;
	lode_free(path);
	return code;
}

/* One choice of deep starters. Returns how many, or LODE_SYSTEM. */
static int choose_once(struct deep *deep)
{
	uint32_t *functions;
	size_t count;
	const struct lode_search_options *options = &deep->search->options;
	int code = lode_deep_starters(deep->graph, deep->search->meter->program, options->deep_threshold,
				      !options->starters_by_the_paper, may_start, deep, &functions, &count);

	for (size_t i = 0; !code && i < count; i++)
		code = add_starter(deep, functions[i]);
	lode_free(functions);
	return code < 0 ? code : (int)count;
}

/* Marks what the roots of the call graph lead to, by calls that samples show. */
static int mark_below_roots(struct deep *deep)
{
	if (look_below(deep->search, &deep->place, LODE_AXIS_CODE) < 0)
		return LODE_SYSTEM;
	deep->below =
		lode_deep_reach(deep->graph, deep->search->found.numbers.items, deep->search->found.numbers.count);
	return deep->below ? 0 : LODE_SYSTEM;
}

/* The paper, section 2.1: one graph of all stack samples, with counts for hosts and processes. */
static const struct lode_count_graph *choose_graph(struct deep *deep)
{
	int by_the_paper = deep->search->options.starters_by_the_paper;

	deep->place = deep->focus;
	deep->place.function = LODE_NONE;
	if (by_the_paper)
		deep->place.thread = LODE_NONE;
	return lode_counts_graph(&deep->search->counts, by_the_paper ? LODE_COUNT_ALL : deep->hypothesis,
				 &deep->place);
}

int lode_search_start_deep(struct lode_search *search, uint32_t id)
{
	const struct lode_experiment *experiment = &search->history.experiments[id];
	struct deep deep = { .search = search,
			     .hypothesis = experiment->hypothesis,
			     .focus = experiment->focus,
			     .asks = id };
	int by_the_paper = search->options.starters_by_the_paper, chosen;

	if (search->options.strategy != LODE_STRATEGY_DEEP_START || deep.hypothesis >= LODE_SMALL_IO ||
	    lode_program_is_module(search->meter->program, deep.focus.function) ||
	    (by_the_paper && deep.focus.function == LODE_NONE))
		return 0;
	deep.graph = choose_graph(&deep);
	if (!deep.graph)
		return 0;
	if (mark_below_roots(&deep) < 0)
		return LODE_SYSTEM;
	/* Each round examines at least one function more, so it ends. */
	do {
		chosen = choose_once(&deep);
	} while (chosen > 0 && !by_the_paper);
	lode_free(deep.below);
	return chosen < 0 ? chosen : 0;
}
