/*
 * Interned strings: each distinct text once, named by a 32-bit id in order of
 * first appearance. Id 0 is the empty string. A text never moves once added.
 */
#ifndef LODE_BASE_STRINGS_H
#define LODE_BASE_STRINGS_H

#include "base/arena.h"
#include "base/hash_index.h"

struct lode_string {
	const char *text; /* NUL-terminated; may hold no other NUL */
	uint32_t length;
};

struct lode_strings {
	struct lode_arena arena;
	struct lode_string *items;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

/* Returns 0 or LODE_SYSTEM. Afterwards id 0 is "". */
int lode_strings_init(struct lode_strings *strings);
void lode_strings_release(struct lode_strings *strings);
/* The id of `text`, added if new; LODE_NONE when memory has run out. A NUL inside ends the text. */
uint32_t lode_strings_add(struct lode_strings *strings, const char *text, size_t length);
/* The id of `text`, or LODE_NONE when it was never added. */
uint32_t lode_strings_find(const struct lode_strings *strings, const char *text, size_t length);
/* `id` must be below `count`. */
static inline const char *lode_strings_get(const struct lode_strings *strings, uint32_t id)
{
	return strings->items[id].text;
}

#endif
