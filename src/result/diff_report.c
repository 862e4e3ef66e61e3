/* What the forms of lode diff share: see diff_report.h. */
#include "result/diff_report.h"

#include "base/memory.h"
#include "base/units.h"
#include "latency/chance.h"

#include <stdlib.h>

/* ---- chance ---- */

/* `8.3 % (12ms a stream)`. */
static void put_size(const struct lode_diff *diff, int64_t size, struct lode_buffer *buffer)
{
	double percent = diff->base_whole ? 100 * (double)size / (double)diff->base_whole : 0;
	char text[LODE_UNITS_TEXT];

	lode_duration_text((uint64_t)size, text);
	if (diff->base_whole)
		lode_buffer_print(buffer, "%.*f %% or more (%s per stream)", percent < 10, percent, text);
	else
		lode_buffer_print(buffer, "%s per stream or more", text);
}

static void put_nothing(const struct lode_diff *diff, struct lode_buffer *buffer)
{
	const struct lode_diff_chance *chance = &diff->chance;

	lode_buffer_print(buffer, "no difference%s beyond chance; ",
			  chance->detectable >= 0 && -diff->difference > chance->detectable ? " for the worse"
											    : "");
	if (chance->detectable < 0 && chance->detectable_path < 0) {
		lode_buffer_text(buffer, "so few runs, varying so much, would not have shown any");
		return;
	}
	lode_buffer_text(buffer, "these runs would have shown one of ");
	put_size(diff, chance->detectable >= 0 ? chance->detectable : chance->detectable_path, buffer);
	if (chance->detectable < 0)
		lode_buffer_text(buffer, " in a single path");
	else if (chance->detectable_path >= 0 && chance->detectable_path < chance->detectable) {
		lode_buffer_text(buffer, ", in a single path ");
		put_size(diff, chance->detectable_path, buffer);
	}
	lode_buffer_print(buffer, ", %d times of 100", LODE_CHANCE_POWER);
}

/* So few streams show nothing, however much they differ. */
static void put_too_few(const struct lode_diff_report *report, struct lode_buffer *buffer)
{
	size_t base = report->base.latency->stream_count, slow = report->slow.latency->stream_count;
	size_t least = 1;

	while (!lode_chance_can_detect(least, least, LODE_DIFF_LEVEL))
		least++;
	lode_buffer_print(
		buffer, "too few streams (%zu and %zu) to distinguish any difference from chance: at least %zu per side are needed",
		base, slow, least);
}

void lode_diff_chance_words(const struct lode_diff_report *report, struct lode_buffer *buffer)
{
	const struct lode_diff *diff = report->diff;

	if (lode_diff_is_sure(diff)) {
		lode_buffer_print(buffer,
				  "what is called sure is wrong in at most %.0f of 100 comparisons of equal "
				  "runs, all functions together",
				  100 * LODE_DIFF_LEVEL);
		return;
	}
	if (diff->chance.tested)
		put_nothing(diff, buffer);
	else
		put_too_few(report, buffer);
	if (diff->chance.streams_for_5 > 0 && diff->chance.streams_for_5 < 1e6)
		lode_buffer_print(buffer, "; one of 5 %% needs about %.0f per side", diff->chance.streams_for_5);
}

/* ---- the functions of a path ---- */

struct ranking {
	const struct lode_diff *diff;
	const struct lode_diff_path *path;
};

static int compare_functions(const void *a, const void *b, void *context)
{
	const struct ranking *ranking = context;
	const struct lode_diff_function *left = a, *right = b;
	double x = lode_diff_gain(ranking->diff, ranking->path, left->node);
	double y = lode_diff_gain(ranking->diff, ranking->path, right->node);

	if (x != y)
		return x > y ? -1 : 1;
	return left->node > right->node ? -1 : left->node < right->node;
}

/* Children have larger numbers than their parents. */
static int by_depth(const void *a, const void *b)
{
	const struct lode_diff_function *left = a, *right = b;

	return left->node < right->node ? -1 : left->node > right->node;
}

const char *lode_diff_per(const struct lode_diff *diff)
{
	return diff->base_means ? "per call" : "per stream";
}

int lode_diff_functions_of(const struct lode_diff *diff, const struct lode_diff_path *path,
			   struct lode_diff_functions *functions)
{
	const struct lode_stack_tree *tree = &diff->dictionary->tree;
	struct ranking ranking = { diff, path };
	uint32_t leaf = path->leaf;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);

	functions->count = 0;
	if (LODE_GROW(functions->items, functions->capacity, depth) < 0)
		return LODE_SYSTEM;
	for (; leaf; leaf = tree->nodes[leaf].parent)
		functions->items[functions->count++].node = leaf;
	qsort_r(functions->items, depth, sizeof(*functions->items), compare_functions, &ranking);
	for (uint32_t i = 0; i < depth; i++)
		functions->items[i].rank = i + 1;
	qsort(functions->items, depth, sizeof(*functions->items), by_depth);
	return 0;
}

void lode_diff_functions_release(struct lode_diff_functions *functions)
{
	lode_free(functions->items);
}

/* ---- which paths ---- */

static int add_choice(struct lode_diff_chosen *chosen, const struct lode_diff_path *path, size_t rank)
{
	return LODE_APPEND(chosen->items, chosen->count, chosen->capacity,
			   (struct lode_diff_choice){ path, rank, 0 });
}

/* `places` has for each frame the number of the choice, plus one, whose hottest function it is. */
static int choose(const struct lode_diff_report *report, int all, size_t *places, struct lode_diff_chosen *chosen)
{
	const struct lode_diff *diff = report->diff;
	int code = 0;

	for (size_t i = 0; !code && i < diff->path_count; i++) {
		const struct lode_diff_path *path = &diff->paths[i];
		uint32_t function = diff->function_of[path->hottest];

		if (path->cost <= 0 || (report->fits && !report->fits[path->leaf]))
			continue;
		if (!all && places[function]) {
			chosen->items[places[function] - 1].alike++;
			continue;
		}
		if (report->top && chosen->count == report->top)
			continue;
		code = add_choice(chosen, path, i + 1);
		places[function] = chosen->count;
	}
	return code;
}

int lode_diff_choose(const struct lode_diff_report *report, int all, struct lode_diff_chosen *chosen)
{
	size_t *places = lode_calloc(report->diff->dictionary->frames.count + 1, sizeof(*places));
	int code = places ? choose(report, all, places, chosen) : LODE_SYSTEM;

	lode_free(places);
	return code;
}

void lode_diff_chosen_release(struct lode_diff_chosen *chosen)
{
	lode_free(chosen->items);
}
