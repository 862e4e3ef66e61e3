/*
 * The only access to memory: every allocation of Lode goes through here, so
 * that the fault tests can make each of them fail. All return NULL when memory
 * has run out or when count * size overflows; none aborts.
 */
#ifndef LODE_BASE_MEMORY_H
#define LODE_BASE_MEMORY_H

#include "base/error.h"

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
/* The same of an array by its name. */
#define LODE_GROW(items, capacity, needed) lode_grow(&(items), &(capacity), (needed), sizeof(*(items)))
/* Appends a value to an array that grows. Returns 0, or LODE_SYSTEM with everything left as it was. */
#define LODE_APPEND(items, count, capacity, ...)                                                                  \
	((count) >= (capacity) && LODE_GROW(items, capacity, (size_t)(count) + 1) < 0                             \
		 ? LODE_SYSTEM                                                                                    \
		 : ((items)[(count)++] = (__VA_ARGS__), 0))

/*
 * From now on memory that is freed is kept for what comes next instead of being given back to
 * the system and requested again, page by page. For programs that work through many streams
 * and then end. Called once, before there are threads.
 */
void lode_memory_keep_freed(void);

/*
 * Room for large blocks outside of memory (spill.h): once the blocks in memory have reached
 * `limit`, further ones of at least `least` bytes go there.
 */
struct lode_overflow {
	uintptr_t first, last; /* addresses of all its blocks */
	size_t limit;
	size_t lasting_limit; /* the same for what is merged: see lode_memory_set_lasting */
	size_t least;
	void *(*take)(size_t size); /* zeroed; NULL: there is no room */
	void *(*resize)(void *block, size_t size);
	void (*give_back)(void *block);
};

/* From now on `overflow`, which must stay, is used; it may be exchanged for one with the same addresses. */
void lode_memory_set_overflow(const struct lode_overflow *overflow);
/* Bytes of the blocks in memory, without small ones. */
size_t lode_memory_held(void);
/*
 * Whether the calling thread now makes blocks that stay until the end. They leave memory earlier than those
 * that are soon freed, and used often until then.
 */
void lode_memory_set_lasting(int lasting);
/* From now on counts what the calling thread takes and frees: a piece of work. */
void lode_memory_begin_piece(void);
/* The most that it has held at once since then, in memory and outside of it, without small blocks. */
size_t lode_memory_end_piece(void);
/* The most of all pieces since the overflow was set. */
size_t lode_memory_largest_piece(void);
/* For an overflow: the calling thread has made its blocks larger by so many bytes, or smaller. */
void lode_memory_count_bytes(int64_t bytes);
/* What pieces may hold in memory at once, SIZE_MAX without a limit. */
size_t lode_memory_room(void);
/* Undoes lode_memory_keep_freed, and gives back what is free now. */
void lode_memory_return_freed(void);

/* Why memory ran out where that was a limit, for lode_fail_memory. */
struct lode_shortage {
	size_t limit;
	size_t wanted;      /* bytes that found no room */
	size_t needed;      /* in all, with what is in memory and outside of it */
	const char *folder; /* that has no room */
	const char *reason;
};

/* It must stay until another is set; NULL: there was none. */
void lode_memory_set_shortage(const struct lode_shortage *shortage);
const struct lode_shortage *lode_memory_shortage(void);

/* For tests, not in release builds: allocation number `nth` (from 1) fails; with `for_good` all after it too. 0 turns it off. */
void lode_memory_fail_at(uint64_t nth, int for_good);
/* For tests, not in release builds: how many allocations were requested since the last lode_memory_fail_at. */
uint64_t lode_memory_asked(void);

#endif
