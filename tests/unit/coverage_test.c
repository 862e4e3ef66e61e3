/*
 * Coverage against a slow and obvious computation on random small areas. The
 * oracle keeps events as plain lists, asks of every event and signature whether
 * the one matches the other, and tries all orders of streams for Random.
 */
#include "cmocka_all.h"
#include "random_stream.h"

#include "mine/coverage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES     5
#define STREAMS    5
#define EVENTS     40
#define SIGNATURES 6
#define PATTERNS   3
#define LENGTH     3
#define DEPTH      5

struct event {
	int kind;
	uint32_t stream;
	uint32_t frames[DEPTH];
	uint32_t depth;
	uint64_t cost;
	uint64_t count;
	uint64_t longest;
};

struct signature {
	char name[8];
	unsigned kinds;
	enum lode_signature_state state;
	size_t patterns;
	uint32_t frames[PATTERNS][LENGTH];
	uint32_t length[PATTERNS];
};

struct world {
	size_t streams;
	uint64_t delay[STREAMS];
	uint64_t longest[STREAMS];
	size_t events;
	struct event list[EVENTS];
	size_t signatures;
	struct signature signs[SIGNATURES];
};

static void make_world(struct world *world, uint64_t *seed)
{
	int symptoms = random_below(seed, 3) != 0;

	memset(world, 0, sizeof(*world));
	world->streams = random_below(seed, STREAMS + 1);
	for (size_t i = 0; symptoms && i < world->streams; i++) {
		world->delay[i] = random_below(seed, 4) * 100;
		world->longest[i] = world->delay[i] ? world->delay[i] / (random_below(seed, 2) + 1) : 0;
	}
	world->events = world->streams ? random_below(seed, EVENTS) : 0;
	for (size_t i = 0; i < world->events; i++) {
		struct event *event = &world->list[i];

		event->kind = (int)random_below(seed, 2);
		event->stream = (uint32_t)random_below(seed, world->streams);
		event->depth = (uint32_t)random_below(seed, DEPTH + 1);
		for (uint32_t k = 0; k < event->depth; k++)
			event->frames[k] = (uint32_t)random_below(seed, FRAMES);
		event->cost = random_below(seed, 20);
		event->count = random_below(seed, 3) + 1;
		event->longest = event->cost / event->count;
	}
	world->signatures = random_below(seed, SIGNATURES + 1);
	for (size_t i = 0; i < world->signatures; i++) {
		struct signature *signature = &world->signs[i];

		snprintf(signature->name, sizeof(signature->name), "s%zu", (i * 5) % 7);
		signature->kinds = (unsigned)random_below(seed, 3) + 1;
		signature->state = random_below(seed, 4)
					   ? (random_below(seed, 2) ? LODE_SIGNATURE_OPEN : LODE_SIGNATURE_FIXED)
					   : LODE_SIGNATURE_IGNORED;
		signature->patterns = random_below(seed, PATTERNS) + 1;
		for (size_t p = 0; p < signature->patterns; p++) {
			signature->length[p] = (uint32_t)random_below(seed, LENGTH) + 1;
			for (uint32_t k = 0; k < signature->length[p]; k++) /* one frame more than stacks have */
				signature->frames[p][k] = (uint32_t)random_below(seed, FRAMES + 1);
		}
	}
}

/* ---- the world as an area and a list of signatures ---- */

static uint32_t frame_of(struct lode_frames *frames, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "m!f%u", number);
	return lode_frames_parse(frames, text, strlen(text));
}

static int compare_rows(const void *left, const void *right)
{
	const struct lode_area_row *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

/* Rows of one stack and stream are one. */
static void add_row(struct lode_area_rows *rows, uint32_t stack, const struct event *event)
{
	struct lode_area_row *row = NULL;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].stack == stack && rows->items[i].stream == event->stream)
			row = &rows->items[i];
	if (!row) {
		assert_int_equal(lode_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof(*row)), 0);
		row = &rows->items[rows->count++];
		*row = (struct lode_area_row){ .stack = stack, .stream = event->stream };
	}
	row->cost += event->cost;
	row->events += event->count;
	if (event->longest > row->longest)
		row->longest = event->longest;
	rows->cost += event->cost;
	rows->events += event->count;
}

