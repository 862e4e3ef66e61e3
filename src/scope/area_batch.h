/*
 * Consecutive streams merged with each other before they are merged into the area, and kept so. Private to scope.
 *
 * What each stream adds is kept by itself (area_cache.h), but merging the stacks of a thousand streams takes longer than all
 * else when nothing has to be read. So what a batch of them came to is kept as well, as the message that processes
 * exchange (area_message.h). Its key is made of the keys of its streams: when one of them changes, only its batch
 * is merged again.
 */
#ifndef LODE_SCOPE_AREA_BATCH_H
#define LODE_SCOPE_AREA_BATCH_H

#include "scope/area_message.h"
#include "store/map_cache.h"

/* Zeroed before use. */
struct lode_area_batch {
	struct lode_area_merge merge; /* made now */
	struct lode_cached_map found; /* or found in the cache: its bytes, */
	struct lode_area_message received;
	int kept; /* which of the two it is */
};

/*
 * Merges `count` streams, or finds what they came to. The caller releases it in either case. A stream that cannot be
 * read is left out, unless options are strict.
 */
int lode_area_batch_make(struct lode_area_batch *batch, const struct lode_area_plan *plan,
			 const struct lode_corpus_entry *entries, size_t count, struct lode_error *error);
/* Appends it. Returns 0 or LODE_SYSTEM. */
int lode_area_batch_join(struct lode_area_merge *merge, const struct lode_area_batch *batch);
void lode_area_batch_release(struct lode_area_batch *batch);

#endif
