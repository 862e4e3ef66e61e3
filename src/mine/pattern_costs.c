/*
 * What groups of patterns cost: see pattern_costs.h (StackMine, section II.B).
 *
 * The rows of the area are in preorder of their stacks, with running sums of
 * cost and events beside them. The stacks that contain a pattern are a few
 * preorder intervals (matcher.h), those that contain any pattern of a group are
 * the union of such intervals; so cost and number of events are differences of
 * sums, and no row counts twice. Only the costs of a group by stream need a pass
 * over its rows.
 *
 * Running sums are wider than 64 bits: the sum over a group stops at the largest
 * number, the differences must not.
 */
#include "mine/pattern_costs.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

struct lode_pattern_costs {
	const struct lode_matcher *matcher;
	const struct lode_area_row *rows;
	const struct lode_area_spread *spreads; /* theirs; NULL: none was recorded in slots */
	size_t row_count;
	size_t streams;
	uint32_t *starts;   /* by preorder number, one more than nodes: its rows in `by_stack` */
	uint32_t *by_stack; /* numbers of rows, by preorder number of their stacks */
	wide *cost_before;  /* by place in `by_stack`, one more than rows */
	wide *events_before;
};

const char *lode_rank_name(enum lode_rank rank)
{
	static const char *const names[LODE_RANKS] = { "total", "streams", "events", "average", "gain" };

	return (unsigned)rank < LODE_RANKS ? names[rank] : "unknown";
}

/* ---- making ---- */

/* Rows of one stack keep their order, which is that of their streams. */
static void sort_rows(struct lode_pattern_costs *costs)
{
	const struct lode_matcher *matcher = costs->matcher;

	for (size_t i = 0; i < costs->row_count; i++)
		costs->starts[matcher->preorder[costs->rows[i].stack]]++;
	for (size_t number = 0, sum = 0; number <= matcher->nodes; number++) {
		sum += costs->starts[number];
		costs->starts[number] = (uint32_t)sum;
	}
	for (size_t i = costs->row_count; i-- > 0;)
		costs->by_stack[--costs->starts[matcher->preorder[costs->rows[i].stack]]] = (uint32_t)i;
}

static void sum_rows(struct lode_pattern_costs *costs)
{
	for (size_t i = 0; i < costs->row_count; i++) {
		const struct lode_area_row *row = &costs->rows[costs->by_stack[i]];

		costs->cost_before[i + 1] = costs->cost_before[i] + row->cost;
		costs->events_before[i + 1] = costs->events_before[i] + row->events;
	}
}

struct lode_pattern_costs *lode_pattern_costs_make(const struct lode_area *area, enum lode_event_type kind,
						   const struct lode_matcher *matcher)
{
	const struct lode_area_rows *rows = &area->rows[kind];
	struct lode_pattern_costs *costs;

	/* Rows are named by 32-bit numbers; more of them do not fit. */
	if (rows->count >= LODE_NONE || !(costs = lode_calloc(1, sizeof(*costs))))
		return NULL;
	costs->matcher = matcher;
	costs->rows = rows->items;
	costs->spreads = rows->spread_count ? rows->spreads : NULL;
	costs->row_count = rows->count;
	costs->streams = area->stream_count;
	costs->starts = lode_calloc(matcher->nodes + 1, sizeof(*costs->starts));
	costs->by_stack = lode_calloc(rows->count, sizeof(*costs->by_stack));
	costs->cost_before = lode_calloc(rows->count + 1, sizeof(*costs->cost_before));
	costs->events_before = lode_calloc(rows->count + 1, sizeof(*costs->events_before));
	if (!costs->starts || !costs->by_stack || !costs->cost_before || !costs->events_before) {
		lode_pattern_costs_free(costs);
		return NULL;
	}
	sort_rows(costs);
	sum_rows(costs);
	return costs;
}

void lode_pattern_costs_free(struct lode_pattern_costs *costs)
{
	if (!costs)
		return;
	lode_free(costs->starts);
	lode_free(costs->by_stack);
	lode_free(costs->cost_before);
	lode_free(costs->events_before);
	lode_free(costs);
}

/* ---- the union of several patterns ---- */

struct intervals {
	struct lode_match *items;
	size_t count;
	size_t capacity;
};

static int add_intervals(struct intervals *intervals, const struct lode_matches *matches)
{
	if (LODE_GROW(intervals->items, intervals->capacity, intervals->count + matches->count) < 0)
		return LODE_SYSTEM;
	if (matches->count)
		memcpy(intervals->items + intervals->count, matches->items,
		       matches->count * sizeof(*intervals->items));
	intervals->count += matches->count;
	return 0;
}

static int compare_intervals(const void *a, const void *b)
{
	const struct lode_match *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Sorts and joins, so that the intervals are ascending and disjoint. */
static void unite(struct intervals *intervals)
{
	struct lode_match *items = intervals->items;
	size_t kept = 0;

	if (intervals->count)
		qsort(items, intervals->count, sizeof(*items), compare_intervals);
	for (size_t i = 0; i < intervals->count; i++) {
		if (!kept || items[i].first >= items[kept - 1].last)
			items[kept++] = items[i];
		else if (items[i].last > items[kept - 1].last)
			items[kept - 1].last = items[i].last;
	}
	intervals->count = kept;
}

static int find_all(const struct lode_pattern_costs *costs, const struct lode_sequence *patterns, size_t count,
		    struct intervals *intervals)
{
	struct lode_matches matches = { 0 };
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		code = lode_matcher_find(costs->matcher, patterns[i].frames, patterns[i].length, &matches);
		if (!code)
			code = add_intervals(intervals, &matches);
	}
	lode_matches_release(&matches);
	if (!code && count > 1)
		unite(intervals);
	return code;
}

