/*
 * Merging several sources, each in ascending order of 64-bit keys such as times, into one sequence: a heap of the
 * keys that come next. Of equal keys that of the source with the smaller number comes first, so a merge of the parts
 * of a sequence is stable. Sources may be added at any time.
 */
#ifndef LODE_BASE_ORDERED_MERGE_H
#define LODE_BASE_ORDERED_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct lode_merge_source {
	uint64_t key; /* that comes next */
	uint32_t number;
};

struct lode_ordered_merge {
	struct lode_merge_source *sources; /* a heap: that with the least key first */
	size_t count;
	size_t capacity;
};

/* A zeroed struct has no sources. */
void lode_ordered_merge_release(struct lode_ordered_merge *merge);
/* Makes room, so that adding up to `count` sources cannot fail. Returns 0 or LODE_SYSTEM. */
int lode_ordered_merge_reserve(struct lode_ordered_merge *merge, size_t count);
/* Adds a source whose next key is `key`. Returns 0 or LODE_SYSTEM. */
int lode_ordered_merge_add(struct lode_ordered_merge *merge, uint32_t number, uint64_t key);

static inline int lode_merge_source_is_before(const struct lode_merge_source *a, const struct lode_merge_source *b)
{
	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

/* Replaces the first source by `moved` and restores the heap. */
static inline void lode_ordered_merge_sink(struct lode_ordered_merge *merge, struct lode_merge_source moved)
{
	struct lode_merge_source *sources = merge->sources;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < merge->count) {
		if (child + 1 < merge->count && lode_merge_source_is_before(&sources[child + 1], &sources[child]))
			child++;
		if (!lode_merge_source_is_before(&sources[child], &moved))
			break;
		sources[at] = sources[child];
		at = child;
	}
	sources[at] = moved;
}

/* What comes from the first source is next while its keys are below this, and possibly longer. */
static inline uint64_t lode_ordered_merge_limit(const struct lode_ordered_merge *merge)
{
	const struct lode_merge_source *sources = merge->sources;

	if (merge->count < 2)
		return UINT64_MAX;
	return merge->count > 2 && sources[2].key < sources[1].key ? sources[2].key : sources[1].key;
}

/* The next key of the first source is `key` now. */
static inline void lode_ordered_merge_advance(struct lode_ordered_merge *merge, uint64_t key)
{
	lode_ordered_merge_sink(merge, (struct lode_merge_source){ key, merge->sources[0].number });
}

/* The first source has no more keys. */
static inline void lode_ordered_merge_remove(struct lode_ordered_merge *merge)
{
	merge->count--;
	lode_ordered_merge_sink(merge, merge->sources[merge->count]);
}

#endif
