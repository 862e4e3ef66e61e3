/* Whether a text begins with another. */
#ifndef LODE_BASE_STARTS_WITH_H
#define LODE_BASE_STARTS_WITH_H

#include <string.h>

static inline int lode_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Of `length` bytes that need not be terminated. */
static inline int lode_bytes_start_with(const char *text, size_t length, const char *start)
{
	size_t size = strlen(start);

	return length >= size && memcmp(text, start, size) == 0;
}

/* What follows the word `word`, which a blank or `>` must end, without blanks; NULL where `text` does not begin with it. */
static inline const char *lode_behind_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	if (!lode_starts_with(text, word) || !text[length] || !strchr(" \t>", text[length]))
		return NULL;
	return text + length + strspn(text + length, " \t");
}

#endif
