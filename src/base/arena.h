/*
 * Arena: memory that is handed out piece by piece and freed all at once.
 * One for a stream, one for an analysis. Not thread-safe: one per thread.
 */
#ifndef LODE_BASE_ARENA_H
#define LODE_BASE_ARENA_H

#include <stddef.h>

struct lode_arena {
	struct lode_arena_chunk *chunks; /* newest first */
	char *next;                      /* first free byte of the newest chunk */
	size_t left;                     /* bytes free behind it */
};

/* A zeroed struct is an empty arena. */
void lode_arena_release(struct lode_arena *arena);
/* `size` bytes, aligned for any type; NULL when memory has run out. Not zeroed. */
void *lode_arena_alloc(struct lode_arena *arena, size_t size);
/* The same without alignment, for bytes and text. */
char *lode_arena_bytes(struct lode_arena *arena, size_t size);
/* A NUL-terminated copy of `length` bytes. */
char *lode_arena_text(struct lode_arena *arena, const char *text, size_t length);

#endif
