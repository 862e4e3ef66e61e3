/*
 * The baseline of a fleet: streams that are saved although nothing was slow, so that it is known how common things are.
 *
 * Hours are drawn by a hash of host and hour: one in `one_in` on average, and in it one moment. Nobody has to be asked, and
 * anybody can check. Each event of such a stream stands for `one_in` of them.
 */
#ifndef LODE_WATCH_BASELINE_H
#define LODE_WATCH_BASELINE_H

#include "base/error.h"

#include <stdint.h>

#define LODE_BASELINE_HOUR 3600u
/* The attribute of such streams: the number of hours that one stands for. */
#define LODE_BASELINE_ATTRIBUTE "baseline"

struct lode_baseline {
	uint32_t one_in; /* 0: there is none */
	uint32_t hour;   /* s */
	uint64_t looked; /* s since 1970: when it was looked at last; 0: never */
};

/* Reads a share: `1%`, `0.1%`. Returns 0, or LODE_USAGE with a sentence. */
int lode_baseline_parse(struct lode_baseline *baseline, const char *text, struct lode_error *error);
/* The moment in the hour that begins at `start` (s since 1970) at which `host` saves a stream; 0: none. */
uint64_t lode_baseline_moment(const struct lode_baseline *baseline, const char *host, uint64_t start);
/* Whether such a moment came since the last call, in this hour. `now` is in s since 1970, and may jump. */
int lode_baseline_is_due(struct lode_baseline *baseline, const char *host, uint64_t now);

#endif
