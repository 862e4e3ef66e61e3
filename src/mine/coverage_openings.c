/*
 * The orders in which to open streams: see coverage.h.
 *
 * In any order, opening a stream reveals the signatures that match in it,
 * and what is covered grows by the classes of stacks that no signature revealed
 * before has. Only steps that reveal something are kept. Random is the mean, over
 * many shuffles from one fixed seed, of the number of streams that are needed for
 * each level that StackMine's order reaches.
 */
#include "base/id_array.h"
#include "mine/coverage_classes.h"

#include "base/random.h"
#include "base/sort_numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

/* Opens a stream as number `opened`; a step is kept when it reveals something. */
static int open_stream(struct lode_opening_curve *curve, const struct lode_coverage_classes *classes,
		       struct lode_covered *covered, uint32_t stream, uint64_t opened)
{
	struct lode_opened step = { .opened = opened, .stream = stream, .first = curve->revealed_count };
	size_t end = classes->stream_starts[stream + 1];

	for (size_t i = classes->stream_starts[stream]; i < end; i++) {
		uint32_t item = classes->revealings[classes->by_stream[i]].item;

		if (!lode_covered_reveal(covered, classes, item))
			continue;
		if (LODE_APPEND(curve->revealed, curve->revealed_count, curve->revealed_capacity,
				classes->rank[item]) < 0)
			return LODE_SYSTEM;
		step.count++;
	}
	if (!step.count)
		return 0;
	step.cost = covered->cost;
	return LODE_APPEND(curve->steps, curve->count, curve->capacity, step);
}

/* What a step reveals is in the order of the items. */
static void sort_revealed(struct lode_opening_curve *curve)
{
	for (size_t i = 0; i < curve->count; i++)
		lode_sort_u32(curve->revealed + curve->steps[i].first, curve->steps[i].count);
}

/* ---- StackMine ---- */

static uint64_t cost_in_stream(const struct lode_revealing *revealing)
{
	return lode_add_saturating(revealing->cost[LODE_RUN], revealing->cost[LODE_WAIT]);
}

/* What would be covered in addition if a stream were opened. `seen` is by class, marked with `turn`. */
static uint64_t gain(const struct lode_coverage_classes *classes, const struct lode_covered *covered,
		     uint32_t stream, uint64_t *seen, uint64_t turn)
{
	uint64_t cost = 0;

	for (size_t i = classes->stream_starts[stream]; i < classes->stream_starts[stream + 1]; i++) {
		uint32_t item = classes->revealings[classes->by_stream[i]].item;

		for (size_t k = classes->starts[item]; !covered->items[item] && k < classes->starts[item + 1]; k++) {
			uint32_t cls = classes->members[k];

			if (covered->classes[cls] || seen[cls] == turn)
				continue;
			seen[cls] = turn;
			cost = lode_add_saturating(cost, classes->cost[cls]);
		}
	}
	return cost;
}

/*
 * The stream to open for an item: of those that show it the one that covers most in
 * addition; of equal ones the one in which the item costs more, then the first.
 * LODE_NONE: no stream.
 */
static uint32_t best_stream(const struct lode_coverage_classes *classes, const struct lode_covered *covered,
			    uint32_t item, uint64_t *seen, uint64_t *turn)
{
	size_t first = classes->item_starts[item], end = classes->item_starts[item + 1];
	uint64_t best_gain = 0, best_cost = 0;
	uint32_t best = LODE_NONE;

	for (size_t i = first; i < end; i++) {
		uint64_t cost = cost_in_stream(&classes->revealings[i]), more;

		more = gain(classes, covered, classes->revealings[i].stream, seen, ++*turn);
		if (best != LODE_NONE && (more < best_gain || (more == best_gain && cost <= best_cost)))
			continue;
		best = classes->revealings[i].stream;
		best_gain = more;
		best_cost = cost;
	}
	return best;
}

/* The first stream that shows an item, as the paper's Figure 4 can be read; LODE_NONE: no stream. */
static uint32_t first_stream(const struct lode_coverage_classes *classes, uint32_t item)
{
	uint32_t first = LODE_NONE;

	for (size_t i = classes->item_starts[item]; i < classes->item_starts[item + 1]; i++)
		if (classes->revealings[i].stream < first)
			first = classes->revealings[i].stream;
	return first;
}

static int open_by_signature(struct lode_opening_curve *curve, const struct lode_coverage_classes *classes,
			     struct lode_covered *covered, int paper_order)
{
	uint64_t *seen = lode_calloc(classes->tree.count, sizeof(*seen)), turn = 0, opened = 0;
	int code = seen ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < classes->count; i++) {
		uint32_t item = classes->by_cost[i], stream;

		if (covered->items[item])
			continue;
		stream = paper_order ? first_stream(classes, item)
				     : best_stream(classes, covered, item, seen, &turn);
		if (stream != LODE_NONE)
			code = open_stream(curve, classes, covered, stream, ++opened);
	}
	lode_free(seen);
	return code;
}

/* ---- greedy ---- */

struct weighed {
	uint64_t weight;
	uint32_t stream;
};

