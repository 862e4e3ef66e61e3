/*
 * Characters that must not reach a terminal from outside: controls, which drive it, and invisible ones that change the
 * order of what is shown or make two names look the same.
 */
#ifndef LODE_BASE_UNSAFE_CHARACTERS_H
#define LODE_BASE_UNSAFE_CHARACTERS_H

#include "base/utf8.h"

#include <stdio.h>

/* Room for an escaped character and its NUL. */
#define LODE_ESCAPED_SIZE 16

static inline int lode_is_unsafe(uint32_t code)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} ranges[] = {
		{ 0, 0x1f },         /* C0 */
		{ 0x7f, 0x9f },      /* DEL, C1 */
		{ 0xad, 0xad },      /* soft hyphen */
		{ 0x61c, 0x61c },    /* Arabic letter mark */
		{ 0x180e, 0x180e },  /* Mongolian vowel separator */
		{ 0x200b, 0x200f },  /* zero width, left-to-right and right-to-left marks */
		{ 0x2028, 0x202e },  /* line and paragraph separators, bidirectional embeddings and overrides */
		{ 0x2060, 0x206f },  /* word joiner, invisible operators, bidirectional isolates */
		{ 0xfeff, 0xfeff },  /* zero width no-break space */
		{ 0xfff9, 0xfffb },  /* interlinear annotations */
		{ 0xe0000, 0xe0fff } /* tags */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return 1;
	return 0;
}

/*
 * The character at `text` (`left` bytes, at least one, are there): returns its length, and in `escaped` what to show
 * instead, or "" where it is safe. Bytes that are no UTF-8 are unsafe: a terminal that does not know UTF-8 takes some of
 * them for controls. What is not ASCII is escaped as in JSON, so that JSON stays JSON.
 */
static inline size_t lode_character(const unsigned char *text, size_t left, char escaped[LODE_ESCAPED_SIZE])
{
	uint32_t code;
	size_t length = lode_utf8_decode(text, left, &code);

	*escaped = '\0';
	if (length == 1 && code >= 0x20 && code < 0x7f) /* most are */
		return 1;
	if (!length || (code < 0x80 && lode_is_unsafe(code)))
		snprintf(escaped, LODE_ESCAPED_SIZE, "\\x%02x", *text);
	else if (lode_is_unsafe(code) && code < 0x10000)
		snprintf(escaped, LODE_ESCAPED_SIZE, "\\u%04x", code);
	else if (lode_is_unsafe(code))
		snprintf(escaped, LODE_ESCAPED_SIZE, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10 & 0x3ff),
			 0xdc00 + (code & 0x3ff));
	return length ? length : 1;
}

#endif
