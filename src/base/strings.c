/* Interned strings: see strings.h. */
#include "base/strings.h"

#include "base/error.h"

#include <string.h>

int lode_strings_init(struct lode_strings *strings)
{
	memset(strings, 0, sizeof(*strings));
	return lode_strings_add(strings, "", 0) == LODE_NONE ? LODE_SYSTEM : 0;
}

void lode_strings_release(struct lode_strings *strings)
{
	lode_arena_release(&strings->arena);
	lode_index_release(&strings->index);
	lode_free(strings->items);
	memset(strings, 0, sizeof(*strings));
}

static uint32_t find_hashed(const struct lode_strings *strings, const char *text, size_t length, uint64_t hash)
{
	return LODE_INDEX_FIND(i, &strings->index, hash,
			       strings->items[i].length == length &&
				       memcmp(strings->items[i].text, text, length) == 0);
}

uint32_t lode_strings_find(const struct lode_strings *strings, const char *text, size_t length)
{
	if (!length)
		text = ""; /* an empty buffer has no bytes to point at */
	return find_hashed(strings, text, length, lode_hash_bytes(text, length));
}

uint32_t lode_strings_add(struct lode_strings *strings, const char *text, size_t length)
{
	const char *end = length ? memchr(text, '\0', length) : NULL;
	uint64_t hash;
	uint32_t id;
	char *copy;

	if (!length)
		text = "";
	if (end)
		length = (size_t)(end - text);
	hash = lode_hash_bytes(text, length);
	id = find_hashed(strings, text, length, hash);
	if (id != LODE_NONE)
		return id;
	if (strings->count >= LODE_NONE || length >= UINT32_MAX ||
	    LODE_GROW(strings->items, strings->capacity, strings->count + 1) < 0)
		return LODE_NONE;
	copy = lode_arena_text(&strings->arena, text, length);
	if (!copy || lode_index_insert(&strings->index, hash, (uint32_t)strings->count) < 0)
		return LODE_NONE;
	strings->items[strings->count] = (struct lode_string){ copy, (uint32_t)length };
	return (uint32_t)strings->count++;
}
