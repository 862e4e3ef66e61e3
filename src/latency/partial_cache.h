/*
 * The map step of the latencies, kept: sums of a stream in the cache of its corpus.
 * Private to latency.
 */
#ifndef LODE_LATENCY_PARTIAL_CACHE_H
#define LODE_LATENCY_PARTIAL_CACHE_H

#include "latency/partial.h"
#include "store/map_cache.h"

/* The key of what the options make of a stream. Returns 1, 0 where nothing is kept, or LODE_SYSTEM. */
int lode_latency_cache_key(const struct lode_latency_options *options, const struct lode_corpus_entry *entry,
			   const struct lode_store *store, struct lode_map_key *key);
/*
 * Fills a partial whose head is there as lode_latency_partial_make would. Returns 1, 0
 * where nothing is kept under this key, LODE_SYSTEM, or LODE_BAD_INPUT: what was kept is
 * damaged, and the partial may be half filled.
 */
int lode_latency_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			    struct lode_latency_partial *partial);
/* `nodes`: how many the stream's own tree has, without those that were added since. */
void lode_latency_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			    const struct lode_latency_partial *partial, size_t nodes);

/* The same over a payload in memory. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM; the partial may be half filled then. */
int lode_latency_partial_read(struct lode_cursor payload, void *partial); /* struct lode_latency_partial */

#endif
