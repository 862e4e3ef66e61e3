/*
 * Matcher: see matcher.h.
 *
 * In preorder the stacks below a node are one interval that begins with the node
 * itself. A stack contains a pattern exactly when it is below a node where the
 * pattern, taken greedily from the root, is complete; so after each frame it is
 * enough to know the topmost nodes where the frames so far are complete. They are
 * an antichain: their intervals do not overlap, and rise.
 *
 * One step goes through intervals and occurrences of the next frame side by side;
 * both rise, and both are skipped by galloping, so a step costs about the smaller
 * of the two times the logarithm of the gaps.
 */
#include "mine/matcher.h"

#include "base/error.h"

#include <string.h>

/* ---- numbering the tree ---- */

/* Sizes of the subtrees, by node: children have larger numbers than their parents. */
static void count_subtrees(const struct lode_stack_tree *tree, uint32_t *size)
{
	for (size_t node = 0; node < tree->count; node++)
		size[node] = 1;
	for (size_t node = tree->count; node-- > 1;)
		size[tree->nodes[node].parent] += size[node];
}

/* Fills `order` and `end`; `next` holds sizes and becomes, by node, the number its next child gets. */
static void number_nodes(struct lode_matcher *matcher, const struct lode_stack_tree *tree, uint32_t *next)
{
	for (size_t node = 0; node < tree->count; node++) {
		uint32_t parent = tree->nodes[node].parent;
		uint32_t size = next[node];
		uint32_t number = node ? next[parent] : 0;

		if (node)
			next[parent] += size;
		matcher->preorder[node] = number;
		matcher->end[number] = number + size;
		next[node] = number + 1;
	}
}

/* Sorts the nodes by frame, then by preorder number. `frame_at` has room for a frame a node. */
static void sort_places(struct lode_matcher *matcher, const struct lode_stack_tree *tree, uint32_t *frame_at)
{
	for (size_t node = 0; node < tree->count; node++)
		frame_at[matcher->preorder[node]] = tree->nodes[node].frame;
	for (size_t i = 0; i < matcher->nodes; i++)
		if (frame_at[i] < matcher->frames)
			matcher->starts[frame_at[i]]++;
	for (size_t frame = 0, sum = 0; frame <= matcher->frames; frame++) {
		sum += matcher->starts[frame];
		matcher->starts[frame] = (uint32_t)sum;
	}
	for (size_t i = matcher->nodes; i-- > 0;)
		if (frame_at[i] < matcher->frames)
			matcher->places[--matcher->starts[frame_at[i]]] = (uint32_t)i;
}

int lode_matcher_init(struct lode_matcher *matcher, const struct lode_stack_tree *tree, size_t frames)
{
	uint32_t *work = lode_calloc(tree->count, sizeof(*work));

	memset(matcher, 0, sizeof(*matcher));
	matcher->nodes = tree->count;
	matcher->frames = frames;
	matcher->preorder = lode_calloc(tree->count, sizeof(*matcher->preorder));
	matcher->end = lode_calloc(tree->count, sizeof(*matcher->end));
	matcher->starts = lode_calloc(frames + 1, sizeof(*matcher->starts));
	matcher->places = lode_calloc(tree->count, sizeof(*matcher->places));
	if (!work || !matcher->preorder || !matcher->end || !matcher->starts || !matcher->places) {
		lode_free(work);
		return LODE_SYSTEM;
	}
	count_subtrees(tree, work);
	number_nodes(matcher, tree, work);
	sort_places(matcher, tree, work);
	lode_free(work);
	return 0;
}

void lode_matcher_release(struct lode_matcher *matcher)
{
	lode_free(matcher->preorder);
	lode_free(matcher->end);
	lode_free(matcher->starts);
	lode_free(matcher->places);
	memset(matcher, 0, sizeof(*matcher));
}

/* ---- matching ---- */

/* The first of the places from `i` on (below `end`) that is not below `number`. */
static size_t skip_places(const uint32_t *places, size_t i, size_t end, uint32_t number)
{
	size_t step = 1, high;

	if (i >= end || places[i] >= number)
		return i;
	while (i + step < end && places[i + step] < number) {
		i += step;
		step *= 2;
	}
	high = i + step < end ? i + step : end;
	while (high - i > 1) {
		size_t middle = i + (high - i) / 2;

		if (places[middle] < number)
			i = middle;
		else
			high = middle;
	}
	return high;
}

/* The first interval from `i` on (below `end`) that reaches beyond `number`. */
static size_t skip_intervals(const struct lode_match *items, size_t i, size_t end, uint32_t number)
{
	size_t step = 1, high;

	if (i >= end || items[i].last > number)
		return i;
	while (i + step < end && items[i + step].last <= number) {
		i += step;
		step *= 2;
	}
	high = i + step < end ? i + step : end;
	while (high - i > 1) {
		size_t middle = i + (high - i) / 2;

		if (items[middle].last <= number)
			i = middle;
		else
			high = middle;
	}
	return high;
}

static void swap_with_spare(struct lode_matches *matches)
{
	struct lode_match *items = matches->items;
	size_t capacity = matches->capacity;

	matches->items = matches->spare;
	matches->capacity = matches->spare_capacity;
	matches->spare = items;
	matches->spare_capacity = capacity;
}

/* From the intervals so far to those of the topmost nodes of `frame` strictly below them. */
static int step_down(const struct lode_matcher *matcher, uint32_t frame, struct lode_matches *matches)
{
	const uint32_t *places = matcher->places;
	size_t place = matcher->starts[frame], places_end = matcher->starts[frame + 1];
	size_t interval = 0, found = 0;
	struct lode_match *match;

	while (interval < matches->count) {
		place = skip_places(places, place, places_end, matches->items[interval].first + 1);
		if (place == places_end)
			break;
		interval = skip_intervals(matches->items, interval, matches->count, places[place]);
		if (interval == matches->count)
			break;
		if (places[place] <= matches->items[interval].first)
			continue;
		if (LODE_GROW(matches->spare, matches->spare_capacity, found + 1) < 0)
			return LODE_SYSTEM;
		match = &matches->spare[found++];
		*match = (struct lode_match){ places[place], matcher->end[places[place]] };
		place = skip_places(places, place, places_end, match->last);
	}
	swap_with_spare(matches);
	matches->count = found;
	return 0;
}

int lode_matcher_find(const struct lode_matcher *matcher, const uint32_t *pattern, uint32_t length,
		      struct lode_matches *matches)
{
	matches->count = 0;
	if (LODE_GROW(matches->items, matches->capacity, 1) < 0)
		return LODE_SYSTEM;
	if (!matcher->nodes)
		return 0;
	matches->items[0] = (struct lode_match){ 0, (uint32_t)matcher->nodes };
	matches->count = 1;
	for (uint32_t i = 0; i < length && matches->count; i++) {
		if (pattern[i] >= matcher->frames)
			matches->count = 0;
		else if (step_down(matcher, pattern[i], matches) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

void lode_matches_release(struct lode_matches *matches)
{
	lode_free(matches->items);
	lode_free(matches->spare);
	memset(matches, 0, sizeof(*matches));
}
