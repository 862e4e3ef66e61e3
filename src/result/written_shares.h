/* What something costs in streams, as a field of results (fields.h). */
#ifndef LODE_RESULT_WRITTEN_SHARES_H
#define LODE_RESULT_WRITTEN_SHARES_H

#include "mine/pattern_costs.h"
#include "result/fields.h"

/* Streams that results list, unless they are for a page, which compares all of them. */
#define LODE_LISTED_STREAMS 100

/* A list of numbers: the stream's place, ns, the next place, and so on; of the `most` costliest streams. */
struct lode_written lode_written_shares(const struct lode_shares *shares, size_t most);

#endif
