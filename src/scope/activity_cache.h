/* Keeps the states of processes that one stream came to (activity.h) in the cache of its corpus (store/map_cache.h). */
#ifndef LODE_SCOPE_ACTIVITY_CACHE_H
#define LODE_SCOPE_ACTIVITY_CACHE_H

#include "scope/activity.h"
#include "store/map_cache.h"
#include "store/store.h"

/* Returns 1 and the key of the stream's states, 0 where they are not kept, or LODE_SYSTEM. */
int lode_activity_cache_key(const struct lode_activity_options *options, const struct lode_corpus_entry *entry,
			    const struct lode_store *store, struct lode_map_key *key);
/* Fills an empty table with what was kept. Returns 1, 0 where that is nothing, or LODE_SYSTEM. */
int lode_activity_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			     struct lode_state_table *states);
/* Keeps what the states of one stream came to; does nothing where that fails. */
void lode_activity_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			     const struct lode_state_table *states);
/* What lode_activity_cache_find does with what it found. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM. */
int lode_activity_cache_read(struct lode_cursor payload, void *states); /* struct lode_state_table */

#endif
