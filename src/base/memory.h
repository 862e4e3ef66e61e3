/*
 * The one seam for memory: every allocation of Lode passes here, so that the
 * fault tests can make each of them fail. All return NULL when memory has run
 * out or when count * size overflows; none aborts.
 */
#ifndef LODE_BASE_MEMORY_H
#define LODE_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* "No such thing" for every 32-bit id in Lode. */
#define LODE_NONE UINT32_MAX

void *lode_alloc(size_t size);
void *lode_calloc(size_t count, size_t size);
void *lode_realloc(void *memory, size_t count, size_t size);
void lode_free(void *memory);
char *lode_strdup(const char *text);
char *lode_strndup(const char *text, size_t length);
/* printf into fresh memory. */
char *lode_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Grows `*items` (of `item_size` bytes each, `*capacity` of them) so that it
 * holds at least `needed`. Doubles, so appending is linear in all. Returns 0, or
 * LODE_SYSTEM with everything left as it was.
 */
int lode_grow(void *items, size_t *capacity, size_t needed, size_t item_size);

/*
 * From now on memory that is freed is kept for what comes next instead of being given back to
 * the system and asked for again, page by page. For programs that work through many streams
 * and then end. Called once, before there are threads.
 */
void lode_memory_keep_freed(void);

/* For tests, not in release builds: allocation number `nth` (from 1) fails; with `for_good` all after it too. 0 turns it off. */
void lode_memory_fail_at(uint64_t nth, int for_good);
/* For tests, not in release builds: how many allocations were asked for since the last lode_memory_fail_at. */
uint64_t lode_memory_asked(void);

#endif
