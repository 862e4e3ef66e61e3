/*
 * Coverage: see coverage.h. Classes of stacks (coverage_classes.h) are made first;
 * sums, unions and the orders in which to open streams all come from them.
 */
#include "mine/coverage.h"

#include "mine/coverage_classes.h"

#include <string.h>

const char *lode_opening_name(enum lode_opening opening)
{
	static const char *const names[LODE_OPENINGS] = { "stackmine", "random", "greedy_total", "greedy_max" };

	return names[opening];
}

static uint64_t area_cost(const struct lode_area *area)
{
	return lode_add_saturating(area->rows[LODE_RUN].cost, area->rows[LODE_WAIT].cost);
}

static void measure_whole(struct lode_coverage *coverage, const struct lode_area *area)
{
	for (size_t i = 0; i < area->stream_count; i++) {
		coverage->from_symptoms |= area->streams[i].symptoms != 0;
		coverage->whole = lode_add_saturating(coverage->whole, area->streams[i].delay);
	}
	if (!coverage->from_symptoms)
		coverage->whole = area_cost(area);
}

/* The signatures that count. */
static int choose_items(struct lode_coverage *coverage, const struct lode_signatures *signatures)
{
	coverage->items = lode_calloc(signatures->count + 1, sizeof(*coverage->items));
	if (!coverage->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < signatures->count; i++) {
		if (signatures->items[i].state == LODE_SIGNATURE_IGNORED)
			coverage->ignored++;
		else
			coverage->items[coverage->count++].signature = i;
	}
	return 0;
}

/* Puts the items in order and adds up what they cover together. */
static int accumulate(struct lode_coverage *coverage, const struct lode_coverage_classes *classes)
{
	struct lode_covering *ordered = lode_calloc(coverage->count + 1, sizeof(*ordered));
	struct lode_covered covered = { 0 };
	int code = ordered ? lode_covered_init(&covered, classes) : LODE_SYSTEM;

	for (size_t i = 0; !code && i < coverage->count; i++) {
		lode_covered_reveal(&covered, classes, classes->by_cost[i]);
		ordered[i] = coverage->items[classes->by_cost[i]];
		ordered[i].cumulative = covered.cost;
	}
	coverage->cost = covered.cost;
	coverage->events = covered.events;
	lode_covered_release(&covered);
	if (code) {
		lode_free(ordered);
		return code;
	}
	lode_free(coverage->items);
	coverage->items = ordered;
	return 0;
}

int lode_coverage_make(struct lode_coverage *coverage, const struct lode_area *area,
		       const struct lode_signatures *signatures, const struct lode_coverage_options *options,
		       struct lode_error *error)
{
	struct lode_coverage_classes classes = { 0 };
	int code;

	memset(coverage, 0, sizeof(*coverage));
	coverage->shuffles = options->shuffles;
	coverage->paper_order = options->paper_order;
	measure_whole(coverage, area);
	code = choose_items(coverage, signatures);
	if (!code)
		code = lode_coverage_classes_make(&classes, area, signatures, coverage->items, coverage->count);
	if (!code)
		code = accumulate(coverage, &classes);
	if (!code)
		code = lode_coverage_openings(coverage, area, &classes);
	lode_coverage_classes_release(&classes);
	return code ? lode_fail_memory(error) : 0;
}

void lode_coverage_release(struct lode_coverage *coverage)
{
	for (int opening = 0; opening < LODE_OPENINGS; opening++) {
		lode_free(coverage->curves[opening].steps);
		lode_free(coverage->curves[opening].revealed);
	}
	lode_free(coverage->items);
	lode_free(coverage->levels);
	memset(coverage, 0, sizeof(*coverage));
}
