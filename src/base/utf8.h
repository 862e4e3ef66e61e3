/* Writing UTF-8. */
#ifndef LODE_BASE_UTF8_H
#define LODE_BASE_UTF8_H

#include "base/buffer.h"

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
