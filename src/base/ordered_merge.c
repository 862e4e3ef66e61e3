/* Merging sources in order: see ordered_merge.h. */
#include "base/ordered_merge.h"

#include "base/error.h"
#include "base/memory.h"

void lode_ordered_merge_release(struct lode_ordered_merge *merge)
{
	lode_free(merge->sources);
	*merge = (struct lode_ordered_merge){ 0 };
}

int lode_ordered_merge_reserve(struct lode_ordered_merge *merge, size_t count)
{
	return LODE_GROW(merge->sources, merge->capacity, count) < 0 ? LODE_SYSTEM : 0;
}

int lode_ordered_merge_add(struct lode_ordered_merge *merge, uint32_t number, uint64_t key)
{
	struct lode_merge_source added = { key, number };
	struct lode_merge_source *sources;
	size_t at = merge->count;

	if (lode_ordered_merge_reserve(merge, at + 1) < 0)
		return LODE_SYSTEM;
	sources = merge->sources;
	for (; at && lode_merge_source_is_before(&added, &sources[(at - 1) / 2]); at = (at - 1) / 2)
		sources[at] = sources[(at - 1) / 2];
	sources[at] = added;
	merge->count++;
	return 0;
}
