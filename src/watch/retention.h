/*
 * Retention: how many streams a flight recorder writes, and how many of them stay: a rate
 * limit, so that a bad day does not fill the disk, and a limit on the streams of one
 * watch. Streams belong to a watch by their attribute LODE_WATCH_ATTRIBUTE.
 */
#ifndef LODE_WATCH_RETENTION_H
#define LODE_WATCH_RETENTION_H

#include "base/error.h"
#include "store/corpus.h"

#define LODE_WATCH_ATTRIBUTE "watch"

/* At most `limit` in any hour; the times of the last ones. */
struct lode_rate {
	uint64_t *times; /* nanoseconds; a ring of `limit` */
	size_t limit;
	size_t count; /* of those that were let through, in all */
};

/* Returns 0 or LODE_SYSTEM. A limit of 0 lets all through. */
int lode_rate_init(struct lode_rate *rate, size_t limit);
void lode_rate_release(struct lode_rate *rate);
/* Whether one more is allowed at `now`; if so it counts. */
int lode_rate_take(struct lode_rate *rate, uint64_t now);

/* Each 0: no limit. */
struct lode_retention {
	uint64_t count;
	uint64_t bytes;
	uint64_t seconds;
};

/* Reads `20`, `500MB`, `36h` or `7d`, and sets that limit. Returns 0, or LODE_USAGE with a sentence. */
int lode_retention_parse(struct lode_retention *keep, const char *text, struct lode_error *error);
/*
 * Removes the oldest streams of `watch` on `host` from the corpus until the rest
 * keeps the limits; the youngest always stays. Returns how many, or a negative code.
 */
int lode_retention_apply(const struct lode_retention *keep, struct lode_corpus *corpus, const char *watch,
			 const char *host, uint64_t now_seconds, struct lode_error *error);

#endif