static void make_area(const struct world *world, struct lode_area *area)
{
	memset(area, 0, sizeof(*area));
	assert_int_equal(lode_dictionary_init(&area->dictionary), 0);
	frame_of(&area->dictionary.frames, 77); /* so that numbers differ from those of the signatures */
	area->streams = lode_calloc(STREAMS, sizeof(*area->streams));
	area->stream_count = world->streams;
	for (size_t i = 0; i < world->streams; i++) {
		area->streams[i].delay = world->delay[i];
		area->streams[i].longest_delay = world->longest[i];
		area->streams[i].symptoms = world->delay[i] != 0;
	}
	for (size_t i = 0; i < world->events; i++) {
		const struct event *event = &world->list[i];
		uint32_t node = 0;

		for (uint32_t k = 0; k < event->depth; k++)
			node = lode_stack_tree_child(&area->dictionary.tree, node,
						     frame_of(&area->dictionary.frames, event->frames[k]));
		add_row(&area->rows[event->kind], node, event);
	}
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		if (area->rows[kind].count)
			qsort(area->rows[kind].items, area->rows[kind].count, sizeof(struct lode_area_row),
			      compare_rows);
}

static void release_area(struct lode_area *area)
{
	lode_dictionary_release(&area->dictionary);
	lode_free(area->streams);
	lode_free(area->rows[0].items);
	lode_free(area->rows[1].items);
}

static void make_signatures(const struct world *world, struct lode_signatures *signatures)
{
	memset(signatures, 0, sizeof(*signatures));
	assert_int_equal(lode_frames_init(&signatures->frames), 0);
	signatures->items = lode_calloc(SIGNATURES, sizeof(*signatures->items));
	signatures->count = world->signatures;
	for (size_t i = 0; i < world->signatures; i++) {
		const struct signature *from = &world->signs[i];

		signatures->items[i] = (struct lode_signature){
			.name = from->name,
			.state = from->state,
			.kinds = from->kinds,
			.first = signatures->patterns.count,
			.count = from->patterns,
		};
		for (size_t p = 0; p < from->patterns; p++) {
			uint32_t sequence[LENGTH];

			for (uint32_t k = 0; k < from->length[p]; k++)
				sequence[k] = frame_of(&signatures->frames, from->frames[p][k]);
			assert_int_equal(lode_patterns_add(&signatures->patterns, sequence, from->length[p], 0), 0);
		}
	}
}

/* ---- the oracle ---- */

static int is_subsequence(const uint32_t *pattern, uint32_t length, const uint32_t *frames, uint32_t depth)
{
	if (!length)
		return 1;
	if (!depth)
		return 0;
	if (pattern[0] == frames[0] && is_subsequence(pattern + 1, length - 1, frames + 1, depth - 1))
		return 1;
	return is_subsequence(pattern, length, frames + 1, depth - 1);
}

static int matches(const struct world *world, size_t s, size_t e)
{
	const struct signature *signature = &world->signs[s];
	const struct event *event = &world->list[e];

	if (signature->state == LODE_SIGNATURE_IGNORED || !(signature->kinds & 1u << event->kind))
		return 0;
	for (size_t p = 0; p < signature->patterns; p++)
		if (is_subsequence(signature->frames[p], signature->length[p], event->frames, event->depth))
			return 1;
	return 0;
}

/* What the signatures of a set (a bit each) match together. */
static uint64_t covered(const struct world *world, unsigned set)
{
	uint64_t cost = 0;

	for (size_t e = 0; e < world->events; e++) {
		int found = 0;

		for (size_t s = 0; s < world->signatures; s++)
			found |= set & 1u << s && matches(world, s, e);
		cost += found ? world->list[e].cost : 0;
	}
	return cost;
}

static uint64_t cost_in(const struct world *world, size_t s, uint32_t stream, uint64_t *events)
{
	uint64_t cost = 0;

	*events = 0;
	for (size_t e = 0; e < world->events; e++)
		if (world->list[e].stream == stream && matches(world, s, e)) {
			cost += world->list[e].cost;
			*events += world->list[e].count;
		}
	return cost;
}

static unsigned revealed_by(const struct world *world, uint32_t stream)
{
	unsigned set = 0;
	uint64_t events;

	for (size_t s = 0; s < world->signatures; s++) {
		cost_in(world, s, stream, &events);
		set |= events ? 1u << s : 0;
	}
	return set;
}

/* Streams of an order that are needed to cover `cost`. */
static unsigned needed(const struct world *world, const uint32_t *order, uint64_t cost)
{
	unsigned set = 0, count = 0;

	while (covered(world, set) < cost)
		set |= revealed_by(world, order[count++]);
	return count;
}

