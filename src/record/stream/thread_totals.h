/*
 * What threads did in total while they were recorded: from what the kernel counts since their births, read at both ends
 * (records.h), to the totals of a stream's threads.
 */
#ifndef LODE_RECORD_STREAM_THREAD_TOTALS_H
#define LODE_RECORD_STREAM_THREAD_TOTALS_H

#include "base/hash_index.h"
#include "record/bpf/records.h"
#include "trace/stream.h"

struct lode_record_totals {
	struct lode_record *firsts; /* of threads that were there when the recording began */
	size_t count;
	size_t capacity;
	struct lode_index index; /* of `firsts`, by tid */
	uint64_t began;          /* 0: nothing was sent yet */
};

void lode_record_totals_release(struct lode_record_totals *totals);
/* Takes a record of type LODE_RECORD_TOTALS_FIRST, _LAST or _SEEN. Returns 0 or LODE_SYSTEM. */
int lode_record_totals_take(struct lode_record_totals *totals, const struct lode_record *record,
			    struct lode_stream *stream);

#endif
