/* The context of a finding: see finding_context.h. The costliest one; of equal ones the first in the dictionary. */
#include "mine/finding_context.h"

#include <stdlib.h>

struct context_cost {
	uint32_t context;
	uint64_t cost;
};

static int compare_contexts(const void *left, const void *right)
{
	const struct context_cost *a = left, *b = right;

	return a->context < b->context ? -1 : a->context > b->context;
}

int lode_finding_find_context(const struct lode_chain_row *rows, size_t count, struct lode_finding *finding)
{
	struct context_cost *costs = lode_calloc(count + 1, sizeof(*costs));
	size_t used = 0;

	if (!costs)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		if (rows[i].context)
			costs[used++] = (struct context_cost){ rows[i].context, rows[i].cost };
	qsort(costs, used, sizeof(*costs), compare_contexts);
	for (size_t i = 0, end; i < used; i = end) {
		uint64_t cost = 0;

		for (end = i; end < used && costs[end].context == costs[i].context; end++)
			cost = lode_add_saturating(cost, costs[end].cost);
		if (cost > finding->context_cost) {
			finding->context = costs[i].context;
			finding->context_cost = cost;
		}
	}
	lode_free(costs);
	return 0;
}
