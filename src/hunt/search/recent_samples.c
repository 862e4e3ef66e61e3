/*
 * The samples of the last second, for experiments that begin to rest on samples
 * (sampled_verdict.c): what they would have seen had they begun a second ago is known
 * already, and a verdict need not wait for it a second time.
 *
 * After each look the weights of all functions and modules are copied, together with
 * what the experiment of the whole program has on its clocks. The growth between two
 * copies is a sub-interval. Cut stacks count as unknown here, though some of them may show
 * the function, which is on the safe side. This is kept for CPU time in the whole program only: waits
 * are reported when they end, and for other foci the time that passed is not known.
 */
#include "hunt/search/search_internal.h"

#include <math.h>
#include <string.h>

/* The experiment of CPU time in the whole program, which is made first. */
#define WHOLE_CPU 0

/* ---- copies ---- */

static int copy_weights(struct lode_recent_weights *weights, const struct lode_count_graph *graph)
{
	weights->count = 0;
	if (!graph)
		return 0;
	if (LODE_GROW(weights->items, weights->capacity, graph->node_count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < graph->node_count; i++)
		weights->items[i] = graph->nodes[i].weight;
	weights->count = graph->node_count;
	return 0;
}

int lode_search_store_recent(struct lode_search *search)
{
	const struct lode_experiment *whole = get(search, WHOLE_CPU);
	struct lode_recent_look *past = &search->recent.looks[search->recent.count % LODE_RECENT_LOOKS];
	const struct lode_count_graph *graph = lode_counts_graph(&search->counts, LODE_CPU_BOUND, &whole->focus);

	if (!whole->active) {
		search->recent.count = 0; /* its clocks are stopped */
		return 0;
	}
	if (whole->seen_added != whole->seen)
		return 0; /* the program had no CPU */
	past->t = now(search);
	past->usable = whole->observation->last_base;
	past->exact = whole->observation->last_amount;
	past->all = graph ? graph->weight : 0;
	past->cut = graph ? graph->cut : 0;
	search->recent.count++;
	if (copy_weights(&past->functions, graph) < 0)
		return LODE_SYSTEM;
	return copy_weights(&past->modules, lode_counts_modules(&search->counts, LODE_CPU_BOUND, &whole->focus));
}

void lode_search_release_recent(struct lode_search *search)
{
	for (int i = 0; i < LODE_RECENT_LOOKS; i++) {
		lode_free(search->recent.looks[i].functions.items);
		lode_free(search->recent.looks[i].modules.items);
	}
}

/* ---- what an experiment would have seen ---- */

static uint64_t weight_at(const struct lode_recent_look *past, int is_module, uint32_t node)
{
	const struct lode_recent_weights *weights = is_module ? &past->modules : &past->functions;

	return node < weights->count ? weights->items[node] : 0;
}

/* The sub-interval from one copy to the next. */
static void add_interval(struct lode_experiment *experiment, const struct lode_recent_look *from,
			 const struct lode_recent_look *to, int is_module, uint32_t node)
{
	double mine = (double)(weight_at(to, is_module, node) - weight_at(from, is_module, node));
	struct lode_reading reading = { .usable = experiment->past_usable += to->usable - from->usable };

	lode_sampling_divide(&experiment->sampling, (double)(to->exact - from->exact),
			     (double)(to->all - from->all), mine, is_module ? 0 : (double)(to->cut - from->cut));
	reading.time[experiment->hypothesis] = (uint64_t)llround(experiment->sampling.amount);
	lode_observation_add(experiment->observation, experiment->hypothesis, &reading);
	experiment->past_time += to->t - from->t;
}

void lode_search_look_back(struct lode_search *search, struct lode_experiment *experiment)
{
	uint64_t looks = search->recent.count;
	int is_module = lode_program_is_module(search->meter->program, experiment->focus.function);
	struct lode_focus place = experiment->focus;
	const struct lode_count_graph *graph;
	uint32_t node;

	place.function = LODE_NONE;
	if (experiment->hypothesis != LODE_CPU_BOUND || !lode_focus_is_whole(&place) || search->options.test.held)
		return;
	graph = is_module ? lode_counts_modules(&search->counts, LODE_CPU_BOUND, &place)
			  : lode_counts_graph(&search->counts, LODE_CPU_BOUND, &place);
	node = graph ? lode_count_node_find(graph, experiment->focus.function) : LODE_NONE;
	for (uint64_t i = looks < LODE_RECENT_LOOKS ? 1 : looks - LODE_RECENT_LOOKS + 1; i < looks; i++)
		add_interval(experiment, &search->recent.looks[(i - 1) % LODE_RECENT_LOOKS],
			     &search->recent.looks[i % LODE_RECENT_LOOKS], is_module, node);
}