static int compare_weights(const void *left, const void *right)
{
	const struct weighed *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Delays of symptoms, or without them costs of events. */
static void weigh(const struct lode_area *area, int from_symptoms, enum lode_opening opening,
		  struct weighed *weights)
{
	int longest = opening == LODE_OPENING_GREEDY_MAX;

	for (uint32_t i = 0; i < area->stream_count; i++) {
		weights[i].stream = i;
		if (from_symptoms)
			weights[i].weight = longest ? area->streams[i].longest_delay : area->streams[i].delay;
	}
	for (int kind = 0; !from_symptoms && kind < LODE_AREA_KINDS; kind++)
		for (size_t i = 0; i < area->rows[kind].count; i++) {
			const struct lode_area_row *row = &area->rows[kind].items[i];
			uint64_t *weight = &weights[row->stream].weight;

			if (!longest)
				*weight = lode_add_saturating(*weight, row->cost);
			else if (row->longest > *weight)
				*weight = row->longest;
		}
}

static int open_by_weight(struct lode_opening_curve *curve, const struct lode_coverage_classes *classes,
			  struct lode_covered *covered, const struct lode_area *area, int from_symptoms,
			  enum lode_opening opening)
{
	struct weighed *weights = lode_calloc(area->stream_count + 1, sizeof(*weights));
	int code = weights ? 0 : LODE_SYSTEM;

	if (!code) {
		weigh(area, from_symptoms, opening, weights);
		qsort(weights, area->stream_count, sizeof(*weights), compare_weights);
	}
	for (size_t i = 0; !code && covered->left && i < area->stream_count; i++)
		code = open_stream(curve, classes, covered, weights[i].stream, i + 1);
	lode_free(weights);
	return code;
}

/* ---- levels ---- */

/* A level for each step of StackMine's order that covers more than the one before. */
static int make_levels(struct lode_coverage *coverage)
{
	const struct lode_opening_curve *curve = &coverage->curves[LODE_OPENING_STACKMINE];
	uint64_t cost = 0;

	coverage->levels = lode_calloc(curve->count + 1, sizeof(*coverage->levels));
	if (!coverage->levels)
		return LODE_SYSTEM;
	for (size_t i = 0; i < curve->count; i++)
		if (curve->steps[i].cost > cost)
			coverage->levels[coverage->level_count++].cost = cost = curve->steps[i].cost;
	return 0;
}

/* How many streams a curve needs for each level. */
static void reach_levels(struct lode_coverage *coverage, enum lode_opening opening)
{
	const struct lode_opening_curve *curve = &coverage->curves[opening];
	size_t step = 0;

	for (size_t i = 0; i < coverage->level_count; i++) {
		while (curve->steps[step].cost < coverage->levels[i].cost)
			step++; /* every order ends at the last level */
		coverage->levels[i].streams[opening] = (double)curve->steps[step].opened;
	}
}

/* ---- Random ---- */

/*
 * Opens streams in random order until all is revealed, drawing each when it is its
 * turn, and adds to `sums` how many it took for each level.
 */
static void open_at_random(const struct lode_coverage *coverage, const struct lode_coverage_classes *classes,
			   struct lode_covered *covered, uint32_t *streams, size_t count, uint64_t *state,
			   uint64_t *sums)
{
	size_t level = 0;

	for (size_t i = 0; level < coverage->level_count && i < count; i++) {
		size_t drawn = i + (size_t)(lode_splitmix64(state) % (count - i));
		uint32_t stream = streams[drawn];

		streams[drawn] = streams[i];
		streams[i] = stream;
		for (size_t k = classes->stream_starts[stream]; k < classes->stream_starts[stream + 1]; k++)
			lode_covered_reveal(covered, classes, classes->revealings[classes->by_stream[k]].item);
		for (; level < coverage->level_count && covered->cost >= coverage->levels[level].cost; level++)
			sums[level] += i + 1;
	}
}

static int reach_at_random(struct lode_coverage *coverage, const struct lode_coverage_classes *classes,
			   struct lode_covered *covered, size_t count)
{
	uint32_t *streams = lode_ids_below(count);
	uint64_t *sums = lode_calloc(coverage->level_count + 1, sizeof(*sums));
	uint64_t state = 20120602;
	int code = streams && sums ? 0 : LODE_SYSTEM;

	for (unsigned round = 0; !code && round < coverage->shuffles; round++) {
		lode_covered_clear(covered, classes);
		open_at_random(coverage, classes, covered, streams, count, &state, sums);
	}
	for (size_t i = 0; !code && i < coverage->level_count; i++)
		coverage->levels[i].streams[LODE_OPENING_RANDOM] = (double)sums[i] / coverage->shuffles;
	lode_free(streams);
	lode_free(sums);
	return code;
}

/* ---- all of it ---- */

static void average_ratios(struct lode_coverage *coverage)
{
	for (int opening = 0; coverage->level_count && opening < LODE_OPENINGS; opening++) {
		double sum = 0;

		for (size_t i = 0; i < coverage->level_count; i++)
			sum += coverage->levels[i].streams[LODE_OPENING_STACKMINE] /
			       coverage->levels[i].streams[opening];
		coverage->ratio[opening] = sum / (double)coverage->level_count;
	}
}

int lode_coverage_openings(struct lode_coverage *coverage, const struct lode_area *area,
			   const struct lode_coverage_classes *classes)
{
	struct lode_covered covered;
	int code = lode_covered_init(&covered, classes);

	if (!code)
		code = open_by_signature(&coverage->curves[LODE_OPENING_STACKMINE], classes, &covered,
					 coverage->paper_order);
	if (!code)
		code = make_levels(coverage);
	for (int opening = LODE_OPENING_GREEDY_TOTAL; !code && opening < LODE_OPENINGS; opening++) {
		lode_covered_clear(&covered, classes);
		code = open_by_weight(&coverage->curves[opening], classes, &covered, area, coverage->from_symptoms,
				      (enum lode_opening)opening);
	}
	for (int opening = 0; !code && opening < LODE_OPENINGS; opening++) {
		sort_revealed(&coverage->curves[opening]);
		if (opening == LODE_OPENING_RANDOM)
			code = reach_at_random(coverage, classes, &covered, area->stream_count);
		else
			reach_levels(coverage, (enum lode_opening)opening);
	}
	lode_covered_release(&covered);
	if (!code)
		average_ratios(coverage);
	return code;
}
