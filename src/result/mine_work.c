/*
 * Where threads waited for work: the rows that were counted separately, added up by place
 * (scope/work_waits.h), so that readers know what was.
 */
#include "result/mine_report.h"
#include "scope/work_waits.h"

#include <stdlib.h>
#include <string.h>

/* Root first, as texts: numbers of frames never decide an order. */
static int compare_stacks(const struct lode_dictionary *dictionary, uint32_t left, uint32_t right)
{
	struct lode_buffer texts[2] = { { 0 }, { 0 } };
	uint32_t nodes[2] = { left, right };
	int order = 0;

	for (int side = 0; side < 2; side++) {
		for (; nodes[side]; nodes[side] = dictionary->tree.nodes[nodes[side]].parent) {
			lode_frames_text(&dictionary->frames, dictionary->tree.nodes[nodes[side]].frame,
					 &texts[side]);
			lode_buffer_byte(&texts[side], '\n');
		}
		lode_buffer_byte(&texts[side], '\0');
	}
	if (!texts[0].failed && !texts[1].failed)
		order = strcmp(texts[0].bytes, texts[1].bytes);
	lode_buffer_release(&texts[0]);
	lode_buffer_release(&texts[1]);
	return order;
}

static int compare_places(const void *a, const void *b, void *context)
{
	const struct lode_mine_place *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	return compare_stacks(context, left->place, right->place);
}

static int compare_nodes(const void *a, const void *b)
{
	const struct lode_mine_place *left = a, *right = b;

	return (left->place > right->place) - (left->place < right->place);
}

int lode_mine_find_places(const struct lode_mine_report *report, struct lode_mine_places *places)
{
	const struct lode_area_rows *rows = &report->area->work;
	const struct lode_dictionary *dictionary = &report->area->dictionary;
	uint32_t *of = lode_work_places(report->idle, dictionary);
	size_t kept = 0;

	*places = (struct lode_mine_places){ lode_calloc(rows->count + 1, sizeof(*places->items)), 0 };
	if (!of || !places->items) {
		lode_free(of);
		lode_free(places->items);
		places->items = NULL;
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < rows->count; i++)
		places->items[i] = (struct lode_mine_place){ of[rows->items[i].stack], rows->items[i].events,
							     rows->items[i].cost };
	lode_free(of);
	if (rows->count)
		qsort(places->items, rows->count, sizeof(*places->items), compare_nodes);
	for (size_t i = 0; i < rows->count; i++) {
		struct lode_mine_place *place = &places->items[i];

		if (!kept || places->items[kept - 1].place != place->place) {
			places->items[kept++] = *place;
			continue;
		}
		places->items[kept - 1].events += place->events;
		places->items[kept - 1].cost = lode_add_saturating(places->items[kept - 1].cost, place->cost);
	}
	places->count = kept;
	if (kept)
		qsort_r(places->items, kept, sizeof(*places->items), compare_places, (void *)(uintptr_t)dictionary);
	return 0;
}
