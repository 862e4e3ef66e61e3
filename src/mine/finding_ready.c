/* Why threads were ready: see finding_ready.h. */
#include "mine/finding_ready.h"

#include <stdlib.h>

static int compare_holders(const void *left, const void *right, void *context)
{
	const struct lode_chain_link *links = context;
	const struct lode_chain_link *a = &links[((const struct lode_chain_row *)left)->chain];
	const struct lode_chain_link *b = &links[((const struct lode_chain_row *)right)->chain];

	if (a->holder_process != b->holder_process)
		return a->holder_process < b->holder_process ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

static int compare_crowds(const void *left, const void *right, void *context)
{
	const struct lode_chain_link *links = context;
	uint32_t a = links[((const struct lode_chain_row *)left)->chain].object;
	uint32_t b = links[((const struct lode_chain_row *)right)->chain].object;

	return a < b ? -1 : a > b;
}

/* The end of the rows that are equal to number `i`, and what they cost together. */
static size_t end_of_equal(const struct lode_chain_row *rows, size_t count, size_t i,
			   int (*compare)(const void *left, const void *right, void *context),
			   struct lode_chain_link *links, uint64_t *cost)
{
	size_t end = i;

	*cost = 0;
	for (; end < count && !compare(&rows[end], &rows[i], links); end++)
		*cost = lode_add_saturating(*cost, rows[end].cost);
	return end;
}

void lode_finding_ready(struct lode_finding *finding, struct lode_chain_link *links, struct lode_chain_row *rows,
			size_t count)
{
	uint64_t cost;

	finding->behind = finding->crowd = LODE_NONE;
	qsort_r(rows, count, sizeof(*rows), compare_crowds, links);
	for (size_t i = 0, end; i < count; i = end) {
		end = end_of_equal(rows, count, i, compare_crowds, links, &cost);
		if (links[rows[i].chain].object && cost > finding->crowd_cost) {
			finding->crowd = rows[i].chain;
			finding->crowd_cost = cost;
		}
	}
	qsort_r(rows, count, sizeof(*rows), compare_holders, links);
	for (size_t i = 0, end; i < count; i = end) {
		end = end_of_equal(rows, count, i, compare_holders, links, &cost);
		if (links[rows[i].chain].holder && cost > finding->behind_cost) {
			finding->behind = rows[i].chain;
			finding->behind_cost = cost;
		}
	}
}
