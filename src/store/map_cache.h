/*
 * Map results on disk: what an analysis computes from one stream before it merges the
 * streams, kept next to the corpus so that the next run reads it instead of the events.
 *
 *	CORPUS/cache/KEY.map
 *
 * KEY is a digest of the program's build, the analysis, its options and the content of
 * the stream, so an entry never gets out of date: any change changes the key. The
 * folder may be removed at any time. The least recently used entries are deleted when
 * the folder grows beyond its limit. Any number of threads and processes may use one
 * folder at once. Nothing here makes an analysis fail: a damaged entry counts as
 * missing, and a folder that cannot be written stays as it is.
 */
#ifndef LODE_STORE_MAP_CACHE_H
#define LODE_STORE_MAP_CACHE_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/file.h"

struct lode_map_cache;

struct lode_map_cache_options {
	uint64_t limit;        /* bytes; 0: half of what the streams take, at least 256 MiB */
	uint64_t least_events; /* streams with fewer are quicker to read again */
	int read_only;         /* what is there is found; nothing is put, dropped or marked as used */
};

/* The name of an entry: 32 hexadecimal digits. */
struct lode_map_key {
	char text[33];
};

/* `description` holds everything that the result depends on; the program's build is added. Returns 0 or LODE_SYSTEM. */
int lode_map_key_make(struct lode_map_key *key, const char *analysis, const struct lode_buffer *description);

/* The cache of the corpus at `corpus_path`; nothing is written before the first put. NULL when memory has run out. */
struct lode_map_cache *lode_map_cache_open(const char *corpus_path, const struct lode_map_cache_options *options);
/* Drops what has not been used for longest, if this run added something and the limit is exceeded. */
void lode_map_cache_close(struct lode_map_cache *cache);
/* Whether results of a stream with `events` events are worth caching; 0 where `cache` is NULL. */
int lode_map_cache_wants(const struct lode_map_cache *cache, uint64_t events);

struct lode_cached_map {
	struct lode_map map;
	struct lode_cursor payload; /* as it was put, its checksum verified */
};

/* Returns 1, or 0 when there is no whole entry of this key. The caller releases what was found. */
int lode_map_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			struct lode_cached_map *found);
void lode_cached_map_release(struct lode_cached_map *found);
/*
 * Reads an entry, if there is one, with `read` into `result`. Returns 1, 0 when there is none, or what `read` failed with; of
 * LODE_BAD_INPUT the entry is removed.
 */
int lode_map_cache_read(struct lode_map_cache *cache, const struct lode_map_key *key,
			int (*read)(struct lode_cursor payload, void *result), void *result);
void lode_map_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			const struct lode_buffer *payload);
/* Says that what was found could not be used; it is removed. */
void lode_map_cache_drop(struct lode_map_cache *cache, const struct lode_map_key *key);

/* How often a result was found, and how often it was put, since the cache was opened. */
struct lode_map_cache_counts {
	uint64_t found;
	uint64_t put;
};

struct lode_map_cache_counts lode_map_cache_counts(const struct lode_map_cache *cache);

/* For reading an entry from memory (fuzzing): returns 0 or LODE_BAD_INPUT. */
int lode_cached_map_parse(const void *bytes, size_t size, const struct lode_map_key *key,
			  struct lode_cursor *payload);

#endif
