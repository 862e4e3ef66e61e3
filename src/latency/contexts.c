/*
 * Hot contexts: see contexts.h.
 *
 * Own latencies share all time among the contexts, none twice, so the hottest context is
 * where most time is spent, and its callers show what it is part of.
 *
 * Most contexts are only on the way to others. Those come by name alone, which needs no comparing: names have places.
 */
#include "latency/contexts.h"

#include "latency/stack_order.h"
#include "scope/frame_filter.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranking ---- */

struct order {
	const struct lode_latency *latency;
	const double *means;
	const uint32_t *places; /* by node: in the order of names */
};

static int compare(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (order->means && order->means[a] != order->means[b])
		return order->means[a] > order->means[b] ? -1 : 1;
	if (order->latency->own[a] != order->latency->own[b])
		return order->latency->own[a] > order->latency->own[b] ? -1 : 1;
	return order->places[a] < order->places[b] ? -1 : 1;
}

/* Fills in the contexts: those with nothing to compare by, which come last, in the order of names. Returns how many come first. */
static size_t list_contexts(const struct order *order, const uint32_t *by_place, const uint8_t *fits,
			    struct lode_contexts *contexts)
{
	const struct lode_latency *latency = order->latency;
	size_t nodes = latency->dictionary.tree.count, first = 0;

	for (size_t turn = 0; turn < 2; turn++) {
		for (size_t place = 1; place < nodes; place++) {
			uint32_t node = by_place[place];

			if (node < latency->node_count && latency->nodes[node].count && (!fits || fits[node]) &&
			    (order->means || latency->own[node] ? turn == 0 : turn == 1))
				contexts->nodes[contexts->count++] = node;
		}
		first = turn ? first : contexts->count;
	}
	return first;
}

static int sort_contexts(struct order *order, const uint8_t *fits, struct lode_contexts *contexts)
{
	size_t nodes = order->latency->dictionary.tree.count, first;
	uint32_t *places = lode_stack_order(&order->latency->dictionary);
	uint32_t *by_place = lode_calloc(nodes, sizeof(*by_place));
	int code = places && by_place ? 0 : LODE_SYSTEM;

	if (!code) {
		for (uint32_t i = 0; i < nodes; i++)
			by_place[places[i]] = i;
		order->places = places;
		first = list_contexts(order, by_place, fits, contexts);
		if (first)
			qsort_r(contexts->nodes, first, sizeof(*contexts->nodes), compare, order);
	}
	lode_free(places);
	lode_free(by_place);
	return code;
}

static void add_up(const struct lode_latency *latency, struct lode_contexts *contexts)
{
	const struct lode_stack_tree *tree = &latency->dictionary.tree;

	for (size_t i = 1; i < latency->node_count; i++) {
		contexts->own = lode_add_saturating(contexts->own, latency->own[i]);
		if (!tree->nodes[i].parent)
			contexts->idle = lode_add_saturating(contexts->idle, latency->nodes[i].idle);
	}
}

int lode_contexts_rank(const struct lode_latency *latency, const char *const *match,
		       const enum lode_latency_rule *mean, struct lode_contexts *contexts)
{
	size_t nodes = latency->node_count;
	struct order order = { latency, NULL, NULL };
	uint8_t *fits;
	int code;

	memset(contexts, 0, sizeof(*contexts));
	if (lode_stacks_match(&latency->dictionary, match, &fits) < 0)
		return LODE_SYSTEM;
	contexts->nodes = lode_calloc(nodes, sizeof(*contexts->nodes));
	if (mean)
		order.means = contexts->means = lode_latency_own_means(latency, *mean);
	code = contexts->nodes && (!mean || contexts->means) ? sort_contexts(&order, fits, contexts) : LODE_SYSTEM;
	lode_free(fits);
	if (!code)
		add_up(latency, contexts);
	return code;
}

void lode_contexts_release(struct lode_contexts *contexts)
{
	lode_free(contexts->nodes);
	lode_free(contexts->means);
	memset(contexts, 0, sizeof(*contexts));
}