/* The signature that comes first: not ignored, not in `done`, costliest, then by name. */
static int next_signature(const struct world *world, unsigned done)
{
	int best = -1;

	for (int s = 0; s < (int)world->signatures; s++) {
		if (done & 1u << s || world->signs[s].state == LODE_SIGNATURE_IGNORED)
			continue;
		if (best < 0 || covered(world, 1u << s) > covered(world, 1u << best) ||
		    (covered(world, 1u << s) == covered(world, 1u << best) &&
		     strcmp(world->signs[s].name, world->signs[best].name) < 0))
			best = s;
	}
	return best;
}

static void check_items(const struct world *world, const struct lode_coverage *coverage)
{
	unsigned done = 0;
	size_t at = 0;
	int s;

	while ((s = next_signature(world, done)) >= 0) {
		const struct lode_covering *item = &coverage->items[at++];
		uint64_t streams = 0, all = 0, events;

		assert_true(at <= coverage->count);
		assert_int_equal(item->signature, s);
		assert_int_equal(item->cost[0] + item->cost[1], covered(world, 1u << s));
		for (uint32_t stream = 0; stream < world->streams; stream++) {
			cost_in(world, (size_t)s, stream, &events);
			streams += events != 0;
			all += events;
		}
		assert_int_equal(item->streams, streams);
		assert_int_equal(item->events, all);
		done |= 1u << s;
		assert_int_equal(item->cumulative, covered(world, done));
	}
	assert_int_equal(at, coverage->count);
	assert_int_equal(coverage->cost, covered(world, done));
}

/* The streams that StackMine opens, by its definition, or by the paper's; returns how many. */
static size_t stackmine_order(const struct world *world, int paper_order, uint32_t *order)
{
	unsigned done = 0, revealed = 0;
	size_t count = 0;
	int s;

	while ((s = next_signature(world, done)) >= 0) {
		uint64_t best_gain = 0, best_cost = 0, events;
		int best = -1;

		done |= 1u << s;
		if (revealed & 1u << s)
			continue;
		for (uint32_t stream = 0; stream < world->streams; stream++) {
			uint64_t cost = cost_in(world, (size_t)s, stream, &events);
			uint64_t gain =
				covered(world, revealed | revealed_by(world, stream)) - covered(world, revealed);

			if (!events)
				continue;
			if (best >= 0 &&
			    (paper_order || gain < best_gain || (gain == best_gain && cost <= best_cost)))
				continue;
			best = (int)stream;
			best_gain = gain;
			best_cost = cost;
		}
		if (best < 0)
			continue;
		order[count++] = (uint32_t)best;
		revealed |= revealed_by(world, (uint32_t)best);
	}
	return count;
}

static void check_stackmine(const struct world *world, const struct lode_coverage *coverage)
{
	const struct lode_opening_curve *curve = &coverage->curves[LODE_OPENING_STACKMINE];
	unsigned revealed = 0;
	uint32_t order[SIGNATURES];
	size_t count = stackmine_order(world, coverage->paper_order, order);

	assert_int_equal(curve->count, count);
	for (size_t i = 0; i < count; i++) {
		unsigned more = revealed_by(world, order[i]) & ~revealed, reported = 0;

		revealed |= more;
		assert_int_equal(curve->steps[i].stream, order[i]);
		assert_int_equal(curve->steps[i].opened, i + 1);
		assert_int_equal(curve->steps[i].cost, covered(world, revealed));
		for (size_t k = 0; k < curve->steps[i].count; k++)
			reported |= 1u << coverage->items[curve->revealed[curve->steps[i].first + k]].signature;
		assert_int_equal(reported, more);
	}
}

static uint64_t weight_of(const struct world *world, uint32_t stream, int longest, int symptoms)
{
	uint64_t weight = 0;

	if (symptoms)
		return longest ? world->longest[stream] : world->delay[stream];
	for (size_t e = 0; e < world->events; e++) {
		if (world->list[e].stream != stream)
			continue;
		if (!longest)
			weight += world->list[e].cost;
		else if (world->list[e].longest > weight)
			weight = world->list[e].longest;
	}
	return weight;
}

