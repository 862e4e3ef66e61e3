/*
 * Hot contexts: see contexts.h.
 *
 * Own latencies share all time among the contexts, none twice, so the hottest context is
 * where most time is spent, and its callers show what it is part of.
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
	uint32_t *places;
	uint8_t *fits;

	memset(contexts, 0, sizeof(*contexts));
	if (lode_stacks_match(&latency->dictionary, match, &fits) < 0)
		return LODE_SYSTEM;
	contexts->nodes = lode_calloc(nodes, sizeof(*contexts->nodes));
	if (mean)
		order.means = contexts->means = lode_latency_own_means(latency, *mean);
	for (size_t i = 1; contexts->nodes && i < nodes; i++)
		if (latency->nodes[i].count && (!fits || fits[i]))
			contexts->nodes[contexts->count++] = (uint32_t)i;
	lode_free(fits);
	if (!contexts->nodes || (mean && !contexts->means))
		return LODE_SYSTEM;
	order.places = places = lode_stack_order(&latency->dictionary);
	if (!places)
		return LODE_SYSTEM;
	qsort_r(contexts->nodes, contexts->count, sizeof(*contexts->nodes), compare, &order);
	lode_free(places);
	add_up(latency, contexts);
	return 0;
}

void lode_contexts_release(struct lode_contexts *contexts)
{
	lode_free(contexts->nodes);
	lode_free(contexts->means);
	memset(contexts, 0, sizeof(*contexts));
}
