/*
 * The compressions that Windows applies to buffers of its traces: LZNT1, plain XPRESS (LZ77) and XPRESS with
 * Huffman codes, as MS-XCA describes them. Own code, since no library in Debian has them.
 */
#ifndef LODE_IMPORT_WINDOWS_COMPRESSION_H
#define LODE_IMPORT_WINDOWS_COMPRESSION_H

#include <stddef.h>

/* The numbers by which Windows knows them. */
enum lode_windows_compression {
	LODE_LZNT1 = 2,
	LODE_XPRESS = 3,
	LODE_XPRESS_HUFFMAN = 4,
};

/* Fills `out` whole. Returns 0, or LODE_BAD_INPUT when the bytes are damaged or are of another compression. */
int lode_windows_unpack(enum lode_windows_compression compression, const unsigned char *bytes, size_t size,
			unsigned char *out, size_t out_size);

#endif
