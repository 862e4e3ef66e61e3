/*
 * Order: see time_order.h.
 *
 * What comes from one CPU is in order already, so entries are few long runs of
 * rising times: a merge sort that starts from these runs does little work, and
 * what is in order costs one pass. Merging neighbours keeps it stable.
 */
#include "import/perf_data/time_order.h"

#include "base/bisect.h"
#include "base/error.h"

void lode_perf_order_release(struct lode_perf_order *order)
{
	lode_free(order->entries);
	lode_free(order->spare);
	lode_free(order->runs);
	memset(order, 0, sizeof(*order));
}

int lode_perf_order_add(struct lode_perf_order *order, const struct lode_perf_entry *entries, size_t count)
{
	if (!count)
		return 0;
	if (lode_grow(&order->entries, &order->capacity, order->count + count, sizeof(*entries)) < 0)
		return LODE_SYSTEM;
	memcpy(order->entries + order->count, entries, count * sizeof(*entries));
	order->count += count;
	for (size_t i = 0; i < count; i++)
		if (entries[i].time > order->newest)
			order->newest = entries[i].time;
	return 0;
}

/* Finds the runs; `runs` gets their starts and, behind the last, the end. */
static int find_runs(struct lode_perf_order *order, size_t *run_count)
{
	size_t count = 0;

	for (size_t i = 0; i <= order->count; i++) {
		int starts = i == 0 || i == order->count ||
			     (i >= order->sorted && order->entries[i].time < order->entries[i - 1].time);

		if (!starts)
			continue;
		if (lode_grow(&order->runs, &order->run_capacity, count + 1, sizeof(*order->runs)) < 0)
			return LODE_SYSTEM;
		order->runs[count++] = i;
	}
	*run_count = count - 1;
	return 0;
}

/* Merges entries[a..b) and entries[b..c) into the same places of `to`; of equal times the former come first.
 */
static void merge(const struct lode_perf_entry *from, struct lode_perf_entry *to, size_t a, size_t b, size_t c)
{
	size_t left = a, right = b, at = a;

	while (left < b && right < c) {
		if (from[right].time < from[left].time)
			to[at++] = from[right++];
		else
			to[at++] = from[left++];
	}
	memcpy(to + at, from + left, (b - left) * sizeof(*to));
	memcpy(to + at + (b - left), from + right, (c - right) * sizeof(*to));
}

/* One pass over all runs, two by two, from `entries` to `spare`; afterwards they change names. */
static void merge_pairs(struct lode_perf_order *order, size_t *run_count)
{
	struct lode_perf_entry *merged = order->spare;
	size_t runs = *run_count, kept = 0, capacity = order->spare_capacity;

	for (size_t i = 0; i < runs; i += 2) {
		size_t start = order->runs[i];
		size_t middle = order->runs[i + 1 < runs ? i + 1 : runs];
		size_t end = order->runs[i + 2 < runs ? i + 2 : runs];

		merge(order->entries, merged, start, middle, end);
		order->runs[kept++] = start;
	}
	order->runs[kept] = order->count;
	*run_count = kept;
	order->spare = order->entries;
	order->spare_capacity = order->capacity;
	order->entries = merged;
	order->capacity = capacity;
}

static int sort(struct lode_perf_order *order)
{
	size_t runs;

	if (order->sorted == order->count)
		return 0;
	if (find_runs(order, &runs) < 0 ||
	    (runs > 1 && lode_grow(&order->spare, &order->spare_capacity, order->count, sizeof(*order->spare)) < 0))
		return LODE_SYSTEM;
	while (runs > 1)
		merge_pairs(order, &runs);
	order->sorted = order->count;
	return 0;
}

int lode_perf_order_ready(struct lode_perf_order *order, int all, size_t *count)
{
	*count = 0;
	if (sort(order) < 0)
		return LODE_SYSTEM;
	*count = all ? order->count : LODE_BISECT(i, 0, order->count, order->entries[i].time <= order->limit);
	order->limit = order->newest;
	return 0;
}

void lode_perf_order_remove(struct lode_perf_order *order, size_t count)
{
	for (size_t i = 0; i < count && order->entries[i].time < order->gone; i++)
		order->late += order->entries[i].time != 0;
	if (count && order->entries[count - 1].time > order->gone)
		order->gone = order->entries[count - 1].time;
	order->count -= count;
	order->sorted -= count;
	if (count)
		memmove(order->entries, order->entries + count, order->count * sizeof(*order->entries));
}
