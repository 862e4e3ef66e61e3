/* SHA-256 (FIPS 180-4), for secrets of which only a digest may be kept. Digests of files are xxhash's, which is faster. */
#ifndef LODE_BASE_SHA256_H
#define LODE_BASE_SHA256_H

#include <stddef.h>

#define LODE_SHA256_TEXT 65 /* 64 hexadecimal digits and a NUL */

void lode_sha256(const void *bytes, size_t size, char digest[LODE_SHA256_TEXT]);

#endif
