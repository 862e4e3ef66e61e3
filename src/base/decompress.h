/*
 * Decompressor: gzip, zstd and xz behind one interface, a piece at a time. Members,
 * frames and streams that follow one another are one content.
 */
#ifndef LODE_BASE_DECOMPRESS_H
#define LODE_BASE_DECOMPRESS_H

#include "base/error.h"

#include <stddef.h>

/* Memory that unpacking may take: a file that asks for more is refused. */
#define LODE_UNPACK_XZ_MEMORY       (256ull << 20)
#define LODE_UNPACK_ZSTD_WINDOW_LOG 27

/* Bytes that lode_packing_guess wants to see, if there are as many. */
#define LODE_PACKING_BYTES 6

enum lode_packing {
	LODE_PACKING_NONE,
	LODE_PACKING_GZIP,
	LODE_PACKING_ZSTD,
	LODE_PACKING_XZ,
};

struct lode_unpacker;

/* What the first bytes of a file say. */
enum lode_packing lode_packing_guess(const unsigned char *bytes, size_t size);

/* `name` is the file's, for messages; it must outlive the unpacker. */
int lode_unpacker_create(struct lode_unpacker **unpacker, enum lode_packing packing, const char *name,
			 struct lode_error *error);
void lode_unpacker_destroy(struct lode_unpacker *unpacker);

/* Packed bytes to take from and room to write to; both are moved forward. */
struct lode_unpack_step {
	const unsigned char *in;
	size_t in_left;
	unsigned char *out;
	size_t out_left;
	int last; /* no packed bytes follow those in `in` */
};

/*
 * Unpacks until the packed bytes are used up or the room is full. Returns 1
 * when it wants to go on, 0 when the content has ended as it should, or a
 * negative code: damaged, or `last` and not at an end.
 */
int lode_unpack(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error);

#endif
