/* Merging sources of events by time: see time_merge.h. */
#include "import/time_merge.h"

#include "base/error.h"
#include "base/memory.h"

static int is_earlier(const struct lode_time_merge_item *a, const struct lode_time_merge_item *b)
{
	return a->t != b->t ? a->t < b->t : a->source < b->source;
}

static void swap(struct lode_time_merge_item *a, struct lode_time_merge_item *b)
{
	struct lode_time_merge_item other = *a;

	*a = *b;
	*b = other;
}

/* Moves the first down to its place. */
static void sift_down(struct lode_time_merge *merge)
{
	struct lode_time_merge_item *items = merge->items;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < merge->count) {
		if (child + 1 < merge->count && is_earlier(&items[child + 1], &items[child]))
			child++;
		if (!is_earlier(&items[child], &items[at]))
			return;
		swap(&items[at], &items[child]);
		at = child;
	}
}

int lode_time_merge_add(struct lode_time_merge *merge, uint32_t source, uint64_t t)
{
	struct lode_time_merge_item *items;

	if (lode_grow(&merge->items, &merge->capacity, merge->count + 1, sizeof(*merge->items)) < 0)
		return LODE_SYSTEM;
	items = merge->items;
	items[merge->count++] = (struct lode_time_merge_item){ t, source };
	for (size_t at = merge->count - 1; at && is_earlier(&items[at], &items[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&items[at], &items[(at - 1) / 2]);
	return 0;
}

void lode_time_merge_advance(struct lode_time_merge *merge, uint64_t t)
{
	merge->items[0].t = t;
	sift_down(merge);
}

void lode_time_merge_remove(struct lode_time_merge *merge)
{
	merge->items[0] = merge->items[--merge->count];
	sift_down(merge);
}

void lode_time_merge_release(struct lode_time_merge *merge)
{
	lode_free(merge->items);
	*merge = (struct lode_time_merge){ 0 };
}
