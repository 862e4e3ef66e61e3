/*
 * The cache of tables on disk: see symbol_cache.c for every byte of a file.
 *
 * A file's name is its key (build-id and path); whether it may be used is decided
 * by the identity inside, which names the files that the table was made from.
 * Any number of processes may read and write at once.
 */
#ifndef LODE_SYMBOLS_SYMBOL_CACHE_H
#define LODE_SYMBOLS_SYMBOL_CACHE_H

#include "symbols/image.h"

enum lode_cache_flag {
	LODE_CACHE_COMPLETE = 1, /* made from a full symbol table: nothing better can be fetched */
};

struct lode_cached {
	struct lode_table table;
	struct lode_origin origin;
	uint32_t flags;
	uint64_t extra[2]; /* kernel: addresses of _text and _stext */
};

/*
 * The folder to use: `wanted`, or the user's own; "" when there is none, or one that root must not believe: other users
 * could put wrong names and unwind tables there. Then `why` (may be NULL) says so. NULL when memory ran out.
 */
char *lode_cache_folder(const char *wanted, struct lode_error *why);
/* Path of the file for `key` and `kind` ("symbols", "inlines"), to be freed; NULL when memory ran out. */
char *lode_cache_path(const char *folder, const char *build_id, const char *path, const char *kind);
/*
 * Maps the file and parses its origin; the table points into the map.
 * Returns 0, or a negative code when it is missing, damaged or of another
 * version: it should be written again. The caller checks the identity and
 * releases `cached`.
 */
int lode_cache_read(const char *path, struct lode_cached *cached);
/* Maps a file of the cache, of any kind. LODE_BAD_INPUT for links, and where root finds another user's file. */
int lode_cache_map(const char *path, struct lode_map *map);
/* The same over bytes in memory, which the table then points into (fuzzing). They must be aligned to 8. */
int lode_cache_parse(const void *bytes, size_t size, struct lode_cached *cached);
/* Puts the file in place, whole or not at all, and makes its folder if need be. */
int lode_cache_write(const char *path, const struct lode_cached *cached, struct lode_error *error);
/* The same for bytes of any kind. */
int lode_cache_write_bytes(const char *path, const struct lode_buffer *bytes, struct lode_error *error);
/*
 * The table of this kind for `image`: the cached one if its identity is the same,
 * else the one that `make` (called with the image) makes, which is then cached
 * unless it is empty. Returns what `make` does.
 */
int lode_cache_through(struct lode_image *image, const char *kind, const char *file, char *identity,
		       int (*make)(void *image, struct lode_table *table), struct lode_table *table);
void lode_cached_release(struct lode_cached *cached);

#endif