static void greedy_order(const struct world *world, int longest, int symptoms, uint32_t *order)
{
	for (uint32_t i = 0; i < world->streams; i++) {
		uint32_t at = i;

		for (; at &&
		       weight_of(world, order[at - 1], longest, symptoms) < weight_of(world, i, longest, symptoms);
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* Sums over all orders of the streams. */
static void try_all(const struct world *world, uint32_t *order, size_t fixed, uint64_t cost, double *sum,
		    double *squares, unsigned *orders)
{
	if (fixed == world->streams) {
		unsigned count = needed(world, order, cost);

		*sum += count;
		*squares += count * count;
		++*orders;
		return;
	}
	for (size_t i = fixed; i < world->streams; i++) {
		uint32_t here = order[fixed];

		order[fixed] = order[i];
		order[i] = here;
		try_all(world, order, fixed + 1, cost, sum, squares, orders);
		order[i] = order[fixed];
		order[fixed] = here;
	}
}

static void check_random(const struct world *world, const struct lode_coverage *coverage, size_t level)
{
	uint32_t order[STREAMS] = { 0, 1, 2, 3, 4 };
	double sum = 0, squares = 0, mean, deviation;
	unsigned orders = 0;

	try_all(world, order, 0, coverage->levels[level].cost, &sum, &squares, &orders);
	mean = sum / orders;
	deviation = sqrt(fabs(squares / orders - mean * mean) / coverage->shuffles);
	assert_true(fabs(coverage->levels[level].streams[LODE_OPENING_RANDOM] - mean) <= 6 * deviation + 1e-9);
}

static void check_levels(const struct world *world, const struct lode_coverage *coverage, int thorough)
{
	uint32_t total[STREAMS], longest[STREAMS], ours[SIGNATURES];
	double ratios[LODE_OPENINGS] = { 0 };
	int symptoms = 0;

	for (size_t i = 0; i < world->streams; i++)
		symptoms |= world->delay[i] != 0;
	greedy_order(world, 0, symptoms, total);
	greedy_order(world, 1, symptoms, longest);
	stackmine_order(world, coverage->paper_order, ours);
	for (size_t i = 0; i < coverage->level_count; i++) {
		const struct lode_coverage_level *level = &coverage->levels[i];

		assert_true(level->cost > (i ? coverage->levels[i - 1].cost : 0));
		assert_int_equal(level->streams[LODE_OPENING_STACKMINE], needed(world, ours, level->cost));
		assert_int_equal(level->streams[LODE_OPENING_GREEDY_TOTAL], needed(world, total, level->cost));
		assert_int_equal(level->streams[LODE_OPENING_GREEDY_MAX], needed(world, longest, level->cost));
		if (thorough)
			check_random(world, coverage, i);
		for (int k = 0; k < LODE_OPENINGS; k++)
			ratios[k] += level->streams[LODE_OPENING_STACKMINE] / level->streams[k];
	}
	assert_true(!coverage->level_count == !coverage->cost);
	for (int k = 0; coverage->level_count && k < LODE_OPENINGS; k++)
		assert_true(fabs(coverage->ratio[k] - ratios[k] / (double)coverage->level_count) < 1e-9);
}

static void check_whole(const struct world *world, const struct lode_coverage *coverage)
{
	uint64_t delay = 0, cost = 0;

	for (size_t i = 0; i < world->streams; i++)
		delay += world->delay[i];
	for (size_t i = 0; i < world->events; i++)
		cost += world->list[i].cost;
	assert_int_equal(coverage->from_symptoms, delay != 0);
	assert_int_equal(coverage->whole, delay ? delay : cost);
}

static void compute_as(const struct world *world, const struct lode_coverage_options *options,
		       struct lode_coverage *coverage)
{
	struct lode_signatures signatures;
	struct lode_error error = { "" };
	struct lode_area area;

	make_area(world, &area);
	make_signatures(world, &signatures);
	assert_int_equal(lode_coverage_make(coverage, &area, &signatures, options, &error), 0);
	lode_signatures_release(&signatures);
	release_area(&area);
}

static void compute(const struct world *world, unsigned shuffles, struct lode_coverage *coverage)
{
	compute_as(world, &(struct lode_coverage_options){ .shuffles = shuffles }, coverage);
}

static void coverage_is_that_of_the_obvious_way(void **state)
{
	uint64_t seed = 5, levels = 0;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		int thorough = round % 40 == 0;
		struct lode_coverage coverage;
		struct world world;

		make_world(&world, &seed);
		compute(&world, thorough ? 1000 : 3, &coverage);
		check_whole(&world, &coverage);
		check_items(&world, &coverage);
		check_stackmine(&world, &coverage);
		check_levels(&world, &coverage, thorough);
		levels += coverage.level_count;
		lode_coverage_release(&coverage);
	}
	assert_true(levels > 2000);
}

static void the_order_of_the_paper_opens_any_stream_with_the_next_signature(void **state)
{
	uint64_t seed = 6, most = 0, any = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct lode_coverage coverage, adding_most;
		struct world world;

		make_world(&world, &seed);
		compute_as(&world, &(struct lode_coverage_options){ .shuffles = 1, .paper_order = 1 }, &coverage);
		compute(&world, 1, &adding_most);
		check_items(&world, &coverage);
		check_stackmine(&world, &coverage);
		any += coverage.curves[LODE_OPENING_STACKMINE].count;
		most += adding_most.curves[LODE_OPENING_STACKMINE].count;
		lode_coverage_release(&coverage);
		lode_coverage_release(&adding_most);
	}
	assert_true(any > most); /* or the two would be one */
}

static void an_area_of_nothing_is_covered_by_nothing(void **state)
{
	struct lode_coverage coverage;
	struct world world = { 0 };

	(void)state;
	compute(&world, 1, &coverage);
	assert_int_equal(coverage.count + coverage.level_count + coverage.whole + coverage.cost, 0);
	lode_coverage_release(&coverage);
}

/* The paper's point in small: one stream that shows all is opened first, whatever its delay. */
static void the_stream_that_shows_most_is_opened_first(void **state)
{
	struct world world = {
		.streams = 3,
		.delay = { 1000, 500, 100 },
		.longest = { 1000, 500, 100 },
		.events = 3,
		.list = { { .kind = LODE_WAIT, .stream = 2, .frames = { 0, 1 }, .depth = 2, .cost = 60, .count = 1 },
			  { .kind = LODE_RUN, .stream = 2, .frames = { 2 }, .depth = 1, .cost = 20, .count = 1 },
			  { .kind = LODE_WAIT, .stream = 1, .frames = { 0, 3, 1 }, .depth = 3, .cost = 40, .count = 1 } },
		.signatures = 2,
		.signs = { { .name = "a", .kinds = 3, .patterns = 1, .frames = { { 0, 1 } }, .length = { 2 } },
			   { .name = "b", .kinds = 3, .patterns = 1, .frames = { { 2 } }, .length = { 1 } } },
	};
	struct lode_coverage coverage;

	(void)state;
	compute(&world, 10, &coverage);
	assert_int_equal(coverage.whole, 1600);
	assert_int_equal(coverage.cost, 120);
	assert_int_equal(coverage.level_count, 1);
	assert_true(coverage.levels[0].streams[LODE_OPENING_STACKMINE] == 1);
	assert_true(coverage.levels[0].streams[LODE_OPENING_GREEDY_TOTAL] == 3);
	assert_int_equal(coverage.curves[LODE_OPENING_STACKMINE].steps[0].stream, 2);
	lode_coverage_release(&coverage);
}

static void memory_that_runs_out_anywhere_is_a_clean_error(void **state)
{
	struct lode_signatures signatures;
	struct lode_error error;
	struct lode_area area;
	struct world world;
	uint64_t seed = 9, nth = 1;
	int code = LODE_SYSTEM;

	(void)state;
	do
		make_world(&world, &seed);
	while (world.events < 20 || world.signatures < 4);
	make_area(&world, &area);
	make_signatures(&world, &signatures);
	for (; code && nth < 1000; nth++) {
		struct lode_coverage coverage;

		lode_memory_fail_at(nth, 0);
		code = lode_coverage_make(&coverage, &area, &signatures,
					  &(struct lode_coverage_options){ .shuffles = 2 }, &error);
		if (lode_memory_asked() >= nth)
			assert_int_equal(code, LODE_SYSTEM);
		lode_memory_fail_at(0, 0);
		lode_coverage_release(&coverage);
	}
	assert_true(nth > 20 && nth < 1000);
	lode_signatures_release(&signatures);
	release_area(&area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coverage_is_that_of_the_obvious_way),
		cmocka_unit_test(the_order_of_the_paper_opens_any_stream_with_the_next_signature),
		cmocka_unit_test(an_area_of_nothing_is_covered_by_nothing),
		cmocka_unit_test(the_stream_that_shows_most_is_opened_first),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_a_clean_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
