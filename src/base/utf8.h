/* Reading and writing UTF-8. */
#ifndef LODE_BASE_UTF8_H
#define LODE_BASE_UTF8_H

#include "base/buffer.h"

/* Length of the valid character at `text` (`left` bytes, at least one, are there), and its code; or 0. */
static inline size_t lode_utf8_decode(const unsigned char *text, size_t left, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length;

	*code = text[0];
	if (text[0] < 0x80)
		return 1;
	if (text[0] >= 0xc2 && text[0] < 0xe0)
		length = 2, *code &= 0x1f;
	else if (text[0] >= 0xe0 && text[0] < 0xf0)
		length = 3, *code &= 0x0f;
	else if (text[0] >= 0xf0 && text[0] < 0xf5)
		length = 4, *code &= 0x07;
	else
		return 0;
	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

static inline size_t lode_utf8_length(const unsigned char *text, size_t left)
{
	uint32_t code;

	return lode_utf8_decode(text, left, &code);
}

/* Appends a character; `code` is below 0x110000. */
static inline void lode_utf8_append(struct lode_buffer *buffer, uint32_t code)
{
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	char bytes[4];

	for (size_t i = size; i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(size == 1 ? code : (0xf00u >> size & 0xff) | code);
	lode_buffer_add(buffer, bytes, size);
}

#endif