/* ---- metrics ---- */

static uint64_t stop_at_largest(wide number)
{
	return number > UINT64_MAX ? UINT64_MAX : (uint64_t)number;
}

static uint64_t divide_rounded(uint64_t cost, uint64_t events)
{
	uint64_t rest;

	if (!events)
		return 0;
	rest = cost % events;
	return cost / events + (rest >= events - rest);
}

static void sum_up(const struct lode_pattern_costs *costs, const struct intervals *intervals,
		   struct lode_metrics *metrics)
{
	wide cost = 0, events = 0;

	for (size_t i = 0; i < intervals->count; i++) {
		uint32_t first = costs->starts[intervals->items[i].first];
		uint32_t last = costs->starts[intervals->items[i].last];

		cost += costs->cost_before[last] - costs->cost_before[first];
		events += costs->events_before[last] - costs->events_before[first];
	}
	metrics->cost = stop_at_largest(cost);
	metrics->events = stop_at_largest(events);
	metrics->average = divide_rounded(metrics->cost, metrics->events);
	metrics->low = metrics->high = metrics->cost;
}

/* ---- shares of the streams ---- */

static void add_row(const struct lode_pattern_costs *costs, uint32_t number, struct lode_share *by_stream,
		    struct lode_area_spread *spreads)
{
	const struct lode_area_row *row = &costs->rows[number];
	struct lode_share *share = &by_stream[row->stream];

	for (size_t i = 0; row->spread && i < LODE_SPREADS; i++)
		spreads[row->stream].sums[i] += costs->spreads[row->spread - 1].sums[i];

	share->cost = lode_add_saturating(share->cost, row->cost);
	share->events = lode_add_saturating(share->events, row->events);
	share->variance += row->variance;
	if (share->row == LODE_NONE || row->longest > costs->rows[share->row].longest ||
	    (row->longest == costs->rows[share->row].longest && number < share->row))
		share->row = number;
}

static void add_rows(const struct lode_pattern_costs *costs, const struct intervals *intervals,
		     struct lode_share *by_stream, struct lode_area_spread *spreads)
{
	for (size_t i = 0; i < costs->streams; i++)
		by_stream[i] = (struct lode_share){ .stream = (uint32_t)i, .row = LODE_NONE };
	for (size_t i = 0; i < intervals->count; i++) {
		uint32_t last = costs->starts[intervals->items[i].last];

		for (uint32_t at = costs->starts[intervals->items[i].first]; at < last; at++)
			add_row(costs, costs->by_stack[at], by_stream, spreads);
	}
	for (size_t i = 0; spreads && i < costs->streams; i++)
		by_stream[i].variance += lode_slot_sampling_between(spreads[i].sums);
}

/* Keeps the streams that have rows of the group: shares of many groups are held, most of them small. */
static int collect_shares(const struct lode_pattern_costs *costs, const struct intervals *intervals,
			  struct lode_shares *shares)
{
	struct lode_share *by_stream = lode_calloc(costs->streams, sizeof(*by_stream));
	struct lode_area_spread *spreads = costs->spreads ? lode_calloc(costs->streams, sizeof(*spreads)) : NULL;
	size_t count = 0;
	int code;

	shares->count = 0;
	if (!by_stream || (costs->spreads && !spreads)) {
		lode_free(by_stream);
		return LODE_SYSTEM;
	}
	add_rows(costs, intervals, by_stream, spreads);
	lode_free(spreads);
	for (size_t i = 0; i < costs->streams; i++)
		if (by_stream[i].row != LODE_NONE)
			by_stream[count++] = by_stream[i];
	code = LODE_GROW(shares->items, shares->capacity, count);
	if (!code) {
		if (count)
			memcpy(shares->items, by_stream, count * sizeof(*by_stream));
		shares->count = count;
	}
	lode_free(by_stream);
	return code;
}

void lode_shares_release(struct lode_shares *shares)
{
	lode_free(shares->items);
	memset(shares, 0, sizeof(*shares));
}

/* The nearest whole number that fits. */
static uint64_t to_whole(double number)
{
	return number >= 0x1p64 - 1024 ? UINT64_MAX : (uint64_t)(number + 0.5);
}

static int find_interval(const struct lode_pattern_costs *costs, const struct lode_shares *shares,
			 struct lode_metrics *metrics)
{
	uint64_t *values = lode_calloc(shares->count, sizeof(*values));
	struct lode_interval interval;

	if (!values)
		return LODE_SYSTEM;
	for (size_t i = 0; i < shares->count; i++)
		values[i] = shares->items[i].cost;
	metrics->sure = lode_total_interval(values, shares->count, costs->streams, &interval);
	lode_free(values);
	if (metrics->sure) {
		metrics->low = to_whole(interval.low);
		metrics->high = to_whole(interval.high);
	}
	return 0;
}

int lode_pattern_costs_measure(const struct lode_pattern_costs *costs, const struct lode_sequence *patterns,
			       size_t count, int interval, struct lode_metrics *metrics, struct lode_shares *shares)
{
	struct intervals intervals = { 0 };
	struct lode_shares own = { 0 };
	int code = find_all(costs, patterns, count, &intervals);

	memset(metrics, 0, sizeof(*metrics));
	if (!shares)
		shares = &own;
	if (!code)
		code = collect_shares(costs, &intervals, shares);
	if (!code) {
		sum_up(costs, &intervals, metrics);
		metrics->streams = shares->count;
		for (size_t i = 0; i < shares->count; i++)
			metrics->variance += shares->items[i].variance;
		if (interval)
			code = find_interval(costs, shares, metrics);
	}
	lode_free(intervals.items);
	lode_shares_release(&own);
	return code;
}
