/*
 * The bytes of the stream file; docs/format.md explains them. Private to the
 * store: writers and readers of this folder only.
 *
 *	file header   32 bytes
 *	block         40 bytes of header, then its payload; repeated
 *	tail          24 bytes, behind the footer block
 *
 * All numbers are little-endian.
 */
#ifndef LODE_STORE_STORE_FORMAT_H
#define LODE_STORE_STORE_FORMAT_H

#include "base/error.h"
#include "base/file.h"
#include "trace/events.h"
#include "store/store.h"

/*
 * File header
 *	 0  8  magic "LODESTRM"
 *	 8  4  version
 *	12  4  size of this header
 *	16  8  reserved, 0
 *	24  8  XXH3-64 of bytes 0 to 23
 */
#define LODE_FILE_MAGIC       "LODESTRM"
#define LODE_FILE_HEADER_SIZE 32

/*
 * Block header
 *	 0  4  magic "LODB"
 *	 4  1  kind (enum lode_block_kind)
 *	 5  1  event type, 0 for other kinds
 *	 6  2  number of columns
 *	 8  4  number of rows
 *	12  4  size of the payload
 *	16  8  first row's number; for events the earliest start
 *	24  8  for events the latest end, else 0
 *	32  8  XXH3-64 of the payload, seeded with XXH3-64 of bytes 0 to 31
 */
#define LODE_BLOCK_MAGIC       "LODB"
#define LODE_BLOCK_HEADER_SIZE 40

/*
 * Tail
 *	 0  8  offset of the footer block
 *	 8  8  magic "LODETAIL"
 *	16  8  XXH3-64 of bytes 0 to 15
 */
#define LODE_TAIL_MAGIC "LODETAIL"
#define LODE_TAIL_SIZE  24

/* No block holds more rows or bytes, so that a reader's memory is bounded before it trusts anything. */
#define LODE_BLOCK_ROWS       LODE_BLOCK_EVENTS
#define LODE_BLOCK_TEXT       (4u << 20) /* bytes of strings a writer puts into one block, unless one string is longer */
#define LODE_BLOCK_TEXT_LIMIT (64u << 20) /* bytes of strings a reader accepts in one block */

enum lode_block_kind {
	LODE_BLOCK_STRINGS = 1,
	LODE_BLOCK_MODULES,
	LODE_BLOCK_FRAMES,
	LODE_BLOCK_NODES,
	LODE_BLOCK_THREADS,
	LODE_BLOCK_HEAD,
	LODE_BLOCK_ATTRIBUTES,
	LODE_BLOCK_SYMPTOMS,
	LODE_BLOCK_EVENTS_OF_A_TYPE,
	LODE_BLOCK_FOOTER,
	LODE_BLOCK_KINDS,
};

struct lode_block_header {
	uint8_t kind;
	uint8_t type;
	uint16_t columns;
	uint32_t rows;
	uint32_t size;
	uint64_t first;
	uint64_t last;
	uint64_t checksum;
};

uint64_t lode_checksum(const void *bytes, size_t size, uint64_t seed);
/* Writes the 40 bytes, checksum over `payload` included. */
void lode_block_header_write(const struct lode_block_header *header, const void *payload, unsigned char bytes[40]);
/*
 * Reads a block header at `bytes`, of which `left` are there, and checks that the
 * whole block is there and unharmed. Returns NULL, or what is wrong.
 */
const char *lode_block_header_read(struct lode_block_header *header, const unsigned char *bytes, uint64_t left);

#endif
