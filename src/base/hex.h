/* Bytes as hexadecimal digits. */
#ifndef LODE_BASE_HEX_H
#define LODE_BASE_HEX_H

#include <stddef.h>

/* Writes two digits for each of `count` bytes, and a NUL. */
static inline void lode_hex(char *text, const unsigned char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}

#endif
