/* Whether a text begins with another. */
#ifndef LODE_BASE_STARTS_WITH_H
#define LODE_BASE_STARTS_WITH_H

#include <string.h>

static inline int lode_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

#endif
