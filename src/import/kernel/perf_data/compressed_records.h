/*
 * Compressed records: their contents, one after the other, are one zstd stream
 * of ordinary records, which may be cut anywhere.
 */
#ifndef LODE_IMPORT_PERF_DATA_COMPRESSED_RECORDS_H
#define LODE_IMPORT_PERF_DATA_COMPRESSED_RECORDS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct lode_perf_unpack {
	ZSTD_DStream *stream;
	unsigned char *window; /* unpacked bytes that wait: a record that is cut */
	size_t held;           /* how many */
	uint64_t packed;       /* bytes so far */
	uint64_t unpacked;
};

/*
 * Takes as many whole records as there are, and says how many bytes these were.
 * Returns 0 or a negative code.
 */
typedef int lode_perf_take(void *context, const unsigned char *bytes, size_t size, size_t *used,
			   struct lode_error *error);

/* A zeroed struct has unpacked nothing yet. */
void lode_perf_unpack_release(struct lode_perf_unpack *unpack);
/*
 * Unpacks what one record holds and gives the records in it to `take`. Returns 0
 * or a negative code: LODE_BAD_INPUT for damage, and for what unpacks without
 * bound; `name` and `place` say where in the sentence.
 */
int lode_perf_unpack(struct lode_perf_unpack *unpack, const unsigned char *bytes, size_t size, lode_perf_take *take,
		     void *context, const char *name, uint64_t place, struct lode_error *error);

#endif
