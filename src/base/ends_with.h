/* Whether a text ends with another. File names in small or large letters: lode_ends_in (tasks/output_ending.h). */
#ifndef LODE_BASE_ENDS_WITH_H
#define LODE_BASE_ENDS_WITH_H

#include <string.h>

/* Of `length` bytes that need not be terminated. */
static inline int lode_bytes_end_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && memcmp(text + length - size, end, size) == 0;
}

static inline int lode_ends_with(const char *text, const char *end)
{
	return lode_bytes_end_with(text, strlen(text), end);
}

#endif
