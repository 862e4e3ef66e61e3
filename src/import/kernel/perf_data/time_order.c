/* Order: see time_order.h. */
#include "import/kernel/perf_data/time_order.h"

#include "base/bisect.h"
#include "base/error.h"
#include "base/sort_order.h"

void lode_perf_order_release(struct lode_perf_order *order)
{
	lode_free(order->entries);
	lode_free(order->spare);
	lode_free(order->times);
	lode_free(order->places);
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

static int is_sorted(const struct lode_perf_order *order)
{
	for (size_t i = order->sorted ? order->sorted : 1; i < order->count; i++)
		if (order->entries[i].time < order->entries[i - 1].time)
			return 0;
	return 1;
}

static int make_room(struct lode_perf_order *order)
{
	if (order->count >= LODE_NONE ||
	    lode_grow(&order->spare, &order->spare_capacity, order->count, sizeof(*order->spare)) < 0 ||
	    lode_grow(&order->times, &order->time_capacity, order->count, sizeof(*order->times)) < 0 ||
	    lode_grow(&order->places, &order->place_capacity, order->count, sizeof(*order->places)) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int sort(struct lode_perf_order *order)
{
	struct lode_perf_entry *sorted;
	size_t capacity;

	if (is_sorted(order))
		return 0;
	if (make_room(order) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < order->count; i++)
		order->times[i] = order->entries[i].time;
	if (lode_sort_order(order->times, order->count, order->places) < 0)
		return LODE_SYSTEM;
	sorted = order->spare;
	capacity = order->spare_capacity;
	for (size_t i = 0; i < order->count; i++)
		sorted[i] = order->entries[order->places[i]];
	order->spare = order->entries;
	order->spare_capacity = order->capacity;
	order->entries = sorted;
	order->capacity = capacity;
	return 0;
}

int lode_perf_order_ready(struct lode_perf_order *order, int all, size_t *count)
{
	*count = 0;
	if (sort(order) < 0)
		return LODE_SYSTEM;
	order->sorted = order->count;
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
