/* Arena: see arena.h. Chunks start at 16 KiB and double up to 1 MiB. */
#include "base/arena.h"

#include "base/memory.h"

#include <string.h>

struct lode_arena_chunk {
	struct lode_arena_chunk *older;
	size_t size;
	max_align_t bytes[];
};

static int add_chunk(struct lode_arena *arena, size_t needed)
{
	size_t size = arena->chunks ? arena->chunks->size * 2 : 16 << 10;
	struct lode_arena_chunk *chunk;

	if (size > 1 << 20)
		size = 1 << 20;
	if (size < needed)
		size = needed;
	if (size > SIZE_MAX - sizeof(*chunk) || !(chunk = lode_alloc(sizeof(*chunk) + size)))
		return -1;
	chunk->older = arena->chunks;
	chunk->size = size;
	arena->chunks = chunk;
	arena->next = (char *)chunk->bytes;
	arena->left = size;
	return 0;
}

char *lode_arena_bytes(struct lode_arena *arena, size_t size)
{
	char *bytes;

	if (size > arena->left && add_chunk(arena, size) < 0)
		return NULL;
	bytes = arena->next;
	arena->next += size;
	arena->left -= size;
	return bytes;
}

void *lode_arena_alloc(struct lode_arena *arena, size_t size)
{
	size_t align = _Alignof(max_align_t);
	size_t padding = (align - (uintptr_t)arena->next % align) % align;

	if (padding <= arena->left && size <= arena->left - padding) {
		lode_arena_bytes(arena, padding);
		return lode_arena_bytes(arena, size);
	}
	if (add_chunk(arena, size) < 0)
		return NULL;
	return lode_arena_bytes(arena, size);
}

char *lode_arena_text(struct lode_arena *arena, const char *text, size_t length)
{
	char *copy = lode_arena_bytes(arena, length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

void lode_arena_release(struct lode_arena *arena)
{
	struct lode_arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct lode_arena_chunk *older = chunk->older;

		lode_free(chunk);
		chunk = older;
	}
	memset(arena, 0, sizeof(*arena));
}
