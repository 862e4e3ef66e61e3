/* A piece of a text that need not be terminated, such as a word of a line. */
#ifndef LODE_IMPORT_TEXT_SPAN_H
#define LODE_IMPORT_TEXT_SPAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct lode_span {
	const char *text;
	size_t length;
};

static inline struct lode_span lode_span(const char *from, const char *to)
{
	return (struct lode_span){ from, (size_t)(to - from) };
}

static inline int lode_span_is(struct lode_span span, const char *text)
{
	return span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

static inline int lode_span_starts(struct lode_span span, const char *text)
{
	return span.length >= strlen(text) && memcmp(span.text, text, strlen(text)) == 0;
}

/* Whether it is digits and nothing else, a number of at most `most`; then reads it. */
static inline int lode_span_number(struct lode_span span, uint64_t most, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < span.length; i++) {
		unsigned digit = (unsigned char)span.text[i] - (unsigned)'0';

		if (digit >= 10 || __builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return 0;
	}
	return span.length && *number <= most;
}

#endif
