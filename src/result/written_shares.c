/* What something costs in streams: see written_shares.h. */
#include "result/written_shares.h"

#include <stdlib.h>

static int by_cost(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a < b) - (a > b);
}

/* Marks the `most` costliest shares; among equal ones the first. NULL: all; also when memory has run out. */
static uint8_t *costliest_shares(const struct lode_shares *shares, size_t most)
{
	uint64_t *costs = shares->count > most ? lode_alloc(shares->count * sizeof(*costs)) : NULL;
	uint8_t *marks = costs ? lode_calloc(shares->count, 1) : NULL;
	size_t above = 0;

	for (size_t i = 0; marks && i < shares->count; i++)
		costs[i] = shares->items[i].cost;
	if (marks)
		qsort(costs, shares->count, sizeof(*costs), by_cost);
	while (marks && above < most && costs[above] > costs[most - 1])
		above++;
	for (size_t i = 0, equal = most - above; marks && i < shares->count; i++)
		marks[i] = shares->items[i].cost > costs[most - 1] ||
			   (shares->items[i].cost == costs[most - 1] && equal && equal--);
	lode_free(costs);
	return marks;
}

static int write_shares(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_shares *shares = self->from;
	uint8_t *marks = costliest_shares(shares, self->count);

	if (shares->count > self->count && !marks)
		return LODE_SYSTEM;
	lode_json_array(json);
	for (size_t i = 0; i < shares->count; i++) {
		if (marks && !marks[i])
			continue;
		lode_json_u64(json, shares->items[i].stream);
		lode_json_u64(json, shares->items[i].cost);
	}
	lode_json_array_end(json);
	lode_free(marks);
	return 0;
}

struct lode_written lode_written_shares(const struct lode_shares *shares, size_t most)
{
	return (struct lode_written){ .write = write_shares, .from = shares, .count = most };
}
