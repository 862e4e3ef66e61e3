/*
 * The map step of the area, kept: rows of a stream in the cache of its corpus. Private to
 * scope.
 */
#ifndef LODE_SCOPE_AREA_CACHE_H
#define LODE_SCOPE_AREA_CACHE_H

#include "scope/area_stream.h"
#include "store/map_cache.h"

/*
 * The key of what the plan makes of a stream whose head is in `partial`. Returns 1, 0 where
 * nothing is kept, or LODE_SYSTEM.
 */
int lode_area_cache_key(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			const struct lode_store *store, const struct lode_area_partial *partial,
			struct lode_map_key *key);
/*
 * Fills all of `partial` but dictionary and head, which are there, its occurrences among
 * them. Returns 1, 0 where nothing is kept under this key, or LODE_SYSTEM.
 */
int lode_area_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			 struct lode_area_partial *partial);
void lode_area_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			 const struct lode_area_partial *partial);

/* The same over a payload in memory. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; the partial may be half filled then. */
int lode_area_partial_read(struct lode_cursor payload, void *partial); /* struct lode_area_partial */

#endif
